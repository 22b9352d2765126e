"""Votes are saved at full speed by many threads, and the process is killed, or the power cut, at a random moment; again and again on
one site. After each start: every save that was acknowledged is in its chain, none that was refused is, and the auditor finds
nothing."""
import json
import random
import signal
import subprocess
import time

import pytest

import loops
from conftest import clean_environment

SAVES = loops.PLAIN / "tests" / "fault" / "saves"
OSTRAKA = loops.PLAIN / "src" / "cli" / "ostraka"
TIMES = 50 if loops.LONG else 3
CALLS = [(1, 300), (300, 1500), (1500, 8000)]  # of the disk: while it starts, soon after, at full speed


class Saves(loops.Loop):
    """A site on a watched disk."""
    program = SAVES

    def __init__(self, directory):
        super().__init__(directory)
        code, output = self.command("make", directory=self.root / "data")
        assert code == 0, output

    def acknowledged(self):
        return sum(line.startswith("Y ") for line in self.acks.read_text().splitlines())

    def audit(self):
        """What `ostraka verify` says: how many entries it saw."""
        done = subprocess.run([OSTRAKA, "verify", "--json", "--data", self.root / "data"], text=True, capture_output=True,
                              env=clean_environment(), timeout=10 * loops.HANG_SECONDS)
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        found = json.loads(done.stdout)
        assert found["faults"] == 0 and found["busy"] == 0
        return found["entries"]

    def expect_whole(self, where):
        code, found = self.check()
        assert code == 0, f"{where}: {found}"
        return self.audit()


def wait_for_answers(loop, process, before):
    deadline = time.monotonic() + loops.HANG_SECONDS
    while loop.acks.stat().st_size == before and process.poll() is None:
        assert time.monotonic() < deadline, "no save was answered"
        time.sleep(0.001)


def test_kills_lose_no_save(tmp_path):
    loop, luck = Saves(tmp_path), random.Random(loops.SEED)
    print(f"seed {loops.SEED}")
    entries = 0
    for kill in range(TIMES):
        before = loop.acks.stat().st_size
        process = loop.start(threads=16)
        if kill % 5 != 1:  # else a moment during the start
            wait_for_answers(loop, process, before)
        time.sleep(luck.random() * 0.5)
        assert process.poll() is None, process.communicate()[0]
        process.send_signal(signal.SIGKILL)
        output, _ = process.communicate()
        entries = loop.expect_whole(f"seed {loops.SEED}, kill {kill}: {output}")
    print(f"{TIMES} kills, {loop.acknowledged()} acknowledged saves, {entries} entries")
    assert entries > 10 * TIMES


def cut_once(loop, luck, faults):
    """One run up to the cut, and the check."""
    faults = {"cut_at": luck.randint(*CALLS[loop.runs % 3]), "seed": luck.randrange(1 << 32), **faults}
    code, output = loop.run(faults, threads=16)
    where = f"seed {loops.SEED}, run {loop.runs}, {faults}"
    assert code == loops.CUT, f"{where}: ended with {code}\n{output}"
    return loop.expect_whole(f"{where}: {output}")


def test_cuts_lose_no_save(tmp_path):
    loop, luck = Saves(tmp_path), random.Random(loops.SEED)
    print(f"seed {loops.SEED}")
    entries = 0
    for _ in range(TIMES):
        entries = cut_once(loop, luck, {"keep": luck.choice(["none", "random", "pages"]), "dirs": luck.choice(["undo", "strict"])})
    print(f"{TIMES} cuts, {loop.acknowledged()} acknowledged saves, {entries} entries")
    assert loop.acknowledged() > TIMES


def test_the_loop_notices_a_disk_that_lies(tmp_path):
    """The same on a disk whose syncs save nothing must fail, else it proves nothing."""
    loop = Saves(tmp_path)
    with pytest.raises(AssertionError, match="lost: acknowledged"):
        cut_once(loop, random.Random(loops.SEED), {"lie": 1, "dirs": "undo", "cut_at": 3000})


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """A site after a run that ended well, and what was told."""
    loop = Saves(tmp_path_factory.mktemp("good"))
    code, output = loop.run(threads=8, seconds=1)
    assert code == 0 and loop.expect_whole(output) > 0
    return loop, loop.acks.read_text()


@pytest.mark.parametrize("told, instead, finding", [
    ("Y", "N", 'told "not saved" and there'),
    ("N", "Y", "lost: acknowledged"),
    ("N", "S", "lost: seen"),
])
def test_the_check_finds_a_wrong_answer(good, told, instead, finding):
    """One answer of each kind is turned into another."""
    loop, records = good
    line = next(line for line in records.splitlines() if line.startswith(told))
    kind, voter, seq, version, token = line.split(" ")
    loop.acks.write_text(" ".join([instead, voter, seq if told == "Y" else "1", version, token]) + "\n")
    code, output = loop.check()
    assert code == 1 and finding in output
