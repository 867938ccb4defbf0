"""The tool `map` over an ensemble: one member, the spread, a probability, the mean."""

import io
import json
import re

import numpy as np
import pytest
from PIL import Image

import zephyrus
from zephyrus.env import compact_schema
from zephyrus.registry import get
from zephyrus_geodata import Dataset, Forecast, variable
from zephyrus_geodata.cells import CellGrid
from zephyrus_geodata.testing import analytic_dataset
from zephyrus_tools import frame, regions
from zephyrus_tools.map import map_image
from zephyrus_tools.member_field import MemberField
from zephyrus_tools.member_map import member_map
from zephyrus_tools.members import Threshold

MEMBERS = ("control", "1", "2", "3", "4", "6")
T2M, MSLP = "2m_temperature", "mean_sea_level_pressure"
BOX = {"west": 20, "south": -20, "east": 50, "north": 20}


@pytest.fixture(scope="module")
def many():
    return analytic_dataset(members=MEMBERS)


@pytest.fixture(scope="module")
def forecast(many):
    return many.forecast("2001-01-05")


@pytest.fixture(scope="module")
def draw(many, forecast, inline):
    def run(tool=member_map, data=None, made=None, **asked):
        world = {Dataset: data or many, Forecast: made or forecast}
        asked = {"variable": T2M, "hour": 24} | asked
        return inline(zephyrus.Tool(tool.function, name="map"), json.dumps(asked), world)

    return run


def extremes(text):
    return [float(re.search(rf"{word}imum (\S+) ", text)[1]) for word in ("min", "max")]


def map_of(result, region):
    picture = np.asarray(Image.open(io.BytesIO(result.images[0].png)).convert("RGB"))
    return picture[frame.Layout.of(region).map_area]


def each(forecast, name=T2M):
    """(member, latitude, longitude) in the box at 24 h, SI."""
    lat, lon = forecast.grid.latitude, forecast.grid.longitude
    rows, columns = np.flatnonzero(np.abs(lat) < 20), np.flatnonzero((lon > 20) & (lon < 50))
    fields = [forecast.cells(name, m)[:, 3].reshape(forecast.grid.shape) for m in MEMBERS]
    return np.stack(fields).astype(float)[:, rows[:, None], columns]


def alone(many, forecast, member):
    """A dataset of one member, without members."""
    made = Forecast(
        "alone", "2001-01-05", forecast.init_time, forecast.lead_hours, forecast.grid,
        {n: lambda n=n: np.array(forecast.cells(n, member)) for n in (T2M, MSLP)},
        label=forecast.label,
    )  # fmt: skip
    return Dataset("alone", {"2001-01-05": lambda: made}, features=lambda: many.features), made


@pytest.mark.parametrize("name", [T2M, MSLP])
@pytest.mark.parametrize("member", ["3", "control", 6])
def test_a_member_is_drawn_as_a_forecast_of_its_own(draw, many, forecast, member, name):
    of_many = draw(member=member, variable=name, **BOX)
    assert of_many.error is None, of_many.text
    data, made = alone(many, forecast, str(member))
    single = draw(map_image, data, made, variable=name, **BOX)
    region = regions.box(20, -20, 50, 20)
    np.testing.assert_array_equal(map_of(of_many, region), map_of(single, region))
    assert of_many.text == single.text.replace("world),", f"world), member {member},")
    values = each(forecast, name)[MEMBERS.index(str(member))]
    shown = values - 273.15 if name == T2M else values / 100
    assert extremes(of_many.text) == pytest.approx([shown.min(), shown.max()], abs=0.06)


def test_members_differ(draw):
    pictures = {draw(member=member, **BOX).images[0].png for member in MEMBERS}
    assert len(pictures) == len(MEMBERS)


def test_the_spread_is_the_standard_deviation(draw, forecast):
    result = draw(member="spread", **BOX)
    spread = each(forecast).std(axis=0, ddof=1)
    assert extremes(result.text) == pytest.approx([spread.min(), spread.max()], abs=2e-3)
    assert "2 m temperature (analytic test world), spread of 6 members, box," in result.text
    assert " °C near " in result.text
    field = MemberField(forecast, variable(T2M), over="spread").field(
        3, regions.box(20, -20, 50, 20)
    )
    whole = np.stack([forecast.cells(T2M, m)[:, 3] for m in MEMBERS]).astype(float)
    expected = whole.std(axis=0, ddof=1).reshape(forecast.grid.shape)
    there = ~np.isnan(field)
    assert 8 * 6 < there.sum() < 200  # the box and a cell around it
    np.testing.assert_allclose(field[there], expected[there], rtol=1e-5)


def test_a_probability_is_the_share_of_the_members(draw, forecast):
    values = each(forecast)
    limit = round(float(np.median(values)) - 273.15, 1)
    share = 100 * (values > limit + 273.15).mean(axis=0)
    result = draw(above=limit, **BOX)
    assert extremes(result.text) == pytest.approx([share.min(), share.max()], abs=6e-3)
    assert f"probability of being above {limit:.2f}" in result.text
    assert share.max() > share.min()
    below = extremes(draw(below=limit, **BOX).text)
    assert below == pytest.approx([100 - share.max(), 100 - share.min()], abs=6e-3)


def test_the_mean_is_what_is_drawn_without_a_member(draw):
    plain = draw(map_image, **BOX)
    assert "mean field of 6 members" in plain.text
    for asked in ({}, {"member": "mean"}, {"member": None}, {"member": ""}):
        assert draw(**asked, **BOX) == plain


@pytest.mark.parametrize(
    "where", [{}, {"feature": "Fiji"}, {"feature": "Kenya"}, {"feature": "Paris"}]
)
def test_a_spread_has_no_holes(draw, forecast, where):
    result = draw(member="spread", variable=MSLP, **where)
    assert result.error is None
    grey = (np.asarray(Image.open(io.BytesIO(result.images[0].png)).convert("RGB")) == 200).all(-1)
    assert not grey.any()


def test_the_titles_say_what_is_taken(forecast):
    what = variable(T2M)
    limit = Threshold("above", 30.0)
    titles = [
        MemberField(forecast, what).title,
        MemberField(forecast, what, member="3").title,
        MemberField(forecast, what, over="spread").title,
        MemberField(forecast, what, over="probability", threshold=limit).title,
    ]
    assert titles == [
        "2 m temperature (°C)",
        "2 m temperature (°C), member 3",
        "2 m temperature (°C), spread of 6 members",
        "2 m temperature above 30.00 °C (% of 6 members)",
    ]
    assert MemberField(forecast, what).remark == "mean of 6 members"
    assert MemberField(forecast, what, member="3").remark == ""


def test_a_bent_grid_has_a_spread_too(inline):
    x = np.linspace(-5.0, 5.0, 30)
    lon, lat = np.meshgrid(8.0 + x, 48.0 + x)
    grid = CellGrid(lat + 0.1 * lon, lon)
    base = (280.0 + np.arange(grid.size) / 100)[:, None].astype(np.float32)
    made = Forecast(
        "bent", "a", np.datetime64("2020-01-01"), np.array([6]), grid,
        {T2M: lambda: np.stack([base, base + 3.0])}, members=("a", "b"),
    )  # fmt: skip
    world = {Dataset: Dataset("bent", {"a": lambda: made}), Forecast: made}
    tool = zephyrus.Tool(member_map.function, name="map")
    result = inline(tool, json.dumps({"variable": T2M, "hour": 6, "member": "spread"}), world)
    assert extremes(result.text) == pytest.approx([3 / 2**0.5] * 2, abs=2e-3)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"member": 5}, "no member '5'; give mean, spread, or one of the 6 members: control, 1,"),
        ({"member": "max"}, "no member 'max'"),
        ({"member": "probability"}, "give above or below, in °C"),
        ({"above": 1, "below": 2}, "either above or below"),
        ({"member": "3", "above": 2}, "leave member='3' out, or the threshold"),
        ({"hour": 25}, "nearest: 24 or 30"),
        ({"member": "spread", "feature": "Narnia"}, "no feature named 'Narnia'"),
        ({"variable": "humidity"}, "there is no variable 'humidity'"),
    ],
)
def test_a_wrong_call_is_refused_with_how_to_mend_it(draw, asked, words):
    result = draw(**asked)
    assert result.error == "tool_error"
    assert words in result.text


def test_a_single_forecast_has_no_members_to_draw(draw, many, forecast):
    data, made = alone(many, forecast, "1")
    refused = draw(member_map, data, made, member="spread")
    assert refused.error == "tool_error"
    assert "a single one without members" in refused.text
    unknown = draw(map_image, data, made, member="spread")
    assert unknown.error == "invalid_arguments"
    assert "map has no argument 'member'" in unknown.text


def test_it_is_offered_where_the_forecasts_have_members(many):
    plain = analytic_dataset()
    assert get("tools", "map") is map_image
    for name in ("bench", "report"):
        assert zephyrus.make(name, dataset=plain).tools["map"] is map_image
        assert zephyrus.make(name, dataset=many).tools["map"] is member_map
        assert "map" not in zephyrus.make(name, dataset=many, compact=True).tools
        compact = zephyrus.make(name, dataset=many, compact=True, tools=["map"])
        assert compact.tools["map"] is member_map
    assert "map" not in zephyrus.make("report", dataset=many, maps=False).tools


def test_a_map_tool_of_ones_own_stays(many):
    def mine(hour: int) -> str:
        """My map."""
        return str(hour)

    own = zephyrus.Tool(mine, name="map")
    assert zephyrus.make("bench", dataset=many, tools=[own]).tools["map"] is own


def test_its_schema_is_short():
    plain, more = (len(json.dumps(t.to_openai())) for t in (map_image, member_map))
    assert more - plain <= 130
    assert member_map.parameters["required"] == ["variable", "hour"]
    words = compact_schema(member_map.to_openai())["function"]["description"]
    assert {"member", "above", "below"} <= set(words.replace(",", "").replace(".", "").split())
