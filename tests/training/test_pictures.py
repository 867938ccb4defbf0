"""RL on pictures: TRL's own log probabilities against those that were sampled with."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("trl", reason="needs the extra train")
pytest.importorskip("peft", reason="needs the extra train")

import tiny_eyes
import torch
from tiny_training import RL, RSFT, make_recipe

from zephyrus.curriculum.recipe import Sampling
from zephyrus.curriculum.sizes import size_of
from zephyrus.env import ToolEnv
from zephyrus.limits import Limits
from zephyrus.local import policy
from zephyrus.local.pictures import kinds, stacked
from zephyrus.messages import Image, ToolCall
from zephyrus.rollouts import rollout
from zephyrus.task import Task, TaskSet
from zephyrus.tools import Tool
from zephyrus.training import engine
from zephyrus.training.examples import shown, to_row, tokens_of
from zephyrus.training.generators import VLLMGenerators
from zephyrus.training.pictures import fitting
from zephyrus.training.ranks import Ranks
from zephyrus.training.rl import Rollouts
from zephyrus.training.trainee import Trainee

COLOURS = [(220, 20, 20), (20, 220, 20), (20, 20, 220), (200, 200, 20)]
SIZES = [(40, 24), (24, 24), (16, 48), (56, 32)]


class Gallery(ToolEnv):
    """Each task shows another picture, of another size; the last one shows two, and one none."""

    name = "gallery"

    def __init__(self, **options):
        super().__init__(**{"tools": (Tool(draw),), **options})

    def tasks(self, split=None):
        return TaskSet([Task(f"t{i}", f"Say {i}.", gold="a", split="train") for i in range(6)], "g")

    def world(self, task):
        return {}

    def images(self, task):
        number = int(task.id[1:])
        pictures = [tiny_eyes.picture(*c, size=s) for c, s in zip(COLOURS, SIZES, strict=True)]
        return {4: (pictures[0], pictures[3]), 5: ()}.get(number) or tuple(
            pictures[number : number + 1]
        )

    def system_prompt(self):
        return "Look."

    def read_answer(self, text):
        return text if len(text) % 2 == 0 else None

    def score(self, task, trajectory):
        text = trajectory.answer or ""
        return {"reward": sum(c < "P" for c in text) / max(1, len(text))}


def draw(what: str) -> Image:
    """Draw.

    Args:
        what: What.
    """
    return tiny_eyes.picture(1, 2, 250, size=(32, 16), alt=what)


@pytest.fixture(scope="session")
def seeing(tmp_path_factory):
    torch.set_num_threads(1)
    return tiny_eyes.make_seeing(tmp_path_factory.mktemp("seeing") / "model")


AT_START = SimpleNamespace(state=SimpleNamespace(global_step=0))
STAGE = {**RL, "drop_uniform": False, "kl": 0.0, "group": 2, "tasks_per_step": 6}
STAGE |= {"optimiser": {"learning_rate": 1e-2, "batch": 12, "micro_batch": 3}}


def trainer_of(seeing, folder, env=None, tasks=None, lora=True, **changes):
    recipe = make_recipe(seeing, {**STAGE, **changes}, lora=lora)
    stage = recipe.stages[0]
    trainee = Trainee.load(recipe.model)
    env = env or Gallery(split="train", limits=Limits(turns=2))
    tasks = tasks or env.tasks()
    rollouts = Rollouts(trainee, env, tasks, stage, folder / "rollouts", concurrency=4)
    arguments = engine.arguments(recipe, stage, folder / "out")
    return engine.grpo_trainer(trainee, rollouts, list(tasks), arguments, []), rollouts


def inputs_of(tasks, group=2):
    return [
        {"prompt": [{"role": "user", "content": task.id}]} for task in tasks for _ in range(group)
    ]


def scored(trainer, made):
    """What TRL computes in training for the rollouts of a step."""
    ids = torch.cat([made["prompt_ids"], made["completion_ids"]], dim=1)
    mask = torch.cat([made["prompt_mask"], made["completion_mask"]], dim=1)
    known = ("pixel_values", "image_grid_thw", "num_images", "mm_token_type_ids")
    shown = {key: made[key] for key in known if key in made}
    with torch.no_grad():
        logps, _, _ = trainer._get_per_token_logps_and_entropies(
            trainer.model, ids, mask, made["completion_ids"].size(1), batch_size=3, **shown
        )
    return logps.double().numpy(), made["completion_mask"].numpy() * made["tool_mask"].numpy()


@pytest.mark.parametrize("lora", [True, False])
def test_trl_computes_the_probabilities_that_were_sampled_with(seeing, tmp_path, lora):
    """Those of the policy that is trained and, at the start, of the reference beside it."""
    trainer, rollouts = trainer_of(seeing, tmp_path, lora=lora, kl=0.01)
    made = trainer._generate_and_score_completions(inputs_of(rollouts.tasks))
    logps, mask = scored(trainer, made)
    sampled = made["sampling_per_token_logps"].double().numpy()
    assert mask.sum() > 40
    assert np.abs((logps - sampled) * mask).max() < 1e-4
    reference = made["ref_per_token_logps"].double().numpy()
    assert np.abs((logps - reference) * mask).max() < 1e-4
    assert made["num_images"] == [1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 0, 0]
    shown = [p for row in rollouts.pictures for p in row]
    assert torch.equal(made["pixel_values"], torch.cat([p.pixels for p in shown]))


def test_with_the_pictures_swapped_the_probabilities_are_others(seeing, tmp_path):
    """Those of the first two tasks: were pictures and rows mixed up, this would show it."""
    same = [tiny_eyes.picture(*c, size=(24, 24)) for c in COLOURS]

    class Even(Gallery):
        def images(self, task):
            return (same[int(task.id[1:]) % 4],)

    env = Even(split="train", limits=Limits(turns=1))
    trainer, rollouts = trainer_of(seeing, tmp_path, env, TaskSet(list(env.tasks())[:4], "g"))
    made = trainer._generate_and_score_completions(inputs_of(rollouts.tasks))
    logps, mask = scored(trainer, made)
    patches = made["pixel_values"].view(8, -1, made["pixel_values"].shape[-1])
    swapped = torch.cat([patches[2:4], patches[:2], patches[4:]]).view(made["pixel_values"].shape)
    others, _ = scored(trainer, {**made, "pixel_values": swapped})
    gap = np.abs((logps - others) * mask).max(axis=1)
    assert (gap[:4] > 1e-2).all()
    assert gap[4:].max() == 0


class Drawing(Gallery):
    """The model's first turn is answered with a picture, whatever it says."""

    def images(self, task):
        return super().images(task) if task.id == "t0" else ()


def test_pictures_of_a_later_turn_are_trained_on_too(seeing, tmp_path, monkeypatch):
    real = policy.LocalSession.act

    async def act(self, messages):
        reply = await real(self, messages)
        if sum(m.role == "assistant" for m in messages) == 0:
            call = ToolCall("draw", '{"what": "a box"}', "1")
            return replace(reply, message=replace(reply.message, tool_calls=(call,)))
        return reply

    monkeypatch.setattr(policy.LocalSession, "act", act)
    env = Drawing(split="train", limits=Limits(turns=2))
    tasks = TaskSet(list(env.tasks())[:2], "g")
    trainer, rollouts = trainer_of(
        seeing,
        tmp_path,
        env,
        tasks,
        tasks_per_step=2,
        optimiser={"learning_rate": 1e-2, "batch": 4, "micro_batch": 2},
    )
    made = trainer._generate_and_score_completions(inputs_of(tasks))
    assert made["num_images"] == [2, 2, 1, 1]
    logps, mask = scored(trainer, made)
    sampled = made["sampling_per_token_logps"].double().numpy()
    assert np.abs((logps - sampled) * mask).max() < 1e-4
    ids = made["completion_ids"]
    placeholder = rollouts.trainee.eyes.token
    assert (ids == placeholder).sum(dim=1).tolist() == [8] * 4
    assert not (made["tool_mask"].bool() & (ids == placeholder)).any()


def test_a_redrawn_task_brings_its_own_picture(seeing, tmp_path):
    class Uneven(Gallery):
        def score(self, task, trajectory):
            found = super().score(task, trajectory)
            return found if task.id in ("t2", "t3") else {"reward": 0.5}

    env = Uneven(split="train", limits=Limits(turns=1))
    changes = {"drop_uniform": True, "redraws": 8, "tasks_per_step": 2}
    changes["optimiser"] = {"learning_rate": 1e-2, "batch": 4, "micro_batch": 2}
    trainer, rollouts = trainer_of(seeing, tmp_path, env, **changes)
    made = trainer._generate_and_score_completions(inputs_of(list(env.tasks())[:2]))
    drawn = [t.key.task for group in rollouts.last.groups for t in group]
    assert set(drawn) == {"t2", "t3"}
    see = rollouts.trainee.eyes.see
    wanted = [see(env.images(env.tasks()[name])[0]).pixels for name in drawn]
    assert torch.equal(made["pixel_values"], torch.cat(wanted))
    logps, mask = scored(trainer, made)
    assert np.abs((logps - made["sampling_per_token_logps"].double().numpy()) * mask).max() < 1e-4


def test_a_question_too_long_for_the_context_is_a_stand_in_without_pictures(seeing, tmp_path):
    class Long(Gallery):
        def tasks(self, split=None):
            tasks = list(super().tasks(split))
            return TaskSet([*tasks[:1], Task("t1", "x" * 500, "a", split="train")], "g")

    env = Long(split="train", limits=Limits(turns=1))
    trainer, _ = trainer_of(
        seeing,
        tmp_path,
        env,
        tasks_per_step=2,
        optimiser={"learning_rate": 1e-2, "batch": 4, "micro_batch": 2},
    )
    made = trainer._generate_and_score_completions(inputs_of(env.tasks()))
    assert made["num_images"] == [1, 1, 0, 0]
    assert (made["tool_mask"] * made["completion_mask"])[2:].sum() == 0
    logps, mask = scored(trainer, made)
    assert np.abs((logps - made["sampling_per_token_logps"].double().numpy()) * mask).max() < 1e-4


class VLLM:
    """TRL's ``VLLMGeneration`` (1.16), as far as it is asked: no vLLM has run this."""

    mode, generation_kwargs = "colocate", {"seed": 3}
    temperature, top_p, max_completion_length = 1.0, 1.0, 100

    def __init__(self):
        self.asked = []

    def sync_weights(self):
        pass

    def generate(self, prompts, images, num_generations):
        self.asked.append((prompts, images))
        return prompts, [[1, 2]] * len(prompts), [[[-1.0], [-2.0]]] * len(prompts), None


@pytest.mark.parametrize("mode", ["colocate", "server"])
def test_vllm_is_given_the_pictures_and_told_to_write_no_placeholder(seeing, mode):
    trainee = Trainee.load(make_recipe(seeing, STAGE).model)
    vllm = VLLM()
    vllm.mode = mode
    generators = VLLMGenerators(Ranks())
    generators.trainer = SimpleNamespace(
        state=SimpleNamespace(global_step=0), _last_loaded_step=0, vllm_generation=vllm
    )
    generator = generators.of(trainee, Sampling(max_tokens=4))
    token = trainee.eyes.token
    one, two = (
        trainee.eyes.see(tiny_eyes.picture(*c, size=s))
        for c, s in zip(COLOURS[:2], SIZES[:2], strict=True)
    )
    short = [[5, token], [6], [7, token, 8, token, 9]]
    long = [trainee.eyes.expand(ids, s) for ids, s in zip(short, shown_in(one, two), strict=True)]
    options = {"temperature": 1.0, "top_p": 1.0, "max_tokens": [4] * 3}
    written = generator.generate(long, [0] * 3, pictures=shown_in(one, two), **options)
    assert [c.logprobs for c in written] == [[-1.0, -2.0]] * 3
    generator.generate([[5], [6], [7]], [0] * 3, **options)
    # An engine in this process expands placeholders itself; a server is told where they are.
    assert vllm.asked == [
        (short if mode == "colocate" else long, [[one.image], None, [two.image, one.image]]),
        ([[5], [6], [7]], None),
    ]
    assert vllm.generation_kwargs == {"seed": 3, "bad_words": ["<|image_pad|>", "<|video_pad|>"]}


def shown_in(one, two):
    return [[one], [], [two, one]]


def rolled(seeing, env):
    """The model's own conversations, as `zephyrus.training.work` keeps them."""
    trainee = Trainee.load(make_recipe(seeing, STAGE, lora=False).model)
    policy = trainee.policy(Sampling(temperature=1.0, max_tokens=8))
    return trainee, list(rollout(env, policy, tasks=list(env.tasks()), progress=False))


def sft_of(trainee, seeing, folder, found, env, context=400):
    recipe = make_recipe(seeing, RSFT, lora=False)
    arguments = engine.arguments(recipe, recipe.stages[0], folder)
    arguments.max_length = context
    rows = [to_row(tokens_of(t, trainee.chat, env.tool_schemas())) for t in found]
    return engine.sft_trainer(trainee, rows, arguments, [], [shown(t) for t in found]), rows


def test_fine_tuning_sees_the_pictures_of_its_rows(seeing, tmp_path):
    """The loss of micro-batches of mixed rows, against plain passes of one row each."""
    env = Gallery(split="train", limits=Limits(turns=1))
    trainee, found = rolled(seeing, env)
    trainer, rows = sft_of(trainee, seeing, tmp_path, found, env)
    batch = trainer.data_collator(list(trainer.train_dataset))
    with torch.no_grad():
        loss = trainer.compute_loss(trainer.model, dict(batch)).item()
    expected = []
    plain = Trainee.load(make_recipe(seeing, STAGE, lora=False).model)
    for row, trajectory in zip(rows, found, strict=True):
        ids = torch.tensor([row["input_ids"]])
        seen = [plain.eyes.see(image) for image in trajectory.messages[1].images]
        options = (
            stacked(seen) | {"mm_token_type_ids": kinds(ids, plain.eyes.token)} if seen else {}
        )
        with torch.no_grad():
            logits = plain.model(input_ids=ids, **options).logits
        scores = logits[0, :-1].double().log_softmax(-1).gather(1, ids[0, 1:, None])[:, 0]
        expected.append(scores[torch.tensor(row["assistant_masks"][1:]).bool()])
    assert loss == pytest.approx(-torch.cat(expected).mean().item(), abs=1e-5)
    few = trainer.data_collator([trainer.train_dataset[5]])
    assert "pixel_values" not in few
    swapped = {**batch, "pixel_values": batch["pixel_values"].flip(0)}
    with torch.no_grad():
        assert abs(trainer.compute_loss(trainer.model, swapped).item() - loss) > 1e-3


def test_a_row_is_not_cut_within_a_picture(seeing):
    eyes = Trainee.load(make_recipe(seeing, STAGE).model).eyes
    images = [tiny_eyes.picture(*c, size=(24, 16)) for c in COLOURS[:2]]
    many, token = eyes.see(images[0]).tokens, eyes.token
    ids = [1, *[token] * many, 2, *[token] * many, 3, 4]
    row = {"input_ids": ids, "assistant_masks": [0] * (len(ids) - 1) + [1]}
    for most in range(1, len(ids) + 1):
        cut, left = fitting(row, images, eyes, most)
        assert cut["input_ids"] == ids[: len(cut["input_ids"])]
        assert len(cut["assistant_masks"]) == len(cut["input_ids"]) <= most
        assert cut["input_ids"].count(token) == many * len(left)
        assert most - len(cut["input_ids"]) < many


def test_a_folder_is_counted_with_its_eyes(seeing):
    trainee = Trainee.load(make_recipe(seeing, STAGE).model)
    trained, every = trainee.parameters
    size = size_of(str(seeing))
    assert (size.parameters, size.lora_width * 4) == (every - trained, trained)
