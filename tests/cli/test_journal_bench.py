"""`ostraka journal bench`: a bounded load on a listener that runs, and nothing left of it."""
import json
import signal
import socket
import subprocess

import pytest

from conftest import BIN, clean_environment, ostraka


@pytest.fixture
def listener(tmp_path):
    """`journal serve` on a unix socket; its path."""
    path = tmp_path / "socket"
    process = subprocess.Popen([BIN, "journal", "serve", "-b", str(tmp_path / "journal"), "-l", f"unix:{path}"], env=clean_environment(),
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert "Journals are at" in process.stdout.readline()
    yield path
    process.send_signal(signal.SIGTERM)
    process.wait(30)
    process.stdout.close()


def say(path, line):
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(20)
        client.connect(str(path))
        client.sendall(line + b"\r\nquit\r\n")
        return b"".join(iter(lambda: client.recv(65536), b"")).decode()


def test_each_part_is_measured_and_nothing_stays(listener):
    done = ostraka("journal", "bench", "--at", f"unix:{listener}", "--clients", "2", "--seconds", "1", "--bytes", "10", "--json")
    assert done.returncode == 0, done.stderr
    parts = [json.loads(line) for line in done.stdout.splitlines()]
    assert [part["part"] for part in parts] == ["put", "claim + done", "full cycle"]
    for part in parts:
        assert part["units"] > 0 and part["per_second"] > 0 and 0 < part["p50_us"] <= part["p99_us"] <= 20_000_000
    assert parts[1]["units"] <= parts[0]["units"]
    assert say(listener, b"list-tubes") == "OK 14\r\n---\n- default\n\r\n"
    stats = say(listener, b"stats")
    assert "current-jobs-ready: 0\n" in stats and "current-jobs-reserved: 0\n" in stats


def test_it_stays_on_this_machine_and_within_its_bounds():
    for words, sentence in ((("--at", "192.0.2.1:11300"), "is not on loopback"), (("--clients", "65"), "from 1 to 64"), (("--clients", "0"), "from 1 to 64"),
                            (("--seconds", "61"), "from 1 to 60"), (("--bytes", "65536"), "from 0 to 65535"), (("--at", "nowhere"), "")):
        done = ostraka("journal", "bench", *words)
        assert done.returncode == 2 and sentence in done.stderr, (words, done.stderr)


def test_without_a_listener_it_says_so(tmp_path):
    done = ostraka("journal", "bench", "--at", f"unix:{tmp_path}/none", "--seconds", "1", "--clients", "1")
    assert done.returncode == 1
    assert "put: UNAVAILABLE" in done.stderr
