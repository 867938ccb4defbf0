"""One page with the figures of runs, which needs no network: pictures and tables lie in it.

It is made as that of a curriculum is: everything is escaped, and the content security policy lets
nothing run and nothing load.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from zephyrus.curriculum.plots.drawing import Drawing
from zephyrus.curriculum.plots.page import figure, left_out_list, table
from zephyrus.view.page import fill, part, source_hash
from zephyrus.view.plain import plain
from zephyrus.view.plots.read import RunNumbers


def render_page(
    runs: Sequence[RunNumbers],
    drawings: Sequence[Drawing],
    pictures: Mapping[str, tuple[bytes, bytes]],
    left_out: Mapping[str, str],
) -> str:
    """The page.

    Args:
        runs: What is shown.
        drawings: The figures, in order.
        pictures: The PNGs of each by its name: light, dark.
        left_out: Titles of figures that lack their data → why.
    """
    style = part("base.css") + part("claims.css") + part("curriculum.css")
    links = "".join(f'<a href="#{_text(one.name)}">{_text(one.title)}</a>' for one in drawings)
    return fill(
        part("curriculum.html"),
        {
            "STYLE_HASH": source_hash(style),
            "STYLE": style,
            "TITLE": _text("Runs: " if len(runs) > 1 else "Run: ")
            + _text(", ".join(run.name for run in runs)),
            "LINKS": links,
            "RUNS": f"<section>{_runs(runs)}</section>",
            "FIGURES": "".join(figure(one, *pictures[one.name]) for one in drawings),
            "LEFT_OUT": left_out_list(left_out),
        },
    )


def _runs(runs: Sequence[RunNumbers]) -> str:
    columns = (
        "run", "environment", "policy", "rollouts", "tasks", "accuracy", "reward", "failure rate",
        "turns per rollout", "infrastructure errors",
    )  # fmt: skip
    rows = [
        (
            run.name,
            run.env,
            run.policy,
            run.summary["rollouts"],
            run.summary["tasks"],
            run.summary["accuracy"],
            run.summary["rewards"].get("reward"),
            run.summary["failure_rate"],
            run.summary["turns"]["mean"],
            run.summary["infrastructure"]["errors"],
        )
        for run in runs
    ]
    return table(columns, rows, "Runs")


def _text(text: str) -> str:
    return escape(plain(text))
