"""Over the members of an ensemble: mean, spread, and the share beyond a threshold."""

import numpy as np
from numpy.typing import NDArray

_CHUNK = 4_000_000  # numbers of all members held at once in float64, 32 MB


def mean(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the mean over the members, summed in float64.

    A member without data somewhere is left out there; where none has data the mean is NaN.

    Args:
        values: (member, cell, time); may be a memory map, of which a part is read at a time.

    Returns:
        (cell, time).
    """
    members, cells, times = values.shape
    result = np.empty((cells, times), dtype=np.float32)
    step = max(1, _CHUNK // max(1, members * times))
    for start in range(0, cells, step):
        block = values[:, start : start + step].astype(np.float64)
        there = ~np.isnan(block)
        if there.all():
            result[start : start + step] = block.mean(axis=0)
            continue
        count = there.sum(axis=0)
        total = np.where(there, block, 0.0).sum(axis=0)
        filled = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
        result[start : start + step] = filled
    return result


def average(values: NDArray[np.float64], axis: int = 0) -> NDArray[np.float64]:
    """Return the mean over the members of numbers such as ``Dataset.member_series`` gives.

    Args:
        values: any shape with an axis of members; NaN where a member has no data: it is left
            out there.
        axis: the axis of members.

    Returns:
        The shape without that axis; NaN where no member has data.
    """
    plain: NDArray[np.float64] = values.mean(axis=axis)
    if not np.isnan(plain).any():
        return plain
    there = ~np.isnan(values)
    total = np.where(there, values, 0.0).sum(axis=axis)
    return _ratio(total, there.sum(axis=axis))


def spread(values: NDArray[np.float64], axis: int = 0) -> NDArray[np.float64]:
    """Return the spread: the standard deviation over the members, with n - 1 (ddof = 1).

    Args:
        values: as of ``average``.
        axis: the axis of members.

    Returns:
        The shape without that axis; NaN where fewer than two members have data.
    """
    if values.shape[axis] > 1:
        plain: NDArray[np.float64] = values.std(axis=axis, ddof=1)
        if not np.isnan(plain).any():
            return plain
    there = ~np.isnan(values)
    middle = np.expand_dims(average(values, axis), axis)
    squares = np.where(there, (values - middle) ** 2, 0.0).sum(axis=axis)
    return np.sqrt(_ratio(squares, there.sum(axis=axis) - 1))


def exceeds(
    values: NDArray[np.float64], *, above: float | None = None, below: float | None = None
) -> NDArray[np.float64]:
    """Say where values lie beyond a threshold, strictly: 1 or 0, NaN where there are no data.

    Fields are stored in float32, in which few thresholds are exact: what differs from the
    threshold by less than float32 can tell there counts as equal to it, so as not beyond it.

    Args:
        values: any shape.
        above: the threshold in the units of ``values``, or None.
        below: likewise; just one of the two is given.

    Raises:
        ValueError: if both or neither are given.
    """
    if (above is None) == (below is None):
        raise ValueError("Give just one of above and below.")
    if above is not None:
        beyond = values > above + _resolution(above)
    else:
        assert below is not None
        beyond = values < below - _resolution(below)
    return np.where(np.isnan(values), np.nan, beyond.astype(np.float64))


def probability(
    values: NDArray[np.float64],
    *,
    above: float | None = None,
    below: float | None = None,
    axis: int = 0,
) -> NDArray[np.float64]:
    """Return the share of the members that lie beyond a threshold, 0 to 1; see ``exceeds``.

    Args:
        values: as of ``average``.
        above: see ``exceeds``.
        below: likewise.
        axis: the axis of members.

    Returns:
        The shape without that axis: of the members that have data; NaN where none has.

    Raises:
        ValueError: if both thresholds or neither are given.
    """
    return average(exceeds(values, above=above, below=below), axis)


def _resolution(x: float) -> float:
    return float(np.spacing(np.float32(abs(x))))


def _ratio(total: NDArray[np.float64], count: NDArray[np.intp]) -> NDArray[np.float64]:
    """Divide, with NaN where the count is not positive."""
    result: NDArray[np.float64] = np.divide(
        total, count, out=np.full(np.shape(total), np.nan), where=count > 0
    )
    return result
