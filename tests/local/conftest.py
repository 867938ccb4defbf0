import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # for the helpers beside the tests: tiny_model


@pytest.fixture(scope="session")
def one_thread():
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def tokenizer():
    pytest.importorskip("transformers")
    import tiny_model

    return tiny_model.tokenizer(tiny_model.CHATML)


@pytest.fixture(scope="session")
def thinker():
    pytest.importorskip("transformers")
    import tiny_model

    return tiny_model.tokenizer(tiny_model.QWEN3)


@pytest.fixture(scope="session")
def model(one_thread, tokenizer):
    import tiny_model

    return tiny_model.model(tokenizer)
