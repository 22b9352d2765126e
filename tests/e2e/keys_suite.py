"""The commonest acts of moderators by keyboard alone, from the desk on: none takes more than KEYS_MAX keys beside what is written."""
import pytest
from conftest import DEMO_PASSWORD
from hands_suite import focused
from playwright.sync_api import expect

KEYS_MAX = 25


class Keys:
    """Somebody without a mouse: each key is counted, what is written is not."""

    def __init__(self, page, start):
        self.page, self.count = page, 0
        page.goto(start)
        self.settle()

    def settle(self):
        """A field that a page gives the focus to gets it when the page is first drawn, which may be after it was loaded."""
        self.page.wait_for_function("() => !document.querySelector('[autofocus]') || document.activeElement !== document.body")

    def press(self, key):
        self.count += len(key.split("+"))
        self.page.keyboard.press(key)

    def write(self, words):
        self.page.keyboard.type(words)

    def to(self, words, key="Tab"):
        """Until something with these words has the focus; past the navigation by its link."""
        if key == "Tab" and focused(self.page)["tag"] == "BODY":
            self.press("Tab")
            assert focused(self.page)["words"] == "Skip to the content"
            self.press("Enter")
        for _ in range(40):
            at = focused(self.page)
            if at["words"].startswith(words):
                assert at["seen"] and at["inside"], at
                return
            self.press(key)
        raise AssertionError(f"the keyboard does not reach {words} on {self.page.url}")

    def enter(self):
        with self.page.expect_navigation():
            self.press("Enter")
        self.settle()

    def done(self, words):
        expect(self.page.locator(".notice").first).to_contain_text(words)
        print(f"{self.count} keys")
        assert self.count <= KEYS_MAX, f"{self.count} keys"


@pytest.fixture
def moderator(visit):
    return visit().log_in("admin", DEMO_PASSWORD)


def propose(site, name):
    return site.call("policy", "create", "--as", "admin", "--name", name, "--description", "Words.", "--category", "Transport", "--votes", "100")["policy"]


def reported(visit, site, name):
    """A policy that somebody reported, as the oldest report that waits."""
    for one in site.call("report", "list")["reports"]:
        site.call("report", "dismiss", str(one["id"]), "--reason", "For the test.")
    policy = propose(site, name)
    visitor = visit()
    visitor.page.goto(f"/policies/{policy}/report")
    visitor.page.fill("#words", "It is spam.")
    visitor.press("Tell the moderators")
    expect(visitor.page.get_by_role("status")).to_contain_text("Moderators will look at it")
    return policy


def open_report(keys, name):
    keys.to("Reports")
    keys.enter()
    keys.to(name)
    keys.enter()


def test_take_a_report_and_dismiss_it(visit, moderator):
    reported(visit, moderator.site, "Taken by keys")
    keys = Keys(moderator.page, "/desk")
    open_report(keys, "Taken by keys")
    keys.to("Take it on")
    keys.enter()
    keys.done("You have taken this report on")
    keys = Keys(moderator.page, moderator.page.url.split("?")[0])
    keys.to("Why")
    keys.write("It is fine.")
    keys.to("Dismiss it")
    keys.enter()
    keys.done("The report is dismissed")


def test_delete_with_a_reason(visit, moderator):
    reported(visit, moderator.site, "Deleted by keys")
    keys = Keys(moderator.page, "/desk")
    open_report(keys, "Deleted by keys")
    keys.to("Hide and delete it")
    keys.enter()
    keys.to("Why")
    keys.write("It is spam.")
    keys.press("Tab")
    keys.enter()
    keys.done("hidden")
    assert not moderator.site.call("report", "list")["reports"]


def test_merge_two(visit, moderator):
    other = propose(moderator.site, "Where it goes")
    reported(visit, moderator.site, "Merged by keys")
    keys = Keys(moderator.page, "/desk")
    open_report(keys, "Merged by keys")
    keys.to("Merge it with another")
    keys.enter()
    keys.to("The other policy")
    keys.write(str(other))
    keys.enter()
    keys.to("Why")
    keys.write("They say the same.")
    keys.to("Merge them")
    keys.enter()
    keys.done("The policies are merged")


def test_feature_one(visit, moderator):
    policy = propose(moderator.site, "Featured by keys")
    keys = Keys(moderator.page, "/desk")
    keys.to("Featured policies")
    keys.enter()
    keys.to("Policy")
    keys.write(str(policy))
    keys.enter()
    keys.done("The front page shows it")
    moderator.site.call("feature", "remove", str(policy))
