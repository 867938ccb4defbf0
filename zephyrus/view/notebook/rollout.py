"""A rollout in a notebook: how it was scored, then turn by turn with its maps."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any
from xml.etree.ElementTree import Element

from zephyrus.messages import Image, Message, ToolResult
from zephyrus.trajectory import Trajectory
from zephyrus.view.notebook.elements import (
    Child,
    element,
    folded,
    folded_text,
    output,
    picture,
    table,
)
from zephyrus.view.run.pictures import Pictures
from zephyrus.view.run.rollout import trace, words

IMAGES_MB = 16
"""Megabytes of images in one output, which a notebook keeps; later ones are told in words."""


def rollout_html(trajectory: Trajectory) -> str:
    """A trajectory as the output of a cell."""
    return output(*rollout_parts(trajectory))


def rollout_parts(t: Trajectory) -> list[Child]:
    """What is shown of a rollout."""
    return [_head(t), _trouble(t), _scores(t), *_steps(t)]


def message_html(message: Message) -> str:
    """One message as the output of a cell."""
    calls = [
        element("div", _asked(call.name, call.arguments), css="call") for call in message.tool_calls
    ]
    more = [*calls, *_images(message.images)]
    return output(_said(message.role, message.content, message.reasoning, more))


def result_html(result: ToolResult) -> str:
    """What a tool gave back as the output of a cell."""
    why = element("p", result.error, css="bad") if result.error else None
    told = {result.text}  # often what the image shows is what is said
    return output(why, folded_text(result.text), *_images(result.images, told))


def _head(t: Trajectory) -> Element:
    failed = sum(call.error is not None for call in t.calls)
    facts = [
        f"stopped by {t.stop}" if t.stop else "still running",
        f"{t.turns} turn" + "s" * (t.turns != 1),
        f"{len(t.calls)} tool call" + "s" * (len(t.calls) != 1),
    ]
    if failed:
        facts[-1] += f", {failed} failed"
    if t.usage.prompt_tokens or t.usage.completion_tokens:
        facts.append(f"{t.usage.prompt_tokens:,} + {t.usage.completion_tokens:,} tokens")
    if t.stop:
        facts.append(f"{t.seconds:.3g} s")
    return element("p", element("strong", str(t.key)), " · " + " · ".join(facts), css="head")


def _trouble(t: Trajectory) -> Element | None:
    if t.error:
        return element("div", t.error, css="text bad")
    return element("p", f"not scored: {t.unscored}", css="bad") if t.unscored else None


def _scores(t: Trajectory) -> Element:
    told = [
        ("answer", ("none given" if t.stop else "") if t.answer is None else t.answer),
        ("gold", words(t.task.get("gold"))),
        ("template", str(t.task.get("template") or "")),
        ("answer type", str(t.task.get("answer_type") or "")),
    ]
    rewards = [(name, f"{value:.4g}") for name, value in (t.rewards or {}).items()]
    answers = table([(name, folded_text(text)) for name, text in told if text], css="words")
    return element("div", table(rewards) if rewards else None, answers, css="sides")


def _steps(t: Trajectory) -> Iterator[Element]:
    pictures = Pictures(int(IMAGES_MB * 1e6))
    texts: dict[str, int] = {}
    steps: Sequence[Mapping[str, Any]] = trace(t, pictures, texts)["steps"]
    shared, kept = list(texts), list(pictures)
    for step in steps:
        if step["role"] == "system":
            text = shared[step["shared"]]
            title = f"system prompt ({len(text):,} characters)"
            yield element("div", folded(title, element("div", text, css="text")), css="step")
        elif step["role"] == "assistant":
            calls = [_call(call) for call in step["calls"]]
            yield _said(f"assistant, turn {step['turn']}", step["text"], step["reasoning"], calls)
        else:
            at = [(None if i["at"] is None else kept[i["at"]], i["alt"]) for i in step["images"]]
            yield _said(step["role"], step["text"], "", [picture(*image) for image in at])


def _said(who: str, text: str, reasoning: str, more: Iterable[Child]) -> Element:
    title = f"reasoning ({len(reasoning):,} characters)"
    return element(
        "div",
        element("p", who, css="who"),
        folded(title, element("div", reasoning, css="text")) if reasoning else None,
        folded_text(text) if text else None,
        *more,
        css="step assistant" if who.startswith("assistant") else "step",
    )


def _call(call: Mapping[str, Any]) -> Element:
    error, observed = call["error"], call["observed"]
    return element(
        "div",
        _asked(call["name"], call["arguments"]),
        element("span", f" {error}", css="bad") if error else None,
        None if observed is None else folded_text(observed, "text observation"),
        css="call failed" if error else "call",
    )


def _asked(name: str, arguments: str) -> Element:
    return element("code", element("strong", name), f" {arguments}", css="asked")


def _images(images: Iterable[Image], told: Container[str] = ()) -> list[Element]:
    pictures = Pictures(int(IMAGES_MB * 1e6))
    numbered = [(pictures.add(image.png), image.alt) for image in images]
    kept = list(pictures)
    return [
        picture(None if at is None else kept[at], alt, caption=alt not in told)
        for at, alt in numbered
    ]
