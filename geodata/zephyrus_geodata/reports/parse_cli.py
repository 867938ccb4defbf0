"""``zephyrus data reports parse``."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from zephyrus_geodata.reports.product import Product

_Found = list[tuple[str, "Product"]]


@click.command(
    epilog="For example: zephyrus data reports parse AFD.txt --text --keep aviation,marine"
)
@click.argument(
    "files",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, dir_okay=False, allow_dash=True),
    metavar="FILE…",
)
@click.option("--json", "as_json", is_flag=True, help="For scripts: every part of every product.")
@click.option("--text", "as_text", is_flag=True, help="Print the text that is scored.")
@click.option(
    "--keep",
    default="",
    metavar="KIND,…",
    help="Score these sections too: aviation, marine, fire, tides, climate, watches, table, … or all.",
)
@click.option(
    "--near",
    type=click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M"]),
    metavar="DATE",
    help="A date near the issue, for bulletins that tell the day of the month alone.",
)
def parse(
    files: tuple[str, ...], as_json: bool, as_text: bool, keep: str, near: datetime | None
) -> None:
    """Take National Weather Service texts apart: product, office, time of issue, sections.

    A FILE (- for standard input) may hold one bulletin or many (plain, or as IEM joins them), a product's JSON from
    api.weather.gov, an archive's reports.jsonl, or recorded answers (a VCR cassette, .yaml).

    What is no report (a stub, a test, a listing, a text that can't be dated) is refused with the
    reason, and the exit code is 1; the other products are printed all the same.
    """
    from zephyrus_geodata.errors import ReportError
    from zephyrus_geodata.reports.parse import read_products
    from zephyrus_geodata.reports.product import Refusal
    from zephyrus_geodata.reports.scored import kept_kinds

    kinds = [name for name in (part.strip() for part in keep.split(",")) if name]
    try:
        kept_kinds(kinds)
    except ReportError as error:
        raise click.UsageError(str(error)) from None
    if as_json and as_text:
        raise click.UsageError("--json has the text too: give --json or --text, not both")
    found: _Found = []
    refused: list[dict[str, str]] = []
    for file in files:
        here: list[Refusal] = []
        try:
            products = read_products(
                file,
                near=near.replace(tzinfo=UTC) if near else None,
                on_refused=here.append,
            )
        except ReportError as error:
            products, here = [], [Refusal(str(error).removeprefix(f"{file} "), "")]
        found += [(file, product) for product in products]
        refused += [{"file": file, "reason": one.reason} for one in here]
    if as_json:
        _print_json(found, refused, kinds)
    elif as_text:
        _print_text(found, kinds)
    else:
        _print_table(found, kinds)
    if not as_json:
        for one in refused:
            name = click.format_filename(one["file"])
            click.echo(f"refused  {name}: {one['reason']}", err=True)
    if refused:
        sys.exit(1)


def _print_json(found: _Found, refused: list[dict[str, str]], kinds: list[str]) -> None:
    from zephyrus_geodata.reports.scored import discussion_text

    products: list[dict[str, Any]] = []
    for file, product in found:
        record = product.to_dict()
        del record["raw"]  # it is the file
        products.append({"file": file, **record, "text": discussion_text(product, keep=kinds)})
    click.echo(json.dumps({"products": products, "refused": refused}, indent=1))


def _print_text(found: _Found, kinds: list[str]) -> None:
    from zephyrus_geodata.reports.scored import discussion_text

    for number, (_, product) in enumerate(found):
        if len(found) > 1:
            click.echo(
                ("\n" if number else "") + click.style(f"=== {product.product_id}", bold=True)
            )
        click.echo(discussion_text(product, keep=kinds))


def _print_table(found: _Found, kinds: list[str]) -> None:
    from zephyrus_geodata.reports.scored import discussion_text

    if not found:
        return
    click.echo(f"{'product':8} {'office':7} {'issued (UTC)':17} {'words':>5}  sections")
    for file, product in found:
        words = len(discussion_text(product, keep=kinds).split())
        names = [section.name or f"({section.kind})" for section in product.sections]
        click.echo(
            f"{product.product:8} {product.office or '-':7} {product.issued:%Y-%m-%d %H:%M}  "
            f"{words:5}  {_short(', '.join(dict.fromkeys(names)))}  [{Path(file).name}]"
        )
    click.echo("words: of the text that is scored (--text prints it)")


def _short(names: str, limit: int = 90) -> str:
    return names if len(names) <= limit else f"{names[: limit - 2]} …"
