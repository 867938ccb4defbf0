"""The way to an OpenAI-compatible endpoint (vLLM, llama.cpp, a hosted API): one HTTP client.

Policies and judges ask through it. What went wrong is an `EndpointError` here; a policy makes a
`zephyrus.errors.PolicyError` of it and a judge a `zephyrus.errors.JudgeError`.
"""

from __future__ import annotations

import asyncio
import difflib
import email.utils
import json
import os
import random
import re
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from urllib.parse import urlsplit, urlunsplit

from zephyrus.errors import NoAnswerError, UserError
from zephyrus.modeltable import ModelEntry

if TYPE_CHECKING:
    import openai

T = TypeVar("T")

CHECK_SECONDS = 5.0
"""How long `Endpoint.check` waits for an answer."""
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


class EndpointError(Exception):
    """A request that got no answer, for good; the message names the address and the trouble.

    Attributes:
        status: The HTTP status of a refusal, None if every attempt failed.
    """

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class TooLongError(EndpointError):
    """The request doesn't fit the model's context."""


class PerLoop(Generic[T]):
    """A thing for each event loop: connections, locks and tasks can't be taken into another one.

    A sync caller runs a loop for each call, perhaps in several threads at once.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._things: dict[asyncio.AbstractEventLoop, T] = {}
        self._lock = threading.Lock()

    def get(self) -> T:
        """The running loop's thing, made when it is first asked for."""
        loop = asyncio.get_running_loop()
        with self._lock:
            if loop not in self._things:
                # Things of closed loops would pile up, and so would their loops.
                kept = {known: t for known, t in self._things.items() if not known.is_closed()}
                self._things = {**kept, loop: self._make()}
            return self._things[loop]

    def pop(self) -> T | None:
        """Forget and give the running loop's thing, None if it has none."""
        with self._lock:
            return self._things.pop(asyncio.get_running_loop(), None)


class Endpoint:
    """Asks ``POST {base_url}/chat/completions``.

    The SDK does authentication and transport (aiohttp); its typed request layer, which walks the
    whole conversation for every turn, and its retries are left out.
    """

    def __init__(self, entry: ModelEntry, who: str, *, remedy: str = "") -> None:
        """Prepare; nothing is imported or opened yet.

        Args:
            entry: Address, model, retries, timeout.
            who: Who asks, for messages: "the policy 'x'".
            remedy: What to do when nothing answers.
        """
        self.entry = entry
        self.first_wait = FIRST_WAIT
        self._who = who
        self._remedy = remedy or "start the server, or correct the address (it usually ends in /v1)"
        self._clients: PerLoop[openai.AsyncOpenAI] = PerLoop(self._client)

    @property
    def address(self) -> str:
        """The base URL without user and password."""
        parts = urlsplit(self.entry.base_url)
        return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))

    async def check(self) -> None:
        """Ask for the list of models, briefly.

        Raises:
            UserError: If nothing answers there, the key is refused, or the model isn't served.
        """
        import aiohttp
        import openai

        key = self.entry.api_key_env
        if key and key not in os.environ:
            raise UserError(f"{self._who} needs an API key: set {key}")
        try:
            raw = await self._clients.get().get(
                "/models", cast_to=bytes, options={"timeout": CHECK_SECONDS}
            )
        except (openai.APIConnectionError, aiohttp.ClientError, OSError):
            raise NoAnswerError(f"nothing answers at {self.address}: {self._remedy}") from None
        except openai.APIStatusError as error:
            if error.status_code in (404, 405, 501):
                return  # a server without a list of models
            if error.status_code in (401, 403):
                raise UserError(
                    f"{self.address} refuses the API key: set {key or 'OPENAI_API_KEY'}"
                ) from None
            trouble = f"{self.address} answers with {self._told(error)}"
            kind = NoAnswerError if error.status_code >= 500 else UserError
            raise kind(trouble) from None
        served = _model_ids(raw)
        model = self.entry.model
        if not served or any(name == model or name.endswith("/" + model) for name in served):
            return
        near = difflib.get_close_matches(model, served, n=5, cutoff=0.0)
        more = f" and {len(served) - len(near)} more" if len(served) > len(near) else ""
        raise UserError(f"{self.address} serves no {model!r}; it serves {', '.join(near)}{more}")

    async def close(self) -> None:
        """Close the connections."""
        client = self._clients.pop()
        if client is not None:
            await client.close()

    async def complete(
        self, body: Mapping[str, Any], *, headers: Mapping[str, str] | None = None
    ) -> Any:
        """Send one request, again and again while there is hope.

        Args:
            body: The request.
            headers: Further headers, over the client's own.

        Returns:
            The decoded response.

        Raises:
            TooLongError: If the request doesn't fit the model.
            EndpointError: If the server refuses the request, or every attempt failed.
        """
        import aiohttp
        import openai

        # The SDK wraps most failures of the transport, but not every one of aiohttp's.
        lost = (openai.APIConnectionError, aiohttp.ClientError, OSError)
        trouble = ""
        for attempt in range(self.entry.retries + 1):
            wait = min(self.first_wait * 2**attempt, LONGEST_WAIT)
            try:
                return await self._post(body, headers)
            except openai.APIStatusError as error:
                trouble = self._told(error)
                if _too_long(error):
                    raise TooLongError(trouble, error.status_code) from None
                if not _worth_retrying(error):
                    raise EndpointError(
                        f"{self.address} refuses: {trouble}", error.status_code
                    ) from None
                wait = max(wait, _retry_after(error))
            except TimeoutError:
                trouble = f"no answer within {self.entry.timeout:g} s"
            except lost as error:
                trouble = f"no answer ({_cause(error)})"
            except ValueError as error:
                trouble = f"an unreadable answer ({error})"
            if attempt < self.entry.retries:
                # Jitter, so that hundreds of rollouts don't come back in the same instant.
                await asyncio.sleep(wait * random.uniform(1.0, 1.25))
        raise EndpointError(f"{self.address}: {trouble}, after {self.entry.retries + 1} attempts")

    async def _post(self, body: Mapping[str, Any], headers: Mapping[str, str] | None) -> Any:
        # The SDK's timeout is per read; this one is for the whole request.
        async with asyncio.timeout(self.entry.timeout):
            raw = await self._clients.get().post(
                "/chat/completions", body=body, cast_to=bytes, options={"headers": headers or {}}
            )
        data = json.loads(raw)
        if not isinstance(data, dict) or not data.get("choices"):
            raise ValueError(f"no choices in {raw[:200]!r}")
        return data

    def _client(self) -> openai.AsyncOpenAI:
        import openai

        return openai.AsyncOpenAI(
            base_url=self.entry.base_url,
            api_key=self._api_key(),
            timeout=self.entry.timeout,
            max_retries=0,
            http_client=openai.DefaultAioHttpClient(),
        )

    def _api_key(self) -> str:
        return os.environ.get(self.entry.api_key_env or "OPENAI_API_KEY") or "EMPTY"

    def _told(self, error: openai.APIStatusError) -> str:
        """The server's complaint, short and without the key that some servers quote."""
        text = " ".join(str(error.message).split()).replace(self._api_key(), "***")
        text = text if len(text) <= 500 else text[:497] + "..."
        return text if str(error.status_code) in text else f"status {error.status_code}: {text}"


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
