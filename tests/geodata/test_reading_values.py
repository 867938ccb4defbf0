"""Fields made by hand, of which it is known what they mean."""

import numpy as np
import pyproj
import pytest

from zephyrus_geodata.errors import UnsuitableData
from zephyrus_geodata.reading.understood import Answers, Axes, Horizontal, Level, RawField
from zephyrus_geodata.reading.values import interpret

LAT, LON = np.array([10.0, 20.0, 30.0]), np.array([0.0, 10.0, 20.0, 30.0])
PLACES = Horizontal("rectilinear", "regular_ll", ("latitude", "longitude"), LAT, LON)
STEPS = np.array([6, 12, 18], dtype=np.int64)
AT2, AT10 = Level("height", 2.0, "m"), Level("height", 10.0, "m")


def axes(kind="forecast", steps=STEPS, spacing=24):
    times = np.datetime64("2020-01-01", "s") + np.arange(len(steps)) * np.timedelta64(spacing, "h")
    forecast = kind == "forecast"
    return Axes(
        kind,
        np.array(["2020-01-01"], dtype="datetime64[s]")[: int(forecast)],
        np.asarray(steps, np.int64) if forecast else np.empty(0, np.int64),
        np.empty(0, "datetime64[s]") if forecast else times,
    )


def raw(
    name, values, *, units=None, level=None, step_type="", windows=None, places=PLACES, **attrs
):
    values = np.asarray(values, dtype=np.float32)
    if values.ndim < 3:
        values = np.broadcast_to(values.reshape(-1, 1, 1), (len(STEPS), *places.shape))
    if units is not None:
        attrs["units"] = units
    members = values.ndim == 4

    def read(init=0, span=slice(None)):
        return values[:, span] if members else values[span]

    return RawField(
        name,
        attrs,
        level,
        places,
        members,
        step_type,
        None if windows is None else np.asarray(windows, float),
        np.ones(values.shape[1 if members else 0], dtype=bool),
        read,
    )


def flags(meaning):
    return [question.flag for question in meaning.questions]


def test_units_are_converted_and_told():
    found = interpret(
        [
            raw("t2m", 15.0, units="degC", level=AT2),
            raw("msl", 1013.25, units="hPa"),
            raw("gh", 5500.0, units="gpm", level=Level("pressure", 500.0, "hPa")),
            raw("tcc", 40.0, units="%"),
            raw("t", 250.0, units="K", level=Level("pressure", 500.0, "hPa")),
        ],
        axes(),
    )
    assert not found.questions
    assert list(found.variables) == [
        "2m_temperature",
        "mean_sea_level_pressure",
        "total_cloud_cover",
        "geopotential_500",
        "temperature_500",
    ]
    for name, value in (
        ("2m_temperature", 288.15),
        ("mean_sea_level_pressure", 101_325.0),
        ("geopotential_500", 9.80665 * 5500.0),
        ("total_cloud_cover", 0.4),
        ("temperature_500", 250.0),
    ):
        field = found.variables[name](0, slice(1, 3))
        assert field.shape == (2, 3, 4)
        assert field.dtype == np.float32
        np.testing.assert_allclose(field, value, rtol=1e-6)
    assert "t2m: converted from degC to K" in map(str, found.notes)
    assert found.taken["2m_temperature"].units == "degC"


def test_units_that_cannot_be_are_asked_about_and_can_be_answered():
    field = raw("t2m", 15.0, units="K", level=AT2)
    found = interpret([field], axes())
    assert not found.variables
    (question,) = found.questions
    assert "from 15 to 15 K, and only 175 to 345 K are possible" in question.text
    assert "--units t2m=UNIT" in question.flag
    answered = interpret([field], axes(), Answers(units={"t2m": "degC"}))
    assert not answered.questions
    np.testing.assert_allclose(answered.variables["2m_temperature"](), 288.15)
    assert not interpret([field], axes(), Answers(names={"t2m": ""})).questions


def test_units_that_are_none_are_asked_about():
    found = interpret([raw("t2m", 288.0, units="furlong", level=AT2)], axes())
    assert flags(found) == ["--units t2m=UNIT"]


@pytest.mark.parametrize(
    ("name", "level", "value", "asked"),
    [
        ("t2m", AT2, 288.0, False),
        ("t2m", AT2, 15.0, True),
        ("u10", AT10, 10.0, True),  # m/s or knots
        ("msl", None, 101_325.0, False),
        ("msl", None, 1013.0, True),
        ("tp", None, 0.001, True),  # m or mm
        ("10m_u_component_of_wind", None, 10.0, False),  # our own name: WeatherBench 2's units
    ],
)
def test_without_units_only_numbers_that_tell_are_believed(name, level, value, asked):
    found = interpret([raw(name, value, level=level)], axes())
    assert bool(found.questions) == asked


def test_a_unit_of_another_quantity_leaves_the_field_out():
    found = interpret(
        [
            raw("w", 1.0, units="m s-1", level=Level("pressure", 500.0, "hPa")),
            raw("snow_depth", 0.1, units="m of water equivalent"),
            raw("sde", 10.0, units="kg m-2"),
        ],
        axes(),
    )
    assert not found.variables
    assert found.left_out["w"] == "it is in m s-1, which is no Pa s-1 (vertical_velocity_500)"
    assert "water in the snow" in found.left_out["snow_depth"]
    assert "which is no m" in found.left_out["sde"]


def test_undeclared_fills_are_missing():
    values = np.full((3, 3, 4), 288.0)
    values[:, 0, 0] = 9.96921e36
    values[:, 0, 1] = -9999.0
    values[:, 0, 2] = np.nan
    found = interpret([raw("t2m", values, units="K", level=AT2)], axes())
    assert not found.questions
    field = found.variables["2m_temperature"]()
    assert np.isnan(field[:, 0, :3]).all()
    assert np.isfinite(field).sum() == 27
    assert any("9.96921e+36 is never declared as missing" in str(n) for n in found.notes)


def test_a_code_that_is_not_customary_is_asked_about():
    values = np.full((3, 3, 4), 0.001)
    values[:, 0] = -5000.0
    field = raw("sde", values, units="m")
    found = interpret([field], axes())
    assert flags(found) == ["--missing sde=-5000"]
    answered = interpret([field], axes(), Answers(missing={"sde": -5000.0}))
    assert np.isnan(answered.variables["snow_depth"]()[:, 0]).all()


def test_a_code_within_what_is_possible_stays_a_number():
    # 999 hPa is a pressure, 9999 Pa is none.
    values = np.full((3, 3, 4), 1000.0)
    values[:, 0], values[:, 1] = 999.0, 9999.0
    field = interpret([raw("msl", values, units="hPa")], axes()).variables[
        "mean_sea_level_pressure"
    ]()
    np.testing.assert_allclose(field[:, 0], 99_900.0)
    assert np.isnan(field[:, 1]).all()


def test_a_code_that_might_be_a_number_is_asked_about():
    values = np.random.default_rng(1).normal(10.0, 5.0, (3, 3, 4))
    values[:, 0, :2] = -99.0
    level = Level("pressure", 250.0, "hPa")
    found = interpret([raw("u", values, units="m s-1", level=level)], axes())
    assert flags(found) == ["--missing u=-99 (or nan, if it is a value)"]
    field = raw("u", values, units="m s-1", level=level)
    for code, gone in ((-99.0, 6), (np.nan, 0)):
        reader = interpret([field], axes(), Answers(missing={"u": code})).variables
        assert np.isnan(reader["u_component_of_wind_250"]()).sum() == gone
    spread = np.linspace(-99.0, 60.0, 36).reshape(3, 3, 4)
    assert not interpret([raw("u", spread, units="m s-1", level=level)], axes()).questions


def test_a_wrong_number_after_the_sample_stops_the_reading():
    values = np.full((3, 3, 4), 288.0)
    values[2, 1, 1] = 20_000.0
    found = interpret([raw("t2m", values, units="K", level=AT2)], axes())
    assert not found.questions
    reader = found.variables["2m_temperature"]
    assert reader(0, slice(0, 2)).shape == (2, 3, 4)
    with pytest.raises(UnsuitableData, match=r"t2m: as 2m_temperature its values run from 288"):
        reader()


def test_precipitation_since_the_start():
    total = np.array([0.001, 0.003, 0.003])
    windows = [(0, 6), (0, 12), (0, 18)]
    found = interpret([raw("tp", total, units="m", step_type="accum", windows=windows)], axes())
    field = found.variables["total_precipitation_6hr"]()
    np.testing.assert_allclose(field[:, 0, 0], [0.001, 0.002, 0.0], atol=1e-9)
    np.testing.assert_array_equal(
        found.variables["total_precipitation_6hr"](0, slice(2, 3)), field[2:]
    )


def test_precipitation_of_members_in_kilograms():
    total = np.zeros((2, 3, 3, 4))
    total[0] += np.array([1.0, 3.0, 6.0])[:, None, None]
    total[1] += np.array([0.0, 0.0, 2.0])[:, None, None]
    windows = [(0, 6), (0, 12), (0, 18)]
    found = interpret([raw("tp", total, units="kg m**-2", windows=windows)], axes())
    field = found.variables["total_precipitation_6hr"]()
    assert field.shape == (2, 3, 3, 4)
    np.testing.assert_allclose(field[0, :, 0, 0], [0.001, 0.002, 0.003], atol=1e-9)
    np.testing.assert_allclose(field[1, :, 0, 0], [0.0, 0.0, 0.002], atol=1e-9)


def test_a_mean_rate_since_the_step_before_as_dynamical_gives_it():
    field = raw(
        "precipitation_surface",
        1.0 / 3600.0,
        units="kg m-2 s-1",
        step_type="avg",
        standard_name="precipitation_flux",
        comment="Average precipitation rate since the previous forecast step.",
    )
    found = interpret([field], axes(steps=[1, 3, 6]))
    np.testing.assert_allclose(
        found.variables["total_precipitation"]()[:, 0, 0], [0.001, 0.002, 0.003], rtol=1e-5
    )


def test_precipitation_that_does_not_say_its_time_is_asked_about():
    rng = np.random.default_rng(2)
    windows = rng.exponential(1e-3, (3, 3, 4))
    field = raw("tp", windows, units="m")
    found = interpret([field], axes())
    assert flags(found) == ["--precipitation accumulated|window|rate"]
    answered = interpret([field], axes(), Answers(precipitation="window"))
    np.testing.assert_allclose(answered.variables["total_precipitation_6hr"](), windows, rtol=1e-6)
    series = interpret([field], axes("analyses"))
    assert flags(series) == ["--precipitation accumulated|window|rate"]
    daily = interpret([field], axes("analyses"), Answers(precipitation="window"))
    assert list(daily.variables) == ["total_precipitation_24hr"]
    wrong = interpret([field], axes(), Answers(precipitation="accumulated"))
    assert not wrong.variables
    assert "mm comes out" in wrong.questions[0].text


def test_precipitation_that_nowhere_falls_is_the_amount_since_the_start():
    places = Horizontal(
        "rectilinear", "", ("y", "x"), np.linspace(-60, 60, 30), np.linspace(0, 90, 30)
    )
    rng = np.random.default_rng(2)
    windows = rng.exponential(1e-3, (3, 30, 30)) * (rng.random((3, 30, 30)) < 0.7)
    found = interpret([raw("tp", windows.cumsum(axis=0), units="m", places=places)], axes())
    assert not found.questions
    np.testing.assert_allclose(found.variables["total_precipitation_6hr"](), windows, atol=1e-7)
    assert any("nowhere falls" in str(note) for note in found.notes)


def test_rain_that_grows_everywhere_is_asked_about():
    """Amounts of each step that happen to rise look like a sum that never rests."""
    places = Horizontal(
        "rectilinear", "", ("y", "x"), np.linspace(-60, 60, 30), np.linspace(0, 90, 30)
    )
    windows = np.array([1.0, 2.0, 3.0])[:, None, None] * np.random.default_rng(2).random((30, 30))
    field = raw("tp", 1e-3 * windows, units="m", places=places)
    assert flags(interpret([field], axes())) == ["--precipitation accumulated|window|rate"]
    told = interpret([field], axes(), Answers(precipitation="window"))
    np.testing.assert_allclose(
        told.variables["total_precipitation_6hr"](), 1e-3 * windows, rtol=1e-5
    )


@pytest.mark.parametrize(
    ("units", "answer", "value"), [("mm", "window", 5e-3), ("mm/h", "rate", 0.03)]
)
def test_the_first_step_of_a_run_that_was_cut_has_no_interval(units, answer, value):
    """24, 30, 36 h: the rain at 24 h is that of 6 h or of 24 h, and the file doesn't say."""
    found = interpret(
        [raw("tp", 5.0, units=units)], axes(steps=[24, 30, 36]), Answers(precipitation=answer)
    )
    amounts = found.variables["total_precipitation_6hr"]()
    assert np.isnan(amounts[0]).all()
    np.testing.assert_allclose(amounts[1:], value, rtol=1e-6)
    assert any("1 of 3 steps" in str(note) for note in found.notes)


@pytest.mark.parametrize("name", ["hurs", "tcc"])
def test_percent_that_never_exceeds_one_is_asked_about(name):
    kind = {"standard_name": "relative_humidity"} if name == "hurs" else {}
    field = raw(name, 0.8, units="%", level=AT2 if kind else None, **kind)
    assert flags(interpret([field], axes())) == [f"--units {name}=1 (or %)"]
    for told, value in (("1", 0.8), ("%", 0.008)):
        found = interpret([field], axes(), Answers(units={name: told}))
        (reader,) = found.variables.values()
        np.testing.assert_allclose(reader(), value, rtol=1e-6)


def test_a_rate_at_a_moment_is_no_amount():
    found = interpret(
        [raw("prate", 1e-4, units="kg m-2 s-1", step_type="instant", GRIB_shortName="prate")],
        axes(),
    )
    assert "at a moment" in found.left_out["prate"]


def test_two_precipitations_with_different_intervals_are_two_variables():
    since = raw(
        "tp", [1.0, 2.0, 3.0], units="mm", step_type="accum", windows=[(0, 6), (0, 12), (0, 18)]
    )
    hourly = raw(
        "tp", [0.1, 0.2, 0.3], units="mm", step_type="accum", windows=[(5, 6), (11, 12), (17, 18)]
    )
    found = interpret([since, hourly], axes())
    assert list(found.variables) == ["total_precipitation_6hr", "total_precipitation_1hr"]
    assert not found.questions


def test_a_monthly_mean_rate_is_no_amount_of_a_known_length():
    windows = [(-372, 372)] * 3
    found = interpret(
        [raw("pr", 1e-5, units="kg m-2 s-1", step_type="avg", windows=windows)], axes("analyses")
    )
    assert not found.variables
    assert "don't end at the times" in found.left_out["pr"]


def test_the_instantaneous_one_of_two_is_taken_and_told():
    at_once = raw("tcc", 40.0, units="%", step_type="instant")
    mean = raw("tcc", 60.0, units="%", step_type="avg")
    for fields in ([at_once, mean], [mean, at_once]):
        found = interpret(fields, axes())
        np.testing.assert_allclose(found.variables["total_cloud_cover"](), 0.4, rtol=1e-6)
        assert any("instant is taken" in str(note) for note in found.notes)
    chosen = interpret([at_once, mean], axes(), Answers(step_types={"tcc": "avg"}))
    np.testing.assert_allclose(chosen.variables["total_cloud_cover"](), 0.6, rtol=1e-6)
    assert any("means over an interval" in str(note) for note in chosen.notes)


def test_two_names_of_one_variable_are_asked_about():
    one = raw("t2m", 288.0, units="K", level=AT2)
    other = raw("tmp2m", 289.0, units="K", level=AT2)
    found = interpret([one, other], axes())
    assert flags(found) == ["--name tmp2m="]
    left = interpret([one, other], axes(), Answers(names={"tmp2m": ""}))
    np.testing.assert_allclose(left.variables["2m_temperature"](), 288.0)
    assert left.left_out["tmp2m"] == "it is left out as you say"


def test_geopotential_is_taken_before_its_height():
    level = Level("pressure", 500.0, "hPa")
    found = interpret(
        [
            raw("gh", 5500.0, units="gpm", level=level),
            raw("z", 54_000.0, units="m2 s-2", level=level),
        ],
        axes(),
    )
    assert found.taken["geopotential_500"].raw == ("z",)
    assert "z is taken for geopotential_500" in found.left_out["gh"]


def test_a_name_of_the_user_counts():
    field = raw("foo", 288.0, units="K")
    found = interpret([field], axes(), Answers(names={"foo": "2m_temperature"}))
    assert list(found.variables) == ["2m_temperature"]
    on = raw("foo", 250.0, units="K", level=Level("pressure", 700.0, "hPa"))
    found = interpret([on], axes(), Answers(names={"foo": "temperature"}))
    assert list(found.variables) == ["temperature_700"]
    with pytest.raises(UnsuitableData, match="there is no variable bar"):
        interpret([field], axes(), Answers(names={"foo": "bar"}))


def test_wind_speed_is_derived_member_by_member():
    u, v = np.zeros((2, 3, 3, 4)), np.zeros((2, 3, 3, 4))
    u[0], u[1], v[:] = 3.0, -3.0, 4.0
    found = interpret(
        [raw("u10", u, units="m s-1", level=AT10), raw("v10", v, units="m s-1", level=AT10)],
        axes(),
    )
    np.testing.assert_allclose(found.variables["10m_wind_speed"](), 5.0)
    assert found.taken["10m_wind_speed"].raw == ("u10", "v10")


def bent(**attrs):
    x = np.arange(-2e6, 2.1e6, 1e6)
    proj = pyproj.Proj("+proj=lcc +lat_0=38.5 +lon_0=-97.5 +lat_1=38.5 +lat_2=38.5")
    lon, lat = proj(*np.meshgrid(x, x), inverse=True)
    return Horizontal("curvilinear", "lambert", ("y", "x"), lat, lon, y=x, x=x, attrs=attrs)


def winds(places, **attrs):
    return [
        raw("u", 10.0, units="m s-1", level=AT10, places=places, **attrs),
        raw("v", 0.0, units="m s-1", level=AT10, places=places, **attrs),
    ]


def test_winds_along_the_grid_are_turned_and_keep_their_speed():
    places = bent(GRIB_uvRelativeToGrid=1)
    found = interpret(winds(places), axes())
    u = found.variables["10m_u_component_of_wind"]()
    v = found.variables["10m_v_component_of_wind"]()
    np.testing.assert_allclose(np.hypot(u, v), 10.0, rtol=1e-5)
    np.testing.assert_allclose(found.variables["10m_wind_speed"](), 10.0, rtol=1e-5)
    lean = -np.sin(np.deg2rad(38.5)) * np.deg2rad(places.longitude + 97.5)
    np.testing.assert_allclose(np.arctan2(v[0], u[0])[1:-1, 1:-1], lean[1:-1, 1:-1], atol=0.02)
    assert any("were turned to east and north" in str(note) for note in found.notes)
    straight = interpret(winds(bent(GRIB_uvRelativeToGrid=0)), axes())
    np.testing.assert_array_equal(straight.variables["10m_u_component_of_wind"](), 10.0)


def test_winds_on_a_bent_grid_that_do_not_say_are_asked_about():
    found = interpret(winds(bent()), axes())
    assert set(flags(found)) == {"--winds earth|grid"}
    assert "10m_wind_speed" not in found.variables
    answered = interpret(winds(bent()), axes(), Answers(winds="earth"))
    np.testing.assert_array_equal(answered.variables["10m_u_component_of_wind"](), 10.0)


def test_a_component_without_its_partner_cannot_be_turned():
    found = interpret(winds(bent(GRIB_uvRelativeToGrid=1))[:1], axes())
    assert "its partner is missing" in found.left_out["u"]
