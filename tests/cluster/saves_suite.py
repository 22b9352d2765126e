"""Voters save through two instances of the site on one cluster while nodes are killed, paused and restarted.

The instances are what `serve` runs, without its pages (tests/fault/saves.h): ledger, projector, tasks. Afterwards each voter was told the truth: every
save that was acknowledged, on whichever instance, is in its chain, none that was refused is; and `ostraka verify` finds nothing."""
import json
import pathlib
import subprocess
import time

import pytest

import nodes
from conftest import clean_environment

KEYSPACE = "ostraka_saves"
SAVES = nodes.PLAIN / "tests/fault/saves"
OSTRAKA = nodes.PLAIN / "src/cli/ostraka"
VOTERS, THREADS = 60, 16
HURT_S = 8 if nodes.LONG else 4
END_S = 400  # the piece of work that is under way ends first, and a starved cluster takes its time over it
FAULTS = [("kill", "start"), ("pause", "resume"), ("restart", None)]
ROUNDS = 3 if nodes.LONG else 1


class Site:
    def __init__(self, directory):
        self.directory, self.runs, self.running = directory, 0, []
        done = subprocess.run(self.words("make"), text=True, capture_output=True, timeout=600)
        assert done.returncode == 0, done.stdout

    def words(self, command, **settings):
        named = {"directory": self.directory / "data", "store": nodes.address(KEYSPACE), "voters": VOTERS, **settings}
        return [SAVES, command, *(f"{name}={value}" for name, value in named.items())]

    def start(self):
        """One more instance, which saves until it is ended."""
        self.runs += 1
        settings = {"acks": self.directory / f"acks{self.runs}", "threads": THREADS, "run": self.runs}
        self.running.append(subprocess.Popen(self.words("run", **settings), text=True, stdout=subprocess.PIPE,
                                             stderr=subprocess.STDOUT))

    def acknowledged(self):
        return sum(line.startswith("Y ") for path in self.directory.glob("acks*") for line in path.read_text().splitlines())

    def saved(self):
        """The saves that were acknowledged, each once: a form that is sent again is told the same save again."""
        lines = [line.split() for path in self.directory.glob("acks*") for line in path.read_text().splitlines()]
        return {(words[1], words[2]) for words in lines if words[0] == "Y"}

    def wait_for_start(self, seconds=600):
        """Until each instance has answered somebody."""
        deadline = time.monotonic() + seconds
        while not all(path.exists() and path.stat().st_size for path in
                      (self.directory / f"acks{run + 1}" for run in range(self.runs))):
            assert time.monotonic() < deadline, "an instance does not answer"
            time.sleep(0.1)

    def wait_for_saves(self, more, seconds=240):
        before, deadline = self.acknowledged(), time.monotonic() + seconds
        while self.acknowledged() < before + more:
            for process in self.running:
                assert process.poll() is None, process.communicate()[0]
            assert time.monotonic() < deadline, f"{self.acknowledged() - before} of {more} saves in {seconds} s"
            time.sleep(0.1)

    def end(self):
        """Ends all instances in good order; what they said."""
        for process in self.running:
            process.terminate()
        said = [process.communicate(timeout=END_S)[0] for process in self.running]
        assert all(process.returncode == 0 for process in self.running), said
        self.running = []
        return said

    def check(self):
        every = self.directory / "every"
        every.write_text("".join(path.read_text() for path in sorted(self.directory.glob("acks*"))))
        done = subprocess.run(self.words("check", acks=every), text=True, capture_output=True, timeout=600)
        return done.returncode, done.stdout

    def audit(self):
        done = subprocess.run([OSTRAKA, "verify", "--json", "--data", self.directory / "data", "--store",
                               nodes.address(KEYSPACE)], text=True, capture_output=True, env=clean_environment(), timeout=600)
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        found = json.loads(done.stdout)
        assert found["faults"] == 0 and found["busy"] == 0
        return found["entries"]


@pytest.fixture
def site(tmp_path):
    nodes.heal()
    nodes.drop(KEYSPACE)
    made = Site(pathlib.Path(tmp_path))
    yield made
    for process in made.running:
        process.kill()
        process.wait()
    nodes.heal()


def test_two_instances_under_faults_tell_every_voter_the_truth(site):
    site.start()
    site.start()
    site.wait_for_start()
    for turn in range(ROUNDS * len(FAULTS)):
        hurt, healing = FAULTS[turn % len(FAULTS)]
        node = nodes.NODES[turn % len(nodes.NODES)]
        nodes.cluster(hurt, node)
        time.sleep(HURT_S)
        if healing:
            nodes.cluster(healing, node)
        site.wait_for_saves(10)
    said = site.end()
    code, found = site.check()
    assert code == 0, found
    entries = site.audit()
    print(f"\n{ROUNDS * len(FAULTS)} faults, {len(site.saved())} acknowledged saves, {entries} entries | {' | '.join(said)}")
    assert entries >= len(site.saved()) > 0
