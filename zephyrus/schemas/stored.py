"""The shapes of run folders, banks and judge results, as pydantic models of what is written.

Where the code has a type that is written as it is (`CallRecord`, `Usage`, `Limits`, `Task`), it is
used here; the others are written out, and tests hold them against files that were really written.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from zephyrus.judge.assess import VERSION
from zephyrus.judge.base import Label
from zephyrus.judge.discussion import ClaimOptions
from zephyrus.limits import Limits, StopReason
from zephyrus.messages import Role, Usage
from zephyrus.trajectory import CallRecord


def maybe() -> Any:
    """A key that may be missing."""
    return Field(default=None, json_schema_extra={"optional": True})


class Function(BaseModel):
    """What is called: ``arguments`` is the text that the model wrote, valid JSON or not."""

    name: str
    arguments: str


class StoredCall(BaseModel):
    """A tool call in an assistant message, as the chat completions API has it."""

    id: str
    type: Literal["function"]
    function: Function


class ImageUrl(BaseModel):
    """A PNG as a data URL."""

    url: str = Field(pattern="^data:image/png;base64,")


class ContentPart(BaseModel):
    """A piece of a message with pictures."""

    type: Literal["text", "image_url"]
    text: str = maybe()
    image_url: ImageUrl = maybe()


class StoredMessage(BaseModel):
    """A chat message; ``image_alts`` says what its pictures show, in their order."""

    role: Role
    content: str | list[ContentPart]
    reasoning_content: str = maybe()
    tool_calls: list[StoredCall] = maybe()
    tool_call_id: str = maybe()
    name: str = maybe()
    image_alts: list[str] = maybe()


class TaskFacts(BaseModel):
    """What a rollout keeps of its task."""

    template: str = maybe()
    answer_type: str = maybe()
    split: str = maybe()
    gold: Any = maybe()
    required_tools: list[str] = maybe()


class StoredRollout(BaseModel):
    """One rollout: a line of ``trajectories.jsonl``, or of ``errors.jsonl`` if it broke."""

    key: tuple[str, int, int] = Field(description="Task, seed, repeat.")
    messages: list[StoredMessage]
    calls: list[CallRecord]
    turns: int
    answer: str | None
    rewards: dict[str, float] | None
    stop: StopReason | None
    error: str | None
    usage: Usage
    recovered_calls: int
    seconds: float
    policy_seconds: float
    task: TaskFacts
    unscored: str | None


class EnvFacts(BaseModel, extra="allow"):
    """The environment, with all its options."""

    name: str
    split: str = maybe()
    compact: bool = maybe()
    tools: list[str] = maybe()
    prompt_sha256: str = maybe()


class PolicyFacts(BaseModel, extra="allow"):
    """The policy, with how it samples; keys are never written."""

    name: str


class BankFacts(BaseModel):
    """The bank that the tasks come from."""

    name: str
    tasks: int
    sha256: str


class Versions(BaseModel):
    """What wrote it last."""

    zephyrus: str
    python: str


class RunConfig(BaseModel):
    """``config.yaml`` of a run folder: what was run."""

    env: EnvFacts
    policy: PolicyFacts
    seed: int
    n: int
    repeats: int
    limits: Limits
    bank: BankFacts
    versions: Versions
    kept_for: str = maybe()


class GroupAccuracy(BaseModel):
    """The accuracy of some rollouts, with its 95 % interval."""

    n: int
    accuracy: float | None
    accuracy_ci95: tuple[float, float] | None


class ToolCounts(BaseModel):
    """Calls of one tool."""

    calls: int
    failed: int


class Turns(BaseModel):
    """Assistant messages."""

    total: int
    mean: float | None


class Tokens(BaseModel):
    """Of all turns."""

    prompt: int
    completion: int


class Seconds(BaseModel):
    """Wall-clock time of a rollout, and of it in the policy."""

    mean: float | None
    policy: float | None


class Broken(BaseModel):
    """Rollouts that broke and have not finished since."""

    errors: int
    reasons: dict[str, int]


class Unscored(BaseModel):
    """Finished rollouts for which no judgement could be had."""

    rollouts: int
    reasons: dict[str, int]


class RunSummary(BaseModel):
    """``summary.json`` of a run folder; made anew from the rollouts when it is out of date."""

    rollouts: int
    scored: int
    tasks: int
    accuracy: float | None
    accuracy_ci95: tuple[float, float] | None
    rewards: dict[str, float | None]
    templates: dict[str, GroupAccuracy]
    answer_types: dict[str, GroupAccuracy]
    required_tool_rate: float | None
    failure_rate: float | None
    tools_per_turn: float | None
    tool_calls: int
    tools: dict[str, ToolCounts]
    errors: dict[str, int]
    recovered_calls: int
    turns: Turns
    tokens: Tokens
    seconds: Seconds
    stop_reasons: dict[str, int]
    infrastructure: Broken
    unscored: Unscored


class StoredRubric(BaseModel):
    """What a rubric's criteria were given."""

    rubric: str
    scores: dict[str, int]
    rationale: dict[str, str]


class StoredVerdict(BaseModel):
    """A claim and its label."""

    claim: str
    quote: str
    label: Label
    evidence: str
    rationale: str


class StoredAssessment(BaseModel):
    """What a judge said of a report."""

    version: Literal[1]
    judge: str
    scoring_pass: int
    options: ClaimOptions
    parts: list[str]
    empty: bool
    rubric: StoredRubric | None
    report_verdicts: list[StoredVerdict] | None
    reference_verdicts: list[StoredVerdict] | None
    missing: dict[str, str]
    notes: dict[str, int]


class SettingsLine(BaseModel):
    """How a judge was asked; above the judgements that were made so."""

    settings: str
    judge: str
    described: dict[str, Any]
    rubric: dict[str, Any]
    options: dict[str, Any]
    deterministic: bool


class JudgementLine(BaseModel):
    """What a judge said of one rollout in one scoring pass."""

    key: tuple[str, int, int, str, int, str] = Field(
        description="Task, seed, repeat, judge, scoring pass, settings."
    )
    texts: str
    seconds: float
    call: str
    usage: dict[str, float]
    assessment: StoredAssessment


class StoredScore(BaseModel):
    """A mean over events, with its bootstrap interval."""

    mean: float | None
    ci95: tuple[float, float] | None
    events: int


class AverageScore(StoredScore):
    """The mean over several scores."""

    scores: int


class JudgeCounts(BaseModel):
    """Judgements of one judge."""

    wanted: int
    judged: int
    missing: int
    invalid: int
    empty: int


class JudgeSettings(BaseModel):
    """How a judge was asked."""

    id: str
    judge: str
    described: dict[str, Any]
    rubric: dict[str, Any]
    options: dict[str, Any]
    deterministic: bool


class StoredJudgeResult(BaseModel):
    """One judge's part of an evaluation; scores of parts that were not asked for are missing."""

    rubric: StoredScore = maybe()
    f1: StoredScore = maybe()
    precision: StoredScore = maybe()
    recall: StoredScore = maybe()
    neutral_rate: StoredScore = maybe()
    criteria: dict[str, StoredScore]
    labels: dict[str, dict[str, int]]
    passes: int
    counts: JudgeCounts
    missing_reasons: dict[str, int]
    usage: dict[str, float]
    seconds: float
    settings: JudgeSettings


class StoredChange(BaseModel):
    """A score against the base run's."""

    difference: float
    difference_ci95: tuple[float, float] | None
    relative: float | None
    relative_ci95: tuple[float, float] | None
    events: int


class BaseRun(BaseModel):
    """The comparison with a base run."""

    run: str
    judges: dict[str, dict[str, StoredChange]]
    rewards: dict[str, StoredChange]
    avg: StoredChange | None


class Bootstrap(BaseModel):
    """How intervals were made."""

    method: str
    resamples: int
    seed: int
    level: float


class StoredEvaluation(BaseModel):
    """``evaluation.json`` of a run folder: the numbers of ``judgements.jsonl``."""

    run: str
    policy: str
    env: str
    bank_sha256: str
    events: int
    rollouts: int
    broken_rollouts: int
    judges: dict[str, StoredJudgeResult]
    avg: AverageScore
    missing: int
    rewards: dict[str, StoredScore]
    options: ClaimOptions
    parts: list[str]
    bootstrap: Bootstrap
    notes: list[str]
    versions: Versions
    base: BaseRun = maybe()


class AuditItem(BaseModel):
    """A claim for an expert to label: a line of ``zephyrus judge export`` as JSON lines."""

    item: str
    event: str
    claim: str
    quote: str
    text: str
    label: str
    comment: str


assert VERSION == 1, "the schema of an assessment is that of version 1"
