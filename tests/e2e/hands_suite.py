"""The same votes by keyboard alone, and with a thumb on a phone."""
import re

from conftest import PASSWORD
from journeys_suite import close_behind, saved
from playwright.sync_api import expect

PHONE = {"viewport": {"width": 375, "height": 667}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}


def focused(page):
    """What has the focus: its words, and whether a person sees that it has it."""
    return page.evaluate("""() => {
        const at = document.activeElement, style = getComputedStyle(at);
        const words = at.labels && at.labels.length ? at.labels[0].textContent : at.getAttribute("aria-label") || at.textContent;
        const box = at.getBoundingClientRect();
        return {words: words.trim().replace(/\\s+/g, " "), tag: at.tagName,
            seen: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0 || style.boxShadow !== "none",
            inside: box.top >= 0 && box.bottom <= innerHeight + 1 && box.width > 0}}""")


def tab_to(page, words, tag):
    """Tab until there, as somebody without a mouse does; each stop on the way shows its focus inside the window."""
    for _ in range(120):
        page.keyboard.press("Tab")
        at = focused(page)
        if at["tag"] == "BODY":
            continue
        assert at["seen"], f"nobody sees that {at} has the focus on {page.url}"
        assert at["inside"], f"{at} has the focus out of sight on {page.url}"
        if at["tag"] == tag and re.fullmatch(words, at["words"]):
            return
    raise AssertionError(f"the keyboard does not reach {tag} {words} on {page.url}")


def enter(page):
    with page.expect_navigation():
        page.keyboard.press("Enter")


def test_the_whole_vote_by_keyboard(visit):
    helper = visit()
    path, _ = close_behind(helper.page)
    voter = visit()
    page, name = voter.page, "by-keyboard"
    voter.site.call("user", "add", name, "--email", f"{name}@example.org", "--confirmed", "--password-stdin", input=PASSWORD)
    page.goto(path)
    page.keyboard.press("Tab")
    assert focused(page)["words"] == "Skip to the content", "the first stop"
    page.keyboard.press("Enter")
    tab_to(page, "Log in", "A")
    enter(page)
    tab_to(page, "Name or e-mail address", "INPUT")
    page.keyboard.type(name)
    tab_to(page, "Password", "INPUT")
    page.keyboard.type(PASSWORD)
    enter(page)
    assert page.url.startswith(voter.site.url + path), "led back to where the log-in was asked for"
    tab_to(page, "Votes that you hold here from now on", "INPUT")
    page.keyboard.press("Control+a")
    page.keyboard.type("7")
    tab_to(page, r"\+10", "BUTTON")
    page.keyboard.press("Space")
    expect(page.locator("#held")).to_have_value("17")
    tab_to(page, "Save my votes", "BUTTON")
    enter(page)
    saved(page)
    tab_to(page, re.escape(name) + ".*", "SUMMARY")
    page.keyboard.press("Enter")
    tab_to(page, "My votes", "A")
    enter(page)
    field = page.locator("[data-line] input[type=number]")
    for _ in range(60):
        page.keyboard.press("Tab")
        if field.evaluate("field => field === document.activeElement"):
            break
    page.keyboard.press("Control+a")
    page.keyboard.type("7")
    expect(page.locator("[data-words]")).to_have_text("Taking back 10 costs 5. You get 5 back.")
    tab_to(page, "Save my votes", "BUTTON")
    enter(page)
    saved(page)
    assert voter.balance() == 88


def test_a_newcomer_joins_and_votes_with_a_thumb(visit):
    voter = visit(**PHONE)
    page = voter.page
    voter.join()
    path, _ = close_behind(page)
    page.goto(path)
    page.get_by_role("link", name="Vote", exact=True).tap()
    expect(page.locator("#held")).to_be_in_viewport()
    page.locator("[data-jumps]").get_by_role("button", name="+10").tap()
    expect(page.locator("#held")).to_have_value("10")
    expect(page.get_by_text("unspent pollies")).to_be_in_viewport()
    with page.expect_navigation():
        page.get_by_role("button", name="Save my votes").tap()
    saved(page)
    page.goto("/my/votes")
    page.locator("[data-line] [data-step='1']").first.tap()
    expect(page.locator("[data-rest]")).to_be_in_viewport()
    expect(page.get_by_role("button", name="Save my votes")).to_be_in_viewport()
    with page.expect_navigation():
        page.get_by_role("button", name="Save my votes").tap()
    saved(page)
    assert voter.balance() == 89


def test_what_a_thumb_must_hit_is_large_enough(visit):
    voter = visit(**PHONE).log_in()
    page = voter.page
    path, _ = close_behind(page)
    for address in (path, "/my/votes", "/policies/new", "/login"):
        page.goto(address)
        small = page.evaluate("""() => [...document.querySelectorAll("main button, main input, main select, main .action")]
            .filter((e) => !["hidden", "checkbox", "radio"].includes(e.type)).map((e) => [e, e.getBoundingClientRect()])
            .filter(([, box]) => box.width > 0 && (box.height < 43.5 || box.width < 24))
            .map(([e, box]) => `${e.tagName} ${e.textContent.trim() || e.name} ${Math.round(box.width)} x ${Math.round(box.height)}`)""")
        assert small == [], address
