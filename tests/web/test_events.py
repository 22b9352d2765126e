"""Events over HTTP: the head, the hand-over from the HTTP server, limits, leaving and stopping. (What is sent and when:
events_test.c.)"""
import json
import socket
import time

import pytest


class Watcher:
    """A connection that asked for /events, and its answer as it comes."""

    def __init__(self, server, topic="a", *headers, version="1.1"):
        self.client = server.connect()
        lines = [f"GET /events?topic={topic} HTTP/{version}", "Host: test", *headers]
        self.client.send("\r\n".join(lines).encode() + b"\r\n\r\n")
        self.code = int(self.client.stream.readline().split()[1])
        self.fields = {}
        while (line := self.client.stream.readline()) not in (b"\r\n", b""):
            name, value = line.decode().rstrip("\r\n").split(": ", 1)
            assert name.lower() not in self.fields
            self.fields[name.lower()] = value

    def line(self):
        return self.client.stream.readline().decode().rstrip("\n")

    def event(self):
        """The next event's id and data; comments are skipped."""
        while not (line := self.line()).startswith("id: "):
            assert line == "" or line.startswith(("retry: ", ":")), line
        data = self.line()
        assert data.startswith("data: ") and self.line() == ""
        return int(line[4:]), json.loads(data[6:])


def change(server, topic="a"):
    with server.connect() as client:
        assert client.ask("POST", f"/change?topic={topic}").code == 200


def eventually(condition):
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def watchers(server):
    return server.metric("ostraka_events_watchers")


def test_a_watcher_gets_a_head_the_state_and_changes(start):
    server = start()
    watcher = Watcher(server)
    assert watcher.code == 200
    assert watcher.fields["content-type"] == "text/event-stream"
    assert watcher.fields["cache-control"] == "no-store" and watcher.fields["x-accel-buffering"] == "no"
    assert watcher.fields["connection"] == "close" and "content-length" not in watcher.fields
    assert watcher.fields["x-content-type-options"] == "nosniff" and watcher.fields["x-more"] == "yes"
    assert len(watcher.fields["x-request-id"]) == 32 and watcher.fields["date"].endswith(" GMT")
    retry = watcher.line()
    assert retry.startswith("retry: ") and 2000 <= int(retry[7:]) < 5000
    first, data = watcher.event()
    assert data == {"topic": "a", "changes": 0}
    change(server)
    second, data = watcher.event()
    assert data == {"topic": "a", "changes": 1} and second > first
    assert watcher.line() == ":" and watcher.line() == ""


def test_each_comes_back_after_a_time_of_its_own(server):
    assert len({Watcher(server).line() for _ in range(10)}) > 5


@pytest.mark.parametrize("version", ["1.1", "1.0"])
def test_both_versions_of_http(server, version):
    assert Watcher(server, version=version).event()[1]["topic"] == "a"


def test_coming_back_with_a_last_event_id_gives_the_state(server):
    last, data = Watcher(server, "again").event()
    assert Watcher(server, "again", f"Last-Event-ID: {last}").event()[1] == data


def test_head_opens_no_stream(server):
    with server.connect() as client:
        answer = client.ask("HEAD", "/events?topic=x")
        assert (answer.code, answer.header("content-type")) == (200, "text/event-stream")
        assert client.get("/page").code == 200


def test_an_error_after_all_gives_the_place_back(start):
    server = start(watchers=2)
    for _ in range(5):
        assert server.get("/events?topic=a&fail=on").code == 409
        assert server.get("/events?topic=").code == 400
    first, second = Watcher(server), Watcher(server)
    assert (first.code, second.code) == (200, 200)
    assert server.get("/events?topic=a", "Accept: application/json").code == 503
    second.client.close()
    eventually(lambda: watchers(server) == 1)
    assert Watcher(server).code == 200


def test_watchers_of_one_address_are_bounded(start):
    server = start(trusted_proxies="127.0.0.1", watchers_per_address=2)
    alice = [Watcher(server, "a", "X-Forwarded-For: 192.0.2.1") for _ in range(3)]
    assert [each.code for each in alice] == [200, 200, 429]
    assert Watcher(server, "a", "X-Forwarded-For: 192.0.2.2").code == 200
    assert server.metric("ostraka_events_refused_total") == 1


def test_watchers_do_not_count_as_connections(start):
    server = start(connections=20, watchers=200)
    crowd = [Watcher(server, f"t{i % 5}") for i in range(100)]
    assert all(each.code == 200 for each in crowd)
    eventually(lambda: watchers(server) == 100)
    assert server.metric("ostraka_http_connections") < 20
    for each in crowd:
        assert each.event()[1]["changes"] == 0
    change(server, "t3")
    for each in crowd[3::5]:
        assert each.event()[1]["changes"] == 1
    for each in crowd:
        each.client.close()
    eventually(lambda: watchers(server) == 0)


def test_a_watcher_is_not_cut_as_idle_or_slow(start):
    server = start(idle_seconds=1, request_seconds=1)
    watcher = Watcher(server)
    watcher.event()
    time.sleep(3)
    change(server)
    assert watcher.event()[1]["changes"] == 1


def test_leaving_is_noticed(start):
    server = start()
    polite, rude = Watcher(server), Watcher(server)
    eventually(lambda: watchers(server) == 2)
    polite.client.socket.shutdown(socket.SHUT_WR)
    eventually(lambda: watchers(server) == 1)
    rude.client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    rude.client.close()
    eventually(lambda: watchers(server) == 0)


def test_a_watcher_is_one_log_line(start):
    server = start()
    watcher = Watcher(server)
    watcher.event()
    eventually(lambda: [line for line in server.log() if line.get("id") == watcher.fields["x-request-id"]])
    (line,) = [line for line in server.log() if line.get("id") == watcher.fields["x-request-id"]]
    assert (line["path"], line["status"], line["outcome"]) == ("/events", 200, "watching")


def test_a_request_behind_the_stream_is_not_answered(start):
    server = start()
    with server.connect() as client:
        client.send(b"GET /events?topic=a HTTP/1.1\r\nHost: a\r\n\r\nGET /page HTTP/1.1\r\nHost: a\r\n\r\n")
        received = b""
        while b"data: " not in received:
            received += client.socket.recv(65536)
        assert received.count(b"HTTP/1.1") == 1


def test_a_stop_closes_watchers_after_requests(start):
    server = start()
    watcher = Watcher(server)
    watcher.event()
    server.begin_stop()
    while watcher.client.stream.readline():
        pass
    server.end()


def test_watchers_come_and_go_under_load(start):
    server = start()
    for turn in range(30):
        crowd = [Watcher(server, f"t{i % 3}") for i in range(10)]
        change(server, f"t{turn % 3}")
        assert server.get("/page").code == 200
        for each in crowd[::2]:
            each.event()
        for each in crowd:
            each.client.close()
    eventually(lambda: watchers(server) == 0)
    eventually(lambda: server.metric("ostraka_events_topics") == 0)
