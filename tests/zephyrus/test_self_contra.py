"""Self-Contra: the types against the paper's words, κ against hand and formula, runs and commands."""

import asyncio
import csv
import json
from collections import Counter

import numpy as np
import pytest
from consistency_texts import QUESTIONS, TEXTS
from hypothesis import given
from hypothesis import strategies as st

from zephyrus import registry
from zephyrus.consistency.contradiction import TYPES, Kind, Proportions, average, classify
from zephyrus.consistency.judge import ConsistencyJudge, make_consistency_judge
from zephyrus.consistency.labels import agreement, read_conclusions, sample_items
from zephyrus.consistency.response import read_response
from zephyrus.consistency.selfcontra import Reading, SelfContra, judge_readings, read_run
from zephyrus.env import ToolEnv
from zephyrus.errors import JudgeError, UserError
from zephyrus.messages import Message
from zephyrus.policy.base import Policy
from zephyrus.rollouts import rollout
from zephyrus.task import Task, TaskSet
from zephyrus.trajectory import Key

LETTERS = st.sampled_from("ABCD")
MAYBE = LETTERS | st.none()


@pytest.mark.parametrize(
    ("concluded", "final", "kind"),
    [
        ("B", "B", Kind.CONSISTENT),
        ("C", "C", Kind.CONSISTENT),
        ("B", "C", Kind.TYPE_1),  # "Correct rp leads to an incorrect fa"
        ("C", "B", Kind.TYPE_2),  # "Incorrect rp leads to a correct fa"
        ("C", "D", Kind.TYPE_3),  # "Incorrect rp leads to a different incorrect fa"
        (None, "C", Kind.TYPE_3),  # "or the rp itself is inconclusive"
        (None, "B", Kind.TYPE_3),
        ("B", None, Kind.MALFORMED),
        (None, None, Kind.MALFORMED),
    ],
)
def test_the_papers_types(concluded, final, kind):
    assert classify(concluded, final, "B") is kind


@given(MAYBE, MAYBE, LETTERS)
def test_a_mismatch_is_self_contra_and_nothing_else_is(concluded, final, gold):
    kind = classify(concluded, final, gold)
    assert (kind in TYPES) == (final is not None and concluded != final)
    assert (kind is Kind.CONSISTENT) == (final is not None and concluded == final)


@given(st.lists(st.sampled_from(list(Kind)), max_size=60))
def test_the_types_add_up_to_self_contra_and_all_kinds_to_one(kinds):
    found = Proportions(kinds)
    counts = Counter(kinds)
    assert found.judged == len(kinds) - counts[Kind.MISSING]
    if not found.judged:
        assert found.self_contra is None
        return
    types = [found.share(kind) for kind in TYPES]
    assert sum(types) == pytest.approx(found.self_contra)
    rest = found.share(Kind.CONSISTENT) + found.share(Kind.MALFORMED)
    assert sum(types) + rest == pytest.approx(1)
    told = found.to_dict()
    assert told["self_contra"] == pytest.approx(told["type_1"] + told["type_2"] + told["type_3"])


def test_the_average_is_over_tasks_not_over_responses():
    one = Proportions([Kind.TYPE_1] * 1 + [Kind.CONSISTENT] * 1)
    two = Proportions([Kind.TYPE_2] * 1 + [Kind.CONSISTENT] * 9)
    found = average([one, two, Proportions([Kind.MISSING])])
    assert found["self_contra"] == pytest.approx((0.5 + 0.1) / 2)
    assert found["type_1"] == pytest.approx(0.25)
    assert average([])["self_contra"] is None


# Cohen's κ ------------------------------------------------------------------------------------


def test_kappa_by_hand():
    """Cohen's own form: 20 yes-yes, 5 and 10 mixed, 15 no-no: p_o 0.7, p_e 0.5, κ 0.4."""
    pairs = [("A", "A")] * 20 + [("A", "B")] * 5 + [("B", "A")] * 10 + [("B", "B")] * 15
    first = {str(i): a for i, (a, _) in enumerate(pairs)}
    second = {str(i): b for i, (_, b) in enumerate(pairs)}
    found = agreement(first, second)
    assert found.items == 50
    assert found.accuracy == pytest.approx(0.7)
    assert found.kappa == pytest.approx(0.4)
    low, high = found.ci95
    assert low < 0.4 < high


def sklearns(first, second):
    """scikit-learn's cohen_kappa_score, by its formula: 1 - Σ w·O / Σ w·E."""
    labels = sorted(set(first) | set(second))
    observed = np.zeros((len(labels), len(labels)))
    for a, b in zip(first, second, strict=True):
        observed[labels.index(a), labels.index(b)] += 1
    expected = np.outer(observed.sum(axis=1), observed.sum(axis=0)) / observed.sum()
    weights = 1 - np.eye(len(labels))
    return 1 - (weights * observed).sum() / (weights * expected).sum()


@given(st.lists(st.tuples(MAYBE, MAYBE), min_size=2, max_size=40))
def test_kappa_is_scikit_learns(pairs):
    first = {str(i): a for i, (a, _) in enumerate(pairs)}
    second = {str(i): b for i, (_, b) in enumerate(pairs)}
    found = agreement(first, second)
    flat = [[label or "?" for label in column] for column in zip(*pairs, strict=True)]
    if len(set(flat[0] + flat[1])) == 1:
        assert found.kappa is None  # chance explains all of it
    else:
        assert found.kappa == pytest.approx(sklearns(*flat))


def test_items_that_one_rater_left_out_don_t_count():
    assert agreement({"1": "A", "2": "B"}, {"2": "B", "3": "C"}).items == 1
    assert agreement({"1": "A"}, {"2": "A"}).kappa is None


def test_labels_from_tables_and_json_lines(tmp_path):
    table = tmp_path / "a.csv"
    table.write_text('item,question,label\n1,"What; is, it?",b\n2,,Cannot be determined\n3,,\n')
    lines = tmp_path / "b.jsonl"
    lines.write_text('{"id": "4", "fa_rp": "C"}\n{"id": "2", "fa_rp": "none"}\n')
    assert read_conclusions([table, lines]) == {"1": "B", "2": None, "4": "C"}
    for text, why in (
        ("item,label\n1,Z\n", "line 2: 'Z' is no label"),
        ("item,label\n1,A\n1,B\n", "two labels"),
        ("item,answer\n1,A\n", "no column named"),
        ("item,label\n,A\n", "no item"),
        ("item,label\n1,\n", "there are no labels"),
    ):
        table.write_text(text)
        with pytest.raises(UserError, match=why):
            read_conclusions([table])


def test_a_sample_is_spread_over_the_tasks():
    items = {f"{task}{i}": task for task, n in (("a", 50), ("b", 3), ("c", 10)) for i in range(n)}
    drawn = sample_items(items, 9)
    assert Counter(items[name] for name in drawn) == {"a": 3, "b": 3, "c": 3}
    assert drawn == sample_items(items, 9)
    assert drawn != sample_items(items, 9, seed=1)
    assert sorted(sample_items(items, 99)) == sorted(items)


# Over responses and runs ----------------------------------------------------------------------


def readings():
    for i, text in enumerate(TEXTS):
        question = QUESTIONS[text.question]
        message = Message("assistant", f"<answer>{text.answered}</answer>", text.reasoning)
        yield Reading(
            Key(str(i), 0, 0), text.question, question, read_response(message), text.answered
        )


class People(ConsistencyJudge):
    """Says what the labels say; fails on one."""

    name = "people"

    def __init__(self, broken=()):
        self.known = {text.reasoning: text.concluded for text in TEXTS}
        self.broken = broken
        self.asked = []

    async def conclusion(self, question, reasoning):
        self.asked.append(reasoning)
        if reasoning in self.broken:
            raise JudgeError("nobody is there")
        return self.known[reasoning]


def test_every_type_is_found_where_the_labels_say_so():
    judged = asyncio.run(judge_readings(list(readings()), People()))
    found = SelfContra("run", "people", tuple(judged))
    expected = Counter(
        classify(t.concluded, t.answered, QUESTIONS[t.question].answer) for t in TEXTS
    )
    assert found.overall.counts == expected
    assert all(expected[kind] >= 5 for kind in (Kind.CONSISTENT, *TYPES))
    assert set(found.by_task) == set(QUESTIONS) - {"school", "mass", "pressure"}
    assert sum(shares.judged for shares in found.by_task.values()) == len(TEXTS)
    told = found.to_dict()
    assert told["overall"]["self_contra"] == pytest.approx(
        sum(expected[kind] for kind in TYPES) / len(TEXTS)
    )


def test_a_judge_that_fails_leaves_a_gap_and_no_zero():
    whole = list(readings())
    broken = whole[0].response.reasoning
    judged = asyncio.run(judge_readings(whole, People([broken])))
    found = SelfContra("run", "people", tuple(judged))
    assert found.missing == 1
    assert found.overall.judged == len(TEXTS) - 1
    assert "0#0.0" not in found.conclusions()
    (gap,) = (one for one in found.judged if one.kind is Kind.MISSING)
    assert gap.missing == "nobody is there"


def test_what_is_not_well_formed_is_counted_apart_and_no_judge_is_asked():
    question = QUESTIONS["rain"]
    texts = ["B", "<answer>B</answer>", "<think>so</think><answer>who knows</answer>"]
    odd = []
    for i, text in enumerate(texts):
        response = read_response(Message("assistant", text))
        odd.append(Reading(Key(str(i), 0, 0), "rain", question, response, None))
    judge = People()
    judged = asyncio.run(judge_readings(odd, judge))
    assert [one.kind for one in judged] == [Kind.MALFORMED] * 3
    assert judge.asked == []


class QuizEnv(ToolEnv):
    """The labelled texts' questions, each once for every text."""

    name = "quiz"

    def tasks(self, split=None):
        return TaskSet(
            [
                Task(
                    str(i),
                    QUESTIONS[t.question].question,
                    QUESTIONS[t.question].answer,
                    template=t.question,
                )
                for i, t in enumerate(TEXTS)
            ],
            "quiz",
        )

    def world(self, task):
        return {}

    def system_prompt(self):
        return "Think."

    def read_answer(self, text):
        return text

    def score(self, task, trajectory):
        return {"score": 1.0, "reward": 1.0}

    def choice_question(self, task):
        return QUESTIONS[TEXTS[int(task.id)].question]


class Said(Policy):
    """Says what was written down."""

    name = "said"

    def session(self, env, task, seed, repeat=0):
        from zephyrus.messages import Reply

        text = TEXTS[int(task.id)]

        class Session:
            async def act(self, messages):
                body = f"<answer>{text.answered}</answer>"
                return Reply(Message("assistant", body, text.reasoning))

        return Session()


@pytest.fixture
def quiz_run(tmp_path, monkeypatch):
    monkeypatch.setitem(
        registry._registered, "envs", {**registry._registered["envs"], "quiz": QuizEnv}
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    return rollout(QuizEnv(), Said(), output=tmp_path / "runs" / "said", progress=False)


def test_a_run_is_read_from_its_folder(quiz_run):
    found = read_run(quiz_run, QuizEnv())
    assert {reading.final for reading in found} <= set("ABCD")
    assert len(found) == len(TEXTS)


def test_the_command(quiz_run, zephyrus, tmp_path):
    told = json.loads(zephyrus("env", "self-contra", "said", "--json"))
    (run,) = told["runs"]
    ours = asyncio.run(
        judge_readings(read_run(quiz_run, QuizEnv()), make_consistency_judge("rules"))
    )
    expected = SelfContra("said", "rules", tuple(ours)).to_dict()
    assert run == expected
    shown = zephyrus("env", "self-contra", "said", "said", "--output", tmp_path / "all.json")
    assert "Type 2: wrong reasoning, right answer" in shown
    assert f"{100 * expected['average']['self_contra']:.2f}" in shown
    assert json.loads((tmp_path / "all.json").read_text("utf-8"))["runs"] == [expected] * 2


def test_people_label_blind_and_are_compared(quiz_run, zephyrus, tmp_path):
    sheet = tmp_path / "sheet.csv"
    zephyrus("env", "self-contra", "said", "--export", sheet, "-n", "30")
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 30
    assert {row["label"] for row in rows} == {""}
    assert set(rows[0]) == {"item", "question", "choices", "reasoning", "label"}
    for row in rows:  # a person fills it in
        row["label"] = TEXTS[int(row["item"].split("#")[0])].concluded or "Cannot be determined"
    with sheet.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    told = json.loads(zephyrus("env", "self-contra", "said", "--labels", sheet, "--json"))
    assert told["agreement"]["items"] == 30
    assert 0.8 < told["agreement"]["kappa"] <= 1
    assert "Cohen's κ" in zephyrus("env", "self-contra", "said", "--labels", sheet)
    sheet.write_text("item,label\nstranger,A\n")
    assert "no item" in zephyrus("env", "self-contra", "said", "--labels", sheet, code=2)
    zephyrus("env", "self-contra", "said", "said", "--labels", sheet, code=2)


def test_an_outage_is_exit_code_1_and_no_proportion(quiz_run, zephyrus, monkeypatch):
    monkeypatch.setattr(
        "zephyrus.consistency.judge.make_consistency_judge",
        lambda *_, **__: People([TEXTS[0].reasoning]),
    )
    said = zephyrus("env", "self-contra", "said", code=1)
    assert "1 judgements could not be had (nobody is there)" in said


def test_an_environment_without_choices_says_so(tmp_path, monkeypatch, zephyrus, sum_env):
    monkeypatch.chdir(tmp_path)
    run = rollout(sum_env, "scripted", n=2, output=tmp_path / "runs" / "sums", progress=False)
    with pytest.raises(UserError, match="'sum' asks no multiple-choice questions"):
        read_run(run, sum_env)
