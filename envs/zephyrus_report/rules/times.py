"""When a statement holds: days, hours and lead times in a text, on the axes that can be known.

A time is known on up to three axes: lead time (hours after the initial time), week (hours after
Monday 00 UTC) and date (hours after 1 January 00 UTC). `Calendar` learns from a text how they hang
together: "day 2 (Saturday 3 January)" or "initial time: Mon 1959-10-19 00 UTC" ties them all.
Local clock times are read as if they were UTC: a few hours do not matter to a comparison.
"""

from __future__ import annotations

import contextlib
import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass

WEEK, YEAR = 168.0, 8784.0
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
FIRST = (0, 31, 60, 91, 121, 152, 182, 213, 244, 274, 305, 335)
"""Days of a leap year before each month."""

Span = tuple[float, float]

_DAY = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?s?\b"
_MONTH = r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b"
_DATE = rf"(?:\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}|{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?(?!\d))(?:,?\s+\d{{4}})?"
_PART = r"(?:(?:early|late|mid)[-\s]+)?(?:morning|afternoon|evening|overnight|night|midday|noon|midnight)\b"
_CLOCK = r"\d{1,2}(?::?\d{2})?\s?(?:utc|z|gmt)\b|\d{1,2}(?::\d{2})?\s?(?:am|pm)\b(?:\s+[ecmphak][ds]t\b)?"
_ISO = r"\d{4}-\d{2}-\d{2}(?:[t\s]+\d{2}(?::?\d{2}){0,2}\s*(?:utc|z)?)?"
_UNIT = re.compile(
    rf"(?P<days>\bdays?\s+(?P<d1>\d{{1,2}})(?:\s*(?:to|and|through|-|–)\s*(?P<d2>\d{{1,2}}))?)"
    rf"|(?P<iso>\b{_ISO})"
    rf"|(?P<clock>\b(?:{_CLOCK}))"
    rf"|(?P<lead>(?:\b(?:hours?|lead(?:\s+times?)?(?:\s+of)?)\s+|\bt\s?\+\s?|(?<![\w.])\+\s?)(?P<h1>\d{{1,3}})(?:\s*(?:to|and|through|-)\s*\+?(?P<h2>\d{{1,3}}))?(?:\s*h(?:ours?)?\b)?)"
    rf"|(?P<lead2>\b(?P<h3>\d{{1,3}})(?:\s*(?:to|-)\s*(?P<h4>\d{{1,3}}))?\s*(?:h|hours?)\b(?:\s+(?:lead|after|into|ahead|from))?)"
    rf"|(?P<firsth>\b(?:first|next)\s+(?P<h5>\d{{1,3}})\s*(?:h|hours?)\b)"
    rf"|(?P<date>(?:\b(?:{_DAY})[,.]?\s+)?\b{_DATE})"
    rf"|(?P<day>\b(?:(?:early|late|mid)[-\s]+)?{_DAY})"
    r"|(?P<rel>\b(?:today|tonight|tomorrow|overnight|this (?:morning|afternoon|evening|weekend)|(?:the |next )?weekend|midweek|mid-week|mid week)\b)"
)
_AFTER = re.compile(rf"\s*(?:,\s*)?(?P<part>{_PART})")
_CLOCK_DAY = re.compile(rf"\s*(?:on\s+|,\s*)?(?:(?:{_DAY}[,.]?\s+)?{_DATE}|{_DAY})")
_IN_BRACKETS = re.compile(r"\s*\(([^()]{3,60})\)|\s*,\s*(?=" + _DAY + r")([^,;.()]{3,40})")
_DAY_DATES = re.compile(
    rf"({_DAY})[,.]?\s+(?:(\d{{4}})-(\d{{2}})-(\d{{2}})|(\d{{1,2}})(?:st|nd|rd|th)?(?:\s+(?:of\s+)?({_MONTH}))?|({_MONTH})\s+(\d{{1,2}}))"
)
_LINK = re.compile(r"\s*(?:to|through|thru|until|till|into|and|-|/)\s*(?:early|late|the)?\s*$")
_INITIAL = re.compile(
    r"(?:initial(?:i[sz]ed)?(?:\s+time)?|init|run of|issued)\b[^.\n]{0,24}?(\d{4})-(\d{2})-(\d{2})(?:[t\s]+(\d{2}))?"
)
_PERIOD = re.compile(r"\blead times? (\d{1,3}) to \d{1,3}\b")
_ISSUED = re.compile(
    rf"\b\d{{3,4}}\s(?:am|pm|utc|z)\b[^\n]{{0,12}}?\b({_DAY})\s({_MONTH})\s(\d{{1,2}})\s(?:19|20)\d\d\b"
)
_PARTS: dict[str, Span] = {
    "morning": (6, 12), "afternoon": (12, 18), "evening": (18, 24), "night": (18, 36),
    "overnight": (21, 33), "midday": (10, 14), "noon": (11, 13), "midnight": (22, 26),
}  # fmt: skip
_RELATIVE: dict[str, tuple[str, float, float]] = {
    "today": ("lead", 0, 24), "tonight": ("lead", 12, 36), "tomorrow": ("lead", 24, 48),
    "overnight": ("lead", 18, 36), "this morning": ("lead", 0, 12),
    "this afternoon": ("lead", 6, 24), "this evening": ("lead", 12, 30),
    "midweek": ("week", 36, 84), "weekend": ("week", 120, 168),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Time:
    """A span of time on the axes on which it is known, each (start, end) in hours."""

    lead: Span | None = None
    week: Span | None = None
    date: Span | None = None

    def shared(self, other: Time) -> tuple[Span, Span] | None:
        """Both spans on the best axis that both know, the other's turned to lie nearest."""
        for axis, period in (("lead", 0.0), ("date", YEAR), ("week", WEEK)):
            mine, theirs = getattr(self, axis), getattr(other, axis)
            if mine is None or theirs is None:
                continue
            if period:
                middle = (sum(mine) - sum(theirs)) / 2
                turn = period * round(middle / period)
                theirs = (theirs[0] + turn, theirs[1] + turn)
            return mine, theirs
        return None


@dataclass(frozen=True, slots=True)
class Found:
    """A time and where its words stand in the text."""

    time: Time
    start: int
    end: int


def month_number(word: str) -> int:
    """1 to 12 of a month's name or its first three letters; ValueError if there is none."""
    return [month[:3] for month in MONTHS].index(word[:3]) + 1


def day_number(word: str) -> int:
    """0 (Monday) to 6 of a weekday's name or its first two letters; ValueError if none."""
    return [day[:2] for day in DAYS].index(word[:2])


def hour_of_year(month: int, day: int) -> float:
    """Hours from 1 January to a day of a leap year."""
    return 24.0 * (FIRST[month - 1] + day - 1)


class Calendar:
    """How lead times, weekdays and dates hang together in one text."""

    def __init__(self, lower: str = "", context: str = "") -> None:
        """Learn from a text in small letters, and from a context that knows the initial time."""
        self._week_of_lead: float | None = None
        self._date_of_lead: float | None = None
        self._week_of_date: float | None = None
        self._earliest = 0.0
        for text in (context.lower(), lower):
            if text:
                self._learn(text)

    def _learn(self, lower: str) -> None:
        found = _INITIAL.search(lower)
        if found:
            with contextlib.suppress(ValueError):  # no such date
                in_year, in_month, in_day = (int(n) for n in found.groups()[:3])
                hour = float(found.group(4) or 0)
                number = datetime.date(in_year, in_month, in_day).weekday()
                self._tie_lead(0.0, week=24.0 * number + hour)
                self._tie_lead(0.0, date=hour_of_year(in_month, in_day) + hour)
        issued = _ISSUED.search(lower)
        if issued:
            # "Today" is the day of the issue time; its clock is a local one.
            day = _hour(month_number(issued.group(2)), int(issued.group(3)))
            self._tie_lead(0.0, week=24.0 * day_number(issued.group(1)), date=day)
        named: list[float] = []  # lead times at which named days begin
        dated: list[float] = []
        for unit in _UNIT.finditer(lower):
            if unit["days"]:
                first = int(unit["d1"])
                named.append(24.0 * (first - 1))
                bracket = _IN_BRACKETS.match(lower, unit.end())
                inside = (bracket.group(1) or bracket.group(2)) if bracket else ""
                weekday = re.match(rf"\s*({_DAY})", inside)
                if weekday:
                    self._tie_lead(24.0 * (first - 1), week=24.0 * day_number(weekday.group(1)))
                dates = _dates(inside)
                if dates:
                    self._tie_lead(24.0 * (first - 1), date=dates[0])
        for pair in _DAY_DATES.finditer(lower):
            name, year, month, at, before, written, written_too, after = pair.groups()
            written = written or written_too
            if year:
                start = _hour(int(month), int(at))
            elif written:
                start = _hour(month_number(written), int(before or after))
            else:
                continue
            if start is None:
                continue
            dated.append(start)
            if self._week_of_date is None:
                self._week_of_date = (24.0 * day_number(name) - start) % WEEK
        self._join()
        if found:
            # What tells the initial time names days that the forecast is not about.
            period = _PERIOD.search(lower)
            named, dated = ([float(period.group(1))] if period else []), []
        if self._date_of_lead is not None:
            named += [self._lead(start) for start in dated]
        if named:
            self._earliest = max(0.0, min(named))

    def _lead(self, date: float) -> float:
        """The lead time of an hour of the year."""
        return (date - (self._date_of_lead or 0.0) + YEAR / 2) % YEAR - YEAR / 2

    def _tie_lead(self, lead: float, week: float | None = None, date: float | None = None) -> None:
        if week is not None and self._week_of_lead is None:
            self._week_of_lead = (week - lead) % WEEK
        if date is not None and self._date_of_lead is None:
            self._date_of_lead = (date - lead) % YEAR

    def _join(self) -> None:
        if self._week_of_lead is not None and self._date_of_lead is not None:
            if self._week_of_date is None:
                self._week_of_date = (self._week_of_lead - self._date_of_lead) % WEEK
        elif self._week_of_date is not None and self._date_of_lead is not None:
            self._week_of_lead = (self._date_of_lead + self._week_of_date) % WEEK

    def time(self, axis: str, start: float, end: float) -> Time:
        """A span on one axis, known on all the axes that this calendar ties to it."""
        lead = date = week = None
        length = end - start
        if axis == "lead":
            lead = start
        elif axis == "date":
            date = start % YEAR
            if self._date_of_lead is not None:
                lead = self._lead(start)
        else:
            week = start % WEEK
            if self._week_of_lead is not None:
                lead = (start - self._week_of_lead) % WEEK
                lead += WEEK * -((lead - self._earliest + 24.0) // WEEK)
        if lead is not None:
            week = (lead + self._week_of_lead) % WEEK if self._week_of_lead is not None else week
            date = (lead + self._date_of_lead) % YEAR if self._date_of_lead is not None else date
        if week is None and date is not None and self._week_of_date is not None:
            week = (date + self._week_of_date) % WEEK
        return Time(*(None if a is None else (a, a + length) for a in (lead, week, date)))

    def find(self, lower: str, plain: str, start: int, end: int) -> list[Found]:
        """The times that a piece of a text names, in order; a range is one time."""
        units: list[tuple[str, float, float, int, int]] = []
        position = start
        while unit := _UNIT.search(lower, position, end):
            position = unit.end()
            read = self._unit(unit, lower, plain, end)
            if read is not None:
                units.append(read)
                position = read[4]
        found: list[Found] = []
        last: tuple[str, float, float, int, int] | None = None
        for each in units:
            axis, begin, stop, at, until = each
            if last and last[0] == axis and _LINK.fullmatch(lower, last[4], at):
                _, first, last_stop, last_at, _ = last
                if stop < first and axis == "week":
                    begin, stop = begin + WEEK, stop + WEEK
                elif axis == "date" and begin < first - YEAR / 2:
                    begin, stop = begin + YEAR, stop + YEAR  # over the turn of the year
                if begin >= first:
                    found.pop()
                    each = (axis, first, max(stop, last_stop), last_at, until)
            elif last and each[4] <= last[4]:
                continue
            found.append(Found(self.time(*each[:3]), each[3], each[4]))
            last = each
        return found

    def _unit(
        self, unit: re.Match[str], lower: str, plain: str, limit: int
    ) -> tuple[str, float, float, int, int] | None:
        at, until = unit.span()
        if unit["days"]:
            first, last = int(unit["d1"]), int(unit["d2"] or unit["d1"])
            bracket = re.compile(rf"\s*\(\s*(?:{_DAY}|{_DATE}|\d{{4}}-)[^()]{{0,60}}\)").match(
                lower, until
            )
            return (
                "lead",
                24.0 * (first - 1),
                24.0 * max(first, last),
                at,
                (bracket.end() if bracket else until),
            )
        if unit["lead"] or unit["lead2"] or unit["firsth"]:
            low = unit["h1"] or unit["h3"] or "0"
            high = unit["h2"] or unit["h4"] or unit["h5"] or low
            if (
                unit["lead2"]
                and not unit["h4"]
                and not re.search(
                    r"(?:lead|after|into|ahead|from)$|(?:\bat|\bby|\baround|\bnear|\bhour|\buntil|\bto)\s+$",
                    lower[max(0, at - 8) : at]
                    if not lower[at:until].endswith(("lead", "after", "into", "ahead", "from"))
                    else lower[at:until],
                )
            ):
                return None  # a duration
            a, b = float(low), float(high)
            return ("lead", a, max(a, b), at, until) if a <= 400 else None
        if unit["rel"]:
            word = (
                unit["rel"]
                .removeprefix("the ")
                .removeprefix("next ")
                .replace("this weekend", "weekend")
            )
            word = re.sub(r"mid[- ]week", "midweek", word)
            axis, begin, stop = _RELATIVE[word]
            night = re.compile(r"\s+(?:night|morning|afternoon|evening)\b").match(lower, until)
            if word == "tomorrow" and night:
                a, b = _PARTS[night.group().strip()]
                begin, stop, until = begin + a, begin + b, night.end()
            return axis, begin, stop, at, until
        if unit["clock"]:
            hour = _clock(unit["clock"])
            day = _CLOCK_DAY.match(lower, until, limit)
            if hour is None:
                return None
            if not day:
                return None
            base = self._day(day.group().strip(" ,").removeprefix("on "))
            return (
                None if base is None else (base[0], base[1] + hour, base[1] + hour, at, day.end())
            )
        if unit["iso"]:
            base = self._day(unit["iso"][:10])
            if base is None:
                return None
            clock = re.search(r"[t\s](\d{2})", unit["iso"][10:])
            if clock:
                return (
                    base[0],
                    base[1] + float(clock.group(1)),
                    base[1] + float(clock.group(1)),
                    at,
                    until,
                )
            return base[0], base[1], base[1] + 24, at, until
        words = unit["date"] or unit["day"]
        bare = re.sub(r"^(?:early|late|mid)[-\s]+", "", words)
        if bare in ("sat", "sun", "mon", "wed", "fri", "thu", "may", "march") and not (
            plain[at:until].strip()[:1].isupper() and lower[max(0, at - 4) : at] != "the "
        ):
            return None
        base = self._day(bare)
        if base is None:
            return None
        begin, stop = base[1], base[1] + 24
        part = _AFTER.match(lower, until, limit)
        if part:
            a, b = _PARTS[part["part"].split()[-1].rpartition("-")[2]]
            begin, stop, until = base[1] + a, base[1] + b, part.end()
        if words.startswith("early") and not part:
            stop = begin + 12
        if words.startswith("late") and not part:
            begin = begin + 12
        return base[0], begin, stop, at, until

    def _day(self, words: str) -> tuple[str, float] | None:
        iso = re.match(r"(\d{4})-(\d{2})-(\d{2})", words)
        if iso:
            hour = _hour(int(iso.group(2)), int(iso.group(3)))
            return None if hour is None else ("date", hour)
        dates = _dates(words)
        if dates:
            return "date", dates[0]
        day = re.match(_DAY, words)
        return ("week", 24.0 * day_number(day.group())) if day else None


def _hour(month: int, day: int) -> float | None:
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    return hour_of_year(month, day)


_DAY_MONTH = re.compile(
    rf"(\d{{1,2}})(?:st|nd|rd|th)?(?:\s+(?:of\s+)?({_MONTH})|(?=\s+(?:to|and|-)\s+(?:{_DAY}\s+)?\d{{1,2}}\s+({_MONTH})))|({_MONTH})\s+(\d{{1,2}})"
)


def _dates(words: str) -> Sequence[float]:
    """Hours of the year of the dates in some words; "3 to Sunday 4 January" has two."""
    hours = []
    for m in _DAY_MONTH.finditer(words):
        month, day = m.group(2) or m.group(3) or m.group(4), m.group(1) or m.group(5)
        hour = _hour(month_number(month), int(day))
        if hour is not None:
            hours.append(hour)
    return hours


def _clock(words: str) -> float | None:
    m = re.match(r"(\d{1,2}):?(\d{2})?\s?(\w+)", words)
    if m is None:
        return None
    hour = float(m.group(1)) % 24 if not m.group(2) else float(m.group(1)) + float(m.group(2)) / 60
    if m.group(3) in ("am", "pm"):
        hour = hour % 12 + (12 if m.group(3) == "pm" else 0)
    return hour if hour <= 24 else None
