"""A cluster that cannot be used is told in one plain sentence, by `cluster check` and by `serve` alike, with exit status 1.

The nodes are scripted: each is well but for one thing. On real nodes the same is tried by tests/cluster/messages_suite.py, as far as real nodes can
be made to be so."""
import re
import socket

import pytest

from conftest import ostraka
from scripted_node import KEYSPACE, Node

COMMANDS = [("cluster", "check"), ("serve", "--listen", "127.0.0.1:0")]


@pytest.fixture(scope="module")
def tables():
    """The names of all that the program keeps."""
    names = re.findall(r"^\| `(\w+)`", ostraka("tables").stdout, re.M)
    assert "voters" in names
    return names


@pytest.fixture
def node(tables):
    started = []

    def start(**settings):
        started.append(Node(tables=tables, **settings))
        return started[-1]

    yield start
    for each in started:
        each.close()


def said(store, command, tmp_path, *flags):
    """What it says when it refuses: the last line, all of it."""
    done = ostraka(*command, "--data", str(tmp_path / "data"), "--store", store, *flags)
    assert done.returncode == 1 and done.stdout == "", (done.returncode, done.stdout, done.stderr)
    lines = done.stderr.splitlines()
    assert lines and lines[-1].startswith("ostraka: "), done.stderr
    return lines[-1]


def test_a_node_that_is_well_passes(node):
    done = ostraka("cluster", "check", "--store", node().store)
    assert done.returncode == 0 and "ok: 3 copies of each row" in done.stdout and done.stderr == "", done.stderr


@pytest.mark.parametrize("settings, words", [
    ({"copies": 0}, f"there is no keyspace {KEYSPACE}; `ostraka cluster init` makes it"),
    ({"schema": None}, "is not ready: run `ostraka cluster init`"),
    ({"schema": 0}, "has schema 0, and this program needs 1: run `ostraka cluster init`"),
    ({"schema": 99}, "has schema 99, of a newer version of this program"),
    ({"missing": ["voters"]}, f"table {KEYSPACE}.voters is missing: run `ostraka cluster init`"),
    ({"gc_grace": 60}, "has gc_grace_seconds below grace_days"),
    ({"version": "3.11.17"}, "Cassandra 3.11.17 at 127.0.0.41; 4.1 or later is needed"),
    ({"version": "4.0.11"}, "Cassandra 4.0.11 at 127.0.0.41; 4.1 or later is needed"),
    ({"protocol": 3}, "it speaks protocol v3, and v4 is needed"),
    ({"paxos": "v1"}, "has paxos_variant v1: put `paxos_variant: v2` into the cassandra.yaml of every node"),
    ({"segment": "8MiB"}, "has commitlog_segment_size 8MiB: a batch needs 16 MiB or more"),
    ({"sync": "periodic"}, "put `commitlog_sync: group` into its cassandra.yaml, or set cassandra_periodic = on"),
    ({"clock_s": 60}, "s ahead of ours: set both by the same source"),
    ({"clock_s": -60}, "s behind ours: set both by the same source"),
])
@pytest.mark.parametrize("command", COMMANDS, ids=["check", "serve"])
def test_what_is_wrong_is_said(node, command, settings, words, tmp_path):
    assert words in said(node(**settings).store, command, tmp_path)


@pytest.mark.parametrize("command", COMMANDS, ids=["check", "serve"])
def test_a_log_in(node, command, tmp_path):
    place, password = node(login=("ann", "secret")), tmp_path / "password"
    assert "asks for a user and a password" in said(place.store, command, tmp_path)
    password.write_text("wrong\n")
    login = ("--cassandra-user", "ann", "--cassandra-password-file", str(password))
    assert "password are incorrect" in said(place.store, command, tmp_path, *login)
    assert "belong together" in said(place.store, command, tmp_path, *login[:2])
    password.write_text("secret\n")
    assert ostraka("cluster", "check", "--store", place.store, *login).returncode == 0


@pytest.mark.parametrize("command", COMMANDS, ids=["check", "serve"])
def test_a_host_that_cannot_be_reached_is_named(command, tmp_path):
    with socket.create_server(("127.0.0.42", 0)) as listener:
        port = listener.getsockname()[1]
    assert f"127.0.0.42:{port}: Connection refused" in said(f"cassandra://127.0.0.42:{port}/{KEYSPACE}", command, tmp_path)
    assert "nowhere.invalid" in said(f"cassandra://nowhere.invalid/{KEYSPACE}", command, tmp_path)


@pytest.mark.parametrize("command", COMMANDS, ids=["check", "serve"])
def test_a_host_that_says_nothing_is_given_up(command, tmp_path):
    with socket.create_server(("127.0.0.42", 0)) as listener:
        place = "127.0.0.42:%d" % listener.getsockname()[1]
        assert f"{place}: no answer within 5000 ms" in said(f"cassandra://{place}/{KEYSPACE}", command, tmp_path)


def test_what_only_weakens_is_said_and_passes(node):
    for settings, words in (({"copies": 1}, "keeps one copy of each row"), ({"clock_s": 5}, "s ahead of ours"),
                            ({"sync": "periodic"}, "acknowledges writes before they are on its disk")):
        done = ostraka("cluster", "check", "--store", node(**settings).store, "--cassandra-periodic")
        assert done.returncode == 0 and words in done.stderr and done.stderr.count("\n") == 1, done.stderr
