"""The notebooks in examples/ do what they show."""

import base64
import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "examples").rglob("*.ipynb"))
TIME = re.compile(r"\b\d+(\.\d+)?(e-\d+)? m?s\b")

pytestmark = pytest.mark.slow


def cells(notebook):
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def said(cell):
    """What a cell puts out: the kinds, and its texts without times."""
    found = []
    for output in cell["outputs"]:
        data = output.get("data", {})
        text = "".join(output.get("text") or data.get("text/plain") or "")
        found.append((output["output_type"], sorted(data), TIME.sub("a time", text)))
    return found


@pytest.fixture(scope="module", params=NOTEBOOKS, ids=lambda path: path.stem)
def kept(request):
    return json.loads(request.param.read_text(encoding="utf-8")), request.param


def test_there_is_one():
    assert NOTEBOOKS


def test_the_cells_run_in_order_in_a_running_loop(kept, tmp_path):
    sources = ["".join(cell["source"]) for cell in cells(kept[0])]
    script = """
import ast, asyncio, inspect, json, sys
async def main():
    names = {"__name__": "__main__"}
    for number, source in enumerate(json.load(sys.stdin)):
        code = compile(source, f"cell {number}", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        waiting = eval(code, names)
        if inspect.iscoroutine(waiting):
            await waiting
    print("accuracy", names["run"].summary["accuracy"])
asyncio.run(main())
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        input=json.dumps(sources),
        capture_output=True,
        text=True,
        timeout=600,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("accuracy 1.0\n")


@pytest.fixture(scope="module")
def fresh(kept):
    pytest.importorskip("nbclient", reason="nbclient and ipykernel are not installed")
    pytest.importorskip("ipykernel", reason="nbclient and ipykernel are not installed")
    spec = importlib.util.spec_from_file_location("notebooks", ROOT / "scripts" / "notebooks.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.execute(kept[1])


def test_the_outputs_that_are_kept_are_those_of_a_kernel(kept, fresh):
    for before, after in zip(cells(kept[0]), cells(fresh), strict=True):
        assert said(before) == said(after), (
            "an output has changed; if it should: python scripts/notebooks.py"
        )


def test_maps_are_inline_and_nothing_is_fetched(kept):
    html = "".join(
        "".join(output.get("data", {}).get("text/html", ""))
        for cell in cells(kept[0])
        for output in cell["outputs"]
    )
    (source,) = set(re.findall(r'<img src="([^"]*)"', html))
    kind, data = source.split(",")
    assert kind == "data:image/png;base64" and base64.b64decode(data).startswith(b"\x89PNG")
    assert "http" not in html and "<script" not in html
    bars = [o for c in cells(kept[0]) for o in c["outputs"] if o["output_type"] == "display_data"]
    assert "".join(bars[0]["data"]["text/plain"]) == "rollouts 16/16 · accuracy 1.000"
