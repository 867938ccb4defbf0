"""A plan in words and tables, for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from zephyrus.curriculum.plan import GPU_GB, Plan, StagePlan
from zephyrus.curriculum.sizes import FORMULA
from zephyrus.view.plain import plain

if TYPE_CHECKING:
    from rich.console import RenderableType

    from zephyrus.curriculum.preflight import Finding

_MARKS = {"there": "✓", "missing": "✗", "unknown": "?"}


def render(plan: Plan, *, formula: bool = False) -> RenderableType:
    """A plan as text.

    Args:
        plan: It.
        formula: Whether to add how the memory was estimated.
    """
    from rich.console import Group
    from rich.text import Text

    recipe = plan.recipe
    parts: list[RenderableType] = [Text(plain(f"{recipe.name}: {recipe.description.strip()}"))]
    if recipe.hardware:
        parts.append(Text(plain(f"Written for: {recipe.hardware}.")))
    parts.append(Text(f"How long there: {plain(recipe.duration) or 'not measured'}."))
    parts += [Text(), Text("What would run", style="bold"), Text(f"Model: {_model(plan)}.")]
    for number, stage in enumerate(plan.stages, 1):
        parts.append(Text(plain(f"{number}. {_told(stage)}")))
    parts += [_table(plan), Text(), Text("What it needs", style="bold")]
    for need in plan.needs:
        style = "red" if need.state == "missing" else ""
        note = f": {need.note}" if need.note else ""
        parts.append(Text(plain(f"{_MARKS[need.state]} {need.what}{note}"), style=style))
    parts.append(Text("✓ there   ✗ missing   ? only the run finds out"))
    parts += [Text(plain(f"Beware: {warning}"), style="yellow") for warning in plan.warnings]
    parts.append(Text(_memory(plan)))
    if formula:
        parts += [Text(), Text("How memory is estimated", style="bold"), Text(FORMULA)]
    return Group(*parts)


def render_findings(findings: Sequence[Finding]) -> RenderableType:
    """What trying the recipe out came to."""
    from rich.console import Group
    from rich.text import Text

    lines = [Text(), Text("Tried", style="bold")]
    for finding in findings:
        mark = "?" if finding.ok is None else "✓" if finding.ok else "✗"
        style = "red" if finding.ok is False else ""
        lines.append(Text(plain(f"{mark} {finding.what}: {finding.note}"), style=style))
    return Group(*lines)


def _told(stage: StagePlan) -> str:
    rewards = f" The reward is {stage.rewards}." if stage.rewards else ""
    return (
        f"{stage.name} trains on {stage.trains_on}: {stage.does}.{rewards} It ends "
        f"{stage.moves_on}. It leaves behind the checkpoint {stage.chooses}."
    )


def _table(plan: Plan) -> RenderableType:
    from rich.table import Table

    table = Table(title_justify="left")
    table.add_column("")
    for stage in plan.stages:
        table.add_column(plain(stage.name), justify="right")
    rows = {
        "tasks": [_count(s.tasks) for s in plan.stages],
        "demonstrations": [_count(s.demonstrations) for s in plan.stages],
        "rollouts": [_count(s.rollouts) for s in plan.stages],
        "redrawn besides, at most": [_count(s.redrawn) for s in plan.stages],
        "tokens of rollouts, at most": [_millions(s.tokens) for s in plan.stages],
        "steps, at most": [_count(s.steps) for s in plan.stages],
        "sequences a step": [_count(s.batch) for s in plan.stages],
        "evaluations on the way": [_count(s.evaluations) for s in plan.stages],
        "held-out tasks of one": [_count(s.asked) for s in plan.stages],
        "held-out tasks where it begins, ends": [_count(s.held_out) for s in plan.stages],
        "memory of training, GB": [_gigabytes(s.memory) for s in plan.stages],
        "memory of the vLLM server, GB": [_gigabytes(s.serving) for s in plan.stages],
        "disk of checkpoints, GB": [_gigabytes(s.disk) for s in plan.stages],
    }
    for name, cells in rows.items():
        if any(cell not in ("0", "0.0") for cell in cells):
            table.add_row(name, *cells)
    return table


def _model(plan: Plan) -> str:
    model = plan.recipe.model
    dtype = "bfloat16 where the processor can" if model.dtype == "auto" else model.dtype
    how = f"LoRA of rank {model.lora.rank}" if model.lora else "all weights"
    if plan.parameters is None:
        return plain(f"{model.name}, its size is not known here; {how} in {dtype}")
    trained = f"{how}, {plan.trained:,} parameters" if plan.trained is not None else how
    return plain(
        f"{model.name}, {plan.parameters:,} parameters ({plan.source}); trained: {trained}, in "
        f"{dtype}, {model.context:,} tokens of context"
    )


def _memory(plan: Plan) -> str:
    known = [stage for stage in plan.stages if stage.memory is not None]
    if not known:
        return "Memory: not estimated, since the model's sizes are not known here."
    worst = max(known, key=lambda stage: stage.memory or 0.0)
    text = f"Memory: about {worst.memory:.1f} GB at the peak ({worst.name})"
    if plan.recipe.backend == "transformers":
        return f"{text}, an estimate; --formula shows how it is made."
    if worst.shards is None:
        fits = f"more than sixteen {GPU_GB} GB GPUs: lower micro_batch or context"
    elif worst.shards == 1:
        fits = f"it fits one {GPU_GB} GB GPU"
    else:
        fits = f"with its state shared out (FSDP) it fits {worst.shards} GPUs of {GPU_GB} GB"
    serving = f"; the vLLM server takes {worst.serving:.1f} GB besides" if worst.serving else ""
    return f"{text}; {fits}{serving}. An estimate; --formula shows how it is made."


def _count(value: int | None) -> str:
    return "all" if value is None else f"{value:,}"


def _millions(value: int | None) -> str:
    return "?" if value is None else f"{value / 1e6:,.1f} million" if value else "0"


def _gigabytes(value: float | None) -> str:
    return "?" if value is None else f"{value:.1f}" if not value or value >= 0.05 else "< 0.1"
