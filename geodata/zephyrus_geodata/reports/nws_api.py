"""The text products of api.weather.gov: recent days only.

``/products/types/AFD/locations/LOX`` lists what there is (about the last seven days), and
``/products/{id}`` gives one. A PIL is a type and a location of three letters each: SWODY1 is type
SWO at location DY1, PMDSPD is PMD at SPD. The list of a national type may mix products, so what
a text is, is read from the text.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from zephyrus_geodata.web.answer import Answer, Garbled
from zephyrus_geodata.web.words import decode

BASE_URL = "https://api.weather.gov"
HEADERS = {"Accept": "application/ld+json"}
DAYS = 7
"""How far back the service goes, by its maintainers (weather-gov/api issue 123)."""

_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Listed:
    """One product of a list.

    Attributes:
        id: A UUID.
        issued: Its issuance time, UTC.
        office: The issuing office's four letters, such as "KLOX".
    """

    id: str
    issued: datetime
    office: str


def list_path(pil: str) -> str:
    """The path of the list of a PIL: of a type alone if it has three letters."""
    kind, place = pil[:3], pil[3:]
    return f"/products/types/{kind}" + (f"/locations/{place}" if place else "")


def product_path(identifier: str) -> str:
    """The path of one product."""
    return f"/products/{identifier}"


def read_list(answer: Answer) -> list[Listed]:
    """The products of a list, oldest first.

    Raises:
        Garbled: If it is no such list.
    """
    graph = _json(answer).get("@graph")
    if not isinstance(graph, list):
        raise Garbled("a list of products without @graph")
    try:
        found = {
            item["id"]: Listed(item["id"], _time(item), item["issuingOffice"]) for item in graph
        }
    except (KeyError, TypeError, ValueError) as error:
        raise Garbled(f"a list with an entry that can't be read ({error})") from error
    if wrong := [name for name in found if not _ID.fullmatch(name)]:
        raise Garbled(f"a list with the id {wrong[0]!a}, which is no UUID")
    return sorted(found.values(), key=lambda item: (item.issued, item.id))


def checked(answer: Answer, identifier: str) -> Answer:
    """The answer, if it is the product that was asked for.

    Raises:
        Garbled: If it is another product, or has no text.
    """
    value = _json(answer)
    if value.get("id") != identifier or not isinstance(value.get("productText"), str):
        raise Garbled(f"another answer than the product {identifier}")
    return answer


def _json(answer: Answer) -> dict[str, Any]:
    try:
        value = json.loads(decode(answer.body))
    except ValueError as error:
        what = "a web page" if answer.is_html else "no JSON"
        raise Garbled(f"{what} instead of JSON") from error
    if not isinstance(value, dict):
        raise Garbled("JSON of another shape")
    return value


def _time(item: dict[str, Any]) -> datetime:
    moment = datetime.fromisoformat(item["issuanceTime"])
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
