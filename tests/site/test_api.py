"""The JSON interface /api/v1 over sockets, on the real site and a real store (site_fixture.py): each route with what it gives, what it refuses
and by which words. Every answer is held against its schema (program.py)."""
import itertools
import json
import re
import time
import urllib.parse

import pytest
from site_fixture import SiteFixture
from program import Api, Client
from test_access import ROUTES, value_of

NAMES = itertools.count(1)
NASTY = "<script>alert(1)</script> & \"more\""
ZERO = "0" * 32


class Site(Api):
    def __init__(self, directory):
        self.site_fixture = SiteFixture(directory)
        super().__init__(self.site_fixture.port)

    def session(self, days=50):
        """A script on the pages of somebody new."""
        client = Client(self, secret=self.site_fixture.voter(f"person{next(NAMES)}", days).secret)
        client.csrf = client.get("session").json["csrf"]
        return client

    def program(self, scope="write", days=50):
        """A program with a token of somebody new."""
        owner = self.session(days)
        made = owner.ask("POST", "me/tokens", {"name": "program", "scope": scope})
        assert made.code == 201, made.json
        client = Client(self, token=made.json["secret"])
        client.owner = owner
        return client

    def policy(self, owner, name="Clean rivers", **more):
        seen = owner.get("me/votes").json["version"]
        made = owner.ask("POST", "policies", {"name": name, "category": 1, "seen": seen, **more})
        assert made.code == 201, made.json
        return made.json["created"]

    def counted(self, policy, votes, seconds=20):
        """The policy as its answer is once the counts, which follow a save, have these votes."""
        end = time.monotonic() + seconds
        while (answer := Client(self).get(f"policies/{policy}")).json["votes"] != votes:
            assert time.monotonic() < end, answer.json
            time.sleep(0.02)
        return answer


@pytest.fixture(scope="module")
def api(tmp_path_factory):
    api = Site(tmp_path_factory.mktemp("api") / "data")
    yield api
    assert api.site_fixture.stop() == 0


@pytest.fixture
def program(api):
    return api.program()


@pytest.fixture
def anybody(api):
    return Client(api)


# ---- What everybody may read ----


def test_a_ranking_goes_on_where_next_says(api, anybody):
    ids = [api.policy(api.program(), f"Policy {next(NAMES)}") for _ in range(3)]
    first = anybody.get("rankings?days=0&limit=2")
    assert first.code == 200 and len(first.json["policies"]) == 2 and first.json["count"] >= 3
    seen, address = [], "rankings?days=0&limit=2&category=1"
    while address:
        page = anybody.get(address).json
        seen += [card["id"] for card in page["policies"]]
        address = page["next"] and page["next"].removeprefix("/api/v1/")
    assert set(ids) <= set(seen) and len(seen) == len(set(seen)) == page["count"]
    assert first.json["policies"][0]["rank"] == 1


def test_public_answers_are_for_scripts_of_other_sites_and_others_are_not(api, anybody, program):
    for path in ("rankings", "policies", "categories", "parties", "settings"):
        assert anybody.get(path).headers["access-control-allow-origin"] == "*", path
    for path in ("me", "me/votes", "session"):
        answer = program.get(path)
        assert "access-control-allow-origin" not in answer.headers and answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("query, field", [
    ("days=32", "days"), ("days=-1", "days"), ("days=x", "days"), ("limit=0", "limit"), ("limit=101", "limit"), ("offset=-1", "offset"),
    ("category=0", "category"), ("category=1&party=1", "party"), ("at=yesterday", "at"), ("at=2999-01-01", "at"),
    ("days=1&days=2", "days")])
def test_a_ranking_that_cannot_be_names_field_and_rule(anybody, query, field):
    code, named, rule = anybody.get(f"rankings?{query}").fault()
    assert (code, named) == (400, field) and rule


def test_a_ranking_of_the_past(api, anybody):
    api.policy(api.program(), "Too young for it")
    past = anybody.get("rankings?days=0&at=2020-01-01").json
    assert past["policies"] == [] and past["as_of"] == "2020-01-02T00:00:00Z"


def test_a_place_says_what_is_needed_to_rise(api, anybody, program):
    policy = api.policy(program, held=500)
    standing = anybody.get(f"rankings/{policy}?days=1").json
    assert standing["total"] == 500 and standing["recent"]["days"] == 1 and standing["recent"]["votes"] == 500
    assert standing["ever"]["rank"] >= 1 and standing["ever"]["count"] >= standing["ever"]["rank"]
    assert anybody.get("rankings/999999999").code == 404


def test_policies_by_each_order_and_the_beginning_of_a_name(api, anybody, program):
    word = f"Zebra{next(NAMES)}"
    policy = api.policy(program, f"{word} crossings")
    for order in ("name", "date", "rank"):
        assert anybody.get(f"policies?order={order}").code == 200
    found = anybody.get(f"policies?name={word.lower()}").json
    assert [card["id"] for card in found["policies"]] == [policy] and found["next"] is None
    assert anybody.get("policies?order=best").fault()[:2] == (400, "order")
    assert anybody.get("policies?from=notaplace").code in (200, 400)
    assert anybody.get("policies?from=%20").fault()[:2] == (400, "from")


def test_a_policy_has_its_text_and_a_version(api, anybody, program):
    policy = api.policy(program, NASTY, description="Some *words*.", links=["https://example.org/a"])
    answer = api.counted(policy, 100)  # its ETag changes with its votes
    assert answer.json["name"] == NASTY and answer.json["links"] == ["https://example.org/a"] and answer.json["revision"] == 1
    assert answer.headers["content-type"] == "application/json" and answer.headers["x-content-type-options"] == "nosniff"
    again = anybody.get(f"policies/{policy}", If_None_Match=answer.headers["etag"])
    assert again.code == 304 and again.json is None
    assert anybody.get("policies/999999999").code == 404 and anybody.get("policies/x").fault()[:2] == (400, "policy")


def test_what_stands_beside_rankings(anybody):
    assert anybody.get("settings").json["create_cost"] == 100
    assert "Environment" in [group["name"] for group in anybody.get("categories").json["groups"]]
    assert anybody.get("parties").json == {"groups": []}


def test_the_past_of_a_policy(api, anybody, program):
    policy = api.policy(program)
    assert anybody.get(f"policies/{policy}/history?by=hour&count=2&window=0").json["by_hour"] is True
    assert anybody.get(f"policies/{policy}/history?count=745").fault()[:2] == (400, "count")
    assert anybody.get(f"policies/{policy}/history?until=soon").fault()[:2] == (400, "until")
    assert anybody.get("policies/999999999/history").code == 404


# ---- Who may ----


class Row:
    """A row of the table of routes that is not for everybody, with what it needs to be read at all."""

    def __init__(self, route):
        self.method, self.access = route["method"], route["access"]
        path = {param["name"]: 1 if param["kind"] in ("id", "number") else ZERO for param in route["params"] if param["from"] == "path"}
        needed = {place: {p["name"]: value_of(p) for p in route["params"] if p["from"] == place and not p["optional"]} for place in ("query", "json")}
        self.path = route["path"].removeprefix("/api/v1/").format(**path) + ("?" + urllib.parse.urlencode(needed["query"]) if needed["query"] else "")
        self.body = needed["json"] if any(param["from"] == "json" for param in route["params"]) else None

    def __str__(self):
        return f"{self.method} {self.path}"


PRIVATE = [Row(route) for route in ROUTES if route["path"].startswith("/api/v1/") and route["access"] in ("login", "voter", "role")]
CHANGES = [row for row in PRIVATE if row.method != "GET"]
ASKS = ("me/votes/cost", "me/data")  # change nothing; a body that is a question, or a password


@pytest.mark.parametrize("row", PRIVATE, ids=str)
def test_nobody_in_particular_is_told_to_log_in(api, anybody, row):
    answer = anybody.ask(row.method, row.path, row.body)
    assert answer.code == 401 and answer.json["error"]["status"] == "login"
    assert Client(api, token="ost_" + "x" * 43).ask(row.method, row.path, row.body).fault()[:2] == (401, "Authorization")


def test_every_route_that_the_document_protects_is_in_that_list(api):
    listed = {(row.method, re.sub(r"/(\d+|0{32})(?=/|$)", "/{}", row.path.split("?")[0])) for row in PRIVATE}
    for path, operations in api.document["paths"].items():
        for method, operation in operations.items():
            if any("session" in way for way in operation["security"]):
                name = re.sub(r"\{\w+\}", "{}", path.removeprefix("/api/v1/"))
                assert (method.upper(), name) in listed


@pytest.mark.parametrize("row", [row for row in CHANGES if row.path not in ASKS], ids=str)
def test_a_token_to_read_changes_nothing(api, row):
    assert api.program("read").ask(row.method, row.path, row.body).fault() == (403, "Authorization", "this token may only read")


# Who has not the role is told so first; with it, tests/site/test_acts.py and others send no token.
@pytest.mark.parametrize("row", [row for row in CHANGES if row.access != "role"], ids=str)
def test_a_session_without_the_form_token_changes_nothing(api, row):
    script = api.session()
    script.csrf = None
    assert script.ask(row.method, row.path, row.body).fault()[:2] == (403, "csrf")


# ---- Votes ----


def test_a_save_says_what_stands(api, program):
    policy = api.policy(api.program())
    answer = program.save({policy: 30})
    assert answer.code == 200 and answer.json["outcome"] == "saved" and answer.json["balance"] == 770
    assert answer.json["lines"] == {str(policy): 30} and answer.json["saved_seq"] == answer.json["seq"] == 1
    votes = program.get("me/votes").json
    assert votes["version"] == answer.json["version"] and votes["lines"] == {str(policy): 30}
    assert [line["held"] for line in votes["policies"]] == [30]


def test_of_two_saves_on_one_version_one_is_stale(api, program):
    policy = api.policy(api.program())
    seen = program.get("me/votes").json["version"]
    assert program.save({policy: 1}, seen).code == 200
    late = program.save({policy: 2}, seen)
    assert late.code == 409 and late.json["outcome"] == "stale" and late.json["lines"] == {str(policy): 1}


def test_a_save_can_say_what_its_lines_held(api, program):
    policy = api.policy(api.program())
    assert program.save({policy: 30}, was={str(policy): 0}).code == 200
    late = program.save({policy: 40}, was={str(policy): 20})
    assert (late.code, late.json["outcome"], late.json["lines"]) == (409, "stale", {str(policy): 30})
    assert program.save({policy: 40}, was={str(policy): 30}).json["lines"] == {str(policy): 40}


def test_what_a_rule_refuses_names_rule_and_policy(api, program):
    policy = api.policy(api.program())
    answer = program.save({policy: 801})
    assert (answer.code, answer.json["outcome"], answer.json["rule"]) == (422, "refused", "balance")
    answer = program.save({999999999: 1})
    assert (answer.code, answer.json["rule"], answer.json["policy"]) == (422, "no_policy", 999999999)
    answer = program.save({policy: -1})
    assert (answer.code, answer.json["rule"], answer.json["policy"]) == (422, "held", policy)
    assert program.get("me/votes").json["seq"] == 0


def test_taking_back_has_a_price_that_a_save_can_bound(api, program):
    policy = api.policy(api.program())
    program.save({policy: 100})
    cost = program.ask("POST", "me/votes/cost", {"lines": {str(policy): 50}}).json
    assert (cost["penalty"], cost["given_back"], cost["rule"]) == (25, 25, None)
    dear = program.save({policy: 50}, price=24)
    assert (dear.code, dear.json["rule"], dear.json["penalty"]) == (422, "price", 25)
    assert program.save({policy: 50}, price=25).json["balance"] == 725


def test_the_same_key_is_one_save(api, program):
    policy, headers = api.policy(api.program()), {"Idempotency_Key": "once-1"}
    seen = program.get("me/votes").json["version"]
    first = program.save({policy: 5}, seen, headers=headers)
    second = program.save({policy: 5}, seen, headers=headers)
    assert first.code == second.code == 200
    assert (first.json["saved_seq"], first.json["saved_version"]) == (second.json["saved_seq"], second.json["saved_version"])
    assert program.get("me/votes").json["seq"] == 1
    other = api.program()
    assert other.save({policy: 5}, headers=headers).json["saved_version"] != first.json["saved_version"], "keys are one's own"


def test_a_key_is_for_one_request(api, program):
    policy, key = api.policy(program), {"Idempotency_Key": "tied"}
    seen = program.get("me/votes").json["version"]
    stale = program.save({policy: 100}, ZERO, headers=key)
    assert (stale.code, stale.json["outcome"]) == (409, "stale"), "nothing was done, and the key is still free"
    first = program.save({policy: 101}, seen, headers=key)
    assert first.code == 200
    refused = (422, "Idempotency-Key")
    assert program.save({policy: 102}, seen, headers=key).fault()[:2] == refused
    assert program.save({policy: 102}, headers=key).fault()[:2] == refused
    body = {"name": "Another policy", "category": 1, "seen": first.json["version"]}
    assert program.ask("POST", "policies", body, **key).fault()[:2] == refused
    retire = (program.ask("POST", f"policies/{policy}/retire", {"reason": reason}, Idempotency_Key=word)
              for reason, word in (("", "tied"), ("one", "leave"), ("one", "leave"), ("two", "leave")))
    answers = list(retire)
    assert [answer.code for answer in answers] == [422, 200, 200, 422] and answers[3].fault()[:2] == refused
    assert program.save({policy: 101}, seen, headers=key).json["saved_seq"] == first.json["saved_seq"], "the first still has its answer"


def test_a_save_in_doubt_says_so_and_its_key_finds_out(api, program):
    policy, headers = api.policy(api.program()), {"Idempotency_Key": "doubt"}
    seen = program.get("me/votes").json["version"]
    for doubt, stands in (("done", 1), ("lost", 2)):
        api.site_fixture.tell("doubt", doubt)
        try:
            answer = program.save({policy: stands}, seen, headers={"Idempotency_Key": f"doubt-{doubt}"})
        finally:
            api.site_fixture.tell("doubt", "none")
        if answer.code != 200:
            assert (answer.code, answer.json["outcome"]) == (503, "unknown") and answer.headers["retry-after"]
        again = program.save({policy: stands}, seen, headers={"Idempotency_Key": f"doubt-{doubt}"})
        assert again.code == 200 and again.json["lines"] == {str(policy): stands}
        seen = again.json["version"]
    assert program.get("me/votes").json["seq"] == 2


@pytest.mark.parametrize("body, field", [
    ({"seen": ZERO}, "lines"), ({"lines": {}}, "seen"), ({"lines": [], "seen": ZERO}, "lines"), ({"lines": {"1": "2"}, "seen": ZERO}, "lines[1]"),
    ({"lines": {"x": 2}, "seen": ZERO}, "lines[x]"), ({"lines": {}, "seen": 7}, "seen"),
    ({"lines": {}, "seen": "z" * 32}, "seen"), ({"lines": {}, "seen": ZERO, "more": 1}, "more"),
    ({"lines": {}, "seen": ZERO, "price": 1.5}, "price"), ({"lines": {}, "seen": ZERO, "token": "x"}, "token"),
    ({"lines": {str(policy): 1 for policy in range(1, 1026)}, "seen": ZERO}, "lines")])
def test_a_save_that_cannot_be_read_names_field_and_rule(program, body, field):
    code, named, rule = program.ask("PUT", "me/votes", body).fault()
    assert (code, named) == (400, field) and rule


def test_bodies_that_are_no_json(program):
    assert program.raw("PUT", "me/votes", "{").code == 400
    assert program.raw("PUT", "me/votes", "[]").code == 400
    assert program.raw("PUT", "me/votes", "{}", {"Content-Type": "text/plain"}).fault()[:2] == (400, "Content-Type")
    assert program.raw("PUT", "me/votes", '{"seen":"a","seen":"b","lines":{}}').code == 400
    assert program.raw("PUT", "me/votes", "x" * 10_000_000).code == 413
    assert program.raw("GET", "me/votes", "{}").code == 413


def test_a_key_has_bounds(api, program):
    for key in ("x" * 256, "with blank"):
        assert program.save({1: 1}, ZERO, headers={"Idempotency_Key": key}).fault()[:2] == (400, "Idempotency-Key")


def test_history_tells_saves_and_salaries(api, program):
    policy = api.policy(api.program())
    program.save({policy: 3})
    events = program.get("me/history").json["events"]
    assert events[0]["changes"][0] == {"policy": policy, "name": "Clean rivers", "before": 0, "held": 3}
    assert sum(event["pollies"] for event in events) == 800 and program.get("me/history?before=1").json["events"]
    assert program.get("me/history?before=0").fault()[:2] == (400, "before")


# ---- Policies ----


def test_a_policy_is_proposed_once_for_a_key(api, program):
    body, headers = {"name": "One of its kind", "category": 1, "held": 120, "seen": ZERO}, {"Idempotency_Key": "proposal"}
    first = program.ask("POST", "policies", body, **headers)
    second = program.ask("POST", "policies", body, **headers)
    assert first.code == second.code == 201 and first.json["created"] == second.json["created"]
    assert program.get("me/votes").json["lines"] == {str(first.json["created"]): 120}
    stale = program.ask("POST", "policies", body)
    assert (stale.code, stale.json["outcome"], stale.json["created"]) == (409, "stale", None)


@pytest.mark.parametrize("change, field", [
    ({"name": "ab"}, "name"), ({"name": 5}, "name"), ({"name": None}, "name"), ({"category": None}, "category"), ({"category": 0}, "category"),
    ({"links": ["javascript:alert(1)"]}, "links"), ({"links": "https://a.b"}, "links"), ({"description": "x" * 20001}, "description"),
    ({"owner": 1}, "owner"), ({"held": -1}, "held"), ({"seen": "x" * 32}, "seen")])
def test_a_proposal_that_cannot_be_names_field_and_rule(program, change, field):
    code, named, rule = program.ask("POST", "policies", {"name": "Clean rivers", "category": 1, "seen": ZERO, **change}).fault()
    assert (code, named) == (400, field) and rule


def test_a_proposal_that_a_rule_refuses(program):
    answer = program.ask("POST", "policies", {"name": "Clean rivers", "category": 1, "held": 99, "seen": ZERO})
    assert (answer.code, answer.json["rule"], answer.json["created"]) == (422, "create_cost", None)
    assert program.ask("POST", "policies", {"name": "Clean rivers", "category": 999, "seen": ZERO}).code in (400, 422)


def test_of_two_changes_of_one_text_one_is_a_conflict(api, program):
    policy = api.policy(program, description="First.")
    tag = program.get(f"policies/{policy}").headers["etag"]
    changed = program.ask("PATCH", f"policies/{policy}", {"description": "Second."}, If_Match=tag)
    assert changed.code == 200 and changed.json["description"] == "Second." and changed.json["revision"] == 2
    assert changed.json["name"] == "Clean rivers", "what is not named stays"
    late = program.ask("PATCH", f"policies/{policy}", {"description": "Third."}, If_Match=tag)
    assert late.fault()[:2] == (412, "If-Match") and late.json["error"]["status"] == "precondition"
    assert program.ask("PATCH", f"policies/{policy}", {"description": "Third."}).fault()[:2] == (400, "If-Match")
    revisions = program.get(f"policies/{policy}/revisions").json["revisions"]
    assert [(entry["revision"], entry["changed"] != []) for entry in revisions] == [(2, True), (1, False)]
    assert program.get(f"policies/{policy}/revisions/1").json["description"] == "First."
    assert program.get(f"policies/{policy}/revisions/3").code == 404


def test_what_is_somebody_elses_is_theirs(api, program):
    other = api.program()
    policy = api.policy(other)
    tag = program.get(f"policies/{policy}").headers["etag"]
    assert program.ask("PATCH", f"policies/{policy}", {"name": "Mine"}, If_Match=tag).code == 403
    assert program.ask("POST", f"policies/{policy}/retire", {}).code == 403
    other.save({policy: 150})
    assert program.get("me/votes").json["lines"] == {} and program.get("me/history").json["events"][0]["is_salary"]
    session = other.owner.get("me/sessions").json["sessions"][0]["id"]
    assert program.owner.ask("DELETE", f"me/sessions/{session}").code == 404
    token = other.owner.get("me/tokens").json["tokens"][0]["id"]
    program.owner.ask("DELETE", f"me/tokens/{token}")
    assert other.get("me").code == 200, "it still works"


def test_a_policy_is_retired_once_for_a_key(api, program):
    policy, other = api.policy(program), api.policy(api.program())
    assert program.ask("POST", f"policies/{policy}/retire", {"other": policy}).fault()[:2] == (400, "other")
    assert program.ask("POST", f"policies/{policy}/retire", {"other": 999999999}).fault()[:2] == (400, "other")
    for _ in range(2):
        done = program.ask("POST", f"policies/{policy}/retire", {"other": other, "reason": NASTY}, Idempotency_Key="retire")
        assert (done.code, done.json["state"], done.json["leads_to"]) == (200, "retired", other)
    assert program.ask("POST", f"policies/{policy}/retire", {}).code in (409, 422)
    tag = program.get(f"policies/{policy}").headers["etag"]
    assert program.ask("PATCH", f"policies/{policy}", {"name": "Again"}, If_Match=tag).code == 422


def test_what_waits_for_deletion_is_not_shown_to_others(api, anybody, program):
    policy = api.policy(program, NASTY)
    api.site_fixture.tell("move", policy, "pending-deletion")
    assert anybody.get(f"policies/{policy}").json["name"] is None and program.get(f"policies/{policy}").json["name"] == NASTY
    for below in ("revisions", "revisions/1", "history"):
        assert anybody.get(f"policies/{policy}/{below}").code == 404


# ---- One's own ----


def test_profile_and_watch_list(api, program):
    policy = api.policy(api.program())
    assert program.ask("PATCH", "me/profile", {"real_name": NASTY, "real_name_shown": True}).json["real_name"] == NASTY
    assert program.get("me/profile").json["real_name_shown"] is True
    assert program.ask("PATCH", "me/profile", {"real_name": "x" * 500}).fault()[:2] == (400, "real_name")
    assert program.ask("PATCH", "me/profile", {"real_name_shown": "yes"}).fault()[:2] == (400, "real_name_shown")
    assert program.ask("PUT", f"me/watching/{policy}").code == 200
    assert [watched["policy"] for watched in program.get("me/watching").json["policies"]] == [policy]
    assert program.ask("PUT", "me/watching/999999999").code == 404
    assert program.ask("DELETE", f"me/watching/{policy}").code == 200 and program.get("me/watching").json["policies"] == []


def test_notices_tell_what_happened_and_are_dismissed(api, program):
    owner = api.program()
    policy = api.policy(owner)
    program.save({policy: 5})
    owner.ask("POST", f"policies/{policy}/retire", {"reason": NASTY})
    (notice,) = program.get("me/notices").json["notices"]
    assert (notice["kind"], notice["policy"], notice["reason"]) == ("retired", policy, NASTY)
    assert program.ask("DELETE", f"me/notices/{notice['id']}").code == 200
    assert program.get("me/notices").json["notices"] == []
    assert program.ask("DELETE", "me/notices/nothing").code == 404


def test_all_notices_are_dismissed_at_once(api, program):
    owner = api.program()

    def happens(count):
        policies = [api.policy(owner) for _ in range(count)]
        for policy in policies:
            program.save({policy: 5})
            owner.ask("POST", f"policies/{policy}/retire", {})
        return [notice["id"] for notice in program.get("me/notices").json["notices"]]

    assert program.ask("DELETE", "me/notices").code == 200, "also when there are none"
    newest, middle, oldest = happens(3)
    assert program.ask("DELETE", "me/notices?through=nothing").code == 404
    assert program.ask("DELETE", f"me/notices?through={middle}").code == 200
    assert [notice["id"] for notice in program.get("me/notices").json["notices"]] == [newest]
    assert len(happens(1)) == 2
    assert program.ask("DELETE", "me/notices").code == 200 and program.get("me/notices").json["notices"] == []
    assert len(happens(1)) == 1, "later ones come"


def test_tokens_are_made_and_ended_by_people_only(api, program):
    assert program.ask("POST", "me/tokens", {"name": "another"}).fault()[:2] == (403, "Authorization")
    owner = program.owner
    assert owner.ask("POST", "me/tokens", {"name": "x", "scope": "all"}).fault()[:2] == (400, "scope")
    for days in (0, -1, 3661):
        assert owner.ask("POST", "me/tokens", {"name": "x", "days": days}).fault()[:2] == (400, "days")
    listed = owner.get("me/tokens").json["tokens"]
    assert [(token["name"], token["scope"], token["secret"]) for token in listed] == [("program", "write", None)]
    assert listed[0]["ends"] is not None
    assert program.ask("DELETE", f"me/tokens/{listed[0]['id']}").fault()[:2] == (403, "Authorization")
    assert owner.ask("DELETE", f"me/tokens/{listed[0]['id']}").code == 200
    assert program.get("me").fault()[:2] == (401, "Authorization")


def test_a_token_that_only_reads_may_ask_what_a_change_costs(api):
    reader = api.program(scope="read")
    policy = api.policy(api.program())
    assert reader.ask("POST", "me/votes/cost", {"lines": {str(policy): 5}}).json["balance"] == 795
    assert reader.save({policy: 5}).fault()[:2] == (403, "Authorization")


def test_who_is_not_known_is_told_how_to_be(api, anybody):
    for client in (anybody, Client(api, token="ost_" + "x" * 43), Client(api, secret="x" * 43)):
        answer = client.get("me")
        assert answer.code == 401 and answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("method, path, body", [
    ("PUT", "me/password", {"old": "a", "password": "a new horse 1"}), ("POST", "me/email", {"email": "a@example.org", "password": "a"}),
    ("POST", "me/email/confirm", {"token": "x" * 43}), ("POST", "me/delete", {"password": "a"}), ("DELETE", "me/sessions", None)])
def test_a_token_does_not_take_an_account_over(program, method, path, body):
    assert program.ask(method, path, body).fault()[:2] == (403, "Authorization")


def test_a_session_that_is_ended_is_over(api):
    script = api.session()
    (session,) = script.get("me/sessions").json["sessions"]
    assert script.ask("DELETE", f"me/sessions/{session['id']}").code == 200
    assert script.get("me").code == 401 and script.get("session").json["known"] is False


# ---- The document ----


def test_the_document_names_every_route_with_all_it_takes(api, anybody):
    assert api.document["openapi"] == "3.1.0"
    for path, operations in api.document["paths"].items():
        for method, operation in operations.items():
            assert operation["summary"] and operation["tags"], (method, path)
            named = {row["name"] for row in operation["parameters"] if row["in"] == "path"}
            assert named == set(re.findall(r"\{(\w+)\}", path)), path
    for method in ("POST", "QUERY", "TRACE"):
        assert anybody.raw(method, "rankings").code == 405
    assert anybody.get("nothing").code == 404
    assert anybody.raw("GET", "rankings?%zz").json["error"]["status"] == "invalid", "also what cannot be read is answered as JSON"


def test_the_page_for_people_names_every_route_and_every_schema(api):
    page = api.site_fixture.voter(f"reader{next(NAMES)}").get("/api")
    assert page.code == 200 and page.title() == "For programs"
    for path, operations in api.document["paths"].items():
        for method in operations:
            assert f"{method.upper()} {path}" in page.words
    for name in api.document["components"]["schemas"].keys() - {"Error"}:
        assert f'id="{name}"' in page.text


def test_every_reference_leads_somewhere(api):
    names = set(re.findall(r"#/components/schemas/(\w+)", json.dumps(api.document)))
    assert names == set(api.document["components"]["schemas"])
