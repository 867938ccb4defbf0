"""What the fields of a source mean: variables in SI units, and what is unclear about them."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata.errors import UnsuitableData
from zephyrus_geodata.reading import rain, units, winds
from zephyrus_geodata.reading.findings import Candidate, Findings, screen_of, unfit, units_of
from zephyrus_geodata.reading.missing import Screen
from zephyrus_geodata.reading.naming import EXTREMES, Named, name_of
from zephyrus_geodata.reading.understood import (
    EVERY,
    Answers,
    Axes,
    Meaning,
    RawField,
    RawReader,
    Taken,
)
from zephyrus_geodata.variables import is_variable, ordered, variable

_PREFERENCE = ("instant", "", "avg")

_ROTATED = ("u_component_of_wind", "v_component_of_wind")


def interpret(
    fields: Iterable[RawField],
    axes: Axes,
    answers: Answers = Answers(),
) -> Meaning:
    """Find the variables among fields that share one horizontal grid.

    Args:
        fields: the fields.
        axes: their axes.
        answers: what the user says.

    Returns:
        Readers in SI units by canonical name, in the order of ``variables.ordered``, and all
        that was decided or is to be asked.
    """
    found = Findings()
    by_name: dict[str, list[Candidate]] = {}
    for each in fields:
        named = _named(each, answers)
        if isinstance(named, str):
            found.left_out.setdefault(each.name, named)
        else:
            by_name.setdefault(named.variable, []).append(Candidate(each, named))
    wet = [name for name in by_name if name.startswith("total_precipitation")]
    rain.add([each for name in wet for each in by_name.pop(name)], axes, answers, found)
    states: dict[str, tuple[Candidate, Screen]] = {}
    for name, candidates in by_name.items():
        candidate = _choose(name, _fitting(name, candidates, answers, found), answers, found)
        if candidate is None:
            continue
        screen = screen_of(candidate.field, variable(name), answers, found)
        if screen is not None:
            states[name] = candidate, screen
    for name, (candidate, screen) in states.items():
        _add_state(name, candidate, screen, states, answers, found)
    averaged = [
        n
        for n, (c, _) in states.items()
        if c.field.step_type.startswith("avg") and "mean_surface" not in n
    ]
    if averaged:
        found.note(f"means over an interval, not values at a moment: {', '.join(averaged)}")
    for name, (candidate, _) in states.items():
        if name.startswith("mean_surface") and candidate.field.step_type == "instant":
            found.note("values at a moment, not means over an interval as its name says", name)
        if name in EXTREMES and (period := _period(candidate.field)):
            found.note(f"extremes over {period}", name)
    means = [name for name, (c, _) in states.items() if winds.is_mean(c.field)]
    together = [n for n in means if winds.is_ensemble_mean(states[n][0].field)]
    if together:
        found.note(f"means of an ensemble, not one forecast: {', '.join(together)}")
    _derive_speed(found, means)
    for raw in {raw for taken in found.taken.values() for raw in taken.raw}:
        found.left_out.pop(raw, None)
    names = ordered(found.variables)
    return Meaning(
        {name: found.variables[name] for name in names},
        {name: found.taken[name] for name in names},
        found.left_out,
        tuple(found.notes),
        tuple(found.questions),
    )


def _named(each: RawField, answers: Answers) -> Named | str:
    """Name a field as the user says, or else as it says itself."""
    said = answers.names.get(each.name)
    if said is None:
        return name_of(each.name, each.attrs, each.level, each.step_type)
    if not said:
        return "it is left out as you say"
    level = each.level
    if not is_variable(said) and level is not None and level.kind == "pressure":
        said = f"{said}_{level.value:g}"
    if not is_variable(said):
        raise UnsuitableData(
            f"--names {each.name}={said}: there is no variable {said}; "
            "`zephyrus data inspect` lists those that are known."
        )
    return Named(said, "your word", sure=True)


def _fitting(
    name: str, candidates: list[Candidate], answers: Answers, found: Findings
) -> list[Candidate]:
    """Leave out fields whose units say that they are something else after all."""
    kept = []
    for candidate in candidates:
        why = unfit(candidate.field, variable(name), answers)
        if why:
            found.left_out[candidate.field.name] = why
        else:
            kept.append(candidate)
    return kept


def _choose(
    name: str, candidates: list[Candidate], answers: Answers, found: Findings
) -> Candidate | None:
    """Choose between fields that would be the same variable."""

    def rank(candidate: Candidate) -> tuple[bool, int, bool, bool]:
        each = candidate.field
        wanted = answers.step_types.get(each.name)
        kind = each.step_type
        # Two extremes over periods of other lengths are no better one than the other.
        kind = "" if kind in ("max", "min") else kind
        place = _PREFERENCE.index(kind) if kind in _PREFERENCE else len(_PREFERENCE)
        return (
            wanted is not None and wanted != kind,
            place,
            not candidate.named.sure,
            not units.same(units_of(each, answers), variable(name).units),
        )

    ranked = sorted(candidates, key=rank)
    if len(ranked) < 2:
        return ranked[0] if ranked else None
    best, second = ranked[0], ranked[1]
    if rank(best) == rank(second):
        names = sorted({candidate.field.name for candidate in candidates})
        if len(names) == 1:
            found.ask(
                f"The source has {len(candidates)} fields of this name that would all be {name}.",
                f"--step-type {names[0]}=instant|avg|accum",
                names[0],
            )
        else:
            found.ask(
                f"{', '.join(names)} would all be {name}; leave out what you don't want.",
                f"--name {names[-1]}=",
                names[0],
            )
        return None
    for other in ranked[1:]:
        if other.field.name == best.field.name:
            kinds = sorted({c.field.step_type or "unnamed" for c in ranked})
            found.note(
                f"the source has it as {' and '.join(kinds)}; "
                f"{best.field.step_type or 'unnamed'} is taken (--step-type chooses).",
                best.field.name,
            )
        else:
            found.left_out.setdefault(
                other.field.name, f"{best.field.name} is taken for {name} instead"
            )
    return best


def _read(
    each: RawField, screen: Screen, init: int = 0, span: slice = EVERY
) -> NDArray[np.float32]:
    return screen(each.read(init, span))


def _add_state(
    name: str,
    candidate: Candidate,
    screen: Screen,
    states: Mapping[str, tuple[Candidate, Screen]],
    answers: Answers,
    found: Findings,
) -> None:
    """Add a field that is its variable as it stands, but for units and the turning of winds."""
    each = candidate.field
    how = _how(each, screen, candidate.named)
    reader: RawReader = partial(_read, each, screen)
    raws: tuple[str, ...] = (each.name,)
    if any(part in name for part in _ROTATED):
        along = winds.axes_of(each, candidate.named.axes, answers.winds)
        if along is None:
            found.ask(
                "The source doesn't say whether its wind components point east and north or "
                "along the axes of its grid.",
                "--winds earth|grid",
                each.name,
            )
            return
        if along == "grid":
            partner = states.get(_partner(name))
            if partner is None:
                found.left_out[each.name] = "it points along the grid and its partner is missing"
                return
            other, other_screen = partner
            if winds.axes_of(other.field, other.named.axes, answers.winds) != "grid":
                found.left_out[each.name] = f"it points along the grid, {other.field.name} doesn't"
                return
            pair = (reader, partial(_read, other.field, other_screen))
            first = "u_component" in name
            angle = winds.grid_angle(each.horizontal)
            u, v = pair if first else pair[::-1]
            reader = _Turned(u, v, angle, 0 if first else 1)
            raws = tuple(sorted({each.name, other.field.name}))
            how += ", turned from the grid's axes to east and north"
            found.note(
                "components along the grid's axes were turned to east and north "
                f"(by up to {np.rad2deg(np.abs(angle).max()):.3g}°)",
                name,
            )
    found.variables[name] = reader
    found.taken[name] = Taken(raws, units_of(each, answers) or screen.variable.units, how)


def _period(each: RawField) -> str:
    """Return the period of an extreme in words, if its name or its intervals say it."""
    if each.windows is not None:
        hours = np.diff(each.windows[each.present], axis=1)
        hours = np.unique(np.round(hours[np.isfinite(hours)], 6))
        return " or ".join(f"{h:g} h" for h in hours[:3])
    match = re.fullmatch(r"(?:m[xn]2t|10fg|fg10_?)(3|6|24)", each.name.lower())
    return f"{match[1]} h" if match else ""


def _how(each: RawField, screen: Screen, named: Named) -> str:
    changed = f"converted to {screen.variable.units}, " if not screen.conversion.same else ""
    return f"{changed}by its {named.how.removeprefix('its ')}"


def _partner(name: str) -> str:
    u, v = _ROTATED
    return name.replace(u, v) if u in name else name.replace(v, u)


@dataclass(frozen=True, eq=False)
class _Turned:
    """Reads one of two wind components, turned towards east or north."""

    u: RawReader
    v: RawReader
    angle: NDArray[np.float64]
    which: int

    def __call__(self, init: int = 0, span: slice = EVERY) -> NDArray[np.float32]:
        return winds.rotate(self.u(init, span), self.v(init, span), self.angle)[self.which]


@dataclass(frozen=True, eq=False)
class _Speed:
    """Reads the speed of a wind from its components."""

    u: RawReader
    v: RawReader

    def __call__(self, init: int = 0, span: slice = EVERY) -> NDArray[np.float32]:
        speed: NDArray[np.float32] = np.hypot(self.u(init, span), self.v(init, span))
        return speed


def _derive_speed(found: Findings, means: Collection[str]) -> None:
    """Add the wind speeds near the ground that a source gives as components only.

    They are taken before members are averaged: the speed of a mean wind is less than the mean
    speed. From components that are means none is derived for that reason.
    """
    for height in ("10m", "100m"):
        name = f"{height}_wind_speed"
        parts = [f"{height}_{c}_component_of_wind" for c in "uv"]
        if name in found.variables or not all(part in found.variables for part in parts):
            continue
        if any(part in means for part in parts):
            found.note("not derived: the length of a mean wind is less than the mean speed", name)
            continue
        found.variables[name] = _Speed(*(found.variables[part] for part in parts))
        raws = tuple(dict.fromkeys(raw for part in parts for raw in found.taken[part].raw))
        found.taken[name] = Taken(raws, "m s-1", "the length of the wind vector")
        found.note("derived from the wind's components", name)
