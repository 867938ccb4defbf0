"""A bank as WeatherQA's files, with every chart drawn."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from zephyrus.errors import UserError
from zephyrus_chartqa.item import ChartSource, Item
from zephyrus_chartqa.pictures import draw_source
from zephyrus_chartqa.weatherqa import export_weatherqa
from zephyrus_geodata import Dataset


def export_bank(items: Sequence[Item], dataset: Dataset, folder: Path | str) -> list[Path]:
    """Draw the charts of a bank and write it in WeatherQA's layout.

    Args:
        items: A bank's items.
        dataset: The one that they are about.
        folder: Where to; made if it is not there.

    Returns:
        The files written.

    Raises:
        UserError: If an item has no source to draw its chart from, or the dataset lacks it.
    """
    drawn: dict[ChartSource, bytes] = {}
    charts: dict[str, bytes] = {}
    for item in items:
        if item.source is None:
            raise UserError(f"the item {item.id!r} says not what its chart is drawn from")
        if item.source not in drawn:
            drawn[item.source] = draw_source(item.source, dataset).png
        charts[item.id] = drawn[item.source]
    return export_weatherqa(items, charts, folder)
