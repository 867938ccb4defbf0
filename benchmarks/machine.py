"""The machine and the versions that numbers were measured with."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

LIBRARIES = (
    "numpy",
    "numba",
    "xarray",
    "shapely",
    "scipy",
    "exactextract",
    "flox",
    "regionmask",
    "matplotlib",
    "cartopy",
    "openai",
    "aiohttp",
    "verifiers",
)

THREADS = ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "NUMBA", "VECLIB")
"""Prefixes of the variables that say how many threads a library may use."""


def single_thread() -> None:
    """Give every library one thread; to be called before any of them is imported."""
    for prefix in THREADS:
        name = "VECLIB_MAXIMUM_THREADS" if prefix == "VECLIB" else f"{prefix}_NUM_THREADS"
        os.environ[name] = "1"


def describe() -> dict[str, Any]:
    """CPU, cores, memory, Python, libraries and date; no host names, no paths."""
    found = {}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "cpu": _cpu(),
        "cores": os.cpu_count() or 1,
        "memory_gib": _memory_gib(),
        "system": platform.system(),
        "python": platform.python_version(),
        "libraries": found,
    }


def sentence(machine: Mapping[str, Any]) -> str:
    """The machine in one line."""
    libraries = ", ".join(f"{name} {of}" for name, of in machine["libraries"].items())
    return (
        f"Measured {machine['date']} on {machine['cpu']}, {machine['cores']} cores, "
        f"{machine['memory_gib']:g} GiB of memory, {machine['system']}, Python "
        f"{machine['python']}, one thread each; {libraries}."
    )


def short_sentence(machine: Mapping[str, Any]) -> str:
    """The same without the libraries."""
    return f"{sentence(machine).partition(', one thread each')[0]}, one thread each."


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.machine())


def _memory_gib() -> float:
    try:
        size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return 0.0
    return float(round(size / 1024**3))
