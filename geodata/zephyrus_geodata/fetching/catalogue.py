"""The sources that can be fetched: addresses, terms of use, names of variables, what they lack."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, Literal

from zephyrus_geodata.fetching.errors import FetchError
from zephyrus_geodata.variables import ON_LEVELS, VARIABLES, level_of

_FILE = Path(__file__).with_name("catalogue.yaml")
_ANY = "dynamical:*"

Transport = Literal["zarr", "grib", "ice"]


@dataclass(frozen=True)
class Layout:
    """How the files of some runs are named.

    Attributes:
        path: below the base; has {date}, {hour}, {lead} and perhaps {grid}.
        until: ISO time of the first run that is named otherwise; empty if it lasts.
        hours: hours of the initial time that it is for; none for all.
    """

    path: str
    until: str = ""
    hours: tuple[int, ...] = ()


@dataclass(frozen=True)
class Source:
    """A source, as the catalogue has it.

    Attributes:
        name: ``wb2:hres``.
        title: what it is, in words.
        kind: forecast or analyses.
        transport: zarr (over HTTP), grib (with an index), or ice (Icechunk).
        base: the address below which its files are; ``--base-url`` replaces it.
        mirrors: other bases, by name.
        licence: in short.
        attribution: what has to be said with the data.
        covers: which times it has, in words.
        lacks: what it hasn't got, in words.
        lead: lead times that are taken unless others are asked for, as ``--lead``.
        resolution: what is taken unless another is asked for.
        resolutions: resolution -> what it is called in an address.
        paths: resolution -> path of the store (zarr).
        layouts: names of files (grib), the first that fits counts.
        index: kind of the index (grib): wgrib2 or ecmwf.
        cycle: hours between runs (grib).
        leads: (hours of the initial time, lead times that its runs have) (grib).
        since: first run (grib), ISO.
        has_members: whether a file holds an ensemble (grib).
        is_static: whether the source never changes.
        variables: canonical name (on levels: its base) -> what the source calls it.
        without: canonical names not taken by default.
        stepwise: the source's names of what belongs to the step before.
        precipitation: what precipitation is, if the source itself doesn't say.
    """

    name: str
    title: str
    kind: Literal["forecast", "analyses"]
    transport: Transport
    base: str
    licence: str
    attribution: str
    covers: str
    lacks: str = ""
    mirrors: Mapping[str, str] = field(default_factory=dict)
    lead: str = ""
    resolution: str = ""
    resolutions: Mapping[str, str] = field(default_factory=dict)
    paths: Mapping[str, str] = field(default_factory=dict)
    layouts: tuple[Layout, ...] = ()
    index: Literal["wgrib2", "ecmwf"] | None = None
    cycle: int = 0
    leads: tuple[tuple[tuple[int, ...], str], ...] = ()
    since: str = ""
    has_members: bool = False
    is_static: bool = False
    variables: Mapping[str, str] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    stepwise: tuple[str, ...] = ()
    precipitation: Literal["accumulated", "window", "rate"] | None = None

    @property
    def dataset_name(self) -> str:
        """Name of the dataset that a fetch makes, unless another is given."""
        return self.name.replace(":", "-")

    @property
    def defaults(self) -> tuple[str, ...]:
        """The variables that are asked for unless others are."""
        return tuple(name for name in VARIABLES if name not in self.without)

    def address(self, base_url: str | None) -> str:
        """Return the base: the catalogue's, a named mirror's, or an address of the user's."""
        if not base_url:
            return self.base
        if base_url in self.mirrors:
            return self.mirrors[base_url]
        if "://" in base_url:
            return base_url.rstrip("/")
        named = f"one of {', '.join(self.mirrors)} or " if self.mirrors else ""
        raise FetchError(f"--base-url {base_url}: give {named}an address (https://…).")

    def grid(self, resolution: str | None) -> str:
        """Check a resolution; ``0.25``, ``0.25°`` and ``1440x721`` are the same."""
        there = tuple(self.paths or self.resolutions) or (self.resolution,)
        if resolution is None:
            return self.resolution
        asked = resolution.strip().removesuffix("°").removesuffix("deg").strip()
        asked = {"1440x721": "0.25", "240x121": "1.5", "64x32": "5.625", "1.0": "1"}.get(
            asked, asked
        )
        if asked not in there:
            raise FetchError(
                f"--resolution {resolution}: {self.name} has {', '.join(there)} (degrees)."
            )
        return asked

    def raw(self, name: str) -> str:
        """Return what the source calls a variable; on levels with its level filled in."""
        if name in self.variables:
            return self.variables[name]
        leveled = level_of(name)
        if leveled is None:
            return name
        base, level = leveled
        return self.variables.get(base, base).replace("{level}", f"{level:g}")


def sources() -> tuple[Source, ...]:
    """Return all sources, in the order of the catalogue."""
    return tuple(_sources().values())


def source(name: str) -> Source:
    """Look a source up by its name; any ``dynamical:ID`` is one.

    Raises:
        FetchError: if there is none; the message lists them.
    """
    found = _sources().get(name)
    if found is not None and name != _ANY:
        return found
    id_ = name.removeprefix("dynamical:")
    if id_ != name and id_ and all(c.isalnum() or c in "-_." for c in id_):
        from dataclasses import replace

        return replace(_sources()[_ANY], name=name, title=f"{id_}, dynamical.org")
    close = get_close_matches(name, _sources(), n=1, cutoff=0.6)
    hint = f"Did you mean {close[0]!r}? " if close and close[0] != _ANY else ""
    raise FetchError(f"There is no source {name!r}. {hint}There are {', '.join(_sources())}.")


@cache
def _sources() -> dict[str, Source]:
    import yaml

    with _FILE.open(encoding="utf-8") as file:
        entries: dict[str, dict[str, Any]] = yaml.safe_load(file)
    return {
        str(name): _source(str(name), entry)
        for name, entry in entries.items()
        if not name.startswith("_")
    }


def _source(name: str, entry: Mapping[str, Any]) -> Source:
    paths = entry.get("paths", {})
    credit = entry.get("credit")
    attribution = str(entry["attribution"])
    return Source(
        name,
        str(entry["title"]),
        entry["kind"],
        entry["transport"],
        str(entry["base"]),
        str(entry["licence"]),
        f"{attribution}; {credit}" if credit else attribution,
        str(entry["covers"]),
        str(entry.get("lacks", "")),
        dict(entry.get("mirrors", {})),
        str(entry.get("lead", "")),
        str(entry.get("resolution", "")),
        dict(entry.get("resolutions", {})),
        dict(paths) if isinstance(paths, Mapping) else {},
        () if isinstance(paths, Mapping) else _layouts(paths),
        entry.get("index"),
        int(entry.get("cycle", 0)),
        tuple(
            (tuple(int(hour) for hour in hours.split(",")), str(leads))
            for hours, leads in entry.get("leads", {}).items()
        ),
        str(entry.get("since", "")),
        bool(entry.get("members", False)),
        bool(entry.get("static", False)),
        {str(key): str(value) for key, value in entry.get("variables", {}).items()},
        tuple(entry.get("without", ())),
        tuple(entry.get("stepwise", ())),
        entry.get("precipitation"),
    )


def _layouts(entries: Sequence[Mapping[str, Any]]) -> tuple[Layout, ...]:
    return tuple(
        Layout(str(e["path"]), str(e.get("until", "")), tuple(e.get("hours", ()))) for e in entries
    )


def components(name: str) -> tuple[str, ...]:
    """Return the wind components that a wind speed can be made from; none for other names."""
    if "wind_speed" not in name:
        return ()
    return (
        name.replace("wind_speed", "u_component_of_wind"),
        name.replace("wind_speed", "v_component_of_wind"),
    )


def is_on_levels(base: str) -> bool:
    """Say whether a name is one that takes a level as a suffix."""
    return base in ON_LEVELS
