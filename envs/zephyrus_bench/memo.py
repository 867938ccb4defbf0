"""What does not change while a dataset is open, worked out once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar, cast
from weakref import WeakKeyDictionary

from zephyrus_geodata import Dataset

_Made = TypeVar("_Made")

_KNOWN: WeakKeyDictionary[Dataset, dict[Hashable, object]] = WeakKeyDictionary()


def once(dataset: Dataset, what: Hashable, make: Callable[[], _Made]) -> _Made:
    """Something of a dataset, made when it is first asked for and kept as long as the dataset.

    Args:
        dataset: The dataset; what is made must not refer to it.
        what: Its name, unique in this package.
        make: Makes it.
    """
    known = _KNOWN.setdefault(dataset, {})
    if what not in known:
        known[what] = make()
    return cast("_Made", known[what])
