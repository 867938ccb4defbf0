"""What a source of weather data turned out to be: one schema, whatever the format was.

Opening gives cubes, the axes give ``RawField`` (a quantity with its place in time, level, member
and space known, its meaning and units not yet), and naming and units give ``Understood``, which is
all that the store reads.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from zephyrus_geodata.cells import AnyGrid

Kind = Literal["forecast", "analyses", "climatology", "stations"]
"""Initial times x lead times; a time series; days of the year x hours; places in a list."""

EVERY = slice(None)


@dataclass(frozen=True)
class Note:
    """Something that was done to the data, or not done, and why.

    Attributes:
        text: a sentence.
        variable: the canonical or raw name it is about; empty for the whole source.
    """

    text: str
    variable: str = ""

    def __str__(self) -> str:
        return f"{self.variable}: {self.text}" if self.variable else self.text


@dataclass(frozen=True)
class Question:
    """Something the source does not say and nobody may guess.

    Attributes:
        text: a sentence that says what is unclear.
        flag: what answers it on the command line: ``--kind forecast|analyses``.
        variable: the raw name it is about; empty for the whole source.
    """

    text: str
    flag: str
    variable: str = ""

    def __str__(self) -> str:
        about = f"{self.variable}: " if self.variable else ""
        return f"{about}{self.text} Say {self.flag}."


@dataclass(frozen=True)
class Answers:
    """What the user says about a source; each answers a ``Question`` or chooses a part.

    Attributes:
        kind: what the time axis is, where the source can be read in two ways.
        precipitation: accumulated (since the start of the run), window (in the step or window
            before each time) or rate; for every precipitation variable.
        units: raw name -> units that the file doesn't give, or gives wrongly.
        names: raw name -> canonical name (``variables.VARIABLES``), or "" to leave it out.
        missing: raw name -> the value that stands for missing.
        member: one member's name, to read an ensemble as a deterministic forecast.
        calendar: "standard" reads the dates of another calendar as real ones.
        grid: index of the grid to read, where the source has several.
        winds: "earth" or "grid": what the wind components of a projected grid point along.
        step_types: raw name -> instant, avg, accum, ...: which of two versions of a field to read.
    """

    kind: Kind | None = None
    precipitation: Literal["accumulated", "window", "rate"] | None = None
    units: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    missing: Mapping[str, float] = field(default_factory=dict)
    member: str | None = None
    calendar: Literal["standard"] | None = None
    grid: int | None = None
    winds: Literal["earth", "grid"] | None = None
    step_types: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Level:
    """Where a field lies in the vertical.

    Attributes:
        kind: pressure, height (above ground), altitude (above the sea), depth (below ground),
            surface, sea (mean sea level), isentropic, potential_vorticity, model, layer (a
            column or a part of it), other.
        value: hPa, m, K, ... as ``units`` says; 0 for surfaces.
        units: of ``value``; hPa for every pressure level whatever the source had.
        name: what the source calls it: isobaricInhPa, heightAboveGround, lev, ...
    """

    kind: str
    value: float = 0.0
    units: str = ""
    name: str = ""


@dataclass(frozen=True)
class Horizontal:
    """The places of a field, as the source gives them.

    Attributes:
        kind: rectilinear (1-D latitude and 1-D longitude), curvilinear (both 2-D over two
            dimensions), or points (both 1-D over one dimension).
        grid_type: what the source calls it: GRIB's gridType (regular_ll, regular_gg, lambert,
            polar_stereographic, rotated_ll, reduced_gg, healpix, ...), CF's grid_mapping_name, or
            stations, ugrid, healpix, empty where unknown.
        dims: the dimensions, in the order in which ``RawField.read`` gives them.
        latitude: degrees north: (y,) , (y, x) or (point,).
        longitude: degrees east, any convention: (x,), (y, x) or (point,).
        y: (y,) projection coordinates of a curvilinear grid, in the units of ``attrs``; or None.
        x: (x,) likewise.
        latitude_bounds: CF bounds as the source gives them ((y, 2), (y, x, 4), (point, n)), or
            None.
        longitude_bounds: likewise.
        attrs: what else describes it: every GRIB_* grid key (GRIB_uvRelativeToGrid,
            GRIB_LoVInDegrees, GRIB_Latin1InDegrees, ...), the attributes of the grid mapping
            variable, and ``x_units``, ``y_units``, ``x_standard_name``, ``y_standard_name``.
        labels: (point,) names of stations; empty if there are none.
    """

    kind: Literal["rectilinear", "curvilinear", "points"]
    grid_type: str
    dims: tuple[str, ...]
    latitude: NDArray[np.float64]
    longitude: NDArray[np.float64]
    y: NDArray[np.float64] | None = None
    x: NDArray[np.float64] | None = None
    latitude_bounds: NDArray[np.float64] | None = None
    longitude_bounds: NDArray[np.float64] | None = None
    attrs: Mapping[str, Any] = field(default_factory=dict)
    labels: tuple[str, ...] = ()

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of ``dims``."""
        if self.kind == "rectilinear":
            return (self.latitude.size, self.longitude.size)
        return self.latitude.shape

    @cached_property
    def key(self) -> str:
        """A string that two have in common when their points are the same (to 1e-5 degrees)."""
        digest = blake2b(self.kind.encode(), digest_size=12)
        for axis in (self.latitude, self.longitude):
            digest.update(str(axis.shape).encode() + (np.round(axis, 5) + 0.0).tobytes())
        return digest.hexdigest()


class RawReader(Protocol):
    """Reads a field as the source has it; see ``RawField.read``."""

    def __call__(self, init: int = 0, span: slice = EVERY) -> NDArray[Any]:
        """Return the steps ``span`` of one initial time."""


@dataclass(frozen=True, eq=False)
class RawField:
    """One quantity on one level: its axes are understood, its meaning and units are not.

    Attributes:
        name: what the source calls it: t, tp, TMP, temperature_2m, ...
        attrs: the attributes of the array: units, standard_name, long_name, cell_methods,
            step_type, GRIB_shortName, GRIB_paramId, GRIB_stepType, ...
        level: where it lies; None if the source doesn't say.
        horizontal: its places.
        has_members: whether ``read`` gives a member axis (then all of ``Axes.members``).
        step_type: instant, accum, avg, max, min, diff, ... ; empty if the source doesn't say.
            From GRIB stepType, the attribute step_type, or the time part of cell_methods.
        windows: (step, 2) hours from the initial time at which the interval of each step starts
            and ends (GRIB stepRange, CF time bounds); None if the source doesn't say or the
            field is instantaneous; NaN where this field has no such step. For analyses: hours
            from the field's own time, so that (-6, 0) is the six hours before.
        present: (step,) the steps that the source has for this field at all; others read as NaN.
        read: ``read(init, span)`` gives (member, step, *places) or (step, *places) in the
            source's units, as floats, for the steps ``span`` of one initial time; declared
            packing and fills are applied (missing is NaN), undeclared ones are not.
        before: gives (step,) the lead time in hours that comes before each in the runs that have
            this field, which is not always the entry before on the axis: ``before.before_in``.
            None for the entry before that is present.
    """

    name: str
    attrs: Mapping[str, Any]
    level: Level | None
    horizontal: Horizontal
    has_members: bool
    step_type: str
    windows: NDArray[np.float64] | None
    present: NDArray[np.bool_]
    read: RawReader
    before: Callable[[], NDArray[np.float64]] | None = None


@dataclass(frozen=True)
class Axes:
    """The axes that all fields of a source share.

    The step axis is ``lead_hours`` for a forecast, ``times`` for analyses and stations, and
    (day, hour) flattened, day major, for a climatology.

    Attributes:
        kind: what the step axis is.
        init_times: (init,) UTC; empty if there are no forecasts.
        lead_hours: (lead,) whole hours after the initial time, ascending.
        times: (time,) valid times of analyses or stations, UTC, ascending.
        members: names in order, "control" first; empty if deterministic.
        days: (day,) days of the year (1 to 366) of a climatology; the first of its month if it
            has months.
        hours: (hour,) hours of the day, UTC, of a climatology.
    """

    kind: Kind
    init_times: NDArray[np.datetime64]
    lead_hours: NDArray[np.int64]
    times: NDArray[np.datetime64]
    members: tuple[str, ...] = ()
    days: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    hours: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))

    @property
    def steps(self) -> int:
        """Length of the step axis."""
        if self.kind == "forecast":
            return self.lead_hours.size
        return self.days.size * self.hours.size if self.kind == "climatology" else self.times.size


class Reader(Protocol):
    """``reader(init, span)`` gives (member, cell, step) or (cell, step) float32 in SI units.

    ``init`` is an index of ``init_times`` (0 for other kinds) and ``span`` a slice of the step
    axis, so that a caller bounds its memory; cells are in the order of ``Understood.grid``.
    """

    def __call__(self, init: int = 0, span: slice = EVERY) -> NDArray[np.float32]:
        """Return the steps ``span`` of one initial time."""


@dataclass(frozen=True)
class Taken:
    """How a canonical variable came about.

    Attributes:
        raw: the raw names it is made from.
        units: the source's units, as they were understood.
        how: what was done: "K", "from °C", "differences of the amount since the start", ...
    """

    raw: tuple[str, ...]
    units: str
    how: str = ""


@dataclass(frozen=True, eq=False)
class Understood:
    """A source, understood: what the store ingests and ``inspect`` shows.

    Attributes:
        kind: see ``Kind``.
        where: path, pattern or address.
        format: netcdf3, netcdf4, grib1, grib2, zarr2 or zarr3.
        init_times: see ``Axes``; so are lead_hours, times, members, days and hours.
        grid: the cells of every variable.
        variables: canonical name -> reader, in the order of ``VARIABLES``.
        taken: canonical name -> where it comes from.
        left_out: raw names that were not understood or not needed, and why.
        notes: what was converted, derived or dropped.
        questions: what must be answered before anything may be stored.
        attrs: attributes of the source as a whole (title, institution, licence, ...).
    """

    kind: Kind
    where: str
    format: str
    init_times: NDArray[np.datetime64]
    lead_hours: NDArray[np.int64]
    times: NDArray[np.datetime64]
    members: tuple[str, ...]
    grid: "AnyGrid"
    variables: Mapping[str, Reader]
    taken: Mapping[str, Taken] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    questions: tuple[Question, ...] = ()
    days: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    hours: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    attrs: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Layout:
    """What ``grids.lay_out(horizontal, answers)`` returns.

    Attributes:
        grid: the cells.
        gather: (..., *places) -> (..., cell), the values on the cells.
        notes: what was turned, wrapped, regridded.
        questions: what is unclear.
    """

    grid: "AnyGrid"
    gather: Callable[[NDArray[Any]], NDArray[Any]]
    notes: tuple[Note, ...] = ()
    questions: tuple[Question, ...] = ()


@dataclass(frozen=True)
class Meaning:
    """What ``values.interpret(fields, axes, answers)`` returns, for fields of one horizontal.

    Attributes:
        variables: canonical name -> a reader in SI units that gives (member, step, *places) or
            (step, *places): ``understand`` gathers the cells and puts the steps last.
        taken: canonical name -> where it comes from.
        left_out: raw name -> why.
        notes: what was converted, derived or dropped.
        questions: what is unclear.
    """

    variables: Mapping[str, RawReader]
    taken: Mapping[str, Taken]
    left_out: Mapping[str, str]
    notes: tuple[Note, ...] = ()
    questions: tuple[Question, ...] = ()
