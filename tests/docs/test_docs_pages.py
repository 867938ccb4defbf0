"""Everything the pages in docs/ show is run: console blocks and Python blocks (see `blocks`)."""

import contextlib

import pytest
import standins
from blocks import PAGES, ROOT, SAMPLES, blocks_of, matches, run_block

BLOCKS = [
    block
    for page in PAGES
    if page != "README.md"
    for block in blocks_of(page)
    if block.not_run is None
]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """One folder a page, since a block goes on from the ones before, and its stand-ins."""
    folders = {}
    with contextlib.ExitStack() as all_of_them:
        for page in {block.page for block in BLOCKS}:
            folder = tmp_path_factory.mktemp("page")
            (folder / "examples").symlink_to(ROOT / "examples")
            folders[page] = all_of_them.enter_context(standins.StandIns(folder, page))
        yield folders


@pytest.mark.slow
@pytest.mark.parametrize("block", BLOCKS, ids=[f"{b.page}-{b.number}" for b in BLOCKS])
def test_block(block, folders):
    stand_ins = folders[block.page]
    if block.sample is not None:
        if not (SAMPLES / block.sample).is_file():
            pytest.skip(f"the sample {block.sample} is not there")
        (stand_ins.folder / block.sample).symlink_to(SAMPLES / block.sample)
    if "random models" in block.stand_ins:
        pytest.importorskip("transformers", reason="needs the extra local")
    run_block(block, stand_ins.folder, stand_ins)


@pytest.mark.parametrize(
    ("shown", "printed", "right"),
    [
        ("a  b\n", "x\na b\ny\n", True),
        ("a\nb\n", "a\nx\nb\n", False),
        ("a\n...\nb\n", "a\nx\ny\nb\n", True),
        ("took … s\n", "took 3.1 s\n", True),
        ("1.0\n", "100\n", False),
        ("...\nend\n", "begin\n", False),
    ],
)
def test_output_is_held_against_what_is_shown(shown, printed, right):
    assert bool(matches(shown, printed)) is right
