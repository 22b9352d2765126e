"""Tasks and the auditor from the command line, alone and beside a running server."""
import json
import signal
import threading
import time

import pytest

from conftest import ostraka

TASKS = {"journals", "leaving", "project", "sweep", "sweep-older", "pass", "recount", "lists", "moves", "names", "digests", "reports", "keep", "retention",
         "checkpoint", "answers", "rankings", "merges", "letters", "letters-older", "report-letters"}


class Site:
    """Commands on one data directory; `call` expects success and returns JSON."""

    def __init__(self, data):
        self.data = str(data)

    def run(self, *words):
        return ostraka(*words, "--data", self.data)

    def call(self, *words):
        done = self.run(*words, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def vote(self, people=3):
        """Some people with a policy each, and a save on the first one."""
        ids = []
        for i in range(people):
            self.call("user", "add", f"user{i}", "--email", f"user{i}@example.org", "--confirmed",
                      "--registered", "2024-01-01")
            ids.append(self.call("policy", "create", "--as", f"user{i}", "--name", f"Policy {i}", "--description",
                                 "Text.", "--category", "Health")["policy"])
        for i in range(people):
            assert self.call("vote", "save", "--as", f"user{i}", f"{ids[0]}={150 + i}")["outcome"] == "saved"
        return ids


@pytest.fixture(params=["alone", "beside a server"])
def site(request, tmp_path, serve):
    return Site(tmp_path / "data" if request.param == "alone" else serve().data)


def test_every_task_runs_by_hand_and_is_listed(site):
    site.vote()
    for name in sorted(TASKS):
        done = site.call("task", "run", name)
        assert done["done"] is True and done["task"]["name"] == name and done["task"]["done"] >= 0 and done["task"]["found"] >= 0
    listed = site.call("task", "list")["tasks"]
    assert {task["name"] for task in listed} == TASKS
    for task in listed:
        assert task["errors"] == 0 and task["error"] is None and task["parts_under_way"] < task["parts"]
        if task["name"] not in ("journals", "leaving", "project", "rankings", "keep", "merges"):  # what these did is in the memory of their process
            assert task["whole"] is not None and task["state"] == "waits", task
    text = site.run("task", "list")
    assert text.returncode == 0 and len(text.stdout.splitlines()) == len(listed) + 1


def test_a_task_that_is_not_there(site):
    site.vote(1)
    done = site.run("task", "run", "dance")
    assert done.returncode == 1 and "dance" in done.stderr and done.stdout == ""
    assert site.run("task", "run").returncode == 2


def test_a_healthy_site_verifies(site):
    ids = site.vote()
    site.call("policy", "merge", str(ids[1]), "--into", str(ids[0]), "--reason", "the same")
    report = site.call("verify")
    assert report["faults"] == 0 and report["differences"] == [] and report["by_table"] == {} and not report["repaired"]
    assert report["voters"] == 3 and report["entries"] == 6 and report["policies"] == 3 and report["cells"] > 0
    words = site.run("verify")
    assert words.returncode == 0 and words.stdout.endswith("nothing differs\n") and words.stderr == ""
    assert site.call("verify", "--repair")["repaired"] is False


def test_the_scheduler_of_a_server_works_by_itself(serve):
    site = Site(serve().data)
    deadline = time.monotonic() + 30
    while True:
        listed = site.call("task", "list")["tasks"]
        if all(task["whole"] for task in listed):
            break
        assert time.monotonic() < deadline, [task for task in listed if not task["whole"]]
        time.sleep(0.2)
    assert all(task["parts_here"] and task["errors"] == 0 for task in listed)


def test_places_outlive_the_server(serve):
    server = serve()
    site = Site(server.data)
    site.vote()
    site.call("task", "run", "pass")
    assert server.stop() == 0
    (task,) = [task for task in site.call("task", "list")["tasks"] if task["name"] == "pass"]
    assert task["whole"] and task["parts_under_way"] == 0


def test_after_a_kill_in_the_middle_of_saves_nothing_differs(serve):
    for number in range(3):
        server = serve()
        site = Site(server.data)
        ids = site.vote() if number == 0 else ids
        saved = threading.Event()

        def save(server=server, site=site):
            for i in range(200):
                done = ostraka("vote", "save", "--as", f"user{i % 3}", f"{ids[i % 3]}={100 + i % 7}", "--data", server.data,
                               "--json")
                if done.returncode != 0 or server.process.poll() is not None:
                    return
                saved.set()

        thread = threading.Thread(target=save)
        thread.start()
        assert saved.wait(60)
        time.sleep(0.5)
        server.stop(signal.SIGKILL)
        thread.join()
        report = site.call("verify")
        assert report["faults"] == 0, report
