"""What samples from the model under training: transformers, or TRL's vLLM.

TRL keeps a vLLM engine, in the training process or as a server, and puts the trained weights into
it before each step. Our loop asks it turn by turn, a batch of conversations at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from zephyrus.curriculum.recipe import Sampling
from zephyrus.local.generate import Completion
from zephyrus.local.pictures import Eyes, Picture
from zephyrus.training.ranks import Ranks
from zephyrus.training.trainee import Trainee


class Generators:
    """Samples with transformers, which is what `zephyrus.local.policy.LocalPolicy` does alone."""

    def of(self, trainee: Trainee, sampling: Sampling) -> Any:
        """A generator, or None for the policy's own.

        Args:
            trainee: The model.
            sampling: How it is sampled.
        """
        return None

    def drain(self) -> None:
        """Say that this process has no more conversations for now."""


class VLLMGenerators(Generators):
    """Samples with a trainer's ``vllm_generation``.

    A server is asked by all processes together, each in every round, since TRL gathers their
    prompts in one of them; a process whose conversations are over takes part with a stand-in until
    all are (`drain`). vLLM's random numbers come from its engine's own seed, so that a resumed run
    is not the same text for text.

    Attributes:
        trainer: TRL's ``GRPOTrainer``, set once it is made.
    """

    def __init__(self, ranks: Ranks) -> None:
        self.ranks = ranks
        self.trainer: Any = None
        self._last: VLLMGenerator | None = None

    def of(self, trainee: Trainee, sampling: Sampling) -> VLLMGenerator:
        """See `Generators.of`; puts the weights into vLLM that the trainer has now."""
        trainer = self.trainer
        if trainer.state.global_step != trainer._last_loaded_step:
            trainer.vllm_generation.sync_weights()
            trainer._last_loaded_step = trainer.state.global_step
        vllm = trainer.vllm_generation
        if trainee.eyes is not None:  # no picture would belong to a placeholder that it writes
            names = trainee.tokenizer.convert_ids_to_tokens(list(trainee.eyes.never))
            vllm.generation_kwargs = {**(vllm.generation_kwargs or {}), "bad_words": names}
        self._last = VLLMGenerator(vllm, trainee.chat.stops, self.ranks, trainee.eyes)
        self._last.set(sampling.temperature, sampling.top_p, sampling.max_tokens)
        return self._last

    def drain(self) -> None:
        """Take part in the rounds of the others until they are over, too."""
        if self._last is not None and self._last.together:
            while self._last.round([]) is not None:
                pass


class VLLMGenerator:
    """One way of sampling from vLLM; a `zephyrus.local.generate.Sampler`."""

    def __init__(
        self, vllm: Any, stops: Collection[int], ranks: Ranks, eyes: Eyes | None = None
    ) -> None:
        """Take a vLLM.

        Args:
            vllm: TRL's ``VLLMGeneration``.
            stops: The tokens that end a turn.
            ranks: The processes that share a server.
            eyes: Of the model, if it sees.
        """
        self.eyes = eyes
        self.vllm = vllm
        self.stops = frozenset(stops)
        self.ranks = ranks

    @property
    def together(self) -> bool:
        """Whether the processes must ask together."""
        return self.vllm.mode == "server" and self.ranks.world > 1

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
        """Continue each prompt; see `zephyrus.local.generate.Sampler.generate`.

        TRL gives vLLM one setting for a whole batch. So the seeds are not used (conversations of a
        group that had one seed would be copies), what is longer than its own limit is cut, and
        nothing is given up half-way.
        """
        # Of a server's processes the first one's limit goes for all: it must not be a short one.
        self.set(temperature, top_p, max(self.vllm.max_completion_length, *max_tokens))
        written = self.round([list(prompt) for prompt in prompts], pictures)
        assert written is not None
        return [self._cut(whole, most) for whole, most in zip(written, max_tokens, strict=True)]

    def set(self, temperature: float, top_p: float, max_tokens: int) -> None:
        """How the next rounds are sampled."""
        vllm = self.vllm
        vllm.temperature, vllm.top_p, vllm.max_completion_length = temperature, top_p, max_tokens

    def round(
        self, prompts: list[list[int]], pictures: Sequence[Sequence[Picture]] = ()
    ) -> list[Completion] | None:
        """Continue the prompts of all processes, with their pictures; None if none has any."""
        stand_ins = 0
        if self.together:
            # TRL takes each process' answers by its number of prompts: it must be the same for all.
            stand_ins = max(self.ranks.gather([len(prompts)])) - len(prompts)
        many = len(prompts)
        if not many and not stand_ins:
            return None
        if self.eyes is not None and any(pictures) and self.vllm.mode == "colocate":
            # An engine in this process expands placeholders itself, and expanded ones once more
            # (huggingface/trl issue 6294). TRL's server is given their places, and so wants all.
            prompts = [self.eyes.fold(p, s) for p, s in zip(prompts, pictures, strict=True)]
        # Of pictures vLLM makes its own patches; TRL takes None where a prompt shows none.
        shown = [[picture.image for picture in row] or None for row in pictures]
        shown += [None] * (many + stand_ins - len(shown))
        _, ids, logprobs, _ = self.vllm.generate(
            prompts + [[min(self.stops)]] * stand_ins,
            images=shown if any(shown) else None,
            num_generations=1,
        )
        return [
            # The token that was sampled is the only one asked for; vLLM's NaN comes as None.
            Completion(
                list(tokens), [_number(scores[0]) for scores in row], tokens[-1] in self.stops
            )
            for tokens, row in zip(ids[:many], logprobs[:many], strict=True)
        ]

    def _cut(self, whole: Completion, most: int) -> Completion:
        ids = whole.ids[:most]
        return Completion(ids, whole.logprobs[:most], ids[-1] in self.stops)


def _number(score: float | None) -> float:
    return float("nan") if score is None else score
