"""A real server program and raw sockets for the tests of src/web: what goes over the wire is written out byte for byte."""
import json
import os
import pathlib
import socket
import subprocess
import tempfile
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("OSTRAKA_BUILD", ROOT / "build" / "test"))
PROGRAM = BUILD / "tests" / "web" / "test_server"


class Answer:
    """One HTTP answer, read from a socket up to its end and no further."""

    def __init__(self, stream, is_head=False):
        line = stream.readline()
        if not line:
            raise ConnectionError("closed without an answer")
        self.version, code, self.words = line.decode().rstrip("\r\n").split(" ", 2)
        self.code = int(code)
        self.fields = []
        while (line := stream.readline()) not in (b"\r\n", b""):
            name, value = line.decode().rstrip("\r\n").split(": ", 1)
            self.fields.append((name.lower(), value))
        size = int(self.header("content-length") or 0)
        has_body = not is_head and self.code not in (204, 304) and self.code >= 200
        self.body = stream.read(size) if has_body else b""
        assert len(self.body) == (size if has_body else 0), "the body is cut short"

    def header(self, name):
        values = [value for key, value in self.fields if key == name.lower()]
        assert len(values) < 2, f"{name} came twice"
        return values[0] if values else None

    def json(self):
        return json.loads(self.body)


class Client:
    """A connection. `send` writes bytes as they are, `ask` a whole request."""

    def __init__(self, address, timeout=10):
        self.socket = socket.create_connection(address, timeout=timeout)
        self.stream = self.socket.makefile("rb")

    def send(self, content):
        self.socket.sendall(content)
        return self

    def answer(self, is_head=False):
        return Answer(self.stream, is_head)

    def ask(self, method, target, headers=(), body=None):
        lines = [f"{method} {target} HTTP/1.1", "Host: localhost", *headers]
        if body is not None:
            lines.append(f"Content-Length: {len(body)}")
        self.send("\r\n".join(lines).encode() + b"\r\n\r\n" + (body or b""))
        return self.answer(method == "HEAD")

    def get(self, target, *headers):
        return self.ask("GET", target, headers)

    def is_closed(self):
        """Waits for the server's end of the connection."""
        try:
            return self.socket.recv(1) == b""
        except ConnectionError:
            return True

    def close(self):
        self.stream.close()
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Server:
    def __init__(self, settings):
        # Not pytest's own directory: that is pruned when several runs share a machine.
        self.directory = tempfile.TemporaryDirectory(prefix="ostraka-web-")
        self.log_path = pathlib.Path(self.directory.name) / "log"
        given = {"listen": "127.0.0.1:0", **settings}
        self.process = subprocess.Popen(
            [PROGRAM, self.log_path, *(f"{name}={value}" for name, value in given.items())],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1)
        line = self.process.stdout.readline().split()
        if len(line) != 2:
            raise RuntimeError(self.process.communicate()[1])
        self.address = ("127.0.0.1", int(line[1]))

    def connect(self, timeout=10):
        return Client(self.address, timeout)

    def get(self, target, *headers):
        with self.connect() as client:
            return client.get(target, *headers)

    def command(self, line):
        self.process.stdin.write(line + "\n")
        assert self.process.stdout.readline() == "done\n"

    def begin_stop(self):
        self.process.stdin.write("stop\n")

    def end(self):
        """Stops it, if it still runs, and fails when a sanitizer had something to say."""
        _, errors = self.process.communicate(timeout=30)
        assert self.process.returncode == 0, errors
        assert errors == ""

    def log(self):
        return [json.loads(line) for line in self.log_path.read_text().splitlines()]

    def wait_for_log(self, fits):
        """The first line that fits. What is told after an answer, or a cut, may take a moment."""
        end = time.monotonic() + 20
        while time.monotonic() < end:
            for line in self.log():
                if fits(line):
                    return line
            time.sleep(0.02)
        raise AssertionError("was not logged")

    def wait_for_sleeper(self):
        """Until a handler sleeps (/slow)."""
        self.wait_for_log(lambda line: line["event"] == "sleeps")

    def logged(self, answer):
        """The lines of one request. They are written after the answer, so they may take a moment."""
        assert answer.header("x-request-id"), "a page from memory has none"
        for _ in range(200):
            lines = [line for line in self.log() if line.get("id") == answer.header("x-request-id")]
            if lines:
                return lines
            time.sleep(0.01)
        return []

    def metric(self, name):
        for line in self.get("/metrics").body.decode().splitlines():
            if line.startswith(name + " "):
                return float(line.split()[-1])
        return 0


    def wait_for_metric(self, name, value):
        end = time.monotonic() + 20
        while self.metric(name) != value:
            assert time.monotonic() < end, f"{name} is {self.metric(name)}, not {value}"
            time.sleep(0.02)


@pytest.fixture
def start():
    """start(name=value…) runs a server with these settings until the end of the test."""
    servers = []

    def start_one(**settings):
        servers.append(Server(settings))
        return servers[-1]

    yield start_one
    for server in servers:
        server.end()


@pytest.fixture(scope="module")
def server():
    """One with default settings, shared by the tests of a file."""
    running = Server({})
    yield running
    running.end()
