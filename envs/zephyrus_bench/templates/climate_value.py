"""Climatological statistic over a named feature (reconstructed: the paper does not show it)."""

from __future__ import annotations

import random

from zephyrus_bench.templates.base import Draft, FeatureTemplate, Scene, call
from zephyrus_bench.templates.feature_statistic import worth_asking
from zephyrus_bench.verifiers import compare_numbers
from zephyrus_bench.wording import capital, month_of, percentile_words, variable_words
from zephyrus_geodata import Feature, Variable
from zephyrus_geodata.climatology import STATISTICS
from zephyrus_tools.text import MONTHS

_QUESTIONS = (
    "in the climatology, what is the {statistic} of the {variable} {over} in {month}?",
    "what is the climatological {statistic} of the {variable} {over} for {month}?",
    "give the {month} climatology's {statistic} of the {variable} {over}.",
    "for {month}, look up the climatological {statistic} of the {variable} {over}.",
)
_THIS_MONTH = (
    "for the month in which the forecast starts, what is the climatological {statistic} of "
    "the {variable} {over}?"
)


class ClimateValue(FeatureTemplate):
    """The value of a climatological statistic over a feature."""

    name = "climate_value"
    row = "Value of a climatological percentile, mean or spread over a named feature"
    answer_type = "numerical"
    tool = "climatology"
    reconstructed = True
    timeless = True
    semantics = "area-weighted mean over the feature of the gridded monthly statistic"

    def ask(
        self, scene: Scene, feature: Feature, variable: Variable, rng: random.Random
    ) -> Draft | None:
        """Draw the statistic, the month and the wording."""
        statistic = rng.choice(STATISTICS)
        month = rng.choice(scene.months(variable))
        question = rng.choice(_QUESTIONS)
        if rng.random() < 0.2:
            month, question = month_of(scene.forecast, 0), _THIS_MONTH
        gold = scene.climate(variable, statistic, month, feature)
        mean = scene.climate(variable, "mean", month, feature)
        if not worth_asking(variable, statistic, gold):
            return None
        if statistic.startswith("p") and compare_numbers(mean, gold) > 0.0:
            return None
        spread = " (a difference)" if statistic == "std" else ""
        question = question.format(
            statistic=percentile_words(statistic, rng),
            variable=variable_words(variable),
            over=scene.over(feature),
            month=MONTHS[month - 1],
        )
        return Draft(
            question=f"{capital(question)} Answer with one number in {variable.display_units}{spread}.",
            gold=gold,
            calls=(
                call(
                    "climatology",
                    variable=variable.name,
                    feature=feature.name,
                    kind=feature.kind,
                    statistic=statistic,
                    month=month,
                ),
            ),
            read="value",
            detail={"statistic": statistic, "month": month, "flavour": statistic},
            blind={"mean instead": compare_numbers(mean, gold)},
        )
