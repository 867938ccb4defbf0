"""`MemberField`: what a map shows of a forecast's members at one time: mean, spread, one, a share."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata import Forecast, Variable, ensemble
from zephyrus_tools import regions, text
from zephyrus_tools.members import Threshold
from zephyrus_tools.regions import Region

_CHUNK = 4_000_000  # numbers of all members held at once in float64, 32 MB


@dataclass(frozen=True)
class MemberField:
    """A variable of a forecast, or what is taken over its members.

    Attributes:
        forecast: Of an ensemble its mean field is meant, unless something else is named.
        variable: What.
        member: One member, by name.
        over: What is taken over the members, if it isn't the mean.
        threshold: Of a probability.
    """

    forecast: Forecast
    variable: Variable
    member: str | None = None
    over: Literal["spread", "probability"] | None = None
    threshold: Threshold | None = None

    @property
    def shown(self) -> Variable:
        """The variable of the field's values: a spread isn't offset, and a share is in %."""
        if self.over == "spread":
            return replace(self.variable, offset=0.0)
        if self.over == "probability":
            return replace(self.variable, units="1", display_units="%", scale=100.0, offset=0.0)
        return self.variable

    @property
    def subject(self) -> str:
        """The variable and where its values come from."""
        label, members = self.forecast.label, len(self.forecast.members)
        taken = self._taken
        if taken:
            return f"{text.what(self.variable, label)}, {taken}"
        return text.what(self.variable, label, members)

    @property
    def title(self) -> str:
        """The same, short, with the unit."""
        name = f"{self.variable.long_name[0].upper()}{self.variable.long_name[1:]}"
        if self.threshold is not None:
            share = f"% of {len(self.forecast.members)} members"
            return f"{name} {self.threshold.words(self.variable)} ({share})"
        title = f"{name} ({self.shown.display_units})"
        return f"{title}, {self._taken}" if self._taken else title

    @property
    def remark(self) -> str:
        """What the title leaves out."""
        members = len(self.forecast.members)
        return f"mean of {members} members" if members and not self._taken else ""

    @property
    def _taken(self) -> str:
        members = f"{len(self.forecast.members)} members"
        if self.member is not None:
            return f"member {self.member}"
        if self.threshold is not None:
            return f"probability of being {self.threshold.words(self.variable)} ({members})"
        return f"spread of {members}" if self.over == "spread" else ""

    def field(self, index: int, region: Region) -> NDArray[np.float32]:
        """Return the field at a lead time in the units of ``shown`` before display.

        Args:
            index: Of the lead time.
            region: Where it is needed: what is taken over the members is NaN elsewhere.

        Returns:
            The shape of the grid.
        """
        name, grid = self.variable.name, self.forecast.grid
        if self.over is None:
            cells = self.forecast.cells(name, self.member)
            return cells[:, index].reshape(grid.shape)
        needed = regions.near(grid, region)
        found = np.full(grid.size, np.nan, dtype=np.float32)
        members = [self.forecast.cells(name, i) for i in range(len(self.forecast.members))]
        step = max(1, _CHUNK // len(members))
        for start in range(0, needed.size, step):
            some = needed[start : start + step]
            values = np.stack([member[some, index] for member in members]).astype(np.float64)
            if self.threshold is not None:
                found[some] = self.threshold.share(values, self.variable, 0)
            else:
                found[some] = ensemble.spread(values, 0)
        return found.reshape(grid.shape)
