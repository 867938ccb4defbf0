"""``dataset.json``: what a stored dataset consists of. To replace this file is to commit."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from zephyrus_geodata.errors import UnsuitableData

FILE = "dataset.json"
PARTS = "parts"
VERSION = 1
"""Raise this when a reader of today can't read what will be written."""


@dataclass(frozen=True)
class Part:
    """What one ``add`` brought: a set of forecasts with the same axes, or a series.

    Attributes:
        id: name of its folder below ``parts``.
        kind: forecast, or analyses, climatology, stations (a series).
        forecasts: name -> initial time (ISO, UTC), of a forecast part.
        lead_hours: of a forecast part.
        steps: length of the time axis of a series; its arrays lie in the part.
        members: names, none if deterministic.
        variables: names of the variables.
        source: where it comes from: where, format, added, select, notes, attrs.
    """

    id: str
    kind: str
    forecasts: Mapping[str, str] = field(default_factory=dict)
    lead_hours: tuple[int, ...] = ()
    steps: int = 0
    members: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    source: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "id": self.id,
            "kind": self.kind,
            "forecasts": dict(self.forecasts),
            "lead_hours": list(self.lead_hours),
            "steps": self.steps,
            "members": list(self.members),
            "variables": list(self.variables),
            "source": dict(self.source),
        }

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> "Part":
        """The inverse of ``to_dict``."""
        part = str(value["id"])
        if PurePosixPath(part).name != part or part == "..":
            raise ValueError(f"{part!r} is no folder of the dataset")
        return cls(
            part,
            str(value["kind"]),
            {str(k): str(v) for k, v in value["forecasts"].items()},
            tuple(int(hour) for hour in value["lead_hours"]),
            int(value["steps"]),
            tuple(str(name) for name in value["members"]),
            tuple(str(name) for name in value["variables"]),
            dict(value["source"]),
        )


@dataclass(frozen=True)
class Manifest:
    """A stored dataset.

    Attributes:
        label: short origin, shown wherever values are.
        generation: how often it was changed.
        grid: id of the part whose grid is that of the dataset.
        parts: in the order in which they were added.
    """

    label: str
    generation: int
    grid: str
    parts: tuple[Part, ...]

    def of_kind(self, kind: str) -> tuple[Part, ...]:
        """Return the parts of a kind."""
        return tuple(part for part in self.parts if part.kind == kind)

    def with_part(self, part: Part) -> "Manifest":
        """Return the next generation, with a part more."""
        return replace(self, generation=self.generation + 1, parts=(*self.parts, part))

    def write(self, folder: Path) -> None:
        """Put it into force, whole or not at all, and see it onto the disk."""
        value = {
            "zephyrus_dataset": VERSION,
            "label": self.label,
            "generation": self.generation,
            "grid": self.grid,
            "parts": [part.to_dict() for part in self.parts],
        }
        write_json(folder / FILE, value)

    @classmethod
    def read(cls, folder: Path) -> "Manifest | None":
        """Read the manifest of a folder; None if it has none.

        Raises:
            UnsuitableData: if it is damaged, or of a later version.
        """
        path = folder / FILE
        try:
            value = json.loads(path.read_bytes())
            version = value["zephyrus_dataset"]
            if isinstance(version, int) and version > VERSION:
                raise UnsuitableData(
                    f"{path} was written by a later zephyrus (layout {version}): update zephyrus."
                )
            return cls(
                str(value["label"]),
                int(value["generation"]),
                str(value["grid"]),
                tuple(Part.from_dict(part) for part in value["parts"]),
            )
        except (FileNotFoundError, NotADirectoryError):
            return None
        except UnsuitableData:
            raise
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise UnsuitableData(
                f"{path} is damaged ({error}): remove the dataset and add it again."
            ) from error


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file, whole or not at all, and see it onto the disk."""
    data = json.dumps(value, indent=1, ensure_ascii=False).encode("utf-8", "surrogateescape")
    part = path.with_name(path.name + ".part")
    with part.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """See the names in a folder onto the disk (not needed, nor possible, on Windows)."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
