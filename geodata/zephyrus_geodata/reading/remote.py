"""Data far away: downloads that go on where they broke off, Zarr chunks that are asked for again.

A Zarr store is read chunk by chunk, and a large NetCDF4 file piece by piece where few of its
values are wanted; any other file is fetched whole into a folder that goes with the process.
"""

import re
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

from zephyrus_geodata.errors import UnsuitableData
from zephyrus_geodata.reading.extras import need
from zephyrus_geodata.web.answer import Answer
from zephyrus_geodata.web.errors import FetchFailed, Refused, TooLarge
from zephyrus_geodata.web.http import Http
from zephyrus_geodata.web.running import run
from zephyrus_geodata.web.words import shown

TRIES = 5
PAUSE = 0.5  # s before the second try; doubles
TIMEOUT = 60.0  # s without a byte
BIG = 64 << 20
"""Bytes of a file from which on pieces may be worth their many requests."""
_BLOCK = 1 << 20
_HDF5 = b"\x89HDF\r\n\x1a\n"
_PUBLIC = {"gs": "https://storage.googleapis.com/{0}/{1}", "s3": "https://{0}.s3.amazonaws.com/{1}"}
_PACKAGES = {"gs": "gcsfs", "gcs": "gcsfs", "s3": "s3fs"}

_FOLDERS: list[tempfile.TemporaryDirectory[str]] = []
"""What was downloaded: lazy readers need it as long as anybody may read."""

T = TypeVar("T")


def _http_address(address: str, options: dict[str, Any]) -> str | None:
    """Return the https address of a public bucket, or of what is one already; else None."""
    parts = urlsplit(address)
    if parts.scheme in ("http", "https"):
        return address
    if parts.scheme in _PUBLIC and not _importable(_PACKAGES[parts.scheme]):
        return _PUBLIC[parts.scheme].format(parts.netloc, parts.path.lstrip("/"))
    return None


def _importable(package: str) -> bool:
    from importlib.util import find_spec

    return find_spec(package) is not None


def exists(address: str, options: dict[str, Any]) -> bool:
    """Say whether something is there; a broken connection is tried again."""
    http = _http_address(address, options)
    if http is None:
        return bool(_again(lambda: _filesystem(address, options).exists(address), address))

    async def ask() -> bool:
        async with _web(options) as web:
            # A server of web pages may answer anything with "200, here is the start page".
            return await web.ask(
                http,
                lambda answer: answer.status != 416 and not answer.is_html,
                headers={"Range": "bytes=0-199"},
            )

    try:
        return run(ask)
    except Refused as error:
        if error.status in (403, 404, 410, 400, 405):
            return False
        raise UnsuitableData(str(error)) from error
    except FetchFailed as error:
        raise UnsuitableData(str(error)) from error


def download(address: str, options: dict[str, Any]) -> Path:
    """Fetch one file into a folder that is removed when the process ends.

    Raises:
        UnsuitableData: if it isn't there, or the connection breaks more than ``TRIES`` times.
    """
    folder = tempfile.TemporaryDirectory(prefix="zephyrus-")
    _FOLDERS.append(folder)
    name = unquote(urlsplit(address).path.rstrip("/").rpartition("/")[2]) or "data"
    path = Path(folder.name) / "".join(c if c.isalnum() or c in "._-" else "_" for c in name)
    http = _http_address(address, options)
    if http is None:
        files = _filesystem(address, options)
        _again(lambda: files.get_file(address, str(path)), address)
        return path

    async def bring() -> None:
        async with _web(options) as web:
            await web.download(http, path)

    try:
        run(bring)
    except FetchFailed as error:
        raise UnsuitableData(str(error)) from error
    except OSError as error:
        raise UnsuitableData(f"{shown(address)} can't be kept here: {error}.") from error
    return path


def in_pieces(address: str, options: dict[str, Any]) -> str | None:
    """Return what NetCDF-C opens to read a file piece by piece; None if it must come whole.

    That is so for NetCDF4 (HDF5) files of ``BIG`` bytes or more on servers that give parts of
    files. NetCDF-C sends no headers and no name of a user: files that need one come whole.

    Raises:
        UnsuitableData: if the file isn't there.
    """
    http = _http_address(address, options)
    if http is None or options.get("headers") or urlsplit(http).username is not None:
        return None

    async def ask() -> Answer:
        async with _web(options) as web:
            return await web.ask(
                http,
                lambda answer: answer,
                headers={"Range": f"bytes=0-{len(_HDF5) - 1}"},
                limit=_BLOCK,
            )

    try:
        answer = run(ask)
    except TooLarge:  # all of the file was on its way
        return None
    except FetchFailed as error:
        raise UnsuitableData(str(error)) from error
    size = re.fullmatch(r"bytes 0-\d+/(\d+)", answer.headers.get("Content-Range", ""))
    if answer.status != 206 or answer.body != _HDF5 or size is None or int(size[1]) < BIG:
        return None
    return f"{answer.url}#mode=bytes"


def _web(options: dict[str, Any]) -> Http:
    headers = {str(k): str(v) for k, v in dict(options.get("headers", {})).items()}
    return Http(
        purpose="data read",
        headers=headers,
        tries=TRIES,
        pause=PAUSE,
        timeout=TIMEOUT,
        goes_on=False,
    )


def _again(ask: Callable[[], T], address: str) -> T:
    """Try until it works, with pauses; what a server refuses is not asked again."""
    for attempt in range(TRIES):
        try:
            return ask()
        except FileNotFoundError as error:
            raise UnsuitableData(f"There is nothing at {address}.") from error
        except PermissionError as error:
            raise UnsuitableData(f"{address} may not be read: {error}.") from error
        except OSError as error:
            problem = error
        if attempt + 1 < TRIES:
            time.sleep(PAUSE * 2**attempt)
    raise UnsuitableData(f"{address} can't be reached: {problem}.") from problem


def _filesystem(address: str, options: dict[str, Any]) -> Any:
    need("fsspec", "remote data")
    import fsspec

    scheme = urlsplit(address).scheme
    if scheme in _PACKAGES:
        need(_PACKAGES[scheme], f"{scheme}:// addresses")
    try:
        return fsspec.filesystem(scheme, **options)
    except (ValueError, ImportError) as error:
        raise UnsuitableData(f"{address} can't be read: {error}.") from error


def zarr_store(address: str, options: dict[str, Any]) -> tuple[Any, tuple[str, ...]]:
    """Return a Zarr store that asks again when a connection breaks, and notes."""
    need("zarr", "Zarr stores")
    need("fsspec", "remote data")
    from zarr.storage import FsspecStore, WrapperStore

    http = _http_address(address, options)
    url = http or address
    if http is not None:
        need("aiohttp", "remote data")
        options = {"client_kwargs": {"headers": dict(options.get("headers", {}))}}
    else:
        _filesystem(address, options)

    class RetryingStore(WrapperStore[FsspecStore]):
        async def get(self, key: str, prototype: Any, byte_range: Any = None) -> Any:
            return await _again_async(lambda: self._store.get(key, prototype, byte_range), url)

    store = RetryingStore(FsspecStore.from_url(url, storage_options=options, read_only=True))
    said = () if http in (None, address) else (f"{address} was read as public data from {http}.",)
    return store, said


async def _again_async(ask: Callable[[], Any], address: str) -> Any:
    import asyncio

    import aiohttp

    problem: Exception | None = None
    for attempt in range(TRIES):
        try:
            return await ask()
        except aiohttp.ClientResponseError as error:
            if error.status < 500 and error.status not in (408, 429):
                raise UnsuitableData(
                    f"{address} answers {error.status} {error.message}."
                ) from error
            problem = error
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            problem = error
        if attempt + 1 < TRIES:
            await asyncio.sleep(PAUSE * 2**attempt)
    raise UnsuitableData(
        f"{address} can't be read: {problem or type(problem).__name__}."
    ) from problem
