"""One episode: budgets and their order, the agent's mistakes, a broken world, pictures."""

import asyncio
import re
import threading
import time

import pytest

from zephyrus.errors import UserError
from zephyrus.limits import Limits, StopReason
from zephyrus.messages import Image, Message, Reply, ToolCall, ToolResult, Usage
from zephyrus.tools import Tool, ToolError

PNG = b"\x89PNG\r\n\x1a\n"


def multiply_badly(a: float) -> str:
    """Refuse.

    Args:
        a: A number.
    """
    raise ToolError("send something else.")


def say(text: str) -> str:
    """Say it.

    Args:
        text: What.
    """
    return text


async def wait(seconds: float) -> str:
    """Wait.

    Args:
        seconds: How long.
    """
    await asyncio.sleep(seconds)
    return "waited"


def block(seconds: float) -> str:
    """Wait in a thread.

    Args:
        seconds: How long.
    """
    released.wait(seconds)
    return "waited"


def linger(seconds: float) -> str:
    """Wait inline, where nothing can interrupt.

    Args:
        seconds: How long.
    """
    time.sleep(seconds)
    return "waited"


def draw(count: int = 1) -> ToolResult:
    """Draw.

    Args:
        count: How many pictures.
    """
    return ToolResult("drawn", tuple(Image(PNG, f"map {i}") for i in range(count)))


released = threading.Event()


@pytest.fixture
def start(sum_env):
    """Begins an episode on the first task, with further tools and the given limits."""
    released.clear()

    def begin(**limits):
        more = (
            Tool(multiply_badly, name="refuse"),
            Tool(say),
            Tool(wait),
            Tool(block, thread=True),
            Tool(linger),
            Tool(draw),
        )
        env = type(sum_env)(tools=(*sum_env.tools.values(), *more), limits=Limits(**limits))
        return env.begin(env.tasks()["t2"])

    return begin


def calling(*calls, usage=None, content=""):
    """A reply with (tool, arguments as JSON text) calls."""
    message = Message("assistant", content, tool_calls=tuple(ToolCall(*call) for call in calls))
    return Reply(message, usage or Usage())


def saying(text, **more):
    return Reply(Message("assistant", text), **more)


MULTIPLY = ("multiply", '{"a": 2, "b": 3}')


def errors(episode):
    return [call.error for call in episode.trajectory.calls]


# The way through --------------------------------------------------------------------------------


async def test_a_call_an_answer_and_a_score(start):
    episode = start()
    assert [m.role for m in episode.messages] == ["system", "user"] and not episode.done
    (seen,) = await episode.step(calling(MULTIPLY, usage=Usage(10, 2)))
    assert (seen.role, seen.content, seen.name) == ("tool", "12 units", "multiply")
    assert await episode.step(saying("<answer>12</answer>", usage=Usage(20, 3), seconds=0.5)) == []
    record = episode.trajectory
    assert episode.done and record.stop == StopReason.ANSWERED and record.answer == "12"
    assert record.rewards == {"score": 1.0, "required_tool": 1.0, "reward": 1.0}
    assert record.usage == Usage(30, 5) and record.turns == 2 and record.policy_seconds == 0.5
    assert record.task["gold"] == 12.0 and record.used_required_tools()


async def test_parallel_calls_are_answered_in_order_each_by_its_id(start):
    episode = start()
    seen = await episode.step(
        calling(("say", '{"text": "a"}', "x"), MULTIPLY, ("say", '{"text": "b"}', "x"))
    )
    assert [m.content for m in seen] == ["a", "12 units", "b"]
    assert [m.tool_call_id for m in seen] == ["x", "call-0-1", "call-0-2"]
    assert [c.id for c in episode.messages[2].tool_calls] == ["x", "call-0-1", "call-0-2"]
    assert [call.turn for call in episode.trajectory.calls] == [0, 0, 0]


async def test_an_answer_beside_calls_is_not_read(start):
    episode = start()
    seen = await episode.step(calling(MULTIPLY, content="<answer>12</answer>"))
    assert [m.content for m in seen] == ["12 units"] and not episode.done


async def test_answering_twice_is_the_callers_bug(start):
    episode = start()
    await episode.step(saying("<answer>1</answer>"))
    with pytest.raises(RuntimeError, match="has ended: reset"):
        await episode.step(saying("<answer>12</answer>"))
    assert episode.trajectory.answer == "1" and episode.trajectory.turns == 1


async def test_neither_call_nor_answer_gets_the_hint(start):
    episode = start()
    (seen,) = await episode.step(saying("I think it is 12."))
    assert seen.role == "user" and not episode.done
    assert seen.content == (
        "Error: no tool call and no answer in your message. "
        "Call a tool, or write the answer inside <answer>…</answer>."
    )


async def test_a_message_that_was_cut_off_is_told_so(start):
    episode = start()
    (seen,) = await episode.step(saying("Let me think about", finish_reason="length"))
    assert seen.role == "user" and "cut off at its length limit" in seen.content
    assert await episode.step(saying("<answer>12</answer> and", finish_reason="length")) == []
    assert episode.trajectory.answer == "12", "what is whole is read all the same"


async def test_pictures_come_in_a_user_message_after_all_results(start):
    episode = start()
    seen = await episode.step(calling(("draw", "{}"), MULTIPLY))
    assert [m.role for m in seen] == ["tool", "tool", "user"]
    assert seen[2].images == (Image(PNG, "map 0"),) and seen[0].images == ()
    text, picture = seen[2].to_openai()["content"]
    assert text == {"type": "text", "text": "The image drawn by the tool."}
    assert picture["image_url"]["url"].startswith("data:image/png;base64,iVBORw0K")
    assert "map 0" in seen[2].to_openai(vision=False)["content"]
    seen = await episode.step(calling(("draw", '{"count": 2}'), ("draw", "{}")))
    assert len(seen) == 3 and len(seen[2].images) == 3
    assert len(seen[2].to_openai()["content"]) == 4


# The agent's mistakes ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (("multiplication", "{}"), "unknown_tool", r"no tool 'multiplication'.*multiply, explode"),
        (("multiply", '{"a": 2'), "malformed_json", r"not valid JSON .*\{\"a\": 1.0\}"),
        (("multiply", "[2, 3]"), "malformed_json", "must be a JSON object"),
        (("multiply", "{}"), "invalid_arguments", "needs the argument 'a'"),
        (("multiply", '{"a": "two"}'), "invalid_arguments", "^Error: a: .*'two'"),
        (("multiply", '{"a": 2, "c": 3}'), "invalid_arguments", "no argument 'c'; it takes: a, b"),
        (("multiply", '{"a": 2, "scale": 3}'), "invalid_arguments", "no argument 'scale'"),
        (("refuse", '{"a": 2}'), "tool_error", r"^Error: send something else\.$"),
    ],
)
async def test_the_agents_mistakes_are_observations(start, call, error, says):
    episode = start()
    bad, good = await episode.step(calling(call, MULTIPLY))
    assert re.search(says, bad.content) and bad.content.startswith("Error: ")
    assert good.content == "12 units", "the calls beside it go on"
    assert errors(episode) == [error, None] and not episode.done
    await episode.step(saying("<answer>12</answer>"))
    assert episode.trajectory.rewards["reward"] == 1.0


# A broken world ---------------------------------------------------------------------------------


async def test_a_broken_tool_ends_the_episode_without_a_score(start):
    episode = start()
    assert await episode.step(calling(MULTIPLY, ("explode", "{}"), MULTIPLY)) == []
    record = episode.trajectory
    assert record.stop == StopReason.ERROR and record.failed and record.rewards is None
    assert "FileNotFoundError in the tool explode" in record.error and "Traceback" in record.error
    assert errors(episode) == [None, "infrastructure"]


async def test_the_tools_own_timeout_is_a_broken_world(start):
    async def server() -> str:
        """Time out inside."""
        raise TimeoutError("the data server is slow")

    episode = start()
    episode.tools["server"] = Tool(server)
    await episode.step(calling(("server", "{}")))
    assert episode.trajectory.failed and "data server is slow" in episode.trajectory.error


async def test_a_tool_whose_inner_work_was_cancelled_is_a_broken_world(start):
    async def cancelled() -> str:
        """Await what somebody else has cancelled."""
        inner = asyncio.create_task(asyncio.sleep(60))
        await asyncio.sleep(0)
        inner.cancel()
        await inner
        return "never"

    episode = start()
    episode.tools["cancelled"] = Tool(cancelled)
    assert await episode.step(calling(("cancelled", "{}"))) == []
    assert episode.trajectory.failed and "CancelledError" in episode.trajectory.error


async def test_a_tool_that_exits_does_not_end_the_process(start):
    def leave() -> str:
        """Exit, as a library's command line does."""
        raise SystemExit(3)

    episode = start()
    episode.tools["leave"] = Tool(leave)
    assert await episode.step(calling(("leave", "{}"))) == []
    assert episode.trajectory.failed and "SystemExit" in episode.trajectory.error


async def test_a_step_that_is_cancelled_from_outside_is_cancelled(start):
    episode = start()
    step = asyncio.create_task(episode.step(calling(("wait", '{"seconds": 60}'))))
    await asyncio.sleep(0.01)
    step.cancel()
    with pytest.raises(asyncio.CancelledError):
        await step
    assert not episode.trajectory.failed


async def test_a_verifier_that_breaks_is_no_zero(start):
    episode = start()

    def score(task, trajectory):
        raise ZeroDivisionError("oops")

    episode.env.score = score
    await episode.step(saying("<answer>12</answer>"))
    assert episode.trajectory.failed and episode.trajectory.rewards is None
    assert "ZeroDivisionError while scoring" in episode.trajectory.error


# Budgets of calls -------------------------------------------------------------------------------


async def test_calls_per_turn(start):
    episode = start(calls_per_turn=2)
    seen = await episode.step(calling(MULTIPLY, MULTIPLY, MULTIPLY))
    assert errors(episode) == [None, None, "budget"]
    assert seen[2].content == "Error: at most 2 tool calls fit in one message."
    await episode.step(calling(MULTIPLY, MULTIPLY))
    assert errors(episode)[3:] == [None, None], "the next message has its own"


async def test_calls_of_the_episode(start):
    episode = start(calls=3)
    await episode.step(calling(MULTIPLY, MULTIPLY))
    seen = await episode.step(calling(MULTIPLY, MULTIPLY))
    assert errors(episode) == [None, None, None, "budget"]
    assert seen[1].content == "Error: all 3 tool calls of this episode are used up; answer now."
    assert not episode.done


async def test_calls_per_tool_as_one_number(start):
    episode = start(calls_per_tool=1)
    seen = await episode.step(calling(MULTIPLY, ("say", '{"text": "a"}'), MULTIPLY))
    assert errors(episode) == [None, None, "budget"]
    assert seen[2].content == "Error: all 1 calls of multiply are used up; go on without it."


async def test_calls_per_tool_by_name(start):
    episode = start(calls_per_tool={"multiply": 2, "say": 0})
    await episode.step(calling(MULTIPLY, MULTIPLY, MULTIPLY, ("say", '{"text": "a"}')))
    await episode.step(calling(*[("refuse", '{"a": 1}')] * 3))
    assert errors(episode) == [None, None, "budget", "budget", *["tool_error"] * 3]


async def test_calls_over_a_budget_cost_nothing_of_another(start):
    episode = start(calls=2, calls_per_tool={"multiply": 1})
    await episode.step(calling(MULTIPLY, MULTIPLY, MULTIPLY, ("say", '{"text": "a"}')))
    assert errors(episode) == [None, "budget", "budget", None]


@pytest.mark.parametrize(
    ("limits", "says"),
    [
        ({"calls_per_turn": 1, "calls": 1, "calls_per_tool": 1}, "fit in one message"),
        ({"calls": 1, "calls_per_tool": 1}, "of this episode"),
        ({"calls_per_tool": 1}, "of multiply"),
    ],
)
async def test_the_first_budget_in_their_order_is_named(start, limits, says):
    episode = start(**limits)
    assert says in (await episode.step(calling(MULTIPLY, MULTIPLY)))[1].content


async def test_long_observations_are_cut_and_say_so(start):
    episode = start(observation_chars=10)
    fits, cut = await episode.step(
        calling(("say", '{"text": "0123456789"}'), ("say", '{"text": "0123456789ab"}'))
    )
    assert fits.content == "0123456789"
    assert cut.content == "0123456789\n[cut: 2 more characters; ask for less]"


async def test_a_lone_surrogate_does_not_get_into_the_conversation(start):
    episode = start()
    (seen,) = await episode.step(calling(("say", '{"text": "a\\ud800b"}')))
    assert "\ud800" not in seen.content
    episode.trajectory.to_json().encode()


# Budgets of time --------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", ["wait", "block"])
async def test_a_slow_tool_is_cut_off(start, tool):
    episode = start(tool_seconds=0.05)
    began = time.monotonic()
    slow, quick = await episode.step(calling((tool, '{"seconds": 30}'), MULTIPLY))
    released.set()  # the loop waits for its threads at its end
    assert time.monotonic() - began < 5
    assert slow.content == f"Error: {tool} took longer than 0.05 s; ask for less at a time."
    assert errors(episode) == ["timeout", None] and quick.content == "12 units"
    assert not episode.done


@pytest.mark.parametrize("tool", ["wait", "block"])
async def test_the_episodes_time_cuts_a_tool_too(start, tool):
    episode = start(seconds=0.2, tool_seconds=30)
    began = time.monotonic()
    assert await episode.step(calling((tool, '{"seconds": 30}'))) == []
    released.set()
    assert 0.1 < time.monotonic() - began < 5
    assert episode.trajectory.stop == StopReason.TIME and errors(episode) == ["timeout"]
    assert episode.trajectory.rewards["reward"] == 0.0


async def test_no_call_is_begun_when_the_time_is_used_up(start):
    episode = start(seconds=0.05)
    await episode.step(calling(("linger", '{"seconds": 0.1}'), MULTIPLY))
    assert errors(episode) == [None, "budget"], "an inline tool can't be interrupted"
    assert "time of this episode is used up" in episode.messages[-1].content
    assert episode.trajectory.stop == StopReason.TIME


async def test_what_is_left_of_the_time(start):
    assert start().seconds_left is None
    episode = start(seconds=60)
    assert 50 < episode.seconds_left <= 60
    episode._began -= 100
    assert episode.seconds_left == 0


# Budgets of the episode, and their order --------------------------------------------------------


async def test_turns(start):
    episode = start(turns=2)
    assert await episode.step(calling(MULTIPLY))
    assert await episode.step(calling(MULTIPLY)) == []
    record = episode.trajectory
    assert record.stop == StopReason.TURNS and record.turns == 2
    assert record.rewards == {"score": 0.0, "required_tool": 1.0, "reward": 0.0}


async def test_an_answer_in_the_last_turn_counts(start):
    episode = start(turns=2)
    await episode.step(calling(MULTIPLY))
    await episode.step(saying("<answer>12</answer>"))
    assert episode.trajectory.stop == StopReason.ANSWERED
    assert episode.trajectory.rewards["reward"] == 1.0


async def test_tokens_of_prompts_and_completions_add_up(start):
    episode = start(tokens=100)
    await episode.step(calling(MULTIPLY, usage=Usage(60, 39)))
    assert not episode.done
    await episode.step(calling(MULTIPLY, usage=Usage(0, 1)))
    assert episode.trajectory.stop == StopReason.TOKENS


@pytest.mark.parametrize(
    ("limits", "stop"),
    [
        ({"seconds": 0.001, "tokens": 1, "turns": 1}, StopReason.TIME),
        ({"tokens": 1, "turns": 1}, StopReason.TOKENS),
        ({"turns": 1}, StopReason.TURNS),
    ],
)
async def test_the_first_that_is_used_up_truncates(start, limits, stop):
    episode = start(**limits)
    await episode.step(calling(("linger", '{"seconds": 0.01}'), usage=Usage(1, 0)))
    assert episode.trajectory.stop == stop


@pytest.mark.parametrize(
    ("limits", "says"),
    [
        ({"turns": None}, "turns must be at least 1"),
        ({"turns": 0}, "turns must be at least 1"),
        ({"observation_chars": None}, "observation_chars must be at least 1"),
        ({"seconds": 0}, "seconds must be above 0, or null"),
        ({"calls": -1}, "calls must be above 0, or null"),
    ],
)
def test_limits_that_make_no_sense(limits, says):
    with pytest.raises(UserError, match=says):
        Limits(**limits)


def test_every_limit_that_may_be_none_may_be_none():
    names = ("calls", "calls_per_turn", "calls_per_tool", "tokens", "seconds", "tool_seconds")
    limits = Limits(**dict.fromkeys(names))
    assert limits.to_dict() == {"turns": 10, "observation_chars": 4000, **dict.fromkeys(names)}
