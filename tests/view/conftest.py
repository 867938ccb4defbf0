import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # for the helpers beside the tests: run_maker


@pytest.fixture(scope="module")
def chromium():
    from browsing import CHROMIUM

    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def watch(chromium):
    from browsing import DESKTOP, Watched

    contexts = []

    def watched(file, viewport=DESKTOP, **options):
        contexts.append(chromium.new_context(viewport=viewport, **options))
        return Watched(contexts[-1], file)

    yield watched
    for context in contexts:
        context.close()
