"""An example or several for each operation: the function prepares a site and says what is done (doors.Deed). It runs on every one of
the equal sites, so it must do the same each time."""
import account_examples
import journal_examples
import public_examples
import vote_examples
from doors import Deed
from public_examples import voted


EXAMPLES = [*account_examples.EXAMPLES, *public_examples.EXAMPLES, *journal_examples.EXAMPLES,
            *vote_examples.EXAMPLES]  # (operation, function)
# There is nothing to compare: the operation, and where it is tested.
ONE_DOOR = {"clock_confirm": "cli/test_admin_commands.py", "policy_repair_time": "cli/test_admin_commands.py", **journal_examples.ONE_DOOR}
example = account_examples.example_of(EXAMPLES)


def newest_notice(site, reader):
    """That tells of no command."""
    return next(one["id"] for one in site.prepare("notice", "list", "--as", reader.name)["notices"] if not one["command"])


# ---- Featured policies


@example("feature_list")
def featured(site):
    site.policy_of(site.person("owner"), "Free ferries")
    site.prepare("feature", "set", site.policies[0])
    return Deed()


@example("feature_set")
def at_once(site):
    policy = site.policy_of(site.person("owner"), "Fewer fences")
    return Deed(site.person("editor", "feature"), {"policy": policy, "reason": "It is new."})


@example("feature_set")
def with_times(site):
    policy = site.policy_of(site.person("owner"), "Faster forms")
    return Deed(site.person("editor", "admin"), {"policy": policy, "place": 1, "from": "2026-01-31T12:00:00Z", "until": "2027-01-31T12:00:00Z"})


@example("feature_set")
def of_nothing(site):
    return Deed(site.person("editor", "feature"), {"policy": 999999}, refused="")


@example("feature_remove")
def shown(site):
    policy = site.policy_of(site.person("owner"), "Fresh fish")
    site.prepare("feature", "set", policy)
    return Deed(site.person("editor", "feature"), {"policy": policy}, shown="/desk/featured")


# ---- Categories and parties


@example("category_list", "party_list")
def groups(site):
    site.prepare("party", "add", f"Party {site.number}", "--description", "Trees.")
    return Deed()


@example("category_add")
def harbours(site):
    return Deed(site.person("admin", "admin"), {"name": "Harbours", "description": "Ships.", "reason": "We have one."}, look=("/categories",))


@example("party_add")
def greens(site):
    return Deed(site.person("admin", "admin"), {"name": "Greens", "description": "Trees."}, look=("/parties",))


@example("category_add", "party_add")
def without_a_name(site):
    return Deed(site.person("admin", "admin"), {"name": ""}, refused="name")


@example("category_set")
def renamed_category(site):
    site.policy_of(site.person("owner"), "Cheap chalk")
    return Deed(site.person("admin", "admin"), {"category": 1, "name": "Schools", "description": "And chalk.", "active": True, "reason": "Shorter."},
                look=("/categories", "/categories/1"))


@example("party_set")
def disabled_party(site):
    party = site.prepare("party", "add", "Purples")
    return Deed(site.person("admin", "admin"), {"party": party["id"], "name": "Purples", "active": False}, look=("/parties",))


# ---- Following


@example("follow_set")
def category(site):
    return Deed(site.person("reader"), {"kind": "category", "group": 2, "on": True}, shown="/categories/2")


@example("follow_set")
def not_any_more(site):
    reader = site.person("reader")
    site.prepare("follow", "set", "category", 3, "--as", reader.name)
    return Deed(reader, {"kind": "category", "group": 3, "on": False})


@example("follow_list")
def followed(site):
    reader = site.person("reader")
    site.prepare("follow", "set", "category", 4, "--as", reader.name)
    return Deed(reader)


# ---- Tasks


@example("task_list")
def tasks(site):
    return Deed(site.person("admin", "admin"))


@example("task_run")
def names(site):
    return Deed(site.person("admin", "admin"), {"task": "names"}, shown="/admin/tasks", differs={"answer": "a command waits until it has run"})


# ---- Official answers


NEW = "0" * 32  # the version of what is not there yet


@example("answer_give")
def first(site):
    policy = site.policy_of(site.person("owner"), "Answer all")
    voter = site.person("voter")
    site.vote(voter, policy, 20)
    return Deed(site.person("mayor", "respond"), {"policy": policy, "text": "We will.", "outcome": "accepted", "seen": NEW},
                look=(f"/policies/{policy}/answers",))


@example("answer_give")
def stale(site):
    policy = site.policy_of(site.person("owner"), "Answer again")
    mayor = site.person("mayor", "respond")
    site.prepare("policy", "answer", policy, "--text", "We will.", "--as", mayor.name)
    return Deed(mayor, {"policy": policy, "text": "We will not.", "outcome": "rejected", "seen": NEW}, refused="")


@example("answer_show", "answer_list")
def answered(site):
    policy = site.policy_of(site.person("owner"), f"Answer {site.number}")
    site.prepare("policy", "answer", policy, "--text", "Yes.", "--outcome", "done", "--as", site.person("mayor", "respond").name)
    return Deed(None, {"policy": policy})


# ---- One's own


@example("profile_show")
def somebody(site):
    owner = site.person("owner")
    site.policy_of(owner, "Own profile")
    return Deed(owner)


@example("profile_set")
def with_a_name(site):
    return Deed(site.person("ada"), {"real_name": " Ada Lovelace ", "real_name_shown": True})


@example("profile_set")
def with_a_long_name(site):
    return Deed(site.person("ada"), {"real_name": "x" * 300}, refused="at most 80")


@example("watch_add")
def watched(site):
    policy = site.policy_of(site.person("owner"), "Watch this")
    return Deed(site.person("reader"), {"policy": policy})


@example("watch_add")
def hidden(site):
    policy = site.policy_of(site.person("owner"), "Watch what is hidden")
    site.tell("move", policy, "pending-deletion")
    return Deed(site.person("reader"), {"policy": policy}, refused="")


def watcher(site):
    policy, reader = site.policy_of(site.person("owner"), f"Watch {site.number}"), site.person("reader")
    site.prepare("watch", "add", policy, "--as", reader.name)
    return reader, policy


@example("watch_list")
def watches(site):
    return Deed(watcher(site)[0])


@example("watch_remove")
def off_the_list(site):
    reader, policy = watcher(site)
    return Deed(reader, {"policy": policy}, shown="/my/watching")


@example("notice_list", "notice_dismiss_all")
def told(site):
    reader, policy = watcher(site)
    site.tell("move", policy, "retired")
    return Deed(reader, shown="/my/notices")


@example("notice_dismiss")
def told_and_dismissed(site):
    reader = told(site).who
    return Deed(reader, {"notice": newest_notice(site, reader)}, shown="/my/notices")


@example("notice_dismiss")
def not_told(site):
    return Deed(site.person("reader"), {"notice": "nothing"}, refused="notice")


@example("mailbox_show")
def e_mails(site):
    return Deed(site.person("reader"))


@example("mailbox_set")
def weekly(site):
    return Deed(site.person("reader"), {"digest": "weekly"})


# ---- The store


@example("store_show")
def store(site):
    return Deed(site.person("admin", "admin"), differs={"answer": "it has figures of the process, and its directory"})


@example("backup_make")
def backup(site):
    return Deed(site.person("admin", "admin"), {"reason": "To be sure."}, shown="/admin/store")


@example("maintenance_on")
def closed(site):
    return Deed(site.person("admin", "admin"), {"message": "Back at nine.", "reason": "A new disk."}, shown="/admin/store", raw={"api": {"on": True}},
                look=("/policies",), after=lambda site: site.prepare("maintenance", "off"))


@example("maintenance_off")
def opened(site):
    admin = site.person("admin", "admin")
    site.csrf(admin)
    site.prepare("maintenance", "on", "--message", "Back at nine.")
    return Deed(admin, look=("/policies",), shown="/admin/store")


# ---- Who may join


def open_again(site):
    site.prepare("electorate", "set", "open")


@example("electorate_show", "invite_list", "roll_size", "mail_show", "suppressed_list", "people_list")
def admins_question(site):
    site.prepare("invite", f"guest{site.number}@example.org")
    return Deed(site.person("admin", "admin"))


@example("electorate_rule")
def by_domain(site):
    return Deed(site.person("admin", "admin"), {"mode": "domain", "domains": ["example.org", "*.example.com"], "reason": "Only us."}, after=open_again,
                look=("/register",), raw={"page": {"domains": ["example.org\n*.example.com"]}})


@example("electorate_rule")
def no_domain(site):
    return Deed(site.person("admin", "admin"), {"mode": "domain", "domains": ["not a domain"]}, refused="domains")


@example("invite")
def invitation(site):
    return Deed(site.person("admin", "admin"), {"email": "ines@example.org", "days": 7, "reason": "A friend."}, shown="/admin/electorate")


@example("invite")
def nowhere(site):
    return Deed(site.person("admin", "admin"), {"email": "nobody"}, refused="e-mail")


@example("invite_withdraw")
def withdrawn(site):
    site.prepare("invite", "ida@example.org")
    return Deed(site.person("admin", "admin"), {"email": "ida@example.org", "reason": "A mistake."}, shown="/admin/electorate")


@example("invite_import")
def invitations(site):
    return Deed(site.person("admin", "admin"), {"lines": "email\nidris@example.org\nbroken\nivo@example.org\n", "days": 9, "reason": "All of us."},
                shown="/admin/electorate")


@example("roll_import")
def on_the_roll(site):
    return Deed(site.person("admin", "admin"), {"lines": "email,name\nrosa@example.org,Rosa\nrolf@example.org,Rolf\n", "reason": "The register."},
                shown="/admin/electorate")


@example("roll_remove")
def off_the_roll(site):
    site.prepare("roll", "import", site.file("email\nruth@example.org\n"))
    return Deed(site.person("admin", "admin"), {"lines": "email\nruth@example.org\n", "reason": "Moved away."})


@example("roll_check")
def on_it(site):
    site.prepare("roll", "import", site.file("email\nremy@example.org\n"))
    return Deed(site.person("admin", "admin"), {"email": "remy@example.org"})


@example("roll_clear_all")
def nobody_on_it(site):
    site.prepare("roll", "import", site.file("email\nrita@example.org\n"))
    return Deed(site.person("admin", "admin"), {"reason": "A new one comes."})


# ---- E-mails


@example("mail_try_again")
def none_failed(site):
    return Deed(site.person("admin", "admin"))


@example("mail_test")
def queued(site):
    return Deed(site.person("admin", "admin"), {"address": "somebody@example.org", "queue": True})


@example("address_suppress")
def gone(site):
    return Deed(site.person("admin", "admin"), {"address": "gone@example.org", "reason": "complaint"}, shown="/admin/mail")


@example("address_allow")
def back(site):
    site.prepare("mail", "bounce", "back@example.org")
    return Deed(site.person("admin", "admin"), {"address": "back@example.org"})


# ---- People


@example("person_show")
def person(site):
    return Deed(site.person("admin", "admin"), {"id": site.person("somebody")})


@example("person_add")
def dora(site):
    return Deed(site.person("admin", "admin"), {"name": "dora", "email": "dora@example.org", "roles": ["feature"], "confirmed": True})


@example("person_confirm")
def pending(site):
    return Deed(site.person("admin", "admin"), {"id": site.person("pending", confirmed=False), "reason": "By telephone."})


@example("person_second_off", "person_delete")
def by_machine(site):
    who = site.person("somebody")
    site.policy_of(who, f"Left behind {site.number}")
    return Deed(site.person("admin", "admin"), {"id": who, "reason": "They asked."})


@example("person_logout")
def logged_out(site):
    who = site.person("somebody")
    return Deed(site.person("admin", "admin"), {"id": who, "reason": "A lost telephone."}, shown=f"/admin/people/{who.id}")


def version_of(site, who):
    return site.prepare("user", "show", who.name)["version"]


@example("person_rights")
def more_and_less(site):
    who = site.person("somebody")
    return Deed(site.person("admin", "admin"), {"id": who, "roles": ["feature", "respond"], "denied": ["comment"], "version": version_of(site, who),
                                                "reason": "A new job."})


@example("person_rights")
def of_who_was_changed_meanwhile(site):
    who = site.person("somebody")
    seen = version_of(site, who)
    site.prepare("user", "rights", who.name, "--seen", str(seen), "--deny", "tag", "--reason", "Spam.")
    return Deed(site.person("admin", "admin"), {"id": who, "roles": [], "denied": ["comment"], "version": seen, "reason": "A new job."},
                refused="in between")


# ---- Moves of policies


def reported(site, policy):
    return int(site.tell("report", policy).split()[1])


@example("policy_delete")
def hidden(site):
    return Deed(site.person("guard", "moderate_policies"), {"policy": voted(site, "Dig deep"), "reason": "It names a neighbour."}, look=("/policies",))


@example("policy_delete")
def reported_and_hidden(site):
    policy = voted(site, "Dig deeper")
    return Deed(site.person("guard", "moderate_policies"), {"policy": policy, "reason": "It is spam.", "report": reported(site, policy)})


@example("policy_delete", "policy_restore", "policy_merge_preview")
def without_the_role(site):
    policies = [site.policy_of(site.person(f"owner{name}"), f"Dig {name} {site.number}") for name in "ab"]
    return Deed(site.person("somebody"), {"policy": policies[0], "reason": "No.", "other": policies[1]}, refused="role")


@example("policy_restore")
def granted(site):
    policy = voted(site, "Rest more")
    site.prepare("policy", "delete", policy, "--reason", "A mistake.")
    return Deed(site.person("guard", "moderate_policies"), {"policy": policy, "reason": "It was one."})


@example("policy_retire")
def by_its_owner(site):
    policy = voted(site, "Retire early")
    return Deed(site.people[0], {"policy": policy, "reason": "It is done."})


@example("policy_retire")
def by_a_moderator(site):
    policy, other = voted(site, "Retire late"), voted(site, "Retire later")
    return Deed(site.person("guard", "moderate_policies"), {"policy": policy, "other": other, "reason": "There is a better one."})


@example("policy_appeal")
def appealed(site):
    policy = voted(site, "Appeal to all")
    site.prepare("policy", "delete", policy, "--reason", "A mistake.")
    return Deed(site.people[0], {"policy": policy, "words": "It broke no rule."})


@example("policy_merge_preview")
def preview(site):
    return Deed(site.person("guard", "moderate_policies"), {"policy": voted(site, "Paint doors"), "other": voted(site, "Paint all doors")})


@example("policy_merge")
def into_the_other(site):
    policy, other = voted(site, "Mend roads"), voted(site, "Mend all roads")
    by = {"policy": policy, "other": other, "into": "other"}
    return Deed(site.person("guard", "moderate_policies"), {"reason": "The same."},
                raw={"page": by, "api": by, "command": {"sources": [str(policy)], "target": other}})


@example("policy_merge")
def into_a_new_one(site):
    policy, other = voted(site, "Mow lawns"), voted(site, "Mow meadows")
    by = {"policy": policy, "other": other, "into": "new"}
    return Deed(site.person("guard", "moderate_policies"), {"reason": "Nearly the same.", "name": "Mow"},
                raw={"page": by, "api": by, "command": {"sources": [str(policy), str(other)], "target": "new"}}, look=("/policies",))


# ---- Reports


def guard(site):
    return site.person("guard", "moderate_policies")


@example("report_list")
def waiting(site):
    reported(site, voted(site, "Report it"))
    return Deed(guard(site))


@example("report_show", "report_take")
def new_report(site):
    report = reported(site, voted(site, f"Report {site.number}"))
    return Deed(guard(site), {"report": report}, shown=f"/desk/reports/{report}")


def taken(site, name):
    who, report = guard(site), reported(site, voted(site, name))
    site.prepare("report", "take", report, "--as", who.name)
    return who, report


@example("report_return")
def given_back(site):
    who, report = taken(site, "Report back")
    return Deed(who, {"report": report}, shown=f"/desk/reports/{report}")


@example("report_dismiss")
def dismissed(site):
    who, report = taken(site, "Report nothing")
    return Deed(who, {"report": report, "reason": "We looked at it."}, shown=f"/desk/reports/{report}")


@example("report_act")
def acted_upon(site):
    who, report = taken(site, "Report something")
    return Deed(who, {"report": report, "reason": "We told them."})


@example("report_dismiss")
def all_of_them(site):
    who, report = taken(site, "Report twice")
    reported(site, site.policies[0])
    return Deed(who, {"report": report, "reason": "All are wrong.", "all": True}, shown=f"/desk/reports/{report}")


# ---- Rules of the site


@example("retention_list", "setting_list", "text_show")
def rules(site):
    return Deed(site.person("admin", "admin"))


@example("period_set")
def longer(site):
    return Deed(site.person("admin", "admin"), {"name": "acts", "days": 700, "reason": "The law."}, shown="/admin/settings")


@example("setting_set")
def salary(site):
    return Deed(site.person("admin", "admin"), {"name": "salary", "value": "110", "from": "2026-06-01T00:00:00Z", "reason": "A good year."},
                shown=False, raw={"page": {"act": "save"}})


@example("setting_set")
def no_number(site):
    return Deed(site.person("admin", "admin"), {"name": "salary", "value": "much"}, refused="salary")


@example("text_write")
def terms(site):
    return Deed(site.person("admin", "admin"), {"text": "terms", "words": "# Terms\n\nBe kind.", "reason": "They were too long."}, look=("/terms",))


# ---- One's own


@example("mailbox_show", "notice_list", "profile_show", "watch_list")
def my_own(site):
    policy = voted(site, f"Mine {site.number}")
    watcher = site.person("watcher")
    site.prepare("watch", "add", policy, "--as", watcher.name)
    site.prepare("policy", "delete", policy, "--reason", "Not mine.")
    return Deed(watcher)


@example("mailbox_set")
def weekly(site):
    return Deed(site.person("reader"), {"digest": "weekly"})


@example("profile_set")
def real_name(site):
    return Deed(site.person("ada"), {"real_name": "Ada Lovelace", "real_name_shown": True})


@example("watch_add")
def watched(site):
    return Deed(site.person("watcher"), {"policy": voted(site, "Watch the sky")})


@example("watch_remove")
def unwatched(site):
    policy, watcher = voted(site, "Watch the sea"), site.person("watcher")
    site.prepare("watch", "add", policy, "--as", watcher.name)
    return Deed(watcher, {"policy": policy})


def with_notice(site, name):
    policy = voted(site, name)
    site.prepare("policy", "delete", policy, "--reason", "Gone.")
    return site.people[0]


@example("notice_dismiss")
def one_notice(site):
    who = with_notice(site, "Notice me")
    notice = newest_notice(site, who)
    return Deed(who, {"notice": notice})


@example("notice_dismiss_all")
def all_notices(site):
    return Deed(with_notice(site, "Notice all"))


# ---- Texts of policies, and lists of them


@example("policy_create")
def created(site):
    site.prepare("party", "add", "Blues")  # so that the form asks for one
    return Deed(site.person("owner"), {"name": "Create more", "description": "A *text*.", "rationale": "It is fun.", "category": 2, "held": 160, "seen": NEW},
                look=("/policies", "/categories"), raw={"page": {"act": "create"}})


def of_version(version):
    """Programs name it by a header."""
    return {"raw": {"page": {"seen": version}, "command": {"seen": version}}, "headers": {"If-Match": f'"{version}"'}}


@example("policy_edit")
def edited(site):
    owner = site.person("owner")
    policy = site.policy_of(owner, "Edit less")
    version = site.prepare("policy", "show", policy)["version"]
    return Deed(owner, {"policy": policy, "name": "Edit more", "description": "Another text.", "category": 3}, shown=False, **of_version(version))


@example("policy_edit")
def by_an_editor(site):
    policy = site.policy_of(site.person("owner"), "Edit by others")
    version = site.prepare("policy", "show", policy)["version"]
    return Deed(site.person("editor", "edit_policies"), {"policy": policy, "name": "Edit for others", "description": "A text.", "category": 1},
                shown=False, **of_version(version))


@example("policy_show", "policy_list", "rank_top", "rank_show", "audit_public", "audit_list_all")
def asked(site):
    policy = voted(site, f"Ask {site.number}")
    site.prepare("feature", "set", policy)
    return Deed(site.person("admin", "admin"), {"policy": policy})
