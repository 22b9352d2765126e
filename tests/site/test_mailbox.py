"""Letters: who gets digests and what they say, ending them by one click, addresses that get only what they must, what admins see."""
import email
import email.policy
import http.client
import json
import re
import subprocess

import pytest

from site_fixture import SiteFixture
from program import Api, Client
from test_people import PASSWORD, SitePeople, shared


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    town = SitePeople(tmp_path_factory.mktemp("mailbox"))
    yield town
    town.server.stop()
    town.office.stop()


def cli(town, *words, **options):
    return subprocess.run([shared.BIN, *words, "--data", town.server.data], env=shared.clean_environment(), capture_output=True, text=True,
                          timeout=60, **options)


def version_of(town, name):
    return str(json.loads(cli(town, "user", "show", name, "--json").stdout)["version"])


# ---- Choosing

def test_choosing_how_often(town):
    anna = town.person("anna")
    page = anna.get("/my/mail")
    assert page.code == 200 and re.search(r'value="never"\s+checked', page.text) and "anna@example.org" in page.text
    assert "/my/mail" in anna.get("/my/profile").text
    assert anna.send("/my/mail", "/my/mail", digest="weekly").location == "/my/mail?done=mail"
    assert re.search(r'value="weekly"\s+checked', anna.get("/my/mail").text)
    assert anna.send("/my/mail", "/my/mail", digest="hourly").code == 422
    assert anna.ask("POST", "/my/mail", {"digest": "daily"}).code == 403
    assert town.browser().get("/my/mail").location.startswith("/login?")
    client = Client(Api(town.server.port), secret=anna.cookies["session"])
    client.csrf = client.get("session").json["csrf"]
    assert client.get("me/mail").json == {"digest": "weekly", "email": "anna@example.org", "suppressed": False}
    assert client.ask("PUT", "me/mail", {"digest": "daily"}).json["digest"] == "daily"


# ---- Digests, on a site whose letters can be read here

@pytest.fixture(scope="module")
def site_fixture(tmp_path_factory):
    site_fixture = SiteFixture(tmp_path_factory.mktemp("digests") / "site_fixture")
    yield site_fixture
    assert site_fixture.stop() == 0


def digest(site_fixture, voter, days=1):
    """The letter of the last days, as it would be sent now; None when there is nothing to tell."""
    answer = site_fixture.tell("digest", voter.id, days).split(" ", 1)
    return answer[1].replace("|", "\n") if len(answer) > 1 else None


def test_a_digest_says_what_happened_and_goes_out_once(site_fixture):
    owner, voter, other = site_fixture.voter("owner"), site_fixture.voter("voter"), site_fixture.voter("other")
    policy = site_fixture.policy(owner, "Of <b>rivers</b>")
    assert digest(site_fixture, voter) is None
    voter.vote(policy, 5)
    site_fixture.tell("move", policy, "retired")
    letter = digest(site_fixture, voter)
    assert "Of <b>rivers</b>: it was retired" in letter and "Hello voter," in letter
    assert letter.count("Message ") == 1, "asked for twice, it is one letter"
    assert digest(site_fixture, other) is None


def unsubscribe_link(site_fixture, voter):
    return site_fixture.tell("unsubscribe-link", voter.id).split()[1]


def post(port, path, body="List-Unsubscribe=One-Click", kind="application/x-www-form-urlencoded"):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("POST", path, body, {"Content-Type": kind})
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status


def chosen(voter):
    return re.search(r'value="(\w+)"\s+checked', voter.get("/my/mail").text)[1]


def test_one_click_of_a_mail_program_ends_them(site_fixture):
    voter = site_fixture.voter("leaver")
    voter.send("/my/mail", voter.get("/my/mail").form("/my/mail"), digest="daily")
    path = "/unsubscribe?token=" + unsubscribe_link(site_fixture, voter)
    for _ in range(2):
        assert voter.get(path, secret="").code == 200
    assert chosen(voter) == "daily", "a scanner that opens it changes nothing"
    assert post(site_fixture.port, path) == 200
    assert chosen(voter) == "never"
    assert post(site_fixture.port, path, "--x\r\n\r\n", "multipart/form-data; boundary=x") == 200, "again, and as RFC 8058 also allows"
    assert post(site_fixture.port, path[:-1]) == 404
    assert post(site_fixture.port, "/unsubscribe?token=" + "0" * 80) == 404
    assert voter.get("/unsubscribe?token=" + "0" * 80).code == 404


# ---- Bounces

REPORT = """From: MAILER-DAEMON@mx.example
Content-Type: multipart/report; report-type=delivery-status; boundary="B"

--B
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.example

Final-Recipient: rfc822; Gone@example.org
Action: failed
Status: 5.1.1

--B--
"""


def test_operators_name_addresses_and_pipe_reports(town):
    assert cli(town, "mail", "bounce", "full@example.org", "--reason", "complaint").returncode == 0
    told = cli(town, "mail", "bounce", "--report-stdin", "--json", input=REPORT)
    assert told.returncode == 0 and json.loads(told.stdout)["suppressed"] == 1, told.stderr
    listed = cli(town, "mail", "suppressed")
    assert sorted(line.split()[1] for line in listed.stdout.splitlines()[1:]) == ["bounced", "complaint"]
    assert "example.org" not in listed.stdout
    gone = town.person("gone")
    assert "refused a letter for good" in gone.get("/my/mail").text, "letters about the log-in came all the same"
    assert cli(town, "mail", "allow", "gone@EXAMPLE.org").returncode == 0
    assert "refused a letter for good" not in gone.get("/my/mail").text
    assert cli(town, "mail", "bounce", "--report-stdin", input="Subject: hello\n\nno report\n").returncode == 1
    assert cli(town, "mail", "bounce").returncode == 1
    assert cli(town, "mail", "bounce", "nobody").returncode == 1
    assert cli(town, "mail", "bounce", "a@example.org", "--reason", "dislike").returncode == 1


# ---- Admins

def test_admins_see_and_change_them(town):
    admin = town.person("boss")
    assert admin.get("/admin/mail").code == 403
    assert cli(town, "user", "rights", "boss", "--role", "admin", "--seen", version_of(town, "boss")).returncode == 0
    page = admin.get("/admin/mail")
    assert page.code == 200 and "E-mails that failed" in page.text
    answer = admin.send("/admin/mail", "/admin/mail/suppress", address="<b>nobody")
    assert answer.code == 422 and 'id="address-fault"' in answer.text and "<b>nobody" not in answer.text
    assert admin.send("/admin/mail", "/admin/mail/suppress", address="loud@example.org").location == "/admin/mail?done=mail-suppressed"
    assert "by those who run the site" in admin.get("/admin/mail").text and "loud@example.org" not in admin.get("/admin/mail").text
    form = admin.get("/admin/mail").form("/admin/mail/suppress")
    assert admin.ask("POST", "/admin/mail/allow", {**form, "address": "loud@example.org"}).location == "/admin/mail?done=mail-allowed"
    assert "by those who run the site" not in admin.get("/admin/mail").text
    acts = cli(town, "audit", "list", "--json").stdout
    assert "mail-suppress" in acts and "mail-allow" in acts and "loud@example.org" not in acts
    client = Client(Api(town.server.port), secret=admin.cookies["session"])
    assert client.get("admin/mail").json["can_send"] is True
    assert Client(Api(town.server.port), secret=town.person("voter").cookies["session"]).get("admin/mail").code == 403
