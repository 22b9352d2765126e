"""What a program that uses greenstalk expects of its server. Run by run.py, which says in SERVER where that is."""
import contextlib
import os
import time
import uuid

import greenstalk
import pytest

WHERE = os.environ["SERVER"]
ADDRESS = WHERE if WHERE.startswith("/") else (WHERE.rpartition(":")[0], int(WHERE.rpartition(":")[2]))

# All that 1.12 has, in its order; later ones may have more.
STATS = """current-jobs-urgent current-jobs-ready current-jobs-reserved current-jobs-delayed current-jobs-buried cmd-put cmd-peek cmd-peek-ready
    cmd-peek-delayed cmd-peek-buried cmd-reserve cmd-reserve-with-timeout cmd-delete cmd-release cmd-use cmd-watch cmd-ignore cmd-bury cmd-kick
    cmd-touch cmd-stats cmd-stats-job cmd-stats-tube cmd-list-tubes cmd-list-tube-used cmd-list-tubes-watched cmd-pause-tube job-timeouts
    total-jobs max-job-size current-tubes current-connections current-producers current-workers current-waiting total-connections pid version
    rusage-utime rusage-stime uptime binlog-oldest-index binlog-current-index binlog-records-migrated binlog-records-written binlog-max-size
    draining id hostname os platform""".split()


@pytest.fixture
def tube():
    return f"tube-{uuid.uuid4().hex}"


@pytest.fixture
def connect(tube):
    clients = []

    def make(**options):
        clients.append(greenstalk.Client(ADDRESS, **{"use": tube, "watch": tube, **options}))
        return clients[-1]

    yield make
    for client in clients:
        client.close()


@pytest.fixture
def client(connect):
    return connect()


def test_a_job_is_put_reserved_and_deleted(client):
    id = client.put("work")
    job = client.reserve(timeout=5)
    assert (job.id, job.body) == (id, "work")
    client.delete(job)
    for call in (client.delete, client.peek, client.stats_job, client.reserve_job, client.kick_job):
        with pytest.raises(greenstalk.NotFoundError):
            call(id)


def test_ids_grow(client):
    ids = [client.put(str(i)) for i in range(20)]
    assert ids == sorted(set(ids))


@pytest.mark.parametrize("body", [b"", b"\r\n", b"\0\xff" * 100, bytes(range(256)), b"x" * 65535], ids=len)
def test_any_bytes_are_a_body(connect, body):
    client = connect(encoding=None)
    client.put(body)
    job = client.reserve(timeout=5)
    assert job.body == body
    client.delete(job)


def test_text_beyond_ascii(client):
    client.put("Zuckerwürfel ☕")
    assert client.reserve(timeout=5).body == "Zuckerwürfel ☕"


def test_the_smallest_priority_goes_first_then_the_oldest(client):
    for priority, body in [(2**32 - 1, "last"), (7, "b"), (0, "first"), (7, "c")]:
        client.put(body, priority=priority)
    assert [client.reserve(timeout=5).body for _ in range(4)] == ["first", "b", "c", "last"]


def test_a_delayed_job_comes_after_its_delay_and_not_before(client):
    began = time.monotonic()
    id = client.put("later", delay=1)
    assert client.stats_job(id)["state"] == "delayed"
    with pytest.raises(greenstalk.TimedOutError):
        client.reserve(timeout=0)
    assert client.reserve(timeout=10).id == id
    assert time.monotonic() - began >= 0.999


def test_a_waiting_reserve_is_woken_by_a_put(connect):
    worker, producer = connect(), connect()
    worker._sock.sendall(b"reserve-with-timeout 10\r\n")
    while producer.stats_tube(producer.using())["current-waiting"] == 0:
        time.sleep(0.01)
    id = producer.put("work")
    assert worker._reader.readline() == b"RESERVED %d 4\r\n" % id
    assert worker._read_chunk(4) == b"work"


def test_a_released_job_comes_again_with_its_new_priority(client):
    first, second = client.put("a", priority=1), client.put("b", priority=2)
    job = client.reserve(timeout=5)
    assert job.id == first
    client.release(job, priority=3)
    assert [client.reserve(timeout=5).id, client.reserve(timeout=5).id] == [second, first]
    stats = client.stats_job(first)
    assert (stats["pri"], stats["releases"], stats["reserves"]) == (3, 1, 2)


def test_a_job_can_be_released_with_a_delay(client):
    client.put("a")
    client.release(client.reserve(timeout=5), delay=1)
    with pytest.raises(greenstalk.TimedOutError):
        client.reserve(timeout=0)
    assert client.peek_delayed().body == "a"
    assert client.reserve(timeout=10).body == "a"


def test_buried_jobs_wait_for_a_kick_and_the_oldest_goes_first(client):
    ids = [client.put(str(i)) for i in range(3)]
    for _ in ids:
        client.bury(client.reserve(timeout=5))
    assert client.peek_buried().id == ids[0]
    assert client.stats_tube(client.using())["current-jobs-buried"] == 3
    assert client.kick(2) == 2
    assert [client.reserve(timeout=5).id for _ in range(2)] == ids[:2]
    client.kick_job(ids[2])
    assert client.reserve(timeout=5).id == ids[2]


def test_a_kick_moves_delayed_jobs_when_nothing_is_buried(client):
    id = client.put("later", delay=3600)
    assert client.kick(10) == 1
    assert client.reserve(timeout=5).id == id
    assert client.kick(10) == 0


def test_a_job_of_another_connection_is_not_touched(connect):
    owner, other = connect(), connect()
    owner.put("work")
    job = owner.reserve(timeout=5)
    for call in (other.delete, other.release, other.bury, other.touch):
        with pytest.raises(greenstalk.NotFoundError):
            call(job)
    owner.touch(job)
    owner.delete(job)


def test_the_end_of_a_connection_gives_its_jobs_back(connect):
    owner, other = connect(), connect()
    id = owner.put("work")
    owner.reserve(timeout=5)
    owner.close()
    assert other.reserve(timeout=10).id == id
    assert other.stats_job(id)["timeouts"] == 0


def reserved(client):
    """Asked several times: beanstalkd was seen not to wake one that waited when the lease of another ended."""
    for _ in range(9):
        with contextlib.suppress(greenstalk.TimedOutError):
            return client.reserve(timeout=2)
    return client.reserve(timeout=2)


def test_a_lease_that_runs_out_gives_the_job_to_the_next(connect):
    slow, quick = connect(), connect()
    id = slow.put("work", ttr=1)
    job = slow.reserve(timeout=5)
    assert reserved(quick).id == id
    assert quick.stats_job(id)["timeouts"] >= 1
    with pytest.raises(greenstalk.NotFoundError):
        slow.touch(job)


def test_a_waiting_worker_hears_that_its_lease_ends_soon(client):
    client.put("work", ttr=2)
    client.reserve(timeout=5)
    with pytest.raises(greenstalk.DeadlineSoonError):
        client.reserve(timeout=10)


def test_a_job_is_reserved_by_its_id_in_any_waiting_state(client):
    ready, delayed, buried = client.put("r"), client.put("d", delay=3600), client.put("b", priority=0)
    client.bury(client.reserve(timeout=5))
    for id, body in ((ready, "r"), (delayed, "d"), (buried, "b")):
        job = client.reserve_job(id)
        assert (job.id, job.body) == (id, body)
        with pytest.raises(greenstalk.NotFoundError):
            client.reserve_job(id)
        client.delete(job)


def test_peeks_read_and_change_nothing(client):
    for peek in (client.peek_ready, client.peek_delayed, client.peek_buried):
        with pytest.raises(greenstalk.NotFoundError):
            peek()
    id = client.put("work")
    assert client.peek(id).body == client.peek_ready().body == "work"
    assert client.reserve(timeout=5).id == id


def test_tubes_are_watched_and_ignored(connect):
    client = connect(watch=["default"])
    assert client.watching() == ["default"]
    assert client.watch("another") == 2
    assert client.watch("another") == 2
    assert client.ignore("default") == 1
    with pytest.raises(greenstalk.NotIgnoredError):
        client.ignore("another")
    assert client.watching() == ["another"]


def test_tubes_are_there_while_they_are_used(connect, tube):
    client = connect(use=tube, watch="default")
    assert client.using() == tube
    assert {"default", tube} <= set(client.tubes())
    client.use("default")
    assert tube not in client.tubes()
    with pytest.raises(greenstalk.NotFoundError):
        client.stats_tube(tube)


def test_one_worker_watches_several_tubes(connect, tube):
    producers = [connect(use=f"{tube}-{i}", watch="default") for i in range(3)]
    ids = [producer.put("x", priority=9 - i) for i, producer in enumerate(producers)]
    worker = connect(watch=[f"{tube}-{i}" for i in range(3)])
    assert [worker.reserve(timeout=5).id for _ in ids] == ids[::-1]


def test_a_paused_tube_hands_nothing_out(client, tube):
    client.put("work")
    client.pause_tube(tube, 3600)
    stats = client.stats_tube(tube)
    assert (stats["pause"], stats["cmd-pause-tube"]) == (3600, 1)
    assert 3590 <= stats["pause-time-left"] <= 3600
    with pytest.raises(greenstalk.TimedOutError):
        client.reserve(timeout=0)
    client.pause_tube(tube, 0)
    assert client.reserve(timeout=5).body == "work"
    with pytest.raises(greenstalk.NotFoundError):
        client.pause_tube(tube + "-other", 1)


def test_stats_of_a_job(client, tube):
    id = client.put("work", priority=5, delay=0, ttr=77)
    stats = client.stats_job(id)
    assert list(stats) == ["id", "tube", "state", "pri", "age", "delay", "ttr", "time-left", "file", "reserves", "timeouts",
                           "releases", "buries", "kicks"]
    wanted = {"id": id, "tube": tube, "state": "ready", "pri": 5, "delay": 0, "ttr": 77, "time-left": 0, "reserves": 0, "timeouts": 0,
              "releases": 0, "buries": 0, "kicks": 0}
    assert {name: stats[name] for name in wanted} == wanted
    client.reserve(timeout=5)
    stats = client.stats_job(id)
    assert (stats["state"], stats["reserves"]) == ("reserved", 1)
    assert 70 <= stats["time-left"] <= 77


def test_stats_of_a_tube_count_its_jobs(client, tube):
    client.put("urgent", priority=1023)
    client.put("ready", priority=1024)
    client.put("delayed", delay=3600)
    client.delete(client.put("gone"))
    stats = client.stats_tube(tube)
    counts = {"name": tube, "current-jobs-urgent": 1, "current-jobs-ready": 2, "current-jobs-reserved": 0, "current-jobs-delayed": 1,
              "current-jobs-buried": 0, "total-jobs": 4, "current-using": 1, "current-watching": 1, "current-waiting": 0, "cmd-delete": 1}
    assert {name: stats[name] for name in counts} == counts


def test_stats_of_the_server_have_their_names_in_their_order(client):
    before = client.stats()
    client.put("work")
    after = client.stats()
    assert [name for name in after if name in STATS] == STATS
    assert after["cmd-put"] == before["cmd-put"] + 1 and after["total-jobs"] == before["total-jobs"] + 1


def test_a_job_that_is_too_big_is_refused_and_the_connection_goes_on(connect):
    client = connect(encoding=None)
    most = client.stats()["max-job-size"]
    with pytest.raises(greenstalk.JobTooBigError):
        client.put(b"x" * (most + 1))
    id = client.put(b"x" * most)
    assert client.reserve(timeout=5).id == id


@pytest.mark.parametrize("line, word", [
    (b"put 1 2 3", b"BAD_FORMAT"), (b"put a 0 1 1", b"BAD_FORMAT"), (b"use -dash", b"BAD_FORMAT"), (b"use ", b"BAD_FORMAT"),
    (b"use " + b"a" * 201, b"BAD_FORMAT"), (b"delete x", b"BAD_FORMAT"), (b"reserve-with-timeout", b"BAD_FORMAT"),
    (b"stats now", b"BAD_FORMAT"), (b"x" * 300, b"BAD_FORMAT"), (b"kick ", b"BAD_FORMAT"), (b"peek 1 2", b"BAD_FORMAT"),
    (b"use", b"UNKNOWN_COMMAND"), (b"kick", b"UNKNOWN_COMMAND"),
    (b"nonsense", b"UNKNOWN_COMMAND"), (b"", b"UNKNOWN_COMMAND"), (b"Put 0 0 1 1", b"UNKNOWN_COMMAND")], ids=lambda text: repr(text)[:24])
def test_a_bad_line_has_its_error_and_the_connection_goes_on(client, line, word):
    client._sock.sendall(line + b"\r\n")
    assert client._reader.readline() == word + b"\r\n"
    assert client.put("work") > 0


def test_a_body_without_its_end_is_refused(client):
    client._sock.sendall(b"put 0 0 1 4\r\nworkXY")
    assert client._reader.readline() == b"EXPECTED_CRLF\r\n"


def test_commands_sent_together_are_answered_in_their_order(client, tube):
    client._sock.sendall(b"put 0 0 60 1\r\na\r\nput 0 0 60 1\r\nb\r\nreserve\r\nreserve\r\nlist-tube-used\r\n")
    read = client._reader.readline
    ids = [int(read().split()[1]) for _ in range(2)]
    for id, body in zip(ids, (b"a", b"b")):
        assert read() == b"RESERVED %d 1\r\n" % id and read() == body + b"\r\n"
    assert read() == b"USING %s\r\n" % tube.encode()


def test_commands_that_come_a_byte_at_a_time(client):
    for byte in b"put 0 0 60 3\r\nabc\r\n":
        client._sock.sendall(bytes([byte]))
    assert client._reader.readline().startswith(b"INSERTED ")
    assert client.reserve(timeout=5).body == "abc"
