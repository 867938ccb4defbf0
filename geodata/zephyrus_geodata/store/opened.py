"""A stored dataset, opened: only the manifest and the grid's axes are read."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata.cells import AnyGrid
from zephyrus_geodata.errors import UnknownVariable, UnsuitableData
from zephyrus_geodata.forecast import Forecast
from zephyrus_geodata.store import arrays, cube, fill, grids
from zephyrus_geodata.store.manifest import PARTS, Manifest, Part


class StoredDataset:
    """What the manifest of a folder says, with functions that open its forecasts.

    Attributes:
        folder: where it lies.
        name: its name.
        manifest: what it consists of.
    """

    def __init__(self, folder: Path, name: str, manifest: Manifest) -> None:
        self.folder = folder
        self.name = name
        self.manifest = manifest

    @cached_property
    def grid(self) -> AnyGrid:
        """The cells of all forecasts."""
        return grids.load(self._part(self.manifest.grid) / "grid")

    @cached_property
    def forecasts(self) -> dict[str, Callable[[], Forecast]]:
        """Functions that open a forecast, by its name."""
        return {
            name: partial(self._forecast, part, name)
            for part in self.manifest.of_kind("forecast")
            for name in part.forecasts
        }

    @property
    def series(self) -> tuple["Series", ...]:
        """The time series that were added: analyses, climatologies, stations."""
        return tuple(
            Series(part, self._part(part.id), self.grid)
            for part in self.manifest.parts
            if part.kind != "forecast"
        )

    def _part(self, part: str) -> Path:
        return self.folder / PARTS / part

    def _forecast(self, part: Part, name: str) -> Forecast:
        folder = self._part(part.id) / "forecasts" / name
        paths = {variable: folder / f"{variable}.npy" for variable in part.variables}
        means = {}
        if part.members:
            means = {key: partial(arrays.read, fill.mean_path(p)) for key, p in paths.items()}
        return Forecast(
            self.name,
            name,
            np.datetime64(part.forecasts[name], "s"),
            np.array(part.lead_hours, dtype=np.int64),
            self.grid,
            {variable: partial(arrays.read, path) for variable, path in paths.items()},
            label=self.manifest.label,
            provenance=provenance(part),
            members=part.members,
            means=means,
            cubes=partial(cube.read, folder),
        )


@dataclass(frozen=True, eq=False)
class Series:
    """Fields over time that are not a forecast: analyses, a climatology's days, stations.

    Attributes:
        part: its place in the manifest.
        folder: where it lies.
        grid: the cells.
    """

    part: Part
    folder: Path
    grid: AnyGrid

    @property
    def kind(self) -> str:
        """Analyses, climatology or stations."""
        return self.part.kind

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of the variables."""
        return self.part.variables

    def axis(self, name: str) -> NDArray[Any]:
        """Return ``times`` (datetime64[s], UTC), or the ``days`` or ``hours`` of a climatology."""
        values = arrays.read(self.folder / "series" / f"axis-{name}.npy")
        return values.view("datetime64[s]") if name == "times" else values

    def values(self, variable: str) -> NDArray[np.float32]:
        """Return a variable as (step, cell), or (step, member, cell); SI units, read-only.

        Raises:
            UnknownVariable: if it is not there.
        """
        if variable not in self.part.variables:
            raise UnknownVariable(
                f"The {self.kind} have no variable {variable!r}; they have "
                f"{', '.join(self.part.variables)}."
            )
        return arrays.read(self.folder / "series" / f"{variable}.npy")


def provenance(part: Part) -> dict[str, Any]:
    """What is told of a part's origin: ``source``, and what the source says of itself."""
    source = part.source
    notes = [str(note) for note in source.get("notes", ())]
    return {
        **{str(key): value for key, value in dict(source.get("attrs", {})).items()},
        "source": f"{source.get('where', '')} ({source.get('format', '')})",
        **({"notes": "; ".join(notes)} if notes else {}),
    }


def open_stored(folder: Path, name: str | None = None) -> StoredDataset | None:
    """Open the folder of a stored dataset; None if it is none.

    Raises:
        UnsuitableData: if its manifest is damaged.
    """
    manifest = Manifest.read(folder)
    if manifest is None:
        return None
    if not manifest.parts:
        raise UnsuitableData(f"{folder} holds nothing: remove the dataset and add it again.")
    return StoredDataset(folder, name or folder.resolve().name, manifest)
