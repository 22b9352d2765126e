"""What people come for, from the first page to the last, each with scripts and without."""
import re

import pytest
from conftest import PASSWORD, follow, number, title_is
from playwright.sync_api import expect

SAVED = re.compile(r"Your votes are saved\. This is save number")
SCRIPTS = pytest.mark.parametrize("scripts", [True, False], ids=["with_scripts", "without_scripts"])


def close_behind(page, least=1, most=9):
    """The address of a policy that a few votes bring past another one, by the ranking's own figures."""
    page.goto("/ranking?offset=200")
    while True:
        rows = page.locator("[data-list] > li")
        votes = [number(page, f"[data-list] > li:nth-child({i + 1}) [data-votes]") for i in range(rows.count())]
        for i in range(1, len(votes)):
            if least <= votes[i - 1] - votes[i] + 1 <= most:
                return rows.nth(i).get_by_role("link").first.get_attribute("href"), votes[i - 1] - votes[i] + 1
        follow(page, page.get_by_role("link", name="Next"))


def hold(page, votes):
    page.locator("#held").fill(str(votes))
    save(page)


def save(page):
    follow(page, page.get_by_role("button", name="Save my votes"))


def saved(page):
    expect(page.get_by_role("status").first).to_contain_text(SAVED)


def neighbours(page):
    """Rank, name, address and votes of each line in both cards, as the page shows them now."""
    return page.locator(".neighbours li:visible").evaluate_all(
        "lines => lines.map((line) => [line.innerText.replace(/\\s+/g, ' '), line.querySelector('a')?.getAttribute('href')])")


@SCRIPTS
def test_join_vote_and_see_the_rank_change_live_elsewhere(visit, scripts):
    voter, watcher = visit(java_script_enabled=scripts), visit()
    voter.join()
    assert voter.balance() == 100
    path, needed = close_behind(voter.page)
    watcher.page.goto(path)
    expect(watcher.page.locator("main")).to_contain_text("needed to beat")
    before, around = number(watcher.page, '[data-live="recent.rank"]'), neighbours(watcher.page)
    voter.page.goto(path)
    hold(voter.page, needed)
    saved(voter.page)
    assert voter.balance() == 100 - needed and voter.page.url.startswith(voter.site.url + path)
    rank = watcher.page.locator('[data-live="recent.rank"]').first
    expect(rank).not_to_have_text(str(before), timeout=10000)
    assert number(watcher.page, '[data-live="recent.rank"]') < before, "it moved up, and nobody loaded the page again"
    assert number(voter.page, '[data-live="recent.rank"]') < before
    told = neighbours(watcher.page)
    assert told != around, "the names around it moved, too"
    for _ in range(20):  # a page that is kept for everybody may be a second old
        watcher.page.reload()
        if told == neighbours(watcher.page):
            break
        watcher.page.wait_for_timeout(250)
    assert told == neighbours(watcher.page), "to what a fresh page says"


@SCRIPTS
def test_taking_back_tells_its_price_and_asks(visit, scripts):
    voter = visit(java_script_enabled=scripts).enter()
    page = voter.page
    path, _ = close_behind(page)
    page.goto(path)
    hold(page, 40)
    saved(page)
    page.locator("#held").fill("20")
    if scripts:
        expect(page.locator("#price")).to_have_text("Taking back 20 costs 10. You get 10 back.")
    save(page)
    if not scripts:
        title_is(page, "Taking back 20 costs 10")
        assert voter.balance() == 60, "nothing is saved yet"
        voter.press("Save and pay 10")
    saved(page)
    expect(page.locator("#held")).to_have_value("20")
    assert voter.balance() == 70


@SCRIPTS
def test_two_tabs_one_stands_and_the_other_goes_on_from_it(visit, scripts):
    voter = visit(java_script_enabled=scripts).enter()
    first = voter.page
    path, _ = close_behind(first)
    first.goto(path)
    hold(first, 10)
    saved(first)
    first.goto("/my/votes")
    second = voter.tab()
    second.goto("/my/votes")
    for page, votes in ((first, 12), (second, 15)):
        page.locator("[data-line] input[type=number]").fill(str(votes))
        save(page)
    saved(first)
    title_is(second, "Your votes changed in the meantime")
    cells = [text.strip() for text in second.locator("table.conflict tbody tr td").all_inner_texts()]
    assert cells[:2] == ["10", "12"]
    expect(second.locator("[data-line] input[type=number]")).to_have_value("15")
    voter.press("Save what I wanted", second)
    saved(second)
    expect(second.locator("[data-line] input[type=number]")).to_have_value("15")
    assert voter.balance(second) == 85


@SCRIPTS
def test_propose_edit_and_retire(visit, scripts):
    owner = visit(java_script_enabled=scripts).log_in("demo")
    page, name = owner.page, f"Quiet nights in every street, {'with' if scripts else 'without'} scripts"
    page.goto("/policies/new")
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("What it says").fill("No noise *after ten*.\n\n- neither horns\n- nor bells")
    owner.press("Look at it")
    expect(page.get_by_role("alert")).to_contain_text(re.compile("category", re.I))
    expect(page.get_by_label("Name", exact=True)).to_have_value(name), "what was typed is still there"
    page.get_by_label("Category").select_option(index=1)
    owner.press("Look at it")
    title_is(page, "Look at it before you create it")
    expect(page.locator(".preview em")).to_have_text("after ten")
    before = owner.balance()
    owner.press("Create it")
    expect(page.get_by_role("status").first).to_contain_text("Your policy is published")
    title_is(page, name)
    assert owner.balance() == before - 100
    follow(page, page.get_by_role("link", name="Edit its text"))
    page.get_by_label("Why").fill("People sleep better.")
    owner.press("Save the new text")
    expect(page.get_by_role("status").first).to_contain_text("The new text is published")
    follow(page, page.get_by_role("link", name="Retire it"))
    title_is(page, re.compile("^Retiring ends this policy for good"))
    page.get_by_label("Why").fill("It was only tried.")
    owner.press("Retire it for good")
    expect(page.locator("main")).to_contain_text("This policy is retired.")
    expect(page.locator("blockquote")).to_have_text("It was only tried.")


@SCRIPTS
def test_leaving_takes_the_votes_along(visit, scripts):
    voter = visit(java_script_enabled=scripts).enter()
    page = voter.page
    path, _ = close_behind(page)
    page.goto(path)
    total = number(page, '[data-live="total"]')
    hold(page, 30)
    saved(page)
    page.goto("/my/profile")
    follow(page, page.get_by_role("link", name="Delete my account"))
    title_is(page, "Delete your account and withdraw all your votes")
    page.get_by_label("Your password").fill("not this one at all")
    voter.press("Delete my account")
    expect(page.get_by_role("alert")).to_be_visible()
    page.get_by_label("Your password").fill(PASSWORD)
    voter.press("Delete my account")
    expect(page.get_by_role("status").first).to_contain_text("Your account is deleted")
    expect(page.get_by_role("link", name="Log in").first).to_be_visible()
    for _ in range(20):
        page.goto(path)
        if number(page, '[data-live="total"]') == total:
            break
        page.wait_for_timeout(500)
    assert number(page, '[data-live="total"]') == total


@pytest.mark.parametrize("deed, told", [
    ("document.body.append(Object.assign(document.createElement('script'), {textContent: '1'}))", "securitypolicyviolation"),
    ("document.body.append(Object.assign(new Image(), {src: 'http://127.0.0.2:9/x.png'}))", "securitypolicyviolation"),
    ("setTimeout(() => { throw new Error('of a script') })", "of a script"),
    ("fetch('/there/is/no/such/thing').catch(() => {})", "404"),
    ("location.href = 'http://127.0.0.2:9/'", "asked another host"),
])
def test_the_watch_over_all_pages_sees_what_no_page_may_do(visit, deed, told):
    visitor = visit()
    visitor.page.goto("/about")
    visitor.page.evaluate(deed)
    for _ in range(100):
        if any(told in fault for fault in visitor.faults):
            break
        visitor.page.wait_for_timeout(100)
    assert any(told in fault for fault in visitor.faults), visitor.faults
    visitor.close = visitor.context.close  # nobody judges what else it sees
