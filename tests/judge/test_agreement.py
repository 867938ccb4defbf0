"""Table 1's statistics by hand and by a slow oracle, the majority vote, and reading labels."""

import json
import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.console import Console

from zephyrus.errors import UserError
from zephyrus.judge.agreement import LABELS, MAJORITY, agreement, majority, render, statistics
from zephyrus.judge.base import Label
from zephyrus.judge.labels import LabelTable, read_label, read_labels, write_labels

S, N, R = Label.SUPPORTED, Label.NEUTRAL, Label.REFUTED


def two(confusion, reports=None):
    """A table of two raters with these counts; rows are the first's S, N, R."""
    table = LabelTable({"A": {}, "B": {}})
    items = (
        (a, b) for a, row in zip(LABELS, confusion, strict=True)
        for b, n in zip(LABELS, row, strict=True) for _ in range(n)
    )  # fmt: skip
    for i, (a, b) in enumerate(items):
        table.add("A", f"i{i}", a)
        table.add("B", f"i{i}", b)
        if reports:
            table.reports[f"i{i}"] = reports(i)
    return table


def first_pair(table, **options):
    return agreement(table, resamples=200, **options).pairs[0]


def test_by_hand():
    # p_o = 70/100; p_e = (28·32 + 46·39 + 26·29)/100² = 0.3444; reversals 3 + 2.
    pair = first_pair(two([[20, 5, 3], [10, 30, 6], [2, 4, 20]]))
    assert pair.items == 100
    assert pair.accuracy == pytest.approx(0.70)
    assert pair.kappa == pytest.approx((0.70 - 0.3444) / (1 - 0.3444))
    assert pair.within_1 == pytest.approx(0.95)
    assert pair.confusion == ((20, 5, 3), (10, 30, 6), (2, 4, 20))
    assert pair.to_dict()["confusion"]["SUPPORTED"] == {"SUPPORTED": 20, "NEUTRAL": 5, "REFUTED": 3}


# Counts that give the rows of Table 1 to its three digits (found by search; the paper has none).
TABLE_1 = {
    (0.37, 0.097, 0.92): [[21, 39, 1], [4, 8, 2], [7, 10, 8]],
    (0.63, 0.346, 0.96): [[42, 5, 3], [25, 15, 3], [1, 0, 6]],
    (0.57, 0.226, 0.96): [[45, 7, 4], [21, 0, 2], [0, 9, 12]],
    (0.48, 0.224, 0.9): [[25, 2, 4], [8, 3, 24], [6, 8, 20]],
    (0.46, 0.214, 0.86): [[13, 12, 12], [15, 14, 13], [2, 0, 19]],
    (0.57, 0.306, 0.89): [[23, 0, 8], [19, 31, 2], [3, 11, 3]],
}


@pytest.mark.parametrize(("row", "confusion"), TABLE_1.items())
def test_rows_like_those_of_table_1(row, confusion):
    pair = first_pair(two(confusion))
    assert (round(pair.accuracy, 3), round(pair.kappa, 3), round(pair.within_1, 3)) == row


def test_disagreement_below_chance_is_negative():
    pair = first_pair(two([[0, 0, 5], [0, 0, 0], [5, 0, 0]]))
    assert (pair.accuracy, pair.kappa, pair.within_1) == (0.0, -1.0, 0.0)


def test_neutral_beside_either_is_within_1():
    assert first_pair(two([[0, 3, 0], [2, 0, 4], [0, 1, 0]])).within_1 == 1.0


def test_kappa_is_none_where_chance_explains_everything():
    pair = first_pair(two([[7, 0, 0], [0, 0, 0], [0, 0, 0]]))
    assert (pair.accuracy, pair.kappa, pair.within_1) == (1.0, None, 1.0)
    assert pair.ci95 == {"accuracy": None, "kappa": None, "within_1": None}
    # One rater that always says the same is no better than chance, which is known: 0.
    assert first_pair(two([[4, 3, 0], [0, 0, 0], [0, 0, 0]])).kappa == 0.0


labels = st.sampled_from(Label)


@given(st.lists(st.tuples(labels, labels), min_size=1, max_size=40))
@example([(Label.SUPPORTED, Label.SUPPORTED)] + 4 * [(Label.SUPPORTED, Label.REFUTED)])
def test_against_a_slow_oracle(pairs):
    table = LabelTable()
    for i, (a, b) in enumerate(pairs):
        table.add("A", str(i), a)
        table.add("B", str(i), b)
    found = first_pair(table)
    n = len(pairs)
    observed = Fraction(sum(a == b for a, b in pairs), n)
    chance = sum(
        Fraction(sum(a == x for a, _ in pairs), n) * Fraction(sum(b == x for _, b in pairs), n)
        for x in Label
    )
    kappa = None if chance == 1 else float((observed - chance) / (1 - chance))
    assert found.accuracy == pytest.approx(float(observed))
    assert found.kappa == (None if kappa is None else pytest.approx(kappa, abs=1e-12))
    assert found.within_1 == pytest.approx(sum(abs(a.rank - b.rank) < 2 for a, b in pairs) / n)
    assert found.accuracy <= found.within_1 <= 1
    for name in ("accuracy", "within_1", "kappa"):
        if found.ci95[name]:
            assert found.ci95[name][0] <= found.ci95[name][1] <= 1


def test_statistics_of_many_tables_at_once_and_of_none():
    tables = np.zeros((2, 3, 3))
    tables[1] = np.diag([1, 2, 3])
    assert np.isnan(statistics(tables)[0]).all()
    assert statistics(tables)[1].tolist() == [1, 1, 1]


# Intervals ------------------------------------------------------------------------------------


def test_the_interval_of_accuracy_is_that_of_a_proportion():
    # 70 of 100: the normal approximation is 0.70 ± 1.96·√(0.7·0.3/100) = 0.610 … 0.790.
    table = two([[20, 5, 3], [10, 30, 6], [2, 4, 20]])
    low, high = agreement(table).pairs[0].ci95["accuracy"]
    assert low == pytest.approx(0.61, abs=0.015)
    assert high == pytest.approx(0.79, abs=0.015)


def test_intervals_are_seeded():
    table = two([[20, 5, 3], [10, 30, 6], [2, 4, 20]])
    one, same, other = (first_pair(table, seed=seed).ci95 for seed in (1, 1, 2))
    assert one == same != other


def test_items_of_one_report_are_resampled_together():
    confusion = [[20, 5, 3], [10, 30, 6], [2, 4, 20]]
    alone = agreement(two(confusion)).pairs[0]
    # Ten copies of every item in one report: no more is known than from the items alone.
    copies = [[10 * n for n in row] for row in confusion]
    table = two(copies, reports=lambda i: f"r{i // 10}")
    together = agreement(table).pairs[0]
    assert (alone.reports, together.reports, together.items) == (None, 100, 1000)
    for name, (low, high) in alone.ci95.items():
        assert together.ci95[name] == pytest.approx((low, high), abs=0.01)
    apart = agreement(two(copies)).pairs[0]
    width = lambda pair: pair.ci95["kappa"][1] - pair.ci95["kappa"][0]  # noqa: E731
    assert width(together) > 2.5 * width(apart)  # √10


def test_one_report_leaves_nothing_to_resample():
    pair = first_pair(two([[2, 1, 0], [0, 2, 0], [0, 0, 2]], reports=lambda i: "only"))
    assert pair.reports == 1
    assert set(pair.ci95.values()) == {None}


# Majority -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("votes", "label"),
    [
        ((S, S, R), S),
        ((R, N, R), R),
        ((S, N, R), N),  # three-way tie
        ((S, R), N),
        ((S, N), N),  # any other tie too
        ((S, S, R, R), N),
        ((S, S, R, R, N), N),
        ((S, S, S, R, R), S),
        ((R,), R),
    ],
)
def test_majority(votes, label):
    assert majority([{"x": vote} for vote in votes]) == {"x": label}


def test_a_majority_needs_more_than_half_of_the_voters():
    assert majority([{"x": S, "y": S}, {"x": S}, {}]) == {"x": S}
    assert majority([{"x": S}, {}]) == {}


def test_the_pairs_of_table_1_in_its_order_and_the_majority():
    table = LabelTable()
    rows = {"GPT-OSS": "SSRN", "Expert 1": "SNRS", "Expert 2": "SRRN", "Expert 3": "NSRR"}
    for rater, word in rows.items():
        for i, letter in enumerate(word):
            table.add(rater, str(i), read_label(letter))
    found = agreement(table, ["expert 1", "Expert 2", "Expert 3"], resamples=50)
    names = [(pair.first, pair.second) for pair in found.pairs]
    assert names == [
        ("GPT-OSS", "Expert 1"),
        ("GPT-OSS", "Expert 2"),
        ("GPT-OSS", "Expert 3"),
        ("Expert 1", "Expert 2"),
        ("Expert 1", "Expert 3"),
        ("Expert 2", "Expert 3"),
        ("GPT-OSS", MAJORITY),
        ("Expert 1", MAJORITY),
        ("Expert 2", MAJORITY),
        ("Expert 3", MAJORITY),
    ]
    # The majority is S, N (three-way), R, N (three-way): GPT-OSS misses the second alone.
    assert found.pairs[6].accuracy == 0.75
    assert [pair.own_vote for pair in found.pairs[6:]] == [False, True, True, True]
    assert found.distribution[MAJORITY] == {S: 1, N: 2, R: 1}
    shown = Console(width=200, record=True, file=None)
    with shown.capture() as out:
        shown.print(render(found, confusion=True))
    assert re.search(r"GPT-OSS – majority +│ +4 │ 0.750 \[", out.get())
    assert "Expert 1 – majority *" in out.get()
    assert json.loads(json.dumps(found.to_dict()))["experts"] == [
        "Expert 1",
        "Expert 2",
        "Expert 3",
    ]


def test_judges_have_no_vote_unless_asked_for():
    table = LabelTable()
    for rater in ("judge:rules", "Ann", "Bob"):
        table.add(rater, "x", S)
    assert agreement(table, resamples=10).experts == ("Ann", "Bob")
    alone = LabelTable({"judge:rules": {"x": S}, "Ann": {"x": S}})
    assert [p.second for p in agreement(alone, resamples=10).pairs] == ["Ann"]


def test_only_common_items_count():
    table = LabelTable({"A": {"1": S, "2": R}, "B": {"2": R, "3": N}, "C": {}})
    a_b, a_c, _ = agreement(table, experts=[], resamples=10).pairs
    assert (a_b.items, a_b.accuracy) == (1, 1.0)
    assert (a_c.items, a_c.accuracy, a_c.kappa, a_c.within_1) == (0, None, None, None)


@pytest.mark.parametrize(
    ("table", "experts", "says"),
    [
        (LabelTable({"A": {"1": S}}), None, "two raters; there is A"),
        (LabelTable({"A": {"1": S}, "B": {"1": S}}), ["C"], "no rater 'C'; there are A, B"),
        (LabelTable({"A": {"1": S}, "majority": {"1": S}}), None, "rename the column"),
    ],
)
def test_what_can_not_be_compared(table, experts, says):
    with pytest.raises(UserError, match=says):
        agreement(table, experts)


# Reading --------------------------------------------------------------------------------------


def write(path, text, encoding="utf-8"):
    path.write_bytes(text.encode(encoding))
    return path


WANTED = {"Judge": {"a": S, "b": R, "c": N}, "Ann": {"a": N, "c": S}}


@pytest.mark.parametrize(
    ("name", "text", "encoding"),
    [
        ("w.csv", "item,Judge,Ann\na,SUPPORTED,NEUTRAL\nb,REFUTED,\nc,NEUTRAL,SUPPORTED\n", "utf-8"),
        ("w.csv", "Item;Judge;Ann\r\na; s ;n\r\nb;r;\r\nc;N;Supported\r\n", "utf-8-sig"),
        ("w.csv", "sep=;\r\nITEM;Judge;Ann\r\na;s;n\r\nb;r;-\r\n;;\r\nc;N;S\r\n", "utf-8"),
        ("w.tsv", "\n id \tJudge\tAnn\na\tS\tN\nb\tR\nc\tN\tS\n", "utf-16"),
        ("w.csv", 'item,claim,Judge,Ann,comment\na,"x\ny, z",S,N,\nb,q,R,,ja – gut\nc,q,N,S,\n', "cp1252"),
        ("l.csv", "item,rater,label\na,Judge,S\nb,Judge,R\nc,Judge,N\na,Ann,N\nc,Ann,S\nb,Ann,\n", "utf-8"),
        (
            "l.jsonl",
            '{"item":"a","rater":"Judge","label":"S"}\n{"item":"b","Judge":"refuted","Ann":null}\n\n'
            '{"item":"c","Judge":"N","Ann":"S"}\n{"item":"a","rater":"Ann","label":"neutral"}',
            "utf-8",
        ),
    ],
)  # fmt: skip
def test_every_form_is_the_same_table(tmp_path, name, text, encoding):
    assert read_labels([write(tmp_path / name, text, encoding)]).labels == WANTED


def test_one_hand_files_are_named_after_their_annotator(tmp_path):
    one = write(tmp_path / "Expert 1.csv", "item,claim,label\na,x,S\nb,y,\n")
    two_ = write(tmp_path / "Expert 2.csv", "item;label\n'b;R\n")
    assert read_labels([one, two_]).labels == {"Expert 1": {"a": S}, "Expert 2": {"b": R}}


def test_items_told_by_report_and_claim(tmp_path):
    table = read_labels([write(tmp_path / "x.csv", "report,claim,A\nr1,1,S\nr1,2,N\nr2,1,R\n")])
    assert table.labels["A"] == {"r1/1": S, "r1/2": N, "r2/1": R}
    assert table.reports == {"r1/1": "r1", "r1/2": "r1", "r2/1": "r2"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("item,A\na,S\nb,Maybe\n", "x.csv, line 3: 'Maybe' in the column 'A' is no label"),
        ('item,claim,A\na,"1\n2",S\nb,,TRUE\n', "x.csv, line 4: 'TRUE'"),
        ("sep=,\nitem,A\na,yes\n", "x.csv, line 3: 'yes'"),
        ("item,rater,label\na,A,S\na,A,R\n", "line 3: 'A' calls 'a' REFUTED here and SUPPORTED"),
        ("name,A\nx,S\n", "line 2: there is no item"),
        ("item\na\n", "line 2: there is neither a column named label"),
        ("item,A,A\na,S,S\n", "line 1: two columns are named 'A'"),
        ("item,A\na,S,R\n", "line 2: more cells than the header"),
        ("item,A\n", "x.csv has no items"),
        ("", "x.csv is empty"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path, text, says):
    with pytest.raises(UserError) as error:
        read_labels([write(tmp_path / "x.csv", text)])
    assert says in str(error.value)


def test_wrong_json_is_said_with_its_line(tmp_path):
    with pytest.raises(UserError, match=r"x.jsonl, line 2: this is not JSON"):
        read_labels([write(tmp_path / "x.jsonl", '{"item":"a","A":"S"}\nitem')])
    with pytest.raises(UserError, match=r"line 1: this is not a JSON object"):
        read_labels([write(tmp_path / "x.jsonl", "[]")])
    with pytest.raises(UserError, match="can't be read: No such file"):
        read_labels([tmp_path / "nowhere.csv"])


names = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=8)


@given(
    st.dictionaries(
        names.filter(lambda n: n.casefold() not in ("item", "report", "label") and n[0] != "'"),
        st.dictionaries(st.sampled_from(["i1", "=i2", "-3"]), labels, min_size=1),
        min_size=1,
        max_size=4,
    )
)
def test_written_tables_are_read_back(tmp_path_factory, given_labels):
    aside = {"id", "claim", "event", "text", "note", "notes", "pair", "rater", "quote"}
    given_labels = {k: v for k, v in given_labels.items() if k.casefold() not in aside}
    table = LabelTable(given_labels, {"i1": "r1", "=i2": "=r2"})
    if not table.items:
        return
    path = tmp_path_factory.mktemp("labels") / "t.csv"
    write_labels(table, path)
    again = read_labels([path])
    assert again.labels == given_labels
    assert again.reports == {k: v for k, v in table.reports.items() if k in table.items}


@given(st.text(max_size=30) | st.text("item,;\t\n\r\"'SRNlabesp=\0", max_size=60))
def test_no_file_makes_a_traceback(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("labels") / "t.csv"
    path.write_text(text, encoding="utf-8", errors="replace")
    try:
        read_labels([path])
    except UserError as error:
        assert str(path) in str(error)
