"""Opening a source: a file, several, a folder, a Zarr store, here or far away.

What comes out is lazy, and raw but for the packing and the missing values that the source itself
declares: times, units and names are for the next steps.
"""

import glob
import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from zephyrus_geodata.errors import UnsuitableData
from zephyrus_geodata.reading.extras import need, settle
from zephyrus_geodata.reading.formats import data_format
from zephyrus_geodata.reading.netcdf3 import check_complete

if TYPE_CHECKING:
    import xarray as xr

_ZARR_MARKS = ("zarr.json", ".zmetadata", ".zgroup")
_FILES: tuple[str, ...] = (
    ".nc",
    ".nc3",
    ".nc4",
    ".cdf",
    ".netcdf",
    ".grib",
    ".grib1",
    ".grib2",
    ".grb",
    ".grb1",
)
_FILES += (".grb2", ".gb2", ".h5", ".hdf5", ".he5", ".bin")


@dataclass(frozen=True, eq=False)
class Opened:
    """A source, open.

    Attributes:
        where: path, pattern or address.
        format: netcdf3, netcdf4, grib1, grib2, zarr2 or zarr3.
        cubes: what is in it; arrays are read when they are asked for.
        notes: what was done to open it.
    """

    where: str
    format: str
    cubes: "tuple[xr.Dataset, ...]"
    notes: tuple[str, ...] = ()


def open_source(
    where: "str | Path | Sequence[str | Path]",
    *,
    storage_options: Mapping[str, Any] | None = None,
    in_pieces: bool = False,
) -> Opened:
    """Open a source of weather data.

    Args:
        where: a path, a glob pattern, a folder (of files, or a Zarr store), an address
            (http, https, s3, gs, or any other that fsspec knows), or several of them.
        storage_options: what fsspec needs to know about an address, such as ``anon=True``.
        in_pieces: whether few of the values will be read, so that a large NetCDF4 file far away
            is better read piece by piece than fetched whole.

    Raises:
        UnsuitableData: one sentence that says what is there instead of data.
    """
    settle()
    if not isinstance(where, str | Path):
        return _several(
            [open_source(w, storage_options=storage_options, in_pieces=in_pieces) for w in where]
        )
    text = str(where)
    if "://" in text and not text.startswith("file://"):
        return _open_remote(text, dict(storage_options or {}), in_pieces)
    path = Path(text.removeprefix("file://")).expanduser()
    if path.is_dir():
        return _open_folder(path)
    if path.is_file():
        return _open_files([path], text)
    if glob.has_magic(text):
        root = Path(path.anchor or ".")
        found = sorted(root.glob(str(path.relative_to(root) if path.anchor else path)))
        if found:
            return (
                _several([open_source(p) for p in found], text)
                if any(p.is_dir() for p in found)
                else _open_files(found, text)
            )
    raise UnsuitableData(f"There is no file or folder {text}.")


def open_store(store: Any, where: str) -> Opened:
    """Open a Zarr store that another library gives (Icechunk, say).

    Args:
        store: what zarr takes as a store.
        where: what to call it.

    Raises:
        UnsuitableData: one sentence that says what is there instead of data.
    """
    return _open_zarr(store, where)


def _several(parts: Sequence[Opened], where: str | None = None) -> Opened:
    if not parts:
        raise UnsuitableData("No source was given.")
    return Opened(
        where or ", ".join(part.where for part in parts),
        parts[0].format,
        tuple(cube for part in parts for cube in part.cubes),
        tuple(dict.fromkeys(note for part in parts for note in part.notes)),
    )


def _open_folder(path: Path) -> Opened:
    if any((path / mark).exists() for mark in _ZARR_MARKS):
        return _open_zarr(str(path), str(path))
    if (path / "snapshots").is_dir() and ((path / "refs").is_dir() or (path / "repo").exists()):
        raise UnsuitableData(
            f"{path} is an Icechunk repository, which is not read here; write a Zarr store from it "
            "with xarray (open_zarr of its session's store, then to_zarr)."
        )
    if (path / ".zarray").exists():
        raise UnsuitableData(f"{path} is a single Zarr array; name the store around it.")
    stores, files, skipped = [], [], []
    for entry in sorted(path.iterdir()):
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            if any((entry / mark).exists() for mark in _ZARR_MARKS):
                stores.append(entry)
        elif data_format(entry, strict=False):
            files.append(entry)
        else:
            skipped.append(entry.name)
    opened = [_open_zarr(str(store), str(store)) for store in stores]
    if files:
        opened.append(_open_files(files, str(path)))
    if not opened:
        raise UnsuitableData(f"The folder {path} holds no NetCDF, GRIB or Zarr data.")
    whole = _several(opened, str(path))
    if skipped:
        note = f"{len(skipped)} files that are no data were skipped: {', '.join(skipped[:5])}"
        note += " ..." if len(skipped) > 5 else "."
        return Opened(whole.where, whole.format, whole.cubes, (*whole.notes, note))
    return whole


def _open_files(paths: Sequence[Path], where: str) -> Opened:
    formats = {path: data_format(path) for path in paths}
    grib = [path for path, kind in formats.items() if kind == "grib"]
    cubes: list[xr.Dataset] = []
    notes: list[str] = []
    kinds: list[str] = []
    if grib:
        from zephyrus_geodata.reading.grib import open_grib

        edition, found, said = open_grib(grib)
        cubes += found
        notes += said
        kinds.append(f"grib{edition}")
    for path, kind in formats.items():
        if kind == "zarr":
            raise UnsuitableData(
                f"{path.name} is the metadata of a Zarr store without its data; name the folder "
                "or address of the store."
            )
        if kind != "grib":
            if kind == "netcdf3":
                check_complete(path)
            cubes += _open_netcdf(str(path), path.name)
            kinds.append(str(kind))
    return Opened(where, kinds[0], tuple(cubes), tuple(notes))


def _open_netcdf(path: str, title: str) -> "Iterable[xr.Dataset]":
    """Open a file, or an address that netCDF-C reads piece by piece; a cube for each group."""
    import netCDF4

    try:
        cubes = [raw for raw in [_raw(path, None)] if raw.variables]
        if not cubes:
            with netCDF4.Dataset(path, "r") as file:
                groups = list(_groups(file))
            cubes = [_raw(path, group) for group in groups]
        if not cubes:
            raise UnsuitableData(f"{title} holds no variables.")
        return [_decoded(cube, title) for cube in cubes]
    except (OSError, RuntimeError) as error:
        raise UnsuitableData(
            f"{title} can't be read as NetCDF, it may be damaged or not complete: "
            f"{getattr(error, 'strerror', None) or error}; fetch it again."
        ) from error


def _raw(path: str, group: str | None) -> "xr.Dataset":
    """Open a group; netCDF-C would mask the default fill value of a type, a number here maybe."""
    import xarray as xr

    raw = xr.open_dataset(
        path, engine="netcdf4", group=group, decode_cf=False, chunks=None, cache=False
    )
    _declare_default(raw)
    return raw


def _groups(file: Any, prefix: str = "") -> Iterable[str]:
    for name, group in file.groups.items():
        if group.variables:
            yield f"{prefix}/{name}"
        yield from _groups(group, f"{prefix}/{name}")


def _declare_default(raw: "xr.Dataset") -> None:
    """Take NetCDF's own fill value for missing where packed numbers declare none.

    -32767 and the like unpack to numbers that weather may have; unpacked they are far from it.
    """
    import netCDF4

    for var in raw.variables.values():
        packed = "scale_factor" in var.attrs or "add_offset" in var.attrs
        declared = "_FillValue" in var.attrs or "missing_value" in var.attrs
        kind = f"{var.dtype.kind}{var.dtype.itemsize}"
        if packed and not declared and kind in ("i2", "i4"):
            var.attrs["_FillValue"] = var.dtype.type(netCDF4.default_fillvals[kind])


def _decoded(raw: "xr.Dataset", title: str) -> "xr.Dataset":
    """Apply the declared packing and missing values, and nothing else."""
    import xarray as xr

    try:
        for var in raw.variables.values():
            for key in {"scale_factor", "add_offset", "missing_value"} & set(var.attrs):
                if var.dtype.kind in "iuf" and isinstance(var.attrs[key], str):
                    var.attrs[key] = float(var.attrs[key])
        return xr.decode_cf(
            raw, decode_times=False, decode_timedelta=False, decode_coords=False,
            mask_and_scale=True, concat_characters=True,
        )  # fmt: skip
    except (ValueError, TypeError) as error:
        raise UnsuitableData(f"{title}: its packing can't be undone: {error}.") from error


def _open_zarr(store: Any, where: str) -> Opened:
    import xarray as xr

    need("zarr", "Zarr stores")
    try:
        with warnings.catch_warnings():
            # Without consolidated metadata opening is slower, and no more.
            warnings.filterwarnings("ignore", message="Failed to open Zarr store with consolidated")
            raw = xr.open_dataset(store, engine="zarr", decode_cf=False, chunks=None, cache=False)
    except UnsuitableData:
        raise
    except (ValueError, KeyError, OSError, TypeError, RuntimeError) as error:
        text = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UnsuitableData(f"{where} can't be opened as a Zarr store: {text}") from error
    if not raw.variables:
        raise UnsuitableData(
            f"{where} is a Zarr store without arrays in its root; over HTTP it needs consolidated "
            "metadata, and of a store with groups one group must be named."
        )
    kind, notes = _zarr_format(store, where), []
    for name, var in raw.variables.items():
        # Zarr 2's own default fill is 0, which xarray would take for "missing".
        packed = "scale_factor" in var.attrs or "add_offset" in var.attrs
        fill = var.attrs.get("_FillValue")
        if kind == "zarr2" and not packed and fill is not None and fill == 0:
            del var.attrs["_FillValue"]
            if var.ndim > 1:
                notes.append(
                    f"{name}: the fill value 0 of the store was taken for the number; parts that "
                    "were never written would read as 0."
                )
    return Opened(where, kind, (_decoded(raw, where),), tuple(notes))


def _zarr_format(store: Any, where: str) -> str:
    import zarr

    try:
        return f"zarr{zarr.open_group(store, mode='r').metadata.zarr_format}"
    except (ValueError, KeyError, OSError) as error:
        raise UnsuitableData(f"{where} can't be opened as a Zarr store: {error}") from error


def _open_remote(address: str, options: dict[str, Any], in_pieces: bool) -> Opened:
    from zephyrus_geodata.reading import remote

    name = urlsplit(address).path.rstrip("/").rpartition("/")[2].lower()
    query = urlsplit(address).query
    if query and name.endswith(".zarr"):
        raise UnsuitableData(
            f"The address of {name} has a query, which the parts of a Zarr store can't have; use "
            "an address without one, or fetch the store first."
        )
    # What a query asks for is one file, whatever comes back for longer addresses.
    if not (query or name.endswith(_FILES)):
        for mark in _ZARR_MARKS:
            if remote.exists(f"{address.rstrip('/')}/{mark}", options):
                store, said = remote.zarr_store(address.rstrip("/"), options)
                opened = _open_zarr(store, address)
                return Opened(address, opened.format, opened.cubes, (*said, *opened.notes))
    if in_pieces and (pieces := remote.in_pieces(address, options)):
        # Where netCDF-C was built without it, or the server breaks off: whole, with our retries.
        with suppress(UnsuitableData):
            return Opened(address, "netcdf4", tuple(_open_netcdf(pieces, name)))
    opened = _open_files([remote.download(address, options)], address)
    return Opened(address, opened.format, opened.cubes, opened.notes)
