"""Servers that the site asks, and that have turned: a provider of log-ins, a mail server, a node of the cluster. They answer without end, with garbage, with lengths
beyond all memory, a byte at a time, about somebody else, or twice.

Whatever they do, the site stays up and answers others, takes bounded time and memory for it, and says that it did not work."""
import base64
import concurrent.futures
import contextlib
import gzip
import hashlib
import hmac
import json
import os
import pathlib
import re
import socket
import struct
import subprocess
import sys
import threading
import time
import urllib.parse

import pytest
from attacked_site import PLAIN, ROOT, SANITIZED, clean_environment, wait_for
from cryptography.hazmat.primitives import serialization

sys.path.insert(0, str(ROOT / "tests"))
from provider import Key, Provider, b64  # noqa: E402  of tests/site
from scripted_node import EXECUTE, KEEP, RESULT, Node, rows, text, value  # noqa: E402

CELLS = pathlib.Path(os.environ.get("OSTRAKA_BUILD", ROOT / "build/test")) / "tests/cluster/cells"
GROWTH_MB = 96  # of a site under the sanitizers, which keep what was freed for a while


def listen(serve):
    """A server by hand on loopback: `serve` gets each connection in a thread of its own. Its socket."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)

    def one(connection):
        with contextlib.suppress(OSError), connection:
            connection.settimeout(30)
            serve(connection)

    def accept():
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=one, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return listener


def flood(connection, piece, most=256 << 20):
    """Without end, or nearly: a client that is bounded hangs up long before."""
    for _ in range(most // len(piece)):
        connection.sendall(piece)


def drip(connection, text_, pause=0.2, most=60):
    for at in range(most):
        connection.sendall(text_[at % len(text_):][:1])
        time.sleep(pause)


# ---- A provider of log-ins ----

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


def answer(body, *headers):
    lines = b"".join(header.encode() + b"\r\n" for header in headers)
    return HEAD + lines + b"Content-Length: %d\r\nConnection: close\r\n\r\n" % len(body) + body


BY_HTTP = {
    "a body without end": lambda c: (c.sendall(HEAD + b"\r\n"), flood(c, b'{"a":"' + b"x" * 65536)),
    "chunks without end": lambda c: (c.sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\n"), flood(c, b"10000\r\n" + b"x" * 65536 + b"\r\n")),
    "a chunk beyond all memory": lambda c: c.sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n{}"),
    "a head without end": lambda c: (c.sendall(HEAD), flood(c, b"X-Filler: " + b"y" * 8000 + b"\r\n")),
    "a line without end": lambda c: (c.sendall(HEAD + b"X: "), flood(c, b"y" * 65536)),
    "go on without end": lambda c: flood(c, b"HTTP/1.1 100 Continue\r\n\r\n" * 1000, 32 << 20),
    "a byte at a time": lambda c: (c.sendall(HEAD + b"Content-Length: 5000\r\n\r\n"), drip(c, b" ")),
    "silence": lambda c: time.sleep(12),
    "a length beyond all memory": lambda c: c.sendall(HEAD + b"Content-Length: 9223372036854775807\r\n\r\n{}"),
    "a negative length": lambda c: c.sendall(HEAD + b"Content-Length: -1\r\n\r\n{}"),
    "less than it says": lambda c: c.sendall(HEAD + b"Content-Length: 5000\r\nConnection: close\r\n\r\n{}"),
    "garbage": lambda c: c.sendall(bytes(range(256)) * 100),
    "HTTP/0.9": lambda c: c.sendall(b"{}"),
    "nothing": lambda c: None,
    "a page": lambda c: c.sendall(answer(b"<html><h1>No</h1>")),
    "an empty body": lambda c: c.sendall(answer(b"")),
    "half a document": lambda c: c.sendall(answer(b'{"issuer": "http')),
    "lists in lists": lambda c: c.sendall(answer(b"[" * 60000)),
    "not UTF-8": lambda c: c.sendall(answer(b'{"issuer": "\xff\xfe", "keys": "\xc0\x80", "id_token": "\xff"}')),
    "other types": lambda c: c.sendall(answer(b'{"issuer": 1, "keys": {"kty": []}, "jwks_uri": null, "token_endpoint": [], "authorization_endpoint": {}, "id_token": 7}')),
    "the same twice": lambda c: c.sendall(answer(b'{"issuer": "a", "issuer": "b", "keys": [], "keys": [], "id_token": "a.b.c", "id_token": "d.e.f"}')),
    "what is packed": lambda c: c.sendall(answer(gzip.compress(b" " * (64 << 20)), "Content-Encoding: gzip")),
    "the way to a file": lambda c: c.sendall(b"HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n"),
    "the way to another server": lambda c: c.sendall(b"HTTP/1.1 307 T\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"),
    "a fault of its own": lambda c: c.sendall(b"HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\n{}"),
}
PATHS = {"discovery": "/.well-known/openid-configuration", "keys": "/keys", "token": "/token"}


class Turncoat:
    """Before a good provider: what is asked of it, it passes on, but for one path, where it does as a case says."""

    def __init__(self):
        self.good, self.act, self.at = Provider(), None, ""
        self.listener = listen(self.serve)
        self.port = self.good.server.server_port
        self.good.url = self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.good.calm()

    def serve(self, connection):
        head = b""
        while b"\r\n\r\n" not in head:
            piece = connection.recv(65536)
            if not piece:
                return
            head += piece
        if self.act and head.split(b" ", 2)[1].decode() == self.at:
            self.act(connection)
            return
        length = re.search(rb"content-length: *(\d+)", head, re.I)
        while length and len(head.partition(b"\r\n\r\n")[2]) < int(length[1]):
            head += connection.recv(65536)
        with socket.create_connection(("127.0.0.1", self.port), 10) as to:
            to.sendall(head)
            while piece := to.recv(65536):
                connection.sendall(piece)

    def stop(self):
        self.listener.close()
        self.good.stop()


@pytest.fixture(scope="module")
def provider():
    provider = Turncoat()
    yield provider
    provider.stop()


@pytest.fixture(scope="module")
def site(begin, post, provider, tmp_path_factory):
    place = tmp_path_factory.mktemp("oidc")
    (place / "secret").write_text("s3cret +\n")
    (place / "providers").write_text(f"[town-id]\ntitle = Town ID\nissuer = {provider.url}\nclient_id = ostraka\nclient_secret_file = {place}/secret\n")
    return begin("--oidc-file", str(place / "providers"), post=post)


@pytest.fixture(autouse=True)
def calm(request):
    if "provider" in request.fixturenames:
        provider = request.getfixturevalue("provider")
        provider.act = None
        provider.good.calm()


def away(visitor):
    """The address at the provider, or the page that says why not."""
    page = visitor.post("/login", "/login/with/town-id")
    found = re.search(r'href="([^"]+/authorize[^"]*)"', page.text)
    return (found[1].replace("&amp;", "&") if found else None), page


def come(site, provider, subject, **claims):
    visitor = site.visitor(40)
    address, page = away(visitor)
    assert address, page.words
    path, fields = provider.good.authorize(address, subject, **claims)
    return visitor, visitor.ask("GET", f"/{path}?{urllib.parse.urlencode(fields)}"), f"/{path}?{urllib.parse.urlencode(fields)}"


def went_well(page):
    return page.code == 303 and page.headers["location"] in ("/register/with", "/")


def test_whatever_a_provider_answers_the_site_stays_up_and_says_so(site, provider):
    """At each of the three addresses in turn; slow ones run out of time at the same time."""
    _, page, _ = come(site, provider, "before")
    assert went_well(page), page.words
    before, wrong = site.memory_mb(), []
    for where in ("token", "keys"):
        for what, act in BY_HTTP.items():
            provider.act, provider.at = None, PATHS[where]
            visitor = site.visitor(41)
            address, page = away(visitor)
            assert address, (where, what, page.words)
            if where == "keys":  # asked for again when a token names another key
                provider.good.keys, provider.good.signer = [Key("first"), TURNED], TURNED
            path, fields = provider.good.authorize(address, "somebody")
            provider.act = act
            page = visitor.ask("GET", f"/{path}?{urllib.parse.urlencode(fields)}")
            if went_well(page) or page.code not in (400, 401, 403, 422, 502, 503) or page.seconds > 8 or len(page.words) < 20 or "session" in visitor.cookies:
                wrong.append(f"{where}, {what}: {page.code} {page.headers.get('location')} in {page.seconds:.1f} s: {page.words[:200]}")
    provider.act = None
    assert wrong == [], "\n".join(wrong)
    assert site.memory_mb() - before < GROWTH_MB, f"{site.memory_mb() - before:.0f} MB more"
    site.is_well()


TURNED = Key("turned", "EC")


def test_a_provider_that_cannot_be_asked_is_told_before_anybody_is_led_there(begin, provider, tmp_path):
    """Its own description is broken: nothing is known of it yet."""
    (tmp_path / "providers").write_text(f"[town-id]\ntitle = Town ID\nissuer = {provider.url}\nclient_id = ostraka\n")
    site = begin("--oidc-file", str(tmp_path / "providers"))
    provider.at, wrong, before = PATHS["discovery"], [], site.memory_mb()
    for what, act in BY_HTTP.items():
        provider.act = act
        address, page = away(site.visitor(42))
        if address or page.code not in (502, 503) or page.seconds > 8:
            wrong.append(f"{what}: {page.code} in {page.seconds:.1f} s: {page.words[:200]}")
        site.is_well()
    assert wrong == [], "\n".join(wrong)
    provider.act = None
    assert away(site.visitor(42))[0], "it is well again"
    assert site.memory_mb() - before < GROWTH_MB


def test_many_who_wait_for_a_silent_provider_hold_up_nobody_else(site, provider):
    visitors = [site.visitor(60 + number) for number in range(30)]
    addresses = [away(visitor)[0] for visitor in visitors]
    assert all(addresses)
    provider.act, provider.at = BY_HTTP["silence"], PATHS["token"]

    def wait(number):
        path, fields = provider.good.authorize(addresses[number], f"waits{number}")
        return visitors[number].ask("GET", f"/{path}?{urllib.parse.urlencode(fields)}")

    with concurrent.futures.ThreadPoolExecutor(30) as pool:
        waiting = [pool.submit(wait, number) for number in range(30)]
        time.sleep(0.5)
        begun = time.monotonic()
        for _ in range(10):
            assert site.visitor(43).ask("GET", "/").code == 200
        assert time.monotonic() - begun < 2
        pages = [each.result() for each in waiting]
    assert {page.code for page in pages} <= {429, 502, 503}, [page.code for page in pages]
    assert max(page.seconds for page in pages) < 30, "longer than a request may take"


def none(provider):
    provider.header, provider.make = {"alg": "none"}, lambda content: b""


def symmetric(secret):
    def turn(provider):
        provider.header, provider.make = {"alg": "HS256"}, lambda content: hmac.digest(secret(provider), content, hashlib.sha256)
    return turn


def public(form):
    encoding = serialization.Encoding.PEM if form == "pem" else serialization.Encoding.DER
    return lambda provider: Provider.KEY.key.public_key().public_bytes(encoding, serialization.PublicFormat.SubjectPublicKeyInfo)


def claims(**changed):
    def turn(provider):
        provider.claims = {name: given() if callable(given) else given for name, given in changed.items()}
    return turn


TOKENS = {
    "signed by nobody": none,
    "signed by nobody, in capitals": lambda provider: (none(provider), provider.header.update(alg="NONE")),
    "signed with the public key as a secret": symmetric(public("pem")),
    "signed with the public key's bytes as a secret": symmetric(public("der")),
    "signed with the client's secret": symmetric(lambda provider: b"s3cret +"),
    "signed with nothing as a secret": symmetric(lambda provider: b""),
    "signed by another key of that name": lambda provider: setattr(provider, "signer", Key("first")),
    "another kind of key": lambda provider: provider.header.update(alg="ES256"),
    "an empty signature": lambda provider: setattr(provider, "make", lambda content: b""),
    "a signature of zeros": lambda provider: setattr(provider, "make", lambda content: bytes(256)),
    "a signature of a megabyte": lambda provider: setattr(provider, "make", lambda content: b"x" * (1 << 20)),
    "a key that it brings along": lambda provider: (setattr(provider, "signer", TURNED), provider.header.update(jwk=TURNED.public(), jku="http://127.0.0.1:1/keys")),
    "what must be understood": lambda provider: provider.header.update(crit=["exp"]),
    "another issuer": claims(iss="https://other.example"),
    "for another site": claims(aud="another"),
    "for several": claims(aud=["ostraka", "another"]),
    "for nobody": claims(aud=[]),
    "another person's number": claims(nonce="x" * 22),
    "without a number": claims(nonce=None),
    "of yesterday": claims(exp=lambda: int(time.time()) - 86400),
    "that never ends": claims(exp=1e300),
    "from tomorrow": claims(iat=lambda: int(time.time()) + 86400),
    "about nobody": claims(sub=None),
    "about an empty name": claims(sub=""),
    "about a name without end": claims(sub="s" * 100000),
    "about a number": claims(sub=12),
}


def test_a_token_that_lies_lets_nobody_in(site, provider):
    wrong = []
    for what, turn in TOKENS.items():
        provider.good.calm()
        turn(provider.good)
        visitor, page, _ = come(site, provider, "liar")
        if went_well(page) or page.code >= 500 and page.code not in (502, 503) or "session" in visitor.cookies:
            wrong.append(f"{what}: {page.code} {page.headers.get('location')} {page.words[:100]}")
    assert wrong == [], "\n".join(wrong)


def test_the_way_back_is_gone_once_and_by_one_browser(site, provider):
    visitor, page, path = come(site, provider, "once")
    assert went_well(page)
    asked = len(provider.good.asked)
    assert not went_well(visitor.ask("GET", path)), "a second time"
    thief = site.visitor(44)
    assert not went_well(thief.ask("GET", path)) and "session" not in thief.cookies, "by another browser"
    other = site.visitor(45)
    address, _ = away(other)
    back, fields = provider.good.authorize(address, "other")
    assert not went_well(visitor.ask("GET", f"/{back}?{urllib.parse.urlencode(fields)}")), "begun by another browser"
    assert len(provider.good.asked) == asked, "and the provider is not even asked"


def test_a_provider_lets_nobody_take_hold_of_an_unconfirmed_address(site, provider, post):
    """Joining with a victim's address by a log-in of one's own, and coming in by it before and after the victim has confirmed."""
    visitor, page, _ = come(site, provider, "squatter", email="owner@town.example")
    assert page.headers["location"] == "/register/with"
    joined = visitor.post("/register/with", name="squatted", email="owner@town.example")
    assert joined.code == 303, joined.words
    back, page, _ = come(site, provider, "squatter")
    assert "session" not in back.cookies, "in before the address is confirmed"


# ---- A mail server ----

def scripted(*steps):
    """Answers line by line; a step is an answer, or what is done with the connection."""
    def talk(connection):
        stream = connection.makefile("rb")
        for number, step in enumerate(steps):
            if number and not stream.readline(4096):
                return
            step(connection) if callable(step) else connection.sendall(step)
        while stream.readline(65536):
            connection.sendall(b"250 ok\r\n")
    return talk


HELLO, OK = b"220 post\r\n", b"250 ok\r\n"
BY_SMTP = {
    "a greeting without end": scripted(lambda c: flood(c, b"220-" + b"x" * 500 + b"\r\n")),
    "a line without end": scripted(lambda c: flood(c, b"220 " + b"x" * 65536)),
    "a byte at a time": scripted(lambda c: drip(c, b"220-x\r\n")),
    "silence": scripted(lambda c: time.sleep(12)),
    "nothing": scripted(lambda c: c.shutdown(socket.SHUT_RDWR)),
    "garbage": scripted(lambda c: c.sendall(bytes(range(256)) * 64)),
    "NUL": scripted(b"220 \0\0\0\r\n", b"250\0ok\r\n", b"\0\0\0\r\n"),
    "a code that is none": scripted(b"999 post\r\n"),
    "a negative code": scripted(b"-20 post\r\n"),
    "no code": scripted(b"hello there\r\n"),
    "many abilities": scripted(HELLO, lambda c: flood(c, b"250-X" + b"Y" * 200 + b"\r\n")),
    "the end before the end": scripted(HELLO, OK, OK, OK, b"354 go on\r\n", lambda c: c.shutdown(socket.SHUT_RDWR)),
    "an answer to each line of the letter": scripted(HELLO, OK, OK, OK, b"354 go on\r\n", b"451 later\r\n", b"451 later\r\n"),
    "taken before it is sent": scripted(HELLO, OK, OK, OK, b"250 taken already\r\n"),
    "put off": scripted(HELLO, OK, b"451 later\r\n"),
    "a password asked for in the open": scripted(HELLO, b"250-post\r\n250 AUTH PLAIN LOGIN\r\n", b"530 log in\r\n"),
    "TLS that is none": scripted(HELLO, b"250-post\r\n250 STARTTLS\r\n", b"220 go on\r\n250 injected\r\n", b"\x16\x03\x01garbage"),
    "orders of its own": scripted(b"220 post\r\nMAIL FROM:<evil@example.org>\r\nRCPT TO:<evil@example.org>\r\n", OK, b"554 no\r\n"),
}


def test_whatever_a_mail_server_says_the_site_stays_up_and_no_letter_counts_as_sent(begin):
    state = {"act": None, "taken": []}

    def good(connection):
        connection.sendall(HELLO)
        stream, to = connection.makefile("rb"), ""
        for line in stream:
            if line.upper().startswith(b"RCPT"):
                to = re.search(rb"<(.*?)>", line)[1].decode()
            if line.upper().startswith(b"DATA"):
                connection.sendall(b"354 go on\r\n")
                while stream.readline() not in (b".\r\n", b""):
                    pass
                state["taken"].append(to)
            connection.sendall(b"221 bye\r\n" if line.upper().startswith(b"QUIT") else OK)

    listener = listen(lambda connection: (state["act"] or good)(connection))
    site = begin("--smtp-url", f"smtp://127.0.0.1:{listener.getsockname()[1]}", "--mail-from", "site@example.org", "--smtp-seconds", "2", "--mail-retry-seconds", "1")
    before, wrong = site.memory_mb(), []
    for number, (what, act) in enumerate(BY_SMTP.items()):
        state["act"] = act
        begun = time.monotonic()
        done = subprocess.run([PLAIN, "mail", "test", f"reader{number}@example.org", "--data", str(site.data)], env=clean_environment(), capture_output=True, text=True, timeout=60)
        took = time.monotonic() - begun
        if done.returncode != 1 or took > 6 or not done.stderr.startswith("ostraka: ") or "\0" in done.stderr or len(done.stderr) > 1000:
            wrong.append(f"{what}: exit {done.returncode} in {took:.1f} s: {done.stdout[:200]}{done.stderr[:300]}")
        site.is_well()
    assert wrong == [], "\n".join(wrong)
    # Letters that the site sends of itself, while the server is at its worst, come when it is well again.
    readers = []
    for number, what in enumerate(["silence", "a greeting without end", "the end before the end", "put off"]):
        state["act"] = BY_SMTP[what]
        visitor = site.visitor(50 + number)
        assert visitor.register(f"reader-{number}", f"late{number}@example.org").code == 303
        readers.append(f"late{number}@example.org")
        time.sleep(0.7)
    assert state["taken"] == []
    state["act"] = None
    wait_for(lambda: set(readers) <= set(state["taken"]), 40, f"all letters ({state['taken']})")
    assert site.memory_mb() - before < GROWTH_MB, f"{site.memory_mb() - before:.0f} MB more"
    listener.close()


# ---- A node of the cluster ----

def frame(opcode, content, ticket=0, size=None, version=0x84):
    return struct.pack(">BBhBi", version, 0, ticket, opcode, len(content) if size is None else size) + content


MANY = 0x7FFFFFFF
COLUMN = text("val") + struct.pack(">H", 3)
BY_CQL = {
    "frames without end": lambda c, t: flood(c, frame(RESULT, b"x" * 1000, 77)),
    "a frame beyond all memory": lambda c, t: (c.sendall(frame(RESULT, b"", t, MANY)), flood(c, b"x" * 65536)),
    "a negative length": lambda c, t: c.sendall(frame(RESULT, b"", t, -1)),
    "garbage": lambda c, t: c.sendall(bytes(range(256)) * 64),
    "a byte at a time": lambda c, t: drip(c, frame(RESULT, b"\0\0\0\1" + b"x" * 50, t), 0.1),
    "another's ticket": lambda c, t: c.sendall(frame(RESULT, struct.pack(">i", 1), t + 1)),
    "a negative ticket": lambda c, t: c.sendall(frame(RESULT, struct.pack(">i", 1), -1)),
    "the same answer twice": lambda c, t: c.sendall(frame(RESULT, struct.pack(">i", 9), t) * 2),
    "another version": lambda c, t: c.sendall(frame(RESULT, struct.pack(">i", 1), t, version=0x05)),
    "a request in place of an answer": lambda c, t: c.sendall(frame(EXECUTE, b"", t, version=0x04)),
    "an opcode that is none": lambda c, t: c.sendall(frame(0x7F, b"", t)),
    "an empty result": lambda c, t: c.sendall(frame(RESULT, b"", t)),
    "more rows than there are bytes": lambda c, t: c.sendall(frame(RESULT, struct.pack(">iii", 2, 1, 1) + text("s") + text("t") + COLUMN + struct.pack(">i", MANY), t)),
    "fewer than no rows": lambda c, t: c.sendall(frame(RESULT, struct.pack(">iii", 2, 1, 1) + text("s") + text("t") + COLUMN + struct.pack(">i", -5), t)),
    "more columns than there are bytes": lambda c, t: c.sendall(frame(RESULT, struct.pack(">iii", 2, 1, MANY) + text("s") + text("t"), t)),
    "a cell beyond the frame": lambda c, t: c.sendall(frame(RESULT, rows(["val"], [b"x"])[1][:-5] + struct.pack(">i", MANY) + b"x", t)),
    "a cell below nothing": lambda c, t: c.sendall(frame(RESULT, rows(["val"], [b"x"])[1][:-5] + struct.pack(">i", -77), t)),
    "types in types": lambda c, t: c.sendall(frame(RESULT, struct.pack(">iii", 2, 1, 1) + text("s") + text("t") + text("val") + struct.pack(">H", 0x20) * 30000, t)),
    "a fault without words": lambda c, t: c.sendall(frame(0, struct.pack(">i", 0x1100), t)),
    "a fault of unknown kind": lambda c, t: c.sendall(frame(0, struct.pack(">i", 0x7777) + text("%s%n" * 500), t)),
    "nothing": lambda c, t: c.shutdown(socket.SHUT_RDWR),
    "silence": lambda c, t: time.sleep(8),
}


class Turned(Node):
    """Well, but for what `act` does with the connection in place of an answer to those opcodes."""

    def __init__(self, **settings):
        self.act, self.at = None, ()
        super().__init__(**settings)

    def talk(self, connection):
        with connection, connection.makefile("rb") as stream:
            while len(head := stream.read(9)) == 9:
                _, _, ticket, opcode, size = struct.unpack(">BBhBi", head)
                body = stream.read(size)
                if self.act and opcode in self.at:
                    self.act(connection, ticket)
                    continue
                if opcode == EXECUTE and (act := self.take(body)) is not None:
                    if act == KEEP:
                        continue
                    opcode, content = act
                else:
                    opcode, content = self.answer(opcode, body)
                connection.sendall(frame(opcode, content, ticket))


@pytest.fixture
def node():
    names = re.findall(r"^\| `(\w+)`", subprocess.run([PLAIN, "tables"], capture_output=True, text=True, env=clean_environment(), check=True).stdout, re.M)
    node = Turned(address="127.0.0.1", tables=[*names, "interop_plain", "interop_conditional"])
    yield node
    node.close()


def check(store, place):
    """`cluster check` in the build with sanitizers: its exit, what it said, seconds, and the most memory that it had."""
    begun = time.monotonic()
    process = subprocess.Popen([SANITIZED, "cluster", "check", "--store", store, "--data", str(place), "--cassandra-request-seconds", "1"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, env=clean_environment())
    killer = threading.Timer(60, process.kill)
    killer.start()
    out, errors = process.stdout.read(), process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    killer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdout.close()
    process.stderr.close()
    return process.returncode, (out + errors).decode(errors="replace"), time.monotonic() - begun, used.ru_maxrss / 1024


@pytest.mark.parametrize("opcode, where", [(1, "the greeting"), (7, "what it says of itself")])
def test_a_node_that_has_turned_is_told_in_one_sentence(node, tmp_path, opcode, where):
    code, said, _, quiet_mb = check(node.store, tmp_path)
    assert code == 0, said
    node.at, wrong = (opcode,), []

    def one(what):
        # Each case on a node of its own, several at a time: most of them wait.
        own = Turned(address="127.0.0.1", tables=node.tables)
        own.at, own.act = (opcode,), BY_CQL[what]
        try:
            return what, check(own.store, tmp_path / re.sub(r"\W", "-", what))
        finally:
            own.close()

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for what, (code, said, took, held_mb) in pool.map(one, BY_CQL):
            if code != 1 or took > 40 or held_mb - quiet_mb > GROWTH_MB or "Sanitizer" in said or "runtime error" in said or not said.strip().splitlines()[-1].startswith("ostraka: "):
                wrong.append(f"{where}, {what}: exit {code} in {took:.1f} s, {held_mb:.0f} MB (else {quiet_mb:.0f}): {said[:600]}")
    assert wrong == [], "\n".join(wrong)


def test_a_node_that_turns_while_it_is_used_never_makes_a_write_done(node):
    """The engine alone: what it was told of a write is `ok` only where the node has said so to that very call."""
    assert CELLS.exists(), f"{CELLS} is not built"
    with open(os.devnull, "wb") as nowhere:
        cells = subprocess.Popen([CELLS, "obey", node.store, "1500"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE or nowhere, text=True)

    def tell(*words):
        begun = time.monotonic()
        print(*words, file=cells.stdin, flush=True)
        line = cells.stdout.readline().split()
        assert line, cells.stderr.read()[-3000:]
        return line[0], time.monotonic() - begun

    def put():
        return tell("put", "x61", "x63", "x76", time.time_ns() // 1000, 0)

    assert put()[0] == "ok"
    wrong = []
    may_be_done = ("the same answer twice", "a cell below nothing")  # of which the first is one; which is an empty one
    for what, act in BY_CQL.items():
        node.at, node.act = (EXECUTE,), act
        for word, (told, took) in (("put", put()), ("read", tell("read", "interop_plain", "x61", "x63"))):
            if took > 4 or told == "ok" and what not in may_be_done or told not in ("ok", "unknown", "unavailable", "corrupt"):
                wrong.append(f"{what}, {word}: {told} in {took:.1f} s")
        node.act = None
        wait_for(lambda: put()[0] == "ok", 20, f"a node that is well again after: {what}")
    cells.stdin.close()
    assert cells.wait(30) == 0, cells.stderr.read()[-3000:]
    cells.stdout.close()
    cells.stderr.close()
    assert wrong == [], "\n".join(wrong)


def test_the_site_is_well(site):
    site.is_well()
    assert json.loads(base64.b64decode(b64(b"{}") + "==")) == {} and value(None) == struct.pack(">i", -1)
