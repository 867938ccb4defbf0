"""What a policy is told: the form of its answer, and the question with its choices.

The paper's training code asks in the same way (question, choices, reasoning in think tags and the
letter in answer tags); the wording is ours.
"""

from __future__ import annotations

from zephyrus_chartqa.item import Item

_FULL = """\
You read weather charts, and answer one multiple-choice question about one chart. First reason \
about what {seen} inside <think> and </think>. Then write the letter of the one \
choice that your reasoning leads to inside <answer> and </answer>, and nothing else:
<think>what you see, what follows from it, and which choice that is</think><answer>B</answer>"""

_COMPACT = """\
Answer the question about a weather chart. Think first, then give the letter of one choice:
<think>your reasoning</think><answer>B</answer>"""

SEEN = {
    "image": "the chart shows",
    "text": "the chart's data say",
    "both": "the chart shows and its data say",
}
TEXT = "The chart's data in words and numbers, standing in for the picture:"


def system_prompt(view: str, *, compact: bool) -> str:
    """What the policy is told once.

    Args:
        view: How the chart is shown; a key of `SEEN`.
        compact: The short form, for very small models.
    """
    return _COMPACT if compact else _FULL.format(seen=SEEN[view])


def question_prompt(item: Item, view: str) -> str:
    """The question with its choices; before it the chart's data if they are shown as text."""
    listed = "\n".join(f"{letter}. {text}" for letter, text in item.lettered.items())
    asked = f"Question: {item.question}\nChoices:\n{listed}"
    return asked if view == "image" else f"{TEXT}\n{item.text.strip()}\n\n{asked}"
