"""GRIB 1 and 2 as cubes: an index over ecCodes, so that no message hides another.

Every message gets a place (member, initial time, step, level) in the cube of its field. Two
messages of one place differ in the start of their interval (0-6 h and 5-6 h) and go to different
cubes; identical repeats are kept once. Nothing but headers is read before a value is asked for.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata.errors import UnsuitableData
from zephyrus_geodata.reading.extras import need
from zephyrus_geodata.reading.gribgrid import Scan, places_of
from zephyrus_geodata.reading.gribmessage import FIELD, Message, same_data, scan_file, values_of
from zephyrus_geodata.reading.members import ordered
from zephyrus_geodata.reading.naming import is_known

if TYPE_CHECKING:
    import xarray as xr

OUTER = ("member", "time", "step", "level")


@dataclass
class _Cube:
    keys: tuple[Any, ...]
    ensemble: bool
    places: dict[tuple[str, np.datetime64, int, float], Message] = field(default_factory=dict)


def open_grib(paths: Sequence[Path]) -> tuple[int, list["xr.Dataset"], list[str]]:
    """Index GRIB files.

    Args:
        paths: files whose messages belong together.

    Returns:
        (edition, cubes, notes). A cube has one variable, named by its short name, with the
        dimensions member (if it is an ensemble), time (initial), step, level and the places.
        Attributes: GRIB_*, and for intervals a coordinate window_start (step).

    Raises:
        UnsuitableData: if a file is truncated or not GRIB.
    """
    need("eccodes", "GRIB files")
    messages = [message for path in paths for message in scan_file(path)]
    cubes, repeats = _sort(messages)
    notes = []
    if repeats:
        notes.append(f"{repeats} messages are there twice; each was taken once.")
    grids = {}
    made = []
    for cube in cubes:
        first = next(iter(cube.places.values()))
        key = first.keys[FIELD.index("md5GridSection")]
        if key not in grids:
            grids[key] = places_of(first)
        made.append(_dataset(cube, *grids[key]))
    edition = max((m.edition for m in messages), default=2)
    return edition, made, notes


def _sort(messages: Sequence[Message]) -> tuple[list[_Cube], int]:
    """Give every message its place; a different second one at a place opens a second cube."""
    families: dict[tuple[Any, ...], list[Message]] = {}
    for message in messages:
        families.setdefault(message.keys, []).append(message)
    cubes, repeats = [], 0
    for keys, members in families.items():
        ensemble = any(m.member for m in members)
        layers: list[_Cube] = []
        for message in sorted(members, key=lambda m: m.start):
            place = (message.member, message.time, message.step, message.level)
            for cube in layers:
                held = cube.places.get(place)
                if held is None:
                    cube.places[place] = message
                    break
                if held.start == message.start:
                    if _matters(cube) and not same_data(held, message):
                        raise UnsuitableData(_two(held, message))
                    repeats += 1
                    break
            else:
                layers.append(_Cube(keys, ensemble, {place: message}))
        for layer in layers[1:]:
            # 0-3 h is the amount since the start and that of the first window: it serves both.
            layer.places = {**layers[0].places, **layer.places}
        cubes.extend(layers)
    return cubes, repeats


def _matters(cube: _Cube) -> bool:
    """Say whether a field may be a variable; nothing is lost of what is left out anyway."""
    attrs = _attrs(cube)
    return is_known(_name(attrs), attrs)


def _two(one: Message, other: Message) -> str:
    """Say that two messages give one field other values."""
    places = " and ".join(dict.fromkeys(f"{m.path.name} ({m.origin})" for m in (one, other)))
    return (
        f"There are two messages of {one.keys[0]} at {str(one.time)[:16]} + {one.step // 3600} h "
        f"with other values, in {places}; take one model, version or stream out first, for "
        "example with grib_copy -w centre=ecmf,expver=0001 IN OUT."
    )


def _dataset(
    cube: _Cube, dims: tuple[str, ...], coords: dict[str, Any], order: Scan
) -> "xr.Dataset":
    import xarray as xr
    from xarray.core.indexing import LazilyIndexedArray

    members = ordered(place[0] for place in cube.places)
    times = sorted({place[1] for place in cube.places})
    steps = sorted({place[2] for place in cube.places})
    levels = sorted({place[3] for place in cube.places})
    messages = list(cube.places.values())
    table = np.full((len(members), len(times), len(steps), len(levels)), -1, np.int64)
    for index, (member, time, step, level) in enumerate(cube.places):
        at = (members.index(member), times.index(time), steps.index(step), levels.index(level))
        table[at] = index
    outer = OUTER if cube.ensemble else OUTER[1:]
    table = table if cube.ensemble else table[0]
    attrs = _attrs(cube)
    variables: dict[str, Any] = {
        "time": ("time", np.array(times, "datetime64[s]")),
        "step": ("step", np.array(steps, "timedelta64[s]")),
        "level": ("level", np.array(levels, np.float64)),
        "present": (outer, table >= 0),
    }
    if cube.ensemble:
        variables["member"] = ("member", np.array(members, object))
    starts: dict[int, set[int]] = {}
    for message in messages:
        starts.setdefault(message.step, set()).add(message.start)
    if attrs.get("GRIB_stepType") != "instant" or any({s} != starts[s] for s in steps):
        # Where runs disagree about the start, nothing can be said for all of them.
        hours = [min(starts[s]) / 3600 if len(starts[s]) == 1 else np.nan for s in steps]
        variables["window_start"] = ("step", np.array(hours))
    array = LazilyIndexedArray(_backend(messages, table, order))
    return xr.Dataset(
        {_name(attrs): ((*outer, *dims), array, attrs)}, coords={**variables, **coords}
    )


def _attrs(cube: _Cube) -> dict[str, Any]:
    attrs = {f"GRIB_{k}": v for k, v in zip(FIELD, cube.keys, strict=False) if v is not None}
    layer, family = cube.keys[len(FIELD) :]
    attrs |= {"GRIB_dataType": family, "units": attrs.get("GRIB_units", "")}
    attrs |= {"long_name": attrs.get("GRIB_name", "")}
    if layer:
        attrs |= {"GRIB_topLevel": layer[0], "GRIB_bottomLevel": layer[1]}
    if attrs.get("GRIB_cfName", "unknown") != "unknown":
        attrs["standard_name"] = attrs["GRIB_cfName"]
    return attrs


def _name(attrs: Mapping[str, Any]) -> str:
    name = str(attrs.get("GRIB_shortName", "unknown"))
    if name not in ("unknown", "~"):
        return name
    keys = ["discipline", "parameterCategory", "parameterNumber"]
    if "GRIB_discipline" not in attrs:
        keys = ["table2Version", "indicatorOfParameter"]
    return "unknown_" + "_".join(str(attrs.get(f"GRIB_{key}", "x")) for key in keys)


def _backend(messages: Sequence[Message], table: NDArray[np.int64], scan: Scan) -> Any:
    """Return a lazy xarray array over messages; ``table`` holds their index, or -1."""
    from xarray.backends import BackendArray
    from xarray.core.indexing import IndexingSupport, explicit_indexing_adapter

    class GribArray(BackendArray):
        def __init__(self) -> None:
            self.shape = (*table.shape, *scan.shape)
            self.dtype = np.dtype(np.float32)

        def __getitem__(self, key: Any) -> Any:
            return explicit_indexing_adapter(key, self.shape, IndexingSupport.OUTER, self._get)

        def _get(self, key: tuple[Any, ...]) -> NDArray[np.float32]:
            outer, inner = key[: table.ndim], key[table.ndim :]
            # One axis after another, from the last, is what outer indexing means.
            chosen = table
            for axis in reversed(range(table.ndim)):
                chosen = chosen[(slice(None),) * axis + (outer[axis],)]
            chosen = np.asarray(chosen)
            empty = _outer(np.broadcast_to(np.float32(np.nan), scan.shape), inner)
            out = np.full((chosen.size, *empty.shape), np.nan, np.float32)
            flat = chosen.ravel()
            for place in np.argsort(flat, kind="stable"):
                if flat[place] >= 0:
                    out[place] = _outer(scan.lay(values_of(messages[flat[place]])), inner)
            return out.reshape(chosen.shape + empty.shape)

    return GribArray()


def _outer(array: NDArray[Any], key: tuple[Any, ...]) -> NDArray[Any]:
    for axis in reversed(range(array.ndim)):
        array = array[(slice(None),) * axis + (key[axis],)]
    return array
