"""The n-th call of the disk fails, for n = 1, 2, 3 … until a run has fewer calls: no crash, no hang, clear answers, writing
again in the same process once the disk is well, and whatever was acknowledged is there.

The short form takes every so-manieth n, from a random start; the long form takes all."""
import random

import pytest

import loops

# name: (the fault, the step of the short form)
FAULTS = {
    "one call fails": ({"kinds": "any", "errno": "EIO"}, 29),
    "all calls fail from there on": ({"kinds": "any", "errno": "EIO", "sticky": 1}, 29),
    "the disk is full from there on": ({"kinds": "full", "errno": "ENOSPC", "sticky": 1}, 17),
    "a write stops half way": ({"kinds": "write", "errno": "ENOSPC", "short": 1}, 11),
    "one sync fails": ({"kinds": "sync", "errno": "EIO"}, 11),
    "one read fails": ({"kinds": "read", "errno": "EIO"}, 13),
}
SHAPE = {"ops": 25, "payload": 4000, "rounds": 2}


def fail_at(loop, fault, number):
    """One run; returns whether it had so many calls."""
    loop.fresh()
    code, output = loop.run({**fault, "fail_at": number}, backup=loop.root / "backup", **SHAPE)
    report = loop.report() if loop.report_path.exists() else {}
    where = f"fault {fault} at call {number} ({report.get('failed')})"
    assert code == 0, f"{where}: the workload ended with {code}\n{output}"
    for check in (loop.check, loop.check_backup):
        code, found = check()
        assert code == 0, f"{where}: {found}\n{output}"
    return report["injected"] != "0"


@pytest.mark.parametrize("name", FAULTS)
def test_the_nth_call_fails(tmp_path, name):
    fault, step = FAULTS[name]
    loop = loops.Loop(tmp_path)
    step = 1 if loops.LONG else step
    number, tried = 1 + loops.SEED % step, 0
    while fail_at(loop, fault, number):
        number += step
        tried += 1
    print(f"{name}: {tried} calls failed, the last was number {number - step}")
    assert tried > 3


def test_many_threads_go_on_after_a_failing_disk(tmp_path):
    """Sixteen threads, one directory, one fault in each run at a random call; whoever sees it heals and opens again."""
    loop, luck = loops.Loop(tmp_path), random.Random(loops.SEED)
    hit = 0
    for _ in range(200 if loops.LONG else 10):
        fault = {**luck.choice(list(FAULTS.values()))[0], "fail_at": luck.randint(1, 400)}
        code, output = loop.run(fault, threads=16, ops=50, payload=1000)
        where = f"seed {loops.SEED}, run {loop.runs}, {fault}"
        assert code == 0, f"{where}: the workload ended with {code}\n{output}"
        hit += loop.report()["injected"] != "0"
        code, found = loop.check()
        assert code == 0, f"{where}: {found}\n{output}"
    print(f"{hit} runs met their fault, {loop.acknowledged()} acknowledged writes")
    assert hit > 0
