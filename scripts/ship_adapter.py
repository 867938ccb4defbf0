"""Pack the adapter that a curriculum trained, small enough to be shipped with the package.

    python scripts/ship_adapter.py runs/tiny-long curricula/zephyrus_curricula/tiny

Its weights are rounded to bfloat16, its model is called by the name that the recipe language has for
it, and what isn't needed to act (tokenizer, optimiser) is left out. To be evaluated after packing, not
before: the rounding is part of what is shipped.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from pathlib import Path

ADAPTER, WEIGHTS, ACTS = "adapter_config.json", "adapter_model.safetensors", "acts.json"
LIMIT = 10_000_000
"""Bytes that a shipped adapter may take."""


def pack(run: Path, folder: Path, base: str) -> int:
    """Write the packed adapter.

    Args:
        run: Of a curriculum that is finished.
        folder: Where it goes; what is there is replaced.
        base: The name of the model that it adapts.

    Returns:
        Bytes that it takes.
    """
    import torch
    from safetensors.torch import load_file, save_file

    policy = run / "policy"
    weights = {
        name: tensor.to(torch.bfloat16).contiguous()
        for name, tensor in load_file(policy / WEIGHTS).items()
    }
    config = json.loads((policy / ADAPTER).read_text("utf-8"))
    config = {key: value for key, value in config.items() if value not in (None, {}, [], False)}
    config |= {
        "base_model_name_or_path": base,
        "target_modules": sorted(config["target_modules"]),
        "inference_mode": True,
    }
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    save_file(weights, folder / WEIGHTS, metadata={"format": "pt"})
    (folder / WEIGHTS).chmod(0o644)
    (folder / ADAPTER).write_text(json.dumps(config, indent=2) + "\n", "utf-8")
    shutil.copy(policy / ACTS, folder / ACTS)
    return sum(path.stat().st_size for path in folder.iterdir())


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("run", type=Path, help="run folder of a finished curriculum")
    parser.add_argument("folder", type=Path, help="where the adapter goes")
    parser.add_argument("--base", default="smollm2-135m", help="its model [default: %(default)s]")
    options = parser.parse_args()
    if not (options.run / "policy" / WEIGHTS).is_file():
        parser.error(f"{options.run / 'policy'} holds no adapter")
    size = pack(options.run, options.folder, options.base)
    print(f"{options.folder}: {size / 1e6:.1f} MB")
    if size > LIMIT:
        print(f"That is more than {LIMIT / 1e6:.0f} MB: train a lower rank.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
