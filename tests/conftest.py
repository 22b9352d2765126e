"""Helpers for the suites that drive the real program: a server in a scratch directory, and the command line."""
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]
BIN = os.environ.get("OSTRAKA_BIN", str(ROOT / "build/test/src/cli/ostraka"))
PLAIN = pathlib.Path(os.environ.get("OSTRAKA_PLAIN", ROOT / "build/plain")) / "src/cli/ostraka"
# Who asks a running server to carry out a command, where what is tested runs in that server: the build without sanitizers starts ten times faster.
CLIENT = str(PLAIN) if PLAIN.exists() else BIN


def clean_environment(**extra):
    """The caller's environment without our own settings, so that a test starts from the defaults, but for the demo."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OSTRAKA_")}
    return {**kept, "OSTRAKA_EMPTY": "on", **extra}


def ostraka(*words, cwd=None, env=None, timeout=60):
    """One command to its end: returncode, stdout, stderr."""
    return subprocess.run([BIN, *words], cwd=cwd, env=clean_environment(**(env or {})), capture_output=True, text=True,
                          timeout=timeout)


def fill_demo(data, voters, policies, days):
    """A made-up electorate with its past, in a new data directory. By the build without sanitizers, where there is one: that is ten times
    faster, and the filling itself is tested with them in cli/test_demo.py."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OSTRAKA_")}
    subprocess.run([str(PLAIN) if PLAIN.exists() else BIN, "demo", "--voters", str(voters), "--policies", str(policies), "--days", str(days),
                    "--data", str(data)], env=environment, check=True, capture_output=True, timeout=120)


class Serve:
    """`ostraka serve` on a free port of loopback, ended by its process id."""

    def __init__(self, data, *flags, env=None, preload=None, program=None):
        environment = clean_environment(**(env or {}))
        if preload:
            environment["LD_PRELOAD"] = preload
        self.data = str(data)
        self.process = subprocess.Popen(
            [program or BIN, "serve", "--data", self.data, "--listen", "127.0.0.1:0", *flags],
            env=environment, stdout=subprocess.PIPE, stderr=open(str(data) + ".log", "wb"), text=True)
        line = self.process.stdout.readline()
        address = re.search(r"http://127\.0\.0\.1:(\d+)/", line)
        if not address:
            self.process.wait(20)
            raise RuntimeError(f"serve did not start: {line}{self.log()}")
        self.port = int(address.group(1))

    def log(self):
        return pathlib.Path(self.data + ".log").read_text()

    def get(self, path, **headers):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return answer.status, answer.headers, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read().decode()

    def health(self):
        status, _, body = self.get("/healthz")
        return status, json.loads(body)

    def stop(self, signal_number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(signal_number)
        code = self.process.wait(30)
        self.process.stdout.close()
        return code


@pytest.fixture
def serve(tmp_path):
    """Starts servers; stops what is still running at the end."""
    running = []

    def start(*flags, data=None, **options):
        server = Serve(data or tmp_path / "data", *flags, **options)
        running.append(server)
        return server

    yield start
    for server in running:
        if server.process.poll() is None:
            server.stop(signal.SIGKILL)
