"""Lakes, islands, cities and the hand-drawn outlines."""

import json
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import geopandas
import pandas as pd
import shapely
from corrections import AliasTable, split, table
from regions import Place
from shapely.geometry import Point
from shapely.geometry.base import BaseGeometry
from shapes import Areas, area_km2, polygons, repaired, union
from sources import Sources

from zephyrus_geodata.names import lookup_key, normalise

LEAST_LAKE = 100.0
"""Smaller lakes (km²) are left out."""

NEAR = 1.0
"""Degrees within which water bodies of one name are one lake."""

ONE_COUNTRY = 0.95
"""The share of its land from which a feature belongs to a country rather than to a continent."""

NAME_FOUND_WITHIN = 0.9
"""Degrees within which a city is looked for in the second source."""


class Homes:
    """Which country or continent a feature belongs to."""

    def __init__(self, countries: Iterable[Place], continents: Iterable[Place]) -> None:
        self.countries = Areas({place.name: place.geometry for place in countries})
        self.continents = Areas({place.name: place.geometry for place in continents})

    def country(self, geometry: BaseGeometry) -> str:
        """The country with the largest part of a shape, else the nearest."""
        shares = self.countries.shares(geometry)
        return next(iter(shares)) if shares else self.countries.nearest(geometry.centroid)

    def home(self, geometry: BaseGeometry) -> str | None:
        """The country that has nearly all of a shape, else the continent that has most of it."""
        shares = self.countries.shares(geometry)
        if shares and next(iter(shares.values())) >= ONE_COUNTRY:
            return next(iter(shares))
        return next(iter(self.continents.shares(geometry)), None)


def lakes(water: geopandas.GeoDataFrame, homes: Homes, aliases: AliasTable) -> list[Place]:
    """Name the lakes of Natural Earth and join those of several parts."""
    rules = table("lakes")
    bodies: dict[str, list[BaseGeometry]] = defaultdict(list)
    unnamed = {name: Point(xy) for name, xy in rules["unnamed"].items()}
    for row in water[water.featurec_2.notna()].itertuples():
        shape = repaired(row.geometry)
        if isinstance(row.name, str):
            bodies[row.name.strip()].append(shape)
        else:
            for name, point in unnamed.items():
                if shapely.contains(shape, point):
                    bodies[name].append(shape)
    missing = (set(rules["names"]) | set(unnamed) | set(rules["dropped"])) - set(bodies)
    if missing:
        raise ValueError(f"lakes.yaml names lakes that do not exist: {sorted(missing)}.")
    found: list[tuple[str, list[str], BaseGeometry]] = []
    for name in sorted(set(bodies) - set(rules["dropped"])):
        for shape in _clusters(bodies[name]):
            if area_km2(shape) >= LEAST_LAKE:
                right, others = split(rules["names"].get(name, name))
                right = _namesake(rules["namesakes"].get(name, {}), shape, right)
                found.append((right, others, shape))
    countries = [homes.country(shape) for _, _, shape in found]
    names = told_apart([name for name, _, _ in found], countries)
    for name, (_, others, _) in zip(names, found, strict=True):
        aliases.add("lake", name, *others)
    return [
        Place(name, "lake", country, "natural_earth", shape)
        for name, country, (_, _, shape) in zip(names, countries, found, strict=True)
    ]


def _clusters(shapes: list[BaseGeometry]) -> list[BaseGeometry]:
    """Join the shapes that lie near each other."""
    clusters: list[BaseGeometry] = []
    for shape in shapes:
        near = [cluster for cluster in clusters if shapely.distance(cluster, shape) < NEAR]
        clusters = [cluster for cluster in clusters if cluster not in near]
        clusters.append(union([*near, shape]))
    return clusters


def _namesake(points: dict[str, list[float]], shape: BaseGeometry, name: str) -> str:
    for right, xy in points.items():
        if shapely.distance(shape, Point(xy)) < NEAR / 2:
            return right
    return name


def told_apart(names: list[str], countries: list[str]) -> list[str]:
    """Add the country to names that occur more than once.

    Raises:
        ValueError: If two features of one country share a name.
    """
    count: dict[str, int] = defaultdict(int)
    for name in names:
        count[lookup_key(name)] += 1
    full = [
        f"{name}, {country}" if count[lookup_key(name)] > 1 else name
        for name, country in zip(names, countries, strict=True)
    ]
    twins = {name for name in full if full.count(name) > 1}
    if twins:
        raise ValueError(f"Names that the country does not tell apart: {sorted(twins)}.")
    return full


def islands(land: geopandas.GeoDataFrame, homes: Homes) -> list[Place]:
    """Take the islands from Natural Earth's land polygons, by a point inside each."""
    shapes = [repaired(shape) for shape in land.geometry]
    tree = shapely.STRtree(shapes)
    places = []
    for name, xy in table("others")["islands"].items():
        hits = tree.query(Point(xy), predicate="within")
        if len(hits) == 0:
            raise ValueError(f"There is no land at the point of {name}.")
        shape = max((shapes[i] for i in hits), key=area_km2)
        places.append(Place(name, "island", homes.home(shape), "natural_earth", shape))
    return places


def outlines(
    land: geopandas.GeoDataFrame, water: geopandas.GeoDataFrame, homes: Homes
) -> list[Place]:
    """Cut the hand-drawn outlines against the coast."""
    coast = {
        "water": union(water[water.featurec_2.isna()].geometry),
        "land": union(shape for shape in land.geometry if shape.area > 0.02),
    }
    places = []
    for kind, drawn in table("outlines").items():
        side = coast["water" if kind in ("ocean", "sea") else "land"]
        for name, entry in drawn.items():
            shape = repaired(shapely.intersection(polygons(entry["rings"]), side))
            if shape.is_empty:
                raise ValueError(f"The outline of {name} lies wholly on the wrong side.")
            parent = entry.get("parent") if side is coast["water"] else homes.home(shape)
            places.append(Place(name, kind, parent, "outline", shape))
    wholes = {p.parent for p in places if p.kind == "ocean" and p.parent is not None}
    # The Atlantic and the Pacific are not drawn: they are their northern and southern halves.
    for whole in sorted(wholes):
        halves = [place.geometry for place in places if place.parent == whole]
        places.append(Place(whole, "ocean", None, "outline", union(halves)))
    return places


def cities(sources: Sources, homes: Homes, aliases: AliasTable) -> list[Place]:
    """Choose the capitals and large cities, and spell them right."""
    rules = table("cities")
    second = _SecondSource(sources)
    rows = _chosen(sources, rules)
    spelled, homes_of, points, others_of, states_of = [], [], [], [], []
    used = set()
    for row in rows.itertuples():
        entry = rules["names"].get(row.adm0name, {}).get(row.nameascii)
        used.add((row.adm0name, row.nameascii))
        if entry is None:
            entry = second.accented(row, rules["romanised"])
        name, others = split(entry)
        for other in (row.name, row.nameascii):
            # A name that lost letters on the way ("Kln") helps nobody.
            if len(normalise(other)) >= len(normalise(row.nameascii)):
                others.append(other)
        spelled.append(name)
        homes_of.append(homes.countries.nearest(row.geometry))
        points.append(Point(row.longitude, row.latitude))
        others_of.append(others)
        states_of.append(row.adm1name)
    unused = {(a, n) for a, named in rules["names"].items() for n in named} - used
    if unused:
        raise ValueError(f"cities.yaml names cities that are not chosen: {sorted(unused)}.")
    names = told_apart(_with_states(spelled, homes_of, states_of), homes_of)
    for name, others in zip(names, others_of, strict=True):
        aliases.add("city", name, *(o for o in others if lookup_key(o) != lookup_key(name)))
    return [
        Place(name, "city", country, "natural_earth", point)
        for name, country, point in zip(names, homes_of, points, strict=True)
    ]


def _with_states(names: list[str], countries: list[str], states: list[Any]) -> list[str]:
    """Add the state to the names that one country has twice ("Kansas City, Missouri")."""
    pairs = [(lookup_key(name), country) for name, country in zip(names, countries, strict=True)]
    return [
        f"{name}, {state}" if pairs.count(pair) > 1 else name
        for name, state, pair in zip(names, states, pairs, strict=True)
    ]


def _chosen(sources: Sources, rules: dict[str, Any]) -> geopandas.GeoDataFrame:
    """The populated places that become features, without Natural Earth's double entries."""
    rows = geopandas.read_file(sources.populated_places, encoding="cp1252")
    place = list(zip(rows.nameascii, rows.adm0name, strict=True))
    added = {tuple(entry) for entry in rules["added"]}
    dropped = {tuple(entry) for entry in rules["dropped"]}
    large = (rows.scalerank <= 3) | (rows.rank_max >= 11) | (rows.adm0cap == 1)
    wanted = large | pd.Series([key in added for key in place], index=rows.index)
    # Ghosts have no GeoNames id but the population of a city of the same name, far away; and a
    # city may be entered under two names at one spot.
    identified = rows.geonameid > 0
    known = set(zip(rows.name[identified], rows.adm0name[identified], strict=True))
    keys = zip(rows.name, rows.adm0name, identified, strict=True)
    ghost = pd.Series(
        [not has_id and (name, land) in known for name, land, has_id in keys], index=rows.index
    )
    unwanted = ghost | pd.Series([key in dropped for key in place], index=rows.index)
    missing = added - set(place)
    if missing:
        raise ValueError(f"cities.yaml adds cities that do not exist: {sorted(missing)}.")
    return rows[wanted & ~unwanted].sort_values(["adm0name", "nameascii", "adm1name"])


class _SecondSource:
    """GeoNames, searched for the accents that Natural Earth leaves out."""

    def __init__(self, sources: Sources) -> None:
        entries = json.loads(sources.city_names.read_text(encoding="utf-8")).values()
        self._by_name: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for entry in entries:
            self._by_name[_letters(entry["name"])].append(entry)

    def accented(self, row: Any, romanised: list[str]) -> str:
        """The name of a city, with the accents of GeoNames if it has any."""
        own = row.name if _letters(row.name) == _letters(row.nameascii) else row.nameascii
        if row.adm0name in romanised:
            return str(row.nameascii)
        near = [
            entry
            for entry in self._by_name[_letters(row.nameascii)]
            if abs(entry["latitude"] - row.latitude) < NAME_FOUND_WITHIN
            and abs(entry["longitude"] - row.longitude) < NAME_FOUND_WITHIN
        ]
        near.sort(key=lambda e: (e["geonameid"] != row.geonameid, -e["population"]))
        found = str(near[0]["name"]).replace("’", "'") if near else ""
        # Only accents and apostrophes count (Xi'an): hyphens and the like stay as they are.
        return found if not found.isascii() or "'" in found else str(own)


def _letters(name: str) -> str:
    return normalise(name).replace(" ", "")
