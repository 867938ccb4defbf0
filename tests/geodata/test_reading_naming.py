import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zephyrus_geodata.reading.naming import Named, name_of
from zephyrus_geodata.reading.understood import Level
from zephyrus_geodata.variables import is_variable

SAMPLES = Path(__file__).parents[2] / ".." / "shared" / "samples" / "grids"

SURFACE = Level("surface", name="surface")
SEA = Level("sea", name="meanSea")
COLUMN = Level("layer", name="atmosphereSingleLayer")


def at(metres):
    return Level("height", metres, "m", "heightAboveGround")


def on(hpa):
    return Level("pressure", hpa, "hPa", "isobaricInhPa")


def grib(short, **more):
    return {"GRIB_shortName": short, "standard_name": "unknown", **more}


@pytest.mark.parametrize(
    ("name", "attrs", "level", "step_type", "variable"),
    [
        # ECMWF and NCEP as eccodes names them
        ("t2m", grib("2t"), at(2), "instant", "2m_temperature"),
        ("d2m", grib("2d"), at(2), "instant", "2m_dewpoint_temperature"),
        ("u10", grib("10u"), at(10), "instant", "10m_u_component_of_wind"),
        ("v100", grib("100v"), at(100), "instant", "100m_v_component_of_wind"),
        ("msl", grib("msl"), SURFACE, "instant", "mean_sea_level_pressure"),
        ("prmsl", grib("prmsl"), SEA, "instant", "mean_sea_level_pressure"),
        ("tp", grib("tp"), SURFACE, "accum", "total_precipitation"),
        ("t", grib("t"), on(850), "instant", "temperature_850"),
        ("gh", grib("gh"), on(500), "instant", "geopotential_500"),
        ("z", grib("z"), on(500), "instant", "geopotential_500"),
        ("w", grib("w"), on(700), "instant", "vertical_velocity_700"),
        ("t", grib("t"), SURFACE, "instant", "skin_temperature"),
        ("t", grib("t"), at(2), "instant", "2m_temperature"),
        ("u", grib("u"), at(10), "instant", "10m_u_component_of_wind"),
        ("pwat", grib("pwat"), COLUMN, "instant", "total_column_water_vapour"),
        ("pv", grib("pv"), Level("isentropic", 320, "K"), "", "potential_vorticity_320K"),
        ("tmax", grib("tmax"), at(2), "max", "2m_maximum_temperature"),
        ("unknown", grib("unknown", GRIB_paramId=167), at(2), "", "2m_temperature"),
        # CMIP and CF
        ("tas", {"standard_name": "air_temperature"}, at(1.5), "avg", "2m_temperature"),
        ("tas", {"standard_name": "air_temperature"}, None, "", "2m_temperature"),
        ("tasmax", {"standard_name": "air_temperature"}, None, "max", "2m_maximum_temperature"),
        ("ta", {"standard_name": "air_temperature"}, on(500), "", "temperature_500"),
        ("zg", {"standard_name": "geopotential_height"}, on(500), "", "geopotential_500"),
        (
            "psl",
            {"standard_name": "air_pressure_at_sea_level"},
            None,
            "",
            "mean_sea_level_pressure",
        ),
        ("pr", {"standard_name": "precipitation_flux"}, None, "avg", "total_precipitation"),
        ("hurs", {"standard_name": "relative_humidity"}, None, "", "2m_relative_humidity"),
        ("foo", {"standard_name": "air_temperature"}, at(2), "", "2m_temperature"),
        # WeatherBench 2 and ARCO-ERA5
        ("2m_temperature", {}, None, "", "2m_temperature"),
        ("temperature", {}, on(700), "", "temperature_700"),
        ("geopotential", {}, on(500), "", "geopotential_500"),
        ("total_precipitation_6hr", {}, None, "", "total_precipitation_6hr"),
        ("total_precipitation", {}, None, "", "total_precipitation"),
        ("mean_sea_level_pressure", {}, None, "", "mean_sea_level_pressure"),
        # names with a level in them
        ("z500", {}, None, "", "geopotential_500"),
        ("t850", {}, None, "", "temperature_850"),
        ("geopotential_height_500hpa", {}, None, "", "geopotential_500"),
        ("TMP_2maboveground", {}, None, "", "2m_temperature"),
        ("UGRD_10maboveground", {}, None, "", "10m_u_component_of_wind"),
        (
            "temp",
            {"long_name": "temperature", "units": "celsius"},
            on(1000),
            "",
            "temperature_1000",
        ),
        ("t", {}, on(0.1), "", "temperature_0.1"),
    ],
)
def test_names(name, attrs, level, step_type, variable):
    found = name_of(name, attrs, level, step_type)
    assert isinstance(found, Named), found
    assert found.variable == variable
    assert is_variable(found.variable)


@pytest.mark.parametrize(
    ("name", "attrs", "level", "why"),
    [
        ("gh", grib("gh"), Level("other", name="cloudCeiling"), "it lies at cloudCeiling"),
        ("t", grib("t"), Level("other", name="tropopause"), "it lies at tropopause"),
        ("t", grib("t"), at(80), "it lies at 80 m"),
        ("tcc", grib("tcc"), Level("layer", name="boundaryLayerCloudLayer"), "boundaryLayer"),
        ("tcc", grib("tcc"), on(500), "it lies at 500 hPa"),
        ("cape", grib("cape"), Level("layer", 180, name="pressureFromGroundLayer"), "FromGround"),
        ("sd", grib("sd"), SURFACE, "no variable known here"),
        ("temp", {}, None, "no level is given"),
        ("rh", {"long_name": "relative humidity"}, None, "no level is given"),
        ("z", {"standard_name": "geopotential_height"}, SURFACE, "lies at surface"),
        ("swe", {"standard_name": "lwe_thickness_of_surface_snow_amount"}, None, "no variable"),
        ("pr", {"standard_name": "solid_precipitation_flux"}, None, "no variable known"),
        ("t2m", grib("2t", GRIB_dataType="es"), at(2), "measure of spread"),
        ("t2m", {"cell_methods": "realization: standard_deviation"}, at(2), "measure of spread"),
        ("latitude_bounds", {}, None, "no variable known here"),
    ],
)
def test_what_only_looks_alike_is_left_out(name, attrs, level, why):
    found = name_of(name, attrs, level)
    assert isinstance(found, str), found
    assert why in found


def test_wind_axes_come_with_the_standard_name():
    assert name_of("u", {"standard_name": "x_wind"}, at(10)).axes == "grid"
    assert name_of("u", {"standard_name": "eastward_wind"}, at(10)).axes == "earth"
    assert name_of("u10", {}, None).axes == ""


DYNAMICAL = {
    "temperature_2m": "2m_temperature",
    "dew_point_temperature_2m": "2m_dewpoint_temperature",
    "maximum_temperature_2m": "2m_maximum_temperature",
    "minimum_temperature_2m": "2m_minimum_temperature",
    "relative_humidity_2m": "2m_relative_humidity",
    "wind_u_10m": "10m_u_component_of_wind",
    "wind_v_10m": "10m_v_component_of_wind",
    "wind_gust_10m": "10m_wind_gust",
    "wind_u_100m": "100m_u_component_of_wind",
    "wind_v_100m": "100m_v_component_of_wind",
    "pressure_reduced_to_mean_sea_level": "mean_sea_level_pressure",
    "pressure_surface": "surface_pressure",
    "precipitation_surface": "total_precipitation",
    "precipitable_water_atmosphere": "total_column_water_vapour",
    "total_cloud_cover_atmosphere": "total_cloud_cover",
    "geopotential_height_500hpa": "geopotential_500",
    "geopotential_height_850hpa": "geopotential_850",
    "geopotential_height_925hpa": "geopotential_925",
    "temperature_850hpa": "temperature_850",
    "temperature_925hpa": "temperature_925",
    "downward_short_wave_radiation_flux_surface": (
        "mean_surface_downward_short_wave_radiation_flux"
    ),
}


@pytest.mark.parametrize("file", ["dynamical_noaa_gfs_forecast", "dynamical_ifs_ens"])
def test_every_variable_of_dynamical_is_named_rightly_or_not_at_all(file):
    path = SAMPLES / f"{file}.zarr.json"
    if not path.exists():
        pytest.skip("the sample grids are not here")
    arrays = json.loads(path.read_text())["consolidated_metadata"]["metadata"]
    named = {}
    for name, array in arrays.items():
        if len(array.get("dimension_names") or ()) < 4:
            continue
        attrs = array["attributes"]
        found = name_of(name, attrs, None, attrs.get("step_type", ""))
        if isinstance(found, Named):
            named[name] = found.variable
    assert named == {name: DYNAMICAL[name] for name in named}
    assert set(named) == set(DYNAMICAL) & set(arrays)


KEYS = ("standard_name", "long_name", "short_name", "GRIB_shortName", "GRIB_paramId", "units")
WORDS = st.one_of(st.text(max_size=12), st.sampled_from(["t", "t850", "u10", "10m_", "_2m", "K"]))


@given(
    WORDS,
    st.dictionaries(st.sampled_from(KEYS), st.one_of(WORDS, st.integers(), st.floats())),
    st.one_of(st.none(), st.builds(Level, WORDS, st.floats(), WORDS, WORDS)),
)
def test_anything_is_named_or_left_out(name, attrs, level):
    found = name_of(name, attrs, level)
    assert isinstance(found, str) or is_variable(found.variable)
