#!/usr/bin/env python3
"""run.py -- the standing attacks on a running site: `./dev attack [--long] [--seed N] [NAME…]`.

Each file *_suite.py beside this one is a part, and each test in it a case; a case that fails is a finding. All of it happens in a network
namespace of its own that has loopback and nothing else: no case can reach another machine, and the documentation's addresses
(198.51.100.0/24) are addresses of this machine there, so that what is bounded by network address is tried with real ones. Where
the kernel gives no namespace, cases run on 127.0.0.1 with a trusted proxy's X-Forwarded-For in place of addresses, and those that need connections
from other addresses are left out.

The last line is `attack: N cases, N findings`; the findings are also in build/attack/findings.txt. The exit status is 1 when there is one."""
import argparse
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
INSIDE = "ATTACK_NETWORK"  # "own" in the namespace, "shared" where there is none


def enter():
    """Runs this file again in a namespace of its own."""
    unshare = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--net", "--map-root-user"]
    may = subprocess.run([*unshare, "true"], capture_output=True).returncode == 0
    command = [sys.executable, __file__, *sys.argv[1:]]
    os.environ[INSIDE] = "own" if may else "shared"
    os.execvp(*([unshare[0], [*unshare, *command]] if may else [command[0], command]))


def main():
    parser = argparse.ArgumentParser(prog="./dev attack", description="Attacks a running site in all known ways.")
    parser.add_argument("--long", action="store_true", help="100,000 generated requests in place of 5,000, and the cases that wait long")
    parser.add_argument("--seed", type=int, default=1, help="of the generated requests")
    parser.add_argument("names", nargs="*", metavar="NAME", help="only the cases with one of these in their name")
    given = parser.parse_args()
    if INSIDE not in os.environ:
        enter()
    if os.environ[INSIDE] == "own":
        subprocess.run("ip link set lo up && ip route add local 198.51.100.0/24 dev lo", shell=True, check=True)
    os.environ.update(ATTACK_LONG="1" if given.long else "", ATTACK_SEED=str(given.seed), PYTHONDONTWRITEBYTECODE="1")
    chosen = ["-k", " or ".join(given.names)] if given.names else []
    return subprocess.run([sys.executable, "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider", "--rootdir", ROOT, *chosen,
                           *sorted(HERE.glob("*_suite.py"))], cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main())
