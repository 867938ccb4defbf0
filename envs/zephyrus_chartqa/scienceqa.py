"""ScienceQA's questions on weather and climate, the out-of-domain test of Weather-R1.

The paper curates 324 of them and doesn't say how; the card of its data set says: from ScienceQA's
category "Weather and climate", each with an image. That is the rule here (`is_about_weather`); it
is ours in what the card leaves open: all splits of ScienceQA are taken, and the category's name
is compared without case. Whether it finds just those 324 was not checked against the files.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from zephyrus.errors import UserError
from zephyrus_chartqa.item import LETTERS, Item
from zephyrus_chartqa.weatherqa import load_weatherqa, read_rows

CATEGORY = "Weather and climate"
"""ScienceQA's own name of the category; it belongs to its topic "earth-science"."""

PROBLEMS = "problems.json"
"""ScienceQA's file of all questions."""

CURATED = "ScienceQA_dataset.json"
"""Weather-R1's file of its 324 questions, in WeatherQA's form."""

Chooser = Callable[[Mapping[str, Any]], bool]


def is_about_weather(problem: Mapping[str, Any]) -> bool:
    """Whether a problem is taken: of the category "Weather and climate", and with an image."""
    category = str(problem.get("category") or "").strip().casefold()
    return category == CATEGORY.casefold() and bool(problem.get("image"))


def load_scienceqa(
    path: Path | str, *, choose: Chooser = is_about_weather, images: bool = True
) -> list[Item]:
    """Read the weather questions of ScienceQA, or Weather-R1's curated file of them.

    ScienceQA's ``problems.json`` has problems by id: ``question``, ``choices`` (a list),
    ``answer`` (its index), ``hint``, ``image`` (a file's name or null), ``topic``, ``category``,
    ``skill``, ``split`` and more; the images lie in ``images/SPLIT/ID/``.

    Args:
        path: A file of either kind, or the folder of one.
        choose: Which problems of ``problems.json`` are taken.
        images: Whether every image must be there.

    Returns:
        The items, all in the split "test", as nothing is trained on them; a hint follows the
        question as its context. Image paths are relative to the file's folder.

    Raises:
        UserError: If there is no such file, no problem is taken, or one is broken; it is named.
    """
    file = Path(path)
    if file.is_dir():
        names = (PROBLEMS, CURATED)
        file = next((file / name for name in names if (file / name).is_file()), file / PROBLEMS)
    rows = read_rows(file)
    if any(isinstance(row, Mapping) and "en" in row for row in rows):
        return load_weatherqa(file, images=images, split="test")
    found = [
        _item(row, file, images=images) for row in rows if isinstance(row, Mapping) and choose(row)
    ]
    if not found:
        raise UserError(
            f"none of the {len(rows)} problems in {file} is of the category {CATEGORY!r} and has "
            "an image"
        )
    return found


def _item(row: Mapping[str, Any], file: Path, *, images: bool) -> Item:
    where = f"{file}, problem {row.get('id', '?')}"
    try:
        choices = [str(choice) for choice in row["choices"]]
        answer = int(row["answer"])
        if not 0 <= answer < len(choices) <= len(LETTERS):
            raise ValueError(f"the answer {answer} is none of its {len(choices)} choices")
        question, hint = str(row["question"]).strip(), str(row.get("hint") or "").strip()
        name = f"{row['split']}/{row['id']}/{row['image']}"
        return Item(
            id=f"scienceqa-{row['id']}",
            image_path=_image(file, name, where, images=images),
            category=str(row["category"]),
            answer=LETTERS[answer],
            split="test",
            question=f"{question}\nContext: {hint}" if hint else question,
            choices=tuple(choices),
            provenance={
                "source": "ScienceQA",
                **{k: row.get(k) for k in ("split", "topic", "skill", "grade")},
            },
        )
    except KeyError as error:
        raise UserError(f"{where}: it has no {error}") from error
    except (TypeError, ValueError, UserError) as error:
        said = str(error)
        raise UserError(said if said.startswith(where) else f"{where}: {said}") from error


def _image(file: Path, name: str, where: str, *, images: bool) -> str:
    for folder in (file.parent, file.parent.parent):
        for candidate in (folder / "images" / name, folder / name):
            if candidate.is_file():
                return Path(os.path.relpath(candidate, file.parent)).as_posix()
    if images:
        raise UserError(f"{where}: there is no image images/{name}")
    return f"images/{name}"
