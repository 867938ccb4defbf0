"""Location with the greatest departure from climatology (reconstructed: not in the paper)."""

from __future__ import annotations

import random

from zephyrus_bench.blind import place_guesses
from zephyrus_bench.subjects import Group
from zephyrus_bench.templates.base import Draft, GroupTemplate, Scene, call, winner
from zephyrus_bench.wording import capital, moment, month_of, variable_words
from zephyrus_geodata import Variable

_QUESTIONS = (
    "{when}, which {singular} has its mean {variable} furthest {side} the climatological mean of the month?",
    "which of the {plural} departs most {side} its climatological monthly mean of the {variable} {when}?",
    "compare the {plural} with their monthly climatological mean: which is furthest {side} it in "
    "its {variable} {when}?",
    "where is the {variable} most {side} the month's climatological mean {when}: in which {singular}?",
)


class GreatestDeparture(GroupTemplate):
    """Which candidate is furthest above or below its climatological mean at one step."""

    name = "greatest_departure"
    row = "Geographic feature with the greatest departure from climatology at a specified time"
    answer_type = "location"
    tool = "climatology"
    reconstructed = True
    of_values = False  # a departure is a difference
    semantics = (
        "spatial mean at one step minus the feature's climatological mean of the valid month; "
        "the greatest positive (above) or negative (below) departure over the candidates"
    )

    def ask(
        self, scene: Scene, group: Group, variable: Variable, rng: random.Random
    ) -> Draft | None:
        """Draw the side, the hour and the wording."""
        side = rng.choice(("above", "below"))
        order = "highest" if side == "above" else "lowest"
        hour = scene.hour(rng)
        month = month_of(scene.forecast, hour)
        now = scene.table(variable, group)[:, scene.index(hour)]
        usual = scene.climates(variable, "mean", month, group)
        found = winner(scene, group, now - usual, order)
        if found is None or (found.value > 0.0) != (side == "above"):
            return None
        spread = scene.climates(variable, "std", month, group)
        question = group.form(rng.choice(_QUESTIONS)).format(
            plural=group.plural,
            singular=group.singular,
            variable=variable_words(variable),
            side=side,
            when=moment(scene.forecast, hour, rng),
        )
        return Draft(
            question=f"{capital(question)} Give the place and its departure (forecast minus "
            f"climatological mean, a difference) in {variable.display_units}.",
            gold={"place": found.place, "value": found.value},
            calls=(
                call(
                    "climatology",
                    variable=variable.name,
                    **group.arguments,
                    statistic="mean",
                    month=scene.asked_month(month),
                    hour=hour,
                    compare="departure",
                    order=order,
                    limit=3,
                ),
            ),
            read="first",
            detail={"order": order, "hour": hour, "flavour": order},
            margin=found.margin,
            needed=found.needed,
            candidates=tuple(group.names),
            blind=place_guesses(scene.dataset, group, found.place, spread, "highest"),
        )
