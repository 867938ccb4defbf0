"""What a file is, by its first bytes: its name says nothing."""

import json
from pathlib import Path

from zephyrus_geodata.errors import UnsuitableData

_GRIB_WITHIN = 1024  # bytes: bulletins put a heading before the first message

_OTHERS = (
    (b"\x1f\x8b", "is compressed with gzip; unpack it first (gunzip)"),
    (b"BZh", "is compressed with bzip2; unpack it first (bunzip2)"),
    (b"\xfd7zXZ", "is compressed with xz; unpack it first (unxz)"),
    (b"\x28\xb5\x2f\xfd", "is compressed with zstd; unpack it first (unzstd)"),
    (b"PK\x03\x04", "is a ZIP archive; unpack it first and name the files in it"),
    (b"PK\x05\x06", "is an empty ZIP archive"),
    (b"BUFR", "is BUFR, which holds observations and no grids"),
    (b"PAR1", "is a Parquet table and no gridded data"),
    (b"\x0e\x03\x13\x01", "is HDF4; convert it to NetCDF first (h4toh5, or 'cdo -f nc4 copy')"),
    (b"%PDF", "is a PDF document and no data"),
    (b"\x89PNG", "is a picture and no data"),
    (b"ustar", "is a TAR archive; unpack it first"),
)


def data_format(path: Path, *, strict: bool = True) -> str:
    """Return netcdf3, netcdf4, grib, or zarr for the metadata of a store.

    Args:
        path: a file.
        strict: whether to refuse other files; else they give "".

    Raises:
        UnsuitableData: what the file is instead.
    """
    with path.open("rb") as file:
        head = file.read(_GRIB_WITHIN)
    if head[:3] == b"CDF" and head[3:4] in (b"\x01", b"\x02", b"\x05"):
        return "netcdf3"
    if head[:8] == b"\x89HDF\r\n\x1a\n" or b"\x89HDF\r\n\x1a\n" in head[512:520]:
        return "netcdf4"
    if head[:4] == b"GRIB" or (b"GRIB" in head and _is_grib(head[head.index(b"GRIB") :])):
        return "grib"
    if head.lstrip()[:1] == b"{" and _is_zarr(path):
        return "zarr"
    if strict:
        raise UnsuitableData(f"{path.name} {_instead(head)}.")
    return ""


def _is_grib(head: bytes) -> bool:
    return len(head) > 7 and head[7] in (1, 2)


def _is_zarr(path: Path) -> bool:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError):
        return False
    return isinstance(content, dict) and bool(
        {"zarr_format", "zarr_consolidated_format", "consolidated_metadata"} & set(content)
    )


def _instead(head: bytes) -> str:
    if not head:
        return "is empty"
    for magic, text in _OTHERS:
        if head.startswith(magic) or (magic == b"ustar" and head[257:262] == magic):
            return text
    start = head.lstrip()[:200].lower()
    if start.startswith((b"<!doctype html", b"<html")) or b"<html" in start:
        return "is a web page and no data: the address, or the login behind it, may be wrong"
    if start.startswith(b"<"):
        return f"is XML and no data ({_first_line(head)})"
    if start.startswith((b"{", b"[")):
        return f"is JSON and no data ({_first_line(head)})"
    try:
        head[:200].decode("utf-8")
    except UnicodeDecodeError:
        return "is neither NetCDF nor GRIB nor a Zarr store"
    return f"is text and no gridded data ({_first_line(head)})"


def _first_line(head: bytes) -> str:
    line = head.decode("utf-8", "replace").strip().splitlines()[0][:60]
    return "".join(c if c.isprintable() else "?" for c in line)
