"""What the engine sends again and what it does not, before a node that fails at certain calls; and that each call ends before its time."""
import os
import pathlib
import subprocess
import time

import pytest

from scripted_node import CLOSE, KEEP, KEYSPACE, Node

ROOT = pathlib.Path(__file__).resolve().parents[3]
CELLS = pathlib.Path(os.environ.get("OSTRAKA_BUILD", ROOT / "build/test")) / "tests/cluster/cells"
TIME_MS = 4000
UNAVAILABLE, TIMEOUT, FAILURE, STARTING, CAS_UNKNOWN = 0x1000, 0x1100, 0x1500, 0x1002, 0x1700


class Cells:
    def __init__(self, node):
        self.node = node
        self.process = subprocess.Popen([CELLS, "obey", node.store, str(TIME_MS)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        self("put", "x61", "x63", "x76", self.now(), 0)  # opened, and the statements are known

    @staticmethod
    def now():
        return time.time_ns() // 1000

    def __call__(self, *words, acts=()):
        """The answer, how many calls the node was given, and the milliseconds."""
        self.node.acts, before, begin = list(acts), self.node.calls, time.monotonic()
        print(*words, file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline().split()[0]
        return answer, self.node.calls - before, (time.monotonic() - begin) * 1000


@pytest.fixture
def cells():
    node = Node(tables=["interop_plain", "interop_conditional"])
    cells = Cells(node)
    yield cells
    cells.process.stdin.close()
    assert cells.process.wait(20) == 0
    node.close()


@pytest.mark.parametrize("act", [CLOSE, TIMEOUT, FAILURE, STARTING, UNAVAILABLE, 0])
@pytest.mark.parametrize("times", [1, 4])
def test_a_plain_write_is_sent_until_it_is_done(cells, act, times):
    answer, calls, took_ms = cells("put", "x61", "x63", "x76", cells.now(), 0, acts=[act] * times)
    assert (answer, calls) == ("ok", times + 1) and took_ms < TIME_MS
    answer, calls, _ = cells("delete", "x61", "x63", cells.now(), acts=[act] * times)
    assert (answer, calls) == ("ok", times + 1)


@pytest.mark.parametrize("act, told", [(TIMEOUT, "unknown"), (UNAVAILABLE, "unavailable"), (CLOSE, "unknown"), (KEEP, "unknown")])
def test_a_plain_write_that_is_never_done_is_told_before_its_time_is_over(cells, act, told):
    answer, calls, took_ms = cells("put", "x61", "x63", "x76", cells.now(), 0, acts=[act] * 1000)
    assert answer == told and TIME_MS / 2 < took_ms < TIME_MS and (calls > 3 or act == KEEP)
    cells.node.acts = []
    assert cells("put", "x61", "x63", "x76", cells.now(), 0)[0] == "ok"


def test_once_unknown_it_is_not_told_as_surely_not_done(cells):
    answer, _, took_ms = cells("put", "x61", "x63", "x76", cells.now(), 0, acts=[TIMEOUT] + [UNAVAILABLE] * 1000)
    assert answer == "unknown" and took_ms < TIME_MS


def test_what_the_node_refuses_is_not_sent_again(cells):
    assert cells("put", "x61", "x63", "x76", cells.now(), 0, acts=[0x2200])[:2] == ("invalid", 1)


@pytest.mark.parametrize("act", [TIMEOUT, CAS_UNKNOWN, UNAVAILABLE, CLOSE])
def test_a_conditional_write_is_sent_once_and_then_looked_up(cells, act):
    """store_update reads the condition and the proof, finds neither, and sends the same bytes again: four calls."""
    answer, calls, _ = cells("update", "x61", "x63", "-", "x76", acts=[act])
    assert (answer, calls) == ("ok", 4)


def test_a_read_that_nobody_answers_is_told_before_its_time_is_over(cells):
    for act in (KEEP, UNAVAILABLE, CLOSE):
        answer, _, took_ms = cells("read", "interop_plain", "x61", "x63", acts=[act] * 1000)
        assert answer == "unavailable" and TIME_MS / 2 < took_ms < TIME_MS
