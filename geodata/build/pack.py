"""Pack the simulation into the demo dataset: forecasts and a climatology, a few megabytes each.

    python geodata/build/pack.py --simulation build/nature --days 0 95 195 290 --years 4

Values are rounded to the precision below, stored as int16 and deflated: any NetCDF reader opens
the files. Tools and gold answers read the same rounded values. Runs in Zephyrus's environment.
"""

import argparse
from pathlib import Path

import numpy as np
import xarray as xr

PRECISION = {  # SI units
    "2m_temperature": 0.1,
    "10m_u_component_of_wind": 0.1,
    "10m_v_component_of_wind": 0.1,
    "10m_wind_speed": 0.1,
    "mean_sea_level_pressure": 10.0,
    "total_precipitation_6hr": 2e-5,
    "total_cloud_cover": 0.01,
    "geopotential": 10.0,
    "temperature": 0.1,
    "u_component_of_wind": 0.2,
    "v_component_of_wind": 0.2,
}
UNITS = {
    "2m_temperature": "K",
    "mean_sea_level_pressure": "Pa",
    "total_precipitation_6hr": "m",
    "total_cloud_cover": "1",
    "geopotential": "m2 s-2",
    "temperature": "K",
}
LEVELS = (500, 850)
PERCENTILES = (5, 10, 25, 50, 75, 90, 95)
CLIMATE_ONLY = ("10m_wind_speed",)  # forecasts derive it from the components
FORECAST_ONLY = ("u_component_of_wind", "v_component_of_wind")
SPIN_UP_DAYS = 60
FORECAST_DAYS = 10
LIMITS = (
    "Simulated weather, not observed: jcm 3.0.0 (SPEEDY physics, eight levels) with prescribed sea "
    "surface temperature and daily-mean sunshine, so there is no diurnal cycle, no gusts and no "
    "fine detail of fronts or convection. No forecast skill is claimed."
)


def main() -> None:
    """Parse the command line and write the files."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulation", type=Path, required=True)
    parser.add_argument("--days", type=int, nargs="+", required=True, help="initial times")
    parser.add_argument("--years", type=int, required=True, help="length of the climatology")
    parser.add_argument(
        "--output",
        type=Path,
        default=Path(__file__).parents[1] / "zephyrus_geodata" / "data" / "demo",
    )
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    for day in options.days:
        pack_forecast(options.simulation, day, options.output)
    pack_climatology(options.simulation, options.years, options.output)
    total = sum(path.stat().st_size for path in options.output.glob("*.nc"))
    print(f"{total / 1e6:.1f} MB in {options.output}")


def pack_forecast(simulation: Path, day: int, output: Path) -> None:
    """Ten days from ``day`` on: from the run itself for day 0, else from the twin."""
    folder = simulation if day == 0 else simulation / f"twin{day:05d}"
    paths = [folder / f"day{d:05d}.nc" for d in range(day, day + FORECAST_DAYS, 5)]
    data = xr.concat([open_fields(path) for path in paths], "time")
    start = data.time.values[0] - np.timedelta64(6, "h")
    lead = ((data.time.values - start) / np.timedelta64(1, "h")).astype("i4")
    data = data.rename(time="lead_time").assign_coords(
        lead_time=("lead_time", lead, {"units": "hours", "long_name": "lead time"})
    )
    data = data.drop_vars(CLIMATE_ONLY)
    name = np.datetime_as_string(start, "D")
    origin = (
        "the ERA5 analysis of 1959-01-02 00 UTC (Copernicus Climate Change Service), as carried "
        "by the neuralgcm 1.2.2 wheel, on the model's grid"
        if day == 0
        else "a perturbed twin of the model's own long run (30 days after the perturbation)"
    )
    data.attrs = {
        "init_time": np.datetime_as_string(start, "s"),
        "label": f"simulated ({model_name(data)})",
        "initial_state": origin,
        "limits": LIMITS,
        "title": f"Zephyrus demo forecast {name}",
    }
    write(data, output / f"forecast-{name}.nc", chunk_over="lead_time")


def pack_climatology(simulation: Path, years: int, output: Path) -> None:
    """Monthly percentiles, mean and standard deviation of the long run after its spin-up."""
    paths = sorted(simulation.glob("day*.nc"))
    data = xr.concat([open_fields(path) for path in paths], "time").drop_vars(FORECAST_ONLY)
    start = data.time.values[0] - np.timedelta64(6, "h") + np.timedelta64(SPIN_UP_DAYS, "D")
    end = start + np.timedelta64(round(365.25 * years * 24), "h")
    if end > data.time.values[-1] + np.timedelta64(6, "h"):
        raise SystemExit(f"the simulation ends {data.time.values[-1]}, before {years} years are up")
    data = data.sel(time=slice(start + np.timedelta64(6, "h"), end))
    month = data.time.dt.month.values
    statistics = [f"p{p}" for p in PERCENTILES] + ["mean", "std"]
    out = {}
    for name in data.data_vars:
        values = data[name].values
        rows = []
        for m in range(1, 13):
            sample = values[month == m].astype("f8")
            rows.append(
                np.concatenate(
                    [
                        np.percentile(sample, PERCENTILES, axis=0),
                        sample.mean(0, keepdims=True),
                        sample.std(0, keepdims=True),
                    ]
                )
            )
        dims = ("month", "statistic", *data[name].dims[1:])
        out[name] = (dims, np.stack(rows).astype("f4"), data[name].attrs)
    climatology = xr.Dataset(
        out,
        {
            "month": np.arange(1, 13, dtype="i4"),
            "statistic": statistics,
            **{k: data[k] for k in ("level", "latitude", "longitude")},
        },
    )
    climatology.attrs = {
        "label": f"simulated ({model_name(data)})",
        "period": f"{years} model years from {np.datetime_as_string(start, 'D')}, 6-hourly",
        "limits": LIMITS,
        "title": "Zephyrus demo climatology",
    }
    write(climatology, output / "climatology.nc", chunk_over="statistic")


def open_fields(path: Path) -> xr.Dataset:
    """One simulated file with WeatherBench 2 names and dimensions, longitude -180 to 180."""
    raw = xr.open_dataset(path).load()
    flat = [name for name in raw.data_vars if str(name).endswith(tuple(f"_{v}" for v in LEVELS))]
    data = raw.drop_vars(flat)
    for base in sorted({str(name).rsplit("_", 1)[0] for name in flat}):
        stacked = xr.concat([raw[f"{base}_{v}"] for v in LEVELS], "level")
        data[base] = stacked.transpose("time", "level", "latitude", "longitude")
    data = data.assign_coords(level=("level", np.array(LEVELS, "i4"), {"units": "hPa"}))
    data["10m_wind_speed"] = np.hypot(
        data["10m_u_component_of_wind"], data["10m_v_component_of_wind"]
    )
    data = data.assign_coords(longitude=(data.longitude + 180) % 360 - 180).sortby("longitude")
    for name in data.data_vars:
        data[name].attrs = {"units": UNITS.get(str(name), "m s-1")}
    data.latitude.attrs = {"units": "degrees_north"}
    data.longitude.attrs = {"units": "degrees_east"}
    return data.sortby("latitude")


def model_name(data: xr.Dataset) -> str:
    """The model with its truncation, from the number of longitudes."""
    return f"jcm T{ {96: 31, 128: 42, 192: 63}[data.sizes['longitude']] }"


def write(data: xr.Dataset, path: Path, chunk_over: str) -> None:
    """Round, pack to int16, deflate; the whole of ``chunk_over`` in one chunk."""
    encoding = {}
    for name in data.data_vars:
        step = PRECISION[str(name)]
        low, high = float(data[name].min()), float(data[name].max())
        offset = round((low + high) / 2 / step) * step
        if (high - low) / step > 65000:
            raise SystemExit(f"{name} spans {high - low:g}, too much for int16 at {step:g}")
        encoding[name] = {
            "dtype": "int16",
            "scale_factor": step,
            "add_offset": offset,
            "_FillValue": -32768,
            "zlib": True,
            "complevel": 9,
            "shuffle": True,
            "chunksizes": tuple(
                n if d in (chunk_over, "latitude", "longitude") else 1
                for d, n in zip(data[name].dims, data[name].shape, strict=True)
            ),
        }
    part = path.with_suffix(".part")
    data.to_netcdf(part, encoding=encoding, engine="netcdf4")
    part.replace(path)
    print(f"{path.name}: {path.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
