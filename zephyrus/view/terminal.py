"""A run and its rollouts in the terminal. Whatever a model or tool wrote is untrusted text."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from zephyrus.messages import Message
from zephyrus.trajectory import Trajectory

_STYLE = {"system": "dim", "user": "cyan", "assistant": "green", "tool": "yellow"}


def plain(text: str) -> str:
    """Text without control characters, so that a trace can't drive the terminal."""
    return "".join(
        c if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cf") else "�" for c in text
    )


def print_listing(
    trajectories: Iterable[Trajectory],
    n: int,
    *,
    worst: bool = False,
    console: Console | None = None,
) -> None:
    """One line for each of ``n`` rollouts, the worst first if asked."""
    every = list(trajectories)
    if worst:
        every.sort(key=_score)
    table = Table("task", "template", "turns", "calls", "stop", "answer", "gold", "score", box=None)
    for trajectory in every[:n]:
        table.add_row(
            Text(trajectory.key.task),
            Text(str(trajectory.task.get("template", ""))),
            str(trajectory.turns),
            str(len(trajectory.calls)),
            str(trajectory.stop or ""),
            Text(_short(plain(trajectory.answer or "-"))),
            Text(_short(json.dumps(trajectory.task.get("gold"), ensure_ascii=False))),
            "-" if trajectory.rewards is None else f"{_score(trajectory):.2f}",
        )
    out = console or Console()
    out.print(table)
    if len(every) > n:
        out.print(f"{n} of {len(every)} rollouts; -n shows more, --task ID shows one in full")
    else:
        out.print("--task ID shows one rollout in full")


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
        parts.append(
            Panel(
                _body(message),
                title=Text(plain(title)),
                title_align="left",
                border_style=_STYLE[message.role],
            )
        )
    parts.append(_verdict(trajectory))
    return Group(*parts)


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


def _verdict(trajectory: Trajectory) -> RenderableType:
    table = Table(box=None, show_header=False)
    task = trajectory.task
    rows = {
        "task": f"{trajectory.key.task} ({task.get('template', '')}, {task.get('answer_type', '')})",
        "gold": json.dumps(task.get("gold"), ensure_ascii=False),
        "answer": plain(trajectory.answer) if trajectory.answer is not None else "none given",
        "stopped": str(trajectory.stop or "still running"),
        "tool calls": _calls(trajectory),
        "tokens": f"{trajectory.usage.prompt_tokens} prompt, "
        f"{trajectory.usage.completion_tokens} completion",
        "rewards": ", ".join(f"{k} {v:.3g}" for k, v in (trajectory.rewards or {}).items())
        or "not scored",
    }
    if trajectory.error:
        rows["error"] = plain(trajectory.error)
    for name, value in rows.items():
        table.add_row(Text(name, style="bold"), Text(value))
    return Panel(table, title="verdict", title_align="left")


def _calls(trajectory: Trajectory) -> str:
    failed = [call for call in trajectory.calls if call.error]
    if not failed:
        return f"{len(trajectory.calls)}, none failed"
    kinds = ", ".join(sorted({str(call.error) for call in failed}))
    return f"{len(trajectory.calls)}, {len(failed)} failed ({kinds})"


def _score(trajectory: Trajectory) -> float:
    rewards = trajectory.rewards or {}
    return rewards.get("score", rewards.get("reward", 0.0))


def _short(text: str, width: int = 40) -> str:
    text = " ".join(text.split())
    return text if len(text) <= width else text[: width - 1] + "…"
