"""GRIB as archives write it: intervals, repeats, members, scanning, damage."""

import sys
from pathlib import Path

import numpy as np
import pytest

from zephyrus_geodata.errors import UnsuitableData
from zephyrus_geodata.reading.opened import open_source
from zephyrus_geodata.reading.understand import raw_fields, understand
from zephyrus_geodata.reading.understood import Answers, RawField

sys.path.insert(0, str(Path(__file__).parent))  # for the maker of messages

from grib_maker import FULL, accumulation, instant, message

eccodes = pytest.importorskip("eccodes")

GRID = np.arange(12.0).reshape(3, 4)


def fields(path: Path, *parts: bytes, **answers: object) -> list[RawField]:
    path.write_bytes(b"".join(parts))
    return raw_fields(open_source(path), Answers(**answers))[1]


def test_gfs_rain_since_the_start_and_in_the_window_are_two_fields(tmp_path: Path) -> None:
    # As GFS has them: the window starts anew every six hours; at 6 h the two are one and the same.
    ranges = [(0, 3), (0, 3), (0, 6), (0, 6), (6, 9), (0, 9), (6, 12), (0, 12)]
    parts = [message(accumulation("tp", *r), np.full(12, 100.0 * r[0] + r[1])) for r in ranges]
    whole, window = fields(tmp_path / "gfs.grib2", *parts)
    assert whole.windows is not None
    assert window.windows is not None
    assert whole.windows.tolist() == [[0, 3], [0, 6], [0, 9], [0, 12]]
    assert whole.present.all()
    assert whole.read(0)[:, 0, 0].tolist() == [3.0, 6.0, 9.0, 12.0]
    assert window.windows.tolist() == [[0, 3], [0, 6], [6, 9], [6, 12]]
    assert window.read(0)[:, 0, 0].tolist() == [3.0, 6.0, 609.0, 612.0]


def test_windows_one_after_another_are_one_field(tmp_path: Path) -> None:
    parts = [message(accumulation("tp", a, b), np.full(12, b)) for a, b in ((0, 3), (3, 6), (6, 9))]
    (rain,) = fields(tmp_path / "a.grib2", *parts)
    assert rain.windows is not None
    assert rain.windows.tolist() == [[0, 3], [3, 6], [6, 9]]
    assert rain.step_type == "accum"


def test_repeated_messages_are_taken_once_and_told(tmp_path: Path) -> None:
    one = message(instant("2t", 6), GRID)
    (tmp_path / "a.grib2").write_bytes(one + one)
    opened = open_source(tmp_path / "a.grib2")
    assert any("there twice" in note for note in opened.notes)
    assert len(opened.cubes) == 1


def test_a_run_that_is_not_complete_has_missing_times_and_says_so(tmp_path: Path) -> None:
    parts = [
        message(instant("2t", step, dataDate=20240100 + day), np.full(12, 100.0 * day + step))
        for day, steps in ((1, (0, 6, 12)), (2, (0, 6)))
        for step in steps
    ]
    (tmp_path / "a.grib2").write_bytes(b"".join(parts))
    axes, (got,), remarks = raw_fields(open_source(tmp_path / "a.grib2"))
    assert axes.lead_hours.tolist() == [0, 6, 12]
    assert got.read(0)[:, 0, 0].tolist() == [100.0, 106.0, 112.0]
    second = got.read(1)[:, 0, 0]
    assert second[:2].tolist() == [200.0, 206.0]
    assert np.isnan(second[2])
    assert any("1 of 6 fields" in str(note) for note in remarks.notes)


def test_members_and_their_control_and_the_single_run_beside_them(tmp_path: Path) -> None:
    def member(number: int, kind: int, value: float) -> bytes:
        keys = {
            "productDefinitionTemplateNumber": 1, "typeOfProcessedData": kind,
            "typeOfEnsembleForecast": 1 if kind == 3 else 3, "perturbationNumber": number,
            "numberOfForecastsInEnsemble": 3, **instant("2t", 6),
        }  # fmt: skip
        return message(keys, np.full(12, value))

    parts = [member(2, 4, 2.0), member(1, 4, 1.0), member(0, 3, 0.5)]
    single = message({**instant("2t", 6), "typeOfProcessedData": 1}, np.full(12, 9.0))
    (tmp_path / "a.grib2").write_bytes(b"".join(parts) + single)
    axes, (got,), remarks = raw_fields(open_source(tmp_path / "a.grib2"))
    assert axes.members == ("control", "1", "2")
    assert got.read(0)[:, 0, 0, 0].tolist() == [0.5, 1.0, 2.0]
    assert any("single run" in str(note) for note in remarks.notes)


def test_several_fields_in_one_message(tmp_path: Path) -> None:
    """NCEP puts u and v into one message."""
    wind = {"productDefinitionTemplateNumber": 0, "dataDate": 20240101, "step": 6}
    path = tmp_path / "a.grib2"
    multi = eccodes.codes_grib_multi_new()
    with path.open("wb") as file:
        for number, value in ((2, 3.0), (3, 4.0)):
            keys = {**wind, "parameterCategory": 2, "parameterNumber": number,
                    "typeOfFirstFixedSurface": 103, "scaledValueOfFirstFixedSurface": 10,
                    "scaleFactorOfFirstFixedSurface": 0}  # fmt: skip
            handle = eccodes.codes_new_from_message(message(keys, GRID + value))
            eccodes.codes_grib_multi_append(handle, 4, multi)
            eccodes.codes_release(handle)
        eccodes.codes_grib_multi_write(multi, file)
    eccodes.codes_grib_multi_release(multi)
    assert path.read_bytes().count(b"GRIB") == 1
    _, found, _ = raw_fields(open_source(path))
    values = {f.name: f.read(0)[0] for f in found}
    assert sorted(values) == ["10u", "10v"]
    np.testing.assert_allclose(values["10u"], GRID + 3.0, atol=1e-4)
    np.testing.assert_allclose(values["10v"], GRID + 4.0, atol=1e-4)


def test_a_bitmap_is_missing_and_its_number_may_be_a_value(tmp_path: Path) -> None:
    values = GRID.copy()
    values[0, 0], values[0, 1] = np.nan, 9999.0  # ecCodes' default for missing
    (got,) = fields(tmp_path / "a.grib2", message(instant("2t", 6), values))
    np.testing.assert_allclose(got.read(0)[0], values, atol=1e-3)


@pytest.mark.parametrize("columns", [0, 1])
@pytest.mark.parametrize("north", [0, 1])
def test_latitude_longitude_grids_in_any_scanning_order(
    tmp_path: Path, columns: int, north: int
) -> None:
    grid = dict(FULL, jScansPositively=north, jPointsAreConsecutive=columns)
    if north:
        first, last = "latitudeOfFirstGridPointInDegrees", "latitudeOfLastGridPointInDegrees"
        grid[first], grid[last] = grid[last], grid[first]
    rows = GRID[::-1] if north else GRID
    flat = rows.T.ravel() if columns else rows.ravel()
    (got,) = fields(tmp_path / "a.grib2", message(instant("2t", 6), flat, grid=grid))
    value = dict(zip(got.horizontal.latitude.tolist(), got.read(0)[0], strict=True))
    for lat, expected in zip((10.0, 0.0, -10.0), GRID, strict=True):
        np.testing.assert_allclose(value[lat], expected, atol=1e-4)


def test_rows_that_run_to_and_fro_are_turned(tmp_path: Path) -> None:
    rows = GRID.copy()
    rows[1] = rows[1, ::-1]
    grid = dict(FULL, alternativeRowScanning=1)
    (got,) = fields(tmp_path / "a.grib2", message(instant("2t", 6), rows.ravel(), grid=grid))
    np.testing.assert_allclose(got.read(0)[0], GRID, atol=1e-4)


def test_a_projected_grid_that_scans_southward_is_refused(tmp_path: Path) -> None:
    grid = {
        "gridType": "lambert", "Nx": 4, "Ny": 3, "latitudeOfFirstGridPointInDegrees": 40.0,
        "longitudeOfFirstGridPointInDegrees": 260.0, "LoVInDegrees": 262.5, "LaDInDegrees": 38.5,
        "Latin1InDegrees": 38.5, "Latin2InDegrees": 38.5, "DxInMetres": 3000, "DyInMetres": 3000,
    }  # fmt: skip
    north = message(instant("2t", 6), GRID, grid=dict(grid, jScansPositively=1))
    (got,) = fields(tmp_path / "a.grib2", north)
    assert got.horizontal.kind == "curvilinear"
    assert got.horizontal.latitude[2, 0] > got.horizontal.latitude[0, 0]
    south = message(instant("2t", 6), GRID, grid=dict(grid, jScansPositively=0))
    with pytest.raises(UnsuitableData, match="cdo invertlat"):
        fields(tmp_path / "b.grib2", south)


def test_two_grids_are_a_question_and_a_flag_takes_one(tmp_path: Path) -> None:
    small = dict(
        FULL, Ni=2, iDirectionIncrementInDegrees=180.0, longitudeOfLastGridPointInDegrees=180.0
    )
    (tmp_path / "a.grib2").write_bytes(
        message(instant("2t", 6), np.full(12, 280.0))
        + message(instant("10u", 6), np.full(6, 5.0), grid=small)
    )
    source = understand(open_source(tmp_path / "a.grib2"))
    (question,) = source.questions
    assert question.flag == "--grid NUMBER"
    assert "0 is 3 x 4 with 2t; 1 is 3 x 2 with 10u" in question.text
    source = understand(open_source(tmp_path / "a.grib2"), Answers(grid=1))
    assert not source.questions
    assert list(source.variables) == ["10m_u_component_of_wind"]
    assert source.left_out == {"2t": "lies on grid 0, and grid 1 was read"}
    with pytest.raises(UnsuitableData, match="There is no grid 2"):
        understand(open_source(tmp_path / "a.grib2"), Answers(grid=2))


def test_rain_of_gfs_is_right_whichever_series_is_chosen(tmp_path: Path) -> None:
    """1, 2, 4 and 7 mm since the start; the window starts anew at 6 h."""
    since = {3: 1.0, 6: 2.0, 9: 4.0, 12: 7.0}
    ranges = [(0, 3), (0, 3), (0, 6), (0, 6), (6, 9), (0, 9), (6, 12), (0, 12)]
    (tmp_path / "gfs.grib2").write_bytes(
        b"".join(
            message(
                {"centre": "kwbc", **accumulation("tp", start, end)},
                np.full(12, since[end] - since.get(start, 0.0)),
            )
            for start, end in ranges
        )
    )
    for choice in (None, "accumulated", "window"):
        source = understand(open_source(tmp_path / "gfs.grib2"), Answers(precipitation=choice))
        assert list(source.variables) == ["total_precipitation_3hr"]
        rain = source.variables["total_precipitation_3hr"](0)
        np.testing.assert_allclose(rain[0], [0.001, 0.001, 0.002, 0.003], rtol=1e-4)


def test_a_cut_file_and_a_heading_in_front(tmp_path: Path) -> None:
    first, second = message(instant("2t", 0), GRID), message(instant("2t", 6), GRID)
    (tmp_path / "cut.grib2").write_bytes(first + second[:-10])
    with pytest.raises(UnsuitableData, match=r"cut.grib2 .*not complete.* message 2"):
        open_source(tmp_path / "cut.grib2")
    (tmp_path / "bulletin").write_bytes(b"\x01\r\r\n001\r\r\nYTXX98 KWBC 010000\r\r\n" + first)
    assert open_source(tmp_path / "bulletin").format == "grib2"


def test_steps_between_the_hours_are_refused(tmp_path: Path) -> None:
    keys = {**instant("2t", 0), "indicatorOfUnitOfTimeRange": 0, "forecastTime": 15}
    with pytest.raises(UnsuitableData, match="15 min is not a whole hour"):
        fields(tmp_path / "a.grib2", message(keys, GRID))


def test_files_of_single_steps_are_one_forecast(tmp_path: Path) -> None:
    for step in (12, 0, 6):
        (tmp_path / f"f{step:03d}").write_bytes(message(instant("2t", step), np.full(12, step)))
    axes, (got,), _ = raw_fields(open_source(tmp_path))
    assert axes.lead_hours.tolist() == [0, 6, 12]
    assert got.read(0)[:, 2, 3].tolist() == [0.0, 6.0, 12.0]


def test_analyses_with_short_forecasts_are_put_at_valid_times_when_asked(tmp_path: Path) -> None:
    parts = [
        message(accumulation("tp", step - 1, step, dataTime=time), np.full(12, time / 100 + step))
        for time in (600, 1800)
        for step in (1, 2)
    ]
    (tmp_path / "a.grib2").write_bytes(b"".join(parts))
    axes, (got,), _ = raw_fields(open_source(tmp_path / "a.grib2"), Answers(kind="analyses"))
    assert axes.kind == "analyses"
    assert [str(t)[11:13] for t in axes.times] == ["07", "08", "19", "20"]
    assert got.read(0)[:, 0, 0].tolist() == [7.0, 8.0, 19.0, 20.0]
    assert got.windows is not None
    assert got.windows.tolist() == [[-1.0, 0.0]] * 4
