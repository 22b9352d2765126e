"""Pages that are kept for visitors who are not logged in: who gets them, how old, in which form."""
import concurrent.futures
import gzip
import subprocess
import time

import pytest


def text_of(answer):
    return answer.body.decode().split()[0]


def test_visitors_share_a_rendering(server):
    first = server.get("/cached?name=shared")
    assert first.code == 200
    for headers in ([], ["Cookie: theme=dark"], ["User-Agent: x"]):
        again = server.get("/cached?name=shared", *headers)
        assert (again.body, again.header("etag")) == (first.body, first.header("etag"))
        assert again.header("x-request-id") is None  # it is nobody's own
        assert again.header("content-security-policy") and again.header("x-kept") == "with it"
        assert again.header("content-type") == "text/html; charset=utf-8"


def test_another_address_or_form_is_another_page(server):
    shown = {text_of(server.get(target, *headers)) for target, headers in [
        ("/cached?name=a", []), ("/cached?name=b", []), ("/cached?name=a&ms=1", []),
        ("/cached?name=a", ["Accept: application/json"])]}
    assert len(shown) == 4


@pytest.mark.parametrize("target", ["/cached?name=same&x=1", "/cached?utm_source=b&name=same&x", "/cached?name=s%61me",
                                    "/cached?&&name=same&x=%25", "/cached?name=same&X-Name=other"])
def test_what_the_route_does_not_know_makes_no_other_page(server, target):
    before = server.metric("ostraka_page_cache_renders_total")
    shown = {text_of(server.get(each)) for each in ("/cached?name=same", target, "/cached?name=same")}
    assert len(shown) == 1
    assert server.metric("ostraka_page_cache_renders_total") <= before + 1


@pytest.mark.parametrize("target,header", [
    ("/cached?name=nobody", "Cookie: session=nonsense"), ("/cached?name=nobody&done=x", "Cookie: session=nonsense"),
    ("/cached?name=nobody&done=x", "Cookie: a=b"), ("/cached?name=nobody&done=saved&done=saved", "Cookie: session="),
    ("/cached?name=nobody&done=", "Authorization: Basic"), ("/cached?done=Saved&name=nobody", "Cookie: session=nonsense; other=1")])
def test_only_who_is_somebody_gets_past_the_kept_page(start, target, header):
    """A cookie of nonsense, or a word that nobody knows, costs no rendering."""
    server = start()
    kept = text_of(server.get("/cached?name=nobody&ms=0"))
    answer = server.get(target, header)
    assert text_of(answer) == kept and b"for all" in answer.body
    assert server.metric("ostraka_page_cache_renders_total") == 1


def test_what_the_address_tells_makes_a_page_of_its_own_that_is_kept_too(start):
    server = start()
    plain, told = text_of(server.get("/cached?name=told")), text_of(server.get("/cached?name=told&done=saved"))
    assert plain != told
    for _ in range(3):
        assert text_of(server.get("/cached?name=told&done=saved")) == told
        assert text_of(server.get("/cached?name=told")) == plain
    assert server.metric("ostraka_page_cache_renders_total") == 2


@pytest.mark.parametrize("header", ["Cookie: session=ann", "Authorization: Bearer ann"])
def test_somebody_gets_a_page_of_their_own(server, header):
    plain = server.get("/cached?name=own")
    mine = [server.get("/cached?name=own", header) for _ in range(2)]
    assert len({text_of(answer) for answer in (plain, *mine)}) == 3
    assert b"for ann" in mine[0].body and b"for ann" not in server.get("/cached?name=own").body
    assert mine[0].header("etag") is None


def test_an_old_page_is_rendered_anew(server):
    first = text_of(server.get("/cached?name=old"))
    time.sleep(0.6)
    assert text_of(server.get("/cached?name=old")) != first


def test_a_slow_page_is_rendered_by_one(start):
    server = start(web_threads=4)
    server.get("/cached?name=slow&ms=0")
    first = text_of(server.get("/cached?name=slow&ms=300"))
    time.sleep(0.55)  # too old, but not twice that
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        def ask():
            began = time.monotonic()
            return text_of(server.get("/cached?name=slow&ms=300")), time.monotonic() - began

        running = [pool.submit(ask) for _ in range(8)]
        answers = [each.result() for each in running]
    # Who is served by the thread that renders waits for it, and gets what it rendered.
    assert len({text for text, _ in answers if text != first}) == 1
    assert max(took for text, took in answers if text != first) >= 0.3
    old = [took for text, took in answers if text == first]
    assert len(old) >= 4 and min(old) < 0.2


@pytest.mark.parametrize("how", ["private", "cookie", "missing"])
def test_what_must_not_be_kept_is_not(server, how):
    answers = [server.get(f"/cached?name=x&how={how}") for _ in range(3)]
    assert len({answer.header("x-count") or answer.header("x-request-id") for answer in answers}) == 3
    assert all(answer.header("etag") is None for answer in answers)


def test_a_visitor_who_has_the_page_gets_304(server):
    first = server.get("/cached?name=etag&how=same")
    assert first.header("cache-control") == "no-cache" and "Cookie" in first.header("vary")
    again = server.get("/cached?name=etag&how=same", "If-None-Match: " + first.header("etag"))
    assert (again.code, again.body, again.header("etag")) == (304, b"", first.header("etag"))
    time.sleep(0.6)  # rendered anew, with the same content
    assert server.get("/cached?name=etag&how=same", "If-None-Match: " + first.header("etag")).code == 304


def test_head_is_get_without_the_body(server):
    with server.connect() as client:
        for _ in range(2):
            head, get = client.ask("HEAD", "/cached?name=head"), client.get("/cached?name=head")
            assert head.header("content-length") == get.header("content-length") == str(len(get.body))


def test_forms_that_are_smaller(server):
    def brotli(content):
        return subprocess.run(["brotli", "-d", "-c"], input=content, capture_output=True, check=True).stdout

    plain = server.get("/cached?name=packed&how=same")
    assert plain.header("content-encoding") is None
    for accepted, encoding, unpack in [("gzip", "gzip", gzip.decompress), ("br, gzip", "br", brotli),
                                       ("br;q=0.1, gzip", "gzip", gzip.decompress)]:
        for _ in range(2):
            packed = server.get("/cached?name=packed&how=same", "Accept-Encoding: " + accepted)
            assert packed.header("content-encoding") == encoding
            assert unpack(packed.body) == plain.body and len(packed.body) < len(plain.body) / 2
    assert server.get("/cached?name=packed&how=same", "Accept-Encoding: zstd").body == plain.body
    assert server.get("/cached?name=y&how=short", "Accept-Encoding: br").header("content-encoding") is None


def test_errors_of_parameters_are_not_kept(server):
    assert server.get("/cached?name=").code == 400
    assert server.get("/cached?name=ok").code == 200


def test_the_cache_can_be_off(start):
    off = start(page_cache_bytes=0)
    assert text_of(off.get("/cached?name=a")) != text_of(off.get("/cached?name=a"))
    assert off.get("/cached?name=a").header("etag") is None


def test_maintenance_comes_first(start):
    server = start()
    server.get("/cached?name=a")
    server.command("maintenance back soon")
    assert server.get("/cached?name=a").code == 503


def test_metrics(start):
    server = start()
    for _ in range(5):
        server.get("/cached?name=a")
    assert server.metric("ostraka_page_cache_hits_total") == 4
    assert server.metric("ostraka_page_cache_renders_total") == 1
    assert server.metric("ostraka_page_cache_entries") == 1
    assert server.metric("ostraka_page_cache_bytes") > 0


def all_but_the_date(answer):
    return [each for each in answer.fields if each[0] != "date"]


@pytest.mark.parametrize("first", ["GET", "HEAD"])
def test_who_asks_first_and_how_makes_no_difference_to_others(start, first):
    """The same bytes are sent to all of them, by several threads at once."""
    server = start(web_threads=4)
    target = "/cached?name=first&how=same"
    with server.connect() as client:
        asked = client.ask(first, target)
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        def ask(number):
            with server.connect() as client:
                packed = ["Accept-Encoding: gzip"] if number % 2 else []
                return [client.get(target, *packed) for _ in range(20)]

        answers = [answer for each in [pool.submit(ask, i) for i in range(16)] for answer in each.result()]
    plain = [answer for answer in answers if answer.header("content-encoding") is None]
    packed = [answer for answer in answers if answer.header("content-encoding") == "gzip"]
    assert len(plain) >= 160 and len(plain) + len(packed) == len(answers)
    assert all(all_but_the_date(answer) == all_but_the_date(asked) for answer in plain)
    assert len({answer.body for answer in plain}) == 1
    assert {gzip.decompress(answer.body) for answer in packed} == {plain[0].body}
    assert {answer.header("content-length") for answer in packed} == {str(len(packed[0].body))}


def test_each_request_gives_one_line_in_the_log_and_no_id(start):
    server = start()
    for code, headers in ((200, []), (200, []), (304, ["If-None-Match: " + server.get("/cached?name=line&how=same").header("etag")])):
        answer = server.get("/cached?name=line&how=same", *headers)
        assert (answer.code, answer.header("x-request-id")) == (code, None)
    for _ in range(200):
        lines = [line for line in server.log() if line.get("path") == "/cached"]
        if len(lines) >= 4:
            break
        time.sleep(0.01)
    assert sorted(line["status"] for line in lines) == [200, 200, 200, 304] and not any("id" in line for line in lines)


def test_a_client_of_http_1_0_gets_it_too(server):
    for more, stays in ((b"", False), (b"Connection: keep-alive\r\n", True), (b"", False)):
        with server.connect() as client:
            answer = client.send(b"GET /cached?name=ten HTTP/1.0\r\nHost: a\r\n" + more + b"\r\n").answer()
            assert answer.code == 200 and len(answer.body) > 10
            if not stays:
                assert client.is_closed()
    assert server.get("/cached?name=ten").code == 200


def test_a_connection_that_ends_is_told_so_and_the_next_one_is_not(server):
    with server.connect() as client:
        assert client.get("/cached?name=ends", "Connection: close").header("connection").lower() == "close"
        assert client.is_closed()
    with server.connect() as client:
        for _ in range(2):
            assert (client.get("/cached?name=ends").header("connection") or "keep-alive").lower() == "keep-alive"
