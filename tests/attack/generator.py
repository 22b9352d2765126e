"""generator.py -- requests over all routes, by people of every role: valid ones, and the same with something wrong.

Routes and what they take come from the site itself: /api/v1/openapi.json, `ostraka operations`, `ostraka routes`, and the forms as they stand on its pages.
Request number i depends on the seed and i alone, up to what only the site can know (versions, numbers of sessions, tokens of forms): the
*plan* names those by words, and they are looked up when it is sent. So the same seed makes the same plans, whatever the answers were;
a run says the digest of all its plans."""
import hashlib
import http.client
import json
import random
import re
import time
import urllib.parse

from attacked_site import PASSWORD, forms

ROLES = ["admin", "edit_policies", "edit_users", "moderate_comments", "moderate_tags", "moderate_policies", "feature", "respond"]
KINDS = ["nobody", "voter", "voter", *ROLES]
NOWHERE = "0" * 32
POLICIES = 14
WORDS = "rivers schools trams night buses trees parking rent noise clean paths benches library heat bins".split()
# Things that only the site knows, by the word that a plan has for them.
SEEN_VOTES, SEEN_POLICY, OWN_SESSION, OWN_TOKEN, A_REPORT, A_PERSON, A_NOTICE, AN_ENTRY, VERSION = (
    "<votes>", "<policy version>", "<own session>", "<own token>", "<report>", "<person>", "<notice>", "<entry>", "<version>")
LOOKED_UP = (SEEN_VOTES, SEEN_POLICY, OWN_SESSION, OWN_TOKEN, A_REPORT, A_PERSON, A_NOTICE, AN_ENTRY, VERSION)
LINKS = {"/accounts/confirm": "/confirm", "/accounts/reset": "/reset", "/me/email/confirm": "/my/email/confirm", "/accounts": "/invitation"}
USED = set()  # links of letters that were tried
JOURNALS = ["open", "open", "work", "site.tasks", "nowhere", "A+/;.$_(9)"]
TASKS = ["names", "retention", "answers", "sums", "digest"]


def text_of(luck, least, most):
    """Plain, or with what breaks programs, within its bounds."""
    kind = luck.random()
    if kind < 0.6:
        text = " ".join(luck.choices(WORDS, k=luck.randint(1, 12))).capitalize() + "."
    elif kind < 0.8:
        text = "# Why\n\n* [one](https://example.org/a?b=1)\n* **two** `three`\n\n> four\n\n" + " ".join(luck.choices(WORDS, k=luck.randint(1, 60)))
    else:
        text = luck.choice(["<script>alert(1)</script>", "'\"`;--", "a\u202eb", "\u0000".replace("\0", "␀"), "e\u0301" * 20, "🗳️" * 10, "ß" * 30,
                            "[x](javascript:alert(1))", "&lt;&amp;", "*" * 300, "[" * 200, "> " * 100, "\u2028line", "Ω" * 50])
    text = text[:most]
    return text + "x" * max(0, least - len(text))


def line_of(luck, least, most):
    return text_of(luck, least, most).replace("\n", " ")[:most] or "x" * least


class Plan:
    """One request before what only the site knows is filled in."""

    def __init__(self, kind, method, path, operation=None):
        self.kind, self.method, self.path, self.operation = kind, method, path, operation
        self.role, self.query, self.headers, self.body, self.fields, self.faults, self.pattern = "nobody", {}, {}, None, None, [], path

    def digest(self):
        return repr((self.kind, self.method, self.path, self.role, sorted(self.query.items()), sorted(self.headers.items()), repr(self.body),
                     repr(self.fields), [name for name, _ in self.faults])).encode()


# ---- What can be wrong ----


def spoil_body(luck, body):
    """Another body than the schema has."""
    keys = list(body) if isinstance(body, dict) else []
    key = luck.choice(keys) if keys else None
    strange = luck.choice([None, True, -1, 0, 2**63, -2**63, 2**64, 1.5, 1e308, "", "x" * 70000, "\u0000", "\ud800", [], {}, [[]], {"a": {"b": {}}}, ["x"] * 2000,
                           {str(number): number for number in range(1, 1200)}, "0", "null", "9" * 400, "\u202e\u0000x"])
    wrong = dict(body) if keys else {}
    way = luck.randrange(5)
    if key and way == 0:
        del wrong[key]
    elif key and way < 4:
        wrong[key] = strange
    else:
        wrong[luck.choice(["", "no such", "__proto__", "csrf", "id", "policy"])] = strange
    return wrong


RAW = [b"", b"{", b"[]", b"null", b"\xff\xfe{}", b"{}{}", b'{"a":1,"a":2}', b"[" * 3000, b'{"a":' * 3000, b'"' + b"x" * 5000, b"{\x00}", b"1" * 3000, b"-", b'{"lines":{"1":1,"1":2}}',
       b"\xef\xbb\xbf{}", b"{} // x", b"{'a':1}", b'{"a":01}', b'{"a":NaN}', b'{"a":1e999}', b'{"\\ud800":1}']
PATHS = ["0", "-1", "9223372036854775808", "1e3", "%00", "%2e%2e", "..", "1;x", "1%2f2", "%ff", "x" * 300, "", "1-", "-", "%F0%9F%97%B3", "1%0d%0aX:1", "99999999"]
TARGET_HEADERS = [("Content-Type", "text/plain"), ("Content-Type", "application/json; charset=utf-16"), ("Content-Type", "multipart/form-data"),
                  ("Content-Type", "multipart/form-data; boundary=" + "b" * 300), ("If-Match", "*"), ("If-Match", "x" * 300), ("If-None-Match", '"a", W/"b"'),
                  ("Idempotency-Key", "k" * 256), ("Authorization", "Bearer x"), ("Authorization", "Basic eDp5"), ("Accept", "*/*;q=x"), ("Accept-Encoding", "br;q=0, *"),
                  ("Cookie", "session=x; session=y"), ("Cookie", "visitor=" + "0" * 32), ("Range", "bytes=0-1,3-"), ("Accept-Language", "x" * 500), ("Origin", "null"),
                  ("Sec-Fetch-Site", "cross-site"), ("X-CSRF-Token", "0" * 64), ("X-HTTP-Method-Override", "DELETE"), ("Content-Encoding", "gzip"), ("User-Agent", "\x7f" * 20)]


def spoil(luck, plan):
    """One thing about it is wrong, or two."""
    for _ in range(luck.choice([1, 1, 1, 2])):
        way = luck.choice(["body", "raw", "path", "query", "header", "method", "field", "forgery", "twice"])
        if way == "body" and plan.body is not None:
            plan.body = spoil_body(luck, plan.body)
        elif way == "raw" and plan.kind == "api":
            plan.faults.append((f"raw {luck.randrange(len(RAW))}", None))
        elif way == "path" and re.search(r"/\d+|<", plan.path):
            plan.path = re.sub(r"<[^>]+>|(?<=/)\d+", lambda _: luck.choice(PATHS), plan.path, count=1)
        elif way in ("query", "twice"):
            name = luck.choice([*plan.query, "done", "days", "offset", "from", "before", "next", "token", "x"])
            plan.query[name] = luck.choice(["", "-1", "9" * 30, "x", "%00", "\u202e", "1'", "x" * 3000, "<b>", "on", "2026-02-30", "0" * 32])
            if way == "twice":
                plan.faults.append((f"twice {name}", None))
        elif way == "header":
            name, value = luck.choice(TARGET_HEADERS)
            plan.headers[name] = value
        elif way == "method":
            plan.method = luck.choice(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "XYZ"])
        elif way == "field" and plan.kind == "form":
            plan.faults.append((f"field {luck.randrange(1000)} {luck.randrange(9)}", None))
        elif way == "forgery":
            plan.faults.append(("forgery", None))
        plan.faults.append((way, None))


# ---- What the site offers ----


class Offer:
    """All routes, who may ask them, and on which page the form of each stands."""

    def __init__(self, site, tell):
        self.document = site.visitor().api("GET", "openapi.json").json
        self.operations = json.loads(tell("operations", "--json"))
        self.routes = json.loads(tell("routes", "--json"))
        self.access = {(route["method"], route["path"]): route for route in self.routes}
        self.api = [(method.upper(), path, row) for path, rows in self.document["paths"].items() for method, row in rows.items()]
        self.pages = [route for route in self.routes if route["method"] == "GET" and not route["path"].startswith("/api/v1")]
        self.forms = [route for route in self.routes if route["method"] != "GET" and not route["path"].startswith("/api/v1")]

    def roles_for(self, method, path):
        route = self.access.get((method, path), {"access": "public", "roles": []})
        if route["access"] == "role":
            return [*route["roles"], "admin"]
        return {"login": ["voter", *ROLES], "voter": ["voter", *ROLES]}.get(route["access"], KINDS)

    def operation_of(self, method, path):
        """Its name, where the route is an operation's."""
        for row in self.operations:
            if (row["method"], f"/api/v1/{row['api']}") == (method, path) or (row["page"] == path):
                return row["name"]
        return None


def path_value(luck, path, name):
    if "/people/" in path:
        return A_PERSON
    if "/entries/{id}" in path:
        return {"journal": "open", "id": AN_ENTRY}[name]
    return {"policy": str(luck.randint(1, POLICIES)), "session": OWN_SESSION, "token": OWN_TOKEN, "report": A_REPORT, "notice": A_NOTICE,
            "category": str(luck.randint(1, 4)), "party": str(luck.randint(1, 2)), "task": luck.choice(TASKS), "revision": "1", "part": "1",
            "provider": "nowhere", "connection": NOWHERE, "journal": luck.choice(JOURNALS), "id": str(luck.randint(1, POLICIES if "policies" in path else 2))}[name]


def number_of(luck, name, least, most):
    known = {"days": (0, 31), "category": (1, 4), "party": (0, 2), "other": (1, POLICIES), "policy": (1, POLICIES), "group": (1, 2), "place": (1, 12),
             "wait_ms": (0, 60), "lease_ms": (0, 5000), "seconds": (1, 3), "n": (1, 20), "count": (2, 40), "window": (0, 31), "limit": (1, 100), "held": (0, 4), "price": (0, 1000), "version": (0, 0), "revision": (0, 3)}
    low, high = known.get(name, (least, least + 40))
    return luck.randint(max(low, least), min(max(high, low, least), most))


def value_of(luck, path, name, schema):
    """One that the schema allows, and mostly one that means something."""
    if "anyOf" in schema:
        schema = schema["anyOf"][0]
    if name in ("seen", "version", "If-Match"):
        return SEEN_VOTES if "votes" in path or path == "/api/v1/policies" else SEEN_POLICY if path == "/api/v1/policies/{policy}" else VERSION
    if name in ("password", "old"):
        return PASSWORD
    if schema.get("enum"):
        return luck.choice(schema["enum"])
    kind = schema.get("type")
    if kind == "boolean":
        return luck.random() < 0.5
    if kind == "integer":
        return number_of(luck, name, schema.get("minimum", 0), schema.get("maximum", 2**31 - 1))
    if kind == "object":
        return {str(policy): luck.randint(0, 4) for policy in luck.sample(range(1, POLICIES + 1), luck.randint(1, 4))}
    if kind == "array":
        return {"roles": [luck.choice(ROLES)], "denied": luck.sample(["vote", "create", "comment", "tag", "report"], luck.randint(0, 2)),
                "tokens": [f"{luck.getrandbits(128):032x}" for _ in range(luck.randint(1, 4))], "journals": luck.sample(["open", "work"], luck.randint(1, 2)),
                "domains": ["example.org"], "links": ["https://example.org/" + luck.choice(WORDS)]}.get(name, [])
    return {
        "email": f"person{luck.randint(1, 400)}@example.org", "address": f"person{luck.randint(1, 400)}@example.org", "code": "000000", "from": "",
        "until": "2099-01-01", "at": "2026-01-31T12:00", "topic": luck.choice(["front", "policy/1", "ranking/0"]), "value": str(luck.randint(50, 200)),
        "token": "<link>" if any(path.endswith(end) for end in LINKS) else f"{luck.getrandbits(128):032x}", "invitation": "", "position": "", "before": f"{luck.getrandbits(128):032x}",
        "lines": "\n".join(f"person{luck.randint(1, 400)}@example.org" for _ in range(luck.randint(1, 6))), "state": "", "after": NOWHERE,
        "name": {"/api/v1/admin/settings": "salary", "/api/v1/admin/retention": "logins", "/api/v1/accounts": f"new-{luck.getrandbits(40):x}",
                 "/api/v1/session": "voter", "/api/v1/accounts/forgotten": "voter"}.get(path) or line_of(luck, 3, 60), "letter": NOWHERE,
        "through": "", "q": luck.choice(["voter", "person1@example.org", "a"]), "real_name": line_of(luck, 1, 40).replace("<", ""), "report": "Feedback-Type: abuse\n",
        "message": "Back soon.", "journals": "journal:open:put", "priority": luck.choice(["NOW", "7"]), "process_at": "2099-01-31T12:00:00.250Z",
        "max_priority": luck.choice(["SLOW", "0"]), "error": "no paper", "worker": "one", "Idempotency-Key": f"{luck.getrandbits(64):x}"}.get(name) or text_of(luck, schema.get("minLength", 0), min(schema.get("maxLength", 200), 3000))


def entry_of(luck):
    """What is put into a journal, mostly within its bounds."""
    members = {"key": f"k{luck.randint(1, 20)}", "data": text_of(luck, 0, 200), "priority": luck.choice([0, 100, 2**32 - 1, "SLOW", -1]), "delay_ms": luck.choice([0, 5, 10**9]),
               "lease_ms": luck.choice([0, 1, 5000]), "expires_at": luck.choice([0, 4102444800000, "2099-01-31T12:00:00Z", "never"]), "data64": luck.choice(["eA==", "eA"]),
               "inserted_at": luck.choice([1, 4102444800000])}
    return {name: members[name] for name in luck.sample(sorted(members), luck.randint(0, 3))}


class Generator:
    def __init__(self, offer, seed):
        self.offer, self.seed = offer, seed

    def plan(self, number):
        luck = random.Random(f"{self.seed}/{number}")
        kind = luck.choices(["api", "form", "page"], [50, 28, 22])[0]
        plan = {"api": self.api, "form": self.form, "page": self.page}[kind](luck)
        fit = self.offer.roles_for(plan.method, plan.pattern)
        plan.role = luck.choice(fit if luck.random() < 0.88 else KINDS)
        if luck.random() < 0.3:
            spoil(luck, plan)
        plan.luck = luck
        return plan

    def fill(self, luck, pattern):
        return re.sub(r"{(\w+)}", lambda name: path_value(luck, pattern, name[1]), pattern)

    def api(self, luck):
        method, path, row = luck.choice(self.offer.api)
        plan = Plan("api", method, self.fill(luck, path), self.offer.operation_of(method, path))
        plan.pattern = path
        for part in row.get("parameters", []):
            if part["in"] == "path" or not (part.get("required") or luck.random() < 0.4):
                continue
            value = value_of(luck, path, part["name"], part["schema"])
            if value != "" or part.get("required"):
                (plan.query if part["in"] == "query" else plan.headers)[part["name"]] = str(value)
        content = row.get("requestBody", {}).get("content", {}).get("application/json")
        if content:
            schema = content["schema"]
            plan.body = {name: value_of(luck, path, name, part) for name, part in schema["properties"].items()
                         if name in schema.get("required", []) or luck.random() < 0.5 or name == "password" or name in ("name", "policy", "address", "version") and path.count("/") > 3}
            plan.body = {name: value for name, value in plan.body.items() if value != "" or name in schema.get("required", [])}
        if method == "POST" and path.endswith("/journals/{journal}/entries"):  # it takes one or a list, which no schema says
            plan.body = entry_of(luck)
        return plan

    def page(self, luck):
        route = luck.choice(self.offer.pages)
        plan = Plan("page", "GET", self.fill(luck, route["path"]), self.offer.operation_of("GET", route["path"]))
        plan.pattern = route["path"]
        for param in route["params"]:
            if param["from"] == "query" and (not param["optional"] or luck.random() < 0.25):
                schema = {"type": "integer" if param["kind"] in ("number", "id") else "string", "minimum": max(param["least"], 0 if param["kind"] == "number" else 1),
                          "maximum": param["most"] or 2**31, "enum": param["words"], "minLength": param["least"], "maxLength": min(param["most"], 60)}
                plan.query[param["name"]] = str(value_of(luck, route["path"], param["name"], schema))
        return plan

    def form(self, luck):
        route = luck.choice(self.offer.forms)
        plan = Plan("form", route["method"], self.fill(luck, route["path"]), self.offer.operation_of("GET", route["path"]))
        plan.pattern = route["path"]
        plan.fields = {}
        for param in route["params"]:
            if param["from"] == "form":
                plan.fields[param["name"]] = value_of(luck, route["path"], param["name"], {"type": "string", "enum": param["words"], "minLength": param["least"], "maxLength": 120})
        return plan


# ---- Who sends it ----


# Pages with the form of a route that has no page of its own, by the end of its address.
HOMES = {"/my/sessions/others": "/my/sessions", "/my/second-factor/begin": "/my/second-factor", "/my/second-factor/confirm": "/my/second-factor",
         "/my/second-factor/codes": "/my/second-factor", "/logout": "/my/sessions", "/register/again": "/register/sent", "/my/notices/dismiss": "/my/notices",
         "/my/sessions/": "/my/sessions", "/my/tokens/": "/my/tokens", "/my/connections/": "/my/connections", "/admin/electorate/": "/admin/electorate",
         "/admin/store/": "/admin/store", "/admin/mail/": "/admin/mail", "/admin/tasks/": "/admin/tasks", "/admin/categories/": "/admin/categories",
         "/admin/parties/": "/admin/parties", "/admin/journals/reload": "/admin/journals", "/admin/settings/": "/admin/settings", "/login/with/": "/login"}


def home_of(path):
    for begin, page in HOMES.items():
        if path == begin or begin.endswith("/") and path.startswith(begin):
            return page
    for end in ("/watch", "/unwatch"):
        if path.endswith(end):
            return path[:-len(end)]
    if path.startswith("/desk/"):
        return "/desk/featured" if "featured" in path else re.sub(r"/\w+$", "", path)
    if path.startswith("/admin/journals/"):
        return "/".join(path.split("/")[:4])
    if path.startswith("/admin/people/"):
        return re.sub(r"/sessions$", "", path)
    return path


class Person:
    """Logged in, or nobody. Whatever ends a session or an account (log-outs, leaving, a new password) only means that they come in again."""
    made = 0

    def __init__(self, site, role):
        self.site, self.role, self.secret, self.csrf, self.visitor = site, role, None, "", None
        self.cookies = {}
        self.connection = None

    def come(self):
        self.cookies.clear()
        if self.role != "nobody":
            visitor = self.site.visitor()
            if self.secret is None or "session" not in (visitor.log_in(self.secret) and visitor.cookies):
                Person.made += 1
                self.secret = f"{self.role.replace('_', '-')}-{Person.made}"
                self.site.add(self.secret, *([self.role] if self.role in ROLES else []))
                visitor.cookies.clear()
                visitor.log_in(self.secret)
            self.cookies.update(visitor.cookies)
        page = self.send("GET", "/my/sessions" if self.role != "nobody" else "/login")
        found = re.search(r'name="csrf" value="([0-9a-f]+)"', page.text)
        self.csrf = found[1] if found else ""
        return self

    def is_in(self):
        return self.role == "nobody" or "session" in self.cookies

    def send(self, method, target, body=None, headers=None):
        """Over a connection that is kept, as long as it is."""
        sent = {"Accept": "text/html", **({"X-Forwarded-For": "127.0.0.1"} if self.site.forwards else {}), **(headers or {})}
        if self.cookies and "Cookie" not in sent:
            sent["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        for turn in (0, 1):
            if self.connection is None:
                self.connection = http.client.HTTPConnection(self.site.host, self.site.port, timeout=60)
            begun = time.monotonic()
            try:
                self.connection.putrequest(method, target.encode("utf-8", "surrogateescape").decode("latin-1"), skip_accept_encoding=True)
                for name, value in sent.items():
                    self.connection.putheader(name, value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value)
                if body is not None:
                    self.connection.putheader("Content-Length", str(len(body)))
                self.connection.endheaders(body)
                answer = self.connection.getresponse()
                if "event-stream" in answer.headers.get("Content-Type", ""):
                    answer.read1(1)
                    answer.close()
                    self.connection.close()
                    self.connection, answer.read = None, lambda: b""
                elif answer.headers.get("Content-Encoding"):
                    answer.read()  # packed, as it was asked for; nobody looks into it
                page = forms.Page(answer, target)
                break
            except (http.client.HTTPException, OSError):
                if self.connection:
                    self.connection.close()
                self.connection = None
                if turn:
                    raise
        page.seconds = time.monotonic() - begun
        for cookie in answer.msg.get_all("Set-Cookie", []):
            name, value = cookie.split(";")[0].split("=", 1)
            if "max-age=0" in cookie.lower():
                self.cookies.pop(name, None)
            else:
                self.cookies[name] = value
        if page.headers.get("connection", "").lower() == "close" and self.connection:
            self.connection.close()
            self.connection = None
        return page

    def json(self, path):
        page = self.send("GET", f"/api/v1/{path}", headers={"Accept": "application/json"})
        return json.loads(page.text) if page.code == 200 else {}

    # ---- What only the site knows

    def look_up(self, word, plan, post):
        if word == SEEN_VOTES:
            return self.json("me/votes").get("version", NOWHERE)
        if word == SEEN_POLICY:
            policy = re.search(r"/(\d+)", plan.path)
            return self.send("GET", f"/api/v1/policies/{policy[1]}").headers.get("etag", NOWHERE) if policy else NOWHERE
        if word == OWN_SESSION:
            others = [each["id"] for each in self.json("me/sessions").get("sessions", []) if not each.get("current") and not each.get("here")]
            return others[0] if others else NOWHERE
        if word == OWN_TOKEN:
            have = self.json("me/tokens").get("tokens", [])
            return have[0]["id"] if have else NOWHERE
        if word == A_REPORT:
            have = self.json("moderation/reports").get("reports", [])
            return str(have[0]["id"]) if have else "1"
        if word == A_PERSON:
            return str(self.site.somebody)
        if word == A_NOTICE:
            have = self.json("me/notices").get("notices", [])
            return have[0]["id"] if have else "1-m1"
        if word == AN_ENTRY:
            have = self.json(f"journals/open/entries?state={'F' if 'requeue' in plan.path else 'W'}").get("entries", [])
            return str(have[-1]["id"]) if have else "1"
        return self.version_of(plan)

    def version_of(self, plan):
        """The version of whatever this changes, as the interface shows it."""
        path = plan.path.removeprefix("/api/v1/")
        if path.endswith("/answer") and "moderation/" in path:
            return self.json(path.removeprefix("moderation/")).get("version", NOWHERE)
        if path.endswith("/rights"):
            return self.json(path.removesuffix("/rights")).get("version", 0)
        return 0 if plan.kind == "api" else "0"


def fill_form(person, plan, page):
    """The fields as they stand on the page, those that are empty with what the plan has; or the plan's alone, with the person's own token, where the page has no
    such form now."""
    for form in page.reader.forms:
        if form.action.split("?")[0] == plan.path.split("?")[0]:
            have = {name: value or "" for name, value in form.fields.items()}
            planned = {name: value for name, value in plan.fields.items() if isinstance(value, (str, int)) and not (isinstance(value, str) and value.startswith("<"))}
            return {**planned, **{name: value for name, value in have.items() if value not in ("", "0")}, "csrf": have.get("csrf", person.csrf)}
    return {**{name: "" if isinstance(value, str) and value.startswith("<") else value for name, value in plan.fields.items()}, "csrf": person.csrf}


STRANGE_FIELDS = ["", "-1", "9" * 50, "x" * 5000, "\u0000", "\u202e<b>", "%", "on", "0" * 32]


def send_plan(person, plan, post):
    """Fills in what only the site knows, and sends it."""
    def resolve(value):
        if isinstance(value, str) and value == "<link>":
            path = next(link for end, link in LINKS.items() if plan.pattern.endswith(end))
            found = [match[1] for _, _, text in post.letters[-300:] for match in re.finditer(re.escape(path) + r"\?token=([\w-]+)", text)]
            fresh = [token for token in found if token not in USED] or ["x" * 43]
            USED.add(fresh[-1])
            return fresh[-1]
        if isinstance(value, str) and value in LOOKED_UP:
            return person.look_up(value, plan, post)
        return value

    words = [name for name, _ in plan.faults]
    plan.path = re.sub("|".join(LOOKED_UP), lambda word: str(person.look_up(word[0], plan, post)), plan.path)
    headers = {name: str(resolve(value)) for name, value in plan.headers.items()}
    body = None
    if plan.kind == "form":
        fields = fill_form(person, plan, person.send("GET", home_of(plan.path)))
        for word in words:
            if word.startswith("field ") and fields:
                _, which, value = word.split()
                fields[sorted(fields)[int(which) % len(fields)]] = STRANGE_FIELDS[int(value)]
        if "forgery" in words:
            fields["csrf"] = "0" * 32
        body = urllib.parse.urlencode(fields, errors="surrogatepass").encode()
        headers.setdefault("Content-Type", "application/x-www-form-urlencoded")
    elif plan.kind == "api":
        headers.setdefault("Accept", "application/json")
        if plan.method != "GET" and "forgery" not in words:
            headers.setdefault("X-CSRF-Token", person.csrf)
        if plan.body is not None:
            body = json.dumps({name: resolve(value) for name, value in plan.body.items()}).encode()
            headers.setdefault("Content-Type", "application/json")
        for word in words:
            if word.startswith("raw "):
                body = RAW[int(word.split()[1])]
                headers.setdefault("Content-Type", "application/json")
    if plan.method not in ("GET", "HEAD"):
        headers.setdefault("Sec-Fetch-Site", "same-origin")
    pairs = list(plan.query.items()) + [(word.split()[1], "1") for word in words if word.startswith("twice ")]
    target = urllib.parse.quote(plan.path, safe="/%~-._;,:@!$&'()*+=", errors="surrogatepass")
    return person.send(plan.method, target + ("?" + urllib.parse.urlencode(pairs) if pairs else ""), body, headers)


def reached_handler(page):
    """By the answer: it was done, led on, or refused by a rule. What the table of routes or the door refuses (400, 401, 403, 404, 405, 413, the way to
    the log-in) is not counted, though some of it came from a handler."""
    if page.code in (200, 201, 202, 204, 304, 409, 410, 412, 422):
        return True
    return page.code in (302, 303) and not page.headers.get("location", "").startswith("/login?")


class Digest:
    def __init__(self):
        self.hash = hashlib.sha256()

    def add(self, plan):
        self.hash.update(plan.digest())

    def text(self):
        return self.hash.hexdigest()[:16]
