"""Who is asking: admission, cookies, clients behind proxies, public addresses; and parameters that hold many values."""
import pytest

FORM = "Content-Type: application/x-www-form-urlencoded"
JSON = "Content-Type: application/json"


def cookies_of(answer):
    return [value for name, value in answer.fields if name == "set-cookie"]


# ---- Admission ----

def test_admit_says_who_asks(server):
    assert server.get("/who").json()["viewer"] == "-"
    assert server.get("/mine", "Authorization: Bearer ann").json()["viewer"] == "ann"
    assert server.get("/mine", "Cookie: a=b; session=ben; c=d").json()["viewer"] == "ben"
    assert server.get("/mine", "Authorization: Bearer ann").header("cache-control") == "no-store"


def test_admit_keeps_out(server):
    answer = server.get("/mine")
    assert (answer.code, answer.header("location"), answer.body) == (303, "/login?next=/mine", b"")
    answer = server.get("/api/mine")
    assert (answer.code, answer.json()["error"]["status"]) == (401, "login")
    assert answer.header("www-authenticate") == "Bearer"
    answer = server.get("/who", "Cookie: session=nobody", "Accept: application/json")
    assert (answer.code, answer.json()["error"]["rule"]) == (403, "is nobody's")
    assert cookies_of(answer) == ["session=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0"]


def test_what_every_server_has_needs_no_admission(server):
    assert server.get("/healthz", "Cookie: session=nobody").code == 200
    assert server.get("/page", "Cookie: session=nobody").code == 403


def test_parameters_are_checked_before_admission(server):
    assert server.get("/opaque?token=%20", "Cookie: session=nobody").code == 400


@pytest.mark.parametrize("name", ["Cookie", "Authorization", "Idempotency-Key", "Origin", "Sec-Fetch-Site"])
def test_a_header_that_says_who_asks_must_not_come_twice(server, name):
    assert server.get("/who", f"{name}: a=1", f"{name}: a=1").code == 400


def test_errors_in_the_frame_of_the_site(start):
    framed = start(framed="on")
    answer = framed.get("/nowhere")
    assert (answer.code, answer.body) == (404, b"<title>framed</title><h1>There is nothing here</h1><p></p>")
    assert answer.header("cache-control") == "no-store"
    assert b"<p>must be a whole number" in framed.get("/echo?id=0").body
    assert framed.get("/bad%").code == 400 and b"framed" in framed.get("/bad%").body
    assert framed.get("/nowhere", "Accept: application/json").json()["error"]["status"] == "not_found"
    assert framed.get("/who", "Cookie: session=nobody").body.startswith(b"<title>framed</title><h1>You may not")


# ---- Headers, addresses ----

def test_headers_are_seen(server):
    answer = server.get("/who", "User-Agent: a b", "Idempotency-Key: k1").json()
    assert (answer["agent"], answer["key"], answer["address"]) == ("a b", "k1", "127.0.0.1")
    assert answer["url"] == f"http://127.0.0.1:{server.address[1]}"


def test_the_client_behind_a_trusted_proxy(start):
    behind = start(trusted_proxies="127.0.0.1", public_url="https://vote.example.org/")
    answer = behind.get("/who", "X-Forwarded-For: 192.0.2.7").json()
    assert (answer["address"], answer["url"]) == ("192.0.2.7", "https://vote.example.org")


@pytest.mark.parametrize("url", ["vote.example.org", "ftp://a", "http://", "https:///", "http://a/b", "http://a?b",
                                 "http://a b", "HTTPS://a"])
def test_a_public_url_that_is_none_stops_the_start(start, url):
    with pytest.raises(RuntimeError, match="public_url"):
        start(public_url=url)


# ---- Cookies ----

@pytest.mark.parametrize("then,code", [("redirect", 303), ("conflict", 409), ("page", 200)])
def test_a_cookie_arrives_with_every_answer(server, then, code):
    answer = server.get(f"/cookie?value=abc&age=60&then={then}")
    assert answer.code == code
    assert cookies_of(answer) == ["half=abc; Path=/; HttpOnly; SameSite=Lax; Max-Age=600",
                                  "visitor=x; Path=/; HttpOnly; SameSite=Lax"]


def test_cookies_of_a_secure_site_are_tied_to_it(start):
    secure = start(public_url="https://vote.example.org")
    assert cookies_of(secure.get("/cookie?value=abc&age=0&then=page")) == [
        "__Host-half=abc; Path=/; HttpOnly; SameSite=Lax; Secure",
        "__Host-visitor=x; Path=/; HttpOnly; SameSite=Lax; Secure"]
    assert secure.get("/who", "Cookie: session=ann").json()["viewer"] == "-"
    assert secure.get("/who", "Cookie: session=ann; __Host-session=ben").json()["viewer"] == "ben"


def test_a_secure_site_is_asked_by_https_alone(server, start):
    name = "strict-transport-security"
    assert server.get("/who").header(name) is None
    secure = start(public_url="https://vote.example.org")
    for path in ("/who", "/nothing", "/embeddable"):
        assert secure.get(path).header(name) == "max-age=31536000"


# ---- Answers ----

def test_a_version_that_the_client_has_is_304(server):
    answer = server.get("/versioned")
    assert (answer.code, answer.header("etag"), answer.body) == (200, '"v7"', b"seven")
    for known in ('"v7"', 'W/"v7"', '"a", "v7"', "*"):
        again = server.get("/versioned", f"If-None-Match: {known}")
        assert (again.code, again.header("etag"), again.header("content-type")) == (304, '"v7"', None)
    assert server.get("/versioned", 'If-None-Match: "v6"').code == 200


def test_a_route_may_replace_a_security_header(server):
    answer = server.get("/embeddable")
    assert answer.header("content-security-policy") == "default-src 'none'; frame-ancestors *"
    assert answer.header("x-content-type-options") == "nosniff"


# ---- Parameters ----

def test_slugs(server):
    assert server.get("/policies/12-clean-rivers").body == b"12"
    for target in ("12", "12-", "12-dirty-rivers", "12-%C3%BC"):
        answer = server.get("/policies/" + target)
        assert (answer.code, answer.header("location")) == (308, "/policies/12-clean-rivers")
    for target in ("clean", "-12", "012-clean-rivers", "0", "12x", "12%0A-a", "9223372036854775808", "12-a%00"):
        assert server.get("/policies/" + target).code == 400


def test_opaque_texts(server):
    assert server.get("/opaque?token=aZ0_-").body == b"aZ0_-"
    for token in ("abc", "abcdefghi", "ab%20d", "abc%C3%BC", "abc="):
        answer = server.get("/opaque?token=" + token, "Accept: application/json")
        assert (answer.code, answer.json()["error"]["field"]) == (400, "token")


def test_lists_from_forms(server):
    with server.connect() as client:
        def send(body):
            return client.ask("POST", "/lists", [FORM, "Accept: application/json"], body)

        assert send(b"held[12]=30&held[7]=0&link=ab&link=&link=cd+e").json() == {
            "held": [7, 0, 12, 30], "links": ["ab", "cd e"]}
        assert send(b"held%5B9223372036854775807%5D=1").json() == {"held": [2**63 - 1, 1], "links": []}
        many = b"&".join(b"held[%d]=%d" % (i, i) for i in range(20, 0, -1))
        assert send(many).json()["held"] == [i for n in range(1, 21) for i in (n, n)]
        for body, field, words in [
                (b"", "held", "missing"), (b"held=1", "held", "missing"), (b"held[7=1", "held", "missing"),
                (b"held[]=1", "held[]", "number"), (b"held[0]=1", "held[0]", "number"), (b"held[-1]=1", "held[-1]", "number"),
                (b"held[a]=1", "held[a]", "number"), (b"held[" + b"1" * 40 + b"]=1", "held[...]", "number"),
                (b"held[1]=", "held[1]", "from 0 to 1000"), (b"held[1]=1001", "held[1]", "from 0 to 1000"),
                (b"held[1]=-1", "held[1]", "from 0 to 1000"), (b"held[1]=1&held[1]=1", "held", "twice"),
                (b"held[1]=1&held[01]=2", "held", "twice"), (many + b"&held[21]=1", "held", "at most 20"),
                (b"held[1]=1" + b"&link=ab" * 4, "link", "at most 3"), (b"held[1]=1&link=a", "link", "2 to 5"),
                (b"held[1]=1&link=abcdef", "link", "2 to 5"), (b"held[1]=1&link=a%0Ab", "link", "control")]:
            answer = send(body)
            assert answer.code == 400, body
            error = answer.json()["error"]
            assert error["field"] == field and words in error["rule"], (body, error)


def test_lists_from_json(server):
    with server.connect() as client:
        def send(body):
            return client.ask("PUT", "/api/lists", [JSON], body)

        assert send(b'{"held": {"12": 30, "7": 0}, "link": ["ab", "cd"]}').json() == {
            "held": [7, 0, 12, 30], "links": ["ab", "cd"]}
        assert send(b'{"held": {}}').json() == {"held": [], "links": []}
        too_many = b", ".join(b'"%d": 1' % i for i in range(1, 22))
        for body, field in [
                (b"{}", "held"), (b'{"held": 5}', "held"), (b'{"held": [1]}', "held"), (b'{"held": {"1": "1"}}', "held[1]"),
                (b'{"held": {"1": 1001}}', "held[1]"), (b'{"held": {"0": 1}}', "held[0]"), (b'{"held": {"a": 1}}', "held[a]"),
                (b'{"held": {"1": 1, "01": 1}}', "held"), (b'{"held": {' + too_many + b"}}", "held"),
                (b'{"held": {"1": {"2": 3}}}', "held[1]"), (b'{"held": {}, "link": "ab"}', "link"),
                (b'{"held": {}, "link": ["ab", 3]}', "link"), (b'{"held": {}, "link": ["a"]}', "link"),
                (b'{"held": {}, "link": ["ab", "ab", "ab", "ab"]}', "link")]:
            answer = send(body)
            assert (answer.code, answer.json()["error"]["field"]) == (400, field), body
