"""Many zones in one piece of memory."""

import numpy as np
import pytest

from zephyrus_geodata.zones import Zone, Zones

ONE = Zone(np.array([3, 7]), np.array([1.0, 0.5]), False)
NONE = Zone(np.array([], dtype=int), np.array([]), False)
SMALL = Zone(np.array([7]), np.array([0.25]), True)


def told(zone: Zone) -> tuple[list[int], list[float], bool]:
    return zone.cells.tolist(), zone.weights.tolist(), zone.fallback


def test_zones_are_those_they_were_made_of() -> None:
    zones = Zones.of([ONE, NONE, SMALL])
    assert len(zones) == 3
    assert [told(zone) for zone in zones] == [told(zone) for zone in (ONE, NONE, SMALL)]
    assert [told(zones[i]) for i in range(3)] == [told(zone) for zone in zones]
    assert told(zones[-1]) == told(SMALL)
    assert zones.sizes.tolist() == [2, 0, 1]
    assert zones.starts.tolist() == [0, 2, 2, 3]
    assert [a.dtype.name for a in (zones.starts, zones.cells, zones.weights, zones.fallback)] == [
        "int64",
        "int32",
        "float64",
        "bool",
    ]
    assert Zones.of(zones) is zones
    with pytest.raises(IndexError):
        zones[3]


def test_rows_are_taken_in_the_order_asked_for() -> None:
    zones = Zones.of([ONE, NONE, SMALL])
    taken = zones.take([2, 0, 1, 2])
    assert [told(zone) for zone in taken] == [told(zone) for zone in (SMALL, ONE, NONE, SMALL)]
    assert [told(zone) for zone in zones[1:]] == [told(NONE), told(SMALL)]
    assert [told(zone) for zone in zones[::-1]] == [told(zone) for zone in (SMALL, NONE, ONE)]
    assert len(zones.take([])) == 0


def test_no_zones_at_all() -> None:
    zones = Zones.of([])
    assert len(zones) == 0
    assert zones.cells.size == 0
    assert list(zones) == []


def test_zones_can_not_be_changed() -> None:
    zones = Zones.of([ONE])
    with pytest.raises(ValueError, match="read-only"):
        zones[0].weights[0] = 2.0
    with pytest.raises(ValueError, match="read-only"):
        zones.take([0]).cells[0] = 2
