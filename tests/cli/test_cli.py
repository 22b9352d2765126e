"""The program as a person or a script uses it: settings, commands beside a running server, backup and restore."""
import json
import os
import signal
import socket
import stat
import subprocess

import pytest

from conftest import BIN, clean_environment, ostraka


# --- settings ---------------------------------------------------------------------------------------------------------


def test_later_sources_win_file_then_environment_then_flags(tmp_path):
    file = tmp_path / "site.conf"
    file.write_text("# a comment\nidle_seconds = 11\nrequest_seconds = 12\nstop_seconds = 3\n")
    done = ostraka("config", "--json", "--config", str(file), "--request-seconds", "14",
                   env={"OSTRAKA_REQUEST_SECONDS": "13", "OSTRAKA_STOP_SECONDS": "4"})
    settings = json.loads(done.stdout)
    assert (settings["idle_seconds"], settings["stop_seconds"], settings["request_seconds"]) == ("11", "4", "14")


@pytest.mark.parametrize("words, says", [
    (["config", "--idle-seconds", "soon"], "idle_seconds"),
    (["config", "--idle-seconds", "0"], "idle_seconds"),
    (["config", "--idle-seconds"], "needs a value"),
    (["config", "--cache-bytes", "9"], "cache_bytes"),
    (["config", "--unheard-of", "1"], "--unheard-of; `ostraka config --help` lists them"),
    (["frobnicate"], "there is no command"),
    (["backup"], "usage: ostraka backup DIR"),
    (["backup", "a", "b"], "usage: ostraka backup DIR"),
    (["maintenance", "on", "--message"], "needs a value"),
    ([], "ostraka help"),
])
def test_bad_words_are_usage_errors_with_one_sentence(words, says):
    done = ostraka(*words)
    assert done.returncode == 2 and done.stdout == ""
    assert says in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize("text, says", [
    ("idle_seconds = 5\nidle_secnds = 5\n", "idle_seconds"),
    ("idle_seconds = 5\nidle_seconds = 6\n", "idle_seconds"),
    ("idle_seconds five\n", "1"),
    ("listen = \x00\n", "listen"),
    ("listen = " + "x" * 5000 + "\n", "1"),
])
def test_a_bad_file_is_refused_with_the_line(tmp_path, text, says):
    file = tmp_path / "site.conf"
    file.write_bytes(text.encode())
    done = ostraka("config", "--config", str(file))
    assert done.returncode == 2 and says in done.stderr and str(file) in done.stderr


def test_an_unknown_environment_variable_is_refused():
    done = ostraka("config", env={"OSTRAKA_LISTN": "127.0.0.1:1"})
    assert done.returncode == 2 and "OSTRAKA_LISTN" in done.stderr.upper()


PROXY = ("--public-url", "https://vote.example.org")


def test_a_proxy_that_is_not_named_is_warned_of(serve):
    assert "# Warning: public_url" in ostraka("config", *PROXY).stdout
    for settings in ((), ("--public-url", "http://localhost:8080"), (*PROXY, "--trusted-proxies", "127.0.0.1"),
                     (*PROXY, "--listen", "0.0.0.0:8080")):
        assert "Warning" not in ostraka("config", *settings).stdout, settings
    server = serve("--public-url", "http://vote.example.org")
    lines = [json.loads(line) for line in server.log().splitlines()]
    (warning,) = [line for line in lines if line["event"] == "settings"]
    assert warning["field"] == "trusted_proxies" and warning["level"] == "warning"


def test_https_on_loopback_without_a_named_proxy_does_not_start(tmp_path):
    """Everybody would come from loopback, which no limit by address counts."""
    data = tmp_path / "data"
    done = ostraka("serve", "--empty", "--data", str(data), "--listen", "127.0.0.1:0", *PROXY)
    assert done.returncode == 1 and done.stderr.count("public_url") == 1 and "trusted_proxies" in done.stderr
    assert not data.exists()


def test_a_missing_file_is_refused(tmp_path):
    done = ostraka("config", "--config", str(tmp_path / "none"))
    assert done.returncode == 2 and "none" in done.stderr


def test_help_names_every_command_and_setting():
    commands = ostraka("help").stdout
    for name in ("serve", "backup", "restore", "maintenance on", "config"):
        assert name in commands
    assert ostraka("--help").stdout == commands
    assert "idle_seconds" in ostraka("config", "--help").stdout
    assert "--message TEXT" in ostraka("maintenance", "on", "--help").stdout


# --- the data directory -----------------------------------------------------------------------------------------------


def test_a_new_directory_is_private_and_has_one_owner(serve, tmp_path):
    server = serve()
    assert stat.S_IMODE(os.stat(server.data).st_mode) == 0o700
    assert stat.S_IMODE(os.stat(f"{server.data}/control.sock").st_mode) == 0o600
    second = ostraka("serve", "--data", server.data, "--listen", "127.0.0.1:0")
    assert second.returncode == 1 and str(server.process.pid) in second.stderr and "in use" in second.stderr


def test_a_foreign_directory_is_refused_and_left_alone(tmp_path):
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters/dear.txt").write_text("Dear")
    done = ostraka("serve", "--data", str(tmp_path / "letters"), "--listen", "127.0.0.1:0")
    assert done.returncode == 1 and "not a data directory" in done.stderr
    assert os.listdir(tmp_path / "letters") == ["dear.txt"]


def test_commands_without_data_say_so(tmp_path):
    done = ostraka("health", "--data", str(tmp_path / "none"))
    assert done.returncode == 1 and "none" in done.stderr and not (tmp_path / "none").exists()


def test_an_address_in_use_is_a_plain_sentence(serve, tmp_path):
    server = serve()
    done = ostraka("serve", "--data", str(tmp_path / "other"), "--listen", f"127.0.0.1:{server.port}")
    assert done.returncode == 1 and str(server.port) in done.stderr


# --- beside a running server, and without one -------------------------------------------------------------------------


def test_health_works_beside_a_server_and_alone(serve):
    server = serve()
    assert json.loads(ostraka("health", "--json", "--data", server.data).stdout)["writable"] is True
    assert server.stop() == 0
    assert not os.path.exists(f"{server.data}/control.sock")
    alone = ostraka("health", "--data", server.data)
    assert alone.returncode == 0 and alone.stdout.startswith("ok")


def test_a_socket_left_by_a_killed_server_does_not_confuse(serve):
    server = serve()
    server.stop(signal.SIGKILL)
    assert os.path.exists(f"{server.data}/control.sock")
    assert ostraka("health", "--data", server.data).returncode == 0
    again = serve()
    assert again.health()[0] == 200


def test_maintenance_is_shown_at_once_and_survives_a_restart(serve):
    server = serve()
    done = ostraka("maintenance", "on", "--message", "Back at noon <b>", "--data", server.data)
    assert done.returncode == 0, done.stderr
    status, headers, body = server.get("/")
    assert status == 503 and "Back at noon &lt;b&gt;" in body and headers["Retry-After"]
    assert server.health() == (200, {**server.health()[1], "status": "maintenance"})
    server.stop()
    assert "Back at noon" in ostraka("maintenance", "--data", server.data).stdout
    again = serve()
    assert again.get("/")[0] == 503
    assert ostraka("maintenance", "off", "--data", server.data).returncode == 0
    assert again.get("/")[0] == 200
    assert "off" in ostraka("maintenance", "--data", server.data).stdout


def test_a_message_has_a_bound(serve):
    server = serve()
    done = ostraka("maintenance", "on", "--message", "x" * 301, "--data", server.data)
    assert done.returncode == 1 and "300" in done.stderr
    assert server.get("/")[0] == 200


def test_backup_while_serving_restores_into_a_new_directory(serve, tmp_path):
    server = serve()
    assert ostraka("maintenance", "on", "--message", "kept in the backup", "--data", server.data).returncode == 0
    done = ostraka("backup", "copy", "--data", server.data, cwd=tmp_path)
    assert done.returncode == 0 and (tmp_path / "copy/BACKUP").exists(), done.stderr
    again = ostraka("backup", "copy", "--data", server.data, cwd=tmp_path)
    assert again.returncode == 1 and "not empty" in again.stderr
    restored = ostraka("restore", "copy", "--data", str(tmp_path / "new"), cwd=tmp_path)
    assert restored.returncode == 0, restored.stderr
    assert "kept in the backup" in ostraka("maintenance", "--data", str(tmp_path / "new")).stdout
    over = ostraka("restore", "copy", "--data", server.data, cwd=tmp_path)
    assert over.returncode == 1 and "not empty" in over.stderr


def test_a_damaged_backup_is_refused_by_name(serve, tmp_path):
    server = serve()
    assert ostraka("backup", str(tmp_path / "copy"), "--data", server.data).returncode == 0
    victim = next(path for path in (tmp_path / "copy/db").iterdir() if path.name.startswith("MANIFEST"))
    victim.write_bytes(victim.read_bytes()[:-1])
    done = ostraka("restore", str(tmp_path / "copy"), "--data", str(tmp_path / "new"))
    assert done.returncode == 1 and victim.name in done.stderr
    assert not (tmp_path / "new").exists()


def test_a_long_path_still_has_a_socket(serve, tmp_path):
    deep = tmp_path / ("d" * 120) / "data"
    deep.parent.mkdir()
    server = serve(data=deep)
    assert ostraka("health", "--data", str(deep)).stdout.startswith("ok")
    assert server.stop() == 0


def test_ctrl_c_and_sigterm_end_with_code_0(serve):
    for number in (signal.SIGINT, signal.SIGTERM):
        server = serve()
        assert server.stop(number) == 0
        assert '"stopping"' in server.log()


def test_the_socket_takes_no_garbage(serve):
    server = serve()
    for garbage in (b"", b"\xff\xff\xff\xff", b"\0\0\0\2\xff\xff", b"\0\0\0\3\0\1\0", os.urandom(100)):
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(f"{server.data}/control.sock")
            client.sendall(garbage)
            client.shutdown(socket.SHUT_WR)
            client.settimeout(15)
            try:
                while client.recv(4096):
                    pass
            except ConnectionResetError:
                pass  # closed with our bytes unread: as good an answer
    assert ostraka("health", "--data", server.data).returncode == 0


def test_output_to_a_closed_pipe_is_no_crash(serve):
    process = subprocess.Popen(f"'{BIN}' config | true", shell=True, env=clean_environment(), stderr=subprocess.PIPE)
    assert process.wait(20) == 0 and process.stderr.read() == b""
