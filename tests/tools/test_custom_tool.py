import importlib.util
import math
from pathlib import Path

import pytest

from zephyrus_geodata import Dataset, Forecast

EXAMPLE = Path(__file__).parents[2] / "examples" / "my_tools.py"


@pytest.fixture(scope="module")
def wind_chill():
    spec = importlib.util.spec_from_file_location("my_tools", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.wind_chill


def test_the_model_sees_only_place_and_hour(wind_chill):
    assert wind_chill.parameters["required"] == ["place", "hour"]
    assert wind_chill.injected == {"dataset": Dataset, "forecast": Forecast}


def test_the_value(wind_chill, world, analytic, forecast, inline):
    answer = inline(wind_chill, '{"place": "Finland", "hour": 24}', world)
    assert answer.error is None
    feature = analytic.features.get("Finland")
    t = analytic.series(forecast, "2m_temperature", feature)[3] - 273.15
    v = 3.6 * analytic.series(forecast, "10m_wind_speed", feature)[3]
    expected = 13.12 + 0.6215 * t + (0.3965 * t - 11.37) * math.pow(v, 0.16)
    assert float(answer.text.split(": ")[-1].removesuffix(" °C")) == pytest.approx(
        expected, abs=6e-3
    )


def test_a_known_value_of_the_formula(wind_chill, world, monkeypatch, inline):
    # Environment Canada's table: -20 °C at 30 km/h feels like -33.
    si = {"2m_temperature": 253.15, "10m_wind_speed": 30.0 / 3.6}
    monkeypatch.setattr(Dataset, "series", lambda self, forecast, name, feature: [si[name]] * 40)
    answer = inline(wind_chill, '{"place": "Finland", "hour": 24}', world).text
    assert round(float(answer.split(": ")[-1].removesuffix(" °C"))) == -33


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ('{"place": "Kenya", "hour": 24}', "wind chill is defined up to 10 °C"),
        ('{"place": "Narnia", "hour": 24}', "no feature named 'Narnia'"),
        ('{"place": "Georgia", "hour": 24}', "several kinds"),
        ('{"place": "Kenya", "hour": 25}', "hour must be one of 6, 12, "),
    ],
)
def test_wrong_calls_are_refused(wind_chill, world, inline, arguments, message):
    result = inline(wind_chill, arguments, world)
    assert result.error == "tool_error"
    assert message in result.text
