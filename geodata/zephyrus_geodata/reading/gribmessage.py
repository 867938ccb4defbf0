"""The messages of GRIB files: their keys, read with ecCodes, and where they lie."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata.errors import UnsuitableData

_LOCK = threading.Lock()  # multi-field support is a switch of the whole library

FIELD = (
    "shortName", "paramId", "name", "units", "cfName", "typeOfLevel", "stepType", "gridType",
    "md5GridSection", "discipline", "parameterCategory", "parameterNumber", "table2Version",
    "indicatorOfParameter", "class", "derivedForecast", "percentileValue", "probabilityType",
    "scaledValueOfLowerLimit", "scaledValueOfUpperLimit", "uvRelativeToGrid",
)  # fmt: skip
"""Keys that all messages of one cube share; they become the attributes GRIB_*."""

_TEXTS = {"stepType": str, "class": str}
_SECONDS = {0: 60, 1: 3600, 2: 86400, 10: 10800, 11: 21600, 12: 43200, 13: 1, 14: 900, 15: 1800}
_SUFFIX = {"s": 1, "m": 60, "h": 3600, "D": 86400}
_MEANS = (*range(113, 118), 123)
"""GRIB 1 time range indicators of means over many analyses or forecasts (of a month, say)."""

_UNSET = 2147483647
_MISSING = 3.4028234663852886e38


@dataclass(frozen=True)
class Message:
    """One field of a file: where it lies, and the keys that place it."""

    path: Path
    offset: int
    part: int  # of a message with several fields
    edition: int
    keys: tuple[Any, ...]  # of FIELD, then the layer
    member: str
    time: np.datetime64
    step: int  # seconds
    start: int  # seconds
    level: float
    origin: str = ""  # centre, process, version and stream


def scan_file(path: Path) -> Iterator[Message]:
    """Yield the messages of a file in order.

    Raises:
        UnsuitableData: if one is cut off, or there is none.
    """
    import eccodes

    counts: Counter[int] = Counter()
    number = 0
    with _LOCK, path.open("rb") as file:
        eccodes.codes_grib_multi_support_on()
        try:
            while True:
                number += 1
                try:
                    handle = eccodes.codes_grib_new_from_file(file)
                except eccodes.CodesInternalError as error:
                    raise UnsuitableData(
                        f"{path.name} is damaged or not complete: its message {number} can't be "
                        f"read ({reason(error)}); fetch it again."
                    ) from error
                if handle is None:
                    break
                try:
                    message = _read_keys(handle, path, counts)
                finally:
                    eccodes.codes_release(handle)
                if message is not None:
                    yield message
        finally:
            eccodes.codes_grib_multi_support_off()
    if number == 1:
        raise UnsuitableData(f"{path.name} holds no GRIB message.")


def reason(error: Exception) -> str:
    """Return what an error of ecCodes says, without its full stop."""
    return str(error).rstrip(".").lower() or type(error).__name__


def _read_keys(handle: int, path: Path, counts: Counter[int]) -> Message | None:
    import eccodes

    def get(key: str, kind: type | None = None, default: Any = None) -> Any:
        try:
            return eccodes.codes_get(handle, key, kind)
        except (eccodes.CodesInternalError, ValueError):
            return default

    offset = int(get("offset", float, 0))
    part = counts[offset]
    counts[offset] += 1
    time = _moment(get("dataDate", int), get("dataTime", int), get("second", int, 0))
    if time is None:
        raise UnsuitableData(f"{path.name}: message {sum(counts.values())} has no valid date.")
    start, step = _interval(get)
    top, bottom = get("topLevel", float), get("bottomLevel", float)
    layer = (top, bottom) if top != bottom else None
    edition = get("edition", int)
    return Message(
        path=path,
        offset=offset,
        part=part,
        edition=edition,
        keys=(*(_key(get, key) for key in FIELD), layer, _family(get)),
        member=_member(get),
        time=time,
        step=step,
        start=start,
        level=float(get("level", float, 0.0)),
        origin=" ".join(
            f"{key} {get(key, str)}"
            for key in ("centre", "generatingProcessIdentifier", "expver", "stream")
            if get(key, str) is not None
        ),
    )


def _key(get: Callable[..., Any], key: str) -> Any:
    value = get(key, _TEXTS.get(key))
    if key == "stepType" and value == "instant" and get("timeRangeIndicator", int) in _MEANS:
        return "avg"
    return value


def _family(get: Callable[..., Any]) -> str:
    """Return what may not be mixed: an ensemble, a single run, its mean, its spread, ..."""
    kind = str(get("dataType", str, "") or "")
    if _member(get):
        return "ensemble"
    return "single" if kind in ("an", "fc", "") else kind


def _member(get: Callable[..., Any]) -> str:
    number = get("number", int)
    kind = str(get("dataType", str, "") or "")
    if kind == "cf":
        return "control"
    if number in (None, _UNSET):
        return ""
    alone = get("numberOfForecastsInEnsemble", int, 0) in (0, None, _UNSET)
    return "" if alone and number == 0 and kind != "pf" else str(number)


def _moment(date: int | None, time: int | None, second: int) -> np.datetime64 | None:
    if not date or time is None:
        return None
    text = f"{date:08d}"
    try:
        day = np.datetime64(f"{text[:4]}-{text[4:6]}-{text[6:]}", "s")
    except ValueError:
        return None
    second = second if 0 <= second < 60 else 0
    moment: np.datetime64 = day + np.timedelta64(time // 100 * 3600 + time % 100 * 60 + second, "s")
    return moment


def _interval(get: Callable[..., Any]) -> tuple[int, int]:
    """Return the start and end of a message's interval, in seconds after its initial time."""
    unit = _SECONDS.get(get("stepUnits", int, 1), 3600)
    ends = [_seconds(end, unit) for end in str(get("stepRange", str, "0")).split("-") if end]
    return (ends[0], ends[-1]) if ends else (0, 0)


def _seconds(text: str, unit: int) -> int:
    if text[-1] in _SUFFIX:
        return int(text[:-1]) * _SUFFIX[text[-1]]
    return int(text) * unit


@contextmanager
def handle_of(message: Message) -> Iterator[int]:
    """Yield an ecCodes handle of one message."""
    import eccodes

    with _LOCK, message.path.open("rb") as file:
        eccodes.codes_grib_multi_support_on()
        try:
            file.seek(message.offset)
            for _ in range(message.part):
                eccodes.codes_release(eccodes.codes_grib_new_from_file(file))
            handle = eccodes.codes_grib_new_from_file(file)
            try:
                yield int(handle)
            finally:
                eccodes.codes_release(handle)
        finally:
            eccodes.codes_grib_multi_support_reset_file(file)
            eccodes.codes_grib_multi_support_off()


def values_of(message: Message) -> NDArray[np.float64]:
    """Return the values of one message in its own order; missing is NaN."""
    import eccodes

    with handle_of(message) as handle:
        bitmap = eccodes.codes_get(handle, "bitmapPresent", int)
        if bitmap:
            eccodes.codes_set(handle, "missingValue", _MISSING)
        values = np.asarray(eccodes.codes_get_values(handle))
    if bitmap:
        values[values == _MISSING] = np.nan
    return values


def same_data(one: Message, other: Message) -> bool:
    """Say whether two messages of one field hold the same values."""
    return bool(np.array_equal(values_of(one), values_of(other), equal_nan=True))
