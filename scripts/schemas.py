"""Write the JSON Schemas that ship in the packages, after a type that is written has changed."""

from pathlib import Path

import zephyrus.schemas
import zephyrus_chartqa.schemas
import zephyrus_geodata.schemas
from zephyrus.schemas.make import every, make, write
from zephyrus_chartqa.bank_file import FORMAT
from zephyrus_chartqa.schemas.stored import StoredItem
from zephyrus_geodata.schemas.stored import TYPES

if __name__ == "__main__":
    write(Path(zephyrus.schemas.__file__).parent, every())
    made = {name: make(name, kind) for name, kind in TYPES.items()}
    write(Path(zephyrus_geodata.schemas.__file__).parent, made)
    made = {FORMAT.name: make(FORMAT.name, StoredItem, FORMAT.version)}
    write(Path(zephyrus_chartqa.schemas.__file__).parent, made)
