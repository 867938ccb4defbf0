"""Real files, through the command line into the store, against eccodes alone."""

import json
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from zephyrus_geodata import Climatology, load_dataset
from zephyrus_geodata.climatology import PERCENTILES
from zephyrus_geodata.store.opened import open_stored

sys.path.insert(0, str(Path(__file__).parent))  # for the sources beside the tests

from store_parts import zephyrus

SAMPLES = Path(__file__).parents[2] / ".." / "shared" / "samples" / "grids"


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A store of its own, for this process and those that it starts."""
    monkeypatch.setenv("ZEPHYRUS_DATA", str(tmp_path / "store"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "user"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "store"


def sample(name: str) -> Path:
    path = SAMPLES / name
    if not path.exists():
        pytest.skip(f"the sample {name} is not here")
    pytest.importorskip("eccodes")
    return path


def test_a_real_forecast(home: Path) -> None:
    """Every number of a real GRIB file, against eccodes alone."""
    import eccodes

    path = sample("pl_regular_ll.grib")
    zephyrus("data", "add", "real", str(path))
    dataset = load_dataset("real")
    assert dataset.forecasts == ("2024-06-03", "2024-06-03T12", "2024-06-04", "2024-06-04T12")
    names = {"z": "geopotential", "t": "temperature", "u": "u_component_of_wind"}
    names |= {"v": "v_component_of_wind", "r": "relative_humidity"}
    checked = 0
    with path.open("rb") as file:
        while (message := eccodes.codes_grib_new_from_file(file)) is not None:
            key = {k: eccodes.codes_get(message, k) for k in ("shortName", "level", "step", "hour")}
            day = str(eccodes.codes_get(message, "dataDate"))
            raw = eccodes.codes_get_values(message).reshape(19, 36)
            eccodes.codes_release(message)
            name = f"{day[:4]}-{day[4:6]}-{day[6:]}" + ("T12" if key["hour"] == 12 else "")
            got = dataset.forecast(name).cells(f"{names[key['shortName']]}_{key['level']}")
            scale = 0.01 if key["shortName"] == "r" else 1.0
            turned = np.roll(raw[::-1], 18, axis=1).ravel() * scale
            index = [0, 6].index(key["step"])
            np.testing.assert_allclose(got[:, index], turned, rtol=1e-6, atol=1e-6)
            checked += 1
    assert checked == 4 * 2 * 6 * 5
    call = json.dumps({"variable": "temperature_850", "feature": "Algeria", "kind": "country"})
    assert "850 hPa temperature (real), mean over Algeria" in zephyrus(
        "tools", "call", "dataset", call, "--dataset", "real"
    )


def test_a_real_ensemble(home: Path) -> None:
    import eccodes

    path = sample("ens_50.grib")
    zephyrus("data", "add", "ens", str(path))
    forecast = load_dataset("ens").forecast(load_dataset("ens").forecasts[0])
    assert forecast.members == ("control", *(str(n) for n in range(1, 51)))
    assert forecast.lead_hours.tolist() == [78]
    fields = {}
    with path.open("rb") as file:
        while (message := eccodes.codes_grib_new_from_file(file)) is not None:
            number = eccodes.codes_get(message, "number")
            fields[number] = eccodes.codes_get_values(message)
            eccodes.codes_release(message)
    shape = forecast.grid.shape
    for number, raw in fields.items():
        turned = raw.reshape(shape)[::-1].ravel()
        np.testing.assert_allclose(
            forecast.cells("geopotential_850", number)[:, 0], turned, rtol=1e-6
        )
    mean = np.mean(list(fields.values()), axis=0).reshape(shape)[::-1].ravel()
    np.testing.assert_allclose(forecast.cells("geopotential_850")[:, 0], mean, rtol=1e-6)


def test_real_analyses(home: Path) -> None:
    path = sample("era5_levels_members.grib")
    said = zephyrus(
        "data", "add", "era", str(path), "--select", "time=2017-01-01,bbox=-30,30,30,60"
    )
    assert "analyses" in said and "no forecast" in said
    stored = open_stored(home / "era")
    assert stored is not None
    (series,) = stored.series
    assert series.axis("times").astype(str).tolist() == [
        "2017-01-01T00:00:00",
        "2017-01-01T12:00:00",
    ]
    values = series.values("temperature_850")
    assert values.shape == (2, 10, stored.grid.size)
    assert 224.13 <= values.min() < values.max() <= 305.85
    assert "has no forecast: it holds analyses" in zephyrus(
        "tools", "call", "dataset", '{"variable": "temperature_850"}', "--dataset", "era", status=2
    )


def test_a_bank_from_a_real_forecast(home: Path, tmp_path: Path) -> None:
    """Two lead times are too few for every template; the questions there are can be answered."""
    from zephyrus_bench.bank import build_bank

    zephyrus("data", "add", "real", str(sample("pl_regular_ll.grib")))
    dataset = load_dataset("real")
    names = dataset.forecast("2024-06-03").variables

    def climate(variable: str) -> Any:  # of the sample's own eight fields
        fields = [dataset.forecast(name).cells(variable) for name in dataset.forecasts]
        x = np.concatenate(fields, axis=1).astype(np.float64)
        rows = [np.percentile(x, p, axis=1) for p in PERCENTILES] + [x.mean(axis=1), x.std(axis=1)]
        return np.broadcast_to(np.stack(rows).astype(np.float32), (12, len(rows), x.shape[0]))

    climatology = Climatology(
        dataset.grid, {name: partial(climate, name) for name in names}, period="two days"
    )
    climatology.to_xarray().to_netcdf(home / "real" / "climatology.nc")
    bank = tmp_path / "bank.jsonl"
    sizes = {"train": 0, "validation": 0, "test": 32}
    report = build_bank("real", sizes, 0, bank, strict=False)
    assert report.problems  # two lead times and one month: said, not hidden
    asked = len(bank.read_text().splitlines())
    assert asked > 16
    zephyrus(
        *("env", "rollout", "--policy", "scripted", "--dataset", "real", "--bank", str(bank)),
        *("--split", "test", "-n", str(asked), "--output", str(tmp_path / "run")),
    )
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["accuracy"] == 1.0
