"""The policy of a rollout under verifiers: every turn goes through verifiers' interception."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

from zephyrus.endpoint import EndpointError, TooLongError
from zephyrus.env import ToolEnv
from zephyrus.errors import PolicyError
from zephyrus.integrations.verifiers.worlds import endpoint
from zephyrus.messages import Message, Reply
from zephyrus.policy.base import ContextLengthError
from zephyrus.policy.table import PolicyEntry
from zephyrus.policy.wire import read_reply, request_body

_KEPT = ("content", "reasoning", "reasoning_content", "reasoning_details", "tool_calls")
"""What of an assistant message a server is sent again; some refuse the empty fields they sent."""


class InterceptedSession:
    """One conversation through the interception server that verifiers opens for a rollout.

    Earlier turns are sent back as the server wrote them, so that verifiers recognises them: the
    trace stays one branch, and a trainer's tokens of it are the sampled ones.
    """

    def __init__(
        self,
        entry: PolicyEntry,
        secret: str,
        env: ToolEnv,
        *,
        verbatim: bool,
        hidden: Sequence[str] = (),
    ) -> None:
        """Prepare.

        Args:
            entry: The model, and the interception's address.
            secret: What this rollout is known by there.
            env: The environment, for its tool schemas.
            verbatim: Whether malformed arguments are sent back as they are, as a renderer of
                tokens wants it; most servers refuse them.
            hidden: Tools that are not offered.
        """
        self._entry = entry
        self._endpoint = endpoint(entry)
        self._secret = secret
        self._schemas = [s for s in env.tool_schemas() if s["function"]["name"] not in hidden]
        self._full = [t.to_openai() for name, t in env.tools.items() if name not in hidden]
        self._verbatim = verbatim
        self._said: list[Mapping[str, Any]] = []

    async def act(self, messages: Sequence[Message]) -> Reply:
        """Ask for the next message; see `zephyrus.policy.base.Session.act`."""
        body = request_body(self._entry, messages, self._schemas, None)
        said = iter(self._said)
        for index, message in enumerate(messages):
            if message.role == "assistant" and self._same(message, raw := next(said)):
                body["messages"][index] = _sent_back(raw)
        headers = {
            "Authorization": f"Bearer {self._secret}",
            # So that a repeated attempt of a turn that was answered after all is the same turn.
            "Idempotency-Key": f"turn-{len(self._said)}",
        }
        began = time.monotonic()
        try:
            data = await self._endpoint.complete(body, headers=headers)
        except TooLongError as error:
            raise ContextLengthError(str(error)) from None
        except EndpointError as error:
            raise PolicyError(str(error)) from None
        try:
            reply = read_reply(data, self._full, time.monotonic() - began)
        except ValueError as error:
            raise PolicyError(str(error)) from None
        self._said.append(data["choices"][0]["message"])
        return reply

    def _same(self, message: Message, raw: Mapping[str, Any]) -> bool:
        """Whether what the server wrote can be sent back: we read the same calls in it."""
        written = [str(call.get("id") or "") for call in raw.get("tool_calls") or ()]
        if written != [call.id for call in message.tool_calls]:
            return False
        return self._verbatim or all(_is_object(call.arguments) for call in message.tool_calls)


def _sent_back(raw: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: raw[key] for key in _KEPT if raw.get(key)}
    return {"role": "assistant", "content": "", **kept}


def _is_object(arguments: str) -> bool:
    try:
        return isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        return False
