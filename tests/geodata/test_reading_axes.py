"""Axes in the ways in which archives write them, from files made for the purpose."""

from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

from zephyrus_geodata.errors import UnsuitableData
from zephyrus_geodata.reading.levels import level
from zephyrus_geodata.reading.members import member_name, ordered
from zephyrus_geodata.reading.opened import open_source
from zephyrus_geodata.reading.remarks import Remarks
from zephyrus_geodata.reading.times import durations, moments, parse_moment, whole_hours
from zephyrus_geodata.reading.understand import raw_fields
from zephyrus_geodata.reading.understood import Answers, Axes, RawField

LAT, LON = np.array([10.0, 0.0, -10.0]), np.array([0.0, 90.0, 180.0, 270.0])


def made(
    tmp_path: Path, data: xr.Dataset, *, where: str = "data.nc", **answers: Any
) -> tuple[Axes, list[RawField], Remarks]:
    """Write a dataset without encoding anything, and read its axes."""
    data.to_netcdf(tmp_path / where)
    return raw_fields(open_source(tmp_path / where), Answers(**answers))


def field(dims: tuple[str, ...], **sizes: int) -> tuple[tuple[str, ...], np.ndarray, dict]:
    """A temperature of its own value everywhere."""
    shape = tuple({"lat": 3, "lon": 4, "latitude": 3, "longitude": 4, **sizes}[d] for d in dims)
    return dims, 250.0 + np.arange(np.prod(shape), dtype=np.float32).reshape(shape), {"units": "K"}


def coords(lat: str = "lat", lon: str = "lon") -> dict[str, Any]:
    return {
        lat: (lat, LAT, {"units": "degrees_north"}),
        lon: (lon, LON, {"units": "degrees_east"}),
    }


def hours_since(*hours: float) -> tuple[str, list[float], dict[str, str]]:
    return "time", list(hours), {"units": "hours since 2020-01-01"}


def test_weatherbench_time_is_the_initial_time_and_longitude_comes_first(tmp_path: Path) -> None:
    dims = ("time", "prediction_timedelta", "longitude", "latitude")
    data = xr.Dataset(
        {"2m_temperature": field(dims, time=2, prediction_timedelta=3)},
        coords={
            **coords("latitude", "longitude"),
            "time": hours_since(0, 12),
            "prediction_timedelta": ("prediction_timedelta", [6, 12, 24], {"units": "hours"}),
        },
    )
    axes, (got,), _ = made(tmp_path, data)
    assert axes.kind == "forecast"
    assert [str(t) for t in axes.init_times] == ["2020-01-01T00:00:00", "2020-01-01T12:00:00"]
    assert axes.lead_hours.tolist() == [6, 12, 24]
    expected = data["2m_temperature"].values[1, 1:].transpose(0, 2, 1)
    np.testing.assert_array_equal(got.read(1, slice(1, 3)), expected)
    np.testing.assert_array_equal(got.read(1, slice(2, 0, -1)), expected[::-1])


def test_valid_times_beside_one_initial_time_are_lead_times(tmp_path: Path) -> None:
    data = xr.Dataset(
        {"t2m": field(("time", "lat", "lon"), time=3)},
        coords={
            **coords(),
            "time": hours_since(6, 12, 18),
            "forecast_reference_time": ((), 0, {"units": "hours since 2020-01-01"}),
        },
    )
    axes, (got,), _ = made(tmp_path, data)
    assert (axes.kind, axes.lead_hours.tolist()) == ("forecast", [6, 12, 18])
    assert str(axes.init_times[0]) == "2020-01-01T00:00:00"
    np.testing.assert_array_equal(got.read(0), data["t2m"].values)


def test_initial_time_from_valid_times_in_two_dimensions(tmp_path: Path) -> None:
    valid = np.array([[0.0, 6.0], [12.0, 18.0]])
    data = xr.Dataset(
        {"t2m": field(("run", "step", "lat", "lon"), run=2, step=2)},
        coords={
            **coords(),
            "step": ("step", [0, 6], {"units": "hours"}),
            "valid_time": (("run", "step"), valid, {"units": "hours since 2020-01-01"}),
        },
    )
    axes, (got,), _ = made(tmp_path, data)
    assert [str(t)[11:13] for t in axes.init_times] == ["00", "12"]
    assert axes.lead_hours.tolist() == [0, 6]
    np.testing.assert_array_equal(got.read(1), data["t2m"].values[1])


def test_a_time_that_goes_along_with_the_lead_time_is_the_valid_time(tmp_path: Path) -> None:
    data = xr.Dataset(
        {"t2m": field(("step", "lat", "lon"), step=2)},
        coords={
            **coords(),
            "step": ("step", [6, 12], {"units": "hours"}),
            "time": ("step", [30, 36], {"units": "hours since 2020-01-01"}),
        },
    )
    axes, _, _ = made(tmp_path, data)
    assert [str(t) for t in axes.init_times] == ["2020-01-02T00:00:00"]
    assert axes.lead_hours.tolist() == [6, 12]


def test_where_two_files_have_a_time_the_first_is_taken_and_it_is_asked(tmp_path: Path) -> None:
    for name, hours, value in (("a.nc", [0, 6], 1.0), ("b.nc", [6, 12], 2.0)):
        xr.Dataset(
            {"t2m": (("time", "lat", "lon"), np.full((2, 3, 4), value), {"units": "K"})},
            coords={**coords(), "time": hours_since(*hours)},
        ).to_netcdf(tmp_path / name)
    _, (got,), remarks = raw_fields(open_source(tmp_path))
    assert got.read(0)[:, 0, 0].tolist() == [1.0, 1.0, 2.0]
    assert any("with other values" in str(question) for question in remarks.questions)


def test_pairs_of_initial_and_lead_times_along_one_dimension(tmp_path: Path) -> None:
    # iris and grib_to_netcdf: one dimension, and what each entry is beside it.
    data = xr.Dataset(
        {"t2m": field(("time", "lat", "lon"), time=5)},
        coords={
            **coords(),
            "time": hours_since(0, 6, 12, 18, 24),
            "forecast_reference_time": (
                "time", [0, 0, 12, 12, 12], {"units": "hours since 2020-01-01"},
            ),
            "forecast_period": ("time", [0, 6, 0, 6, 12], {"units": "hours"}),
        },
    )  # fmt: skip
    axes, (got,), _ = made(tmp_path, data)
    assert len(axes.init_times) == 2
    assert axes.lead_hours.tolist() == [0, 6, 12]
    first, second = got.read(0), got.read(1)
    np.testing.assert_array_equal(first[:2], data["t2m"].values[:2])
    assert np.isnan(first[2]).all()
    np.testing.assert_array_equal(second, data["t2m"].values[2:])


def test_a_time_axis_alone_is_analyses_and_a_flag_makes_it_a_forecast(tmp_path: Path) -> None:
    data = xr.Dataset(
        {"t2m": field(("time", "lat", "lon"), time=3)},
        coords={**coords(), "time": hours_since(12, 6, 0)},
    )
    axes, (got,), remarks = made(tmp_path, data)
    assert axes.kind == "analyses"
    assert [str(t)[11:13] for t in axes.times] == ["00", "06", "12"]
    np.testing.assert_array_equal(got.read(0), data["t2m"].values[::-1])
    assert any("--kind forecast" in str(note) for note in remarks.notes)
    axes, (got,), _ = made(tmp_path, data, where="again.nc", kind="forecast")
    assert (axes.kind, axes.lead_hours.tolist()) == ("forecast", [0, 6, 12])
    np.testing.assert_array_equal(got.read(0), data["t2m"].values[::-1])


def test_intervals_of_time_bounds(tmp_path: Path) -> None:
    """CDS and CMIP say by bounds and cell methods what a value is for."""
    data = xr.Dataset(
        {
            "tp": field(("time", "lat", "lon"), time=2),
            "t2m": field(("time", "lat", "lon"), time=2),
            "time_bnds": (
                ("time", "nv"), [[0.0, 6.0], [6.0, 12.0]], {"units": "hours since 2020-01-01"},
            ),
        },
        coords={**coords(), "time": hours_since(6, 12)},
    )  # fmt: skip
    data["time"].attrs["bounds"] = "time_bnds"
    data["tp"].attrs["cell_methods"] = "area: mean time: sum (interval: 1 hour)"
    data["t2m"].attrs["cell_methods"] = "time: point"
    data["made"] = ((), 0.0, {"units": "days since 2024-01-01"})  # when the file was written
    axes, fields, _ = made(tmp_path, data)
    rain, point = (next(f for f in fields if f.name == name) for name in ("tp", "t2m"))
    assert axes.kind == "analyses"
    assert rain.step_type == "accum"
    assert rain.windows is not None
    assert rain.windows.tolist() == [[-6.0, 0.0], [-6.0, 0.0]]
    assert point.windows is None
    _, fields, _ = made(tmp_path, data, where="forecast.nc", kind="forecast")
    rain = next(f for f in fields if f.name == "tp")
    assert rain.windows is not None
    assert rain.windows.tolist() == [[-6.0, 0.0], [0.0, 6.0]]  # the first time is the initial one


def test_the_new_cds_layout(tmp_path: Path) -> None:
    data = xr.Dataset(
        {"t2m": field(("valid_time", "latitude", "longitude"), valid_time=2)},
        coords={
            **coords("latitude", "longitude"),
            "valid_time": (
                "valid_time", [0, 21600],
                {"units": "seconds since 1970-01-01", "calendar": "proleptic_gregorian",
                 "standard_name": "time"},
            ),
            "number": ((), 0),
            "expver": ("valid_time", np.array(["0001", "0005"])),
        },
    )  # fmt: skip
    data["t2m"].attrs["coordinates"] = "number valid_time latitude longitude expver"
    axes, (got,), _ = made(tmp_path, data)
    assert axes.kind == "analyses"
    assert [str(t) for t in axes.times] == ["1970-01-01T00:00:00", "1970-01-01T06:00:00"]
    assert axes.members == ()
    np.testing.assert_array_equal(got.read(0), data["t2m"].values)


def test_step_all_zero_is_analyses(tmp_path: Path) -> None:
    data = xr.Dataset(
        {"t2m": field(("time", "step", "lat", "lon"), time=2, step=1)},
        coords={
            **coords(),
            "time": hours_since(0, 6),
            "step": ("step", [0], {"units": "hours"}),
        },
    )
    axes, (got,), _ = made(tmp_path, data)
    assert axes.kind == "analyses"
    assert got.read(0).shape == (2, 3, 4)


def test_uneven_leads_of_two_variables_make_one_axis_with_gaps(tmp_path: Path) -> None:
    data = xr.Dataset(
        {
            "t2m": field(("step", "lat", "lon"), step=4),
            "tp": (("late", "lat", "lon"), np.ones((2, 3, 4), np.float32), {"units": "m"}),
        },
        coords={
            **coords(),
            "step": ("step", [0, 1, 3, 9], {"units": "hours"}),
            "late": ("late", [3, 9], {"units": "hours", "standard_name": "forecast_period"}),
        },
        attrs={"init_time": "2020-01-01T06"},
    )
    axes, fields, _ = made(tmp_path, data)
    assert axes.lead_hours.tolist() == [0, 1, 3, 9]
    rain = next(f for f in fields if f.name == "tp")
    assert rain.present.tolist() == [False, False, True, True]
    values = rain.read(0)
    assert np.isnan(values[:2]).all()
    assert (values[2:] == 1.0).all()


def test_files_of_one_run_by_lead_time_are_one_forecast(tmp_path: Path) -> None:
    whole = field(("step", "lat", "lon"), step=3)[1]
    for index, hour in enumerate((0, 6, 12)):
        xr.Dataset(
            {"t2m": (("lat", "lon"), whole[index], {"units": "K"})},
            coords={
                **coords(),
                "time": ((), 0, {"units": "hours since 2020-01-01"}),
                "step": ((), hour, {"units": "hours"}),
            },
        ).to_netcdf(tmp_path / f"f{hour:03d}.nc")
    for where in (tmp_path, f"{tmp_path}/f*.nc", sorted(tmp_path.glob("*.nc"))[::-1]):
        axes, fields, _ = raw_fields(open_source(where))
        assert axes.lead_hours.tolist() == [0, 6, 12]
        (got,) = fields
        np.testing.assert_array_equal(got.read(0), whole)
        np.testing.assert_array_equal(got.read(0, slice(1, 2)), whole[1:2])


def test_control_and_members_in_two_files_are_joined(tmp_path: Path) -> None:
    values = field(("number", "step", "lat", "lon"), number=3, step=2)[1]
    step = {"step": ("step", [0, 6], {"units": "hours"})}
    init = {"time": ((), 0, {"units": "hours since 2020-01-01"})}
    xr.Dataset(
        {"t2m": (("step", "lat", "lon"), values[0], {"units": "K"})},
        coords={**coords(), **step, **init, "number": ((), 0)},
    ).to_netcdf(tmp_path / "cf.nc")
    xr.Dataset(
        {"t2m": (("number", "step", "lat", "lon"), values[:0:-1], {"units": "K"})},
        coords={**coords(), **step, **init, "number": ("number", [2, 1])},
    ).to_netcdf(tmp_path / "pf.nc")
    axes, (got,), _ = raw_fields(open_source(tmp_path))
    assert axes.members == ("0", "1", "2")
    np.testing.assert_array_equal(got.read(0), values)


def test_a_lone_scalar_member_is_no_ensemble(tmp_path: Path) -> None:
    data = xr.Dataset(
        {"t2m": field(("step", "lat", "lon"), step=2)},
        coords={
            **coords(),
            "step": ("step", [0, 6], {"units": "hours"}),
            "time": ((), 0, {"units": "hours since 2020-01-01"}),
            "number": ((), 0),
        },
    )
    axes, (got,), _ = made(tmp_path, data)
    assert axes.members == ()
    assert not got.has_members


def test_climatology_by_day_and_hour(tmp_path: Path) -> None:
    data = xr.Dataset(
        {"2m_temperature": field(("hour", "dayofyear", "lat", "lon"), hour=2, dayofyear=366)},
        coords={**coords(), "hour": ("hour", [0, 12]), "dayofyear": np.arange(1, 367)},
    )
    axes, (got,), _ = made(tmp_path, data)
    assert axes.kind == "climatology"
    assert (axes.days.size, axes.hours.tolist(), axes.steps) == (366, [0, 12], 732)
    values = got.read(0, slice(100, 103))
    raw = data["2m_temperature"].values
    np.testing.assert_array_equal(values, np.stack([raw[0, 50], raw[1, 50], raw[0, 51]]))


def test_a_scalar_height_belongs_to_the_field_that_names_it(tmp_path: Path) -> None:
    data = xr.Dataset(
        {
            "tas": field(("time", "lat", "lon"), time=1),
            "sfcWind": field(("time", "lat", "lon"), time=1),
        },
        coords={**coords(), "time": hours_since(0)},
    )
    for name, height in (("height2", 2.0), ("height10", 10.0)):
        data[name] = ((), height, {"units": "m", "standard_name": "height", "positive": "up"})
    data["tas"].attrs["coordinates"] = "height2"
    data["sfcWind"].attrs["coordinates"] = "height10"
    _, fields, _ = made(tmp_path, data)
    heights = {f.name: f.level.value for f in fields if f.level is not None}
    assert heights == {"tas": 2.0, "sfcWind": 10.0}


def test_model_levels_without_units_are_no_pressures(tmp_path: Path) -> None:
    data = xr.Dataset(
        {"t": field(("time", "level", "lat", "lon"), time=1, level=3)},
        coords={**coords(), "time": hours_since(0), "level": ("level", [1, 2, 3])},
    )
    _, fields, remarks = made(tmp_path, data)
    assert {f.level.kind for f in fields if f.level is not None} == {"model"}
    assert any("model levels" in str(note) for note in remarks.notes)


def test_projection_coordinates_and_a_mapping_give_the_places(tmp_path: Path) -> None:
    import pyproj

    mapping = {
        "grid_mapping_name": "polar_stereographic", "latitude_of_projection_origin": 90.0,
        "standard_parallel": 60.0, "straight_vertical_longitude_from_pole": -105.0,
        "semi_major_axis": 6371229.0, "semi_minor_axis": 6371229.0,
    }  # fmt: skip
    x, y = np.arange(4) * 60.0, np.arange(3) * 60.0 - 3000.0
    data = xr.Dataset(
        {"t2m": field(("time", "y", "x"), time=1, y=3, x=4), "ps": ((), 0, mapping)},
        coords={
            "time": hours_since(0),
            "x": ("x", x, {"units": "km", "standard_name": "projection_x_coordinate"}),
            "y": ("y", y, {"units": "km", "standard_name": "projection_y_coordinate"}),
        },
    )
    data["t2m"].attrs["grid_mapping"] = "ps"
    _, (got,), _ = made(tmp_path, data)
    plane = pyproj.Proj(
        "+proj=stere +lat_0=90 +lat_ts=60 +lon_0=-105 +a=6371229 +b=6371229 +units=km"
    )
    lon, lat = plane(*np.meshgrid(x, y), inverse=True)
    assert got.horizontal.kind == "curvilinear"
    np.testing.assert_allclose(got.horizontal.latitude, lat, atol=1e-9)
    np.testing.assert_allclose(got.horizontal.longitude, lon, atol=1e-9)
    assert got.horizontal.grid_type == "polar_stereographic"


def test_wrf_texts_and_a_grid_with_a_time_axis(tmp_path: Path) -> None:
    lon, lat = np.meshgrid(LON, LAT)
    data = xr.Dataset(
        {
            "T2": field(("Time", "south_north", "west_east"), Time=2, south_north=3, west_east=4),
            "Times": ("Time", np.array([b"2020-01-01_00:00:00", b"2020-01-01_06:00:00"])),
            "XLAT": (("Time", "south_north", "west_east"), np.stack([lat, lat]),
                     {"units": "degree_north"}),
            "XLONG": (("Time", "south_north", "west_east"), np.stack([lon, lon]),
                      {"units": "degree_east"}),
        },
        attrs={"SIMULATION_START_DATE": "2020-01-01_00:00:00"},
    )  # fmt: skip
    axes, (got,), _ = made(tmp_path, data)
    assert (axes.kind, axes.lead_hours.tolist()) == ("forecast", [0, 6])
    assert got.horizontal.shape == (3, 4)
    np.testing.assert_array_equal(got.read(0), data["T2"].values)


def refused(tmp_path: Path, data: xr.Dataset, match: str, **answers: Any) -> None:
    with pytest.raises(UnsuitableData, match=match) as caught:
        # An open file can't be written over.
        made(tmp_path, data, where=f"{len(list(tmp_path.iterdir()))}.nc", **answers)
    assert "\n" not in str(caught.value)


def test_refusals_are_sentences(tmp_path: Path) -> None:
    leads = {"step": ("step", [0, 6], {"units": "hours"})}
    cube = {"t2m": field(("step", "lat", "lon"), step=2)}
    refused(tmp_path, xr.Dataset(cube, coords={**coords(), **leads}), "no initial time")
    half = {"step": ("step", [0.0, 0.25], {"units": "hours"})}
    start = {"init_time": "2020-01-01"}
    refused(tmp_path, xr.Dataset(cube, coords={**coords(), **half}, attrs=start), "0 h 15 min")
    bare = {"step": ("step", [0, 864000])}
    refused(tmp_path, xr.Dataset(cube, coords={**coords(), **bare}, attrs=start), "have no units")
    month = {"time": ("time", [0, 1], {"units": "months since 2020-01-01"})}
    monthly = {"t2m": field(("time", "lat", "lon"), time=2)}
    refused(tmp_path, xr.Dataset(monthly, coords={**coords(), **month}), "whose length varies")
    refused(tmp_path, xr.Dataset({"a": ("x", [1.0, 2.0])}), "no latitude and longitude")
    fine = xr.Dataset(monthly, coords={**coords(), "time": hours_since(0, 6)})
    refused(tmp_path, fine, "There is no member '7'", member="7")


def test_dates_that_do_not_exist_are_refused_even_with_the_flag(tmp_path: Path) -> None:
    times = {"time": ("time", [59.0], {"units": "days since 2021-01-01", "calendar": "360_day"})}
    data = xr.Dataset({"t2m": field(("time", "lat", "lon"), time=1)}, coords={**coords(), **times})
    refused(tmp_path, data, "don't exist", calendar="standard")  # 30 February


def test_what_has_too_many_dimensions_is_left_out_and_told(tmp_path: Path) -> None:
    data = xr.Dataset(
        {
            "t2m": field(("time", "lat", "lon"), time=1),
            "hist": field(("time", "bin", "lat", "lon"), time=1, bin=5),
            "orog": field(("lat", "lon")),
        },
        coords={**coords(), "time": hours_since(0)},
    )
    _, fields, remarks = made(tmp_path, data)
    assert [f.name for f in fields] == ["t2m"]
    assert remarks.left_out == {
        "hist": "has a dimension bin of 5", "orog": "does not vary in time",
    }  # fmt: skip


@given(
    st.lists(st.integers(0, 400), min_size=1, max_size=8, unique=True),
    st.lists(st.integers(0, 40), min_size=1, max_size=4, unique=True),
    st.data(),
)
@settings(max_examples=40, deadline=None)
def test_any_part_of_any_cube_is_the_part_that_was_asked_for(
    leads: list[int], runs: list[int], data: st.DataObject
) -> None:
    """Whatever order the axes are in, ``read(init, span)`` is what the sorted cube has there."""
    from zephyrus_geodata.reading.axes import align
    from zephyrus_geodata.reading.pieces import pieces

    values = np.random.default_rng(1).random((len(runs), len(leads), 3, 4), np.float32)
    cube = xr.Dataset(
        {"t2m": (("time", "step", "lat", "lon"), values, {"units": "K"})},
        coords={
            **coords(),
            "time": ("time", runs, {"units": "hours since 2020-01-01"}),
            "step": ("step", leads, {"units": "hours"}),
        },
    )
    answers, remarks = Answers(kind="forecast"), Remarks()
    axes, (got,) = align(list(pieces(cube, answers, remarks)), answers, remarks)
    order = values[np.argsort(runs)][:, np.argsort(leads)]
    span = data.draw(st.slices(len(leads)))
    run = data.draw(st.integers(0, len(runs) - 1))
    assert axes.lead_hours.tolist() == sorted(leads)
    np.testing.assert_array_equal(got.read(run, span), order[run][span])


@given(st.datetimes(min_value=datetime(1900, 1, 1)))
def test_moments_are_exact_to_the_second_in_every_unit(when: Any) -> None:
    when = when.replace(microsecond=0)
    stamp = np.datetime64(when, "s")
    since = stamp - np.datetime64("1970-01-01", "s")
    seconds = int(since.astype(np.int64))
    for unit, count in (("seconds", seconds), ("minutes", seconds / 60), ("days", seconds / 86400)):
        got = moments(
            np.array([count]), {"units": f"{unit} since 1970-01-01 00:00:00"}, "time", Answers(),
            Remarks(),
        )  # fmt: skip
        assert got[0] == stamp


def test_moments_in_other_forms() -> None:
    def one(value: Any, units: str = "") -> str:
        got = moments(np.array([value]), {"units": units}, "time", Answers(), Remarks())
        return str(got[0])

    assert one(1, "hours since 1900-01-01T00:00:00Z") == "1900-01-01T01:00:00"
    assert one(0, "hours since 2020-1-1 2:30") == "2020-01-01T02:30:00"
    assert one(0, "days since 2020-01-01 00:00:00 +03:00") == "2019-12-31T21:00:00"
    assert one(np.nan, "days since 2020-01-01") == "NaT"
    assert one(b"2020-01-01_06:00:00") == "2020-01-01T06:00:00"
    # Nanoseconds since 1970 don't go through a float.
    assert one(1_577_836_800_000_000_000, "nanoseconds since 1970-01-01") == "2020-01-01T00:00:00"
    assert str(parse_moment("2020010106", "init")) == "2020-01-01T06:00:00"
    with pytest.raises(UnsuitableData, match="no date"):
        parse_moment("yesterday", "init")


def test_durations_and_hours() -> None:
    remarks = Remarks()
    assert durations(np.array([1, 2]), {"units": "days"}, "lead", remarks).tolist() == [
        86400,
        172800,
    ]
    assert durations(np.array([6]), {}, "fhour", remarks).tolist() == [21600]
    assert any("read as hours" in str(note) for note in remarks.notes)
    assert whole_hours(np.array([0, 7200])).tolist() == [0, 2]
    with pytest.raises(UnsuitableData, match="no unit of time"):
        durations(np.array([1]), {"units": "K"}, "lead", remarks)


@pytest.mark.parametrize(
    ("name", "value", "units", "expected"),
    [
        ("isobaricInPa", 85000.0, "Pa", ("pressure", 850.0)),
        ("plev", 100000.0, "Pa", ("pressure", 1000.0)),
        ("level", 500.0, "millibars", ("pressure", 500.0)),
        ("level", 500.0, "", ("pressure", 500.0)),
        ("lev", 85.0, "kPa", ("pressure", 850.0)),
        ("height", 2.0, "m", ("height", 2.0)),
        ("height", 0.01, "km", ("height", 10.0)),
        ("theta", 320.0, "K", ("isentropic", 320.0)),
        ("isobaric1", 70000.0, "Pa", ("pressure", 700.0)),
        ("level", 12.0, "sigma_level", ("other", 12.0)),
    ],
)
def test_levels(name: str, value: float, units: str, expected: tuple[str, float]) -> None:
    got = level(name, value, {"units": units})
    assert (got.kind, got.value) == expected


def test_member_names_and_their_order() -> None:
    assert [member_name(v) for v in (3, 3.0, b"p01", "gec00")] == ["3", "3", "p01", "gec00"]
    assert ordered(["10", "2", "control", "p01"]) == ("control", "2", "10", "p01")
