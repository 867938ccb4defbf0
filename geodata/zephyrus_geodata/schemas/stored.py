"""The shapes of the JSON files that the data plane writes, as pydantic models."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel

from zephyrus_geodata.climate import files
from zephyrus_geodata.reports.manifest import Entry
from zephyrus_geodata.store import manifest
from zephyrus_geodata.store.manifest import Part


class StoredDataset(BaseModel):
    """``dataset.json`` of a stored dataset: to replace it is to commit."""

    zephyrus_dataset: Literal[1]
    label: str
    generation: int
    grid: str
    parts: list[Part]


class StoredClimatology(BaseModel):
    """``climatology.json`` of a stored dataset: the climatology that is in force."""

    zephyrus_climatology: Literal[1]
    folder: str
    period: str
    label: str
    percentiles: list[float]
    days: list[int]
    window: int
    hours: list[int]
    variables: list[str]
    provenance: dict[str, Any]


class StoredReport(BaseModel):
    """One issued text: a line of ``reports.jsonl``."""

    id: str
    product: str
    office: str
    issued: str
    bulletin: str
    correction: str
    url: str
    text: str


class StoredRefusal(BaseModel):
    """A text that could not be read as a product: a line of ``refused.jsonl``."""

    file: str
    number: int
    reason: str


class StoredIndex(BaseModel):
    """``index.json`` of an archive: what its other files were made of."""

    source: str
    reports: int
    duplicates: int
    refused: dict[str, int]


TYPES: dict[str, Any] = {
    "dataset": StoredDataset,
    "climatology": StoredClimatology,
    "report-request": Entry,
    "report": StoredReport,
    "report-refusal": StoredRefusal,
    "report-index": StoredIndex,
}
"""By the name of their schema; a "report-request" is a line of ``manifest.jsonl``."""

assert (manifest.VERSION, files.VERSION) == (1, 1), "the schemas are those of version 1"
