"""Servers of queues for the journal's benchmark, each with the program that drives it; all of them durable when they acknowledge."""
import json
import os
import shutil
import signal
import socket

from . import postgresql, run
from .nginx import free_port

NODE = os.environ.get("BENCH_NODE", os.path.join(run.ROOT, "build", "bench-node"))
SERVER = os.environ.get("BENCH_BIN", os.path.join(run.BUILD, "src", "cli", "ostraka"))


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def bytes_of(directory):
    """What its files take up on disk; those that go meanwhile take up nothing."""
    total = 0
    for folder, _, names in os.walk(directory):
        for name in names:
            try:
                total += os.lstat(os.path.join(folder, name)).st_blocks * 512
            except FileNotFoundError:
                continue
    return total


class Queue:
    """Answers commands as its program does; `directory` has all that it keeps."""

    def __init__(self, program, directory):
        self.program, self.directory = program, directory

    def __call__(self, command, number=0):
        return self.program(command, number)

    def bytes(self):
        return bytes_of(self.directory)

    def close(self):
        self.program.close()


class Queues:
    """Makes them, with so many clients and jobs of so many bytes; their directories begin with `name`."""

    def __init__(self, session, name, clients, body):
        self.session, self.name, self.clients, self.body = session, name, str(clients), str(body)

    def folder(self, name):
        directory = self.session.path(f"{self.name}-{name}")
        os.mkdir(directory, mode=0o700)
        return directory

    def spoken_to(self, name, words):
        """A server of beanstalkd's protocol."""
        directory, port = self.folder(name), free_port()
        log = open(directory + ".log", "wb")
        server = self.session.start([*words, "-l", "127.0.0.1", "-p", str(port), "-b", directory], how=signal.SIGTERM, stdout=log, stderr=log)
        run.wait_until(lambda: listens(port), 10, f"{words[0]} to listen")
        program = [run.program("bench_journal_peer"), str(port), self.clients, str(server.pid), self.body]
        return Queue(self.session.obedient(program), directory)

    def ours(self):
        return self.spoken_to("ours", [SERVER, "journal", "serve"])

    def beanstalkd(self, sync_ms):
        return self.spoken_to(f"beanstalkd-{sync_ms}", ["beanstalkd", "-f", str(sync_ms)])

    def node(self, kind, connection, pid, directory):
        if shutil.which("node") is None or not os.path.isdir(os.path.join(NODE, "node_modules")):
            raise run.Failure(f"{kind} needs node and its packages in {NODE} (./dev bench journal installs them)")
        words = ["node", os.path.join(run.ROOT, "bench", "journal_peer.mjs"), kind, json.dumps(connection), self.clients, str(pid), self.body]
        return Queue(self.session.obedient(words, env={**os.environ, "BENCH_NODE": NODE, "NO_LOG_SUCCESS": "1"}), directory)

    def bullmq(self):
        directory = self.folder("redis")
        path = os.path.join(directory, "socket")
        log = open(directory + ".log", "wb")
        words = ["redis-server", "--port", "0", "--unixsocket", path, "--dir", directory, "--save", "", "--appendonly", "yes",
                 "--appendfsync", "always"]
        server = self.session.start(words, how=signal.SIGTERM, stdout=log, stderr=log)
        run.wait_until(lambda: os.path.exists(path), 10, "redis-server to listen")
        return self.node("bullmq", {"path": path}, server.pid, directory)

    def on_postgresql(self, kind, cluster):
        """Two of them may share a cluster: each has a database of its own."""
        return self.node(kind, {"host": cluster.directory, "user": cluster.user, "database": cluster.database(kind)}, cluster.pid, cluster.directory)
