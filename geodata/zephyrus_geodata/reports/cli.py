"""``zephyrus data reports``: fetch National Weather Service texts, and read them."""

from __future__ import annotations

import click

from zephyrus_geodata.reports.fetch_cli import fetch
from zephyrus_geodata.reports.parse_cli import parse


@click.group()
def reports() -> None:
    """Forecast discussions: fetch them from archives, and take them apart."""


reports.add_command(fetch)
reports.add_command(parse)
