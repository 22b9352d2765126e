"""kill -9 at random moments, again and again on one directory: no acknowledged write is lost, none is half there."""
import random
import signal
import subprocess
import time

import loops

KILLS = 200 if loops.LONG else 20


def wait_for_answers(loop, process, before):
    """Until the first answer of this run; opening after a kill takes its time."""
    deadline = time.monotonic() + loops.HANG_SECONDS
    while loop.acks.stat().st_size == before and process.poll() is None:
        assert time.monotonic() < deadline, "no write was answered"
        time.sleep(0.001)


def test_kills_lose_nothing(tmp_path):
    loop, luck = loops.Loop(tmp_path), random.Random(loops.SEED)
    print(f"seed {loops.SEED}")
    for kill in range(KILLS):
        before = loop.acks.stat().st_size
        process = loop.start(threads=16, ops=0, payload=luck.choice([50, 1000]))
        if kill % 4 != 1:  # else a moment during the start
            wait_for_answers(loop, process, before)
        time.sleep(luck.random() * 0.25)
        assert process.poll() is None, process.communicate()[0]
        process.send_signal(signal.SIGKILL)
        output, _ = process.communicate()
        code, found = loop.check()
        assert code == 0, f"seed {loops.SEED}, kill {kill}: {found}\n{output}"
    print(f"{KILLS} kills, {loop.acknowledged()} acknowledged writes")
    assert loop.acknowledged() > KILLS


def test_a_killed_owner_leaves_no_lock(tmp_path):
    """While it lives nobody else gets in, and they are told so; when it is dead the directory is free."""
    loop = loops.Loop(tmp_path)
    process = loop.start(ops=0)
    try:
        wait_for_answers(loop, process, 0)
        code, output = loop.check()
        assert code == 1 and "conflict" in output and str(process.pid) in output
    finally:
        process.kill()
        process.communicate()
    assert loop.check()[0] == 0


def damaged(tmp_path, damage):
    """What the check says about a good run after `damage`."""
    loop = loops.Loop(tmp_path)
    assert loop.run(threads=4, ops=50)[0] == 0 and loop.check()[0] == 0
    damage(loop)
    return loop.check()


def test_the_check_finds_a_lost_write(tmp_path):
    def forge(loop):
        with loop.acks.open("a") as acks:
            acks.write("P 1 0 99 ok;\n")
    code, output = damaged(tmp_path, forge)
    assert code == 1 and "lost: acknowledged" in output


def test_the_check_finds_a_refused_write_that_is_there(tmp_path):
    def forge(loop):
        lines = loop.acks.read_text().splitlines()
        done = [line for line in lines if line.startswith("C") and line.endswith(" ok;")]
        loop.acks.write_text(done[0].replace(" ok;", " unavailable;") + "\n")
    code, output = damaged(tmp_path, forge)
    assert code == 1 and "refused (unavailable) and there" in output


def test_a_log_that_lost_what_was_acknowledged_is_refused(tmp_path):
    """The last records of RocksDB's own log are taken away behind its back, before any of them went elsewhere."""
    loop = loops.Loop(tmp_path)
    code, output = loop.run({"cut_at": 200, "keep": "all"}, ops=0, payload=0)
    assert code == loops.CUT and loop.acknowledged() > 10, output
    log = max((loop.root / "data" / "db").glob("*.log"))
    with log.open("r+b") as file:
        file.truncate(log.stat().st_size // 2)
    code, output = loop.check()
    assert code != 0 and "is damaged" in output and "what was acknowledged goes further" in output


def test_usage_is_explained():
    result = subprocess.run([loops.WORKLOAD, "run", "threads=x"], capture_output=True, text=True)
    assert result.returncode == 2 and result.stderr.startswith("usage:")
