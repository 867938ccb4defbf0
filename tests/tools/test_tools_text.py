import math
from datetime import datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zephyrus import ToolError
from zephyrus_geodata import Forecast, variable
from zephyrus_tools import text


@pytest.mark.parametrize(
    ("x", "written"),
    [
        (24.3149, "24.31"),
        (-3.14159, "-3.142"),
        (0.0123456, "0.01235"),
        (0.5, "0.5000"),
        (123.456, "123.46"),
        (1013.256, "1013.3"),
        (-5512.34, "-5512.3"),
        (0.0, "0.00"),
        (-0.0, "0.00"),
        (-1e-9, "0.000000"),
        (0.00000123, "0.000001"),
        (0.1, "0.1000"),
        (0.99999, "1.0000"),
        (1.0, "1.000"),
        (9.9994, "9.999"),
        (10.0, "10.00"),
        (-999.994, "-999.99"),
        (1000.0, "1000.0"),
    ],
)
def test_number(x, written):
    assert text.number(x) == written


@given(st.floats(-1e6, 1e6).filter(lambda x: abs(x) > 1e-3))
def test_number_keeps_four_digits_and_two_decimals(x):
    written = text.number(x)
    assert abs(float(written) - x) <= max(0.0005 * abs(x), 0.0) * 1.0001
    assert abs(x) >= 999.9 or len(written.split(".")[1]) >= 2
    assert not written.startswith("-0.0") or float(written) < 0.0


def test_value_is_in_display_units():
    assert text.value(300.0, variable("2m_temperature")) == "26.85 °C"
    assert text.value(0.0123, variable("total_precipitation_6hr")) == "12.30 mm"
    assert text.value(101_325.0, variable("mean_sea_level_pressure")) == "1013.2 hPa"
    assert text.value(9.80665 * 5500.0, variable("geopotential_500")) == "5500.0 gpm"


def test_a_difference_is_scaled_but_not_offset():
    assert text.value(2.5, variable("2m_temperature"), difference=True) == "2.500 °C"
    assert text.value(250.0, variable("mean_sea_level_pressure"), difference=True) == "2.500 hPa"


def test_missing_values_are_said():
    assert text.value(math.nan, variable("2m_temperature")) == "no data"


@pytest.mark.parametrize(
    ("share", "written"),
    [(0.0, "0.00 %"), (1.0, "100.00 %"), (0.3721, "37.21 %"), (math.nan, "no data")],
)
def test_a_share_is_in_per_cent(share, written):
    assert text.percent(share) == written


@given(
    st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)),
    st.lists(st.integers(0, 2000), min_size=1, max_size=50, unique=True).map(sorted),
)
def test_every_step_is_written_with_its_valid_time(analytic, start, hours):
    start = start.replace(second=0, microsecond=0)
    made = Forecast("any", "a", np.datetime64(start), np.array(hours), analytic.grid, {})
    for i, hour in enumerate(hours):
        valid = start + timedelta(hours=hour)
        assert text.at(made, i) == f"{hour} h (valid {valid:%Y-%m-%d %H:%M} UTC)"
        minutes = f":{valid:%M}" if valid.minute else ""
        assert text.steps(made)[i] == f"{hour} h ({valid:%m-%d %H}{minutes} UTC)"


def test_times(forecast):
    assert text.at(forecast, 21) == "132 h (valid 2001-01-10 12:00 UTC)"
    assert text.short_instant(np.datetime64("1959-01-07T12:00")) == "01-07 12 UTC"
    assert text.short_instant(np.datetime64("1959-01-07T12:30")) == "01-07 12:30 UTC"


def test_coordinates():
    assert text.latitude(-1.3) == "1.30°S"
    assert text.longitude(190.0) == "170.00°W"
    assert text.longitude(36.8, 1) == "36.8°E"


def test_names_with_commas_are_parted_by_semicolons():
    assert text.names(["Kenya", "Chad"]) == "Kenya, Chad"
    assert text.names(["Birmingham, United Kingdom", "York"]) == "Birmingham, United Kingdom; York"
    assert text.few(list("abcdefg")) == "a, b, c, d, e and 2 more"


@pytest.mark.parametrize("limit", [0, -3, 61])
def test_a_limit_out_of_range_is_refused(limit):
    with pytest.raises(ToolError, match=f"1 to 60, not {limit}"):
        text.rows(limit, 10)
