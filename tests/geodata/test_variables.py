import subprocess
import sys

import numpy as np
import pytest

from zephyrus_geodata.errors import UnknownVariable
from zephyrus_geodata.variables import (
    FURTHER,
    ON_LEVELS,
    VARIABLES,
    at_level,
    is_variable,
    level_of,
    ordered,
    variable,
)

NAMES = [
    "2m_temperature",
    "10m_u_component_of_wind",
    "10m_v_component_of_wind",
    "10m_wind_speed",
    "mean_sea_level_pressure",
    "total_precipitation_6hr",
    "total_cloud_cover",
    "geopotential_500",
    "geopotential_850",
    "temperature_500",
    "temperature_850",
    "u_component_of_wind_500",
    "u_component_of_wind_850",
    "v_component_of_wind_500",
    "v_component_of_wind_850",
]


def test_the_list_of_variables_is_the_agreed_one() -> None:
    assert list(VARIABLES) == NAMES
    assert all(v.name == name and v.long_name for name, v in VARIABLES.items())


@pytest.mark.parametrize(
    ("name", "stored", "shown", "units", "display_units"),
    [
        ("2m_temperature", 273.15, 0.0, "K", "°C"),
        ("temperature_850", 263.15, -10.0, "K", "°C"),
        ("mean_sea_level_pressure", 101_325.0, 1013.25, "Pa", "hPa"),
        ("total_precipitation_6hr", 0.0125, 12.5, "m", "mm"),
        ("total_cloud_cover", 0.4, 40.0, "1", "%"),
        ("geopotential_500", 9.80665 * 5500, 5500.0, "m2 s-2", "gpm"),
        ("10m_wind_speed", 7.5, 7.5, "m s-1", "m/s"),
        ("v_component_of_wind_500", -3.0, -3.0, "m s-1", "m/s"),
    ],
)
def test_units_are_converted_both_ways(
    name: str, stored: float, shown: float, units: str, display_units: str
) -> None:
    v = variable(name)
    assert (v.units, v.display_units) == (units, display_units)
    assert v.to_display(stored) == pytest.approx(shown, abs=1e-9)
    assert v.from_display(shown) == pytest.approx(stored)
    both = np.array([stored, 2 * stored])
    np.testing.assert_allclose(v.from_display(v.to_display(both)), both)


def test_a_difference_is_scaled_without_the_offset() -> None:
    v = variable("2m_temperature")
    assert v.to_display(290.0) - v.to_display(285.0) == pytest.approx(5.0 * v.scale)


def test_an_unknown_variable_is_a_readable_key_error() -> None:
    with pytest.raises(KeyError) as caught:
        variable("temperature")
    assert isinstance(caught.value, UnknownVariable)
    assert str(caught.value).startswith("There is no variable 'temperature'; known are 2m_temp")


@pytest.mark.parametrize(
    ("name", "stored", "shown", "display_units"),
    [
        ("temperature_700", 273.15, 0.0, "°C"),
        ("geopotential_1", 9.80665 * 47_000, 47_000.0, "gpm"),
        ("specific_humidity_850", 0.005, 5.0, "g/kg"),
        ("relative_humidity_925", 0.8, 80.0, "%"),
        ("vertical_velocity_500", -0.3, -0.3, "Pa/s"),
        ("potential_vorticity_320K", 2e-6, 2.0, "PVU"),
        ("temperature_0.1", 230.0, -43.15, "°C"),
        ("total_precipitation_24hr", 0.01, 10.0, "mm"),
        ("snow_depth", 0.25, 25.0, "cm"),
        ("surface_pressure", 95_000.0, 950.0, "hPa"),
        ("visibility", 5000.0, 5.0, "km"),
        ("convective_precipitation_rate", 1 / 3600, 1.0, "mm/h"),
    ],
)
def test_further_variables_and_other_levels(
    name: str, stored: float, shown: float, display_units: str
) -> None:
    v = variable(name)
    assert v.name == name
    assert v.display_units == display_units
    assert v.to_display(stored) == pytest.approx(shown)
    assert v.plausible[0] < stored < v.plausible[1]


@pytest.mark.parametrize(
    "name",
    [
        "temperature_",
        "temperature_0",
        "temperature_07",
        "temperature_700K",
        "salinity_500",
        "",
        "K",
    ],
)
def test_what_is_no_variable(name: str) -> None:
    assert not is_variable(name)
    with pytest.raises(UnknownVariable, match="temperature_700"):
        variable(name)


def test_levels_of_names() -> None:
    assert at_level("temperature", 700.0) == "temperature_700"
    assert at_level("temperature", 0.1) == "temperature_0.1"
    assert at_level("potential_vorticity", 320.0, "K") == "potential_vorticity_320K"
    assert at_level("temperature", 320.0, "K") is None
    assert at_level("salinity", 10.0) is None
    assert level_of("temperature_700") == ("temperature", 700.0)
    assert level_of("2m_temperature") is None
    assert level_of("total_precipitation_6hr") is None
    for base in ON_LEVELS:
        assert level_of(f"{base}_925") == (base, 925.0)


def test_the_order_of_names() -> None:
    names = ["temperature_850", "temperature_70", "nonsense", "geopotential_700", "snow_depth"]
    assert ordered([*names, "2m_temperature", "2m_temperature"]) == (
        "2m_temperature",
        "temperature_850",
        "snow_depth",
        "geopotential_700",
        "temperature_70",
    )
    assert ordered(VARIABLES) == tuple(VARIABLES)
    assert not set(VARIABLES) & set(FURTHER)


def test_plausible_values_tell_units_apart() -> None:
    for name, wrong in (
        ("2m_temperature", 20.0),  # °C
        ("2m_temperature", -99.0 + 273.15),  # a code for missing, in °C
        ("mean_sea_level_pressure", 1013.0),  # hPa
        ("geopotential_500", 5500.0),  # gpm
        ("geopotential_500", 550.0),  # dam
        ("geopotential_50", 20_000.0),  # gpm
        ("total_cloud_cover", 40.0),  # %
        ("specific_humidity_850", 5.0),  # g/kg
        ("total_precipitation_6hr", 25.0),  # mm
    ):
        low, high = variable(name).plausible
        assert not low <= wrong <= high, name
    # Real extremes: heights at 500 hPa, 10 hPa and 1 hPa; records of pressure and temperature.
    for name, real in (
        ("geopotential_500", 9.80665 * 4600),
        ("geopotential_500", 9.80665 * 6000),
        ("geopotential_10", 9.80665 * 28_000),
        ("geopotential_1", 9.80665 * 38_000),
        ("geopotential_1000", -9.80665 * 500),
        ("mean_sea_level_pressure", 87_000.0),
        ("mean_sea_level_pressure", 108_480.0),
        ("2m_temperature", 184.0),
        ("2m_temperature", 329.9),
        ("10m_wind_gust", 113.3),
    ):
        low, high = variable(name).plausible
        assert low <= real <= high, name


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = (
        "import sys, zephyrus_geodata as z, zephyrus_geodata.variables\n"
        "heavy = {'numpy', 'xarray', 'shapely', 'geopandas', 'netCDF4', 'scipy'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
        "assert z.Grid.__name__ == 'Grid' and 'numpy' in sys.modules\n"
        "assert not {'xarray', 'geopandas', 'netCDF4', 'scipy'} & set(sys.modules)\n"
        "assert all(getattr(z, name) is not None for name in z.__all__)\n"
        "assert set(z.__all__) == set(dir(z))\n"
        "try:\n    z.nothing\nexcept AttributeError:\n    print('fine')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "fine\n", done.stderr
