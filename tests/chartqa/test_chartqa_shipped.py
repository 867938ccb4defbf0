"""The bank that ships, through the environment: read from the text alone, every question is right."""

from collections import Counter

import pytest

from zephyrus.rollouts import rollout
from zephyrus_chartqa.env import ChartQAEnv
from zephyrus_chartqa.modality import MODALITIES


def test_every_question_can_be_answered_from_the_text_consistently(tmp_path):
    env = ChartQAEnv(view="text", split="validation")
    run = rollout(env, "scripted", output=tmp_path / "run", progress=False)
    assert min(run.summary["rewards"].values()) == pytest.approx(1.0)
    assert set(run.summary["templates"]) == set(MODALITIES)


def test_the_splits_and_the_letters():
    for split, n in (("train", 1400), ("validation", 175), ("test", 350)):
        tasks = ChartQAEnv(split=split).tasks()
        assert len(tasks) == n
        letters = Counter(task.gold for task in tasks)
        assert max(letters.values()) - min(letters.values()) <= len(MODALITIES) * 2


@pytest.mark.parametrize("kind", MODALITIES)
def test_every_kind_of_chart_is_drawn(kind):
    env = ChartQAEnv(task=kind)
    _, info = env.reset(seed=1)
    text, picture = info["messages"][1]["content"]
    assert "Choices:\nA. " in text["text"]
    assert picture["image_url"]["url"].startswith("data:image/png;base64,")
    task = env.tasks()[info["task"]]
    (image,) = env.images(task)
    question = env.choice_question(task)
    assert question.choices[question.answer] not in image.alt
