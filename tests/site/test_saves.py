"""Many people save at once, through the threads that are there for saves; and the server stops, or is killed, in the middle of it."""
import http.client
import threading
import time

import pytest

from site_fixture import SiteFixture

PEOPLE = 12
PATIENCE_S = 60


@pytest.fixture
def directory(tmp_path):
    return tmp_path / "data"


def people_of(site_fixture):
    owner = site_fixture.voter("owner", days=3000)
    policy = site_fixture.policy(owner, "Longer trains")
    return policy, [site_fixture.voter(f"voter{i}", days=3000) for i in range(PEOPLE)]


class Person(threading.Thread):
    """Holds one more with each vote, for as long as the server answers. What was told as saved is `told`, what was sent `sent`."""

    def __init__(self, voter, policy, most=10**6):
        super().__init__()
        self.voter, self.policy, self.most = voter, policy, most
        self.told = self.sent = 0
        self.codes = set()

    def run(self):
        path = f"/my/votes/{self.policy}"
        try:
            while self.told == self.sent < self.most:
                page = self.voter.get(path)
                self.codes.add(page.code)
                if page.code != 200:
                    return
                self.sent += 1
                answer = self.voter.send(path, page.form(path), held=self.sent)
                self.codes.add(answer.code)
                if answer.code == 303:
                    self.told = self.sent
        except (OSError, http.client.HTTPException):
            pass  # the server is gone


def start(people):
    for person in people:
        person.start()


def wait_for_votes(people, count):
    deadline = time.monotonic() + PATIENCE_S
    while sum(person.told for person in people) < count:
        assert time.monotonic() < deadline, "no votes were saved"
        time.sleep(0.01)


def expect_whole(directory, people):
    """After another start: all that was told, and nothing that was not sent."""
    site_fixture = SiteFixture(directory)
    for person in people:
        person.voter.site_fixture = site_fixture
        held = person.voter.held().get(person.policy, 0)
        assert person.told <= held <= person.sent, person.voter.name
        assert person.codes <= {200, 303, 503}, person.codes
    site_fixture.stop()


def test_everybody_who_saves_at_once_is_told_their_own(directory):
    site_fixture = SiteFixture(directory)
    policy, voters = people_of(site_fixture)
    people = [Person(voter, policy, most=8) for voter in voters]
    start(people)
    for person in people:
        person.join()
    assert [(person.told, person.voter.held()[policy]) for person in people] == [(8, 8)] * PEOPLE
    site_fixture.stop()


class Sender(threading.Thread):
    """Sends one form in the same moment as the others."""

    def __init__(self, gate, voter, path, form, **changes):
        super().__init__()
        self.gate, self.voter, self.path, self.form, self.changes = gate, voter, path, form, changes
        self.answer = None

    def run(self):
        self.gate.wait()
        self.answer = self.voter.send(self.path, self.form, **self.changes)


def send_at_once(forms):
    gate = threading.Barrier(len(forms))
    senders = [Sender(gate, *form, **changes) for form, changes in forms]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
    return [sender.answer for sender in senders]


def test_what_one_does_wrong_is_told_to_nobody_else_when_one_thread_saves_for_all(directory):
    site_fixture = SiteFixture(directory, "save_threads", "1")
    policy, voters = people_of(site_fixture)
    path = f"/my/votes/{policy}"
    old = voters[0].get(path).form(path)
    for turn in range(1, 9):
        forms = [voter.get(path).form(path) for voter in voters]
        answers = send_at_once(
            [((voters[0], path, old), {"held": 50, "token": f"{turn:032x}"}),  # on a version that is gone, but for the first time
             ((voters[1], path, forms[1]), {"held": 10**9}),  # more than there is
             ((voters[2], path, forms[2]), {"held": turn, "csrf": "0" * 32}),
             ((voters[3], path, forms[3]), {"held": "many"}),
             ((voters[4], path, forms[4]), {"held": turn}),  # twice the same form
             ((voters[4], path, forms[4]), {"held": turn}),
             ((voters[5], path, forms[5]), {"held": 2 * turn}),  # two tabs
             ((voters[5], path, forms[5]), {"held": 2 * turn + 1, "token": f"{1000 + turn:032x}"}),
             *(((voter, path, form), {"held": turn}) for voter, form in zip(voters[6:], forms[6:]))])
        codes = [answer.code for answer in answers]
        assert codes[0] == (303 if turn == 1 else 409)
        assert codes[1:6] == [422, 403, 422, 303, 303], codes
        assert sorted(codes[6:8]) == [303, 409], codes
        assert codes[8:] == [303] * (PEOPLE - 6), codes
        held = [voter.held().get(policy, 0) for voter in voters]
        assert held[:5] == [50, 0, 0, 0, turn] and held[5] == 2 * turn + codes[6:8].index(303)
        assert held[6:] == [turn] * (PEOPLE - 6)
        assert answers[4].location == answers[5].location  # names the number of the save
    assert site_fixture.stop() == 0


def test_a_kill_loses_nothing_that_was_told_as_saved(directory):
    site_fixture = SiteFixture(directory)
    policy, voters = people_of(site_fixture)
    people = [Person(voter, policy) for voter in voters]
    start(people)
    wait_for_votes(people, 60)
    site_fixture.process.kill()
    site_fixture.process.wait()
    for person in people:
        person.join()
    expect_whole(directory, people)


def test_a_stop_finishes_what_is_being_saved(directory):
    site_fixture = SiteFixture(directory)
    policy, voters = people_of(site_fixture)
    people = [Person(voter, policy) for voter in voters]
    start(people)
    wait_for_votes(people, 60)
    assert site_fixture.stop() == 0
    for person in people:
        person.join()
    expect_whole(directory, people)
