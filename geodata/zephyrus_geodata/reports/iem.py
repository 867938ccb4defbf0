"""The AFOS text archive of the Iowa Environmental Mesonet (IEM).

Its service ``/cgi-bin/afos/retrieve.py`` (akrherz/iem, ``pylib/iemweb/afos/retrieve.py``) gives
the products of a PIL between two times, oldest first, each between the control characters 1 and
3; 9999 at most, without a word about any that it left out. ``sdate`` is inclusive and ``edate``
documented as exclusive, yet some versions include it: readers must expect a product twice.
"""

from __future__ import annotations

from datetime import datetime

from zephyrus_geodata.web.answer import Answer, Garbled
from zephyrus_geodata.web.words import decode

BASE_URL = "https://mesonet.agron.iastate.edu"
PATH = "/cgi-bin/afos/retrieve.py"
LIMIT = 9999
"""The most products that one request can give."""

_NOTHING = "ERROR: Could not Find"
_START, _END = "\x01", "\x03"


def parameters(pil: str, start: datetime, end: datetime, limit: int = LIMIT) -> dict[str, str]:
    """The query for all products of a PIL in [start, end).

    Args:
        pil: Three to six characters; three are a prefix.
        start: UTC.
        end: UTC.
        limit: The most products to give.
    """
    return {
        "pil": pil,
        "fmt": "text",
        "sdate": f"{start:%Y-%m-%dT%H:%MZ}",
        "edate": f"{end:%Y-%m-%dT%H:%MZ}",
        "limit": str(limit),
        "order": "asc",
    }


def checked(answer: Answer) -> Answer:
    """The answer, if it is a whole list of products or says that there is none.

    Raises:
        Garbled: If it is a web page, empty, or ends before the last product does.
    """
    text = decode(answer.body).strip()
    if answer.is_html:
        raise Garbled("a web page instead of text")
    if not text:
        raise Garbled("an empty answer")
    if text.startswith("ERROR") and not text.startswith(_NOTHING):
        raise Garbled(text)
    if not text.startswith(_NOTHING) and not (_START in text and text.endswith(_END)):
        raise Garbled("an answer that ends in the middle of a product")
    return answer


def split(body: bytes) -> list[str]:
    """The products of an answer, without the control characters around them; [] if it has none."""
    text = decode(body)
    if text.lstrip().startswith(_NOTHING):
        return []
    pieces = (piece.replace(_START, "").strip("\r\n ") for piece in text.split(_END))
    return [piece + "\n" for piece in pieces if piece]
