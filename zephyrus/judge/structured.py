"""What a judge's reply must look like, and how it is read out of whatever the model wrote.

Every request has an id, made from everything that is judged; a reply counts only if its JSON
object carries that id. A verdict that stands in the judged text itself and is quoted by the model
can't carry it: the id depends on that very text.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, create_model

from zephyrus.judge.base import LEVELS, Label
from zephyrus.policy.recovery import split_reasoning

ID_LENGTH = 12
"""Hexadecimal digits of a request's id."""
MOST_CLAIMS = 120
"""A list of claims is no longer where the server holds to the schema: some models find no end."""
TIGHT_LENGTH = 240
TIGHT_CLAIMS = 12
"""Characters of a text, and claims, in a tight schema."""
_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=lambda pairs: _no_twins(pairs))
_COMMA = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])', re.DOTALL)
_MOST_REPAIRS = 32
_MOST_BRACES = 2000
_LENGTH = 400_000

Answer = TypeVar("Answer", bound=BaseModel)


class UnreadableError(Exception):
    """A reply that holds no answer; the message says what is wrong with it, for the next ask."""


def request_id(*parts: str) -> str:
    """The id of a request: a hash of everything judged, and in none of the parts.

    Args:
        *parts: Prompt version, texts, pass, ….
    """
    number = 0
    while True:
        digest = hashlib.blake2b(digest_size=ID_LENGTH // 2, person=b"zephyrus judge")
        for part in (str(number), *parts):
            data = part.encode("utf-8", "surrogatepass")
            digest.update(len(data).to_bytes(8, "big"))
            digest.update(data)
        found = digest.hexdigest()
        if not any(found in part for part in parts):
            return found
        number += 1


def _label(value: Any) -> Any:
    """Forgives case and punctuation, nothing else: "**Supported**." is "SUPPORTED"."""
    return re.sub(r"[\W_]+", "", value).upper() if isinstance(value, str) else value


def _integer(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("a score is an integer")
    return value


Score = Annotated[int, BeforeValidator(_integer), Field(ge=LEVELS[0], le=LEVELS[-1])]
_Text = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class ScoredCriterion(_Part):
    """A criterion's score, after its rationale."""

    rationale: _Text
    score: Score


class WrittenClaim(_Part):
    """A claim, after the words that it is taken from."""

    quote: _Text = ""
    claim: Annotated[str, Field(min_length=1)]


class ClaimsAnswer(_Part):
    """The reply to a request for claims."""

    id: str
    claims: list[WrittenClaim]


class LabelledClaim(_Part):
    """One claim's verdict."""

    index: int
    rationale: _Text = ""
    evidence: _Text = ""
    label: Annotated[Label, BeforeValidator(_label)]


class VerdictsAnswer(_Part):
    """The reply to a request for verdicts. Each is checked by itself, so that one can be missing."""

    id: str
    verdicts: list[Any]

    def readable(self) -> dict[int, LabelledClaim]:
        """The readable verdicts by index, without those whose index came with two labels."""
        found: dict[int, LabelledClaim] = {}
        torn: set[int] = set()
        for row in self.verdicts:
            try:
                verdict = LabelledClaim.model_validate(row)
            except ValidationError:
                continue
            first = found.setdefault(verdict.index, verdict)
            if first.label != verdict.label:
                torn.add(verdict.index)
        return {index: verdict for index, verdict in found.items() if index not in torn}


@functools.lru_cache(maxsize=64)
def rubric_answer(keys: tuple[str, ...]) -> type[BaseModel]:
    """The model of a reply that scores these criteria: ``id`` and ``criteria``, an object by key.

    To make a class takes as long as all else that a request costs here, so it is kept.
    """
    fields: dict[str, Any] = {
        f"criterion_{i}": (ScoredCriterion, Field(alias=key)) for i, key in enumerate(keys)
    }
    criteria = create_model("Criteria", __base__=_Part, **fields)
    return create_model("RubricAnswer", __base__=_Part, id=(str, ...), criteria=(criteria, ...))


def rubric_schema(keys: Sequence[str]) -> dict[str, Any]:
    """JSON schema of a rubric reply; the rationale is written before the score."""
    scored = _object(rationale={"type": "string"}, score={"type": "integer", "enum": list(LEVELS)})
    return _object(id={"type": "string"}, criteria=_object(**dict.fromkeys(keys, scored)))


def claims_schema() -> dict[str, Any]:
    """JSON schema of a reply with claims."""
    row = _object(quote={"type": "string"}, claim={"type": "string"})
    claims = {"type": "array", "items": row, "maxItems": MOST_CLAIMS}
    return _object(id={"type": "string"}, claims=claims)


def verdicts_schema(count: int) -> dict[str, Any]:
    """JSON schema of a reply with so many verdicts; the label comes last."""
    row = _object(
        index={"type": "integer"},
        rationale={"type": "string"},
        evidence={"type": "string"},
        label={"type": "string", "enum": [str(label) for label in Label]},
    )
    verdicts = {"type": "array", "items": row, "minItems": count, "maxItems": count}
    return _object(id={"type": "string"}, verdicts=verdicts)


def tight(schema: dict[str, Any], wanted: str) -> dict[str, Any]:
    """A schema that holds a request's id, and bounds every text.

    For small models that can't copy an id or don't find an end. A model that only repeats a
    verdict out of a report would then be given the right id by the server, so this is an option.
    """
    if schema["type"] == "object":
        inner = {key: tight(value, wanted) for key, value in schema["properties"].items()}
        if "id" in inner:
            inner["id"] = {"type": "string", "enum": [wanted]}
        return {**schema, "properties": inner}
    if schema["type"] == "array":
        most = {} if "minItems" in schema else {"maxItems": TIGHT_CLAIMS}
        return {**schema, "items": tight(schema["items"], wanted), **most}
    if schema["type"] == "string" and "enum" not in schema:
        return {**schema, "maxLength": TIGHT_LENGTH}
    return schema


def response_format(mode: str, name: str, schema: dict[str, Any]) -> dict[str, Any]:
    """The request's ``response_format`` for a mode of `zephyrus.judge.table.JudgeEntry`.

    The schema is the same for all requests of a kind (the id is no part of it): servers prepare
    and keep it by its text.
    """
    if mode == "none":
        return {}
    if mode == "json_object":
        return {"response_format": {"type": "json_object"}}
    wrapped = {"name": name, "strict": True, "schema": schema}
    return {"response_format": {"type": "json_schema", "json_schema": wrapped}}


def reply_text(data: Any) -> str:
    """The text of a chat completion, without reasoning.

    Raises:
        UnreadableError: If it is none, was cut off, or says nothing.
    """
    try:
        choice = data["choices"][0]
        message = choice["message"]
        content = message.get("content") or ""
        if isinstance(content, list):
            content = "".join(part.get("text") or "" for part in content)
        reasoning = message.get("reasoning_content") or message.get("reasoning") or ""
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise UnreadableError(f"no chat completion ({type(error).__name__})") from None
    if choice.get("finish_reason") == "length":
        raise UnreadableError("it was cut off: be brief")
    _, text = split_reasoning(str(content))
    # vLLM's reasoning parsers file an answer without a thought as reasoning (vllm#48863, #19222).
    text = text if text.strip() else str(reasoning)
    if not text.strip():
        raise UnreadableError("it was empty")
    return text[:_LENGTH]


def read_answer(text: str, answer: type[Answer], wanted: str) -> Answer:
    """The answer in a reply: its last JSON object with the right id.

    Args:
        text: What the model wrote: JSON, perhaps with prose, code fences or trailing commas.
        answer: What the object must be.
        wanted: The request's id.

    Raises:
        UnreadableError: If there is none, or it is not what was asked for.
    """
    found: dict[str, Any] | None = None
    seen = False
    for data in json_objects(text):
        seen = True
        if str(data.get("id", "")).strip().lower() == wanted:
            found = data
    if found is None:
        what = "no JSON object has the right id" if seen else "there was no JSON object"
        raise UnreadableError(what)
    try:
        return answer.model_validate({**found, "id": wanted})
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise UnreadableError(f"{where}: {first['msg']}") from None


def json_objects(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects of a text, outermost ones only, in order; never raises on any text."""
    position = text.find("{")
    repairs = 0
    for _ in range(_MOST_BRACES):
        if position < 0:
            return
        data, end = _decode(text, position)
        if data is None and repairs < _MOST_REPAIRS:
            # Only a trailing comma is mended: a guess at anything else could change a score.
            repairs += 1
            rest = text[position:]
            mended = _COMMA.sub(lambda found: found[1] or " ", rest)
            # A comma became a blank, so that positions stay what they were.
            data, end = _decode(mended, 0)
            end += position
        if data is None:
            position = text.find("{", position + 1)
        else:
            yield data
            position = text.find("{", end)


def _decode(text: str, position: int) -> tuple[dict[str, Any] | None, int]:
    try:
        data, end = _DECODER.raw_decode(text, position)
    except (ValueError, RecursionError):
        return None, position
    return data, end


def _no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice: which value is meant?")
    return found


def _object(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
