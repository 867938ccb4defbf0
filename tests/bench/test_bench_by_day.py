"""Questions about a dataset whose climatology also goes by the day of the year and the hour."""

import numpy as np
import pytest

from zephyrus.errors import UserError
from zephyrus.messages import Reply
from zephyrus_bench.bank import build_bank, make_tasks, quotas
from zephyrus_bench.env import BenchEnv
from zephyrus_geodata import Climatology, Dataset
from zephyrus_geodata.climatology import PERCENTILES, Days
from zephyrus_geodata.testing import analytic_dataset

CLIMATE = ("climate_value", "greatest_departure", "percentile_exceedance")


def made(percentiles) -> Dataset:
    """Months as ever; the days are all thirty degrees off."""
    whole = analytic_dataset()
    months = whole.climatology
    assert months is not None
    names = (*(f"p{p:g}" for p in percentiles), "mean", "std")

    def read(variable):
        return np.array(
            [[months.cells(variable, s, m) for s in names] for m in range(1, 13)], dtype=np.float32
        )

    def read_day(variable):
        return lambda day, hour: read(variable)[0] + np.float32(30.0)

    usual = Climatology(
        months.grid,
        {v: (lambda v=v: read(v)) for v in months.variables},
        label=months.label,
        percentiles=percentiles,
        days=Days((1, 183), (0, 12), 61, {v: read_day(v) for v in months.variables}),
    )
    forecasts = {name: (lambda name=name: whole.forecast(name)) for name in whole.forecasts}
    return Dataset("analytic", forecasts, climatology=lambda: usual)


async def solve(env, task):
    episode, script = env.begin(task), env.script(task)
    message = next(script)
    while not episode.done:
        observations = await episode.step(Reply(message))
        if not episode.done:
            message = script.send(observations)
    return episode.trajectory


async def test_programs_ask_for_the_month_that_the_question_is_about():
    """Were the day taken, every departure would be thirty degrees less, and the answer wrong."""
    by_day = made(PERCENTILES)
    bank = make_tasks(by_day, quotas({"train": 48, "validation": 48, "test": 48}), seed=0)[0]
    seen = set()
    for split in ("train", "validation", "test"):
        env = BenchEnv(split=split, dataset=by_day, bank=bank)
        for task in env.tasks():
            if task.template not in CLIMATE:
                continue
            seen.add(task.template)
            assert isinstance(task.program["calls"][0]["arguments"]["month"], int)
            trajectory = await solve(env, task)
            assert trajectory.rewards["score"] == 1.0, (task.prompt, task.gold, trajectory.answer)
    assert seen == set(CLIMATE)


def test_a_bank_needs_the_usual_percentiles():
    with pytest.raises(UserError, match="has no p5, p95: build it with --quantiles 5,10,25,50,75"):
        build_bank(made((10.0, 25.0, 50.0, 75.0, 90.0)), {"train": 48})
