"""Where datasets lie: those that ship with the package, and the user's own."""

from pathlib import Path

from zephyrus_geodata.store.manifest import FILE
from zephyrus_geodata.store.names import home, user_home

PREFIX, SUFFIX = "forecast-", ".nc"
"""What the names of forecast files begin and end with, in a folder of NetCDF files."""

_SHIPPED = Path(__file__).parent / "data"


def shipped_datasets() -> tuple[str, ...]:
    """Return the names of the datasets that come with the package."""
    return tuple(_below(_SHIPPED))


def dataset_folders() -> dict[str, Path]:
    """Return the folders of known datasets by name; a shipped name can't be taken over."""
    found: dict[str, Path] = {}
    for root in (_SHIPPED, home(), user_home()):
        for name, folder in _below(root).items():
            found.setdefault(name, folder)
    return found


def forecast_files(folder: Path) -> dict[str, Path]:
    """Return the forecast files of a folder by the name of the forecast."""
    return {
        path.name.removeprefix(PREFIX).removesuffix(SUFFIX): path
        for path in sorted(folder.glob(f"{PREFIX}*{SUFFIX}"))
    }


def _below(root: Path) -> dict[str, Path]:
    return {
        folder.name: folder
        for folder in (sorted(root.iterdir()) if root.is_dir() else ())
        if not folder.name.startswith(".")
        and ((folder / FILE).is_file() or (folder.is_dir() and forecast_files(folder)))
    }
