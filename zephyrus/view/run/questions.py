"""What the questions of a run have in common: a table says it in no row."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

MOST = 0.9
"""The part of all questions that must begin alike."""

_SENTENCE = re.compile(r"(.+?[.:])\s+(?=\S)", re.S)
_NUMBER = re.compile(r"\d+")


def split_lead(rows: Sequence[dict[str, Any]]) -> None:
    """Move a first sentence that nearly all questions share to ``lead``, if it is only that.

    Alike but for the numbers in it, as the times of a forecast. The rows are changed.

    Args:
        rows: Rows of all runs of a page, with ``question``.
    """
    found = [_SENTENCE.match(row["question"]) for row in rows]
    alike = [_NUMBER.sub("0", match[1]) if match else "" for match in found]
    lead, count = Counter(alike).most_common(1)[0] if alike else ("", 0)
    different = len({row["question"] for row in rows}) > 1
    for row, match, own in zip(rows, found, alike, strict=True):
        row["lead"] = ""
        if match and lead and own == lead and different and count >= MOST * len(rows):
            row["lead"], row["question"] = match[1], row["question"][match.end() :]
