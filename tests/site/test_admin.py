"""The rooms of those who run the site, by their own forms: people, parties, rules, activity, tasks, store, who may join, texts."""
import json
import re
import urllib.parse

import pytest
from browser import Browser
from conftest import ostraka
from test_people import PASSWORD, shared

ROOMS = ["/admin", "/admin/people", "/admin/categories", "/admin/parties", "/admin/settings", "/admin/activity", "/admin/tasks", "/admin/store",
         "/admin/electorate", "/admin/texts"]


class House:
    """`ostraka serve` with an admin, somebody who edits people, and two voters."""

    program = None  # the one that is tested; commands run inside it

    def __init__(self, directory, *flags):
        self.directory = directory
        self.server = shared.Serve(directory / "data", "--empty", *flags, program=self.program)
        self.people = {}
        for name, role in (("admin", "admin"), ("edda", "edit_users"), ("vera", None), ("volker", None)):
            self.tell("user", "add", name, "--email", f"{name}@example.org", "--confirmed", "--password-stdin",
                      *(("--role", role) if role else ()), input=PASSWORD)
            self.people[name] = json.loads(self.tell("user", "show", name, "--json"))["id"]
        self.browsers = {}

    def command(self, *words, input=None):
        import subprocess
        return subprocess.run([shared.CLIENT, *words, "--data", self.server.data], env=shared.clean_environment(), capture_output=True,
                              text=True, input=input, timeout=60)

    def tell(self, *words, input=None):
        done = self.command(*words, input=input)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def browser(self, name=None):
        if name is None:
            return Browser(self.server.port)
        if name not in self.browsers:
            browser = Browser(self.server.port)
            page = browser.send(browser.get("/login"), "/login", name=name, password=PASSWORD)
            assert page.code == 200 and name in page.text, page.words
            self.browsers[name] = browser
        return self.browsers[name]

    def person(self, name):
        return f"/admin/people/{self.people[name]}"

    def acts(self, kind):
        return [act for act in json.loads(self.tell("audit", "list", "--json", "--limit", "100"))["acts"] if act["kind"] == kind]


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    house = House(tmp_path_factory.mktemp("admin"))
    yield house
    assert house.server.stop() == 0


@pytest.fixture
def admin(house):
    return house.browser("admin")


def send(browser, page, action, changes=None, **fields):
    """A form with several fields of one name: `changes` is a list of pairs that replaces those names."""
    form = page.form(action)
    pairs = [(name, value) for name, value in {**form.fields, **fields}.items() if name not in {name for name, _ in changes or []}]
    return browser.ask("POST", form.action, pairs + list(changes or []))


# ---- Who gets in


@pytest.mark.parametrize("path", ROOMS)
def test_rooms_are_for_admins(house, path):
    assert house.browser("admin").get(path).code == 200
    assert house.browser("vera").ask("GET", path).code == 403
    answer = house.browser().ask("GET", path)
    assert answer.code == 303 and answer.headers["location"].startswith("/login?next=%2Fadmin")
    assert house.browser("edda").ask("GET", path).code == (200 if path == "/admin/people" else 403)


@pytest.mark.parametrize("size", [600, 2500])
def test_who_came_by_a_long_address_is_led_to_the_login_all_the_same(house, size):
    answer = house.browser().ask("GET", "/admin?x=" + "%22" * size)
    assert (answer.code, answer.headers["location"]) == (303, "/login")


def test_the_menu_leads_there(house, admin):
    assert 'href="/admin"' in admin.get("/about").text
    assert 'href="/admin"' not in house.browser("vera").get("/about").text
    assert 'href="/admin/people"' in house.browser("edda").get("/about").text


@pytest.mark.parametrize("path", ["/admin/parties", "/admin/settings", "/admin/settings/retention", "/admin/electorate", "/admin/electorate/invite",
                                  "/admin/electorate/roll", "/admin/texts", "/admin/tasks/names", "/admin/store/backup", "/admin/store/maintenance"])
def test_a_form_without_its_token_is_refused(admin, path):
    assert admin.ask("POST", path, {"mode": "open", "text": "privacy", "act": "off"}).code == 403


# ---- People


def test_people_are_found_by_name_address_role_and_state(house, admin):
    def names(query):
        return set(re.findall(r'href="/admin/people/\d+">([^<]+)<', admin.get("/admin/people?" + urllib.parse.urlencode(query)).text))
    assert {"admin", "edda", "vera", "volker"} <= names({})
    assert names({"q": "VER"}) == {"vera"}
    assert names({"q": "vera@example.org"}) == {"vera"}
    assert names({"q": "era@example.org"}) == set(), "addresses are looked up, not searched in"
    assert names({"role": "edit_users"}) == {"edda"}
    assert names({"state": "closed"}) == set()
    assert admin.get("/admin/people?position=zz").code == 404


def test_a_person_has_no_votes_and_no_network_address(house, admin):
    house.browser("vera")
    page = admin.get(house.person("vera"))
    assert "vera@example.org" in page.text and "Logged in at 1 place" in page.words
    main = page.text[page.text.index("<main"):]
    assert "127.0.0.1" not in main and "poll" not in main.lower()
    assert admin.get("/admin/people/999999").code == 404


def test_roles_and_rights_are_set_and_noted(house, admin):
    path = house.person("volker")
    answer = send(admin, admin.get(path), path, [("roles", "feature"), ("roles", "respond"), ("denied", "comment")], reason="He asked <b>")
    assert answer.code == 303, answer.words
    shown = json.loads(house.tell("user", "show", "volker", "--json"))
    assert shown["roles"] == ["feature", "respond"] and shown["denied"] == ["comment"]
    act = house.acts("person-rights")[0]
    assert act["object"] == house.people["volker"] and act["reason"] == "He asked <b>" and act["outcome"] == "done"
    activity = admin.get("/admin/activity?who=admin")
    assert "He asked &lt;b&gt;" in activity.text and "127.0.0.1" in activity.text


def test_a_form_that_saw_an_older_version_is_told(house, admin):
    path = house.person("volker")
    page = admin.get(path)
    seen = json.loads(house.tell("user", "show", "volker", "--json"))["version"]
    house.tell("user", "rights", "volker", "--deny", "tag", "--reason", "Spam.", "--seen", str(seen))
    answer = send(admin, page, path, [("denied", "vote")], reason="Why.")
    assert answer.code == 409 and "in between" in answer.words and "taken away: tag" in answer.words
    assert json.loads(house.tell("user", "show", "volker", "--json"))["denied"] == ["tag"]
    # The form that comes back has what stands now, and is of the version that stands now.
    assert send(admin, answer, path, [("denied", "tag"), ("denied", "vote")], reason="Why.").code == 303
    # So it is for programs and for commands; and none may leave out what it saw.
    program = Program(house, "admin")
    code, told = program.ask("PUT", f"people/{house.people['volker']}/rights", {"denied": [], "version": seen, "reason": "late"})
    assert code == 409 and "taken away: vote tag" in json.dumps(told)
    assert program.ask("PUT", f"people/{house.people['volker']}/rights", {"denied": [], "reason": "late"})[0] == 400
    late = house.command("user", "rights", "volker", "--seen", str(seen), "--deny", "")
    assert late.returncode == 1 and "taken away: vote tag" in late.stderr
    assert house.command("user", "rights", "volker", "--deny", "").returncode == 1
    assert json.loads(house.tell("user", "show", "volker", "--json"))["denied"] == ["vote", "tag"]


def test_who_edits_people_takes_rights_but_gives_no_roles(house):
    edda, path = house.browser("edda"), house.person("vera")
    page = edda.get(path)
    assert 'type="checkbox" name="roles"' not in page.text
    assert send(edda, page, path, [("denied", "report")], reason="Why.").code == 303
    assert json.loads(house.tell("user", "show", "vera", "--json"))["denied"] == ["report"]
    assert send(edda, edda.get(path), path, [("roles", "admin")], reason="Why.").code == 403
    assert send(edda, edda.get(house.person("edda")), house.person("edda"), [("roles", "edit_users"), ("roles", "admin")], reason="Why.").code == 403
    boss = edda.get(house.person("admin"))
    assert not [form for form in boss.reader.forms if form.action.endswith(house.person("admin"))]
    token = page.form(path).fields["csrf"]
    assert edda.ask("POST", house.person("admin"), {"csrf": token, "roles": "admin", "denied": "log_in", "version": "1", "reason": "x"}).code == 403
    assert edda.ask("POST", house.person("admin") + "/sessions", {"csrf": token}).code == 403


def test_an_admin_cannot_lock_themselves_out(house, admin):
    path = house.person("admin")
    answer = send(admin, admin.get(path), path, [("roles", "feature")], reason="Why.")
    assert answer.code == 422 and "from yourself" in answer.words
    assert json.loads(house.tell("user", "show", "admin", "--json"))["roles"] == ["admin"]
    assert send(admin, admin.get(path), path, [("roles", "nonsense")], reason="Why.").code == 422


def test_somebody_is_logged_out_everywhere(house, admin):
    house.tell("user", "add", "otto", "--email", "otto@example.org", "--confirmed", "--password-stdin", input=PASSWORD)
    house.people["otto"] = json.loads(house.tell("user", "show", "otto", "--json"))["id"]
    otto = house.browser("otto")
    assert otto.get("/my/votes").path == "/my/votes"
    path = house.person("otto")
    assert send(admin, admin.get(path), path + "/sessions").code == 303
    assert otto.ask("GET", "/my/votes").headers["location"].startswith("/login?gone=1")
    assert house.acts("person-sessions")[0]["object"] == house.people["otto"]


def test_signals_have_reasons(tmp_path):
    house = House(tmp_path, "--mail-outbox")
    admin, guest = house.browser("admin"), house.browser()
    for number in (1, 2):
        guest.send(guest.get("/register"), "/register", name=f"twin{number}", email=f"t.win+{number}@example.org", password=PASSWORD)
    ids = {person["name"]: person["id"] for person in json.loads(house.tell("user", "list", "--json"))["people"] if person["name"].startswith("twin")}
    page = admin.get(f"/admin/people/{ids['twin1']}")
    assert "twin2" in page.words and "the same browser" in page.words and "the same e-mail but for dots" in page.words
    assert house.server.stop() == 0


# ---- Parties


def test_parties_are_added_changed_and_disabled(house, admin):
    page = admin.send(admin.get("/admin/parties"), "/admin/parties", name="<Greens>", description="Trees", active="on")
    assert page.code == 200 and "&lt;Greens&gt;" in page.text
    twice = admin.send(admin.get("/admin/parties"), "/admin/parties", name="<greens>", active="on")
    assert twice.code == 422 and 'role="alert"' in twice.text
    party = json.loads(house.tell("party", "list", "--json"))["groups"][0]
    token = page.form("/admin/parties").fields["csrf"]
    admin.ask("POST", f"/admin/parties/{party['id']}", {"csrf": token, "name": "Greens", "description": ""})
    party = json.loads(house.tell("party", "list", "--json"))["groups"][0]
    assert party["name"] == "Greens" and party["description"] == "" and party["active"] is False
    assert len(house.acts("party-set")) == 3


def test_categories_are_added_changed_and_disabled(house, admin):
    page = admin.send(admin.get("/admin/categories"), "/admin/categories", name="Harbours", description="Ships", active="on")
    assert "The category is saved" in page.text
    last = lambda: json.loads(house.tell("category", "list", "--json"))["groups"][-1]
    at = f"/admin/categories/{last()['id']}"
    assert admin.send(admin.get("/admin/categories"), at, name="Education", active="on").code == 422
    admin.send(admin.get("/admin/categories"), at, name="Ports", description="", active="")
    assert last()["name"] == "Ports" and last()["description"] == "" and last()["active"] is False
    house.tell("category", "set", "Ports", "--active", "on")
    assert last()["name"] == "Ports" and last()["active"] is True
    assert len(house.acts("category-add")) == 1 and len(house.acts("category-set")) == 3


# ---- Rules


def test_a_change_of_a_rule_is_shown_before_it_is_made(house, admin):
    page = admin.send(admin.get("/admin/settings"), "/admin/settings", name="salary", value="140", act="preview")
    assert page.code == 200 and "salary will be 140" in page.title
    assert "100 pollies every 7 days" in page.words and "140 pollies every 7 days" in page.words
    assert json.loads(house.tell("setting", "list", "--json"))["versions"] == [], "looking changes nothing"
    page = admin.send(page, "/admin/settings", act="save", reason="More for all")
    assert page.path.startswith("/admin/settings?done=setting") and "salary 100 → 140" in page.words
    versions = json.loads(house.tell("setting", "list", "--json"))["versions"]
    assert versions[0]["changes"] == "salary 100 → 140" and versions[0]["planned"] and house.acts("setting-set")[0]["reason"] == "More for all"
    page = admin.send(admin.get("/admin/settings"), "/admin/settings", name="withdrawal_percent", value="30", act="preview")
    assert "Taking back 100 votes gives" in page.words and "50 pollies" in page.words and "70 pollies" in page.words


@pytest.mark.parametrize("fields, field", [
    ({"name": "salary", "value": "many"}, "salary"), ({"name": "salary", "value": "-1"}, "salary"), ({"name": "nothing", "value": "1"}, "name"),
    ({"name": "salary", "value": "1", "from": "2001-01-01T00:00"}, "from"), ({"name": "salary", "value": "1", "from": "soon"}, "from")])
def test_a_rule_that_cannot_be_is_refused(admin, fields, field):
    for act in ("preview", "save"):
        answer = admin.send(admin.get("/admin/settings"), "/admin/settings", act=act, **fields)
        assert answer.code == 422 and f'href="#{field}"' in answer.text, answer.words


def test_how_long_things_are_kept(house, admin):
    page = admin.get("/admin/settings")
    form = next(form for form in page.reader.forms if form.fields.get("name") == "logins")
    assert form.fields["days"] == "90"
    answer = admin.ask("POST", form.action, {**form.fields, "days": "7", "reason": ""})
    assert answer.headers["location"] == "/admin/settings?done=period"
    stale = admin.ask("POST", form.action, {**form.fields, "days": "8"})
    assert stale.code == 409 and "in between" in stale.words
    form = next(form for form in admin.get("/admin/settings").reader.forms if form.fields.get("name") == "logins")
    assert form.fields["days"] == "7"
    assert admin.ask("POST", form.action, {**form.fields, "days": "0"}).code == 422
    assert json.loads(house.tell("task", "run", "retention", "--json"))["task"]["done"] > 0


# ---- Activity, tasks, store


def test_activity_by_kind_person_and_instance(house, admin):
    admin.send(admin.get("/admin/tasks"), "/admin/tasks/names")
    page = admin.get("/admin/activity?kind=task-run")
    assert "A task was asked to run" in page.words and "started" not in page.text[page.text.index("<ol"):]
    assert admin.get("/admin/activity?who=nobody-there").code == 422
    assert admin.get("/admin/activity?kind=dance").code == 422
    assert "Nothing of that" in admin.get("/admin/activity?instance=nowhere").words
    assert admin.get("/admin/activity?before=zz").code == 404


def test_a_task_runs_when_it_is_asked_to(house, admin):
    import time
    before = next(task for task in json.loads(house.tell("task", "list", "--json"))["tasks"] if task["name"] == "pass")
    assert admin.send(admin.get("/admin/tasks"), "/admin/tasks/pass").code == 200
    for _ in range(100):
        task = next(task for task in json.loads(house.tell("task", "list", "--json"))["tasks"] if task["name"] == "pass")
        if task["begun"] != before["begun"] and task["parts_under_way"] == 0:
            break
        time.sleep(0.1)
    assert task["begun"] != before["begun"] and task["errors"] == 0
    token = admin.get("/admin/tasks").form("/admin/tasks/pass").fields["csrf"]
    assert admin.ask("POST", "/admin/tasks/dance", {"csrf": token}).code == 404


def test_a_backup_goes_where_the_server_says(house, admin, tmp_path):
    page = admin.send(admin.get("/admin/store"), "/admin/store/backup", directory=str(tmp_path / "mine"))
    assert page.code == 200 and "The backup is made" in page.words
    assert not (tmp_path / "mine").exists()
    backups = list((house.directory / "data.backups").iterdir())
    assert len(backups) == 1 and backups[0].name in page.text
    done = ostraka("restore", str(backups[0]), "--data", str(tmp_path / "restored"))
    assert done.returncode == 0, done.stderr


def test_an_admin_closes_the_site_and_still_gets_in_to_open_it(house, admin):
    vera = house.browser("vera")  # while there is a way in
    page = admin.get("/admin/store")
    assert page.form("/admin/store/maintenance").fields["message"] == "We will be back soon."
    refused = admin.send(page, "/admin/store/maintenance", message="x" * 301)
    assert refused.code == 422 and 'href="#message"' in refused.text and "x" * 301 in refused.text
    page = admin.send(page, "/admin/store/maintenance", message="Back at <noon>")
    assert "The site is closed" in page.words and "Back at &lt;noon&gt;" in page.text
    try:
        visitor = house.browser()
        closed = visitor.get("/")
        assert closed.code == 503 and "Back at" in closed.words
        assert vera.get("/my/votes").code == 503
        other = house.browser()  # an admin who was not logged in
        page = other.get("/admin/store")
        assert page.path.startswith("/login?next=")
        page = other.send(page, "/login", name="admin", password=PASSWORD)
        assert page.path == "/admin/store" and page.code == 200
        assert other.get("/admin").code == 200 and "closed for visitors" in other.get("/admin").words
    finally:
        page = admin.send(admin.get("/admin/store"), "/admin/store/maintenance/off")
    assert page.code == 200 and house.browser().get("/").code == 200
    assert [(act["details"], act["outcome"]) for act in house.acts("maintenance")] == [("off", "done"), ("on: Back at <noon>", "done")]


# ---- Who may join


def test_the_rule_is_set_on_its_page(house, admin):
    page = admin.send(admin.get("/admin/electorate"), "/admin/electorate", mode="domain", domains="nonsense")
    assert page.code == 422 and 'id="domains-fault"' in page.text and "nonsense" in page.form("/admin/electorate").fields["domains"]
    page = admin.send(admin.get("/admin/electorate"), "/admin/electorate", mode="domain", domains="")
    assert page.code == 422
    stale = admin.get("/admin/electorate")
    page = admin.send(stale, "/admin/electorate", mode="domain", domains="example.org *.town.example")
    assert page.code == 200 and "certain domains" not in page.words and "town.example" in page.form("/admin/electorate").fields["domains"]
    assert admin.send(stale, "/admin/electorate", mode="open").code == 409, "somebody else was first"
    assert admin.send(admin.get("/admin/electorate"), "/admin/electorate", mode="open").code == 200


def test_without_a_mail_server_the_link_is_shown(house, admin):
    page = admin.send(admin.get("/admin/electorate"), "/admin/electorate/invite", email="guest@example.org")
    link = re.search(r"<code>http://[^/]+(/invitation\?token=[\w-]+)</code>", page.text)[1]
    assert house.browser().get(link).code == 200
    wrong = admin.send(admin.get("/admin/electorate"), "/admin/electorate/invite", email="no address")
    assert wrong.code == 422 and 'id="email-fault"' in wrong.text
    taken = admin.send(admin.get("/admin/electorate"), "/admin/electorate/invite", email="vera@example.org")
    assert taken.code == 422 and "has an account" in taken.words
    assert admin.send(admin.get("/admin/electorate"), "/admin/electorate/withdraw", email="guest@example.org").code == 200
    assert house.browser().get(link).code == 422
    refused = admin.send(admin.get("/admin/electorate"), "/admin/electorate/invites", lines="a@example.org\n")
    assert refused.code == 422 and "no letters" in refused.words


def test_the_roll_names_broken_lines(admin):
    lines = "email,name\none@example.org,One\n<script>alert(1)</script>\ntwo@example.org,\"Two\n\nthree@example.org\n"
    page = admin.send(admin.get("/admin/electorate"), "/admin/electorate/roll", lines=lines, act="add")
    assert page.code == 200 and "Line 3:" in page.words and "Line 4:" in page.words and "<script>alert" not in page.text
    assert "2 people are on it" in page.words
    page = admin.send(admin.get("/admin/electorate"), "/admin/electorate/roll", lines="one@example.org", act="remove")
    assert "1 person is on it" in page.words
    assert admin.send(admin.get("/admin/electorate"), "/admin/electorate/roll", lines=" ").code == 422


# ---- Texts


def test_texts_say_what_is_kept_until_somebody_writes_them(house, admin):
    guest = house.browser()
    assert "comes with the software" in guest.get("/privacy").words and guest.get("/terms").code == 200
    page = admin.get("/admin/texts")
    page = admin.send(page, "/admin/texts", words="# Ours\n\n*kept* <script>alert(1)</script>", act="preview")
    assert page.code == 200 and "How it would look" in page.words and "<em>kept</em>" in page.text and "<script>alert" not in page.text
    assert "comes with the software" in house.browser().get("/privacy").words
    stale = admin.get("/admin/texts")
    page = admin.send(page, "/admin/texts", act="save")
    assert page.path.startswith("/privacy?done=text") and "<em>kept</em>" in page.text
    lost = admin.send(stale, "/admin/texts", words="Theirs", act="save")
    assert lost.code == 409 and "by somebody else" in lost.words and "Theirs" in lost.text
    assert admin.send(admin.get("/admin/texts"), "/admin/texts", words=" ", act="save").code == 422
    assert "<em>kept</em>" in admin.get("/admin/texts?text=privacy&revision=1").text
    assert admin.get("/admin/texts?text=privacy&revision=99").code == 404


# ---- For programs


class Program:
    def __init__(self, house, name):
        self.house, browser = house, house.browser(name)
        page = browser.send(browser.get("/my/tokens"), "/my/tokens", name="all", scope="write", password=PASSWORD)
        self.token = re.search(r"<code[^>]*>([\w-]{43,})</code>", page.text)[1]

    def ask(self, method, path, body=None):
        import http.client
        connection = http.client.HTTPConnection("127.0.0.1", self.house.server.port, timeout=60)
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        connection.request(method, f"/api/v1/admin/{path}", None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())


@pytest.fixture(scope="module")
def program(house):
    return Program(house, "admin")


def test_programs_see_what_admins_see(house, program):
    for path in ("people", f"people/{house.people['vera']}", "electorate", "invitations", "settings", "texts?text=terms", "activity", "tasks", "store"):
        code, answer = program.ask("GET", path)
        assert code == 200, (path, answer)
    assert program.ask("GET", f"people/{house.people['vera']}")[1]["email"] == "vera@example.org"
    assert [person["name"] for person in program.ask("GET", "people?role=edit_users")[1]["people"]] == ["edda"]
    assert Program(house, "vera").ask("GET", "people")[0] == 403


def test_programs_do_what_admins_do(house, program):
    version = program.ask("GET", "electorate")[1]["version"]
    assert program.ask("PUT", "electorate", {"mode": "open", "version": version, "reason": "by program"})[0] == 200
    assert program.ask("PUT", "electorate", {"mode": "open", "version": version})[0] == 409
    code, report = program.ask("POST", "roll", {"lines": "p@example.org\nbroken\n"})
    assert code == 200 and (report["good"], report["bad"], report["faults"][0]["line"]) == (1, 1, 2)
    assert program.ask("POST", "invitations", {"email": "prog@example.org"})[1]["sent"] is False
    assert program.ask("POST", "settings", {"name": "salary", "value": "x"})[0] == 400
    assert program.ask("POST", "tasks/names")[0] == 200
    version = program.ask("GET", f"people/{house.people['vera']}")[1]["version"]
    assert program.ask("PUT", f"people/{house.people['vera']}/rights", {"roles": ["respond"], "version": version, "reason": "office"})[0] == 200
    assert json.loads(house.tell("user", "show", "vera", "--json"))["roles"] == ["respond"]
    assert house.acts("electorate-set")[0]["reason"] in ("by program", None)


def test_a_long_roll_goes_in_through_the_form(house, admin):
    """A hundred thousand at once fit, too: `ostraka roll import` takes them in some seconds. Here fewer, since the tests run slowed down."""
    before = program_roll(house)
    lines = "".join(f"citizen{number}@town.example,Citizen {number}\n" for number in range(10_000))
    page = admin.send(admin.get("/admin/electorate"), "/admin/electorate/roll", lines=lines, act="add")
    assert page.code == 200 and "lines went through" in page.words
    assert program_roll(house) == before + 10_000


def program_roll(house):
    return json.loads(house.tell("roll", "count", "--json"))["count"]
