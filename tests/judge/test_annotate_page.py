"""The annotation page in a real browser: keys in, labels out, and the way back into a table."""

import asyncio
import itertools
import json
import shutil
import signal
import time
from contextlib import asynccontextmanager

import aiohttp
import pytest

from zephyrus.judge.annotate import Judged, export, import_labels, pairs_of, sample
from zephyrus.judge.assess import Assessment
from zephyrus.judge.base import Brief, Claim, Criterion, Label, Rubric, Verdict

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
S, R, N = Label.SUPPORTED, Label.REFUTED, Label.NEUTRAL
HOSTILE = (
    "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
)
CLAIMS = ["Rain falls.", "=1+1", "-3 °C at night.", HOSTILE, 'A "low", deepening.']

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine"),
    pytest.mark.slow,
]


class Tab:
    """One page of a browser, driven by the DevTools protocol."""

    def __init__(self, socket):
        self._socket = socket
        self._ids = itertools.count(1)
        self.said = []

    async def do(self, method, **parameters):
        id_ = next(self._ids)
        await self._socket.send_json({"id": id_, "method": method, "params": parameters})
        while True:
            message = await self._socket.receive_json(timeout=20)
            if message.get("id") == id_:
                assert "error" not in message, message
                return message["result"]
            self.said.append(message)

    async def value(self, expression):
        found = await self.do("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    async def open(self, url):
        await self.do("Page.navigate", url=url)
        for _ in range(200):
            if await self.value("location.href + document.readyState") == url + "complete":
                return
            await asyncio.sleep(0.05)
        raise TimeoutError(url)

    async def press(self, keys):
        for key in keys:
            for kind in ("keyDown", "keyUp"):
                await self.do("Input.dispatchKeyEvent", type=kind, key=key)


@asynccontextmanager
async def browser(folder):
    """A headless browser with a profile and downloads of its own."""
    profile = folder / "profile"
    process = await asyncio.create_subprocess_exec(
        CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
        "--remote-debugging-port=0", f"--user-data-dir={profile}", "about:blank",
        stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        file = profile / "DevToolsActivePort"
        end = time.monotonic() + 60
        while not (file.exists() and file.read_text().count("\n") >= 1):
            assert time.monotonic() < end, "the browser did not start"
            assert process.returncode is None, "the browser ended"
            await asyncio.sleep(0.05)
        port = file.read_text().split()[0]
        async with aiohttp.ClientSession() as session:
            async with session.get(f"http://127.0.0.1:{port}/json/list") as reply:
                pages = [page for page in await reply.json() if page["type"] == "page"]
            async with session.ws_connect(
                pages[0]["webSocketDebuggerUrl"], max_msg_size=0
            ) as socket:
                tab = Tab(socket)
                await tab.do("Log.enable")
                await tab.do("Runtime.enable")
                await tab.do("Page.enable")
                yield tab
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        await process.wait()


@pytest.fixture
def pairs():
    brief = Brief(f"The report. {HOSTILE}", "The reference.\nTwo lines.", RUBRIC)
    verdicts = tuple(Verdict(Claim(text), S) for text in CLAIMS)
    assessment = Assessment("gpt", report_verdicts=verdicts, reference_verdicts=(verdicts[0],))
    return pairs_of([Judged("event", brief, assessment)])


RUBRIC = Rubric("r", "1", "", (Criterion("c", "C", "", {}),))


async def test_an_expert_labels_by_keyboard_and_downloads(tmp_path, pairs):
    chosen = sample(pairs.values(), seed=2)
    page = tmp_path / "claims.html"
    export(chosen, page)
    async with browser(tmp_path) as tab:
        await tab.do("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
        await tab.open(page.as_uri())
        seen = await tab.value("document.getElementById('claim').textContent")
        assert seen == chosen[0].claim
        await tab.press("123")
        await tab.press(["ArrowRight"])
        await tab.press(["s", "ArrowLeft", "0"])
        assert await tab.value("document.getElementById('count').textContent") == "3 of 6 labelled"
        await tab.press("sr")
        assert await tab.value("document.getElementById('count').textContent") == "5 of 6 labelled"

        # What is done outlives the page; the next one without a label is the one that was skipped.
        await tab.open("about:blank")
        await tab.open(page.as_uri())
        assert await tab.value("document.getElementById('count').textContent") == "5 of 6 labelled"
        await tab.press("u")
        seen = await tab.value("document.getElementById('claim').textContent")
        assert seen == chosen[3].claim

        # Typing into a field gives no labels.
        await tab.value("document.getElementById('name').focus()")
        await tab.do("Input.insertText", text="Ann 1")
        await tab.press("1")
        await tab.value("document.getElementById('comment').focus()")
        await tab.do("Input.insertText", text="=odd, isn't it")
        assert await tab.value("document.getElementById('count').textContent") == "5 of 6 labelled"
        await tab.value("document.getElementById('save').click()")
        file = tmp_path / "Ann 1.csv"
        for _ in range(400):
            if file.exists():
                break
            await asyncio.sleep(0.05)
        assert await tab.value("document.title") == "Label claims"  # no text ran as a script
        blocked = [json.dumps(m) for m in tab.said if m["method"] in ("Log.entryAdded",)]
        assert not blocked
        broken = [m for m in tab.said if m["method"] == "Runtime.exceptionThrown"]
        assert not broken
    text = file.read_text("utf-8-sig")
    assert "'=odd, isn't it" in text
    assert '"=' not in text
    table = import_labels([file], pairs)
    want = {0: S, 1: R, 2: N, 4: S, 5: R}
    assert table.labels["Ann 1"] == {chosen[i].item: label for i, label in want.items()}
