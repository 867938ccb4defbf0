import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

sys.path.insert(0, str(Path(__file__).parent))  # for the server and sources beside the tests

pytest.importorskip("zarr")

import fetch_sources
from fetch_server import FetchServer, serving

from zephyrus_geodata.cli import data
from zephyrus_geodata.fetching import cli
from zephyrus_geodata.fetching.catalogue import source

HRES = ("wb2:hres", "--init", "2020-01-01", "--lead", "0..12", "--variables", "2m_temperature")


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FetchServer]:
    monkeypatch.setenv("ZEPHYRUS_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "data").mkdir()
    (tmp_path / "www").mkdir()
    with serving(tmp_path / "www") as it:
        fetch_sources.weatherbench(it.root / source("wb2:hres").paths["1.5"])
        yield it


def run(*words: str) -> Result:
    result = CliRunner().invoke(data, list(words))
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def test_a_dry_run_fetches_nothing_and_tells_the_terms(server: FetchServer) -> None:
    result = run("fetch", *HRES, "--base-url", server.url, "--dry-run")
    assert result.exit_code == 0, result.output
    for text in (
        f"address      {server.url}/hres/2016-2022-0012-240x121",
        "times        2 initial times, 2020-01-01T00 to 2020-01-01T12",
        "lead times   0 to 12 h (3)",
        "files        6 (0 in the cache), 0.0 MB",
        "licence      CC-BY-4.0 and the ECMWF terms of use",
        "attribution  Copyright European Centre",
        "lacks        no cloud cover",
        "stored as the dataset 'wb2-hres'",
    ):
        assert text in result.output
    assert server.gets("2m_temperature/") == 0
    assert not list(Path(os.environ["ZEPHYRUS_DATA"]).iterdir())
    value = json.loads(run("fetch", *HRES, "--base-url", server.url, "--dry-run", "--json").stdout)
    assert value["files"] == 6 and value["bytes_exact"] and value["name"] == "wb2-hres"


def test_fetched_listed_and_refused_twice(server: FetchServer) -> None:
    box = ("--bbox", "-60,-60,100,70")
    result = run("fetch", *HRES, "mine", "--base-url", server.url, *box)
    assert result.exit_code == 0, result.output
    assert "added to mine: 2 forecasts" in result.output
    assert "licence: CC-BY-4.0" in result.output
    [row] = [r for r in json.loads(run("list", "--json").stdout) if r["name"] == "mine"]
    assert row["forecasts"] == ["2020-01-01", "2020-01-01T12"]
    assert row["label"] == "IFS HRES forecasts"
    [terms] = row["terms"]
    assert terms["fetched_from"] == "wb2:hres" and "ECMWF" in terms["attribution"]
    listed = run("list").output
    assert "fetched from wb2:hres 20" in listed and "licence      CC-BY-4.0" in listed
    before = server.asked.total()
    again = run("fetch", *HRES, "mine", "--base-url", server.url)
    assert again.exit_code == 2 and "already" in again.output
    assert server.asked.total() == before  # refused before anything was asked
    more = run("fetch", "wb2:hres", "mine", "--init", "2020-01-02", *HRES[3:], *box, "--append",
               "--base-url", server.url)  # fmt: skip
    assert more.exit_code == 0, more.output
    assert run("fetch", *HRES, "demo", "--base-url", server.url).exit_code == 2


def test_exit_codes_tell_whose_turn_it_is(server: FetchServer) -> None:
    wrong = run("fetch", "wb2:nothing")
    assert wrong.exit_code == 2 and "There is no source 'wb2:nothing'" in wrong.output
    assert run("fetch").exit_code == 2
    failed = run("fetch", "wb2:pangu", "--init", "2020-01-01", "--base-url", server.url)
    assert failed.exit_code == 1 and "no Zarr store" in failed.output
    far = run("fetch", *HRES, "--base-url", "http://127.0.0.1:9")
    assert far.exit_code == 1 and "can't be reached from this machine" in far.output


def test_much_is_asked_about(server: FetchServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "_MUCH", 100)
    result = run("fetch", *HRES, "--base-url", server.url)
    assert result.exit_code == 2 and "Give --yes, or take less" in result.output
    assert run("fetch", *HRES, "--base-url", server.url, "--yes").exit_code == 0


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_killed_and_run_again(server: FetchServer, how: signal.Signals) -> None:
    path = source("wb2:hres").paths["1.5"] + "/2m_temperature/1.2.0.0"
    server.stalls[path] = 70
    words = ["fetch", *HRES, "--base-url", server.url, "--connections", "2"]
    code = "import sys; from zephyrus_geodata.cli import data; data(sys.argv[1:])"
    process = subprocess.Popen(
        [sys.executable, "-c", code, *words], stderr=subprocess.PIPE, text=True
    )
    assert server.has_stalled.wait(60)
    deadline = time.monotonic() + 20
    while server.gets("2m_temperature/") < 6 and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.3)  # what was sent is on the disk
    process.send_signal(how)
    _, said = process.communicate(timeout=30)
    assert process.returncode != 0
    if how == signal.SIGINT:
        assert process.returncode == 1 and "the same command goes on" in said
    assert not list(Path(os.environ["ZEPHYRUS_DATA"]).glob("[!.]*"))
    server.stalls.clear()
    done = run(*words)
    assert done.exit_code == 0, done.output
    for file in (server.root / path).parent.glob("[01].[012].0.0"):
        name = file.relative_to(server.root).as_posix()
        assert server.sent[name] == file.stat().st_size, name


def test_the_list_of_sources() -> None:
    text = run("fetch", "--list").output
    for name in ("wb2:era5", "arco-era5", "ecmwf-open", "gfs", "dynamical:*"):
        assert f"{name}: " in text
    rows = json.loads(run("fetch", "--list", "--json").stdout)
    assert {row["name"] for row in rows} >= {"wb2:graphcast", "wb2:pangu", "wb2:ifs_ens"}


def test_the_command_is_light_until_it_is_used() -> None:
    heavy = "{'numpy', 'xarray', 'aiohttp', 'yaml', 'zarr', 'eccodes', 'rich.progress'}"
    code = f"import sys, zephyrus_geodata.fetching.cli; print({heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
