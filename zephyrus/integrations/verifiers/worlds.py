"""The environments and endpoints that the rollouts of one process share."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from typing import Any

from zephyrus.endpoint import Endpoint
from zephyrus.env import ToolEnv
from zephyrus.limits import Limits
from zephyrus.policy.table import PolicyEntry
from zephyrus.registry import env_name, get, make

_endpoints: dict[str, Endpoint] = {}


def environment(name: str, options: Mapping[str, Any]) -> ToolEnv:
    """The environment of some options, made once: its data are opened once.

    Args:
        name: What `zephyrus.make` takes.
        options: JSON values for it; ``limits`` holds the budgets that differ from the
            environment's own.

    Raises:
        UserError: If there is no such environment, or it has no such option.
    """
    return _environment(name, json.dumps(dict(options), sort_keys=True))


@functools.cache
def _environment(name: str, options: str) -> ToolEnv:
    given = json.loads(options)
    if limits := given.pop("limits", None):
        own = get("envs", env_name(name)).default_limits
        given["limits"] = Limits(**{**own.to_dict(), **limits})
    return make(name, **given)


def endpoint(entry: PolicyEntry) -> Endpoint:
    """The endpoint at an address, one for all rollouts: a client costs more than a rollout."""
    key = f"{entry.base_url} {entry.retries}"
    if key not in _endpoints:
        _endpoints[key] = Endpoint(entry, "the harness")
    return _endpoints[key]


async def close_endpoints() -> None:
    """Close this event loop's connections; they open again when they are needed."""
    for known in tuple(_endpoints.values()):
        await known.close()
