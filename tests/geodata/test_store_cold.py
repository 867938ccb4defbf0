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
from zephyrus_geodata import Feature, FeatureStore, load_dataset
from shapely.geometry import box
import zephyrus_geodata.store.opened
place = Feature.of("Box", "region", box(-5, 42, 8, 51))
def spent(start=[0.0]):
    now = time.process_time()
    start[0], gone = now, now - start[0]
    return gone
spent()
dataset = load_dataset("world")
forecast = dataset.forecast(dataset.forecasts[0])
opened = spent()
zone = dataset.zones.weights(place)
weights = spent()
from zephyrus_geodata.zonal import zonal_statistic
spent()
series = zonal_statistic(forecast.cells("2m_temperature"), zone)
query = spent()
print(json.dumps({"opened": opened, "query": query, "series": series.tolist()}))
"""


@pytest.mark.slow
def test_a_quarter_degree_forecast_opens_in_a_moment(tmp_path: Path) -> None:
    grid = Grid(np.linspace(-90.0, 90.0, 721), np.arange(-180.0, 180.0, 0.25))
    source = Source(
        grid=grid, inits=["2020-01-01"], leads=range(0, 246, 6), variables=["2m_temperature"]
    )
    add_dataset("world", source.understood, root=tmp_path)
    environment = {**os.environ, "ZEPHYRUS_DATA": str(tmp_path)}
    best = {"opened": np.inf, "query": np.inf}
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
    assert len(told["series"]) == 41
    assert best["opened"] + best["query"] <= 0.010
