"""What `ostraka cluster init` makes, `cluster check` finds well, and what is then changed on real nodes is told in one plain sentence."""
import subprocess

import pytest

import nodes
from conftest import clean_environment
from nodes import asking, settings

KEYSPACE = "ostraka_messages"
OSTRAKA = nodes.PLAIN / "src/cli/ostraka"


def run(*words, keyspace=KEYSPACE):
    return subprocess.run([OSTRAKA, *words, "--store", nodes.address(keyspace)], env=clean_environment(), text=True,
                          capture_output=True, timeout=300)


def ask(words):
    asking.ask(nodes.HOSTS.split(",", maxsplit=1)[0], settings.CQL_PORT, words, timeout=60)


@pytest.fixture(scope="module", autouse=True)
def keyspace():
    nodes.heal()
    nodes.drop(KEYSPACE)
    done = run("cluster", "init")
    assert done.returncode == 0 and f"keyspace {KEYSPACE} is ready" in done.stdout, done.stderr
    yield
    nodes.drop(KEYSPACE)


def test_what_init_made_is_well_and_init_may_run_again():
    assert run("cluster", "init").returncode == 0
    done = run("cluster", "check")
    assert done.returncode == 0 and "ok: 3 copies of each row" in done.stdout and done.stderr == "", done.stderr
    assert done.stdout.count(" up\n") == 3


def test_a_missing_keyspace():
    done = run("cluster", "check", keyspace="ostraka_nowhere")
    assert done.returncode == 1 and "there is no keyspace ostraka_nowhere; `ostraka cluster init` makes it" in done.stderr


@pytest.mark.parametrize("change, words", [
    ("UPDATE {0}.schema_version SET version = 0 WHERE part = 'store'", "has schema 0, and this program needs"),
    ("UPDATE {0}.schema_version SET version = 99 WHERE part = 'store'", "of a newer version of this program"),
    ("DELETE FROM {0}.schema_version WHERE part = 'store'", "is not ready: run `ostraka cluster init`"),
    ("ALTER TABLE {0}.voters WITH gc_grace_seconds = 60", "voters has gc_grace_seconds below grace_days"),
    ("ALTER TABLE {0}.voters WITH read_repair = 'NONE'", "or no read_repair"),
])
def test_a_schema_that_does_not_fit_is_told_and_mended_by_init(change, words):
    ask(change.format(KEYSPACE))
    done = run("cluster", "check")
    assert done.returncode == 1 and done.stdout == "" and words in done.stderr and done.stderr.count("\n") == 1, done.stderr
    if "newer" in words:
        assert run("cluster", "init").returncode == 1
        ask(f"UPDATE {KEYSPACE}.schema_version SET version = 1 WHERE part = 'store'")
    assert run("cluster", "init").returncode == 0 and run("cluster", "check").returncode == 0


def test_a_node_that_is_down_is_named_and_the_check_passes():
    nodes.cluster("kill", 3)
    try:
        done = run("cluster", "check")
        assert done.returncode == 0 and "node 127.0.0.3 could not be asked" in done.stderr, done.stderr
        assert "127.0.0.3" in done.stdout and "cannot be reached" in done.stdout
    finally:
        nodes.heal()
