"""Traces of verifiers and our runs, there and back; verifiers itself is needed by none of it."""

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import zephyrus
from zephyrus.cli.main import app
from zephyrus.errors import UserError
from zephyrus.integrations.verifiers.record import stop_reason, to_trajectory
from zephyrus.integrations.verifiers.trace import to_trace
from zephyrus.integrations.verifiers.traces import export_traces, import_traces
from zephyrus.limits import StopReason
from zephyrus.messages import Image, Message, ToolCall, Usage
from zephyrus.run import Run
from zephyrus.task import Task
from zephyrus.trajectory import CallRecord, Key, Trajectory

PNG = bytes.fromhex("89504e470d0a1a0a0000000d49484452")
TASK = Task("t1", "How warm?", gold=3.5, template="made", required_tools=("dataset",))
SCHEMAS = [
    {"type": "function", "function": {"name": "dataset", "description": "d", "parameters": {}}}
]
WORDS = st.text(
    st.characters(exclude_categories=("Cs",), exclude_characters="<>{}[]`"), max_size=20
)


def data(task=TASK):
    return {
        "id": task.id,
        "prompt": task.prompt,
        "environment": "bench",
        "options": {},
        "task": task.to_dict(),
    }


def there_and_back(trajectory):
    trace = to_trace(trajectory, data(), {"model": "m"}, SCHEMAS, "mark")
    return to_trajectory(json.loads(json.dumps(trace)))


@st.composite
def rollouts(draw):
    """Ended rollouts of every kind that our loop leaves behind."""
    messages = [Message("system", draw(WORDS)), Message("user", TASK.prompt)]
    calls = []
    turns = draw(st.integers(1, 4))
    stop = draw(st.sampled_from(list(StopReason)))
    for turn in range(turns):
        last = turn == turns - 1
        reasoning = draw(WORDS).strip()
        if last and stop is StopReason.ANSWERED:
            messages.append(Message("assistant", f"It is {draw(WORDS)}", reasoning))
            continue
        call = ToolCall("dataset", json.dumps({"variable": draw(WORDS)}), f"call-{turn}-0")
        messages.append(Message("assistant", draw(WORDS), reasoning, (call,)))
        error = draw(st.sampled_from([None, "bad_arguments"]))
        calls.append(CallRecord(turn, "dataset", call.arguments, error, 0.25))
        messages.append(Message("tool", draw(WORDS), tool_call_id=call.id, name="dataset"))
        if draw(st.booleans()):
            images = (Image(PNG, draw(WORDS)),)
            messages.append(Message("user", "The image drawn by the tool.", images=images))
    outcome = {}
    if stop is StopReason.ERROR:
        outcome["error"] = "the world broke"
    elif draw(st.booleans()):
        outcome["unscored"] = "no judge"
    else:
        score = draw(st.floats(-1, 1))
        outcome["rewards"] = {"score": score, "turn_penalty": 0.5, "reward": score - 0.5}
    return Trajectory(
        Key("t1", draw(st.integers(0, 9)), draw(st.integers(0, 3))),
        messages,
        calls,
        turns,
        answer="3.5" if stop is StopReason.ANSWERED else None,
        stop=stop,
        usage=Usage(draw(st.integers(0, 10**6)), draw(st.integers(0, 10**6))),
        recovered_calls=draw(st.integers(0, 2)),
        seconds=draw(st.floats(0, 1e4)),
        policy_seconds=0.5,
        task=TASK.facts(),
        **outcome,
    )


@given(rollouts())
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_a_rollout_comes_back_as_it_was(trajectory):
    assert there_and_back(trajectory) == trajectory


def test_of_a_fork_the_last_branch_counts():
    """A turn that had to be sent back otherwise than it was sampled leaves a dead end."""
    spoken = Message("assistant", "", "", (ToolCall("dataset", "{}", "a"),))
    whole = Trajectory(
        Key("t1", 0, 0),
        [
            Message("system", "s"),
            Message("user", "u"),
            spoken,
            Message("tool", "5", tool_call_id="a", name="dataset"),
            Message("assistant", "<answer>5</answer>"),
        ],
        turns=2,
        answer="5",
        stop=StopReason.ANSWERED,
        rewards={"reward": 1.0},
        task=TASK.facts(),
    )
    trace = to_trace(whole, data(), {}, SCHEMAS, "mark")
    sampled = {"parent": 1, "message": {"role": "assistant", "content": "raw"}, "sampled": True}
    nodes = trace["nodes"]
    forked = [
        *nodes[:2],
        sampled,
        {**nodes[2]},
        {**nodes[3], "parent": 3},
        {**nodes[4], "parent": 4},
    ]
    assert to_trajectory({**trace, "nodes": forked}) == whole


def test_another_harness_and_taskset_can_be_imported(tmp_path):
    """No record of ours: what the trace says, and no guess about the rest."""
    lines = []
    for number, (reply, score) in enumerate([("Paris", 1.0), ("Rome", 0.0), ("Bonn", None)]):
        trace = {
            "verifiers": {"version": "0.4.0"},
            "task": {"type": "T", "key": "capital", "data": {"idx": 0, "prompt": "Capital?"}},
            "agent": {"config": {"model": "org/model"}},
            "nodes": [
                {"message": {"role": "user", "content": "Capital?"}},
                {
                    "parent": 0,
                    "sampled": True,
                    "message": {
                        "role": "assistant",
                        "content": None,
                        "reasoning_content": "hm",
                        "tool_calls": [{"id": "x", "name": "map", "arguments": "{}"}],
                    },
                },
                {"parent": 1, "message": {"role": "tool", "tool_call_id": "x", "content": "seen"}},
                {"parent": 2, "sampled": True, "message": {"role": "assistant", "content": reply}},
            ],
            "calls": [
                {"usage": {"prompt_tokens": 5, "completion_tokens": 2, "cached_input_tokens": 3}},
                {"usage": {"prompt_tokens": 9, "completion_tokens": 1}},
                {"error": {"type": "ProviderError", "message": "503"}},
            ],
            "rewards": {
                "exact": None if score is None else {"score": score, "weight": 0.5},
                "style": None if score is None else {"score": 1.0, "weight": 2.0},
            },
            "metrics": {"length": 5.0},
            "ok": score is not None,
            "stop_condition": "agent_completed" if score is not None else "task_error",
            "errors": [] if score is not None else [{"type": "TaskError", "message": "judge: 500"}],
            "timing": {"agent": {"start": 10.0, "end": 12.5, "model": {"duration": 2.0}}},
        }
        lines.append(json.dumps({"id": str(number), "ok": trace["ok"], "traces": [trace]}))
    (tmp_path / "traces.jsonl").write_text("\n".join(lines) + "\n")
    run = import_traces(tmp_path, tmp_path / "run")
    first, second, third = run
    assert [t.key for t in run] == [Key("capital", 0, n) for n in range(3)]
    assert first.rewards == {"length": 5.0, "exact": 1.0, "style": 1.0, "reward": 2.5}
    assert second.rewards["reward"] == 2.0
    assert third.rewards is None and third.unscored == "judge: 500"  # never a 0
    assert first.answer == "Paris" and first.turns == 2 and first.stop is StopReason.ANSWERED
    assert first.usage == Usage(17, 3)
    assert first.calls == [CallRecord(0, "map", "{}")]
    assert (first.seconds, first.policy_seconds) == (2.5, 2.0)
    assert run.config["policy"]["name"] == "org/model" and run.config["repeats"] == 3


@pytest.mark.parametrize(
    ("condition", "timeout", "reason"),
    [
        ("agent_completed", False, StopReason.ANSWERED),
        (None, False, StopReason.ANSWERED),
        ("max_turns", False, StopReason.TURNS),
        ("max_output_tokens", False, StopReason.TOKENS),
        ("scoring_timeout", True, StopReason.TIME),
        ("my_own_stop", False, StopReason.TURNS),
    ],
)
def test_stop_conditions(condition, timeout, reason):
    assert stop_reason(condition, timeout=timeout) is reason


@pytest.mark.parametrize(
    "line", ["{", "[1]", '{"traces": [{}]}', '{"traces": [{"task": 3}]}', "{}"]
)
def test_what_is_no_episode_is_named(tmp_path, line):
    (tmp_path / "traces.jsonl").write_text("\n" + line + "\n")
    with pytest.raises(UserError, match="line 2: no episode of verifiers"):
        import_traces(tmp_path, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_no_traces_and_no_file(tmp_path):
    (tmp_path / "traces.jsonl").write_text("\n")
    with pytest.raises(UserError, match="holds no traces"):
        import_traces(tmp_path / "traces.jsonl", tmp_path / "run")
    with pytest.raises(UserError, match="can't be read"):
        import_traces(tmp_path / "nowhere", tmp_path / "run")


@pytest.fixture(scope="module")
def bench_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bench") / "run"
    return zephyrus.rollout("bench", "random", n=8, repeats=2, output=folder, progress=False)


def test_a_run_comes_back_and_can_be_rescored(bench_run, tmp_path):
    export_traces(bench_run, tmp_path / "vf")
    back = import_traces(tmp_path / "vf", tmp_path / "back")
    told = sorted(bench_run, key=lambda t: t.key)
    assert [replace(t, messages=[]) for t in sorted(back, key=lambda t: t.key)] == [
        replace(t, messages=[]) for t in told
    ]
    assert [t.messages for t in sorted(back, key=lambda t: t.key)] == [t.messages for t in told]
    before = back.summary
    assert {k: before[k] for k in ("rollouts", "accuracy", "rewards")} == {
        k: bench_run.summary[k] for k in ("rollouts", "accuracy", "rewards")
    }
    env = zephyrus.make("bench", split=back.config["env"]["split"])
    after = zephyrus.rescore(Run.open(back.path), env, progress=False)
    assert after["rewards"] == before["rewards"]


def test_the_command(bench_run, tmp_path):
    export_traces(bench_run, tmp_path / "vf")
    arguments = ["env", "import", str(tmp_path / "vf"), "--output", str(tmp_path / "back")]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert done.output == f"{tmp_path / 'back'}: 16 rollouts\n"
    again = CliRunner().invoke(app, arguments)
    assert isinstance(again.exception, UserError)


def test_an_import_never_adds_to_a_run(bench_run, tmp_path):
    export_traces(bench_run, tmp_path / "vf")
    import_traces(tmp_path / "vf", tmp_path / "back")
    with pytest.raises(UserError, match="holds a run already"):
        import_traces(tmp_path / "vf", tmp_path / "back")


def test_infrastructure_errors_go_where_they_belong(bench_run, tmp_path):
    key = Key(next(iter(bench_run)).key.task, 0, 7)
    broken = Trajectory(key, stop=StopReason.ERROR, error="no disk", task={"template": "x"})
    with Run.create(tmp_path / "run", {**bench_run.config}) as run:
        run.append(broken)
    back = import_traces(export_traces(run, tmp_path / "vf"), tmp_path / "back")
    assert len(back) == 0
    (error,) = back.errors()
    assert (error.key, error.error, error.rewards) == (key, "no disk", None)
