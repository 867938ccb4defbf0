"""Sizes of models and the memory estimate, against counting by other means."""

import pytest

import zephyrus_curricula
from zephyrus.curriculum.read import read_recipe
from zephyrus.curriculum.sizes import KNOWN, ModelSize, memory, sees, size_of, trained_parameters

R1 = zephyrus_curricula.ZEPHYRUS_R1_4B
SIZE = ModelSize(1000, 10, 4, 50, 6, 30, "by hand")


def of(*changes, concurrency=2):
    recipe = read_recipe(R1, ["model={name: m, context: 7000}", *changes])
    return memory(recipe, recipe.stages[1], SIZE, concurrency)


def test_all_weights_in_16_bits():
    used = of()
    assert (used.weights, used.gradients, used.optimiser) == (2000, 2000, 4000)
    assert used.activations == 7000 * 10 * 2 * (17 * 4)
    assert used.logits == 2 * 7000 * 50 * 4
    assert used.cache == 2 * 7000 * 6 * 2
    assert used.reference == 0


def test_adapters_are_trained_in_32_bits():
    used = of("model.lora={rank: 2}")
    assert used.weights == 2000 + 60 * 4
    assert (used.gradients, used.optimiser) == (240, 480)


def test_what_else_changes_it():
    assert of("model.gradient_checkpointing=true").activations == 7000 * 10 * 2 * (4 + 17)
    assert of("stages.rl.optimiser.micro_batch=4").logits == 4 * of().logits
    assert of("model.dtype=float32").cache == 2 * of().cache
    assert of("stages.rl.kl=0.1").reference == 2000
    assert of("stages.rl.kl=0.1", "model.lora={}").reference == 0  # the adapter is switched off


def test_where_rollouts_take_their_memory():
    own, beside, within = (
        of(f"backend={backend}", concurrency=1000)
        for backend in ("transformers", "vllm-server", "vllm-colocate")
    )
    state = own.weights + own.gradients + own.optimiser
    work = own.activations + own.logits
    assert own.training() == state + own.cache  # more than the work of a step
    assert beside.training() == state + work
    assert within.training() == state + work + within.weights + within.cache
    assert beside.training(4) == state / 4 + work
    assert (own.serving, beside.serving) == (0, beside.weights + beside.cache)


def test_named_modules_are_not_guessed():
    recipe = read_recipe(R1, ["model.lora.targets=[q_proj]"])
    assert trained_parameters(recipe, SIZE) is None
    assert trained_parameters(read_recipe(R1), SIZE) == 32 * 30


def test_models_of_the_recipes_are_known_with_their_source():
    for path in vars(zephyrus_curricula).values():
        if hasattr(path, "suffix") and path.suffix == ".yaml":
            assert size_of(read_recipe(path).model.name).source
    assert size_of("some/model") is None


def test_a_folder_of_another_kind_is_unknown(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    assert size_of(str(tmp_path)) is None
    (tmp_path / "config.json").write_text("not json")
    assert size_of(str(tmp_path)) is None


def test_a_folder_is_counted_as_its_model_is(tmp_path):
    transformers = pytest.importorskip("transformers", reason="needs the extra local")
    peft = pytest.importorskip("peft", reason="needs the extra local")
    config = transformers.LlamaConfig(
        vocab_size=97,
        hidden_size=24,
        intermediate_size=40,
        num_hidden_layers=3,
        num_attention_heads=4,
        num_key_value_heads=2,
        tie_word_embeddings=False,
    )
    model = transformers.LlamaForCausalLM(config)
    model.save_pretrained(tmp_path)
    size = size_of(str(tmp_path))
    assert size.parameters == sum(p.numel() for p in model.parameters())
    assert (size.hidden, size.layers, size.vocabulary) == (24, 3, 97)
    assert size.cache == 2 * 2 * 6 * 3
    adapted = peft.get_peft_model(
        model, peft.LoraConfig(r=5, target_modules="all-linear", task_type="CAUSAL_LM")
    )
    recipe = read_recipe(R1, ["model.lora.rank=5"])
    trained = sum(p.numel() for p in adapted.parameters() if p.requires_grad)
    assert trained_parameters(recipe, size) == trained


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        (
            "Qwen/Qwen3.5-4B",
            {
                "hidden_size": 2560,
                "num_hidden_layers": 32,
                "num_attention_heads": 16,
                "num_key_value_heads": 4,
                "head_dim": 256,
                "intermediate_size": 9216,
                "vocab_size": 248320,
                "tie_word_embeddings": True,
                "linear_num_value_heads": 32,
                "linear_num_key_heads": 16,
            },
        ),
        (
            "Qwen/Qwen3.8-27B",
            {
                "hidden_size": 5120,
                "num_hidden_layers": 64,
                "num_attention_heads": 24,
                "num_key_value_heads": 4,
                "head_dim": 256,
                "intermediate_size": 17408,
                "vocab_size": 248320,
                "tie_word_embeddings": False,
                "linear_num_value_heads": 48,
                "linear_num_key_heads": 16,
            },
        ),
    ],
)
def test_the_table_agrees_with_the_published_shapes(name, changes):
    torch = pytest.importorskip("torch", reason="needs the extra local")
    transformers = pytest.importorskip("transformers", reason="needs the extra local")
    with torch.device("meta"):  # shapes without memory
        config = transformers.Qwen3_5TextConfig(**changes)
        model = transformers.AutoModelForCausalLM.from_config(config)
    size = KNOWN[name]
    assert size.parameters == sum(p.numel() for p in model.parameters())
    linear = [
        module
        for where, module in model.named_modules()
        if isinstance(module, torch.nn.Linear) and "lm_head" not in where
    ]
    assert size.lora_width == sum(m.in_features + m.out_features for m in linear)
    attending = config.layer_types.count("full_attention")
    assert size.cache == 2 * config.num_key_value_heads * config.head_dim * attending


def test_a_model_that_sees_is_counted_with_its_vision_tower():
    """The shapes in the config.json of Qwen2.5-VL-7B-Instruct."""
    torch = pytest.importorskip("torch", reason="needs the extra local")
    transformers = pytest.importorskip("transformers", reason="needs the extra local")
    text = {
        "hidden_size": 3584,
        "num_hidden_layers": 28,
        "num_attention_heads": 28,
        "num_key_value_heads": 4,
        "intermediate_size": 18944,
        "vocab_size": 152064,
    }
    vision = {"depth": 32, "hidden_size": 1280, "intermediate_size": 3420, "num_heads": 16}
    config = transformers.Qwen2_5_VLConfig(
        text_config=text, vision_config={**vision, "out_hidden_size": 3584}
    )
    with torch.device("meta"):
        model = transformers.Qwen2_5_VLForConditionalGeneration(config)
    size = KNOWN["Qwen/Qwen2.5-VL-7B-Instruct"]
    assert size.parameters == sum(p.numel() for p in model.parameters())
    assert size.eyes == sum(p.numel() for p in model.model.visual.parameters())
    linear = [m for m in model.model.modules() if isinstance(m, torch.nn.Linear)]
    assert size.lora_width == sum(m.in_features + m.out_features for m in linear)
    assert size.cache == 2 * 4 * (3584 // 28) * 28


def test_who_sees(tmp_path):
    assert sees("Qwen/Qwen2.5-VL-7B-Instruct") is True
    assert sees("smollm2-135m") is sees("Qwen/Qwen3.5-4B") is False
    assert sees("some/model") is sees(str(tmp_path)) is None
    (tmp_path / "config.json").write_text('{"model_type": "qwen2_5_vl"}')
    assert sees(str(tmp_path)) is True
    (tmp_path / "of").mkdir()
    base = f'{{"base_model_name_or_path": "{tmp_path.as_posix()}"}}'
    (tmp_path / "of" / "adapter_config.json").write_text(base)
    assert sees(str(tmp_path / "of")) is True
    (tmp_path / "config.json").write_text('{"model_type": "llama"}')
    assert sees(str(tmp_path / "of")) is False
