"""`Toolbox`: tools over a world that the caller chooses in each call, without a task or an episode.

A call gets what an agent gets in an episode: the same checks, the same sentences, the same limit on
the length of an observation. What is missing is what belongs to an episode: budgets and an answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, TypeVar

from zephyrus import registry
from zephyrus.env import ToolEnv
from zephyrus.episode import shown, unknown_tool
from zephyrus.errors import UserError
from zephyrus.messages import Image, ToolResult, clean_text
from zephyrus.scenes import Scenes
from zephyrus.task import Task
from zephyrus.tools import Tool, World

T = TypeVar("T")

_LISTED = 50
"""How many worlds the listing shows if the caller does not say."""


class Toolbox:
    """Every tool that an environment and the registry have, ready to be called.

    Attributes:
        tools: By name, in the order in which they are listed.
        scenes: The worlds to choose from, or None if there is but one.
        default: The world of a call that names none.
        notes: What the user should know: tools that can't be loaded, and the like.
    """

    def __init__(self, env: ToolEnv, default: str | None = None) -> None:
        """Set the tools out and open the world that is used by default.

        Args:
            env: Whose world, tools and limits to use.
            default: The world of a call that names none; by default the first.

        Raises:
            UserError: If the data can't be had, there is no world ``default``, or a tool has the
                name of the one that lists the worlds.
        """
        self._env = env
        self.notes: list[str] = []
        self.scenes: Scenes | None = env.scenes()
        self.default = self._default(default)
        self._worlds: dict[str, World] = {}
        # One thread for all plain tools: as in a rollout, none ever runs beside another.
        self._lane = ThreadPoolExecutor(1, "zephyrus-tools")
        self._runner = asyncio.Runner()  # its loop is that thread's
        self.tools: dict[str, Tool] = {}
        if self.scenes is not None:
            lister = self._lister(self.scenes)
            self.tools[lister.name] = lister
        for tool in self._offered():
            if tool.name in self.tools:
                raise UserError(
                    f"the tool name {tool.name!r} is needed for the list of "
                    f"{self._word}s; give your tool another: @zephyrus.tool(name=…)"
                )
            self.tools[tool.name] = tool
        self._choosing = {name for name, tool in self.tools.items() if self._chooses(tool)}
        self._open(self.default)

    @property
    def _word(self) -> str:
        return self.scenes.word if self.scenes is not None else "world"

    def introduction(self) -> str:
        """What someone who knows nothing is told first."""
        lines = ["Tools of Zephyrus, a framework for agents that call weather tools."]
        if self.scenes is not None:
            word = self.scenes.word
            lines.append(self.scenes.introduction)
            lines.append(
                f"Which {word}: give its name as the argument {word!r} ({self.scenes.span()}); "
                f"without it a call is about {self.default}. The tool `{word}s` tells of each."
            )
        lines.append("A call that is refused is answered with a sentence that says how to mend it.")
        return " ".join(lines)

    def schema(self, name: str) -> dict[str, Any]:
        """The JSON schema of a tool's arguments: its own, and which world it is about."""
        parameters = self.tools[name].parameters
        if name not in self._choosing or self.scenes is None:
            return parameters
        word = self.scenes.word
        about = f"which {word}: {self.default} by default; {self.scenes.span()}"
        choice = {word: {"type": "string", "description": about}}
        return {**parameters, "properties": {**parameters["properties"], **choice}}

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Call a tool off the event loop, with the checks and the sentences of an episode.

        Plain tools run one after the other in a thread, those made with ``thread=True`` in threads
        of their own, coroutines on the loop.

        Returns:
            What it gave, or an observation with ``error`` set if the caller made a mistake.

        Raises:
            Exception: Whatever the tool raises other than ToolError, SystemExit included: a broken
                world.
        """
        tool = self.tools.get(name)
        if tool is None:
            return unknown_tool(name, self.tools)
        scene, arguments = self.default, dict(arguments)
        if name in self._choosing and self.scenes is not None:
            given = arguments.pop(self.scenes.word, None)
            try:
                scene = self._chosen(given, self.scenes)
            except UserError as error:
                return ToolResult(f"Error: {error}", error="invalid_arguments")
        seconds = self._env.limits.tool_seconds
        world = self._worlds.get(scene)
        if world is None:
            world = await self._in_lane(lambda: self._opened(scene))
        if tool.thread or tool.is_async:
            result = await tool.call(arguments, world, seconds)
        else:
            result = await self._in_lane(lambda: tool.call(arguments, world, seconds))
        text = shown(result.text, self._env.limits.observation_chars)
        images = tuple(Image(image.png, clean_text(image.alt)) for image in result.images)
        return ToolResult(text, images, result.error)

    def close(self) -> None:
        """Start no further call; one that runs goes on to its end."""
        self._lane.submit(self._runner.close)
        self._lane.shutdown(wait=False)

    def _default(self, name: str | None) -> str:
        if self.scenes is None:
            if name is not None:
                raise UserError(
                    f"the environment {self._env.name!r} has one world only: leave {name!r} out"
                )
            return ""
        return self.scenes.check(name) if name is not None else self.scenes.names[0]

    def _chosen(self, given: object, scenes: Scenes) -> str:
        if given is None or given == "":
            return self.default
        if not isinstance(given, str):
            raise UserError(f"{scenes.word} must be a name; {scenes.span()}.")
        return scenes.check(given)

    def _offered(self) -> Iterable[Tool]:
        """The environment's own tools, which may know more of its data, then all others."""
        yield from self._env.tools.values()
        for name in registry.names("tools"):
            if name in self._env.tools:
                continue
            try:
                tool: Tool = registry.get("tools", name)
            except UserError as error:
                self.notes.append(f"{error}; it is not offered")
                continue
            yield tool

    def _chooses(self, tool: Tool) -> bool:
        """Whether a tool works on what the choice of a world makes a difference to."""
        if self.scenes is None or self.scenes.types.isdisjoint(tool.injected.values()):
            return False
        if self.scenes.word in tool.parameters["properties"]:
            self.notes.append(
                f"the tool {tool.name!r} has an argument {self.scenes.word!r} of its own: "
                f"it is always about {self.default}"
            )
            return False
        return True

    def _open(self, scene: str) -> None:
        world = {} if self.scenes is None else {self.scenes.word: scene}
        self._worlds[scene] = self._env.world(Task("call", "", None, world=world))

    async def _opened(self, scene: str) -> World:
        if scene not in self._worlds:  # another call may have opened it meanwhile
            self._open(scene)
        return self._worlds[scene]

    async def _in_lane(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        context = copy_context()  # where the listener to a call's progress is
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(
            self._lane, lambda: self._runner.run(work(), context=context)
        )

    def _lister(self, scenes: Scenes) -> Tool:
        """The tool that lists the worlds."""

        def worlds(containing: str = "", limit: int = _LISTED) -> str:
            found = [name for name in scenes.names if containing in name]
            lines = [scenes.describe(name) for name in found[: max(1, limit)]]
            of = f" with {containing[:80]!r} in the name" if containing else ""
            head = f"{len(found)} {scenes.word}{'s' if len(found) != 1 else ''}{of}"
            if len(lines) < len(found):
                head += f" ({len(lines)} shown; raise limit, or give containing)"
            return "\n".join([f"{head}. {scenes.introduction}", *lines])

        word = scenes.word
        worlds.__doc__ = f"""List the {word}s that the other tools can be asked about.

        Args:
            containing: Part of the name.
            limit: The most to show.
        """
        made = Tool(worlds, name=f"{word}s")
        made.description += f" Start here. {scenes.introduction}"
        return made
