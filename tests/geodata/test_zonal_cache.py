"""The folder that keeps all zones of a feature set on a grid."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from shapely.affinity import translate
from shapely.geometry import MultiPolygon, Point, Polygon, box

from zephyrus_geodata import zonal_cache
from zephyrus_geodata.features import Feature, FeatureStore
from zephyrus_geodata.grid import Grid
from zephyrus_geodata.zonal import ZonalIndex, Zone, Zones

GAUSSIAN = Grid.from_coords(
    np.rad2deg(np.arcsin(np.polynomial.legendre.leggauss(48)[0])), np.arange(96) * 3.75
)[0]
REGULAR = Grid(np.arange(-88.75, 90, 2.5), np.arange(-178.75, 180, 2.5))
FEATURES = (
    Feature.of(
        "Fiji",
        "country",
        MultiPolygon(
            [
                Polygon([(177, -19), (180, -18.6), (180, -16), (178, -17)]),
                Polygon([(-180, -18.6), (-178.5, -18), (-180, -16)]),
            ]
        ),
    ),
    Feature.of("South", "region", box(-180, -90, 180, -66)),
    Feature.of("Pond", "lake", box(10.1, 10.1, 10.2, 10.2)),
    Feature.of("Town", "city", Point(8.5, 47.4)),
)
ARRAYS = ("starts", "cells", "weights", "fallback")


def told(zone: Zone) -> tuple[list[int], list[float], bool]:
    return zone.cells.tolist(), zone.weights.tolist(), zone.fallback


def same(one: Zones, other: Zones) -> bool:
    return [told(zone) for zone in one] == [told(zone) for zone in other]


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.fixture
def no_building(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> Zone:
        raise AssertionError("built again")

    monkeypatch.setattr("zephyrus_geodata.zonal_index.build_zone", never)


def test_zones_survive_the_disk(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    first = ZonalIndex(GAUSSIAN, FEATURES, cache_dir=tmp_path)
    built = first.build()
    assert [folder.name for folder in tmp_path.iterdir()] == [first.key]

    request.getfixturevalue("no_building")
    again = ZonalIndex(GAUSSIAN, FEATURES, cache_dir=tmp_path)
    # One alone is taken from there too.
    assert told(again.weights(FEATURES[0])) == told(built[0])
    assert same(again.build(), built)
    assert same(again.zones(FEATURES[::-1]), built[::-1])
    assert again.zones(FEATURES) is again.build()
    assert not again.build().cells.flags.writeable


def test_one_zone_equals_the_one_built_with_all(tmp_path: Path) -> None:
    lone = Zones.of(ZonalIndex(GAUSSIAN, FEATURES).weights(f) for f in FEATURES)
    index = ZonalIndex(GAUSSIAN, FEATURES, cache_dir=tmp_path)
    assert same(lone, index.build())
    assert dict(index.rows) == {f.key: row for row, f in enumerate(FEATURES)}


def test_a_feature_of_the_same_name_but_another_shape_has_its_own_zone() -> None:
    index = ZonalIndex(GAUSSIAN, FEATURES)
    other = Feature.of("Town", "city", Point(100.0, 0.0))
    twin = Feature.of("Town", "city", Point(8.5, 47.4))
    for _ in range(2):
        assert index.zone(other).cells.tolist() == [GAUSSIAN.nearest(0.0, 100.0)]
        assert index.zone(FEATURES[3]).cells.tolist() == [GAUSSIAN.nearest(47.4, 8.5)]
        assert index.zone(twin).cells.tolist() == [GAUSSIAN.nearest(47.4, 8.5)]
        mixed = index.zones([FEATURES[3], other])
        assert mixed.cells.tolist() == [
            GAUSSIAN.nearest(47.4, 8.5),
            GAUSSIAN.nearest(0.0, 100.0),
        ]
        index.build()


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("damage", ["empty", "cut", "flipped", "text", "gone", "other"])
def test_a_damaged_folder_is_rebuilt(tmp_path: Path, name: str, damage: str) -> None:
    built = ZonalIndex(GAUSSIAN, FEATURES, cache_dir=tmp_path).build()
    (folder,) = tmp_path.iterdir()
    whole = contents(folder)
    file = folder / f"{name}.npy"
    good = whole[file.name]
    flipped = bytearray(good)
    flipped[-1] ^= 0x01
    spoilt = {
        "empty": b"",
        "cut": good[:-3],
        "flipped": bytes(flipped),
        "text": b"not an array",
    }
    if damage == "gone":
        file.unlink()
    elif damage == "other":
        np.save(file, np.load(file)[:-1])
    else:
        file.write_bytes(spoilt[damage])
    again = ZonalIndex(GAUSSIAN, FEATURES, cache_dir=tmp_path).build()
    assert same(again, built)
    assert contents(folder) == whole
    assert list(tmp_path.iterdir()) == [folder]


def test_zones_of_another_grid_or_set_are_not_taken(tmp_path: Path) -> None:
    zones = Zones.of([Zone(np.array([5]), np.array([1.0]), False)])
    zonal_cache.write(tmp_path / "zones", zones, 10)
    kept = zonal_cache.read(tmp_path / "zones", 1, 10)
    assert kept is not None
    assert same(kept, zones)
    assert zonal_cache.read(tmp_path / "zones", 2, 10) is None
    assert zonal_cache.read(tmp_path / "zones", 1, 9) is None
    assert zonal_cache.read(tmp_path / "elsewhere", 1, 10) is None


@pytest.mark.parametrize("blockade", ["file", "foreign folder", "link"])
def test_what_lies_in_the_way_is_replaced(tmp_path: Path, blockade: str) -> None:
    cache, elsewhere = tmp_path / "cache", tmp_path / "elsewhere"
    cache.mkdir()
    elsewhere.mkdir()
    (elsewhere / "precious").write_text("not ours")
    place = cache / ZonalIndex(GAUSSIAN, FEATURES).key
    if blockade == "file":
        place.write_text("in the way")
    elif blockade == "link":
        place.symlink_to(elsewhere)
    else:
        shutil.copytree(elsewhere, place)
    built = ZonalIndex(GAUSSIAN, FEATURES, cache_dir=cache).build()
    assert (elsewhere / "precious").exists()
    kept = zonal_cache.read(place, len(FEATURES), GAUSSIAN.size)
    assert kept is not None
    assert same(kept, built)


def test_another_grid_shape_or_version_is_another_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    names = {ZonalIndex(grid, FEATURES).key for grid in (GAUSSIAN, REGULAR)}
    names.add(ZonalIndex(GAUSSIAN, FEATURES[1:]).key)
    names.add(ZonalIndex(GAUSSIAN, FEATURES[::-1]).key)
    moved = (Feature.of("Fiji", "country", translate(FEATURES[0].geometry, 0, 0.01)), *FEATURES[1:])
    names.add(ZonalIndex(GAUSSIAN, moved).key)
    monkeypatch.setattr(zonal_cache, "VERSION", 999)
    names.add(ZonalIndex(GAUSSIAN, FEATURES).key)
    assert len(names) == 6
    assert ZonalIndex(GAUSSIAN, FeatureStore(FEATURES)).key in names


def test_the_digest_of_the_shipped_features_is_that_of_their_file() -> None:
    one, other = FeatureStore.load(), FeatureStore.load()
    assert one.digest == other.digest
    assert one.digest != FeatureStore(FEATURES).digest
    assert FeatureStore(FEATURES).digest != FeatureStore(FEATURES[1:]).digest


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    zones = ZonalIndex(GAUSSIAN, FEATURES, cache_dir=blocked / "cache").build()
    assert len(zones) == len(FEATURES)
