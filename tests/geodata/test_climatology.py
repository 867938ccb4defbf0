from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from zephyrus_geodata.climatology import PERCENTILES, STATISTICS, Climatology
from zephyrus_geodata.errors import UnknownVariable, UnsuitableData
from zephyrus_geodata.testing import analytic_dataset
from zephyrus_geodata.variables import VARIABLES

# Not the order of STATISTICS, so that a position taken for a name shows.
SHUFFLED = ("mean", "std", "p95", "p5", "p10", "p25", "p50", "p75", "p90")


def raw() -> xr.Dataset:
    """Values that say where they belong: month * 1000 + position in SHUFFLED * 100 + lat."""
    lat, lon = np.array([80.0, 0.0, -80.0]), np.array([0.0, 90.0, 180.0, 270.0])
    values = (
        np.arange(1, 13)[:, None, None, None] * 1000.0
        + np.arange(9)[None, :, None, None] * 100
        + lat[None, None, :, None]
        + lon[None, None, None, :] / 1000
    )
    dims = ("month", "statistic", "latitude", "longitude")
    return xr.Dataset(
        {
            "2m_temperature": (dims, values),
            "geopotential": (
                ("month", "statistic", "level", "latitude", "longitude"),
                np.stack([values + 85_000, values + 50_000], axis=2),
            ),
        },
        {
            "month": np.arange(1, 13),
            "statistic": list(SHUFFLED),
            "level": [850, 500],
            "latitude": lat,
            "longitude": lon,
        },
        {"period": "36 simulated months", "label": "made up", "source": "a test"},
    )


@pytest.mark.parametrize("way", ["xarray", "netcdf4", "netcdf3"])
def test_cells_are_found_by_name(way: str, tmp_path: Path) -> None:
    if way == "xarray":
        climatology = Climatology.from_xarray(raw())
    else:
        path = tmp_path / "climatology.nc"
        raw().to_netcdf(path, format="NETCDF4" if way == "netcdf4" else "NETCDF3_CLASSIC")
        climatology = Climatology.open(path)
    assert climatology.variables == ("2m_temperature", "geopotential_500", "geopotential_850")
    assert climatology.period == "36 simulated months"
    assert climatology.label == "made up"
    assert climatology.provenance == {"source": "a test"}
    for month, statistic, lat, lon in [(1, "p5", 80, 0), (12, "mean", -80, 270), (7, "p90", 0, 90)]:
        cell = climatology.grid.nearest(lat, lon)
        value = month * 1000 + SHUFFLED.index(statistic) * 100 + lat + lon / 1000
        found = climatology.cells("2m_temperature", statistic, month)
        assert found.shape == (12,)
        assert found.dtype == np.float32
        assert found[cell] == pytest.approx(value, abs=1e-3)
        high = climatology.cells("geopotential_500", statistic, month)[cell]
        assert high == pytest.approx(value + 50_000, abs=1e-2)
        low = climatology.cells("geopotential_850", statistic, month)[cell]
        assert low == pytest.approx(value + 85_000, abs=1e-2)


def test_the_statistics_are_the_agreed_ones() -> None:
    assert Climatology.percentiles == PERCENTILES == (5, 10, 25, 50, 75, 90, 95)
    assert STATISTICS == ("p5", "p10", "p25", "p50", "p75", "p90", "p95", "mean", "std")


def test_values_are_read_only() -> None:
    cells = Climatology.from_xarray(raw()).cells("2m_temperature", "mean", 1)
    with pytest.raises(ValueError, match="read-only"):
        cells[0] = 0.0


def test_unknown_names_are_refused() -> None:
    climatology = Climatology.from_xarray(raw())
    with pytest.raises(UnknownVariable, match="has no variable 'rain'; it has 2m_temperature"):
        climatology.cells("rain", "mean", 1)
    with pytest.raises(ValueError, match="no statistic 'p99'; use one of p5, p10"):
        climatology.cells("2m_temperature", "p99", 1)
    for month in (0, 13):
        with pytest.raises(ValueError, match=f"no month {month}"):
            climatology.cells("2m_temperature", "mean", month)


def test_what_is_not_a_climatology_is_refused() -> None:
    with pytest.raises(UnsuitableData, match="no month 12"):
        Climatology.from_xarray(raw().isel(month=slice(0, 11)))
    with pytest.raises(UnsuitableData, match="no statistic p90"):
        Climatology.from_xarray(raw().isel(statistic=slice(0, 8)))
    with pytest.raises(UnsuitableData, match="no statistic coordinate"):
        Climatology.from_xarray(raw().isel(statistic=0, drop=True))
    ds = raw()
    ds["2m_temperature"].attrs["units"] = "degC"
    with pytest.raises(UnsuitableData, match="2m_temperature is in 'degC'; K is needed"):
        Climatology.from_xarray(ds)
    with pytest.raises(UnsuitableData, match="no known variable"):
        Climatology.from_xarray(raw().drop_vars(list(raw().data_vars)))


def test_round_trip_through_xarray_and_a_packed_file(tmp_path: Path) -> None:
    climatology = analytic_dataset(step=30.0).climatology
    assert climatology is not None
    ds = climatology.to_xarray()
    assert ds["temperature"].dims == ("month", "statistic", "level", "latitude", "longitude")
    ds.to_netcdf(tmp_path / "climatology.nc")
    for again in (
        Climatology.from_xarray(ds),
        Climatology.open(tmp_path / "climatology.nc"),
    ):
        assert again.variables == climatology.variables == tuple(VARIABLES)
        assert again.grid == climatology.grid
        assert (again.period, again.label) == (climatology.period, climatology.label)
        for name in VARIABLES:
            for statistic in STATISTICS:
                np.testing.assert_array_equal(
                    again.cells(name, statistic, 3), climatology.cells(name, statistic, 3)
                )
