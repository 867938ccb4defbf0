"""One short run of RSFT and RL, and whether it did what it should; see gpu_check.sh."""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from pathlib import Path
from typing import Any

from zephyrus.curriculum.read import to_recipe
from zephyrus.curriculum.recipe import Recipe
from zephyrus.curriculum.scheduler import Scheduler
from zephyrus.policy import make_policy
from zephyrus.rollouts import rollout
from zephyrus.training.work import TRLWork, environment

NEAR = 0.1
"""Nats that vLLM's log probability of a token may be from the trainer's, on average."""


def main() -> int:
    """Run and check; returns the exit code."""
    options = _options()
    recipe = make_recipe(options.model, options.backend, options.dtype, options.steps)
    began = time.monotonic()
    work = TRLWork(recipe, options.output, progress=False, concurrency=32)
    policy = Scheduler(recipe, options.output, work, tell=print).run()
    took = time.monotonic() - began
    wrong = 0
    for what, ok in (
        *checks(options.output, options.backend, options.steps),
        *uses(recipe, policy),
    ):
        print(f"{'ok   ' if ok else 'WRONG'} {what}")
        wrong += not ok
    print(f"{took:.0f} s{_memory()}")
    return 1 if wrong else 0


def make_recipe(model: str, backend: str, dtype: str, steps: int) -> Recipe:
    """A small recipe on the embedded world."""
    limits = {"turns": 3}
    sampling = {"temperature": 1.0, "max_tokens": 256 if steps > 2 else 16}
    held_out = {
        "tasks": {"env": "bench", "split": "validation", "n": 8, "limits": limits},
        "sampling": {**sampling, "temperature": 0.0},
        "every": steps,
        "choose": "last",
    }
    shared = {
        "tasks": {"env": "bench", "n": 16, "limits": limits},
        "sampling": sampling,
        "until": {"steps": steps},
        "evaluation": held_out,
    }
    rate = {"learning_rate": 1e-4, "micro_batch": 2}
    return to_recipe(
        {
            "name": "gpu-check",
            "model": {
                "name": model,
                "dtype": dtype,
                "context": 4096,
                "compact": True,
                "thinking": False,
                "lora": {"rank": 8, "alpha": 16},
            },
            "backend": backend,
            "stages": [
                {
                    "stage": "rsft",
                    "demonstrations": {},
                    "optimiser": {**rate, "batch": 4},
                    **shared,
                },
                {
                    "stage": "rl",
                    "group": 4,
                    "tasks_per_step": 2,
                    "kl": 0.01,
                    "optimiser": rate,
                    **shared,
                },
            ],
        },
        "gpu-check",
    )


def checks(folder: Path, backend: str, steps: int) -> list[tuple[str, bool]]:
    """What a run left behind, each with whether it is as it should be."""
    stages = folder / "stages"
    found = []
    for name in ("rsft", "rl"):
        rows = [json.loads(line) for line in (stages / name / "steps.jsonl").open(encoding="utf-8")]
        losses = [row["loss"] for row in rows]
        found.append((f"{name}: {steps} steps are logged", len(rows) == steps))
        found.append((f"{name}: losses {losses} are finite", all(map(math.isfinite, losses))))
        if name == "rl":
            many = [row["rollouts"] for row in rows]
            found.append((f"rl: {many} rollouts, all scored", many == [8] * steps))
            found.append(
                (f"rl: begins at the reference, kl {rows[0]['kl']:.4f}", rows[0]["kl"] < NEAR)
            )
            speed = sum(row["tokens_per_second"] for row in rows) / len(rows)
            found.append((f"rl: {speed:.0f} tokens a second", speed > 0))
            if backend != "transformers":
                apart = [row.get("sampling_difference", math.inf) for row in rows]
                found.append(
                    (
                        f"rl: vLLM's log probabilities are {apart} from the trainer's",
                        max(apart) < NEAR,
                    )
                )
            flat = all(row["uniform_groups"] == 1 for row in rows)
            # Without a difference only the divergence's rounding moves the adapter: it must stay near.
            trained = _differ(stages / "rsft" / "chosen", stages / "rl" / "chosen")
            furthest = max(row["kl"] for row in rows)
            found.append(
                (
                    f"rl: no reward differed, kl at most {furthest:.4f}"
                    if flat
                    else "rl: the adapter was trained on",
                    furthest < NEAR if flat else trained,
                )
            )
        else:
            found.append(("rsft: the adapter is trained", _is_trained(stages / name / "chosen")))
    return found


def uses(recipe: Recipe, policy: Path | None) -> list[tuple[str, bool]]:
    """Whether what came out can be used as a policy."""
    if policy is None:
        return [("a policy came out", False)]
    tasks = recipe.stages[0].evaluation.tasks
    env = environment(tasks, compact=recipe.model.compact)
    some = list(env.tasks())[:2]
    run = rollout(env, make_policy(str(policy)), tasks=some, output=policy.parent / "used")
    return [(f"{policy} answers questions", len(run) == 2)]


def _is_trained(folder: Path) -> bool:
    """Whether an adapter changes anything: B of A times B is zero where training begins."""
    from safetensors.torch import load_file

    weights = load_file(folder / "adapter_model.safetensors")
    return any(bool(value.abs().sum() > 0) for name, value in weights.items() if "lora_B" in name)


def _differ(one: Path, two: Path) -> bool:
    from safetensors.torch import load_file

    first, second = (load_file(folder / "adapter_model.safetensors") for folder in (one, two))
    return any(not first[name].equal(second[name]) for name in first)


def _memory() -> str:
    import torch

    if not torch.cuda.is_available():
        return ""
    return f", {torch.cuda.max_memory_allocated() / 2**30:.1f} GiB of GPU memory at most (vLLM's own apart)"


def _options() -> Any:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True)
    parser.add_argument("--backend", default="transformers")
    parser.add_argument("--dtype", default="bfloat16")
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--output", type=Path, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
