"""Whether a choice is true, worked out from raw cells: it knows nothing of how questions are made.

Numbers come from the forecast's cells and the zones' weights, units are converted by hand, and
question and choices are read as text. Only what an area is, and which centres a chart marks, are
taken from the package.
"""

import math
import re

import numpy as np

from zephyrus_chartqa.centres import centres
from zephyrus_chartqa.facts.areas import chart_areas
from zephyrus_chartqa.fields import chart_data
from zephyrus_chartqa.region import chart_region

OKTAS = {"clear": (0, 2), "scattered": (3, 4), "broken": (5, 7), "overcast": (8, 8)}
BEARINGS = ("north", "northeast", "east", "southeast", "south", "southwest", "west", "northwest")
MAIN = {
    "rain": ("total_precipitation_6hr", 1000.0, 0.0),
    "phenomena": ("total_cloud_cover", 100.0, 0.0),
    "max_temp": ("2m_temperature", 1.0, -273.15),
    "min_temp": ("2m_temperature", 1.0, -273.15),
    "500hpa_situation": ("geopotential_500", 0.1 / 9.80665, 0.0),  # dagpm
    "land_situation": ("mean_sea_level_pressure", 0.01, 0.0),
}


class Oracle:
    """What is true of the chart of one item."""

    def __init__(self, item, dataset):
        self.item, self.dataset, source = item, dataset, item.source
        self.forecast = dataset.forecast(source.forecast)
        self.region = chart_region(source.region, dataset)
        self.areas = {area.name: area for area in chart_areas(dataset, self.region)}
        hours = self.forecast.lead_hours
        self.last = int(np.flatnonzero(hours == source.lead_hours[-1])[0])
        first = source.lead_hours[0]
        self.steps = np.flatnonzero((hours > first) & (hours <= source.lead_hours[-1]))
        self.field = self.main()

    def raw(self, variable, steps):
        return self.forecast.cells(variable)[:, steps].astype(np.float64)

    def main(self):
        """(cell,) of the chart's main field, in the units of the choices."""
        kind = self.item.category
        if kind == "850hpa_situation":
            return np.hypot(*self.wind(850))
        variable, scale, offset = MAIN[kind]
        if kind in ("rain", "max_temp", "min_temp"):
            values = self.raw(variable, self.steps)
            fold = {"rain": np.sum, "max_temp": np.max, "min_temp": np.min}[kind]
            values = fold(values, axis=1)
        else:
            values = self.raw(variable, self.last)
        return values * scale + offset

    def wind(self, level):
        names = (f"u_component_of_wind_{level}", f"v_component_of_wind_{level}")
        return tuple(self.raw(name, self.last) for name in names)

    def mean(self, field, area):
        total = sum(float(w) for w in area.weights)
        return (
            sum(float(field[c]) * float(w) for c, w in zip(area.cells, area.weights, strict=True))
            / total
        )

    def value(self, name):
        area = self.areas[name]
        if self.item.category != "rain":
            return self.mean(self.field, area)
        size = self.dataset.grid.cell_area
        own = [c for c, w in zip(area.cells, area.weights, strict=True) if w >= 0.5 * size[c]]
        return max(float(self.field[c]) for c in (own or area.cells))

    def truth(self):
        """Which choices are true, and by how much the right one is: ([bool], margin)."""
        question = self.item.question
        for pattern, rule in (
            (r"^In which quarter", self.quarters),
            (r"^Near which|nearest to the centre", self.nearest_areas),
            (r"^Which pressure system", self.nearest_systems),
            (r"^Compare the 500", self.waves),
            (r"\bflow\b", self.flows),
            (r"of these areas", self.order),
        ):
            if re.search(pattern, question):
                return rule(question)
        return self.classes(question)

    def about(self, question):
        return max((name for name in self.areas if name in question), key=len)

    def classes(self, question):
        value = self.value(self.about(question))
        spans = []
        for text in self.item.choices:
            if "okta" in text:
                low, high = next(span for word, span in OKTAS.items() if text.startswith(word))
                spans.append(((low - 0.5) * 12.5, (high + 0.5) * 12.5))
                continue
            inner = re.search(r"\((.*)\)", text)
            words = inner[1] if inner else text
            numbers = [float(n) for n in re.findall(r"-?\d+(?:\.\d+)?", words)]
            if words.startswith("below"):
                spans.append((-math.inf, numbers[0]))
            elif "or more" in words:
                spans.append((numbers[0], math.inf))
            else:
                spans.append((numbers[0], numbers[1] + (0.1 if inner else 0.0)))
        edges = [edge for span in spans for edge in span if math.isfinite(edge)]
        margin = min(abs(value - edge) for edge in edges)
        return [low <= value < high for low, high in spans], margin

    def order(self, question):
        sign = -1.0 if re.search("lowest|least|weakest", question) else 1.0
        values = [sign * self.value(name) for name in self.item.choices]
        best, second = sorted(values)[-1], sorted(values)[-2]
        return [value == best for value in values], best - second

    def quarters(self, question):
        parallel, meridian = re.search(r"divided at (\d+°\w*) and (\d+°\w*)", question).groups()
        split = [
            float(t.split("°")[0]) * (-1 if t[-1] in "SW" else 1) for t in (parallel, meridian)
        ]
        sign = -1.0 if "lowest" in question else 1.0
        grid, region = self.dataset.grid, self.region
        best = {}
        for cell, value in enumerate(self.field):
            lat, lon = grid.cell_latitude[cell], grid.cell_longitude[cell]
            if not region.south <= lat <= region.north:
                continue
            if (lon - region.west) % 360.0 > region.east - region.west:
                continue
            east = (lon - region.west) % 360.0 > (split[1] - region.west) % 360.0
            name = f"the {'north' if lat > split[0] else 'south'}{'east' if east else 'west'}"
            best[name] = max(best.get(name, -math.inf), sign * float(value))
        values = [best[text] for text in self.item.choices]
        ranked = sorted(values)
        return [value == ranked[-1] for value in values], ranked[-1] - ranked[-2]

    def flows(self, question):
        level = 500 if self.item.category.startswith("500") else 850
        area = self.areas[self.about(question)]
        u, v = (self.mean(component, area) for component in self.wind(level))
        blows_from = math.degrees(math.atan2(-u, -v)) % 360.0
        off = []
        for text in self.item.choices:
            middle = 45.0 * BEARINGS.index(text.removesuffix("erly"))
            off.append(abs((blows_from - middle + 180.0) % 360.0 - 180.0))
        return [angle < 22.5 for angle in off], sorted(off)[1] - 22.5

    def waves(self, question):
        area = self.areas[self.about(question)]
        heights = []
        grid, region = self.dataset.grid, self.region
        for east in (0.0, -15.0, 15.0):
            lon = area.longitude + east
            assert (lon - region.west) % 360.0 <= region.east - region.west
            away = (grid.cell_longitude - lon + 180.0) % 360.0 - 180.0
            far = (grid.cell_latitude - area.latitude) ** 2
            far = far + (math.cos(math.radians(area.latitude)) * away) ** 2
            heights.append(float(self.field[int(np.argmin(far))]))
        middle, west, east = heights
        true = []
        for text in self.item.choices:
            if "to its west and to its east" in text:
                higher = "higher" in text
                true.append((west > middle) == higher and (east > middle) == higher)
            else:
                higher = "higher to its west" in text
                true.append((west > middle) == higher and (east > middle) != higher)
        return true, 10.0 * min(abs(west - middle), abs(east - middle))

    def marked(self):
        source = self.item.source
        data = chart_data(
            self.dataset, source.forecast, source.modality, self.region, source.lead_hours[-1]
        )
        scale = 0.1 if data.units == "gpm" else 1.0
        return [(c.kind, scale * c.value, c.latitude, c.longitude) for c in centres(data)]

    @staticmethod
    def far(area, centre):
        """km, by the law of cosines."""
        lat, lon, other, east = map(
            math.radians, (area.latitude, area.longitude, centre[2], centre[3])
        )
        cosine = math.sin(lat) * math.sin(other)
        cosine += math.cos(lat) * math.cos(other) * math.cos(east - lon)
        return 6371.0088 * math.acos(max(-1.0, min(1.0, cosine)))

    def nearest_systems(self, question):
        area = self.areas[self.about(question)]
        ranked = sorted((self.far(area, c), c) for c in self.marked())
        kind, value = ranked[0][1][:2]
        true = []
        for text in self.item.choices:
            number = float(re.search(r"\d+", text)[0])
            true.append(f"a {kind} of" in text and abs(number - value) <= 0.5)
        return true, ranked[1][0] - ranked[0][0] if len(ranked) > 1 else math.inf

    def nearest_areas(self, question):
        kind, number = re.search(r"the (high|low) of (\d+)", question).groups()
        named = [c for c in self.marked() if c[0] == kind and abs(c[1] - float(number)) <= 0.5]
        (centre,) = named  # the question means one, and no other
        far = [self.far(self.areas[name], centre) for name in self.item.choices]
        return [distance == min(far) for distance in far], sorted(far)[1] - min(far)
