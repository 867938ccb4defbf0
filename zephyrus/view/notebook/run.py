"""A run in a notebook: what was run, accuracy, rewards and tool use."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element

from zephyrus.view.notebook.elements import element, output, table
from zephyrus.view.summary import (
    ACCURACY_COLUMNS,
    Fact,
    accuracy_sections,
    fact_sections,
    has_verifier,
)

if TYPE_CHECKING:
    from zephyrus.run import Run


def run_html(run: Run) -> str:
    """A run as the output of a cell."""
    config, summary = run.config, run.summary
    env, policy = config.get("env") or {}, config.get("policy") or {}
    about = [
        f"{key} {value}"
        for key, value in (
            ("environment", env.get("name")),
            ("dataset", env.get("dataset")),
            ("split", env.get("split")),
            ("policy", policy.get("name")),
        )
        if value
    ]
    rewards, facts = fact_sections(summary)
    accuracy = [row for section in accuracy_sections(summary) for row in section]
    tables = [_facts(rewards), _facts(facts)]
    if has_verifier(summary):
        rows = [(name, *cells) for name, cells in accuracy]
        tables.insert(0, table(rows, ("", *ACCURACY_COLUMNS)))
    head = element("p", element("strong", str(run.path)), " · " + " · ".join(about), css="head")
    return output(head, _unfinished(run, summary["rollouts"]), element("div", *tables, css="sides"))


def _facts(facts: Iterable[Fact]) -> Element:
    return table(
        (element("span", fact.name, css="bad") if fact.bad else fact.name, fact.value)
        for fact in facts
    )


def _unfinished(run: Run, done: int) -> Element | None:
    wanted = run.config.get("n", 0) * run.config.get("repeats", 1)
    if done >= wanted:
        return None
    return element("p", f"unfinished: {done:,} of {wanted:,} rollouts", css="bad")
