"""What is opened, and what is refused in one sentence."""

import gzip
import json
import sys
import zipfile
from pathlib import Path

import netCDF4
import numpy as np
import pytest
import xarray as xr

from zephyrus_geodata.errors import UnsuitableData
from zephyrus_geodata.reading.extras import need
from zephyrus_geodata.reading.netcdf3 import check_complete
from zephyrus_geodata.reading.opened import open_source

FORMATS = ["NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA", "NETCDF4"]


def write(path: Path, form: str, records: int | None = 3, variables: int = 2) -> Path:
    with netCDF4.Dataset(path, "w", format=form) as file:
        file.title = "odd"
        file.createDimension("time", None if records else 4)
        file.createDimension("x", 5)
        file.createVariable("fixed", "i2", ("x",))[:] = np.arange(5) + 1
        for number in range(variables):
            var = file.createVariable(f"v{number}", "i2" if number else "f4", ("time", "x"))
            var.units = "K"
            count = records or 4
            var[:] = np.arange(count * 5).reshape(count, 5) + 1
    return path


@pytest.mark.parametrize("form", FORMATS)
def test_every_netcdf_is_opened_by_its_content_whatever_its_name(tmp_path: Path, form: str) -> None:
    path = write(tmp_path / "forecast.txt", form)
    opened = open_source(path)
    assert opened.format == ("netcdf4" if form == "NETCDF4" else "netcdf3")
    (cube,) = opened.cubes
    assert cube["v0"].values[2, 4] == 15.0


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("records", [None, 1, 3])
@pytest.mark.parametrize("variables", [1, 2])
def test_a_cut_file_is_refused_wherever_it_is_cut(
    tmp_path: Path, form: str, records: int | None, variables: int
) -> None:
    whole = write(tmp_path / "whole.nc", form, records, variables).read_bytes()
    open_source(tmp_path / "whole.nc")
    cuts = {len(whole) - 4, len(whole) // 2, len(whole) // 4, 40}
    for cut in cuts:
        path = tmp_path / f"{cut}.nc"
        path.write_bytes(whole[:cut])
        with pytest.raises(UnsuitableData, match="not complete") as caught:
            open_source(path)
        assert str(path.name) in str(caught.value)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("form", FORMATS[:3])
@pytest.mark.parametrize("records", [None, 1, 3])
@pytest.mark.parametrize("variables", [0, 1, 2, 3])
def test_the_size_that_a_header_asks_for_is_exact(
    tmp_path: Path, form: str, records: int | None, variables: int
) -> None:
    """One byte less than the last value is too little; the padding after it may be missing."""
    path = write(tmp_path / "a.nc", form, records, variables)
    check_complete(path)
    whole = path.read_bytes()
    last = 20 if variables == 1 else 10  # bytes of the last variable's last record
    padding = -last % 4 if variables != 1 else 0
    path.write_bytes(whole[: len(whole) - padding - 1])
    with pytest.raises(UnsuitableData):
        check_complete(path)


def test_packing_and_declared_fills_are_undone_and_undeclared_ones_are_not(tmp_path: Path) -> None:
    with netCDF4.Dataset(tmp_path / "a.nc", "w") as file:
        file.createDimension("x", 3)
        packed = file.createVariable("packed", "i2", ("x",), fill_value=-1)
        packed.set_auto_maskandscale(False)
        packed.scale_factor, packed.add_offset = 0.5, 100.0
        packed[:] = [-1, 0, 4]
        plain = file.createVariable("plain", "f4", ("x",))
        plain.set_auto_mask(False)
        plain[:] = [1.0, netCDF4.default_fillvals["f4"], -9999.0]
    (cube,) = open_source(tmp_path / "a.nc").cubes
    np.testing.assert_array_equal(cube["packed"].values, [np.nan, 100.0, 102.0])
    assert cube["plain"].values[1] > 9e36
    assert cube["plain"].values[2] == -9999.0


def test_groups_of_a_netcdf4_file_are_cubes(tmp_path: Path) -> None:
    with netCDF4.Dataset(tmp_path / "a.nc", "w") as file:
        for name in ("surface", "upper"):
            group = file.createGroup(name)
            group.createDimension("x", 2)
            group.createVariable(name[0], "f4", ("x",))[:] = 1.0
    assert [list(c.variables) for c in open_source(tmp_path / "a.nc").cubes] == [["s"], ["u"]]


CASES = {
    "page.nc": (b"<!DOCTYPE html>\n<html><body>Sign in</body></html>", "web page"),
    "error.grib": (b'{"message": "quota exceeded"}', "is JSON and no data .*quota exceeded"),
    "denied.nc": (b'<?xml version="1.0"?><Error>AccessDenied</Error>', "is XML and no data"),
    "empty.nc": (b"", "is empty"),
    "packed.nc.gz": (gzip.compress(b"CDF\x01"), "gunzip"),
    "notes.txt": (b"time,temperature\n0,1\n", "is text and no gridded data"),
    "obs.bufr": (b"BUFR\x00\x00\x00\x04", "BUFR"),
    "noise.grib": (bytes(range(128, 256)) * 4, "neither NetCDF nor GRIB"),
    "paper.nc": (b"%PDF-1.7", "PDF"),
    "table.nc": (b"PAR1....", "Parquet"),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_no_data_is_told(tmp_path: Path, name: str) -> None:
    content, match = CASES[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UnsuitableData, match=match) as caught:
        open_source(tmp_path / name)
    assert str(caught.value).startswith(name)


def test_a_zip_archive_is_told(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "cds.nc", "w") as archive:
        archive.writestr("data.nc", b"CDF\x01")
    with pytest.raises(UnsuitableData, match="unpack it first"):
        open_source(tmp_path / "cds.nc")


def test_text_of_a_file_is_harmless_in_a_message(tmp_path: Path) -> None:
    (tmp_path / "a.nc").write_bytes(b"\x1b[31mred\x07 text")
    with pytest.raises(UnsuitableData) as caught:
        open_source(tmp_path / "a.nc")
    assert str(caught.value).isprintable()


def test_a_folder_is_read_whole_and_what_is_no_data_is_noted(tmp_path: Path) -> None:
    write(tmp_path / "a.nc", "NETCDF4")
    write(tmp_path / "b.nc", "NETCDF3_CLASSIC")
    (tmp_path / "README.md").write_text("hello")
    (tmp_path / ".hidden").write_text("hello")
    opened = open_source(tmp_path)
    assert len(opened.cubes) == 2
    assert opened.notes == ("1 files that are no data were skipped: README.md.",)
    (tmp_path / "none").mkdir()
    with pytest.raises(UnsuitableData, match="holds no NetCDF, GRIB or Zarr data"):
        open_source(tmp_path / "none")
    with pytest.raises(UnsuitableData, match="no file or folder"):
        open_source(tmp_path / "*.grib")


def test_an_icechunk_repository_is_told(tmp_path: Path) -> None:
    (tmp_path / "snapshots").mkdir()
    (tmp_path / "refs").mkdir()
    with pytest.raises(UnsuitableData, match="Icechunk"):
        open_source(tmp_path)


def test_zarr_of_both_versions(tmp_path: Path) -> None:
    pytest.importorskip("zarr")
    data = xr.Dataset({"a": (("x",), np.array([0.0, 1.5, np.nan]))}, coords={"x": np.arange(3.0)})
    for version in (2, 3):
        store = tmp_path / f"v{version}.zarr"
        data.to_zarr(store, zarr_format=version, consolidated=version == 2)
        opened = open_source(store)
        assert opened.format == f"zarr{version}"
        np.testing.assert_array_equal(opened.cubes[0]["a"].values, [0.0, 1.5, np.nan])
    assert len(open_source(tmp_path).cubes) == 2


def test_the_default_fill_of_zarr_2_is_a_number_and_is_told(tmp_path: Path) -> None:
    zarr = pytest.importorskip("zarr")
    group = zarr.open_group(tmp_path / "a.zarr", mode="w", zarr_format=2)
    rain = group.create_array("tp", shape=(2, 2), dtype="f4", fill_value=0.0)
    rain[:] = [[0.0, 1.0], [2.0, 0.0]]
    rain.attrs["_ARRAY_DIMENSIONS"] = ["lat", "lon"]
    lat = group.create_array("lat", shape=(2,), dtype="f8", fill_value=0.0)
    lat[:] = [0.0, 10.0]
    lat.attrs["_ARRAY_DIMENSIONS"] = ["lat"]
    opened = open_source(tmp_path / "a.zarr")
    np.testing.assert_array_equal(opened.cubes[0]["tp"].values, [[0.0, 1.0], [2.0, 0.0]])
    np.testing.assert_array_equal(opened.cubes[0]["lat"].values, [0.0, 10.0])
    assert any("never written" in note for note in opened.notes)


def test_metadata_of_a_store_alone_is_told(tmp_path: Path) -> None:
    (tmp_path / "zarr.json.copy").write_text(json.dumps({"zarr_format": 3, "node_type": "group"}))
    with pytest.raises(UnsuitableData, match="metadata of a Zarr store"):
        open_source(tmp_path / "zarr.json.copy")


def test_a_missing_package_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "eccodes", None)
    with pytest.raises(UnsuitableData, match=r"To read GRIB files install zephyrus\[data\]"):
        need("eccodes", "GRIB files")
