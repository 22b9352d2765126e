"""Requests that must not get through: broken, doubtful or too large ones."""
import time

import pytest


def raw(server, content):
    with server.connect() as client:
        client.send(content)
        answer = client.answer()
        return answer, client.is_closed()


def request(*lines, body=b""):
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def send_much(client, size):
    try:
        client.send(b"x" * size)
    except (BrokenPipeError, ConnectionResetError):
        pytest.fail("the connection was reset while the client was sending")


# ---- Framing ----

DOUBTFUL = {
    "no host": ["GET /page HTTP/1.1"],
    "empty host": ["GET /page HTTP/1.1", "Host:"],
    "two hosts": ["GET /page HTTP/1.1", "Host: a", "Host: b"],
    "the same host twice": ["GET /page HTTP/1.1", "Host: a", "HOST: a"],
    "a host with a slash": ["GET /page HTTP/1.1", "Host: a/b"],
    "length and encoding": ["POST /body HTTP/1.1", "Host: a", "Content-Length: 5", "Transfer-Encoding: chunked"],
    "encoding and length": ["POST /body HTTP/1.1", "Host: a", "Transfer-Encoding: chunked", "Content-Length: 5"],
    "two lengths": ["POST /body HTTP/1.1", "Host: a", "Content-Length: 5", "Content-Length: 6"],
    "the same length twice": ["POST /body HTTP/1.1", "Host: a", "Content-Length: 5", "Content-Length: 5"],
    "a list of lengths": ["POST /body HTTP/1.1", "Host: a", "Content-Length: 5, 5"],
    "a length with a sign": ["POST /body HTTP/1.1", "Host: a", "Content-Length: +5"],
    "a negative length": ["POST /body HTTP/1.1", "Host: a", "Content-Length: -5"],
    "a hexadecimal length": ["POST /body HTTP/1.1", "Host: a", "Content-Length: 0x5"],
    "an empty length": ["POST /body HTTP/1.1", "Host: a", "Content-Length:"],
    "another encoding": ["POST /body HTTP/1.1", "Host: a", "Transfer-Encoding: gzip, chunked"],
    "almost chunked": ["POST /body HTTP/1.1", "Host: a", "Transfer-Encoding: xchunked"],
    "chunked twice": ["POST /body HTTP/1.1", "Host: a", "Transfer-Encoding: chunked", "Transfer-Encoding: chunked"],
    "chunked and identity": ["POST /body HTTP/1.1", "Host: a", "Transfer-Encoding: chunked", "Transfer-Encoding: identity"],
    "encoding in HTTP/1.0": ["POST /body HTTP/1.0", "Host: a", "Transfer-Encoding: chunked"],
    "a space before the colon": ["POST /body HTTP/1.1", "Host: a", "Transfer-Encoding : chunked"],
    "a strange header name": ["GET /page HTTP/1.1", "Host: a", "X(Y): 1"],
    "a NUL in a header": ["GET /page HTTP/1.1", "Host: a", "X: a\x00b"],
    "two NULs in a header": ["GET /page HTTP/1.1", "Host: a", "X: a\x00\x00b"],
    "a NUL in the host": ["GET /page HTTP/1.1", "Host: a\x00b"],
    "a NUL in a header name": ["GET /page HTTP/1.1", "Host: a", "X\x00: 1"],
    "a NUL in the length": ["POST /body HTTP/1.1", "Host: a", "Content-Length: 5\x00 6"],
    "a line that begins with NUL": ["POST /body HTTP/1.1", "Host: a", "\x00X: 1", "Content-Length: 5"],
    "a line of NUL": ["POST /body HTTP/1.1", "Host: a", "\x00", "Content-Length: 5"],
    "a control character in a header": ["GET /page HTTP/1.1", "Host: a", "X: a\x01b"],
    "a folded header": ["GET /page HTTP/1.1", "Host: a", "X: a", " b"],
    "a folded length": ["POST /body HTTP/1.1", "Host: a", "Content-Length: 5", " 6"],
    "a bare line feed": ["GET /page HTTP/1.1", "Host: a\nX: 1"],
    "a bare carriage return": ["GET /page HTTP/1.1", "Host: a\rX: 1"],
    "two types": ["POST /body HTTP/1.1", "Host: a", "Content-Type: a/b", "Content-Type: c/d"],
}


@pytest.mark.parametrize("lines", DOUBTFUL.values(), ids=DOUBTFUL.keys())
def test_a_request_that_two_could_read_differently_is_400_and_closed(server, lines):
    smuggled = b"5\r\nhello\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"
    answer, closed = raw(server, request(*lines, body=smuggled))
    assert answer.code == 400
    assert closed, "a second request was read from the rest"


def test_a_length_beyond_all_numbers_is_refused(server):
    answer, closed = raw(server, request("POST /body HTTP/1.1", "Host: a", "Content-Length: 99999999999999999999"))
    assert answer.code in (400, 413) and closed


@pytest.mark.parametrize("line", [
    "GET /a b HTTP/1.1", "GET  HTTP/1.1", "GET page HTTP/1.1", "GET /%zz HTTP/1.1", "GET /% HTTP/1.1", "GET /%0 HTTP/1.1",
    "GET /%00 HTTP/1.1", "GET /echo?id=%00 HTTP/1.1", "GET /page?x=%g0 HTTP/1.1", "GET /a\x00b HTTP/1.1", "GET /page?\x00 HTTP/1.1",
    "GET\x00 /page HTTP/1.1", "GET  /page HTTP/1.1", "GET /a\x01 HTTP/1.1", "GET /a\x7f HTTP/1.1", "GET /page#x HTTP/1.1", "GET ftp://a/ HTTP/1.1", "GET * HTTP/1.1"])
def test_a_broken_address_is_400(server, line):
    answer, closed = raw(server, request(line, "Host: a"))
    assert answer.code == 400 and closed


@pytest.mark.parametrize("byte", ["\r", "\0", "\x01"])
def test_a_long_address_hides_no_second_request(server, byte):
    smuggled = b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"
    answer, closed = raw(server, request("POST /" + "a" * 8000 + f"{byte}Content-Length:{len(smuggled)}{byte}X: HTTP/1.1", "Host: a",
                                         body=smuggled))
    assert answer.code == 400 and closed


@pytest.mark.parametrize("target", ["http://other/page", "http://a:81/page", "http:///page", "http://user@a/page"])
def test_an_address_of_another_host_than_the_header_names_is_400(server, target):
    answer, closed = raw(server, request(f"GET {target} HTTP/1.1", "Host: a"))
    assert answer.code == 400 and closed
    assert raw(server, request("GET http://A/page HTTP/1.1", "Host: a", "Connection: close"))[0].code == 200


@pytest.mark.parametrize("target,headers", [("/" + "a" * 8000, []), ("/%zz", []), ("/page", ["X: " + "y" * 9000]), ("/page", ["X"]), ("/nowhere", []),
                                            ("/small", []), ("/page/", []), ("/cached?name=a", [])])
def test_no_answer_to_head_has_a_body(server, target, headers):
    with server.connect() as client:
        client.send(request(f"HEAD {target} HTTP/1.1", "Host: a", *headers))
        answer = client.answer(is_head=True)
        assert int(answer.header("content-length")) >= 0
        if answer.header("connection") == "close":
            assert client.is_closed()
        else:
            assert client.get("/page").code == 200
    assert server.logged(answer)[0]["bytes"] == 0 if answer.header("x-request-id") else True


def test_a_head_that_is_broken_off_is_logged(start):
    server = start()
    with server.connect() as client:
        client.send(b"GET /half?secret=1 HTTP/1.1\r\nHost: a\r\nX:")
        time.sleep(0.1)
    server.wait_for_log(lambda line: (line.get("path"), line.get("status"), line.get("outcome")) == ("/half", 0, "cut"))
    assert "secret" not in server.log_path.read_text()


@pytest.mark.parametrize("fault", ["Content-Length: abc", "Content-Length: +3000000", "X"])
def test_who_sends_much_behind_a_doubtful_head_still_gets_the_400(server, fault):
    with server.connect() as client:
        client.send(request("POST /body HTTP/1.1", "Host: a", fault))
        send_much(client, 3000000)
        assert client.answer().code == 400
        assert client.is_closed()


def test_an_answer_that_closes_arrives_whole_with_requests_behind_it(server):
    with server.connect() as client:
        client.send(request("GET /large?bytes=3000000 HTTP/1.1", "Host: a", "Connection: close") +
                    request("GET /page HTTP/1.1", "Host: a") * 3000)
        assert len(client.answer().body) == 3000000
        assert client.is_closed()


@pytest.mark.parametrize("line", ["NONSENSE", "GET /page", "GET /page HTTP/2.0", "GET /page HTTP/9", "GET /page HTTP/1.1x", ""])
def test_a_broken_request_line_gets_no_page(server, line):
    with server.connect() as client:
        client.send(request(line, "Host: a", "Connection: close") + b"\r\n\r\n")
        client.socket.shutdown(1)
        content = client.stream.read()
    assert not content.startswith(b"HTTP/1.1 200")


def test_bytes_that_are_no_http_end_the_connection(server):
    with server.connect() as client:
        client.send(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(range(256)) * 4 + b"\r\n\r\n")
        client.socket.shutdown(1)
        assert not client.stream.read().startswith(b"HTTP/1.1 200")
    assert server.get("/page").code == 200


# ---- Sizes ----

def test_a_long_address_is_414(server):
    assert server.get("/" + "a" * 7998).code == 404
    assert server.get("/" + "a" * 8000).code == 414
    answer, _ = raw(server, b"GET /" + b"a" * 60000 + b" HTTP/1.1\r\nHost: a\r\n\r\n")
    assert answer.code == 414


@pytest.mark.parametrize("size", [8200, 12000, 24000, 60000, 300000])
def test_a_head_over_the_limit_is_431_and_closed(server, size):
    answer, closed = raw(server, request("GET /page HTTP/1.1", "Host: a", "X-Long: " + "y" * size))
    assert answer.code == 431 and closed


def test_a_head_just_below_the_limit_is_answered(server):
    assert server.get("/page", "X-Long: " + "y" * (8 * 1024 - 60)).code == 200
    assert server.get("/page", *(f"X-{i}: {i}" for i in range(100))).code == 200
    assert server.get("/page", "Cookie: a=" + "y" * 3000, *(f"X-{i}: {i}" for i in range(25))).code == 200


def heads_of_all_kinds():
    for size in range(1000, 9000, 450):
        yield ["X-Long: " + "y" * size]
        yield ["Cookie: a=" + "y" * size]
        yield ["Cookie: a=" + "y" * (size // 2), "X-Long: " + "y" * (size // 2)]
        yield ["Cookie: " + "; ".join(f"c{i}=1" for i in range(size // 8))]
        yield [f"X-{i}: 1" for i in range(size // 9)]


@pytest.mark.parametrize("target", ["/page", "/echo/?x=" + "a" * 1900, "/cached?name=a", "/nowhere", "/page?" + "a&" * 60],
                         ids=["page", "redirect", "cached", "nowhere", "fields"])
def test_whatever_a_head_is_made_of_it_is_answered(server, target):
    """One bound for all of it, and an answer on both sides of it."""
    codes = {}
    for headers in heads_of_all_kinds():
        with server.connect() as client:
            answer = client.send(request("GET " + target + " HTTP/1.1", "Host: a", *headers)).answer()
            codes.setdefault(answer.code, []).append(sum(map(len, headers)))
    assert len(codes) == 2 and set(codes) <= {200, 308, 404, 431}, codes


def test_ten_thousand_small_headers_are_refused(server):
    answer, closed = raw(server, request("GET /page HTTP/1.1", "Host: a", *["a:b"] * 10000))
    assert answer.code == 431 and closed


def test_a_body_at_the_limit_is_taken_and_one_over_is_413(server):
    with server.connect() as client:
        assert client.ask("POST", "/small", body=b"1234567890").json() == {"size": 10, "sum": sum(b"1234567890")}
        assert client.ask("POST", "/small", body=b"12345678901").code == 413
        assert client.is_closed()
    with server.connect() as client:
        assert client.ask("POST", "/body", body=b"z" * 2**20).json() == {"size": 2**20, "sum": ord("z") * 2**20}


def test_a_body_over_the_limit_is_413_before_it_is_read(server):
    with server.connect() as client:
        client.send(request("POST /body HTTP/1.1", "Host: a", "Content-Length: 1048577", "Expect: 100-continue"))
        answer = client.answer()  # not a byte of the body was sent, and none is asked for by a 100
        assert answer.code == 413 and answer.header("connection").lower() == "close"
        assert client.is_closed()


def test_expect_100_continue_is_kept_for_bodies_that_fit(server):
    with server.connect() as client:
        client.send(request("POST /small HTTP/1.1", "Host: a", "Content-Length: 3", "Expect: 100-continue"))
        assert client.answer().code == 100
        assert client.send(b"abc").answer().json()["size"] == 3


def test_a_client_that_sends_its_large_body_anyway_still_gets_the_413(server):
    with server.connect() as client:
        client.send(request("POST /body HTTP/1.1", "Host: a", "Content-Length: 20000000"))
        send_much(client, 20000000)
        assert client.answer().code == 413
        assert client.is_closed()


def test_a_body_where_none_is_taken_is_413(server):
    with server.connect() as client:
        assert client.ask("GET", "/page", body=b"x").code == 413
        assert client.is_closed()


def chunks(*sizes):
    return b"".join(b"%x\r\n" % size + b"c" * size + b"\r\n" for size in sizes) + b"0\r\n\r\n"


CHUNKED = ("Host: a", "Transfer-Encoding: chunked")


def test_chunked_bodies_are_taken(server):
    with server.connect() as client:
        client.send(request("POST /small HTTP/1.1", *CHUNKED, body=chunks(3, 4, 3)))
        assert client.answer().json()["size"] == 10
        client.send(request("POST /body HTTP/1.1", *CHUNKED, body=chunks(*[1000] * 1000)))
        assert client.answer().json()["size"] == 1000000


def test_a_chunked_body_is_413_as_soon_as_it_passes_the_limit(server):
    with server.connect() as client:
        client.send(request("POST /small HTTP/1.1", *CHUNKED, "Accept: application/json") + b"b\r\n" + b"c" * 11)
        answer = client.answer()  # the body has no end yet
        assert answer.code == 413
        assert answer.json()["error"] == {"status": "too_large", "field": "body", "rule": "at most 10 bytes",
                                          "request": answer.header("x-request-id")}
        assert answer.header("content-security-policy")
        assert client.is_closed()


def test_what_cannot_be_read_is_answered_as_all_else_and_logged(server):
    broken = {b"NONSENSE\r\n\r\n": 400, b"GET /page HTTP/1.1\r\nHost: a\r\nX\r\n\r\n": 400,
              b"GET /page HTTP/1.1\r\nHost: a\r\nX: " + b"y" * 9000: 431, b"GET /" + b"a" * 9000: 414,
              b"POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n": 400}
    for content, code in broken.items():
        answer, closed = raw(server, content)
        assert (answer.code, closed) == (code, True)
        assert answer.header("content-security-policy") and answer.header("connection") == "close"
        assert answer.header("x-request-id").encode() in answer.body
        (line,) = server.logged(answer)
        assert line["status"] == code


@pytest.mark.parametrize("body", [b"x\r\n", b"-1\r\n", b"3\r\nabcd\r\n", b"ffffffffffffffffff\r\n", b"3 3\r\nabc\r\n"])
def test_a_malformed_chunk_ends_the_connection(server, body):
    answer, closed = raw(server, request("POST /body HTTP/1.1", *CHUNKED, body=body + b"0\r\n\r\n"))
    assert answer.code in (400, 413) and closed


def test_after_all_that_the_server_is_well(server):
    assert server.get("/page").code == 200
    assert server.process.poll() is None
