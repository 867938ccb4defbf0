"""Whether numba is used: importing it takes longer than many a whole job without it."""

import os
import sys
from importlib.util import find_spec
from types import ModuleType

SWITCH = "ZEPHYRUS_NUMBA"
"""Environment variable; 0 turns numba off."""

WORTH = 20_000_000
"""Numbers that a process takes from fields until the kernels are loaded: about 0.2 s of NumPy."""

_kernels: ModuleType | None = None
_off = False
_taken = 0


def kernels(numbers: int) -> ModuleType | None:
    """Return the module ``kernels``, or None where a job is for NumPy.

    It is used where numba can be, and once it is worth it: if it is imported already, or if the
    process has ``WORTH`` numbers behind it, this job's included.

    Args:
        numbers: how many numbers the job takes from fields.
    """
    global _taken
    if _kernels is not None or _off:
        return _kernels
    _taken += numbers  # threads may lose a count: it is a rough one
    return _load() if _taken >= WORTH or "numba" in sys.modules else None


def _load() -> ModuleType | None:
    global _kernels, _off
    if os.environ.get(SWITCH) == "0" or find_spec("numba") is None:
        _off = True
        return None
    try:
        from zephyrus_geodata import kernels as module
    except (ImportError, SystemError):  # numba refuses versions of NumPy and Python
        _off = True
        return None
    _kernels = module
    return module
