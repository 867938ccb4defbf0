"""Runs the rows, each group in a process of its own, and writes what they found.

Every library has one thread. What is made lies in a scratch folder, which goes away at the end,
as do the caches of zephyrus: nothing of the user's is read or written.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks import docs, machine, markdown
from benchmarks.records import Curve, Found, Record
from benchmarks.world import World

GROUPS: Mapping[str, tuple[str, ...]] = {
    "series": ("one-feature", "all-features", "accuracy"),
    "statistics": ("median", "exceedance"),
    "calls": ("tool-call", "ranking"),
    "weights": ("weights",),
    "processes": ("cold", "help"),
    "maps": ("map",),
    "charts": ("chart",),
    "banks": ("bank",),
    "endpoint": ("rollout", "endpoint"),
    "loop": ("loop",),
    "harness": ("verifiers",),
    "judging": ("judging",),
    "training": ("training",),
    "growth": ("growth-features", "growth-grid", "growth-leads", "growth-rollouts"),
}
"""Modules of ``benchmarks.groups`` and their rows; each has a function for each in ``ROWS``."""

ROOT = Path(__file__).resolve().parents[1]

Row = Callable[[World], Sequence[Found]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Returns:
        0, 1 if a bar is missed or a row broke, or 2 if the command is wrong.
    """
    options = _options(arguments)
    if options.list:
        for group, rows in GROUPS.items():
            print(f"{group:12}{' '.join(rows)}")
        return 0
    known = [row for rows in GROUPS.values() for row in rows]
    unknown = [row for row in options.rows if row not in known]
    if unknown:
        print(f"There is no row {unknown[0]!r}; the rows are {', '.join(known)}.", file=sys.stderr)
        return 2
    if options.earlier is not None:
        docs.update(ROOT, json.loads(options.earlier.read_text(encoding="utf-8")))
        return 0
    if options.update_docs and (options.quick or options.rows):
        print("--update-docs needs all rows at full size.", file=sys.stderr)
        return 2
    machine.single_thread()
    with tempfile.TemporaryDirectory(prefix="zephyrus-bench-") as folder:
        scratch = Path(folder)
        os.environ["XDG_CACHE_HOME"] = str(scratch / "cache")
        os.environ["MPLBACKEND"] = "agg"
        os.environ.pop("ZEPHYRUS_DATA", None)
        found, broken = _run(World(scratch, options.quick), options.rows or known)
    return report(found, broken, options)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="benchmarks/run.py",
        description="Measure zephyrus against named alternatives on the same work.",
    )
    parser.add_argument("rows", nargs="*", metavar="ROW", help="rows to run [default: all]")
    parser.add_argument("--list", action="store_true", help="show the groups and their rows")
    parser.add_argument(
        "--quick", action="store_true", help="tiny sizes: only to see that all rows work"
    )
    parser.add_argument(
        "--output", type=Path, default=Path("runs/bench"), help="folder [default: runs/bench]"
    )
    parser.add_argument(
        "--update-docs", action="store_true", help="rewrite docs/performance and the README's table"
    )
    parser.add_argument(
        "--docs-from",
        type=Path,
        dest="earlier",
        metavar="FILE",
        help="measure nothing: rewrite them from the results.json of an earlier run of all rows",
    )
    return parser.parse_args(arguments)


def _run(world: World, wanted: Sequence[str]) -> tuple[list[Found], list[str]]:
    """Run rows; returns what they found, and the rows that broke."""
    found: list[Found] = []
    broken: list[str] = []
    context = multiprocessing.get_context("spawn")
    for group, rows in GROUPS.items():
        chosen = [row for row in rows if row in wanted]
        if not chosen:
            continue
        # A process for each group: none finds another's memory, caches or imports.
        with ProcessPoolExecutor(1, context) as pool:
            for row in chosen:
                start = time.perf_counter()
                try:
                    told = pool.submit(run_row, group, row, world).result()
                except Exception:
                    traceback.print_exc()
                    broken.append(row)
                    continue
                found += told
                print(f"{row} ({time.perf_counter() - start:.0f} s)", file=sys.stderr)
                for record in told:
                    if isinstance(record, Record):
                        print(f"  {markdown.plain(record)}", file=sys.stderr)
    return found, broken


def run_row(group: str, row: str, world: World) -> list[Found]:
    """Run one row in this process."""
    rows: Mapping[str, Row] = import_module(f"benchmarks.groups.{group}").ROWS
    return list(rows[row](world))


def report(found: Sequence[Found], broken: Sequence[str], options: argparse.Namespace) -> int:
    """Write the files, print the table, and with ``--update-docs`` rewrite the docs.

    Args:
        found: what the rows found.
        broken: rows that raised.
        options: ``output``, ``quick`` and ``update_docs``.

    Returns:
        The exit code: 1 if a bar is missed at full size, or a row broke.
    """
    records = [one for one in found if isinstance(one, Record)]
    curves = [one for one in found if isinstance(one, Curve)]
    results: dict[str, Any] = {
        "machine": machine.describe(),
        "quick": options.quick,
        "records": [record.to_dict() for record in records],
        "curves": [curve.to_dict() for curve in curves],
    }
    options.output.mkdir(parents=True, exist_ok=True)
    write_json(options.output / "results.json", results)
    table = markdown.table(records)
    (options.output / "table.md").write_text(table + "\n", encoding="utf-8")
    print(table)
    if options.update_docs and broken:
        print("The docs are left as they are, since rows broke.", file=sys.stderr)
    elif options.update_docs:
        docs.update(ROOT, results)
    missed = [record for record in records if record.met is False]
    unmeasured = [record for record in records if record.bar and record.met is None]
    print(
        f"\n{len(records)} comparisons: {len(missed)} bars missed, {len(unmeasured)} not measured, "
        f"{len(broken)} rows broken{': ' + ', '.join(broken) if broken else ''}. "
        f"Written to {options.output}."
    )
    return 1 if broken or (missed and not options.quick) else 0


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write JSON that a diff can show."""
    text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")
