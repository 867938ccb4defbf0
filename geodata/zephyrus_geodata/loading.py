"""Datasets by name, each opened once."""

from contextlib import suppress
from pathlib import Path

from zephyrus_geodata.climate.files import FILE as CLIMATOLOGY_FILE
from zephyrus_geodata.dataset import Dataset
from zephyrus_geodata.errors import UnknownDataset
from zephyrus_geodata.folders import dataset_folders
from zephyrus_geodata.store.manifest import FILE


def list_datasets() -> tuple[str, ...]:
    """Return the names that ``load_dataset`` knows: the shipped ones, then the user's."""
    return tuple(dataset_folders())


def load_dataset(name: str | Path = "demo") -> Dataset:
    """Open a dataset; the same one again if it was opened before and has not changed since.

    Args:
        name: "demo", the name of a dataset that was added, or of a folder below $ZEPHYRUS_DATA,
            or the path of a folder.

    Raises:
        UnknownDataset: if there is none; the message lists the names.
    """
    known = dataset_folders()
    folder = known.get(str(name), Path(name).expanduser())
    if not folder.is_dir():
        raise UnknownDataset(
            f"There is no dataset {str(name)!r}, nor a folder of that name; known are "
            f"{', '.join(known) or 'none'}."
        )
    folder = folder.resolve()
    state = _state(folder)
    if folder not in _OPENED or _OPENED[folder][0] != state:
        dataset = Dataset.from_folder(folder, str(name) if str(name) in known else None)
        _OPENED[folder] = (state, dataset)
    return _OPENED[folder][1]


_OPENED: dict[Path, tuple[object, Dataset]] = {}


def _state(folder: Path) -> tuple[tuple[int, ...], ...]:
    """Something that changes when a stored dataset or its climatology does."""
    states = []
    for name in (FILE, CLIMATOLOGY_FILE, "climatology.nc"):
        with suppress(OSError):
            stat = (folder / name).stat()
            states.append((stat.st_ino, stat.st_mtime_ns, stat.st_size))
    return tuple(states)
