"""Files that are easily read wrongly without a word: read rightly, asked about or refused."""

from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import pytest
import xarray as xr

from zephyrus_geodata.errors import UnsuitableData
from zephyrus_geodata.grid import Grid
from zephyrus_geodata.reading.before import before_in
from zephyrus_geodata.reading.opened import open_source
from zephyrus_geodata.reading.understand import understand
from zephyrus_geodata.reading.understood import Answers, Understood

LAT, LON = np.arange(50.0, 39.0, -5.0), np.arange(0.0, 20.0, 5.0)
PLACE = ("latitude", "longitude")


def write(
    path: Path, name: str, values: Any, along: dict[str, Any], units: str, **more: Any
) -> Path:
    """Write one field, the same everywhere, along the dimensions of ``along``."""
    values = np.asarray(values, dtype=np.float32)
    whole = np.broadcast_to(values[..., None, None], (*values.shape, LAT.size, LON.size))
    places = {"latitude": LAT, "longitude": LON}
    xr.Dataset(
        {name: ((*along, *PLACE), whole, {"units": units})}, {**along, **places, **more}
    ).to_netcdf(path)
    return path


def run(path: Path, name: str, values: Any, leads: Any, units: str, day: int = 5) -> Path:
    """Write a field of one run."""
    start = {"time": np.datetime64(f"2024-01-{day:02d}", "ns")}
    return write(path, name, values, {"step": ("step", leads, {"units": "hours"})}, units, **start)


def read(where: Any, **answers: Any) -> Understood:
    return understand(open_source(where), Answers(**answers))


def cell(understood: Understood, name: str, init: int = 0) -> list[float]:
    return [round(float(v), 6) for v in understood.variables[name](init)[0]]


@pytest.mark.parametrize(
    ("units", "answer", "rain"),
    [
        ("mm", "window", [1, 2, 3, 4]),
        ("mm/h", "rate", [6, 12, 18, 24]),
        ("mm", "accumulated", [1] * 4),
    ],
)
def test_rain_every_6_h_beside_hourly_temperature(
    tmp_path: Path, units: str, answer: Any, rain: list[float]
) -> None:
    """The intervals are those of the rain's own steps, not those of the common axis."""
    hourly = run(tmp_path / "t.nc", "t2m", 280.0 + np.arange(24), np.arange(1, 25), "K")
    six = run(tmp_path / "p.nc", "tp", [1, 2, 3, 4], [6, 12, 18, 24], units)
    found = read([hourly, six], precipitation=answer)
    assert "total_precipitation_1hr" not in found.variables
    got = cell(found, "total_precipitation_6hr")
    assert got[5::6] == [pytest.approx(v / 1000.0) for v in rain]
    assert np.isnan(np.delete(got, [5, 11, 17, 23])).all()


def test_runs_with_other_lead_times_never_share_their_windows(tmp_path: Path) -> None:
    one = run(tmp_path / "a.nc", "tp", [1, 2, 3, 4], [6, 12, 18, 24], "mm", 5)
    two = run(tmp_path / "b.nc", "tp", [10, 20], [12, 24], "mm", 6)
    found = read([one, two], precipitation="window")
    first, second = (cell(found, "total_precipitation_6hr", i) for i in (0, 1))
    assert (first[0], first[2]) == (0.001, 0.003)
    # 12 h amounts in one run and 6 h amounts in the other: neither is taken for the other.
    assert np.isnan([first[1], first[3], *second]).all()


def test_before_in_tells_the_lead_time_before() -> None:
    hours = np.array([6.0, 12.0, 24.0, 36.0])
    runs, steps = np.array([0, 0, 1, 1]), np.array([0, 1, 2, 3])
    # The second run is cut at 24 h, with steps 12 h wide.
    np.testing.assert_equal(before_in(hours, runs, steps), [0.0, 6.0, np.nan, 24.0])
    np.testing.assert_equal(before_in(hours, runs[:0], steps[:0]), [np.nan] * 4)
    np.testing.assert_equal(before_in(hours, runs[:1], steps[3:]), [np.nan] * 3 + [0.0])


@pytest.mark.parametrize("leads", [range(1, 11), range(60, 601, 60)])
def test_lead_times_without_units_that_may_be_days_are_asked_about(
    tmp_path: Path, leads: range
) -> None:
    start = {"time": np.datetime64("2024-01-05", "ns")}
    path = write(tmp_path / "x.nc", "t2m", [280.0] * 10, {"lead": list(leads)}, "K", **start)
    assert [q.flag for q in read(path).questions] == ["--units lead=hours"]
    told = read(path, units={"lead": "days" if leads[0] == 1 else "minutes"})
    assert not told.questions
    assert told.lead_hours.tolist() == [24 * n if leads[0] == 1 else n for n in range(1, 11)]


def test_lead_times_without_units_that_can_only_be_hours_are_read(tmp_path: Path) -> None:
    start = {"time": np.datetime64("2024-01-05", "ns")}
    path = write(tmp_path / "x.nc", "t2m", [280.0] * 3, {"lead": [0, 6, 12]}, "K", **start)
    assert not read(path).questions


def valid_times() -> tuple[str, Any, dict[str, str]]:
    times = np.datetime64("2024-01-05T06", "ns") + np.arange(3) * np.timedelta64(6, "h")
    return "time", times, {"standard_name": "time"}


def test_a_forecast_period_is_counted_back_from_the_valid_time(tmp_path: Path) -> None:
    """CF: time = forecast_reference_time + forecast_period."""
    period = {"forecast_period": ((), 24, {"units": "hours", "standard_name": "forecast_period"})}
    path = write(tmp_path / "x.nc", "t2m", [280.0] * 3, {"time": valid_times()}, "K", **period)
    found = read(path)
    assert [str(t) for t in found.init_times[:2]] == ["2024-01-04T06:00:00", "2024-01-04T12:00:00"]
    assert found.lead_hours.tolist() == [24]


@pytest.mark.parametrize("attrs", [{"standard_name": "time"}, {"long_name": "valid time"}])
def test_valid_times_across_lead_times_are_no_initial_times(
    tmp_path: Path, attrs: dict[str, str]
) -> None:
    lead = ("lead", [0, 24], {"units": "hours", "standard_name": "forecast_period"})
    along = {"time": (*valid_times()[:2], attrs), "lead": lead}
    path = write(tmp_path / "x.nc", "t2m", np.full((3, 2), 280.0), along, "K")
    with pytest.raises(UnsuitableData, match="both are dimensions"):
        read(path)


def test_a_named_time_zone_is_refused_and_an_offset_read(tmp_path: Path) -> None:
    for number, zone in enumerate(("JST", "EST", "+09:00", "UTC", "")):
        units = f"hours since 2024-01-01 00:00:00 {zone}".strip()
        along = {"time": ("time", [0, 6], {"units": units})}
        path = write(tmp_path / f"{number}.nc", "t2m", [280.0] * 2, along, "K")
        if zone in ("JST", "EST"):
            with pytest.raises(UnsuitableData, match=zone):
                read(path)
        else:
            first = "2023-12-31T15:00:00" if zone == "+09:00" else "2024-01-01T00:00:00"
            assert str(read(path).times[0]) == first


@pytest.mark.parametrize("levels", [[0.995, 0.85], [1, 2, 4], [60, 100, 137]])
def test_levels_without_units_that_are_no_usual_pressures_are_left_out(
    tmp_path: Path, levels: list[float]
) -> None:
    along = {"time": valid_times(), "lev": levels}
    path = write(tmp_path / "x.nc", "t", np.full((3, len(levels)), 250.0), along, "K")
    with_usual = {"time": valid_times(), "lev": [1000.0, 925.0, 500.0, 10.0]}
    usual = write(tmp_path / "y.nc", "t", np.full((3, 4), 250.0), with_usual, "K")
    assert not read(path).variables
    assert "temperature_925" in read(usual).variables


def test_members_of_one_name_are_refused_and_their_mean_is_asked_about(tmp_path: Path) -> None:
    along: dict[str, Any] = {"time": valid_times(), "number": [1, 1, 2]}
    path = write(tmp_path / "x.nc", "t2m", np.full((3, 3), 280.0), along, "K")
    with pytest.raises(UnsuitableData, match="more than once"):
        read(path)
    along = {"time": valid_times(), "number": np.array(["mean", "m1", "m2"])}
    path = write(tmp_path / "y.nc", "t2m", np.full((3, 3), 280.0), along, "K")
    assert [q.flag for q in read(path).questions] == ["--member NAME"]
    assert not read(path, member="m1").questions


@pytest.mark.parametrize(
    "limits",
    [
        {"valid_range": np.array([-20000, 20000], "i2")},
        {"valid_min": np.int16(-20000), "valid_max": np.int16(20000)},
        {"valid_range": np.array([240.0, 320.0], "f4")},  # not packed: in the field's units
    ],
)
def test_numbers_outside_the_declared_limits_are_missing(
    tmp_path: Path, limits: dict[str, Any]
) -> None:
    write(tmp_path / "x.nc", "t2m", [280.0] * 3, {"time": valid_times()}, "K")
    with netCDF4.Dataset(tmp_path / "x.nc", "a") as file:
        packed = file.createVariable("d2m", "i2", ("time", *PLACE))
        packed.set_auto_maskandscale(False)
        packed.setncatts({"units": "K", "scale_factor": 0.002, "add_offset": 280.0, **limits})
        packed[:] = 20000 if "valid_range" not in limits or limits["valid_range"][0] < 0 else 1000
        packed[:, 0, 0], packed[:, 1, 1] = -32000, 32000
    values = read(tmp_path / "x.nc").variables["2m_dewpoint_temperature"]()
    assert np.count_nonzero(np.isnan(values)) == 2 * 3
    assert np.ptp(values[np.isfinite(values)]) == 0.0


@pytest.mark.parametrize("word", ["2 metre temperature anomaly", "spread of temperature"])
def test_what_is_not_the_quantity_itself_is_left_out(tmp_path: Path, word: str) -> None:
    path = write(tmp_path / "x.nc", "t2m", [3.0] * 3, {"time": valid_times()}, "degC")
    with netCDF4.Dataset(path, "a") as file:
        file["t2m"].long_name = word
    assert "not the quantity itself" in read(path).left_out["t2m"]


@pytest.mark.parametrize("scalar", [True, False])
def test_one_quantile_is_left_out(tmp_path: Path, scalar: bool) -> None:
    along: dict[str, Any] = {"time": valid_times()}
    more = {"quantile": 0.9} if scalar else {}
    along |= {} if scalar else {"quantile": [0.9]}
    values = np.full((3,) if scalar else (3, 1), 280.0)
    with pytest.raises(UnsuitableData, match="quantile of a distribution"):
        read(write(tmp_path / "x.nc", "t2m", values, along, "K", **more))


def test_a_lead_time_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnsuitableData, match="more than once"):
        read(run(tmp_path / "x.nc", "t2m", [280.0, 281.0, 282.0], [6, 6, 12], "K"))


def test_years_after_a_reference_time_are_analyses(tmp_path: Path) -> None:
    days = ("time", [0, 1500, 3000], {"units": "days since 2000-01-01"})
    path = write(tmp_path / "x.nc", "t2m", [280.0] * 3, {"time": days}, "K")
    with netCDF4.Dataset(path, "a") as file:
        file.reference_time = "2000-01-01"
    assert read(path).kind == "analyses"


def test_places_in_radians(tmp_path: Path) -> None:
    path = write(tmp_path / "x.nc", "t2m", [280.0] * 3, {"time": valid_times()}, "K")
    with netCDF4.Dataset(path, "a") as file:
        for name in PLACE:
            file[name].units = "radian"
            file[name][:] = np.deg2rad(file[name][:])
    grid = read(path).grid
    assert isinstance(grid, Grid)
    assert grid.latitude.tolist() == pytest.approx(sorted(LAT))


def test_two_regions_in_one_file_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "x.nc", "t2m", [280.0] * 3, {"time": valid_times()}, "K")
    with xr.open_dataset(path) as data:
        far = data.assign_coords(longitude=LON + 100.0)
        xr.concat([data, far], "longitude").to_netcdf(tmp_path / "y.nc")
    with pytest.raises(UnsuitableData, match="jump from"):
        read(tmp_path / "y.nc")
