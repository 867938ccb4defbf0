"""Make schemas of the types; ``scripts/schemas.py`` writes the files that ship."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from zephyrus.fileformat import KEY, FileFormat

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def formats() -> dict[str, tuple[FileFormat, Any]]:
    """Every kind of file that says its format: by name, the format and the type of the rest."""
    from zephyrus import run, runconfig, task, trajectory
    from zephyrus.curriculum import history, scheduler
    from zephyrus.evaluation import evaluations, judgements
    from zephyrus.schemas import stored, training
    from zephyrus.training import checkpoints

    found: list[tuple[FileFormat, Any]] = [
        (runconfig.FORMAT, stored.RunConfig),
        (trajectory.FORMAT, stored.StoredRollout),
        (run.SUMMARY_FORMAT, stored.RunSummary),
        (task.FORMAT, task.Task),
        (judgements.FORMAT, stored.SettingsLine | stored.JudgementLine),
        (evaluations.FORMAT, stored.StoredEvaluation),
        (scheduler.FORMAT, training.CurriculumState),
        (history.STEP_FORMAT, training.TrainingStep),
        (history.EVALUATION_FORMAT, training.HeldOutEvaluation),
        (history.KEPT_FORMAT, training.KeptReport),
        (checkpoints.FORMAT, training.Checkpoint),
    ]
    return {form.name: (form, kind) for form, kind in found}


def make(name: str, kind: Any, version: str | None = None) -> dict[str, Any]:
    """A JSON Schema of a type as it is written.

    Every key is required but those marked `zephyrus.schemas.stored.maybe`, and there are no others.

    Args:
        name: Of the kind of file.
        kind: The type.
        version: Its format, if files say it.
    """
    made = TypeAdapter(kind).json_schema(mode="serialization")
    for node in _nodes(made):
        if "properties" not in node:
            continue
        node.setdefault("additionalProperties", False)
        parts = node["properties"]
        node["required"] = [key for key, part in parts.items() if not part.pop("optional", False)]
        for part in parts.values():
            part.pop("title", None)
            part.pop("default", None)
    if version is not None:
        for node in _tops(made):
            node["properties"] = {KEY: {"const": version}, **node["properties"]}
            node["required"] = [KEY, *node["required"]]
    return {"$schema": DIALECT, "$id": f"urn:zephyrus:{name}:{version or '0'}", **made}


def every() -> dict[str, dict[str, Any]]:
    """All schemas of this package, by name."""
    from zephyrus.schemas import stored

    found = {name: make(name, kind, form.version) for name, (form, kind) in formats().items()}
    return {**found, "audit-item": make("audit-item", stored.AuditItem)}


def to_text(made: Mapping[str, Any]) -> str:
    """A schema as its file has it."""
    return json.dumps(made, indent=1, ensure_ascii=False) + "\n"


def write(folder: Path, schemas: Mapping[str, Mapping[str, Any]]) -> None:
    """Write schema files, and remove others."""
    for old in folder.glob("*.schema.json"):
        old.unlink()
    for name, made in schemas.items():
        (folder / f"{name}.schema.json").write_text(to_text(made), "utf-8")


def _tops(made: dict[str, Any]) -> list[dict[str, Any]]:
    """The objects that a file may hold: one, or one of several."""
    choices = made.get("anyOf") or [made]
    return [_target(made, choice) for choice in choices]


def _target(made: dict[str, Any], node: dict[str, Any]) -> dict[str, Any]:
    name = node.get("$ref", "").removeprefix("#/$defs/")
    found: dict[str, Any] = made["$defs"][name] if name else node
    return found


def _nodes(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for item in value.values():
            yield from _nodes(item)
    elif isinstance(value, list):
        for item in value:
            yield from _nodes(item)
