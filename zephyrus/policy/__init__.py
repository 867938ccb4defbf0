"""Policies: what answers an episode. `make_policy` makes one from what the user wrote."""

from __future__ import annotations

import difflib
import importlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zephyrus.errors import UserError

if TYPE_CHECKING:
    from zephyrus.policy.base import ContextLengthError as ContextLengthError
    from zephyrus.policy.base import Policy as Policy
    from zephyrus.policy.base import Session as Session

__all__ = ["ContextLengthError", "Policy", "Session", "make_policy", "policy_names"]

_BASE = ("ContextLengthError", "Policy", "Session")
_BUILT_IN = {
    "scripted": ("zephyrus.policy.scripted", "ScriptedPolicy"),
    "random": ("zephyrus.policy.random", "RandomPolicy"),
}


def __getattr__(name: str) -> Any:
    """Import the base classes on first use (PEP 562)."""
    if name not in _BASE:
        raise AttributeError(f"module 'zephyrus.policy' has no attribute {name!r}")
    return getattr(importlib.import_module("zephyrus.policy.base"), name)


def make_policy(spec: str | Policy, *, base_url: str | None = None, **overrides: Any) -> Policy:
    """Make a policy.

    Args:
        spec: "scripted", "random", "replay:RUN", "baseline:NAME" (of the environment),
            "openai:MODEL@URL" (without a URL: $OPENAI_BASE_URL
            or OpenAI's own), "local:MODEL" (in this process: see `zephyrus.local.models.locate`)
            or the folder of such a model, a name of the policy table, or the name of a plug-in. A
            policy is given back as it is.
        base_url: Another address for an endpoint.
        **overrides: For an endpoint or a local model, keys of `zephyrus.policy.table.PolicyEntry` or
            `zephyrus.modeltable.Sampling`; for a plug-in, its arguments. None is no override.

    Raises:
        UserError: If there is no such policy, or it takes no such option.
    """
    if not isinstance(spec, str):
        return spec
    options = {key: value for key, value in overrides.items() if value is not None}
    if base_url is not None:
        options["base_url"] = base_url
    if spec.startswith("replay:"):
        from zephyrus.policy.replay import ReplayPolicy

        _refuse(spec, options)
        return ReplayPolicy(spec.removeprefix("replay:"))
    if spec.startswith("baseline:"):
        from zephyrus.policy.baseline import BaselinePolicy

        _refuse(spec, options)
        return BaselinePolicy(spec.removeprefix("baseline:"))
    if spec.startswith("openai:"):
        from zephyrus.modeltable import parse_spec

        row = parse_spec(spec)
        # Not the address: it may hold a password, and a resume may use another one.
        return _endpoint(f"openai:{row['model']}", row, options)
    if spec.startswith("local:"):
        return _local(spec, {"model": spec.removeprefix("local:")}, options)
    if _is_folder(spec):
        return _local(spec, {"model": spec}, options)
    return _named(spec, options)


def policy_names() -> list[str]:
    """Every name that `make_policy` knows, without the forms with a colon and folders."""
    from zephyrus.policy.table import policy_table
    from zephyrus.registry import names

    return sorted({*_BUILT_IN, *names("policies"), *policy_table()})


def _named(spec: str, options: dict[str, Any]) -> Policy:
    from zephyrus.policy.table import policy_table
    from zephyrus.registry import get, names

    if spec in names("policies"):
        factory = get("policies", spec)
    elif spec in _BUILT_IN:
        module, attribute = _BUILT_IN[spec]
        factory = getattr(importlib.import_module(module), attribute)
    else:
        table = policy_table()
        if spec in table and table[spec].local:
            return _local(spec, table[spec].model_dump(exclude_unset=True), options)
        if spec in table:
            return _endpoint(spec, table[spec].model_dump(exclude_unset=True), options, spec)
        near = difflib.get_close_matches(spec, policy_names(), n=3, cutoff=0.4)
        hint = (
            f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(policy_names())}"
        )
        raise UserError(
            f"there is no policy {spec!r}; {hint} (or openai:MODEL@URL, local:MODEL, replay:RUN, "
            "baseline:NAME, the folder of a model)"
        )
    if spec in _BUILT_IN:
        _refuse(spec, options)
    try:
        made: Policy = factory(**options)
    except TypeError as error:
        if not options:
            raise
        raise UserError(f"the policy {spec!r} takes no such option: {error}") from error
    return made


def _endpoint(
    name: str, row: dict[str, Any], options: dict[str, Any], served_by: str | None = None
) -> Policy:
    from zephyrus.modeltable import is_local
    from zephyrus.policy.endpoint import EndpointPolicy
    from zephyrus.policy.table import LOCAL_KEYS, TABLE

    if wrong := LOCAL_KEYS & options.keys():
        raise UserError(f"the policy {name!r} is an endpoint's, and takes no {', '.join(wrong)}")
    entry = TABLE.with_options(name, row, options)
    # At another address than the table's, the advice to serve it here would be wrong.
    servable = served_by if "base_url" not in options and is_local(entry.base_url) else None
    return EndpointPolicy(entry, name, served_by=servable)


def _is_folder(spec: str) -> bool:
    """Whether a policy is given by a path: one with a separator, or a model's folder here."""
    marks = ("config.json", "adapter_config.json", "recipe.yaml")
    path = "/" in spec or os.sep in spec or spec.startswith(("~", "."))
    if path or any((Path(spec) / mark).is_file() for mark in marks):
        return spec not in policy_names()
    return False


def _local(spec: str, row: dict[str, Any], options: dict[str, Any]) -> Policy:
    from zephyrus.local.models import acts, spelled
    from zephyrus.local.policy import policy_for
    from zephyrus.modeltable import Sampling
    from zephyrus.policy.table import LOCAL_KEYS, TABLE, PolicyEntry

    takes = {*LOCAL_KEYS, "temperature", "top_p", "max_tokens", "sampling"}
    if wrong := options.keys() & (PolicyEntry.model_fields | Sampling.model_fields).keys() - takes:
        raise UserError(
            f"the policy {spec!r} runs in this process, and takes no option {', '.join(wrong)}"
        )
    model = spelled(row["model"])
    row = {**acts(model), **row, "local": True, "model": model}
    name = model.removeprefix("./") if _is_folder(spec) else spec
    return policy_for(TABLE.with_options(name, row, options), name)


def _refuse(spec: str, options: dict[str, Any]) -> None:
    if options:
        raise UserError(f"the policy {spec!r} takes no option {', '.join(options)}")
