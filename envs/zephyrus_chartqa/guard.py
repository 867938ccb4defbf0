"""What a bank of chart questions lets in: only while no policy that sees no chart gains by it."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from zephyrus_chartqa.blind import CHANCE
from zephyrus_chartqa.questions import Draft

_AHEAD = 1.5  # questions that a blind strategy may be ahead of chance, in a template of a split
_RATE_AHEAD = 1.5  # the same for a choice: how often it is right, of the times that it is offered


_ROUNDING = 1e-9


@dataclass
class Guard:
    """Lets a draft of one template and split in.

    Attributes:
        count: How many have been let in.
    """

    count: int = 0
    _scores: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    _applies: Counter[str] = field(default_factory=Counter)
    _offered: Counter[str] = field(default_factory=Counter)
    _right: Counter[str] = field(default_factory=Counter)

    def admits(self, draft: Draft) -> bool:
        """Whether a draft may come in now; one that may not can still do so later."""
        for name, score in draft.scores.items():
            most = CHANCE * (self._applies[name] + 1) + _AHEAD
            if score > 0.0 and self._scores[name] + score > most + _ROUNDING:
                return False
        most = CHANCE * (self._offered[draft.right] + 1) + _RATE_AHEAD
        return self._right[draft.right] + 1 <= most

    def add(self, draft: Draft) -> None:
        """Let a draft in."""
        self.count += 1
        for name, score in draft.scores.items():
            self._scores[name] += score
            self._applies[name] += 1
        self._offered.update((draft.right, *draft.wrong))
        self._right[draft.right] += 1
