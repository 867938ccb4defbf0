"""The shipped features against independent lists of names, areas and rules."""

import unicodedata

import geopandas
import numpy as np
import pyproj
import pytest
import shapely

from zephyrus_geodata.aliases import FEATURES_FILE
from zephyrus_geodata.features import (
    Feature,
    FeatureStore,
    normalise,
)

STORE = FeatureStore.load()
FEATURES = list(STORE)

PARENT_KINDS: dict[str, set[str | None]] = {
    "continent": {None},
    "subregion": {"continent"},
    "country": {"continent"},
    "us_state": {"country"},
    "ocean": {None, "ocean"},
    "sea": {None, "ocean"},
    "lake": {"country"},
    "island": {"country", "continent"},
    "desert": {"country", "continent"},
    "mountain_range": {"country", "continent"},
    "peninsula": {"country", "continent"},
    "plateau": {"country", "continent"},
    "plain": {"country", "continent"},
    "basin": {"country", "continent"},
    "city": {"country"},
    "nws_cwa": {"country"},
}

# Total areas in km² as national statistics give them (CIA World Factbook, UN); countries whose
# borders or inland waters are counted in several ways are left out.
COUNTRY_AREAS = {
    "Argentina": 2_780_400,
    "Australia": 7_692_024,
    "Bolivia": 1_098_581,
    "Brazil": 8_515_767,
    "Canada": 9_984_670,
    "Cuba": 109_884,
    "Egypt": 1_002_450,
    "France": 643_801,
    "Germany": 357_592,
    "Greenland": 2_166_086,
    "Iceland": 103_000,
    "Indonesia": 1_904_569,
    "Italy": 301_340,
    "Jamaica": 10_991,
    "Japan": 377_975,
    "Kazakhstan": 2_724_900,
    "Luxembourg": 2_586,
    "Mexico": 1_964_375,
    "Mongolia": 1_564_116,
    "New Zealand": 268_021,
    "Norway": 385_207,
    "Peru": 1_285_216,
    "Poland": 312_696,
    "Russia": 17_098_246,
    "South Africa": 1_221_037,
    "Spain": 505_990,
    "Sweden": 450_295,
    "Switzerland": 41_285,
    "Turkey": 783_562,
    "Ukraine": 603_628,
    "United Kingdom": 243_610,
}
STATE_AREAS = {"Texas": 695_662, "Colorado": 269_601, "Kansas": 213_100, "Nevada": 286_380}
LAKE_AREAS = {"Lake Superior": 82_100, "Lake Victoria": 68_870, "Lake Baikal": 31_722}

LARGE_LAKES = """
Lake Superior; Lake Victoria; Lake Huron; Lake Michigan; Lake Tanganyika; Lake Baikal;
Great Bear Lake; Lake Malawi; Great Slave Lake; Lake Erie; Lake Winnipeg; Lake Ontario;
Lake Ladoga; Lake Balkhash; Lake Onega; Lake Titicaca; Lake Nicaragua; Lake Athabasca;
Lake Turkana; Issyk-Kul; Vänern; Lake Albert; Lake Mweru; Nettilling Lake; Lake Nipigon;
Qinghai Lake; Lake Urmia; Päijänne; Lake Khanka; Represa de Tucuruí; Lake Van; Uvs Lake;
Lake Tana; Réservoir Robert-Bourassa; Réservoir de La Grande 3; Lake Khövsgöl; Lake Peipus;
Tonlé Sap; Itaipu Reservoir; Réservoir Manicouagan; Vättern; Lago Buenos Aires; Mälaren;
Réservoir Gouin; Inarijärvi; Lago Rincón del Bonete; Lago Poopó; Lake Okeechobee;
Represa Três Marias; Lac à l'Eau-Claire; Oulujärvi; Represa de São Simão; Pyhäjärvi (Tampere);
Lac Saint-Jean; Lago San Martín; Lake Sevan; Lake Toba; Lago Argentino; Lago Viedma
"""
SMALLER_LAKES = "Hjälmaren; Storsjön; Torneträsk; Mjøsa; Røssvatnet; Võrtsjärv; Müritz; Åsnen"

CITIES = """
Asunción (Paraguay); Bogotá (Colombia); Brasília (Brazil); Chișinău (Moldova); Lomé (Togo);
Malé (Maldives); N'Djamena (Chad); Nukuʻalofa (Tonga); Reykjavík (Iceland); Tórshavn (Faroe Islands);
São Tomé (São Tomé and Príncipe); Yaoundé (Cameroon); Nouméa (New Caledonia); Hagåtña (Guam);
Abéché (Chad); Belém (Brazil); Bouaké (Côte d'Ivoire); Cancún (Mexico); Ciudad Juárez (Mexico);
Córdoba (Argentina); Cúcuta (Colombia); Culiacán (Mexico); Cuiabá (Brazil); Diyarbakır (Turkey);
Düsseldorf (Germany); Eskişehir (Turkey); Florianópolis (Brazil); Gdańsk (Poland); Goiânia (Brazil);
Huế (Vietnam); İzmir (Turkey); Kraków (Poland); León (Mexico); Liège (Belgium); Łódź (Poland);
Macapá (Brazil); Maceió (Brazil); Málaga (Spain); Malmö (Sweden); Mazatlán (Mexico);
Medellín (Colombia); Mérida (Mexico); Montréal (Canada); Niterói (Brazil); Poznań (Poland);
Querétaro (Mexico); Ribeirão Preto (Brazil); Saarbrücken (Germany); San Luis Potosí (Mexico);
Santarém (Brazil); São Luís (Brazil); São Paulo (Brazil); Torreón (Mexico); Tromsø (Norway);
Uberlândia (Brazil); Ürümqi (China); Valparaíso (Chile); Viña del Mar (Chile); Vitória (Brazil);
Wrocław (Poland); Xi'an (China); Zürich (Switzerland); Ghardaïa (Algeria); João Pessoa (Brazil)
"""

CAPITALS = """
Abu Dhabi; Abuja; Accra; Addis Ababa; Algiers; Amman; Amsterdam; Andorra la Vella; Ankara;
Antananarivo; Apia; Ashgabat; Asmara; Astana; Asunción; Athens; Baghdad; Baku; Bamako;
Bandar Seri Begawan; Bangkok; Bangui; Banjul; Basseterre; Beijing; Beirut; Belgrade; Belmopan;
Berlin; Bern; Bishkek; Bissau; Bogotá; Brasília; Bratislava; Brazzaville; Bridgetown; Brussels;
Bucharest; Budapest; Buenos Aires; Cairo; Canberra; Caracas; Castries; Chișinău; Conakry;
Copenhagen; Dakar; Damascus; Dhaka; Dili; Djibouti; Dodoma; Doha; Dublin; Dushanbe; Freetown;
Funafuti; Gaborone; Georgetown; Gitega; Guatemala City; Hanoi; Harare; Havana; Helsinki; Honiara;
Islamabad; Jakarta; Jerusalem; Juba; Kabul; Kampala; Kathmandu; Khartoum; Kigali; Kingston;
Kingstown; Kinshasa; Kuala Lumpur; Kuwait City; Kyiv; La Paz; Libreville; Lilongwe; Lima; Lisbon;
Ljubljana; Lomé; London; Luanda; Lusaka; Luxembourg City; Madrid; Majuro; Malabo; Malé; Managua;
Manama; Manila; Maputo; Maseru; Mbabane; Mexico City; Minsk; Mogadishu; Monaco; Monrovia;
Montevideo; Moroni; Moscow; Muscat; N'Djamena; Nairobi; Nassau; Naypyidaw; New Delhi; Ngerulmud;
Niamey; Nicosia; Nouakchott; Nukuʻalofa; Oslo; Ottawa; Ouagadougou; Palikir; Panama City;
Paramaribo; Paris; Phnom Penh; Podgorica; Port Louis; Port Moresby; Port Vila; Port of Spain;
Port-au-Prince; Porto-Novo; Prague; Praia; Pretoria; Pristina; Pyongyang; Quito; Rabat; Reykjavík;
Riga; Riyadh; Rome; Roseau; San Marino; San Salvador; Sana'a; Santiago; Santo Domingo; São Tomé;
Sarajevo; Seoul; Singapore; Skopje; Sofia; Stockholm; Sucre; Suva; Taipei; Tallinn; Tarawa;
Tashkent; Tbilisi; Tegucigalpa; Tehran; Thimphu; Tirana; Tokyo; Tunis; Ulaanbaatar; Vaduz;
Valletta; Vatican City; Vienna; Vientiane; Vilnius; Warsaw; Washington, D.C.; Wellington;
Windhoek; Yamoussoukro; Yerevan; Zagreb
"""


def listed(text: str) -> list[str]:
    return [" ".join(entry.split()) for entry in text.split(";")]


def area_km2(feature: Feature) -> float:
    """The area on the ellipsoid, by an equal-area projection: another way than the build's."""
    project = pyproj.Transformer.from_crs("EPSG:4326", "EPSG:6933", always_xy=True).transform

    def to_metres(degrees: np.ndarray) -> np.ndarray:
        return np.column_stack(project(degrees[:, 0], degrees[:, 1]))

    fine = shapely.segmentize(feature.geometry, 0.25)
    return float(shapely.transform(fine, to_metres).area) / 1e6


def test_kinds_and_counts() -> None:
    kinds = STORE.kinds()
    assert set(kinds) == set(PARENT_KINDS)
    assert list(kinds) == sorted(kinds)
    assert sum(kinds.values()) == len(STORE) == len(FEATURES)
    exact = {"continent": 7, "subregion": 22, "us_state": 56, "ocean": 9, "nws_cwa": 123}
    assert {kind: kinds[kind] for kind in exact} == exact
    least = {"country": 230, "city": 1100, "lake": 500, "sea": 40, "island": 48, "basin": 5}
    assert all(kinds[kind] >= number for kind, number in least.items())


def test_file_is_small_geoparquet_with_the_documented_columns() -> None:
    assert FEATURES_FILE.stat().st_size <= 3_000_000
    frame = geopandas.read_parquet(FEATURES_FILE)
    assert list(frame.columns) == ["name", "kind", "parent", "source", "geometry"]
    assert frame.crs.equals("OGC:CRS84")
    assert set(frame.source) == {"natural_earth", "us_census", "noaa_nws", "outline"}


def test_geometries_are_valid_and_within_the_globe() -> None:
    shapes = [feature.geometry for feature in FEATURES]
    assert all(shapely.is_valid(shapes))
    assert not any(shapely.is_empty(shapes))
    west, south, east, north = shapely.bounds(shapes).T
    assert west.min() >= -180 and east.max() <= 180
    assert south.min() >= -90 and north.max() <= 90
    types = {feature.kind: {"Polygon", "MultiPolygon"} for feature in FEATURES} | {
        "city": {"Point"}
    }
    assert all(feature.geometry.geom_type in types[feature.kind] for feature in FEATURES)


@pytest.mark.parametrize("name", ["Russia", "Fiji"])
def test_countries_are_cut_at_the_antimeridian(name: str) -> None:
    parts = shapely.get_parts(STORE.get(name, "country").geometry)
    west, _, east, _ = shapely.bounds(parts).T
    assert west.min() == pytest.approx(-180, abs=0.01) and east.max() == pytest.approx(
        180, abs=0.01
    )
    assert (east - west).max() < 170


def test_no_two_features_of_a_kind_share_a_name() -> None:
    keys = {(feature.kind, normalise(feature.name)) for feature in FEATURES}
    assert len(keys) == len(FEATURES)


@pytest.mark.parametrize("kind", PARENT_KINDS)
def test_parents_exist_and_are_of_the_right_kind(kind: str) -> None:
    for feature in STORE.of_kind(kind):
        kinds: set[str | None] = {f.kind for f in FEATURES if f.name == feature.parent}
        assert (kinds or {None}) & PARENT_KINDS[kind], feature
        if feature.parent is not None:
            assert feature in STORE.children(feature.parent, kind)


def test_hand_drawn_outlines_are_marked() -> None:
    drawn = {"ocean", "sea", "desert", "mountain_range", "peninsula", "plateau", "plain", "basin"}
    assert {f.source for f in FEATURES if f.kind in drawn} == {"outline"}
    others = {f.key for f in FEATURES if f.kind not in drawn and f.source == "outline"}
    assert others == {
        "continent:Asia",
        "continent:Europe",
        "subregion:Eastern Europe",
        "subregion:Northern Asia",
    }


@pytest.mark.parametrize(("name", "area"), COUNTRY_AREAS.items())
def test_area_of_countries(name: str, area: float) -> None:
    assert area_km2(STORE.get(name, "country")) == pytest.approx(area, rel=0.02)


@pytest.mark.parametrize(("name", "area"), STATE_AREAS.items())
def test_area_of_states(name: str, area: float) -> None:
    assert area_km2(STORE.get(name, "us_state")) == pytest.approx(area, rel=0.02)


@pytest.mark.parametrize(("name", "area"), LAKE_AREAS.items())
def test_area_of_lakes(name: str, area: float) -> None:
    assert area_km2(STORE.get(name, "lake")) == pytest.approx(area, rel=0.04)


def test_states_make_up_their_country() -> None:
    territories = {
        "American Samoa",
        "Guam",
        "Northern Mariana Islands",
        "Puerto Rico",
        "U.S. Virgin Islands",
    }
    states = [s for s in STORE.children("USA", "us_state") if s.name not in territories]
    assert len(states) == 51
    # The states' boundaries run out into the Great Lakes and the sea.
    total = sum(area_km2(state) for state in states)
    assert total == pytest.approx(area_km2(STORE.get("USA")), rel=0.03)


def test_subregions_make_up_their_continents() -> None:
    for continent in ("Africa", "Asia", "Europe", "North America", "Oceania"):
        total = sum(area_km2(part) for part in STORE.children(continent, "subregion"))
        assert total == pytest.approx(area_km2(STORE.get(continent, "continent")), rel=0.003)


# Spelling.


@pytest.mark.parametrize("name", listed(LARGE_LAKES))
def test_spelling_of_lakes_over_1000_km2(name: str) -> None:
    lake = STORE[f"lake:{name}"]
    assert area_km2(lake) >= 1_000


@pytest.mark.parametrize("name", listed(SMALLER_LAKES))
def test_spelling_of_smaller_lakes(name: str) -> None:
    assert STORE[f"lake:{name}"].geometry.area > 0


@pytest.mark.parametrize("entry", listed(CITIES))
def test_spelling_of_cities(entry: str) -> None:
    name, country = entry.removesuffix(")").split(" (")
    assert STORE[f"city:{name}"].parent == country


@pytest.mark.parametrize("name", listed(CAPITALS))
def test_capitals_are_spelled_as_in_english_atlases(name: str) -> None:
    assert f"city:{name}" in STORE


@pytest.mark.parametrize(
    "name",
    ["Côte d'Ivoire", "Curaçao", "São Tomé and Príncipe", "Åland Islands", "Saint Barthélemy"],
)
def test_spelling_of_countries(name: str) -> None:
    assert f"country:{name}" in STORE


def test_no_name_is_mangled() -> None:
    """No lost or doubly decoded letters: every character is a letter, mark, digit or punctuation."""
    for feature in FEATURES:
        assert feature.name == feature.name.strip() == unicodedata.normalize("NFC", feature.name)
        assert "  " not in feature.name and "?" not in feature.name and "\ufffd" not in feature.name
        assert not any(letter in feature.name for letter in "Ã©¶¼¤"), feature.name
        assert all(c.isalnum() or c in " -',.()/ʻ" for c in feature.name), feature.name


def test_repeated_city_names_say_where_they_are() -> None:
    for name in ("Valencia", "Barcelona", "Birmingham", "Hyderabad", "Tripoli", "Victoria"):
        assert f"city:{name}" not in STORE
        homes = {f.parent for f in FEATURES if f.kind == "city" and f.name.startswith(f"{name}, ")}
        assert len(homes) == 2
    assert STORE["city:Kansas City, Missouri"].parent == "United States"
