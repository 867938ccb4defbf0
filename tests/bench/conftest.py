import pytest

from zephyrus.task import TaskSet
from zephyrus_bench.bank import make_tasks, quotas
from zephyrus_geodata import Dataset
from zephyrus_geodata.testing import analytic_dataset

SIZES = {"train": 128, "validation": 125, "test": 136}


@pytest.fixture(scope="session")
def analytic() -> Dataset:
    return analytic_dataset()


@pytest.fixture(scope="session")
def bank(analytic) -> TaskSet:
    return make_tasks(analytic, quotas(SIZES), seed=0)[0]
