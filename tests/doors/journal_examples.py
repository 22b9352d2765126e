"""Examples for the operations on journals; see door_examples.py. What journals hold is part of what every door must leave alike (door_control.c)."""
from account_examples import example_of
from doors import Deed

DECLARED = "[journal recount]\n[journal mend]\n"  # what every site of tests/doors has
EXAMPLES = []
ONE_DOOR = {"journal_put_one": "site/test_journals.py", "journal_claim_one": "site/test_journals.py", "journal_dead": "site/test_journals.py"}
example = example_of(EXAMPLES)
LUCK = {"answer": "the token is of each site's own luck"}


def put(site, *words, journal="recount"):
    return site.prepare("journal", "put", journal, f"data {site.number}", "--key", f"key {site.number}", *words)["id"]


def claimed(site, name="admin"):
    """An admin, and an entry that was handed out: whatever was due before is taken first."""
    put(site, "--priority", "0")
    entry = site.prepare("journal", "claim", "recount")["entries"][0]
    return site.person(name, "admin"), entry["token"], entry["id"]


def buried(site, name="admin"):
    who, token, entry = claimed(site, name)
    site.prepare("journal", "bury", token)
    return who, entry


@example("journal_list_all", "journal_stats_of", "journal_entries")
def looked_at(site):
    put(site, "--delay", "100")
    return Deed(site.person("admin", "admin"), {"journal": "recount"})


@example("journal_entry")
def one_entry(site):
    entry = put(site, "--expire", "100")
    return Deed(site.person("admin", "admin"), {"id": entry}, raw={"api": {"journal": "recount"}})


@example("journal_stats_of")
def not_declared(site):
    return Deed(site.person("admin", "admin"), {"journal": "nowhere"}, refused="no such journal")


@example("journal_claim_some")
def handed_out(site):
    put(site, journal="mend")
    return Deed(site.person("admin", "admin"), {"journals": ["mend", "recount"], "n": 2}, differs=LUCK)


@example("journal_claim_some")
def by_somebody(site):
    return Deed(site.person("voter"), {"journals": ["mend"]}, refused="may not claim")


@example("journal_end_extend", "journal_end_done", "journal_end_release", "journal_end_fail", "journal_end_bury")
def ended(site):
    who, token, _ = claimed(site)
    return Deed(who, {"tokens": [token]}, raw={"api": {"journal": "recount"}}, differs=LUCK)


@example("journal_end_release", "journal_end_bury")
def with_a_priority(site):
    who, token, _ = claimed(site)
    return Deed(who, {"tokens": [token], "priority": "SLOW"}, raw={"api": {"journal": "recount"}}, differs=LUCK)


@example("journal_end_fail")
def with_a_reason(site):
    who, token, _ = claimed(site)
    return Deed(who, {"tokens": [token], "error": "no paper"}, raw={"api": {"journal": "recount"}}, differs=LUCK)


@example("journal_end_extend", "journal_end_done", "journal_end_release", "journal_end_fail", "journal_end_bury")
def lost(site):
    return Deed(site.person("admin", "admin"), {"tokens": ["0" * 32]}, raw={"api": {"journal": "recount"}}, refused="lost")


@example("journal_end_done")
def of_a_voter(site):
    _, token, _ = claimed(site)
    return Deed(site.person("voter"), {"tokens": [token]}, raw={"api": {"journal": "recount"}}, refused="")


def of_one(site, who, entry, **more):
    names = {"journal": "recount", "id": entry}
    return Deed(who, {}, raw={"page": names, "api": names, "command": {"ids": [str(entry)]}}, shown="/admin/journals/recount", **more)


@example("journal_requeue_some", "journal_remove_some")
def dead_one(site):
    return of_one(site, *buried(site))


@example("journal_kick_entry")
def dead_one_kicked(site):
    return of_one(site, *buried(site))


@example("journal_kick_entry")
def of_the_future(site):
    return of_one(site, site.person("admin", "admin"), put(site, "--delay", "1000"))


@example("journal_requeue_some", "journal_remove_some", "journal_kick_entry")
def of_no_entry(site):
    return of_one(site, site.person("admin", "admin"), 999999999, refused="no such entry")


@example("journal_requeue_all")
def whole_list(site):
    who, _ = buried(site)
    buried(site, "other")
    return Deed(who, {"journal": "recount"}, shown="/admin/journals/recount")


@example("journal_pause_one")
def paused(site):
    return Deed(site.person("admin", "admin"), {"journal": "mend", "seconds": 60}, shown="/admin/journals/mend",
                after=lambda site: site.prepare("journal", "resume", "mend"))


@example("journal_resume_one")
def resumed(site):
    site.prepare("journal", "pause", "mend", "60")
    return Deed(site.person("admin", "admin"), {"journal": "mend"}, shown="/admin/journals/mend")


@example("journal_reload")
def read_again(site):
    site.declare(DECLARED + "[journal new]\n")
    return Deed(site.person("admin", "admin"), shown="/admin/journals", after=lambda site: site.declare(DECLARED))


@example("journal_reload")
def read_again_with_a_mistake(site):
    site.declare("[journal recount]\nno such line\n")
    return Deed(site.person("admin", "admin"), shown="/admin/journals", refused="line 2", after=lambda site: site.declare(DECLARED))
