"""``zephyrus data reports fetch``, also when it is killed."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

from zephyrus_geodata.cli import data
from zephyrus_geodata.reports.manifest import Manifest

sys.path.insert(0, str(Path(__file__).parent))  # for the server beside the tests

from report_server import Fault, ReportServer, files, month_of_bulletins


@pytest.fixture
def server():
    with ReportServer(month_of_bulletins()).running() as running:
        yield running


def arguments(server: ReportServer, folder: Path, *more: str) -> list[str]:
    spans = ["--from", "2023-09-01", "--to", "2024-02-01"]
    return [
        *["reports", "fetch", "--product", "pmdspd", *spans, "--base-url", server.url],
        *["--output", str(folder), "--rate", "100", *more],
    ]


def test_the_command(server, tmp_path):
    result = CliRunner().invoke(data, arguments(server, tmp_path / "a", "--json"))
    assert result.exit_code == 0, result.output
    facts = json.loads(result.stdout)
    assert facts["reports"] == 62 and facts["requests"] == 5 and facts["refused"] == {}
    assert facts["first"] == "2024-01-01T08:01:00+00:00"
    result = CliRunner().invoke(data, arguments(server, tmp_path / "a"))
    assert "PMDSPD: 62 reports" in result.stdout and "0 made and kept, 5 had been" in result.stdout
    assert result.stderr == ""  # no bar where nobody watches


def test_a_dry_run_asks_nothing(server, tmp_path):
    result = CliRunner().invoke(data, arguments(server, tmp_path / "a", "--dry-run"))
    assert result.exit_code == 0
    assert not server.requests and not (tmp_path / "a").exists()
    urls = result.stdout.splitlines()
    assert len(urls) == 5
    assert urls[-1] == (
        f"{server.url}/cgi-bin/afos/retrieve.py?pil=PMDSPD&fmt=text&sdate=2024-01-01T00:00Z"
        "&edate=2024-02-01T00:00Z&limit=9999&order=asc"
    )


def test_the_command_was_wrong(server, tmp_path):
    wrong = arguments(server, tmp_path)
    wrong[wrong.index("2023-09-01")] = "soon"
    result = CliRunner().invoke(data, wrong)
    assert result.exit_code == 2 and "--from 'soon' is no date" in result.stderr


def test_the_work_failed(tmp_path):
    with ReportServer(month_of_bulletins()).running() as server:
        server.faults = [Fault("status", 429, {"Retry-After": "99999"})]
        result = CliRunner().invoke(data, arguments(server, tmp_path))
    assert result.exit_code == 1 and "asks to wait" in result.stderr


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_killed_and_resumed(tmp_path):
    """SIGKILL at several moments; what is finished is never asked for again."""
    held = [
        item for month in (9, 10, 11, 12) for item in month_of_bulletins(2023, month, 28)
    ] + month_of_bulletins()
    with ReportServer(held).running() as server:
        smooth, rough = tmp_path / "smooth", tmp_path / "rough"
        command = [sys.executable, "-m", "zephyrus", "data"]
        subprocess.run([*command, *arguments(server, smooth)], check=True, capture_output=True)
        server.requests.clear()
        server.delay = 0.3
        finished: set[tuple[str, str, str]] = set()
        for kill in range(3):
            begun = len(server.requests)
            child = subprocess.Popen(
                [*command, *arguments(server, rough)],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            wait_until(lambda begun=begun, kill=kill: len(server.requests) >= begun + 1 + kill % 2)
            time.sleep(0.1 * kill)
            child.send_signal(signal.SIGKILL)
            child.wait()
            asked = server.spans()[begun:]
            assert not finished & set(asked)
            for entry in Manifest(rough).entries():
                finished.add(
                    (
                        entry.pil,
                        *(f"{t:%Y-%m-%dT%H:%MZ}" for t in (entry.span.start, entry.span.end)),
                    )
                )
                assert (rough / entry.file).read_bytes() == (smooth / entry.file).read_bytes()
        begun = len(server.requests)
        server.delay = 0.0
        subprocess.run([*command, *arguments(server, rough)], check=True, capture_output=True)
        assert not finished & set(server.spans()[begun:])
        assert max(Counter(server.spans()).values()) <= 4
    assert files(rough) == files(smooth)
    assert len(finished) >= 1


def wait_until(true) -> None:
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)
