"""Joining, logging in, forgotten passwords, sessions, tokens, leaving: through the real forms, with letters by a real mail server."""
import email
import email.policy
import hashlib
import http.client
import http.cookies
import importlib.util
import pathlib
import re
import socket
import subprocess
import time
import urllib.parse

import aiosmtpd.controller
import pytest

from browser import judge_cookie
from site_fixture import Answer, Forms

# By its path: this folder may have a conftest of its own.
_spec = importlib.util.spec_from_file_location("shared", pathlib.Path(__file__).resolve().parents[1] / "conftest.py")
shared = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(shared)

PASSWORD = "correct horse 1"


class Box:
    def __init__(self):
        self.letters = []

    async def handle_DATA(self, server, session, envelope):
        message = email.message_from_bytes(envelope.content, policy=email.policy.default)
        self.letters.append((envelope.rcpt_tos[0], message["subject"], message.get_body(("plain",)).get_content()))
        return "250 taken"

    def wait_for(self, to, words="", seconds=20):
        """The newest letter to somebody whose text holds the words; taken out."""
        end = time.monotonic() + seconds
        while True:
            found = [letter for letter in self.letters if letter[0] == to and words in letter[1] + letter[2]]
            if found:
                self.letters.remove(found[-1])
                return found[-1][2]
            assert time.monotonic() < end, f"no letter to {to}: {self.letters}"
            time.sleep(0.05)


def link_in(text, path):
    return re.search(r"http://[^/\s]+(" + re.escape(path) + r"\?token=[\w-]+)", text).group(1)


class Browser:
    """Keeps cookies, sends forms as they stand on the page; no scripts."""

    def __init__(self, port):
        self.port, self.cookies = port, {}

    def ask(self, method, path, fields=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        body = None if fields is None else urllib.parse.urlencode(fields)
        if fields is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        if self.cookies:
            headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        for line in answer.headers.get_all("Set-Cookie") or []:
            judge_cookie(line)
            for name, morsel in http.cookies.SimpleCookie(line).items():
                if morsel["max-age"] == "0":
                    self.cookies.pop(name, None)
                else:
                    self.cookies[name] = morsel.value
        result = Answer(answer)
        connection.close()
        return result

    def get(self, path):
        return self.ask("GET", path)

    def send(self, page, action, **fields):
        form = self.get(page).form(action)
        return self.ask("POST", action, {**form, **fields})

    def register(self, name, address=None, password=PASSWORD):
        return self.send("/register", "/register", name=name, email=address or f"{name}@example.org", password=password)

    def log_in(self, name, password=PASSWORD, **more):
        return self.send("/login", "/login", name=name, password=password, **more)


class SitePeople:
    def __init__(self, directory, *flags):
        self.box = Box()
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.office = aiosmtpd.controller.Controller(self.box, hostname="127.0.0.1", port=port)
        self.office.start()
        self.server = shared.Serve(directory / "data", "--empty", "--smtp-url", f"smtp://127.0.0.1:{port}",
                                   "--mail-from", "site@example.org", *flags)

    def browser(self):
        return Browser(self.server.port)

    def person(self, name):
        browser = self.browser()
        assert browser.register(name).location == "/register/sent"
        self.confirm(browser, name)
        assert browser.log_in(name).code == 303
        return browser

    def confirm(self, browser, name):
        link = link_in(self.box.wait_for(f"{name}@example.org", "/confirm?"), "/confirm")
        return browser.send(link, "/confirm")


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    town = SitePeople(tmp_path_factory.mktemp("people"))
    yield town
    town.server.stop()
    town.office.stop()


# ---- Joining

def test_from_the_form_by_the_letter_to_the_first_pollies(town):
    anna = town.browser()
    assert anna.register("anna").location == "/register/sent"
    link = link_in(town.box.wait_for("anna@example.org", "/confirm?"), "/confirm")
    assert anna.get(link).code == anna.get(link).code == 200  # a scanner that opens it changes nothing
    assert anna.send(link, "/confirm").location == "/login?done=welcome"
    assert anna.log_in("anna").location == "/"
    assert "You have 100 unspent pollies." in anna.get("/my/profile").words
    again = anna.get(link)
    assert again.code in (404, 422), "a link works once"


@pytest.mark.parametrize("field, value, words", [
    ("name", "a", "name"), ("name", "a b c", "name"), ("email", "nobody", "e-mail"), ("password", "short", "10"),
    ("name", "<script>alert(1)</script>", "name"),
])
def test_a_form_that_is_refused_comes_back_with_what_was_typed(town, field, value, words):
    typed = {"name": "maria", "email": "maria@example.org", "password": PASSWORD, field: value}
    answer = town.browser().send("/register", "/register", **typed)
    assert answer.code == 422
    assert f'id="{field}-fault"' in answer.text and 'role="alert"' in answer.text
    assert words in answer.words.lower()
    assert PASSWORD not in answer.text and "<script>alert" not in answer.text
    kept = answer.form("/register")
    assert kept["name"] == typed["name"] and kept["email"] == typed["email"]


def faults(answer):
    """What the summary links to, and the fields that say so themselves."""
    summary = re.search(r'role="alert".*?</div>', answer.text, re.S).group()
    fields = re.findall(r'href="#([^"]+)"', summary)
    for field in fields:
        assert f'id="{field}-fault"' in answer.text and re.search(rf'id="{field}"[^>]*aria-describedby="{field}-fault', answer.text)
    assert answer.text.count('aria-invalid="true"') == len(fields)
    return fields


def test_a_form_says_all_that_is_wrong_at_once(town):
    town.person("taken")
    browser = town.browser()
    wrong = {"name": "a b", "email": "nobody", "password": "short"}
    assert faults(browser.send("/register", "/register", **wrong)) == ["name", "email", "password"]
    assert faults(browser.send("/register", "/register", **{**wrong, "email": "a@example.org"})) == ["name", "password"]
    assert faults(browser.send("/register", "/register", **{**wrong, "name": "TAKEN", "email": "taken@example.org"})) == ["name", "password"]
    assert faults(browser.send("/register", "/register", **{**wrong, "name": "free", "email": "taken@example.org"})) == ["password"]
    changed = town.person("wrongly").send
    assert faults(changed("/my/password", "/my/password", old="not it at all", password="short")) == ["old", "password"]
    assert faults(changed("/my/password", "/my/password", old=PASSWORD, password="short")) == ["password"]
    assert faults(changed("/my/password", "/my/password", old="not it at all", password="long enough 1")) == ["old"]


def test_a_taken_name_is_said_and_a_taken_address_is_not(town):
    town.person("bert")
    stranger = town.browser()
    answer = stranger.register("BERT", "other@example.org")
    assert answer.code == 422 and 'id="name-fault"' in answer.text
    assert stranger.register("bertram", "bert@example.org").location == "/register/sent"
    assert "bert" in town.box.wait_for("bert@example.org", "already")


def test_the_letter_comes_again_and_the_older_link_ends(town):
    cora = town.browser()
    cora.register("cora")
    first = link_in(town.box.wait_for("cora@example.org", "/confirm?"), "/confirm")
    assert cora.send("/register/sent", "/register/again", email="cora@example.org").location == "/register/sent"
    assert cora.send("/register/sent", "/register/again", email="nobody@example.org").location == "/register/sent"
    second = link_in(town.box.wait_for("cora@example.org", "/confirm?"), "/confirm")
    assert cora.get(first).code == 404
    assert cora.send(second, "/confirm").code == 303


# ---- The door

def test_without_a_session_pages_lead_to_the_log_in_and_back(town):
    town.person("dora")
    dora = town.browser()
    answer = dora.get("/my/sessions")
    assert answer.location == "/login?next=%2Fmy%2Fsessions"
    form = dora.get(answer.location).form("/login")
    assert form["next"] == "/my/sessions"
    assert dora.ask("POST", "/login", {**form, "name": "dora", "password": PASSWORD}).location == "/my/sessions"


@pytest.mark.parametrize("next_page", ["//evil.example", "https://evil.example/", "/\\evil.example", "javascript:alert(1)"])
def test_the_log_in_leads_to_no_other_site(town, next_page):
    town_name = "door" + hashlib.sha256(next_page.encode()).hexdigest()[:8]
    town.person(town_name)
    browser = town.browser()
    form = browser.get("/login?" + urllib.parse.urlencode({"next": next_page})).form("/login")
    assert form["next"] == "/"
    answer = browser.ask("POST", "/login", {**form, "name": town_name, "password": PASSWORD, "next": next_page})
    assert answer.location == "/"


@pytest.mark.parametrize("path", ["/login", "/register", "/logout", "/my/password", "/my/delete", "/my/sessions/others"])
def test_a_form_without_its_token_is_refused(town, path):
    eve = town.browser()
    fields = {"name": "x", "email": "x@example.org", "password": PASSWORD, "old": "x"}
    assert eve.ask("POST", path, fields).code in (401, 403)
    assert eve.ask("POST", path, {**fields, "csrf": "0" * 32}).code in (401, 403)


def test_a_form_sent_from_another_site_is_refused_though_its_token_is_right(town):
    fred = town.person("fred")
    form = fred.get("/my/password").form("/my/password")
    fields = {**form, "old": PASSWORD, "password": "another horse 2"}
    assert fred.ask("POST", "/my/password", fields, **{"Sec-Fetch-Site": "cross-site"}).code == 403
    assert fred.ask("POST", "/my/password", fields, Origin="https://evil.example").code == 403
    assert fred.ask("POST", "/my/password", fields, **{"Sec-Fetch-Site": "same-origin"}).code == 303


def test_a_session_cookie_is_out_of_the_reach_of_scripts(town):
    town.person("gina")
    gina = town.browser()
    form = gina.get("/login").form("/login")
    connection = http.client.HTTPConnection("127.0.0.1", gina.port, timeout=30)
    connection.request("POST", "/login", urllib.parse.urlencode({**form, "name": "gina", "password": PASSWORD}),
                       {"Content-Type": "application/x-www-form-urlencoded", "Cookie": f"visitor={gina.cookies['visitor']}"})
    cookie = connection.getresponse().headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Lax" in cookie and "Path=/" in cookie


# ---- Logging in

def test_wrong_name_and_wrong_password_get_the_same_answer_and_are_throttled(town):
    town.person("hugo")
    browser = town.browser()
    unknown, wrong = browser.log_in("nobody.here", "x" * 12), browser.log_in("hugo", "x" * 12)
    assert unknown.code == wrong.code == 422
    assert re.search(r'id="name-fault">([^<]*)', unknown.text).group(1) == \
        re.search(r'id="name-fault">([^<]*)', wrong.text).group(1)
    answers = [browser.log_in(name, "x" * 12) for name in ["hugo", "HUGO", "Hugo"] * 4]
    assert answers[-1].code == 429 and "try again in" in answers[-1].words
    assert browser.log_in("hugo").code == 429, "also with the right one, for a while"


def test_logging_in_begins_a_new_session_and_logging_out_ends_it(town):
    ida = town.person("ida")
    before = ida.cookies["session"]
    page = ida.get("/")
    assert ida.ask("POST", "/logout", page.form("/logout")).location == "/?done=logged-out"
    assert "session" not in ida.cookies
    ida.cookies["session"] = before
    assert ida.get("/my/profile").location.startswith("/login?gone=1&next=")
    assert "session" not in ida.cookies, "the cookie of a session that is gone is taken back"
    ida.log_in("ida@example.org")
    assert ida.cookies["session"] != before


def test_sessions_are_listed_and_ended_one_by_one_and_all_at_once(town):
    first, second, third = town.person("jana"), town.browser(), town.browser()
    second.log_in("jana")
    third.log_in("jana")
    page = first.get("/my/sessions")
    ends = [action for action in Forms(page.text).forms if action.startswith("/my/sessions/") and not action.endswith("others")]
    assert len(ends) == 2 and "this one" in page.words
    first.ask("POST", ends[0], page.form(ends[0]))
    assert len([browser for browser in (second, third) if browser.get("/my/profile").code == 200]) == 1
    assert first.send("/my/sessions", "/my/sessions/others").location == "/my/sessions?done=sessions-ended"
    assert [browser.get("/my/profile").code for browser in (first, second, third)] == [200, 303, 303]
    stranger = town.person("kurt")
    assert stranger.ask("POST", ends[0], {"csrf": stranger.get("/my/sessions").form("/logout")["csrf"]}).code == 404


# ---- Passwords and addresses

def test_a_forgotten_password_is_set_anew_and_ends_all_sessions(town):
    lara = town.person("lara")
    stranger = town.browser()
    answers = [stranger.send("/forgotten", "/forgotten", name=name) for name in ("lara", "nobody.at.all", "x@example.org")]
    assert {answer.location for answer in answers} == {"/forgotten/sent"}
    link = link_in(town.box.wait_for("lara@example.org", "/reset?"), "/reset")
    short = stranger.send(link, "/reset", password="short")
    assert short.code == 422 and 'id="password-fault"' in short.text
    assert stranger.send(link, "/reset", password="a new horse 3").location == "/login?done=password-set"
    assert lara.get("/my/profile").code == 303
    assert stranger.get(link).code in (404, 422)
    assert stranger.log_in("lara").code == 422
    assert stranger.log_in("lara", "a new horse 3").code == 303


def test_a_password_is_changed_only_with_the_present_one(town):
    mona, elsewhere = town.person("mona"), town.browser()
    elsewhere.log_in("mona")
    wrong = mona.send("/my/password", "/my/password", old="not it at all", password="a new horse 4")
    assert wrong.code == 422 and 'id="old-fault"' in wrong.text
    assert mona.send("/my/password", "/my/password", old=PASSWORD, password="a new horse 4").code == 303
    assert (mona.get("/my/profile").code, elsewhere.get("/my/profile").code) == (200, 303)
    town.box.wait_for("mona@example.org", "assword")


def test_a_new_address_counts_when_its_own_letter_is_answered(town):
    nina = town.person("nina")
    wrong = nina.send("/my/email", "/my/email", email="nina@new.example", password="not it at all")
    assert wrong.code == 422 and 'id="password-fault"' in wrong.text
    assert nina.send("/my/email", "/my/email", email="nina@new.example", password=PASSWORD).location == "/my/profile?done=email-sent"
    link = link_in(town.box.wait_for("nina@new.example"), "/my/email/confirm")
    assert town.person("otto").get(link).code == 403
    assert nina.send(link, "/my/email/confirm").location == "/my/profile?done=email"
    town.box.wait_for("nina@example.org")
    assert town.browser().log_in("nina@new.example").code == 303
    assert town.browser().log_in("nina@example.org").code == 422


def test_the_old_address_takes_the_change_back(town):
    olga, owner = town.person("olga"), town.browser()
    made = olga.send("/my/tokens", "/my/tokens", name="script", scope="write", days=30, password=PASSWORD)
    assert "<code>ost_" in made.text
    assert olga.send("/my/email", "/my/email", email="thief@new.example", password=PASSWORD).code == 303
    link = link_in(town.box.wait_for("thief@new.example"), "/my/email/confirm")
    assert olga.send(link, "/my/email/confirm").location == "/my/profile?done=email"
    again = olga.send("/my/email", "/my/email", email="other@new.example", password=PASSWORD)
    assert again.code == 422 and 'id="email-fault"' in again.text and "7 days" in again.words, "one move at a time"
    letter = town.box.wait_for("olga@example.org", "/email/back?")
    assert "7 days" in letter
    back = link_in(letter, "/email/back")
    assert town.browser().register("rival", "olga@example.org").location == "/register/sent", "nobody takes the address meanwhile"
    assert owner.get(back).code == owner.get(back).code == 200 and olga.get("/my/profile").code == 200, "looking changes nothing"
    assert owner.send(back, "/email/back").location == "/forgotten?done=email-back"
    assert olga.get("/my/profile").code == 303
    assert owner.get(back).code in (404, 422), "a link works once"
    assert town.browser().log_in("thief@new.example").code == 422
    assert owner.log_in("olga@example.org").code == 303
    assert "You have no tokens yet" in owner.get("/my/tokens").words


# ---- Tokens and leaving

def test_a_token_is_shown_once_and_ends(town):
    paul = town.person("paul")
    made = paul.send("/my/tokens", "/my/tokens", name="my <b>script</b>", scope="write", days=30, password=PASSWORD)
    secret = re.search(r"<p><code>([^<]+)</code>", made.text).group(1)
    page = paul.get("/my/tokens")
    assert secret not in page.text and "my &lt;b&gt;script&lt;/b&gt;" in page.text
    end = next(action for action in Forms(page.text).forms if action.startswith("/my/tokens/"))
    assert paul.ask("POST", end, page.form(end)).location == "/my/tokens?done=token-ended"
    assert "You have no tokens yet" in paul.get("/my/tokens").words


def test_nobody_logs_in_before_the_address_is_confirmed(town):
    quin, other = town.browser(), town.browser()
    assert quin.register("quin").location == "/register/sent"
    assert "Until then you cannot log in" in quin.get("/register/sent").words
    right, wrong, nobody = quin.log_in("quin"), quin.log_in("quin", "not it at all"), other.log_in("quinn", "not it at all")
    assert {(answer.code, re.search(r'id="name-fault">([^<]*)', answer.text).group(1)) for answer in (right, wrong, nobody)} == \
        {(422, "The name or the password is not right, or the address is not confirmed yet")}
    assert quin.get("/my/sessions").code == 303
    town.confirm(quin, "quin")
    assert quin.log_in("quin").code == 303


def test_what_registering_answers_tells_nobody_who_is_here(town):
    """A taken address and a free one: the form, the log-in, the name and a forgotten password afterwards, and the time."""
    town.person("tilda")
    seen = {}
    for kind, name, address in (("free", "uta", "uta@example.org"), ("taken", "ute", "tilda@example.org")):
        browser, began = town.browser(), time.monotonic()
        first = browser.register(name, address)
        took = time.monotonic() - began
        later = [browser.log_in(name), browser.log_in(name, "not it at all"), town.browser().register(name, "else@example.org"),
                 town.browser().register(name.upper(), "short@example.org", "short"), browser.send("/forgotten", "/forgotten", name=name)]
        seen[kind] = [first.location, took >= 0.5] + [(answer.code, answer.location, faults(answer) if answer.code == 422 else None)
                                                      for answer in later]
    assert seen["free"] == seen["taken"]
    assert seen["free"][1] and seen["free"][2][0] == 422 and seen["free"][4][2] == ["name"]


def test_leaving_asks_for_the_password_and_frees_the_names(town):
    rosa = town.person("rosa")
    wrong = rosa.send("/my/delete", "/my/delete", password="not it at all")
    assert wrong.code == 422 and 'id="password-fault"' in wrong.text
    assert rosa.send("/my/delete", "/my/delete", password=PASSWORD).location == "/?done=left"
    assert rosa.get("/my/profile").code == 303 and rosa.log_in("rosa").code == 422
    town.box.wait_for("rosa@example.org", "deleted")
    assert town.browser().register("rosa").location == "/register/sent"


# ---- A new site

def test_the_first_admin_comes_by_a_link_that_works_once(tmp_path):
    server = shared.Serve(tmp_path / "data", "--empty")
    try:
        lines = [server.process.stdout.readline() for _ in range(2)]
        link = link_in(lines[1], "/first-admin")
        browser = Browser(server.port)
        short = browser.send(link, "/first-admin", name="boss", email="boss@example.org", password="short")
        assert short.code == 422 and 'id="password-fault"' in short.text
        assert faults(browser.send(link, "/first-admin", name="x", email="y", password="short")) == ["name", "email", "password"]
        done = browser.send(link, "/first-admin", name="boss", email="boss@example.org", password=PASSWORD)
        assert done.location == "/login?done=admin"
        assert browser.log_in("boss").code == 303
        assert browser.get(link).code in (404, 422)
        show = shared.ostraka("user", "show", "boss", "--data", server.data, "--json")
        assert '"admin"' in show.stdout
    finally:
        server.stop()


def test_registrations_from_one_address_are_bounded(tmp_path):
    server = shared.Serve(tmp_path / "data", "--empty", "--trusted-proxies", "127.0.0.1", "--smtp-url", "smtp://127.0.0.1:1", "--mail-from",
                          "site@example.org")
    try:
        def tries(address, count):
            browser = Browser(server.port)
            form = browser.ask("GET", "/register", **{"X-Forwarded-For": address}).form("/register")
            fields = {**form, "name": "x", "email": "x@example.org", "password": PASSWORD}
            return [browser.ask("POST", "/register", fields, **{"X-Forwarded-For": address}) for _ in range(count)]

        answers = tries("203.0.113.7", 11)
        assert [answer.code for answer in answers] == [422] * 10 + [429]
        assert "Too many registrations" in answers[10].words and "Too many" not in answers[9].words
        assert "Too many" not in tries("203.0.113.8", 1)[0].words
    finally:
        server.stop()


def test_without_a_mail_server_nobody_joins_and_no_name_is_held(tmp_path):
    server = shared.Serve(tmp_path / "data", "--empty")
    try:
        browser = Browser(server.port)
        page = browser.get("/register")
        assert "cannot send e-mails at present, so nobody can join" in page.words
        assert 'name="password"' not in page.text and 'name="email"' not in page.text
        token = browser.get("/login").form("/login")["csrf"]
        by_hand = browser.ask("POST", "/register", {"csrf": token, "name": "vera", "email": "vera@example.org", "password": PASSWORD})
        assert by_hand.code == 503 and "cannot send e-mails" in by_hand.words
        assert shared.ostraka("user", "add", "vera", "--email", "vera@example.org", "--data", server.data).returncode == 0, "nothing is held"
    finally:
        server.stop()


def test_one_network_does_not_fill_the_places_of_others(tmp_path):
    """60 wrong log-ins at once from one address, meanwhile right ones from others."""
    import concurrent.futures
    server = shared.Serve(tmp_path / "data", "--empty", "--trusted-proxies", "127.0.0.1")
    try:
        for name in ("alma", "bela"):
            made = subprocess.run([shared.BIN, "user", "add", name, "--email", f"{name}@example.org", "--confirmed", "--password-stdin", "--data",
                                   server.data], input=PASSWORD, env=shared.clean_environment(), capture_output=True, text=True, timeout=60)
            assert made.returncode == 0, made.stderr

        def log_in(address, name, password):
            browser = Browser(server.port)
            form = browser.ask("GET", "/login", **{"X-Forwarded-For": address}).form("/login")
            return browser.ask("POST", "/login", {**form, "name": name, "password": password}, **{"X-Forwarded-For": address}).code

        with concurrent.futures.ThreadPoolExecutor(80) as pool:
            bad = [pool.submit(log_in, "203.0.113.7", f"nobody{i}", "x" * 12) for i in range(60)]
            good = [pool.submit(log_in, f"198.51.{i}.9", ("alma", "bela")[i % 2], PASSWORD) for i in range(8)]
            assert [answer.result() for answer in good] == [303] * 8
            assert {answer.result() for answer in bad} <= {422, 429}
    finally:
        server.stop()


def test_only_a_demo_shows_letters(town):
    assert town.browser().get("/demo/letters").code == 404
