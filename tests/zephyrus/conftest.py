import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # for the helpers beside the tests: openai_server
from sum_env import SumEnv


@pytest.fixture
def sum_env() -> SumEnv:
    return SumEnv()
