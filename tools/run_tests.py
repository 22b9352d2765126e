#!/usr/bin/env python3
"""run_tests.py -- runs the built test programs and the pytest files, as many at a time as two cores carry, and adds up. Used by ./dev test.

A C program prints TAP (tests/test.h); a pytest file is one program, too. A program that crashes, runs out of time,
breaks its plan or ends badly without a failed test counts as one failed test: nothing that went wrong adds up to zero.
The suite that a test is in (meson's word) says where it runs:
    plain      build/plain, no sanitizer: what preloads a library
    threads    build/test and build/tsan
    others     build/test, under ASan and UBSan
With --store cassandra, which needs a cluster (./dev cluster up), only what is about the store and the ledger runs, and the suites of
tests/cluster; one after the other, since three nodes share the cores and the suites hurt them.
Long programs begin first, and those that mostly wait run beside those that compute (LONG).
The output of each program is kept in build/test-logs; that of a failing one is printed. The last line is
    N passed, N failed[, N skipped]
and the exit status is 1 when a test failed or none ran."""
import argparse
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
# What the programs that run at the same time need together, as LONG tells: a little more than there is, since none is busy all the time.
CORES = 2.2
PARALLEL = 6  # of them at most, however little they need
SHOWN_BYTES = 64 * 1024  # of a failing program's output: its end
TAP_LINE = re.compile(r"^(not )?ok\b[^#\n]*(#\s*skip)?", re.IGNORECASE)
TAP_PLAN = re.compile(r"^1\.\.(\d+)\s*(#\s*skip)?", re.IGNORECASE)
MESON_SKIP = 77  # the exit status by which a program without TAP says "skipped"

CLUSTER = "cassandra"
CLUSTER_SECONDS = 900  # for one program
ON_CLUSTER = re.compile(r"contract-|votes$")  # C programs, by name

# What takes long on two quiet cores: the seconds, and how much of a core it keeps busy meanwhile. Only the order and what runs
# beside what follow from it, so a figure that is a little wrong costs a little time.
LONG = {
    "mail/test_smtp.py": (55, 0.3),
    "store/cassandra/test_write_retry.py": (34, 0.1),
    "fault/test_nth_call.py": (33, 0.4),
    "simulator [plain]": (28, 0.9),
    "web/test_limits.py": (24, 0.1),
    "cli/test_ledger.py": (23, 1.0),
    "cql-nodes [tsan]": (20, 0.1),
    "cql-nodes": (19, 0.1),
    "site/test_audited_moves.py": (18, 0.9),
    "site/test_public.py": (17, 0.1),
    "contract-model": (17, 0.7),
    "site/test_policy.py": (17, 0.9),
    "fault/test_power_cut.py": (17, 0.6),
    "site/test_safety.py": (16, 0.7),
    "cli/test_cluster.py": (15, 0.2),
    "site/test_moderation.py": (15, 0.3),
    "site/test_noted.py": (30, 0.7),
    "doors/test_doors.py": (25, 0.9),
    "site/test_roll.py": (25, 0.2),
    "site/test_access.py": (14, 0.9),
    "simulator-runs [tsan]": (14, 0.9),
    "cli/test_disk_faults.py": (14, 0.1),
    "events [tsan]": (14, 0.5),
    "cli/test_tasks.py": (14, 0.8),
    "accounts-crash": (12, 0.6),
    "fault/test_saves.py": (11, 0.8),
    "access-linked_logins [tsan]": (11, 0.8),
    "site/test_oidc.py": (11, 0.3),
    "ranking-past": (10, 0.8),
    "cli/test_demo.py": (10, 0.9),
    "events": (9, 0.2),
    "verify-merge": (9, 0.4),
    "accounts-meet": (9, 0.9),
    "tools/test_run_tests.py": (8, 0.7),
    "site/test_people.py": (8, 0.3),
    "simulator-runs": (8, 0.8),
    "web/test_pools.py": (8, 0.2),
    "mail-queue": (8, 0.8),
    "cli/test_cli.py": (7, 1.0),
    "store-rocksdb": (7, 0.7),
    "ranking-threads [tsan]": (7, 0.9),
    "site/test_admin.py": (6, 0.9),
    "access-linked_logins": (6, 0.8),
    "ranking-interleave": (6, 0.8),
    "fault/test_kill.py": (6, 0.6),
    "cql-client [tsan]": (6, 0.3),
    "policies-crash": (6, 0.6),
    "mail-crash": (5, 0.8),
    "policies-merge": (5, 0.8),
    "web/test_stop.py": (5, 0.8),
    "store-backup": (5, 0.7),
    "cql-client": (5, 0.1),
    "web/test_events.py": (5, 0.2),
    "tools/test_dev.py": (5, 0.9),
    "mail/test_message.py": (5, 0.9),
    "base/test_disk_faults.py": (4, 0.5),
    "site/test_mailbox.py": (4, 0.9),
    "site/test_electorate.py": (4, 0.8),
    "site/test_api_people.py": (4, 0.8),
    "site/test_data.py": (4, 0.8),
    "cli/test_key.py": (4, 0.8),
    "policies-races [tsan]": (4, 0.9),
    "ranking-threads": (4, 0.9),
    "contract-threads [tsan]": (4, 1.0),
    "verify-verify": (4, 0.8),
    "settle": (4, 0.6),
    "cql-tls [tsan]": (4, 0.4),
    "fault/test_shim.py": (4, 0.9),
    "tasks-tasks": (3, 0.9),
    "access-second_factor [tsan]": (3, 0.8),
    "contract-expiry": (3, 0.8),
    "site/test_saves.py": (3, 0.9),
}
OTHERS = (1, 0.7)

running = set()  # process ids, each the leader of its group
starting = threading.Lock()  # held while a program starts or leaves `running`; never by the main thread but in stop()


@dataclasses.dataclass
class Program:
    label: str
    kind: str  # tap, exit or pytest
    command: list
    environment: dict
    timeout: float
    directory: pathlib.Path
    alone: bool = False

    @property
    def seconds(self):
        return LONG.get(self.label, OTHERS)[0]

    @property
    def cores(self):
        return LONG.get(self.label, OTHERS)[1]


@dataclasses.dataclass
class Outcome:
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    note: str = ""


@dataclasses.dataclass
class Spent:
    seconds: float = 0.0
    cpu: float = 0.0  # of the program and of all it started and waited for


def introspect(build, what="tests"):
    """The tests of a build directory, as Meson knows them; none when it is not there. Read from where `meson introspect` would read it."""
    if not (build / "build.ninja").exists():
        return []
    return json.loads((build / f"meson-info/intro-{what}.json").read_text())


def suites(test):
    return {name.split(":")[-1] for name in test["suite"]}


def runs_in(test, build_name):
    """Whether a test belongs into build/test, build/plain or build/tsan."""
    if "plain" in suites(test):
        return build_name == "plain"
    return build_name == "test" or build_name == "tsan" and "threads" in suites(test)


def ninja_targets(root, suite):
    """What ninja must build for the tests of one suite: their programs and what those declare to need."""
    build = root / "build/test"
    files = {target["id"]: target["filename"] for target in introspect(build, "targets")}
    found = set()
    for test in introspect(build):
        if suite in suites(test):
            for identity in test["depends"]:
                found.update(os.path.relpath(name, build) for name in files.get(identity, []))
    return sorted(found)


def sanitizer_environment(root):
    """Every finding ends the program. What the caller has set comes last and so wins."""
    suppressions = root / "tests/tsan.supp"
    options = {
        "ASAN_OPTIONS": "detect_stack_use_after_return=1:strict_string_checks=1",
        "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
        "TSAN_OPTIONS": "halt_on_error=1" + (f":suppressions={suppressions}" if suppressions.exists() else ""),
    }
    return {name: f"{value}:{os.environ[name]}" if os.environ.get(name) else value for name, value in options.items()}


def c_programs(root, build_name, options, environment):
    build = root / "build" / build_name
    for test in introspect(build):
        if not runs_in(test, build_name) or options.store == CLUSTER and not ON_CLUSTER.match(test["name"]):
            continue
        label = test["name"] if build_name == "test" else f"{test['name']} [{build_name}]"
        command = list(test["cmd"])
        if options.words and not matches(options.words, label, command[0]):
            if test["protocol"] != "tap" or len(command) > 1:
                continue  # only a program with our runner can pick single tests
            command += options.words
        yield Program(
            label=label,
            kind="tap" if test["protocol"] == "tap" else "exit",
            command=command,
            environment={**environment, **places(root, build_name), **test["env"]},
            timeout=max(options.timeout, test["timeout"]),
            directory=pathlib.Path(test["workdir"] or root),
            alone=not test["is_parallel"] or options.store == CLUSTER,
        )


def places(root, build_name):
    """Where a test finds what was built."""
    build = root / "build" / build_name
    return {
        "OSTRAKA_BUILD": str(build),
        "OSTRAKA_BIN": str(build / "src/cli/ostraka"),
        "OSTRAKA_PLAIN": str(root / "build/plain"),
    }


def pytest_programs(root, options, environment):
    for path in sorted((root / "tests").glob("cluster/*_suite.py" if options.store == CLUSTER else "**/test_*.py")):
        name = str(path.relative_to(root / "tests"))
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(root),
                   f"--junitxml={log_path(root, name)}.xml", str(path)]
        if options.words and not matches(options.words, "tests/" + name):
            command += ["-k", " or ".join(options.words)]
        yield Program(
            label=name,
            kind="pytest",
            command=command,
            environment={**environment, **places(root, "test"), "PYTHONDONTWRITEBYTECODE": "1"},
            timeout=options.timeout,
            directory=root,
            alone=options.store == CLUSTER,
        )


def matches(words, *names):
    return any(word in name for word in words for name in names)


def log_path(root, label):
    return root / "build/test-logs" / re.sub(r"[^A-Za-z0-9_.]+", "-", label)


def run(program, log):
    """The exit status, or None when the time ran out, and the seconds of CPU. Whatever the program started ends with it."""
    with open(log, "wb") as output:
        with starting:
            process = subprocess.Popen(program.command, cwd=program.directory, stdin=subprocess.DEVNULL, stdout=output,
                                       stderr=subprocess.STDOUT, env={**os.environ, **program.environment},
                                       start_new_session=True)
            running.add(process.pid)
        deadline = time.monotonic() + program.timeout
        # Looked at without collecting it: as long as it is not collected, its number names its group and no other.
        while not (ended := os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)):
            if time.monotonic() > deadline:
                break
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGKILL)
        with starting:
            running.discard(process.pid)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        return process.returncode if ended else None, usage.ru_utime + usage.ru_stime


def stop(*_):
    """Interrupted: the programs have sessions of their own and would not notice. No further one starts."""
    starting.acquire()
    for pid in running:
        os.killpg(pid, signal.SIGKILL)
    os._exit(130)


def judge_tap(text, status):
    outcome, plan = Outcome(), None
    for line in text.splitlines():
        if planned := TAP_PLAN.match(line):
            if planned.group(2):
                return Outcome(skipped=1)
            plan = int(planned.group(1))
        elif result := TAP_LINE.match(line):
            if result.group(2):
                outcome.skipped += 1
            elif result.group(1):
                outcome.failed += 1
            else:
                outcome.passed += 1
    count = outcome.passed + outcome.failed + outcome.skipped
    if plan is None:
        outcome.failed += 1
        outcome.note = f"ended without its plan ({ending(status)})"
    elif plan != count:
        outcome.failed += 1
        outcome.note = f"planned {plan} tests and ran {count}"
    elif status != 0 and outcome.failed == 0:
        outcome.failed += 1
        outcome.note = f"no test failed, but it {ending(status)}"
    return outcome


def judge_exit(status):
    if status == MESON_SKIP:
        return Outcome(skipped=1)
    return Outcome(passed=1) if status == 0 else Outcome(failed=1, note=ending(status))


def judge_pytest(report, status):
    if status not in (0, 1, 5) or not report.exists():  # 5: the words fit no test of this file
        return Outcome(failed=1, note=f"pytest {ending(status)}")
    outcome = Outcome()
    for case in xml.etree.ElementTree.parse(report).getroot().iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            outcome.failed += 1
        elif case.find("skipped") is not None:
            outcome.skipped += 1
        else:
            outcome.passed += 1
    if status == 1 and outcome.failed == 0:
        outcome.failed = 1
    return outcome


def ending(status):
    return f"was ended by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"


def run_and_judge(root, program):
    log = log_path(root, program.label)
    report = pathlib.Path(f"{log}.xml")
    report.unlink(missing_ok=True)
    start = time.monotonic()
    try:
        status, cpu = run(program, log)
    except OSError as error:
        return Outcome(failed=1, note=f"could not be started: {error}"), Spent()
    spent = Spent(time.monotonic() - start, cpu)
    if status is None:
        return Outcome(failed=1, note=f"did not end within {program.timeout:.0f} s"), spent
    if program.kind == "pytest":
        return judge_pytest(report, status), spent
    if program.kind == "exit":
        return judge_exit(status), spent
    return judge_tap(log.read_text(errors="replace"), status), spent


def show(root, program, outcome, spent):
    if outcome == Outcome():
        return  # the words fit none of its tests
    counts = f"{outcome.passed} passed" + (f", {outcome.failed} failed" if outcome.failed else "")
    counts += f", {outcome.skipped} skipped" if outcome.skipped else ""
    print(f"{'FAILED' if outcome.failed else 'ok':6}  {program.label}: {counts} ({spent.seconds:.1f} s, CPU {spent.cpu:.1f} s)", flush=True)
    if outcome.failed:
        log = log_path(root, program.label)
        text = log.read_bytes()[-SHOWN_BYTES:].decode(errors="replace") if log.exists() else ""
        print("".join(f"    {line}\n" for line in text.splitlines()) + (f"    {outcome.note}\n" if outcome.note else ""),
              end="", flush=True)


def fits(program, others):
    """Whether it may run beside those that run now."""
    if not others:
        return True
    if program.alone or any(other.alone for other in others) or len(others) >= PARALLEL:
        return False
    return program.cores + sum(other.cores for other in others) <= CORES


def run_all(root, programs):
    total, runs = Outcome(), {}
    waiting = sorted(programs, key=lambda program: (program.alone, -program.seconds))
    with concurrent.futures.ThreadPoolExecutor(PARALLEL) as pool:
        while waiting or runs:
            while program := next((each for each in waiting if fits(each, runs.values())), None):
                waiting.remove(program)
                runs[pool.submit(run_and_judge, root, program)] = program
            # With a timeout: Python acts on a signal only when the main thread moves.
            done, _ = concurrent.futures.wait(runs, 0.5, concurrent.futures.FIRST_COMPLETED)
            for future in done:
                outcome, spent = future.result()
                show(root, runs.pop(future), outcome, spent)
                total.passed += outcome.passed
                total.failed += outcome.failed
                total.skipped += outcome.skipped
    return total


def engines(root):
    """An engine is a folder of src/store with a header of its name."""
    return sorted(path.name for path in (root / "src/store").glob("*/") if (path / f"{path.name}.h").exists())


def parse(arguments):
    parser = argparse.ArgumentParser(prog="./dev test", allow_abbrev=False)
    parser.add_argument("--root", type=pathlib.Path, default=ROOT, help=argparse.SUPPRESS)
    parser.add_argument("--targets", metavar="SUITE", help=argparse.SUPPRESS)
    parser.add_argument("--store", help="the engine that the contract suite runs on")
    parser.add_argument("--long", action="store_true", help="the long form of the loops (OSTRAKA_LONG=1)")
    parser.add_argument("--timeout", type=float, default=280, help="seconds that one program may take")
    parser.add_argument("words", nargs="*", metavar="NAME", help="run what has NAME in its name")
    return parser.parse_args(arguments)


def main(arguments):
    options = parse(arguments)
    root = options.root
    if options.targets:
        print("\n".join(ninja_targets(root, options.targets)))
        return 0
    if options.store and options.store not in engines(root):
        print(f"dev: there is no engine {options.store}; there are: {', '.join(engines(root)) or 'none yet'}",
              file=sys.stderr)
        return 1
    if options.store == CLUSTER:
        options.timeout = max(options.timeout, CLUSTER_SECONDS)
    environment = sanitizer_environment(root)
    if options.store:
        environment["OSTRAKA_TEST_STORE"] = options.store
    if options.long:
        environment["OSTRAKA_LONG"] = "1"
        options.timeout = max(options.timeout, 3600)
    (root / "build/test-logs").mkdir(parents=True, exist_ok=True)
    programs = list(pytest_programs(root, options, environment))
    for build_name in ("plain", "tsan", "test"):
        programs += c_programs(root, build_name, options, environment)
    total = run_all(root, programs)
    if total.passed + total.failed == 0:
        print("no test ran" + (f": none has {' or '.join(options.words)} in its name" if options.words else ""))
    print(f"{total.passed} passed, {total.failed} failed" + (f", {total.skipped} skipped" if total.skipped else ""))
    return 1 if total.failed or total.passed == 0 else 0


if __name__ == "__main__":
    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    sys.exit(main(sys.argv[1:]))
