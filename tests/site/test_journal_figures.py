"""The figures of the journals in /metrics: counters, histograms and bytes."""
import socket


class Client:
    """Of the beanstalkd listener."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(20)
        self.socket.connect(str(path))
        self.answers = self.socket.makefile("rb")

    def say(self, command, lines=1):
        """The last of so many lines of its answer."""
        self.socket.sendall(command + b"\r\n")
        return [self.answers.readline().decode().strip() for _ in range(lines)][-1]


def figures(server):
    """Values by name and labels; each family has its head once."""
    status, _, text = server.get("/metrics")
    assert status == 200
    lines = [line for line in text.splitlines() if line.startswith("ostraka_journal_")]
    values = {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines}
    assert len(values) == len(lines), "a figure is there twice"
    for name in {line.split("{")[0].split(" ")[0] for line in lines}:
        family = name if f"# TYPE {name} " in text else name.rpartition("_")[0]
        assert text.count(f"# TYPE {family} ") == 1 and text.count(f"# HELP {family} ") == 1, name
    return values


def test_puts_waits_runs_commits_and_bytes(serve, tmp_path):
    (tmp_path / "journals").write_text("[group other]\n[journal work]\nput = local\nclaim = local\n[journal idle]\ngroup = other\n")
    path = tmp_path / "socket"
    server = serve(env={"OSTRAKA_JOURNAL_FILE": str(tmp_path / "journals"), "OSTRAKA_JOURNAL_LISTEN": f"unix:{path}"})
    client = Client(path)
    client.say(b"use work")
    client.say(b"watch work")
    first = client.say(b"put 0 0 60 1 key:a\r\nx")
    assert client.say(b"put 0 0 60 1 key:a\r\ny") == first  # merged
    assert client.say(b"reserve", 2) == "y"
    held = client.say(b"put 0 0 60 1 key:a\r\nz")
    assert held != first and client.say(b"put 0 0 60 1 key:a\r\nzz".replace(b" 1 key", b" 2 key")) == held
    before = figures(server)
    assert client.say(b"delete " + first.split()[1].encode()) == "DELETED"
    found = figures(server)
    assert found['ostraka_journal_puts_total{journal="work"}'] == 4
    assert found['ostraka_journal_held_merged_total{journal="work"}'] == 1
    assert found['ostraka_journal_wait_seconds_count{journal="work"}'] == 1
    assert found['ostraka_journal_wait_seconds_bucket{journal="work",le="+Inf"}'] == 1
    assert found['ostraka_journal_wait_seconds_count{journal="idle"}'] == 0
    assert before['ostraka_journal_run_seconds_count{journal="work"}'] == 0
    assert found['ostraka_journal_run_seconds_count{journal="work"}'] == 1
    assert 0 <= found['ostraka_journal_run_seconds_sum{journal="work"}'] < 60
    for group in ("main", "other"):
        assert found[f'ostraka_journal_bytes{{group="{group}",kind="files"}}'] > 0
        assert f'ostraka_journal_commit_seconds_count{{group="{group}"}}' in found
    assert found['ostraka_journal_bytes{group="other",kind="live"}'] == 0
    assert found['ostraka_journal_bytes{group="main",kind="live"}'] >= 3
    assert found['ostraka_journal_commit_seconds_count{group="main"}'] >= 5
    assert found['ostraka_journal_group_size_sum{group="main"}'] >= 5
    assert found['ostraka_journal_waiters{journal="work"}'] == 0
    assert "ostraka_journal_clock_steps_total" in found
