"""The page on privacy is true: every cookie, period and viewer on it is read from the tables, and the live settings count."""
import json
import re

import pytest
from browser import COOKIES, were_set
from test_admin import House
from test_people import PASSWORD


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    house = House(tmp_path_factory.mktemp("privacy"), "--mail-outbox")
    yield house
    assert house.server.stop() == 0


def rows(page, region):
    """The table with that name, a list of cells for each row."""
    table = re.search(rf'aria-label="{region}"><table.*?</table>', page.text, re.S)[0]
    return [[" ".join(re.sub(r"<[^>]*>", "", cell).split()) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S)] for row in re.findall(r"<tr>(.*?)</tr>", table, re.S)[1:]]


def period(seconds):
    unit, size = next((unit, size) for unit, size in (("day", 86400), ("hour", 3600), ("minute", 60)) if seconds % size == 0)
    return f"{seconds // size} {unit}{'' if seconds == size else 's'}"


def test_the_page_names_every_cookie_of_the_table(house):
    shown = {row[0]: row[2] for row in rows(house.browser().get("/privacy"), "Cookies")}
    assert shown == {name: period(seconds) for name, seconds in COOKIES.items()} and len(shown) == 6


def test_a_journey_sets_no_cookie_beside_the_table(house):
    """Every browser of these suites judges each one; here they are counted."""
    were_set.clear()
    browser = house.browser()
    browser.get("/")
    assert not were_set, "to look sets none"
    page = browser.send(browser.get("/login"), "/login", name="vera", password=PASSWORD, remember="on")
    assert page.code == 200 and "vera" in page.text
    for path in ("/", "/ranking", "/my/votes", "/my/profile", "/my/sessions", "/my/second-factor", "/privacy", "/nowhere"):
        browser.get(path)
    browser.send(browser.get("/my/profile"), "/logout")
    assert were_set == {"visitor", "session", "device"}


def test_a_period_that_is_set_is_on_the_page(house):
    about = {row["name"]: row["about"] for row in json.loads(house.tell("retention", "list", "--json"))["retention"]}
    before = json.loads(house.tell("retention", "list", "--json"))["retention"]
    kept = dict(rows(house.browser().get("/privacy"), "How long things are kept"))
    assert {row["about"]: kept[row["about"]] for row in before} == {row["about"]: period(row["days"] * 86400) for row in before}
    for name, days in (("logins", 33), ("signals", 45), ("acts", 1), ("letters", 1)):
        days = max(days, 30) if name == "acts" else days
        house.tell("retention", "set", name, str(days))
        assert dict(rows(house.browser().get("/privacy"), "How long things are kept"))[about[name]] == period(days * 86400)


def test_who_sees_what_is_what_the_operations_show(house):
    operations = json.loads(house.tell("operations", "--json"))
    shown = dict(rows(house.browser().get("/privacy"), "Who sees what"))
    assert set(shown) == {part for row in operations for part in row["shows"]}, "every part is shown by an operation, and on the page"
    for part, by in shown.items():
        of = [row for row in operations if part in row["shows"]]
        roles = {role for row in of if row["access"] == "role" for role in [*row["roles"], "admin"]}
        assert ("everybody" in by) == any(row["access"] == "public" for row in of)
        if "everybody" not in by:
            assert set(re.findall(r"admin|edit_\w+|moderate_\w+|feature|respond", by)) == roles, (part, by)
            assert ("by you" in by) == any(row["access"] in ("login", "voter") for row in of), (part, by)
            assert ("alone" in by) == (not roles) and ("you are told" in by) == (not roles)
    assert "by people with the role admin or edit_users" in shown["Your e-mail address"]
    assert dict(rows(house.browser().get("/about"), "Who sees what")) == shown, "the page about the site says the same"


def test_the_words_of_those_who_run_the_site_do_not_replace_the_tables(house):
    path = house.directory / "words"
    path.write_text("We keep *little*.")
    house.tell("text", "write", "privacy", str(path))
    page = house.browser().get("/privacy")
    assert "<em>little</em>" in page.text and "comes with the software" not in page.words
    assert len(rows(page, "Cookies")) == 6 and rows(page, "Who sees what") and rows(page, "How long things are kept")
    assert "<table" not in house.browser().get("/terms").text


def test_no_page_says_what_is_not_so(house):
    for path in ("/about", "/privacy", "/register", "/help", "/admin/people"):
        page = (house.browser("admin") if path.startswith("/admin") else house.browser()).get(path)
        assert page.code == 200 and not re.search(r"shown to nobody|nobody else sees|seen by you alone\.<|There are no others|You alone see", page.words, re.I), path


def test_a_notice_of_a_command_can_be_dismissed_by_the_person(house):
    house.tell("vote", "show", "--as", "volker", "--reason", "A question <b>by post</b>")
    browser = house.browser("volker")
    page = browser.get("/my/notices")
    assert "looked at what is yours, by the command vote show" in page.words and "A question &lt;b&gt;by post" in page.text
    assert "It shows: what you hold on which policy" in page.words
    page = browser.send(page, "/my/notices/dismiss")
    assert page.code == 200 and "vote show" not in page.words
