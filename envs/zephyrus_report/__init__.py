"""Stage 2: forecast discussions, written with tools and judged against a reference.

`ReportEnv` asks for them. With the extra ``verifiers``, `zephyrus_report.taskset` makes of it the
taskset ``zephyrus-report``, which the framework of that name finds in ``__all__``.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zephyrus_report.env import ReportEnv

__all__ = ["ReportEnv"]

_HOME = {"ReportEnv": "env"}

if find_spec("verifiers"):  # not imported for it: that takes seconds
    __all__ += ["EpisodeHarness", "LocalEnv", "ReportTaskset"]
    _HOME |= dict.fromkeys(("EpisodeHarness", "LocalEnv", "ReportTaskset"), "taskset")


def __getattr__(name: str) -> Any:
    """Import a public name from its module on first use (PEP 562)."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
