"""How much memory and disk a build takes, worked out before it starts."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from zephyrus_geodata.climate.recipe import Recipe
from zephyrus_geodata.climate.series import Analyses
from zephyrus_geodata.climate.summary import scratch
from zephyrus_geodata.errors import StoreError

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_UNITS |= {"ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
_SIZE = re.compile(r"^\s*(\d+(?:\.\d+)?)\s*([kmgt]i?)?b?\s*$", re.IGNORECASE)
_SPARE = 1.25
"""What the allocator may keep of what was freed."""


def parse_size(text: str) -> int:
    """Read "2GB", "500 MB" or "1GiB" as bytes.

    Raises:
        StoreError: if it is no size.
    """
    match = _SIZE.match(text)
    if match is None:
        raise StoreError(f"--memory {text}: give a size such as 2GB or 500MB.")
    return int(float(match[1]) * _UNITS[(match[2] or "").lower()])


def show_size(size: float) -> str:
    """Write bytes as "12.3 MB" or "1.2 GB"."""
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.1f} MB"


@dataclass(frozen=True)
class Budget:
    """How a build is cut so that it stays within its memory.

    Attributes:
        memory: bytes that are held at most, besides Python and its libraries.
        steps: how many are read at once.
        cells: how many are summarised in a task.
        workers: how many tasks at once.
    """

    memory: int
    steps: int
    cells: int
    workers: int


def plan(
    analyses: Analyses,
    variables: tuple[str, ...],
    recipe: Recipe,
    size: int,
    samples: int,
    memory: int,
    workers: int,
) -> Budget:
    """Cut a build.

    Args:
        analyses: what is read.
        variables: which of it.
        recipe: what is computed.
        size: number of cells of the result.
        samples: number of times.
        memory: bytes that may be held besides Python and its libraries.
        workers: how many tasks may run at once.

    Raises:
        StoreError: if the memory is too little for any way of cutting; it says how much is needed.
    """

    def reading(steps: int) -> float:
        held = max(analyses.held(variable, steps) for variable in variables)
        return _SPARE * (held + 8 * steps * size)

    def computing(cells: int, count: int) -> float:
        return _SPARE * count * (4 * cells * (samples + recipe.numbers) + scratch(samples))

    needed = max(reading(1), computing(1, 1))
    if needed > memory:
        raise StoreError(
            f"--memory {show_size(memory)} is too little: this needs {show_size(needed)} at least."
        )
    steps = _most(reading, samples, memory)
    chunk = max(analyses.chunks.get(variable, (1, 0))[0] for variable in variables)
    steps -= steps % chunk if steps > chunk else 0
    while computing(1, workers) > memory:
        workers -= 1
    cells = _most(lambda cells: computing(cells, workers), -(-size // workers), memory)
    held = max(reading(steps), computing(cells, workers))
    return Budget(int(held), steps, cells, workers)


def _most(need: Callable[[int], float], limit: int, memory: int) -> int:
    """Return the largest number up to a limit whose need is within the memory; at least 1."""
    low, high = 1, max(1, limit)
    while low < high:
        middle = (low + high + 1) // 2
        if need(middle) <= memory:
            low = middle
        else:
            high = middle - 1
    return low
