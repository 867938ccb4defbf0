"""JSON Schemas (draft 2020-12) of what charts write to disk: lines of banks; see `zephyrus.schemas`."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

NAME = "chart-item"


def schema() -> dict[str, Any]:
    """The schema of a line of a bank of chart questions."""
    file = files("zephyrus_chartqa.schemas").joinpath(f"{NAME}.schema.json")
    found: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return found
