"""Pressure-level and sea-level fields from a sigma-level model. Arrays only, SI units."""

import numpy as np

GAS_CONSTANT = 287.04  # dry air, J kg-1 K-1
GRAVITY = 9.80665
LAPSE = 0.0065  # K m-1, the standard atmosphere's


def surface_temperature(
    pressure: np.ndarray, lowest_temperature: np.ndarray, lowest_pressure: np.ndarray
) -> np.ndarray:
    """Air temperature at the surface, from the lowest model level along 6.5 K/km.

    Trenberth, Berry and Buja 1993 (NCAR/TN-396), eq. 5; the same as ECMWF's.
    """
    ratio = pressure / lowest_pressure - 1.0
    return lowest_temperature * (1.0 + LAPSE * GAS_CONSTANT / GRAVITY * ratio)


def mean_sea_level_pressure(
    pressure: np.ndarray,
    lowest_temperature: np.ndarray,
    lowest_pressure: np.ndarray,
    surface_geopotential: np.ndarray,
) -> np.ndarray:
    """Reduce surface pressure (Pa) to sea level as NCAR/TN-396 section 3 does.

    The lapse rate is 6.5 K/km but is cut where the sea-level temperature would exceed 290.5 K,
    and cold surfaces (< 255 K) are warmed half way, so that plateaus do not grow false highs.
    """
    t_star = surface_temperature(pressure, lowest_temperature, lowest_pressure)
    height = surface_geopotential / GRAVITY
    t_zero = t_star + LAPSE * height
    with np.errstate(divide="ignore", invalid="ignore"):
        cut = (290.5 - t_star) * GAS_CONSTANT / surface_geopotential
    alpha = np.full_like(t_star, LAPSE * GAS_CONSTANT / GRAVITY)
    alpha = np.where((t_star <= 290.5) & (t_zero > 290.5), cut, alpha)
    hot = (t_star > 290.5) & (t_zero > 290.5)
    alpha = np.where(hot, 0.0, alpha)
    t_star = np.where(hot, 0.5 * (290.5 + t_star), t_star)
    t_star = np.where(t_star < 255.0, 0.5 * (255.0 + t_star), t_star)
    beta = surface_geopotential / (GAS_CONSTANT * t_star)
    reduced = pressure * np.exp(beta * (1 - alpha * beta / 2 + (alpha * beta) ** 2 / 3))
    return np.where(np.abs(height) < 0.1, pressure, reduced)


def to_pressure_level(
    target: float,
    full: np.ndarray,
    temperature: np.ndarray,
    geopotential: np.ndarray,
    pressure: np.ndarray,
    surface_geopotential: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Temperature (K) and geopotential (m2 s-2) at ``target`` Pa.

    Arrays are (time, level, latitude, longitude), top level first; ``pressure`` and
    ``surface_geopotential`` are the surface's. Temperature is linear in log pressure and the
    geopotential integrates it hydrostatically from the levels above and below, blended by
    nearness. Below the lowest level the surface is one more level; below the surface the
    temperature follows 6.5 K/km (NCAR/TN-396).
    """
    t_star = surface_temperature(pressure, temperature[:, -1], full[:, -1])
    ground = np.broadcast_to(surface_geopotential, t_star.shape)
    logp = np.log(np.concatenate([full, pressure[:, None]], 1))
    temps = np.concatenate([temperature, t_star[:, None]], 1)
    heights = np.concatenate([geopotential, ground[:, None]], 1)
    goal = np.log(target)
    below = np.clip((logp < goal).sum(1), 1, logp.shape[1] - 1)[:, None]

    def at(values: np.ndarray, index: np.ndarray) -> np.ndarray:
        return np.take_along_axis(values, index, 1)[:, 0]

    upper, lower = at(logp, below - 1), at(logp, below)
    share = (goal - upper) / (lower - upper)
    t_upper, t_lower = at(temps, below - 1), at(temps, below)
    t_goal = t_upper + share * (t_lower - t_upper)
    from_above = at(heights, below - 1) - GAS_CONSTANT * (t_upper + t_goal) / 2 * (goal - upper)
    from_below = at(heights, below) + GAS_CONSTANT * (t_lower + t_goal) / 2 * (lower - goal)
    z_goal = (1 - share) * from_above + share * from_below
    underground = goal > logp[:, -1]
    depth = np.maximum(goal - logp[:, -1], 0.0)
    exponent = GAS_CONSTANT * LAPSE / GRAVITY
    t_under = t_star * np.exp(exponent * depth)
    z_under = ground - GRAVITY / LAPSE * (t_under - t_star)
    return np.where(underground, t_under, t_goal), np.where(underground, z_under, z_goal)


def interpolate(target: float, full: np.ndarray, values: np.ndarray) -> np.ndarray:
    """``values`` at ``target`` Pa, linear in log pressure, constant below the lowest level."""
    logp, goal = np.log(full), np.log(target)
    below = np.clip((logp < goal).sum(1), 1, logp.shape[1] - 1)[:, None]
    upper = np.take_along_axis(logp, below - 1, 1)
    lower = np.take_along_axis(logp, below, 1)
    share = np.clip((goal - upper) / (lower - upper), 0.0, 1.0)
    top = np.take_along_axis(values, below - 1, 1)
    return (top + share * (np.take_along_axis(values, below, 1) - top))[:, 0]
