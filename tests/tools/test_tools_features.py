import pytest

from zephyrus_geodata.features import normalise


def test_without_arguments_it_lists_the_kinds(text, analytic):
    answer = text("features")
    kinds = analytic.features.kinds()
    assert answer.startswith(f"{len(analytic.features)} features. Kinds: ")
    for kind, count in kinds.items():
        assert f"{kind} ({count})" in answer


def test_a_name_or_an_alias(text):
    assert text("features", query="KENYA").splitlines()[1] == "Kenya (country, in Africa)"
    assert "United States (country" in text("features", query="usa").splitlines()[1]


def test_namesakes_are_all_shown(text):
    answer = text("features", query="georgia")
    assert "Georgia (country, in Asia)" in answer
    assert "Georgia (us_state, in United States)" in answer


def test_a_part_of_a_name(text):
    answer = text("features", query="gulf", kind="sea", limit=3).splitlines()
    assert answer[0].startswith("Features like 'gulf' (3 of ")
    assert "raise limit" in answer[0]
    assert len(answer) == 4
    assert all("Gulf" in line for line in answer[1:])


def test_a_misspelt_name_is_answered_with_the_nearest(text):
    answer = text("features", query="Zurch")
    assert answer.startswith("No feature is named like 'Zurch'. Nearest names:\n")
    assert "Zürich (city, in Switzerland)" in answer


def test_a_kind(text, analytic):
    answer = text("features", kind="continents")
    assert answer.startswith("continent features (7 of 7): ")
    assert all(f.name in answer for f in analytic.features.of_kind("continent"))
    states = text("features", kind="us_state", limit=4)
    assert "us_state features (4 of 56 shown; raise limit" in states
    assert states.endswith("): Alabama, Alaska, American Samoa, Arizona")


def test_children(text):
    lakes = text("features", kind="lake", parent="kenya")
    assert lakes.startswith("lake features listed under Kenya (2 of 2): ")
    assert "Lake Turkana" in lakes
    assert "Nairobi (city)" in text("features", parent="Kenya")
    assert "Nairobi (city" in text("features", query="nai", parent="Kenya")
    assert "Taklamakan" in text("features", kind="desert", parent="Asia")


def test_a_continents_own_features_come_first(text):
    answer = text("features", parent="Africa", limit=60)
    assert answer.startswith("Features in Africa (60 of ")
    assert "Kenya (country)" in answer
    assert "(city)" not in answer


def test_a_lake_is_said_to_be_listed_under_a_country(text):
    answer = text("features", query="Victoria")
    assert "Lake Victoria (lake, listed under Tanzania)" in answer
    assert "Victoria, Canada (city, in Canada)" in answer


@pytest.mark.parametrize("query", ["*", "!!!", " "])
def test_a_query_without_letters_is_none(text, query):
    assert text("features", query=query) == text("features")
    assert text("features", query=query, kind="sea") == text("features", kind="sea")


def test_all_hits_are_counted(text, analytic):
    answer = text("features", query="e")
    count = sum("e" in normalise(feature.name) for feature in analytic.features)
    assert count > 1000
    assert f"(20 of {count} shown;" in answer


def test_all_of_a_kind(text):
    assert text("features", query="all", kind="sea") == text("features", kind="sea")
    assert text("features", kind="sea", parent="world") == text("features", kind="sea")


def test_a_query_takes_the_article_and_other_spellings(text):
    assert text("features", query="the Sahara").splitlines()[1] == "Sahara (desert, in Africa)"
    assert "Cologne (city, in Germany)" in text("features", query="Koeln")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"query": "qqqqzzzz"}, "no feature is named like 'qqqqzzzz'"),
        ({"kind": "county"}, "the kinds are basin, "),
        ({"query": "x", "kind": "county"}, "the kinds are basin, "),
        ({"parent": "Narnia"}, "parent: There is no feature named 'Narnia'"),
        ({"query": "x", "parent": "Narnia"}, "parent: There is no feature named 'Narnia'"),
        ({"query": "Scotland"}, "no feature is named 'Scotland': it is part of United Kingdom"),
        ({"query": "q" * 20_000}, "qqq…'. Try a shorter"),
        ({"parent": "Congo"}, "parent: 'Congo' may be any of: "),
        ({"limit": 10**300}, "limit must be 1 to 60, not a number this large"),
        ({"parent": "Nairobi"}, "nothing belongs to Nairobi"),
        ({"kind": "us_state", "parent": "France"}, "France has no us_state children"),
        ({"limit": 0}, "limit must be 1 to 60, not 0"),
    ],
)
def test_a_wrong_call_is_refused_with_how_to_mend_it(refusal, arguments, message):
    assert message in refusal("features", **arguments)
