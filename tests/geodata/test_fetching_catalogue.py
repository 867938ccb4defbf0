import re
from typing import Any

import numpy as np
import pytest

from zephyrus_geodata.fetching.catalogue import Source, source, sources
from zephyrus_geodata.fetching.errors import FetchError
from zephyrus_geodata.fetching.mirror import store_url
from zephyrus_geodata.fetching.request import make_request
from zephyrus_geodata.variables import ON_LEVELS, is_variable

WB2 = "https://storage.googleapis.com/weatherbench2/datasets"


@pytest.mark.parametrize("it", sources(), ids=lambda it: it.name)
def test_every_source_is_whole(it: Source) -> None:
    assert it.title and it.licence and it.attribution and it.covers and it.lead is not None
    assert it.base.startswith("https://") and not it.base.endswith("/")
    assert all(base.startswith("https://") for base in it.mirrors.values())
    assert not it.mirrors or it.base in it.mirrors.values()
    for name in it.variables:
        assert is_variable(name) or name in ON_LEVELS, name
    for name in it.without:
        assert is_variable(name)
    assert set(it.stepwise) <= set(it.variables.values())
    if it.kind == "forecast":
        assert re.fullmatch(r"\d+\.\.\d+(/\d+)?", it.lead)
    if it.transport == "zarr":
        assert it.resolution in it.paths
        assert all(not p.startswith("/") and ".zarr" in p for p in it.paths.values())
    if it.transport == "grib":
        assert it.cycle and it.layouts and it.index and np.datetime64(it.since)
        hours = sorted(hour for hours, _ in it.leads for hour in hours)
        assert hours == list(range(0, 24, it.cycle))
        assert not it.layouts[-1].until and not it.layouts[-1].hours
    make_request(it if it.name != "dynamical:*" else source("dynamical:some-dataset"))


def test_addresses() -> None:
    def address(name: str, resolution: str | None = None) -> str:
        return store_url(make_request(source(name), init="2020", resolution=resolution))

    assert address("wb2:hres", "5.625") == (
        f"{WB2}/hres/2016-2022-0012-64x32_equiangular_conservative.zarr"
    )
    assert address("wb2:hres", "1440x721") == f"{WB2}/hres/2016-2022-0012-1440x721.zarr"
    assert address("wb2:pangu", "0.25°") == f"{WB2}/pangu/2018-2022_0012_0p25.zarr"
    assert address("wb2:era5") == (
        f"{WB2}/era5/1959-2023_01_10-6h-240x121_equiangular_with_poles_conservative.zarr"
    )
    assert address("arco-era5") == (
        "https://storage.googleapis.com/gcp-public-data-arco-era5/"
        "ar/full_37-1h-0p25deg-chunk-1.zarr-v3"
    )


def test_names_of_sources() -> None:
    assert source("dynamical:noaa-gefs-analysis").title == "noaa-gefs-analysis, dynamical.org"
    assert source("dynamical:noaa-gfs-forecast").title.startswith("NOAA GFS forecasts")
    with pytest.raises(FetchError, match="Did you mean 'wb2:hres'"):
        source("wb2:hrse")
    for name in ("dynamical:", "dynamical:*", "dynamical:../x", "", "WB2:HRES "):
        with pytest.raises(FetchError, match="There is no source"):
            source(name)


@pytest.mark.parametrize(
    ("name", "wanted", "message"),
    [
        ("wb2:hres", {"init": "2020", "start": "2020"}, "either --init, or --from and --to"),
        ("wb2:era5", {"init": "2020", "lead": "6"}, "there are no lead times"),
        ("wb2:era5", {"start": "2020"}, "both --from and --to"),
        ("gfs", {"base_url": "moon"}, "one of aws, google, nomads or an address"),
        ("wb2:era5", {"base_url": "moon"}, r"give an address \(https://"),
        ("gfs", {"resolution": "0.1"}, "gfs has 0.25, 0.5, 1"),
        ("gfs", {"bbox": "1,2,3"}, "west,south,east,north"),
        ("gfs", {"bbox": "0,50,10,40"}, "west,south,east,north"),
        ("gfs", {"bbox": "nan,40,10,50"}, "west,south,east,north"),
        ("gfs", {"variables": ("2m_temprature",)}, "did you mean 2m_temperature"),
        ("gfs", {"variables": ("temperature",)}, "there is no such variable"),
        ("wb2:hres_t0", {"variables": ("total_precipitation_6hr",)}, "is 0 everywhere"),
    ],
)
def test_requests_that_can_be_refused_at_once(
    name: str, wanted: dict[str, Any], message: str
) -> None:
    with pytest.raises(FetchError, match=message):
        make_request(source(name), **wanted)


def test_what_is_taken_unless_something_is_said() -> None:
    assert make_request(source("gfs")).times == "latest"
    assert make_request(source("wb2:hres")).times == ""
    assert make_request(source("wb2:hres"), start="2020-01-01").times == "2020-01-01.."
    assert make_request(source("gfs")).lead == "0..240/6"
    assert make_request(source("gfs"), lead="all").lead == ""
    assert "total_precipitation_6hr" not in make_request(source("wb2:hres_t0")).variables
    assert make_request(source("gfs"), base_url="nomads").base.startswith("https://nomads.")
