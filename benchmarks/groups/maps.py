"""A map as a PNG: the bare picture, and one with axes, title and colour bar."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from itertools import cycle
from typing import Any

from benchmarks.clock import interleaved
from benchmarks.records import Bar, Record
from benchmarks.world import VARIABLE, World

_SIZE, _DPI = 512, 100
_BOX = (-25.0, 30.0, 45.0, 72.0)  # Europe: west, south, east, north


def maps(world: World) -> list[Record]:
    """Europe, another lead time at every call; coastlines from the shipped countries."""
    from zephyrus_geodata import variable
    from zephyrus_tools import drawing
    from zephyrus_tools.regions import Region

    west, south, east, north = _BOX
    region = Region(west, south, east, north, "Europe")
    what, grid, features = variable(VARIABLE), world.grid, world.features
    shapes = [feature.geometry for feature in features.of_kind("country")]
    leads = cycle(range(world.leads))

    def bare() -> bytes:
        field = world.maps[next(leads)]
        return drawing.paint(what, grid, field, region, features, size=(_SIZE, _SIZE))

    def decorated() -> bytes:
        field = world.maps[next(leads)]
        return drawing.draw(
            what, grid, field, region, features, title="2 m temperature (°C)", subtitle="at 48 h"
        )

    works: dict[str, Callable[[], object]] = {
        "bare": bare,
        "decorated": decorated,
        "cartopy bare": _cartopy(world, leads, shapes, dressed=False),
        "cartopy decorated": _cartopy(world, leads, shapes, dressed=True),
    }
    timed = interleaved(works, world.rounds)
    bars = {"bare": Bar("ours", "most", 0.010), "decorated": Bar("ours", "most", 0.100)}
    words = {
        "bare": f"map of Europe as a PNG, {_SIZE} × {_SIZE}, bare with coastlines",
        "decorated": "the same with axes, title and colour bar",
    }
    return [
        Record(
            "map",
            words[kind],
            timed[kind],
            alternative="matplotlib and cartopy, a new figure",
            theirs=timed[f"cartopy {kind}"],
            sense="faster",
            bar=bar,
            headline=True,
            note="outlines, axes and words that stay the same are kept from map to map",
            limits="Compressing the PNG takes most of it.",
        )
        for kind, bar in bars.items()
    ]


def _cartopy(
    world: World, leads: Iterator[int], shapes: list[Any], *, dressed: bool
) -> Callable[[], bytes]:
    import cartopy.crs as ccrs
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    west, south, east, north = _BOX
    plain = ccrs.PlateCarree()

    def work() -> bytes:
        figure = Figure(figsize=(_SIZE / _DPI, _SIZE / _DPI), dpi=_DPI)
        FigureCanvasAgg(figure)
        if dressed:
            axes = figure.add_subplot(projection=plain)
        else:
            axes = figure.add_axes((0, 0, 1, 1), projection=plain)
        axes.set_extent((west, east, south, north), crs=plain)
        shown = axes.pcolormesh(
            world.grid.longitude,
            world.grid.latitude,
            world.maps[next(leads)] - 273.15,
            transform=plain,
        )
        axes.add_geometries(shapes, plain, facecolor="none", edgecolor="black", linewidth=0.5)
        if dressed:
            axes.gridlines(draw_labels=True)
            axes.set_title("2 m temperature (°C)")
            figure.colorbar(shown, ax=axes)
        out = io.BytesIO()
        figure.savefig(out, format="png", dpi=_DPI)
        return out.getvalue()

    return work


ROWS = {"map": maps}
