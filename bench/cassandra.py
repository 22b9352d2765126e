"""Our client for Cassandra beside Debian's python3-cassandra, and the ledger on the cluster, on three real nodes on this machine.

Both clients stay connected and take turns with the same statements and as many in flight; the servers share the cores with them, so a client
that costs less leaves more to the servers. bench/README.md says what exactly is compared. A cluster that runs already (./dev cluster
up) is used as it is; otherwise one is started and ended. BENCH_QUICK=1 or --quick: shorter turns."""
import os
import subprocess
import sys

from support import report, run
from support.report import median

sys.path.insert(0, os.path.join(run.ROOT, "tools", "cluster"))

import asking  # noqa: E402

HOSTS = "127.0.0.1,127.0.0.2,127.0.0.3"
KEYSPACE, LEDGER_KEYSPACE = "ostraka_bench", "ostraka_bench_ledger"
IN_FLIGHT = 32
AT_ONCE = 16  # asked by one call, where the client has much to ask
TURNS = 3 if run.QUICK else 5
TURN_MS = 3_000 if run.QUICK else 8_000
VOTERS, POLICIES, SAVERS = 500, 50, 32
FREE_BYTES = 2 << 30

RATE_BOUND = 0.95
CPU_BOUND = 0.1

LOADS = [("writes", "plain writes"), ("reads", "reads of a cell"), ("updates", "conditional writes")]


def rate(answer):
    return answer["units"] / answer["seconds"]


def cpu(answer):
    return answer["cpu_us"] / answer["units"]


class Cluster:
    """Ends what it started, and nothing else."""
    TOOL = [sys.executable, os.path.join(run.ROOT, "tools", "cluster", "cluster.py")]

    def __enter__(self):
        self.ours = subprocess.run([*self.TOOL, "status"], stdout=subprocess.DEVNULL, check=False).returncode != 0
        if self.ours and subprocess.run([*self.TOOL, "up"], stdout=subprocess.DEVNULL, check=False).returncode != 0:
            raise run.Failure("the cluster does not start")
        return self

    def __exit__(self, *_):
        if self.ours:
            subprocess.run([*self.TOOL, "down"], stdout=subprocess.DEVNULL, check=False)


def compare(*programs):
    """By load: the answers of all, turn by turn."""
    answers = {load: {program: [] for program in programs} for load, _ in LOADS}
    for turn in range(-1, TURNS):  # the first turn warms up
        for load, _ in LOADS:
            for program in programs:
                answer = program(load, TURN_MS)
                if turn >= 0:
                    answers[load][program].append(answer)
        run.say(f"turn {turn + 1} of {TURNS}" if turn >= 0 else "warmed up")
    return answers


def row(name, turns):
    def middle(value):
        return median(value(turn) for turn in turns)
    return [name, middle(rate), middle(lambda a: a["p50_us"] / 1000), middle(lambda a: a["p99_us"] / 1000), middle(cpu)]


def clients(session, goals):
    peer = session.obedient([sys.executable, os.path.join(run.ROOT, "bench", "support", "cassandra_peer.py"), HOSTS, KEYSPACE,
                             str(IN_FLIGHT)])
    peer("create")
    single, many = (session.obedient([run.program("bench_cassandra"), HOSTS, KEYSPACE, str(IN_FLIGHT), str(at_once)])
                    for at_once in (1, AT_ONCE))
    for program in (single, many, peer):
        program("fill")
    answers = compare(single, many, peer)
    print(f"Three nodes on this machine, replication 3, QUORUM, {IN_FLIGHT} in flight, values of 100 bytes; "
          f"median of {TURNS} turns of {TURN_MS / 1000:g} s each, in turn")
    for load, words in LOADS:
        mine, together, theirs = (answers[load][program] for program in (single, many, peer))
        report.table(words.capitalize(), ["", "a second", "p50 ms", "p99 ms", "client's CPU µs"],
                     [row(f"ours, {IN_FLIGHT} threads", mine), row(f"ours, {AT_ONCE} by a call", together), row("python3-cassandra", theirs)])
        goals.at_least(f"cassandra_{load}_vs_python", median(rate(a) / rate(b) for a, b in zip(mine, theirs)), RATE_BOUND)
        goals.at_most(f"cassandra_{load}_cpu_vs_python", median(cpu(a) / cpu(b) for a, b in zip(together, theirs)), CPU_BOUND)
    for program in (single, many, peer):
        program.close()


def ledger(session):
    """Saves on the cluster with the projection of them, and what they ask of it."""
    asking.ask(HOSTS.split(",", maxsplit=1)[0], 9042, f"DROP KEYSPACE IF EXISTS {LEDGER_KEYSPACE}", timeout=60)
    ours = session.obedient([run.program("bench_ledger"), f"cassandra://{HOSTS}/{LEDGER_KEYSPACE}", str(VOTERS), str(POLICIES),
                             str(SAVERS), "0"])
    run.say(f"registering {VOTERS} voters on the cluster")
    ours("preload")
    ours("saves", TURN_MS)
    turns, requests = [], []
    for _ in range(TURNS):
        before = ours("metrics")
        turns.append(ours("saves", TURN_MS))
        after = ours("metrics")
        requests.append({name: after[name] - before[name] for name in after})
    answer = ours("check")
    if answer["totals"] != answer["held"]:
        raise run.Failure(f"the ledger has {answer}")
    ours.close()

    def each(name):
        return median(counts[f"cassandra_{name}"] / turn["units"] for counts, turn in zip(requests, turns))
    report.table(f"Saves of {VOTERS} voters on {POLICIES} policies by {SAVERS} clients, with their projection", [
        "", "saves/s", "p50 ms", "p99 ms", "CPU µs", "requests a save", "conditional writes a save"],
        [row("ours", turns) + [each("requests"), each("conditional")]])


def body():
    with run.Session("cassandra", FREE_BYTES) as session, Cluster():
        goals = report.Goals()
        clients(session, goals)
        ledger(session)
        goals.print()


run.main(body)
