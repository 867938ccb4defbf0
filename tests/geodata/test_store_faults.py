"""The store is what it was, or what it is to be, whatever happens on the way."""

import errno
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from zephyrus_geodata import Dataset
from zephyrus_geodata.errors import StoreError, StoreFailure
from zephyrus_geodata.grid import Grid
from zephyrus_geodata.reading.understood import EVERY, Understood
from zephyrus_geodata.store import ingest
from zephyrus_geodata.store.ingest import add_dataset
from zephyrus_geodata.store.select import Selection
from zephyrus_geodata.store.tidy import remove_dataset, unfinished

sys.path.insert(0, str(Path(__file__).parent))  # for the sources beside the tests

from store_parts import Source, in_child, killed_at, tree

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and signals")

VARIABLES = ("2m_temperature", "10m_wind_speed")
SMALL = {"grid": Grid([-45, 45], [-90, 0, 90, 180]), "variables": VARIABLES}
OLD = {"inits": ["2019-06-01"], "members": ("1", "2")}
NEW = {"inits": ["2020-01-01", "2020-01-02"], "members": ("1", "2"), "leads": (0, 6)}


def add(root: Path, source: dict[str, Any], mode: ingest.Mode = "new") -> ingest.Added:
    return add_dataset("hand", Source(**source).understood, root=root, mode=mode)


def store(root: Path) -> dict[str, bytes]:
    """What is in force below a root: all but hidden files."""
    return {k: v for k, v in tree(root).items() if not k.startswith(".")}


def check_readable(root: Path) -> tuple[str, ...]:
    """Read every number of the dataset; return its forecasts."""
    dataset = Dataset.from_folder(root / "hand")
    for name in dataset.forecasts:
        forecast = dataset.forecast(name)
        for variable in forecast.variables:
            assert np.isfinite(forecast.cells(variable)).all()
            assert np.isfinite(forecast.cells(variable, 1)).all()
    return dataset.forecasts


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["new", "replace", "append"])
def test_killed_at_any_step_and_resumed(tmp_path: Path, mode: ingest.Mode) -> None:
    old, new = {**OLD, **SMALL}, {**NEW, **SMALL}
    if mode != "new":
        add(tmp_path / "whole", old)
    before = store(tmp_path / "whole")
    add(tmp_path / "whole", new, mode)
    after = store(tmp_path / "whole")
    kills = resumed = 0
    for n in range(1, 1000):
        root = tmp_path / str(n)
        if mode != "new":
            add(root, old)
        if not killed_at(n, lambda root=root: add(root, new, mode)):
            assert store(root) == after
            break
        kills += 1
        in_force = store(root)
        if mode == "new":
            assert in_force in ({}, after)
        else:
            # A part may lie there that no manifest names: it does not count.
            manifest = "hand/dataset.json"
            assert in_force[manifest] in (before[manifest], after[manifest])
            state = before if in_force[manifest] == before[manifest] else after
            assert state.items() <= in_force.items()
            check_readable(root)
        is_done = bool(in_force) and in_force.get("hand/dataset.json") == after["hand/dataset.json"]
        if not is_done:
            resumed += add(root, new, mode).resumed
            assert store(root) == after
            assert sorted(p.name for p in root.iterdir()) == [".locks", "hand"]
        shutil.rmtree(root)
    assert kills > 30
    assert resumed > 30  # what was whole was not written again


def test_killed_twice_with_changed_plans(tmp_path: Path) -> None:
    add(tmp_path / "whole", NEW)
    for first, second in ((9, 9), (20, 14), (30, 50)):
        assert killed_at(first, lambda: add(tmp_path / "a", OLD))
        assert killed_at(second, lambda: add(tmp_path / "a", NEW))
    assert unfinished(tmp_path / "a") == ("hand",)
    assert add(tmp_path / "a", NEW).resumed > 0
    assert store(tmp_path / "a") == store(tmp_path / "whole")
    assert unfinished(tmp_path / "a") == ()


def test_a_half_written_file_is_written_again(tmp_path: Path) -> None:
    add(tmp_path / "whole", NEW)
    # Killed with the first variable done; then the disk lost a part of it.
    for n in range(8, 100):
        assert killed_at(n, lambda: add(tmp_path / "a", NEW))
        files = sorted((tmp_path / "a" / ".hand.adding").rglob("10m_wind_speed.mean.npy"))
        if files:
            break
    with files[0].open("r+b") as file:
        file.truncate(200)
    add(tmp_path / "a", NEW)
    assert store(tmp_path / "a") == store(tmp_path / "whole")


def test_a_source_that_changed_is_read_anew(tmp_path: Path) -> None:
    file = tmp_path / "source.nc"
    file.write_bytes(b"one")
    source = {**NEW, "where": str(file)}
    assert killed_at(16, lambda: add(tmp_path / "a", source))
    file.write_bytes(b"another")
    assert add(tmp_path / "a", source).resumed == 0


def test_killed_while_removing(tmp_path: Path) -> None:
    kills = 0
    for n in range(1, 200):
        root = tmp_path / str(n)
        add(root, OLD)
        before = store(root)
        killed = killed_at(n, lambda root=root: remove_dataset(root, "hand"))
        if not killed:
            assert not store(root)
            break
        kills += 1
        assert store(root) in ({}, before)
        add(root, NEW, "replace" if store(root) else "new")
        assert sorted(p.name for p in root.iterdir()) == [".locks", "hand"]
    assert kills > 5


def test_two_processes_at_once(tmp_path: Path) -> None:
    read_end, write_end = os.pipe()

    def slow() -> None:
        source = Source(**NEW).understood
        inner = source.variables["2m_temperature"]

        def wait(init: int = 0, span: slice = EVERY) -> Any:
            os.write(write_end, b"x")
            time.sleep(30)
            return inner(init, span)

        source.variables["2m_temperature"] = wait
        add_dataset("hand", source, root=tmp_path)

    pid = os.fork()
    if pid == 0:
        slow()
        os._exit(0)
    try:
        os.read(read_end, 1)  # it is in the middle of its work
        for work in (
            lambda: add(tmp_path, NEW),
            lambda: add(tmp_path, NEW, "replace"),
            lambda: remove_dataset(tmp_path, "hand"),
        ):
            with pytest.raises(StoreFailure, match=f"is being changed by process {pid}: wait"):
                work()
        add_dataset(
            "other", Source(**NEW).understood, root=tmp_path
        )  # another is none of its business
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    add(tmp_path, NEW)  # its lock went with it
    assert check_readable(tmp_path) == ("2020-01-01", "2020-01-02")


def test_a_file_that_may_not_grow(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    add(tmp_path / "whole", NEW)
    add(tmp_path / "a", OLD)
    before = store(tmp_path / "a")

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (8_000, 8_000))
        add(tmp_path / "a", NEW, "replace")

    assert in_child(limited) == 2
    assert "There is no room left below" in capfd.readouterr().err
    assert store(tmp_path / "a") == before
    assert not list(tmp_path.rglob("*.part"))
    add(tmp_path / "a", NEW, "replace")
    assert check_readable(tmp_path / "a") == ("2020-01-01", "2020-01-02")


def test_too_little_room_is_said_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(
        ingest.shutil, "disk_usage", lambda path: usage._replace(free=ingest._SPARE + 10_000)
    )
    source = Source(**NEW)
    with pytest.raises(StoreError, match=r"0\.1 MB are needed below .* and 16\.8 MB are free"):
        add_dataset("hand", source.understood, root=tmp_path)
    assert source.reads == []
    add_dataset(
        "hand",
        source.understood,
        root=tmp_path,
        selection=Selection.parse(["variables=2m_temperature,bbox=0,0,60,60,lead=6"]),
    )


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 256 kB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(disk)]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("needs the right to mount a tmpfs")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_disk_that_gets_full_on_the_way(
    tiny_disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest, "_SPARE", 0)
    source: Understood = Source(**NEW).understood
    inner = source.variables["total_precipitation"]
    filler = tiny_disk / "filler"
    is_greedy = True

    def read(init: int = 0, span: slice = EVERY) -> Any:
        if init == 1 and is_greedy:  # somebody else takes what is left
            with filler.open("wb", buffering=0) as file:
                try:
                    while True:
                        file.write(bytes(512))
                except OSError as error:
                    assert error.errno == errno.ENOSPC
        return inner(init, span)

    source.variables["total_precipitation"] = read
    with pytest.raises(StoreError, match=r"There is no room left .* run the same command again"):
        add_dataset("hand", source, root=tiny_disk)
    assert store(tiny_disk).keys() == {"filler"}
    filler.unlink()
    is_greedy = False
    assert add_dataset("hand", source, root=tiny_disk).resumed == 5
    add(tmp_path / "whole", NEW)
    assert store(tiny_disk) == store(tmp_path / "whole")


def test_a_folder_that_may_not_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="can't be made"):
        add_dataset("hand", Source().understood, root=tmp_path / "file")
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    with pytest.raises(StoreError, match="can't be written"):
        add_dataset("hand", Source().understood, root=closed)


def test_a_reader_that_fails_leaves_the_store_as_it_was(tmp_path: Path) -> None:
    add(tmp_path, OLD)
    before = store(tmp_path)
    source = Source(**NEW).understood
    inner = source.variables["10m_wind_speed"]

    def broken(init: int = 0, span: slice = EVERY) -> Any:
        raise ConnectionError("gone")

    source.variables["10m_wind_speed"] = broken
    with pytest.raises(ConnectionError):
        add_dataset("hand", source, root=tmp_path, mode="replace")
    assert store(tmp_path) == before
    source.variables["10m_wind_speed"] = inner
    assert add_dataset("hand", source, root=tmp_path, mode="replace").resumed == 1
    assert check_readable(tmp_path) == ("2020-01-01", "2020-01-02")


def test_what_add_did_not_make_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "hand").mkdir()
    (tmp_path / "hand" / "forecast-a.nc").write_bytes(b"x")
    for work in (
        lambda: add(tmp_path, NEW),
        lambda: add(tmp_path, NEW, "replace"),
        lambda: remove_dataset(tmp_path, "hand"),
    ):
        with pytest.raises(StoreError, match="was not made by 'data add', so it is left alone"):
            work()
    assert store(tmp_path) == {"hand/forecast-a.nc": b"x"}
    with pytest.raises(StoreError, match="There is no dataset 'other'"):
        remove_dataset(tmp_path, "other")
