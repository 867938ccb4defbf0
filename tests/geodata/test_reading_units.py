from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zephyrus_geodata.errors import UnsuitableData
from zephyrus_geodata.reading.units import Conversion, conversion, parse, same

# Spelling, target and what one unit is of it, worked out by hand.
KNOWN = [
    ("K", "K", 1, 0),
    ("degC", "K", 1, 273.15),
    ("celsius", "K", 1, 273.15),
    ("Celsius", "K", 1, 273.15),
    ("degree_Celsius", "K", 1, 273.15),
    ("degrees C", "K", 1, 273.15),
    ("°C", "K", 1, 273.15),
    ("C", "K", 1, 273.15),
    ("degF", "K", Fraction(5, 9), 459.67 * 5 / 9),
    ("Pa", "Pa", 1, 0),
    ("hPa", "Pa", 100, 0),
    ("millibars", "Pa", 100, 0),
    ("mb", "Pa", 100, 0),
    ("inHg", "Pa", 3386.389, 0),
    ("m s**-1", "m s-1", 1, 0),
    ("m/s", "m s-1", 1, 0),
    ("m s^-1", "m s-1", 1, 0),
    ("m.s-1", "m s-1", 1, 0),
    ("meter/second", "m s-1", 1, 0),
    ("metres per second", "m s-1", 1, 0),
    ("knots", "m s-1", Fraction(1852, 3600), 0),
    ("kt", "m s-1", Fraction(1852, 3600), 0),
    ("km/h", "m s-1", Fraction(10, 36), 0),
    ("km h-1", "m s-1", Fraction(10, 36), 0),
    ("mph", "m s-1", 0.44704, 0),
    ("%", "1", Fraction(1, 100), 0),
    ("percent", "1", Fraction(1, 100), 0),
    ("(0 - 1)", "1", 1, 0),
    ("1", "1", 1, 0),
    ("Fraction", "1", 1, 0),
    ("okta", "1", Fraction(1, 8), 0),
    ("m**2 s**-2", "m2 s-2", 1, 0),
    ("m^2/s^2", "m2 s-2", 1, 0),
    ("J kg-1", "m2 s-2", 1, 0),
    ("gpm", "m2 s-2", 9.80665, 0),
    ("m", "m2 s-2", 9.80665, 0),
    ("dam", "m2 s-2", 98.0665, 0),
    ("kg kg**-1", "kg kg-1", 1, 0),
    ("g/kg", "kg kg-1", Fraction(1, 1000), 0),
    ("g kg-1", "kg kg-1", Fraction(1, 1000), 0),
    ("mm", "m", Fraction(1, 1000), 0),
    ("cm", "m", Fraction(1, 100), 0),
    ("inches", "m", 0.0254, 0),
    ("m of water equivalent", "m", 1, 0),
    ("1e-3 m", "m", Fraction(1, 1000), 0),
    ("10**-6 K m2 kg-1 s-1", "K m2 kg-1 s-1", 1e-6, 0),
    ("PVU", "K m2 kg-1 s-1", 1e-6, 0),
    ("K m**2 kg**-1 s**-1", "K m2 kg-1 s-1", 1, 0),
    ("W m**-2", "W m-2", 1, 0),
    ("Pa s**-1", "Pa s-1", 1, 0),
    ("hPa h-1", "Pa s-1", Fraction(1, 36), 0),
]


@pytest.mark.parametrize(("text", "to", "factor", "offset"), KNOWN)
def test_known_units(text, to, factor, offset):
    found = conversion(text, to)
    assert found is not None
    assert found.factor == pytest.approx(float(factor), rel=1e-12)
    assert found.offset == pytest.approx(float(offset), abs=1e-9)


@pytest.mark.parametrize(
    ("text", "to", "factor"),
    [
        ("kg m-2", "m", 1e-3),
        ("kg m**-2", "m", 1e-3),
        ("mm", "m", 1e-3),
        ("kg m-2 s-1", "m s-1", 1e-3),
        ("kg m**-2 s**-1", "m s-1", 1e-3),
        ("mm/h", "m s-1", 1e-3 / 3600),
        ("mm day-1", "m s-1", 1e-3 / 86400),
        ("kg.m-2.s-1", "m s-1", 1e-3),
        ("m s-1", "kg m-2 s-1", 1e3),
    ],
)
def test_water_has_a_depth(text, to, factor):
    found = conversion(text, to, water=True)
    assert found is not None
    assert found.factor == pytest.approx(factor, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "to"),
    [
        ("kg m-2", "m"),  # of snow, say
        ("K", "Pa"),
        ("m s-1", "Pa s-1"),
        ("J m**-2", "W m-2"),
        ("m2 s-2", "m"),
        ("%", "K"),
        ("m", "m s-1"),
    ],
)
def test_other_quantities_are_not_converted(text, to):
    assert conversion(text, to) is None


@pytest.mark.parametrize(
    "text", ["furlong", "code table (4.222)", "kg m--2", "degrees", "?", "km9999", "0 m", "1e999 m"]
)
def test_what_is_no_unit_is_refused(text):
    with pytest.raises(UnsuitableData, match="is not known"):
        parse(text)


def test_same():
    assert same("m s**-1", "m s-1")
    assert same("meter/second", "m s-1")
    assert same("(0 - 1)", "1")
    assert not same("gpm", "m2 s-2")
    assert not same("degC", "K")
    assert not same("nonsense", "K")


@given(st.sampled_from(KNOWN), st.floats(-1e4, 1e4))
def test_there_and_back_is_the_same(known, number):
    text, to, _, _ = known
    there = conversion(text, to)
    assert there is not None
    si = there(np.array([number]))
    back = Conversion(1 / there.factor, -there.offset / there.factor)(si)
    np.testing.assert_allclose(back, [number], rtol=1e-9, atol=1e-9)


@given(st.floats(-100, 100))
def test_the_scales_of_temperature_agree(celsius):
    fahrenheit = celsius * 9 / 5 + 32
    from_c = conversion("degC", "K")(np.array([celsius]))
    from_f = conversion("degF", "K")(np.array([fahrenheit]))
    np.testing.assert_allclose(from_c, from_f, atol=1e-9)


def test_the_dtype_stays_and_nothing_is_copied_for_nothing():
    values = np.array([1.0, 2.0], dtype=np.float32)
    assert conversion("K", "K")(values) is values
    assert conversion("hPa", "Pa")(values).dtype == np.float32


@given(
    st.one_of(
        st.text(max_size=10),
        st.lists(
            st.sampled_from(
                ["m", "s", "kg", "-1", "**", "^", "/", " ", "2", "hPa", "%", "(", "*", "."]
            )
        ).map("".join),
    )
)
def test_any_text_is_a_unit_or_refused(text):
    try:
        unit = parse(text)
    except UnsuitableData as error:
        assert "is not known" in str(error)
    else:
        assert np.isfinite(unit.factor)
