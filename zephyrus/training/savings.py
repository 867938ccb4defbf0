"""What a CPU is spared in training, with the same results up to rounding.

Conversations of one environment begin alike (system prompt and tools): what the rows of a
micro-batch share is computed once, for the forward pass and for its gradient. And TRL's language
model head scores every position where there is no Triton, though all but the policy's own tokens
are masked: here it sees those alone. Together they make a step of the recipe tiny about three times as
fast (``benchmarks/training.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

_SHARED = 32  # a shorter beginning is not worth two passes


def save_work(model: Any) -> None:
    """Spare a model's training what need not be computed, where it is on a CPU.

    To be called when TRL's trainer has been made, since that replaces the model's ``forward``.

    Args:
        model: A Hugging Face causal language model, or a PEFT model around one.
    """
    if model.device.type != "cpu":
        return
    causal = model.get_base_model() if hasattr(model, "get_base_model") else model
    backbone = _Backbone(causal.base_model, shares=_can_share(causal))
    causal.base_model.forward = backbone
    causal.forward = _Head(causal.forward, backbone)


class _Head:
    """A causal model's ``forward`` that scores only the positions that have a label."""

    def __init__(self, forward: Callable[..., Any], backbone: _Backbone) -> None:
        self._forward = forward
        self._backbone = backbone

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        labels = kwargs.get("labels")
        if not kwargs.get("fused_lm_head") or labels is None:
            return self._forward(*args, **kwargs)
        mask = labels[:, 1:] != -100
        if not bool(mask.any()):
            return self._forward(*args, **kwargs)
        wanted = labels[:, 1:][mask][None]
        with self._backbone.only(mask):
            # Labels that are shifted already are scored as they are, in whatever shape.
            output = self._forward(*args, **{**kwargs, "labels": None, "shift_labels": wanted})
        for name, value in list(output.items()):
            if getattr(value, "shape", None) == wanted.shape:
                output[name] = value.new_zeros(mask.shape).masked_scatter(mask, value)
        output["label_mask"] = mask
        return output


class _Backbone:
    """A transformer's ``forward`` that computes what its rows begin with once."""

    def __init__(self, model: Any, *, shares: bool) -> None:
        self._forward = model.forward
        self._shares = shares
        self._only: torch.Tensor | None = None

    @contextmanager
    def only(self, mask: torch.Tensor) -> Iterator[None]:
        """Return only the last hidden states where a mask holds, as one row."""
        self._only = mask
        try:
            yield
        finally:
            self._only = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        output = self._shared(kwargs) if self._shares and not args else None
        if output is None:
            output = self._forward(*args, **kwargs)
        if self._only is not None:
            hidden = output.last_hidden_state
            output.last_hidden_state = hidden[:, : self._only.shape[1]][self._only][None]
        return output

    def _shared(self, kwargs: dict[str, Any]) -> Any:
        """The output, if these are rows that begin alike, and nothing but rows."""
        given = {name for name, value in kwargs.items() if value is not None}
        if kwargs.get("use_cache") or not given <= {"input_ids", "attention_mask", "use_cache"}:
            return None
        ids, mask = kwargs["input_ids"], kwargs.get("attention_mask")
        rows = _Rows.of(ids, mask)
        if rows is None or rows.shared < _SHARED:
            return None
        return self._in_two(rows)

    def _in_two(self, rows: _Rows) -> Any:
        import torch
        from transformers import DynamicCache

        cache = DynamicCache()
        begin = self._forward(
            input_ids=rows.beginning[None], past_key_values=cache, use_cache=True
        ).last_hidden_state
        cache.batch_repeat_interleave(len(rows.starts))
        output = self._forward(
            input_ids=rows.rest,
            attention_mask=rows.mask,
            past_key_values=cache,
            use_cache=True,
        )
        every = torch.cat([begin.expand(len(rows.starts), -1, -1), output.last_hidden_state], dim=1)
        output.last_hidden_state = every.gather(
            1, rows.places[:, :, None].expand(-1, -1, every.shape[-1])
        )
        output.past_key_values = None
        return output


class _Rows:
    """The rows of a micro-batch, padded on either side, cut where they cease to be alike.

    Attributes:
        starts: Where each begins, of shape (rows,).
        shared: How many tokens all begin with.
        beginning: Those tokens.
        rest: What comes after in each, padded on the right.
        mask: Attention of the rest, to the beginning and itself.
        places: For each position of the rows as they were given, the one in beginning and rest.
    """

    def __init__(self, ids: torch.Tensor, starts: torch.Tensor, lengths: torch.Tensor) -> None:
        import torch

        width = ids.shape[1]
        longest = int(lengths.max())
        columns = torch.arange(longest)
        at = (starts[:, None] + columns).clamp(max=width - 1)
        flush = ids.gather(1, at)  # every row from its first token on
        alike = (flush == flush[0]).all(dim=0)[: int(lengths.min()) - 1]
        self.starts = starts
        self.shared = int(alike.long().cumprod(dim=0).sum())
        self.beginning = flush[0, : self.shared]
        self.rest = flush[:, self.shared :]
        self.mask = (columns < lengths[:, None]).long()
        self.places = (torch.arange(width) - starts[:, None]).clamp(min=0, max=longest - 1)

    @classmethod
    def of(cls, ids: torch.Tensor, mask: torch.Tensor | None) -> _Rows | None:
        """The rows, None if they are no two or more, or have gaps."""
        import torch

        if ids.ndim != 2 or len(ids) < 2 or (mask is not None and mask.ndim != 2):
            return None
        there = torch.ones_like(ids) if mask is None else mask.long()
        lengths = there.sum(dim=1)
        starts = there.argmax(dim=1)
        ends = there.shape[1] - there.flip(1).argmax(dim=1)
        if int(lengths.min()) < 2 or bool((ends - starts != lengths).any()):
            return None
        return cls(ids, starts, lengths)


def _can_share(model: Any) -> bool:
    """Whether keys and values of a beginning are all that what follows needs to know of it."""
    import torch

    if getattr(model, "is_gradient_checkpointing", False):
        return False  # recomputes layers, and so allows no cache
    if any(isinstance(part, torch.nn.Dropout) and part.p > 0 for part in model.modules()):
        return False  # each row is to lose something else
    if hasattr(model.config, "vision_config"):
        return False  # it would count the positions of what follows from the last pictures it saw
    config = model.config.get_text_config()
    kinds = getattr(config, "layer_types", None) or ["full_attention"]
    return set(kinds) == {"full_attention"} and not getattr(config, "sliding_window", None)
