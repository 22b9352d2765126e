"""Promise 1 of the disk in base/world.h, on a disk that fails or loses power at each of its calls in turn (tests/fault)."""
import os
import pathlib
import subprocess

import pytest

PLAIN = pathlib.Path(os.environ.get("OSTRAKA_PLAIN", pathlib.Path(__file__).parents[2] / "build" / "plain")).resolve()
PROBE = PLAIN / "tests" / "base" / "disk_probe"
LIBRARY = PLAIN / "tests" / "fault" / "libfault.so"
CUT = 137
CALLS_MAX = 200

# What is there after so many steps of disk_probe.c. Removing is not promised to be durable or atomic.
STATES = [{}, {}, {"a/b/file": "old"}, {"a/b/file": "new content"}, {"a/moved": "new content"},
          {"a/moved": "new content"}]


def run(directory, **settings):
    """(exit code, the statuses it printed, the report) of a run in a new directory."""
    root = directory / "root"
    root.mkdir(parents=True)
    report = directory / "report"
    environment = {**os.environ, "LD_PRELOAD": str(LIBRARY), "FAULT_ROOT": str(root), "FAULT_REPORT": str(report),
                   **{"FAULT_" + name.upper(): str(value) for name, value in settings.items()}}
    ended = subprocess.run([PROBE, root], env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert ended.stderr == ""
    return ended.returncode, ended.stdout.split(), report.read_text() if report.exists() else ""


def content(directory):
    """The files there are, and apart from them those that a replace left behind."""
    root = directory / "root"
    files = {str(path.relative_to(root)): path.read_text() for path in root.rglob("*") if path.is_file()}
    return ({name: text for name, text in files.items() if ".new-" not in name},
            [name for name in files if ".new-" in name])


def test_without_faults_all_steps_are_done(tmp_path):
    code, statuses, report = run(tmp_path)
    assert (code, statuses) == (0, ["ok"] * 5)
    assert content(tmp_path) == (STATES[5], [])
    assert not (tmp_path / "root/a/b").exists()
    # One for each directory made, the file and its directory for each replace, both directories of the rename.
    assert int(dict(line.split(" ", 1) for line in report.splitlines())["sync"]) >= 2 + 4 + 2


@pytest.mark.parametrize("fault", ["EIO", "ENOSPC"])
def test_a_call_that_fails_is_a_status_that_tells_the_truth(tmp_path, fault):
    for call in range(1, CALLS_MAX):
        directory = tmp_path / str(call)
        code, statuses, report = run(directory, fail_at=call, errno=fault)
        if "failed " not in report:
            assert code == 0 and call > 20
            return
        done = statuses.count("ok")
        files, left_behind = content(directory)
        assert left_behind == []
        if code == 0:
            assert files == STATES[5]
        elif statuses[-1] == "unavailable":
            assert files == STATES[done], (call, statuses, report)
        else:
            assert statuses[-1] == "unknown"
            assert files == STATES[done + 1], (call, statuses, report)
    pytest.fail("the series never ends")


@pytest.mark.parametrize("keep", ["none", "random", "all"])
@pytest.mark.parametrize("names", ["strict", "undo", "keep"])
def test_a_power_cut_leaves_the_old_or_the_new_and_what_was_acknowledged(tmp_path, keep, names):
    for call in range(1, CALLS_MAX):
        directory = tmp_path / str(call)
        code, statuses, _ = run(directory, cut_at=call, keep=keep, dirs=names, seed=call)
        if code == 0:
            assert call > 20
            return
        assert code == CUT
        done = statuses.count("ok")
        assert done == len(statuses)
        files, _ = content(directory)
        assert files in (STATES[done], STATES[done + 1]), (call, statuses)
        assert done == 0 or done == 4 or (directory / "root/a/b").is_dir()
    pytest.fail("the series never ends")
