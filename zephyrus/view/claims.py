"""The claim view (Fig. E.1): report and reference side by side, every claim with its label.

One HTML file that needs no network: texts, labels and scores lie in it as JSON, and a script of
ours shows them. Report, reference and what judges wrote are untrusted: the script only ever sets
text, never markup; the JSON can't end its element; and the content security policy names the
hashes of our one style and one script, so that nothing else runs or loads.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zephyrus.evaluation.judgements import JudgementKey, Judgements
from zephyrus.evaluation.result import SCORES, Evaluation
from zephyrus.evaluation.settings import brief_digest
from zephyrus.evaluation.texts import Text, read_texts
from zephyrus.jsonlines import write_whole
from zephyrus.judge.assess import Assessment
from zephyrus.judge.base import Verdict
from zephyrus.run import Run
from zephyrus.task import Task
from zephyrus.view.page import embedded, fill, part, source_hash
from zephyrus.view.plain import plain

if TYPE_CHECKING:
    from zephyrus.env import ToolEnv

Span = tuple[int, int]
"""Start and end of words in a text, in characters."""

ALIKE = 88.0
"""How alike (0 to 100) words of a text must be to a judge's quote of them that is not exact."""

_GAP = re.compile(r"\s*(?:\.{3}|…|\[…\]|\[\.{3}\])\s*")
_PIECE = 12


def write_claim_view(
    path: Path,
    run: Run,
    env: ToolEnv,
    evaluation: Evaluation,
    tasks: Iterable[Task] | None = None,
) -> None:
    """Write the claims of an evaluated run as a page.

    Args:
        path: The file.
        run: The run.
        env: The environment that it was made with.
        evaluation: Which judges, settings and passes to show.
        tasks: The bank, if the run was made with one of its own.

    Raises:
        UserError: If the file can't be written, or as `read_texts`.
    """
    events = set(evaluation.events)
    texts = [text for text in read_texts(run, env, tasks) if text.key.task in events]
    write_whole(path, render_claim_view(texts, Judgements.read(run.path), evaluation))


def render_claim_view(texts: Sequence[Text], judgements: Judgements, evaluation: Evaluation) -> str:
    """The page.

    Args:
        texts: What was judged.
        judgements: What was said of it.
        evaluation: Which judges, settings and passes to show.
    """
    data = {
        "run": evaluation.run,
        "policy": evaluation.policy,
        "means": {
            name: {score: value.mean for score, value in result.scores.items()}
            for name, result in evaluation.judges.items()
        },
        "judges": [[name, result.passes] for name, result in evaluation.judges.items()],
        "names": list(SCORES),
        "events": [
            _event(text, judgements, evaluation)
            for text in sorted(texts, key=lambda text: text.key)
        ],
    }
    policy = f" ({evaluation.policy})" if evaluation.policy else ""
    style, script = part("base.css") + part("claims.css"), part("claims.js")
    filled = {
        "STYLE_HASH": source_hash(style),
        "SCRIPT_HASH": source_hash(script),
        "TITLE": escape(plain(f"Claims of {evaluation.run}{policy}")),
        "STYLE": style,
        "SCRIPT": script,
        "DATA": embedded(data),
    }
    return fill(part("claims.html"), filled)


def locate(text: str, quote: str) -> list[Span]:
    """Where a text has the words that a judge quotes from it.

    Exactly, or but for case and white space, or in pieces where the quote leaves words out with
    an ellipsis, or else the words most like it, if they are alike enough.

    Returns:
        Spans in the text's order; [] if it has no such words.
    """
    quote = quote.strip()
    if not quote:
        return []
    if whole := _find(text, quote):
        return [whole]
    pieces = [piece for piece in _GAP.split(quote) if len(piece) >= _PIECE]
    if len(pieces) > 1:
        found = [_find(text, piece) for piece in pieces]
        if all(found):
            return sorted(span for span in found if span)
    alike = _alike(text, quote)
    return [alike] if alike else []


def _find(text: str, quote: str) -> Span | None:
    start = text.find(quote)
    if start >= 0:
        return start, start + len(quote)
    words = quote.split()
    if not words:
        return None
    pattern = r"\s+".join(map(re.escape, words))
    match = re.search(pattern, text, re.IGNORECASE)
    return match.span() if match else None


def _alike(text: str, quote: str) -> Span | None:
    from rapidfuzz import fuzz

    if len(quote) < _PIECE or len(quote) > len(text):
        return None
    found = fuzz.partial_ratio_alignment(quote.lower(), text.lower(), score_cutoff=ALIKE)
    if found is None or len(text.lower()) != len(text):
        return None
    start, end = found.dest_start, found.dest_end
    while start > 0 and text[start - 1].isalnum() and text[start].isalnum():
        start -= 1
    while end < len(text) and text[end - 1].isalnum() and text[end].isalnum():
        end += 1
    words = text[start:end]
    start, end = end - len(words.lstrip()), start + len(words.rstrip())
    return (start, end) if start < end else None


def _event(text: Text, judgements: Judgements, evaluation: Evaluation) -> dict[str, Any]:
    digest = brief_digest(text.brief)
    said: list[dict[str, Any] | None] = []
    for name, result in evaluation.judges.items():
        for scoring_pass in range(result.passes):
            key = JudgementKey(*text.key, name, scoring_pass, result.settings.id)
            judgement = judgements.latest.get(key)
            if judgement is None or judgement.texts != digest:
                said.append(None)
            else:
                said.append(_judgement(judgement.assessment, text, evaluation))
    several = f" (repeat {text.key.repeat})" if text.key.repeat else ""
    return {
        "id": f"{text.key.task}{several}",
        "context": text.brief.context,
        "report": text.brief.report,
        "reference": text.brief.reference,
        "said": said,
    }


def _judgement(said: Assessment, text: Text, evaluation: Evaluation) -> dict[str, Any]:
    scores = replace(said, options=evaluation.options).scores()
    criteria = (
        [
            [
                criterion.name,
                said.rubric.scores.get(criterion.key),
                said.rubric.rationale.get(criterion.key, ""),
            ]
            for criterion in text.brief.rubric.criteria
        ]
        if said.rubric
        else []
    )
    report, reference = text.brief.report, text.brief.reference
    return {
        "scores": {name: scores[name] for name in SCORES if name in scores},
        "criteria": criteria,
        "missing": dict(said.missing),
        "empty": said.empty,
        "notes": {name: count for name, count in said.notes.items() if count},
        "claims": {
            "report": _claims(said.report_verdicts, report, reference),
            "reference": _claims(said.reference_verdicts, reference, report),
        },
    }


def _claims(
    verdicts: Iterable[Verdict] | None, own: str, other: str
) -> list[dict[str, Any]] | None:
    """Claims in the order of their text; a tag numbers those of one label."""
    if verdicts is None:
        return None
    placed = [(locate(own, v.claim.quote or v.claim.text), v) for v in verdicts]
    placed.sort(key=lambda item: item[0][0] if item[0] else (len(own), 0))
    count: dict[str, int] = {}
    claims = []
    for spans, verdict in placed:
        letter = str(verdict.label)[0]
        count[letter] = count.get(letter, 0) + 1
        claims.append(
            {
                "tag": f"{letter}{count[letter]}",
                "label": str(verdict.label),
                "text": verdict.claim.text,
                "evidence": verdict.evidence,
                "why": verdict.rationale,
                "at": spans,
                "there": locate(other, verdict.evidence),
            }
        )
    return claims
