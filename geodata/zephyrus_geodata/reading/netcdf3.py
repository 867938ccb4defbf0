"""Whether a classic NetCDF file is all there.

The NetCDF library reads zeros where a classic file was cut off, so its header is held against
the size of the file. The layout is from the NetCDF classic format specification (OGC 10-092r3).
"""

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

from zephyrus_geodata.errors import UnsuitableData

_SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 4, 6: 8, 7: 1, 8: 2, 9: 4, 10: 8, 11: 8}
_DIMENSIONS, _VARIABLES, _ATTRIBUTES = 10, 11, 12


def check_complete(path: Path) -> None:
    """Check that a classic, 64-bit offset or CDF-5 file is as long as its header says.

    Raises:
        UnsuitableData: if it was cut off.
    """
    size = path.stat().st_size
    try:
        with path.open("rb") as file:
            needed = _needed(file.read)
    except (struct.error, KeyError, OverflowError) as error:
        raise UnsuitableData(
            f"{path.name} is damaged or not complete: its NetCDF header breaks off; fetch it again."
        ) from error
    if size < needed:
        raise UnsuitableData(
            f"{path.name} is not complete: it has {size:,} bytes of {needed:,}; fetch it again."
        )


def _needed(read: Callable[[int], bytes]) -> int:
    """Return the least size of a file in bytes, from its header."""
    version = read(4)[3]
    count_format, offset_format = (">q" if version == 5 else ">i"), (">i" if version == 1 else ">q")

    def number(form: str) -> int:
        return int(struct.unpack(form, read(struct.calcsize(form)))[0])

    def count() -> int:
        return number(count_format)

    def text() -> None:
        skip(count())

    def skip(length: int) -> None:
        if len(read(-(-length // 4) * 4)) < length:
            raise struct.error("cut off")

    def many(tag: int, one: Callable[[], Any]) -> list[Any]:
        found, entries = number(">i"), count()
        if found not in (0, tag):
            raise struct.error("not a list")
        return [one() for _ in range(entries)]

    def dimension() -> int:
        text()
        return count()

    def attribute() -> None:
        text()
        kind = number(">i")
        skip(count() * _SIZES[kind])

    def variable() -> tuple[list[int], int, int]:
        text()
        dims = [count() for _ in range(count())]
        many(_ATTRIBUTES, attribute)
        kind = number(">i")
        count()  # vsize, which overflows for large variables
        return dims, _SIZES[kind], number(offset_format)

    records = count()
    lengths = many(_DIMENSIONS, dimension)
    many(_ATTRIBUTES, attribute)
    variables = many(_VARIABLES, variable)
    streaming = records in (-1, 0xFFFFFFFF)
    sizes = []
    for dims, item, begin in variables:
        record = bool(dims) and lengths[dims[0]] == 0
        cells = 1
        for dim in dims[1:] if record else dims:
            cells *= lengths[dim]
        sizes.append((record, cells * item, begin))
    one_record = sum(size for record, size, _ in sizes if record)
    if sum(record for record, _, _ in sizes) > 1:
        one_record = sum(-(-size // 4) * 4 for record, size, _ in sizes if record)
    ends = [begin + size for record, size, begin in sizes if not record]
    if records > 0 and not streaming:
        ends += [begin + (records - 1) * one_record + size for rec, size, begin in sizes if rec]
    return max(ends, default=0)
