"""What each role comes for, in one journey each: by links and forms that are on the pages, with letters by a mail server, down to what the
log of acts and the public log say of it. Each role also tries what it must not do, and is refused by a page that helps. Admins have a
suite of their own, admins_suite.py."""
import datetime
import json
import pathlib
import re

from conftest import PASSWORD, follow, title_is
from journeys_suite import saved
from playwright.sync_api import expect
from roles import THRESHOLD, Device, acts_of, join_by, noted, person, report, town  # noqa: F401


# ---- Somebody without an account ----


def test_a_visitor_looks_reports_and_tells_of_trouble(town, person):
    town.policy("Clean rivers", "paul")
    visitor = person()
    page = visitor.page
    page.goto("/")
    visitor.to("Browse", "Clean rivers")
    expect(page.locator(".prose").first).to_contain_text("Clean rivers, in full.")
    expect(page.locator("#vote")).to_contain_text("Log in to put pollies on this policy")
    report(visitor, "Clean rivers", "It is spam, says a visitor.")
    assert "/desk/reports/" in town.post.letter("mia@example.org", "Clean rivers"), "moderators are told"
    visitor.to("Log in", "Tell us")
    title_is(page, "Trouble with logging in or joining")
    visitor.fill(words="No letter came.")
    visitor.press("Tell the moderators")
    visitor.wrong("must be an address that we can answer to")
    expect(page.locator("#words")).to_have_value("No letter came.")
    visitor.fill(email="lost@example.org")
    visitor.press("Tell the moderators")
    visitor.told("We answer to the address that you gave")
    for address in ("/desk/reports", "/admin", "/policies/new"):
        page.goto(address)
        title_is(page, "Log in")
        assert "next=" in page.url, "and is led back afterwards"
    # A moderator answers both; the visitor reads that in letters and, about the policy, in the public log.
    mia = person("mia")
    for words in ("It is spam, says a visitor.", "No letter came."):
        mia.menu("Desk")
        mia.to("Reports")
        mia.to(mia.page.locator(".items > li").filter(has_text=words).get_by_role("link").first)
        mia.fill(reason=f"Looked at: {words}")
        mia.press("Dismiss it")
        mia.told("The report is dismissed")
    assert "Looked at: No letter came." in town.post.letter("lost@example.org", "They wrote")
    lines = visitor.public_log()
    assert any("Looked at: It is spam" in line for line in lines) and not any("No letter came" in line for line in lines)
    assert not any("mia" in line for line in lines)
    acts = acts_of(person("watcher"), "mia")
    noted(acts, "A report about a policy was dismissed", "mia", "Looked at: It is spam")
    noted(acts, "A report of trouble was dismissed", "mia", "Looked at: No letter came.")


# ---- Voters ----


def turn_on_second(voter):
    page = voter.page
    voter.menu("Profile")
    voter.to("Second factor")
    voter.fill(password=PASSWORD)
    voter.press("Set it up")
    page.get_by_text("It cannot see the picture?").click()
    device = Device(page.locator("code.secret").first.inner_text())
    voter.fill(password=PASSWORD, code="12345")
    voter.press("Turn it on")
    voter.wrong("this code is not right")
    voter.fill(password=PASSWORD, code=device.code())
    voter.press("Turn it on")
    title_is(page, "Your recovery codes")
    codes = page.locator(".codes code").all_inner_texts()
    assert len(codes) == 10
    voter.to("I have them")
    return device, codes


def test_a_voter_joins_votes_keeps_the_account_safe_and_leaves(town, person):
    policy = town.policy("Quiet nights", "owen")
    town.site.call("invite", "nora@example.org")
    nora = person()
    page = nora.page
    join_by(town, nora, "nora@example.org", "nora")
    again = person()
    again.page.goto(town.post.link("nora@example.org", "You are invited"))
    expect(again.page.locator("main")).not_to_contain_text("You are invited"), "an invitation is for one person, once"
    nora.come_in("nora")
    nora.read("Quiet nights")
    nora.fill(held="10")
    nora.press("Save my votes")
    saved(page)
    device, codes = turn_on_second(nora)
    nora.go_out()
    nora.come_in("nora", device.code())
    nora.go_out()
    nora.come_in("nora", codes[0])
    nora.menu("Profile")
    nora.to("Second factor")
    expect(page.locator("main")).to_contain_text("You have 9 of 10 left")
    nora.menu("Profile")
    nora.to("Download my data")
    nora.fill(password="not the right one")
    nora.press("Download it")
    nora.wrong("password")
    nora.fill(password=PASSWORD)
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download it").click()
    data = json.loads(pathlib.Path(waiting.value.path()).read_text())
    assert data["name"] == "nora" and data["votes"]["lines"] == {str(policy): 10}
    nora.menu("Profile")
    nora.to("E-mails to me")
    page.get_by_label("Once a week").check()
    nora.press("Save")
    nora.told("Your choice is saved")
    expect(page.get_by_label("Once a week")).to_be_checked()
    nora.may_not("/desk", "/admin", "/admin/people", f"/policies/{policy}/delete", f"/policies/{policy}/edit")
    watcher = person("watcher")
    assert acts_of(watcher, "nora") == [], "voting is no act of a role"
    assert not any("nora" in line for line in nora.public_log())
    nora.menu("Profile")
    nora.to("Delete my account")
    nora.fill(password=PASSWORD)
    nora.press("Delete my account")
    nora.told("Your account is deleted")
    nora.to("Log in")
    nora.fill(name="nora", password=PASSWORD)
    nora.press("Log in")
    nora.wrong("The name or the password is not right")
    assert "last mail" in town.post.letter("nora@example.org", "is deleted")


# ---- Owners ----


def test_an_owner_proposes_edits_and_appeals_against_a_deletion(town, person):
    foreign = town.policy("Of somebody else", "olga")
    town.add("many")
    owner, mia = person("many"), person("mia")
    page = owner.page
    owner.to("Propose")
    page.get_by_label("Name", exact=True).fill("Benches in parks")
    page.get_by_label("What it says").fill("More of *them*.")
    page.get_by_label("Category").select_option(index=1)
    owner.press("Look at it")
    owner.press("Create it")
    owner.told("Your policy is published")
    owner.to("Edit its text")
    page.get_by_label("What it says").fill("Many more of *them*.")
    owner.press("Save the new text")
    owner.told("The new text is published")
    mia.read("Benches in parks")
    mia.to("Delete it")
    mia.press("Delete it")
    mia.wrong("say why")
    mia.fill(reason="It is said elsewhere.")
    mia.press("Delete it")
    mia.told("The policy is hidden")
    assert "You can appeal there" in town.post.letter("many@example.org", "Benches in parks")
    page.goto("/")
    owner.menu("Notices")
    owner.to("you can appeal")
    expect(page.locator("main")).to_contain_text("It is said elsewhere.")
    path = page.url.split("#")[0].split("?")[0]
    owner.fill(words="It is said nowhere else.")
    owner.press("Appeal")
    owner.told("Your appeal is with the moderators")
    expect(page.locator("#words")).to_have_count(0), "once"
    expect(page.locator("main")).to_contain_text("You have appealed")
    owner.may_not(path + "/restore", f"/policies/{foreign}/edit", f"/policies/{foreign}/retire")
    stranger = person("vera")
    assert stranger.page.goto(path).status == 200
    expect(stranger.page.locator("main")).not_to_contain_text("Many more"), "what is hidden is hidden"
    assert any("Benches in parks" not in line and "It is said elsewhere." in line for line in stranger.public_log())
    mia.menu("Desk")
    mia.to("Reports")
    mia.to(mia.page.locator(".items > li").filter(has_text="It is said nowhere else.").get_by_role("link").first)
    mia.fill(reason="It is: look at benches in streets.")
    mia.press("Dismiss it")
    mia.told("The report is dismissed")
    assert "look at benches in streets" in town.post.letter("many@example.org", "They wrote")
    watcher = person("watcher")
    assert acts_of(watcher, "many") == []
    noted(acts_of(watcher, "mia"), "A policy was hidden, to be deleted", "mia", "It is said elsewhere.")


# ---- Moderators ----


def open_report(mia, words):
    mia.menu("Desk")
    mia.to("Reports")
    mia.to(mia.page.locator(".items > li").filter(has_text=words).get_by_role("link").first)


def feature(mia, policy, **fields):
    mia.read(policy)
    mia.to("Feature it on the front page")
    mia.fill(**fields)
    mia.press("Feature it")


def queue(mia):
    """Take, give back, take again, dismiss."""
    open_report(mia, "I do not like buses.")
    mia.press("Take it on")
    mia.told("You have taken this report on")
    mia.press("Give it back")
    mia.told("back in the queue")
    open_report(mia, "I do not like buses.")
    mia.press("Take it on")
    mia.press("Dismiss it")
    mia.wrong("say why")
    mia.fill(reason="That is for votes to say.")
    mia.press("Dismiss it")
    mia.told("The report is dismissed")


def delete_and_restore(town, mia, owner):
    """Act upon a report; the owner appeals; the policy is back."""
    open_report(mia, "Bad words.")
    mia.to("Hide and delete it")
    mia.fill(reason="Bad words in it.")
    mia.press("Delete it")
    mia.told("The policy is hidden")
    owner.page.goto(town.post.link("felix@example.org", "Fast trams"))
    owner.fill(words="The words are good.")
    owner.press("Appeal")
    owner.told("Your appeal is with the moderators")
    open_report(mia, "The words are good.")
    mia.to("Bring it back")
    title_is(mia.page, "Restoring brings this policy back as it was")
    mia.fill(reason="They are good indeed.")
    mia.press("Restore it")
    mia.told("The policy is back as it was")
    owner.page.goto("/")
    owner.menu("Notices")
    expect(owner.page.locator("main")).to_contain_text("They are good indeed.")


def merge(mia):
    open_report(mia, "There is another one.")
    mia.to("Merge it with another")
    mia.fill(other="Trams at")
    mia.press("See what it would do")
    title_is(mia.page, "Merging makes one policy of two, and cannot be undone")
    sums = [int(re.sub(r"\D", "", cells)) for cells in mia.page.locator("table.before-after tbody tr td:nth-of-type(1)").all_inner_texts()]
    assert sums[0] + sums[1] == sums[2] == 200, "the preview adds up"
    mia.press("Merge them")
    mia.wrong("say why")
    mia.fill(reason="They say the same.")
    mia.press("Merge them")
    mia.told("The policies are merged")
    title_is(mia.page, "Trams at night")


def choose_featured(mia, visitor):
    """An order, a beginning, an end."""
    tomorrow = (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=1)).strftime("%Y-%m-%dT12:00")
    feature(mia, "More buses", place="1", reason="It is the week of buses.")
    mia.told("The front page shows it")
    feature(mia, "Fast trams", place="1", until=tomorrow)
    mia.told("The front page shows it")
    feature(mia, "Trams at night", until="2001-01-01T00:00")
    mia.wrong("must be after the beginning, and ahead")
    mia.fill(until="", **{"from": tomorrow})
    mia.press("Feature it")
    mia.told("The front page shows it from the time you chose")
    rows = mia.page.locator(".items > li")
    expect(rows).to_contain_text(["Fast trams", "More buses", "Trams at night"])
    expect(rows.nth(2)).to_contain_text("Not shown yet")
    visitor.page.goto("/")
    featured = visitor.page.locator("section").filter(has=visitor.page.get_by_role("heading", name="Featured", exact=True))
    expect(featured.locator(".what > a")).to_have_text(["Fast trams", "More buses"])
    follow(mia.page, mia.page.get_by_role("button", name="Remove Fast trams"))
    mia.told("The front page does not show it any more")


def test_a_moderator_works_off_reports_merges_deletes_restores_and_features(town, person):
    buses = town.policy("More buses", "bert")
    for name, owner in (("Fast trams", "felix"), ("Trams by night", "nils"), ("Trams at night", "anton")):
        town.policy(name, owner)
    visitor, mia = person(), person("mia")
    report(visitor, "More buses", "I do not like buses.")
    report(visitor, "Fast trams", "Bad words.")
    report(visitor, "Trams by night", "There is another one.")
    queue(mia)
    delete_and_restore(town, mia, person("felix"))
    merge(mia)
    choose_featured(mia, visitor)
    mia.may_not("/admin", "/admin/people", "/admin/activity", f"/policies/{buses}/answer")
    lines = visitor.public_log()
    for words in ("That is for votes to say.", "Bad words in it.", "They are good indeed.", "They say the same.", "It is the week of buses."):
        assert any(words in line for line in lines), words
    assert not any("mia" in line or "127.0.0.1" in line for line in lines)
    acts = acts_of(person("watcher"), "mia")
    for sentence, why in (("A report was taken on", ""), ("A report was given back", ""), ("A report about a policy was dismissed", "That is for votes"),
                          ("A policy was hidden, to be deleted", "Bad words in it."), ("A policy that was hidden is back", "They are good"),
                          ("A policy was merged into another", "They say the same."),
                          ("A policy was featured on the front page", "It is the week of buses."), ("A policy is no longer featured", "")):
        noted(acts, sentence, "mia", why)


# ---- Those who answer ----


def test_a_responder_sees_what_waits_and_answers(town, person):
    policy = town.policy("Free water", "fred")
    town.site.call("vote", "save", "--as", "vera", f"{policy}={THRESHOLD - 100}")
    town.site.call("task", "run", "answers")
    assert f"/policies/{policy}" in town.post.letter("rosa@example.org", "Free water")
    rosa = person("rosa")
    page = rosa.page
    rosa.menu("Desk")
    expect(page.locator("main")).not_to_contain_text("Reports")
    rosa.to("Free water")
    title_is(page, "Answer officially")
    expect(page.locator("main")).to_contain_text(f"It has reached {THRESHOLD} votes; an official answer is due")
    rosa.press("Save the answer")
    rosa.wrong("must say something")
    rosa.fill(text="We **look** at it.")
    page.get_by_label("What comes of it").select_option("considering")
    rosa.press("Save the answer")
    rosa.told("The answer is published")
    rosa.to("Answer it officially")
    title_is(page, "Change the official answer")
    rosa.fill(text="We **do** it.")
    page.get_by_label("What comes of it").select_option("accepted")
    rosa.press("Save the answer")
    expect(page.locator(".answer .prose strong")).to_have_text("do")
    rosa.to("What the answer was before")
    expect(page.locator("article.answer")).to_have_count(2)
    rosa.menu("Desk")
    title_is(page, "Desk")
    expect(page.locator("main")).not_to_contain_text("Free water")
    rosa.may_not("/desk/reports", "/desk/featured", f"/policies/{policy}/merge", f"/policies/{policy}/delete", "/admin")
    vera = person("vera")
    vera.menu("Notices")
    expect(vera.page.locator("main")).to_contain_text("Free water")
    vera.to("Read it")
    expect(vera.page.locator(".answer")).to_contain_text("We do it.")
    assert sum("A policy was officially answered" in line for line in vera.public_log()) == 2
    noted(acts_of(person("watcher"), "rosa"), "A policy was officially answered", "rosa")
