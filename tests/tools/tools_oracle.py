"""An independent account of zonal statistics: shapely boxes and plain numpy in float64."""

import numpy as np
import shapely

R2 = 6_371_008.8**2


def weights(geometry, grid):
    """Cells and covered fraction x spherical area, by intersecting every cell's box."""
    cells, masses = [], []
    for i in range(grid.latitude.size):
        south, north = grid.lat_edges[i], grid.lat_edges[i + 1]
        for j in range(grid.longitude.size):
            west, east = grid.lon_edges[j], grid.lon_edges[j + 1]
            box = shapely.box(west, south, east, north)
            if not geometry.intersects(box):
                continue
            fraction = geometry.intersection(box).area / box.area
            if fraction > 0.0:
                band = np.sin(np.deg2rad(north)) - np.sin(np.deg2rad(south))
                cells.append(i * grid.longitude.size + j)
                masses.append(fraction * R2 * band * np.deg2rad(east - west))
    return np.array(cells), np.array(masses)


def weighted_median(values, masses):
    """The smallest value at which the summed weight reaches half of it all."""
    half, reached = 0.5 * sum(masses), 0.0
    for value, mass in sorted(zip(values, masses, strict=True)):
        reached += mass
        if reached >= half * (1.0 - 1e-12):
            return value
    raise AssertionError("no values")


def over_space(values, masses, statistic):
    """(time,) of (cell, time)."""
    if statistic == "mean":
        return (values * masses[:, None]).sum(axis=0) / masses.sum()
    if statistic == "median":
        return np.array([weighted_median(column, masses) for column in values.T])
    return values.min(axis=0) if statistic == "min" else values.max(axis=0)


def over_all(values, masses, statistic):
    """One number of (cell, time): over space and time together."""
    if statistic == "mean":
        steps = values.shape[1]
        return (values * masses[:, None]).sum() / (masses.sum() * steps)
    if statistic == "median":
        return weighted_median(values.ravel(), np.repeat(masses, values.shape[1]))
    return values.min() if statistic == "min" else values.max()
