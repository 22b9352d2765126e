"""People and policies before the real site (site_fixture_server.c): each person has a browser, and does things by the forms of its pages."""
import re

from site_fixture import SiteFixture
from browser import Browser


class SitePeople:
    def __init__(self, directory, *setting):
        self.site_fixture = SiteFixture(directory, *setting)
        self.people = {}

    def visitor(self):
        return Browser(self.site_fixture.port)

    def person(self, name, role=None):
        """The browser of somebody who is logged in; the account is made when it is first asked for."""
        if name not in self.people:
            voter = self.site_fixture.voter(name)
            if role:
                self.site_fixture.tell("role", voter.id, role)
            self.people[name] = Browser(self.site_fixture.port, session=voter.secret)
        return self.people[name]

    def policy(self, owner, name, **texts):
        """A new policy, for all that the owner has."""
        browser = self.person(owner)
        page = browser.send(browser.get("/policies/new"), "/policies/new", act="create", name=name, category="1", **texts)
        assert page.code == 200, page.words
        return int(re.match(r"/policies/(\d+)", page.path)[1])

    def vote(self, name, policy, held):
        browser, path = self.person(name), f"/my/votes/{policy}"
        assert browser.send(browser.get(path), path, held=str(held), price="999999").code == 200

    def balance(self, name):
        return int(re.search(r"data-balance>([^<]*)", self.person(name).get("/about").text)[1])
