/* api_admin_schemas.c -- what the answers of /api/v1/admin hold. See site/api.h. */
#include "site/admin/api_admin.h"
#include "site/api_macros.h"

/* clang-format off */
static const char *account_word(unsigned state) { return account_state_text((AccountState)state); }
static const char *invitation_word(unsigned state) { return invitation_state_text((InvitationState)state); }
static const char *outcome_word(unsigned outcome) { return audit_outcome_word((AuditOutcome)outcome); }

static const ApiMember PERSON_LINE[] = {
    FIELD("id", ApiPersonLine, account.id, .help = "The account."),
    FIELD("name", ApiPersonLine, account.name, OR_NULL, .help = "Its name; null: it is gone."),
    WORD("state", ApiPersonLine, account.state, account_word, ACCOUNT_STATE_COUNT, .help = "Only a confirmed account votes."),
    TIME("registered", ApiPersonLine, account.registered_us, .help = "When they joined."),
    MANY("roles", API_LABELS, ApiPersonLine, roles, role_count, NULL, .help = "Their roles."),
    MANY("denied", API_LABELS, ApiPersonLine, denied, denied_count, NULL, .help = "Rights that were taken away."),
};
SCHEMA(ADMIN_PERSON_LINE, "AdminPersonLine", ApiPersonLine, PERSON_LINE, .help = "A person in a list.");

static const ApiMember PEOPLE[] = {
    LIST("people", ApiPeople, people, count, ADMIN_PERSON_LINE, .help = "In no order."),
    NEXT(ApiPeople),
};
SCHEMA(ADMIN_PEOPLE, "AdminPeople", ApiPeople, PEOPLE, .help = "People; there may be none on a page though more follow.");

static const ApiMember SIGNAL[] = {
    FIELD("account", PersonSignal, account, .help = "The other account."),
    FIELD("name", PersonSignal, name, .help = "What it is called."),
    FIELD("reason", PersonSignal, reason, .help = "What they have in common."),
    FIELD("tag", PersonSignal, tag, .help = "Equal ones are the same value."),
    TIME("time", PersonSignal, time_us, .help = "When the other one registered."),
};
SCHEMA(ADMIN_SIGNAL, "AdminSignal", PersonSignal, SIGNAL, .help = "Something two registrations have in common: a hint, no proof.");

static const ApiMember LOGIN[] = {
    TIME("time", PersonLogin, time_us, .help = "When."),
    FIELD("success", PersonLogin, success, .help = "Whether it succeeded."),
};
SCHEMA(ADMIN_LOGIN, "AdminLogin", PersonLogin, LOGIN, .help = "A log-in, without where it came from.");

static const ApiMember PERSON[] = {
    FIELD("id", PersonView, account.id, .help = "The account."),
    FIELD("name", PersonView, name, .help = "Its name, or its number when it is gone."),
    FIELD("email", PersonView, account.email, OR_NULL, .help = "Its e-mail address."),
    WORD("state", PersonView, account.state, account_word, ACCOUNT_STATE_COUNT, .help = "Only a confirmed account votes."),
    TIME("registered", PersonView, account.registered_us, .help = "When they joined."),
    FIELD("version", PersonView, account.version, .help = "Of the account, for a change of rights."),
    MANY("roles", API_LABELS, PersonView, role_words, role_count, NULL, .help = "Their roles."),
    MANY("denied", API_LABELS, PersonView, right_words, right_count, NULL, .help = "Rights that were taken away."),
    FIELD("sessions", PersonView, sessions, .help = "At how many places they are logged in."),
    TIME("seen", PersonView, seen_us, OR_NULL, .help = "When they were last seen."),
    LIST("logins", PersonView, logins, login_count, ADMIN_LOGIN, .help = "The newest first."),
    LIST("signals", PersonView, signals, signal_count, ADMIN_SIGNAL, .help = "Accounts with something in common."),
};
SCHEMA(ADMIN_PERSON, "AdminPerson", PersonView, PERSON, .help = "A person, as those who run the site see them.");

static const ApiMember ELECTORATE[] = {
    FIELD("mode", ApiElectorate, mode, .help = "open, invitation, domain or roll."),
    FIELD("version", ApiElectorate, version, .help = "For a change."),
    MANY("domains", API_TEXTS, ApiElectorate, domains, domain_count, NULL, .help = "For the rule of that name."),
    FIELD("roll", ApiElectorate, roll, .help = "People on the roll."),
    FIELD("roll_is_more", ApiElectorate, roll_is_more, .help = "Whether it was not counted to its end."),
};
SCHEMA(ADMIN_ELECTORATE, "AdminElectorate", ApiElectorate, ELECTORATE, .help = "Who may join.");

static const ApiMember INVITATION[] = {
    FIELD("email", Invitation, email, .help = "Whom."),
    WORD("state", Invitation, state, invitation_word, INVITATION_STATES, .help = "Whether it can be used."),
    TIME("made", Invitation, made_us, .help = "When."),
    TIME("ends", Invitation, ends_us, .help = "Until when it works."),
    FIELD("by", Invitation, by, OR_NULL, .help = "Who invited; null: an operator."),
    FIELD("account", Invitation, account, OR_NULL, .help = "Who registered with it."),
};
SCHEMA(ADMIN_INVITATION, "AdminInvitation", Invitation, INVITATION, .help = "An invitation.");

static const ApiMember INVITATIONS[] = {
    LIST("invitations", ApiInvitations, invitations, count, ADMIN_INVITATION, .help = "The newest first."),
    NEXT(ApiInvitations),
};
SCHEMA(ADMIN_INVITATIONS, "AdminInvitations", ApiInvitations, INVITATIONS, .help = "A page of invitations.");

static const ApiMember INVITED[] = {
    FIELD("link", Invited, link, .help = "Where the invited one goes."),
    FIELD("new", Invited, is_new, .help = "Whether there was none that is open."),
    FIELD("sent", Invited, is_sent, .help = "Whether a letter is queued; else the link is to be handed over."),
};
SCHEMA(ADMIN_INVITED, "AdminInvited", Invited, INVITED, .help = "What came of an invitation.");

static const ApiMember LIST_FAULT[] = {
    FIELD("line", ListFault, line, .help = "Its number, from 1."),
    FIELD("rule", ListFault, rule, .help = "What is wrong."),
};
SCHEMA(ADMIN_LIST_FAULT, "AdminListFault", ListFault, LIST_FAULT, .help = "A line that was left out.");

static const ApiMember LIST_REPORT[] = {
    FIELD("lines", ListReport, lines, .help = "Lines that were looked at."),
    FIELD("good", ListReport, good, .help = "That went in."),
    FIELD("again", ListReport, again, .help = "Of these, that had been before, where that is known."),
    FIELD("bad", ListReport, faults, .help = "That were left out."),
    MANY("faults", API_SOME, ListReport, told, told_count, &SCHEMA_ADMIN_LIST_FAULT, .help = "The first hundred of them."),
};
SCHEMA(ADMIN_LIST, "AdminList", ListReport, LIST_REPORT, .help = "What came of a list of people.");

static const ApiMember SETTING[] = {
    FIELD("name", SettingLine, name, .help = "The rule."),
    FIELD("help", SettingLine, help, .help = "What it means."),
    FIELD("value", SettingLine, now, .help = "What is in force now."),
    FIELD("least", SettingLine, least, .help = "The least that it may be."),
    FIELD("most", SettingLine, most, .help = "The most that it may be."),
};
SCHEMA(ADMIN_SETTING, "AdminSetting", SettingLine, SETTING, .help = "A rule of the vote.");

static const ApiMember VERSION[] = {
    FIELD("version", SettingVersion, version, .help = "Its number."),
    TIME("from", SettingVersion, from_us, .help = "From when it counts."),
    FIELD("planned", SettingVersion, is_ahead, .help = "Whether that is in the future."),
    FIELD("changes", SettingVersion, changes, .help = "What it changed, in words."),
};
SCHEMA(ADMIN_VERSION, "AdminVersion", SettingVersion, VERSION, .help = "A change of the rules.");

static const ApiMember KEPT[] = {
    FIELD("name", PeriodLine, name, .help = "What."),
    FIELD("about", PeriodLine, about, .help = "The same in words."),
    FIELD("days", PeriodLine, days, .help = "How long."),
    FIELD("deletes", PeriodLine, deletes, .help = "Whether a task deletes what is older; else it goes when it was to go when it was written."),
};
SCHEMA(ADMIN_KEPT, "AdminKept", PeriodLine, KEPT, .help = "Something that is kept for a time.");

static const ApiMember SETTINGS[] = {
    MANY("settings", API_SOME, SettingsView, lines, line_count, &SCHEMA_ADMIN_SETTING, .help = "In force now."),
    LIST("versions", SettingsView, versions, version_count, ADMIN_VERSION, .help = "Planned and past changes, the newest first."),
    LIST("retention", SettingsView, periods, period_count, ADMIN_KEPT, .help = "How long things are kept."),
    FIELD("retention_version", SettingsView, period_version, .help = "For a change of it."),
};
SCHEMA(ADMIN_SETTINGS, "AdminSettings", SettingsView, SETTINGS, .help = "The rules of the vote, and how long things are kept.");

static const ApiMember TEXT[] = {
    FIELD("text", ApiText, kind, .help = "privacy or terms."),
    FIELD("revision", ApiText, text.revision, .help = "Its number; 0: it comes with the software."),
    TIME("time", ApiText, text.time_us, OR_NULL, .help = "When it was written."),
    FIELD("words", ApiText, text.text, .help = "Markdown."),
};
SCHEMA(ADMIN_TEXT, "AdminText", ApiText, TEXT, .help = "A text of the site.");

static const ApiMember ACT[] = {
    FIELD("id", ActLine, entry.id, .help = "Names it."),
    TIME("time", ActLine, entry.time_us, .help = "When it began."),
    FIELD("kind", ActLine, entry.word, .help = "What was done, as a word."),
    FIELD("text", ActLine, text, .help = "The same as a sentence."),
    FIELD("actor", ActLine, entry.act.actor, OR_NULL, .help = "Who; null: the site, or its command line."),
    FIELD("actor_name", ActLine, actor, OR_NULL, .help = "What they are called."),
    FIELD("origin", ActLine, entry.act.origin, OR_NULL, .help = "From where."),
    FIELD("instance", ActLine, entry.instance, .help = "By which instance."),
    FIELD("object", ActLine, entry.act.object, OR_NULL, .help = "To what."),
    FIELD("other", ActLine, entry.act.other, OR_NULL, .help = "And to what else."),
    FIELD("reason", ActLine, entry.act.reason, OR_NULL, .help = "Why."),
    FIELD("details", ActLine, details, OR_NULL, .help = "What changed."),
    WORD("outcome", ActLine, entry.outcome, outcome_word, AUDIT_OUTCOME_COUNT, .help = "What came of it."),
};
SCHEMA(ADMIN_ACT, "AdminAct", ActLine, ACT, .help = "Something that was done by a role, or by the site itself.");

static const ApiMember ACTIVITY[] = {
    LIST("acts", ActivityView, lines, count, ADMIN_ACT, .help = "The newest first."),
    FIELD("next", ActivityView, next_address, OR_NULL, .help = "The address of the next page."),
};
SCHEMA(ADMIN_ACTIVITY, "AdminActivity", ActivityView, ACTIVITY, .help = "A page of the log of acts.");

static const ApiMember TASK[] = {
    FIELD("name", TaskLine, name, .help = "The task."),
    FIELD("help", TaskLine, help, .help = "What it does."),
    FIELD("state", TaskLine, state, .help = "waits, under way, or failed: the last pass left something out."),
    FIELD("period_s", TaskLine, period_s, .help = "How often, in seconds."),
    TIME("begun", TaskLine, begun_us, OR_NULL, .help = "When the last pass began."),
    FIELD("took_ms", TaskLine, took_ms, .help = "How long the last one took."),
    FIELD("done", TaskLine, done, .help = "Looked at in it."),
    FIELD("found", TaskLine, found, .help = "Of these, where there was something to do."),
    FIELD("errors", TaskLine, errors, .help = "Ever."),
    TIME("error_time", TaskLine, error_us, OR_NULL, .help = "Of the last one."),
    FIELD("error", TaskLine, error, OR_NULL, .help = "In words."),
};
SCHEMA(ADMIN_TASK, "AdminTask", TaskLine, TASK, .help = "A task.");

static const ApiMember TASKS_MEMBERS[] = {
    LIST("tasks", TasksView, tasks, count, ADMIN_TASK, .help = "All of them."),
};
SCHEMA(ADMIN_TASKS, "AdminTasks", TasksView, TASKS_MEMBERS, .help = "The work behind the site.");

static const ApiMember INSTANCE[] = {
    FIELD("address", Instance, address, .help = "What it is called."),
    TIME("started", Instance, started_us, .help = "When it started."),
    TIME("beat", Instance, beat_us, .help = "When it last said that it lives."),
    FIELD("self", Instance, self, .help = "Whether it is the one that answers."),
};
SCHEMA(ADMIN_INSTANCE, "AdminInstance", Instance, INSTANCE, .help = "A running instance.");

static const ApiMember STORE[] = {
    FIELD("engine", StoreView, engine, .help = "Of the store."),
    FIELD("writable", StoreView, health.writable, .help = "Whether it takes writes."),
    FIELD("trouble", StoreView, trouble, OR_NULL, .help = "Why not."),
    LIST("instances", StoreView, instances, instance_count, ADMIN_INSTANCE, .help = "Those that are alive."),
    FIELD("backup_directory", StoreView, backup_directory, .help = "Where backups go, on the server."),
    FIELD("maintenance", StoreView, in_maintenance, .help = "Whether the site is closed for visitors."),
    FIELD("message", StoreView, message, OR_NULL, .help = "What they read then."),
};
SCHEMA(ADMIN_STORE, "AdminStore", StoreView, STORE, .help = "The store and the instances.");

static const ApiMember BACKUP[] = {
    FIELD("name", ApiBackup, name, .help = "What it is called."),
    FIELD("directory", ApiBackup, directory, .help = "Where it is, on the server."),
};
SCHEMA(ADMIN_BACKUP, "AdminBackup", ApiBackup, BACKUP, .help = "A backup.");
/* clang-format on */
