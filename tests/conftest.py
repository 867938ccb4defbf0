"""What all tests share."""

import sys

import pytest
from hypothesis import settings

from zephyrus import registry
from zephyrus.cli.main import main

# A busy machine must not fail a property test by its time.
settings.register_profile("zephyrus", deadline=None)
settings.load_profile("zephyrus")


@pytest.fixture(autouse=True)
def own_registry(monkeypatch):
    """What a test registers is not known to the tests that come after it."""
    for kind, known in registry._registered.items():
        monkeypatch.setitem(registry._registered, kind, dict(known))


@pytest.fixture
def zephyrus(monkeypatch, capsys):
    """The command line in this process: its output, or with another exit code what it says of it."""

    def call(*arguments, code=0):
        monkeypatch.setattr(sys, "argv", ["zephyrus", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        said = capsys.readouterr()
        assert (stop.value.code or 0) == code, said.err
        return said.err if code else said.out

    return call
