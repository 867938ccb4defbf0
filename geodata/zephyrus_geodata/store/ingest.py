"""Adding to the store: bytes are written beside it, and one rename puts them into force.

What is made lies in ``.NAME.adding`` until all of it is on the disk. A new dataset is renamed to
NAME; a part for one that is there is moved in, and counts from the moment its manifest is
replaced. Killed at any point, the store is what it was, and the same ``add`` goes on after the
last whole file. Each variable of a forecast gets its feature cube (``cube``) as soon as it is there.
"""

import errno
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from zephyrus_geodata.errors import StoreError, StoreFailure
from zephyrus_geodata.features import FeatureStore
from zephyrus_geodata.store import arrays, fill, grids
from zephyrus_geodata.store.cube import CubeMaker, Load
from zephyrus_geodata.store.lock import locked
from zephyrus_geodata.store.manifest import PARTS, Manifest, Part, sync_folder
from zephyrus_geodata.store.names import checked_name, home
from zephyrus_geodata.store.plan import Job, Plan, make_plan, plain_address
from zephyrus_geodata.store.select import Selection
from zephyrus_geodata.store.tidy import adding, sweep

if TYPE_CHECKING:
    from zephyrus_geodata.reading.understood import Understood

Mode = Literal["new", "replace", "append"]
"""What to do with a dataset of this name: there must be none; replace it; add to it."""

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_SPARE = 16 * 1024**2  # bytes left free on the disk


class Progress(Protocol):
    """Hears how an ingest goes on."""

    def __call__(self, done: int, total: int, what: str) -> None:
        """``done`` of ``total`` bytes are read; ``what`` is the file that is being made."""


@dataclass(frozen=True)
class Added:
    """What an ingest did.

    Attributes:
        name: of the dataset.
        folder: where it lies.
        kind: forecast, analyses, climatology or stations.
        forecasts: names of the forecasts that were added.
        present: names of those that were there already, and were left as they are.
        variables: names of the variables.
        members: names of the members.
        bytes: size of what was added.
        resumed: how many files an earlier, interrupted ingest had written already.
        notes: what was done to the data.
    """

    name: str
    folder: Path
    kind: str
    forecasts: tuple[str, ...]
    present: tuple[str, ...]
    variables: tuple[str, ...]
    members: tuple[str, ...]
    bytes: int
    resumed: int
    notes: tuple[str, ...]


def add_dataset(
    name: str,
    source: "Understood",
    *,
    root: Path | None = None,
    selection: Selection | None = None,
    label: str = "",
    mode: Mode = "new",
    progress: Progress | None = None,
    inputs: Sequence[str] = (),
    features: Load = FeatureStore.load,
) -> Added:
    """Store a source, or a selection of it, as a dataset.

    One variable of one initial time is read at a time, ``fill.BUDGET`` bytes of it at once; twice
    that is held, on top of what the reader needs.

    Args:
        name: of the dataset.
        source: understood, without open questions.
        root: folder of datasets; $ZEPHYRUS_DATA or the user's data folder by default.
        selection: what to take; everything by default.
        label: short origin, shown wherever values are; by default that of the dataset that is
            appended to, or the name.
        mode: see ``Mode``.
        progress: hears of every file.
        inputs: the paths, patterns and addresses that were opened, so that an interrupted ingest
            goes on only if they are what they were; ``source.where`` by default.
        features: returns the features that cubes are made of; by default those that ship with the
            package.

    Raises:
        StoreError: if the name is bad or taken, or the selection asks for what is not there.
        StoreFailure: (a StoreError) if another process is changing the dataset, or the disk is
            full.
        UnsuitableData: if questions are open, or the source does not fit to the dataset.
    """
    name = checked_name(name)
    root = root or home()
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreFailure(f"The folder {root} can't be made: {error.strerror}.") from error
    selection = selection or Selection()
    with disk_faults(root), locked(root, name):
        return _add(name, source, root, selection, label, mode, progress, inputs, features)


@contextmanager
def disk_faults(root: Path) -> Iterator[None]:
    """Turn what a disk refuses into a sentence.

    Raises:
        StoreFailure: if it is full, or may not be written.
    """
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise StoreFailure(
                f"There is no room left below {root} ({error.strerror}): make some and run the "
                "same command again. It goes on where it stopped; nothing else was changed."
            ) from error
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise StoreFailure(
                f"{error.filename or root} can't be written: {error.strerror}."
            ) from error
        raise


def _add(
    name: str,
    source: "Understood",
    root: Path,
    selection: Selection,
    label: str,
    mode: Mode,
    progress: Progress | None,
    inputs: Sequence[str],
    features: Load,
) -> Added:
    folder = root / name
    old = _existing(folder, name, mode)
    there = [f for part in old.parts for f in part.forecasts] if old and mode == "append" else []
    plan = make_plan(source, selection, present=there, inputs=inputs)
    base = old if mode == "append" else None
    if base is not None:
        _check_fit(plan, base, folder, name)
    part = _part(plan, old)
    if base is not None and plan.is_forecast and not plan.forecasts:
        return _added(plan, part, folder, 0)
    work = adding(root, name)
    _prepare(work, plan, part.id, folder)
    cubes = CubeMaker(plan.grid, plan.cut.steps.size, features) if plan.is_forecast else None
    cubes = cubes if cubes is not None and cubes.is_worthwhile else None
    resumed = _write(plan, work / "dataset" / PARTS / part.id, root, cubes, progress)
    if base is not None:
        new = base.with_part(part)
    else:
        new = Manifest("", old.generation + 1 if old else 1, part.id, (part,))
    new = Manifest(label or new.label or name, new.generation, new.grid, new.parts)
    _commit(work, folder, part.id, new, is_new=old is None)
    sweep(root, name)
    return _added(plan, part, folder, resumed)


def _existing(folder: Path, name: str, mode: Mode) -> Manifest | None:
    """Return the manifest of the dataset that is there, if it may be changed so."""
    from zephyrus_geodata.folders import shipped_datasets

    if name in shipped_datasets():
        raise StoreError(f"{name!r} ships with zephyrus and can't be changed: choose another name.")
    if not folder.exists():
        if mode == "append":
            raise StoreError(f"There is no dataset {name!r} to append to: leave --append out.")
        return None
    manifest = Manifest.read(folder)
    if manifest is None:
        raise StoreError(
            f"The folder {folder} was not made by 'data add', so it is left alone: choose "
            "another name."
        )
    if mode == "new":
        raise StoreError(
            f"There is a dataset {name!r} already: give --replace to put this in its place, "
            "--append to add initial times to it, or choose another name."
        )
    return manifest


def _check_fit(plan: Plan, old: Manifest, folder: Path, name: str) -> None:
    grid = grids.load(folder / PARTS / old.grid / "grid")
    if plan.grid != grid:
        raise StoreError(
            f"{plan.source.where} is on another grid ({plan.grid!r}) than the dataset {name!r} "
            f"({grid!r}): select the same box, or add it under another name."
        )


def _part(plan: Plan, old: Manifest | None) -> Part:
    source, now = plan.source, datetime.now(UTC).isoformat(timespec="seconds")
    times = source.init_times.astype("datetime64[s]")
    generation = old.generation + 1 if old else 1
    return Part(
        f"{generation:04d}-{plan.digest}",
        source.kind,
        {name: str(times[i]) for name, i in plan.forecasts.items()},
        tuple(plan.lead_hours.tolist()) if plan.is_forecast else (),
        0 if plan.is_forecast else int(plan.cut.steps.size),
        plan.members,
        plan.variables,
        {
            "where": plain_address(source.where),
            "format": source.format,
            "added": now,
            "select": str(plan.selection),
            "notes": _notes(plan),
            "attrs": dict(plan.attrs),
            "taken": {
                key: {"raw": list(taken.raw), "units": taken.units, "how": taken.how}
                for key, taken in source.taken.items()
                if key in plan.variables
            },
        },
    )


def _notes(plan: Plan) -> list[str]:
    """The notes that are about what is kept."""
    gone = set(plan.source.variables) - set(plan.variables)
    notes = [str(note) for note in plan.source.notes if note.variable not in gone]
    summed = [v for v in plan.variables if v in fill.STEP_AMOUNTS]
    if plan.is_forecast and summed and plan.cut.steps.size <= plan.cut.steps[-1]:
        notes.append(f"{summed[0]}: the amounts of steps left out are added to the next one kept")
    return notes


def _added(plan: Plan, part: Part, folder: Path, resumed: int) -> Added:
    return Added(
        folder.name,
        folder,
        part.kind,
        tuple(plan.forecasts),
        plan.present,
        part.variables,
        part.members,
        plan.cut.bytes * len(list(plan.jobs())),
        resumed,
        tuple(part.source["notes"]),
    )


def _prepare(work: Path, plan: Plan, part: str, folder: Path) -> None:
    """Make the folder to work in; keep what an interrupted ingest of the same left there."""
    made = work / "dataset" / PARTS / part
    orphan = folder / PARTS / part
    if not made.is_dir():
        shutil.rmtree(work, ignore_errors=True)
    if orphan.is_dir():
        # Moved in, but killed before the manifest was replaced.
        made.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(made, ignore_errors=True)
        orphan.rename(made)
    made.mkdir(parents=True, exist_ok=True)
    grids.save(plan.grid, made / "grid")


def _write(
    plan: Plan, made: Path, root: Path, cubes: CubeMaker | None, progress: Progress | None
) -> int:
    """Write all files that are not whole yet; return how many arrays were."""
    jobs = list(plan.jobs())
    whole = [_is_whole(plan, made, job) for job in jobs]
    size, total = plan.cut.bytes, plan.cut.bytes * len(jobs)
    done = size * sum(whole)
    scratch = size if size > fill.BUDGET else 0
    if cubes is not None:
        scratch += cubes.bytes * len(jobs)
    check_room(root, total - done + scratch if done < total else 0, total + scratch)
    if not plan.is_forecast:
        _write_axes(plan, made / "series")
    for job, is_there in zip(jobs, whole, strict=True):
        path = made / job.path
        if not is_there:
            heard = _Heard(progress, done, size, total, f"{job.what} {job.variable}")
            path.parent.mkdir(parents=True, exist_ok=True)
            if plan.is_forecast:
                hours = plan.source.lead_hours
                fill.write_forecast(path, plan.reader(job), job.init, plan.cut, hours, heard.tell)
            else:
                fill.write_series(path, plan.reader(job), plan.cut, heard.tell)
            done += size
        if cubes is not None:
            if progress is not None:
                progress(done, total, f"{job.what} {job.variable}, features")
            cubes.make(fill.field_path(path, plan.members))
    if progress is not None:
        progress(done, total, "")
    return sum(whole)


class _Heard:
    """Tells the progress of one file."""

    def __init__(
        self, progress: Progress | None, done: int, size: int, total: int, what: str
    ) -> None:
        self._progress, self._done, self._total, self._what = progress, done, total, what
        self._most = done + size
        self.tell(0)

    def tell(self, count: int) -> None:
        """Hear of bytes that were read."""
        self._done = min(self._done + count, self._most)
        if self._progress is not None:
            self._progress(self._done, self._total, self._what)


def _is_whole(plan: Plan, made: Path, job: Job) -> bool:
    path, cut = made / job.path, plan.cut
    if not plan.is_forecast:
        return arrays.is_whole(path, fill.series_shape(cut))
    return arrays.is_whole(path, cut.shape) and (
        cut.members is None or arrays.is_whole(fill.mean_path(path), cut.shape[1:])
    )


def _write_axes(plan: Plan, folder: Path) -> None:
    source = plan.source
    folder.mkdir(parents=True, exist_ok=True)
    axes = {"days": source.days, "hours": source.hours}
    if source.kind != "climatology":
        axes = {"times": source.times[plan.cut.steps].astype("datetime64[s]").astype(np.int64)}
    for name, values in axes.items():
        arrays.write(folder / f"axis-{name}.npy", values.shape, [values], np.int64)


def check_room(root: Path, needed: int, total: int | None = None) -> None:
    """See that ``needed`` bytes (of ``total`` in all) fit on the disk.

    Raises:
        StoreFailure: if they don't.
    """
    free = shutil.disk_usage(root).free
    if needed and needed + _SPARE > free:
        ways = "make room"
        if total is not None:
            ways += ", take less with --select, or set ZEPHYRUS_DATA to a folder on a larger disk"
        raise StoreFailure(
            f"{_megabytes(total or needed)} are needed below {root} and {_megabytes(free)} are "
            f"free: {ways}."
        )


def _megabytes(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.1f} MB"


def _commit(work: Path, folder: Path, part: str, manifest: Manifest, *, is_new: bool) -> None:
    """Put the part into force."""
    made = work / "dataset"
    for path, _, _ in os.walk(made):
        sync_folder(Path(path))
    if is_new:
        manifest.write(made)
        made.rename(folder)
    else:
        (made / PARTS / part).rename(folder / PARTS / part)
        sync_folder(folder / PARTS)
        manifest.write(folder)
    sync_folder(folder.parent)
