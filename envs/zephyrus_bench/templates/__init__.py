"""The question templates of Table B.1, by name.

A new one is a file here with a `Template` subclass, and its entry in this table.
"""

from __future__ import annotations

from zephyrus_bench.templates.base import Template
from zephyrus_bench.templates.climate_value import ClimateValue
from zephyrus_bench.templates.feature_at_time import FeatureAtTime
from zephyrus_bench.templates.feature_statistic import FeatureStatistic
from zephyrus_bench.templates.greatest_departure import GreatestDeparture
from zephyrus_bench.templates.hours_to_extreme import HoursToExtreme
from zephyrus_bench.templates.percentile_exceedance import PercentileExceedance
from zephyrus_bench.templates.sublocation_extreme import SublocationExtreme
from zephyrus_bench.templates.time_mean_extreme import TimeMeanExtreme

TEMPLATES: dict[str, Template] = {
    template.name: template
    for template in (
        TimeMeanExtreme(),
        FeatureStatistic(),
        SublocationExtreme(),
        HoursToExtreme(),
        FeatureAtTime(),
        PercentileExceedance(),
        ClimateValue(),
        GreatestDeparture(),
    )
}
"""In the order of Table B.1, the two reconstructed rows last."""
