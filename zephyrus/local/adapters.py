"""Adapters (LoRA) at a price that suits small ranks on a CPU.

PEFT turns each layer's input into the adapter's float32 and back, and scales and adds its result in
passes of their own over the whole activations: for rank 12 that takes several times as long as
the layer itself. Here the adapter is computed in the activations' own type, as mixed precision does on
GPUs, its scale goes onto the narrow middle, and its result is added where it is made. The adapter's
weights, their gradients and the optimiser stay in float32.
"""

from __future__ import annotations

from typing import Any


def slim(model: Any) -> None:
    """Let a model on a CPU compute its plain LoRA layers in fewer passes.

    Args:
        model: A PEFT model; others stay as they are, and so do layers with dropout or a variant of
            LoRA.
    """
    if not hasattr(model, "peft_config") or model.device.type != "cpu":
        return
    from peft.tuners.lora import Linear

    for layer in model.modules():
        if type(layer) is Linear and _plain(layer):
            layer.forward = _Slim(layer)


def _plain(layer: Any) -> bool:
    """Whether a layer adds ``B A x`` times a scale, and nothing else."""
    import torch

    return (
        not layer.lora_variant
        and isinstance(layer.base_layer, torch.nn.Linear)
        and all(isinstance(part, torch.nn.Identity) for part in layer.lora_dropout.values())
        and all(part.bias is None for part in layer.lora_B.values())
    )


class _Slim:
    """The ``forward`` of a LoRA layer."""

    def __init__(self, layer: Any) -> None:
        self._layer = layer
        self._forward = layer.forward

    def __call__(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        import torch

        layer = self._layer
        if args or kwargs or layer.disable_adapters or layer.merged:
            return self._forward(x, *args, **kwargs)
        names = [name for name in layer.active_adapters if name in layer.lora_A]
        result = layer.base_layer(x)
        flat = x.reshape(-1, x.shape[-1])
        added = result.view(-1, result.shape[-1])
        for name in names:
            into = layer.lora_A[name].weight.to(x.dtype)
            out = layer.lora_B[name].weight.to(x.dtype)
            middle = torch.nn.functional.linear(flat, into) * layer.scaling[name]
            added = added.addmm_(middle, out.t())
        return added.view(result.shape)
