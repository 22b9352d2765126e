/* admin.h -- the rooms of those who run the site: what their pages show. Programs get the same views (api_admin.c).
 *
 * Every change is an act: it is noted in the log (audit.h) before it is done, with the reason that was given, and its outcome afterwards. What
 * somebody holds or voted for is on none of these pages. All rooms also answer in maintenance mode, so that it can be switched off here. */
#pragma once

#include "accounts/electorate.h"
#include "accounts/people_list.h"
#include "accounts/retention.h"
#include "accounts/roll.h"
#include "app/invite.h"
#include "site/inside.h"
#include "site/parts.h"
#include "texts/texts.h"

#define ADMIN_ROLES  (1u << ROLE_ADMIN)
#define PEOPLE_ROLES (1u << ROLE_ADMIN | 1u << ROLE_EDIT_USERS)
/* How each row of these rooms begins. */
#define ADMIN_ROW(roles_) .access = WEB_ROLE, .roles = (roles_), .always = true
/* The field that every change has. */
#define REASON_ROW(from_)                                                          \
    {                                                                              \
        "reason", from_, WEB_TEXT,                                                 \
            .fallback = "", .most = 20000,                                         \
            .help = "Why; it stands in the log of acts. At most 1,000 characters." \
    }

/* ---- At a glance (glance.c) ---------------------------------------------------------------------------------------- */

enum { GLANCE_ACTS = 8 };

/* An act with the name of who did it. */
typedef struct ActLine {
    AuditEntry entry;
    const char *text;
    Slice actor, details; /* actor: empty for the system or the command line */
    Slice object, about;  /* its address and its name, or empty */
} ActLine;

typedef struct GlanceView {
    int64_t now_us;
    const Viewer *viewer;
    StoreHealth health;
    bool has_maintenance, in_maintenance;
    Slice message;
    uint64_t instances, tasks_failing, letters_failed, settings_ahead;
    Electorate electorate;
    ActLine *acts;
    size_t act_count;
} GlanceView;
MUST_USE Status glance_view(Site *site, Arena *arena, GlanceView *ret_view);

/* ---- People (people.c) ----------------------------------------------------------------------------------------------- */

/* Roles and rights in words for people; for programs they are account_role_text and account_right_text. */
const char *role_words(AccountRole role);
const char *right_words(AccountRight right);

enum { PEOPLE_CELLS = 150, PEOPLE_ROWS = 50, PEOPLE_PAGES_MOST = 100, PEOPLE_POSITION_MOST = 1000 };

typedef struct PeopleWish {
    Slice q;        /* an address: exactly that one; else a part of a name */
    int role;       /* -1: any */
    int state;      /* -1: pending and confirmed */
    Slice position; /* as text */
} PeopleWish;

typedef struct PeopleView {
    PeopleWish wish;
    Account *people;
    size_t count;
    Slice next; /* the position that goes on, as text; empty: that was all */
    Slice next_address;
    int64_t now_us;
} PeopleView;
MUST_USE Status people_view(Site *site, const PeopleWish *wish, Arena *arena, PeopleView *ret_view);

typedef struct PersonSignal {
    uint64_t account;
    Slice name, tag;
    const char *reason;
    int64_t time_us;
} PersonSignal;

typedef struct PersonLogin {
    int64_t time_us;
    bool success;
} PersonLogin;

typedef struct PersonView {
    const Viewer *viewer;
    int64_t now_us;
    Account account;
    Slice name; /* or what stands for one that is gone */
    bool may_roles, may_rights;
    uint32_t roles, denied;                                        /* as the form has them */
    const char *role_words[ROLE_COUNT], *right_words[RIGHT_COUNT]; /* those that are set */
    size_t role_count, right_count;
    Slice reason;
    FormFault fault;
    uint64_t sessions;
    int64_t seen_us; /* the newest session; 0: none */
    PersonLogin *logins;
    size_t login_count;
    PersonSignal *signals;
    size_t signal_count;
} PersonView;
/* `viewer` is who looks: what they may change. */
MUST_USE Status person_view(Site *site, uint64_t id, const Account *viewer, Arena *arena,
                            PersonView *ret_view);
/* Whether `who` may set these rights on `of`: roles are for admins, who cannot take that role from themselves; who edits people takes rights of
 * those who are no admins. Pure. */
MUST_USE Status person_rights_rule(const Account *who, const Account *of,
                                   const AccountRights *rights, Reason *reason);

/* ---- Parties (parties.c) ----------------------------------------------------------------------------------------------- */

typedef struct PartiesView {
    const Viewer *viewer;
    Group *parties;
    size_t count;
    Group typed; /* what a form that came back had; its id says which */
    Slice reason;
    FormFault fault;
} PartiesView;

/* ---- Settings (settings.c) ------------------------------------------------------------------------------------------- */

/* One line of what a change does. */
typedef struct SettingEffect {
    const char *what;
    Slice before, after;
} SettingEffect;
enum { SETTING_EFFECTS_MOST = 16 };

typedef struct SettingLine {
    const char *name, *help;
    int64_t now, least, most;
} SettingLine;
enum { SETTING_LINES_MOST = 32 };

/* A version that was set, and what it changed. */
typedef struct SettingVersion {
    uint32_t version;
    int64_t from_us;
    bool is_ahead;
    Slice changes;
} SettingVersion;
enum { SETTING_VERSIONS_SHOWN = 20 };

typedef struct PeriodLine {
    const char *name, *about;
    int64_t days, least, most;
    bool deletes; /* the task deletes what is older */
} PeriodLine;

typedef struct SettingsView {
    const Viewer *viewer;
    int64_t now_us;
    SettingLine lines[SETTING_LINES_MOST];
    size_t line_count;
    SettingVersion *versions;
    size_t version_count;
    /* A change that is looked at before it is made. */
    bool is_preview;
    Slice name, value, from, reason; /* as typed */
    int64_t from_us;
    SettingEffect effects[SETTING_EFFECTS_MOST];
    size_t effect_count;
    PeriodLine *periods;
    size_t period_count;
    uint64_t period_version;
    FormFault fault;
} SettingsView;
MUST_USE Status settings_view(Site *site, Arena *arena, SettingsView *ret_view);
/* What the change does, of the settings before and after it. Pure. */
size_t setting_effects(const VotingSettings *before, const VotingSettings *after, Arena *arena,
                       SettingEffect *ret_effects);

/* ---- Activity (activity.c) --------------------------------------------------------------------------------------------- */

enum { ACTIVITY_ROWS = 50 };

typedef struct ActivityWish {
    Slice instance, who, kind, before;
} ActivityWish;

typedef struct ActivityView {
    int64_t now_us;
    ActivityWish wish;
    FormFault fault;
    ActLine *lines;
    size_t count;
    Slice next; /* id of the last one; empty: no more */
    Slice next_address;
    Instance *instances;
    size_t instance_count;
} ActivityView;
MUST_USE Status activity_view(Site *site, const ActivityWish *wish, Arena *arena,
                              ActivityView *ret_view);
MUST_USE Status act_lines(Site *site, const AuditQuery *query, Arena *arena, ActLine **ret_lines,
                          size_t *ret_count);

/* ---- Tasks and store (machine.c) ------------------------------------------------------------------------------------- */

/* A task over all its parts. */
typedef struct TaskLine {
    const char *name, *help, *state;
    int64_t period_s, begun_us, took_ms, error_us;
    uint64_t done, found, errors, parts, parts_under_way;
    Slice error;
} TaskLine;

typedef struct TasksView {
    const Viewer *viewer;
    int64_t now_us;
    TaskLine *tasks;
    size_t count;
} TasksView;
MUST_USE Status tasks_view(Site *site, Arena *arena, TasksView *ret_view);

typedef struct StoreMetric {
    const char *help;
    Slice name, value;
} StoreMetric;
enum { STORE_METRICS_MOST = 64, BACKUPS_LISTED = 20 };

typedef struct StoreView {
    const Viewer *viewer;
    int64_t now_us;
    StoreHealth health;
    Slice engine, trouble;
    Instance *instances;
    size_t instance_count;
    StoreMetric metrics[STORE_METRICS_MOST];
    size_t metric_count;
    Slice backup_directory;
    Slice *backups;
    size_t backup_count;
    bool has_maintenance, in_maintenance;
    Slice message, reason;
    FormFault fault;
} StoreView;
MUST_USE Status store_view(Site *site, Arena *arena, StoreView *ret_view);
/* Makes a backup in a new directory below the one of the settings; *ret_name is what it is called. */
MUST_USE Status admin_backup(WebRequest *request, Slice reason, Slice *ret_name);
MUST_USE Status admin_maintenance(WebRequest *request, bool on, Slice message, Slice reason);
MUST_USE Status admin_run_task(WebRequest *request, Slice name);

/* ---- Who may join (electorate.c) ------------------------------------------------------------------------------------- */

/* A list of 100,000 people is 5 MB, which a slow line sends in minutes, and takes some seconds here; a cluster may take longer. */
enum {
    ROLL_COUNTED = 200000,
    ROLL_BODY = 16 * 1024 * 1024,
    INVITES_AT_ONCE = 500,
    LIST_SECONDS = 600
};

typedef struct ElectorateView {
    const Viewer *viewer;
    int64_t now_us;
    Electorate electorate;
    ElectorateMode mode; /* as the form has it */
    Slice domains, reason, email, lines;
    uint64_t roll;
    bool roll_is_more, can_mail;
    InvitationPage invitations;
    Slice next_address;
    FormFault fault;
    const char *what; /* which form the fault or the report is of */
    const ListReport *report;
    const char *report_words;
    const Invited *invited;
    Arena *arena;
} ElectorateView;
MUST_USE Status electorate_view(Site *site, Slice position, Arena *arena, ElectorateView *ret_view);
/* What pages and programs both do, noted as acts. */
MUST_USE Status admin_set_electorate(WebRequest *request, ElectorateMode mode, Slice domains,
                                     uint64_t seen, Slice reason);
MUST_USE Status admin_invite(WebRequest *request, Slice email, Slice reason, Invited *ret_invited);
MUST_USE Status admin_invite_all(WebRequest *request, Slice lines, Slice reason,
                                 ListReport *report);
MUST_USE Status admin_withdraw(WebRequest *request, Slice email, Slice reason);
MUST_USE Status admin_roll(WebRequest *request, RollAct act, Slice lines, Slice reason,
                           ListReport *report);

/* ---- Texts (texts.c) --------------------------------------------------------------------------------------------------- */

typedef struct TextsView {
    const Viewer *viewer;
    int64_t now_us;
    TextKind kind;
    SiteText stands;
    Slice typed, reason;
    bool is_preview, is_conflict;
    Markup shown;
    SiteText *revisions;
    size_t revision_count;
    FormFault fault;
} TextsView;

typedef struct TextPage {
    const char *title;
    SiteText text;
    Markup shown;
    int64_t now_us;
} TextPage;

/* ---- What pages and programs both do; rows are those of the route ---------------------------------------------------- */

MUST_USE Status admin_person_rights(WebRequest *request);
MUST_USE Status admin_person_sessions(WebRequest *request);
MUST_USE Status admin_set_party(WebRequest *request);
MUST_USE Status admin_set_setting(WebRequest *request);
MUST_USE Status admin_set_period(WebRequest *request);
MUST_USE Status admin_write_text(WebRequest *request);

/* ---- What they share (glance.c) -------------------------------------------------------------------------------------- */

/* "name", or "number 7" for an account that has none any more; empty for 0. */
Slice admin_name_of(Site *site, uint64_t account, Arena *arena);
