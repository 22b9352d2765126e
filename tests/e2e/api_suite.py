"""The JSON interface against its own document, by Schemathesis: every operation, with data that fits, that is at the edges, and that does
not fit. No answer 5xx, and every answer as documented.

Not asked: whether all data that fits the schemas is accepted. Rules of the vote (a balance, a version, a link of a letter) are
told by answers, not by schemas."""
import json
import pathlib
import subprocess
import sys
import urllib.request

CHECKS = ("not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,response_headers_conformance,"
          "negative_data_rejection,unsupported_method,ignored_auth")


class Script:
    """A script of the site's own pages: its cookies and the token of its visit."""

    def __init__(self, url):
        self.url, self.opener = url, urllib.request.build_opener(urllib.request.HTTPCookieProcessor())

    def ask(self, path, body=None):
        headers = {"Content-Type": "application/json", "X-CSRF-Token": self.csrf} if body else {}
        text = json.dumps(body).encode() if body else None
        with self.opener.open(urllib.request.Request(f"{self.url}/api/v1/{path}", text, headers), timeout=30) as answer:
            return json.load(answer)

    def visit(self):
        self.csrf = self.ask("session")["csrf"]


def token_of(url, name, password):
    script = Script(url)
    script.visit()
    script.ask("session", {"name": name, "password": password})
    script.visit()
    return script.ask("me/tokens", {"name": "schemathesis", "scope": "write", "password": password})["secret"]


def test_every_operation_does_what_the_document_says(demo, tmp_path):
    token = token_of(demo.url, "demo", "ostraka-demo")
    tool = pathlib.Path(sys.executable).with_name("schemathesis")
    # Too much is refused by its size before it is read, so 413 is an answer to data that does not fit.
    (tmp_path / "schemathesis.toml").write_text('[checks.negative_data_rejection]\nexpected-statuses = [400, 401, 403, 404, 405, 406, 409, 413, 415, 422, 428, 429]\n')
    done = subprocess.run(
        [tool, "run", f"{demo.url}/api/v1/openapi.json", "--header", f"Authorization: Bearer {token}", "--checks", CHECKS,
         "--exclude-path", "/api/v1/events",  # a stream does not end
         "--max-examples", "20", "--seed", "1", "--continue-on-failure", "--phases", "examples,coverage,fuzzing", "--no-color"],
        capture_output=True, text=True, timeout=900, cwd=tmp_path)
    assert done.returncode == 0, done.stdout[-20000:]
