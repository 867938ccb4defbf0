"""Zarr over HTTP: the chunks that a request needs are brought into a local copy of the store.

The copy has the store's own metadata and layout, and only some of its chunks, so that it can be
read as the store itself wherever the request reaches.
"""

import asyncio
import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np

from zephyrus_geodata.fetching.cut import Cut, is_small, make_cut
from zephyrus_geodata.fetching.errors import FetchError
from zephyrus_geodata.fetching.plan import Piece, Plan, hours_in_words
from zephyrus_geodata.fetching.request import Request
from zephyrus_geodata.fetching.zarr_layout import MARKS, Array, Layout, read_layout
from zephyrus_geodata.reading.extras import need
from zephyrus_geodata.reading.opened import Opened, open_source
from zephyrus_geodata.web.answer import ABSENT
from zephyrus_geodata.web.errors import FetchFailed, NotThere
from zephyrus_geodata.web.http import Http

_ASKED = 48  # sizes that are asked for in a plan; beyond, the others are taken to be alike


class Mirror:
    """A local copy of parts of a store.

    Attributes:
        request: what is wanted of it.
        url: of the store.
        folder: of the copy.
    """

    def __init__(self, request: Request, url: str, cache: Path) -> None:
        self.request = request
        self.url = url.rstrip("/")
        self._cache = cache
        self.folder = cache
        self._layout: Layout | None = None
        self._cut: Cut | None = None
        self.lost: list[str] = []

    async def plan(self, http: Http) -> Plan:
        """Fetch metadata and axes, and find out which chunks are needed.

        Raises:
            FetchError: if the request asks for what is not there.
            FetchFailed: if there is no such store.
        """
        need("zarr", "Zarr stores")
        layout = await self._read_layout(http)
        small = [a for a in layout.arrays.values() if is_small(a.name, a.dims, a.shape)]
        for array in small:
            keys = list(array.keys({}))
            await asyncio.gather(*(self._axis(http, array, key) for key in keys))
        cube = self._open().cubes[0]
        self._cut = cut = make_cut(cube, self.request)
        pieces = tuple(
            Piece(f"{self.url}/{key}", self.folder / key, may_lack=array.is_missing_known)
            for array in (layout.arrays[name] for name in cut.raw)
            for key in array.keys(cut.indices)
        )
        bound = sum(
            layout.arrays[name].chunk_bytes * sum(1 for _ in layout.arrays[name].keys(cut.indices))
            for name in cut.raw
        )
        size, is_exact, sized = await _sizes(http, pieces)
        return Plan(
            self.request, self.url, sized, size, is_exact, bound, cut.times,
            hours_in_words(cut.leads or cut.hours), tuple(cut.names), cut.raw, cut.leads, cut.notes,
        )  # fmt: skip

    async def fetch(self, http: Http, plan: Plan, heard: Callable[[int], None]) -> None:
        """Bring every chunk that isn't there.

        Raises:
            FetchFailed: if one can't be had; what came is kept.
        """
        absent = self._absent()

        async def bring(piece: Piece) -> None:
            key = piece.path.relative_to(self.folder).as_posix()
            if key in absent:
                return
            try:
                await http.download(piece.url, piece.path, heard=heard)
            except NotThere as error:
                if error.status not in ABSENT:
                    raise
                if not piece.may_lack:
                    raise FetchFailed(
                        f"{error} A chunk of {self.url} that is not there would read as a number: "
                        "the store is not whole."
                    ) from error
                absent.add(key)

        try:
            async with asyncio.TaskGroup() as group:
                for piece in plan.pieces:
                    group.create_task(bring(piece))
        except BaseExceptionGroup as several:
            raise several.exceptions[0] from several
        finally:
            if absent:
                (self.folder / ".absent.json").write_text(json.dumps(sorted(absent)))
        self.lost = sorted(absent)
        if len(absent) >= len(plan.pieces):
            raise FetchFailed(f"{self.url} has none of the chunks that are asked for.")

    def opened(self) -> Opened:
        """Open the part of the store that is here, as what it is: a part of the store."""
        if self._cut is None:
            raise RuntimeError("make a plan first")
        whole = self._open()
        names = set(self._cut.raw)
        notes = [n for n in whole.notes if n.partition(":")[0] in names]
        if self.lost:
            notes.append(f"{len(self.lost)} chunks are not in the store: missing data.")
        return replace(
            whole,
            where=self.url,
            cubes=(self._cut.apply(whole.cubes[0]),),
            notes=tuple(notes),
        )

    def drop_damaged(self, plan: Plan) -> int:
        """Delete the chunks that can't be unpacked, and return how many there were."""
        import zarr

        group = zarr.open_group(str(self.folder), mode="r")
        damaged = 0
        arrays = self._layout.arrays if self._layout else {}
        for piece in plan.pieces:
            if not piece.path.exists():
                continue
            key = piece.path.relative_to(self.folder).as_posix()
            name, _, place = key.partition("/")
            array, values = arrays[name], group[name]
            indices = [
                int(p) for p in place.removeprefix("c").strip("/.").replace(".", "/").split("/")
            ]
            block = tuple(
                slice(i * n, min((i + 1) * n, size))
                for i, n, size in zip(indices, array.chunks, array.shape, strict=True)
            )
            try:
                assert isinstance(values, zarr.Array)
                np.asarray(values[block])
            except (ValueError, RuntimeError, OSError, EOFError, TypeError, KeyError):
                damaged += 1
                piece.path.unlink()
        return damaged

    async def _read_layout(self, http: Http) -> Layout:
        layout = None
        for mark in MARKS:
            with suppress(NotThere):
                data = await http.get(f"{self.url}/{mark}")
                layout = read_layout(mark, data, self.url)
                break
        if layout is None:
            raise FetchFailed(
                f"There is no Zarr store with consolidated metadata at {self.url}: is the address "
                "right (--base-url, --resolution)?"
            )
        # What grows has new metadata when it has new chunks: then a new copy is begun.
        stamp = "" if self.request.source.is_static else layout.files[mark].decode("latin-1")
        digest = hashlib.blake2b(f"{self.url}{stamp}".encode(), digest_size=8).hexdigest()
        self.folder = self._cache / f"{self.request.source.dataset_name}-{digest}"
        self._layout = layout
        for name, content in layout.files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return layout

    async def _axis(self, http: Http, array: Array, key: str) -> None:
        path = self.folder / key
        try:
            await http.download(f"{self.url}/{key}", path)
        except NotThere:
            if array.name in array.dims:
                raise
            # A helper that was never written is no loss: its fill value says so.

    def _open(self) -> Opened:
        return open_source(self.folder)

    def _absent(self) -> set[str]:
        with suppress(OSError, ValueError):
            return set(json.loads((self.folder / ".absent.json").read_text()))
        return set()


async def _sizes(http: Http, pieces: tuple[Piece, ...]) -> tuple[int, bool, tuple[Piece, ...]]:
    """Ask for sizes: of every piece if they are few, of some if they are many."""
    step = max(1, len(pieces) // _ASKED)
    asked = list(range(0, len(pieces), step))

    async def ask(index: int) -> int | None:
        piece = pieces[index]
        if piece.path.exists():
            return piece.path.stat().st_size
        try:
            return await http.size(piece.url)
        except NotThere:
            return 0

    found = await asyncio.gather(*(ask(index) for index in asked))
    known = {i: size for i, size in zip(asked, found, strict=True) if size is not None}
    mean = sum(known.values()) / max(1, len(known))
    sized = tuple(replace(piece, size=known.get(i)) for i, piece in enumerate(pieces))
    total = sum(known.values()) + mean * (len(pieces) - len(known))
    return round(total), len(known) == len(pieces), sized


def store_url(request: Request) -> str:
    """Return the address of a source's store.

    Raises:
        FetchError: if the catalogue has none.
    """
    path = request.source.paths.get(request.resolution)
    if path is None:
        raise FetchError(f"{request.source.name} is no Zarr store over HTTP.")
    return f"{request.base}/{path}"
