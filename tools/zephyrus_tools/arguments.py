"""Types of the tools' arguments.

Every token of a schema is paid for in every request. Names and degrees therefore leave their types
out of the schema: a model knows how to write a name or a latitude, and anything else is refused.
Numbers that were written with their unit ("24 h", "1°S", "January") are read all the same.
"""

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

_HOURS = re.compile(r"\+?([0-9]{1,6})(?:\.0{1,6})? ?-?(?:h|hr|hrs|hour|hours)", re.IGNORECASE)
_DEGREES = re.compile(
    r"([-+]?)([0-9]{1,3}(?:\.[0-9]{1,9})?) ?(?:°|deg|degrees)? ?([NSEW]?)", re.IGNORECASE
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = re.compile(
    r"(jan)(uary)?|(feb)(ruary)?|(mar)(ch)?|(apr)(il)?|(may)|(june?)|(july?)|(aug)(ust)?|"
    r"(sept?)(ember)?|(oct)(ober)?|(nov)(ember)?|(dec)(ember)?",
    re.IGNORECASE,
)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _hours(value: Any) -> Any:
    if not isinstance(value, str) or _is_number(value):
        return value
    found = _HOURS.fullmatch(value.strip())
    if found is None:
        raise PydanticCustomError("hour", "a lead time is a whole number of hours, such as 24")
    return int(found[1])


def _month(value: Any) -> Any:
    if not isinstance(value, str) or _is_number(value):
        return value
    if _MONTH.fullmatch(value.strip().rstrip(".")) is None:
        raise PydanticCustomError("month", "a month is a number, 1 to 12, or its name")
    return _MONTHS.index(value.strip()[:3].lower()) + 1


def _degrees(value: Any, positive: str, negative: str) -> Any:
    if not isinstance(value, str) or _is_number(value):
        return value
    found = _DEGREES.fullmatch(value.strip())
    side = found[3].upper() if found else ""
    if found is None or side not in ("", positive, negative) or (found[1] and side):
        raise PydanticCustomError(
            "degrees",
            "give degrees as a plain number, positive to the {positive} and negative to the "
            "{negative}, such as -1.5",
            {"positive": _SIDES[positive], "negative": _SIDES[negative]},
        )
    return float(found[1] + found[2]) * (-1.0 if side == negative else 1.0)


_SIDES = {"N": "north", "S": "south", "E": "east", "W": "west"}

Text = Annotated[str, WithJsonSchema({})]
"""A required text."""

OptionalText = Annotated[str | None, WithJsonSchema({})]
"""A text that may be left out."""

Hour = Annotated[int, BeforeValidator(_hours)]
"""A lead time in hours."""

OptionalHour = Annotated[int | None, BeforeValidator(_hours)]
"""A lead time in hours, which may be left out."""

OptionalMonth = Annotated[int | None, BeforeValidator(_month)]
"""A month, 1 to 12, which may be left out."""

OptionalLatitude = Annotated[
    float | None, BeforeValidator(lambda value: _degrees(value, "N", "S")), WithJsonSchema({})
]
"""A latitude in degrees, which may be left out."""

OptionalLongitude = Annotated[
    float | None, BeforeValidator(lambda value: _degrees(value, "E", "W")), WithJsonSchema({})
]
"""A longitude in degrees, which may be left out."""


def no_sum(value: Any) -> Any:
    """Refuse a sum, with how to get it: there is none among the statistics."""
    if isinstance(value, str) and value.strip().lower() in ("sum", "total", "accumulated"):
        raise PydanticCustomError(
            "sum",
            "there is no sum; multiply the mean by the number of steps (precipitation is the "
            "amount of each 6 h step)",
        )
    return value


def percentile(value: Any) -> Any:
    """Read "median" and "90th percentile" as p50 and p90."""
    if not isinstance(value, str):
        return value
    text = value.strip().lower()
    if text == "median":
        return "p50"
    found = re.fullmatch(r"p?([0-9]{1,2})(?:th)?(?: percentile)?", text)
    return f"p{found[1]}" if found else value
