"""The tables beside this file: names, aliases and hand-drawn outlines, which the build follows."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from zephyrus_geodata.names import lookup_key

HERE = Path(__file__).parent


@cache
def table(name: str) -> Any:
    """Read one of the YAML tables."""
    return yaml.safe_load((HERE / f"{name}.yaml").read_text(encoding="utf-8"))


def split(entry: str) -> tuple[str, list[str]]:
    """Take "Name | alias | alias" apart."""
    name, *aliases = (part.strip() for part in entry.split("|"))
    return name, aliases


@dataclass
class AliasTable:
    """Other names of features, as kind → name → aliases."""

    names: dict[str, dict[str, list[str]]] = field(default_factory=dict)

    def add(self, kind: str, name: str, *aliases: str) -> None:
        """Add other names of a feature, each once."""
        if aliases:
            known = self.names.setdefault(kind, {}).setdefault(name, [])
            known.extend(alias for alias in aliases if alias not in known and alias != name)

    def add_all(self, kind: str, aliases: dict[str, list[str]]) -> None:
        """Add the other names of several features of a kind."""
        for name, others in aliases.items():
            self.add(kind, name, *others)

    def leave_out(self, taken: Iterable[tuple[str, str]]) -> None:
        """Leave out the aliases that are the name of a feature of the kind: they lead there.

        Args:
            taken: Kinds and names, the latter as they are looked up.
        """
        names = set(taken)
        for kind, known in self.names.items():
            for aliases in known.values():
                aliases[:] = [a for a in aliases if (kind, lookup_key(a)) not in names]
            self.names[kind] = {name: aliases for name, aliases in known.items() if aliases}
