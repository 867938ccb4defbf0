"""The OpenAI chat shapes, typed once: messages, tool calls, tool results, images."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

Role = Literal["system", "user", "assistant", "tool"]

MALFORMED_NAME = "malformed_call"
"""The name of a call of which not even the name can be read."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call as the model wrote it: ``arguments`` is the raw text, valid JSON or not."""

    name: str
    arguments: str
    id: str = ""

    def to_openai(self) -> dict[str, Any]:
        """The ``tool_calls`` entry of an assistant message."""
        function = {"name": self.name, "arguments": self.arguments}
        return {"id": self.id, "type": "function", "function": function}

    @classmethod
    def from_openai(cls, data: Mapping[str, Any]) -> ToolCall:
        """Read a ``tool_calls`` entry; arguments given as an object are turned back into text."""
        function = data.get("function") or {}
        arguments = function.get("arguments")
        if not isinstance(arguments, str):
            arguments = json.dumps(arguments if arguments is not None else {})
        return cls(str(function.get("name") or ""), arguments, str(data.get("id") or ""))

    def __repr__(self) -> str:
        return f"ToolCall({self.name!r}, {brief(self.arguments)}, id={self.id!r})"


@dataclass(frozen=True, slots=True)
class Image:
    """A PNG that a tool drew. ``alt`` says in words what it shows."""

    png: bytes
    alt: str = ""

    @property
    def data_url(self) -> str:
        """The image as a ``data:`` URL."""
        return "data:image/png;base64," + base64.b64encode(self.png).decode()

    def __repr__(self) -> str:
        return f"Image({len(self.png):,} bytes, {brief(self.alt)})"

    def _repr_png_(self) -> tuple[bytes, dict[str, str]]:
        return self.png, {"alt": self.alt}


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool call gave back.

    Attributes:
        text: What the model reads.
        images: Pictures to show beside it.
        error: None, or the kind of the agent's mistake (see `zephyrus.tools.ERROR_KINDS`).
    """

    text: str
    images: tuple[Image, ...] = ()
    error: str | None = None

    def __repr__(self) -> str:
        images = f", {len(self.images)} images" if self.images else ""
        error = f", error={self.error!r}" if self.error else ""
        return f"ToolResult({brief(self.text)}{images}{error})"

    def _repr_html_(self) -> str:
        from zephyrus.view.notebook.rollout import result_html

        return result_html(self)


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message.

    Attributes:
        role: Who speaks.
        content: The text ("" when there is none).
        reasoning: The model's reasoning content, kept but never read for an answer.
        tool_calls: The assistant's calls, in order.
        tool_call_id: In a tool message, the call that it answers.
        name: In a tool message, the tool.
        images: Pictures, sent as ``image_url`` parts of a user message.
    """

    role: Role
    content: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    name: str = ""
    images: tuple[Image, ...] = ()

    def to_openai(self, *, vision: bool = True, reasoning: bool = True) -> dict[str, Any]:
        """The message as the chat completions API takes it.

        Args:
            vision: Whether the model sees; if not, a picture becomes its ``alt`` text.
            reasoning: Whether to send ``reasoning_content`` back (Qwen and others want it).
        """
        data: dict[str, Any] = {"role": self.role, "content": self.content}
        if self.images and vision:
            parts: list[dict[str, Any]] = [{"type": "text", "text": self.content}]
            parts += [{"type": "image_url", "image_url": {"url": i.data_url}} for i in self.images]
            data["content"] = parts
        elif self.images:
            shown = "\n".join(f"[image, not visible to this model: {i.alt}]" for i in self.images)
            data["content"] = f"{self.content}\n{shown}".strip()
        if self.reasoning and reasoning:
            data["reasoning_content"] = self.reasoning
        if self.tool_calls:
            data["tool_calls"] = [call.to_openai() for call in self.tool_calls]
        if self.tool_call_id:
            data["tool_call_id"] = self.tool_call_id
        if self.name:
            data["name"] = self.name
        return data

    @classmethod
    def from_openai(cls, data: Mapping[str, Any]) -> Message:
        """Read a chat message; images come back from their data URLs."""
        content, images = _content(data.get("content"))
        for index, alt in enumerate(data.get("image_alts") or ()):
            images = (*images[:index], replace(images[index], alt=alt), *images[index + 1 :])
        return cls(
            role=data["role"],
            content=content,
            reasoning=str(data.get("reasoning_content") or data.get("reasoning") or ""),
            tool_calls=tuple(ToolCall.from_openai(c) for c in data.get("tool_calls") or ()),
            tool_call_id=str(data.get("tool_call_id") or ""),
            name=str(data.get("name") or ""),
            images=images,
        )

    @classmethod
    def from_action(cls, action: str) -> Message:
        """Read a gymnasium action: plain text, or a JSON assistant message with ``tool_calls``.

        A JSON message that can't be read becomes one call named `MALFORMED_NAME`, so that the
        agent is told that its call was malformed, not that it made none.
        """
        text = action.strip()
        if text.startswith("{") and '"tool_calls"' in text:
            try:
                data = json.loads(text)
                return cls.from_openai({**data, "role": "assistant"})
            except (ValueError, TypeError, AttributeError, LookupError, RecursionError):
                return cls("assistant", tool_calls=(ToolCall(MALFORMED_NAME, text),))
        return cls("assistant", action)

    def __repr__(self) -> str:
        parts = [repr(self.role), brief(self.content)]
        if self.tool_calls:
            parts.append(f"calls {', '.join(call.name for call in self.tool_calls)}")
        if self.images:
            parts.append(f"{len(self.images)} images")
        return f"Message({', '.join(parts)})"

    def _repr_html_(self) -> str:
        from zephyrus.view.notebook.rollout import message_html

        return message_html(self)

    def with_call_ids(self, prefix: str) -> Message:
        """Give every tool call an id of its own where the server left it out or repeated it."""
        given = {call.id for call in self.tool_calls}
        seen: set[str] = set()
        calls = []
        for index, call in enumerate(self.tool_calls):
            name = call.id
            if not name or name in seen:
                name = f"{prefix}-{index}"
                while name in given:  # a model may write an id that looks like ours
                    name += "x"
            seen.add(name)
            calls.append(replace(call, id=name))
        return replace(self, tool_calls=tuple(calls))


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or more model calls."""

    prompt_tokens: int = 0
    completion_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
        )


@dataclass(frozen=True, slots=True)
class Reply:
    """What a policy answered in one turn.

    Attributes:
        message: The assistant message.
        usage: Tokens spent, where the server says.
        finish_reason: The server's ``finish_reason`` ("length" means that it was cut off).
        recovered_calls: Tool calls the server had left inside the text and we read from there.
        seconds: Wall-clock time of the model call.
    """

    message: Message
    usage: Usage = field(default_factory=Usage)
    finish_reason: str = "stop"
    recovered_calls: int = 0
    seconds: float = 0.0


def clean_text(text: str) -> str:
    """Replace lone surrogates, which Python and JSON can carry but UTF-8 files can't."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def brief(text: str, most: int = 60) -> str:
    """The beginning of a text as `repr` writes it, for the `repr` of what holds it."""
    return repr(text if len(text) <= most else text[: most - 1] + "…")


def _content(content: Any) -> tuple[str, tuple[Image, ...]]:
    if content is None:
        return "", ()
    if isinstance(content, str):
        return content, ()
    texts: list[str] = []
    images: list[Image] = []
    parts: Sequence[Mapping[str, Any]] = content
    for part in parts:
        if part.get("type") == "text":
            texts.append(str(part.get("text", "")))
        elif part.get("type") == "image_url":
            url = str((part.get("image_url") or {}).get("url", ""))
            if url.startswith("data:image/png;base64,"):
                images.append(Image(base64.b64decode(url.split(",", 1)[1])))
    return "\n".join(texts), tuple(images)
