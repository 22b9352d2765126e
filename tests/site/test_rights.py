"""Whose right is taken: told why by e-mail and notice, shown no form that would be refused, and one appeal, which somebody else decides."""
import json
import re

import pytest

from program import Api, Client
from test_people import SitePeople, link_in, shared


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    town = SitePeople(tmp_path_factory.mktemp("rights"))
    town.chief, town.judge = town.person("chief"), town.person("judge")
    for name, roles in (("chief", "admin"), ("judge", "admin,moderate_policies")):
        cli(town, "user", "rights", name, "--role", roles, "--seen", str(shown(town, name)["version"]))
        town.box.wait_for(f"{name}@example.org", f"role given: admin")
    yield town
    town.server.stop()
    town.office.stop()


def cli(town, *words):
    done = shared.ostraka(*words, "--data", town.server.data)
    assert done.returncode == 0, done.stderr
    return done.stdout


def shown(town, name):
    return json.loads(cli(town, "user", "show", name, "--json"))


def page_of(town, name):
    return f"/admin/people/{shown(town, name)['id']}"


def take(town, name, *rights, by=None, reason="Spam & <b>worse</b>.", **more):
    """By the form, whose boxes the fixture's forms do not keep apart: all that is taken then."""
    by, path = by or town.chief, page_of(town, name)
    form = by.get(path).form(path)
    fields = [(field, value) for field, value in form.items() if field not in ("roles", "denied", "reason")]
    return by.ask("POST", path, fields + [("denied", right) for right in rights] + [("reason", reason), *more.items()])


def person(town, name):
    return town.person(name)


def test_a_right_is_taken_only_with_a_reason_and_whose_it_was_is_told(town):
    ada = person(town, "ada")
    refused = take(town, "ada", "create", "report", reason="")
    assert refused.code == 422 and "say why" in refused.words and shown(town, "ada")["denied"] == []
    late = shared.ostraka("user", "rights", "ada", "--deny", "vote", "--seen", str(shown(town, "ada")["version"]), "--data", town.server.data)
    assert late.returncode == 1 and "say why" in late.stderr
    assert take(town, "ada", "create", "report").code == 303
    letter = town.box.wait_for("ada@example.org", "taken away")
    assert "the right to propose policies; taken away: the right to report" in letter and "Spam & <b>worse</b>." in letter
    notices = ada.get("/my/notices")
    assert "taken away: the right to propose policies" in notices.words and "Spam & <b>worse</b>." in notices.words and "<b>worse" not in notices.text
    assert 'href="/appeal"' in notices.text and ada.get("/my/notices").text.count('class="bell"') == 1
    key = re.search(r'name="notice" value="([^"]*)"', notices.text)[1]
    assert ada.ask("POST", "/my/notices/dismiss", {"csrf": notices.form("/my/notices/dismiss")["csrf"], "notice": key}).code == 303
    assert "taken away" not in ada.get("/my/notices").words
    told = json.loads(ada.get("/api/v1/me/rights").text)
    assert told["changed"] and told["reason"] == "Spam & <b>worse</b>." and told["may_appeal"] and not told["appealed"]
    assert take(town, "ada", reason="It was a mistake.").code == 303
    letter = town.box.wait_for("ada@example.org", "given back")
    assert "It was a mistake." in letter and "/appeal" not in letter


@pytest.fixture(scope="module")
def policy(town):
    boris = person(town, "boris")
    form = boris.get("/policies/new").form("/policies/new")
    sent = boris.ask("POST", "/policies/new", {**form, "act": "create", "name": "Clean rivers", "category": "1", "description": "x"})
    assert sent.code == 303, sent.words
    return int(re.match(r"/policies/(\d+)", sent.location)[1])


def test_forms_that_would_be_refused_are_not_shown(town, policy):
    cleo, path = person(town, "cleo"), f"/policies/{policy}-clean-rivers"
    forms = {"create": ["/policies/new"], "report": [f"/policies/{policy}/report"], "vote": ["/policies/new"]}
    cleo.ask("POST", f"/my/votes/{policy}", {**cleo.get(f"/my/votes/{policy}").form(f"/my/votes/{policy}"), "held": "3"})
    assert 'href="/policies/new">Propose a policy' in cleo.get("/").text and f'action="/my/votes/{policy}"' in cleo.get(path).text
    for right, words in (("create", "propose policies"), ("report", "report"), ("vote", "vote")):
        assert take(town, "cleo", right).code == 303
        sentence = f"right to {words} was taken from"
        for form in forms[right]:
            page = cleo.get(form)
            assert page.code == 403 and sentence in page.words and "<textarea" not in page.text and 'href="/appeal"' in page.text
        front, shown_policy, votes = cleo.get("/"), cleo.get(path), cleo.get("/my/votes")
        assert (sentence in front.words) == (right in ("create", "vote")) == ("Propose a policy" not in front.text)
        assert (sentence in shown_policy.words) == (right in ("report", "vote"))
        assert (f'{path}/report"' in shown_policy.text) == (right != "report")
        assert (f'action="/my/votes/{policy}"' in shown_policy.text) == ('action="/my/votes"' in votes.text) == (right != "vote")
        assert (sentence in votes.words) == (right == "vote") and "3" in votes.words and "Clean rivers" in votes.words
        one = cleo.get(f"/my/votes/{policy}")
        assert (sentence in one.words) == (right == "vote") == (f'action="/my/votes/{policy}"' not in one.text)
    assert take(town, "cleo").code == 303


def test_somebody_who_cannot_log_in_appeals_by_the_link_and_another_decides(town):
    dora = person(town, "dora")
    assert take(town, "dora", "log_in").code == 303
    assert dora.get("/my/votes").location.startswith("/login"), "the session is over"
    link = link_in(town.box.wait_for("dora@example.org", "taken away: the right to log in"), "/appeal")
    stranger = town.browser()
    assert stranger.get("/appeal").code == 422 and "log in, or open the link" in stranger.get("/appeal").words
    page = stranger.get(link)
    assert page.code == 200 and "Spam & <b>worse</b>." in page.words and "no-store" in page.headers["cache-control"]
    assert stranger.ask("POST", "/appeal", {**page.form("/appeal"), "words": ""}).code == 422
    assert stranger.ask("POST", "/appeal", {**page.form("/appeal"), "words": "It was not me."}).code == 303
    again = stranger.ask("POST", "/appeal", {**page.form("/appeal"), "words": "It was really not me."})
    assert again.code == 422 and "once" in again.words
    assert "You appealed" in stranger.get(link).words and "<textarea" not in stranger.get(link).text
    for wrong in (link[:-3] + "AAA", link[:40], "/appeal?token=" + "A" * 60):
        assert town.browser().get(wrong).code == 404
    report = re.search(r"/desk/reports/(\d+)", town.box.wait_for("judge@example.org", "a change of what an account may do"))[1]
    path = f"/desk/reports/{report}"
    queue = town.judge.get("/desk/reports")
    assert path in queue.text and "An appeal against a change of rights" in queue.words
    own = town.chief.ask("POST", f"{path}/dismiss", {**town.chief.get(path).form(f"{path}/dismiss"), "reason": "No."})
    assert own.code == 422 and "somebody else decides" in own.words
    assert town.chief.ask("POST", f"{path}/take", town.chief.get(path).form(f"{path}/take")).code == 422
    assert town.judge.ask("POST", f"{path}/dismiss", {**town.judge.get(path).form(f"{path}/dismiss"), "reason": "We saw the log."}).code == 303
    assert "We saw the log." in town.box.wait_for("dora@example.org", "left everything as it is")
    decided = stranger.get(link)
    assert "everything stays as it is" in decided.words and "We saw the log." in decided.words and "<textarea" not in decided.text


def test_an_appeal_that_is_granted_gives_the_right_back_and_the_next_change_can_be_appealed_again(town):
    emil = person(town, "emil")
    assert take(town, "emil", "vote").code == 303
    old = link_in(town.box.wait_for("emil@example.org", "taken away"), "/appeal")
    assert emil.send("/appeal", "/appeal", words="I only voted.").code == 303
    assert "with the moderators" in emil.get("/appeal?done=rights-appealed").words
    report = re.search(r"/desk/reports/(\d+)", town.box.wait_for("judge@example.org", "a change of what an account may do"))[1]
    case = town.judge.get(f"/desk/reports/{report}")
    link = re.search(r'href="(/admin/people/\d+\?report=\d+)"', case.text)[1]
    path = link.partition("?")[0]
    form = {name: value for name, value in town.judge.get(link).form(path).items() if name not in ("denied", "roles")}
    assert form["report"] == report
    assert town.judge.ask("POST", path, {**form, "reason": "You are right."}).code == 303
    assert shown(town, "emil")["denied"] == []
    assert "You are right." in town.box.wait_for("emil@example.org", "given back: the right to vote")
    assert "did something about it" in " ".join(town.box.wait_for("emil@example.org", "They looked at it").split())
    assert f'href="/desk/reports/{report}"' not in town.judge.get("/desk/reports").text
    assert emil.get(old).code == 422 and "newest e-mail" in emil.get(old).words
    assert take(town, "emil", "vote", "tag", reason="Again.").code == 303
    assert emil.send("/appeal", "/appeal", words="Why again?").code == 303


def test_whoever_is_alone_decides_and_nobody_decides_about_themselves(tmp_path):
    town = SitePeople(tmp_path)
    try:
        town.chief, fred = town.person("chief"), town.person("fred")
        cli(town, "user", "rights", "chief", "--role", "admin", "--seen", str(shown(town, "chief")["version"]))
        assert take(town, "fred", "tag").code == 303
        assert fred.send("/appeal", "/appeal", words="Please.").code == 303
        path = re.search(r"/desk/reports/\d+", town.chief.get("/desk/reports").text)[0]
        assert town.chief.ask("POST", f"{path}/dismiss", {**town.chief.get(path).form(f"{path}/dismiss"), "reason": "No."}).code == 303
        cli(town, "user", "rights", "fred", "--role", "moderate_policies", "--deny", "tag,report", "--reason", "Two things.", "--seen", str(shown(town, "fred")["version"]))
        assert fred.send("/appeal", "/appeal", words="I decide that.").code == 303
        path = re.search(r"/desk/reports/\d+", fred.get("/desk/reports").text)[0]
        own = fred.ask("POST", f"{path}/act", {**fred.get(path).form(f"{path}/dismiss"), "reason": "Granted."})
        assert own.code == 422 and "your own appeal" in own.words
    finally:
        town.server.stop()
        town.office.stop()


def test_what_is_told_goes_with_the_account(town):
    gina = person(town, "gina")
    assert take(town, "gina", "tag", reason="A secret reason.").code == 303
    town.box.wait_for("gina@example.org", "taken away")
    assert "A secret reason." in gina.get("/api/v1/me/rights").text
    number = shown(town, "gina")["id"]
    cli(town, "user", "delete", "gina")
    assert "A secret reason." not in town.chief.get(f"/admin/people/{number}").text
