"""The figures of runs: what they draw is held against numbers made by hand."""

import json
import re
from html.parser import HTMLParser

import pytest
from click.testing import CliRunner

from zephyrus import registry
from zephyrus.cli.env import group
from zephyrus.errors import UserError
from zephyrus.limits import StopReason
from zephyrus.numeric import NumericAnswer
from zephyrus.run import Run
from zephyrus.summary import mean_interval
from zephyrus.trajectory import CallRecord, Key, Trajectory
from zephyrus.view.figures.drawing import DARK, LIGHT, styled
from zephyrus.view.plots import draw_all, plot_runs
from zephyrus.view.plots.read import read_numbers


def one(task, template, score, repeat=0, turns=2, calls=(), reward=None, **more):
    reward = score if reward is None else reward
    return Trajectory(
        Key(task, 0, repeat),
        calls=[CallRecord(1, name, "{}", error) for name, error in calls],
        turns=turns,
        answer="1",
        rewards={"score": score, "reward": reward},
        stop=StopReason.ANSWERED,
        task={"template": template, **more},
    )


def made(folder, rollouts, env="sum", policy="p"):
    with Run.create(folder, {"env": {"name": env}, "policy": {"name": policy}}) as run:
        run.append(*rollouts)
        run.write_summary()
    return run


@pytest.fixture
def base(tmp_path):
    scores = {"a": [1, 0, 0, 0], "b": [1, 1, 0, 0.5]}
    return made(
        tmp_path / "base",
        [
            one(f"{name}{i}", name, s, turns=2 + i % 2, calls=[("dataset", None), ("map", "bad")])
            for name, every in scores.items()
            for i, s in enumerate(every)
        ],
    )


@pytest.fixture
def better(tmp_path):
    scores = {"a": [1, 1, 1, 1], "b": [1, 1, 0, 0.5, 1]}
    return made(
        tmp_path / "better",
        [
            one(f"{name}{i}", name, s, turns=2, calls=[("dataset", None)])
            for name, every in scores.items()
            for i, s in enumerate(every)
        ],
    )


def drawings(*runs):
    return {drawing.name: drawing for drawing in draw_all(read_numbers(runs))[0]}


def figure(drawing, theme=LIGHT):
    with styled(theme):
        shown = drawing.draw(theme)
        shown.draw_without_rendering()
    return shown


def test_accuracy_by_template_with_wilson_intervals(base):
    drawing = drawings(base)["accuracy-by-template"]
    assert [row[:4] for row in drawing.rows] == [
        ("base", "a", 4, 0.25),
        ("base", "b", 4, 0.625),
        ("base", "all", 8, 0.4375),
    ]
    # Wilson for 1 of 4, from its formula
    z, n, p = 1.959963984540054, 4, 0.25
    middle, half = p + z * z / (2 * n), z * (p * (1 - p) / n + z * z / (4 * n * n)) ** 0.5
    wilson = [(middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)]
    assert drawing.rows[0][4:] == pytest.approx(wilson)
    assert mean_interval({str(i): [float(i == 0)] for i in range(4)}) == pytest.approx(wilson)
    (axes,) = figure(drawing).axes
    assert [t.get_text() for t in axes.get_yticklabels()] == ["a (4)", "b (4)", "all (8 rollouts)"]
    intervals = [line.get_xdata() for line in axes.lines if len(line.get_xdata()) == 2]
    assert any(list(x) == pytest.approx(wilson) for x in intervals)


def test_differences_are_over_shared_tasks_and_only_drawn_of_several_runs(base, better):
    assert "accuracy-differences" not in drawings(base)
    drawing = drawings(base, better)["accuracy-differences"]
    rows = {row[1]: row for row in drawing.rows}
    assert rows["a"][:4] == ("better", "a", 4, 0.75)
    assert rows["b"][:4] == ("better", "b", 4, 0.0), "b4 is in one run alone"
    assert rows["all"][:4] == ("better", "all", 8, 0.375)
    assert rows["b"][4:] == (0.0, 0.0), "the same scores on every task"
    low, high = rows["all"][4:]
    assert 0 <= low < 0.375 < high <= 1
    (axes,) = figure(drawing).axes
    low, high = axes.get_xlim()
    assert low == -high, "0 is in the middle"


def test_runs_without_a_shared_task_have_no_difference(base, tmp_path):
    other = made(tmp_path / "other", [one("z", "a", 1.0)])
    found, left_out = draw_all(read_numbers([base, other]))
    assert "accuracy-differences" not in {drawing.name for drawing in found}
    assert "share no task" in left_out["Differences in accuracy"]


def test_reward_by_turn(base):
    drawing = drawings(base)["reward-by-turn"]
    assert [row[:5] for row in drawing.rows] == [
        ("base", 2, 0.5, 4, 0.5),
        ("base", 3, 0.5, 4, 0.375),
    ]
    above, below = figure(drawing).axes
    assert [bar.get_height() for bar in below.patches] == [0.5, 0.5]
    assert [0.5, 0.375] in [list(line.get_ydata()) for line in above.lines]


def test_tool_use_counts_calls_failures_and_mistakes(base, better):
    drawing = drawings(base, better)["tool-use"]
    assert drawing.rows == (
        ("base", "dataset", 8, 1.0, 0, 0.0),
        ("base", "map", 8, 1.0, 8, 1.0),
        ("better", "dataset", 9, 1.0, 0, 0.0),
    )
    tools, mistakes = figure(drawing).axes
    assert sorted(bar.get_width() for bar in tools.patches) == [0, 0, 0, 0, 0, 1, 1, 1]
    assert [bar.get_width() for bar in mistakes.patches] == [50.0, 0.0]


def test_an_inventive_model_gets_no_endless_figure(tmp_path):
    calls = [(f"tool{i}", "unknown_tool") for i in range(300)]
    run = made(tmp_path / "r", [one("a", "a", 0.0, calls=calls)])
    rows = drawings(run)["tool-use"].rows
    assert len(rows) == 12 and rows[-1][1:3] == ("(others)", 289)


def test_errors_of_numeric_answers_are_read_at_the_tolerances(tmp_path, monkeypatch):
    from sum_env import SumEnv

    class Measured(SumEnv):
        @classmethod
        def numeric_answer(cls, facts, answer):
            return NumericAnswer("numbers", "%", facts["off"], 1.0, 5.0)

    monkeypatch.setitem(registry._registered["envs"], "measured", Measured)
    errors = [0.0, 1.0, -1.0, 1.5, -4.0, 300.0, None, 5.0]
    run = made(
        tmp_path / "r", [one(f"t{i}", "a", 0.0, off=e) for i, e in enumerate(errors)], "measured"
    )
    drawing = drawings(run)["numeric-errors"]
    assert drawing.rows == (("r", "numbers", 8, 1, 3 / 8, 6 / 8, 1.5, 1.0),)
    (axes,) = figure(drawing).axes
    curve = axes.lines[-1]
    share = dict(zip(curve.get_xdata(), curve.get_ydata(), strict=True))
    assert (share[1.0], share[5.0], share[300.0]) == (3 / 8, 6 / 8, 7 / 8)
    assert max(curve.get_ydata()) == 7 / 8, "an answer without a number is never reached"


def test_bench_measures_as_its_verifier_scores():
    verifiers = pytest.importorskip("zephyrus_bench.verifiers")

    def band(facts, answer):
        found = verifiers.numeric_answer(facts, answer)
        return None if found is None or found.error is None else abs(found.error), found

    for gold, answers in ((250.0, ("252", "260", "300")), (0.5, ("0.54", "0.6", "0.8"))):
        facts = {"answer_type": "numerical", "gold": gold}
        for answer in answers:
            error, found = band(facts, answer)
            expected = 1.0 if error <= found.full else 0.5 if error <= found.half else 0.0
            assert verifiers.numerical(answer, gold) == expected
    assert [verifiers.numerical(a, 250.0) for a in ("252", "260", "300")] == [1.0, 0.5, 0.0]
    assert band({"answer_type": "numerical", "gold": 250.0}, "255")[0] == pytest.approx(2.0)
    assert band({"answer_type": "time", "gold": 30}, "24")[1] == NumericAnswer(
        "time", "h", -6, 0, 6
    )
    assert band({"answer_type": "numerical", "gold": 1.0}, "no idea")[1].error is None
    assert verifiers.numeric_answer({"answer_type": "location", "gold": {}}, "Kenya") is None


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.links = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [value for key, value in attrs if key in ("src", "href", "srcset")]


def test_the_files_are_pictures_and_one_page_without_network(base, better, tmp_path):
    files = plot_runs([base, better], tmp_path / "out")
    names = [file.name for file in files]
    assert names == [
        "run.html",
        "accuracy-by-template.png",
        "accuracy-differences.png",
        "reward-by-turn.png",
        "tool-use.png",
    ]
    assert all(file.read_bytes().startswith(b"\x89PNG") for file in files[1:])
    text = files[0].read_text("utf-8")
    page = Page(text)
    assert "script" not in page.tags and page.tags.count("img") == 4
    assert all(link.startswith(("data:image/png;base64,", "#")) for link in page.links)
    assert "default-src 'none'" in text and "Errors of numeric answers" in text


def test_names_that_a_model_or_a_folder_brings_are_text(tmp_path):
    evil = "<script>alert(1)</script>$x_"
    run = made(tmp_path / "<b>r$", [one("a", evil, 1.0, calls=[(evil, "bad")]), one("b", "x", 0.0)])
    text = plot_runs([run], tmp_path / "out")[0].read_text("utf-8")
    assert "<script" not in text and "&lt;script&gt;" in text and "<b>r" not in text
    for drawing in draw_all(read_numbers([run]))[0]:
        figure(drawing, DARK)


def test_what_can_not_be_drawn_is_one_sentence(tmp_path, base):
    empty = made(tmp_path / "empty", [])
    with pytest.raises(UserError, match="nothing to draw of empty"):
        plot_runs([empty])
    with pytest.raises(UserError, match="at least one"):
        plot_runs([])
    with pytest.raises(UserError, match="named twice"):
        plot_runs([base, Run.open(base.path)])


def test_runs_of_one_name_are_told_apart(tmp_path):
    runs = [made(tmp_path / name / "r", [one("a", "a", 1.0)]) for name in ("x", "y")]
    assert [run.name for run in read_numbers(runs)] == ["x/r", "y/r"]


def test_the_commands(base, better, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = CliRunner().invoke(group, ["plot", "base", "better", "--output", "figures"])
    assert told.exit_code == 0, told.output
    written = re.findall(r"wrote (\S+)", told.output)
    assert len(written) == 5 and all((tmp_path / name).is_file() for name in written)
    told = CliRunner().invoke(group, ["plot", "base"])
    assert told.exit_code == 0 and (base.path / "plots" / "run.html").is_file()
    args = ["export", "base", "--no-tools", "--at-least", "1", "--output", "b.parquet"]
    told = CliRunner().invoke(group, [*args, "--json"])
    assert json.loads(told.output) == {"files": ["b.parquet"], "rows": {"train": 3}}
