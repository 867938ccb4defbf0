"""What the documentation site does beyond MkDocs.

Pages link as they are read in the repository (``../ARCHITECTURE.md``). Each file of `OUTSIDE` is in
the site under its own path, and links to it lead there; a link to anything else outside of ``docs/``
is shown as plain text, since the site doesn't hold it. Why a block is not run is shown above it. The
page of the command line gets what ``--help`` prints.
"""

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from zephyrus.cli.main import app

ROOT = Path(__file__).parents[1]
OUTSIDE = (
    "README.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "examples/local_model/README.md",
    "examples/notebook/first_steps.ipynb",
    "examples/my_env.py",
    "examples/my_tools.py",
    "geodata/build/README.md",
    "geodata/zephyrus_geodata/data/NOTICE.md",
)
_LINK = re.compile(r"\[([^\]]+)\]\(([^)#\s:]+)(#[^)\s]+)?\)")
_WIDTH = 80
_HELP = "<!-- the help of every command -->"
_NOT_RUN = re.compile(r"^<!-- not run: (.+?) -->$", re.M)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the files of `OUTSIDE`; a Python file as a page that shows it, a notebook as it is."""
    for name in OUTSIDE:
        text = (ROOT / name).read_text(encoding="utf-8")
        if name.endswith(".py"):
            text = f"# {name}\n\n```python\n{text}```\n"
        files.append(File.generated(config, _as_page(name), content=text))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Lead links to pages of the site, show why a block is not run, and put the help in."""
    here = page.file.src_uri
    source = next((name for name in OUTSIDE if _as_page(name) == here), f"docs/{here}")

    def led(link: re.Match[str]) -> str:
        text, target, anchor = link[1], link[2], link[3] or ""
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        if target in OUTSIDE:
            target = _as_page(target)
        elif target.startswith("docs/"):
            target = target.removeprefix("docs/")
        elif (ROOT / target).exists():
            return text
        else:
            return link[0]  # a broken link: the strict build stops at it
        return f"[{text}]({posixpath.relpath(target, posixpath.dirname(here) or '.')}{anchor})"

    markdown = _LINK.sub(led, markdown)
    if _HELP in markdown:
        markdown = markdown.replace(_HELP, "\n".join(_help(app, "zephyrus")))
    return _NOT_RUN.sub(r'<p class="not-run">Not run by the tests: \1</p>\n', markdown)


def _help(command: click.Command, name: str, parent: click.Context | None = None) -> Iterator[str]:
    """The help of a command and those below it, as it is in a terminal, each below a heading."""
    settings = command.context_settings | {"terminal_width": _WIDTH}
    context = command.context_class(command, info_name=name, parent=parent, **settings)
    level = "#" * (context.command_path.count(" ") + 2)
    yield f"{level} {context.command_path}\n\n```text\n{context.get_help()}\n```\n"
    if isinstance(command, click.Group):
        for inner in command.list_commands(context):
            found = command.get_command(context, inner)
            assert found is not None
            yield from _help(found, inner, context)


def _as_page(name: str) -> str:
    if name == "README.md":  # MkDocs would take it for the start page
        return "overview.md"
    return f"{name.removesuffix('.py')}.md" if name.endswith(".py") else name
