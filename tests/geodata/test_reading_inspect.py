"""``zephyrus data inspect``: what it shows, its flags, its refusals."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from click.testing import CliRunner, Result

from zephyrus_geodata.cli import data
from zephyrus_geodata.reading.options import read_answers
from zephyrus_geodata.reading.understood import Answers


def run(*args: str | Path) -> Result:
    return CliRunner().invoke(data, ["inspect", *map(str, args)])


@pytest.fixture
def forecast(tmp_path: Path) -> Path:
    """A forecast in °C with rain of unknown meaning and a variable that nobody knows."""
    dims = ("step", "lat", "lon")
    rain = np.cumsum(np.full((3, 3, 4), 2.0, np.float32), axis=0)
    xr.Dataset(
        {
            "t2m": (dims, np.linspace(-10, 20, 36).reshape(3, 3, 4), {"units": "degC"}),
            "tp": (dims, rain, {"units": "mm", "long_name": "Total precipitation"}),
            "foo": (dims, rain, {"units": "bar"}),
        },
        coords={
            "lat": ("lat", [10.0, 0.0, -10.0], {"units": "degrees_north"}),
            "lon": ("lon", [0.0, 90.0, 180.0, 270.0], {"units": "degrees_east"}),
            "step": ("step", [6, 12, 18], {"units": "hours"}),
            "time": ((), 0, {"units": "hours since 2020-01-01"}),
        },
        attrs={"title": "A \x1b[31mtest"},
    ).to_netcdf(tmp_path / "run.nc")
    return tmp_path / "run.nc"


def test_the_report_says_what_was_understood(forecast: Path) -> None:
    result = run(forecast)
    assert result.exit_code == 0, result.output
    text = result.output
    assert "(netcdf4)" in text
    assert "runs       2020-01-01T00:00" in text
    assert "lead times 6, 12, 18 h" in text
    assert "2m_temperature" in text
    # The second of three steps of -10 to 20 °C.
    assert "from t2m [degC]; 273.436 to 282.864 in a sample" in text
    assert "left out   foo" in text
    assert "converted from degC to K" in text
    assert "\x1b" not in text


def test_json_has_everything(forecast: Path) -> None:
    result = run(forecast, "--json", "--precipitation", "accumulated")
    report = json.loads(result.output)
    assert report["kind"] == "forecast"
    assert report["lead_hours"] == [6, 12, 18]
    assert report["questions"] == []
    rows = {row["name"]: row for row in report["variables"]}
    temperature = rows["2m_temperature"]
    assert (temperature["raw"], temperature["raw_units"]) == (["t2m"], "degC")
    step = np.linspace(-10, 20, 36).reshape(3, 12)[1] + 273.15
    assert temperature["sample"]["min"] == pytest.approx(step.min(), abs=1e-4)
    assert temperature["sample"]["max"] == pytest.approx(step.max(), abs=1e-4)
    assert temperature["sample"]["missing"] == 0
    (rain,) = [row for name, row in rows.items() if name.startswith("total_precipitation")]
    assert rain["sample"]["max"] == pytest.approx(0.002)
    assert "foo" in report["left_out"]


def test_a_question_comes_with_the_flag_that_answers_it(forecast: Path) -> None:
    asked = json.loads(run(forecast, "--json").output)["questions"]
    for question in asked:
        assert question["text"]
        assert question["flag"].startswith("--")


def test_leaving_a_variable_out_and_naming_one(forecast: Path) -> None:
    report = json.loads(
        run(forecast, "--json", "--name", "tp=", "--name", "foo=surface_pressure",
            "--units", "foo=hPa", "--no-sample").output
    )  # fmt: skip
    assert "tp" in report["left_out"]
    assert "sample" not in report["variables"][0]


@pytest.mark.parametrize(
    ("args", "match"),
    [
        (["nothing.nc"], "There is no file or folder nothing.nc"),
        (["--units", "t2m", "x.nc"], "has to be VAR=UNIT"),
        (["--missing", "t2m=cold", "x.nc"], "needs a number"),
        (["--kind", "guess", "x.nc"], "'guess' is not one of"),
        ([], "Missing argument"),
    ],
)
def test_mistakes_are_told_with_exit_code_2(args: list[str], match: str) -> None:
    result = run(*args)
    assert result.exit_code == 2
    assert match in result.output
    assert "Traceback" not in result.output


def test_what_a_file_says_cannot_drive_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "a.nc").write_bytes(b"\x1b]0;owned\x07 not data")
    result = run(tmp_path / "a.nc")
    assert result.exit_code == 2
    assert "\x1b" not in result.output
    assert "\x07" not in result.output


def test_every_flag_becomes_an_answer() -> None:
    values: dict[str, Any] = {
        "kind": "analyses", "precipitation": "rate", "units": ("a=K", "b=m s-1"),
        "names": ("a=2m_temperature", "c="), "missing": ("a=-9999",), "member": "3",
        "calendar": "standard", "grid": 1, "winds": "grid", "step_types": ("a=avg",),
    }  # fmt: skip
    assert read_answers(values) == Answers(
        kind="analyses", precipitation="rate", units={"a": "K", "b": "m s-1"},
        names={"a": "2m_temperature", "c": ""}, missing={"a": -9999.0}, member="3",
        calendar="standard", grid=1, winds="grid", step_types={"a": "avg"},
    )  # fmt: skip


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; from zephyrus_geodata.cli import data\n"
        "try: data(['inspect', '--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'xarray', 'zarr', 'eccodes', 'netCDF4', 'pyproj'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
