"""What is shared between people who look at the same page, and what never is: names, balances, votes, forms."""
import concurrent.futures
import http.client
import re
import time

import pytest

from site_fixture import SiteFixture

PEOPLE, ROUNDS = 8, 60


@pytest.fixture(scope="module")
def site_fixture(tmp_path_factory):
    started = SiteFixture(tmp_path_factory.mktemp("sheets") / "data")
    yield started
    assert started.stop() == 0


def address(voter, policy):
    return voter.get(f"/policies/{policy}").location


def own_parts(text):
    """All that a page says of somebody: name, balance, tokens of its forms, what is held."""
    return {"name": re.findall(r'<span class="who">([^<]*)<', text), "balance": set(re.findall(r"data-balance>([^<]*)<", text)),
            "csrf": set(re.findall(r'name="csrf" value="([^"]*)"', text)), "held": set(re.findall(r'data-held="(\d+)"', text)),
            "seen": set(re.findall(r'name="seen" value="([^"]*)"', text)), "mine": re.findall(r"you hold ([^<]*)<", text)}


def test_people_who_ask_at_the_same_time_see_only_what_is_theirs(site_fixture):
    people = [site_fixture.voter(f"crowd{i}", 60 + 30 * i) for i in range(PEOPLE)]
    policies = [site_fixture.policy(people[i], f"Policy of crowd {i}") for i in range(2)]
    for i, voter in enumerate(people):
        voter.vote(policies[0], 100 + i if i == 0 else 1 + i)
    paths = ["/", *(address(people[0], policy) for policy in policies)]
    alone = {(voter.name, path): own_parts(voter.get(path).text) for voter in people for path in paths}
    assert len({str(parts) for parts in alone.values()}) == PEOPLE * len(paths)

    def ask(voter):
        connection = http.client.HTTPConnection("127.0.0.1", site_fixture.port, timeout=60)
        for number in range(ROUNDS):
            path = paths[number % len(paths)]
            connection.request("GET", path, headers={"Cookie": f"session={voter.secret}"} if voter else {})
            answer = connection.getresponse()
            text, kept = answer.read().decode(), answer.getheader("cache-control")
            parts = own_parts(text)
            if voter is None:
                assert parts == {"name": [], "balance": set(), "csrf": set(), "held": set(), "seen": set(), "mine": []}
                assert not any(f">{person.name}<" in text for person in people) and kept != "no-store"
                continue
            assert parts == alone[voter.name, path] and parts["name"] == [voter.name] and kept == "no-store"
            assert answer.getheader("etag") is None
            # Other people's names stand nowhere but where they own something that all can see.
            others = [person.name for person in people if person is not voter]
            assert not any(f">{name}<" in text for name in others)
        connection.close()

    with concurrent.futures.ThreadPoolExecutor(PEOPLE + 2) as pool:
        for each in [pool.submit(ask, voter) for voter in [*people, None, None]]:
            each.result()


@pytest.mark.parametrize("path", ["/", "policy"])
def test_who_saves_sees_it_on_the_next_page(site_fixture, path):
    voter, watcher = site_fixture.voter(f"saver-{len(path)}", 400), site_fixture.voter(f"watcher-{len(path)}", 400)
    policy = site_fixture.policy(voter, f"Counted at once {len(path)}")
    where = path if path == "/" else address(voter, policy)
    held = 100
    for _ in range(6):
        held += 7
        watcher.get(where)  # so that what all see was drawn just before
        voter.vote(policy, held)
        text = voter.get(where).text
        if path == "/":
            row = text[text.index(f'data-policy="{policy}"'):]
            assert re.search(r"data-total>([^<]*)<", row)[1].replace("\u202f", "") == str(held)
            assert re.search(r"you hold ([^<]*)<", row)[1].replace("\u202f", "") == str(held)
        else:
            assert f'data-live="total">{held}<' in text and f'data-held="{held}"' in text


def test_others_see_it_within_a_second_or_two(site_fixture):
    voter, watcher = site_fixture.voter("early", 400), site_fixture.voter("later", 400)
    policy = site_fixture.policy(voter, "Counted soon")
    where = address(voter, policy)
    watcher.get(where)
    voter.vote(policy, 133)
    end = time.monotonic() + 10
    while 'data-live="total">133<' not in watcher.get(where).text:
        assert time.monotonic() < end
        time.sleep(0.1)


def test_an_edit_is_seen_at_once_by_all_who_are_logged_in(site_fixture):
    owner, reader = site_fixture.voter("editor", 400), site_fixture.voter("reader", 400)
    policy = site_fixture.policy(owner, "Before the edit")
    before = address(owner, policy)
    assert "Before the edit" in reader.get(before).words
    form = owner.get(f"{before}/edit").form(f"{before}/edit")
    answer = owner.send(f"{before}/edit", form, name="After the edit", category="1", act="save")
    assert answer.code == 303, answer.words
    assert reader.get(before).location == address(reader, policy) != before
    assert "After the edit" in reader.get(address(reader, policy)).words


def test_a_session_that_was_ended_is_over_with_the_next_request(site_fixture):
    voter = site_fixture.voter("leaver", 10)
    assert voter.get("/").code == 200 and "Log out" in voter.get("/").words
    form = voter.get("/").form("/logout")
    assert voter.send("/logout", form).code == 303
    for path in ("/", "/about"):
        assert "Log out" not in voter.get(path).words
    assert voter.get("/my/votes").code == 303


def test_a_role_counts_with_the_next_request(site_fixture):
    owner, other = site_fixture.voter("owns", 400), site_fixture.voter("moderates", 10)
    policy = site_fixture.policy(owner, "Looked after")
    where = address(owner, policy)
    assert "Retire it" not in other.get(where).words
    site_fixture.tell("role", other.id, "moderate_policies")
    assert "Retire it" in other.get(where).words
