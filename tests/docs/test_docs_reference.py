"""The reference has every public name."""

import re

import pytest
from blocks import ROOT

import zephyrus
import zephyrus_bench
import zephyrus_geodata
import zephyrus_report
from zephyrus.registry import entry_points

SHOWN = {
    name
    for page in (ROOT / "docs" / "reference").glob("*.md")
    for name in re.findall(r"^::: ([\w.]+)$", page.read_text(encoding="utf-8"), re.M)
}
OF_VERIFIERS = {"BenchTaskset", "ReportTaskset", "EpisodeHarness", "LocalEnv"}  # docs/verifiers.md


@pytest.mark.parametrize(
    ("package", "names"),
    [
        ("zephyrus", zephyrus._EXPORTS),
        ("zephyrus_geodata", zephyrus_geodata.__all__),
        ("zephyrus_bench", zephyrus_bench.__all__),
        ("zephyrus_report", zephyrus_report.__all__),
    ],
)
def test_every_public_name_is_in_the_reference(package, names):
    assert {f"{package}.{name}" for name in names if name not in OF_VERIFIERS} - SHOWN == set()


def test_every_tool_of_ours_is_in_the_reference():
    ours = {
        point.value.replace(":", ".")
        for point in entry_points("tools").values()
        if point.value.startswith("zephyrus_tools.")
    }
    assert ours and ours <= SHOWN
