"""A judge that can't be had leaves a rollout finished and unscored, to be scored later."""

import asyncio
import io

import pytest

from zephyrus.errors import JudgeError, UserError
from zephyrus.messages import Message
from zephyrus.policy import make_policy
from zephyrus.rollouts import rescore, rollout
from zephyrus.run import Run
from zephyrus.trajectory import Trajectory
from zephyrus.view.summary import render


def judged(base, down=()):
    """The environment, asking a judge that is down for the tasks in ``down``."""

    class Judged(base):
        asked = 0
        released = 0

        async def ascore(self, task, trajectory):
            await asyncio.sleep(0)
            type(self).asked += 1
            if task.id in down:
                raise JudgeError("the judge is down")
            return self.score(task, trajectory)

        async def release(self):
            type(self).released += 1

    return Judged


def test_an_unscored_rollout_is_kept_counted_and_scored_later(sum_env, tmp_path):
    env = judged(type(sum_env), down=("t1", "t4"))(n=6)
    run = rollout(env, "scripted", output=tmp_path / "run")
    assert len(run) == 6
    assert run.errors() == []
    kept = {t.key.task: t for t in run}
    assert kept["t1"].rewards is None
    assert kept["t1"].unscored == "the judge is down"
    assert kept["t0"].unscored is None
    summary = run.summary
    assert summary["unscored"] == {"rollouts": 2, "reasons": {"the judge is down": 2}}
    assert (summary["scored"], summary["accuracy"]) == (4, 1.0), "missing is not 0"
    assert env.released == 1

    again = rollout(env, "scripted", output=tmp_path / "run")
    assert len(again) == 6, "the rollout itself is not done again"

    better = judged(type(sum_env), down=("t4",))
    rescore(Run.open(run.path), better(n=6), missing=True)
    assert better.asked == 2, "only the missing ones"
    summary = Run.open(run.path).summary
    assert summary["unscored"]["rollouts"] == 1
    assert summary["scored"] == 5
    rescore(Run.open(run.path), type(sum_env)(n=6))
    summary = Run.open(run.path).summary
    assert (summary["scored"], summary["unscored"]["rollouts"]) == (6, 0)
    assert all(t.unscored is None for t in Run.open(run.path))


def test_a_rescoring_without_its_judge_does_not_lose_the_trajectory(sum_env, tmp_path):
    run = rollout(type(sum_env)(n=3), "scripted", output=tmp_path / "run")
    rescore(run, judged(type(sum_env), down=("t2",))(n=3))
    by_task = {t.key.task: t for t in Run.open(run.path)}
    assert by_task["t2"].rewards is None
    assert by_task["t2"].answer == "12"
    assert Run.open(run.path).summary["unscored"]["rollouts"] == 1


def test_the_summary_says_what_is_missing(sum_env, tmp_path):
    from rich.console import Console

    run = rollout(judged(type(sum_env), down=("t0",))(n=2), "scripted", output=tmp_path / "run")
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(render(run.summary))
    text = console.export_text()
    assert "unscored: no judgement to be had" in text
    assert "the judge is down" in text


def test_a_long_reason_is_not_cut(sum_env, tmp_path):
    from rich.console import Console

    reason = "the judge could not be had: " + "because of this and that, " * 8 + "so start it"

    class Far(type(sum_env)):
        async def ascore(self, task, trajectory):
            raise JudgeError(reason)

    run = rollout(Far(n=1), "scripted", output=tmp_path / "run")
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(render(run.summary))
    assert "so start it" in " ".join(console.export_text().split())


def test_a_trajectory_written_before_there_was_the_field_can_be_read(sum_env, tmp_path):
    run = rollout(type(sum_env)(n=1), "scripted", output=tmp_path / "run")
    line = next(iter(run)).to_json()
    old = line.replace(', "unscored": null', "")
    assert old != line
    assert Trajectory.from_json(old) == Trajectory.from_json(line)


def test_step_raises_rather_than_give_a_reward_of_0(sum_env):
    env = judged(type(sum_env), down=("t3",))()
    env.reset(options={"task": "t3"})
    with pytest.raises(JudgeError, match="down"):
        env.step("<answer>24</answer>")
    env.close()


def test_the_judge_is_checked_before_any_work(sum_env, tmp_path):
    class Closed(type(sum_env)):
        async def check(self):
            raise UserError("nothing answers there: start the judge")

    with pytest.raises(UserError, match="start the judge"):
        rollout(Closed(), "scripted", output=tmp_path / "run")
    assert not (tmp_path / "run").exists()


class WithBaseline:
    baselines = ("zero",)

    def baseline(self, task, name):
        if name not in self.baselines:
            return super().baseline(task, name)

        def script():
            yield Message("assistant", "<answer>0</answer>")

        return script()


def test_a_baseline_is_a_policy(sum_env, tmp_path):
    class Env(WithBaseline, type(sum_env)):
        pass

    run = rollout(Env(n=3), "baseline:zero", output=tmp_path / "run")
    assert [t.answer for t in run] == ["0", "0", "0"]
    assert run.config["policy"] == {"name": "baseline:zero"}
    assert run.summary["accuracy"] == pytest.approx(1 / 3), "0 × 1 is 0"
    with pytest.raises(UserError, match="no baseline 'one'; it has zero"):
        rollout(Env(n=3), "baseline:one", output=tmp_path / "other")
    with pytest.raises(UserError, match=r"has no baseline 'zero'$"):
        rollout(sum_env, "baseline:zero", output=tmp_path / "other")
    with pytest.raises(UserError, match="takes no option"):
        make_policy("baseline:zero", temperature=1.0)
    with pytest.raises(UserError, match="baseline:NAME"):
        make_policy("baseline:")


def test_an_environment_without_texts_says_so(sum_env):
    with pytest.raises(UserError, match="no texts for a judge"):
        sum_env.brief(sum_env.tasks()[0], Trajectory(("t0", 0, 0)))


def test_limits_are_the_environments_own_by_default(sum_env):
    from zephyrus.limits import Limits

    class Patient(type(sum_env)):
        default_limits = Limits(turns=33)

    assert Patient().limits.turns == 33
    assert Patient(limits=Limits(turns=2)).limits.turns == 2


def test_without_a_verifier_there_is_no_table_of_accuracies(sum_env, tmp_path):
    from rich.console import Console

    class Judged(type(sum_env)):
        def score(self, task, trajectory):
            return {"rubric": 0.25, "reward": 0.5}

    run = rollout(Judged(n=2), "scripted", output=tmp_path / "run")
    assert run.summary["accuracy"] is None
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(render(run.summary, "mine"))
    text = console.export_text()
    assert "accuracy" not in text
    assert "mine" in text
    assert "mean reward: rubric" in text
    console.print(render(rollout(type(sum_env)(n=2), "scripted", output=tmp_path / "x").summary))
    assert "accuracy" in console.export_text()
