"""The site: pages logged out and logged in beside nginx with the same bytes, votes beside a PostgreSQL endpoint, watchers.

bench/README.md says what exactly is compared. BENCH_QUICK=1 or --quick: fewer and shorter turns. BENCH_PARTS="votes": only these."""
import hashlib
import os
import random
import re
import socket
import subprocess
import threading
import time

from support import nginx, postgresql, report, run, watchers
from support.report import median

PAGE_THREADS = 2
CONNECTIONS = 64
TURNS = 3 if run.QUICK else 5
SECONDS = 2 if run.QUICK else 5
POLICIES = 200 if run.QUICK else 1000
PEOPLE = 400  # who look at pages
HELD_EACH = 4  # policies that each of them holds votes on
VOTERS = 40_000 if run.QUICK else 120_000
PEER_VOTERS = 40_000 if run.QUICK else 120_000
ONE = 2_000 if run.QUICK else watchers.MAX_A_PROCESS
SEVERAL = (2, 2_000) if run.QUICK else (6, 16_700)
VOTES_A_SECOND = 33  # the record of the field
CACHE_MIB = 1024


# ---- Servers ----


class Server:
    """What wrk asks: a port, and the processes whose CPU counts."""

    def __init__(self, name, port, pid, path="/page"):
        self.name, self.port, self.pid, self.path = name, port, pid, path

    def cpu_us(self):
        total = 0
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
                    fields = file.read().rpartition(")")[2].split()
            except OSError:
                continue
            if int(pid) == self.pid or int(fields[1]) == self.pid:
                total += int(fields[11]) + int(fields[12])
        return total * 1_000_000 // os.sysconf("SC_CLK_TCK")


def port_of(child, what):
    found = re.match(r"port (\d+)$", child.stdout.readline())
    if not found:
        raise run.Failure(f"{what} did not start")
    return int(found[1])


class Ours:
    """The whole site, with policies and with voters who are logged in."""

    def __init__(self, session, name, voters, *settings):
        self.directory = session.path(name)
        self.program = session.obedient([run.program("bench_site"), self.directory, session.path(f"{name}.log"),
                                         "listen=127.0.0.1:0", *settings])
        self.port = port_of(self.program.child, "the site")
        self.pid = self.program.child.pid
        self.program("policies", POLICIES)
        self.program("voters", voters)
        with open(self.directory + ".voters", encoding="ascii") as file:
            self.secrets = file.read().split()

    def server(self, name, path):
        return Server(name, self.port, self.pid, path)

    def close(self):
        self.program.close()


class Asker:
    """A kept connection, by hand: a file in this folder hides Python's own http package."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=20)
        self.stream = self.socket.makefile("rb")

    def ask(self, path, cookie=None, body=None):
        head = [f"{'GET' if body is None else 'POST'} {path} HTTP/1.1", "Host: bench"]
        if cookie:
            head.append(f"Cookie: {cookie}")
        if body is not None:
            head += ["Content-Type: application/x-www-form-urlencoded", f"Content-Length: {len(body)}"]
        self.socket.sendall(("\r\n".join(head) + "\r\n\r\n" + (body or "")).encode())
        code = int(self.stream.readline().split()[1])
        headers = []
        while (line := self.stream.readline().strip()):
            headers.append(tuple(line.decode("latin-1").split(": ", 1)))
        size = next(int(value) for name, value in headers if name.lower() == "content-length")
        return code, headers, self.stream.read(size)


# ---- wrk ----


def milliseconds(text):
    value, unit = re.match(r"([\d.]+)(us|ms|s)$", text).groups()
    return float(value) * {"us": 0.001, "ms": 1, "s": 1000}[unit]


def wrk(server, *more, words=()):
    before = server.cpu_us()
    done = subprocess.run(["wrk", "-t2", f"-c{CONNECTIONS}", f"-d{SECONDS}s", "--latency", "--timeout", "20s", *more,
                           f"http://127.0.0.1:{server.port}{server.path}", *(["--", *words] if words else [])],
                          capture_output=True, text=True, check=True)
    cpu_us = server.cpu_us() - before
    if "Non-2xx" in done.stdout or "Socket errors" in done.stdout:
        raise run.Failure(f"{server.name} failed requests:\n{done.stdout}")
    requests = int(re.search(r"(\d+) requests in", done.stdout)[1])
    return {"rate": float(re.search(r"Requests/sec:\s+([\d.]+)", done.stdout)[1]), "requests": requests,
            "p50": milliseconds(re.search(r"\n\s+50%\s+(\S+)", done.stdout)[1]),
            "p99": milliseconds(re.search(r"\n\s+99%\s+(\S+)", done.stdout)[1]), "cpu": cpu_us / max(1, requests)}


def row(name, answers):
    return [name, *(median(answer[field] for answer in answers) for field in ("rate", "p50", "p99", "cpu"))]


# ---- Pages ----


def asked(ours, paths, people):
    """Who asks for what: every path, and every one of the people, several times; in an order that the script mixes."""
    if not people:
        return [(path, "") for path in paths]
    count = max(len(paths), len(people), 4 * min(len(paths), len(people)))
    return [(paths[i % len(paths)], f"session={people[random.randrange(len(people))]}") for i in range(count)]


def write_lines(session, name, lines):
    path = session.path(name)
    with open(path, "w", encoding="ascii") as file:
        file.write("".join(f"{target}\t{cookie}\n" for target, cookie in lines))
    return path


def beside_nginx(session, number, ours, people, paths):
    """Pages, ours and as files: the ratio of each turn, and the two rows. With people, each request is one of theirs."""
    lines, asker, pages = asked(ours, paths, people), Asker(ours.port), {}
    for target, cookie in lines[:len(paths)]:
        code, headers, page = asker.ask(target, cookie or None)
        if code != 200:
            raise run.Failure(f"{target} answers {code}")
        pages[f"page{len(pages)}"] = page
    inner = Scratch(session, f"nginx{number}")
    # A cookie that came with the page would be handed out again with each answer.
    started = nginx.Nginx(inner, pages, [each for each in headers if each[0].lower() != "set-cookie"], PAGE_THREADS)
    who = f"{len(people):,} people logged in" if people else "logged out"
    what = paths[0] if len(paths) == 1 else f"{len(paths):,} policies"
    size = sum(map(len, pages.values())) // len(pages)
    mine, theirs = ours.server(f"ours, {what}, {who}", "/"), Server(f"nginx, the same {size:,} bytes", started.port, started.child.pid, "/")
    files = {mine: write_lines(inner, "ours.txt", lines),
             theirs: write_lines(inner, "nginx.txt", [(f"/page{i % len(pages)}", cookie) for i, (_, cookie) in enumerate(lines)])}
    script = os.path.join(run.ROOT, "bench", "support", "pages.lua")
    answers = {mine: [], theirs: []}
    for turn in range(-1, TURNS):
        for server in (mine, theirs):
            answer = wrk(server, "-s", script, words=[files[server]])
            if turn >= 0:  # the first turn warms up
                answers[server].append(answer)
    run.end(started.child, 15)
    ratios = [a["rate"] / b["rate"] for a, b in zip(answers[mine], answers[theirs])]
    return median(ratios), [row(server.name, answers[server]) for server in (mine, theirs)]


class Scratch:
    """A folder of its own inside the session, for one more nginx."""

    def __init__(self, session, name):
        self.directory, self.start = session.path(name), session.start
        os.makedirs(self.directory, mode=0o755)
        os.chmod(session.directory, 0o755)

    def path(self, name):
        return os.path.join(self.directory, name)


def pages(session, goals):
    ours = Ours(session, "pages", PEOPLE, f"cache_bytes={CACHE_MIB << 20}")
    ours.program("holdings", HELD_EACH)
    policies, rows = addresses(ours), []
    for number, (name, paths, people, bound) in enumerate([
            ("front_page_vs_nginx", ["/"], [], 1.0), ("policy_page_vs_nginx", policies, [], 1.0),
            ("front_page_logged_in_vs_nginx", ["/"], ours.secrets, 0.5),
            ("policy_page_logged_in_vs_nginx", policies, ours.secrets, 0.5)]):
        ratio, two = beside_nginx(session, number, ours, people, paths)
        rows += two
        goals.at_least(name, ratio, bound)
        run.say(f"{name}: {ratio:.2f}")
    ours.close()
    print(f"{PAGE_THREADS} threads and nginx workers, access log on, no compression, wrk -t2 -c{CONNECTIONS} on the same machine; "
          f"median of {TURNS} turns of {SECONDS} s. People hold votes on {HELD_EACH} policies each.")
    report.table("Pages", ["", "pages/s", "p50 ms", "p99 ms", "CPU µs a page"], rows)


def addresses(ours):
    """Where the policies are."""
    asker, found = Asker(ours.port), []
    for number in range(1, POLICIES + 1):
        _, headers, _ = asker.ask(f"/policies/{number}")
        found.append(next(value for name, value in headers if name.lower() == "location"))
    return found


# ---- Votes ----


def forms(ours):
    """The form of one policy for each voter, as it stands on the page: a line for votes.lua. In no order, as people come."""
    ours.program("forms", POLICIES)
    with open(ours.directory + ".forms", encoding="ascii") as file:
        lines = file.read().splitlines()
    random.shuffle(lines)
    return lines


def peer_forms(path):
    lines = []
    for voter in random.sample(range(PEER_VOTERS), min(PEER_VOTERS, VOTERS)):
        secret = f"voter-{voter}"
        token = hashlib.blake2b(secret.encode(), digest_size=16, key=b"the key of the benchmark's forms").hexdigest()
        lines.append(f"{path}/{random.randint(1, POLICIES)}\tsession={secret}\tcsrf={token}&voter={voter}&held={random.randint(1, 9)}")
    return lines


def vote(session, server, lines, pause_ms=0):
    path = session.path("votes.txt")
    with open(path, "w", encoding="ascii") as file:
        file.write("\n".join(lines) + "\n")
    answer = wrk(server, "-s", os.path.join(run.ROOT, "bench", "support", "votes.lua"), words=[path, "2", str(pause_ms)])
    if answer["requests"] >= len(lines) - CONNECTIONS:
        raise run.Failure(f"{server.name} used up all {len(lines)} forms in a turn: make VOTERS larger")
    return answer


def start_peer(session):
    cluster = postgresql.Cluster(session)
    filler = session.obedient([run.program("bench_ledger_peer"), cluster.conninfo(), str(cluster.pid),
                               os.path.join(run.ROOT, "bench", "ledger.sql"), str(PEER_VOTERS), str(POLICIES), "1"])
    filler("preload")
    filler.close()
    child = session.start([run.program("bench_site_peer"), cluster.conninfo(), os.path.join(run.ROOT, "bench", "site.sql"),
                           session.path("peer.log"), str(PEER_VOTERS), "listen=127.0.0.1:0"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    return cluster, Server("the peer", port_of(child, "the peer"), child.pid, "/")


class Both:
    """The peer's CPU is that of its web server and of PostgreSQL."""

    def __init__(self, name, server, cluster):
        self.name, self.port, self.path, self.parts = name, server.port, server.path, [
            server, Server("postgres", 0, cluster.pid)]

    def cpu_us(self):
        return sum(part.cpu_us() for part in self.parts)


def votes(session, goals):
    run.say("loading voters on both sides")
    ours = Ours(session, "votes", VOTERS)
    cluster, endpoint = start_peer(session)
    mine, plain, tuned = ours.server("ours, POST /my/votes/{policy}", "/"), Both(
        "PostgreSQL endpoint, plain: statement by statement", endpoint, cluster), Both(
        "PostgreSQL endpoint, all in one function", endpoint, cluster)
    answers = {mine: [], plain: [], tuned: []}
    for turn in range(-1, TURNS):
        for server, make in ((mine, lambda: forms(ours)), (plain, lambda: peer_forms("/my/plain")),
                             (tuned, lambda: peer_forms("/my/votes"))):
            answer = vote(session, server, make())
            if turn >= 0:
                answers[server].append(answer)
        if turn >= 0:
            run.say(f"votes, turn {turn + 1} of {TURNS}: ours {answers[mine][-1]['rate']:,.0f}/s, "
                    f"plain peer {answers[plain][-1]['rate']:,.0f}/s, tuned {answers[tuned][-1]['rate']:,.0f}/s")
    full = median(answer["rate"] for answer in answers[mine])
    # At half the rate, each connection rests between two votes.
    pause_ms = round(2 * CONNECTIONS / full * 1000 - median(answer["p50"] for answer in answers[mine]) / 2)
    half = [vote(session, mine, forms(ours), max(1, pause_ms)) for _ in range(TURNS)]
    report.table("Votes: both with the settings of serve as they are, every voter once a turn", ["", "votes/s", "p50 ms", "p99 ms", "CPU µs a vote"],
                 [row(mine.name, answers[mine]), row("ours, at about half of that", half), *(row(peer.name, answers[peer]) for peer in (plain, tuned))])
    for name, peer in (("vote_post_vs_postgresql", tuned), ("vote_post_vs_postgresql_plain", plain)):
        goals.at_least(name, median(a["rate"] / b["rate"] for a, b in zip(answers[mine], answers[peer])), 4.0)
    goals.at_most("vote_p99_ms_at_half_load", median(answer["p99"] for answer in half), 20)
    ours.close()
    run.end(cluster.child, 2)


# ---- Watchers ----


def watch(session, processes, count, goals, name):
    """Watchers of a policy on the whole site, while votes come in on it."""
    sites = [Ours(session, f"{name}{i}", 40, f"watchers={count + 100}", "connections=300") for i in range(processes)]
    before, kernel = sum(watchers.resident_bytes(site.pid) for site in sites), watchers.kernel_bytes()
    crowds = [watchers.Crowd(session, i, ("127.0.0.1", site.port), "/api/v1/events?topic=policy/1") for i, site in enumerate(sites)]
    opening = [threading.Thread(target=crowd.open, args=[count]) for crowd in crowds]
    for thread in opening:
        thread.start()
    for thread in opening:
        thread.join()
    total = processes * count
    if sum(crowd.report()["open"] for crowd in crowds) != total:
        raise run.Failure("not all watchers could be opened")
    resident, kernel = sum(watchers.resident_bytes(site.pid) for site in sites) - before, watchers.kernel_bytes() - kernel

    def save_once():
        for site in sites:
            cookie, asker = f"session={random.choice(site.secrets)}", Asker(site.port)
            page = asker.ask("/my/votes/1", cookie)[2].decode()
            fields = dict(re.findall(r'name="(csrf|seen|token)" value="(\w+)"', page))
            held = int(re.search(r'data-held="(\d+)"', page)[1]) + 1
            body = "&".join(f"{key}={value}" for key, value in fields.items()) + f"&price=0&held={held}"
            code = asker.ask("/my/votes/1", cookie, body)[0]
            if code != 303:
                raise run.Failure(f"a vote under watch was answered with {code}")

    delays = []
    for turn in range(TURNS):
        time.sleep(2.5)
        delays.append(watchers.delay(crowds, save_once, 30))
        if delays[-1]["told"] != total:
            raise run.Failure(f"{total - delays[-1]['told']} watchers were not told")
    began, done = time.monotonic(), 0
    while (now := time.monotonic()) < began + 2 * SECONDS:
        save_once()
        done += 1
        time.sleep(max(0, began + done / (VOTES_A_SECOND + 1) - now))
    rate = done / (time.monotonic() - began)
    closed = sum(crowd.report()["closed"] for crowd in crowds)
    report.table(f"Watchers of a policy: {total:,} on {processes} {'process' if processes == 1 else 'processes'}", ["", "value"], [
        ["resident bytes a watcher", resident / total], ["of the kernel, a watcher", kernel / total],
        ["vote to event, p50 ms", median(each["p50_ms"] for each in delays)],
        ["vote to event, p99 ms", median(each["p99_ms"] for each in delays)],
        ["votes/s meanwhile, each process", rate], ["watchers lost", float(closed)]])
    goals.at_least(f"{name}_votes_a_second", rate, VOTES_A_SECOND)
    goals.at_most(f"{name}_lost", closed, 0)
    goals.at_most(f"{name}_event_p99_ms", median(each["p99_ms"] for each in delays), 4000)
    for each in crowds + sites:
        each.close()


def watching(session, goals):
    watch(session, 1, ONE, goals, "watchers_one")
    watch(session, *SEVERAL, goals, "watchers_several")


PARTS = {"pages": pages, "votes": votes, "watchers": watching}


def body():
    with run.Session("site", (2 if run.QUICK else 8) << 30) as session:
        goals = report.Goals()
        for part in os.environ.get("BENCH_PARTS", "pages votes watchers").split():
            PARTS[part](session, goals)
        goals.print()


if __name__ == "__main__":
    run.main(body)
