"""Tasks, banks, tools and environments in a notebook."""

from __future__ import annotations

import inspect
import json
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import Element

from zephyrus.errors import UserError
from zephyrus.task import SPLITS
from zephyrus.view.notebook.elements import (
    Child,
    element,
    first_line,
    folded,
    folded_text,
    output,
    table,
)
from zephyrus.view.notebook.rollout import rollout_parts
from zephyrus.view.run.questions import split_lead
from zephyrus.view.run.rollout import words

if TYPE_CHECKING:
    from zephyrus.env import ToolEnv
    from zephyrus.task import Task, TaskSet
    from zephyrus.tools import Tool

SHOWN_TASKS = 5
"""Tasks of a bank that are shown."""


def task_html(task: Task) -> str:
    """A task as the output of a cell."""
    kinds = " · ".join(filter(None, (task.template, task.answer_type, task.split)))
    rows: list[tuple[str, Child]] = [
        ("gold", folded_text(words(task.gold))),
        ("required tools", ", ".join(task.required_tools) or "none"),
    ]
    more = {name: getattr(task, name) for name in ("world", "program", "provenance")}
    return output(
        element("p", element("strong", task.id), f" · {kinds}" if kinds else "", css="head"),
        folded_text(task.prompt),
        table(rows, css="words"),
        *(folded(name, _json(value)) for name, value in more.items() if value),
    )


def task_set_html(tasks: TaskSet) -> str:
    """A bank as the output of a cell: how many of which kind, and the first."""
    count = Counter((task.template, task.split) for task in tasks)
    splits = [split for split in SPLITS if any(kind[1] == split for kind in count)]
    templates = dict.fromkeys(template for template, _ in count)
    kinds = [
        (template or "(none)", *(str(count[template, split] or "") for split in splits))
        for template in templates
    ]
    questions = [{"question": task.prompt} for task in tasks]
    split_lead(questions)
    first = [
        (task.id, first_line(asked["question"]), first_line(words(task.gold)))
        for task, asked in islice(zip(tasks, questions, strict=True), SHOWN_TASKS)
    ]
    name = element("strong", tasks.name or "tasks")
    return output(
        element("p", name, f" · {len(tasks):,} task{'s' * (len(tasks) != 1)}", css="head"),
        element("div", table(kinds, ("template", *splits)), css="sides") if kinds else None,
        table(first, ("task", "question", "gold"), css="words") if first else None,
    )


def tool_html(tool: Tool) -> str:
    """A tool as the output of a cell: what a model is told, and what it isn't."""
    needed = tool.parameters.get("required", ())
    rows = [
        (
            name,
            _kind(node),
            "needed" if name in needed else _default(node),
            str(node.get("description") or ""),
        )
        for name, node in tool.parameters["properties"].items()
    ]
    filled = ", ".join(f"{name} ({kind.__name__})" for name, kind in tool.injected.items())
    return output(
        element("p", element("strong", tool.name), css="head"),
        folded_text(tool.description),
        table(rows, ("argument", "type", "", "what it is"), css="words") if rows else None,
        element("p", f"filled in from the episode: {filled}", css="faint") if filled else None,
    )


def env_html(env: ToolEnv) -> str:
    """An environment as the output of a cell, with the episode it is in."""
    about = first_line((inspect.getdoc(type(env)) or "").split("\n\n")[0])
    tools = [(tool.name, first_line(tool.description)) for tool in env.tools.values()]
    limits = [(name, str(value)) for name, value in env.limits.to_dict().items()]
    episode = env.episode
    return output(
        element("p", element("strong", env.name or type(env).__name__), f" · {about}", css="head"),
        element("p", f"split {env.split}{_size(env)}" + ", compact prompt" * env.compact),
        table(tools, ("tool", ""), css="words") if tools else None,
        folded("limits of an episode", table(limits)),
        folded("the episode", *rollout_parts(episode.trajectory), is_open=True)
        if episode is not None
        else None,
    )


def _size(env: ToolEnv) -> str:
    try:
        return f": {len(env.tasks()):,} tasks"
    except UserError as error:  # its data may not be there: that must not hide all else
        return f" ({error})"


def _kind(node: dict[str, Any]) -> str:
    if "enum" in node:
        return " | ".join(map(str, node["enum"]))
    several = [str(option.get("type", "…")) for option in node.get("anyOf", ())]
    return " | ".join(several) or str(node.get("type", ""))  # left out of schemas for plain text


def _default(node: dict[str, Any]) -> str:
    return f"default {json.dumps(node['default'], ensure_ascii=False)}" if "default" in node else ""


def _json(value: Any) -> Element:
    text = json.dumps(value, indent=1, ensure_ascii=False, default=str)
    return element("div", text, css="text observation")
