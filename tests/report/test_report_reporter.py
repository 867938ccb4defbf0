"""The scripted reporter, and the texts it reads: what it says is what the forecast has."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zephyrus.errors import UserError
from zephyrus.limits import Limits
from zephyrus.messages import Message
from zephyrus_geodata import Dataset, Forecast
from zephyrus_report.baselines import BASELINES, text_only
from zephyrus_report.compose.findings import Finding, Kind, Place, Quantity
from zephyrus_report.compose.plan import WEATHER, Item
from zephyrus_report.env import ReportEnv
from zephyrus_report.event import Atlases, Event
from zephyrus_report.evidence import Box, Evidence, Request, mean, peak, total, within
from zephyrus_report.prompts import (
    STYLES,
    WORDS,
    context,
    event_prompt,
    initial_time,
    with_word_budget,
    word_budget,
)
from zephyrus_report.report_text import count_words
from zephyrus_report.reporter import NOTHING, told


def setting(env, task):
    event = Event.of(task, env.words(task))
    return event, Atlases().get(env.world(task)[Dataset], event)


# Reading the tools' texts ----------------------------------------------------------------------

SERIES = """\
10 m wind speed (simulated), max over Western Europe (subregion), 6-48 h:
6 h (10-19 06 UTC): 16.50 m/s
12 h (10-19 12 UTC): -0.25 m/s
18 h (10-19 18 UTC): no data
24 h (10-20 00 UTC): 24.96 m/s
(1 of 4 steps have no data and are left out.)"""
LOWEST = (
    "2 m temperature (simulated), min over Western Europe (subregion), all steps 6-48 h, reached "
    "at 18 h: 3.950 °C\n(Malta is smaller than a grid cell; this is read off the cells it lies in.)"
)
MAP = (
    "Map of mean sea level pressure (simulated), Fiji (country), 30.0°S to 5.5°S, 160.0°E to "
    "160.0°W, at 24 h (valid 1959-10-20 00:00 UTC): minimum 995.60 hPa near 15.4°S 178.6°W, "
    "maximum 1028.7 hPa near 29.5°S 161.0°E."
)
RANKING = "…, highest first (2 of 2 shown):\n1. Washington, D.C.: 34.12 °C\n2. Gobi: -1.00 °C"


def known(text):
    evidence, request = Evidence(Limits()), Request.of("dataset", variable="x")
    evidence.texts[request] = text
    return evidence, request


def test_texts_are_read():
    evidence, request = known(SERIES)
    assert evidence.series(request) == {6: 16.5, 12: -0.25, 24: 24.96}
    evidence, request = known(LOWEST)
    assert (evidence.value(request), evidence.hour(request)) == (3.95, 18)
    evidence, request = known(RANKING)
    assert evidence.rows(request) == {"Washington, D.C.": 34.12, "Gobi": -1.0}
    evidence, request = known(MAP)
    assert evidence.box(request) == Box(160.0, -30.0, -160.0, -5.5)
    low, high = evidence.lowest(request), evidence.highest(request)
    assert (low.value, low.latitude, low.longitude, low.inside) == (995.6, -15.4, -178.6, True)
    assert (high.value, high.inside) == (1028.7, False)  # at the map's edge: no centre


@pytest.mark.parametrize("text", ["", "Error: no such place", "anything else"])
def test_what_is_not_there_is_not_known(text):
    evidence, request = known(text)
    assert evidence.series(request) == evidence.rows(request) == {}
    for read in (evidence.value, evidence.hour, evidence.box, evidence.lowest, evidence.highest):
        assert read(request) is None


@given(st.text(max_size=300))
def test_reading_never_fails(text):
    evidence, request = known(text)
    for read in (evidence.series, evidence.rows, evidence.value, evidence.box, evidence.lowest):
        read(request)


def test_statistics_of_steps():
    steps = {6: 1.0, 12: 4.0, 18: 4.0, 24: 0.0}
    assert (mean(steps, 6, 18), total(steps, 12, 24), peak(steps, 6, 24)) == (3.0, 8.0, (12, 4.0))
    assert mean(steps, 30, 48) is total(steps, 30, 48) is peak(steps, 30, 48) is None


@given(st.floats(-180, 180), st.floats(1, 300), st.floats(0.01, 0.99), st.floats(0.01, 0.99))
def test_points_are_in_boxes_across_the_antimeridian(west, wide, u, v):
    box = Box(west, -30.0, (west + wide + 180) % 360 - 180, 40.0)
    point = (-30.0 + 70.0 * v, (west + u * wide + 180) % 360 - 180)
    assert within(box, *point)
    assert not within(box, 41.0, point[1])
    assert within(box, *point, 0.2) <= within(box, *point, 0.1)


# Asking ----------------------------------------------------------------------------------------


@given(
    st.integers(1, 6),
    st.one_of(st.none(), st.integers(1, 12)),
    st.one_of(st.none(), st.integers(1, 4)),
    st.lists(st.lists(st.integers(0, 9), max_size=9), max_size=4),
)
def test_no_more_is_asked_than_the_limits_allow(turns, calls, per_turn, rounds):
    limits = Limits(turns=turns, calls=calls, calls_per_turn=per_turn)
    evidence = Evidence(limits)
    asked = []
    for numbers in rounds:
        steps = evidence.gather(Request.of("t", n=n) for n in numbers)
        try:
            message = next(steps)
            while True:
                asked.append(len(message.tool_calls))
                answers = [Message("tool", f"x: {c.arguments}") for c in message.tool_calls]
                message = steps.send(answers)
        except StopIteration:
            pass
    assert len(asked) < turns or not asked  # one turn is left for the report
    assert all(count <= (per_turn or 99) for count in asked)
    assert sum(asked) <= (calls or 99)
    assert sum(asked) == len(evidence.texts)  # nothing is asked twice


def test_what_a_tool_refuses_is_not_known():
    evidence = Evidence(Limits())
    first, second = Request.of("t", n=1), Request.of("t", n=2, empty=None, blank="")
    assert json.loads(second.arguments) == {"n": 2}
    steps = evidence.gather([first, second])
    next(steps)
    with pytest.raises(StopIteration):
        steps.send(
            [Message("tool", "Error: no."), Message("tool", "a: 1.00 m"), Message("user", "…")]
        )
    assert evidence.texts == {second: "a: 1.00 m"}


# What it reports -------------------------------------------------------------------------------


def test_it_sees_the_tools_alone(demo, events, some, drive, blank):
    env = ReportEnv(dataset=demo, bank=events, maps=False)
    for task in some[:4]:
        report = drive(env, task, env.script(task)).answer
        assert drive(env, blank(task), env.script(blank(task))).answer == report


@pytest.mark.parametrize(("turns", "calls"), [(1, 40), (2, 40), (4, 7), (16, 1), (3, 24)])
def test_tight_limits_are_kept(demo, events, event, drive, turns, calls):
    env = ReportEnv(dataset=demo, bank=events, limits=Limits(turns=turns, calls=calls))
    trajectory = drive(env, event, env.script(event))
    assert trajectory.stop == "answered"
    assert trajectory.turns <= turns
    assert len(trajectory.calls) <= calls
    assert all(call.error is None for call in trajectory.calls)
    assert (trajectory.answer == NOTHING) == (turns == 1 or calls == 1)


def test_it_uses_its_budget_and_makes_no_mistake(env, some, solved):
    for task in some:
        trajectory = solved[task.id]
        assert trajectory.stop == "answered"
        assert all(call.error is None for call in trajectory.calls)
        assert 20 <= len(trajectory.calls) <= env.limits.calls
        assert trajectory.succeeded("dataset")
        assert count_words(trajectory.answer) <= env.words(task)
        assert trajectory.rewards["precision"] >= 0.7, trajectory.answer
        assert trajectory.rewards["reward"] > 0.4, trajectory.answer


def test_its_numbers_are_the_forecasts(env, event, solved):
    """An oracle that knows nothing of tools: rain, wind and heights straight from the fields."""
    world = env.world(event)
    data, forecast = world[Dataset], world[Forecast]
    report = solved[event.id].answer
    hours = forecast.lead_hours

    def field(variable, place, key, steps):
        zone = data.zones.weights(data.features.get(place, key))
        cells = forecast.cells(variable)[zone.cells][:, steps].astype(float)
        return cells, zone.weights / zone.weights.sum()

    second = (hours > 24) & (hours <= 48)
    rain, weights = field("total_precipitation_6hr", "Germany", "country", second)
    amount = round(1000.0 * float((weights @ rain).sum()))
    assert re.search(rf"\b{amount} mm over Germany", report)
    wind, _ = field("10m_wind_speed", "Germany", "country", second)
    speed, step = round(float(wind.max())), int(wind.max(axis=0).argmax())
    clock = hours[second][step] % 24
    assert f"over Germany (up to {speed} m/s around {clock:02d} UTC Tuesday)" in report
    both = hours <= 48
    height, weights = field("geopotential_500", "Western Europe", "subregion", both)
    metres = round(float((weights @ height).mean()) / 9.80665 / 10) * 10
    assert f"heights averaging {metres} gpm" in report


def test_what_has_least_priority_is_left_out(env, event):
    kept, _ = setting(env, event)
    place = Place("Kenya", "country:Kenya")

    def item(number, priority):
        values = {"speed": Quantity(float(number), "m/s")}
        finding = Finding(Kind.WIND, place, 6, 24, values, hour=6)
        return Item(WEATHER, (finding,), priority)

    items = [item(11, 1.0), item(12, 3.0), item(13, 2.0)]
    full = told(items, kept)
    assert [f"{n} m/s" in full for n in (11, 12, 13)] == [True] * 3
    less = told(items, replace(kept, words=count_words(full) - 1))
    assert [f"{n} m/s" in less for n in (11, 12, 13)] == [False, True, True]
    assert told(items, replace(kept, words=3)) == NOTHING
    assert told([], kept) == NOTHING


# The baselines ---------------------------------------------------------------------------------


def test_baselines_call_only_what_they_may(env, some, drive):
    for task in some:
        calls = {}
        for name in BASELINES:
            trajectory = drive(env, task, env.baseline(task, name))
            assert all(call.error is None for call in trajectory.calls), name
            calls[name] = {(c.name, json.loads(c.arguments).get("hour")) for c in trajectory.calls}
            assert 30 < count_words(trajectory.answer) <= env.words(task), name
            assert env.read_answer(f"<report>{trajectory.answer}</report>") == trajectory.answer
        assert calls == {
            "climatology": {("climatology", None)},
            "persistence": {("dataset", 6)},
            "text-only": set(),
        }


def test_text_only_knows_seasons_and_latitudes(env, event):
    known_event, atlas = setting(env, event)

    def text(month, latitude):
        moment = np.datetime64(f"1959-{month:02d}-10")
        made = replace(known_event, initial=moment)
        world = replace(atlas, middle=lambda place: (latitude, 0.0))
        return next(text_only(made, world, Limits())).content

    assert "Seasonably cold" in text(1, 50.0)
    assert "summer weather" in text(1, -35.0)
    assert "spring weather" in text(10, -35.0)
    assert "Showers and thunderstorms" in text(7, 5.0)
    warmth = [float(re.search(r"averages (-?\d+) °C", text(1, lat))[1]) for lat in (0, 30, 50, 70)]
    assert warmth == sorted(warmth, reverse=True)


def test_random_reports_are_seeded_and_differ(env, event):
    def text(seed):
        return env.sample_answer(event, np.random.default_rng(seed))

    assert text(1) == text(1)
    assert text(1) != text(2)


# The prompt of an event ------------------------------------------------------------------------


@given(
    st.sampled_from(sorted(STYLES)),
    st.integers(0, 120),
    st.integers(6, 120),
    st.one_of(st.none(), st.integers(20, 2000)),
    st.datetimes(),
)
def test_a_prompt_says_what_can_be_read_back(style, start, length, words, moment):
    initial = np.datetime64(moment, "h")
    prompt = event_prompt(
        region="Western Europe",
        kind="subregion",
        initial=initial,
        start=start,
        end=start + length,
        style=style,
        words=words,
    )
    assert "Western Europe (subregion)" in prompt
    assert f"(lead times {start} to {start + length} h)" in prompt
    assert initial_time(prompt) == initial
    assert f"Initial time: {moment:%a}" in prompt
    assert word_budget(prompt) == (words or WORDS[style])
    assert word_budget(with_word_budget(prompt, 77)) == 77
    assert word_budget(context(prompt)) is None
    assert context(with_word_budget(prompt, 77)) == context(prompt)


def test_a_prompt_in_full():
    prompt = event_prompt(
        region="Alps",
        kind="",
        initial="1959-10-19T12:00Z",
        start=6,
        end=48,
        style="outlook",
        areas=["Austria", "Switzerland"],
    )
    assert prompt == (
        "Write the outlook for Alps.\n"
        "Initial time: Mon 1959-10-19 12 UTC.\n"
        "Valid period: Mon 1959-10-19 18 UTC to Wed 1959-10-21 12 UTC (lead times 6 to 48 h).\n"
        "Cover the overall pattern and the main hazards of the period.\n"
        "Parts of the region: Austria, Switzerland.\n"
        "At most 200 words."
    )


def test_a_prompt_that_makes_no_sense():
    given_ = {"region": "x", "kind": "", "initial": "2001-01-01"}
    with pytest.raises(ValueError, match="style"):
        event_prompt(**given_, start=6, end=48, style="novel")
    with pytest.raises(ValueError, match="ends at 6 h"):
        event_prompt(**given_, start=6, end=6, style="outlook")


def test_an_event_is_read_off_its_task(env, event):
    read, atlas = setting(env, event)
    assert (read.region, read.kind, read.style) == ("Western Europe", "subregion", "short_range")
    assert (read.window, read.month) == ((6, 48), 10)
    assert read.days() == [(1, 6, 24), (2, 30, 48)]
    assert replace(read, start=0, end=50).days() == [(1, 6, 24), (2, 30, 48)]
    assert replace(read, start=54, end=120).days()[0] == (3, 54, 72)
    assert "Germany" in {area.name for area in atlas.areas}
    assert 40 < atlas.latitude < 55
    assert atlas.point(54.4, 8.4).name in ("North Sea", "Germany", "Denmark")
    with pytest.raises(UserError, match="cannot be found"):
        Atlases().get(env.world(event)[Dataset], replace(read, region="Atlantis"))
    short = replace(event, program={**event.program, "start": 7, "end": 11})
    with pytest.raises(UserError, match="no step"):
        Event.of(short, 200)
    with pytest.raises(UserError, match="initial time"):
        Event.of(replace(event, prompt="Write."), 200)
