"""Examples of what people do about their own account; see door_examples.py."""
import base64
import hashlib
import hmac
import json
import re
import struct
import urllib.parse

from doors import Deed
from site_fixture import Voter

EXAMPLES = []
PASSWORD = "correct horse 1"
START_S = 1769860800  # of the clock of those sites (door_control.c)


def example_of(examples):
    """A decorator that adds to this list."""
    def example(*operations):
        def add(function):
            examples.extend((operation, function) for operation in operations)
            return function
        return add
    return example


example = example_of(EXAMPLES)


def send(site, path, body, who=None):
    """By a script of the site's own; as preparation."""
    site.tell("tick", 0)
    headers = {"X-CSRF-Token": site.csrf(who), "Content-Type": "application/json"}
    answer = site.ask("POST", "/api/v1/" + path, who, json.dumps(body) if body is not None else None, headers if body is not None else
                      {"X-CSRF-Token": site.csrf(who)})
    assert answer.status < 300, answer.text
    return json.loads(answer.text)


def log_in(site, name, **more):
    send(site, "session", {"name": name, "password": PASSWORD, **more})
    secret, site.cookies = site.cookies["session"], {}
    person = Voter(site, name, f"done 0 {secret}")
    person.id = json.loads(site.ask("GET", "/api/v1/me", person).text)["id"]
    return person


def member(site, name="member"):
    """Somebody with a password, logged in."""
    name = f"{name}{site.number}"
    site.prepare("user", "add", name, "--email", f"{name}@example.org", "--password-stdin", stdin=PASSWORD)
    site.prepare("user", "confirm", name)
    return log_in(site, name)


def pending(site):
    """Somebody who has not confirmed yet; their address."""
    name = f"newcomer{site.number}"
    send(site, "accounts", {"name": name, "email": f"{name}@example.org", "password": PASSWORD})
    return f"{name}@example.org"


def link_to(site, address):
    """The token of the newest e-mail to that address."""
    mails = [line for line in site.dump() if line.startswith("mail\t") and f"\t{address}\t" in line]
    return re.search(r"token=([\w-]+)", max(mails)).group(1)


# ---- Joining


@example("account_register")
def newcomer(site):
    return Deed(None, {"name": "newcomer", "email": "newcomer@example.org", "password": PASSWORD},
                differs={"cells": "the cookie of the browser, which is random, is kept for the signals"})


@example("account_register")
def of_a_taken_name(site):
    return Deed(None, {"name": site.person("taken").name, "email": "other@example.org", "password": PASSWORD}, refused="this name is taken",
                differs={"left": "the row of the account that was given up"})


@example("account_register")
def with_a_taken_address(site):
    return Deed(None, {"name": f"somebody{site.number}", "email": pending(site), "password": PASSWORD})


@example("register_again")
def once_more(site):
    return Deed(None, {"email": pending(site)}, shown="/register/sent")


@example("account_confirm")
def confirmed(site):
    token = link_to(site, pending(site))
    return Deed(None, {"token": token}, shown=f"/confirm?token={token}")


@example("account_confirm")
def by_no_link(site):
    return Deed(None, {"token": "0" * 43}, refused="")


@example("first_admin")
def of_a_new_site(site):
    token = site.tell("first-admin", "-").split()[1]
    return Deed(None, {"token": token, "name": "boss", "email": "boss@example.org", "password": PASSWORD}, shown=f"/first-admin?token={token}")


of_a_new_site.is_new = True


@example("first_admin")
def of_a_site_with_people(site):
    return Deed(None, {"token": "0" * 43, "name": "boss", "email": "boss@example.org", "password": PASSWORD}, refused="", shown="/login")


# ---- Logging in and out


@example("log_in")
def comes_in(site):
    return Deed(None, {"name": member(site).name, "password": PASSWORD, "remember": True})


@example("log_in")
def as_nobody(site):
    return Deed(None, {"name": "nobody", "password": "not it at all"}, refused="The name or the password is not right")


@example("log_out")
def goes_out(site):
    return Deed(member(site), shown="/my/sessions")


# ---- Passwords


@example("password_forgotten")
def forgotten(site):
    return Deed(None, {"name": member(site).name})


@example("password_forgotten")
def of_nobody(site):
    return Deed(None, {"name": "nobody"})


@example("password_reset")
def set_anew(site):
    person = member(site)
    send(site, "accounts/forgotten", {"name": person.name})
    token = link_to(site, f"{person.name}@example.org")
    return Deed(None, {"token": token, "password": "another horse 2"}, shown=f"/reset?token={token}")


@example("password_change")
def changed(site):
    return Deed(member(site), {"old": PASSWORD, "password": "another horse 2"})


@example("password_change")
def without_the_old_one(site):
    return Deed(member(site), {"old": "not it at all", "password": "another horse 2"}, refused="password")


# ---- The e-mail address


@example("email_change")
def elsewhere(site):
    return Deed(member(site), {"email": "elsewhere@example.org"}, raw={door: {"password": PASSWORD} for door in ("page", "api")})


@example("email_confirm")
def moved(site):
    person, address = member(site), f"moved{site.number}@example.org"
    send(site, "me/email", {"email": address, "password": PASSWORD}, person)
    token = link_to(site, address)
    return Deed(person, {"token": token}, shown=f"/my/email/confirm?token={token}")


@example("email_back")
def taken_back(site):
    person, address = member(site), f"thief{site.number}@example.org"
    send(site, "me/email", {"email": address, "password": PASSWORD}, person)
    send(site, "me/email/confirm", {"token": link_to(site, address)}, person)
    token = link_to(site, f"{person.name}@example.org")
    return Deed(None, {"token": token}, shown=f"/email/back?token={token}")


@example("email_back")
def by_no_letter(site):
    return Deed(None, {"token": "0" * 43}, refused="")


# ---- Sessions and tokens


@example("session_list", "token_list", "second_show", "linked_list")
def ways_in(site):
    return Deed(member(site))


@example("session_end")
def another_session(site):
    person = member(site)
    log_in(site, person.name)
    sessions = json.loads(site.ask("GET", "/api/v1/me/sessions", person).text)["sessions"]
    return Deed(person, {"session": sessions[0]["id"]}, shown="/my/sessions")


@example("session_end")
def no_session(site):
    return Deed(member(site), {"session": "0" * 32}, refused="")


@example("session_end_others")
def all_others(site):
    person = member(site)
    log_in(site, person.name)
    return Deed(person, shown="/my/sessions")


@example("token_make")
def for_a_script(site):
    return Deed(member(site), {"name": "My script", "scope": "write", "days": 30, "password": PASSWORD})


@example("token_make")
def without_the_password(site):
    return Deed(member(site), {"name": "My script"}, refused="password")


@example("token_end")
def ended(site):
    person = member(site)
    token = send(site, "me/tokens", {"name": "My script", "password": PASSWORD}, person)
    return Deed(person, {"token": token["id"]}, shown="/my/tokens")


# ---- The second factor


def code_at(site, secret, later=0):
    """Of a device, about now."""
    step = (START_S + site.number * 1000) // 30 + later
    mac = hmac.digest(base64.b32decode(secret), struct.pack(">Q", step), hashlib.sha1)
    start = mac[-1] & 15
    return f"{(int.from_bytes(mac[start:start + 4], 'big') & 0x7fffffff) % 10**6:06}"


def with_second(site):
    """Somebody who has one; and their recovery codes."""
    person = member(site)
    secret = send(site, "me/second-factor", {"password": PASSWORD}, person)["secret"]
    return person, send(site, "me/second-factor/confirm", {"code": code_at(site, secret), "password": PASSWORD}, person)["codes"]


@example("second_begin")
def offered(site):
    return Deed(member(site), {"password": PASSWORD}, shown="/my/second-factor")


@example("second_begin")
def offered_to_who_does_not_know_the_password(site):
    return Deed(member(site), {"password": "not it at all"}, refused="password", shown="/my/second-factor")


@example("second_confirm")
def turned_on(site):
    person = member(site)
    secret = send(site, "me/second-factor", {"password": PASSWORD}, person)["secret"]
    return Deed(person, {"code": code_at(site, secret), "password": PASSWORD}, shown="/my/second-factor")


@example("second_confirm")
def turned_on_by_who_does_not_know_the_password(site):
    person = member(site)
    secret = send(site, "me/second-factor", {"password": PASSWORD}, person)["secret"]
    return Deed(person, {"code": code_at(site, secret)}, refused="password", shown="/my/second-factor")


@example("second_confirm")
def with_a_wrong_code(site):
    return Deed(member(site), {"code": "no code", "password": PASSWORD}, refused="")


@example("second_codes")
def without_having_one(site):
    return Deed(member(site), {"code": "no code"}, refused="")


@example("second_codes")
def new_codes(site):
    person, codes = with_second(site)
    return Deed(person, {"code": codes[0]}, shown="/my/second-factor")


@example("second_off")
def turned_off(site):
    person, codes = with_second(site)
    return Deed(person, {"password": PASSWORD, "code": codes[0]})


@example("log_in_code")
def comes_in_with_both(site):
    person, codes = with_second(site)
    site.tell("tick", 0)
    form = {"csrf": site.csrf(None), "name": person.name, "password": PASSWORD}
    answer = site.ask("POST", "/login", None, "&".join(f"{key}={value.replace(' ', '+')}" for key, value in form.items()),
                      {"Content-Type": "application/x-www-form-urlencoded"})
    assert answer.headers["Location"].startswith("/login/code"), answer.text
    return Deed(None, {"code": codes[0]})


# ---- Log-ins at other sites: those sites know no other


@example("linked_log_in")
def by_an_unknown_site(site):
    return Deed(member(site), {"provider": "nowhere"}, refused="")


@example("linked_connect")
def links_an_unknown_site(site):
    return Deed(member(site), {"provider": "nowhere", "password": PASSWORD}, refused="")


@example("linked_connect")
def links_it_without_the_password(site):
    return Deed(member(site), {"provider": "town-id"}, refused="password", shown="/my/connections")


@example("linked_log_in")
def leaves_to_log_in(site):
    return Deed(None, {"provider": "town-id"})


@example("linked_connect")
def leaves_to_link_it(site):
    return Deed(member(site), {"provider": "town-id", "password": PASSWORD}, shown="/my/connections")


@example("register_linked")
def joins_by_another_site(site):
    answer = site.send_form("/login/with/town-id", {})
    path, fields = site.provider.authorize(re.search(r'class="action" rel="noreferrer" href="([^"]+)"', answer.text).group(1).replace("&amp;", "&"),
                                           f"s{site.number}", iat=START_S + site.seconds, exp=START_S + site.seconds + 300)
    assert site.ask("GET", f"/{path}?{urllib.parse.urlencode(fields)}").headers["Location"] == "/register/with"
    return Deed(None, {"name": f"joiner{site.number}", "email": f"joiner{site.number}@example.org"})


@example("linked_end")
def disconnected(site):
    person = member(site)
    site.tell("connect", person.id, f"s{site.number}")
    linked = json.loads(site.ask("GET", "/api/v1/me/connections", person).text)["connections"]
    return Deed(person, {"connection": linked[0]["id"]}, shown="/my/connections")


# ---- E-mails, and all that is kept


@example("unsubscribe")
def by_the_link(site):
    person = member(site)
    token = site.tell("unsubscribe-link", person.id).split()[1]
    site.prepare("mailbox", "set", "--digest", "weekly", "--as", person.name)
    return Deed(None, {"token": token}, shown=f"/unsubscribe?token={token}")


@example("unsubscribe")
def by_no_link(site):
    return Deed(None, {"token": "0" * 80}, refused="", shown=False)


@example("data_show")
def all_of_mine(site):
    given = {"password": PASSWORD}
    return Deed(member(site), raw={"page": given, "api": given})


# ---- Leaving


@example("account_delete")
def leaves(site):
    person = member(site)
    policy = site.policy_of(person, "Leave the owner out")
    return Deed(person, {"password": PASSWORD}, look=(f"/policies/{policy}",))
