#!/usr/bin/env python3
"""cluster.py -- a real cluster of three Cassandra nodes on 127.0.0.1 to 127.0.0.3, for tests. Used by ./dev cluster.

    up               starts the nodes that are not running and waits until all are ready and agree
    down             ends all of them and erases their data
    status           says how each of them is
    kill N           ends node N as a crash does, once it has written its list of tables down (settings.py)
    pause N          stops node N where it is (SIGSTOP): its connections stay open and silent
    resume N         lets it go on
    start N          starts it again after a kill, with the data it had, and waits until it is ready
    restart N        ends node N in good order and starts it again
Data, logs, process numbers and the jars (fetched once by Maven) are in build/cluster, or where CLUSTER_DIRECTORY says: one cluster may
serve several source trees."""
import argparse
import fcntl
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import settings
from node import Node

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MEMORY_MB = 4096  # three nodes of some 900 MB, and what they map
READY_SECONDS = 240  # a quiet machine needs a tenth of it
STOP_SECONDS = 60
FLUSH_SECONDS = 60
JAVA = "/usr/lib/jvm/java-17-openjdk-amd64/bin/java"  # before another that may be newer than Cassandra knows


class Failure(Exception):
    """What is missing or went wrong, as a sentence."""


def say(sentence):
    print(f"dev: {sentence}", file=sys.stderr, flush=True)


# --- What is needed ----------------------------------------------------------------------------------------------------


def find_java():
    java = JAVA if os.access(JAVA, os.X_OK) else shutil.which("java")
    if not java:
        raise Failure("there is no java; Debian's package openjdk-17-jre-headless has it")
    return java


def available_mb(text):
    """MemAvailable of /proc/meminfo."""
    line = next(line for line in text.splitlines() if line.startswith("MemAvailable:"))
    return int(line.split()[1]) // 1024


def check_room(nodes):
    free = available_mb(pathlib.Path("/proc/meminfo").read_text())
    needed = MEMORY_MB * len(nodes) // len(settings.NODES)
    if free < needed:
        raise Failure(f"{len(nodes)} nodes need {needed} MB of memory, and {free} MB are free")
    for node in nodes:
        if place := node.taken_port_for_long():
            raise Failure(f"{place} is taken by another process, so node {node.number} cannot start")


def fetch_jars(directory):
    """Maven's work, once for each version of the pom."""
    pom, library = HERE / "pom.xml", directory / "lib"
    mark = library / "pom.xml"
    if mark.exists() and mark.read_bytes() == pom.read_bytes():
        return
    maven = shutil.which("mvn")
    if not maven:
        raise Failure("there is no mvn to fetch Cassandra with; Debian's package maven has it")
    say("fetching Cassandra by Maven, which takes about a minute")
    shutil.rmtree(library, ignore_errors=True)
    library.mkdir(parents=True)
    log = directory / "maven.log"
    with open(log, "wb") as output:
        fetched = subprocess.run([maven, "-q", "-B", "-f", str(pom), "dependency:copy-dependencies",
                                  f"-DoutputDirectory={library}"], stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                 cwd=directory, check=False)
    if fetched.returncode != 0 or not any(library.glob("cassandra-all-*.jar")):
        sys.stderr.write(log.read_text(errors="replace")[-4000:])
        raise Failure(f"Maven could not fetch Cassandra; the reason is above and in {log}")
    shutil.copy(pom, mark)  # last: a fetch that was cut off begins anew


# --- Waiting -------------------------------------------------------------------------------------------------------------


def is_ready(node, running):
    """Whether it answers, knows all that run, and agrees with them on the schema. What one that is down knows does not matter."""
    view = node.view() or {}
    versions = {view.get(other.address) for other in running}
    return len(versions) == 1 and None not in versions


def wait_until_ready(nodes, seconds=READY_SECONDS):
    """Until each of them is. The first to fail is told by its log."""
    deadline = time.monotonic() + seconds
    waiting = list(nodes)
    while waiting := [node for node in waiting if not is_ready(node, nodes)]:
        for node in waiting:
            if node.state() == "down":
                raise Failure(f"node {node.number} ended while it started; the end of its log:\n{node.last_words()}")
        if time.monotonic() > deadline:
            node = waiting[0]
            raise Failure(f"node {node.number} was not ready within {seconds} s; the end of its log:\n{node.last_words()}")
        time.sleep(0.2)


# --- Commands ------------------------------------------------------------------------------------------------------------


class Cluster:
    def __init__(self, directory):
        self.directory = directory
        self.nodes = [Node(directory, number) for number in settings.NODES]

    def running(self):
        return [node for node in self.nodes if node.state() == "up"]

    def launch(self, nodes):
        """Starts them; returns when they and those that ran before know each other."""
        java = find_java()
        check_room(nodes)
        fetch_jars(self.directory)
        (self.directory / "conf").mkdir(exist_ok=True)
        shutil.copy(HERE / "logback.xml", self.directory / "conf")
        begin = time.monotonic()
        for node in nodes:
            node.prepare()
            node.start(java)
        wait_until_ready(self.running())
        return time.monotonic() - begin

    def up(self):
        paused = [node for node in self.nodes if node.state() == "paused"]
        if paused:
            raise Failure(f"node {paused[0].number} is paused; ./dev cluster resume {paused[0].number} lets it go on")
        missing = [node for node in self.nodes if node.state() == "down"]
        if not missing:
            wait_until_ready(self.nodes)
            print("cluster: all three nodes run already")
            return
        seconds = self.launch(missing)
        print(f"cluster: three nodes at {', '.join(node.address for node in self.nodes)}, ready after {seconds:.0f} s")

    def down(self):
        for node in self.nodes:
            node.signal(signal.SIGKILL)
        for node in self.nodes:
            if not node.wait_for("down", STOP_SECONDS):
                raise Failure(f"node {node.number} (process {node.identity()[0]}) does not end")
            node.erase()
        print("cluster: down")

    def status(self):
        """Exit status 0 when all three are up and know each other."""
        well = True
        for node in self.nodes:
            state, view = node.state(), None
            if state == "up":
                view = node.view()
                state = "starting" if not view else "up"
            peers = f"knows {len(view) - 1} others" if view else ""
            process = f"process {node.identity()[0]}" if state != "down" else ""
            well = well and bool(view) and len(view) == len(self.nodes)
            print(f"node {node.number}  {node.address}  {state:8}  {process}  {peers}".rstrip())
        return 0 if well else 1

    def change(self, node, before, number, after):
        """One signal to a node that must be in one of the states `before`."""
        if node.state() not in before:
            raise Failure(f"node {node.number} is {node.state()}")
        if not node.signal(number) or not node.wait_for(after, 10):
            raise Failure(f"node {node.number} did not become {after}")
        print(f"cluster: node {node.number} is {after}")

    def kill(self, node):
        """As a crash would, but for the list of tables. A node that cannot write that down any more is killed all the same."""
        state, written = node.state(), False
        if state == "up":
            try:
                subprocess.run(settings.flush_command(find_java(), self.directory, node.number), capture_output=True,
                               check=True, timeout=FLUSH_SECONDS)
                written = True
            except (Failure, subprocess.SubprocessError):
                pass
        if state != "down" and not written:
            say(f"node {node.number} did not write its list of tables down: what its log has for new ones may be lost")
        self.change(node, ("up", "paused"), signal.SIGKILL, "down")

    def start(self, node):
        if node.state() != "down":
            raise Failure(f"node {node.number} is {node.state()}")
        print(f"cluster: node {node.number} is up after {self.launch([node]):.0f} s")

    def restart(self, node):
        """In good order: it finishes what it was asked and writes its memory down."""
        if node.state() != "up":
            raise Failure(f"node {node.number} is {node.state()}")
        node.signal(signal.SIGTERM)
        if not node.wait_for("down", STOP_SECONDS):
            raise Failure(f"node {node.number} did not end within {STOP_SECONDS} s of SIGTERM")
        self.start(node)


def parse(arguments):
    parser = argparse.ArgumentParser(prog="./dev cluster", allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("up", help="starts what does not run")
    commands.add_parser("down", help="ends all nodes and erases their data")
    commands.add_parser("status", help="says how each node is")
    for name in ("kill", "pause", "resume", "start", "restart"):
        commands.add_parser(name, help=f"{name}s one node").add_argument("node", type=int, choices=settings.NODES)
    return parser.parse_args(arguments)


def obey(cluster, options):
    node = cluster.nodes[options.node - 1] if "node" in options else None
    actions = {
        "up": cluster.up,
        "down": cluster.down,
        "status": cluster.status,
        "kill": lambda: cluster.kill(node),
        "pause": lambda: cluster.change(node, ("up",), signal.SIGSTOP, "paused"),
        "resume": lambda: cluster.change(node, ("paused",), signal.SIGCONT, "up"),
        "start": lambda: cluster.start(node),
        "restart": lambda: cluster.restart(node),
    }
    return actions[options.command]() or 0


def main(arguments):
    options = parse(arguments)
    directory = pathlib.Path(os.environ.get("CLUSTER_DIRECTORY") or ROOT / "build/cluster").resolve()
    directory.mkdir(parents=True, exist_ok=True)
    try:
        # One command at a time; who only looks need not wait.
        with open(directory / "lock", "w", encoding="utf-8") as lock:
            if options.command != "status":
                fcntl.flock(lock, fcntl.LOCK_EX)
            return obey(Cluster(directory), options)
    except Failure as failure:
        say(failure)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
