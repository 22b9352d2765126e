"""One voter's row that cannot be read: a running site says so, starts with it, and `verify --repair` mends it."""
from site_fixture import SiteFixture, Voter


def figure(who):
    lines = who.get("/metrics").text.splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith("ostraka_damaged_voters "))


def health(who):
    return who.get("/healthz").json["damaged_voters"]


def test_a_damaged_row_is_counted_until_it_is_repaired(tmp_path):
    site = SiteFixture(tmp_path / "site")
    ann, ben = site.voter("ann", 100), site.voter("ben", 100)
    policy = site.policy(ann, "Trams")
    ben.vote(policy, 5)
    assert (health(ann), figure(ann)) == (0, 0)
    site.tell("damage", ben.id)
    assert site.stop() == 0

    site = SiteFixture(tmp_path / "site")  # it starts, and finds it by the marks
    ann, ben = (Voter(site, who.name, f"done {who.id} {who.secret}") for who in (ann, ben))
    assert ben.get("/my/votes").code >= 500, "nobody knows what stands there"
    assert (health(ann), figure(ann)) == (1, 1)
    ann.vote(policy, 120)
    code, text = site.command("verify", "--repair")
    assert code == 0, text
    assert (health(ann), figure(ann)) == (0, 0)
    assert ben.held() == {policy: 5}
    ben.vote(policy, 6)
    assert site.stop() == 0
