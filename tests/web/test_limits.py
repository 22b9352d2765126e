"""Slow, idle and many clients: each is cut at its deadline, and others do not notice. Deadlines are short here."""
import contextlib
import os
import signal
import socket
import threading
import time

import pytest

SLACK = 3  # the tick of connections.h, and a machine that is busy with other tests


def seconds_until_closed(client, limit=15):
    """How long the server leaves the connection open, seen from now."""
    started = time.monotonic()
    client.socket.settimeout(limit)
    assert client.is_closed()
    return time.monotonic() - started


class Dribblers:
    """Connections on each of which one byte goes out at a time, all from one thread; remembers when each was closed."""

    def __init__(self, server, count, head, rest, pause=0.1):
        self.sockets = [socket.create_connection(server.address) for _ in range(count)]
        self.started = time.monotonic()
        self.ends = {}
        for each in self.sockets:
            each.sendall(head)
            each.setblocking(False)
        self.rest, self.pause = rest, pause
        self.thread = threading.Thread(target=self.dribble)
        self.thread.start()

    def send_one(self, each, byte):
        try:
            each.send(byte)
            if each.recv(4096) == b"":
                raise ConnectionError
        except BlockingIOError:
            pass
        except OSError:
            self.ends[each] = time.monotonic() - self.started

    def dribble(self):
        at = 0
        while len(self.ends) < len(self.sockets) and time.monotonic() - self.started < 15:
            for each in self.sockets:
                if each not in self.ends:
                    self.send_one(each, self.rest[at % len(self.rest):][:1])
            at += 1
            time.sleep(self.pause)

    def join(self):
        self.thread.join()
        for each in self.sockets:
            each.close()
        return [self.ends.get(each, 99) for each in self.sockets]


DRIBBLES = {
    "request line": (b"G", b"x"),
    "header": (b"GET /page HTTP/1.1\r\nHost: a\r\nX-Slow: ", b"y"),
    "many headers": (b"GET /page HTTP/1.1\r\nHost: a\r\n", b"a: b\r\n"),
    "body": (b"POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n", b"z"),
    "chunks": (b"POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nz\r\n"),
}


@pytest.mark.parametrize("head,rest", DRIBBLES.values(), ids=DRIBBLES.keys())
def test_a_dribbling_client_is_cut_at_the_total_deadline(start, head, rest):
    server = start(request_seconds=1, idle_seconds=60)
    ends = Dribblers(server, 5, head, rest).join()
    assert 1 <= min(ends) and max(ends) < 1 + SLACK
    assert server.metric('ostraka_http_connections_cut_total{reason="slow"}') == 5


def test_a_dribbler_on_a_used_connection_is_cut_too(start):
    server = start(request_seconds=1, idle_seconds=60)
    with server.connect() as client:
        assert client.get("/page").code == 200
        time.sleep(1.2)
        started = time.monotonic()
        while time.monotonic() - started < 10:
            try:
                client.send(b"G")
            except OSError:
                break
            time.sleep(0.1)
        assert time.monotonic() - started < 1 + 2 + SLACK


def test_a_slow_handler_and_a_slow_reader_are_cut(start):
    server = start(request_seconds=1)
    with server.connect() as handler, server.connect() as reader:
        handler.send(b"GET /slow?ms=3000 HTTP/1.1\r\nHost: a\r\n\r\n")
        reader.send(b"GET /large?bytes=90000000 HTTP/1.1\r\nHost: a\r\n\r\n")
        time.sleep(1 + SLACK / 2)
        assert handler.is_closed()
        size = 0
        try:
            while piece := reader.socket.recv(1 << 20):
                size += len(piece)
        except ConnectionError:
            pass
        assert size < 90000000
    server.wait_for_log(lambda line: line.get("outcome") == "cut" and line["path"] == "/large")


def test_a_thread_that_is_held_up_gets_no_newcomers(start):
    server = start(web_threads=2)
    with server.connect() as slow:
        slow.send(b"GET /slow?ms=1500 HTTP/1.1\r\nHost: a\r\n\r\n")
        server.wait_for_sleeper()
        time.sleep(0.1)
        began = time.monotonic()
        for _ in range(20):
            assert server.get("/page").code == 200
        assert time.monotonic() - began < 1
        assert slow.answer().body == b"slept\n"


def test_a_client_that_asks_much_at_once_leaves_others_their_turn(start):
    server = start(web_threads=1)
    with server.connect() as greedy, server.connect() as other:
        assert other.get("/page").code == 200
        greedy.send(b"GET /slow?ms=30 HTTP/1.1\r\nHost: a\r\n\r\n" * 40)
        server.wait_for_sleeper()
        began = time.monotonic()
        assert other.get("/page").code == 200
        assert time.monotonic() - began < 0.6, "it waited for all of them"
        assert [greedy.answer().body for _ in range(40)] == [b"slept\n"] * 40


def test_a_lone_end_of_a_line_is_no_request(start):
    server = start(stop_seconds=20)
    with server.connect() as client:
        client.send(b"\r")
        time.sleep(0.2)
        client.send(b"\n")
        time.sleep(0.2)
        began = time.monotonic()
        server.begin_stop()
        server.end()
        assert time.monotonic() - began < 5


def test_a_refused_connection_does_nothing(start):
    server = start(connections=16)
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(server.connect()) for _ in range(16)]
        assert all(client.get("/page").code == 200 for client in clients)
        os.kill(server.process.pid, signal.SIGSTOP)
        one_more = stack.enter_context(server.connect())
        one_more.send(b"POST /save?ms=1 HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n")
        os.kill(server.process.pid, signal.SIGCONT)
        with contextlib.suppress(ConnectionResetError):
            assert one_more.is_closed()
        assert clients[0].get("/page").code == 200
    server.begin_stop()
    server.end()
    assert "/save" not in server.log_path.read_text()


def test_idle_connections_are_cut_before_and_after_a_request(start):
    server = start(request_seconds=30, idle_seconds=1)
    with server.connect() as silent, server.connect() as used:
        assert used.get("/page").code == 200
        assert 0.7 < seconds_until_closed(silent) < 1 + SLACK
        assert seconds_until_closed(used) < SLACK
    assert server.metric('ostraka_http_connections_cut_total{reason="idle"}') == 2


def test_an_active_connection_outlives_both_deadlines(start):
    server = start(request_seconds=1, idle_seconds=1)
    with server.connect() as client:
        for _ in range(12):
            assert client.get("/page").code == 200
            time.sleep(0.25)


def test_crowds_of_idle_and_dribbling_clients_do_not_disturb_others(start):
    server = start(request_seconds=3, idle_seconds=20)
    # Each asks at once: on a busy machine the last of them connects when the first has had its 3 seconds.
    idle = [server.connect().send(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n") for _ in range(2000)]
    for client in idle:
        assert client.answer().code == 200
    crowds = [Dribblers(server, 50, *DRIBBLES[kind], pause=0.5) for kind in ("header", "body")]
    slowest = 0
    with server.connect() as client:
        for _ in range(300):
            started = time.monotonic()
            assert client.get("/page").code == 200
            slowest = max(slowest, time.monotonic() - started)
        assert len(client.get("/page").body) == 4096
        assert server.metric("ostraka_http_connections") > 2000
    for crowd in crowds:
        ends = crowd.join()
        assert max(ends) < 3 + SLACK and min(ends) >= 3
    assert slowest < 1
    assert idle[0].get("/page").code == idle[-1].get("/page").code == 200  # still there
    for client in idle:
        client.close()


# ---- How many ----

def test_connections_above_the_total_are_closed(start):
    server = start(connections=16)
    clients = [server.connect() for _ in range(16)]
    for client in clients:
        assert client.get("/page").code == 200
    with server.connect() as one_more:
        assert one_more.is_closed()
    clients[0].close()
    for _ in range(100):  # the place is free again, as soon as the server has noticed
        with server.connect() as next_one:
            try:
                assert next_one.get("/page").code == 200
                break
            except OSError:
                time.sleep(0.05)
    else:
        pytest.fail("the place of a closed connection was not given away")
    for client in clients:
        client.close()


def test_connections_of_loopback_are_not_bounded_by_address(start):
    """Those of others are: connections_test.c."""
    server = start(connections_per_address=3)
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(server.connect()) for _ in range(10)]
        assert all(client.get("/page").code == 200 for client in clients)
    assert server.metric('ostraka_http_connections_cut_total{reason="address"}') == 0


def test_listens_on_ipv6(start):
    if not socket.has_ipv6:
        pytest.skip("no IPv6")
    try:
        server = start(listen="[::1]:0")
    except RuntimeError as error:
        pytest.skip(f"no IPv6 here: {error}")
    server.address = ("::1", server.address[1])
    assert server.logged(server.get("/page"))[0]["address"] == "::1"


@pytest.mark.parametrize("settings,words", [
    ({"listen": "nonsense"}, "must end with a colon and a port"), ({"listen": "::1:80"}, "brackets"),
    ({"listen": "127.0.0.1:99999"}, "0 to 65535"), ({"listen": "192.0.2.1:0"}, "cannot serve on 192.0.2.1"),
    ({"trusted_proxies": "1.2.3.4, proxy"}, '"proxy" is no address'), ({"connections": 1000000}, "open files")])
def test_settings_that_cannot_work_are_refused_in_words(start, settings, words):
    with pytest.raises(RuntimeError, match=words):
        start(**settings)


def test_an_address_in_use_is_refused_in_words(server, start):
    with pytest.raises(RuntimeError, match="Address already in use"):
        start(listen=f"127.0.0.1:{server.address[1]}")
