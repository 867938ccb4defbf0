"""Geographic features above or below a specified climatological percentile."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zephyrus_bench.subjects import MOST_CANDIDATES, Group
from zephyrus_bench.templates.base import Draft, GroupTemplate, Scene, call, rounding
from zephyrus_bench.values import is_positive, is_share
from zephyrus_bench.wording import capital, moment, month_of, percentile_words, variable_words
from zephyrus_geodata import Variable

_QUESTIONS = (
    "{when}, which {plural} have their mean {variable} {side} the {percentile} of the month's climatology?",
    "which {plural} are {side} the month's climatological {percentile} of their mean {variable} {when}?",
    "list the {plural} whose mean {variable} {when} is {side} the {percentile} of the climatology.",
    "name every {singular} whose mean {variable} is {side} its monthly climatological {percentile} {when}.",
)
_ABOVE = ("p50", "p75", "p90", "p95")
_BELOW = ("p50", "p25", "p10", "p5")

MOST_NAMED = 0.2
"""The largest share of the candidates that may be the answer: naming them all must not pay."""


class PercentileExceedance(GroupTemplate):
    """Which candidates are beyond a percentile at one step."""

    name = "percentile_exceedance"
    row = "Geographic features above or below a specified climatological percentile"
    answer_type = "anomaly"
    tool = "climatology"
    of_values = False
    semantics = (
        "the candidate's spatial mean at one step against the area-weighted mean over the "
        "candidate of the gridded percentile of the valid month; strict inequality"
    )

    def ask(
        self, scene: Scene, group: Group, variable: Variable, rng: random.Random
    ) -> Draft | None:
        """Draw side, percentile, hour and wording; a candidate on the threshold is a near-tie."""
        side = rng.choice(("above", "below"))
        statistic = rng.choice(_ABOVE if side == "above" else _BELOW)
        hour = scene.hour(rng)
        now = scene.table(variable, group)[:, scene.index(hour)]
        month = month_of(scene.forecast, hour)
        usual = scene.climates(variable, statistic, month, group)
        excess = now - usual if side == "above" else usual - now
        if not np.isfinite(excess).all() or at_bound(variable, usual, side):
            return None
        margin, needed = float(np.abs(excess).min()), 2.0 * rounding(float(np.abs(now).max()))
        names = [name for name, gap in zip(group.names, excess, strict=True) if gap > 0.0]
        if margin <= needed or len(names) > MOST_NAMED * len(group.features):
            return None
        question = group.form(rng.choice(_QUESTIONS)).format(
            plural=group.plural,
            singular=group.singular,
            variable=variable_words(variable),
            side=side,
            percentile=percentile_words(statistic, rng),
            when=moment(scene.forecast, hour, rng),
        )
        return Draft(
            question=f"{capital(question)} Answer with a list of names, [] if there are none.",
            gold=names,
            calls=(
                call(
                    "climatology",
                    variable=variable.name,
                    **group.arguments,
                    statistic=statistic,
                    month=scene.asked_month(month),
                    hour=hour,
                    compare=side,
                    limit=MOST_CANDIDATES,
                ),
            ),
            read="names",
            detail={"side": side, "statistic": statistic, "hour": hour, "flavour": side},
            margin=margin,
            needed=needed,
            candidates=tuple(group.names),
            blind={"all candidates": 2.0 * len(names) / (len(names) + len(group.names))},
        )


def at_bound(variable: Variable, usual: NDArray[Any], side: str) -> bool:
    """Whether no value can lie beyond a threshold: below no rain, above an overcast sky.

    Args:
        variable: The variable.
        usual: (candidate,) thresholds in display units.
        side: "above" or "below".
    """
    if side == "below":
        return is_positive(variable) and bool((usual <= rounding(0.0)).any())
    return is_share(variable) and bool((usual >= 100.0 - rounding(0.0)).any())
