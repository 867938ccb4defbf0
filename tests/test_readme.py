"""Everything the README and the pages in docs/ show is run: console blocks and Python blocks.

In a console block, lines beginning with ``$`` are commands; the lines after them are their output,
in which a line ``...`` stands for any lines and ``…`` within a line for any text. A block after
``<!-- not run: REASON -->`` is left out; one after ``<!-- sample: FILE -->`` is run where that file
of ../shared/samples/grids is.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SAMPLES = ROOT.parent / "shared" / "samples" / "grids"
BLOCK = re.compile(
    r"(<!-- not run: [^\n]+-->\n)?(?:<!-- sample: ([^\n]+) -->\n)?```(console|python)\n(.*?)```",
    re.S,
)
PAGES = ["README.md", *sorted(f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md"))]
BLOCKS = [
    (page, number, m[3], m[4], m[2])
    for page in PAGES
    for number, m in enumerate(BLOCK.finditer((ROOT / page).read_text(encoding="utf-8")))
    if not m[1]
]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """One folder a page, since a block goes on from the ones before."""
    folders = {page: tmp_path_factory.mktemp("page") for page in PAGES}
    for path in folders.values():
        (path / "examples").symlink_to(ROOT / "examples")
    return folders


def run(command, folder):
    environment = {
        **os.environ,
        "COLUMNS": "100",
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    return subprocess.run(
        command,
        shell=True,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
        env=environment,
    )


def matches(shown, actual):
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


def test_its_numbers_are_true():
    from zephyrus_geodata import load_dataset

    features = load_dataset("demo").features
    assert f"{len(features):,} named features** of sixteen kinds" in README
    assert len(features.kinds()) == 16


def test_readme_shows_something():
    kinds = [kind for page, _, kind, *_ in BLOCKS if page == "README.md"]
    assert kinds.count("console") >= 3
    assert kinds.count("python") >= 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "number", "kind", "text", "sample"),
    BLOCKS,
    ids=[f"{page}-{n}" for page, n, *_ in BLOCKS],
)
def test_block(page, number, kind, text, sample, folders):
    folder = folders[page]
    if sample is not None:
        if not (SAMPLES / sample).is_file():
            pytest.skip(f"the sample {sample} is not there")
        (folder / sample).symlink_to(SAMPLES / sample)
    if kind == "python":
        done = subprocess.run(
            [sys.executable, "-c", text], cwd=folder, capture_output=True, text=True, timeout=600
        )
        assert done.returncode == 0, done.stderr
        return
    for part in re.split(r"^\$ ", text, flags=re.M)[1:]:
        command, _, shown = part.replace("\\\n", "").partition("\n")
        assert shlex.split(command)
        done = run(command, folder)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        if shown.strip():
            assert matches(shown, done.stdout), (
                f"{command}\n--- shown\n{shown}\n--- printed\n{done.stdout}"
            )
