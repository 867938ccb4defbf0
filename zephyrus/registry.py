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

KINDS = ("tools", "envs", "policies", "judges", "curricula")

_registered: dict[str, dict[str, Any]] = {kind: {} for kind in KINDS}


@functools.cache
def _entry_points(kind: str) -> Mapping[str, importlib.metadata.EntryPoint]:
    return {
        point.name: point for point in importlib.metadata.entry_points(group=f"zephyrus.{kind}")
    }


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
    return sorted({*_registered[kind], *_entry_points(kind)})


def get(kind: str, name: str) -> Any:
    """What is registered as ``name``.

    Raises:
        UserError: If nothing has that name; the nearest ones are suggested.
    """
    _check(kind)
    if name in _registered[kind]:
        return _registered[kind][name]
    if name in _entry_points(kind):
        return _entry_points(kind)[name].load()
    near = difflib.get_close_matches(name, names(kind), n=3, cutoff=0.4)
    hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(names(kind))}"
    singular = {"policies": "policy", "curricula": "curriculum"}.get(kind, kind[:-1])
    raise UserError(f"there is no {singular} {name!r}; {hint}")


def make(env: str, **options: Any) -> ToolEnv:
    """Make an environment by its short name ("bench") or gymnasium id ("zephyrus/Bench-v0").

    Args:
        env: The name.
        **options: Passed to the environment, e.g. ``dataset="demo"``, ``split="validation"``.
    """
    name = env.removeprefix("zephyrus/").removesuffix("-v0")
    name = name.lower() if name != env else name
    factory = get("envs", name)
    known = inspect.signature(factory).parameters
    for option in options:
        if option not in known and not any(p.kind is p.VAR_KEYWORD for p in known.values()):
            raise UserError(
                f"the environment {name!r} has no option {option!r}; it has {', '.join(known)}"
            )
    made: ToolEnv = factory(**options)
    return made


def register_gymnasium() -> None:
    """Register ``zephyrus/<Name>-v0`` with gymnasium for every installed environment.

    ``import zephyrus`` after ``import gymnasium`` does this, and so does ``zephyrus.make``.
    """
    from gymnasium.envs import registration

    for name, point in _entry_points("envs").items():
        env_id = f"zephyrus/{name.capitalize()}-v0"
        if env_id not in registration.registry:
            registration.register(env_id, entry_point=point.value)


def _check(kind: str) -> None:
    if kind not in KINDS:
        raise UserError(f"no registry {kind!r}; there are {', '.join(KINDS)}")
