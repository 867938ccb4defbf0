"""What stands in for models, servers and files that the commands of some pages need.

A block after ``<!-- stand-in: NAMES -->`` is run in the usual way, with the named things (of `KINDS`)
in place of those that a test can't have. Only what must differ is changed in its commands: the
address of a server, the number of rollouts, and the installation of an extra, of which only the name
is checked.
"""

import csv
import importlib.metadata
import io
import json
import os
import re
import subprocess
import sys
import zlib
from datetime import UTC, datetime
from pathlib import Path

import yaml
from PIL import Image

TESTS = Path(__file__).parents[1]
sys.path.extend(
    str(TESTS / folder) for folder in ("judge", "zephyrus", "local", "geodata", "report")
)

import judge_model  # noqa: E402 - it is in tests/judge, which the line before makes known
from openai_server import OpenAIServer, say  # noqa: E402 - the same of tests/zephyrus

KINDS = {
    "server": "a small OpenAI-compatible server of the tests answers in place of the models, the "
    "module `vllm` is one that ends at once, and a run has 8 rollouts",
    "runs": "the runs are made beforehand, by the policies `scripted` and `random`",
    "people": "where people write labels, every label is A",
    "random models": "the models in this process are random ones of 60,000 weights, a run has "
    "4 rollouts, and a turn 8 tokens",
    "file": "the file is one that the tests make, and a dataset of yours the embedded one",
}
"""The stand-ins, and what each changes."""

_ADDRESS = re.compile(r"https://api\.openai\.com/v1|http://127\.0\.0\.1:8000/v1|\bURL\b")
_INSTALL = re.compile(r"pip install ['\"]?(?:\.|zephyrus)\[(\w+)\]['\"]?")
_ROLLOUTS = re.compile(r" (?:-n|--repeats|--max-tokens) \d+")


class StandIns:
    """The stand-ins in the folder of a page; a context manager, as a server may run."""

    def __init__(self, folder, page):
        """Nothing is made before it is needed.

        Args:
            folder: Where the page's commands run.
            page: The page's path in the repository.
        """
        self.folder = folder
        self.env = "chartqa" if page.endswith("chartqa.md") else "report"
        self.server = OpenAIServer(answer)
        self.running = None
        self.variables = {}

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.running is not None:
            self.running.__exit__(None, None, None)

    def prepare(self, block):
        """Make what a block needs, but for runs."""
        if "server" in block.stand_ins and self.running is None:
            self.running = self.server.running()
            self.running.__enter__()
            self._make_tables()
            self._make_module()
        if "random models" in block.stand_ins:
            self._make_models()
        if "file" in block.stand_ins:
            self._make_files(block.text)

    def command(self, command, kinds):
        """A command as it is run, and the variables that it is run with."""
        command = command.partition("  #")[0].strip()
        if extra := _INSTALL.fullmatch(command):
            known = importlib.metadata.metadata("zephyrus").get_all("Provides-Extra")
            assert extra[1] in known, f"there is no extra {extra[1]}"
            return "true", {}
        if "runs" in kinds:
            self._make_runs(command)
        if "people" in kinds and (sheet := re.search(r"--labels (\S+)", command)):
            self._label(self.folder / sheet[1])
        if "file" in kinds:
            command = command.replace("--dataset NAME", "--dataset demo")
        if "server" in kinds:
            command = _ADDRESS.sub(self.server.url, command)
        if "random models" in kinds:
            command = command.replace("local:smollm2-135m", "local:./random-model")
            command = f"{_ROLLOUTS.sub('', command)} -n 4 --max-tokens 8"
        elif "zephyrus env rollout" in command:
            command = f"{_ROLLOUTS.sub('', command)} -n 8"
        if command.startswith("zephyrus policy serve"):
            path = f"{self.folder / 'standins'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
            return command, {"PYTHONPATH": path}
        return command, self.variables

    def _make_tables(self):
        import zephyrus.judge.table
        import zephyrus.policy.table

        for module in (zephyrus.judge.table, zephyrus.policy.table):
            path = self.folder / f"{module.TABLE_VARIABLE}.yaml"
            rows = {
                name: {"base_url": self.server.url}
                for name, entry in module.TABLE.entries().items()
                if not getattr(entry, "local", False)
            }
            path.write_text(yaml.safe_dump(rows), encoding="utf-8")
            self.variables[module.TABLE_VARIABLE] = str(path)

    def _make_module(self):
        module = self.folder / "standins" / "vllm" / "entrypoints" / "openai"
        module.mkdir(parents=True)
        for package in (module, module.parent, module.parent.parent):
            (package / "__init__.py").touch()
        (module / "api_server.py").write_text("import sys\nprint(*sys.argv[1:])\n")

    def _make_runs(self, command):
        for name in dict.fromkeys(re.findall(r"(?<!--output )\bruns/([\w-]+)", command)):
            if (self.folder / "runs" / name).exists():
                continue
            policy = "random" if name in ("rft", "base", "random") else "scripted"
            make = f"zephyrus env rollout --env {self.env} --policy {policy} -n 8"
            judge = " -o judge=rules" if self.env == "chartqa" else ""
            path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
            subprocess.run(
                f"{make}{judge} --output runs/{name}",
                shell=True,
                check=True,
                cwd=self.folder,
                capture_output=True,
                env={**os.environ, "PATH": path},
            )

    def _label(self, sheet):
        with sheet.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        with sheet.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows({**row, "label": "A"} for row in rows)

    def _make_models(self):
        from tiny_model import CHATML, model, tokenizer

        words = tokenizer(CHATML)
        made = model(words)
        for place in ("random-model", "my-adapter", "runs/tiny/policy"):
            made.save_pretrained(self.folder / place)
            words.save_pretrained(self.folder / place)

    def _make_files(self, text):
        if "AFD.txt" in text:
            from report_texts import OFFICE

            (self.folder / "AFD.txt").write_text(OFFICE, encoding="utf-8")
        if "reports=DIR" in text:
            from bulletins import short_range

            days = (
                datetime(1959, *day, 20, tzinfo=UTC) for day in ((1, 2), (4, 7), (7, 16), (10, 19))
            )
            (self.folder / "DIR").mkdir()
            lines = [json.dumps(short_range(day).to_dict()) + "\n" for day in days]
            (self.folder / "DIR" / "reports.jsonl").write_text("".join(lines), encoding="utf-8")
        if "WeatherQA/" in text:
            from zephyrus_chartqa.bank_file import load_items
            from zephyrus_chartqa.weatherqa import export_weatherqa

            bank = TESTS.parent / "envs" / "zephyrus_chartqa" / "data" / "demo.jsonl.gz"
            items = load_items(bank)[::40]
            Image.new("RGB", (64, 48)).save(picture := io.BytesIO(), "PNG")
            charts = {item.id: picture.getvalue() for item in items}
            export_weatherqa(items, charts, self.folder / "WeatherQA")


def answer(body):
    """What the server says: a judge's answer to a judge's question, else reasoning and a letter."""
    asked = body["messages"][-1]["content"]
    if isinstance(asked, str) and "The id of this request is" in asked:
        if "Which option does the reasoning process support best" in asked:
            return say(json.dumps({"id": judge_model.asked_id(body), "option": "A"}))
        return judge_model.answer(body)
    # By the question, so that some are right and some are wrong.
    letter = "ABCD"[zlib.crc32(json.dumps(asked).encode()) % 4]
    return say(f"<think>All of it points to {letter}.</think><answer>{letter}</answer>")
