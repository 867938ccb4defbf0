"""``zephyrus data climatology``, from years of analyses to what an agent is told."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from click.testing import CliRunner
from numpy.typing import NDArray

from zephyrus_geodata import load_dataset
from zephyrus_geodata.cli import data
from zephyrus_geodata.climatology import Climatology

sys.path.insert(0, str(Path(__file__).parent))  # for the command beside the tests

from store_parts import tree, zephyrus

zarr = pytest.importorskip("zarr")
pytest.importorskip("dask")

LAT, LON = np.arange(80.0, -90.0, -20.0), np.arange(0.0, 360.0, 30.0)  # as ERA5 has them
TIMES = np.arange("2001-01-01", "2005-01-01", np.timedelta64(6, "h"), dtype="datetime64[ns]")
INIT = np.datetime64("2020-07-03T00", "ns")
LEADS = np.arange(0, 49, 6)
SHORT = {"2m_temperature": "K", "mean_sea_level_pressure": "Pa"}


def weather(times: NDArray[np.datetime64]) -> dict[str, NDArray[np.float32]]:
    """(time, latitude, longitude) with a year, a day and noise of its own."""
    hours = times.astype("datetime64[h]").astype(np.int64)
    rng = np.random.default_rng(times.size)
    noise = rng.normal(0.0, 4.0, (times.size, LAT.size, LON.size))
    year = 10.0 * np.cos(2 * np.pi * hours / (365.25 * 24))
    day = 5.0 * np.sin(2 * np.pi * hours / 24)
    there = 288.0 - 0.4 * np.abs(LAT)[:, None] + 0.01 * LON
    temperature = there + (year + day)[:, None, None] + noise
    return {
        "2m_temperature": temperature.astype(np.float32),
        "mean_sea_level_pressure": (101_000 + 100 * noise).astype(np.float32),
    }


def fields(times: NDArray[np.datetime64]) -> dict[str, xr.DataArray]:
    return {
        name: xr.DataArray(
            values,
            coords={"time": times, "latitude": LAT, "longitude": LON},
            dims=("time", "latitude", "longitude"),
            attrs={"units": SHORT[name]},
        )
        for name, values in weather(times).items()
    }


@pytest.fixture(scope="module")
def era5(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four years, six-hourly, in chunks of a hundred times."""
    path = tmp_path_factory.mktemp("source") / "era5.zarr"
    chunks = {name: {"chunks": (100, LAT.size, LON.size)} for name in SHORT}
    xr.Dataset(fields(TIMES)).to_zarr(path, encoding=chunks, zarr_format=2)
    return path


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A forecast on the same cells."""
    path = tmp_path_factory.mktemp("source") / "run.nc"
    ds = xr.Dataset(fields(INIT + LEADS.astype("timedelta64[h]")))
    ds = ds.assign_coords(time=LEADS.astype("timedelta64[h]")).rename(time="prediction_timedelta")
    ds.expand_dims(time=[INIT]).to_netcdf(path)
    return path


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ZEPHYRUS_DATA", str(tmp_path / "store"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "user"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "store"


def sample(variable: str, cell: tuple[float, float], day: str, half: int, hour: int | None) -> Any:
    """The samples around a day ("2000-07-04") at a place, by xarray's calendar."""
    values = fields(TIMES)[variable].sel(latitude=cell[0], longitude=cell[1])
    dates = np.array(
        [f"2000-{d}" for d in values.time.dt.strftime("%m-%d").values], "datetime64[D]"
    )
    away = np.abs((dates - np.datetime64(day)).astype(int))
    near = np.minimum(away, 366 - away) <= half
    if hour is not None:
        near &= values.time.dt.hour.values == hour
    return values.values[near].astype(np.float64)


def call(dataset: str, status: int = 0, **arguments: Any) -> str:
    text = json.dumps(arguments)
    return zephyrus("tools", "call", "climatology", text, "--dataset", dataset, status=status)


def degrees(text: str) -> float:
    """The number that a text of the tool ends with."""
    shown = re.search(r": (-?\d+\.\d+) °C", text)
    assert shown is not None, text
    return float(shown[1])


def test_from_analyses_to_the_tool(home: Path, era5: Path, run: Path) -> None:
    zephyrus("data", "add", "mine", str(run), "--label", "made")
    done = subprocess.run(
        [sys.executable, "-m", "zephyrus", "data", "climatology", str(era5), "--name", "mine",
         "--period", "2001-2004", "--window", "31", "--hours", "--memory", "200MB"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    told = (
        r"5,844 times of 2 variables in 108 cells: at most \d+\.\d MB of memory besides Python and "
        r"its libraries, 2\.5 MB of disk on the way, 11\.5 MB for the result"
    )
    assert re.search(told, done.stderr), done.stderr
    assert (
        "climatology of 2001-2004 by day of the year (31 days) and month, at 00, 06" in done.stdout
    )
    assert not list(home.glob(".*.climatology"))

    usual = load_dataset("mine").climatology
    assert usual is not None
    assert usual.variables == tuple(SHORT)
    grid = usual.grid
    for variable in SHORT:
        for lat, lon in ((80.0, 0.0), (-40.0, 330.0)):
            cell = grid.nearest(lat, lon)
            for moment in ("2020-07-04T06", "2021-01-05T18", "2020-02-29T00", "2019-12-31T12"):
                when = np.datetime64(moment)
                values = sample(variable, (lat, lon), f"2000-{moment[5:10]}", 15, int(moment[11:]))
                for statistic, wanted in (
                    ("p5", np.percentile(values, 5)),
                    ("p90", np.percentile(values, 90)),
                    ("mean", values.mean()),
                    ("std", values.std()),
                ):
                    found = usual.at(variable, statistic, when)[cell]
                    assert found == pytest.approx(wanted, rel=1e-6)
            july = fields(TIMES)[variable].sel(latitude=lat, longitude=lon)
            july = july[july.time.dt.month == 7].values.astype(np.float64)
            assert usual.cells(variable, "p75", 7)[cell] == pytest.approx(np.percentile(july, 75))

    lat, lon = 40.0, 60.0
    place = {"variable": "2m_temperature", "latitude": lat, "longitude": lon}
    values = sample("2m_temperature", (lat, lon), "2000-07-04", 15, 6)
    text = call("mine", **place, statistic="p90", hour=30)
    assert "climatological 4 July 06 UTC (±15 days) p90" in text
    assert degrees(text) == pytest.approx(np.percentile(values, 90) - 273.15, abs=0.006)
    month = call("mine", **place, statistic="p90", month=7)
    july = fields(TIMES)["2m_temperature"].sel(latitude=lat, longitude=lon)
    july = july[july.time.dt.month == 7].values.astype(np.float64)
    assert "climatological July p90" in month
    assert degrees(month) == pytest.approx(np.percentile(july, 90) - 273.15, abs=0.006)
    departure = call("mine", **place, hour=30, compare="departure")
    now = weather(INIT + LEADS.astype("timedelta64[h]"))["2m_temperature"]
    there = now[5, LAT.tolist().index(lat), LON.tolist().index(lon)]
    assert degrees(departure) == pytest.approx(there - values.mean(), abs=0.006)
    assert json.loads(zephyrus("data", "list", "--json"))[-1]["climatology"] == "2001-2004"


def test_from_the_store_by_month_and_a_dataset_of_a_box(home: Path, era5: Path, run: Path) -> None:
    zephyrus("data", "add", "years", str(era5), "--select", "variables=2m_temperature")
    zephyrus("data", "add", "box", str(run), "--select", "bbox=-45,-50,95,50")
    told = zephyrus("data", "climatology", "years", "--by", "month", "--quantiles", "90,2.5", "--name",
                    "box", "--period", "2002-2003", "--json")  # fmt: skip
    told = json.loads(told)
    assert told["statistics"] == ["p2.5", "p90", "mean", "std"]
    assert (told["samples"], told["days"], told["variables"]) == (2920, 0, ["2m_temperature"])
    dataset = load_dataset("box")
    usual = dataset.climatology
    assert usual is not None
    assert usual.days is None
    assert usual.grid == dataset.grid
    for lat, lon in ((40.0, -30.0), (-40.0, 90.0)):
        values = fields(TIMES)["2m_temperature"].sel(latitude=lat, longitude=lon % 360)
        values = values.sel(time=slice("2002", "2003"))
        values = values[values.time.dt.month == 2].values.astype(np.float64)
        found = usual.cells("2m_temperature", "p2.5", 2)[usual.grid.nearest(lat, lon)]
        assert found == pytest.approx(np.percentile(values, 2.5), rel=1e-6)
    text = call("box", 1, variable="2m_temperature", latitude=0, longitude=0, statistic="p10")
    assert "There is no statistic 'p10'; use one of p2.5, p90, mean, std." in text


def test_a_file(home: Path, era5: Path, run: Path, tmp_path: Path) -> None:
    """Any tool reads it, and beside a forecast it is that dataset's climatology."""
    path = tmp_path / "usual.nc"
    arguments = (
        "data",
        "climatology",
        str(era5),
        "--every",
        "10",
        "--hours",
        "--output",
        str(path),
    )
    zephyrus(*arguments, "--variables", "2m_*")
    zephyrus("data", "add", "mine", str(run))
    zephyrus("data", "climatology", str(era5), "--every", "10", "--hours", "--name", "mine")
    built, read = load_dataset("mine").climatology, Climatology.open(path)
    assert built is not None
    assert read.variables == ("2m_temperature",)
    assert read.grid == built.grid
    for moment in (np.datetime64("2020-12-30T17"), np.datetime64("2020-02-29T06")):
        assert read.window(moment) == built.window(moment)
        for statistic in (*built.statistics, "p80"):
            np.testing.assert_array_equal(
                read.at("2m_temperature", statistic, moment),
                built.at("2m_temperature", statistic, moment),
            )
    np.testing.assert_array_equal(
        read.cells("2m_temperature", "std", 5), built.cells("2m_temperature", "std", 5)
    )
    with xr.open_dataset(path) as ds:
        assert ds["2m_temperature_by_day"].sel(dayofyear=11, hour=6, statistic="p50").shape == (
            9,
            12,
        )
    assert {p.name for p in tmp_path.iterdir()} <= {"usual.nc", "store", "user", "cache"}


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_killed_and_resumed(home: Path, era5: Path, run: Path) -> None:
    """Killed again and again, nothing changes until all is there; what is whole is kept."""
    zephyrus("data", "add", "mine", str(run))
    zephyrus("data", "climatology", str(era5), "--by", "month", "--name", "mine")
    before = tree(home / "mine")
    command = ["data", "climatology", str(era5), "--window", "61", "--name", "mine", "--json"]
    work, kept = home / ".mine.climatology", 0
    for stage in ("*.series.part", "*.series", "2m_temperature.day.npy", "mean*.series"):
        child = subprocess.Popen(
            [sys.executable, "-m", "zephyrus", *command],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        deadline = time.monotonic() + 120
        while not list(work.glob(f"*/{stage}")) and child.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.002)
        child.send_signal(signal.SIGKILL)
        child.wait()
        kept += child.returncode == -signal.SIGKILL
        assert tree(home / "mine") == before
        assert load_dataset("mine").climatology.days is None
    assert kept == 4
    whole = {p.name: p.stat().st_mtime_ns for p in work.glob("*/2m_temperature.*.npy")}
    assert len(whole) == 2
    told = json.loads(zephyrus(*command))
    assert told["resumed"] == 1
    again = {p.name: p.stat().st_mtime_ns for p in (home / "mine").glob("climatology/*/2m_t*.npy")}
    assert again == whole
    usual = load_dataset("mine").climatology
    assert usual.days is not None
    values = sample("mean_sea_level_pressure", (20.0, 30.0), "2000-12-20", 30, None)
    found = usual.at("mean_sea_level_pressure", "p25", np.datetime64("2020-12-20T13"))
    assert found[usual.grid.nearest(20.0, 30.0)] == pytest.approx(np.percentile(values, 25))
    assert len(list((home / "mine" / "climatology").iterdir())) == 1  # the months' is gone
    assert not work.exists()


def test_the_dataset_is_removed_meanwhile(home: Path, era5: Path, run: Path) -> None:
    zephyrus("data", "add", "mine", str(run))
    child = subprocess.Popen(
        [sys.executable, "-m", "zephyrus", "data", "climatology", str(era5), "--name", "mine"],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    deadline = time.monotonic() + 120
    while not list(home.glob(".mine.climatology/*/*.series")):
        assert time.monotonic() < deadline
        time.sleep(0.002)
    zephyrus("data", "remove", "mine", "--yes")
    _, told = child.communicate(timeout=120)
    assert child.returncode == 1
    assert "were changed or removed while the climatology was built" in told
    assert not (home / "mine").exists()


def test_what_is_refused(home: Path, era5: Path, run: Path, tmp_path: Path) -> None:
    zephyrus("data", "add", "mine", str(run))
    start = ("climatology",)

    def refused(*arguments: str) -> str:
        done = CliRunner().invoke(data, [*start, *arguments])
        assert done.exit_code == 2, done.output
        return " ".join(done.output.split())

    here = ("--name", "mine")
    assert "--name NAME of a dataset, or --output FILE" in refused(str(era5))
    assert "ships with zephyrus" in refused(str(era5), "--name", "demo")
    assert "There is no dataset 'none'" in refused(str(era5), "--name", "none")
    assert "give an odd number of days" in refused(str(era5), *here, "--window", "60")
    assert "give percentiles from 0 to 100" in refused(str(era5), *here, "--quantiles", "5,101")
    assert "give percentiles from 0 to 100" in refused(str(era5), *here, "--quantiles", "nan")
    assert "nothing of 1990, 1991, 1992 …" in refused(str(era5), *here, "--period", "1990-2004")
    assert "give years, such as" in refused(str(era5), *here, "--period", "2004-2001")
    assert "is too little: this needs" in refused(str(era5), *here, "--memory", "1MB")
    assert "there is no 'rain'; there are 2m_temp" in refused(
        str(era5), *here, "--variables", "rain"
    )
    assert "--hours goes with" in refused(str(era5), *here, "--hours", "--by", "month")
    assert "holds a forecast; a climatology is built from" in refused(str(run), *here)
    assert "'mine' holds no analyses" in refused("mine", *here)
    with xr.open_zarr(era5) as ds:
        ds.isel(time=slice(0, 2000), latitude=slice(0, 5)).drop_encoding().to_netcdf(
            tmp_path / "n.nc"
        )
    assert "take analyses that have the dataset's cells" in refused(str(tmp_path / "n.nc"), *here)
    assert not list(home.glob(".*.climatology"))


def test_without_a_cluster(home: Path, era5: Path, run: Path) -> None:
    """A clear sentence where dask.distributed is missing, or nobody answers."""
    from importlib.util import find_spec

    zephyrus("data", "add", "mine", str(run))
    arguments = ("data", "climatology", str(era5), "--name", "mine", "--scheduler")
    if find_spec("distributed") is None:
        told = zephyrus(*arguments, "tcp://127.0.0.1:1", status=2)
        assert "The package distributed is not there: pip install 'distributed'" in told
    else:
        told = zephyrus(*arguments, "tcp://127.0.0.1:1", status=1)
        assert "No Dask scheduler answers at tcp://127.0.0.1:1" in told


def test_on_a_cluster(home: Path, era5: Path, tmp_path: Path) -> None:
    """The same numbers by the workers of a scheduler in another process."""
    pytest.importorskip("distributed")
    code = (
        "import sys; from distributed import LocalCluster\n"
        "if __name__ == '__main__':\n"
        "    c = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)\n"
        "    print(c.scheduler_address, flush=True); sys.stdin.read(); c.close()\n"
    )
    script = tmp_path / "cluster.py"
    script.write_text(code)
    cluster = subprocess.Popen(
        [sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert cluster.stdout is not None
        address = cluster.stdout.readline().strip()
        command = ("data", "climatology", str(era5), "--every", "30", "--output")
        zephyrus(*command, str(tmp_path / "far.nc"), "--scheduler", address)
        zephyrus(*command, str(tmp_path / "here.nc"))
    finally:
        cluster.communicate("", timeout=30)
    with xr.open_dataset(tmp_path / "far.nc") as far, xr.open_dataset(tmp_path / "here.nc") as here:
        xr.testing.assert_identical(far, here)
