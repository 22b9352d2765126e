"""The power fails at random calls, again and again on one directory: files are cut back towards their synced length or lose single pages
behind it, names whose directory was not synced go back. No acknowledged write is lost, none is half there, nothing that was read vanishes.
And what that rests on: each acknowledgement has a sync of its own or shares one."""
import random
import re

import pytest

import loops

CUTS = 50 if loops.LONG else 4  # for each way in which a disk forgets: 300 and 24 in all
CALLS = [(1, 60), (60, 600), (600, 3000)]  # of the disk: while it starts, soon after, at full speed; no luck leaves one out
WAYS = [{"keep": keep, "dirs": dirs} for keep in ("none", "random", "pages") for dirs in ("undo", "strict")]


def cut_once(loop, luck, faults, **settings):
    """One run up to the cut, then the check. Returns the counts of the disk's calls."""
    faults = {"cut_at": luck.randint(*CALLS[loop.runs % 3]), "seed": luck.randrange(1 << 32), **faults}
    code, output = loop.run(faults, ops=0, **settings)
    where = f"seed {loops.SEED}, run {loop.runs}, {faults}"
    assert code == loops.CUT, f"{where}: ended with {code}\n{output}"
    code, found = loop.check()
    assert code == 0, f"{where}: {found}\n{output}"
    return loop.report()


@pytest.mark.parametrize("way", WAYS, ids=[f"{way['keep']}-{way['dirs']}" for way in WAYS])
def test_cuts_lose_nothing(tmp_path, way):
    loop, luck = loops.Loop(tmp_path), random.Random(f"{loops.SEED} {way}")
    for _ in range(CUTS):
        cut_once(loop, luck, way, threads=16, payload=luck.choice([50, 1000]))
    print(f"{CUTS} cuts, {loop.acknowledged()} acknowledged writes")
    assert loop.acknowledged() > 0


@pytest.mark.parametrize("way", WAYS, ids=[f"{way['keep']}-{way['dirs']}" for way in WAYS])
def test_a_cut_while_the_directory_is_made_leaves_one_that_opens(tmp_path, way):
    """Every call of the first start in turn (the short form: every so-manieth)."""
    loop, step = loops.Loop(tmp_path), 1 if loops.LONG else 13
    luck = random.Random(loops.SEED)
    for at in range(1 + loops.SEED % step, 160, step):
        loop.fresh()
        code, output = loop.run({**way, "seed": luck.randrange(1 << 32), "cut_at": at}, ops=0)
        assert code == loops.CUT, f"cut at call {at}: ended with {code}\n{output}"
        code, found = loop.check()
        assert code == 0, f"cut at call {at}, {way}: {found}"


@pytest.mark.parametrize("kinds", ["sync", "write"])
def test_a_cut_after_a_failed_call_was_healed_loses_nothing(tmp_path, kinds):
    """The kernel forgets what a failed sync was to save. The store, opened again in place, must not rely on it."""
    loop, luck = loops.Loop(tmp_path), random.Random(f"{loops.SEED} {kinds}")
    healed = 0
    for _ in range(CUTS * 2):
        fault = {"kinds": kinds, "fail_at": luck.randint(5, 60), "cut_at": luck.randint(300, 900), "dirs": "undo",
                 "keep": luck.choice(["none", "random", "pages"])}
        healed += cut_once(loop, luck, fault, threads=4)["injected"] != "0"
    print(f"{healed} of {CUTS * 2} cuts came after a failed call")
    assert healed > CUTS


def test_the_loop_notices_a_disk_that_lies(tmp_path):
    """The same loop on a disk whose syncs save nothing must fail, else it proves nothing."""
    loop, luck = loops.Loop(tmp_path), random.Random(loops.SEED)
    code, output = loop.run(threads=4, ops=20)
    assert code == 0 and loop.check()[0] == 0, output
    with pytest.raises(AssertionError, match="lost: acknowledged"):
        cut_once(loop, luck, {"lie": 1, "dirs": "undo", "cut_at": 600}, threads=4)


def test_a_backup_survives_a_cut(tmp_path):
    """Acknowledged means on disk, for a backup too."""
    loop, luck = loops.Loop(tmp_path), random.Random(loops.SEED)
    survived = 0
    for _ in range(CUTS * 3):
        loop.fresh()
        faults = {"keep": "none", "dirs": "strict", "cut_at": luck.randint(150, 450)}
        code, output = loop.run(faults, ops=25, rounds=2, payload=1000, backup=loop.root / "backup")
        assert code in (0, loops.CUT), output
        for check in (loop.check, loop.check_backup):
            code, found = check()
            assert code == 0, f"{faults}: {found}\n{output}"
        survived += "backup\n" in loop.acks.read_text()
    print(f"{survived} backups were acknowledged before the cut")
    assert survived > 0


def syncs_of(loop, **settings):
    code, output = loop.run({}, **settings)
    assert code == 0, output
    counts = re.search(r"done: ok (\d+) .* syncs (\d+)", output)
    return int(counts[1]), int(counts[2])


def test_one_client_has_a_sync_for_each_write(tmp_path):
    writes, syncs = syncs_of(loops.Loop(tmp_path), threads=1, ops=300, payload=50)
    print(f"1 client: {writes} acknowledged writes, {syncs} syncs")
    assert writes > 200 and syncs >= writes - 1  # the last write is counted after the syncs


def test_many_clients_share_their_syncs(tmp_path):
    writes, syncs = syncs_of(loops.Loop(tmp_path), threads=64, ops=100, payload=50)
    print(f"64 clients: {writes} acknowledged writes, {syncs} syncs")
    assert writes > 4000 and syncs * 4 < writes
