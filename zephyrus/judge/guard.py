"""Text that may be hostile, made harmless for a judge.

A report is written by the policy that is being scored, and reinforcement learning finds whatever
raises the score. Before a judge sees it, text that speaks to the judge rather than of its subject
is cut out, sentence by sentence, and what could end the quotation (delimiters, chat-template
tokens, invisible characters) is taken out. The patterns want two signs together (somebody who is
told, and something that only a judge does), so that "the models give 10 out of 10 members",
"disregard the previous product" or "warning criteria" stay.

This is one of three walls. The prompt says that texts are data, and a reply counts only with an
id that no text can hold (`zephyrus.judge.structured`). Patterns know English only.
"""

from __future__ import annotations

import functools
import itertools
import re
import unicodedata
from dataclasses import dataclass

_GRADER = (
    r"(?:(?:ai|llm|automated|automatic|expert|human|large|language|helpful|fair|strict|honest)[ -]){0,4}"
    r"(?:judges?|graders?|evaluators?|scorers?|raters?|assistants?|chatbots?|llms?|"
    r"(?:language|judge|reward|scoring|grading) models?)"
)
_BEST_MARK = (
    r"(?:(?:full|maximum|max|maximal|highest|perfect|top|best)(?:[ -]possible)?[ -]"
    r"(?:scores?|ratings?|grades?|credits?)|(?:full|perfect|top)[ -](?:marks?|points?))"
)
_MARK = r"(?:scores?|marks?|ratings?|grades?|points?)"
_GIVE = (
    r"(?:give|giving|award|assign|return|output|report|respond(?: only)? with|answer with|reply with|"
    r"set|grant|deserves?|merits?|earns?|scores?|rates?|grades?)"
)
_THING = (
    r"(?:it|this|me|us|everything|(?:this|the|my|our|each|every|any|all)(?: of)?(?: the| these| six| its)*"
    r"(?: \w+)? ?(?:reports?|discussions?|texts?|answers?|responses?|submissions?|outputs?|"
    r"criteri(?:a|on)|claims?|forecasts?|categor(?:y|ies)|dimensions?|items?))"
)
# A ten that is a score: not "10 percent", "10 to 15 kt", "10 more days", "10 out of 10 members".
_SCORE_ENDS = (
    r"(?=\W*$|\s*[.!?,;:)\"'\]](?!\d)|\s+(?:on|please|because|since|across|points?|and\b(?! \d)|"
    r"(?:for|in|to) (?:each|every|all|everything|this|it)\b))"
)
_TEN = r"(?:10|ten)s?" + _SCORE_ENDS
_TEN_OF_TEN = r"(?:10|ten)\s*(?:/|out\s+of)\s*(?:10|ten)" + _SCORE_ENDS
_LABEL = r"(?:supported|refuted|neutral|entailed)"
_INSTRUCTIONS = (
    r"(?:instruct(?:ions?|ed)|prompts?|rules?|guidelines?|rubrics?|directives?|anchors?)"
)

_SPEAKS_TO_THE_JUDGE = [
    # Orders to drop one's orders.
    r"(?<!not )(?<!never )(?<!n't )\b(?:ignor\w*|disregard\w*|forget|overrid\w*|bypass\w*|do not follow|"
    r"don't follow|stop following|never mind)\b[^.]{0,40}\b(?:previous|prior|above|earlier|preceding|"
    r"your|system|original|existing|all|any|these|those|other)\b[^.]{0,30}\b"
    rf"(?:{_INSTRUCTIONS}|(?:scoring |grading )?criteria|reference (?:text|report))\b",
    r"(?<!not )(?<!never )\b(?:ignor|disregard)\w* (?:the |your )?(?:anchors?|instructions?|prompt)\b",
    r"\b(?:new|revised|hidden|secret) (?:system )?(?:instructions?|prompts?|task|directives?)\b\s*"
    r"(?::|for\b|follow|override)",
    r"\b(?:system|developer|hidden|judge(?:'s)?|grading|scoring|evaluation) prompt\b",
    r"\b(?:prompt injection|jailbreak|developer mode|god mode|debug mode)\b",
    # Somebody who judges is addressed or made.
    rf"\b(?:as|dear|hello|hey|hi|attention|note (?:to|for)|message (?:to|for)|instructions? (?:to|for)|"
    rf"important for|tell|remind) (?:an? |the |your |any |all |our )?{_GRADER}\b(?! of\b)",
    rf"\byou(?:'re| are)(?: now)? (?:an? |the |acting as (?:an? |the )?)?(?:\w+ ){{0,2}}{_GRADER}\b"
    r"(?! of\b)",
    rf"\b(?:the |this |your |any |every ){_GRADER} (?:must|should|shall|will|has to|have to|needs? to|"
    r"is to|are to|is (?:asked|instructed|told|required)|can|may|ought)\b",
    rf"^\W*{_GRADER}\s*[:,]",
    # A score is asked for, or claimed.
    rf"\b{_GIVE}\b[^.]{{0,40}}?\b{_TEN_OF_TEN}",
    rf"\b{_GIVE}\b[^.]{{0,40}}?\b{_BEST_MARK}\b",
    rf"\b{_GIVE}\b[^.]{{0,40}}?\b{_MARK}(?: of| is|:|=)?\s*(?:an? )?{_TEN}",
    rf"\b{_GIVE} {_THING}(?:[^.]{{0,30}}?\b(?:an?|with|at|as|the))?:? (?:perfect )?{_TEN}",
    rf"\b{_GIVE} (?:an? )?(?:10s?|tens?)(?: points?)? (?:for|to|on) (?:each|every|all|everything)\b",
    rf"\b(?:all|every|each|any) (?:scores?|ratings?|grades?|criteri(?:a|on))\b[^.]{{0,20}}\W{_TEN}",
    r"\b(?:scores?|ratings?|grades?)\s*[=:]\s*(?:10|ten)\b",
    r"^\W*scores?\s*:[^.]*\b(?:10|ten)\b",
    r"\b(?:now|then|please) (?:score|rate|grade) (?:it|this|the (?:report|discussion))\b",
    rf"^\W*(?:please |kindly |just |then |now |simply )*{_GIVE} (?:an? |only )?(?:10s?|tens?)\W*$",
    r"^\W*(?:[\w /-]{0,40} )?(?:score|rating|grade|mark|verdict|result)s?\W{0,4}[:=]\W*"
    r"(?:10|ten|9|nine|\d+\s*/\s*10|perfect|supported)\W*$",
    rf"\b{_MARK} (?:of|is|=|:|should be|must be|for [^.]{{0,40}} is) (?:an? )?(?:{_TEN_OF_TEN}|{_TEN})",
    r"\b(?:please|kindly|you (?:must|should|shall|will|have to|need to|are (?:required|instructed|asked) to)"
    r"|be sure to|make sure (?:to|you))\b[^.]{0,30}\b(?:score|rate|grade|label|classify|judge|evaluate"
    rf"|award|reward)\b {_THING}",
    # Labels are asked for, or claimed.
    r"\b(?:claims?|verdicts?|labels?|labell?ed)\b(?:[^.]{0,40}\b(?:is|are|as|be|being|to))?\W{1,4}"
    rf"(?:fully |entirely |all )?{_LABEL}\b(?! by (?!the (?:reference|text|report)))",
    r"\b(?:label|mark|classify|tag|count|treat|consider) (?:all|every|each|any|these)\b[^.]{0,30}"
    r"\b(?:claims?|statements?|sentences?|criteria)\b[^.]{0,40}\b(?:as|supported|true|correct|met)\b",
    rf"\b(?:label|mark|classify|tag|count|treat) everything(?: as)? (?:{_LABEL}|true|correct)\b",
    rf"\b(?:answer|respond|reply|say|write|return|output)\W{{1,3}}(?:only |always |with )*{_LABEL}\b(?! by)",
    rf"\bevery(?:thing| sentence| statement)\b[^.]{{0,40}}\b(?:is|are|as|be) (?:fully |entirely )?{_LABEL}\b",
    # The rubric is spoken of: no writer of a report knows of it.
    r"\brubrics?\b",
    r"\b(?:scoring|grading|evaluation|judging|judgement|judgment) (?:criteria|guidelines?|instructions?|"
    r"rules?|scale|task|schema)\b",
    # The reference is spoken of.
    r"\b(?:report|discussion|text|answer|response|submission)\b[^.]{0,40}\b(?:match\w*|agree\w*|identical|"
    r"equal\w*|equivalent|consistent|align\w*|verified|validated|approved|reviewed|correct)\b[^.]{0,40}\b"
    r"(?:reference (?:text|report|discussion|answer|forecast)|the reference\b(?! to\b)|gold (?:answer|standard)|"
    r"ground[ -]truth (?:text|report|discussion|answer|forecast))",
]
_HOSTILE = re.compile("|".join(f"(?:{pattern})" for pattern in _SPEAKS_TO_THE_JUDGE), re.IGNORECASE)

_ROLE = re.compile(
    r"^[ \t]*[#>*\[<\-_ \t]{0,6}(?:"
    r"SYSTEM[ \t]*[\]>*_]{0,3}[ \t]*:"
    r"|(?i:(?:assistant|user|developer|human|judge|grader|evaluator|rater)s?"
    r"(?:[ \t]+(?:message|prompt|note|override|instructions?|response|output))?[ \t]*[\]>*_]{0,3}[ \t]*:)"
    r"|(?i:system[ \t]+(?:message|prompt|note|override|instructions?|update|notice)[ \t]*[\]>*_]{0,3}[ \t]*:?)"
    r"|(?i:\[/?(?:system|assistant|user|instructions?)\])"
    r"|(?i:#{2,}[ \t]*(?:system|assistant|user|instructions?|response)[ \t]*(?::|$))"
    r").*$",
    re.MULTILINE,
)
_DELIMITER = re.compile(
    r"^[ \t]*[<>=\-#*\[\](){}|~_]{0,8}[ \t]*(?:end|begin|start|close)[ \t]+(?:of[ \t]+)?(?:the[ \t]+)?"
    r"(?:report|reference|claims?|candidate|text|input|data|document|prompt|instructions?|quot\w+)"
    r"(?:[ \t]+[0-9a-f]{6,64})?[ \t]*[<>=\-#*\[\](){}|~_.:]{0,8}[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)
_TAG = re.compile(
    r"</?(?:report|reference|claims?|text|document|context|system|user|assistant|human|instructions?|"
    r"input|output|answer|think|thinking|reasoning|analysis|tool_call|tool_response|verdicts?|score)"
    r"(?:\s[^<>]{0,80})?/?>",
    re.IGNORECASE,
)
_TEMPLATE = re.compile(
    r"<\|[^<>|\n]{0,60}\|>|<\uff5c[^<>\n]{0,60}\uff5c>|\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|"
    r"TOOL_CALLS|TOOL_RESULTS|IMG|ARGS)\]|<</?SYS>>|</?s>|<(?:start|end)_of_(?:turn|image)>|"
    r"<(?:bos|eos|pad|unk|mask)>|<unused\d+>|<channel\|>|<\|(?:channel|turn|think)>",
    re.IGNORECASE,
)
_JSON_KEY = re.compile(
    r"""[{,]\s*["'](?:scores?|label|verdicts?|ratings?|rationale|criteri(?:a|on)|rubric|grades?|"""
    r"""evidence|claims?|judg\w+|id)["']\s*:""",
    re.IGNORECASE,
)
_FENCE = re.compile(r"`{3,}|~{3,}")
_ANGLES = re.compile(r"<[<|]+|>{2,}|\|+>")
# Longer runs than any table has would only cost time.
_RUNS = re.compile(r"([ \t]{80}|\n{8})\s+")
# A sentence ends at .!? before a blank or a line's end, at "..." and at an empty line; NWS texts
# are wrapped, so that a line's end alone is none.
_END = re.compile(r"(?<=[.!?])[\"')\]*_]*(?=\s)|\n[ \t]*\n|\n(?=[ \t]*(?:[-*•#>]|\d+[.)]) )")
_LOOKALIKES = str.maketrans(
    "аеорсухіјѕһԁԛԝАВЕКМНОРСТХІЈЅαεικνορτυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧ’‘“”‐‑‒",
    "aeopcyxijshdqwABEKMHOPCTXIJSaeiknoptuxABEZHIKMNOPTYX''\"\"---",
)


_ROUNDS = 8


@dataclass(frozen=True, slots=True)
class Harmless:
    """A text that a judge may see.

    Attributes:
        text: The text that is left.
        removed: What was cut out, in order: sentences, lines, tokens. () for an honest text.
    """

    text: str
    removed: tuple[str, ...] = ()


@functools.lru_cache(maxsize=1024)
def harmless(text: str) -> Harmless:
    """Take out of a text what speaks to the judge or could end its quotation.

    Harmless text stays as it is, but for control, zero-width and bidirectional characters,
    ``<<``, ``>>`` and code fences. Doing it twice changes nothing more.

    Args:
        text: Any text; it is not trusted.
    """
    removed: list[str] = []
    left = text
    # What is cut may have stood between two halves of something else; every round shortens.
    for number in itertools.count():
        before = left
        if number == _ROUNDS:
            # Nested so deep on purpose: without brackets nothing is left to nest.
            left = re.sub(r"[<>{}\[\]|`~]", "", left)
        left = _once(left, removed)
        if left == before:
            break
    return Harmless(left, tuple(removed))


def _once(text: str, removed: list[str]) -> str:
    text = _visible(text)
    text = _without_json(text, removed)
    for pattern in (_TEMPLATE, _TAG, _ROLE, _DELIMITER):
        text = _cut(pattern, text, removed)
    text = _ANGLES.sub(lambda found: found[0][0], _FENCE.sub("''", text))
    return _without_hostile(text, removed)


def _visible(text: str) -> str:
    """Without control, zero-width, bidirectional, private and surrogate characters."""
    seen = "".join(
        c
        for c in re.sub(r"\r+\n?", "\n", text)
        if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co", "Cn")
    )
    return _RUNS.sub(r"\1", seen)


def _cut(pattern: re.Pattern[str], text: str, removed: list[str]) -> str:
    def note(found: re.Match[str]) -> str:
        removed.append(found[0].strip())
        return ""

    return pattern.sub(note, text)


def _without_json(text: str, removed: list[str]) -> str:
    """Without objects that have a verdict's keys.

    They are cut from their brace to its partner or, lacking one, to the end of the paragraph.
    """
    position = 0
    while found := _JSON_KEY.search(text, position):
        # An earlier brace may be the outer one.
        start = text.rfind("{", 0, found.start() + 1)
        if start < 0:
            position = found.end()
            continue
        while (outer := text.rfind("{", 0, start)) >= 0 and "}" not in text[outer:start]:
            start = outer
        depth, end = 0, start
        while end < len(text):
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
            if depth == 0 or (depth > 0 and text.startswith("\n\n", end)):
                break
        removed.append(text[start:end].strip())
        text = text[:start] + text[end:]
        position = start
    return text


def _without_hostile(text: str, removed: list[str]) -> str:
    kept: list[str] = []
    start = 0
    for end in [*(found.end() for found in _END.finditer(text)), len(text)]:
        sentence = text[start:end]
        start = end
        if _is_hostile(sentence):
            removed.append(" ".join(sentence.split()))
            # The space around it stays: paragraphs don't grow together.
            kept.append(sentence[: len(sentence) - len(sentence.lstrip())])
            kept.append(sentence[len(sentence.rstrip()) :])
        else:
            kept.append(sentence)
    return "".join(kept)


# A text is gone through twice at least, and a report's claims say its sentences again.
@functools.lru_cache(maxsize=4096)
def _is_hostile(sentence: str) -> bool:
    folded = unicodedata.normalize("NFKC", sentence).translate(_LOOKALIKES)
    folded = " ".join(folded.split())
    if _HOSTILE.search(folded):
        return True
    # Marks between letters or words: "i g n o r e", "ignore_all_previous", "**ig**nore".
    bare = " ".join(re.sub(r"[*_`~|]+", " ", folded).split())
    joined = re.sub(r"[*_`~|]+", "", folded)
    spaced = re.sub(
        r"\b(?:\w[ .\-]){3,}\w\b", lambda found: re.sub(r"[ .\-]", "", found[0]), folded
    )
    return any(other != folded and _HOSTILE.search(other) for other in (bare, joined, spaced))
