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
        ({"latitude": 1.0, "longitude": -200.0}, "longitude must be -180 to 360"),
        ({"latitude": 1.0, "longitude": 361.0}, "longitude must be -180 to 360"),
        ({"parent": "Kenya"}, "parent needs a kind. Kenya has: city (2), lake (2)"),
        ({"feature": "Georgia"}, "several kinds: country, us_state"),
        ({"feature": "Knya"}, "Did you mean: "),
        ({"feature": "Kenya", "kind": "lake"}, "but there is 'Kenya' (kind country)"),
        ({"kind": "county"}, "the kinds are basin, city, continent"),
        ({"kind": "us_state", "parent": "France"}, "France has no us_state children; it has: city"),
        ({"kind": "city", "parent": "Narnia"}, "parent: There is no feature named 'Narnia'"),
        (
            {"feature": "Kenya", "parent": "Asia"},
            "Asia has no feature named 'Kenya'; Kenya is listed under Africa. Drop parent.",
        ),
        (
            {"feature": "Lake Victoria", "parent": "Uganda"},
            "Lake Victoria is listed under Tanzania",
        ),
        ({"kind": "lake", "parent": "Monaco"}, "A lake on a border is listed under one country"),
        ({"kind": "city", "parent": "Congo"}, "parent: 'Congo' may be any of: Democratic Republic"),
        ({"feature": "all"}, "There is no feature named 'all'"),
        ({"feature": "null"}, "say where: feature"),
        ({"kind": "none"}, "say where: feature"),
        ({"feature": "Columbia"}, "'Columbia (CAE)' (kind nws_cwa)"),
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
    assert (
        "mean over each lake listed under Kenya, all steps 6-240 h, highest first (2 of" in answer
    )


@pytest.mark.parametrize(
    ("kind", "parent", "label", "name"),
    [
        ("deserts", "asia", "each desert in Asia", "Taklamakan Desert"),
        ("peninsula", "Asia", "each peninsula in Asia", "Anatolia"),
        ("sea", "Pacific Ocean", "each sea in Pacific Ocean", "Bering Sea"),
        ("city", "Africa", "each city in Africa", None),
    ],
)
def test_a_kind_in_a_parent_takes_in_what_its_parts_have(text, kind, parent, label, name):
    answer = text("dataset", **SAY, kind=kind, parent=parent, hour=6, limit=30)
    assert f"mean over {label}, at 6 h" in answer
    assert name is None or f". {name}: " in answer
    assert answer.count(" °C\n") <= 30


def test_a_feature_of_a_part_of_a_parent(text):
    assert "over Lake Victoria (lake)" in text("dataset", **SAY, feature="Victoria", kind="lake",
                                               parent="Africa")  # fmt: skip


def test_the_article_is_left_out(text):
    ask = {**SAY, "hour": 6}
    assert text("dataset", **ask, feature="the Sahara") == text("dataset", **ask, feature="Sahara")


@pytest.mark.parametrize("nothing", ["null", "None", "N/A", "all", "any", "*"])
def test_what_means_nothing_is_no_name(text, nothing):
    ask = {**SAY, "kind": "desert", "hour": 6}
    assert text("dataset", **ask, feature=nothing) == text("dataset", **ask)
    assert text("dataset", **ask, parent=nothing) == text("dataset", **ask)


def test_a_kind_in_the_world_is_all_of_it(text):
    ask = {**SAY, "kind": "desert", "hour": 6}
    assert text("dataset", **ask, parent="the world") == text("dataset", **ask)


def test_null_beside_a_feature_is_not_given(text):
    ask = {**SAY, "feature": "Kenya", "hour": 6}
    assert text("dataset", **ask, kind="null", parent="None") == text("dataset", **ask)


@pytest.mark.parametrize("argument", ["feature", "kind", "parent", "variable"])
def test_a_long_name_is_cut_in_the_answer(refusal, argument):
    ask = {**SAY, "kind": "lake", "parent": "Kenya", argument: "x" * 20_000}
    assert len(refusal("dataset", **ask)) < 600


@pytest.mark.parametrize(
    ("latitude", "longitude"), [("1.5°S", "36.8 E"), ("-1.5", "36.8"), ("1.5 s", "36.8°")]
)
def test_degrees_may_have_their_side(text, latitude, longitude):
    ask = {**SAY, "hour": 6}
    plain = text("dataset", **ask, latitude=-1.5, longitude=36.8)
    assert text("dataset", **ask, latitude=latitude, longitude=longitude) == plain


@pytest.mark.parametrize("latitude", ["1E", "-1S", "north", True])
def test_other_degrees_are_refused_with_how_to_mend_them(call, latitude):
    result = call("dataset", **SAY, latitude=latitude, longitude=3)
    assert result.error == "invalid_arguments"
    assert ("plain number, positive to the north" in result.text) == (latitude is not True)


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
