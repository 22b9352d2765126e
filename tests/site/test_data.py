"""Download my data: all of it, for its owner alone, with the password."""
import json

import pytest

from program import Api, Client
from test_people import PASSWORD, SitePeople, shared

PARTS = {"made", "id", "name", "email", "real_name", "real_name_shown", "state", "registered", "votes", "history", "policies", "watching", "following",
         "notices", "sessions", "logins", "tokens", "connections", "second_factor"}


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    town = SitePeople(tmp_path_factory.mktemp("data"))
    yield town
    town.server.stop()
    town.office.stop()


def call(town, *words):
    done = shared.ostraka(*words, "--data", town.server.data, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout) if done.stdout[:1] in "{[" else done.stdout


def test_the_file_has_everything_of_mine_and_nothing_of_others(town):
    shared.ostraka("user", "add", "anna", "--email", "anna@example.org", "--confirmed", "--registered",
                   "2020-01-01T00:00:00Z", "--data", town.server.data)
    other = town.person("zelda")
    anna = town.person("berta")
    policies = [call(town, "policy", "create", "--as", "anna", "--name", f"Of anna {i}", "--description", "x", "--category", "Transport",
                     "--votes", "100")["policy"] for i in range(2)]
    for held in range(1, 46):  # more than two pages of history
        call(town, "vote", "save", "--as", "berta", f"{policies[0]}={held}")
    anna.send("/my/tokens", "/my/tokens", name="<b>mine</b>", password=PASSWORD)
    assert anna.ask("POST", "/my/following", {**anna.get(anna.get("/categories/1").location).form("/my/following")}).code == 303
    answer = anna.send("/my/data", "/my/data", password=PASSWORD)
    assert answer.code == 200 and answer.headers["content-type"].startswith("application/json")
    assert answer.headers["content-disposition"] == 'attachment; filename="my-data.json"' and "no-store" in answer.headers["cache-control"]
    data = json.loads(answer.text)
    assert set(data) == PARTS
    assert (data["name"], data["email"], data["state"]) == ("berta", "berta@example.org", "confirmed")
    assert data["votes"]["lines"] == {str(policies[0]): 45}
    saves = [event["seq"] for event in data["history"]["events"] if not event["is_salary"]]
    assert saves == list(range(45, 0, -1)) and data["history"]["next"] is None
    assert sum(event["pollies"] for event in data["history"]["events"]) == 100
    assert [token["name"] for token in data["tokens"]["tokens"]] == ["<b>mine</b>"]
    assert [(one["kind"], one["group"], one["name"]) for one in data["following"]] == [("category", 1, "Education")]
    assert data["logins"][0]["success"] and data["sessions"]["sessions"]
    for secret in (PASSWORD, "ost_", anna.cookies["session"], "$2b$"):
        assert secret not in answer.text
    assert "anna@example.org" not in answer.text and "zelda" not in answer.text


def test_it_asks_for_the_password_and_counts_tries(town):
    cora = town.person("cora")
    refused = cora.send("/my/data", "/my/data", password="not it at all")
    assert refused.code == 422 and 'id="password-fault"' in refused.text and "attachment" not in str(refused.headers)
    assert cora.ask("POST", "/my/data", {"password": PASSWORD}).code == 403
    assert town.browser().get("/my/data").location.startswith("/login?")
    codes = [cora.send("/my/data", "/my/data", password=f"wrong number {i}").text for i in range(12)]
    assert "Too many tries" in codes[-1]


def test_programs_get_the_same(town):
    dora = town.person("dora")
    client = Client(Api(town.server.port), secret=dora.cookies["session"])
    client.csrf = client.get("session").json["csrf"]
    token = client.ask("POST", "me/tokens", {"name": "x", "scope": "write", "password": PASSWORD}).json["secret"]
    reply = client.ask("POST", "me/data", {"password": PASSWORD})
    assert reply.code == 200 and set(reply.json) == PARTS
    assert client.ask("POST", "me/data", {"password": "wrong"}).fault()[:2] == (422, "password")
    assert Client(Api(town.server.port), token=token).ask("POST", "me/data", {"password": PASSWORD}).code == 403
