"""A conversation as tokens: each turn is appended to what was there, and nothing is rendered anew.

What the model wrote stays exactly the tokens it wrote, so that what is trained on is what was
sampled; of a turn only the observations and the frame around them come from the chat template.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from zephyrus.errors import UserError
from zephyrus.local.pictures import Eyes, Picture
from zephyrus.messages import Message, Reply, ToolCall
from zephyrus.policy.recovery import recover, split_reasoning
from zephyrus.policy.tool_prompt import to_text_messages
from zephyrus.policy.wire import read_reply

Tools = Literal["template", "text"]
"""Where the tools are described: by the chat template, or in words in the system message."""

_MARK = "stand-in-turn"
"""What a stand-in for an assistant's turn says, to be found again in what a template makes of it."""
_PROBE = {
    "type": "function",
    "function": {
        "name": "stand_in_tool",
        "description": "A tool.",
        "parameters": {"type": "object", "properties": {}},
    },
}


class Chat:
    """How the conversations of a model are written in tokens.

    Attributes:
        tokenizer: A Hugging Face tokenizer with a chat template.
        eyes: What shows pictures to the model; None if it reads text alone.
        tools: See `Tools`; by default what the template can do.
        thinking: Whether the template lets the model reason; None leaves the template's own way.
        end: The token that the template puts behind an assistant's turn.
        stops: All tokens that end a turn when the model writes them.
    """

    def __init__(
        self, tokenizer: Any, *, tools: Tools | None = None, thinking: bool | None = None
    ) -> None:
        self.eyes: Eyes | None = tokenizer if isinstance(tokenizer, Eyes) else None
        tokenizer = self.eyes.tokenizer if self.eyes else tokenizer
        if not tokenizer.chat_template:
            raise UserError(
                f"the tokenizer of {tokenizer.name_or_path} has no chat template: choose an "
                "instruction-tuned model"
            )
        self.tokenizer = tokenizer
        self.thinking = thinking
        self.tools: Tools = "text"
        self.end = self._find_end()
        self.stops = frozenset(t for t in (self.end, tokenizer.eos_token_id) if t is not None)
        self.tools = tools or ("template" if self._template_has_tools() else "text")
        question = [Message("user", "?")]
        before = self._render(question, (), head=False)
        self._head = self._render(question, (), head=True)[len(before) :]

    def begin(self, messages: Sequence[Message], schemas: Sequence[Mapping[str, Any]]) -> list[int]:
        """The tokens before the first turn: system prompt, tools, question, and the turn's head.

        Args:
            messages: System prompt and question.
            schemas: The tools.
        """
        return self._seen(self._tokens(self._render(messages, schemas, head=True)), messages)

    def pictures(self, messages: Sequence[Message]) -> list[Picture]:
        """The pictures that messages show to the model; none if it has no eyes."""
        if self.eyes is None:
            return []
        return [self.eyes.see(image) for message in messages for image in message.images]

    def observe(
        self,
        observations: Sequence[Message],
        schemas: Sequence[Mapping[str, Any]],
        ended: bool,
    ) -> list[int]:
        """The tokens between an assistant's turn and the next.

        They are what the template writes behind a short conversation with a stand-in for the turn.
        Behind the real one the template may write earlier turns anew (Qwen3's drops their
        reasoning once there is a later question), and they stand already.

        Args:
            observations: What the turn was answered.
            schemas: The tools.
            ended: Whether the turn's own tokens end with `end`.
        """
        calls = [
            ToolCall(m.name or "tool", json.dumps({"mark": _MARK}), m.tool_call_id or "call")
            for m in observations
            if m.role == "tool"
        ]
        turn = Message("assistant", _MARK, tool_calls=tuple(calls))
        text = self._render([Message("user", "?"), turn, *observations], schemas, head=True)
        _, _, tail = self._after_mark(text).partition(self._end_text)
        return [
            *([] if ended else [self.end]),
            *self._seen(self._tokens(tail), observations),
        ]

    def turn(self, messages: Sequence[Message], schemas: Sequence[Mapping[str, Any]]) -> list[int]:
        """The tokens of an assistant's turn that this model did not write, with the end token.

        Args:
            messages: The conversation up to and including the turn.
            schemas: The tools.
        """
        said = messages[-1]
        if "</think>" in self._head:  # the template has said already that there is no reasoning
            said = replace(said, reasoning="")
        question = [Message("user", "?")]
        before = self._render(question, schemas, head=True)
        after = self._render([*question, said], schemas, head=False)
        if not after.startswith(before):
            raise UserError(
                f"the chat template of {self.tokenizer.name_or_path} writes an assistant's turn in "
                "another way than it begins one: choose another template"
            )
        text = after[len(before) :]
        if self.tools == "text" and said.reasoning and "<think>" not in text:
            text = f"<think>\n{said.reasoning}\n</think>\n\n{text}"
        text, found, rest = text.rpartition(self._end_text)
        return [*self._tokens(text if found else rest), self.end]

    def read(
        self,
        completion: Sequence[int],
        schemas: Sequence[Mapping[str, Any]],
        *,
        prompt_tokens: int = 0,
        seconds: float = 0.0,
    ) -> Reply:
        """The assistant message that the model's tokens mean.

        Calls in tool tags are calls as the model was told or trained to write them; only others,
        such as bare JSON, count as recovered.

        Args:
            completion: What the model wrote, with the token that ended it, if one did.
            schemas: The tools with the types of their arguments.
            prompt_tokens: For the usage.
            seconds: Of the reply.
        """
        ended = bool(completion) and completion[-1] in self.stops
        ids = completion[:-1] if ended else completion
        text: str = self.tokenizer.decode(list(ids), skip_special_tokens=False)
        if self._head.rstrip().endswith("<think>") and "<think>" not in text:
            text = f"<think>{text}"  # the template has begun the reasoning
        reasoning, content = split_reasoning(text)
        found = recover(content, schemas, tagged_only=True)
        message = {
            "content": found.text,
            "reasoning_content": reasoning,
            "tool_calls": [call.to_openai() for call in found.calls],
        }
        data = {
            "choices": [{"message": message, "finish_reason": "stop" if ended else "length"}],
            "usage": {"prompt_tokens": prompt_tokens, "completion_tokens": len(completion)},
        }
        return read_reply(data, schemas, seconds)

    def _render(
        self, messages: Sequence[Message], schemas: Sequence[Mapping[str, Any]], *, head: bool
    ) -> str:
        options: dict[str, Any] = {"tokenize": False, "add_generation_prompt": head}
        if self.thinking is not None:
            options["enable_thinking"] = self.thinking
        harmless = [self._harmless(message) for message in messages]
        vision = self.eyes is not None
        if self.tools == "text":
            conversation = to_text_messages(harmless, schemas, vision=vision)
        else:
            conversation = [_for_template(message, vision=vision) for message in harmless]
            if schemas:
                options["tools"] = list(schemas)
        conversation = [_placeholders(data) for data in conversation]
        text: str = self.tokenizer.apply_chat_template(conversation, **options)
        return text

    def _harmless(self, message: Message) -> Message:
        """A message whose text holds no special token: an echo of one must not begin a turn."""
        content = message.content
        marks = self.eyes.marks if self.eyes else ()
        for token in (*self.tokenizer.all_special_tokens, *marks):
            content = content.replace(token, f"{token[:1]} {token[1:]}")
        return replace(message, content=content)

    def _find_end(self) -> int:
        """The first special token that the template writes behind an assistant's turn."""
        turns = [Message("user", "?"), Message("assistant", _MARK), Message("user", "?")]
        special = set(self.tokenizer.all_special_ids)
        behind = self._tokens(self._after_mark(self._render(turns, (), head=False)))
        found = next((token for token in behind if token in special), self.tokenizer.eos_token_id)
        if found is None:
            raise UserError(
                f"the chat template of {self.tokenizer.name_or_path} ends no turn with a special "
                "token, so the end of an answer can't be seen: choose another template"
            )
        return int(found)

    def _template_has_tools(self) -> bool:
        """Whether the template describes tools, and shows calls and what they gave back."""
        call = ToolCall("stand_in_tool", "{}", "call")
        turns = [
            Message("user", "?"),
            Message("assistant", "", tool_calls=(call,)),
            Message("tool", _MARK, tool_call_id="call", name="stand_in_tool"),
        ]
        self.tools = "template"
        try:
            text = self._render(turns, [_PROBE], head=True)
        except Exception:  # a template may raise anything at what it does not know
            return False
        described, _, answered = text.partition(_MARK)
        return bool(answered) and described.count("stand_in_tool") > 1

    def _after_mark(self, text: str) -> str:
        _, found, after = text.rpartition(_MARK)
        if not found:
            raise UserError(
                f"the chat template of {self.tokenizer.name_or_path} leaves an assistant's turn "
                "out: choose another template"
            )
        return after

    @property
    def _end_text(self) -> str:
        text: str = self.tokenizer.convert_ids_to_tokens(self.end)
        return text

    def _seen(self, ids: list[int], messages: Sequence[Message]) -> list[int]:
        """The tokens with as many placeholders as the pictures of the messages take."""
        return self.eyes.expand(ids, self.pictures(messages)) if self.eyes else ids

    def _tokens(self, text: str) -> list[int]:
        ids: list[int] = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        return ids


def _placeholders(data: dict[str, Any]) -> dict[str, Any]:
    """A message whose pictures are only named: a template wants no more of them."""
    content = data.get("content")
    if not isinstance(content, list):
        return data
    parts = [{"type": "image"} if part["type"] == "image_url" else part for part in content]
    return {**data, "content": parts}


def _for_template(message: Message, *, vision: bool) -> dict[str, Any]:
    """A message as templates take it: the arguments of a call as an object, not as text."""
    data = message.to_openai(vision=vision)
    for call in data.get("tool_calls", ()):
        raw = call["function"]["arguments"]
        try:
            arguments = json.loads(raw)
        except (ValueError, RecursionError):
            arguments = None
        call["function"]["arguments"] = (
            arguments if isinstance(arguments, dict) else {"malformed": raw}
        )
    return data
