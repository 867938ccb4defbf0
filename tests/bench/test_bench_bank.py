import gzip
import io
import json
from collections import Counter
from dataclasses import replace

import pytest
from rich.console import Console

from zephyrus.errors import UserError
from zephyrus.task import SPLITS, Task, TaskSet
from zephyrus_bench.bank import DEFAULT_SIZES, build_bank, make_tasks, quotas
from zephyrus_bench.blind import BLIND_LIMIT, Learnt, limit
from zephyrus_bench.env import BenchEnv
from zephyrus_bench.guard import Guard
from zephyrus_bench.guess import Guess
from zephyrus_bench.report import GUESSABLE, BankReport, measure
from zephyrus_bench.templates import TEMPLATES
from zephyrus_bench.verifiers import verify
from zephyrus_geodata import VARIABLES, Dataset

SMALL = {"train": 16, "validation": 8, "test": 16}


def test_quotas_are_equal_shares_that_add_up():
    found = quotas(dict(DEFAULT_SIZES))
    for split, size in DEFAULT_SIZES.items():
        shares = [found[split, name] for name in TEMPLATES]
        assert sum(shares) == size
        assert max(shares) - min(shares) <= 1
    assert found["validation", "hours_to_extreme"] == 16
    assert found["validation", "percentile_exceedance"] == 16


@pytest.mark.parametrize("sizes", [{"dev": 10}, {"train": -1, "test": 5}, {"train": 0}, {}])
def test_wrong_sizes_are_refused(sizes):
    with pytest.raises(UserError):
        quotas(sizes)


def test_the_same_seed_gives_the_same_bytes(analytic, tmp_path):
    first, again = tmp_path / "a.jsonl.gz", tmp_path / "b.jsonl.gz"
    build_bank(analytic, SMALL, 3, first, strict=False)
    build_bank(analytic, SMALL, 3, again, strict=False)
    assert first.read_bytes() == again.read_bytes()
    other = make_tasks(analytic, quotas(SMALL), 4)[0]
    assert {t.id for t in TaskSet.load(first)}.isdisjoint(t.id for t in other)


def test_a_file_reads_back_as_it_was(bank, tmp_path):
    for name in ("bank.jsonl", "bank.jsonl.gz"):
        bank.save(tmp_path / name)
        assert list(TaskSet.load(tmp_path / name)) == list(bank)
    raw = (tmp_path / "bank.jsonl.gz").read_bytes()
    assert raw[4:8] == b"\0\0\0\0"  # no time stamp
    assert gzip.decompress(raw) == (tmp_path / "bank.jsonl").read_bytes()


def test_splits_share_no_key_and_no_question(bank):
    keys = {split: set() for split in SPLITS}
    for task in bank:
        keys[task.split].add(tuple(task.provenance["key"]))
    for split, other in (("train", "validation"), ("train", "test"), ("validation", "test")):
        assert keys[split].isdisjoint(keys[other])
    assert len({task.prompt for task in bank}) == len(bank)


def test_a_timeless_question_is_not_repeated_under_another_forecast(bank):
    about = [t.provenance["key"][:3] for t in bank if t.template == "climate_value"]
    assert len({tuple(key) for key in about}) == len(about)


def test_a_larger_bank_keeps_keys_in_their_split(analytic, bank):
    where = {tuple(task.provenance["key"]): task.split for task in bank}
    smaller = make_tasks(analytic, quotas({"train": 40, "test": 24}), seed=0)[0]
    shared = [task for task in smaller if tuple(task.provenance["key"]) in where]
    assert shared
    assert all(where[tuple(t.provenance["key"])] == t.split for t in shared)


def test_tasks_say_where_they_come_from(bank):
    for task in bank:
        about = task.provenance
        template = TEMPLATES[task.template]
        assert task.required_tools == (template.tool,)
        assert about["semantics"] == template.semantics
        assert about["reconstructed"] is template.reconstructed
        assert about["data"] == "analytic test world"
        assert about["key"][0] == task.template
        assert task.world == {"dataset": "analytic", "forecast": task.world["forecast"]}
        assert about["key"][3] in (task.world["forecast"], "")
        assert [call["tool"] for call in task.program["calls"]] == [template.tool]
        json.dumps(task.to_dict(), allow_nan=False)
        hidden = {*task.provenance.get("candidates", ())} & {*about["detail"].values()}
        assert not hidden


def test_no_constant_answer_scores(bank):
    for row in measure(bank):
        assert row.ok, (row.split, row.template, row.guess)
        assert row.guess.score <= GUESSABLE
        for name, guess in row.by_variable.items():
            allowed = {"location": 1.5, "anomaly": 2.0}.get(row.answer_type, 1.0)
            assert guess.total <= max(allowed, GUESSABLE * guess.count) + 1e-9, name


def test_blind_strategies_do_not_score(bank):
    for row in measure(bank):
        for name, guess in row.blind.items():
            assert guess.total <= max(1.0, limit(name) * guess.count) + 1e-3, (row.template, name)
    strategies = {row.template: set(row.blind) for row in measure(bank) if row.split == "test"}
    assert {"random candidate", "northernmost", "nearest a pole", "most cells", "climate"} <= (
        strategies["time_mean_extreme"] & strategies["sublocation_extreme"]
    )
    assert "learnt by set" in strategies["greatest_departure"]
    assert "all candidates" in strategies["percentile_exceedance"]
    assert "mean instead" in strategies["climate_value"]
    assert "climate" in strategies["feature_statistic"] & strategies["feature_at_time"]


def test_what_training_teaches_is_worth_nothing_elsewhere(bank):
    for name in ("time_mean_extreme", "sublocation_extreme", "greatest_departure"):
        wins, total = {}, 0.0
        for task in bank:
            if task.template == name and task.split == "train":
                wins.setdefault(task.provenance["key"][1], Counter())[task.gold["place"]] += 1
        tests = [t for t in bank if t.template == name and t.split == "test"]
        for task in tests:
            best = wins.get(task.provenance["key"][1], Counter()).most_common(1)
            total += bool(best) and best[0][0] == task.gold["place"]
        assert total <= 0.25 * len(tests), name


def test_naming_all_candidates_scores_little(bank):
    for split in SPLITS:
        tasks = [t for t in bank if t.answer_type == "anomaly" and t.split == split]
        scores = [verify(t, json.dumps(t.provenance["candidates"])) for t in tasks]
        assert sum(scores) <= max(1.0, BLIND_LIMIT * len(tasks)) + 1e-3
        blind = [t.provenance["blind"]["all candidates"] for t in tasks]
        assert scores == pytest.approx(blind, abs=1e-4)


def test_no_subject_is_asked_about_again_and_again(bank):
    features, sets = Counter(), Counter()
    for task in bank:
        subject = task.provenance["key"][1]
        if "candidates" in task.provenance:
            sets[task.template, subject] += 1
        else:
            features[task.template, subject] += 1
            features[subject] += 1
    assert max(n for key, n in features.items() if isinstance(key, tuple)) <= 3
    assert max(features.values()) <= 8
    assert max(sets.values()) <= 12


def test_the_guard_turns_a_paying_strategy_away():
    def question(i, score):
        about = {
            "key": ["x", f"lake:{i}", "v", ""],
            "variable": f"v{i}",
            "detail": {"flavour": "mean"},
            "blind": {"northernmost": score},
        }
        return Task(f"t{i}", f"?{i}", gold=10.0**i, answer_type="numerical", provenance=about)

    guard = Guard("x")
    for i in range(8):
        entry = guard.entry(question(i, 0.0))
        assert guard.admits(entry)
        guard.add(entry)
    paying = guard.entry(question(8, 1.0))
    assert guard.admits(paying)
    guard.add(paying)
    assert not guard.admits(guard.entry(question(9, 1.0)))
    assert guard.admits(guard.entry(question(9, 0.0)))


def test_a_paying_strategy_is_a_problem(bank):
    rows = [replace(row) for row in measure(bank)]
    report = BankReport("d", 0, None, rows)
    assert report.ok
    rows[0].blind["northernmost"] = Guess("northernmost", 0.5 * rows[0].count, rows[0].count)
    assert not report.ok
    assert report.problems == [
        f"the blind strategy 'northernmost' scores 0.50 on {rows[0].split}/{rows[0].template}"
    ]


def test_questions_go_over_all_variables_and_many_kinds(bank):
    assert {task.provenance["variable"] for task in bank} == set(VARIABLES)
    kinds = Counter(task.provenance["kind"] for task in bank)
    assert len(kinds) >= 14
    assert max(kinds.values()) < 0.35 * len(bank)


def test_required_words_of_lists_and_places(bank):
    for task in bank:
        candidates = task.provenance.get("candidates", [])
        if task.answer_type == "location":
            assert 7 <= len(candidates) <= 60
            assert task.gold["place"] in candidates
            assert task.gold["place"] not in task.prompt.split("h. ", 1)[1] or any(
                task.gold["place"] in other for other in (task.provenance["key"][1],)
            )
        elif task.answer_type == "anomaly":
            assert set(task.gold) <= set(candidates)


def test_the_report_prints_and_is_json(analytic, tmp_path):
    report = build_bank(analytic, SMALL, 0, tmp_path / "bank.jsonl", strict=False)
    stream = io.StringIO()
    Console(file=stream, width=160).print(report)
    text = stream.getvalue()
    assert all(name in text for name in TEMPLATES)
    assert "best constant" in text
    assert "blind" in text
    assert "climate" in text
    data = json.loads(json.dumps(report.to_dict()))
    assert sum(row["count"] for row in data["rows"]) == len(TaskSet.load(tmp_path / "bank.jsonl"))
    assert data["ok"] is report.ok is False  # one question a template is always guessable
    assert any("constant answer scores" in problem for problem in data["problems"])


def test_a_dataset_too_small_is_refused_and_nothing_written(analytic, tmp_path):
    path = tmp_path / "bank.jsonl"
    with pytest.raises(UserError, match="no good bank"):
        build_bank(analytic, SMALL, 0, path)
    assert not path.exists()


def test_no_climatology_no_bank(analytic):
    bare = Dataset("bare", {"2001-01-05": lambda: analytic.forecast("2001-01-05")})
    with pytest.raises(UserError, match="climatology"):
        build_bank(bare, SMALL)


def test_an_unknown_dataset_is_the_users_mistake():
    with pytest.raises(UserError, match="nowhere"):
        build_bank("nowhere", SMALL)


def test_the_environment_builds_banks_for_the_command_line(analytic, tmp_path):
    sizes = {"validation": 125}
    report = BenchEnv.build_bank(analytic, sizes, 0, tmp_path / "bank.jsonl.gz")
    assert report.ok
    assert report.output == tmp_path / "bank.jsonl.gz"
    env = BenchEnv(dataset=analytic, bank=report.output, split="validation")
    assert len(env.tasks()) == 125


def test_a_bank_has_a_known_ending(analytic, tmp_path):
    with pytest.raises(UserError, match="jsonl"):
        build_bank(analytic, SMALL, output=tmp_path / "bank.csv")


def test_learning_from_training_by_hand():
    def question(name, subject, winner, value):
        about = {
            "key": ["x", subject, "v", ""],
            "variable": "v",
            "detail": {"flavour": "highest"},
            "candidates": ["Kenya", "Chad", "Niger", "Sudan"],
            "kind": "country",
        }
        gold = {"place": winner, "value": value}
        return Task(name, "?", gold=gold, answer_type="location", provenance=about)

    learnt = Learnt(
        [
            question("a", "one", "Kenya", 1000.0),
            question("b", "one", "Kenya", 2000.0),
            question("c", "two", "Chad", 3000.0),
        ]
    )
    scores = learnt.scores(question("d", "one", "Kenya", 9.0))
    assert scores["learnt by set"] == scores["learnt by set and order"] == 1.0
    assert scores["learnt by variable"] == 1.0
    assert scores["not yet right"] == 0.0
    scores = learnt.scores(question("e", "two", "Niger", 9.0))
    assert scores["learnt by set"] == scores["learnt by variable"] == 0.0
    assert scores["not yet right"] == pytest.approx(1 / 3)
    # nothing was asked about this set: the best constant of all stands in
    assert learnt.scores(question("f", "three", "Kenya", 9.0))["learnt by set"] == 1.0
