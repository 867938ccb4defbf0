"""The check of a GPU, as far as it goes without one."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_the_script_parses_and_says_when_there_is_no_gpu(tmp_path):
    script = str(SCRIPTS / "gpu_check.sh")
    assert subprocess.run(["bash", "-n", script], check=False).returncode == 0
    if shutil.which("nvidia-smi"):
        pytest.skip("there is a GPU: run scripts/gpu_check.sh itself")
    done = subprocess.run(["bash", script], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "there is no GPU here" in done.stderr


@pytest.mark.slow
def test_its_run_and_checks_work_on_cpu(tiny_model, tmp_path):
    command = [sys.executable, str(SCRIPTS / "gpu_check.py"), "--model", str(tiny_model)]
    command += ["--dtype", "float32", "--steps", "2", "--output", str(tmp_path / "run")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    assert done.stdout.count("\nok   ") == 10
    assert "WRONG" not in done.stdout
