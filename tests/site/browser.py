"""A browser without scripts: cookies, redirects, and forms that are filled in and sent as they stand on the page."""
import functools
import html.parser
import http.client
import math
import pathlib
import re
import urllib.parse

# The table of cookies: name and seconds, which stand there as "60 * 86400".
COOKIES = {name: math.prod(map(int, seconds.split("*"))) for name, seconds in
           re.findall(r'X\(\w+, "(\w+)", ([\d *]+),', (pathlib.Path(__file__).parents[2] / "src/web/cookies.h").read_text())}
were_set = set()  # by whichever browser


def judge_cookie(line):
    """A Set-Cookie is a row of the table, and for no longer than that says."""
    name = line.split("=", 1)[0].removeprefix("__Host-")
    age = re.search(r"; Max-Age=(\d+)", line)
    assert name in COOKIES and (not age or int(age[1]) in (0, COOKIES[name])), f"no such cookie in the table: {line}"
    were_set.add(name)


class Form:
    def __init__(self, attributes):
        self.action, self.method = attributes.get("action", ""), attributes.get("method", "get")
        self.fields = {}


class Reader(html.parser.HTMLParser):
    """Forms with what their fields hold, and the text of the page."""

    def __init__(self, text):
        super().__init__()
        self.forms, self.words, self.titles = [], [], []
        self.area = self.choice = None
        self.inside = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = {name: value or "" for name, value in attributes}
        if tag in ("h1", "title"):
            self.inside.append(tag)
        if tag == "form":
            self.forms.append(Form(attributes))
        name = attributes.get("name")
        if not self.forms or not name:
            if tag == "option" and self.choice and ("selected" in attributes or self.forms[-1].fields[self.choice] is None):
                self.forms[-1].fields[self.choice] = attributes.get("value")
            return
        fields = self.forms[-1].fields
        if tag == "input" and attributes.get("type") in ("radio", "checkbox"):
            if "checked" in attributes:
                fields[name] = attributes.get("value", "on")
        elif tag == "input":
            fields[name] = attributes.get("value", "")
        elif tag == "textarea":
            self.area, fields[name] = name, ""
        elif tag == "select":
            self.choice, fields[name] = name, None  # a browser sends the first one

    def handle_endtag(self, tag):
        if tag == "textarea":
            self.area = None
        if tag == "select":
            self.choice = None
        if self.inside and tag == self.inside[-1]:
            self.inside.pop()

    def handle_data(self, text):
        if self.area:
            self.forms[-1].fields[self.area] += text
        self.words.append(text)
        if self.inside[-1:] == ["h1"]:
            self.titles.append(text)


class Page:
    def __init__(self, answer, path):
        self.code, self.path = answer.status, path
        self.headers = dict((name.lower(), value) for name, value in answer.getheaders())
        self.text = answer.read().decode()

    # Read when it is asked for: of most pages only the code or a word of the text matters.
    @functools.cached_property
    def reader(self):
        is_page = "html" in self.headers.get("content-type", "")
        return Reader(self.text if is_page else "")

    @functools.cached_property
    def words(self):
        return " ".join("".join(self.reader.words).split())

    @functools.cached_property
    def title(self):
        return " ".join("".join(self.reader.titles).split())

    def form(self, action):
        """The first form whose address ends so."""
        for form in self.reader.forms:
            if form.action.endswith(action):
                return form
        raise AssertionError(f"{self.path} has no form to {action}")


class Browser:
    headers = {}  # beside the usual ones

    def __init__(self, port, **cookies):
        self.port, self.cookies = port, cookies

    def ask(self, method, path, fields=None):
        """One request; redirects are not followed."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        headers = {"Accept": "text/html", **self.headers}
        if self.cookies:
            headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        body = None
        if fields is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
            body = urllib.parse.urlencode(fields)
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        for cookie in answer.msg.get_all("Set-Cookie", []):
            judge_cookie(cookie)
            name, value = cookie.split(";")[0].split("=", 1)
            self.cookies[name] = value
        page = Page(answer, path)
        connection.close()
        return page

    def get(self, path):
        page = self.ask("GET", path)
        for _ in range(5):
            if page.code not in (303, 308):
                return page
            page = self.ask("GET", page.headers["location"])
        raise AssertionError(f"{path} leads round in a circle")

    def send(self, page, action, **fields):
        """Sends a form of the page with some fields changed, and follows where it leads."""
        form = page.form(action)
        answer = self.ask("POST", form.action, {**form.fields, **fields})
        return self.get(answer.headers["location"]) if answer.code == 303 else answer
