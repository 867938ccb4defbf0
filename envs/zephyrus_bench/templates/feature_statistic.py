"""Minimum, maximum, mean or median field value over a named geographic feature."""

from __future__ import annotations

import random
from typing import get_args

import numpy as np

from zephyrus_bench.blind import CLIMATE
from zephyrus_bench.subjects import POINT_KINDS
from zephyrus_bench.templates.base import Draft, FeatureTemplate, Scene, call
from zephyrus_bench.values import is_often_zero, is_share
from zephyrus_bench.verifiers import compare_numbers
from zephyrus_bench.wording import capital, extreme_word, statistic_words, variable_words
from zephyrus_geodata import Feature, Variable, Zone, zonal_statistic
from zephyrus_geodata.zonal import Stat

_QUESTIONS = (
    "what is the {statistic} {variable} {over} over the whole forecast?",
    "over all grid cells and lead times of the forecast, what is the {statistic} {variable} {over}?",
    "give the {statistic} value of the {variable} {over}, taken over the whole forecast period.",
    "for the full forecast, find the {statistic} {variable} {over}.",
    "taking all steps together, what is the {statistic} {variable} {over}?",
)


class FeatureStatistic(FeatureTemplate):
    """A statistic over cells and steps together."""

    name = "feature_statistic"
    row = "Minimum, maximum, mean, or median field value over a named geographic feature"
    answer_type = "numerical"
    semantics = (
        "over the feature's cells and all steps together: mean and median weighted by area "
        "fraction x spherical cell area, min and max over every cell with area fraction > 0"
    )

    def ask(
        self, scene: Scene, feature: Feature, variable: Variable, rng: random.Random
    ) -> Draft | None:
        """Draw the statistic and the wording; a city is a point and has only the mean."""
        statistic: Stat = "mean" if feature.kind in POINT_KINDS else rng.choice(get_args(Stat))
        gold = pooled(scene, variable, feature, statistic)
        if not worth_asking(variable, statistic, gold):
            return None
        question = rng.choice(_QUESTIONS).format(
            statistic=extreme_word(
                statistic_words(statistic, rng), variable, lowest=statistic == "min"
            ),
            variable=variable_words(variable),
            over=scene.over(feature),
        )
        return Draft(
            question=f"{capital(question)} Answer with one number in {variable.display_units}.",
            gold=gold,
            calls=(
                call(
                    "dataset",
                    variable=variable.name,
                    feature=feature.name,
                    kind=feature.kind,
                    statistic=statistic,
                    time="all",
                ),
            ),
            read="value",
            detail={"statistic": statistic, "flavour": statistic},
            blind=usual_value(scene, variable, feature, statistic, gold),
        )


def pooled(scene: Scene, variable: Variable, feature: Feature, statistic: Stat) -> float:
    """A statistic over the cells and steps of a feature together, in display units."""
    if statistic != "median":
        series = scene.series(variable, feature, statistic)
        if statistic == "mean":
            return float(series.mean())
        return float(series.min() if statistic == "min" else series.max())
    zone = scene.dataset.zones.weights(feature)
    values = scene.forecast.cells(variable.name)[zone.cells]
    every = Zone(np.arange(values.size), np.repeat(zone.weights, values.shape[1]), False)
    median = zonal_statistic(values.reshape(-1, 1), every, "median")[0]
    return variable.to_display(float(median))


def usual_value(
    scene: Scene, variable: Variable, feature: Feature, statistic: str, gold: float
) -> dict[str, float]:
    """What it scores to answer with the climatology of the month, and no forecast."""
    if not scene.usually(variable):
        return {}
    usual = {"min": "p5", "max": "p95", "median": "p50"}.get(statistic, "mean")
    value = scene.climate(variable, usual, scene.month, feature)
    return {CLIMATE: compare_numbers(value, gold)}


def worth_asking(variable: Variable, statistic: str, gold: float) -> bool:
    """Whether the answer is not known without looking: no data, or a bound such as no rain."""
    if not np.isfinite(gold):
        return False
    if is_share(variable):
        return bool(1.0 < gold < 99.0)
    if is_often_zero(variable):
        return gold > 0.1
    return True
