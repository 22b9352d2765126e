"""The store beside PostgreSQL (durable saves) and beside a bare loop over RocksDB's C API (reads).

Both sides stay open and take turns, so that a busy moment of the machine hits both; each row is the median of its turns.
bench/README.md says what exactly is compared. BENCH_QUICK=1 or --quick: a tenth of the voters and shorter turns."""
import os

from support import postgresql, report, run
from support.report import median

CLIENTS = 64
CACHE_MIB = 2048  # as much as PostgreSQL's shared_buffers
VOTERS = 100_000 if run.QUICK else 1_000_000
TURNS = 3 if run.QUICK else 5
SAVE_MS = 2_000 if run.QUICK else 8_000
READ_MS = 500 if run.QUICK else 1_500
SUSTAINED_MS = 5_000 if run.QUICK else 60_000
EXTRA_MS = 1_000 if run.QUICK else 4_000
FREE_BYTES = (4 if run.QUICK else 16) << 30

# command, what a unit is, least rate in all (None: no goal), threads share the rate
READS = [
    ("cell", "one cell, cells/s", 300_000, 1),
    ("row", "row of 12 cells, rows/s", 150_000, 1),
    ("page", "million-cell row by pages, cells/s a thread", 4_000_000, 2),
    ("scan", "table scan, cells/s a thread", 4_000_000, 2),
]
BARE_BOUND = 0.85


def rate(answer):
    return answer["units"] / answer["seconds"]


def per_unit(answer, *names):
    return sum(answer[name] for name in names) / answer["units"]


def save_row(name, answers, prefix):
    """A row of the table of saves: medians over the turns. The peer's client is its own column."""
    def middle(value):
        return median(value(answer) for answer in answers)
    syncs = middle(lambda a: a[prefix + "syncs"] / a["seconds"])
    return [name, middle(rate), middle(lambda a: a["p50_us"] / 1000), middle(lambda a: a["p99_us"] / 1000),
            middle(lambda a: per_unit(a, prefix + "cpu_us")),
            middle(lambda a: per_unit(a, "cpu_us")) if prefix else None,
            middle(lambda a: per_unit(a, prefix + "written")), syncs, middle(rate) / syncs if syncs else None]


SAVE_COLUMNS = ["", "saves/s", "p50 ms", "p99 ms", "CPU µs", "client's CPU µs", "bytes written", "syncs/s", "saves a sync"]


def check_all_there(name, program, saved):
    """Nothing was acknowledged that is not there."""
    answer = program("check")
    wanted = VOTERS + saved[program]
    if answer != {"entries": wanted, "seq": wanted}:
        raise run.Failure(f"{name} has {answer}, acknowledged were {wanted} saves")


def compare_saves(ours, peer, saved):
    answers = {ours: [], peer: []}
    for turn in range(-1, TURNS):
        for program in (ours, peer):
            answer = program("saves", SAVE_MS)
            saved[program] += answer["units"]
            if turn >= 0:  # the first turn warms up
                answers[program].append(answer)
            ours("settle")
        say_turn("saves", turn, answers[ours][-1:], answers[peer][-1:])
    return answers[ours], answers[peer]


def say_turn(what, turn, ours, peer):
    if ours and peer:
        run.say(f"{what}, turn {turn + 1} of {TURNS}: ours {rate(ours[0]):,.0f}/s, peer {rate(peer[0]):,.0f}/s")


def read_turn(ours, command, threads):
    """The rate, and the CPU µs that a unit took: on a busy machine the second says more."""
    answer = ours(command, READ_MS)
    return rate(answer) / threads, per_unit(answer, "cpu_us")


def compare_reads(ours):
    """Returns for each of READS the turns of ours and of the bare loop, pair by pair."""
    rates = {}
    for command, what, _, threads in READS:
        for warming in (command, "bare_" + command):
            ours(warming, READ_MS)
        rates[command] = [(read_turn(ours, command, threads), read_turn(ours, "bare_" + command, threads))
                          for _ in range(TURNS)]
        run.say(f"{what}: done")
    return rates


def print_reads(rates, goals):
    rows = []
    for command, what, bound, _ in READS:
        pairs = rates[command]
        mine, bare = (median(pair[side][0] for pair in pairs) for side in (0, 1))
        ratio = median(pair[0][0] / pair[1][0] for pair in pairs)
        cpu_ratio = median(pair[1][1] / pair[0][1] for pair in pairs)
        rows.append([what, mine, bare, ratio, median(pair[0][1] for pair in pairs), cpu_ratio])
        goals.at_least(f"read_{command}", mine, bound)
        goals.at_least(f"read_{command}_vs_bare", ratio, BARE_BOUND)
    report.table("Reads on 2 threads; beside them a bare loop over RocksDB's C API, turn by turn",
                 ["", "ours", "bare loop", "ratio", "CPU µs a unit", "ratio by CPU"], rows)


def extras(ours, saved, goals):
    sustained = ours("saves", SUSTAINED_MS)
    saved[ours] += sustained["units"]
    goals.at_least("sustained_saves", rate(sustained), 20_000)
    goals.at_most("sustained_saves_p99_ms", sustained["p99_us"] / 1000, 10)
    plain, lazy = ours("plain", EXTRA_MS), ours("lazy", EXTRA_MS)
    report.table(f"Writes of ours alone ({CLIENTS} clients)", SAVE_COLUMNS, [
        save_row(f"saves, {SUSTAINED_MS // 1000} s on end", [sustained], ""),
        save_row("plain batches of 4 cells", [plain], ""),
        save_row("lazy batches of 4 cells", [lazy], "")])


def load(ours, saved):
    """All voters, and half as many saves: reads are measured on a tree that has been worn."""
    run.say(f"preloading {VOTERS:,} voters into the store")
    loaded = ours("preload")
    ours("preload_tally", VOTERS)
    ours("settle")
    saved[ours] = ours("age", VOTERS // 2)["units"]
    ours("settle")
    print(f"{VOTERS:,} voters of 12 cells, loaded by conditional updates of 13 cells, {rate(loaded):,.0f} voters/s; then {saved[ours]:,} "
          "random saves.")


def saves(ours, peer, saved, goals):
    run.say(f"preloading {VOTERS:,} voters into PostgreSQL")
    peer("preload")
    mine, theirs = compare_saves(ours, peer, saved)
    report.table(f"Durable saves: read the voter's row, check its head, write 4 cells. {CLIENTS} clients; median of {TURNS} turns of "
                 f"{SAVE_MS / 1000:g} s each, in turn", SAVE_COLUMNS, [
                     save_row("ours", mine, ""), save_row("PostgreSQL 15", theirs, "server_")])
    print(f"\nRatio, turn by turn: {', '.join(f'{rate(a) / rate(b):.2f}' for a, b in zip(mine, theirs))}")
    goals.at_least("saves_vs_postgresql", median(rate(a) / rate(b) for a, b in zip(mine, theirs)), 4.0)


def body():
    """The peer is there only while it is measured: its vacuum would go on beside the rest."""
    with run.Session("store", FREE_BYTES) as session:
        ours = session.obedient([run.program("bench_store"), session.path("ours"), str(VOTERS), str(CLIENTS),
                                 str(CACHE_MIB)])
        saved, goals = {}, report.Goals()
        load(ours, saved)
        print_reads(compare_reads(ours), goals)

        cluster = postgresql.Cluster(session)
        peer = session.obedient([run.program("bench_postgresql"), cluster.conninfo(), str(cluster.pid),
                                 os.path.join(run.ROOT, "bench", "postgresql.sql"), str(VOTERS), str(CLIENTS)])
        saved[peer] = 0
        saves(ours, peer, saved, goals)
        check_all_there("PostgreSQL", peer, saved)
        peer.close()
        cluster.stop()

        extras(ours, saved, goals)
        check_all_there("the store", ours, saved)
        ours.close()
        goals.print()


run.main(body)
