"""Logging in by a real OpenID provider (oidc-provider from npm), in a browser: joining, coming in, connecting, disconnecting."""
import os
import pathlib
import re
import socket
import subprocess
import urllib.parse

import pytest
from conftest import PASSWORD, Site, Visitor, follow, follow_letter, title_is
from playwright.sync_api import expect

HERE = pathlib.Path(__file__).resolve().parent


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Traveller(Visitor):
    """May also go to the provider; what its pages want from further away is not fetched."""

    def __init__(self, browser, site, provider, **options):
        self.provider = provider
        super().__init__(browser, site, **options)
        self.context.route("**/*", lambda route: route.continue_() if self.is_near(route.request.url) else route.abort())

    def is_near(self, url):
        return urllib.parse.urlsplit(url).hostname == "127.0.0.1"

    def saw_request(self, request):
        if self.is_near(request.url) and not request.url.startswith(self.provider):
            super().saw_request(request)

    def saw_words(self, message):
        if self.page.url.startswith(self.site.url):
            super().saw_words(message)

    def log_in_there(self, name):
        """The provider's own pages: who, and whether it may tell us."""
        page = self.page
        page.locator("input[name=login]").fill(name)
        page.locator("input[name=password]").fill("any")
        page.locator("button[type=submit]").click()
        page.get_by_role("button", name="Continue").click()
        page.wait_for_url(self.site.url + "/**")


@pytest.fixture(scope="module", params=["RS256", "ES256"])
def world(request, tmp_path_factory):
    place, port = tmp_path_factory.mktemp("oidc"), free_port()
    (place / "secret").write_text("a secret of the suite +/=\n")
    (place / "providers").write_text(f"[real]\ntitle = Real ID\nissuer = http://127.0.0.1:{port}\nclient_id = ostraka\n"
                                     f"client_secret_file = {place}/secret\n")
    site = Site(place / "data", "--oidc-file", str(place / "providers"))
    provider = subprocess.Popen(["node", str(HERE / "provider.mjs"), os.environ["OSTRAKA_NODE"], str(port), f"{site.url}/login/back/real",
                                 request.param], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    address = provider.stdout.readline().strip()
    assert address, "the provider did not start"
    yield site, address
    provider.terminate()
    provider.wait(20)
    provider.stdout.close()
    assert site.stop() == 0, site.log()


@pytest.fixture
def travel(world, browser):
    visitors = []

    def make(**options):
        visitors.append(Traveller(browser, *world, **options))
        return visitors[-1]

    yield make
    for visitor in visitors:
        visitor.close()


@pytest.mark.parametrize("scripts", [True, False], ids=["with_scripts", "without_scripts"])
def test_who_is_new_joins_by_it_and_comes_in_again(travel, scripts):
    name = f"anna{'ab'[scripts]}"
    anna = travel(java_script_enabled=scripts)
    page = anna.page
    page.goto("/login")
    anna.press("Go on with Real ID")
    anna.log_in_there(name)
    title_is(page, "Join")
    expect(page.get_by_label("Name", exact=True)).to_have_value(name)
    expect(page.get_by_label("E-mail address")).to_have_value(f"{name}@elsewhere.example")
    anna.press("Join")
    title_is(page, "Check your e-mail")
    follow(page, page.get_by_role("link", name="read the e-mail here"))
    follow_letter(page, f"{name}@elsewhere.example", "/confirm")
    anna.press("Confirm my address")
    page.goto("/login?next=%2Fmy%2Fconnections")
    anna.press("Go on with Real ID")
    page.wait_for_url("**/my/connections")
    assert anna.balance() == 100
    anna.press("Disconnect")
    expect(page.get_by_role("alert")).to_contain_text("only way to log in")


def test_connecting_and_disconnecting_an_account(travel):
    bert = travel().enter()
    page = bert.page
    page.goto("/my/profile")
    follow(page, page.get_by_role("link", name="Log-ins at other sites"))
    page.fill("#password", PASSWORD)
    bert.press("Connect Real ID")
    bert.log_in_there("bert")
    expect(page.get_by_role("status").first).to_contain_text("is linked")
    expect(page.locator("table")).to_contain_text("bert@elsewhere.example")
    other = travel()
    other.page.goto("/login")
    other.press("Go on with Real ID")
    other.log_in_there("bert")
    assert other.balance() == 100
    bert.press("Disconnect")
    expect(page.locator("main")).to_contain_text("None is connected")
    other.page.goto("/my/sessions")
    assert re.search("this one", other.page.content()), "whoever is in stays in"


def test_a_no_at_the_provider_leads_back_with_words(travel):
    cora = travel()
    cora.page.goto("/login")
    cora.press("Go on with Real ID")
    cora.page.locator("input[name=login]").wait_for()
    cora.page.get_by_role("link", name=re.compile("Cancel")).click()
    cora.page.wait_for_url(cora.site.url + "/**")
    expect(cora.page.locator("main")).to_contain_text("Real ID did not let you in")
