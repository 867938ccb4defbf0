"""The main body of a feature, apart from its far-off parts."""

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from zephyrus_geodata import Dataset, Feature, Grid


def main_body(
    dataset: Dataset, feature: Feature, degrees: float = 5.0, cells: float = 2.0
) -> NDArray[np.bool_]:
    """Which cells of a feature's zone belong to its main body, and not to far-off islands.

    Cells are put into blocks; the body is the heaviest group of blocks that touch each other.

    Args:
        dataset: Its grid.
        feature: The feature.
        degrees: The least width of a block.
        cells: The same in cells of a grid of latitudes and longitudes.

    Returns:
        (cell of the zone,).
    """
    zone, grid = dataset.zones.zone(feature), dataset.grid
    if not zone.cells.size:
        return np.zeros(0, dtype=bool)
    lat, lon = grid.cell_latitude[zone.cells], grid.cell_longitude[zone.cells]
    heaviest = lon[int(np.argmax(zone.weights))]  # turned to the middle, away from the seam
    block = degrees
    if isinstance(grid, Grid):
        spacing = max(float(np.median(np.diff(axis))) for axis in (grid.latitude, grid.longitude))
        block = max(block, cells * spacing)
    rows = ((lat + 90.0) // block).astype(int)
    columns = (((lon - heaviest + 180.0) % 360.0) // block).astype(int)
    mask = np.zeros((rows.max() + 1, columns.max() + 1), dtype=bool)
    mask[rows, columns] = True
    groups = ndimage.label(mask, structure=np.ones((3, 3)))[0][rows, columns]
    weights = np.bincount(groups, weights=zone.weights)
    body: NDArray[np.bool_] = groups == int(np.argmax(weights))
    return body
