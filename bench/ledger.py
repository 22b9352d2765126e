"""The ledger beside PostgreSQL: saves with their projection; then what its parts, growth and rankings cost.

Both sides stay open and take turns, so that a busy moment of the machine hits both; each row is the median of its turns.
bench/README.md says what exactly is compared. BENCH_QUICK=1 or --quick: fewer voters and shorter turns.
BENCH_PARTS="saves": one part of saves, rankings, growth."""
import os
import shutil

from support import postgresql, report, run
from support.report import median

CLIENTS = 64
CACHE_MIB = 2048  # as much as PostgreSQL's shared_buffers
VOTERS = 100_000 if run.QUICK else 1_000_000
VOTERS_A_POLICY = 50
TURNS = 3 if run.QUICK else 5
SAVE_MS = 3_000 if run.QUICK else 8_000
BACKLOG = 30_000
GROWTH = [10_000, 100_000, 1_000_000] if run.QUICK else [10_000, 1_000_000, 10_000_000]
GROWTH_BYTES = 4_000  # on the disk for each voter while loading, at most
LOAD_MAX_S = 15 * 60
RANKED = 100_000 if run.QUICK else 1_000_000
ASK_MS = 1_000
FREE_BYTES = (4 if run.QUICK else 16) << 30

# The aim; below 2.5 the design is in doubt.
SAVES_BOUND = 4.0


def rate(answer):
    return answer["units"] / answer["seconds"]


def per_unit(answer, *names):
    return sum(answer[name] for name in names) / answer["units"]


SAVE_COLUMNS = ["", "saves/s", "p50 ms", "p99 ms", "CPU µs", "client's CPU µs", "bytes written", "syncs/s", "saves a sync"]


def save_row(name, answers, prefix):
    """A row of the table of saves: medians over the turns. The peer's client is its own column."""
    def middle(value):
        return median(value(answer) for answer in answers)
    syncs = middle(lambda a: a[prefix + "syncs"] / a["seconds"])
    return [name, middle(rate), middle(lambda a: a["p50_us"] / 1000), middle(lambda a: a["p99_us"] / 1000),
            middle(lambda a: per_unit(a, prefix + "cpu_us")),
            middle(lambda a: per_unit(a, "cpu_us")) if prefix else None,
            middle(lambda a: per_unit(a, prefix + "written")), syncs, middle(rate) / syncs if syncs else None]


def ours_with(session, name, voters):
    return session.obedient([run.program("bench_ledger"), session.path(name), str(voters), str(voters // VOTERS_A_POLICY),
                             str(CLIENTS), str(CACHE_MIB)])


def check(name, program, saved):
    """Nothing was acknowledged that is not there, and totals are what voters hold."""
    answer = program("check")
    if answer["seq"] != saved or answer["totals"] != answer["held"]:
        raise run.Failure(f"{name} has {answer}, acknowledged were {saved} saves")


def compare_saves(ours, peer, saved):
    answers = {ours: [], peer: []}
    for turn in range(-1, TURNS):
        for program in (ours, peer):
            answer = program("saves", SAVE_MS)
            saved[program] += answer["units"]
            if turn >= 0:  # the first turn warms up
                answers[program].append(answer)
        if turn >= 0:
            run.say(f"saves, turn {turn + 1} of {TURNS}: ours {rate(answers[ours][-1]):,.0f}/s, "
                    f"peer {rate(answers[peer][-1]):,.0f}/s")
    return answers[ours], answers[peer]


def parts(ours, saved):
    """What saving alone and projecting alone cost, and how fast the most popular policy is recounted."""
    halves = []
    for _ in range(TURNS):
        halves.append(ours("backlog", BACKLOG))
        saved[ours] += halves[-1]["units"]
    recounts = [ours("recount", 1) for _ in range(TURNS)]

    def middle(what):
        return median(half[what] / half["units"] for half in halves)
    report.table("Halves of ours: saves alone, then the projection of what they left, by one thread",
                 ["", "a second", "CPU µs each"], [
                     ["saves", 1 / middle("save_s"), middle("save_cpu_us")],
                     ["saves projected", 1 / middle("project_s"), middle("project_cpu_us")],
                     ["voters recounted", median(a["voters"] / a["seconds"] for a in recounts), None]])


def size_of(directory):
    return sum(os.path.getsize(os.path.join(at, name)) for at, _, names in os.walk(directory) for name in names)


def growth(session, goals):
    """The same save at more and more voters: time and CPU of each, projection included."""
    rows, costs = [], []
    for voters in GROWTH:
        if shutil.disk_usage(session.directory).free < voters * GROWTH_BYTES:
            run.say(f"no room for {voters:,} voters; growth ends before")
            break
        run.say(f"loading {voters:,} voters")
        ours = ours_with(session, f"growth-{voters}", voters)
        loaded = ours("bulk")
        ours("settle")
        ours("saves", SAVE_MS)
        turns = [ours("saves", SAVE_MS) for _ in range(TURNS)]
        ours.close()
        size = size_of(session.path(f"growth-{voters}"))
        shutil.rmtree(session.path(f"growth-{voters}"))
        costs.append(median(per_unit(turn, "cpu_us") for turn in turns))
        rows.append([f"{voters:,} voters", median(rate(turn) for turn in turns), costs[-1], loaded["seconds"],
                     size / (1 << 30)])
    report.table("Growth: saves with their projection; voters loaded as rows", ["", "saves/s", "CPU µs", "load s", "GiB"], rows)
    goals.at_most("ledger_growth_cost", costs[-1] / costs[0], 2.0)
    goals.at_most("ledger_growth_load_s", rows[-1][3], LOAD_MAX_S)


# command, what is asked, goal (None: none), most µs for 99 of 100
QUESTIONS = [
    ("place", "rank and neighbours of any policy, all votes", "rank_place_us", 50),
    ("place_window", "the same, last 3 days", "rank_place_window_us", 50),
    ("top", "the first 50, last 3 days", "rank_top50_us", 1_000),
    ("anywhere", "50 from anywhere, all votes", None, None),
]


def rankings(session, goals):
    ranks = session.obedient([run.program("bench_rank"), session.path("ranks"), str(RANKED), str(CACHE_MIB)])
    run.say(f"loading {RANKED:,} policies")
    ranks("preload")
    loaded, rows = ranks("load"), []
    for command, what, goal, most in QUESTIONS:
        answer = ranks(command, ASK_MS)
        rows.append([what, rate(answer), answer["p50_us"], answer["p99_us"]])
        if goal:
            goals.at_most(goal, answer["p99_us"], most)
    report.table(f"Questions to a ranking of {RANKED:,} policies, from one thread (read from the store in "
                 f"{loaded['seconds']:.1f} s)", ["", "a second", "p50 µs", "p99 µs"], rows)
    ranks.close()


def saves(session, goals):
    """Beside PostgreSQL, turn by turn, with a check of both at the end."""
    cluster = postgresql.Cluster(session)
    peer = session.obedient([run.program("bench_ledger_peer"), cluster.conninfo(), str(cluster.pid),
                             os.path.join(run.ROOT, "bench", "ledger.sql"), str(VOTERS),
                             str(VOTERS // VOTERS_A_POLICY), str(CLIENTS)])
    ours = ours_with(session, "ours", VOTERS)
    run.say(f"loading {VOTERS:,} voters into PostgreSQL")
    peer("preload")
    run.say(f"loading {VOTERS:,} voters into the store")
    ours("bulk")
    ours("settle")
    saved = {ours: VOTERS, peer: VOTERS}

    mine, theirs = compare_saves(ours, peer, saved)
    print(f"{VOTERS:,} voters with 3 lines on {VOTERS // VOTERS_A_POLICY:,} policies, {CLIENTS} clients, 1.4 lines a save; "
          f"median of {TURNS} turns of {SAVE_MS / 1000:g} s each, in turn. A turn ends when the projection has caught up.")
    report.table("Durable saves, in the counts of the policies", SAVE_COLUMNS, [
        save_row("ours", mine, ""), save_row("PostgreSQL 15", theirs, "server_")])
    print(f"\nRatio, turn by turn: {', '.join(f'{rate(a) / rate(b):.2f}' for a, b in zip(mine, theirs))}")
    goals.at_least("ledger_saves_vs_postgresql", median(rate(a) / rate(b) for a, b in zip(mine, theirs)), SAVES_BOUND)

    parts(ours, saved)
    check("the ledger", ours, saved[ours])
    check("PostgreSQL", peer, saved[peer])
    peer.close()
    ours.close()


PARTS = {"saves": saves, "rankings": rankings, "growth": growth}


def body():
    goals = report.Goals()
    with run.Session("ledger", FREE_BYTES) as session:
        for part in os.environ.get("BENCH_PARTS", "saves rankings growth").split():
            PARTS[part](session, goals)
        goals.print()


if __name__ == "__main__":
    run.main(body)
