"""Other names of the shipped features: "USA", "Persian Gulf / Arabian Gulf", old spellings, codes."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

Aliases = Mapping[str, Mapping[str, Sequence[str]]]
"""Other names, as kind → name → its aliases."""

FEATURES_FILE = Path(__file__).with_name("data") / "features.parquet"
ALIASES_FILE = Path(__file__).with_name("data") / "aliases.json"


@cache
def shipped_aliases() -> Aliases:
    """Read the aliases that were built along with the shipped features."""
    aliases: Aliases = json.loads(ALIASES_FILE.read_text(encoding="utf-8"))
    return aliases
