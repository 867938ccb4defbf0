"""The made-up weather that is measured on: smooth waves and noise, the same for the same seed.

Files lie in a scratch folder and are made when they are first needed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from zephyrus_geodata import Dataset, Feature, FeatureStore, Grid

SEED = 20261130
VARIABLE = "2m_temperature"
DATASET = "bench"
INITIAL = "2020-01-01"
PLACES = ("Kenya", "France", "Russia")
KIND = "place"
MANY = 1500
WIDE = ("ocean", "continent", "subregion", "sea")
"""Kinds of a few features that hold four fifths of all cells."""


@dataclass(frozen=True)
class World:
    """Sizes and data of one run.

    Attributes:
        scratch: folder for what is made.
        quick: tiny sizes, and no alternative that is not a dependency of zephyrus.
    """

    scratch: Path
    quick: bool = False

    @property
    def step(self) -> float:
        """Grid spacing in degrees."""
        return 5.0 if self.quick else 0.25

    @property
    def leads(self) -> int:
        """Number of lead times."""
        return 5 if self.quick else 41

    @property
    def rounds(self) -> int:
        """Interleaved rounds of a comparison."""
        return 1 if self.quick else 9

    @property
    def sizes(self) -> str:
        """Grid and lead times in words."""
        return f"{self.step:g}°, {self.leads} lead times"

    @cached_property
    def grid(self) -> Grid:
        """Both poles and longitude -180 included, as ERA5 is served."""
        return make_grid(self.step)

    @cached_property
    def cells(self) -> NDArray[np.float32]:
        """(cell, time) temperature in K, in memory, as zephyrus keeps it."""
        return self._field("cells", lambda: make_field(self.grid, self.leads))

    @cached_property
    def maps(self) -> NDArray[np.float32]:
        """(time, latitude, longitude), the same numbers as the alternatives keep them."""
        shape = (self.leads, *self.grid.shape)
        return self._field("maps", lambda: np.ascontiguousarray(self.cells.T).reshape(shape))

    def _field(self, name: str, make: Any) -> NDArray[np.float32]:
        path = self.scratch / f"{name}.npy"
        if not path.exists():
            part = path.with_name(f"part-{path.name}")
            np.save(part, make())
            part.replace(path)
        values: NDArray[np.float32] = np.load(path)
        values.setflags(write=False)
        return values

    @cached_property
    def features(self) -> FeatureStore:
        """The shipped features."""
        from zephyrus_geodata import FeatureStore

        return FeatureStore.load()

    @cached_property
    def shapes(self) -> list[Feature]:
        """The shipped features that have an area; a few of them if quick."""
        found = [f for f in self.features if f.geometry.area > 0.0]
        return found[:60] if self.quick else found

    @cached_property
    def many(self) -> FeatureStore:
        """1,500 features of one kind: countries and smaller areas, then cities."""
        from zephyrus_geodata import Feature, FeatureStore

        areas = [f for f in self.features if f.geometry.area > 0.0 and f.kind not in WIDE]
        points = [f for f in self.features if not f.geometry.area > 0.0]
        chosen = (areas + points)[: 100 if self.quick else MANY]
        return FeatureStore(
            Feature(f"{f.name}, {f.kind.replace('_', ' ')} {i}", KIND, None, f.source, f.wkb)
            for i, f in enumerate(chosen)
        )

    def place(self, name: str) -> Feature:
        """A shipped country."""
        return self.features.get(name, "country")

    @cached_property
    def netcdf(self) -> Path:
        """The field as a NetCDF file, one array without compression."""
        path = self.scratch / "forecast.nc"
        if not path.exists():
            write_netcdf(path, self.grid, self.maps)
        return path

    @cached_property
    def stored(self) -> Path:
        """The folder of the dataset that ``zephyrus data add`` made of that file."""
        root = self.scratch / "store"
        if not (root / DATASET).exists():
            command = [sys.executable, "-m", "zephyrus", "data", "add", DATASET, str(self.netcdf)]
            done = subprocess.run(
                [*command, "--kind", "forecast"],
                env={**os.environ, "ZEPHYRUS_DATA": str(root)},
                capture_output=True,
                text=True,
            )
            if done.returncode:
                raise RuntimeError(f"zephyrus data add failed: {done.stdout}{done.stderr}")
        return root / DATASET

    def dataset(self, features: FeatureStore | None = None) -> Dataset:
        """The stored dataset, opened; with other features than the shipped ones if given."""
        from zephyrus_geodata import Dataset
        from zephyrus_geodata.store.opened import open_stored

        stored = open_stored(self.stored)
        if features is None or stored is None:
            return Dataset.from_folder(self.stored)
        zones = self.scratch / "zones"
        return Dataset(DATASET, stored.forecasts, features=lambda: features, cache_dir=zones)


def load_numba() -> None:
    """Import numba, if it is installed, as work of some size does.

    Work as small as one feature would not pay for the import; once it is there, it is used.
    """
    if os.environ.get("ZEPHYRUS_NUMBA") != "0":
        with suppress(ImportError):
            import_module("numba")


def make_grid(step: float) -> Grid:
    """A global grid with rows at both poles and a column at longitude -180."""
    from zephyrus_geodata import Grid

    return Grid(
        np.linspace(-90.0, 90.0, round(180.0 / step) + 1),
        -180.0 + step * np.arange(round(360.0 / step)),
    )


def make_field(grid: Grid, leads: int, seed: int = SEED) -> NDArray[np.float32]:
    """Temperature in K: warm tropics, travelling waves and 0.8 K of noise.

    Args:
        grid: the cells.
        leads: number of lead times, six hours apart.
        seed: of waves and noise.

    Returns:
        (cell, time).
    """
    draw = np.random.default_rng(seed)
    phi, lam = np.deg2rad(grid.latitude)[:, None], np.deg2rad(grid.longitude)[None, :]
    values = 0.8 * draw.standard_normal((grid.size, leads), dtype=np.float32)
    for time in range(leads):
        smooth = 300.0 - 45.0 * np.sin(phi) ** 2 + 0.0 * lam
        for number in range(1, 6):
            phase = 0.3 * number * time + number**2
            smooth = smooth + 4.0 * np.cos(phi) * np.sin(number * lam + 2.0 * phi - phase)
        values[:, time] += smooth.astype(np.float32).ravel()
    return values


def write_netcdf(path: Path, grid: Grid, maps: NDArray[np.float32]) -> None:
    """Write (time, latitude, longitude) in K as a forecast."""
    import netCDF4

    part = path.with_name(f"part-{path.name}")
    with netCDF4.Dataset(str(part), "w") as file:
        hours = 6 * np.arange(1, len(maps) + 1)
        axes = {
            "prediction_timedelta": (hours, "hours"),
            "latitude": (grid.latitude, "degrees_north"),
            "longitude": (grid.longitude, "degrees_east"),
        }
        for name, (values, units) in axes.items():
            file.createDimension(name, len(values))
            axis = file.createVariable(name, "i4" if name.startswith("p") else "f8", (name,))
            axis.units = units
            axis[:] = values
        time = file.createVariable("time", "i4", ())
        time.units = f"hours since {INITIAL} 00:00:00"
        time.standard_name = "forecast_reference_time"
        time[...] = 0
        field = file.createVariable(VARIABLE, "f4", tuple(axes))
        field.units = "K"
        field[:] = maps
    part.replace(path)
