"""Sublocation within a named parent feature with the highest or lowest recorded field value."""

from __future__ import annotations

import random

from zephyrus_bench.blind import place_guesses
from zephyrus_bench.subjects import Group
from zephyrus_bench.templates.base import Draft, GroupTemplate, Scene, call, winner
from zephyrus_bench.templates.feature_statistic import worth_asking
from zephyrus_bench.wording import (
    candidate_word,
    capital,
    extreme_word,
    noun,
    variable_words,
)
from zephyrus_geodata import Variable
from zephyrus_geodata.zonal import Stat
from zephyrus_tools.articles import with_article

_QUESTIONS = (
    "within {parent}, which {kind} records the {noun} {variable} at any time of the forecast?",
    "which {kind} in {parent} sees the {extreme} single value of the {variable} in the forecast?",
    "of the {kinds} in {parent}, which one reaches the {extreme} {variable} in any grid cell and step?",
    "where in {parent} does the forecast reach its {extreme} {variable}: which {kind}?",
    "looking at every {kind} in {parent}, which has the {extreme} recorded {variable}?",
)


class SublocationExtreme(GroupTemplate):
    """Which child of a parent has the extreme over its cells and all steps."""

    name = "sublocation_extreme"
    row = (
        "Sublocation within a named parent feature with the highest or lowest recorded field value"
    )
    answer_type = "location"
    with_parent = True
    semantics = (
        "children of one kind of a parent; maximum (minimum) over the cells with area fraction "
        "> 0 and all steps of each child; extremum over the children"
    )

    def ask(
        self, scene: Scene, group: Group, variable: Variable, rng: random.Random
    ) -> Draft | None:
        """Draw the order and the wording."""
        order = rng.choice(("highest", "lowest"))
        statistic: Stat = "max" if order == "highest" else "min"
        table = scene.table(variable, group, statistic)
        values = table.max(axis=1) if order == "highest" else table.min(axis=1)
        found = winner(scene, group, values, order)
        if found is None or group.parent is None:
            return None
        if not worth_asking(variable, statistic, found.value):
            return None
        tail, month = "p95" if order == "highest" else "p5", scene.month
        knows = scene.usually(variable)
        usual = scene.climates(variable, tail, month, group, statistic) if knows else None
        question = group.form(rng.choice(_QUESTIONS)).format(
            parent=with_article(group.parent),
            kind=candidate_word(group.kind).removeprefix("US "),
            kinds=candidate_word(group.kind, plural=True).removeprefix("US "),
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
                    statistic=statistic,
                    time=statistic,
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
