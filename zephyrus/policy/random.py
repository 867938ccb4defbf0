"""The random policy: valid tool calls drawn from the schemas, then a random answer.

It is the floor that every other policy has to beat, and a fuzzer of the tools.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from zephyrus.messages import Message, Reply, ToolCall
from zephyrus.policy.base import Policy, Session
from zephyrus.policy.seeds import stable_seed
from zephyrus.task import Task

if TYPE_CHECKING:
    from zephyrus.env import ToolEnv

MAX_CALL_TURNS = 4
MAX_CALLS_PER_TURN = 2
OPTIONAL_SHARE = 0.3
"""How often an optional argument is given. Low: most optional arguments exclude each other."""


class RandomPolicy(Policy):
    """Same seed, task and repeat, same messages, whatever the tools answer."""

    name = "random"

    def session(self, env: ToolEnv, task: Task, seed: int, repeat: int = 0) -> Session:
        """Start with a generator of its own; see `Policy.session`."""
        rng = np.random.default_rng(stable_seed(task.id, seed, repeat, bits=128))
        return _RandomSession(env, task, rng)


class _RandomSession:
    def __init__(self, env: ToolEnv, task: Task, rng: np.random.Generator) -> None:
        self._env = env
        self._task = task
        self._rng = rng
        self._tools = list(env.tools.values())  # not the schemas: compact ones have no types
        self._words = _words(task.prompt)
        # One turn is left for the answer, so that a random episode is answered, not truncated.
        turns = min(MAX_CALL_TURNS, env.limits.turns - 1) if self._tools else 0
        self._call_turns = int(rng.integers(1, turns + 1)) if turns > 0 else 0

    async def act(self, messages: Sequence[Message]) -> Reply:
        if self._call_turns == 0:
            return Reply(Message("assistant", self._env.sample_answer(self._task, self._rng)))
        self._call_turns -= 1
        count = int(self._rng.integers(1, MAX_CALLS_PER_TURN + 1))
        calls = tuple(self._call() for _ in range(count))
        return Reply(Message("assistant", tool_calls=calls), finish_reason="tool_calls")

    def _call(self) -> ToolCall:
        tool = self._tools[int(self._rng.integers(len(self._tools)))]
        arguments = sample(tool.parameters, self._rng, self._words)
        return ToolCall(tool.name, json.dumps(arguments, ensure_ascii=False))


def sample(
    schema: Mapping[str, Any],
    rng: np.random.Generator,
    words: Sequence[str] = ("x",),
    root: Mapping[str, Any] | None = None,
) -> Any:
    """Draw a value that satisfies a JSON schema of the kind that `zephyrus.Tool` makes.

    Args:
        schema: The schema: types, enum, const, anyOf/oneOf, $ref, bounds, required.
        rng: Where the randomness comes from.
        words: What free strings are drawn from.
        root: The schema that ``$ref`` points into.
    """
    root = schema if root is None else root
    if "$ref" in schema:
        target: Any = root
        for step in str(schema["$ref"]).lstrip("#/").split("/"):
            target = target[step]
        return sample(target, rng, words, root)
    if "const" in schema:
        return schema["const"]
    for key in ("enum", "anyOf", "oneOf"):
        if key in schema:
            choice = schema[key][int(rng.integers(len(schema[key])))]
            return choice if key == "enum" else sample(choice, rng, words, root)
    kind = schema.get("type", "string")
    if isinstance(kind, list):
        kind = kind[int(rng.integers(len(kind)))]
    if kind == "object":
        required = set(schema.get("required", ()))
        return {
            name: sample(part, rng, words, root)
            for name, part in schema.get("properties", {}).items()
            if name in required or rng.random() < OPTIONAL_SHARE
        }
    if kind == "array":
        low = int(schema.get("minItems", 0))
        count = int(rng.integers(low, int(schema.get("maxItems", low + 2)) + 1))
        return [sample(schema.get("items", {}), rng, words, root) for _ in range(count)]
    return _scalar(str(kind), schema, rng, words)


def _scalar(
    kind: str, schema: Mapping[str, Any], rng: np.random.Generator, words: Sequence[str]
) -> Any:
    if kind == "integer":
        low, high = _bounds(schema, 0, 240, 1)
        return int(rng.integers(int(np.ceil(low)), int(np.floor(high)) + 1))
    if kind == "number":
        low, high = _bounds(schema, -90, 90, 1e-6)
        return min(max(round(float(rng.uniform(low, high)), 2), low), high)
    if kind == "boolean":
        return bool(rng.integers(2))
    if kind == "null":
        return None
    return words[int(rng.integers(len(words)))]


def _bounds(schema: Mapping[str, Any], low: float, high: float, step: float) -> tuple[float, float]:
    """The schema's bounds, or the defaults moved so that they stay in order."""
    span = high - low
    bottom = schema.get("minimum")
    if bottom is None and "exclusiveMinimum" in schema:
        bottom = schema["exclusiveMinimum"] + step
    top = schema.get("maximum")
    if top is None and "exclusiveMaximum" in schema:
        top = schema["exclusiveMaximum"] - step
    if bottom is None:
        bottom = low if top is None else min(low, top - span)
    if top is None:
        top = max(high, bottom + span) if bottom > high else high
    return bottom, top


def _words(prompt: str) -> list[str]:
    """Names from the question (runs of capitalised words), so that some calls succeed."""
    names = re.findall(r"\b[A-ZÀ-Þ][\w'’-]*(?: [A-ZÀ-Þ][\w'’-]*)*", prompt)
    return names or prompt.split() or ["x"]
