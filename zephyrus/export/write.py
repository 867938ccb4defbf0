"""Rows into files: Parquet, JSON lines, or a folder of Hugging Face ``datasets``."""

from __future__ import annotations

import importlib.util
import io
import json
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from zephyrus.errors import UserError
from zephyrus.export.columns import schema, to_arrow
from zephyrus.export.rows import Row
from zephyrus.jsonlines import refusals, write_whole
from zephyrus.messages import clean_text

FORMATS = ("parquet", "jsonl", "hf")

_GROUP = 256
"""Rows of a Parquet row group: conversations are large, and a reader wants one at a time."""


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written.

    Attributes:
        files: They; of ``hf`` the folder.
        rows: By split.
    """

    files: tuple[Path, ...]
    rows: dict[str, int]


def write(rows: Iterable[Row], kind: str, form: str, output: Path) -> Exported:
    """Write rows, whole or not at all.

    Args:
        rows: They, with the columns of `zephyrus.export.columns.schema`.
        kind: "rollouts" or "tasks".
        form: Of `FORMATS`.
        output: A file that ends in the format's name for all rows, or a folder with a file for
            each split, as ``datasets.load_dataset`` reads it; for ``hf`` a folder that
            ``datasets.load_from_disk`` reads.

    Raises:
        UserError: If it can't be written, there are no rows, or ``datasets`` is wanted and missing.
    """
    if form not in FORMATS:
        raise UserError(f"there is no format {form!r}; there are {', '.join(FORMATS)}")
    single = output.suffix != "" and not output.is_dir()
    if single and output.suffix != f".{form}":
        raise UserError(
            f"{output.name} does not fit the format {form}: "
            + ("give a folder" if form == "hf" else f"end it in .{form}, or give a folder")
        )
    if form == "hf" and importlib.util.find_spec("datasets") is None:
        raise UserError(
            "the format hf needs datasets: pip install datasets; parquet is read by it as well"
        )
    if not single and output.exists() and not output.is_dir():
        raise UserError(f"{output} is a file, and a folder is wanted")
    counts: Counter[str] = Counter()
    if single:
        counted = _counted(rows, counts)
        data = _parquet(counted, kind) if form == "parquet" else _jsonl(counted)
        _some(counts)
        write_whole(output, data)
        return Exported((output,), dict(counts))
    splits: dict[str, list[Row]] = {}
    for row in _counted(rows, counts):
        splits.setdefault(row["split"] or "train", []).append(row)
    _some(counts)
    if form == "hf":
        _save_to_disk(splits, kind, output)
        return Exported((output,), dict(counts))
    files = []
    for split, some in splits.items():
        files.append(output / f"{split}.{form}")
        write_whole(files[-1], _parquet(some, kind) if form == "parquet" else _jsonl(some))
    return Exported(tuple(files), dict(counts))


def _counted(rows: Iterable[Row], counts: Counter[str]) -> Iterator[Row]:
    for row in rows:
        counts[row["split"] or "train"] += 1
        yield row


def _some(counts: Counter[str]) -> None:
    if not counts:
        raise UserError("there is nothing to export: no rollout or task is left")


def _jsonl(rows: Iterable[Row]) -> bytes:
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    return clean_text("".join(lines)).encode()


def _parquet(rows: Iterable[Row], kind: str) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = schema(kind)
    file = io.BytesIO()
    with pq.ParquetWriter(file, columns, compression="zstd") as writer:
        left = iter(rows)
        while some := list(islice(left, _GROUP)):
            writer.write_table(pa.Table.from_pylist(_arrow_rows(some, columns), schema=columns))
    return file.getvalue()


def _arrow_rows(rows: Iterable[Row], columns: Any) -> list[Row]:
    return [
        {field.name: _clean(to_arrow(field, row[field.name])) for field in columns} for row in rows
    ]


def _clean(value: Any) -> Any:
    """Without lone surrogates, which Arrow refuses."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, dict):
        return {key: _clean(item) for key, item in value.items()}
    return [_clean(item) for item in value] if isinstance(value, list) else value


def _save_to_disk(splits: dict[str, list[Row]], kind: str, output: Path) -> None:
    import datasets
    import pyarrow.parquet as pq

    made = output.with_name(f".{output.name}.part")
    with ExitStack() as after, refusals(output):
        after.callback(shutil.rmtree, made, ignore_errors=True)
        shutil.rmtree(made, ignore_errors=True)
        parts = {}
        for split, rows in splits.items():
            # Read back: only so the marked columns become what datasets knows as Json.
            table = pq.read_table(io.BytesIO(_parquet(rows, kind)))
            parts[split] = datasets.Dataset(datasets.table.InMemoryTable(table))
        datasets.DatasetDict(parts).save_to_disk(made)
        if output.is_dir():
            if any(output.iterdir()) and not (output / "dataset_dict.json").is_file():
                raise UserError(f"{output} holds something else; give another folder")
            shutil.rmtree(output)
        made.rename(output)
