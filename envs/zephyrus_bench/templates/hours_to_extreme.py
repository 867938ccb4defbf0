"""Hours from the initial time at which a named feature reaches its maximum or minimum value."""

from __future__ import annotations

import random

import numpy as np

from zephyrus_bench.subjects import POINT_KINDS
from zephyrus_bench.templates.base import Draft, FeatureTemplate, Scene, call, rounding
from zephyrus_bench.wording import capital, extreme_word, for_points, variable_words
from zephyrus_geodata import Feature, Variable

_QUESTIONS = (
    "how many hours after the initial time does the mean {variable} {over} reach its {extreme}?",
    "at what lead time, in hours, is the mean {variable} {over} at its {extreme}?",
    "when, in hours from the initial time, does the area-mean {variable} {over} have its {extreme}?",
    "find the lead time in hours of the {extreme} of the mean {variable} {over}.",
    "after how many hours is the average {variable} {over} {peak}?",
)
_WORDS = {
    "max": (("maximum", "highest value", "peak"), "highest"),
    "min": (("minimum", "lowest value"), "lowest"),
}

_OF_RANGE = 0.01  # share of the series' range by which the extreme must stand out


class HoursToExtreme(FeatureTemplate):
    """When the feature's mean is highest or lowest."""

    name = "hours_to_extreme"
    row = (
        "Hours from the initial time at which a named feature reaches its maximum or minimum "
        "field value"
    )
    answer_type = "time"
    of_values = False
    several_steps = True
    semantics = (
        "argmax (argmin) of the series of the feature's spatial mean, the first one on ties; "
        "the answer is its lead time in hours"
    )

    def ask(
        self, scene: Scene, feature: Feature, variable: Variable, rng: random.Random
    ) -> Draft | None:
        """Draw which extreme and the wording; two steps of nearly one value are a near-tie."""
        extreme = rng.choice(("max", "min"))
        series = scene.series(variable, feature)
        if not np.isfinite(series).all() or series.size < 2:
            return None
        step = int(series.argmax() if extreme == "max" else series.argmin())
        others = np.delete(series, step)
        margin = abs(float(series[step] - (others.max() if extreme == "max" else others.min())))
        needed = max(2.0 * rounding(float(series[step])), _OF_RANGE * float(np.ptp(series)))
        if margin <= needed:
            return None
        nouns, adjective = _WORDS[extreme]
        form = rng.choice(_QUESTIONS)
        question = (for_points(form) if feature.kind in POINT_KINDS else form).format(
            variable=variable_words(variable),
            over=scene.over(feature),
            extreme=extreme_word(rng.choice(nouns), variable, lowest=extreme == "min"),
            peak=extreme_word(adjective, variable, lowest=extreme == "min"),
        )
        return Draft(
            question=f"{capital(question)} Answer with one number of hours.",
            gold=int(scene.forecast.lead_hours[step]),
            calls=(
                call(
                    "dataset",
                    variable=variable.name,
                    feature=feature.name,
                    kind=feature.kind,
                    statistic="mean",
                    time=f"time_of_{extreme}",
                ),
            ),
            read="hour",
            detail={"extreme": extreme, "flavour": extreme},
            margin=margin,
            needed=needed,
        )
