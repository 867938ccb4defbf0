import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))  # for the server and sources beside the tests

pytest.importorskip("zarr")

import fetch_sources
from fetch_server import FetchServer, serving

from zephyrus_geodata import Dataset
from zephyrus_geodata.fetching.catalogue import source
from zephyrus_geodata.fetching.errors import FetchError
from zephyrus_geodata.fetching.fetch import Fetch, fetch
from zephyrus_geodata.fetching.request import make_request
from zephyrus_geodata.web.errors import FetchFailed

NAME = "dynamical:noaa-gfs-forecast"


def test_without_the_package_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "icechunk", None)
    with pytest.raises(FetchError, match="pip install icechunk, or name a Zarr copy"):
        Fetch(make_request(source(NAME)), cache=tmp_path).plan()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    icechunk = pytest.importorskip("icechunk")
    path = tmp_path / "repository"
    repo = icechunk.Repository.create(icechunk.local_filesystem_storage(str(path)))
    session = repo.writable_session("main")
    fetch_sources.dynamical(session.store)
    session.commit("made")
    return path


@pytest.fixture
def server(tmp_path: Path, repository: Path) -> Iterator[FetchServer]:
    """Serve a STAC catalogue, as stac.dynamical.org has it."""
    www = tmp_path / "www"
    (www / "noaa-gfs-forecast").mkdir(parents=True)
    links = [
        {"rel": "root", "href": "./catalog.json"},
        {"rel": "child", "href": "./noaa-gfs-analysis/collection.json"},
        {"rel": "child", "href": "./noaa-gfs-forecast/collection.json"},
    ]
    (www / "catalog.json").write_text(json.dumps({"links": links}))
    asset = {
        "href": f"file://{repository}",
        "xarray:storage_options": {"client_kwargs": {"region_name": "us-west-2"}},
    }
    collection = {"id": "noaa-gfs-forecast", "assets": {"icechunk": asset}}
    (www / "noaa-gfs-forecast" / "collection.json").write_text(json.dumps(collection))
    with serving(www) as it:
        yield it


def wanted(name: str, base: str, **more: Any) -> Any:
    return make_request(source(name), base_url=base, lead="0..12/6", **more)


def test_a_repository_by_the_catalogue(server: FetchServer, tmp_path: Path) -> None:
    request = wanted(NAME, f"{server.url}/catalog.json")
    done = fetch(request, "it", root=tmp_path / "data", cache=tmp_path / "cache")
    forecast = Dataset.from_folder(tmp_path / "data" / "it").forecast("2024-01-01")
    assert forecast.init_time == np.datetime64("2024-01-01T00")
    assert forecast.lead_hours.tolist() == [0, 6, 12]
    grid = forecast.grid
    want = fetch_sources.temperature(
        np.array([forecast.init_time]), forecast.lead_hours, grid.latitude, grid.longitude
    )[0]
    cells = forecast.cells("2m_temperature").reshape(*grid.shape, -1)
    assert np.moveaxis(cells, -1, 0) == pytest.approx(want, abs=1e-3)
    assert forecast.cells("total_precipitation")[:, 2] == pytest.approx(63e-6, rel=1e-3)
    assert done.plan.where.startswith("file://") and not done.plan.is_exact


def test_a_dataset_that_is_not_in_the_catalogue(server: FetchServer, tmp_path: Path) -> None:
    with pytest.raises(FetchError, match="no dataset 'gfs'; it has noaa-gfs-analysis, noaa-gfs-f"):
        Fetch(wanted("dynamical:gfs", f"{server.url}/catalog.json"), cache=tmp_path).plan()
    (server.root / "catalog.json").write_text("<html></html>")
    with pytest.raises(FetchFailed, match="no STAC catalogue"):
        Fetch(wanted(NAME, f"{server.url}/catalog.json"), cache=tmp_path).plan()


def test_a_folder_that_is_no_repository(repository: Path, tmp_path: Path) -> None:
    with pytest.raises(FetchError, match="There is no folder"):
        Fetch(wanted(NAME, f"file://{tmp_path}/nothing"), cache=tmp_path).plan()
    (tmp_path / "empty").mkdir()
    with pytest.raises(FetchFailed, match="can't be opened as an Icechunk repository"):
        Fetch(wanted(NAME, f"file://{tmp_path}/empty"), cache=tmp_path).plan()
