"""The shape of a line of a bank of chart questions, as a pydantic model."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel

from zephyrus_chartqa.item import ChartSource


class Asked(BaseModel):
    """Question and choices in one language, as WeatherQA has them."""

    question: str
    choices: dict[str, str]


class StoredItem(BaseModel):
    """A question on a chart: WeatherQA's fields, then ours; see `zephyrus_chartqa.item.Item`."""

    id: str
    image_path: str
    category: str
    answer: str
    split: Literal["train", "validation", "test"]
    en: Asked
    text: str
    source: ChartSource | None
    provenance: dict[str, Any]
