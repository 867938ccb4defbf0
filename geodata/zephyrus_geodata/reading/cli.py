"""``zephyrus data inspect``: what a source is, before anything is stored."""

from __future__ import annotations

import json
import warnings
from typing import Any

import click

from zephyrus_geodata.reading.options import answer_options, read_answers

_EXAMPLES = """\b
Examples:
  zephyrus data inspect forecast.grib2
  zephyrus data inspect 'run/*.nc' --precipitation accumulated
  zephyrus data inspect gs://weatherbench2/datasets/hres/2016-2022-0012-64x32_equiangular_conservative.zarr
"""


@click.command(epilog=_EXAMPLES)
@click.argument("source", nargs=-1, required=True)
@answer_options
@click.option("--no-sample", is_flag=True, help="Read no values for ranges (quicker far away).")
@click.option("--json", "as_json", is_flag=True, help="For scripts.")
def inspect(source: tuple[str, ...], no_sample: bool, as_json: bool, **answers: Any) -> None:
    """What is in SOURCE, and how it was understood.

    SOURCE is a file, a folder, a pattern or an address of NetCDF, GRIB or Zarr. Questions that
    it leaves open come last, each with the flag that answers it; 'zephyrus data add' takes the
    same flags, and reads nothing while a question is open.
    """
    from zephyrus_geodata.errors import GeodataError
    from zephyrus_geodata.reading.inspection import inspection, told
    from zephyrus_geodata.reading.opened import open_source
    from zephyrus_geodata.reading.understand import understand

    said = read_answers(answers)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            opened = open_source(source[0] if len(source) == 1 else list(source), in_pieces=True)
            report = inspection(understand(opened, said), sample=not no_sample)
    except GeodataError as error:
        raise click.UsageError(_plain(str(error))) from error
    if as_json:
        click.echo(json.dumps(report, indent=1))
        return
    for line in told(report):
        click.echo(_plain(line))


def _plain(text: str) -> str:
    """Make what a file says harmless for a terminal."""
    return "".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in text)
