"""Records as Markdown tables, and the marked parts of a page that they go into."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchmarks.records import Bar, Record

_SCALES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_HEAD = ("work", "zephyrus", "alternative", "ratio", "bar", "")


class MissingMarkersError(ValueError):
    """A page lacks the comments between which something goes."""


def quantity(value: float | None, unit: str) -> str:
    """A number with two or three significant digits and its unit: "13 µs", "1.6e-5 K"."""
    if value is None:
        return ""
    if unit == "s":
        scale, name = next(((s, n) for s, n in _SCALES if abs(value) >= 0.9995 * s), _SCALES[-1])
        return f"{_digits(value / scale)} {name}"
    return f"{_digits(value)} {unit}".strip()


def _digits(value: float) -> str:
    if value != 0 and abs(value) < 1e-3:
        return f"{value:.1e}".replace(".0e", "e").replace("e-0", "e-")
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.2g}" if abs(value) < 1 else f"{value:.3g}"


def times(ratio: float | None, sense: str) -> str:
    """A ratio in words: "145 x faster", "1.3 x as long"."""
    if ratio is None:
        return ""
    return f"{_digits(ratio)} × {'faster' if sense == 'faster' else 'as long'}"


def limit(bar: Bar | None, unit: str) -> str:
    """A bar in words: "≤ 150 µs", "≥ 50 ×"."""
    if bar is None:
        return ""
    number = quantity(bar.limit, unit) if bar.of == "ours" else f"{bar.limit:g} ×"
    return f"{'≤' if bar.at == 'most' else '≥'} {number}"


def verdict(record: Record) -> str:
    """Whether the bar is met."""
    if record.bar is None:
        return ""
    return {True: "met", False: "**MISSED**", None: "not measured"}[record.met]


def table(records: Iterable[Record]) -> str:
    """A Markdown table with a line for each record; what it repeats of the line before is blank."""
    lines = [_line(_HEAD), "|---|--:|--:|--:|--:|---|"]
    before = ("", "")
    for record in records:
        clock = " CPU" if record.clock == "CPU" and record.ours is not None else ""
        ours = f"{quantity(record.ours, record.unit)}{clock}"
        theirs = record.alternative
        if record.theirs is not None:
            theirs += f": {quantity(record.theirs, record.unit)}"
        same = (record.what, ours) == before
        before = (record.what, ours)
        cells = (
            "" if same else record.what,
            "" if same else ours,
            theirs,
            times(record.ratio, record.sense),
            limit(record.bar, record.unit),
            verdict(record),
        )
        lines.append(_line(cells))
    return "\n".join(lines)


def plain(record: Record) -> str:
    """A record in one line of text."""
    against = f"against {record.alternative}" if record.alternative else ""
    bar = f"{verdict(record).strip('*')} ({limit(record.bar, record.unit)})" if record.bar else ""
    ratio = times(record.ratio, record.sense)
    parts = (quantity(record.ours, record.unit), against, ratio, bar, record.note)
    return f"{record.what}: {', '.join(part for part in parts if part)}"


def missed(records: Sequence[Record]) -> str:
    """A list of the bars that are missed and what limits them; one sentence if there are none."""
    lines = []
    for record in (record for record in records if record.met is False):
        of_ratio = record.bar is not None and record.bar.of == "ratio"
        against = f", against {record.alternative}" if of_ratio else ""
        told = f"{_measured(record)}, the bar is {limit(record.bar, record.unit)}"
        lines.append(f"- {record.what}{against}: {told}. {record.limits}".rstrip())
    return "\n".join(lines) or "Every bar is met."


def _measured(record: Record) -> str:
    if record.bar is not None and record.bar.of == "ratio":
        return times(record.ratio, record.sense)
    return quantity(record.ours, record.unit)


def notes(records: Sequence[Record]) -> str:
    """What must be known to read the table, a line each, where it is to be known first."""
    said: dict[str, str] = {}
    for record in records:
        if record.note:
            said.setdefault(record.note, record.what)
    return "\n".join(f"- {what}: {note}" for note, what in said.items())


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def between(page: str, name: str, text: str) -> str:
    """Put text between ``<!-- NAME: begin -->`` and ``<!-- NAME: end -->``.

    Args:
        page: the page.
        name: of the markers.
        text: what goes there, instead of what does.

    Returns:
        The page, otherwise the same.

    Raises:
        MissingMarkersError: if the markers are not there, each once and in order.
    """
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    if page.count(begin) != 1 or page.count(end) != 1 or page.index(end) < page.index(begin):
        raise MissingMarkersError(f"The page needs {begin} and, after it, {end}, each once.")
    head, _, rest = page.partition(begin)
    tail = rest.partition(end)[2]
    return f"{head}{begin}\n{text.strip()}\n{end}{tail}"
