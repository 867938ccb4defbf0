"""Generated calls: no crash, no number without a unit, nothing clamped in silence.

More than 10,000 calls in all. An exception out of a tool fails the test by itself.
"""

import json
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from zephyrus.messages import ToolResult
from zephyrus.tools import Tool
from zephyrus_geodata import VARIABLES
from zephyrus_tools.climatology import climatology
from zephyrus_tools.dataset import dataset
from zephyrus_tools.features import features
from zephyrus_tools.map import map_image

pytestmark = pytest.mark.slow

VARIABLE_TEXTS = [*VARIABLES, "temperature", "wind", "MSLP", "z500", "humidity", ""]
FEATURES = ["Kenya", "Brazil", "usa", "Fiji", "Malta", "Sahara", "Lake Victoria", "Nairobi"]
FEATURES += ["Georgia", "Russia", "Arctic Ocean", "California", "world", "", "Narnia"]
FEATURES += ["the Sahara", "Washington", "null", "all"]
KINDS = ["country", "desert", "us_state", "lakes", "ocean", "Seas", "continent", "county", ""]
PARENTS = ["Africa", "Asia", "Kenya", "Europe", "United States", "Nairobi", "Congo", "world", ""]
TIMES = ["all", "series", "mean", "min", "max", "time_of_max", "time_of_min"]
STATISTICS = ["p5", "p10", "p25", "p50", "p75", "p90", "p95", "mean", "std"]
COMPARISONS = ["above", "below", "departure", "area_above", "area_below"]
OF_MONTH = st.sampled_from([None, *STATISTICS])
KINDS_OF_ERROR = (None, "tool_error", "invalid_arguments", "malformed_json")

ALLOWED = re.compile(
    "|".join(
        [
            r"valid \d{4}-\d\d-\d\d \d\d:\d\d UTC",
            r"\(\d\d-\d\d \d\d UTC\)",
            r"\b\d+ of \d+\b",  # rows, features, steps
            r"^\d+\. ",  # ranks
            r"\band \d+ more\b",
            r"\b\d+-\d+ h\b",
            r"\b(2|10) m (temperature|eastward|northward|wind)",
            r"\b(500|850) hPa",
            r"in the 6 h before",
            r"\b(mean|min|max|median) 6-h amount of",
            r"\bp(5|10|25|50|75|90|95)\b",
            r"\b\d+ features\.",
            r"\b[a-z_]+ \(\d+\)",  # kinds with their counts
            r"-?\d+(\.\d+)? (°C|m/s|hPa|mm|%|gpm|h)(?![\w/])",
            r"\d+\.\d+°[NSEW]?",
            r"'[^']*'",  # what was asked for
        ]
    ),
    re.MULTILINE,
)


def check(result: ToolResult) -> None:
    assert result.error in KINDS_OF_ERROR
    assert result.text
    assert len(result.text) < 6000
    assert not re.search(r"\b(nan|None|inf)\b", result.text), result.text
    if result.error:
        assert result.text.startswith("Error: ")
        assert len(result.text) > 30
        return
    bare = re.search(r"\d", ALLOWED.sub("", result.text))
    assert bare is None, ALLOWED.sub("", result.text)


def sometimes(strategy, none=2):
    """None more often than not, as in real calls."""
    return st.integers(0, none).flatmap(lambda i: st.none() if i else strategy)


def objects(required=None, **optional):
    """JSON objects in which any argument may be missing, null or out of range."""
    return st.fixed_dictionaries(required or {}, optional=optional).map(json.dumps)


hours = st.one_of(st.integers(1, 40).map(lambda i: 6 * i), st.integers(-12, 300))
degrees = st.one_of(st.floats(-90.0, 90.0), st.floats(-400.0, 400.0))
limits = st.one_of(st.integers(1, 60), st.integers(-2, 70))
names = st.one_of(st.sampled_from(FEATURES[:8]), st.sampled_from(FEATURES))

WHERE = {
    "feature": sometimes(names, 1),
    "kind": sometimes(st.sampled_from(KINDS)),
    "parent": sometimes(st.sampled_from(PARENTS), 4),
    "latitude": sometimes(degrees, 6),
    "longitude": sometimes(degrees, 6),
}
RANKING = {
    "order": sometimes(st.sampled_from(["highest", "lowest"]), 4),
    "limit": sometimes(limits, 4),
}

# Calls that make sense, so that most of them get as far as an answer.
SOMEWHERE = st.one_of(
    st.fixed_dictionaries({"feature": st.sampled_from([*FEATURES[:8], "Russia", "Fiji"])}),
    st.fixed_dictionaries({"feature": st.just("Georgia"), "kind": st.just("country")}),
    st.fixed_dictionaries({"kind": st.sampled_from(["desert", "ocean", "us_state", "continents"])}),
    st.fixed_dictionaries(
        {"kind": st.just("country"), "parent": st.sampled_from(["Africa", "Asia", "Europe"])}
    ),
    st.fixed_dictionaries(
        {"latitude": st.floats(-90.0, 90.0), "longitude": st.floats(-180.0, 180.0)}
    ),
)
LEAD_TIMES = st.integers(1, 40).map(lambda i: 6 * i)
SPACE = st.sampled_from([None, "mean", "min", "max", "median"])


def sensible(**more):
    """JSON objects with a variable, a place and further arguments that go together."""
    call = st.tuples(st.sampled_from(list(VARIABLES)), SOMEWHERE, st.fixed_dictionaries(more))
    return call.map(lambda parts: json.dumps({"variable": parts[0], **parts[1], **parts[2]}))


def fuzz(count):
    return settings(
        max_examples=count,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


def must_refuse(arguments: dict, forecast) -> bool:
    """Whether a number is out of its range, so that no answer may be given."""
    lead_times = set(forecast.lead_hours.tolist())
    times = [arguments.get(name) for name in ("hour", "start", "end")]
    latitude, longitude = arguments.get("latitude"), arguments.get("longitude")
    limit, month = arguments.get("limit"), arguments.get("month")
    return (
        any(t is not None and t not in lead_times for t in times)
        or (latitude is not None and not -90 <= latitude <= 90)
        or (longitude is not None and not -180 <= longitude <= 360)
        or (limit is not None and not 1 <= limit <= 60)
        or (month is not None and not 1 <= month <= 12)
    )


@fuzz(5500)
@given(
    call=st.one_of(
        sensible(statistic=SPACE, hour=LEAD_TIMES),
        sensible(statistic=SPACE, start=LEAD_TIMES, end=st.just(240)),
        sensible(statistic=SPACE, time=st.sampled_from(TIMES), limit=st.integers(1, 60)),
        objects(
            {"variable": st.sampled_from(VARIABLE_TEXTS)},
            **WHERE,
            **RANKING,
            statistic=sometimes(st.sampled_from(["mean", "min", "max", "median", "avg"]), 1),
            time=sometimes(st.sampled_from(TIMES)),
            hour=sometimes(hours, 1),
            start=sometimes(hours, 3),
            end=sometimes(hours, 3),
        ),
    )
)
def test_dataset(inline, world, forecast, call):
    result = inline(dataset, call, world)
    check(result)
    arguments = json.loads(call)
    if must_refuse(arguments, forecast):
        assert result.error, result.text
    if result.error is None and arguments.get("kind") and not arguments.get("feature"):
        ranks = re.findall(r"^(\d+)\. ", result.text, re.MULTILINE)
        assert len(ranks) <= (arguments.get("limit") or 10)


@fuzz(4000)
@given(
    call=st.one_of(
        sensible(statistic=OF_MONTH, month=st.integers(1, 12)),
        sensible(statistic=OF_MONTH, hour=LEAD_TIMES, limit=st.integers(1, 60)),
        sensible(
            statistic=st.sampled_from(["p5", "p50", "p90", "mean"]),
            hour=LEAD_TIMES,
            compare=st.sampled_from(COMPARISONS),
        ),
        objects(
            {"variable": st.sampled_from(VARIABLE_TEXTS)},
            **WHERE,
            **RANKING,
            statistic=sometimes(st.sampled_from([*STATISTICS, "p99"]), 1),
            month=sometimes(st.one_of(st.integers(1, 12), st.integers(-1, 14)), 4),
            hour=sometimes(hours, 1),
            compare=sometimes(st.sampled_from(COMPARISONS), 1),
        ),
    )
)
def test_climatology(inline, world, forecast, call):
    result = inline(climatology, call, world)
    check(result)
    if must_refuse(json.loads(call), forecast):
        assert result.error, result.text


@fuzz(500)
@given(
    call=objects(
        query=sometimes(st.one_of(names, st.text(max_size=8)), 1),
        kind=sometimes(st.sampled_from(KINDS), 1),
        parent=sometimes(st.sampled_from(PARENTS)),
        limit=sometimes(limits),
    )
)
def test_features(inline, world, forecast, call):
    result = inline(features, call, world)
    assert result.error in KINDS_OF_ERROR
    assert result.text
    if must_refuse(json.loads(call), forecast):
        assert result.error, result.text


@fuzz(120)
@given(
    call=objects(
        {"variable": st.sampled_from(VARIABLE_TEXTS), "hour": hours},
        feature=sometimes(names, 1),
        kind=sometimes(st.sampled_from(KINDS), 4),
        **{edge: sometimes(degrees, 1) for edge in ("west", "south", "east", "north")},
    )
)
def test_map(inline, world, forecast, call):
    result = inline(Tool(map_image.function, name="map"), call, world)
    check(result)
    assert bool(result.images) == (result.error is None)
    if must_refuse(json.loads(call), forecast):
        assert result.error, result.text


@fuzz(1500)
@given(
    raw=st.one_of(
        st.text(max_size=40),
        st.dictionaries(
            st.sampled_from(["variable", "feature", "kind", "hour", "x", "limit", "statistic"]),
            st.one_of(
                st.none(),
                st.booleans(),
                st.integers(),
                st.floats(),
                st.text(max_size=6),
                st.lists(st.integers(), max_size=2),
            ),
            max_size=5,
        ).map(json.dumps),
        st.lists(st.integers()).map(json.dumps),
    ),
    tool=st.sampled_from([dataset, climatology]),
)
def test_arguments_of_any_kind(inline, world, raw, tool):
    result = inline(tool, raw, world)
    assert result.error in KINDS_OF_ERROR
    assert result.text


@pytest.mark.parametrize(
    "text", ["mean: 24.31", "Kenya: 3.1 K", "1. Kenya: nan °C", "12 countries"]
)
def test_the_check_can_fail(text):
    with pytest.raises(AssertionError):
        check(ToolResult(text + " (no unit)"))
