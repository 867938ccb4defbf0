"""`zephyrus env view`, as it is typed."""

import json
import subprocess
import sys

import pytest
from run_maker import Page, make_run, rollout

from zephyrus.errors import UserError


def view(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "zephyrus", "env", "view", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        **options,
    )


@pytest.mark.slow
def test_the_command_writes_the_page_into_the_run_and_opens_it(tmp_path):
    make_run(tmp_path / "runs" / "mine", [rollout("a")])
    make_run(tmp_path / "runs" / "other", [rollout("a", 0.0)])
    opened = tmp_path / "opened"
    browser = tmp_path / "browser.sh"
    browser.write_text(f'#!/bin/sh\necho "$1" > {opened}\n')
    browser.chmod(0o755)
    environment = {"PATH": "/usr/bin:/bin", "BROWSER": f"{browser} %s"}
    done = view("mine", "--open", cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stderr
    file = tmp_path / "runs" / "mine" / "view.html"
    assert done.stdout.startswith("1 rollout, 0.") and done.stdout.endswith("view.html\n")
    assert Page(file).unpacked("index")["rows"][0][0]["task"] == "a"
    assert opened.read_text().strip() == file.as_uri()

    both = view("mine", "runs/other", "--json", cwd=tmp_path)
    facts = json.loads(both.stdout)
    assert facts["file"] == "runs/mine/view-other.html" and facts["rollouts"] == 2
    assert facts["bytes"] == (tmp_path / facts["file"]).stat().st_size
    elsewhere = view("mine", "--output", "here.html", cwd=tmp_path)
    assert elsewhere.returncode == 0 and (tmp_path / "here.html").is_file()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["mine", "mine"], "both runs are"),
        (["mine", "mine", "mine"], "not 3"),
        (["nowhere"], "no run 'nowhere'"),
        ([], "Missing argument"),
    ],
)
def test_what_the_command_refuses(tmp_path, arguments, says, monkeypatch):
    from click.testing import CliRunner

    from zephyrus.cli.run import view as command

    make_run(tmp_path / "runs" / "mine", [rollout("a")])
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(command, arguments)
    assert done.exit_code != 0
    assert says in (str(done.exception) if isinstance(done.exception, UserError) else done.output)
