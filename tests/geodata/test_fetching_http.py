import asyncio
import socket
import sys
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))  # for the server beside the tests

from fetch_server import FetchServer, serving

from zephyrus_geodata.fetching.errors import FetchFailed, NotThere
from zephyrus_geodata.fetching.http import Http

DATA = bytes(i * 37 % 251 for i in range(5000))


@pytest.fixture
def server(tmp_path: Path) -> Iterator[FetchServer]:
    (tmp_path / "www").mkdir()
    (tmp_path / "www" / "file").write_bytes(DATA)
    with serving(tmp_path / "www") as it:
        yield it


def client(**more: float) -> Http:
    return Http(pause=0.01, **more)


async def download(server: FetchServer, path: Path, *spans: tuple[int, int | None]) -> int:
    came = 0

    def heard(count: int) -> None:
        nonlocal came
        came += count

    async with client() as http:
        await http.download(f"{server.url}/file", path, spans, heard)
    return came


def finish(folder: Path) -> None:
    """Write what a download would have, just before it is renamed."""
    [part] = folder.glob(".file.*.part")
    part.write_bytes(DATA)


async def test_a_file_comes_whole_and_once(server: FetchServer, tmp_path: Path) -> None:
    path = tmp_path / "to" / "file"
    assert await download(server, path) == 5000
    assert path.read_bytes() == DATA
    assert [p.name for p in path.parent.iterdir()] == ["file"]
    assert await download(server, path) == 0
    assert server.asked["GET", "file"] == 1


async def test_a_broken_connection_costs_no_byte_twice(server: FetchServer, tmp_path: Path) -> None:
    server.cuts["file"] = [1000, 1500, 7, 0]
    path = tmp_path / "file"
    assert await download(server, path) == 5000
    assert path.read_bytes() == DATA
    assert server.sent["file"] == 5000
    assert server.asked["GET", "file"] == 5


async def test_parts_follow_one_another(server: FetchServer, tmp_path: Path) -> None:
    server.cuts["file"] = [30, 5]
    path = tmp_path / "file"
    await download(server, path, (100, 200), (1000, 1100), (4990, None))
    assert path.read_bytes() == DATA[100:200] + DATA[1000:1100] + DATA[4990:]
    assert server.sent["file"] == 210


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(st.integers(0, 5000), min_size=2, max_size=8, unique=True),
    st.lists(st.integers(0, 900), max_size=6),
)
def test_any_parts_and_any_cuts_give_the_bytes(
    server: FetchServer, tmp_path_factory: pytest.TempPathFactory, edges: list[int], cuts: list[int]
) -> None:
    spans = list(pairwise(sorted(edges)))[::2]
    path = tmp_path_factory.mktemp("parts") / "file"
    server.cuts["file"] = list(cuts)
    server.sent.clear()
    asyncio.run(download(server, path, *spans))
    assert path.read_bytes() == b"".join(DATA[a:b] for a, b in spans)
    assert server.sent["file"] == sum(b - a for a, b in spans)


async def test_a_killed_download_goes_on(server: FetchServer, tmp_path: Path) -> None:
    server.cuts["file"] = [1234] + [0] * 20
    path = tmp_path / "file"
    with pytest.raises(FetchFailed, match="the same command goes on from there"):
        await download(server, path)
    assert not path.exists()
    server.cuts.clear()
    assert await download(server, path) == 5000  # with what was there before
    assert path.read_bytes() == DATA
    assert server.sent["file"] == 5000


async def test_killed_between_the_last_byte_and_the_name(
    server: FetchServer, tmp_path: Path
) -> None:
    server.cuts["file"] = [4000] + [0] * 20
    path = tmp_path / "file"
    with pytest.raises(FetchFailed):
        await download(server, path)
    finish(tmp_path)
    server.cuts.clear()
    await download(server, path)
    assert path.read_bytes() == DATA
    assert server.sent["file"] == 4000


async def test_a_file_that_changed_is_begun_anew(server: FetchServer, tmp_path: Path) -> None:
    server.cuts["file"] = [1234] + [0] * 20
    path = tmp_path / "file"
    with pytest.raises(FetchFailed):
        await download(server, path)
    new = bytes(reversed(DATA))
    (server.root / "file").write_bytes(new)
    server.cuts.clear()
    assert await download(server, path) == 5000
    assert path.read_bytes() == new


async def test_parts_of_a_file_that_changed_are_not_mixed(
    server: FetchServer, tmp_path: Path
) -> None:
    server.cuts["file"] = [10] + [0] * 20
    path = tmp_path / "file"
    with pytest.raises(FetchFailed):
        await download(server, path, (0, 100), (200, 300))
    (server.root / "file").write_bytes(bytes(reversed(DATA)))
    server.cuts.clear()
    with pytest.raises(FetchFailed, match="changed while it was fetched"):
        await download(server, path, (0, 100), (200, 300))
    await download(server, path, (0, 100), (200, 300))
    assert path.read_bytes() == DATA[::-1][:100] + DATA[::-1][200:300]


async def test_a_server_without_ranges_gives_no_parts(server: FetchServer, tmp_path: Path) -> None:
    server.has_ranges = False
    with pytest.raises(FetchFailed, match="can't give parts of files"):
        await download(server, tmp_path / "file", (0, 100))
    server.cuts["file"] = [100, 2000]
    await download(server, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == DATA


async def test_a_file_shorter_than_its_index(server: FetchServer, tmp_path: Path) -> None:
    with pytest.raises(FetchFailed, match="shorter than expected"):
        await download(server, tmp_path / "file", (6000, 6100))
    with pytest.raises(FetchFailed, match="shorter than expected"):
        await download(server, tmp_path / "file", (4900, 5100))
    assert not (tmp_path / "file").exists()


async def test_a_busy_server_is_asked_again_when_it_says(server: FetchServer) -> None:
    server.answers["file"] = [(503, {}), (429, {"Retry-After": "1"})]
    started = time.monotonic()
    async with client() as http:
        assert await http.get(f"{server.url}/file") == DATA
    assert 1.0 < time.monotonic() - started < 10
    assert server.asked["GET", "file"] == 3


async def test_a_wait_that_is_too_long_is_told(server: FetchServer) -> None:
    server.answers["file"] = [(503, {"Retry-After": "5000"})]
    async with client() as http:
        with pytest.raises(FetchFailed, match="asks to wait for 5000 s"):
            await http.get(f"{server.url}/file")


async def test_what_is_not_there_is_not_asked_again(server: FetchServer) -> None:
    server.refused = {"secret"}
    async with client() as http:
        with pytest.raises(NotThere, match=r"has nothing at .*/nowhere \(404\)"):
            await http.get(f"{server.url}/nowhere")
        with pytest.raises(NotThere, match=r"refuses .*/secret \(403\)") as caught:
            await http.size(f"{server.url}/secret")
        server.answers["file"] = [(400, {})]
        with pytest.raises(FetchFailed, match="answers 400"):
            await http.get(f"{server.url}/file")
        assert await http.size(f"{server.url}/file") == 5000
    assert caught.value.status == 403
    assert server.asked["GET", "nowhere"] == 1


async def test_a_machine_without_network() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/file"
    async with client() as http:
        with pytest.raises(FetchFailed, match="can't be reached from this machine") as caught:
            await http.get(url)
        assert "HTTPS_PROXY" in str(caught.value) and "--base-url" in str(caught.value)
        with pytest.raises(FetchFailed, match="is no address"):
            await http.get("ftp:/nothing")
