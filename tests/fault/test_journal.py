"""The journal is killed and loses power at random moments, again and again on one directory.

What was acknowledged is checked against what is left, by the names of journal.h:
  I3  no acknowledged put is lost: its number, or a newer one of its key, was claimed or is still there
  I4  a key is never claimed while an earlier claim of it has not ended, and that claim is still there as running
  I7  no id is made twice, no token handed out twice, over all runs"""
import random
import signal
import time

import pytest

import loops

KILLS = 100 if loops.LONG else 10
CUTS = 50 if loops.LONG else 5
CALLS = [(1, 60), (60, 600), (600, 3000)]
WAYS = [{"keep": keep, "dirs": dirs} for keep in ("none", "random", "pages") for dirs in ("undo", "strict")]
SHAPES = [{"threads": 16, "payload": 100}, {"threads": 2, "payload": 20000, "keys": 1}]  # many small; few large, often empty


class JournalLoop(loops.Loop):
    program = loops.PLAIN / "tests" / "fault" / "journal_load"

    def check(self):
        code, output = super().check()
        if code == 0:
            findings = judge(self.acks.read_text(), output)
            return len(findings), "\n".join(findings[:20])
        return code, output


def judge(acks, left):
    """Sentences about what the record and the rest do not allow."""
    findings, ids, tokens, ended = [], set(), set(), set()
    acknowledged, claimed, running = {}, {}, {}
    for line in acks.splitlines():
        words = line.split()
        if words[0] == "put":
            _, key, number, outcome, entry = words
            acknowledged[key] = max(acknowledged.get(key, 0), int(number))
            if outcome == "made" and entry in ids:
                findings.append(f"I7: id {entry} was made twice")
            ids.add(entry)
        elif words[0] == "claim":
            _, key, number, entry, token = words
            if token in tokens:
                findings.append(f"I7: token {token} was handed out twice")
            if key in running and running[key] not in ended:
                findings.append(f"I4: {key} was claimed while it ran")
            tokens.add(token)
            claimed[key] = max(claimed.get(key, 0), int(number))
            running[key] = token
        else:
            ended.add(words[1])
    there, states = {}, {}
    for line in left.splitlines():
        _, key, number, state = line.split()
        there[key] = max(there.get(key, 0), int(number))
        states.setdefault(key, []).append(state)
    for key, number in acknowledged.items():
        if max(claimed.get(key, 0), there.get(key, 0)) < number:
            findings.append(f"I3: {key} {number} was acknowledged, neither claimed nor there")
    for key, token in running.items():
        if token not in ended and "P" not in states.get(key, []):
            findings.append(f"I4: {key} was claimed and does not run")
    for key, found in states.items():
        if sorted(found) not in (["P"], ["W"], ["H", "P"]):
            findings.append(f"I1: {key} is there as {found}")
    return findings


@pytest.mark.parametrize("shape", SHAPES, ids=["small", "large"])
def test_kills_lose_nothing(tmp_path, shape):
    loop, luck = JournalLoop(tmp_path), random.Random(loops.SEED)
    for kill in range(KILLS):
        before = loop.acks.stat().st_size
        process = loop.start(ops=0, **shape)
        deadline = time.monotonic() + loops.HANG_SECONDS
        while kill % 4 != 1 and loop.acks.stat().st_size == before and process.poll() is None:
            assert time.monotonic() < deadline, "nothing was answered"
            time.sleep(0.001)
        time.sleep(luck.random() * 0.25)
        assert process.poll() is None, process.communicate()[0]
        process.send_signal(signal.SIGKILL)
        output, _ = process.communicate()
        code, found = loop.check()
        assert code == 0, f"seed {loops.SEED}, kill {kill}: {found}\n{output}"
    assert loop.acks.read_text().count("put ") > KILLS


@pytest.mark.parametrize("way", WAYS, ids=[f"{way['keep']}-{way['dirs']}" for way in WAYS])
def test_power_cuts_lose_nothing(tmp_path, way):
    loop, luck = JournalLoop(tmp_path), random.Random(f"{loops.SEED} {way}")
    for cut in range(CUTS):
        faults = {"cut_at": luck.randint(*CALLS[cut % 3]), "seed": luck.randrange(1 << 32), **way}
        code, output = loop.run(faults, ops=0, **SHAPES[cut % 2])
        where = f"seed {loops.SEED}, cut {cut}, {faults}"
        assert code == loops.CUT, f"{where}: ended with {code}\n{output}"
        code, found = loop.check()
        assert code == 0, f"{where}: {found}\n{output}"
    assert loop.acks.read_text().count("put ") > 0


def test_a_disk_whose_syncs_lie_is_caught(tmp_path):
    """A test of the test: what was acknowledged on the word of a lying disk is missed."""
    missed = 0
    for at in (200, 400, 800):
        loop = JournalLoop(tmp_path / str(at))
        code, _ = loop.run({"cut_at": at, "lie": 1, "keep": "none"}, ops=0, threads=8)
        assert code == loops.CUT
        missed += loop.check()[0] != 0
    assert missed > 0


def test_the_judge_finds_each_fault():
    good = "put a 1 made 1\nclaim a 1 1 t1\nending t1\nput a 2 made 2\n"
    assert judge(good, "left a 2 W\n") == []
    assert "I3" in judge(good, "")[0]
    assert "I7: id" in judge(good + "put b 1 made 2\n", "left a 2 W\nleft b 1 W\n")[0]
    assert "I7: token" in judge(good + "claim a 2 2 t1\n", "")[0]
    assert "I4: a was claimed while" in judge(good + "claim a 2 2 t2\nclaim a 2 2 t3\nending t3\n", "")[0]
    assert "I4: a was claimed and" in judge(good + "claim a 2 2 t2\n", "left a 2 W\n")[0]
    assert "I1" in judge(good, "left a 2 W\nleft a 2 P\n")[0]
