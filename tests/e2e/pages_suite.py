"""Every page as it looks: found by the program's own table of routes, judged by axe, free of sideways scrolling, and kept as pictures.

build/e2e/shots has each page at 375 and 1280 pixels, light and dark. Pages that need something first (a refused form, a price, no
data, very many lines, very long names) are made below, each by a function that leads a visitor there."""
import itertools
import json
import re
import subprocess
import time
from pathlib import Path

import axe_playwright_python
import pytest
from conftest import DEMO_PASSWORD, PASSWORD, Site, Visitor, follow, follow_letter, shared, title_is
from playwright.sync_api import expect
from roles import Device

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
LOOKS = [(width, scheme) for width in (1280, 375) for scheme in ("light", "dark")]
NARROWEST = 320
HIGHEST = 4000  # of a picture
LONG_NAME = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft " + "for everyone " * 3
LONG_WORDS = "https://example.org/" + "a-very-long-address-without-a-blank/" * 8

# By route: who looks (guest, voter or admin), and where. {long} and {gone} are policies that the town below has.
PAGES = {
    "/": [("guest", "/"), ("voter", "/")],
    "/ranking": [("guest", "/ranking"), ("voter", "/ranking"), ("guest", "/ranking?days=7&offset=40"), ("guest", "/ranking?offset=100000")],
    "/policies": [("guest", "/policies"), ("guest", "/policies?order=name&name=zzzz"), ("voter", "/policies?order=date")],
    "/policies/new": [("voter", "/policies/new")],
    "/policies/{policy}": [("guest", "/policies/1"), ("voter", "/policies/1"), ("voter", "/policies/{long}"), ("guest", "/policies/{gone}"),
                           ("moderator", "/policies/{long}"), ("guest", "/policies/{hidden}"), ("voter", "/policies/{hidden}"),
                           ("moderator", "/policies/{hidden}")],
    "/policies/{policy}/history": [("guest", "/policies/1/history"), ("guest", "/policies/{long}/history")],
    "/policies/{policy}/revisions": [("guest", "/policies/{long}/revisions")],
    "/policies/{policy}/revisions/{revision}": [("guest", "/policies/{long}/revisions/2")],
    "/policies/{policy}/edit": [("voter", "/policies/{long}/edit")],
    "/policies/{policy}/retire": [("voter", "/policies/{long}/retire")],
    "/policies/{policy}/report": [("guest", "/policies/{long}/report"), ("voter", "/policies/1/report")],
    "/trouble": [("guest", "/trouble")],
    "/moderation": [("guest", "/moderation"), ("guest", "/moderation?policy={long}"), ("guest", "/moderation?policy=2")],
    "/desk": [("admin", "/desk")],
    "/desk/reports": [("admin", "/desk/reports"), ("admin", "/desk/reports?state=acted"), ("admin", "/desk/reports?state=dismissed")],
    "/desk/reports/{report}": [("admin", "/desk/reports/{open}"), ("admin", "/desk/reports/{taken}"), ("admin", "/desk/reports/{closed}")],
    "/desk/featured": [("admin", "/desk/featured")],
    "/policies/{policy}/merge": [("moderator", "/policies/{long}/merge"), ("moderator", "/policies/{long}/merge?other=a"),
                                 ("moderator", "/policies/{long}/merge?other=1"), ("moderator", "/policies/{long}/merge?other={active}")],
    "/policies/{policy}/delete": [("moderator", "/policies/{long}/delete")],
    "/policies/{policy}/restore": [("moderator", "/policies/{hidden}/restore")],
    "/policies/{policy}/appeal": [("voter", "/policies/{hidden}/appeal")],
    "/policies/{policy}/answer": [("moderator", "/policies/{long}/answer"), ("moderator", "/policies/1/answer")],
    "/policies/{policy}/answers": [("guest", "/policies/{long}/answers")],
    "/appeal": [("guest", "/appeal"), ("voter", "/appeal")],
    "/email/back": [("guest", "/email/back?token=" + "0" * 43)],
    "/privacy": [("guest", "/privacy")],
    "/terms": [("guest", "/terms")],
    "/invitation": [("guest", "/invitation?token=" + "0" * 43)],
    "/admin": [("admin", "/admin")],
    "/admin/people": [("admin", "/admin/people"), ("admin", "/admin/people?role=admin"), ("admin", "/admin/people?q=zzzz")],
    "/admin/people/{id}": [("admin", "/admin/people/1"), ("admin", "/admin/people/2")],
    "/admin/parties": [("admin", "/admin/parties")],
    "/admin/categories": [("admin", "/admin/categories")],
    "/my/following": [("voter", "/my/following")],
    "/admin/settings": [("admin", "/admin/settings")],
    "/admin/activity": [("admin", "/admin/activity"), ("admin", "/admin/activity?kind=backup"), ("admin", "/admin/activity?who=nobody-there")],
    "/admin/tasks": [("admin", "/admin/tasks")],
    "/admin/store": [("admin", "/admin/store")],
    "/admin/electorate": [("admin", "/admin/electorate")],
    "/admin/texts": [("admin", "/admin/texts"), ("admin", "/admin/texts?text=terms")],
    "/policies/{id}/count": [("guest", "/policies/{long}/count")],
    "/categories": [("guest", "/categories")],
    "/categories/{id}": [("guest", "/categories/1")],
    "/parties": [("guest", "/parties")],
    "/parties/{id}": [("guest", "/parties/1")],
    "/about": [("guest", "/about")],
    "/help": [("guest", "/help")],
    "/api": [("guest", "/api")],
    "/login": [("guest", "/login")],
    "/login/code": [("guest", "/login/code")],
    "/register": [("guest", "/register")],
    "/register/sent": [("guest", "/register/sent")],
    "/confirm": [("guest", "/confirm?token=" + "0" * 40)],
    "/forgotten": [("guest", "/forgotten")],
    "/forgotten/sent": [("guest", "/forgotten/sent")],
    "/reset": [("guest", "/reset?token=" + "0" * 40)],
    "/first-admin": [("guest", "/first-admin?token=" + "0" * 40)],
    "/demo/letters": [("guest", "/demo/letters")],
    "/my/votes": [("voter", "/my/votes"), ("newcomer", "/my/votes")],
    "/my/votes/{policy}": [("voter", "/my/votes/1"), ("voter", "/my/votes/{long}")],
    "/my/history": [("voter", "/my/history"), ("newcomer", "/my/history")],
    "/my/profile": [("voter", "/my/profile"), ("newcomer", "/my/profile")],
    "/my/watching": [("voter", "/my/watching"), ("newcomer", "/my/watching")],
    "/my/notices": [("voter", "/my/notices"), ("newcomer", "/my/notices")],
    "/my/sessions": [("voter", "/my/sessions")],
    "/my/password": [("voter", "/my/password")],
    "/my/email": [("voter", "/my/email")],
    "/my/email/confirm": [("voter", "/my/email/confirm?token=" + "0" * 40)],
    "/my/tokens": [("voter", "/my/tokens")],
    "/my/second-factor": [("voter", "/my/second-factor")],
    "/my/connections": [("voter", "/my/connections")],
    "/register/with": [("guest", "/register/with")],
    "/login/back/{provider}": [("guest", "/login/back/nowhere?state=x")],
    "/my/second-factor/off": [("voter", "/my/second-factor/off")],
    "/my/mail": [("voter", "/my/mail")],
    "/unsubscribe": [("guest", "/unsubscribe?token=" + "0" * 40)],
    "/admin/mail": [("admin", "/admin/mail")],
    "/admin/journals": [("admin", "/admin/journals")],
    "/admin/journals/{journal}": [("admin", "/admin/journals/recount"), ("admin", "/admin/journals/paused"), ("admin", "/admin/journals/site.tasks")],
    "/my/data": [("voter", "/my/data")],
    "/my/delete": [("voter", "/my/delete")],
}
# What people do not read as pages.
DATA = {"/feed.atom", "/sitemap.xml", "/sitemap/{part}", "/robots.txt", "/policies/{id}/count.svg",
        "/policies/{policy}/history.csv", "/policies/{policy}/history.json"}


def routes():
    done = subprocess.run([shared.BIN, "routes", "--json"], env=shared.clean_environment(), capture_output=True, check=True)
    return {route["path"] for route in json.loads(done.stdout) if route["method"] == "GET"}


def test_every_page_of_the_program_is_looked_at():
    shown = {path for path in routes() if not path.startswith("/api/")} - DATA
    assert shown - set(PAGES) == set(), "new pages: add them to PAGES"


# ---- The town that is looked at ----


class Town:
    """The demo with a very long name, a retired policy, and people that stay logged in."""

    def __init__(self, site, browser):
        self.site, self.browser, self.states = site, browser, {"guest": None}
        self.long = self.propose(LONG_NAME[:120].strip())
        site.call("policy", "edit", str(self.long), "--as", "demo", "--description", f"## {LONG_NAME}\n\n{LONG_WORDS}\n\n- one\n- two")
        self.gone = self.propose("A policy that did not last")
        site.call("policy", "retire", str(self.gone), "--as", "demo", "--reason", "It was for the pictures.")
        self.active = self.propose("A policy that stays")
        self.hidden = self.propose("A policy that was hidden")
        site.call("policy", "delete", str(self.hidden), "--reason", f"It is abuse. {LONG_WORDS}")
        for text, outcome in (("We look at it.", "considering"), (f"## {LONG_NAME}\n\nWe **do** it: {LONG_WORDS}\n\n- one\n- two", "accepted")):
            site.call("policy", "answer", str(self.long), "--text", text, "--outcome", outcome)
        site.call("user", "add", "mia", "--email", "mia@example.org", "--role", "moderate_policies", "--role", "respond", "--confirmed",
                  "--password-stdin", input=PASSWORD)
        site.call("user", "add", "newcomer", "--email", "newcomer@example.org", "--confirmed", "--password-stdin", input=PASSWORD)
        self.report()
        self.work()
        for who, name, password in (("voter", "demo", DEMO_PASSWORD), ("newcomer", "newcomer", PASSWORD), ("admin", "admin", DEMO_PASSWORD),
                                    ("moderator", "mia", PASSWORD)):
            visitor = Visitor(browser, site).log_in(name, password)
            self.states[who] = visitor.context.storage_state()
            visitor.close()

    def propose(self, name):
        return self.site.call("policy", "create", "--as", "demo", "--name", name, "--description", "Some *words*.",
                              "--category", "Transport")["policy"]

    def work(self):
        """Journals with entries that were given up, one with a very long key, and one that is paused."""
        for key, why in (("policy 7", "The disk was full.\nTwice."), (LONG_WORDS[:300], LONG_NAME)):
            self.site.call("journal", "put", "recount", "{}", "--key", key)
            token = self.site.call("journal", "claim", "recount")["entries"][0]["token"]
            self.site.call("journal", "fail", token, "--error", why[:1000])
        for journal in ("recount", "paused"):
            self.site.call("journal", "put", journal, "{}", "--delay", "3600")
            self.site.call("journal", "put", journal, "{}")
        self.site.call("journal", "pause", "paused", "86400")

    def report(self):
        """Reports in several states, and a policy that is featured."""
        visitor = Visitor(self.browser, self.site)
        # Which of the demo's policies are retired by now depends on the hour.
        states = ((number, self.site.call("policy", "show", str(number))["state"]) for number in range(1, 50))
        some, other = itertools.islice((number for number, state in states if state == "active"), 2)
        for policy, words in ((self.long, f"It is spam. {LONG_WORDS}"), (self.long, "Spam again.\n\nIn two lines."), (some, "Not true."), (other, "No.")):
            visitor.page.goto(f"/policies/{policy}/report")
            visitor.page.fill("#words", words)
            visitor.page.fill("#email", "visitor@example.org")
            visitor.press("Tell the moderators")
        visitor.close()
        self.open, _, self.taken, self.closed = [one["id"] for one in self.site.call("report", "list")["reports"]]
        self.site.call("report", "take", str(self.taken), "--as", "admin")
        self.site.call("report", "dismiss", str(self.closed), "--as", "admin", "--reason", f"It is fine. {LONG_NAME}")
        self.site.call("feature", "set", str(self.long), "--until", "2999-01-01", "--reason", "It is for the pictures.")

    def visitor(self, who):
        return Visitor(self.browser, self.site, storage_state=self.states[who], reduced_motion="reduce")

    def address(self, path):
        for name in ("long", "gone", "hidden", "active", "open", "taken", "closed"):
            path = path.replace("{%s}" % name, str(getattr(self, name)))
        return path


@pytest.fixture(scope="module")
def town(demo, browser):
    return Town(demo, browser)


# ---- Judging ----


def findings(page, without):
    """What axe finds of weight, in a line each."""
    page.evaluate(AXE)
    rules = {rule: {"enabled": False} for rule in without}
    found = page.evaluate("rules => axe.run(document, {resultTypes: ['violations'], rules})", rules)["violations"]
    return [f"{rule['id']}: {node['target']} {node.get('failureSummary', '')}" for rule in found
            if rule["impact"] in ("serious", "critical") for node in rule["nodes"]]


def widest(page):
    """What reaches past the window: boxes that make the page scroll sideways, words that are cut off where nothing scrolls, and what is pressed or
    filled in, even where something scrolls; and the site's name where it is seen and runs into what stands beside it."""
    return page.evaluate("""() => {
        const scrolls = (e) => e && (/auto|scroll/.test(getComputedStyle(e).overflowX) || scrolls(e.parentElement));
        const hides = (e) => e.closest(".hidden, .skip, [hidden], svg, .who, .unit") !== null;
        const boxes = document.documentElement.scrollWidth <= innerWidth ? [] :
            [...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > innerWidth + 1);
        const words = [...document.querySelectorAll("main *")].filter((e) => !hides(e) && !scrolls(e) && [...e.childNodes].some((node) => {
            if (node.nodeType !== Node.TEXT_NODE || !node.data.trim()) return false;
            const range = document.createRange();
            range.selectNodeContents(node);
            return range.getBoundingClientRect().right > innerWidth + 1;
        }));
        const box = (e) => e.getBoundingClientRect(), beside = document.querySelector(".top .me");
        const names = [...document.querySelectorAll(".top .name span")].filter((e) => beside &&
            box(e).top < box(e.parentElement).bottom && box(e).right > box(beside).left + 1 && box(e).bottom > box(beside).top);
        const controls = [...document.querySelectorAll("main :is(button, input:not([type=hidden]), select, textarea)")].filter((e) =>
            !hides(e) && box(e).width > 0 && box(e).right > innerWidth + 1);
        return [...boxes, ...words, ...controls, ...names].map((e) => `${e.tagName}.${e.className} ${e.textContent.trim().slice(0, 30)}`).slice(-4);
    }""")


def look(page, shots, label, without=()):
    """All looks of the page that stands there; what is wrong with it, in words."""
    wrong = []
    for width, scheme in LOOKS:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        height = min(HIGHEST, page.evaluate("document.documentElement.scrollHeight"))
        page.screenshot(path=shots / f"{label}-{width}-{scheme}.png", full_page=True, timeout=60000,
                        clip={"x": 0, "y": 0, "width": width, "height": height})
        if (width == 375) == (scheme == "dark"):  # each width and each scheme once
            wrong += [f"{width} {scheme}: {line}" for line in findings(page, without)]
        wrong += [f"{width} is too narrow for {line}" for line in widest(page)]
    page.set_viewport_size({"width": NARROWEST, "height": 900})
    wrong += [f"{NARROWEST} is too narrow for {line}" for line in widest(page)]
    heads = page.locator("h1").count()
    return wrong + ([] if heads == 1 or page.locator("body.embed").count() else [f"{heads} main headings"])


def label_of(who, path):
    return f"{path.strip('/').replace('/', '_').replace('?', '-').replace('{', '').replace('}', '')[:60] or 'front'}-{who}"


LOOKED_AT = [(who, path) for route, pages in PAGES.items() for who, path in pages if route in routes()]


@pytest.mark.parametrize("who, path", LOOKED_AT, ids=[label_of(*page) for page in LOOKED_AT])
def test_page(town, shots, who, path):
    visitor = town.visitor(who)
    visitor.page.goto(town.address(path))
    wrong = look(visitor.page, shots, label_of(who, path))
    visitor.close()
    assert not wrong, "\n".join(wrong)


# ---- Pages that need something first ----


def not_found(visitor, town):
    visitor.page.goto("/there/is/no/such/page")


def log_in_refused(visitor, town):
    visitor.page.goto("/login")
    visitor.page.get_by_label("Name or e-mail").fill("nobody-of-that-name")
    visitor.page.get_by_label("Password").fill("not the right one")
    visitor.press("Log in")


def join_refused(visitor, town):
    visitor.page.goto("/register")
    visitor.page.get_by_label("Name", exact=True).fill("x!")
    visitor.page.get_by_label("E-mail address").fill("somebody@example.org")
    visitor.page.get_by_label("Password").fill("short")
    visitor.press("Join")


def joined_and_letter(visitor, town):
    visitor.join()
    visitor.page.goto("/demo/letters")


def confirm(visitor, town):
    page = visitor.page
    page.goto("/register")
    page.get_by_label("Name", exact=True).fill("late-comer")
    page.get_by_label("E-mail address").fill("late-comer@example.org")
    page.get_by_label("Password").fill(PASSWORD)
    visitor.press("Join")
    page.goto("/demo/letters")
    follow_letter(page, "late-comer@example.org", "/confirm")


def reset(visitor, town):
    page = visitor.page
    page.goto("/forgotten")
    page.get_by_label("Name or e-mail").fill("newcomer")
    visitor.press("Send me a link")
    page.goto("/demo/letters")
    follow_letter(page, "newcomer@example.org", "/reset")


def new_address(visitor, town):
    page = visitor.page
    page.goto("/my/email")
    page.get_by_label("New e-mail address").fill("newcomer@new.example")
    page.get_by_label("Your password").fill(PASSWORD)
    visitor.press("Send the e-mail")
    page.goto("/demo/letters")
    follow_letter(page, "newcomer@new.example", "/my/email/confirm")
    title_is(page, "Confirm your new e-mail address")
    expect(page.locator("main form button")).to_be_visible()


def password_refused(visitor, town):
    visitor.page.goto("/my/password")
    visitor.page.locator("#old").fill("not the right one")
    visitor.page.locator("#password").fill("short")
    visitor.press("Change it")
    expect(visitor.page.locator(".fault li")).to_have_count(2)


def new_token(visitor, town):
    visitor.page.goto("/my/tokens")
    visitor.page.get_by_label("What is it for?").fill("my script that counts and counts, with a long name")
    visitor.page.fill("#password", DEMO_PASSWORD)
    visitor.press("Make it")


def policy_refused(visitor, town):
    visitor.page.goto("/policies/new")
    visitor.page.get_by_label("Name", exact=True).fill("x")
    visitor.press("Look at it")


def policy_preview(visitor, town):
    visitor.page.goto("/policies/new")
    visitor.page.get_by_label("Name", exact=True).fill(LONG_NAME[:110] + " too")
    visitor.page.get_by_label("What it says").fill(f"# A heading\n\n> quoted\n\n{LONG_WORDS}\n\n```\n{'code ' * 60}\n```")
    visitor.page.get_by_label("Category").select_option(index=1)
    visitor.press("Look at it")


def edit_preview(visitor, town):
    visitor.page.goto(f"/policies/{town.long}/edit")
    visitor.page.get_by_label("What it says").fill(f"Another text.\n\n{LONG_WORDS}")
    visitor.press("Look at it first")


def votes_saved(visitor, town):
    visitor.page.goto(f"/policies/{town.long}")
    visitor.page.locator("#held").fill("120")
    visitor.press("Save my votes")


def votes_too_many(visitor, town):
    visitor.page.goto("/my/votes")
    visitor.page.locator("[data-line] input").first.fill("123456789")
    visitor.press("Save my votes")


def votes_price(visitor, town):
    visitor.page.goto(f"/my/votes/{town.long}?held=90")
    visitor.page.locator("[data-agreed]").evaluate("field => field.form.addEventListener('formdata', "
                                                   "event => event.formData.set('price', '0'))")
    visitor.press("Save my votes")
    title_is(visitor.page, re.compile("^Taking back"))


def votes_conflict(visitor, town):
    visitor.page.goto("/my/votes")
    other = visitor.tab()
    other.goto("/my/votes")
    for page, more in ((other, 1), (visitor.page, 2)):
        field = page.locator("[data-line] input").first
        field.fill(str(int(field.input_value()) + more))
        visitor.press("Save my votes", page)
    title_is(visitor.page, "Your votes changed in the meantime")


def votes_changed(visitor, town):
    visitor.page.goto("/my/votes")
    visitor.page.locator("[data-line] input").first.fill("0")
    visitor.page.evaluate("scrollTo(0, 0)")


def menu_open(visitor, town):
    visitor.page.goto("/ranking")
    visitor.page.locator("details.menu summary").click()


def figures_open(visitor, town):
    visitor.page.goto("/policies/1/history")
    for summary in visitor.page.locator("main details summary").all():
        summary.click()


# ---- Those who run the site, and what they did ----


def refused_by_role(visitor, town):
    visitor.page.goto("/admin")
    title_is(visitor.page, "You may not do this")


def delete_refused(visitor, town):
    visitor.page.goto(f"/policies/{town.long}/delete")
    visitor.press("Delete it")
    expect(visitor.page.locator(".fault")).to_be_visible()


def merge_refused(visitor, town):
    visitor.page.goto(f"/policies/{town.long}/merge?other={town.active}")
    visitor.press("Merge them")
    expect(visitor.page.locator(".fault")).to_be_visible()


def report_refused(visitor, town):
    visitor.page.goto("/trouble")
    visitor.page.fill("#words", "No letter came.")
    visitor.press("Tell the moderators")
    expect(visitor.page.locator(".fault")).to_be_visible()


def setting_preview(visitor, town):
    visitor.page.goto("/admin/settings")
    visitor.page.fill("#value", "1000000")
    visitor.press("See what it does")
    title_is(visitor.page, re.compile("will be"))


def setting_refused(visitor, town):
    visitor.page.goto("/admin/settings")
    visitor.page.fill("#value", "many")
    visitor.press("See what it does")
    expect(visitor.page.locator(".fault")).to_be_visible()


def list_with_faults(visitor, town):
    visitor.page.goto("/admin/electorate")
    lines = [f"{LONG_NAME.split()[0].replace('ä', 'ae')[:60]}@example.org", "no address", LONG_WORDS, ""] + ["x@"] * 40
    visitor.page.fill("#lines", "\n".join(lines))
    visitor.press("Put them on the roll")
    expect(visitor.page.locator("main [role=status] li").first).to_be_visible()


def invited(visitor, town):
    visitor.page.goto("/admin/electorate")
    visitor.page.fill("main #email", f"{'a-long-name-' * 4}x@{'long-' * 8}domain.example")
    visitor.press("Invite")
    expect(visitor.page.locator("main [role=status]").first).to_be_visible()


def party_refused(visitor, town):
    visitor.page.goto("/admin/parties")
    visitor.page.fill("#name0", "Fair Work Union")
    visitor.press("Add it")
    expect(visitor.page.locator(".fault")).to_be_visible()


def rights_refused(visitor, town):
    visitor.page.goto("/admin/people?q=admin&role=admin")
    follow(visitor.page, visitor.page.locator("main .people").get_by_role("link", name="admin"))
    visitor.page.locator("input[value=admin]").uncheck()
    visitor.press("Set")
    expect(visitor.page.locator(".fault")).to_be_visible()


def text_preview(visitor, town):
    visitor.page.goto("/admin/texts")
    visitor.page.fill("#words", f"## {LONG_NAME}\n\n{LONG_WORDS}")
    visitor.press("See how it looks")


def mail_refused(visitor, town):
    visitor.page.goto("/admin/mail")
    visitor.page.fill("#address", "a@b")
    visitor.press("Only e-mails about log-in")


def store_figures(visitor, town):
    visitor.page.goto("/admin/store")
    visitor.page.locator("main details summary").click()


def second_offered(visitor, town):
    visitor.page.goto("/my/second-factor")
    visitor.page.fill("#password", PASSWORD)
    visitor.press("Set it up")
    visitor.page.locator("main details summary").click()


def second_refused(visitor, town):
    visitor.page.goto("/my/second-factor")
    if visitor.page.get_by_role("button", name="Set it up").count():
        visitor.page.fill("#password", PASSWORD)
        visitor.press("Set it up")
    visitor.page.fill("#code", "12345")
    visitor.page.fill("#password", PASSWORD)
    visitor.press("Turn it on")
    expect(visitor.page.locator(".fault")).to_be_visible()


STATES = [("voter", refused_by_role), ("moderator", delete_refused), ("moderator", merge_refused), ("guest", report_refused),
          ("admin", setting_preview), ("admin", setting_refused), ("admin", list_with_faults), ("admin", invited), ("admin", party_refused),
          ("admin", rights_refused), ("admin", text_preview), ("admin", mail_refused), ("admin", store_figures), ("newcomer", second_offered),
          ("newcomer", second_refused), ("guest", not_found), ("guest", log_in_refused), ("guest", join_refused), ("guest", joined_and_letter),
          ("guest", confirm), ("guest", reset), ("newcomer", new_address), ("newcomer", password_refused), ("voter", new_token), ("voter", policy_refused), ("voter", policy_preview),
          ("voter", edit_preview), ("voter", votes_saved), ("voter", votes_too_many), ("voter", votes_price),
          ("voter", votes_conflict), ("voter", votes_changed), ("voter", menu_open), ("guest", figures_open)]


@pytest.mark.parametrize("who, lead", STATES, ids=[lead.__name__ for _, lead in STATES])
def test_state(town, shots, who, lead):
    visitor = town.visitor(who)
    lead(visitor, town)
    wrong = look(visitor.page, shots, f"state_{lead.__name__}")
    visitor.close()
    assert not wrong, "\n".join(wrong)


def test_a_second_factor_from_its_codes_on_paper_to_the_next_log_in(town, browser, shots):
    town.site.call("user", "add", "secured", "--email", "secured@example.org", "--confirmed", "--password-stdin", input=PASSWORD)
    visitor = Visitor(browser, town.site, reduced_motion="reduce").log_in("secured", PASSWORD)
    page = visitor.page
    page.goto("/my/second-factor")
    page.fill("#password", PASSWORD)
    visitor.press("Set it up")
    device = Device(page.locator("code.secret").first.text_content())
    page.fill("#code", device.code())
    page.fill("#password", PASSWORD)
    visitor.press("Turn it on")
    title_is(page, "Your recovery codes")
    wrong = look(page, shots, "state_second_codes")
    follow(page, page.get_by_role("link", name="I have them"))
    wrong += look(page, shots, "state_second_on")
    visitor.context.clear_cookies()
    page.goto("/login")
    page.fill("#name", "secured")
    page.fill("#password", PASSWORD)
    visitor.press("Log in")
    title_is(page, "Your second factor")
    wrong += look(page, shots, "state_login_code")
    page.fill("#code", "000000")
    visitor.press("Log in")
    expect(page.locator(".fault")).to_be_visible()
    wrong += look(page, shots, "state_login_code_refused")
    visitor.close()
    assert not wrong, "\n".join(wrong)


# ---- No data, and very much ----


@pytest.mark.parametrize("path", ["/", "/ranking", "/policies", "/categories", "/parties", "/categories/1", "/parties/1"])
def test_no_data(no_data, browser, shots, path):
    visitor = Visitor(browser, no_data)
    visitor.page.goto(path)
    wrong = look(visitor.page, shots, f"nodata_{path.strip('/').replace('/', '_') or 'front'}")
    visitor.close()
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("path", ["/desk", "/desk/reports", "/desk/featured", "/moderation", "/admin", "/admin/people", "/admin/electorate", "/admin/settings",
                                  "/admin/parties", "/admin/texts", "/admin/mail", "/admin/activity", "/admin/tasks", "/admin/store"])
def test_no_data_for_who_runs_it(without_people, shots, path):
    without_people.page.goto(path)
    wrong = look(without_people.page, shots, f"nodata_{path.strip('/').replace('/', '_')}")
    assert not wrong, "\n".join(wrong)


def test_closed_for_maintenance(without_people, browser, shots):
    site = without_people.site
    site.call("maintenance", "on", "--message", "We move to a larger house. Back at noon.")
    try:
        visitor = Visitor(browser, site)
        visitor.expected = True
        visitor.page.goto("/ranking")
        title_is(visitor.page, "Closed for maintenance")
        wrong = look(visitor.page, shots, "state_maintenance")
        without_people.page.goto("/admin")
        wrong += look(without_people.page, shots, "state_maintenance_admin")
        visitor.close()
    finally:
        site.call("maintenance", "off")
    assert not wrong, "\n".join(wrong)


def test_the_first_admin(no_data, browser, shots):
    visitor = Visitor(browser, no_data)
    visitor.page.goto(no_data.first_admin)
    title_is(visitor.page, "The first admin")
    expect(visitor.page.locator("#password")).to_be_visible()
    wrong = look(visitor.page, shots, "state_first_admin")
    for field in ("name", "password"):
        visitor.page.locator(f"#{field}").fill("x")
    visitor.page.locator("#email").fill("x@y")
    visitor.press("Become its admin")
    expect(visitor.page.locator(".fault li").nth(1)).to_be_visible()
    wrong += look(visitor.page, shots, "state_first_admin_refused")
    visitor.close()
    assert not wrong, "\n".join(wrong)


@pytest.fixture(scope="module")
def no_data(tmp_path_factory):
    site = Site(tmp_path_factory.mktemp("nothing") / "data", "--empty")
    lines = [site.process.stdout.readline() for _ in range(2)]
    site.first_admin = next(line.strip() for line in lines if "/first-admin?token=" in line)
    yield site
    assert site.stop() == 0


@pytest.fixture(scope="module")
def without_people(tmp_path_factory, browser):
    """The only person on a site: its admin, who stays logged in."""
    site = Site(tmp_path_factory.mktemp("alone") / "data", "--empty")
    site.call("user", "add", "admin", "--email", "admin@example.org", "--role", "admin", "--confirmed", "--password-stdin", input=PASSWORD)
    admin = Visitor(browser, site, reduced_motion="reduce").log_in("admin", PASSWORD)
    yield admin
    admin.close()
    assert site.stop() == 0


@pytest.fixture(scope="module")
def very_many(tmp_path_factory):
    """A site on which `demo` holds a vote on a thousand policies."""
    data = tmp_path_factory.mktemp("many") / "data"
    filled = subprocess.run([shared.BIN, "demo", "--data", data, "--voters", "1100", "--policies", "1050", "--days", "80"],
                            env=shared.clean_environment(), capture_output=True, text=True)
    assert filled.returncode == 0, filled.stderr
    site = Site(data)
    ids = [policy["id"] for policy in site.call("policy", "list")["policies"] if policy["state"] == "active"]
    held = {int(line) for line in site.call("vote", "show", "--as", "demo")["lines"]}
    wanted = [i for i in ids if i not in held][:1000 - len(held)]
    for start in range(0, len(wanted), 250):
        site.call("vote", "save", "--as", "demo", *(f"{i}=1" for i in wanted[start:start + 250]))
    yield site
    assert site.stop() == 0


@pytest.mark.parametrize("path", ["/my/votes", "/my/votes?order=rank", "/my/profile", "/my/history"])
def test_very_many_lines(very_many, browser, shots, path):
    visitor = Visitor(browser, very_many, reduced_motion="reduce").log_in()
    visitor.page.goto(path)
    wrong = look(visitor.page, shots, f"many_{path.strip('/').replace('/', '_').replace('?', '-')}",
                 without=["color-contrast"])  # the same colours as with few lines, and minutes to judge
    visitor.close()
    assert not wrong, "\n".join(wrong)


def test_the_charts_of_a_journal(town, shots):
    """They need some full minutes since the start, which all the pages before have taken for the most part."""
    visitor, until = town.visitor("admin"), time.monotonic() + 240
    visitor.page.goto("/admin/journals/recount")
    while visitor.page.locator("figure").count() < 2:
        assert time.monotonic() < until, "no charts"
        time.sleep(2)
        visitor.page.reload()
    wrong = look(visitor.page, shots, "admin_journals_recount_charts-admin")
    visitor.close()
    assert not wrong, "\n".join(wrong)
