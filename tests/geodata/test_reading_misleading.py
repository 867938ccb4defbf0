"""Files whose words or numbers mislead: each was once read wrongly without a word."""

import sys
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import pytest
import xarray as xr

from zephyrus_geodata.errors import UnsuitableData
from zephyrus_geodata.reading.opened import open_source
from zephyrus_geodata.reading.understand import understand
from zephyrus_geodata.reading.understood import Answers, Understood

sys.path.insert(0, str(Path(__file__).parent))  # for the maker of messages

from grib_maker import message

LAT, LON = np.arange(50.0, 39.0, -5.0), np.arange(0.0, 20.0, 5.0)
PLACE = ("latitude", "longitude")
STEPS = np.array([6, 12, 18, 24])


def run(path: Path, fields: dict[str, tuple[Any, dict[str, Any]]], **coords: Any) -> Path:
    """Write fields of one run: (step) values, the same everywhere, and attributes."""
    made: dict[str, Any] = {}
    for name, (values, attrs) in fields.items():
        column = np.asarray(values, np.float32)[:, None, None]
        whole = np.broadcast_to(column, (STEPS.size, LAT.size, LON.size))
        made[name] = (("step", *PLACE), whole, attrs)
    axes: dict[str, Any] = {
        "step": ("step", STEPS, {"units": "hours"}), "latitude": LAT, "longitude": LON,
        "time": np.datetime64("2024-01-05", "ns"),
    }  # fmt: skip
    xr.Dataset(made, axes | coords).to_netcdf(path)
    return path


def levels(path: Path, name: str, values: Any, axis: dict[str, Any], units: str | None) -> Path:
    """Write a field at 6 and 12 h on three levels, with the attributes of their coordinate."""
    numbers = np.broadcast_to(np.asarray(values, np.float32)[:, None, None, None], (3, 2, 3, 4))
    attrs = {} if units is None else {"units": units}
    xr.Dataset(
        {name: (("lev", "step", *PLACE), numbers, attrs)},
        {
            "lev": ("lev", [100.0, 500.0, 1000.0], axis), "latitude": LAT, "longitude": LON,
            "step": ("step", [6, 12], {"units": "hours"}),
            "time": np.datetime64("2024-01-05", "ns"),
        },
    ).to_netcdf(path)  # fmt: skip
    return path


def packed(path: Path, dtype: str, numbers: Any, fill: Any = None, **attrs: Any) -> Path:
    """Write one time of a row of four packed numbers, byte for byte."""
    with netCDF4.Dataset(path, "w") as file:
        for dim, values in (("latitude", LAT), ("longitude", LON)):
            file.createDimension(dim, values.size)
            axis = file.createVariable(dim, "f8", (dim,))
            axis.units = "degrees_north" if dim == "latitude" else "degrees_east"
            axis[:] = values
        file.createDimension("time", 1)
        time = file.createVariable("time", "i4", ("time",))
        time.units, time[:] = "hours since 2024-01-05", [0]
        field = file.createVariable("u10", dtype, ("time", *PLACE), fill_value=fill)
        field.set_auto_maskandscale(False)
        field.setncatts({"units": "m s-1", **attrs})
        field[:] = np.broadcast_to(np.asarray(numbers), (1, LAT.size, LON.size))
    return path


def series(path: Path, times: Any, units: str, dtype: str = "f8", calendar: str = "") -> Path:
    """Write temperatures 280, 281, ... at times that are written as they are."""
    times = np.asarray(times, dtype)
    with netCDF4.Dataset(path, "w") as file:
        for dim, values in (("time", times), ("latitude", LAT), ("longitude", LON)):
            file.createDimension(dim, values.size)
            axis = file.createVariable(dim, values.dtype, (dim,))
            axis[:] = values
        file["time"].units = units
        if calendar:
            file["time"].calendar = calendar
        field = file.createVariable("t2m", "f4", ("time", *PLACE))
        field.units = "K"
        field[:] = (280.0 + np.arange(times.size))[:, None, None]
    return path


def read(where: Any, **answers: Any) -> Understood:
    return understand(open_source(where), Answers(**answers))


def row(understood: Understood, name: str) -> list[float]:
    """Return the values of the first four cells at the first step."""
    return [float(v) for v in understood.variables[name]()[:4, 0]]


def moments(understood: Understood) -> list[str]:
    return [str(time)[:16] for time in understood.times]


@pytest.mark.parametrize(
    "attrs",
    [
        {"GRIB_stepType": "diff", "standard_name": "eastward_wind"},
        {"GRIB_stepType": "rms"},
        {"cell_methods": "time: maximum"},
        {"cell_methods": "area: mean time: range"},
        {"cell_methods": "forecast_period: minimum"},
        {"cell_methods": "time1: maximum"},
        {"cell_methods": "realization: maximum"},
        {"cell_methods": "time: mean area: maximum"},
        {"cell_methods": "time: mean within years time: mean over years"},
        {"long_name": "10 m wind ensemble maximum"},
        {"long_name": "Change in eastward wind"},
        {"long_name": "analysis increment"},
    ],
)
def test_what_is_no_value_or_mean_is_left_out(tmp_path: Path, attrs: dict[str, Any]) -> None:
    path = run(tmp_path / "a.nc", {"u10": (range(4), {"units": "m s-1", **attrs}),
                                   "t2m": ([280] * 4, {"units": "K"})})  # fmt: skip
    found = read(path)
    assert list(found.variables) == ["2m_temperature"]
    assert "u10" in found.left_out


@pytest.mark.parametrize(
    "methods", ["area: time: mean", "area: mean time: point", "time: mean (comment: x: top)"]
)
def test_cell_methods_that_change_nothing(tmp_path: Path, methods: str) -> None:
    path = run(tmp_path / "a.nc", {"u10": (range(4), {"units": "m/s", "cell_methods": methods})})
    assert "10m_u_component_of_wind" in read(path).variables


def test_the_extreme_of_a_temperature_is_no_temperature(tmp_path: Path) -> None:
    attrs = {"units": "K", "cell_methods": "time: maximum"}
    found = read(run(tmp_path / "a.nc", {"2m_temperature": ([290.0] * 4, attrs)}))
    assert list(found.variables) == ["2m_maximum_temperature"]


def test_extremes_over_other_periods_are_asked_about(tmp_path: Path) -> None:
    attrs = {"units": "K"}
    both = {"mx2t3": ([281.0] * 4, attrs), "mx2t6": ([282.0] * 4, attrs)}
    both["mx2t6"][1]["cell_methods"] = "time: maximum"
    found = read(run(tmp_path / "a.nc", both))
    assert not found.variables and "mx2t3, mx2t6" in found.questions[0].text
    one = read(run(tmp_path / "b.nc", {"mx2t6": ([282.0] * 4, attrs)}))
    assert "2m_maximum_temperature: extremes over 6 h" in map(str, one.notes)


@pytest.mark.parametrize(
    "attrs",
    [
        {"cell_methods": "time: mean"},
        {"cell_methods": "realization: mean"},
        {"GRIB_derivedForecast": 0},
        {"long_name": "ensemble mean of the wind"},
    ],
)
def test_no_speed_of_a_mean_wind(tmp_path: Path, attrs: dict[str, Any]) -> None:
    """The mean of 10 and -10 m/s is 0, and the mean speed 10."""
    wind = (range(4), {"units": "m s-1", **attrs})
    found = read(run(tmp_path / "a.nc", {"u10": wind, "v10": wind}))
    assert list(found.variables) == ["10m_u_component_of_wind", "10m_v_component_of_wind"]
    assert any("not derived" in str(note) for note in found.notes)


@pytest.mark.parametrize(
    ("name", "values"),
    [("z", [1000, 5000, 100]), ("q", [1e-3, 0.01, 0.05]), ("w", [0.1, 0.2, 0.5])],
)
def test_numbers_that_fit_several_units_are_asked_about(
    tmp_path: Path, name: str, values: list[float]
) -> None:
    found = read(levels(tmp_path / "a.nc", name, values, {"units": "hPa"}, None))
    assert [q.variable for q in found.questions] == [name] * len(found.questions)
    assert found.questions and not set(found.variables) - {"geopotential_100"}


@pytest.mark.parametrize("name", ["total_precipitation", "visibility", "snow_depth", "tcwv"])
def test_common_names_say_nothing_of_units(tmp_path: Path, name: str) -> None:
    found = read(run(tmp_path / "a.nc", {name: (np.arange(4) / 2, {})}), precipitation="window")
    assert not found.variables and [q.variable for q in found.questions] == [name]


@pytest.mark.parametrize(
    "axis",
    [
        {"units": "hPa", "standard_name": "atmosphere_hybrid_sigma_pressure_coordinate"},
        {"units": "hPa", "long_name": "hybrid level at midpoints (1000*(A+B))"},
        {"units": "mb", "long_name": "sigma at layer midpoints"},
        {"units": "hPa", "formula_terms": "a: hyam b: hybm p0: P0 ps: PS"},
    ],
)
def test_nominal_pressures_of_model_levels_are_none(tmp_path: Path, axis: dict[str, str]) -> None:
    found = levels(tmp_path / "a.nc", "T", [220, 250, 280], axis, "K")
    assert not read(found).variables
    assert "ml2pl" in read(found).left_out["T"]


def test_levels_in_feet(tmp_path: Path) -> None:
    """10 ft are no 10 m."""
    path = tmp_path / "a.nc"
    field = {"u": (range(4), {"units": "m s-1"})}
    feet = read(run(path, field, height=((), 10.0, {"units": "ft"})))
    assert not feet.variables and "3.048 m" in feet.left_out["u"]
    metres = read(run(tmp_path / "b.nc", field, height=((), 10.0, {"units": "m"})))
    assert list(metres.variables) == ["10m_u_component_of_wind"]


@pytest.mark.parametrize("words", ["Convective precipitation", "large-scale rain", "Snowfall"])
def test_a_part_of_the_precipitation(tmp_path: Path, words: str) -> None:
    path = run(tmp_path / "a.nc", {"precip": (range(4), {"units": "mm", "long_name": words})})
    assert "not all precipitation" in read(path, precipitation="window").left_out["precip"]


@pytest.mark.parametrize("limit", ["valid_range", "valid_max"])
def test_limits_of_unsigned_numbers(tmp_path: Path, limit: str) -> None:
    """-6 as a limit of bytes that count from 0 to 255 is 250."""
    limits = np.array([0, -6], np.int8) if limit == "valid_range" else np.int8(-6)
    numbers = np.array([0, 200, 250, 252], np.uint8).view(np.int8)
    path = packed(
        tmp_path / "a.nc", "i1", numbers, np.int8(-1), _Unsigned="true",
        scale_factor=np.float32(0.1), add_offset=np.float32(1.0), **{limit: limits},
    )  # fmt: skip
    assert row(read(path), "10m_u_component_of_wind") == pytest.approx(
        [1.0, 21.0, 26.0, np.nan], nan_ok=True
    )


def test_packing_written_as_text(tmp_path: Path) -> None:
    path = packed(tmp_path / "a.nc", "i2", [0, 100, 200, 300], scale_factor="0.1", add_offset="1")
    assert row(read(path), "10m_u_component_of_wind") == pytest.approx([1, 11, 21, 31])


@pytest.mark.parametrize(
    ("code", "attrs"),
    [
        (-32767, {}),  # NetCDF's own
        (-3000, {"missing_value": np.float64(-30.0)}),  # of the unpacked numbers
        (-3000, {"missing_value": "-3000"}),
    ],
)
def test_packed_codes_for_missing(tmp_path: Path, code: int, attrs: dict[str, Any]) -> None:
    """Unpacked these are winds that could be."""
    scale = 0.001 if not attrs else 0.01
    path = packed(tmp_path / "a.nc", "i2", [100, code, 200, 300], scale_factor=scale, **attrs)
    assert row(read(path), "10m_u_component_of_wind") == pytest.approx(
        [100 * scale, np.nan, 200 * scale, 300 * scale], nan_ok=True
    )


def test_zeros_in_place_of_missing_temperatures(tmp_path: Path) -> None:
    """0 °C over land is possible, but not in half of all cells to the digit."""
    sea = np.tile(np.linspace(5.0, 20.0, 12).reshape(1, 3, 4), (4, 1, 1))
    sea[:, :2, :3] = 0.0
    xr.Dataset(
        {"sst": (("step", *PLACE), sea, {"units": "degC"})},
        {"step": ("step", STEPS, {"units": "hours"}), "latitude": LAT, "longitude": LON,
         "time": np.datetime64("2024-01-05", "ns")},
    ).to_netcdf(tmp_path / "a.nc")  # fmt: skip
    assert "--missing sst=0" in read(tmp_path / "a.nc").questions[0].flag
    found = read(tmp_path / "a.nc", missing={"sst": 0.0})
    there = np.isfinite(found.variables["sea_surface_temperature"]()[:, 0])
    assert np.count_nonzero(there) == 6
    kept = read(tmp_path / "a.nc", missing={"sst": np.nan})
    assert np.isfinite(kept.variables["sea_surface_temperature"]()).all()


@pytest.mark.parametrize(
    ("calendar", "first"),
    [("", "1948-01-01T00:00"), ("gregorian", "1948-01-01T00:00"),
     ("proleptic_gregorian", "1948-01-03T00:00")],
)  # fmt: skip
def test_hours_since_the_year_1(tmp_path: Path, calendar: str, first: str) -> None:
    """CF's calendar is Julian before 1582: NCEP's reanalysis starts at 17067072 h."""
    path = series(tmp_path / "a.nc", [17067072.0, 17067078.0], "hours since 1-1-1 00:00:0.0",
                  calendar=calendar)  # fmt: skip
    assert moments(read(path))[0] == first


@pytest.mark.parametrize(
    ("offset", "first"),
    [("-6:00", "06:00"), ("-06:00", "06:00"), ("+9", "2024-01-04T15:00"), ("-600", "06:00"),
     ("+5:30", "2024-01-04T18:30"), ("", "00:00")],
)  # fmt: skip
def test_offsets_from_utc(tmp_path: Path, offset: str, first: str) -> None:
    path = series(tmp_path / "a.nc", [0.0, 6.0], f"hours since 2024-01-05 00:00:00 {offset}")
    assert moments(read(path))[0] == (first if "T" in first else f"2024-01-05T{first}")


def test_times_in_32_bits(tmp_path: Path) -> None:
    """Days since 1900 are exact to 5.6 min in 32 bits: 01:00 comes out as 01:01:52."""
    days = (np.datetime64("2020-01-05") - np.datetime64("1900-01-01")).astype(int)
    path = series(tmp_path / "a.nc", days + np.arange(5) / 24, "days since 1900-01-01", "f4")
    found = read(path)
    assert moments(found) == [f"2020-01-05T0{hour}:00" for hour in range(5)]
    assert any("32-bit" in str(note) for note in found.notes)
    coarse = series(tmp_path / "b.nc", [700_000.1, 700_000.3], "days since 0101-01-01", "f4")
    with pytest.raises(UnsuitableData, match="64-bit"):
        read(coarse)


def test_times_that_are_there_twice_are_told(tmp_path: Path) -> None:
    found = read(series(tmp_path / "a.nc", [6.0, 6.0, 12.0], "hours since 2024-01-05"))
    assert any("there twice; the first was taken" in str(note) for note in found.notes)


def test_valid_times_that_contradict_the_lead_times(tmp_path: Path) -> None:
    right = np.datetime64("2024-01-05T06", "ns") + STEPS.astype("timedelta64[h]")
    fields = {"t2m": ([280] * 4, {"units": "K"})}
    good = right - np.timedelta64(6, "h")
    assert read(run(tmp_path / "a.nc", fields, valid_time=("step", good))).lead_hours[0] == 6
    with pytest.raises(UnsuitableData, match="valid_time are not the initial times"):
        read(run(tmp_path / "b.nc", fields, valid_time=("step", right)))


@pytest.mark.parametrize(
    ("axis", "numbers", "hours"),
    [("month", range(12), [0, 12]), ("dayofyear", range(365), [0, 12]),
     ("dayofyear", range(1, 367), [6, 12, 18, 24])],
)  # fmt: skip
def test_climatologies_counted_otherwise(
    tmp_path: Path, axis: str, numbers: range, hours: list[int]
) -> None:
    """Months from 0 would put January into December."""
    shape = (len(numbers), len(hours), LAT.size, LON.size)
    xr.Dataset(
        {"2m_temperature": ((axis, "hour", *PLACE), np.full(shape, 280.0, "f4"), {"units": "K"})},
        {axis: list(numbers), "hour": hours, "latitude": LAT, "longitude": LON},
    ).to_netcdf(tmp_path / "a.nc")
    with pytest.raises(UnsuitableData, match="number it anew"):
        read(tmp_path / "a.nc")


@pytest.mark.parametrize("names", [("rlat", "rlon"), ("lat", "lon")])
def test_a_rotated_grid_with_rotated_coordinates_only(
    tmp_path: Path, names: tuple[str, str]
) -> None:
    """COSMO-DE: the middle of the rotated grid lies at 50.75 N 18 E, not at 0 N 0 E."""
    y, x = np.arange(-10.0, 11.0, 10.0), np.arange(-20.0, 11.0, 10.0)
    standard = ["grid_latitude", "grid_longitude"] if names[0] == "rlat" else ["", ""]
    axes = {
        name: (name, values, {"units": "degrees", "standard_name": word})
        for name, values, word in zip(names, (y, x), standard, strict=True)
    }
    pole = {"grid_mapping_name": "rotated_latitude_longitude", "grid_north_pole_latitude": 39.25,
            "grid_north_pole_longitude": -162.0}  # fmt: skip
    xr.Dataset(
        {
            "t2m": (("time", *names), np.full((1, 3, 4), 280.0, "f4"),
                    {"units": "K", "grid_mapping": "pole"}),
            "pole": ((), 0, pole),
        },
        {**axes, "time": [np.datetime64("2024-01-05", "ns")]},
    ).to_netcdf(tmp_path / "a.nc")  # fmt: skip
    grid = read(tmp_path / "a.nc").grid
    middle = 4 + 2
    assert grid.cell_latitude[middle] == pytest.approx(50.75)
    assert grid.cell_longitude[middle] == pytest.approx(18.0)
    # By PROJ's ob_tran of the same pole.
    assert grid.cell_latitude[[8, 10, 11]] == pytest.approx([55.741263, 60.75, 59.418909])
    assert grid.cell_longitude[[8, 11]] == pytest.approx([-18.751098, 37.641443])


def test_a_projection_with_latitudes_of_one_dimension_is_refused(tmp_path: Path) -> None:
    mapping = ((), 0, {"grid_mapping_name": "lambert_conformal_conic"})
    field = {"t2m": ([280] * 4, {"units": "K", "grid_mapping": "crs"})}
    with pytest.raises(UnsuitableData, match="can't have"):
        read(run(tmp_path / "a.nc", field, crs=mapping))


def test_coordinates_that_are_edges_of_cells(tmp_path: Path) -> None:
    """CF lets a coordinate be the edge of its cell; its bounds say so."""
    lat, lon = np.arange(-90.0, 90.0, 30.0), np.arange(0.0, 360.0, 60.0)

    def write(name: str, start: float) -> Path:
        bounds = {
            f"{axis}_bnds": ((axis, "nv"), np.stack([values, values + width], axis=1))
            for axis, values, width in (("latitude", lat, 30.0), ("longitude", lon, 60.0))
        }
        xr.Dataset(
            {"t2m": (("time", *PLACE), np.full((1, 6, 6), 280.0, "f4"), {"units": "K"}), **bounds},
            {
                "time": [np.datetime64("2024-01-05", "ns")],
                "latitude": ("latitude", lat + start * 30.0, {"bounds": "latitude_bnds"}),
                "longitude": ("longitude", lon + start * 60.0, {"bounds": "longitude_bnds"}),
            },
        ).to_netcdf(tmp_path / name)
        return tmp_path / name

    edges, middles = read(write("edges.nc", 0.0)), read(write("middles.nc", 0.5))
    assert edges.grid.key == middles.grid.key
    assert any("edges of the cells" in str(note) for note in edges.notes)
    assert not any("edges of the cells" in str(note) for note in middles.notes)


def test_a_component_along_the_grid_beside_one_along_the_earth(tmp_path: Path) -> None:
    """Neither the turned component nor a speed can be had from two that point otherwise."""
    lon, lat = np.meshgrid(np.arange(4.0), np.arange(40.0, 43.0))
    lat = lat + 0.1 * lon
    components = {
        name: (("time", "y", "x"), np.ones((1, 3, 4), "f4"),
               {"units": "m s-1", "standard_name": standard})
        for name, standard in (("u10", "x_wind"), ("v10", "northward_wind"))
    }  # fmt: skip
    places = {"lat": (("y", "x"), lat), "lon": (("y", "x"), lon)}
    times = {"time": [np.datetime64("2024-01-05", "ns")]}
    xr.Dataset(components, {**places, **times}).to_netcdf(tmp_path / "a.nc")
    found = read(tmp_path / "a.nc")
    assert list(found.variables) == ["10m_v_component_of_wind"]
    assert "v10 doesn't" in found.left_out["u10"]


@pytest.mark.parametrize(
    ("other", "asked"),
    [
        ({"units": "degC"}, "in K and others in degC"),
        ({"units": "K", "cell_methods": "time: point"}, "unnamed and instant"),
    ],
)
def test_files_that_describe_one_field_in_two_ways(
    tmp_path: Path, other: dict[str, str], asked: str
) -> None:
    """Whichever was chosen, the other run would be missing."""
    one = run(tmp_path / "a.nc", {"t2m": ([280.0] * 4, {"units": "K"})})
    day = np.datetime64("2024-01-06", "ns")
    two = run(tmp_path / "b.nc", {"t2m": ([10.0] * 4, other)}, time=day)
    assert any(asked in question.text for question in read([one, two]).questions)
    same = run(tmp_path / "c.nc", {"t2m": ([281.0] * 4, {"units": "K"})}, time=day)
    assert not read([one, same]).questions


def test_two_files_that_contradict_each_other(tmp_path: Path) -> None:
    one = run(tmp_path / "a.nc", {"t2m": ([280.0] * 4, {"units": "K"})})
    two = run(tmp_path / "b.nc", {"t2m": ([285.0] * 4, {"units": "K"})})
    again = run(tmp_path / "c.nc", {"t2m": ([280.0] * 4, {"units": "K"})})
    assert "with other values" in read([one, two]).questions[0].text
    found = read([one, again])
    assert not found.questions and any("the first was taken" in str(n) for n in found.notes)


def test_two_messages_of_one_place_with_other_values(tmp_path: Path) -> None:
    """Two models in one file: neither is taken for the other."""
    pytest.importorskip("eccodes")
    keys = {"dataDate": 20240101, "dataTime": 0, "shortName": "2t", "step": 6}
    one = message({**keys, "generatingProcessIdentifier": 81}, np.full(12, 280.0))
    other = message({**keys, "generatingProcessIdentifier": 96}, np.full(12, 285.0))
    path = tmp_path / "a.grib2"
    path.write_bytes(one + other)
    with pytest.raises(UnsuitableData, match="two messages of 2t at 2024-01-01T00:00"):
        read(path)
    path.write_bytes(one + one)
    assert any("there twice" in str(note) for note in read(path).notes)


def test_monthly_means_of_grib_1_are_told(tmp_path: Path) -> None:
    pytest.importorskip("eccodes")
    grid = {
        "Ni": 4, "Nj": 3, "latitudeOfFirstGridPointInDegrees": 10.0,
        "latitudeOfLastGridPointInDegrees": -10.0, "longitudeOfFirstGridPointInDegrees": 0.0,
        "longitudeOfLastGridPointInDegrees": 30.0, "iDirectionIncrementInDegrees": 10.0,
        "jDirectionIncrementInDegrees": 10.0,
    }  # fmt: skip
    keys = {"dataDate": 20240101, "dataTime": 0, "shortName": "2t", "timeRangeIndicator": 113}
    path = tmp_path / "a.grib"
    path.write_bytes(message(keys, np.full(12, 280.0), "regular_ll_sfc_grib1", grid))
    assert any("means over an interval" in str(note) for note in read(path).notes)


def test_a_query_asks_for_one_file() -> None:
    with pytest.raises(UnsuitableData, match=r"s\.zarr has a query"):
        open_source("http://127.0.0.1:1/s.zarr?token=secret")
