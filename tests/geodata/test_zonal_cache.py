"""The file that keeps all zones of a feature set on a grid."""

from pathlib import Path

import numpy as np
import pytest
from shapely.affinity import translate
from shapely.geometry import MultiPolygon, Point, Polygon, box

from zephyrus_geodata import zonal_cache
from zephyrus_geodata.features import Feature
from zephyrus_geodata.grid import Grid
from zephyrus_geodata.zonal import ZonalIndex, Zone

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


def same(one: dict[str, Zone], other: dict[str, Zone]) -> bool:
    return list(one) == list(other) and all(
        a.cells.tolist() == b.cells.tolist()
        and a.weights.tolist() == b.weights.tolist()
        and a.fallback is b.fallback
        for a, b in zip(one.values(), other.values(), strict=True)
    )


def test_zones_survive_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built = ZonalIndex(GAUSSIAN, FEATURES, cache_dir=tmp_path).build()
    (file,) = tmp_path.iterdir()
    assert file.suffix == ".npz"

    def never(*_: object) -> Zone:
        raise AssertionError("built again")

    monkeypatch.setattr("zephyrus_geodata.zonal.build_zone", never)
    again = ZonalIndex(GAUSSIAN, FEATURES, cache_dir=tmp_path)
    assert same(again.build(), built)
    assert again.weights(FEATURES[0]) is again.build()[FEATURES[0].key]


def test_one_zone_equals_the_one_built_with_all(tmp_path: Path) -> None:
    lone = {f.key: ZonalIndex(GAUSSIAN, FEATURES).weights(f) for f in FEATURES}
    assert same(lone, ZonalIndex(GAUSSIAN, FEATURES, cache_dir=tmp_path).build())


@pytest.mark.parametrize("damage", ["empty", "cut", "flipped", "text", "other"])
def test_a_damaged_file_is_rebuilt(tmp_path: Path, damage: str) -> None:
    built = ZonalIndex(GAUSSIAN, FEATURES, cache_dir=tmp_path).build()
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 0xFF
    spoilt = {
        "empty": b"",
        "cut": whole[: len(whole) // 2],
        "flipped": bytes(flipped),
        "text": b"not an archive",
    }
    if damage == "other":
        zonal_cache.write(file, [(z.cells, z.weights, z.fallback) for z in built.values()][1:])
    else:
        file.write_bytes(spoilt[damage])
    again = ZonalIndex(GAUSSIAN, FEATURES, cache_dir=tmp_path).build()
    assert same(again, built)
    assert file.read_bytes() == whole
    assert list(tmp_path.iterdir()) == [file]


def test_another_grid_shape_or_version_is_another_file(monkeypatch: pytest.MonkeyPatch) -> None:
    names = {zonal_cache.digest(FEATURES, grid) for grid in (GAUSSIAN, REGULAR)}
    names.add(zonal_cache.digest(FEATURES[1:], GAUSSIAN))
    moved = (Feature.of("Fiji", "country", translate(FEATURES[0].geometry, 0, 0.01)), *FEATURES[1:])
    names.add(zonal_cache.digest(moved, GAUSSIAN))
    monkeypatch.setattr(zonal_cache, "VERSION", 999)
    names.add(zonal_cache.digest(FEATURES, GAUSSIAN))
    assert len(names) == 5


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    zones = ZonalIndex(GAUSSIAN, FEATURES, cache_dir=blocked / "cache").build()
    assert len(zones) == len(FEATURES)
