"""What a recipe needs on a machine: packages, a GPU, a model, environments, judges."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from zephyrus.curriculum.recipe import RSFT, Recipe, Tasks
from zephyrus.registry import env_name, names

State = Literal["there", "missing", "unknown"]

TRAIN = 'install the extra, pip install ".[train]" in a clone'
"""What to do where training's packages are missing."""

_PACKAGES = ("torch", "transformers", "trl", "datasets", "accelerate")


@dataclass(frozen=True)
class Need:
    """One thing that a recipe needs.

    Attributes:
        what: In a few words.
        state: Whether it is there; "unknown" is what only the run finds out.
        note: Where it is, or how to get it.
    """

    what: str
    state: State
    note: str = ""


def needs(recipe: Recipe) -> list[Need]:
    """All that a recipe needs. Nothing is imported, opened or asked over a network."""
    found = [_packages(recipe), *_gpu(recipe), _model(recipe)]
    for tasks in _tasks(recipe):
        found += _environment(tasks)
    for stage in recipe.stages:
        if isinstance(stage, RSFT) and stage.demonstrations is not None:
            found.append(_demonstrator(stage.demonstrations.policy))
    return list(dict.fromkeys(found))


def missing_environment(recipe: Recipe) -> str | None:
    """The first environment that a recipe names and that is not installed, or None."""
    known = names("envs")
    return next((t.env for t in _tasks(recipe) if env_name(t.env) not in known), None)


def missing_packages(recipe: Recipe) -> list[str]:
    """The packages that training needs and that are not installed."""
    wanted = (*_PACKAGES, *(("peft",) if recipe.model.lora else ()))
    return [name for name in wanted if importlib.util.find_spec(name) is None]


def _packages(recipe: Recipe) -> Need:
    missing = missing_packages(recipe)
    return Need(
        "the packages of the extra train",
        "missing" if missing else "there",
        f"{TRAIN} ({', '.join(missing)})" if missing else "",
    )


def _gpu(recipe: Recipe) -> Iterator[Need]:
    if recipe.backend == "transformers":
        return
    has_gpu = shutil.which("nvidia-smi") is not None or Path("/dev/nvidia0").exists()
    yield Need(
        f"a GPU (the backend is {recipe.backend})",
        "there" if has_gpu else "missing",
        "" if has_gpu else "none found on this machine; the backend transformers runs on a CPU",
    )
    has_vllm = importlib.util.find_spec("vllm") is not None
    yield Need(
        "the package vllm",
        "there" if has_vllm else "missing",
        "" if has_vllm else "pip install 'trl[vllm]', which fits the two together",
    )
    if recipe.backend == "vllm-server":
        yield Need(
            "a vLLM server of TRL's",
            "unknown",
            f"on other GPUs: trl vllm-serve --model {recipe.model.name}",
        )


def _model(recipe: Recipe) -> Need:
    from zephyrus.local.models import PACKAGED, is_model

    name = recipe.model.name
    folder = Path(name).expanduser()
    if is_model(folder):
        return Need(f"the model {name}", "there", "a folder")
    if name in PACKAGED:
        package = PACKAGED[name]
        return Need(
            f"the model {name}",
            "unknown",
            f"from the package {package.requirement}, {package.megabytes} MB, fetched the first time",
        )
    if folder.is_absolute() or name.startswith("."):
        return Need(f"the model {name}", "missing", "there is no such folder")
    return Need(f"the model {name}", "unknown", "from the model hub, which needs a network once")


def _tasks(recipe: Recipe) -> list[Tasks]:
    return [tasks for stage in recipe.stages for tasks in (stage.tasks, stage.evaluation.tasks)]


def _environment(tasks: Tasks) -> Iterator[Need]:
    known = names("envs")
    if env_name(tasks.env) in known:
        yield Need(f"the environment {tasks.env}", "there")
    else:
        yield Need(
            f"the environment {tasks.env}",
            "missing",
            f"not in this version or not installed; there are {', '.join(known)}",
        )
    if (judge := tasks.options.get("judge")) not in (None, "none"):
        yield _judge(str(judge), tasks.options.get("judge_url"))


def _judge(spec: str, url: object) -> Need:
    """Where a judge answers. Whether it does, only asking it would show."""
    from zephyrus.judge.table import judge_table
    from zephyrus.modeltable import is_local, parse_spec

    what = f"the judge {spec}"
    if spec in names("judges"):
        return Need(what, "there", "no endpoint: it runs in this process")
    rows, key = judge_table(), None
    if spec in rows:
        address, key = rows[spec].base_url, rows[spec].api_key_env
    elif spec.startswith("openai:"):
        address = parse_spec(spec)["base_url"]
    else:
        return Need(what, "missing", "there is none; see zephyrus judge list")
    address = str(url or address)
    here = f"an endpoint of {'this' if is_local(address) else 'another'} machine, {address}"
    if key and key not in os.environ:
        return Need(what, "missing", f"{here}; ${key} is not set")
    return Need(what, "unknown", here)


def _demonstrator(policy: str) -> Need:
    there = policy in names("policies")
    return Need(f"the policy {policy}, for demonstrations", "there" if there else "unknown")
