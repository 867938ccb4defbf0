"""Banks of chart questions: the one that ships, what it gives away, and banks of one's own."""

import json
from collections import Counter, defaultdict

import pytest
from click.testing import CliRunner

from zephyrus.cli.env import group
from zephyrus.errors import UserError
from zephyrus.task import SPLITS
from zephyrus_chartqa.bank import DEFAULT_SIZES, build_bank
from zephyrus_chartqa.bank_file import load_items, save_items
from zephyrus_chartqa.bank_report import ChartBankReport, interval95
from zephyrus_chartqa.blind import CHANCE, LIMIT, Learnt, by_form, measure
from zephyrus_chartqa.library import BANKS
from zephyrus_chartqa.modality import MODALITIES
from zephyrus_chartqa.questions import templates_for
from zephyrus_chartqa.reader import answer
from zephyrus_chartqa.weatherqa import load_weatherqa
from zephyrus_geodata.testing import analytic_dataset

BANK = BANKS / "demo.jsonl.gz"
SMALL = {"train": 28, "validation": 7, "test": 14}


@pytest.fixture(scope="module")
def items():
    return load_items(BANK)


@pytest.fixture(scope="module")
def analytic():
    return analytic_dataset(step=4.0, lead_hours=range(6, 97, 6))


@pytest.fixture(scope="module")
def small(analytic):
    return build_bank(analytic, SMALL, 3, strict=False, regions="Europe;Africa")


def test_the_shipped_bank_has_every_modality_in_every_split(items):
    counts = Counter((item.split, item.category) for item in items)
    assert counts == {
        (split, name): size // len(MODALITIES)
        for split, size in DEFAULT_SIZES.items()
        for name in MODALITIES
    }
    assert BANK.stat().st_size < 400_000


def test_every_modality_has_all_of_its_templates(items):
    for split in SPLITS:
        for name in MODALITIES:
            mine = [i for i in items if (i.split, i.category) == (split, name)]
            counts = Counter(item.provenance["template"] for item in mine)
            assert set(counts) == {template.name for template in templates_for(name)}
            assert min(counts.values()) >= len(mine) // len(counts) // 2


def test_no_initial_time_is_in_two_splits_and_splits_follow_in_time(items):
    first, last = {}, {}
    for split in SPLITS:
        mine = [i.provenance for i in items if i.split == split]
        first[split] = min(about["initial_time"] for about in mine)
        last[split] = max(about["valid"] for about in mine)
        assert all(about["initial_time"] <= about["valid"] for about in mine)
    assert last["train"] <= first["validation"] < last["validation"] <= first["test"]


def test_letters_are_balanced_over_each_category_and_split(items, small):
    for found in (items, small.items):
        letters = defaultdict(Counter)
        for item in found:
            letters[item.split, item.category].update({"A": 0, "B": 0, "C": 0, "D": 0})
            letters[item.split, item.category][item.answer] += 1
        for counts in letters.values():
            assert max(counts.values()) - min(counts.values()) <= 1


def test_no_blind_strategy_scores_on_the_bank(items):
    """Limit 0.32; the widest interval is that of what is learnt, of 525 questions: ± 0.04."""
    report = ChartBankReport("demo", 0, None, items, {})
    blind = report.blind()
    assert {"longest", "shortest", "most like the others", "always A"} <= set(blind)
    assert {"northernmost", "nearest the equator", "class 1 of 4", "the northwest"} <= set(blind)
    assert "right most often in training" in blind
    for name, (score, count) in blind.items():
        assert score <= LIMIT, (name, score, count)
        low, high = interval95(score, count)
        assert low <= CHANCE + 0.02, (name, low)
        assert high - low < 0.1, (name, low, high)


def test_no_blind_strategy_scores_on_the_test_split_alone(items):
    test = [item for item in items if item.split == "test"]
    learnt = Learnt(item for item in items if item.split == "train")
    for name, (score, count) in measure(test, learnt).items():
        low, _ = interval95(score, count)
        assert low <= CHANCE, (name, score, count)


def test_ids_are_unique_and_no_question_is_asked_twice(items):
    assert len({item.id for item in items}) == len(items)
    asked = Counter((i.source, i.question, frozenset(i.choices)) for i in items)
    assert max(asked.values()) == 1


def test_the_reader_answers_every_question_from_the_text_alone(items):
    for item in items:
        found = answer(item.text, item.question, item.choices)
        assert found.letter == item.answer, (item.id, found)
        assert found.because


def test_the_text_never_says_the_answer(items):
    for item in items:
        right = item.lettered[item.answer]
        if item.provenance["template"] in ("area_class", "flow", "wave", "system_kind"):
            assert right not in item.text, item.id
        assert len(item.text) < 1300 and item.text.count("\n") <= 17


def test_a_bank_is_the_same_for_a_seed_and_another_for_another(analytic, small):
    again = build_bank(analytic, SMALL, 3, strict=False, regions=["Europe", "Africa"])
    assert [i.to_dict() for i in again.items] == [i.to_dict() for i in small.items]
    other = build_bank(analytic, SMALL, 4, strict=False, regions="Europe;Africa")
    assert {i.id for i in other.items}.isdisjoint({i.id for i in small.items})


def test_a_bank_of_any_dataset_is_answered_from_its_texts(small):
    assert len(small.items) >= 40
    for item in small.items:
        assert answer(item.text, item.question, item.choices).letter == item.answer
        assert "analytic" in item.text


def test_charts_that_reach_into_a_later_split_are_left_out():
    dates = ("2001-01-05", "2001-01-07", "2001-01-09", "2001-01-11")
    world = analytic_dataset(step=4.0, initial_dates=dates, lead_hours=range(6, 97, 6))
    report = build_bank(world, SMALL, regions="Europe", strict=False)
    by_split = defaultdict(list)
    for item in report.items:
        by_split[item.split].append(item.provenance)
    assert set(by_split) == set(SPLITS)
    assert max(a["valid"] for a in by_split["train"]) <= "2001-01-09T00:00Z"
    assert max(a["valid"] for a in by_split["validation"]) <= "2001-01-11T00:00Z"
    assert max(a["valid"] for a in by_split["test"]) > "2001-01-11T00:00Z"


def test_a_dataset_that_lacks_variables_says_so(monkeypatch):
    world = analytic_dataset(step=4.0, lead_hours=range(6, 49, 6))
    for name in world.forecasts:
        kept = ("2m_temperature", "mean_sea_level_pressure")
        monkeypatch.setattr(world.forecast(name), "variables", kept)
    with pytest.raises(UserError, match="no rain, as the forecast"):
        build_bank(world, SMALL, regions="Europe")
    report = build_bank(world, SMALL, regions="Europe", strict=False)
    assert {i.category for i in report.items} == {"max_temp", "min_temp", "land_situation"}
    assert not report.ok and "rain" in report.to_dict()["left_out"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sizes": {"dev": 3}}, "no split 'dev'"),
        ({"sizes": {"test": 0}}, "at least one question"),
        ({"sizes": {"test": -1}}, "at least one question"),
        ({"output": "bank.json"}, "a bank is a .jsonl"),
        ({"dataset": "nowhere"}, "nowhere"),
        ({"regions": "Atlantis"}, "Atlantis"),
        ({"regions": "-150,-50,-145,-45"}, "0 named areas"),
    ],
)
def test_what_is_wrong_is_told(analytic, arguments, message):
    with pytest.raises(UserError, match=message):
        build_bank(**{"dataset": analytic, **arguments})


def test_a_bank_is_written_and_read_the_same(tmp_path, small):
    for name in ("bank.jsonl", "bank.jsonl.gz"):
        save_items(tmp_path / name, small.items)
        assert load_items(tmp_path / name) == list(small.items)
    first = json.loads((tmp_path / "bank.jsonl").read_text().splitlines()[0])
    assert {"id", "image_path", "category", "answer", "split", "en"} <= set(first)
    assert set(first["en"]) == {"question", "choices"} and set(first["en"]["choices"]) == set(
        "ABCD"
    )
    again = tmp_path / "again.jsonl.gz"
    save_items(again, small.items)
    assert again.read_bytes() == (tmp_path / "bank.jsonl.gz").read_bytes()


def test_a_broken_bank_is_told_by_its_line(tmp_path, small):
    path = tmp_path / "bank.jsonl"
    save_items(path, small.items[:2])
    lines = path.read_text().splitlines()
    for text, message in (
        ("\n".join([lines[0], "{"]), "line 2: not a chart question"),
        ("\n".join([lines[0], lines[0]]), "line 2: a second item"),
        (lines[0].replace('"answer": "', '"answer": "X'), "line 1: not a chart question"),
        (lines[0].replace('"format": "0.1.0"', '"format": "99.0.0"'), "later zephyrus"),
    ):
        path.write_text(text + "\n")
        with pytest.raises(UserError, match=message):
            load_items(path)
    with pytest.raises(UserError, match="build-bank --env chartqa"):
        load_items(tmp_path / "none.jsonl")


def test_the_command_writes_a_bank_and_weatherqas_files(tmp_path):
    bank, folder = tmp_path / "bank.jsonl", tmp_path / "WeatherQA"
    sizes = ["--train", "7", "--validation", "7", "--test", "7"]
    options = ["-o", "strict=false", "-o", "regions=Europe", "-o", f"weatherqa={folder}"]
    command = ["build-bank", "--env", "chartqa", *sizes, *options, "--output", str(bank)]
    done = CliRunner().invoke(group, command, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert "Chart questions of 'demo'" in done.output
    ours, theirs = load_items(bank), load_weatherqa(folder)
    assert len(ours) == len(theirs) == 21
    for one, other in zip(ours, theirs, strict=True):
        assert one.lettered == other.lettered and one.answer == other.answer
        assert (folder / other.image_path).read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_the_shipped_bank_is_what_the_command_makes(items):
    assert [i.to_dict() for i in build_bank("demo").items] == [i.to_dict() for i in items]


@pytest.mark.parametrize(
    ("right", "wrong", "strategy", "score"),
    [
        ("northerly", ("westerly", "easterly", "southerly"), "longest", 1 / 2),
        ("a b c", ("a b d", "a b e", "x y z"), "most like the others", 1 / 3),
        ("x y z", ("a b d", "a b e", "a b c"), "least like the others", 1.0),
        ("aa", ("a", "b", "c"), "shortest", 0.0),
    ],
)
def test_what_the_form_of_choices_gives_away(right, wrong, strategy, score):
    assert by_form(right, wrong)[strategy] == pytest.approx(score)
