"""Policies behind an OpenAI-compatible endpoint: vLLM, llama.cpp, a hosted API."""

from __future__ import annotations

import asyncio
import difflib
import email.utils
import json
import os
import random
import re
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from zephyrus.errors import PolicyError, UserError
from zephyrus.messages import Message, Reply
from zephyrus.policy.base import ContextLengthError, Policy, Session
from zephyrus.policy.seeds import stable_seed
from zephyrus.policy.table import PolicyEntry
from zephyrus.policy.wire import read_reply, request_body
from zephyrus.task import Task

if TYPE_CHECKING:
    import openai

    from zephyrus.env import ToolEnv

CHECK_SECONDS = 5.0
"""How long `EndpointPolicy.check` waits for an answer."""
FIRST_WAIT = 0.5
LONGEST_WAIT = 30.0
LONGEST_RETRY_AFTER = 120.0
"""Seconds between attempts: doubling from the first to the longest; a server may ask for more."""

_TOO_LONG = re.compile(
    r"context[ _-]?(?:length|window|size)|max_model_len|maximum (?:model|input|sequence) length"
    r"|(?:prompt|input)[^.]{0,60}(?:too long|longer than|exceeds)|too many (?:input )?tokens"
    r"|max_(?:completion_)?tokens must be at least 1|reduce the length|max_new_tokens` must be",
    re.IGNORECASE,
)


class EndpointPolicy(Policy):
    """Asks ``POST {base_url}/chat/completions``.

    The SDK does authentication and transport (aiohttp); its typed request layer, which walks the
    whole conversation for every turn, and its retries are left out.
    """

    def __init__(self, entry: PolicyEntry, name: str, *, served_by: str | None = None) -> None:
        """Prepare; nothing is imported or opened yet.

        Args:
            entry: Endpoint, model, sampling.
            name: What the policy is called; it must hold no address, which may hold a password.
            served_by: The name under which ``zephyrus policy serve`` starts the model, if any.
        """
        self.entry = entry
        self.name = name
        self.first_wait = FIRST_WAIT
        self._served_by = served_by
        self._client: openai.AsyncOpenAI | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def session(self, env: ToolEnv, task: Task, seed: int, repeat: int = 0) -> Session:
        """Start a conversation; see `Policy.session`."""
        full = [tool.to_openai() for tool in env.tools.values()]
        return EndpointSession(self, env.tool_schemas(), task, seed, repeat, full)

    def describe(self) -> dict[str, Any]:
        """See `Policy.describe`. Neither the API key nor a password in the address is in it."""
        entry = self.entry.model_dump(
            exclude={"notes", "vllm_flags", "tool_call_parser", "reasoning_parser"}
        )
        return {"name": self.name, **entry, "base_url": self.address}

    @property
    def address(self) -> str:
        """The base URL without user and password."""
        parts = urlsplit(self.entry.base_url)
        return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))

    async def check(self) -> None:
        """Ask for the list of models, briefly; see `Policy.check`."""
        import aiohttp
        import openai

        key = self.entry.api_key_env
        if key and key not in os.environ:
            raise UserError(f"the policy {self.name} needs an API key: set {key}")
        try:
            raw = await self._connect().get(
                "/models", cast_to=bytes, options={"timeout": CHECK_SECONDS}
            )
        except (openai.APIConnectionError, aiohttp.ClientError, OSError):
            raise UserError(f"nothing answers at {self.address}: {self._remedy()}") from None
        except openai.APIStatusError as error:
            if error.status_code in (404, 405, 501):
                return  # a server without a list of models
            if error.status_code in (401, 403):
                raise UserError(
                    f"{self.address} refuses the API key: set {key or 'OPENAI_API_KEY'}"
                ) from None
            raise UserError(f"{self.address} answers with {self._told(error)}") from None
        served = _model_ids(raw)
        model = self.entry.model
        if not served or any(name == model or name.endswith("/" + model) for name in served):
            return
        near = difflib.get_close_matches(model, served, n=5, cutoff=0.0)
        more = f" and {len(served) - len(near)} more" if len(served) > len(near) else ""
        raise UserError(f"{self.address} serves no {model!r}; it serves {', '.join(near)}{more}")

    async def close(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None and self._loop is asyncio.get_running_loop():
            await client.close()

    async def complete(self, body: Mapping[str, Any]) -> Any:
        """Send one request, again and again while there is hope.

        Args:
            body: The request.

        Returns:
            The decoded response.

        Raises:
            ContextLengthError: If the conversation doesn't fit the model.
            PolicyError: If the server refuses the request, or every attempt failed.
        """
        import aiohttp
        import openai

        # The SDK wraps most failures of the transport, but not every one of aiohttp's.
        lost = (openai.APIConnectionError, aiohttp.ClientError, OSError)
        trouble = ""
        for attempt in range(self.entry.retries + 1):
            wait = min(self.first_wait * 2**attempt, LONGEST_WAIT)
            try:
                return await self._post(body)
            except openai.APIStatusError as error:
                trouble = self._told(error)
                if _too_long(error):
                    raise ContextLengthError(trouble) from None
                if not _worth_retrying(error):
                    raise PolicyError(f"{self.address} refuses: {trouble}") from None
                wait = max(wait, _retry_after(error))
            except lost as error:
                trouble = f"no answer ({_cause(error)})"
            except ValueError as error:
                trouble = f"an unreadable answer ({error})"
            if attempt < self.entry.retries:
                # Jitter, so that hundreds of rollouts don't come back in the same instant.
                await asyncio.sleep(wait * random.uniform(1.0, 1.25))
        raise PolicyError(f"{self.address}: {trouble}, after {self.entry.retries + 1} attempts")

    async def _post(self, body: Mapping[str, Any]) -> Any:
        # The SDK's timeout is per read; this one is for the whole request.
        async with asyncio.timeout(self.entry.timeout):
            raw = await self._connect().post("/chat/completions", body=body, cast_to=bytes)
        data = json.loads(raw)
        if not isinstance(data, dict) or not data.get("choices"):
            raise ValueError(f"no choices in {raw[:200]!r}")
        return data

    def _connect(self) -> openai.AsyncOpenAI:
        """The client of the running event loop; connections can't be taken into another one."""
        import openai

        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            self._loop = loop
            self._client = openai.AsyncOpenAI(
                base_url=self.entry.base_url,
                api_key=self._api_key(),
                timeout=self.entry.timeout,
                max_retries=0,
                http_client=openai.DefaultAioHttpClient(),
            )
        return self._client

    def _api_key(self) -> str:
        return os.environ.get(self.entry.api_key_env or "OPENAI_API_KEY") or "EMPTY"

    def _told(self, error: openai.APIStatusError) -> str:
        """The server's complaint, short and without the key that some servers quote."""
        text = " ".join(str(error.message).split()).replace(self._api_key(), "***")
        text = text if len(text) <= 500 else text[:497] + "..."
        return text if str(error.status_code) in text else f"status {error.status_code}: {text}"

    def _remedy(self) -> str:
        if self._served_by:
            return f"start it with `zephyrus policy serve {self._served_by}`, or pass --base-url"
        return "start the server, or correct the address (it usually ends in /v1)"


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


def _too_long(error: openai.APIStatusError) -> bool:
    if error.status_code == 413 or error.code == "context_length_exceeded":
        return True
    # llama.cpp, vLLM, SGLang and TGI say it in words only, with 400 or 422, and some with 500.
    return error.status_code in (400, 422, 500) and bool(_TOO_LONG.search(str(error.message)))


def _worth_retrying(error: openai.APIStatusError) -> bool:
    if error.code == "insufficient_quota":
        return False  # a 429 that no waiting cures
    return error.status_code in (408, 429) or error.status_code >= 500


def _retry_after(error: openai.APIStatusError) -> float:
    """Seconds that the server asks to wait (a number or a date), 0 if it doesn't say."""
    header = error.response.headers.get("retry-after", "")
    try:
        seconds = float(header)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(header).timestamp() - time.time()
        except ValueError:
            return 0.0
    return min(max(seconds, 0.0), LONGEST_RETRY_AFTER)


def _cause(error: BaseException) -> str:
    cause = error.__cause__ or error
    return f"{type(cause).__name__} {cause}".strip()[:200]


def _model_ids(raw: bytes) -> list[str]:
    """The ids of a list of models; [] if it is none."""
    try:
        return [str(row["id"]) for row in json.loads(raw)["data"]]
    except (ValueError, KeyError, TypeError):
        return []
