"""The two ends of a chat completion: the request's body and the reply's meaning."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from zephyrus.messages import Message, Reply, ToolCall, Usage, clean_text
from zephyrus.policy.recovery import recover, split_reasoning
from zephyrus.policy.table import PolicyEntry
from zephyrus.policy.tool_prompt import to_text_messages


def request_body(
    entry: PolicyEntry,
    messages: Sequence[Message],
    schemas: Sequence[Mapping[str, Any]],
    seed: int | None,
) -> dict[str, Any]:
    """The body of ``POST /chat/completions``.

    Args:
        entry: Model, sampling and tool mode.
        messages: The conversation.
        schemas: The tools.
        seed: The sampling seed, or None to send none.
    """
    body: dict[str, Any] = {"model": entry.model}
    if entry.tool_prompt == "text":
        body["messages"] = to_text_messages(messages, schemas, vision=entry.vision)
    else:
        body["messages"] = [_sent(message, entry) for message in messages]
        if schemas:
            body["tools"] = schemas
    body |= entry.sampling.body()
    if seed is not None:
        body["seed"] = seed
    return body | entry.sampling.extra_body


def read_reply(data: Any, schemas: Sequence[Mapping[str, Any]], seconds: float) -> Reply:
    """Read a chat completion.

    Args:
        data: The decoded response.
        schemas: The tools, with the types of their arguments.
        seconds: Wall-clock time of the call.

    Raises:
        ValueError: If it is no chat completion.
    """
    try:
        choice = data["choices"][0]
        raw = dict(choice["message"])
        message = Message.from_openai({**raw, "role": "assistant"})
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"not a chat completion ({type(error).__name__}: {error})") from None
    reasoning, content = split_reasoning(clean_text(message.content))
    # vLLM calls the field "reasoning", others "reasoning_content"; Message reads either.
    reasoning = "\n".join(part for part in (clean_text(message.reasoning), reasoning) if part)
    calls = tuple(
        ToolCall(clean_text(call.name), clean_text(call.arguments), call.id)
        for call in message.tool_calls
    )
    recovered = 0
    if not calls:
        found = recover(content, schemas)
        content, calls = found.text, found.calls
        if not calls and not content.strip() and reasoning:
            # Some models call a tool before they close their reasoning: without this the turn
            # would be lost. Only tagged calls: in reasoning, bare JSON may be just a thought.
            found = recover(reasoning, schemas, tagged_only=True)
            reasoning, calls = found.text, found.calls
        recovered = len(calls)
        calls = tuple(ToolCall(clean_text(c.name), clean_text(c.arguments)) for c in calls)
    usage = data.get("usage") or {}
    return Reply(
        Message("assistant", content, reasoning, calls),
        Usage(_count(usage, "prompt_tokens"), _count(usage, "completion_tokens")),
        str(choice.get("finish_reason") or "stop"),
        recovered,
        seconds,
    )


def _sent(message: Message, entry: PolicyEntry) -> dict[str, Any]:
    data = message.to_openai(vision=entry.vision, reasoning=entry.send_reasoning)
    if "reasoning_content" in data:
        # vLLM reads "reasoning" alone from earlier turns (vllm-project/vllm#38488), llama.cpp and
        # DeepSeek "reasoning_content"; each ignores the other.
        data["reasoning"] = data["reasoning_content"]
    for call in data.get("tool_calls", ()):
        # Servers put earlier calls through json.loads and a template that wants an object: vLLM
        # answers malformed arguments with an error, which would end the episode for good.
        try:
            valid = isinstance(json.loads(call["function"]["arguments"]), dict)
        except (ValueError, RecursionError):
            valid = False
        if not valid:
            raw = call["function"]["arguments"]
            call["function"]["arguments"] = json.dumps({"malformed": raw}) if raw.strip() else "{}"
    return data


def _count(usage: Any, key: str) -> int:
    value = usage.get(key) if isinstance(usage, Mapping) else None
    return value if isinstance(value, int) else 0
