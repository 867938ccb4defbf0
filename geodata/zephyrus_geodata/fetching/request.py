"""What is asked of a source, checked before anything is fetched."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata.errors import StoreError
from zephyrus_geodata.fetching.catalogue import Source
from zephyrus_geodata.fetching.errors import FetchError
from zephyrus_geodata.store.select import Selection
from zephyrus_geodata.variables import FURTHER, VARIABLES, is_variable

LATEST = "latest"


@dataclass(frozen=True)
class Request:
    """What to fetch.

    Attributes:
        source: from the catalogue.
        base: address below which its files are.
        times: initial times (of analyses: times) as ``Selection`` reads them; "latest"; or "".
        every: hours; only times that are a multiple of it after 00 UTC. 0 takes all.
        lead: lead times as ``Selection`` reads them; "" takes all.
        variables: canonical names.
        is_named: whether the user named them; else what the source lacks is left out.
        members: names; none for all.
        bbox: ``west,south,east,north``; "" for all.
        resolution: one of the source's.
    """

    source: Source
    base: str
    times: str
    every: int
    lead: str
    variables: tuple[str, ...]
    is_named: bool
    members: tuple[str, ...]
    bbox: str
    resolution: str

    @property
    def is_forecast(self) -> bool:
        """Whether the source has initial and lead times."""
        return self.source.kind == "forecast"

    def moments(self, times: NDArray[np.datetime64]) -> NDArray[np.intp]:
        """Return the indices of the (initial) times that are asked for.

        Raises:
            FetchError: if there are none.
        """
        flag = "init" if self.is_forecast else "time"
        if not self.times:
            flags = "--init, or --from and --to" if self.is_forecast else "--from and --to"
            raise FetchError(
                f"{self.source.name} has {times.size:,} times from {_shown(times.min())} to "
                f"{_shown(times.max())}: say which with {flags}."
            )
        if self.times == LATEST:
            return np.array([int(times.argmax())])
        try:
            found = Selection({flag: self.times}).moments(flag, times)
        except StoreError as error:
            raise FetchError(_reworded(error)) from error
        if self.every:
            hours = (times[found].astype("datetime64[h]").astype(np.int64)) % 24
            found = found[hours % self.every == 0]
            if not found.size:
                raise FetchError(
                    f"--every {self.every}: none of the times asked for is at a multiple of "
                    f"{self.every} hours."
                )
        return found

    def leads(self, hours: NDArray[np.int64]) -> NDArray[np.intp]:
        """Return the indices of the lead times that are asked for.

        Raises:
            FetchError: if one of them isn't there.
        """
        try:
            return Selection({"lead": self.lead} if self.lead else {}).leads(hours)
        except StoreError as error:
            raise FetchError(_reworded(error)) from error

    def box(self) -> tuple[float, float, float, float] | None:
        """Return west, south, east, north; None for all.

        Raises:
            FetchError: if they can't be read.
        """
        if not self.bbox:
            return None
        try:
            west, south, east, north = (float(piece) for piece in self.bbox.split(","))
        except ValueError:
            west = south = east = north = float("nan")
        if not (-90 <= south < north <= 90 and abs(west) <= 360 and abs(east) <= 360):
            raise FetchError(
                f"--bbox {self.bbox}: give west,south,east,north in degrees, such as -10,35,30,60."
            )
        return west, south, east, north


def make_request(
    source: Source,
    *,
    base_url: str | None = None,
    init: str | None = None,
    start: str | None = None,
    end: str | None = None,
    every: int | None = None,
    lead: str | None = None,
    variables: Sequence[str] = (),
    members: Sequence[str] = (),
    bbox: str | None = None,
    resolution: str | None = None,
) -> Request:
    """Check what the user asks for.

    Raises:
        FetchError: a sentence that says what to change.
    """
    is_forecast = source.kind == "forecast"
    if init and (start or end):
        raise FetchError("Give either --init, or --from and --to.")
    if lead and not is_forecast:
        raise FetchError(f"{source.name} holds analyses: there are no lead times (--lead).")
    times = init or (f"{start or ''}..{end or ''}" if start or end else "")
    if not times and is_forecast and not source.is_static:
        times = LATEST
    if not is_forecast and (start or end) and not (start and end):
        raise FetchError("Give both --from and --to.")
    request = Request(
        source,
        source.address(base_url),
        times.strip(),
        every or 0,
        (lead or source.lead).strip() if lead != "all" else "",
        tuple(dict.fromkeys(variables)) or source.defaults,
        bool(variables),
        tuple(members),
        (bbox or "").replace(" ", ""),
        source.grid(resolution),
    )
    request.box()
    for name in variables:
        _check_name(name, source)
    return request


def _check_name(name: str, source: Source) -> None:
    if name in source.without:
        raise FetchError(f"{source.name} has no {name} that can be used: {source.lacks}.")
    if not is_variable(name):
        close = get_close_matches(name, [*VARIABLES, *FURTHER], n=1, cutoff=0.6)
        hint = f"; did you mean {close[0]}?" if close else "."
        raise FetchError(
            f"--variables {name}: there is no such variable{hint} Names are those of "
            "WeatherBench 2, on pressure levels with the level as in temperature_850."
        )


def _shown(moment: Any) -> str:
    return str(np.datetime64(moment, "m"))


def _reworded(error: StoreError) -> str:
    text = str(error)
    for key, flag in (("init", "--init"), ("time", "--from/--to"), ("lead", "--lead")):
        text = text.replace(f"--select {key}=", f"{flag} ")
    return text
