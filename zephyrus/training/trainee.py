"""The language model under training, and the policies that it is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from zephyrus.curriculum.recipe import Lora, Model, Sampling
from zephyrus.local import models
from zephyrus.local.adapters import slim
from zephyrus.local.chat import Chat
from zephyrus.local.pictures import Eyes
from zephyrus.local.policy import LocalPolicy


@dataclass
class Trainee:
    """A model that is trained, loaded once for all stages.

    Attributes:
        spec: What the recipe says of it.
        name: What is loaded from: the recipe's model, or the checkpoint that a stage begins at.
        model: A Hugging Face causal language model, or a PEFT model around one.
        tokenizer: Its tokenizer.
        eyes: What shows it pictures; None if it reads text alone.
        chat: How its conversations are written.
    """

    spec: Model
    name: str
    model: Any
    tokenizer: Any
    chat: Chat
    eyes: Eyes | None = None

    @classmethod
    def load(cls, spec: Model, checkpoint: Path | None = None, *, seed: int = 0) -> Trainee:
        """Load the model, with an adapter to train if the recipe says so.

        Args:
            spec: What the recipe says.
            checkpoint: Where an earlier stage left off; the recipe's model if None.
            seed: Of a new adapter.

        Raises:
            UserError: If what training needs is not installed, or there is no such model.
        """
        models.require("torch", "transformers", "trl", *(("peft",) if spec.lora else ()))
        name = str(checkpoint or spec.name)
        model, reader = models.load(name, dtype=spec.dtype, trainable=True)
        eyes = reader if isinstance(reader, Eyes) else None
        tokenizer = eyes.tokenizer if eyes else reader
        if spec.lora is not None and not hasattr(model, "peft_config"):
            model = _adapted(model, spec.lora, seed)
        if hasattr(model, "peft_config"):
            _saves_offline(model)
            slim(model)
        if tokenizer.pad_token_id is None:
            tokenizer.pad_token = tokenizer.eos_token
        chat = Chat(reader, thinking=spec.thinking)
        return cls(spec, name, model, tokenizer, chat, eyes)

    def policy(
        self,
        sampling: Sampling,
        *,
        name: str = "",
        keep_tokens: bool = False,
        batch: int = 16,
        generator: Any = None,
    ) -> LocalPolicy:
        """The policy that the model is now; it changes as the model does.

        Args:
            sampling: How its turns are sampled.
            name: What it is called in run folders; the model's name by default.
            keep_tokens: Keep the tokens of its conversations, to train on.
            batch: Conversations that are continued at once.
            generator: What samples; by default transformers.
        """
        return LocalPolicy(
            self.spec.name,
            name=name,
            temperature=sampling.temperature,
            top_p=sampling.top_p,
            max_tokens=sampling.max_tokens,
            context=self.spec.context,
            batch=batch,
            dtype=self.spec.dtype,
            thinking=self.spec.thinking,
            keep_tokens=keep_tokens,
            loaded=(self.model, self.eyes or self.tokenizer),
            generator=generator,
        )

    def save(self, folder: Path) -> None:
        """Write the model (of an adapted one the adapter alone), and what reads for it."""
        # Beside the one that is trained there may be TRL's copy of the first, for the divergence.
        only = {"selected_adapters": ["default"]} if hasattr(self.model, "peft_config") else {}
        self.model.save_pretrained(folder, **only)
        (self.eyes or self.tokenizer).save_pretrained(folder)

    @property
    def parameters(self) -> tuple[int, int]:
        """How many parameters are trained, and how many there are."""
        counted = [(p.requires_grad, p.numel()) for p in self.model.parameters()]
        return sum(n for trained, n in counted if trained), sum(n for _, n in counted)


def _adapted(model: Any, lora: Lora, seed: int) -> Any:
    import peft
    import torch

    targets = lora.targets if isinstance(lora.targets, str) else list(lora.targets)
    config = peft.LoraConfig(
        r=lora.rank,
        lora_alpha=int(lora.alpha) if lora.alpha.is_integer() else lora.alpha,
        lora_dropout=lora.dropout,
        target_modules=targets,
        task_type="CAUSAL_LM",
    )
    with torch.random.fork_rng():  # a run that is begun again must begin with the same adapter
        torch.manual_seed(seed)
        return peft.get_peft_model(model, config, autocast_adapter_dtype=True)


def _saves_offline(model: Any) -> None:
    """Have an adapter saved without a look at its model's page on the hub.

    Whenever it is saved, PEFT asks there whether the vocabulary was extended; here it never is.
    """
    model.save_pretrained = partial(model.save_pretrained, save_embedding_layers=False)
