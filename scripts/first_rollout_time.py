"""How long it takes from `git clone` to the first scored rollout: wall-clock time, step by step.

    python scripts/first_rollout_time.py [--url URL] [--cached]

Clones this repository (or URL) into a temporary folder and does there what the README says: `make
demo`, told apart into installing and running. pip's cache is not used unless --cached is given, so
that every package is fetched; how long that takes is the network's.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # for the benchmarks' words about the machine

from benchmarks import machine  # noqa: E402

INSTALLED = ".venv/base.stamp"
"""What the Makefile touches when all is installed."""


def main() -> None:
    """Measure, and print JSON."""
    parser = argparse.ArgumentParser(description="Time from git clone to the first scored rollout.")
    parser.add_argument("--url", default=ROOT.as_uri(), help="what to clone [default: this clone]")
    parser.add_argument("--cached", action="store_true", help="let pip use its cache")
    options = parser.parse_args()
    environment = dict(os.environ, PYTHON=sys.executable)
    if not options.cached:
        environment["PIP_NO_CACHE_DIR"] = "1"
    with tempfile.TemporaryDirectory(prefix="zephyrus-clone-") as folder:
        clone = Path(folder, "zephyrus")
        seconds = {
            "clone": _run(["git", "clone", "--quiet", options.url, str(clone)], environment),
            "install": _run(["make", "--directory", str(clone), INSTALLED], environment),
        }
        first, whole = _demo(clone, environment)
        seconds |= {"first_scored_rollout": first, "rest_of_make_demo": whole - first}
    total = seconds["clone"] + seconds["install"] + first
    described = {key: value for key, value in machine.describe().items() if key != "libraries"}
    found = {
        "seconds": {name: round(value, 1) for name, value in seconds.items()},
        "clone_to_first_scored_rollout": round(total, 1),
        "load_average": round(os.getloadavg()[0], 1),
        "machine": described,
    }
    print(json.dumps(found, indent=1))


def _run(command: list[str], environment: dict[str, str]) -> float:
    began = time.monotonic()
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
    return time.monotonic() - began


def _demo(clone: Path, environment: dict[str, str]) -> tuple[float, float]:
    """Seconds until the first rollout is on the disk with its score, and until all is over."""
    kept = clone / "runs" / "demo" / "trajectories.jsonl"
    command = ["make", "--directory", str(clone), "demo"]
    began = time.monotonic()
    first = None
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as demo:
        while demo.poll() is None:
            if first is None and kept.exists() and b"\n" in kept.read_bytes():
                first = time.monotonic() - began
            time.sleep(0.01)
    whole = time.monotonic() - began
    if demo.returncode or first is None:
        raise SystemExit(f"make demo failed with exit code {demo.returncode}")
    return first, whole


if __name__ == "__main__":
    main()
