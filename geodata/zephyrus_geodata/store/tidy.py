"""What a killed process left in the store, and how a dataset is removed."""

import shutil
from pathlib import Path

from zephyrus_geodata.errors import StoreError, UnsuitableData
from zephyrus_geodata.store.lock import locked
from zephyrus_geodata.store.manifest import FILE, PARTS, Manifest

_ADDING, _REMOVING = ".adding", ".removing"


def adding(root: Path, name: str) -> Path:
    """Where a dataset is made before it is put into force."""
    return root / f".{name}{_ADDING}"


def unfinished(root: Path) -> tuple[str, ...]:
    """Return the names of datasets whose ``add`` was interrupted, or is going on."""
    if not root.is_dir():
        return ()
    return tuple(
        sorted(
            path.name[1:].removesuffix(_ADDING)
            for path in root.glob(f".*{_ADDING}")
            if (path / "dataset").is_dir()
        )
    )


def size_of(root: Path, name: str) -> int:
    """Return the bytes of a dataset, and of what an interrupted ``add`` of it left."""
    folders = (root / name, adding(root, name))
    return sum(p.stat().st_size for f in folders for p in f.rglob("*") if p.is_file())


def sweep(root: Path, name: str) -> None:
    """Delete what is in force no more; the caller holds the lock, and nothing is being made."""
    shutil.rmtree(adding(root, name), ignore_errors=True)
    shutil.rmtree(root / f".{name}{_REMOVING}", ignore_errors=True)
    manifest = Manifest.read(root / name)
    if manifest is not None:
        in_force = {part.id for part in manifest.parts}
        for path in (root / name / PARTS).iterdir():
            if path.name not in in_force:
                shutil.rmtree(path, ignore_errors=True)


def remove_dataset(root: Path, name: str) -> None:
    """Delete a dataset that was added, or what an interrupted ``add`` of it left.

    It is gone from the store at once, whatever happens while its files are deleted.

    Raises:
        StoreError: if there is none, it was not made by ``add``, or is being changed.
    """
    folder = root / name
    if not folder.exists() and not adding(root, name).exists():
        raise StoreError(f"There is no dataset {name!r} below {root}.")
    if folder.exists() and not _is_ours(folder):
        raise StoreError(
            f"The folder {folder} was not made by 'data add', so it is left alone: delete it "
            "yourself if you want to."
        )
    with locked(root, name):
        trash = root / f".{name}{_REMOVING}"
        shutil.rmtree(trash, ignore_errors=True)
        if folder.exists():
            folder.rename(trash)
        shutil.rmtree(root / f".{name}.climatology", ignore_errors=True)
        sweep(root, name)


def _is_ours(folder: Path) -> bool:
    try:
        return Manifest.read(folder) is not None
    except UnsuitableData:  # damaged: all the more reason to remove it
        return (folder / FILE).is_file()
