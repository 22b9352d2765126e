"""Journals by HTTP, on the real program: every route with what it gives and what it refuses, lists with mixed outcomes, tokens for journals alone, claims that
wait, live events. Pages are in test_journal_pages.py, commands in cli/test_journal_commands.py, the engine's rules in tests/journal."""
import base64
import concurrent.futures
import http.client
import itertools
import json
import os
import signal
import socket
import time
import urllib.parse

import pytest
from program import Api, Client
from test_admin import House
from test_people import PASSWORD, shared

ODD = "A-z+/;.$_(9)"  # every kind of character that a name may have
DECLARED = f"""
[journal open]
put = any
claim = any
[journal work]
[journal alone]
merge = no
put = any
claim = any
[journal few]
put = any
claim = any
max_entries = 3
[journal ruled]
put = any
claim = any
max_data = 100
field = policy u64 required
field = note text
[journal {ODD}]
put = any
claim = any
[journal posted]
put = token:poster
claim = token:taker
[journal featured]
put = role:feature
[journal local]
put = local
[journal inside]
put = task
claim = task
[journal quick]
put = any
claim = any
timeouts = 0
[journal waited]
put = any
claim = any
[journal crowd]
put = any
claim = any
[journal shown]
put = any
claim = any
""" + "".join(f"[journal fresh{number}]\nput = any\nclaim = any\n" for number in range(20))
OPEN = "[journal open]\nput = any\nclaim = any\n"
NO_TOKEN = "0" * 32
numbers, fresh = itertools.count(1), (f"fresh{number}" for number in range(20))  # journals of a test's own


class Site(House):
    def __init__(self, directory, *flags):
        (directory / "journals").write_text(DECLARED)
        super().__init__(directory, "--journal-file", str(directory / "journals"), *flags)
        self.tell("user", "rights", "vera", "--seen", str(json.loads(self.tell("user", "show", "vera", "--json"))["version"]), "--role", "feature")
        self.api = Api(self.server.port)

    def stranger(self):
        return Client(self.api)

    def script(self, name):
        """A script on the pages of somebody who is logged in."""
        client = Client(self.api, secret=self.browser(name).cookies["session"])
        client.csrf = client.get("session").json["csrf"]
        return client

    def with_token(self, owner, name, scope="write", journals=""):
        made = self.script(owner).ask("POST", "me/tokens", {"name": name, "scope": scope, "journals": journals, "password": PASSWORD})
        assert made.code == 201, made.json
        return Client(self.api, token=made.json["secret"])


def begin(directory, declared, *flags, **options):
    """A site of a test's own."""
    (directory / "journals").write_text(declared)
    return shared.Serve(directory / "data", "--empty", "--journal-file", str(directory / "journals"), *flags, **options)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    site = Site(tmp_path_factory.mktemp("journals"), "--web-threads", "2", "--save-threads", "4")
    yield site
    assert site.server.stop() == 0, site.server.log()


@pytest.fixture(scope="module")
def anybody(site):
    return site.stranger()


@pytest.fixture(scope="module")
def admin(site):
    return site.script("admin")


def at(name, what=""):
    return f"journals/{urllib.parse.quote(name, safe='')}{what}"


def put(client, name, entry=None, **headers):
    return client.ask("POST", at(name, "/entries"), {"data": "x"} if entry is None else entry, **headers)


def claim(client, name, **inputs):
    return client.ask("POST", at(name, "/claim"), inputs)


def end(client, name, what, *tokens, **inputs):
    return client.ask("POST", at(name, f"/{what}"), {"tokens": list(tokens), **inputs})


def taken(client, name, entry=None, **inputs):
    """A run that has just begun."""
    assert put(client, name, {"priority": 0, **(entry or {"data": "x"})}).code == 201
    return claim(client, name, **inputs).json["entries"][0]


# ---- Putting -----------------------------------------------------------------------------------------------------------


def test_a_put_says_what_became_of_it(anybody):
    key = f"k{next(numbers)}"
    first = put(anybody, "open", {"key": key, "data": "one", "delay_ms": 60000})
    again = put(anybody, "open", {"key": key, "data": "two"})
    assert (first.code, first.json["outcome"], again.code, again.json["outcome"]) == (201, "created", 201, "merged")
    assert first.json["id"] == again.json["id"] and first.json["field"] is None
    alone = {put(anybody, "alone", {"key": key}).json["id"] for _ in range(3)}
    assert len(alone) == 3


def test_a_key_that_is_worked_on_is_held_and_comes_afterwards(anybody):
    name = next(fresh)
    key = f"k{next(numbers)}"
    run = taken(anybody, name, {"key": key, "data": "first"})
    assert [put(anybody, name, {"key": key, "data": text, "priority": 0}).json["outcome"] for text in ("second", "third")] == ["held", "held_merged"]
    assert end(anybody, name, "done", run["token"]).json["outcomes"] == [{"token": run["token"], "outcome": "ok"}]
    after = claim(anybody, name).json["entries"][0]
    assert (after["key"], after["data"]) == (key, "third")
    end(anybody, name, "done", after["token"])


def test_bytes_that_are_no_text_go_as_base64(anybody):
    name = next(fresh)
    data, key = bytes(range(256)), b"\xff\x00" + str(next(numbers)).encode()
    run = taken(anybody, name, {"key64": base64.b64encode(key).decode(), "data64": base64.b64encode(data).decode()})
    assert run["data"] is None and base64.b64decode(run["data64"]) == data and base64.b64decode(run["key64"]) == key
    end(anybody, name, "done", run["token"])


def test_dates_and_priorities_are_taken_in_all_their_forms(anybody, admin):
    now = int(time.time() * 1000)
    for entry, priority, process in (({"priority": "SLOW", "process_at": now + 10**7}, 200, now + 10**7), ({"priority": 7, "delay_ms": 5 * 10**6}, 7, now + 5 * 10**6),
                                     ({"process_at": "2099-01-31T12:00:00.250Z", "expires_at": "2099-02-01T00:00:00Z", "lease_ms": 5000}, 100, 4073544000250)):
        put_one = put(anybody, "open", entry)
        shown = admin.get(at("open", f"/entries/{put_one.json['id']}")).json
        assert shown["priority"] == priority and shown["process_at"] == put_one.json["process_at"]
        assert abs(time.mktime(time.strptime(shown["process_at"][:19], "%Y-%m-%dT%H:%M:%S")) - time.timezone - process / 1000) < 60


def test_each_of_a_list_has_its_own_outcome(anybody):
    key, mixed = f"k{next(numbers)}", None
    mixed = put(anybody, "ruled", [{"key": key, "data": '{"policy": 1}'}, {"key": key, "data": '{"policy": 2}'}, {"data": "x" * 101}, {"data": "no JSON"}, {"data": "[1]"},
                                   {"data": '{"note": "n"}'}, {"data": '{"policy": 1, "other": 2}'}, {"priority": "URGENT"}, {"no": "such member"}, "text",
                                   {"data": '{"policy": 3}'}])
    assert mixed.code == 200
    assert [(one["outcome"], one["field"]) for one in mixed.json] == [
        ("created", None), ("merged", None), ("too_large", "data"), ("invalid", "data"), ("invalid", "data"), ("invalid", "policy"), ("invalid", "other"),
        ("invalid", "priority"), ("invalid", "no"), ("invalid", None), ("created", None)]
    assert all(bool(one["error"]) == (one["id"] == 0) for one in mixed.json)
    all_good = put(anybody, "ruled", [{"data": '{"policy": 1}'}] * 2)
    assert all_good.code == 201 and len({one["id"] for one in all_good.json}) == 2


def test_a_list_may_have_a_thousand_and_not_one_more(anybody):
    whole = put(anybody, "alone", [{"delay_ms": 10**9}] * 1000)
    assert whole.code == 201 and len({one["id"] for one in whole.json}) == 1000
    for many in ([], [{}] * 1001):
        assert put(anybody, "alone", many).fault()[:2] == (422, "entries")


@pytest.mark.parametrize("name, entry, code, field", [
    ("ruled", {"data": "x" * 101}, 413, "data"),
    ("ruled", {"data": "no JSON"}, 422, "data"),
    ("ruled", {"data": "[]"}, 422, "data"),
    ("ruled", {"data": "{}"}, 422, "policy"),
    ("ruled", {"data": '{"policy": "1"}'}, 422, "policy"),
    ("ruled", {"data": '{"policy": -1}'}, 422, "policy"),
    ("open", {"key": "k" * 65537}, 413, "key"),
    ("open", {"data": "x" * 65537}, 413, "data"),
    ("open", {"data": 1}, 422, "data"),
    ("open", {"data": "x", "data64": "eA=="}, 422, "data64"),
    ("open", {"data64": "eA"}, 422, "data64"),
    ("open", {"priority": -1}, 422, "priority"),
    ("open", {"priority": 2**32}, 422, "priority"),
    ("open", {"process_at": "tomorrow"}, 422, "process_at"),
    ("open", {"process_at": 1, "delay_ms": 1}, 422, "delay_ms"),
    ("open", {"lease_ms": -1}, 422, "lease_ms"),
    ("open", {"lease_ms": 86400001}, 422, "lease_ms"),
    ("open", {"unknown": 1}, 422, "unknown"),
    ("open", "text", 400, None),
    ("nowhere", {}, 404, "journal"),
    ("inside", {}, 401, None),
])
def test_a_put_that_breaks_a_rule_names_it(anybody, name, entry, code, field):
    refused = put(anybody, name, entry)
    assert refused.code == code, refused.json
    assert refused.fault()[1] == field or field is None


def test_what_is_no_json_or_comes_as_a_form_is_refused(anybody):
    for body, kind in ((b"{", "application/json"), (b"data=x", "application/x-www-form-urlencoded"), (b"{}", "text/plain")):
        assert anybody.raw("POST", at("open", "/entries"), body, {"Content-Type": kind}).code == (400 if "json" in kind else 422)
    assert anybody.raw("POST", at("open", "/entries"), b" " * (2 << 20)).code == 413


def test_a_full_journal_takes_no_more_and_is_still_worked_off(anybody):
    assert [one["outcome"] for one in put(anybody, "few", [{}] * 5).json] == ["created"] * 3 + ["throttled"] * 2
    assert put(anybody, "few").fault()[0] == 429
    run = claim(anybody, "few").json["entries"][0]
    assert end(anybody, "few", "done", run["token"]).code == 200 and put(anybody, "few").code == 201


def test_the_same_request_again_is_one_put(site, anybody):
    program = site.with_token("admin", "again")
    key = f"once-{next(numbers)}"
    first = put(program, "work", [{"data": "a"}, {"data": "b"}], Idempotency_Key=key)
    again = put(program, "work", [{"data": "a"}, {"data": "b"}], Idempotency_Key=key)
    assert [one["outcome"] for one in first.json] == ["created"] * 2 and [one["outcome"] for one in again.json] == ["repeated"] * 2
    assert put(program, "work", {"data": "c"}, Idempotency_Key=key).code == 422
    runs = claim(program, "work", n=10).json["entries"]
    assert [run["data"] for run in runs] == ["a", "b"]
    end(program, "work", "done", *[run["token"] for run in runs])
    assert put(anybody, "open", {"data": "a"}, Idempotency_Key=key).fault()[:2] == (422, "Idempotency-Key")


# ---- Claims and ends ---------------------------------------------------------------------------------------------------


def test_a_claim_hands_out_what_is_due_first_and_only_that(anybody):
    name = "waited"
    for priority, data in ((30, "third"), (10, "first"), (20, "second")):
        put(anybody, name, {"priority": priority, "data": data})
    put(anybody, name, {"priority": 1, "data": "later", "delay_ms": 10**8})
    runs = claim(anybody, name, n=2, max_priority=20, worker="w").json["entries"] + claim(anybody, name, n=5).json["entries"]
    assert [run["data"] for run in runs] == ["first", "second", "third"]
    assert [one["outcome"] for one in end(anybody, name, "done", *[run["token"] for run in runs]).json["outcomes"]] == ["ok"] * 3
    nothing = claim(anybody, name)
    assert nothing.code == 204 and nothing.json is None and nothing.headers["x-next-at"].endswith("Z") and "content-length" not in nothing.headers


def test_the_words_of_204_are_those_of_the_standard(site):
    with socket.create_connection(("127.0.0.1", site.server.port), 10) as connection:
        connection.sendall(f"POST /api/v1/journals/work/claim HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{{}}".encode())
        assert connection.recv(100).startswith(b"HTTP/1.1 401 Unauthorized\r\n")
        connection.sendall(f"POST /api/v1/journals/crowd/claim HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{{}}".encode())
        answer = b""
        while b"HTTP/1.1 204" not in answer and (more := connection.recv(4096)):
            answer += more
        assert b"HTTP/1.1 204 No Content\r\n" in answer


def test_one_claim_may_name_several_journals(admin, site):
    put(admin, "open", {"data": "b", "priority": 2})
    put(admin, "alone", {"data": "a", "priority": 1})
    runs = admin.ask("POST", "journals/claim", {"journals": ["open", "alone"], "n": 2}).json["entries"]
    assert [(run["journal"], run["data"]) for run in runs] == [("alone", "a"), ("open", "b")]
    for run in runs:
        assert end(admin, run["journal"], "done", run["token"]).code == 200
    assert admin.ask("POST", "journals/claim", {"journals": ["open", "nowhere"]}).fault()[:2] == (404, "journal")
    assert site.script("vera").ask("POST", "journals/claim", {"journals": ["open", "work"]}).code == 403


def test_every_end_leaves_the_entry_as_it_says(anybody, admin):
    name = next(fresh)
    for what, inputs, state, holds in (("extend", {"lease_ms": 60000}, "P", {"lease_ms": 60000}), ("release", {"delay_ms": 10**8, "priority": 9}, "W", {"priority": 9}),
                                       ("release", {"process_at": "2099-01-01T00:00:00Z"}, "W", {"process_at": "2099-01-01T00:00:00.000Z"}),
                                       ("bury", {"priority": "SLOW"}, "F", {"priority": 200}), ("done", {}, None, {})):
        run = taken(anybody, name)
        assert end(anybody, name, what, run["token"], **inputs).json["outcomes"] == [{"token": run["token"], "outcome": "ok"}]
        shown = admin.get(at(name, f"/entries/{run['id']}"))
        if state is None:
            assert shown.code == 404
            continue
        assert shown.json["state"] == state
        assert {name: shown.json[name] for name in holds if name != "lease_ms"} == {name: value for name, value in holds.items() if name != "lease_ms"}
        if what == "extend":
            assert 50000 < shown.json["left_ms"] <= 60000
    run = taken(anybody, "quick")
    end(anybody, "quick", "fail", run["token"], error="no paper\nat all")
    dead = admin.get(at("quick", f"/entries/{run['id']}")).json
    assert (dead["state"], dead["error"], dead["timeouts"]) == ("F", "no paper\nat all", 1)


def test_a_lost_token_is_409_alone_and_an_outcome_among_others(anybody):
    name = next(fresh)
    for what in ("extend", "done", "release", "fail", "bury"):
        alone = end(anybody, name, what, NO_TOKEN)
        assert (alone.code, alone.json["outcomes"][0]["outcome"]) == (409, "lost"), what
        run = taken(anybody, name)
        both = end(anybody, name, what, NO_TOKEN, run["token"])
        assert both.code == 200 and [one["outcome"] for one in both.json["outcomes"]] == ["lost", "ok"]
    gone = taken(anybody, name)
    assert end(anybody, name, "done", gone["token"]).code == 200 and end(anybody, name, "done", gone["token"]).code == 409
    assert end(anybody, name, "done", "no token").fault()[:2] == (422, "tokens")
    assert end(anybody, name, "done", "g" * 32).fault()[:2] == (422, "tokens")
    assert end(anybody, name, "done").fault()[:2] == (422, "tokens")
    assert end(anybody, name, "fail", NO_TOKEN, error="x" * 1025).fault()[:2] == (422, "error")


def test_a_lease_that_is_over_is_lost_and_the_entry_comes_again(anybody):
    name = next(fresh)
    run = taken(anybody, name, {"data": "slow", "lease_ms": 200})
    again = claim(anybody, name, wait_ms=5000).json["entries"][0]
    assert again["id"] == run["id"] and again["timeouts"] == 1
    assert end(anybody, name, "extend", run["token"]).code == 409 and end(anybody, name, "done", again["token"]).code == 200


# ---- Looking, and moving by hand ---------------------------------------------------------------------------------------


def test_entries_are_listed_page_by_page_and_by_state(anybody, admin):
    ids = [one["id"] for one in put(anybody, ODD, [{"key": f"é {number}", "delay_ms": 10**8} for number in range(5)]).json]
    path, seen = at(ODD, "/entries?limit=2"), []
    while path:
        page = admin.get(path).json
        seen += [one["id"] for one in page["entries"]]
        path = page["next"] and page["next"].removeprefix("/api/v1/")
    assert seen == ids
    assert [one["id"] for one in admin.get(at(ODD, "/entries?state=W")).json["entries"]] == ids
    assert admin.get(at(ODD, "/entries?state=P")).json["entries"] == []
    assert admin.get(at(ODD, f"/entries/{ids[0]}")).json["key"] == "é 0"
    assert admin.get(at(ODD, "/entries?state=X")).fault()[:2] == (422, "state")


def test_names_with_odd_characters_work_encoded_and_others_are_not_there(anybody, admin):
    """A slash must come as %2F: as it stands it begins another segment."""
    assert put(anybody, ODD).code == 201 and claim(anybody, ODD).json["entries"][0]["journal"] == ODD
    assert admin.get(at(ODD)).json["name"] == ODD
    assert anybody.raw("POST", f"journals/{ODD}/entries", b"{}").code in (404, 405)
    for name in ("a b", "\u202e", "x" * 200, "%", "-dash", "..", "a:b"):
        assert put(anybody, name).code == 404, name
    assert put(anybody, "x" * 201).fault()[:2] == (422, "journal")
    for raw in ("%00", "%ff", "%zz"):
        assert anybody.raw("POST", f"journals/{raw}/entries", b"{}").code in (400, 422), raw


def test_everything_is_404_where_there_is_no_such_journal(admin):
    for method, what, body in (("GET", "", None), ("GET", "/entries", None), ("GET", "/entries/1", None), ("DELETE", "/entries/1", None), ("POST", "/entries/1/kick", None),
                               ("POST", "/entries/1/requeue", None), ("POST", "/requeue", None), ("POST", "/pause", {"seconds": 1}), ("POST", "/resume", None),
                               ("POST", "/claim", {}), ("POST", "/entries", {}), ("GET", "/listen", None),
                               *(("POST", f"/{what}", {"tokens": [NO_TOKEN]}) for what in ("extend", "done", "release", "fail", "bury"))):
        assert admin.ask(method, at("nowhere", what), body).code in (404,), (method, what)
    entry = put(admin, "open", {"delay_ms": 10**8}).json["id"]
    assert admin.get(at("work", f"/entries/{entry}")).fault()[:2] == (404, "id")
    assert admin.ask("DELETE", at("work", f"/entries/{entry}")).fault()[:2] == (404, "id")


def test_the_dead_are_requeued_one_by_one_or_all_and_removed(anybody, admin):
    dead = [taken(anybody, "quick")["token"] for _ in range(3)]
    end(anybody, "quick", "fail", *dead, error="broken")
    ids = [one["id"] for one in admin.get(at("quick", "/entries?state=F")).json["entries"]]
    assert len(ids) >= 3
    assert admin.ask("POST", at("quick", f"/entries/{ids[0]}/requeue")).json == {"moved": 1, "missing": 0}
    assert admin.ask("POST", at("quick", f"/entries/{ids[0]}/requeue")).code == 404
    assert admin.ask("DELETE", at("quick", f"/entries/{ids[1]}")).json["moved"] == 1
    assert admin.ask("POST", at("quick", "/requeue")).json["moved"] == len(ids) - 2
    assert admin.get(at("quick", "/entries?state=F")).json["entries"] == []
    future = put(anybody, "quick", {"delay_ms": 10**8}).json["id"]
    assert admin.ask("POST", at("quick", f"/entries/{future}/kick")).json["moved"] == 1
    assert admin.get(at("quick")).json["waiting"] == admin.get(at("quick")).json["due"] > 0


def test_a_paused_journal_takes_puts_and_hands_out_nothing(anybody, admin):
    assert admin.ask("POST", at("crowd", "/pause"), {"seconds": 600}).json["paused_s"] == 600
    assert put(anybody, "crowd").code == 201 and claim(anybody, "crowd").code == 204
    assert admin.ask("POST", at("crowd", "/resume")).json["paused_s"] == 0
    assert end(anybody, "crowd", "done", claim(anybody, "crowd").json["entries"][0]["token"]).code == 200
    for seconds in (0, -1, 31622401):
        assert admin.ask("POST", at("crowd", "/pause"), {"seconds": seconds}).fault()[:2] == (422, "seconds")


# ---- Who may -----------------------------------------------------------------------------------------------------------


def test_the_declaration_says_who_may_put_and_claim(site, anybody, admin):
    vera, volker = site.script("vera"), site.script("volker")
    poster, taker, other = site.with_token("admin", "poster"), site.with_token("admin", "taker"), site.with_token("volker", "poster")
    assert [client.ask("POST", at("featured", "/entries"), {}).code for client in (vera, volker, anybody)] == [201, 403, 401]
    assert [put(client, "posted").code for client in (poster, taker, other, admin, anybody)] == [201, 403, 403, 403, 401]
    assert [claim(client, "posted").code for client in (poster, taker, other, anybody)] == [403, 200, 403, 401]
    assert [put(client, "inside").code for client in (admin, anybody)] == [403, 401]
    assert put(anybody, "local").code == 201  # this is loopback
    assert anybody.raw("POST", at("local", "/entries"), b"{}", {"Origin": "https://evil.example"}).code == 403
    assert [client.get("journals").code for client in (anybody, volker, admin)] == [200] * 3
    names = [one["name"] for one in anybody.get("journals").json["journals"]]
    assert "open" in names and "work" not in names and "posted" not in names
    assert {"work", "site.tasks"} <= {one["name"] for one in admin.get("journals").json["journals"]}


def test_a_token_for_journals_can_do_what_its_scope_names_and_nothing_else(site):
    putter = site.with_token("admin", "one", "journals", "journal:work:put journal:open:put")
    claimer = site.with_token("admin", "two", "journals", "journal:work:claim")
    chief = site.with_token("admin", "three", "journals", "journal:work:admin")
    assert [put(client, "work").code for client in (putter, claimer, chief)] == [201, 403, 403]
    assert [claim(client, "work").code for client in (putter, claimer, chief)] == [403, 200, 403]
    assert [end(client, "work", "done", NO_TOKEN).code for client in (putter, claimer, chief)] == [403, 409, 403]
    assert [client.get(at("work", "/entries")).code for client in (putter, claimer, chief)] == [403, 403, 200]
    assert [client.ask("POST", at("work", "/pause"), {"seconds": 1}).code for client in (putter, claimer, chief)] == [403, 403, 200]
    assert [put(putter, name).code for name in ("open", "alone", "quick")] == [201, 403, 403]
    for path in ("me/votes", "session", "me/tokens", "admin/people?q=a"):
        assert putter.get(path).code == 403, path
    assert chief.ask("POST", "journals/reload").code == 403
    bad = site.script("admin").ask("POST", "me/tokens", {"name": "x", "scope": "journals", "journals": "journal:work:everything", "password": PASSWORD})
    assert bad.fault()[:2] == (400, "journals")


def test_a_stranger_is_refused_before_a_byte_of_the_body(site):
    for path in ("work/entries", "work/claim", "work/done", "posted/entries", "nowhere/entries"):
        with socket.create_connection(("127.0.0.1", site.server.port), 10) as connection:
            connection.sendall(f"POST /api/v1/journals/{path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n".encode())
            assert connection.recv(100).startswith((b"HTTP/1.1 401", b"HTTP/1.1 404")), path


# ---- Claims that wait --------------------------------------------------------------------------------------------------


class Waiting:
    """A claim that waits, on a connection of its own."""

    def __init__(self, site, name, wait_ms=30000):
        self.connection = http.client.HTTPConnection("127.0.0.1", site.server.port, timeout=60)
        self.connection.request("POST", f"/api/v1/{at(name, '/claim')}", json.dumps({"wait_ms": wait_ms}), {"Content-Type": "application/json"})

    def answer(self):
        answer = self.connection.getresponse()
        text = answer.read().decode()
        self.connection.close()
        return answer.status, json.loads(text)["entries"] if text and answer.status == 200 else []


def waiters(admin, name, count, seconds=20):
    until = time.monotonic() + seconds
    while (there := admin.get(at(name)).json["waiters"]) != count:
        assert time.monotonic() < until, there
        time.sleep(0.02)


def test_a_waiting_claim_wakes_at_once(site, anybody, admin):
    name = next(fresh)
    waiting = Waiting(site, name)
    waiters(admin, name, 1)
    begun = time.monotonic()
    put(anybody, name, {"data": "now"})
    code, entries = waiting.answer()
    assert code == 200 and entries[0]["data"] == "now" and time.monotonic() - begun < 2
    end(anybody, name, "done", entries[0]["token"])
    timed = Waiting(site, name)
    waiters(admin, name, 1)
    put(anybody, name, {"data": "soon", "delay_ms": 300})
    code, entries = timed.answer()
    late = time.time() - time.mktime(time.strptime(entries[0]["process_at"][:19], "%Y-%m-%dT%H:%M:%S")) + time.timezone
    assert code == 200 and 0 <= late < 4
    end(anybody, name, "done", entries[0]["token"])
    begun = time.monotonic()
    assert Waiting(site, name, 300).answer() == (204, []) and 0.25 < time.monotonic() - begun < 5


def test_a_client_that_goes_away_takes_nothing_with_it(site, anybody, admin):
    name = next(fresh)
    gone = Waiting(site, name)
    waiters(admin, name, 1)
    gone.connection.close()
    waiters(admin, name, 0)
    held = set()
    for _ in range(10):  # handed out and left in the same moment
        gone = Waiting(site, name)
        waiters(admin, name, 1)
        put(anybody, name, {"data": "kept", "lease_ms": 600000})
        gone.connection.sock.shutdown(socket.SHUT_RDWR)
        gone.connection.close()
        left = claim(anybody, name, wait_ms=2000)
        if left.code == 204:  # it was quicker: the answer was on its way, and the lease holds
            running = {one["id"] for one in admin.get(at(name, "/entries?state=P")).json["entries"]} - held
            assert len(running) == 1
            held |= running
        else:
            end(anybody, name, "done", left.json["entries"][0]["token"])


def test_two_hundred_wait_on_few_threads_and_nobody_else_does(site, anybody, admin):
    name = next(fresh)
    waiting = [Waiting(site, name) for _ in range(200)]
    try:
        waiters(admin, name, 200)
        begun = time.monotonic()
        assert site.server.get("/")[0] == 200 and put(anybody, "open", {"delay_ms": 10**8}).code == 201
        assert time.monotonic() - begun < 3
        assert put(anybody, name, [{"data": str(number)} for number in range(200)]).code == 201
        with concurrent.futures.ThreadPoolExecutor(20) as pool:
            answers = list(pool.map(Waiting.answer, waiting))
        assert {code for code, _ in answers} == {200}
        assert sorted(int(entries[0]["data"]) for _, entries in answers) == list(range(200))
    finally:
        for one in waiting:
            one.connection.close()
    tokens = [entries[0]["token"] for _, entries in answers]
    assert {one["outcome"] for one in end(anybody, name, "done", *tokens).json["outcomes"]} == {"ok"}


def test_a_stop_ends_waiting_claims_and_streams_properly(tmp_path):
    server = begin(tmp_path, OPEN)
    site = type("Site", (), {"server": server})
    waiting = [Waiting(site, "open") for _ in range(20)]
    with socket.create_connection(("127.0.0.1", server.port), 20) as stream:
        stream.sendall(b"GET /api/v1/journals/open/listen HTTP/1.1\r\nHost: a\r\n\r\n")
        assert b"text/event-stream" in stream.recv(4096)
        until = time.monotonic() + 20
        while json.loads(server.get("/api/v1/journals/open")[2])["waiters"] != 20:
            assert time.monotonic() < until
            time.sleep(0.02)
        begun = time.monotonic()
        assert server.stop() == 0 and time.monotonic() - begun < 10
        codes = [one.answer()[0] for one in waiting]
        assert set(codes) <= {204, 503}, codes
        while stream.recv(4096):
            pass


def test_puts_are_refused_while_draining_and_what_is_there_is_worked_off(tmp_path):
    server = begin(tmp_path, OPEN)
    anybody = Client(Api(server.port))
    run = taken(anybody, "open")
    server.process.send_signal(signal.SIGUSR1)
    until = time.monotonic() + 20
    while put(anybody, "open").code == 201:
        assert time.monotonic() < until
    refused = put(anybody, "open")
    assert refused.code == 503 and "no puts" in refused.fault()[2], refused.json
    assert put(anybody, "open", [{}, {}]).code == 503
    assert end(anybody, "open", "release", run["token"]).code == 200 and claim(anybody, "open").code == 200
    assert server.stop() == 0


@pytest.mark.parametrize("fault", ["fail sync EIO", "fail full ENOSPC"])
def test_while_the_disk_of_the_journals_fails_all_that_must_be_on_it_is_503_and_nothing_is_lost(tmp_path, fault):
    """The store is well meanwhile. What fails in the middle is unknown, and said so; what comes then is refused."""
    control, data = tmp_path.resolve() / "control", tmp_path.resolve() / "data"
    server = begin(tmp_path, OPEN, "--reopen-seconds", "1", program=str(shared.PLAIN), preload=str(shared.PLAIN.parents[2] / "tests/fault/libfault.so"),
                   env={"FAULT_ROOT": str(data / "journal"), "FAULT_CONTROL": str(control)})

    def tell(line):
        control.with_suffix(".new").write_text(line + "\n")
        control.with_suffix(".new").rename(control)

    anybody = Client(Api(server.port))
    run = taken(anybody, "open", {"data": "before"})
    tell(fault)
    refused = [put(anybody, "open", {"data": "during"}) for _ in range(5)]
    codes = [(one.code, one.json["error"]["status"]) for one in refused]
    assert codes[0] in ((503, "unknown"), (503, "unavailable")) and {code for code, _ in codes} == {503}, codes
    assert codes[-1] == (503, "unavailable")
    assert put(anybody, "open", [{}, {"priority": "URGENT"}]).code == 200, "each has its own outcome"
    assert end(anybody, "open", "extend", run["token"]).code == 503
    told = anybody.get("journals").json
    assert told["writable"] is False and told["trouble"], told
    said = json.dumps([told, *(one.json for one in refused), put(anybody, "open", [{}, {"priority": 1.5}]).json, end(anybody, "open", "done", run["token"]).json])
    assert str(tmp_path) not in said, "where the data is, is nobody's business"
    assert end(anybody, "open", "done", run["token"]).code == 503
    assert server.get("/")[0] == 200 and server.health()[0] == 200
    tell("clear")
    until = time.monotonic() + 30
    while put(anybody, "open", {"data": "after"}).code != 201:
        assert time.monotonic() < until
        time.sleep(0.1)
    assert anybody.get("journals").json["writable"] is True
    due = [one["data"] for one in claim(anybody, "open", n=100).json["entries"]]
    assert "after" in due and due.count("during") <= 1
    assert end(anybody, "open", "done", run["token"]).code in (200, 409), "the first answer was a no or unknown"
    assert server.stop() == 0


# ---- Live events -------------------------------------------------------------------------------------------------------


class Stream:
    def __init__(self, site, name):
        self.socket = socket.create_connection(("127.0.0.1", site.server.port), 30)
        self.socket.sendall(f"GET /api/v1/{at(name, '/listen')} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
        self.file = self.socket.makefile("rb")

    def event(self):
        for line in self.file:
            if line.startswith(b"data: "):
                return json.loads(line[6:])
        return None

    def close(self):
        self.file.close()
        self.socket.close()


def test_who_listens_hears_when_something_becomes_due(site, anybody, admin):
    stream = Stream(site, "shown")
    assert stream.event() == {"journal": "shown", "count": 0, "priority": None, "next_at": None}
    put(anybody, "shown", {"priority": 7, "delay_ms": 300})
    heard = stream.event()
    while heard["count"] == 0:
        heard = stream.event()
    assert (heard["count"], heard["priority"]) == (1, 7)
    run = claim(anybody, "shown").json["entries"][0]
    end(anybody, "shown", "done", run["token"])
    put(anybody, "shown", {"priority": 9})
    while heard["priority"] != 9:
        heard = stream.event()
    stream.close()
    end(anybody, "shown", "done", claim(anybody, "shown").json["entries"][0]["token"])


def test_a_tube_that_nobody_listens_to_any_more_vanishes(tmp_path):
    """One that appeared on use, by the port of beanstalkd."""
    server = begin(tmp_path, "[tubes]\nput = any\nclaim = any\n", "--journal-listen", f"unix:{tmp_path}/socket")

    def names():
        return {one["name"] for one in json.loads(server.get("/api/v1/journals")[2])["journals"]}

    with socket.socket(socket.AF_UNIX) as port, socket.create_connection(("127.0.0.1", server.port), 30) as stream:
        port.connect(f"{tmp_path}/socket")
        file = port.makefile("rb")
        port.sendall(b"use brief\r\nput 0 0 60 1\r\nx\r\nuse default\r\n")
        assert file.readline() == b"USING brief\r\n"
        entry = file.readline().split()[1]
        assert file.readline() == b"USING default\r\n" and "brief" in names()
        stream.sendall(b"GET /api/v1/journals/brief/listen HTTP/1.1\r\nHost: a\r\n\r\n")
        assert b"200 OK" in stream.recv(4096)
        port.sendall(b"delete " + entry + b"\r\n")
        assert file.readline() == b"DELETED\r\n"
        time.sleep(0.3)
        assert "brief" in names(), "somebody listens"
        stream.close()
        until = time.monotonic() + 20
        while "brief" in names():
            assert time.monotonic() < until, "nobody listens"
            time.sleep(0.05)
    assert server.stop() == 0
