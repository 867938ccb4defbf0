import copy
import pickle

import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector.utils import batch_space
from hypothesis import given
from hypothesis import strategies as st

from zephyrus.spaces import Unicode


@given(st.text(max_size=50))
def test_any_text_is_contained(text):
    assert text in Unicode()


@pytest.mark.parametrize(
    "text", ["", "12 °C", "−3 hPa", "São Tomé", "雪", "🌀", "a\x00b", "e\u0301"]
)
def test_the_texts_of_the_field(text):
    assert text in Unicode()


@pytest.mark.parametrize("thing", [None, 3, b"text", ["a"], np.array(["a"]), {"text": "a"}])
def test_nothing_else_is(thing):
    assert thing not in Unicode()


def test_the_longest_text():
    space = Unicode(max_length=3)
    assert "°°°" in space
    assert "°°°°" not in space


@pytest.mark.parametrize("longest", [1, 5, 1_000_000])
def test_samples_are_seeded_and_contained(longest):
    space = Unicode(longest, seed=4)
    samples = [space.sample() for _ in range(50)]
    assert all(sample in space for sample in samples)
    assert len(set(samples)) > 1
    again = Unicode(longest, seed=4)
    assert [again.sample() for _ in range(50)] == samples
    other = Unicode(longest, seed=5)
    assert [other.sample() for _ in range(50)] != samples


def test_equality_and_hash():
    assert Unicode(5) == Unicode(5, seed=3)
    assert Unicode(5) != Unicode(6)
    assert Unicode(5) != spaces.Text(5)
    assert hash(Unicode(5)) == hash(Unicode(5))
    assert repr(Unicode(5)) == "Unicode(5)"


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))])
def test_copies(duplicate):
    space = Unicode(7, seed=1)
    assert duplicate(space) == space
    assert duplicate(space).sample() == space.sample()


def test_inside_a_dict_space_and_in_a_batch():
    space = spaces.Dict({"text": Unicode(), "turn": spaces.Discrete(3)})
    assert {"text": "12 °C", "turn": np.int64(1)} in space
    assert {"text": 12, "turn": np.int64(1)} not in space
    assert not space.is_np_flattenable
    assert ("a", "°") in batch_space(Unicode(), 2)
