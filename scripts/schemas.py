"""Write the JSON Schemas that ship in the packages, after a type that is written has changed."""

from pathlib import Path

import zephyrus.schemas
import zephyrus_geodata.schemas
from zephyrus.schemas.make import every, make, write
from zephyrus_geodata.schemas.stored import TYPES

if __name__ == "__main__":
    write(Path(zephyrus.schemas.__file__).parent, every())
    made = {name: make(name, kind) for name, kind in TYPES.items()}
    write(Path(zephyrus_geodata.schemas.__file__).parent, made)
