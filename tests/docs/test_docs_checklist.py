"""The checklist is that of the pages as they are."""

from blocks import ROOT
from checklist import CHECKLIST, checklist


def test_the_checklist_is_up_to_date():
    told = (ROOT / CHECKLIST).read_text(encoding="utf-8")
    assert told == checklist(), "run: python tests/docs/checklist.py"


def test_the_files_that_it_names_exist():
    import re

    for file in re.findall(r"`(tests/[\w/.]+)", checklist()):
        assert (ROOT / file).is_file()


def test_every_stand_in_is_told():
    from blocks import PAGES, blocks_of
    from standins import KINDS

    named = {name for page in PAGES for block in blocks_of(page) for name in block.stand_ins}
    assert named == set(KINDS)
