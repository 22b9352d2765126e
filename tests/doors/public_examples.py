"""Examples of what everybody may do: telling the moderators, and asking for the past; see door_examples.py."""
from account_examples import example_of
from doors import Deed

EXAMPLES = []
example = example_of(EXAMPLES)


def voted(site, name):
    """A policy that somebody voted for, beside its owner."""
    policy = site.policy_of(site.person(f"owner{len(site.policies)}"), name)
    site.vote(site.person(f"voter{len(site.policies)}"), policy, 20)
    return policy


# ---- Telling the moderators


@example("policy_report")
def by_somebody(site):
    policy = site.policy_of(site.person("owner"), "Report me")
    return Deed(site.person("reader"), {"policy": policy, "words": "It is spam."}, shown=False)  # their form asks for no address


@example("policy_report")
def by_a_visitor(site):
    policy = site.policy_of(site.person("owner"), "Report me too")
    return Deed(None, {"policy": policy, "words": "It is spam.", "email": "visitor@example.org"})


@example("policy_report", "trouble_report")
def without_words(site):
    return Deed(None, {"policy": site.policy_of(site.person("owner"), f"Say nothing {site.number}"), "words": " "}, refused="must ")


@example("trouble_report")
def cannot_come_in(site):
    return Deed(None, {"words": "No letter came.", "email": "lost@example.org"})


@example("trouble_report")
def without_an_address(site):
    return Deed(None, {"words": "No letter came."}, refused="must be an address")


# ---- The past of a policy, and all of them


@example("policy_history", "policy_browse", "revision_list", "rules_show")
def looked_at(site):
    return Deed(None, {"policy": voted(site, f"Look at {site.number}")})


@example("policy_history")
def by_the_hour(site):
    return Deed(None, {"policy": voted(site, "Look back"), "by": "hour", "count": 5, "window": 1, "category": 1, "until": "2026-01-31T12:00"})


@example("policy_history")
def at_no_moment(site):
    return Deed(None, {"policy": voted(site, "Look ahead"), "until": "tomorrow"}, refused="until")


@example("policy_browse")
def by_category_and_party(site):
    return Deed(None, {"order": "rank", "category": 1, "party": 1}, refused="party")


@example("revision_show")
def first_text(site):
    return Deed(None, {"policy": voted(site, "Look at the text"), "revision": 1})


@example("revision_show")
def no_such_text(site):
    return Deed(None, {"policy": voted(site, "Look at no text"), "revision": 2}, refused="")


def without_a_right(site, right="tag"):
    who = site.person("somebody")
    site.prepare("user", "rights", who.name, "--seen", str(site.prepare("user", "show", who.name)["version"]), "--deny", right, "--reason", "Spam.")
    return who


@example("rights_show")
def taken(site):
    return Deed(without_a_right(site), {})


@example("rights_appeal")
def against_it(site):
    return Deed(without_a_right(site), {"words": "It was no spam."})


@example("rights_appeal")
def against_nothing(site):
    return Deed(site.person("somebody"), {"words": "It was no spam."}, refused="nothing is taken away")
