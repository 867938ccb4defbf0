"""The flags that answer a source's questions, for every command that reads one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from zephyrus_geodata.reading.understood import Answers

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS = (
    click.option("--kind", type=click.Choice(["forecast", "analyses"]),
                 help="What the time axis is: one forecast, or a series of analyses."),
    click.option("--precipitation", type=click.Choice(["accumulated", "window", "rate"]),
                 help="Precipitation is the amount since the start of the run, the amount in the "
                 "step before, or a rate."),
    click.option("--units", multiple=True, metavar="VAR=UNIT",
                 help="Units that the source leaves out or gets wrong. Repeatable."),
    click.option("--name", "--names", "names", multiple=True, metavar="VAR=NAME",
                 help="What a variable is (2m_temperature, ...); VAR= leaves it out. Repeatable."),
    click.option("--missing", multiple=True, metavar="VAR=NUMBER",
                 help="The number that stands for missing. Repeatable."),
    click.option("--step-type", "step_types", multiple=True, metavar="VAR=TYPE",
                 help="Which of two versions to read: instant, avg, accum, ... Repeatable."),
    click.option("--member", metavar="NAME", help="Read one member of an ensemble."),
    click.option("--calendar", type=click.Choice(["standard"]),
                 help="Read the dates of another calendar as real ones."),
    click.option("--grid", type=click.IntRange(min=0), metavar="NUMBER",
                 help="Which grid, where a source has several."),
    click.option("--winds", type=click.Choice(["earth", "grid"]),
                 help="What wind components point along: east and north, or the grid's lines."),
)  # fmt: skip


def answer_options(command: F) -> F:
    """Give a click command the flags; ``read_answers`` takes them from its arguments."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def read_answers(values: Mapping[str, Any]) -> Answers:
    """Make answers of the flags of ``answer_options``.

    Raises:
        click.UsageError: for a flag that is not VAR=VALUE.
    """
    from zephyrus_geodata.reading.understood import Answers

    missing = {}
    for name, text in _pairs(values["missing"], "--missing", "VAR=NUMBER").items():
        try:
            missing[name] = float(text)
        except ValueError:
            raise click.UsageError(f"--missing {name}={text} needs a number") from None
    return Answers(
        kind=values["kind"],
        precipitation=values["precipitation"],
        units=_pairs(values["units"], "--units", "VAR=UNIT"),
        names=_pairs(values["names"], "--name", "VAR=NAME"),
        missing=missing,
        member=values["member"],
        calendar=values["calendar"],
        grid=values["grid"],
        winds=values["winds"],
        step_types=_pairs(values["step_types"], "--step-type", "VAR=TYPE"),
    )


def _pairs(texts: Sequence[str], flag: str, form: str) -> dict[str, str]:
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise click.UsageError(f"{flag} {text} has to be {form}")
        found[name] = value.strip()
    return found
