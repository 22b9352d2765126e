"""Messages as a reader that is not ours sees them: Python's email package takes apart what we wrote."""
import email
import email.header
import email.policy
import json
import os
import pathlib
import random
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("OSTRAKA_BUILD", ROOT / "build" / "test"))
PROGRAM = BUILD / "tests" / "mail" / "write_message"
HEADERS = ["From", "To", "Subject", "Date", "Message-ID", "Auto-Submitted", "MIME-Version", "Content-Type"]
LETTERS = 8


def write(**fields):
    message = {"from": "Ostraka <site@example.org>", "to": "ann@example.org", "subject": "Hello", "text": "One line.\n",
               "html": "<p>One line.</p>\n", **fields}
    done = subprocess.run([PROGRAM], input=json.dumps(message).encode(), capture_output=True, timeout=20)
    return done.returncode, done.stdout, done.stderr.decode()


def read(**fields):
    code, wire, errors = write(**fields)
    assert code == 0, errors
    check_wire(wire)
    message = email.message_from_bytes(wire, policy=email.policy.default.clone(utf8=True))
    assert message.defects == []
    for part in message.walk():
        assert part.defects == [], part.defects
    return message


def check_wire(wire):
    assert wire.endswith(b"\r\n") and wire.replace(b"\r\n", b"").count(b"\n") == 0
    assert wire.replace(b"\r\n", b"").count(b"\r") == 0
    for line in wire.split(b"\r\n"):
        assert len(line) <= 998 and not line.startswith(b".")


def body(message, kind):
    return message.get_body((kind,)).get_content().replace("\r\n", "\n")


def test_headers_and_parts_are_read_as_they_were_meant():
    message = read(subject="Confirm your e-mail", text="a\nb\n", html="<p>a &amp; b</p>\n")
    assert message.keys() == HEADERS
    assert message["From"].addresses[0].display_name == "Ostraka"
    assert message["From"].addresses[0].addr_spec == "site@example.org"
    assert message["To"].addresses[0].addr_spec == "ann@example.org"
    assert message["Subject"] == "Confirm your e-mail"
    assert message["Date"].datetime.isoformat() == "2026-01-31T12:00:00+00:00"
    assert message["Message-ID"] == "<0123456789abcdef@example.org>"
    assert message.get_content_type() == "multipart/alternative"
    assert [part.get_content_type() for part in message.iter_parts()] == ["text/plain", "text/html"]
    assert body(message, "plain") == "a\nb\n" and body(message, "html") == "<p>a &amp; b</p>\n"


def test_text_alone():
    message = read(html="")
    assert message.get_content_type() == "text/plain" and body(message, "plain") == "One line.\n"


@pytest.mark.parametrize("subject", [
    "Clean rivers \u2013 14 votes needed", "=?UTF-8?B?QUFB?=", "\u65e5\u672c\u8a9e" * 30, "a" * 400, " blanks  around ",
    "\U0001f3fa" * 99, "x" * 59 + "\u00e9", "comma, (brackets) <and> \"quotes\" \\", "a: b"])
def test_subjects_come_back_as_they_were(subject):
    assert read(subject=subject)["Subject"] == subject


@pytest.mark.parametrize("name", ["Ostraka", "Bürgerbeteiligung Köln, Amt 7", "a\"b\\c", "名前" * 6, "=?x?=", "Dr. A. <b>"])
def test_names_of_senders_come_back_as_they_were(name):
    message = read(**{"from": f"{name} <site@example.org>"})
    assert message["From"].addresses[0].display_name == name
    assert message["From"].addresses[0].addr_spec == "site@example.org"


def test_a_long_name_is_several_words_with_nothing_between_them():
    code, wire, _ = write(**{"from": "名前" * 20 + " <site@example.org>"})
    words = email.header.decode_header(email.message_from_bytes(wire)["From"])
    assert code == 0 and words[0] == (("名前" * 20).encode(), "utf-8") and words[1][0].strip() == b"<site@example.org>"


def test_addresses_with_letters_beyond_ascii():
    address = read(to="jürgen@müller.example")["To"].addresses[0].addr_spec
    assert address.encode("utf-8", "surrogateescape").decode() == "jürgen@müller.example"


TEXTS = ["no line end", "\n\n\n", ".\n..\n.leading dots\n", "From here\n", "trailing blanks   \nand tabs\t\n", "a" * 5000 + "\n",
         "\u20ac" * 3000, "=3D =\n=\n", "--=_0123456789abcdef\n--=_0123456789abcdef--\nstill here\n", "\x01\x02\x7f\u0085\u2028\n",
         "a\rb\r\nc\n"]


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_bodies_come_back_as_they_were(text):
    message = read(text=text, html=text)
    wanted = text.replace("\r\n", "\n").replace("\r", "\n")
    wanted += "" if wanted.endswith("\n") else "\n"
    assert body(message, "plain") == wanted and body(message, "html") == wanted


def test_any_text_comes_back_as_it_was():
    luck = random.Random(7)
    letters = "abc .=\n\t<>&-_?\"'" + "é€\U0001f3fa\u202f"
    for _ in range(200):
        text = "".join(luck.choice(letters) for _ in range(luck.randrange(1, 400)))
        subject = text.replace("\n", "").replace("\t", "")[:80] or "x"
        message = read(subject=subject, text=text, html=text[::-1])
        assert message["Subject"] == subject
        assert body(message, "plain").rstrip("\n") == text.rstrip("\n")
        assert body(message, "html").rstrip("\n") == text[::-1].rstrip("\n")


BAD = [
    ("to", "ann@example.org\r\nBcc: eve@example.org"), ("to", "ann@example.org, eve@example.org"), ("to", "ann"),
    ("subject", "Hello\r\nBcc: eve@example.org"), ("subject", "Hello\nX: y"), ("subject", "a\rb"), ("subject", ""),
    ("subject", "a" * 401), ("text", ""), ("text", "a" * (128 * 1024 + 1)), ("html", "a" * (128 * 1024 + 1)),
    ("from", "Ostraka\n <site@example.org>"), ("from", "nobody")]


@pytest.mark.parametrize("field, value", BAD, ids=range(len(BAD)))
def test_what_could_become_something_else_is_refused_by_name(field, value):
    code, wire, errors = write(**{field: value})
    assert code == 1 and wire == b"" and errors.startswith(field + ": ")


@pytest.mark.parametrize("letter", range(LETTERS))
def test_letters_say_the_same_in_both_parts(letter):
    link = "https://vote.example.org/confirm/abc-DEF_123?x=1&y=2"
    message = read(letter=letter, site="Agora & Söhne", home="https://vote.example.org", name="ann<script>", link=link)
    plain, html = body(message, "plain"), body(message, "html")
    assert "Agora & Söhne" in message["Subject"] and "Hello ann<script>," in plain
    assert "<script>" not in html and "ann&lt;script&gt;" in html
    assert (link in plain) == (link.replace("&", "&amp;") in html)
    for line in plain.split("\n-- \n")[0].splitlines():
        text = line.rstrip(":") if line.rstrip(":") != line else line
        escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("'", "&#39;")
        assert escaped in html, line
