"""attacked_site.py -- a real site under attack: `ostraka serve` with data of its own, its people, its letters, and visitors from many addresses.

Two builds: SANITIZED, where whatever the sanitizers say ends the program and fails the case, and PLAIN, the one without them, where processor time, memory and
moments are measured."""
import contextlib
import email
import email.policy
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import socketserver
import subprocess
import sys
import threading
import time
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/site"))

import browser as forms  # noqa: E402  the browser of tests/site: cookies, and forms as they stand on the page

SANITIZED = os.environ.get("OSTRAKA_BIN", str(ROOT / "build/test/src/cli/ostraka"))
PLAIN = os.environ.get("OSTRAKA_PLAIN_BIN", str(ROOT / "build/plain/src/cli/ostraka"))
OWN_NETWORK = os.environ.get("ATTACK_NETWORK") == "own"
LONG = bool(os.environ.get("ATTACK_LONG"))
SEED = int(os.environ.get("ATTACK_SEED", "1"))
PASSWORD = "a long enough one"
FILLED = {}  # demos, by their size
DEMO = (600, 320, 60)  # voters, policies, days
HOST = "198.51.100.1" if OWN_NETWORK else "127.0.0.1"
REPORT = re.compile(r"ERROR: \w+Sanitizer|runtime error:|SUMMARY: \w+Sanitizer|^CHECK|is a bug", re.M)


def address(number, network=None):
    """The network address of visitor `number`, 2 to 254; all of these are in one /24, but for those who are in another, 0 to 255."""
    return f"198.51.100.{number}" if network is None else f"198.18.{network}.{number}"


def clean_environment():
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OSTRAKA_")}
    # What was freed is kept for a while, so that its use is noticed; by default up to 256 MB, which would hide what a request holds.
    return {"ASAN_OPTIONS": "quarantine_size_mb=32", **environment}


# ---- Letters ----


class Counter(socketserver.StreamRequestHandler):
    """Takes letters as a mail server does."""

    def say(self, line):
        self.wfile.write(f"{line}\r\n".encode())

    def take(self, to):
        self.say("354 go on")
        lines = iter(self.rfile.readline, b".\r\n")
        message = email.message_from_bytes(b"".join(line[1:] if line.startswith(b"..") else line for line in lines), policy=email.policy.default)
        self.server.letters.append((to, message["subject"], message.get_body(("plain",)).get_content()))
        self.say("250 taken")

    def handle(self):
        to = ""
        self.say("220 post")
        for line in self.rfile:
            verb = line[:4].upper()
            if verb == b"RCPT":
                to = re.search(r"<(.*?)>", line.decode()).group(1)
            if verb == b"DATA":
                self.take(to)
            else:
                self.say("221 bye" if verb == b"QUIT" else "250 ok")
            if verb == b"QUIT":
                return


class Post(socketserver.ThreadingTCPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Counter)
        self.letters = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def find(self, to, path=""):
        return [text for reader, subject, text in list(self.letters) if reader == to and path in text]

    def letter(self, to, path="", seconds=20):
        """The newest to somebody with that in its text."""
        wait_for(lambda: self.find(to, path), seconds, f"a letter to {to} with {path}")
        return self.find(to, path)[-1]

    def link(self, to, path):
        """The address in it, below the site."""
        return re.search(r"http://[^/\s]+(" + re.escape(path) + r"\?token=[\w-]+)", self.letter(to, path + "?")).group(1)


def wait_for(check, seconds=20, what="it"):
    end = time.monotonic() + seconds
    while not (found := check()):
        assert time.monotonic() < end, f"{what} did not come in {seconds} s"
        time.sleep(0.02)
    return found


# ---- The site ----


class Site:
    """Started with `flags`; `demo` (voters, policies, days) fills it before, and then it is served on 127.0.0.1."""

    def __init__(self, place, *flags, program=SANITIZED, demo=None, post=None, trusted=False, environment=None):
        self.place, self.data, self.program = pathlib.Path(place), pathlib.Path(place) / "data", program
        self.host = "127.0.0.1" if demo or trusted else HOST
        self.forwards = trusted or not OWN_NETWORK or self.host == "127.0.0.1"
        self.place.mkdir(parents=True, exist_ok=True)
        if demo:
            self.fill(*demo)
        if post:
            flags += ("--smtp-url", f"smtp://127.0.0.1:{post.server_address[1]}", "--mail-from", "site@example.org", "--mail-retry-seconds", "1")
        if self.forwards and not any(flag == "--trusted-proxies" for flag in flags):
            flags += ("--trusted-proxies", "127.0.0.1")
        self.flags, self.environment, self.port = flags, environment or {}, 0
        self.start()

    def fill(self, *size):
        """A made-up electorate; the same one is filled once, and copied."""
        if size not in FILLED:
            FILLED[size] = self.place / "filled"
            subprocess.run([PLAIN, "demo", *(word for pair in zip(("--voters", "--policies", "--days"), map(str, size)) for word in pair), "--data",
                            str(FILLED[size])], env=clean_environment(), check=True, capture_output=True, timeout=200)
        shutil.copytree(FILLED[size], self.data)
        shutil.copy(str(FILLED[size]) + ".key", str(self.data) + ".key")

    def start(self):
        with open(self.place / "log", "ab") as log:
            self.process = subprocess.Popen(
                [self.program, "serve", "--data", str(self.data), "--listen", f"{self.host}:{self.port}", *self.flags],
                env={**clean_environment(), "OSTRAKA_EMPTY": "on", **self.environment}, stdout=subprocess.PIPE, stderr=log, text=True)
        line = self.process.stdout.readline()
        found = re.search(r"http://[\d.]+:(\d+)/", line)
        assert found, f"serve did not start: {line}{self.log()[-2000:]}"
        self.port = int(found.group(1))

    def log(self):
        return (self.place / "log").read_text(errors="replace")

    def requests(self):
        """The requests in the log."""
        lines = (line for line in self.log().splitlines() if line.startswith("{"))
        return [line for line in map(json.loads, lines) if "path" in line]

    def call(self, *words, **options):
        """A command beside the running site."""
        done = subprocess.run([PLAIN, *words, "--data", str(self.data), "--json"], env=clean_environment(), text=True, capture_output=True, timeout=60,
                              **options)
        assert done.returncode == 0, (words, done.stderr)
        return json.loads(done.stdout) if done.stdout[:1] in ("{", "[") else done.stdout

    def add(self, name, *roles, email=None):
        self.call("user", "add", name, "--email", email or f"{name}@example.org", "--confirmed", "--password-stdin",
                  *(word for role in roles for word in ("--role", role)), input=PASSWORD)

    def policy(self, name, owner=None):
        """Proposed by somebody new, with all that they have."""
        if owner is None:
            self.proposers = getattr(self, "proposers", 0) + 1
            owner = f"proposer-{self.proposers}"
            self.add(owner)
        return self.call("policy", "create", "--as", owner, "--name", name, "--description", f"{name}, in full.", "--category", "Transport")["policy"]

    def visitor(self, number=9, at=None):
        """A browser at that address."""
        return Visitor(self, at or address(number))

    def known(self, name, number=9):
        """A visitor who is logged in."""
        visitor = self.visitor(number)
        answer = visitor.log_in(name)
        assert "session" in visitor.cookies, answer.words
        return visitor

    def connect(self, number=9, timeout=20):
        """A socket from that address; where there is one network only, from this machine's."""
        source = (address(number), 0) if not self.forwards else None
        return socket.create_connection((self.host, self.port), timeout, source)

    # ---- What it takes

    def cpu_s(self):
        """Processor time of all its threads. Those that have ended do not count: none that answers does."""
        total = 0
        for task in pathlib.Path(f"/proc/{self.process.pid}/task").iterdir():
            with contextlib.suppress(OSError):
                total += int((task / "schedstat").read_text().split()[0])
        return total / 1e9

    def memory_mb(self, name="VmRSS"):
        return int(re.search(rf"{name}:\s+(\d+) kB", pathlib.Path(f"/proc/{self.process.pid}/status").read_text())[1]) / 1024

    def forget_peak(self):
        """VmHWM begins again with what is held now."""
        pathlib.Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")

    # ---- Its end

    def is_well(self):
        assert self.process.poll() is None, f"it died: {self.log()[-3000:]}"
        answer = self.visitor(250).ask("GET", "/healthz")
        assert answer.code == 200, answer.text

    def stop(self):
        """In good order, and no sanitizer had anything to say."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        self.process.stdout.close()
        said = self.log()
        report = REPORT.search(said)
        assert report is None, said[report.start() - 500:report.start() + 4000]
        assert code == 0, (code, said[-2000:])


class Visitor(forms.Browser):
    """A browser of tests/site from a network address of its own. Redirects are followed by get and send, not by ask."""

    def __init__(self, site, at):
        super().__init__(site.port)
        self.site, self.at = site, at
        self.headers = {"X-Forwarded-For": at} if site.forwards else {}

    def ask(self, method, path, fields=None, body=None, headers=None):
        source = (self.at, 0) if not self.site.forwards else None
        connection = http.client.HTTPConnection(self.site.host, self.port, timeout=60, source_address=source)
        sent = {"Accept": "text/html", **self.headers, **(headers or {})}
        if self.cookies:
            sent["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        if fields is not None:
            sent["Content-Type"], body = "application/x-www-form-urlencoded", urllib.parse.urlencode(fields)
            sent.setdefault("Sec-Fetch-Site", "same-origin")  # as browsers say of a page's own form
        begun = time.monotonic()
        connection.request(method, path, body, sent)
        answer = connection.getresponse()
        for cookie in answer.msg.get_all("Set-Cookie", []):
            name, value = cookie.split(";")[0].split("=", 1)
            if "max-age=0" in cookie.lower():
                self.cookies.pop(name, None)
            else:
                self.cookies[name] = value
        page = forms.Page(answer, path)
        page.seconds = time.monotonic() - begun
        connection.close()
        return page

    def post(self, path, action=None, **fields):
        """The form of the page as it stands there, with some fields changed; where it leads is not followed."""
        form = self.get(path).form(action or path.split("?")[0])
        return self.ask("POST", form.action, {**form.fields, **fields})

    def api(self, method, path, body=None, token=None, csrf=None, **headers):
        """A program, or a script of the site's own pages."""
        if token:
            headers["Authorization"] = f"Bearer {token}"
        elif method != "GET":
            headers["X-CSRF-Token"] = csrf or self.csrf()
            headers["Sec-Fetch-Site"] = "same-origin"
        text = None if body is None else json.dumps(body)
        if text is not None:
            headers["Content-Type"] = "application/json"
        answer = self.ask(method, f"/api/v1/{path}", body=text, headers={name.replace("_", "-"): value for name, value in headers.items()})
        answer.json = json.loads(answer.text) if answer.text[:1] in ("{", "[") else None
        return answer

    def csrf(self):
        page = self.get("/my/sessions" if "session" in self.cookies else "/login")
        return re.search(r'name="csrf" value="([0-9a-f]+)"', page.text)[1]

    def log_in(self, name, password=PASSWORD):
        return self.post("/login", name=name, password=password)

    def register(self, name, at=None, password=PASSWORD):
        return self.post("/register", name=name, email=at or f"{name}@example.org", password=password)

    def confirm(self, post, at):
        """By the letter's link."""
        return self.post(post.link(at, "/confirm"), "/confirm")

    def has_pollies(self):
        return "session" in self.cookies and "100" in self.get("/my/votes").words and self.get("/policies/new").code == 200
