"""Pages of one policy, on the real program: what they show, to whom, and what forms do."""
import json
import re

import pytest

from browser import Browser
from conftest import Serve, fill_demo
from site_people import SitePeople

EVIL = "<script>alert(1)</script>"


@pytest.fixture
def town(tmp_path):
    town = SitePeople(tmp_path / "town")
    yield town
    assert town.site_fixture.stop() == 0


@pytest.fixture
def ada(town):
    return town.person("ada")


@pytest.fixture(scope="module")
def standing(tmp_path_factory):
    """An owner and her policy, for tests in which nothing is changed."""
    town = SitePeople(tmp_path_factory.mktemp("standing") / "town")
    yield town.person("ada"), town.policy("ada", "Clean rivers")
    assert town.site_fixture.stop() == 0


# --- The page ----------------------------------------------------------------------------------------------------------


def test_a_policy_shows_its_text_and_place(town, ada):
    policy = town.policy("ada", "Clean rivers", description="Fish **live**.", rationale="Because.")
    page = town.visitor().get(f"/policies/{policy}")
    assert page.code == 200 and page.path == f"/policies/{policy}-clean-rivers" and page.title == "Clean rivers"
    assert "<strong>live</strong>" in page.text and "Because." in page.words and "by ada" in page.words
    assert "Rank 1" in page.words and "100 votes" in page.words and "It leads." in page.words
    assert "Log in to put pollies" in page.words and 'aria-label="Votes by day"' in page.text
    assert f'data-topic="policy/{policy}"' in page.text and f'clean-rivers"' in re.search("<link rel=.canonical.*", page.text)[0]


def test_other_words_in_the_address_lead_to_the_right_ones(town, ada):
    policy = town.policy("ada", "Clean rivers")
    answer = town.visitor().ask("GET", f"/policies/{policy}-old-name?held=3")
    assert answer.code == 308 and answer.headers["location"] == f"/policies/{policy}-clean-rivers?held=3"


@pytest.mark.parametrize("name, canonical, others", [
    ("Clean rivers", "-clean-rivers", ["", "-", "-CLEAN-RIVERS", "-clean-rivers-", "-clean_rivers", "-clean%20rivers", "-%2F", "-%00x"]),
    ("¿?! …", "", ["-x", "-%C2%BF", "--"]),
    ("Été à l’eau", "-ete-a-l-eau", ["-%C3%A9t%C3%A9", "-ETE-A-L-EAU"]),
    ("Чистые реки", None, ["-%d1%87%d0%b8%d1%81%d1%82%d1%8b%d0%b5-%d1%80%d0%b5%d0%ba%d0%b8x", "", "-x"]),
    ("a" * 119, "-" + "a" * 59, ["-" + "a" * 60, "-a"]),
    ("12-13", "-12-13", ["-12", "-13-12"]),
])
def test_no_address_of_a_policy_leads_round_in_a_circle(town, ada, name, canonical, others):
    policy = town.policy("ada", name)
    for words in others:
        answer = town.visitor().ask("GET", f"/policies/{policy}{words}?held=3")
        if answer.code != 308:
            assert answer.code == (400 if "%00" in words else 200), words
            continue
        assert "no-store" in answer.headers["cache-control"], "a kept one would lead in a circle after the name has changed back"
        location = answer.headers["location"]
        assert location.endswith("?held=3") and canonical in (None, location[len(f"/policies/{policy}"):-7])
        assert town.visitor().ask("GET", location).code == 200, "one step, and no more"
        lower = re.sub("%[0-9A-F]{2}", lambda found: found[0].lower(), location)
        assert town.visitor().ask("GET", lower).code == 200, "also when somebody rewrites the letters on the way"
    assert town.visitor().ask("GET", f"/policies/{policy}{'' if canonical is None else canonical}").code in (200, 308)


def test_letters_of_other_scripts_stand_encoded_in_addresses(town, ada):
    policy = town.policy("ada", "Чистые реки")
    answer = town.visitor().ask("GET", f"/policies/{policy}")
    assert answer.headers["location"].startswith(f"/policies/{policy}-%D1%87%D0%B8")
    assert town.visitor().get(f"/policies/{policy}").code == 200


def test_what_is_not_there_is_told(town):
    visitor = town.visitor()
    assert visitor.get("/policies/77").code == 404
    for below in ("history", "history.csv", "history.json", "revisions", "revisions/1"):
        assert visitor.get(f"/policies/77/{below}").code == 404, below


def test_neighbours_and_what_is_needed_to_beat_them(town, ada):
    rivers, trams = town.policy("ada", "Clean rivers"), None
    bob = town.person("bob")
    trams = town.policy("bob", "More trams")
    cleo = town.person("cleo")
    town.vote("cleo", rivers, 20)
    page = cleo.get(f"/policies/{trams}")
    assert "21 votes needed to beat Clean rivers" in page.words
    assert f'href="/policies/{trams}-more-trams?held=21#vote" data-fill="21"' in page.text
    assert cleo.get(f"/policies/{trams}?held=21").form(f"/my/votes/{trams}").fields["held"] == "21"
    assert bob.get(f"/policies/{trams}").form(f"/my/votes/{trams}").fields["held"] == "100"
    assert "data-fill" not in bob.get(f"/policies/{trams}").text  # nothing left to put on it


def test_what_somebody_holds_is_seen_by_nobody_else(town, ada):
    policy = town.policy("ada", "Clean rivers")
    assert "You hold 100 here" in ada.get(f"/policies/{policy}").words
    assert "You hold 0 here" in town.person("bob").get(f"/policies/{policy}").words
    assert "You hold" not in town.visitor().get(f"/policies/{policy}").words
    page = ada.get(f"/policies/{policy}")
    assert page.headers["cache-control"] == "no-store"


def test_nothing_that_people_write_becomes_markup(town, ada):
    page = ada.send(ada.get("/policies/new"), "/policies/new", act="preview", name=f"Name {EVIL}", category="1",
                    description=f"A {EVIL} b", rationale=f"{EVIL}", links="https://example.org/?<script>")
    assert page.code == 422 and "<script>alert" not in page.text
    page = ada.send(page, "/policies/new", act="create", links="https://example.org/%3Cscript%3E")
    assert page.code == 200 and "<script>alert" not in page.text and "&lt;script&gt;" in page.text
    policy = re.search(r"/policies/(\d+)", page.path)[1]
    for below in ("", "/revisions", "/revisions/1", "/edit", "/retire", "/history"):
        assert "<script>alert" not in ada.get(f"/policies/{policy}{below}").text, below


# --- Watching ----------------------------------------------------------------------------------------------------------


def test_watching_and_not(town, ada):
    policy = town.policy("ada", "Clean rivers")
    bob = town.person("bob")
    page = bob.send(bob.get(f"/policies/{policy}"), "/watch")
    assert "You watch this policy now." in page.words and "Stop watching" in page.words
    page = bob.send(page, "/unwatch")
    assert "You no longer watch this policy." in page.words
    assert town.visitor().ask("POST", f"/policies/{policy}/watch", {}).code == 401
    assert bob.ask("POST", f"/policies/{policy}/watch", {}).code == 403  # without the form's token


# --- Editing -----------------------------------------------------------------------------------------------------------


def test_an_edit_is_looked_at_and_saved(town, ada):
    policy = town.policy("ada", "Clean rivers", description="Old words here.")
    form = ada.get(f"/policies/{policy}/edit")
    look = ada.send(form, "/edit", act="preview", description="New words here.")
    assert look.code == 200 and "<del>Old</del><ins>New</ins>" in look.text
    assert "New words" not in ada.get(f"/policies/{policy}").words
    page = ada.send(look, "/edit", act="save", name="Cleaner rivers", links="https://example.org/a\r\n\r\nhttps://example.org/b")
    assert page.path == f"/policies/{policy}-cleaner-rivers?done=edited" and "The new text is published" in page.words
    assert page.text.count("https://example.org/") == 4 and "2 revisions" in page.words
    assert "Cleaner rivers" in town.visitor().get("/policies?order=name").words


def test_an_edit_that_changes_nothing_says_so(town, ada):
    policy = town.policy("ada", "Clean rivers")
    page = ada.send(ada.get(f"/policies/{policy}/edit"), "/edit", act="save")
    assert "Nothing was changed." in page.words
    assert "1 revisions" not in page.words


@pytest.mark.parametrize("fields, field, rule", [
    ({"name": "ab"}, "name", "The name must have 3 to 120 characters"),
    ({"name": "a" * 121}, "name", "The name must have 3 to 120 characters"),
    ({"description": "a" * 20001}, "description", "The text of what it says must have 0 to 20000 characters"),
    ({"links": "ftp://example.org"}, "links", "a link begins with https://"),
    ({"links": "https://example.org\n" * 11}, "links", "The list of links must have at most 10 entries"),
    ({"category": ""}, "category", "The category must be exactly one"),
])
def test_a_refused_text_comes_back_with_its_rule(standing, fields, field, rule):
    ada, policy = standing
    page = ada.send(ada.get(f"/policies/{policy}/edit"), "/edit", act="save", **fields)
    assert page.code == 422 and f'href="#{field}"' in page.text and f'id="{field}-fault"' in page.text
    assert rule in page.words and "Nothing was saved" in page.words
    assert re.search(rf'id="{field}"[^>]*aria-describedby="{field}-fault[^>]*aria-invalid="true"', page.text)
    for name, value in fields.items():
        assert page.form("/edit").fields[name].strip() == value.strip()
    assert ada.get(f"/policies/{policy}").title == "Clean rivers" and "revisions" not in ada.get(f"/policies/{policy}").words


def test_a_text_with_many_faults_says_them_all(town, ada):
    policy = town.policy("ada", "Clean rivers")
    wrong = {"name": "ab", "category": "", "description": "a" * 20001, "rationale": "b" * 20001, "links": "ftp://example.org"}
    for page in (ada.send(ada.get(f"/policies/{policy}/edit"), "/edit", act="save", **wrong),
                 ada.send(ada.get("/policies/new"), "/policies/new", act="preview", **wrong)):
        assert page.code == 422
        summary = re.search(r'role="alert".*?</div>', page.text, re.S)[0]
        assert sorted(re.findall(r'href="#([a-z]+)"', summary)) == sorted(wrong)
        for field in wrong:
            assert re.search(rf'id="{field}"[^>]*aria-describedby="{field}-fault[^>]*aria-invalid="true"', page.text), field
    page = ada.send(ada.get("/policies/new"), "/policies/new", act="create", name="ab", category="1", links="https://a.b\n" * 11)
    assert re.findall(r'href="#([a-z]+)"', re.search(r'role="alert".*?</div>', page.text, re.S)[0]) == ["name", "links"]


def test_a_category_that_is_not_there_is_refused(standing):
    ada, policy = standing
    page = ada.send(ada.get(f"/policies/{policy}/edit"), "/edit", act="save", category="99")
    assert page.code == 422 and 'id="category-fault"' in page.text


def test_only_owner_and_editors_edit(town, ada):
    policy = town.policy("ada", "Clean rivers")
    bob, eve = town.person("bob"), town.person("eve", "edit_policies")
    assert bob.get(f"/policies/{policy}/edit").code == 403 and "/edit" not in bob.get(f"/policies/{policy}").text
    token = bob.get(f"/policies/{policy}").form("/watch").fields["csrf"]
    answer = bob.ask("POST", f"/policies/{policy}/edit", {"csrf": token, "seen": "0" * 32, "name": "Mine now", "category": "1"})
    assert answer.code == 403
    assert eve.get(f"/policies/{policy}/edit").code == 200
    visitor = town.visitor().ask("GET", f"/policies/{policy}/edit")
    assert visitor.code == 303 and visitor.headers["location"].startswith("/login?next=%2Fpolicies%2F")


def test_a_form_without_its_token_is_refused(town, ada):
    policy = town.policy("ada", "Clean rivers")
    for below in ("/edit", "/retire"):
        form = ada.get(f"/policies/{policy}{below}").form(below)
        assert ada.ask("POST", form.action, {**form.fields, "csrf": "0" * 32}).code == 403, below
    form = ada.get("/policies/new").form("/policies/new")
    assert ada.ask("POST", form.action, {**form.fields, "csrf": ""}).code == 403


def test_two_editors_one_stands_and_the_other_sees_both(town, ada):
    policy = town.policy("ada", "Clean rivers", description="All rivers.")
    eve = town.person("eve", "edit_policies")
    mine, theirs = ada.get(f"/policies/{policy}/edit"), eve.get(f"/policies/{policy}/edit")
    eve.send(theirs, "/edit", act="save", name="Clean lakes")
    page = ada.send(mine, "/edit", act="save", description="All lakes.")
    assert page.code == 409 and "somebody else was first" in page.words and "eve changed this text" in page.words
    assert "<del>rivers</del><ins>lakes</ins>" in page.text and "You changed different parts." in page.words
    fields = page.form("/edit").fields
    assert fields["name"] == "Clean lakes" and fields["description"] == "All lakes."
    page = ada.send(page, "/edit", act="save")
    assert page.title == "Clean lakes" and "All lakes." in page.words


def test_two_editors_of_one_field_keep_both_texts_in_sight(town, ada):
    policy = town.policy("ada", "Clean rivers")
    eve = town.person("eve", "edit_policies")
    mine, theirs = ada.get(f"/policies/{policy}/edit"), eve.get(f"/policies/{policy}/edit")
    eve.send(theirs, "/edit", act="save", name="Clean lakes")
    page = ada.send(mine, "/edit", act="save", name="Clean seas")
    assert page.code == 409 and "You both changed: Name" in page.words
    assert "<ins>lakes</ins>" in page.text and "<ins>seas</ins>" in page.text
    assert page.form("/edit").fields["name"] == "Clean seas"


# --- Revisions ---------------------------------------------------------------------------------------------------------


def test_revisions_are_listed_and_compared(town, ada):
    policy = town.policy("ada", "Clean rivers", description="One.\n\nTwo.")
    for description in ("One.\n\nThree.", "One.\n\nFour.\n\nFive."):
        ada.send(ada.get(f"/policies/{policy}/edit"), "/edit", act="save", description=description)
    visitor = town.visitor()
    page = visitor.get(f"/policies/{policy}/revisions")
    assert re.findall(r"/revisions/(\d)\"", page.text) == ["3", "2", "1"] and "The first text" in page.words
    page = visitor.get(f"/policies/{policy}/revisions?newer=3&older=1")
    assert page.title == "From revision 1 to 3" and "<del>Two.</del>" in page.text and "<ins>Four." in page.text
    assert visitor.get(f"/policies/{policy}/revisions/1?against=3").title == "From revision 1 to 3"
    assert visitor.get(f"/policies/{policy}/revisions/1").title == "Revision 1"
    assert visitor.get(f"/policies/{policy}/revisions/4").code == 404
    assert visitor.get(f"/policies/{policy}/revisions/1?against=4").code == 404


# --- The past ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def past(tmp_path_factory):
    """A made-up electorate with 10 days of history, for visitors only."""
    data = tmp_path_factory.mktemp("past") / "data"
    fill_demo(data, voters=60, policies=12, days=10)
    server = Serve(data)
    yield server
    assert server.stop() == 0


def test_the_past_is_told_in_pictures_tables_and_data(past):
    visitor = Browser(past.port)
    page = visitor.get("/policies/1/history")
    assert page.code == 200 and page.text.count("<svg class=\"chart") == 2 and "<caption>By day" in page.text
    data = json.loads(visitor.get("/policies/1/history.json").text)
    assert data["policy"] == 1 and data["by"] == "day" and data["window_days"] == 3 and len(data["points"]) >= 9
    lines = visitor.get("/policies/1/history.csv").text.split("\r\n")
    assert lines[0] == "from,to,votes,rank,window_votes,total" and len(lines) == len(data["points"]) + 2
    points = [point for point in data["points"] if "rank" in point]
    for before, after in zip(points, points[1:]):
        assert after["total"] - before["total"] == after["votes"]
    last = lines[-2].split(",")
    assert last[2:] == [str(points[-1][name]) for name in ("votes", "rank", "window_votes", "total")]
    assert visitor.get("/policies/1/history.csv").headers["access-control-allow-origin"] == "*"


def test_hours_of_a_day_add_up_to_the_day(past):
    visitor = Browser(past.port)
    days = json.loads(visitor.get("/policies/1/history.json?by=day&window=0").text)["points"]
    day = days[-3]
    hours = json.loads(visitor.get(f"/policies/1/history.json?by=hour&count=24&window=0&until={day['from'][:10]}").text)["points"]
    assert len(hours) == 24 and hours[0]["from"] == day["from"] and hours[-1]["to"] == day["to"]
    assert sum(hour["votes"] for hour in hours) == day["votes"] and hours[-1]["total"] == day["total"]
    assert hours[-1]["rank"] == day["rank"]


def test_any_past_moment_can_be_asked_for(past):
    visitor = Browser(past.port)
    points = json.loads(visitor.get("/policies/1/history.json?by=hour&count=100").text)["points"]
    moment = points[40]
    page = visitor.get(f"/policies/1/history?by=hour&until={moment['to'][:16]}")
    assert f"it had rank {moment['rank']}" in page.words
    page = visitor.get("/policies/1/history?until=yesterday")
    assert page.code == 400 and 'id="until-fault"' in page.text and "2026-01-31T12:00" in page.words
    assert visitor.get("/policies/1/history.json?until=2026-13-01").code == 400
    assert visitor.get("/policies/1/history?until=1999-01-01").code == 200
    for wrong in ("by=week", "count=1", "count=745", "window=32"):
        assert visitor.get(f"/policies/1/history?{wrong}").code == 400, wrong


# --- Retiring ----------------------------------------------------------------------------------------------------------


def test_retiring_tells_its_price_and_is_done_once(town, ada):
    policy = town.policy("ada", "Clean rivers")
    bob = town.person("bob")
    town.vote("bob", policy, 30)
    page = ada.get(f"/policies/{policy}/retire")
    assert "for good" in page.title and "you lose 50 and get 50 back" in page.words
    form = page.form("/retire")
    fields = {**form.fields, "reason": f"Done. {EVIL}"}
    for _ in range(2):  # sent twice: one move, the same answer
        answer = ada.ask("POST", form.action, fields)
        assert answer.code == 303 and answer.headers["location"].endswith("?done=retired")
    page = town.visitor().get(f"/policies/{policy}")
    assert page.code == 200 and "This policy is retired." in page.words and "&lt;script&gt;" in page.text
    assert "/my/votes/" not in page.text and "noindex" in page.text
    assert town.balance("ada") == 50 and town.balance("bob") == 100
    assert bob.get("/ranking?days=0").text.count("clean-rivers") == 0
    assert ada.get(f"/policies/{policy}/retire").code == 422 and ada.get(f"/policies/{policy}/edit").code == 422


def test_retiring_in_favour_of_another(town, ada):
    policy = town.policy("ada", "Clean rivers")
    town.person("bob"), town.person("cleo")
    lakes, lamps = town.policy("bob", "Clean lakes"), town.policy("cleo", "Clean lamps")
    page = ada.get(f"/policies/{policy}/retire")
    for other, rule in (("zzz", "no policy has a name that begins like this"), (str(policy), "must be another policy"),
                        ("4711", "must be an active policy"), ("Clean", "several policies have a name that begins like this")):
        answer = ada.send(page, "/retire", other=other)
        assert answer.code == 422 and rule in answer.words and answer.form("/retire").fields["other"] == other
    assert "Clean lakes" in answer.words and "Clean lamps" in answer.words
    page = ada.send(answer, "/retire", other=str(lamps))
    assert "In favour of Clean lamps" in page.words and f"/policies/{lamps}-clean-lamps" in page.text
    assert lakes != lamps


def test_only_owner_and_moderators_retire_and_these_see_no_votes(town, ada):
    policy = town.policy("ada", "Clean rivers")
    assert town.person("bob").get(f"/policies/{policy}/retire").code == 403
    page = town.person("max", "moderate_policies").get(f"/policies/{policy}/retire")
    assert page.code == 200 and "Its owner pays" in page.words and "100" not in page.words.replace("100 pollies", "")


# --- States ------------------------------------------------------------------------------------------------------------


def test_a_merged_policy_leads_on(town, ada):
    policy = town.policy("ada", "Clean rivers")
    town.person("bob")
    target = town.policy("bob", "Clean waters")
    town.site_fixture.tell("merge", policy, target)
    page = town.visitor().get(f"/policies/{policy}")
    assert page.code == 200 and "It leads to Clean waters" in page.words and "a test" in page.words
    page = ada.get(f"/policies/{target}")
    assert "Merged into this Clean rivers" in page.words and "100 of yours came by a merge" in page.words


def test_a_hidden_policy_shows_nothing_but_the_reason(town, ada):
    policy = town.policy("ada", "Bad words", description="Worse words.")
    town.site_fixture.tell("move", policy, "pending-deletion")
    visitor = town.visitor()
    page = visitor.get(f"/policies/{policy}")
    assert page.code == 200 and "waits for its deletion" in page.words and "a test" in page.words
    assert "Bad" not in page.text and "bad-words" not in page.text and "Worse" not in page.text and "noindex" in page.text
    for below in ("history", "history.json", "revisions", "revisions/1"):
        assert visitor.get(f"/policies/{policy}/{below}").code == 404, below
    assert "Worse words." in ada.get(f"/policies/{policy}").words  # the owner may want to appeal
    assert "Worse words." in town.person("max", "moderate_policies").get(f"/policies/{policy}").words


def test_a_deleted_policy_is_gone_for_all(town, ada):
    policy = town.policy("ada", "Bad words", description="Worse words.")
    town.site_fixture.tell("move", policy, "pending-deletion")
    town.site_fixture.tell("move", policy, "deleted")
    for browser in (town.visitor(), ada, town.person("max", "moderate_policies")):
        page = browser.get(f"/policies/{policy}")
        assert page.code == 410 and "This policy was deleted" in page.words and "Bad" not in page.text
        assert browser.get(f"/policies/{policy}/revisions").code == 404


# --- Proposing ---------------------------------------------------------------------------------------------------------


def test_a_policy_is_proposed_with_a_look_at_its_cost(town, ada):
    town.person("bob")
    town.policy("bob", "Clean rivers now")
    page = ada.send(ada.get("/policies/new"), "/policies/new", act="preview", name="Clean rivers for all", category="1", description="Yes.")
    assert page.code == 200 and "Creating it costs 100 pollies" in page.words and "0 would remain" in page.words
    assert "Names that begin alike" in page.words and "Clean rivers now" in page.words
    back = ada.send(page, "/policies/new", act="change")
    assert back.title == "Propose a policy" and back.form("/policies/new").fields["description"] == "Yes."
    page = ada.send(page, "/policies/new", act="create")
    assert page.title == "Clean rivers for all" and "Your policy is published." in page.words and "Rank 2" in page.words


def test_a_proposal_sent_twice_is_one_policy(town, ada):
    form = ada.get("/policies/new").form("/policies/new")
    fields = {**form.fields, "act": "create", "name": "Clean rivers", "category": "1"}
    first, second = (ada.ask("POST", "/policies/new", fields) for _ in range(2))
    assert first.code == second.code == 303 and first.headers["location"] == second.headers["location"]
    assert town.visitor().get("/policies?order=name").text.count("clean-rivers") == 1
    assert first.headers["location"].endswith("?done=created")


def test_a_proposal_that_costs_too_much_is_refused_at_its_field(town, ada):
    form = ada.get("/policies/new").form("/policies/new")
    fields = {**form.fields, "act": "create", "name": "Clean rivers", "category": "1"}
    for held, rule in (("101", "you do not have that many pollies"), ("99", "creating a policy costs more than that")):
        page = ada.ask("POST", "/policies/new", {**fields, "held": held})
        assert page.code == 422 and rule in page.words and 'href="#held"' in page.text and 'id="held-fault"' in page.text
    assert "clean-rivers" not in town.visitor().get("/policies?order=name").text


def test_a_proposal_after_a_save_elsewhere_is_told_and_goes_on(town, ada):
    town.person("bob")
    policy = town.policy("bob", "More trams")
    form = ada.get("/policies/new").form("/policies/new")
    town.vote("ada", policy, 5)
    fields = {**form.fields, "act": "create", "name": "Clean rivers", "category": "1"}
    page = ada.ask("POST", "/policies/new", fields)
    assert page.code == 409 and "Nothing was created" in page.words
    page = ada.send(page, "/policies/new", act="create")  # goes on from what stands now, which is not enough
    assert page.code == 422 and "you do not have that many pollies" in page.words and "5 are missing" in page.words
    assert town.balance("ada") == 95


def test_only_confirmed_voters_propose(town):
    answer = town.visitor().ask("GET", "/policies/new")
    assert answer.code == 303 and answer.headers["location"] == "/login?next=%2Fpolicies%2Fnew"


@pytest.mark.parametrize("truth", ["lost", "done"])
def test_a_proposal_in_doubt_is_told_so_and_sent_again_is_one(town, ada, truth):
    form = ada.get("/policies/new").form("/policies/new")
    fields = {**form.fields, "act": "create", "name": "Clean rivers", "category": "1"}
    town.site_fixture.tell("doubt", truth)
    page = ada.ask("POST", "/policies/new", fields)
    assert page.code == 503 and page.title == "We do not know whether it was done"
    assert "Your policy is published" not in page.words and "Nothing was" not in page.words
    town.site_fixture.tell("doubt", "none")
    page = ada.send(page, "/policies/new", act="create")
    assert page.title == "Clean rivers" and "Your policy is published." in page.words and town.balance("ada") == 0


@pytest.mark.parametrize("truth", ["lost", "done"])
def test_an_edit_in_doubt_is_told_so_and_sent_again_is_one(town, ada, truth):
    policy = town.policy("ada", "Clean rivers")
    form = ada.get(f"/policies/{policy}/edit").form("/edit")
    town.site_fixture.tell("doubt", truth, "policies")
    page = ada.ask("POST", form.action, {**form.fields, "act": "save", "name": "Clean lakes"})
    town.site_fixture.tell("doubt", "none")
    assert page.code == 503 and page.title == "We do not know whether it was done"
    assert "The new text is published" not in page.words and "Nothing was" not in page.words
    assert ada.get(f"/policies/{policy}").title == {"lost": "Clean rivers", "done": "Clean lakes"}[truth], "a look shows what stands"
    page = ada.send(page, "/edit", act="save")
    assert page.code == 200 and page.title == "Clean lakes"
    assert "1 of 2" not in page.words and ada.get(f"/policies/{policy}/revisions/2").code == 200
    assert ada.get(f"/policies/{policy}/revisions/3").code == 404, "it is one revision"


@pytest.mark.parametrize("truth", ["lost", "done"])
def test_a_retirement_in_doubt_is_told_so_and_sent_again_is_one(town, ada, truth):
    policy = town.policy("ada", "Clean rivers")
    form = ada.get(f"/policies/{policy}/retire").form("/retire")
    town.site_fixture.tell("doubt", truth, "policies")
    page = ada.ask("POST", form.action, {**form.fields, "reason": "enough"})
    town.site_fixture.tell("doubt", "none")
    assert page.code == 503 and page.title == "We do not know whether it was done"
    assert "is retired." not in page.words and "Nothing was" not in page.words
    assert ("retired" in ada.get(f"/policies/{policy}").words) == (truth == "done"), "a look shows what stands"
    page = ada.send(page, "/retire")
    assert page.code == 200 and "The policy is retired." in page.words and "enough" in page.words
