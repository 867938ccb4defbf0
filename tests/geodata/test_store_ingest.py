import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from zephyrus_geodata import Dataset
from zephyrus_geodata.errors import (
    StoreError,
    UnknownDataset,
    UnknownMember,
    UnknownVariable,
    UnsuitableData,
)
from zephyrus_geodata.grid import Grid
from zephyrus_geodata.reading.understood import Question
from zephyrus_geodata.store import fill
from zephyrus_geodata.store.ingest import Added, add_dataset
from zephyrus_geodata.store.opened import open_stored
from zephyrus_geodata.store.plan import plain_address
from zephyrus_geodata.store.select import Selection

sys.path.insert(0, str(Path(__file__).parent))  # for the sources beside the tests

from store_parts import Source, expected, tree

CELLS, STEPS = np.arange(648), np.arange(5)


def add(root: Path, source: Source, select: str = "", name: str = "hand", **more: Any) -> Added:
    selection = Selection.parse([select] if select else [])
    return add_dataset(name, source.understood, root=root, selection=selection, **more)


def test_what_is_added_is_what_was_read(tmp_path: Path) -> None:
    source = Source()
    heard: list[tuple[int, int, str]] = []
    added = add(tmp_path, source, label="by hand", progress=lambda *news: heard.append(news))
    assert added.folder == tmp_path / "hand"
    assert added.forecasts == ("2020-01-01", "2020-01-01T12", "2020-01-02")
    assert added.bytes == 9 * 648 * 5 * 4 == heard[-1][0] == heard[-1][1]
    done = [done for done, _, _ in heard]
    assert done == sorted(done) and set(done) == {i * 648 * 5 * 4 for i in range(10)}
    assert [what for _, _, what in heard][:3:2] == [
        "2020-01-01 2m_temperature",
        "2020-01-01 10m_wind_speed",
    ]
    dataset = Dataset.from_folder(tmp_path / "hand")
    assert dataset.name == "hand" and dataset.label == "by hand"
    assert dataset.forecasts == added.forecasts
    assert dataset.grid == source.grid
    for init, name in enumerate(dataset.forecasts):
        forecast = dataset.forecast(name)
        assert forecast.id == f"hand/{name}"
        assert forecast.init_time == np.datetime64(source.inits[init], "s")
        assert forecast.lead_hours.tolist() == [0, 6, 12, 18, 24]
        assert forecast.members == ()
        assert set(forecast.variables) == set(source.variables)
        assert forecast.provenance == {
            "institution": "nowhere",
            "source": "made by hand (netcdf4)",
            "notes": "2m_temperature: converted from °C; made up",
        }
        for index, variable in enumerate(source.variables):
            values = forecast.cells(variable)
            assert values.tobytes() == expected(index, init, CELLS, STEPS).tobytes()
            assert values.shape == (648, 5) and values.dtype == np.float32
            assert not values.flags.writeable and values.flags.c_contiguous
    # Each variable of each initial time was asked for once, and nothing else lies about.
    assert len(source.reads) == len(set(source.reads)) == 9
    assert sorted(p.name for p in tmp_path.iterdir()) == [".locks", "hand"]


def test_a_selection(tmp_path: Path) -> None:
    source = Source()
    add(
        tmp_path,
        source,
        "init=2020-01-01T12..,lead=6..24/12,variables=10m_*,bbox=160,-10,-160,20",
    )
    dataset = Dataset.from_folder(tmp_path / "hand")
    assert dataset.forecasts == ("2020-01-01T12", "2020-01-02")
    assert dataset.grid.latitude.tolist() == [-5.0, 5.0, 15.0]
    assert dataset.grid.longitude.tolist() == [160.0, 170.0, 180.0, 190.0, 200.0]
    rows, columns = [8, 9, 10], [34, 35, 0, 1, 2]
    cells = np.array([r * 36 + c for r in rows for c in columns])
    for init, name in enumerate(dataset.forecasts, start=1):
        forecast = dataset.forecast(name)
        assert forecast.variables == ("10m_wind_speed",)
        assert forecast.lead_hours.tolist() == [6, 18]
        got = forecast.cells("10m_wind_speed")
        assert got.tobytes() == expected(1, init, cells, np.array([1, 3])).tobytes()
    assert {(name, init) for name, init, _, _ in source.reads} == {
        ("10m_wind_speed", 1),
        ("10m_wind_speed", 2),
    }
    assert {(a, b) for _, _, a, b in source.reads} == {(1, 2), (3, 4)}  # steps left out stay unread


@pytest.mark.parametrize(
    ("lead", "groups"),
    [
        ("0..24/12", [[0], [1, 2], [3, 4]]),
        ("12,24", [[1, 2], [3, 4]]),  # the first amount is that since the start
        ("24", [[1, 2, 3, 4]]),
        ("0,24", [[0], [1, 2, 3, 4]]),
        ("0..12", [[0], [1], [2]]),
    ],
)
@pytest.mark.parametrize("budget", [1, fill.BUDGET])
def test_amounts_of_steps_left_out_are_added_to_the_next(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    lead: str,
    groups: list[list[int]],
    budget: int,
) -> None:
    monkeypatch.setattr(fill, "BUDGET", budget)
    added = add(tmp_path, Source(), f"lead={lead},init=2020-01-02")
    got = Dataset.from_folder(tmp_path / "hand").forecast("2020-01-02").cells("total_precipitation")
    each = expected(2, 2, CELLS, STEPS).astype(np.float64)
    by_hand = np.stack([each[:, group].sum(axis=1) for group in groups], axis=-1)
    assert got.tolist() == by_hand.astype(np.float32).tolist()
    told = any("steps left out" in note for note in added.notes)
    assert told == (lead != "0..12")


@pytest.mark.parametrize("members", [(), ("control", "1", "2")])
@pytest.mark.parametrize("budget", [1, 648 * 4, 5 * 648 * 4, 10 * 648 * 4, 1 << 30])
def test_memory_is_bounded_and_the_bytes_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, budget: int, members: tuple[str, ...]
) -> None:
    whole = Source(members=members)
    add(tmp_path / "whole", whole)
    monkeypatch.setattr(fill, "BUDGET", budget)
    source = Source(members=members)
    add(tmp_path / "bounded", source)
    one_step = 648 * 4 * max(1, len(members))
    assert source.largest <= max(budget, one_step)
    assert tree(tmp_path / "bounded") == tree(tmp_path / "whole")


def test_members(tmp_path: Path) -> None:
    source = Source(members=("control", "1", "2", "10"))
    add(tmp_path, source, "members=control,2,10", name="ensemble")
    forecast = Dataset.from_folder(tmp_path / "ensemble").forecast("2020-01-01T12")
    assert forecast.members == ("control", "2", "10")
    whole = expected(0, 1, CELLS, STEPS, members=4)[[0, 2, 3]]
    for index, name in enumerate(forecast.members):
        for key in (index, name):
            got = forecast.cells("2m_temperature", key)
            assert got.tobytes() == whole[index].tobytes()
            assert not got.flags.writeable
    mean = forecast.cells("2m_temperature")
    assert mean.tobytes() == whole.astype(np.float64).mean(axis=0).astype(np.float32).tobytes()
    assert forecast.cells("2m_temperature") is mean
    with pytest.raises(UnknownMember, match="has no member '1'; it has 3: control, 2, 10"):
        forecast.cells("2m_temperature", "1")
    for index in (3, -1):
        with pytest.raises(UnknownMember):
            forecast.cells("2m_temperature", index)
    with pytest.raises(UnknownVariable):
        forecast.cells("snow_depth", 0)


def test_more_initial_times(tmp_path: Path) -> None:
    first, second = Source(inits=["2020-01-01T00"]), Source(inits=["2020-01-01T00", "2020-01-03"])
    add(tmp_path, first, label="mine")
    old = Dataset.from_folder(tmp_path / "hand")
    added = add(tmp_path, second, "lead=0..12", mode="append")
    assert added.forecasts == ("2020-01-03",) and added.present == ("2020-01-01",)
    assert {init for _, init, _, _ in second.reads} == {1}
    dataset = Dataset.from_folder(tmp_path / "hand")
    assert dataset.forecasts == ("2020-01-01", "2020-01-03")
    assert dataset.label == "mine"
    assert dataset.forecast("2020-01-01").lead_hours.size == 5
    new = dataset.forecast("2020-01-03")
    assert new.lead_hours.tolist() == [0, 6, 12]
    assert new.cells("2m_temperature").tobytes() == expected(0, 1, CELLS, STEPS[:3]).tobytes()
    assert old.forecast("2020-01-01").cells("2m_temperature").shape == (648, 5)
    before = tree(tmp_path)
    again = add(tmp_path, second, mode="append")
    assert again.forecasts == () and again.present == ("2020-01-01", "2020-01-03")
    assert tree(tmp_path) == before


def test_what_does_not_fit_is_not_appended(tmp_path: Path) -> None:
    add(tmp_path, Source())
    before = tree(tmp_path)
    coarse = Source(grid=Grid(np.arange(-80.0, 90.0, 20.0), np.arange(-180.0, 180.0, 20.0)))
    with pytest.raises(StoreError, match=r"is on another grid .* select the same box"):
        add(tmp_path, coarse, mode="append")
    with pytest.raises(StoreError, match="is on another grid"):
        add(tmp_path, Source(), "bbox=0,0,90,90", mode="append")
    with pytest.raises(StoreError, match="no dataset 'other' to append to"):
        add(tmp_path, Source(), name="other", mode="append")
    assert tree(tmp_path) == before


def test_replacing(tmp_path: Path) -> None:
    add(tmp_path, Source(), label="first")
    old = Dataset.from_folder(tmp_path / "hand").forecast("2020-01-01")
    kept = old.cells("2m_temperature")
    with pytest.raises(StoreError, match="There is a dataset 'hand' already: give --replace"):
        add(tmp_path, Source())
    add(tmp_path, Source(leads=[6, 12]), "init=2020-01-02", mode="replace")
    dataset = Dataset.from_folder(tmp_path / "hand")
    assert dataset.forecasts == ("2020-01-02",)
    assert dataset.label == "hand"
    assert dataset.forecast("2020-01-02").lead_hours.tolist() == [6, 12]
    assert len(list((tmp_path / "hand" / "parts").iterdir())) == 1
    # What was mapped stays; what was not is gone, and says so.
    assert kept.tobytes() == expected(0, 0, CELLS, STEPS).tobytes()
    with pytest.raises(
        UnsuitableData, match="the dataset was changed or removed while it was open"
    ):
        old.cells("10m_wind_speed")


def test_series_are_kept_for_later(tmp_path: Path) -> None:
    times = [f"2020-01-{day:02d}T00" for day in range(1, 29)]
    source = Source(kind="analyses", times=times)
    add(tmp_path, source, "time=2020-01-03..2020-01-05,bbox=0,-10,20,10", name="era")
    with pytest.raises(
        UnknownDataset, match="The dataset 'era' has no forecast: it holds analyses"
    ):
        Dataset.from_folder(tmp_path / "era")
    stored = open_stored(tmp_path / "era")
    assert stored is not None
    (series,) = stored.series
    assert series.kind == "analyses"
    assert series.axis("times").astype("datetime64[D]").astype(str).tolist() == [
        "2020-01-03",
        "2020-01-04",
        "2020-01-05",
    ]
    cells = np.array([r * 36 + c for r in (8, 9) for c in (18, 19, 20)])
    got = series.values("10m_wind_speed")
    assert got.tobytes() == expected(1, 0, cells, np.arange(2, 5)).T.tobytes()
    with pytest.raises(UnknownVariable, match="have no variable 'x'; they have 2m_temperature"):
        series.values("x")
    with pytest.raises(StoreError, match="init= makes no sense: the source holds analyses"):
        add(tmp_path, source, "init=2020", name="other")
    # They may stand beside the forecasts that they are to verify.
    add(tmp_path, Source(), "bbox=0,-10,20,10", name="era", mode="append")
    assert Dataset.from_folder(tmp_path / "era").forecasts[0] == "2020-01-01"


@pytest.mark.parametrize("budget", [1, 3 * 648 * 4 * 2, 1 << 30])
def test_series_of_members_are_written_a_block_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, budget: int
) -> None:
    monkeypatch.setattr(fill, "BUDGET", budget)
    times = [f"2020-01-{day:02d}T00" for day in range(1, 8)]
    source = Source(kind="analyses", times=times, members=("1", "2"))
    add(tmp_path, source)
    stored = open_stored(tmp_path / "hand")
    assert stored is not None
    values = stored.series[0].values("2m_temperature")
    whole = expected(0, 0, CELLS, np.arange(7), members=2)
    assert values.tobytes() == np.moveaxis(whole, -1, 0).tobytes()
    assert source.largest <= max(budget, 2 * 648 * 4)


def test_questions_and_nothing_known(tmp_path: Path) -> None:
    from dataclasses import replace

    source = Source().understood
    asked = replace(
        source, questions=(Question("Rates or amounts?", "--precipitation rate", "tp"),)
    )
    with pytest.raises(
        UnsuitableData,
        match=r"can't be stored yet: tp: Rates or amounts\? Say --precipitation rate",
    ):
        add_dataset("x", asked, root=tmp_path)
    empty = replace(source, variables={}, left_out={"foo": "not known"})
    with pytest.raises(UnsuitableData, match=r"no variable that is known \(foo: not known\)"):
        add_dataset("x", empty, root=tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == [".locks"]


def test_addresses_are_kept_without_secrets(tmp_path: Path) -> None:
    where = "https://me:secret@example.org/a/b.zarr?token=secret"
    assert plain_address(where) == "https://example.org/a/b.zarr"
    assert plain_address("gs://bucket/x.zarr") == "gs://bucket/x.zarr"
    assert plain_address("a?b.nc") == "a?b.nc"
    add(tmp_path, Source(where=where))
    assert "secret" not in (tmp_path / "hand" / "dataset.json").read_text()


@pytest.mark.parametrize(
    "name", ["wb2 hres", "Zürich", "天気", "a'b", "x&y;$(z)", "100%", "a.b", "é"]
)
def test_names_with_odd_characters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    from zephyrus_geodata import list_datasets, load_dataset

    monkeypatch.setenv("ZEPHYRUS_DATA", str(tmp_path))
    add_dataset(name, Source().understood)
    assert name in list_datasets()
    assert load_dataset(name).forecast(f"{name}/2020-01-02").id == f"{name}/2020-01-02"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "the name is empty"),
        ("   ", "the name is empty"),
        ("a/b", "'/' can't be part of a name"),
        ("..", "starts with a letter"),
        (".hidden", "starts with a letter"),
        ("-rf", "starts with a letter"),
        ("a ", "without a blank"),
        ("a.", "full stop"),
        ("a\nb", "can't be seen"),
        ("a\x1b[31m", "can't be seen"),
        ("a*", r"'\*' can't be part"),
        ("C:x", "':' can't be part"),
        ("nul", "some systems keep that name"),
        ("ö" * 60, "longer than 100 bytes"),
        ("\ud800", "can't be seen"),
        ("demo", "ships with zephyrus"),
    ],
)
def test_names_that_are_refused(tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(StoreError, match=message):
        add_dataset(name, Source().understood, root=tmp_path)
    assert not [p for p in tmp_path.iterdir() if p.name != ".locks"]


def test_one_name_in_two_spellings_is_one_dataset(tmp_path: Path) -> None:
    add(tmp_path, Source(), name="Z\u00fcrich")
    with pytest.raises(StoreError, match="already"):
        add(tmp_path, Source(), name="Zu\u0308rich")
