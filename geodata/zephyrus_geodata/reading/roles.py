"""What each coordinate of a cube is: by standard name, units, axis, and only then by name."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from zephyrus_geodata.reading import levels, members, times

if TYPE_CHECKING:
    import xarray as xr

Role = Literal[
    "latitude", "longitude", "x", "y", "init", "lead", "time", "valid", "level", "member", "day",
    "month", "hour", "",
]  # fmt: skip

_STANDARD: dict[str, Role] = {
    "latitude": "latitude", "longitude": "longitude", "projection_x_coordinate": "x",
    "projection_y_coordinate": "y", "grid_longitude": "x", "grid_latitude": "y",
    "projection_x_angular_coordinate": "x", "projection_y_angular_coordinate": "y",
    "forecast_reference_time": "init", "forecast_period": "lead", "realization": "member",
}  # fmt: skip
_NORTH = {"degrees_north", "degree_north", "degree_n", "degrees_n", "degreen", "degreesn"}
_EAST = {"degrees_east", "degree_east", "degree_e", "degrees_e", "degreee", "degreese"}
_LATITUDE = {"latitude", "lat", "lats", "nav_lat", "xlat", "gridlat", "yc_lat", "g0_lat", "clat"}
_LONGITUDE = {"longitude", "lon", "lons", "long", "nav_lon", "xlong", "gridlon", "g0_lon", "clon"}
_INIT = {"init_time", "initial_time", "init", "inittime", "forecast_reference_time", "reftime",
         "reference_time", "analysis_time", "base_time", "run", "run_time", "initialization_time",
         "forecast_time_ref", "cycle", "initial_time0_hours", "forecast_initial_time", "basetime",
         "initialisation_time", "issue_time", "forecast_init_time", "initial_times"}  # fmt: skip
_LEAD = {"step", "prediction_timedelta", "lead_time", "leadtime", "lead", "lead_times", "leads",
         "fhour", "forecast_hour", "forecast_period", "forecast_lead", "fxx", "lead_hours",
         "lead_hour", "forecast_lead_time", "forecast_step", "tau", "timedelta", "fcst_hour",
         "prediction_time_delta", "forecast_time", "steps", "forecast_offset"}  # fmt: skip
_VALID = {"valid_time", "validtime", "valid", "validity_time", "time_valid", "valid_times"}
_TIME = {"time", "times", "datetime", "date", "t", "xtime", "time_counter", "ocean_time"}
_DAY = {"dayofyear", "day_of_year", "doy", "yday"}
_MONTH = {"month", "months", "month_of_year"}
_HOUR = {"hour", "hours", "hour_of_day", "hourofday"}


def role(name: str, var: "xr.Variable") -> Role:
    """Return the role of an array of a cube; empty if it is a field or plays none."""
    attrs: Mapping[str, Any] = var.attrs
    standard = str(attrs.get("standard_name", "")).strip()
    word = name.lower().rpartition("/")[2]
    plain = word.rstrip("0123456789")
    units = str(attrs.get("units", "")).strip().lower()
    if found := _STANDARD.get(standard):
        return found
    if units in _NORTH or units in _EAST:
        return "latitude" if units in _NORTH else "longitude"
    moment = times.is_moment(attrs, var.dtype.kind)
    if word in _INIT or plain in _INIT:
        return "init"
    if (word in _LEAD or plain in _LEAD) and not moment:
        return "lead"
    if word in _VALID:
        return "valid"
    if word in _TIME or plain in _TIME or standard == "time":
        if times.is_duration(attrs, var.dtype.kind):
            return "lead"
        # "t" may be a temperature; texts are dates here.
        if moment or standard == "time" or var.dims == (name,) or var.dtype.kind in "SUO":
            return "time"
    if not moment:
        if word in _DAY:
            return "day"
        if word in _MONTH:
            return "month"
        if word in _HOUR:
            return "hour"
    if var.ndim in (1, 2) and moment:
        return "time"  # a scalar of an unknown name may be when the file was written
    # A standard name or units say that an array is a field; its name alone would mislead.
    if word in _LATITUDE or plain in _LATITUDE:
        return "latitude"
    if word in _LONGITUDE or plain in _LONGITUDE:
        return "longitude"
    if members.is_member(name, standard):
        return "member"
    if var.ndim <= 1 and (var.dims in ((), (name,))):
        if str(attrs.get("axis", "")).upper() in ("X", "Y"):
            return "x" if str(attrs["axis"]).upper() == "X" else "y"
        if levels.is_level(name, attrs):
            return "level"
    return ""


def roles(cube: "xr.Dataset") -> dict[str, Role]:
    """Return the role of every array of a cube that has one."""
    found: dict[str, Role] = {}
    helpers = bounds_of(cube)
    for name, var in cube.variables.items():
        if str(name) not in helpers and (what := role(str(name), var)):
            found[str(name)] = what
    for dim in cube.dims:
        name = str(dim)
        if name not in cube.variables and members.is_member(name, ""):
            found[name] = "member"  # counted from 0, without a coordinate
    return found


def bounds_of(cube: "xr.Dataset") -> set[str]:
    """Return the names of the arrays that are bounds, grid mappings or measures of others."""
    found: set[str] = set()
    for var in cube.variables.values():
        for key in ("bounds", "climatology", "grid_mapping", "ancillary_variables"):
            text = var.attrs.get(key)
            if isinstance(text, str):
                found.update(word.rstrip(":") for word in text.split())
    return found
