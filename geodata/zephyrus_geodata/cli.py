"""``zephyrus data``: the datasets on this machine."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import click

from zephyrus_geodata.reports.cli import reports


@click.group()
def data() -> None:
    """The datasets that tools and questions are made from."""


data.add_command(reports)


@data.command("list")
@click.option("--json", "as_json", is_flag=True, help="For scripts.")
def list_(as_json: bool) -> None:
    """Every dataset: its forecasts, grid, variables and climatology.

    ``demo`` ships with Zephyrus. Others are folders below $ZEPHYRUS_DATA, each with
    forecast-*.nc files and, if there is one, a climatology.nc.
    """
    from zephyrus_geodata import GeodataError, list_datasets, load_dataset

    folder = os.environ.get("ZEPHYRUS_DATA")
    if folder and not Path(folder).is_dir():
        raise click.UsageError(f"ZEPHYRUS_DATA names {folder}, and there is no such folder")
    rows, broken = [], []
    for name in list_datasets():
        try:
            dataset = load_dataset(name)
            first = dataset.forecast(dataset.forecasts[0])
        except GeodataError as error:
            broken.append(f"the dataset {name!r} can't be opened: {error}")
            continue
        climatology = dataset.climatology
        rows.append(
            {
                "name": name,
                "label": dataset.label,
                "forecasts": list(dataset.forecasts),
                "lead_hours": [int(first.lead_hours[0]), int(first.lead_hours[-1])],
                "grid": "x".join(str(n) for n in reversed(first.grid.shape)),
                "variables": list(first.variables),
                "climatology": climatology.period if climatology else None,
                "limits": first.provenance.get("limits", ""),
            }
        )
    if as_json:
        click.echo(json.dumps(rows, indent=1))
    else:
        _print(rows)
    for problem in broken:
        click.echo(problem, err=True)
    if broken:
        sys.exit(1)


def _print(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        click.echo(click.style(f"{row['name']}: {row['label']}", bold=True))
        hours = row["lead_hours"]
        click.echo(f"  forecasts    {', '.join(row['forecasts'])} ({hours[0]} to {hours[1]} h)")
        click.echo(f"  grid         {row['grid']} cells")
        click.echo(f"  variables    {', '.join(row['variables'])}")
        click.echo(f"  climatology  {row['climatology'] or 'none'}")
        if row["limits"]:
            click.echo(f"  limits       {row['limits']}")
