"""A store that goes wholly dark behind a change: every operation that changes something is done by each of its doors while the store goes away
behind its first change, its second, and so on. Whatever the answer is then, it does not say that nothing was changed when something was,
and where it does not know it says so."""
import pathlib

import pytest
from door_examples import EXAMPLES
from doors import OPERATIONS, Site, attempt, doors_of, prepare, table
from provider import Provider

CHANGES_MAX, ATTEMPTS_MAX = 40, 25
NOTES = {"counters", "logins", "token_uses", "request_keys", "changed", "dirty", "task_state", "instances", "audit", "audit_index", "news"}
# What comes to nothing by itself, by operation: a policy without its entry, a plan of a setting, a registration that is void.
NOT_YET = {"policy_create": {"policies", "policy_index"}, "setting_set": {"settings"}, "account_register": {"accounts", "names", "signals"}}
SAME_AGAIN = {"roll_import"}  # the example has written the same cells before
# Routes that may change something and are no operation's: the test that has them fail behind a change.
TESTED_BY = {
    # Journals are not in the store.
    ("POST", "/api/v1/journals/{journal}/entries"): "journal/journal_test.c: a_failed_write_is_unknown_and_the_journal_opens_again_by_itself",
}
DEEDS = [(name, example) for name, example in EXAMPLES if not OPERATIONS[name]["asks"]]


class Sites:
    """One after the other: all that a site holds is read twice for each attempt, so none grows large."""

    def __init__(self, directory):
        self.directory, self.site, self.number, self.provider = directory, None, 0, Provider()

    def next_attempt(self):
        if self.site and self.site.attempts == ATTEMPTS_MAX:
            self.stop()
        if not self.site:
            self.number += 1
            self.site = Site(self.directory / f"site{self.number}", self.provider)
            self.site.attempts = 0
        self.site.attempts += 1
        return self.site

    def stop(self):
        site, self.site = self.site, None
        assert not site or not site.stop()


@pytest.fixture(scope="module")
def sites(tmp_path_factory):
    sites = Sites(tmp_path_factory.mktemp("dark"))
    yield sites
    sites.stop()
    sites.provider.stop()


def denies(text):
    """It says that nothing was done, for want of the store; that a rule says no is another matter."""
    return any(words in text for words in ("Nothing was changed", "Nothing of this form was saved", "Nothing is saved yet", '"unavailable"', '"corrupt"', "not done, try again"))


def says_unknown(text):
    return any(words in text for words in ("We do not know", '"unknown"', "not done twice", "perhaps done", "is finished in the background"))


def changes(name, door, before, after):
    skipped = NOTES | NOT_YET.get(name, set())
    if door == "command" and OPERATIONS[name]["shows"]:
        skipped = skipped | {"mail_queue", "mail_index"}  # that a command is given in the person's name; it is sent before that is done
    lines = [line.split("\t") for line in before ^ after]
    return ["\t".join(parts) for parts in lines if parts[0] == "cell" and parts[1] not in skipped and not (parts[1] == "sessions" and parts[3] == "seen")]


def do_in_the_dark(sites, name, example, door, n):
    """Whether it came so far."""
    site = sites.next_attempt()
    try:
        deed = prepare(site, site.attempts, example, name, door)
    except AssertionError:  # a name of this example is taken by the attempt before
        sites.stop()
        site = sites.next_attempt()
        deed = prepare(site, site.attempts, example, name, door)
    if deed.refused is not None:
        return False
    return judge(site, name, door, n, lambda: attempt(site, deed, OPERATIONS[name], door)[:2], deed.after)


def judge(site, name, door, n, act, after=None):
    """Whether it came so far as to be in the dark."""
    before = site.dump()
    site.tell("dark", n)
    done, text = act()
    was_dark = site.tell("dark", 0) == "done 1"
    found = changes(name, door, before, site.dump())
    if after:
        after(site)
    where = f"{name} by {door}, dark behind change {n}: {text}"
    if found:
        assert not denies(text), f"{where}\nchanged: {found}"
    if found and text.startswith("50"):
        assert says_unknown(text), f"{where}\nchanged: {found}"
    if was_dark and not found and name not in NOT_YET.keys() | SAME_AGAIN:
        assert not done, where
    return was_dark


@pytest.mark.parametrize("name, example", DEEDS, ids=[f"{name}-{example.__name__}" for name, example in DEEDS])
def test_no_answer_denies_what_was_done(sites, name, example):
    for door in doors_of(OPERATIONS[name]):
        for n in range(1, CHANGES_MAX):
            if not do_in_the_dark(sites, name, example, door, n):
                break
        else:
            pytest.fail(f"{name} by {door} makes {CHANGES_MAX} changes or more")


def test_every_route_that_may_change_something_is_tried_in_the_dark():
    """Operations are: each has an example. A route of its own names its test."""
    of_operations = {(row["method"], f"/api/v1/{row['api']}") for row in OPERATIONS.values() if row["api"]}
    of_operations |= {("POST", row["page"]) for row in OPERATIONS.values() if row["page"]}
    changing = {(route["method"], route["path"]) for route in table("routes") if route["method"] != "GET"}
    assert changing - of_operations == set(TESTED_BY), "an OPERATION, or a line in TESTED_BY with the test that covers it"
    tests = pathlib.Path(__file__).resolve().parents[1]
    missing = [named for named in TESTED_BY.values() if f"{named.split(': ')[1]}(" not in (tests / named.split(": ")[0]).read_text().replace(")", "(")]
    assert missing == []
