import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zephyrus_geodata.errors import StoreError
from zephyrus_geodata.grid import Grid
from zephyrus_geodata.store.select import Selection

INITS = np.array(
    ["2019-12-31T12", "2020-01-01T00", "2020-01-01T12", "2020-01-02T00", "2020-02-29T06"],
    dtype="datetime64[s]",
)
HOURS = np.array([0, 1, 3, 6, 9, 12, 18, 24, 30, 36, 48])


def select(text: str) -> Selection:
    return Selection.parse([text])


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([], {}),
        (["init=2020-01-01"], {"init": "2020-01-01"}),
        (
            ["init=2020-01-01,2020-01-02, lead = 0..24/6 ,bbox=-10,35,30,60", "variables=a,b"],
            {
                "init": "2020-01-01,2020-01-02",
                "lead": "0..24/6",
                "bbox": "-10,35,30,60",
                "variables": "a,b",
            },
        ),
    ],
)
def test_parse(texts: list[str], expected: dict[str, str]) -> None:
    assert Selection.parse(texts).given == expected
    assert Selection.parse([str(Selection.parse(texts))] if expected else []).given == expected


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["2020"], r"--select '2020': begin with one of init=, lead=,"),
        (["x,init=2020"], "begin with one of"),
        (["when=2020"], "--select when=: there are init, lead"),
        (["init="], "--select init= has no value"),
        (["init=2020", "init=2021"], "--select init= is given twice"),
    ],
)
def test_parse_refuses(texts: list[str], message: str) -> None:
    with pytest.raises(StoreError, match=message):
        Selection.parse(texts)


@pytest.mark.parametrize(
    ("text", "indices"),
    [
        ("2020", [1, 2, 3, 4]),
        ("2020-01", [1, 2, 3]),
        ("2020-01-01", [1, 2]),
        ("2020-01-01T12", [2]),
        ("2020-01-01T12Z", [2]),
        ("2020-01-01 00:00", [1]),
        ("2020-01-01..2020-01-02", [1, 2, 3]),
        ("2019-12-31..2020-01-01T00", [0, 1]),
        ("2020-01-02..", [3, 4]),
        ("..2019", [0]),
        ("latest", [4]),
        ("2020-01-01T12,2019,latest", [0, 2, 4]),
    ],
)
def test_initial_times(text: str, indices: list[int]) -> None:
    assert select(f"init={text}").moments("init", INITS).tolist() == indices


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2021", r"init=2021 takes nothing: the source has 5 from 2019-12-31T12:00 to 2020-02-29"),
        ("2020-01-01,1999", "init=1999 takes nothing"),
        ("2020-02-30", "there is no such time"),
        ("2020-13", "there is no such time"),
        ("0000", "there is no such time"),
        ("yesterday", "give a UTC time such as 2020-01-01"),
        ("2020-1-1", "give a UTC time"),
        ("2020-01-02..2020-01-01", "takes nothing"),
    ],
)
def test_initial_times_that_are_not_there(text: str, message: str) -> None:
    with pytest.raises(StoreError, match=message):
        select(f"init={text}").moments("init", INITS)
    assert Selection().moments("init", INITS).tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("24", [24]),
        ("24,0,3", [0, 3, 24]),
        ("6..24", [6, 9, 12, 18, 24]),
        ("0..48/12", [0, 12, 24, 36, 48]),
        ("6..48/12", [6, 18, 30]),
        ("..6", [0, 1, 3, 6]),
        ("30..", [30, 36, 48]),
        ("../24", [0, 24, 48]),
        ("1,12..24/6", [1, 12, 18, 24]),
        ("every:2", [0, 3, 9, 18, 30, 48]),
        ("every:1", HOURS.tolist()),
    ],
)
def test_lead_times(text: str, hours: list[int]) -> None:
    assert HOURS[select(f"lead={text}").leads(HOURS)].tolist() == hours


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2", "takes nothing: there are 0, 1, 3, 6"),
        ("6,2", "lead=2 takes nothing"),
        ("49..60", "takes nothing"),
        ("six", "give hours as 24"),
        ("-6", "give hours as 24"),
        ("6,,12", "give hours as 24"),
        ("every:0", "give at least 1"),
    ],
)
def test_lead_times_that_are_not_there(text: str, message: str) -> None:
    with pytest.raises(StoreError, match=message):
        select(f"lead={text}").leads(HOURS)


def test_names() -> None:
    there = ["2m_temperature", "temperature_500", "temperature_850", "total_cloud_cover"]
    chosen = select("variables=total_cloud_cover, temperature_*").names("variables", there)
    assert chosen == ["temperature_500", "temperature_850", "total_cloud_cover"]
    assert Selection().names("variables", there) == there
    with pytest.raises(StoreError, match="there is no 't2m'; there are 2m_temperature, temp"):
        select("variables=t2m").names("variables", there)
    with pytest.raises(StoreError, match="there are none"):
        select("members=1").names("members", [])


GRID = Grid(np.arange(-90.0, 91.0, 10.0), np.arange(-180.0, 180.0, 20.0))


@pytest.mark.parametrize(
    ("box", "lat", "lon"),
    [
        ("-20,-10,20,10", [-10, 0, 10], [-20, 0, 20]),
        ("-21,-19,21,11", [-10, 0, 10], [-20, 0, 20]),
        ("340,-10,20,10", [-10, 0, 10], [-20, 0, 20]),
        ("150,0,-130,10", [0, 10], [160, 180, 200, 220]),
        ("150,0,230,10", [0, 10], [160, 180, 200, 220]),
        ("160,0,180,10", [0, 10], [160, 180]),
        ("180,0,-160,10", [0, 10], [-180, -160]),
        ("-180,80,180,90", [80, 90], list(range(-180, 180, 20))),
        ("0,80,360,90", [80, 90], list(range(-180, 180, 20))),
        ("0,60,20,85", [60, 70, 80, 90], [0, 20]),  # the row at the pole keeps its half cell
        ("100,0,60,10", [0, 10], [*range(100, 180, 20), *range(180, 421, 20)]),
    ],
)
def test_boxes(box: str, lat: list[float], lon: list[float]) -> None:
    grid, cells = select(f"bbox={box}").cells(GRID)
    assert grid.latitude.tolist() == lat
    assert grid.longitude.tolist() == lon
    assert -180 <= grid.longitude[0] < 180
    assert cells is not None
    # Each cell is the one that lay there before, with the same area.
    for new, old in enumerate(cells.tolist()):
        row, column = divmod(new, len(lon))
        assert old == GRID.nearest(lat[row], lon[column])
    if box != "100,0,60,10":
        np.testing.assert_allclose(grid.cell_area, GRID.cell_area[cells], rtol=1e-12)


def test_the_whole_earth_is_left_as_it_is() -> None:
    for text in ("-180,-90,180,90", "0,-90,360,90"):
        grid, cells = select(f"bbox={text}").cells(GRID)
        assert grid is GRID
        assert cells is None
    grid, cells = Selection().cells(GRID)
    assert grid is GRID and cells is None


@pytest.mark.parametrize(
    ("box", "message"),
    [
        ("1,2,3", "give west,south,east,north in degrees"),
        ("a,b,c,d", "give west,south,east,north"),
        ("0,10,20,-10", "the south must be below the north"),
        ("0,-100,20,10", "within -90 and 90"),
        ("0,nan,20,10", "within -90 and 90"),
        ("5,0,5,10", "the west another than the east"),
        ("inf,0,5,10", "must be"),
        ("1,1,2,2", r"holds too few cells of the grid \(0 x 0\): make it larger"),
        ("-1,-10,1,10", r"too few cells of the grid \(3 x 1\)"),
    ],
)
def test_boxes_that_are_none(box: str, message: str) -> None:
    with pytest.raises(StoreError, match=message):
        select(f"bbox={box}").cells(GRID)


@given(
    west=st.integers(-360, 360),
    width=st.integers(41, 359),
    south=st.integers(-90, 60),
    height=st.integers(21, 80),
)
def test_a_box_takes_the_cells_with_centres_inside(
    west: int, width: int, south: int, height: int
) -> None:
    north = min(90, south + height)
    grid, cells = select(f"bbox={west},{south},{west + width},{north}").cells(GRID)
    inside = {
        (lat, lon)
        for lat, lon in itertools.product(range(-90, 91, 10), range(-180, 180, 20))
        if south <= lat <= north and (lon - west) % 360 <= width
    }
    taken = {
        (int(lat), int((lon + 180) % 360 - 180))
        for lat, lon in itertools.product(grid.latitude, grid.longitude)
    }
    extra = {lat for lat, _ in taken - inside}
    assert inside <= taken
    assert extra <= {-90, 90}  # a pole row that came along with its neighbour
    assert cells is None or cells.size == len(taken) == grid.size
