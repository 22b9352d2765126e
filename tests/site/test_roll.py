"""A roll of a hundred thousand people through the form and by a program, on the program as it is installed; slow lines; what a list may not be."""
import http.client
import json
import re
import time

import pytest
from test_admin import House
from test_people import shared

PEOPLE, BROKEN_EACH = 100_000, 1_000
BOUNDARY = "----a-boundary-of-a-browser"


class PlainHouse(House):
    """The build without sanitizers, where there is one: how long it takes and what memory it needs are those of the program."""
    program = str(shared.PLAIN) if shared.PLAIN.exists() else shared.BIN

    def resident_kb(self, name):
        status = open(f"/proc/{self.server.process.pid}/status").read()
        return int(re.search(rf"{name}:\s+(\d+) kB", status)[1])


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    house = PlainHouse(tmp_path_factory.mktemp("roll"), "--request-seconds", "5", "--mail-outbox")
    yield house
    assert house.server.stop() == 0


def lines(count, domain):
    """Every thousandth is broken."""
    good = (f"person{i}@{domain},Person Number {i}" if i % BROKEN_EACH else f"person {i} at {domain}" for i in range(1, count + 1))
    return "email,name\n" + "\n".join(good) + "\n"


def multipart(fields, file):
    parts = [f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n' for name, value in fields.items()]
    parts.append(f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="roll.csv"\r\nContent-Type: text/csv\r\n\r\n{file}\r\n')
    return ("".join(parts) + f"--{BOUNDARY}--\r\n").encode("utf-8", "surrogateescape")


def upload(house, file, pieces=1, pause=0, action="/admin/electorate/roll", **changes):
    """The form with a file in it, as a browser without scripts sends it."""
    admin = house.browser("admin")
    form = admin.get("/admin/electorate").form(action)
    fields = {name: value for name, value in {**form.fields, **changes}.items() if name != "file"}
    body = multipart(fields, file)
    connection = http.client.HTTPConnection("127.0.0.1", house.server.port, timeout=120)
    connection.putrequest("POST", form.action)
    connection.putheader("Cookie", "; ".join(f"{name}={value}" for name, value in admin.cookies.items()))
    connection.putheader("Content-Type", f"multipart/form-data; boundary={BOUNDARY}")
    connection.putheader("Content-Length", str(len(body)))
    connection.endheaders()
    size = -(-len(body) // pieces)
    for start in range(0, len(body), size):
        connection.send(body[start:start + size])
        time.sleep(pause)
    answer = connection.getresponse()
    answer.text = answer.read().decode()
    answer.words = " ".join(re.sub(r"<[^>]*>", " ", answer.text).split())
    connection.close()
    return answer


def on_the_roll(house):
    return json.loads(house.tell("roll", "count", "--json"))["count"]


def test_a_hundred_thousand_go_in_by_the_form_within_a_minute_and_bounded_memory(house):
    before_kb, begun, text = house.resident_kb("VmRSS"), time.monotonic(), lines(PEOPLE, "form.example.org")
    answer = upload(house, text, act="add")
    took = time.monotonic() - begun
    assert answer.status == 200, answer.words
    assert took < 60, took
    assert on_the_roll(house) == PEOPLE - PEOPLE // BROKEN_EACH
    assert "99 900 lines went through. 100 lines were left out: Line 1 001: an e-mail looks like name@example.org" in answer.words
    assert "Line 50 001: an e-mail looks like name@example.org" in answer.words, "the line with the columns is the first"
    if house.program != shared.BIN:
        assert house.resident_kb("VmHWM") - before_kb < 10 * len(text) // 1024 + 64 * 1024


def test_a_hundred_thousand_go_in_by_a_program_and_come_off_again(house):
    admin, before = house.browser("admin"), on_the_roll(house)
    csrf = re.search(r'name="csrf" value="([0-9a-f]+)"', admin.get("/my/sessions").text)[1]
    for act, left in (("add", before + PEOPLE - PEOPLE // BROKEN_EACH), ("remove", before)):
        connection = http.client.HTTPConnection("127.0.0.1", house.server.port, timeout=120)
        begun = time.monotonic()
        connection.request("POST", "/api/v1/admin/roll", json.dumps({"lines": lines(PEOPLE, "program.example.org"), "act": act}), {
            "Cookie": "; ".join(f"{name}={value}" for name, value in admin.cookies.items()), "X-CSRF-Token": csrf,
            "Content-Type": "application/json"})
        answer = connection.getresponse()
        report = json.loads(answer.read())
        connection.close()
        assert answer.status == 200 and time.monotonic() - begun < 60, report
        assert (report["lines"], report["good"], report["bad"]) == (PEOPLE, PEOPLE - PEOPLE // BROKEN_EACH, PEOPLE // BROKEN_EACH)
        assert report["faults"][0] == {"line": BROKEN_EACH + 1, "rule": "an e-mail looks like name@example.org"}
        assert on_the_roll(house) == left


def test_a_slow_line_has_the_time_that_a_list_needs_and_others_have_not(house):
    """The server's limit for a request is five seconds here."""
    answer = upload(house, "email\nslow@example.org\n", pieces=14, pause=0.5, act="add")
    assert answer.status == 200 and "1 lines went through" in answer.words, answer.words
    admin = house.browser("admin")
    connection = http.client.HTTPConnection("127.0.0.1", house.server.port, timeout=30)
    connection.putrequest("POST", "/admin/parties")
    connection.putheader("Content-Type", "application/x-www-form-urlencoded")
    connection.putheader("Cookie", "; ".join(f"{name}={value}" for name, value in admin.cookies.items()))
    connection.putheader("Content-Length", "100")
    connection.endheaders()
    with pytest.raises((ConnectionError, http.client.HTTPException, OSError)):
        for _ in range(16):
            connection.send(b"a")
            time.sleep(0.5)
        connection.getresponse()


def test_what_a_list_may_not_be(house):
    before = on_the_roll(house)
    assert "not both" in upload(house, "a@example.org\n", lines="b@example.org", act="add").words
    assert "there is no line in it" in upload(house, "", act="add").words
    latin = upload(house, "a@example.org,J\udce9r\n", act="add")
    assert latin.status == 400 and "file must be UTF-8 text" in latin.words
    assert upload(house, "a@example.org\n", csrf="0" * 32, act="add").status == 403
    assert upload(house, "\0", act="add").status == 400
    assert on_the_roll(house) == before


def test_a_list_has_a_bound_that_is_told_before_it_is_sent(house):
    connection = http.client.HTTPConnection("127.0.0.1", house.server.port, timeout=30)
    connection.putrequest("POST", "/admin/electorate/roll")
    connection.putheader("Content-Type", f"multipart/form-data; boundary={BOUNDARY}")
    connection.putheader("Content-Length", str(16 * 1024 * 1024 + 1))
    connection.endheaders()
    answer = connection.getresponse()
    assert answer.status == 413 and "at most 16777216 bytes" in answer.read().decode()


def test_a_list_of_invitations_can_be_a_file(house):
    answer = upload(house, "email\nbroken\n", action="/admin/electorate/invites")
    assert answer.status == 200 and "Line 2: an e-mail looks like" in answer.words


def test_another_form_takes_no_file(house):
    admin = house.browser("admin")
    body = multipart({"name": "Reds", "csrf": admin.get("/admin/parties").form("/admin/parties").fields["csrf"]}, "x")
    connection = http.client.HTTPConnection("127.0.0.1", house.server.port, timeout=30)
    connection.request("POST", "/admin/parties", body, {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}",
                                                        "Cookie": "; ".join(f"{name}={value}" for name, value in admin.cookies.items())})
    assert connection.getresponse().status == 400
