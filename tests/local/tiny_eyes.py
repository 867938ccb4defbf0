"""A random Qwen2.5-VL of 80,000 weights with its tokenizer and image processor, made on the spot."""

import io

import torch
from PIL import Image as Pil
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import (
    PreTrainedTokenizerFast,
    Qwen2_5_VLConfig,
    Qwen2_5_VLForConditionalGeneration,
    Qwen2VLConfig,
    Qwen2VLForConditionalGeneration,
)
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

from zephyrus.local.pictures import Eyes
from zephyrus.messages import Image

SPECIAL = [
    *("<|im_start|>", "<|im_end|>", "<|pad|>"),
    *("<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>"),
]
# As Qwen2.5-VL's, without its videos.
TEMPLATE = (
    "{% for m in messages %}{% if loop.first and m.role != 'system' %}"
    "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n{% endif %}"
    "<|im_start|>{{ m.role }}\n{% if m.content is string %}{{ m.content }}<|im_end|>\n{% else %}"
    "{% for part in m.content %}{% if part.type == 'image' or 'image' in part or 'image_url' in part %}"
    "<|vision_start|><|image_pad|><|vision_end|>"
    "{% elif 'text' in part %}{{ part.text }}{% endif %}{% endfor %}<|im_end|>\n{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def make_tokenizer(template=TEMPLATE):
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    bpe = Tokenizer(models.BPE({c: i for i, c in enumerate(letters)}, []))
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    bpe.add_special_tokens(SPECIAL)
    made = PreTrainedTokenizerFast(
        tokenizer_object=bpe, eos_token="<|im_end|>", pad_token="<|pad|>"
    )
    made.chat_template = template
    return made


def make_image_processor(tokens=12):
    """Patches of 4 pixels, four of which are one token; so many tokens at most."""
    return Qwen2VLImageProcessorPil(
        patch_size=4,
        merge_size=2,
        temporal_patch_size=1,
        size={"shortest_edge": 64, "longest_edge": 64 * tokens},
    )


def make_config(tokenizer, spread=0.3, kind="qwen2_5_vl"):
    ids = {name: tokenizer.convert_tokens_to_ids(name) for name in SPECIAL}
    vision = {
        "depth": 2,
        "num_heads": 2,
        "patch_size": 4,
        "spatial_merge_size": 2,
        "temporal_patch_size": 1,
        "hidden_size": 32,
        "initializer_range": spread,
    }
    if kind == "qwen2_vl":
        vision |= {"embed_dim": 32, "mlp_ratio": 2}
    else:
        vision |= {"intermediate_size": 64, "out_hidden_size": 32}
        vision |= {"window_size": 16, "fullatt_block_indexes": [1]}
    return (Qwen2VLConfig if kind == "qwen2_vl" else Qwen2_5_VLConfig)(
        text_config={
            "vocab_size": len(tokenizer),
            "hidden_size": 32,
            "intermediate_size": 64,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "num_key_value_heads": 1,
            "max_position_embeddings": 8192,
            "rope_parameters": {
                "rope_type": "default",
                "rope_theta": 10000.0,
                "mrope_section": [2, 3, 3],
            },
            "initializer_range": spread,
            "bos_token_id": None,
            "eos_token_id": ids["<|im_end|>"],
            "pad_token_id": ids["<|pad|>"],
        },
        vision_config=vision,
        image_token_id=ids["<|image_pad|>"],
        video_token_id=ids["<|video_pad|>"],
        vision_start_token_id=ids["<|vision_start|>"],
        vision_end_token_id=ids["<|vision_end|>"],
    )


def make_seeing(folder, *, spread=0.3, words=(), kind="qwen2_5_vl"):
    """A folder with the model and all that belongs to it; always the same.

    Args:
        folder: Where to.
        spread: Of the random weights.
        words: Texts that are one token each, and all that the model says.
        kind: Of the model, as its configuration calls it.
    """
    tokenizer = make_tokenizer()
    tokenizer.add_tokens(list(words))
    torch.manual_seed(0)
    config = make_config(tokenizer, spread, kind)
    older = kind == "qwen2_vl"
    model = (Qwen2VLForConditionalGeneration if older else Qwen2_5_VLForConditionalGeneration)(
        config
    )
    if words:
        said = tokenizer.convert_tokens_to_ids([*words, "<|im_end|>"])
        with torch.no_grad():
            model.lm_head.weight.zero_()
            model.lm_head.weight[said] = torch.randn(len(said), model.lm_head.in_features)
    model.save_pretrained(folder)
    Eyes(tokenizer, make_image_processor(), model.config).save_pretrained(folder)
    return folder


def picture(red, green, blue, size=(40, 24), alt="a picture"):
    """A picture of one colour with a corner of another."""
    drawn = Pil.new("RGB", size, (red, green, blue))
    drawn.paste((blue, red, green), (0, 0, size[0] // 2, size[1] // 2))
    file = io.BytesIO()
    drawn.save(file, "PNG")
    return Image(file.getvalue(), alt)
