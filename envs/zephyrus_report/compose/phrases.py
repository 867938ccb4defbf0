"""Parts of sentences about one finding."""

from __future__ import annotations

from zephyrus_report.compose.findings import Finding, Kind, Place
from zephyrus_report.compose.places import coordinates, in_words, is_plural
from zephyrus_report.compose.words import STEADY, amount


def at(place: Place) -> str:
    """Where: "over the North Sea (56°N, 3°E)"."""
    if place.latitude is None:
        return f"over {in_words(place)}"
    return (
        f"over {in_words(place)} ({coordinates(place)})"
        if place.name
        else f"near {coordinates(place)}"
    )


def tendency(kind: Kind, before: int, after: int) -> str:
    """How a central pressure goes on: "deepening to"."""
    if abs(after - before) < STEADY:
        return "holding near"
    if kind is Kind.LOW:
        return "deepening to" if after < before else "filling to"
    return "strengthening to" if after > before else "weakening to"


def agreeing(f: Finding, verb: str) -> str:
    """A verb that agrees with the place."""
    if verb == "be":
        return "are" if is_plural(f.place) else "is"
    return verb if is_plural(f.place) else f"{verb}s"


def at_most(millimetres: float) -> str:
    """An upper bound: "no more than 3 mm"."""
    most = amount(millimetres)
    return most if most.startswith("less") else f"no more than {most}"


def sides(f: Finding) -> tuple[str, str]:
    """Of an anomaly "warm" and "above", or "cold" and "below"."""
    return ("warm", "above") if f.kind is Kind.WARM_ANOMALY else ("cold", "below")


def peak_hour(f: Finding) -> int:
    """The hour of an extreme, or the first if none is known."""
    return f.start if f.hour is None else f.hour
