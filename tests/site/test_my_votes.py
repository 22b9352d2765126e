"""/my/votes and what a save leads to, over sockets, on the real site and a real store (site_fixture.py)."""
import itertools

import pytest
from site_fixture import SiteFixture

NAMES = itertools.count(1)
NASTY = "<script>alert(1)</script> & \"more\""


@pytest.fixture(scope="module")
def site_fixture(tmp_path_factory):
    site_fixture = SiteFixture(tmp_path_factory.mktemp("site_fixture") / "data")
    yield site_fixture
    assert site_fixture.stop() == 0


@pytest.fixture
def town(site_fixture):
    """An owner of three policies, and a voter with 800 pollies of whom nobody knows yet."""
    number = next(NAMES)
    owner, voter = site_fixture.voter(f"owner{number}", 70), site_fixture.voter(f"voter{number}", 50)
    return voter, [site_fixture.policy(owner, f"{name} {number}") for name in ("Clean rivers", "Safe roads", "Warm homes")]


def path_of(policy):
    return f"/my/votes/{policy}"


# ---- Showing ----


def test_whoever_is_not_logged_in_is_led_to_the_log_in_and_back(town):
    voter, (rivers, *_) = town
    for path in ("/my/votes", path_of(rivers), "/my/history", "/my/profile", "/my/watching"):
        answer = voter.get(path, secret="")
        assert answer.code == 303 and answer.location.startswith("/login?next=%2Fmy%2F"), path


def test_nothing_held_says_what_will_be_here(town):
    voter, _ = town
    answer = voter.get("/my/votes")
    assert answer.code == 200 and "You have 800 pollies to spend" in answer.words
    assert answer.headers["cache-control"] == "no-store"


def test_a_name_is_text_and_not_markup(site_fixture, town):
    voter, _ = town
    policy = site_fixture.policy(site_fixture.voter(f"writer{next(NAMES)}", 10), NASTY)
    voter.vote(policy, 3)
    for path in ("/my/votes", path_of(policy), "/my/history"):
        text = voter.get(path).text
        assert "<script>alert" not in text and "&lt;script&gt;alert(1)" in text, path
    form = voter.get("/my/votes").form("/my/votes")
    asks = voter.send("/my/votes", form, lines={policy: 1})
    assert asks.title().startswith("Taking back") and "<script>alert" not in asks.text


def test_only_ones_own_votes_are_seen(site_fixture, town):
    voter, (rivers, *_) = town
    voter.vote(rivers, 7)
    other = site_fixture.voter(f"other{next(NAMES)}", 0)
    assert other.held() == {} and voter.held() == {rivers: 7}


# ---- Saving ----


def test_additions_are_saved_at_once_and_say_their_number(town):
    voter, (rivers, roads, _) = town
    voter.vote(rivers, 10)
    form = voter.get("/my/votes").form("/my/votes")
    answer = voter.send("/my/votes", form, lines={rivers: 12, roads: 5})
    assert (answer.code, answer.location) == (303, "/my/votes?done=saved&number=2")
    assert "This is save number 2" in voter.get(answer.location).words
    assert voter.held() == {rivers: 12, roads: 5} and voter.balance() == 783


def test_one_policy_leads_back_to_its_page(town):
    voter, (rivers, *_) = town
    answer = voter.vote(rivers, 4)
    assert answer.location.startswith(f"/policies/{rivers}-clean-rivers") and "done=saved&number=1" in answer.location
    answer = voter.vote(rivers, 4)
    assert answer.location.endswith("?done=unchanged")


def test_taking_back_asks_first_and_names_its_price(town):
    voter, (rivers, roads, _) = town
    voter.vote(rivers, 40)
    form = voter.get("/my/votes").form("/my/votes")
    asks = voter.send("/my/votes", form, lines={rivers: 20, roads: 3})
    assert asks.code == 200 and asks.title() == "Taking back 20 costs 10"
    assert "Taking back 20 costs 10. You get 10 back." in asks.words and "Nothing is saved yet" in asks.words
    assert "767 unspent" in asks.words and voter.held() == {rivers: 40}
    agreed = asks.form("/my/votes")
    assert agreed["price"] == "10"
    assert voter.send("/my/votes", agreed).location == "/my/votes?done=saved&number=2"
    assert voter.held() == {rivers: 20, roads: 3} and voter.balance() == 767


def test_a_price_below_the_true_one_is_asked_about_again(town):
    voter, (rivers, *_) = town
    voter.vote(rivers, 40)
    form = voter.get(path_of(rivers)).form(path_of(rivers))
    asks = voter.send(path_of(rivers), form, held=20, price=9)
    assert asks.code == 200 and asks.form(path_of(rivers))["price"] == "10" and voter.held() == {rivers: 40}
    assert voter.send(path_of(rivers), form, held=20, price=10).code == 303


def test_one_polly_at_a_time_costs_what_all_at_once_cost(town):
    voter, (rivers, *_) = town
    voter.vote(rivers, 10)
    for held in range(9, -1, -1):
        voter.vote(rivers, held)
    assert voter.balance() == 795


def test_the_same_form_sent_twice_is_one_save(town):
    voter, (rivers, *_) = town
    form = voter.get(path_of(rivers)).form(path_of(rivers))
    first = voter.send(path_of(rivers), form, held=6)
    again = voter.send(path_of(rivers), form, held=6)
    assert first.location == again.location and voter.balance() == 794
    assert voter.get("/my/history").words.count("Save 1 ") == 1


# ---- Refusals ----


def test_more_than_there_is_comes_back_with_what_was_typed(town):
    voter, (rivers, roads, _) = town
    voter.vote(rivers, 10)
    form = voter.get("/my/votes").form("/my/votes")
    answer = voter.send("/my/votes", form, lines={rivers: 1000})
    assert answer.code == 422 and "You have 790 unspent pollies: 200 too few for this" in answer.words
    assert 'role="alert"' in answer.text and answer.form("/my/votes")[f"lines[{rivers}]"] == "1000"
    one = voter.send(path_of(roads), voter.get(path_of(roads)).form(path_of(roads)), held=5000)
    assert one.code == 422 and 'href="#held"' in one.text and 'aria-invalid="true"' in one.text
    assert one.form(path_of(roads))["held"] == "5000" and voter.held() == {rivers: 10}


@pytest.mark.parametrize("typed", ["", "many", "1.5", "99999999999999999999"])
def test_what_is_no_number_is_told_at_the_field(town, typed):
    voter, (rivers, *_) = town
    answer = voter.send(path_of(rivers), voter.get(path_of(rivers)).form(path_of(rivers)), held=typed)
    assert answer.code == 422 and "must be a whole number" in answer.words
    assert answer.form(path_of(rivers))["held"] == typed and voter.held() == {}


def test_a_rule_stands_at_the_line_that_breaks_it(town):
    voter, (rivers, roads, _) = town
    voter.vote(rivers, 10)
    voter.vote(roads, 10)
    form = voter.get("/my/votes").form("/my/votes")
    answer = voter.send("/my/votes", form, lines={rivers: -1})
    assert answer.code == 422 and f'href="#lines%5B{rivers}%5D"' in answer.text
    assert f'id="f{rivers}"' in answer.text and f'id="f{roads}"' not in answer.text
    assert voter.held() == {rivers: 10, roads: 10}


def test_a_form_without_its_token_against_forgery_is_refused(town):
    voter, (rivers, *_) = town
    form = voter.get(path_of(rivers)).form(path_of(rivers))
    for csrf in (None, "", "0" * 32):
        assert voter.send(path_of(rivers), form, held=5, csrf=csrf).code == 403
        assert voter.send("/my/votes", form, held=None, csrf=csrf).code == 403
    assert voter.held() == {}


def test_another_voters_token_is_refused(site_fixture, town):
    voter, (rivers, *_) = town
    other = site_fixture.voter(f"other{next(NAMES)}")
    form = other.get(path_of(rivers)).form(path_of(rivers))
    assert voter.send(path_of(rivers), form, held=5).code == 403


def test_marks_that_are_none_name_the_field(town):
    voter, (rivers, *_) = town
    form = voter.get(path_of(rivers)).form(path_of(rivers))
    for field in ("seen", "token"):
        for value in ("", "x", "g" * 32, "0" * 33)[field == "token":]:
            answer = voter.send(path_of(rivers), form, held=5, **{field: value})
            assert answer.code == 422 and f'href="#{field}"' in answer.text, (field, value)
            assert answer.form(path_of(rivers))["held"] == "5" and voter.held() == {}


def test_a_policy_that_is_not_there_is_not_found(town):
    voter, (rivers, *_) = town
    assert voter.get("/my/votes/999999").code == 404
    form = voter.get(path_of(rivers)).form(path_of(rivers))
    assert voter.send("/my/votes/999999", form, held=5).code == 404


# ---- Two tabs ----


def test_two_tabs_one_stands_and_the_other_sees_three_columns(town):
    voter, (rivers, roads, homes) = town
    voter.vote(rivers, 10)
    voter.vote(roads, 20)
    mine = voter.get("/my/votes").form("/my/votes")
    assert voter.send("/my/votes", voter.get("/my/votes").form("/my/votes"), lines={roads: 25}).code == 303
    late = voter.send("/my/votes", mine, lines={rivers: 14, homes: 2})
    assert late.code == 409 and "Nothing of this form was saved" in late.words
    assert "Safe roads" in late.words and "20 25 you left it alone" in late.words
    assert voter.held() == {rivers: 10, roads: 25}
    newer = late.form("/my/votes")
    assert {name: newer[name] for name in newer if name.startswith("lines")} == {
        f"lines[{rivers}]": "14", f"lines[{homes}]": "2"}
    assert newer["seen"] != mine["seen"] and newer["token"] != mine["token"]
    assert voter.send("/my/votes", newer).code == 303
    assert voter.held() == {rivers: 14, roads: 25, homes: 2}


def test_the_form_of_one_policy_that_comes_too_late_goes_on_from_what_stands(town):
    voter, (rivers, roads, _) = town
    form = voter.get(path_of(rivers)).form(path_of(rivers))
    voter.vote(roads, 8)
    late = voter.send(path_of(rivers), form, held=3)
    assert late.code == 409 and "0 8 you left it alone" in late.words
    assert voter.send("/my/votes", late.form("/my/votes")).code == 303 and voter.held() == {rivers: 3, roads: 8}


def test_a_version_that_never_was_is_told_as_not_known(town):
    voter, (rivers, *_) = town
    voter.vote(rivers, 5)
    form = voter.get(path_of(rivers)).form(path_of(rivers))
    late = voter.send(path_of(rivers), form, held=9, seen="ab" * 16)
    assert late.code == 409 and "not known 5" in late.words and late.form("/my/votes")[f"lines[{rivers}]"] == "9"


def test_a_form_from_before_a_merge_is_stale_though_nobody_saved(site_fixture, town):
    voter, (rivers, roads, homes) = town
    voter.vote(rivers, 4)
    voter.vote(roads, 6)
    voter.vote(homes, 5)
    one, every = voter.get(path_of(rivers)).form(path_of(rivers)), voter.get("/my/votes").form("/my/votes")
    site_fixture.tell("merge", roads, rivers)
    late = voter.send(path_of(rivers), one, held=8)  # four more than was shown
    assert late.code == 409 and "Policies were merged" in late.words and "4 10" in late.words
    assert voter.held() == {rivers: 10, homes: 5}
    newer = late.form("/my/votes")
    assert newer[f"was[{rivers}]"] == "10" and newer["seen"] == one["seen"]
    assert voter.send("/my/votes", newer, lines={rivers: 14}).code == 303 and voter.held() == {rivers: 14, homes: 5}
    every["seen"] = voter.get("/my/votes").form("/my/votes")["seen"]
    assert voter.send("/my/votes", every, lines={homes: 7}).code == 303  # lines that were left alone stay
    assert voter.held() == {rivers: 14, homes: 7}


# ---- Not knowing ----


@pytest.mark.parametrize("fate, held", [("lost", {}), ("done", "saved")])
def test_unknown_is_told_as_such_and_the_same_form_again_is_one_save(site_fixture, town, fate, held):
    voter, (rivers, *_) = town
    form = voter.get(path_of(rivers)).form(path_of(rivers))
    site_fixture.tell("doubt", fate)
    try:
        answer = voter.send(path_of(rivers), form, held=11)
    finally:
        site_fixture.tell("doubt", "none")
    assert answer.code == 503 and answer.title() == "We do not know whether your votes were saved"
    assert voter.held() == ({rivers: 11} if held == "saved" else {})
    again = answer.form(path_of(rivers))
    assert again["token"] == form["token"] and again["held"] == "11"
    assert voter.send(path_of(rivers), again).code == 303
    assert voter.held() == {rivers: 11} and voter.balance() == 789


# ---- Policies that changed ----


def test_lines_that_are_not_open_are_told_with_why_and_have_no_field(site_fixture, town):
    voter, (rivers, roads, homes) = town
    for policy in (rivers, roads, homes):
        voter.vote(policy, 10)
    site_fixture.tell("move", roads, "retired")
    site_fixture.tell("move", homes, "pending-deletion")
    page = voter.get("/my/votes")
    assert "It was retired. Voters have their pollies back" in page.words
    assert "its deletion can be appealed" in page.words and f"Policy {homes}" in page.words
    assert "Warm homes" not in page.words
    assert voter.held() == {rivers: 10} and voter.balance() == 780
    closed = voter.get(path_of(roads))
    assert closed.code == 200 and "It was retired" in closed.words and f'action="{path_of(roads)}"' not in closed.text
    form = page.form("/my/votes")
    refused = voter.send("/my/votes", form, lines={roads: 4})
    assert refused.code == 422 and "only active policies can be voted on" in refused.words


def test_merged_lines_are_one_and_what_came_by_the_merge_is_taken_back_whole(site_fixture, town):
    voter, (rivers, roads, _) = town
    voter.vote(rivers, 10)
    voter.vote(roads, 20)
    site_fixture.tell("merge", roads, rivers)
    page = voter.get("/my/votes")
    assert voter.held() == {rivers: 30} and "20 came by a merge and come back whole" in page.words
    form = page.form("/my/votes")
    assert voter.send("/my/votes", form, lines={rivers: 10}).code == 303, "free, so nobody is asked"
    assert voter.balance() == 790
    asks = voter.send("/my/votes", voter.get("/my/votes").form("/my/votes"), lines={rivers: 4})
    assert asks.title() == "Taking back 6 costs 3"
    refused = voter.send(path_of(roads), voter.get(path_of(rivers)).form(path_of(rivers)), held=5, was=None)
    assert refused.code == 422 and "this policy was merged" in refused.words


# ---- Many ----


def test_hundreds_of_lines_are_one_form_and_only_changes_count(site_fixture):
    owner, voter = site_fixture.voter(f"owner{next(NAMES)}", 7 * 300), site_fixture.voter(f"voter{next(NAMES)}", 50)
    policies = [site_fixture.policy(owner, f"Policy of many, number {number}") for number in range(290)]
    for some in (policies[:200], policies[200:]):
        form = voter.get(path_of(policies[0])).form(path_of(policies[0]))
        del form["held"]
        assert voter.send("/my/votes", form, lines={policy: 1 for policy in some}).code == 303
    form = voter.get("/my/votes").form("/my/votes")
    assert sum(name.startswith("lines[") for name in form) == 290
    assert voter.send("/my/votes", form, lines={policies[7]: 5}).location.endswith("number=3")
    assert voter.held()[policies[7]] == 5
    changed = voter.send("/my/votes", voter.get("/my/votes").form("/my/votes"), lines={policy: 2 for policy in policies})
    assert changed.code == 422 and "at most 256 lines" in changed.words


def test_lines_can_be_sorted(town):
    voter, (rivers, roads, homes) = town
    for policy, held in ((rivers, 1), (roads, 300), (homes, 2)):
        voter.vote(policy, held)
    assert list(voter.held()) == [roads, homes, rivers]
    page = voter.get("/my/votes?order=rank")
    ranked = [int(name[6:-1]) for name in page.form("/my/votes") if name.startswith("lines[")]
    assert ranked[0] == roads and set(ranked) == {rivers, roads, homes}
    assert voter.get("/my/votes?order=luck").code == 400
