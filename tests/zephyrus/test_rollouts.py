import asyncio
import json
import time

import pytest

from zephyrus.crew import FAILURES_IN_A_ROW
from zephyrus.errors import PolicyError, UserError, WorkError
from zephyrus.limits import Limits, StopReason
from zephyrus.messages import Message, Reply, ToolCall, Usage
from zephyrus.policy.base import ContextLengthError, Policy
from zephyrus.rollouts import arollout, default_output, rescore, rollout
from zephyrus.run import Run
from zephyrus.task import Task
from zephyrus.tools import Tool
from zephyrus.trajectory import Key


class Driver(Policy):
    """Drives the environment's script; subclasses spoil it in `before`."""

    name = "driver"

    def __init__(self, delay=0.0):
        self.delay = delay
        self.open = self.most = self.closed = 0
        self.started = []

    def session(self, env, task, seed, repeat=0):
        self.started.append(Key(task.id, seed, repeat))
        return DriverSession(self, env.script(task), Key(task.id, seed, repeat))

    async def before(self, key, turn):
        await asyncio.sleep(self.delay)

    async def close(self):
        self.closed += 1


class DriverSession:
    def __init__(self, policy, script, key):
        self.policy, self.script, self.key, self.turn = policy, script, key, 0

    async def act(self, messages):
        self.policy.open += 1
        self.policy.most = max(self.policy.most, self.policy.open)
        try:
            await self.policy.before(self.key, self.turn)
        finally:
            self.policy.open -= 1
        self.turn += 1
        message = next(self.script) if self.turn == 1 else self.script.send([messages[-1]])
        return Reply(message, Usage(10, 2))


def lines(run, name="trajectories.jsonl"):
    file = run.path / name
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


async def test_every_task_is_done_once_and_scored(sum_env, tmp_path):
    policy = Driver()
    run = await arollout(sum_env, policy, repeats=3, seed=5, output=tmp_path / "r")
    wanted = {Key(f"t{i}", 5, repeat) for i in range(12) for repeat in range(3)}
    assert len(run) == 36 and run.done_keys() == wanted == set(policy.started)
    assert run.summary["accuracy"] == 1.0 and run.summary["tokens"] == {
        "prompt": 36 * 20,
        "completion": 36 * 4,
    }
    assert not (run.path / "errors.jsonl").exists()
    kept = json.loads((run.path / "summary.json").read_text())
    assert kept == {"format": "0.1.0", **run.summary}
    assert run.config["env"]["name"] == "sum" and run.config["policy"] == {"name": "driver"}
    first = next(iter(run))
    assert [m.role for m in first.messages] == ["system", "user", "assistant", "tool", "assistant"]
    assert first.policy_seconds > 0 and first.seconds >= first.policy_seconds


async def test_tasks_come_in_an_order_that_the_seed_fixes(sum_env, tmp_path):
    orders = {}
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        policy = Driver()
        await arollout(sum_env, policy, seed=seed, concurrency=1, output=tmp_path / name)
        orders[name] = [key.task for key in policy.started]
    assert orders["a"] == orders["b"] != orders["c"]
    assert orders["a"] == [task.id for task in sum_env.tasks().shuffle(1).take(12)]


async def test_every_task_is_done_once_before_any_is_repeated(sum_env, tmp_path):
    policy = Driver()
    await arollout(sum_env, policy, n=4, repeats=2, concurrency=1, output=tmp_path / "r")
    assert [key.repeat for key in policy.started] == [0] * 4 + [1] * 4


async def test_concurrency_is_reached_and_never_exceeded(sum_env, tmp_path):
    policy = Driver(delay=0.01)
    await arollout(sum_env, policy, repeats=4, concurrency=7, output=tmp_path / "r")
    assert policy.most == 7


async def test_a_policy_that_never_waits_lets_the_loop_breathe(sum_env, tmp_path):
    beats = []

    async def heart():
        while True:
            beats.append(len(policy.started))
            await asyncio.sleep(0)

    class Busy(Driver):
        async def before(self, key, turn):
            pass

    policy = Busy()
    heart_task = asyncio.create_task(heart())
    await arollout(sum_env, policy, concurrency=1, output=tmp_path / "r")
    heart_task.cancel()
    assert set(range(1, 13)) <= set(beats)


async def test_more_tasks_than_the_bank_has(sum_env, tmp_path):
    with pytest.raises(UserError, match=r"12 tasks, not 13.*--repeats \(repeats=…\)"):
        await arollout(sum_env, Driver(), n=13, output=tmp_path / "r")
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize("bad", [{"n": 0}, {"repeats": 0}, {"concurrency": 0}, {"tasks": []}])
async def test_senseless_numbers(sum_env, tmp_path, bad):
    with pytest.raises(UserError):
        await arollout(sum_env, Driver(), output=tmp_path / "r", **bad)


async def test_own_tasks_in_their_order(sum_env, tmp_path):
    tasks = [sum_env.tasks()["t3"], sum_env.tasks()["t1"]]
    policy = Driver()
    run = await arollout(sum_env, policy, tasks=tasks, concurrency=1, output=tmp_path / "r")
    assert [key.task for key in policy.started] == ["t3", "t1"]
    assert run.config["bank"]["tasks"] == 2


async def test_a_policy_that_cannot_work_says_so_before_any_work(sum_env, tmp_path):
    class Dead(Driver):
        async def check(self):
            raise UserError("nothing answers: start a server")

    with pytest.raises(UserError, match="nothing answers"):
        await arollout(sum_env, Dead(), output=tmp_path / "r")
    assert not (tmp_path / "r").exists()


async def test_time_runs_out_while_the_policy_thinks(sum_env, tmp_path):
    class Slow(Driver):
        async def before(self, key, turn):
            await asyncio.sleep(60 if key.task == "t2" and turn == 1 else 0)

    env = type(sum_env)(n=4, limits=Limits(seconds=0.3))
    began = time.monotonic()
    run = await arollout(env, Slow(), output=tmp_path / "r")
    assert time.monotonic() - began < 10
    slow = next(t for t in run if t.key.task == "t2")
    assert slow.stop == StopReason.TIME and slow.turns == 1
    assert slow.rewards == {"score": 0.0, "required_tool": 1.0, "reward": 0.0}
    assert 0.2 < slow.policy_seconds <= slow.seconds < 5
    assert run.summary["stop_reasons"] == {"answered": 3, "time": 1}
    assert run.summary["accuracy"] == 0.75


async def test_the_policys_own_timeout_is_an_error_not_a_budget(sum_env, tmp_path):
    class Hasty(Driver):
        async def before(self, key, turn):
            if key.task == "t0":
                raise TimeoutError("the server is slow")

    env = type(sum_env)(limits=Limits(seconds=60))
    run = await arollout(env, Hasty(), output=tmp_path / "r")
    assert len(run) == 11 and "the server is slow" in (run.errors()[0].error or "")


async def test_a_full_context_truncates(sum_env, tmp_path):
    class Forgetful(Driver):
        async def before(self, key, turn):
            if turn == 1:
                raise ContextLengthError("4096 tokens")

    run = await arollout(sum_env, Forgetful(), output=tmp_path / "r")
    assert run.summary["stop_reasons"] == {"tokens": 12} and run.summary["accuracy"] == 0


class Flaky(Driver):
    """Fails on some tasks, as often as is said."""

    def __init__(self, failing, error=PolicyError("503 from the server")):  # noqa: B008
        super().__init__()
        self.failing, self.error = failing, error

    async def before(self, key, turn):
        if key.task in self.failing:
            raise self.error


async def test_errors_are_kept_apart_and_tried_again(sum_env, tmp_path):
    run = await arollout(sum_env, Flaky({"t1", "t2"}), output=tmp_path / "r")
    assert len(run) == 10 and {t.key.task for t in run.errors()} == {"t1", "t2"}
    assert all(t.rewards is None for t in run.errors())
    assert run.summary["accuracy"] == 1.0 and run.summary["rollouts"] == 10
    assert run.summary["infrastructure"] == {"errors": 2, "reasons": {"503 from the server": 2}}

    again = Flaky({"t2"})
    run = await arollout(sum_env, again, output=tmp_path / "r")
    assert {key.task for key in again.started} == {"t1", "t2"}
    assert len(run) == 11 and [t.key.task for t in run.errors()] == ["t2"]
    assert run.summary["infrastructure"]["errors"] == 1

    run = await arollout(sum_env, Driver(), output=tmp_path / "r")
    assert len(run) == 12 and run.errors() == []
    assert run.summary["infrastructure"]["errors"] == 0
    assert len(lines(run, "errors.jsonl")) == 3, "the history of errors stays"


async def test_a_bug_in_the_policy_is_an_error_with_its_traceback(sum_env, tmp_path):
    run = await arollout(sum_env, Flaky({"t1"}, KeyError("oops")), output=tmp_path / "r")
    error = run.errors()[0].error or ""
    assert "Traceback" in error and "test_rollouts.py" in error
    assert run.summary["infrastructure"]["reasons"] == {"KeyError: 'oops'": 1}


async def test_a_broken_tool_is_an_error(sum_env, tmp_path):
    class Exploding(Driver):
        def session(self, env, task, seed, repeat=0):
            session = super().session(env, task, seed, repeat)
            if task.id == "t0":
                session.script = iter(
                    [Message("assistant", tool_calls=(ToolCall("explode", "{}"),))]
                )
            return session

    run = await arollout(sum_env, Exploding(), output=tmp_path / "r")
    assert len(run) == 11 and "the file is gone" in (run.errors()[0].error or "")


async def test_a_world_that_cannot_be_made_is_an_error(sum_env, tmp_path):
    class Gone(type(sum_env)):
        def world(self, task):
            if task.id == "t4":
                raise FileNotFoundError("no forecast")
            return super().world(task)

    run = await arollout(Gone(), Driver(), output=tmp_path / "r")
    (broken,) = run.errors()
    assert broken.key == Key("t4", 0, 0) and "no forecast" in (broken.error or "")
    assert broken.task["template"] == "product"


async def test_a_dead_endpoint_does_not_burn_through_the_tasks(sum_env, tmp_path):
    class Dies(Driver):
        alive = 40

        async def before(self, key, turn):
            self.alive -= 1
            if self.alive < 0:
                raise PolicyError("connection refused")

    env = type(sum_env)(n=200)
    policy = Dies()
    with pytest.raises(
        WorkError, match=r"the last 1\d rollouts failed: connection refused.*same again"
    ):
        await arollout(env, policy, concurrency=4, output=tmp_path / "r")
    assert len(policy.started) <= 20 + FAILURES_IN_A_ROW + 4
    run = Run.open(tmp_path / "r")
    assert 16 <= len(run) <= 20 and len(run.errors()) >= FAILURES_IN_A_ROW
    assert (run.path / "summary.json").exists()
    finished = run.done_keys()

    after = Driver()
    run = await arollout(env, after, output=tmp_path / "r")
    assert len(run) == 200 and finished.isdisjoint(after.started)


async def test_failures_that_are_not_in_a_row_do_not_stop_the_run(sum_env, tmp_path):
    env = type(sum_env)(n=60)
    failing = {task.id for i, task in enumerate(env.tasks().shuffle(0)) if i % 3}
    run = await arollout(env, Flaky(failing), concurrency=1, output=tmp_path / "r")
    assert len(run) == 20 and len(run.errors()) == 40


async def test_when_nothing_works_it_is_said(sum_env, tmp_path):
    with pytest.raises(WorkError, match=r"all 3 rollouts failed: 503 from the server"):
        await arollout(sum_env, Flaky({f"t{i}" for i in range(12)}), n=3, output=tmp_path / "r")
    assert Run.open(tmp_path / "r").summary["accuracy"] is None


@pytest.mark.parametrize(
    ("n", "says"),
    [(1, "the only rollout failed: 503"), (20, "all 10 rollouts that were tried failed: 503")],
)
async def test_how_many_failed_is_said_as_it_was(sum_env, tmp_path, n, says):
    env = type(sum_env)(n=n)
    with pytest.raises(WorkError, match=says):
        await arollout(
            env, Flaky({f"t{i}" for i in range(n)}), concurrency=1, output=tmp_path / "r"
        )


class Unlucky(Driver):
    """Some tasks fail at once, while the others take their time."""

    def __init__(self, failing):
        super().__init__()
        self.failing = failing
        self.slow = self.most_slow = 0

    async def before(self, key, turn):
        if key.task in self.failing:
            raise PolicyError("refused")
        self.slow += 1
        self.most_slow = max(self.most_slow, self.slow)
        await asyncio.sleep(0.02)
        self.slow -= 1


async def test_fast_failures_do_not_abort_a_healthy_run(sum_env, tmp_path):
    env = type(sum_env)(n=60)
    failing = {f"t{i}" for i in range(0, 60, 3)}
    run = await arollout(env, Unlucky(failing), concurrency=32, output=tmp_path / "r")
    assert len(run) == 40 and {t.key.task for t in run.errors()} == failing


async def test_what_is_open_may_finish_before_a_run_gives_up(sum_env, tmp_path):
    """The first tasks fail at once; the one that is slow proves that the rest may go on."""
    env = type(sum_env)(n=30)
    tasks = list(env.tasks())
    policy = Unlucky({f"t{i}" for i in range(1, 11)})
    run = await arollout(env, policy, tasks=tasks, concurrency=2, output=tmp_path / "r")
    assert len(run) == 20 and len(policy.started) == 30
    assert policy.most_slow == 2, "all workers go on"
    assert [key.task for key in policy.started][:12] == [f"t{i}" for i in range(12)]


async def test_a_resume_tries_what_broke_least_often_first(sum_env, tmp_path):
    env = type(sum_env)(n=30)
    tasks, failing = list(env.tasks()), {f"t{i}" for i in range(12)}
    for _ in range(2):
        with pytest.raises(WorkError):
            await arollout(env, Flaky(failing), tasks=tasks, concurrency=1, output=tmp_path / "r")
    run = Run.open(tmp_path / "r")
    assert len(run) == 18, "the first resume got past what breaks every time"
    assert run.failures() == {Key(f"t{i}", 0, 0): 2 if i < 10 else 1 for i in range(12)}


class Cancelling(Driver):
    """A policy whose own inner work is cancelled, for some tasks."""

    async def before(self, key, turn):
        if int(key.task[1:]) % 4 == 0:
            raise asyncio.CancelledError


async def test_a_cancelled_error_of_the_policys_own_is_an_infrastructure_error(sum_env, tmp_path):
    env = type(sum_env)(n=20)
    run = await arollout(env, Cancelling(), concurrency=2, output=tmp_path / "r")
    assert len(run) == 15 and len(run.errors()) == 5
    assert "CancelledError" in (run.errors()[0].error or "")


async def test_a_cancelled_error_of_a_tools_own_is_an_infrastructure_error(sum_env, tmp_path):
    async def cancelled() -> str:
        """Await something that was cancelled."""
        raise asyncio.CancelledError

    class Calls(Driver):
        def session(self, env, task, seed, repeat=0):
            session = super().session(env, task, seed, repeat)
            if int(task.id[1:]) % 4 == 0:
                call = ToolCall("cancelled", "{}")
                session.script = iter([Message("assistant", tool_calls=(call,))])
            return session

    env = type(sum_env)(n=20, tools=(*sum_env.tools.values(), Tool(cancelled)))
    run = await arollout(env, Calls(), concurrency=2, output=tmp_path / "r")
    assert len(run) == 15 and len(run.errors()) == 5
    assert run.errors()[0].calls[0].error == "infrastructure"


async def test_rollouts_that_got_lost_are_never_a_success(sum_env, tmp_path):
    class SelfCancelling(Driver):
        async def before(self, key, turn):
            asyncio.current_task().cancel()
            await asyncio.sleep(0)

    with pytest.raises((RuntimeError, WorkError)):
        await asyncio.wait_for(
            arollout(sum_env, SelfCancelling(), concurrency=2, output=tmp_path / "r"), 10
        )

    class Once(SelfCancelling):
        async def before(self, key, turn):
            if key.task == "t3":
                await super().before(key, turn)

    with pytest.raises(RuntimeError, match="1 of 12 rollouts got lost"):
        await asyncio.wait_for(arollout(sum_env, Once(), concurrency=2, output=tmp_path / "s"), 10)
    assert len(Run.open(tmp_path / "s")) == 11


async def test_a_lone_surrogate_from_anywhere_kills_no_run(sum_env, tmp_path):
    def odd() -> str:
        """Say something that UTF-8 can't."""
        return "bad \ud800 text"

    class Odd(Driver):
        def session(self, env, task, seed, repeat=0):
            session = super().session(env, task, seed, repeat)
            if task.id == "t0":
                said = (
                    Message("assistant", "\udfff", "\ud800", (ToolCall("odd", "{}", "a\ud800"),)),
                    Message("assistant", "<answer>\ud900</answer>"),
                )
                session.script = (message for message in said)
            return session

    env = type(sum_env)(tools=(*sum_env.tools.values(), Tool(odd)))
    run = await arollout(env, Odd(), output=tmp_path / "r")
    assert len(run) == 12 and run.errors() == []
    kept = next(t for t in run if t.key.task == "t0")
    assert kept.answer == "\ufffd" and kept.messages[3].content == "bad \ufffd text"
    assert kept.messages[2].reasoning == "\ufffd"


async def test_a_world_that_the_user_got_wrong_leaves_no_folder(sum_env, tmp_path):
    class Elsewhere(type(sum_env)):
        asked = 0

        def world(self, task):
            Elsewhere.asked += 1
            if task.world == {"dataset": "moon"}:
                raise UserError("there is no dataset 'moon'")
            return super().world(task)

    tasks = [Task(f"t{i}", "?", 0, world={"dataset": "demo"}) for i in range(9)]
    wrong = Task("t9", "?", 0, world={"dataset": "moon"})
    with pytest.raises(UserError, match=r"^there is no dataset 'moon'$"):
        await arollout(Elsewhere(), Driver(), tasks=[*tasks, wrong], output=tmp_path / "r")
    assert not (tmp_path / "r").exists() and Elsewhere.asked == 2


async def test_a_policy_that_cannot_act_on_a_task_leaves_no_folder(sum_env, tmp_path):
    await arollout(sum_env, Driver(), n=3, output=tmp_path / "r")
    with pytest.raises(UserError, match="has no rollout of the task"):
        await arollout(sum_env, f"replay:{tmp_path / 'r'}", output=tmp_path / "s")

    class Unscripted(type(sum_env)):
        def script(self, task):
            raise UserError("the environment 'sum' has no scripted policy")

    with pytest.raises(UserError, match="no scripted policy"):
        await arollout(Unscripted(), "scripted", output=tmp_path / "s")
    assert not (tmp_path / "s").exists()
    again = await arollout(sum_env, f"replay:{tmp_path / 'r'}", n=3, output=tmp_path / "s")
    assert again.summary["accuracy"] == 1.0


async def test_the_users_mistake_stops_everything_at_once(sum_env, tmp_path):
    policy = Flaky({"t5"}, UserError("no such model"))
    env = type(sum_env)(n=500)
    with pytest.raises(UserError, match=r"^no such model\. Stopped with \d+ rollouts? finished"):
        await arollout(env, policy, concurrency=2, output=tmp_path / "r", seed=1)
    assert len(policy.started) < 500


async def test_cancelling_keeps_what_had_finished(sum_env, tmp_path):
    class Telling(Driver):
        def session(self, env, task, seed, repeat=0):
            session = super().session(env, task, seed, repeat)
            if len(self.started) == 30:
                enough.set()
            return session

    env = type(sum_env)(n=100)
    policy, enough = Telling(delay=0.01), asyncio.Event()
    work = asyncio.create_task(arollout(env, policy, concurrency=5, output=tmp_path / "r"))
    await enough.wait()
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    run = Run.open(tmp_path / "r")
    assert 20 <= len(run) <= 30 and policy.open == 0
    assert run.summary["rollouts"] == len(run)
    await arollout(env, Driver(), output=tmp_path / "r")  # the lock is free again
    assert len(run) == 100


def test_sync(sum_env, tmp_path):
    policy = Driver()
    run = rollout(sum_env, policy, n=3, output=tmp_path / "r")
    assert len(run) == 3 and policy.closed == 1


async def test_sync_where_a_loop_runs_already(sum_env, tmp_path):
    run = rollout(sum_env, Driver(), n=3, output=str(tmp_path / "r"))
    assert len(run) == 3 and run.summary["accuracy"] == 1


async def test_an_exception_comes_out_of_the_notebooks_thread(sum_env, tmp_path):
    with pytest.raises(UserError, match="repeats"):
        rollout(sum_env, Driver(), n=99, output=tmp_path / "r")


async def test_arollout_leaves_the_callers_policy_open(sum_env, tmp_path):
    policy = Driver()
    await arollout(sum_env, policy, n=1, output=tmp_path / "r")
    assert policy.closed == 0


def test_names_resolve(sum_env, tmp_path, monkeypatch):
    from zephyrus.registry import register

    register("envs", "sum-by-name", type(sum_env))
    monkeypatch.chdir(tmp_path)
    run = rollout("sum-by-name", "scripted", n=2)
    assert run.path.parent.name == "runs" and run.name.startswith("sum-scripted-")
    assert run.summary["accuracy"] == 1


def test_default_output_is_new_and_a_tame_name(sum_env, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    policy = Driver()
    policy.name = "openai:a/b@http://x:1/v1"
    first = default_output(sum_env, policy)
    first.mkdir(parents=True)
    second = default_output(sum_env, policy)
    assert first != second and first.parent == second.parent and ":" not in first.name


async def test_progress_hears_of_everything(sum_env, tmp_path):
    class Ear:
        def __init__(self):
            self.heard = []

        def start(self, total, done, folder):
            self.heard.append((total, done, folder))

        def update(self, trajectory):
            assert trajectory.failed or trajectory.key in Run.open(tmp_path / "r").done_keys()
            self.heard.append(trajectory.key.task)

        def stop(self):
            self.heard.append("stop")

    await arollout(sum_env, Driver(), n=4, output=tmp_path / "r")
    ear = Ear()
    await arollout(sum_env, Flaky({"t0"}), output=tmp_path / "r", progress=ear)
    assert ear.heard[0] == (12, 4, tmp_path / "r") and ear.heard[-1] == "stop"
    assert len(ear.heard) == 2 + 8


def test_the_bar_shows_counts_accuracy_errors_and_tokens(sum_env, tmp_path, capsys):
    rollout(sum_env, Flaky({"t0"}), output=tmp_path / "r", progress=True)
    shown = capsys.readouterr().err
    for part in ("11/12", "accuracy 1.000", "1 errors", "tokens/s"):
        assert part in shown


async def test_a_disk_that_refuses_stops_the_run(sum_env, tmp_path):
    resource = pytest.importorskip("resource")
    env = type(sum_env)(n=200)
    policy = Driver(0.001)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))
    try:
        with pytest.raises(WorkError, match=r"could not write the run .*File too large"):
            await arollout(env, policy, concurrency=4, output=tmp_path / "r")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    run = Run.open(tmp_path / "r")
    assert 5 <= len(run) < len(policy.started) < 200
    size = (run.path / "trajectories.jsonl").stat().st_size
    assert size == sum(len(t.to_json().encode()) + 1 for t in run), "no half line is left"
    finished, again = run.done_keys(), Driver()
    assert len(await arollout(env, again, output=tmp_path / "r")) == 200
    assert finished.isdisjoint(again.started)


async def test_rescore_gives_the_same_and_then_the_new_rewards(sum_env, tmp_path):
    run = await arollout(sum_env, Driver(), output=tmp_path / "r")
    before = (run.path / "trajectories.jsonl").read_bytes()
    assert rescore(run, sum_env) == run.summary
    assert (run.path / "trajectories.jsonl").read_bytes() == before

    class Strict(type(sum_env)):
        def score(self, task, trajectory):
            return {"score": 0.25, "reward": 0.5}

    summary = rescore(run, Strict())
    assert summary["accuracy"] == 0.25 and summary["rewards"] == {"score": 0.25, "reward": 0.5}
    assert all(t.rewards == {"score": 0.25, "reward": 0.5} for t in run) and len(run) == 12
    assert not list(run.path.glob("*.part"))


async def test_rescore_that_breaks_changes_nothing(sum_env, tmp_path):
    run = await arollout(sum_env, Driver(), output=tmp_path / "r")
    before = (run.path / "trajectories.jsonl").read_bytes()

    class Broken(type(sum_env)):
        def score(self, task, trajectory):
            if task.id == "t7":
                raise ZeroDivisionError
            return {"score": 0.0, "reward": 0.0}

    with pytest.raises(ZeroDivisionError):
        rescore(run, Broken())
    assert (run.path / "trajectories.jsonl").read_bytes() == before

    with pytest.raises(UserError, match="no task"):
        rescore(run, type(sum_env)(n=3))
    other = [Task(f"t{i}", "What else?", 0) for i in range(12)]
    with pytest.raises(UserError, match="asks something else"):
        rescore(run, sum_env, tasks=other)
    assert rescore(run, sum_env)["accuracy"] == 1.0, "the lock is free again"
