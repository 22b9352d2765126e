"""Somebody who has got hold of a session, a token or a password, and what is left of it when the owner takes the account back."""
import base64
import concurrent.futures
import hashlib
import hmac
import re
import struct
import time

import pytest
from attacked_site import PASSWORD, wait_for

NEW_PASSWORD = "another long one 2"
NOWHERE = "0" * 32


@pytest.fixture(scope="module")
def site(begin, post):
    site = begin("--second-factor-roles", "admin,edit_policies,edit_users,moderate_policies", post=post)
    for name, *roles in (("admin", "admin"), ("editor", "edit_policies"), ("mod", "moderate_policies"), ("users", "edit_users")):
        site.add(name, *roles)
    return site


@pytest.fixture(scope="module")
def office(begin):
    """No role needs a second factor here."""
    site = begin()
    site.add("chief", "admin")
    site.add("second", "admin")
    return site


# ---- The second factor of a role

def attempts(policy):
    """Routes that are the owner's or a role's."""
    api, page = f"policies/{policy}", f"/policies/{policy}"
    return {
        "edit by the API": lambda asker: asker.api("PATCH", api, {"description": "Taken over."}, If_Match=f'"{NOWHERE}"').code,
        "retire by the API": lambda asker: asker.api("POST", f"{api}/retire", {"reason": "Mine now."}).code,
        "the form to edit": lambda asker: asker.get(f"{page}/edit").code,
        "edit by the form": lambda asker: asker.ask("POST", f"{page}/edit", {"csrf": asker.csrf(), "act": "save", "seen": NOWHERE, "name": "Mine",
                                                                          "description": "Mine", "category": "1"}).code,
        "the form to retire": lambda asker: asker.get(f"{page}/retire").code,
        "retire by the form": lambda asker: asker.ask("POST", f"{page}/retire", {"csrf": asker.csrf(), "reason": "Mine now.", "token": NOWHERE}).code,
    }


@pytest.mark.parametrize("way", attempts(0))
@pytest.mark.parametrize("name", ["admin", "editor", "mod"])
def test_a_role_without_its_second_factor_does_nothing_to_the_policies_of_others(site, name, way):
    policy = site.policy(f"Of another, {name}, {way}")
    asker = site.known(name, 10)
    assert attempts(policy)[way](asker) == 403
    kept = site.visitor(11).api("GET", f"policies/{policy}").json
    assert "Taken over" not in kept["description"] and kept["state"] == "active", kept


@pytest.mark.parametrize("way", attempts(0))
def test_the_same_is_done_by_a_role_that_needs_none(office, way):
    """So that what is refused above is refused for want of it."""
    policy = office.policy(f"Of somebody, {way}")
    assert attempts(policy)[way](office.known("chief", 10)) in (200, 303, 409, 412, 422)


def test_a_token_of_such_a_session_does_not_either(site):
    policy = site.policy("Of another by token")
    admin = site.known("admin", 10)
    secret = admin.api("POST", "me/tokens", {"name": "mine", "scope": "write", "password": PASSWORD}).json["secret"]
    version = site.visitor(11).api("GET", f"policies/{policy}")
    answer = admin.api("PATCH", f"policies/{policy}", {"description": "Taken over."}, token=secret, If_Match=version.headers.get("etag", f'"{NOWHERE}"'))
    assert answer.code in (401, 403), answer.text
    assert admin.api("GET", "admin/people", token=secret).code in (401, 403)


# ---- What ends when the owner takes the account back

def thief_of(site, name):
    """A token that a thief made, and who logs in with the password."""
    site.add(name)
    thief = site.known(name, 12)
    return thief, thief.api("POST", "me/tokens", {"name": "kept", "scope": "write", "password": PASSWORD}).json["secret"]


def is_in(site, thief, secret):
    return [what for what, code in (("the session", thief.api("GET", "me").code), ("the token", site.visitor(12).api("GET", "me", token=secret).code))
            if code == 200]


def test_a_password_that_was_reset_ends_sessions_and_tokens(site, post):
    thief, secret = thief_of(site, "reset-me")
    assert is_in(site, thief, secret) == ["the session", "the token"]
    owner = site.visitor(13)
    owner.post("/forgotten", name="reset-me")
    assert owner.post(post.link("reset-me@example.org", "/reset"), "/reset", password=NEW_PASSWORD).code == 303
    assert is_in(site, thief, secret) == []


def test_log_out_everywhere_ends_tokens_too(site):
    thief, secret = thief_of(site, "everywhere")
    owner = site.known("everywhere", 13)
    assert owner.post("/my/sessions", "/my/sessions/others").code == 303
    assert is_in(site, thief, secret) == []


def test_who_is_logged_out_by_the_people_who_run_the_site_keeps_no_token(site):
    thief, secret = thief_of(site, "thrown-out")
    site.call("user", "logout", "thrown-out", "--reason", "stolen")
    assert is_in(site, thief, secret) == []


# ---- Another e-mail

def password_fields(page, action):
    """The names of the fields for a password in that form."""
    form = re.search(rf'<form[^>]*action="{action}".*?</form>', page.text, re.S)[0]
    return [name for tag in re.findall(r"<input[^>]*>", form) if 'type="password"' in tag for name in re.findall(r'name="(\w+)"', tag)]


def test_an_open_session_alone_does_not_change_the_address(site, post):
    site.add("lent")
    finder = site.known("lent", 14)
    finder.post("/my/email", email="finder@elsewhere.example")
    finder.api("POST", "me/email", {"email": "finder2@elsewhere.example"})
    for at in ("finder@elsewhere.example", "finder2@elsewhere.example"):
        with pytest.raises(AssertionError):
            wait_for(lambda at=at: post.find(at), 1.5)


def test_the_old_address_gets_a_way_back(site, post):
    """Also when whoever changed it knows the password."""
    site.add("moved")
    thief = site.known("moved", 15)
    page = thief.get("/my/email")
    fields = {name: PASSWORD for name in password_fields(page, "/my/email")}
    assert thief.post("/my/email", email="thief@elsewhere.example", **fields).code == 303
    assert thief.post(post.link("thief@elsewhere.example", "/my/email/confirm"), "/my/email/confirm").code == 303
    told = post.letter("moved@example.org", "token=", seconds=5)
    path = re.search(r"http://[^/\s]+(/[\w/-]+)\?token=", told)[1]
    owner = site.visitor(16)
    link = post.link("moved@example.org", path)
    assert owner.post(link, path).code in (200, 303)
    owner.post("/forgotten", name="moved@example.org")
    assert owner.post(post.link("moved@example.org", "/reset"), "/reset", password=NEW_PASSWORD).code == 303
    thief.cookies.clear()
    thief.log_in("moved")
    assert "session" not in thief.cookies
    owner.log_in("moved", NEW_PASSWORD)
    assert "session" in owner.cookies and "moved@example.org" in owner.get("/my/profile").text + owner.get("/my/email").text


def code_of(secret):
    """What a device shows that has this secret."""
    mac = hmac.digest(base64.b32decode(secret), struct.pack(">Q", int(time.time()) // 30), hashlib.sha1)
    start = mac[-1] & 15
    return f"{(int.from_bytes(mac[start:start + 4], 'big') & 0x7fffffff) % 10**6:06}"


def test_an_open_session_alone_makes_no_way_in_that_lasts(site):
    """A second factor, a token: each would outlive the session, or keep the owner out."""
    site.add("open")
    finder = site.known("open", 19)
    for body in ({}, {"password": "guessed once"}):
        begun = finder.api("POST", "me/second-factor", body)
        assert begun.code == 422 and "secret" not in (begun.json or {}), "it may set up a second factor"
        assert finder.api("POST", "me/tokens", {"name": "kept", "scope": "write", **body}).code == 422, "it may make a token"
    owner = site.known("open", 13)
    offered = owner.api("POST", "me/second-factor", {"password": PASSWORD}).json
    shown = finder.api("GET", "me/second-factor").json
    assert shown["secret"] == offered["secret"]
    assert finder.api("POST", "me/second-factor/confirm", {"code": code_of(shown["secret"])}).code == 422, "it confirms what the owner has begun"
    assert not owner.api("GET", "me/second-factor").json["on"]


def test_who_takes_a_change_back_is_not_kept_out(site, post):
    """The thief knows the password, and has had the account for a while."""
    site.add("robbed")
    thief = site.known("robbed", 15)
    assert thief.post("/my/email", email="robber@elsewhere.example", password=PASSWORD).code == 303
    assert thief.post(post.link("robber@elsewhere.example", "/my/email/confirm"), "/my/email/confirm").code == 303
    secret = thief.api("POST", "me/second-factor", {"password": PASSWORD}).json["secret"]
    assert thief.api("POST", "me/second-factor/confirm", {"code": code_of(secret), "password": PASSWORD}).code == 200
    owner = site.visitor(16)
    assert owner.post(post.link("robbed@example.org", "/email/back"), "/email/back").code == 303
    owner.post("/forgotten", name="robbed@example.org")
    assert owner.post(post.link("robbed@example.org", "/reset"), "/reset", password=NEW_PASSWORD).code == 303
    owner.log_in("robbed", NEW_PASSWORD)
    assert "session" in owner.cookies, "it asks for the thief's second factor"


# ---- Rights


def test_rights_are_changed_only_by_who_has_seen_them(office):
    office.add("subject")
    chief = office.known("chief", 17)
    person = next(each for each in chief.api("GET", "admin/people?q=subject").json["people"] if each["name"] == "subject")["id"]
    blind = chief.api("PUT", f"admin/people/{person}/rights", {"denied": ["vote"], "reason": "blind"})
    assert blind.code in (400, 409, 412, 428), "changed without the version that was seen"
    seen = chief.api("GET", f"admin/people/{person}").json["version"]
    assert chief.api("PUT", f"admin/people/{person}/rights", {"denied": ["vote"], "version": seen, "reason": "first"}).code == 200
    stale = office.known("second", 18).api("PUT", f"admin/people/{person}/rights", {"roles": ["admin"], "version": seen, "reason": "late"})
    assert stale.code in (409, 412), stale.text


def test_of_many_who_change_rights_at_once_one_stands(office):
    office.add("crowded")
    chief = office.known("chief", 17)
    person = next(each for each in chief.api("GET", "admin/people?q=crowded").json["people"] if each["name"] == "crowded")["id"]
    seen, csrf = chief.api("GET", f"admin/people/{person}").json["version"], chief.csrf()
    rights = ["vote", "create", "comment", "tag", "report", "log_in"]
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        codes = list(pool.map(lambda right: chief.api("PUT", f"admin/people/{person}/rights", {"denied": [right], "version": seen, "reason": "at once"},
                                                      csrf=csrf).code, rights))
    assert codes.count(200) == 1, codes
