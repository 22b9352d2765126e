"""Joining, logging in and out and a forgotten password by /api/v1, on the real program with a real mail server."""
import pytest
from program import Api, Client
from test_people import PASSWORD, SitePeople, link_in


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    town = SitePeople(tmp_path_factory.mktemp("api-people"))
    town.api = Api(town.server.port)
    yield town
    town.server.stop()
    town.office.stop()


@pytest.fixture
def script(town):
    """A script of the site's own pages, before anybody is logged in."""
    script = Client(town.api)
    script.csrf = script.get("session").json["csrf"]
    return script


def secret_in(town, name, path):
    return link_in(town.box.wait_for(f"{name}@example.org", path + "?"), path).split("=")[1]


def join(script, name, /, **change):
    return script.ask("POST", "accounts", {"name": name, "email": f"{name}@example.org", "password": PASSWORD, **change})


def log_in(script, name, password=PASSWORD):
    return script.ask("POST", "session", {"name": name, "password": password})


def test_from_joining_to_the_first_pollies_and_out_again(town, script):
    assert join(script, "anna").code == 201
    assert script.ask("POST", "accounts/confirm", {"token": secret_in(town, "anna", "/confirm")}).code == 200
    assert log_in(script, "anna").code == 200
    visit = script.get("session").json
    assert (visit["known"], visit["name"]) == (True, "anna")
    me = script.get("me").json
    assert (me["email"], me["balance"], me["state"]) == ("anna@example.org", 100, "confirmed")
    assert script.ask("DELETE", "session").fault()[:2] == (403, "csrf"), "the token is the session's now"
    script.csrf = visit["csrf"]
    assert script.ask("DELETE", "session").code == 200
    assert script.get("session").json["known"] is False and script.get("me").code == 401


@pytest.mark.parametrize("field, value", [("name", "x"), ("name", 5), ("email", "nobody"), ("password", "short"), ("roles", 1)])
def test_a_registration_that_cannot_be_names_field_and_rule(script, field, value):
    code, named, rule = join(script, "bertha", **{field: value}).fault()
    assert (code, named) == (400, field) and rule


def test_a_name_that_is_taken_is_told_and_an_address_is_not(town, script):
    assert join(script, "carla").code == 201
    assert join(script, "carla", email="other@example.org").fault()[:2] == (422, "name")
    assert join(script, "carla2", email="carla@example.org").code == 201


def test_a_wrong_password_and_a_wrong_name_look_alike(script):
    join(script, "dora")
    wrong, nobody = log_in(script, "dora", "not the password"), log_in(script, "nobody", "not the password")
    assert wrong.fault() == nobody.fault() and wrong.code == 422


def test_a_forgotten_password(town, script):
    join(script, "erika")
    script.ask("POST", "accounts/confirm", {"token": secret_in(town, "erika", "/confirm")})
    for name in ("erika", "nobody-at-all", "no@where.example"):
        assert script.ask("POST", "accounts/forgotten", {"name": name}).code == 200
    secret = secret_in(town, "erika", "/reset")
    assert script.ask("POST", "accounts/reset", {"token": secret, "password": "short"}).fault()[:2] == (400, "password")
    assert script.ask("POST", "accounts/reset", {"token": secret, "password": "another horse 2"}).code == 200
    assert script.ask("POST", "accounts/reset", {"token": secret, "password": "a third horse 3"}).code in (404, 422), "works once"
    assert log_in(script, "erika").code == 422 and log_in(script, "erika", "another horse 2").code == 200


@pytest.mark.parametrize("path, body", [("session", {"name": "a", "password": "b"}), ("accounts/forgotten", {"name": "a"}),
                                        ("accounts/confirm", {"token": "a"}), ("accounts/reset", {"token": "a", "password": "b"})])
def test_without_the_token_of_the_visit_nothing_is_done(town, path, body):
    assert Client(town.api).ask("POST", path, body).fault()[:2] == (403, "csrf")


def test_links_that_never_were(script):
    assert script.ask("POST", "accounts/confirm", {"token": "x" * 43}).code in (404, 422)
    assert script.ask("POST", "accounts/reset", {"token": "x" * 43, "password": PASSWORD}).code in (404, 422)


# ---- The account itself

NEW = "another horse 2"


def member(town, name):
    """A script of somebody who is confirmed and logged in."""
    script = Client(town.api)
    script.csrf = script.get("session").json["csrf"]
    assert join(script, name).code == 201
    script.ask("POST", "accounts/confirm", {"token": secret_in(town, name, "/confirm")})
    return again(town, name, script=script)


def again(town, name, password=PASSWORD, script=None):
    script = script or Client(town.api)
    script.csrf = script.get("session").json["csrf"]
    assert log_in(script, name, password).code == 200
    script.csrf = script.get("session").json["csrf"]
    return script


def test_a_password_is_changed_and_other_sessions_end(town):
    here, there = member(town, "frida"), again(town, "frida")
    change = {"old": PASSWORD, "password": NEW}
    assert here.ask("PUT", "me/password", {**change, "old": "not it"}).fault()[:2] == (422, "old")
    assert here.ask("PUT", "me/password", {**change, "password": "short"}).fault()[:2] == (400, "password")
    assert here.ask("PUT", "me/password", {"password": NEW}).fault()[:2] == (400, "old")
    assert Client(town.api).ask("PUT", "me/password", change).code == 401
    assert here.ask("PUT", "me/password", change).code == 200
    assert (here.get("me").code, there.get("me").code) == (200, 401)
    again(town, "frida", NEW)
    town.box.wait_for("frida@example.org", "assword")


def test_tries_with_a_session_are_bounded(town):
    script = member(town, "gerda")
    codes = [script.ask("PUT", "me/password", {"old": "not it", "password": NEW}).code for _ in range(11)]
    assert codes == [422] * 10 + [429] and script.ask("POST", "me/delete", {"password": PASSWORD}).code == 429


def test_an_address_is_changed_by_its_own_letter(town):
    script = member(town, "helga")
    change = {"email": "helga@new.example", "password": PASSWORD}
    assert script.ask("POST", "me/email", {**change, "email": "nobody"}).fault()[:2] == (400, "email")
    assert script.ask("POST", "me/email", {"email": "helga@new.example"}).fault()[:2] == (400, "password")
    assert script.ask("POST", "me/email", {**change, "password": "not it at all"}).fault()[:2] == (422, "password")
    assert script.ask("POST", "me/email", change).code == 200
    assert script.get("me").json["email"] == "helga@example.org", "not before the letter is answered"
    secret = link_in(town.box.wait_for("helga@new.example"), "/my/email/confirm").split("=")[1]
    assert member(town, "ilse").ask("POST", "me/email/confirm", {"token": secret}).code == 403
    assert script.ask("POST", "me/email/confirm", {"token": secret}).code == 200
    assert script.get("me").json["email"] == "helga@new.example"
    back = link_in(town.box.wait_for("helga@example.org", "/email/back?"), "/email/back").split("=")[1]
    owner = Client(town.api)
    owner.csrf = owner.get("session").json["csrf"]
    assert owner.ask("POST", "accounts/email-back", {"token": back}).code == 200
    assert owner.ask("POST", "accounts/email-back", {"token": back}).code == 422
    assert script.get("me").code == 401
    assert again(town, "helga").get("me").json["email"] == "helga@example.org"


def test_other_sessions_are_ended_all_at_once(town):
    here, there = member(town, "judith"), again(town, "judith")
    assert len(here.get("me/sessions").json["sessions"]) == 2
    assert here.ask("DELETE", "me/sessions").code == 200
    assert (here.get("me").code, there.get("me").code) == (200, 401)
    assert len(here.get("me/sessions").json["sessions"]) == 1


def test_leaving_asks_for_the_password_and_is_for_good(town):
    script = member(town, "klara")
    assert script.ask("POST", "me/delete", {"password": "not it"}).fault()[:2] == (422, "password")
    assert script.ask("POST", "me/delete", {"password": PASSWORD}).code == 200
    assert script.get("me").code == 401 and script.get("session").json["known"] is False
    town.box.wait_for("klara@example.org", "deleted")
    script.csrf = script.get("session").json["csrf"]
    assert log_in(script, "klara").code == 422
