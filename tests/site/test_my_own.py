"""/my/history, /my/profile, /my/watching and /my/notices, over sockets, on the real site and a real store (site_fixture.py)."""
import itertools
import re

import pytest
from site_fixture import SiteFixture, Forms

NAMES = itertools.count(1)


@pytest.fixture(scope="module")
def site_fixture(tmp_path_factory):
    site_fixture = SiteFixture(tmp_path_factory.mktemp("site_fixture") / "data")
    yield site_fixture
    assert site_fixture.stop() == 0


@pytest.fixture
def town(site_fixture):
    number = next(NAMES)
    owner, voter = site_fixture.voter(f"owner{number}", 30), site_fixture.voter(f"voter{number}", 50)
    return owner, voter, site_fixture.policy(owner, f"Clean rivers {number}")


def test_a_history_has_saves_and_salaries_the_newest_first(town):
    owner, voter, rivers = town
    voter.vote(rivers, 10)
    voter.vote(rivers, 4)
    words = voter.get("/my/history").words
    assert words.count("Salary") == 8 and words.index("Save 2 ") < words.index("Save 1 ") < words.index("Salary")
    assert "10 → 4" in words and "0 → 10" in words and "+100 pollies" in words
    assert "You proposed a policy" in owner.get("/my/history").words


def test_a_history_is_read_page_by_page_and_every_salary_stands_once(town):
    _, voter, rivers = town
    for held in range(1, 46):
        voter.vote(rivers, held)
    saves, salaries, path = [], 0, "/my/history"
    for _ in range(3):
        page = voter.get(path)
        numbers = [int(part.split()[0]) for part in page.words.split("Save ")[1:]]
        saves += numbers
        salaries += page.words.count("Salary")
        path = f"/my/history?before={numbers[-1]}"
    assert saves == list(range(45, 0, -1)) and salaries == 8
    assert "before=" not in page.text
    assert voter.get("/my/history?before=0").code == 400


def test_a_profile_counts_what_somebody_has_created_and_voted_for(site_fixture, town):
    owner, voter, rivers = town
    voter.vote(rivers, 10)
    words = voter.get("/my/profile").words
    assert "You have 790 unspent pollies. You have created 0 policies. You have voted for 1 policy." in words
    assert "Your next 100 pollies come in" in words
    words = owner.get("/my/profile").words
    assert "You have created 1 policy." in words and "Clean rivers" in words
    site_fixture.tell("move", rivers, "retired")
    words = owner.get("/my/profile").words
    assert "You have created 1 policy." in words and "retired" in words


def test_a_real_name_is_kept_and_shown_only_when_asked_for(town):
    _, voter, _ = town
    form = voter.get("/my/profile").form("/my/profile")
    assert form["real_name"] == "" and "real_name_shown" not in form
    answer = voter.send("/my/profile", form, real_name="Ada <b>Lovelace</b>", real_name_shown="on")
    assert (answer.code, answer.location) == (303, "/my/profile?done=profile")
    page = voter.get(answer.location)
    assert "Your profile is saved" in page.words and "<b>Lovelace" not in page.text
    form = page.form("/my/profile")
    assert form["real_name"] == "Ada <b>Lovelace</b>" and form["real_name_shown"] == "on"
    assert voter.send("/my/profile", form, real_name="", real_name_shown=None).code == 303
    assert "real_name_shown" not in voter.get("/my/profile").form("/my/profile")


def test_everybody_sees_a_real_name_beside_the_user_name_until_it_is_switched_off(site_fixture):
    number = next(NAMES)
    owner, editor = site_fixture.voter(f"owner{number}", 30), site_fixture.voter(f"editor{number}")
    site_fixture.tell("role", editor.id, "edit_policies,respond")
    rivers = site_fixture.policy(owner, f"Clean rivers {number}")
    for path, fields in ((f"/policies/{rivers}/edit", {"description": "Another text."}), (f"/policies/{rivers}/answer", {"text": "We will.", "outcome": "accepted"})):
        form = next(form for action, form in Forms(editor.get(path).text).forms.items() if action.endswith(path.rpartition("/")[2]))
        answer = editor.ask("POST", path, {"category": 1, "name": f"Clean rivers {number}", **form, **fields})
        assert answer.code == 303, answer.words
    pages = [f"/policies/{rivers}-clean-rivers-{number}", *(f"/policies/{rivers}/{page}" for page in ("revisions", "revisions/1", "revisions/2", "answers"))]
    programs = [f"/api/v1/policies/{rivers}", f"/api/v1/policies/{rivers}/revisions", f"/api/v1/policies/{rivers}/revisions/2", f"/api/v1/policies/{rivers}/answer"]
    visitor = lambda path: owner.get(path, secret="").text
    member = lambda path: site_fixture.other.get(path).text
    site_fixture.other = getattr(site_fixture, "other", None) or site_fixture.voter(f"other{number}")

    def show(person, name, shown):
        form = person.get("/my/profile").form("/my/profile")
        assert person.send("/my/profile", form, real_name=name, real_name_shown=shown).code == 303

    def where(text):
        """On which pages and in which answers a visitor and a member find the text; each is asked for twice, so that it is kept."""
        found = [{path for path in pages + programs if text in look(path)} for look in (visitor, visitor, member)]
        assert found[0] == found[1] == found[2], found
        return found[0]

    owned, edited = {pages[0], pages[1], pages[2], programs[0], programs[1]}, {*pages[:2], pages[3], pages[4], *programs[1:]}
    for person, name, there in ((owner, "Ada <i>Lovelace</i>", owned), (editor, "Grace H\u200dopper", edited)):
        written = name.replace("<", "&lt;").replace(">", "&gt;")
        show(person, name, None)
        assert where(name) | where(written) == set()
        show(person, name, "on")
        assert where(written) | (where(name) - set(pages)) == there
        assert "<i>Lovelace" not in "".join(map(visitor, pages))
        assert f"{person.name} (<bdi>{written}</bdi>)" in visitor(pages[0] if person is owner else pages[3])
        show(person, name, None)
        assert where(name) | where(written) == set(), "at once, also where a page was kept"
    shown = site_fixture.other.get(programs[0]).text
    assert '"owner_real_name":null' in shown and f'"owner_name":"{owner.name}"' in shown


def test_a_name_that_is_too_long_comes_back_with_the_rule(town):
    _, voter, _ = town
    form = voter.get("/my/profile").form("/my/profile")
    answer = voter.send("/my/profile", form, real_name="x" * 200)
    assert answer.code == 422 and 'href="#real_name"' in answer.text and 'aria-invalid="true"' in answer.text
    assert answer.form("/my/profile")["real_name"] == "x" * 200
    assert voter.send("/my/profile", form, real_name="y", csrf=None).code == 403
    assert voter.get("/my/profile").form("/my/profile")["real_name"] == ""


def test_a_watch_list_shows_what_is_watched_until_it_is_taken_off(site_fixture, town):
    owner, voter, rivers = town
    roads = site_fixture.policy(owner, "Safe roads & <b>bridges</b>")
    assert "Policies that you watch will stand here" in voter.get("/my/watching").words
    for policy in (rivers, roads):
        page = voter.get(voter.get(f"/policies/{policy}").location)
        (action,) = [action for action in Forms(page.text).forms if action.endswith("/watch")]
        assert voter.send(action, page.form(action)).code == 303
    page = voter.get("/my/watching")
    assert page.words.index("Safe roads & <b>bridges</b>") < page.words.index("Clean rivers") and "<b>" not in page.text
    assert "Rank" in page.words and owner.get("/my/watching").words.count("Stop watching") == 0
    form = page.form(f"/policies/{roads}/unwatch")
    assert voter.send(f"/policies/{roads}/unwatch", form, csrf=None).code == 403
    answer = voter.send(f"/policies/{roads}/unwatch", form)
    assert (answer.code, answer.location) == (303, "/my/watching?done=unwatched")
    assert "Safe roads" not in voter.get("/my/watching").words


def test_what_happens_to_ones_policies_is_told_until_it_is_dismissed(site_fixture, town):
    owner, voter, rivers = town
    roads, homes = site_fixture.policy(owner, "Safe roads"), site_fixture.policy(owner, "<i>Warm</i> homes")
    for policy in (rivers, roads, homes):
        voter.vote(policy, 5)
    assert "Nothing new" in voter.get("/my/notices").words
    site_fixture.tell("move", rivers, "retired")
    site_fixture.tell("merge", roads, homes)
    page = voter.get("/my/notices")
    assert "it was retired" in page.words and "Reason: a test" in page.words
    assert "your votes went with it" in page.words and "<i>Warm</i> homes" in page.words and "<i>" not in page.text
    keys = re.findall(r'name="notice" value="([^"]*)"', page.text)
    assert len(keys) >= 2 and f"{len(keys)} notices" in voter.get("/my/profile").words
    form = {"csrf": page.form("/my/notices")["csrf"]}
    assert voter.send("/my/notices/dismiss", form, notice=keys[0], csrf=None).code == 403
    answer = voter.send("/my/notices/dismiss", form, notice=keys[0])
    assert (answer.code, answer.location) == (303, "/my/notices?done=dismissed")
    page = voter.get("/my/notices")
    assert re.findall(r'name="notice" value="([^"]*)"', page.text) == keys[1:]
    until = re.search(r'name="until" value="(\d+)"', page.text).group(1)
    assert voter.send("/my/notices", form, until=until).code == 303
    assert "Nothing new" in voter.get("/my/notices").words and 'class="bell"' not in voter.get("/my/votes").text


def test_dismissing_says_what_is_wrong(town):
    _, voter, _ = town
    form = {"csrf": voter.get("/my/profile").form("/my/profile")["csrf"]}
    for fields in ({}, {"notice": "no/key"}, {"notice": "x" * 41}, {"notice": "nothing"}):
        answer = voter.send("/my/notices/dismiss", {**form, **fields})
        assert answer.code == 422 and 'role="alert"' in answer.text, fields
    assert voter.send("/my/notices", {**form, "until": "-1"}).code == 422
