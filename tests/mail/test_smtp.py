"""Mail through real SMTP servers: those that take it, refuse it, put us off, hang, hang up, ask for TLS or a password, or are not there."""
import itertools
import email
import email.policy
import json
import signal
import socket
import ssl
import subprocess
import threading
import time

import aiosmtpd.controller
import aiosmtpd.smtp
import pytest

from conftest import ostraka

FROM = "Ostraka <site@example.org>"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(check, seconds=20):
    end = time.monotonic() + seconds
    while not (found := check()):
        assert time.monotonic() < end, "did not happen in time"
        time.sleep(0.05)
    return found


class Box:
    """A mailbox; `answers` come first, one for each message or recipient."""

    def __init__(self, at_rcpt=(), at_data=()):
        self.at_rcpt, self.at_data = list(at_rcpt), list(at_data)
        self.messages, self.hosts = [], []

    async def handle_EHLO(self, server, session, envelope, hostname, responses):
        session.host_name = hostname
        self.hosts.append(hostname)
        return responses

    async def handle_RCPT(self, server, session, envelope, address, options):
        if self.at_rcpt:
            return self.at_rcpt.pop(0)
        envelope.rcpt_tos.append(address)
        return "250 ok"

    async def handle_DATA(self, server, session, envelope):
        if self.at_data:
            return self.at_data.pop(0)
        message = email.message_from_bytes(envelope.content, policy=email.policy.default)
        self.messages.append((envelope.mail_from, envelope.rcpt_tos, message))
        return "250 taken"


@pytest.fixture
def office():
    """Starts aiosmtpd on a port; all end with the test."""
    running = []

    def start(box, port=None, **options):
        controller = aiosmtpd.controller.Controller(box, hostname="127.0.0.1", port=port or free_port(), **options)
        controller.start()
        running.append(controller)
        return controller.port

    yield start
    for controller in running:
        controller.stop()


@pytest.fixture
def talker():
    """A server by hand: `talk` gets the connection and what we send can be read line by line."""
    sockets = []

    def start(talk, port=0):
        listener = socket.create_server(("127.0.0.1", port))
        sockets.append(listener)

        def serve_all():
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                sockets.append(connection)
                threading.Thread(target=serve_one, args=(connection,), daemon=True).start()

        def serve_one(connection):
            try:
                talk(connection, connection.makefile("rwb"))
            except OSError:
                pass

        threading.Thread(target=serve_all, daemon=True).start()
        return listener.getsockname()[1]

    yield start
    for open_socket in sockets:
        open_socket.close()


class Site:
    """A running site with a mail server in its settings."""

    def __init__(self, serve, port, *flags, scheme="smtp"):
        self.flags = ["--smtp-url", f"{scheme}://127.0.0.1:{port}", "--mail-from", FROM, "--mail-retry-seconds", "1",
                      "--smtp-seconds", "2", *flags]
        self.serve = serve
        self.server = serve(*self.flags)

    def run(self, *words):
        return ostraka(*words, "--data", self.server.data)

    def queue(self, to="ann@example.org"):
        done = self.run("mail", "test", to, "--queue")
        assert done.returncode == 0, done.stderr

    def list(self, state=None):
        done = self.run("mail", "list", "--json")
        assert done.returncode == 0, done.stderr
        return [entry for entry in json.loads(done.stdout)["messages"] if state in (None, entry["state"])]

    def figure(self, name):
        _, _, body = self.server.get("/metrics")
        return next(float(line.split()[1]) for line in body.splitlines() if line.startswith(name + " "))

    def restart(self):
        self.server.stop(signal.SIGKILL)
        self.server = self.serve(*self.flags)


# --- servers that work ------------------------------------------------------------------------------------------------


def test_a_message_arrives_as_it_was_written(serve, office):
    box = Box()
    site = Site(serve, office(box))
    done = site.run("mail", "test", "ann@example.org")
    assert done.returncode == 0 and done.stdout == "the mail server took it\n", done.stderr
    sender, recipients, message = box.messages[0]
    assert sender == "site@example.org" and recipients == ["ann@example.org"]
    assert message.defects == [] and message["Subject"] == "A test from Ostraka"
    assert message["To"] == "ann@example.org" and message["From"].addresses[0].addr_spec == "site@example.org"
    assert "they work" in message.get_body(("plain",)).get_content()
    assert "they work" in message.get_body(("html",)).get_content()
    assert box.hosts[0] == "example.org"


def test_the_worker_sends_what_is_queued(serve, office):
    box = Box()
    site = Site(serve, office(box))
    for i in range(20):
        site.queue(f"user{i}@example.org")
    wait_for(lambda: len(box.messages) == 20)
    assert {recipients[0] for _, recipients, _ in box.messages} == {f"user{i}@example.org" for i in range(20)}
    assert len({message["Message-ID"] for _, _, message in box.messages}) == 20
    wait_for(lambda: site.list() == [])
    assert site.figure("ostraka_mail_queued_total") == site.figure("ostraka_mail_sent_total") == 20
    assert site.figure("ostraka_mail_failed_total") == site.figure("ostraka_mail_waiting") == 0


def test_the_log_says_what_became_of_it_and_names_nobody(serve, office):
    box = Box(at_rcpt=["550 no such user ann@example.org"])
    site = Site(serve, office(box))
    site.queue("ann@example.org")
    wait_for(lambda: site.list("failed"))
    site.server.stop()
    lines = [json.loads(line) for line in site.server.log().splitlines()]
    told = [line for line in lines if line["event"] == "mail"]
    assert [(line["state"], line["code"], line["kind"]) for line in told] == [("failed", 550, "test")]
    assert "ann@" not in site.server.log()


# --- whom the site writes to ------------------------------------------------------------------------------------------


def test_on_a_new_site_the_first_admin_gets_reports_until_somebody_has_the_role(serve, office):
    box = Box()
    site = Site(serve, office(box))

    def run(*words):
        done = site.run(*words)
        assert done.returncode == 0, done.stderr

    def written_to():
        """Who got letters about reports since the last look."""
        wait_for(lambda: box.messages and not site.list())
        taken, box.messages[:] = list(box.messages), []
        reports = [recipients for _, recipients, message in taken if message["Subject"] == "A report at Ostraka"]
        assert reports, taken
        return sorted(itertools.chain(*reports))

    run("user", "add", "ada", "--email", "ada@example.org", "--confirmed", "--role", "admin")
    run("user", "add", "ben", "--email", "ben@example.org", "--confirmed", "--registered", "2025-01-01T00:00:00Z")
    run("policy", "create", "--as", "ben", "--name", "Trams", "--category", "Environment", "--seen", "0" * 32)
    run("report", "policy", "1", "--words", "It is spam.", "--email", "guest@example.org")
    assert written_to() == ["ada@example.org"]
    run("report", "trouble", "--words", "I cannot log in.", "--email", "guest@example.org")
    assert written_to() == ["ada@example.org"]

    run("user", "add", "mod", "--email", "mod@example.org", "--confirmed", "--role", "moderate_policies")
    run("user", "add", "eve", "--email", "eve@example.org", "--confirmed", "--role", "edit_users")
    run("report", "policy", "1", "--as", "mod", "--words", "It is still spam.")
    assert written_to() == ["mod@example.org"]
    run("report", "trouble", "--words", "I cannot join.", "--email", "guest@example.org")
    assert written_to() == ["eve@example.org"]


# --- servers that say no ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("answers", [{"at_rcpt": ["451 later", "450 busy"]}, {"at_data": ["452 full", "451 later"]}])
def test_a_4xx_is_tried_again_until_it_is_taken(serve, office, answers):
    box = Box(**answers)
    site = Site(serve, office(box))
    site.queue()
    wait_for(lambda: len(box.messages) == 1)
    wait_for(lambda: site.list() == [])
    assert site.figure("ostraka_mail_delayed_total") == 2 and site.figure("ostraka_mail_sent_total") == 1


@pytest.mark.parametrize("answers", [{"at_rcpt": ["550 no such user"]}, {"at_data": ["554 we do not like it"]}])
def test_a_5xx_has_failed_at_once_and_can_be_tried_again_by_hand(serve, office, answers):
    box = Box(**answers)
    site = Site(serve, office(box))
    site.queue()
    entry = wait_for(lambda: site.list("failed"))[0]
    words = {"at_rcpt": "550 no such user", "at_data": "554 we do not like it"}[next(iter(answers))]
    assert entry["attempts"] == 1 and entry["to"] == "ann@example.org" and entry["code"] == int(words[:3])
    assert entry["error"] == words
    time.sleep(2.5)
    assert box.messages == [] and site.figure("ostraka_mail_failed_total") == 1
    text = site.run("mail", "list")
    assert entry["id"] in text.stdout and entry["error"] in text.stdout
    assert site.run("mail", "retry", "nonsense").returncode == 1
    assert site.run("mail", "retry", "0" * 32).returncode == 1
    done = site.run("mail", "retry", entry["id"])
    assert done.stdout == "1 queued again\n"
    wait_for(lambda: len(box.messages) == 1)
    wait_for(lambda: site.list() == [])
    done = site.run("mail", "retry", entry["id"])
    assert done.returncode == 1 and "has not failed" in done.stderr
    assert json.loads(site.run("mail", "retry", "--json").stdout)["queued"] == 0


def test_a_test_says_what_the_server_said(serve, office):
    site = Site(serve, office(Box(at_rcpt=["550 who is that", "451 not now"])))
    done = site.run("mail", "test", "ann@example.org")
    assert done.returncode == 1 and done.stderr == "ostraka: not sent: 550 who is that\n"
    done = site.run("mail", "test", "ann@example.org")
    assert done.returncode == 1 and done.stderr == "ostraka: not sent, and tried again later: 451 not now\n"
    done = site.run("mail", "test", "ann")
    assert done.returncode == 1 and done.stderr == "ostraka: to: an address looks like name@example.org\n"


def test_a_server_that_greets_with_a_refusal_is_asked_again(serve, talker):
    def talk(connection, stream):
        stream.write(b"554 go away\r\n")
        stream.flush()

    site = Site(serve, talker(talk))
    site.queue()
    entry = wait_for(lambda: [entry for entry in site.list("waiting") if entry["code"]])[0]
    assert entry["code"] == 554


# --- servers that do not answer ---------------------------------------------------------------------------------------


def answer(stream, *lines):
    for line in lines:
        stream.write(line.encode() + b"\r\n")
    stream.flush()


def until(stream, word):
    while not stream.readline().upper().startswith(word):
        pass


def hang(connection, stream):
    time.sleep(60)


def hang_after_greeting(connection, stream):
    answer(stream, "220 hello")
    time.sleep(60)


def hang_after_data(connection, stream):
    answer(stream, "220 hello")
    until(stream, b"EHLO")
    answer(stream, "250 ok")
    until(stream, b"MAIL")
    answer(stream, "250 ok")
    until(stream, b"RCPT")
    answer(stream, "250 ok")
    until(stream, b"DATA")
    answer(stream, "354 go on")
    time.sleep(60)


def close_in_the_middle(connection, stream):
    answer(stream, "220 hello")
    until(stream, b"EHLO")
    answer(stream, "250 ok")
    until(stream, b"MAIL")
    answer(stream, "250 ok")
    until(stream, b"RCPT")
    answer(stream, "250 ok")
    until(stream, b"DATA")
    answer(stream, "354 go on")
    stream.readline()
    connection.shutdown(socket.SHUT_RDWR)


def babble(connection, stream):
    while True:
        stream.write(b"220-" + b"hello " * 100 + b"\r\n")
        stream.flush()


@pytest.mark.parametrize("talk", [hang, hang_after_greeting, hang_after_data, close_in_the_middle, babble])
def test_a_server_that_hangs_or_hangs_up_holds_up_nobody(serve, office, talker, talk):
    port = talker(talk)
    site = Site(serve, port)
    site.queue()
    for _ in range(20):
        begun = time.monotonic()
        status, _ = site.server.health()
        assert status == 200 and time.monotonic() - begun < 2
        time.sleep(0.05)
    entry = wait_for(lambda: [entry for entry in site.list("waiting") if entry["error"]])[0]
    assert entry["attempts"] >= 1


def test_a_stop_does_not_wait_for_a_server_that_hangs(serve, talker):
    came = threading.Event()

    def talk(connection, stream):
        came.set()
        time.sleep(60)

    site = Site(serve, talker(talk), "--smtp-seconds", "60")
    site.queue()
    assert came.wait(20)
    begun = time.monotonic()
    assert site.server.stop() == 0
    assert time.monotonic() - begun < 5


def test_a_stop_does_not_wait_for_a_test_of_a_server_that_hangs(serve, talker):
    came = threading.Event()

    def talk(connection, stream):
        came.set()
        time.sleep(60)

    site = Site(serve, talker(talk), "--smtp-seconds", "60")
    tester = threading.Thread(target=site.run, args=("mail", "test", "ann@example.org"))
    tester.start()
    assert came.wait(20)
    begun = time.monotonic()
    assert site.server.stop() == 0
    assert time.monotonic() - begun < 5
    tester.join(20)


def test_a_server_that_comes_back_gets_all_that_waited(serve, office):
    port = free_port()
    site = Site(serve, port)
    for i in range(5):
        site.queue(f"user{i}@example.org")
    wait_for(lambda: any(entry["error"] for entry in site.list("waiting")))
    box = Box()
    office(box, port)
    wait_for(lambda: len(box.messages) == 5, 40)
    wait_for(lambda: site.list() == [])


# --- TLS and passwords ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A certificate for 127.0.0.1, and a server's context with it."""
    place = tmp_path_factory.mktemp("tls")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost", "-keyout", place / "key.pem",
                    "-out", place / "cert.pem"], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(place / "cert.pem", place / "key.pem")
    return str(place / "cert.pem"), context


def test_starttls(serve, office, certificate):
    file, context = certificate
    box = Box()
    site = Site(serve, office(box, tls_context=context, require_starttls=True), "--smtp-tls", "required",
                "--smtp-ca-file", file)
    done = site.run("mail", "test", "ann@example.org")
    assert done.returncode == 0, done.stderr
    assert len(box.messages) == 1


def test_a_server_without_tls_gets_nothing_when_it_is_required(serve, office, certificate):
    box = Box()
    site = Site(serve, office(box), "--smtp-tls", "required", "--smtp-ca-file", certificate[0])
    done = site.run("mail", "test", "ann@example.org")
    assert done.returncode == 1 and "tried again later" in done.stderr and box.messages == []


def test_a_certificate_that_nobody_vouches_for_gets_nothing(serve, office, certificate):
    box = Box()
    site = Site(serve, office(box, tls_context=certificate[1], require_starttls=True), "--smtp-tls", "required")
    done = site.run("mail", "test", "ann@example.org")
    assert done.returncode == 1 and "certificate" in done.stderr and box.messages == []


def test_smtps(serve, office, certificate):
    file, context = certificate
    box = Box()
    port = office(box, ssl_context=context)
    site = Site(serve, port, "--smtp-ca-file", file, scheme="smtps")
    done = site.run("mail", "test", "ann@example.org")
    assert done.returncode == 0, done.stderr
    assert len(box.messages) == 1


def authenticator(server, session, envelope, mechanism, data):
    right = isinstance(data, aiosmtpd.smtp.LoginPassword) and (data.login, data.password) == (b"site", b"the password")
    return aiosmtpd.smtp.AuthResult(success=right, handled=False)


@pytest.mark.parametrize("password, works", [("the password\n", True), ("another\n", False)])
def test_a_password(serve, office, certificate, tmp_path, password, works):
    file, context = certificate
    box = Box()
    port = office(box, tls_context=context, require_starttls=True, auth_required=True, authenticator=authenticator)
    secret = tmp_path / "secret"
    secret.write_text(password)
    site = Site(serve, port, "--smtp-tls", "required", "--smtp-ca-file", file, "--smtp-user", "site",
                "--smtp-password-file", str(secret))
    done = site.run("mail", "test", "ann@example.org")
    if works:
        assert done.returncode == 0 and len(box.messages) == 1
    else:  # our mistake, not the message's: it waits until the operator has found it
        assert done.returncode == 1 and "tried again later" in done.stderr and box.messages == []
        assert [entry["code"] for entry in site.list()] == [535]


# --- crashes ----------------------------------------------------------------------------------------------------------


def test_kill_between_queueing_and_sending_loses_nothing(serve, office):
    port = free_port()
    site = Site(serve, port)
    for i in range(10):
        site.queue(f"user{i}@example.org")
    site.server.stop(signal.SIGKILL)
    box = Box()
    office(box, port)
    site.restart()
    wait_for(lambda: len(box.messages) == 10, 40)
    assert {recipients[0] for _, recipients, _ in box.messages} == {f"user{i}@example.org" for i in range(10)}
    wait_for(lambda: site.list() == [])
    time.sleep(1)
    assert len(box.messages) == 10


def test_kill_in_the_middle_of_sending_sends_the_same_message_again(serve, office, talker):
    came = threading.Event()

    def talk(connection, stream):
        came.set()
        hang_after_data(connection, stream)

    port = talker(talk)
    site = Site(serve, port, "--smtp-seconds", "1")
    site.queue()
    assert came.wait(20)
    identity = site.list()[0]["id"]
    box = Box()
    site.flags[1] = f"smtp://127.0.0.1:{office(box)}"
    site.restart()
    wait_for(lambda: len(box.messages) == 1, 40)
    assert box.messages[0][2]["Message-ID"] == f"<{identity}@example.org>"


# --- settings ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("flags, says", [
    (["--smtp-url", "http://127.0.0.1", "--mail-from", FROM], "smtp_url"),
    (["--smtp-url", "smtp://127.0.0.1"], "mail_from"),
    (["--smtp-url", "smtp://127.0.0.1", "--mail-from", "nobody"], "mail_from"),
    (["--smtp-url", "smtp://mail.example.org", "--mail-from", FROM, "--smtp-tls", "maybe"], "smtp_tls"),
    (["--smtp-url", "smtp://127.0.0.1", "--mail-from", FROM, "--smtp-password-file", "/nowhere"], "smtp_password_file"),
    (["--smtp-url", "smtp://127.0.0.1", "--mail-from", FROM, "--smtp-user", "site"], "smtp_user"),
    (["--mail-outbox", "--listen", "0.0.0.0:0"], "mail_outbox"),
])
def test_a_wrong_setting_is_named_at_the_start(tmp_path, flags, says):
    done = ostraka("serve", "--data", str(tmp_path / "data"), "--listen", "127.0.0.1:0", *flags)
    assert done.returncode == 1 and done.stderr.startswith(f"ostraka: {says}: ") and done.stderr.count("\n") == 1


def test_without_a_server_one_is_told(serve):
    server = serve()
    done = ostraka("mail", "test", "ann@example.org", "--data", server.data)
    assert done.returncode == 1 and done.stderr == (
        "ostraka: smtp_url: this site has no mail server, so it cannot send mail\n")
    assert json.loads(ostraka("mail", "list", "--data", server.data, "--json").stdout)["messages"] == []


def test_a_demo_keeps_its_mails(serve):
    server = serve("--mail-outbox")
    done = ostraka("mail", "test", "ann@example.org", "--data", server.data)
    assert done.returncode == 0 and "outbox" in done.stdout
    listed = json.loads(ostraka("mail", "list", "--data", server.data, "--json").stdout)["messages"]
    assert [(entry["state"], entry["to"]) for entry in listed] == [("outbox", "ann@example.org")]


def test_a_test_without_a_running_site(tmp_path, office):
    box = Box()
    data = str(tmp_path / "data")
    assert ostraka("user", "add", "ann", "--email", "ann@example.org", "--data", data).returncode == 0
    done = ostraka("mail", "test", "ann@example.org", "--data", data, "--smtp-url",
                   f"smtp://127.0.0.1:{office(box)}", "--mail-from", FROM)
    assert done.returncode == 0 and len(box.messages) == 1, done.stderr
