"""How features are looked up, and stores made from files."""

import json
import subprocess
import sys
import unicodedata
from pathlib import Path

import geopandas
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from zephyrus_geodata import names as comparing
from zephyrus_geodata.aliases import ALIASES_FILE
from zephyrus_geodata.features import (
    AmbiguousFeature,
    Feature,
    FeatureStore,
    UnknownFeature,
    normalise,
)
from zephyrus_geodata.names import lookup_key

STORE = FeatureStore.load()
FEATURES = list(STORE)


def plain(text: str) -> str:
    """Upper case without accents, written without the code under test."""
    letters = unicodedata.normalize("NFD", text).translate(str.maketrans("łŁøØıə", "lLoOia"))
    return "".join(c for c in letters if unicodedata.category(c) != "Mn").upper()


@pytest.mark.parametrize(
    ("text", "kind", "key"),
    [
        ("lake vanern", None, "lake:Vänern"),
        ("VÄNERN", None, "lake:Vänern"),
        ("sao paulo", None, "city:São Paulo"),
        ("cote divoire", None, "country:Côte d'Ivoire"),
        ("Guinea Bissau", None, "country:Guinea-Bissau"),
        ("USA", None, "country:United States"),
        ("U.S.", None, "country:United States"),
        ("US", None, "country:United States"),
        ("America", None, "country:United States"),
        ("United States of America", None, "country:United States"),
        ("UK", None, "country:United Kingdom"),
        ("Britain", "country", "country:United Kingdom"),
        ("UAE", None, "country:United Arab Emirates"),
        ("Persian Gulf", None, "sea:Persian Gulf"),
        ("Arabian Gulf", None, "sea:Persian Gulf"),
        ("Gulf of America", None, "sea:Gulf of Mexico"),
        ("East Sea", None, "sea:Sea of Japan"),
        ("Burma", None, "country:Myanmar"),
        ("Czech Republic", None, "country:Czechia"),
        ("Ivory Coast", None, "country:Côte d'Ivoire"),
        ("DRC", None, "country:Democratic Republic of the Congo"),
        ("Republic of Korea", None, "country:South Korea"),
        ("Holland", None, "country:Netherlands"),
        ("Swaziland", None, "country:Eswatini"),
        ("Macedonia", None, "country:North Macedonia"),
        ("Türkiye", None, "country:Turkey"),
        ("East Timor", None, "country:Timor-Leste"),
        ("Cape Verde", None, "country:Cabo Verde"),
        ("Trinidad & Tobago", None, "country:Trinidad and Tobago"),
        ("TX", "us_state", "us_state:Texas"),
        ("ca", "us_state", "us_state:California"),
        ("Victoria", "lake", "lake:Lake Victoria"),
        ("Titicaca", "lake", "lake:Lake Titicaca"),
        ("Lago Titicaca", None, "lake:Lake Titicaca"),
        ("New York City", None, "city:New York"),
        ("Saigon", None, "city:Ho Chi Minh City"),
        ("Kiev", None, "city:Kyiv"),
        ("Munchen", None, "city:Munich"),
        ("Washington DC", None, "city:Washington, D.C."),
        ("Washington", "city", "city:Washington, D.C."),
        ("Saint Louis", None, "city:St. Louis"),
        ("st johns, canada", None, "city:St. John's, Canada"),
        ("Paris, France", None, "city:Paris"),
        ("Georgia, United States", None, "us_state:Georgia"),
        ("BOX", None, "nws_cwa:Boston / Norton (BOX)"),
        ("Boston / Norton", "nws_cwa", "nws_cwa:Boston / Norton (BOX)"),
        ("Columbia", "nws_cwa", "nws_cwa:Columbia (CAE)"),
        ("Chicago, United States", None, "city:Chicago"),
        ("the Sahara", None, "desert:Sahara"),
        ("The Bering Sea", None, "sea:Bering Sea"),
        ("the Gobi", None, "desert:Gobi Desert"),
        ("The Hague", None, "city:The Hague"),
        ("Koeln", None, "city:Cologne"),
        ("Duesseldorf", None, "city:Düsseldorf"),
        ("Muenchen", "city", "city:Munich"),
        ("Micronesia", "country", "country:Federated States of Micronesia"),
        ("Micronesia", "subregion", "subregion:Micronesia"),
        ("Washington", "us_state", "us_state:Washington"),
        ("lwx", "nws_cwa", "nws_cwa:Baltimore / Washington (LWX)"),
        ("country:Georgia", None, "country:Georgia"),
    ],
)
def test_get(text: str, kind: str | None, key: str) -> None:
    assert STORE.get(text, kind).key == key


@pytest.mark.parametrize(
    ("text", "kind", "says"),
    [
        ("Georgia", None, "several kinds: country, us_state"),
        ("New York", None, "several kinds: city, us_state"),
        ("Greenland", None, "several kinds: country, island. Say"),  # not Greenland Sea
        ("Washington", None, "several kinds: city, us_state. Say"),
        ("Micronesia", None, "several kinds: country, subregion. Say"),
        ("Victoria", None, "Lake Victoria (lake)"),
        ("Victoria", "city", "Victoria, Canada (city); Victoria, Seychelles (city)"),
        (
            "Congo",
            None,
            "Democratic Republic of the Congo (country); Republic of the Congo (country)",
        ),
    ],
)
def test_ambiguous_names_say_what_shares_them(text: str, kind: str | None, says: str) -> None:
    with pytest.raises(AmbiguousFeature) as error:
        STORE.get(text, kind)
    assert says in str(error.value)
    assert isinstance(error.value, LookupError)


def test_ambiguous_name_is_settled_by_its_kind() -> None:
    assert STORE.get("georgia", "us_state").parent == "United States"
    assert STORE.get("georgia", "country").parent == "Asia"


@pytest.mark.parametrize(
    ("text", "kind", "nearest"),
    [
        ("Zurch", None, "Zürich (city)"),
        ("Unted States", "country", "United States"),
        ("Lake Superor", None, "Lake Superior (lake)"),
        ("Sout Afrika", None, "South Africa (country)"),
        ("Nairobbi", "city", "Nairobi"),
        ("kenia", None, "Kenya (country), "),
        ("Marocco", None, "Morocco (country), "),
        ("the Sahra", None, "Sahara (desert), "),
    ],
)
def test_unknown_names_are_answered_with_the_nearest(
    text: str, kind: str | None, nearest: str
) -> None:
    with pytest.raises(UnknownFeature) as error:
        STORE.get(text, kind)
    message = str(error.value)
    assert f"Did you mean: {nearest}" in message
    assert repr(text) in message
    assert isinstance(error.value, LookupError)


@pytest.mark.parametrize(
    ("text", "kind", "says"),
    [
        ("TX", None, "there is 'Texas' (kind us_state)"),
        (
            "Texas",
            "country",
            "There is no country named 'Texas', but there is 'Texas' (kind us_state)",
        ),
        ("Columbia", None, "but there is 'Columbia Plateau' (kind plateau) or 'Columbia (CAE)'"),
        ("England", None, "There is no feature named 'England': it is part of United Kingdom"),
        ("wales", "country", "There is no country named 'wales': it is part of United Kingdom"),
        ("qqqqqq", None, "nor one with a similar name"),
        ("", None, "There is no feature named ''"),
        ("Texas", "state", "There is no kind 'state'; the kinds are basin, city, continent"),
    ],
)
def test_other_unknown_names(text: str, kind: str | None, says: str) -> None:
    with pytest.raises(UnknownFeature) as error:
        STORE.get(text, kind)
    assert says in str(error.value)


def test_find_ranks_exact_before_beginning_before_containing_before_misspelt() -> None:
    assert STORE.find("Texas")[0].key == "us_state:Texas"
    assert [f.name for f in STORE.find("united", kind="country")] == [
        "United Arab Emirates",
        "United Kingdom",
        "United States",
    ]
    names = [f.name for f in STORE.find("Mexico", limit=20)]
    assert names[:2] == ["Mexico", "Mexico City"] and "New Mexico" in names
    assert [f.name for f in STORE.find("Nairobbi")] == ["Nairobi"]
    assert {f.key for f in STORE.find("victoria")} >= {
        "lake:Lake Victoria",
        "city:Victoria, Canada",
    }
    assert STORE.find("zzzzzz") == []


def test_find_obeys_kind_parent_and_limit() -> None:
    found = STORE.find("san", kind="city", parent="USA", limit=3)
    assert [f.name for f in found] == ["San Antonio", "San Bernardino", "San Diego"]
    assert STORE.find("", kind="continent", limit=2) == STORE.of_kind("continent")[:2]


def test_children_and_of_kind_take_aliases_of_the_parent() -> None:
    states = STORE.children("usa", "us_state")
    assert len(states) == 56 and states == STORE.of_kind("us_state", parent="United States")
    assert {f.kind for f in STORE.children("Sweden")} >= {"lake", "city", "island"}
    assert "Lake Tanganyika" in {f.name for f in STORE.of_kind("lake", parent="Tanzania")}
    assert STORE.children("Texas") == []
    with pytest.raises(UnknownFeature, match="Sweden"):
        STORE.children("Swedn")


@pytest.mark.parametrize(
    ("kind", "parent", "there", "elsewhere"),
    [
        # feature → country → continent
        (
            "desert",
            "Asia",
            {"Gobi Desert", "Taklamakan Desert", "Lut Desert (Dasht-e Lut)"},
            "Sahara",
        ),
        ("peninsula", "Asia", {"Arabian Peninsula", "Anatolia", "Kathiawar Peninsula"}, "Jutland"),
        ("city", "africa", {"Nairobi", "Lagos", "Cairo"}, "Paris"),
        ("us_state", "North America", {"Texas", "Alaska"}, None),
        # sea → ocean → ocean
        ("sea", "Pacific Ocean", {"Bering Sea", "Tasman Sea"}, "Baltic Sea"),
        # what is listed under Russia, by where it lies
        ("lake", "Asia", {"Lake Baikal", "Dead Sea"}, "Lake Ladoga"),
        ("lake", "Europe", {"Lake Ladoga", "Vänern"}, "Lake Baikal"),
        ("city", "Asia", {"Vladivostok", "Omsk", "Beijing"}, "Moscow"),
        ("city", "Europe", {"Moscow", "Murmansk"}, "Vladivostok"),
        ("mountain_range", "Asia", {"Ural Mountains"}, "Alps"),
        ("mountain_range", "Europe", {"Ural Mountains"}, "Tian Shan"),
        ("country", "Europe", {"Russia"}, "Kazakhstan"),
        ("lake", "Russia", {"Lake Baikal", "Lake Ladoga"}, "Vänern"),
    ],
)
def test_what_belongs_to_a_parent_through_others(
    kind: str, parent: str, there: set[str], elsewhere: str | None
) -> None:
    names = {feature.name for feature in STORE.of_kind(kind, parent)}
    assert there <= names
    assert elsewhere not in names
    assert [f for f in STORE.children(parent) if f.kind == kind] == STORE.of_kind(kind, parent)


def test_the_continents_share_out_what_has_a_country() -> None:
    continents = [c.name for c in STORE.of_kind("continent")]
    for kind in ("city", "lake", "country", "subregion"):
        shared = [f.key for c in continents for f in STORE.of_kind(kind, c)]
        assert sorted(shared) == sorted(f.key for f in STORE.of_kind(kind))


def test_direct_children_are_among_all_children() -> None:
    for parent in {f.parent for f in FEATURES if f.parent}:
        direct = {f.key for f in FEATURES if f.parent == parent}
        assert direct <= {f.key for f in STORE.children(parent)}


def test_a_feature_is_never_its_own_parent() -> None:
    square = shapely.box(0, 0, 1, 1)
    round_about = [Feature.of(n, "region", square, parent=p) for n, p in ("AB", "BC", "CA", "DD")]
    store = FeatureStore(round_about)
    assert [f.name for f in store.children("A")] == ["B", "C"]
    assert store.children("D") == []


def test_which_feature_a_parent_is() -> None:
    assert STORE.parent_named("Georgia").key == "country:Georgia"
    assert STORE.parent_named("antarctica").key == "continent:Antarctica"
    assert STORE.parent_named("the Pacific Ocean").key == "ocean:Pacific Ocean"
    assert STORE.parent_named("us_state:Georgia").key == "us_state:Georgia"
    with pytest.raises(AmbiguousFeature, match="Democratic Republic of the Congo"):
        STORE.children("Congo")


def test_a_long_name_is_cut_in_the_message() -> None:
    with pytest.raises(UnknownFeature) as error:
        STORE.get("x" * 20_000)
    assert len(str(error.value)) < 200
    with pytest.raises(UnknownFeature) as error:
        STORE.of_kind("x" * 20_000)
    assert len(str(error.value)) < 300


def test_every_alias_leads_to_its_feature() -> None:
    for kind, names in json.loads(ALIASES_FILE.read_text(encoding="utf-8")).items():
        for name, aliases in names.items():
            feature = STORE[f"{kind}:{name}"]
            for alias in aliases:
                try:
                    assert STORE.get(alias, kind) is feature
                except AmbiguousFeature as error:
                    assert f"{name} ({kind})" in str(error)


@given(st.sampled_from(FEATURES))
@settings(deadline=None, max_examples=300)
def test_every_feature_is_found_by_its_name_and_kind(feature: Feature) -> None:
    for text in (feature.name, feature.name.upper(), plain(feature.name), f" {feature.name}! "):
        assert STORE.get(text, feature.kind) is feature
    assert STORE.get(feature.key) is feature
    assert STORE.find(feature.name, feature.kind, limit=1) == [feature]


@given(st.text())
def test_normalise_is_idempotent(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once
    assert once == once.strip() and "  " not in once


@given(st.text(max_size=30), st.sampled_from([None, *STORE.kinds()]))
@settings(deadline=None)
def test_any_text_is_found_or_answered_with_a_sentence(text: str, kind: str | None) -> None:
    try:
        assert STORE.get(text, kind) in FEATURES
    except (UnknownFeature, AmbiguousFeature) as error:
        assert str(error)[-1] in ".?!"


# The store itself.


def test_loading_needs_neither_geopandas_nor_pandas_nor_shapely() -> None:
    code = (
        "import sys, zephyrus_geodata.features as f; s = f.FeatureStore.load();"
        "print(s.get('Iceland', 'country').name,"
        "[m for m in ('geopandas', 'pandas', 'shapely') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "Iceland []"


def test_to_geodataframe_holds_the_same() -> None:
    frame = STORE.to_geodataframe()
    assert list(frame.columns) == ["name", "kind", "parent", "source", "geometry"]
    assert list(frame.name) == [f.name for f in FEATURES]
    assert frame.crs.equals("EPSG:4326")
    assert frame.geometry[0].equals(FEATURES[0].geometry)


def test_twins_are_refused() -> None:
    square = shapely.box(0, 0, 1, 1)
    with pytest.raises(ValueError, match=r"lake:Å.*lake:A"):
        FeatureStore([Feature.of("Å", "lake", square), Feature.of("A", "lake", square)])


@pytest.mark.parametrize("ending", [".parquet", ".gpkg", ".shp"])
def test_own_file_in_another_projection(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"regions{ending}"
    names = ["Eifel", "Eifel", None, "Harz"]
    shapes = [shapely.box(6, 50, 7, 51), shapely.box(7, 50, 8, 51), shapely.box(0, 0, 1, 1)]
    shapes.append(shapely.box(10, 51, 11, 52))
    frame = geopandas.GeoDataFrame({"NAME": names}, geometry=shapes, crs=4326).to_crs(3857)
    if ending == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_file(path)
    store = FeatureStore.load(path, kind="region")
    assert store.kinds() == {"region": 2}
    assert store.get("eifel").source == path.name
    assert store.get("eifel").geometry.bounds == pytest.approx((6, 50, 8, 51))


def test_own_file_that_lacks_something(tmp_path: Path) -> None:
    path = tmp_path / "own.gpkg"
    points = [shapely.Point(0, 0), shapely.Point(1, 1)]
    geopandas.GeoDataFrame({"title": ["A", "A"]}, geometry=points, crs=4326).to_file(path)
    with pytest.raises(ValueError, match=r"no column 'name'.*title"):
        FeatureStore.load(path, kind="city")
    with pytest.raises(ValueError, match="no column 'kind'"):
        FeatureStore.load(path, name_column="title")
    with pytest.raises(ValueError, match="several points named 'A'"):
        FeatureStore.load(path, kind="city", name_column="title")
    with pytest.raises(FileNotFoundError, match=r"nowhere\.gpkg"):
        FeatureStore.load(tmp_path / "nowhere.gpkg")


def test_a_list_of_features_is_the_callers_own() -> None:
    for listed in (
        lambda: STORE.of_kind("desert"),
        lambda: STORE.of_kind("city", "Kenya"),
        lambda: STORE.children("Kenya"),
    ):
        before = list(listed())
        listed().clear()
        assert before and listed() == before


def test_named_gives_all_that_a_name_may_mean() -> None:
    assert [f.key for f in STORE.named("Georgia")] == ["country:Georgia", "us_state:Georgia"]
    assert [f.key for f in STORE.named("Georgia", "us_state")] == ["us_state:Georgia"]
    assert STORE.named("Narnia") == []
    with pytest.raises(UnknownFeature, match="no kind 'county'"):
        STORE.named("Georgia", "county")


@pytest.mark.parametrize("function", [normalise, lookup_key])
def test_long_texts_are_read_but_not_remembered(function) -> None:
    held = [kept.cache_info().currsize for kept in (comparing._kept_normal, comparing._kept_key)]
    assert function("Á" * 5000) == "a" * 5000
    assert held == [
        kept.cache_info().currsize for kept in (comparing._kept_normal, comparing._kept_key)
    ]
