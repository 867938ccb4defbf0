"""The cubes of a dataset that is in the store already: added before, or with other features.

A cube is put beside an array that is in force, whole or not at all, and nothing else is changed. So
readers need not know, and what was interrupted goes on after the last whole cube.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from zephyrus_geodata.errors import StoreError
from zephyrus_geodata.features import FeatureStore
from zephyrus_geodata.store import fill, grids
from zephyrus_geodata.store.cube import CubeMaker, Load
from zephyrus_geodata.store.ingest import Progress, check_room, disk_faults
from zephyrus_geodata.store.lock import locked
from zephyrus_geodata.store.manifest import PARTS, Manifest, Part


@dataclass(frozen=True)
class Indexed:
    """What was done.

    Attributes:
        name: of the dataset.
        is_worthwhile: False if its grid is so coarse, or has no areas, that it has no cubes.
        features: number of features.
        made: number of cubes that were made.
        present: number of those that were there.
        bytes: size of what was made.
    """

    name: str
    is_worthwhile: bool
    features: int = 0
    made: int = 0
    present: int = 0
    bytes: int = 0


def index_dataset(
    folder: Path, *, features: Load = FeatureStore.load, progress: Progress | None = None
) -> Indexed:
    """Make the cubes that a stored dataset lacks; old ones of other features are deleted.

    Args:
        folder: of the dataset.
        features: returns the features; by default those that ship with the package.
        progress: hears of every array that was gone through.

    Raises:
        StoreError: if the folder was not made by ``add``.
        StoreFailure: if another process is changing the dataset, or the disk is full.
        UnsuitableData: if the dataset is damaged.
    """
    root, name = folder.parent, folder.name
    with disk_faults(root), locked(root, name):
        manifest = Manifest.read(folder)
        if manifest is None:
            raise StoreError(f"The folder {folder} was not made by 'data add': it has no index.")
        grid = grids.load(folder / PARTS / manifest.grid / "grid")
        parts = manifest.of_kind("forecast")
        makers = [CubeMaker(grid, len(part.lead_hours), features) for part in parts]
        if not makers or not makers[0].is_worthwhile:
            return Indexed(name, False)
        work = [
            (maker, path)
            for maker, part in zip(makers, parts, strict=True)
            for path in _fields(folder, part)
        ]
        missing = [(maker, path) for maker, path in work if not maker.is_there(path)]
        check_room(root, sum(maker.bytes for maker, _ in missing))
        total, done = sum(path.stat().st_size for _, path in missing), 0
        for maker, path in missing:
            if progress is not None:
                progress(done, total, f"{path.parent.name} {path.name.split('.')[0]}")
            maker.make(path)
            done += path.stat().st_size
        if progress is not None:
            progress(done, total, "")
    made = sum(maker.bytes for maker, _ in missing)
    here = len(work) - len(missing)
    return Indexed(name, True, len(makers[0].features), len(missing), here, made)


def _fields(folder: Path, part: Part) -> Iterator[Path]:
    """Give the (cell, time) arrays of a part."""
    for forecast in part.forecasts:
        for variable in part.variables:
            path = folder / PARTS / part.id / "forecasts" / forecast / f"{variable}.npy"
            yield fill.field_path(path, part.members)
