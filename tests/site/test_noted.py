"""Whatever is done by a role or by a command is in the log of acts: every row of the table of commands, and every row of the table of routes that
changes something and asks for a role. A new row that stands in no list below fails."""
import http.client
import itertools
import json
import re
import subprocess
import urllib.parse

import pytest
from browser import Browser
from conftest import ostraka
from test_admin import House
from test_people import shared

COMMANDS = json.loads(ostraka("help", "--json").stdout)
ROUTES = json.loads(ostraka("routes", "--json").stdout)
NOWHERE = "0" * 31 + "1"  # names a thing that is not there
numbers = itertools.count(1)


class Site(House):
    """With somebody's policies and reports to act upon."""

    def acts_now(self):
        return json.loads(self.tell("audit", "list", "--json", "--limit", "20"))["acts"]

    def voter(self):
        self.newest = f"somebody{next(numbers)}"
        self.tell("user", "add", self.newest, "--email", f"{self.newest}@example.org", "--confirmed")
        return self.newest

    def version(self):
        return json.loads(self.tell("user", "show", self.newest, "--json"))["version"]

    def pending(self):
        name = f"pending{next(numbers)}"
        self.tell("user", "add", name, "--email", f"{name}@example.org")
        return name

    def policy(self):
        self.owner = self.voter()
        return json.loads(self.tell("policy", "create", "--as", self.owner, "--name", f"Number {next(numbers)}", "--description", "x",
                                    "--category", "Health", "--json"))["policy"]

    def hidden(self):
        policy = self.policy()
        self.tell("policy", "delete", str(policy), "--reason", "abuse")
        return policy

    def featured(self):
        policy = self.policy()
        self.tell("feature", "set", str(policy))
        return policy

    def report(self):
        visitor, policy = Browser(self.server.port), self.policy()
        page = visitor.send(visitor.get(f"/policies/{policy}/report"), "/report", words="It is spam.", email="visitor@example.org")
        assert page.code == 200, page.words
        return max(one["id"] for one in json.loads(self.tell("report", "list", "--json"))["reports"])

    def taken(self):
        report = self.report()
        self.tell("report", "take", str(report), "--as", "admin")
        return report

    def file(self, text):
        path = self.directory / f"file{next(numbers)}"
        path.write_text(text)
        return str(path)

    def put(self, *words):
        return json.loads(self.tell("journal", "put", "work", "x", *words, "--json"))["id"]

    def future(self):
        return self.put("--delay", "1000")

    def claimed(self):
        """The token of a run that has just begun."""
        self.put("--priority", "NOW")
        return json.loads(self.tell("journal", "claim", "work", "--json"))["entries"][0]["token"]

    def dead(self):
        self.put("--priority", "NOW")
        entry = json.loads(self.tell("journal", "claim", "work", "--json"))["entries"][0]
        self.tell("journal", "bury", entry["token"])
        return entry["id"]

    def person(self):
        return json.loads(self.tell("user", "show", self.voter(), "--json"))["id"]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    directory = tmp_path_factory.mktemp("noted")
    (directory / "journals").write_text("[journal work]\nput = any\nclaim = any\n")
    site = Site(directory, "--mail-outbox", "--journal-file", str(directory / "journals"))
    yield site
    assert site.server.stop() == 0


# ---- Commands ----------------------------------------------------------------------------------------------------------

# By the command's name: what stands after it, words or what makes them; and where it is done in a voter's own name, that line, too.
LINES = {
    "user add": [["dora", "--email", "dora@example.org", "--role", "feature"]],
    "user confirm": [[Site.pending]],
    "user rights": [[Site.voter, "--seen", Site.version, "--role", "feature", "--deny", "comment", "--reason", "Too many links."]],
    "user second-off": [[Site.voter]],
    "user logout": [[Site.voter]],
    "user delete": [[Site.voter]],
    "policy create": [["--as", Site.voter, "--name", "Made by command", "--description", "x", "--category", "Health"]],
    "policy edit": [[Site.policy, "--name", "Another name"], [Site.policy, "--name", "Again another", "--as", lambda site: site.owner]],
    "policy retire": [[Site.policy, "--reason", "over"], [Site.policy, "--as", lambda site: site.owner]],
    "policy merge": [[Site.policy, "--into", Site.policy, "--reason", "the same"], [Site.policy, Site.policy, Site.policy, "--into", "new", "--reason", "so"]],
    "policy delete": [[Site.policy, "--reason", "abuse"]],
    "policy appeal": [[Site.hidden, "--reason", "a mistake"]],
    "policy repair-time": [[Site.policy, "--reason", "the clock was wrong"]],
    "clock confirm": [[]],
    "policy answer": [[Site.policy, "--text", "Yes.", "--outcome", "accepted"]],
    "category add": [["Harbours"]],
    "category set": [["Harbours", "--active", "off"]],
    "party add": [["Reds"]],
    "party set": [["Reds", "--active", "off"]],
    "vote save": [["--as", Site.voter, lambda site: f"{site.policy()}=0"]],
    "follow set": [["category", "1", "--as", Site.voter]],
    "profile set": [["--as", Site.voter, "--real-name", "A person"]],
    "watch add": [["--as", Site.voter, Site.policy]],
    "watch remove": [["--as", Site.voter, Site.policy]],
    "notice dismiss": [["--as", Site.voter, "1-m1"]],
    "notice dismiss-all": [["--as", Site.voter]],
    "mailbox set": [["--as", Site.voter, "--digest", "weekly"]],
    "data show": [["--as", Site.voter]],
    "vote show": [["--as", Site.voter]],
    "vote history": [["--as", Site.voter]],
    "vote cost": [["--as", Site.voter, lambda site: f"{site.policy()}=0"]],
    "profile show": [["--as", Site.voter]],
    "notice list": [["--as", Site.voter]],
    "watch list": [["--as", Site.voter]],
    "follow list": [["--as", Site.voter]],
    "mailbox show": [["--as", Site.voter]],
    "session list": [["--as", Site.voter]],
    "token list": [["--as", Site.voter]],
    "connection list": [["--as", Site.voter]],
    "second show": [["--as", Site.voter]],
    "rights show": [["--as", Site.voter]],
    "email change": [["--as", Site.voter, "moved@example.org"]],
    "report policy": [["--as", Site.voter, Site.policy, "--words", "It is spam."]],
    "report trouble": [["--as", Site.voter, "--words", "No letter came."]],
    "setting set": [["salary", "110"]],
    "task run": [["names"]],
    "report take": [[Site.report, "--as", "admin"]],
    "report return": [[Site.taken, "--as", "admin"]],
    "report dismiss": [[Site.taken, "--as", "admin", "--reason", "It is fine."]],
    "report act": [[Site.taken, "--as", "admin", "--reason", "It was edited."]],
    "feature set": [[Site.policy]],
    "feature remove": [[Site.featured]],
    "mail retry": [[]],
    "mail bounce": [["gone@example.org"]],
    "mail allow": [["gone@example.org"]],
    "mail test": [["somebody@example.org", "--queue"]],
    "retention set": [["acts", "700"]],
    "text write": [["terms", lambda site: site.file("Be kind.")]],
    "electorate set": [["open"]],
    "invite": [["ines@example.org"]],
    "invite import": [[lambda site: site.file("email\nidris@example.org\n")]],
    "invite withdraw": [["ines@example.org"]],
    "roll import": [[lambda site: site.file("email\nrosa@example.org\n")]],
    "roll remove": [[lambda site: site.file("email\nrosa@example.org\n")]],
    "roll clear": [[]],
    "journal put": [["work", "x", "--as", Site.voter]],
    "journal claim": [["work", "--as", Site.voter]],
    **{f"journal {end}": [[Site.claimed, "--as", "admin"]] for end in ("extend", "done", "release", "fail", "bury")},
    "journal requeue": [[Site.dead]],
    "journal kick": [[Site.future]],
    "journal remove": [[Site.future]],
    "journal pause": [["work", "1"]],
    "journal resume": [["work"]],
    "journal reload": [[]],
    "backup": [[lambda site: str(site.directory / f"copy{next(numbers)}")]],
    "maintenance on": [["--message", "Back soon"]],
    "maintenance off": [[]],
}
# What has its own test, or needs a site that is broken.
ELSEWHERE = {"serve": "test_audit.py", "verify": "test_tasks.py", "session end": "test_doors.py", "token end": "test_doors.py", "connection end": "test_doors.py", "rights appeal": "test_doors.py"}


def test_every_command_says_what_the_log_of_acts_hears_of_it():
    assert not [one["name"] for one in COMMANDS if bool(one["acts"]) == bool(one["none"])]
    assert {one["name"] for one in COMMANDS if one["acts"]} == set(LINES) | set(ELSEWHERE)


def new_acts(site, before):
    known = {act["id"] for act in before}
    return [act for act in site.acts_now() if act["id"] not in known]


@pytest.mark.parametrize("name", LINES)
def test_a_command_is_in_the_log_before_it_is_done(site, name):
    row = next(one for one in COMMANDS if one["name"] == name)
    for line in LINES[name]:
        words = [str(word(site)) if callable(word) else word for word in line]
        before = site.acts_now()
        done = subprocess.run([shared.CLIENT, *name.split(), *words, "--data", site.server.data], env=shared.clean_environment(), capture_output=True,
                              text=True, timeout=60)
        news = new_acts(site, before)
        assert news and {act["kind"] for act in news} <= set(row["acts"]), (done.stderr, news)
        assert {act["origin"] for act in news} == {"command line"}
        if name not in ("user second-off", "policy repair-time"):  # nobody here has one, and no clock was wrong
            assert done.returncode == 0, done.stderr
            assert {act["outcome"] for act in news} == {"done"}


def test_a_command_that_reads_what_is_nobodys_own_notes_nothing(site):
    policy = site.policy()
    before = site.acts_now()
    for words in (["user", "list"], ["policy", "show", str(policy)], ["policy", "answer", str(policy)],
                  ["setting", "list"], ["maintenance"], ["verify"]):
        site.tell(*words)
    assert not new_acts(site, before)


READING = ["vote show", "vote history", "vote cost", "profile show", "notice list", "watch list", "follow list", "mailbox show", "session list",
           "token list", "connection list", "second show", "rights show", "data show"]


def test_every_command_that_reads_what_is_somebodys_own_takes_a_reason():
    assert {one["name"] for one in COMMANDS if "person-read" in one["acts"]} == set(READING)
    for name in READING:
        assert "--reason TEXT" in ostraka(*name.split(), "--help").stdout


def letters_about(site, name):
    return [one for one in json.loads(site.tell("mail", "list", "--json"))["messages"] if one["kind"] == "looked-at" and one["to"] == f"{name}@example.org"]


@pytest.mark.parametrize("name", READING)
@pytest.mark.parametrize("why", ["Asked by post on Monday", None], ids=["reason", "no-reason"])
def test_reading_what_is_somebodys_own_is_noted_and_told(site, name, why):
    """Through the control socket of a running site."""
    policy = site.policy()  # of somebody new, who owns it
    before, letters = site.acts_now(), len(letters_about(site, site.owner))
    site.tell(*name.split(), *([f"{policy}=0"] if name == "vote cost" else []), "--as", site.owner, *(["--reason", why] if why else []))
    (act,) = new_acts(site, before)
    person = json.loads(site.tell("user", "show", site.owner, "--json"))["id"]
    assert (act["kind"], act["object"], act["reason"], act["actor"]) == ("person-read", person, why or "no reason given", None)
    assert len(letters_about(site, site.owner)) == letters + 1
    told = [one for one in json.loads(site.tell("notice", "list", "--as", site.owner, "--json"))["notices"] if one["kind"] == "looked-at"]
    mine = [one for one in told if one["id"] == f"command-{act['id']}"]
    assert [(one["policy"], one["command"], one["reason"]) for one in mine] == [(None, name, why or "no reason given")]
    assert mine[0]["shown"], "the notice says what was shown"


def test_a_reason_has_its_bound_and_nothing_is_shown_over_it(site):
    site.policy()
    before = site.acts_now()
    done = site.command("vote", "show", "--as", site.owner, "--reason", "x" * 1001)
    assert done.returncode == 1 and done.stdout == "" and "reason" in done.stderr and not new_acts(site, before)


def test_a_command_that_shows_while_it_changes_tells_the_person_too(site):
    policy = site.policy()
    letters = len(letters_about(site, site.owner))
    stale = site.command("vote", "save", "--as", site.owner, f"{policy}=5", "--seen", NOWHERE, "--json", "--reason", "a trick")
    assert json.loads(stale.stdout)["outcome"] == "stale"
    (act,) = [act for act in site.acts_now() if act["reason"] == "a trick"]
    assert act["kind"] == "person-as" and len(letters_about(site, site.owner)) == letters + 1


def test_what_somebody_holds_is_not_in_the_log(site):
    policy = site.policy()
    before = site.acts_now()
    site.tell("vote", "save", "--as", site.owner, f"{policy}=77")
    noted = json.dumps(new_acts(site, before))
    assert "vote save" in noted and "77" not in json.dumps([{**act, "id": "", "time": ""} for act in new_acts(site, before)])


def test_commands_alone_are_noted_as_those_beside_a_server(tmp_path):
    data = str(tmp_path / "data")
    for words in (["user", "add", "ada", "--email", "ada@example.org"], ["maintenance", "on"], ["backup", str(tmp_path / "copy")], ["maintenance", "off"]):
        assert ostraka(*words, "--data", data).returncode == 0
    acts = json.loads(ostraka("audit", "list", "--json", "--data", data).stdout)["acts"]
    assert [act["kind"] for act in acts] == ["maintenance", "backup", "maintenance", "person-add"]
    assert {(act["origin"], act["outcome"]) for act in acts} == {("command line", "done")}


def test_without_the_key_there_is_a_backup_all_the_same_and_no_maintenance(tmp_path):
    data = str(tmp_path / "data")
    assert ostraka("user", "add", "ada", "--email", "ada@example.org", "--data", data).returncode == 0
    (tmp_path / "data.key").rename(tmp_path / "lost.key")
    refused = ostraka("maintenance", "on", "--data", data)
    assert refused.returncode == 1 and "data.key" in refused.stderr
    assert "off" in ostraka("maintenance", "--data", data).stdout
    made = ostraka("backup", str(tmp_path / "copy"), "--data", data)
    assert made.returncode == 0 and "no note" in made.stderr


# ---- Routes ------------------------------------------------------------------------------------------------------------

MERGE = {"other": Site.policy, "reason": "the same", "into": "this"}
WHY = {"reason": "because"}
LIST = {"lines": "email\nlena@example.org\n"}
ANSWER = {"text": "Yes.", "outcome": "accepted", "seen": "0" * 32}


def token(site):
    return f"{next(numbers):032x}"


# By method and path: what it is in the log; what its parameters hold.
DEEDS = {
    "POST /admin/mail/retry": ("mail-retry", {"letter": NOWHERE}),
    "POST /admin/mail/suppress": ("mail-suppress", {"address": "one@example.org"}),
    "POST /admin/mail/allow": ("mail-allow", {"address": "one@example.org"}),
    "POST /api/v1/admin/mail/retry": ("mail-retry", {"letter": NOWHERE}),
    "POST /api/v1/admin/mail/suppress": ("mail-suppress", {"address": "two@example.org"}),
    "POST /api/v1/admin/mail/allow": ("mail-allow", {"address": "two@example.org"}),
    "POST /policies/{policy}/answer": ("policy-answer", {"policy": Site.policy, **ANSWER}),
    "PUT /api/v1/moderation/policies/{policy}/answer": ("policy-answer", {"policy": Site.policy, **ANSWER}),
    "POST /policies/{policy}/merge": ("policy-merge", {"policy": Site.policy, **MERGE, "token": token}),
    "POST /api/v1/moderation/policies/{policy}/merge": ("policy-merge", {"policy": Site.policy, **MERGE}),
    "POST /policies/{policy}/delete": ("policy-delete", {"policy": Site.policy, **WHY, "token": token}),
    "POST /api/v1/moderation/policies/{policy}/delete": ("policy-delete", {"policy": Site.policy, **WHY}),
    "POST /policies/{policy}/restore": ("policy-restore", {"policy": Site.hidden, **WHY, "token": token}),
    "POST /api/v1/moderation/policies/{policy}/restore": ("policy-restore", {"policy": Site.hidden, **WHY}),
    "POST /policies/{policy}/retire": ("policy-retire", {"policy": Site.policy, **WHY, "token": token}),
    "POST /api/v1/policies/{policy}/retire": ("policy-retire", {"policy": Site.policy, **WHY}),
    "POST /policies/{policy}/edit": ("policy-edit", {"policy": Site.policy, "name": "By an editor", "category": 1, "seen": "of /api/v1/policies/{policy}"}),
    "PATCH /api/v1/policies/{policy}": ("policy-edit", {"policy": Site.policy, "name": "By an editor's program"}),
    "POST /desk/reports/{report}/take": ("report-take", {"report": Site.report}),
    "POST /desk/reports/{report}/return": ("report-return", {"report": Site.taken}),
    "POST /desk/reports/{report}/dismiss": ("report-dismiss", {"report": Site.taken, **WHY}),
    "POST /desk/reports/{report}/act": ("report-act", {"report": Site.taken, **WHY}),
    "POST /api/v1/moderation/reports/{report}/take": ("report-take", {"report": Site.report}),
    "POST /api/v1/moderation/reports/{report}/return": ("report-return", {"report": Site.taken}),
    "POST /api/v1/moderation/reports/{report}/dismiss": ("report-dismiss", {"report": Site.taken, **WHY}),
    "POST /api/v1/moderation/reports/{report}/act": ("report-act", {"report": Site.taken, **WHY}),
    "POST /desk/featured": ("feature-set", {"policy": Site.policy}),
    "POST /desk/featured/{policy}/remove": ("feature-remove", {"policy": Site.featured}),
    "PUT /api/v1/featured/{policy}": ("feature-set", {"policy": Site.policy}),
    "DELETE /api/v1/featured/{policy}": ("feature-remove", {"policy": Site.featured}),
    "POST /admin/electorate": ("electorate-set", {"mode": "open", "version": "of /api/v1/admin/electorate"}),
    "PUT /api/v1/admin/electorate": ("electorate-set", {"mode": "open", "version": "of /api/v1/admin/electorate"}),
    "POST /admin/electorate/invite": ("invite", {"email": "irma@example.org"}),
    "POST /api/v1/admin/invitations": ("invite", {"email": "ivo@example.org"}),
    "POST /admin/electorate/invites": ("invite", LIST),
    "POST /api/v1/admin/invitations/list": ("invite", LIST),
    "POST /admin/electorate/withdraw": ("invite-withdraw", {"email": "irma@example.org"}),
    "POST /api/v1/admin/invitations/withdraw": ("invite-withdraw", {"email": "ivo@example.org"}),
    "POST /admin/electorate/roll": ("roll-change", LIST),
    "POST /api/v1/admin/roll": ("roll-change", LIST),
    "POST /admin/tasks/{task}": ("task-run", {"task": "names"}),
    "POST /api/v1/admin/tasks/{task}": ("task-run", {"task": "names"}),
    "POST /admin/store/backup": ("backup", {}),
    "POST /api/v1/admin/backups": ("backup", {}),
    "POST /admin/store/maintenance": ("maintenance", {"message": "Back soon"}),
    "POST /admin/store/maintenance/off": ("maintenance", {}),
    "PUT /api/v1/admin/maintenance": ("maintenance", {"on": False}),
    "DELETE /api/v1/admin/maintenance": ("maintenance", {}),
    "POST /admin/categories": ("category-add", {"name": "Bridges", "active": "on"}),
    "POST /api/v1/admin/categories": ("category-add", {"name": "Tunnels", "active": True}),
    "POST /admin/categories/{category}": ("category-set", {"category": 2, "name": "Taxes", "active": "on"}),
    "PATCH /api/v1/admin/categories/{category}": ("category-set", {"category": 2, "description": "What we all pay."}),
    "POST /admin/parties": ("party-set", {"name": "Blues", "active": "on"}),
    "POST /api/v1/admin/parties": ("party-set", {"name": "Greens", "active": True}),
    "POST /admin/parties/{party}": ("party-set", {"party": 1, "name": "Deep blues", "active": "on"}),
    "PATCH /api/v1/admin/parties/{party}": ("party-set", {"party": 1, "active": False}),
    "POST /admin/people/{id}": ("person-rights", {"id": Site.person, "roles": "feature", "reason": "For the front page.", "version": "of /api/v1/admin/people/{id}"}),
    "PUT /api/v1/admin/people/{id}/rights": ("person-rights", {"id": Site.person, "roles": ["feature"], "reason": "For the front page.", "version": "of /api/v1/admin/people/{id}"}),
    "POST /admin/people/{id}/sessions": ("person-sessions", {"id": Site.person}),
    "POST /api/v1/admin/people/{id}/logout": ("person-sessions", {"id": Site.person}),
    "POST /admin/settings": ("setting-set", {"name": "salary", "value": "120"}),
    "POST /api/v1/admin/settings": ("setting-set", {"name": "salary", "value": "130"}),
    "POST /admin/settings/retention": ("retention-set", {"name": "acts", "days": 600, "version": "of /api/v1/admin/settings"}),
    "PUT /api/v1/admin/retention": ("retention-set", {"name": "acts", "days": 500, "version": "of /api/v1/admin/settings"}),
    "POST /admin/texts": ("text-write", {"text": "privacy", "words": "We keep little."}),
    **{f"{place}/journals/{{journal}}/{what}": ("journal", {"journal": "work", **values}) for place in ("POST /admin", "POST /api/v1")
       for what, values in (("pause", {"seconds": 1}), ("resume", {}), ("requeue", {}), ("entries/{id}/requeue", {"id": Site.dead}))},
    "POST /api/v1/journals/{journal}/entries/{id}/kick": ("journal", {"journal": "work", "id": Site.future}),
    "POST /admin/journals/{journal}/entries/{id}/remove": ("journal", {"journal": "work", "id": Site.future}),
    "DELETE /api/v1/journals/{journal}/entries/{id}": ("journal", {"journal": "work", "id": Site.future}),
    "POST /admin/journals/reload": ("journal", {}),
    "POST /api/v1/journals/reload": ("journal", {}),
    "PUT /api/v1/admin/texts": ("text-write", {"text": "privacy", "words": "We keep less.", "revision": 1}),
}


def test_every_route_that_changes_something_by_a_role_is_in_the_list():
    rows = {f"{one['method']} {one['path']}" for one in ROUTES
            if one["method"] != "GET" and (one["access"] == "role" or one["whose"] == "own or role")}
    assert rows == set(DEEDS)


def version(site, path):
    """Of what stands at an address of the interface."""
    stands = json.loads(site.browser("admin").get(path).text)
    return stands["retention_version" if path.endswith("settings") else "version"]


def fill(site, route, values):
    """The path, and what goes into the body."""
    held = {name: value(site) if callable(value) else value for name, value in values.items()}
    path, body = route["path"], {}
    places = {param["name"]: param["from"] for param in route["params"]}
    for name, value in held.items():
        if places[name] == "path":
            path = path.replace("{" + name + "}", str(value))
        elif str(value).startswith("of "):
            body[name] = version(site, value[3:].format(**held))
        else:
            body[name] = value
    return path, body, held


def send(site, browser, route, values):
    path, body, held = fill(site, route, values)
    csrf = re.search(r'name="csrf" value="([0-9a-f]+)"', browser.get("/admin/store").text)[1]  # also while the site is closed
    headers = {"Accept": "text/html", "Cookie": "; ".join(f"{name}={value}" for name, value in browser.cookies.items()), "X-CSRF-Token": csrf}
    if path.startswith("/api/"):
        headers["Content-Type"], content = "application/json", json.dumps(body)
    else:
        headers["Content-Type"], content = "application/x-www-form-urlencoded", urllib.parse.urlencode({**body, "csrf": csrf})
    if route["path"].endswith("/policies/{policy}") and route["method"] == "PATCH":
        headers["If-Match"] = version(site, path)
    if path.startswith("/api/") and not any(param["from"] == "json" for param in route["params"]):
        content, _ = None, headers.pop("Content-Type")
    connection = http.client.HTTPConnection("127.0.0.1", site.server.port, timeout=30)
    connection.request(route["method"], path, content, headers)
    answer = connection.getresponse()
    answer.text = answer.read().decode()
    connection.close()
    return answer


@pytest.mark.parametrize("deed", DEEDS)
def test_a_deed_by_a_role_is_in_the_log_with_who_and_from_where(site, deed):
    method, path = deed.split()
    route = next(one for one in ROUTES if (one["method"], one["path"]) == (method, path))
    kind, values = DEEDS[deed]
    values = {name: value(site) if callable(value) else value for name, value in values.items()}  # what that notes is before
    before = site.acts_now()
    answer = send(site, site.browser("admin"), route, values)
    news = [act for act in new_acts(site, before) if act["actor"] is not None]
    assert [act["kind"] for act in news] == [kind], (answer.status, answer.text[:500])
    assert news[0]["actor"] == site.people["admin"] and news[0]["origin"] == "127.0.0.1"
    if "mail/retry" not in path:  # there is no such letter
        assert answer.status in (200, 201, 202, 204, 303) and news[0]["outcome"] == "done", (answer.status, answer.text[:500], news)
