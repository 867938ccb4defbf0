"""The places of a field: latitude and longitude in one, two or no dimensions of their own."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata.errors import UnsuitableData
from zephyrus_geodata.reading.roles import Role
from zephyrus_geodata.reading.rotated import unrotated
from zephyrus_geodata.reading.understood import Horizontal

if TYPE_CHECKING:
    import xarray as xr

_PARALLEL = ("", "latitude_longitude", "mercator", "lambert_cylindrical_equal_area",
             "equidistant_cylindrical")  # fmt: skip
"""Grid mappings whose rows may be parallels and whose columns meridians."""

Floats = NDArray[np.float64]


class Places:
    """Finds the places of the fields of one cube; each set of coordinates is read once.

    Args:
        cube: the cube.
        roles: the roles of its coordinates.
    """

    def __init__(self, cube: "xr.Dataset", roles: Mapping[str, Role]) -> None:
        self._cube = cube
        self._roles = roles
        self._made: dict[tuple[Any, ...], Horizontal] = {}

    def find(self, name: str) -> Horizontal | None:
        """Return the places of a field, or None if it has none.

        Raises:
            UnsuitableData: if its coordinates contradict one another, or its grid is one that
                has no latitude and longitude at all.
        """
        var = self._cube.variables[name]
        lat, lon = self._coordinate(var, "latitude"), self._coordinate(var, "longitude")
        mapping = self._mapping(var)
        if lat is None or lon is None or self._bare(lat, lon, mapping):
            return self._projected(var, mapping)
        key = (lat, lon, mapping)
        if key not in self._made:
            self._made[key] = self._make(lat, lon, mapping)
        return self._made[key]

    def _coordinate(self, var: "xr.Variable", role: Role) -> str | None:
        """Return the coordinate that covers most of a field's dimensions, named ones first."""
        named = str(var.attrs.get("coordinates", "")).split()
        found = []
        for name, what in self._roles.items():
            if what == role:
                dims = self._space(name)
                if set(dims) <= set(var.dims):
                    found.append((name in named, len(dims), name in var.dims, name))
        if not found:
            return None
        return max(found)[3]

    def _bare(self, lat: str, lon: str, mapping: str | None) -> bool:
        """Say whether 1-D latitudes and longitudes are those of a rotated grid.

        Raises:
            UnsuitableData: if a projected grid can't have such latitudes and longitudes.
        """
        kind = (
            str(self._cube.variables[mapping].attrs.get("grid_mapping_name", "")) if mapping else ""
        )
        if kind in _PARALLEL or len(self._space(lat)) != 1 or self._space(lat) == self._space(lon):
            return False
        if kind == "rotated_latitude_longitude":
            self._roles = {**self._roles, lat: "y", lon: "x"}
            return True
        raise UnsuitableData(
            f"The coordinates {lat} and {lon} have one dimension each, which a grid of "
            f"{mapping} ({kind}) can't have; take the grid_mapping away if they are right."
        )

    def _space(self, name: str) -> tuple[str, ...]:
        """Return the dimensions of a coordinate, without a time axis that WRF puts in front."""
        dims = tuple(str(d) for d in self._cube.variables[name].dims)
        if len(dims) == 3:
            return dims[1:]
        return dims

    def _read(self, name: str) -> NDArray[np.float64]:
        values = np.asarray(self._cube.variables[name].values, dtype=np.float64)
        if values.ndim == 3:
            if values.shape[0] > 1 and not (values == values[:1]).all():
                raise UnsuitableData(f"The grid moves: {name} changes with time.")
            values = values[0]
        return values

    def _mapping(self, var: "xr.Variable") -> str | None:
        name = str(var.attrs.get("grid_mapping", "")).split(":")[0].strip()
        return name if name in self._cube.variables else None

    def _degrees(self, name: str) -> NDArray[np.float64]:
        # CF lets the units of a coordinate in degrees be radians (ICON, MPAS).
        values = self._read(name)
        radians = str(self._cube.variables[name].attrs.get("units", "")).startswith("rad")
        return np.rad2deg(values) if radians else values

    def _make(self, lat_name: str, lon_name: str, mapping: str | None) -> Horizontal:
        lat_dims, lon_dims = self._space(lat_name), self._space(lon_name)
        lat, lon = self._degrees(lat_name), self._degrees(lon_name)
        attrs = self._attrs(lat_name, mapping)
        grid_type = str(attrs.get("GRIB_gridType") or attrs.get("grid_mapping_name") or "")
        common: dict[str, Any] = {
            "latitude_bounds": self._bounds(lat_name),
            "longitude_bounds": self._bounds(lon_name),
            "attrs": attrs,
        }
        if lat.ndim == 0 and lon.ndim == 0:
            lat, lon = lat.reshape(1), lon.reshape(1)
            return Horizontal("points", grid_type or "stations", (), lat, lon, **common)
        if lat.ndim == 1 and lon.ndim == 1 and lat_dims != lon_dims:
            return Horizontal("rectilinear", grid_type, lat_dims + lon_dims, lat, lon, **common)
        if lat_dims != lon_dims and lat.ndim == lon.ndim == 2:
            lon = lon.T if lon_dims == lat_dims[::-1] else lon
        if lat.shape != lon.shape:
            raise UnsuitableData(
                f"The coordinates {lat_name} and {lon_name} don't fit together: one has the "
                f"dimensions {', '.join(lat_dims) or 'none'}, the other "
                f"{', '.join(lon_dims) or 'none'}."
            )
        if lat.ndim == 1:
            labels = self._labels(lat_dims[0])
            grid_type = grid_type or self._unstructured(lat_dims[0], attrs)
            return Horizontal("points", grid_type, lat_dims, lat, lon, labels=labels, **common)
        y, x = (self._axis(dim, attrs, axis) for dim, axis in zip(lat_dims, "yx", strict=True))
        return Horizontal("curvilinear", grid_type, lat_dims, lat, lon, y=y, x=x, **common)

    def _attrs(self, lat_name: str, mapping: str | None) -> dict[str, Any]:
        attrs = dict(self._cube.variables[mapping].attrs) if mapping else {}
        own = self._cube.variables[lat_name].attrs
        return attrs | {str(k): v for k, v in own.items() if str(k).startswith("GRIB_")}

    def _axis(self, dim: str, attrs: dict[str, Any], axis: str) -> NDArray[np.float64] | None:
        if dim not in self._cube.variables:
            return None
        var = self._cube.variables[dim]
        if var.dtype.kind not in "iuf":
            return None
        attrs[f"{axis}_units"] = str(var.attrs.get("units", ""))
        attrs[f"{axis}_standard_name"] = str(var.attrs.get("standard_name", ""))
        return np.asarray(var.values, dtype=np.float64)

    def _bounds(self, name: str) -> NDArray[np.float64] | None:
        bounds = self._cube.variables[name].attrs.get("bounds")
        if isinstance(bounds, str) and bounds in self._cube.variables:
            return np.asarray(self._cube.variables[bounds].values, dtype=np.float64)
        return None

    def _labels(self, dim: str) -> tuple[str, ...]:
        """Return the names of stations: texts along their dimension."""
        for name in (dim, *(str(n) for n in self._cube.variables)):
            var = self._cube.variables.get(name)
            if var is not None and var.dims == (dim,) and var.dtype.kind in "SUO":
                return tuple(
                    (v.decode("utf-8", "replace") if isinstance(v, bytes) else str(v)).strip()
                    for v in var.values
                )
        return ()

    def _unstructured(self, dim: str, attrs: Mapping[str, Any]) -> str:
        """Say what a list of places is: stations, or the cells of a grid of some kind."""
        word = dim.lower()
        if any("mesh_topology" in str(v.attrs.get("cf_role", "")) for v in self._variables()):
            return "ugrid"
        if "healpix" in str(attrs).lower() or "healpix" in word:
            return "healpix"
        if any(w in word for w in ("station", "location", "site", "loc", "city", "obs", "profile")):
            return "stations"
        return "stations" if self._labels(dim) else ""

    def _variables(self) -> list["xr.Variable"]:
        return list(self._cube.variables.values())

    def _projected(self, var: "xr.Variable", mapping: str | None) -> Horizontal | None:
        """Work out the places of a grid that has only projection coordinates and a mapping."""
        dims = [str(d) for d in var.dims]
        xs = [d for d in dims if self._roles.get(d) == "x"]
        ys = [d for d in dims if self._roles.get(d) == "y"]
        text = str(self._cube.variables[mapping].attrs).lower() if mapping else ""
        if "healpix" in text or any("healpix" in d for d in map(str.lower, dims)):
            raise UnsuitableData(
                "The grid is HEALPix without latitude and longitude; convert it first, for "
                "example with 'cdo -f nc4 remapbil,r360x180 IN OUT.nc'."
            )
        if not (mapping and len(xs) == 1 and len(ys) == 1):
            return None
        key = (ys[0], xs[0], mapping)
        if key not in self._made:
            self._made[key] = self._unproject(ys[0], xs[0], mapping)
        return self._made[key]

    def _unproject(self, y_dim: str, x_dim: str, mapping: str) -> Horizontal:
        attrs = {str(k): v for k, v in self._cube.variables[mapping].attrs.items()}
        y, x = self._axis(y_dim, attrs, "y"), self._axis(x_dim, attrs, "x")
        if y is None or x is None:
            raise UnsuitableData(f"The grid of {mapping} has no coordinates.")
        grid_type = str(attrs.get("grid_mapping_name", ""))
        if grid_type == "rotated_latitude_longitude":
            lat, lon = unrotated(y, x, attrs)
        else:
            lat, lon = self._geographic(y, x, attrs, mapping)
        if not (np.isfinite(lat).all() and np.isfinite(lon).all()):
            raise UnsuitableData(
                f"Parts of the grid of {mapping} lie off the Earth (a picture of a satellite?)."
            )
        return Horizontal("curvilinear", grid_type, (y_dim, x_dim), lat, lon, y=y, x=x, attrs=attrs)

    def _geographic(
        self, y: Floats, x: Floats, attrs: Mapping[str, Any], mapping: str
    ) -> tuple[Floats, Floats]:
        """Turn projection coordinates into (y, x) latitudes and longitudes."""
        import pyproj

        try:
            crs = pyproj.CRS.from_cf(
                {
                    k: (v.tolist() if isinstance(v, np.ndarray | np.generic) else v)
                    for k, v in attrs.items()
                }
            )
            plane = pyproj.Transformer.from_crs(crs, crs.geodetic_crs, always_xy=True)
        except pyproj.exceptions.ProjError as error:
            raise UnsuitableData(
                f"The grid has no latitude and longitude, and its mapping {mapping} can't be "
                f"used: {error}."
            ) from error
        scale = {"km": 1000.0, "kilometers": 1000.0, "kilometres": 1000.0}
        plane_y = y * scale.get(str(attrs["y_units"]).lower(), 1.0)
        plane_x = x * scale.get(str(attrs["x_units"]).lower(), 1.0)
        lon, lat = plane.transform(*np.meshgrid(plane_x, plane_y))
        return lat, lon
