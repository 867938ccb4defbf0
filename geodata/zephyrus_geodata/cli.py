"""``zephyrus data``: the datasets on this machine."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from zephyrus_geodata.climate.cli import climatology
from zephyrus_geodata.fetching.cli import fetch
from zephyrus_geodata.reading.cli import inspect
from zephyrus_geodata.reports.cli import reports
from zephyrus_geodata.store.cli import add, index, remove

if TYPE_CHECKING:
    from zephyrus_geodata.store.opened import StoredDataset


@click.group()
def data() -> None:
    """The datasets that tools and questions are made from."""


data.add_command(add)
data.add_command(climatology)
data.add_command(fetch)
data.add_command(index)
data.add_command(remove)
data.add_command(reports)
data.add_command(inspect)


@data.command("list")
@click.option("--json", "as_json", is_flag=True, help="For scripts.")
def list_(as_json: bool) -> None:
    """Every dataset: its forecasts, grid, variables and climatology.

    ``demo`` ships with Zephyrus. Others were added with ``zephyrus data add``, or are folders
    below $ZEPHYRUS_DATA with forecast-*.nc files and, if there is one, a climatology.nc.
    """
    from zephyrus_geodata import GeodataError, load_dataset
    from zephyrus_geodata.folders import dataset_folders
    from zephyrus_geodata.store.names import home
    from zephyrus_geodata.store.opened import open_stored
    from zephyrus_geodata.store.tidy import unfinished

    folder = os.environ.get("ZEPHYRUS_DATA")
    if folder and not Path(folder).is_dir():
        raise click.UsageError(f"ZEPHYRUS_DATA names {folder}, and there is no such folder")
    rows: list[dict[str, Any]] = []
    broken: list[str] = []
    for name, path in dataset_folders().items():
        try:
            stored = open_stored(path, name)
            series = [
                {"kind": s.kind, "steps": s.part.steps, "variables": list(s.variables)}
                for s in (stored.series if stored else ())
            ]
            if stored is not None and not stored.forecasts:
                row = {"name": name, "label": stored.manifest.label, "forecasts": []}
                rows.append(row | {"series": series, "terms": _terms(stored)})
                continue
            dataset = load_dataset(name)
            first = dataset.forecast(dataset.forecasts[0])
            usual = dataset.climatology
        except GeodataError as error:
            broken.append(f"the dataset {name!r} can't be opened: {error}")
            continue
        rows.append(
            {
                "name": name,
                "label": dataset.label,
                "forecasts": list(dataset.forecasts),
                "lead_hours": [int(first.lead_hours[0]), int(first.lead_hours[-1])],
                "members": list(first.members),
                "grid": "x".join(str(n) for n in reversed(first.grid.shape)),
                "variables": list(first.variables),
                "climatology": usual.period if usual else None,
                "series": series,
                "source": first.provenance.get("source", ""),
                "limits": first.provenance.get("limits", ""),
                "terms": _terms(stored),
            }
        )
    if as_json:
        click.echo(json.dumps(rows, indent=1))
    else:
        _print(rows)
    for name in unfinished(home()):
        click.echo(
            f"the ingest of {name!r} is not finished: run the same 'zephyrus data add' again to go "
            f"on, or 'zephyrus data remove' to forget it",
            err=True,
        )
    for problem in broken:
        click.echo(problem, err=True)
    if broken:
        sys.exit(1)


def _terms(stored: StoredDataset | None) -> list[dict[str, str]]:
    """Where the parts of a dataset come from and on which terms, each source once."""
    found: dict[tuple[str, ...], dict[str, str]] = {}
    for part in stored.manifest.parts if stored is not None else ():
        attrs = part.source.get("attrs", {})
        licence = str(attrs.get("license", attrs.get("licence", "")))
        row = {
            "fetched_from": str(attrs.get("fetched_from", "")),
            "licence": licence,
            "attribution": str(attrs.get("attribution", "")),
        }
        if any(row.values()):
            found[tuple(row.values())] = row | {"accessed": str(attrs.get("accessed", ""))}
    return list(found.values())


def _print(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        click.echo(click.style(f"{row['name']}: {row['label']}", bold=True))
        if row["forecasts"]:
            hours, members = row["lead_hours"], row["members"]
            click.echo(f"  forecasts    {_few(row['forecasts'])} ({hours[0]} to {hours[1]} h)")
            if members:
                click.echo(f"  members      {_few(members)}")
            click.echo(f"  grid         {row['grid']} cells")
            click.echo(f"  variables    {', '.join(row['variables'])}")
            click.echo(f"  climatology  {row['climatology'] or 'none'}")
        for series in row["series"]:
            click.echo(
                f"  {series['kind']:<12} {series['steps']} steps of {', '.join(series['variables'])}"
            )
        for terms in row["terms"]:
            fetched = f"{terms['fetched_from']} {terms['accessed'][:10]}".strip()
            for key, said in (
                ("fetched from", fetched),
                ("licence", terms["licence"]),
                ("attribution", terms["attribution"]),
            ):
                if said:
                    click.echo(f"  {key:<12} {said}")
        if row.get("limits"):
            click.echo(f"  limits       {row['limits']}")


def _few(names: list[str]) -> str:
    if len(names) <= 12:
        return ", ".join(names)
    return f"{', '.join(names[:3])} … {names[-1]} ({len(names)} of them)"
