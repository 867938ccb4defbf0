"""A dataset: forecasts, their climatology, the named features, and what joins them.

Forecasts are kept per cell; what tools and questions ask for is a number per feature. Each
(forecast, variable, statistic) has a table of (feature, time) that is filled as it is asked for,
so that a question costs a lookup from the second time on.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata import zonal_cache
from zephyrus_geodata.climatology import Climatology
from zephyrus_geodata.errors import UnknownDataset, UnknownForecast, UnsuitableData
from zephyrus_geodata.features import Feature, FeatureStore
from zephyrus_geodata.forecast import Forecast
from zephyrus_geodata.grid import Grid
from zephyrus_geodata.zonal import Stat, ZonalIndex, Zone, zonal_statistic, zonal_table

DATA_VARIABLE = "ZEPHYRUS_DATA"
"""Environment variable that names a folder of datasets."""

_SHIPPED = Path(__file__).parent / "data"
_PREFIX, _SUFFIX = "forecast-", ".nc"

_MANY = 64
"""From this many zones on, all are taken from the cache on disk, or built for it."""


class Dataset:
    """Forecasts on one grid, with climatology and features; opens nothing until asked.

    Attributes:
        name: its name, such as "demo".
        forecasts: names of its forecasts, ascending.
    """

    __zephyrus_world__ = True  # a tool's parameter of this type is filled in from the episode

    def __init__(
        self,
        name: str,
        forecasts: Mapping[str, Callable[[], Forecast]],
        *,
        climatology: Callable[[], Climatology] | None = None,
        features: Callable[[], FeatureStore] = FeatureStore.load,
        cache_dir: Path | None = None,
    ) -> None:
        """Make a dataset of things that are opened when they are first needed.

        Args:
            name: its name.
            forecasts: by name, functions that open a forecast.
            climatology: a function that opens the climatology, if there is one.
            features: a function that loads the features; the shipped ones by default.
            cache_dir: a folder to keep zonal weights in; None keeps them in memory only.
        """
        if not forecasts:
            raise UnknownDataset(f"The dataset {name!r} has no forecast.")
        self.name = name
        self.forecasts: tuple[str, ...] = tuple(sorted(forecasts))
        self._open_forecast = dict(forecasts)
        self._open_climatology = climatology
        self._load_features = features
        self._cache_dir = cache_dir
        self._forecasts: dict[str, Forecast] = {}
        self._tables: dict[tuple[str, str, str], _Table] = {}

    @classmethod
    def from_folder(cls, folder: Path, name: str | None = None) -> "Dataset":
        """Make a dataset of the ``forecast-NAME.nc`` files and ``climatology.nc`` of a folder.

        Raises:
            UnknownDataset: if there is no such folder, or no forecast in it.
        """
        paths = _forecast_files(folder)
        if not paths:
            raise UnknownDataset(
                f"The folder {folder} holds no {_PREFIX}NAME{_SUFFIX} file."
                if folder.is_dir()
                else f"There is no folder {folder}."
            )
        dataset = name or folder.resolve().name
        climatology = folder / "climatology.nc"
        return cls(
            dataset,
            {
                key: partial(Forecast.open, path, dataset=dataset, name=key)
                for key, path in paths.items()
            },
            climatology=partial(Climatology.open, climatology) if climatology.exists() else None,
            cache_dir=zonal_cache.default_dir(),
        )

    def forecast(self, name: str) -> Forecast:
        """Return a forecast by its name ("1959-01-02") or id ("demo/1959-01-02").

        Raises:
            UnknownForecast: if there is none; the message lists the names.
            UnsuitableData: if its grid differs from that of the dataset's other forecasts.
        """
        found = self._forecasts.get(name)
        if found is not None:
            return found
        short = name.removeprefix(f"{self.name}/")
        if short not in self._open_forecast:
            raise UnknownForecast(
                f"The dataset {self.name!r} has no forecast {name!r}; it has "
                f"{', '.join(self.forecasts)}."
            )
        found = self._forecasts.get(short) or self._open_forecast[short]()
        if self._forecasts:
            self._check_grid(found.grid, f"The forecast {found.id}")
        self._forecasts[name] = self._forecasts[short] = found
        return found

    @cached_property
    def grid(self) -> Grid:
        """The grid that all forecasts and the climatology share."""
        opened = next(iter(self._forecasts.values()), None)
        return (opened or self.forecast(self.forecasts[0])).grid

    @property
    def label(self) -> str:
        """Short origin of the data, such as "simulated (jcm T42)"."""
        return self.forecast(self.forecasts[0]).label

    @cached_property
    def climatology(self) -> Climatology | None:
        """The climatology, if the dataset has one.

        Raises:
            UnsuitableData: if its grid differs from that of the forecasts.
        """
        if self._open_climatology is None:
            return None
        climatology = self._open_climatology()
        self._check_grid(climatology.grid, "The climatology")
        return climatology

    @cached_property
    def features(self) -> FeatureStore:
        """The named features."""
        return self._load_features()

    @cached_property
    def zones(self) -> ZonalIndex:
        """The features on the grid."""
        return ZonalIndex(self.grid, self.features, cache_dir=self._cache_dir)

    def series(
        self, forecast: str | Forecast, variable: str, feature: Feature, stat: Stat = "mean"
    ) -> NDArray[np.float64]:
        """Return a zonal statistic over the lead times: (time,), SI units, read-only.

        Args:
            forecast: a forecast of this dataset, or its name or id.
            variable: name of a variable.
            feature: any feature, of the store or not.
            stat: mean, min, max or median over the cells of the feature.

        Raises:
            GeodataError: if the forecast or variable is unknown or the feature off the grid.
        """
        table = self._table(forecast, variable, stat)
        row = table.rows.get(feature.key)
        if row is None or not table.done[row]:
            zone = self.zones.weights(feature)
            if row is None:
                return zonal_statistic(table.cells(), zone, stat)
            table.fill([row], [zone])
        series: NDArray[np.float64] = table.view[row]
        return series

    def table(
        self,
        forecast: str | Forecast,
        variable: str,
        features: Sequence[Feature],
        stat: Stat = "mean",
    ) -> NDArray[np.float64]:
        """Return ``series`` of many features of the store: (feature, time), SI units.

        The row of a feature outside the grid is NaN.

        Raises:
            GeodataError: if the forecast or variable is unknown.
            KeyError: if a feature is not one of the dataset's.
        """
        table = self._table(forecast, variable, stat)
        rows = [table.rows[feature.key] for feature in features]
        if not table.done[rows].all():
            missing = [i for i, row in enumerate(rows) if not table.done[row]]
            if len(missing) >= _MANY:
                self.zones.build()
            zones = [self.zones.zone(features[i]) for i in missing]
            table.fill([rows[i] for i in missing], zones)
        return table.values[rows]

    def climate(self, variable: str, statistic: str, month: int, feature: Feature) -> float:
        """Return a climatological statistic of a feature, in SI units.

        This is the weighted mean over the feature of the statistic in each cell: "p90 of a
        country" is the mean of its cells' 90th percentiles, not the percentile of its mean.

        Args:
            variable: name of a variable.
            statistic: "p5" … "p95", "mean" or "std".
            month: 1 to 12.
            feature: any feature, of the store or not.

        Raises:
            GeodataError: if there is no climatology, it lacks the variable, or the feature is
                off the grid.
            ValueError: for another statistic or month.
        """
        if self.climatology is None:
            raise UnsuitableData(f"The dataset {self.name!r} has no climatology.")
        cells = self.climatology.cells(variable, statistic, month)
        return float(zonal_statistic(cells[:, None], self.zones.weights(feature))[0])

    def _table(self, forecast: str | Forecast, variable: str, stat: Stat) -> "_Table":
        name = forecast if isinstance(forecast, str) else forecast.id
        table = self._tables.get((name, variable, stat))
        if table is None:
            found = self.forecast(name)
            found.cells(variable)  # an unknown variable fails before a table is made
            key = (found.name, variable, stat)
            table = self._tables.setdefault(
                key, _Table(partial(found.cells, variable), found.lead_hours.size, self._rows, stat)
            )
            self._tables[name, variable, stat] = table
        return table

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {feature.key: row for row, feature in enumerate(self.features)}

    def _check_grid(self, grid: Grid, what: str) -> None:
        if grid != self.grid:
            raise UnsuitableData(
                f"{what} is on another grid ({grid!r}) than the dataset {self.name!r} "
                f"({self.grid!r})."
            )

    def __repr__(self) -> str:
        return f"Dataset({self.name!r}, forecasts={self.forecasts!r})"


class _Table:
    """One statistic of one variable of one forecast, (feature, time), filled row by row."""

    def __init__(
        self,
        cells: Callable[[], NDArray[np.float32]],
        times: int,
        rows: dict[str, int],
        stat: Stat,
    ) -> None:
        self.cells = cells
        self.rows = rows
        self.stat = stat
        self.values = np.full((len(rows), times), np.nan)
        self.view = self.values.view()
        self.view.setflags(write=False)
        self.done = np.zeros(len(rows), dtype=bool)

    def fill(self, rows: list[int], zones: Sequence[Zone]) -> None:
        self.values[rows] = zonal_table(self.cells(), zones, self.stat)
        self.done[rows] = True  # last, so that no other thread sees a row half made


def list_datasets() -> tuple[str, ...]:
    """Return the names that ``load_dataset`` knows: the shipped ones, then the user's."""
    return tuple(_folders())


def load_dataset(name: str | Path = "demo") -> Dataset:
    """Open a dataset; the same one again if it was opened before.

    Args:
        name: "demo", a name under the folder ZEPHYRUS_DATA, or the path of a folder.

    Raises:
        UnknownDataset: if there is none; the message lists the names.
    """
    known = _folders()
    folder = known.get(str(name), Path(name).expanduser())
    if not folder.is_dir():
        raise UnknownDataset(
            f"There is no dataset {str(name)!r}, nor a folder of that name; known are "
            f"{', '.join(known) or 'none'}."
        )
    folder = folder.resolve()
    if folder not in _OPENED:
        _OPENED[folder] = Dataset.from_folder(folder, str(name) if str(name) in known else None)
    return _OPENED[folder]


_OPENED: dict[Path, Dataset] = {}


def _folders() -> dict[str, Path]:
    """Return the folders of known datasets by name; a shipped name can't be taken over."""
    roots = [_SHIPPED]
    if os.environ.get(DATA_VARIABLE):
        roots.append(Path(os.environ[DATA_VARIABLE]).expanduser())
    found: dict[str, Path] = {}
    for root in roots:
        for folder in sorted(root.iterdir()) if root.is_dir() else ():
            if folder.is_dir() and _forecast_files(folder):
                found.setdefault(folder.name, folder)
    return found


def _forecast_files(folder: Path) -> dict[str, Path]:
    return {
        path.name.removeprefix(_PREFIX).removesuffix(_SUFFIX): path
        for path in sorted(folder.glob(f"{_PREFIX}*{_SUFFIX}"))
    }
