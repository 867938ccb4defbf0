import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # for the helpers beside the tests
sys.path.insert(0, str(Path(__file__).parents[1] / "zephyrus"))  # openai_server
sys.path.insert(0, str(Path(__file__).parents[1] / "local"))  # tiny_eyes


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory):
    """The folder of a random model; see `tiny_training`."""
    for needed in ("torch", "transformers", "trl", "peft"):
        pytest.importorskip(needed, reason="needs the extra train")
    import torch
    from tiny_training import make_model, register_toy

    torch.set_num_threads(1)
    register_toy()
    return make_model(tmp_path_factory.mktemp("tiny") / "model")
