"""When numba is used, and what happens where it can't be; each in a process of its own."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

CODE = """
import json, sys
BEFORE
import numpy as np
from zephyrus_geodata import acceleration
from zephyrus_geodata.zonal import Zone, Zones, zonal_table
values = np.linspace(0, 1, 4000, dtype=np.float32).reshape(1000, 4)
values[::7, 2] = np.nan
zones = [Zone(np.arange(size), np.linspace(1.0, 2.0, size), False) for size in (1, 500, 999)]
loaded, tables = [], []
for _ in range(3):
    tables.append(zonal_table(values, zones).tolist())
    loaded.append(acceleration._kernels is not None)
    acceleration._taken += acceleration.WORTH // 2
median = zonal_table(values, zones, "median").tolist()
print(json.dumps({
    "loaded": loaded, "numba": "numba" in sys.modules, "tables": tables, "median": median,
}))
"""

needs_numba = pytest.mark.skipif(
    importlib.util.find_spec("numba") is None, reason="numba is not installed"
)


def run(before: str = "", **environment: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", CODE.replace("BEFORE", before)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **environment},
    )
    told: dict[str, Any] = json.loads(done.stdout)
    return told


@pytest.fixture(scope="module")
def plain() -> dict[str, Any]:
    return run(ZEPHYRUS_NUMBA="0")


def test_it_can_be_turned_off(plain: dict[str, Any]) -> None:
    assert plain["loaded"] == [False] * 3
    assert not plain["numba"]
    assert plain["tables"][0] == plain["tables"][1]


@needs_numba
def test_it_is_loaded_when_there_is_enough_to_do(plain: dict[str, Any]) -> None:
    told = run()
    assert told["loaded"] == [False, False, True]
    assert (told["tables"], told["median"]) == (plain["tables"], plain["median"])


@needs_numba
def test_it_is_used_at_once_where_it_is_imported_already(plain: dict[str, Any]) -> None:
    told = run("import numba")
    assert told["loaded"] == [True] * 3
    assert told["tables"] == plain["tables"]


@pytest.mark.parametrize(
    "before",
    ["sys.modules['numba'] = None", "import importlib.util as u; u.find_spec = lambda name: None"],
    ids=["fails to import", "not installed"],
)
def test_without_it_numpy_does_the_work(plain: dict[str, Any], before: str) -> None:
    told = run(before)
    assert told["loaded"] == [False] * 3
    assert (told["tables"], told["median"]) == (plain["tables"], plain["median"])


@needs_numba
def test_a_cache_that_can_not_be_written_is_no_error(plain: dict[str, Any], tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    told = run("import numba", NUMBA_CACHE_DIR=str(blocked / "cache"))
    assert told["loaded"] == [True] * 3
    assert (told["tables"], told["median"]) == (plain["tables"], plain["median"])


@pytest.mark.slow
@needs_numba
@pytest.mark.parametrize("damage", [b"", b"not a pickle", None], ids=["empty", "text", "cut"])
def test_a_damaged_cache_is_no_error(
    plain: dict[str, Any], tmp_path: Path, damage: bytes | None
) -> None:
    run("import numba", NUMBA_CACHE_DIR=str(tmp_path))
    files = [path for path in tmp_path.rglob("*") if path.suffix in (".nbi", ".nbc")]
    assert files
    for path in files:
        whole = path.read_bytes()
        path.write_bytes(whole[: len(whole) // 2] if damage is None else damage)
    told = run("import numba", NUMBA_CACHE_DIR=str(tmp_path))
    assert told["loaded"] == [True] * 3
    assert (told["tables"], told["median"]) == (plain["tables"], plain["median"])
