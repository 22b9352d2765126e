"""Pages that everybody sees: rankings, browsing, categories and parties, words, feeds, counts, live events. On the real program."""
import html
import http.client
import importlib.util
import json
import pathlib
import re
import time
import xml.etree.ElementTree as XML

import pytest

# By its path: this folder may have a conftest of its own.
_spec = importlib.util.spec_from_file_location("shared", pathlib.Path(__file__).resolve().parents[1] / "conftest.py")
shared = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(shared)
Serve, ostraka = shared.Serve, shared.ostraka

SCRIPT = "<script>alert('x')</script> & \"more\""
ATOM = "{http://www.w3.org/2005/Atom}"
MAP = "{http://www.sitemaps.org/schemas/sitemap/0.9}"


class SitePeople:
    """A server with people and policies in it."""

    def __init__(self, data):
        self.server = Serve(data, "--empty")
        self.policies = {}
        for name in ("ada", "bob", "cleo"):
            self.call("user", "add", name, "--email", f"{name}@example.org", "--confirmed")
        self.propose("ada", "Clean rivers", "Environment")
        self.propose("bob", "clean air", "Health")
        self.vote("cleo", {"Clean rivers": 30, "clean air": 10})

    def call(self, *words):
        done = ostraka(*words, "--data", self.server.data, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def propose(self, owner, name, category, description="Some *words* about it."):
        made = self.call("policy", "create", "--as", owner, "--name", name, "--description", description, "--category", category)
        self.policies[name] = made["policy"]

    def vote(self, voter, lines):
        words = [f"{self.policies[name]}={held}" for name, held in lines.items()]
        assert self.call("vote", "save", "--as", voter, *words)["outcome"] == "saved"

    def page(self, path, code=200):
        status, headers, body = self.server.get(path, Accept="text/html")
        assert status == code, body
        self.headers = headers
        return body

    def until(self, path, test):
        """Pages are kept for a second or so: asks until it is as expected."""
        end = time.monotonic() + 25
        while not test(body := self.page(path)):
            assert time.monotonic() < end, body
            time.sleep(0.2)
        return body

    def raw(self, path):
        """Without following redirects."""
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=20)
        connection.request("GET", path)
        return connection.getresponse()


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    town = SitePeople(tmp_path_factory.mktemp("town") / "data")
    yield town
    town.server.stop()


def rows(body, name="rows"):
    """The lists of a page: (id, rank, votes, total) of each row."""
    part = re.search(rf'<ol class="[^"]*" data-list="{name}".*?</ol>', body, re.S)
    found = re.findall(r'data-policy="(\d+)".*?data-rank>(.*?)<.*?data-votes>(.*?)<.*?data-total>(.*?)<', part.group(), re.S)
    return [tuple(int(value.replace("\u202f", "").replace("\u2212", "-")) for value in row) for row in found]


# ---- Front page and rankings


def test_the_front_page_says_who_leads_now_and_ever(town):
    body = town.page("/")
    rivers, air = town.policies["Clean rivers"], town.policies["clean air"]
    assert rows(body) == [(rivers, 1, 130, 130), (air, 2, 110, 110)]
    assert rows(body, "ever") == [(rivers, 1, 130, 130), (air, 2, 110, 110)]
    assert body.count("<h1") == 1 and 'data-topic="front"' in body
    assert f'href="/policies/{rivers}-clean-rivers"' in body


def test_hot_categories_are_told(town):
    told = r"Environment</a></h3>\s*<p><strong>130</strong> votes moved\s*·\s*1 new policy"
    assert "Where something happens" in town.until("/", lambda body: re.search(told, body))


def test_the_ranking_of_a_window_a_category_and_all_time(town):
    rivers, air = town.policies["Clean rivers"], town.policies["clean air"]
    for address in ("/ranking", "/ranking?days=0", "/ranking?days=1", "/ranking?days=31", "/ranking?days=5"):
        assert [row[0] for row in rows(town.page(address))] == [rivers, air], address
    assert "Most votes ever" in town.page("/ranking?days=0")
    assert ">5 days</a>" in town.page("/ranking?days=5"), "a window that was asked for is among the choices"
    category = re.search(r'<option value="(\d+)"\s*>Environment<', town.page("/ranking")).group(1)
    body = town.page(f"/ranking?category={category}&days=3")
    assert [row[0] for row in rows(body)] == [rivers]
    assert f'data-topic="ranking/3/category/{category}"' in body


@pytest.mark.parametrize("query, field", [("days=32", "days"), ("days=-1", "days"), ("offset=-1", "offset"), ("days=x", "days"),
                                          ("category=x", "category")])
def test_a_ranking_that_cannot_be_names_field_and_rule(town, query, field):
    body = town.page(f"/ranking?{query}", 400)
    assert f"<strong>{field}</strong>" in body and "<h1" in body


def test_a_category_and_a_party_at_once_is_refused_at_the_field(town):
    body = town.page("/ranking?category=1&party=1", 422)
    assert 'id="party-fault"' in body and "not both" in body


def test_a_category_that_is_not_there_is_not_found(town):
    town.page("/ranking?category=999", 404)
    town.page("/ranking?party=77", 404)


def test_a_page_beyond_the_end_is_empty_and_leads_back(town):
    body = town.page("/ranking?days=0&offset=500")
    assert "Nothing is here yet" in body and 'rel="prev" href="/ranking?days=0&amp;offset=450"' in body
    assert "data-topic" not in body, "only the beginning is live"


# ---- Browsing


def names(body):
    return [html.unescape(name) for name in re.findall(r'<div class="what"><a href="[^"]*">(.*?)</a>', body)]


def test_policies_by_name_date_and_votes(town):
    assert names(town.page("/policies?order=name"))[:2] == ["clean air", "Clean rivers"]
    assert names(town.page("/policies?order=date"))[-2:] == ["clean air", "Clean rivers"]
    assert names(town.page("/policies?order=rank"))[:2] == ["Clean rivers", "clean air"]


def test_policies_are_found_by_how_they_begin_and_nothing_is_said_kindly(town):
    assert names(town.page("/policies?name=CLEAN+R")) == ["Clean rivers"]
    body = town.page("/policies?name=%3Cscript%3E")
    assert names(body) == [] and "begins with “&lt;script&gt;”" in body and "<script>" not in body
    assert 'value="&lt;script&gt;"' in body, "what was typed stays in the field"


def test_newest_of_a_category(town):
    category = re.search(r'<option value="(\d+)"\s*>Health<', town.page("/policies")).group(1)
    assert names(town.page(f"/policies?order=date&category={category}")) == ["clean air"]
    assert names(town.page(f"/policies?order=name&category={category}")) == ["clean air"]
    assert names(town.page(f"/policies?order=rank&category={category}")) == ["clean air"]


@pytest.mark.parametrize("query, field", [("from=%20", "from"), ("from=A", "from"), ("order=size", "order"),
                                          ("from=" + "A" * 1000, "from"), ("name=" + "x" * 121, "name")])
def test_browsing_names_field_and_rule(town, query, field):
    assert f"<strong>{field}</strong>" in town.page(f"/policies?{query}", 400)


def test_many_policies_come_page_by_page_each_once(town):
    for number in range(4):
        town.call("user", "add", f"many{number}", "--email", f"many{number}@example.org", "--confirmed")
    made = [f"Zebra {number:03}" for number in range(4)]
    for number, name in enumerate(made):
        town.propose(f"many{number}", name, "Transport")
    seen, address = [], "/policies?order=name&offset=1"  # another page than the one that is kept for some seconds
    while address:
        body = town.page(address)
        seen += names(body)
        following = re.search(r'rel="next" href="([^"]*)"', body)
        address = html.unescape(following.group(1)) if following else None
    assert seen == sorted(set(seen), key=str.lower) and set(made) <= set(seen)


# ---- Categories and parties


def test_categories_with_their_leaders_and_one_of_them(town):
    body = town.until("/categories", lambda body: "Leading:" in body)
    address = re.search(r'href="(/categories/\d+-environment)"', body).group(1)
    assert f'/policies/{town.policies["Clean rivers"]}-clean-rivers' in body
    body = town.page(address)
    assert [row[0] for row in rows(body)] == [town.policies["Clean rivers"]]
    assert f'<link rel="canonical" href="http://127.0.0.1:{town.server.port}{address}">' in body


def test_the_number_decides_and_the_words_are_put_right(town):
    address = re.search(r'href="(/categories/\d+-environment)"', town.page("/categories")).group(1)
    number = re.search(r"\d+", address).group()
    for wrong in (f"/categories/{number}", f"/categories/{number}-wrong"):
        answer = town.raw(wrong)
        assert answer.status == 308 and answer.getheader("Location") == address
        assert "no-store" in answer.getheader("Cache-Control")
    assert town.raw(f"/categories/{number}-WRONG?days=0&offset=0").getheader("Location") == address + "?days=0&offset=0"
    town.page("/categories/999", 404)
    town.page("/categories/x", 400)


def test_without_parties_the_page_says_so(town):
    assert "There is no party yet" in town.page("/parties")


# ---- Words


def test_about_and_help_say_the_rules_with_the_numbers_in_force(town):
    body = town.page("/help")
    for words in ("You get 100 when you register", "50&nbsp;percent", "Costs 100 pollies", "stay for 14 days"):
        assert words in re.sub(r"\s+", " ", body), words
    assert "<h1>About this site</h1>" in town.page("/about")


def test_what_is_not_there_is_told_in_the_frame_of_the_site(town):
    body = town.page("/nothing/here", 404)
    assert 'class="top"' in body and "<h1" in body and "noindex" in body


def test_public_pages_have_a_title_a_main_and_a_skip_link(town):
    for path in ("/", "/ranking", "/policies", "/categories", "/parties", "/about", "/help"):
        body = town.page(path)
        assert body.count("<h1") == 1 and body.count("<main") == 1 and 'href="#main"' in body, path
        assert re.search(r"<title>.+ – .+</title>", body) and 'lang="en"' in body, path
        assert "style=" not in body and "onclick" not in body, path
        assert town.headers["Content-Security-Policy"].count("frame-ancestors 'none'") == 1, path


# ---- What people write


def test_nothing_that_people_write_becomes_markup(town):
    town.call("user", "add", "mallory", "--email", "mallory@example.org", "--confirmed")
    town.propose("mallory", SCRIPT, "Culture", description=f"{SCRIPT} in the text")
    number = town.policies[SCRIPT]
    town.until("/ranking?days=0", lambda body: f'data-policy="{number}"' in body)
    town.until("/policies", lambda body: f'data-policy="{number}"' in body)
    for path in ("/", "/ranking?days=0", "/policies", "/policies?order=name", "/categories", "/feed.atom", "/sitemap.xml",
                 f"/policies/{number}/count", f"/policies/{number}/count.svg"):
        body = town.page(path)
        assert "alert(" not in re.sub(r"&lt;script&gt;alert\(&#39;x&#39;\)", "", body), path
        assert "<script>" not in body, path


# ---- Feeds


def test_the_feed_has_new_policies_and_is_well_formed(town):
    feed = XML.fromstring(town.page("/feed.atom"))
    assert town.headers["Content-Type"].startswith("application/atom+xml")
    entries = feed.findall(f"{ATOM}entry")
    links = [entry.find(f"{ATOM}link").get("href") for entry in entries]
    base = f"http://127.0.0.1:{town.server.port}"
    assert f'{base}/policies/{town.policies["Clean rivers"]}-clean-rivers' in links
    ids = [entry.find(f"{ATOM}id").text for entry in entries]
    assert len(set(ids)) == len(ids) and feed.find(f"{ATOM}updated").text.endswith("Z")


def test_the_map_names_every_policy_and_robots_name_the_map(town):
    site = XML.fromstring(town.page("/sitemap.xml"))
    urls = [url.find(f"{MAP}loc").text for url in site.findall(f"{MAP}url")]
    base = f"http://127.0.0.1:{town.server.port}"
    assert f"{base}/" in urls and f'{base}/policies/{town.policies["clean air"]}-clean-air' in urls
    assert f"Sitemap: {base}/sitemap.xml" in town.page("/robots.txt")
    town.page("/sitemap/99", 404)
    town.page("/sitemap/0", 400)


# ---- Counts for other sites


def test_a_count_may_be_framed_and_nothing_else_may(town):
    number = town.policies["Clean rivers"]
    body = town.page(f"/policies/{number}/count")
    assert "frame-ancestors *" in town.headers["Content-Security-Policy"] and ">130</strong>" in body
    picture = XML.fromstring(town.page(f"/policies/{number}/count.svg"))
    assert town.headers["Content-Type"] == "image/svg+xml" and "130" in "".join(picture.itertext())
    town.page("/policies/999999/count", 404)
    town.page("/policies/999999/count.svg", 404)


# ---- Live


class Stream:
    """A watcher: the events of a topic, as they come."""

    def __init__(self, town, topic):
        self.connection = http.client.HTTPConnection("127.0.0.1", town.server.port, timeout=15)
        self.connection.request("GET", f"/api/v1/events?topic={topic}", headers={"Accept": "text/event-stream"})
        self.answer = self.connection.getresponse()

    def event(self):
        for line in self.answer:
            if line.startswith(b"data: "):
                return json.loads(line[6:])
        raise EOFError


def test_a_watcher_gets_the_figures_at_once_and_again_after_a_vote(town):
    rivers, air = town.policies["Clean rivers"], town.policies["clean air"]
    town.call("user", "add", "vera", "--email", "vera@example.org", "--confirmed")
    front, ranking = Stream(town, "front"), Stream(town, "ranking/0")
    policy = Stream(town, f"policy/{air}")
    assert front.answer.getheader("Content-Type").startswith("text/event-stream")
    first = front.event()
    assert first["rows"][0] == {"id": rivers, "rank": 1, "votes": 130, "total": 130} and first["as_of"].endswith("Z")
    assert ranking.event()["rows"][0]["id"] == rivers
    place = policy.event()
    assert place["ever"]["rank"] == 2 and place["ever"]["above"]["name"] == "Clean rivers"
    assert place["ever"]["to_beat"] == place["ever"]["above"]["votes"] - place["total"] + 1
    town.vote("vera", {"clean air": 50})
    assert front.event()["rows"][0] == {"id": air, "rank": 1, "votes": 160, "total": 160}
    assert ranking.event()["rows"][0]["id"] == air
    place = policy.event()
    assert place["ever"]["rank"] == 1 and "above" not in place["ever"] and place["total"] == 160


def test_watchers_are_counted(town):
    stream = Stream(town, "ranking/7")
    stream.event()
    status, _, body = town.server.get("/metrics")
    assert status == 200 and re.search(r"^ostraka_events_watchers [1-9]", body, re.M)


def test_a_stop_ends_the_streams(tmp_path):
    server = Serve(tmp_path / "data", "--empty")
    stream = Stream(type("Alone", (), {"server": server}), "front")
    assert stream.event()["rows"] == []
    server.stop()
    with pytest.raises(EOFError):
        while True:
            stream.event()


@pytest.mark.parametrize("topic, code", [("", 400), ("nothing", 400), ("ranking/99", 400), ("policy/0", 400),
                                         ("policy/99999999", 404), ("x" * 100, 400)])
def test_a_topic_that_is_none_is_refused(town, topic, code):
    status, _, body = town.server.get(f"/api/v1/events?topic={topic}")
    assert status == code and (code == 404 or json.loads(body)["error"]["field"] == "topic")
