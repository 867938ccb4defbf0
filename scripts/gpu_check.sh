#!/usr/bin/env bash
# A short real training run on one GPU: RSFT and a few RL steps of a small model on the embedded
# world, sampled with transformers and then with vLLM in the training process. It says what it
# checked, and ends with 0 only if all of that is as it should be. Some minutes.
#
#   scripts/gpu_check.sh [MODEL] [OUTPUT]
#
# MODEL is a folder or a name on the model hub (Qwen/Qwen3-0.6B by default). PYTHON names the
# interpreter; it needs zephyrus[train] and vllm (0.22 to 0.31 for TRL 1.16), on a GPU's torch.
set -euo pipefail
cd "$(dirname "$0")/.."

model=${1:-Qwen/Qwen3-0.6B}
output=${2:-runs/gpu-check-$(date +%Y%m%d-%H%M%S)}
python=${PYTHON:-python}

if ! command -v nvidia-smi >/dev/null; then
  echo "there is no GPU here: nvidia-smi is not found" >&2
  exit 2
fi
nvidia-smi --query-gpu=name,memory.total,driver_version --format=csv,noheader
"$python" - <<'END'
import importlib.metadata as found
import torch

for name in ("torch", "transformers", "trl", "peft", "vllm"):
    try:
        print(f"{name} {found.version(name)}")
    except found.PackageNotFoundError:
        raise SystemExit(f"{name} is not installed")
if not torch.cuda.is_available():
    raise SystemExit("this torch sees no GPU")
END

for backend in transformers vllm-colocate; do
  echo "== $backend"
  "$python" scripts/gpu_check.py --model "$model" --backend "$backend" --output "$output/$backend"
done
echo "all checks passed; not checked: several GPUs, a vLLM server, full fine-tuning, an LLM judge"
