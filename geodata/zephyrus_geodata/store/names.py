"""What a dataset may be called, where datasets lie, and what a forecast of one is called."""

import os
import unicodedata
from pathlib import Path

import numpy as np
import platformdirs

from zephyrus_geodata.errors import StoreError

DATA_VARIABLE = "ZEPHYRUS_DATA"
"""Environment variable that names a folder of datasets."""

_LONGEST = 100  # bytes; with what is put around it, a file name may have 255
_FORBIDDEN = '/\\:*?"<>|'  # on some system or other; "/" also divides dataset and forecast
_RESERVED = {
    "con",
    "prn",
    "aux",
    "nul",
    *(f"{port}{n}" for port in ("com", "lpt") for n in "123456789"),
}


def home() -> Path:
    """Return where new datasets go: $ZEPHYRUS_DATA, or the user's own data folder."""
    chosen = os.environ.get(DATA_VARIABLE)
    return Path(chosen).expanduser() if chosen else user_home()


def user_home() -> Path:
    """Return the user's own data folder for datasets; it need not exist."""
    return Path(platformdirs.user_data_dir("zephyrus", appauthor=False)) / "datasets"


def checked_name(name: str) -> str:
    """Return a dataset's name as it is written on the disk (Unicode in composed form).

    Raises:
        StoreError: if no dataset may be called so; the message says why.
    """
    name = unicodedata.normalize("NFC", name)
    why = _fault(name)
    if why:
        raise StoreError(f"A dataset can't be called {name!r}: {why}.")
    return name


def _fault(name: str) -> str:
    if not name.strip():
        return "the name is empty"
    if len(name.encode("utf-8", "surrogatepass")) > _LONGEST:
        return f"the name is longer than {_LONGEST} bytes"
    if name[0] in ".-~" or name != name.strip() or name.endswith("."):
        return "a name starts with a letter or digit and ends without a blank or full stop"
    found = [c for c in name if c in _FORBIDDEN]
    if found:
        return f"{found[0]!r} can't be part of a name; use letters, digits, - and _"
    if not name.isprintable():
        return "it has characters that can't be seen"
    if name.split(".")[0].lower() in _RESERVED:
        return "some systems keep that name for themselves"
    return ""


def forecast_name(init_time: np.datetime64) -> str:
    """Name a forecast by its initial date, and hour unless it is midnight: 2020-01-01T12."""
    moment = init_time.astype("datetime64[m]")
    hour = moment.astype("datetime64[h]")
    if hour != moment:
        return str(moment).replace(":", "")
    return str(hour).removesuffix("T00")
