"""A language model as a judge, behind an OpenAI-compatible endpoint.

Every answer is checked, kept on disk before it is used, and asked for again (with another seed and
a note of what was wrong) when it can't be read. Only then is the judgement missing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from zephyrus.errors import JudgeError
from zephyrus.judge.asking import Asking
from zephyrus.judge.base import (
    LEVELS,
    Brief,
    Claim,
    Criterion,
    Judge,
    JudgeUsage,
    Label,
    RubricScores,
    Verdict,
)
from zephyrus.judge.cache import JudgeCache, cache_key
from zephyrus.judge.guard import harmless
from zephyrus.judge.prompts import (
    NOTE,
    PROMPT_HASH,
    PROMPT_VERSION,
    claims_messages,
    rubric_messages,
    verdicts_messages,
)
from zephyrus.judge.structured import (
    ClaimsAnswer,
    LabelledClaim,
    UnreadableError,
    VerdictsAnswer,
    claims_schema,
    read_answer,
    reply_text,
    request_id,
    rubric_answer,
    rubric_schema,
    tight,
    verdicts_schema,
)
from zephyrus.judge.table import JudgeEntry
from zephyrus.policy.seeds import stable_seed

T = TypeVar("T", bound=BaseModel)


class LLMJudge(Judge):
    """See `zephyrus.judge.base.Judge`; `zephyrus.judge.make_judge` is the usual way here.

    All texts go through `zephyrus.judge.guard.harmless` first. A report of which nothing is left
    gets the lowest scores without being asked for; so does an empty one.
    """

    deterministic = False

    def __init__(
        self,
        entry: JudgeEntry,
        name: str,
        *,
        cache: JudgeCache | None = None,
        concurrency: int = 256,
    ) -> None:
        """Prepare; nothing is asked yet.

        Args:
            entry: Endpoint, model, sampling, options.
            name: What the judge is called; it must hold no address, which may hold a password.
            cache: Where judgements are kept, if anywhere.
            concurrency: How many requests may be under way at once.
        """
        self.entry = entry
        self.name = name
        self.cache = cache
        self.usage = JudgeUsage()
        self.asking = Asking(entry, name, concurrency, self.usage)

    async def claims(self, text: str, *, scoring_pass: int = 0) -> tuple[Claim, ...]:
        """See `Judge.claims`. A quote is kept only if the text has it."""
        shown = harmless(text).text.strip()
        if not shown:
            return ()
        key = self.key("claims", scoring_pass, text=shown)
        wanted = request_id(key, shown)
        messages = claims_messages(wanted, shown)
        answer = await self.judgement(
            key, wanted, messages, ClaimsAnswer, "claims", claims_schema()
        )
        flat = _flat(text)
        written = [(_line(row.claim), row.quote) for row in answer.claims]
        # A model may write down what the text would have it say.
        honest = [row for row in written if row[0] and not harmless(row[0]).removed]
        return tuple(Claim(claim, _found(quote, flat)) for claim, quote in honest)

    async def verdicts(
        self, claims: Sequence[Claim], text: str, *, scoring_pass: int = 0
    ) -> tuple[Verdict, ...]:
        """See `Judge.verdicts`.

        Each verdict is kept by itself: what is missing from an answer is asked for again in
        smaller and smaller requests, and after a crash only what is missing is asked for.
        """
        shown = harmless(text).text.strip()
        asked = {claim: _line(harmless(claim.text).text) for claim in claims}
        lines = list(dict.fromkeys(line for line in asked.values() if line)) if shown else []
        size = self.entry.claims_per_request
        parts = [lines[i : i + size] for i in range(0, len(lines), size)]
        labelled: dict[str, LabelledClaim] = {}
        for part in await _all(self._label(part, shown, scoring_pass) for part in parts):
            labelled |= part
        flat = _flat(text)
        nothing = LabelledClaim(
            index=0, label=Label.NEUTRAL, rationale="not asked: nothing is left of it or the text"
        )
        found = []
        for claim in claims:
            row = labelled.get(asked[claim], nothing)
            found.append(Verdict(claim, row.label, _found(row.evidence, flat), row.rationale))
        return tuple(found)

    async def rubric(self, brief: Brief, *, scoring_pass: int = 0) -> RubricScores:
        """See `Judge.rubric`: one request, or one for each criterion if the entry says so."""
        criteria = brief.rubric.criteria
        report = harmless(brief.report).text.strip()
        if not report:
            keys = [criterion.key for criterion in criteria]
            why = "not asked: there is no report"
            return RubricScores(
                brief.rubric.id, dict.fromkeys(keys, LEVELS[0]), dict.fromkeys(keys, why)
            )
        parts = [(c,) for c in criteria] if self.entry.per_criterion else [criteria]
        scores: dict[str, int] = {}
        rationale: dict[str, str] = {}
        for rows in await _all(self._score(brief, report, p, scoring_pass) for p in parts):
            for name, row in rows.items():
                scores[name], rationale[name] = row["score"], row["rationale"]
        return RubricScores(brief.rubric.id, scores, rationale)

    async def check(self) -> None:
        """See `Judge.check`: asks for the list of models, briefly."""
        await self.asking.endpoint.check()

    async def close(self) -> None:
        """Close the connections and the cache."""
        await self.asking.close()
        if self.cache is not None:
            self.cache.close()

    def describe(self) -> dict[str, Any]:
        """See `Judge.describe`. Neither the API key nor a password in the address is in it."""
        entry = self.entry.model_dump(exclude={"notes", "price_prompt", "price_completion"})
        return {
            "name": self.name,
            **entry,
            "base_url": self.asking.endpoint.address,
            "prompt_version": PROMPT_VERSION,
            "prompt_hash": PROMPT_HASH,
        }

    async def _score(
        self, brief: Brief, report: str, criteria: Sequence[Criterion], scoring_pass: int
    ) -> dict[str, dict[str, Any]]:
        reference = harmless(brief.reference).text.strip()
        context = harmless(brief.context).text.strip()
        keys = [criterion.key for criterion in criteria]
        rubric = {
            "id": brief.rubric.id,
            "instructions": brief.rubric.instructions,
            "criteria": [
                [c.key, c.name, c.definition, sorted(c.anchors.items())] for c in criteria
            ],
        }
        key = self.key(
            "rubric", scoring_pass, text=report, reference=reference, context=context, rubric=rubric
        )
        wanted = request_id(key, report, reference, context)
        model = rubric_answer(tuple(keys))
        messages = rubric_messages(wanted, brief.rubric, criteria, report, reference, context)
        answer = await self.judgement(key, wanted, messages, model, "rubric", rubric_schema(keys))
        rows: dict[str, dict[str, Any]] = answer.model_dump(by_alias=True)["criteria"]
        return rows

    async def judgement(
        self,
        key: str,
        wanted: str,
        messages: list[dict[str, str]],
        model: type[T],
        kind: str,
        schema: dict[str, Any],
    ) -> T:
        """One judgement of any kind: from the cache, or asked for and kept.

        Args:
            key: All that it depends on; see `key`.
            wanted: The request's id; see `zephyrus.judge.structured.request_id`.
            messages: What is asked.
            model: What the answer must be, with a field ``id``.
            kind: What it is called, in the cache and to the server.
            schema: JSON schema of the answer.

        Raises:
            JudgeError: If none can be had, after all retries.
        """
        schema = self._schema(schema, wanted)

        async def work() -> T:
            kept = await self._kept({key: {"id": wanted}}, model)
            if key in kept:
                return kept[key]
            attempt = await self._unreadable(key)
            longer, trouble = 1, ""
            for number in range(attempt, attempt + self.entry.asks):
                seed = stable_seed(key, number, bits=32) >> 1
                async with self.asking.room():
                    data, cost = await self.asking.send(
                        _noted(messages, trouble), seed, longer, kind, schema
                    )
                    try:
                        answer = read_answer(reply_text(data), model, wanted)
                    except UnreadableError as error:
                        trouble = str(error)
                        longer *= 2 if "cut off" in trouble else 1
                        await self._count_unreadable(key)
                        continue
                    value = answer.model_dump(mode="json", by_alias=True, exclude={"id"})
                    await self._keep({key: value}, kind, cost)
                    return answer
            raise self._missing(trouble)

        return await self.asking.shared(key, work)

    async def _label(
        self, lines: Sequence[str], text: str, scoring_pass: int
    ) -> dict[str, LabelledClaim]:
        """The verdicts on some claims by their lines; one or more requests."""
        size = self.entry.claims_per_request
        keys = {
            line: self.key("verdict", scoring_pass, text=text, claim=line, size=size)
            for line in lines
        }
        whole = cache_key(keys=sorted(keys.values()))

        async def work() -> dict[str, LabelledClaim]:
            kept = await self._kept({key: {"index": 0} for key in keys.values()}, LabelledClaim)
            done = {line: kept[key] for line, key in keys.items() if key in kept}
            attempt = await self._unreadable(whole)
            longer, trouble = 1, ""
            for number in range(self.entry.asks):
                left = [line for line in lines if line not in done]
                if not left:
                    break
                # What was too much for one answer may fit into several.
                step = max(1, -(-len(left) // 2**number))
                for start in range(0, len(left), step):
                    part = left[start : start + step]
                    try:
                        done |= await self._label_part(
                            part, text, keys, attempt + number, longer, trouble
                        )
                    except UnreadableError as error:
                        trouble = str(error)
                        longer *= 2 if "cut off" in trouble else 1
                if len(done) < len(lines):
                    trouble = trouble or "verdicts were missing or unreadable"
                    await self._count_unreadable(whole)
            if len(done) < len(lines):
                raise self._missing(f"{len(lines) - len(done)} verdicts are missing ({trouble})")
            return done

        return await self.asking.shared(whole, work)

    async def _label_part(
        self,
        lines: Sequence[str],
        text: str,
        keys: dict[str, str],
        number: int,
        longer: int,
        trouble: str,
    ) -> dict[str, LabelledClaim]:
        """Ask once for some verdicts, and keep those that come."""
        part_key = cache_key(keys=[keys[line] for line in lines])
        wanted = request_id(part_key, text, *lines)
        numbers = range(1, len(lines) + 1)
        messages = verdicts_messages(wanted, text, [Claim(line) for line in lines], numbers)
        seed = stable_seed(part_key, number, bits=32) >> 1
        async with self.asking.room():
            data, cost = await self.asking.send(
                _noted(messages, trouble),
                seed,
                longer,
                "verdicts",
                self._schema(verdicts_schema(len(lines)), wanted),
            )
            rows = read_answer(reply_text(data), VerdictsAnswer, wanted).readable()
            found = {line: rows[n] for n, line in zip(numbers, lines, strict=True) if n in rows}
            values = {
                keys[line]: row.model_dump(mode="json", exclude={"index"})
                for line, row in found.items()
            }
            await self._keep(values, "verdict", {**cost, "shared_by": len(values)})
        return found

    def _schema(self, schema: dict[str, Any], wanted: str) -> dict[str, Any]:
        return tight(schema, wanted) if self.entry.tight_schema else schema

    def key(
        self,
        kind: str,
        scoring_pass: int = 0,
        prompts: tuple[str, ...] = (),
        **judged: Any,
    ) -> str:
        """All that a judgement depends on; not the address, so that a server may move.

        Args:
            kind: Of the judgement.
            scoring_pass: Which of several.
            prompts: Version and hash of what is asked, if not `zephyrus.judge.prompts`.
            **judged: Plain values: what is judged.
        """
        return cache_key(
            kind=kind,
            model=self.entry.model,
            prompts=list(prompts or (PROMPT_VERSION, PROMPT_HASH)),
            sampling=self.entry.sampling.model_dump(),
            structured=[self.entry.structured, self.entry.tight_schema],
            scoring_pass=scoring_pass,
            judged=judged,
        )

    async def _kept(self, keys: dict[str, dict[str, Any]], model: type[T]) -> dict[str, T]:
        """What the cache has under these keys, completed by the values that go with each."""
        cache = self.cache
        if cache is None:
            return {}
        found = await asyncio.to_thread(lambda: {key: cache.get(key) for key in keys})
        answers: dict[str, T] = {}
        strange = []
        for key, value in found.items():
            if value is not None:
                try:
                    answers[key] = model.model_validate({**value["answer"], **keys[key]})
                except (ValidationError, TypeError, KeyError):
                    strange.append(key)
        if strange:
            await asyncio.to_thread(cache.drop, strange)
        self.usage.cached += len(answers)
        return answers

    async def _keep(self, answers: dict[str, Any], kind: str, cost: dict[str, Any]) -> None:
        if self.cache is not None and answers:
            about = {"kind": kind, "model": self.entry.model, "usage": cost}
            values = {key: {"answer": answer, **about} for key, answer in answers.items()}
            await asyncio.to_thread(self.cache.put, values)

    async def _unreadable(self, key: str) -> int:
        return 0 if self.cache is None else await asyncio.to_thread(self.cache.unreadable, key)

    async def _count_unreadable(self, key: str) -> None:
        if self.cache is not None:
            await asyncio.to_thread(self.cache.count_unreadable, key)

    def _missing(self, trouble: str) -> JudgeError:
        return JudgeError(
            f"the judge {self.name!r}: no readable answer after {self.entry.asks} asks: {trouble}"
        )


async def _all(works: Any) -> list[Any]:
    """Every result; if some fail the others are finished first: what is sent is paid."""
    done = await asyncio.gather(*works, return_exceptions=True)
    for result in done:
        if isinstance(result, BaseException):
            raise result
    return done


def _noted(messages: list[dict[str, str]], trouble: str) -> list[dict[str, str]]:
    if not trouble:
        return messages
    last = messages[-1]
    return [*messages[:-1], {**last, "content": last["content"] + NOTE.format(trouble=trouble)}]


def _line(text: str) -> str:
    return " ".join(text.split())


def _flat(text: str) -> str:
    return _line(text).casefold()


def _found(quote: str, flat: str) -> str:
    """The quote, if the text (flattened) has it; else ""."""
    quote = _line(quote).strip("\"'“”")
    return quote if quote and quote.casefold() in flat else ""
