"""Our server with a page rendered for each request, beside nginx with the same bytes as a file; then with a crowd.

bench/README.md says what exactly is compared. BENCH_QUICK=1 or --quick: fewer and shorter turns."""
import os
import re
import socket
import subprocess
import sys
import time

from support import nginx, report, run
from support.report import median

WORKERS = 2
TURNS = 3 if run.QUICK else 5
SECONDS = 2 if run.QUICK else 5
REQUEST_SECONDS = 12 if run.QUICK else 30
CROWD_TURNS = 3
IDLE, DRIBBLERS = 10_000, 500
CUT_SLACK_S = 1.0  # two ticks of the server's timer, and the crowd's own clock


class Server:
    """What wrk asks: a port, and the processes whose CPU counts."""

    def __init__(self, name, port, child):
        self.name, self.port, self.child = name, port, child

    def cpu_us(self):
        total = 0
        for pid in os.listdir("/proc"):
            if not pid.isdigit():
                continue
            try:
                with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
                    fields = file.read().rpartition(")")[2].split()
            except OSError:
                continue
            if int(pid) == self.child.pid or int(fields[1]) == self.child.pid:
                total += int(fields[11]) + int(fields[12])
        return total * 1_000_000 // os.sysconf("SC_CLK_TCK")


def start_ours(session):
    child = session.start([run.program("bench_http"), session.path("access.log"), "listen=127.0.0.1:0",
                           f"web_threads={WORKERS}", f"request_seconds={REQUEST_SECONDS}"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    found = re.match(r"port (\d+)$", child.stdout.readline())
    if not found:
        raise run.Failure("our server did not start")
    return Server("ours, rendered", int(found[1]), child)


def get(server):
    """By hand: this file's name hides Python's own http package."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        connection.sendall(b"GET /page HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n\r\n")
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    head, _, body = answer.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    if lines[0] != "HTTP/1.1 200 OK":
        raise run.Failure(f"{server.name} answers {lines[0]}")
    return body, [tuple(line.split(": ", 1)) for line in lines[1:]]


def head_bytes(headers):
    return sum(len(name) + len(value) + 4 for name, value in headers)


def milliseconds(text):
    value, unit = re.match(r"([\d.]+)(us|ms|s)$", text).groups()
    return float(value) * {"us": 0.001, "ms": 1, "s": 1000}[unit]


def wrk(server):
    before = server.cpu_us()
    done = subprocess.run(["wrk", "-t2", "-c64", f"-d{SECONDS}s", "--latency", f"http://127.0.0.1:{server.port}/page"],
                          capture_output=True, text=True, check=True)
    cpu_us = server.cpu_us() - before
    if "Non-2xx" in done.stdout or "Socket errors" in done.stdout:
        raise run.Failure(f"{server.name} failed requests:\n{done.stdout}")
    requests = int(re.search(r"(\d+) requests in", done.stdout)[1])
    return {"rate": float(re.search(r"Requests/sec:\s+([\d.]+)", done.stdout)[1]),
            "p50": milliseconds(re.search(r"\n\s+50%\s+(\S+)", done.stdout)[1]),
            "p99": milliseconds(re.search(r"\n\s+99%\s+(\S+)", done.stdout)[1]),
            "cpu": cpu_us / requests}


def middle(answers, name):
    return median(answer[name] for answer in answers)


def row(name, answers, *more):
    return [name, *(middle(answers, field) for field in ("rate", "p50", "p99", "cpu")), *more]


COLUMNS = ["", "pages/s", "p50 ms", "p99 ms", "CPU µs a page"]


def compare(ours, peer, goals):
    answers = {ours: [], peer: []}
    for turn in range(-1, TURNS):
        for server in (ours, peer):
            answer = wrk(server)
            if turn >= 0:  # the first turn warms up
                answers[server].append(answer)
    ratios = [mine["rate"] / theirs["rate"] for mine, theirs in zip(answers[ours], answers[peer])]
    print(f"A page of 4 KiB, {WORKERS} workers each, access log on, wrk -t2 -c64 on the same machine; median of {TURNS} turns "
          f"of {SECONDS} s.")
    report.table("Pages", COLUMNS + ["bytes of head"],
                 [row(server.name, answers[server], float(head_bytes(get(server)[1]))) for server in (ours, peer)])
    print(f"\nRatio, turn by turn: {', '.join(f'{ratio:.2f}' for ratio in ratios)}")
    goals.at_least("page_vs_nginx", median(ratios), 1.0)


def with_crowd(session, ours, goals):
    alone = [wrk(ours) for _ in range(CROWD_TURNS)]
    crowd = session.obedient([sys.executable, os.path.join(run.ROOT, "bench", "support", "crowd.py"), str(ours.port),
                              str(IDLE), str(DRIBBLERS)])
    run.say(f"opening {IDLE:,} idle connections and {DRIBBLERS} that dribble")
    opened = time.monotonic()
    crowd("open")
    crowded = [wrk(ours) for _ in range(CROWD_TURNS)]
    during = crowd("report")
    if during["dribbling"] == 0:
        raise run.Failure("the dribblers were cut before the turns were over; the machine is too busy for this")
    time.sleep(max(0.0, opened + REQUEST_SECONDS + 5 - time.monotonic()))
    after = crowd("report")
    crowd.close()
    time.sleep(1)
    alone += [wrk(ours) for _ in range(CROWD_TURNS)]
    report.table(f"The same with {IDLE:,} idle keep-alive connections and {DRIBBLERS} clients at 1 B/s", COLUMNS,
                 [row("ours, alone", alone), row("ours, with the crowd", crowded)])
    print(f"\nIdle connections open after the turns: {during['idle']:,}. Dribblers cut: {after['cut']}, the first after "
          f"{after['first_cut_s']:.1f} s, the last after {after['last_cut_s']:.1f} s; request_seconds is {REQUEST_SECONDS}.")
    goals.at_least("crowd_rate_vs_alone", middle(crowded, "rate") / middle(alone, "rate"), 0.9)
    goals.at_least("crowd_idle_kept", during["idle"], IDLE)
    goals.at_least("crowd_dribblers_cut", after["cut"], DRIBBLERS)
    goals.at_most("crowd_last_cut_s", after["last_cut_s"], REQUEST_SECONDS + CUT_SLACK_S)


def body():
    with run.Session("http", 2 << 30) as session:
        ours = start_ours(session)
        page, headers = get(ours)
        started = nginx.Nginx(session, page, headers, WORKERS)
        peer = Server("nginx, a file", started.port, started.child)
        theirs, their_headers = get(peer)
        if theirs != page:
            raise run.Failure("nginx serves other bytes than our server")
        missing = {name.lower() for name, _ in headers} - {name.lower() for name, _ in their_headers}
        if missing - {"connection", "server"}:
            raise run.Failure(f"nginx does not send {', '.join(sorted(missing))}")
        goals = report.Goals()
        compare(ours, peer, goals)
        with_crowd(session, ours, goals)
        ours.child.stdin.close()
        ours.child.wait(30)
        goals.print()


run.main(body)
