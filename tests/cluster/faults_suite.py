"""32 clients write and update while nodes of a real cluster are killed, paused and restarted.

Afterwards every OK is there, no CONFLICT or UNAVAILABLE is, UNKNOWN is either, and no request took longer than its deadline. Times and rates are
printed (pytest -s shows them) and bounded: after a fault the first write within 2 s, half the rate within 15 s. With `--long`
100,000 operations are under way while all faults happen one after the other."""
import time

import pytest

import nodes
from nodes import LONG, Load, cluster

KEYSPACE = "ostraka_faults"
DEADLINE_MS = 5000
BEFORE_S, AFTER_S = (8, 20) if LONG else (4, 17)
FIRST_WRITE_S = 2.0
HALF_RATE_S = 15.0


@pytest.fixture(scope="module", autouse=True)
def keyspace():
    nodes.heal()
    Load.init(KEYSPACE)
    yield
    nodes.heal()


@pytest.fixture
def load(tmp_path, request):
    """Starts loads; whatever happens, all nodes are well afterwards and the load has ended."""
    started = []

    def start(**settings):
        start.runs += 100
        settings = {"deadline": DEADLINE_MS, "seconds": 0, "run": start.runs, **settings}
        started.append(Load(KEYSPACE, tmp_path / "acks", **settings))
        return started[-1]

    start.runs = request.session.items.index(request.node)  # versions carry the number, so that none is used twice
    yield start
    for one in started:
        if one.process.poll() is None:
            one.process.kill()
            one.wait(10)
    nodes.heal()


def expect_whole(load):
    """Ends well, and everything that was told is true."""
    status, words = load.wait(60)
    assert status == 0, words
    code, found = load.check()
    assert code == 0, found
    print(words.strip(), "|", load.ticks[-1][1], "|", found.strip())


def judge(load, fault, well_until, hurt_at):
    """How the rate went on after a fault, as a line and as bounds."""
    before = load.rate(well_until - BEFORE_S + 1, well_until)
    first = load.first_after("ok", hurt_at)
    half = next((after for after in range(0, AFTER_S - 1)
                 if load.rate(hurt_at + after, hurt_at + after + 1) >= before / 2), None)
    print(f"\n{fault}: {before:.0f}/s before, first write after {first or -1:.2f} s, longest pause "
          f"{load.longest_without_ok(hurt_at):.2f} s, half the rate after {half} s, {load.rate(hurt_at + 1, hurt_at + AFTER_S):.0f}/s after it")
    assert first is not None and first <= FIRST_WRITE_S
    assert half is not None and half <= HALF_RATE_S


@pytest.mark.parametrize("node", (1, 2, 3) if LONG else (1,))
@pytest.mark.parametrize("fault, healing", [("kill", "start"), ("pause", "resume")])
def test_one_node_fails_and_comes_back(load, fault, healing, node):
    run = load(seconds=BEFORE_S + AFTER_S + 8)
    run.wait_for("ok", 1)
    time.sleep(BEFORE_S)
    well_until = time.monotonic()
    cluster(fault, node)
    hurt_at = time.monotonic()
    time.sleep(AFTER_S)
    cluster(healing, node)
    expect_whole(run)
    judge(run, f"{fault} {node}", well_until, hurt_at)


@pytest.mark.parametrize("fault", ["kill", "pause"])
def test_two_nodes_down_no_call_is_left_without_an_answer(load, fault):
    """Nothing can be written, and everybody is told so in time; all is well when they are back, with the same clients."""
    run = load()
    run.wait_for("ok", 200)
    for node in (2, 3):
        cluster(fault, node)
    hurt_at = time.monotonic()
    time.sleep(2 * DEADLINE_MS / 1000 + 1)
    # What was on its way may still end well; a deadline later nothing can.
    late = hurt_at + DEADLINE_MS / 1000
    assert run.count("ok") == run.count("ok", late) and run.count("conflict") == run.count("conflict", late)
    refused = sum(run.count(kind) - run.count(kind, hurt_at) for kind in ("unavailable", "unknown", "unread"))
    assert refused > 0
    for node in (2, 3):
        cluster("start" if fault == "kill" else "resume", node)
    back_at = time.monotonic()
    run.wait_for("ok", 500)
    print(f"\n{fault} of two: {refused} calls refused, the first OK {run.first_after('ok', back_at):.2f} s after they were back")
    run.process.terminate()
    expect_whole(run)


def test_rolling_restart_fails_nothing_that_can_be_repeated(load):
    """Each node in turn is restarted in good order, and no client notices: each write and read ends well at its first call."""
    run = load(settles=1)
    run.wait_for("ok", 200)
    for node in nodes.NODES:
        cluster("restart", node)
        run.wait_for("ok", 50)
    run.process.terminate()
    expect_whole(run)
    last = run.ticks[-1][1]
    print(f"\nrolling restart: {last}")
    assert last["unread"] == 0 and last["unavailable"] == 0 and last["unknown"] == 0


@pytest.mark.skipif(not LONG, reason="100,000 operations are for --long")
def test_a_hundred_thousand_operations_under_all_faults(load):
    run = load(ops=100_000 // 32 + 1)
    run.wait_for("ok", 100)
    faults = 0
    while run.process.poll() is None:
        node = nodes.NODES[faults % 3]
        hurt, healing = (("kill", "start"), ("pause", "resume"), ("restart", None))[faults // 3 % 3]
        cluster(hurt, node)
        time.sleep(5)
        if healing:
            cluster(healing, node)
        time.sleep(5)
        faults += 1
    print(f"\n{faults} faults")
    expect_whole(run)
