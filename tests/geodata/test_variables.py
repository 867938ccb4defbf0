import subprocess
import sys

import numpy as np
import pytest

from zephyrus_geodata.errors import UnknownVariable
from zephyrus_geodata.variables import VARIABLES, variable

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
