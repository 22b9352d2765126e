"""Three equal sites, and an operation done on each by another door; what is there afterwards must be the same. See test_doors.py."""
import dataclasses
import http.client
import json
import os
import pathlib
import re
import subprocess
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "site"))
from browser import Reader  # noqa: E402
from site_fixture import BUILD, SiteFixture, Voter  # noqa: E402

DOORS = ("page", "api", "command")


def table(name):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("OSTRAKA_")}
    return json.loads(subprocess.run([BUILD / "src/cli/ostraka", name, "--json"], env=environment, capture_output=True, check=True).stdout)


OPERATIONS = {row["name"]: row for row in table("operations")}
SHOWN = {route["path"] for route in table("routes") if route["method"] == "GET"}

# What a door leaves by itself. The audit log and e-mails are compared entry by entry: where an act came from is sealed in its cells, and some
# e-mails are written in the background, with a luck of its own.
NOT_COMPARED = {"audit", "audit_index", "mail_queue", "mail_index", "task_state", "instances", "request_keys", "token_uses"}


@dataclasses.dataclass
class Deed:
    """What is done: by whom, with which inputs. Left out: by a visitor, with none."""
    who: object = None
    inputs: dict = dataclasses.field(default_factory=dict)
    shown: str = None  # the page that the form stands on, where it is not the address it is sent to; False: it comes after another form
    refused: str = None  # a part of the reason, where it is refused
    look: tuple = ()  # other pages that a visitor sees, which may change
    doubt: str = None  # the store does not say what became of the votes: "lost" or "done" (site_fixture_server.c)
    raw: dict = dataclasses.field(default_factory=dict)  # by door: other inputs for this door
    headers: dict = dataclasses.field(default_factory=dict)  # of the request by API
    after: object = None  # what the site needs afterwards, so that others can go on
    differs: dict = dataclasses.field(default_factory=dict)  # part of the effect (answer, cells, audit, mail, seen; left: of what is refused): why it may differ


class Site(SiteFixture):
    def __init__(self, directory, provider):
        place = pathlib.Path(f"{directory}-oidc")
        place.mkdir()
        (place / "secret").write_text("s3cret +\n")
        (place / "providers").write_text(f"[town-id]\ntitle = Town ID\nissuer = {provider.url}\nclient_id = ostraka\nclient_secret_file = {place}/secret\n")
        self.declaration = place / "journals"
        self.declare("[journal recount]\n[journal mend]\n")
        super().__init__(directory, "still", place / "providers", "journal_file", self.declaration)
        self.provider = provider
        self.directory = pathlib.Path(directory)
        self.people, self.policies, self.cookies, self.files = [], [], {}, 0

    # ---- Before the operation: the same on every site

    def declare(self, text):
        """What the file of journals says; whoever reads it again finds that."""
        self.declaration.write_text(text)

    def tick(self, seconds=0):
        """A second passes; or it is so long after the start."""
        self.seconds = seconds or self.seconds + 1
        super().tell("tick", seconds)

    def begin(self, number):
        self.tick(number * 1000)
        self.number = number
        self.people, self.policies, self.cookies = [], [], {}

    def tell(self, *words):
        self.tick()
        return super().tell(*words)

    def person(self, name, *roles, days=100, confirmed=True):
        """Somebody of this example's own."""
        name = f"{name}{self.number}"
        voter = self.voter(name, days) if confirmed else self.guest(name)
        if roles:
            self.tell("role", voter.id, *roles)
        self.people.append(voter)
        return voter

    def policy_of(self, owner, name):
        policy = self.policy(owner, name)
        self.policies.append(policy)
        return policy

    def vote(self, voter, policy, held):
        self.prepare("vote", "save", f"{policy}={held}", "--as", voter.name, "--seen", "0" * 32)

    def prepare(self, *words, **options):
        self.tick()
        code, text = self.command(*words, "--json", **options)
        assert code == 0, (words, text)
        return json.loads(text) if text else None

    def file(self, text):
        self.files += 1
        path = self.directory.parent / f"{self.directory.name}-file{self.files}"
        path.write_text(text)
        return str(path)

    # ---- Requests

    def ask(self, method, path, who=None, body=None, headers=None):
        cookies = {"session": who.secret} if who else self.cookies
        sent = dict(headers or {})
        if cookies:
            sent["Cookie"] = "; ".join(f"{name}={value}" for name, value in cookies.items())
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request(method, path, body, sent)
        answer = connection.getresponse()
        if not who:
            for cookie in answer.msg.get_all("Set-Cookie", []):
                name, value = cookie.split(";")[0].split("=", 1)
                self.cookies[name] = value
        answer.text = answer.read().decode()
        connection.close()
        return answer

    def send_form(self, path, fields, who=None):
        return self.ask("POST", path, who, urllib.parse.urlencode([("csrf", self.csrf(who)), *fields.items()]),
                        {"Content-Type": "application/x-www-form-urlencoded"})

    def get(self, path, who=None):
        answer = self.ask("GET", path, who)
        while answer.status in (303, 308):
            answer = self.ask("GET", answer.headers["Location"], who)
        return answer

    def csrf(self, who):
        """The same for as long as somebody is logged in."""
        if not who:
            return json.loads(self.ask("GET", "/api/v1/session").text)["csrf"]
        if not hasattr(who, "csrf"):
            who.csrf = json.loads(self.ask("GET", "/api/v1/session", who).text)["csrf"]
        return who.csrf

    # ---- What is there

    def dump(self):
        return set(self.lines(int(SiteFixture.tell(self, "dump", "-").split()[1])))

    def seen(self, look):
        """What a visitor and those concerned see at this moment, as text."""
        cookies, self.cookies = self.cookies, {}
        pages = ["/", "/moderation", *(f"/policies/{policy}" for policy in self.policies), *look]
        found = {path: words_of(self.get(path)) for path in pages}
        for person in self.people:
            found[f"notices of {person.name}"] = without_requests(json.dumps(without_commands(json.loads(self.ask("GET", "/api/v1/me/notices", person).text))))
        self.cookies = cookies
        return found


def words_of(answer):
    text = "".join(Reader(answer.text).words)
    return f"{answer.status} " + " ".join(without_requests(text).split())


def without_commands(answer):
    """Without the notices and e-mails of commands, which no other door leaves."""
    if isinstance(answer, dict) and "messages" in answer:
        return {**answer, "messages": [one for one in answer["messages"] if one["kind"] != "looked-at"][:20]}  # the list has an end
    if isinstance(answer, dict) and "notices" in answer:
        notices = without_commands(answer["notices"]) if isinstance(answer["notices"], dict) else [one for one in answer["notices"] if not one["command"]]
        return {**answer, "notices": notices}
    return answer


def without_requests(text):
    return re.sub(r"\b[0-9a-f]{32}\b", "ID", text)


# ---- The doors -----------------------------------------------------------------------------------------------------------


def fill_path(path, inputs):
    """The path with the inputs that stand in it, and the others."""
    rest = dict(inputs)
    for name in re.findall(r"\{(\w+)\}", path):
        path = path.replace("{%s}" % name, urllib.parse.quote(str(plain(rest.pop(name)))))
    return path, rest


def plain(value):
    return value.id if isinstance(value, Voter) else value


def typed(value):
    """As people type it."""
    if isinstance(value, Voter):
        return value.name
    return {True: "on", False: "off"}.get(value, str(value)) if isinstance(value, bool) else str(value)


# Kinds that are on a form only where there is something to carry, or to choose.
HIDDEN = ("id", "version", "once", "switch", "opaque")


def begun_with(shown, row, inputs):
    """The address that shows a form with what brought people to it: ?other=12."""
    things = {one["name"]: plain(inputs[one["name"]]) for one in row["inputs"] if one["name"] in inputs and one["kind"] in ("id", "policy")}
    return f"{shown}?{urllib.parse.urlencode(things)}" if things else shown


def missing_fields(row, given, html):
    asked = [one["name"] for one in row["inputs"]
             if not one["no_page"] and "{%s}" % one["name"] not in row["page"] and (given.get(one["name"], False) is not False or one["kind"] not in HIDDEN)]
    return [name for name in asked if not re.search(rf'name="{name}["[]', html)]


def by_page(site, row, deed):
    path, rest = fill_path(row["page"], {name: deed.inputs[name] for name in deed.inputs})
    kinds = {one["name"]: one["kind"] for one in row["inputs"]}
    shown, form = path if deed.shown is None and row["page"] in SHOWN else deed.shown, {}
    if shown:
        page = site.get(begun_with(shown, row, rest), deed.who)
        forms = [one for one in Reader(page.text).forms if urllib.parse.urlsplit(one.action).path == path]
        assert forms or deed.refused is not None, f"{shown} ({page.status}) has no form to {path}"
        form = dict(forms[0].fields) if forms else {}
        if forms and "?" in forms[0].action:  # a link that says it all
            path = forms[0].action
            given = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(path).query))
            assert {name: str(rest.pop(name)) for name in given} == given
        missing = missing_fields(row, rest, "".join(re.findall(rf'<form[^>]*action="{re.escape(path)}["?].*?</form>', page.text, re.S)))
        assert not missing or deed.refused is not None, f"the form on {shown} has no field for {missing}"
    form.setdefault("csrf", site.csrf(deed.who))
    fields = []
    for name in [name for name in rest if kinds.get(name) == "numbers"]:
        form.update({f"{name}[{key}]": number for key, number in rest.pop(name).items()})
    for name, value in {**form, **rest}.items():
        if name in rest and kinds.get(name) == "texts":
            fields += [(name, one) for one in value]
        elif value is not False:
            fields.append((name, typed(value)))
    answer = site.ask("POST", path, deed.who, urllib.parse.urlencode(fields), {"Content-Type": "application/x-www-form-urlencoded"})
    ok = answer.status == 303 or (answer.status == 200 and not deed.refused)
    return ok, words_of(answer), None


def by_api(site, row, deed):
    kinds = {one["name"]: one["kind"] for one in row["inputs"]}
    path, rest = fill_path(row["api"], deed.inputs)
    headers = {"X-CSRF-Token": site.csrf(deed.who), **deed.headers}
    for name in [name for name in rest if kinds.get(name) == "once"]:
        headers["Idempotency-Key"] = rest.pop(name)
    values = {name: plain(value) for name, value in rest.items()}
    for name, value in values.items():
        if kinds.get(name) == "account":
            values[name] = int(value)
        elif kinds.get(name) == "numbers":
            values[name] = {str(key): number for key, number in value.items()}
    body = None
    if row["method"] in ("GET", "DELETE"):
        path += "?" + urllib.parse.urlencode({name: typed(value) for name, value in values.items()}) if values else ""
    elif any(not one["no_api"] and one["kind"] != "once" and "{%s}" % one["name"] not in row["api"] for one in row["inputs"]):
        body = json.dumps(values)
        headers["Content-Type"] = "application/json"
    answer = site.ask(row["method"], "/api/v1/" + path, deed.who, body, headers)
    return answer.status < 300, answer.text, json.loads(answer.text) if answer.text.startswith(("{", "[")) else None


def by_command(site, row, deed):
    words, flags, stdin = row["command"].split(), [], ""
    for one in row["inputs"]:
        if one["name"] not in deed.inputs:
            continue
        value = deed.inputs[one["name"]]
        if one["kind"] == "numbers":
            values = [f"{key}={number}" for key, number in value.items()]
        elif one["kind"] == "texts":
            values = list(value)
        else:
            values = [site.file(value) if one["kind"] in ("file", "stream") else typed(value)]
        if one["operand"]:
            words += values
        elif one.get("switch"):
            stdin = values[0] if one["kind"] == "secret" else stdin
            flags += [f"--{one['flag']}"] if value is not False else []
        else:
            flags += [f"--{one['flag']}={text}" for text in values]
    if deed.who and row["access"] != "guest" and (row["access"] != "public" or not row["asks"]):
        flags += ["--as", deed.who.name]
    code, text = site.command(*words, *flags, "--json", stdin=stdin)
    return code == 0, text, json.loads(text) if text.startswith(("{", "[")) else None


BY = {"page": by_page, "api": by_api, "command": by_command}
LACKS = {"page": "no_page", "api": "no_api", "command": "no_command"}


def doors_of(row):
    return [door for door in DOORS if row[door]]


def inputs_for(row, deed, door):
    """Without what one of the doors does not take: there is nothing to compare it with."""
    closed = {one["name"] for one in row["inputs"] if any(one[LACKS[other]] for other in doors_of(row))}
    known = {one["name"] for one in row["inputs"]} - closed
    return {**{name: value for name, value in deed.inputs.items() if name in known}, **deed.raw.get(door, {})}


def compared(lines):
    """Lines of a dump that every door must leave alike."""
    kept = []
    for line in lines:
        kind, *parts = line.split("\t")
        if kind == "cell" and (parts[0] in NOT_COMPARED or parts[0] == "sessions" and parts[2] == "seen"):
            continue
        if kind == "cell" and parts[0] == "signals" and (parts[1].startswith(r"s/\x02") or parts[2].startswith(r"\x02")):
            continue  # the browser's cookie
        if (kind, parts[1]) in (("audit", "person-as"), ("mail", "looked-at")):
            continue
        parts = [re.sub(r"\$2b\$\d\d\$[./A-Za-z0-9]{53}", "HASH", part) for part in parts]  # its salt is not of our luck
        kept.append("\t".join([kind, *parts]) if kind == "cell" else "\t".join([kind, *parts[1:]]))
    return sorted(kept)


@dataclasses.dataclass
class Effect:
    """What an operation did by one door."""
    done: bool
    text: str
    answer: object
    cells: list
    gone: list
    audit: list
    mail: list
    seen: dict
    in_name: bool = False  # the audit log has it that the operator did it in somebody's name


def prepare(site, number, example, name, door):
    site.begin(number)
    deed = example(site)
    deed.inputs = inputs_for(OPERATIONS[name], deed, door)
    return deed


def do(site, deed, row, door):
    """Does it, and looks. A form that is not there is an effect, too: the other sites go on."""
    if row["asks"]:
        site.tick()  # a command leaves an entry in the audit log
        return Effect(*attempt(site, deed, row, door), [], [], [], [], {})
    site.seen(deed.look)  # what is cached is cached now
    before = site.dump()
    site.tick()
    done, text, answer = attempt(site, deed, row, door)
    seen = site.seen(deed.look)
    after = site.dump()
    if deed.after:
        deed.after(site)
    new = compared(after - before)
    part = {kind: [line for line in new if line.startswith(kind + "\t")] for kind in ("cell", "audit", "mail")}
    return Effect(done, text, answer, part["cell"], [line for line in compared(before - after) if line.startswith("cell")],
                  part["audit"], part["mail"], seen, any(line.split("\t")[2:3] == ["person-as"] for line in after - before))


def attempt(site, deed, row, door):
    if deed.doubt:
        site.tell("doubt", deed.doubt)
    try:
        return BY[door](site, row, deed)
    except (AssertionError, KeyError, ValueError) as fault:
        return False, f"{type(fault).__name__}: {fault}", None
    finally:
        if deed.doubt:
            site.tell("doubt", "none")
