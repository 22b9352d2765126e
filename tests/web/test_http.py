"""What a well-behaved and a clumsy client see: methods, parameters, errors, headers, logs."""
import email.utils
import re
import time

import pytest

STATUSES = ["ok", "not_found", "invalid", "login", "denied", "too_large", "refused", "throttled", "conflict",
            "unavailable", "unknown", "corrupt"]
CODES = [200, 404, 400, 401, 403, 413, 422, 429, 409, 503, 503, 500]
FORM = "Content-Type: application/x-www-form-urlencoded"
JSON = "Content-Type: application/json"


# ---- Connections and methods ----

def test_many_requests_on_one_connection(server):
    with server.connect() as client:
        for _ in range(50):
            assert client.get("/page").code == 200
        assert client.get("/nowhere").code == 404  # an error does not end it either
        assert client.get("/page").code == 200


def test_pipelined_requests_are_answered_in_order(server):
    with server.connect() as client:
        client.send(b"".join(b"GET /echo?id=%d HTTP/1.1\r\nHost: a\r\n\r\n" % i for i in range(1, 21)))
        assert [client.answer().json()["id"] for _ in range(20)] == list(range(1, 21))


def test_more_pipelined_requests_than_one_turn_takes(server):
    count = 1000  # far more than what is read at once, too
    with server.connect() as client, server.connect() as other:
        client.send(b"".join(b"GET /echo?id=%d HTTP/1.1\r\nHost: a\r\n\r\n" % i for i in range(1, count + 1)))
        assert other.get("/page").code == 200
        assert [client.answer().json()["id"] for _ in range(count)] == list(range(1, count + 1))


def test_a_request_that_comes_byte_by_byte_is_the_same(server):
    text = b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n" + FORM.encode() + b"\r\n\r\nid=7"
    with server.connect() as client:
        for byte in text + text:
            client.send(bytes([byte]))
        assert client.answer().json()["id"] == client.answer().json()["id"] == 7


def test_what_follows_a_body_is_the_next_request(server):
    with server.connect() as client:
        client.send(b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n" + FORM.encode() + b"\r\n\r\nid=7"
                    b"GET /echo?id=8 HTTP/1.1\r\nHost: a\r\n\r\n")
        assert (client.answer().json()["id"], client.answer().json()["id"]) == (7, 8)


def test_requests_behind_one_that_a_pool_runs_wait_for_it(server):
    with server.connect() as client:
        client.send(b"GET /slowly?ms=200 HTTP/1.1\r\nHost: a\r\n\r\n" + b"GET /echo?id=5 HTTP/1.1\r\nHost: a\r\n\r\n" * 3)
        assert client.answer().body == b"slept\n"
        assert [client.answer().json()["id"] for _ in range(3)] == [5, 5, 5]


def test_a_client_that_has_sent_all_and_says_so_is_still_answered(server):
    for target in (b"/page", b"/slowly?ms=100", b"/large?bytes=3000000"):
        with server.connect() as client:
            client.send(b"GET " + target + b" HTTP/1.1\r\nHost: a\r\n\r\n")
            client.socket.shutdown(1)
            assert client.answer().code == 200
            assert client.is_closed()


def test_an_answer_larger_than_the_socket_takes_arrives_whole(server):
    with server.connect() as client:
        client.send(b"GET /large?bytes=30000000 HTTP/1.1\r\nHost: a\r\n\r\nGET /page HTTP/1.1\r\nHost: a\r\n\r\n")
        time.sleep(0.2)  # the server waits for room meanwhile
        assert len(client.answer().body) == 30000000
        assert client.answer().code == 200


def test_empty_lines_before_a_request_are_left_out(server):
    with server.connect() as client:
        client.send(b"\r\n\r\nGET /page HTTP/1.1\r\nHost: a\r\n\r\n\r\nGET /page HTTP/1.1\r\nHost: a\r\n\r\n")
        assert client.answer().code == client.answer().code == 200


def test_every_answer_has_a_date(server):
    with server.connect() as client:
        for target in ("/page", "/cached?name=a", "/nowhere"):
            date = email.utils.parsedate_to_datetime(client.get(target).header("date"))
            assert abs(date.timestamp() - time.time()) < 5


def test_http_1_0_is_closed_after_its_answer(server):
    with server.connect() as client:
        client.send(b"GET /page HTTP/1.0\r\n\r\n")
        assert client.answer().code == 200
        assert client.is_closed()


@pytest.mark.parametrize("target", ["/page", "/cached?name=a", "/slowly?ms=1", "/nowhere"])
@pytest.mark.parametrize("words", ["close", "Keep-Alive, Close"])
def test_connection_close_is_kept(server, target, words):
    with server.connect() as client:
        assert client.get(target, f"Connection: {words}").header("connection").lower() == "close"
        assert client.is_closed()


def test_head_is_get_without_the_body(server):
    with server.connect() as client:
        head, get = client.ask("HEAD", "/page"), client.get("/page")
    assert head.code == 200 and head.body == b""
    assert head.header("content-length") == get.header("content-length") == "4096"
    assert len(get.body) == 4096


@pytest.mark.parametrize("method,target,allow", [
    ("POST", "/page", "GET, HEAD"), ("DELETE", "/echo", "GET, HEAD, POST"), ("GET", "/small", "POST"),
    ("OPTIONS", "/page", "GET, HEAD"), ("TRACE", "/small", "POST")])
def test_a_method_that_is_not_served_here_is_405_with_allow(server, method, target, allow):
    with server.connect() as client:
        answer = client.ask(method, target)
    assert (answer.code, answer.header("allow")) == (405, allow)


@pytest.mark.parametrize("method", ["BREW", "get", "PROPFIND"])
def test_a_method_nobody_knows_is_501(server, method):
    with server.connect() as client:
        assert client.ask(method, "/page").code == 501


def test_a_slash_too_many_is_redirected_with_the_query(server):
    answer = server.get("/echo/?id=5&x=%20")
    assert (answer.code, answer.header("location")) == (308, "/echo?id=5&x=%20")
    for target in ("//evil.example/", "/nowhere/", "/page//"):
        assert server.get(target).code == 404


@pytest.mark.parametrize("size", [1990, 2001, 7900])
def test_a_redirect_to_a_long_address_is_answered_without_its_query(server, size):
    answer = server.get("/echo/?x=" + "a" * size)
    location = answer.header("location")
    assert answer.code == 308 and location == ("/echo?x=" + "a" * size if size < 1993 else "/echo")


def test_absolute_form_is_taken(server):
    assert server.get("http://localhost/echo?id=3").json()["id"] == 3


# ---- Parameters ----

def values(**changed):
    return {"id": 1, "count": 7, "has_line": False, "line": "", "text": "", "word": 1, "switch": False, **changed}


def test_query_parameters_of_every_kind(server):
    target = "/echo?id=9223372036854775807&count=-5&line=%C3%A4%20b&text=a%0D%0Ab%0D&word=blue&switch=on&other=%F0%9F%8F%BA"
    assert server.get(target).json() == values(
        id=2**63 - 1, count=-5, has_line=True, line="ä b", text="a\nb\n", word=2, switch=True)
    assert server.get("/echo?id=1").json() == values()
    assert server.get("/echo?id=1&count=&line=&switch=").json() == values()  # fields left empty


def test_path_parameters(server):
    assert server.get("/items/12/parts/%33").json()["id"] == 12
    assert server.get("/items/12/parts/%33").json()["count"] == 3
    assert server.get("/items/12/parts/10").code == 400
    assert server.get("/items//parts/3").code == 404
    assert server.get("/items/1%2Fparts/parts/3").code == 400


@pytest.mark.parametrize("query,field", [
    ("", "id"), ("id=0", "id"), ("id=-1", "id"), ("id=9223372036854775808", "id"), ("id=1x", "id"), ("id=+1", "id"),
    ("id=1&id=2", "id"), ("id=1&%69d=2", "id"), ("id=1&count=11", "count"), ("id=1&count=-6", "count"),
    ("id=1&count=99999999999999999999", "count"), ("id=1&line=a", "line"), ("id=1&line=abcdef", "line"),
    ("id=1&line=a%0Ab", "line"), ("id=1&line=ab%7F", "line"), ("id=1&line=%FF%FE", "line"),
    ("id=1&line=%C0%80a", "line"), ("id=1&line=%ED%A0%80", "line"), ("id=1&text=" + "x" * 21, "text"),
    ("id=1&word=Red", "word"), ("id=1&word=pink", "word"), ("id=1&switch=yes", "switch")])
def test_a_parameter_out_of_bounds_is_400_and_named(server, query, field):
    answer = server.get("/echo?" + query, "Accept: application/json")
    assert answer.code == 400
    error = answer.json()["error"]
    assert (error["status"], error["field"]) == ("invalid", field)
    assert error["rule"]


def test_bounds_count_characters_not_bytes(server):
    assert server.get("/echo?id=1&line=" + "%F0%9F%8F%BA" * 5).code == 200
    assert server.get("/echo?id=1&line=" + "%F0%9F%8F%BA" * 6).code == 400


def test_form_parameters(server):
    with server.connect() as client:
        answer = client.ask("POST", "/echo", [FORM], b"id=3&line=a+b%2B&switch=true&word=red")
        assert answer.json() == values(id=3, has_line=True, line="a b+", switch=True, word=0)
        assert client.ask("POST", "/echo?id=3", [FORM], b"line=ab").code == 400  # not from the query
        assert client.ask("POST", "/echo", [FORM], b"id=3&line=%zz").code == 400
        assert client.ask("POST", "/echo", [FORM], b"id=3&line=a\0b").code == 400
        assert client.ask("POST", "/echo", [FORM]).code == 400  # nothing at all


@pytest.mark.parametrize("header", [JSON, "Content-Type: text/plain", "X-Nothing: 1"])
def test_a_body_of_another_type_is_refused(server, header):
    with server.connect() as client:
        answer = client.ask("POST", "/echo", [header, "Accept: application/json"], b"id=3")
    assert (answer.code, answer.json()["error"]["field"]) == (400, "Content-Type")


def test_json_parameters(server):
    with server.connect() as client:
        answer = client.ask("PUT", "/api/echo", [JSON + "; charset=utf-8"],
                            '{"id": 4, "line": "äöü", "count": -1, "word": "blue", "switch": true}'.encode())
    assert answer.json() == values(id=4, has_line=True, line="äöü", count=-1, word=2, switch=True)


@pytest.mark.parametrize("body,field", [
    (b'{"id": "4"}', "id"), (b'{"id": 4.5}', "id"), (b'{"id": 0}', "id"), (b"{}", "id"), (b'{"id": null}', "id"),
    (b'{"id": 1, "line": "abcdef"}', "line"), (b'{"id": 1, "line": 3}', "line"), (b'{"id": 1, "switch": 1}', "switch"),
    (b'{"id": 1, "word": "pink"}', "word"), (b'{"id": 1, "extra": 1}', "extra"), (b'{"id": 1, "id": 2}', None),
    (b"", None), (b"[1]", None), (b'{"id": 1', None), (b'{"id": 1} x', None), (b'{"id": 1, "line": "a\\u0000"}', None),
    (b'{"id": 1, "line": "\xff\xff"}', None), (b"[" * 900, None)])
def test_json_that_does_not_fit_is_400_and_named(server, body, field):
    with server.connect() as client:
        answer = client.ask("PUT", "/api/echo", [JSON], body)
    assert answer.code == 400
    assert field is None or answer.json()["error"]["field"] == field


# ---- Errors ----

@pytest.mark.parametrize("number", range(1, len(STATUSES)))
def test_each_status_has_its_page_and_its_json(server, number):
    page, error = server.get(f"/status?n={number}"), server.get(f"/api/status?n={number}")
    assert page.code == error.code == CODES[number]
    assert page.header("content-type") == "text/html; charset=utf-8"
    assert b"this must not be seen" not in page.body
    assert b"<strong>field&lt;&gt;</strong> a rule &amp; more" in page.body
    assert page.header("x-request-id").encode() in page.body
    assert error.header("content-type") == "application/json"
    assert error.json() == {"error": {"status": STATUSES[number], "field": "field<>", "rule": "a rule & more",
                                      "request": error.header("x-request-id")}}
    assert (page.header("retry-after") is not None) == (page.code in (429, 503))


def test_unknown_never_says_that_nothing_was_done(server):
    unknown, unavailable = server.get("/status?n=10").body, server.get("/status?n=9").body
    assert b"We do not know whether this was done" in unknown and b"Nothing was changed" not in unknown
    assert b"Nothing was changed" in unavailable


def test_accept_chooses_the_form_of_an_error(server):
    assert server.get("/nowhere").header("content-type").startswith("text/html")
    assert server.get("/nowhere", "Accept: application/json").header("content-type") == "application/json"
    assert server.get("/nowhere", "Accept: text/html, application/json;q=0.5").header("content-type").startswith("text/html")
    assert server.get("/api/nowhere").header("content-type") == "application/json"


def test_what_was_asked_does_not_become_markup(server):
    answer = server.get("/echo?id=1&word=%3Cscript%3E")
    assert answer.code == 400 and b"<script" not in answer.body


# ---- Every answer ----

SECURITY = {
    "content-security-policy": "default-src 'none'; style-src 'self'; img-src 'self' data:; script-src 'self'; "
                               "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}


@pytest.mark.parametrize("target", ["/", "/page", "/healthz", "/metrics", "/nowhere", "/page/", "/status?n=11",
                                    "/robots.txt", "/bad%", "/" + "a" * 60000, "nonsense"])
def test_every_answer_has_the_security_headers_and_an_id(server, target):
    answer = server.get(target)
    for name, value in SECURITY.items():
        assert answer.header(name) == value
    assert answer.header("permissions-policy").startswith("camera=()")
    assert re.fullmatch("[0-9a-f]{32}", answer.header("x-request-id"))


def test_request_ids_differ(server):
    with server.connect() as client:
        ids = [client.get("/page").header("x-request-id") for _ in range(100)]
    assert len(set(ids)) == 100 and sorted(ids) == ids


def test_each_request_is_one_log_line_without_its_query(server):
    answer = server.get("/echo?id=5&line=gehei", "Cookie: session=gehei", "Authorization: Bearer gehei")
    (line,) = server.logged(answer)
    assert line["event"] == "request" and line["level"] == "info"
    assert (line["method"], line["path"], line["status"]) == ("GET", "/echo", 200)
    assert (line["bytes"], line["address"]) == (len(answer.body), "127.0.0.1")
    assert 0 < line["duration_us"] < 10_000_000
    assert "outcome" not in line
    assert "gehei" not in server.log_path.read_text()


def test_a_long_strange_path_is_bounded_and_escaped_in_the_log(server):
    answer = server.get('/"\\' + "ü" * 1500)
    (line,) = server.logged(answer)
    assert line["path"].startswith('/"\\ü') and len(line["path"]) <= 1024


def test_forwarded_for_counts_only_from_a_trusted_proxy(server, start):
    def address(where, *headers):
        return where.logged(where.get("/page", *headers))[0]["address"]

    assert address(server, "X-Forwarded-For: 192.0.2.7") == "127.0.0.1"
    behind = start(trusted_proxies="127.0.0.1, 10.0.0.0/8")
    assert address(behind, "X-Forwarded-For: 192.0.2.7") == "192.0.2.7"
    assert address(behind, "X-Forwarded-For: 198.51.100.1, 2001:db8::7, 10.1.2.3") == "2001:db8::7"
    assert address(behind, "X-Forwarded-For: 198.51.100.1", "X-Forwarded-For: 192.0.2.9") == "192.0.2.9"
    assert address(behind, "X-Forwarded-For: nonsense") == "127.0.0.1"
    assert address(behind) == "127.0.0.1"


# ---- What every server has ----

def test_start_page_says_what_runs(server):
    answer = server.get("/")
    page = answer.body.decode()
    assert answer.code == 200
    for words in ("Ostraka is running", "0.1.0", "test", "reads and writes", 'href="/healthz"', 'href="/metrics"', "Up for"):
        assert words in page
    assert page.count("<h1>") == 1 and "<main" in page and 'lang="en"' in page


def test_healthz_follows_the_store(server):
    answer = server.get("/healthz")
    assert answer.code == 200
    assert answer.json() == {"status": "ok", "store": {"engine": "test", "writable": True}, "version": "0.1.0",
                             "uptime_s": answer.json()["uptime_s"]}
    server.command("read-only no space left on device")
    try:
        answer = server.get("/healthz")
        assert (answer.code, answer.json()["status"]) == (503, "read_only")
        assert answer.json()["store"]["reason"] == "no space left on device"
        assert b"no space left on device" in server.get("/").body
    finally:
        server.command("writable")
    assert server.get("/healthz").code == 200


def test_paths_are_for_the_log_only(start):
    server = start()
    server.command("read-only IO error: No space: While appending to /srv/my data/db/12.log: No space left")
    for target in ("/healthz", "/"):
        body = server.get(target).body
        assert b"While appending to (path) (path): No space left" in body and b"/srv" not in body and b"12.log" not in body
    for _ in range(100):
        lines = [line for line in server.log() if line["event"] == "store_read_only"]
        if lines:
            break
        time.sleep(0.05)
    assert [line["level"] for line in lines] == ["error"]
    assert lines[0]["reason"].endswith("/srv/my data/db/12.log: No space left")


def test_metrics_count_by_route_and_class(server):
    before = server.metric('ostraka_http_requests_total{method="GET",route="/status",code="4xx"}')
    for _ in range(3):
        server.get("/status?n=1")
    assert server.metric('ostraka_http_requests_total{method="GET",route="/status",code="4xx"}') == before + 3
    text = server.get("/metrics").body.decode()
    assert "ostraka_store_test_total 42" in text
    assert "# TYPE ostraka_http_request_seconds histogram" in text
    for line in text.splitlines():
        assert re.fullmatch(r'# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? [0-9.e+-]+', line), line
