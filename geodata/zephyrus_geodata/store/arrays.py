"""Arrays on the disk: written whole or not at all, read as memory maps.

A file is written with ``write``, never through a memory map: where the disk is full, the one is
an error and the other kills the process.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import DTypeLike, NDArray

from zephyrus_geodata.errors import UnsuitableData

_PART = ".part"


@contextmanager
def writing(path: Path) -> Iterator[IO[bytes]]:
    """Open a file to write; it gets its name when all of it is on the disk."""
    part = path.with_name(path.name + _PART)
    try:
        with part.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def write(
    path: Path, shape: tuple[int, ...], blocks: Iterable[NDArray[Any]], dtype: DTypeLike = "<f4"
) -> None:
    """Write a ``.npy`` file, C order, from blocks that follow one another in it.

    Raises:
        ValueError: if the blocks have another size together than the shape says.
        OSError: if the disk is full; then there is no file.
    """
    kind = np.dtype(dtype)
    left = int(np.prod(shape, dtype=np.int64)) * kind.itemsize
    with writing(path) as file:
        header = {"descr": npy.dtype_to_descr(kind), "fortran_order": False, "shape": shape}
        npy.write_array_header_1_0(file, header)
        for block in blocks:
            whole = np.ascontiguousarray(block, dtype=kind)
            left -= whole.nbytes
            file.write(whole.data)
        if left:
            raise ValueError(f"{path.name}: {left} bytes are missing of an array of shape {shape}")


def read(path: Path) -> NDArray[Any]:
    """Return an array as a read-only memory map.

    Raises:
        UnsuitableData: if the file is gone or damaged.
    """
    try:
        # A plain array on top of the map: numpy's memmap class is slow to slice.
        return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
    except FileNotFoundError:
        raise UnsuitableData(
            f"{path} is gone: the dataset was changed or removed while it was open. Load it again."
        ) from None
    except (OSError, ValueError, EOFError) as error:
        raise UnsuitableData(f"{path} is damaged ({error}): add the dataset again.") from error


def is_whole(path: Path, shape: tuple[int, ...]) -> bool:
    """Say whether a file holds a float32 array of this shape."""
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return False
    return bool(array.shape == shape and array.dtype == np.dtype("<f4"))
