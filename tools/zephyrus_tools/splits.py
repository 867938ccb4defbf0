"""Which split a forecast's tasks are for: splits follow each other in time."""

from zephyrus_geodata import Dataset


def split_forecasts(dataset: Dataset) -> dict[str, str]:
    """Which split each forecast belongs to, by initial time.

    Of four the first two are for training, the third for validation and the last for the test: the
    share of each in general is a half, a quarter and a quarter. Of fewer than four the last is for
    the test and the one before, if there are three, for validation.
    """
    names = sorted(dataset.forecasts, key=lambda name: (dataset.forecast(name).init_time, name))
    count = len(names)
    test = max(1, round(count / 4))
    validation = max(1, round(count / 4)) if count > 2 else 0
    splits = ["train"] * (count - test - validation)
    splits += ["validation"] * validation + ["test"] * test
    return dict(zip(names, splits, strict=True))
