"""Demo data: the same seed gives the same ledger, which is whole; and it never mixes with anything else."""
import json

import pytest

from conftest import ostraka

SMALL = ["--voters", "150", "--policies", "30", "--days", "12"]
UNTIL = ["--until", "2026-03-01T15:00:00Z"]


def demo(data, *words):
    return ostraka("demo", "--data", str(data), *words)


def answer(data, *words):
    done = ostraka(*words, "--json", "--data", str(data))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def picture(data):
    """What a reader can ask for, but for the moment of asking."""
    names = [account["name"] for account in answer(data, "user", "list")["people"]]
    rankings = [answer(data, "rank", "top", "--limit", "100", *more)["policies"]
                for more in (["--days", "0"], ["--at", "2026-02-25T12:00"], ["--category", "Transport"])]
    histories = {name: [event for event in answer(data, "vote", "history", "--as", name)["events"] if not event["is_salary"]]
                 for name in names[:4]}
    return names, rankings, histories, answer(data, "policy", "list")["policies"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    data = tmp_path_factory.mktemp("demo") / "data"
    done = demo(data, *SMALL, *UNTIL, "--seed", "7", "--json")
    assert done.returncode == 0, done.stderr
    return data, json.loads(done.stdout), picture(data)


def test_the_same_seed_gives_the_same_ledger_and_another_one_another(made, tmp_path):
    _, summary, before = made
    again = demo(tmp_path / "again", *SMALL, *UNTIL, "--seed", "7", "--json")
    assert json.loads(again.stdout) == summary
    assert picture(tmp_path / "again") == before
    assert demo(tmp_path / "other", *SMALL, *UNTIL, "--seed", "8").returncode == 0
    assert picture(tmp_path / "other")[1] != before[1]


def test_it_is_what_was_asked_for_and_whole(made):
    data, summary, before = made
    assert (summary["voters"], summary["policies"], summary["until"]) == (150, 30, "2026-03-01T15:00:00.000Z")
    assert summary["saves"] > 300 and summary["refused"] == 0
    assert answer(data, "verify")["entries"] == summary["saves"]
    times = [entry["time"] for history in before[2].values() for entry in history]
    assert times and all("2026-02-17T15" <= time < "2026-03-01T15" for time in times)


def test_policies_have_names_and_texts_of_their_own(made):
    policies = made[2][3]
    names = [policy["name"] for policy in policies if policy["name"]]
    assert len(names) >= 29 and len(set(names)) == len(names)
    text = answer(made[0], "policy", "show", str(policies[0]["id"]))
    assert "### What we propose" in text["description"] and "https://example.org/" in text["description"]


def test_few_policies_have_most_of_the_votes(made):
    votes = [row["votes"] for row in answer(made[0], "rank", "top", "--limit", "100", "--days", "0")["policies"]]
    assert sum(votes[:len(votes) // 4]) > 0.45 * sum(votes)


def test_without_an_end_it_reaches_to_this_hour(tmp_path):
    done = demo(tmp_path / "data", "--voters", "40", "--policies", "5", "--days", "3")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("\n") == 10, "a line for each tenth where there is no terminal"
    assert sum(row["votes"] for row in answer(tmp_path / "data", "rank", "top", "--days", "4")["policies"]) >= 500


def test_data_that_is_there_is_never_touched(made, tmp_path):
    refused = demo(made[0], *SMALL)
    assert refused.returncode == 1 and "holds data already" in refused.stderr and refused.stderr.count("\n") == 1
    assert picture(made[0]) == made[2]
    assert ostraka("user", "add", "ada", "--email", "ada@example.org", "--data", str(tmp_path / "site")).returncode == 0
    assert demo(tmp_path / "site", *SMALL).returncode == 1
    assert [account["name"] for account in answer(tmp_path / "site", "user", "list")["people"]] == ["ada"]


def test_a_directory_that_a_server_owns_is_refused(serve):
    refused = demo(serve().data, *SMALL)
    assert refused.returncode == 1 and refused.stderr.startswith("ostraka: ") and refused.stderr.count("\n") == 1


@pytest.mark.parametrize("words, code", [
    (["--voters", "0"], 1), (["--voters", "-1"], 1), (["--voters", "many"], 1), (["--voters", "99999999999999999999"], 1),
    (["--policies", "100001"], 1), (["--voters", "10", "--policies", "11"], 1), (["--days", "0"], 1), (["--days", "3651"], 1),
    (["--seed", "x"], 1), (["--until", "tomorrow"], 1), (["--until", "9000-01-01"], 1), (["--until", "1970-01-02"], 1),
    (["--colour", "red"], 2), (["--days"], 2), (["operand"], 2),
])
def test_bad_words_fail_with_one_sentence_and_make_nothing(tmp_path, words, code):
    done = demo(tmp_path / "data", *words)
    assert done.returncode == code and done.stderr.startswith("ostraka: ") and done.stderr.count("\n") == 1
    assert not (tmp_path / "data").exists()
