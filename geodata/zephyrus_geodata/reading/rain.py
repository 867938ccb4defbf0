"""Precipitation fields: which intervals their values are for, and the readers of amounts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata.errors import UnsuitableData
from zephyrus_geodata.reading import precipitation, units
from zephyrus_geodata.reading.before import before_in
from zephyrus_geodata.reading.findings import Candidate, Findings, screen_of, units_of
from zephyrus_geodata.reading.missing import Screen
from zephyrus_geodata.reading.precipitation import Amounts, Floats
from zephyrus_geodata.reading.understood import EVERY, Answers, Axes, RawField, Taken
from zephyrus_geodata.variables import variable

_FLAG = "--precipitation accumulated|window|rate"
_STEPWISE = ("since the previous forecast step", "since the previous step", "previous time step")
_PEEK = (3, 24)  # steps looked at to tell whether amounts accumulate: a few, then more
_TOO_MANY = 50_000_000  # numbers in such a look


def add(candidates: Sequence[Candidate], axes: Axes, answers: Answers, found: Findings) -> None:
    """Add precipitation as amounts per step to what is found, or say why not, or ask.

    A source may have several: since the start of the run and in the last hour, rates and amounts.
    Each makes the variable that its intervals allow; where two make the same, the one that gives
    more steps is taken, then the one with fewer differences, then amounts before rates.
    """
    planned = [
        plan
        for candidate, meant in _versions(candidates, answers)
        if (plan := _plan(candidate, axes, meant, found)) is not None
    ]
    planned.sort(
        key=lambda plan: (
            -np.count_nonzero(plan.field.present & plan.amounts.usable),
            np.count_nonzero(plan.amounts.minus >= 0),
            plan.rate,
        )
    )
    for reader in planned:
        each, target = reader.field, reader.amounts.variable
        if target in found.taken:
            taken = found.taken[target].raw[0]
            if taken != each.name:
                found.left_out[each.name] = f"{taken} is taken for {target}"
            continue
        if not _sound(reader, found):
            continue
        how = f"mean rates x time; {reader.amounts.how}" if reader.rate else reader.amounts.how
        found.variables[target] = reader
        found.taken[target] = Taken((each.name,), units_of(each, answers) or "m", how)
        found.note(how, target)
        lost = np.count_nonzero(each.present & ~reader.amounts.usable)
        if lost:
            found.note(f"{lost} of {each.present.size} steps have no interval of their own", target)


def _versions(
    candidates: Sequence[Candidate], answers: Answers
) -> Iterator[tuple[Candidate, Answers]]:
    """Where a field is there since the start and in windows, the answer chooses between them.

    Then it says nothing about the intervals, which the source knows; else it does.
    """
    for candidate in candidates:
        each = candidate.field
        twins = [
            c.field for c in candidates if (c.field.name, c.field.level) == (each.name, each.level)
        ]
        known = len(twins) > 1 and all(_starts(twin).size for twin in twins)
        if not known or answers.precipitation not in ("accumulated", "window"):
            yield candidate, answers
        elif (_starts(each) == 0.0).all() == (answers.precipitation == "accumulated"):
            yield candidate, replace(answers, precipitation=None)


def _starts(each: RawField) -> Floats:
    """Return when the known intervals of a field start, in hours."""
    if each.windows is None:
        return np.empty(0)
    starts: Floats = each.windows[each.present, 0]
    return starts[np.isfinite(starts)]


def _plan(candidate: Candidate, axes: Axes, answers: Answers, found: Findings) -> "_Amounts | None":
    """Find the units and intervals of a precipitation field; None if they can't be had."""
    each, name = candidate.field, candidate.named.variable
    if answers.step_types.get(each.name, each.step_type) != each.step_type:
        return None
    text = units_of(each, answers)
    rate = _is_rate(text)
    screen = screen_of(each, variable(name), answers, found, to="m s-1" if rate else "m")
    if screen is None:
        return None
    intervals = _intervals(each, name, axes, answers, found, rate)
    if intervals is None:
        return None
    steps = axes.lead_hours.astype(np.float64) if axes.kind == "forecast" else None
    amounts = precipitation.plan(*intervals, steps, each.present)
    if isinstance(amounts, str):
        found.left_out[each.name] = f"{amounts}, so no amount per step comes out"
        return None
    return _Amounts(each, screen, amounts, rate, 1 if each.has_members else 0)


@dataclass(frozen=True, eq=False)
class _Amounts:
    """Reads precipitation as amounts in m; see ``Amounts``."""

    field: RawField
    screen: Screen
    amounts: Amounts
    rate: bool
    axis: int

    def __call__(self, init: int = 0, span: slice = EVERY) -> NDArray[np.float32]:
        result = self.amounts.read(
            lambda part: self.screen(self.field.read(init, part)),
            span,
            self.axis,
            rate=self.rate,
            raw=self.field.name,
        )
        what = variable(self.amounts.variable)
        if (result > what.plausible[1]).any():
            judge = Screen(self.field.name, what, units.Conversion())
            raise UnsuitableData(f"{self.field.name}: {judge.complaint(result)}.")
        return result


def _is_rate(text: str) -> bool:
    try:
        return bool(text) and units.conversion(text, "m s-1", water=True) is not None
    except UnsuitableData:
        return False


def _intervals(
    each: RawField, name: str, axes: Axes, answers: Answers, found: Findings, rate: bool
) -> tuple[Floats, Floats] | None:
    """Find the interval of each value: (step,) starts and ends in hours.

    Returns:
        None if there is none; then a question or a reason is left in ``found``.
    """
    steps = axes.lead_hours.astype(np.float64)
    if answers.precipitation is not None:
        return _answered(each, axes, answers.precipitation, rate)
    suffix = name.removeprefix("total_precipitation_").removesuffix("hr")
    if suffix.isdecimal():
        ends = steps if axes.kind == "forecast" else np.zeros(axes.steps)
        return ends - float(suffix), ends
    if rate and each.step_type == "instant":
        found.left_out[each.name] = (
            "it is a rate at a moment, which doesn't say what falls between two moments"
        )
        return None
    if each.windows is not None:
        return each.windows[:, 0], each.windows[:, 1]
    comment = " ".join(str(each.attrs.get(key, "")) for key in ("comment", "long_name")).lower()
    if axes.kind == "forecast" and any(words in comment for words in _STEPWISE):
        return precipitation.since_step_before(steps, _before(each, steps))
    if axes.kind == "forecast" and not rate and steps.size > 1:
        seen = _looks_accumulated(each)
        if seen:
            found.note("nowhere falls from step to step, so it is the amount since the start", name)
            return precipitation.since_start(steps)
    what = "mean rates" if rate else "amounts"
    choices = "in the step before, or since the start of the run"
    found.ask(
        f"The source doesn't say what time its {what} are for: {choices}."
        if axes.kind == "forecast"
        else f"The source doesn't say what time its {what} are for; window is the step before.",
        _FLAG,
        each.name,
    )
    return None


def _answered(each: RawField, axes: Axes, answer: str, rate: bool) -> tuple[Floats, Floats]:
    """Return the intervals that the user says the values are for."""
    if answer == "rate" and not rate:
        raise UnsuitableData(
            f"{each.name} is not in units of a rate; say --units {each.name}='mm/h', for example, "
            "or --precipitation accumulated or window."
        )
    if axes.kind == "forecast":
        steps = axes.lead_hours.astype(np.float64)
        if answer == "accumulated":
            return precipitation.since_start(steps)
        return precipitation.since_step_before(steps, _before(each, steps))
    hours = np.diff(axes.times.astype("datetime64[s]").astype(np.int64)) / 3600.0
    if answer == "accumulated" or not hours.size or np.ptp(hours) > 1e-6:
        raise UnsuitableData(
            f"{each.name}: a time series has amounts per window, and its times must be evenly "
            "spaced to say how long the windows are."
        )
    return np.full(axes.steps, -hours[0]), np.zeros(axes.steps)


def _before(each: RawField, steps: Floats) -> Floats:
    """Return the lead time before each that a field has."""
    if each.before is not None:
        return each.before()
    there = np.flatnonzero(each.present)
    return before_in(steps, np.zeros_like(there), there)


def _looks_accumulated(each: RawField) -> bool | None:
    """Look at some steps at the end of the first run."""
    seen = None
    for count in _PEEK:
        seen = _looks(each, count)
        if seen is not None:
            break
    return seen


def _looks(each: RawField, count: int) -> bool | None:
    """Look at so many steps."""
    there = np.flatnonzero(each.present)
    if there.size < 2:
        return None
    span = slice(int(there[-min(count, there.size)]), int(there[-1]) + 1)
    values = np.asarray(each.read(0, slice(span.stop - 1, span.stop)))
    if values.size * (span.stop - span.start) > _TOO_MANY:
        return None
    values = np.asarray(each.read(0, span), dtype=np.float64)
    moved: NDArray[Any] = np.moveaxis(values, 1 if each.has_members else 0, 0)
    return precipitation.looks_accumulated(moved[each.present[span]])


def _sound(reader: _Amounts, found: Findings) -> bool:
    """Look at one step of the amounts: note what is clipped, ask about what can't be."""
    step = int(np.flatnonzero(reader.amounts.usable)[-1])
    each, name = reader.field, reader.amounts.variable
    span = slice(step, step + 1)
    values = each.read(0, span)
    if values.size > _TOO_MANY:
        return True
    try:
        reader(0, span)
    except UnsuitableData as error:
        found.ask(str(error), f"{_FLAG} or --units {each.name}=UNIT", each.name)
        return False
    raw = reader.screen(values)
    negative = np.count_nonzero(raw < 0.0)
    if negative:
        unit = "m s-1" if reader.rate else "m"
        found.note(
            f"amounts below zero are set to zero ({negative} of {raw.size} values in a sample, "
            f"the least {np.nanmin(raw):.2g} {unit})",
            name,
        )
    return True
