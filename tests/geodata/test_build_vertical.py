"""The demo's pressure-level and sea-level fields, against the standard atmosphere's formulas."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

PATH = Path(__file__).parents[2] / "geodata" / "build" / "vertical.py"
R, G, LAPSE, T0, P0 = 287.04, 9.80665, 0.0065, 288.15, 101325.0
SIGMA = np.array([0.025, 0.095, 0.2, 0.34, 0.51, 0.685, 0.835, 0.95])


@pytest.fixture(scope="module")
def vertical():
    spec = importlib.util.spec_from_file_location("vertical", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pressure_at(height):
    return P0 * (1 - LAPSE * height / T0) ** (G / (R * LAPSE))


def height_at(pressure):
    return T0 / LAPSE * (1 - (pressure / P0) ** (R * LAPSE / G))


def column(ground):
    """A sigma column of the standard atmosphere's troposphere over ground at ``ground`` m."""
    surface = np.full((1, 1, 1), pressure_at(ground))
    full = surface[:, None] * SIGMA[None, :, None, None]
    height = height_at(full)
    return surface, full, T0 - LAPSE * height, G * height, np.full((1, 1), G * ground)


@pytest.mark.parametrize("ground", [-400.0, 0.0, 300.0, 1200.0, 4500.0])
@pytest.mark.parametrize("level", [50_000.0, 85_000.0])
def test_pressure_levels_above_and_below_the_ground(vertical, ground, level):
    surface, full, temperature, geopotential, phis = column(ground)
    t, z = vertical.to_pressure_level(level, full, temperature, geopotential, surface, phis)
    assert t.item() == pytest.approx(T0 - LAPSE * height_at(level), abs=0.4)
    assert z.item() / G == pytest.approx(height_at(level), abs=4.0)


@pytest.mark.parametrize(("ground", "within"), [(-400.0, 15), (0.0, 0), (300.0, 15), (1200.0, 60)])
def test_sea_level_pressure_of_the_standard_atmosphere(vertical, ground, within):
    surface, full, temperature, _, phis = column(ground)
    reduced = vertical.mean_sea_level_pressure(surface, temperature[:, -1], full[:, -1], phis)
    assert reduced.item() == pytest.approx(P0, abs=within + 1e-6)


def test_hot_and_cold_plateaus_do_not_run_away(vertical):
    surface, full, temperature, _, phis = column(4500.0)
    plain = P0
    for warming in (-60.0, 40.0):
        reduced = vertical.mean_sea_level_pressure(
            surface, temperature[:, -1] + warming, full[:, -1], phis
        ).item()
        assert abs(reduced - plain) < 12_000
    # With the plain standard lapse rate the cold one would be off by more.
    t_star = float(temperature[0, -1, 0, 0]) - 60.0
    naive = surface.item() * (1 + LAPSE * 4500 / t_star) ** (G / (R * LAPSE))
    cold = vertical.mean_sea_level_pressure(
        surface, temperature[:, -1] - 60.0, full[:, -1], phis
    ).item()
    assert abs(cold - plain) < abs(naive - plain)


def test_wind_is_linear_in_log_pressure_and_constant_below(vertical):
    _, full, *_ = column(0.0)
    wind = 3.0 + 2.0 * np.log(full)
    at_500 = vertical.interpolate(50_000.0, full, wind)
    assert at_500.item() == pytest.approx(3.0 + 2.0 * np.log(50_000.0), rel=1e-12)
    below = vertical.interpolate(101_000.0, full, wind)
    assert below.item() == pytest.approx(wind[0, -1, 0, 0], rel=1e-12)
