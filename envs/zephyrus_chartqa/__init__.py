"""ChartQA: multiple-choice questions on weather charts, with logically consistent rewards.

`ChartQAEnv` asks them, `build_bank` makes them, and an `Item` is one of them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zephyrus_chartqa.bank import build_bank
    from zephyrus_chartqa.env import ChartQAEnv
    from zephyrus_chartqa.item import ChartSource, Item

__all__ = ["ChartQAEnv", "ChartSource", "Item", "build_bank"]

_HOME = {"ChartQAEnv": "env", "ChartSource": "item", "Item": "item", "build_bank": "bank"}


def __getattr__(name: str) -> Any:
    """Import a public name from its module on first use (PEP 562)."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
