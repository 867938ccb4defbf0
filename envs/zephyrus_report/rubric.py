"""The rubric of forecast discussions: the six criteria of Zephyrus-R1, Table C.2, frozen.

Names and definitions are the paper's. Its anchors (Figure C.2) are not public: those in
``rubric.yaml``, for the same levels 1, 3, 5, 8 and 10, are this project's own.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import yaml

from zephyrus.judge.base import Criterion, Rubric

RUBRIC_FILE = Path(__file__).with_name("rubric.yaml")


@cache
def report_rubric() -> Rubric:
    """The frozen rubric; its version changes with every word of it.

    Criteria, in order: ``setup``, ``spatiotemporal``, ``hazards``, ``mechanism``, ``thermal``,
    ``calibration``.
    """
    read = yaml.safe_load(RUBRIC_FILE.read_text(encoding="utf-8"))
    criteria = tuple(
        Criterion(each["key"], each["name"], each["definition"], dict(each["anchors"]))
        for each in read["criteria"]
    )
    return Rubric(read["name"], read["version"], read["instructions"], criteria)
