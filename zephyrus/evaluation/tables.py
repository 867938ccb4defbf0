"""An evaluation in the terminal. Names of judges, runs and rewards are anybody's text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from zephyrus.evaluation.comparison import Change
from zephyrus.evaluation.result import SCORES, Evaluation, JudgeResult
from zephyrus.evaluation.scores import REWARDS, Score
from zephyrus.judge.base import Label
from zephyrus.view.plain import plain

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

_NAMES = {"neutral_rate": "neutral"}
_SIDES = {
    "report": "report's claims against the reference",
    "reference": "reference's claims against the report",
}


def render(evaluation: Evaluation) -> RenderableType:
    """Scores with intervals, criteria, labels, rewards and costs as tables, for a rich console."""
    from rich.console import Group
    from rich.text import Text

    parts: list[RenderableType] = [_scores(evaluation)]
    judges = evaluation.judges.values()
    if any(result.criteria for result in judges):
        parts.append(_criteria(evaluation))
    if "claims" in evaluation.parts:
        parts.append(_labels(judges))
    if evaluation.rewards:
        parts.append(_rewards(evaluation))
    parts.append(_work(judges))
    parts += _reasons(judges)
    parts += [Text(f"note: {plain(note)}", style="yellow") for note in evaluation.notes]
    return Group(*parts)


def relative(change: Change) -> str:
    """A relative change as in Table 2: "+26%"; "from 0" where the base is 0."""
    if change.relative is None:
        return "from 0" if change.difference else "both 0"
    return f"{100 * change.relative:+.0f}%"


def _scores(evaluation: Evaluation) -> Table:
    compared = evaluation.comparison
    heads = ["judge", "score", "mean", "95 % interval", "events"]
    title = "Scores"
    if compared is not None:
        heads += [f"against {plain(compared.base)}", "95 % interval of the difference"]
        title += ", and relative change"
    table = _table(title, *heads)
    for judge, result in evaluation.judges.items():
        first = True
        for name in SCORES:
            if name not in result.scores:
                continue
            row = [judge if first else "", _NAMES.get(name, name)]
            change = evaluation.change(judge, name) if compared else None
            better = name != "neutral_rate"
            _add(table, row, result.scores[name], change, compared is not None, better=better)
            first = False
        table.add_section()
    change = compared.average if compared else None
    count = len(evaluation.main_columns())
    _add(
        table,
        ["Avg", f"mean of {count}"],
        evaluation.average,
        change,
        compared is not None,
        style="bold",
    )
    return table


def _criteria(evaluation: Evaluation) -> Table:
    names = [name for name, result in evaluation.judges.items() if result.criteria]
    table = _table("Rubric by criterion", "criterion", *names)
    criteria = dict.fromkeys(c for name in names for c in evaluation.judges[name].criteria)
    for criterion in criteria:
        row = [_text(criterion)]
        for name in names:
            cell = _text(_number(evaluation.judges[name].criteria.get(criterion)))
            if change := evaluation.change(name, f"rubric_{criterion}"):
                cell.append(" ").append_text(_change(change))
            row.append(cell)
        table.add_row(*row)
    return table


def _labels(judges: Iterable[JudgeResult]) -> Table:
    table = _table("Labels", "judge", "claims", *(label.title() for label in map(str, Label)))
    for result in judges:
        for i, (side, title) in enumerate(_SIDES.items()):
            counts = result.labels[side]
            total = sum(counts.values())
            cells = [_share(counts.get(str(label), 0), total) for label in Label]
            table.add_row(_text("" if i else result.judge), title, *cells)
        table.add_section()
    return table


def _rewards(evaluation: Evaluation) -> Table:
    compared = evaluation.comparison is not None
    heads = ["reward", "mean", "95 % interval", "events"]
    if evaluation.comparison is not None:
        heads += [
            f"against {plain(evaluation.comparison.base)}",
            "95 % interval of the difference",
        ]
    table = _table("Rewards in the run", *heads)
    for name, score in evaluation.rewards.items():
        change = evaluation.change(REWARDS, name)
        better = "penalty" not in name
        _add(table, [name], score, change, compared, better=better)
    return table


def _work(judges: Iterable[JudgeResult]) -> Table:
    table = _table(
        "Judgements", "judge", "passes", "judged", "missing", "no F1", "empty", "requests"
    )
    for name in ("cached", "tokens", "cost"):
        table.add_column(name, justify="right")
    for result in judges:
        usage = result.usage
        tokens = usage.get("prompt_tokens", 0) + usage.get("completion_tokens", 0)
        table.add_row(
            _text(result.judge),
            str(result.passes),
            f"{result.judged:,} of {result.wanted:,}",
            _text(f"{result.missing:,}", "bold red" if result.missing else ""),
            f"{result.invalid:,}",
            f"{result.empty:,}",
            f"{usage.get('requests', 0):,.0f}",
            f"{usage.get('cached', 0):,.0f}",
            f"{tokens:,.0f}",
            _cost(usage.get("cost_usd", 0), tokens),
        )
    return table


def _cost(dollars: float, tokens: float) -> str:
    """What was paid; tokens that cost nothing are of a judge without a price in the table."""
    return "–" if tokens and not dollars else f"${dollars:,.2f}"


def _reasons(judges: Iterable[JudgeResult]) -> Iterable[Text]:
    """Why judgements are missing, in full: a cut reason would lack what tells how to mend it."""
    for result in judges:
        for reason, count in list(result.reasons.items())[:3]:
            why = reason.removeprefix(f"the judge {result.judge!r}: ")
            parts = "part" if count == 1 else "parts"
            yield _text(f"missing: {count:,} {parts} of {result.judge}: {why}", "red")


def _add(
    table: Table,
    names: list[str],
    score: Score,
    change: Change | None,
    compared: bool,
    *,
    better: bool = True,
    style: str = "",
) -> None:
    """Add a row of a score; ``better``: whether more of it is."""
    cells: list[Text | str] = [
        *map(_text, names),
        _number(score),
        _ends(score.ci95),
        f"{score.events:,}",
    ]
    if compared:
        cells.append(_change(change, better=better) if change else _text("–"))
        cells.append(_text(_ends(change.difference_ci95, "+") if change else "–"))
    table.add_row(*cells, style=style)


def _change(change: Change, *, better: bool = True) -> Text:
    """Green for better, red for worse; bold where the interval leaves no change out."""
    good = (change.difference > 0) == better
    colour = "" if not change.difference else "green" if good else "red"
    return _text(relative(change), f"bold {colour}".strip() if change.clear else colour)


def _table(title: str, *heads: str) -> Table:
    from rich.table import Table

    table = Table(title=_text(title, "bold"), title_justify="left")
    words = {"judge", "score", "criterion", "claims", "reward"}
    for head in heads:
        table.add_column(_text(head), justify="left" if head in words else "right")
    return table


def _number(score: Score | None) -> str:
    return "–" if score is None or score.mean is None else f"{score.mean:.3f}"


def _ends(ends: tuple[float, float] | None, sign: str = "") -> str:
    return f"{ends[0]:{sign}.3f} to {ends[1]:{sign}.3f}" if ends else "–"


def _share(count: int, total: int) -> str:
    return f"{count:,} ({100 * count / total:.0f} %)" if total else "0"


def _text(text: str, style: str = "") -> Text:
    """Names and reasons are anybody's: neither markup nor control characters get through."""
    from rich.text import Text

    return Text(plain(text), style=style)
