"""Zephyrus Bench (Stage 1): verifiable weather-analysis questions over one forecast.

`BenchEnv` asks them, `build_bank` makes them, `zephyrus_bench.templates` says what they are and
`zephyrus_bench.verifiers` how an answer is scored. With the extra ``verifiers``, `zephyrus_bench.taskset`
makes of it the taskset ``zephyrus-bench``, which the framework of that name finds in ``__all__``.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zephyrus_bench.bank import build_bank
    from zephyrus_bench.env import BenchEnv
    from zephyrus_bench.report import BankReport
    from zephyrus_bench.templates import TEMPLATES
    from zephyrus_bench.verifiers import verify

__all__ = ["TEMPLATES", "BankReport", "BenchEnv", "build_bank", "verify"]

_HOME = {
    "TEMPLATES": "templates",
    "BankReport": "report",
    "BenchEnv": "env",
    "build_bank": "bank",
    "verify": "verifiers",
}

if find_spec("verifiers"):  # not imported for it: that takes seconds
    __all__ += ["BenchTaskset", "EpisodeHarness", "LocalEnv"]
    _HOME |= dict.fromkeys(("BenchTaskset", "EpisodeHarness", "LocalEnv"), "taskset")


def __getattr__(name: str) -> Any:
    """Import a public name from its module on first use (PEP 562)."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
