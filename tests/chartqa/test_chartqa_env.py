"""`ChartQAEnv`: prompts, views, rewards against tables, outages, files of others, gymnasium."""

import asyncio
import json

import gymnasium
import PIL.Image
import pytest
from chart_items import ITEMS, TEXT, demo_item, think
from gymnasium.utils.env_checker import check_env
from openai_server import Fault, OpenAIServer, say

from zephyrus.consistency.judge import ConsistencyJudge, make_consistency_judge
from zephyrus.errors import JudgeError, UserError
from zephyrus.messages import Message, Reply
from zephyrus.policy import make_policy
from zephyrus.policy.base import Policy
from zephyrus.registry import env_name, register_gymnasium
from zephyrus.rollouts import rescore, rollout
from zephyrus_chartqa.env import ChartQAEnv
from zephyrus_chartqa.item import Item


def make(**options):
    return ChartQAEnv(**{"bank": ITEMS, "view": "text", **options})


class Says(Policy):
    """Says the same to every question."""

    name = "says"

    def __init__(self, text, reasoning=""):
        self.message = Message("assistant", text, reasoning)

    def session(self, env, task, seed, repeat=0):
        message = self.message

        class Session:
            async def act(self, messages):
                return Reply(message)

        return Session()


def rewards_of(env, text, task="rain-test-1"):
    env.reset(options={"task": task})
    return env.step(text)[4]["rewards"]


B = "The values of 10 to 20 mm are moderate rain. Therefore the answer is B."
C = "This is heavy rain, so the answer is C."


@pytest.mark.parametrize(
    ("text", "rewards"),
    [  # the right choice is B; score, format, logic, accuracy, answered, reward
        (think(B, "B"), (1, 1, 1, 1, 1, 1.0)),
        (think(C, "C"), (0, 1, 1, 0, 1, 0.4)),  # wrong, and consistently so
        (think(B, "C"), (0, 1, 0, 0, 1, 0.1)),  # Type 1
        (think(C, "B"), (1, 1, 0, 1, 1, 0.7)),  # Type 2
        (think(C, "D"), (0, 1, 0, 0, 1, 0.1)),  # Type 3
        (think("Let me look.", "B"), (1, 1, 0, 1, 1, 0.7)),  # Type 3: no conclusion
        (think(B, "B. Moderate rain"), (1, 1, 1, 1, 1, 1.0)),
        (think(B, "B, I think"), (0, 1, 1, 0, 1, 0.4)),
        (think(B, "Cannot be determined"), (0, 1, 0, 0, 0, 0.1)),
        (think("It cannot be determined.", "Cannot be determined"), (0, 1, 0, 0, 0, 0.1)),
        ("<answer>B</answer>", (1, 0, 0, 1, 1, 0.6)),
        (f"{B}<answer>B</answer>", (1, 0, 0, 1, 1, 0.6)),
        ("B", (0, 0, 0, 0, 0, 0.0)),
        ("", (0, 0, 0, 0, 0, 0.0)),
        (think(B, "B") + think(C, "C"), (0, 0, 0, 0, 0, 0.0)),
        (think(B, "B or C"), (0, 1, 0, 0, 0, 0.1)),
    ],
)
def test_the_rewards(text, rewards):
    found = rewards_of(make(), text)
    names = ("score", "format", "logic", "accuracy", "answered", "reward")
    assert tuple(found[name] for name in names) == pytest.approx(rewards)


def test_graded_rewards():
    env = make(format="graded")
    found = rewards_of(env, think(B, "B, I think"))
    assert (found["score"], found["accuracy"], found["format"]) == (0, 0.5, 1)
    assert rewards_of(env, "<answer>B</answer>")["format"] == 0.25
    assert rewards_of(env, f"Well. {think(B, 'B')}")["format"] == 0.5


def test_weights_are_options_and_are_checked():
    env = make(weights={"format": 0.2, "logic": 0.0, "accuracy": 0.8})
    assert rewards_of(env, think(C, "B"))["reward"] == pytest.approx(1.0)
    with pytest.raises(UserError, match="must sum to one"):
        make(weights={"format": 0.2, "logic": 0.3, "accuracy": 0.8})
    with pytest.raises(UserError, match="weights is written"):
        make(weights="0.1,0.3,0.6")


def test_without_a_judge_it_is_plain_rft():
    env = make(judge="none")
    found = rewards_of(env, think(C, "B"))
    assert "logic" not in found
    assert found["reward"] == pytest.approx(1.0)
    assert env.describe()["weights"] == {"format": 0.1, "logic": 0.0, "accuracy": 0.9}
    with pytest.raises(UserError, match="without a judge"):
        make(judge="none", weights={"format": 0.1, "logic": 0.3, "accuracy": 0.6})


def test_options_that_are_wrong():
    for options, why in (
        ({"view": "pixels"}, "view is one of image, text, both"),
        ({"format": "loose"}, "format is one of strict, graded"),
        ({"judge": "gpt"}, "there is no judge 'gpt'"),
    ):
        with pytest.raises(UserError, match=why):
            make(**options)
    with pytest.raises(UserError, match="no questions of 'snow'; there are max_temp, rain"):
        make(task="snow").tasks()
    with pytest.raises(UserError, match=r"there is no bank at nowhere\.jsonl"):
        make(bank="nowhere.jsonl").tasks()


# Prompts and views ----------------------------------------------------------------------------


def test_the_prompt_has_question_choices_and_what_stands_in_for_the_picture():
    env = make()
    task = env.tasks()["rain-test-1"]
    assert task.prompt.startswith(
        "The chart's data in words and numbers, standing in for the picture:"
    )
    assert TEXT in task.prompt
    assert task.prompt.endswith(
        "Choices:\nA. Light rain\nB. Moderate rain\nC. Heavy rain\nD. Rainstorm"
    )
    assert (task.gold, task.template, task.answer_type) == ("B", "rain", "choice")
    for compact in (False, True):
        prompt = make(compact=compact).system_prompt()
        assert all(tag in prompt for tag in ("<think>", "</think>", "<answer>", "</answer>"))
    assert env.images(task) == ()


def test_one_kind_of_question():
    tasks = make(task="max_temp", split="train").tasks()
    assert {task.template for task in tasks} == {"max_temp"}
    assert len(tasks) == 4


def test_a_text_view_needs_a_text():
    blind = [Item("x", "a.png", "rain", "A", "test", "?", ("a", "b"))]
    with pytest.raises(UserError, match="'x' has no text for the view 'text'"):
        make(bank=blind).tasks()


@pytest.fixture
def drawn():
    return demo_item()


def test_the_chart_is_shown_and_is_always_the_same(drawn):
    env = ChartQAEnv(bank=[drawn])
    _, info = env.reset(seed=1)
    content = info["messages"][1]["content"]
    assert [part["type"] for part in content] == ["text", "image_url"]
    assert TEXT not in content[0]["text"]
    (image,) = env.images(env.tasks()["m"])
    again = ChartQAEnv(bank=[drawn])
    assert again.images(again.tasks()["m"])[0].png == image.png
    assert image.png.startswith(b"\x89PNG")
    assert "Europe" in image.alt  # for a policy without eyes, and nothing of the answer
    assert "2 °C" not in image.alt
    both = ChartQAEnv(bank=[drawn], view="both")
    _, info = both.reset(seed=1)
    assert TEXT in info["messages"][1]["content"][0]["text"]
    (kept,) = both.episode.trajectory.messages[1].images
    assert kept.png == image.png


def test_a_chart_of_a_forecast_that_is_not_there_is_the_users_mistake(drawn):
    from dataclasses import replace

    lost = replace(drawn, source=replace(drawn.source, forecast="1999-01-01T00"))
    with pytest.raises(UserError, match="1999"):
        ChartQAEnv(bank=[lost]).reset(seed=1)


def test_weatherqas_own_files(tmp_path):
    rows = [
        {
            "id": i,
            "image_path": f"image/rain/{i}.jpg",
            "category": "rain",
            "answer": "BA"[i],
            "split": "test",
            "en": {"question": "How much?", "choices": {"A": "a little", "B": "a lot"}},
        }
        for i in range(2)
    ]
    (tmp_path / "all_split.json").write_text(json.dumps(rows))
    (tmp_path / "image/rain").mkdir(parents=True)
    for row in rows:
        PIL.Image.new("RGB", (8, 6), (200, 0, 0)).save(tmp_path / row["image_path"])
    env = ChartQAEnv(bank=tmp_path)
    _, info = env.reset(options={"task": "0"})
    url = info["messages"][1]["content"][1]["image_url"]["url"]
    assert url.startswith("data:image/png;base64,")
    assert env.step(think("It is a lot. So B.", "B"))[1] == pytest.approx(1.0)
    with pytest.raises(UserError, match="only its image is known"):
        ChartQAEnv(bank=tmp_path, view="text").tasks()
    (tmp_path / "image/rain/1.jpg").write_text("no image")
    with pytest.raises(UserError, match="can't be read"):
        env.reset(options={"task": "1"})


# Runs -----------------------------------------------------------------------------------------


def test_unreadable_answers_are_wrong_ones_in_the_denominator(tmp_path):
    run = rollout(make(), Says(think("Hm.", "who knows")), output=tmp_path / "a", progress=False)
    assert run.summary["accuracy"] == 0.0
    assert run.summary["scored"] == 8
    run = rollout(make(), Says("<think>never ends"), output=tmp_path / "b", progress=False)
    assert (run.summary["accuracy"], run.summary["scored"]) == (0.0, 8)
    run = rollout(make(), Says(think(B, "B")), output=tmp_path / "c", progress=False)
    assert run.summary["accuracy"] == pytest.approx(0.25)
    assert run.summary["templates"]["rain"]["n"] == 4


def test_a_servers_reasoning_field_is_the_think_part(tmp_path):
    policy = Says("<answer>B</answer>", B)
    run = rollout(make(), policy, n=2, output=tmp_path / "a", progress=False)
    assert run.summary["rewards"]["format"] == 1.0
    policy = Says("So: <answer>B</answer>", B)
    run = rollout(make(), policy, n=2, output=tmp_path / "b", progress=False)
    assert run.summary["rewards"]["format"] == 0.0


class Out(ConsistencyJudge):
    name = "out"

    async def conclusion(self, question, reasoning):
        raise JudgeError("nobody is there")


def test_an_outage_is_missing_and_is_had_later(tmp_path):
    run = rollout(make(judge=Out()), Says(think(B, "B")), output=tmp_path / "a", progress=False)
    summary = run.summary
    assert (summary["rollouts"], summary["scored"], summary["accuracy"]) == (8, 0, None)
    assert summary["unscored"] == {"rollouts": 8, "reasons": {"nobody is there": 8}}
    assert all(trajectory.rewards is None for trajectory in run)
    summary = rescore(run, make(), missing=True, progress=False)
    assert summary["accuracy"] == pytest.approx(0.25)
    assert summary["unscored"]["rollouts"] == 0


def test_no_judge_is_asked_where_equation_2_is_0_anyway():
    env = make(judge=Out())
    for text in ("nothing", "<answer>B</answer>", think(B, "who knows")):
        assert rewards_of(env, text)["logic"] == 0
    with pytest.raises(JudgeError):
        rewards_of(env, think(B, "B"))


def test_a_real_endpoint_as_the_judge(tmp_path, monkeypatch):
    monkeypatch.setenv("ZEPHYRUS_JUDGE_CACHE", str(tmp_path / "judgements.sqlite"))

    def answer(body):
        asked = body["messages"][-1]["content"]
        wanted = asked.split("The id of this request is ")[1].split(".")[0]
        return say(json.dumps({"id": wanted, "option": "B"}))

    with OpenAIServer(answer).running() as server:
        server.faults = [Fault(503)]
        judge = make_consistency_judge(f"openai:tiny@{server.url}")
        judge.judge.asking.endpoint.first_wait = 0.01
        env = make(judge=judge)
        run = rollout(env, Says(think("Words.", "B")), output=tmp_path / "a", progress=False)
        assert run.summary["rewards"]["logic"] == 1.0
        assert run.config["env"]["judge"] == "openai:tiny"
        # One reasoning about two kinds of question, each with four rollouts: asked once a question.
        assert len({body["messages"][-1]["content"] for body in server.requests}) == 8
    asyncio.run(env.release())


@pytest.mark.parametrize("vision", [True, False])
def test_a_policy_with_eyes_is_sent_the_chart_and_one_without_its_title(drawn, tmp_path, vision):
    with OpenAIServer(lambda body: say(think("Warm, so B.", "B"))).running() as server:
        policy = make_policy(f"openai:tiny@{server.url}", vision=vision)
        env = ChartQAEnv(bank=[drawn])
        run = rollout(env, policy, output=tmp_path / "a", progress=False)
        (body,) = server.requests
        (image,) = env.images(env.tasks()["m"])
    assert "tools" not in body
    content = body["messages"][1]["content"]
    if vision:
        assert content[1] == {"type": "image_url", "image_url": {"url": image.data_url}}
    else:
        assert f"[image, not visible to this model: {image.alt}]" in content
    assert run.summary["rewards"]["reward"] == pytest.approx(1.0)
    (kept,) = run  # the run keeps what was shown
    assert kept.messages[1].images[0].png == image.png
    assert rescore(run, ChartQAEnv(bank=[drawn]), progress=False)["accuracy"] == 1.0


def test_the_random_floor_is_one_in_four(tmp_path):
    run = rollout(make(), "random", repeats=40, output=tmp_path / "a", progress=False)
    assert run.summary["rewards"]["format"] == 1.0
    assert run.summary["rewards"]["logic"] == 1.0
    assert 0.17 < run.summary["accuracy"] < 0.33


def test_the_script_earns_everything(tmp_path):
    run = rollout(make(), "scripted", output=tmp_path / "a", progress=False)
    assert run.summary["rewards"]["reward"] == pytest.approx(1.0)


# Gymnasium ------------------------------------------------------------------------------------


def test_gymnasium():
    register_gymnasium()
    env = gymnasium.make("zephyrus/ChartQA-v0", bank=ITEMS, view="text")
    check_env(env.unwrapped, skip_render_check=True)
    assert env_name("zephyrus/ChartQA-v0") == "chartqa"
    names = {"zephyrus/Bench-v0", "zephyrus/Report-v0", "zephyrus/ChartQA-v0"}
    assert names <= set(gymnasium.registry)
    first, _ = env.reset(seed=7)
    second, _ = env.reset(seed=7)
    assert first["text"] == second["text"]
