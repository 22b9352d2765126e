"""The second factor: setting it up by the picture, logging in with it, codes on paper, roles that need it, programs."""
import base64
import hashlib
import hmac
import json
import re
import struct
import subprocess
import time
import urllib.parse

import pytest

from program import Api, Client
from test_people import PASSWORD, SitePeople, shared


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    town = SitePeople(tmp_path_factory.mktemp("second"), "--second-factor-roles", "admin, edit_users")
    yield town
    town.server.stop()
    town.office.stop()


class Device:
    """An authenticator app."""

    def __init__(self, secret):
        self.secret, self.last = base64.b32decode(secret), 0

    def at(self, step):
        mac = hmac.digest(self.secret, struct.pack(">Q", step), hashlib.sha1)
        start = mac[-1] & 15
        return f"{(int.from_bytes(mac[start:start + 4], 'big') & 0x7fffffff) % 10**6:06}"

    def code(self):
        """One that was not used: of this step, or of the next, which counts already."""
        now = int(time.time()) // 30
        while now + 1 <= self.last:
            time.sleep(0.5)
            now = int(time.time()) // 30
        self.last = max(now, self.last + 1)
        return self.at(self.last)

    def wrong(self):
        now = int(time.time()) // 30
        right = {self.at(step) for step in range(now - 2, now + 4)}
        return next(code for code in (f"{number:06}" for number in range(100)) if code not in right)


def picture_of(page, path):
    """The picture on the page, as a reader gets it."""
    side = int(re.search(r'class="qr" viewBox="0 0 (\d+) ', page).group(1))
    dark = [[0] * side for _ in range(side)]
    for x, y, run in re.findall(r"M(\d+) (\d+)h(\d+)v1h-\d+z", page):
        for i in range(int(run)):
            dark[int(y)][int(x) + i] = 1
    rows = ["".join(str(bit) * 4 for bit in row) for row in dark for _ in range(4)]
    path.write_text(f"P1\n{side * 4} {side * 4}\n" + "\n".join(rows) + "\n")
    return subprocess.run(["zbarimg", "--quiet", "--raw", "--oneshot", str(path)], capture_output=True, timeout=60,
                          check=True).stdout.decode().strip()


def set_up(browser):
    """A device, and the codes on paper."""
    assert browser.send("/my/second-factor", "/my/second-factor/begin", password=PASSWORD).location == "/my/second-factor"
    page = browser.get("/my/second-factor")
    device = Device(re.search(r'class="secret">([A-Z2-7]{32})<', page.text).group(1))
    done = browser.send("/my/second-factor", "/my/second-factor/confirm", code=device.code(), password=PASSWORD)
    assert done.code == 200, done.text
    codes = re.findall(r"<li><code>([a-z0-9]{5}-[a-z0-9]{5})</code>", done.text)
    assert len(codes) == 10
    return device, codes


def log_in(browser, name, code, **fields):
    first = browser.log_in(name, **fields)
    assert first.code == 303 and first.location.startswith("/login/code?next="), first.text
    assert "session" not in browser.cookies
    return browser.send(first.location, "/login/code", code=code)


def test_the_picture_holds_the_secret_and_the_name(town, tmp_path):
    anna = town.person("anna")
    assert anna.get("/my/profile").text.count("/my/second-factor") == 1
    anna.send("/my/second-factor", "/my/second-factor/begin", password=PASSWORD)
    page = anna.get("/my/second-factor").text
    link = urllib.parse.urlsplit(picture_of(page, tmp_path / "code.pbm"))
    fields = urllib.parse.parse_qs(link.query)
    assert (link.scheme, link.netloc, link.path) == ("otpauth", "totp", "/Ostraka:anna")
    assert fields["issuer"] == ["Ostraka"] and fields["secret"][0] in page
    assert anna.get("/my/second-factor").text.count(fields["secret"][0]) >= 2, "it is the same when the page is loaded again"
    refused = anna.send("/my/second-factor", "/my/second-factor/confirm", code=Device(fields["secret"][0]).wrong(), password=PASSWORD)
    assert refused.code == 422 and 'id="code-fault"' in refused.text and 'href="#code"' in refused.text
    assert anna.get("/").code == 200


def test_logging_in_takes_both(town):
    bert = town.person("bert")
    other = town.browser()
    assert other.log_in("bert").location == "/"
    device, codes = set_up(bert)
    assert "second factor" in town.box.wait_for("bert@example.org", "device")
    assert other.get("/my/votes").code == 303, "other sessions are over"
    assert bert.get("/my/votes").code == 200
    code = device.code()
    fresh = town.browser()
    assert log_in(fresh, "bert", code).location == "/"
    assert fresh.get("/my/votes").code == 200
    replay = town.browser()
    again = log_in(replay, "bert", code)
    assert again.code == 422 and "used already" in again.text and "session" not in replay.cookies
    paper = town.browser()
    assert log_in(paper, "bert", codes[0]).code == 303
    assert log_in(town.browser(), "bert", codes[0]).code == 422
    assert "<strong>9</strong> of 10 left" in paper.get("/my/second-factor").text
    assert "wrong" in paper.get("/my/sessions").text


def test_half_a_session_opens_nothing_and_ends_with_the_password(town):
    cora = town.person("cora")
    device, codes = set_up(cora)
    half = town.browser()
    where = half.log_in("cora").location
    assert half.get("/my/votes").location.startswith("/login?")
    assert half.get(where).code == 200
    stranger = town.browser()
    assert stranger.get("/login/code").location == "/login"
    stranger.cookies["half"] = half.cookies["half"][:-2] + ("AA" if half.cookies["half"][-2:] != "AA" else "BB")
    assert stranger.get("/login/code").location == "/login"
    form = half.get(where).form("/login/code")
    assert half.ask("POST", "/login/code", {**form, "csrf": "0" * 32, "code": codes[0]}).code == 403
    assert cora.send("/my/password", "/my/password", old=PASSWORD, password="another horse 2").code == 303
    assert half.get(where).location == "/login", "a new password ends it"
    assert half.ask("POST", "/login/code", {**form, "code": codes[0]}).location == "/login"
    assert log_in(town.browser(), "cora", codes[0], password="another horse 2").code == 303, "and the code was not used up"


def test_codes_are_not_guessed_without_bound(town):
    dora = town.person("dora")
    device, codes = set_up(dora)
    thief = town.browser()
    where = thief.log_in("dora").location
    answers = [thief.send(where, "/login/code", code=device.wrong()).code for _ in range(7)]
    assert answers == [422] * 5 + [429] * 2
    assert thief.send(where, "/login/code", code=codes[0]).code == 429
    assert town.browser().log_in("dora").location.startswith("/login/code"), "the password still counts"
    # Where the owner has logged in before, strangers' tries are not theirs.
    del dora.cookies["session"]
    assert log_in(dora, "dora", codes[1]).code == 303


def test_new_codes_and_turning_it_off(town):
    emil = town.person("emil")
    device, codes = set_up(emil)
    renewed = emil.send("/my/second-factor", "/my/second-factor/codes", code=codes[0])
    fresh = re.findall(r"<code>([a-z0-9]{5}-[a-z0-9]{5})</code>", renewed.text)
    assert len(fresh) == 10 and not set(fresh) & set(codes)
    assert emil.send("/my/second-factor", "/my/second-factor/codes", code=codes[1]).code == 422
    off = "/my/second-factor/off"
    assert 'id="password-fault"' in emil.send(off, off, password="not it at all", code=fresh[0]).text
    assert 'id="code-fault"' in emil.send(off, off, password=PASSWORD, code=codes[2]).text
    assert emil.send(off, off, password=PASSWORD, code=fresh[0]).location == "/my/second-factor?done=second-off"
    assert town.browser().log_in("emil").location == "/"
    town.box.wait_for("emil@example.org", "no longer asks for a code")


# ---- Roles

def cli(town, *words):
    return shared.ostraka(*words, "--data", town.server.data)


def version_of(town, name):
    return str(json.loads(cli(town, "user", "show", name, "--json").stdout)["version"])


def test_a_role_that_needs_it_counts_only_with_it(town):
    path = "/admin/mail"
    finn = town.person("finn")
    assert cli(town, "user", "rights", "finn", "--role", "admin", "--seen", version_of(town, "finn")).returncode == 0
    refused = finn.get(path)
    assert refused.code == 403 and 'href="/my/second-factor"' in refused.text
    assert "asks for a second factor" in finn.get("/my/second-factor").text
    device, codes = set_up(finn)
    assert finn.get(path).code == 200
    assert cli(town, "user", "second-off", "finn").returncode == 0
    assert finn.get("/my/votes").code == 303
    assert finn.log_in("finn").location == "/"
    assert finn.get(path).code == 403


def test_a_role_that_is_none_is_refused_at_the_start(tmp_path):
    answer = shared.ostraka("serve", "--data", str(tmp_path / "data"), "--listen", "127.0.0.1:0", "--second-factor-roles", "admin,boss")
    assert answer.returncode == 1 and "second_factor_roles" in answer.stderr and "boss" in answer.stderr


# ---- Programs

def program(town, name, **more):
    client = Client(Api(town.server.port))
    client.csrf = client.get("session").json["csrf"]
    return client, client.ask("POST", "session", {"name": name, "password": PASSWORD, **more})


def test_programs_set_it_up_and_log_in_with_it(town):
    town.person("gina")
    gina, answer = program(town, "gina")
    assert answer.code == 200
    gina.csrf = gina.get("session").json["csrf"]
    assert gina.get("me/second-factor").json == {"on": False, "offered": False, "since": None, "codes_left": 0, "required": False,
                                                 "secret": None, "link": None}
    offered = gina.ask("POST", "me/second-factor", {"password": PASSWORD}).json
    assert offered["offered"] and offered["link"].startswith("otpauth://totp/")
    device = Device(offered["secret"])
    assert gina.ask("POST", "me/second-factor/confirm", {"code": device.wrong(), "password": PASSWORD}).fault()[:2] == (422, "code")
    codes = gina.ask("POST", "me/second-factor/confirm", {"code": device.code(), "password": PASSWORD}).json["codes"]
    assert len(codes) == 10
    assert program(town, "gina")[1].fault()[:2] == (422, "code")
    other, answer = program(town, "gina", code=codes[0])
    assert answer.code == 200 and other.get("me").code == 200
    other.csrf = other.get("session").json["csrf"]
    assert [session["second_factor"] for session in other.get("me/sessions").json["sessions"]] == [True, True]
    wanted = {"name": "x", "scope": "write", "password": PASSWORD}
    assert other.ask("POST", "me/tokens", wanted).fault()[:2] == (422, "code")
    token = other.ask("POST", "me/tokens", {**wanted, "code": codes[2]}).json["secret"]
    by_token = Client(Api(town.server.port), token=token)
    assert by_token.get("me/second-factor").json["on"] is True
    for path, body in (("me/second-factor", {"password": PASSWORD}), ("me/second-factor/codes", {"code": codes[1]}),
                       ("me/second-factor/off", {"password": PASSWORD, "code": codes[1]})):
        assert by_token.ask("POST", path, body).code == 403
    assert len(other.ask("POST", "me/second-factor/codes", {"code": codes[1]}).json["codes"]) == 10
    assert other.ask("POST", "me/second-factor/off", {"password": PASSWORD, "code": device.code()}).code == 200
    assert other.get("me/second-factor").json["on"] is False
