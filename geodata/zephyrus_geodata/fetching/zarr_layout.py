"""Where the chunks of a Zarr store lie: its metadata (format 2 and 3), without opening it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata.web.errors import FetchFailed

MARKS = (".zmetadata", "zarr.json")
"""The metadata of a whole store in one file, of format 2 and 3."""


@dataclass(frozen=True)
class Array:
    """One array of a store.

    Attributes:
        name: in the root group.
        dims: names of its dimensions.
        shape: their sizes.
        chunks: sizes of the files' blocks (of a sharded array: of its shards).
        itemsize: bytes of a number.
        separator: between the indices in a chunk's key.
        prefix: of a chunk's key, after the name: "c" in format 3.
        is_missing_known: whether a chunk that is not there reads as "missing", not as a number.
        coordinates: arrays that belong to it.
    """

    name: str
    dims: tuple[str, ...]
    shape: tuple[int, ...]
    chunks: tuple[int, ...]
    itemsize: int
    separator: str
    prefix: str
    is_missing_known: bool
    coordinates: tuple[str, ...] = ()

    @property
    def chunk_bytes(self) -> int:
        """Size of a chunk's numbers, before compression."""
        return int(np.prod(self.chunks, dtype=np.int64)) * self.itemsize

    def keys(self, indices: Mapping[str, NDArray[np.intp]]) -> Iterator[str]:
        """Give the keys of the chunks that hold a part of the array.

        Args:
            indices: dimension -> indices; all of a dimension that is not there.
        """
        if not self.shape:
            yield f"{self.name}/{self.prefix or '0'}"
            return
        axes = []
        for dim, size, chunk in zip(self.dims, self.shape, self.chunks, strict=True):
            if dim in indices:
                axes.append(np.unique(indices[dim] // chunk).tolist())
            else:
                axes.append(list(range(-(-size // chunk))))
        for place in product(*axes):
            key = self.separator.join(map(str, place))
            middle = f"{self.prefix}{self.separator}" if self.prefix else ""
            yield f"{self.name}/{middle}{key}"


@dataclass(frozen=True)
class Layout:
    """A store.

    Attributes:
        format: 2 or 3.
        arrays: by name; those of the root group.
        files: the metadata files that make a local copy of the store, by path.
    """

    format: int
    arrays: Mapping[str, Array]
    files: Mapping[str, bytes]


def read_layout(mark: str, data: bytes, where: str) -> Layout:
    """Read the consolidated metadata of a store.

    Args:
        mark: which of ``MARKS`` it is.
        data: its bytes.
        where: the store, for messages.

    Raises:
        FetchFailed: if it is none (a web page, say), or has no arrays.
    """
    try:
        value = json.loads(data)
        layout = _second(value, data) if mark == ".zmetadata" else _third(value, data)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise FetchFailed(
            f"{where}/{mark} is no Zarr metadata ({type(error).__name__}: {error}): is the "
            "address right?"
        ) from error
    if not layout.arrays:
        raise FetchFailed(f"{where} has no arrays in its consolidated metadata.")
    return layout


def _second(value: Mapping[str, Any], data: bytes) -> Layout:
    entries: Mapping[str, Any] = value["metadata"]
    arrays, files = {}, {".zmetadata": data}
    for key, entry in entries.items():
        files[_safe(key)] = json.dumps(entry).encode()
        name, _, kind = key.rpartition("/")
        if kind != ".zarray" or "/" in name:
            continue
        attrs = entries.get(f"{name}/.zattrs", {})
        dtype = np.dtype(entry["dtype"]) if isinstance(entry["dtype"], str) else np.dtype("V1")
        arrays[name] = Array(
            name,
            tuple(attrs["_ARRAY_DIMENSIONS"]),
            tuple(entry["shape"]),
            tuple(entry["chunks"]),
            dtype.itemsize,
            entry.get("dimension_separator", "."),
            "",
            _is_missing(entry.get("fill_value")),
            _coordinates(attrs),
        )
    return Layout(2, arrays, files)


def _third(value: Mapping[str, Any], data: bytes) -> Layout:
    entries = (value.get("consolidated_metadata") or {})["metadata"]
    arrays, files = {}, {"zarr.json": data}
    for name, entry in entries.items():
        files[f"{_safe(name)}/zarr.json"] = json.dumps(entry).encode()
        if entry["node_type"] != "array" or "/" in name:
            continue
        encoding = entry["chunk_key_encoding"]
        separator = (encoding.get("configuration") or {}).get("separator")
        is_default = encoding["name"] == "default"
        attrs = entry.get("attributes", {})
        arrays[name] = Array(
            name,
            tuple(entry["dimension_names"] or ()),
            tuple(entry["shape"]),
            tuple(entry["chunk_grid"]["configuration"]["chunk_shape"]),
            _itemsize(entry["data_type"]),
            separator or ("/" if is_default else "."),
            "c" if is_default else "",
            _is_missing(entry.get("fill_value")),
            _coordinates(attrs),
        )
    return Layout(3, arrays, files)


def _safe(key: str) -> str:
    """Refuse a key that leads out of the store: it becomes the name of a local file."""
    parts: Sequence[str] = key.split("/")
    if any(part in ("", ".", "..") for part in parts) or "\\" in key:
        raise ValueError(f"{key!r} can't be in a store")
    return key


def _itemsize(data_type: Any) -> int:
    try:
        return int(np.dtype(data_type).itemsize)
    except TypeError:
        return 1


def _is_missing(fill: Any) -> bool:
    return fill == "NaN" or (isinstance(fill, float) and isnan(fill))


def _coordinates(attrs: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(attrs.get("coordinates", "")).split())
