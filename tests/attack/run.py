#!/usr/bin/env python3
"""run.py -- the standing attacks on a running site: `./dev attack [--long] [--seed N] [NAME…]`.

Each file *_suite.py beside this one is a part, and each test in it a case; a case that fails is a finding. All of it happens in a network
namespace of its own that has loopback and nothing else: no case can reach another machine, and the documentation's addresses
(198.51.100.0/24, and 198.18.0.0/15 for many networks) are addresses of this machine there, so that what is bounded by network address is tried with real ones. Where
the kernel gives no namespace, cases run on 127.0.0.1 with a trusted proxy's X-Forwarded-For in place of addresses, and those that need connections
from other addresses are left out.

The last line is `attack: N cases, N findings`; the findings are also in build/attack/findings.txt. The exit status is 1 when there is one."""
import argparse
import concurrent.futures
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
RESULTS = ROOT / "build/attack"
# Parts that mostly wait run beside each other, one list after the other; those that measure run alone.
BESIDE = [["hostile", "joining"], ["generated", "framing", "accounts", "tubes"]]
ALONE = ["doorway", "ceilings"]
SECONDS, LONG_SECONDS = 600, 7200  # for one of these lists
NOTHING_CHOSEN = 5  # as pytest says it
INSIDE = "ATTACK_NETWORK"  # "own" in the namespace, "shared" where there is none


def enter():
    """Runs this file again in a namespace of its own."""
    unshare = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--net", "--map-root-user"]
    may = subprocess.run([*unshare, "true"], capture_output=True).returncode == 0
    command = [sys.executable, __file__, *sys.argv[1:]]
    os.environ[INSIDE] = "own" if may else "shared"
    os.execvp(*([unshare[0], [*unshare, *command]] if may else [command[0], command]))


def attack(parts, names):
    """Some parts, one after the other, in a process of their own. What it prints is shown when it is done."""
    suites, result = [HERE / f"{part}_suite.py" for part in parts], RESULTS / f"{parts[0]}.json"
    chosen = ["-k", " or ".join(names)] if names else []
    result.unlink(missing_ok=True)
    process = subprocess.Popen([sys.executable, "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider", "--rootdir", ROOT, *chosen, *suites], cwd=ROOT,
                               env={**os.environ, "ATTACK_RESULT": str(result)}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
    try:
        said, _ = process.communicate(timeout=LONG_SECONDS if os.environ["ATTACK_LONG"] else SECONDS)
        code = process.returncode
    except subprocess.TimeoutExpired as error:
        said, code = (error.stdout or b"").decode(errors="replace"), "out of time"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # whatever it has left behind: it leads a group of its own
    print(said, flush=True)
    if not result.exists() or code not in (0, 1, NOTHING_CHOSEN):
        return {"cases": 0, "findings": [f"{', '.join(parts)}: did not run to its end ({code})"], "left_out": 0}
    return json.loads(result.read_text())


def main():
    parser = argparse.ArgumentParser(prog="./dev attack", description="Attacks a running site in all known ways.")
    parser.add_argument("--long", action="store_true", help="100,000 generated requests in place of 5,000, and the cases that wait long")
    parser.add_argument("--seed", type=int, default=1, help="of the generated requests")
    parser.add_argument("names", nargs="*", metavar="NAME", help="only the cases with one of these in their name")
    given = parser.parse_args()
    if INSIDE not in os.environ:
        enter()
    if os.environ[INSIDE] == "own":
        subprocess.run("ip link set lo up && ip route add local 198.51.100.0/24 dev lo && ip route add local 198.18.0.0/15 dev lo", shell=True, check=True)
    os.environ.update(ATTACK_LONG="1" if given.long else "", ATTACK_SEED=str(given.seed), PYTHONDONTWRITEBYTECODE="1")
    RESULTS.mkdir(parents=True, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(len(BESIDE)) as pool:
        results = list(pool.map(lambda parts: attack(parts, given.names), BESIDE))
    results += [attack([part], given.names) for part in ALONE]
    findings = [finding for result in results for finding in result["findings"]]
    (RESULTS / "findings.txt").write_text("".join(f"{finding}\n" for finding in findings))
    print()
    for finding in findings:
        print(f"finding: {finding}")
    if left_out := sum(result["left_out"] for result in results):
        print(f"{left_out} cases were left out: there is no network of their own here")
    cases = sum(result["cases"] for result in results)
    print(f"attack: {cases} cases, {len(findings)} findings")
    return 1 if findings or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
