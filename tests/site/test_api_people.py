"""Joining, logging in and out and a forgotten password by /api/v1, on the real program with a real mail server."""
import pytest
from program import Api, Client
from test_people import PASSWORD, Town, link_in


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    town = Town(tmp_path_factory.mktemp("api-people"))
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
