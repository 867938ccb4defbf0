"""Geographic feature with the highest or lowest time-mean field value."""

from __future__ import annotations

import random

from zephyrus_bench.blind import place_guesses
from zephyrus_bench.subjects import Group
from zephyrus_bench.templates.base import Draft, GroupTemplate, Scene, call, winner
from zephyrus_bench.wording import capital, extreme_word, noun, variable_words
from zephyrus_geodata import Variable

_QUESTIONS = (
    "which of the {plural} has the {extreme} {variable} averaged over the whole forecast?",
    "over the whole forecast, which {singular} has the {noun} time-mean {variable}?",
    "which {singular} has the {extreme} mean {variable}, averaged over its area and all lead times?",
    "compare the {plural}: where is the forecast-mean {variable} {extreme}?",
    "name the {singular} whose average {variable} over all steps of the forecast is the {noun} of them all.",
)


class TimeMeanExtreme(GroupTemplate):
    """Which candidate has the extreme mean over its area and all steps."""

    name = "time_mean_extreme"
    row = "Geographic feature with the highest or lowest time-mean field value"
    answer_type = "location"
    semantics = (
        "spatial mean (area fraction x spherical cell area) at each step, plain mean over the "
        "steps, extremum over the candidates of one kind"
    )

    def ask(
        self, scene: Scene, group: Group, variable: Variable, rng: random.Random
    ) -> Draft | None:
        """Draw the order and the wording."""
        order = rng.choice(("highest", "lowest"))
        found = winner(scene, group, scene.table(variable, group).mean(axis=1), order)
        if found is None:
            return None
        knows = scene.usually(variable)
        usual = scene.climates(variable, "mean", scene.month, group) if knows else None
        question = group.form(rng.choice(_QUESTIONS)).format(
            plural=group.plural,
            singular=group.singular,
            extreme=extreme_word(order, variable, lowest=order == "lowest"),
            noun=extreme_word(noun(order), variable, lowest=order == "lowest"),
            variable=variable_words(variable),
        )
        return Draft(
            question=f"{capital(question)} Give the place and its value in {variable.display_units}.",
            gold={"place": found.place, "value": found.value},
            calls=(
                call(
                    "dataset",
                    variable=variable.name,
                    **group.arguments,
                    statistic="mean",
                    time="mean",
                    order=order,
                    limit=3,
                ),
            ),
            read="first",
            detail={"order": order, "flavour": order},
            margin=found.margin,
            needed=found.needed,
            candidates=tuple(group.names),
            blind=place_guesses(scene.dataset, group, found.place, usual, order),
        )
