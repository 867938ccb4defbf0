"""JSON Schemas (draft 2020-12) of what Zephyrus writes to disk.

A schema is of one file, or of one line of a JSON-lines file, as this release writes it; the rule for
other releases is that of `zephyrus.fileformat`. The schemas are made from the types that are
written (`zephyrus.schemas.stored`) by `zephyrus.schemas.make`, and ship as files beside this one.
Those of stored datasets are in `zephyrus_geodata.schemas`.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from zephyrus.errors import UserError

_END = ".schema.json"


def names() -> list[str]:
    """The kinds of file that there is a schema of."""
    every = (file.name for file in files("zephyrus.schemas").iterdir())
    return sorted(name.removesuffix(_END) for name in every if name.endswith(_END))


def schema(name: str) -> dict[str, Any]:
    """The schema of one kind of file.

    Raises:
        UserError: If there is no such kind.
    """
    if name not in names():
        raise UserError(f"there is no schema {name!r}; there are {', '.join(names())}")
    text = files("zephyrus.schemas").joinpath(name + _END).read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found
