"""What a rollout or a task is in a data set: a row of plain values.

A rollout is a conversation to fine-tune on: the columns ``messages`` and ``tools`` are those of
Hugging Face chat templates and of TRL's SFTTrainer. A task is a ``prompt`` for reinforcement
learning, with what a reward function needs beside it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from zephyrus.messages import Message, ToolCall
from zephyrus.task import Task
from zephyrus.trajectory import Trajectory

Row = dict[str, Any]
Schemas = Sequence[Mapping[str, Any]]


def run_rows(
    rollouts: Iterable[Trajectory],
    schemas: Schemas | None,
    *,
    run: str = "",
    policy: str = "",
    at_least: float | None = None,
) -> Iterator[Row]:
    """A row for each finished rollout.

    Args:
        rollouts: They.
        schemas: The tools that were offered; without them the column ``tools`` is None.
        run: What the run is called.
        policy: Who acted.
        at_least: Leave out what has a smaller reward, or none.
    """
    tools = None if schemas is None else list(schemas)
    for t in rollouts:
        reward = None if t.rewards is None else t.rewards.get("reward")
        if t.failed or (at_least is not None and (reward is None or reward < at_least)):
            continue
        yield {
            "messages": [message_row(message) for message in t.messages],
            "tools": tools,
            "reward": reward,
            "rewards": t.rewards,
            "task": t.key.task,
            "seed": t.key.seed,
            "repeat": t.key.repeat,
            "split": str(t.task.get("split") or ""),
            "template": str(t.task.get("template") or ""),
            "answer_type": str(t.task.get("answer_type") or ""),
            "gold": t.task.get("gold"),
            "answer": t.answer,
            "stop": str(t.stop or ""),
            "turns": t.turns,
            "calls": len(t.calls),
            "failed_calls": sum(call.error is not None for call in t.calls),
            "prompt_tokens": t.usage.prompt_tokens,
            "completion_tokens": t.usage.completion_tokens,
            "policy": policy,
            "run": run,
        }


def bank_rows(tasks: Iterable[Task], system: str, schemas: Schemas, env: str) -> Iterator[Row]:
    """A row for each task.

    Args:
        tasks: They.
        system: The system prompt.
        schemas: The tools that are offered.
        env: The environment's name, which scores answers.
    """
    head = message_row(Message("system", system))
    for task in tasks:
        yield {
            "prompt": [head, message_row(Message("user", task.prompt))],
            "tools": list(schemas),
            "task": task.id,
            "split": task.split,
            "template": task.template,
            "answer_type": task.answer_type,
            "gold": task.gold,
            "required_tools": list(task.required_tools),
            "world": task.world,
            "provenance": task.provenance,
            "environment": env,
        }


def message_row(message: Message) -> Row:
    """A message as chat templates take it.

    It has the keys that it needs and no others: templates ask whether there is a key ``tool_calls``,
    and some break where it is None. A picture is its description: a table of texts has no place
    for it.
    """
    row = message.to_openai(vision=False)
    if message.tool_calls:
        row["tool_calls"] = [_call_row(call) for call in message.tool_calls]
    return row


def _call_row(call: ToolCall) -> Row:
    """A call with its arguments as an object: templates of Qwen3.5 and others want no text.

    What is no JSON object has to be kept in one, as what is sent to a server has to.
    """
    try:
        arguments = json.loads(call.arguments)
    except (ValueError, RecursionError):
        arguments = None
    if not isinstance(arguments, dict):
        arguments = {"malformed": call.arguments} if call.arguments.strip() else {}
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": arguments},
    }
