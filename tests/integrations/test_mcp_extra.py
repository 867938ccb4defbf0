"""The extra `mcp`: what is said without it, and that nothing else needs it."""

import importlib.metadata
import subprocess
import sys

import pytest

from zephyrus.errors import UserError
from zephyrus.integrations.mcp import check_extra


def test_without_the_sdk_one_sentence_says_what_to_install(monkeypatch):
    def missing(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", missing)
    with pytest.raises(UserError, match=r'install the extra, pip install "\.\[mcp\]" in a clone'):
        check_extra()


@pytest.mark.parametrize(("version", "fine"), [("1.30.0", False), ("2.0.0", True), ("10.1", True)])
def test_an_old_sdk_is_refused(monkeypatch, version, fine):
    monkeypatch.setattr(importlib.metadata, "version", lambda name: version)
    if fine:
        check_extra()
    else:
        with pytest.raises(UserError, match=r"1\.30\.0 is too old, 2 or later is needed"):
            check_extra()


def test_help_and_the_toolbox_import_no_sdk():
    code = (
        "import sys\n"
        "sys.argv = ['zephyrus', 'tools', 'serve', '--help']\n"
        "from zephyrus.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit as stop:\n    assert stop.code == 0, stop.code\n"
        "print([name for name in ('mcp', 'numpy', 'uvicorn', 'pydantic') if name in sys.modules])\n"
        "import zephyrus.integrations.mcp.toolbox, zephyrus.integrations.mcp.progress\n"
        "print([name for name in ('mcp', 'uvicorn') if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "--allow-host" in done.stdout
    assert done.stdout.splitlines()[-2:] == ["[]", "[]"]
