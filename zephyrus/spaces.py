"""A gymnasium space of strings: any Unicode text, as language models write it."""

from __future__ import annotations

import string
from typing import Any

from gymnasium import spaces


class Unicode(spaces.Space[str]):
    """Any string of at most ``max_length`` characters.

    gymnasium's own ``Text`` rejects characters outside a given set ("°", "é"). Custom spaces
    don't fit shared memory: use ``vector_kwargs={"shared_memory": False}`` with async vectors.
    """

    def __init__(self, max_length: int = 1_000_000, seed: int | None = None) -> None:
        self.max_length = max_length
        super().__init__(dtype=str, seed=seed)

    def contains(self, x: Any) -> bool:
        """Whether ``x`` is a string that is short enough."""
        return isinstance(x, str) and len(x) <= self.max_length

    def sample(self, mask: Any | None = None, probability: Any | None = None) -> str:
        """A few random letters."""
        length = int(self.np_random.integers(1, min(40, self.max_length) + 1))
        return "".join(self.np_random.choice(list(string.ascii_letters), length))

    @property
    def is_np_flattenable(self) -> bool:
        """Strings don't flatten into a Box."""
        return False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unicode) and other.max_length == self.max_length

    def __hash__(self) -> int:
        return hash((Unicode, self.max_length))

    def __repr__(self) -> str:
        return f"Unicode({self.max_length})"
