"""Before anybody has said who they are: bodies that nobody asked for, queues that one address fills, pages that are made anew for everybody, and what
the site tells whoever asks."""
import concurrent.futures
import contextlib
import os
import pathlib
import re
import signal
import statistics
import subprocess
import threading
import time

import pytest
import wire
from attacked_site import DEMO, LONG, PLAIN, Site, address, clean_environment, wait_for

BIG = 16 * 1024 * 1024
REFUSALS = (400, 401, 403, 411, 413, 429)


@pytest.fixture(scope="module")
def site(begin, post, declared):
    site = begin("--request-seconds", "4", "--journal-file", declared, post=post)
    site.add("admin", "admin")
    site.add("anna")
    return site


@pytest.fixture(scope="module")
def plain(begin, post):
    site = begin(post=post, program=PLAIN)
    for number in range(24):
        site.add(f"voter{number}")
    return site


# ---- Bodies

JSON, FORM = "Content-Type: application/json", "Content-Type: application/x-www-form-urlencoded"
FILE = "Content-Type: multipart/form-data; boundary=x"
UNKNOWN = {
    "a roll as JSON": ("POST /api/v1/admin/roll", JSON, BIG),
    "a roll as a file": ("POST /admin/electorate/roll", FILE, BIG),
    "invitations as JSON": ("POST /api/v1/admin/invitations/list", JSON, BIG),
    "votes": ("PUT /api/v1/me/votes", JSON, 1000000),
    "a policy": ("POST /api/v1/policies", JSON, 100000),
    "votes by the form": ("POST /my/votes", FORM, 1000000),
    "a text by the form": ("POST /admin/texts", FORM, 300000),
    "entries of a journal": ("POST /api/v1/journals/work/entries", JSON, 1000000),
    "entries of a journal for this machine": ("POST /api/v1/journals/local/entries", JSON + "\r\nOrigin: https://evil.example", 1000000),
    "a claim": ("POST /api/v1/journals/work/claim", JSON, 60000),
    "a claim over several": ("POST /api/v1/journals/claim", JSON + "\r\nOrigin: https://evil.example", 60000),
    "the end of a run": ("POST /api/v1/journals/work/done", JSON, 60000),
}


@pytest.mark.parametrize("line, kind, size", UNKNOWN.values(), ids=UNKNOWN)
def test_who_is_not_logged_in_is_refused_by_the_head_alone(site, line, kind, size):
    """Not a byte of the body is sent, and none is waited for."""
    with site.connect(20) as connection:
        code, answer, _ = wire.ask(connection, wire.request(f"{line} HTTP/1.1", kind, f"Content-Length: {size}"), 2)
        assert code in REFUSALS, "it waits for the body" if not code else answer[:200]


def heads_that_fail(visitor):
    """Heads with a good session that a page of another site could make a browser send."""
    cookie = f"Cookie: session={visitor.cookies['session']}"
    return {
        "JSON without the header against forgery": ("POST /api/v1/admin/roll", JSON, cookie),
        "JSON with a wrong one": ("POST /api/v1/admin/roll", JSON, cookie, f"X-CSRF-Token: {'0' * 32}"),
        "a form of another site": ("POST /admin/electorate/roll", FILE, cookie, "Sec-Fetch-Site: cross-site"),
        "a form of another origin": ("POST /admin/electorate/roll", FILE, cookie, "Origin: https://evil.example"),
    }


@pytest.mark.parametrize("what", range(4))
def test_who_could_be_made_to_send_it_is_refused_by_the_head_alone(site, what):
    line, *headers = list(heads_that_fail(site.known("admin", 21)).values())[what]
    with site.connect(21) as connection:
        code, answer, _ = wire.ask(connection, wire.request(f"{line} HTTP/1.1", *headers, f"Content-Length: {BIG}"), 2)
        assert code in REFUSALS, f"{line} {headers}: it waits for the body"


def test_a_voter_sends_no_body_that_only_an_admin_may(site):
    anna = site.known("anna", 22)
    with site.connect(22) as connection:
        code, *_ = wire.ask(connection, wire.request("POST /api/v1/admin/roll HTTP/1.1", JSON, f"Cookie: session={anna.cookies['session']}",
                                                     f"X-CSRF-Token: {anna.csrf()}", f"Content-Length: {BIG}"), 2)
        assert code in REFUSALS


def test_an_upload_that_stands_still_is_cut_though_its_sender_is_known(site):
    """A list has more time than other requests (4 seconds here), by how much of it comes."""
    admin = site.known("admin", 23)
    with site.connect(23) as connection:
        wire.send(connection, wire.request("POST /api/v1/admin/roll HTTP/1.1", JSON, f"Cookie: session={admin.cookies['session']}", "Sec-Fetch-Site: same-origin",
                                           f"X-CSRF-Token: {admin.csrf()}", f"Content-Length: {BIG}", body=b'{"lines": "'))
        begun, ended = time.monotonic(), False
        while not ended and time.monotonic() - begun < 40:
            data, ended = wire.read_for(connection, 1)
            ended = ended or bool(wire.codes(data))
            wire.send(connection, b"a")  # a byte a second is as good as nothing
        assert ended, "it is kept for more than 40 s"


DEEP = {
    "deep lists": b"[" * 100000,
    "deep objects": b'{"a":' * 100000,
    "many empty objects": b"[" + b"{}," * 300000 + b"{}]",
    "many members": b"{" + b",".join(b'"%d":0' % number for number in range(80000)) + b"}",
    "many numbers": b'{"lines": {' + b",".join(b'"%d":1' % number for number in range(1, 80000)) + b"}}",
    "a long number": b"[" + b"9" * 500000 + b"]",
    "an endless text": b'"' + b"\\u0041" * 100000,
    "broken UTF-8": b'{"name":"\xff\xfe"}',
}


@pytest.mark.parametrize("body", DEEP.values(), ids=DEEP)
def test_whatever_json_holds_it_is_refused_quickly(site, body):
    """With a good session: this is the parser's own bound."""
    anna = site.known("anna", 22)
    begun = time.monotonic()
    answer = anna.ask("POST", "/api/v1/me/votes/cost", body=body, headers={"Content-Type": "application/json", "X-CSRF-Token": anna.csrf(),
                                                                        "Sec-Fetch-Site": "same-origin"})
    assert answer.code in (400, 413, 422), answer.text[:300]
    assert time.monotonic() - begun < 2


# ---- One address and the passwords of all

def hammer(site, stop, at, tally):
    """Log-ins that are wrong, one after the other, with a form that is right."""
    visitor = site.visitor(at=at)
    form = visitor.get("/login").form("/login").fields
    while not stop.is_set():
        with contextlib.suppress(OSError):
            code = visitor.ask("POST", "/login", {**form, "name": f"nobody{len(tally)}", "password": "wrong one here"}).code
            tally.append(code)
            if code == 429:
                time.sleep(0.005)


def under_fire(site, attackers, good, connections=40):
    """What happens to `good` log-ins from other networks while each of the addresses `attackers` tries passwords on some connections: the codes of those
    who did not get in."""
    stop, tally = threading.Event(), []
    threads = [threading.Thread(target=hammer, args=(site, stop, at, tally), daemon=True) for at in attackers for _ in range(connections)]
    for thread in threads:
        thread.start()
    wait_for(lambda: tally.count(429) > 20, 20, "the hammering")

    def come(number):
        visitor = site.visitor(at=address(9, 100 + number))
        return visitor.log_in(f"voter{number}").code, "session" in visitor.cookies

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(come, range(good)))
    stop.set()
    for thread in threads:
        thread.join()
    return [code for code, is_in in answers if not is_in]


def test_one_address_does_not_keep_others_from_logging_in(plain):
    refused = under_fire(plain, [address(30)], 12)
    assert not refused, f"{len(refused)} of 12 good log-ins elsewhere were refused: {refused}"


def test_a_few_networks_do_not_keep_others_from_logging_in(plain):
    """More of them than fill all places, if each may hold its share; a share is for each address."""
    refused = under_fire(plain, [address(30, network) for network in range(8)], 24, connections=8)
    assert not refused, f"{len(refused)} of 24 good log-ins elsewhere were refused: {refused}"


def test_who_may_not_try_again_yet_holds_no_place(site):
    """The address has used up its tries, and asks on: it is told so at once, and never that places are full."""
    visitor = site.visitor(at=address(31))
    form = visitor.get("/login").form("/login").fields

    def tried(number):
        return visitor.ask("POST", "/login", {**form, "name": f"nobody{number}", "password": "wrong one here"})

    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        answers = list(pool.map(tried, range(115)))
    assert any(answer.code == 429 and "from your network address" in answer.words for answer in answers)
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        words = [answer.words for answer in pool.map(tried, range(160)) if answer.code == 429]
    assert len(words) > 150 and all("log-ins from your network address" in each for each in words), "it waits for a place"


@pytest.fixture(scope="module")
def behind_proxy(begin, post):
    site = begin(post=post, program=PLAIN, trusted=True)
    for number in range(24):
        site.add(f"voter{number}")
    return site


@pytest.mark.parametrize("prefix, name", [("2001:db8:7:1::{:x}", "a /64"), ("2001:db8:7:10{:02x}::1", "a /56"), ("2001:db8:7:{:x}00::1", "a /48")])
def test_the_addresses_of_one_owner_of_ipv6_are_one(behind_proxy, prefix, name):
    """They have more than there are stars; the proxy in front tells which of them asks."""
    site, stop, tally = behind_proxy, threading.Event(), []

    def fire(number):
        visitor = site.visitor(at=prefix.format(number + 1))
        form = visitor.get("/login").form("/login").fields
        while not stop.is_set():
            with contextlib.suppress(OSError):
                tally.append(visitor.ask("POST", "/login", {**form, "name": f"nobody{len(tally)}", "password": "wrong one here"}).code)
                if tally[-1] == 429:
                    time.sleep(0.01)

    threads = [threading.Thread(target=fire, args=(number,), daemon=True) for number in range(40)]
    for thread in threads:
        thread.start()
    wait_for(lambda: len(tally) > 20, 20, "the hammering")
    answers = []
    for number in range(6):
        visitor = site.visitor(at=f"203.0.113.{number + 1}")
        visitor.log_in(f"voter{number}")
        answers.append("session" in visitor.cookies)
    stop.set()
    for thread in threads:
        thread.join()
    assert all(answers), f"{answers.count(False)} of 6 good log-ins were refused, because {name} asks"


# ---- Pages for everybody are made once for everybody

@pytest.fixture(scope="module")
def demo(begin, post):
    return begin(program=PLAIN, demo=DEMO, post=post)


def cpu_ms(site, path, headers=None, count=30):
    """Processor time for one request, over many."""
    visitor = site.visitor(at="203.0.113.77")
    visitor.cookies.clear()
    visitor.ask("GET", path, headers=headers)
    before = site.cpu_s()
    for _ in range(count):
        visitor.cookies.clear()
        assert visitor.ask("GET", path, headers=headers).code in (200, 301, 303, 308)
    return (site.cpu_s() - before) / count * 1000


BYPASSES = {
    "a session that is none": ("", {"Cookie": "session=x"}),
    "a session of the right form": ("", {"Cookie": "session=" + "A" * 43}),
    "two sessions": ("", {"Cookie": "session=x; session=y"}),
    "a visitor's cookie": ("", {"Cookie": "visitor=" + "0" * 32 + "; device=x"}),
    "a word of what was done": ("&done=x", {}),
    "a right word of what was done": ("&done=logout", {}),
    "an empty word": ("&done=", {}),
    "fields that no page knows": ("&a=1&b=2", {}),
    "a token in place of a session": ("", {"Authorization": "Bearer x"}),
    "what no browser has": ("", {"Accept-Language": "xx", "User-Agent": "y", "Cache-Control": "no-cache", "Pragma": "no-cache"}),
}


@pytest.mark.parametrize("more, headers", BYPASSES.values(), ids=BYPASSES)
def test_nothing_but_a_real_session_makes_a_page_anew(demo, more, headers):
    path = "/policies/3/history?count=60"
    kept, made = cpu_ms(demo, path), cpu_ms(demo, path + more, headers)
    assert made < 3 * kept + 0.3, f"{made:.2f} ms in place of {kept:.2f} ms"


def test_pages_that_cost_much_hold_up_no_others(demo):
    """History pages with ever other fields, from one address; the front page for another meanwhile."""
    stop = threading.Event()

    def fire(start):
        visitor = demo.visitor(at="203.0.113.66")
        number = start
        while not stop.is_set():
            number += 4
            with contextlib.suppress(OSError):
                visitor.ask("GET", f"/policies/{1 + number % 320}/history?count={2 + number % 360}&by=day&window={number % 31}")

    def front():
        visitor = demo.visitor(at="203.0.113.67")
        return statistics.quantiles([visitor.ask("GET", "/").seconds for _ in range(120)], n=50)[-1]

    quiet = front()
    threads = [threading.Thread(target=fire, args=(start,), daemon=True) for start in range(4)]
    for thread in threads:
        thread.start()
    time.sleep(0.3)
    busy = front()
    stop.set()
    for thread in threads:
        thread.join()
    assert busy < 0.1 + 2 * quiet, f"the slowest fiftieth took {busy * 1000:.0f} ms in place of {quiet * 1000:.0f} ms"


# ---- Settings that would turn the limits off

def test_a_proxy_on_this_machine_that_is_not_named_is_refused(tmp_path):
    def serve(*flags):
        return subprocess.run(["timeout", "4", PLAIN, "serve", "--data", str(tmp_path / "data"), "--listen", "127.0.0.1:0", "--empty", *flags],
                              env=clean_environment(), capture_output=True, text=True, timeout=30)

    refused = serve("--public-url", "https://vote.example.org")
    assert refused.returncode in (1, 2) and "trusted_proxies" in refused.stderr, (refused.returncode, refused.stdout, refused.stderr[-500:])
    assert serve("--public-url", "https://vote.example.org", "--trusted-proxies", "127.0.0.1").returncode == 124, "a named one is taken"


# ---- What is told, and kept

def test_pages_with_a_token_are_kept_by_nobody(site, post):
    anna = site.known("anna", 24)
    stranger = site.visitor(25)
    stranger.register("tokener", "tokener@example.org")
    link = post.link("tokener@example.org", "/confirm")
    pages = [(stranger, "/login"), (stranger, "/register"), (stranger, "/forgotten"), (stranger, "/trouble"), (stranger, link),
             (stranger, "/reset?token=abc"), (stranger, "/invitation?token=abc"), (stranger, "/unsubscribe?token=abc"),
             (anna, "/my/sessions"), (anna, "/my/tokens"), (anna, "/my/votes"), (anna, "/my/second-factor"), (anna, "/my/email/confirm?token=abc"),
             (anna, "/"), (anna, "/api/v1/me"), (anna, "/api/v1/session"), (stranger, "/api/v1/session")]
    kept = [path for visitor, path in pages if "no-store" not in visitor.ask("GET", path).headers.get("cache-control", "")]
    assert kept == []


HOSTS = ["paypal.com", "evil.example.org", "bank-login.co.uk", "xn--80ak6aa92e.com", "www.secure"]


@pytest.mark.parametrize("name", HOSTS)
def test_no_name_makes_a_letter_lead_elsewhere(site, post, name):
    """Mail programs make a link of whatever looks like one."""
    visitor, at = site.visitor(26), f"named{HOSTS.index(name)}@target.example"
    answer = visitor.register(name, at)
    if answer.code != 303:
        return
    assert name not in post.letter(at), "the letter names the host"


def test_figures_are_not_for_everybody(site):
    answer = site.visitor(27).ask("GET", "/metrics")
    assert answer.code in (401, 403, 404), answer.text[:200]


def test_answers_do_not_tell_what_runs_here(site):
    headers = site.visitor(27).ask("GET", "/").headers
    assert "server" not in headers and "x-powered-by" not in headers


# ---- The program and its files

ENDBR64 = b"\xf3\x0f\x1e\xfa"


def test_the_program_is_hardened():
    def tell(*words):
        return subprocess.run(["readelf", *words, PLAIN], capture_output=True, text=True, check=True).stdout

    dynamic, head, symbols = tell("-dW"), tell("-lhW"), tell("--dyn-syms", "-W")
    assert "BIND_NOW" in dynamic or "NOW" in dynamic, "functions are bound late"
    assert "GNU_RELRO" in head and re.search(r"Type: +DYN", head) and not re.search(r"GNU_STACK.*RWE", head)
    assert re.search(r"__(memcpy|snprintf|vsnprintf|memmove|read|recv)_chk", symbols), "nothing is checked by _FORTIFY_SOURCE"
    assert "__stack_chk_fail" in symbols
    if os.uname().machine == "x86_64":
        # The program's note of it is only there where the system's own start-up files have one, too; the marks are what counts.
        assert pathlib.Path(PLAIN).read_bytes().count(ENDBR64) > 1000, "no place to jump to is marked (CET)"


def test_nobody_else_on_the_machine_reads_the_data(tmp_path):
    old = os.umask(0o022)
    try:
        site = Site(tmp_path / "open", program=PLAIN)
        site.add("somebody")
        site.stop()
    finally:
        os.umask(old)
    readable = [str(path.relative_to(site.data)) for path in [site.data, *site.data.rglob("*")] if path.lstat().st_mode & 0o077 and not path.is_symlink()]
    assert readable == []


# ---- A connection that is cut

def test_what_a_cut_connection_still_sends_is_not_run(begin, post):
    """Requests come in on 240 idle connections while the program is held up, behind some that cost much, and their time is over when it goes on: the timer
    and the threads that answer meet. Who gets no answer must not have been served."""
    site = begin("--idle-seconds", "1", program=PLAIN, demo=DEMO, post=post)
    lost = []
    for turn in range(8 if LONG else 3):
        paths = [f"/policies/{1 + 8 * turn + number}/history" for number in range(8)] + [f"/cut-{turn}-{number}" for number in range(240)]
        connections = {path: site.connect(28) for path in paths}
        time.sleep(0.6)
        os.kill(site.process.pid, signal.SIGSTOP)
        for path, connection in connections.items():
            wire.send(connection, wire.request(f"GET {path} HTTP/1.1", host=f"Host: {site.host}"))
        time.sleep(0.7)
        os.kill(site.process.pid, signal.SIGCONT)
        unanswered = set()
        for path, connection in connections.items():
            data, ended = wire.read_for(connection, 20, wire.has_answer)
            if ended and not wire.codes(data):
                unanswered.add(path)
            connection.close()
        site.is_well()
        lost += [line["path"] for line in site.requests() if line["path"] in unanswered and line["status"]]
    assert lost == [], f"{len(lost)} requests were run though their connection had been cut"


def test_the_sites_are_well(site, plain, demo):
    for each in (site, plain, demo):
        each.is_well()
