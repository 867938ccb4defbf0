"""Seeds made from what a rollout is, the same in every process."""

from __future__ import annotations

import hashlib


def stable_seed(task: str, *numbers: int, bits: int) -> int:
    """A seed that depends on these alone, not on Python's hash seed.

    Args:
        task: The task's id.
        *numbers: The run's seed, the repeat, and, where it matters, the turn.
        bits: Its length; a multiple of 8.
    """
    text = "|".join([*map(str, numbers), task]).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=bits // 8).digest(), "big")
