"""Data far away: downloads that go on where they broke off, Zarr chunks that are asked for again.

A Zarr store is read chunk by chunk; a NetCDF or GRIB file is fetched whole into a folder that
goes with the process.
"""

import tempfile
import time
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path
from typing import Any, TypeVar
from urllib.error import HTTPError, URLError
from urllib.parse import unquote, urlsplit
from urllib.request import Request, urlopen

from zephyrus_geodata.errors import UnsuitableData
from zephyrus_geodata.reading.extras import need

TRIES = 5
PAUSE = 0.5  # s before the second try; doubles
TIMEOUT = 60.0  # s without a byte
_BLOCK = 1 << 20
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
    try:
        with _request(http, options, {"Range": "bytes=0-0"}) as response:
            # A server of web pages may answer anything with "200, here is the start page".
            return "html" not in str(response.headers.get("Content-Type", ""))
    except UnsuitableData:
        raise
    except HTTPError as error:
        if error.code in (403, 404, 410, 400, 405):
            return False
        raise UnsuitableData(f"{address} answers {error.code} {error.reason}.") from error


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
    _download_http(http, address, options, path)
    return path


def _download_http(http: str, address: str, options: dict[str, Any], path: Path) -> None:
    total: int | None = None
    tag: str | None = None
    failures = 0
    path.write_bytes(b"")
    while True:
        have = path.stat().st_size
        headers = {}
        if have:
            headers = {"Range": f"bytes={have}-"} | ({"If-Range": tag} if tag else {})
        try:
            with _request(http, options, headers) as response:
                again = response.status == 206
                length = response.headers.get("Content-Length")
                if length is not None:
                    total = int(length) + (have if again else 0)
                tag = response.headers.get("ETag") or response.headers.get("Last-Modified")
                with path.open("ab" if again else "wb") as file:
                    while block := response.read(_BLOCK):
                        file.write(block)
        except HTTPError as error:
            if error.code == 416 and total == have:
                return
            if error.code < 500 and error.code not in (408, 429):
                raise UnsuitableData(
                    f"{address} answers {error.code} {error.reason}; is the address right?"
                ) from error
            problem: Exception = error
        except (HTTPException, OSError) as error:
            problem = error
        else:
            if total is None or path.stat().st_size == total:
                return
            problem = OSError(f"only {path.stat().st_size:,} of {total:,} bytes came")
        # Bytes that did come are progress: only tries in vain count.
        failures = 0 if path.stat().st_size > have else failures + 1
        if failures >= TRIES:
            raise UnsuitableData(f"{address} can't be fetched: {problem}.") from problem
        time.sleep(PAUSE * 2**failures)


def _request(http: str, options: dict[str, Any], headers: dict[str, str]) -> Any:
    asked = {"User-Agent": "zephyrus", "Accept-Encoding": "identity"}
    asked |= {str(k): str(v) for k, v in dict(options.get("headers", {})).items()} | headers

    def ask() -> Any:
        return urlopen(Request(http, headers=asked), timeout=TIMEOUT)

    return _again(ask, http)


def _again(ask: Callable[[], T], address: str) -> T:
    """Try until it works, with pauses; what a server refuses is not asked again."""
    for attempt in range(TRIES):
        try:
            return ask()
        except FileNotFoundError as error:
            raise UnsuitableData(f"There is nothing at {address}.") from error
        except PermissionError as error:
            raise UnsuitableData(f"{address} may not be read: {error}.") from error
        except HTTPError as error:
            if error.code < 500 and error.code not in (408, 429):
                raise
            problem: Exception = error
        except (OSError, HTTPException) as error:
            problem = error
        if attempt + 1 < TRIES:
            time.sleep(PAUSE * 2**attempt)
    reason = getattr(problem, "reason", None) if isinstance(problem, URLError) else None
    raise UnsuitableData(f"{address} can't be reached: {reason or problem}.") from problem


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
