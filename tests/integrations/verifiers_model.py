"""A model for the tests: behind a real server, it does what the scripted policy would do."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from zephyrus.env import ToolEnv
from zephyrus.messages import Message
from zephyrus.task import SPLITS


class ScriptedModel:
    """Answers chat completions from the script of the task that the conversation is about."""

    def __init__(self, env: ToolEnv) -> None:
        self._env = env
        self._tasks = {task.prompt: task for split in SPLITS for task in env.tasks(split)}

    def __call__(self, body: Mapping[str, Any]) -> dict[str, Any]:
        messages = [Message.from_openai(message) for message in body["messages"]]
        prompt = next(message.content for message in messages if message.role == "user")
        script = self._env.script(self._tasks[prompt])
        reply = next(script)
        for turn in _observations(messages):
            reply = script.send(turn)
        wire = reply.with_call_ids(f"call_{len(messages)}").to_openai()
        return {**wire, "content": wire["content"] or None}


def _observations(messages: list[Message]) -> list[list[Message]]:
    """The observations after each assistant message."""
    turns: list[list[Message]] = []
    for message in messages:
        if message.role == "assistant":
            turns.append([])
        elif turns:
            turns[-1].append(message)
    return turns


def wrong(body: Mapping[str, Any]) -> dict[str, Any]:
    """A model that guesses."""
    return {"role": "assistant", "content": f"<answer>{json.dumps('nowhere')}</answer>"}
