"""Training on pictures: TRL's trainers see those that our conversations show.

In RL they are the ones that the rollouts were sampled with. TRL 1.16 takes pictures from a column of its data set, for the tasks and prompts of that data set, and
computes which tokens are a picture's from those prompts. Here a prompt of the data set is a task's
id, a task may be drawn anew, and what a conversation holds only our own loop knows. So the pictures
come from the rollouts with their patches as they were sampled with, and which tokens are theirs
is read from the tokens. That holds wherever in a conversation a picture stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from transformers import ProcessorMixin
from trl import GRPOTrainer
from trl.trainer.sft_trainer import DataCollatorForLanguageModeling

from zephyrus.local.pictures import Eyes, Picture, kinds, stacked
from zephyrus.messages import Image

ROW = "row"
"""A column that says which row of the data set a row is: pictures are too large to be in it."""


class PictureProcessor(ProcessorMixin):  # type: ignore[misc]  # transformers has no types here
    """What TRL asks for pictures' patches: it gives those that it is handed."""

    def __init__(self, eyes: Eyes) -> None:
        """Take a model's eyes.

        Args:
            eyes: Of the model that is trained.
        """
        self.eyes = eyes
        self.tokenizer = eyes.tokenizer
        self.image_processor = eyes.image_processor
        self.image_token_id = eyes.token  # TRL looks for it when it asks a vLLM server
        self.chat_template = eyes.tokenizer.chat_template

    def __call__(self, images: Sequence[Sequence[Picture]], **_: Any) -> dict[str, torch.Tensor]:
        """The patches of the pictures of some conversations, one after another."""
        return stacked([picture for shown in images for picture in shown])

    def apply_chat_template(self, *args: Any, **kwargs: Any) -> Any:
        """The tokenizer's own."""
        return self.tokenizer.apply_chat_template(*args, **kwargs)

    def save_pretrained(self, save_directory: Any, **_: Any) -> None:
        """Write what `zephyrus.local.models.load` reads."""
        self.eyes.save_pretrained(save_directory)


class PictureTrainer(GRPOTrainer):  # type: ignore[misc]  # TRL has no types here
    """A ``GRPOTrainer`` for `zephyrus.training.rl.Rollouts` of a model that sees."""

    def _generate(self, prompts: list[Any]) -> tuple[Any, ...]:
        """TRL's, with the pictures of the rollouts in the place that it leaves empty for them."""
        *made, _, of_tools = super()._generate(prompts)
        shown = self.rollout_func.pictures
        return (*made, shown if any(shown) else None, of_tools)

    def _get_per_token_logps_and_entropies(
        self,
        model: Any,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        logits_to_keep: int,
        batch_size: int | None = None,
        *args: Any,
        pixel_values: torch.Tensor | None = None,
        image_grid_thw: torch.Tensor | None = None,
        num_images: list[int] | None = None,
        **kwargs: Any,
    ) -> tuple[Any, ...]:
        """TRL's, a micro-batch at a time: one without any picture is one of text."""
        compute = super()._get_per_token_logps_and_entropies
        base: Sequence[Any] = (model, input_ids, attention_mask, logits_to_keep)
        if pixel_values is None or image_grid_thw is None or num_images is None:
            return tuple(compute(*base, batch_size, *args, **kwargs))
        kwargs.pop("mm_token_type_ids", None)
        size = batch_size or len(input_ids)
        patches = image_grid_thw.prod(dim=-1).tolist()
        every = list(zip(pixel_values.split(patches), image_grid_thw, strict=True))
        made = []
        for start in range(0, len(input_ids), size):
            rows = slice(start, start + size)
            before = sum(num_images[:start])
            mine = every[before : before + sum(num_images[rows])]
            shown: dict[str, Any] = {}
            if mine:
                shown = {
                    "pixel_values": torch.cat([pixels for pixels, _ in mine]),
                    "image_grid_thw": torch.stack([grid for _, grid in mine]),
                    "num_images": num_images[rows],
                    "mm_token_type_ids": kinds(
                        input_ids[rows], self.processing_class.image_token_id
                    ),
                }
            made.append(
                compute(
                    model,
                    input_ids[rows],
                    attention_mask[rows],
                    logits_to_keep,
                    size,
                    *args,
                    **kwargs,
                    **shown,
                )
            )
        return tuple(_joined(part) for part in zip(*made, strict=True))


class PictureCollator:
    """Micro-batches of rows with the pictures that they show, for an ``SFTTrainer``.

    Patches are made when a row's turn comes: those of a whole data set are too many to keep.
    """

    def __init__(self, eyes: Eyes, images: Sequence[Sequence[Image]]) -> None:
        """Take the pictures.

        Args:
            eyes: Of the model that is trained.
            images: Those of each row.
        """
        self.eyes = eyes
        self.images = images
        self._text = DataCollatorForLanguageModeling(pad_token_id=eyes.tokenizer.pad_token_id)

    def __call__(self, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """A micro-batch: what a model takes, and ``labels``."""
        texts = [{key: row[key] for key in ("input_ids", "labels")} for row in rows]
        batch: dict[str, Any] = self._text(texts)
        if shown := [self.eyes.see(image) for row in rows for image in self.images[row[ROW][0]]]:
            batch |= stacked(shown)
            batch["mm_token_type_ids"] = kinds(batch["input_ids"], self.eyes.token)
        return batch


def fitting(
    row: dict[str, list[int]], images: Sequence[Image], eyes: Eyes, most: int
) -> tuple[dict[str, list[int]], Sequence[Image]]:
    """A row of tokens cut to a length, and not within a picture.

    Args:
        row: ``input_ids`` and ``assistant_masks``.
        images: That it shows.
        eyes: Of the model.
        most: Tokens.
    """
    if len(row["input_ids"]) <= most:
        return row, images
    places = [i for i, token in enumerate(row["input_ids"]) if token == eyes.token]
    kept: list[Image] = []
    for image in images:
        tokens = eyes.see(image).tokens
        if places[tokens - 1] >= most:
            most = min(most, places[0])
            break
        places = places[tokens:]
        kept.append(image)
    return {key: values[:most] for key, values in row.items()}, kept


def _joined(parts: Iterable[torch.Tensor | None]) -> torch.Tensor | None:
    """The results of micro-batches as one: by row, or a mean where each has but one number."""
    there = [part for part in parts if part is not None]
    if not there:
        return None
    return torch.cat(there) if there[0].ndim else torch.stack(there).mean()
