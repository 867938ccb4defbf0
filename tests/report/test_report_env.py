import asyncio
import inspect
import json

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import zephyrus
from zephyrus.errors import JudgeError, UserError
from zephyrus.limits import Limits
from zephyrus.messages import Message
from zephyrus.policy import make_policy
from zephyrus.rollouts import rescore, rollout
from zephyrus.task import Task, TaskSet
from zephyrus.trajectory import Key, Trajectory
from zephyrus_geodata.testing import analytic_dataset
from zephyrus_report.env import PARTS, ReportEnv
from zephyrus_report.report_text import count_words, length_penalty


def answered(task, text):
    return Trajectory(Key(task.id, 0, 0), answer=text)


# The environment as gymnasium sees it ---------------------------------------------------------


def test_check_env(env):
    check_env(env, skip_render_check=True)


def test_the_registered_environment_passes_gymnasiums_check():
    made = gymnasium.make("zephyrus/Report-v0")
    check_env(made.unwrapped, skip_render_check=True)
    made.close()


def test_resets_are_seeded(env):
    first = [env.reset(seed=7)[1]["task"], env.reset()[1]["task"]]
    again = [env.reset(seed=7)[1]["task"], env.reset()[1]["task"]]
    assert first == again
    assert len({env.reset(seed=seed)[1]["task"] for seed in range(8)}) > 1


def test_a_whole_episode(env, event):
    observation, info = env.reset(options={"task": event.id})
    assert observation["text"] == event.prompt
    assert {tool["function"]["name"] for tool in info["tools"]} == set(env.tool_names)
    observation, reward, terminated, truncated, _ = env.step("I shall look at the rain.")
    assert (reward, terminated, truncated, observation["error"]) == (0.0, False, False, "no_answer")
    assert "<report>" in observation["text"]
    _, reward, terminated, truncated, info = env.step(f"<report>{event.gold}</report>")
    assert (reward, terminated, truncated) == (1.0, True, False)
    assert set(info["rewards"]) == {*PARTS, "length_penalty", "reward"}


# What a report is worth -----------------------------------------------------------------------


def test_the_reference_as_a_report_has_full_marks(env, some):
    for task in some:
        scores = env.score(task, answered(task, task.gold))
        assert scores == {
            "rubric": 1.0,
            "f1": 1.0,
            "precision": 1.0,
            "recall": 1.0,
            "neutral_rate": 0.0,
            "length_penalty": 0.0,
            "reward": 1.0,
        }, task.id


@pytest.mark.parametrize("text", [None, "", "  \n ", "…"])
def test_no_report_scores_nothing(env, event, text):
    scores = env.score(event, answered(event, text))
    assert {scores[part] for part in ("rubric", "f1", "precision", "recall", "reward")} == {0.0}


def test_an_episode_that_ends_without_a_report_scores_0(demo, events, event, drive):
    env = ReportEnv(dataset=demo, bank=events, limits=Limits(turns=2))
    trajectory = drive(env, event, ["Let me think.", "Let me think again."])
    assert trajectory.stop == "turns"
    assert trajectory.unscored is None
    assert trajectory.rewards["reward"] == 0.0


def test_policies_come_in_the_order_of_what_they_know(env, some, solved, drive):
    rng = np.random.default_rng(0)
    means = {"scripted": np.mean([each.rewards["reward"] for each in solved.values()])}
    for name in (*env.baselines, "random"):
        rewards = []
        for task in some:
            answer = iter_of(env.sample_answer(task, rng))
            script = answer if name == "random" else env.baseline(task, name)
            rewards.append(drive(env, task, script).rewards["reward"])
        means[name] = np.mean(rewards)
    knowing = (means["climatology"], means["persistence"])
    assert means["scripted"] > 0.6
    assert means["scripted"] > 1.5 * max(knowing)
    assert min(knowing) > means["text-only"] > means["random"]
    assert means["random"] < 0.1


def iter_of(text):
    yield Message("assistant", text)


def test_the_reward_is_its_parts(demo, events, event):
    half = event.gold.split("\n\n")[1]
    long = f"{half} {'and so it goes on ' * 80}"
    for weight in (0.0, 0.3, 1.0):
        env = ReportEnv(dataset=demo, bank=events, rubric_weight=weight)
        scores = env.score(event, answered(event, long))
        penalty = length_penalty(count_words(long), 250)
        assert 0 < penalty < 1
        assert scores["length_penalty"] == penalty
        parts = weight * scores["rubric"] + (1 - weight) * scores["f1"]
        assert scores["reward"] == pytest.approx(parts - penalty)


def test_passes_are_averaged_and_a_deterministic_judge_is_asked_once(
    demo, events, event, sentence_judge
):
    judge = sentence_judge()
    env = ReportEnv(dataset=demo, bank=events, judge=judge, scoring_passes=3)
    scores = env.score(event, answered(event, event.gold))
    assert scores["rubric"] == pytest.approx((0 + 3 / 9 + 6 / 9) / 3)
    assert {scoring_pass for part, scoring_pass in judge.asked if part == "rubric"} == {0, 1, 2}
    judge = sentence_judge()
    judge.deterministic = True
    env = ReportEnv(dataset=demo, bank=events, judge=judge, scoring_passes=3)
    env.score(event, answered(event, event.gold))
    assert {scoring_pass for _, scoring_pass in judge.asked} == {0}


def test_how_neutral_claims_weigh_is_an_option(demo, events, event, sentence_judge):
    sentences = [s.strip() for s in event.gold.split(".") if s.strip()]
    text = f"{sentences[-1]}. Nobody said this. Nor this."
    precision = {}
    for neutral in ("exclude", "penalize", 0.5):
        env = ReportEnv(dataset=demo, bank=events, judge=sentence_judge(), neutral=neutral)
        scores = env.score(event, answered(event, text))
        assert scores["neutral_rate"] == pytest.approx(2 / 3)
        precision[neutral] = scores["precision"]
    assert precision == pytest.approx({"exclude": 1.0, "penalize": 1 / 3, 0.5: 1 / 2})


def test_proxies_are_added_and_are_no_part_of_the_reward(demo, events, env, event, drive):
    more = ReportEnv(dataset=demo, bank=events, proxies=True)
    plain = drive(env, event, env.baseline(event, "persistence")).rewards
    rewards = drive(more, event, more.baseline(event, "persistence")).rewards
    assert rewards.pop("grounding_proxy") > 0.3
    assert {"quantities_proxy", "style_proxy", "keywords_f1"} <= set(rewards)
    assert {key: rewards[key] for key in plain} == plain


# A judge that can't be had --------------------------------------------------------------------


@pytest.mark.parametrize("part", ["rubric", "claims", "verdicts"])
def test_a_missing_judgement_is_never_a_score(demo, events, event, drive, sentence_judge, part):
    env = ReportEnv(dataset=demo, bank=events, judge=sentence_judge(part))
    with pytest.raises(JudgeError, match=f"gives no {part}"):
        env.score(event, answered(event, event.gold))
    trajectory = drive(env, event, [f"<report>{event.gold}</report>"])
    assert trajectory.stop == "answered"
    assert trajectory.rewards is None
    assert f"gives no {part}" in trajectory.unscored


def test_no_report_needs_no_judge(demo, events, event, sentence_judge):
    env = ReportEnv(dataset=demo, bank=events, judge=sentence_judge("rubric", "claims"))
    assert env.score(event, answered(event, None))["reward"] == 0.0


def test_an_event_without_a_claim_to_compare_with_has_no_score(demo, sentence_judge, event):
    silent = Task(**{**{k: getattr(event, k) for k in Task.__slots__}, "gold": " . "})
    env = ReportEnv(dataset=demo, bank=TaskSet([silent]), judge=sentence_judge())
    with pytest.raises(JudgeError, match="makes no claims"):
        env.score(silent, answered(silent, "It rains."))


def test_what_an_outage_left_unscored_is_scored_later(
    demo, events, env, event, sentence_judge, tmp_path
):
    down = ReportEnv(dataset=demo, bank=events, judge=sentence_judge("rubric"))
    run = rollout(down, "baseline:text-only", n=2, output=tmp_path / "run", progress=False)
    assert [t.rewards for t in run] == [None, None]
    rescore(run, env, missing=True)
    assert all(t.rewards["reward"] is not None and t.unscored is None for t in run)


def test_the_judge_is_checked_before_and_let_go_after(demo, events, sentence_judge, tmp_path):
    class Dead(sentence_judge):
        async def check(self):
            raise UserError("nothing answers: start the judge")

    class Counted(sentence_judge):
        closed = 0

        async def close(self):
            self.closed += 1

    with pytest.raises(UserError, match="start the judge"):
        env = ReportEnv(dataset=demo, bank=events, judge=Dead())
        rollout(env, "baseline:text-only", n=1, output=tmp_path / "dead", progress=False)
    judge = Counted()
    env = ReportEnv(dataset=demo, bank=events, judge=judge)
    rollout(env, "baseline:text-only", n=1, output=tmp_path / "run", progress=False)
    assert judge.closed == 1


# Flooding -------------------------------------------------------------------------------------


def honest(event):
    """Two paragraphs of the reference: what a brief, right report says."""
    paragraphs = event.gold.split("\n\n")
    return "\n\n".join(paragraphs[1:3])


def every_sentence(env, event):
    rng = np.random.default_rng(1)
    return " ".join(env.read_answer(env.sample_answer(event, rng)) for _ in range(20))


BOILERPLATE = (
    "Rain is possible. Showers may occur in places. Winds could be strong at times. Temperatures "
    "will vary. It may be warm or cold. Snow is possible in places. Some hazards are possible. "
    "Low pressure may affect the region. High pressure may build. Fronts may pass. Clouds vary. "
)


@pytest.mark.parametrize("place", [0, 2, 4])
def test_flooding_does_not_pay(env, some, place):
    event = some[place]
    brief = env.score(event, answered(event, honest(event)))
    floods = {
        "every sentence of the lexicon": every_sentence(env, event),
        "the same sentences again and again": f"{honest(event)}\n" * 40,
        "200 claims after an honest report": f"{honest(event)}\n{every_sentence(env, event)}",
        "200 claims before an honest report": f"{every_sentence(env, event)}\n{honest(event)}",
        "boilerplate": BOILERPLATE,
        "boilerplate after an honest report": f"{honest(event)}\n{BOILERPLATE * 8}",
        "words joined to long ones": f"{honest(event)} " + "-".join(["rain-in-all-places"] * 300),
    }
    for name, text in floods.items():
        flooded = env.score(event, answered(event, text))
        assert flooded["reward"] < brief["reward"], (name, flooded, brief)


def test_a_duplicate_within_the_budget_gains_nothing(env, event):
    once = env.score(event, answered(event, honest(event)))
    line = honest(event).split("\n")[1]
    twice = env.score(event, answered(event, f"{honest(event)}\n{line}"))
    assert twice["precision"] == once["precision"]
    assert twice["recall"] == once["recall"]


def test_guesses_within_the_budget_do_not_beat_the_truth(env, some):
    rng = np.random.default_rng(2)
    for task in some:
        guess = env.read_answer(env.sample_answer(task, rng))
        right = env.score(task, answered(task, honest(task)))
        assert env.score(task, answered(task, guess))["reward"] < right["reward"]
        mixed = f"{honest(task)}\n{guess}"
        assert env.score(task, answered(task, mixed))["reward"] < right["reward"]


def test_the_cap_holds(demo, events, event):
    env = ReportEnv(dataset=demo, bank=events, max_claims=3)
    scores = env.score(event, answered(event, event.gold))
    assert scores["precision"] == 1.0
    assert scores["recall"] < 0.5  # only what counts as said is held against the reference


# What the agent is told and shown --------------------------------------------------------------


def tokens(env):
    # Qwen's tokenizer gives JSON and English at least 3.3 characters a token on average
    schemas = json.dumps(env.tool_schemas(), ensure_ascii=False, separators=(",", ":"))
    return (len(env.system_prompt()) + len(schemas)) / 3.3


def test_prompts_fit_small_models(env, demo, events):
    compact = ReportEnv(dataset=demo, bank=events, compact=True)
    assert tokens(env) < 1100
    assert tokens(compact) < 500
    assert "map" not in compact.tools
    for made in (env, compact):
        prompt = made.system_prompt()
        assert "<report>" in prompt
        assert "6 h" in prompt
        assert "word budget" in prompt
        assert made.read_answer(prompt) is None  # the form that is shown is no report


def test_without_tools_none_are_offered_or_mentioned(demo, events, event, drive):
    env = ReportEnv(dataset=demo, bank=events, use_tools=False)
    assert env.tool_schemas() == []
    assert "tool" not in env.system_prompt().lower()
    assert "<report>" in env.system_prompt()
    _, info = env.reset(options={"task": event.id})
    assert info["tools"] == []
    trajectory = drive(env, event, env.baseline(event, "text-only"))
    assert trajectory.rewards["reward"] > 0
    assert not trajectory.calls
    scripted = drive(env, event, env.script(event))
    assert scripted.answer == "No data could be had for this period."
    with pytest.raises(UserError, match="use_tools"):
        ReportEnv(dataset=demo, bank=events, use_tools=False, tools=["map"])


def test_maps_reach_a_model_that_sees(env, event, tmp_path):
    from openai_server import OpenAIServer, say

    where = {"variable": "mslp", "hour": 24, "feature": "Western Europe", "kind": "subregion"}

    def answer(body):
        if any(message["role"] == "tool" for message in body["messages"]):
            return say(f"Here it is.\n<report>\n{event.gold}\n</report>")
        return say("", ("map", json.dumps(where)))

    with OpenAIServer(answer).running() as server:
        policy = make_policy(f"openai:m@{server.url}", vision=True)
        run = rollout(env, policy, tasks=[event], output=tmp_path / "run", progress=False)
    (trajectory,) = run
    assert trajectory.rewards["reward"] == 1.0
    told = server.requests[0]["messages"]
    assert told[1]["content"] == event.prompt
    parts = server.requests[1]["messages"][-1]["content"]
    (picture,) = (part for part in parts if part["type"] == "image_url")
    assert picture["image_url"]["url"].startswith("data:image/png;base64,")


def test_without_maps_none_are_drawn(demo, events, event, solved, drive):
    assert sum(len(message.images) for message in solved[event.id].messages) >= 3
    plain = ReportEnv(dataset=demo, bank=events, maps=False)
    assert "map" not in plain.tools
    assert "map" not in plain.system_prompt()
    blind = drive(plain, event, plain.script(event))
    assert not any(message.images for message in blind.messages)
    assert blind.rewards["reward"] > 0.3


def test_the_limits_of_a_report(env):
    assert (env.limits.turns, env.limits.calls) == (16, 40)
    assert ReportEnv(limits=Limits(turns=3)).limits.turns == 3


def test_another_word_budget_is_told_and_held(demo, events, event):
    env = ReportEnv(dataset=demo, bank=events, word_budget=80)
    task = env.tasks()[event.id]
    assert "At most 80 words." in task.prompt
    assert "250" not in task.prompt
    assert task.gold == event.gold
    assert env.words(task) == 80
    words = count_words(event.gold)
    assert env.score(task, answered(task, event.gold))["length_penalty"] == length_penalty(
        words, 80
    )


def test_what_a_judge_is_given(env, event):
    brief = env.brief(event, answered(event, "It rains."))
    assert (brief.report, brief.reference) == ("It rains.", event.gold)
    assert len(brief.rubric.criteria) == 6
    assert "Western Europe" in brief.context
    assert "Initial time: Mon 1959-10-19 00 UTC." in brief.context
    assert "words" not in brief.context
    assert env.brief(event, answered(event, None)).report == ""


def test_a_description_makes_the_same_environment_again(demo, events):
    env = ReportEnv(neutral=0.25, max_claims=None, word_budget=99, rubric_weight=0.7, maps=False)
    described = env.describe()
    kept = {k: v for k, v in described.items() if k not in ("name", "tools")}
    assert set(kept) <= set(inspect.signature(ReportEnv).parameters)
    assert zephyrus.make("report", **kept).describe() == described
    json.dumps(described)


@pytest.mark.parametrize(
    ("options", "about"),
    [
        ({"rubric_weight": 1.5}, "rubric_weight"),
        ({"rubric_weight": True}, "rubric_weight"),
        ({"scoring_passes": 0}, "scoring_passes"),
        ({"word_budget": 0}, "word_budget"),
        ({"neutral": 2}, "neutral"),
        ({"neutral": "ignore"}, "neutral"),
        ({"max_claims": 0}, "max_claims"),
        ({"judge": "no-such-judge"}, "no-such-judge"),
        ({"tools": "map"}, "tools"),
    ],
)
def test_wrong_options_are_the_users_mistake(options, about):
    with pytest.raises(UserError, match=about):
        ReportEnv(**options)


def test_what_is_missing_is_told(env, event):
    with pytest.raises(UserError, match="build-bank --env report"):
        ReportEnv(dataset=analytic_dataset()).tasks()
    with pytest.raises(UserError, match=r"no baseline 'luck'.*text-only"):
        env.baseline(event, "luck")
    question = Task("q", "How warm is Kenya?", 1.0, template="feature_statistic")
    with pytest.raises(UserError, match="is no event"):
        env.script(question)


def test_scores_can_be_had_where_a_loop_runs(env, event):
    async def inside():
        return env.score(event, answered(event, event.gold))

    assert asyncio.run(inside())["reward"] == 1.0
