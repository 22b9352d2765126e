"""What `./dev test` adds up: every way in which a test program can go wrong counts, and nothing is lost."""
import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys
import time

import pytest

RUNNER = pathlib.Path(__file__).resolve().parents[2] / "tools/run_tests.py"

# name -> (meson's arguments, the program)
PROGRAMS = {
    "good": ("protocol: 'tap'", "echo 'ok 1 - first'; echo 'ok 2 - second'; echo 1..2"),
    "bad": ("protocol: 'tap'", "echo 'ok 1 - fine'; echo '# why'; echo 'not ok 2 - broken'; echo 1..2; exit 1"),
    "crash": ("protocol: 'tap'", "echo 'ok 1 - before'; kill -SEGV $$"),
    "silent_exit": ("protocol: 'tap'", "echo 'ok 1 - fine'; echo 1..1; exit 66"),
    "short_plan": ("protocol: 'tap'", "echo 'ok 1 - fine'; echo 1..3"),
    "skip_one": ("protocol: 'tap'", "echo 'ok 1 - here # SKIP no disk'; echo 'ok 2 - there'; echo 1..2"),
    "hangs": ("protocol: 'tap', timeout: 1", "echo 'ok 1 - first'; sleep 600 & echo $! > child; wait"),
    "plain_one": ("protocol: 'tap', suite: 'plain'", "echo \"ok 1 - in $OSTRAKA_BUILD\"; echo 1..1"),
    "threads_one": ("protocol: 'tap', suite: 'threads'", "echo \"ok 1 - in $OSTRAKA_BUILD\"; echo 1..1"),
    "contract-one": ("protocol: 'tap'", "echo \"ok 1 - on $OSTRAKA_TEST_STORE\"; echo 1..1"),
    "none": ("protocol: 'tap'", "echo 1..0"),
    "status_only": ("", "exit 3"),
    "contract-one": ("protocol: 'tap'", "echo \"ok 1 - on $OSTRAKA_TEST_STORE\"; echo 1..1"),
    "store": ("protocol: 'tap'", "echo \"ok 1 - on $OSTRAKA_TEST_STORE\"; echo 1..1"),
}


def write_script(directory, name):
    script = directory / f"{name}.sh"
    script.write_text(f"#!/bin/sh\ncd '{directory}'\n{PROGRAMS[name][1]}\n")
    script.chmod(0o755)


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A tree with all the programs that Meson has set up, once: it takes longer than all the rest."""
    directory = tmp_path_factory.mktemp("project")
    lines = ["project('small')"]
    for name, (options, _) in PROGRAMS.items():
        write_script(directory, name)
        lines.append(f"test('{name}', find_program('{name}.sh'){', ' + options if options else ''})")
    (directory / "meson.build").write_text("\n".join(lines) + "\n")
    subprocess.run(["meson", "setup", str(directory / "build"), str(directory)], check=True, capture_output=True)
    return directory


def copy_build(project, directory, build, names):
    """As if Meson had set it up there, with these programs alone."""
    shutil.copytree(project / "build", directory / "build" / build, dirs_exist_ok=True)
    known = directory / "build" / build / "meson-info/intro-tests.json"
    tests = json.loads(known.read_text().replace(str(project), str(directory)))
    chosen = [test for test in tests if test["name"] in names]
    assert len(chosen) == len(names)
    known.write_text(json.dumps(chosen))


@pytest.fixture
def run(tmp_path, project):
    """Makes a tree with some of the programs and runs the runner on it."""

    def go(*names, builds=("test",), arguments=()):
        for name in names:
            write_script(tmp_path, name)
        (tmp_path / "tests").mkdir(exist_ok=True)
        for engine in ("rocksdb", "cassandra"):
            (tmp_path / "src/store" / engine).mkdir(parents=True, exist_ok=True)
            (tmp_path / "src/store" / engine / f"{engine}.h").touch()
        (tmp_path / "src/store/cql").mkdir(exist_ok=True)
        for build in builds:
            copy_build(project, tmp_path, build, names)
        return subprocess.run([sys.executable, str(RUNNER), "--root", str(tmp_path), *arguments],
                              capture_output=True, text=True, timeout=60)

    return go


def last_line(result):
    return result.stdout.splitlines()[-1]


def is_alive(pid):
    """Neither gone nor only waiting to be collected."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_until_gone(pid):
    deadline = time.monotonic() + 60
    while is_alive(pid):
        assert time.monotonic() < deadline, "the program outlived the runner"
        time.sleep(0.05)


def test_passes_are_added_up(run):
    result = run("good", "skip_one")
    assert last_line(result) == "3 passed, 0 failed, 1 skipped"
    assert result.returncode == 0


@pytest.mark.parametrize("name, line, said", [
    ("bad", "1 passed, 1 failed", "# why"),
    ("crash", "1 passed, 1 failed", "SIGSEGV"),
    ("silent_exit", "1 passed, 1 failed", "status 66"),
    ("short_plan", "1 passed, 1 failed", "planned 3 tests and ran 1"),
    ("status_only", "0 passed, 1 failed", "status 3"),
])
def test_what_goes_wrong_counts_and_is_said(run, name, line, said):
    result = run(name)
    assert last_line(result) == line
    assert said in result.stdout
    assert result.returncode == 1


def test_a_hanging_program_fails_and_takes_its_children_along(run, tmp_path):
    result = run("hangs", arguments=["--timeout", "3"])
    assert last_line(result) == "0 passed, 1 failed"
    assert "did not end within 3 s" in result.stdout
    wait_until_gone(int((tmp_path / "child").read_text()))


def test_nothing_run_is_a_failure(run):
    result = run("none", arguments=["no_such_name"])
    assert "none has no_such_name in its name" in result.stdout
    assert last_line(result) == "0 passed, 0 failed"
    assert result.returncode == 1


def test_a_suite_says_where_a_test_runs(run, tmp_path):
    result = run("good", "plain_one", "threads_one", builds=("test", "plain", "tsan"))
    assert last_line(result) == "5 passed, 0 failed"
    logs = tmp_path / "build/test-logs"
    assert "/build/plain" in (logs / "plain_one-plain-").read_text()
    assert not (logs / "plain_one").exists()
    assert "/build/test" in (logs / "threads_one").read_text()
    assert "/build/tsan" in (logs / "threads_one-tsan-").read_text()
    assert not (logs / "good-plain-").exists()


def test_pytest_files_count_test_by_test(run, tmp_path):
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_some.py").write_text(
        "import os, pytest\n"
        "def test_right(): assert os.environ['OSTRAKA_BIN'].endswith('/build/test/src/cli/ostraka')\n"
        "def test_wrong(): assert False, 'so wrong'\n"
        "def test_later(): pytest.skip('no time')\n"
        "@pytest.fixture\ndef broken(): raise OSError\n"
        "def test_set_up(broken): pass\n")
    result = run("good")
    assert last_line(result) == "3 passed, 2 failed, 1 skipped"
    assert "so wrong" in result.stdout
    assert last_line(run("good", arguments=["test_right", "good"])) == "3 passed, 0 failed"


def test_a_pytest_file_that_does_not_load_fails(run, tmp_path):
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_some.py").write_text("import no_such_module\n")
    assert last_line(run("good")) == "2 passed, 1 failed"


def test_an_engine_that_does_not_exist_is_refused_in_a_sentence(run):
    result = run("store", arguments=["--store", "sim"])
    assert result.returncode == 1
    assert result.stderr == "dev: there is no engine sim; there are: cassandra, rocksdb\n"


def test_the_engine_reaches_the_programs(run, tmp_path):
    assert run("store", arguments=["--store", "rocksdb"]).returncode == 0
    assert "on rocksdb" in (tmp_path / "build/test-logs/store").read_text()


def test_an_interrupted_run_leaves_no_program_behind(run, tmp_path):
    run("good")
    script = tmp_path / "good.sh"
    script.write_text(f"#!/bin/sh\necho $$ > '{tmp_path}/child'\nexec sleep 600\n")
    runner = subprocess.Popen([sys.executable, str(RUNNER), "--root", str(tmp_path)], stdout=subprocess.PIPE)
    try:
        while not (tmp_path / "child").exists() or not (tmp_path / "child").read_text():
            assert runner.poll() is None
            time.sleep(0.001)
        runner.terminate()
        assert runner.wait(60) == 130
    finally:
        runner.kill()
        runner.wait()
    wait_until_gone(int((tmp_path / "child").read_text()))


def test_on_a_cluster_only_what_is_about_the_store_runs_and_the_suites_for_it(run, tmp_path):
    for name in ("cluster/nodes_suite.py", "cluster/test_other.py", "test_small.py"):
        (tmp_path / "tests/cluster").mkdir(parents=True, exist_ok=True)
        (tmp_path / "tests" / name).write_text("def test_one():\n    pass\n")
    result = run("good", "contract-one", arguments=["--store", "cassandra"])
    assert [line.split()[1] for line in result.stdout.splitlines()[:-1]] == ["cluster/nodes_suite.py:", "contract-one:"]
    assert last_line(result) == "2 passed, 0 failed"
    assert "on cassandra" in (tmp_path / "build/test-logs/contract-one").read_text()
    result = run("good", "contract-one")
    assert last_line(result) == "5 passed, 0 failed"


@pytest.fixture
def runner():
    """The runner as a module."""
    spec = importlib.util.spec_from_file_location("run_tests", RUNNER)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_what_waits_runs_beside_what_computes(runner):
    runner.LONG = {"waits": (9, 0.1), "half": (9, 0.5), "computes": (9, 1.0)}

    def program(label, alone=False):
        return runner.Program(label, "tap", [], {}, 1, RUNNER.parent, alone)

    waits, half, computes, alone = program("waits"), program("half"), program("computes"), program("waits", alone=True)
    assert runner.fits(computes, []) and runner.fits(computes, [computes]) and not runner.fits(computes, [computes] * 2)
    assert runner.fits(waits, [computes] * 2) and not runner.fits(waits, [computes, computes, waits, waits])
    assert runner.fits(half, [computes, waits]) and not runner.fits(half, [computes] * 2)
    assert not runner.fits(waits, [waits] * runner.PARALLEL)
    assert runner.fits(alone, []) and not runner.fits(alone, [waits]) and not runner.fits(waits, [alone])


def test_the_files_that_are_said_to_take_long_are_there(runner):
    for label in runner.LONG:
        assert "/" not in label or (RUNNER.parents[1] / "tests" / label).exists(), label
