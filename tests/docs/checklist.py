"""docs/checklist.md, made from the pages: ``python tests/docs/checklist.py`` writes it."""

from blocks import PAGES, ROOT, blocks_of

CHECKLIST = "docs/checklist.md"

_HEAD = """# Checklist: what was run

Made from the pages by `tests/docs/checklist.py`; a test compares it with them.

- **Every console and Python block is run by a test**, in one empty folder a page, offline, on the
  embedded data, and what it prints is held against what is shown (`tests/docs/test_docs_pages.py`,
  `tests/docs/test_readme.py`). A block that isn't is marked on its page with the reason, and listed below.
- **Every `zephyrus` command and option that is named anywhere**, in a sentence or in a block that isn't
  run, exists (`tests/docs/test_docs_commands.py`), and every command there is is named somewhere.
- **Python that isn't run** compiles.
- **Links, anchors and the reference** are checked by a strict build of this site
  (`tests/docs/test_docs_site.py`).
- **MCP clients' configurations** are read and started (`tests/integrations/test_mcp_docs.py`).

## Run
"""


def checklist():
    """The text of the page."""
    pages = [page for page in PAGES if page != CHECKLIST and blocks_of(page)]
    rows = [
        "| page | commands run | Python blocks run | commands not run here | Python blocks not |"
    ]
    rows.append("|---|--:|--:|--:|--:|")
    total = [0, 0, 0, 0]
    for page in pages:
        blocks = blocks_of(page)
        counts = [
            sum(len(b.commands) for b in blocks if not b.not_run),
            sum(b.kind == "python" for b in blocks if not b.not_run),
            sum(len(b.commands) for b in blocks if b.not_run),
            sum(b.kind == "python" for b in blocks if b.not_run),
        ]
        total = [a + b for a, b in zip(total, counts, strict=True)]
        rows.append(f"| {_link(page)} | {' | '.join(map(str, counts))} |")
    rows.append(f"| **all** | {' | '.join(f'**{count}**' for count in total)} |")
    lines = [_HEAD, *rows, ""]
    samples = [b for page in pages for b in blocks_of(page) if b.sample and not b.not_run]
    lines += [
        f"{_link(b.page)} has a block that is run where the sample `{b.sample}` is, {len(b.commands)}"
        " of the commands above."
        for b in samples
    ]
    lines += ["", "## Not run here, and why", ""]
    for page in pages:
        skipped = [block for block in blocks_of(page) if block.not_run]
        if skipped:
            lines += [f"### {page}", ""]
        for block in skipped:
            reason = f"**{block.not_run[0].upper()}{block.not_run[1:]}.**"
            if block.by:
                reason += f" Run by `{'::'.join(filter(None, block.by))}`."
            lines += [f"- {reason}", *(f"    - `{command}`" for command in _shown(block))]
        lines += [""] if skipped else []
    return "\n".join(lines).rstrip() + "\n"


def _link(page):
    path = page.removeprefix("docs/") if page.startswith("docs/") else f"../{page}"
    return f"[{page.removeprefix('docs/')}]({path})"


def _shown(block):
    if block.kind == "python":
        return [f"{block.text.splitlines()[0]} …"]
    return [command.partition("  #")[0].strip() for command, _ in block.commands]


if __name__ == "__main__":
    (ROOT / CHECKLIST).write_text(checklist(), encoding="utf-8")
