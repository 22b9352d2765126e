"""Bodies: nobody's is waited for who is not admitted by the head, and what is held of all of them has bounds."""
import contextlib
import time

import pytest

LARGE = 16 << 20
JSON = "Content-Type: application/json"
HELD = "ostraka_http_body_bytes"


def head(target, *headers, size=LARGE, method="POST"):
    length = [f"Content-Length: {size}"] if size is not None else ["Transfer-Encoding: chunked"]
    return "\r\n".join([f"{method} {target} HTTP/1.1", "Host: localhost", *length, *headers]).encode() + b"\r\n\r\n"


# ---- Admission ----

@pytest.mark.parametrize("method,target,headers,code", [
    ("PUT", "/api/mine/list", [JSON], 401), ("PUT", "/api/mine/list", [JSON, "Cookie: session=nobody"], 403),
    ("POST", "/mine/body", ["Accept: application/json"], 401), ("POST", "/mine/body", [], 303),
    ("POST", "/mine/body", ["Cookie: session=nonsense"], 303)])
@pytest.mark.parametrize("size", [LARGE, None])
def test_a_body_is_not_waited_for_before_its_sender_is_admitted(server, method, target, headers, code, size):
    with server.connect() as client:
        assert client.send(head(target, *headers, size=size, method=method)).answer().code == code
        assert client.is_closed()
    with server.connect() as client:
        expects = head(target, *headers, "Expect: 100-continue", size=size, method=method)
        assert client.send(expects).answer().code == code, "it was asked to go on"
        assert client.is_closed()
    assert server.metric(HELD) == 0


def test_a_body_that_came_with_its_head_leaves_the_connection_open(server):
    with server.connect() as client:
        assert client.send(head("/api/mine/list", JSON, size=2, method="PUT") + b"{}").answer().code == 401
        assert client.get("/page").code == 200


def test_who_is_admitted_may_go_on(server):
    with server.connect() as client:
        client.send(head("/mine/body", "Cookie: session=ann", "Expect: 100-continue", size=100000))
        assert client.answer().code == 100
        assert client.send(b"x" * 100000).answer().body == b"100000"
        assert client.get("/page").code == 200


def test_who_is_logged_out_while_the_body_is_on_its_way_is_not_admitted(server):
    with server.connect() as client:
        client.send(head("/mine/body", "Cookie: session=once", size=2) + b"x")
        time.sleep(1.2)
        answer = client.send(b"x").answer()
        assert answer.code == 403 and b"nobody" in answer.body


# ---- Memory ----

def from_address(number):
    return f"X-Forwarded-For: 203.0.{number}.7"


def test_what_is_held_of_bodies_is_bounded_in_all_and_for_each_address(start):
    server = start(bodies_bytes="1M", trusted_proxies="127.0.0.1")
    share, ann = (1 << 20) // 8, "Cookie: session=ann"

    def begin(stack, number, size=share, what=head):
        client = stack.enter_context(server.connect())
        return client.send(what("/mine/body", ann, from_address(number), size=size))

    with contextlib.ExitStack() as stack:
        senders = [begin(stack, number) for number in range(8)]
        server.wait_for_metric(HELD, 1 << 20)
        refused = begin(stack, 8, 1).answer()
        assert refused.code == 503 and b"being sent to us" in refused.body
        assert senders[0].send(b"x" * share).answer().body == b"%d" % share
        server.wait_for_metric(HELD, 7 << 17)
        refused = begin(stack, 3, 1).answer()
        assert refused.code == 429 and b"your network address" in refused.body
        assert begin(stack, 8, 1).send(b"x").answer().code == 200
        for client in senders[1:]:
            client.close()
        server.wait_for_metric(HELD, 0)
        # One that is larger than a share is taken as long as its address has no other; one in chunks counts as the most that it may become.
        large = begin(stack, 1, 1 << 20)
        server.wait_for_metric(HELD, 1 << 20)
        large.close()
        server.wait_for_metric(HELD, 0)
        begin(stack, 2, None)
        server.wait_for_metric(HELD, LARGE)


def test_a_network_of_networks_has_four_shares(start):
    server = start(bodies_bytes="1M", trusted_proxies="127.0.0.1")
    share = (1 << 20) // 8
    with contextlib.ExitStack() as stack:
        for number in range(5):
            client = stack.enter_context(server.connect())
            client.send(head("/mine/body", "Cookie: session=ann", f"X-Forwarded-For: 2001:db8:1:{number}00::1", size=share))
            if number < 4:
                server.wait_for_metric(HELD, (number + 1) * share)
        assert client.answer().code == 429


def test_json_of_more_values_than_the_route_can_hold_is_not_built(server):
    with server.connect() as client:
        body = b'{"list": [' + b"{}," * 3000 + b"{}]}"
        answer = client.ask("PUT", "/api/mine/list", [JSON, "Cookie: session=ann"], body)
        assert answer.code == 413 and "values" in answer.json()["error"]["rule"]
        answer = client.ask("PUT", "/api/mine/list", [JSON, "Cookie: session=ann"], b'{"list": [' + b'"a",' * 10 + b'"a"]}')
        assert (answer.code, answer.json()["error"]["field"]) == (400, "list"), "who is near the bound is told which"


# ---- Time ----

def test_a_slow_body_is_cut_long_before_its_route_s_time_is_over(start):
    server = start(body_seconds=1, request_seconds=60)
    with server.connect(timeout=20) as slow, server.connect() as steady:
        began = time.monotonic()
        slow.send(head("/mine/body", "Cookie: session=ann"))
        steady.send(head("/mine/body", "Cookie: session=ann", size=40 * 8192))
        for _ in range(20):
            with contextlib.suppress(ConnectionError):
                slow.send(b"x")
            steady.send(b"x" * 2 * 8192)
            time.sleep(0.1)
        assert steady.answer().body == b"%d" % (40 * 8192)
        assert slow.is_closed() and time.monotonic() - began < 6
    line = server.wait_for_log(lambda line: line.get("path") == "/mine/body" and line.get("outcome") == "cut")
    assert line["status"] == 0
    server.wait_for_metric(HELD, 0)


def test_a_request_that_comes_in_when_its_connection_is_cut_is_not_run(start):
    """The only thread is held up: the request waits in the kernel, and its connection is cut as idle meanwhile."""
    server = start(web_threads=1, idle_seconds=1)
    with server.connect() as late, server.connect() as busy:
        busy.send(b"GET /slow?ms=2500 HTTP/1.1\r\nHost: a\r\n\r\n")
        server.wait_for_sleeper()
        late.send(b"POST /change?topic=late HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n")
        assert busy.answer().body == b"slept\n"
        assert late.is_closed()
    server.end()
    assert not [line for line in server.log() if line.get("path") == "/change"]
