"""The journal beside beanstalkd, BullMQ, graphile-worker and pg-boss, all durable when they acknowledge.

Ours is measured twice: over its own server, `ostraka journal serve`, by the same clients that beanstalkd gets (bench/journal_peer.c), which is
what the goals beside others are about; and as the C functions that our own background work calls, in this process. beanstalkd syncs at each write
(-f 0) or each 50 ms (-f 50, which may lose what it acknowledged meanwhile), Redis at each write, PostgreSQL at each commit. All have the
same number of clients, entries of the same size and no keys. BENCH_QUICK=1 or --quick: shorter turns, 50,000 future entries, a burst of 64 MB."""
import time

from support import postgresql, report, run
from support.queues import Queues
from support.report import median

CLIENTS = 64
BODY = 100
TURNS = 3
TURN_MS = 500 if run.QUICK else 3_000
FUTURE = 50_000 if run.QUICK else 1_000_000
CLAIMS = 1_000 if run.QUICK else 10_000
WAKES = 100 if run.QUICK else 500
BURST_BODY = 60_000  # beanstalkd takes at most 65,535 bytes unless told otherwise
BURST = (64_000_000 if run.QUICK else 1_000_000_000) // BURST_BODY
SMALL_MB, SMALL_WITHIN_S = 10, 60
FREE_BYTES = (4 if run.QUICK else 24) << 30
LOADS = [("puts", "Put"), ("work", "Claim and done"), ("cycle", "Put, claim and done")]
IN_C = "ours, called in C"


def rate(answer):
    return answer["units"] / answer["seconds"]


def milliseconds(answer, name):
    return None if answer[name] is None else answer[name] / 1000


def middle(values):
    return None if None in values else median(values)


def row(name, answers):
    """Called in C there is no server: all is one process."""
    server, clients = ("cpu_us", None) if name == IN_C else ("server_cpu_us", "cpu_us")
    return [name, median(rate(a) for a in answers), middle([milliseconds(a, "p50_us") for a in answers]),
            middle([milliseconds(a, "p99_us") for a in answers]), median(a[server] / max(a["units"], 1) for a in answers),
            clients and median(a[clients] / max(a["units"], 1) for a in answers)]


def compare(queues, command, what):
    """All take turns. Work needs something to do, more than it can do, so each turn of it comes after a longer one of puts."""
    answers = {name: [] for name in queues}
    for turn in range(TURNS):
        for name, queue in queues.items():
            if command == "work":
                queue("puts", 2 * TURN_MS)
            answers[name].append(queue(command, TURN_MS))
            if command == "work":
                queue("empty")
        run.say(f"{what}, turn {turn + 1} of {TURNS}: " + ", ".join(f"{name} {rate(answers[name][-1]):,.0f}/s" for name in queues))
    report.table(f"{what}: {CLIENTS} clients, entries of {BODY} bytes, median of {TURNS} turns of {TURN_MS / 1000:g} s",
                 ["", "a second", "p50 ms", "p99 ms", "server's CPU µs", "clients' CPU µs"],
                 [row(name, list_) for name, list_ in answers.items()])
    return {name: median(rate(answer) for answer in list_) for name, list_ in answers.items()}


def future(queues, goals):
    """Waking up at a moment, and one client that claims, without and with many entries of the future."""
    wakes, claims = [], []
    for name, queue in queues.items():
        queue("empty")
        woken = queue("wakes", WAKES)
        wakes.append([name, milliseconds(woken, "p50_us"), milliseconds(woken, "p99_us")])
        if name in ("ours", IN_C):
            goals.at_most("journal_wake_p99_ms" + ("_in_c" if name == IN_C else ""), woken["p99_us"] / 1000, 5)
        run.say(f"timed entries: {name} p99 {wakes[-1][2]:.1f} ms late")
        if name in ("beanstalkd -f 0", "graphile-worker"):  # a sync for each would take an hour; it has no claim to measure
            continue
        queue("claims", CLAIMS)
        queue("empty")
        without = queue("claims", CLAIMS)
        queue("empty")
        loaded = queue("later", FUTURE)
        beside = queue("claims", CLAIMS)
        queue("empty")
        claims.append([name, without["p50_us"], without["p99_us"], beside["p50_us"], beside["p99_us"], FUTURE / loaded["seconds"]])
        if name in ("ours", IN_C):
            goals.at_most("journal_claim_p99_beside_future" + ("_in_c" if name == IN_C else ""), beside["p99_us"] / without["p99_us"], 2)
        run.say(f"claims beside {FUTURE:,} future entries: {name} p99 {beside['p99_us']:.0f} µs, without them {without['p99_us']:.0f} µs")
    report.table(f"{WAKES} timed entries, 7 ms apart: later than their date", ["", "p50 ms", "p99 ms"], wakes)
    report.table(f"One client claims, without and with {FUTURE:,} entries of the future",
                 ["", "without, p50 µs", "p99 µs", "with, p50 µs", "p99 µs", "their puts a second"], claims)


def memory(ours):
    """After `future`: what its entries cost us, and how long they take to open again."""
    held = ours("memory")
    reopened = ours("reopen")
    report.table(f"With {held['entries']:,} entries in memory", ["", "measured"], [
        ["memory of the process, MB, with the caches that they fill", held["resident"] / 1e6], ["files, MB", held["files"] / 1e6],
        ["opening again, s", reopened["seconds"]]])


def burst(session, goals):
    """What is left of a burst on disk, once it was worked off."""
    makers = Queues(session, "burst", CLIENTS, BURST_BODY)
    cluster = postgresql.Cluster(session, name="burst-postgresql", max_connections="200")
    queues = {"ours": makers.ours(), "beanstalkd -f 50": makers.beanstalkd(50), "BullMQ": makers.bullmq(),
              "graphile-worker": makers.on_postgresql("graphile-worker", cluster)}
    rows = []
    for name, queue in queues.items():
        began = queue.bytes()
        done = queue("burst", BURST)
        at_once, small_s, since = queue.bytes(), None, time.monotonic()
        while time.monotonic() - since < SMALL_WITHIN_S and small_s is None:
            if queue.bytes() < SMALL_MB * 1e6:
                small_s = time.monotonic() - since
            time.sleep(0.2)
        rows.append([name, began / 1e6, at_once / 1e6, queue.bytes() / 1e6, small_s])
        run.say(f"burst: {name} worked off {done['units']:,} entries, {rows[-1][3]:.1f} MB are left")
        if name == "ours":
            goals.at_most("journal_mb_after_burst", rows[-1][3], SMALL_MB)
        queue.close()
    report.table(f"Files after {BURST * BURST_BODY / 1e6:,.0f} MB of entries were worked off", [
        "", "before, MB", "at once, MB", f"within {SMALL_WITHIN_S} s, MB", f"under {SMALL_MB} MB after, s"], rows)


def body():
    with run.Session("journal", FREE_BYTES) as session:
        goals = report.Goals()
        makers = Queues(session, "queue", CLIENTS, BODY)
        cluster = postgresql.Cluster(session, max_connections="300")
        queues = {"ours": makers.ours(), IN_C: session.obedient([run.program("bench_journal"), session.path("ours"), str(CLIENTS)]),
                  "beanstalkd -f 0": makers.beanstalkd(0), "beanstalkd -f 50": makers.beanstalkd(50), "BullMQ": makers.bullmq(),
                  "graphile-worker": makers.on_postgresql("graphile-worker", cluster), "pg-boss": makers.on_postgresql("pg-boss", cluster)}
        for queue in queues.values():  # connections are made, caches are warm
            queue("puts", 500)
            queue("empty")
        rates = {command: compare(queues, command, what) for command, what in LOADS}
        cycle = rates["cycle"]
        goals.at_least("journal_cycle_vs_beanstalkd_sync", cycle["ours"] / cycle["beanstalkd -f 0"], 5)
        goals.at_least("journal_cycle_vs_beanstalkd_50ms", cycle["ours"] / cycle["beanstalkd -f 50"], 1)
        goals.at_least("journal_cycle_vs_graphile_worker", cycle["ours"] / cycle["graphile-worker"], 10)
        future(queues, goals)
        memory(queues[IN_C])
        for queue in queues.values():
            queue.close()
        cluster.stop()
        burst(session, goals)
        goals.print()


run.main(body)
