import asyncio
import gzip
import socket
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from email.utils import format_datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))  # for the server beside the tests

from fetch_server import FetchServer, serving

from zephyrus_geodata.web.answer import Garbled, retry_after
from zephyrus_geodata.web.errors import FetchFailed, NotThere, Refused, TooLarge
from zephyrus_geodata.web.http import Http
from zephyrus_geodata.web.running import run
from zephyrus_geodata.web.words import clean, shown, user_agent

DATA = bytes(i * 37 % 251 for i in range(5000))


@pytest.fixture
def server(tmp_path: Path) -> Iterator[FetchServer]:
    (tmp_path / "www").mkdir()
    (tmp_path / "www" / "file").write_bytes(DATA)
    with serving(tmp_path / "www") as it:
        yield it


def client(**more: Any) -> Http:
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


async def test_a_part_that_was_not_asked_for_is_not_taken(
    server: FetchServer, tmp_path: Path
) -> None:
    server.shift = 3
    with pytest.raises(FetchFailed, match="sent another part"):
        await download(server, tmp_path / "file", (100, 200))
    assert not (tmp_path / "file").exists()


async def test_half_a_body_is_asked_for_again(server: FetchServer) -> None:
    server.cuts["file"] = [100, 4999]
    async with client() as http:
        assert await http.get(f"{server.url}/file") == DATA
    assert server.asked["GET", "file"] == 3


async def test_a_server_that_hangs_is_given_up(server: FetchServer) -> None:
    server.stalls["file"] = 10
    async with client(timeout=0.1, tries=2) as http:
        with pytest.raises(FetchFailed, match=r"does not answer \(2 tries in a row\)"):
            await http.get(f"{server.url}/file")


async def test_an_answer_has_a_largest_size(server: FetchServer) -> None:
    async with client() as http:
        url = f"{server.url}/file"
        assert await http.ask(url, lambda answer: answer.body, limit=5000) == DATA
        with pytest.raises(TooLarge, match="a small file was due"):
            await http.ask(url, lambda answer: answer.body, limit=4999)
    assert server.asked["GET", "file"] == 2


async def test_a_small_file_is_unpacked_and_a_download_is_not(
    server: FetchServer, tmp_path: Path
) -> None:
    packed = gzip.compress(DATA)
    (server.root / "file").write_bytes(packed)
    server.encoding["file"] = "gzip"
    async with client() as http:
        assert await http.get(f"{server.url}/file") == DATA
        with pytest.raises(TooLarge):  # counted unpacked: a bomb has no effect
            await http.ask(f"{server.url}/file", lambda answer: answer, limit=len(packed))
        assert await http.size(f"{server.url}/file") == len(packed)
    await download(server, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == packed
    await download(server, tmp_path / "part", (10, 30))
    assert (tmp_path / "part").read_bytes() == packed[10:30]


async def test_a_reader_may_ask_again(server: FetchServer) -> None:
    bodies = iter(["\x1b[31mno\nsense", "sense"])

    def read(answer: object) -> str:
        if (body := next(bodies)) != "sense":
            raise Garbled(body)
        return body

    heard: list[str] = []
    async with client(tell=heard.append) as http:
        assert await http.ask(f"{server.url}/file", read) == "sense"
    [line] = heard
    assert "[31mno sense; again in" in line and line.isprintable()


async def test_a_part_past_the_end(server: FetchServer) -> None:
    async with client() as http:
        url, behind = f"{server.url}/file", {"Range": "bytes=9000-9010"}
        assert await http.ask(url, lambda answer: answer.status, headers=behind) == 416
        server.answers["file"] = [(416, {})]
        with pytest.raises(Refused, match="answers 416"):
            await http.get(url)  # which asked for no part


async def test_no_secret_is_told(server: FetchServer) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        dead = f"127.0.0.1:{free.getsockname()[1]}"
    here = server.url.removeprefix("http://")
    heard: list[str] = []
    server.answers["file"] = [(500, {})] * 2 + [(400, {})] + [(429, {"Retry-After": "9999"})]
    urls = [
        f"http://me:hunter2@{here}/{name}?key=hunter2" for name in ("file", "file", "file", "x")
    ]
    urls += [f"http://me:hunter2@{dead}/?key=hunter2", "ftp://me:hunter2@x/y?key=hunter2"]
    urls += ["http://me:hunter2@/y?key=hunter2", "http://me:hunter2@x:99999/?key=hunter2"]
    async with client(tries=2, tell=heard.append) as http:
        for url in urls:
            with pytest.raises(FetchFailed) as caught:
                await http.get(url)
            heard.append(str(caught.value))
            heard.append(str(getattr(caught.value, "url", "")))
    assert len(heard) >= 2 * len(urls) and "hunter2" not in " ".join(heard)
    assert "hunter2" not in clean("404, message='no', url='https://me:hunter2@x/y?key=hunter2'")
    assert shown("https://me:hunter2@x.org:80/a/b?c=hunter2#hunter2") == "https://x.org:80/a/b"


async def test_a_host_is_left_alone_between_requests(server: FetchServer) -> None:
    times: list[float] = []

    def read(answer: object) -> None:
        times.append(time.monotonic())

    async with client(interval=0.1) as http:
        await asyncio.gather(*(http.ask(f"{server.url}/file", read) for _ in range(4)))
        assert http.requests == 4
    assert min(b - a for a, b in pairwise(times)) >= 0.1


async def test_a_busy_server_is_left_alone_by_all(server: FetchServer) -> None:
    server.answers["busy"] = [(429, {"Retry-After": "1"})]
    (server.root / "busy").write_bytes(b"")
    failed = asyncio.Event()
    async with client(tell=lambda line: failed.set()) as http:
        first = asyncio.create_task(http.get(f"{server.url}/busy"))
        await failed.wait()
        started = time.monotonic()
        await http.get(f"{server.url}/file")
        assert time.monotonic() - started > 0.7
        await first


async def test_a_proxy_of_the_environment(
    server: FetchServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", server.url)
    async with client() as http:
        assert await http.get("http://nowhere.invalid/file") == DATA
    assert server.headers[0]["Host"] == "nowhere.invalid"


async def test_servers_are_told_who_asks(server: FetchServer) -> None:
    more = {"X-Key": "1"}
    async with client(purpose="test", contact="me@x.org\r\nX-Evil: 1\u202e", headers=more) as http:
        await http.get(f"{server.url}/file")
    [sent] = server.headers
    assert sent["User-Agent"].startswith("zephyrus/")
    assert sent["User-Agent"].endswith("(test; contact: me@x.org X-Evil: 1)")
    assert "X-Evil" not in sent and sent["X-Key"] == "1"
    assert user_agent("test").endswith("(test)")


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("", 0), ("7", 7), ("-7", 0), ("soon", 0), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
     ("Thu, 01 Jan 1970 00:00:00", 0), ("Thu, 99 Jan 1970 00:00:00 GMT", 0)],
)  # fmt: skip
def test_how_long_a_server_asks_to_wait(value: str, seconds: float) -> None:
    assert retry_after({"Retry-After": value}) == seconds


def test_a_server_may_name_the_moment() -> None:
    moment = datetime.now(UTC) + timedelta(seconds=100)
    assert 98 < retry_after({"Retry-After": format_datetime(moment, usegmt=True)}) <= 100
    east = timezone(timedelta(hours=5))
    assert 98 < retry_after({"Retry-After": format_datetime(moment.astimezone(east))}) <= 100


async def work() -> int:
    await asyncio.sleep(0)
    return 7


def test_work_runs_from_code_that_waits() -> None:
    assert run(work) == 7


async def test_work_runs_where_a_loop_is_running() -> None:
    assert run(work) == 7
