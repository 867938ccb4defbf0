"""What a dataset lacks for the questions of a template, and what to do about it."""

from __future__ import annotations

from zephyrus_bench.keys import variables
from zephyrus_bench.report import by_reason
from zephyrus_bench.templates import TEMPLATES
from zephyrus_bench.templates.base import Template
from zephyrus_geodata import Dataset
from zephyrus_geodata.climatology import PERCENTILES, STATISTICS


def lacking(dataset: Dataset) -> dict[str, str]:
    """Why there can be no questions of a template, by template, for those of which there can't be.

    Raises:
        GeodataError: If the dataset can't be read.
    """
    found = {name: _lack(dataset, template) for name, template in TEMPLATES.items()}
    return {name: why for name, why in found.items() if why is not None}


def refusal(dataset: Dataset, lacks: dict[str, str]) -> str:
    """Say that a bank would miss templates, why, and how to have one."""
    told = "; ".join(f"no {', '.join(names)}, as {why}" for why, names in by_reason(lacks).items())
    if len(lacks) == len(TEMPLATES):
        return f"nothing can be asked about the dataset {dataset.name!r}: {told}"
    return (
        f"the dataset {dataset.name!r} lacks what {len(lacks)} of the {len(TEMPLATES)} templates "
        f"ask about: {told}. To have questions of the others alone: -o strict=false"
    )


def _lack(dataset: Dataset, template: Template) -> str | None:
    if template.tool == "climatology" and (why := _no_climatology(dataset)):
        return why
    if template.several_steps and all(
        dataset.forecast(name).lead_hours.size < 2 for name in dataset.forecasts
    ):
        return "the forecasts have one lead time each, and these ask when something happens"
    if not variables(dataset, template):
        return (
            f"there is no variable for them that {_carriers(template)} (zephyrus data list shows "
            "what there is; pressures and heights vary too little to ask for their values)"
        )
    if not template.subjects(dataset):
        return (
            "too few named places of one kind are on its grid, and no smaller than its cells, "
            f"to ask {_about(template)}"
        )
    return None


def _no_climatology(dataset: Dataset) -> str | None:
    usual = dataset.climatology
    if usual is None:
        return (
            "there is no climatology; build one from years of analyses that have the dataset's "
            f"grid cells: zephyrus data climatology ANALYSES --name {dataset.name}"
        )
    if missing := [name for name in STATISTICS if name not in usual.statistics]:
        return (
            f"its climatology has no {', '.join(missing)}: build it with "
            f"--quantiles {','.join(map(str, PERCENTILES))}"
        )
    return None


def _carriers(template: Template) -> str:
    both = template.tool == "climatology"
    return "all forecasts and the climatology have" if both else "all forecasts have"


def _about(template: Template) -> str:
    return "which of them" if template.answer_type in ("location", "anomaly") else "about"
