"""For suites of what each role does: a site of their own with people of each role, a mail server, and people who go by links and forms alone."""
import base64
import email
import email.policy
import hashlib
import hmac
import re
import socketserver
import struct
import subprocess
import threading
import time

import pytest
from conftest import PASSWORD, Site, Visitor, follow, shared, title_is
from playwright.sync_api import expect

THRESHOLD = 150
# The program's clock, an hour ago: a rule of the vote counts at the earliest 15 minutes after it was made.
AN_HOUR_AGO = """#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec *at)
{
    int failed = (int)syscall(SYS_clock_gettime, clock, at);
    if (clock == CLOCK_REALTIME)
        at->tv_sec -= 3600;
    return failed;
}
"""


# ---- Letters ----


class Counter(socketserver.StreamRequestHandler):
    """Takes letters as a mail server does; there is no mailbox called gone."""

    def say(self, line):
        self.wfile.write(f"{line}\r\n".encode())

    def take(self, to):
        self.say("354 go on")
        lines = iter(self.rfile.readline, b".\r\n")
        message = email.message_from_bytes(b"".join(line[1:] if line.startswith(b"..") else line for line in lines), policy=email.policy.default)
        self.server.letters.append((to, message["subject"], message.get_body(("plain",)).get_content()))
        self.say("250 taken")

    def handle(self):
        to = ""
        self.say("220 post")
        for line in self.rfile:
            verb = line[:4].upper()
            if verb == b"RCPT":
                to = re.search(r"<(.*?)>", line.decode()).group(1)
                self.say("550 5.1.1 nobody of that name" if to.startswith("gone@") else "250 ok")
            elif verb == b"DATA":
                self.take(to)
            else:
                self.say("221 bye" if verb == b"QUIT" else "250 ok")
            if verb == b"QUIT":
                return


class Post(socketserver.ThreadingTCPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Counter)
        self.letters = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def letter(self, to, words, seconds=20):
        """The newest to somebody that has the words in its subject or text."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = [text for reader, subject, text in list(self.letters) if reader == to and words in subject + text]
            if found:
                return found[-1]
            time.sleep(0.05)
        raise AssertionError(f"no letter to {to} with {words}: {[letter[:2] for letter in self.letters]}")

    def link(self, to, words):
        return re.search(r"http://\S+", self.letter(to, words)).group(0)


# ---- The town ----


class Town:
    """A site with a moderator, somebody who answers, two admins, and some policies by others."""

    def __init__(self, place):
        self.post = Post()
        self.site = Site(place / "data", "--empty", "--smtp-url", f"smtp://127.0.0.1:{self.post.server_address[1]}",
                         "--mail-from", "site@example.org", "--backup-dir", str(place / "backups"))
        self.site.stop()
        self.set_threshold(place)
        self.site.start()
        for name, *roles in (("admin", "admin"), ("watcher", "admin"), ("mia", "moderate_policies", "feature"), ("rosa", "respond"),
                             ("edda", "edit_users"), ("vera",)):
            self.add(name, *roles)

    def add(self, name, *roles):
        self.site.call("user", "add", name, "--email", f"{name}@example.org", "--confirmed", "--password-stdin",
                       *(word for role in roles for word in ("--role", role)), input=PASSWORD)

    def set_threshold(self, place):
        (place / "clock.c").write_text(AN_HOUR_AGO)
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", place / "clock.so", place / "clock.c"], check=True)
        done = subprocess.run([shared.BIN, "setting", "set", "answer_threshold", str(THRESHOLD), "--data", str(place / "data")],
                              env=shared.clean_environment(LD_PRELOAD=str(place / "clock.so")), capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    def policy(self, name, owner):
        """Proposed by somebody new, with all that they have."""
        self.add(owner)
        return self.site.call("policy", "create", "--as", owner, "--name", name, "--description", f"{name}, in full.",
                              "--category", "Transport")["policy"]


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    town = Town(tmp_path_factory.mktemp("roles"))
    yield town
    town.post.shutdown()
    town.post.server_close()
    assert town.site.stop() == 0, town.site.log()


class Person(Visitor):
    """Somebody before this site: goes by links and forms alone."""

    def menu(self, name):
        self.page.locator("details.menu summary").click()
        self.to(self.page.locator("nav[aria-label='My account']").get_by_role("link", name=name, exact=True))

    def to(self, *links):
        """Link by link; a text is the whole name of a link."""
        for link in links:
            follow(self.page, self.page.locator("body").get_by_role("link", name=link, exact=True).first if isinstance(link, str) else link)

    def read(self, policy):
        """To a policy, as somebody who looks for it by its name."""
        self.page.get_by_label("Find a policy").fill(policy)
        self.press("Find", within="header")
        self.to(self.page.locator("main").get_by_role("link", name=policy, exact=True))
        title_is(self.page, policy)

    def fill(self, **fields):
        for field, value in fields.items():
            self.page.locator(f"main #{field}").fill(value)

    def told(self, words):
        expect(self.page.get_by_role("status").first).to_contain_text(words)

    def wrong(self, words):
        expect(self.page.get_by_role("alert")).to_contain_text(words)

    def come_in(self, name, code=None):
        """From the front page on, with a code where one is asked for."""
        self.page.goto("/")
        self.to("Log in")
        self.fill(name=name, password=PASSWORD)
        self.press("Log in")
        if code:
            title_is(self.page, "Your second factor")
            self.fill(code=code)
            self.press("Log in")
        expect(self.page.locator("[data-balance]")).to_be_visible()
        return self

    def go_out(self):
        self.page.locator("details.menu summary").click()
        self.press("Log out", within="header")
        self.told("You are logged out")

    def may_not(self, *addresses):
        """What the address bar does not open either; the page says what did not happen, whom to ask, and leads away."""
        for address in addresses:
            answer = self.page.goto(address)
            assert answer.status == 403, address
            title_is(self.page, "You may not do this")
            expect(self.page.locator("main")).to_contain_text("Nothing was changed")
            expect(self.page.locator("main")).to_contain_text("Ask the people who run this site")
        self.to("Go to the front page")
        assert self.page.url.rstrip("/") == self.site.url

    def public_log(self):
        """Each line of it, from the foot of whatever page one is on."""
        self.to(self.page.locator("footer").get_by_role("link", name="Moderation"))
        title_is(self.page, "What moderators did")
        return self.page.locator("main .items > li").all_inner_texts()


@pytest.fixture
def person(town, browser):
    """Makes people; what their pages did wrong fails the test when it ends."""
    people = []

    def make(name=None, **options):
        people.append(Person(browser, town.site, **options))
        if name:
            people[-1].come_in(name)
        return people[-1]

    yield make
    for one in people:
        one.close()


def acts_of(watcher, who):
    """What an admin reads of somebody in the log of acts, the newest first."""
    watcher.menu("Admin")
    watcher.to(watcher.page.locator("main .cards").get_by_role("link", name="Activity", exact=True))
    watcher.fill(who=who)
    watcher.press("Show")
    return [re.sub(r"\s+", " ", line) for line in watcher.page.locator("main .history > li").all_inner_texts()]


def noted(lines, sentence, who, why=""):
    """There is a line with what, who, from where, when and why."""
    found = [line for line in lines if sentence in line and why in line]
    assert found, (sentence, why, lines)
    assert f"{who}, from 127.0.0.1" in found[0] and re.search(r"(ago|now|just)", found[0]), found[0]


def report(visitor, policy, words):
    visitor.page.goto("/")
    visitor.read(policy)
    visitor.to("Report it to the moderators")
    visitor.fill(words=words)
    visitor.press("Tell the moderators")
    visitor.told("Moderators will look at it")


def join_by(town, visitor, address, name):
    """The link of an invitation, the form behind it, and the link of the letter that follows."""
    page = visitor.page
    page.goto(town.post.link(address, "You are invited"))
    title_is(page, "Join")
    expect(page.locator("#email")).to_have_value(address)
    visitor.fill(name=name, password=PASSWORD)
    visitor.press("Join")
    title_is(page, "Check your e-mail")
    page.goto(town.post.link(address, "Confirm your e-mail"))
    visitor.press("Confirm my address")
    visitor.told("Your address is confirmed")


# ---- Second factors ----


class Device:
    """An authenticator app: a code of this half minute, then those after it."""

    def __init__(self, secret):
        self.secret, self.last = base64.b32decode(secret), 0

    def code(self):
        self.last = max(int(time.time()) // 30, self.last + 1)
        mac = hmac.digest(self.secret, struct.pack(">Q", self.last), hashlib.sha1)
        start = mac[-1] & 15
        return f"{(int.from_bytes(mac[start:start + 4], 'big') & 0x7fffffff) % 10**6:06}"
