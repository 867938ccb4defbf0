"""Stored datasets in use: other grids, tools, banks, rollouts, the command line."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from zephyrus_geodata import list_datasets, load_dataset
from zephyrus_geodata.cells import CellGrid, StationList
from zephyrus_geodata.errors import StoreError, UnsuitableData
from zephyrus_geodata.reading.understood import Question, Taken
from zephyrus_geodata.store.ingest import add_dataset
from zephyrus_geodata.store.manifest import Manifest
from zephyrus_geodata.store.opened import open_stored
from zephyrus_geodata.store.select import Selection
from zephyrus_geodata.testing import analytic_dataset

sys.path.insert(0, str(Path(__file__).parent))  # for the sources beside the tests

from store_parts import Source, expected, of_dataset, zephyrus


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A store of its own, for this process and those that it starts."""
    monkeypatch.setenv("ZEPHYRUS_DATA", str(tmp_path / "store"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "user"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "store"


def test_a_bent_grid(home: Path) -> None:
    y, x = np.mgrid[0:12, 0:15]
    lat, lon = 40 + 0.5 * y + 0.05 * x, 175 + 0.7 * x - 0.1 * y
    source = Source(grid=CellGrid(lat, lon))
    add_dataset("bent", source.understood)
    dataset = load_dataset("bent")
    assert dataset.grid == source.grid
    assert dataset.forecast("2020-01-02").cells("2m_temperature").shape == (180, 5)
    # Across the antimeridian, into whole rows and columns.
    add_dataset("cut", source.understood, selection=Selection.parse(["bbox=178,42,-178,44"]))
    cut = load_dataset("cut").grid
    inside = (lat >= 42) & (lat <= 44) & ((lon >= 178) & (lon <= 182))
    rows, columns = np.nonzero(inside)
    block = np.ix_(
        np.arange(rows.min(), rows.max() + 1), np.arange(columns.min(), columns.max() + 1)
    )
    assert cut == CellGrid(lat[block], lon[block])
    got = load_dataset("cut").forecast("2020-01-02").cells("10m_wind_speed")
    cells = np.arange(180).reshape(12, 15)[block].ravel()
    assert got.tobytes() == expected(1, 2, cells, np.arange(5)).tobytes()
    with pytest.raises(StoreError, match="too few cells"):
        add_dataset("no", source.understood, selection=Selection.parse(["bbox=0,0,9,9"]))


def test_stations(home: Path) -> None:
    grid = StationList([60.0, 45.0, 50.0], [-114.0, -75.5, -97.0], ("a", "ü", "c"))
    source = Source(grid=grid)
    add_dataset("towns", source.understood, selection=Selection.parse(["bbox=-120,48,-90,65"]))
    stored = load_dataset("towns").grid
    assert isinstance(stored, StationList)
    assert stored.names == ("a", "c")
    assert stored.cell_latitude.tolist() == [60.0, 50.0]
    got = load_dataset("towns").forecast("2020-01-01").cells("2m_temperature")
    assert got.tobytes() == expected(0, 0, np.array([0, 2]), np.arange(5)).tobytes()


def test_a_stored_dataset_gives_the_same_answers(home: Path) -> None:
    world = analytic_dataset(step=10.0)
    add_dataset("same", of_dataset(world))
    stored = load_dataset("same")
    features = [world.features.get(name) for name in ("France", "Brazil", "Kenya")]
    for variable in ("2m_temperature", "total_precipitation_6hr"):
        for stat in ("mean", "max", "median"):
            for name in world.forecasts:
                ours = stored.table(name, variable, features, stat)
                theirs = world.table(name, variable, features, stat)
                assert ours.tobytes() == theirs.tobytes()


def test_the_tools_see_the_mean_of_an_ensemble(home: Path) -> None:
    world = analytic_dataset(step=10.0, initial_dates=["2001-01-05"])
    add_dataset("many", of_dataset(world, members=3))
    dataset = load_dataset("many")
    feature = world.features.get("France")
    got = dataset.series("2001-01-05", "2m_temperature", feature)
    alone = world.series("2001-01-05", "2m_temperature", feature)
    np.testing.assert_allclose(got, alone + 1.0, atol=1e-4)


def test_in_and_out_of_xarray_with_members(home: Path) -> None:
    from zephyrus_geodata import Forecast

    world = analytic_dataset(step=30.0, initial_dates=["2001-01-05"])
    add_dataset("many", of_dataset(world, members=3))
    forecast = load_dataset("many").forecast("2001-01-05")
    again = Forecast.from_xarray(forecast.to_xarray())
    assert again.members == forecast.members == ("0", "1", "2")
    for variable in forecast.variables:
        for member in (None, 0, "2"):
            ours, theirs = again.cells(variable, member), forecast.cells(variable, member)
            assert ours.tobytes() == theirs.tobytes()


def test_the_wind_speed_of_an_ensemble_is_that_of_its_members(home: Path) -> None:
    source = Source(
        members=("1", "2"), variables=("10m_u_component_of_wind", "10m_v_component_of_wind")
    )
    add_dataset("wind", source.understood)
    forecast = load_dataset("wind").forecast("2020-01-01")
    u, v = (expected(i, 0, np.arange(648), np.arange(5), members=2) for i in (0, 1))
    by_hand = np.hypot(u, v).astype(np.float64).mean(axis=0).astype(np.float32)
    assert forecast.cells("10m_wind_speed").tobytes() == by_hand.tobytes()


def test_loading_again_after_a_change(home: Path) -> None:
    add_dataset("mine", Source(inits=["2020-01-01"]).understood)
    first = load_dataset("mine")
    assert load_dataset("mine") is first is load_dataset(home / "mine")
    add_dataset("mine", Source(inits=["2020-01-05"]).understood, mode="append")
    assert load_dataset("mine").forecasts == ("2020-01-01", "2020-01-05")
    assert first.forecasts == ("2020-01-01",)


def test_both_places_are_seen(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add_dataset("here", Source().understood)
    monkeypatch.delenv("ZEPHYRUS_DATA")
    add_dataset("there", Source().understood)
    assert (tmp_path / "user" / "zephyrus" / "datasets" / "there" / "dataset.json").is_file()
    assert "there" in list_datasets() and "here" not in list_datasets()
    monkeypatch.setenv("ZEPHYRUS_DATA", str(home))
    assert {"here", "there", "demo"} <= set(list_datasets())
    assert not [name for name in list_datasets() if name.startswith(".")]


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda text: text[:40], "is damaged .* remove the dataset and add it again"),
        (lambda text: "[]", "is damaged"),
        (lambda text: text.replace("lead_hours", "hours"), "is damaged"),
        (lambda text: text.replace('"id": "0001', '"id": "../0001'), "is no folder of the dataset"),
        (
            lambda text: text.replace('"zephyrus_dataset": 1', '"zephyrus_dataset": 2'),
            "was written by a later zephyrus .* update",
        ),
    ],
)
def test_damaged_manifests(home: Path, spoil: Any, message: str) -> None:
    add_dataset("mine", Source().understood)
    path = home / "mine" / "dataset.json"
    path.write_text(spoil(path.read_text()))
    with pytest.raises(UnsuitableData, match=message):
        load_dataset("mine")
    zephyrus("data", "remove", "mine", "--yes")
    assert "mine" not in list_datasets()


def test_damaged_arrays(home: Path) -> None:
    add_dataset("mine", Source().understood)
    (path,) = home.rglob("2020-01-02/2m_temperature.npy")
    with path.open("r+b") as file:
        file.truncate(1000)
    with pytest.raises(UnsuitableData, match="is damaged"):
        load_dataset("mine").forecast("2020-01-02").cells("2m_temperature")


def test_a_manifest_is_read_back(home: Path) -> None:
    add_dataset("mine", Source().understood)
    manifest = Manifest.read(home / "mine")
    assert manifest is not None
    manifest.write(home)
    assert Manifest.read(home) == manifest
    assert Manifest.read(home / "nowhere") is None
    assert open_stored(home / "nowhere") is None


def test_only_what_is_unclear_and_wanted_holds_up(home: Path) -> None:
    source = replace(
        Source().understood,
        questions=(Question("Which?", "--units si10=UNIT", "si10"),),
        taken={"2m_temperature": Taken(("t2m",), "K"), "10m_wind_speed": Taken(("si10",), "?")},
    )
    for select in ("variables=2m_temperature,10m_*", "variables=snow_depth", "init=2020-01-01"):
        with pytest.raises(UnsuitableData, match="si10: Which"):
            add_dataset("mine", source, selection=Selection.parse([select]))
    add_dataset("mine", source, selection=Selection.parse(["variables=2m_temperature"]))


def test_opening_needs_no_xarray(home: Path) -> None:
    world = analytic_dataset(step=10.0)
    add_dataset("quick", of_dataset(world))
    code = (
        "import sys\n"
        "from zephyrus_geodata import load_dataset\n"
        "d = load_dataset('quick')\n"
        "f = d.forecast('2001-04-10')\n"
        "x = d.series(f, '2m_temperature', d.features.get('France', 'country'))\n"
        "heavy = ('xarray', 'netCDF4', 'dask', 'zarr', 'pandas', 'numpy.ma')\n"
        "print(len(x), [name for name in heavy if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split(maxsplit=1) == ["40", "[]\n"]


def write_netcdf(folder: Path, **changes: Any) -> Path:
    """A plain file of one forecast, as a model's own output might be."""
    import xarray as xr

    lat, lon, hours = np.arange(-80.0, 81.0, 20.0)[::-1], np.arange(0.0, 360.0, 30.0), [6, 12, 24]
    rng = np.random.default_rng(3)
    t2m = 10.0 + 5.0 * rng.random((1, 3, lat.size, lon.size))
    ds = xr.Dataset(
        {"t2m": (("time", "step", "latitude", "longitude"), t2m, {"units": "degC"})},
        {
            "time": ("time", np.array(["2021-03-04T06"], "datetime64[ns]")),
            "step": ("step", hours, {"units": "hours"}),
            "latitude": ("latitude", lat, {"units": "degrees_north"}),
            "longitude": ("longitude", lon, {"units": "degrees_east"}),
        },
    ).assign(**changes)
    folder.mkdir(parents=True, exist_ok=True)
    ds.to_netcdf(folder / "run.nc")
    return folder / "run.nc"


def test_the_command_line(home: Path, tmp_path: Path) -> None:
    import xarray as xr

    file = write_netcdf(tmp_path / "in")
    said = zephyrus(
        "data", "add", "my run", str(file), "--label", "a model", "--select", "lead=6..12"
    )
    assert "added to my run: forecasts 2021-03-04T06" in said
    with xr.open_dataset(file, decode_timedelta=False) as ds:
        raw = ds["t2m"].transpose("time", "latitude", "longitude", "step").values[0]
    got = load_dataset("my run").forecast("2021-03-04T06").cells("2m_temperature")
    turned = np.roll(raw[::-1], 6, axis=1)[..., :2] + 273.15
    np.testing.assert_allclose(got, turned.reshape(-1, 2), atol=1e-4)

    assert "already: give --replace" in zephyrus("data", "add", "my run", str(file), status=2)
    rows = json.loads(zephyrus("data", "list", "--json"))
    (row,) = (row for row in rows if row["name"] == "my run")
    assert row["label"] == "a model" and row["grid"] == "12x9"
    assert row["lead_hours"] == [6, 12] and row["members"] == []
    assert "my run: a model" in zephyrus("data", "list")
    again = json.loads(zephyrus("data", "add", "my run", str(file), "--replace", "--json"))
    assert again["forecasts"] == ["2021-03-04T06"] and again["bytes"] == 9 * 12 * 3 * 4
    kept = zephyrus("data", "add", "my run", str(file), "--append")
    assert "there already, left as they are: 2021-03-04T06" in kept

    assert "nothing was deleted" in zephyrus("data", "remove", "my run", status=1, stdin="n\n")
    assert "my run" in list_datasets()
    zephyrus("data", "remove", "my run", stdin="y\n")
    assert "my run" not in list_datasets()
    assert "no dataset 'my run'" in zephyrus("data", "remove", "my run", status=2)
    for arguments, says in (
        (["data", "remove", "demo", "--yes"], "'demo' ships with zephyrus"),
        (["data", "add", "demo", str(file)], "'demo' ships with zephyrus"),
        (["data", "add", "../x", str(file)], "can't be called"),
        (["data", "add", "x", "nowhere.nc"], "There is no file or folder nowhere.nc"),
        (["data", "add", "x", str(file), "--select", "lead=7"], "lead=7 takes nothing"),
        (["data", "add", "x", str(file), "--select", "seven"], "begin with one of init="),
    ):
        assert says in zephyrus(*arguments, status=2)
    assert list(home.glob("[!.]*")) == []


def test_interrupted_at_the_keyboard(home: Path, tmp_path: Path) -> None:
    from click.testing import CliRunner

    from zephyrus_geodata.cli import data
    from zephyrus_geodata.store import fill

    file = write_netcdf(tmp_path / "in")
    write = fill.write_forecast

    def interrupted(*arguments: Any) -> None:
        write(*arguments)
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fill, "write_forecast", interrupted)
        done = CliRunner().invoke(data, ["add", "mine", str(file)])
    assert done.exit_code == 1
    assert "interrupted; the store is as it was, and the same command goes on" in done.output
    assert "mine" not in list_datasets()
    done = CliRunner().invoke(data, ["add", "mine", str(file)])
    assert done.exit_code == 0 and "went on after 1 files" in done.output
    assert "mine" in list_datasets()


def test_an_unfinished_ingest_is_told_and_can_be_forgotten(home: Path) -> None:
    (home / ".mine.adding" / "dataset" / "parts" / "x").mkdir(parents=True)
    (home / ".mine.adding" / "dataset" / "parts" / "x" / "a.npy").write_bytes(b"abc")
    done = subprocess.run(
        [sys.executable, "-m", "zephyrus", "data", "list"], capture_output=True, text=True
    )
    assert "the ingest of 'mine' is not finished" in done.stderr
    zephyrus("data", "remove", "mine", "--yes")
    assert not (home / ".mine.adding").exists()


def test_a_stored_dataset_end_to_end(home: Path, tmp_path: Path) -> None:
    """Tools, a bank of questions, and a rollout that answers all of them."""
    world = analytic_dataset(step=5.0)
    add_dataset("mine", of_dataset(world), label="made up")
    assert world.climatology is not None
    world.climatology.to_xarray().to_netcdf(home / "mine" / "climatology.nc")
    call = {"variable": "2m_temperature", "feature": "France", "kind": "country", "hour": 48}
    said = zephyrus("tools", "call", "dataset", json.dumps(call), "--dataset", "mine")
    series = world.series("2001-01-05", "2m_temperature", world.features.get("France", "country"))
    assert f"{series[7] - 273.15:.3f} °C" in said and "made up" in said
    bank = tmp_path / "bank.jsonl"
    sizes = ["--train", "0", "--validation", "0", "--test", "160"]
    zephyrus("env", "build-bank", "--dataset", "mine", *sizes, "--output", str(bank))
    run = tmp_path / "run"
    zephyrus(
        *("env", "rollout", "--policy", "scripted", "--dataset", "mine", "--bank", str(bank)),
        *("--split", "test", "-n", "16", "--output", str(run)),
    )
    assert json.loads((run / "summary.json").read_text())["accuracy"] == 1.0
