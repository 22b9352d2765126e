"""The whole ledger driven from the command line, alone and beside a running server."""
import crypt
import json
import resource
import subprocess
import time
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest

from conftest import BIN, PLAIN, Serve, clean_environment, ostraka


class Ledger:
    """Commands on one data directory; `call` expects success and returns JSON."""

    def __init__(self, data):
        self.data = str(data)

    def run(self, *words):
        return ostraka(*words, "--data", self.data)

    def call(self, *words):
        done = self.run(*words, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def answer(self, *words):
        return json.loads(self.run(*words, "--json").stdout)

    def user(self, name, *flags):
        return self.call("user", "add", name, "--email", f"{name}@example.org", "--confirmed", *flags)["id"]

    def saves(self, name):
        return [event for event in self.call("vote", "history", "--as", name)["events"] if not event["is_salary"]]

    def policy(self, owner, name):
        return self.call("policy", "create", "--as", owner, "--name", name, "--description", "Text.",
                         "--category", "Health")["policy"]


@pytest.fixture(params=["alone", "beside a server"])
def ledger(request, tmp_path, serve):
    if request.param == "alone":
        return Ledger(tmp_path / "data")
    return Ledger(serve().data)


@pytest.fixture(scope="module", params=["alone", "beside a server"])
def standing(request, tmp_path_factory):
    """One with a user, for commands that change nothing."""
    data, server = tmp_path_factory.mktemp("standing") / "data", None
    if request.param == "beside a server":
        server = Serve(data)
    ledger = Ledger(data)
    ledger.user("ada")
    yield ledger
    if server:
        assert server.stop() == 0


def test_a_vote_is_saved_counted_and_ranked(ledger):
    ledger.user("ada")
    ledger.user("bob")
    rivers, trams = ledger.policy("ada", "Clean rivers"), ledger.policy("bob", "More trams")
    ledger.user("cleo")
    saved = ledger.call("vote", "save", "--as", "cleo", f"{trams}=30", f"{rivers}=10")
    assert saved["outcome"] == "saved" and saved["seq"] == 1 and saved["balance"] == 60
    assert saved["lines"] == {str(rivers): 10, str(trams): 30}
    top = ledger.call("rank", "top")["policies"]
    assert [(row["id"], row["votes"]) for row in top] == [(trams, 130), (rivers, 110)]
    place = ledger.call("rank", "show", str(rivers), "--days", "3")
    recent = place["recent"]
    assert recent["rank"] == 2 and recent["above"] == trams and recent["to_beat"] == 21 - (rivers < trams) and place["total"] == 110
    assert ledger.call("policy", "show", str(trams))["votes"] == 130


def test_two_saves_on_one_version_one_stands(ledger):
    ledger.user("ada")
    policy = ledger.policy("ada", "Clean rivers")
    ledger.user("bob")
    seen = ledger.call("vote", "show", "--as", "bob")["version"]
    assert ledger.call("vote", "save", "--as", "bob", "--seen", seen, f"{policy}=5")["outcome"] == "saved"
    second = ledger.answer("vote", "save", "--as", "bob", "--seen", seen, f"{policy}=7")
    assert second["outcome"] == "stale" and second["lines"] == {str(policy): 5} and second["seq"] == 1


def test_the_same_form_twice_is_one_save(ledger):
    ledger.user("ada")
    policy = ledger.policy("ada", "Clean rivers")
    ledger.user("bob")
    token, seen = uuid.uuid4().hex, ledger.call("vote", "show", "--as", "bob")["version"]
    first = ledger.call("vote", "save", "--as", "bob", "--seen", seen, "--token", token, f"{policy}=5")
    again = ledger.call("vote", "save", "--as", "bob", "--seen", seen, "--token", token, f"{policy}=5")
    assert first["outcome"] == again["outcome"] == "saved" and again["seq"] == 1
    assert len(ledger.saves("bob")) == 1


def test_withdrawing_costs_half_and_says_so_before(ledger):
    ledger.user("ada")
    policy = ledger.policy("ada", "Clean rivers")
    ledger.user("bob")
    ledger.call("vote", "save", "--as", "bob", f"{policy}=100")
    cost = ledger.call("vote", "cost", "--as", "bob", f"{policy}=80")
    assert (cost["penalty"], cost["given_back"], cost["balance"]) == (10, 10, 10)
    assert ledger.call("vote", "save", "--as", "bob", f"{policy}=80")["balance"] == 10


@pytest.mark.parametrize("wish, rule", [("{}=101", "balance"), ("{}=-1", "held"), ("999999=1", "no_policy")])
def test_a_refusal_names_its_rule(ledger, wish, rule):
    ledger.user("ada")
    policy = ledger.policy("ada", "Clean rivers")
    ledger.user("bob")
    refused = ledger.answer("vote", "save", "--as", "bob", wish.format(policy))
    assert refused["outcome"] == "refused" and refused["rule"] == rule and refused["seq"] == 0


def test_without_json_a_save_says_what_is_held_or_why_not(ledger):
    ledger.user("ada")
    policy = ledger.policy("ada", "Clean rivers")
    ledger.user("bob")
    saved = ledger.run("vote", "save", "--as", "bob", f"{policy}=5")
    assert saved.returncode == 0 and saved.stdout.startswith(f"Saved as number 1. 95 unspent pollies.\n  policy {policy}: 5\n")
    refused = ledger.run("vote", "save", "--as", "bob", f"{policy}=101")
    assert (refused.returncode, refused.stdout) == (1, "") and "1 too few for this" in refused.stderr
    stale = ledger.run("vote", "save", "--as", "bob", "--seen", "0" * 32, f"{policy}=6")
    assert (stale.returncode, stale.stdout) == (1, "") and "saved from elsewhere first" in stale.stderr
    assert ledger.run("vote", "history", "--as", "bob").stdout.splitlines()[1] == f"    policy {policy}: 0 -> 5"


@pytest.mark.parametrize("words", [
    ["vote", "save", "--as", "nobody", "1=1"],
    ["vote", "save", "1=1"],
    ["vote", "save", "--as", "ada", "1:1"],
    ["vote", "save", "--as", "ada", "--seen", "xyz", "1=1"],
    ["policy", "create", "--as", "ada", "--name", "ab", "--category", "Health"],
    ["policy", "create", "--as", "ada", "--name", "No category"],
    ["policy", "create", "--as", "ada", "--name", "Wrong category", "--category", "Nonsense"],
    ["policy", "show", "777"],
    ["policy", "delete", "777", "--reason", "x"],
    ["user", "add", "ada", "--email", "other@example.org"],
    ["user", "add", "x", "--email", "x@example.org"],
    ["user", "add", "carl", "--email", "no at sign"],
    ["setting", "set", "salary", "-5"],
    ["setting", "set", "celery", "5"],
    ["rank", "top", "--days", "32"],
])
def test_bad_words_fail_with_one_sentence(standing, words):
    done = standing.run(*words)
    assert done.returncode == 1 and done.stderr.startswith("ostraka: ") and done.stderr.count("\n") == 1


def test_an_official_answer_is_given_changed_and_shown(ledger):
    ledger.user("ada")
    ledger.user("office", "--role", "respond")
    policy = str(ledger.policy("ada", "Clean rivers"))
    none = ledger.call("policy", "answer", policy)
    assert (none["policy"], none["answered"], none["due"], none["text"]) == (int(policy), False, False, None)
    refused = ledger.run("policy", "answer", policy, "--as", "ada", "--text", "Yes.")
    assert refused.returncode == 1 and "needs a role" in refused.stderr
    for words in (["--outcome", "maybe", "--text", "Yes."], ["--outcome", "done"], ["--text", " "]):
        assert ledger.run("policy", "answer", policy, *words).returncode == 1, words
    first = ledger.call("policy", "answer", policy, "--as", "office", "--text", "We *look* at it.", "--outcome", "considering")
    assert (first["outcome"], first["revision"]) == ("considering", 1)
    second = ledger.call("policy", "answer", policy, "--outcome", "accepted")
    assert (second["text"], second["outcome"], second["revision"]) == ("We *look* at it.", "accepted", 2)
    assert "Accepted" in ledger.run("policy", "answer", policy).stdout
    assert [one["outcome"] for one in ledger.call("policy", "answers", policy)["answers"]] == ["accepted", "considering"]
    acts = ledger.call("audit", "list", "--policy", policy, "--public")["acts"]
    acts = acts if isinstance(acts, list) else acts["acts"]
    assert [act["kind"] for act in acts] == ["policy-answer", "policy-answer"] and {act["outcome"] for act in acts} == {"done"}


def test_what_moderators_do_is_noted_with_its_reason(ledger):
    ledger.user("ada")
    ledger.user("bob")
    ledger.user("cleo", "--role", "moderate_policies")
    a, b = str(ledger.policy("ada", "Clean rivers")), str(ledger.policy("bob", "Cleaner rivers"))
    ledger.call("policy", "delete", a, "--as", "cleo", "--reason", "abuse")
    ledger.call("policy", "appeal", a, "--as", "cleo", "--reason", "a mistake")
    target = ledger.call("policy", "merge", a, b, "--into", "new", "--name", "Rivers", "--as", "cleo", "--reason", "the same")["id"]
    ledger.call("policy", "retire", str(target), "--reason", "over")
    acts = ledger.call("audit", "list", "--public")["acts"]
    acts = acts if isinstance(acts, list) else acts["acts"]
    assert [(act["kind"], act["reason"]) for act in acts] == [
        ("policy-retire", "over"), ("policy-merge-new", "the same"), ("policy-restore", "a mistake"),
        ("policy-delete", "abuse")]


def test_retiring_merging_deleting_and_appealing(ledger):
    ledger.user("ada")
    ledger.user("bob")
    ledger.user("eve")
    a, b, c = ledger.policy("ada", "First one"), ledger.policy("bob", "Second one"), ledger.policy("eve", "Third one")
    ledger.user("cleo")
    ledger.call("vote", "save", "--as", "cleo", f"{a}=20", f"{b}=30", f"{c}=40")
    assert ledger.run("policy", "merge", str(a), "--into", str(b)).returncode == 0
    assert ledger.call("policy", "show", str(b))["votes"] == 250
    assert ledger.call("policy", "show", str(a))["state"] == "merged"
    shown = ledger.call("vote", "show", "--as", "cleo")
    assert shown["lines"] == {str(b): 50, str(c): 40}, "merged lines are one, as on the page"
    assert ledger.call("profile", "show", "--as", "cleo")["voted_for"] == 2
    taken = ledger.call("vote", "save", "--as", "cleo", f"{b}=30")
    assert taken["lines"] == {str(b): 30, str(c): 40}
    assert taken["balance"] == 30, "what was merged comes back free"
    assert ledger.run("policy", "retire", str(c), "--as", "cleo").returncode == 1
    edited = ledger.call("policy", "edit", str(c), "--as", "eve", "--name", "Another name")
    assert (edited["id"], edited["name"], edited["state"]) == (c, "Another name", "active")
    retired = ledger.call("policy", "retire", str(c), "--as", "eve", "--for", str(b))
    assert (retired["id"], retired["state"]) == (c, "retired")
    assert ledger.call("vote", "show", "--as", "cleo")["balance"] == 70
    assert ledger.call("vote", "show", "--as", "eve")["balance"] == 50
    assert ledger.run("policy", "delete", str(b), "--reason", "abuse").returncode == 0
    assert [row["id"] for row in ledger.call("rank", "top")["policies"]] == []
    assert ledger.run("policy", "appeal", str(b)).returncode == 0
    assert [row["id"] for row in ledger.call("rank", "top")["policies"]] == [b]


def test_leaving_withdraws_everything(ledger):
    ledger.user("ada")
    policy = ledger.policy("ada", "Clean rivers")
    ledger.user("bob")
    ledger.call("vote", "save", "--as", "bob", f"{policy}=25")
    assert ledger.call("policy", "show", str(policy))["votes"] == 125
    assert ledger.run("user", "delete", "bob").returncode == 0
    assert ledger.run("vote", "show", "--as", "bob").returncode == 1
    ledger.user("bob")  # the name is free again
    assert ledger.call("policy", "show", str(policy))["votes"] == 100


def test_a_password_comes_by_stdin(ledger):
    done = subprocess.run([BIN, "user", "add", "ada", "--email", "ada@example.org", "--password-stdin", "--data", ledger.data],
                          input="correct horse battery\n", text=True, capture_output=True, env=clean_environment(), timeout=60)
    assert done.returncode == 0, done.stderr
    short = subprocess.run([BIN, "user", "add", "bob", "--email", "bob@example.org", "--password-stdin", "--data", ledger.data],
                           input="short\n", text=True, capture_output=True, env=clean_environment(), timeout=60)
    assert short.returncode == 1 and "10" in short.stderr


def test_a_password_takes_the_work_of_4096_rounds(tmp_path):
    """In the build that differs from a release in nothing that matters here; the one with sanitizers is cheaper, for those who log in."""
    began = time.process_time()
    crypt.crypt("correct horse battery", "$2b$12$" + "abcdefghijklmnopqrstuu")
    whole, before = time.process_time() - began, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run([PLAIN, "user", "add", "ada", "--email", "ada@example.org", "--password-stdin", "--data", tmp_path / "data"],
                   input="correct horse battery\n", text=True, capture_output=True, env=clean_environment(), timeout=60, check=True)
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before > 0.7 * whole


def test_many_at_once_on_one_version_exactly_one_stands(serve):
    ledger = Ledger(serve().data)
    ledger.user("ada")
    policy = ledger.policy("ada", "Clean rivers")
    ledger.user("bob")
    seen = ledger.call("vote", "show", "--as", "bob")["version"]
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda held: ledger.answer("vote", "save", "--as", "bob", "--seen", seen, f"{policy}={held}"),
                                range(1, 17)))
    outcomes = sorted(answer["outcome"] for answer in answers)
    assert outcomes == ["saved"] + ["stale"] * 15
    assert len(ledger.saves("bob")) == 1


def test_the_past_has_its_own_ranking(ledger):
    ledger.user("ada")
    policy = ledger.policy("ada", "Clean rivers")
    history = ledger.call("rank", "history", str(policy), "--by", "hour", "--count", "5")
    assert history["policy"] == policy and history["by_hour"] and history["points"] == []
    assert ledger.call("rank", "top", "--at", "2026-01-31T12:00:00Z")["policies"] == []
    future = ledger.run("rank", "top", "--at", "2099-01-01")
    assert future.returncode == 1 and "over" in future.stderr
