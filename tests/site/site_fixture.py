"""Voters before the real site (site_fixture_server.c), as browsers without scripts: cookies, forms as they stand on the page."""
import functools
import html.parser
import http.client
import json
import os
import pathlib
import re
import subprocess
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("OSTRAKA_BUILD", ROOT / "build" / "test"))


class Forms(html.parser.HTMLParser):
    """The forms of a page: by their addresses, what their fields hold."""

    def __init__(self, text):
        super().__init__()
        self.forms, self.open = {}, None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "form":
            self.open = self.forms.setdefault(attributes["action"], {})
        elif tag == "input" and self.open is not None and attributes.get("name"):
            if attributes.get("type") != "checkbox" or "checked" in attributes:
                self.open[attributes["name"]] = attributes.get("value") or ""

    def handle_endtag(self, tag):
        if tag == "form":
            self.open = None


class Answer:
    def __init__(self, answer):
        self.code = answer.status
        self.headers = {name.lower(): value for name, value in answer.getheaders()}
        self.text = answer.read().decode()
        self.location = self.headers.get("location")

    @functools.cached_property
    def json(self):
        return json.loads(self.text)

    @functools.cached_property
    def words(self):
        return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", self.text)).split()).replace("\u202f", "")

    def form(self, action):
        return dict(Forms(self.text).forms[action])

    def title(self):
        return html.unescape(re.search(r"<h1>(.*?)</h1>", self.text, re.S).group(1)).strip()


class Voter:
    def __init__(self, site_fixture, name, answer):
        self.site_fixture, self.name = site_fixture, name
        self.id, self.secret = answer.split()[1:]

    def ask(self, method, path, fields=None, secret=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.site_fixture.port, timeout=30)
        body = None if fields is None else urllib.parse.urlencode(fields)
        kind = {} if fields is None else {"Content-Type": "application/x-www-form-urlencoded"}
        cookie = self.secret if secret is None else secret
        connection.request(method, path, body, {"Cookie": f"session={cookie}", **kind})
        answer = Answer(connection.getresponse())
        connection.close()
        return answer

    def get(self, path, **options):
        return self.ask("GET", path, **options)

    def send(self, path, form, **changes):
        """The form with some fields changed; held={12: 30} for many."""
        fields = dict(form)
        for policy, held in changes.pop("lines", {}).items():
            fields[f"lines[{policy}]"] = held
        fields.update(changes)
        return self.ask("POST", path, {name: value for name, value in fields.items() if value is not None})

    def vote(self, policy, held):
        """One line, by the policy's own form, whatever it costs."""
        path = f"/my/votes/{policy}"
        answer = self.send(path, self.get(path).form(path), held=held, price=10**9)
        assert answer.code == 303, answer.words
        return answer

    def held(self):
        """What stands, by the page: {policy: held}."""
        form = Forms(self.get("/my/votes").text).forms.get("/my/votes", {})
        return {int(name[6:-1]): int(value) for name, value in form.items() if name.startswith("lines[")}

    def balance(self):
        return int(re.search(r"data-balance[^>]*>([^<]*)", self.get("/my/votes").text).group(1).replace("\u202f", ""))


class SiteFixture:
    def __init__(self, directory, *setting):
        self.process = subprocess.Popen([BUILD / "tests" / "site" / "site_fixture_server", directory, *setting], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline().split()[1])

    def tell(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        assert answer.startswith("done"), answer
        return answer

    def lines(self, count):
        return [self.process.stdout.readline().rstrip("\n") for _ in range(count)]

    def command(self, *words, stdin=""):
        """Exit code and what it wrote."""
        line = "\x1f".join(["command", stdin, *map(str, words)])
        answer = SiteFixture.tell(self, line.replace("\n", "\x1e")).split()
        return int(answer[1]), "\n".join(self.lines(int(answer[2])))

    def voter(self, name, days=0):
        return Voter(self, name, self.tell("voter", name, days))

    def guest(self, name):
        return Voter(self, name, self.tell("guest", name))

    def policy(self, owner, name):
        return int(self.tell("policy", owner.id, name).split()[1])

    def stop(self):
        self.process.stdin.close()
        code = self.process.wait(60)
        self.process.stdout.close()
        return code
