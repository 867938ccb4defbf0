"""Moments and durations as files write them: "hours since ...", timedeltas, texts, calendars."""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata.errors import UnsuitableData
from zephyrus_geodata.reading.remarks import Remarks
from zephyrus_geodata.reading.understood import Answers

REAL = ("standard", "gregorian", "proleptic_gregorian", "")
"""Calendars whose dates are real ones (since 1582)."""

_SECONDS = {
    "ns": 1e-9, "nanosecond": 1e-9, "us": 1e-6, "microsecond": 1e-6, "ms": 1e-3,
    "millisecond": 1e-3, "msec": 1e-3, "s": 1.0, "sec": 1.0, "second": 1.0, "min": 60.0,
    "minute": 60.0, "h": 3600.0, "hr": 3600.0, "hour": 3600.0, "d": 86400.0, "day": 86400.0,
    "week": 604800.0,
}  # fmt: skip
_SINCE = re.compile(r"^\s*(\w+)\s+since\s+(.+?)\s*$", re.IGNORECASE)
_ZONE = re.compile(r"\d\s*([A-SU-Z][A-Z]{0,4})$", re.IGNORECASE)
"""A letter or a few behind a date: JST, CET, EST, but no T of ISO."""
LONGEST_LEAD = 24 * 400  # hours: a lead time beyond it is in other units than it seems


def is_moment(attrs: Mapping[str, Any], values_kind: str) -> bool:
    """Say whether an array holds moments (else it may hold durations, or anything)."""
    return values_kind == "M" or bool(_SINCE.match(str(attrs.get("units", ""))))


def unit_seconds(units: str) -> float | None:
    """Return the length of a unit of time, or None if it is none."""
    word = units.strip().lower()
    if word in _SECONDS:
        return _SECONDS[word]
    return _SECONDS.get(word.removesuffix("s"))


def is_duration(attrs: Mapping[str, Any], values_kind: str) -> bool:
    """Say whether an array holds durations."""
    return values_kind == "m" or unit_seconds(str(attrs.get("units", ""))) is not None


def moments(
    values: NDArray[Any],
    attrs: Mapping[str, Any],
    name: str,
    answers: Answers,
    remarks: Remarks,
) -> NDArray[np.datetime64]:
    """Return moments to the second, UTC; missing ones are NaT.

    Args:
        values: numbers, datetimes or ISO texts, of any shape.
        attrs: with ``units`` and ``calendar`` if they are numbers.
        name: for messages.
        answers: ``calendar`` says what to do with dates that are not real ones.
        remarks: gets the question if it doesn't.

    Raises:
        UnsuitableData: if they can't be read as dates.
    """
    if values.dtype.kind == "M":
        return values.astype("datetime64[s]")
    if values.dtype.kind in "SUO" and "since" not in str(attrs.get("units", "")):
        return _texts(values, name)
    match = _SINCE.match(str(attrs.get("units", "")))
    if not match:
        raise UnsuitableData(
            f"The times {name} can't be read: their units are {attrs.get('units')!r} and not "
            "'hours since' a date."
        )
    calendar = str(attrs.get("calendar", "standard")).lower()
    numbers = values.astype(np.float64)
    if calendar not in REAL:
        return _other_calendar(numbers, str(attrs["units"]), calendar, name, answers, remarks)
    seconds = unit_seconds(match[1])
    if values.dtype.kind == "f" and values.dtype.itemsize == 4 and seconds is not None:
        numbers = _despeckled(values, seconds, name, remarks)
    if seconds is None:
        raise UnsuitableData(
            f"The times {name} count {match[1]}, whose length varies; give them in days or hours."
        )
    exact = values if values.dtype.kind in "iu" and seconds >= 1 else numbers
    # Whole numbers of long units stay exact beyond 2**53.
    offset = (
        np.round(exact * seconds) if exact is numbers else exact.astype(np.int64) * int(seconds)
    )
    out = np.full(values.shape, np.datetime64("NaT"), "datetime64[s]")
    good = np.isfinite(numbers)
    out[good] = _reference(match[2], name, calendar) + np.asarray(offset)[good].astype(
        "timedelta64[s]"
    )
    return out


def _despeckled(
    values: NDArray[Any], seconds: float, name: str, remarks: Remarks
) -> NDArray[np.float64]:
    """Undo the rounding of times that 32 bits can't hold: days since 1900 come in 5.6 min."""
    numbers = values.astype(np.float64)
    good = np.isfinite(numbers)
    grain = float(np.spacing(np.abs(values[good]).max(initial=1)).astype(np.float64)) * seconds
    if grain <= 1.0:
        return numbers
    whole = np.round(numbers * seconds / 3600.0) * 3600.0
    off = np.abs(whole - numbers * seconds)[good]
    if not off.size or off.max() == 0.0:
        return numbers
    if grain > 3600.0 or off.max() > grain:
        raise UnsuitableData(
            f"The times {name} are 32-bit numbers, which are exact to {grain:.0f} s only here; "
            "write them as 64-bit numbers."
        )
    remarks.note(f"The times {name} are 32-bit numbers, exact to {grain:.0f} s: taken as hours.")
    return whole / seconds


def _reference(text: str, name: str, calendar: str) -> np.datetime64:
    """Read the date after "since", in the forms that CF, WRF and others use.

    The standard calendar, CF's default, is Julian before 15 October 1582: "hours since 1-1-1" is
    two days before the same words in the proleptic Gregorian calendar.
    """
    import cftime

    cleaned = re.sub(r"\s*(UTC|GMT|Z)$", "", text.strip(), flags=re.IGNORECASE)
    zone = _ZONE.search(cleaned)
    if zone:  # cftime passes over it
        raise UnsuitableData(
            f"The times {name} count from {text!r}, in a time zone {zone[1]} that is not read; "
            "write UTC, or an offset such as +09:00."
        )
    # cftime passes over an offset with one digit of hours, and takes -600 for 60 h.
    cleaned = re.sub(r"(\d\s*)([+-])(\d)(:?\d\d)?$", _offset, cleaned)
    mixed = "proleptic_gregorian" if calendar == "proleptic_gregorian" else "standard"
    try:
        moment = cftime.num2date(0, f"seconds since {cleaned}", mixed)
        since = cftime.date2num(moment, "seconds since 1970-01-01", mixed)
    except (ValueError, OverflowError) as error:
        raise UnsuitableData(f"The times {name} count from {text!r}, which is no date.") from error
    return np.datetime64(0, "s") + np.timedelta64(round(float(since)), "s")


def _offset(match: re.Match[str]) -> str:
    """Write an offset from UTC with two digits; what follows no clock is part of a date."""
    before = match.string[: match.start(2)]
    if ":" not in before:
        return match[0]
    return f"{match[1]}{match[2]}0{match[3]}{match[4] or ':00'}"


def _texts(values: NDArray[Any], name: str) -> NDArray[np.datetime64]:
    out = np.empty(values.shape, "datetime64[s]")
    for index, value in np.ndenumerate(values):
        text = value.decode() if isinstance(value, bytes) else str(value)
        out[index] = parse_moment(text, name)
    return out


def parse_moment(text: str, name: str) -> np.datetime64:
    """Read one date: ISO, WRF's 2020-01-01_00:00:00, or 2020010100.

    Raises:
        UnsuitableData: if it is none.
    """
    cleaned = re.sub(r"\s*(UTC|GMT|Z|\+00:?00)$", "", text.strip(), flags=re.IGNORECASE)
    cleaned = cleaned.replace("_", "T").replace(" ", "T")
    digits = re.fullmatch(r"(\d{4})(\d\d)(\d\d)T?(\d\d)?(\d\d)?(\d\d)?", cleaned)
    if digits:
        year, month, day, hour, minute, second = (part or "00" for part in digits.groups())
        cleaned = f"{year}-{month}-{day}T{hour}:{minute}:{second}"
    try:
        return np.datetime64(cleaned, "s")
    except ValueError as error:
        raise UnsuitableData(f"{name} is {text!r}, which is no date.") from error


def _other_calendar(
    numbers: NDArray[np.float64],
    units: str,
    calendar: str,
    name: str,
    answers: Answers,
    remarks: Remarks,
) -> NDArray[np.datetime64]:
    """Read the dates of another calendar as if they were real, and say or ask so."""
    import cftime

    try:
        dates = np.asarray(cftime.num2date(numbers, units, calendar))
        out = np.array([np.datetime64(d.isoformat(), "s") for d in dates.ravel()])
    except (ValueError, OverflowError, TypeError) as error:
        raise UnsuitableData(
            f"The times {name} are in the {calendar} calendar and some of their dates don't exist; "
            "convert them first, for example with xarray's convert_calendar."
        ) from error
    if answers.calendar == "standard":
        remarks.note(f"The dates {name} of the {calendar} calendar were read as real dates.")
    else:
        remarks.ask(
            f"The times {name} are in the {calendar} calendar, whose dates are not real ones; "
            "they can be read as the real dates of the same name.",
            "--calendar standard",
        )
    return out.reshape(numbers.shape).astype("datetime64[s]")


def durations(
    values: NDArray[Any],
    attrs: Mapping[str, Any],
    name: str,
    remarks: Remarks,
    answers: Answers = Answers(),
) -> NDArray[np.int64]:
    """Return durations in whole seconds.

    Numbers without units are hours where they can't well be days or minutes, which is noted;
    otherwise that is asked.

    Raises:
        UnsuitableData: if they can't be durations in hours.
    """
    if values.dtype.kind == "m":
        return values.astype("timedelta64[s]").astype(np.int64)
    units = answers.units.get(name, str(attrs.get("units", ""))).strip()
    seconds = unit_seconds(units) if units and units != "1" else 3600.0
    if seconds is None or values.dtype.kind not in "iuf":
        raise UnsuitableData(f"The lead times {name} are in {units!r}, which is no unit of time.")
    out = np.round(values.astype(np.float64) * seconds)
    if not np.isfinite(out).all():
        raise UnsuitableData(f"Some of the lead times {name} are missing.")
    if not units or units == "1":
        remarks.note(f"The lead times {name} have no units and were read as hours.")
        if out.max(initial=0.0) > LONGEST_LEAD * 3600.0:
            raise UnsuitableData(
                f"The lead times {name} have no units and reach {values.max():g}, too much for "
                f"hours; say --units {name}=seconds, for example."
            )
        if _doubtful(out / 3600.0):
            remarks.ask(
                f"The lead times {name} have no units: {values.min():g} to {values.max():g} "
                "may be hours, days or minutes.",
                f"--units {name}=hours",
            )
    return out.astype(np.int64)


def _doubtful(numbers: NDArray[np.float64]) -> bool:
    """Say whether lead times without units may well be others than hours.

    Steps of 1 are those of daily forecasts too, and whole hours in minutes are all multiples of
    60, which lead times in hours up to a few days never are.
    """
    leads = np.unique(numbers[numbers != 0.0])
    if not leads.size:
        return False
    width = float(np.diff(leads).min()) if leads.size > 1 else float(leads[0])
    return width <= 1.0 or not (leads % 60.0).any()


def whole_hours(seconds: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return hours.

    Raises:
        UnsuitableData: if there are lead times between the hours.
    """
    hours, rest = np.divmod(seconds, 3600)
    if rest.any():
        odd = int(seconds[rest != 0][0])
        raise UnsuitableData(
            f"The lead time of {odd // 3600} h {odd % 3600 / 60:g} min is not a whole hour, and "
            "Zephyrus works in whole hours; take the hourly times out first."
        )
    return hours
