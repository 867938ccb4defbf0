import numpy as np
import pyproj
import pytest

from zephyrus_geodata.reading.extras import settle
from zephyrus_geodata.reading.opened import open_source
from zephyrus_geodata.reading.understand import understand
from zephyrus_geodata.reading.understood import Horizontal, RawField
from zephyrus_geodata.reading.winds import axes_of, grid_angle, rotate


def horizontal(projection, x, y, **attrs):
    lon, lat = pyproj.Proj(projection)(*np.meshgrid(x, y), inverse=True)
    return Horizontal(
        "curvilinear",
        "lambert",
        ("y", "x"),
        lat,
        lon,
        y=np.asarray(y),
        x=np.asarray(x),
        attrs=attrs,
    )


LAMBERT = "+proj=lcc +lat_0=38.5 +lon_0=-97.5 +lat_1=38.5 +lat_2=38.5 +R=6371229"
X, Y = np.arange(-2.4e6, 2.5e6, 1e5), np.arange(-1.5e6, 1.6e6, 1e5)


@pytest.mark.parametrize("flip", [1, -1])
@pytest.mark.parametrize("flip_rows", [1, -1])
def test_the_angle_of_a_lambert_grid_is_the_cone_constant_times_the_longitude(flip, flip_rows):
    place = horizontal(LAMBERT, X[::flip], Y[::flip_rows])
    # NCEP's formula: x leans clockwise from east by sin(38.5°) x (longitude - central one).
    expected = -np.sin(np.deg2rad(38.5)) * np.deg2rad(place.longitude + 97.5)
    np.testing.assert_allclose(grid_angle(place), expected, atol=2e-3)


def test_the_angle_of_a_polar_grid_is_the_longitude():
    place = horizontal("+proj=stere +lat_0=90 +lon_0=-105 +lat_ts=60", X, Y + 4e6)
    turned = -np.deg2rad(place.longitude + 105.0)
    np.testing.assert_allclose(np.exp(1j * grid_angle(place)), np.exp(1j * turned), atol=2e-2)


def test_the_angle_agrees_with_projs_meridian_convergence():
    place = horizontal(LAMBERT, X, Y)
    factors = pyproj.Proj(LAMBERT).get_factors(place.longitude, place.latitude)
    # East of the central meridian true north leans left on the map, and x right of east.
    np.testing.assert_allclose(
        grid_angle(place), -np.deg2rad(factors.meridian_convergence), atol=2e-3
    )


def test_turning_by_hand():
    quarter = np.full((1, 2), np.pi / 2)  # x points north, y points west
    u, v = rotate(np.float32([[[3.0, 0.0]]]), np.float32([[[0.0, 2.0]]]), quarter)
    np.testing.assert_allclose(u, [[[0.0, -2.0]]], atol=1e-6)
    np.testing.assert_allclose(v, [[[3.0, 0.0]]], atol=1e-6)
    assert u.dtype == np.float32


def test_a_wind_along_a_parallel_comes_out_eastward():
    """Particles that move east: their path in the projection, by finite differences."""
    place = horizontal(LAMBERT, X, Y)
    proj = pyproj.Proj(LAMBERT)
    ahead = np.stack(proj(place.longitude + 0.01, place.latitude))
    behind = np.stack(proj(place.longitude - 0.01, place.latitude))
    along = ahead - behind
    along = 10.0 * along / np.hypot(*along)
    u, v = rotate(along[0].astype(np.float32), along[1].astype(np.float32), grid_angle(place))
    np.testing.assert_allclose(u, 10.0, atol=0.01)
    np.testing.assert_allclose(v, 0.0, atol=0.05)


def test_backward_rows_are_known_by_the_scanning_mode():
    place = horizontal(LAMBERT, X, Y)
    backward = Horizontal(
        "curvilinear",
        "lambert",
        ("y", "x"),
        place.latitude[:, ::-1],
        place.longitude[:, ::-1],
        attrs={"GRIB_iScansNegatively": 1},
    )
    np.testing.assert_allclose(grid_angle(backward)[:, ::-1], grid_angle(place), atol=1e-9)


def field(place, **attrs):
    return RawField(
        "u", attrs, None, place, False, "", None, np.ones(1, bool), lambda init=0, span=None: X
    )


def test_who_says_what_the_components_follow():
    plain = field(horizontal(LAMBERT, X, Y))
    straight = Horizontal("rectilinear", "regular_ll", ("y", "x"), np.arange(3.0), np.arange(3.0))
    assert axes_of(field(horizontal(LAMBERT, X, Y, GRIB_uvRelativeToGrid=1)), "", None) == "grid"
    assert axes_of(field(horizontal(LAMBERT, X, Y, GRIB_uvRelativeToGrid=0)), "", None) == "earth"
    assert axes_of(plain, "grid", None) == "grid"
    assert axes_of(plain, "earth", None) == "earth"
    assert axes_of(plain, "", None) is None
    assert axes_of(plain, "", "grid") == "grid"
    assert axes_of(field(straight), "grid", None) == "earth"


def test_gribs_flag_counts_and_its_standard_name_does_not():
    place = horizontal(LAMBERT, X, Y)
    assert axes_of(field(place, GRIB_uvRelativeToGrid=1), "earth", None) == "grid"
    assert axes_of(field(place, GRIB_shortName="10u"), "earth", None) is None


@pytest.mark.parametrize("relative", [0, 1])
def test_a_lambert_grib_file_is_turned_by_its_flag(tmp_path, relative):
    settle()
    eccodes = pytest.importorskip("eccodes")
    keys = {
        "gridType": "lambert",
        "Nx": 5,
        "Ny": 4,
        "shapeOfTheEarth": 6,
        "latitudeOfFirstGridPointInDegrees": 30.0,
        "longitudeOfFirstGridPointInDegrees": 240.0,
        "LaDInDegrees": 38.5,
        "LoVInDegrees": 262.5,
        "DxInMetres": 100_000,
        "DyInMetres": 100_000,
        "Latin1InDegrees": 38.5,
        "Latin2InDegrees": 38.5,
        "jScansPositively": 1,
        "uvRelativeToGrid": relative,
        "dataDate": 20240101,
        "dataTime": 0,
    }
    with (tmp_path / "winds.grib2").open("wb") as file:
        for short, value in (("10u", 10.0), ("10v", 0.0)):
            message = eccodes.codes_grib_new_from_samples("regular_ll_sfc_grib2")
            for key, setting in {**keys, "shortName": short, "step": 6}.items():
                eccodes.codes_set(message, key, setting)
            eccodes.codes_set_values(message, np.full(20, value))
            eccodes.codes_write(message, file)
            eccodes.codes_release(message)
    source = understand(open_source(tmp_path / "winds.grib2"))
    u, v = (source.variables[f"10m_{c}_component_of_wind"]()[:, 0] for c in "uv")
    np.testing.assert_allclose(np.hypot(u, v), 10.0, rtol=1e-5)
    lon = source.grid.cell_longitude
    lean = -np.sin(np.deg2rad(38.5)) * np.deg2rad(lon + 97.5) * relative
    assert (np.abs(lean) > 0.1).all() == bool(relative)
    np.testing.assert_allclose(np.arctan2(v, u), lean, atol=5e-3)
