"""`ToolEnv`: a gymnasium environment whose actions are assistant messages.

A new environment is a subclass with five methods: `tasks`, `world`, `system_prompt`,
`read_answer` and `score`; `script` and `sample_answer` serve the scripted and random policies.
"""

from __future__ import annotations

import asyncio
import threading
from abc import abstractmethod
from collections.abc import Coroutine, Generator, Iterable, Mapping
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces

from zephyrus.consistency.question import ChoiceQuestion
from zephyrus.episode import Episode
from zephyrus.errors import JudgeError, UserError
from zephyrus.judge.base import Brief
from zephyrus.limits import Limits
from zephyrus.messages import Image, Message, Reply
from zephyrus.numeric import NumericAnswer
from zephyrus.registry import get, register_gymnasium
from zephyrus.scenes import Scenes
from zephyrus.spaces import Unicode
from zephyrus.task import Task, TaskSet
from zephyrus.tools import Tool, World
from zephyrus.trajectory import Key, Trajectory

Script = Generator[Message, list[Message], None]
"""A scripted solution: yields assistant messages and is sent the observations they get."""


class ToolEnv(gymnasium.Env[dict[str, Any], str]):
    """An environment in which an agent calls tools and then answers.

    Action: one assistant message, as text or as JSON ``{"content": …, "tool_calls": […]}``.
    Observation: ``text`` (what the world says), ``turn``, ``error`` ("" or the kinds of the
    agent's mistakes). ``terminated``: it answered. ``truncated``: a budget ran out. ``info``:
    ``task``, ``tools`` (schemas), ``messages``, and at the end ``rewards`` and ``stop``.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012
    name: ClassVar[str] = ""
    tool_names: ClassVar[tuple[str, ...]] = ()
    baselines: ClassVar[tuple[str, ...]] = ()
    default_limits: ClassVar[Limits] = Limits()
    bank_sizes: ClassVar[dict[str, int]] = {}
    answer_hint: ClassVar[str] = "Call a tool, or write the answer inside <answer>…</answer>."

    def __init__(
        self,
        *,
        split: str = "test",
        tools: Iterable[Tool | str] = (),
        limits: Limits | None = None,
        compact: bool = False,
        render_mode: str | None = None,
    ) -> None:
        """Set the environment up.

        Args:
            split: Which tasks a reset draws from.
            tools: Further tools, or names of registered ones, besides the environment's own.
            limits: Budgets of an episode.
            compact: The short system prompt and tool schemas, for very small models.
            render_mode: None or "ansi" (the conversation as text).
        """
        self.split = split
        self.limits = limits or self.default_limits
        self.compact = compact
        if render_mode not in (None, "ansi"):
            raise UserError(f"render_mode is None or 'ansi', not {render_mode!r}")
        if isinstance(tools, str):
            raise UserError("tools takes a list of tools or names, not one string")
        self.render_mode = render_mode
        self.tools: dict[str, Tool] = {}
        for item in (*self.tool_names, *tools):
            tool = item if isinstance(item, Tool) else get("tools", item)
            self.tools[tool.name] = tool
        self.action_space = Unicode()
        self.observation_space = spaces.Dict(
            {"text": Unicode(), "turn": spaces.Box(0, 2**31 - 1, (), np.int64), "error": Unicode()}
        )
        self.episode: Episode | None = None
        self._runner: _Runner | None = None

    # What a subclass says ---------------------------------------------------------------------

    @abstractmethod
    def tasks(self, split: str | None = None) -> TaskSet:
        """The tasks of a split (the environment's own by default)."""

    @abstractmethod
    def world(self, task: Task) -> World:
        """What injected tool parameters are filled from, by type."""

    @abstractmethod
    def system_prompt(self) -> str:
        """The system prompt, without the tool schemas."""

    @abstractmethod
    def read_answer(self, text: str) -> str | None:
        """The answer inside an assistant message, or None if it gives none."""

    @abstractmethod
    def score(self, task: Task, trajectory: Trajectory) -> dict[str, float]:
        """Named reward components and their total, "reward"; also for a truncated episode.

        "score" is the verifier's, if there is one: it is what accuracy averages.
        """

    def script(self, task: Task) -> Script:
        """The tool calls that solve a task, for the scripted policy."""
        raise UserError(f"the environment {self.name!r} has no scripted policy")

    async def ascore(self, task: Task, trajectory: Trajectory) -> dict[str, float]:
        """`score` for an environment that asks a judge; this one doesn't wait for anything.

        Raises:
            JudgeError: If no judgement can be had: the rollout is kept, unscored.
        """
        return self.score(task, trajectory)

    async def check(self) -> None:
        """Find out before any work starts whether rewards can be had (a judge answers).

        Raises:
            UserError: If not; one sentence that says what to do.
        """

    async def release(self) -> None:
        """Let go of what belongs to the running event loop; the environment may be used again."""

    def scenes(self) -> Scenes | None:
        """The worlds to choose from where there is no task, or None if there is but one.

        Raises:
            UserError: If its data can't be had.
        """
        return None

    def baseline(self, task: Task, name: str) -> Script:
        """One of the environment's `baselines`: a script that is not meant to solve the task."""
        known = ", ".join(self.baselines)
        raise UserError(
            f"the environment {self.name!r} has no baseline {name!r}"
            + (f"; it has {known}" if known else "")
        )

    def brief(self, task: Task, trajectory: Trajectory) -> Brief:
        """What `zephyrus env evaluate` gives to the judges.

        Raises:
            UserError: If the environment has no texts to judge.
        """
        raise UserError(f"the environment {self.name!r} has no texts for a judge")

    def choice_question(self, task: Task) -> ChoiceQuestion:
        """What `zephyrus env self-contra` holds a policy's reasoning and answer against.

        Raises:
            UserError: If the environment asks no multiple-choice questions.
        """
        raise UserError(f"the environment {self.name!r} asks no multiple-choice questions")

    def images(self, task: Task) -> tuple[Image, ...]:
        """Pictures that are shown with the question; none by default."""
        return ()

    @classmethod
    def numeric_answer(cls, facts: Mapping[str, Any], answer: str | None) -> NumericAnswer | None:
        """How far an answer is from the gold number, for ``zephyrus env plot``.

        Args:
            facts: Of the task; see `zephyrus.task.Task.facts`.
            answer: The text of the answer, None if there is none.

        Returns:
            None if no number was asked for.
        """
        return None

    def sample_answer(self, task: Task, rng: np.random.Generator) -> str:
        """A random answer of the right form, for the random policy."""
        return "<answer>0</answer>"

    # What everybody uses ----------------------------------------------------------------------

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}, split {self.split!r}>"

    def _repr_html_(self) -> str:
        from zephyrus.view.notebook.things import env_html

        return env_html(self)

    def tool_schemas(self) -> list[dict[str, Any]]:
        """The ``tools`` of a chat completions request; the short ones when compact."""
        schemas = [tool.to_openai() for tool in self.tools.values()]
        return [compact_schema(schema) for schema in schemas] if self.compact else schemas

    def describe(self) -> dict[str, Any]:
        """Plain values for a run's ``config.yaml``; a subclass adds its own options."""
        tools = list(self.tools)
        return {"name": self.name, "split": self.split, "compact": self.compact, "tools": tools}

    def begin(self, task: Task, key: Key | None = None) -> Episode:
        """Start an episode that the caller drives itself."""
        return Episode(self, task, self.tools, self.world(task), self.limits, key)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start an episode on a task drawn with ``seed`` or named by ``options["task"]``."""
        super().reset(seed=seed)
        tasks = self.tasks()
        if options and "task" in options:
            task = tasks[str(options["task"])]
        elif len(tasks):
            task = tasks[int(self.np_random.integers(len(tasks)))]
        else:
            raise UserError(f"the split {self.split!r} of {self.name!r} has no tasks")
        self.episode = self.begin(task)
        info = {"task": task.id, "tools": self.tool_schemas()}
        info["messages"] = [m.to_openai() for m in self.episode.messages]
        return self._observe(task.prompt, ""), info

    def step(self, action: str) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Take one assistant message; see the class.

        Raises:
            JudgeError: If the episode has ended and no judgement of it can be had.
        """
        if self.episode is None:
            raise UserError("call reset() before step()")
        episode = self.episode
        calls = len(episode.trajectory.calls)
        observations = self._run(episode.step(Reply(Message.from_action(action))))
        record = episode.trajectory
        if record.failed:
            raise RuntimeError(f"the world broke: {record.error}")
        if record.unscored is not None:  # a reward of 0 would teach the wrong thing
            raise JudgeError(record.unscored)
        errors = [call.error for call in record.calls[calls:] if call.error]
        if observations and not record.calls[calls:]:
            errors = ["no_answer"]
        info: dict[str, Any] = {"task": episode.task.id}
        info["messages"] = [m.to_openai() for m in observations]
        reward = 0.0
        if record.rewards is not None and record.stop is not None:
            info |= {"rewards": dict(record.rewards), "stop": record.stop.value}
            reward = record.rewards["reward"]
        terminated = record.stop == "answered"
        text = "\n".join(m.content for m in observations)
        observation = self._observe(text, " ".join(errors))
        return observation, reward, terminated, episode.done and not terminated, info

    def render(self) -> str | None:
        """The conversation so far, as text."""
        if self.render_mode != "ansi" or self.episode is None:
            return None
        lines = []
        for message in self.episode.messages:
            calls = [f"-> {c.name}({c.arguments})" for c in message.tool_calls]
            lines.append("\n".join([f"[{message.role}] {message.content}".strip(), *calls]))
        return "\n".join(lines)

    def close(self) -> None:
        """Stop the background loop, if a step has started one."""
        if self._runner is not None:
            self._runner.close()
            self._runner = None

    def _observe(self, text: str, error: str) -> dict[str, Any]:
        turn = self.episode.trajectory.turns if self.episode else 0
        return {"text": text, "turn": np.array(turn, np.int64), "error": error}

    def _run(self, work: Coroutine[Any, Any, list[Message]]) -> list[Message]:
        if self._runner is None:
            self._runner = _Runner()
        return self._runner.run(work)


class _Runner:
    """Runs coroutines from sync code, also where a loop is running already (a notebook)."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread: threading.Thread | None = None

    def run(self, work: Coroutine[Any, Any, list[Message]]) -> list[Message]:
        if self._thread is None:
            try:
                asyncio.get_running_loop()
            except RuntimeError:
                return self._loop.run_until_complete(work)
            self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
            self._thread.start()
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def close(self) -> None:
        if self._thread is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
        self._loop.close()


def compact_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A tool schema in few tokens: the description names the arguments, without types.

    The arguments themselves are checked just the same, and a wrong one is answered with what is
    right. ``additionalProperties`` lets servers with guided decoding accept any of them.
    """
    function = schema["function"]
    needed: list[str] = []
    optional: list[str] = []
    for name, node in function["parameters"]["properties"].items():
        values = "|".join(map(str, node.get("enum", ())))
        place = needed if name in function["parameters"].get("required", ()) else optional
        place.append(f"{name}={values}" if values else name)
    description = function["description"].split(". ")[0].rstrip(".") + "."
    if needed:
        description += f" Needs {', '.join(needed)}."
    if optional:
        description += f" Optional: {', '.join(optional)}."
    parameters = {"type": "object", "additionalProperties": True}
    return {
        "type": "function",
        "function": {
            "name": function["name"],
            "description": description,
            "parameters": parameters,
        },
    }


register_gymnasium()
