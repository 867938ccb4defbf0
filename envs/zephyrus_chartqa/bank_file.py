"""Banks of chart questions on disk: a line an item, in WeatherQA's form."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterable
from pathlib import Path

from zephyrus.errors import UserError
from zephyrus.fileformat import FileFormat, LaterFormatError
from zephyrus.jsonlines import write_whole
from zephyrus.messages import clean_text
from zephyrus_chartqa.item import Item

FORMAT = FileFormat("chart-item", "0.1.0")
"""A line of a bank."""


def save_items(path: Path, items: Iterable[Item]) -> None:
    """Write items as JSON lines, complete or not at all; gzipped if the name ends in ``.gz``.

    The same items give the same bytes.
    """
    rows = (json.dumps(FORMAT.stamp(item.to_dict()), ensure_ascii=False) + "\n" for item in items)
    data = clean_text("".join(rows)).encode()
    write_whole(path, gzip.compress(data, 9, mtime=0) if path.suffix == ".gz" else data)


def load_items(path: Path) -> list[Item]:
    """Read a bank of items, gzipped if the name ends in ``.gz``.

    Raises:
        UserError: If there is no such file, a later release wrote it, it is no bank, or two items
            have one id; the first wrong line is named.
    """
    if not path.is_file():
        raise UserError(
            f"there is no bank at {path}; make one with: zephyrus env build-bank --env chartqa"
        )
    try:
        data = path.read_bytes()
        if path.suffix == ".gz":
            data = gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise UserError(f"the bank {path} can't be read: {error}") from error
    found: dict[str, Item] = {}
    # Only a line feed ends a line: a question may hold U+2028 and the like.
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        try:
            item = Item.from_dict(FORMAT.read(json.loads(line.decode()), f"{where},"))
        except LaterFormatError:
            raise
        except (ValueError, TypeError, UserError) as error:
            raise UserError(f"{where}: not a chart question ({error})") from error
        if item.id in found:
            raise UserError(f"{where}: a second item {item.id!r}")
        found[item.id] = item
    return list(found.values())
