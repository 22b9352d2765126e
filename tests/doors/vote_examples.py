"""Examples of votes: what is held, and saves by the form of all lines, by that of one, by API and by command; see door_examples.py."""
from account_examples import example_of
from doors import Deed

EXAMPLES = []
example = example_of(EXAMPLES)
NEW = "0" * 32  # the version before the first save


@example("vote_save")
def two_lines(site):
    policies = [site.policy_of(site.person(f"owner{name}"), f"Vote {name}") for name in "ab"]
    return Deed(site.person("voter"), {"lines": {policies[0]: 30, policies[1]: 5}, "seen": NEW, "token": "0123456789abcdef0123456789abcdef", "price": 1000},
                shown=False)  # on a page without lines is no form


@example("vote_save")
def too_much(site):
    policy = site.policy_of(site.person("owner"), "Vote for too much")
    return Deed(site.person("voter"), {"lines": {policy: 10**6}, "seen": NEW}, refused="unspent pollies")


def holder(site):
    """Somebody with 20 pollies on a policy, and the version that this is."""
    voter, policy = site.person("voter"), site.policy_of(site.person("owner"), f"Vote {site.number}")
    site.vote(voter, policy, 20)
    return voter, policy, site.prepare("vote", "show", "--as", voter.name)["version"]


def of_all(voter, policy, seen, held, **more):
    return Deed(voter, {"lines": {policy: held}, "was": {policy: 20}, "seen": seen, "price": 0}, **more)


def of_one(voter, policy, seen, held, **more):
    return Deed(voter, {"policy": policy, "held": held, "was": 20, "seen": seen, "price": 0}, **more)


def each_form(function):
    """The example for the form of all lines, and for that of one."""
    for name, deed in (("vote_save", of_all), ("vote_save_line", of_one)):
        def one(site, deed=deed):
            return function(site, deed)
        one.__name__ = function.__name__
        example(name)(one)
    return function


@each_form
def more_of_it(site, deed):
    return deed(*holder(site), 30)


@each_form
def as_it_was(site, deed):
    voter, policy, seen = holder(site)
    return deed(voter, policy, seen, 20)


@each_form
def saved_by_another_tab(site, deed):
    voter, policy, _ = holder(site)
    return deed(voter, policy, NEW, 30, refused="saved")


@each_form
def beyond_what_there_is(site, deed):
    return deed(*holder(site), 10**6, refused="too few for this")


@each_form
def not_agreed_to_the_price(site, deed):
    return deed(*holder(site), 10, refused="costs")


@each_form
def agreed_to_the_price(site, deed):
    voter, policy, seen = holder(site)
    made = deed(voter, policy, seen, 10)
    made.inputs["price"] = 5
    return made


@each_form
def perhaps_saved(site, deed):
    return deed(*holder(site), 30, refused="know", doubt="lost")


@example("vote_cost")
def cost(site):
    policy = site.policy_of(site.person("owner"), "Vote for a price")
    return Deed(site.person("voter"), {"lines": {policy: 30}})


@example("vote_show", "vote_history")
def held(site):
    voter = site.person("voter")
    site.vote(voter, site.policy_of(site.person("owner"), f"Vote {site.number}"), 20)
    return Deed(voter)


def voter_of_merged(site):
    owner, voter = site.person("owner"), site.person("voter")
    rivers, lakes = [site.policy_of(owner, f"{name} {site.number}") for name in ("Clean rivers", "Clean lakes")]
    site.prepare("vote", "save", f"{rivers}=10", f"{lakes}=20", "--as", voter.name, "--seen", NEW)
    site.tell("merge", rivers, lakes)
    return voter, lakes


@example("vote_show", "vote_history", "profile_show")
def merged(site):
    return Deed(voter_of_merged(site)[0])


@example("vote_save")
def merged_and_saved(site):
    voter, policy = voter_of_merged(site)
    return Deed(voter, {"lines": {policy: 40}, "seen": site.prepare("vote", "show", "--as", voter.name)["version"]})
