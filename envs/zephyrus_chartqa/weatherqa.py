"""WeatherQA's files: read as items, and items written as such files with their charts.

The layout is that of the published data set (its card and the paper's evaluation code):

- ``all_split.json``, a list of ``{id, image_path, category, answer, split, en: {question,
  choices}}`` with the choices by letter, perhaps ``cn`` and ``metadata`` beside them;
- ``train/split/train_CATEGORY.json``, ``val.json`` and ``test.json`` for training: ``problem``,
  ``answer``, ``images``;
- the images in ``image/CATEGORY/``.

How question and choices stand in ``problem`` is not described anywhere: what is read is a line a
choice ("A. …", "(A) …", "A: …") after the question, and that is what is written.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from zephyrus.errors import UserError
from zephyrus.jsonlines import write_whole
from zephyrus.task import SPLITS
from zephyrus_chartqa.item import LETTERS, Item
from zephyrus_chartqa.modality import MODALITIES

CATEGORIES = tuple(MODALITIES)
"""WeatherQA's seven tasks."""

WHOLE = "all_split.json"
"""The file that has all items, in a folder of the data set."""

IMAGES = "image"
"""The folder of the images."""

_SPLITS = {**{name: name for name in SPLITS}, "val": "validation", "dev": "validation"}
_CHOICE = re.compile(r"^\s*\(?([A-J])\)?\s*[.:)、．：]?\s+(\S.*?)\s*$")
_IMAGE_TAG = re.compile(r"<image>\s*")
_LABEL = re.compile(r"^\s*(?:question|problem)\s*:\s*", re.IGNORECASE)
_HEADING = re.compile(r"^\s*(?:choices|options)\s*:?\s*$", re.IGNORECASE)


def load_weatherqa(
    path: Path | str,
    *,
    language: str = "en",
    images: bool = True,
    split: str | None = None,
) -> list[Item]:
    """Read WeatherQA's items, from its folder or one of its files.

    Args:
        path: The data set's folder (its `WHOLE` is read), or a JSON or JSON-lines file of it.
        language: Whose question and choices: "en" or "cn".
        images: Whether every image must be there.
        split: The split of items that name none; by default the file's name says it.

    Returns:
        The items in the order of the file; image paths are relative to the file's folder.

    Raises:
        UserError: If there is no such file, or an item is broken: it is named by its place in the
            file and its id.
    """
    file = Path(path)
    if file.is_dir():
        file = file / WHOLE
    rows = read_rows(file)
    found: list[Item] = []
    seen: dict[str, int] = {}
    for place, row in enumerate(rows, 1):
        where = f"{file}, item {place}{_id_of(row)}"
        if not isinstance(row, Mapping):
            raise UserError(f"{where}: not a JSON object")
        try:
            fields = _training(row, file, place) if "problem" in row else _published(row, language)
            item = Item(
                **{**fields, "split": _split(row.get("split"), split, file)},
                provenance={"source": "WeatherQA", **_metadata(row)},
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise UserError(f"{where}: {_said(error)}") from error
        except UserError as error:
            raise UserError(f"{where}: {error}") from error
        if item.id in seen:
            raise UserError(f"{where}: the item {seen[item.id]} has the same id")
        seen[item.id] = place
        found.append(_located(item, file, where, images=images))
    if not found:
        raise UserError(f"{file} holds no items")
    return found


def read_rows(file: Path) -> list[Any]:
    """The rows of a JSON array, of an object of them by id, or of JSON lines.

    Raises:
        UserError: If the file can't be read; the first wrong line is named.
    """
    if not file.is_file():
        raise UserError(f"there is no file {file}")
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{file} can't be read: {error}") from error
    if file.suffix == ".jsonl":
        rows = []
        for number, line in enumerate(text.split("\n"), 1):
            if line.strip():
                try:
                    rows.append(json.loads(line))
                except ValueError as error:
                    raise UserError(f"{file}, line {number}: not JSON ({error})") from error
        return rows
    try:
        data = json.loads(text)
    except ValueError as error:
        raise UserError(f"{file}: not JSON ({error})") from error
    if isinstance(data, list):
        return data
    if isinstance(data, dict):
        return [{"id": key, **row} if isinstance(row, dict) else row for key, row in data.items()]
    raise UserError(f"{file}: neither a list of items nor an object of them")


def export_weatherqa(
    items: Sequence[Item], charts: Mapping[str, bytes], folder: Path | str
) -> list[Path]:
    """Write items as WeatherQA's files, so that its users' scripts read them.

    Ids become whole numbers, as there; ours stand in ``metadata.name``.

    Args:
        items: The items; their categories are `CATEGORIES`.
        charts: By the item's id, the PNG of its chart; items may share one.
        folder: Where to; made if it is not there.

    Returns:
        The files written, images last.

    Raises:
        UserError: If an item has no chart.
    """
    root = Path(folder)
    names: dict[bytes, str] = {}
    rows: list[dict[str, Any]] = []
    for number, item in enumerate(items, 1):
        if item.id not in charts:
            raise UserError(f"the item {item.id!r} has no chart")
        image = names.setdefault(charts[item.id], f"{item.category}/{_image_name(item)}.png")
        rows.append(
            {
                "id": number,
                "split": item.split,
                "category": item.category,
                "image_path": image,
                "answer": item.answer,
                "metadata": _told(item),
                "en": {"question": item.question, "choices": item.lettered},
            }
        )
    files = {Path(WHOLE): rows}
    for split, name in (("validation", "val"), ("test", "test")):
        files[Path(f"{name}.json")] = [_problem(r) for r in rows if r["split"] == split]
    for category in dict.fromkeys(row["category"] for row in rows):
        chosen = [r for r in rows if (r["split"], r["category"]) == ("train", category)]
        files[Path("train", "split", f"train_{category}.json")] = [_problem(r) for r in chosen]
    written = []
    for file, content in files.items():
        written.append(root / file)
        write_whole(written[-1], json.dumps(content, ensure_ascii=False, indent=1).encode())
    for png, image in names.items():
        written.append(root / IMAGES / image)
        write_whole(written[-1], png)
    return written


def _published(row: Mapping[str, Any], language: str) -> dict[str, Any]:
    """The fields of an item of `WHOLE`."""
    if language not in row:
        there = [name for name in ("en", "cn") if name in row]
        raise ValueError(f"it has no {language!r}, only {', '.join(there) or 'neither en nor cn'}")
    asked = row[language]
    choices = asked["choices"]
    if isinstance(choices, Mapping):
        if tuple(choices) != tuple(LETTERS[: len(choices)]):
            raise ValueError(f"its choices are lettered {', '.join(choices)}, not A, B, …")
        choices = choices.values()
    return {
        "id": str(row["id"]),
        "image_path": str(row["image_path"]),
        "category": str(row["category"]),
        "answer": str(asked.get("answer", row.get("answer", ""))).strip(),
        "question": _text(asked["question"], "question"),
        "choices": tuple(_text(choice, "choice") for choice in choices),
    }


def _training(row: Mapping[str, Any], file: Path, place: int) -> dict[str, Any]:
    """The fields of an item of a training file: ``problem``, ``answer``, ``images``."""
    images = row.get("images") or ()
    image = images if isinstance(images, str) else str(images[0]) if images else ""
    question, choices = split_problem(_text(row["problem"], "problem"))
    category = str(row.get("category") or "")
    if not category:
        folders, name = Path(image).parts, file.stem
        known = [c for c in CATEGORIES if c in folders or name == c or name.endswith(f"_{c}")]
        if not known:
            raise ValueError("neither its image's folder nor the file's name says its category")
        category = known[0]
    return {
        "id": str(row.get("id", f"{file.stem}-{place}")),
        "image_path": image,
        "category": category,
        "answer": str(row["answer"]).strip(),
        "question": question,
        "choices": tuple(choices),
    }


def split_problem(problem: str) -> tuple[str, list[str]]:
    """Take a training file's ``problem`` apart: the question and its choices.

    Raises:
        ValueError: If there are no choices lettered A, B, … in a line each.
    """
    question: list[str] = []
    choices: list[str] = []
    for line in _IMAGE_TAG.sub("", problem).strip().splitlines():
        found = _CHOICE.match(line)
        if found and found[1] == LETTERS[len(choices)]:
            choices.append(found[2])
        elif not choices and not _HEADING.match(line):
            question.append(line)
    if len(choices) < 2 or not any(line.strip() for line in question):
        raise ValueError("its problem is not a question followed by a line for each choice")
    return _LABEL.sub("", "\n".join(question)).strip(), choices


def _problem(row: Mapping[str, Any]) -> dict[str, Any]:
    choices = "\n".join(f"{letter}. {text}" for letter, text in row["en"]["choices"].items())
    return {
        "problem": f"<image>Question: {row['en']['question']}\nChoices:\n{choices}",
        "answer": row["answer"],
        "images": [f"{IMAGES}/{row['image_path']}"],
    }


def _split(named: object, given: str | None, file: Path) -> str:
    """The split that an item names, or the caller, or the file's name."""
    name = str(named or given or "")
    if not name:
        words = re.split(r"[^a-z]+", file.stem.lower())
        name = next((word for word in words if word in _SPLITS), "")
        if not name:
            raise ValueError(
                "it names no split and neither does the file's name: give one (split=…)"
            )
    if name not in _SPLITS:
        raise ValueError(f"no split {name!r}; the splits are {', '.join(SPLITS)}")
    return _SPLITS[name]


def _located(item: Item, file: Path, where: str, *, images: bool) -> Item:
    """The item with the path of its image from the file's folder."""
    from dataclasses import replace

    if not item.image_path:
        raise UserError(f"{where}: it names no image")
    for folder in (file.parent, *file.parent.parents[:2]):
        for candidate in (folder / IMAGES / item.image_path, folder / item.image_path):
            if candidate.is_file():
                return replace(
                    item, image_path=Path(os.path.relpath(candidate, file.parent)).as_posix()
                )
    if images:
        raise UserError(f"{where}: there is no image {item.image_path}, here or in {IMAGES}/")
    return item


def _image_name(item: Item) -> str:
    source = item.source
    if source is None:
        return item.id
    hours = "-".join(f"{hour:03d}" for hour in source.lead_hours)
    return re.sub(r"[^A-Za-z0-9]+", "_", f"{source.region} {source.forecast} {hours}").strip("_")


def _told(item: Item) -> dict[str, Any]:
    about = item.provenance
    return {
        "name": item.id,
        "date": about.get("valid", ""),
        "location": about.get("area", ""),
        "weather_object": about.get("element", ""),
        "source": "" if item.source is None else item.source.dataset,
    }


def _metadata(row: Mapping[str, Any]) -> dict[str, Any]:
    told = row.get("metadata")
    return {"metadata": dict(told)} if isinstance(told, Mapping) else {}


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"its {what} is not a text")
    return value.strip()


def _id_of(row: Any) -> str:
    return f" (id {row['id']})" if isinstance(row, Mapping) and "id" in row else ""


def _said(error: Exception) -> str:
    return f"it has no {error}" if isinstance(error, KeyError) else str(error)


def categories(items: Iterable[Item]) -> list[str]:
    """The categories of items, `CATEGORIES` first in their order."""
    there = {item.category for item in items}
    return [*(name for name in CATEGORIES if name in there), *sorted(there - set(CATEGORIES))]
