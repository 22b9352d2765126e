"""What is one's own, by commands in somebody's name: profile, watch list, notices, e-mails; the same as on the pages."""
import json

import pytest

from test_ledger import Ledger


@pytest.fixture
def ledger(serve):
    return Ledger(serve().data)


def test_a_profile_is_shown_and_what_is_left_out_stays(ledger):
    ledger.user("ada")
    policy = ledger.policy("ada", "Clean rivers")
    shown = ledger.call("profile", "show", "--as", "ada")
    assert (shown["name"], shown["real_name"], shown["voted_for"], shown["created"]) == ("ada", None, 1, 1)
    assert [own["policy"] for own in shown["policies"]] == [policy]
    changed = ledger.call("profile", "set", "--as", "ada", "--real-name", "Ada L.", "--real-name-shown", "on")
    assert (changed["real_name"], changed["real_name_shown"]) == ("Ada L.", True)
    assert ledger.call("profile", "set", "--as", "ada", "--real-name-shown", "off")["real_name"] == "Ada L."
    assert ledger.run("profile", "set", "--as", "ada", "--real-name", "x" * 500).returncode == 1


def told(ledger, name, commands=False):
    return [one for one in ledger.call("notice", "list", "--as", name)["notices"] if bool(one["command"]) == commands]


def test_a_command_cannot_dismiss_what_tells_of_commands(ledger):
    ledger.user("ada")
    ledger.call("vote", "show", "--as", "ada")
    newest, looked = told(ledger, "ada", commands=True)
    assert [one["command"] for one in (newest, looked)] == ["notice list", "vote show"]
    refused = ledger.run("notice", "dismiss", "--as", "ada", looked["id"])
    assert refused.returncode == 1 and "the person can" in refused.stderr
    assert ledger.run("notice", "dismiss-all", "--as", "ada").returncode == 0
    assert "notice dismiss-all" in [one["command"] for one in told(ledger, "ada", commands=True)]


def test_a_policy_is_watched_and_its_notices_are_dismissed(ledger):
    ledger.user("ada")
    ledger.user("bob")
    policy = ledger.policy("ada", "Clean rivers")
    assert ledger.run("watch", "add", "--as", "bob", str(policy)).returncode == 0
    assert [(watched["policy"], watched["rank"]) for watched in ledger.call("watch", "list", "--as", "bob")["policies"]] == [(policy, 1)]
    assert ledger.run("watch", "add", "--as", "bob", "999999").returncode == 1
    assert ledger.run("policy", "retire", str(policy), "--as", "ada").returncode == 0
    (notice,) = told(ledger, "bob")
    assert (notice["kind"], notice["policy"]) == ("retired", policy)
    assert ledger.run("notice", "dismiss", "--as", "bob", "nothing").returncode == 1
    assert ledger.run("notice", "dismiss", "--as", "bob", notice["id"]).returncode == 0
    assert told(ledger, "bob") == []
    assert ledger.run("notice", "dismiss-all", "--as", "bob").returncode == 0
    assert ledger.run("watch", "remove", "--as", "bob", str(policy)).returncode == 0
    assert ledger.call("watch", "list", "--as", "bob")["policies"] == []


def test_e_mails_are_chosen_and_what_is_done_in_a_name_is_noted(ledger):
    ledger.user("ada")
    assert ledger.call("mailbox", "show", "--as", "ada") == {"digest": "never", "email": "ada@example.org", "suppressed": False}
    assert ledger.call("mailbox", "set", "--as", "ada", "--digest", "weekly")["digest"] == "weekly"
    assert ledger.run("mailbox", "set", "--as", "ada", "--digest", "hourly").returncode == 1
    assert "mailbox set" in json.dumps(ledger.call("audit", "list"))
