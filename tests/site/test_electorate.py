"""Who may join: by the real forms and letters, under every rule; and what the rule leaves alone."""
import json
import subprocess

import pytest
from test_people import PASSWORD, SitePeople, link_in, shared


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    town = SitePeople(tmp_path_factory.mktemp("electorate"))
    yield town
    town.server.stop()
    town.office.stop()


def tell(town, *words):
    """A command inside the server."""
    return subprocess.run([shared.BIN, *words, "--data", town.server.data], env=shared.clean_environment(), capture_output=True, text=True,
                          timeout=60)


def rule(town, mode, **flags):
    done = tell(town, "electorate", "set", mode, *[word for name, value in flags.items() for word in (f"--{name}", value)])
    assert done.returncode == 0, done.stderr
    return json.loads(tell(town, "electorate", "show", "--json").stdout)


def invite(town, address):
    done = tell(town, "invite", address, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_by_invitation_only_who_was_invited_and_once(town):
    early = town.person("early")
    rule(town, "invitation")
    stranger = town.browser()
    page = stranger.get("/register")
    assert page.code == 200 and "Only invited people can join" in page.words and 'name="password"' not in page.text
    first, second = invite(town, "ines@example.org"), invite(town, "ines@example.org")
    assert (first["new"], second["new"], second["link"]) == (True, False, first["link"])
    link = link_in(town.box.wait_for("ines@example.org", "invite"), "/invitation")
    assert not [letter for letter in town.box.letters if letter[0] == "ines@example.org"], "one letter, however often it is asked for"
    ines = town.browser()
    assert ines.get(link).code == ines.get(link).code == 200
    form = ines.get(link).form("/register")
    assert form["email"] == "ines@example.org"
    other = ines.ask("POST", "/register", {**form, "name": "ines", "email": "else@example.org", "password": PASSWORD})
    assert other.code == 422 and 'id="email-fault"' in other.text and other.form("/register")["invitation"] == form["invitation"]
    assert ines.ask("POST", "/register", {**form, "name": "ines", "password": PASSWORD}).location == "/register/sent"
    again = town.browser()
    assert again.get(link).code == 422, "it works once"
    form["csrf"] = again.get("/login").form("/login")["csrf"]
    refused = again.ask("POST", "/register", {**form, "name": "inesagain", "password": PASSWORD})
    assert refused.code == 422 and "used already" in refused.words
    town.confirm(ines, "ines")
    assert ines.log_in("ines").code == 303
    assert early.get("/my/votes").code == 200, "who is here stays"


def test_without_an_invitation_a_form_sent_by_hand_is_refused(town):
    rule(town, "invitation")
    browser = town.browser()
    token = browser.get("/login").form("/login")["csrf"]
    fields = {"csrf": token, "name": "sneaky", "email": "sneaky@example.org", "password": PASSWORD}
    for invitation in ({}, {"invitation": "x" * 43}, {"invitation": "short"}):
        answer = browser.ask("POST", "/register", {**fields, **invitation})
        assert answer.code == 422 and 'role="alert"' in answer.text, invitation
    assert tell(town, "user", "show", "sneaky").returncode == 1


def test_a_withdrawn_invitation_and_one_that_never_was_open_nothing(town):
    link = invite(town, "wanda@example.org")["link"]
    path = link[link.index("/invitation"):]
    assert town.browser().get(path).code == 200
    assert tell(town, "invite", "withdraw", "wanda@example.org").returncode == 0
    answer = town.browser().get(path)
    assert answer.code == 422 and "withdrawn" in answer.words
    assert town.browser().get("/invitation?token=" + "x" * 43).code == 404


def test_by_domain(town):
    assert rule(town, "domain", domains="town.example, *.uni.example")["domains"] == ["town.example", "*.uni.example"]
    browser = town.browser()
    assert "town.example" in browser.get("/register").words
    refused = browser.register("dirk", "dirk@elsewhere.example")
    assert refused.code == 422 and 'id="email-fault"' in refused.text
    assert browser.register("dirk", "Dirk@Town.Example").location == "/register/sent"
    assert town.browser().register("dana", "dana@math.uni.example").location == "/register/sent"


def test_by_roll_nobody_learns_who_is_on_it(town, tmp_path):
    roll = tmp_path / "roll.csv"
    roll.write_text("name;email\nRita;Rita@example.org\nbroken;rita\n")
    done = tell(town, "roll", "import", str(roll), "--json")
    report = json.loads(done.stdout)
    assert (report["good"], report["bad"], report["faults"][0]["line"]) == (1, 1, 3)
    rule(town, "roll")
    on, off = town.browser(), town.browser()
    assert on.register("rita", "rita@example.org").location == off.register("olaf", "olaf@example.org").location == "/register/sent"
    assert "/confirm" in town.box.wait_for("rita@example.org")
    assert "not on the list" in town.box.wait_for("olaf@example.org")
    assert tell(town, "user", "show", "olaf").returncode == 1
    # What is wrong with a form does not tell either.
    for address in ("rita@example.org", "olaf@example.org"):
        answer = town.browser().register("early", address)
        assert answer.code == 422 and 'id="name-fault"' in answer.text
        assert town.browser().register("short", address, "short").code == 422


def test_programs_join_by_the_same_rule(town):
    rule(town, "invitation")
    browser = town.browser()
    session = json.loads(browser.get("/api/v1/session").text)
    headers = {"Content-Type": "application/json", "X-CSRF-Token": session["csrf"]}

    def join(**body):
        import http.client
        connection = http.client.HTTPConnection("127.0.0.1", town.server.port, timeout=30)
        cookies = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
        connection.request("POST", "/api/v1/accounts", json.dumps(body), {**headers, "Cookie": cookies})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())

    person = {"name": "prog", "email": "prog@example.org", "password": PASSWORD}
    code, refused = join(**person)
    assert code == 422 and refused["error"]["field"] == "invitation"
    link = invite(town, "prog@example.org")["link"]
    assert join(**person, invitation=link.split("token=")[1])[0] == 201
