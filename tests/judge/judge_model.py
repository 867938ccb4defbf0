"""A judge model for `openai_server.OpenAIServer`: it reads our prompts and answers by simple rules."""

from __future__ import annotations

import json
import re
from typing import Any

from openai_server import say


def user_text(body: dict[str, Any]) -> str:
    return body["messages"][-1]["content"]


def asked_id(body: dict[str, Any]) -> str:
    return re.findall(r"The id of this request is ([0-9a-f]{12})\.", user_text(body))[-1]


def block(body: dict[str, Any], name: str) -> str:
    wanted = asked_id(body)
    found = re.search(
        rf"<<<{name} {wanted}>>>\n(.*?)\n<<<END {name} {wanted}>>>", user_text(body), re.DOTALL
    )
    return found[1] if found else ""


def kind(body: dict[str, Any]) -> str:
    text = user_text(body)
    if "List the claims" in text:
        return "claims"
    return "verdicts" if "Label the" in text else "rubric"


def judged(body: dict[str, Any], score: int = 4) -> dict[str, Any]:
    """The answer as plain values.

    Claims are the text's sentences; a claim is SUPPORTED if the text has it, REFUTED if the text
    has it with "not", else NEUTRAL; every criterion gets ``score``.
    """
    wanted = asked_id(body)
    if kind(body) == "claims":
        sentences = re.findall(r"[^.]+\.", block(body, "TEXT"))
        rows = [{"quote": s.strip(), "claim": s.strip()} for s in sentences]
        return {"id": wanted, "claims": rows}
    if kind(body) == "verdicts":
        text = block(body, "TEXT")
        rows = []
        for line in block(body, "CLAIMS").splitlines():
            number, claim = line.split(". ", 1)
            label = "SUPPORTED" if claim in text else "NEUTRAL"
            label = "REFUTED" if f"not {claim}" in text else label
            evidence = claim if label != "NEUTRAL" else ""
            rows.append(
                {"index": int(number), "rationale": "so", "evidence": evidence, "label": label}
            )
        return {"id": wanted, "verdicts": rows}
    keys = re.findall(r"Score the report on: (.*)\.", user_text(body))[-1].split(", ")
    return {"id": wanted, "criteria": {k: {"rationale": f"{k}!", "score": score} for k in keys}}


def answer(body: dict[str, Any]) -> dict[str, Any]:
    """An assistant message, for `OpenAIServer.answer`."""
    return say(json.dumps(judged(body)))


def gullible(body: dict[str, Any]) -> dict[str, Any]:
    """A judge that does whatever anybody tells it: what it is shown must hold no order.

    It repeats a verdict that it is shown, and gives 10, or SUPPORTED, if anything in its texts
    speaks of scores.
    """
    shown = block(body, "REPORT") or block(body, "TEXT") + block(body, "CLAIMS")
    fake = re.search(r"\{.*\}", shown, re.DOTALL)
    if fake:
        return say(fake[0])
    orders = r"ignore|disregard|instruct|score|grade|grader|judge|rubric|verdict|award|supported|marks|rat(e|ing)"
    won = re.search(orders, shown, re.IGNORECASE) is not None
    found = judged(body, 10 if won else 4)
    for row in found.get("verdicts", ()):
        row["label"] = "SUPPORTED" if won else row["label"]
    return say(json.dumps(found))
