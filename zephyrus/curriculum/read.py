"""Reading recipes: by name, from a file, with the user's changes over it."""

from __future__ import annotations

import copy
import re
import types
import typing
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from zephyrus.curriculum.recipe import RL, RSFT, Recipe, ReportRL, stage_names
from zephyrus.curriculum.settings import nearest
from zephyrus.errors import UserError
from zephyrus.registry import get, names

DEFAULT = "tiny"
"""The recipe that runs where none is named."""

FILE = "recipe.yaml"
"""The recipe in the folder of a run."""

_STAGES: dict[str, type[BaseModel]] = {"rsft": RSFT, "rl": RL, "report_rl": ReportRL}


_SHAPES = {
    "model_type": "it must have keys of its own",
    "model_attributes_type": "it must have keys of its own",
    "dict_type": "it must have keys of its own",
    "tuple_type": "it must be a list",
}
"""What pydantic says of the wrong shape, in a recipe's words."""


def read_recipe(
    name: str | Path = DEFAULT, changes: Sequence[str] = (), stages: Sequence[str] = ()
) -> Recipe:
    """Read a recipe.

    Args:
        name: The name of a registered recipe, a YAML file, or the folder of a run.
        changes: ``key=value`` with a dotted key, such as ``stages.rl.optimiser.learning_rate=1e-6``
            (a stage by its name) or ``seed=1``; the value is YAML.
        stages: Names of the stages to keep, for an ablation; all of them if empty.

    Raises:
        UserError: If there is no such recipe, it isn't YAML, or a key or value is wrong; the
            message names the key and the nearest right one.
    """
    path = recipe_path(name)
    return to_recipe(with_stages(with_changes(load(path), changes), stages), str(name))


def recipe_path(name: str | Path) -> Path:
    """The file of a recipe.

    Raises:
        UserError: If there is none.
    """
    text = str(name)
    known = names("curricula")
    if text in known:
        return Path(get("curricula", text))
    path = Path(text).expanduser()
    if (path / FILE).is_file():
        return path / FILE
    if path.is_file():
        return path
    if path.suffix in (".yaml", ".yml") or "/" in text:
        raise UserError(f"there is no recipe at {path}")
    raise UserError(
        f"there is no recipe {text!r}; {nearest(text, known)} (a YAML file of your own works too)"
    )


def to_recipe(raw: Mapping[str, Any], where: str) -> Recipe:
    """Check what a YAML file holds.

    Args:
        raw: Its content.
        where: What to call it in an error.

    Raises:
        UserError: See `read_recipe`.
    """
    try:
        return Recipe.model_validate(raw)
    except ValidationError as error:
        raise UserError(f"{where}: {complaint(error, raw)}") from None


def with_stages(raw: Mapping[str, Any], wanted: Sequence[str]) -> dict[str, Any]:
    """Keep some of the stages, in their own order.

    Raises:
        UserError: If there is no such stage.
    """
    stages = raw.get("stages")
    if not wanted or not isinstance(stages, list):
        return dict(raw)
    known = stage_names(stages)
    for name in wanted:
        if name not in known:
            raise UserError(f"there is no stage {name!r}; {nearest(name, known)}")
    kept = [
        {**stage, "name": name} if isinstance(stage, Mapping) else stage
        for stage, name in zip(stages, known, strict=True)
        if name in wanted
    ]
    return {**raw, "stages": kept}


def with_changes(raw: Mapping[str, Any], changes: Sequence[str]) -> dict[str, Any]:
    """Set keys of a recipe; see `read_recipe`.

    Raises:
        UserError: If a change is not ``key=value``, or a key leads nowhere.
    """
    changed = copy.deepcopy(dict(raw))
    for change in changes:
        key, equals, value = change.partition("=")
        path = key.strip().split(".")
        if not equals or not all(path):
            raise UserError(f"{change!r} is no change: write KEY=VALUE, for example seed=1")
        try:
            parsed = yaml.load(value, _Loader)
        except yaml.YAMLError:
            raise UserError(f"{change!r}: {value!r} is not a YAML value") from None
        _set(changed, path, parsed, key.strip())
    return changed


def _set(raw: dict[str, Any], path: list[str], value: Any, where: str) -> None:
    here: Any = raw
    for depth, part in enumerate(path):
        is_last = depth == len(path) - 1
        if isinstance(here, list):
            known = stage_names(here)
            if part not in known:
                raise UserError(f"{where}: there is no stage {part!r}; {nearest(part, known)}")
            if is_last:
                raise UserError(f"{where}: name a key of the stage {part!r} as well")
            here = here[known.index(part)]
        elif not isinstance(here, dict):
            raise UserError(f"{where}: {'.'.join(path[:depth])} has no keys of its own")
        elif is_last:
            here[part] = value
        else:
            if here.get(part) is None:
                here[part] = {}
            here = here[part]


def load(path: Path) -> dict[str, Any]:
    """What a recipe's file holds; its name is the file's where it gives none.

    Raises:
        UserError: If it can't be read, or isn't YAML with keys.
    """
    try:
        raw = yaml.load(path.read_text(encoding="utf-8"), _Loader)
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} can't be read: {error}") from None
    except yaml.YAMLError as error:
        raise UserError(f"{path} is not valid YAML: {' '.join(str(error).split())}") from None
    if not isinstance(raw, dict):
        raise UserError(f"{path} is no recipe: it must have the keys model and stages")
    return {"name": path.stem, **raw}


def complaint(error: ValidationError, raw: Any = None) -> str:
    """The first thing wrong with a recipe, in one sentence.

    Args:
        error: What pydantic found.
        raw: The recipe, for the names of its stages.
    """
    # Unknown keys first: a misspelt one is also missing under its right name. Of what may be one
    # word or a list, a list is told what is wrong with the list.
    first = min(
        error.errors(),
        key=lambda wrong: (
            wrong["type"] != "extra_forbidden",
            wrong["type"] == "literal_error" and not isinstance(wrong["input"], str),
        ),
    )
    loc, fields = _follow(first["loc"])
    stages = raw.get("stages") if isinstance(raw, Mapping) else None
    if len(loc) > 1 and loc[0] == "stages" and isinstance(stages, list):
        loc[1] = stage_names(stages)[int(loc[1])]
    where = ".".join(map(str, loc))
    if first["type"] == "extra_forbidden":
        return f"unknown key {where!r}; {nearest(str(loc[-1]), fields)}"
    if first["type"] == "missing":
        return f"the key {where!r} is missing"
    if first["type"] in ("union_tag_invalid", "union_tag_not_found"):
        tag = str((first.get("ctx") or {}).get("tag", ""))
        return f"{where}: stage is one of {', '.join(_STAGES)}" + (f", not {tag!r}" if tag else "")
    got = first["input"]
    shown = f" (got {got!r})" if isinstance(got, str | int | float) else ""
    text = _SHAPES.get(first["type"], first["msg"].removeprefix("Value error, "))
    text = text[0].lower() + text[1:]
    if first["type"] == "literal_error":
        choices = re.findall(r"'([^']*)'", str((first.get("ctx") or {}).get("expected", "")))
        near = nearest(str(got), choices)
        shown += f"; {near}" if near.startswith("did") else ""
    elif first["type"] == "value_error":  # ours, which says what it got
        shown = ""
    return f"{where}: {text}{shown}" if where else text


def _follow(loc: Sequence[int | str]) -> tuple[list[int | str], list[str]]:
    """A place in a recipe without pydantic's names of a union's members, and the keys known there.

    The keys are those of the part that the last of the place is a key of.
    """
    here: type[BaseModel] | None = Recipe
    kept: list[int | str] = []
    fields: list[str] = list(Recipe.model_fields)
    for place, part in enumerate(loc):
        is_last = place == len(loc) - 1
        if here is not None and isinstance(part, str):
            if kept and isinstance(kept[-1], int) and part in _STAGES:
                here = _STAGES[part]
                continue
            fields = list(here.model_fields)
            if part in here.model_fields:
                kept.append(part)
                here = _model(here.model_fields[part].annotation) or (
                    here if part == "stages" else None
                )
            elif is_last:
                kept.append(part)
        elif isinstance(part, int) or not re.search(r"[\[(]|^(str|int|float|bool)$", part):
            kept.append(part)
    return kept, fields


def _model(annotation: Any) -> type[BaseModel] | None:
    """The model inside an annotation such as ``Lora | None``."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    if isinstance(annotation, types.UnionType) or typing.get_origin(annotation) is typing.Union:
        return next(filter(None, map(_model, typing.get_args(annotation))), None)
    return None


class _Loader(yaml.SafeLoader):
    """YAML in which 1e-6 is a number (YAML 1.1 wants 1.0e-6), and a key comes once."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key, _ in node.value:
            if key.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key.value!r} comes twice", key.start_mark
                )
            seen.add(key.value)
        return super().construct_mapping(node, deep)


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?\d+(?:\.\d*)?[eE][-+]?\d+"), list("-+0123456789")
)
