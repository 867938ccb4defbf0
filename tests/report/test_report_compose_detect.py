"""What the fields show, found in fields whose centres, fronts and maxima are known."""

import math

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from zephyrus_geodata import Climatology, Dataset, Feature, FeatureStore, Forecast
from zephyrus_geodata.climatology import STATISTICS
from zephyrus_geodata.grid import Grid
from zephyrus_report.compose import detect_fronts, detect_surface, detect_systems, detect_upper
from zephyrus_report.compose.cause import Causes
from zephyrus_report.compose.findings import COMPASS, Kind, compass, day_of
from zephyrus_report.compose.places import Gazetteer
from zephyrus_report.compose.scene import Scene, choose_areas
from zephyrus_report.compose.sphere import bearing, blowing_from, distance, gradient
from zephyrus_report.compose.wind import direction
from zephyrus_report.compose.words import STATIONARY

HOURS = np.arange(6, 49, 6)
STEP = 2.5
U10, V10, SPEED = "10m_u_component_of_wind", "10m_v_component_of_wind", "10m_wind_speed"


def grid() -> Grid:
    return Grid(np.arange(-88.75, 90, STEP), np.arange(-180.0, 180.0, STEP))


def box(name: str, kind: str, west: float, south: float, east: float, north: float) -> Feature:
    return Feature.of(name, kind, shapely.box(west, south, east, north))


def world(
    fields,
    *features: Feature,
    climate: dict[str, float] | None = None,
    hours=HOURS,
    month: int = 1,
) -> Dataset:
    """A dataset of one forecast; ``fields`` are functions of (latitude, longitude, hour)."""
    on = grid()
    lat, lon = np.repeat(on.latitude, on.shape[1]), np.tile(on.longitude, on.shape[0])

    def read(field):
        return lambda: np.stack(
            [np.broadcast_to(field(lat, lon, float(h)), lat.shape) for h in hours], axis=1
        ).astype(np.float32)

    forecast = Forecast(
        "made",
        "now",
        np.datetime64(f"2001-{month:02d}-05", "s"),
        np.asarray(hours),
        on,
        {name: read(field) for name, field in fields.items()},
    )
    means = climate or {}
    climatology = Climatology(
        on,
        {
            name: lambda mean=mean: np.broadcast_to(
                np.array([mean + (i - 3) for i in range(len(STATISTICS))])[None, :, None],
                (12, len(STATISTICS), on.size),
            )
            for name, mean in means.items()
        },
    )
    return Dataset(
        "made",
        {"now": lambda: forecast},
        climatology=(lambda: climatology) if climate else None,
        features=lambda: FeatureStore(features),
    )


def scene(dataset: Dataset, key: str, start: int = 6, end: int = 48) -> Scene:
    region = dataset.features[key]
    return Scene(dataset, dataset.forecast("now"), region, start, end, Gazetteer(dataset))


def moving_low(lat0, lon0, lat1, lon1, depth=30.0, radius=600.0, filling=0.0):
    """Pressure of a round low that goes from one point at 6 h to another at 48 h, in Pa."""

    def field(lat, lon, hour):
        share = (hour - 6) / 42
        at = (lat0 + share * (lat1 - lat0), lon0 + share * (lon1 - lon0))
        far = distance(*at, lat, lon)
        return 100.0 * (1015.0 - (depth - filling * share) * np.exp(-((far / radius) ** 2)))

    return field


REGION = box("Middleland", "country", -10, 40, 30, 60)


@pytest.mark.parametrize(
    ("path", "region", "direction"),
    [
        ((50, 0, 50, 20), REGION, "east"),
        ((45, 10, 58, 10), REGION, "north"),
        ((57, 20, 47, 2), REGION, "south-west"),
        ((50, 170, 50, 190), box("Dateland", "country", 165, 40, 180, 60), "east"),
        ((-50, 190, -42, 172), box("Southland", "country", 165, -60, 180, -40), "north-west"),
    ],
)
def test_a_moving_low_is_found_with_its_direction_speed_and_pressure(path, region, direction):
    made = world({"mean_sea_level_pressure": moving_low(*path)}, region)
    found = detect_systems.detect(scene(made, region.key))
    assert [f.kind for f in found] == [Kind.LOW]
    low = found[0]
    assert low.direction == direction
    assert (low.start, low.end) == (6, 48)
    true = float(distance(*path)) / 42.0
    # The centre is a cell's: at either end it may be half a diagonal of a cell off.
    assert abs(low.number("speed") - true) <= 2 * 0.75 * 111.2 * STEP / 42.0
    assert float(distance(low.place.latitude, low.place.longitude, *path[:2])) <= 0.75 * 278
    assert 985.0 - 0.01 <= low.number("before") <= 988.5
    assert low.number("pressure") == min(
        low.number(name) for name in ("pressure", "before", "after")
    )


def test_a_low_that_stays_has_no_direction_and_fills_by_what_it_fills():
    field = moving_low(51.25, 10, 51.25, 10, filling=10.0)
    low = detect_systems.detect(
        scene(world({"mean_sea_level_pressure": field}, REGION), REGION.key)
    )[0]
    assert low.direction == ""
    assert low.number("speed") < STATIONARY
    assert low.number("after") - low.number("before") == pytest.approx(10.0, abs=0.01)


@pytest.mark.parametrize(
    ("why", "field", "region"),
    [
        ("too shallow", moving_low(50, 0, 50, 20, depth=3.0), REGION),
        ("in the tropics", moving_low(10, 0, 10, 20), box("T", "country", -10, 0, 30, 20)),
        ("too far away", moving_low(50, 100, 50, 120), REGION),
        ("a slope has no centre", lambda lat, lon, hour: 1e5 + 50 * lat, REGION),
        ("nor has a plain", lambda lat, lon, hour: np.full_like(lat, 1e5), REGION),
    ],
)
def test_what_is_no_system_is_not_found(why, field, region):
    made = world({"mean_sea_level_pressure": field}, region)
    assert detect_systems.detect(scene(made, region.key)) == []


def test_a_high_is_a_low_turned_over():
    low = moving_low(50, 0, 50, 20)
    made = world({"mean_sea_level_pressure": lambda *at: 2 * 101500 - low(*at)}, REGION)
    found = detect_systems.detect(scene(made, REGION.key))
    assert [(f.kind, f.direction) for f in found] == [(Kind.HIGH, "east")]
    assert found[0].number("before") == pytest.approx(1045, abs=3.5)


WEST = box("Westland", "country", 0, 44, 10, 56)
EAST = box("Eastland", "country", 10, 44, 20, 56)
BOTH = box("Twinland", "subregion", 0, 44, 20, 56)


def front(change: float, width: float = 3.0, speed: float = 0.5, start: float = -4.0):
    """850 hPa temperature that changes at a line going east at `speed` degrees an hour."""

    def field(lat, lon, hour):
        line = start + speed * (hour - 6)
        return 275.0 + change / 2 * np.tanh((line - lon) / width)

    return field


@pytest.mark.parametrize(("change", "kind"), [(-14.0, Kind.COLD_FRONT), (14.0, Kind.WARM_FRONT)])
def test_a_front_crosses_the_areas_one_after_the_other(change, kind):
    made = world({"temperature_850": front(change)}, WEST, EAST, BOTH)
    found = {f.place.name: f for f in detect_fronts.detect(scene(made, BOTH.key))}
    assert set(found) == {"Westland", "Eastland"}
    assert {f.kind for f in found.values()} == {kind}
    west, east = found["Westland"], found["Eastland"]
    assert west.start < east.start
    # The line is over the middle of the west (5°E) at 24 h and of the east (15°E) at 44 h.
    assert west.start <= 24 <= west.end
    assert east.start <= 44 <= east.end + 6
    assert west.number("change") == pytest.approx(
        west.number("after") - west.number("before"), abs=1e-9
    )
    assert np.sign(west.number("change")) == np.sign(change)
    # The steepest slope of a tanh is change / (2 width).
    steepest = 7.0 / 3.0 / (111.195 * math.cos(math.radians(50))) * 100
    assert 0.7 * steepest <= west.number("gradient") <= 1.15 * steepest


@pytest.mark.parametrize(
    ("why", "field", "shift"),
    [
        ("a slow change everywhere is no front", lambda lat, lon, h: 280 - 0.3 * h + 0 * lat, 0),
        (
            "nor is one under a strong gradient that stays",
            lambda lat, lon, h: 280 - 0.3 * h - 2.5 * (lat - 50),
            0,
        ),
        ("a weak one is none", front(-5.0), 0),
        ("a broad one is none", front(-14.0, width=25.0), 0),
        ("and there are none in the tropics", front(-14.0), -45),
    ],
)
def test_what_is_no_front_is_not_found(why, field, shift):
    boxes = [
        box(f.name, f.kind, w, 44 + shift, e, 56 + shift)
        for f, w, e in ((WEST, 0, 10), (EAST, 10, 20), (BOTH, 0, 20))
    ]
    made = world({"temperature_850": field}, *boxes)
    assert detect_fronts.detect(scene(made, BOTH.key)) == []


def steady(value: float):
    return lambda lat, lon, hour: np.full_like(lat, value)


@pytest.mark.parametrize(
    ("ground", "aloft", "kind"),
    [
        (-5.0, -12.0, "snow"),
        (-5.0, 1.0, "rain and snow"),
        (0.5, -6.0, "rain and snow"),
        (5.0, -8.0, "rain"),
        (25.0, 15.0, "rain"),
    ],
)
def test_what_falls_goes_by_the_temperatures(ground, aloft, kind):
    fields = {
        "total_precipitation_6hr": steady(2e-3),
        "2m_temperature": steady(273.15 + ground),
        "temperature_850": steady(273.15 + aloft),
    }
    made = scene(world(fields, REGION), REGION.key)
    found = detect_surface.precipitation(made, REGION, 6, 24)
    assert (found.kind, found.detail) == (Kind.PRECIPITATION, kind)
    assert found.number("total") == pytest.approx(8.0, rel=1e-5)  # four steps of 2 mm
    assert found.number("heaviest") == pytest.approx(2.0, rel=1e-5)


def test_hardly_any_precipitation_is_dry():
    made = scene(world({"total_precipitation_6hr": steady(2e-4)}, REGION), REGION.key)
    assert detect_surface.precipitation(made, REGION, 6, 24).kind is Kind.DRY
    assert detect_surface.precipitation(made, REGION, 6, 48).kind is Kind.DRY


@pytest.mark.parametrize("south", [40.0, -60.0])
def test_a_gale_has_its_hour_and_the_direction_it_comes_from(south):
    region = box("R", "country", 0, south, 20, south + 20)

    def gust(lat, lon, hour):
        return np.where(hour == 30, 20.0, 8.0) + 0 * lat

    made = scene(world({U10: gust, V10: steady(0.0)}, region), region.key)
    found = detect_surface.wind(made, region, 6, 48)
    assert (found.hour, found.direction) == (30, "west")
    assert found.number("speed") == pytest.approx(20.0)


def test_winds_from_all_sides_have_the_direction_of_the_strongest():
    def around(lat, lon, hour):
        return np.where(lon < 10, 15.0, -16.0) + 0 * lat

    made = scene(world({U10: around, V10: steady(0.5)}, REGION), REGION.key)
    assert direction(made, REGION, 6) == ""
    assert detect_surface.wind(made, REGION, 6, 48).direction == "east"


@pytest.mark.parametrize(
    ("south", "v", "departure", "words"),
    [
        (40.0, -6.0, -5.0, "in northerly winds"),
        (40.0, 6.0, 5.0, "in southerly winds"),
        (40.0, 6.0, -5.0, ""),  # a southerly makes nothing cold in the north
        (-60.0, 6.0, -5.0, "in southerly winds"),
        (-60.0, -6.0, 5.0, "in northerly winds"),
        (-60.0, -6.0, -5.0, ""),
        (-10.0, -6.0, -5.0, ""),  # in the tropics it says nothing
    ],
)
def test_the_cause_of_an_anomaly_knows_the_hemisphere(south, v, departure, words):
    region = box("R", "country", 0, south, 20, south + 20)
    fields = {"2m_temperature": steady(280.0 + departure), U10: steady(0.0), V10: steady(v)}
    made = scene(world(fields, region, climate={"2m_temperature": 280.0 - 4.0}), region.key)
    # Of the made climatology the statistics rise by 1 K each; the mean is the last but one.
    found = detect_surface.anomaly(made, region, 6, 48)
    assert found.number("departure") == pytest.approx(departure, abs=1e-4)
    assert Causes(made, [], []).temperature(found).words == words


def test_a_trough_is_a_height_below_the_climate_and_deepens_when_it_falls():
    def height(lat, lon, hour):
        return (5400.0 - 2.0 * hour + 0 * lat) * 9.80665

    climate = {"geopotential_500": 5450.0 * 9.80665 - 4.0}
    made = scene(world({"geopotential_500": height}, REGION, climate=climate), REGION.key)
    found = detect_upper.pattern(made)
    assert (found.kind, found.detail) == (Kind.TROUGH, "deepening")
    mean = 5400.0 - 2.0 * float(HOURS.mean())
    assert found.number("height") == pytest.approx(mean, abs=0.1)
    assert found.number("departure") == pytest.approx(mean - 5450.0, abs=0.1)


def test_areas_cover_a_region_and_do_not_overlap_each_other():
    inside = box("Inside", "desert", 1, 45, 9, 55)  # all of it is in the west
    far = box("Faraway", "country", 60, 44, 80, 56)
    made = world({"2m_temperature": steady(280.0)}, WEST, EAST, BOTH, inside, far)
    assert {f.name for f in choose_areas(made, BOTH)} == {"Westland", "Eastland"}


def test_a_region_without_areas_is_its_own():
    made = world({"2m_temperature": steady(280.0)}, REGION)
    assert scene(made, REGION.key).areas == (REGION,)


@pytest.mark.parametrize(("hour", "day"), [(0, 1), (6, 1), (24, 1), (25, 2), (30, 2), (240, 10)])
def test_a_day_ends_with_its_24th_hour(hour, day):
    assert day_of(hour) == day


def test_a_degree_of_latitude_is_111_km_and_a_quarter_turn_10008():
    assert distance(10, 20, 11, 20) == pytest.approx(6371.0088 * math.pi / 180, rel=1e-9)
    assert distance(0, 0, 90, 77) == pytest.approx(6371.0088 * math.pi / 2, rel=1e-9)
    assert distance(0, 179, 0, -179) == pytest.approx(distance(0, 0, 0, 2), rel=1e-9)


@pytest.mark.parametrize(("index", "point"), list(enumerate(COMPASS)))
def test_the_wind_comes_from_where_its_vector_points_away(index, point):
    angle = math.radians(45.0 * index)
    u, v = -math.sin(angle), -math.cos(angle)
    assert compass(blowing_from(u, v)) == point
    assert compass(bearing(0, 179.5, math.cos(angle), 179.5 + math.sin(angle))) == point


@given(st.floats(0, 359.999))
def test_a_compass_point_is_the_nearest_of_eight(degrees):
    away = abs((degrees - 45.0 * COMPASS.index(compass(degrees)) + 180) % 360 - 180)
    assert away <= 22.5 + 1e-9


def test_the_gradient_of_a_wave_is_its_slope_also_at_the_seam():
    on = grid()
    lat, lon = np.repeat(on.latitude, on.shape[1]), np.tile(on.longitude, on.shape[0])
    wave = (10.0 * np.sin(np.deg2rad(2 * lon)))[:, None].astype(np.float32)
    found = gradient(on, wave)[:, 0].reshape(on.shape)
    row = on.shape[0] // 2 + 16
    phi = on.latitude[row]
    slope = 20.0 * np.abs(np.cos(np.deg2rad(2 * on.longitude)))
    true = slope / (6371.0088 * math.cos(math.radians(phi))) * 100
    assert np.allclose(found[row], true, rtol=0.01, atol=0.01)
    tilt = gradient(on, (0.5 * lat)[:, None].astype(np.float32))[:, 0]
    assert tilt[5000] == pytest.approx(0.5 / 111.195 * 100, rel=1e-3)
