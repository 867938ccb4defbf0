"""A small made-up world for unit tests: smooth, deterministic, and never shown to anyone."""

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata.climatology import Climatology
from zephyrus_geodata.dataset import Dataset
from zephyrus_geodata.features import FeatureStore
from zephyrus_geodata.forecast import Forecast
from zephyrus_geodata.grid import Grid
from zephyrus_geodata.variables import VARIABLES

LABEL = "analytic test world"

# Typical value, equator-to-pole difference and weather amplitude, in SI units.
_SCALES: dict[str, tuple[float, float, float]] = {
    "2m_temperature": (298.0, -45.0, 6.0),
    "10m_u_component_of_wind": (0.0, 6.0, 5.0),
    "10m_v_component_of_wind": (0.0, 1.0, 5.0),
    "10m_wind_speed": (6.0, 3.0, 2.0),
    "mean_sea_level_pressure": (101_300.0, -1_500.0, 1_200.0),
    "total_precipitation_6hr": (1.5e-3, -1.0e-3, 1.2e-3),
    "total_cloud_cover": (0.5, 0.1, 0.2),
    "geopotential_500": (57_500.0, -8_000.0, 900.0),
    "geopotential_850": (14_700.0, -2_500.0, 700.0),
    "temperature_500": (267.0, -30.0, 3.0),
    "temperature_850": (291.0, -40.0, 5.0),
    "u_component_of_wind_500": (10.0, 5.0, 10.0),
    "u_component_of_wind_850": (4.0, 5.0, 7.0),
    "v_component_of_wind_500": (0.0, 1.0, 10.0),
    "v_component_of_wind_850": (0.0, 1.0, 7.0),
}
_POSITIVE = ("10m_wind_speed", "total_precipitation_6hr", "total_cloud_cover")

# Standard normal quantiles of PERCENTILES (5, 10, 25, 50, 75, 90, 95).
_NORMAL = np.array([-1.645, -1.282, -0.674, 0.0, 0.674, 1.282, 1.645])


def analytic_dataset(
    *,
    step: float = 5.0,
    initial_dates: Sequence[str] = ("2001-01-05", "2001-04-10", "2001-07-15"),
    lead_hours: Sequence[int] = tuple(range(6, 241, 6)),
    features: FeatureStore | None = None,
    name: str = "analytic",
    members: Sequence[str] = (),
) -> Dataset:
    """Make a dataset of travelling waves on a coarse grid, with a climatology to match.

    All variables of ``VARIABLES`` are there. Each is a climate (latitude, longitude, season)
    plus sine waves whose periods share no multiple, so that extremes in space and time are
    unique. A cell's percentiles are strictly ascending.

    Args:
        step: grid spacing in degrees; cells are centred half a step from the pole.
        initial_dates: one forecast each.
        lead_hours: lead times of every forecast.
        features: the features; the shipped ones by default.
        name: name of the dataset.
        members: names of the members that every forecast has: the same climate under waves of
            other phases; the first is the forecast of a dataset without members.
    """
    lat = np.arange(-90.0 + step / 2, 90.0, step)
    lon = np.arange(-180.0 + step / 2, 180.0, step)
    grid = Grid(lat, lon)
    hours = np.asarray(lead_hours, dtype=np.int64)
    forecasts = {
        date: partial(_forecast, name, date, hours, grid, seed, tuple(members))
        for seed, date in enumerate(initial_dates, start=1)
    }
    load = FeatureStore.load if features is None else (lambda: features)
    return Dataset(name, forecasts, climatology=partial(_climatology, grid), features=load)


def _forecast(
    dataset: str,
    date: str,
    hours: NDArray[np.int64],
    grid: Grid,
    seed: int,
    members: tuple[str, ...],
) -> Forecast:
    init_time = np.datetime64(date, "s")
    month = int(date[5:7])

    def read(variable: str) -> NDArray[np.float32]:
        if not members:
            return read_one(variable, 0.0)
        return np.stack([read_one(variable, 0.53 * i) for i in range(len(members))])

    def read_one(variable: str, phase: float) -> NDArray[np.float32]:
        if variable == "10m_wind_speed":
            u, v = (read_one(f"10m_{c}_component_of_wind", phase) for c in "uv")
            return np.hypot(u, v)
        amplitude = _SCALES[variable][2]
        values = _climate(grid, variable, month)[:, None] + amplitude * _weather(
            grid, hours, seed + phase + 0.37 * list(VARIABLES).index(variable)
        )
        if variable in _POSITIVE:
            # Softly bent instead of cut off at zero: a cut would make ties.
            values = amplitude * np.logaddexp(0.0, 3.0 * values / amplitude) / 3.0
        if variable == "total_cloud_cover":
            values = np.tanh(values)
        return values.astype(np.float32)

    return Forecast(
        dataset,
        date,
        init_time,
        hours,
        grid,
        {variable: partial(read, variable) for variable in VARIABLES},
        label=LABEL,
        provenance={"source": "zephyrus_geodata.testing", "limits": "not weather"},
        members=members,
    )


def _climatology(grid: Grid) -> Climatology:
    def read(variable: str) -> NDArray[np.float32]:
        spread = _SCALES[variable][2] * (0.7 + 0.3 * np.abs(np.sin(np.deg2rad(_lat(grid)))))
        months = []
        for month in range(1, 13):
            middle = _climate(grid, variable, month)
            if variable in _POSITIVE:
                middle = np.maximum(middle, 0.05 * _SCALES[variable][0])
                quantiles = middle * np.exp(0.5 * _NORMAL[:, None] * spread / middle.max())
            else:
                quantiles = middle + _NORMAL[:, None] * spread
            months.append(np.vstack([quantiles, middle, spread]))
        values = np.stack(months)
        if variable == "total_cloud_cover":
            values = np.tanh(values)
        return values.astype(np.float32)

    return Climatology(
        grid,
        {variable: partial(read, variable) for variable in VARIABLES},
        period="always",
        label=LABEL,
        provenance={"source": "zephyrus_geodata.testing"},
    )


def _lat(grid: Grid) -> NDArray[np.float64]:
    return np.repeat(grid.latitude, grid.shape[1])


def _lon(grid: Grid) -> NDArray[np.float64]:
    return np.tile(grid.longitude, grid.shape[0])


def _climate(grid: Grid, variable: str, month: int) -> NDArray[np.float64]:
    """Mean of a month in each cell: latitude, season and three land-like bumps."""
    base, contrast, amplitude = _SCALES[variable]
    phi, lam = np.deg2rad(_lat(grid)), np.deg2rad(_lon(grid))
    season = np.sin(2.0 * np.pi * (month - 4.0) / 12.0)
    climate: NDArray[np.float64] = (
        base
        + contrast * (np.sin(phi) ** 2 - 0.3 * season * np.sin(phi))
        + 0.6 * amplitude * np.cos(phi) * np.sin(3.0 * lam + 0.5)
    )
    return climate


def _weather(grid: Grid, hours: NDArray[np.int64], seed: float) -> NDArray[np.float64]:
    """Waves between about -1.3 and 1.3, (cell, time), travelling east."""
    phi, lam = np.deg2rad(_lat(grid))[:, None], np.deg2rad(_lon(grid))[:, None]
    day = hours[None, :] / 24.0
    waves: NDArray[np.float64] = (
        0.7 * np.cos(phi) * np.sin(5.0 * lam - 1.1 * day + seed)
        + 0.4 * np.sin(4.3 * phi + 2.0 * np.sin(lam) + 0.77 * day + 1.7 * seed)
        + 0.2 * np.cos(phi) * np.cos(8.0 * lam + 3.0 * phi - 2.23 * day + 2.9 * seed)
        + 0.01 * day * np.sin(seed + 2.0 * phi)
    )
    return waves
