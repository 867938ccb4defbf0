"""Finding the report in a message, and holding it to its length. Reports are untrusted text.

Every pattern is bounded, so that reading takes time in proportion to the length of a message.
"""

from __future__ import annotations

import re
from itertools import pairwise

LONGEST = 40_000
"""Characters of a report that are read; what is beyond is cut off, and so never judged. At the
usual budgets such a report has lost all its reward to the length penalty long before."""

LEAST_WORDS = 8
"""Words that a block which was not closed needs, to be a report rather than a remark."""

LONGEST_WORD = 24
"""Characters; a longer word counts as several, so that words joined to one don't save anything."""

_TAG = re.compile(r"<[ \t]{0,3}(/?)[ \t]{0,3}report(?:[ \t][^<>]{0,200})?>", re.IGNORECASE)
_THINKING = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL | re.IGNORECASE)
_PLACEHOLDER = re.compile(r"[\s.…*_`]*(?:(?:your|the) (?:discussion|report|text)[\s.…*_`]*)?", re.I)
_FENCE = re.compile(r"```[\w-]{0,20}[ \t]*\n(.*?)\n?[ \t]*```", re.DOTALL)
_LEAD_IN = re.compile(r"(?:tags?|blocks?|elements?)\b|[.,;:)\"'`]", re.IGNORECASE)
_WORD = re.compile(r"[^\s,;:/|_()\[\]{}<>=+*\"—–…]+")
_SAYS = re.compile(r"[^\W_]")


def find_report(text: str) -> str | None:
    """The content of the last report block of a message, or None if there is none.

    - Thinking between ``<think>`` tags is left out.
    - Of several blocks the last one that was closed and has something in it counts, a block
      within another one by itself. Case, blanks and attributes of the tags don't matter, nor
      does a code fence around the block or around all that is in it.
    - Without a closed block, one that was never closed counts as far as it goes, from its last
      opening tag to the end of the message: a server stopped at ``</report>``, or the message
      was cut at its length limit, and then a part of a discussion says more than nothing. It
      needs `LEAST_WORDS` words that don't read like talk about the tag ("in <report> tags").
    - The placeholders of a format ("<report>…</report>") are no report.

    Args:
        text: The content of an assistant message, without its reasoning.

    Returns:
        The text between the tags, stripped, at most `LONGEST` characters; it holds no report tag.
    """
    head, closed, tail = text.rpartition("</think>")
    spoken = _THINKING.sub("", tail if closed and "<think>" not in head else text)
    tags = list(_TAG.finditer(spoken))
    blocks = [
        _content(spoken[tag.end() : end.start()])
        for tag, end in pairwise(tags)
        if not tag[1] and end[1]
    ]
    given = [block for block in blocks if not _PLACEHOLDER.fullmatch(block)]
    if given:
        return given[-1]
    if blocks or not tags or tags[-1][1]:
        return None
    rest = _content(spoken[tags[-1].end() :])
    if _LEAD_IN.match(rest) or count_words(rest) < LEAST_WORDS:
        return None
    return rest


def count_words(text: str) -> int:
    """How many words a text has, about as word processors count.

    Numbers count, signs alone don't, commas and the like part words also without a blank, and an
    overlong word counts as several.
    """
    return sum(-(-len(word) // LONGEST_WORD) for word in _WORD.findall(text) if _SAYS.search(word))


def length_penalty(words: int, budget: int) -> float:
    """What a text loses for its length: 0 up to the budget, 1 at twice the budget and beyond.

    In between it grows linearly, so that a few words too many cost little and a flood of them
    more than any score can be worth.

    Args:
        words: The text's.
        budget: The words it may have, at least 1.

    Raises:
        ValueError: If the budget is less than 1.
    """
    if budget < 1:
        raise ValueError(f"a word budget is at least 1, not {budget}")
    return min(1.0, max(0.0, (words - budget) / budget))


def _content(block: str) -> str:
    stripped = block.strip()
    if stripped.startswith("```"):
        fenced = _FENCE.fullmatch(stripped)
        # a server that stopped at the end tag leaves no closing fence
        stripped = fenced[1] if fenced else stripped.partition("\n")[2].removesuffix("```")
    return stripped[:LONGEST].strip()
