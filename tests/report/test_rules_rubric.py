"""The rubric is the paper's six criteria with our anchors, frozen."""

import hashlib
from pathlib import Path

import pytest

from zephyrus_report import rubric
from zephyrus_report.rubric import report_rubric

# A change of the file is a new version: add a line, and change the version in the file.
DIGESTS = {"1": "b83e66b7ebb870975539e3c8ba7b2946828b1f3ef19fa6301caf5ac043fa8aa7"}
PAPER = Path(__file__).parents[2] / ".." / "shared" / "papers" / "zephyrus-r1.txt"


def test_the_file_is_frozen_under_its_version():
    digest = hashlib.sha256(rubric.RUBRIC_FILE.read_bytes()).hexdigest()
    assert DIGESTS[report_rubric().version] == digest


def test_six_criteria_with_the_papers_levels():
    read = report_rubric()
    assert [c.key for c in read.criteria] == [
        "setup", "spatiotemporal", "hazards", "mechanism", "thermal", "calibration",
    ]  # fmt: skip
    assert all(tuple(c.anchors) == (1, 3, 5, 8, 10) for c in read.criteria)
    anchors = [text for c in read.criteria for text in c.anchors.values()]
    assert len(set(anchors)) == 30
    assert all(len(text.split()) >= 10 for text in anchors)
    assert read.id == "zephyrus-report/1"


def test_names_and_definitions_are_the_papers():
    if not PAPER.exists():
        pytest.skip("the paper's text is not there")
    rows = dict(
        line.split("\t") for line in PAPER.read_text(encoding="utf-8").splitlines()
        if line.count("\t") == 1
    )  # fmt: skip
    for criterion in report_rubric().criteria:
        definition = rows[criterion.name].translate(str.maketrans("’“”", '\'""'))
        assert criterion.definition == definition


def test_the_file_says_that_the_anchors_are_ours():
    head = rubric.RUBRIC_FILE.read_text(encoding="utf-8")
    assert "Figure C.2) are not public" in head
