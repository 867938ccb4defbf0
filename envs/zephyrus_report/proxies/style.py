"""A proxy for style: does a text use the vocabulary and headings of NWS forecast discussions?

AFDBench (2608.24954) names the measure Style-Align, "adherence to NWS professional vocabulary",
without a formula; this is ours, hence ``_proxy``. It knows nothing of truth: nonsense in the right
words scores well, which is why it is reported and is no part of a reward by default.
"""

from __future__ import annotations

import functools
import importlib.resources
import re
from typing import Any

import yaml

ENOUGH = 0.13
"""Weighted distinct terms per word, of the 250 that count, that are wholly professional.

The median of 21 real Area Forecast Discussions of 470 to 1,760 words was 0.136."""

# ".SHORT TERM /TODAY/..." of the offices and "...Overview..." of the centers; dots inside an
# all-capital sentence are no heading.
_HEADER = re.compile(
    r"^(?:\.([A-Z][A-Za-z/ ]{2,40}?)(?: [/(][^/)\n]*[/)])?\.\.\.|\.\.\.([A-Z][A-Za-z/ ]{2,40}?)\.\.\.[ \t]*$)",
    re.MULTILINE,
)


def style_proxy(text: str) -> float:
    """How professional a text sounds, in [0, 1]; 0 for an empty one.

    The weighted number of distinct terms (see ``style.yaml``) over the words of the text, against
    `ENOUGH`; where the text has headings, the mean of that and of the share that is in use at the
    NWS. Distinct terms: saying one of them over and over makes it worse.
    """
    words = len(text.split())
    if not words:
        return 0.0
    plain = " ".join(text.split())
    weight = sum(w for pattern, w in _terms() if pattern.search(plain))
    # A short text can't hold many distinct terms, nor a long one ever new ones.
    lexicon = min(1.0, weight / (ENOUGH * min(max(words, 60), 250)))
    headers = [" ".join((a or b).upper().split()) for a, b in _HEADER.findall(text)]
    if not headers:
        return lexicon
    valid = sum(header in _headers() for header in headers) / len(headers)
    return (lexicon + valid) / 2


@functools.cache
def _table() -> dict[str, Any]:
    text = importlib.resources.files(__package__).joinpath("style.yaml").read_text("utf-8")
    table: dict[str, Any] = yaml.safe_load(text)
    return table


@functools.cache
def _terms() -> list[tuple[re.Pattern[str], int]]:
    return [
        (re.compile(rf"\b(?:{term})\b", re.IGNORECASE), int(weight))
        for weight, terms in _table()["terms"].items()
        for term in terms
    ]


@functools.cache
def _headers() -> frozenset[str]:
    return frozenset(_table()["headers"])
