"""The console and Python blocks that the README and the pages in docs/ show, and running them.

In a console block, lines beginning with ``$`` are commands; the lines after them are their output,
in which a line ``...`` stands for any lines and ``…`` within a line for any text. A block after
``<!-- not run: REASON -->`` is left out; if the reason ends with ``; run by FILE`` or ``; run by
FILE::TEST``, that test of the repository runs its commands. A block after ``<!-- sample: FILE -->`` is
run where that file of ../shared/samples/grids is. After ``<!-- stand-in: NAMES -->`` something stands in
for what a test can't have (see `standins`); after ``<!-- exit code: N -->`` the command is refused with
that code, and the block shows what it says of that.
"""

import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT.parent / "shared" / "samples" / "grids"
PAGES = [
    "README.md",
    *sorted(page.relative_to(ROOT).as_posix() for page in (ROOT / "docs").rglob("*.md")),
    "examples/local_model/README.md",
]
_BLOCK = re.compile(
    r"(?:<!-- not run: ([^\n]+?) -->\n)?(?:<!-- sample: ([^\n]+?) -->\n)?"
    r"(?:<!-- stand-in: ([^\n]+?) -->\n)?(?:<!-- exit code: (\d+) -->\n)?"
    r"^```(console|python)\n(.*?)^```$",
    re.S | re.M,
)
_BY = re.compile(r"; run by (\S+?)(?:::(\w+))?$")


@dataclass(frozen=True)
class Block:
    """A block of a page.

    Attributes:
        page: The page's path in the repository.
        number: Its place among the page's console and Python blocks.
        kind: "console" or "python".
        text: What is between the fences.
        not_run: Why it isn't run here, or None.
        by: The file, and the test in it or None, that runs it instead, or None.
        sample: The file that must be there, or None.
        stand_ins: What stands in for what is named, of `standins.KINDS`.
        code: The exit code of its commands.
    """

    page: str
    number: int
    kind: str
    text: str
    not_run: str | None
    by: tuple[str, str | None] | None
    sample: str | None
    stand_ins: tuple[str, ...]
    code: int

    @property
    def commands(self) -> list[tuple[str, str]]:
        """The commands of a console block, each with the output that is shown."""
        if self.kind != "console":
            return []
        parts = re.split(r"^\$ ", self.text, flags=re.M)[1:]
        joined = (re.sub(r"\\\n\s*", "", part).partition("\n") for part in parts)
        return [(command.strip(), shown) for command, _, shown in joined]


def blocks_of(page):
    """The blocks of a page, in order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = []
    for number, found_block in enumerate(_BLOCK.findall(text)):
        reason, sample, stand_ins, code, kind, body = found_block
        by = _BY.search(reason)
        found.append(
            Block(
                page,
                number,
                kind,
                body,
                _BY.sub("", reason) or None,
                (by[1], by[2]) if by else None,
                sample or None,
                tuple(stand_ins.split(", ")) if stand_ins else (),
                int(code or 0),
            )
        )
    return found


def run_block(block, folder, stand_ins=None):
    """Run a block in the folder of its page, and hold its output against what is shown.

    Args:
        block: The block.
        folder: Where its commands run.
        stand_ins: The page's `standins.StandIns`, for a block that needs them.
    """
    if block.kind == "python":
        done = _run([sys.executable, "-c", block.text], folder)
        assert done.returncode == 0, done.stderr
        return
    if block.stand_ins:
        stand_ins.prepare(block)
    for command, shown in block.commands:
        assert shlex.split(command, comments=True)
        variables = {}
        if block.stand_ins:
            command, variables = stand_ins.command(command, block.stand_ins)
        done = _run(command, folder, variables)
        assert done.returncode == block.code, f"{command}\n{done.stdout}{done.stderr}"
        printed = done.stderr if block.code else done.stdout
        assert not shown.strip() or matches(shown, printed), (
            f"{command}\n--- shown\n{shown}\n--- printed\n{printed}"
        )


def _run(command, folder, variables=None):
    store = Path(folder) / "datasets"  # not that of whoever runs the tests
    store.mkdir(exist_ok=True)
    environment = {
        **os.environ,
        "COLUMNS": "100",
        "ZEPHYRUS_DATA": str(store),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        **(variables or {}),
    }
    return subprocess.run(
        command,
        shell=isinstance(command, str),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
        env=environment,
    )


def matches(shown, actual):
    """Whether what was printed has the lines that are shown, in this order, spaces apart."""
    pattern = ""
    for line in shown.strip("\n").splitlines():
        if line.strip() == "...":
            pattern += r"(?:[^\n]*\n)*?"
        else:
            pattern += (
                r"\s*"
                + r".*".join(
                    r"\s+".join(map(re.escape, part.split())) or ""
                    for part in line.strip().split("…")
                )
                + r"\s*\n"
            )
    return re.search(pattern, actual.rstrip() + "\n\n")
