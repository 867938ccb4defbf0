"""What a vision-language model sees: pictures as patches, and the tokens that stand for them.

A chat template writes one placeholder for a picture. The model wants as many as the picture has
tokens: patches, of which a few are merged into one. Models are read whose positions are of three
dimensions (M-RoPE, arXiv 2409.12191), as the Qwen-VL family's are.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zephyrus.errors import UserError
from zephyrus.messages import Image

if TYPE_CHECKING:
    import torch

SEEING = ("qwen2_5_vl", "qwen2_vl")
"""Kinds of models, as their configurations call them, that can be shown pictures here."""
_KEPT = 64
"""Pictures that are kept: the conversations of a group, and all turns of one, show the same ones."""
_MARKS = ("image_token_id", "video_token_id", "vision_start_token_id", "vision_end_token_id")


@dataclass(frozen=True, eq=False, slots=True)
class Picture:
    """One picture, ready for a model.

    Attributes:
        image: As PIL has it, RGB; vLLM makes its own patches of it.
        pixels: Its patches, of shape (patches, values of a patch).
        grid: Patches in time, height and width, of shape (3,).
        tokens: How many tokens it takes.
    """

    image: Any
    pixels: torch.Tensor
    grid: torch.Tensor
    tokens: int


class Eyes:
    """A vision-language model's tokenizer, with what turns pictures into its tokens.

    Attributes:
        tokenizer: The tokenizer, with the chat template.
        image_processor: Hugging Face's image processor of the model.
        token: The placeholder, as a number.
        marks: Tokens that only a picture may bring, as text.
        never: Tokens that the model must not write: no picture would belong to them.
    """

    def __init__(self, tokenizer: Any, image_processor: Any, config: Any) -> None:
        """Put the parts together.

        Args:
            tokenizer: A Hugging Face tokenizer.
            image_processor: The image processor beside it.
            config: The model's configuration, which knows the placeholders.
        """
        self.tokenizer = tokenizer
        self.image_processor = image_processor
        self.token = int(config.image_token_id)
        known = [getattr(config, name, None) for name in _MARKS]
        self.marks = tuple(tokenizer.convert_ids_to_tokens([i for i in known if i is not None]))
        self.never = never_written(config)
        self._seen: OrderedDict[bytes, Picture] = OrderedDict()

    def see(self, image: Image) -> Picture:
        """Cut a picture into patches.

        Raises:
            UserError: If it is not one, or has a shape that the model does not take.
        """
        key = hashlib.blake2b(image.png, digest_size=16).digest()
        if key in self._seen:
            self._seen.move_to_end(key)
            return self._seen[key]
        import PIL.Image

        try:
            shown = PIL.Image.open(io.BytesIO(image.png)).convert("RGB")
            made = self.image_processor(images=[shown], return_tensors="pt")
        except (OSError, ValueError) as error:
            raise UserError(
                f"the picture {image.alt!r} can't be shown to the model: {error}"
            ) from error
        grid = made["image_grid_thw"][0]
        tokens = int(grid.prod()) // int(self.image_processor.merge_size) ** 2
        picture = self._seen[key] = Picture(shown, made["pixel_values"], grid, tokens)
        if len(self._seen) > _KEPT:
            self._seen.popitem(last=False)
        return picture

    def expand(self, ids: Sequence[int], pictures: Sequence[Picture]) -> list[int]:
        """Write each placeholder as often as its picture has tokens.

        Args:
            ids: Tokens with one placeholder for each picture.
            pictures: The pictures, in order.

        Raises:
            UserError: If there are more or fewer placeholders than pictures.
        """
        found = sum(token == self.token for token in ids)
        if found != len(pictures):
            raise UserError(
                f"the chat template of {self.tokenizer.name_or_path} shows {found} of "
                f"{len(pictures)} pictures: choose another template"
            )
        left = iter(pictures)
        expanded: list[int] = []
        for token in ids:
            expanded += [token] * (next(left).tokens if token == self.token else 1)
        return expanded

    def fold(self, ids: Sequence[int], pictures: Sequence[Picture]) -> list[int]:
        """Undo `expand`: one placeholder for each picture.

        Args:
            ids: Tokens, each placeholder as often as its picture has tokens.
            pictures: The pictures, in order.
        """
        left = iter(pictures)
        folded: list[int] = []
        place = 0
        while place < len(ids):
            folded.append(ids[place])
            place += next(left).tokens if ids[place] == self.token else 1
        return folded

    def save_pretrained(self, folder: Path | str) -> None:
        """Write the tokenizer and the image processor, as `zephyrus.local.models.load` reads them."""
        self.tokenizer.save_pretrained(folder)
        self.image_processor.save_pretrained(folder)


def never_written(config: Any) -> tuple[int, ...]:
    """The placeholders of a model's configuration, none for a model of text."""
    known = [getattr(config, name, None) for name in ("image_token_id", "video_token_id")]
    return tuple(token for token in known if isinstance(token, int))


def stacked(pictures: Sequence[Picture], device: Any = None) -> dict[str, torch.Tensor]:
    """Pictures as arguments of a model: ``pixel_values`` and ``image_grid_thw``.

    Args:
        pictures: At least one, in the order in which their placeholders come.
        device: Where to.
    """
    import torch

    return {
        "pixel_values": torch.cat([picture.pixels for picture in pictures]).to(device),
        "image_grid_thw": torch.stack([picture.grid for picture in pictures]).to(device),
    }


def kinds(ids: torch.Tensor, token: int) -> torch.Tensor:
    """Which tokens are a picture's (1) and which are text (0): a model's ``mm_token_type_ids``.

    Args:
        ids: Tokens.
        token: The placeholder.
    """
    return (ids == token).int()


def with_template(tokenizer: Any, place: str) -> Any:
    """A tokenizer whose chat template shows pictures, if there is one: it may be the processor's."""
    if "image" in str(tokenizer.chat_template):
        return tokenizer
    from transformers.utils import cached_file

    file = cached_file(place, "chat_template.json", _raise_exceptions_for_missing_entries=False)
    if file is not None:
        tokenizer.chat_template = json.loads(Path(file).read_text("utf-8"))["chat_template"]
    return tokenizer


def loaded_with_eyes(config: Any) -> bool:
    """Whether a model is to be loaded with its eyes.

    Raises:
        UserError: If it has eyes of a kind that is not read here.
    """
    from transformers.models.auto import modeling_auto

    kind = type(config)
    if kind in modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING:
        return False
    if kind not in modeling_auto.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING:
        return False
    if config.model_type not in SEEING:
        raise UserError(
            f"models of the kind {config.model_type} are not read here: of those that see, "
            f"{', '.join(SEEING)} are"
        )
    return True
