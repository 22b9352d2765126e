"""This version beside an earlier one: CPU of a page, of a vote through the site, of a save with its projection.

BENCH_BEFORE is the earlier revision; it is checked out and built below build/before. Both versions stay open and take turns, so that a busy
moment of the machine hits both. A ratio is the earlier version's CPU by this one's, the median over the turns: more than 1 is cheaper now.
BENCH_QUICK=1 or --quick: fewer and shorter turns."""
import importlib.util
import os
import subprocess

from support import report, run
from support.report import median

TURNS = 3 if run.QUICK else 9
SECONDS = 2 if run.QUICK else 4
SAVE_MS = 2_000 if run.QUICK else 5_000
BOUND = 0.95
NOW, BEFORE = "now", "before"


def script(name):
    """Another benchmark of this folder. By its path: Python has a module `site` of its own."""
    spec = importlib.util.spec_from_file_location(f"bench_{name}", os.path.join(run.ROOT, "bench", f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


site, ledger = script("site"), script("ledger")
site.SECONDS = SECONDS


def build_before(revision):
    tree = os.path.join(run.ROOT, "build", "before")
    build = os.path.join(tree, "build", "bench")
    if not os.path.isdir(tree):
        subprocess.run(["git", "worktree", "prune"], check=True)
        subprocess.run(["git", "worktree", "add", "--detach", tree, revision], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    subprocess.run(["git", "checkout", "-q", "--detach", revision], cwd=tree, check=True)
    run.say(f"building {revision}")
    if not os.path.isfile(os.path.join(build, "build.ninja")):
        subprocess.run(["meson", "setup", build, tree, "--buildtype=release", "-Dbench=true"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", build], check=True, stdout=subprocess.DEVNULL)
    return build


def of_each(builds, make):
    """What `make` starts, from the programs of each version."""
    made = {}
    for version, build in builds.items():
        run.BUILD = build
        made[version] = make(version)
    return made


def compare(title, goals, name, measure):
    """`measure(version)` is one turn: its answer has `cpu`, in µs for each unit."""
    answers = {NOW: [], BEFORE: []}
    for turn in range(-1, TURNS):
        for version in (NOW, BEFORE) if turn % 2 else (BEFORE, NOW):
            cpu = measure(version)
            if turn >= 0:  # the first turn warms up
                answers[version].append(cpu)
    ratios = [before / now for before, now in zip(answers[BEFORE], answers[NOW])]
    goals.at_least(name, median(ratios), BOUND)
    run.say(f"{title}: {median(ratios):.3f}")
    return [title, median(answers[NOW]), median(answers[BEFORE]), median(ratios), min(ratios), max(ratios)]


def pages(session, builds, goals):
    sites = of_each(builds, lambda version: site.Ours(session, f"pages-{version}", site.PEOPLE, f"cache_bytes={site.CACHE_MIB << 20}"))
    lua, rows = os.path.join(run.ROOT, "bench", "support", "pages.lua"), []
    for each in sites.values():
        each.program("holdings", site.HELD_EACH)
    policies = site.addresses(sites[NOW])
    for name, title, paths, logged_in in (
            ("front_page_cpu_vs_before", "front page", ["/"], False), ("policy_page_cpu_vs_before", "policy pages", policies, False),
            ("front_page_logged_in_cpu_vs_before", "front page, logged in", ["/"], True),
            ("policy_page_logged_in_cpu_vs_before", "policy pages, logged in", policies, True)):
        files = {version: site.write_lines(session, f"{name}-{version}.txt", site.asked(each, paths, each.secrets if logged_in else []))
                 for version, each in sites.items()}

        def measure(version):
            return site.wrk(sites[version].server(version, "/"), "-s", lua, words=[files[version]])["cpu"]
        rows.append(compare(title, goals, name, measure))
    for each in sites.values():
        each.close()
    return rows


def votes(session, builds, goals):
    sites = of_each(builds, lambda version: site.Ours(session, f"votes-{version}", site.VOTERS))

    def measure(version):
        return site.vote(session, sites[version].server(version, "/"), site.forms(sites[version]))["cpu"]
    rows = [compare("vote through the site", goals, "vote_cpu_vs_before", measure)]
    for each in sites.values():
        each.close()
    return rows


def saves(session, builds, goals):
    voters = ledger.VOTERS // 10
    ledgers = of_each(builds, lambda version: ledger.ours_with(session, f"ledger-{version}", voters))
    for each in ledgers.values():
        each("bulk")
        each("settle")

    def measure(version):
        return ledger.per_unit(ledgers[version]("saves", SAVE_MS), "cpu_us")
    rows = [compare("save with its projection", goals, "save_cpu_vs_before", measure)]
    for each in ledgers.values():
        each.close()
    return rows


def body():
    revision = os.environ.get("BENCH_BEFORE")
    if not revision:
        raise run.Failure("set BENCH_BEFORE to the revision to compare with")
    builds, goals, rows = {NOW: run.BUILD, BEFORE: build_before(revision)}, report.Goals(), []
    with run.Session("versions", 4 << 30) as session:
        for part in (pages, votes, saves):
            rows += part(session, builds, goals)
    print(f"Beside {revision}; {TURNS} alternating turns of {SECONDS} s, medians. Above 1: cheaper now.")
    report.table("CPU µs each", ["", "now", "before", "ratio", "lowest turn", "highest turn"], rows)
    goals.print()


if __name__ == "__main__":
    run.main(body)
