"""The documentation site builds without a warning and asks nothing of the network."""

import os
import re
import shutil
import subprocess
import sys

import click
import pytest
from blocks import PAGES, ROOT

from zephyrus.cli.main import app

for needed in ("mkdocs", "material", "mkdocstrings_handlers.python"):
    pytest.importorskip(needed, reason="the extra docs is not installed")

pytestmark = pytest.mark.slow
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_every_page_is_there(site):
    for page in PAGES:
        if page.startswith("docs/"):
            assert (site / page.removeprefix("docs/")).with_suffix(".html").is_file()


def test_nothing_is_loaded_from_elsewhere(site):
    loads = re.compile(
        r"""<(?:script|img|iframe|source)[^>]*\ssrc=["']?(?:https?:)?//"""
        r"""|<link(?=[^>]*rel=["']?(?:stylesheet|preconnect|icon|preload))[^>]*href=["']?(?:https?:)?//"""
    )
    pages = list(site.rglob("*.html"))
    assert len(pages) > 20
    assert [page.name for page in pages if loads.search(page.read_text(encoding="utf-8"))] == []
    sheets = [sheet.read_text(encoding="utf-8") for sheet in site.rglob("*.css")]
    assert not [sheet for sheet in sheets if re.search(r"(?:@import|url\()\s*[\"']?https?:", sheet)]


def test_why_a_block_is_not_run_is_shown(site):
    page = (site / "scale-out.html").read_text(encoding="utf-8")
    assert "Not run by the tests" not in page
    page = (site / "curriculum.html").read_text(encoding="utf-8")
    assert "Not run by the tests: it needs GPUs" in page


def test_files_outside_of_the_docs_are_pages_and_links_lead_there(site):
    page = (site / "write-a-tool.html").read_text(encoding="utf-8")
    assert 'href="examples/my_tools.html"' in page
    assert "wind_chill" in (site / "examples" / "my_tools.html").read_text(encoding="utf-8")


def test_the_help_of_every_command_is_there(site):
    page = (site / "reference" / "cli.html").read_text(encoding="utf-8")
    for name in ("env-rollout", "data-reports-parse", *app.list_commands(click.Context(app))):
        assert f'id="zephyrus-{name}"' in page
    assert "--concurrency" in page


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")
def test_pages_are_readable_in_a_browser(site):
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not there")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for name in ("index", "papers", "reference/zephyrus", "reference/cli"):
            tab, said, asked = browser.new_page(viewport={"width": 1300, "height": 850}), [], []
            tab.set_default_timeout(60_000)  # a busy machine fails no test
            tab.on("console", lambda message, said=said: said.append(message.text))
            tab.on("pageerror", lambda error, said=said: said.append(str(error)))
            tab.on("request", lambda request, asked=asked: asked.append(request.url))
            tab.goto((site / f"{name}.html").as_uri())
            assert said == [] and all(url.startswith(site.as_uri()) for url in asked)
            found = axe.Axe().run(tab).response["violations"]
            assert [v["id"] for v in found if v["impact"] in ("serious", "critical")] == []
            tab.set_viewport_size({"width": 390, "height": 800})
            wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            assert tab.evaluate(wide) == 0, "a phone would have to scroll sideways"
            tab.close()
        browser.close()
