"""Names for everything that plugs in: tools, environments, policies, judges, curricula.

A plug-in comes in by a decorator or `register`, by ``--tools FILE|MODULE``, or by an entry point
of the group ``zephyrus.<kind>``. The built-in weather content uses the same entry points.
"""

from __future__ import annotations

import difflib
import functools
import importlib.metadata
import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from zephyrus.errors import UserError

if TYPE_CHECKING:
    from zephyrus.env import ToolEnv

KINDS = {
    "tools": "tool",
    "envs": "environment",
    "policies": "policy",
    "judges": "judge",
    "curricula": "curriculum",
}
"""The registries, each with the word for one of its members."""

_registered: dict[str, dict[str, Any]] = {kind: {} for kind in KINDS}


@functools.cache
def entry_points(kind: str) -> Mapping[str, importlib.metadata.EntryPoint]:
    """The entry points of the group ``zephyrus.<kind>`` by name."""
    return {
        point.name: point for point in importlib.metadata.entry_points(group=f"zephyrus.{kind}")
    }


def load(point: importlib.metadata.EntryPoint) -> Any:
    """Import what an entry point names.

    Raises:
        UserError: If that fails; the message names the plug-in, its package and the trouble.
    """
    try:
        return point.load()
    except Exception as error:  # a plug-in may fail in any way; say which one it was
        package = f" of the package {point.dist.name}" if point.dist else ""
        raise UserError(
            f"the plug-in {point.name!r} ({point.value}){package} can't be loaded: "
            f"{type(error).__name__}: {error}"
        ) from error


def register(kind: str, name: str, thing: Any) -> None:
    """Make ``thing`` known as ``name``. The last registration of a name wins.

    Args:
        kind: One of `KINDS`.
        name: What users will call it.
        thing: A `Tool`; for the others a class or factory.
    """
    _check(kind)
    _registered[kind][name] = thing


def names(kind: str) -> list[str]:
    """Every known name of a kind, sorted; nothing is imported for it."""
    _check(kind)
    return sorted({*_registered[kind], *entry_points(kind)})


def get(kind: str, name: str) -> Any:
    """What is registered as ``name``.

    Raises:
        UserError: If nothing has that name (the nearest ones are suggested), or if the plug-in
            that has it can't be loaded.
    """
    _check(kind)
    if name in _registered[kind]:
        return _registered[kind][name]
    if name in entry_points(kind):
        return load(entry_points(kind)[name])
    near = difflib.get_close_matches(name, names(kind), n=3, cutoff=0.4)
    hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(names(kind))}"
    raise UserError(f"there is no {KINDS[kind]} {name!r}; {hint}")


def make(env: str, **options: Any) -> ToolEnv:
    """Make an environment by its short name ("bench") or gymnasium id ("zephyrus/Bench-v0").

    Args:
        env: The name.
        **options: Passed to the environment, e.g. ``dataset="demo"``, ``split="validation"``.

    Raises:
        UserError: If there is no such environment, or it has no such option.
    """
    factory = get("envs", env_name(env))
    known = inspect.signature(factory).parameters
    open_ended = any(p.kind is p.VAR_KEYWORD for p in known.values())
    for option in options:
        if option not in known and not open_ended:
            raise UserError(
                f"the environment {env!r} has no option {option!r}; it has {', '.join(known)}"
            )
    made: ToolEnv = factory(**options)
    return made


def env_name(env: str) -> str:
    """The short name of an environment: "bench" for "zephyrus/Bench-v0"."""
    short = env.removeprefix("zephyrus/").removesuffix("-v0")
    return short.lower() if short != env else env


def register_gymnasium() -> None:
    """Register ``zephyrus/<Name>-v0`` with gymnasium for every installed environment.

    ``import zephyrus`` after ``import gymnasium`` does this, and so does ``zephyrus.make``.
    Whatever the order, ``gymnasium.make("zephyrus.env:zephyrus/Bench-v0")`` works.
    """
    from gymnasium.envs import registration

    for name, point in entry_points("envs").items():
        env_id = f"zephyrus/{_spelled(name, point)}-v0"
        if env_id not in registration.registry:
            registration.register(env_id, entry_point=point.value)


def _spelled(name: str, point: importlib.metadata.EntryPoint) -> str:
    """An environment's name with capitals: as its class spells it, if that is the name."""
    spelled = point.attr.removesuffix("Env")
    return spelled if spelled.lower() == name.lower() else name.capitalize()


def _check(kind: str) -> None:
    if kind not in KINDS:
        raise UserError(f"no registry {kind!r}; there are {', '.join(KINDS)}")
