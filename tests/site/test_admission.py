"""What is decided by the head of a request: nobody sends a body who may not, however large, and forms of other sites are not even read."""
import json
import os
import socket
import time

import pytest

from test_people import SitePeople

LARGE = 16 * 1024 * 1024
FORM, JSON = "Content-Type: application/x-www-form-urlencoded", "Content-Type: application/json"


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    town = SitePeople(tmp_path_factory.mktemp("admission"))
    yield town
    town.server.stop()
    town.office.stop()


class Raw:
    """A connection on which only what is asked for is sent."""

    def __init__(self, town, method, path, *headers, size=LARGE):
        self.socket = socket.create_connection(("127.0.0.1", town.server.port), timeout=20)
        lines = [f"{method} {path} HTTP/1.1", "Host: localhost", f"Content-Length: {size}", *headers]
        self.socket.sendall("\r\n".join(lines).encode() + b"\r\n\r\n")

    def code(self):
        """Of the answer, which must come though no body was sent."""
        began, answer = time.monotonic(), b""
        while b"\r\n" not in answer:
            got = self.socket.recv(4096)
            assert got, "no answer"
            answer += got
        assert time.monotonic() - began < 10
        return int(answer.split()[1])

    def waits(self):
        """Whether more is wanted."""
        self.socket.settimeout(0.5)
        try:
            return self.socket.recv(1) is None
        except TimeoutError:
            return True

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()


def memory(town):
    return int(open(f"/proc/{town.server.process.pid}/statm", encoding="ascii").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize("method,path,headers,code", [
    ("POST", "/api/v1/admin/roll", [JSON], 401),
    ("POST", "/api/v1/admin/roll", [JSON, "Cookie: session=" + "x" * 43, "X-CSRF-Token: x"], 401),
    ("POST", "/api/v1/admin/roll", [JSON, "Authorization: Bearer " + "x" * 50], 401),
    ("POST", "/admin/electorate/roll", [FORM], 401), ("POST", "/admin/electorate/roll", ["Content-Type: multipart/form-data; boundary=x"], 401)])
def test_who_is_not_logged_in_sends_no_roll(town, method, path, headers, code):
    with Raw(town, method, path, *headers) as raw:
        assert raw.code() == code
    before = memory(town)
    for _ in range(8):
        with Raw(town, method, path, *headers) as raw:
            assert raw.code() == code
    assert memory(town) - before < 16 * 1024 * 1024, "of 128 MB that were announced"


def test_who_may_not_and_who_does_not_show_the_token_sends_none_either(town):
    ada = town.person("ada")
    cookie, token = f"Cookie: session={ada.cookies['session']}", ada.get("/my/sessions").form("/logout")["csrf"]
    for headers, code in (([JSON, cookie, f"X-CSRF-Token: {token}"], 403), ([JSON, cookie], 403)):
        with Raw(town, "POST", "/api/v1/admin/roll", *headers) as raw:
            assert raw.code() == code
    body = json.dumps({"words": "x"}).encode()
    for sent, waits in ((f"X-CSRF-Token: {token}", True), ("X-CSRF-Token: " + "0" * len(token), False), ("X-Other: 1", False)):
        with Raw(town, "POST", "/api/v1/reports", JSON, cookie, sent, size=len(body)) as raw:
            if waits:
                assert raw.waits()
                raw.socket.sendall(body)
                assert raw.code() == 400, "it was read, and there is no address to answer to"
            else:
                assert raw.code() == 403


@pytest.mark.parametrize("headers,reads", [
    ([], True), (["Origin: null"], False), (["Origin: https://evil.example"], False), (["Sec-Fetch-Site: cross-site"], False),
    (["Sec-Fetch-Site: same-site"], False), (["Sec-Fetch-Site: same-origin"], True), (["Sec-Fetch-Site: none"], True)])
def test_a_form_of_another_site_is_not_read(town, headers, reads):
    """One of an old browser, which says nothing, is, and shows its token in it."""
    visitor = town.browser()
    token = visitor.get("/login").form("/login")["csrf"]
    body = f"csrf={token}&name=nobody&password=wrong-password".encode()
    cookie = f"Cookie: visitor={visitor.cookies['visitor']}"
    with Raw(town, "POST", "/login", FORM, cookie, *headers, size=len(body)) as raw:
        if not reads:
            assert raw.code() == 403
            return
        assert raw.waits()
        raw.socket.sendall(body)
        assert raw.code() == 422
    with Raw(town, "POST", "/login", FORM, cookie, *headers, size=len(body)) as raw:
        raw.socket.sendall(body.replace(token.encode(), b"0" * len(token)))
        assert raw.code() == 403


def test_without_a_cookie_that_a_token_could_belong_to_a_form_is_not_read(town):
    with Raw(town, "POST", "/login", FORM, size=60000) as raw:
        assert raw.code() == 403


def test_strangers_send_little(town):
    visitor = town.browser()
    visitor.get("/login")
    cookie = f"Cookie: visitor={visitor.cookies['visitor']}"
    for path in ("/login", "/register", "/forgotten", "/trouble"):
        with Raw(town, "POST", path, FORM, cookie, size=64 * 1024 + 1) as raw:
            assert raw.code() == 413, path
        with Raw(town, "POST", path, FORM, cookie, size=64 * 1024) as raw:
            assert raw.waits(), path
