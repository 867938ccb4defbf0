"""Ensemble members: their names and order."""

from collections.abc import Iterable

CONTROL = "control"

STATISTICS = frozenset(
    {"mean", "avg", "average", "median", "spread", "std", "stddev", "sd", "ensmean", "ens_mean",
     "ensemble_mean", "min", "max"}
)  # fmt: skip
"""Names that sources give to what is computed from all members."""

NAMES = frozenset(
    {"number", "realization", "realisation", "ensemble_member", "member", "members", "ensemble",
     "ens", "sample", "perturbation", "ensemble_number", "mem", "realization_index"}
)  # fmt: skip
"""What sources call the dimension of members (lower case, without trailing digits)."""


def is_member(name: str, standard_name: str) -> bool:
    """Say whether a coordinate counts members."""
    return standard_name == "realization" or name.lower().rstrip("0123456789") in NAMES


def member_name(value: object) -> str:
    """Return the name of a member from its coordinate value: 3, 3.0, "gec00", b"p01"."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, str):
        return value.strip()
    number = float(str(value))
    return str(int(number)) if number.is_integer() else str(number)


def ordered(names: Iterable[str]) -> tuple[str, ...]:
    """Put the control first, then numbers by value, then other names by letter."""
    return tuple(sorted(set(names), key=_place))


def _place(name: str) -> tuple[int, int, str]:
    if name == CONTROL:
        return 0, 0, ""
    return (1, int(name), "") if name.isdecimal() else (2, 0, name)
