"""A random language model of 60,000 weights, an environment it gets uneven rewards in, a recipe.

The whole route with them is real in every part (TRL, PEFT, our own sampling), and a step takes a
fraction of a second.
"""

from __future__ import annotations

from pathlib import Path

from zephyrus.curriculum.read import to_recipe
from zephyrus.env import ToolEnv
from zephyrus.messages import Message, ToolCall
from zephyrus.registry import register
from zephyrus.task import Task, TaskSet
from zephyrus.tools import Tool

TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content or '' }}"
    "<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def look(at: str) -> str:
    """Look.

    Args:
        at: Where.
    """
    return f"{at} is there"


class ToyEnv(ToolEnv):
    """A text of an even length is the answer; what it is worth depends on its letters."""

    name = "toy"

    def __init__(self, **options):
        super().__init__(**{"tools": (Tool(look),), **options})

    def tasks(self, split=None):
        split = split or self.split
        return TaskSet(
            [
                Task(
                    f"{split}-{i}",
                    f"Say {i}.",
                    gold=str(i),
                    split=split,
                    template=f"kind{i % 2}",
                    required_tools=("look",),
                )
                for i in range(10)
            ],
            "toy",
        )

    def world(self, task):
        return {}

    def system_prompt(self):
        return "Talk."

    def read_answer(self, text):
        return text if len(text) % 2 == 0 else None

    def score(self, task, trajectory):
        text = trajectory.answer or ""
        share = (lambda kept: sum(map(kept, text)) / len(text)) if text else (lambda kept: 0.0)
        low, high = share(lambda c: c < "P"), share(str.islower)
        score = float(trajectory.succeeded("look")) or low
        return {
            "score": score,
            "rubric": low,
            "f1": high,
            "length_penalty": len(text) / 100,
            "reward": score,
        }

    def script(self, task):
        yield Message("assistant", "I look. ", tool_calls=(ToolCall("look", '{"at": "x"}'),))
        yield Message("assistant", f"it is {task.gold}.")

    def sample_answer(self, task, rng):
        return "ab"


def make_model(folder: Path) -> Path:
    """A folder with a random model and a byte-level tokenizer; always the same."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    special = ["<|im_start|>", "<|im_end|>", "<|pad|>"]
    bpe = Tokenizer(models.BPE({c: i for i, c in enumerate(letters)}, []))
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    bpe.add_special_tokens(special)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=bpe, eos_token=special[1], pad_token=special[2]
    )
    tokenizer.chat_template = TEMPLATE
    torch.manual_seed(0)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=2,
            num_key_value_heads=1,
            max_position_embeddings=8192,
            bos_token_id=None,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
            tie_word_embeddings=True,
        )
    )
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def register_toy() -> None:
    """Make the environment known as "toy"."""
    register("envs", "toy", ToyEnv)


def held_out(**changes):
    """An evaluation on four tasks."""
    tasks = {"env": "toy", "split": "validation", "n": 4, "limits": {"turns": 2}}
    sampling = {"temperature": 1.0, "max_tokens": 8}  # greedy, it says one letter for ever
    return {"tasks": tasks, "every": 2, "subset": 2, "sampling": sampling, **changes}


RSFT = {
    "stage": "rsft",
    "tasks": {"env": "toy", "n": 8, "limits": {"turns": 2}},
    "repeats": 2,
    "sampling": {"temperature": 1.0, "max_tokens": 8},
    "keep": {"at_least": 0.3, "per_task": 1},
    "demonstrations": {"share": 0.5},
    "optimiser": {"learning_rate": 1e-2, "batch": 2, "micro_batch": 1},
    "until": {"steps": 5},
    "evaluation": held_out(choose="last"),
}
RL = {
    "stage": "rl",
    "tasks": {"env": "toy", "n": 5, "limits": {"turns": 2}},
    "group": 3,
    "tasks_per_step": 2,
    "sampling": {"temperature": 1.0, "max_tokens": 8},
    "optimiser": {"learning_rate": 1e-2, "batch": 6, "micro_batch": 3},
    "kl": 0.01,
    "drop_uniform": True,
    "until": {"steps": 5},
    "evaluation": held_out(),
}
REPORT_RL = {
    **RL,
    "stage": "report_rl",
    "weights": {"strategy": "dvao", "warmup": 1},
    "length_penalty": 0.5,
    "updates": 2,
    "drop_uniform": False,
    "evaluation": held_out(metric="rubric", choose="last", subset=None),
}


def make_recipe(model: Path, *stages, lora: bool = True, **changes):
    """A recipe of some stages, by default of all three."""
    spec = {"name": str(model), "dtype": "float32", "context": 400}
    spec |= {"lora": {"rank": 4, "alpha": 8, "dropout": 0.1}} if lora else {}
    return to_recipe(
        {"name": "tiny", "model": spec, "stages": list(stages or (RSFT, RL, REPORT_RL)), **changes},
        "tiny",
    )
