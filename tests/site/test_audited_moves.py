"""What moderators and offices do to policies, on the real program: who may, what it does, and that a form sent twice is one act."""
import re
import time

import pytest

from browser import Browser
from program import Api, Client
from site_people import SitePeople

EVIL = "<script>alert(1)</script>"
ACTS = ("merge", "delete", "restore")


@pytest.fixture
def town(tmp_path):
    town = SitePeople(tmp_path / "town")
    yield town
    assert town.site_fixture.stop() == 0


@pytest.fixture
def mia(town):
    """A moderator."""
    return town.person("mia", "moderate_policies")


@pytest.fixture
def office(town):
    return town.person("office", "respond")


@pytest.fixture
def two(town):
    """Two policies of ada and bob, with 100 votes each, and 20 of cleo on the first."""
    first, second = town.policy("ada", "Clean rivers"), town.policy("bob", "Rivers that are clean")
    town.vote("cleo", first, 20)
    return first, second


def once_counted(look, is_counted, seconds=20):
    """What is seen when all that was saved is counted, which is a moment later."""
    end = time.monotonic() + seconds
    while not is_counted(seen := look()) and time.monotonic() < end:
        time.sleep(0.05)
    return seen


def merge_form(mia, first, second, **fields):
    page = mia.get(f"/policies/{first}/merge?other={second}")
    assert page.code == 200, page.words
    return mia.send(page, "/merge", **{"reason": "They say the same.", **fields})


# --- Who may -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("act", ACTS)
def test_only_moderators_act(town, mia, two, act):
    path = f"/policies/{two[0]}/{act}"
    for name in ("ada", "cleo", "office"):
        browser = town.person(name, "respond" if name == "office" else None)
        assert browser.ask("GET", path).code == 403, name
        page = browser.get(f"/policies/{two[0]}")
        assert f"/{act}\"" not in page.text
        token = page.form("/watch").fields["csrf"]
        fields = {"csrf": token, "reason": "x", "token": "0" * 31 + "1", "other": str(two[1])}
        assert browser.ask("POST", path, fields).code == 403, name
    visitor = town.visitor()
    assert visitor.ask("GET", path).headers["location"].startswith("/login?next=")
    assert mia.ask("POST", path, {"reason": "x", "token": "0" * 31 + "1", "other": str(two[1])}).code == 403, "without the form's token"
    assert mia.ask("GET", f"/policies/777/{act}").code == 404


def test_only_offices_answer(town, mia, office, two):
    path = f"/policies/{two[0]}/answer"
    for browser in (town.person("ada"), mia):
        assert browser.ask("GET", path).code == 403
        assert "/answer\"" not in browser.get(f"/policies/{two[0]}").text
    assert town.visitor().ask("GET", path).headers["location"].startswith("/login?next=")
    assert office.get(path).code == 200 and f"{two[0]}-clean-rivers/answer\"" in office.get(f"/policies/{two[0]}").text
    assert office.ask("POST", path, {"text": "x", "seen": "0" * 32}).code == 403
    assert office.ask("GET", "/policies/777/answer").code == 404


def test_the_page_of_a_policy_leads_moderators_to_their_acts(mia, two):
    text = mia.get(f"/policies/{two[0]}").text
    assert all(f"/policies/{two[0]}-clean-rivers/{act}\"" in text for act in ("merge", "delete", "retire"))
    assert "/restore\"" not in text


# --- Merging -----------------------------------------------------------------------------------------------------------


def test_the_other_policy_is_found_by_number_or_by_name(town, mia, two):
    first, second = two
    third = town.policy("dora", "Rivers for all")
    page = mia.get(f"/policies/{first}/merge")
    assert page.title == "Merge this policy with another" and "autofocus" in page.text
    page = mia.get(f"/policies/{first}/merge?other=rivers")
    assert page.code == 422 and "several policies have a name that begins like this" in page.words
    assert f"merge?other={second}\"" in page.text and f"merge?other={third}\"" in page.text
    for typed in (str(second), "rivers+THAT", "Rivers%20that%20are%20clean"):
        page = mia.get(f"/policies/{first}/merge?other={typed}")
        assert page.code == 200 and page.form("/merge").fields["other"] == str(second), typed
    for typed, words in (("zebra", "no policy has a name that begins like this"), (str(first), "must be another policy"), ("777", "must be an active policy")):
        page = mia.get(f"/policies/{first}/merge?other={typed}")
        assert page.code == 422 and words in page.words and f'value="{typed}"' in page.text
    page = mia.get(f"/policies/{first}/merge?other=" + "%3Cscript%3Ealert(1)%3C/script%3E")
    assert page.code == 422 and EVIL not in page.text


def test_the_preview_says_what_a_merge_does(town, mia, two):
    first, second = two
    town.policy("dora", "Trams")
    town.vote("eve", town.policy("dan", "Buses"), 70)
    town.vote("cleo", second, 10)
    # Votes, rank; votes in the window, rank; voters.
    lines = ("Clean rivers 120 2 120 2 2", "Rivers that are clean 110 3 110 3 2", "Together 230 1 230 1 3")
    words = once_counted(lambda: mia.get(f"/policies/{first}/merge?other={second}").words,
                         lambda words: all(line in words for line in lines))
    assert all(line in words for line in lines), words
    assert "1 voter holds votes on both" in words and "take those votes back in full" in words


def test_a_merge_into_the_other(town, mia, two):
    first, second = two
    page = merge_form(mia, first, second)
    assert page.path.startswith(f"/policies/{second}-") and "The policies are merged." in page.words and "220" in page.words
    gone = town.visitor().get(f"/policies/{first}")
    assert "This policy was merged" in gone.words and "They say the same." in gone.words
    cleo = town.person("cleo")
    page = cleo.get("/my/notices")
    assert "it was merged into another policy" in page.words and "They say the same." in page.words and "back in full" in page.words
    assert "another policy was merged into it" in town.person("bob").get("/my/notices").words
    assert "it was merged into another policy" in town.person("ada").get("/my/notices").words
    before = town.balance("cleo")
    town.vote("cleo", second, 0)
    assert town.balance("cleo") == before + 20, "what came by the merge comes back in full"


def test_a_merge_into_this_one(town, mia, two):
    first, second = two
    page = merge_form(mia, first, second, into="this")
    assert page.path.startswith(f"/policies/{first}-clean-rivers")
    assert "This policy was merged" in town.visitor().get(f"/policies/{second}").words


def test_a_merge_into_a_new_policy(town, mia, two):
    first, second = two
    page = merge_form(mia, first, second, into="new", name="Rivers, together")
    assert page.title == "Rivers, together" and "without an owner" in page.words and "220" in page.words
    for policy, name in ((first, "ada"), (second, "bob")):
        assert "Rivers, together" in town.visitor().get(f"/policies/{policy}").words
        before = town.balance(name)
        town.vote(name, int(re.match(r"/policies/(\d+)", page.path)[1]), 0)
        assert town.balance(name) == before + 100, "nobody chose the new one"
    page = merge_form(mia, town.policy("dan", "Trams"), town.policy("dora", "More trams"), into="new", name="x")
    assert page.code == 422 and 'href="#name"' in page.text and "has 3 to 120 characters" in page.words


@pytest.mark.parametrize("into", ["other", "this", "new"])
def test_a_merge_that_is_sent_twice_is_one(town, mia, two, into):
    first, second = two
    form = mia.get(f"/policies/{first}/merge?other={second}").form("/merge")
    fields = {**form.fields, "reason": "Twice.", "into": into}
    answers = [mia.ask("POST", form.action, fields) for _ in range(3)]
    assert [answer.code for answer in answers] == [303] * 3 and len({answer.headers["location"] for answer in answers}) == 1
    target = int(re.match(r"/policies/(\d+)", answers[0].headers["location"])[1])
    assert "220" in town.visitor().get(f"/policies/{target}").words
    policies = Client(Api(town.site_fixture.port)).get("policies?order=date").json["policies"]
    assert [policy["id"] for policy in policies] == [target], "no second one was made"
    assert log(town).count("policy-merge") == 1, "and it was noted once"


def log(town):
    """The words of the acts that are public, the newest first."""
    return [word.replace("policy-merge-new", "policy-merge") for word in town.site_fixture.tell("acts", "public").split()[1:]]


@pytest.mark.parametrize("fields, field", [({"reason": " "}, "reason"), ({"reason": "x" * 1001}, "reason"), ({"other": "777"}, None)])
def test_a_merge_that_cannot_be_is_refused_by_its_field(town, mia, two, fields, field):
    first, second = two
    page = mia.get(f"/policies/{first}/merge?other={second}")
    answer = mia.send(page, "/merge", **{"reason": f"typed {EVIL}", "name": EVIL, **fields})
    assert answer.code == (422 if field else 404)
    if field:
        assert f'href="#{field}"' in answer.text and "Nothing was saved" in answer.words
        assert EVIL not in answer.text and "&lt;script&gt;" in answer.text
    assert "Clean rivers" in town.visitor().get(f"/policies/{first}").title


def test_a_policy_that_went_meanwhile_is_not_merged(town, mia, two):
    first, second = two
    page = mia.get(f"/policies/{first}/merge?other={second}")
    town.site_fixture.tell("move", second, "retired")
    answer = mia.send(page, "/merge", reason="They say the same.")
    assert answer.code == 422 and "a policy that is retired cannot be merged" in answer.words
    assert mia.get(f"/policies/{second}/merge").code == 422


@pytest.mark.parametrize("truth", ["lost", "done"])
def test_a_merge_in_doubt_is_told_so_and_sent_again_is_one(town, mia, two, truth):
    first, second = two
    page = mia.get(f"/policies/{first}/merge?other={second}")
    town.site_fixture.tell("doubt", truth, "policies")
    answer = mia.send(page, "/merge", reason="They say the same.")
    town.site_fixture.tell("doubt", "none")
    assert answer.code == 503 and answer.title == "We do not know whether it was done"
    page = mia.send(answer, "/merge")
    assert page.code == 200 and page.path.startswith(f"/policies/{second}-") and "220" in page.words


# --- Deleting and restoring ---------------------------------------------------------------------------------------------


def delete(mia, policy, reason="It is abuse."):
    page = mia.get(f"/policies/{policy}/delete")
    assert page.code == 200
    return mia.send(page, "/delete", reason=reason)


def test_a_deleted_policy_is_hidden_at_once_and_its_people_are_told(town, mia, two):
    page = mia.get(f"/policies/{two[0]}/delete")
    assert page.title.startswith("Deleting hides this policy at once") and "14 days" in page.title and "120 votes" in page.words
    address = town.visitor().get(f"/policies/{two[0]}").path  # a page that is kept for everybody from now on
    page = delete(mia, two[0])
    assert "The policy is hidden." in page.words
    assert "Clean rivers" not in town.visitor().get(address).text
    visitor = town.visitor().get(f"/policies/{two[0]}")
    assert "Clean rivers" not in visitor.text and "It is abuse." in visitor.words
    for name in ("ada", "cleo"):
        words = town.person(name).get("/my/notices").words
        assert "it was hidden and waits to be deleted" in words and "It is abuse." in words
        assert ("you can appeal" in words) == (name == "ada")
    assert mia.get(f"/policies/{two[0]}/delete").code == 422


def test_a_hidden_policy_is_restored_as_it_was(town, mia, two):
    delete(mia, two[0])
    assert f"{two[0]}-clean-rivers/restore\"" in mia.get(f"/policies/{two[0]}").text
    page = mia.get(f"/policies/{two[0]}/restore")
    assert "It is abuse." in page.words and page.title == "Restoring brings this policy back as it was"
    page = mia.send(page, "/restore", reason="It is none.")
    assert "back as it was" in page.words and page.title == "Clean rivers"
    assert "120 votes" in town.visitor().get(f"/policies/{two[0]}").words
    words = town.person("ada").get("/my/notices").words
    assert "it is back" in words and "It is none." in words
    assert mia.get(f"/policies/{two[0]}/restore").code == 422
    assert log(town)[:2] == ["policy-restore", "policy-delete"]


def test_a_retired_policy_is_restored_as_retired_whatever_became_of_the_other(town, mia, two):
    ada = town.person("ada")
    page = ada.send(ada.get(f"/policies/{two[0]}/retire"), "/retire", other=str(two[1]), reason="over")
    assert page.code == 200
    delete(mia, two[0])
    town.site_fixture.tell("move", two[1], "retired")
    page = mia.send(mia.get(f"/policies/{two[0]}/restore"), "/restore", reason="It is none.")
    assert page.code == 200 and "This policy is retired." in page.words


@pytest.mark.parametrize("act", ["delete", "restore"])
def test_deleting_and_restoring_twice_is_once(town, mia, two, act):
    if act == "restore":
        delete(mia, two[0])
    form = mia.get(f"/policies/{two[0]}/{act}").form(f"/{act}")
    codes = [mia.ask("POST", form.action, {**form.fields, "reason": "Twice."}).code for _ in range(3)]
    assert codes == [303] * 3 and log(town).count(f"policy-{act}") == 1


@pytest.mark.parametrize("act", ["delete", "restore"])
@pytest.mark.parametrize("reason", ["", "x" * 1001])
def test_a_reason_is_asked_for(town, mia, two, act, reason):
    if act == "restore":
        delete(mia, two[0])
    page = mia.send(mia.get(f"/policies/{two[0]}/{act}"), f"/{act}", reason=reason)
    assert page.code == 422 and 'href="#reason"' in page.text and page.form(f"/{act}").fields["reason"] == reason


@pytest.mark.parametrize("truth", ["lost", "done"])
def test_a_deletion_in_doubt_is_told_so_and_sent_again_is_one(town, mia, two, truth):
    page = mia.get(f"/policies/{two[0]}/delete")
    town.site_fixture.tell("doubt", truth, "policies")
    answer = mia.send(page, "/delete", reason="It is abuse.")
    town.site_fixture.tell("doubt", "none")
    assert answer.code == 503 and "We do not know whether it was done" in answer.words
    page = mia.send(answer, "/delete")
    assert page.code == 200 and "The policy is hidden." in page.words


def test_the_owner_of_a_hidden_policy_appeals_once(town, mia, two):
    delete(mia, two[0])
    ada, path = town.person("ada"), f"/policies/{two[0]}"
    assert "Appeal" not in mia.get(path).words
    page = ada.get(path)
    assert "tell the moderators why" in page.words
    refused = ada.send(page, "/appeal", words=" ")
    assert refused.code in (400, 422)
    page = ada.send(page, "/appeal", words=f"It is none. {EVIL}")
    assert "Your appeal is with the moderators" in page.words and "You have appealed." in page.words
    assert "/appeal\"" not in page.text
    token = page.form("/watch").fields["csrf"]
    assert ada.ask("POST", f"{path}/appeal", {"csrf": token, "words": "Again."}).code == 422
    bob = town.person("bob")
    token = bob.get(path).form("/logout").fields["csrf"]
    assert bob.ask("POST", f"{path}/appeal", {"csrf": token, "words": "Mine."}).code in (403, 404)
    assert ada.ask("POST", f"{path}/appeal", {"words": "x"}).code == 403
    assert ada.ask("POST", f"/policies/{two[1]}/appeal", {"csrf": ada.get(path).form("/logout").fields["csrf"], "words": "x"}).code in (403, 404)


@pytest.mark.parametrize("act", ["delete", "merge"])
def test_the_report_that_led_to_an_act_is_closed_by_it(town, mia, two, act):
    report = town.site_fixture.tell("report", two[0]).split()[1]
    page = mia.get(f"/policies/{two[0]}/{act}?report={report}" + ("&other=%d" % two[1] if act == "merge" else ""))
    assert f"report {report}" in page.words and page.form(f"/{act}").fields["report"] == report
    assert mia.send(page, f"/{act}", reason="It is abuse.").code == 200
    stands = Client(Api(town.site_fixture.port), mia.cookies["session"]).get(f"moderation/reports/{report}").json
    assert (stands["state"], stands["reason"]) == ("acted", "It is abuse.")


def test_an_appeal_that_is_granted_is_closed(town, mia, two):
    delete(mia, two[0])
    ada = town.person("ada")
    ada.send(ada.get(f"/policies/{two[0]}"), "/appeal", words="It is none.")
    page = mia.get("/desk/reports")
    report = re.search(r"/desk/reports/(\d+)", page.text)[1]
    page = mia.send(mia.get(f"/policies/{two[0]}/restore?report={report}"), "/restore", reason="She is right.")
    assert page.code == 200
    stands = Client(Api(town.site_fixture.port), mia.cookies["session"]).get(f"moderation/reports/{report}").json
    assert (stands["kind"], stands["state"]) == ("appeal", "acted")


# --- Answers ---------------------------------------------------------------------------------------------------------------


def answer(office, policy, text, **fields):
    return office.send(office.get(f"/policies/{policy}/answer"), "/answer", text=text, **fields)


def run_answers(town):
    """The task that looks every minute, at once."""
    boss = town.person("boss", role="admin")
    program = Client(Api(town.site_fixture.port), boss.cookies["session"])

    def state():
        return next(one for one in program.get("admin/tasks").json["tasks"] if one["name"] == "answers")
    before, until = state(), time.monotonic() + 20
    time.sleep(1.1)  # its times are told in whole seconds
    assert boss.send(boss.get("/admin/tasks"), "/admin/tasks/answers").code == 200
    while state()["begun"] == before["begun"] or state()["state"] == "under way":
        assert time.monotonic() < until, "the task did not run"
        time.sleep(0.1)


def test_a_policy_that_reaches_the_threshold_is_due_on_the_desk_and_told_once(town):
    office, policy = town.person("office", role="respond"), town.policy("ada", "Clean rivers")
    town.policy("carl", "Too few votes")
    town.site_fixture.tell("past", "answer_threshold", 150)
    run_answers(town)
    assert "None is due." in office.get("/desk").words, "it has 100"
    town.vote("bob", policy, 50)
    run_answers(town)
    desk = office.get("/desk")
    assert "Clean rivers</a>, 150 votes" in desk.text and "Too few votes" not in desk.text
    assert Client(Api(town.site_fixture.port)).get(f"policies/{policy}/answer").json["due"] is True
    assert town.site_fixture.tell("letters", "answer-due").split() == ["done", "office@example.org"]
    town.vote("dora", policy, 10)
    run_answers(town)
    assert town.site_fixture.tell("letters", "answer-due").split() == ["done", "office@example.org"], "once"
    assert answer(office, policy, "We do it.", outcome="accepted").code == 200
    assert "None is due." in office.get("/desk").words
    assert Client(Api(town.site_fixture.port)).get(f"policies/{policy}/answer").json["due"] is False


def test_an_answer_is_on_the_page_of_the_policy_for_everybody(town, office, two):
    page = answer(office, two[0], f"We **do** it. {EVIL}", outcome="accepted")
    assert page.code == 200 and "The answer is published" in page.words
    visitor = town.visitor().get(f"/policies/{two[0]}")
    assert "Official answer" in visitor.words and "Accepted" in visitor.words and "<strong>do</strong>" in visitor.text
    assert EVIL not in visitor.text and "by office" in visitor.words
    assert "it has an official answer" in town.person("cleo").get("/my/notices").words
    feed = town.visitor().get("/feed.atom").text
    assert "Answered: Clean rivers" in feed and "Accepted" in feed


def test_an_answer_is_never_changed_silently(town, office, two):
    answer(office, two[0], "We look at it.", outcome="considering")
    assert "/answers\"" not in town.visitor().get(f"/policies/{two[0]}").text
    page = office.get(f"/policies/{two[0]}/answer")
    assert page.title == "Change the official answer" and page.form("/answer").fields["text"] == "We look at it."
    assert page.form("/answer").fields["outcome"] == "considering"
    answer(office, two[0], "We do it.", outcome="done")
    visitor = Browser(town.site_fixture.port).get(f"/policies/{two[0]}/answers")
    assert visitor.code == 200 and "We do it." in visitor.words and "We look at it." in visitor.words
    assert visitor.words.index("Answer 2: Done") < visitor.words.index("Answer 1: Under consideration")
    for _ in range(12):
        answer(office, two[0], f"Once more {_}.", outcome="done")
    page = town.visitor().get(f"/policies/{two[0]}/answers?before=5")
    assert "We look at it." in page.words and "Once more 9" not in page.words
    assert "answers?before=" in town.person("ada").get(f"/policies/{two[0]}/answers").text


def test_of_two_answers_at_once_one_stands_and_the_other_sees_both(town, office, two):
    other = town.person("other", "respond")
    form = other.get(f"/policies/{two[0]}/answer")
    answer(office, two[0], "We look at it.")
    page = other.send(form, "/answer", text="We do not.", outcome="rejected")
    assert page.code == 409 and "Somebody else has answered" in page.words and "We look at it." in page.words
    assert page.form("/answer").fields["text"] == "We do not."
    page = other.send(page, "/answer")
    assert page.code == 200 and "We do not." in page.words


@pytest.mark.parametrize("text", ["", "   ", "x" * 20001])
def test_an_answer_that_is_none_is_refused(town, office, two, text):
    page = answer(office, two[0], text)
    assert page.code == 422 and 'href="#text"' in page.text
    assert town.visitor().get(f"/policies/{two[0]}/answers").code == 404


def test_the_same_answer_again_is_one(town, office, two):
    form = office.get(f"/policies/{two[0]}/answer").form("/answer")
    for _ in range(3):
        assert office.ask("POST", form.action, {**form.fields, "text": "Yes."}).code == 303
    assert "Answer 1" in town.visitor().get(f"/policies/{two[0]}/answers").words
    assert "Answer 2" not in town.visitor().get(f"/policies/{two[0]}/answers").words


def test_hidden_and_gone_policies_have_no_answers_to_read(town, mia, office, two):
    answer(office, two[0], "Yes.")
    delete(mia, two[0])
    assert town.visitor().get(f"/policies/{two[0]}/answers").code == 404
    assert "Yes." not in town.visitor().get(f"/policies/{two[0]}").words
    assert office.get(f"/policies/{two[0]}/answer").code == 422
    town.site_fixture.tell("move", two[0], "deleted")
    assert town.visitor().get(f"/policies/{two[0]}/answers").code == 404
    assert "Clean rivers" not in town.visitor().get("/feed.atom").text


# --- Programs -----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def api(town):
    return Api(town.site_fixture.port)


def client(api, browser):
    program = Client(api, browser.cookies["session"])
    program.csrf = program.get("session").json["csrf"]
    return program


def test_programs_merge_delete_and_restore(town, mia, two, api):
    first, second = two
    program = client(api, mia)
    view = once_counted(lambda: program.get(f"moderation/policies/{first}/merge?other={second}").json,
                        lambda view: view["result"]["voters"] == 3)
    assert (view["policy"]["total"], view["other"]["total"], view["result"]["total"]) == (120, 100, 220)
    assert (view["policy"]["voters"], view["result"]["voters"], view["voters_of_both"], view["result"]["rank"]) == (2, 3, 0, 1)
    assert program.ask("POST", f"moderation/policies/{first}/delete", {"reason": " "}).code in (400, 422)
    gone = program.ask("POST", f"moderation/policies/{first}/delete", {"reason": "abuse"}, Idempotency_Key="one")
    assert gone.code == 200 and gone.json["state"] == "pending-deletion"
    again = program.ask("POST", f"moderation/policies/{first}/delete", {"reason": "abuse"}, Idempotency_Key="one")
    assert again.code == 200
    assert program.ask("POST", f"moderation/policies/{first}/delete", {"reason": "abuse"}).code == 422
    assert program.ask("POST", f"moderation/policies/{first}/restore", {"reason": "none"}).json["state"] == "active"
    body = {"other": second, "into": "new", "name": "Together", "reason": "the same"}
    merged = [program.ask("POST", f"moderation/policies/{first}/merge", body, Idempotency_Key="two") for _ in range(2)]
    assert [reply.code for reply in merged] == [200, 200] and merged[0].json["id"] == merged[1].json["id"]
    assert merged[0].json["name"] == "Together" and merged[0].json["owner"] is None
    assert program.get(f"policies/{first}").json["leads_to"] == merged[0].json["id"]
    assert program.ask("POST", f"moderation/policies/{first}/merge", body).code == 422
    assert program.get(f"moderation/policies/{first}/merge?other={first}").code == 400


def test_programs_answer(town, office, two, api):
    program, path = client(api, office), f"moderation/policies/{two[0]}/answer"
    public = Client(api)
    assert public.get(f"policies/{two[0]}/answer").json["answered"] is False
    assert public.get(f"policies/{two[0]}/answers").code == 404
    first = program.ask("PUT", path, {"text": "We look at it.", "outcome": "considering", "seen": "0" * 32})
    assert first.code == 200 and first.json["revision"] == 1
    assert program.ask("PUT", path, {"text": "Other.", "seen": "0" * 32}).code == 409
    assert program.ask("PUT", path, {"text": "Other.", "seen": "x" * 32}).code == 400
    second = program.ask("PUT", path, {"text": "We do it.", "outcome": "done", "seen": first.json["version"]})
    assert second.json["outcome"] == "done"
    assert [one["revision"] for one in Client(api).get(f"policies/{two[0]}/answers").json["answers"]] == [2, 1]
    assert Client(api).get("policies/777/answer").code == 404


def test_programs_of_others_may_not(town, two, api):
    program = client(api, town.person("ada"))
    for act in ACTS:
        assert program.ask("POST", f"moderation/policies/{two[0]}/{act}", {"reason": "x", **({"other": two[1]} if act == "merge" else {})}).code == 403
    assert program.get(f"moderation/policies/{two[0]}/merge?other={two[1]}").code == 403
    assert program.ask("PUT", f"moderation/policies/{two[0]}/answer", {"text": "x", "seen": "0" * 32}).code == 403
    assert Client(api).get(f"moderation/policies/{two[0]}/merge?other={two[1]}").code == 401


def test_programs_without_the_form_token_do_nothing(town, mia, two, api):
    program = Client(api, mia.cookies["session"])
    for act in ACTS:
        reply = program.ask("POST", f"moderation/policies/{two[0]}/{act}", {"reason": "x", **({"other": two[1]} if act == "merge" else {})})
        assert reply.fault()[:2] == (403, "csrf")
