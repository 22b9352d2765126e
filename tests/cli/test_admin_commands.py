"""What admins do by command, and that it is so afterwards: how long things are kept, the texts of the site, logging somebody out."""
import json
import pathlib
import subprocess
import sys

import pytest

from conftest import BIN, ROOT, Serve, clean_environment, ostraka

sys.path.insert(0, str(ROOT / "tests" / "site"))
from browser import Browser  # noqa: E402

PASSWORD = "long enough for all"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    server = Serve(tmp_path_factory.mktemp("commands") / "data")
    yield server
    assert server.stop() == 0


def run(site, *words, code=0, **options):
    done = subprocess.run([BIN, *words, "--data", site.data], env=clean_environment(), capture_output=True, text=True, timeout=60, **options)
    assert done.returncode == code, done.stderr
    return done.stdout if code == 0 else done.stderr


def kept(site):
    return {row["name"]: row["days"] for row in json.loads(run(site, "retention", "list", "--json"))["retention"]}


def test_how_long_things_are_kept(site):
    assert kept(site) == {"logins": 90, "signals": 366, "acts": 730, "letters": 30}
    assert "instances learn of it within a minute" in run(site, "retention", "set", "letters", "5")
    run(site, "retention", "set", "logins", "30")
    assert kept(site) == {"logins": 30, "signals": 366, "acts": 730, "letters": 5}
    lines = run(site, "retention", "list").splitlines()
    assert [line.split()[:2] for line in lines[2:6]] == [["logins", "30"], ["signals", "366"], ["acts", "730"], ["letters", "5"]]


@pytest.mark.parametrize("name, days, says", [
    ("letters", "0", "letters: must be 1 to 365 days"), ("acts", "29", "must be 30 to 3650 days"), ("acts", "soon", "must be a whole number"),
    ("tea", "5", 'there is no period "tea"')])
def test_a_period_out_of_bounds_is_refused_and_changes_nothing(site, name, days, says):
    before = run(site, "retention", "list", "--json")
    assert says in run(site, "retention", "set", name, days, code=1)
    assert run(site, "retention", "list", "--json") == before


def test_texts_are_shown_written_and_numbered(site, tmp_path):
    first = json.loads(run(site, "text", "show", "terms", "--json"))
    assert first["revision"] == 0 and first["words"]
    text = tmp_path / "terms.md"
    for number, words in ((1, "# Terms\n\nBe *kind*.\n"), (2, "# Terms\n\nBe kinder.\n")):
        text.write_text(words)
        assert "the text stands" in run(site, "text", "write", "terms", str(text))
        shown = json.loads(run(site, "text", "show", "terms", "--json"))
        assert (shown["text"], shown["revision"], shown["words"]) == ("terms", number, words) and shown["time"]
        assert run(site, "text", "show", "terms") == words
    assert "Be kinder." in site.get("/terms")[2] and "<em>kind</em>" not in site.get("/terms")[2]
    assert json.loads(run(site, "text", "show", "privacy", "--json"))["revision"] == 0, "the other one is as it was"


def test_a_text_that_cannot_be_is_refused(site, tmp_path):
    large = tmp_path / "large"
    large.write_text("x" * (1024 * 1024))
    assert "is one of privacy and terms" in run(site, "text", "show", "tea", code=1)
    assert "is one of privacy and terms" in run(site, "text", "write", "tea", str(large), code=1)
    for path in (large, tmp_path / "none", tmp_path):
        run(site, "text", "write", "privacy", str(path), code=1)
    assert json.loads(run(site, "text", "show", "privacy", "--json"))["revision"] == 0


def test_somebody_is_logged_out_everywhere_and_others_are_not(site):
    browsers = {}
    for name in ("anna", "bert"):
        run(site, "user", "add", name, "--email", f"{name}@example.org", "--confirmed", "--password-stdin", input=PASSWORD)
        browsers[name] = [Browser(site.port), Browser(site.port)]
        for browser in browsers[name]:
            browser.send(browser.get("/login"), "/login", name=name, password=PASSWORD)
            assert browser.ask("GET", "/my/profile").code == 200
    assert "logged out everywhere" in run(site, "user", "logout", "anna")
    assert [browser.ask("GET", "/my/profile").code for browser in browsers["anna"]] == [303, 303]
    assert [browser.ask("GET", "/my/profile").code for browser in browsers["bert"]] == [200, 200]
    again = browsers["anna"][0]
    again.send(again.get("/login"), "/login", name="anna", password=PASSWORD)
    assert again.ask("GET", "/my/profile").code == 200, "it is no ban"
    assert "nobody" in run(site, "user", "logout", "nobody", code=1)


def test_commands_alone_do_the_same(tmp_path):
    data = str(tmp_path / "data")
    assert ostraka("user", "add", "anna", "--email", "anna@example.org", "--data", data).returncode == 0
    assert ostraka("user", "logout", "anna", "--data", data).returncode == 0
    assert ostraka("retention", "set", "letters", "7", "--data", data).returncode == 0
    assert {"name": "letters", "days": 7} in [
        {name: row[name] for name in ("name", "days")}
        for row in json.loads(ostraka("retention", "list", "--json", "--data", data).stdout)["retention"]]
    pathlib.Path(tmp_path / "words").write_text("Words.\n")
    assert ostraka("text", "write", "privacy", "words", "--data", data, cwd=tmp_path).returncode == 0
    assert ostraka("text", "show", "privacy", "--data", data).stdout == "Words.\n"


def test_a_clock_is_confirmed_and_noted(site):
    assert json.loads(run(site, "clock", "confirm", "--reason", "NTP agrees.", "--json"))["stepped_s"] == 0
    entry = json.loads(run(site, "audit", "list", "--kind", "clock", "--json"))["acts"][0]
    assert (entry["kind"], entry["reason"], entry["outcome"]) == ("clock", "NTP agrees.", "done")


def test_a_policy_that_is_not_dated_ahead_is_left_alone(site):
    run(site, "user", "add", "ahead", "--email", "ahead@example.org", "--confirmed", "--password-stdin", input=PASSWORD)
    policy = json.loads(run(site, "policy", "create", "--as", "ahead", "--name", "Trams", "--description", "More.", "--category", "1", "--json"))["created"]
    assert "none of its moves is ahead" in run(site, "policy", "repair-time", str(policy), "--reason", "Its clock was wrong.", code=1)
    entry = json.loads(run(site, "audit", "list", "--kind", "policy-time", "--json"))["acts"][0]
    assert (entry["object"], entry["outcome"]) == (policy, "not-done")
