"""Places in sentences: articles, compass parts, and the name of a point."""

from __future__ import annotations

import math
import re
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata import Dataset, Feature
from zephyrus_report.compose.findings import Place, compass
from zephyrus_tools.bodies import main_body

_PLURAL = re.compile(
    r"\b(?:Alps|Andes|Rockies|Mountains|Islands|Hills|Plains|Lakes|States|Emirates|Netherlands"
    r"|Philippines|Highlands|Maldives|Bahamas|Comoros|Seychelles|Pyrenees|Ghats|Prairies)$"
)
_TITLED = re.compile(
    r"^(?:Gulf|Bay|Sea|Strait|Horn|Isle|Caribbean$|Republic|Democratic Republic"
    r"|Central African Republic|Federated States|Upper Peninsula)\b"
    r"|\b(?:Ocean|Sea|Desert|Range|Peninsula|Plateau|Basin|Plain|Kingdom|Republic|Steppe|Bay"
    r"|Gulf|Channel|Bight|Territory)$|^(?:North|South) Island$"
)
_ALWAYS_THE = frozenset(
    {"desert", "ocean", "basin", "mountain_range", "plateau", "plain", "peninsula", "sea"}
)
_NEVER_THE = re.compile(r"^(?:The|Lake|Hudson Bay|Baffin Bay|Anatolia|Jutland|Crimea)\b")
_HAS_COMPASS = re.compile(r"^(?:North|South|East|West|Central|Middle)", re.IGNORECASE)

_NEAR = 2.5  # degrees: a point further from every feature is told by its coordinates alone
_BESIDE = 1.2  # degrees: a point of the ocean this near to a sea or land is told by that
_LARGE = 1.8e12  # m2: of a place larger than this, the part is told

# Of the features that hold a point, the first of these kinds names it.
_NAMING = ("sea", "us_state", "country", "ocean")


def with_article(name: str, kind: str = "") -> str:
    """A feature's name as it stands in a sentence: "the Sahara", "Kenya"."""
    if _NEVER_THE.search(name):
        return name
    titled = kind in _ALWAYS_THE or _PLURAL.search(name) or _TITLED.search(name)
    return f"the {name}" if titled else name


def in_words(place: Place) -> str:
    """A place in a sentence: "France", "the northern North Sea", "the west of Western Europe"."""
    if not place.part:
        return with_article(place.name, place.kind)
    if _HAS_COMPASS.search(place.name) and place.kind not in ("sea", "ocean"):
        return f"the {place.part} of {with_article(place.name, place.kind)}"
    whole = with_article(place.name, place.kind)
    the, bare = ("the ", whole[4:]) if whole.startswith("the ") else ("", whole)
    return f"{the}{_adjective(place.part)} {bare}"


def is_plural(place: Place) -> bool:
    """Whether a place takes a plural verb: the Appalachian Mountains do, the United States not."""
    plural = _PLURAL.search(place.name) and not place.part and place.kind != "country"
    return bool(plural)


def coordinates(place: Place) -> str:
    """The point of a place as "62°N, 5°W", in whole degrees.

    Raises:
        ValueError: If the place is no point.
    """
    if place.latitude is None or place.longitude is None:
        raise ValueError(f"{place.name} is no point")
    lat, lon = round(place.latitude), round(place.longitude)
    if lon == -180:
        lon = 180
    east = "E" if lon >= 0 else "W"
    return f"{abs(lat)}°{'N' if lat >= 0 else 'S'}, {abs(lon)}°{east}"


def _adjective(part: str) -> str:
    return "central" if part == "centre" else f"{part}ern"


class Gazetteer:
    """Names points and parts of features, on the grid of one dataset."""

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset
        self._shapes: dict[str, tuple[float, float, float, float]] = {}
        self._bodies: dict[str, NDArray[np.bool_]] = {}
        self._points: dict[tuple[float, float], Place] = {}

    @cached_property
    def _features(self) -> list[Feature]:
        there = self._dataset.features.kinds()
        kinds = [kind for kind in _NAMING if kind in there]
        return [feature for kind in kinds for feature in self._dataset.features.of_kind(kind)]

    def point(self, latitude: float, longitude: float) -> Place:
        """The place of a point: the sea, state, country or ocean that holds it, or is near.

        Of a large one the part is told. Far from all of them the name is "".
        """
        lon = (longitude + 180.0) % 360.0 - 180.0
        if (latitude, lon) not in self._points:
            self._points[latitude, lon] = self._find(latitude, lon)
        return self._points[latitude, lon]

    def _find(self, latitude: float, lon: float) -> Place:
        import shapely

        geometries = [feature.geometry for feature in self._features]
        holding = np.flatnonzero(shapely.contains_xy(geometries, lon, latitude))
        distance = shapely.distance(geometries, shapely.Point(lon, latitude))
        beside = self._beside(holding, distance)
        if beside is not None:
            found = beside
        elif holding.size:
            kind = self._features[int(holding[0])].kind
            same = [self._features[i] for i in holding if self._features[i].kind == kind]
            found = min(same, key=self._area)  # the North Atlantic before the Atlantic
        else:
            nearest = int(np.argmin(distance)) if distance.size else -1
            if nearest < 0 or distance[nearest] > _NEAR:
                return Place("", latitude=latitude, longitude=lon)
            found = self._features[nearest]
        found = self._state(found, distance)
        # An ocean's part says less than the coordinates that stand beside it.
        large = found.kind != "ocean" and self._area(found) > _LARGE
        part = self.part(found, latitude, lon) if large else ""
        return Place(found.name, found.key, part, latitude, lon)

    def _state(self, found: Feature, distance: NDArray[np.float64]) -> Feature:
        """Of a country that is told by its states, the nearest one of a point off its shores."""
        if found.kind != "country":
            return found
        states = [
            (float(far), feature)
            for feature, far in zip(self._features, distance, strict=True)
            if feature.kind == "us_state" and feature.parent == found.name and far <= _NEAR
        ]
        return min(states, key=lambda each: each[0])[1] if states else found

    def _beside(self, holding: NDArray[np.intp], distance: NDArray[np.float64]) -> Feature | None:
        """The sea or land near a point of open ocean, whose name says more than the ocean's."""
        if not holding.size or self._features[int(holding[0])].kind != "ocean":
            return None
        ocean = np.array([feature.kind == "ocean" for feature in self._features])
        others = np.where(ocean, np.inf, distance)
        nearest = int(np.argmin(others))
        return self._features[nearest] if others[nearest] <= _BESIDE else None

    def part(self, feature: Feature, latitude: float, longitude: float) -> str:
        """Which part of a feature a point is in: a compass point, or "centre"."""
        north, east = self.offset(feature, latitude, longitude)
        if math.hypot(east, north) < 0.6:
            return "centre"
        return compass(math.degrees(math.atan2(east, north)) % 360.0)

    def offset(self, feature: Feature, latitude: float, longitude: float) -> tuple[float, float]:
        """How far north and east of a feature's middle a point is, in its standard deviations."""
        lat, lon, high, wide = self._shape(feature)
        return (latitude - lat) / high, ((longitude - lon + 180.0) % 360.0 - 180.0) / wide

    def body(self, feature: Feature) -> NDArray[np.bool_]:
        """Which cells of a feature's zone belong to its main body, and not to far-off islands."""
        found = self._bodies.get(feature.key)
        if found is None:
            found = self._bodies[feature.key] = main_body(self._dataset, feature)
        return found

    def middle(self, feature: Feature) -> tuple[float, float]:
        """The weighted middle of a feature's main body, (latitude, longitude)."""
        return self._shape(feature)[:2]

    def _area(self, feature: Feature) -> float:
        return float(self._dataset.zones.weights(feature).weights.sum())

    def _shape(self, feature: Feature) -> tuple[float, float, float, float]:
        """Middle and standard deviations of the main body's cells in latitude and longitude."""
        found = self._shapes.get(feature.key)
        if found is None:
            zone, grid = self._dataset.zones.weights(feature), self._dataset.rectilinear
            body = self.body(feature)
            cells, weights = zone.cells[body], zone.weights[body]
            weights = weights / weights.sum()
            lat = grid.latitude[cells // grid.shape[1]]
            angle = np.deg2rad(grid.longitude[cells % grid.shape[1]])
            middle = math.degrees(
                math.atan2(float(weights @ np.sin(angle)), float(weights @ np.cos(angle)))
            )
            offset = (np.rad2deg(angle) - middle + 180.0) % 360.0 - 180.0
            mean = float(weights @ lat)
            spread = (float(weights @ (lat - mean) ** 2), float(weights @ offset**2))
            high, wide = (max(math.sqrt(s), 0.5) for s in spread)
            found = self._shapes[feature.key] = (mean, middle, high, wide)
        return found
