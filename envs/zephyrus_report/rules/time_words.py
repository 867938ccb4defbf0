"""A time in the words of a claim: "Sat 3 Jan 00 UTC to Sun 4 Jan 00 UTC (24 to 48 h)".

`render` writes what `parse` reads back without loss, to the minute. Weekday, date and lead time
are one phrase where they tell of the same hours, and stand side by side, with strokes between them,
where they don't. A moment begins with "at"; hours in brackets are lead times.
"""

from __future__ import annotations

import re

from zephyrus_report.rules.times import (
    DAYS,
    FIRST,
    MONTHS,
    WEEK,
    YEAR,
    Span,
    Time,
    day_number,
    hour_of_year,
    month_number,
)

_DAY = 24 * 60
_WEEK, _YEAR = int(WEEK) * 60, int(YEAR) * 60

Minutes = tuple[int, int]


def on_the_minute(time: Time | None) -> Time | None:
    """The same time, each end moved to the nearest minute."""
    if time is None:
        return None
    return Time(*(None if a is None else _hours(_minutes(a)) for a in _axes(time)))


def render(time: Time) -> str:
    """The words of a time that is known on at least one axis; `parse` reads them back."""
    lead, week, date = (None if a is None else _minutes(a) for a in _axes(time))
    day: list[tuple[Minutes | None, Minutes | None]] = [(week, date)]
    if week and date and not _same(week, date, _DAY):
        day = [(week, None), (None, date)]
    phrases = [_days(w, d) for w, d in day if w or d]
    if lead and len(phrases) == 1 and _length(lead) == _length(date or week):
        return f"{phrases[0]} ({_clocks(lead)} h)"
    if lead:
        word = "lead time" if lead[0] == lead[1] else "lead times"
        phrases.append(f"{word} {_clocks(lead)} h")
    return " / ".join(phrases)


def _axes(time: Time) -> tuple[Span | None, Span | None, Span | None]:
    return time.lead, time.week, time.date


def _minutes(span: Span) -> Minutes:
    return round(span[0] * 60), round(span[1] * 60)


def _hours(span: Minutes) -> Span:
    return span[0] / 60, span[1] / 60


def _length(span: Minutes | None) -> int | None:
    return None if span is None else span[1] - span[0]


def _same(a: Minutes, b: Minutes, turn: int) -> bool:
    """Whether two spans are as long, and begin at the same hour of the day."""
    return _length(a) == _length(b) and (a[0] - b[0]) % turn == 0


def _days(week: Minutes | None, date: Minutes | None) -> str:
    """A span by weekday, by date or by both, which begin at one hour and are as long."""
    span = date or week
    if span is None:
        return ""
    length = span[1] - span[0]
    first = _day(week and week[0], date and date[0])
    if length == 0:
        return f"at {first}"
    if not 0 < length < (_YEAR if date else _WEEK):
        return f"{first} for {_clock(length)} h"  # its end alone would not tell how long it is
    return f"{first} to {_day(week and week[1], date and date[1])}"


def _day(week: int | None, date: int | None) -> str:
    """One end of a span: "Sat 3 Jan 06 UTC"."""
    words = []
    if week is not None:
        words.append(DAYS[week % _WEEK // _DAY][:3].title())
    if date is not None:
        day = date % _YEAR // _DAY
        month = max(i for i, first in enumerate(FIRST) if first <= day)
        words += [str(day - FIRST[month] + 1), MONTHS[month][:3].title()]
    minute = ((week if date is None else date) or 0) % _DAY
    return " ".join([*words, _clock(minute).zfill(5 if minute % 60 else 2), "UTC"])


def _clocks(span: Minutes) -> str:
    return " to ".join(dict.fromkeys(_clock(end) for end in span))


def _clock(minutes: int) -> str:
    """Hours, with minutes if there are any: "6", "-24", "30:20"."""
    hour, rest = divmod(abs(minutes), 60)
    return f"{'-' if minutes < 0 else ''}{hour}{f':{rest:02d}' if rest else ''}"


_CLOCK = r"-?\d{1,6}(?::[0-5]\d)?"
_END = r"(?:[A-Z][a-z]{2} )?(?:\d{1,2} [A-Z][a-z]{2} )?\d\d(?::[0-5]\d)? UTC"
_HOURS = rf"{_CLOCK}(?: to {_CLOCK})?"
_PHRASE = (
    rf"(?:at {_END}|{_END} (?:to {_END}|for {_CLOCK} h))(?: \({_HOURS} h\))?|lead times? {_HOURS} h"
)
WORDS = rf"(?:{_PHRASE})(?: / (?:{_PHRASE}))*"
"""What the words of a time look like."""

_READ = re.compile(
    rf"(?:(?:at )?(?P<first>{_END})(?: to (?P<last>{_END})| for (?P<long>{_CLOCK}) h)?)?"
    rf"(?: \(|lead times? )?(?:(?P<a>{_CLOCK})(?: to (?P<b>{_CLOCK}))? h\)?)?"
)
_READ_END = re.compile(
    r"(?:(?P<week>[A-Z][a-z]{2}) )?(?:(?P<day>\d+) (?P<month>[A-Z][a-z]{2}) )?(?P<clock>[\d:]+) UTC"
)


def parse(words: str) -> Time | None:
    """Read what `render` wrote; None for all else, whatever it looks like."""
    if not re.fullmatch(WORDS, words):
        return None
    axes: dict[str, Span] = {}
    try:
        for phrase in words.split(" / "):
            axes |= _read(phrase)
    except ValueError:  # "Xyz 00 UTC"
        return None
    time = Time(axes.get("lead"), axes.get("week"), axes.get("date"))
    return time if any(_axes(time)) and render(time) == words else None


def _read(phrase: str) -> dict[str, Span]:
    m = _READ.fullmatch(phrase)
    if m is None:
        return {}
    spans: dict[str, Minutes] = {}
    if m["a"]:
        spans["lead"] = (_number(m["a"]), _number(m["b"] or m["a"]))
    if m["first"]:
        first = _read_end(m["first"])
        last = _read_end(m["last"]) if m["last"] else {}
        # The end of a weekday and a date is told by the date, which does not come round so soon.
        axis = "date" if "date" in first else "week"
        if m["last"]:
            turn = _YEAR if axis == "date" else _WEEK
            length = (last.get(axis, 0) - first.get(axis, 0)) % turn
        else:
            length = _number(m["long"] or "0")
        spans |= {axis: (start, start + length) for axis, start in first.items()}
    return {axis: _hours(span) for axis, span in spans.items()}


def _read_end(words: str) -> dict[str, int]:
    m = _READ_END.fullmatch(words)
    if m is None:
        return {}
    minute = _number(m["clock"])
    ends: dict[str, int] = {}
    if m["week"]:
        ends["week"] = _DAY * day_number(m["week"].lower()) + minute
    if m["month"]:
        month = month_number(m["month"].lower())
        ends["date"] = round(60 * hour_of_year(month, int(m["day"]))) + minute
    return ends


def _number(clock: str) -> int:
    hours, _, minutes = clock.lstrip("-").partition(":")
    return (-1 if clock.startswith("-") else 1) * (60 * int(hours) + int(minutes or 0))
