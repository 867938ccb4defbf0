"""How large a model is, and how much memory training it takes: an estimate, its formula stated."""

from __future__ import annotations

import json
import math
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zephyrus.curriculum.recipe import RSFT, Recipe, Stage
from zephyrus.local.models import ADAPTER, base_of
from zephyrus.local.pictures import SEEING

GB = 1e9

FORMULA = """\
weights      N × b, and the adapters
gradients    P × a
optimiser    2 × P × a (AdamW's two moments)
reference    N × b where kl > 0 and all weights are trained
activations  T × h × b × (17 × L), with gradient checkpointing T × h × b × (L + 17)
logits       2 × T × V × 4 (in 32 bits, and their gradient)
cache        C × context × K × b (keys and values of the open conversations)
N parameters, P of them trained (LoRA: rank × the sum of inputs and outputs of the linear layers); b
bytes of a weight, a of a trained one (adapters are kept in 32 bits); T = micro_batch × context tokens;
h hidden size, L layers, V vocabulary, K values of the cache a token; C open conversations.
17 values a layer, token and hidden unit: Korthikanti et al. 2022 (arXiv 2205.05198), without the
attention matrix, which fused attention does not keep. Every conversation is taken to be as long as the
context; frameworks add one to three GB of their own. A model's eyes count in N and P, their activations
do not (a chart of 1,564 patches in Qwen2.5-VL-7B: 0.4 GB with gradient checkpointing, 4 GB without, in 32
bits)."""
"""What `memory` computes."""


@dataclass(frozen=True)
class ModelSize:
    """The sizes of a causal language model.

    Attributes:
        parameters: All; of a model that is loaded without its eyes those of the language part.
        hidden: Hidden size.
        layers: Transformer blocks.
        vocabulary: Entries of the output layer.
        cache: Values of keys and values that a token leaves in the cache, over all layers that
            attend to the past.
        lora_width: Sum of inputs and outputs of all linear layers but the output layer.
        source: Where this is from.
        eyes: Those of the parameters that see; 0 where it is loaded as a model of text.
    """

    parameters: int
    hidden: int
    layers: int
    vocabulary: int
    cache: int
    lora_width: int
    source: str
    eyes: int = 0


_SMOLLM2 = ModelSize(
    134_515_008, 576, 30, 49_152, 2 * 3 * 64 * 30, 305_280, "counted from its config.json"
)

KNOWN = {
    "smollm2-135m": _SMOLLM2,
    "HuggingFaceTB/SmolLM2-135M-Instruct": _SMOLLM2,
    "Qwen/Qwen3.5-4B": ModelSize(
        4_205_751_296,
        2560,
        32,
        248_320,
        2 * 4 * 256 * 8,  # one layer of four attends, the others are Gated DeltaNet
        2_029_056,
        "the language part, counted in transformers from the sizes that are published for it",
    ),
    "Qwen/Qwen3.8-27B": ModelSize(
        26_895_998_464,
        5120,
        64,
        248_320,
        2 * 4 * 256 * 16,
        7_295_488,
        "the language part, taken to have the shape of Qwen3.6-27B; not verified",
    ),
    "Qwen/Qwen2.5-VL-7B-Instruct": ModelSize(
        8_292_166_656,
        3584,
        28,
        152_064,
        2 * 4 * 128 * 28,
        3_239_040,
        "counted in transformers from the sizes that are published for it, vision tower included",
        eyes=676_550_144,
    ),
}
"""Sizes of the models that the shipped recipes name."""


@dataclass(frozen=True)
class Memory:
    """What a stage takes, in bytes; see `FORMULA`.

    Attributes:
        weights: Of the model and its adapters.
        gradients: Of what is trained.
        optimiser: Its state.
        reference: The initial policy's weights.
        activations: Of one micro-batch.
        logits: Of one micro-batch.
        cache: Of the conversations that are open during rollouts.
        backend: Of the recipe.
    """

    weights: float
    gradients: float
    optimiser: float
    reference: float
    activations: float
    logits: float
    cache: float
    backend: str

    def training(self, shards: int = 1) -> float:
        """The peak on a device that trains.

        Args:
            shards: Devices that weights, gradients and optimiser state are shared out over (FSDP).
        """
        state = (self.weights + self.gradients + self.optimiser + self.reference) / shards
        work = self.activations + self.logits
        if self.backend == "transformers":  # rollouts and optimiser steps take turns
            return state + max(work, self.cache)
        if self.backend == "vllm-colocate":
            return state + work + self.weights + self.cache
        return state + work

    @property
    def serving(self) -> float:
        """The peak of a vLLM server beside it; 0 where there is none."""
        return self.weights + self.cache if self.backend == "vllm-server" else 0.0


def size_of(name: str) -> ModelSize | None:
    """The sizes of a model: from its folder, or from the table of known ones; None if unknown."""
    folder = Path(name).expanduser()
    if (folder / "config.json").is_file():
        return _from_folder(folder)
    return KNOWN.get(name)


def sees(name: str) -> bool | None:
    """Whether a model is loaded with eyes; None if that shows only when it is loaded."""
    if name in KNOWN:
        return KNOWN[name].eyes > 0
    folder = Path(name).expanduser()
    if (folder / ADAPTER).is_file():
        return sees(base_of(folder))
    try:
        kind = json.loads((folder / "config.json").read_text("utf-8"))["model_type"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return kind in SEEING


def trained_parameters(recipe: Recipe, size: ModelSize) -> int | None:
    """How many parameters a recipe trains; None if it adapts modules that it names."""
    lora = recipe.model.lora
    if lora is None:
        return size.parameters
    return lora.rank * size.lora_width if lora.targets == "all-linear" else None


def memory(recipe: Recipe, stage: Stage, size: ModelSize, concurrency: int) -> Memory:
    """The memory that a stage takes.

    Args:
        recipe: The recipe.
        stage: One of its stages.
        size: Of the model.
        concurrency: Episodes that are open at one time.
    """
    model = recipe.model
    b = 2 if model.dtype == "bfloat16" else 4
    a = b if model.lora is None else 4
    trained = trained_parameters(recipe, size) or 0
    tokens = stage.optimiser.micro_batch * model.context
    depth = size.layers + 17 if model.gradient_checkpointing else 17 * size.layers
    with_reference = not isinstance(stage, RSFT) and stage.kl > 0 and model.lora is None
    return Memory(
        weights=size.parameters * b + (trained * a if model.lora else 0),
        gradients=trained * a,
        optimiser=2 * trained * a,
        reference=size.parameters * b if with_reference else 0,
        activations=tokens * size.hidden * b * depth,
        logits=2 * tokens * size.vocabulary * 4,
        cache=concurrency * model.context * size.cache * b,
        backend=recipe.backend,
    )


def _from_folder(folder: Path) -> ModelSize | None:
    """Read the sizes from a Hugging Face folder, without loading any weights."""
    try:
        config = json.loads((folder / "config.json").read_text("utf-8"))
        text = config.get("text_config", config)
        shapes = [shape for file in folder.glob("*.safetensors") for shape in _shapes(file)]
        heads = text["num_attention_heads"]
        kinds = text.get("layer_types") or ["full_attention"] * text["num_hidden_layers"]
        width = text.get("head_dim") or text["hidden_size"] // heads
        attending = sum(kind != "linear_attention" for kind in kinds)
        return (
            ModelSize(
                parameters=sum(math.prod(shape) for _, shape in shapes),
                hidden=text["hidden_size"],
                layers=text["num_hidden_layers"],
                vocabulary=text["vocab_size"],
                cache=2 * (text.get("num_key_value_heads") or heads) * width * attending,
                lora_width=sum(sum(shape) for name, shape in shapes if _is_linear(name, shape)),
                source=f"counted in {folder}",
            )
            if shapes
            else None
        )
    except (OSError, ValueError, KeyError, TypeError, struct.error):
        return None  # not a folder of the usual form: its size is not known


def _shapes(file: Path) -> list[tuple[str, list[int]]]:
    """Names and shapes of the tensors in a safetensors file, from its header."""
    with file.open("rb") as opened:
        (length,) = struct.unpack("<Q", opened.read(8))
        header: dict[str, Any] = json.loads(opened.read(length))
    return [(name, row["shape"]) for name, row in header.items() if name != "__metadata__"]


def _is_linear(name: str, shape: list[int]) -> bool:
    others = ("embed", "lm_head")
    return len(shape) == 2 and name.endswith(".weight") and not any(o in name for o in others)
