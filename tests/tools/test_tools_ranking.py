"""Which rows a ranking shows, and statistics over steps, against plain Python."""

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zephyrus_tools import ranking
from zephyrus_tools.places import Places
from zephyrus_tools.reduce import over_steps, step_of_extreme

few = st.sampled_from([-2.0, -0.0, 0.0, 1.0, 1.5, math.inf, math.nan])
numbers = st.one_of(few, st.floats(-1e3, 1e3))


@given(st.lists(numbers, min_size=1, max_size=50), st.integers(1, 60), st.booleans())
def test_a_ranking_is_a_stable_sort_without_nan(analytic, values, limit, highest):
    features = analytic.features.of_kind("city")[: len(values)]
    order = "highest" if highest else "lowest"
    made = ranking.table(
        analytic, "title", Places("each city", features), np.array(values), order, limit, str
    )
    there = [i for i, x in enumerate(values) if not math.isnan(x)]
    expected = sorted(there, key=lambda i: (-1.0 if highest else 1.0) * values[i])[:limit]
    rows = re.findall(r"^\d+\. (.*): (\d+)$", made, re.MULTILINE)
    assert rows == [(features[i].name, str(i)) for i in expected]
    assert f"({len(expected)} of {len(there)} shown" in made
    assert ("No data for" in made) == (len(there) < len(values))


tables = st.integers(1, 8).flatmap(
    lambda n: st.lists(st.lists(numbers, min_size=n, max_size=n), min_size=1, max_size=5)
)


@given(tables)
def test_extremes_over_steps_pass_nan_over(rows):
    for stat, best in (("min", min), ("max", max)):
        found = over_steps(np.array(rows), stat)
        for row, x in zip(rows, found, strict=True):
            there = [value for value in row if not math.isnan(value)]
            assert math.isnan(x) if not there else x == best(there)
            if there:
                assert step_of_extreme(np.array(row), stat) == row.index(best(there))


@given(
    st.lists(st.lists(st.one_of(st.just(math.nan), st.floats(-1e3, 1e3)), min_size=3, max_size=3))
)
def test_means_over_steps_pass_nan_over(rows):
    found = over_steps(np.array(rows).reshape(-1, 3), "mean")
    for row, x in zip(rows, found, strict=True):
        there = [value for value in row if not math.isnan(value)]
        expected = math.fsum(there) / len(there) if there else math.nan
        assert x == pytest.approx(expected, nan_ok=True, rel=1e-12, abs=1e-9)
