"""The seven weather charts as PNGs, against drawing the same with matplotlib and cartopy."""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from itertools import cycle
from typing import TYPE_CHECKING

from benchmarks.clock import interleaved
from benchmarks.records import Bar, Record
from benchmarks.world import World

if TYPE_CHECKING:
    from zephyrus_chartqa.charts.view import View
    from zephyrus_chartqa.fields import ChartData
    from zephyrus_geodata import FeatureStore

_REGION, _SEED = "Europe", 0
_LEADS = (24, 72, 120, 168, 216)
_INCHES, _DPI = (6.4, 4.8), 100


def charts(world: World) -> list[Record]:
    """Europe in the shipped dataset, another lead time at every call, one look."""
    from zephyrus_chartqa.charts import draw
    from zephyrus_chartqa.charts.style import Style
    from zephyrus_chartqa.charts.view import view
    from zephyrus_chartqa.fields import chart_data
    from zephyrus_chartqa.modality import MODALITIES
    from zephyrus_chartqa.region import REGIONS
    from zephyrus_geodata import load_dataset

    demo = load_dataset("demo")
    forecast, region = demo.forecast(demo.forecasts[0]), REGIONS[_REGION]
    shown = view(region, Style.of(_SEED).projection, (640, 480))
    records = []
    for name, kind in MODALITIES.items():
        leads = cycle(_LEADS[:1] if world.quick else _LEADS)

        def data(name: str = name, leads: cycle[int] = leads) -> ChartData:
            return chart_data(demo, forecast, name, region, next(leads))

        def ours(data: Callable[[], ChartData] = data) -> bytes:
            return draw(data(), demo.features, _SEED)

        def theirs(data: Callable[[], ChartData] = data) -> bytes:
            return _cartopy(data(), demo.features, shown)

        works = {"ours": ours, "theirs": theirs}
        timed = interleaved(works, world.rounds, clock=time.process_time)
        records.append(
            Record(
                "chart",
                f"chart of {kind.title}, {_REGION}, 640 × 480",
                timed["ours"],
                clock="CPU",
                alternative="pyplot and cartopy, a new figure",
                theirs=timed["theirs"],
                sense="faster",
                bar=Bar("ours", "most", 0.150),
                headline=name == "500hpa_situation",
                note="the data are taken from the forecast at every call; coastlines, frame and "
                "where pixels lie among cells are kept from chart to chart",
                limits="Placing and writing the labels of contour lines takes most of it.",
            )
        )
    return records


def _cartopy(data: ChartData, features: FeatureStore, shown: View) -> bytes:
    """The same elements as a forecaster's script has them: shading, contours, barbs, coasts."""
    import cartopy.crs as ccrs
    from matplotlib import pyplot as plt

    plain = ccrs.PlateCarree()
    region = data.region
    figure = plt.figure(figsize=_INCHES, dpi=_DPI)
    axes = figure.add_subplot(projection=shown.crs)
    axes.set_extent((region.west, region.east, region.south, region.north), crs=plain)
    at = data.longitude[0], data.latitude[:, 0]
    if data.units in ("gpm", "hPa", "°C"):
        lines = axes.contour(*at, data.values, levels=12, colors="black", transform=plain)
        axes.clabel(lines, fontsize=7)
    if data.units not in ("gpm", "hPa"):
        figure.colorbar(axes.contourf(*at, data.values, levels=8, transform=plain), ax=axes)
    if data.u is not None and data.v is not None:
        axes.barbs(*at, data.u, data.v, length=5, transform=plain, regrid_shape=16)
    shapes = [feature.geometry for feature in features.of_kind("country")]
    axes.add_geometries(shapes, plain, facecolor="none", edgecolor="grey", linewidth=0.6)
    axes.gridlines(draw_labels=True)
    axes.set_title(data.element)
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=_DPI)
    plt.close(figure)
    return out.getvalue()


ROWS = {"chart": charts}
