"""A report of a source: what is in it, and how it was understood."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata.errors import UnsuitableData
from zephyrus_geodata.reading.understood import Reader, Understood
from zephyrus_geodata.variables import is_variable, variable

_SHOWN = 6


def inspection(source: Understood, *, sample: bool = True) -> dict[str, Any]:
    """Describe a source in plain values, for JSON and for ``told``.

    Args:
        source: the source.
        sample: whether to read one step of every variable for its range.
    """
    return {
        "where": source.where,
        "format": source.format,
        "kind": source.kind,
        "init_times": _texts(source.init_times),
        "lead_hours": source.lead_hours.tolist(),
        "times": _texts(source.times),
        "days": source.days.tolist(),
        "hours": source.hours.tolist(),
        "members": list(source.members),
        "grid": repr(source.grid),
        "cells": int(source.grid.size),
        "variables": [_variable(source, name, sample) for name in source.variables],
        "left_out": dict(source.left_out),
        "notes": [str(note) for note in source.notes],
        "questions": [
            {"text": q.text, "flag": q.flag, "variable": q.variable} for q in source.questions
        ],
        "attributes": {
            key: str(value)
            for key, value in source.attrs.items()
            if key.lower() in ("title", "institution", "source", "license", "attribution", "name")
        },
    }


def _texts(times: NDArray[np.datetime64]) -> list[str]:
    return [str(t)[:16] for t in times]


def _variable(source: Understood, name: str, sample: bool) -> dict[str, Any]:
    taken = source.taken.get(name)
    row: dict[str, Any] = {
        "name": name,
        "raw": list(taken.raw) if taken else [],
        "raw_units": taken.units if taken else "",
        "units": variable(name).units if is_variable(name) else "",
        "how": taken.how if taken else "",
    }
    if sample:
        try:
            row["sample"] = _sample(source.variables[name], _steps(source))
        except UnsuitableData as error:
            row["problem"] = str(error)
    return row


def _steps(source: Understood) -> int:
    if source.kind == "forecast":
        return source.lead_hours.size
    return source.times.size or source.days.size * source.hours.size


def _sample(reader: Reader, steps: int) -> dict[str, float | int | None]:
    """Return the range of one step: the second, as amounts have no first; or the last."""
    values = np.empty(0, np.float32)
    for step in dict.fromkeys((min(1, steps - 1), steps - 1)):
        values = reader(0, slice(step, step + 1))
        if np.isfinite(values).any():
            break
    good = values[np.isfinite(values)]
    if not good.size:
        return {"min": None, "max": None, "missing": int(values.size), "of": int(values.size)}
    return {
        "min": float(good.min()),
        "max": float(good.max()),
        "missing": int(values.size - good.size),
        "of": int(values.size),
    }


def told(report: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of a report for people."""
    yield f"{report['where']} ({report['format']})"
    yield f"  kind       {report['kind']}"
    if report["init_times"]:
        yield f"  runs       {_few(report['init_times'])}"
        yield f"  lead times {_hours(report['lead_hours'])}"
    if report["times"]:
        yield f"  times      {_few(report['times'])}"
    if report["days"]:
        yield f"  days       {len(report['days'])} days of the year, hours {report['hours']}"
    if report["members"]:
        yield f"  members    {_few(report['members'])}"
    yield f"  grid       {report['grid']}"
    for key, value in report["attributes"].items():
        yield f"  {key:10} {value}"
    yield "  variables" if report["variables"] else "  variables  none that is known"
    width = max((len(row["name"]) for row in report["variables"]), default=0)
    for row in report["variables"]:
        raw = " and ".join(row["raw"]) or "?"
        line = f"    {row['name']:{width}}  {row['units']:7}  from {raw}"
        line += f" [{row['raw_units']}]" if row["raw_units"] else ""
        yield line + f"; {_range(row)}" if row.keys() & {"sample", "problem"} else line
    for name, why in report["left_out"].items():
        yield f"  left out   {name}: {why}"
    for note in report["notes"]:
        yield f"  note       {note}"
    for question in report["questions"]:
        about = f"{question['variable']}: " if question["variable"] else ""
        yield f"  QUESTION   {about}{question['text']} Say {question['flag']}"


def _range(row: dict[str, Any]) -> str:
    if "problem" in row:
        return str(row["problem"])
    sample = row["sample"]
    if sample["min"] is None:
        return "a sample is all missing"
    text = f"{sample['min']:.6g} to {sample['max']:.6g} in a sample"
    if sample["missing"]:
        text += f", {sample['missing'] / sample['of']:.0%} missing"
    return text


def _few(items: list[str]) -> str:
    if len(items) <= _SHOWN:
        return ", ".join(items)
    return f"{items[0]}, {items[1]}, ... {items[-1]} ({len(items)})"


def _hours(hours: list[int]) -> str:
    steps = sorted(set(np.diff(hours).tolist())) if len(hours) > 1 else []
    every = f" every {steps[0]} h" if len(steps) == 1 else ""
    if len(steps) > 1:
        every = f" in steps of {', '.join(map(str, steps))} h"
    if len(hours) <= _SHOWN:
        return f"{', '.join(map(str, hours))} h"
    return f"{hours[0]} to {hours[-1]} h{every} ({len(hours)})"
