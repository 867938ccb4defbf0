"""A Zarr chunk that is something else, such as the page of a broken server."""

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from zephyrus_geodata.errors import UnsuitableData
from zephyrus_geodata.reading.opened import open_source
from zephyrus_geodata.reading.understand import understand

pytest.importorskip("zarr")


@pytest.mark.parametrize("version", [2, 3])
def test_a_page_in_the_place_of_a_chunk_is_one_sentence(tmp_path: Path, version: int) -> None:
    dims = ("time", "step", "latitude", "longitude")
    attrs = {"units": "K", "standard_name": "air_temperature", "long_name": "2 metre temperature"}
    store = tmp_path / "forecast.zarr"
    xr.Dataset(
        {"t2m": (dims, np.full((1, 3, 19, 36), 280.0, dtype="f4"), attrs)},
        {
            "time": np.array(["2020-01-01"], dtype="M8[ns]"),
            "step": np.array([0, 6, 12], dtype="m8[h]").astype("m8[ns]"),
            "latitude": np.linspace(90, -90, 19),
            "longitude": np.arange(0, 360, 10.0),
        },
    ).to_zarr(store, zarr_format=version, consolidated=version == 2)
    chunks = [p for p in (store / "t2m").rglob("*") if p.is_file() and p.name[0] in "0123456789"]
    assert chunks
    for chunk in chunks:
        chunk.write_bytes(b"<html>try again later</html>" * 20)
    with pytest.raises(UnsuitableData, match=r"t2m can't be read .* fetch it again"):
        understand(open_source([str(store)]))
