"""What the agent is told: the system prompt once, and the event's prompt."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

STYLES = {
    "short_range": "short range discussion",
    "extended": "extended range discussion",
    "outlook": "outlook",
}
"""The product styles of an event, and what each is called in its prompt."""

WORDS = {"short_range": 250, "extended": 250, "outlook": 200}
"""The word budget of each style, unless an event or the environment has its own."""

_BUDGET = "At most {} words."
_BUDGET_LINE = re.compile(r"^At most (\d{1,6}) words\.$", re.MULTILINE)

_INITIAL = re.compile(
    r"^Initial time: [A-Z][a-z]{2} (\d{4}-\d\d-\d\d) (\d\d)(?::(\d\d))? UTC\.$", re.MULTILINE
)

_COVER = {
    "short_range": "what happens where and when, by day or by part of a day",
    "extended": "the pattern, how it changes from day to day, and where it matters most",
    "outlook": "the overall pattern and the main hazards of the period",
}

_STYLES_TOLD = """\
Short range: parts of the region and of days, the heaviest amounts and strongest winds. Extended: \
the pattern and its change from day to day. Outlook: the main signal and hazards of the period."""

_RULES = """\
Write plain prose as weather services do: the pressure pattern first, then rain or snow, wind and \
temperature. Say where (parts of the region, countries, states) and when (days, hours in UTC), \
what moves or changes and what persists, and why where the data show why; the main highs and lows \
with units; how temperature compares with climatology. Only say what the data show: no hazard, \
cause, number or time that you did not look up. Say "likely" or "possible" where signals are \
weak. No headers, no generalities, nothing about your tools."""

_FULL = """\
You are a forecaster. You write the discussion of one forecast, which you know only through tools. \
Look before you write; several calls fit in one message. time="series" gives a region's or \
place's values step by step, kind and parent rank all places of a region, compare="departure" \
tells what is unusual{maps}. Precipitation is per 6 h step: add the steps up. \
Day 1 is the lead times 6 to 24 h, day 2 those from 30 to 48 h.

{rules}

{styles}

Keep to the word budget: a longer or repetitive text loses reward. When you are done, write the \
whole discussion once, without tool calls:
<report>
The discussion.
</report>"""

_MAPS = ", and a map shows the pattern (pressure, 500 hPa height, wind, rain)"

_COMPACT = """\
You are a forecaster. Look the forecast up with tools, several calls a message, then write its \
discussion: pressure pattern, rain, wind, temperature against climatology; where, when, what \
changes. Only say what the data show, with units; no invented number, time, cause or hazard. \
Precipitation is per 6 h step. Keep to the word budget. Finish, without tool calls, with
<report>
The discussion.
</report>"""

_NO_TOOLS = """\
You are a forecaster. You write the discussion of one forecast. You can't see the data: from the \
region, the season and the style alone, write what is most likely.

{rules}

{styles}

Keep to the word budget: a longer text loses reward. Write the whole discussion once:
<report>
The discussion.
</report>"""

_NO_TOOLS_RULES = """\
Write plain prose of the kind that weather services publish: the pattern first, then rain or snow, \
wind and temperature. Say where and when, and say "likely" or "possible" where you can't be sure."""


def system_prompt(*, compact: bool = False, use_tools: bool = True, maps: bool = True) -> str:
    """What the agent is told once.

    Args:
        compact: The short one, for very small models.
        use_tools: Whether there are tools; if not, the agent is told to write from the prompt.
        maps: Whether the map tool is there.
    """
    if not use_tools:
        return _NO_TOOLS.format(rules=_NO_TOOLS_RULES, styles=_STYLES_TOLD)
    if compact:
        return _COMPACT
    return _FULL.format(rules=_RULES, styles=_STYLES_TOLD, maps=_MAPS if maps else "")


def event_prompt(
    *,
    region: str,
    kind: str,
    initial: str | np.datetime64,
    start: int,
    end: int,
    style: str,
    words: int | None = None,
    areas: Sequence[str] = (),
) -> str:
    """What the agent is asked for one event.

    Args:
        region: The feature's name as the tools know it, "Western Europe".
        kind: Its kind, "subregion"; "" where the name alone is clear or it is no feature.
        initial: The forecast's initial time, UTC (ISO text or datetime64).
        start: First lead time of the valid period in hours.
        end: Last lead time of the valid period in hours.
        style: One of `STYLES`.
        words: The word budget, by default that of the style (`WORDS`).
        areas: Parts of the region that the discussion may name, if they are to be told.

    Returns:
        Region, initial time, valid period (UTC and lead times), style, what to cover, budget.

    Raises:
        ValueError: If there is no such style, or the period ends before it starts.
    """
    if style not in STYLES:
        raise ValueError(f"no style {style!r}; the styles are {', '.join(STYLES)}")
    if end <= start:
        raise ValueError(f"the valid period ends at {end} h, before it starts at {start} h")
    moment = np.datetime64(str(initial).removesuffix("Z"), "m")
    first, last = (_utc(moment + np.timedelta64(hour, "h")) for hour in (start, end))
    place = f"{region} ({kind})" if kind else region
    lines = [
        f"Write the {STYLES[style]} for {place}.",
        f"Initial time: {_utc(moment)}.",
        f"Valid period: {first} to {last} (lead times {start} to {end} h).",
        f"Cover {_COVER[style]}.",
    ]
    if areas:
        lines.append(f"Parts of the region: {', '.join(areas)}.")
    lines.append(_BUDGET.format(words or WORDS[style]))
    return "\n".join(lines)


def word_budget(prompt: str) -> int | None:
    """The word budget that an event's prompt gives, None if it gives none."""
    found = _BUDGET_LINE.search(prompt)
    return int(found[1]) if found else None


def with_word_budget(prompt: str, words: int) -> str:
    """The same prompt with another word budget."""
    line = _BUDGET.format(words)
    if word_budget(prompt) is None:
        return f"{prompt}\n{line}"
    return _BUDGET_LINE.sub(line, prompt)


def context(prompt: str) -> str:
    """What a judge is told of an event: its prompt without the word budget."""
    return _BUDGET_LINE.sub("", prompt).strip()


def initial_time(prompt: str) -> np.datetime64 | None:
    """The initial time that an event's prompt gives, UTC; None if it gives none."""
    found = _INITIAL.search(prompt)
    return np.datetime64(f"{found[1]}T{found[2]}:{found[3] or '00'}") if found else None


def _utc(moment: np.datetime64) -> str:
    """A time as "Mon 1959-10-19 00 UTC"."""
    date = moment.astype("datetime64[D]")
    day = ("Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed")[int(date.astype(int)) % 7]
    clock = str(moment)[11:16].removesuffix(":00")
    return f"{day} {date} {clock} UTC"
