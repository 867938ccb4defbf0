"""Hand-written pairs of a statement and a text, with the label that a forecaster would give."""

import pytest

from zephyrus.judge.base import Claim
from zephyrus_report.rules import RulesJudge

S, N, R = "SUPPORTED", "NEUTRAL", "REFUTED"

PAIRS = [
    # The same, in other words and units.
    ("Rain averages 25 mm over Ohio on Tuesday.", "On Tuesday, rainfall averages 1 inch over Ohio.", S),
    ("Rain averages 25 mm over Ohio on Tuesday.", "Rain averages 1 to 1.25 inches over Ohio Tuesday.", S),
    ("Rain averages 6 mm over Ohio on Tuesday.", "Rainfall averages 1/4 inch over Ohio Tuesday.", S),
    ("Winds over Iceland peak at 20 m/s on Friday.", "Winds over Iceland peak at 39 knots Friday.", S),
    ("Winds over Iceland peak at 20 m/s on Friday.", "Winds over Iceland peak at 45 mph Friday.", S),
    ("Winds over Texas of 15 to 25 mph on Sunday.", "Winds over Texas near 9 m/s on Sunday.", S),
    ("Highs over Iowa reach 5 °C on Monday.", "Highs in the low 40s over Iowa Monday.", S),
    ("Highs over Iowa in the 40s on Monday.", "Highs over Iowa from 40 to 49 degrees Monday.", S),
    ("Temperatures over Italy average 8 °C on Monday.", "Temperature over Italy averages 46 °F on Monday.", S),
    ("A low of 985 hPa is over Denmark on Monday.", "A low of 986 mb sits over Denmark Monday.", S),
    ("Heavy snow over Colorado on Sunday night.", "HEAVY SNOW OVER COLORADO SUNDAY NIGHT...TAPERING OFF MONDAY.", S),
    ("Precipitation over Ohio on Tuesday.", "Snow over Ohio Tuesday.", S),
    ("It stays dry over Spain on Saturday.", "No rain is expected over Spain on Saturday. Spain stays dry on Saturday.", S),
    ("A cold front crosses Kansas on Friday.", "A strong cold front crosses Kansas Friday with gusty winds.", S),
    ("Temperatures over Sweden are above normal on Sunday.", "Sweden is mild for January, averaging 3 °C on Sunday, 4 °C above the climatological mean.", S),
    ("A ridge builds over Spain on Tuesday.", "Over Spain a 500 hPa ridge strengthens on Tuesday.", S),
    ("Temperatures over Norway rise from Monday to Wednesday.", "Mean 2 m temperature over Norway rises from -3 °C on Monday to 4 °C on Wednesday.", S),
    ("Rain over France on Tuesday.", "Rain over northern France on Tuesday.", S),
    ("A low moves east over Poland on Monday.", "On Monday the low over Poland tracks east-northeast. A low over Poland tracks eastward on Monday.", S),
    ("Winds from the southwest over Ireland on Friday.", "Southwesterly winds over Ireland on Friday.", S),
    ("Temperatures over Mali average 31 °C on day 2 (Tuesday 6 March).", "Temperature over Mali averages 31 °C on Tuesday.", S),
    ("Winds over Peru peak at 14 m/s at 18 UTC Friday.", "10 m winds over Peru reach 14 m/s at 18Z Fri.", S),
    # The contrary.
    ("Rain over Ohio on Tuesday.", "No rain is expected over Ohio on Tuesday.", R),
    ("Rain over Ohio on Tuesday.", "Ohio stays dry on Tuesday.", R),
    ("Ohio stays dry on Tuesday.", "Heavy rain over Ohio on Tuesday.", R),
    ("Rain averages 25 mm over Ohio on Tuesday.", "Rain averages 4 mm over Ohio on Tuesday.", R),
    ("Winds over Iceland peak at 28 m/s on Friday.", "Winds over Iceland peak at 20 knots Friday.", R),
    ("Highs over Iowa reach 20 °C on Monday.", "Highs in the low 40s over Iowa Monday.", R),
    ("Temperatures over Sweden are above normal on Sunday.", "Temperatures over Sweden are below normal on Sunday.", R),
    ("Temperatures over Sweden are above normal on Sunday.", "Mean 2 m temperature over Sweden is -9 °C on Sunday, 5 °C below the climatological mean.", R),
    ("Temperatures over Norway rise on Monday.", "Temperatures over Norway fall on Monday.", R),
    ("It turns colder over Iowa on Monday.", "Temperatures over Iowa climb on Monday.", R),
    ("A ridge weakens over Spain on Tuesday.", "A ridge builds over Spain on Tuesday.", R),
    ("A low of 960 hPa is over Denmark on Monday.", "A low of 986 mb sits over Denmark Monday.", R),
    ("A low moves west over Poland on Monday.", "A low over Poland tracks eastward on Monday.", R),
    ("Winds from the northeast over Ireland on Friday.", "Southwesterly winds over Ireland on Friday.", R),
    ("Cloud cover over Cuba averages 90 % on Monday.", "Skies over Cuba are mostly clear on Monday, with a mean cloud cover of 12 %.", R),
    ("Snow over Ohio on Tuesday.", "Rain over Ohio on Tuesday.", R),
    # Neither.
    ("Rain over Ohio on Tuesday.", "Rain over Oregon on Tuesday.", N),
    ("Rain over Ohio on Tuesday.", "Rain over Ohio on Friday.", N),
    ("No rain over Ohio on Tuesday.", "Rain over Ohio on Friday.", N),
    ("Rain over Ohio on Tuesday.", "Winds over Ohio peak at 20 m/s on Tuesday.", N),
    ("Winds over Iceland peak at 20 m/s on Friday.", "Strong winds blow over Iceland.", N),
    ("Rain averages 12 mm over Ohio on Tuesday.", "Rain over Ohio on Tuesday.", N),
    ("Snow over Ohio on Tuesday.", "Precipitation over Ohio on Tuesday.", N),
    ("Temperatures over Italy average 8 °C on Monday.", "Temperatures over Italy average 4.5 °C on Monday.", N),
    ("A cold front crosses Kansas on Friday.", "A cold front crosses Norway on Friday.", N),
    ("Temperatures over Sweden are above normal on Sunday.", "Showers are possible and conditions may vary.", N),
    ("A tornado is possible in Kansas on Monday.", "Rain over Kansas on Monday.", N),
]  # fmt: skip


@pytest.mark.parametrize(("statement", "text", "label"), PAIRS)
async def test_label(statement, text, label):
    (verdict,) = await RulesJudge().verdicts([Claim(statement)], text)
    assert verdict.label == label, verdict.rationale
    assert verdict.claim.text == statement
    assert (verdict.evidence == "") == (label == N)
    assert verdict.evidence in text


def test_there_are_enough_of_each():
    labels = [label for *_, label in PAIRS]
    assert len(PAIRS) >= 45
    assert min(labels.count(each) for each in (S, N, R)) >= 10


@pytest.mark.parametrize("text", sorted({text for pair in PAIRS for text in pair[:2]}))
async def test_a_text_supports_itself_whole(text):
    judge = RulesJudge()
    claims = await judge.claims(text)
    assert {v.label for v in await judge.verdicts(claims, text)} <= {S}
    # A sentence in both texts is supported, whatever else the other says.
    other = f"Fog over Kenya on Thursday. {text} Gales over Fiji on Saturday."
    assert {v.label for v in await judge.verdicts(claims, other)} <= {S}


@pytest.mark.parametrize(
    "text",
    [
        "Showers possible.",
        "Conditions may vary across the area.",
        "Expect a mix of sun and clouds with changeable weather.",
        "Stay tuned for updates.",
        "No hazardous weather is expected.",
        "",
    ],
)
async def test_boilerplate_makes_no_claims(text):
    assert await RulesJudge().claims(text) == ()
