"""Report's consistency reward: the discussion held against the reasoning that came before it."""

import asyncio

import pytest

from zephyrus.consistency.freetext import free_text_consistency
from zephyrus.errors import JudgeError, UserError
from zephyrus.judge.base import Claim, Judge, JudgeUsage, Label, Verdict
from zephyrus.judge.discussion import ClaimOptions
from zephyrus.messages import Message
from zephyrus.trajectory import Key, Trajectory
from zephyrus_report.env import PARTS, ReportEnv


class Sentences(Judge):
    """A claim is a sentence: SUPPORTED if the text has it, REFUTED if it has it with "not "."""

    name = "sentences"
    deterministic = True

    def __init__(self, fails=()):
        self.usage = JudgeUsage()
        self.fails = fails

    async def claims(self, text, *, scoring_pass=0):
        if "claims" in self.fails:
            raise JudgeError("nobody is there")
        return tuple(Claim(part.strip()) for part in text.split(".") if part.strip())

    async def verdicts(self, claims, text, *, scoring_pass=0):
        if "verdicts" in self.fails:
            raise JudgeError("nobody is there")
        said = {part.strip().lower() for part in text.split(".")}

        def label(claim):
            low = claim.text.lower()
            if low in said:
                return Label.SUPPORTED
            return Label.REFUTED if f"not {low}" in said else Label.NEUTRAL

        return tuple(Verdict(claim, label(claim)) for claim in claims)

    async def rubric(self, brief, *, scoring_pass=0):
        raise NotImplementedError


def score(reasoning, report, **options):
    found = asyncio.run(
        free_text_consistency(Sentences(), reasoning, report, ClaimOptions(**options))
    )
    return found.score, found.silent


@pytest.mark.parametrize(
    ("reasoning", "report", "expected", "silent"),
    [
        ("Rain falls. Wind blows.", "Rain falls. Wind blows.", 1.0, 0.0),
        ("Rain falls. Not wind blows.", "Rain falls. Wind blows.", 0.5, 0.0),
        ("Not rain falls.", "Rain falls.", 0.0, 0.0),
        ("Rain falls.", "Rain falls. Snow lies. Fog forms.", 1.0, 2 / 3),  # silence costs nothing
        ("Let me think.", "Rain falls.", 0.0, 1.0),  # no conclusion
        ("", "Rain falls.", 0.0, 1.0),  # no reasoning
        ("Rain falls.", "", 0.0, 1.0),  # no report
        ("Rain falls.", "   ", 0.0, 1.0),
        # A wrong report may be consistent, and a repeated claim counts once.
        ("Rain falls. Not wind blows.", "Rain falls. Rain falls. Wind blows.", 0.5, 0.0),
    ],
)
def test_the_share_that_the_reasoning_bears_out(reasoning, report, expected, silent):
    assert score(reasoning, report) == (pytest.approx(expected), pytest.approx(silent))


def test_only_claims_under_the_cap_count():
    assert score("Rain falls. Not wind blows.", "Rain falls. Wind blows.", max_claims=1)[0] == 1


def test_an_outage_is_missing():
    for part in ("claims", "verdicts"):
        with pytest.raises(JudgeError):
            asyncio.run(free_text_consistency(Sentences([part]), "Rain falls.", "Rain falls."))


def wrote(event, reasoning, text=None):
    text = event.gold if text is None else text
    said = Message("assistant", f"<report>{text}</report>", reasoning)
    messages = [Message("system", ""), Message("user", event.prompt), said]
    return Trajectory(Key(event.id, 0, 0), messages, turns=1, answer=text)


@pytest.fixture(scope="module")
def event():
    return next(iter(ReportEnv().tasks()))


def test_the_reward_with_the_offline_judge(event):
    plain = ReportEnv().score(event, wrote(event, event.gold))
    assert set(plain) == {*PARTS, "length_penalty", "reward"}
    env = ReportEnv(consistency="rules", consistency_weight=0.25)
    same = env.score(event, wrote(event, event.gold))
    assert same["consistency"] == 1.0
    blind = env.score(event, wrote(event, ""))
    assert blind["consistency"] == 0.0
    quality = plain["reward"] + plain["length_penalty"]
    for found in (same, blind):
        expected = 0.75 * quality + 0.25 * found["consistency"] - plain["length_penalty"]
        assert found["reward"] == pytest.approx(expected)
    tags = Message("assistant", f"<think>{event.gold}</think><report>{event.gold}</report>")
    trajectory = wrote(event, "")
    trajectory.messages[-1] = tags
    assert env.score(event, trajectory)["consistency"] == 1.0


def test_an_outage_of_its_judge_leaves_the_rollout_unscored(event):
    env = ReportEnv(consistency=Sentences(["verdicts"]))
    with pytest.raises(JudgeError):
        env.score(event, wrote(event, "Rain falls."))


def test_options():
    about = ReportEnv(consistency="rules").describe()
    assert (about["consistency"], about["consistency_weight"]) == ("rules", 0.3)
    assert "consistency" not in ReportEnv().describe()
    again = ReportEnv(**{k: v for k, v in about.items() if k not in ("name", "tools")})
    assert again.describe() == about
    with pytest.raises(UserError, match="consistency_weight lies between 0 and 1"):
        ReportEnv(consistency="rules", consistency_weight=1.5)
    with pytest.raises(UserError, match="there is no judge"):
        ReportEnv(consistency="nobody")
