"""Pictures in conversations: their tokens, what is sampled behind them, and who can't see them."""

import dataclasses
import json
import shutil

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs the extra local")
pytest.importorskip("transformers", reason="needs the extra local")

import tiny_eyes
import tiny_model
import torch

from zephyrus.env import ToolEnv
from zephyrus.errors import UserError
from zephyrus.local import models
from zephyrus.local.chat import Chat
from zephyrus.local.generate import Generator, choose
from zephyrus.local.pictures import Eyes, kinds, stacked
from zephyrus.local.policy import LocalPolicy
from zephyrus.messages import Message, ToolCall
from zephyrus.task import Task, TaskSet

RED, BLUE = tiny_eyes.picture(200, 30, 10), tiny_eyes.picture(10, 30, 200, size=(24, 32))


@pytest.fixture(scope="module")
def folder(one_thread, tmp_path_factory):
    return tiny_eyes.make_seeing(tmp_path_factory.mktemp("seeing") / "model")


@pytest.fixture(scope="module")
def loaded(folder):
    return models.load(folder, dtype="float32")


@pytest.fixture(scope="module")
def chat(loaded):
    return Chat(loaded[1])


def question(text, *images):
    return [Message("system", "Look."), Message("user", text, images=images)]


def test_a_model_that_sees_is_loaded_with_its_eyes_and_saved_with_them(folder, loaded, tmp_path):
    model, eyes = loaded
    assert type(model).__name__ == "Qwen2_5_VLForConditionalGeneration"
    assert isinstance(eyes, Eyes)
    assert eyes.image_processor.patch_size == 4
    model.save_pretrained(tmp_path / "again")
    eyes.save_pretrained(tmp_path / "again")
    other, again = models.load(tmp_path / "again", dtype="float32")
    assert torch.equal(again.see(RED).pixels, eyes.see(RED).pixels)
    for one, two in zip(model.parameters(), other.parameters(), strict=True):
        assert torch.equal(one, two)


def test_the_template_of_a_processor_is_found(folder, tmp_path):
    """Older models of the hub have it in a file of its own, beside a tokenizer that may know text only."""
    shutil.copytree(folder, tmp_path / "old")
    (tmp_path / "old" / "chat_template.jinja").write_text(tiny_model.CHATML, encoding="utf-8")
    assert models.load(tmp_path / "old")[1].tokenizer.chat_template == tiny_model.CHATML
    told = json.dumps({"chat_template": tiny_eyes.TEMPLATE})
    (tmp_path / "old" / "chat_template.json").write_text(told, encoding="utf-8")
    assert models.load(tmp_path / "old")[1].tokenizer.chat_template == tiny_eyes.TEMPLATE


def test_a_model_with_other_eyes_is_refused(folder, tmp_path):
    transformers = pytest.importorskip("transformers")
    tokenizer = tiny_eyes.make_tokenizer()
    tokenizer.save_pretrained(tmp_path)
    transformers.LlavaConfig().save_pretrained(tmp_path)
    with pytest.raises(UserError, match="models of the kind llava are not read here"):
        models.load(tmp_path)


def oracle(eyes, text, images):
    """The tokens as transformers' own rule has them: one for four patches, written out as text."""
    sizes = iter(eyes.see(image).image.size for image in images)
    pieces = text.split("<|image_pad|>")
    made = pieces[0]
    for piece in pieces[1:]:
        width, height = next(sizes)
        patches = eyes.image_processor.get_number_of_image_patches(height, width, {})
        made += "<|image_pad|>" * (patches // 4) + piece
    return eyes.tokenizer(made, add_special_tokens=False)["input_ids"]


def test_a_picture_takes_as_many_tokens_as_it_has_fours_of_patches(chat, loaded):
    shown = (RED, BLUE)
    text = (
        "<|im_start|>system\nLook.<|im_end|>\n<|im_start|>user\nWhich?"
        + "<|vision_start|><|image_pad|><|vision_end|>" * 2
        + "<|im_end|>\n<|im_start|>assistant\n"
    )
    ids = chat.begin(question("Which?", *shown), ())
    assert ids == oracle(loaded[1], text, shown)
    counts = [picture.tokens for picture in chat.pictures(question("", *shown))]
    assert sum(token == loaded[1].token for token in ids) == sum(counts)
    assert counts[0] != counts[1]


def test_a_conversation_with_pictures_in_a_later_turn_is_the_template_s_own(chat, loaded):
    """Turn by turn as in one piece: the template of Qwen2.5-VL knows no tools."""
    call = ToolCall("draw", "{}", "1")
    schemas = [{"type": "function", "function": {"name": "draw", "description": "Draw."}}]
    first = question("Draw.", RED)
    seen = [
        Message("tool", "Done.", tool_call_id="1", name="draw"),
        Message("user", "", images=(BLUE,)),
    ]
    said = Message("assistant", "I draw.", tool_calls=(call,))
    ids = chat.begin(first, schemas)
    ids += chat.turn([*first, said], schemas)
    ids += chat.observe(seen, schemas, ended=True)
    rendered = chat._render([*first, said, *seen], schemas, head=True)
    assert ids == oracle(loaded[1], rendered, (RED, BLUE))


def test_a_text_can_t_bring_a_placeholder(chat, loaded):
    text = "<|vision_start|><|image_pad|><|vision_end|> <|video_pad|> <|im_end|>"
    ids = chat.begin(question(text, RED), ())
    plain = chat.begin(question("", RED), ())
    special = loaded[1].tokenizer.convert_tokens_to_ids(tiny_eyes.SPECIAL)
    assert [i for i in ids if i in special] == [i for i in plain if i in special]


def test_a_template_that_leaves_a_picture_out_is_refused(loaded):
    eyes = loaded[1]
    blind = tiny_eyes.make_tokenizer(
        tiny_eyes.TEMPLATE.replace("<|vision_start|><|image_pad|><|vision_end|>", "")
    )
    chat = Chat(Eyes(blind, eyes.image_processor, tiny_eyes.make_config(blind)))
    with pytest.raises(UserError, match="shows 0 of 1 pictures: choose another template"):
        chat.begin(question("Which?", RED), ())


def test_what_is_no_picture_is_refused(loaded):
    with pytest.raises(UserError, match="the picture 'broken' can't be shown"):
        loaded[1].see(dataclasses.replace(RED, png=RED.png[:40], alt="broken"))


def logprobs(model, eyes, prompt, pictures, written):
    """Of what was written, by one plain forward pass without padding: the oracle."""
    ids = torch.tensor([[*prompt, *written]])
    with torch.no_grad():
        seen = (
            {"mm_token_type_ids": kinds(ids, eyes.token), **stacked(pictures)} if pictures else {}
        )
        output = model(input_ids=ids, attention_mask=torch.ones_like(ids), **seen)
    scores = output.logits[0, len(prompt) - 1 : -1].double().log_softmax(dim=-1)
    return scores.gather(1, torch.tensor(written)[:, None])[:, 0].numpy()


def sample(model, chat, asked, temperature=1.0, most=12):
    prompts = [chat.begin(messages, ()) for messages in asked]
    pictures = [chat.pictures(messages) for messages in asked]
    generator = Generator(model, chat.stops)
    found = generator.generate(
        prompts,
        list(range(len(asked))),
        temperature=temperature,
        top_p=1.0,
        max_tokens=[most] * len(asked),
        pictures=pictures,
    )
    return prompts, pictures, found


@pytest.mark.parametrize("kind", ["qwen2_5_vl", "qwen2_vl"])
def test_a_batch_is_sampled_with_the_probabilities_of_a_plain_pass(kind, tmp_path):
    """Prompts of other lengths, with one picture, two and none, padded on the left."""
    model, eyes = models.load(tiny_eyes.make_seeing(tmp_path, kind=kind), dtype="float32")
    chat = Chat(eyes)
    asked = [
        question("Which colour is it?", RED),
        question("And", BLUE, RED),
        question("Nothing to see, and a longer text about it."),
        question("x", BLUE),
    ]
    text = [question("Nothing at all."), question("Nothing, and nothing else.")]
    for batch in (asked, text):  # those of text have another way, which must not heed the pictures
        for prompt, shown, written in zip(*sample(model, chat, batch), strict=True):
            expected = logprobs(model, eyes, prompt, shown, written.ids)
            assert np.abs(expected - written.logprobs).max() < 1e-4


def test_another_picture_changes_what_is_said(loaded, chat):
    model, eyes = loaded
    other = tiny_eyes.picture(20, 220, 30)
    prompts, pictures, found = sample(model, chat, [question("Which?", RED)])
    swapped = chat.pictures(question("", other))
    assert [p.tokens for p in swapped] == [p.tokens for p in pictures[0]]
    mine = logprobs(model, eyes, prompts[0], pictures[0], found[0].ids)
    theirs = logprobs(model, eyes, prompts[0], swapped, found[0].ids)
    assert np.abs(mine - theirs).max() > 1e-2


def test_greedy_it_is_what_transformers_generates(loaded, chat):
    model, eyes = loaded
    prompts, pictures, found = sample(model, chat, [question("Which?", RED)], temperature=0.0)
    ids = torch.tensor([prompts[0]])
    told = model.generate(
        input_ids=ids,
        attention_mask=torch.ones_like(ids),
        mm_token_type_ids=kinds(ids, eyes.token),
        **stacked(pictures[0]),
        max_new_tokens=len(found[0].ids),
        do_sample=False,
        suppress_tokens=list(eyes.never),
    )
    assert told[0, len(prompts[0]) :].tolist() == found[0].ids


def test_a_placeholder_is_never_drawn_and_counts_in_the_probabilities():
    logits = torch.tensor([[2.0, 9.0, 1.0]])
    drawn = {choose(logits, [p], 1.0, 1.0, (1,))[0][0] for p in np.linspace(0, 0.999, 50)}
    assert drawn == {0, 2}
    chosen, scores = choose(logits, [0.1], 0.0, 1.0, (1,))
    assert chosen == [0]
    assert scores[0] == pytest.approx(float(logits.double().log_softmax(-1)[0, 0]))
    assert choose(logits, [0.999], 1.0, 0.2, (1,))[0] != [1]


class Gallery(ToolEnv):
    """Which picture is it?"""

    name = "gallery"

    def tasks(self, split=None):
        return TaskSet([Task("one", "Which?", gold="a", split="test")], "gallery")

    def world(self, task):
        return {}

    def images(self, task):
        return (RED,)

    def system_prompt(self):
        return "Look."

    def read_answer(self, text):
        return text

    def score(self, task, trajectory):
        return {"reward": 0.0}


def roll(policy):
    from zephyrus.rollouts import rollout

    env = Gallery()
    return next(iter(rollout(env, policy, tasks=list(env.tasks()), progress=False)))


def test_a_policy_sees_what_its_tokens_show(folder, loaded, chat, capsys):
    policy = LocalPolicy(folder, max_tokens=6, dtype="float32", keep_tokens=True)
    done = roll(policy)
    tokens = policy.tokens[done.key]
    shown = [picture for _, picture in tokens.pictures]
    assert [p.tokens for p in shown] == [sum(t == loaded[1].token for t in tokens.ids)]
    first = tokens.written.index(True)
    expected = logprobs(loaded[0], loaded[1], tokens.ids[:first], shown, tokens.ids[first:])
    assert np.abs(expected - tokens.logprobs[first:]).max() < 1e-4
    assert "reads text alone" not in capsys.readouterr().err


def test_a_model_of_text_is_told_the_title_and_says_so_once(model, tokenizer, capsys):
    policy = LocalPolicy("blind", max_tokens=4, loaded=(model, tokenizer), keep_tokens=True)
    done = roll(policy)
    assert "not visible to this model: a picture" in tokenizer.decode(policy.tokens[done.key].ids)
    assert policy.tokens[done.key].pictures == []
    roll(policy)
    told = capsys.readouterr().err
    assert told.count("the model blind reads text alone: of each picture it is told the title") == 1


def test_an_adapter_of_a_model_that_sees_acts_merged_and_keeps_its_eyes(folder, tmp_path):
    peft = pytest.importorskip("peft", reason="needs the extra train")
    model, eyes = models.load(folder, dtype="float32", trainable=True)
    torch.manual_seed(3)
    adapted = peft.get_peft_model(model, peft.LoraConfig(r=4, target_modules="all-linear"))
    with torch.no_grad():
        for name, weight in adapted.named_parameters():
            if "lora_B" in name:
                weight.normal_(std=0.2)
    chat = Chat(eyes)
    prompts, pictures, found = sample(adapted, chat, [question("Which?", RED)])  # by its twin
    expected = logprobs(adapted, eyes, prompts[0], pictures[0], found[0].ids)
    assert np.abs(expected - found[0].logprobs).max() < 1e-4
    adapted.save_pretrained(tmp_path)
    eyes.save_pretrained(tmp_path)
    merged, again = models.load(tmp_path, dtype="float32")
    assert isinstance(again, Eyes)
    acted = logprobs(merged, again, prompts[0], pictures[0], found[0].ids)
    assert np.abs(expected - acted).max() < 1e-4
