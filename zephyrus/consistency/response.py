"""`Response`: the reasoning and the final answer in what a policy wrote.

The form is ``<think>…</think><answer>X</answer>`` (Weather-R1, section 2.2). Servers with a
reasoning parser hand the reasoning over in a field of its own, and our clients take think tags out
of a text in the same way (`zephyrus.policy.wire`): so the reasoning field of a message counts as
its think part, and what is left of the text must then be one answer block and nothing else. That
the reasoning stood first can no longer be seen there; everything else is as strict as with tags.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zephyrus.consistency.question import ChoiceQuestion
from zephyrus.messages import Message
from zephyrus.policy.recovery import split_reasoning

if TYPE_CHECKING:
    from zephyrus.trajectory import Trajectory

_THINK = re.compile(r"\s*<think>(?P<think>.*?)</think>(?P<rest>.*)", re.DOTALL)
_THINK_ANYWHERE = re.compile(r"<think>.*?</think>", re.DOTALL)
_ANSWER = re.compile(r"<answer>(.*?)</answer>", re.DOTALL)
_WHOLE_ANSWER = re.compile(r"\s*<answer>(?P<answer>.*?)</answer>\s*", re.DOTALL)
_ANY_TAG = re.compile(r"</?(?:think|answer)\b")
_AROUND = " \t\r\n.,;:*_`'\"()[]{}$“”‘’"
_BOXED = re.compile(r"\\boxed\{(?:\\text\{)?(.*?)\}*", re.DOTALL)
_NAMED = re.compile(
    r"(?:(?:the\s+)?(?:final\s+|correct\s+|best\s+)?(?:answer|option|choice)\s*(?:is|:)?\s*)+",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Response:
    """What a policy answered in one message.

    Attributes:
        reasoning: The think part, rp in the paper; "" if there is none.
        answer: The text of the answer, fa in the paper; None if there is none, or if several
            answers differ.
        well_formed: Whether it is exactly one think part and then one answer, neither empty.
        has_think: Whether there is a think part, wherever it stands.
    """

    reasoning: str = ""
    answer: str | None = None
    well_formed: bool = False
    has_think: bool = False


@dataclass(frozen=True, slots=True)
class FinalAnswer:
    """The choice that an answer names.

    Attributes:
        letter: Its letter.
        alone: Whether the answer is nothing but the letter.
    """

    letter: str
    alone: bool


def read_response(message: Message | None) -> Response:
    """Read the think part and the answer out of an assistant message; never raises on any text.

    Args:
        message: The message; None if the policy said nothing.
    """
    if message is None:
        return Response()
    text, reasoning = message.content, message.reasoning.strip()
    leads = None if reasoning else _THINK.fullmatch(text)
    has_think = bool(reasoning) or _THINK_ANYWHERE.search(text) is not None
    if leads is not None:
        reasoning, text = leads["think"].strip(), leads["rest"]
    given = {found.strip() for found in _ANSWER.findall(text)}
    answer = given.pop() if len(given) == 1 else None
    whole = _WHOLE_ANSWER.fullmatch(text)
    well_formed = (
        bool(reasoning)
        and whole is not None
        and bool(whole["answer"].strip())
        # A judge that reads the reasoning must not find the answer there.
        and not _ANY_TAG.search(reasoning)
        and not _ANY_TAG.search(whole["answer"])
        and not message.tool_calls
    )
    return Response(reasoning, answer, well_formed, has_think)


def last_said(trajectory: Trajectory) -> Message | None:
    """The policy's last message, None if it said nothing."""
    said = (message for message in reversed(trajectory.messages) if message.role == "assistant")
    return next(said, None)


def reasoning_of(message: Message | None) -> str:
    """The reasoning of a message in any form: its reasoning field, or what stands in think tags."""
    if message is None:
        return ""
    return message.reasoning.strip() or split_reasoning(message.content)[0]


def final_answer(answer: str | None, question: ChoiceQuestion) -> FinalAnswer | None:
    """The choice that the text of an answer names, beyond doubt.

    A letter counts alone (in any case, with brackets, points or quotes around it), or with words
    around it if no other letter of a choice stands among them and what follows it is not the text
    of another choice. A text without a letter names no choice, and neither does an answer with two
    letters.

    Args:
        answer: The text inside the answer tags.
        question: The question.

    Returns:
        None if it names no choice: such an answer is wrong, and counts as one.
    """
    if answer is None:
        return None
    text = answer.strip()
    if boxed := _BOXED.fullmatch(text.strip("$ \n")):
        text = boxed[1]
    bare = text.strip(_AROUND)
    if len(bare) == 1 and bare.upper() in question.choices:
        return FinalAnswer(bare.upper(), alone=True)
    letters = "".join(question.letters)
    named = _NAMED.match(text)
    words = text[named.end() :].strip(_AROUND) if named else bare
    # "A lot of rain" names nothing; "A. Light rain" and "option A" do.
    lead = re.match(rf"([{letters}])" + (r"(?!\w)" if named else r"(?=\s*[.,;:)\]*-])"), words)
    if lead is None:
        return None
    letter, rest = lead[1], words[1:].strip(_AROUND + "-–—=")
    others = {text for key, text in question.choices.items() if key != letter}
    if _flat(rest) in map(_flat, others):
        return None
    if _flat(rest) != _flat(question.choices[letter]) and re.search(rf"\b[{letters}]\b", rest):
        return None
    return FinalAnswer(letter, alone=False)


def says_own_choice(answer: str, letter: str, question: ChoiceQuestion) -> bool:
    """Whether an answer is a letter with nothing but the text of its own choice beside it."""
    rest = answer.strip().strip(_AROUND)[1:].strip(_AROUND + "-–—=")
    return _flat(rest) == _flat(question.choices[letter])


def _flat(text: str) -> str:
    return " ".join(re.findall(r"[\w.+-]+", text.casefold())).strip(". ")
