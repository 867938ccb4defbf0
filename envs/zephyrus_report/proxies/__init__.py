"""Scores that need no judge: cheap, offline, and no part of the reward by default.

The first three stand for AFDBench's (2608.24954) Met-Align, Style-Align and Input-Grounding, whose
formulas are not public: these are ours, hence ``_proxy``. The fourth is after WeatherSyn.

``quantities_proxy``  typed numbers that agree with the reference's (`quantities`)
``style_proxy``       the vocabulary and headings of forecast discussions (`style`)
``grounding_proxy``   the report's numbers that a tool gave (`grounding`)
``keywords_f1``       a keyword taxonomy, unmatched groups counted (`taxonomy`)
"""

from __future__ import annotations

from collections.abc import Sequence

NAMES = ("quantities_proxy", "style_proxy", "grounding_proxy", "keywords_f1")


def proxies(
    report: str, reference: str, observations: Sequence[str], context: str = ""
) -> dict[str, float]:
    """Every proxy that can be computed, in [0, 1].

    Args:
        report: The text to score; "" scores 0.
        reference: The text to compare with.
        observations: The texts of the tool observations that the writer saw.
        context: What the event told: its times, so that "Monday" has a date.

    Returns:
        By name. One that has nothing to go by is left out: ``quantities_proxy`` and
        ``keywords_f1`` where the reference has no quantity or keyword, ``grounding_proxy`` where
        the report has no number.
    """
    from zephyrus_report.proxies.grounding import grounding_proxy
    from zephyrus_report.proxies.quantities import quantities_proxy
    from zephyrus_report.proxies.style import style_proxy
    from zephyrus_report.proxies.taxonomy import taxonomy_f1

    agreement = quantities_proxy(report, reference, context)
    keywords = taxonomy_f1(report, reference)
    found = {
        "quantities_proxy": None if agreement is None else agreement.f1,
        "style_proxy": style_proxy(report),
        "grounding_proxy": grounding_proxy(report, observations),
        "keywords_f1": None if keywords is None else keywords.f1,
    }
    return {name: value for name, value in found.items() if value is not None}
