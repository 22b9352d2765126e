"""Reports, the desk of moderators, featured policies and the public log, by the forms of the real site."""
import json
import re
import time

import pytest

from browser import Browser
from conftest import ostraka
from program import Api, Client
from site_people import SitePeople

SCRIPT = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    town = SitePeople(tmp_path_factory.mktemp("desk") / "town")
    town.person("mod", role="moderate_policies")
    town.person("mod2", role="moderate_policies")
    town.person("chooser", role="feature")
    yield town
    assert town.site_fixture.stop() == 0


def report(browser, policy, words, **fields):
    path = f"/policies/{policy}/report"
    return browser.send(browser.get(path), "/report", words=words, **fields)


def reports_of(town, policy, state="open"):
    """The numbers of the reports about a policy that the queue links to, oldest first."""
    page = town.person("mod").get(f"/desk/reports?state={state}")
    rows = re.findall(r'<li><div class="what"><a href="/desk/reports/(\d+)">(.*?)</li>', page.text, re.S)
    found = []
    for number, _ in rows:
        if f'"/policies/{policy}-' in town.person("mod").get(f"/desk/reports/{number}").text:
            found.append(int(number))
    return found


def a_report(town, owner, name):
    policy = town.policy(owner, name)
    reporter = f"{owner}reports"
    assert report(town.person(reporter), policy, "It is spam.").code == 200
    return policy, reports_of(town, policy)[0]


# ---- Reporting ----


def test_a_policy_page_leads_to_the_form_and_the_report_to_the_queue(town):
    policy = town.policy("ann", "Clean rivers")
    reader = town.person("ben")
    page = reader.get(f"/policies/{policy}")
    assert "/report\">Report it" in page.text
    told = report(reader, policy, "It is spam.")
    assert told.code == 200 and "Moderators will look at it" in told.words and told.title == "Clean rivers"
    number = reports_of(town, policy)[0]
    case = town.person("mod").get(f"/desk/reports/{number}")
    assert case.title == "Clean rivers" and "It is spam." in case.words and "by ben" in case.words


def test_a_visitor_reports_without_an_account_and_may_leave_an_address(town):
    policy = town.policy("cleo", "Quiet nights")
    visitor = town.visitor()
    assert visitor.get(f"/policies/{policy}").code == 200
    told = report(visitor, policy, "No.", email="visitor@example.org")
    assert told.code == 200 and "you are told what comes of it" in told.words
    case = town.person("mod").get(f"/desk/reports/{reports_of(town, policy)[0]}")
    assert "by a visitor" in case.words and "visitor@example.org" in case.words


def test_who_cannot_be_told_is_not_promised_it(town):
    policy = town.policy("nora", "Without an address")
    told = report(town.visitor(), policy, "No.")
    assert told.code == 200 and "Moderators will look at it" in told.words and "you are told" not in told.words


def test_thanks_are_told_also_on_a_page_that_is_kept_for_everybody(town):
    policy = town.policy("petra", "Kept for all")
    address = town.visitor().get(f"/policies/{policy}").path
    for path, done, words in ((address, "reported", "Moderators will look at it"), ("/", "logged-out", "You are logged out")):
        for _ in range(2):
            assert words not in town.visitor().get(path).words
            assert words in town.visitor().get(f"{path}?done={done}").words


def test_trouble_with_logging_in_needs_an_address_and_no_account(town):
    visitor = town.visitor()
    assert "/trouble" in visitor.get("/login").text
    page = visitor.get("/trouble")
    refused = visitor.send(page, "/trouble", words="No letter came.")
    assert refused.code == 422 and "email" in refused.text and "No letter came." in refused.text
    assert 'aria-invalid="true"' in refused.text and 'href="#email"' in refused.text
    told = visitor.send(refused, "/trouble", email="lost@example.org")
    assert told.code == 200 and "We answer to the address" in told.words
    queue = town.person("mod").get("/desk/reports")
    assert "Trouble with logging in" in queue.words
    assert "lost@example.org" not in town.visitor().get("/moderation").text


def test_who_manages_people_works_off_trouble_and_sees_no_other_report(town):
    _, number = a_report(town, "peg", "Hidden from people")
    visitor, people, mod = town.visitor(), town.person("people", role="edit_users"), town.person("mod")
    assert visitor.send(visitor.get("/trouble"), "/trouble", words="My letter is lost.", email="lost2@example.org").code == 200
    assert "/desk" in people.get("/my/votes").text
    queue = people.get("/desk/reports")
    assert "Trouble with logging in" in queue.words and "Hidden from people" not in queue.words
    assert "Hidden from people" in mod.get("/desk/reports").words
    trouble = max(int(found) for found in re.findall(r"/desk/reports/(\d+)", queue.text))
    assert people.get(f"/desk/reports/{number}").code == 403 and mod.get(f"/desk/reports/{number}").code == 200
    assert [people.ask("GET", f"/api/v1/moderation/reports/{report}").code for report in (number, trouble)] == [403, 200]
    page = people.get(f"/desk/reports/{trouble}")
    assert "lost2@example.org" in page.text
    fields = {**page.form("/dismiss").fields, "reason": "Here is a new one."}
    assert people.ask("POST", f"/desk/reports/{number}/dismiss", fields).code == 403
    assert "dismissed" in people.send(page, "/dismiss", reason="Here is a new one.").words


@pytest.mark.parametrize("words,rule", [("", "must say something"), ("  \n ", "must say something"), ("x" * 2001, "2000")], ids=["none", "blanks", "long"])
def test_words_have_bounds_and_come_back(town, words, rule):
    policy = town.policy(f"bounds{len(words)}", f"Bounds {len(words)}")
    answer = report(town.person("ben"), policy, words)
    assert answer.code == 422 and rule in answer.words and 'href="#words"' in answer.text
    assert len(words) < 100 or words in answer.text
    assert reports_of(town, policy) == []


def test_one_open_report_of_one_person(town):
    policy, _ = a_report(town, "dora", "Twice told")
    again = report(town.person("dorareports"), policy, "Still spam.")
    assert again.code == 422 and "reported this already" in again.words


def test_the_right_to_report_can_be_taken(town):
    policy = town.policy("emil", "Right away")
    browser, path = town.person("silenced"), f"/policies/{policy}/report"
    page = browser.get(path)
    town.site_fixture.tell("deny", voter_id(town, "silenced"), "report")
    assert browser.send(page, "/report", words="Spam.").code == 403
    again = browser.get(path)
    assert again.code == 403 and "the right to report was taken" in again.words and "<textarea" not in again.text


def voter_id(town, name):
    client = Client(Api(town.site_fixture.port), secret=town.person(name).cookies["session"])
    return client.get("me").json["id"]


def test_what_is_not_there_or_hidden_cannot_be_reported(town):
    policy = town.policy("fred", "To be hidden")
    assert town.person("ben").get("/policies/999999/report").code == 404
    town.site_fixture.tell("move", policy, "pending-deletion")
    assert town.person("ben").get(f"/policies/{policy}/report").code == 404


def test_reports_of_one_account_are_throttled(town):
    browser, codes = town.person("eager"), []
    for number in range(12):
        policy = town.policy(f"busy{number}", f"Busy {number}")
        codes.append(report(browser, policy, "Spam.").code)
    assert codes[:10] == [200] * 10 and codes[10:] == [429, 429]


def test_reports_from_one_address_are_throttled(serve):
    server = serve("--trusted-proxies", "127.0.0.1")

    codes = []
    for _ in range(11):
        browser = Browser(server.port)  # a new visitor each time, from the same address
        browser.headers = {"X-Forwarded-For": "203.0.113.9"}
        form = browser.ask("GET", "/trouble").form("/trouble")
        codes.append(browser.ask("POST", "/trouble", {**form.fields, "words": "Help.", "email": "a@example.org"}).code)
    assert codes == [303] * 10 + [429]


# ---- Working off ----


def test_of_two_moderators_one_has_it_and_the_other_is_told_who(town):
    _, number = a_report(town, "gina", "Two moderators")
    path = f"/desk/reports/{number}"
    first, second = town.person("mod").get(path), town.person("mod2").get(path)
    taken = town.person("mod").send(first, "/take")
    assert taken.code == 200 and "You took it on" in taken.words
    late = town.person("mod2").send(second, "/take")
    assert late.code == 409 and "mod has taken this report" in late.words
    assert 'action="/desk/reports/%d/dismiss"' % number not in late.text
    fields = {**second.form("/dismiss").fields, "reason": "No."}
    assert town.person("mod2").ask("POST", f"{path}/dismiss", fields).code == 409
    back = town.person("mod").send(town.person("mod").get(path), "/return")
    assert back.code == 200 and "back in the queue" in back.words
    assert town.person("mod2").send(town.person("mod2").get(path), "/take").code == 200


def test_dismissing_needs_a_reason_and_stands_in_the_public_log_without_names(town):
    policy, number = a_report(town, "hal", "Dismissed")
    moderator, path = town.person("mod"), f"/desk/reports/{number}"
    refused = moderator.send(moderator.get(path), "/dismiss", reason=" ")
    assert refused.code == 422 and "say why" in refused.words and 'href="#reason"' in refused.text
    long = moderator.send(moderator.get(path), "/dismiss", reason="y" * 1001)
    assert long.code == 422 and "1000 characters" in long.words and "y" * 1001 in long.text
    done = moderator.send(moderator.get(path), "/dismiss", reason="It is fine.")
    assert done.code == 200 and "dismissed" in done.words
    assert "dismissed it" in moderator.get(path).words
    log = town.visitor().get(f"/moderation?policy={policy}")
    assert "A report about a policy was dismissed" in log.words and "It is fine." in log.words and "Dismissed" in log.words
    assert "mod" not in log.words.replace("moderators", "").replace("Moderators", "").replace("moderation", "").replace("Moderation", "")
    assert "halreports" not in log.words


def test_closing_as_acted_is_not_in_the_public_log_and_can_take_the_others_along(town):
    policy, number = a_report(town, "ida", "Many reports")
    for name in ("one", "two"):
        assert report(town.person(f"ida{name}"), policy, f"Spam, says {name}.").code == 200
    queue = town.person("mod").get("/desk/reports")
    assert "3 reports" in queue.words
    page = town.person("mod").get(f"/desk/reports/{number}")
    assert "Also the 2 others" in page.words and "Spam, says two." in page.words
    form = page.form("/dismiss")
    done = town.person("mod").ask("POST", f"/desk/reports/{number}/act", {**form.fields, "reason": "Hidden.", "all": "on"})
    assert done.code == 303
    assert reports_of(town, policy) == [] and len(reports_of(town, policy, "acted")) == 1
    assert "3 reports" in town.person("mod").get("/desk/reports?state=acted").words
    assert "Nothing was done" in town.visitor().get(f"/moderation?policy={policy}").words


def test_a_report_that_is_not_there(town):
    assert town.person("mod").get("/desk/reports/999999").code == 404


def test_the_desk_is_for_roles(town):
    for path in ("/desk", "/desk/reports", "/desk/reports/1", "/desk/featured"):
        away = town.visitor().ask("GET", path)
        assert away.code == 303 and away.headers["location"].startswith("/login?next=")
        assert town.person("ben").get(path).code == 403
    assert town.person("chooser").get("/desk/reports").code == 403 and town.person("mod").get("/desk/featured").code == 403
    assert ">Desk</a>" in town.person("mod").get("/about").text and ">Desk</a>" in town.person("chooser").get("/about").text
    assert ">Desk</a>" not in town.person("ben").get("/about").text
    assert "Reports" in town.person("mod").get("/desk").words and "Featured" not in town.person("mod").get("/desk").words


def test_every_form_needs_its_token(town):
    policy, number = a_report(town, "jan", "Forged")
    mod, chooser = town.person("mod"), town.person("chooser")
    for browser, path, fields in [(mod, f"/desk/reports/{number}/take", {}), (mod, f"/desk/reports/{number}/return", {}),
                                  (mod, f"/desk/reports/{number}/dismiss", {"reason": "x"}),
                                  (mod, f"/desk/reports/{number}/act", {"reason": "x"}),
                                  (chooser, "/desk/featured", {"policy": policy}),
                                  (chooser, f"/desk/featured/{policy}/remove", {}),
                                  (town.person("ben"), f"/policies/{policy}/report", {"words": "x"}),
                                  (town.visitor(), "/trouble", {"words": "x", "email": "a@example.org"})]:
        assert browser.ask("POST", path, fields).code == 403, path
        assert browser.ask("POST", path, {**fields, "csrf": "0" * 32}).code == 403, path
    assert reports_of(town, policy) == [number]


def test_nothing_that_people_write_becomes_markup(town):
    policy = town.policy("kim", f"Bold {SCRIPT}")
    visitor = town.visitor()
    assert report(visitor, policy, f"words {SCRIPT}", email="").code == 200
    mod = town.person("mod")
    number = reports_of(town, policy)[0]
    pages = [mod.get("/desk/reports"), mod.get(f"/desk/reports/{number}"), visitor.get(f"/policies/{policy}/report")]
    pages.append(mod.send(mod.get(f"/desk/reports/{number}"), "/dismiss", reason=f"{SCRIPT}" * 100))
    assert pages[-1].code == 422
    assert mod.send(mod.get(f"/desk/reports/{number}"), "/dismiss", reason=f"reason {SCRIPT}").code == 200
    pages += [mod.get(f"/desk/reports/{number}"), visitor.get("/moderation"), visitor.get(f"/moderation?policy={policy}")]
    chooser = town.person("chooser")
    assert chooser.send(chooser.get("/desk/featured"), "/desk/featured", policy=str(policy), reason=SCRIPT).code == 200
    pages += [chooser.get("/desk/featured"), visitor.get("/"), visitor.get("/moderation")]
    pages.append(chooser.send(chooser.get("/desk/featured"), "/desk/featured", policy=SCRIPT, place=SCRIPT))
    assert pages[-1].code == 422
    for page in pages:
        assert SCRIPT not in page.text and page.code < 500, page.path
    assert chooser.send(chooser.get("/desk/featured"), f"/{policy}/remove").code == 200


def test_an_outcome_that_is_not_known_is_said_to_be_so(town):
    policy = town.policy("lea", "In doubt")
    page = town.person("ben2").get(f"/policies/{policy}/report")
    town.site_fixture.tell("doubt", "lost", "reports")
    try:
        answer = town.person("ben2").send(page, "/report", words="Spam.")
        assert answer.code == 503 and answer.title == "We do not know whether it was done"
    finally:
        town.site_fixture.tell("doubt", "none")
    again = town.person("ben2").send(answer, "/report")
    assert again.code == 200 and "Moderators will look" in again.words
    number = reports_of(town, policy)[0]
    mod = town.person("mod")
    page = mod.get(f"/desk/reports/{number}")
    town.site_fixture.tell("doubt", "done", "reports")
    try:
        answer = mod.send(page, "/take")
        assert answer.code in (200, 503)
    finally:
        town.site_fixture.tell("doubt", "none")
    assert mod.send(mod.get(f"/desk/reports/{number}"), "/return").code == 200


# ---- Featured ----


def test_featured_policies_stand_on_the_front_page_in_their_order(town):
    chooser = town.person("chooser")
    first, second = town.policy("mia", "Feature first"), town.policy("ned", "Feature second")
    page = chooser.send(chooser.get(f"/desk/featured?policy={first}"), "/desk/featured")
    assert page.code == 200 and "Feature first" in page.words
    assert chooser.send(page, "/desk/featured", policy="Feature sec", place="1", reason="It is new.").code == 200
    front = town.visitor().get("/")
    until = time.time() + 5
    while "Feature second" not in front.text and time.time() < until:  # what visitors see is a second old
        time.sleep(0.2)
        front = town.visitor().get("/")
    section = re.search(r"<h2>Featured</h2>(.*?)</section>", front.text, re.S)[1]
    assert section.index("Feature second") < section.index("Feature first")
    log = town.visitor().get(f"/moderation?policy={second}")
    assert "featured on the front page" in log.words and "It is new." in log.words
    town.site_fixture.tell("move", second, "pending-deletion")
    listed = chooser.get("/desk/featured")
    assert "Cannot be seen any more" in listed.words and "Feature second" not in listed.words
    for policy in (first, second):
        assert chooser.send(chooser.get("/desk/featured"), f"/{policy}/remove").code == 200
    assert "No policy is featured" in chooser.get("/desk/featured").words


@pytest.mark.parametrize("fields,rule", [({"policy": ""}, "number, or the beginning"), ({"policy": "zzzz"}, "no policy has a name"),
                                         ({"policy": "999999"}, "no such policy"), ({"place": "13"}, "from 1 to 12"),
                                         ({"place": "x"}, "from 1 to 12"), ({"from": "tomorrow"}, "must be a time"),
                                         ({"until": "2020-01-01"}, "after the beginning"),
                                         ({"from": "2999-01-02", "until": "2999-01-01"}, "after the beginning")])
def test_what_cannot_be_featured_comes_back_with_the_rule(town, fields, rule):
    chooser = town.person("chooser")
    policy = town.policy("otto", "Refused feature") if not hasattr(town, "refused") else town.refused
    town.refused = policy
    page = chooser.send(chooser.get("/desk/featured"), "/desk/featured", **{"policy": str(policy), **fields})
    assert page.code == 422 and rule in page.words, page.words
    for value in fields.values():
        assert f'value="{value}"' in page.text


# ---- Programs ----


def test_the_interface_does_the_same(town):
    api = Api(town.site_fixture.port)
    policy = town.policy("pia", "By program")

    def client(name):
        one = Client(api, secret=town.person(name).cookies["session"])
        one.csrf = one.get("session").json["csrf"]
        return one

    voter, mod, mod2, chooser = client("quin"), client("mod"), client("mod2"), client("chooser")
    assert voter.ask("POST", "reports", {"policy": policy, "words": "Spam."}).code == 201
    assert voter.ask("POST", "reports", {"policy": 999999, "words": "Spam."}).code == 404
    assert voter.ask("POST", "reports", {"policy": policy, "words": "x" * 2001}).code == 400
    assert voter.get("moderation/reports").code == 403
    listed = [one for one in mod.get("moderation/reports").json["reports"] if one["policy"] == policy]
    assert len(listed) == 1 and listed[0]["words"] == "Spam." and listed[0]["state"] == "open" and listed[0]["moderator"] is None
    number = listed[0]["id"]
    assert mod.ask("POST", f"moderation/reports/{number}/take").json["state"] == "taken"
    late = mod2.ask("POST", f"moderation/reports/{number}/take")
    assert late.code == 409 and "mod has taken this report" in late.fault()[2]
    assert mod.ask("POST", f"moderation/reports/{number}/return").json["state"] == "open"
    assert mod.ask("POST", f"moderation/reports/{number}/dismiss", {"reason": ""}).code == 400
    closed = mod.ask("POST", f"moderation/reports/{number}/dismiss", {"reason": "No."}).json
    assert closed["state"] == "dismissed" and closed["reason"] == "No." and closed["moderator_name"] == "mod"
    assert mod.get(f"moderation/reports/{number}").json == closed
    acts = Client(api).get(f"moderation/acts?policy={policy}").json["acts"]
    assert [act["kind"] for act in acts] == ["report-dismiss"] and acts[0]["outcome"] == "done" and acts[0]["reason"] == "No."
    assert mod.ask("PUT", f"featured/{policy}", {}).code == 403
    shown = chooser.ask("PUT", f"featured/{policy}", {"place": 1, "until": "2999-01-01T00:00:00Z"}).json["featured"]
    assert shown[0]["policy"] == policy and shown[0]["shown"] and shown[0]["until"].startswith("2999-01-01")
    assert chooser.ask("PUT", f"featured/{policy}", {"until": "2001-01-01"}).fault()[:2] == (400, "until")
    assert [one["policy"] for one in chooser.ask("DELETE", f"featured/{policy}").json["featured"]].count(policy) == 0


# ---- Letters and the command line ----


def site(data):
    def call(*words):
        done = ostraka(*words, "--json", "--data", data)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)
    return call


def letters(call, kind, count):
    """The letters of a kind, when there are so many."""
    until = time.time() + 20
    while True:
        found = [one for one in call("mail", "list")["messages"] if one["kind"] == kind]
        if len(found) >= count or time.time() > until:
            return found
        time.sleep(0.3)


def test_moderators_and_who_reported_get_letters_once(serve):
    server = serve(env={"OSTRAKA_MAIL_OUTBOX": "on"})
    call = site(server.data)
    for name, flags in (("owner", []), ("mod", ["--role", "moderate_policies"]), ("mod2", ["--role", "moderate_policies"])):
        call("user", "add", name, "--email", f"{name}@example.org", "--confirmed", *flags)
    policy = call("policy", "create", "--as", "owner", "--name", "Told of", "--description", "x", "--category", "Health")["policy"]
    visitor = Browser(server.port)
    assert report(visitor, policy, "It is spam.", email="visitor@example.org").code == 200
    sent = letters(call, "report", 2)
    assert sorted(one["to"] for one in sent) == ["mod2@example.org", "mod@example.org"]
    number = call("report", "list")["reports"][0]["id"]
    assert call("report", "take", str(number), "--as", "mod")["state"] == "taken"
    late = ostraka("report", "take", str(number), "--as", "mod2", "--data", server.data)
    assert late.returncode == 1 and "mod has taken this report" in late.stderr
    without = ostraka("report", "dismiss", str(number), "--as", "mod", "--data", server.data)
    assert without.returncode == 1 and "reason: say why" in without.stderr
    assert call("report", "dismiss", str(number), "--as", "mod", "--reason", "It is fine.")["state"] == "dismissed"
    answers = letters(call, "report-dismissed", 1)
    assert [one["to"] for one in answers] == ["visitor@example.org"]
    time.sleep(4)  # another turn of the post
    assert len(letters(call, "report", 2)) == 2 and len(letters(call, "report-dismissed", 1)) == 1
    acts = call("audit", "list", "--policy", str(policy))["acts"]
    assert [act["kind"] for act in acts] == ["report-dismiss"] and acts[0]["origin"] == "command line" and acts[0]["reason"] == "It is fine."
    assert call("audit", "list", "--policy", str(policy), "--public")["acts"][0]["actor"] is None
    assert call("audit", "list", "--who", "mod")["acts"][0]["kind"] == "report-dismiss"
    assert [one["policy"] for one in call("feature", "set", str(policy), "--place", "1")["featured"]] == [policy]
    assert call("feature", "list")["featured"][0]["shown"] is True
    assert call("feature", "remove", str(policy)) == {"featured": []}


def test_a_report_whose_e_mails_a_crash_left_out_is_told_by_the_next_start(serve):
    server = serve(env={"OSTRAKA_MAIL_OUTBOX": "on"})
    call = site(server.data)
    for name, flags in (("owner", []), ("mod", ["--role", "moderate_policies"])):
        call("user", "add", name, "--email", f"{name}@example.org", "--confirmed", *flags)
    policy = call("policy", "create", "--as", "owner", "--name", "Not told of", "--description", "x", "--category", "Health")["policy"]
    assert server.stop() == 0
    # A command by itself has no tasks: it ends between the report and its e-mails, as a crash may.
    assert call("report", "policy", str(policy), "--words", "It is spam.", "--email", "visitor@example.org") == {"done": True}
    number = call("report", "list")["reports"][0]["id"]
    assert call("report", "act", str(number), "--reason", "So it is.")["state"] == "acted"
    serve(data=server.data, env={"OSTRAKA_MAIL_OUTBOX": "on"})
    assert [one["to"] for one in letters(call, "report-acted", 1)] == ["visitor@example.org"]
    assert [one["to"] for one in letters(call, "report", 1)] == ["mod@example.org"]


def test_a_policy_that_a_command_hides_is_hidden_at_once_and_its_owner_gets_an_e_mail(serve):
    server = serve(env={"OSTRAKA_MAIL_OUTBOX": "on"})
    call = site(server.data)
    call("user", "add", "owner", "--email", "owner@example.org", "--confirmed")
    policy = call("policy", "create", "--as", "owner", "--name", "Hidden soon", "--description", "x", "--category", "Health")["policy"]
    visitor = Browser(server.port)
    page = visitor.get(f"/policies/{policy}")  # kept in memory from now on
    assert report(visitor, policy, "It is spam.").code == 200
    number = call("report", "list")["reports"][0]["id"]
    assert "Hidden soon" in page.text and "Hidden soon" in visitor.get("/").text
    hidden = call("policy", "delete", str(policy), "--reason", "It is abuse.", "--report", str(number))
    assert "Hidden soon" not in visitor.get(page.path).text and "Hidden soon" not in visitor.get("/").text
    assert hidden["state"] == "pending-deletion" and call("report", "show", str(number))["state"] == "acted"
    assert [one["to"] for one in letters(call, "policy-hidden", 1)] == ["owner@example.org"]
    assert call("policy", "appeal", str(policy))["state"] == "active"
    assert "Hidden soon" in visitor.get(page.path).text


def test_an_act_that_a_report_led_to_closes_it_and_the_others_and_is_noted(town):
    policy, number = a_report(town, "rosa", "Acted upon")
    assert report(town.person("rosatoo"), policy, "Spam, I say.").code == 200
    mod = town.person("mod")
    page = mod.get(f"/desk/reports/{number}")
    link = re.search(r'href="(/policies/[^"]*/delete\?report=\d+)"', page.text)[1]
    done = mod.send(mod.get(link), "/delete", reason="It is spam indeed.")
    assert done.code == 200
    assert reports_of(town, policy) == []
    closed = mod.get(f"/desk/reports/{number}").words
    assert "closed it as acted upon" in closed and "It is spam indeed." in closed
    log = town.visitor().get(f"/moderation?policy={policy}").words
    assert "A policy was hidden, to be deleted" in log and "It is spam indeed." in log and "Acted upon" not in log
