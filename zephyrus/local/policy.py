"""A policy that is a language model in this process: small models, and checkpoints just trained."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from zephyrus.errors import PolicyError, UserError
from zephyrus.local.batching import Desk, Request
from zephyrus.local.models import Dtype, digest, load, locate, require, resolve
from zephyrus.messages import Message, Reply
from zephyrus.policy.base import ContextLengthError, Policy, Session
from zephyrus.policy.seeds import stable_seed
from zephyrus.task import Task

if TYPE_CHECKING:
    from zephyrus.env import ToolEnv
    from zephyrus.local.chat import Chat
    from zephyrus.local.generate import Completion, Sampler
    from zephyrus.local.pictures import Picture
    from zephyrus.policy.table import PolicyEntry


@dataclass
class Tokens:
    """A conversation as tokens, as it is trained on.

    Attributes:
        ids: All tokens.
        written: For each, whether the model wrote it.
        logprobs: For each, the log probability it was sampled with; 0 for what the model read.
        pictures: What the model was shown, each with where the tokens begin that show it.
    """

    ids: list[int] = field(default_factory=list)
    written: list[bool] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    pictures: list[tuple[int, Picture]] = field(default_factory=list)

    def read(self, ids: Sequence[int], pictures: Sequence[Picture] = ()) -> None:
        """Append what the model was given, with the pictures that its tokens show."""
        self.pictures += [(len(self.ids), picture) for picture in pictures]
        self.ids += ids
        self.written += [False] * len(ids)
        self.logprobs += [0.0] * len(ids)

    def write(self, completion: Completion) -> None:
        """Append what the model wrote."""
        self.ids += completion.ids
        self.written += [True] * len(completion.ids)
        self.logprobs += completion.logprobs


MAX_TOKENS = 512
"""Of a turn, unless it is said: small models that lose the thread write on and on."""
T = TypeVar("T")


class LocalPolicy(Policy):
    """Answers the episodes that are open together, in batches.

    Attributes:
        tokens: The conversation of each rollout that was begun, where they are kept; by (task,
            seed, repeat).
    """

    def __init__(
        self,
        model: str | Path,
        *,
        name: str = "",
        temperature: float = 0.0,
        top_p: float = 1.0,
        max_tokens: int = MAX_TOKENS,
        context: int = 8192,
        batch: int = 16,
        dtype: Dtype = "auto",
        thinking: bool | None = None,
        keep_tokens: bool = False,
        loaded: tuple[Any, Any] | None = None,
        generator: Sampler | None = None,
    ) -> None:
        """Prepare; the model is loaded when it is first asked.

        Args:
            model: What `zephyrus.local.models.locate` takes.
            name: What the policy is called; the model by default.
            temperature: 0 is greedy.
            top_p: Nucleus sampling.
            max_tokens: Of one turn.
            context: Tokens of the longest conversation, if the model takes as many.
            batch: Conversations that are continued at once.
            dtype: Of the weights.
            thinking: Whether the chat template lets the model reason.
            keep_tokens: Keep ``tokens``, for training.
            loaded: What `zephyrus.local.models.load` gives, if it is loaded already.
            generator: What samples, if not a `zephyrus.local.generate.Generator` on the model.
        """
        self.name = name or str(model)
        self.model = str(model)
        self.temperature = temperature
        self.top_p = top_p
        self.max_tokens = max_tokens
        self.context = context
        self.batch = batch
        self.dtype: Dtype = dtype
        self.thinking = thinking
        self.tokens: dict[tuple[str, int, int], Tokens] | None = {} if keep_tokens else None
        self._loaded = loaded
        self._chat: Chat | None = None
        self._generator: Sampler | None = generator
        self._room = context
        self._said = False
        self._desk: Desk | None = None
        self._thread: ThreadPoolExecutor | None = None

    @classmethod
    def from_entry(cls, entry: PolicyEntry, name: str) -> LocalPolicy:
        """The policy of a row of the policy table that says ``local: true``."""
        sampling = entry.sampling
        limited = "max_tokens" in sampling.model_fields_set
        made = cls(
            entry.model,
            name=name,
            temperature=sampling.temperature or 0.0,
            top_p=1.0 if sampling.top_p is None else sampling.top_p,
            max_tokens=(sampling.max_tokens or entry.context) if limited else MAX_TOKENS,
            context=entry.context,
            batch=entry.batch,
            dtype=entry.dtype,
            thinking=entry.thinking,
        )
        made.compact = entry.compact
        return made

    def session(self, env: ToolEnv, task: Task, seed: int, repeat: int = 0) -> Session:
        """Start a conversation; see `Policy.session`."""
        full = [tool.to_openai() for tool in env.tools.values()]
        tokens = Tokens()
        if self.tokens is not None:
            self.tokens[task.id, seed, repeat] = tokens
        return LocalSession(self, env.tool_schemas(), full, (task.id, seed, repeat), tokens)

    async def check(self) -> None:
        """Load the model; see `Policy.check`."""
        if self._chat is None:
            await self._in_thread(self._load)

    async def close(self) -> None:
        """End the thread, once it has noticed that nobody waits; the model stays loaded."""
        thread, self._thread, self._desk = self._thread, None, None
        if thread is not None:
            await asyncio.to_thread(thread.shutdown)

    def describe(self) -> dict[str, Any]:
        """See `Policy.describe`: what a resumed run must have in common with its beginning."""
        known = {
            "name": self.name,
            "model": self.model,
            "temperature": self.temperature,
            "top_p": self.top_p,
            "max_tokens": self.max_tokens,
            "context": self.context,
            "dtype": self.dtype,
            "thinking": self.thinking,
        }
        if self._loaded is None:
            known |= {"dtype": resolve(self.dtype), "weights": digest(self.model)}
        return known

    @property
    def chat(self) -> Chat:
        """How conversations are written; loads the model if it is not loaded yet."""
        self._load()
        assert self._chat is not None
        return self._chat

    def _load(self) -> None:
        if self._chat is not None:
            return
        from zephyrus.local.chat import Chat
        from zephyrus.local.generate import Generator

        model, tokenizer = self._loaded or load(self.model, dtype=self.dtype)
        chat = Chat(tokenizer, thinking=self.thinking)
        if self._generator is None:
            self._generator = Generator(model, chat.stops)
        text = model.config.get_text_config()
        most = getattr(text, "max_position_embeddings", None) or self.context
        self._room = min(self.context, most)
        self._chat = chat

    async def complete(
        self, prompt: list[int], seed: int, pictures: Sequence[Picture] = ()
    ) -> Completion:
        """Continue one conversation, together with the others that wait.

        Args:
            prompt: Its tokens.
            seed: Of what is written.
            pictures: That it shows, in order.

        Raises:
            ContextLengthError: If there is no room for an answer.
            PolicyError: If the memory does not suffice.
        """
        if len(prompt) >= self._room:
            raise ContextLengthError(
                f"the conversation has {len(prompt)} tokens, and {self._room} fit"
            )
        if self._desk is None or self._desk.loop is not asyncio.get_running_loop():
            self._desk = Desk(self._generate, self._worker(), self.batch)
        return await self._desk.ask(prompt, seed, pictures)

    def say_blind(self, messages: Sequence[Message]) -> None:
        """Say once that a model which reads text alone is shown pictures."""
        if self._said or self.chat.eyes or not any(message.images for message in messages):
            return
        self._said = True
        print(
            f"the model {self.model} reads text alone: of each picture it is told the title",
            file=sys.stderr,
        )

    def _generate(self, batch: Sequence[Request]) -> list[Completion]:
        assert self._generator is not None
        shown = [request.pictures for request in batch]
        options = {"pictures": shown} if any(shown) else {}
        try:
            return self._generator.generate(
                [request.prompt for request in batch],
                [request.seed for request in batch],
                temperature=self.temperature,
                top_p=self.top_p,
                max_tokens=[min(self.max_tokens, self._room - len(r.prompt)) for r in batch],
                wanted=lambda index: not batch[index].answer.done(),
                **options,
            )
        except (RuntimeError, MemoryError) as error:
            if not _is_memory(error):
                raise
            raise PolicyError(
                f"the memory does not suffice for {len(batch)} conversations at once: choose a "
                f"smaller batch than {self.batch}, or a smaller context"
            ) from error

    def _worker(self) -> ThreadPoolExecutor:
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, "zephyrus-model")
        return self._thread

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._worker(), work)


class LocalSession:
    """One conversation, which grows by the tokens of each turn."""

    def __init__(
        self,
        policy: LocalPolicy,
        schemas: Sequence[Mapping[str, Any]],
        full_schemas: Sequence[Mapping[str, Any]],
        key: tuple[str, int, int],
        tokens: Tokens,
    ) -> None:
        """Prepare; `LocalPolicy.session` is the usual way here.

        Args:
            policy: What answers.
            schemas: The tools to offer.
            full_schemas: The tools with the types of their arguments.
            key: Task, seed and repeat.
            tokens: The conversation's; empty.
        """
        self._policy = policy
        self._schemas = schemas
        self._full_schemas = full_schemas
        self._key = key
        self._tokens = tokens
        self._seen = 0

    async def act(self, messages: Sequence[Message]) -> Reply:
        """Write the next message; see `Session.act`."""
        began = time.monotonic()
        await self._policy.check()
        chat, tokens = self._policy.chat, self._tokens
        self._policy.say_blind(messages[self._seen :])
        if not tokens.ids:
            tokens.read(chat.begin(messages, self._schemas), chat.pictures(messages))
        else:
            ended = tokens.ids[-1] == chat.end
            answered = messages[self._seen + 1 :]  # behind the turn that is in the tokens
            tokens.read(chat.observe(answered, self._schemas, ended), chat.pictures(answered))
        self._seen = len(messages)
        turn = sum(message.role == "assistant" for message in messages)
        task, seed, repeat = self._key
        draw = stable_seed(task, seed, repeat, turn, bits=64) >> 1
        shown = [picture for _, picture in tokens.pictures]
        completion = await self._policy.complete(list(tokens.ids), draw, shown)
        prompt_tokens = len(tokens.ids)
        tokens.write(completion)
        return chat.read(
            completion.ids,
            self._full_schemas,
            prompt_tokens=prompt_tokens,
            seconds=time.monotonic() - began,
        )


def policy_for(entry: PolicyEntry, name: str) -> LocalPolicy:
    """The policy of a row, after finding out what needs no model: the extra, and the folder.

    Args:
        entry: The row.
        name: What the policy is called.

    Raises:
        UserError: If an extra package is not installed, there is no such model, or the row asks
            for sampling that is not to be had here.
    """
    require("torch", "transformers")
    if entry.sampling.extra_body:
        keys = ", ".join(entry.sampling.extra_body)
        raise UserError(f"the policy {name!r} runs in this process, and is not sampled by {keys}")
    locate(entry.model)
    return LocalPolicy.from_entry(entry, name)


def _is_memory(error: BaseException) -> bool:
    told = str(error).lower()
    return isinstance(error, MemoryError) or "out of memory" in told or "can't allocate" in told
