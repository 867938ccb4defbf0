"""The libraries that we are held against, each used as its documentation shows it.

They do the same work on the same numbers. What can be prepared once (a mask, a table of shapes) is
prepared before the clock runs, unless the row says otherwise.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.world import World

if TYPE_CHECKING:
    import xarray as xr

    from zephyrus_geodata import Feature, Grid
    from zephyrus_geodata.zonal import Zone

MEAN = "mean(coverage_weight=area_spherical_m2)"

Work = Callable[[], object]


def absent(world: World, *names: str, extra: str = "bench") -> str:
    """Say in a sentence why an alternative can't be measured; empty if it can.

    Args:
        world: where it would be measured.
        *names: the modules that it needs.
        extra: which of our extras brings them.
    """
    if world.quick:
        return f"{names[0]} is left out of a quick run"
    missing = [name for name in names if find_spec(name) is None]
    if missing:
        return f"{', '.join(missing)} is not installed: pip install 'zephyrus[{extra}]'"
    return ""


def data_array(grid: Grid, maps: NDArray[np.float32]) -> xr.DataArray:
    """The field as xarray has it."""
    import xarray as xr

    return xr.DataArray(
        maps,
        {"latitude": grid.latitude, "longitude": grid.longitude},
        ("time", "latitude", "longitude"),
        name="t2m",
    )


def boxed_xarray(grid: Grid, maps: NDArray[np.float32], zone: Zone) -> Work:
    """Select the bounding box of the zone's cells, then a weighted mean over it."""
    import xarray as xr

    field = data_array(grid, maps)
    weights = np.zeros(grid.size)
    weights[zone.cells] = zone.weights
    rows, columns = np.unravel_index(zone.cells, grid.shape)
    box = {
        "latitude": slice(grid.latitude[rows.min()], grid.latitude[rows.max()]),
        "longitude": slice(grid.longitude[columns.min()], grid.longitude[columns.max()]),
    }
    whole = xr.DataArray(weights.reshape(grid.shape), field.coords, ("latitude", "longitude"))
    prepared = whole.sel(box).copy()

    def work() -> NDArray[np.float64]:
        mean = field.sel(box).weighted(prepared).mean(("latitude", "longitude"))
        return np.asarray(mean.values)

    return work


def masked_xarray(grid: Grid, maps: NDArray[np.float32], feature: Feature) -> Work:
    """Make a mask with regionmask, then a weighted mean under it (cell centres, cos latitude)."""
    import regionmask

    field = data_array(grid, maps)
    regions = regionmask.Regions([feature.geometry], names=[feature.name])
    height = np.cos(np.deg2rad(field["latitude"]))

    def work() -> NDArray[np.float64]:
        mask = regions.mask_3D(field["longitude"], field["latitude"])
        mean = field.weighted(mask * height).mean(("latitude", "longitude"))
        return np.asarray(mean.values)

    return work


class ExactExtract:
    """exactextract on a field and shapes that are already in its own sources."""

    def __init__(self, grid: Grid, maps: NDArray[np.float32], features: Sequence[Feature]) -> None:
        """Wrap the lead times (a source each, rows from the north) and the shapes.

        Args:
            grid: the cells.
            maps: (time, latitude, longitude).
            features: what to go over.
        """
        import geopandas
        from exactextract.raster import NumPyRasterSource

        table = geopandas.GeoDataFrame(geometry=[f.geometry for f in features], crs="EPSG:4326")
        crs = table.crs.to_wkt()
        west, east = grid.lon_edges[0], grid.lon_edges[-1]
        half = 0.5 * (grid.latitude[1] - grid.latitude[0])
        self.features = table
        self.rasters = [
            NumPyRasterSource(
                np.ascontiguousarray(lead[::-1]),
                xmin=west,
                ymin=grid.latitude[0] - half,
                xmax=east,
                ymax=grid.latitude[-1] + half,
                srs_wkt=crs,
                name=f"t{i}",
            )
            for i, lead in enumerate(maps)
        ]

    def means(self) -> NDArray[np.float64]:
        """(feature, time) area-weighted means."""
        found = self._run(self.rasters, [MEAN])
        values: NDArray[np.float64] = found.to_numpy(dtype=np.float64)
        return values

    def coverage(self) -> Any:
        """Cells and covered fractions of every shape, from the first lead time's raster."""
        return self._run(self.rasters[:1], ["cell_id", "coverage"])

    def _run(self, rasters: Sequence[Any], ops: list[str]) -> Any:
        from exactextract import exact_extract

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return exact_extract(rasters, self.features, ops, output="pandas")


class Flox:
    """flox over the cells of all zones, labelled by zone: zones overlap, so cells are gathered."""

    def __init__(self, maps: NDArray[np.float32], zones: Sequence[Zone]) -> None:
        """Gather labels and weights.

        Args:
            maps: (time, latitude, longitude).
            zones: each with at least one cell.
        """
        self.flat = maps.reshape(len(maps), -1)
        self.cells = np.concatenate([zone.cells for zone in zones])
        self.weights = np.concatenate([zone.weights for zone in zones])
        self.labels = np.repeat(np.arange(len(zones)), [zone.cells.size for zone in zones])
        self.total = np.bincount(self.labels, self.weights)
        self.groups = np.arange(len(zones))

    def means(self) -> NDArray[np.float64]:
        """(zone, time) weighted means."""
        return self._sum(self.flat[:, self.cells] * self.weights)

    def shares(self, thresholds: NDArray[np.float32]) -> NDArray[np.float64]:
        """(zone, time) shares of the area above a threshold (cell,)."""
        above = self.flat[:, self.cells] > thresholds[self.cells]
        return self._sum(above * self.weights)

    def _sum(self, gathered: NDArray[np.float64]) -> NDArray[np.float64]:
        import flox

        summed, *_ = flox.groupby_reduce(
            gathered, self.labels, func="sum", expected_groups=self.groups
        )
        found: NDArray[np.float64] = summed.T / self.total[:, None]
        return found


def check(ours: NDArray[Any], theirs: NDArray[Any], most: float, what: str) -> None:
    """Refuse to compare works that don't give the same numbers.

    Raises:
        RuntimeError: if they differ by more than ``most``.
    """
    off = float(np.nanmax(np.abs(np.asarray(ours) - np.asarray(theirs))))
    if not off <= most:
        raise RuntimeError(f"{what} differs by {off:g}: not the same work")
