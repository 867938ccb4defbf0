"""A built climatology on the disk: what is in force, how it is put there and opened."""

import json
import shutil
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from zephyrus_geodata.climate.recipe import Recipe
from zephyrus_geodata.climatology import Climatology, Days
from zephyrus_geodata.errors import UnsuitableData
from zephyrus_geodata.store import arrays, grids
from zephyrus_geodata.store.manifest import sync_folder, write_json

FILE = "climatology.json"
FOLDER = "climatology"
VERSION = 1


def day_path(folder: Path, variable: str) -> Path:
    """Where the statistics by day lie."""
    return folder / f"{variable}.day.npy"


def month_path(folder: Path, variable: str) -> Path:
    """Where the statistics by month lie."""
    return folder / f"{variable}.month.npy"


class Growing:
    """A ``.npy`` file (…, cell) that gets some cells after others."""

    def __init__(self, file: IO[bytes], shape: tuple[int, ...]) -> None:
        self._file, self._shape = file, shape
        header = {"descr": "<f4", "fortran_order": False, "shape": shape}
        npy.write_array_header_1_0(file, header)
        self._begin = file.tell()
        file.truncate(self._begin + 4 * int(np.prod(shape, dtype=np.int64)))

    def put(self, cells: slice, values: NDArray[np.float32]) -> None:
        """Write the values (…, some cells)."""
        rows = values.reshape(-1, values.shape[-1])
        for row in range(rows.shape[0]):
            self._file.seek(self._begin + 4 * (row * self._shape[-1] + cells.start))
            self._file.write(np.ascontiguousarray(rows[row], dtype="<f4").data)


def commit(made: Path, dataset: Path, about: dict[str, Any]) -> None:
    """Move a built climatology into a dataset's folder and put it into force.

    Args:
        made: a folder on the same disk, named by the climatology's id.
        dataset: the dataset's folder.
        about: what ``open_built`` reads besides the arrays.
    """
    home = dataset / FOLDER
    home.mkdir(exist_ok=True)
    target = home / made.name
    if target.exists():  # built before in just the same way: killed between the two renames
        shutil.rmtree(target)
    sync_folder(made)
    made.rename(target)
    sync_folder(home)
    write_json(dataset / FILE, {"zephyrus_climatology": VERSION, "folder": target.name, **about})
    for other in home.iterdir():
        if other.name != target.name:
            shutil.rmtree(other, ignore_errors=True)


def about(
    recipe: Recipe, variables: Iterable[str], *, period: str, label: str, source: dict[str, Any]
) -> dict[str, Any]:
    """Return what is written of a climatology besides its arrays."""
    return {
        "period": period,
        "label": label,
        "percentiles": list(recipe.percentiles),
        "days": list(recipe.days),
        "window": recipe.window,
        "hours": list(recipe.hours),
        "variables": list(variables),
        "provenance": source,
    }


def open_built(dataset: Path) -> Climatology:
    """Open the climatology in force of a dataset's folder; arrays are mapped when asked for.

    Raises:
        UnsuitableData: if it is damaged, or of a later version.
    """
    path = dataset / FILE
    try:
        value = json.loads(path.read_bytes())
        if int(value["zephyrus_climatology"]) > VERSION:
            raise UnsuitableData(f"{path} was written by a later zephyrus: update zephyrus.")
        name = str(value["folder"])
        if PurePosixPath(name).name != name or name == "..":
            raise ValueError(f"{name!r} is no folder of the climatology")
        return climatology(dataset / FOLDER / name, value)
    except UnsuitableData:
        raise
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UnsuitableData(
            f"{path} is damaged ({error}): build the climatology again."
        ) from error


def climatology(folder: Path, value: dict[str, Any]) -> Climatology:
    """Open the arrays in a folder, by what ``about`` says of them."""
    variables: Sequence[str] = [str(name) for name in value["variables"]]
    days = None
    if value["days"]:
        days = Days(
            tuple(int(day) for day in value["days"]),
            tuple(int(hour) for hour in value["hours"]),
            int(value["window"]),
            {name: partial(_day, day_path(folder, name)) for name in variables},
        )
    return Climatology(
        grids.load(folder / "grid"),
        {name: partial(arrays.read, month_path(folder, name)) for name in variables},
        period=str(value["period"]),
        label=str(value["label"]),
        provenance=value["provenance"],
        percentiles=tuple(float(p) for p in value["percentiles"]),
        days=days,
    )


def _day(path: Path, day: int, hour: int) -> NDArray[np.float32]:
    found: NDArray[np.float32] = arrays.read(path)[day, hour]
    return found
