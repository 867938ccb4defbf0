"""What the tools remember between calls: it changes no answer and outlives no dataset."""

import gc
import json
import random
import re
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from zephyrus_geodata import Dataset, Feature, FeatureStore, Forecast
from zephyrus_geodata.testing import analytic_dataset
from zephyrus_tools import places
from zephyrus_tools.climatology import climatology
from zephyrus_tools.dataset import dataset

SHIPPED = FeatureStore.load()


def small(*features):
    """A dataset of its own, with one forecast and few features: those of Africa by default."""
    features = features or (SHIPPED.get("Africa"), *SHIPPED.children("Africa"))
    made = analytic_dataset(
        step=15.0, initial_dates=("2001-01-05",), features=FeatureStore(features)
    )
    return made, made.forecast("2001-01-05")


def test_the_world_is_the_mean_of_all_cells_for_each_forecast(inline):
    made = analytic_dataset(step=15.0)
    area = made.grid.cell_area
    for name in made.forecasts * 2:
        forecast = made.forecast(name)
        for statistic in ("mean", "max"):
            ask = {"variable": "2m_temperature", "feature": "world", "hour": 24}
            call = json.dumps({**ask, "statistic": statistic})
            answer = inline(dataset, call, {Dataset: made, Forecast: forecast}).text
            cells = forecast.cells("2m_temperature")[:, 3].astype(float)
            mean = (cells * area).sum() / area.sum()
            expected = (mean if statistic == "mean" else cells.max()) - 273.15
            assert f"{statistic} over the world, at 24 h" in answer
            shown = re.search(r": (\S+) °C$", answer)
            assert float(shown[1]) == pytest.approx(expected, abs=6e-3)


def test_a_dataset_is_let_go(inline):
    made, forecast = small()
    world = {Dataset: made, Forecast: forecast}
    for where in ({"feature": "world"}, {"feature": "Kenya"}, {"kind": "country"}):
        call = json.dumps({"variable": "2m_temperature", **where})
        assert inline(dataset, call, world).error is None
    assert made in places._WORLDS
    gone = weakref.ref(made), weakref.ref(forecast)
    del made, forecast, world
    gc.collect()
    assert [ref() for ref in gone] == [None, None]


def test_a_feature_may_be_called_the_world(inline):
    from shapely import box

    made, forecast = small(Feature.of("World", "park", box(10, 10, 40, 40)))
    call = json.dumps({"variable": "2m_temperature", "feature": "the world"})
    answer = inline(dataset, call, {Dataset: made, Forecast: forecast}).text
    assert "mean over World (park)" in answer


def test_many_threads_get_the_answers_of_one(inline):
    choose = random.Random(5)
    calls = []
    for _ in range(300):
        where = choose.choice(
            [
                {"feature": choose.choice(["Chad", "Kenya", "world", "Lagos"])},
                {"kind": choose.choice(["country", "desert", "city"])},
                {"kind": "lake", "parent": choose.choice(["Africa", "Kenya"])},
                {"latitude": choose.randint(-80, 80), "longitude": 10},
            ]
        )
        ask = {"variable": "2m_temperature", **where, "hour": 6 * choose.randint(1, 40)}
        if choose.random() < 0.5:
            calls.append((dataset, json.dumps(ask)))
        else:
            compare = choose.choice(["above", "departure", "area_above"])
            calls.append((climatology, json.dumps({**ask, "compare": compare, "limit": 3})))
    made, forecast = small()
    alone = [inline(tool, call, {Dataset: made, Forecast: forecast}) for tool, call in calls]
    made, forecast = small()
    world = {Dataset: made, Forecast: forecast}
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda pair: inline(*pair, world), calls))
    assert together == alone
    assert all(result.error is None for result in alone)


def test_all_features_too_small_for_the_grid_are_counted(inline):
    made, forecast = small(*SHIPPED.of_kind("lake")[:150])
    features = made.features.of_kind("lake")
    tiny = [f.name for f in features if made.zones.weights(f).fallback]
    assert made.too_small(features).tolist() == [f.name in tiny for f in features]
    ask = {"variable": "2m_temperature", "kind": "lake", "hour": 24, "statistic": "p5"}
    call = json.dumps({**ask, "compare": "above"})
    answer = inline(climatology, call, {Dataset: made, Forecast: forecast}).text
    now = made.table(forecast, "2m_temperature", features)[:, 3]
    usual = np.array([made.climate("2m_temperature", "p5", 1, f) for f in features])
    beyond = [f for f, x in zip(features, now - usual, strict=True) if x > 0.0]
    count = sum(f.name in tiny for f in beyond)
    assert len(beyond) > 60 and count > 5
    assert f"and {count - 5} more.)" in answer
