"""Single stages through `TRLWork`: the reference of the divergence, shifting weights, outages."""

import itertools
import json
import warnings
from pathlib import Path

import pytest

pytest.importorskip("trl", reason="needs the extra train")

from openai_server import OpenAIServer
from test_sampling import Away
from tiny_training import REPORT_RL, RL, RSFT, ToyEnv, held_out, make_recipe

from zephyrus.curriculum.rules import Measured
from zephyrus.curriculum.scheduler import Scheduler
from zephyrus.errors import WorkError
from zephyrus.judge import make_judge
from zephyrus.registry import register
from zephyrus.run import Run
from zephyrus.training.examples import tokens_of
from zephyrus.training.sampling import Patience
from zephyrus.training.trainee import Trainee
from zephyrus.training.work import TRLWork

pytestmark = pytest.mark.slow


def lines(file):
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def trained(recipe, folder, **options):
    work = TRLWork(recipe, folder, progress=False, concurrency=4, **options)
    Scheduler(recipe, folder, work).run()
    return work


def test_saving_an_adapter_asks_nobody(tiny_model, tmp_path, monkeypatch):
    def asked(*args, **kwargs):
        raise AssertionError("the model hub was asked")

    monkeypatch.setattr("peft.utils.save_and_load.check_file_exists_on_hf_hub", asked)
    trainee = Trainee.load(make_recipe(tiny_model, RSFT).model)
    trainee.model.peft_config["default"].base_model_name_or_path = "a-name-of-ours"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trainee.save(tmp_path / "saved")
    assert (tmp_path / "saved" / "adapter_model.safetensors").is_file()


@pytest.mark.parametrize("lora", [True, False])
def test_the_divergence_is_from_where_the_stage_began(tiny_model, tmp_path, lora):
    exam = held_out(choose="last", every=3)
    stages = ({**RSFT, "evaluation": exam}, {**RL, "kl": 0.1, "evaluation": exam})
    recipe = make_recipe(tiny_model, *[{**s, "until": {"steps": 3}} for s in stages], lora=lora)
    trained(recipe, tmp_path / "run")
    kl = [step["kl"] for step in lines(tmp_path / "run/stages/rl/steps.jsonl")]
    assert kl[0] == pytest.approx(0.0, abs=1e-7)  # from the base model it would not be
    assert kl[1] > 1e-4
    last = tmp_path / "run/stages/rl/candidates/step-00003"
    name = "adapter_model.safetensors" if lora else "model.safetensors"
    assert (last / name).is_file()
    assert not (last / "ref").exists()


def test_the_speed_of_fine_tuning_is_in_tokens_of_its_rows(tiny_model, tmp_path):
    exam = held_out(choose="last", every=3)
    stage = {**RSFT, "until": {"steps": 3}, "evaluation": exam}
    work = trained(make_recipe(tiny_model, stage), tmp_path / "run")
    folder = tmp_path / "run/stages/rsft"
    chat = Trainee.load(work.recipe.model).chat
    schemas = ToyEnv().tool_schemas()
    lengths = [len(tokens_of(t, chat, schemas).ids) for t in Run.open(folder / "kept")]
    first, *others = lines(folder / "steps.jsonl")
    assert "tokens_per_second" not in first  # what went before it is not known
    pairs = {a + b for a, b in itertools.combinations(lengths, 2)}
    for step in others:
        count = step["tokens_per_second"] * step["seconds"]
        assert count == pytest.approx(round(count))
        assert round(count) in pairs


def test_weights_of_a_step_are_those_logged_and_shift_by_its_rollouts(tiny_model, tmp_path):
    recipe = make_recipe(tiny_model, {**REPORT_RL, "updates": 1})
    trained(recipe, tmp_path / "run")
    steps = lines(tmp_path / "run/stages/report_rl/steps.jsonl")
    for step in steps:
        weights, rewards = step["weights"], step["rewards"]
        assert sum(weights.values()) == pytest.approx(1.0, abs=1e-12)
        weighed = sum(weights[part] * rewards[part] for part in weights)
        assert step["reward"] == pytest.approx(weighed - 0.5 * rewards["length_penalty"], abs=1e-6)
    assert steps[0]["weights"] == steps[1]["weights"] == {"rubric": 0.5, "f1": 0.5}  # warm-up
    assert len({step["weights"]["rubric"] for step in steps[2:]}) == 3
    saved = tmp_path / "run/stages/report_rl/checkpoints/checkpoint-5/zephyrus.json"
    assert json.loads(saved.read_text())["weights"]["updates"] == 5


class JudgedToy(ToyEnv):
    """An endpoint scores the reports, as it does in the environment of reports."""

    name = "judged"

    def __init__(self, url, **options):
        super().__init__(**options)
        self.judge = make_judge(f"openai:m@{url}", cache=False, retries=0)

    async def check(self):
        await self.judge.check()

    async def release(self):
        await self.judge.close()

    async def ascore(self, task, trajectory):
        from zephyrus.errors import JudgeError
        from zephyrus.judge.assess import assess
        from zephyrus.judge.base import Brief
        from zephyrus_report.rubric import report_rubric

        brief = Brief("It is " + (trajectory.answer or ""), "It is windy.", report_rubric())
        judged = await assess(self.judge, brief)
        if judged.missing:
            raise JudgeError(str(judged.missing))
        found = self.score(task, trajectory)
        return found | {"rubric": judged.scores()["rubric"]}


def test_an_outage_in_a_step_pauses_and_changes_nothing(tiny_model, tmp_path):
    pytest.importorskip("zephyrus_report")
    from judge_server import answer

    exam = held_out(every=2)
    stage = {
        **RL,
        "rewards": {"rubric": 1.0},
        "drop_uniform": False,
        "until": {"steps": 3},
        "evaluation": exam,
    }
    register("envs", "judged", JudgedToy)
    with OpenAIServer(answer).running() as server:
        stage["tasks"] = {**RL["tasks"], "env": "judged", "options": {"url": server.url}}
        recipe = make_recipe(tiny_model, stage)
        trained(recipe, tmp_path / "a")

        away, pauses = Away(server, after=20), []

        def sleep(seconds):
            pauses.append(seconds)
            if len(pauses) == 2:
                away.come_back()

        patience = Patience(1e6, sleep=sleep, say=lambda text: None)
        trained(recipe, tmp_path / "b", patience=patience)
        assert len(pauses) == 2

        away = Away(server, after=20)
        patience = Patience(25.0, sleep=lambda s: None, say=lambda text: None)
        with pytest.raises(WorkError, match="the same again goes on"):
            trained(recipe, tmp_path / "c", patience=patience)
        away.come_back()
        trained(recipe, tmp_path / "c")
    weights = "stages/rl/candidates/step-00003/adapter_model.safetensors"
    for other in ("b", "c"):
        assert (tmp_path / other / weights).read_bytes() == (tmp_path / "a" / weights).read_bytes()
        for one, two in zip(
            lines(tmp_path / "a/stages/rl/steps.jsonl"),
            lines(tmp_path / other / "stages/rl/steps.jsonl"),
            strict=True,
        ):
            assert one["rewards"] == two["rewards"]


def test_a_plateau_ends_a_stage_and_a_run_killed_after_it_knows(tiny_model, tmp_path):
    until = {"steps": 8, "plateau": {"evaluations": 2, "rise": 0.9}}
    recipe = make_recipe(tiny_model, {**RL, "until": until, "evaluation": held_out(every=1)})
    work = trained(recipe, tmp_path / "run")
    stage = recipe.stages[0]
    why = "has not risen by 0.9 in 2 evaluations"
    state = json.loads((tmp_path / "run/state.json").read_text())["stages"][0]
    assert why in state["reason"]
    steps = lines(tmp_path / "run/stages/rl/steps.jsonl")
    assert [step["step"] for step in steps] == [1, 2, 3]
    folder = Path(tmp_path / "run/stages/rl")
    reason, candidates = work.train(stage, None, folder, Measured(0, 0.5, full=True))
    assert why in reason
    assert [measured.step for measured in candidates] == state["candidates"]
    assert lines(folder / "steps.jsonl") == steps
