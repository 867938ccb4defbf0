"""Tools in words: for models whose server or chat template takes no ``tools``.

The system prompt lists the tools and the `<tool_call>` convention; calls go back into the
conversation as the model writes them, and results come as user messages. A template with
nothing but system, user and assistant turns in alternation can render that.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from zephyrus.messages import Message

SHARED_FROM = 4
"""A list of at least so many values that occurs more than once is written once, by name."""

_CONVENTION = """\
Call a tool by writing only
<tool_call>{"name": TOOL, "arguments": {ARGUMENT: VALUE}}</tool_call>
Tools (? = optional):"""


def describe_tools(schemas: Sequence[Mapping[str, Any]]) -> str:
    """The calling convention, and every tool as one line: its arguments and what it does.

    Args:
        schemas: The ``tools`` of a request; the shorter their descriptions, the better.
    """
    shared = _shared_values(schemas)
    lines = [_CONVENTION]
    for schema in schemas:
        function = schema["function"]
        parameters = function.get("parameters", {})
        required = set(parameters.get("required", ()))
        arguments = ", ".join(
            f"{name}{'' if name in required else '?'}: {_type(name, part, shared)}"
            for name, part in parameters.get("properties", {}).items()
        )
        # A compact schema has no arguments of its own: its description names them.
        head = f"{function['name']}({arguments})" if arguments else f"{function['name']}:"
        lines.append(f"{head} {function.get('description', '')}".strip())
    lines += [f"{name}: {values}" for values, name in shared.items()]
    return "\n".join(lines)


def to_text_messages(
    messages: Sequence[Message], schemas: Sequence[Mapping[str, Any]], *, vision: bool
) -> list[dict[str, Any]]:
    """A conversation without ``tools``, ``tool_calls`` and tool messages.

    Args:
        messages: The conversation.
        schemas: The tools to describe in the system message.
        vision: Whether the model sees pictures.
    """
    sent: list[dict[str, Any]] = []
    listing = describe_tools(schemas) if schemas else ""
    if listing and not (messages and messages[0].role == "system"):
        sent.append({"role": "system", "content": listing})
        listing = ""
    for message in messages:
        data = message.to_openai(vision=vision, reasoning=False)
        role, content = message.role, data["content"]
        if role == "system" and listing:
            content, listing = f"{content}\n\n{listing}".strip(), ""
        elif role == "assistant":
            content = "\n".join([message.content, *_written_calls(message)]).strip()
        elif role == "tool":
            role, content = "user", f"<tool_response>\n{content}\n</tool_response>"
        if sent and sent[-1]["role"] == role == "user":
            sent[-1]["content"] = _joined(sent[-1]["content"], content)
        else:
            sent.append({"role": role, "content": content})
    return sent


def _written_calls(message: Message) -> Iterator[str]:
    for call in message.tool_calls:
        # The arguments stand as they were written: malformed ones are what the error is about.
        text = f'{{"name": {json.dumps(call.name)}, "arguments": {call.arguments}}}'
        yield f"<tool_call>{text}</tool_call>"


def _joined(first: Any, second: Any) -> Any:
    if isinstance(first, str) and isinstance(second, str):
        return f"{first}\n{second}"
    parts: list[dict[str, Any]] = []
    for content in (first, second):
        parts += [{"type": "text", "text": content}] if isinstance(content, str) else content
    return parts


def _shared_values(schemas: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Long lists of values that several arguments share, with the name of the first of them."""
    first: dict[str, str] = {}
    shared: dict[str, str] = {}
    for schema in schemas:
        for name, part in schema["function"].get("parameters", {}).get("properties", {}).items():
            values = _values(part)
            if values.count("|") + 1 < SHARED_FROM:
                continue
            if values in first and first[values] not in shared.values():
                shared[values] = first[values].upper()
            first.setdefault(values, name)
    return shared


def _values(part: Mapping[str, Any]) -> str:
    return "|".join(str(value) for value in part.get("enum", ()))


def _type(name: str, part: Mapping[str, Any], shared: Mapping[str, str]) -> str:
    values = _values(part)
    if values:
        return shared.get(values, values)
    kind = part.get("type", "any")
    if kind == "array":
        return f"[{_type(name, part.get('items', {}), shared)}]"
    return "|".join(kind) if isinstance(kind, list) else str(kind)
