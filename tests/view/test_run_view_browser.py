"""The page of a run in a real browser: what it shows, its keys and links, and that no text acts."""

from collections import Counter

import pytest
from browsing import CHROMIUM, DESKTOP, PHONE, page_of
from run_maker import SYSTEM, broken, png, rollout

from zephyrus.limits import StopReason

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine"),
    pytest.mark.slow,
]

RED = png(200, 0, 0)


SCORES = {"a1": 1.0, "a2": 0.0, "b1": 0.5, "b2": 0.0, "b3": 1.0}


@pytest.fixture
def file(tmp_path):
    some = [rollout(name, score, template=f"{name[0]}s") for name, score in SCORES.items()]
    some[1].stop, some[1].answer = StopReason.TURNS, None
    some[2].seconds, some[3].seconds = 9.0, 3.0
    some[4].calls[0].name = "other"
    some[3].messages[3] = rollout("b2", text="Needle in the hay.").messages[3]
    return page_of(tmp_path, [*some, broken("c1")])


def tasks(tab):
    return [text.split(" ·")[0] for text in tab.locator(".rollouts .task small").all_inner_texts()]


def count(tab):
    return tab.locator(".count [role=status]").inner_text()


# The table ------------------------------------------------------------------------------------


def test_search_filters_and_order(watch, file):
    watched = watch(file)
    tab = watched.open()
    assert tasks(tab) == [*SCORES, "c1"] and count(tab) == "6 rollouts"
    tab.fill("#search", "for b")
    assert tasks(tab) == ["b1", "b2", "b3"] and count(tab) == "3 of 6 rollouts"
    tab.fill("#search", '"FOR b2"')
    assert tasks(tab) == ["b2"]
    tab.fill("#search", "")
    tab.select_option("[name=template]", "bs")
    tab.select_option("[name=outcome]", "zero")
    assert tasks(tab) == ["b2"]
    tab.get_by_text("clear filters").click()
    for name, value, wanted in [
        ("stop", "turns", ["a2"]),
        ("stop", "infrastructure", ["c1"]),
        ("outcome", "broken", ["c1"]),
        ("issue", "unanswered", ["a2", "c1"]),
        ("issue", "hit-turns", ["a2"]),
        ("issue", "untooled", ["c1"]),
        ("issue", "kind-malformed_json", list(SCORES)),
        ("tool", "other", ["b3"]),
    ]:
        tab.select_option(f"[name={name}]", value)
        assert tasks(tab) == wanted, (name, value)
        tab.select_option(f"[name={name}]", "")
    counts = Counter("full" if s == 1 else "zero" if s == 0 else "partial" for s in SCORES.values())
    shown = tab.locator("[name=outcome] option").all_inner_texts()
    assert f"full score ({counts['full']})" in shown and f"no score ({counts['zero']})" in shown
    tab.select_option("[name=sort]", "score")
    assert tasks(tab) == ["a2", "b2", "b1", "a1", "b3", "c1"], "what has no score comes last"
    tab.select_option("[name=sort]", "-score")
    assert tasks(tab) == ["a1", "b3", "b1", "a2", "b2", "c1"]
    tab.get_by_role("columnheader", name="Time").get_by_role("button").click()
    assert tasks(tab)[:2] == ["b1", "b2"]
    assert tab.get_by_role("columnheader", name="Time").get_attribute("aria-sort") == "descending"
    watched.quiet()


def test_a_search_in_traces_finds_what_no_row_shows(watch, file):
    watched = watch(file)
    tab = watched.open("#q=needle")
    assert tasks(tab) == []
    assert "Nothing passes" in tab.inner_text(".list")
    tab.check("[name=deep]")
    tab.wait_for_selector(".rollouts .task a")
    assert tasks(tab) == ["b2"]
    tab.fill("#search", "malformed")
    assert tasks(tab) == list(SCORES), "what the rows say is found as well"
    watched.quiet()


def test_thousands_of_rollouts_are_paged(watch, tmp_path):
    file = page_of(tmp_path, [rollout(f"t{n:04}", n % 2) for n in range(2345)])
    watched = watch(file)
    tab = watched.open()
    assert count(tab) == "2,345 rollouts" and len(tasks(tab)) == 100
    tab.get_by_role("button", name="Next ›").click()
    assert tasks(tab) == [f"t{n:04}" for n in range(100, 200)]
    tab.fill("#search", "t2344")
    assert tasks(tab) == ["t2344"] and tab.locator("nav.pages").count() == 0
    tab.locator(".rollouts .task a").click()
    tab.wait_for_selector(".trace")
    assert "What is 40 + 2, for t2344?" in tab.inner_text(".rollout .step.user")
    tab.fill("#search", "")
    assert tab.inner_text(".place") == "2,345 of 2,345"
    tab.keyboard.press("Escape")  # leaves the field
    tab.keyboard.press("k")
    assert tab.inner_text(".rollout > h2") == "t2343"
    assert tasks(tab)[-1] == "t2344", "the table turned to the page of it"
    watched.quiet()


# One rollout ----------------------------------------------------------------------------------


def test_a_rollout_has_its_turns_calls_images_rewards_and_counts(watch, tmp_path):
    file = page_of(tmp_path, [rollout("a", 0.5, image=RED)])
    watched = watch(file)
    tab = watched.open("#rollout=a%230.0")
    tab.wait_for_selector("figure img")
    turns = tab.locator(".step.assistant").all_inner_texts()
    assert len(turns) == 2 and "2 calls, 1 failed" in turns[0]
    for shown in ("I shall add.", "a\n40", "The sum for a is 42.", "malformed json", "250 ms"):
        assert shown in turns[0], shown
    assert "<answer>42</answer>" in turns[1]
    facts = tab.inner_text(".facts")
    for shown in (
        "turns\n2 of 10",
        "tool calls\n2 of 24",
        "100 prompt, 7 completion",
        "reward\n0.500",
    ):
        assert shown in facts, shown
    assert tab.inner_text(".answers .gold") == "42.0"
    tab.click("summary:has-text('System prompt')")
    assert tab.inner_text(".step.system .text") == SYSTEM
    image = tab.locator("figure img")
    assert image.get_attribute("alt") == "A square."
    assert image.evaluate("image => image.naturalWidth") == 8
    from io import BytesIO

    from PIL import Image

    with Image.open(BytesIO(image.screenshot())) as picture:
        colours = {colour for _, colour in picture.convert("RGB").getcolors(10**6)}
    assert (200, 0, 0) in colours
    watched.quiet()


def test_what_broke_and_what_was_not_scored_is_said(watch, tmp_path):
    missing = rollout("m", None)
    missing.unscored = "the judge was down"
    file = page_of(tmp_path, [missing, broken("b")])
    tab = watch(file).open("#rollout=b%230.0")
    tab.wait_for_selector(".notice")
    assert "not scored" in tab.inner_text(".notice") and "OSError: gone" in tab.inner_text(
        ".notice"
    )
    tab = watch(file).open("#rollout=m%230.0")
    tab.wait_for_selector(".notice")
    assert tab.inner_text(".notice") == "Not scored: the judge was down"


def test_a_long_text_is_shown_in_part_until_asked(watch, tmp_path):
    text = "\n".join(f"line {n}" for n in range(400))
    tab = watch(page_of(tmp_path, [rollout("a", text=text)])).open("#rollout=a%230.0")
    more = tab.locator(".observation .more").first
    more.wait_for()
    assert "line 399" not in tab.inner_text(".trace")
    more.click()
    assert more.get_attribute("aria-expanded") == "true"
    assert "line 399" in tab.inner_text(".trace")


# Links and keys -------------------------------------------------------------------------------


def test_a_link_keeps_the_rollout_and_the_filters(watch, file):
    watched = watch(file)
    tab = watched.open()
    tab.select_option("[name=template]", "bs")
    tab.select_option("[name=sort]", "-seconds")
    assert tasks(tab) == ["b1", "b2", "b3"]
    tab.get_by_role("link", name="for b2").click()
    tab.wait_for_selector(".trace")
    link = tab.evaluate("location.hash")
    assert set(link[1:].split("&")) == {"rollout=b2%230.0", "template=bs", "sort=-seconds"}

    other = watch(file).open(link)
    other.wait_for_selector(".trace")
    assert other.inner_text(".rollout > h2") == "b2" and tasks(other) == ["b1", "b2", "b3"]
    assert other.inner_text(".place") == "2 of 3"
    other.reload()
    other.wait_for_selector(".trace")
    assert other.inner_text(".rollout > h2") == "b2"

    tab.go_back()
    tab.wait_for_selector(".rollout", state="detached")
    assert tasks(tab) == ["b1", "b2", "b3"], "Back leaves the rollout, not the filters"
    tab.go_forward()
    tab.wait_for_selector(".rollout")
    lost = watch(file).open("#rollout=gone%230.0")
    assert "no rollout gone#0.0" in lost.inner_text("[role=alert]")
    watched.quiet()


def test_everything_can_be_done_by_keys(watch, file):
    watched = watch(file)
    tab = watched.open()
    focus = "document.activeElement.textContent"
    tab.keyboard.press("j")
    tab.keyboard.press("j")
    tab.keyboard.press("j")
    tab.keyboard.press("k")
    assert "for a2" in tab.evaluate(focus)
    tab.keyboard.press("Enter")
    tab.wait_for_selector(".trace")
    heading = ".rollout > h2"
    assert tab.inner_text(heading) == "a2" and tab.evaluate(focus) == "a2"
    tab.keyboard.press("n")
    assert tab.evaluate("document.activeElement.dataset.turn") == "1"
    tab.keyboard.press("n")
    assert tab.evaluate("document.activeElement.dataset.turn") == "2"
    tab.keyboard.press("p")
    assert tab.evaluate("document.activeElement.dataset.turn") == "1"
    tab.keyboard.press("j")
    assert tab.inner_text(heading) == "b1"
    tab.wait_for_function(f"{focus} === 'b1'")  # as a reader does: the focus comes after the page
    tab.keyboard.press("e")
    assert tab.evaluate("document.activeElement.dataset.turn") == "1"
    tab.keyboard.press("k")
    tab.keyboard.press("k")
    tab.keyboard.press("k")
    assert tab.inner_text(heading) == "a1", "the first stays the first"
    tab.keyboard.press("Escape")
    tab.wait_for_selector(".rollout", state="detached")
    assert "for a1" in tab.evaluate(focus), "back where it was opened"
    tab.keyboard.press("/")
    tab.keyboard.type("jke")
    assert tab.input_value("#search") == "jke", "in a field a letter is a letter"
    tab.keyboard.press("Escape")
    tab.keyboard.press("?")
    assert tab.locator("dialog").is_visible()
    tab.uncheck("[name=keys]")
    tab.keyboard.press("Escape")
    assert not tab.locator("dialog").is_visible()
    tab.fill("#search", "")
    tab.keyboard.press("Escape")
    tab.keyboard.press("j")
    assert "for" not in tab.evaluate("document.activeElement.tagName === 'A' ? 'for' : ''")
    watched.quiet()


# Two runs -------------------------------------------------------------------------------------


@pytest.fixture
def both(tmp_path):
    first = [rollout("a", 0.0), rollout("b", 1.0), rollout("c", 0.5, image=RED), rollout("d", 1.0)]
    second = [
        rollout("c", 0.5, said="43"),
        rollout("b", 0.25),
        rollout("a", 1.0),
        rollout("e", 1.0),
    ]
    return page_of(tmp_path, first, second)


def test_two_runs_stand_side_by_side(watch, both):
    watched = watch(both)
    tab = watched.open()
    assert tasks(tab) == ["a", "b", "c", "d", "e"] and count(tab) == "5 pairs"
    changes = tab.locator("tbody td.change").all_inner_texts()
    assert changes == ["+1.000", "−0.750", "±0.000", "–", "–"]
    for value, wanted in {
        "better": ["a"],
        "worse": ["b"],
        "same": ["c"],
        "answers": ["c"],
        "alone": ["d", "e"],
    }.items():
        tab.select_option("[name=change]", value)
        assert tasks(tab) == wanted, value
    tab.select_option("[name=change]", "")
    tab.select_option("[name=sort]", "change")
    assert tasks(tab) == ["b", "c", "a", "d", "e"]
    summary = tab.inner_text(".overview")
    assert "B against A" in summary and "+0.083" in summary
    tab.click(".fold")
    assert tab.locator("table:has-text('Settings that differ') tbody tr").all_inner_texts() == [
        "policy.name\ttester\tother"
    ]
    tab.get_by_role("link", name="for b").click()
    tab.wait_for_selector(".both .trace")
    assert tab.locator(".both .trace").count() == 2
    assert tab.locator(".both .given").all_inner_texts() == ["42", "42"]
    assert tab.locator(".chips").inner_text().endswith("change −0.750")
    tab.get_by_role("button", name="B", exact=True).click()
    assert tab.locator(".both .trace").count() == 1
    assert "side=b" in tab.evaluate("new Promise(r => setTimeout(() => r(location.hash), 400))")
    tab = watched.open("#rollout=d%230")
    tab.wait_for_selector(".trace")
    assert "This run has no such rollout." in tab.inner_text(".both")
    watched.quiet()


# Everybody ------------------------------------------------------------------------------------


@pytest.mark.parametrize("fragment", ["", "#rollout=c%230", "#rollout=c%230&side=a"])
def test_on_a_phone_nothing_is_wider_than_the_screen(watch, both, fragment):
    tab = watch(both, PHONE, has_touch=True, is_mobile=True).open(fragment)
    if fragment:
        tab.wait_for_selector("figure img")
    assert tab.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    assert tab.locator(".list").is_visible() == (not fragment)


def test_on_a_phone_one_goes_in_and_back_by_touch(watch, both):
    tab = watch(both, PHONE, has_touch=True, is_mobile=True).open()
    tab.get_by_role("button", name="Filter").tap()
    tab.select_option("[name=change]", "worse")
    tab.locator(".rollouts tbody tr").first.tap()
    tab.wait_for_selector(".trace")
    assert tab.inner_text(".rollout > h2") == "b"
    tab.get_by_role("button", name="‹ All").tap()
    assert tab.locator(".list").is_visible() and tasks(tab) == ["b"]


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_axe_finds_no_violation(watch, file, both, viewport, colours):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()

    def check(tab):
        found = axe.run(tab)
        assert not found.violations_count, found.generate_report()
        assert len(found.response["passes"]) > 15

    tab = watch(file, viewport, color_scheme=colours).open()
    tab.click(".fold")
    tab.wait_for_selector(".templates")
    check(tab)
    tab.click(".help")
    check(tab)
    for fragment in ("#rollout=b1%230.0", "#rollout=c1%230.0"):
        tab = watch(file, viewport, color_scheme=colours).open(fragment)
        tab.wait_for_selector(".trace")
        check(tab)
    for fragment in ("#sort=-change", "#rollout=c%230"):
        tab = watch(both, viewport, color_scheme=colours).open(fragment)
        if "rollout" in fragment:
            tab.wait_for_selector("figure img")
        check(tab)
