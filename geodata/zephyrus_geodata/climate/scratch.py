"""A variable turned round on the disk: read once by time, given back by blocks of cells.

The file holds block after block, each (time, cell of the block).
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata.climate.release import release
from zephyrus_geodata.climate.series import Analyses
from zephyrus_geodata.store import arrays

Tell = Callable[[int], None]


def blocks(size: int, cells: int) -> Iterator[slice]:
    """Cut ``size`` cells into blocks."""
    for start in range(0, size, cells):
        yield slice(start, min(start + cells, size))


def fill(
    path: Path,
    analyses: Analyses,
    variable: str,
    taken: NDArray[np.intp] | None,
    cells: int,
    steps: int,
    tell: Tell,
) -> None:
    """Read a variable into a file; it has its name when all of it is there.

    Args:
        path: the file.
        analyses: what is read.
        variable: which variable.
        taken: indices of the cells that are kept, None for all.
        cells: of a block.
        steps: to read at once.
        tell: hears of bytes that were written.
    """
    size, samples = (analyses.grid.size if taken is None else taken.size), analyses.times.size
    with arrays.writing(path) as file:
        for place, values in analyses.spans(variable, steps):
            kept = values if taken is None else values[:, taken]
            for block in blocks(size, cells):
                width = block.stop - block.start
                file.seek(4 * (block.start * samples + place * width))
                file.write(np.ascontiguousarray(kept[:, block], dtype="<f4").data)
            tell(4 * kept.size)
            del values, kept
            release()


def read(path: Path, block: slice, samples: int) -> NDArray[np.float32]:
    """Return a block: (time, cell)."""
    width = block.stop - block.start
    with path.open("rb") as file:
        file.seek(4 * block.start * samples)
        return np.fromfile(file, dtype="<f4", count=samples * width).reshape(samples, width)
