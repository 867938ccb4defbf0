"""Continents, subregions, countries, states and forecast areas."""

import ast
import re
from dataclasses import dataclass
from pathlib import Path

import geopandas
import shapely
from corrections import AliasTable, split, table
from shapely.geometry import box
from shapely.geometry.base import BaseGeometry
from shapes import polygons, repaired, union
from sources import Sources


@dataclass(frozen=True)
class Place:
    """A feature before its outline is thinned."""

    name: str
    kind: str
    parent: str | None
    source: str
    geometry: BaseGeometry


@dataclass(frozen=True)
class Part:
    """A country, or the part of it that lies on another continent."""

    geometry: BaseGeometry
    continent: str
    subregion: str
    cut_by_hand: bool


def countries(sources: Sources, aliases: AliasTable) -> tuple[list[Place], list[Part]]:
    """Read the countries, and divide them among the continents."""
    rules = table("countries")
    frame = geopandas.read_file(f"zip://{sources.countries}", encoding="utf-8")
    places: list[Place] = []
    parts: list[Part] = []
    for row in frame.sort_values("ADM0_A3").itertuples():
        code, geometry = row.ADM0_A3, repaired(row.geometry)
        continent, subregion = rules["placed"].get(code, (row.CONTINENT, row.SUBREGION))
        if code == "ATA":
            parts.append(Part(geometry, "Antarctica", "Antarctica", cut_by_hand=False))
        if code in rules["dropped"]:
            continue
        name, others = split(rules["names"].get(code, row.NAME_EN))
        aliases.add("country", name, *others)
        if isinstance(row.FORMAL_EN, str):
            aliases.add("country", name, row.FORMAL_EN)
        places.append(Place(name, "country", continent, "natural_earth", geometry))
        parts.extend(_parts(code, geometry, continent, subregion))
    return places, parts


def _parts(code: str, geometry: BaseGeometry, continent: str, subregion: str) -> list[Part]:
    """Divide a country among continents."""
    rules = table("countries")
    if code == "RUS":
        asian = polygons(rules["asian_russia"])
        return [
            Part(shapely.difference(geometry, asian), "Europe", "Eastern Europe", True),
            Part(shapely.intersection(geometry, asian), "Asia", "Northern Asia", True),
        ]
    parts = []
    for far in rules["far_parts"].get(code, []):
        frame = box(*far["box"])
        if far["continent"]:
            piece = shapely.intersection(geometry, frame)
            parts.append(Part(piece, far["continent"], far["subregion"], False))
        geometry = shapely.difference(geometry, frame)
    return [*parts, Part(geometry, continent, subregion, False)]


def continents(parts: list[Part], aliases: AliasTable) -> list[Place]:
    """Join the countries to continents and subregions.

    The subregions South America and Antarctica are left out: they equal the continents.
    """
    places = []
    for continent in sorted({part.continent for part in parts}):
        members = [part for part in parts if part.continent == continent]
        places.append(_joined(continent, "continent", None, members))
        subregions = {part.subregion for part in members} - {continent}
        for subregion in sorted(subregions):
            members_of = [part for part in members if part.subregion == subregion]
            places.append(_joined(subregion, "subregion", continent, members_of))
    aliases.add_all("subregion", table("countries")["subregion_aliases"])
    return places


def _joined(name: str, kind: str, parent: str | None, parts: list[Part]) -> Place:
    source = "outline" if any(part.cut_by_hand for part in parts) else "natural_earth"
    return Place(name, kind, parent, source, union(part.geometry for part in parts))


def states(sources: Sources, aliases: AliasTable) -> list[Place]:
    """Read the states and territories of the United States."""
    known = table("others")["states"]
    aliases.add_all("us_state", known)
    names = {alias: name for name, others in known.items() for alias in others}
    frame = geopandas.read_file(sources.states, layer="states")
    return [
        Place(
            names.get(row.name, row.name),
            "us_state",
            "United States",
            "us_census",
            repaired(row.geometry),
        )
        for row in frame.itertuples()
    ]


def forecast_areas(sources: Sources, aliases: AliasTable) -> list[Place]:
    """Read the areas of the National Weather Service's forecast offices."""
    offices = _office_names(sources.forecast_offices) | table("offices")
    frame = geopandas.read_parquet(sources.forecast_areas)
    places = []
    for code, geometry in frame.geometry.items():
        name = f"{offices[code]} ({code})"
        aliases.add("nws_cwa", name, code)
        places.append(
            Place(name, "nws_cwa", "United States", "noaa_nws", repaired(geometry)),
        )
    return places


def _office_names(reference: Path) -> dict[str, str]:
    """Read ``wfo_dict`` of pyiem's reference.py, without importing pyiem, and write it in words."""
    tree = ast.parse(reference.read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "wfo_dict":
            return {
                code: _in_words(entry["name"])
                for code, entry in ast.literal_eval(node.value).items()
            }
    raise ValueError(f"{reference} has no wfo_dict.")


def _in_words(name: str) -> str:
    """Write "FORT_WORTH/DALLAS" as "Fort Worth / Dallas"."""
    words = re.sub(r"\s*/\s*", " / ", name.replace("_", " ")).title()
    return words.replace("St Louis", "St. Louis")
