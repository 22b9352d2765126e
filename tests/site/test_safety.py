"""What strangers try: pages that are kept for everybody, questions that hold all threads, letters, links and tries of others."""
import concurrent.futures
import os
import re
import subprocess
import time

import pytest

from test_people import PASSWORD, Browser, SitePeople, link_in, shared

BIN = os.environ.get("OSTRAKA_BIN", "build/test/src/cli/ostraka")


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    town = SitePeople(tmp_path_factory.mktemp("safety"))
    yield town
    town.server.stop()
    town.office.stop()


def figure(browser, name):
    return int(re.search(rf"^{name} (\d+)$", browser.get("/metrics").text, re.MULTILINE)[1])


# ---- Pages that are kept

PAGES = ["/", "/ranking", "/policies", "/categories", "/parties", "/about", "/help", "/feed.atom", "/sitemap.xml"]


@pytest.mark.parametrize("path", PAGES)
def test_a_visitor_gets_a_kept_page_and_somebody_gets_their_own(town, path):
    visitor = town.browser()
    visitor.get("/login")  # has a cookie for forms now
    assert "visitor" in visitor.cookies
    first = visitor.get(path)
    assert first.code == 200 and first.headers["etag"] and first.headers["cache-control"] == "no-cache"
    assert "set-cookie" not in first.headers and 'name="csrf"' not in first.text
    assert town.browser().get(path).headers["etag"] == first.headers["etag"]
    anna = town.browser()
    anna.log_in("anna") if anna.register("anna").code == 422 else town.confirm(anna, "anna") and anna.log_in("anna")
    own = anna.get(path)
    assert "etag" not in own.headers
    assert "anna" not in town.browser().get(path).text


def test_kept_pages_are_used(town):
    visitor = town.browser()
    before = figure(visitor, "ostraka_page_cache_hits_total")
    for _ in range(5):
        visitor.get("/about")
    assert figure(visitor, "ostraka_page_cache_hits_total") >= before + 4


def test_what_was_done_is_said_where_the_address_says_so_and_nowhere_else(town):
    visitor = town.browser()
    for _ in range(2):
        assert "You are logged out." in visitor.get("/?done=logged-out").words
        assert "You are logged out." not in visitor.get("/").words
    assert "saved" not in visitor.get("/?done=saved&number=5").words, "who is not logged in has saved nothing"


@pytest.mark.parametrize("path", ["/", "/policies", "/ranking", "/about"])
def test_only_a_session_gets_past_a_kept_page(town, path):
    """Nonsense in a cookie or in the address costs no rendering; nor does what is known and was said to somebody before."""
    visitor = town.browser()
    kept, told = visitor.get(path), visitor.get(path + "?done=logged-out")
    before = figure(visitor, "ostraka_page_cache_renders_total")
    stranger, other = Browser(town.server.port), Browser(town.server.port)
    for query in ("", "?done=x", "?done=", "?done=saved&number=7", "?number=1", "?utm=5&done=%20", "?done=a&done=b"):
        for asked in (stranger, other, visitor):
            stranger.cookies["session"], other.cookies["session"] = "x" * 43, "x"
            assert asked.get(path + query).headers["etag"] == kept.headers["etag"], query
    assert stranger.get(path + "?done=logged-out&number=9").headers["etag"] == told.headers["etag"] != kept.headers["etag"]
    assert figure(visitor, "ostraka_page_cache_renders_total") <= before + 2, "but what became too old meanwhile"


@pytest.mark.parametrize("path", ["/login", "/register", "/forgotten", "/reset?token=" + "x" * 43, "/confirm?token=" + "x" * 43,
                                  "/join?invitation=" + "x" * 43, "/trouble", "/policies/1/report", "/first-admin?token=" + "x" * 43,
                                  "/unsubscribe?token=" + "x" * 43])
def test_what_has_a_token_on_it_or_in_its_address_is_kept_by_nobody(town, path):
    assert town.browser().get(path).headers["cache-control"] == "no-store"


@pytest.mark.parametrize("path", ["/login", "/register", "/forgotten"])
def test_pages_with_a_form_are_never_kept(town, path):
    first, second = town.browser(), town.browser()
    tokens = {re.search(r'name="csrf" value="([^"]+)"', browser.get(path).text)[1] for browser in (first, second)}
    assert len(tokens) == 2
    again = first.get(path)
    assert "etag" not in again.headers


# ---- Questions that take long

def test_questions_about_the_past_hold_up_nobody_else(serve, tmp_path):
    data = tmp_path / "data"
    shared.fill_demo(data, voters=300, policies=60, days=30)
    server = serve(data=data)
    codes, waits, end = [], [], time.monotonic() + 20

    def ask(number):
        while len(waits) < 15 and time.monotonic() < end:
            path = f"/policies/{number}/history.csv?by=hour&count={300 - len(codes) % 250}"  # another page each time
            codes.append(Browser(server.port).get(path).code)

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        running = [pool.submit(ask, number) for number in range(1, 5)]
        while len(waits) < 15 and time.monotonic() < end:
            if not codes:
                time.sleep(0.01)
                continue
            began = time.monotonic()
            assert Browser(server.port).get("/help").code == 200
            waits.append(time.monotonic() - began)
        for each in running:
            each.result()
    assert set(codes) == {200}, "they wait for each other"
    assert sorted(waits)[len(waits) // 2] < 0.5


# ---- Letters and links of others

def wait_until(happens, seconds=20):
    end = time.monotonic() + seconds
    while not happens():
        assert time.monotonic() < end, "did not happen in time"
        time.sleep(0.05)


def test_asking_again_and_again_does_not_end_the_link_that_was_sent(town):
    town.person("vera")
    stranger = town.browser()
    for _ in range(7):
        assert stranger.send("/forgotten", "/forgotten", name="VERA@example.org").location == "/forgotten/sent"

    def sent_to_vera():
        return [text for to, _, text in town.box.letters if to == "vera@example.org" and "/reset?" in text]

    wait_until(lambda: len(sent_to_vera()) >= 3)
    time.sleep(1)  # for those that may not come
    sent = sent_to_vera()
    assert len(sent) <= 5
    codes = [stranger.get(link_in(text, "/reset")).code for text in sent]
    assert codes[-1] == 200 or 200 in codes, "the newest link that was sent still works"


def test_a_mailbox_gets_few_letters_however_they_are_asked_for(town):
    town.person("willi")
    stranger = town.browser()
    for number in range(8):
        assert stranger.register(f"other{number}", "willi@example.org").location == "/register/sent"
    pending = town.browser()
    pending.register("xaver")
    for _ in range(8):
        assert pending.send("/register/sent", "/register/again", email="xaver@example.org").location == "/register/sent"

    def count_to(name):
        return len([to for to, _, _ in town.box.letters if to == f"{name}@example.org"])

    wait_until(lambda: count_to("willi") >= 1 and count_to("xaver") >= 1)
    time.sleep(1)  # for those that may not come
    assert count_to("willi") <= 6 and count_to("xaver") <= 6


def test_tries_with_a_session_count_like_tries_to_log_in(town):
    yana = town.browser()
    yana.register("Yana", "yana@example.org")
    town.confirm(yana, "yana")
    yana.log_in("Yana")
    for number in range(10):
        path = "/my/password" if number % 2 else "/my/delete"
        yana.send(path, path, old="not it at all", password="not it at all")
    assert town.browser().log_in("yana", "not it at all").code == 429


class Guest(Browser):
    """Comes by a proxy that is believed, each from an address of its own."""

    def __init__(self, port, address):
        super().__init__(port)
        self.address = address

    def ask(self, method, path, fields=None, **headers):
        return super().ask(method, path, fields, **{**headers, "X-Forwarded-For": self.address})


@pytest.fixture(scope="module")
def proxied(tmp_path_factory):
    """A town behind a proxy."""
    town = SitePeople(tmp_path_factory.mktemp("proxied"), "--trusted-proxies", "127.0.0.1")
    town.guest = lambda address: Guest(town.server.port, address)
    yield town
    town.server.stop()
    town.office.stop()


def wrong(guest, name):
    return guest.log_in(name, "not it at all").code


def test_a_stranger_locks_nobody_out(proxied):
    proxied.person("zora")
    stranger = proxied.guest("203.0.113.7")
    assert [wrong(stranger, "zora") for _ in range(11)] == [422] * 10 + [429]
    assert stranger.log_in("zora").code == 429, "from there not even with the right one"
    assert proxied.guest("198.51.100.9").log_in("zora").code == 303, "but from elsewhere"
    assert wrong(stranger, "zora") == 429, "what the owner does gives a stranger nothing back"


def test_many_strangers_slow_down_strangers_and_not_the_owner(proxied):
    proxied.person("yves")
    home = proxied.guest("198.51.100.20")
    assert home.log_in("yves").code == 303
    home.cookies.pop("session")
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        codes = list(pool.map(lambda number: wrong(proxied.guest(f"203.0.113.{number}"), "yves"), range(1, 43)))
    assert codes.count(422) in (40, 41) and set(codes[42:] + [429]) == {429}
    stranger = proxied.guest("192.0.2.99")
    assert wrong(stranger, "yves") == 429 and wrong(stranger, "YVES") == 429
    assert wrong(stranger, "nobody-there") == 422, "others are not slowed"
    home.address = "192.0.2.100"
    assert home.log_in("yves").code == 303, "the device is known, wherever it is"
    home.cookies.pop("session")
    assert home.log_in("yves@example.org").code == 303, "by either name"
    home.cookies.pop("session")
    assert [wrong(home, "yves") for _ in range(11)] == [422] * 10 + [429], "and cannot guess for ever"
    lender = proxied.guest("192.0.2.101")
    lender.cookies["device"] = home.cookies["device"]
    assert wrong(lender, "zora") in (422, 429) and wrong(lender, "yves") == 429
    forged = proxied.guest("192.0.2.102")
    for value in ("0" * 96, home.cookies["device"][:32] + "0" * 64, "x" * 96, home.cookies["device"][:95]):
        forged.cookies["device"] = value
        assert wrong(forged, "yves") == 429
    lost = proxied.guest("192.0.2.103")
    assert lost.send("/forgotten", "/forgotten", name="yves").location == "/forgotten/sent"
    link = link_in(proxied.box.wait_for("yves@example.org", "/reset?"), "/reset")
    assert lost.send(link, "/reset", password="a new horse 9").code == 303
    assert lost.log_in("yves", "a new horse 9").code == 303, "who has the letter comes in from anywhere"


def test_the_link_for_the_first_admin_ends_when_there_is_one(tmp_path):
    server = shared.Serve(tmp_path / "data", "--empty")
    try:
        link = link_in([server.process.stdout.readline() for _ in range(2)][1], "/first-admin")
        added = shared.ostraka("user", "add", "boss", "--email", "boss@example.org", "--role", "admin", "--confirmed", "--data", server.data)
        assert added.returncode == 0, added.stderr
        browser = Browser(server.port)
        answer = browser.get(link)
        if answer.code == 200:
            answer = browser.send(link, "/first-admin", name="other", email="other@example.org", password=PASSWORD)
        assert answer.code == 422 and browser.log_in("other").code == 422
    finally:
        server.stop()


# ---- A demo stays at home

def test_a_demo_shows_its_letters_to_no_proxy(serve, tmp_path):
    data = tmp_path / "data"
    shared.fill_demo(data, voters=5, policies=2, days=2)
    server = serve(data=data)
    assert Browser(server.port).get("/demo/letters").code == 200
    assert Browser(server.port).ask("GET", "/demo/letters", **{"X-Forwarded-For": "203.0.113.7"}).code == 404
    for host in (f"localhost:{server.port}", "127.0.0.1", f"[::1]:{server.port}"):
        assert Browser(server.port).ask("GET", "/demo/letters", Host=host).code == 200, host
    for host in ("evil.example", f"127.evil.example:{server.port}", "localhost.evil.example", f"evil.example:{server.port}"):
        for path in ("/demo/letters", "/", "/api/v1/rankings", "/login"):
            answer = Browser(server.port).ask("GET", path, Host=host)
            assert answer.code == 421 and "set-cookie" not in answer.headers, (host, path)


def test_a_demo_has_no_public_address(tmp_path):
    data = tmp_path / "data"
    for name in ("vote.example.org", "127.evil.example"):
        home = shared.Serve(tmp_path / name, "--public-url", f"https://{name}", "--trusted-proxies", "127.0.0.1", env={"OSTRAKA_EMPTY": "off"})
        try:
            assert "first-admin?token=" in [home.process.stdout.readline() for _ in range(2)][1], "no demo behind a proxy"
        finally:
            home.stop()
    shared.fill_demo(data, voters=5, policies=2, days=2)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OSTRAKA_")}
    run = subprocess.run([BIN, "serve", "--data", str(data), "--listen", "127.0.0.1:0", "--public-url", "https://vote.example.org",
                          "--trusted-proxies", "127.0.0.1"],
                         env=environment, capture_output=True, text=True, timeout=60)
    assert run.returncode != 0 and "public_url" in run.stderr + run.stdout
