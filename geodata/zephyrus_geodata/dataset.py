"""A dataset: forecasts, their climatology, the named features, and what joins them.

Forecasts are kept per cell; what tools and questions ask for is a number per feature. Each
(forecast, variable, statistic) has a table of (feature, time): that of the stored cube, or one that
is filled as it is asked for, so that a question costs a lookup from the second time on.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata import zonal_cache
from zephyrus_geodata.cells import AnyGrid, rectilinear
from zephyrus_geodata.climate.files import FILE as CLIMATOLOGY_FILE
from zephyrus_geodata.climate.files import open_built
from zephyrus_geodata.climatology import Climatology, Window
from zephyrus_geodata.errors import UnknownDataset, UnknownForecast, UnsuitableData
from zephyrus_geodata.exceedance import exceedance_table
from zephyrus_geodata.feature_tables import (
    FeatureTable,
    Kept,
    MemberTable,
    Rows,
    climate_table,
    statistic_table,
)
from zephyrus_geodata.features import Feature, FeatureStore
from zephyrus_geodata.folders import PREFIX, SUFFIX, forecast_files
from zephyrus_geodata.forecast import Forecast
from zephyrus_geodata.grid import Grid
from zephyrus_geodata.store.opened import open_stored
from zephyrus_geodata.zonal import Stat, ZonalIndex

_MOST = 512 * 1024**2
"""Bytes of each kind of table that a dataset keeps, at most."""


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
        self._prefix = f"{name}/"
        self.forecasts: tuple[str, ...] = tuple(sorted(forecasts))
        self._open_forecast = dict(forecasts)
        self._open_climatology = climatology
        self._load_features = features
        self._cache_dir = cache_dir
        self._forecasts: dict[str, Forecast] = {}
        self._tables: Kept[tuple[str, str, str], FeatureTable] = Kept(_MOST)
        self._member_tables: Kept[tuple[str, str, str], MemberTable] = Kept(_MOST)
        self._climates: Kept[tuple[str, str, int | Window], FeatureTable] = Kept(_MOST // 8)
        self._beyond: Kept[tuple[str, str, str, bool], FeatureTable] = Kept(_MOST)

    @classmethod
    def from_folder(cls, folder: Path, name: str | None = None) -> "Dataset":
        """Make a dataset of a folder: one that ``zephyrus data add`` made, or of NetCDF files.

        The files are ``forecast-NAME.nc`` and, in either kind of folder, ``climatology.nc``; what
        ``zephyrus data climatology --name`` built there comes before that file.

        Raises:
            UnknownDataset: if there is no such folder, or no forecast in it.
            UnsuitableData: if its manifest is damaged.
        """
        dataset = name or folder.resolve().name
        stored = open_stored(folder, dataset)
        paths = forecast_files(folder)
        if stored is None and not paths:
            raise UnknownDataset(
                f"The folder {folder} holds no {PREFIX}NAME{SUFFIX} file."
                if folder.is_dir()
                else f"There is no folder {folder}."
            )
        if stored is not None and not stored.forecasts:
            kinds = ", ".join(sorted({series.kind for series in stored.series}))
            raise UnknownDataset(f"The dataset {dataset!r} has no forecast: it holds {kinds}.")
        forecasts: Mapping[str, Callable[[], Forecast]] = {
            key: partial(Forecast.open, path, dataset=dataset, name=key)
            for key, path in paths.items()
        }
        return cls(
            dataset,
            forecasts if stored is None else stored.forecasts,
            climatology=_climatology(folder),
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
        short = name.removeprefix(self._prefix)
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
    def grid(self) -> AnyGrid:
        """The grid that all forecasts and the climatology share."""
        opened = next(iter(self._forecasts.values()), None)
        return (opened or self.forecast(self.forecasts[0])).grid

    @property
    def rectilinear(self) -> Grid:
        """The grid, where its cells are in rows of one latitude.

        Raises:
            UnsuitableData: if they are not: a bent grid, or stations.
        """
        return rectilinear(self.grid, f"The dataset {self.name!r}")

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
        self,
        forecast: str | Forecast,
        variable: str,
        feature: Feature,
        stat: Stat = "mean",
        member: int | str | None = None,
    ) -> NDArray[np.float64]:
        """Return a zonal statistic over the lead times: (time,), SI units, read-only.

        Args:
            forecast: a forecast of this dataset, or its name or id.
            variable: name of a variable.
            feature: any feature, of the store or not.
            stat: mean, min, max or median over the cells of the feature.
            member: index or name of a member of an ensemble. None takes the mean field of an
                ensemble; only for ``stat="mean"`` is that the mean of ``member_series``.

        Raises:
            GeodataError: if the forecast, variable or member is unknown, or the feature off grid.
        """
        if member is not None:
            one = self._member_table(forecast, variable, stat).series(feature, member)
            return one.reshape(-1)
        return self._table(forecast, variable, stat).series(feature)

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
        return self._table(forecast, variable, stat).table(features)

    def member_series(
        self, forecast: str | Forecast, variable: str, feature: Feature, stat: Stat = "mean"
    ) -> NDArray[np.float64]:
        """Return ``series`` of every member of an ensemble: (member, time), SI units, float64.

        ``ensemble.average``, ``.spread`` and ``.probability`` turn it into the mean, the
        standard deviation and the share of the members beyond a threshold.

        Raises:
            GeodataError: if the forecast or variable is unknown, the forecast has no members, or
                the feature is off the grid.
        """
        return self._member_table(forecast, variable, stat).series(feature)

    def member_table(
        self,
        forecast: str | Forecast,
        variable: str,
        features: Sequence[Feature],
        stat: Stat = "mean",
        member: int | str | None = None,
    ) -> NDArray[np.float64]:
        """Return ``member_series`` of many features of the store: (feature, member, time).

        Of one member, if it is named: (feature, 1, time). A feature outside the grid is NaN.

        Raises:
            GeodataError: if the forecast, variable or member is unknown, or the forecast has no
                members.
            KeyError: if a feature is not one of the dataset's.
        """
        return self._member_table(forecast, variable, stat).table(features, member)

    def climate(
        self, variable: str, statistic: str, when: int | np.datetime64, feature: Feature
    ) -> float:
        """Return a climatological statistic of a feature, in SI units.

        This is the weighted mean over the feature of the statistic in each cell: "p90 of a
        country" is the mean of its cells' 90th percentiles, not the percentile of its mean.

        Args:
            variable: name of a variable.
            statistic: "p5" … "p95", "mean" or "std".
            when: a month, 1 to 12, or a valid time (UTC), which takes the climatology's nearest
                day of the year and hour where it has them; see ``Climatology.at``.
            feature: any feature, of the store or not.

        Raises:
            GeodataError: if there is no climatology, it lacks the variable, or the feature is
                off the grid.
            ValueError: for another statistic or month.
        """
        return float(self._climate(variable, statistic, when).series(feature)[0])

    def climate_table(
        self,
        variable: str,
        statistic: str,
        when: int | np.datetime64,
        features: Sequence[Feature],
    ) -> NDArray[np.float64]:
        """Return ``climate`` of many features of the store: (feature,), SI units.

        A feature outside the grid is NaN.

        Raises:
            GeodataError: if there is no climatology, or it lacks the variable.
            KeyError: if a feature is not one of the dataset's.
            ValueError: for another statistic or month.
        """
        return self._climate(variable, statistic, when).column(features, 0)

    def exceedance(
        self,
        forecast: str | Forecast,
        variable: str,
        statistic: str,
        features: Feature | Sequence[Feature],
        *,
        above: bool = True,
    ) -> NDArray[np.float64]:
        """Return the share of each feature's area where a forecast is beyond what is usual there.

        Each cell is held against its own climatological value at the valid time, and the areas of
        those strictly above it are added up. That is another quantity than to hold the mean of a
        feature against its usual one (``series`` against ``climate``): the mean can be far above
        the mean of the cells' 90th percentiles with half of the area below them.

        Args:
            forecast: a forecast of this dataset, or its name or id; of an ensemble its mean field
                is taken.
            variable: name of a variable.
            statistic: "p5" … "p95" or a percentile between two of them, or "mean".
            features: one feature, of the store or not, or many of the store.
            above: whether to count what is above; else what is below.

        Returns:
            (time,) of one feature, read-only, or (feature, time), 0 to 1; NaN where no cell has
            both a value and a threshold, and in the row of a feature outside the grid.

        Raises:
            GeodataError: if there is no climatology, the forecast or variable is unknown, or a
                single feature is off the grid.
            KeyError: if one of several features is not one of the dataset's.
            ValueError: for another statistic.
        """
        table = self._exceedances(forecast, variable, statistic, above)
        return table.series(features) if isinstance(features, Feature) else table.table(features)

    def too_small(self, features: Sequence[Feature]) -> NDArray[np.bool_]:
        """Return (feature,) which features of the store have a ``Zone.fallback``.

        Raises:
            KeyError: if a feature is not one of the dataset's.
        """
        return self.zones.build().fallback[self._rows.of(features)]

    def _table(self, forecast: str | Forecast, variable: str, stat: Stat) -> FeatureTable:
        name = self._short(forecast)
        table = self._tables.get((name, variable, stat))
        if table is None:
            made = statistic_table(self.forecast(name), variable, self.zones, self._rows, stat)
            table = self._tables.put((name, variable, stat), made)
        return table

    def _member_table(self, forecast: str | Forecast, variable: str, stat: Stat) -> MemberTable:
        name = self._short(forecast)
        table = self._member_tables.get((name, variable, stat))
        if table is None:
            made = MemberTable(self.forecast(name), variable, self.zones, self._rows, stat)
            table = self._member_tables.put((name, variable, stat), made)
        return table

    def _climate(self, variable: str, statistic: str, when: int | np.datetime64) -> FeatureTable:
        usual = self._usual
        window = usual.window(when) if isinstance(when, np.datetime64) else when
        table = self._climates.get((variable, statistic, window))
        if table is None:
            made = climate_table(usual, variable, statistic, when, self.zones, self._rows)
            table = self._climates.put((variable, statistic, window), made)
        return table

    def _exceedances(
        self, forecast: str | Forecast, variable: str, statistic: str, above: bool
    ) -> FeatureTable:
        name = self._short(forecast)
        table = self._beyond.get((name, variable, statistic, above))
        if table is None:
            found = self.forecast(name)
            made = exceedance_table(
                found, self._usual, variable, statistic, self.zones, self._rows, above=above
            )
            table = self._beyond.put((name, variable, statistic, above), made)
        return table

    @property
    def _usual(self) -> Climatology:
        if self.climatology is None:
            raise UnsuitableData(f"The dataset {self.name!r} has no climatology.")
        return self.climatology

    def _short(self, forecast: str | Forecast) -> str:
        """Return the name that tables are kept by; only known to exist if there is a table."""
        if isinstance(forecast, Forecast):
            return forecast.name if forecast.dataset == self.name else forecast.id
        return forecast.removeprefix(self._prefix)

    @cached_property
    def _rows(self) -> Rows:
        return Rows(self.features)

    def _check_grid(self, grid: AnyGrid, what: str) -> None:
        if grid != self.grid:
            raise UnsuitableData(
                f"{what} is on another grid ({grid!r}) than the dataset {self.name!r} "
                f"({self.grid!r})."
            )

    def __repr__(self) -> str:
        return f"Dataset({self.name!r}, forecasts={self.forecasts!r})"


def _climatology(folder: Path) -> Callable[[], Climatology] | None:
    if (folder / CLIMATOLOGY_FILE).exists():
        return partial(open_built, folder)
    path = folder / "climatology.nc"
    return partial(Climatology.open, path) if path.exists() else None
