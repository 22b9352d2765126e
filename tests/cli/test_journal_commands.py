"""The commands of journals beside a running server, `journal run` with real commands, and `journal serve` with every flag of beanstalkd."""
import base64
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time

import pytest

from conftest import BIN, CLIENT, Serve, clean_environment

DECLARED = "".join(f"[journal {name}]\n{rules}" for name, rules in (
    ("work", ""), ("large", "max_data = 4M\n"), ("given", "timeouts = 0\n"), ("moved", ""), ("pauses", ""), ("short", "lease_s = 1\ntimeouts = 0\n"),
    *((f"run{number}", "timeouts = 0\n" + "lease_s = 6\n" * (number == 8)) for number in range(12)), ("quick", "lease_s = 1\ntimeouts = 5\n")))
NO_TOKEN = "0" * 32


def wait_for(check, seconds=30, what="it"):
    until = time.monotonic() + seconds
    while not (found := check()):
        assert time.monotonic() < until, f"{what} did not come"
        time.sleep(0.02)
    return found


class Site:
    def __init__(self, directory):
        (directory / "journals").write_text(DECLARED)
        self.directory = directory
        self.server = Serve(directory / "data", "--empty", "--journal-file", str(directory / "journals"))

    def command(self, *words, input=None):
        return subprocess.run([CLIENT, "journal", *map(str, words), "--data", self.server.data], env=clean_environment(), capture_output=True, input=input, timeout=60)

    def tell(self, *words, input=None):
        done = self.command(*words, "--json", input=input)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def refused(self, *words, input=None):
        done = self.command(*words, input=input)
        assert done.returncode != 0, done.stdout
        return done.stderr.decode()

    def claim(self, name, *words):
        return self.tell("claim", name, *words)["entries"]

    def state(self, entry):
        done = self.command("show", entry, "--json")
        return json.loads(done.stdout) if done.returncode == 0 else None

    def run(self, name, *words, flags=()):
        return Run(self, name, words, flags)


class Run:
    """`journal run`, by a shell's words."""

    def __init__(self, site, name, words, flags):
        self.process = subprocess.Popen([BIN, "journal", "run", name, *flags, "--data", site.server.data, "--", *words], env=clean_environment(OTHER="kept"),
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return self.end()

    def end(self):
        out, err = self.process.communicate(timeout=60)
        self.code, self.out, self.err = self.process.returncode, out, err.decode(errors="replace")
        return self


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    site = Site(tmp_path_factory.mktemp("commands"))
    yield site
    assert site.server.stop() == 0, site.server.log()


# ---- Commands ------------------------------------------------------------------------------------------------------------


def test_put_takes_words_or_what_comes_on_stdin(site):
    first = site.tell("put", "work", "one", "--key", "k", "--priority", "SLOW")
    assert first["outcome"] == "created" and site.tell("put", "work", "two", "--key", "k", "--priority", "NOW")["outcome"] == "merged"
    assert site.command("put", "work", "three", "--key", "k").stdout.decode() == f"merged {first['id']}\n"
    data = bytes(range(256)) * 8
    entry = site.tell("put", "work", "-", "--delay", "1000", "--expire", "2000", input=data)["id"]
    shown = site.state(entry)
    assert base64.b64decode(shown["data64"]) == data and shown["expires_at"] and shown["state"] == "W"
    assert "at most 65536 bytes" in site.refused("put", "work", "-", input=b"x" * 65537)
    assert "there is no such journal" in site.refused("put", "nowhere", "x") and "priority" in site.refused("put", "work", "x", "--priority", "URGENT")


def test_put_takes_as_much_as_the_journal_allows(site):
    data = b"x" * (4 << 20)
    assert site.tell("put", "large", "-", input=data)["outcome"] == "created"
    assert "at most 4194304 bytes" in site.refused("put", "large", "-", input=data + b"x")


def test_claim_and_every_end_by_its_token(site):
    for what, words, state in (("extend", ["--lease-ms", "5000"], "P"), ("release", ["--delay", "1000", "--priority", "9"], "W"), ("fail", ["--error", "no paper"], "F"),
                               ("bury", [], "F"), ("done", [], None)):
        site.tell("put", "given", "x", "--priority", "NOW")
        run = site.claim("given")[0]
        assert site.tell(what, run["token"], *words) == {"outcomes": [{"token": run["token"], "outcome": "ok"}]}
        assert (site.state(run["id"]) or {"state": None})["state"] == state
        lost = site.command(what, NO_TOKEN, "--json")
        assert lost.returncode == 1 and json.loads(lost.stdout)["outcomes"][0]["outcome"] == "lost"
        assert "lost" in site.refused(what, NO_TOKEN) and "hexadecimal" in site.refused(what, "x" * 32)
        assert site.refused(what)
    assert [one["outcome"] for one in site.tell("done", NO_TOKEN, "1" * 32)["outcomes"]] == ["lost", "lost"]


def test_claim_waits_for_the_first_and_says_what_is_next(site):
    site.tell("put", "run10", "x", "--delay", "1")
    assert site.tell("claim", "run10")["next_at"]
    begun = time.monotonic()
    run = site.tell("claim", "run10", "run11", "--wait", "20", "--max-priority", "199")["entries"][0]
    assert time.monotonic() - begun < 15 and site.tell("done", run["token"])


def test_lists_show_what_is_there(site):
    entry = site.tell("put", "moved", "x", "--delay", "1000")["id"]
    assert {one["name"] for one in site.tell("list")["journals"]} >= {"work", "moved", "site.tasks"}
    assert site.tell("stats", "moved")["waiting"] == 1 and b"waiting" in site.command("stats", "moved").stdout
    assert [one["id"] for one in site.tell("entries", "moved", "--state", "W")["entries"]] == [entry]
    assert site.tell("entries", "moved", "--after", entry)["entries"] == []
    assert "there is no such" in site.refused("show", 999999) and site.refused("stats", "nowhere")


def test_the_dead_are_listed_requeued_kicked_and_removed(site):
    tokens = []
    for _ in range(4):
        site.tell("put", "given", "x", "--priority", "NOW")
        tokens.append(site.claim("given")[0]["token"])
    site.tell("bury", *tokens)
    dead = [one["id"] for one in site.tell("dead", "given")["entries"]]
    assert len(dead) >= 4
    assert site.tell("requeue", dead[0], dead[1]) == {"moved": 2, "missing": 0}
    assert site.tell("kick", dead[2])["moved"] == 1 and site.tell("remove", dead[3], 999999) == {"moved": 1, "missing": 1}
    assert site.tell("requeue", "--all", "given")["moved"] == len(dead) - 4 and site.tell("dead", "given")["entries"] == []
    assert site.refused("requeue") and site.refused("requeue", dead[0]) and site.refused("requeue", dead[0], "--all", "given")


def test_pause_resume_and_reload(site):
    assert site.tell("pause", "pauses", "60")["paused_s"] == 60
    site.tell("put", "pauses", "x")
    assert site.claim("pauses") == [] and site.tell("resume", "pauses")["paused_s"] == 0 and len(site.claim("pauses")) == 1
    (site.directory / "journals").write_text(DECLARED + "[journal later]\n")
    assert "later" in {one["name"] for one in site.tell("reload")["journals"]}
    (site.directory / "journals").write_text(DECLARED + "[journal later]\nwrong = 1\n")
    assert "line" in site.refused("reload") and "later" in {one["name"] for one in site.tell("list")["journals"]}


# ---- journal run ---------------------------------------------------------------------------------------------------------


def test_a_command_gets_the_data_and_what_the_entry_is(site):
    file = site.directory / "seen"
    entry = site.tell("put", "run0", "-", "--key", "a key", "--priority", "7", input=b"line one\n\0two")["id"]
    run = site.run("run0", "sh", "-c", f'(cat; echo; echo "$OSTRAKA_JOURNAL $OSTRAKA_KEY $OSTRAKA_ID $OSTRAKA_PRIORITY $OTHER") > {file}.new; mv {file}.new {file}')
    wait_for(file.exists)
    wait_for(lambda: site.state(entry) is None, what="done")
    assert run.stop().code == 0, run.err
    assert file.read_bytes() == f"line one\n\0two\nrun0 a key {entry} 7 kept\n".encode()


def test_exit_75_gives_back_with_a_growing_pause_and_anything_else_fails_with_what_was_said(site):
    entry = site.tell("put", "run1", "x")["id"]
    run = site.run("run1", "sh", "-c", "exit 75", flags=["--backoff", "3"])
    shown = wait_for(lambda: (one := site.state(entry)) and one["state"] == "W" and one["started_at"] and one)
    assert run.stop().code == 0 and shown["timeouts"] == 0 and shown["process_at"] > shown["started_at"]
    for number, (words, says) in enumerate((("exit 3", "exit code 3"), ("echo first >&2; head -c 5000 /dev/zero | tr '\\0' y >&2; printf '\\377 last' >&2; exit 1", "? last"),
                                            ("kill -9 $$", "ended by signal 9"))):
        name = f"run{2 + number}"
        entry = site.tell("put", name, "x")["id"]
        run = site.run(name, "sh", "-c", words)
        shown = wait_for(lambda: (one := site.state(entry)) and one["state"] == "F" and one)
        assert run.stop().code == 0
        assert shown["error"].endswith(says) and "first" not in shown["error"] and len(shown["error"]) <= 1024


def test_a_long_command_keeps_its_lease_by_heartbeats(site):
    entry = site.tell("put", "short", "x")["id"]
    run = site.run("short", "sleep", "4")
    wait_for(lambda: (one := site.state(entry)) is None or one["state"] == "F", what="its end")
    assert site.state(entry) is None, "it lapsed, with a lease of one second"
    assert run.stop().code == 0


def test_several_run_at_once_and_no_more(site):
    for _ in range(6):
        site.tell("put", "run5", "x")
    log = site.directory / "at-once"
    run = site.run("run5", "sh", "-c", f"echo b >> {log}; sleep 1; echo e >> {log}", flags=["-j", "3"])
    wait_for(lambda: site.tell("stats", "run5")["total_done"] == 6, what="all six")
    assert run.stop().code == 0
    running, most = 0, 0
    for letter in log.read_text().split():
        running += 1 if letter == "b" else -1
        most = max(most, running)
    assert most == 3


def test_a_stop_lets_the_running_finish_and_gives_back_what_was_not_begun(site):
    file = site.directory / "begun"
    first, second = (site.tell("put", "run6", "x")["id"] for _ in range(2))
    run = site.run("run6", "sh", "-c", f"touch {file}; sleep 2")
    wait_for(file.exists)
    assert run.stop().code == 0 and site.state(first) is None
    assert (site.state(second)["state"], site.state(second)["timeouts"]) == ("W", 0)


def test_a_second_stop_ends_the_running_and_gives_them_back(site):
    file = site.directory / "begun-again"
    entry = site.tell("put", "run7", "x")["id"]
    run = site.run("run7", "sh", "-c", f"touch {file}; exec sleep 60")
    wait_for(file.exists)
    run.process.send_signal(signal.SIGTERM)
    time.sleep(0.3)
    assert run.stop().code == 0 and (site.state(entry)["state"], site.state(entry)["timeouts"]) == ("W", 0)


def test_a_lease_that_is_lost_ends_the_command_and_says_so(site):
    file = site.directory / "loses"
    entry = site.tell("put", "quick", "x")["id"]
    run = site.run("quick", "sh", "-c", f"echo $$ >> {file}; exec sleep 60")
    wait_for(file.exists)
    os.kill(run.process.pid, signal.SIGSTOP)  # no heartbeats: the lease of a second is over
    wait_for(lambda: site.state(entry)["state"] == "W", what="the lapse")
    again = site.claim("quick")[0]
    os.kill(run.process.pid, signal.SIGCONT)
    pid = int(file.read_text().split()[0])
    wait_for(lambda: not os.path.exists(f"/proc/{pid}"), what="the end of the command")
    assert site.tell("done", again["token"])["outcomes"][0]["outcome"] == "ok", "the lost run has changed nothing"
    assert "a lease was lost" in run.stop().err


class BrokenServer:
    """Stands where the server's control socket is, and answers extend twice with an error that says nothing of the lease; all else it hands on."""

    def __init__(self, site):
        self.site, self.path = site, f"{site.server.data}/control.sock"
        os.rename(self.path, self.path + ".real")
        self.extends = 0
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(self.path)
        self.socket.listen(50)
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                client, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.hand_on, args=(client,), daemon=True).start()

    def hand_on(self, client):
        size = client.recv(4, socket.MSG_WAITALL)
        if len(size) < 4:
            return client.close()
        request = client.recv(int.from_bytes(size, "big"), socket.MSG_WAITALL)
        if b"extend" in request and self.extends < 2:
            self.extends += 1
            said = b"ostraka: not done: the journal is read-only\n"
            client.sendall(b"e" + len(said).to_bytes(4, "big") + said + b"x" + (1).to_bytes(4, "big") + b"\x01")
        else:
            with socket.socket(socket.AF_UNIX) as real:
                real.connect(self.path + ".real")
                real.sendall(size + request)
                while data := real.recv(65536):
                    client.sendall(data)
        client.close()

    def end(self):
        self.socket.close()
        os.rename(self.path + ".real", self.path)


def test_a_heartbeat_that_fails_otherwise_is_no_lost_lease(site):
    """The journal may be read-only for a moment, or the server starting again: the command goes on."""
    entry = site.tell("put", "run8", "x")["id"]
    broken = BrokenServer(site)
    try:
        run = site.run("run8", "sleep", "9")
        wait_for(lambda: site.state(entry) is None, what="done")
        run.stop()
    finally:
        broken.end()
    assert run.code == 0 and "lost" not in run.err and broken.extends == 2
    assert run.err.count("read-only") == 1, "it is said once"


def test_run_says_what_is_wrong_with_its_words(site):
    for words in (["run", "work"], ["run", "work", "--"], ["run", "work", "-j", "0", "--", "true"], ["run", "work", "-j", "101", "--", "true"],
                  ["run", "work", "--backoff", "-1", "--", "true"]):
        done = subprocess.run([BIN, "journal", words[0], words[1], "--data", site.server.data, *words[2:]], env=clean_environment(), capture_output=True, timeout=60)
        assert done.returncode != 0 and done.stderr, words
    nowhere = Run(site, "nowhere", ["true"], []).end()
    assert nowhere.code == 1 and "no such journal" in nowhere.err
    entry = site.tell("put", "run9", "x")["id"]
    no_program = Run(site, "run9", ["/no/such/program"], []).end()
    assert no_program.code == 1 and "No such file" in no_program.err and site.state(entry)["state"] == "W"


# ---- journal serve -------------------------------------------------------------------------------------------------------


class Line:
    """A connection that asks, and reads the line that comes."""

    def __init__(self, connection):
        self.connection, self.file = connection, connection.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, *why):
        self.file.close()
        self.connection.close()

    def say(self, text):
        self.connection.sendall(text)
        return self.file.readline()


class Alone:
    """`ostraka journal serve`."""

    def __init__(self, *flags, **options):
        environment = clean_environment(**options.pop("environment", {}))
        self.process = subprocess.Popen([BIN, "journal", "serve", *flags], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
        self.line = self.process.stdout.readline()
        found = re.search(r"port (\d+)", self.line)
        self.port = int(found[1]) if found else None

    def connect(self):
        return Line(socket.create_connection(("127.0.0.1", self.port), 20))

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        out, self.err = self.process.communicate(timeout=30)
        return self.process.returncode




def test_flags_are_those_of_beanstalkd(tmp_path):
    alone = Alone("-l", "127.0.0.1", "-p0", "-b", str(tmp_path / "b"), "-z", "100", "-f", "50", "-s", "1000", "-VV", "-c", "-n")
    with alone.connect() as connection:
        assert re.fullmatch(rb"INSERTED \d+\r\n", connection.say(b"put 0 0 60 100\r\n" + b"x" * 100 + b"\r\n"))
        assert connection.say(b"put 0 0 60 101\r\n" + b"x" * 101 + b"\r\n") == b"JOB_TOO_BIG\r\n"
    assert alone.stop() == 0 and (tmp_path / "b").is_dir()
    alone = Alone("-p", "0", "-b", str(tmp_path / "b"), "-F", "-z100")
    with alone.connect() as connection:
        assert re.fullmatch(rb"RESERVED \d+ 100\r\n", connection.say(b"reserve-with-timeout 0\r\n")), "it is still there"
    assert alone.stop() == 0 and "-F" in alone.err
    path = tmp_path / "socket"
    alone = Alone("-l", f"unix:{path}", "-b", str(tmp_path / "c"))
    unix = socket.socket(socket.AF_UNIX)
    unix.connect(str(path))
    with Line(unix) as connection:
        assert connection.say(b"use a\r\n") == b"USING a\r\n"
    assert alone.stop() == 0


def test_help_version_and_wrong_flags():
    def ask(*flags):
        done = subprocess.run([BIN, "journal", "serve", *flags], env=clean_environment(), capture_output=True, text=True, timeout=30)
        return done.returncode, done.stdout + done.stderr

    code, text = ask("-h")
    assert code == 0 and all(f"-{flag}" in text for flag in "bfFlpuzvhcnsV")
    assert ask("-v")[0] == 0 and "beanstalkd 1.13" in ask("-v")[1]
    for flags in (["-x"], ["-p"], ["-z", "many"], ["-f", "-1"], ["word"], ["-u", "no-such-user"], ["-l", "no.such.host.invalid"], ["-p", "99999999"]):
        code, text = ask(*flags)
        assert code != 0 and text, flags


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
def test_it_becomes_the_user_that_u_names():
    with tempfile.TemporaryDirectory() as place:  # pytest's own are not for other users
        os.chmod(place, 0o777)
        alone = Alone("-p", "0", "-b", f"{place}/b", "-u", "nobody")
        status = pathlib.Path(f"/proc/{alone.process.pid}/status").read_text()
        assert alone.stop() == 0
        assert re.search(r"Uid:\s+65534\s+65534\s+65534", status) and os.stat(f"{place}/b").st_uid == 65534


def test_usr1_drains_puts_and_nothing_else(tmp_path):
    alone = Alone("-p", "0", "-b", str(tmp_path / "b"))
    with alone.connect() as connection:
        assert re.fullmatch(rb"INSERTED \d+\r\n", connection.say(b"put 0 0 60 1\r\nx\r\n"))
        alone.process.send_signal(signal.SIGUSR1)
        wait_for(lambda: connection.say(b"put 0 0 60 1\r\nx\r\n") == b"DRAINING\r\n")
        assert connection.say(b"reserve-with-timeout 0\r\n").startswith(b"RESERVED ") and connection.file.readline()
        assert connection.say(b"delete 1\r\n") in (b"DELETED\r\n", b"NOT_FOUND\r\n")
    assert alone.stop() == 0


def test_it_takes_the_sockets_that_listen_already(tmp_path):
    """As a manager of services hands them over: from descriptor 3 on, for the process that LISTEN_PID names."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(5)
        port = listening.getsockname()[1]
        words = ["bash", "-c", f'exec 3<&{listening.fileno()}; LISTEN_FDS=1 LISTEN_PID=$$ exec "$@"', "sh", BIN, "journal", "serve", "-b", str(tmp_path / "b")]
        process = subprocess.Popen(words, env=clean_environment(), pass_fds=[listening.fileno()], stdout=subprocess.PIPE, text=True)
        try:
            assert "the sockets given" in process.stdout.readline()
            with Line(socket.create_connection(("127.0.0.1", port), 20)) as connection:
                assert connection.say(b"use a\r\n") == b"USING a\r\n"
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(30) == 0
            process.stdout.close()
