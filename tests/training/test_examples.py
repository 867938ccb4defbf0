"""What fine-tuning has a loss on, by decoding what TRL was given."""

import pytest

pytest.importorskip("trl", reason="needs the extra train")

from tiny_training import RSFT, ToyEnv, make_recipe

from zephyrus.limits import StopReason
from zephyrus.messages import Message, ToolCall
from zephyrus.policy.scripted import ScriptedPolicy
from zephyrus.rollouts import rollout
from zephyrus.training import engine
from zephyrus.training.examples import to_row, tokens_of
from zephyrus.training.trainee import Trainee
from zephyrus.trajectory import CallRecord, Key, Trajectory

IGNORED = -100


@pytest.fixture
def trainee(tiny_model):
    return Trainee.load(make_recipe(tiny_model, RSFT).model)


def trained_on(trainee, rollouts, tmp_path):
    """What the loss is on, and the whole of it, as text; from TRL's own dataset."""
    recipe = make_recipe("model", RSFT)
    schemas = ToyEnv().tool_schemas()
    rows = [to_row(tokens_of(t, trainee.chat, schemas)) for t in rollouts]
    arguments = engine.arguments(recipe, recipe.stages[0], tmp_path / "out")
    trainer = engine.sft_trainer(trainee, rows, arguments, [])
    batch = trainer.data_collator([trainer.train_dataset[i] for i in range(len(rows))])
    found = []
    for ids, labels in zip(batch["input_ids"], batch["labels"], strict=True):
        kept = [int(label) for label in labels if label != IGNORED]
        pad = trainee.tokenizer.pad_token_id
        whole = [int(token) for token in ids if token != pad]
        found.append((trainee.tokenizer.decode(kept), trainee.tokenizer.decode(whole)))
    return found


def test_the_loss_is_on_the_policys_turns_alone(trainee, tmp_path):
    env = ToyEnv(split="train")
    tasks = list(env.tasks())[:2]
    run = rollout(env, ScriptedPolicy(), tasks=tasks, output=tmp_path / "run", progress=False)
    run = sorted(run, key=lambda t: t.key)
    (kept, whole), (other, _) = trained_on(trainee, run, tmp_path)
    call = '\n<tool_call>{"name": "look", "arguments": {"at": "x"}}</tool_call>'
    assert kept == f"I look. {call}<|im_end|>it is 0.<|im_end|>"
    assert other == f"I look. {call}<|im_end|>it is 1.<|im_end|>"
    assert "x is there" in whole and "Say 0." in whole and "x is there" not in kept
    assert whole.count("<|im_start|>assistant\n") == 2


def test_reasoning_is_kept(trainee, tmp_path):
    rollout = Trajectory(Key("t", 0, 0), stop=StopReason.ANSWERED)
    rollout.messages = [
        Message("system", "Talk."),
        Message("user", "Say 4."),
        Message(
            "assistant", "", tool_calls=(ToolCall("look", "{}", "c1"),), reasoning="look first"
        ),
        Message("tool", "x is there", tool_call_id="c1", name="look"),
        Message("assistant", "4", reasoning="so it is 4"),
    ]
    ((kept, whole),) = trained_on(trainee, [rollout], tmp_path)
    assert "<think>\nlook first\n</think>" in kept
    assert "<think>\nso it is 4\n</think>\n\n4<|im_end|>" in kept
    assert "x is there" in whole
    assert "x is there" not in kept


def test_turns_whose_calls_all_failed_can_be_left_out(trainee):
    schemas = ToyEnv().tool_schemas()
    wrong = Message("assistant", "Oh.", tool_calls=(ToolCall("look", '{"at": 1}', "c0"),))
    half = Message(
        "assistant",
        tool_calls=(ToolCall("look", '{"at": 2}', "c1"), ToolCall("look", '{"at": "x"}', "c2")),
    )
    rollout = Trajectory(Key("t", 0, 0), stop=StopReason.ANSWERED)
    rollout.messages = [
        Message("user", "Say 4."),
        wrong,
        Message("tool", "Error: at", tool_call_id="c0"),
        half,
        Message("tool", "Error: at", tool_call_id="c1"),
        Message("tool", "x is there", tool_call_id="c2"),
        Message("assistant", "it is 4."),
    ]
    rollout.calls = [
        CallRecord(0, "look", '{"at": 1}', "invalid"),
        CallRecord(1, "look", '{"at": 2}', "invalid"),
        CallRecord(1, "look", '{"at": "x"}'),
    ]
    every = tokens_of(rollout, trainee.chat, schemas)
    some = tokens_of(rollout, trainee.chat, schemas, errors=False)
    assert every.ids == some.ids

    def written(tokens):
        kept = [i for i, ours in zip(tokens.ids, tokens.written, strict=True) if ours]
        return trainee.tokenizer.decode(kept)

    assert written(every).startswith("Oh.") and written(every).endswith(written(some))
    assert "Oh." not in written(some) and written(some).count("<tool_call>") == 2
    assert written(some).endswith("it is 4.<|im_end|>")
