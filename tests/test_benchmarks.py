"""The benchmark suite: what it writes is exact, and all its rows work at tiny sizes."""

import json
import os
import shutil
import subprocess
import sys
from argparse import Namespace
from importlib import import_module
from pathlib import Path

import pytest
from PIL import Image

sys.path.insert(0, str(Path(__file__).parents[1]))  # the suite is no part of the package

from benchmarks import alternatives, clock, docs, machine, markdown, plots, suite
from benchmarks.records import Bar, Curve, Record
from benchmarks.world import World

ROOT = Path(__file__).parents[1]

FAST = Record(
    "one-feature",
    "mean series of Kenya",
    13e-6,
    alternative="exactextract",
    theirs=1.885e-3,
    sense="faster",
    bar=Bar("ratio", "least", 50.0),
    headline=True,
)
SLOW = Record(
    "one-feature",
    "mean series of Kenya",
    13e-6,
    alternative="memcpy",
    theirs=2e-6,
    sense="longer",
    bar=Bar("ratio", "most", 4.0),
    limits="A call costs Python.",
)
ABSENT = Record(
    "all-features",
    "all series",
    0.25,
    clock="CPU",
    alternative="flox",
    sense="faster",
    bar=Bar("ratio", "least", 20.0),
    note="flox is not installed",
)
ERROR = Record(
    "accuracy", "largest error", 1.6e-5, "K", alternative="oracle", bar=Bar("ours", "most", 1e-4)
)
FREE = Record("loop", "the loop | alone", 98.04, "%")
MACHINE = {
    "date": "2026-12-01",
    "cpu": "A Processor",
    "cores": 2,
    "memory_gib": 8.0,
    "system": "Linux",
    "python": "3.11.7",
    "libraries": {"numpy": "2.4.6", "flox": "0.11"},
}
CURVE = Curve(
    "growth-features", "All series", "features", (10, 4000), (1e-3, 0.1), "flox", (0.1, None)
)

TABLE = """\
| work | zephyrus | alternative | ratio | bar |  |
|---|--:|--:|--:|--:|---|
| mean series of Kenya | 13 µs | exactextract: 1.89 ms | 145 × faster | ≥ 50 × | met |
|  |  | memcpy: 2 µs | 6.5 × as long | ≤ 4 × | **MISSED** |
| all series | 250 ms CPU | flox |  | ≥ 20 × | not measured |
| largest error | 1.6e-5 K | oracle |  | ≤ 1e-4 K | met |
| the loop / alone | 98 % |  |  |  |  |"""


def test_table_is_exact():
    assert markdown.table([FAST, SLOW, ABSENT, ERROR, FREE]) == TABLE


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1.0, "s", "1 s"),
        (61.26, "s", "61.3 s"),
        (0.9999, "s", "1 s"),
        (0.2345, "s", "234 ms"),
        (9.996e-5, "s", "100 µs"),
        (3.2e-7, "s", "320 ns"),
        (5e-3, "K", "0.005 K"),
        (1e-4, "K", "1e-4 K"),
        (2.36e-11, "K", "2.4e-11 K"),
        (0.0, "K", "0 K"),
        (12345.6, "questions", "12,346 questions"),
        (None, "s", ""),
    ],
)
def test_quantities(value, unit, text):
    assert markdown.quantity(value, unit) == text


def test_a_bar_is_held_against_our_number_or_the_ratio():
    assert [r.met for r in (FAST, SLOW, ABSENT, ERROR, FREE)] == [True, False, None, True, None]
    assert FAST.ratio == pytest.approx(145.0)
    assert SLOW.ratio == pytest.approx(6.5)
    assert ABSENT.ratio is None
    limits = [Bar("ours", "most", 13e-6), Bar("ours", "least", 14e-6)]
    assert [Record("r", "w", 13e-6, bar=bar).met for bar in limits] == [True, False]
    assert Record("r", "w", None, bar=limits[0]).met is None


def test_missed_bars_say_what_limits_them():
    assert markdown.missed([FAST, SLOW, ABSENT]) == (
        "- mean series of Kenya, against memcpy: 6.5 × as long, the bar is ≤ 4 ×. "
        "A call costs Python."
    )
    late = Record("r", "a call", 2e-4, alternative="xarray", bar=Bar("ours", "most", 150e-6))
    assert markdown.missed([late]) == "- a call: 200 µs, the bar is ≤ 150 µs."
    assert markdown.missed([FAST, FREE]) == "Every bar is met."


def test_notes_are_said_once():
    assert markdown.notes([ABSENT, FAST, ABSENT]) == "- all series: flox is not installed"


def test_only_what_is_between_the_markers_changes():
    page = "head\n<!-- x: begin -->\nold\n<!-- x: end -->\ntail\n"
    once = markdown.between(page, "x", "new\n")
    assert once == "head\n<!-- x: begin -->\nnew\n<!-- x: end -->\ntail\n"
    assert markdown.between(once, "x", "new") == once


@pytest.mark.parametrize(
    "page",
    [
        "",
        "<!-- x: begin -->",
        "<!-- x: end --><!-- x: begin -->",
        "<!-- x: begin --><!-- x: end --><!-- x: end -->",
        "<!-- x y: begin --><!-- x y: end -->",
    ],
)
def test_a_page_without_markers_is_refused(page):
    with pytest.raises(markdown.MissingMarkersError, match="x: begin"):
        markdown.between(page, "x", "new")


def test_records_and_curves_survive_json():
    for record in (FAST, SLOW, ABSENT, ERROR, FREE):
        assert Record.from_dict(json.loads(json.dumps(record.to_dict()))) == record
    assert FAST.to_dict()["met"] is True
    assert Curve.from_dict(json.loads(json.dumps(CURVE.to_dict()))) == CURVE


def test_docs_are_rewritten(tmp_path):
    readme = "top\n<!-- performance: begin -->\n<!-- performance: end -->\nend\n"
    page = "a\n<!-- performance: begin -->\n<!-- performance: end -->\n"
    page += "b\n<!-- performance missed: begin -->\n<!-- performance missed: end -->\n"
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text(readme, encoding="utf-8")
    (tmp_path / "docs" / "performance.md").write_text(page, encoding="utf-8")
    results = {
        "machine": MACHINE,
        "records": [record.to_dict() for record in (FAST, SLOW)],
        "curves": [CURVE.to_dict()],
    }
    docs.update(tmp_path, results)
    short = "Measured 2026-12-01 on A Processor, 2 cores, 8 GiB of memory, Linux, Python 3.11.7"
    assert (tmp_path / "README.md").read_text(encoding="utf-8") == (
        f"top\n<!-- performance: begin -->\n{markdown.table([FAST])}\n\n"
        f"{short}, one thread each.\n<!-- performance: end -->\nend\n"
    )
    assert (tmp_path / "docs" / "performance.md").read_text(encoding="utf-8") == (
        f"a\n<!-- performance: begin -->\n{short}, one thread each; numpy 2.4.6, flox 0.11.\n\n"
        f"{markdown.table([FAST, SLOW])}\n<!-- performance: end -->\n"
        f"b\n<!-- performance missed: begin -->\n{markdown.missed([SLOW])}\n"
        "<!-- performance missed: end -->\n"
    )
    folder = tmp_path / "docs" / "performance"
    assert sorted(p.name for p in folder.iterdir()) == ["growth-features.png", "results.json"]
    assert json.loads((folder / "results.json").read_text(encoding="utf-8")) == json.loads(
        json.dumps(results)
    )


def test_the_pages_are_what_the_kept_results_make(tmp_path):
    for name in ("benchmarks", "docs"):
        shutil.copytree(ROOT / name, tmp_path / name)
    shutil.copy(ROOT / "README.md", tmp_path)
    (tmp_path / "docs" / "performance" / "growth-grid.png").unlink()
    command = [sys.executable, "benchmarks/run.py"]
    command += ["--docs-from", "docs/performance/results.json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    for page in ("README.md", "docs/performance.md"):
        assert (tmp_path / page).read_bytes() == (ROOT / page).read_bytes()
    assert (tmp_path / "docs" / "performance" / "growth-grid.png").is_file()


def test_the_pages_have_their_markers():
    for page in ("README.md", "docs/performance.md"):
        markdown.between((ROOT / page).read_text(encoding="utf-8"), docs.NAME, "")
    text = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    markdown.between(text, f"{docs.NAME} missed", "")
    for row in suite.GROUPS["growth"]:
        assert f"performance/{row}.png" in text


def test_a_picture_is_the_same_each_time_and_clear(tmp_path):
    paths = [tmp_path / "a.png", tmp_path / "b.png"]
    for path in paths:
        plots.draw(CURVE, path)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    with Image.open(paths[0]) as picture:
        assert picture.getpixel((2, 2))[3] == 0
        assert "Software" not in picture.info
        colours = {colour[:3] for _, colour in picture.getcolors(10**6) if colour[3] == 255}
    assert {(0x2A, 0x9D, 0x8F), (0xE7, 0x6F, 0x51)} <= colours  # both lines


class Watch:
    """A clock that works move on."""

    def __init__(self):
        self.now = 0.0
        self.calls = []

    def work(self, name, *seconds):
        left = list(seconds)

        def call():
            self.calls.append(name)
            self.now += left.pop(0) if len(left) > 1 else left[0]

        return call

    def __call__(self):
        return self.now


def test_works_take_turns_and_the_median_counts():
    watch = Watch()
    works = {"a": watch.work("a", 0.7, 0.5, 0.1, 0.9), "b": watch.work("b", 0.3)}
    timed = clock.interleaved(works, 3, before=watch.work("sweep", 7.0), clock=watch)
    assert timed == pytest.approx({"a": 0.5, "b": 0.3})
    assert watch.calls == ["a", "b", *["sweep", "a", "sweep", "b"] * 3]


def test_slow_works_have_fewer_rounds():
    watch = Watch()
    works = {"a": watch.work("a", 9.0), "b": watch.work("b", 2.0), "c": watch.work("c", 0.5)}
    timed = clock.interleaved(works, 5, before=lambda: None, clock=watch)
    assert timed == pytest.approx({"a": 9.0, "b": 2.0, "c": 0.5})
    assert [watch.calls.count(name) for name in "abc"] == [1, 1 + 3, 1 + 5]


def test_quick_works_are_repeated_within_a_round():
    watch = Watch()
    timed = clock.interleaved({"a": watch.work("a", 1e-4)}, 2, clock=watch)
    assert timed["a"] == pytest.approx(1e-4)
    assert len(watch.calls) == 2 + 2 * 200  # twenty milliseconds a round


def test_an_alternative_that_is_not_there_is_a_sentence(tmp_path):
    world = World(tmp_path)
    assert alternatives.absent(world, "json") == ""
    assert alternatives.absent(world, "nowhere_to_be_found") == (
        "nowhere_to_be_found is not installed: pip install 'zephyrus[bench]'"
    )
    assert "quick" in alternatives.absent(World(tmp_path, quick=True), "json")


def test_the_machine_has_no_name_or_path():
    found = machine.describe()
    assert set(found) == set(MACHINE)
    assert os.uname().nodename not in json.dumps(found)
    assert "/" not in json.dumps(found["libraries"])


@pytest.mark.parametrize(
    ("found", "broken", "quick", "code"),
    [
        ([FAST, ERROR, CURVE], [], False, 0),
        ([FAST, SLOW], [], False, 1),
        ([FAST, SLOW], [], True, 0),
        ([FAST], ["median"], True, 1),
        ([ABSENT], [], False, 0),
    ],
)
def test_a_missed_bar_fails_after_all_is_written(tmp_path, capsys, found, broken, quick, code):
    options = Namespace(output=tmp_path / "out", quick=quick, update_docs=False)
    assert suite.report(found, broken, options) == code
    records = [one for one in found if isinstance(one, Record)]
    table = (tmp_path / "out" / "table.md").read_text(encoding="utf-8")
    assert table == markdown.table(records) + "\n"
    written = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    assert [Record.from_dict(one) for one in written["records"]] == records
    assert len(written["curves"]) == len(found) - len(records)
    printed = capsys.readouterr().out
    assert table in printed
    assert all(row in printed for row in broken)


def test_a_record_in_one_line():
    assert markdown.plain(SLOW) == (
        "mean series of Kenya: 13 µs, against memcpy, 6.5 × as long, MISSED (≤ 4 ×)"
    )
    assert markdown.plain(ABSENT) == (
        "all series: 250 ms, against flox, not measured (≥ 20 ×), flox is not installed"
    )


def test_every_group_has_its_rows():
    for group, rows in suite.GROUPS.items():
        assert tuple(import_module(f"benchmarks.groups.{group}").ROWS) == rows


def test_an_unknown_row_is_refused(capsys):
    assert suite.main(["nothing"]) == 2
    assert "one-feature" in capsys.readouterr().err


@pytest.mark.slow
def test_all_rows_work(tmp_path):
    command = [sys.executable, str(ROOT / "benchmarks" / "run.py"), "--quick", "--output", "out"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    records = [Record.from_dict(one) for one in found["records"]]
    curves = [Curve.from_dict(one) for one in found["curves"]]
    rows = [row for rows in suite.GROUPS.values() for row in rows]
    assert [*dict.fromkeys(one.row for one in [*records, *curves])] == rows
    assert found["quick"] is True
    for record in records:
        assert record.what
        assert record.ours is None or record.ours > 0.0
        assert record.ours is not None or record.note
        assert record.theirs is None or record.theirs > 0.0
        assert record.bar is None or record.limits or record.met is not None
    for curve in curves:
        assert len(curve.sizes) == len(curve.ours) == len(curve.theirs)
        assert min(curve.ours) > 0.0
    assert (tmp_path / "out" / "table.md").read_text(encoding="utf-8").startswith("| work |")
    assert str(tmp_path) not in json.dumps(found)
