"""Minimum, maximum, mean or median field value over a named feature at a specified time."""

from __future__ import annotations

import random
from typing import get_args

from zephyrus_bench.subjects import POINT_KINDS
from zephyrus_bench.templates.base import Draft, FeatureTemplate, Scene, call
from zephyrus_bench.templates.feature_statistic import usual_value, worth_asking
from zephyrus_bench.wording import (
    capital,
    extreme_word,
    moment,
    noun,
    statistic_words,
    variable_words,
)
from zephyrus_geodata import Feature, Variable
from zephyrus_geodata.zonal import Stat

_QUESTIONS = (
    "what is the {statistic} {variable} {over} {when}?",
    "{when}, what is the {statistic} {variable} {over}?",
    "find the {noun} of the {variable} {over} {when}.",
    "give the {statistic} {variable} {over} {when}.",
)
_AT_A_POINT = (
    "what is the {variable} {over} {when}?",
    "{when}, what is the {variable} {over}?",
    "find the {variable} {over} {when}.",
    "give the {variable} {over} {when}.",
)


class FeatureAtTime(FeatureTemplate):
    """A statistic over cells at one step."""

    name = "feature_at_time"
    row = "Minimum, maximum, mean, or median field value over a named feature at a specified time"
    answer_type = "numerical"
    semantics = (
        "over the feature's cells at one step: mean and median weighted by area fraction x "
        "spherical cell area, min and max over every cell with area fraction > 0"
    )

    def ask(
        self, scene: Scene, feature: Feature, variable: Variable, rng: random.Random
    ) -> Draft | None:
        """Draw the statistic, the hour and the wording."""
        point = feature.kind in POINT_KINDS
        statistic: Stat = "mean" if point else rng.choice(get_args(Stat))
        hour = scene.hour(rng)
        gold = float(scene.series(variable, feature, statistic)[scene.index(hour)])
        if not worth_asking(variable, statistic, gold):
            return None
        lowest = statistic == "min"
        question = rng.choice(_AT_A_POINT if point else _QUESTIONS).format(
            statistic=extreme_word(statistic_words(statistic, rng), variable, lowest=lowest),
            noun=extreme_word(noun(statistic), variable, lowest=lowest),
            variable=variable_words(variable),
            over=scene.over(feature),
            when=moment(scene.forecast, hour, rng),
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
                    hour=hour,
                ),
            ),
            read="value",
            detail={"statistic": statistic, "hour": hour, "flavour": statistic},
            blind=usual_value(scene, variable, feature, statistic, gold),
        )
