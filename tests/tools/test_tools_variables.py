import pytest

from zephyrus import ToolError
from zephyrus_geodata import VARIABLES
from zephyrus_tools.variables import find_variable

ALL = tuple(VARIABLES)


@pytest.mark.parametrize("name", ALL)
def test_names_and_long_names(name):
    assert find_variable(name, ALL, "forecast").name == name
    assert find_variable(VARIABLES[name].long_name.upper(), ALL, "forecast").name == name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("temperature", "2m_temperature"),
        ("T2M", "2m_temperature"),
        ("wind speed", "10m_wind_speed"),
        ("MSLP", "mean_sea_level_pressure"),
        ("precipitation", "total_precipitation_6hr"),
        ("cloud_cover", "total_cloud_cover"),
        ("z500", "geopotential_500"),
        ("geopotential height 850", "geopotential_850"),
        ("500 hPa temperature", "temperature_500"),
        ("temperature_at_850_hPa", "temperature_850"),
        ("u850", "u_component_of_wind_850"),
        ("northward wind 500", "v_component_of_wind_500"),
    ],
)
def test_aliases(text, name):
    assert find_variable(text, ALL, "forecast").name == name


@pytest.mark.parametrize("text", ["wind", "geopotential", "850", "component of wind"])
def test_what_may_mean_several_is_refused_with_the_options(text):
    with pytest.raises(ToolError, match=r"may mean any of: .*, .*Name one"):
        find_variable(text, ALL, "forecast")


@pytest.mark.parametrize("text", ["", "  ", "humidity", "!!"])
def test_unknown_variables_are_refused_with_the_names(text):
    with pytest.raises(ToolError, match="The forecast has: 2m_temperature, "):
        find_variable(text, ALL, "forecast")


def test_a_misspelling_is_mended():
    with pytest.raises(ToolError, match=r"Did you mean total_precipitation_6hr\?"):
        find_variable("precipitatoin", ALL, "forecast")


def test_a_known_variable_that_is_not_there():
    with pytest.raises(ToolError, match="the climatology has no geopotential_500; it has: 2m_"):
        find_variable("z500", ("2m_temperature",), "climatology")


FURTHER = (*ALL[:5], "total_precipitation_1hr", "total_precipitation_12hr", "10m_wind_gust",
           "temperature_700", "relative_humidity_850", "2m_dewpoint_temperature")  # fmt: skip


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("temperature_700", "temperature_700"),
        ("700 hPa temperature", "temperature_700"),
        ("t700", "temperature_700"),
        ("rh850", "relative_humidity_850"),
        ("relative humidity", "relative_humidity_850"),
        ("gusts", "10m_wind_gust"),
        ("dewpoint", "2m_dewpoint_temperature"),
        ("precipitation", "total_precipitation_1hr"),
        ("total_precipitation_12hr", "total_precipitation_12hr"),
        ("temperature", "2m_temperature"),
    ],
)
def test_what_other_datasets_bring(text, name):
    assert find_variable(text, FURTHER, "forecast").name == name


def test_what_another_dataset_lacks():
    with pytest.raises(ToolError, match="the forecast has no total_precipitation_6hr; it has: 2m_"):
        find_variable("total_precipitation_6hr", FURTHER, "forecast")
    with pytest.raises(ToolError, match=r"there is no variable .t501.*The forecast has: 2m_"):
        find_variable("t501", FURTHER, "forecast")
