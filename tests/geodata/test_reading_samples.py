"""Seventeen real files: what is understood against what ecCodes, netCDF4 and zarr say themselves."""

from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import pytest

from zephyrus_geodata.errors import UnsuitableData
from zephyrus_geodata.reading.opened import open_source
from zephyrus_geodata.reading.understand import raw_fields, understand
from zephyrus_geodata.reading.understood import Answers, Understood

eccodes = pytest.importorskip("eccodes")

SAMPLES = Path(__file__).parents[2] / ".." / "shared" / "samples" / "grids"
pytestmark = pytest.mark.skipif(not SAMPLES.is_dir(), reason="the sample grids are not here")


def read(name: str, **answers: Any) -> Understood:
    return understand(open_source(SAMPLES / name), Answers(**answers))


def messages(name: str) -> list[tuple[dict[str, Any], np.ndarray]]:
    """Every message of a GRIB file by ecCodes alone: some keys, and values."""
    found = []
    keys = ("shortName", "level", "dataDate", "dataTime", "stepRange", "number", "dataType")
    with (SAMPLES / name).open("rb") as file:
        while handle := eccodes.codes_grib_new_from_file(file):
            row = {}
            for key in keys:
                if eccodes.codes_is_defined(handle, key):
                    row[key] = eccodes.codes_get(handle, key)
            eccodes.codes_set(handle, "missingValue", 1e30)
            values = eccodes.codes_get_values(handle)
            found.append((row, np.where(values == 1e30, np.nan, values)))
            eccodes.codes_release(handle)
    return found


def on_grid(values: np.ndarray, nlat: int, nlon: int, flip: bool = True) -> np.ndarray:
    """Put values of a message (0 ... 360, north to south) on a grid from -180 and the south."""
    rows = values.reshape(nlat, nlon)
    rows = rows[::-1] if flip else rows
    lon = (np.arange(nlon) * 360.0 / nlon + 180.0) % 360.0
    return rows[:, np.argsort(lon)].ravel()


def test_era5_members_are_analyses_of_ten_members_on_two_levels() -> None:
    source = read("era5_levels_members.grib")
    assert source.kind == "analyses"
    assert source.format == "grib1"
    assert [str(t) for t in source.times] == [
        "2017-01-01T00:00:00", "2017-01-01T12:00:00", "2017-01-02T00:00:00", "2017-01-02T12:00:00",
    ]  # fmt: skip
    assert source.members == tuple("0123456789")
    assert source.grid.shape == (61, 120)
    assert set(source.variables) == {
        "geopotential_500", "geopotential_850", "temperature_500", "temperature_850",
    }  # fmt: skip
    t850 = source.variables["temperature_850"](0)
    assert t850.shape == (10, 7320, 4)
    t500 = source.variables["temperature_500"](0)
    assert min(t850.min(), t500.min()) == pytest.approx(224.13, abs=0.005)
    assert max(t850.max(), t500.max()) == pytest.approx(305.84, abs=0.005)
    (row, values), *_ = [
        m for m in messages("era5_levels_members.grib")
        if m[0]["shortName"] == "t" and m[0]["level"] == 850 and m[0]["number"] == 7
        and m[0]["dataDate"] == 20170102 and m[0]["dataTime"] == 1200
    ]  # fmt: skip
    assert row["dataType"] == "an"
    np.testing.assert_array_equal(t850[7, :, 3], on_grid(values, 61, 120).astype(np.float32))


def test_one_member_of_an_ensemble_is_a_deterministic_source() -> None:
    whole = read("era5_levels_members.grib").variables["temperature_850"](0)
    source = read("era5_levels_members.grib", member="4")
    assert source.members == ()
    np.testing.assert_array_equal(source.variables["temperature_850"](0), whole[4])


def test_control_and_fifty_members_are_one_ensemble_with_the_control_first() -> None:
    source = read("ens_50.grib")
    assert source.kind == "forecast"
    assert source.members == ("control", *(str(n) for n in range(1, 51)))
    assert source.lead_hours.tolist() == [78]
    assert str(source.init_times[0]) == "2013-10-25T00:00:00"
    values = source.variables["geopotential_850"](0)
    assert values.shape == (51, 6, 1)
    by_member = {
        ("control" if row["dataType"] == "cf" else str(row["number"])): field
        for row, field in messages("ens_50.grib")
    }
    assert len(by_member) == 51
    for index, name in enumerate(source.members):
        # Longitudes are -10, 0, 10 already; only the rows turn.
        expected = by_member[name].reshape(2, 3)[::-1].ravel().astype(np.float32)
        np.testing.assert_array_equal(values[index, :, 0], expected)


def test_forecast_cube_of_four_runs() -> None:
    source = read("pl_regular_ll.grib")
    assert source.kind == "forecast"
    assert [str(t)[:13] for t in source.init_times] == [
        "2024-06-03T00", "2024-06-03T12", "2024-06-04T00", "2024-06-04T12",
    ]  # fmt: skip
    assert source.lead_hours.tolist() == [0, 6]
    for row, field in messages("pl_regular_ll.grib"):
        if row["shortName"] == "u" and row["level"] == 700:
            run = [f"{t}" for t in source.init_times].index(
                f"2024-06-{str(row['dataDate'])[-2:]}T{row['dataTime'] // 100:02d}:00:00"
            )
            lead = [0, 6].index(int(row["stepRange"]))
            got = source.variables["u_component_of_wind_700"](run, slice(lead, lead + 1))
            np.testing.assert_array_equal(got[:, 0], on_grid(field, 19, 36).astype(np.float32))


def test_two_level_units_are_one_set_of_levels() -> None:
    _, fields, _ = raw_fields(open_source(SAMPLES / "hpa_and_pa.grib"))
    levels = {f.level.value: f for f in fields if f.level is not None}
    assert sorted(levels) == [0.01, 0.1, 1.0]
    assert {f.level.units for f in levels.values() if f.level} == {"hPa"}
    assert np.isnan(levels[0.01].read(0)).all()
    assert levels[0.01].read(0).size == 2664
    expected = messages("hpa_and_pa.grib")[0][1].reshape(37, 72).astype(np.float32)
    np.testing.assert_array_equal(levels[1.0].read(0)[0], expected)


def test_missing_values_of_a_bitmap() -> None:
    source = read("fields_with_missing.grib")
    assert source.kind == "analyses"
    values = source.variables["2m_temperature"](0)
    assert values.shape == (91 * 180, 2)
    assert np.isnan(values).sum() == 21_699
    np.testing.assert_array_equal(
        values[:, 1], on_grid(messages("fields_with_missing.grib")[1][1], 91, 180).astype("f4")
    )


def test_the_mean_and_the_instantaneous_field_of_one_name_stay_apart() -> None:
    axes, fields, _ = raw_fields(open_source(SAMPLES / "gfs_cfrzr_cprat.grib"))
    assert axes.kind == "forecast"
    assert axes.lead_hours.tolist() == [5]
    assert sorted((f.name, f.step_type) for f in fields) == [
        ("cfrzr", "avg"), ("cfrzr", "instant"), ("cpr", "avg"), ("cpr", "instant"),
    ]  # fmt: skip
    mean = next(f for f in fields if (f.name, f.step_type) == ("cpr", "avg"))
    assert mean.windows is not None
    assert mean.windows.tolist() == [[0.0, 5.0]]
    row, values = messages("gfs_cfrzr_cprat.grib")[1]
    assert row["stepRange"] == "0-5"
    np.testing.assert_array_equal(mean.read(0)[0].ravel(), values.astype(np.float32))


def test_hrrr_keeps_both_accumulations_on_its_own_cells() -> None:
    axes, fields, _ = raw_fields(open_source(SAMPLES / "hrrr_subset.grib2"))
    assert axes.lead_hours.tolist() == [12]
    assert [f.windows.tolist() for f in fields if f.windows is not None] == [[[0, 12]], [[11, 12]]]
    whole, hour = fields
    assert whole.horizontal.shape == (1059, 1799)
    assert whole.horizontal.kind == "curvilinear"
    assert np.nanmax(whole.read(0)) == pytest.approx(135.36, abs=0.005)
    assert (whole.read(0) >= hour.read(0) - 0.01).all()
    # The corners that NCEP documents for the grid of HRRR.
    corner = whole.horizontal.latitude[0, 0], whole.horizontal.longitude[0, 0] - 360.0
    assert corner == pytest.approx((21.138123, -122.719528), abs=1e-4)
    assert whole.horizontal.attrs["GRIB_LoVInDegrees"] == pytest.approx(262.5)


def test_lambert_grid_with_impossible_units_is_a_question() -> None:
    source = read("lambert_grid.grib")
    assert source.lead_hours.tolist() == [18]
    assert [q.variable for q in source.questions] == ["nlwrs"]
    assert "--units nlwrs=" in source.questions[0].flag
    assert not source.variables


def test_reduced_gaussian_is_not_read_as_rows_and_columns() -> None:
    _, fields, _ = raw_fields(open_source(SAMPLES / "reduced_gaussian.grib"))
    places = fields[0].horizontal
    assert (places.kind, places.grid_type, places.shape) == ("points", "reduced_gg", (13280,))
    source = read("reduced_gaussian.grib")
    assert any("reduced" in str(note) for note in source.notes)
    # What is made of it keeps the mean of the globe (Gaussian rows weigh by the sine of edges).
    values = source.variables["10m_u_component_of_wind"](0)[:, 0]
    got = (values * source.grid.cell_area).sum() / source.grid.cell_area.sum()
    rows = {}
    for lat, value in zip(places.latitude, fields[0].read(0)[0], strict=True):
        rows.setdefault(round(float(lat), 6), []).append(float(value))
    lats = np.array(sorted(rows))
    edges = np.concatenate([[-90.0], 0.5 * (lats[1:] + lats[:-1]), [90.0]])
    weights = np.diff(np.sin(np.deg2rad(edges)))
    expected = sum(w * np.mean(rows[lat]) for w, lat in zip(weights, lats, strict=True)) / 2.0
    assert got == pytest.approx(expected, rel=1e-4)


def test_potential_vorticity_on_a_theta_level_with_ascending_latitudes() -> None:
    source = read("tigge_ukmo_pt.grib2")
    assert len(source.members) == 24
    assert source.members[:3] == ("control", "1", "2")
    (_, fields, _) = raw_fields(open_source(SAMPLES / "tigge_ukmo_pt.grib2"))
    (field,) = fields
    assert field.level is not None
    assert (field.level.kind, field.level.value, field.level.units) == ("isentropic", 320.0, "K")
    rows = messages("tigge_ukmo_pt.grib2")
    for index in (0, 5, 23):
        expected = rows[index][1].reshape(216, 288).astype(np.float32)
        np.testing.assert_array_equal(field.read(0)[index, 0], expected)
    assert source.grid.latitude[0] == pytest.approx(-89.583333, abs=1e-4)
    assert source.grid.longitude[0] == pytest.approx(-179.375)


def test_packed_zarr_of_two_levels_in_millibars() -> None:
    zarr = pytest.importorskip("zarr")
    source = read("earthkit_test.zarr")
    assert source.format == "zarr2"
    assert source.kind == "analyses"
    assert str(source.times[0]) == "2007-01-01T12:00:00"
    group = zarr.open_group(SAMPLES / "earthkit_test.zarr", mode="r")
    assert group["level"][:].tolist() == [500, 850]
    raw, attrs = group["t"][0, 1], group["t"].attrs
    expected = raw.astype(np.float64) * attrs["scale_factor"] + attrs["add_offset"]
    got = source.variables["temperature_850"](0)[:, 0]
    np.testing.assert_allclose(got, on_grid(expected, 181, 360), atol=2e-4)


def test_unmasked_default_fill_values_are_no_temperature() -> None:
    source = read("example_1.nc")
    assert source.format == "netcdf3"
    assert str(source.times[0]) == "1996-01-01T12:00:00"
    with netCDF4.Dataset(SAMPLES / "example_1.nc") as file:
        file.set_auto_mask(False)
        assert (file["temp"][:] > 9e36).all()
    assert np.isnan(source.variables["temperature_500"](0)).all()
    assert any("missing" in str(note) for note in source.notes)


def test_lambert_file_with_celsius_and_monthly_bounds() -> None:
    source = read("lcc.nc")
    assert source.kind == "analyses"
    assert len(source.times) == 12
    values = source.variables["2m_temperature"](0)
    with netCDF4.Dataset(SAMPLES / "lcc.nc") as file:
        raw = np.ma.filled(file["tas"][:], np.nan)
    assert np.isnan(values).sum() == np.isnan(raw).sum() == 5_040
    np.testing.assert_allclose(
        np.sort(values[np.isfinite(values)]), np.sort(raw[np.isfinite(raw)] + 273.15), atol=1e-4
    )
    _, (field,), _ = raw_fields(open_source(SAMPLES / "lcc.nc"))
    assert field.step_type == "avg"
    assert field.windows is not None
    # The file's own bounds: days 0 to 30 around day 15.
    assert field.windows[0].tolist() == [-360.0, 360.0]


def test_no_leap_calendar_is_a_question_until_it_is_answered() -> None:
    source = read("canesm2_noleap.nc")
    assert [q.flag for q in source.questions] == ["--calendar standard"]
    source = read("canesm2_noleap.nc", calendar="standard")
    assert not source.questions
    assert [str(source.times[i])[:7] for i in (0, 2, 11)] == ["2006-12", "2007-02", "2007-11"]
    assert source.grid.shape == (64, 128)
    values = source.variables["2m_temperature"](0)
    assert values.min() == pytest.approx(201.25, abs=0.01)
    assert values.max() == pytest.approx(316.48, abs=0.01)
    with netCDF4.Dataset(SAMPLES / "canesm2_noleap.nc") as file:
        raw = np.asarray(file["tas"][3])
        lat = np.asarray(file["lat"][:])
    assert lat[0] < 0 < lat[-1]
    np.testing.assert_array_equal(values[:, 3], on_grid(raw, 64, 128, flip=False))


def test_stations_are_stations() -> None:
    source = read("era5_cancities.nc", precipitation="window")
    assert source.kind == "stations"
    assert len(source.times) == 1461
    assert str(source.times[-1])[:10] == "1993-12-31"
    with netCDF4.Dataset(SAMPLES / "era5_cancities.nc") as file:
        raw = np.asarray(file["tas"][:])
    np.testing.assert_array_equal(source.variables["2m_temperature"](0), raw)
    _, fields, _ = raw_fields(open_source(SAMPLES / "era5_cancities.nc"))
    assert fields[0].horizontal.labels[:2] == ("Halifax", "Montréal")


@pytest.mark.parametrize("name", ["dynamical_noaa_gfs_forecast", "dynamical_ifs_ens"])
def test_metadata_without_a_store_is_told_apart(name: str) -> None:
    with pytest.raises(UnsuitableData, match="metadata of a Zarr store without its data"):
        open_source(SAMPLES / f"{name}.zarr.json")
