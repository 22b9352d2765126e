"""nodes.py -- the cluster as the suites beside it see it: nodes to hurt and to heal, and a load that runs meanwhile."""
import os
import pathlib
import re
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools/cluster"))

import asking  # noqa: E402
import settings  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TOOL = ROOT / "tools/cluster/cluster.py"
PLAIN = pathlib.Path(os.environ.get("OSTRAKA_PLAIN", ROOT / "build/plain")).resolve()
HOSTS = os.environ.get("OSTRAKA_TEST_CASSANDRA", "127.0.0.1,127.0.0.2,127.0.0.3")
LONG = os.environ.get("OSTRAKA_LONG") == "1"
NODES = tuple(settings.NODES)
TICK = re.compile(r"at (\S+) ok (\d+) conflict (\d+) unavailable (\d+) unknown (\d+) unread (\d+)")


def address(keyspace):
    return f"cassandra://{HOSTS}/{keyspace}"


def cluster(*words, check=True):
    done = subprocess.run([sys.executable, str(TOOL), *map(str, words)], capture_output=True, text=True, check=False,
                          timeout=300)
    assert done.returncode == 0 or not check, f"./dev cluster {' '.join(map(str, words))}: {done.stdout}{done.stderr}"
    return done


def states():
    """By node: up, starting, paused or down."""
    lines = cluster("status", check=False).stdout.splitlines()
    return {int(words[1]): words[3] for words in map(str.split, lines)}


def heal():
    """All three run and know each other."""
    for node, state in states().items():
        if state == "paused":
            cluster("resume", node)
    cluster("up")
    deadline = time.monotonic() + 60
    while cluster("status", check=False).returncode != 0:
        assert time.monotonic() < deadline, cluster("status", check=False).stdout
        time.sleep(0.5)


def drop(keyspace):
    """It is gone, and all nodes know."""
    asking.ask(HOSTS.split(",")[0], settings.CQL_PORT, f"DROP KEYSPACE IF EXISTS {keyspace}", timeout=180)
    cluster("up")


class Load:
    """tests/cluster/load while it runs."""
    PROGRAM = PLAIN / "tests/cluster/load"

    def __init__(self, keyspace, acks, **words):
        self.arguments = {"address": address(keyspace), "acks": acks, **words}
        self.ticks, self.lines = [], []  # (time, answers so far by kind), and what else it said
        self.process = subprocess.Popen([self.PROGRAM, "run", *self.words()], text=True, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT)
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def words(self):
        return [f"{name}={value}" for name, value in self.arguments.items()]

    def read(self):
        for line in self.process.stdout:
            tick = TICK.match(line)
            if tick:
                names = ("ok", "conflict", "unavailable", "unknown", "unread")
                self.ticks.append((float(tick.group(1)), dict(zip(names, map(int, tick.groups()[1:])))))
            else:
                self.lines.append(line)

    def wait(self, seconds):
        """Its exit status and last words; None when it hangs."""
        try:
            status = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = self.process.wait() and None
        self.reader.join()
        return status, "".join(self.lines)

    def count(self, kind, at=None):
        """How many answers of that kind there were at that time, or by now."""
        counts = [counts for time_s, counts in list(self.ticks) if at is None or time_s <= at]
        return counts[-1][kind] if counts else 0

    def rate(self, begin, end):
        """Answered OK, a second, between two times."""
        return (self.count("ok", end) - self.count("ok", begin)) / (end - begin)

    def first_after(self, kind, moment):
        """How long after that moment the count first grew; None when it did not."""
        before = self.count(kind, moment)
        return next((time_s - moment for time_s, counts in self.ticks if time_s > moment and counts[kind] > before), None)

    def longest_without_ok(self, begin):
        """The longest time without an OK after `begin`."""
        longest, last, count = 0.0, begin, self.count("ok", begin)
        for time_s, counts in self.ticks:
            if time_s > begin and counts["ok"] > count:
                longest, last, count = max(longest, time_s - last), time_s, counts["ok"]
        return longest

    def wait_for(self, kind, more, seconds=60):
        """Until there were so many more answers of that kind."""
        before, deadline = self.count(kind), time.monotonic() + seconds
        while self.count(kind) < before + more:
            assert self.process.poll() is None, "".join(self.lines)
            assert time.monotonic() < deadline, f"{self.count(kind) - before} of {more} answers {kind} in {seconds} s"
            time.sleep(0.05)

    def check(self):
        """What load check says about all that was acknowledged so far: (exit status, words)."""
        done = subprocess.run([self.PROGRAM, "check", f"address={self.arguments['address']}", f"acks={self.arguments['acks']}"],
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
        return done.returncode, done.stdout

    def end(self):
        """Ends in good order; its exit status and last words."""
        self.process.terminate()
        return self.wait(60)

    @classmethod
    def init(cls, keyspace):
        """An empty keyspace."""
        drop(keyspace)
        done = subprocess.run([cls.PROGRAM, "init", f"address={address(keyspace)}"], text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=300)
        assert done.returncode == 0, done.stdout
