"""The memory that is stated is kept, on analyses several times as large."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

zarr = pytest.importorskip("zarr")
pytest.importorskip("dask")

BOUND = 64_000_000

# Peak memory of this process alone: ru_maxrss would count that of the one it was forked from.
RUN = """
import sys
from zephyrus.cli.main import main
try:
    main()
finally:
    print(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")), file=sys.stderr)
"""


def analyses(path: Path, steps: int, shape: tuple[int, int]) -> int:
    """Write hourly analyses as ERA5's Zarr has them; return the bytes of their numbers."""
    lat, lon = np.linspace(87.0, -87.0, shape[0]), np.arange(shape[1]) * 360.0 / shape[1]
    group = zarr.open_group(path, mode="w", zarr_format=2)

    def axis(name: str, values: np.ndarray, units: str) -> None:
        array = group.create_array(name, data=values)
        array.attrs.update({"_ARRAY_DIMENSIONS": [name], "units": units})

    axis("time", np.arange(steps), "hours since 2001-01-01")
    axis("latitude", lat, "degrees_north")
    axis("longitude", lon, "degrees_east")
    out = group.create_array(
        "2m_temperature", shape=(steps, *shape), chunks=(240, *shape), dtype="f4"
    )
    out.attrs.update({"_ARRAY_DIMENSIONS": ["time", "latitude", "longitude"], "units": "K"})
    rng = np.random.default_rng(0)
    for start in range(0, steps, 2400):
        size = (min(2400, steps - start), *shape)
        out[start : start + size[0]] = rng.normal(280.0, 8.0, size).astype(np.float32)
    zarr.consolidate_metadata(path)
    return out.nbytes


def peak(source: Path, output: Path, *more: str) -> tuple[int, dict[str, int]]:
    """Build a climatology; return the peak of memory in bytes and what was said."""
    done = subprocess.run(
        [sys.executable, "-c", RUN, "data", "climatology", str(source), "--output", str(output),
         "--every", "30", "--window", "3", "--memory", str(BOUND), "--json", *more],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    line = done.stderr.strip().splitlines()[-1]
    return int(line.split()[1]) * 1024, json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux's /proc")
def test_memory_is_bounded(tmp_path: Path) -> None:
    size = analyses(tmp_path / "large.zarr", 4 * 8766, (32, 64))
    assert size > 4 * BOUND
    analyses(tmp_path / "small.zarr", 240, (4, 8))
    python, _ = peak(tmp_path / "small.zarr", tmp_path / "small.nc", "--hours")
    most, told = peak(tmp_path / "large.zarr", tmp_path / "large.nc", "--hours")
    assert told["memory"] <= BOUND
    assert told["samples"] == 4 * 8766
    print(f"\n{size / 1e6:.0f} MB in, {python / 1e6:.0f} MB Python, {(most - python) / 1e6:.1f} MB more,"
          f" {told['memory'] / 1e6:.1f} MB stated")  # fmt: skip
    assert most - python <= told["memory"]
