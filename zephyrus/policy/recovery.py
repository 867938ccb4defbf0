"""Tool calls that a server left inside the text, and reasoning that it left there.

Models write calls in the form they were trained on, and a server without the right parser (or a
model that strays from its form) leaves them in the content. Recognised are:

- ``<tool_call>{"name": …, "arguments": {…}}</tool_call>`` (Hermes, Qwen), also unclosed;
- ``<function=NAME><parameter=KEY>VALUE</parameter></function>`` (Qwen3-Coder, Qwen3.5), with or
  without ``<tool_call>`` around it;
- ``[TOOL_CALLS][{…}]`` and ``[TOOL_CALLS]NAME[ARGS]{…}`` (Mistral);
- a code fence that holds calls, and a bare ``{"name": …, "arguments": {…}}``; ``parameters``
  stands for ``arguments`` too. These two only if the name is a known tool.

What is wrapped in tool tags is a call even if it is malformed, so that the model gets an error
observation that says so. Nothing inside ``<answer>…</answer>`` is ever a call.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from zephyrus.messages import MALFORMED_NAME, ToolCall

_ANSWER = re.compile(r"<answer>.*?(?:</answer>|\Z)", re.DOTALL | re.IGNORECASE)
_TAGGED = re.compile(
    r"<tool_call>(?P<body>.*?)(?:(?P<end></tool_call>)|(?=<tool_call>)|\Z)"
    r"|(?P<xml><function=.*?(?:</function>|(?=<function=)|\Z))"
    r"|\[TOOL_CALLS\](?P<mistral>.*?)(?=\[TOOL_CALLS\]|\Z)",
    re.DOTALL,
)
_FUNCTION = re.compile(
    r"<function=(?P<name>[^>\n]*)>?(?P<body>.*?)(?:</function>|(?=<function=)|\Z)", re.DOTALL
)
_PARAMETER = re.compile(
    r"<parameter=(?P<key>[^>\n]*)>(?P<value>.*?)(?:</parameter>|(?=<parameter=)|\Z)", re.DOTALL
)
_MISTRAL_NAME = re.compile(r"\s*(?P<name>[\w.-]+)\s*(?:\[CALL_ID\]\w+)?\s*(?:\[ARGS\])?\s*(?=\{)")
_FENCE = re.compile(r"```[\w-]*[ \t]*\n(?P<body>.*?)(?:```|\Z)", re.DOTALL)
# Only a brace that can begin a call is tried, so that long JSON is not parsed again and again.
_BARE = re.compile(r'\[\s*(?=\{)|\{\s*"(?:name|function|type|tool_calls|arguments|parameters)"')
_NAME = re.compile(r'"(?:name|function)"\s*:\s*"(?P<name>[^"\\\n]*)"')
_ARGUMENTS = re.compile(r'"(?:arguments|parameters)"\s*:\s*(?P<rest>.*)', re.DOTALL)
_THINK = re.compile(r"<think>(?P<inside>.*?)(?:</think>|\Z)", re.DOTALL)
_DECODER = json.JSONDecoder(strict=False)  # models write line breaks inside strings


@dataclass(frozen=True, slots=True)
class Recovered:
    """What a text holds.

    Attributes:
        text: The text without the calls; exactly the given text if there are none.
        calls: The calls, in order.
    """

    text: str
    calls: tuple[ToolCall, ...] = ()


class _Found(NamedTuple):
    start: int
    end: int
    calls: list[ToolCall]


def recover(
    text: str, schemas: Sequence[Mapping[str, Any]], *, tagged_only: bool = False
) -> Recovered:
    """Find tool calls in a text.

    Args:
        text: What the model wrote.
        schemas: The ``tools`` of the request: names, and types of XML parameters.
        tagged_only: Leave fences and bare JSON alone.

    Returns:
        The calls and the text that is left; never raises on any text.
    """
    parameters = {
        s["function"]["name"]: s["function"].get("parameters", {}).get("properties", {})
        for s in schemas
    }
    found: list[_Found] = []
    start = 0
    try:
        for answer in _ANSWER.finditer(text):
            found += _search(text, start, answer.start(), parameters, tagged_only)
            start = answer.end()
        found += _search(text, start, len(text), parameters, tagged_only)
    except RecursionError:  # arguments nested a thousand deep are no call that a tool could take
        return Recovered(text)
    if not found:
        return Recovered(text)
    left: list[str] = []
    position = 0
    for item in sorted(found):
        left.append(text[position : item.start].strip())
        position = item.end
    left.append(text[position:].strip())
    calls = tuple(call for item in sorted(found) for call in item.calls)
    return Recovered("\n".join(part for part in left if part), calls)


def split_reasoning(text: str) -> tuple[str, str]:
    """Take ``<think>…</think>`` out of a text.

    A closing tag without an opening one ends reasoning that the chat template began; an opening
    one without a closing one means that the reasoning was cut off.

    Returns:
        (reasoning, the rest); the rest is exactly the text if there is no reasoning in it.
    """
    if "<think>" not in text and "</think>" not in text:
        return "", text
    thoughts: list[str] = []
    first = text.find("<think>")
    close = text.find("</think>")
    if close != -1 and (first == -1 or close < first):
        thoughts.append(text[:close])
        text = text[close + len("</think>") :]
    thoughts += [match["inside"] for match in _THINK.finditer(text)]
    rest = _THINK.sub("", text).replace("</think>", "")
    return "\n".join(t.strip() for t in thoughts if t.strip()), rest.strip()


Parameters = Mapping[str, Mapping[str, Any]]


def _search(
    text: str, start: int, end: int, parameters: Parameters, tagged_only: bool
) -> Iterator[_Found]:
    """Find calls between two positions: tagged ones first, then the others between those."""
    position = start
    for match in _TAGGED.finditer(text, start, end):
        if not tagged_only:
            yield from _untagged(text, position, match.start(), parameters)
        found = _tagged(match, parameters)
        yield found
        position = found.end
    if not tagged_only:
        yield from _untagged(text, position, end, parameters)


def _tagged(match: re.Match[str], parameters: Parameters) -> _Found:
    start, end = match.span()
    if match["xml"] is not None:
        return _Found(start, end, _xml_calls(match["xml"], parameters))
    if match["mistral"] is not None:
        calls, used = _mistral_calls(match["mistral"])
        return _Found(start, match.start("mistral") + used, calls)
    body = match["body"]
    if "<function=" in body:
        return _Found(start, end, _xml_calls(body, parameters))
    calls, used = _json_calls(body)
    if match["end"] is None and used:
        end = match.start("body") + used  # unclosed: what follows the JSON is text again
    return _Found(start, end, calls or [_malformed(body)])


def _untagged(text: str, start: int, end: int, parameters: Parameters) -> Iterator[_Found]:
    """Find fences and bare JSON whose every call names a known tool."""
    position = start
    for fence in _FENCE.finditer(text, start, end):
        calls, used = _json_calls(fence["body"])
        if calls and not fence["body"][used:].strip() and _known(calls, parameters):
            yield from _bare(text, position, fence.start(), parameters)
            yield _Found(*fence.span(), calls)
            position = fence.end()
    yield from _bare(text, position, end, parameters)


def _bare(text: str, start: int, end: int, parameters: Parameters) -> Iterator[_Found]:
    text, position = text[:end], start
    while match := _BARE.search(text, position):
        value, stop = _decode(text, match.start())
        calls = _calls(value, strict=True)
        if calls and _known(calls, parameters):
            yield _Found(match.start(), stop, calls)
            position = stop
        else:
            position = match.start() + 1


def _known(calls: Sequence[ToolCall], parameters: Parameters) -> bool:
    return all(call.name in parameters for call in calls)


def _json_calls(body: str) -> tuple[list[ToolCall], int]:
    """Read the calls at the beginning of a text; also where they end (0 if there are none)."""
    calls: list[ToolCall] = []
    position = used = 0
    if fence := re.match(r"\s*```[\w-]*[ \t]*\n", body):
        position = fence.end()
    while True:
        position += len(body[position:]) - len(body[position:].lstrip(" \t\r\n,;"))
        value, stop = _decode(body, position)
        more = _calls(value, strict=False)
        if not more:
            break
        calls += more
        position = used = stop
    if fence and calls and (close := re.match(r"\s*```", body[used:])):
        used += close.end()
    return calls, used


def _mistral_calls(body: str) -> tuple[list[ToolCall], int]:
    if name := _MISTRAL_NAME.match(body):
        value, stop = _decode(body, name.end())
        if isinstance(value, dict):
            return [ToolCall(name["name"], _dump(value))], stop
        return [ToolCall(name["name"], body[name.end() :].strip())], len(body)
    calls, used = _json_calls(body)
    return (calls, used) if calls else ([_malformed(body)], len(body))


def _xml_calls(text: str, parameters: Parameters) -> list[ToolCall]:
    calls = []
    for function in _FUNCTION.finditer(text):
        name = function["name"].strip()
        types = parameters.get(name, {})
        arguments = {
            p["key"].strip(): _xml_value(p["value"], types.get(p["key"].strip()))
            for p in _PARAMETER.finditer(function["body"])
        }
        calls.append(ToolCall(name or MALFORMED_NAME, _dump(arguments)))
    return calls


def _xml_value(text: str, schema: Mapping[str, Any] | None) -> Any:
    """An XML parameter has no type of its own: the schema's decides, else what it looks like."""
    text = text.strip()
    if schema is not None and schema.get("type", "string") == "string":
        return None if text in ("null", "None") else text
    literal = {"True": "true", "False": "false", "None": "null"}.get(text, text)
    value, stop = _decode(literal, 0)
    return value if stop and stop == len(literal) else text


def _calls(value: Any, *, strict: bool) -> list[ToolCall]:
    """Turn a JSON value into calls; [] if it is none.

    Args:
        value: A call, a list of calls, or an object with ``tool_calls``.
        strict: Demand ``arguments`` or ``parameters``. Without it the remaining keys of an
            object with a name are the arguments.
    """
    if isinstance(value, dict) and isinstance(value.get("tool_calls"), list):
        value = value["tool_calls"]
    items = value if isinstance(value, list) else [value]
    calls = [_call(item, strict) for item in items]
    return [call for call in calls if call is not None] if None not in calls else []


def _call(value: Any, strict: bool) -> ToolCall | None:
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("function"), dict):
        value = value["function"]
    name = value.get("name", value.get("function"))
    if not isinstance(name, str):
        return None
    for key in ("arguments", "parameters"):
        if key in value:
            arguments = value[key]
            return ToolCall(name, arguments if isinstance(arguments, str) else _dump(arguments))
    if strict:
        return None
    rest = {k: v for k, v in value.items() if k not in ("name", "function", "type", "id")}
    return ToolCall(name, _dump(rest))


def _malformed(body: str) -> ToolCall:
    """A tagged call that can't be read: its name if there is one, and its text as it stands."""
    name = _NAME.search(body)
    arguments = _ARGUMENTS.search(body)
    text = (arguments["rest"] if arguments else body).strip()
    return ToolCall(name["name"] if name else MALFORMED_NAME, text or "{}")


def _decode(text: str, position: int) -> tuple[Any, int]:
    """The JSON value at a position and where it ends; (None, position) if there is none."""
    try:
        return _DECODER.raw_decode(text, position)
    except (ValueError, RecursionError):
        return None, position


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
