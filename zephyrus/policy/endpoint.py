"""Policies behind an OpenAI-compatible endpoint: vLLM, llama.cpp, a hosted API."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from zephyrus.endpoint import Endpoint, EndpointError, TooLongError
from zephyrus.errors import PolicyError
from zephyrus.messages import Message, Reply
from zephyrus.policy.base import ContextLengthError, Policy, Session
from zephyrus.policy.seeds import stable_seed
from zephyrus.policy.table import LOCAL_KEYS, PolicyEntry
from zephyrus.policy.wire import read_reply, request_body
from zephyrus.task import Task

if TYPE_CHECKING:
    from zephyrus.env import ToolEnv


class EndpointPolicy(Policy):
    """Asks an `Endpoint` for every turn."""

    def __init__(self, entry: PolicyEntry, name: str, *, served_by: str | None = None) -> None:
        """Prepare; nothing is imported or opened yet.

        Args:
            entry: Endpoint, model, sampling.
            name: What the policy is called; it must hold no address, which may hold a password.
            served_by: The name under which ``zephyrus policy serve`` starts the model, if any.
        """
        self.entry = entry
        self.name = name
        remedy = f"start it with `zephyrus policy serve {served_by}`, or pass --base-url"
        self.endpoint = Endpoint(entry, f"the policy {name}", remedy=remedy if served_by else "")

    def session(self, env: ToolEnv, task: Task, seed: int, repeat: int = 0) -> Session:
        """Start a conversation; see `Policy.session`."""
        full = [tool.to_openai() for tool in env.tools.values()]
        return EndpointSession(self, env.tool_schemas(), task, seed, repeat, full)

    def describe(self) -> dict[str, Any]:
        """See `Policy.describe`. Neither the API key nor a password in the address is in it."""
        entry = self.entry.model_dump(
            exclude={"notes", "vllm_flags", "tool_call_parser", "reasoning_parser", *LOCAL_KEYS}
        )
        return {"name": self.name, **entry, "base_url": self.address}

    @property
    def address(self) -> str:
        """The base URL without user and password."""
        return self.endpoint.address

    async def check(self) -> None:
        """Ask for the list of models, briefly; see `Policy.check`."""
        await self.endpoint.check()

    async def close(self) -> None:
        """Close the connections."""
        await self.endpoint.close()

    async def complete(self, body: Mapping[str, Any]) -> Any:
        """Send one request; see `Endpoint.complete`.

        Raises:
            ContextLengthError: If the conversation doesn't fit the model.
            PolicyError: If the server refuses the request, or every attempt failed.
        """
        try:
            return await self.endpoint.complete(body)
        except TooLongError as error:
            raise ContextLengthError(str(error)) from None
        except EndpointError as error:
            raise PolicyError(str(error)) from None


class EndpointSession:
    """One conversation; it keeps nothing between turns but what its seeds are made from."""

    def __init__(
        self,
        policy: EndpointPolicy,
        schemas: Sequence[Mapping[str, Any]],
        task: Task,
        seed: int,
        repeat: int,
        full_schemas: Sequence[Mapping[str, Any]] | None = None,
    ) -> None:
        """Prepare; `EndpointPolicy.session` is the usual way here.

        Args:
            policy: Where to ask.
            schemas: The tools to offer.
            task: The task, for the seed.
            seed: The run's seed.
            repeat: Which rollout of the task this is.
            full_schemas: The tools with the types of their arguments, if ``schemas`` are the
                compact ones: calls written as XML need them to be read.
        """
        self._policy = policy
        self._schemas = schemas
        self._full_schemas = schemas if full_schemas is None else full_schemas
        self._task = task
        self._seed = seed
        self._repeat = repeat

    async def act(self, messages: Sequence[Message]) -> Reply:
        """Ask for the next message; see `Session.act`."""
        entry = self._policy.entry
        seed = None
        if entry.sampling.seeded:
            turn = sum(message.role == "assistant" for message in messages)
            # 31 bits: some servers keep it in a signed integer.
            seed = stable_seed(self._task.id, self._seed, self._repeat, turn, bits=32) >> 1
        began = time.monotonic()
        data = await self._policy.complete(request_body(entry, messages, self._schemas, seed))
        try:
            return read_reply(data, self._full_schemas, time.monotonic() - began)
        except ValueError as error:
            raise PolicyError(f"{self._policy.address}: {error}") from None
