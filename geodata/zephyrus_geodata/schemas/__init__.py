"""JSON Schemas (draft 2020-12) of what stored datasets and archives of reports consist of.

``dataset.json`` and ``climatology.json`` say the version of their layout under
``zephyrus_dataset`` and ``zephyrus_climatology``; one of a later version is refused. The files of
an archive of reports have none: what can't be read is fetched, or made, again.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

_END = ".schema.json"


def names() -> list[str]:
    """The kinds of file that there is a schema of."""
    every = (file.name for file in files("zephyrus_geodata.schemas").iterdir())
    return sorted(name.removesuffix(_END) for name in every if name.endswith(_END))


def schema(name: str) -> dict[str, Any]:
    """The schema of one kind of file, of `names`."""
    file = files("zephyrus_geodata.schemas").joinpath(name + _END)
    found: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return found
