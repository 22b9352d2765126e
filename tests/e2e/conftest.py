"""Suites before the real program as a person sees it: one demo site, Debian's Chromium, and visitors whose every page is watched.

A suite is a file *_suite.py; `./dev e2e` runs them all, `./dev e2e NAME…` those with NAME in a test's name. Whatever a page of a
visitor does that no page may do fails the test: a request to another host, a breach of the content security policy, an
error of a script, an answer 5xx, a part of a page that is not there."""
import importlib.util
import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import urllib.parse

import playwright.sync_api
import pytest
from playwright.sync_api import expect

# By its path: "conftest" is this file, too.
_spec = importlib.util.spec_from_file_location("shared", pathlib.Path(__file__).resolve().parents[1] / "conftest.py")
shared = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(shared)

PASSWORD, DEMO_PASSWORD = "a long enough one", "ostraka-demo"
SHOTS = shared.ROOT / "build/e2e/shots"
TELL_BREACHES = """document.addEventListener("securitypolicyviolation", (event) =>
    console.error(`securitypolicyviolation ${event.violatedDirective} ${event.blockedURI}`));"""
NUMBERS = itertools.count(1)


def pytest_unconfigure(config):
    """The last line, as ./dev test has it."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None:
        return
    count = {kind: len(reporter.stats.get(kind, [])) for kind in ("passed", "failed", "error", "skipped")}
    skipped = f", {count['skipped']} skipped" if count["skipped"] else ""
    print(f"\n{count['passed']} passed, {count['failed'] + count['error']} failed{skipped}")


class Site:
    """A running `ostraka serve`, ended by its process id, and started again where it was."""

    def __init__(self, data, *flags):
        self.data, self.flags, self.port = str(data), flags, 0
        self.start()

    def start(self):
        environment = shared.clean_environment(OSTRAKA_EMPTY="off")
        with open(self.data + ".log", "ab") as log:
            self.process = subprocess.Popen(
                [shared.BIN, "serve", "--data", self.data, "--listen", f"127.0.0.1:{self.port}", *self.flags],
                env=environment, stdout=subprocess.PIPE, stderr=log, text=True)
        for line in self.process.stdout:  # a new site first tells that it fills itself
            if address := re.search(r"(http://127\.0\.0\.1:(\d+))/", line):
                self.url, self.port = address.group(1), int(address.group(2))
                return
        raise RuntimeError(f"serve did not start: {self.log()}")

    def log(self):
        return pathlib.Path(self.data + ".log").read_text()[-4000:]

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        code = self.process.wait(30)
        self.process.stdout.close()
        return code

    def call(self, *words, **options):
        """The command line beside the running server."""
        done = subprocess.run([shared.BIN, *words, "--data", self.data, "--json"], env=shared.clean_environment(), text=True,
                              capture_output=True, timeout=60, **options)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout) if done.stdout[:1] in ("{", "[") else done.stdout


@pytest.fixture(scope="session")
def demo(tmp_path_factory):
    directory = tmp_path_factory.mktemp("demo")
    (directory / "journals").write_text("[journal recount]\ntimeouts = 0\n[journal paused]\n")
    site = Site(directory / "data", "--journal-file", str(directory / "journals"))
    yield site
    assert site.stop() == 0, site.log()


@pytest.fixture(scope="session")
def browser():
    with playwright.sync_api.sync_playwright() as engine:
        chromium = engine.chromium.launch(executable_path=os.environ.get("CHROMIUM") or shutil.which("chromium"),
                                          args=["--no-sandbox"])
        yield chromium
        chromium.close()


class Visitor:
    """A browser of somebody's own: its cookies, its size, with scripts or without."""

    def __init__(self, browser, site, **options):
        options.setdefault("viewport", {"width": 1280, "height": 900})
        self.site, self.faults, self.expected = site, [], 0
        self.has_scripts = options.get("java_script_enabled", True)
        self.context = browser.new_context(base_url=site.url, locale="en-GB", timezone_id="UTC", **options)
        self.context.set_default_timeout(15000)
        self.context.add_init_script(TELL_BREACHES)
        self.context.on("request", self.saw_request)
        self.context.on("response", self.saw_response)
        self.context.on("console", self.saw_words)
        self.context.on("weberror", lambda error: self.faults.append(f"script: {error.error}"))
        self.page = self.context.new_page()

    def saw_request(self, request):
        address = urllib.parse.urlsplit(request.url)
        if address.scheme not in ("data", "blob") and address.netloc != urllib.parse.urlsplit(self.site.url).netloc:
            self.faults.append(f"asked another host: {request.url}")

    def saw_response(self, response):
        is_page = response.request.resource_type == "document"
        if response.status >= (500 if is_page else 400) and not self.expected:
            self.faults.append(f"{response.status} {response.url}")

    def saw_words(self, message):
        # The browser repeats the code of every answer that is not 200 here; saw_response judges those.
        if message.type == "error" and "Failed to load resource" not in message.text and not self.expected:
            self.faults.append(f"console: {message.text}")

    def tab(self):
        return self.context.new_page()

    # ---- What people do ----

    def press(self, name, page=None, within="main"):
        """A button that sends a form."""
        page = page or self.page
        follow(page, page.locator(within).get_by_role("button", name=name, exact=True).first)

    def log_in(self, name="demo", password=DEMO_PASSWORD, next_path=None):
        self.page.goto("/login" + (f"?next={urllib.parse.quote(next_path)}" if next_path else ""))
        self.page.get_by_label("Name or e-mail address").fill(name)
        self.page.get_by_label("Password").fill(password)
        self.press("Log in")
        expect(self.page.locator("[data-balance]")).to_be_visible()
        return self

    def join(self, name=None):
        """From nothing to a confirmed account that is logged in. The letter is read where the demo shows it."""
        name = name or f"voter-{next(NUMBERS)}"
        page = self.page
        page.goto("/")
        follow(page, page.get_by_role("link", name="Join").first)
        page.get_by_label("Name", exact=True).fill(name)
        page.get_by_label("E-mail address").fill(f"{name}@example.org")
        page.get_by_label("Password").fill(PASSWORD)
        self.press("Join")
        title_is(page, "Check your e-mail")
        follow(page, page.get_by_role("link", name="read the e-mail here"))
        follow_letter(page, f"{name}@example.org", "/confirm")
        self.press("Confirm my address")
        expect(page.get_by_role("status")).to_contain_text("Your address is confirmed")
        return self.log_in(name, PASSWORD)

    def enter(self):
        """A confirmed account with its first pollies, made beside the site: who may register is limited by network address."""
        name = f"voter-{next(NUMBERS)}"
        self.site.call("user", "add", name, "--email", f"{name}@example.org", "--confirmed", "--password-stdin", input=PASSWORD)
        return self.log_in(name, PASSWORD)

    def balance(self, page=None):
        return number(page or self.page, "[data-balance]")

    def close(self):
        self.context.close()
        assert self.faults == []


def follow(page, what):
    """A click that leads to another page, which is then there as a whole: a look at it right after sees neither the old one nor a half."""
    with page.expect_navigation():
        what.click()


def follow_letter(page, to, path):
    """On the page with the letters of a demo: the link in the newest one to somebody."""
    follow(page, page.locator("article.letter").filter(has_text=f"To {to}").first.locator(f"a[href*='{path}']").first)


def title_is(page, words):
    """The main heading, once it says so."""
    expect(page.locator("h1")).to_have_text(words)


def number(page, selector):
    """A figure on a page; thin spaces and the minus sign of print are ours."""
    text = page.locator(selector).first.inner_text()
    return int(re.sub(r"[^\d-]", "", text.replace("\u2212", "-")))


@pytest.fixture
def visit(browser, demo):
    """Makes visitors; what their pages did wrong fails the test when it ends."""
    visitors = []

    def make(site=None, **options):
        visitors.append(Visitor(browser, site or demo, **options))
        return visitors[-1]

    yield make
    for visitor in visitors:
        visitor.close()


@pytest.fixture(scope="session")
def shots():
    SHOTS.mkdir(parents=True, exist_ok=True)
    return SHOTS
