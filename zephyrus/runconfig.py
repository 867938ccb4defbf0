"""``config.yaml``: what a run was made with, and what a resume may change of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from zephyrus.errors import UserError
from zephyrus.fileformat import FileFormat

CONFIG = "config.yaml"
FORMAT = FileFormat("run-config", "0.1.0")
GROWING = ("n", "repeats")
"""Config keys that a resume may raise."""
FREE = ("versions", "policy.base_url", "env.judge_url")
"""Config keys that a resume may change: where and when the same thing is run."""
CHANGED = {
    "bank.tasks": "the bank has",
    "bank.sha256": "the bank has",
    "env.prompt_sha256": "the system prompt or a tool's schema has",
}
"""Config keys whose values would tell a person nothing, and what to say instead."""


def to_yaml(config: Mapping[str, Any]) -> str:
    """A configuration as it is written."""
    import yaml

    return yaml.safe_dump(
        FORMAT.stamp(config), sort_keys=False
    )  # escapes: PyYAML folds some characters


def read_config(folder: Path) -> dict[str, Any]:
    """The configuration of the run in a folder.

    Raises:
        UserError: If it can't be read, is none, or was written by a later release.
    """
    import yaml

    try:
        config = yaml.safe_load((folder / CONFIG).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{folder / CONFIG} can't be read: {error}") from error
    except yaml.YAMLError as error:
        raise UserError(f"{folder / CONFIG} is not YAML: {error}") from error
    if not isinstance(config, dict) or not isinstance(config.get("env"), dict):
        raise UserError(f"{folder / CONFIG} is not the configuration of a run")
    try:
        return FORMAT.read(config, folder / CONFIG)
    except ValueError as error:
        raise UserError(f"{folder / CONFIG} is damaged: {error}") from error


def check_same(old: Mapping[str, Any], new: Mapping[str, Any], folder: Path) -> None:
    """Find out whether a run may go on with another configuration.

    Args:
        old: What the run was made with.
        new: What is asked for now.
        folder: The run's, for the message.

    Raises:
        UserError: If they differ, but for `GROWING` and `FREE`; the first key that does is named.
    """
    was, now = _flatten(old), _flatten(new)
    for key in {**was, **now}:
        before, after = was.get(key), now.get(key)
        if before == after or key in FREE or key.split(".")[0] in FREE:
            continue
        if key in GROWING and isinstance(before, int) and isinstance(after, int):
            if after > before:
                continue
            raise UserError(
                f"the run {folder} has {key} = {before}, which can grow but not shrink to {after}"
            )
        if key in CHANGED:
            raise UserError(
                f"{CHANGED[key]} changed since the run {folder} was made; give another output folder"
            )
        raise UserError(
            f"the run {folder} has {key} = {before!r} (made so, or rescored), and {after!r} is "
            "asked for; give the same, or another output folder"
        )


def _flatten(value: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, item in value.items():
        if isinstance(item, dict):
            flat |= _flatten(item, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = item
    return flat
