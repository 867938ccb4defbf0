"""What a process needs to open a stored forecast and answer one query; how long: benchmarks/."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from zephyrus_geodata.grid import Grid
from zephyrus_geodata.store.ingest import add_dataset

sys.path.insert(0, str(Path(__file__).parent))  # for the sources beside the tests

from store_parts import Source

CODE = """
import json, sys
from zephyrus_geodata import load_dataset
dataset = load_dataset("world")
forecast = dataset.forecast(dataset.forecasts[0])
place = dataset.features.get("France")
series = dataset.series(forecast, "2m_temperature", place)
from zephyrus_geodata.zonal import zonal_statistic
field = forecast.cells("2m_temperature")
computed = zonal_statistic(field, dataset.zones.weights(place))
assert series.tolist() == computed.tolist()
mapped = not field.flags.owndata and not field.flags.writeable
heavy = sorted({"numba", "xarray", "pandas", "netCDF4", "scipy"} & set(sys.modules))
print(json.dumps({"mapped": mapped, "heavy": heavy, "times": series.size}))
"""


@pytest.mark.slow
def test_a_query_imports_little_and_maps_the_field(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grid = Grid(np.linspace(-90.0, 90.0, 721), np.arange(-180.0, 180.0, 0.25))
    source = Source(
        grid=grid, inits=["2020-01-01"], leads=range(0, 246, 6), variables=["2m_temperature"]
    )
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    add_dataset("world", source.understood, root=tmp_path)
    environment = {**os.environ, "ZEPHYRUS_DATA": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", CODE], capture_output=True, text=True, check=True, env=environment
    )
    assert json.loads(done.stdout) == {"mapped": True, "heavy": [], "times": 41}
