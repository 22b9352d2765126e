"""Assets: hashed addresses, stored encodings, validators."""
import gzip
import hashlib
import re
import subprocess

import pytest

ENCODINGS = [
    ("", None), ("gzip", "gzip"), ("br", "br"), ("gzip, deflate, br", "br"), ("br;q=0.5, gzip;q=0.9", "gzip"),
    ("*", "br"), ("gzip;q=0, *;q=0.1", "br"), ("br;q=0", None), ("identity", None), ("identity, br;q=0.5", None),
    ("*;q=0", None), ("GZIP", "gzip"), ("gzip;q=nonsense", None), (",,;q=1,,", None), ("x" * 3000, None)]


def unpacked(answer):
    encoding = answer.header("content-encoding")
    if encoding == "gzip":
        return gzip.decompress(answer.body)
    if encoding == "br":
        return subprocess.run(["brotli", "-d", "-c"], input=answer.body, stdout=subprocess.PIPE, check=True).stdout
    return answer.body


@pytest.fixture(scope="module")
def address(server):
    return re.search(r'href="(/assets/site\.[0-9a-f]{16}\.css)"', server.get("/").body.decode()).group(1)


def test_the_address_holds_the_hash_of_the_content(server, address):
    answer = server.get(address)
    assert answer.code == 200
    assert answer.header("content-type") == "text/css; charset=utf-8"
    assert answer.header("cache-control") == "public, max-age=31536000, immutable"
    assert hashlib.sha256(answer.body).hexdigest()[:16] == address.split(".")[1]


@pytest.mark.parametrize("accepted,chosen", ENCODINGS)
def test_the_client_chooses_the_encoding(server, address, accepted, chosen):
    answer = server.get(address, f"Accept-Encoding: {accepted}")
    assert answer.code == 200
    assert answer.header("content-encoding") == chosen
    assert answer.header("vary") == "Accept-Encoding"
    assert unpacked(answer) == server.get(address).body
    if chosen:
        assert len(answer.body) < len(server.get(address).body) / 2


def test_if_none_match_gives_304_without_a_body(server, address):
    etag = server.get(address).header("etag")
    for value in (etag, f'"other", {etag}', "*", etag.removeprefix("W/")):
        answer = server.get(address, f"If-None-Match: {value}")
        assert (answer.code, answer.body, answer.header("etag")) == (304, b"", etag)
    assert server.get(address, 'If-None-Match: "other"').code == 200


def test_what_is_no_asset_is_404(server, address):
    for target in ("/assets/site.css", "/assets/", "/assets/..", "/assets/../healthz", "/assets/site.0000000000000000.css",
                   address + "x", "/assets/%2e%2e%2fhealthz"):
        assert server.get(target).code in (400, 404)


def test_mark_robots_and_favicon(server):
    mark = re.search(r'src="(/assets/mark\.[0-9a-f]{16}\.svg)"', server.get("/").body.decode()).group(1)
    assert server.get(mark).header("content-type") == "image/svg+xml"
    assert server.get("/favicon.ico").body == server.get(mark).body
    robots = server.get("/robots.txt")
    assert robots.header("content-type").startswith("text/plain") and b"Disallow: /api/" in robots.body


def test_pages_are_not_compressed(server):
    assert server.get("/page", "Accept-Encoding: gzip, br").header("content-encoding") is None
