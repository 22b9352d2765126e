#!/usr/bin/env python3
"""run.py -- suites of beanstalkd's clients, before Debian's beanstalkd and before `ostraka journal serve`: `./dev clients [NAME…]`.

Suites shipped with the packages pystalk, fivebeans and jackd, and one of ours for greenstalk, which ships none. Each runs twice on
fresh servers, one after the other, and every test must pass on both. EXCEPTIONS names those that do not, with how they end and
the reason; one that ends otherwise is wrong, too. What the suites print, and their reports, are in build/clients.

fivebeans and jackd expect their server on 127.0.0.1:11300. So all of it happens in a network namespace of its own, which has loopback
and nothing else; where the kernel gives none, that port must be free."""
import collections
import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = ROOT / "build/clients"
PORT = 11300
SECONDS = 120  # for one run of one suite
INSIDE = "CLIENTS_NETWORK"
PYTHON = BUILD / "venv/bin/python"
PYTEST = [str(PYTHON), "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider", "-W", "ignore"]

# A suite, where it is, its words before the name of the report, and what it needs: servers of the suite's own ("none"), or ours.
Suite = collections.namedtuple("Suite", "name folder words servers")
SUITES = [
    Suite("pystalk 0.6.0", BUILD / "pystalk-0.6.0", [*PYTEST, "--rootdir", ".", "tests", "--junitxml"], "none"),
    Suite("fivebeans 1.5.0", BUILD / "node-1/node_modules/fivebeans",
          ["node", "../mocha/bin/_mocha", "-t", "8000", "test/", "-R", "xunit", "--reporter-options"], "tcp"),
    Suite("jackd 1.2.6", BUILD / "node-2/node_modules/jackd",
          ["node", "../mocha/bin/_mocha", "-R", "xunit", "--reporter-options"], "tcp"),
    Suite("greenstalk 2.1.1, tcp", ROOT, [*PYTEST, HERE / "greenstalk_suite.py", "--junitxml"], "tcp"),
    Suite("greenstalk 2.1.1, unix", ROOT, [*PYTEST, HERE / "greenstalk_suite.py", "--junitxml"], "unix"),
]
SIDES = {"beanstalkd": ["beanstalkd"], "ostraka": [os.environ.get("OSTRAKA_BIN", str(ROOT / "build/release/src/cli/ostraka")), "journal", "serve"]}
# (suite, test): how it ends on beanstalkd and on ours, and why.
EXCEPTIONS = {
    ("fivebeans 1.5.0", "FiveBeansWorker starting & stopping: emits the error event on failure"):
        ("failure", "failure", "it connects to a port where nothing listens, and expects the errno of a Node before 13"),
    ("fivebeans 1.5.0", "FiveBeansWorker log events: have tests"): ("skipped", "skipped", "it has no body"),
}


def enter():
    """Runs this file again in a namespace of its own."""
    unshare = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--net", "--map-root-user"]
    may = subprocess.run([*unshare, "true"], capture_output=True).returncode == 0
    os.environ[INSIDE] = "own" if may else "shared"
    command = [*(unshare if may else []), sys.executable, __file__, *sys.argv[1:]]
    os.execvp(command[0], command)


def reaches(address):
    with socket.socket(socket.AF_UNIX if isinstance(address, str) else socket.AF_INET) as probe:
        return probe.connect_ex(address) == 0


@contextlib.contextmanager
def server(command, kind, directory):
    """A fresh one; yields its address."""
    files = directory / "files"
    files.mkdir()
    address = str(directory / "socket") if kind == "unix" else ("127.0.0.1", PORT)
    where = ["-l", f"unix:{address}"] if kind == "unix" else ["-l", "127.0.0.1", "-p", str(PORT)]
    if kind == "tcp" and reaches(address):
        raise RuntimeError(f"port {PORT} is in use")
    with open(directory / "server.log", "wb") as log:
        process = subprocess.Popen([*command, *where, "-b", str(files)], stdout=log, stderr=log, env=clean_environment())
    try:
        deadline = time.monotonic() + 30
        while not reaches(address):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{' '.join(command)} does not listen: {(directory / 'server.log').read_text()[-2000:]}")
            time.sleep(0.02)
        yield address
        if process.poll() is not None:
            raise RuntimeError(f"{' '.join(command)} ended during the suite: {(directory / 'server.log').read_text()[-2000:]}")
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def clean_environment(**extra):
    return {**{name: value for name, value in os.environ.items() if not name.startswith("OSTRAKA_")}, **extra}


def outcomes(report):
    """Of a report as pytest and mocha both write it: the ending of each test."""
    found = {}
    for case in xml.etree.ElementTree.parse(report).iter("testcase"):
        name = f"{case.get('classname')}: {case.get('name')}"
        ends = [child.tag for child in case if child.tag in ("failure", "error", "skipped")]
        while name in found:
            name += "'"
        found[name] = ends[0] if ends else "passed"
    return found


def run(suite, side, command):
    """The endings of all tests of a suite on one side, and the seconds that it took."""
    with tempfile.TemporaryDirectory(prefix="clients-") as scratch, contextlib.ExitStack() as stack:
        scratch = pathlib.Path(scratch)
        stem = f"{suite.name.replace(' ', '-').replace(',', '')}-{side}"
        report, program = BUILD / f"{stem}.xml", scratch / "program"
        report.unlink(missing_ok=True)
        program.write_text(f"#!/bin/sh\nexec {' '.join(command)} \"$@\"\n")
        program.chmod(0o755)
        environment = clean_environment(BEANSTALKD_PATH=str(program), PYTHONDONTWRITEBYTECODE="1")
        if suite.servers != "none":
            address = stack.enter_context(server(command, suite.servers, scratch))
            environment["SERVER"] = address if suite.servers == "unix" else "%s:%d" % address
        words = [*suite.words, f"output={report}" if "--reporter-options" in suite.words else report]
        began = time.monotonic()
        process = subprocess.Popen(words, cwd=suite.folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                   start_new_session=True)
        try:
            said, _ = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            said = f"did not end within {SECONDS} seconds"
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # what it has left behind: it leads a group of its own
            process.wait()
        seconds = time.monotonic() - began
        (BUILD / f"{stem}.log").write_text(said)
        if not report.exists():
            raise RuntimeError(f"{suite.name} on {side} left no report: {said[-2000:]}")
        return outcomes(report), seconds


def mistakes(suite, theirs, ours):
    """Sentences about what is wrong with a suite."""
    tests = {**theirs, **ours}
    if not tests:
        yield "it has no tests"
    for test in [*tests, *(test for name, test in EXCEPTIONS if name == suite.name and test not in tests)]:
        ends = theirs.get(test, "absent"), ours.get(test, "absent")
        *expected, _ = EXCEPTIONS.get((suite.name, test), ("passed", "passed", ""))
        if list(ends) != expected:
            yield f"{test}: {ends[0]} on beanstalkd, {ends[1]} on ostraka; expected {expected[0]}, {expected[1]}"


def main():
    if INSIDE not in os.environ:
        enter()
    if os.environ[INSIDE] == "own":
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    if missing := [name for name in ("beanstalkd", "node") if shutil.which(name) is None]:
        sys.exit(f"clients: not installed: {' '.join(missing)}")
    chosen = [suite for suite in SUITES if not sys.argv[1:] or any(word in suite.name for word in sys.argv[1:])]
    wrong, lines = {}, []
    for suite in chosen:
        results = []
        for side, command in SIDES.items():
            try:
                ends, seconds = run(suite, side, command)
            except (RuntimeError, OSError) as error:
                ends, seconds = {}, 0
                wrong.setdefault(suite.name, []).append(f"on {side}: {error}")
            results.append(ends)
            count = collections.Counter(ends.values())
            others = ", ".join(f"{number} {kind}" for kind, number in sorted(count.items()) if kind != "passed")
            lines.append(f"| {suite.name:<23} | {side:<10} | {len(ends):>5} | {count['passed']:>6} | {others or '-':<21} | {seconds:>7.1f} |")
        if suite.name not in wrong and (found := list(mistakes(suite, *results))):
            wrong[suite.name] = found
    print("| suite                   | server     | tests | passed | others                | seconds |")
    print("|-------------------------|------------|------:|-------:|-----------------------|--------:|")
    print("\n".join(lines))
    for (suite, test), (theirs, ours, reason) in EXCEPTIONS.items():
        print(f"exception: {suite}: {test}: {theirs} on beanstalkd, {ours} on ostraka: {reason}")
    for suite, sentences in wrong.items():
        for sentence in sentences:
            print(f"wrong: {suite}: {sentence}")
    print(f"\n{len(chosen) - len(wrong)} passed, {len(wrong)} failed")
    return 1 if wrong or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
