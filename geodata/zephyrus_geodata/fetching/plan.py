"""What a fetch is going to bring, worked out before it starts: every file, and its size."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zephyrus_geodata.fetching.request import Request
from zephyrus_geodata.web.download import Span


@dataclass(frozen=True)
class Piece:
    """One file of the cache.

    Attributes:
        url: where it comes from.
        path: where it goes.
        spans: the parts of it that are wanted; none for all.
        size: bytes, if known.
        messages: sizes of the GRIB messages that it must consist of; none if it is no GRIB.
        may_lack: whether it may be that the server hasn't got it (a chunk without data).
    """

    url: str
    path: Path
    spans: tuple[Span, ...] = ()
    size: int | None = None
    messages: tuple[int, ...] = ()
    may_lack: bool = False


@dataclass(frozen=True, eq=False)
class Plan:
    """A fetch.

    Attributes:
        request: what was asked for.
        where: the address that the dataset is said to come from.
        pieces: every file, in the order in which they are fetched.
        size: bytes of all pieces, as far as it can be told.
        is_exact: whether ``size`` was told by the server for every piece.
        bound: bytes of all pieces if nothing were compressed; 0 if unknown.
        times: which (initial) times, in words.
        leads: which lead times, in words.
        variables: canonical names that will be there.
        arrays: what the source calls what is fetched.
        store_leads: hours that the store is to keep, if fewer than are fetched.
        notes: what the user should know.
    """

    request: Request
    where: str
    pieces: tuple[Piece, ...]
    size: int
    is_exact: bool
    bound: int
    times: str
    leads: str
    variables: tuple[str, ...]
    arrays: tuple[str, ...]
    store_leads: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def there(self) -> int:
        """How many files are in the cache already."""
        return sum(piece.path.exists() for piece in self.pieces)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values, for ``--dry-run --json``."""
        source = self.request.source
        return {
            "source": source.name,
            "title": source.title,
            "address": self.where,
            "licence": source.licence,
            "attribution": source.attribution,
            "lacks": source.lacks,
            "times": self.times,
            "leads": self.leads,
            "variables": list(self.variables),
            "arrays": list(self.arrays),
            "resolution": self.request.resolution,
            "bbox": self.request.bbox,
            "files": len(self.pieces),
            "files_in_cache": self.there,
            "bytes": self.size,
            "bytes_exact": self.is_exact,
            "bytes_uncompressed": self.bound,
            "notes": list(self.notes),
        }


def hours_in_words(hours: Sequence[int]) -> str:
    """Return lead times as ``0 to 240 h (41)``."""
    if not hours:
        return ""
    if len(hours) == 1:
        return f"{hours[0]} h"
    return f"{min(hours)} to {max(hours)} h ({len(hours)})"


def not_there(source: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return a note about variables that a source hasn't got; none if it has all."""
    return (f"{source} hasn't got {', '.join(names)}",) if names else ()


def times_in_words(times: Sequence[str], what: str) -> str:
    """Return times as ``2 initial times, 2020-01-01T00 to 2020-01-01T12``."""
    if len(times) == 1:
        return f"1 {what}, {times[0]}"
    return f"{len(times)} {what}s, {min(times)} to {max(times)}"
