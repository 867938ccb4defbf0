"""Features from a file of the user's own, in any format that geopandas reads."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from zephyrus_geodata.features import Feature
from zephyrus_geodata.names import lookup_key

if TYPE_CHECKING:
    import geopandas
    from shapely.geometry.base import BaseGeometry

PARQUET_ENDINGS = {".parquet", ".geoparquet"}


def read_features(
    path: Path, *, kind: str | None, name_column: str, layer: str | None
) -> list[Feature]:
    """Read named features, in degrees, one per (kind, name).

    Args:
        path: A GeoParquet file, or anything else that geopandas reads.
        kind: The kind of all features; a column ``kind`` is used if this is None.
        name_column: The column that holds the names, in any case.
        layer: The layer of a file with several.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If the file has no names, no kinds, or names points twice.
    """
    import geopandas
    import shapely

    if not path.exists():
        raise FileNotFoundError(f"There is no file of features at {path}.")
    if path.suffix.lower() in PARQUET_ENDINGS:
        frame = geopandas.read_parquet(path)
    else:
        frame = geopandas.read_file(path, layer=layer)
    if frame.crs is not None and not frame.crs.equals("EPSG:4326"):
        frame = frame.to_crs("EPSG:4326")
    names = _column(frame, name_column)
    if names is None:
        raise ValueError(
            f"{path.name} has no column {name_column!r} for the names; its columns are "
            f"{', '.join(map(str, frame.columns))}."
        )
    kinds = [kind] * len(frame) if kind is not None else _column(frame, "kind")
    if kinds is None:
        raise ValueError(f"{path.name} has no column 'kind': say which kind its features are.")
    parents = _column(frame, "parent") or [None] * len(frame)
    sources = _column(frame, "source") or [path.name] * len(frame)

    merged: dict[tuple[str, str], list[Any]] = {}
    rows = zip(names, kinds, parents, sources, frame.geometry, strict=True)
    for name, row_kind, parent, source, geometry in rows:
        if not _text(name) or not _text(row_kind) or geometry is None or geometry.is_empty:
            continue
        valid = geometry if geometry.is_valid else shapely.make_valid(geometry)
        row = merged.setdefault((row_kind, lookup_key(name)), [name, parent, source, []])
        row[3].append(valid)
    return [
        Feature.of(
            name.strip(),
            row_kind,
            _merge(name, shapes),
            parent=_text(parent),
            source=_text(source) or path.name,
        )
        for (row_kind, _), (name, parent, source, shapes) in merged.items()
    ]


def _column(frame: geopandas.GeoDataFrame, name: str) -> list[Any] | None:
    found = {str(column).casefold(): column for column in frame.columns}.get(name.casefold())
    return None if found is None else list(frame[found])


def _text(value: object) -> str | None:
    return value.strip() or None if isinstance(value, str) else None


def _merge(name: str, shapes: list[BaseGeometry]) -> BaseGeometry:
    import shapely

    if len(shapes) == 1:
        return shapes[0]
    if any(shape.geom_type == "Point" for shape in shapes):
        raise ValueError(f"The file has several points named {name!r}: give them different names.")
    return shapely.unary_union(shapes)
