"""``zephyrus env import``: a run of verifiers as a run of ours."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("import", short_help="A run of verifiers as a run folder.")
@click.argument("traces", metavar="TRACES", type=click.Path(path_type=Path))
@click.option(
    "--output", required=True, type=click.Path(path_type=Path), help="The run folder to make."
)
def import_(traces: Path, output: Path) -> None:
    """Make a run folder of TRACES: a `traces.jsonl` of verifiers, or the folder that holds it.

    \b
    zephyrus env import outputs/bench-4b --output runs/bench-4b

    verifiers itself is not needed.
    """
    from zephyrus.integrations.verifiers.traces import import_traces

    run = import_traces(traces, output)
    broken = len(run.errors())
    errors = f", {broken:,} more broke" if broken else ""
    click.echo(f"{run.path}: {len(run):,} rollouts{errors}")
