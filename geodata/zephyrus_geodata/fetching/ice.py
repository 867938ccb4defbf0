"""dynamical.org: Icechunk repositories that its STAC catalogue points to.

Icechunk reads chunks (and parts of chunks) as they are asked for, so nothing is fetched before the
store reads; an ingest that was interrupted goes on after the last whole file.
"""

import json
import os
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit
from urllib.request import url2pathname

from zephyrus_geodata.fetching.cut import Cut, make_cut
from zephyrus_geodata.fetching.errors import FetchError
from zephyrus_geodata.fetching.plan import Plan, hours_in_words
from zephyrus_geodata.fetching.request import Request
from zephyrus_geodata.reading.opened import Opened, open_store
from zephyrus_geodata.web.errors import FetchFailed
from zephyrus_geodata.web.http import Http

_REGION = "us-west-2"


class Ice:
    """A repository of dynamical.org.

    Attributes:
        request: what is wanted of it; its ``base`` is a STAC catalogue (https), or the repository
            itself (s3, file).
        where: the repository's address, when it is known.
    """

    def __init__(self, request: Request) -> None:
        self.request = request
        self.where = request.base
        self._whole: Opened | None = None
        self._cut: Cut | None = None

    async def plan(self, http: Http) -> Plan:
        """Open the repository, and find out what is needed of it.

        Raises:
            FetchError: if Icechunk isn't installed, or the request asks for what is not there.
            FetchFailed: if catalogue or repository can't be read.
        """
        icechunk = _icechunk(self.request.source.name)
        if urlsplit(self.request.base).scheme in ("http", "https"):
            asset = await self._asset(http)
            self.where, region = asset["href"], _region(asset)
            containers = asset.get("icechunk:virtual_chunk_containers") or []
        else:
            region, containers = os.environ.get("AWS_REGION", _REGION), []
        self._whole = self._open(icechunk, region, containers)
        cube = self._whole.cubes[0]
        self._cut = cut = make_cut(cube, self.request)
        part = cut.apply(cube)
        bound = sum(part[name].size * part[name].dtype.itemsize for name in cut.raw)
        return Plan(
            self.request, self.where, (), bound, False, bound, cut.times,
            hours_in_words(cut.leads or cut.hours), tuple(cut.names), cut.raw, cut.leads, cut.notes,
        )  # fmt: skip

    async def fetch(self, http: Http, plan: Plan, heard: Callable[[int], None]) -> None:
        """Do nothing: Icechunk fetches what is read."""

    def opened(self) -> Opened:
        """Open the part of the repository that is asked for."""
        if self._whole is None or self._cut is None:
            raise RuntimeError("make a plan first")
        whole, names = self._whole, set(self._cut.raw)
        notes = tuple(note for note in whole.notes if note.partition(":")[0] in names)
        cubes = (self._cut.apply(whole.cubes[0]),)
        return replace(whole, where=self.where, cubes=cubes, notes=notes)

    def drop_damaged(self, plan: Plan) -> int:
        """There is no copy that could be damaged."""
        return 0

    def _open(self, icechunk: Any, region: str, containers: list[Any]) -> Opened:
        parts = urlsplit(self.where)
        try:
            if parts.scheme == "file":
                path = Path(url2pathname(parts.path))
                if not path.is_dir():
                    raise FetchError(f"There is no folder {path}.")
                storage = icechunk.local_filesystem_storage(str(path))
            elif parts.scheme == "s3":
                storage = icechunk.s3_storage(
                    bucket=parts.netloc,
                    prefix=parts.path.strip("/"),
                    region=region,
                    anonymous=True,
                )
            else:
                raise FetchError(f"{self.where}: an Icechunk repository is at s3:// or file://.")
            allowed = {
                str(c["url_prefix"]): icechunk.s3_anonymous_credentials() for c in containers
            }
            more = (
                {"authorize_virtual_chunk_access": icechunk.containers_credentials(allowed)}
                if allowed
                else {}
            )
            repository = icechunk.Repository.open(storage, **more)
            store = repository.readonly_session("main").store
        except icechunk.IcechunkError as error:
            text = str(error).strip().splitlines()
            raise FetchFailed(
                f"{self.where} can't be opened as an Icechunk repository: "
                f"{text[0] if text else type(error).__name__}."
            ) from error
        return open_store(store, self.where)

    async def _asset(self, http: Http) -> dict[str, Any]:
        """Look the dataset up in the STAC catalogue."""
        id_ = self.request.source.name.removeprefix("dynamical:")
        base = self.request.base
        try:
            links = json.loads(await http.get(base))["links"]
            children = [str(link["href"]) for link in links if link["rel"] == "child"]
            mine = [href for href in children if id_ in href.replace(".json", "").split("/")]
            if not mine:
                ids = [h.removesuffix("/collection.json").rpartition("/")[2] for h in children]
                raise FetchError(
                    f"dynamical.org has no dataset {id_!r}; it has {', '.join(sorted(ids))}."
                )
            collection = json.loads(await http.get(urljoin(base, mine[0])))
            asset = collection["assets"]["icechunk"]
            if not str(asset["href"]).startswith(("s3://", "file://")):
                raise FetchFailed(f"{base} gives {asset['href']!r} for {id_}: no address known.")
        except (ValueError, KeyError, TypeError) as error:
            if isinstance(error, FetchError):
                raise
            raise FetchFailed(f"{base} is no STAC catalogue that can be read ({error}).") from error
        return dict(asset)


def _region(asset: dict[str, Any]) -> str:
    options = asset.get("xarray:storage_options") or {}
    return str((options.get("client_kwargs") or {}).get("region_name") or _REGION)


def _icechunk(name: str) -> Any:
    try:
        return import_module("icechunk")
    except ImportError as error:
        raise FetchError(
            f"{name} is kept in Icechunk, and the package icechunk isn't installed: pip install "
            "icechunk, or name a Zarr copy of it with --base-url."
        ) from error
