"""A dataset's cells on the disk: one file an array, so that large grids are mapped, not read."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata.cells import AnyGrid, CellGrid, StationList
from zephyrus_geodata.grid import Grid
from zephyrus_geodata.store import arrays


def save(grid: AnyGrid, folder: Path) -> None:
    """Write a grid into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, array in _arrays(grid).items():
        arrays.write(folder / f"{name}.npy", array.shape, [array], array.dtype)


def load(folder: Path) -> AnyGrid:
    """Read what ``save`` wrote.

    Raises:
        UnsuitableData: if it is gone or damaged.
    """

    def axis(name: str) -> NDArray[Any]:
        return arrays.read(folder / f"{name}.npy")

    if (folder / "cell_latitude.npy").exists():
        names = ("cell_latitude", "cell_longitude", "cell_key")
        return CellGrid.from_arrays({name: axis(name) for name in names})
    if (folder / "station_latitude.npy").exists():
        labels = tuple(str(name) for name in axis("station_name"))
        return StationList(axis("station_latitude"), axis("station_longitude"), labels)
    return Grid(axis("latitude"), axis("longitude"))


def _arrays(grid: AnyGrid) -> dict[str, NDArray[Any]]:
    if isinstance(grid, Grid):
        return {"latitude": grid.latitude, "longitude": grid.longitude}
    if isinstance(grid, StationList):
        return {
            "station_latitude": grid.cell_latitude,
            "station_longitude": grid.cell_longitude,
            "station_name": np.array(grid.names, dtype=np.str_),
        }
    return grid.to_arrays()
