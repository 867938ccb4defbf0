"""A run's summary as tables: what they say, and how the terminal shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zephyrus.view.plain import plain

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

SHOWN_REASONS = 5
"""Reasons of infrastructure errors, and of missing judgements, that are listed."""

ACCURACY_COLUMNS = ("rollouts", "accuracy", "95 % CI")


@dataclass(frozen=True, slots=True)
class Fact:
    """A row of two columns.

    Attributes:
        name: What it is; a detail of the row above begins with two blanks.
        value: What it comes to.
        bad: Whether it is something that went wrong.
    """

    name: str
    value: str
    bad: bool = False


AccuracyRow = tuple[str, tuple[str, str, str]]
"""A group's name, and its `ACCURACY_COLUMNS`."""


def has_verifier(summary: Mapping[str, Any]) -> bool:
    """Whether the environment verifies answers, so that there is an accuracy to show."""
    return bool(summary["scored"] or not summary["rewards"])


def accuracy_sections(summary: Mapping[str, Any]) -> list[list[AccuracyRow]]:
    """Accuracy by template, by answer type, and of all; sections without rows are left out."""
    sections = [
        [(f"{heading} {name}", _accuracy(group)) for name, group in summary[groups].items()]
        for heading, groups in (("template", "templates"), ("answer type", "answer_types"))
    ]
    sections.append([("all", _accuracy({**summary, "n": summary["scored"]}))])
    return [section for section in sections if section]


def fact_sections(summary: Mapping[str, Any]) -> tuple[list[Fact], list[Fact]]:
    """Mean rewards; then tool use, tokens, time, and what went wrong."""
    rewards = []
    if not has_verifier(summary):
        rewards.append(Fact("rollouts", f"{summary['rollouts']:,}"))
    for name, value in summary["rewards"].items():
        label = f"mean reward: {name}" if name != "reward" else "mean reward"
        rewards.append(Fact(label, _number(value)))
    tokens = summary["tokens"]
    facts = [
        Fact("required tool used", _percent(summary["required_tool_rate"])),
        Fact("failure rate (failed calls / calls)", _percent(summary["failure_rate"])),
        Fact("tools per turn (calls / turns with calls)", _number(summary["tools_per_turn"], 2)),
        Fact("turns per rollout", _number(summary["turns"]["mean"], 1)),
        Fact("tool calls", f"{summary['tool_calls']:,}"),
    ]
    if summary["errors"]:
        facts.append(Fact("failed calls", _counts(summary["errors"])))
    if summary["recovered_calls"]:
        facts.append(Fact("calls recovered from text", f"{summary['recovered_calls']:,}"))
    facts += [
        Fact("tokens", f"{tokens['prompt']:,} prompt, {tokens['completion']:,} completion"),
        Fact("time per rollout", _duration(summary["seconds"]["mean"])),
        Fact("stopped by", _counts(summary["stop_reasons"])),
    ]
    return rewards, facts + _troubles(summary)


def render(summary: Mapping[str, Any], title: str = "") -> RenderableType:
    """The summary as tables for a terminal.

    Args:
        summary: What `zephyrus.summary.summarise` returned.
        title: What to write above.
    """
    from rich.console import Group
    from rich.table import Table

    verified = has_verifier(summary)
    accuracy = Table(title=_plain(title) if title else None, title_justify="left")
    accuracy.add_column("")
    for column in ACCURACY_COLUMNS:
        accuracy.add_column(column, justify="right")
    for section in accuracy_sections(summary):
        for name, cells in section:
            accuracy.add_row(_plain(name), *cells, style="bold" if name == "all" else None)
        accuracy.add_section()

    facts = Table(
        title=_plain(title) if title and not verified else None,
        title_justify="left",
        show_header=False,
    )
    facts.add_column()
    facts.add_column(justify="right")
    for rows in fact_sections(summary):
        for fact in rows:
            style = "red" if fact.bad else None
            facts.add_row(_plain(fact.name), _plain(fact.value), style=style)
        facts.add_section()
    return Group(accuracy, facts) if verified else Group(facts)


def _troubles(summary: Mapping[str, Any]) -> list[Fact]:
    found = []
    if missing := summary["unscored"]["rollouts"]:
        found.append(Fact("unscored: no judgement to be had", f"{missing:,}", bad=True))
        for reason, count in list(summary["unscored"]["reasons"].items())[:SHOWN_REASONS]:
            found.append(Fact(f"  {reason}", f"{count:,}", bad=True))
    if broken := summary["infrastructure"]["errors"]:
        found.append(Fact("infrastructure errors (not scored)", f"{broken:,}", bad=True))
        reasons = list(summary["infrastructure"]["reasons"].items())[:SHOWN_REASONS]
        found += [Fact(f"  {_short(reason)}", f"{count:,}", bad=True) for reason, count in reasons]
        if rest := broken - sum(count for _, count in reasons):
            found.append(Fact("  other reasons", f"{rest:,}", bad=True))
    return found


def _accuracy(group: Mapping[str, Any]) -> tuple[str, str, str]:
    interval = group["accuracy_ci95"]
    text = f"{interval[0]:.3f}–{interval[1]:.3f}" if interval else "–"
    return str(group["n"]), _number(group["accuracy"]), text


def _number(value: float | None, digits: int = 3) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _short(reason: str) -> str:
    return reason if len(reason) <= 50 else reason[:49] + "…"


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return "–"
    return f"{1000 * seconds:.0f} ms" if seconds < 1 else f"{seconds:,.1f} s"


def _plain(text: str) -> Text:
    """Names and errors are anybody's: neither markup nor control characters get through."""
    from rich.text import Text

    return Text(plain(text))


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts.items()) or "–"
