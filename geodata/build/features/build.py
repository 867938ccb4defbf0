"""Build the named features that ship with zephyrus_geodata (see README.md beside this file)."""

import argparse
import hashlib
import json
import tempfile
from pathlib import Path

import geopandas
import places
import platformdirs
import pyarrow as pa
import pyarrow.parquet
import regions
import shapely
import sources
from corrections import AliasTable, table
from shapes import repaired, thinned

from zephyrus_geodata.names import lookup_key

DATA = Path(__file__).parents[2] / "zephyrus_geodata" / "data"

KINDS = (
    "continent",
    "subregion",
    "country",
    "us_state",
    "ocean",
    "sea",
    "lake",
    "island",
    "desert",
    "mountain_range",
    "peninsula",
    "plateau",
    "plain",
    "basin",
    "city",
    "nws_cwa",
)


def collect(files: sources.Sources, aliases: AliasTable) -> list[regions.Place]:
    """Gather all features, sorted by kind and name, with thinned outlines."""
    countries, parts = regions.countries(files, aliases)
    joined = regions.continents(parts, aliases)
    homes = places.Homes(countries, [p for p in joined if p.kind == "continent"])
    water = geopandas.read_file(files.water, encoding="cp1252")
    land = geopandas.read_file(files.land)
    water, land = (frame[frame.geometry.notna()].copy() for frame in (water, land))
    for frame in (water, land):
        frame["geometry"] = [repaired(shape) for shape in frame.geometry]
    for kind, known in table("others")["aliases"].items():
        aliases.add_all(kind, known)
    found = [
        *joined,
        *countries,
        *regions.states(files, aliases),
        *regions.forecast_areas(files, aliases),
        *places.lakes(water, homes, aliases),
        *places.islands(land, homes),
        *places.outlines(land, water, homes),
        *places.cities(files, homes, aliases),
    ]
    aliases.leave_out((place.kind, lookup_key(place.name)) for place in found)
    found.sort(key=lambda place: (KINDS.index(place.kind), lookup_key(place.name), place.name))
    return [regions.Place(p.name, p.kind, p.parent, p.source, thinned(p.geometry)) for p in found]


def check(found: list[regions.Place], aliases: AliasTable) -> None:
    """Refuse to ship features that break the rules.

    Raises:
        ValueError: If a shape is empty or invalid, a name occurs twice, or a parent or the feature
            of an alias does not exist.
    """
    names = {place.name for place in found}
    keys = {(place.kind, place.name) for place in found}
    faults = [f"empty {p.kind} {p.name}" for p in found if p.geometry.is_empty]
    faults += [f"invalid {p.kind} {p.name}" for p in found if not p.geometry.is_valid]
    faults += [f"unknown parent {p.parent}" for p in found if p.parent not in {None, *names}]
    faults += [
        f"alias of an unknown {kind} {name}"
        for kind, known in aliases.names.items()
        for name in known
        if (kind, name) not in keys
    ]
    seen: set[tuple[str, str]] = set()
    for place in found:
        key = place.kind, lookup_key(place.name)
        faults += [f"double {place.kind} {place.name}"] if key in seen else []
        seen.add(key)
    if faults:
        raise ValueError(f"{len(faults)} faults: {'; '.join(faults)}.")


def write(found: list[regions.Place], aliases: AliasTable, folder: Path) -> tuple[Path, Path]:
    """Write features.parquet and aliases.json, with nothing in them that varies between runs."""
    geometries = [place.geometry for place in found]
    bounds = shapely.total_bounds(geometries)
    geo = {
        "version": "1.0.0",
        "primary_column": "geometry",
        "columns": {
            "geometry": {
                "encoding": "WKB",
                "geometry_types": sorted({shape.geom_type for shape in geometries}),
                "bbox": [float(bound) for bound in bounds],
            }
        },
    }
    columns = ("name", "kind", "parent", "source")
    data = {c: pa.array([getattr(p, c) for p in found], pa.string()) for c in columns}
    data["geometry"] = pa.array(shapely.to_wkb(geometries, byte_order=1), pa.binary())
    schema = pa.schema(
        [pa.field(name, array.type) for name, array in data.items()],
        metadata={"geo": json.dumps(geo)},
    )
    features = folder / "features.parquet"
    pyarrow.parquet.write_table(
        pa.table(data, schema=schema),
        features,
        compression="zstd",
        compression_level=19,
        use_dictionary=["kind", "parent", "source"],
        write_statistics=False,
    )
    others = folder / "aliases.json"
    text = json.dumps(aliases.names, ensure_ascii=False, indent=1, sort_keys=True)
    others.write_text(text + "\n", encoding="utf-8")
    return features, others


def build(downloads: Path, folder: Path) -> tuple[Path, Path]:
    """Build both files into a folder and say what is in them."""
    aliases = AliasTable()
    found = collect(sources.fetch(downloads), aliases)
    check(found, aliases)
    for kind in KINDS:
        print(f"{sum(place.kind == kind for place in found):6d} {kind}")
    written = write(found, aliases, folder)
    for path in written:
        print(f"{path.name}: {path.stat().st_size / 1e6:.2f} MB, sha256 {digest(path)}")
    return written


def digest(path: Path) -> str:
    """The sha256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def main() -> int:
    """Build the shipped files, or compare a new build with them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--downloads",
        type=Path,
        default=platformdirs.user_cache_path("zephyrus") / "feature-sources",
        help="folder that keeps the downloaded packages (default: %(default)s)",
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="write nothing; say whether a new build equals the shipped files",
    )
    options = parser.parse_args()
    if not options.check:
        build(options.downloads, DATA)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        differ = [
            path.name
            for path in build(options.downloads, Path(folder))
            if digest(path) != digest(DATA / path.name)
        ]
    print(f"Different from the shipped files: {', '.join(differ)}." if differ else "Identical.")
    return 1 if differ else 0


if __name__ == "__main__":
    raise SystemExit(main())
