"""Logging in by another site: joining, coming in, connecting, disconnecting; and a provider, or somebody between, that cheats."""
import hashlib
import hmac
import json
import re
import time
import urllib.parse

import pytest
from cryptography.hazmat.primitives import serialization

from program import Api, Client
from provider import Key, Provider
from test_electorate import invite, rule, tell
from test_people import PASSWORD, SitePeople, link_in, shared
from test_second import set_up


@pytest.fixture(scope="module")
def provider():
    provider = Provider()
    yield provider
    provider.stop()


@pytest.fixture(scope="module")
def town(tmp_path_factory, provider):
    place = tmp_path_factory.mktemp("oidc")
    (place / "secret").write_text("s3cret +\n")
    (place / "providers").write_text(f"[town-id]\ntitle = SitePeople <ID>\nissuer = {provider.url}\nclient_id = ostraka\n"
                                     f"client_secret_file = {place}/secret\n\n[gone]\ntitle = Gone\nissuer = http://127.0.0.1:9\nclient_id = x\n")
    town = SitePeople(place, "--oidc-file", str(place / "providers"))
    yield town
    town.server.stop()
    town.office.stop()


@pytest.fixture(autouse=True)
def calm(provider):
    provider.calm()


def away(browser, **fields):
    """The address that the form on the log-in page leads to."""
    answer = browser.send("/login", "/login/with/town-id", **fields)
    assert answer.code == 200, answer.text
    address = re.search(r'class="action" rel="noreferrer" href="([^"]+)"', answer.text).group(1).replace("&amp;", "&")
    assert answer.headers["refresh"] == f"0;url={address}"
    return address


def back(browser, path, **fields):
    return browser.get(f"/{path}?{urllib.parse.urlencode(fields)}")


def come(browser, provider, subject, next=None, **claims):
    path, fields = provider.authorize(away(browser, **({"next": next} if next else {})), subject, **claims)
    return back(browser, path, **fields)


def join(town, provider, name, subject):
    browser = town.browser()
    assert come(browser, provider, subject).location == "/register/with"
    assert browser.send("/register/with", "/register/with", name=name, email=f"{name}@example.org").location == "/register/sent"
    town.confirm(browser, name)
    assert come(browser, provider, subject).location == "/"
    return browser


# ---- As it should be

def test_who_is_new_chooses_a_name_and_confirms_an_address(town, provider):
    anna = town.browser()
    answer = come(anna, provider, "s-anna", email="anna@elsewhere.example", preferred_username="anna")
    assert answer.location == "/register/with" and "session" not in anna.cookies
    page = anna.get("/register/with")
    assert page.form("/register/with")["email"] == "anna@elsewhere.example" and page.form("/register/with")["name"] == "anna"
    assert "SitePeople &lt;ID&gt;" in page.text
    refused = anna.send("/register/with", "/register/with", name="a", email="nobody")
    assert refused.code == 422 and 'id="name-fault"' in refused.text and 'id="email-fault"' in refused.text
    assert anna.send("/register/with", "/register/with", name="anna", email="anna@example.org").location == "/register/sent"
    waits = come(anna, provider, "s-anna", next="/my/profile")
    assert waits.code == 422 and "waits for you" in waits.words and "session" not in anna.cookies
    town.confirm(anna, "anna")
    assert come(anna, provider, "s-anna", next="/my/profile").location == "/my/profile"
    assert "You have 100 unspent pollies." in anna.get("/my/profile").words
    assert town.browser().log_in("anna", "whatever it is").code == 422, "no password lets in who has none"


def test_an_address_that_is_taken_links_nothing_and_is_not_told(town, provider):
    town.person("bert")
    thief = town.browser()
    assert come(thief, provider, "s-thief", email="bert@example.org", email_verified=True).location == "/register/with"
    assert thief.send("/register/with", "/register/with", name="thief", email="bert@example.org").location == "/register/sent"
    assert "bert" in town.box.wait_for("bert@example.org", "already")
    waits = come(thief, provider, "s-thief", email="bert@example.org")
    assert waits.code == 422 and "waits for you" in waits.words and "session" not in thief.cookies, "as with an address that is free"


# ---- Who may join by it


@pytest.fixture
def by_rule(town):
    yield lambda mode, **flags: rule(town, mode, **flags)
    rule(town, "open")


def leave(browser, page):
    """On to the provider from a page that offers it."""
    answer = browser.send(page, "/login/with/town-id")
    assert answer.code == 200, answer.text
    return re.search(r'class="action" rel="noreferrer" href="([^"]+)"', answer.text).group(1).replace("&amp;", "&")


def ask_to_join(browser, name, email):
    return browser.send("/register/with", "/register/with", name=name, email=email)


def test_an_invitation_travels_along_and_is_used_once(town, provider, by_rule):
    by_rule("invitation")
    stranger = town.browser()
    assert come(stranger, provider, "s-uninvited").location == "/register/with"
    refused = ask_to_join(stranger, "uninvited", "uninvited@example.org")
    assert refused.code == 422 and "only who was invited may join" in refused.words
    invite(town, "ivy@example.org")
    link = link_in(town.box.wait_for("ivy@example.org", "invite"), "/invitation")
    ivy, late = town.browser(), town.browser()
    path, fields = provider.authorize(leave(ivy, link), "s-ivy", email="ivy@elsewhere.example", email_verified=True)
    late_path, late_fields = provider.authorize(leave(late, link), "s-late")
    assert back(ivy, path, **fields).location == "/register/with"
    page = ivy.get("/register/with")
    assert "You are invited" in page.words and page.form("/register/with")["email"] == "ivy@example.org"
    other = ask_to_join(ivy, "ivy", "ivy@elsewhere.example")
    assert other.code == 422 and "this invitation is for another address" in other.words
    assert ask_to_join(ivy, "ivy", "ivy@example.org").location == "/register/sent"
    town.confirm(ivy, "ivy")
    assert come(ivy, provider, "s-ivy").location == "/"
    assert town.browser().get(link).code == 422, "it works once"
    assert back(late, late_path, **late_fields).location == "/register/with"
    assert late.get("/register/with").code == 422, "also for who began with it before"
    replayed = late.ask("POST", "/register/with", {"csrf": late.get("/login").form("/login")["csrf"], "name": "late", "email": "ivy@example.org"})
    assert replayed.code == 422 and "used already" in replayed.words
    assert come(town.browser(), provider, "s-late").location == "/register/with", "nobody joined by it"


def test_an_invitation_that_is_none_opens_nothing(town, provider, by_rule):
    by_rule("invitation")
    eve = town.browser()
    form = eve.get("/login").form("/login/with/town-id")
    answer = eve.ask("POST", "/login/with/town-id", {**form, "invitation": "A" * 43})
    address = re.search(r'class="action" rel="noreferrer" href="([^"]+)"', answer.text).group(1).replace("&amp;", "&")
    path, fields = provider.authorize(address, "s-eve")
    assert back(eve, path, **fields).location == "/register/with"
    assert eve.get("/register/with").code in (404, 422)
    refused = eve.ask("POST", "/register/with", {"csrf": form["csrf"], "name": "eve", "email": "eve@example.org"})
    assert refused.code == 422
    assert eve.ask("POST", "/login/with/town-id", {**form, "invitation": "A" * 101}).code == 400


def test_by_domain_the_address_that_the_provider_has_verified_counts(town, provider, by_rule):
    by_rule("domain", domains="example.org")
    away_from = town.browser()
    assert come(away_from, provider, "s-otto", email="otto@other.example", email_verified=True).location == "/register/with"
    wrong = ask_to_join(away_from, "otto", "otto@example.org")
    assert wrong.code == 422 and 'id="email-fault"' in wrong.text and "goes by the address that you have there: otto@other.example" in wrong.words
    foreign = ask_to_join(away_from, "otto", "otto@other.example")
    assert foreign.code == 422 and "only addresses of certain domains" in foreign.words
    dana = town.browser()
    assert come(dana, provider, "s-dana", email="Dana@Example.org", email_verified=True).location == "/register/with"
    assert ask_to_join(dana, "dana", "dana@example.org").location == "/register/sent"
    town.confirm(dana, "dana")
    assert come(dana, provider, "s-dana").location == "/"


@pytest.mark.parametrize("claims", [{"email": "x@other.example"}, {"email": "x@other.example", "email_verified": False},
                                    {"email": "x@other.example", "email_verified": "true"}, {"email_verified": True}])
def test_what_the_provider_has_not_verified_proves_nothing_and_our_letter_does(town, provider, by_rule, claims):
    by_rule("domain", domains="example.org")
    name = "unsaid" + hashlib.sha256(repr(claims).encode()).hexdigest()[:8]
    person = town.browser()
    assert come(person, provider, f"s-{name}", **claims).location == "/register/with"
    assert ask_to_join(person, name, f"{name}@other.example").code == 422
    assert ask_to_join(person, name, f"{name}@example.org").location == "/register/sent"
    town.confirm(person, name)


def test_by_roll_the_address_that_the_provider_has_verified_counts(town, provider, by_rule, tmp_path):
    (tmp_path / "roll.csv").write_text("email\nrolf@example.org\nrina@example.org\n")
    assert tell(town, "roll", "import", str(tmp_path / "roll.csv")).returncode == 0
    by_rule("roll")
    thief = town.browser()
    assert come(thief, provider, "s-not-rolf", email="thief@example.org", email_verified=True).location == "/register/with"
    wrong = ask_to_join(thief, "notrolf", "rolf@example.org")
    assert wrong.code == 422 and "thief@example.org" in wrong.words
    assert ask_to_join(thief, "notrolf", "thief@example.org").location == "/register/sent", "the page says the same to everybody"
    assert "no account was made" in town.box.wait_for("thief@example.org", "could not join")
    rolf = town.browser()
    assert come(rolf, provider, "s-rolf", email="rolf@example.org", email_verified=True).location == "/register/with"
    assert ask_to_join(rolf, "rolf", "rolf@example.org").location == "/register/sent"
    town.confirm(rolf, "rolf")


def connect(browser, provider, subject, **claims):
    answer = browser.send("/my/connections", "/my/connections", provider="town-id", password=PASSWORD)
    address = re.search(r'rel="noreferrer" href="([^"]+)"', answer.text).group(1).replace("&amp;", "&")
    path, fields = provider.authorize(address, subject, **claims)
    return back(browser, path, **fields)


def test_connect_come_in_and_disconnect(town, provider):
    cora = town.person("cora")
    assert connect(cora, provider, "s-cora", email="<b>cora</b>@x").location == "/my/connections?done=connected"
    page = cora.get("/my/connections")
    assert "&lt;b&gt;cora&lt;/b&gt;@x" in page.text and "<b>cora" not in page.text
    other = town.browser()
    assert come(other, provider, "s-cora").location == "/"
    assert "cora" in other.get("/my/profile").text
    assert connect(other, provider, "s-cora").location == "/my/connections?done=connected", "again is fine"
    stranger = town.person("stranger")
    taken = connect(stranger, provider, "s-cora")
    assert taken.code == 422 and "another account" in taken.text
    assert "None is connected" in stranger.get("/my/connections").text
    action = re.search(r'action="(/my/connections/[0-9a-f]{32})"', page.text).group(1)
    foreign = stranger.ask("POST", action, {"csrf": stranger.get("/my/connections").form("/my/connections")["csrf"]})
    assert foreign.code == 404
    assert cora.ask("POST", action, {}).code == 403
    assert cora.send("/my/connections", action).location == "/my/connections?done=disconnected"
    assert come(town.browser(), provider, "s-cora").location == "/register/with"
    assert connect(stranger, provider, "s-cora").location == "/my/connections?done=connected", "free again"


def test_the_last_way_in_stays(town, provider):
    dora = join(town, provider, "dora", "s-dora")
    page = dora.get("/my/connections")
    action = re.search(r'action="(/my/connections/[0-9a-f]{32})"', page.text).group(1)
    refused = dora.send("/my/connections", action)
    assert refused.code == 422 and "only way to log in" in refused.text
    link = (dora.send("/forgotten", "/forgotten", name="dora"), link_in(town.box.wait_for("dora@example.org", "/reset?"), "/reset"))[1]
    assert dora.send(link, "/reset", password=PASSWORD).code == 303
    assert dora.log_in("dora").location == "/"
    assert dora.send("/my/connections", action).location == "/my/connections?done=disconnected"


def test_the_second_factor_is_asked_for_here_too(town, provider):
    emil = town.person("emil")
    connect(emil, provider, "s-emil")
    device, codes = set_up(emil)
    browser = town.browser()
    answer = come(browser, provider, "s-emil", next="/my/votes")
    assert answer.location == "/login/code?next=%2Fmy%2Fvotes" and "session" not in browser.cookies
    assert browser.send(answer.location, "/login/code", code=codes[0]).location == "/my/votes"


def test_programs_see_and_end_connections(town, provider):
    finn = town.person("finn")
    connect(finn, provider, "s-finn", email="finn@x")
    client = Client(Api(town.server.port), secret=finn.cookies["session"])
    client.csrf = client.get("session").json["csrf"]
    listed = client.get("me/connections").json
    assert listed["has_password"] and [(c["provider"], c["subject"], c["label"]) for c in listed["connections"]] == [("town-id", "s-finn", "finn@x")]
    assert client.ask("DELETE", "me/connections/" + "0" * 32).code == 404
    assert client.ask("DELETE", "me/connections/" + listed["connections"][0]["id"]).code == 200
    assert client.get("me/connections").json["connections"] == []


def test_who_leaves_frees_the_log_in(town, provider):
    gina = town.person("gina")
    connect(gina, provider, "s-gina")
    assert gina.send("/my/delete", "/my/delete", password=PASSWORD).location == "/?done=left"
    assert come(town.browser(), provider, "s-gina").location == "/register/with"


# ---- Keys

def test_keys_change_and_unknown_ones_are_looked_for_at_most_once_a_minute(town, provider):
    come(town.browser(), provider, "s-1")
    provider.signer = Key("second", "EC")
    provider.asked.clear()
    for _ in range(3):
        assert come(town.browser(), provider, "s-2").code == 422, "an unknown key"
    assert provider.asked.count("/keys") <= 1
    provider.keys.append(provider.signer)
    fresh = town_with_fresh_keys(town, provider)
    assert fresh.location == "/register/with", fresh.text


def town_with_fresh_keys(town, provider):
    """After the minute; here a restart, which remembers no keys."""
    town.server.stop()
    data, port = town.server.data, town.office.port
    town.server = shared.Serve(data, "--empty", "--smtp-url", f"smtp://127.0.0.1:{port}", "--mail-from", "site@example.org", "--oidc-file",
                               str(data).replace("/data", "/providers"))
    return come(town.browser(), provider, "s-2")


# ---- Attacks

def claims(**changed):
    def change(provider):
        provider.claims = changed
    return change


def header(**changed):
    def change(provider):
        provider.header = changed
    return change


def unsigned(provider):
    provider.header, provider.make = {"alg": "none", "kid": None}, lambda content: b""


def none_with_a_signature(provider):
    provider.header = {"alg": "none"}


def mac_with_the_public_key(provider):
    pem = provider.KEY.key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    provider.header, provider.make = {"alg": "HS256"}, lambda content: hmac.digest(pem, content, hashlib.sha256)


def mac_called_a_signature(provider):
    provider.make = lambda content: hmac.digest(b"x", content, hashlib.sha256)


def signed_by_another(provider):
    other = Key("first")
    provider.make = other.sign


def signed_by_another_kind(provider):
    provider.header, provider.make = {"alg": "ES256"}, Key("first", "EC").sign


def cut_signature(provider):
    provider.make = lambda content: provider.KEY.sign(content)[:-1]


def other_content(provider):
    provider.make = lambda content: provider.KEY.sign(content[:-1])


NOW = int(time.time())
ATTACKS = {
    "another issuer": claims(iss="https://evil.example"),
    "issuer with a slash": lambda provider: setattr(provider, "claims", {"iss": provider.url + "/"}),
    "another audience": claims(aud="somebody"),
    "one of several audiences": claims(aud=["ostraka", "somebody"]),
    "for another party": claims(azp="somebody"),
    "no audience": claims(aud=None),
    "another nonce": claims(nonce="x" * 43),
    "no nonce": claims(nonce=None),
    "expired": claims(exp=NOW - 61),
    "no expiry": claims(exp=None),
    "expiry as text": claims(exp=str(NOW + 999)),
    "from the future": claims(iat=NOW + 600),
    "from long ago": claims(iat=NOW - 5000),
    "no subject": claims(sub=None),
    "empty subject": claims(sub=""),
    "long subject": claims(sub="x" * 256),
    "subject of another kind": claims(sub=["a"]),
    "alg none": unsigned,
    "alg none with a signature": none_with_a_signature,
    "HS256 with the public key": mac_with_the_public_key,
    "HMAC called RS256": mac_called_a_signature,
    "RS512": header(alg="RS512"),
    "critical header": header(crit=["exp"]),
    "unknown kid": header(kid="nobody's"),
    "signed by another": signed_by_another,
    "signed by another kind of key": signed_by_another_kind,
    "cut signature": cut_signature,
    "another content": other_content,
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_token_that_is_not_right_lets_nobody_in(town, provider, attack):
    browser = town.browser()
    ATTACKS[attack](provider)
    answer = come(browser, provider, "s-anna")
    assert answer.code == 422, (attack, answer.location)
    assert "session" not in browser.cookies and "joining" not in browser.cookies


def test_a_discovery_document_of_another_issuer_is_refused(tmp_path):
    other = Provider()
    other.said_issuer = "https://evil.example"
    (tmp_path / "providers").write_text(f"[a]\ntitle = A\nissuer = {other.url}\nclient_id = ostraka\n")
    town = SitePeople(tmp_path, "--oidc-file", str(tmp_path / "providers"))
    answer = town.browser().send("/login", "/login/with/a")
    assert answer.code == 503 and "another issuer" in answer.text
    town.server.stop()
    town.office.stop()
    other.stop()


def test_state_counts_once_in_its_browser_and_for_its_provider(town, provider):
    browser, stranger = town.browser(), town.browser()
    path, fields = provider.authorize(away(browser), "s-anna")
    assert back(browser, path, **{**fields, "state": "x" * 43}).code == 422, "a wrong state"
    assert back(stranger, path, **fields).code == 422, "no cookie"
    away(stranger)
    assert back(stranger, path, **fields).code == 422, "another browser's cookie"
    assert back(browser, path.replace("town-id", "gone"), **fields).code == 422, "another provider"
    path, fields = provider.authorize(away(browser), "s-anna")
    cookie = browser.cookies["journey"]
    assert back(browser, path, **fields).code == 303
    del browser.cookies["session"]
    browser.cookies["journey"] = cookie
    replayed = back(browser, path, **fields)
    assert replayed.code == 422 and "finished already" in replayed.text and "session" not in browser.cookies


def test_a_code_counts_once(town, provider):
    browser = town.browser()
    path, first = provider.authorize(away(browser), "s-anna")
    assert back(browser, path, **first).code == 303
    other = town.browser()
    path, fields = provider.authorize(away(other), "s-anna")
    assert back(other, path, **{**fields, "code": first["code"]}).code == 503, "the provider refuses it"
    assert "session" not in other.cookies


def test_somebody_elses_code_does_not_fit(town, provider):
    """Whoever caught a code cannot put it into a log-in of their own: the verifier does not fit."""
    victim, thief = town.browser(), town.browser()
    _, caught = provider.authorize(away(victim), "s-anna")
    path, fields = provider.authorize(away(thief), "s-thief")
    assert back(thief, path, **{**fields, "code": caught["code"]}).code == 503
    assert "session" not in thief.cookies


def test_a_connection_is_only_for_who_began_it(town, provider):
    one, other = town.person("hugo"), town.person("ines")
    answer = one.send("/my/connections", "/my/connections", provider="town-id", password=PASSWORD)
    address = re.search(r'rel="noreferrer" href="([^"]+)"', answer.text).group(1).replace("&amp;", "&")
    path, fields = provider.authorize(address, "s-mallory")
    other.cookies["journey"] = one.cookies["journey"]
    assert back(other, path, **fields).code == 422
    assert "None is connected" in other.get("/my/connections").text and "None is connected" in one.get("/my/connections").text


def test_a_no_of_the_provider_is_told(town, provider):
    browser = town.browser()
    path, fields = provider.authorize(away(browser), "s-anna")
    answer = back(browser, path, state=fields["state"], error="access_denied", error_description="<script>alert(1)</script>")
    assert answer.code == 422 and "did not let you in" in answer.text and "<script>alert" not in answer.text


def test_answers_that_are_too_long_too_slow_or_not_there_are_cut_off(town, provider):
    browser = town.browser()
    provider.filler = "x" * 100_000
    assert come(browser, provider, "s-anna").code == 503
    provider.calm()
    provider.slow_s = 20
    begun = time.monotonic()
    path, fields = provider.authorize(away(browser), "s-anna")
    assert back(browser, path, **fields).code == 503
    assert time.monotonic() - begun < 12
    provider.slow_s = 0
    gone = browser.send("/login", "/login/with/gone")
    assert gone.code == 503 and "Gone" in gone.text
    assert "session" not in browser.cookies


def test_what_is_no_provider_is_not_found(town):
    browser = town.browser()
    csrf = browser.get("/login").form("/login")["csrf"]
    assert browser.ask("POST", "/login/with/nowhere", {"csrf": csrf}).code == 404
    assert browser.ask("POST", "/login/with/town-id", {}).code == 403
    assert browser.get("/login/back/nowhere?state=x").code == 404
    assert browser.get("/login/back/town-id?state=x").code == 422
    assert browser.get("/login/back/town-id").code == 400
    assert browser.get("/register/with").location == "/register"


def test_a_wrong_file_is_refused_at_the_start(tmp_path):
    (tmp_path / "providers").write_text("[a]\ntitle = A\nissuer = http://id.example\nclient_id = x\n")
    for name in ("providers", "missing"):
        answer = shared.ostraka("serve", "--data", str(tmp_path / "data"), "--listen", "127.0.0.1:0", "--oidc-file", str(tmp_path / name))
        assert answer.returncode == 1 and "oidc_file" in answer.stderr, answer.stderr


def test_secrets_are_in_no_log(town, provider):
    browser = town.browser()
    path, fields = provider.authorize(away(browser), "s-anna")
    back(browser, path, **fields)
    log = town.server.log()
    assert "/login/back/town-id" in log
    for secret in (fields["code"], fields["state"], "s3cret"):
        assert secret not in log
