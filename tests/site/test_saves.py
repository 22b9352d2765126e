"""Many people save at once, through the threads that are there for saves; and the server stops, or is killed, in the middle of it."""
import http.client
import threading
import time

import pytest

from booth import Booth

PEOPLE = 12
PATIENCE_S = 60


@pytest.fixture
def directory(tmp_path):
    return tmp_path / "data"


def people_of(booth):
    owner = booth.voter("owner", days=3000)
    policy = booth.policy(owner, "Longer trains")
    return policy, [booth.voter(f"voter{i}", days=3000) for i in range(PEOPLE)]


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
    booth = Booth(directory)
    for person in people:
        person.voter.booth = booth
        held = person.voter.held().get(person.policy, 0)
        assert person.told <= held <= person.sent, person.voter.name
        assert person.codes <= {200, 303, 503}, person.codes
    booth.stop()


def test_everybody_who_saves_at_once_is_told_their_own(directory):
    booth = Booth(directory)
    policy, voters = people_of(booth)
    people = [Person(voter, policy, most=8) for voter in voters]
    start(people)
    for person in people:
        person.join()
    assert [(person.told, person.voter.held()[policy]) for person in people] == [(8, 8)] * PEOPLE
    booth.stop()


def test_a_kill_loses_nothing_that_was_told_as_saved(directory):
    booth = Booth(directory)
    policy, voters = people_of(booth)
    people = [Person(voter, policy) for voter in voters]
    start(people)
    wait_for_votes(people, 60)
    booth.process.kill()
    booth.process.wait()
    for person in people:
        person.join()
    expect_whole(directory, people)


def test_a_stop_finishes_what_is_being_saved(directory):
    booth = Booth(directory)
    policy, voters = people_of(booth)
    people = [Person(voter, policy) for voter in voters]
    start(people)
    wait_for_votes(people, 60)
    assert booth.stop() == 0
    for person in people:
        person.join()
    expect_whole(directory, people)
