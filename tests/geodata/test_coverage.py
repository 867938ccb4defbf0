"""Coverage against shapely's own intersection of every cell with the shape."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shapely.affinity import translate
from shapely.geometry import GeometryCollection, LineString, MultiPolygon, Point, Polygon, box
from shapely.geometry.base import BaseGeometry

from zephyrus_geodata.coverage import SLIVER, coverage
from zephyrus_geodata.grid import Grid

GAUSSIAN = Grid.from_coords(
    np.rad2deg(np.arcsin(np.polynomial.legendre.leggauss(12)[0])), np.arange(24) * 15.0
)[0]
REGION = Grid([30, 34, 38, 41, 45], [-20, -14, -9, -3])


def oracle(grid: Grid, geometry: BaseGeometry) -> dict[int, float]:
    """Fractions by intersecting every cell, at every turn of the Earth, with the shape."""
    found = {}
    for row in range(grid.shape[0]):
        for column in range(grid.shape[1]):
            west, east = grid.lon_edges[column : column + 2]
            south, north = grid.lat_edges[row : row + 2]
            area = sum(
                geometry.intersection(box(west + turn, south, east + turn, north)).area
                for turn in (-360, 0, 360)
            )
            if area / ((east - west) * (north - south)) > SLIVER:
                found[row * grid.shape[1] + column] = area / ((east - west) * (north - south))
    return found


def check(grid: Grid, geometry: BaseGeometry) -> None:
    cells, fractions = coverage(grid, geometry)
    expected = oracle(grid, geometry)
    assert cells.tolist() == sorted(expected)
    np.testing.assert_allclose(fractions, [expected[c] for c in cells], rtol=0, atol=1e-12)


# A Fiji, a France with Guiana, an Antarctica and a few shapes that sit on grid lines.
SHAPES = {
    "both sides of the antimeridian": MultiPolygon(
        [
            Polygon([(177, -19), (180, -18.6), (180, -16), (178, -17)]),
            Polygon([(-180, -18.6), (-178.5, -18), (-180, -16)]),
        ]
    ),
    "one part across the antimeridian": Polygon([(170, 50), (200, 55), (190, 70), (165, 60)]),
    "far parts": MultiPolygon(
        [
            Polygon([(-5, 48), (2, 51), (8, 48), (7, 43), (-1, 43)]),
            Polygon([(-54, 5), (-51.6, 4), (-52.5, 2), (-54.5, 2.3)]),
        ]
    ),
    "a polar cap": Polygon(
        [(-180, -90), (180, -90), (180, -78), (60, -66), (-60, -64), (-180, -78)]
    ),
    "with a hole": Polygon(
        [(-40, -40), (40, -40), (40, 40), (-40, 40)], [[(-20, -20), (0, 25), (20, -10)]]
    ),
    "clockwise": Polygon([(0, 0), (0, 33), (44, 33)]),
    "one whole cell": box(7.5, GAUSSIAN.lat_edges[5], 22.5, GAUSSIAN.lat_edges[6]),
    "inside one cell": box(1.0, 1.0, 1.001, 1.0005),
    "a line thin as 1e-7 degrees": box(-100, 10, 100, 10 + 1e-7),
    "on grid lines": Polygon([(7.5, -90), (22.5, 0), (37.5, 90), (52.5, 0)]),
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_known_shapes(shape: BaseGeometry) -> None:
    assert shape.is_valid
    check(GAUSSIAN, shape)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("turn", [-360.0, 360.0])
def test_longitude_convention_does_not_matter(shape: BaseGeometry, turn: float) -> None:
    cells, fractions = coverage(GAUSSIAN, shape)
    turned_cells, turned_fractions = coverage(GAUSSIAN, translate(shape, turn))
    assert turned_cells.tolist() == cells.tolist()
    np.testing.assert_allclose(turned_fractions, fractions, rtol=0, atol=1e-10)


@st.composite
def stars(draw: st.DrawFn) -> Polygon:
    """Star-shaped polygons: any number of corners, never crossing themselves."""
    count = draw(st.integers(3, 25))
    radii = draw(st.lists(st.floats(0.3, 60), min_size=count, max_size=count))
    x, y = draw(st.floats(-180, 180)), draw(st.floats(-85, 85))
    angles = np.linspace(0, 2 * np.pi, count, endpoint=False)
    reach = np.array(radii)
    corners = np.column_stack([x + reach * np.cos(angles), y + reach * np.sin(angles)])
    return Polygon(corners)


@settings(max_examples=40, deadline=None)
@given(stars())
def test_any_star_on_a_gaussian_grid(star: Polygon) -> None:
    check(GAUSSIAN, star.intersection(box(-360, -90, 360, 90)))


@settings(max_examples=40, deadline=None)
@given(stars())
def test_any_star_on_a_region(star: Polygon) -> None:
    check(REGION, translate(star, 0, 20))


@settings(max_examples=40, deadline=None)
@given(stars(), st.floats(-80, 80))
def test_two_halves_make_the_whole(star: Polygon, cut: float) -> None:
    whole, north, south = np.zeros(GAUSSIAN.size), np.zeros(GAUSSIAN.size), np.zeros(GAUSSIAN.size)
    for target, part in (
        (whole, star),
        (north, star.intersection(box(-400, cut, 400, 200))),
        (south, star.intersection(box(-400, -200, 400, cut))),
    ):
        cells, fractions = coverage(GAUSSIAN, part)
        target[cells] = fractions
    np.testing.assert_allclose(north + south, whole, rtol=0, atol=3e-9)


def test_the_whole_earth_covers_every_cell_once() -> None:
    for grid in (GAUSSIAN, REGION):
        cells, fractions = coverage(grid, box(-180, -90, 180, 90))
        assert cells.tolist() == list(range(grid.size))
        np.testing.assert_allclose(fractions, 1.0, rtol=0, atol=1e-12)


def test_shapes_without_area_cover_nothing() -> None:
    for shape in (Point(3, 4), LineString([(0, 0), (50, 50)]), Polygon(), MultiPolygon()):
        assert coverage(GAUSSIAN, shape)[0].size == 0


def test_polygons_of_a_collection_are_used() -> None:
    part = SHAPES["far parts"]
    mixed = GeometryCollection([Point(0, 0), part, LineString([(0, 0), (1, 1)])])
    for got, expected in zip(coverage(GAUSSIAN, mixed), coverage(GAUSSIAN, part), strict=True):
        assert got.tolist() == expected.tolist()


def test_touching_cells_are_not_covered() -> None:
    cells, fractions = coverage(GAUSSIAN, SHAPES["one whole cell"])
    assert cells.size == 1
    assert fractions[0] == pytest.approx(1.0, abs=1e-12)
