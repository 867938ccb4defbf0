"""A run and its rollouts in the terminal. Whatever a model or tool wrote is untrusted text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from zephyrus.messages import Message
from zephyrus.trajectory import Trajectory
from zephyrus.view.plain import plain

_LEAST = 10
"""Fewer letters of an answer say nothing."""
_STYLE = {"system": "dim", "user": "cyan", "assistant": "green", "tool": "yellow"}


def print_listing(
    trajectories: Iterable[Trajectory],
    n: int,
    *,
    worst: bool = False,
    console: Console | None = None,
) -> None:
    """One line for each of ``n`` rollouts, the worst first if asked.

    In a pipe the columns are separated by tabs: task, repeat, stop, score, answer, gold.
    """
    every = list(trajectories)
    if worst:
        every.sort(key=_score)
    out = console or Console()
    if not out.is_terminal:
        for row in _rows(every[:n], None):
            out.file.write("\t".join(row) + "\n")  # rich would turn the tabs into blanks
        return
    table = _listing(list(_rows(every[:n], 32)), out.width)
    out.print(table)
    more = f"{n} of {len(every)} rollouts; -n shows more, " if len(every) > n else ""
    out.print(f"{more}--task ID shows one in full")


def _listing(rows: list[list[str]], width: int) -> Table:
    """The rows, with as much of answer and gold as is room for beside the rest, which is whole."""
    heads = ("task", "repeat", "stopped by", "score", "answer", "gold")
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    texts: tuple[str, ...] = heads[4:]
    room = width - sum(widths[:4]) - 2 * 4
    while texts and room < len(texts) * (_LEAST + 2):
        texts = texts[:-1]
    cut = room // len(texts) - 2 if texts else 0
    table = Table(*heads[:4], *texts, box=None)
    for column in table.columns:
        column.no_wrap = True
    table.columns[0].min_width = widths[0]
    for row in rows:
        cells = [*row[:4], *(_short(cell, cut) for cell in row[4 : 4 + len(texts)])]
        table.add_row(*map(Text, cells))
    return table


def print_trajectory(trajectory: Trajectory, console: Console | None = None) -> None:
    """One rollout, turn by turn, and how it was scored."""
    (console or Console()).print(render_trajectory(trajectory))


def render_trajectory(trajectory: Trajectory) -> RenderableType:
    """The rollout as a rich renderable."""
    parts: list[RenderableType] = []
    turn = 0
    for message in trajectory.messages:
        title: str = message.role
        if message.role == "assistant":
            turn += 1
            title = f"assistant, turn {turn}"
        elif message.role == "tool":
            title = f"tool {message.name}"
        parts.append(_panel(_body(message), title, _STYLE[message.role]))
    parts.append(_verdict(trajectory))
    return Group(*parts)


def _rows(trajectories: Iterable[Trajectory], width: int | None) -> Iterator[list[str]]:
    for t in trajectories:
        scored = t.rewards is not None
        row = [
            t.key.task,
            str(t.key.repeat),
            str(t.stop or ""),
            f"{_score(t):.2f}" if scored else "-",
            t.answer if t.answer is not None else "-",
            _json(t.task.get("gold")),
        ]
        texts = [_short(plain(cell), width) for cell in row[4:]]
        yield [_short(plain(cell), None) for cell in row[:4]] + texts


def _panel(body: RenderableType, title: str, style: str = "none") -> Panel:
    return Panel(body, title=Text(plain(title)), title_align="left", border_style=style)


def _body(message: Message) -> Text:
    text = Text()
    if message.reasoning:
        text.append(f"(reasoning) {plain(message.reasoning.strip())}\n", style="dim italic")
    text.append(plain(message.content.strip()))
    for call in message.tool_calls:
        text.append("\n" if text else "")
        text.append(f"→ {plain(call.name)}", style="bold")
        text.append(f" {plain(call.arguments)}")
    for image in message.images:
        alt = f": {plain(image.alt)}" if image.alt else ""
        text.append(f"\n[image, {len(image.png) / 1000:.0f} kB{alt}]", style="magenta")
    return text


def _verdict(trajectory: Trajectory) -> Panel:
    task = trajectory.task
    usage = trajectory.usage
    rewards = ", ".join(f"{k} {v:.3g}" for k, v in (trajectory.rewards or {}).items())
    why = f": {trajectory.unscored}" if trajectory.unscored else ""
    rows = {
        "task": f"{trajectory.key.task} ({task.get('template', '')}, {task.get('answer_type', '')})",
        "gold": gold if isinstance(gold := task.get("gold"), str) else _json(gold),
        "answer": trajectory.answer if trajectory.answer is not None else "none given",
        "stopped by": str(trajectory.stop or "still running"),
        "tool calls": _calls(trajectory),
        "tokens": f"{usage.prompt_tokens} prompt, {usage.completion_tokens} completion",
        "rewards": rewards or f"not scored{why}",
    }
    if trajectory.error:
        rows["error"] = trajectory.error
    table = Table(box=None, show_header=False)
    for name, value in rows.items():
        table.add_row(Text(name, style="bold"), Text(plain(value)))
    return _panel(table, "verdict")


def _calls(trajectory: Trajectory) -> str:
    failed = [call for call in trajectory.calls if call.error]
    if not failed:
        return f"{len(trajectory.calls)}, none failed"
    kinds = ", ".join(sorted({str(call.error) for call in failed}))
    return f"{len(trajectory.calls)}, {len(failed)} failed ({kinds})"


def _score(trajectory: Trajectory) -> float:
    rewards = trajectory.rewards or {}
    return rewards.get("score", rewards.get("reward", 0.0))


def _json(value: Any) -> str:
    """JSON with numbers to six significant digits."""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)}: {_json(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_json, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _short(text: str, width: int | None) -> str:
    text = " ".join(text.split())
    return text if width is None or len(text) <= width else text[: width - 1] + "…"
