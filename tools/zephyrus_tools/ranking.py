"""Ranked tables of a kind's features: order, cut, and what is said about the rest."""

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata import Dataset
from zephyrus_tools import text
from zephyrus_tools.places import Places

Order = Literal["highest", "lowest"]

ROWS = 10
"""Rows of a table unless more are asked for."""


def table(
    dataset: Dataset,
    title: str,
    places: Places,
    values: NDArray[np.float64],
    order: Order,
    limit: int | None,
    write: Callable[[int], str],
) -> str:
    """Write a ranked table.

    Args:
        dataset: Where the features' cells are known.
        title: What the values are.
        places: The features.
        values: (feature,); NaN where there are no data: such features are named below the table.
        order: Which end comes first; ties keep the order of the features.
        limit: Most rows, `ROWS` by default.
        write: Turns the index of a feature into its value's text.

    Returns:
        A header line, then lines such as ``1. Sahara: 34.12 °C``, then notes.

    Raises:
        ToolError: If the limit is out of range.
    """
    most = text.rows(limit, ROWS)
    keys = -values if order == "highest" else values
    there = values.size - int(np.count_nonzero(np.isnan(values)))
    shown = _least(keys, min(most, there))
    lines = [f"{places.features[i].name}: {write(i)}" for i in shown]
    header = f"{title}, {order} first ({counted(len(shown), there)}):"
    note = places.note(dataset, shown)
    return "\n".join([header, *lines_numbered(lines)]) + note + without_data(places, values)


def _least(keys: NDArray[np.float64], count: int) -> list[int]:
    """Return where the least numbers are, ascending, of ties the first; not more than there are."""
    if count == 0:
        return []
    few = np.flatnonzero(keys <= np.partition(keys, count - 1)[count - 1])  # NaN come last
    shown: list[int] = few[np.argsort(keys[few], kind="stable")][:count].tolist()
    return shown


def lines_numbered(lines: list[str]) -> list[str]:
    """Number lines from 1."""
    return [f"{rank}. {line}" for rank, line in enumerate(lines, start=1)]


def counted(shown: int, total: int) -> str:
    """Say how long a table is, or that it was cut and how to see more."""
    if shown == total:
        return f"{total} of {total} shown"
    more = "raise limit or give a parent" if shown < text.MOST_ROWS else "give a parent"
    return f"{shown} of {total} shown; {more}"


def without_data(places: Places, values: NDArray[np.float64]) -> str:
    """A line about the features without a value, or nothing."""
    lost = [places.features[i].name for i in np.flatnonzero(np.isnan(values))]
    return f"\n(No data for {text.few(lost)}.)" if lost else ""
