"""Large NetCDF4 files far away: only what is asked for is fetched."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import pytest
from click.testing import CliRunner

from zephyrus_geodata.errors import UnsuitableData
from zephyrus_geodata.loading import load_dataset
from zephyrus_geodata.reading import remote
from zephyrus_geodata.reading.cli import inspect
from zephyrus_geodata.reading.opened import open_source
from zephyrus_geodata.reading.understand import understand
from zephyrus_geodata.store.cli import add

sys.path.insert(0, str(Path(__file__).parent))  # for the server beside the tests

from fetch_server import FetchServer, serving

LEADS, LATS, LONS = 12, 60, 120
FIELD = LATS * LONS * 4  # bytes, and of random numbers about as many packed
NAMES = ("2m_temperature", "sea_surface_temperature", "2m_dewpoint_temperature")
RNG = np.random.default_rng(8)
VALUES = RNG.uniform(270, 300, (len(NAMES), LEADS, LATS, LONS)).astype(np.float32)


def write(path: Path, group: str = "", kind: str = "NETCDF4") -> None:
    """One run of three variables, a chunk for each field."""
    with netCDF4.Dataset(path, "w", format=kind) as whole:
        file = whole.createGroup(group) if group else whole
        axes = {
            "time": (np.arange(LEADS) * 6.0, "hours since 2024-01-01"),
            "latitude": (np.linspace(-59, 59, LATS), "degrees_north"),
            "longitude": (-180 + 3.0 * np.arange(LONS), "degrees_east"),
        }
        for name, (values, units) in axes.items():
            file.createDimension(name, values.size)
            axis = file.createVariable(name, "f8", (name,))
            axis[:], axis.units, axis.standard_name = values, units, name
        for name, values in zip(NAMES, VALUES, strict=True):
            if kind == "NETCDF4":
                var = file.createVariable(
                    name, "f4", tuple(axes), zlib=True, chunksizes=(1, LATS, LONS)
                )
            else:
                var = file.createVariable(name, "f4", tuple(axes))
            var[:], var.units = values, "K"


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FetchServer]:
    monkeypatch.setattr(remote, "BIG", 100_000)
    monkeypatch.setattr(remote, "PAUSE", 0.01)
    monkeypatch.setenv("ZEPHYRUS_DATA", str(tmp_path / "data"))
    (tmp_path / "www").mkdir()
    write(tmp_path / "www" / "file.nc")
    with serving(tmp_path / "www") as it:
        yield it


def whole(server: FetchServer) -> int:
    return (server.root / "file.nc").stat().st_size


def invoke(command: Any, *arguments: str) -> str:
    done = CliRunner().invoke(command, arguments)
    assert done.exit_code == 0, done.output
    return done.output


def test_inspecting_fetches_a_sample(server: FetchServer) -> None:
    pieces = invoke(inspect, f"{server.url}/file.nc", "--kind", "forecast")
    # A field of each of three variables, of twelve that each has.
    assert server.bytes("file.nc") < 3 * FIELD + 60_000 < whole(server) / 3
    server.has_ranges = False
    server.sent.clear()
    assert invoke(inspect, f"{server.url}/file.nc", "--kind", "forecast") == pieces
    assert server.bytes("file.nc") >= whole(server)


def test_adding_a_selection_fetches_the_selection(server: FetchServer) -> None:
    invoke(
        add, "few", f"{server.url}/file.nc", "--kind", "forecast",
        "--select", "variables=2m_temperature", "--select", "lead=6,30",
    )  # fmt: skip
    # The values of each variable are looked at once, too.
    assert server.bytes("file.nc") < (2 + 3) * FIELD + 60_000 < whole(server) / 2
    dataset = load_dataset("few")
    [run] = dataset.forecasts
    got = dataset.forecast(run).cells("2m_temperature")
    np.testing.assert_array_equal(got, VALUES[0, [1, 5]].reshape(2, -1).T)


def test_adding_everything_fetches_the_file_once(server: FetchServer) -> None:
    invoke(add, "all", f"{server.url}/file.nc", "--kind", "forecast")
    assert server.asked["GET", "file.nc"] == 1
    assert server.bytes("file.nc") == whole(server)


def test_a_broken_connection_is_asked_again(server: FetchServer) -> None:
    opened = open_source(f"{server.url}/file.nc", in_pieces=True)
    [cube] = opened.cubes
    server.cuts["file.nc"] = [1000]
    np.testing.assert_array_equal(cube[NAMES[1]][3].values, VALUES[1, 3])
    assert not server.cuts["file.nc"]
    server.answers["file.nc"] = [(503, {})]
    np.testing.assert_array_equal(cube[NAMES[2]][4].values, VALUES[2, 4])
    assert not server.answers["file.nc"]


def test_a_connection_that_breaks_at_once_is_no_reason_to_give_up(server: FetchServer) -> None:
    server.cuts["file.nc"] = [0, 3]
    [cube] = open_source(f"{server.url}/file.nc", in_pieces=True).cubes
    np.testing.assert_array_equal(cube[NAMES[0]][0].values, VALUES[0, 0])
    # Broken while netCDF-C opens it: then all of it comes, with our own patience.
    server.cuts["file.nc"] = [8, 4, 70_000]
    [cube] = open_source(f"{server.url}/file.nc", in_pieces=True).cubes
    np.testing.assert_array_equal(cube[NAMES[0]][0].values, VALUES[0, 0])
    assert server.bytes("file.nc") > whole(server)


def test_a_server_that_goes_away_is_told(
    server: FetchServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from xarray.backends import netCDF4_

    def impatient(array: Any, key: Any, catch: Any) -> Any:
        return array[key]

    monkeypatch.setattr(netCDF4_, "robust_getitem", impatient)
    source = understand(open_source(f"{server.url}/file.nc", in_pieces=True))
    server.refused.add("file.nc")
    with pytest.raises(UnsuitableData, match=r"2m_temperature can't be read .*fetch it again"):
        source.variables["2m_temperature"](0)


def test_values_in_groups(server: FetchServer) -> None:
    write(server.root / "groups.nc", "inner")
    [cube] = open_source(f"{server.url}/groups.nc", in_pieces=True).cubes
    np.testing.assert_array_equal(cube[NAMES[1]][7].values, VALUES[1, 7])
    assert server.bytes("groups.nc") < FIELD + 60_000


def test_small_files_and_other_formats_come_whole(
    server: FetchServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(server.root / "old.nc", kind="NETCDF3_CLASSIC")
    assert remote.in_pieces(f"{server.url}/old.nc", {}) is None
    opened = open_source(f"{server.url}/old.nc", in_pieces=True)
    assert opened.format == "netcdf3"
    np.testing.assert_array_equal(opened.cubes[0][NAMES[1]][7].values, VALUES[1, 7])
    url = f"{server.url}/file.nc"
    assert remote.in_pieces(url, {}) == f"{url}#mode=bytes"
    assert remote.in_pieces(url, {"headers": {"Authorization": "x"}}) is None
    assert remote.in_pieces(url.replace("//", "//me:secret@"), {}) is None
    monkeypatch.setattr(remote, "BIG", whole(server) + 1)
    assert remote.in_pieces(url, {}) is None
    monkeypatch.setattr(remote, "BIG", whole(server))
    assert remote.in_pieces(f"{url}?key=a%2Fb", {}) == f"{url}?key=a%2Fb#mode=bytes"
    server.has_ranges = False
    assert remote.in_pieces(url, {}) is None
    with pytest.raises(UnsuitableData, match="404"):
        remote.in_pieces(f"{server.url}/nothing.nc", {})


def test_addresses_with_a_query_and_odd_letters(server: FetchServer) -> None:
    write(server.root / "a b ü.nc")
    [cube] = open_source(f"{server.url}/a%20b%20%C3%BC.nc?key=a%2Fb", in_pieces=True).cubes
    np.testing.assert_array_equal(cube[NAMES[2]][9].values, VALUES[2, 9])
    assert server.bytes("ü.nc") < FIELD + 60_000
    assert {query for _, query in server.queries} == {"key=a%2Fb"}
