"""A step of supervised fine-tuning on a CPU, against TRL's trainer as it is.

A model of SmolLM2-135M's shape with random weights and a LoRA adapter, four conversations as the
recipe tiny has them: 380 tokens that all begin with, 600 in all, 90 of them trained on. Both are TRL's
SFTTrainer with the same settings; ours is spared what `zephyrus.training.savings` says.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from benchmarks.records import Bar, Record
from benchmarks.world import World

ROWS_AT_ONCE, SHARED, LENGTH, WRITTEN = 4, 380, 600, 90
SHAPE = {
    "vocab_size": 49152,
    "hidden_size": 576,
    "intermediate_size": 1536,
    "num_hidden_layers": 30,
    "num_attention_heads": 9,
    "num_key_value_heads": 3,
    "tie_word_embeddings": True,
}
SMALL = SHAPE | {"vocab_size": 4096, "hidden_size": 72, "num_hidden_layers": 2}


def rows(count: int, words: int) -> list[dict[str, list[int]]]:
    """Conversations of somewhat uneven lengths."""
    import numpy

    rng = numpy.random.default_rng(0)
    begin = rng.integers(5, words, SHARED).tolist()
    made = []
    for _ in range(count):
        length = LENGTH + int(rng.integers(-40, 40))
        ids = begin + rng.integers(5, words, length - SHARED).tolist()
        made.append({"input_ids": ids, "assistant_masks": [0] * (length - WRITTEN) + [1] * WRITTEN})
    return made


def seconds_a_step(shape: dict[str, Any], steps: int, save_work: Callable[[Any], None]) -> float:
    """The median of some steps after the first."""
    import torch
    from datasets import Dataset
    from peft import LoraConfig, get_peft_model
    from tokenizers import Tokenizer, models
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
    from trl import SFTConfig, SFTTrainer

    torch.set_num_threads(1)
    torch.manual_seed(0)
    words = {f"w{i}": i for i in range(shape["vocab_size"])}
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(models.WordLevel(words, "w0")), eos_token="w1", pad_token="w2"
    )
    lora = LoraConfig(r=12, lora_alpha=24, target_modules="all-linear", task_type="CAUSAL_LM")
    model = get_peft_model(LlamaForCausalLM(LlamaConfig(**shape)), lora)
    with tempfile.TemporaryDirectory() as folder:
        arguments = SFTConfig(
            output_dir=folder,
            max_steps=steps + 1,
            per_device_train_batch_size=ROWS_AT_ONCE,
            max_length=1024,
            use_cpu=True,
            bf16=False,
            gradient_checkpointing=False,
            save_strategy="no",
            report_to=[],
            disable_tqdm=True,
            dataloader_pin_memory=False,
        )
        trainer = SFTTrainer(
            model=model,
            args=arguments,
            train_dataset=Dataset.from_list(rows(ROWS_AT_ONCE * (steps + 1), len(words))),
            processing_class=tokenizer,
        )
        save_work(model)
        taken: list[float] = []
        step = trainer.training_step

        def timed(*args: Any, **kwargs: Any) -> Any:
            begin = time.perf_counter()
            found = step(*args, **kwargs)
            taken.append(time.perf_counter() - begin)
            return found

        trainer.training_step = timed
        trainer.train()
    return statistics.median(taken[1:])


def training(world: World) -> list[Record]:
    """A step of ours and a step of TRL's."""
    from zephyrus.training.savings import save_work

    what = f"fine-tuning step on a CPU, {ROWS_AT_ONCE} conversations of {LENGTH} tokens"
    bar = Bar("ratio", "least", 1.5)
    limits = "What is not shared by the conversations is computed as ever."
    # In a quick run too, where it is small: `absent` would leave it out.
    if find_spec("trl") is None:
        note = "trl is not installed: pip install 'zephyrus[train]'"
        return [Record("training", what, None, bar=bar, note=note, limits=limits)]
    shape, steps = (SMALL, 1) if world.quick else (SHAPE, 2)
    ours = seconds_a_step(shape, steps, save_work)
    theirs = seconds_a_step(shape, steps, lambda model: None)
    return [
        Record(
            "training",
            what,
            ours,
            alternative="TRL's SFTTrainer alone",
            theirs=theirs,
            sense="faster",
            bar=bar,
            note="135 M weights in float32 and a LoRA adapter; the same gradients",
            limits=limits,
        )
    ]


ROWS = {"training": training}
