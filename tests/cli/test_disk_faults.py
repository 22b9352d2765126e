"""A running site whose disk is full, or whose syncs fail: it says so, goes on reading, and writes again when the disk does."""
import os
import pathlib
import time

import pytest

import conftest
from conftest import ROOT, Serve, ostraka

PLAIN = pathlib.Path(os.environ.get("OSTRAKA_PLAIN", ROOT / "build/plain")).resolve()


@pytest.fixture
def sick_disk(tmp_path, monkeypatch):
    """A server on a disk that obeys `tell`; the library is preloaded, so the program is one without sanitizers."""
    monkeypatch.setattr(conftest, "BIN", str(PLAIN / "src/cli/ostraka"))
    control = tmp_path.resolve() / "control"
    data = tmp_path.resolve() / "data"

    def tell(line):
        new = control.with_suffix(".new")
        new.write_text(line + "\n")
        new.rename(control)

    server = Serve(data, "--reopen-seconds", "1", "--write-buffer-bytes", "1M",
                   preload=str(PLAIN / "tests/fault/libfault.so"),
                   env={"FAULT_ROOT": str(data), "FAULT_CONTROL": str(control)})
    yield server, tell
    server.stop()


def wait_for(check, seconds=20):
    end = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < end, "did not happen in time"
        time.sleep(0.05)


@pytest.mark.parametrize("fault", ["fail full ENOSPC", "fail sync EIO", "fail write EIO"])
def test_read_only_with_a_reason_then_writing_again_without_a_restart(sick_disk, fault):
    server, tell = sick_disk
    assert ostraka("maintenance", "on", "--message", "before", "--data", server.data).returncode == 0
    tell(fault)
    done = ostraka("maintenance", "on", "--message", "during", "--data", server.data)
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    status, health = server.health()
    assert status == 503 and health["status"] == "read_only"
    assert "(path)" in health["store"]["reason"] and str(server.data) not in health["store"]["reason"]
    unhealthy = ostraka("health", "--data", server.data)
    assert unhealthy.returncode == 1 and "read-only" in unhealthy.stderr
    assert "maintenance is on" in ostraka("maintenance", "--data", server.data).stdout
    time.sleep(2.5)  # several tries to open again, none of which may make it worse
    assert server.health()[0] == 503
    assert "maintenance is on" in ostraka("maintenance", "--data", server.data).stdout

    tell("clear")
    wait_for(lambda: server.health()[0] == 200)
    done = ostraka("maintenance", "on", "--message", "after", "--data", server.data)
    assert done.returncode == 0, done.stderr
    assert "after" in ostraka("maintenance", "--data", server.data).stdout
    server.stop()
    assert "after" in ostraka("maintenance", "--data", server.data).stdout


def test_what_is_not_settled_is_not_told_as_settled(sick_disk):
    """A failed sync, and then opening again fails as well: the files are opened for reading, and the log is read, also what
    no sync ever saved. A power cut may still take that away, so nobody may conclude from it that it was done."""
    server, tell = sick_disk
    assert ostraka("maintenance", "on", "--message", "before", "--data", server.data).returncode == 0
    tell("fail sync EIO")
    assert ostraka("maintenance", "on", "--message", "during", "--data", server.data).returncode == 1
    tell("fail mkdir EIO")  # what opening does, and looking whether the disk is well does not
    wait_for(lambda: "mkdir" in server.health()[1]["store"]["reason"])
    said = ostraka("maintenance", "--data", server.data)
    assert said.returncode == 1 and "during" not in said.stdout
    tell("clear")
    wait_for(lambda: server.health()[0] == 200)
    assert ostraka("maintenance", "--data", server.data).returncode == 0


def test_reopen_by_hand_says_what_is_still_wrong(sick_disk):
    server, tell = sick_disk
    tell("fail full ENOSPC")
    assert ostraka("maintenance", "on", "--data", server.data).returncode == 1
    still = ostraka("reopen", "--data", server.data)
    assert still.returncode == 1 and "No space left" in still.stderr
    tell("clear")
    assert ostraka("reopen", "--data", server.data).returncode == 0
    assert server.health()[0] == 200
