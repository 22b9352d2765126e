"""The server is killed while people vote and watch: what was told as saved is there afterwards, and open pages come back by themselves."""
import random
import signal
import threading
import time

import playwright.sync_api
import pytest
from conftest import PASSWORD, Site, number
from playwright.sync_api import expect

KILLS = 3


@pytest.fixture
def town(tmp_path):
    site = Site(tmp_path / "data", "--empty")
    for name in ("owner", "voter", "other"):
        site.call("user", "add", name, "--email", f"{name}@example.org", "--confirmed", "--password-stdin", input=PASSWORD)
    site.policy = site.call("policy", "create", "--as", "owner", "--name", "Clean rivers", "--description", "x",
                            "--category", "Transport")["policy"]
    yield site
    if site.process.poll() is None:
        site.stop()


class Kills(threading.Thread):
    """kill -9 some moment after the next vote was told as saved, whatever is under way then; and a new start at once."""

    def __init__(self, site):
        super().__init__()
        self.site, self.count, self.error, self.told = site, 0, None, threading.Semaphore(0)

    def run(self):
        try:
            for _ in range(KILLS):
                if not self.told.acquire(timeout=90):
                    raise RuntimeError("nobody can vote")
                time.sleep(random.random())
                self.site.stop(signal.SIGKILL)
                self.count += 1
                while self.told.acquire(blocking=False):
                    pass
                self.site.start()
        except Exception as error:  # told by the test
            self.error = error


def vote_on(page, policy, held, patience_ms=5000):
    """One more save by the form on the page. True: it said so. None: the page did not come back."""
    try:
        page.goto(f"/policies/{policy}", timeout=patience_ms)
        page.locator("#held").fill(str(held), timeout=patience_ms)
        with page.expect_navigation(timeout=patience_ms):
            page.get_by_role("button", name="Save my votes").click(timeout=patience_ms)
        return "Your votes are saved" in page.locator("main").inner_text(timeout=patience_ms) or None
    except playwright.sync_api.Error:
        return None


def test_nothing_that_was_told_as_saved_is_lost_and_watchers_come_back(town, visit):
    voter, watcher = visit(site=town), visit(site=town)
    voter.log_in("voter", PASSWORD)
    voter.expected = watcher.expected = True  # answers are cut off
    watcher.page.goto(f"/policies/{town.policy}")
    watcher.page.evaluate("window.loadedOnce = true")
    kills = Kills(town)
    kills.start()
    tried = told = 0
    while kills.is_alive():
        tried += 1
        if vote_on(voter.page, town.policy, tried):
            told = tried
            kills.told.release()
    kills.join()
    assert kills.error is None and kills.count == KILLS and told >= KILLS
    lines = town.call("vote", "show", "--as", "voter")["lines"]
    assert told <= lines[str(town.policy)] <= tried, "saved is saved; what was cut off may be there or not"
    assert town.call("verify") is not None
    voter.expected = False
    # In a tab of its own: the old one may still load a page that was cut off, and then shows that in place of the next.
    voter.page.close()
    voter.page = voter.tab()
    assert vote_on(voter.page, town.policy, tried + 1, 15000), voter.page.locator("body").inner_text()
    expected = 100 + tried + 1
    expect(watcher.page.locator('[data-live="total"]').first).to_have_text(str(expected), timeout=30000)
    assert watcher.page.evaluate("window.loadedOnce"), "by itself, without loading the page again"
    assert number(voter.page, '[data-live="total"]') == expected
