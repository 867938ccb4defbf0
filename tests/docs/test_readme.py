"""Everything the README shows is run, and its numbers are true."""

import pytest
import standins
from blocks import ROOT, blocks_of, run_block

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = [block for block in blocks_of("README.md") if block.not_run is None]


@pytest.fixture(scope="module")
def stand_ins(tmp_path_factory):
    """One folder, since a block goes on from the ones before, and what stands in there."""
    folder = tmp_path_factory.mktemp("readme")
    (folder / "examples").symlink_to(ROOT / "examples")
    with standins.StandIns(folder, "README.md") as made:
        yield made


@pytest.mark.slow
@pytest.mark.parametrize("block", BLOCKS, ids=[str(block.number) for block in BLOCKS])
def test_block(block, stand_ins):
    if "random models" in block.stand_ins:
        pytest.importorskip("transformers", reason="needs the extra local")
    run_block(block, stand_ins.folder, stand_ins)


def test_its_numbers_are_true():
    from zephyrus_geodata import load_dataset

    features = load_dataset("demo").features
    assert f"{len(features):,} named features** of sixteen kinds" in README
    assert len(features.kinds()) == 16


def test_readme_shows_something():
    kinds = [block.kind for block in BLOCKS]
    assert kinds.count("console") >= 3
    assert kinds.count("python") >= 1
