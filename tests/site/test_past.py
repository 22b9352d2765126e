"""Rankings as they were, and what a page is asked for that it does not take. On a demo with some days of history."""
import datetime
import html
import importlib.util
import json
import pathlib
import re
import time

import pytest

from browser import Browser

# By its path: this folder may have a conftest of its own.
_spec = importlib.util.spec_from_file_location("shared", pathlib.Path(__file__).resolve().parents[1] / "conftest.py")
shared = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(shared)

POLICIES, DAYS = 120, 6
OPERATIONS = json.loads(shared.ostraka("operations", "--json").stdout)
ROUTES = {(route["method"], route["path"]): route for route in json.loads(shared.ostraka("routes", "--json").stdout)}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    data = tmp_path_factory.mktemp("past") / "data"
    shared.fill_demo(data, POLICIES, POLICIES, DAYS)
    server = shared.Serve(data)
    yield server
    assert server.stop() == 0


def page(server, path, code=200):
    status, headers, body = server.get(path, Accept="text/html")
    assert status == code, (path, status, body)
    return body


def told(server, query):
    status, _, body = server.get(f"/api/v1/rankings?{query}")
    assert status == 200, body
    return json.loads(body)


def rows(body):
    """(rank, votes, policy) of each row."""
    number = lambda text: int(re.sub(r"[^-\d]", "", html.unescape(text).replace("\u2212", "-")))
    return [(number(rank), number(votes), int(policy)) for policy, rank, votes in
            re.findall(r'data-policy="(\d+)".*?data-rank>([^<]*)<.*?data-votes>([^<]*)<', body, re.S)]


def moment(server, days):
    """The end of a day that is over, by the site's own last moment."""
    now = datetime.datetime.fromisoformat(told(server, "days=0&limit=1")["as_of"])
    return (now - datetime.timedelta(days=days)).strftime("%Y-%m-%dT%H:00")


def links(body, rel=None):
    found = re.findall(r"<a([^>]*)>", body)
    return [html.unescape(re.search(r'href="([^"]*)"', tag)[1]) for tag in found if rel is None or f'rel="{rel}"' in tag]


@pytest.mark.parametrize("days", [0, 3])
def test_a_page_of_the_past_shows_what_programs_are_told(server, days):
    at = moment(server, 2)
    was, now = told(server, f"days={days}&at={at}&limit=100"), told(server, f"days={days}&limit=100")
    expected = [(card["rank"], card["votes"], card["id"]) for card in was["policies"]]
    assert expected != [(card["rank"], card["votes"], card["id"]) for card in now["policies"]] and len(expected) > 50
    first = page(server, f"/ranking?days={days}&at={at}")
    assert rows(first) == expected[:50]
    assert rows(page(server, f"/ranking?days={days}")) == [(card["rank"], card["votes"], card["id"]) for card in now["policies"]][:50]
    more = links(first, "next")
    assert more == [f"/ranking?days={days}&offset=50&at={at.replace(':', '%3A')}"]
    second = page(server, more[0])
    assert rows(second) == expected[50:100] and links(second, "prev") == [f"/ranking?days={days}&at={at.replace(':', '%3A')}"]


def test_a_page_of_the_past_says_so_and_leads_back_to_now(server):
    at = moment(server, 1)
    year, month, day = at[:10].split("-")
    for path, now in (("/ranking?days=7", "/ranking?days=7"), ("/categories/1?days=7", "/categories/1-")):
        body = page(server, f"{path}&at={at}")
        head = re.search(r"<h1>(.*?)</main>", body, re.S)[1]
        assert f"<time datetime=\"{at}:00Z\">{int(day)} " in head and f" {year}, {at[11:]} UTC</time>" in head
        assert any(link.startswith(now) and "at=" not in link for link in links(head))
        windows = re.search(r'<nav class="chooser" aria-label="Time">(.*?)</nav>', body, re.S)[1]
        assert all("at=" in link for link in links(windows))
        assert 'data-topic="' not in body and 'content="noindex"' in body and 'class="sparkline"' not in body
    assert f"in the 7 days before {int(day)} " in html.unescape(page(server, f"/ranking?days=7&at={at}")).replace("\u202f", "")
    assert "in the day before" in page(server, f"/ranking?days=1&at={at}") and "up to" in page(server, f"/ranking?days=0&at={at}")
    assert f'name="at" type="text" value="{at}"' in page(server, f"/ranking?at={at}")
    assert rows(page(server, "/ranking?at=")) == rows(page(server, "/ranking")), "an empty field is now"


@pytest.mark.parametrize("at", ["yesterday", "2026-13-01", "2999-01-01", "x" * 41, "<b>"])
@pytest.mark.parametrize("path", ["/ranking", "/categories/1"])
def test_a_moment_that_is_none_or_not_over_is_named(server, path, at):
    body = page(server, f"{path}?at={at}", 400)
    assert "<strong>at</strong>" in body and "<b>" not in body.replace("&lt;b&gt;", "")


def switches(server, name):
    """How often the threads of this name have been woken up."""
    sums = 0
    for task in pathlib.Path(f"/proc/{server.process.pid}/task").iterdir():
        if (task / "comm").read_text().startswith(name):
            sums += int(re.search(r"^voluntary_ctxt_switches:\s*(\d+)", (task / "status").read_text(), re.M)[1])
    return sums


def test_what_takes_long_is_made_by_threads_of_its_own(server):
    at = moment(server, 1)
    for path in ("/ranking?days=9", "/api/v1/rankings?days=9", "/policies/1/revisions", "/ranking?days=9&at="):
        before = switches(server, "web-page")
        assert server.get(path)[0] == 200
        assert switches(server, "web-page") == before > 0, path
    for path in (f"/ranking?days=9&at={at}", f"/ranking?days=8&%61t={at}", f"/categories/1?at={at}", f"/api/v1/rankings?days=9&at={at}",
                 f"/api/v1/rankings?days=8&%61%74={at}", "/policies/1/revisions/1", "/api/v1/policies/1/revisions/1"):
        before = switches(server, "web-page")
        assert server.get(path)[0] in (200, 308), path
        until = time.monotonic() + 10  # a thread counts when it goes back to sleep, which may be after its answer
        while switches(server, "web-page") == before:
            assert time.monotonic() < until, path


def pages_of_operations():
    """(path of a page, operation, a field that the page does not take), for pages that an operation names as where its answer is shown."""
    for operation in OPERATIONS:
        for path in re.findall(r"/[a-z{}/-]+[a-z}]", operation["no_page"] or "") if operation["asks"] else ():
            route = ROUTES.get(("GET", path))
            taken = {param["name"] for param in route["params"]} if route else ()
            yield from ((path, operation["name"], field["name"]) for field in operation["inputs"] if field["name"] not in taken and route)
        if operation["api"] and operation["asks"] and operation["method"] == "GET":
            yield from (("/api/v1/" + operation["api"], operation["name"], field["name"]) for field in operation["inputs"] if field["no_api"])


def test_a_page_refuses_what_another_door_of_the_same_use_case_takes(server):
    """It must not answer another question than the one that was asked."""
    browser, wrong, asked = Browser(server.port), [], []
    assert browser.send(browser.get("/login"), "/login", name="admin", password="ostraka-demo").code == 200
    cases = [*pages_of_operations(), ("/categories/{id}", "rank_top", "limit"), ("/parties/{id}", "rank_top", "category"), ("/policies/{policy}", "rank_show", "days"),
             ("/policies/{policy}/history.csv", "policy_history", "category")]
    for path, operation, field in cases:
        path = re.sub(r"{\w+}", "1", path)
        if "/journals/" in path:
            continue  # a demo has none
        page = browser.get(f"{path}?{field}=1")
        asked.append((path, field))
        if page.code != 400 or field not in page.text:
            wrong.append(f"{path}?{field}=1 ({operation}): {page.code}")
    assert not wrong, "\n".join(wrong)
    assert len(asked) >= 12, asked
    assert browser.get("/ranking?utm_source=x&done=saved").code == 200, "what nobody takes is nobody's"
