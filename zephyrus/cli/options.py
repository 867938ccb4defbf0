"""Options and arguments that several commands share."""

from __future__ import annotations

from pathlib import Path

import click

RUN = click.argument("run", metavar="RUN")
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON, for scripts.")
OPTION = click.option(
    "-o",
    "--option",
    "pairs",
    multiple=True,
    metavar="KEY=VALUE",
    help="An option of the environment, e.g. turn_cost=0.05; may be repeated. They are listed by "
    "`zephyrus env describe ENV`.",
)
DATASET = click.option("--dataset", help="The world's data [default: the environment's].")
TOOLS = click.option(
    "--tools", "extra", metavar="FILE|MODULE", multiple=True, help="Your own tools as well."
)
COUNT = click.IntRange(min=1)
FILE = click.Path(dir_okay=False, path_type=Path)
