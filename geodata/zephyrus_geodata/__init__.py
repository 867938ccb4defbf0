"""Grids, forecasts, climatology, named features and zonal statistics.

Everything public is reachable from here and imported on first use, so that ``import
zephyrus_geodata`` costs nothing (neither numpy nor shapely is loaded).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zephyrus_geodata.climatology import Climatology
    from zephyrus_geodata.dataset import Dataset
    from zephyrus_geodata.errors import (
        GeodataError,
        OutsideGrid,
        UnknownDataset,
        UnknownForecast,
        UnknownMember,
        UnknownVariable,
        UnsuitableData,
    )
    from zephyrus_geodata.features import AmbiguousFeature, Feature, FeatureStore, UnknownFeature
    from zephyrus_geodata.forecast import Forecast
    from zephyrus_geodata.grid import Grid
    from zephyrus_geodata.loading import list_datasets, load_dataset
    from zephyrus_geodata.variables import VARIABLES, Variable, variable
    from zephyrus_geodata.zonal import ZonalIndex, Zone, Zones, zonal_statistic

__all__ = [
    "VARIABLES",
    "AmbiguousFeature",
    "Climatology",
    "Dataset",
    "Feature",
    "FeatureStore",
    "Forecast",
    "GeodataError",
    "Grid",
    "OutsideGrid",
    "UnknownDataset",
    "UnknownFeature",
    "UnknownForecast",
    "UnknownMember",
    "UnknownVariable",
    "UnsuitableData",
    "Variable",
    "ZonalIndex",
    "Zone",
    "Zones",
    "list_datasets",
    "load_dataset",
    "variable",
    "zonal_statistic",
]

_HOME = {
    "VARIABLES": "variables",
    "AmbiguousFeature": "features",
    "Climatology": "climatology",
    "Dataset": "dataset",
    "Feature": "features",
    "FeatureStore": "features",
    "Forecast": "forecast",
    "GeodataError": "errors",
    "Grid": "grid",
    "OutsideGrid": "errors",
    "UnknownDataset": "errors",
    "UnknownFeature": "features",
    "UnknownForecast": "errors",
    "UnknownMember": "errors",
    "UnknownVariable": "errors",
    "UnsuitableData": "errors",
    "Variable": "variables",
    "ZonalIndex": "zonal",
    "Zone": "zonal",
    "Zones": "zonal",
    "list_datasets": "loading",
    "load_dataset": "loading",
    "variable": "variables",
    "zonal_statistic": "zonal",
}


def __getattr__(name: str) -> Any:
    """Import a public name from its module on first use (PEP 562)."""
    try:
        module = import_module(f"{__name__}.{_HOME[name]}")
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
    value = getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
