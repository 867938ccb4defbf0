import sys
from pathlib import Path

import pytest

from zephyrus import registry

# For the helpers beside the tests, and for openai_server.
sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "zephyrus"))


@pytest.fixture(autouse=True)
def no_user_files(tmp_path, monkeypatch):
    """Neither the user's tables nor his cache nor his keys."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("ZEPHYRUS_JUDGE_CACHE", str(tmp_path / "judgements.sqlite"))
    for variable in ("ZEPHYRUS_JUDGES", "OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture
def in_a_folder_of_its_own(monkeypatch, tmp_path):
    from evaluation_parts import NoteEnv  # its folder is on the path by now

    monkeypatch.setitem(
        registry._registered, "envs", {**registry._registered["envs"], "note": NoteEnv}
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
