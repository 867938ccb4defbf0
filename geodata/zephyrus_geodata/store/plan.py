"""What an ``add`` is going to write, worked out before anything is written."""

import glob
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata.cells import AnyGrid
from zephyrus_geodata.errors import StoreError, UnsuitableData
from zephyrus_geodata.store import fill
from zephyrus_geodata.store.names import forecast_name
from zephyrus_geodata.store.select import Selection

if TYPE_CHECKING:
    from zephyrus_geodata.reading.understood import Reader, Understood


@dataclass(frozen=True, eq=False)
class Job:
    """One file to write.

    Attributes:
        path: relative to the part's folder.
        variable: its name.
        init: index of the initial time in the source, 0 for a series.
        what: the forecast or series that it belongs to, in words.
    """

    path: Path
    variable: str
    init: int
    what: str


@dataclass(frozen=True, eq=False)
class Plan:
    """A selection of a source.

    Attributes:
        source: what is read.
        selection: as it was asked for.
        grid: the cells that are kept.
        forecasts: name -> index of the initial time; empty for a series.
        present: names of the forecasts that are left out because the dataset has them already.
        variables: names that are kept.
        members: names that are kept.
        cut: what to take of each reader.
        stamp: says whether the source is still the one it was (sizes and times of files).
    """

    source: "Understood"
    selection: Selection
    grid: AnyGrid
    forecasts: Mapping[str, int]
    present: tuple[str, ...]
    variables: tuple[str, ...]
    members: tuple[str, ...]
    cut: fill.Cut
    stamp: str = ""
    attrs: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_forecast(self) -> bool:
        """Whether the source holds forecasts."""
        return self.source.kind == "forecast"

    @property
    def lead_hours(self) -> NDArray[np.int64]:
        """(lead,) hours that are kept."""
        return self.source.lead_hours[self.cut.steps]

    def jobs(self) -> Iterator[Job]:
        """Every file, forecast by forecast."""
        if not self.is_forecast:
            for variable in self.variables:
                yield Job(Path("series", f"{variable}.npy"), variable, 0, self.source.kind)
        for name, init in self.forecasts.items():
            for variable in self.variables:
                yield Job(Path("forecasts", name, f"{variable}.npy"), variable, init, name)

    def reader(self, job: Job) -> "Reader":
        """Return the reader of a job's variable."""
        return self.source.variables[job.variable]

    @property
    def digest(self) -> str:
        """A string that changes with anything that changes what is written."""
        source = self.source
        parts: Sequence[Any] = (
            source.kind,
            source.where,
            source.format,
            sorted((k, v.how, v.units, v.raw) for k, v in source.taken.items()),
            [str(note) for note in source.notes],
            self.grid.key,
            dict(self.forecasts),
            [str(t) for t in source.init_times],
            self.lead_hours.tolist() if self.is_forecast else [str(t) for t in source.times],
            self.variables,
            self.members,
            self.cut.steps.tolist(),
            self.stamp,
        )
        return blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def make_plan(
    source: "Understood",
    selection: Selection,
    *,
    present: Sequence[str] = (),
    inputs: Sequence[str] = (),
) -> Plan:
    """Apply a selection to a source.

    Args:
        source: understood, without open questions.
        selection: what to take of it.
        present: names of forecasts to leave out.
        inputs: the paths, patterns and addresses that were opened; ``source.where`` by default.

    Raises:
        UnsuitableData: if questions are open, or the source has nothing to store.
        StoreError: if the selection asks for what is not there.
    """
    if not source.variables:
        why = "; ".join(f"{name}: {reason}" for name, reason in source.left_out.items())
        raise UnsuitableData(
            f"{source.where} has no variable that is known{f' ({why})' if why else ''}."
        )
    variables = _variables(source, selection)
    is_forecast = source.kind == "forecast"
    for key in ("time",) if is_forecast else ("init", "lead"):
        if key in selection.given:
            raise StoreError(f"--select {key}= makes no sense: the source holds {source.kind}.")
    forecasts: dict[str, int] = {}
    if is_forecast:
        for index in selection.moments("init", source.init_times).tolist():
            forecasts[forecast_name(source.init_times[index])] = index
        steps = selection.leads(source.lead_hours)
    elif source.kind == "climatology":
        if "time" in selection.given:
            raise StoreError("--select time= makes no sense: the source is a climatology.")
        steps = np.arange(source.days.size * source.hours.size)
    else:
        steps = selection.moments("time", source.times)
    if not steps.size or (is_forecast and not forecasts):
        raise UnsuitableData(f"{source.where} has no time: there is nothing to store.")
    grid, cells = selection.cells(source.grid)
    members = tuple(selection.names("members", source.members))
    cut = fill.Cut(
        steps,
        cells,
        np.array([source.members.index(m) for m in members]) if members else None,
        grid.size,
        source.grid.size * max(1, len(source.members)),
    )
    return Plan(
        source,
        selection,
        grid,
        {name: i for name, i in forecasts.items() if name not in present},
        tuple(name for name in forecasts if name in present),
        variables,
        members,
        cut,
        "-".join(stamp(where) for where in inputs or [source.where]),
        {key: value for key, value in source.attrs.items() if isinstance(value, (str, int, float))},
    )


def _variables(source: "Understood", selection: Selection) -> tuple[str, ...]:
    """Return the variables to store, if nothing is unclear about them.

    Questions about a variable that was not selected may stay open.
    """
    given = "variables" in selection.given
    try:
        names = tuple(selection.names("variables", list(source.variables)))
    except StoreError:
        if not source.questions:
            raise
        names, given = (), False  # what was asked for may be what the questions are about
    raw = {each for name in names if name in source.taken for each in source.taken[name].raw}
    questions = [q for q in source.questions if not given or not q.variable or q.variable in raw]
    if questions:
        raise UnsuitableData(
            f"{source.where} can't be stored yet: {' '.join(str(q) for q in questions)}"
        )
    return names


def stamp(where: str) -> str:
    """Return sizes and times of the files at a path or pattern; empty for an address."""
    if "://" in where and not where.startswith("file://"):
        return ""
    text = str(Path(where.removeprefix("file://")).expanduser())
    try:
        root = Path(Path(text).anchor or ".")
        found = sorted(root.glob(str(Path(text).relative_to(root)))) if glob.has_magic(text) else []
        found = [Path(text)] if Path(text).exists() else found
        paths = [q for p in found for q in (sorted(p.rglob("*")) if p.is_dir() else [p])]
        states = [(str(p), p.stat()) for p in paths if p.is_file()]
    except (OSError, ValueError):
        return ""
    seen = repr([(name, state.st_size, state.st_mtime_ns) for name, state in states])
    return blake2b(seen.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def plain_address(where: str) -> str:
    """Return addresses without what may be secret: user, password and query."""
    if "://" not in where:
        return where
    plain = []
    for address in where.split(", "):
        parts = urlsplit(address)
        host = parts.netloc.rpartition("@")[2]
        plain.append(urlunsplit((parts.scheme, host, parts.path, "", "")))
    return ", ".join(plain)
