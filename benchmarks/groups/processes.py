"""What a process of its own costs: a query from the shell, and the help."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.clock import interleaved
from benchmarks.records import Bar, Record
from benchmarks.world import DATASET, VARIABLE, World

_OURS = """
import json, sys, time
from zephyrus_geodata import load_dataset
for folder in sys.argv[2:]:  # the first is a small one, so that all modules are imported
    start = time.perf_counter()
    dataset = load_dataset(folder)
    forecast = dataset.forecast(dataset.forecasts[0])
    spent = time.perf_counter() - start
    place = dataset.features.get("France", "country")  # names and shapes are no data
    start = time.perf_counter()
    series = dataset.series(forecast, sys.argv[1], place)
    spent += time.perf_counter() - start
print(json.dumps({"data": spent, "mean": float(series.mean())}))
"""

_THEIRS = """
import json, sys, time
import numpy, xarray
for path in sys.argv[2:]:
    start = time.perf_counter()
    with xarray.open_dataset(path, decode_timedelta=True) as opened:
        field = opened[sys.argv[1]].sel(latitude=slice(41, 52), longitude=slice(-5, 10))
        height = numpy.cos(numpy.deg2rad(field.latitude))
        series = field.weighted(height).mean(("latitude", "longitude")).values
    spent = time.perf_counter() - start
print(json.dumps({"data": spent, "mean": float(series.mean())}))
"""


def cold(world: World) -> list[Record]:
    """Python starts, opens a forecast that lies on the disk and answers one query."""
    from zephyrus_geodata import load_dataset

    environment = {"ZEPHYRUS_DATA": str(world.stored.parent)}
    arguments = json.dumps({"variable": VARIABLE, "feature": "France", "time": "mean"})
    query = ["-m", "zephyrus", "tools", "call", "--dataset", DATASET, "dataset", arguments]
    small = World(world.scratch / "small", quick=True)
    small.scratch.mkdir(exist_ok=True)
    ours = ["-c", _OURS, VARIABLE, str(small.stored), str(world.stored)]
    theirs = ["-c", _THEIRS, VARIABLE, str(small.netcdf), str(world.netcdf)]
    data: dict[str, list[float]] = {"ours": [], "theirs": []}

    def evict() -> None:
        for path in (world.netcdf, *world.stored.rglob("*.npy")):
            _evict(path)

    def timed(name: str, command: Sequence[str]) -> None:
        data[name].append(float(json.loads(_python(command, environment))["data"]))

    # The weights of the features are built once and kept, as they are on a user's machine.
    load_dataset(world.stored).zones.build()
    whole = interleaved(
        {
            "query": lambda: _python(query, environment),
            "ours": lambda: timed("ours", ours),
            "theirs": lambda: timed("theirs", theirs),
        },
        world.rounds,
        before=evict,
    )
    middle = {name: sorted(found)[len(found) // 2] for name, found in data.items()}
    evicted = "the files' pages are dropped from memory before every call"
    note = evicted if hasattr(os, "posix_fadvise") else "the files may be in memory"
    return [
        Record(
            "cold",
            "zephyrus tools call in a new process: one query of a stored forecast",
            whole["query"],
            alternative="Python with xarray: open_dataset, select, weighted",
            theirs=whole["theirs"],
            sense="faster",
            bar=Bar("ours", "most", 2.0),
            headline=True,
            note=note,
            limits="Importing NumPy, pydantic, shapely and pyarrow takes most of it.",
        ),
        Record(
            "cold",
            "the part of it that is data: opening and the mean series of a country",
            middle["ours"],
            alternative="the same of xarray: open_dataset, select, weighted",
            theirs=middle["theirs"],
            sense="faster",
            bar=Bar("ours", "most", 0.010),
            headline=True,
            note=note,
            limits="Every page that holds a cell is read from the disk.",
        ),
    ]


def help_text(world: World) -> list[Record]:
    """The help of the command line."""
    timed = interleaved(
        {
            "ours": lambda: _python(["-m", "zephyrus", "--help"], {}),
            "xarray": lambda: _python(["-c", "import xarray"], {}),
        },
        world.rounds,
    )
    return [
        Record(
            "help",
            "zephyrus --help",
            timed["ours"],
            alternative="python -c 'import xarray'",
            theirs=timed["xarray"],
            sense="faster",
            bar=Bar("ours", "most", 0.3),
            headline=True,
            limits="Python's own start and click take most of it.",
        )
    ]


def _python(arguments: Sequence[str], environment: Mapping[str, str]) -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(f"{arguments} failed: {done.stdout}{done.stderr}")
    return done.stdout


def _evict(path: Path) -> None:
    """Ask the system to drop a file's pages from memory."""
    if hasattr(os, "posix_fadvise"):
        with path.open("rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


ROWS = {"cold": cold, "help": help_text}
