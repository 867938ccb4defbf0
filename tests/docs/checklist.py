"""docs/checklist.md, made from the pages: ``python tests/docs/checklist.py`` writes it."""

from blocks import PAGES, ROOT, blocks_of
from standins import KINDS

CHECKLIST = "docs/checklist.md"

_HEAD = """# Checklist: what was run

Made from the pages by `tests/docs/checklist.py`; a test compares it with them.

- **Console and Python blocks are run by tests**, in one empty folder a page, offline, on the embedded
  data, and what they print is held against what is shown (`tests/docs/test_docs_pages.py`,
  `tests/docs/test_readme.py`).
- **Where a command needs a model, a server, people or a file, something stands in for it**, and the rest
  of the command is as it is shown (`tests/docs/standins.py`). A block that takes too long is run by
  another test, which does the same with less. What isn't run at all is listed with the reason.
- **Every `zephyrus` command and option that is named anywhere**, in a sentence or in a block that isn't
  run, exists (`tests/docs/test_docs_commands.py`), and every command there is is named somewhere.
- **Python that isn't run** compiles.
- **Links, anchors and the reference** are checked by a strict build of this site
  (`tests/docs/test_docs_site.py`).
- **MCP clients' configurations** are read and started (`tests/integrations/test_mcp_docs.py`).

## Run
"""
_COLUMNS = (
    "as they stand",
    "with a stand-in",
    "by another test",
    "not run",
    "Python run",
    "not run",
)


def checklist():
    """The text of the page."""
    pages = [page for page in PAGES if page != CHECKLIST and blocks_of(page)]
    rows = [f"| page | {' | '.join(_COLUMNS)} |", "|---|--:|--:|--:|--:|--:|--:|"]
    total = [0] * len(_COLUMNS)
    for page in pages:
        counts = _counts(blocks_of(page))
        total = [a + b for a, b in zip(total, counts, strict=True)]
        rows.append(f"| {_link(page)} | {' | '.join(map(str, counts))} |")
    rows.append(f"| **all** | {' | '.join(f'**{count}**' for count in total)} |")
    blocks = [block for page in pages for block in blocks_of(page)]
    lines = [_HEAD, *rows, ""]
    lines += [
        f"{_link(b.page)} has a block that is run where the sample `{b.sample}` is, {len(b.commands)}"
        " of the commands above."
        for b in blocks
        if b.sample and not b.not_run
    ]
    lines += _part("Not run", [b for b in blocks if b.not_run and not b.by], _why)
    lines += _part("Run by another test", [b for b in blocks if b.by], _why)
    lines += _part("Run with a stand-in", [b for b in blocks if b.stand_ins], _what_stands_in)
    lines += [f"- **{name}**: {what}." for name, what in KINDS.items()]
    return "\n".join(lines).rstrip() + "\n"


def _counts(blocks):
    """How many there are, in the order of `_COLUMNS`."""
    commands = dict.fromkeys(_COLUMNS[:4], 0)
    for block in blocks:
        way = (
            ("by another test" if block.by else "not run")
            if block.not_run
            else ("with a stand-in" if block.stand_ins else "as they stand")
        )
        commands[way] += len(block.commands)
    python = [block for block in blocks if block.kind == "python"]
    skipped = sum(bool(block.not_run) for block in python)
    return [*commands.values(), len(python) - skipped, skipped]


def _part(title, blocks, about):
    lines = ["", f"## {title}", ""]
    for page in dict.fromkeys(block.page for block in blocks):
        lines += [f"### {page}: {title.lower()}", ""]
        for block in blocks:
            if block.page == page:
                lines += [f"- {about(block)}", *(f"    - `{one}`" for one in _shown(block))]
        lines.append("")
    return lines


def _why(block):
    reason = f"**{block.not_run[0].upper()}{block.not_run[1:]}.**"
    return reason + (f" By `{'::'.join(filter(None, block.by))}`." if block.by else "")


def _what_stands_in(block):
    return f"**{', '.join(block.stand_ins).capitalize()}.**"


def _link(page):
    path = page.removeprefix("docs/") if page.startswith("docs/") else f"../{page}"
    return f"[{page.removeprefix('docs/')}]({path})"


def _shown(block):
    if block.kind == "python":
        return [f"{block.text.splitlines()[0]} …"]
    return [command.partition("  #")[0].strip() for command, _ in block.commands]


if __name__ == "__main__":
    (ROOT / CHECKLIST).write_text(checklist(), encoding="utf-8")
