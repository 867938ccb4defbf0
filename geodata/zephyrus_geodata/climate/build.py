"""Building a climatology: read by time, turned round on the disk, summarised by blocks of cells.

What is made lies in a hidden folder beside the target until all of it is on the disk; one rename
puts it into force. Killed at any point, the same build goes on after the last whole file.
"""

import errno
import json
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata.cells import AnyGrid, rectilinear
from zephyrus_geodata.climate import budget, files, netcdf, scratch
from zephyrus_geodata.climate.crew import Crew
from zephyrus_geodata.climate.recipe import Recipe
from zephyrus_geodata.climate.release import release
from zephyrus_geodata.climate.series import Analyses, matching
from zephyrus_geodata.climate.summary import Summary, summarise
from zephyrus_geodata.errors import StoreFailure
from zephyrus_geodata.store import arrays, grids
from zephyrus_geodata.store.ingest import Progress
from zephyrus_geodata.store.lock import locked
from zephyrus_geodata.store.names import home

_SPARE_DISK = 16 * 1024**2


@dataclass(frozen=True)
class Target:
    """Where a climatology goes: a dataset's folder, or a NetCDF file.

    Attributes:
        path: the folder or file.
        grid: the dataset's grid; None takes that of the analyses.
    """

    path: Path
    grid: AnyGrid | None = None

    @property
    def is_dataset(self) -> bool:
        """Whether it is a dataset's folder."""
        return self.grid is not None

    @property
    def work(self) -> Path:
        """Where it is made."""
        return work_folder(self.path)


def work_folder(path: Path) -> Path:
    """Return where a climatology for a dataset's folder, or a file, is made."""
    return path.parent / f".{path.name}.climatology"


@dataclass(frozen=True, eq=False)
class Plan:
    """A build, worked out.

    Attributes:
        analyses: what is read.
        variables: which of it.
        recipe: what is computed.
        target: where it goes.
        grid: the cells of the result.
        taken: the analyses' cell of each of them; None for all.
        times: (time,) of the samples.
        budget: how it is cut.
        period: in words.
    """

    analyses: Analyses
    variables: tuple[str, ...]
    recipe: Recipe
    target: Target
    grid: AnyGrid
    taken: NDArray[np.intp] | None
    times: NDArray[np.datetime64]
    budget: budget.Budget
    period: str

    @property
    def series_bytes(self) -> int:
        """Size of the samples of one variable: what is held on the disk while it is made."""
        return 4 * self.times.size * self.grid.size

    @property
    def result_bytes(self) -> int:
        """Size of the result of one variable."""
        return 4 * self.recipe.numbers * self.grid.size

    @property
    def digest(self) -> str:
        """Names the build: the same of the same data has the same."""
        parts = (self.analyses.identity, self.recipe, self.grid.key, self.times.tobytes())
        return blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()

    def __str__(self) -> str:
        count, cells, steps = len(self.variables), self.grid.size, self.budget.steps
        text = (
            f"{self.times.size:,} times of {count} variable{'s' * (count > 1)} in {cells:,} cells: "
            f"at most {budget.show_size(self.budget.memory)} of memory besides Python and its "
            f"libraries, {budget.show_size(self.series_bytes)} of disk on the way, "
            f"{budget.show_size(self.result_bytes * count)} for the result"
        )
        chunk = max(self.analyses.chunks.get(name, (1, 0))[0] for name in self.variables)
        if chunk > steps:
            text += (
                f"; the source's chunks of {chunk:,} times are read {-(-chunk // steps)} times over: "
                "more --memory is quicker"
            )
        return text


def make_plan(
    analyses: Analyses,
    variables: tuple[str, ...],
    recipe: Recipe,
    target: Target,
    *,
    memory: int,
    workers: int,
) -> Plan:
    """Work out a build.

    Args:
        analyses: what is read, of the years that are wanted.
        variables: names.
        recipe: what is computed.
        target: where it goes.
        memory: bytes that may be held besides Python and its libraries.
        workers: how many tasks may run at once.

    Raises:
        StoreError: if the grids don't fit, or the memory is too little.
        UnsuitableData: if a file is wanted of a grid that is not latitudes x longitudes.
    """
    taken = None if target.grid is None else matching(analyses.grid, target.grid)
    grid = target.grid if target.grid is not None else analyses.grid
    if not target.is_dataset:
        rectilinear(grid, "A climatology in a file")
    times = analyses.times
    cut = budget.plan(analyses, variables, recipe, grid.size, times.size, memory, workers)
    years = times.astype("datetime64[Y]")
    first, last = str(years.min()), str(years.max())
    period = first if first == last else f"{first}-{last}"
    return Plan(analyses, variables, recipe, target, grid, taken, times, cut, period)


def build(plan: Plan, crew: Crew, progress: Progress | None = None) -> int:
    """Build a climatology and put it into force.

    Returns:
        How many variables an earlier, interrupted build had made already.

    Raises:
        StoreFailure: if the disk is full, another process builds the same, or the dataset is gone.
    """
    path = plan.target.path
    root, name = path.parent, f"{path.name}.climatology"
    if not plan.target.is_dataset:
        # No lock is left beside somebody's own files.
        root, name = home(), blake2b(str(path.resolve()).encode(), digest_size=8).hexdigest()
    try:
        with locked(root, name):
            return _build(plan, crew, progress)
    except FileNotFoundError as error:
        raise StoreFailure(
            f"{error.filename} is gone: the dataset or the analyses were changed or removed while "
            "the climatology was built. Run the command again."
        ) from error
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise StoreFailure(
                f"There is no room left below {path.parent} ({error.strerror}): make some and run the "
                "same command again. It goes on where it stopped; nothing else was changed."
            ) from error
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise StoreFailure(
                f"{error.filename or root} can't be written: {error.strerror}."
            ) from error
        raise


def _build(plan: Plan, crew: Crew, progress: Progress | None) -> int:
    made = plan.target.work / plan.digest
    if not made.is_dir():
        shutil.rmtree(plan.target.work, ignore_errors=True)
    made.mkdir(parents=True, exist_ok=True)
    whole = [_is_whole(plan, made, variable) for variable in plan.variables]
    _check_room(plan, len(whole) - sum(whole))
    grids.save(plan.grid, made / "grid")
    heard = _Heard(progress, 2 * plan.series_bytes, len(whole), sum(whole))
    for variable, is_there in zip(plan.variables, whole, strict=True):
        if not is_there:
            _make(plan, made, variable, crew, heard)
    for path in made.iterdir():  # of variables that were asked for before, and are no more
        if path.is_file() and path.name.split(".")[0] not in plan.variables:
            path.unlink()
    _commit(plan, made)
    shutil.rmtree(plan.target.work, ignore_errors=True)
    return sum(whole)


def _is_whole(plan: Plan, made: Path, variable: str) -> bool:
    day, month = files.day_path(made, variable), files.month_path(made, variable)
    recipe, cells = plan.recipe, plan.grid.size
    return arrays.is_whole(month, (*recipe.month_shape, cells)) and (
        not recipe.days or arrays.is_whole(day, (*recipe.day_shape, cells))
    )


def _make(plan: Plan, made: Path, variable: str, crew: Crew, heard: "_Heard") -> None:
    """Make the files of one variable."""
    cells, samples = plan.budget.cells, plan.times.size
    # What the blocks are is part of the name: with another --memory they are others.
    series = made / f"{variable}.{cells}.series"
    for other in made.glob("*.series"):
        if other != series:
            other.unlink()
    heard.begin(variable, "reading")
    if not series.exists():
        scratch.fill(
            series, plan.analyses, variable, plan.taken, cells, plan.budget.steps, heard.tell
        )
    heard.begin(variable, "computing")
    with ExitStack() as stack:

        def grow(path: Path, shape: tuple[int, ...]) -> files.Growing:
            file = stack.enter_context(arrays.writing(path))
            return files.Growing(file, (*shape, plan.grid.size))

        month = grow(files.month_path(made, variable), plan.recipe.month_shape)
        day = None
        if plan.recipe.days:
            day = grow(files.day_path(made, variable), plan.recipe.day_shape)
        for blocks in _waves(scratch.blocks(plan.grid.size, cells), plan.budget.workers):
            for block, summary in zip(blocks, _summaries(series, blocks, plan, crew), strict=True):
                month.put(block, summary.month)
                if day is not None:
                    day.put(block, summary.day)
                heard.tell(4 * samples * (block.stop - block.start))
            del summary
            release()
    series.unlink()


def _summaries(path: Path, blocks: list[slice], plan: Plan, crew: Crew) -> list[Summary]:
    work = partial(summarise, times=plan.times, recipe=plan.recipe)
    calls = [(scratch.read(path, block, plan.times.size),) for block in blocks]
    return list(crew.map(work, calls))


def _waves(blocks: Iterator[slice], workers: int) -> Iterator[list[slice]]:
    wave: list[slice] = []
    for block in blocks:
        wave.append(block)
        if len(wave) == workers:
            yield wave
            wave = []
    if wave:
        yield wave


def _commit(plan: Plan, made: Path) -> None:
    analyses = plan.analyses
    about = files.about(
        plan.recipe,
        plan.variables,
        period=plan.period,
        label=analyses.label,
        source=_plain_json(analyses.source),
    )
    if plan.target.is_dataset:
        with locked(plan.target.path.parent, plan.target.path.name):
            files.commit(made, plan.target.path, about)
        return
    part = plan.target.work / "file.part"
    grid = rectilinear(plan.grid, "A climatology in a file")
    netcdf.write(part, files.climatology(made, about), grid)
    part.replace(plan.target.path)


def _plain_json(value: dict[str, Any]) -> dict[str, Any]:
    plain: dict[str, Any] = json.loads(json.dumps(value, default=str))
    return plain


def _check_room(plan: Plan, left: int) -> None:
    needed = left * plan.result_bytes + (plan.series_bytes if left else 0)
    if not plan.target.is_dataset:
        needed += len(plan.variables) * plan.result_bytes
    free = shutil.disk_usage(plan.target.path.parent).free
    if needed + _SPARE_DISK > free:
        raise StoreFailure(
            f"{budget.show_size(needed)} are needed below {plan.target.path.parent} and "
            f"{budget.show_size(free)} are free: make room, or take fewer variables or days."
        )


class _Heard:
    """Tells the progress over all variables, in bytes that were read and then computed."""

    def __init__(self, progress: Progress | None, each: int, count: int, done: int) -> None:
        self._progress, self._each, self._total = progress, each, each * count
        self._variables, self._done, self._what = done, each * done, ""

    def begin(self, variable: str, what: str) -> None:
        """Hear what comes now."""
        if what == "reading":
            self._done, self._variables = self._each * self._variables, self._variables + 1
        else:
            self._done = self._each * self._variables - self._each // 2
        self._what = f"{what} {variable}"
        self.tell(0)

    def tell(self, count: int) -> None:
        """Hear of bytes that are done."""
        self._done = min(self._done + count, self._each * self._variables)
        if self._progress is not None:
            self._progress(self._done, self._total, self._what)
