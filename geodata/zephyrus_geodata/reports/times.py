"""When a product was issued and for when it is valid.

A bulletin tells its time twice: the WMO header has day of month, hour and minute (UTC), and
the text a line such as `1145 AM CST SAT JAN 5 2013`, at times with a second zone between
slashes. Only the second has month and year, so the first is resolved near a date.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

ZONES: dict[str, float] = {
    "UTC": 0, "GMT": 0, "Z": 0,
    "AST": -4, "ADT": -3, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5,
    "MST": -7, "MDT": -6, "PST": -8, "PDT": -7, "AKST": -9, "AKDT": -8,
    "HST": -10, "HDT": -9, "HAST": -10, "HADT": -9, "SST": -11,
    # The western Pacific: Guam (under four names), Palau, Chuuk, Pohnpei, Kosrae, Marshall Islands
    "CHST": 10, "GST": 10, "LST": 10, "CHUT": 10, "PWT": 9, "CHDT": 9, "PONT": 11, "KOST": 11,
    "MHT": 12,
    # Bases abroad
    "CVT": -1, "GSST": 4, "PLT": 5, "VST": -4, "VDT": -3,
}  # fmt: skip
"""Zone names of National Weather Service texts and their offsets from UTC in hours."""

MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_MONTH = "|".join(MONTHS)
_DAY = r"(?:MON|TUE|WED|THU|FRI|SAT|SUN)[A-Z]{0,6}"

LOCAL_TIME = re.compile(
    r"(?<![\d:])(?P<clock>\d{1,2}:\d{2}|\d{1,4})(?: ?(?P<half>[AP]\.?M\.?))? ?"
    rf"(?P<zone>[A-Z]{{1,4}}) (?:{_DAY},? )?(?P<month>{_MONTH})[A-Z]{{0,6}}\.? "
    r"(?P<day>\d{1,2}),? (?P<year>[12]\d{3})(?!\d)",
    re.IGNORECASE,
)
"""`1145 AM CST SAT JAN 5 2013`; `15:17 UTC Mon Jul 13 2020`; `Z` for UTC."""

_LONG_VALID = re.compile(
    rf"\bVALID\b[^\d\n]{{0,12}}(\d{{2}})(\d\d)? ?(?:Z|UTC) (?:{_DAY} )?({_MONTH})[A-Z]{{0,6}} (\d{{1,2}})"
    r"(?: ([12]\d{3}))?\s*(?:-|TO|THROUGH|UNTIL)\s*"
    rf"(\d{{2}})(\d\d)? ?(?:Z|UTC) (?:{_DAY} )?({_MONTH})[A-Z]{{0,6}} (\d{{1,2}})(?: ([12]\d{{3}}))?",
    re.IGNORECASE,
)
_MODEL_VALID = re.compile(
    rf"\bVALID\b[ :]{{0,3}}({_MONTH})[A-Z]{{0,6}} (\d{{1,2}})/(\d{{2}})(\d{{2}}) ?(?:Z|UTC)\s*"
    rf"(?:-|TO|THRU|THROUGH)\s*({_MONTH})[A-Z]{{0,6}} (\d{{1,2}})/(\d{{2}})(\d{{2}}) ?(?:Z|UTC)",
    re.IGNORECASE,
)
_SHORT_VALID = re.compile(
    r"\bVALID\b[^\d\n]{0,12}(\d{6})Z?\s*(?:-|TO|UNTIL)\s*(\d{6})Z",
    re.IGNORECASE,
)

_DAY_AND_CLOCK = re.compile(
    r"(?P<day>\d{2})/(?P<clock>\d{3,4}) ?(?:(?P<half>[AP]M)|(?P<utc>Z))\.?", re.IGNORECASE
)

Period = tuple[datetime, datetime]


def utc(moment: datetime) -> datetime:
    """The moment in UTC; one without a zone is taken as UTC."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def local_time(line: str) -> tuple[datetime, str] | None:
    """The first time with zone and date in a line: (UTC, name of the zone), or None.

    The weekday is not checked: the date counts. A second zone in slashes is ignored.
    """
    for match in LOCAL_TIME.finditer(line):
        zone = match["zone"].upper()
        clock = _clock(match["clock"], match["half"], zone)
        if zone not in ZONES or clock is None:
            continue
        month = MONTHS.index(match["month"].upper()) + 1
        day = _moment(int(match["year"]), month, int(match["day"]), *clock)
        if day is not None:
            # ChST is written so, every other zone in capitals
            return day - timedelta(hours=ZONES[zone]), "ChST" if zone == "CHST" else zone
    return None


def near_day(ddhhmm: str, near: datetime) -> datetime | None:
    """The moment with this day of the month, hour and minute that is nearest to a date, or None.

    The 31st near 1 March is the 31st of January; the hour may be 24.

    Args:
        ddhhmm: six digits, UTC.
        near: the date.
    """
    day, hour, minute = int(ddhhmm[:2]), int(ddhhmm[2:4]), int(ddhhmm[4:])
    near = utc(near)
    candidates = []
    for shift in (-2, -1, 0, 1, 2):
        year, month = divmod(near.year * 12 + near.month - 1 + shift, 12)
        moment = _moment(year, month + 1, day, hour, minute)
        if moment is not None:
            candidates.append(moment)
    return min(candidates, key=lambda moment: abs(moment - near), default=None)


def is_local_time(text: str) -> bool:
    """Whether a text is a time with zone and date and nothing else."""
    return LOCAL_TIME.fullmatch(text.strip(" ./")) is not None and local_time(text) is not None


def is_day_and_clock(text: str) -> bool:
    """Whether a text is a day of the month and a time, `07/819 PM.` or `08/0106Z.`, alone."""
    return _DAY_AND_CLOCK.fullmatch(text) is not None


def day_and_clock(text: str, stated: tuple[datetime, str] | None) -> datetime | None:
    """The moment that `07/819 PM` means, UTC, or None.

    Args:
        text: as `is_day_and_clock` takes it.
        stated: a moment near it (UTC) and the name of the zone.
    """
    match = _DAY_AND_CLOCK.fullmatch(text)
    if match is None or stated is None or stated[1].upper() not in ZONES:
        return None
    zone = "Z" if match["utc"] else stated[1].upper()
    clock = _clock(match["clock"], match["half"], zone)
    if clock is None:
        return None
    offset = timedelta(hours=ZONES[zone])
    local = near_day(f"{match['day']}{clock[0]:02}{clock[1]:02}", stated[0] + offset)
    return local - offset if local else None


def valid_period(text: str, issued: datetime) -> Period | None:
    """Start and end of the first valid period in a text, UTC, or None.

    Reads `Valid 12Z Mon Sep 21 2026 - 12Z Fri Sep 25 2026`, `Valid 080100Z - 081200Z` and
    `Valid Sep 14/0000 UTC thru Sep 17/1200 UTC`.

    Args:
        text: the lines to look at.
        issued: resolves what the period leaves out (month, year).
    """
    found: list[tuple[int, Period]] = []
    if match := _LONG_VALID.search(text):
        groups = match.groups()
        start, end = _dated(groups[:5], issued), _dated(groups[5:], issued)
        if start and end and start < end:
            found.append((match.start(), (start, end)))
    if match := _MODEL_VALID.search(text):
        month, day, hour, minute, *last = match.groups()
        start = _dated((hour, minute, month, day, None), issued)
        end = _dated((last[2], last[3], last[0], last[1], None), start or issued)
        if start and end and start < end:
            found.append((match.start(), (start, end)))
    if match := _SHORT_VALID.search(text):
        start = near_day(match[1], issued)
        end = near_day(match[2], start or issued)
        if start and end and start < end:
            found.append((match.start(), (start, end)))
    return min(found)[1] if found else None


def _dated(parts: tuple[str | None, ...], issued: datetime) -> datetime | None:
    hour, minute, month, day, year = parts
    number = MONTHS.index((month or "").upper()) + 1
    clock = int(hour or 0), int(minute or 0)
    years = [int(year)] if year else [issued.year - 1, issued.year, issued.year + 1]
    moments = [_moment(y, number, int(day or 0), *clock) for y in years]
    return min((m for m in moments if m), key=lambda m: abs(m - issued), default=None)


def _clock(digits: str, half: str | None, zone: str) -> tuple[int, int] | None:
    if ":" in digits:
        hour, minute = (int(part) for part in digits.split(":"))
    elif len(digits) <= 2:
        hour, minute = int(digits), 0
    else:
        hour, minute = int(digits[:-2]), int(digits[-2:])
    if half is None:
        # Without AM or PM only the 24-hour clock of UTC is plain, or four digits
        return (hour, minute) if zone in ("UTC", "GMT", "Z") or len(digits) == 4 else None
    if hour == 12:
        hour = 0
    if half[0] in "Pp" and hour < 12:
        hour += 12  # `1330 PM`, the 24-hour clock with a PM, stays as it is
    elif half[0] in "Aa" and hour > 12:
        return None
    return hour, minute


def _moment(year: int, month: int, day: int, hour: int, minute: int) -> datetime | None:
    try:
        midnight = datetime(year, month, day, tzinfo=UTC)
    except ValueError:
        return None
    if not (0 <= hour <= 24 and 0 <= minute < 60) or (hour == 24 and minute):
        return None
    return midnight + timedelta(hours=hour, minutes=minute)
