"""`Scenes`: the worlds that an environment can set up when there is no task to name one.

A task says which world it is about. Someone who calls tools without a task, such as a client of
the MCP server, chooses one by name in each call.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass

from zephyrus.errors import UserError

_FEW = 12
"""So many names are all said."""


@dataclass(frozen=True)
class Scenes:
    """The choice of worlds of one environment.

    Attributes:
        word: What one of them is called, a noun such as "forecast"; also its key in `Task.world`.
        names: Their names; the first is the default.
        types: The world types of which the choice makes a difference: a tool that is given none
            of them works the same way in all.
        introduction: Sentences for someone who knows nothing: what there is, and what to mind.
        describe: One line about a world, by its name.
    """

    word: str
    names: tuple[str, ...]
    types: frozenset[type]
    introduction: str
    describe: Callable[[str], str]

    def check(self, name: str) -> str:
        """The name, if there is such a world.

        Raises:
            UserError: If not; the message suggests similar names.
        """
        if name in self.names:
            return name
        near = difflib.get_close_matches(name, self.names, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(near)}?" if near else f"{self.span()}."
        raise UserError(f"there is no {self.word} {name[:80]!r}; {hint}")

    def span(self) -> str:
        """The names in a few words: all of them, or the first and the last of many."""
        if len(self.names) == 1:
            return f"the only one is {self.names[0]}"
        if len(self.names) <= _FEW:
            return f"there are {', '.join(self.names)}"
        return f"there are {len(self.names)}, {self.names[0]} to {self.names[-1]}"
