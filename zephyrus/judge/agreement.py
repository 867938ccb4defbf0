"""Agreement between raters of claims: Table 1 of Zephyrus-R1, with intervals.

*Accuracy* is exact agreement of labels, *κ* Cohen's kappa without weights, and *Within-1* the
share of items that are no reversal between SUPPORTED and REFUTED, the labels being ordinal.
Only items that both raters labelled count. The experts' majority vote is a rater of its own: the
label that has more votes than any other, and NEUTRAL where there is none (the paper says so of
three-way ties).

The intervals are bootstrap ones (`zephyrus.evaluation.bootstrap.interval`) over reports, since the
claims of one report are not independent, or over items where no report is known.

An expert's comparison with a majority that its own vote is part of flatters it, and is marked.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from zephyrus.errors import UserError
from zephyrus.judge.base import Label
from zephyrus.judge.labels import JUDGE_PREFIX, LabelTable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from rich.console import RenderableType

MAJORITY = "majority"
RESAMPLES = 10_000
LEVEL = 0.95
LABELS = tuple(Label)
STATISTICS = ("accuracy", "kappa", "within_1")

_HEADINGS = {"accuracy": "Acc.", "kappa": "κ", "within_1": "Within-1"}


@dataclass(frozen=True, slots=True)
class Pair:
    """How far two raters agree.

    Attributes:
        first: A rater.
        second: Another, or `MAJORITY`.
        items: How many both labelled.
        reports: Over how many reports these are spread; None if that is not known.
        accuracy: In [0, 1]; None without common items, like the next.
        kappa: In [-1, 1]; also None where both give one and the same label throughout, since
            chance alone then explains all agreement.
        within_1: In [0, 1].
        ci95: The interval of each statistic by name; None where resampling can't tell: fewer
            than two reports (or items), or the same value in every resample.
        confusion: Items by label of the first, then of the second, in the order of `LABELS`.
        own_vote: Whether the first rater's vote is part of the majority that is the second.
    """

    first: str
    second: str
    items: int
    reports: int | None
    accuracy: float | None
    kappa: float | None
    within_1: float | None
    ci95: dict[str, tuple[float, float] | None]
    confusion: tuple[tuple[int, ...], ...]
    own_vote: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "first": self.first,
            "second": self.second,
            "items": self.items,
            "reports": self.reports,
            **{name: getattr(self, name) for name in STATISTICS},
            "ci95": {name: ci and list(ci) for name, ci in self.ci95.items()},
            "confusion": {
                str(a): {str(b): n for b, n in zip(LABELS, row, strict=True)}
                for a, row in zip(LABELS, self.confusion, strict=True)
            },
            "own_vote": self.own_vote,
        }


@dataclass(frozen=True, slots=True)
class Agreement:
    """The agreement of every pair of raters, and of each with the experts' majority.

    Attributes:
        pairs: In the order of the raters, those with the majority last.
        distribution: How often each rater, and the majority, gave each label.
        experts: Whose votes make the majority.
        resamples: Of the bootstrap.
        seed: Of the bootstrap.
    """

    pairs: tuple[Pair, ...]
    distribution: dict[str, dict[Label, int]]
    experts: tuple[str, ...]
    resamples: int
    seed: int

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        counts = {
            rater: {str(label): n for label, n in given.items()}
            for rater, given in self.distribution.items()
        }
        return {
            "pairs": [pair.to_dict() for pair in self.pairs],
            "distribution": counts,
            "experts": list(self.experts),
            "resamples": self.resamples,
            "seed": self.seed,
            "level": LEVEL,
        }


def agreement(
    table: LabelTable,
    experts: Iterable[str] | None = None,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Agreement:
    """Compare all raters.

    Args:
        table: The labels.
        experts: Whose votes make the majority; by default all but those whose name starts with
            "judge:". With fewer than two there is no majority.
        resamples: Of the bootstrap over reports where the table knows all of them, else items.
        seed: Same seed, same intervals.

    Raises:
        UserError: If there are fewer than two raters, or an expert is none of them.
    """
    if len(table.raters) < 2:
        raise UserError(
            f"agreement needs two raters; there is {' and '.join(table.raters) or 'none'}"
        )
    voters = _experts(table, experts)
    rows = list(combinations(table.raters, 2))
    labels = dict(table.labels)
    if len(voters) > 1:
        if MAJORITY in labels:
            raise UserError(f"a rater is named {MAJORITY!r}, like the vote; rename the column")
        labels[MAJORITY] = majority([table.labels[voter] for voter in voters])
        rows += [(rater, MAJORITY) for rater in table.raters]
    distribution = {}
    for rater, given in labels.items():
        counts = Counter(given.values())
        distribution[rater] = {label: counts[label] for label in LABELS}
    pairs = tuple(
        _compare(a, b, labels, table.reports, resamples, seed, b == MAJORITY and a in voters)
        for a, b in rows
    )
    return Agreement(pairs, distribution, voters, resamples, seed)


def majority(votes: Sequence[dict[str, Label]]) -> dict[str, Label]:
    """The label of each item that has more votes than any other, NEUTRAL on every tie.

    An item counts once more than half of the voters labelled it.

    Args:
        votes: By voter, labels by item.
    """
    cast: defaultdict[str, Counter[Label]] = defaultdict(Counter)
    for given in votes:
        for item, label in given.items():
            cast[item][label] += 1
    found = {}
    for item, counts in cast.items():
        if 2 * counts.total() <= len(votes):
            continue
        ranked = counts.most_common(2)
        tie = len(ranked) > 1 and ranked[0][1] == ranked[1][1]
        found[item] = Label.NEUTRAL if tie else ranked[0][0]
    return found


def cohen_kappa(confusion: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cohen's kappa, without weights, of many tables of counts at once.

    Args:
        confusion: (…, k, k): items by label of the first rater, then of the second, in one order.

    Returns:
        (…): in [-1, 1]; NaN where nothing was counted, or where both give one and the same label
        throughout: chance alone then explains all agreement.
    """
    import numpy as np

    total = confusion.sum(axis=(-2, -1))
    same = np.trace(confusion, axis1=-2, axis2=-1)
    chance = (confusion.sum(axis=-1) * confusion.sum(axis=-2)).sum(axis=-1)  # p_e · total²
    with np.errstate(divide="ignore", invalid="ignore"):
        kappa: NDArray[np.float64] = (same * total - chance) / (total**2 - chance)
    return kappa


def statistics(confusion: NDArray[np.float64]) -> NDArray[np.float64]:
    """The three statistics of many tables of counts at once.

    Args:
        confusion: (…, 3, 3): items by label of the first rater, then of the second, both in the
            order of `LABELS`.

    Returns:
        (…, 3): in the order of `STATISTICS`; NaN where undefined.
    """
    import numpy as np

    total = confusion.sum(axis=(-2, -1))
    with np.errstate(divide="ignore", invalid="ignore"):
        same = np.trace(confusion, axis1=-2, axis2=-1)
        kappa = cohen_kappa(confusion)
        s, r = LABELS.index(Label.SUPPORTED), LABELS.index(Label.REFUTED)
        # One division of counts: 1 − x/n may round to less than the accuracy, 1 − 4/5 < 1/5.
        within = (total - confusion[..., s, r] - confusion[..., r, s]) / total
        return np.stack([same / total, kappa, within], axis=-1)


def render(found: Agreement, *, confusion: bool = False) -> RenderableType:
    """The agreement as tables for a terminal: Table 1, and how often each label was given.

    Args:
        found: What `agreement` returned.
        confusion: Whether to show each pair's table of counts too.
    """
    from rich.console import Group
    from rich.table import Table

    table = Table(title="Agreement of claim labels", title_justify="left")
    table.add_column("Comparison")
    table.add_column("n", justify="right")
    for name in STATISTICS:
        table.add_column(_HEADINGS[name], justify="right")
    for i, pair in enumerate(found.pairs):
        if pair.second == MAJORITY and i and found.pairs[i - 1].second != MAJORITY:
            table.add_section()
        cells = [f"{pair.first} – {pair.second}{' *' if pair.own_vote else ''}", str(pair.items)]
        cells += [_number(getattr(pair, name), pair.ci95[name]) for name in STATISTICS]
        table.add_row(*map(_plain, cells))
    parts: list[RenderableType] = [table]
    notes = "[95 % interval]"
    if len(found.experts) > 1:
        notes += f"; majority of {', '.join(found.experts)}; * its own vote is part of it"
    parts.append(_plain(notes))
    given = Table(title="Labels given", title_justify="left")
    given.add_column("Rater")
    for label in (*LABELS, "total"):
        given.add_column(str(label), justify="right")
    for rater, counts in found.distribution.items():
        given.add_row(*map(_plain, [rater, *map(str, counts.values()), str(sum(counts.values()))]))
    parts.append(given)
    if confusion:
        parts += [_confusion(pair) for pair in found.pairs if pair.items]
    return Group(*parts)


def _experts(table: LabelTable, named: Iterable[str] | None) -> tuple[str, ...]:
    if named is None:
        return tuple(r for r in table.raters if not r.casefold().startswith(JUDGE_PREFIX))
    by_name = {rater.casefold(): rater for rater in table.raters}
    voters = []
    for name in named:
        if name.strip().casefold() not in by_name:
            raise UserError(f"there is no rater {name!r}; there are {', '.join(table.raters)}")
        voters.append(by_name[name.strip().casefold()])
    return tuple(dict.fromkeys(voters))


def _compare(
    first: str,
    second: str,
    labels: dict[str, dict[str, Label]],
    reports: dict[str, str],
    resamples: int,
    seed: int,
    own_vote: bool,
) -> Pair:
    import numpy as np

    common = [item for item in labels[first] if item in labels[second]]
    known = bool(common) and all(item in reports for item in common)
    clusters: defaultdict[str, NDArray[np.float64]] = defaultdict(lambda: np.zeros((3, 3)))
    for item in common:
        a, b = LABELS.index(labels[first][item]), LABELS.index(labels[second][item])
        clusters[reports[item] if known else item][a, b] += 1
    counts = np.array([clusters[name] for name in sorted(clusters)]).reshape(-1, 3, 3)
    whole = counts.sum(axis=0)
    values = [float(v) for v in statistics(whole)] if common else [np.nan] * len(STATISTICS)
    accuracy, kappa, within = (None if np.isnan(v) else v for v in values)
    return Pair(
        first,
        second,
        items=len(common),
        reports=len(clusters) if known else None,
        accuracy=accuracy,
        kappa=kappa,
        within_1=within,
        ci95=_intervals(counts, resamples, seed),
        confusion=tuple(tuple(int(n) for n in row) for row in whole),
        own_vote=own_vote,
    )


def _intervals(
    counts: NDArray[np.float64], resamples: int, seed: int
) -> dict[str, tuple[float, float] | None]:
    """Bootstrap intervals; ``counts`` is (clusters, 3, 3)."""
    import numpy as np

    from zephyrus.evaluation.bootstrap import interval

    n = len(counts)
    if n < 2:
        return dict.fromkeys(STATISTICS)
    drawn = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=resamples)
    tables = (drawn @ counts.reshape(n, 9).astype(np.int64)).reshape(resamples, 3, 3)
    samples = statistics(tables.astype(np.float64))
    found: dict[str, tuple[float, float] | None] = {}
    for i, name in enumerate(STATISTICS):
        ends = interval(samples[:, i], n, LEVEL)
        found[name] = ends if ends and ends[0] < ends[1] else None
    return found


def _confusion(pair: Pair) -> RenderableType:
    from rich.table import Table

    table = Table(title=_plain(f"{pair.first} (rows) – {pair.second}"), title_justify="left")
    table.add_column("")
    for label in LABELS:
        table.add_column(str(label), justify="right")
    for label, row in zip(LABELS, pair.confusion, strict=True):
        table.add_row(str(label), *map(str, row))
    return table


def _number(value: float | None, ends: tuple[float, float] | None) -> str:
    """The blank is the only place where a narrow terminal may break the line."""
    if value is None:
        return "–"
    return f"{value:.3f} [{ends[0]:.2f},{ends[1]:.2f}]" if ends else f"{value:.3f}"


def _plain(text: str) -> Any:
    """Names come from anybody's files: neither markup nor control characters get through."""
    from rich.text import Text

    from zephyrus.view.plain import plain

    return Text(plain(text))
