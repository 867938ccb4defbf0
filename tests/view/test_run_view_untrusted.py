"""In a real browser, nothing that a model or a tool wrote acts."""

import socket

import pytest
from browsing import CHROMIUM
from run_maker import ATTACK, broken, make_run, png, rollout

from zephyrus.view.run import write_run_view

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine"),
    pytest.mark.slow,
]

RED = png(200, 0, 0)


@pytest.fixture
def hostile(tmp_path):
    attack = rollout(ATTACK, 0.0, template=ATTACK, said=ATTACK, text=f"{ATTACK}\n" * 40, image=RED)
    attack.messages[2] = type(attack.messages[2])(
        "assistant", ATTACK, reasoning=ATTACK, tool_calls=attack.messages[2].tool_calls
    )
    attack.calls[0].name = attack.calls[1].arguments = ATTACK
    attack.calls[0].arguments = '{"<img src=x onerror=window.owned=1>": "<b>x</b>", "__proto__": 1}'
    attack.calls[1].error = ATTACK
    attack.rewards[ATTACK] = 0.0
    attack.unscored = ATTACK
    attack.task["gold"] = {"constructor": ATTACK}
    runs = [
        make_run(tmp_path / f"r{n}<img src=x>", [attack, broken("b")], policy=ATTACK)
        for n in range(2)
    ]
    file = tmp_path / "view.html"
    write_run_view(file, runs)
    return file


def test_no_text_acts_or_becomes_markup(watch, hostile):
    watched = watch(hostile)
    tab = watched.open()
    title = tab.title()
    tab.click(".fold")
    for name in ("template", "issue", "tool"):
        tab.select_option(f"[name={name}]", index=1)
    tab.select_option("[name=issue]", "failed")
    for link in range(tab.locator(".rollouts .task a").count()):
        tab.locator(".rollouts .task a").nth(link).click()
        tab.wait_for_selector(".both .trace")
        tab.wait_for_selector("figure img")
        while tab.locator(".more[aria-expanded=false]").count():
            tab.locator(".more[aria-expanded=false]").first.click()
        for summary in tab.locator("summary").all():
            summary.click()
    shown = tab.evaluate("document.querySelector('.both').textContent")
    harmless = ATTACK.replace("\u202e", "\N{REPLACEMENT CHARACTER}")
    # In each run: answer, gold is JSON; reasoning, message, tool, arguments, error and what it said.
    assert shown.count(harmless) >= 2 * (40 + 5)
    assert '"<b>x</b>"' not in shown and "<b>x</b>" in shown
    assert "__proto__" in shown, "an argument is shown whatever its name"
    assert tab.evaluate("window.owned") is None
    assert tab.title() == title
    app = tab.locator("#app")
    assert app.locator("b, script, a[href^=javascript]").count() == 0
    sources = app.locator("img").evaluate_all("images => images.map((i) => i.src.slice(0, 22))")
    assert sources and set(sources) == {"data:image/png;base64,"}
    watched.quiet()


def test_the_policy_refuses_what_a_mistake_of_ours_would_let_in(watch, hostile):
    watched = watch(hostile)
    tab = watched.open()
    refused = tab.evaluate(
        """() => {
          const script = document.createElement("script");
          try { script.textContent = "window.owned = 1"; document.body.append(script); } catch {}
          try { document.body.insertAdjacentHTML("beforeend", "<img src=x onerror='owned=1'>"); }
          catch (error) { return error.name; }
        }"""
    )
    assert refused == "TypeError", "no text is read as markup at all"
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/x.png"
        tab.evaluate(
            """(url) => new Promise((done) => {
              const image = document.createElement("img");
              image.onload = image.onerror = done;
              image.src = url;
              document.body.append(image);
            })""",
            url,
        )
        assert tab.evaluate("(url) => fetch(url).catch((e) => e.name)", url) == "TypeError"
        server.settimeout(0.3)
        with pytest.raises(TimeoutError):
            server.accept()
    assert tab.evaluate("window.owned") is None
    assert any("Content Security Policy" in said for said in watched.said)
