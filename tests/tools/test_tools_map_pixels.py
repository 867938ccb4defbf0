"""What is at each pixel of a map: values, colours, outlines, contour lines, words."""

import io

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from scipy.interpolate import RegularGridInterpolator

from zephyrus_geodata import Feature, FeatureStore, Grid, OutsideGrid, variable
from zephyrus_geodata.cells import CellGrid
from zephyrus_tools import contours, drawing, frame, outlines, pixels, regions
from zephyrus_tools.palettes import palette

NOWHERE = FeatureStore([])
GLOBE = Grid(np.arange(-87.5, 90.0, 5.0), np.arange(-177.5, 180.0, 5.0))
CLOUD, RAIN = variable("total_cloud_cover"), variable("total_precipitation_6hr")
GREY = drawing.MISSING


def rgb(png):
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB"))


def painted(grid, field, region, size, what=CLOUD, features=NOWHERE, **more):
    return rgb(drawing.paint(what, grid, field, region, features, size=size, **more))


# Values ---------------------------------------------------------------------------------------


def axes():
    """Centres of grids, evenly spaced or not, round the Earth or not."""
    return st.one_of(
        st.just(GLOBE),
        st.builds(
            lambda lat, lon, dlat, dlon: Grid(
                lat + np.cumsum(dlat), lon + np.cumsum(np.array(dlon))
            ),
            st.floats(-80.0, 0.0),
            st.floats(-170.0, 100.0),
            st.lists(st.floats(0.5, 8.0), min_size=2, max_size=9),
            st.lists(st.floats(0.5, 8.0), min_size=2, max_size=9),
        ),
    )


def regions_():
    return st.builds(
        lambda west, south, wide, tall: regions.box(
            west, south, min(west + wide, 360.0), min(south + tall, 90.0)
        ),
        st.floats(-180.0, 180.0),
        st.floats(-90.0, 80.0),
        st.floats(2.0, 179.0),
        st.floats(2.0, 100.0),
    )


def where(region, size):
    """Latitudes and longitudes of the pixels, written otherwise than in the code."""
    wide, tall = region.east - region.west, region.north - region.south
    lon = [region.west + wide * (2 * i + 1) / (2 * size[0]) for i in range(size[0])]
    lat = [region.north - tall * (2 * i + 1) / (2 * size[1]) for i in range(size[1])]
    return np.array(lat), np.array(lon)


@settings(max_examples=80, deadline=None)
@given(axes(), regions_(), st.integers(0, 1000))
def test_values_are_bilinear_between_the_centres(grid, region, seed):
    size = (23, 17)
    field = np.random.default_rng(seed).normal(size=grid.shape).astype(np.float32)
    shown = pixels.pixels(grid, field, region, size)
    lat, lon = where(region, size)
    turned = (lon - grid.lon_edges[0]) % 360.0 + grid.lon_edges[0]
    longitude, wide = grid.longitude, field.astype(float)
    if grid.periodic:
        longitude = np.concatenate([longitude[-1:] - 360, longitude, longitude[:1] + 360])
        wide = np.concatenate([wide[:, -1:], wide, wide[:, :1]], axis=1)
    oracle = RegularGridInterpolator((grid.latitude, longitude), wide)
    y, x = np.meshgrid(lat, turned, indexing="ij")
    inside = (y >= grid.lat_edges[0]) & (y <= grid.lat_edges[-1]) & (x <= grid.lon_edges[-1])
    np.testing.assert_array_equal(np.isnan(shown), ~inside)
    y, x = y.clip(*grid.latitude[[0, -1]]), x.clip(longitude[0], longitude[-1])
    expected = oracle(np.stack([y, x], axis=-1))
    np.testing.assert_allclose(shown[inside], expected[inside], atol=2e-5)


@settings(max_examples=40, deadline=None)
@given(axes(), regions_(), st.integers(0, 1000))
def test_a_hole_is_as_large_as_its_cells(grid, region, seed):
    size = (31, 29)
    rng = np.random.default_rng(seed)
    field = rng.uniform(5.0, 6.0, grid.shape).astype(np.float32)
    field[rng.random(grid.shape) < 0.3] = np.nan
    shown = pixels.pixels(grid, field, region, size)
    for i, lat in enumerate(where(region, size)[0]):
        for j, lon in enumerate(where(region, size)[1]):
            turned = (lon - grid.lon_edges[0]) % 360.0 + grid.lon_edges[0]
            near = min(np.abs(grid.lat_edges - lat).min(), np.abs(grid.lon_edges - turned).min())
            if near < 1e-6:
                continue  # on the edge between two cells
            try:
                value = field.ravel()[grid.nearest(lat, lon)]
            except OutsideGrid:
                value = np.nan
            assert np.isnan(shown[i, j]) == np.isnan(value)
    there = shown[~np.isnan(shown)]
    assert ((there > 4.999) & (there < 6.001)).all()


def test_the_seam_shows_as_any_other_meridian():
    field = np.random.default_rng(3).uniform(size=GLOBE.shape).astype(np.float32)
    turned = np.roll(field, GLOBE.shape[1] // 2, axis=1)
    across, at_zero = regions.box(165.0, -40.0, -165.0, 40.0), regions.box(-15.0, -40.0, 15.0, 40.0)
    pictures = [
        drawing.paint(CLOUD, GLOBE, values, region, NOWHERE, size=(120, 80))
        for values, region in ((field, across), (turned, at_zero))
    ]
    assert pictures[0] == pictures[1]
    lat, lon = where(across, (4, 2))
    near = pixels.pixels(
        GLOBE, np.tile(np.abs(GLOBE.longitude), (36, 1)).astype("f4"), across, (4, 2)
    )
    # |longitude| rises to 177.5 on either side, and is 177.5 between those two centres.
    expected = np.minimum(np.where(lon > 180.0, 360.0 - lon, lon), 177.5)
    np.testing.assert_allclose(near, np.tile(expected, (2, 1)), rtol=1e-6)
    assert lat[0] > lat[1]


def test_the_poles_are_filled():
    field = np.tile(GLOBE.latitude[:, None], (1, 72)).astype(np.float32)
    shown = pixels.pixels(GLOBE, field, regions.whole(GLOBE), (36, 360))
    assert (shown[:5] == 87.5).all()
    assert (shown[-5:] == -87.5).all()


def bent_grid():
    x = np.linspace(-1.0, 1.0, 61)
    a, b = np.meshgrid(8.0 * x, 6.0 * x)
    return CellGrid(48.0 + b + 0.02 * a**2, 8.0 + 1.4 * a - 0.05 * a * b)


def test_a_bent_grid_is_shown_in_its_own_cells():
    grid = bent_grid()
    region, size = regions.whole(grid), (210, 150)
    lat, lon = where(region, size)
    y, x = (axis.ravel() for axis in np.meshgrid(lat, lon, indexing="ij"))
    cells = grid.lookup(y, x)

    def f(lat, lon):
        return np.sin(np.deg2rad(4 * lat)) + np.cos(np.deg2rad(3 * lon))

    field = f(grid.cell_latitude, grid.cell_longitude).reshape(grid.shape).astype(np.float32)
    shown = pixels.pixels(grid, field, region, size).ravel()
    np.testing.assert_array_equal(np.isnan(shown), cells < 0)
    # The outermost half cell has the values of the outermost centres.
    row, column = np.divmod(cells, grid.shape[1])
    inner = (cells >= 0) & (np.minimum(row, column) > 0) & (np.maximum(row, column) < 60)
    np.testing.assert_allclose(shown[inner], f(y[inner], x[inner]), atol=2e-3)
    holes = np.random.default_rng(2).random(field.size) < 0.2
    gappy = np.where(holes, np.nan, field.ravel()).reshape(grid.shape).astype(np.float32)
    grey = np.isnan(pixels.pixels(grid, gappy, region, size).ravel())
    expected = (cells < 0) | holes[cells]
    assert (grey != expected).mean() < 2e-3  # pixels on the edge between two cells
    assert 0.3 < expected.mean() < 0.7


# Colours --------------------------------------------------------------------------------------

BOX = regions.box(-20.0, -10.0, 20.0, 10.0)
SIZE = (72, 36)  # nine pixels to a cell: the fifth is in its middle
MIDDLES = (slice(4, None, 9), slice(4, None, 9))


def in_box(values):
    """A field with (4, 8) values in the box, from north to south."""
    field = np.full(GLOBE.shape, values[0][0], dtype=np.float32)
    field[16:20, 32:40] = np.asarray(values)[::-1]
    return field


def test_the_middle_of_a_cell_has_the_colour_of_its_class():
    tenths = np.random.default_rng(0).integers(0, 10, (4, 8))
    tenths[0, :2] = 0, 9
    shown = painted(GLOBE, in_box(tenths / 10 + 0.05), BOX, SIZE)
    listed = palette(CLOUD.name, 0.0, 100.0).rgb
    np.testing.assert_array_equal(shown[MIDDLES], listed[tenths])
    assert listed[0].tolist() == [0x2F, 0x7F, 0xC1]
    assert listed[9].tolist() == [255, 255, 255]


def test_a_level_itself_belongs_to_the_class_below():
    mm = np.full((4, 8), 0.0)
    mm[0] = 0.0, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 12.0
    shown = painted(
        GLOBE, in_box(np.nextafter(np.float32(mm / 1000), np.float32(0))), BOX, SIZE, RAIN
    )
    listed = palette(RAIN.name, 0.0, 12.0)
    assert listed.levels.tolist() == [0, 0.1, 0.5, 1, 2, 5, 10, 15]
    np.testing.assert_array_equal(shown[MIDDLES][0], listed.rgb[[0, 0, 1, 2, 3, 4, 5, 6]])
    assert (shown[MIDDLES][1:] == 255).all()  # no rain is white
    exact = np.array([0.0, 0.1, 0.10001, 0.5, 15.0, 99.0], dtype=np.float32)
    assert listed.classes(exact).tolist() == [0, 0, 1, 1, 6, 6]


def test_no_class_is_drawn_that_no_pixel_has():
    field = in_box(np.full((4, 8), 0.55))
    assert (painted(GLOBE, field, BOX, SIZE) == palette(CLOUD.name, 0, 1).rgb[5]).all()


def test_missing_cells_are_grey_and_nothing_else_is():
    values = np.full((4, 8), 0.05)
    values[1, 3] = np.nan
    shown = painted(GLOBE, in_box(values), BOX, SIZE)
    grey = (shown == GREY).all(axis=-1)
    expected = np.zeros(grey.shape, bool)
    expected[9:18, 27:36] = True
    np.testing.assert_array_equal(grey, expected)
    assert (shown[~grey] == palette(CLOUD.name, 0, 1).rgb[0]).all()


def test_a_region_without_any_data_is_grey():
    field = np.full(GLOBE.shape, np.nan, np.float32)
    for what in ("2m_temperature", "mean_sea_level_pressure", "10m_wind_speed"):
        assert (painted(GLOBE, field, BOX, SIZE, variable(what)) == GREY).all()
        png = drawing.draw(variable(what), GLOBE, field, BOX, NOWHERE, title="a", subtitle="b")
        assert png.startswith(b"\x89PNG")


def test_a_spread_and_a_share_have_colours_of_their_own():
    for name in ("2m_temperature", "10m_wind_speed", "total_precipitation_6hr"):
        own = {tuple(c) for c in palette(name, 0.0, 8.0).rgb.tolist()}
        spread = palette(name, 1.0, 8.0, "spread")
        assert spread.levels[0] == 0.0
        assert spread.levels[-1] >= 8.0
        assert not own & {tuple(c) for c in spread.rgb.tolist()}
    assert palette("2m_temperature", 3.0, 4.0, "probability").levels.tolist() == list(
        range(0, 101, 10)
    )
    assert palette("2m_temperature", 0.0, 0.0, "spread").levels[0] == 0.0


# Outlines -------------------------------------------------------------------------------------


def store(*shapes, kind="country"):
    return FeatureStore(Feature.of(f"{kind} {i}", kind, s) for i, s in enumerate(shapes))


WIDE = regions.box(-30.0, -20.0, 30.0, 20.0)  # ten pixels to a degree below
WIDE_SIZE = (600, 400)


def test_the_outline_is_where_the_country_is():
    country = store(shapely.box(-10.0, -5.0, 10.0, 5.0))
    mask = outlines.outlines(country, WIDE, WIDE_SIZE)
    y, x = np.nonzero(mask)
    away = np.minimum(
        np.where(np.abs(y + 0.5 - 200) < 52, np.abs(np.abs(x + 0.5 - 300) - 100), 99),
        np.where(np.abs(x + 0.5 - 300) < 102, np.abs(np.abs(y + 0.5 - 200) - 50), 99),
    )
    assert away.max() < 1.6
    for row in (150, 250):
        assert (mask[row - 1 : row + 1, 201:399].sum(axis=0) > 120).all()
    for column in (200, 400):
        assert (mask[151:249, column - 1 : column + 1].sum(axis=1) > 120).all()


def test_the_bare_map_has_the_outline_over_its_colours():
    country = store(shapely.box(-10.0, -5.0, 10.0, 5.0))
    shown = painted(GLOBE, np.full(GLOBE.shape, 0.05, "f4"), WIDE, WIDE_SIZE, features=country)
    mask = outlines.outlines(country, WIDE, WIDE_SIZE)
    np.testing.assert_array_equal(
        shown[mask == 0], np.tile([[0x2F, 0x7F, 0xC1]], ((mask == 0).sum(), 1))
    )
    assert (shown[mask > 120].astype(int).sum(axis=1) < 0x2F + 0x7F + 0xC1 - 100).all()


def test_an_outline_across_180_has_no_line_along_it():
    halves = shapely.MultiPolygon([shapely.box(170, -5, 180, 5), shapely.box(-180, -5, -170, 5)])
    region = regions.box(160.0, -10.0, -160.0, 10.0)
    mask = outlines.outlines(store(halves), region, (400, 200))
    assert not mask[60:140, 195:205].any()
    assert (mask[60:140, 99:101].sum(axis=1) > 120).all()  # 170 E
    assert (mask[60:140, 299:301].sum(axis=1) > 120).all()  # 170 W
    assert (mask[49:51, 105:295].sum(axis=0) > 120).all()  # 5 N


def test_states_are_drawn_on_narrow_maps_only():
    features = FeatureStore(
        [
            Feature.of("c", "country", shapely.box(-9, -9, 9, 9)),
            Feature.of("s", "us_state", shapely.box(-9, -9, 0, 9)),
        ]
    )
    narrow, wide = regions.box(-15.0, -15.0, 15.0, 15.0), regions.box(-25.0, -15.0, 25.0, 15.0)
    assert outlines.outlines(features, narrow, (300, 300))[150, 148:152].any()
    assert not outlines.outlines(features, wide, (500, 300))[150, 248:252].any()


def test_a_highlighted_point_is_a_white_dot_with_a_ring():
    shown = painted(
        GLOBE, np.full(GLOBE.shape, 0.05, "f4"), WIDE, WIDE_SIZE, highlight=shapely.Point(5.0, 10.0)
    )
    assert (shown[99:101, 349:351] == 255).all()
    dark = (shown.astype(int).sum(axis=-1) < 200).nonzero()
    radius = np.hypot(dark[0] + 0.5 - 100, dark[1] + 0.5 - 350)
    assert ((radius > 3) & (radius < 6)).all()
    assert dark[0].size > 12


def test_a_highlighted_shape_is_bold():
    shape = shapely.box(-10.0, -5.0, 10.0, 5.0)
    bold = outlines.highlighted(shape, WIDE, WIDE_SIZE)
    thin = outlines.outlines(store(shape), WIDE, WIDE_SIZE)
    assert bold.face is None
    assert bold.ink.sum(dtype=int) > 1.5 * thin.sum(dtype=int)


# Contour lines --------------------------------------------------------------------------------


def test_contour_lines_are_where_the_level_is():
    ramp = np.tile(np.arange(300, dtype=np.float32) + 0.5, (200, 1))
    nothing = np.zeros(ramp.shape, np.uint8)
    found = contours.contours(ramp, np.array([100.0, 250.0]), nothing)
    unlabelled = ~found.cleared.any(axis=1)
    assert 0.4 < unlabelled.mean() < 1.0  # each line is interrupted by its label once
    assert found.cleared.any()
    columns = np.flatnonzero(found.ink[unlabelled].any(axis=0))
    assert np.isin(columns, [99, 100, 249, 250]).all()
    assert (found.ink[unlabelled][:, [99, 249]].max(axis=1) > 50).all()
    labelled = np.flatnonzero(found.ink.any(axis=0))
    assert labelled.size > columns.size  # letters


def test_a_label_avoids_what_is_drawn():
    ramp = np.tile(np.arange(300, dtype=np.float32), (200, 1))
    for busy in (slice(0, 100), slice(100, 200)):
        below = np.zeros(ramp.shape, np.uint8)
        below[busy] = 255
        found = contours.contours(ramp, np.array([150.0]), below)
        assert found.cleared.any()
        assert not found.cleared[busy].any()


def test_short_lines_and_holes_have_no_labels():
    y, x = np.mgrid[:200, :300]
    hill = -np.hypot(y - 100, x - 150).astype(np.float32)
    nothing = np.zeros(hill.shape, np.uint8)
    assert not contours.contours(hill, np.array([-4.0]), nothing).cleared.any()
    assert contours.contours(hill, np.array([-80.0]), nothing).cleared.any()
    hill[:, 140:] = np.nan
    assert not contours.contours(hill, np.array([-4.0]), nothing).ink[:, 142:].any()
    assert not contours.contours(np.full_like(hill, np.nan), np.array([0.0]), nothing).ink.any()


# The whole picture ----------------------------------------------------------------------------


def decorated(field, region, what=CLOUD, title="Title", subtitle="Subtitle", **more):
    return rgb(
        drawing.draw(what, GLOBE, field, region, NOWHERE, title=title, subtitle=subtitle, **more)
    )


def test_the_map_in_the_frame_is_the_bare_one():
    field = np.random.default_rng(5).uniform(size=GLOBE.shape).astype(np.float32)
    layout = frame.Layout.of(WIDE)
    inside = decorated(field, WIDE)[layout.map_area]
    bare = painted(GLOBE, field, WIDE, (layout.map_width, layout.map_height))
    free = frame.axes(WIDE)[layout.map_area] == 0
    assert free.mean() > 0.95  # all but the grid lines
    np.testing.assert_array_equal(inside[free], bare[free])


def test_the_colour_bar_has_the_classes_in_order():
    field = np.linspace(0, 1, GLOBE.size).reshape(GLOBE.shape).astype(np.float32)
    shown = decorated(field, WIDE)
    layout = frame.Layout.of(WIDE)
    rows, columns = layout.bar_area
    middle = shown[rows, (columns.start + columns.stop) // 2]
    listed = palette(CLOUD.name, 0, 100).rgb
    at = layout.map_height - 1 - ((np.arange(10) + 0.5) / 10 * layout.map_height).astype(int)
    np.testing.assert_array_equal(middle[at], listed)


@pytest.mark.parametrize("length", [5, 60, 140, 300])
def test_words_stay_inside_the_picture(length):
    shown = decorated(np.zeros(GLOBE.shape, "f4"), WIDE, title="W" * length, subtitle="m" * length)
    assert (shown[:50, -8:] == 255).all()
    assert (shown[15:30, 60:80] < 128).any()


def test_what_is_kept_changes_nothing():
    field = np.random.default_rng(6).uniform(98_000, 103_000, GLOBE.shape).astype(np.float32)
    mslp = variable("mean_sea_level_pressure")
    country = store(shapely.box(-10.0, -5.0, 10.0, 5.0))

    def both():
        return (
            drawing.draw(mslp, GLOBE, field, WIDE, country, title="t", subtitle="s"),
            drawing.paint(mslp, GLOBE, field, WIDE, country, highlight=shapely.Point(1, 1)),
        )

    first, again = both(), both()
    for kept in (
        pixels._axes,
        pixels._places,
        outlines._ink,
        outlines._highlight,
        frame._axes,
        frame._bar,
    ):
        kept.cache_clear()
    outlines._KNOWN.clear()
    assert first == again == both()


def test_other_countries_are_not_taken_for_the_same():
    field = np.full(GLOBE.shape, 0.5, "f4")
    one = painted(GLOBE, field, WIDE, (90, 60), features=store(shapely.box(-10, -5, 10, 5)))
    other = painted(GLOBE, field, WIDE, (90, 60), features=store(shapely.box(-5, -5, 10, 5)))
    assert (one != other).any()
