"""Where the items of the environment come from: the package's bank, a user's, or a benchmark's files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from zephyrus.errors import UserError
from zephyrus_chartqa.bank_file import load_items as read_bank
from zephyrus_chartqa.item import Item
from zephyrus_chartqa.scienceqa import PROBLEMS, load_scienceqa
from zephyrus_chartqa.weatherqa import WHOLE, load_weatherqa
from zephyrus_geodata import Dataset, GeodataError, load_dataset

BANKS = Path(__file__).parent / "data"
"""Where the banks that ship with the package are, one ``NAME.jsonl.gz`` for each dataset."""


def load_items(
    bank: str | Path | Iterable[Item] | None, dataset: str | Dataset
) -> tuple[tuple[Item, ...], Path]:
    """The items of a bank, and the folder that their images are relative to.

    Args:
        bank: Items; a bank file (``.jsonl``, ``.jsonl.gz``); a file or the folder of WeatherQA, or
            the folder of ScienceQA; or None for the bank that ships for the dataset.
        dataset: The dataset, for the bank that ships.

    Raises:
        UserError: If there is no such bank, or it can't be read.
    """
    if bank is None:
        path = _shipped(dataset)
    elif isinstance(bank, str | Path):
        path = Path(bank)
    else:
        return tuple(bank), Path()
    if path.is_dir():
        science = (path / PROBLEMS).is_file() and not (path / WHOLE).is_file()
        return tuple((load_scienceqa if science else load_weatherqa)(path)), path
    if path.name == PROBLEMS:
        return tuple(load_scienceqa(path)), path.parent
    if path.suffixes[-1:] == [".json"]:
        return tuple(load_weatherqa(path)), path.parent
    return tuple(read_bank(path)), path.parent


def _shipped(dataset: str | Dataset) -> Path:
    name = dataset.name if isinstance(dataset, Dataset) else str(dataset)
    path = BANKS / f"{name}.jsonl.gz"
    if not path.is_file():
        try:
            if not isinstance(dataset, Dataset):
                load_dataset(name)
        except GeodataError as error:
            raise UserError(str(error)) from error
        raise UserError(
            f"no bank of charts ships for the dataset {name!r}; make one with: zephyrus env "
            f"build-bank --env chartqa --dataset {name} --output bank.jsonl, then pass "
            "--bank bank.jsonl (bank=…)"
        )
    return path
