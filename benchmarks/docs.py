"""Puts the results of a full run into the docs: the tables, the pictures and their numbers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks import machine, markdown, plots
from benchmarks.records import Curve, Record

NAME = "performance"


def update(root: Path, results: Mapping[str, Any]) -> None:
    """Rewrite the marked parts of README.md and docs/performance.md, and docs/performance/.

    Args:
        root: of the repository.
        results: what a run wrote as results.json.

    Raises:
        MissingMarkersError: if a page lacks the markers.
    """
    records = [Record.from_dict(one) for one in results["records"]]
    measured = machine.sentence(results["machine"])
    headline = markdown.table([record for record in records if record.headline])
    readme = f"{headline}\n\n{machine.short_sentence(results['machine'])}"
    whole = [measured, markdown.table(records), markdown.notes(records)]
    _rewrite(root / "README.md", {NAME: readme})
    _rewrite(
        root / "docs" / f"{NAME}.md",
        {
            NAME: "\n\n".join(part for part in whole if part),
            f"{NAME} missed": markdown.missed(records),
        },
    )
    folder = root / "docs" / NAME
    folder.mkdir(exist_ok=True)
    text = json.dumps(results, indent=1, ensure_ascii=False, allow_nan=False)
    (folder / "results.json").write_text(text + "\n", encoding="utf-8")
    for curve in map(Curve.from_dict, results["curves"]):
        plots.draw(curve, folder / f"{curve.row}.png")


def _rewrite(path: Path, parts: Mapping[str, str]) -> None:
    page = path.read_text(encoding="utf-8")
    for name, text in parts.items():
        page = markdown.between(page, name, text)
    path.write_text(page, encoding="utf-8")
