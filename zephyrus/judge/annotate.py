"""The experts' audit: claim–text pairs without a judge's labels, and the labels back again.

A *pair* is a claim and the text that a judge held it against: a claim of a report and the
reference, or a claim of the reference and the report. An export is blind: it tells neither the
judge's label, nor which of the two texts a model wrote, nor the event's name, and the order is
drawn. Its items are digests of claim and text, so that a filled file finds its judgements again
whatever became of its order, and whether it is filled wholly or in part.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import random
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from zephyrus.errors import UserError
from zephyrus.jsonlines import write_whole
from zephyrus.judge.assess import Assessment, judged_texts
from zephyrus.judge.base import Brief, Label
from zephyrus.judge.labels import JUDGE_PREFIX, LabelTable, read_labels, spreadsheet_safe
from zephyrus.view.plain import plain

if TYPE_CHECKING:
    from zephyrus.run import Run
    from zephyrus.task import Task

DIRECTIONS = ("report", "reference")
"""Whose claims."""

FORMATS = (".csv", ".tsv", ".jsonl", ".html")


COLUMNS = ("item", "event", "claim", "quote", "text", "label", "comment")
"""Of an export; an expert fills in the last two."""


class Judged(NamedTuple):
    """One assessment with what it is of.

    Attributes:
        event: The task's id; pairs of one event belong together.
        brief: The texts.
        assessment: What a judge said.
    """

    event: str
    brief: Brief
    assessment: Assessment


@dataclass(slots=True)
class Pair:
    """A claim, the text to hold it against, and what judges said.

    Attributes:
        item: Digest of claim and text.
        event: The task's id.
        direction: Whose claim it is, of `DIRECTIONS`.
        claim: The claim.
        quote: The words that it was taken from, "" if not known: a judge may write claims tersely.
        text: The text.
        labels: By judge, its label in its first scoring pass that has one.
    """

    item: str
    event: str
    direction: str
    claim: str
    quote: str
    text: str
    labels: dict[str, Label] = field(default_factory=dict)


def read_judged(
    run: Run, judges: Iterable[str] | None = None, tasks: Iterable[Task] | None = None
) -> list[Judged]:
    """The judgements that ``zephyrus env evaluate`` kept of a run, with their texts.

    Of a judge that was asked in several ways the last one counts.

    Args:
        run: The run.
        judges: Only these; by default all.
        tasks: The bank, if the run was made with one of its own.

    Raises:
        UserError: If the run was not judged (by one of them), or its texts have changed since.
    """
    from zephyrus.evaluation.judgements import Judgements
    from zephyrus.evaluation.settings import brief_digest
    from zephyrus.evaluation.texts import env_of, read_texts

    kept = Judgements.read(run.path)
    known = list(dict.fromkeys(settings.judge for settings in kept.settings.values()))
    if not known:
        raise UserError(f"{run.path} was not judged yet: zephyrus env evaluate {run.path}")
    wanted = known if judges is None else list(judges)
    if unknown := [judge for judge in wanted if judge not in known]:
        raise UserError(f"no judge {unknown[0]!r} in {run.path}; there are {', '.join(known)}")
    briefs = {text.key: text.brief for text in read_texts(run, env_of(run), tasks)}
    found = []
    for judge in wanted:
        one_way = [
            j for j in kept.of(kept.ids(judge)[-1]) if j.assessment.report_verdicts is not None
        ]
        for judgement in sorted(one_way, key=lambda judgement: judgement.key):
            brief = briefs.get(judgement.key.rollout)
            if brief is not None and brief_digest(brief) == judgement.texts:
                found.append(Judged(judgement.key.task, brief, judgement.assessment))
    if not found:
        raise UserError(
            f"no claims of the texts in {run.path} are labelled by {' or '.join(wanted)}; "
            f"zephyrus env evaluate {run.path} asks for what is missing"
        )
    return found


def pairs_of(judged: Iterable[Judged]) -> dict[str, Pair]:
    """All pairs by item, each once, in the order of the assessments."""
    pairs: dict[str, Pair] = {}
    for event, brief, assessment in sorted(judged, key=lambda j: j.assessment.scoring_pass):
        verdicts = (assessment.report_verdicts, assessment.reference_verdicts)
        texts = judged_texts(brief, assessment)
        for direction, labelled, text in zip(DIRECTIONS, verdicts, texts, strict=True):
            for verdict in labelled or ():
                claim = verdict.claim.text
                item = _digest(claim, text)
                quote = verdict.claim.quote
                pair = pairs.setdefault(item, Pair(item, event, direction, claim, quote, text))
                pair.labels.setdefault(assessment.judge, verdict.label)
    return pairs


def sample(
    pairs: Iterable[Pair],
    n: int | None = None,
    *,
    seed: int = 0,
    judge: str | None = None,
    directions: Sequence[str] = DIRECTIONS,
    balanced: bool = False,
) -> list[Pair]:
    """Draw pairs, and their order.

    Args:
        pairs: What to draw from.
        n: How many; all of them if there are fewer, or if None.
        seed: Same seed and same pairs, same sample.
        judge: Only pairs that this judge labelled.
        directions: Whose claims.
        balanced: As many of each label of ``judge`` as there are, up to a third of ``n`` each,
            the rest from what is left. Rare labels then weigh more than they do in the reports.

    Raises:
        UserError: If there is nothing to draw from, or a balance is asked for without a judge.
    """
    if balanced and judge is None:
        raise UserError("a sample is balanced over the labels of one judge; name it with --judge")
    pool = [
        pair
        for pair in sorted(pairs, key=lambda pair: pair.item)
        if pair.direction in directions and (judge is None or judge in pair.labels)
    ]
    if not pool:
        raise UserError("there are no labelled claims to draw from")
    rng = random.Random(seed)
    rng.shuffle(pool)
    if balanced and judge is not None:
        ranks: defaultdict[Label, int] = defaultdict(int)
        order = {}
        for pair in pool:
            label = pair.labels[judge]
            order[pair.item] = ranks[label]
            ranks[label] += 1
        pool.sort(key=lambda pair: order[pair.item])  # first of each label, second of each, …
    chosen = pool[:n]
    rng.shuffle(chosen)
    return chosen


def export(pairs: Sequence[Pair], path: Path, *, delimiter: str = ",") -> None:
    """Write pairs for an expert to label; the form goes by the file's ending.

    ``.csv`` and ``.tsv`` open in a spreadsheet, with an empty column ``label``; ``.jsonl`` has
    one object for each; ``.html`` is a page that works offline, by keyboard.

    Args:
        pairs: In the order in which they are to be shown.
        path: The file.
        delimiter: Of a ``.csv``; ";" where a spreadsheet wants it.

    Raises:
        UserError: If the ending is none of these, or the file can't be written.
    """
    suffix = path.suffix.casefold()
    if suffix not in FORMATS:
        raise UserError(f"--output is a file that ends in {', '.join(FORMATS)}, not {path.name}")
    rows = [
        {
            "item": pair.item,
            "event": event,
            "claim": _shown(pair.claim),
            "quote": _shown(pair.quote) if pair.quote != pair.claim else "",
            "text": _shown(pair.text),
            "label": "",
            "comment": "",
        }
        for pair, event in zip(pairs, _event_names(pairs), strict=True)
    ]
    if suffix == ".html":
        write_whole(path, _page(rows))
    elif suffix == ".jsonl":
        write_whole(path, (json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    else:
        out = io.StringIO()
        writer = csv.writer(out, delimiter="\t" if suffix == ".tsv" else delimiter)
        writer.writerow(COLUMNS)
        writer.writerows([spreadsheet_safe(cell) for cell in row.values()] for row in rows)
        write_whole(path, out.getvalue().encode("utf-8-sig"))


def import_labels(files: Iterable[Path], pairs: Mapping[str, Pair]) -> LabelTable:
    """Join filled files with the judges' labels of the same items.

    Args:
        files: Each filled by one expert, or by several; wholly or in part.
        pairs: All pairs of the run, by item (`pairs_of`).

    Returns:
        First a column "judge:NAME" for each judge that labelled any of the items, then the
        experts; only items that an expert labelled, with their events as reports.

    Raises:
        UserError: If a file can't be read, holds no label at all, or an item is not of this run.
    """
    filled = read_labels(files)
    if not filled.items:
        raise UserError("none of the files holds a label yet")
    if strange := [item for item in filled.items if item not in pairs]:
        raise UserError(
            f"{len(strange)} of {len(filled.items)} labelled items, {strange[0]!r} for one, are not "
            "among the judged claims of this run; give the run that they were exported from"
        )
    table = LabelTable()
    for item in filled.items:
        table.reports[item] = pairs[item].event
        for judge, label in pairs[item].labels.items():
            table.add(f"{JUDGE_PREFIX}{judge}", item, label)
    for rater, given in filled.labels.items():
        if rater in table.labels:
            raise UserError(
                f"an expert is named {rater!r}, like a judge; rename the file or column"
            )
        table.labels[rater] = given
    return table


def _shown(text: str) -> str:
    return plain(re.sub(r"\r*\n|\r", "\n", text))


def _digest(claim: str, text: str) -> str:
    words = json.dumps([claim, text]).encode()
    return "c" + hashlib.sha256(words).hexdigest()[:15]  # no spreadsheet takes it for a number


def _event_names(pairs: Sequence[Pair]) -> list[str]:
    """E1, E2, … in the order of the pairs, which is drawn, so that they tell nothing."""
    names: dict[str, str] = {}
    return [names.setdefault(pair.event, f"E{len(names) + 1}") for pair in pairs]


def _page(rows: Sequence[Mapping[str, str]]) -> str:
    """The page, with every text as inert data: nothing in it is ever read as HTML or as code."""
    texts = list(dict.fromkeys(row["text"] for row in rows))
    places = {text: i for i, text in enumerate(texts)}
    pairs = [
        {
            "item": row["item"],
            "event": row["event"],
            "claim": row["claim"],
            "quote": row["quote"],
            "text": places[row["text"]],
        }
        for row in rows
    ]
    items = _digest("", "".join(row["item"] for row in rows))
    data = json.dumps({"set": items, "texts": texts, "pairs": pairs}, ensure_ascii=False)
    for mark in "<>&\u2028\u2029":  # "</script>" and "<!--" would end or change the element
        data = data.replace(mark, f"\\u{ord(mark):04x}")
    page = resources.files("zephyrus.judge").joinpath("annotate.html").read_text("utf-8")
    policy = "; ".join(
        [
            "default-src 'none'",
            f"script-src {_hash(page, '<script>', '</script>')}",
            f"style-src {_hash(page, '<style>', '</style>')}",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    return page.replace("@POLICY@", policy).replace("@DATA@", data)


def _hash(page: str, start: str, end: str) -> str:
    """The source expression that lets this one element through, and no other."""
    code = page.split(start, 1)[1].split(end, 1)[0]
    return f"'sha256-{base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()}'"
