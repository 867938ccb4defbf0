"""Sampling many conversations at once from a model in this process.

What the prompts share at the beginning (system prompt and tools) is computed once and kept; a
sequence that has ended leaves the batch. Each sequence is drawn with a seed of its own, so that it
gives the same text whatever else is in the batch (up to rounding, which depends on its size).
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from zephyrus.local.adapters import Twin
from zephyrus.local.pictures import Picture, kinds, never_written, stacked

if TYPE_CHECKING:
    import torch

_SHARED = 16  # a shorter beginning is not worth keeping
_NUCLEUS = 256  # as many of the likeliest tokens nearly always hold a nucleus
_BLOCK = 256

_Begun = tuple["torch.Tensor", Any, "torch.Tensor", "torch.Tensor"]
"""Prompts that were read: logits of the next token, cache, attention mask, the next positions."""


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model wrote.

    Attributes:
        ids: The tokens, the one that ended the turn included.
        logprobs: Of each token, under the softmax at the temperature that it was sampled with (the
            plain softmax for a greedy one), before the nucleus is cut: what a trainer computes
            anew for the same tokens.
        ended: Whether the turn was ended, not cut off.
    """

    ids: list[int]
    logprobs: list[float]
    ended: bool


class Sampler(Protocol):
    """What continues conversations; `Generator` is one."""

    def generate(
        self,
        prompts: Sequence[Sequence[int]],
        seeds: Sequence[int],
        *,
        temperature: float,
        top_p: float,
        max_tokens: Sequence[int],
        wanted: Callable[[int], bool],
        pictures: Sequence[Sequence[Picture]] = (),
    ) -> list[Completion]:
        """Continue each prompt.

        Args:
            prompts: Tokens of each conversation, at least one.
            seeds: One for each.
            temperature: 0 is greedy.
            top_p: Nucleus sampling.
            max_tokens: The most that each may write, at least 1.
            wanted: Asked for each prompt before each token; where it says no, no more is written.
            pictures: Those of each prompt, in order; empty if no prompt shows any.
        """
        ...


class Generator:
    """Samples from one causal language model; not to be used by two threads at once."""

    def __init__(self, model: Any, stops: Collection[int]) -> None:
        """Take a model.

        Args:
            model: A Hugging Face causal language model, in evaluation mode or not.
            stops: The tokens that end a turn.
        """
        self.model = model
        self._twin = Twin(model)
        self._acting = model
        self.stops = frozenset(stops)
        self._never = never_written(model.config)
        self._prefix: tuple[list[int], Any] | None = None
        self._weights: tuple[int, ...] = ()

    def generate(
        self,
        prompts: Sequence[Sequence[int]],
        seeds: Sequence[int],
        *,
        temperature: float,
        top_p: float,
        max_tokens: Sequence[int],
        wanted: Callable[[int], bool] = lambda index: True,
        pictures: Sequence[Sequence[Picture]] = (),
    ) -> list[Completion]:
        """Continue each prompt; see `Sampler.generate`."""
        import torch

        from zephyrus.local.decoding import grouped

        was_training = self.model.training
        self.model.eval()
        self._acting = self._twin.now()
        try:
            with torch.inference_mode(), grouped(self._acting):
                begun = self._look(prompts, pictures) if any(pictures) else self._read(prompts)
                return self._generate(begun, seeds, temperature, top_p, max_tokens, wanted)
        finally:
            if was_training:
                self.model.train()

    def _generate(
        self,
        begun: _Begun,
        seeds: Sequence[int],
        temperature: float,
        top_p: float,
        max_tokens: Sequence[int],
        wanted: Callable[[int], bool],
    ) -> list[Completion]:
        import torch

        from zephyrus.local.decoding import roomy

        device = self.model.device
        logits, cache, mask, positions = begun
        cache = roomy(cache)
        draw = [random.Random(seed) for seed in seeds]
        ids: list[list[int]] = [[] for _ in seeds]
        logprobs: list[list[float]] = [[] for _ in seeds]
        active = list(range(len(seeds)))
        while True:
            points = [draw[i].random() for i in active]
            chosen, scores = choose(logits, points, temperature, top_p, self._never)
            for row, i in enumerate(active):
                ids[i].append(chosen[row])
                logprobs[i].append(scores[row])
            stay = [
                row
                for row, i in enumerate(active)
                if chosen[row] not in self.stops and len(ids[i]) < max_tokens[i] and wanted(i)
            ]
            if not stay:
                break
            if len(stay) < len(active):
                rows = torch.tensor(stay, device=device)
                cache.batch_select_indices(rows)
                mask, positions = mask[rows], positions[rows]
                active = [active[row] for row in stay]
                chosen = [chosen[row] for row in stay]
            mask = torch.cat([mask, mask.new_ones(len(active), 1)], dim=1)
            output = self._acting(
                input_ids=torch.tensor(chosen, device=device)[:, None],
                attention_mask=mask,
                position_ids=positions[:, None],
                past_key_values=cache,
                use_cache=True,
                logits_to_keep=1,
            )
            logits, cache = output.logits[:, -1], output.past_key_values
            positions = positions + 1
        return [
            Completion(written, scores, written[-1] in self.stops)
            for written, scores in zip(ids, logprobs, strict=True)
        ]

    def _look(
        self, prompts: Sequence[Sequence[int]], pictures: Sequence[Sequence[Picture]]
    ) -> _Begun:
        """Read prompts that show pictures; nothing of what they share is kept."""
        import torch

        device = self.model.device
        width = max(map(len, prompts))
        padding = min(self.stops)
        ids = torch.tensor([[padding] * (width - len(p)) + list(p) for p in prompts], device=device)
        mask = torch.tensor([[0] * (width - len(p)) + [1] * len(p) for p in prompts], device=device)
        causal = self._acting
        if hasattr(causal, "get_base_model"):
            causal = causal.get_base_model()
        shown = stacked([picture for row in pictures for picture in row], device)
        # A picture's tokens lie in a plane, and the text behind it goes on from its longer side.
        places, ahead = causal.base_model.get_rope_index(
            ids,
            kinds(ids, causal.config.image_token_id),
            image_grid_thw=shown["image_grid_thw"],
            attention_mask=mask,
        )
        output = self._acting(
            input_ids=ids,
            attention_mask=mask,
            position_ids=places,
            use_cache=True,
            logits_to_keep=torch.tensor([width - 1], device=device),
            **shown,
        )
        positions = mask.sum(dim=1) + ahead[:, 0]
        return output.logits[:, -1], output.past_key_values, mask, positions

    def _read(self, prompts: Sequence[Sequence[int]]) -> _Begun:
        """Read prompts of text."""
        import torch

        device = self.model.device
        shared = _common(prompts)
        cache = self._shared(list(prompts[0][:shared]), len(prompts)) if shared >= _SHARED else None
        begin = shared if cache is not None else 0
        rest = [list(prompt[begin:]) for prompt in prompts]
        width = max(map(len, rest))
        padding = min(self.stops)
        tokens = [[padding] * (width - len(part)) + part for part in rest]
        there = [[1] * begin + [0] * (width - len(part)) + [1] * len(part) for part in rest]
        mask = torch.tensor(there, device=device)
        positions = (mask.cumsum(dim=1) - 1).clamp(min=0)[:, begin:]
        output = self._acting(
            input_ids=torch.tensor(tokens, device=device),
            attention_mask=mask,
            position_ids=positions,
            past_key_values=cache,
            use_cache=True,
            # An index makes a copy of the last states; for a mere view of them, as a number makes
            # it, PyTorch would copy the head's weights for every row.
            logits_to_keep=torch.tensor([width - 1], device=device),
        )
        return output.logits[:, -1], output.past_key_values, mask, mask.sum(dim=1)

    def _shared(self, ids: list[int], copies: int) -> Any:
        """The cache of a common beginning, for a batch."""
        import torch

        # An optimiser's step raises these counters: what was computed before is another model's.
        weights = tuple(p._version for p in self.model.parameters() if not p.is_inference())
        if self._prefix is None or weights != self._weights or self._prefix[0] != ids:
            output = self._acting(
                input_ids=torch.tensor([ids], device=self.model.device),
                use_cache=True,
                logits_to_keep=1,
            )
            self._prefix, self._weights = (ids, output.past_key_values), weights
        cache = copy.deepcopy(self._prefix[1])
        cache.batch_repeat_interleave(copies)
        return cache


def choose(
    logits: torch.Tensor,
    points: Sequence[float],
    temperature: float,
    top_p: float,
    never: Sequence[int] = (),
) -> tuple[list[int], list[float]]:
    """Choose a token for each row by inverting its cumulative distribution.

    Args:
        logits: Of shape (batch, vocabulary).
        points: A number in [0, 1) for each row, drawn evenly.
        temperature: 0 is greedy.
        top_p: The smallest set of the likeliest tokens with this probability or more is drawn from.
        never: Tokens that are not drawn. The log probabilities count them: a trainer does.

    Returns:
        The tokens, and their log probabilities; see `Completion.logprobs`.
    """
    import torch

    scale = logits.float().cpu()
    if temperature > 0:
        scale = scale / temperature
    top = scale.amax(dim=-1, keepdim=True)
    weights = (scale - top).exp_()
    total = weights.sum(dim=-1, dtype=torch.float64)
    likely = scale
    if never:
        likely = scale.clone()
        likely[:, list(never)] = -torch.inf
        weights[:, list(never)] = 0.0
    if temperature == 0:
        # PyTorch's own takes ten times as long.
        chosen = torch.from_numpy(likely.numpy().argmax(axis=-1))
    elif top_p < 1.0:
        nucleus, order = _nucleus(weights.double() / total[:, None], top_p)
        chosen = order.gather(1, _drawn(nucleus, points)[:, None])[:, 0]
    else:
        chosen = _drawn(weights, points)
    scores = (scale - top).gather(1, chosen[:, None])[:, 0] - total.log()
    return chosen.tolist(), scores.tolist()


def _drawn(weights: torch.Tensor, points: Sequence[float]) -> torch.Tensor:
    """The index in each row at which the running sum of its weights passes a point.

    The sums are exact (double precision), and are taken of blocks first: only the block that is
    hit is looked at closely.
    """
    import torch

    rows, width = weights.shape
    count = -(-width // _BLOCK)
    if width % _BLOCK:
        weights = torch.nn.functional.pad(weights, (0, count * _BLOCK - width))
    blocks = weights.view(rows, count, _BLOCK)
    running = blocks.sum(dim=-1, dtype=torch.float64).cumsum(dim=-1)
    mark = torch.tensor(points, dtype=torch.float64)[:, None] * running[:, -1:]
    block = torch.searchsorted(running, mark, right=True).clamp(max=count - 1)
    before = torch.nn.functional.pad(running, (1, 0)).gather(1, block)
    inside = blocks[torch.arange(rows), block[:, 0]].double().cumsum(dim=-1)
    # Rounding must not lead past the last index that has a weight.
    mark = torch.minimum(mark - before, inside[:, -1:] * (1 - 1e-12))
    return (block * _BLOCK + torch.searchsorted(inside, mark, right=True))[:, 0]


def _nucleus(weights: torch.Tensor, top_p: float) -> tuple[torch.Tensor, torch.Tensor]:
    """The weights of the likeliest tokens, 0 outside the nucleus, and which tokens they are."""
    ranked, order = weights.topk(min(_NUCLEUS, weights.shape[1]), dim=-1)
    if bool((ranked.sum(dim=-1) < top_p).any()):
        ranked, order = weights.sort(dim=-1, descending=True)
    beyond = ranked.cumsum(dim=-1) - ranked >= top_p
    return ranked.masked_fill(beyond, 0.0), order


def _common(prompts: Sequence[Sequence[int]]) -> int:
    """How many tokens all prompts begin with; at least one of each is left over."""
    every = [list(prompt) for prompt in prompts]
    low, high = min(every), max(every)  # what these share, all between them share
    most = min(map(len, every)) - 1
    return next((i for i in range(most) if low[i] != high[i]), most)
