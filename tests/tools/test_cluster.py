"""`./dev cluster` without a cluster: what it says when something is missing, and that it touches no process but its own."""
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import threading

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools/cluster"
sys.path.insert(0, str(TOOL))

import asking  # noqa: E402
import cluster  # noqa: E402
import node as nodes  # noqa: E402
import settings  # noqa: E402


def run(directory, *words, **environment):
    return subprocess.run([sys.executable, str(TOOL / "cluster.py"), *words], capture_output=True, text=True, timeout=60,
                          env={**os.environ, "CLUSTER_DIRECTORY": str(directory), **environment}, check=False)


@pytest.fixture
def sleeper():
    """A process of ours that stands for a node."""
    process = subprocess.Popen(["sleep", "1000"])
    yield process
    process.kill()
    process.wait()


def given(directory, number, process, started=None):
    """As if node `number` had been started as that process."""
    home = directory / f"node{number}"
    home.mkdir(parents=True)
    (home / "pid").write_text(f"{process.pid} {started or nodes.started_at(process.pid)}\n")


@pytest.mark.parametrize("words", [[], ["frob"], ["kill"], ["kill", "4"], ["kill", "one"], ["up", "2"], ["down", "--quick"]])
def test_wrong_words_are_a_usage_error(tmp_path, words):
    result = run(tmp_path, *words)
    assert result.returncode == 2
    assert result.stderr.startswith("usage: ./dev cluster")


def test_nothing_runs_at_first(tmp_path):
    result = run(tmp_path, "status")
    assert result.returncode == 1
    assert [line.split() for line in result.stdout.splitlines()] == [
        ["node", str(number), f"127.0.0.{number}", "down"] for number in (1, 2, 3)]


@pytest.mark.parametrize("word", ["kill", "pause", "resume", "restart"])
def test_what_is_down_cannot_be_hurt(tmp_path, word):
    result = run(tmp_path, word, "2")
    assert (result.returncode, result.stderr) == (1, "dev: node 2 is down\n")


def test_pause_resume_and_kill_reach_the_process(tmp_path, sleeper):
    given(tmp_path, 1, sleeper)
    assert run(tmp_path, "pause", "1").stdout == "cluster: node 1 is paused\n"
    assert run(tmp_path, "pause", "1").stderr == "dev: node 1 is paused\n"
    assert run(tmp_path, "up").stderr == "dev: node 1 is paused; ./dev cluster resume 1 lets it go on\n"
    assert run(tmp_path, "resume", "1").stdout == "cluster: node 1 is up\n"
    killed = run(tmp_path, "kill", "1")
    assert killed.stdout == "cluster: node 1 is down\n"
    assert "did not write its list of tables down" in killed.stderr  # it is no node
    assert sleeper.wait(10) == -signal.SIGKILL


def test_a_paused_node_can_be_killed(tmp_path, sleeper):
    given(tmp_path, 3, sleeper)
    run(tmp_path, "pause", "3")
    assert run(tmp_path, "kill", "3").returncode == 0
    assert sleeper.wait(10) == -signal.SIGKILL


def test_a_process_that_got_the_number_of_a_node_is_left_alone(tmp_path, sleeper):
    given(tmp_path, 1, sleeper, started="1")
    assert run(tmp_path, "kill", "1").stderr == "dev: node 1 is down\n"
    assert run(tmp_path, "down").returncode == 0
    assert sleeper.poll() is None


def test_down_ends_all_and_erases_their_data_but_not_the_jars(tmp_path, sleeper):
    given(tmp_path, 2, sleeper)
    (tmp_path / "lib").mkdir()
    result = run(tmp_path, "down")
    assert (result.returncode, result.stdout) == (0, "cluster: down\n")
    assert sleeper.wait(10) == -signal.SIGKILL
    assert not (tmp_path / "node2").exists() and (tmp_path / "lib").exists()


def test_the_port_that_is_taken_is_named(tmp_path):
    node = nodes.Node(tmp_path, 1)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = other.getsockname()[1]
        settings_before = settings.CQL_PORT, settings.GOSSIP_PORT
        settings.CQL_PORT = settings.GOSSIP_PORT = taken
        try:
            assert node.taken_port() == f"127.0.0.1:{taken}"
        finally:
            settings.CQL_PORT, settings.GOSSIP_PORT = settings_before


def test_too_little_memory_is_said_with_both_figures(tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "available_mb", lambda text: 1000)
    with pytest.raises(cluster.Failure, match="3 nodes need 4096 MB of memory, and 1000 MB are free"):
        cluster.check_room(cluster.Cluster(tmp_path).nodes)


def test_the_memory_that_is_available_counts():
    assert cluster.available_mb("MemTotal: 9 kB\nMemFree: 8 kB\nMemAvailable:    4194304 kB\n") == 4096


def test_without_java_or_maven_a_sentence_names_the_package(tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "JAVA", "/nowhere/java")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(cluster.Failure, match="openjdk-17-jre-headless"):
        cluster.find_java()
    with pytest.raises(cluster.Failure, match="package maven"):
        cluster.fetch_jars(tmp_path)


def test_jars_are_fetched_once_and_again_when_the_pom_changed(tmp_path, monkeypatch):
    maven = tmp_path / "bin/mvn"
    maven.parent.mkdir()
    maven.write_text(f'#!/bin/bash\necho fetch >> {tmp_path}/log\nfor w; do [[ $w != -DoutputDirectory=* ]] || '
                     ': > "${w#*=}/cassandra-all-1.jar"; done\n')
    maven.chmod(0o755)
    monkeypatch.setenv("PATH", f"{maven.parent}:{os.environ['PATH']}")
    for _ in range(2):
        cluster.fetch_jars(tmp_path)
    assert (tmp_path / "log").read_text() == "fetch\n"
    (tmp_path / "lib/pom.xml").write_text("<other/>")
    cluster.fetch_jars(tmp_path)
    assert (tmp_path / "log").read_text() == "fetch\nfetch\n"
    maven.write_text("#!/bin/bash\necho 'no network'; exit 1\n")
    shutil.rmtree(tmp_path / "lib")
    with pytest.raises(cluster.Failure, match="Maven could not fetch Cassandra"):
        cluster.fetch_jars(tmp_path)
    assert not (tmp_path / "lib/pom.xml").exists(), "the next try begins anew"


def test_the_nodes_share_the_ring_and_differ_in_address_and_token():
    texts = [settings.yaml(settings.node_settings(number)) for number in settings.NODES]
    assert 'paxos_variant: "v2"' in texts[0] and 'commitlog_sync: "batch"' in texts[0]
    different = {line.partition(":")[0] for one in texts for line in one.splitlines()
                 if not all(line in other.splitlines() for other in texts)}
    assert different == {"initial_token", "listen_address", "rpc_address"}


# One row of two columns, as the protocol's document writes it: kind, flags, columns, keyspace, table, names and types, rows, values.
ROWS = (bytes.fromhex("00000002" "00000001" "00000002") + b"\0\x06system\0\x08peers_v2" + b"\0\x04peer\0\x10" +
        b"\0\x0eschema_version\0\x0c" + bytes.fromhex("00000001" "00000004" "7f000002" "ffffffff"))


def test_rows_are_read_as_the_protocol_writes_them():
    assert asking.rows(ROWS) == [[b"\x7f\0\0\x02", None]]
    assert asking.rows(bytes.fromhex("00000001")) == []


def test_a_node_that_hangs_up_is_not_ready(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=lambda: server.accept()[0].close())
        thread.start()
        with pytest.raises(OSError):
            asking.ask("127.0.0.1", server.getsockname()[1], "SELECT 1", timeout=5)
        thread.join()
