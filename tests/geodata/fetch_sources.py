"""Small stores and runs with the layouts of the real sources; values are known in advance."""

import json
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

LEVELS = (500, 850)
UNITS = {
    "2m_temperature": "K",
    "10m_u_component_of_wind": "m s**-1",
    "10m_v_component_of_wind": "m s**-1",
    "mean_sea_level_pressure": "Pa",
    "total_precipitation_6hr": "m",
    "temperature": "K",
    "geopotential": "m**2 s**-2",
}


def temperature(
    init: NDArray[Any], lead: NDArray[Any], lat: NDArray[Any], lon: NDArray[Any]
) -> NDArray[np.float64]:
    """K, (init, lead, lat, lon): every place and time has its own value."""
    days = (init.astype("datetime64[h]") - np.datetime64("2020-01-01T00")).astype(int) / 24
    return (
        250.0
        + 0.4 * np.asarray(lat)[None, None, :, None]
        + 3.0 * np.cos(np.deg2rad(lon))[None, None, None, :]
        + 1.5 * np.sin(np.deg2rad(lon))[None, None, None, :]
        + 0.01 * np.asarray(lead)[None, :, None, None]
        + 0.5 * (days % 20)[:, None, None, None]
    )


def weatherbench(
    path: Path,
    *,
    inits: Sequence[str] = ("2020-01-01T00", "2020-01-01T12", "2020-01-02T00"),
    leads: Sequence[int] | None = (0, 6, 12, 18, 24),
    shape: tuple[int, int] = (16, 8),
    is_ascending: bool = True,
    with_poles: bool = False,
    names: tuple[str, str] = ("latitude", "longitude"),
    precipitation: bool = True,
    levels: Sequence[int] = LEVELS,
    members: int = 0,
    chunk: int = 1,
) -> Path:
    """Write a store of WeatherBench 2: Zarr 2, longitude before latitude, ``time`` = initial time.

    Args:
        leads: None for analyses.
        shape: longitudes x latitudes, as its names have it.
        is_ascending: HRES has latitudes ascending; ERA5 and Pangu descending.
        names: GraphCast says lat, lon.
        levels: Pangu has them from 1000 down.
        chunk: lead times a chunk.
    """
    n, m = shape
    lon = np.arange(n) * 360.0 / n
    lat = np.linspace(-90, 90, m) if with_poles else (np.arange(m) + 0.5) * 180.0 / m - 90.0
    lat = lat if is_ascending else lat[::-1]
    init = np.array(inits, dtype="datetime64[ns]")
    hours = np.array(leads if leads is not None else [0])
    t = np.moveaxis(temperature(init, hours, lat, lon), -1, -2)  # (init, lead, lon, lat)
    y, x = names
    dims: tuple[str, ...] = ("time", "prediction_timedelta", x, y)
    fields: dict[str, Any] = {
        "2m_temperature": t,
        "10m_u_component_of_wind": 0.1 * (t - 250),
        "10m_v_component_of_wind": 0.05 * (t - 250) + 1.0,
        "mean_sea_level_pressure": 101_000.0 + 10 * (t - 250),
    }
    if precipitation:
        fields["total_precipitation_6hr"] = np.abs(np.sin(t)) * 1e-3
    data: dict[str, Any] = {n: (dims, values.astype("f4")) for n, values in fields.items()}
    stack = np.stack([t - 10.0 - 0.02 * (1000 - level) for level in levels], axis=2)
    deep = (*dims[:2], "level", *dims[2:])
    data["temperature"] = (deep, stack.astype("f4"))
    data["geopotential"] = (
        deep,
        np.stack(
            [np.full_like(t, 9.80665 * 7000 * np.log(1000 / level)) for level in levels], axis=2
        ).astype("f4"),
    )
    if members:
        offsets = np.arange(members, dtype="f4")
        for name, (has, values) in data.items():
            shape_ = (1, members) + (1,) * (values.ndim - 1)
            data[name] = (
                (has[0], "number", *has[1:]),
                values[:, None] + offsets.reshape(shape_[: values.ndim + 1]),
            )
    dataset = xr.Dataset(
        data,
        coords={
            "time": init,
            "prediction_timedelta": ("prediction_timedelta", hours, {"units": "hours"}),
            "level": ("level", np.array(levels, dtype="i8")),
            y: (y, lat.astype("f8")),
            x: (x, lon.astype("f8")),
        },
    )
    if members:
        dataset = dataset.assign_coords(number=np.arange(1, members + 1))
    if leads is None:
        dataset = dataset.isel(prediction_timedelta=0, drop=True)
    for name, units in UNITS.items():
        if name in dataset:
            dataset[name].attrs["units"] = units
    dataset["land_sea_mask"] = ((x, y), np.zeros((n, m), "f4"))
    chunks = {"time": 1, "prediction_timedelta": chunk}
    encoding: dict[str, Any] = {
        name: {"chunks": tuple(chunks.get(str(d), v.sizes[d]) for d in v.dims)}
        for name, v in dataset.data_vars.items()
    }
    encoding["time"] = {"units": "hours since 1959-01-01", "dtype": "int64"}
    path.parent.mkdir(parents=True, exist_ok=True)
    dataset.to_zarr(path, zarr_format=2, consolidated=True, encoding=encoding)
    return path


def dynamical(store: Any, schema: Mapping[str, Any] | None = None, steps: int = 13) -> None:
    """Write a store of dynamical.org: Zarr 3, sharded, °C, a rate of precipitation.

    Args:
        store: a path, or a store of zarr's.
        schema: the real ``zarr.json``; attributes of arrays are taken from it.
        steps: hourly lead times.
    """
    import zarr

    attrs = _dynamical_attrs(schema)
    lat, lon = np.linspace(90, -90, 19), np.arange(-180.0, 180.0, 10.0)
    init = np.array(["2024-01-01T00", "2024-01-01T06"], dtype="datetime64[s]")
    lead = np.arange(steps)
    t = temperature(init, lead, lat, lon) - 273.15
    path = str(store) if isinstance(store, Path) else store
    group = zarr.open_group(path, mode="w", zarr_format=3)
    group.attrs.update({"dataset_id": "noaa-gfs-forecast", "license": "CC-BY-4.0"})
    dims = ("init_time", "lead_time", "latitude", "longitude")

    def field(name: str, values: NDArray[Any]) -> None:
        array = group.create_array(
            name, shape=values.shape, dtype="float32", chunks=(1, 7, 10, 9),
            shards=(1, 14, 10, 18), fill_value=float("nan"), dimension_names=dims,
            attributes=attrs[name],
        )  # fmt: skip
        array[:] = values.astype("f4")

    def axis(name: str, values: NDArray[Any], on: tuple[str, ...], **more: Any) -> None:
        array = group.create_array(
            name, shape=values.shape, dtype=values.dtype, chunks=tuple(max(n, 40) for n in values.shape),
            dimension_names=on, attributes=more, fill_value=0,
        )  # fmt: skip
        array[...] = values

    field("temperature_2m", t)
    field("wind_u_10m", 0.1 * t)
    field("wind_v_10m", 0.05 * t)
    field("pressure_reduced_to_mean_sea_level", 101_000 + 10 * t)
    rate = np.full_like(t, 1e-3 / 3600) * (1 + lead)[None, :, None, None]  # (1 + h) um in the hour
    rate[:, 0] = np.nan
    field("precipitation_surface", rate)
    clock = {"units": "seconds since 1970-01-01", "calendar": "proleptic_gregorian"}
    axis("init_time", init.astype("i8"), ("init_time",), **clock)
    axis("lead_time", lead * 3600.0, ("lead_time",), units="seconds", dtype="timedelta64[us]")
    axis("latitude", lat, ("latitude",), units="degrees_north")
    axis("longitude", lon, ("longitude",), units="degrees_east")
    axis(
        "valid_time",
        init.astype("i8")[:, None] + lead * 3600,
        ("init_time", "lead_time"),
        **clock,
    )
    length = {"units": "seconds", "dtype": "timedelta64[us]"}
    full = (steps - 1) * 3600.0
    axis("expected_forecast_length", np.array([full, full]), ("init_time",), **length)
    axis("ingested_forecast_length", np.array([full, 3600.0]), ("init_time",), **length)
    if isinstance(store, Path):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "not part of the specification"; the real one has it
            zarr.consolidate_metadata(path, zarr_format=3)


def _dynamical_attrs(schema: Mapping[str, Any] | None) -> dict[str, dict[str, Any]]:
    names = {
        "temperature_2m": ("degree_Celsius", "instant", "air_temperature"),
        "wind_u_10m": ("m s-1", "instant", "eastward_wind"),
        "wind_v_10m": ("m s-1", "instant", "northward_wind"),
        "pressure_reduced_to_mean_sea_level": (
            "Pa", "instant", "air_pressure_at_mean_sea_level",
        ),
        "precipitation_surface": ("kg m-2 s-1", "avg", "precipitation_flux"),
    }  # fmt: skip
    if schema is not None:
        entries = schema["consolidated_metadata"]["metadata"]
        return {
            name: {k: v for k, v in entries[name]["attributes"].items() if k != "_FillValue"}
            for name in names
        }
    made: dict[str, dict[str, Any]] = {
        name: {
            "units": units,
            "step_type": step,
            "standard_name": standard,
            "coordinates": "expected_forecast_length ingested_forecast_length valid_time",
        }
        for name, (units, step, standard) in names.items()
    }
    made["precipitation_surface"]["comment"] = (
        "Average precipitation rate since the previous forecast step. Units equivalent to mm/s."
    )
    return made


GRID = {
    "Ni": 36, "Nj": 19, "latitudeOfFirstGridPointInDegrees": 90.0,
    "latitudeOfLastGridPointInDegrees": -90.0, "longitudeOfFirstGridPointInDegrees": 0.0,
    "longitudeOfLastGridPointInDegrees": 350.0, "iDirectionIncrementInDegrees": 10.0,
    "jDirectionIncrementInDegrees": 10.0,
}  # fmt: skip
LAT, LON = np.linspace(90, -90, 19), np.arange(36) * 10.0


def _fields(run: str, lead: int) -> dict[str, NDArray[np.float64]]:
    moment = np.array([run], dtype="datetime64[s]")
    t = temperature(moment, np.array([lead]), LAT, LON)[0, 0]
    return {
        "2t": t,
        "10u": 0.1 * (t - 250),
        "10v": 0.05 * (t - 250) + 1.0,
        "prmsl": 101_000 + 10 * (t - 250),
        "gh": 5500.0 + 10.0 * (t - 250),
    }


def gfs_file(run: str, lead: int) -> tuple[bytes, str]:
    """Return a file of a GFS run, and its index: amounts since the start and of the bucket."""
    from grib_maker import accumulation, instant, message

    day = {"dataDate": int(run[:10].replace("-", "")), "dataTime": int(run[11:13]) * 100}
    day |= {"centre": "kwbc"}  # whose precipitation is in kg m-2
    when = "anl" if lead == 0 else f"{lead} hour fcst"
    fields = _fields(run, lead)
    wind = {"typeOfFirstFixedSurface": 103, "level": 10}
    parts = [
        (f"PRMSL:mean sea level:{when}", instant("prmsl", lead, **day), fields["prmsl"]),
        (f"TMP:2 m above ground:{when}", instant("2t", lead, **day), fields["2t"]),
        (f"UGRD:10 m above ground:{when}", instant("10u", lead, **day, **wind), fields["10u"]),
        (f"VGRD:10 m above ground:{when}", instant("10v", lead, **day, **wind), fields["10v"]),
        (f"TMP:surface:{when}", instant("t", lead, **day), fields["2t"] + 5),
    ]
    for level in LEVELS:
        on = {"typeOfFirstFixedSurface": "pl", "level": level}
        parts.append(
            (
                f"TMP:{level} mb:{when}",
                instant("t", lead, **on, **day),
                fields["2t"] - 20 + level / 50,
            )
        )
    on = {"typeOfFirstFixedSurface": "pl", "level": 500}
    parts.append((f"HGT:500 mb:{when}", instant("gh", lead, **on, **day), fields["gh"]))
    if lead:
        start = (lead - 1) // 6 * 6
        rain = np.full_like(fields["2t"], 1.0)
        for first in (start, 0):
            keys = accumulation("tp", first, lead) | day
            del keys["shortName"]  # ECMWF's own, in m
            keys |= {"parameterCategory": 1, "parameterNumber": 8}
            name = f"APCP:surface:{first}-{lead} hour acc fcst"
            parts.append((name, keys, rain * (lead - first) / 6))
    data, index = b"", []
    for number, (name, keys, values) in enumerate(parts, 1):
        index.append(f"{number}:{len(data)}:d={run[:13].replace('-', '').replace('T', '')}:{name}:")
        data += message(keys, values, grid=GRID)
    return data, "\n".join(index) + "\n"


def gfs_run(root: Path, run: str, leads: Sequence[int]) -> None:
    """Write a run below the base of a GFS bucket."""
    date, hour = run[:10].replace("-", ""), run[11:13]
    folder = root / f"gfs.{date}" / hour / "atmos"
    folder.mkdir(parents=True, exist_ok=True)
    for lead in leads:
        data, index = gfs_file(run, lead)
        path = folder / f"gfs.t{hour}z.pgrb2.0p25.f{lead:03d}"
        path.write_bytes(data)
        path.with_name(f"{path.name}.idx").write_text(index)


def ecmwf_file(run: str, lead: int, members: int = 0) -> tuple[bytes, str]:
    """Return a file of ECMWF's open data and its index: precipitation in m since the start."""
    from grib_maker import accumulation, instant, message

    day = {"dataDate": int(run[:10].replace("-", "")), "dataTime": int(run[11:13]) * 100}
    fields = _fields(run, lead)
    wind = {"typeOfFirstFixedSurface": 103, "level": 10}
    data, index = b"", []
    for member in range(members) if members else (None,):
        ens: dict[str, Any] = {}
        if member is not None:
            ens = {
                "productDefinitionTemplateNumber": 1,
                "typeOfProcessedData": "cf" if member == 0 else "pf",
                "typeOfEnsembleForecast": 1 if member == 0 else 3,
                "numberOfForecastsInEnsemble": members,
                "perturbationNumber": member,
            }
        entries: list[tuple[dict[str, str], dict[str, Any], NDArray[np.float64]]] = [
            (
                {"param": "2t", "levtype": "sfc"},
                instant("2t", lead, **day),
                fields["2t"] + (member or 0),
            ),
            (
                {"param": "10u", "levtype": "sfc"},
                instant("10u", lead, **day, **wind),
                fields["10u"],
            ),
            (
                {"param": "10v", "levtype": "sfc"},
                instant("10v", lead, **day, **wind),
                fields["10v"],
            ),
            ({"param": "msl", "levtype": "sfc"}, instant("prmsl", lead, **day), fields["prmsl"]),
            (
                {"param": "gh", "levtype": "pl", "levelist": "500"},
                instant("gh", lead, typeOfFirstFixedSurface="pl", level=500, **day),
                fields["gh"],
            ),
            *(
                (
                    {"param": "t", "levtype": "pl", "levelist": str(level)},
                    instant("t", lead, typeOfFirstFixedSurface="pl", level=level, **day),
                    fields["2t"] - 20 + level / 50,
                )
                for level in LEVELS
            ),
        ]
        if member is None and lead:
            entries.append(
                (
                    {"param": "tp", "levtype": "sfc"},
                    accumulation("tp", 0, lead) | day,
                    np.full_like(fields["2t"], 1e-3 * lead / 6),
                )
            )
        for keys, grib, values in entries:
            if ens:
                grib = {**ens, **grib}
            bytes_ = message(grib, values, grid=GRID)
            line = {"domain": "g", "date": str(day["dataDate"]), "time": f"{day['dataTime']:04d}"}
            line |= {"type": "fc", "stream": "oper", "step": str(lead), **keys}
            if member is not None:
                line |= {"type": "cf" if member == 0 else "pf", "stream": "enfo"}
                line |= {"number": str(member)} if member else {}
            offsets = {"_offset": len(data), "_length": len(bytes_)}
            index.append(json.dumps({**line, **offsets}))
            data += bytes_
    return data, "\n".join(index) + "\n"


def ecmwf_run(
    root: Path, run: str, leads: Sequence[int], stream: str = "oper", members: int = 0
) -> None:
    """Write a run below the base of ECMWF's open data."""
    date, hour = run[:10].replace("-", ""), run[11:13]
    folder = root / date / f"{hour}z" / "ifs" / "0p25" / stream
    folder.mkdir(parents=True, exist_ok=True)
    kind = "ef" if members else "fc"
    for lead in leads:
        data, index = ecmwf_file(run, lead, members)
        path = folder / f"{date}{hour}0000-{lead}h-{stream}-{kind}.grib2"
        path.write_bytes(data)
        path.with_suffix(".index").write_text(index)
