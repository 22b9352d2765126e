"""What our engine writes is read by Debian's python3-cassandra, and the other way round, cell for cell on a real cluster."""
import random
import subprocess
import time

import pytest
from cassandra import ConsistencyLevel
from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile

import nodes

KEYSPACE = "ostraka_interop"
PROGRAM = nodes.PLAIN / "tests/cluster/cells"
COUNT = 200
SECOND_US = 1_000_000


class Ours:
    """tests/cluster/cells, which obeys."""

    def __init__(self):
        self.process = subprocess.Popen([PROGRAM, "obey", nodes.address(KEYSPACE)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def __call__(self, *words):
        texts = ["x" + word.hex() if isinstance(word, bytes) else str(word) for word in words]
        print(*texts, file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline().split()
        assert answer, f"it ended at {texts}"
        return [bytes.fromhex(word[1:]) if word.startswith("x") else word for word in answer]


@pytest.fixture(scope="module")
def ours():
    nodes.heal()
    nodes.drop(KEYSPACE)
    subprocess.run([PROGRAM, "init", nodes.address(KEYSPACE)], check=True, timeout=300)
    program = Ours()
    yield program
    program.process.stdin.close()
    assert program.process.wait(30) == 0


@pytest.fixture(scope="module")
def session(ours):
    profile = ExecutionProfile(consistency_level=ConsistencyLevel.QUORUM, serial_consistency_level=ConsistencyLevel.SERIAL,
                               request_timeout=20)
    cluster = Cluster(nodes.HOSTS.split(","), protocol_version=4, execution_profiles={EXEC_PROFILE_DEFAULT: profile})
    yield cluster.connect(KEYSPACE)
    cluster.shutdown()


@pytest.fixture
def luck():
    seed = random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")
    return random.Random(seed)


def some_bytes(luck, least, most):
    """Any bytes at all; zeros and the highest ones among them."""
    return bytes(luck.choice((0, 1, 127, 128, 255, luck.randrange(256))) for _ in range(luck.randint(least, most)))


def test_plain_cells_of_ours_are_read_by_the_driver(ours, session, luck):
    read = session.prepare("SELECT val, writetime(val), ttl(val) FROM interop_plain WHERE row = ? AND col = ?")
    now = int(time.time() * SECOND_US)
    for i in range(COUNT):
        row, column, value = some_bytes(luck, 1, 40), some_bytes(luck, 0, 40), some_bytes(luck, 0, 3000)
        ttl = luck.choice((0, 0, 1000))
        assert ours("put", row, column, value, now + i, ttl) == ["ok"]
        found = session.execute(read, (row, column)).one()
        assert found is not None and found[0] == value and found[1] == now + i
        assert (found[2] is None) if ttl == 0 else (900 < found[2] <= 1000)


def test_plain_cells_of_the_driver_are_read_by_ours(ours, session, luck):
    write = session.prepare("UPDATE interop_plain USING TIMESTAMP ? SET val = ? WHERE row = ? AND col = ?")
    now = int(time.time() * SECOND_US)
    for i in range(COUNT):
        row, column, value = some_bytes(luck, 1, 40), some_bytes(luck, 0, 40), some_bytes(luck, 0, 3000)
        session.execute(write, (now + i, value, row, column))
        assert ours("read", "interop_plain", row, column) == ["ok", value, str(now + i)]


def test_the_newest_timestamp_wins_whoever_wrote_it(ours, session):
    write = session.prepare("UPDATE interop_plain USING TIMESTAMP ? SET val = ? WHERE row = ? AND col = ?")
    now = int(time.time() * SECOND_US)
    ours("put", b"newest", b"c", b"ours", now, 0)
    session.execute(write, (now - 1, b"older", b"newest", b"c"))
    assert ours("read", "interop_plain", b"newest", b"c")[1] == b"ours"
    session.execute(write, (now + 1, b"newer", b"newest", b"c"))
    assert ours("read", "interop_plain", b"newest", b"c")[1] == b"newer"
    assert ours("delete", b"newest", b"c", now + 2) == ["ok"]
    assert session.execute("SELECT val FROM interop_plain WHERE row = 0x%s" % b"newest".hex()).one() is None
    session.execute(write, (now + 3, b"again", b"newest", b"c"))
    session.execute("DELETE FROM interop_plain USING TIMESTAMP %d WHERE row = 0x%s AND col = 0x63" % (now + 4, b"newest".hex()))
    assert ours("read", "interop_plain", b"newest", b"c") == ["not_found"]


def test_a_slice_of_ours_has_the_columns_of_the_driver_in_its_order(ours, session, luck):
    write = session.prepare("INSERT INTO interop_plain (row, col, val) VALUES (?, ?, ?)")
    cells = {some_bytes(luck, 0, 12): some_bytes(luck, 0, 50) for _ in range(COUNT)}
    for column, value in cells.items():
        session.execute(write, (b"slice", column, value))
    answer = ours("slice", "interop_plain", b"slice")
    assert list(zip(answer[1::2], answer[2::2])) == sorted(cells.items())
    assert [(found.col, found.val) for found in
            session.execute("SELECT col, val FROM interop_plain WHERE row = 0x%s" % b"slice".hex())] == sorted(cells.items())


def test_a_scan_of_ours_finds_all_rows_of_the_driver(ours, session, luck):
    theirs = {(found.row, found.col, found.val) for found in session.execute("SELECT row, col, val FROM interop_plain")}
    answer = ours("scan", "interop_plain")
    mine = list(zip(answer[1::3], answer[2::3], answer[3::3]))
    assert len(mine) == len(set(mine)) and set(mine) == theirs and len(theirs) > COUNT


def test_conditional_writes_of_both_see_each_other(ours, session):
    update = session.prepare("UPDATE interop_conditional SET val = ? WHERE row = ? AND col = ? IF val = ?")
    row = b"taking turns"
    assert ours("update", row, b"head", "-", b"0") == ["ok"]
    assert ours("update", row, b"head", "-", b"1") == ["conflict"]
    for turn in range(0, 20, 2):
        before, after, last = (b"%d" % (turn + i) for i in range(3))
        assert session.execute(update, (after, row, b"head", before)).was_applied
        assert ours("update", row, b"head", before, b"wrong") == ["conflict"]
        assert ours("read", "interop_conditional", row, b"head")[1] == after
        assert ours("update", row, b"head", after, last) == ["ok"]
        assert not session.execute(update, (b"wrong", row, b"head", after)).was_applied
    found = session.execute("SELECT val FROM interop_conditional WHERE row = 0x%s AND col = 0x%s" %
                            (row.hex(), b"head".hex())).one()
    assert found.val == b"20"
