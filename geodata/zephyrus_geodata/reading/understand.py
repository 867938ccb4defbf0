"""From an opened source to ``Understood``: axes, then meaning, then cells."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata.errors import UnsuitableData
from zephyrus_geodata.reading.axes import align
from zephyrus_geodata.reading.opened import Opened
from zephyrus_geodata.reading.pieces import pieces
from zephyrus_geodata.reading.remarks import Remarks
from zephyrus_geodata.reading.understood import (
    EVERY,
    Answers,
    Axes,
    Layout,
    Note,
    Question,
    RawField,
    RawReader,
    Understood,
)


def raw_fields(
    opened: Opened, answers: Answers | None = None
) -> tuple[Axes, list[RawField], Remarks]:
    """Understand the axes of a source, and nothing else.

    Raises:
        UnsuitableData: if that can't be done.
    """
    answers = answers or Answers()
    remarks = Remarks([Note(text) for text in opened.notes])
    parts = [piece for cube in opened.cubes for piece in pieces(cube, answers, remarks)]
    axes, fields = align(parts, answers, remarks)
    return axes, fields, remarks


def understand(opened: Opened, answers: Answers | None = None) -> Understood:
    """Understand a source.

    Args:
        opened: from ``open_source``.
        answers: what the user says where the source leaves it open.

    Returns:
        What is in it; whoever stores it refuses while ``questions`` are open.

    Raises:
        UnsuitableData: if it can't be read as gridded weather data at all.
    """
    from zephyrus_geodata.reading.grids import lay_out
    from zephyrus_geodata.reading.values import interpret

    answers = answers or Answers()
    axes, fields, remarks = raw_fields(opened, answers)
    fields, asked = _one_grid(fields, answers, remarks)
    layout = lay_out(fields[0].horizontal, answers)
    meaning = interpret(fields, axes, answers)
    return Understood(
        kind=axes.kind,
        where=opened.where,
        format=opened.format,
        init_times=axes.init_times,
        lead_hours=axes.lead_hours,
        times=axes.times,
        members=axes.members,
        grid=layout.grid,
        variables={
            name: partial(_read, reader, layout, len(fields[0].horizontal.dims) or 1)
            for name, reader in meaning.variables.items()
        },
        taken=meaning.taken,
        left_out={**remarks.left_out, **meaning.left_out},
        notes=(*remarks.notes, *layout.notes, *meaning.notes),
        questions=(*asked, *remarks.questions, *layout.questions, *meaning.questions),
        days=axes.days,
        hours=axes.hours,
        attrs=_attrs(opened),
    )


def _read(
    reader: RawReader, layout: Layout, spatial: int, init: int = 0, span: slice = EVERY
) -> NDArray[np.float32]:
    """Read in cells: (member, cell, step) or (cell, step)."""
    cells = layout.gather(np.asarray(reader(init, span)))
    return np.ascontiguousarray(np.moveaxis(cells, -2, -1), dtype=np.float32)


def _one_grid(
    fields: Sequence[RawField], answers: Answers, remarks: Remarks
) -> tuple[list[RawField], list[Question]]:
    """Keep the fields of one grid: all of a dataset's variables share their cells."""
    grids: dict[str, list[RawField]] = {}
    for field in fields:
        grids.setdefault(field.horizontal.key, []).append(field)
    groups = list(grids.values())
    if len(groups) == 1 and not answers.grid:
        return groups[0], []
    index = answers.grid if answers.grid is not None else 0
    if not 0 <= index < len(groups):
        raise UnsuitableData(f"There is no grid {index}; the source has {len(groups)}.")
    for number, group in enumerate(groups):
        if number != index:
            for field in group:
                remarks.leave_out(field.name, f"lies on grid {number}, and grid {index} was read")
    if answers.grid is not None:
        return groups[index], []
    told = "; ".join(
        f"{number} is {' x '.join(map(str, group[0].horizontal.shape))} with "
        f"{', '.join(sorted({f.name for f in group})[:4])}"
        for number, group in enumerate(groups)
    )
    text = f"The source has {len(groups)} grids and one dataset has one: {told}."
    return groups[index], [Question(text, "--grid NUMBER")]


def _attrs(opened: Opened) -> dict[str, Any]:
    whole: dict[str, Any] = {}
    for cube in opened.cubes:
        for key, value in cube.attrs.items():
            whole.setdefault(str(key), value)
    return whole
