import pytest

SAY = {"variable": "2m_temperature"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "say where: feature"),
        ({"feature": " "}, "say where: feature"),
        ({"feature": "Kenya", "latitude": 1.0, "longitude": 2.0}, "either a point"),
        ({"kind": "country", "latitude": 1.0, "longitude": 2.0}, "either a point"),
        ({"latitude": 1.0}, "longitude is missing"),
        ({"longitude": 1.0}, "latitude is missing"),
        ({"latitude": 91.0, "longitude": 2.0}, "latitude must be -90 to 90 degrees north, not 91"),
        ({"latitude": 1.0, "longitude": -200.0}, "longitude must be -180 to 180"),
        ({"parent": "Kenya"}, "parent needs a kind. Kenya has: city (2), lake (2)"),
        ({"feature": "Georgia"}, "several kinds: country, us_state"),
        ({"feature": "Knya"}, "Did you mean: "),
        ({"feature": "Kenya", "kind": "lake"}, "but there is 'Kenya' (kind country)"),
        ({"kind": "county"}, "the kinds are basin, city, continent"),
        ({"kind": "us_state", "parent": "France"}, "France has no us_state children; it has: city"),
        ({"kind": "city", "parent": "Narnia"}, "parent: There is no feature named 'Narnia'"),
        ({"feature": "Kenya", "parent": "Asia"}, "Asia has no feature named 'Kenya'"),
    ],
)
def test_a_wrong_place_is_refused_with_how_to_mend_it(refusal, arguments, message):
    assert message in refusal("dataset", **SAY, **arguments)
    assert message in refusal("climatology", **SAY, **arguments)


@pytest.mark.parametrize(
    ("kind", "label"),
    [
        ("states", "each us_state"),
        ("US States", "each us_state"),
        ("countries", "each country"),
        ("Mountain ranges", "each mountain_range"),
        ("deserts", "each desert"),
        ("seas", "each sea"),
        ("cities", "each city"),
    ],
)
def test_kinds_may_be_plural(text, kind, label):
    assert f"mean over {label}, " in text("dataset", **SAY, kind=kind, hour=6)


def test_a_kind_or_a_parent_tells_namesakes_apart(text):
    assert "over Georgia (country)" in text("dataset", **SAY, feature="Georgia", kind="country")
    united = text("dataset", **SAY, feature="Georgia", parent="USA")
    assert "over Georgia (us_state)" in united


def test_names_are_forgiving(text):
    assert "over United States (country)" in text("dataset", **SAY, feature="usa")


def test_children_of_a_parent(text):
    answer = text("dataset", **SAY, kind="lake", parent="kenya")
    assert "mean over each lake in Kenya, 6-240 h, highest first (2 of 2 shown):" in answer


def test_a_point_is_the_nearest_cell(text, forecast):
    answer = text("dataset", **SAY, latitude=-1.3, longitude=36.8, hour=24)
    cell = forecast.grid.nearest(-1.3, 36.8)
    expected = float(forecast.cells("2m_temperature")[cell, 3]) - 273.15
    assert "at point 1.30°S 36.80°E, nearest grid cell, at 24 h" in answer
    assert answer.endswith(f": {expected:.2f} °C")
    assert text("dataset", **SAY, latitude=-1.3, longitude=-323.2 + 360.0, hour=24) == answer


def test_the_whole_world(text, forecast):
    answer = text("dataset", **SAY, feature="world", hour=24)
    values = forecast.cells("2m_temperature")[:, 3].astype(float)
    mean = (values * forecast.grid.cell_area).sum() / forecast.grid.cell_area.sum() - 273.15
    assert "mean over the world" in answer
    assert float(answer.split(": ")[-1].removesuffix(" °C")) == pytest.approx(mean, abs=6e-3)


def test_features_smaller_than_a_cell_are_said_to_be(text):
    answer = text("dataset", **SAY, feature="Malta", hour=6).splitlines()
    assert answer[0].endswith(" °C")
    assert answer[1].startswith("(Malta is smaller than a grid cell")
    assert "grid cell" not in text("dataset", **SAY, feature="Brazil", hour=6)
    table = text("dataset", **SAY, kind="country", parent="Europe", hour=6, limit=60)
    assert "Smaller than a grid cell, read off the cells they lie in: " in table
