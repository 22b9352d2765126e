"""A policy with everything on it that people write, deleted by the way that a site goes: hidden by a moderator, its appeal refused, its time for appeals over. Then no
cell of any table holds a word of it, opened or sealed (app/stored_words.h)."""
import pytest
from doors import Site
from provider import Provider

DAY = 86400
WORDS = {
    "quokka": "its first name", "axolotl": "its description", "okapi": "its rationale", "pangolin": "its link", "narwhal": "its last name",
    "wombat": "its last description", "capybara": "its first answer", "aardvark": "its answer", "ocelot": "a visitor's report", "numbat": "the visitor's address",
    "tapir": "a report by an account", "dugong": "why a report was dismissed", "manatee": "why one led to something", "caracal": "why another was merged into it",
    "serval": "why it was featured", "binturong": "why it was hidden", "kinkajou": "the appeal", "gharial": "why that was refused",
}


@pytest.fixture
def site(tmp_path):
    provider = Provider()
    site = Site(tmp_path / "site", provider)
    site.begin(1)
    yield site
    assert site.stop() == 0
    provider.stop()


def found(site):
    """Where each word stands first."""
    places = {word: site.tell("stored", word).split()[1:] for word in WORDS}
    return {word: place for word, place in places.items() if place}


def reports(site):
    return [report["id"] for state in ("open", "taken") for report in site.prepare("report", "list", "--state", state)["reports"]]


def newest(site):
    return max(reports(site))


def test_no_cell_holds_a_word_of_it(site):
    owner, voter, mod = site.person("owner"), site.person("voter"), site.person("mod", "moderate_policies")
    made = site.prepare("policy", "create", "--as", owner.name, "--name", "Quokka crossings", "--description", "For every axolotl.", "--rationale", "Ask an okapi.",
                 "--link", "https://pangolin.example.org/", "--category", "Environment", "--seen", "0" * 32)
    policy = made["created"]
    site.prepare("watch", "add", policy, "--as", voter.name)
    site.vote(voter, policy, 20)
    version = site.prepare("policy", "show", policy)["version"]
    site.prepare("policy", "edit", policy, "--as", owner.name, "--name", "Narwhal crossings", "--description", "For every wombat.", "--rationale", "Ask an okapi.",
                 "--category", "Environment", "--seen", version)
    seen = "0" * 32
    for text, outcome in (("A capybara thinks.", "considering"), ("An aardvark did it.", "done")):
        seen = site.prepare("policy", "answer", policy, "--text", text, "--outcome", outcome, "--seen", seen)["version"]
    site.prepare("feature", "set", policy, "--reason", "Every serval likes it.")
    other = site.policy_of(site.person("other"), "More crossings")
    site.prepare("policy", "merge", other, "--into", policy, "--reason", "The same as the caracal one.")
    site.prepare("report", "policy", policy, "--words", "An ocelot is insulted.", "--email", "numbat@example.org")
    site.prepare("report", "dismiss", newest(site), "--as", mod.name, "--reason", "The dugong is wrong.")
    site.prepare("report", "policy", policy, "--as", voter.name, "--words", "No tapir agrees.")
    site.prepare("report", "act", newest(site), "--as", mod.name, "--reason", "The manatee is right.")
    site.prepare("policy", "delete", policy, "--as", mod.name, "--reason", "The binturong complained.")
    assert site.send_form(f"/policies/{policy}/appeal", {"words": "A kinkajou appeals."}, owner).status == 303
    site.prepare("report", "dismiss", newest(site), "--reason", "So says a gharial.")
    site.dump()  # has the e-mails about reports written
    site.tell("digest", voter.id, 9)
    assert set(found(site)) == set(WORDS), "what is not found at first would not be found later, either"

    site.tick(1000 + 16 * DAY)
    site.prepare("task", "run", "moves")
    assert not found(site)
    site.tick(1000 + 16 * DAY + 7200)
    site.prepare("task", "run", "moves")
    assert not found(site)
    assert site.get(f"/policies/{policy}").status in (200, 404, 410)
    acts = {act["kind"] for act in site.prepare("audit", "list")["acts"]}
    assert {"policy-delete", "feature-set", "report-dismiss", "report-act"} <= acts, "that it was done stays"
