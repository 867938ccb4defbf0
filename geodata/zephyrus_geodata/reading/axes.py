"""One set of axes for all pieces: initial and lead times, members, and what the whole is."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata.errors import UnsuitableData
from zephyrus_geodata.reading.before import before_in
from zephyrus_geodata.reading.described import ask_about_parts
from zephyrus_geodata.reading.layers import Layer, Placed, same_windows
from zephyrus_geodata.reading.members import STATISTICS, ordered
from zephyrus_geodata.reading.moments import Moments
from zephyrus_geodata.reading.naming import is_known
from zephyrus_geodata.reading.pieces import Piece
from zephyrus_geodata.reading.remarks import Remarks
from zephyrus_geodata.reading.times import whole_hours
from zephyrus_geodata.reading.understood import EVERY, Answers, Axes, Kind, RawField

_REANALYSES = ("ea", "et", "ei", "e4", "e2", "ep", "l5", "rr")
"""MARS classes whose forecasts are short ones from one analysis to the next."""

_NOTHING = np.empty(0, "datetime64[s]")


def align(
    pieces: Sequence[Piece], answers: Answers, remarks: Remarks
) -> tuple[Axes, list[RawField]]:
    """Put pieces on common axes and join those of one field.

    Raises:
        UnsuitableData: if they don't fit together.
    """
    if not pieces:
        raise UnsuitableData(_nothing(remarks))
    kind, pieces = _kind(list(pieces), answers, remarks)
    members, pieces = _members(pieces, answers, remarks)
    axes = replace(_axes(kind, pieces, remarks), members=members)
    fields: dict[tuple[object, ...], list[Piece]] = {}
    for piece in pieces:
        fields.setdefault((*piece.identity, bool(piece.members)), []).append(piece)
    placed: dict[int, Placed] = {}  # by the moments, which the fields of a cube share
    made = [
        _field(layer, axes)
        for same in fields.values()
        for layer in _layers(same, axes, placed, remarks)
    ]
    ask_about_parts(fields, placed, axes.steps, answers, remarks)
    return axes, made


def _nothing(remarks: Remarks) -> str:
    if not remarks.left_out:
        return "The source holds no fields on a grid."
    told = "; ".join(f"{name} {why}" for name, why in list(remarks.left_out.items())[:5])
    return f"The source holds no fields that can be used: {told}."


def _kind(pieces: list[Piece], answers: Answers, remarks: Remarks) -> tuple[Kind, list[Piece]]:
    """Tell what the source is, and keep the pieces that are that."""
    kinds = {piece.moments.kind for piece in pieces}
    if kinds == {"climatology"}:
        return "climatology", pieces
    if "climatology" in kinds:
        remarks.note("Fields of a climatology beside dated ones were left out.")
        pieces = _leave(pieces, "climatology", "is a climatology", remarks)
    leads = {int(s) for p in pieces if p.moments.kind == "runs" for s in p.moments.leads}
    series = [p for p in pieces if p.moments.kind == "series"]
    if answers.kind == "analyses" or (answers.kind is None and _is_reanalysis(pieces, leads)):
        if leads - {0}:
            remarks.note("Short forecasts were put at their valid times, as in a reanalysis.")
        pieces = _as_series(pieces)
    elif not leads - {0} and answers.kind != "forecast":
        if leads and not series:
            remarks.note("All lead times are 0: the source holds analyses.")
        elif not leads:
            remarks.note(
                "The source has no initial times: its times were read as those of analyses "
                "(--kind forecast reads the first one as the initial time)."
            )
        pieces = _as_series(pieces)
    else:
        if series:
            remarks.note("Fields with valid times only were left out of the forecast.")
            pieces = _leave(pieces, "series", "has valid times only, beside forecasts", remarks)
        return "forecast", pieces
    stations = all(p.places.kind == "points" and p.places.grid_type == "stations" for p in pieces)
    return ("stations" if stations else "analyses"), pieces


def _leave(pieces: list[Piece], kind: str, why: str, remarks: Remarks) -> list[Piece]:
    """Leave out the pieces whose moments are of a kind."""
    for piece in pieces:
        if piece.moments.kind == kind:
            remarks.leave_out(piece.name, why)
    return [piece for piece in pieces if piece.moments.kind != kind]


def _is_reanalysis(pieces: Sequence[Piece], leads: set[int]) -> bool:
    classes = {str(p.attrs.get("GRIB_class", "")) for p in pieces}
    return bool(leads - {0}) and bool(classes & set(_REANALYSES)) and max(leads) <= 24 * 3600


def _as_series(pieces: Sequence[Piece]) -> list[Piece]:
    """Put runs at their valid times; the shortest lead time wins where two meet."""
    series = {id(m): replace(m, kind="series") for m in _distinct(pieces)}
    return [replace(piece, moments=series[id(piece.moments)]) for piece in pieces]


def _members(
    pieces: list[Piece], answers: Answers, remarks: Remarks
) -> tuple[tuple[str, ...], list[Piece]]:
    """Return the names of all members, and the pieces with those that count."""
    names = ordered(name for piece in pieces for name in piece.members)
    wanted = answers.member
    if wanted is not None:
        if wanted not in names:
            raise UnsuitableData(
                f"There is no member {wanted!r}; there are {', '.join(names) or 'none'}."
            )
        remarks.note(f"Only the member {wanted} was read.")
        pieces = [
            _pick(piece, wanted) for piece in pieces if not piece.members or wanted in piece.members
        ]
        return (), pieces
    summaries = [name for name in names if name.lower() in STATISTICS]
    if summaries and len(names) > 1:
        remarks.ask(
            f"Among the members is {summaries[0]}, which is computed from the others and no member "
            "of its own; read one member, or take it out of the file.",
            "--member NAME",
        )
    if len(names) <= 1:
        if names and names != ("0",):
            remarks.note(f"There is one member only, {names[0]}: read as a deterministic forecast.")
        return (), [_pick(piece, names[0]) if piece.members else piece for piece in pieces]
    alone = {p.identity[:2] for p in pieces if not p.members}
    double = alone & {p.identity[:2] for p in pieces if p.members}
    if double:
        remarks.note("The single run beside the ensemble was left out.")
        pieces = [p for p in pieces if p.members or p.identity[:2] not in double]
    return names, pieces


def _pick(piece: Piece, name: str) -> Piece:
    """Take one member of a piece."""
    if not piece.member_dim:
        return replace(piece, members=())
    fixed = {**piece.fixed, piece.member_dim: piece.members.index(name)}
    return replace(piece, members=(), member_dim=None, fixed=fixed)


def _axes(kind: Kind, pieces: Sequence[Piece], remarks: Remarks) -> Axes:
    none = np.empty(0, np.int64)
    if kind == "climatology":
        days = {p.moments.days.tobytes(): p.moments.days for p in pieces}
        hours = {p.moments.hours.tobytes(): p.moments.hours for p in pieces}
        if len(days) > 1 or len(hours) > 1:
            raise UnsuitableData("The variables of the climatology have different days or hours.")
        return Axes(kind, _NOTHING, none, _NOTHING, days=next(iter(days.values())),
                    hours=next(iter(hours.values())))  # fmt: skip
    if kind == "forecast":
        inits = _union((m.inits for m in _distinct(pieces)), remarks)
        seconds = np.unique(np.concatenate([m.leads for m in _distinct(pieces)]))
        if (seconds < 0).any():
            remarks.note("Times before the initial time were left out.")
            seconds = seconds[seconds >= 0]
        return Axes(kind, inits, whole_hours(seconds), _NOTHING)
    return Axes(kind, _NOTHING, none, _union((_valid(m) for m in _distinct(pieces)), remarks))


def _distinct(pieces: Sequence[Piece]) -> list[Moments]:
    """Return the moments of pieces, once where pieces share them."""
    return list({id(piece.moments): piece.moments for piece in pieces}.values())


def _union(moments: Iterable[NDArray[np.datetime64]], remarks: Remarks) -> NDArray[np.datetime64]:
    whole = np.concatenate([m.reshape(-1) for m in moments])
    if np.isnat(whole).any():
        remarks.note("Times that are missing were left out.")
        whole = whole[~np.isnat(whole)]
    if not whole.size:
        raise UnsuitableData("Every time of the source is missing.")
    # numpy's unique hashes, which takes seconds for the hours of a century.
    if not (whole[1:] > whole[:-1]).all():
        whole = np.sort(whole)
        whole = whole[np.concatenate([[True], whole[1:] != whole[:-1]])]
    return whole


def _valid(moments: Moments) -> NDArray[np.datetime64]:
    leads = moments.leads.astype("timedelta64[s]")
    together = moments.paired or moments.leads.size == 1
    times: NDArray[np.datetime64] = (moments.inits if together else moments.inits[:, None]) + leads
    return times.reshape(-1)


def _place(piece: Piece, axes: Axes) -> Placed:
    """Find a piece's moments on the axes."""
    moments = piece.moments
    if axes.kind == "climatology":
        shape = (moments.days.size, moments.hours.size)
        firsts, seconds = (index.reshape(-1) for index in np.indices(shape))
        return Placed(np.zeros_like(firsts), np.arange(firsts.size), firsts, seconds)
    if moments.paired:
        firsts = np.arange(moments.inits.size)
        inits, leads, seconds = moments.inits, moments.leads, np.zeros_like(firsts)
    else:
        shape = (moments.inits.size, moments.leads.size)
        firsts, seconds = (index.reshape(-1) for index in np.indices(shape))
        inits, leads = moments.inits[firsts], moments.leads[seconds]
    if axes.kind == "forecast":
        runs, run_ok = _index(axes.init_times, inits)
        steps, step_ok = _index(axes.lead_hours * 3600, leads)
        good = run_ok & step_ok
        order = np.lexsort((steps[good], runs[good]))
    else:
        steps, good = _index(axes.times, inits + leads.astype("timedelta64[s]"))
        runs = np.zeros_like(steps)
        # The shortest lead time of each valid time.
        order = np.lexsort((leads[good], steps[good]))
        order = order[np.diff(steps[good][order], prepend=-1) > 0]
    return Placed(*(array[good][order] for array in (runs, steps, firsts, seconds)))


def _index(
    axis: NDArray[np.generic], values: NDArray[np.generic]
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return where values are on a sorted axis, and whether they are."""
    at = np.searchsorted(axis, values)
    at = np.minimum(at, axis.size - 1)
    return at, axis[at] == values


def _layers(
    pieces: list[Piece], axes: Axes, known: dict[int, Placed], remarks: Remarks
) -> list[list[tuple[Piece, Placed]]]:
    """Split pieces whose intervals differ at the same moment: 0-6 h and 5-6 h are two fields."""
    layers: list[Layer] = []
    for piece in pieces:
        placed = known.get(id(piece.moments))
        if placed is None:
            placed = known[id(piece.moments)] = _place(piece, axes)
        for layer in layers:
            clash = layer.clash(piece, placed) if layer.meets(piece, placed) else []
            if clash and not all(same_windows(piece, other) for other in clash):
                continue
            matters = is_known(piece.name, piece.attrs)
            if clash and matters and layer.contradicts(piece, placed):
                remarks.ask(
                    "Some of its times are there twice, in two files or groups, with other values; "
                    "give those alone that are wanted.",
                    f"--name {piece.name}= to leave it out",
                    piece.name,
                )
            elif clash:
                remarks.note(
                    "some of its times are in two files or more; the first was taken.", piece.name
                )
            layer.add(piece, placed)
            break
        else:
            layers.append(Layer(axes))
            layers[-1].add(piece, placed)
    return [layer.parts for layer in layers]


def _field(layer: list[tuple[Piece, Placed]], axes: Axes) -> RawField:
    first = layer[0][0]
    has_members = bool(axes.members) and bool(first.members)
    present = np.zeros(axes.steps, bool)
    timed = any(piece.moments.windows is not None for piece, _ in layer)
    windows = np.full((axes.steps if timed else 0, 2), np.nan)
    for piece, placed in layer:
        present[placed.steps] = True
        _windows(piece, placed, axes, windows)
    named = {name: index for index, name in enumerate(axes.members)}
    shape = first.places.shape

    def read(init: int = 0, span: slice = EVERY) -> NDArray[np.float32]:
        wanted = np.arange(axes.steps)[span]
        count = len(axes.members) if has_members else 1
        out: NDArray[np.float32] | None = None
        for piece, placed in layer:
            if not wanted.size:
                break
            start, stop = np.searchsorted(placed.inits, [init, init + 1])
            bounds = [wanted.min(), wanted.max() + 1]
            here = slice(*(start + np.searchsorted(placed.steps[start:stop], bounds)))
            steps = placed.steps[here]
            chosen = np.isin(steps, wanted)
            if not chosen.any():
                continue
            block = piece.read(placed.firsts[here][chosen], placed.seconds[here][chosen], None)
            rows = (
                np.searchsorted(wanted, steps[chosen])
                if wanted[0] <= wanted[-1]
                else (len(wanted) - 1 - np.searchsorted(wanted[::-1], steps[chosen]))
            )
            slots = [named[name] for name in piece.members] if has_members else [0]
            whole = block.shape[:2] == (count, wanted.size) and slots == list(range(count))
            if len(layer) == 1 and whole and (np.diff(rows) == 1).all():
                out = block
                break
            if out is None:
                out = np.full((count, wanted.size, *shape), np.nan, block.dtype)
            at = np.ix_(np.array(slots), rows)
            held = out[at]
            out[at] = np.where(np.isnan(held), block, held)
        if out is None:
            out = np.full((count, wanted.size, *shape), np.nan, np.float32)
        return out if has_members else out[0]

    known = np.isfinite(windows).any() and first.step_type != "instant"
    return RawField(
        name=first.name,
        attrs=first.attrs,
        level=first.level,
        horizontal=first.places,
        has_members=has_members,
        step_type=first.step_type,
        windows=windows if known else None,
        present=present,
        read=read,
        before=partial(_before, layer, axes) if axes.kind == "forecast" else None,
    )


def _before(layer: list[tuple[Piece, Placed]], axes: Axes) -> NDArray[np.float64]:
    runs, steps = (np.concatenate([getattr(p, k) for _, p in layer]) for k in ("inits", "steps"))
    return before_in(axes.lead_hours.astype(np.float64), runs, steps)


def _windows(piece: Piece, placed: Placed, axes: Axes, out: NDArray[np.float64]) -> None:
    """Write a piece's intervals; where runs disagree the interval stays unknown."""
    moments = piece.moments
    if moments.windows is None or axes.kind == "climatology":
        return
    along = placed.seconds
    if moments.paired or (moments.kind == "series" and len(moments.windows) != moments.leads.size):
        along = placed.firsts
    hours = moments.windows[along]
    if (axes.kind != "forecast" and moments.lead_dim is not None) or (
        axes.kind != "forecast" and moments.leads.any()
    ):
        # From hours after the initial time to hours from the valid time.
        leads = moments.leads[placed.firsts if moments.paired else placed.seconds]
        hours = hours - leads[:, None] / 3600.0
    order = np.argsort(placed.steps, kind="stable")
    steps, hours = placed.steps[order], hours[order]
    rows, first, counts = np.unique(steps, return_index=True, return_counts=True)
    same = np.isclose(hours, np.repeat(hours[first], counts, axis=0), equal_nan=True).all(axis=1)
    agree = np.logical_and.reduceat(same, first)
    fill = agree & ~np.isfinite(out[rows]).any(axis=1)
    out[rows[fill]] = hours[first[fill]]
