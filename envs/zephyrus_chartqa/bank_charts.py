"""The charts that a bank may ask about: of which regions, forecasts and lead times."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from zephyrus.errors import UserError
from zephyrus.task import SPLITS
from zephyrus_chartqa.facts.areas import chart_areas
from zephyrus_chartqa.fields import chart_leads, lacking
from zephyrus_chartqa.modality import MODALITIES
from zephyrus_chartqa.region import Region, chart_region
from zephyrus_geodata import Dataset, Forecast

REGIONS = (
    "Europe",
    "East Asia",
    "South Asia",
    "Maritime Continent",
    "Northern Asia",
    "Africa",
    "North America",
    "Contiguous United States",
    "South America",
    "Australia and New Zealand",
    "Arctic",
)
"""The regions of a bank's charts, as far as a dataset covers them."""

_FEWEST_AREAS = 5  # of a region: fewer make no four choices that vary
_APART = 12  # hours between charts of an instant; daily ones are 24 h apart


@dataclass(frozen=True)
class Chart:
    """A chart that could be asked about.

    Attributes:
        forecast: Its forecast.
        lead: The lead time of its end, hours.
        region: What it shows.
        name: What the region was asked for by.
    """

    forecast: Forecast
    lead: int
    region: Region
    name: str

    def style(self, seed: int) -> int:
        """The seed of its look: charts have different ones, and a chart always the same."""
        key = f"{seed}/{self.forecast.id}/{self.lead}/{self.name}"
        return int.from_bytes(hashlib.sha256(key.encode()).digest()[:2])


def charts_of(
    dataset: Dataset,
    category: str,
    names: Sequence[str],
    splits: Mapping[str, str],
    regions: Mapping[str, Region],
) -> Iterator[Chart]:
    """The charts of a category and a split's forecasts, those that reach into no later split."""
    for name in names:
        forecast = dataset.forecast(name)
        later = [
            dataset.forecast(other).init_time
            for other, split in splits.items()
            if SPLITS.index(split) > SPLITS.index(splits[name])
        ]
        ends = min(later) if later else None
        last = -_APART * 2
        for lead in chart_leads(forecast, category):
            apart = 2 * _APART if MODALITIES[category].daily else _APART
            valid = forecast.init_time + np.timedelta64(lead, "h")
            if lead - last < apart or (ends is not None and valid > ends):
                continue
            last = lead
            for title, region in regions.items():
                yield Chart(forecast, lead, region, title)


def bank_regions(dataset: Dataset, names: Sequence[str]) -> dict[str, Region]:
    """The regions asked for, or those of `REGIONS` that the dataset covers, by name."""
    found: dict[str, Region] = {}
    for name in names or REGIONS:
        region = chart_region(name, dataset)
        count = len(chart_areas(dataset, region))
        if count >= _FEWEST_AREAS:
            found[name] = region
        elif names:
            raise UserError(
                f"the region {name!r} shows {count} named areas that the dataset "
                f"{dataset.name!r} resolves, and questions need {_FEWEST_AREAS}: choose a larger one"
            )
    if not found:
        raise UserError(
            f"the dataset {dataset.name!r} covers none of the usual regions with enough named "
            "areas: name some with regions=WEST,SOUTH,EAST,NORTH;NAME"
        )
    return found


def why_none(dataset: Dataset, category: str) -> str:
    """Why a dataset has no chart of a category."""
    for name in dataset.forecasts:
        reason = lacking(dataset.forecast(name), category)
        if reason is not None:
            return reason
    return f"no chart of it in the dataset {dataset.name!r} has enough named areas"
