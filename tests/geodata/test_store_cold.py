"""What it takes to open a stored forecast and answer one query, in a process of its own."""

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
import json, time
from zephyrus_geodata import FeatureStore, load_dataset
import zephyrus_geodata.store.opened, zephyrus_geodata.zonal
features = FeatureStore.load()
place = features.get("France")
def spent(start=[0.0]):
    now = time.process_time()
    start[0], gone = now, now - start[0]
    return gone
spent()
dataset = load_dataset("world")
dataset.features = features
forecast = dataset.forecast(dataset.forecasts[0])
opened = spent()
series = dataset.series(forecast, "2m_temperature", place)
query = spent()
field = dataset.zones.weights(place)
spent()
from zephyrus_geodata.zonal import zonal_statistic
computed = zonal_statistic(forecast.cells("2m_temperature"), field)
kernel = spent()
assert series.tolist() == computed.tolist()
print(json.dumps({"opened": opened, "query": query, "kernel": kernel, "times": series.size}))
"""


@pytest.mark.slow
def test_a_quarter_degree_forecast_opens_in_a_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grid = Grid(np.linspace(-90.0, 90.0, 721), np.arange(-180.0, 180.0, 0.25))
    source = Source(
        grid=grid, inits=["2020-01-01"], leads=range(0, 246, 6), variables=["2m_temperature"]
    )
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    add_dataset("world", source.understood, root=tmp_path)
    environment = {**os.environ, "ZEPHYRUS_DATA": str(tmp_path)}
    best = {"opened": np.inf, "query": np.inf, "kernel": np.inf}
    for _ in range(5):  # the best of five: other work on the machine must not fail the test
        done = subprocess.run(
            [sys.executable, "-c", CODE],
            capture_output=True,
            text=True,
            check=True,
            env=environment,
        )
        told = json.loads(done.stdout)
        best = {key: min(best[key], told[key]) for key in best}
    assert told["times"] == 41
    assert best["opened"] + best["query"] <= 0.010  # of the cube
    assert best["opened"] + best["kernel"] <= 0.010  # of the field
