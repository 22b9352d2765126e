"""The fault library keeps the promises of fault.h: each test preloads it into an interpreter that works on plain files."""
import os
import pathlib
import re
import subprocess
import sys
import time

import pytest

HERE = pathlib.Path(__file__).resolve().parent
PLAIN = pathlib.Path(os.environ.get("OSTRAKA_PLAIN", HERE.parents[1] / "build" / "plain")).resolve()
LIBRARY = PLAIN / "tests" / "fault" / "libfault.so"
CUT, CONFUSED = 137, 70


class Disk:
    """A watched directory and the environment of the programs that work on it."""

    def __init__(self, directory):
        self.root = directory / "root"
        self.root.mkdir()
        self.report_path = directory / "report"
        self.control = directory / "control"

    def environment(self, settings):
        named = {"FAULT_" + name.upper(): str(value) for name, value in settings.items()}
        return {**os.environ, "PYTHONPATH": str(HERE), "PYTHONDONTWRITEBYTECODE": "1", "LD_PRELOAD": str(LIBRARY),
                "FAULT_ROOT": str(self.root), "FAULT_REPORT": str(self.report_path), **named}

    def start(self, script, **settings):
        return subprocess.Popen([sys.executable, "-c", "from shim_files import *\n" + script], text=True,
                                env=self.environment(settings), stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run(self, script, code=0, **settings):
        """Runs to the end, expects the exit code, returns what was printed."""
        process = self.start(script, **settings)
        output, errors = process.communicate(timeout=60)
        assert process.returncode == code, errors
        return output if code != CONFUSED else errors

    def report(self):
        return dict(line.split(" ", 1) for line in self.report_path.read_text().splitlines())

    def sizes(self):
        return {str(path.relative_to(self.root)): path.stat().st_size for path in sorted(self.root.rglob("*"))
                if path.is_file()}

    def tell(self, line):
        new = self.control.with_suffix(".new")
        new.write_text(line + "\n")
        new.rename(self.control)


@pytest.fixture
def disk(tmp_path):
    return Disk(tmp_path.resolve())


PARTS = "(ctypes.c_void_p * 2)(ctypes.cast(ctypes.create_string_buffer(b'abcd'), ctypes.c_void_p), 4)"
CALLS = [
    ("open", "libc.open(old, os.O_RDONLY)"),
    ("open", "libc.open64(old, os.O_RDONLY)"),
    ("open", "libc.openat(directory, b'old', os.O_RDONLY)"),
    ("create", "libc.open(new, os.O_CREAT | os.O_WRONLY, 0o600)"),
    ("create", "libc.openat64(directory, b'new', os.O_CREAT | os.O_WRONLY, 0o600)"),
    ("create", "libc.creat(new, 0o600)"),
    ("create", "libc.creat64(new, 0o600)"),
    ("create", "libc.mkstemp(ctypes.create_string_buffer(path('t-XXXXXX').encode()))"),
    ("create", "libc.mkostemp64(ctypes.create_string_buffer(path('t-XXXXXX').encode()), os.O_APPEND)"),
    ("write", "libc.write(fd, b'abcd', 4)"),
    ("write", "libc.pwrite(fd, b'abcd', 4, 100)"),
    ("write", "libc.pwrite64(fd, b'abcd', 4, 100)"),
    ("write", f"libc.writev(fd, {PARTS}, 1)"),
    ("write", f"libc.pwritev(fd, {PARTS}, 1, 100)"),
    ("write", f"libc.pwritev64(fd, {PARTS}, 1, 100)"),
    ("sync", "libc.fsync(fd)"),
    ("sync", "libc.fdatasync(fd)"),
    ("range", "libc.sync_file_range(fd, 0, 10, 2)"),
    ("truncate", "libc.ftruncate(fd, 50)"),
    ("truncate", "libc.ftruncate64(fd, 50)"),
    ("truncate", "libc.truncate(old, 50)"),
    ("truncate", "libc.truncate64(old, 50)"),
    ("allocate", "libc.fallocate(fd, 1, 0, 4096)"),
    ("allocate", "libc.fallocate64(fd, 1, 0, 4096)"),
    ("allocate", "libc.posix_fallocate(fd, 0, 4096)"),
    ("allocate", "libc.posix_fallocate64(fd, 0, 4096)"),
    ("rename", "libc.rename(old, new)"),
    ("rename", "libc.renameat(directory, b'old', directory, b'new')"),
    ("rename", "libc.renameat2(directory, b'old', directory, b'new', 0)"),
    ("unlink", "libc.unlink(old)"),
    ("unlink", "libc.unlinkat(directory, b'old', 0)"),
    ("unlink", "libc.rmdir(sub)"),
    ("mkdir", "libc.mkdir(new, 0o700)"),
    ("mkdir", "libc.mkdirat(directory, b'new', 0o700)"),
    ("link", "libc.link(old, new)"),
    ("link", "libc.linkat(directory, b'old', directory, b'new', 0)"),
    ("read", "libc.read(fd, buffer, 4)"),
    ("read", "libc.pread(fd, buffer, 4, 0)"),
    ("read", "libc.pread64(fd, buffer, 4, 0)"),
]


@pytest.mark.parametrize("kind, call", CALLS, ids=[re.search(r"libc\.(\w+)", call)[1] + "-" + kind for kind, call in CALLS])
def test_every_call_is_counted_and_fails_when_asked_and_works_again(disk, kind, call):
    disk.run(f"""
save('old', 100); os.mkdir(path('sub'))
fd, directory, buffer = os.open(path('old'), os.O_RDWR), os.open(ROOT, os.O_RDONLY), ctypes.create_string_buffer(8)
old, new, sub = (path(name).encode() for name in ('old', 'new', 'sub'))
def state(): return sorted((name, os.stat(path(name)).st_size) for name in os.listdir(ROOT)), os.lseek(fd, 0, os.SEEK_CUR)
before, count = state(), api.count(bit({kind!r}))
api.fail_from_now(bit({kind!r}), 28)
result = {call}
if 'posix_fallocate' in {call!r}: assert result == 28, result
else: assert (result, ctypes.get_errno()) == (-1, 28), (result, ctypes.get_errno())
assert state() == before and api.injected() == 1 and api.count(bit({kind!r})) == count + 1
api.clear()
result = {call}
assert result >= 0 and result != 28 and api.injected() == 1, result
""")


def test_a_failed_close_closes_all_the_same(disk):
    disk.run("""
fd = make('a')
api.fail_from_now(bit('close'), 5)
try: os.close(fd); raise SystemExit('closed without an error')
except OSError as error: assert error.errno == 5
try: os.fstat(fd); raise SystemExit('still open')
except OSError as error: assert error.errno == 9
""")


WRITES = """
fd = make('a')
for i in range(6):
    try: print(os.write(fd, b'abcdef'), end=' ')
    except OSError as error: print(error.strerror, end=' ')
"""


@pytest.mark.parametrize("settings, expected", [
    ({"fail_at": 3}, "6 6 Input/output error 6 6 6"),
    ({"fail_at": 3, "errno": "ENOSPC"}, "6 6 No space left on device 6 6 6"),
    ({"fail_at": 5, "sticky": 1}, "6 6 6 6 Input/output error Input/output error"),
    ({"fail_at": 3, "short": 1}, "6 6 3 Input/output error 6 6"),
    ({"fail_at": 7}, "6 6 6 6 6 6"),
])
def test_the_nth_call_fails_and_no_other(disk, settings, expected):
    assert disk.run(WRITES, kinds="write", **settings).strip() == expected
    size = sum(int(word) for word in expected.split() if word.isdigit())
    assert disk.sizes() == {"a": size}
    assert disk.report()["write"] == "6"


def test_any_call_counts_in_its_turn_and_the_report_says_which_failed(disk):
    disk.run("fd = make('a'); os.write(fd, b'x')\ntry: os.fsync(fd)\nexcept OSError: pass", fail_at=3)
    report = disk.report()
    assert (report["all"], report["injected"], report["failed"]) == ("3", "1", f"sync {disk.root}/a")


def test_files_outside_the_root_are_left_alone(disk, tmp_path):
    outside, relative = tmp_path / "outside", "../outside2"
    disk.run(f"os.chdir(ROOT)\nfor name in ({str(outside)!r}, {relative!r}, ROOT + 'x'):\n"
             "    fd = os.open(name, os.O_CREAT | os.O_WRONLY); os.write(fd, b'x'); os.fsync(fd); os.close(fd)",
             fail_at=1, sticky=1)
    assert disk.report()["all"] == "0"


def test_relative_and_untidy_paths_below_the_root_are_watched(disk):
    disk.run("os.chdir(ROOT); os.mkdir('d')\n"
             "for name in ('a', './b', 'd//../c', ROOT + '/../root/e'): os.close(os.open(name, os.O_CREAT | os.O_WRONLY))\n"
             "assert api.count(bit('create')) == 4")


UNSYNCED = "fd = make('a', 1000); os.fsync(fd); os.write(fd, b'y' * 500); make('b', 300); save('c', 70); api.cut()"


def test_a_cut_leaves_exactly_the_synced_length(disk):
    disk.run(UNSYNCED, code=CUT)
    assert disk.sizes() == {"a": 1000, "b": 0, "c": 70}


def test_a_cut_may_leave_all(disk):
    disk.run(UNSYNCED, code=CUT, keep="all")
    assert disk.sizes() == {"a": 1500, "b": 300, "c": 70}


def test_a_cut_leaves_a_random_length_that_the_seed_decides(disk):
    seen = set()
    for seed in [1, 2, 3, 4, 4]:
        for path in disk.root.iterdir():
            path.unlink()
        disk.run(UNSYNCED, code=CUT, keep="random", seed=seed)
        sizes = disk.sizes()
        assert 1000 <= sizes["a"] <= 1500 and sizes["b"] <= 300 and sizes["c"] == 70
        seen.add((sizes["a"], sizes["b"]))
    assert len(seen) == 4


def test_the_cut_comes_instead_of_the_nth_call(disk):
    disk.run("fd = make('a', 10); os.fsync(fd); os.write(fd, b'lost'); os.fsync(fd)", code=CUT, cut_at=5, keep="all")
    assert disk.sizes() == {"a": 14}
    disk.run("fd = make('b', 10); os.fsync(fd); os.write(fd, b'lost'); os.fsync(fd)", code=CUT, cut_at=4, keep="all")
    assert disk.sizes()["b"] == 10


def test_reads_do_not_move_the_cut(disk):
    disk.run("fd = make('a', 10)\nfor i in range(50): os.pread(fd, 5, 0)\nos.fsync(fd)", code=0, cut_at=4)


def test_a_range_sync_makes_nothing_durable(disk):
    disk.run("fd = make('a', 5000); libc.sync_file_range(fd, 0, 5000, 7); api.cut()", code=CUT)
    assert disk.sizes() == {"a": 0}


def test_what_a_failed_sync_lost_stays_lost_when_a_later_one_succeeds(disk):
    disk.run("fd = make('a', 100); os.fsync(fd); os.write(fd, b'y' * 50); api.fail_from_now(bit('sync'), 5)\n"
             "try: os.fsync(fd)\nexcept OSError: api.clear()\nos.fsync(fd); api.cut()", code=CUT)
    assert disk.sizes() == {"a": 100}


def test_a_lying_sync_saves_nothing(disk):
    disk.run("save('a', 100); sync_directory(); api.cut()", code=CUT, lie=1)
    assert disk.sizes() == {"a": 0}
    disk.run("save('b', 100); sync_directory(); api.cut()", code=CUT, lie=1, dirs="undo")
    assert disk.sizes() == {"a": 0}


def test_bytes_of_an_earlier_run_are_durable(disk):
    disk.run("make('a', 100)")
    disk.run("fd = os.open(path('a'), os.O_WRONLY | os.O_APPEND); os.write(fd, b'y' * 10); api.cut()", code=CUT)
    assert disk.sizes() == {"a": 100}


def test_truncation_takes_the_synced_bytes_away(disk):
    disk.run("save('a', 100); save('b', 100); save('c', 100)\n"
             "fd = os.open(path('a'), os.O_RDWR); os.ftruncate(fd, 40); os.lseek(fd, 0, 2); os.write(fd, b'y' * 30)\n"
             "fd = os.open(path('b'), os.O_RDWR | os.O_TRUNC); os.write(fd, b'y' * 30)\n"
             "os.truncate(path('c'), 7); api.cut()", code=CUT)
    assert disk.sizes() == {"a": 40, "b": 0, "c": 7}


PAGES = "fd = make('a', 5000); os.fsync(fd); os.write(fd, b'y' * 95000); os.write(1, b'written'); api.cut()"


def test_a_cut_loses_single_pages_of_what_was_not_synced(disk):
    """Never a synced byte; behind a lost page others have survived; the seed decides, and each page has its own luck."""
    pictures, holes, ends = set(), 0, set()
    for seed in [*range(16), 15]:
        for path in disk.root.iterdir():
            path.unlink()
        disk.run(PAGES, code=CUT, keep="pages", seed=seed)
        left = (disk.root / "a").read_bytes()
        assert left[:5000] == b"x" * 5000 and set(left[5000:]) <= {0, ord("y")}
        pictures.add(left)
        ends.add(len(left))
        holes += b"\0y" in left
        for at in range(8192, len(left), 4096):  # whole, lost, or with a beginning
            assert b"\0y" not in left[at:at + 4096]
    assert len(pictures) == 16 and holes >= 14 and 100000 in ends and len(ends) > 1


@pytest.mark.parametrize("keep, expected", [("none", {b"x"}), ("all", {b"z"}), ("random", {b"x", b"z"}), ("pages", {b"x", b"z"})])
def test_an_overwrite_that_was_not_synced_may_be_undone(disk, keep, expected):
    script = ("save('a', 9000); fd = os.open(path('a'), os.O_WRONLY)\n"
              "for i in range(3): os.pwrite(fd, b'wz'[i > 1:][:1] * 9000, 0)\napi.cut()")
    seen = set()
    for seed in range(8):
        for path in disk.root.iterdir():
            path.unlink()
        disk.run(script, code=CUT, keep=keep, seed=seed)
        left = (disk.root / "a").read_bytes()
        assert len(left) == 9000
        seen |= {left[at:at + 1] for at in (0, 4096, 8192)}
    assert seen == expected


def test_an_overwrite_that_was_synced_stays(disk):
    disk.run("save('a', 100); fd = os.open(path('a'), os.O_RDWR); os.pwrite(fd, b'zz', 10); os.fsync(fd)\n"
             "os.pwrite(fd, b'w', 10); api.cut()", code=CUT)
    assert (disk.root / "a").read_bytes() == b"x" * 10 + b"zz" + b"x" * 88


def test_an_inode_that_comes_back_is_a_new_file(disk):
    disk.run("for i in range(20):\n    save('a', 100); os.unlink(path('a')); os.close(make('b', 50)); os.rename(path('b'), path('a'))\n"
             "api.cut()", code=CUT)
    assert disk.sizes() == {"a": 0}


# name: (script before the cut, files left under undo, files left under strict)
NAMES = {
    "a new file vanishes": ("make('a', 5)", {}, {}),
    "a new file that is synced stays": ("save('a', 5)", {"a": 5}, {}),
    "a new file in a synced directory stays": ("make('a', 5); sync_directory()", {"a": 0}, {"a": 0}),
    "a file made after the directory's sync vanishes": ("save('a', 5); sync_directory(); make('b', 5)", {"a": 5}, {"a": 5}),
    "a rename goes back": ("save('a', 5); sync_directory(); os.rename(path('a'), path('b'))", {"a": 5}, {"a": 5}),
    "a synced rename stays": ("save('a', 5); os.rename(path('a'), path('b')); sync_directory()", {"b": 5}, {"b": 5}),
    "a replaced file comes back": (
        "save('old', 5); sync_directory(); save('new', 7); os.rename(path('new'), path('old'))",
        {"new": 7, "old": 5}, {"old": 5}),
    "each sync of a new file under the old name settles the rename before it": (
        "save('c', 1); sync_directory()\nfor i in range(2, 6): save('t', i); os.rename(path('t'), path('c'))",
        {"c": 4, "t": 5}, {"c": 1}),
    "a replaced file comes back over several replacements": (
        "save('c', 1); sync_directory()\nfor i in range(2, 6): save(f't{i}', i); os.rename(path(f't{i}'), path('c'))",
        {"c": 1, "t2": 2, "t3": 3, "t4": 4, "t5": 5}, {"c": 1}),
    "a removed file comes back": ("save('a', 5); sync_directory(); os.unlink(path('a'))", {"a": 5}, {"a": 5}),
    "a synced removal stays": ("save('a', 5); os.unlink(path('a')); sync_directory()", {}, {}),
    "a removed file comes back cut to its synced length": (
        "fd = make('a', 5); os.fsync(fd); os.write(fd, b'y' * 9); sync_directory(); os.unlink(path('a'))",
        {"a": 5}, {"a": 5}),
    "a link vanishes and the file stays": (
        "save('a', 5); sync_directory(); os.link(path('a'), path('b'))", {"a": 5}, {"a": 5}),
    "a name that was freed and taken again and synced keeps the new file": (
        "save('a', 5); sync_directory(); os.unlink(path('a')); save('a', 7)", {"a": 7}, {"a": 5}),
    "a name that was moved away and taken again and synced keeps the new file": (
        "save('a', 5); sync_directory(); os.rename(path('a'), path('b')); save('a', 7)", {"a": 7, "b": 5}, {"a": 5}),
    "a directory moves back with what is in it": (
        "os.mkdir(path('t')); save('t/a', 5); sync_directory('t'); sync_directory(); os.rename(path('t'), path('d'))",
        {"t/a": 5}, {"t/a": 5}),
    "a file made in a directory that then moved for good vanishes": (
        "os.mkdir(path('t')); sync_directory(); make('t/a', 5); save('t/b', 6)\n"
        "os.rename(path('t'), path('d')); sync_directory()", {"d/b": 6}, {}),
    "a directory of which nothing was synced vanishes": ("os.mkdir(path('d')); make('d/a', 5)", {}, {}),
    "a directory that was removed for good and made again keeps the new file": (
        "os.mkdir(path('d')); save('d/a', 5); sync_directory('d'); sync_directory()\n"
        "os.unlink(path('d/a')); os.rmdir(path('d')); sync_directory()\n"
        "os.mkdir(path('d')); save('d/a', 7); sync_directory('d'); sync_directory()", {"d/a": 7}, {"d/a": 7}),
    "a directory that was removed and made again in one go": (
        "os.mkdir(path('d')); save('d/a', 5); sync_directory('d'); sync_directory()\n"
        "os.unlink(path('d/a')); os.rmdir(path('d')); os.mkdir(path('d')); save('d/a', 7); sync_directory('d')",
        {"d/a": 7}, {"d/a": 5}),
    "a synced file keeps the new directories above it": (
        "os.mkdir(path('d')); os.mkdir(path('d/e')); save('d/e/a', 5); make('d/b', 5)", {"d/e/a": 5}, {}),
    "a synced directory without a name of its own": (
        "os.mkdir(path('d')); save('d/a', 5); sync_directory('d')", {"d/a": 5}, {}),
    "a removed directory comes back with its file": (
        "os.mkdir(path('d')); save('d/a', 5); sync_directory('d'); sync_directory(); os.unlink(path('d/a')); os.rmdir(path('d'))",
        {"d/a": 5}, {"d/a": 5}),
}


@pytest.mark.parametrize("mode", ["keep", "undo", "strict"])
@pytest.mark.parametrize("name", NAMES)
def test_names_after_a_cut(disk, name, mode):
    script, undone, strictly_undone = NAMES[name]
    script += "\nsizes = {os.path.relpath(os.path.join(d, f), ROOT) for d, _, names in os.walk(ROOT) for f in names}\n"
    seen = disk.run(script + "print(sorted(sizes), flush=True); api.cut()", code=CUT, dirs=mode)
    if mode == "keep":
        assert sorted(disk.sizes()) == eval(seen)
    else:
        assert disk.sizes() == (undone if mode == "undo" else strictly_undone)


def test_a_failed_sync_of_a_directory_saves_no_name(disk):
    disk.run("make('a'); api.fail_from_now(bit('sync'), 5)\ntry: sync_directory()\nexcept OSError: api.cut()", code=CUT,
             dirs="undo")
    assert disk.sizes() == {}


def test_threads_lose_nothing_that_they_synced(disk):
    """Each thread says what it has synced only after the sync; the cut then leaves at least that."""
    seen = disk.run("""
def work(name):
    fd, size = make(name), 0
    while True:
        size += os.write(fd, b'x' * 100); os.fdatasync(fd); os.write(1, f'{name} {size};'.encode())
for i in range(8): threading.Thread(target=work, args=(str(i),)).start()
""", code=CUT, cut_at=400, dirs="undo", keep="none")
    said = {}
    for name, size in (entry.split() for entry in seen.split(";") if entry):
        said[name] = int(size)
    sizes = disk.sizes()
    assert len(said) == 8 and all(sizes[name] >= size for name, size in said.items())


LOOP = """
import time
fd = make('a'); print('started', flush=True)
while True:
    try: os.write(fd, b'x'); print('ok', flush=True)
    except OSError as error: print(error.errno, flush=True)
    time.sleep(0.002)
"""


def wait_for(process, word):
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if process.stdout.readline().strip() == word:
            return
    raise AssertionError(f"never said {word}")


def test_a_running_program_is_told_by_the_control_file(disk):
    process = disk.start(LOOP, control=disk.control)
    try:
        wait_for(process, "ok")
        disk.tell("fail full ENOSPC")
        wait_for(process, "28")
        disk.tell("clear")
        wait_for(process, "ok")
        disk.tell("fail write,sync EIO")
        wait_for(process, "5")
        disk.tell("cut")
        process.communicate(timeout=20)
        assert process.returncode == CUT and disk.sizes() == {"a": 0}
    finally:
        process.kill()
        process.communicate()


def test_a_forked_child_can_write(disk):
    disk.run("child = os.fork()\nif child == 0: save('a', 3); os._exit(0)\nassert os.waitpid(child, 0)[1] == 0")
    assert disk.sizes() == {"a": 3}


@pytest.mark.parametrize("settings", [
    {"kinds": "wirte"}, {"errno": "EBAD"}, {"fail_at": "x"}, {"fail_at": "-1"}, {"keep": "some"}, {"dirs": "yes"},
    {"root": "relative"}, {"root": "/tmp/"}])
def test_a_setting_that_is_not_understood_ends_the_program(disk, settings):
    assert disk.run("pass", code=CONFUSED, **settings).startswith("fault: ")


def test_without_a_root_nothing_is_watched(disk):
    environment = disk.environment({"fail_at": 1, "sticky": 1})
    del environment["FAULT_ROOT"]
    subprocess.run([sys.executable, "-c", f"open({str(disk.root / 'a')!r}, 'w').write('x')"], env=environment, check=True)
    assert disk.sizes() == {"a": 1}
