"""Following a category: each new policy there is in the notices and in the digest of whoever follows it, and of nobody else."""
import pytest

from site_fixture import SiteFixture
from test_mailbox import digest


@pytest.fixture(scope="module")
def site_fixture(tmp_path_factory):
    site_fixture = SiteFixture(tmp_path_factory.mktemp("follow") / "site_fixture")
    yield site_fixture
    assert site_fixture.stop() == 0


def press(voter, button):
    """The button on the page of the category: "on" follows it, "off" stops."""
    form = voter.get(voter.get("/categories/1").location).form("/my/following")
    assert form["on"] == button
    answer = voter.ask("POST", "/my/following", form)
    assert answer.code == 303, answer.text


def hears_of(site_fixture, voter, name):
    told = (digest(site_fixture, voter) or "")
    in_notices, in_digest = name in voter.get("/my/notices").text, f"{name}: it is new in a category or party that you follow" in told
    assert in_notices == in_digest
    return in_notices


def test_a_new_policy_is_a_notice_and_in_the_digest_of_whoever_follows(site_fixture):
    owner, follower, other = (site_fixture.voter(name) for name in ("owner", "follower", "other"))
    site_fixture.policy(other, "Made before")
    press(follower, "on")
    site_fixture.policy(owner, "Made after")
    assert hears_of(site_fixture, follower, "Made after") and not hears_of(site_fixture, follower, "Made before")
    assert not hears_of(site_fixture, other, "Made after")
    press(follower, "off")
    assert "Made after" not in follower.get("/my/notices").text
    assert "Made after" not in follower.get("/my/following").text
