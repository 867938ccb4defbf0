"""The processes that train together, as ``accelerate launch`` starts them; usually there is one.

Each samples and evaluates its share; what all must agree on is gathered, and the first process
writes what the run keeps. Processes on several machines need one file system.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")

OUTAGE = timedelta(days=7)
"""How long a process waits for the others: one of them may be pausing for an endpoint."""


@dataclass(frozen=True)
class Ranks:
    """Which of the processes this is.

    Attributes:
        rank: 0 is the one that writes.
        world: How many there are.
    """

    rank: int = 0
    world: int = 1

    @classmethod
    def here(cls) -> Ranks:
        """What the launcher says; joins the others if there are any."""
        world = int(os.environ.get("WORLD_SIZE", "1"))
        if world == 1:
            return cls()
        from accelerate import PartialState

        # The first to join sets how long is waited, so this comes before TRL does it.
        state = PartialState(cpu=_on_cpu(), timeout=OUTAGE)
        # Else a thread of gloo's may still run when the process ends, which then aborts.
        atexit.register(state.destroy_process_group)
        return cls(int(state.process_index), int(state.num_processes))

    @property
    def main(self) -> bool:
        """Whether this process writes what the run keeps."""
        return self.rank == 0

    def share(self, items: Sequence[T]) -> list[T]:
        """This process' part of some work."""
        return list(items[self.rank :: self.world])

    def folder(self, folder: Path) -> Path:
        """Where this process keeps its part of what belongs to a folder."""
        return folder if self.main else folder.with_name(f"{folder.name}-rank{self.rank}")

    def gather(self, values: Sequence[T]) -> list[T]:
        """The values of all processes, in their order; all must call it."""
        if self.world == 1:
            return list(values)
        from accelerate.utils import gather_object

        gathered: list[Any] = gather_object(list(values))
        return gathered

    def wait(self) -> None:
        """Wait until all are here."""
        self.gather([self.rank])


def _on_cpu() -> bool:
    import torch

    return not torch.cuda.is_available()
