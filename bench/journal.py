"""The journal beside beanstalkd, with its log synced at each write (-f 0) and each 50 ms (-f 50).

Ours are the C functions, called in this process; beanstalkd is reached over its own protocol on loopback, since it has nothing else:
its connections and its parser are in its figures, and ours are not. Both have the same clients, entries of 100 bytes and no keys.
Ours syncs before it answers a put or a done, always. BENCH_QUICK=1 or --quick: shorter turns, 100,000 future entries."""
import os
import signal
import socket

from support import report, run
from support.nginx import free_port
from support.report import median

CLIENTS = 64
TURNS = 3
TURN_MS = 500 if run.QUICK else 3_000
FUTURE = 100_000 if run.QUICK else 1_000_000
CLAIMS = 2_000 if run.QUICK else 20_000
WAKES = 100 if run.QUICK else 500
FREE_BYTES = 4 << 30
LOADS = [("puts", "durable put"), ("work", "claim + done"), ("cycle", "put + claim + done")]


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def beanstalkd(session, name, sync_ms):
    """A server of its own, and the program that drives it."""
    directory, port = session.path(name), free_port()
    os.mkdir(directory)
    words = ["beanstalkd", "-l", "127.0.0.1", "-p", str(port), "-b", directory, "-f", str(sync_ms)]
    server = session.start(words, how=signal.SIGTERM)
    run.wait_until(lambda: listens(port), 10, "beanstalkd to listen")
    return session.obedient([run.program("bench_journal_peer"), str(port), str(CLIENTS), str(server.pid)])


def rate(answer):
    return answer["units"] / answer["seconds"]


def row(name, answers, cpu):
    return [name, median(rate(a) for a in answers), median(a["p50_us"] / 1000 for a in answers),
            median(a["p99_us"] / 1000 for a in answers), median(a[cpu] / max(a["units"], 1) for a in answers)]


def compare(programs, command, what):
    """All sides take turns. Work needs something to do, so each turn of it comes after one of puts."""
    answers = {name: [] for name in programs}
    for turn in range(TURNS):
        for name, program in programs.items():
            if command == "work":
                program("puts", TURN_MS)
            answers[name].append(program(command, TURN_MS))
        run.say(f"{what}, turn {turn + 1} of {TURNS}: " +
                ", ".join(f"{name} {rate(answers[name][-1]):,.0f}/s" for name in programs))
    report.table(f"{what}: {CLIENTS} clients, entries of 100 bytes, median of {TURNS} turns of {TURN_MS / 1000:g} s",
                 ["", "a second", "p50 ms", "p99 ms", "server's CPU µs"],
                 [row(name, list_, "cpu_us" if name == "ours" else "server_cpu_us") for name, list_ in answers.items()])
    return {name: median(rate(answer) for answer in list_) for name, list_ in answers.items()}


def alone(session, goals):
    """What only we are asked: many entries of the future, waking up, memory, opening again."""
    ours = session.obedient([run.program("bench_journal"), session.path("alone"), str(CLIENTS)])
    ours("claims", CLAIMS)
    without = ours("claims", CLAIMS)
    ours("empty")
    wakes = ours("wakes", WAKES)
    before = ours("memory")
    loaded = ours("later", FUTURE)
    after = ours("memory")
    ours("claims", CLAIMS)
    beside = ours("claims", CLAIMS)
    ours("empty")
    reopened = ours("reopen")
    each = (after["resident"] - before["resident"]) / FUTURE
    report.table(f"With {FUTURE:,} entries of the future", ["", "measured"], [
        ["claim without them, p50 µs", without["p50_us"]], ["claim without them, p99 µs", without["p99_us"]],
        ["claim beside them, p50 µs", beside["p50_us"]], ["claim beside them, p99 µs", beside["p99_us"]],
        ["put, not waited for, a second", loaded["units"] / loaded["seconds"]],
        ["memory of an entry, bytes, with the caches that they fill", each],
        ["opening again, s", reopened["seconds"]],
        [f"{WAKES} timed entries: late, p50 µs", wakes["p50_us"]], ["late, p99 µs", wakes["p99_us"]]])
    goals.at_most("journal_claim_p99_beside_future", beside["p99_us"] / without["p99_us"], 2)
    goals.at_most("journal_wake_p99_ms", wakes["p99_us"] / 1000, 5)
    ours.close()


def body():
    with run.Session("journal", FREE_BYTES) as session:
        goals = report.Goals()
        programs = {"ours": session.obedient([run.program("bench_journal"), session.path("ours"), str(CLIENTS)]),
                    "beanstalkd -f 0": beanstalkd(session, "each", 0),
                    "beanstalkd -f 50": beanstalkd(session, "lazy", 50)}
        rates = {command: compare(programs, command, what) for command, what in LOADS}
        for program in programs.values():
            program.close()
        alone(session, goals)
        cycle = rates["cycle"]
        goals.at_least("journal_cycle_vs_beanstalkd_sync", cycle["ours"] / cycle["beanstalkd -f 0"], 5)
        goals.at_least("journal_cycle_vs_beanstalkd_50ms", cycle["ours"] / cycle["beanstalkd -f 50"], 1)
        goals.print()


run.main(body)
