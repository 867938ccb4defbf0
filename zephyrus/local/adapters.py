"""Adapters (LoRA) at a price that suits small ranks on a CPU.

In training (`slim`), PEFT turns each layer's input into the adapter's float32 and back, and scales and adds its result in
passes of their own over the whole activations: for rank 12 that takes several times as long as
the layer itself. Here the adapter is computed in the activations' own type, as mixed precision does on
GPUs, its scale goes onto the narrow middle, and its result is added where it is made. The adapter's
weights, their gradients and the optimiser stay in float32.

In sampling (`Twin`), a token at a time, the many small products cost more than their arithmetic: there a
copy has the adapter merged in, and is made anew when the adapter has changed.
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


class Twin:
    """A model's copy with its adapter merged in: as it will act when it is loaded from its folder.

    Products are added up in float32 and rounded once, as `zephyrus.local.models.load` does. What
    has no adapter is shared with the model, not copied.
    """

    def __init__(self, model: Any) -> None:
        """Take a model.

        Args:
            model: A Hugging Face causal language model, or a PEFT model around one.
        """
        self._model = model
        self._copy: Any = None
        self._seen: tuple[int, ...] = ()

    def now(self) -> Any:
        """The copy with the adapter's weights of now; the model itself where it has no twin.

        A twin is made on a CPU, of a model whose only changes are one plain LoRA adapter.
        """
        import torch

        layers = _adapted_layers(self._model)
        if not layers:
            return self._model
        adapters = [p for name, p in self._model.named_parameters() if "lora_" in name]
        seen = tuple(p._version for p in adapters)
        if self._copy is not None and seen == self._seen:
            return self._copy
        if self._copy is None:
            self._copy = _copy_of(self._model, layers)
        with torch.no_grad():
            for name, layer in layers.items():
                adapter = layer.active_adapters[0]
                into = layer.lora_A[adapter].weight.float()
                out = layer.lora_B[adapter].weight.float()
                whole = layer.base_layer.weight.float()
                whole = torch.addmm(whole, out, into, alpha=layer.scaling[adapter])
                self._copy.get_submodule(name).weight.copy_(whole)
        self._seen = seen
        return self._copy


def _adapted_layers(model: Any) -> dict[str, Any]:
    """The LoRA layers of a model that may have a twin, by their names in the model without them."""
    if not hasattr(model, "get_base_model") or model.device.type != "cpu":
        return {}
    from peft.tuners.lora import Linear
    from peft.tuners.tuners_utils import BaseTunerLayer
    from peft.utils import ModulesToSaveWrapper

    base = model.get_base_model()
    found = {
        name: part
        for name, part in base.named_modules()
        if isinstance(part, BaseTunerLayer | ModulesToSaveWrapper)
    }
    fits = all(
        type(part) is Linear
        and _plain(part)
        and len(part.active_adapters) == 1
        and not (part.merged or part.disable_adapters)
        for part in found.values()
    )
    return found if fits else {}


def _copy_of(model: Any, layers: dict[str, Any]) -> Any:
    """A model of the same shape without adapters; all but the adapted layers is shared."""
    import torch

    base = model.get_base_model()
    with torch.device("meta"):
        # What transformers' Auto classes call, too: models with eyes are of another one than others.
        made = type(base)._from_config(
            base.config, dtype=base.dtype, attn_implementation=base.config._attn_implementation
        )
    own = dict(base.named_parameters(remove_duplicate=False)) | dict(base.named_buffers())
    for name, part in made.named_modules():
        if name in layers:
            weight = layers[name].base_layer.weight.detach().clone()
            part.weight = type(part.weight)(weight, requires_grad=False)
            if part.bias is not None:
                part.bias = layers[name].base_layer.bias
            continue
        for key in list(part._parameters):
            if part._parameters[key] is not None:
                part._parameters[key] = own[f"{name}.{key}" if name else key]
        for key in list(part._buffers):
            if part._buffers[key] is not None:
                part._buffers[key] = own.get(f"{name}.{key}" if name else key, part._buffers[key])
    made.tie_weights()
    return made.eval()
