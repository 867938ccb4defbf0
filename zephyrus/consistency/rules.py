"""A consistency judge without a model: rules over the reasoning's own conclusion.

It reads what the reasoning says of the choices, not whether that is so. A *mention* of a choice is
its letter where letters name choices ("option B", "(B)", "the answer is B"), its text, or the words
that only this choice has. A mention is against the choice where it is negated or ruled out ("not B",
"B is wrong", "rather than B"), and none at all in a question, a condition ("if it were B") or an
opinion that is only reported ("one might think"). Then, the first that decides:

1. the last clause that draws a conclusion ("therefore", "the answer is", "so", "best") and speaks
   for exactly one choice; if it speaks for several, or says that nothing can be said, there is no
   conclusion;
2. without such a clause, the only choice that anything speaks for;
3. without one, the only choice that is not ruled out, if all others are.

Rules know English, and no synonyms: what is concluded in quite other words than those of the choice
is undetermined to them.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from zephyrus.consistency.judge import RULES, ConsistencyJudge
from zephyrus.consistency.question import ChoiceQuestion
from zephyrus.judge.guard import harmless

_STOP = frozenset(
    [
        "a",
        "an",
        "the",
        "of",
        "in",
        "on",
        "at",
        "to",
        "over",
        "from",
        "by",
        "for",
        "and",
        "or",
        "is",
        "are",
        "with",
        "its",
        "this",
        "that",
    ]
)
_ARTICLES = ("a", "an", "the")
_RANKS = (2, 1, 0, -1)
_LONGEST = 40_000
"""Characters of a reasoning that are read: its end, where the conclusion is."""

_CUE = re.compile(
    r"\b(?:therefore|thus|hence|consequently|so|accordingly|conclu\w+|overall|in summary|finally"
    r"|(?:final|correct|right|best|my|the) (?:answer|option|choice)|answer(?: is|:)|answer [A-J]\b"
    r"|fits? (?:best|better)|best (?:fit|match|describe[sd]?|description|option)|describes? \w+ better"
    r"|correspond\w*|match(?:es)?|is correct|is right|must be|has to be|should be|makes it|that leaves"
    r"|(?:most|more) (?:likely|plausible)|points? to|indicat\w+|go with|choose|select|pick"
    r"|(?:I|we) (?:would )?(?:say|believe|think)\b|which (?:is|makes|means)|it is)\b|\bit is\W*$",
    re.IGNORECASE,
)
_UNDETERMINED = re.compile(
    r"\b(?:can(?:not|'t| not)|impossible to|unable to|not possible to|hard to|difficult to)\b[^.]{0,30}"
    r"\b(?:determin\w+|tell|say|decide|conclud\w+|be preferred|read)\b"
    r"|\bnone of the (?:options|choices|answers|above)\b|\b(?:not sure|unsure|uncertain which|no idea)\b"
    r"|\bno (?:option|choice) (?:fits|matches|applies)\b",
    re.IGNORECASE,
)
_IDLE = re.compile(
    r"^\W*(?:if|suppose|assuming|were it|had it|should it)\b"
    r"|\b(?:one|you|someone|some|many) (?:might|may|could|would) (?:think|say|guess|believe|assume)\b"
    r"|\bat first (?:glance|sight)\b|\b(?:is|looks|seems) tempting\b|\bI (?:first )?thought\b"
    r"|\bwould (?:need|require|mean|show|have|be shown|imply)\b"
    r"|\b(?:options?|choices|candidates) (?:are|say|says|include)\b",
    re.IGNORECASE,
)
_RULING = re.compile(r"\b(?:ruled out|eliminated|excluded|wrong|incorrect)\b", re.IGNORECASE)
_REVISED = re.compile(
    r"\b(?:wait|hmm|actually|on second thought|let me (?:re)?check)\b", re.IGNORECASE
)
_BEFORE = re.compile(
    r"(?:\bnot|n't|\bno|\bnever|\bneither|\bnor|\brather than|\binstead of|\bunlike|\bexcept|\bexcluding"
    r"|\bthan|\brul\w+ out|\beliminat\w+|\bexclud\w+|\bdiscard\w*|\breject\w*|\bagainst)"
    r"(?:\s+(?:a|an|the|be|in|of|option|choice|answer|is|like|quite|really|reach(?:es|ed)?|by|it|also))*"
    r"[\s(*\"'“:,]*$",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"^[\s)*\"'”.,:]*(?:,[^,]{0,40},\s*)?(?:(?:is|are|was|can(?:not)?|does|do|would|seems?|looks?)\s+)?"
    r"(?:also\s+|clearly\s+|then\s+|therefore\s+)?"
    r"(?:(?:be|is)\s+)?(?:not\b|n't|wrong|incorrect|false|ruled out|eliminated|excluded|discarded|out\b"
    r"|unlikely|impossible|implausible|cannot|can't|isn't|doesn't|don't|aren't|no\b|either$)",
    re.IGNORECASE,
)
_LISTED = re.compile(r"(?:,|\band\b|\bor\b|\bnor\b|\s)+(?:option\s|choice\s)?", re.IGNORECASE)
_NEAR = 120
"""Characters before and after a mention that are looked at for what is said of it."""
# A sentence's end; but "A. Light rain" and "10.5 mm" go on.
_SENTENCE = re.compile(
    r"(?<=[!?])\s+|(?<=[.])(?<!\s[A-J]\.)(?<!^[A-J]\.)\s+|\n+|(?<=\s[A-J]\.)\s+(?=[A-Z]\w+,|So\b|The\b|This\b|But\b|Option\b|Therefore\b|It\b)"
)
_CLAUSE = re.compile(
    r"\s*;\s*|,?\s+(?=(?:but|however|whereas|although|though|while|yet|which (?:makes|means|is)|therefore"
    r"|thus|hence|since|because|as no|as the|where)\b)|,\s+(?=(?:so|and (?:so|even|option|choice))\b)",
    re.IGNORECASE,
)
_REPLY = re.compile(r"\W*(yes|no)\b", re.IGNORECASE)
_ASKED = re.compile(
    r"^\W*(?:is|could|can|would|may|might) (?:it|this|that)(?: be)?\b", re.IGNORECASE
)
_COMPASS = re.compile(r"\b(north|south)[\s-](east|west)", re.IGNORECASE)


class RulesConsistencyJudge(ConsistencyJudge):
    """Always says the same of a text, offline; see the module."""

    name = RULES

    async def conclusion(self, question: ChoiceQuestion, reasoning: str) -> str | None:
        """See `ConsistencyJudge.conclusion`."""
        return concluded(question, harmless(reasoning).text)


@dataclass(frozen=True, slots=True)
class _Mention:
    letter: str
    start: int
    end: int
    rank: int
    """2: by its letter; 1: by its text; 0: by the words that are its own; -1: by one of them."""


@dataclass(frozen=True, slots=True)
class _Clause:
    """What a clause says.

    Attributes:
        favours: The choices that it speaks for, by the plainest kind of mention that it has.
        against: The choices that it speaks against.
        concludes: Whether it draws a conclusion.
        undetermined: Whether it says that nothing can be said.
        torn: Whether a letter stands with the text of another choice.
        revises: Whether it takes back what was said before.
    """

    favours: frozenset[str]
    against: frozenset[str]
    concludes: bool
    undetermined: bool
    torn: bool
    revises: bool


def concluded(question: ChoiceQuestion, reasoning: str) -> str | None:
    """The letter of the choice that a reasoning concludes, None if it can't be determined."""
    text = _COMPASS.sub(r"\1\2", reasoning[-_LONGEST:]).strip()
    bare = text.strip(" .*()\"'")
    if bare in question.choices:
        return bare
    clauses = list(_clauses(text, _Finder.of(question)))
    for clause in reversed(clauses):
        if clause.torn and clause.concludes:
            return None
        if clause.undetermined and not clause.favours:
            return None
        if clause.concludes and clause.favours:
            return next(iter(clause.favours)) if len(clause.favours) == 1 else None
        if clause.revises and not clause.favours:
            break
    last = max((i for i, clause in enumerate(clauses) if clause.revises), default=0)
    favoured = {letter for clause in clauses[last:] for letter in clause.favours}
    against = {letter for clause in clauses for letter in clause.against}
    if len(favoured) == 1:
        return next(iter(favoured))
    left = [letter for letter in (favoured or question.choices) if letter not in against]
    if len(left) == 1 and (favoured or len(against) == len(question.choices) - 1):
        return left[0]
    return None


def _clauses(text: str, finder: _Finder) -> Iterator[_Clause]:
    sentences = [sentence for sentence in _SENTENCE.split(text) if sentence and sentence.strip()]
    for sentence, following in itertools.zip_longest(sentences, sentences[1:], fillvalue=""):
        asks = sentence.rstrip(" *\"')").endswith("?")
        if asks and (said := _REPLY.match(following)):
            # "Is it B? Yes" says as much as "it is B".
            asks = False
            sentence = f"{'not ' if said[1].casefold() == 'no' else ''}{_ASKED.sub('', sentence)}"
        cue = False
        if not asks and len({m.letter for m in finder.find(sentence)}) == len(finder.letters) > 2:
            yield _Clause(frozenset(), frozenset(), False, False, False, False)  # a mere list
            continue
        for part in _CLAUSE.split(sentence):
            idle = asks or _IDLE.search(part) is not None
            cue = cue or _CUE.search(part) is not None
            yield _read(part, finder, cue=cue, idle=idle)


def _read(part: str, finder: _Finder, *, cue: bool, idle: bool) -> _Clause:
    mentions = finder.find(part, cue=cue or _RULING.search(part) is not None)
    favours: dict[int, set[str]] = {rank: set() for rank in _RANKS}
    refused = _against(part, mentions)
    against = {mention.letter for mention in refused}
    torn = False
    for i, mention in enumerate(mentions):
        if idle or mention in refused:
            continue
        favours[mention.rank].add(mention.letter)
        if i and mentions[i - 1].rank == 2 and mention.rank == 1:
            between = part[mentions[i - 1].end : mention.start].strip()
            torn |= (
                mentions[i - 1].letter != mention.letter
                and re.fullmatch(r"[\W_]*", between) is not None
            )
    plainest: set[str] = set()
    for rank in _RANKS:
        # What is ruled out in the same clause is not favoured by a few of its words.
        plainest = favours[rank] - against if rank < 1 or len(favours[rank]) > 1 else favours[rank]
        if plainest:
            break
    revises = _REVISED.search(part) is not None
    return _Clause(
        frozenset(plainest),
        frozenset(against),
        cue and not idle,
        _UNDETERMINED.search(part) is not None,
        torn,
        revises,
    )


def _against(part: str, mentions: Sequence[_Mention]) -> set[_Mention]:
    """The mentions that a clause speaks against, and those in one list with them."""
    found = {m for m in mentions if _BEFORE.search(part[max(0, m.start - _NEAR) : m.start])}
    for earlier, later in itertools.pairwise(mentions):
        if earlier in found and _LISTED.fullmatch(part[earlier.end : later.start]):
            found.add(later)  # "not A, B or C"
    ruled_out = {m for m in mentions if _AFTER.match(part[m.end : m.end + _NEAR])}
    for earlier, later in reversed(list(itertools.pairwise(mentions))):
        if later in ruled_out and _LISTED.fullmatch(part[earlier.end : later.start]):
            ruled_out.add(earlier)  # "A, B and C are wrong"
    return found | ruled_out


class _Finder:
    """Finds mentions of the choices of one question."""

    def __init__(self, choices: Mapping[str, str]) -> None:
        self.letters = tuple(choices)
        self._named = re.compile(_NAMED.format(letters="".join(choices)))
        self._judged = re.compile(_JUDGED.format(letters="".join(choices)))
        self._cued = re.compile(_CUED.format(letters="".join(choices)))
        words = {key: _words(_COMPASS.sub(r"\1\2", text)) for key, text in choices.items()}
        self._texts = {key: _pattern(found) for key, found in words.items() if found}
        self._own: dict[str, re.Pattern[str]] = {}
        self._hints: dict[str, re.Pattern[str]] = {}
        for key, found in words.items():
            others = {word for other, more in words.items() if other != key for word in more}
            own = [word for word in found if word not in others and word.casefold() not in _STOP]
            if own and len(own) < len(found):
                self._own[key] = _pattern(own)
            told = [word for word in own if word.isalpha() and len(word) > 3]
            if len(told) > 1:
                self._hints[key] = re.compile(rf"\b(?:{'|'.join(told)})\b", re.IGNORECASE)

    @classmethod
    def of(cls, question: ChoiceQuestion) -> _Finder:
        """The finder of a question; kept, since a group of rollouts shares it."""
        return _finder(tuple(question.choices.items()))

    def find(self, text: str, *, cue: bool = True) -> list[_Mention]:
        """The mentions in a text, in order, none inside another."""
        found = [
            _Mention(m["letter"], m.start("letter"), m.end("letter"), 2)
            for form in (self._named, self._judged)
            for m in form.finditer(text)
        ]
        if cue:
            found += [
                _Mention(m["letter"], m.start("letter"), m.end("letter"), 2)
                for m in self._cued.finditer(text)
            ]
        for rank, patterns in ((1, self._texts), (0, self._own), (-1, self._hints if cue else {})):
            for letter, pattern in patterns.items():
                found += [_Mention(letter, *m.span(), rank) for m in pattern.finditer(text)]
        # The longest text at a place: "Heavy rain" is no mention of "Rain".
        found.sort(key=lambda m: (-m.rank if m.rank == 2 else 0, m.start - m.end))
        kept: list[_Mention] = []
        taken = bytearray(len(text))
        for mention in found:
            if mention.start < mention.end and not any(taken[mention.start : mention.end]):
                taken[mention.start : mention.end] = b"\1" * (mention.end - mention.start)
                kept.append(mention)
        return sorted(kept, key=lambda m: m.start)


_NAMED = (
    r"(?:(?i:\b(?:options?|choices?|answers?)(?:\s+(?:is|are|must be|should be|would be|has to be|to))?"
    r"\s*:?\s*|\b(?:choose|select|pick|go with|or|nor|neither|either|not|(?:could|may|might|must|should)"
    r" be)\s+(?:option\s+|choice\s+)?)"
    r"[(*\"“]*(?P<letter>[{letters}])(?![\w'’°])"
    r")"
)
"""A letter that is said to be a choice."""
_JUDGED = (
    r"(?<![\w°.'’-])(?P<letter>[{letters}])(?=\s+(?:is|are|seems|looks|can be|must be|fits|matches)\b\s*"
    r"(?:also\s+|clearly\s+|then\s+|the\s+|thus\s+)*(?:wrong|incorrect|false|right|correct|best|ruled|out\b"
    r"|eliminated|excluded|not\b|answer|option|choice|$))"
)
"""A letter that is called right or wrong."""
_CUED = (
    r"(?:(?<![\w°.'’-])(?<!\d\s)(?P<letter>[{letters}])(?![\w'’°-])(?=\s*[).,;:*\"”]|\s*$|\s+(?:is|it|fits|must|has|as|"
    r"matches|because|since|and|or|rather)\b))"
)
"""A letter that stands where a conclusion is drawn."""


@functools.lru_cache(maxsize=512)
def _finder(choices: tuple[tuple[str, str], ...]) -> _Finder:
    return _Finder(dict(choices))


def _words(text: str) -> list[str]:
    return re.findall(r"\d+(?:[.,]\d+)*|[^\W\d_]+|[^\w\s.,;:!?()\"']", text)


def _pattern(words: list[str]) -> re.Pattern[str]:
    """The words in their order, whatever small words and signs stand between them."""
    small = r"(?:\s+(?:a|an|the|of))?"
    body = rf"{small}[\s_*/-]*".join(
        rf"(?:{re.escape(word)}\b)?"
        if word.casefold() in _ARTICLES and len(words) > 1
        else re.escape(word)
        for word in words
    )
    return re.compile(rf"(?<![\w.]){body}(?!\w|[.,]\d)", re.IGNORECASE)
