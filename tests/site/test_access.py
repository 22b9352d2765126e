"""Who may do what: every route of the table, asked by everybody, about their own things and about others'.

The table of routes (`ostraka routes --json`) says who may ask and whose the thing may be; each row is asked here by somebody of every kind, and
the answer must be what the row says. A row with a name in its path that stands in no list below fails, so none is left out."""
import html
import http.client
import itertools
import json
import re
import urllib.parse

import pytest

from conftest import ostraka
from site_people import SitePeople

ROLES = ["admin", "edit_policies", "edit_users", "moderate_comments", "moderate_tags", "moderate_policies", "feature", "respond"]
NEEDS_SECOND = "moderate_comments"  # the role that counts only with a second factor, which nobody here has shown; no route asks for it
UNSHOWN = "a role without its second factor"  # all roles, and that one among them
KINDS = ["nobody", "voter", UNSHOWN, *ROLES]
ROUTES = json.loads(ostraka("routes", "--json").stdout)
A_NAME = "0" * 32  # of something that is not there


class Asker:
    """Somebody of a kind, logged in, with the token for forms."""
    numbers = itertools.count(1)

    def __init__(self, town, kind):
        self.town, self.kind, self.cookies, self.csrf = town, kind, {}, None
        if kind != "nobody":
            name = f"asker{next(Asker.numbers)}"
            self.voter = town.site_fixture.voter(name)
            self.cookies["session"] = self.voter.secret
        if kind in ROLES or kind == UNSHOWN:
            town.site_fixture.tell("role", self.voter.id, ",".join(ROLES) if kind == UNSHOWN else kind)
        page = self.ask("GET", "/login" if kind == "nobody" else "/my/sessions")
        self.csrf = re.search(r'name="csrf" value="([0-9a-f]+)"', page.text)[1]

    def ask(self, method, path, form=None, members=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.town.site_fixture.port, timeout=30)
        headers = {"Accept": "text/html", "Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}
        headers["If-Match"], body = f'"{A_NAME}"', None
        if method != "GET" and self.csrf:
            headers["X-CSRF-Token"] = self.csrf
        if form is not None:
            headers["Content-Type"], body = "application/x-www-form-urlencoded", urllib.parse.urlencode(form)
        elif members is not None:
            headers["Content-Type"], body = "application/json", json.dumps(members)
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        answer.text = "" if "event-stream" in answer.headers.get("Content-Type", "") else answer.read().decode()
        for cookie in answer.msg.get_all("Set-Cookie", []):
            name, value = cookie.split(";")[0].split("=", 1)
            self.cookies[name] = value
        connection.close()
        return answer


# ---- What a row needs ------------------------------------------------------------------------------------------------


class Things:
    """What the names in paths stand for: of the asker's own, or another's."""

    def __init__(self, town):
        self.town = town
        self.other = Asker(town, "voter")
        self.others_policy = town.site_fixture.policy(self.other.voter, "Of another")
        self.votes = itertools.count(1)

    def owner(self, asker, own):
        return asker if own else self.other

    def policy(self, asker, own):
        return self.town.site_fixture.policy(asker.voter, f"Own {next(self.votes)}") if own else self.others_policy

    def session(self, asker, own):
        return json.loads(self.owner(asker, own).ask("GET", "/api/v1/me/sessions").text)["sessions"][0]["id"]

    def token(self, asker, own):
        answer = self.owner(asker, own).ask("POST", "/api/v1/me/tokens", members={"name": "one"})
        self.last = json.loads(answer.text)["id"]
        return self.last

    def connection(self, asker, own):
        owner = self.owner(asker, own)
        self.town.site_fixture.tell("connect", owner.voter.id, f"s{owner.voter.id}")
        return json.loads(owner.ask("GET", "/api/v1/me/connections").text)["connections"][0]["id"]

    def report(self, asker, own):
        """A new one each time, about the other's policy: a closed one cannot be moved again."""
        return self.town.site_fixture.tell("report", self.others_policy).split()[1]

    def person(self, asker, own):
        """Somebody whom those who run the site may do anything to."""
        self.somebody = getattr(self, "somebody", None) or Asker(self.town, "voter")
        return self.somebody.voter.id

    def entry(self, asker, own):
        """In the journal that everybody may put into and claim from; what it takes to administer it stays with admins."""
        return json.loads(self.other.ask("POST", "/api/v1/journals/open/entries", members={"delay_ms": 10**9}).text)["id"]

    def stands(self, route):
        """Whether the other's thing that was just named is still there, for routes that say done also when there was nothing to do."""
        return "tokens/" in route["path"] and self.last in self.other.ask("GET", "/api/v1/me/tokens").text


# By the name in the path, and where a name means several things, by the path: what it stands for, (things, asker, own) -> text.
NAMES = {
    "policy": Things.policy,
    "session": Things.session,
    "token": Things.token,
    "report": Things.report,
    "revision": lambda things, asker, own: 1,
    "part": lambda things, asker, own: 1,
    "provider": lambda things, asker, own: "nowhere",
    "connection": Things.connection,
    "notice": lambda things, asker, own: "1-m1",  # who has no such notice dismisses nothing
    "/categories/{id}": lambda things, asker, own: 1,
    "/parties/{id}": lambda things, asker, own: 1,
    "category": lambda things, asker, own: 1,
    "party": lambda things, asker, own: 1,
    "task": lambda things, asker, own: "names",
    "journal": lambda things, asker, own: "open",
    **{f"/entries/{{id}}{what}": Things.entry for what in ("", "/requeue", "/kick", "/remove")},
    "/admin/people/{id}": Things.person,
    "/admin/people/{id}/sessions": Things.person,
    "/admin/people/{id}/rights": Things.person,
    "/admin/people/{id}/logout": Things.person,
    "/policies/{id}/count": Things.policy,
    "/policies/{id}/count.svg": Things.policy,
}
# What a field must hold so that its form is read at all; else the least that its row allows.
FIELDS = {"name": "a-new-name", "address": "somebody@example.org", "password": "long enough for all", "category": 1, "policy": 1, "seen": A_NAME, "token": "0" * 31 + "1", "other": 999999, "email": "new@example.org", "lines": {}, "topic": "front"}
# Of several optional fields, one must be there.
ONE_OF = {("POST", "/api/v1/reports/trouble"): {"email": "new@example.org"},
          ("POST", "/api/v1/admin/mail/suppress"): {"address": "new@example.org"},
          # Nobody else could ask anything of a site that is closed.
          ("POST", "/admin/store/maintenance"): {"message": "x" * 301}, ("PUT", "/api/v1/admin/maintenance"): {"on": False}}
# What programs must send so that it can be judged.
ENDS = {("POST", f"/api/v1/journals/{{journal}}/{end}"): {"tokens": ["0" * 32]} for end in ("extend", "done", "release", "fail", "bury")}
MEMBERS = {**ENDS, ("POST", "/api/v1/journals/{journal}/entries"): {"data": "x"}, ("POST", "/api/v1/journals/claim"): {"journals": ["open"]},
           ("POST", "/api/v1/admin/settings"): {"name": "salary", "value": "100"}, ("PUT", "/api/v1/admin/retention"): {"name": "logins", "days": 90}}


def segment(route, name, things, asker, own):
    for key, value in NAMES.items():
        if key == name or (key.startswith("/") and route["path"].endswith(key)):
            return str(value(things, asker, own))
    raise AssertionError(f"{route['method']} {route['path']}: say in NAMES what {{{name}}} stands for")


def value_of(param):
    if param["name"] in FIELDS and (param["kind"], param["name"]) != ("text", "lines"):
        return FIELDS[param["name"]]
    size = max(param["least"], 1)
    switch = True if param["from"] == "json" else "on"
    return {"id": 1, "number": param["least"], "line": "x" * size, "text": "x" * size, "opaque": "a" * size, "switch": switch,
            "word": (param["words"] or [None])[0], "numbers": {}, "texts": []}[param["kind"]]


def ask(route, things, asker, own):
    path = re.sub(r"{(\w+)}", lambda found: segment(route, found[1], things, asker, own), route["path"])
    needed = {place: {p["name"]: value_of(p) for p in route["params"] if p["from"] == place and not p["optional"]}
              for place in ("query", "form", "json")}
    needed["json"].update(MEMBERS.get((route["method"], route["path"]), {}))
    takes = {param["from"] for param in route["params"]}
    needed["json" if "json" in takes else "form"].update(ONE_OF.get((route["method"], route["path"]), {}))
    if needed["query"]:
        path += "?" + urllib.parse.urlencode(needed["query"])
    return asker.ask(route["method"], path, form=needed["form"] if "form" in takes else None, members=needed["json"] if "json" in takes or needed["json"] else None)


# ---- What it must answer -----------------------------------------------------------------------------------------------


def may(route, kind, own):
    """As the row says; None when that asker has no such thing."""
    has_role = kind == "admin" or kind in route["roles"]
    if kind == "edit_users" and "{report}" in route["path"]:
        has_role = False  # theirs are those of people; Things.report is about a policy
    admitted = {"public": True, "guest": True, "login": kind != "nobody", "voter": kind != "nobody",
                "role": has_role}[route["access"]]
    if own and kind == "nobody":
        return None
    whose = {"none": True, "anybody": True, "own": own, "own or role": own or has_role}[route["whose"]]
    return admitted and whose


def is_refusal(answer, route, things):
    if answer.status in (401, 403) or (answer.status == 303 and answer.headers["Location"].startswith("/login?")):
        return True
    return route["whose"] == "own" and (answer.status == 404 or things.stands(route))  # as if it were not there


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    directory = tmp_path_factory.mktemp("access")
    (directory / "journals").write_text("[journal open]\nput = any\nclaim = any\n")
    town = SitePeople(directory / "town", "journal_file", directory / "journals", "second_factor_roles", NEEDS_SECOND)
    yield town
    assert town.site_fixture.stop() == 0


@pytest.fixture(scope="module")
def things(town):
    return Things(town)


def cases():
    for route in ROUTES:
        owns = (False, True) if route["whose"] in ("own", "own or role") else (False,)
        for kind, own in itertools.product(KINDS, owns):
            if may(route, kind, own) is not None:
                yield route, kind, own


def test_the_table_names_roles_that_there_are():
    asked = {role for route in ROUTES for role in route["roles"]}
    assert asked <= set(ROLES) - {NEEDS_SECOND}


@pytest.mark.parametrize("kind", KINDS)
def test_no_page_leads_to_what_its_reader_may_not_see(town, things, kind):
    """Menus and pages show what counts for this session, which is not what the account has where a second factor is missing."""
    asker, refused, asked = Asker(town, kind), [], set()
    pages = ["/", f"/policies/{things.others_policy}", "/desk", "/desk/featured", "/admin", "/moderation", "/my/profile"]
    for page in pages:
        answer = asker.ask("GET", page)
        if answer.status == 403 and page.startswith(("/desk", "/admin")):
            continue
        assert answer.status in (200, 303, 308), (page, answer.status)
        if answer.status == 308:
            answer = asker.ask("GET", answer.headers["Location"])
        for path in {html.unescape(href).partition("#")[0] for href in re.findall(r'<a [^>]*href="(/[^"]*)"', answer.text)} - asked:
            asked.add(path)
            if asker.ask("GET", path).status == 403:
                refused.append(f"{page} leads {kind} to {path}")
    assert not refused, "\n".join(refused)
    assert len(asked) > 15 and (kind == "nobody") == ("/my/votes" not in asked)
    assert ("/desk" in asked) == (kind in ("admin", "edit_policies", "moderate_policies", "feature", "respond", "edit_users"))
    assert ("/my/second-factor" in asked) or kind not in (UNSHOWN, NEEDS_SECOND)


def test_everybody_gets_what_the_table_says_and_nobody_more(town, things):
    wrong, asked, steady = [], 0, {kind: Asker(town, kind) for kind in KINDS}
    for route, kind, own in cases():
        expected = may(route, kind, own)
        # What is done may end the asker's session, account or policy: whoever may do something does it once.
        asker = Asker(town, kind) if own or (expected and route["method"] != "GET") else steady[kind]
        answer = ask(route, things, asker, own)
        asked += 1
        got = not is_refusal(answer, route, things)
        if got != expected or answer.status == 400 or answer.status >= 500:
            words = " ".join(re.sub(r"<[^>]*>", " ", answer.text.partition("<main")[2] or answer.text).split())[:200]
            wrong.append(f"{route['method']} {route['path']} by {kind}, {'own' if own else 'foreign'}: {answer.status}, "
                         f"{'may' if expected else 'may not'}: {words}")
    assert not wrong, f"{len(wrong)} of {asked}:\n" + "\n".join(wrong[:60])
    assert asked > 10 * len(ROUTES)


def test_nothing_is_done_by_a_role_without_the_token_of_a_form_of_this_session(town, things):
    """A page elsewhere can make a browser send anything but that."""
    admin, other, wrong, asked = Asker(town, "admin"), Asker(town, "admin"), [], 0
    for route, token in itertools.product(ROUTES, (None, "0" * 64, other.csrf)):
        if route["method"] == "GET" or (route["access"] != "role" and route["whose"] != "own or role"):
            continue
        admin.csrf = token
        answer = ask(route, things, admin, False)
        asked += 1
        if answer.status != 403:
            wrong.append(f"{route['method']} {route['path']} with {token}: {answer.status}")
    assert not wrong, f"{len(wrong)} of {asked}:\n" + "\n".join(wrong)
    assert asked > 150
