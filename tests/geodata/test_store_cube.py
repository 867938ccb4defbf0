"""Feature cubes: what is in them, when they are used, and that nothing is lost on the way."""

import itertools
import math
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from shapely.geometry import Point, box

from zephyrus_geodata import Dataset, zonal_cache
from zephyrus_geodata.cells import StationList
from zephyrus_geodata.errors import OutsideGrid, StoreError, StoreFailure
from zephyrus_geodata.features import Feature, FeatureStore
from zephyrus_geodata.grid import Grid
from zephyrus_geodata.store import cube, ingest
from zephyrus_geodata.store.index import index_dataset
from zephyrus_geodata.store.ingest import add_dataset
from zephyrus_geodata.store.lock import locked
from zephyrus_geodata.store.opened import open_stored
from zephyrus_geodata.store.select import Selection
from zephyrus_geodata.zonal import STATS, Stat

sys.path.insert(0, str(Path(__file__).parent))  # for the sources beside the tests

from store_parts import Source, killed_at, tree, zephyrus

GRID = Grid(np.arange(-85.0, 90.0, 10.0), np.arange(-180.0, 180.0, 10.0))
# Edges on those of rows, so that what a box covers of each cell is told by its longitudes alone.
BOXES = {
    "Band": (-180.0, 40.0, 180.0, 60.0),
    "Part": (-7.5, -30.0, 32.0, 10.0),
    "Inside": (61.0, 20.0, 63.0, 30.0),
    "South": (100.0, -80.0, 150.0, -50.0),
}
TOWN = Feature.of("Town", "city", Point(8.5, 47.4))
STORE = FeatureStore([*(Feature.of(n, "region", box(*b)) for n, b in BOXES.items()), TOWN])
OTHER = FeatureStore([Feature.of("Band", "region", box(-180, 0, 180, 20)), *list(STORE)[1:]])
VARIABLES = ("2m_temperature", "10m_wind_speed")
SMALL: dict[str, Any] = {"inits": ["2020-01-01", "2020-01-02"], "variables": VARIABLES}
ENSEMBLE: dict[str, Any] = {**SMALL, "members": ("c", "1", "2"), "leads": (0, 6)}

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and signals")


@pytest.fixture(autouse=True)
def _every_grid_has_cubes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(cube, "LEAST_CELLS", 1)


def add(
    root: Path,
    source: Source,
    mode: ingest.Mode = "new",
    load: Callable[[], FeatureStore] = lambda: STORE,
    **more: Any,
) -> ingest.Added:
    return add_dataset("hand", source.understood, root=root, mode=mode, features=load, **more)


def opened(root: Path, features: FeatureStore = STORE) -> Dataset:
    stored = open_stored(root / "hand")
    assert stored is not None
    return Dataset("hand", stored.forecasts, features=lambda: features)


def cubes(root: Path) -> list[Path]:
    return sorted(root.glob("hand/parts/*/forecasts/*/cube-*/*.npy"))


def weights_of(name: str) -> dict[int, float]:
    """Cell -> covered part of the unit sphere; the cell under a point."""
    if name == "Town":
        return {13 * 36 + 19: 1.0}  # 40 to 50 N, 5 to 15 E
    west, south, east, north = BOXES[name]
    found = {}
    for row, lat in enumerate(range(-90, 90, 10)):
        if not south <= lat < north:
            continue
        height = math.sin(math.radians(lat + 10)) - math.sin(math.radians(lat))
        for column in range(36):
            left = -185.0 + 10.0 * column  # centres lie on multiples of ten
            wide = sum(
                max(0.0, min(left + 10, east + turn) - max(left, west + turn))
                for turn in (-360.0, 0.0, 360.0)
            )
            if wide:
                found[row * 36 + column] = math.radians(wide) * height
    return found


def by_hand(name: str, values: NDArray[np.float32], stat: Stat) -> list[float]:
    """The statistic in Python's own numbers, from the definition."""
    weights = weights_of(name)
    series = []
    for column in values.astype(np.float64).T.tolist():
        pairs = sorted((column[cell], weight) for cell, weight in weights.items())
        pairs = [pair for pair in pairs if not math.isnan(pair[0])]
        total = math.fsum(weight for _, weight in pairs)
        if not pairs:
            series.append(math.nan)
        elif stat == "mean":
            series.append(math.fsum(value * weight for value, weight in pairs) / total)
        elif stat == "median":
            below = itertools.accumulate(weight for _, weight in pairs)
            half = total / 2 * (1 + 1e-12)
            series.append(
                next(pair[0] for pair, run in zip(pairs, below, strict=True) if run >= half)
            )
        else:
            series.append(pairs[0 if stat == "min" else -1][0])
    return series


def with_gaps(source: Source) -> Any:
    """Without data in the far south, and in every eleventh cell."""
    understood = source.understood
    inner = dict(understood.variables)

    def gappy(name: str) -> Any:
        def read(init: int = 0, *span: Any) -> NDArray[np.float32]:
            values = inner[name](init, *span)
            values[..., ::11, :] = np.nan
            values[..., : 5 * 36, :] = np.nan
            return values

        return read

    understood.variables.update({name: gappy(name) for name in inner})
    return understood


@pytest.mark.parametrize("members", [(), ("c", "1", "2")])
def test_what_is_in_a_cube(tmp_path: Path, members: tuple[str, ...]) -> None:
    source = Source(**SMALL, members=members)
    add_dataset("hand", with_gaps(source), root=tmp_path, features=lambda: STORE)
    dataset = opened(tmp_path)
    assert len(cubes(tmp_path)) == 4
    for path in cubes(tmp_path):
        found = np.load(path)
        assert found.shape == (4, 5, 5) and found.dtype == np.float64
        forecast = dataset.forecast(path.parent.parent.name)
        values = forecast.cells(path.stem)
        for layer, stat in zip(found, ("mean", "min", "max", "median"), strict=True):
            for row, feature in zip(layer, STORE, strict=True):
                wanted = by_hand(feature.name, values, stat)
                np.testing.assert_allclose(row, wanted, rtol=1e-12, err_msg=f"{stat} {feature}")
                if not np.isnan(row).any():
                    got = dataset.series(forecast, path.stem, feature, stat)
                    assert got.tolist() == row.tolist()
        table = dataset.table(forecast, path.stem, list(STORE), "min")
        np.testing.assert_array_equal(table, found[1])
    assert np.isnan(found[0, 3]).all() and np.isfinite(found[0, [0, 1, 2, 4]]).all()
    with pytest.raises(ValueError, match="read-only"):
        dataset.series("2020-01-01", VARIABLES[0], STORE.get("Band"))[0] = 0.0


@pytest.mark.parametrize("stat", STATS)
def test_a_cube_is_what_is_computed_without_it(tmp_path: Path, stat: Stat) -> None:
    add(tmp_path, Source(**ENSEMBLE))
    before = opened(tmp_path).table("2020-01-02", VARIABLES[1], list(STORE), stat)
    for path in cubes(tmp_path):
        path.unlink()
    dataset = opened(tmp_path)
    for row, feature in zip(before, STORE, strict=True):
        series = dataset.series("2020-01-02", VARIABLES[1], feature, stat)
        assert series.tobytes() == row.tobytes()


def change_fields(root: Path) -> None:
    """All fields are zero from now on, whatever was computed of them before."""
    for path in root.glob("hand/parts/*/forecasts/*/*.npy"):
        values = np.load(path)
        with path.open("r+b") as file:
            file.seek(-values.nbytes, os.SEEK_END)
            file.write(bytes(values.nbytes))


def is_used(dataset: Dataset, stat: Stat = "mean") -> bool:
    """Whether the numbers are not those of fields of zeros; all or none are."""
    table = dataset.table("2020-01-02", "10m_wind_speed", list(dataset.features), stat)
    series = dataset.series("2020-01-02", "10m_wind_speed", dataset.features.get("Town"), stat)
    assert np.all(table != 0.0) == np.any(table != 0.0) == np.all(series != 0.0)
    return bool(np.all(table))


def test_it_is_used_only_for_what_it_was_made_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(tmp_path, Source(**SMALL))
    change_fields(tmp_path)
    for stat in STATS:
        assert is_used(opened(tmp_path), stat)
        assert is_used(opened(tmp_path, FeatureStore(list(STORE))), stat)  # the same again
        assert not is_used(opened(tmp_path, OTHER), stat)
        assert not is_used(opened(tmp_path, FeatureStore(list(STORE)[::-1])), stat)
        assert not is_used(opened(tmp_path, FeatureStore(list(STORE)[1:])), stat)
    with monkeypatch.context() as patch:
        patch.setattr(zonal_cache, "VERSION", zonal_cache.VERSION + 1)
        assert not is_used(opened(tmp_path))
    away = Feature.of("9,48", "point", Point(9, 48))
    assert not opened(tmp_path).series("2020-01-02", "10m_wind_speed", away).any()
    twin = Feature.of("Band", "region", box(0, 0, 20, 20))  # another of the same name
    assert not opened(tmp_path).series("2020-01-02", "10m_wind_speed", twin).any()


@pytest.mark.parametrize("damage", ["empty", "short", "shape", "type", "noise"])
def test_a_damaged_cube_is_none(tmp_path: Path, damage: str) -> None:
    add(tmp_path, Source(**SMALL))
    change_fields(tmp_path)
    for path in cubes(tmp_path):
        whole = path.read_bytes()
        if damage == "empty":
            path.write_bytes(b"")
        elif damage == "short":
            path.write_bytes(whole[:-8])
        elif damage == "shape":
            np.save(path, np.load(path)[:, :-1])
        elif damage == "type":
            np.save(path, np.load(path).astype(np.float32))
        else:
            path.write_bytes(b"\x00" * len(whole))
    assert not is_used(opened(tmp_path))
    assert index_dataset(tmp_path / "hand", features=lambda: STORE).made == 4
    assert np.load(cubes(tmp_path)[0]).shape == (4, 5, 5)


def test_without_medians_they_are_computed_when_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(tmp_path / "whole", Source(**SMALL))
    monkeypatch.setattr(cube, "_has_medians", lambda zones, steps: False)
    add(tmp_path, Source(**SMALL))
    assert {np.load(path).shape for path in cubes(tmp_path)} == {(3, 5, 5)}
    for stat in STATS:
        one, other = (
            opened(root).table("2020-01-01", VARIABLES[0], list(STORE), stat)
            for root in (tmp_path, tmp_path / "whole")
        )
        assert one.tobytes() == other.tobytes()
    # What has medians is not made again without them; what lacks them is, once they are quick.
    assert index_dataset(tmp_path / "whole" / "hand", features=lambda: STORE).made == 0
    monkeypatch.setattr(cube, "_has_medians", lambda zones, steps: True)
    assert index_dataset(tmp_path / "hand", features=lambda: STORE).made == 4
    assert store(tmp_path / "whole") == store(tmp_path)


def test_as_many_steps_at_a_time_as_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add(tmp_path / "whole", Source(**SMALL))
    for budget in (1, 648 * 4 * 2 + 1, 648 * 4 * 5 - 1):
        monkeypatch.setattr(cube, "BUDGET", budget)
        add(tmp_path / str(budget), Source(**SMALL))
        assert store(tmp_path / str(budget)) == store(tmp_path / "whole")


def test_a_feature_off_a_regional_grid(tmp_path: Path) -> None:
    box_ = Selection.parse(["bbox=-40,-60,60,60"])
    add(tmp_path, Source(**SMALL), selection=box_)
    dataset = opened(tmp_path)
    (away,) = np.isnan(np.load(cubes(tmp_path)[0])).all(axis=(0, 2)).nonzero()
    assert [list(STORE)[i].name for i in away] == ["South"]
    with pytest.raises(OutsideGrid):
        dataset.series("2020-01-01", VARIABLES[0], STORE.get("South"))


def test_what_has_no_cube(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> FeatureStore:
        raise AssertionError("the features are not needed")

    monkeypatch.setattr(cube, "LEAST_CELLS", 649)
    add(tmp_path / "coarse", Source(**SMALL), load=fail)
    monkeypatch.setattr(cube, "LEAST_CELLS", 1)
    stations: Any = StationList(np.array([10.0, 20.0]), np.array([30.0, 40.0]), ("a", "b"))
    add(tmp_path / "stations", Source(**SMALL, grid=stations), load=fail)
    series = Source(kind="analyses", times=["2020-01-01", "2020-01-02"])
    add(tmp_path / "series", series, load=fail)
    for root in (tmp_path / "coarse", tmp_path / "stations", tmp_path / "series"):
        assert not cubes(root)
    for root in (tmp_path / "stations", tmp_path / "series"):
        done = index_dataset(root / "hand", features=fail)
        assert (done.is_worthwhile, done.made) == (False, 0)


def test_progress_names_what_is_being_done(tmp_path: Path) -> None:
    heard: list[tuple[int, int, str]] = []
    add(tmp_path, Source(**SMALL), progress=lambda *news: heard.append(news))
    done = [done for done, _, _ in heard]
    assert done == sorted(done) and heard[-1][0] == heard[-1][1] == 4 * 648 * 5 * 4
    said = list(dict.fromkeys(what for _, _, what in heard))
    assert said[:2] == ["2020-01-01 2m_temperature", "2020-01-01 2m_temperature, features"]


def store(root: Path) -> dict[str, bytes]:
    """What is in force below a root: all but hidden files."""
    found = tree(root / "hand")
    assert found
    return found


@needs_fork
@pytest.mark.parametrize("mode", ["new", pytest.param("append", marks=pytest.mark.slow)])
def test_an_ingest_killed_at_any_step(tmp_path: Path, mode: ingest.Mode) -> None:
    old = Source(inits=["2019-06-01"], variables=VARIABLES[:1], leads=(0, 6))
    new = Source(**{**SMALL, "variables": VARIABLES[:1], "leads": (0, 6)})
    if mode != "new":
        add(tmp_path / "whole", old)
    add(tmp_path / "whole", new, mode)
    after = store(tmp_path / "whole")
    names = [f"cube-{opened(tmp_path / 'whole').zones.key}"]
    kills = 0
    for n in range(1, 500):
        root = tmp_path / str(n)
        if mode != "new":
            add(root, old)
        killed = killed_at(n, lambda root=root: add(root, new, mode))
        kills += killed
        if killed and not ((root / "hand").is_dir() and store(root) == after):
            add(root, new, mode)
        assert store(root) == after
        assert sorted({path.parent.name for path in cubes(root)}) == names
        shutil.rmtree(root)
        if not killed:
            break
    assert kills > 20


@needs_fork
def test_indexing_killed_at_any_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add(tmp_path / "old", Source(**ENSEMBLE), load=lambda: OTHER)
    add(tmp_path / "whole", Source(**ENSEMBLE))
    after = store(tmp_path / "whole")
    wanted = opened(tmp_path / "whole").table("2020-01-01", VARIABLES[0], list(STORE))
    kills = went_on = 0
    for n in range(1, 500):
        root = tmp_path / str(n)
        shutil.copytree(tmp_path / "old", root)
        killed = killed_at(
            n, lambda root=root: index_dataset(root / "hand", features=lambda: STORE)
        )
        got = opened(root).table("2020-01-01", VARIABLES[0], list(STORE))
        assert got.tobytes() == wanted.tobytes()
        if not killed:
            assert store(root) == after
            break
        kills += 1
        done = index_dataset(root / "hand", features=lambda: STORE)
        assert done.made + done.present == 4
        went_on += done.present > 0
        assert store(root) == after
        shutil.rmtree(root)
    assert kills > 10 and went_on > 3


def test_a_dataset_from_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add(tmp_path / "whole", Source(**SMALL))
    monkeypatch.setattr(cube, "LEAST_CELLS", 10**6)
    add(tmp_path, Source(**SMALL))
    assert not cubes(tmp_path)
    assert not index_dataset(tmp_path / "hand").is_worthwhile
    monkeypatch.setattr(cube, "LEAST_CELLS", 1)
    heard: list[tuple[int, int, str]] = []
    done = index_dataset(
        tmp_path / "hand", features=lambda: STORE, progress=lambda *news: heard.append(news)
    )
    size = 4 * 5 * 5 * 8
    assert (done.features, done.made, done.present, done.bytes) == (5, 4, 0, 4 * size)
    assert heard[0][2] == "2020-01-01 2m_temperature" and heard[-1][0] == heard[-1][1] > 0
    assert store(tmp_path) == store(tmp_path / "whole")
    again = index_dataset(tmp_path / "hand", features=lambda: STORE)
    assert (again.made, again.present, again.bytes) == (0, 4, 0)
    with locked(tmp_path, "hand"), pytest.raises(StoreFailure, match="is being changed"):
        index_dataset(tmp_path / "hand", features=lambda: STORE)
    (tmp_path / "mine").mkdir()
    with pytest.raises(StoreError, match="was not made by 'data add': it has no index"):
        index_dataset(tmp_path / "mine")


def test_too_little_room_for_an_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add(tmp_path, Source(**SMALL), load=lambda: OTHER)
    before = store(tmp_path)
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(ingest.shutil, "disk_usage", lambda path: usage._replace(free=1000))
    with pytest.raises(StoreFailure, match=r"0\.0 MB are needed below .* are free: make room\."):
        index_dataset(tmp_path / "hand", features=lambda: STORE)
    assert store(tmp_path) == before


@pytest.mark.slow
def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZEPHYRUS_DATA", str(tmp_path))
    grid = Grid(np.arange(-89.5, 90.0), np.arange(-180.0, 180.0))
    monkeypatch.setattr(cube, "LEAST_CELLS", 10**6)
    source = Source(grid=grid, inits=["2020-01-01"], leads=(6,), variables=VARIABLES)
    add_dataset("fine", source.understood, root=tmp_path)
    add_dataset("coarse", Source(**SMALL).understood, root=tmp_path)
    said = zephyrus("data", "index", "fine", "coarse")
    assert "fine: 2,524 features of 2 fields computed, 0.2 MB\n" in said
    assert "coarse: coarse, or without areas, so it needs no index\n" in said
    assert "fine: 2,524 features of 0 fields computed (2 were there)" in zephyrus(
        "data", "index", "fine"
    )
    for wrong, why in (("fin", "There is no dataset 'fin'"), ("demo", "ships with zephyrus")):
        assert why in zephyrus("data", "index", wrong, status=2)
