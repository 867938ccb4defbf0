import math
import re
import shutil
import subprocess
from html.parser import HTMLParser
from itertools import combinations

import matplotlib
import pytest
from curriculum_runs import WHERE, exam, stage, state, write_lines, write_run, write_state
from matplotlib.colors import to_rgb

from zephyrus.curriculum.history import read_histories
from zephyrus.curriculum.plots import draw_all, plot_run
from zephyrus.curriculum.plots.heldout import routes
from zephyrus.curriculum.plots.training import running_mean
from zephyrus.errors import UserError
from zephyrus.view.figures.drawing import DARK, LIGHT, styled

REPORT = {"tasks": {"env": "report", "split": "validation"}, "metric": "reward", "every": 2}


@pytest.fixture
def both(tmp_path):
    """RSFT then RL then report RL: 0.3 → 0.5 → 0.8, and 0.2 → 0.4 of report's reward."""
    return make(tmp_path / "both", ["rsft", "rl", "report_rl"])


def make(folder, kinds, base=3, **more):
    gains = {"rsft": 2, "rl": 3}
    stages = [stage(kind, 4, evaluation=REPORT if kind == "report_rl" else WHERE) for kind in kinds]
    write_run(folder, stages, **more)
    states, right = [], base
    for kind in kinds:
        where = folder / "stages" / kind
        start, end = (2, 4) if kind == "report_rl" else (right, right + gains[kind])
        judges = [
            {"j1": {"f1": f, "rubric": 0.5}, "j2": {"f1": 0.75, "rubric": f}} for f in (0.25, 0.5)
        ]
        judged = judges if kind == "report_rl" else [None, None]
        exam(where / "evaluations" / "full-00000", start, failed=2, judges=judged[0])
        exam(where / "evaluations" / "step-00002", end, judges=judged[1])
        exam(where / "evaluations" / "full-00004", end - 1, calls=2)
        write_lines(where / "evaluations.jsonl", [{"step": 2, "value": end / 10, "full": True}])
        states.append(state(kind, "done", start / 10, [(4, (end - 1) / 10)], 2, "4 steps are done"))
        write_lines(where / "steps.jsonl", [line(kind, i) for i in (1, 2, 3, 4)])
        right = end
    write_state(folder, states)
    return folder


def line(kind, step):
    found = {"step": step, "seconds": 1.0, "loss": 1 / step}
    if kind != "rsft":
        found |= {"kl": step / 100, "failure_rate": 0.5 / step, "tokens_per_second": 100.0 * step}
        found |= {"rewards": {"reward": step / 10}}
    if kind == "report_rl":
        rubric = 0.5 + step / 10
        found |= {"weights": {"rubric": rubric, "f1": 1 - rubric}}
        found |= {"rewards": {"rubric": step / 10, "f1": step / 20}}
    return found


def drawings(*folders):
    return {drawing.name: drawing for drawing in draw_all(read_histories(folders))[0]}


def figure(drawing, theme=LIGHT):
    with styled(theme):
        made = drawing.draw(theme)
        made.draw_without_rendering()
    return made


def xy(line):
    return [(round(float(x), 9), round(float(y), 9)) for x, y in line.get_xydata()]


def lines(axes):
    return [xy(line) for line in axes.lines]


def test_fig_2_has_a_bar_for_each_route(tmp_path, both):
    only = make(tmp_path / "rl", ["rl"], base=4)
    again = make(tmp_path / "rl-2", ["rl"], base=1)
    panels = routes(read_histories([both, only, again]))
    (_, bench), (_, report) = panels.items()
    assert {bar.route: bar.values for bar in bench} == {
        "base": {"both": 0.3, "rl": 0.4, "rl-2": 0.1},
        "RSFT": {"both": 0.5},
        "RL-only": {"rl": 0.7, "rl-2": 0.4},
        "RSFT-RL": {"both": 0.8},
    }
    assert [bar.route for bar in bench] == ["base", "RSFT", "RL-only", "RSFT-RL"]
    assert {bar.route: bar.values for bar in report} == {
        "RSFT-RL": {"both": 0.2},
        "Curriculum RL": {"both": 0.4},
    }
    assert bench[1].interval is not None and bench[2].interval is None

    shown, _ = figure(drawings(both, only, again)["accuracy-by-route"]).axes
    heights = [bar.get_height() for bar in shown.patches]
    assert heights == pytest.approx([0.8 / 3, 0.5, 0.55, 0.8])
    assert [t.get_text() for t in shown.get_xticklabels()] == ["base", "RSFT", "RL-only", "RSFT-RL"]
    assert [t.get_text() for t in shown.texts] == ["0.267", "0.500", "0.550", "0.800"]
    low, high = bench[1].interval
    dots = [[y for _, y in line] for line in lines(shown)]
    assert [0.4, 0.7] in dots and [round(low, 9), round(high, 9)] in dots


def test_models_and_exams_are_never_in_one_panel(tmp_path):
    small = make(tmp_path / "small", ["rl"], model="org/Small-1B")
    large = make(tmp_path / "large", ["rl"], model="org/Large-9B")
    panels = routes(read_histories([small, large]))
    assert [model for model, _ in panels] == ["Small-1B", "Large-9B"]
    assert all([bar.route for bar in bars] == ["base", "RL-only"] for bars in panels.values())


def test_a_stage_that_is_not_over_has_no_bar(tmp_path):
    folder = make(tmp_path / "r", ["rsft", "rl"])
    write_state(folder, [state("rsft", "done", 0.3, [(4, 0.4)], 4, ""), state("rl", "train", 0.4)])
    ((_, bars),) = routes(read_histories([folder])).items()
    assert {bar.route: bar.mean for bar in bars} == {"base": 0.3, "RSFT": 0.4}


def test_fig_b_1_has_open_filled_and_chosen_circles(both):
    rsft, rl, report = figure(drawings(both)["accuracy-by-step"]).axes
    assert [panel.get_title(loc="left") for panel in (rsft, rl, report)] == [
        "RSFT", "RSFT-RL", "Curriculum RL",
    ]  # fmt: skip
    assert circles(rl, "open") == [(0, 0.5)]
    assert circles(rl, "filled") == [(2, 0.8), (4, 0.7)]
    assert circles(rl, "ring") == [(2, 0.8)]
    assert dotted(rl) == {0.3, 0.8}, "the base policy and the chosen checkpoint"
    assert [(0, 0.5), (2, 0.8), (4, 0.7)] in lines(rl)
    assert dotted(report) == {0.4}, "the base policy sat no such exam"


def circles(axes, kind):
    """Points drawn as circles: open, filled, or a ring around one."""
    found = []
    for drawn in axes.lines:
        face = drawn.get_markerfacecolor()
        is_open = face != "none" and to_rgb(face) == to_rgb(axes.get_facecolor())
        this = "ring" if face == "none" else "open" if is_open else "filled"
        if drawn.get_marker() == "o" and this == kind:
            found += xy(drawn)
    return found


def dotted(axes):
    return {round(line.get_ydata()[0], 9) for line in axes.lines if line.get_linestyle() == ":"}


def test_a_subset_is_drawn_apart_from_all_tasks(tmp_path):
    folder = write_run(tmp_path / "r", [stage("rl", 4, evaluation={**WHERE, "subset": 5})])
    rows = [{"step": i, "value": i / 10, "full": False} for i in (1, 2)]
    write_lines(folder / "stages" / "rl" / "evaluations.jsonl", rows)
    write_state(folder, [state("rl", "done", 0.15, [(4, 0.25)], 4, "")])
    drawing = drawings(folder)["accuracy-by-step"]
    (panel,) = figure(drawing).axes
    assert circles(panel, "filled") == [(1, 0.1), (2, 0.2), (4, 0.25)]
    joined = [xy(line) for line in panel.lines if line.get_linestyle() == "-" and xy(line)]
    assert joined[0] == [(1, 0.1), (2, 0.2)], "a subset is another measure: nothing joins it"
    size = {line.get_markersize() for line in panel.lines if line.get_marker() == "o" and xy(line)}
    assert len(size) == 3, "subset, all tasks, ring"
    assert [row[5] for row in drawing.rows] == ["all", "subset", "subset", "all"]


def test_fig_3_has_evaluations_and_training_rollouts(both):
    drawing = drawings(both)["tool-use"]
    shown = figure(drawing)
    rsft, rl, _ = shown.axes[:3]
    assert lines(rsft)[1] == [(0, 0.2), (2, 0), (4, 0)], "of 10 calls the last 2 fail at step 0"
    assert lines(rl)[0] == [(1, 0.5), (2, 0.25), (3, round(0.5 / 3, 9)), (4, 0.125)]
    tools = shown.axes[3]
    assert lines(tools)[1] == [(0, 1), (2, 1), (4, 2)]
    assert drawing.columns[4:] == ("failure rate", "tools per executed turn", "required tool used")
    assert ("both", "rsft", "evaluation", 4, 0.0, 2.0, 1.0) in drawing.rows
    assert ("both", "rl", "training", 2, 0.25, None, None) in drawing.rows


def test_fig_c_1_has_weights_that_sum_to_one(both):
    drawing = drawings(both)["weights"]
    (panel,) = figure(drawing).axes
    rubric, f1 = lines(panel)
    assert rubric == [(1, 0.6), (2, 0.7), (3, 0.8), (4, 0.9)]
    assert [y + z for (_, y), (_, z) in zip(rubric, f1, strict=True)] == pytest.approx([1] * 4)
    assert drawing.columns[3:] == ("rubric", "Discussion F1")


def test_fig_d_1_has_a_line_for_each_judge(both):
    drawing = drawings(both)["judges"]
    f1, rubric = figure(drawing).axes
    assert lines(f1) == [[(0, 0.25), (2, 0.5)], [(0, 0.75), (2, 0.75)]]
    assert lines(rubric) == [[(0, 0.5), (2, 0.5)], [(0, 0.25), (2, 0.5)]]
    looks = [(line.get_color(), line.get_marker()) for line in f1.lines]
    assert len({c for c, _ in looks}) == len({m for _, m in looks}) == 2
    assert ("both", "report_rl", "j2", 2, 0.75, 0.5) in drawing.rows


def test_training_curves_have_what_each_stage_wrote(both):
    found = drawings(both)
    titles = [a.get_title(loc="left") for a in figure(found["training-rsft"]).axes]
    assert titles == ["loss"]
    shown = {a.get_title(loc="left"): a for a in figure(found["training-report_rl"]).axes}
    assert list(shown) == [
        "parts of the reward",
        "KL from the start (nats)",
        "loss",
        "tokens per second",
    ]
    assert lines(shown["parts of the reward"])[1] == [(i, i / 20) for i in (1, 2, 3, 4)]
    assert lines(shown["tokens per second"]) == [[(i, 100 * i) for i in (1, 2, 3, 4)]]


def test_many_steps_are_smoothed_over_the_single_ones(tmp_path):
    folder = write_run(tmp_path / "r", [stage("rsft", 80)])
    values = [float(i % 2) for i in range(80)]
    rows = [{"step": i + 1, "loss": value} for i, value in enumerate(values)]
    write_lines(folder / "stages" / "rsft" / "steps.jsonl", rows)
    (panel,) = figure(drawings(folder)["training-rsft"]).axes
    single, smooth = lines(panel)
    assert [y for _, y in single] == values
    expected = [
        sum(values[max(0, i - 2) : i + 3]) / len(values[max(0, i - 2) : i + 3]) for i in range(80)
    ]
    assert [y for _, y in smooth] == pytest.approx(expected, abs=1e-8)
    assert running_mean([], 5) == []


def luminance(colour):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


# Simulation of full dichromacy in linear RGB (Machado et al. 2009, severity 1.0).
BLINDNESS = {
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
}  # fmt: skip


def seen(colour, matrix):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    mixed = [min(max(sum(m * c for m, c in zip(row, linear, strict=True)), 0), 1) for row in matrix]
    return [12.92 * c if c <= 0.0031308 else 1.055 * c ** (1 / 2.4) - 0.055 for c in mixed]


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_colours_stand_out_and_apart(theme):
    assert contrast(theme.ink, theme.ground) >= 7
    assert contrast(theme.faint, theme.ground) >= 4.5
    assert all(contrast(c, theme.ground) >= 3 for c in (*theme.colours, theme.mark))
    for matrix in BLINDNESS.values():
        for one, other in combinations(theme.colours[:3], 2):
            assert math.dist(seen(one, matrix), seen(other, matrix)) > 0.15, (one, other)


@pytest.mark.slow
def test_plots_are_written_and_what_is_missing_is_said(tmp_path):
    folder = make(tmp_path / "r", ["rsft"])
    told = []
    page, *pictures = plot_run(folder, tell=told.append)
    assert page == folder / "plots" / "curriculum.html"
    assert [p.name for p in pictures] == [
        "accuracy-by-route.png", "accuracy-by-step.png", "tool-use.png", "training-rsft.png",
    ]  # fmt: skip
    assert all(p.read_bytes().startswith(b"\x89PNG\r\n") for p in pictures)
    assert [text.split(": ")[1] for text in told] == [
        "Weights of the rewards (Fig. C.1)", "Judge trajectories (Fig. D.1)",
    ]  # fmt: skip
    left_out = page.read_text("utf-8").split('id="left-out"')[1]
    assert "no step of report RL is done" in left_out and "zephyrus env evaluate" in left_out
    again = plot_run(folder)
    assert again[1].read_bytes() == pictures[0].read_bytes(), "the same data, the same bytes"


def test_nothing_to_draw_is_said(tmp_path):
    folder = write_run(tmp_path / "r", [stage("rl")])
    with pytest.raises(UserError, match="nothing to draw yet of r"):
        plot_run(folder)
    with pytest.raises(UserError, match="at least one run"):
        plot_run([])


@pytest.mark.slow
def test_several_runs_go_where_the_command_is_given(tmp_path, both, monkeypatch):
    monkeypatch.chdir(tmp_path)
    other = make(tmp_path / "-a b?", ["rl"])
    files = {str(p) for p in plot_run([both, other])}
    assert "plots/curriculum.html" in files
    assert {"plots/training-both-rl.png", "plots/training--a-b--rl.png"} <= files


@pytest.mark.slow
def test_matplotlibrc_and_names_do_no_harm(tmp_path):
    folder = make(tmp_path / "_run $x^{2$ \u202e\u4e2d", ["rl"], model="org/_a$b_{c")
    with matplotlib.rc_context({"text.usetex": True, "axes.facecolor": "red"}):
        files = plot_run([folder, make(tmp_path / "other", ["rl"])], tmp_path / "out")
        assert matplotlib.rcParams["text.usetex"] is True
    assert len(files) == 6


EVIL = "</style><script>alert(1)</script><img src=x onerror=alert(1)> {{STYLE}} \u202e & \"'"


class Reader(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.cells, self.text = [], [], [], ""
        self.inside = False

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *attribute) for attribute in attrs]
        if tag == "td":
            self.cells.append("")
        self.inside = tag == "td"

    def handle_endtag(self, tag):
        self.inside = False

    def handle_data(self, data):
        self.text += data
        if self.inside:
            self.cells[-1] += data


@pytest.mark.slow
def test_the_page_holds_everything_and_lets_nothing_act(tmp_path):
    folder = make(tmp_path / "<b>run", ["rsft", "rl", "report_rl"], description=EVIL, model=EVIL)
    page, *pictures = plot_run(folder)
    text = page.read_text("utf-8")
    reader = Reader()
    reader.feed(text)
    assert (
        "script" not in reader.tags and "b" not in reader.tags and reader.tags.count("style") == 1
    )
    assert not [a for a in reader.attributes if a[1].startswith("on")]
    drawn = [name for name in pictures if name.suffix == ".png"]
    assert reader.tags.count("img") == reader.tags.count("source") == len(drawn)
    addresses = [v for _, name, v in reader.attributes if name in ("src", "srcset", "href")]
    assert all(v.startswith(("data:image/png;base64,", "#")) for v in addresses)
    assert not re.search(r"https?://", text), "nothing to fetch"
    policy = next(
        v for tag, name, v in reader.attributes if name == "content" and "default-src" in v
    )
    assert policy.startswith("default-src 'none'") and "script-src" not in policy
    assert EVIL.replace("\u202e", "\ufffd") in reader.text
    alts = [v for tag, name, v in reader.attributes if (tag, name) == ("img", "alt")]
    assert len(alts) == len(drawn) and all(len(alt) > 20 for alt in alts)
    assert any("RSFT 0.500" in alt for alt in alts)
    assert {"4 of 4", "accuracy 0.800", "4 steps are done", "0.3"} <= set(reader.cells)
    ids = [v for _, name, v in reader.attributes if name == "id"]
    assert {v[1:] for _, name, v in reader.attributes if name == "href"} <= set(ids)


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
@pytest.mark.parametrize(("scheme", "theme"), [("1", LIGHT), ("0", DARK)])
def test_in_a_browser_the_page_shows_its_pictures(tmp_path, scheme, theme):
    page, *_ = plot_run(make(tmp_path / "run", ["rsft"]))
    picture = tmp_path / "shot.png"
    done = subprocess.run(
        [
            CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1400,900",
            f"--user-data-dir={tmp_path / 'profile'}", f"--screenshot={picture}",
            f"--blink-settings=preferredColorScheme={scheme}", page.as_uri(),
        ],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    from PIL import Image

    with Image.open(picture) as image:
        counts = {rgb: n for n, rgb in image.convert("RGB").getcolors(image.width * image.height)}
    bar = tuple(round(255 * c) for c in to_rgb(theme.colours[0]))
    assert counts.get(bar, 0) > 2000, "the bar of RSFT, in this scheme's colours"
    assert max(counts, key=counts.get) == tuple(round(255 * c) for c in to_rgb(theme.ground))
