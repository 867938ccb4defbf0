"""``fetch``: from a name in the catalogue to a dataset in the store."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar
from urllib.parse import urlsplit

import numpy as np
import platformdirs

from zephyrus_geodata.errors import StoreError, UnsuitableData
from zephyrus_geodata.fetching.errors import FetchError
from zephyrus_geodata.fetching.plan import Plan
from zephyrus_geodata.fetching.request import Request
from zephyrus_geodata.reading.understood import Answers, Note
from zephyrus_geodata.store.select import Selection
from zephyrus_geodata.variables import ordered
from zephyrus_geodata.web.errors import FetchFailed
from zephyrus_geodata.web.http import Http
from zephyrus_geodata.web.running import run
from zephyrus_geodata.web.words import clean

if TYPE_CHECKING:
    from zephyrus_geodata.reading.opened import Opened
    from zephyrus_geodata.reading.understood import Understood
    from zephyrus_geodata.store.ingest import Added, Mode
    from zephyrus_geodata.store.ingest import Progress as StoreProgress

_RAIN = "total_precipitation"

T = TypeVar("T")
Heard = Callable[[int], None]


class Transport(Protocol):
    """A way to a source: ``mirror.Mirror``, ``grib_files.GribFiles``, ``ice.Ice``."""

    async def plan(self, http: Http) -> Plan:
        """Find out what has to be fetched."""
        ...

    async def fetch(self, http: Http, plan: Plan, heard: Heard) -> None:
        """Bring what isn't there."""
        ...

    def opened(self) -> "Opened":
        """Open what was fetched."""
        ...

    def drop_damaged(self, plan: Plan) -> int:
        """Delete what is damaged, and return how many files that were."""
        ...


@dataclass(frozen=True)
class Fetched:
    """What a fetch did.

    Attributes:
        plan: what was to be fetched.
        added: what the store did with it.
        bytes: that came over the network this time.
        notes: of the way; those of the store are in ``added``.
    """

    plan: Plan
    added: "Added"
    bytes: int
    notes: tuple[str, ...]


class Fetch:
    """One fetch, step by step: ``plan``, ``download``, ``store``; then ``tidy``.

    Attributes:
        request: what is wanted.
        cache: where what comes is kept until it is in the store.
    """

    def __init__(
        self,
        request: Request,
        *,
        cache: Path | None = None,
        http: Callable[[], Http] = Http,
        now: datetime | None = None,
    ) -> None:
        """Prepare a fetch; nothing is asked of anybody yet.

        Args:
            request: what is wanted.
            cache: where what comes is kept until it is in the store; the user's cache by default.
            http: makes the client.
            now: the time that "latest" starts from, UTC.
        """
        self.request = request
        self.cache = cache or cache_folder()
        self._http = http
        self._transport = _transport(request, self.cache, now)
        self._plan: Plan | None = None

    def plan(self) -> Plan:
        """Find out what has to be fetched; metadata and indices come for it.

        Raises:
            FetchError: if the request asks for what is not there.
            FetchFailed: if the network or the source fails.
        """

        async def work() -> Plan:
            async with self._http() as http:
                return await self._transport.plan(http)

        self._plan = run(work)
        return self._plan

    def download(self, heard: Heard = lambda count: None) -> None:
        """Bring what is not in the cache.

        Raises:
            FetchFailed: if the network or the source fails; what came is kept.
        """
        plan = self._plan or self.plan()

        async def work() -> None:
            async with self._http() as http:
                await self._transport.fetch(http, plan, heard)

        run(work)

    def store(
        self,
        name: str,
        *,
        root: Path | None = None,
        answers: "Answers | None" = None,
        label: str = "",
        mode: "Mode" = "new",
        progress: "StoreProgress | None" = None,
    ) -> "Added":
        """Understand what was fetched, and add it to the store.

        Raises:
            GeodataError: if it can't be understood or stored.
            FetchFailed: if it is damaged; then that part is deleted.
        """
        from zephyrus_geodata.store.ingest import add_dataset

        plan = self._plan or self.plan()
        try:
            understood = self._understood(plan, answers)
            selection, lost = self._selection(plan, understood)
            if lost:
                note = Note(f"could not be made of what was fetched: {', '.join(lost)}")
                understood = replace(understood, notes=(*understood.notes, note))
            return add_dataset(
                name,
                understood,
                root=root,
                selection=selection,
                label=label or self.request.source.title,
                mode=mode,
                progress=progress,
                inputs=(plan.where,),
            )
        except (UnsuitableData, ValueError, RuntimeError, OSError) as error:
            if isinstance(error, FetchError) or not (damaged := self._transport.drop_damaged(plan)):
                raise
            raise FetchFailed(
                f"{damaged} of the files that came from {plan.where} are damaged ({error}): they "
                "were deleted; run the same command again to fetch them anew."
            ) from error
        except Exception as error:
            if not type(error).__module__.startswith("icechunk"):
                raise
            raise FetchFailed(
                f"{plan.where} can't be read on: {clean(str(error))}. What is whole in the store's "
                "working folder is kept, and the same command goes on from there."
            ) from error

    def tidy(self) -> None:
        """Delete what was kept of this source, when it is in the store."""
        folder = getattr(self._transport, "folder", None)
        if folder is not None and folder != self.cache:
            shutil.rmtree(folder, ignore_errors=True)

    def _understood(self, plan: Plan, answers: "Answers | None") -> "Understood":
        from zephyrus_geodata.reading.understand import understand

        source = self.request.source
        answers = answers or Answers()
        if answers.precipitation is None and source.precipitation is not None:
            answers = replace(answers, precipitation=source.precipitation)
        if answers.kind is None:
            answers = replace(answers, kind="forecast" if plan.leads else "analyses")
        found = understand(self._transport.opened(), answers)
        told = {
            "fetched_from": source.name,
            "title": source.title,
            "license": source.licence,
            "attribution": source.attribution,
            "accessed": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        found = replace(found, where=plan.where, attrs={**found.attrs, **told})
        return _summable(found) if plan.store_leads else found

    def _selection(self, plan: Plan, understood: "Understood") -> tuple[Selection, list[str]]:
        """Return what the store is to take, and the names that can't be made."""
        given: dict[str, str] = {}
        names, missing = [], []
        for name in plan.variables:
            if name in understood.variables:
                names.append(name)
            elif name.startswith(_RAIN) and (
                rain := [n for n in understood.variables if n.startswith(_RAIN)]
            ):
                names += rain  # what it is called depends on the steps that were taken
            else:
                missing.append(name)
        if missing and understood.questions:
            raise UnsuitableData(
                f"{self.request.source.name} leaves something open: "
                f"{' '.join(map(str, understood.questions))}"
            )
        if missing and self.request.is_named:
            why = "; ".join(f"{n}: {reason}" for n, reason in understood.left_out.items())
            raise UnsuitableData(
                f"{', '.join(missing)} can't be made of what {self.request.source.name} has"
                f"{f' ({why})' if why else ''}."
            )
        given["variables"] = ",".join(dict.fromkeys(names)) or ",".join(plan.variables)
        if plan.store_leads:
            given["lead"] = ",".join(map(str, plan.store_leads))
        if self.request.bbox:
            given["bbox"] = self.request.bbox
        return Selection(given), missing


def fetch(
    request: Request,
    name: str | None = None,
    *,
    root: Path | None = None,
    cache: Path | None = None,
    answers: "Answers | None" = None,
    label: str = "",
    mode: "Mode" = "new",
    keep: bool = False,
) -> Fetched:
    """Fetch and store in one go.

    Args:
        request: what is wanted.
        name: of the dataset; by default after the source.
        root: folder of datasets; $ZEPHYRUS_DATA or the user's data folder by default.
        cache: where what comes is kept until then.
        answers: to what the source leaves open.
        label: short origin, shown wherever values are.
        mode: new, replace or append.
        keep: whether to leave what was fetched in the cache.

    Raises:
        GeodataError: a sentence that says what is wrong.
    """
    this, came = Fetch(request, cache=cache), [0]

    def heard(count: int) -> None:
        came[0] += count

    plan = this.plan()
    this.download(heard)
    added = this.store(
        name or request.source.dataset_name, root=root, answers=answers, label=label, mode=mode
    )
    if not keep:
        this.tidy()
    return Fetched(plan, added, came[0], plan.notes)


@contextmanager
def in_use(this: Fetch, name: str, mode: "Mode") -> Iterator[None]:
    """Check that a dataset may be made, before much is fetched for it; and fetch alone.

    Raises:
        StoreError: if the name is taken, or not there to be appended to.
        StoreFailure: if another process fetches into the same dataset.
    """
    from zephyrus_geodata.folders import dataset_folders, shipped_datasets
    from zephyrus_geodata.store.lock import locked

    is_there = name in dataset_folders()
    if name in shipped_datasets():
        raise StoreError(f"{name!r} ships with zephyrus and can't be changed: name another.")
    if mode == "new" and is_there:
        raise StoreError(
            f"There is a dataset {name!r} already: give --append to add to it, --replace to put "
            "this in its place, or another name after the source."
        )
    if mode == "append" and not is_there:
        raise StoreError(f"There is no dataset {name!r} to append to: leave --append out.")
    with locked(this.cache, name):
        yield


def cache_folder() -> Path:
    """Return where what is fetched lies until it is in the store."""
    return Path(platformdirs.user_cache_dir("zephyrus", appauthor=False)) / "fetch"


def _summable(found: "Understood") -> "Understood":
    """Name amounts of single steps so that the store sums those of the steps it leaves out."""
    steps = set(np.diff(found.lead_hours).tolist())
    for hours in steps if len(steps) == 1 else ():
        old, new = f"{_RAIN}_{hours}hr", _RAIN
        if old in found.variables and new not in found.variables:
            variables = {new if n == old else n: r for n, r in found.variables.items()}
            taken = {new if n == old else n: t for n, t in found.taken.items()}
            note = Note(f"amounts of {hours} h, added up where steps are left out", new)
            return replace(
                found,
                variables={name: variables[name] for name in ordered(variables)},
                taken=taken,
                notes=(*found.notes, note),
            )
    return found


def _transport(request: Request, cache: Path, now: datetime | None) -> Transport:
    kind = request.source.transport
    if kind == "grib":
        from zephyrus_geodata.fetching.grib_files import GribFiles

        return GribFiles(request, cache, now)
    from zephyrus_geodata.fetching.mirror import Mirror, store_url

    if kind == "zarr":
        return Mirror(request, store_url(request), cache)
    parts = urlsplit(request.base)
    if parts.scheme in ("http", "https") and not parts.path.endswith(".json"):
        return Mirror(request, request.base, cache)  # a plain Zarr copy
    from zephyrus_geodata.fetching.ice import Ice

    return Ice(request)
