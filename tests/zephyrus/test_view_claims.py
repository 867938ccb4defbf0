import asyncio
import contextlib
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import aiohttp
import pytest
from evaluation_parts import NoteEnv, WordJudge, make_run
from hypothesis import given
from hypothesis import strategies as st

from zephyrus.evaluation import evaluate
from zephyrus.view.claims import locate, write_claim_view

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")

REFERENCES = {
    "e1": "Rain falls in the west. Wind blows from the north. A front crosses on Tuesday.",
    "e2": "Snow lies.",
}
ATTACK = (
    "Rain falls in the west. \N{GRINNING FACE} Not wind blows from the north. "
    "</script><script>document.title='owned'</script>"
    "<img src=x onerror=\"document.title='owned'\"> {{SCRIPT}} & \u2028 \u202e evil"
)


class Liar(WordJudge):
    """Writes markup into what it says."""

    async def rubric(self, brief, *, scoring_pass=0):
        scores = await super().rubric(brief, scoring_pass=scoring_pass)
        return type(scores)(scores.rubric, scores.scores, {"clear": "<b>bold</b></script>"})


@pytest.fixture
def page(tmp_path):
    env = NoteEnv(REFERENCES)
    run = make_run(tmp_path / "r<i>", env, {("e1", 0): ATTACK, ("e2", 0): None}, "<u>policy</u>")
    judges = [Liar("words"), WordJudge("<s>soft</s>", deterministic=False)]
    found = evaluate(run, env, judges, progress=False)
    file = tmp_path / "claims.html"
    write_claim_view(file, run, env, found)
    return file


class Reader(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.scripts = [], [], []
        self._in_script = False

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *attribute) for attribute in attrs]
        self._in_script = tag == "script"

    def handle_data(self, data):
        if self._in_script:
            self.scripts.append(data)
            self._in_script = False


def read(file):
    reader = Reader()
    reader.feed(file.read_text())
    return reader


def test_one_file_that_loads_nothing_and_holds_no_markup_of_a_text(page):
    found = read(page)
    assert found.tags.count("script") == 2 and "img" not in found.tags and "b" not in found.tags
    assert not any(name in ("src", "href", "style") for _, name, _ in found.attributes)
    assert not any(name.startswith("on") for _, name, _ in found.attributes)
    policy = next(value for _, name, value in found.attributes if "default-src" in (value or ""))
    assert "default-src 'none'" in policy and "unsafe" not in policy and "http" not in policy
    assert not set("<>&") & set(found.scripts[0]), "the data can neither end nor nest the element"
    assert "<i>" not in page.read_text() and "<u>" not in page.read_text()


def test_the_data_of_the_page_are_the_judgements(page):
    data = json.loads(read(page).scripts[0])
    assert [event["id"] for event in data["events"]] == ["e1", "e2"]
    assert data["judges"] == [["words", 1], ["<s>soft</s>", 3]]
    event = data["events"][0]
    assert len(event["said"]) == 4 and event["reference"] == REFERENCES["e1"]
    # Control and direction characters are gone, one for one: places in the text stay right.
    assert event["report"] == ATTACK.replace("\u202e", "\ufffd")
    words = event["said"][0]
    first, second = words["claims"]["report"][:2]
    assert (first["tag"], first["label"], first["text"]) == (
        "S1",
        "SUPPORTED",
        "Rain falls in the west",
    )
    assert (first["at"], first["there"]) == ([[0, 22]], [[0, 22]])
    assert second["tag"] == "N1" and second["there"] == []
    start, end = second["at"][0]
    assert event["report"][start:end] == second["text"], "counted in characters, not UTF-16"
    back = words["claims"]["reference"]
    assert [claim["tag"] for claim in back] == ["S1", "N1", "N2"]
    assert words["scores"]["precision"] == 1.0
    assert words["criteria"][0] == ["Clarity", 10, "<b>bold</b></script>"]
    empty = data["events"][1]["said"][0]
    assert empty["empty"] and empty["scores"]["f1"] == 0 and empty["claims"]["report"] == []


def test_a_missing_judgement_is_shown_as_missing(tmp_path):
    env = NoteEnv(REFERENCES)
    run = make_run(tmp_path / "r", env, {("e1", 0): "Rain falls in the west."})
    judge = WordJudge()
    judge.down_for = ("claims",)
    file = tmp_path / "c.html"
    write_claim_view(file, run, env, evaluate(run, env, judge, progress=False))
    said = json.loads(read(file).scripts[0])["events"][0]["said"][0]
    assert said["claims"] == {"report": None, "reference": None}
    assert said["missing"] == {"claims": "words is down"} and said["scores"]["f1"] is None


TEXT = "Strong winds, gusting to 45 kt,\nare likely... Rain ends by Tuesday evening in the valleys."


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("Rain ends", ["Rain ends"]),
        ("gusting to 45 kt, are LIKELY", ["gusting to 45 kt,\nare likely"]),
        ("kt,\nare likely... Rain ends", ["kt,\nare likely... Rain ends"]),
        ("Strong winds … ends by Tuesday", ["Strong winds", "ends by Tuesday"]),
        (
            "ending by Tuesday evening, in the valleys",
            ["ends by Tuesday evening in the valleys."],
        ),
        ("Snow falls in the mountains", []),
        ("", []),
        ("  ", []),
        (".*", []),
    ],
)
def test_quotes_are_found_but_for_case_space_gaps_and_small_changes(quote, found):
    assert [TEXT[start:end] for start, end in locate(TEXT, quote)] == found


@given(st.text(), st.data())
def test_a_verbatim_quote_is_always_found(text, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    quote = text[start:end]
    spans = locate(text, quote)
    if quote.strip():
        (span,) = spans
        assert text[span[0] : span[1]] == quote.strip()


@given(st.text(max_size=60), st.text(max_size=60))
def test_spans_lie_in_the_text(text, quote):
    for start, end in locate(text, quote):
        assert 0 <= start < end <= len(text)


def browse(file, fragment="", *options):
    """The page's document after its script ran in headless Chromium."""
    done = subprocess.run(
        [
            CHROMIUM,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            f"--user-data-dir={file.parent / 'profile'}",
            "--virtual-time-budget=2000",
            *options,
            f"{file.as_uri()}{fragment}",
        ],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")


@pytest.mark.slow
@needs_chromium
def test_in_a_browser_claims_are_shown_and_no_text_acts(page):
    dom = browse(page, "", "--dump-dom")
    assert "<title>Claims of r&lt;i&gt; (&lt;u&gt;policy&lt;/u&gt;)</title>" in dom, (
        "no script of the report has run"
    )
    body = dom[dom.index("<main>") : dom.index('<script type="application/json"')]
    assert "<img" not in body and "<script" not in body and "<b>" not in body
    assert 'class="S" data-claims="0">Rain falls in the west</mark>' in body
    # Characters beyond 16 bits, as the emoji before this sentence, shift no mark.
    assert re.search(r'<mark class="N"[^>]*>[^<>]* Not wind blows from the north</mark>', body)
    # The same tag in both texts and in the list of claims.
    assert len(re.findall(r'<button class="tag S"[^>]*>S1</button>', body)) == 3
    assert 'aria-label="S1, supported evidence: Rain falls in the west"' in body
    assert "supported: 1" in body and "refuted: 0" in body
    assert "&lt;b&gt;bold&lt;/b&gt;&lt;/script&gt;" in body
    assert re.search(r"<dt>Precision</dt><dd>1\.000<small>run 0\.500</small>", body)


@pytest.mark.slow
@needs_chromium
def test_in_a_browser_the_other_side_judge_pass_and_event(page):
    dom = browse(page, "#event=0&judge=1&pass=2&side=reference", "--dump-dom")
    body = dom[dom.index("<main>") : dom.index('<script type="application/json"')]
    assert 'class="S" data-claims="0">Rain falls in the west</mark>' in body
    assert 'class="N" data-claims="1">Wind blows from the north</mark>' in body
    empty = browse(page, "#event=1", "--dump-dom")
    assert "No report was written: it scores 0." in empty


@pytest.mark.slow
@needs_chromium
def test_in_a_browser_a_picture_of_the_page(page):
    picture = page.with_name("shot.png")
    browse(page, "", f"--screenshot={picture}", "--window-size=1200,900")
    from PIL import Image

    with Image.open(picture) as image:
        texts = image.convert("RGB").crop((0, 300, 1200, 450))
    colours = {colour for _, colour in texts.getcolors(texts.width * texts.height)}
    assert (0xC8, 0xF0, 0xD1) in colours, "a supported claim is green"
    assert (0xE4, 0xE7, 0xEB) in colours, "a neutral one is grey"


def test_the_wheel_would_carry_the_page():
    import zephyrus.view

    folder = Path(zephyrus.view.__file__).parent
    assert {"claims.html", "claims.css", "claims.js"} <= {f.name for f in folder.iterdir()}


class Tab:
    """The page in a running Chromium, driven by the DevTools protocol."""

    def __init__(self, socket):
        self._socket, self._number = socket, 0

    async def send(self, method, **params):
        self._number += 1
        await self._socket.send_json({"id": self._number, "method": method, "params": params})
        while (reply := await self._socket.receive_json(timeout=20)).get("id") != self._number:
            pass
        return reply["result"]

    async def run(self, script):
        result = await self.send("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    async def press(self, key):
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        keys = {
            "key": key,
            "code": key,
            "windowsVirtualKeyCode": {"Enter": 13, "Tab": 9}.get(key, 0),
        }
        await self.send("Input.dispatchKeyEvent", type="keyDown", text=text, **keys)
        await self.send("Input.dispatchKeyEvent", type="keyUp", **keys)


@contextlib.asynccontextmanager
async def browser(file):
    child = await asyncio.create_subprocess_exec(
        CHROMIUM,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--remote-debugging-port=0",
        f"--user-data-dir={file.parent / 'driven'}",
        file.as_uri(),
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(30):
            while b"DevTools listening on ws://" not in (line := await child.stderr.readline()):
                pass
        port = re.search(rb"ws://[^:]+:(\d+)/", line)[1].decode()
        async with aiohttp.ClientSession() as session:
            async with session.get(f"http://127.0.0.1:{port}/json/list") as reply:
                pages = [t for t in await reply.json(content_type=None) if t["type"] == "page"]
            async with session.ws_connect(pages[0]["webSocketDebuggerUrl"]) as socket:
                tab = Tab(socket)
                for _ in range(400):
                    if await tab.run("document.querySelectorAll('#claims button').length"):
                        break
                    await asyncio.sleep(0.05)
                yield tab
    finally:
        child.terminate()
        await child.wait()


LIT = "[...document.querySelectorAll('.lit')].map((e) => e.tagName + ' ' + e.textContent.slice(0, 14))"


@pytest.mark.slow
@needs_chromium
async def test_in_a_browser_a_click_or_a_key_lights_a_claim_and_its_evidence(page):
    async with browser(page) as tab:
        assert await tab.run(LIT) == []
        await tab.run("document.querySelector('#reference button.S').click()")
        lit = await tab.run(LIT)
        assert lit.count("MARK Rain falls in ") == 2, "in the report and in the reference"
        assert lit.count("BUTTON S1") == 3 and any(row.startswith("TR S1") for row in lit)
        pressed = "document.querySelectorAll('[aria-pressed=true]').length"
        assert await tab.run(pressed) == 3
        await tab.press("Escape")
        assert await tab.run(LIT) == [] and await tab.run(pressed) == 0

        await tab.run("document.querySelector('input[value=reference]').focus()")
        await tab.press("Tab")  # the first tag in the report
        focus = "document.activeElement.textContent"
        assert await tab.run(focus) == "S1"
        assert "BUTTON S1" in await tab.run(LIT), "focus is enough to see it"
        await tab.press("Enter")
        assert await tab.run(pressed) == 3

        await tab.press("]")
        assert await tab.run("document.getElementById('event').value") == "e2"
        assert "scores 0" in await tab.run("document.getElementById('notice').textContent")
        await tab.press("[")
        assert await tab.run("location.hash") == "#event=0&judge=0&pass=0&side=report"


@pytest.mark.slow
@needs_chromium
async def test_in_a_browser_the_policy_forbids_any_other_script(page):
    async with browser(page) as tab:
        add = "const s = document.createElement('script'); s.textContent = 'window.ran = 1';"
        await tab.run(f"{{ {add} document.body.append(s); }}")
        await tab.run(
            "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.ran=2\">')"
        )
        await asyncio.sleep(0.2)
        assert await tab.run("window.ran === undefined && document.title.startsWith('Claims')")
