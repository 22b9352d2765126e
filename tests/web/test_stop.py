"""Stopping and maintenance: what runs finishes, what is new is told."""
import socket
import time


def refused(server):
    try:
        socket.create_connection(server.address, timeout=2).close()
        return False
    except OSError:
        return True


def begin_body(client, path):
    """Half of a body, to a server that has read the head and said so."""
    client.send(b"POST " + path + b" HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 6\r\n\r\n")
    assert client.answer().code == 100
    client.send(b"abc")


def test_a_running_request_finishes_and_idle_connections_are_closed(start):
    server = start(stop_seconds=10)
    with server.connect() as idle, server.connect() as busy, server.connect() as silent:
        assert idle.get("/page").code == 200
        busy.send(b"GET /slow?ms=1500 HTTP/1.1\r\nHost: a\r\n\r\n")
        server.wait_for_sleeper()
        server.begin_stop()
        started = time.monotonic()
        assert idle.is_closed() and silent.is_closed()
        assert refused(server)
        assert time.monotonic() - started < 1, "idle connections waited for the busy one"
        answer = busy.answer()
        assert (answer.code, answer.body) == (200, b"slept\n")
        assert busy.is_closed()
    server.end()


def test_a_body_that_is_being_sent_may_finish(start):
    server = start()
    with server.connect() as client:
        begin_body(client, b"/small")
        server.begin_stop()
        time.sleep(0.3)
        assert client.send(b"def").answer().json()["size"] == 6
    server.end()


def test_a_request_behind_a_running_one_gets_503_and_close(start):
    server = start()
    with server.connect() as client:
        client.send(b"GET /slow?ms=1000 HTTP/1.1\r\nHost: a\r\n\r\nGET /page HTTP/1.1\r\nHost: a\r\n\r\n")
        server.wait_for_sleeper()
        server.begin_stop()
        assert client.answer().code == 200
        answer = client.answer()
        assert (answer.code, answer.header("connection").lower()) == (503, "close")
        assert b"Nothing was changed" in answer.body
        assert client.is_closed()
    server.end()


def test_healthz_says_stopping(start):
    server = start()
    with server.connect() as client:
        client.send(b"GET /slow?ms=1000 HTTP/1.1\r\nHost: a\r\n\r\nGET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
        server.wait_for_sleeper()
        server.begin_stop()
        assert client.answer().code == 200
        answer = client.answer()
        assert (answer.code, answer.json()["status"]) == (503, "stopping")
    server.end()


def test_a_client_that_never_finishes_is_cut_after_stop_seconds(start):
    server = start(stop_seconds=1)
    with server.connect() as client:
        begin_body(client, b"/body")
        server.begin_stop()
        started = time.monotonic()
        assert client.is_closed()
        assert 0.7 < time.monotonic() - started < 3
    server.end()
    (line,) = [line for line in server.log() if line["event"] == "stop_cuts_requests"]
    assert (line["level"], line["requests"]) == ("warning", 1)


def test_a_stop_with_nothing_to_do_is_quick(start):
    server = start(stop_seconds=100)
    assert server.get("/page").code == 200
    started = time.monotonic()
    server.begin_stop()
    server.end()
    assert time.monotonic() - started < 2


def test_maintenance_refuses_with_a_message_and_lets_health_through(start):
    server = start()
    assert server.get("/page").code == 200
    server.command("maintenance We move to a new disk until 14:00 <b>")
    page = server.get("/page")
    assert page.code == 503 and int(page.header("retry-after")) > 0
    assert b"We move to a new disk until 14:00 &lt;b&gt;" in page.body
    assert b"Nothing was changed" in page.body
    error = server.get("/api/status?n=0").json()["error"]
    assert error["status"] == "maintenance" and error["rule"].startswith("We move")
    assert server.get("/nowhere").code == 503
    health = server.get("/healthz")
    assert (health.code, health.json()["status"]) == (200, "maintenance")
    assert server.metric("ostraka_maintenance") == 1
    assert server.get("/robots.txt").code == 200
    server.command("open")
    assert server.get("/page").code == 200
    assert server.get("/healthz").json()["status"] == "ok"
