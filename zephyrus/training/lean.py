"""RL that computes nothing for rollouts that teach nothing, with the same gradient.

A group whose rollouts are all worth the same has advantages of 0. TRL computes its rows all the same,
and they are most of a step where a policy is nearly always right, or wrong: of tiny-long's groups of 4 at
a temperature of 0.6, 81 to 94 % were uniform.
"""

from __future__ import annotations

from typing import Any

import torch
from trl import GRPOTrainer


class LeanTrainer(GRPOTrainer):  # type: ignore[misc]  # TRL has no types here
    """A ``GRPOTrainer`` that leaves rows without an advantage out, where the loss allows it.

    It does so where each row's part of the loss is a sum of its own, divided by a number that holds for
    the whole step (``dapo``), that has no other term, in one process, and with one update a step. The
    entropy that is told is then that of the other rows.
    """

    _buffered_inputs: Any  # TRL's: the micro-batches of a step

    @property
    def _is_lean(self) -> bool:
        return (
            self.loss_type == "dapo"
            and not self.beta
            and not self._entropy_bonus_enabled
            and self.top_entropy_quantile == 1.0
            and not self.aux_loss_enabled
            and self.off_policy_mask_threshold is None
            and self.num_iterations == 1
            and self.accelerator.num_processes == 1
            and self.args.steps_per_generation == self.args.gradient_accumulation_steps
        )

    def _prepare_inputs(self, generation_batch: Any) -> dict[str, Any]:
        """TRL's; the rows that count come together, so that the rest fills micro-batches of its own."""
        known = self._buffered_inputs
        inputs: dict[str, Any] = super()._prepare_inputs(generation_batch)
        if self._is_lean and self.model.training and self._buffered_inputs is not known:
            self._buffered_inputs = together(self._buffered_inputs)
            inputs = self._buffered_inputs[self._step % self.args.steps_per_generation]
        return inputs

    def _compute_loss(self, model: Any, inputs: dict[str, Any]) -> torch.Tensor:
        """TRL's, of the rows that count."""
        if not self._is_lean or not self.model.training:
            return super()._compute_loss(model, inputs)
        counts = inputs["advantages"] != 0
        if not bool(counts.any()):
            # Gradients of 0, and not none: an optimiser goes on by its momentum.
            weights = (weight for weight in model.parameters() if weight.requires_grad)
            return torch.stack([(weight * 0).sum() for weight in weights]).sum()
        return super()._compute_loss(model, chosen(inputs, counts))


def together(batches: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Micro-batches of the same rows and sizes, those with an advantage first."""
    sizes = [len(batch["advantages"]) for batch in batches]
    whole = {
        key: torch.cat([batch[key] for batch in batches]) if _is_of_rows(batches[0], key) else value
        for key, value in batches[0].items()
    }
    order = (whole["advantages"] == 0).long().argsort(stable=True)
    return [chosen(whole, rows) for rows in order.split(sizes)]


def chosen(batch: dict[str, Any], rows: torch.Tensor) -> dict[str, Any]:
    """Some rows of a batch, by a mask or their places; what belongs to no row stays."""
    return {key: value[rows] if _is_of_rows(batch, key) else value for key, value in batch.items()}


def _is_of_rows(batch: dict[str, Any], key: str) -> bool:
    value = batch[key]
    rows = len(batch["advantages"])
    return isinstance(value, torch.Tensor) and value.ndim > 0 and len(value) == rows
