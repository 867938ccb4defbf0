"""The schema of banks of chart questions: made from the type, and what is written fits it."""

import copy
import gzip
import json

import pytest

from zephyrus.schemas.make import make
from zephyrus_chartqa import schemas
from zephyrus_chartqa.bank_file import FORMAT, load_items, save_items
from zephyrus_chartqa.item import Item
from zephyrus_chartqa.library import BANKS
from zephyrus_chartqa.schemas.stored import StoredItem

jsonschema = pytest.importorskip("jsonschema", reason="needs jsonschema")


@pytest.fixture(scope="module")
def validator():
    return jsonschema.Draft202012Validator(schemas.schema())


def test_the_schema_that_ships_is_that_of_the_type():
    assert FORMAT.name == schemas.NAME
    assert schemas.schema() == make(FORMAT.name, StoredItem, FORMAT.version), (
        "run scripts/schemas.py"
    )


def test_every_line_of_the_shipped_bank_fits_it(validator):
    rows = gzip.decompress((BANKS / "demo.jsonl.gz").read_bytes()).decode().splitlines()
    assert len(rows) > 1000
    for row in rows:
        validator.validate(json.loads(row))


def test_an_item_of_a_users_own_fits_it_too(validator, tmp_path):
    item = Item("7", "image/7.png", "rain", "B", "test", "How much?", ("a lot", "little"))
    save_items(tmp_path / "bank.jsonl", [item])
    line = json.loads((tmp_path / "bank.jsonl").read_text())
    validator.validate(line)
    assert load_items(tmp_path / "bank.jsonl") == [item]
    for key in ("answer", "en"):
        wrong = copy.deepcopy(line)
        del wrong[key]
        assert not validator.is_valid(wrong)
    assert not validator.is_valid({**line, "split": "dev"})
