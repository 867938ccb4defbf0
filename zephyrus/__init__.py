"""Zephyrus: an agentic tool-calling environment framework for weather.

>>> import zephyrus
>>> env = zephyrus.make("bench")
>>> run = zephyrus.rollout(env, "scripted", n=8)

In a notebook, ``run = await zephyrus.rollout(…)`` does the same; see `zephyrus.rollouts.rollout`.

Everything is imported on first use, so that ``import zephyrus`` and ``zephyrus --help`` are quick.
"""

import importlib
import sys
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_EXPORTS = {
    "Image": "zephyrus.messages",
    "Message": "zephyrus.messages",
    "ToolCall": "zephyrus.messages",
    "ToolResult": "zephyrus.messages",
    "Tool": "zephyrus.tools",
    "ToolError": "zephyrus.tools",
    "tool": "zephyrus.tools",
    "Limits": "zephyrus.limits",
    "Task": "zephyrus.task",
    "TaskSet": "zephyrus.task",
    "ToolEnv": "zephyrus.env",
    "Episode": "zephyrus.episode",
    "Trajectory": "zephyrus.trajectory",
    "Run": "zephyrus.run",
    "UserError": "zephyrus.errors",
    "WorkError": "zephyrus.errors",
    "Policy": "zephyrus.policy",
    "make": "zephyrus.registry",
    "names": "zephyrus.registry",
    "register": "zephyrus.registry",
    "make_policy": "zephyrus.policy",
    "rollout": "zephyrus.rollouts",
    "arollout": "zephyrus.rollouts",
    "rescore": "zephyrus.rollouts",
    "arescore": "zephyrus.rollouts",
}

if TYPE_CHECKING:
    from zephyrus.env import ToolEnv as ToolEnv
    from zephyrus.episode import Episode as Episode
    from zephyrus.errors import UserError as UserError
    from zephyrus.errors import WorkError as WorkError
    from zephyrus.limits import Limits as Limits
    from zephyrus.messages import Image as Image
    from zephyrus.messages import Message as Message
    from zephyrus.messages import ToolCall as ToolCall
    from zephyrus.messages import ToolResult as ToolResult
    from zephyrus.policy import Policy as Policy
    from zephyrus.policy import make_policy as make_policy
    from zephyrus.registry import make as make
    from zephyrus.registry import names as names
    from zephyrus.registry import register as register
    from zephyrus.rollouts import arescore as arescore
    from zephyrus.rollouts import arollout as arollout
    from zephyrus.rollouts import rescore as rescore
    from zephyrus.rollouts import rollout as rollout
    from zephyrus.run import Run as Run
    from zephyrus.task import Task as Task
    from zephyrus.task import TaskSet as TaskSet
    from zephyrus.tools import Tool as Tool
    from zephyrus.tools import ToolError as ToolError
    from zephyrus.tools import tool as tool
    from zephyrus.trajectory import Trajectory as Trajectory


def __getattr__(name: str) -> Any:
    """Import the public names on first use (PEP 562)."""
    if name not in _EXPORTS:
        raise AttributeError(f"module 'zephyrus' has no attribute {name!r}")
    value = getattr(importlib.import_module(_EXPORTS[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_EXPORTS})


if "gymnasium" in sys.modules:  # else zephyrus.env does it: help must not wait for gymnasium
    from zephyrus.registry import register_gymnasium

    register_gymnasium()
