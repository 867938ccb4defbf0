"""Every question has one true choice, its answer, by a margin: held against an oracle."""

from dataclasses import replace

import pytest
from chart_oracle import Oracle

from zephyrus_chartqa.bank import build_bank
from zephyrus_chartqa.bank_file import load_items
from zephyrus_chartqa.library import BANKS
from zephyrus_chartqa.questions import TEMPLATES
from zephyrus_geodata import load_dataset
from zephyrus_geodata.testing import analytic_dataset

EVERY = 7  # of the items: the others' turn is in the slow test


@pytest.fixture(scope="module")
def demo():
    return load_dataset("demo")


@pytest.fixture(scope="module")
def items():
    return load_items(BANKS / "demo.jsonl.gz")


def check(item, dataset):
    true, margin = Oracle(item, dataset).truth()
    told = f"{item.id}: {item.question} {item.lettered} {true}"
    assert true.count(True) == 1, told
    assert item.letters[true.index(True)] == item.answer, told
    needed = item.provenance["needed_margin"]
    assert item.provenance["margin"] >= needed - 1e-3 > 0.0
    if item.category == "500hpa_situation" and item.provenance["margin_units"] == "gpm":
        needed *= 0.1 if item.provenance["template"] != "wave" else 1.0  # choices are in dagpm
    # Of a class, edges beyond those of the four choices may be nearer, and need less.
    if item.provenance["template"] != "area_class":
        assert margin >= needed - 0.02 * needed, told
    assert item.choices[item.letters.index(item.answer)] not in item.text.splitlines()


def test_a_part_of_the_bank_is_true_by_the_oracle(items, demo):
    some = items[::EVERY]
    assert {item.provenance["template"] for item in some} == set(TEMPLATES)
    for item in some:
        check(item, demo)


@pytest.mark.slow
def test_the_whole_bank_is_true_by_the_oracle(items, demo):
    for item in items:
        check(item, demo)


def test_a_bank_of_another_grid_is_true_by_the_oracle():
    world = analytic_dataset(step=4.0, lead_hours=range(6, 97, 6))
    sizes = {"train": 70, "test": 35}
    report = build_bank(world, sizes, 1, strict=False, regions="Europe;East Asia;Africa")
    assert len(report.items) >= 80
    for item in report.items:
        check(item, world)


def test_the_oracle_finds_a_choice_that_is_wrong(items, demo):
    for item in items[: 40 * EVERY : EVERY]:
        other = next(letter for letter in item.letters if letter != item.answer)
        true, _ = Oracle(replace(item, answer=other), demo).truth()
        assert item.letters[true.index(True)] != other
