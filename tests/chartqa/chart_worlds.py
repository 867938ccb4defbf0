"""Small made-up datasets for tests of charts, without named features."""

from functools import partial

import numpy as np

from zephyrus_geodata import Dataset, Forecast, Grid
from zephyrus_geodata.features import FeatureStore

START = np.datetime64("2020-01-01T00", "s")
NOTHING = FeatureStore([])


def globe(step=5.0):
    """Centres half a step from the poles."""
    half = 0.5 * step
    return Grid(np.arange(-90.0 + half, 90.0, step), np.arange(-180.0 + half, 180.0, step))


def made(grid, fields, hours=(0, 6, 12, 18, 24), members=()):
    """A dataset of one forecast.

    Args:
        grid: Any.
        fields: By variable, (cell,) or (cell, time) in SI units.
        hours: Lead times.
        members: Names; fields are then (member, cell, time).
    """
    hours = np.array(hours)

    def read(values):
        values = np.asarray(values, dtype=np.float32)
        return np.repeat(values[:, None], hours.size, axis=1) if values.ndim == 1 else values

    readers = {name: partial(read, values) for name, values in fields.items()}
    forecast = Forecast(
        "made", "2020-01-01", START, hours, grid, readers, label="made up", members=members
    )
    return Dataset("made", {"2020-01-01": lambda: forecast}, features=lambda: NOTHING)


def bumps(grid, places, base=1013.0, width=700.0):
    """Pressure in Pa: a bump of some hPa around each place (lat, lon, hPa), km wide."""
    lat, lon = np.deg2rad(grid.cell_latitude), np.deg2rad(grid.cell_longitude)
    field = np.full(grid.size, base)
    for north, east, depth in places:
        phi, lam = np.deg2rad(north), np.deg2rad(east)
        cosine = np.sin(phi) * np.sin(lat) + np.cos(phi) * np.cos(lat) * np.cos(lon - lam)
        away = 6371.0 * np.arccos(np.clip(cosine, -1.0, 1.0))
        field += depth * np.exp(-((away / width) ** 2))
    return 100.0 * field
