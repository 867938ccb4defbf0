"""What has been found out about a source's fields, and the look at their units and numbers."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata.errors import UnsuitableData
from zephyrus_geodata.reading import units
from zephyrus_geodata.reading.missing import HUGE, Screen, lone_code, lone_extreme
from zephyrus_geodata.reading.naming import Named
from zephyrus_geodata.reading.understood import Answers, Note, Question, RawField, RawReader, Taken
from zephyrus_geodata.variables import Variable, level_of

_SAMPLED = 48
"""Fields of which one step is looked at before anything is read."""

_SCALE_UNKNOWN = ("m s-1", "m", "kg kg-1", "Pa s-1", "K m2 kg-1 s-1", "kg m-2 s-1")
"""SI units of variables whose numbers look alike in other units: 10 m/s or 10 kt, m or mm,
0.04 kg/kg or g/kg, 0.5 Pa/s or m/s."""

_OTHER_UNITS = {"m2 s-2": "m", "kg m-2": "cm"}
"""SI units -> another usual unit, which numbers may be in where they are possible in it too."""

_COMMON_NAMES = ("visibility", "snow_depth", "boundary_layer_height", "total_precipitation")
"""Names of ours that others use in other units: they say nothing about units."""


_SHARES = ("relative_humidity", "2m_relative_humidity", "total_cloud_cover")


@dataclass(eq=False)
class Findings:
    """What has been found out about the fields so far."""

    variables: dict[str, RawReader] = field(default_factory=dict)
    taken: dict[str, Taken] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    samples: int = 0
    sampled: set[str] = field(default_factory=set)

    def note(self, text: str, about: str = "") -> None:
        """Add a note once."""
        if Note(text, about) not in self.notes:
            self.notes.append(Note(text, about))

    def ask(self, text: str, flag: str, about: str) -> None:
        """Add a question once."""
        if Question(text, flag, about) not in self.questions:
            self.questions.append(Question(text, flag, about))


@dataclass(frozen=True, eq=False)
class Candidate:
    """A field and the variable that it would be."""

    field: RawField
    named: Named


def screen_of(
    each: RawField, what: Variable, answers: Answers, found: Findings, *, to: str = ""
) -> Screen | None:
    """Find the conversion of a field to SI units and look at a sample of it.

    Args:
        each: the field.
        what: the variable it is.
        answers: what the user says.
        found: takes notes, questions and reasons.
        to: the unit to convert to, if not the variable's; then the numbers are not judged.

    Returns:
        None if there is no conversion, or a question is open about it.
    """
    text, water = units_of(each, answers), what.units == "m" and "precipitation" in what.name
    target = to or what.units
    if not text and not _believed(each, what, found):
        return None
    try:
        conversion = units.conversion(text, target, water=water) if text else units.Conversion()
    except UnsuitableData:
        found.ask(
            f"Its units, {text!r}, are not known; {target} is needed.",
            f"--units {each.name}=UNIT",
            each.name,
        )
        return None
    if conversion is None:
        found.left_out[each.name] = _other(text, target, what)
        return None
    screen = Screen(each.name, what, conversion, answers.missing.get(each.name), guard=not to)
    # A fraction that says % can't be told by its range: 0.8 % is possible.
    is_share = each.name not in answers.units and what.name.startswith(_SHARES) and "%" in text
    if not to and not _sound(each, screen, found, is_share=is_share):
        return None
    if not conversion.same:
        found.note(f"converted from {text} to {target}", each.name)
    return screen


def unfit(each: RawField, what: Variable, answers: Answers) -> str:
    """Say why the units of a field can't be those of a variable; empty if they can."""
    text = units_of(each, answers)
    if what.name == "snow_depth" and "water" in text:
        return "it is the water in the snow, not the depth of the snow"
    try:
        fits = not text or units.conversion(text, what.units) is not None
    except UnsuitableData:
        return ""
    return "" if fits else _other(text, what.units, what)


def _other(text: str, target: str, what: Variable) -> str:
    return f"it is in {text}, which is no {target} ({what.name})"


def units_of(each: RawField, answers: Answers) -> str:
    """Return the units of a field: what the user says, or else what the source does."""
    given = each.attrs.get("units", "")
    if str(given) == "unknown" or not str(given).strip():
        given = each.attrs.get("GRIB_units", "")
    return answers.units.get(each.name, "" if str(given) == "unknown" else str(given)).strip()


def _believed(each: RawField, what: Variable, found: Findings) -> bool:
    """Say whether a field without units can be believed to be in SI units."""
    ours = (what.name, (level_of(what.name) or ("",))[0])
    if each.name in ours and each.name not in _COMMON_NAMES:
        found.note(f"has no units; its name is ours, so {what.units} is believed", what.name)
        return True
    if what.units in _SCALE_UNKNOWN:
        found.ask(
            f"It has no units, and its numbers don't tell {what.units} from others.",
            f"--units {each.name}=UNIT",
            each.name,
        )
        return False
    other = _OTHER_UNITS.get(what.units)
    if other is not None:
        seen = units.conversion(other, what.units, water=True)
        low, high = what.plausible
        raw = sample(each)
        there = raw[np.isfinite(raw) & (np.abs(raw) < HUGE)]
        if (
            seen is not None
            and there.size
            and low <= seen(there).min() <= seen(there).max() <= high
        ):
            found.ask(
                f"It has no units, and its numbers can be {what.units} and {other}.",
                f"--units {each.name}=UNIT",
                each.name,
            )
            return False
    found.note(f"has no units; its numbers are those of {what.units}", each.name)
    return True


def _sound(each: RawField, screen: Screen, found: Findings, *, is_share: bool) -> bool:
    """Look at one step of a field; ask if its numbers can't be right."""
    if each.name in found.sampled or found.samples >= _SAMPLED or not each.present.any():
        return True
    found.sampled.add(each.name)
    found.samples += 1
    raw = sample(each)
    lost = screen.gone(raw)
    codes = lost & ~np.isnan(raw) if raw.dtype.kind == "f" else lost
    if codes.any():
        numbers = ", ".join(f"{n:.7g}" for n in np.unique(raw[codes])[:3])
        found.note(
            f"{numbers} is never declared as missing, and is taken for it "
            f"({np.count_nonzero(codes)} of {raw.size} values in a sample)",
            each.name,
        )
    spike = lone_extreme(raw[~lost]) if screen.code is None else None
    if spike is not None:
        found.ask(
            f"{spike:g} stands far outside the other values of a sample; it may be a code for "
            "missing.",
            f"--missing {each.name}={spike:g} (or nan, if it is a value)",
            each.name,
        )
        return False
    if spike is None and screen.code is None and _zeros(raw[~lost], screen):
        found.ask(
            "Far more of its values are exactly 0 than any other number; 0 may be a code for "
            "missing (land, say).",
            f"--missing {each.name}=0 (or nan, if it is a value)",
            each.name,
        )
        return False
    if lost.all():
        found.note("every value of a sample is missing", each.name)
        return True
    si = screen.conversion(np.where(lost, np.nan, raw)).astype(np.float32)
    wrong = screen.outside(si)
    if not wrong.any():
        if is_share and 0.0 < float(np.nanmax(raw[~lost])) <= 1.0:
            found.ask(
                "It is in %, but no number of a sample is greater than 1, as in a fraction.",
                f"--units {each.name}=1 (or %)",
                each.name,
            )
            return False
        return True
    code = lone_code(raw, wrong)
    if code is not None and not wrong.all() and abs(code) < HUGE:
        found.ask(
            f"{np.count_nonzero(wrong)} of {wrong.size} values of a sample are {code:g}, which "
            f"is no {screen.variable.name}.",
            f"--missing {each.name}={code:g}",
            each.name,
        )
        return False
    given = each.attrs.get("units") or each.attrs.get("GRIB_units")
    found.ask(
        f"It says {given!r}, but {screen.complaint(si)}."
        if given
        else f"It has no units, but {screen.complaint(si)}.",
        f"--units {each.name}=UNIT (or --name {each.name}= to leave it out)",
        each.name,
    )
    return False


def _zeros(raw: NDArray[Any], screen: Screen) -> bool:
    """Say whether 0 °C stands out among temperatures, as it does where 0 was put for no value."""
    if screen.variable.units != "K" or screen.conversion.same or not raw.size:
        return False
    numbers, counts = np.unique(raw, return_counts=True)
    zeros = int(counts[numbers == 0.0].sum())
    others = int(counts[numbers != 0.0].max(initial=0))
    return zeros > max(0.05 * raw.size, 4 * others, 2) and numbers.size > 1


def sample(each: RawField) -> NDArray[Any]:
    """Return the first step that a field has."""
    step = int(np.argmax(each.present))
    return np.asarray(each.read(0, slice(step, step + 1)))
