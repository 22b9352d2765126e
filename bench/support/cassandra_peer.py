"""The peer of bench_cassandra: the same statements by Debian's python3-cassandra, with as many requests in flight.

    cassandra_peer.py HOST,HOST,HOST KEYSPACE CLIENTS
The driver is used as its manual advises for throughput: prepared statements, its own policies (token-aware), and each answer's callback sends
the next request of that client, which is what its execute_concurrent does inside. `create` makes keyspace and tables for both sides.
Obeys `command milliseconds` and answers in the JSON of bench.c."""
import json
import resource
import sys
import threading
import time

from cassandra import ConsistencyLevel
from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile
from cassandra.policies import DCAwareRoundRobinPolicy, TokenAwarePolicy

ROWS = 100
VALUE_SIZE = 100
PROTOCOL = 4

CREATE = [
    "CREATE KEYSPACE IF NOT EXISTS {0} WITH replication = {{'class': 'SimpleStrategy', 'replication_factor': 3}}",
    "CREATE TABLE IF NOT EXISTS {0}.plain (row blob, col blob, val blob, PRIMARY KEY (row, col))",
    "CREATE TABLE IF NOT EXISTS {0}.conditional (row blob, col blob, val blob, PRIMARY KEY (row, col))",
    "TRUNCATE {0}.plain",
    "TRUNCATE {0}.conditional",
]
STATEMENTS = {
    "write": "UPDATE {0}.plain USING TIMESTAMP ? SET val = ? WHERE row = ? AND col = ?",
    "read": "SELECT val, writetime(val) FROM {0}.plain WHERE row = ? AND col = ?",
    "update": "UPDATE {0}.conditional SET val = ? WHERE row = ? AND col = ? IF val = ?",
}


def value_of(number):
    return number.to_bytes(8, "big") + b"v" * (VALUE_SIZE - 8)


class Client:
    """One request in flight, over and over; its rows are its own."""

    def __init__(self, peer, number):
        self.peer, self.number, self.at = peer, number, 0
        self.numbers = [0] * ROWS

    def row(self):
        return b"peer/%d/%d" % (self.number, self.at % ROWS)

    def write(self):
        row = self.row()
        self.at += 1
        return self.peer.statements["write"], (time.monotonic_ns(), value_of(self.at), row, b"head")

    def read(self):
        row = self.row()
        self.at += 1
        return self.peer.statements["read"], (row, b"head")

    def update(self):
        row, place = self.row(), self.at % ROWS
        self.at += 1
        self.numbers[place] += 1
        before = value_of(self.numbers[place] - 1) if self.numbers[place] > 1 else None
        return self.peer.statements["update"], (value_of(self.numbers[place]), row, b"head", before)


def check_rows(kind, rows):
    """The same looks at the answer as ours."""
    if kind == "read" and (len(rows) != 1 or len(rows[0][0]) != VALUE_SIZE):
        return "a cell that was written is not there"
    if kind == "update" and not rows[0][0]:
        return "an update whose condition was true was not applied"
    return None


class Load:
    """Runs until the time is over or so many requests were sent; every client ends with an answer."""

    def __init__(self, peer, kind, milliseconds=0, steps=0):
        self.peer, self.kind = peer, kind
        self.ends_at = time.perf_counter() + milliseconds / 1000 if milliseconds else None
        self.steps = steps
        self.latencies, self.wrong = [], None
        self.running, self.done = len(peer.clients), threading.Event()
        self.lock = threading.Lock()

    def over(self):
        if self.ends_at:
            return time.perf_counter() >= self.ends_at
        return len(self.latencies) >= self.steps

    def send(self, client):
        if self.wrong or self.over():
            with self.lock:
                self.running -= 1
                if self.running == 0:
                    self.done.set()
            return
        statement, values = getattr(client, self.kind)()
        future = self.peer.session.execute_async(statement, values)
        future.add_callbacks(self.answered, self.failed, callback_args=(client, time.perf_counter()),
                             errback_args=(client,))

    def answered(self, rows, client, sent):
        self.latencies.append(time.perf_counter() - sent)
        self.wrong = self.wrong or check_rows(self.kind, list(rows or ()))
        self.send(client)

    def failed(self, error, client):
        self.wrong = f"a request failed: {error}"
        self.send(client)

    def run(self):
        begin, before = time.perf_counter(), cpu_us()
        for client in self.peer.clients:
            client.at = 0
            self.send(client)
        self.done.wait()
        if self.wrong:
            sys.exit(f"cassandra_peer: {self.wrong}")
        seconds, sorted_us = time.perf_counter() - begin, sorted(second * 1e6 for second in self.latencies)
        return {"units": len(sorted_us), "seconds": seconds, "cpu_us": cpu_us() - before,
                "p50_us": sorted_us[len(sorted_us) // 2], "p99_us": sorted_us[len(sorted_us) * 99 // 100]}


def cpu_us():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return (usage.ru_utime + usage.ru_stime) * 1e6


class Peer:
    def __init__(self, hosts, keyspace, clients):
        profile = ExecutionProfile(load_balancing_policy=TokenAwarePolicy(DCAwareRoundRobinPolicy()),
                                   consistency_level=ConsistencyLevel.QUORUM, request_timeout=10,
                                   row_factory=lambda names, rows: rows)
        cluster = Cluster(hosts, protocol_version=PROTOCOL, execution_profiles={EXEC_PROFILE_DEFAULT: profile})
        self.session, self.keyspace, self.statements = cluster.connect(), keyspace, {}
        self.clients = [Client(self, number) for number in range(clients)]

    def create(self, _):
        for text in CREATE:
            self.session.execute(text.format(self.keyspace), timeout=60)
        self.statements = {name: self.session.prepare(text.format(self.keyspace)) for name, text in STATEMENTS.items()}
        return {}

    def fill(self, _):
        return Load(self, "write", steps=len(self.clients) * ROWS * 2).run()

    def writes(self, milliseconds):
        return Load(self, "write", milliseconds).run()

    def reads(self, milliseconds):
        return Load(self, "read", milliseconds).run()

    def updates(self, milliseconds):
        return Load(self, "update", milliseconds).run()


def main(hosts, keyspace, clients):
    peer = Peer(hosts.split(","), keyspace, int(clients))
    for line in sys.stdin:
        command, number = line.split()
        print(json.dumps({"create": peer.create, "fill": peer.fill, "writes": peer.writes, "reads": peer.reads,
                          "updates": peer.updates}[command](int(number))), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
