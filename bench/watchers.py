"""Live events: many watchers on one process, and as many as this machine holds on several. See README.md, watchers."""
import threading
import time

from support import report, run, watchers

CHANGES_A_SECOND = 33  # the most votes a second that the field has seen
ROUNDS = 3 if run.QUICK else 7
ONE = 5000 if run.QUICK else watchers.MAX_A_PROCESS
SEVERAL = (2, 5000) if run.QUICK else (6, 16700)
STEADY_S = 6 if run.QUICK else 20


class Served:
    """A server process with nothing but events, and its crowd."""

    def __init__(self, session, number):
        most = watchers.MAX_A_PROCESS + 100
        self.program = session.obedient([run.program("bench_watched"), session.path(f"log{number}"), "listen=127.0.0.1:0",
                                         "connections=300", f"watchers={most}"])
        line = self.program.child.stdout.readline().split()
        if len(line) != 2:
            raise run.Failure("the server did not start")
        self.crowd = watchers.Crowd(session, number, ("127.0.0.1", int(line[1])), "/events?topic=all")

    def close(self):
        self.crowd.close()
        self.program.close()


def steadily(served, seconds):
    """Changes as fast as votes come, in all servers."""
    stop = time.monotonic() + seconds
    while time.monotonic() < stop:
        for each in served:
            each.program("change", 1)
        time.sleep(1 / CHANGES_A_SECOND)


def measure(title, session, processes, each_count, goals, name):
    kernel_before = watchers.kernel_bytes()
    served = [Served(session, number) for number in range(processes)]
    resident_before = [watchers.resident_bytes(each.program.child.pid) for each in served]
    heap_before = [each.program("report")["heap_bytes"] for each in served]
    run.say(f"opening {processes} × {each_count:,} watchers")
    opening = [threading.Thread(target=each.crowd.open, args=[each_count]) for each in served]
    began = time.monotonic()
    for thread in opening:
        thread.start()
    for thread in opening:
        thread.join()
    opened_s = time.monotonic() - began
    total = processes * each_count
    if sum(each.crowd.report()["open"] for each in served) != total:
        raise run.Failure("not all watchers could be opened")
    resident = sum(watchers.resident_bytes(each.program.child.pid) for each in served) - sum(resident_before)
    heap = sum(each.program("report")["heap_bytes"] for each in served) - sum(heap_before)
    kernel = watchers.kernel_bytes() - kernel_before

    delays, quiet = [], []
    crowds = [each.crowd for each in served]
    for turn in range(ROUNDS):
        # Not in step with the rounds of the server. Two changes: the first may be told at once, the second waits for the next round.
        time.sleep(2 + turn * 0.7 % 2)
        quiet.append(watchers.delay(crowds, lambda: [each.program("change", 1) for each in served], 30))
        time.sleep(turn * 0.7 % 2)
        delays.append(watchers.delay(crowds, lambda: [each.program("change", 1) for each in served], 30))
        if delays[-1]["told"] != total:
            raise run.Failure(f"{total - delays[-1]['told']} watchers were not told")
    before = [each.program("report") for each in served]
    steadily(served, STEADY_S)
    after = [each.program("report") for each in served]
    closed = sum(each.crowd.report()["closed"] for each in served)
    events = sum(b["events"] - a["events"] for a, b in zip(before, after))
    cpu_us = sum(b["cpu_us"] - a["cpu_us"] for a, b in zip(before, after))

    middle = {key: report.median(each[key] for each in delays) for key in ("p50_ms", "p99_ms", "most_ms")}
    report.table(title, ["", "value"], [
        ["watchers", float(total)], ["processes", float(processes)], ["opened in s", opened_s],
        ["heap bytes a watcher", heap / total], ["resident bytes a watcher", resident / total],
        ["kernel bytes a watcher (half of both ends)", kernel / total / 2],
        ["delay after a quiet time, p50 ms", report.median(each["p50_ms"] for each in quiet)],
        ["delay after a quiet time, p99 ms", report.median(each["p99_ms"] for each in quiet)],
        ["delay p50 ms", middle["p50_ms"]], ["delay p99 ms", middle["p99_ms"]], ["delay of the last ms", middle["most_ms"]],
        [f"events/s at {CHANGES_A_SECOND} changes/s", events / STEADY_S], ["CPU µs an event", cpu_us / max(1, events)],
        ["last round ms", max(each["round_ms"] for each in after)],
        ["interval ms", max(each["interval_ms"] for each in after)], ["lost connections", float(closed)]])
    goals.at_least(f"{name}_watchers", total - closed, total)
    goals.at_most(f"{name}_heap_bytes", heap / total, 1024)
    goals.at_most(f"{name}_delay_p99_ms", middle["p99_ms"], 2000 + 4 * max(each["round_ms"] for each in after) + 500)
    for each in served:
        each.close()


def body():
    with run.Session("watchers", 1 << 28) as session:
        goals = report.Goals()
        measure("One process", session, 1, ONE, goals, "one")
        measure("Several processes", session, *SEVERAL, goals, "several")
        goals.print()


run.main(body)
