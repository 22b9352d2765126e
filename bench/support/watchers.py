"""Crowds of watchers (bench_watchers) and what they cost in memory, for scripts that measure live events."""
import os
import time

from . import run

MAX_A_PROCESS = 19000  # a process may open 20,000 files here


def page_bytes():
    return os.sysconf("SC_PAGE_SIZE")


def resident_bytes(pid):
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * page_bytes()


def kernel_bytes():
    """The kernel's own memory for objects (sockets, files, epoll entries) and for what stands in socket buffers. Of the whole machine: the
    difference of two calls is ours as far as nobody else does much."""
    with open("/proc/meminfo", encoding="ascii") as file:
        slab = next(int(line.split()[1]) * 1024 for line in file if line.startswith("Slab:"))
    with open("/proc/net/sockstat", encoding="ascii") as file:
        pages = next(int(line.split()[-1]) for line in file if line.startswith("TCP:"))
    return slab + pages * page_bytes()


class Crowd:
    """`count` watchers of one server, from addresses of their own. Crowds of one script have different numbers."""

    def __init__(self, session, number, address, target):
        host, port = address
        self.program = session.obedient([run.program("bench_watchers"), f"127.0.{1 + number // 200}.{2 + number % 200}", host,
                                         str(port), target])

    def open(self, count):
        return self.program("open", count)

    def since(self, moment_ns):
        self.program("since", moment_ns)

    def told(self, patience_s):
        return self.program("told", int(patience_s * 1000))

    def report(self):
        return self.program("report")

    def close(self):
        self.program.close()


def delay(crowds, change, patience_s):
    """From just before `change()` until each watcher has its next event: how many were told, and the times in ms."""
    moment = time.monotonic_ns()
    for crowd in crowds:
        crowd.since(moment)
    change()
    answers = [crowd.told(patience_s) for crowd in crowds]
    return {"open": sum(answer["open"] for answer in answers), "told": sum(answer["told"] for answer in answers),
            "p50_ms": max(answer["p50_ms"] for answer in answers), "p99_ms": max(answer["p99_ms"] for answer in answers),
            "most_ms": max(answer["most_ms"] for answer in answers)}
