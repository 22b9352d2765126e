/* api_admin.c -- /api/v1/admin: what the rooms of admins show and do, for programs. Everything is noted as an act, as there. */
#include "site/admin/api_admin.h"

/* ---- People ----------------------------------------------------------------------------------------------------------------- */

static ApiPersonLine line_of(const Account *account)
{
    ApiPersonLine line = {.account = *account};
    for (int i = 0; i < ROLE_COUNT; i++)
        if (account->roles >> i & 1)
            line.roles[line.role_count++] = account_role_text((AccountRole)i);
    for (int i = 0; i < RIGHT_COUNT; i++)
        if (account->denied >> i & 1)
            line.denied[line.denied_count++] = account_right_text((AccountRight)i);
    return line;
}

/* The address of the page that goes on, from the one of the site's own pages. */
static Slice api_address(Slice address, Arena *arena)
{
    static const Slice ROOM_PATH = {"/admin/", 7};
    if (address.size == 0)
        return SLICE_EMPTY;
    Slice rest = slice_after(address, ROOM_PATH.size);
    return arena_print(arena, API_PATH "admin/%.*s", SLICE_ARG(rest));
}

static Status list_people(WebRequest *request)
{
    PeopleView view;
    Arena *arena = web_arena(request);
    PeopleWish wish = {.q = slice_trim(web_text(request, 0)),
                       .role = web_has(request, 1) ? (int)web_word(request, 1) : -1,
                       .state = web_has(request, 2) ? (int)web_word(request, 2) : -1,
                       .position = web_text(request, 3)};
    TRY(people_view(site_of(request), &wish, arena, &view));
    ApiPeople people = {.people = ARENA_ARRAY(arena, view.count, ApiPersonLine),
                        .count = view.count,
                        .next = api_address(view.next_address, arena)};
    for (size_t i = 0; i < view.count; i++)
        people.people[i] = line_of(&view.people[i]);
    return api_answer(request, &SCHEMA_ADMIN_PEOPLE, &people);
}

static Status give_person(WebRequest *request)
{
    PersonView view;
    TRY(person_view(site_of(request), web_id(request, 0), &site_viewer(request)->account,
                    web_arena(request), &view));
    return api_answer(request, &SCHEMA_ADMIN_PERSON, &view);
}

/* ---- Who may join -------------------------------------------------------------------------------------------------------------- */

static Status give_electorate(WebRequest *request)
{
    ElectorateView view;
    ApiElectorate *answer = ARENA_NEW(web_arena(request), ApiElectorate);
    TRY(electorate_view(site_of(request), SLICE_EMPTY, web_arena(request), &view));
    answer->mode = electorate_mode_text(view.electorate.mode);
    answer->version = view.electorate.version;
    answer->roll = view.roll;
    answer->roll_is_more = view.roll_is_more;
    answer->domain_count = view.electorate.domain_count;
    for (size_t i = 0; i < answer->domain_count; i++)
        answer->domains[i] = view.electorate.domains[i];
    return api_answer(request, &SCHEMA_ADMIN_ELECTORATE, answer);
}

static Status set_electorate(WebRequest *request)
{
    BUFFER_SCOPE Buffer domains = {0};
    size_t count;
    const Slice *list = web_texts(request, 1, &count);
    for (size_t i = 0; i < count; i++)
        buffer_print(&domains, "%.*s\n", SLICE_ARG(list[i]));
    TRY(admin_set_electorate(request, (ElectorateMode)web_word(request, 0), buffer_slice(&domains),
                             (uint64_t)web_number(request, 2), slice_trim(web_text(request, 3))));
    return api_answer_done(request);
}

static Status list_invitations(WebRequest *request)
{
    ElectorateView view;
    TRY(electorate_view(site_of(request), web_text(request, 0), web_arena(request), &view));
    ApiInvitations answer = {.invitations = view.invitations.invitations,
                             .count = view.invitations.count,
                             .next = SLICE_EMPTY};
    size_t mark = slice_find(view.next_address, '?');
    if (view.next_address.size > 0)
        answer.next = arena_print(web_arena(request), API_PATH "admin/invitations%.*s",
                                  SLICE_ARG(slice_after(view.next_address, mark)));
    return api_answer(request, &SCHEMA_ADMIN_INVITATIONS, &answer);
}

static Status invite(WebRequest *request)
{
    Invited invited;
    TRY(admin_invite(request, web_text(request, 0), slice_trim(web_text(request, 1)), &invited));
    web_code(request, 201);
    return api_answer(request, &SCHEMA_ADMIN_INVITED, &invited);
}

static Status invite_all(WebRequest *request)
{
    ListReport *report = ARENA_NEW(web_arena(request), ListReport);
    TRY(admin_invite_all(request, web_text(request, 0), slice_trim(web_text(request, 1)), report));
    return api_answer(request, &SCHEMA_ADMIN_LIST, report);
}

static Status withdraw(WebRequest *request)
{
    TRY(admin_withdraw(request, web_text(request, 0), slice_trim(web_text(request, 1))));
    return api_answer_done(request);
}

static Status change_roll(WebRequest *request)
{
    ListReport *report = ARENA_NEW(web_arena(request), ListReport);
    TRY(admin_roll(request, web_word(request, 2) == 0 ? ROLL_ADD : ROLL_REMOVE,
                   web_text(request, 0), slice_trim(web_text(request, 1)), report));
    return api_answer(request, &SCHEMA_ADMIN_LIST, report);
}

/* ---- Rules, texts, parties --------------------------------------------------------------------------------------------------- */

static Status give_settings(WebRequest *request)
{
    SettingsView *view = ARENA_NEW(web_arena(request), SettingsView);
    TRY(settings_view(site_of(request), web_arena(request), view));
    return api_answer(request, &SCHEMA_ADMIN_SETTINGS, view);
}

static Status give_text(WebRequest *request)
{
    ApiText answer = {.kind = text_kind_word((TextKind)web_word(request, 0))};
    TRY(texts_read(site_of(request)->app->store, (TextKind)web_word(request, 0), web_arena(request),
                   &answer.text));
    return api_answer(request, &SCHEMA_ADMIN_TEXT, &answer);
}

/* ---- Activity, tasks, store -------------------------------------------------------------------------------------------------- */

static Status list_activity(WebRequest *request)
{
    ActivityView view;
    ActivityWish wish = {slice_trim(web_text(request, 0)), slice_trim(web_text(request, 1)),
                         slice_trim(web_text(request, 2)), web_text(request, 3)};
    TRY(activity_view(site_of(request), &wish, web_arena(request), &view));
    if (view.fault.is_set)
        return reason_set(web_reason(request), STATUS_REFUSED,
                          arena_text(web_arena(request), view.fault.field), "%.*s",
                          SLICE_ARG(view.fault.rule));
    view.next_address = api_address(view.next_address, web_arena(request));
    return api_answer(request, &SCHEMA_ADMIN_ACTIVITY, &view);
}

static Status list_tasks(WebRequest *request)
{
    TasksView view;
    TRY(tasks_view(site_of(request), web_arena(request), &view));
    return api_answer(request, &SCHEMA_ADMIN_TASKS, &view);
}

static Status run_task(WebRequest *request)
{
    TRY(admin_run_task(request, web_text(request, 0)));
    return api_answer_done(request);
}

static Status give_store(WebRequest *request)
{
    StoreView *view = ARENA_NEW(web_arena(request), StoreView);
    TRY(store_view(site_of(request), web_arena(request), view));
    return api_answer(request, &SCHEMA_ADMIN_STORE, view);
}

static Status make_backup(WebRequest *request)
{
    StoreView *view = ARENA_NEW(web_arena(request), StoreView);
    ApiBackup backup;
    TRY(admin_backup(request, slice_trim(web_text(request, 0)), &backup.name));
    TRY(store_view(site_of(request), web_arena(request), view));
    backup.directory = view->backup_directory;
    web_code(request, 201);
    return api_answer(request, &SCHEMA_ADMIN_BACKUP, &backup);
}

static Status set_maintenance(WebRequest *request)
{
    TRY(admin_maintenance(request, web_switch(request, 0), slice_trim(web_text(request, 1)),
                          slice_trim(web_text(request, 2))));
    return api_answer_done(request);
}

API_DOES(set_rights, admin_person_rights)
API_DOES(log_out, admin_person_sessions)
API_DOES(set_setting, admin_set_setting)
API_DOES(set_period, admin_set_period)
API_DOES(set_party, admin_set_party)
API_DOES(write_text, admin_write_text)

/* clang-format off */
#define ADMIN(how, where, what, who, schema)                                                        \
    {how, API_PATH "admin/" where, what, .access = WEB_ROLE, .roles = (who), .always = true, .threads = WEB_SAVE, \
     .tag = "admin", .answers = schema
#define WRITES .body_bytes = WEB_BODY_DEFAULT
#define PERSON_ROW {"id", WEB_PATH, WEB_ID, .help = "The person."}
#define EMAIL_ROW {"email", WEB_JSON, WEB_LINE, .least = 1, .most = 1000, .help = "An e-mail address."}
#define LINES_ROW {"lines", WEB_JSON, WEB_TEXT, .least = 1, .most = ROLL_BODY, .help = "Lines as a spreadsheet saves them: e-mail, name."}

static const char *const ROLES[] = {
#define X(name, text) text,
    ACCOUNT_ROLE_LIST(X)
#undef X
    NULL};
static const char *const STATES[] = {
#define X(name, text) text,
    ACCOUNT_STATE_LIST(X)
#undef X
    NULL};
static const char *const MODES[] = {
#define X(name, word, sentence) word,
    ELECTORATE_MODE_LIST(X)
#undef X
    NULL};
static const char *const KINDS[] = {
#define X(name, word, title) word,
    TEXT_KIND_LIST(X)
#undef X
    NULL};
static const char *const ROLL_ACTS[] = {"add", "remove", NULL};

static const WebRoute ROUTES[] = {
    ADMIN(WEB_GET, "people", list_people, PEOPLE_ROLES, "AdminPeople"), .help = "People, by name, address, role or state.",
     .params = {{"q", WEB_QUERY, WEB_LINE, .fallback = "", .most = 300, .help = "A part of a name, or a whole e-mail address."},
                {"role", WEB_QUERY, WEB_WORD, .optional = true, .words = ROLES, .help = "Only with this role."},
                {"state", WEB_QUERY, WEB_WORD, .optional = true, .words = STATES, .help = "Only in this state."},
                {"position", WEB_QUERY, WEB_OPAQUE, .fallback = "", .most = PEOPLE_POSITION_MOST, .help = "Where to go on."}}},
    ADMIN(WEB_GET, "people/{id}", give_person, PEOPLE_ROLES, "AdminPerson"), .whose = WEB_ANYBODYS,
     .help = "A person: roles, rights, sessions, signals. Not what they vote for.", .params = {PERSON_ROW}},
    ADMIN(WEB_PUT, "people/{id}/rights", set_rights, PEOPLE_ROLES, "Done"), .whose = WEB_ANYBODYS, WRITES,
     .help = "Sets a person's roles, which only admins may, and the rights that are taken away.",
     .params = {PERSON_ROW,
                {"roles", WEB_JSON, WEB_TEXTS, .optional = true, .most = 40, .most_count = 32, .help = "Each role that they have."},
                {"denied", WEB_JSON, WEB_TEXTS, .optional = true, .most = 40, .most_count = 32, .help = "Each right that is taken away."},
                {"version", WEB_JSON, WEB_NUMBER, .fallback = "0", .most = INT64_MAX, .help = "Of the account, as it was seen; 0: whatever it is."},
                REASON_ROW(WEB_JSON)}},
    ADMIN(WEB_POST, "people/{id}/logout", log_out, PEOPLE_ROLES, "Done"), .whose = WEB_ANYBODYS, WRITES,
     .help = "Logs a person out everywhere.", .params = {PERSON_ROW, REASON_ROW(WEB_JSON)}},
    ADMIN(WEB_GET, "electorate", give_electorate, ADMIN_ROLES, "AdminElectorate"), .help = "Who may join."},
    ADMIN(WEB_PUT, "electorate", set_electorate, ADMIN_ROLES, "Done"), WRITES, .help = "Says who may join from now on.",
     .params = {{"mode", WEB_JSON, WEB_WORD, .words = MODES, .help = "The rule."},
                {"domains", WEB_JSON, WEB_TEXTS, .optional = true, .most = 300, .most_count = ELECTORATE_DOMAINS_MOST, .help = "Domains, for the rule of that name."},
                {"version", WEB_JSON, WEB_NUMBER, .fallback = "0", .most = INT64_MAX, .help = "That was seen."},
                REASON_ROW(WEB_JSON)}},
    ADMIN(WEB_GET, "invitations", list_invitations, ADMIN_ROLES, "AdminInvitations"), .help = "Invitations, newest first.",
     .params = {{"position", WEB_QUERY, WEB_OPAQUE, .fallback = "", .most = 64, .help = "Where to go on."}}},
    ADMIN(WEB_POST, "invitations", invite, ADMIN_ROLES, "AdminInvited"), WRITES, .help = "Invites somebody.",
     .params = {EMAIL_ROW, REASON_ROW(WEB_JSON)}},
    ADMIN(WEB_POST, "invitations/list", invite_all, ADMIN_ROLES, "AdminList"), .body_bytes = ROLL_BODY, .seconds = LIST_SECONDS, .help = "Invites everybody on a list.",
     .params = {LINES_ROW, REASON_ROW(WEB_JSON)}},
    ADMIN(WEB_POST, "invitations/withdraw", withdraw, ADMIN_ROLES, "Done"), WRITES, .help = "Ends somebody's invitation.",
     .params = {EMAIL_ROW, REASON_ROW(WEB_JSON)}},
    ADMIN(WEB_POST, "roll", change_roll, ADMIN_ROLES, "AdminList"), .body_bytes = ROLL_BODY, .seconds = LIST_SECONDS,
     .help = "Puts everybody of a list on the roll, or takes them off.",
     .params = {LINES_ROW, REASON_ROW(WEB_JSON), {"act", WEB_JSON, WEB_WORD, .fallback = "add", .words = ROLL_ACTS, .help = "What to do."}}},
    ADMIN(WEB_GET, "settings", give_settings, ADMIN_ROLES, "AdminSettings"), .help = "The rules of the vote, planned changes, and how long things are kept."},
    ADMIN(WEB_POST, "settings", set_setting, ADMIN_ROLES, "Done"), WRITES, .help = "Changes a rule of the vote, from 15 minutes on at the earliest.",
     .params = {{"name", WEB_JSON, WEB_LINE, .least = 1, .most = 100, .help = "Which rule."},
                {"value", WEB_JSON, WEB_LINE, .least = 1, .most = 100, .help = "What it shall be, as text."},
                {"from", WEB_JSON, WEB_LINE, .fallback = "", .most = 100, .help = "From when, as in 2026-01-31T12:00, UTC; empty: as early as allowed."},
                REASON_ROW(WEB_JSON)}},
    ADMIN(WEB_PUT, "retention", set_period, ADMIN_ROLES, "Done"), WRITES, .help = "Changes how long something is kept.",
     .params = {{"name", WEB_JSON, WEB_LINE, .least = 1, .most = 60, .help = "What."},
                {"days", WEB_JSON, WEB_NUMBER, .least = INT64_MIN, .most = INT64_MAX, .help = "How many days."},
                {"version", WEB_JSON, WEB_NUMBER, .fallback = "0", .most = INT64_MAX, .help = "That was seen."},
                REASON_ROW(WEB_JSON)}},
    ADMIN(WEB_POST, "parties", set_party, ADMIN_ROLES, "Done"), WRITES, .help = "Adds, changes, disables or enables a party.",
     .params = {{"id", WEB_JSON, WEB_NUMBER, .fallback = "0", .most = INT64_MAX, .help = "Which; 0: a new one."},
                {"name", WEB_JSON, WEB_LINE, .least = 1, .most = 1000, .help = "Its name."},
                {"description", WEB_JSON, WEB_TEXT, .fallback = "", .most = 20000, .help = "Who they are."},
                {"active", WEB_JSON, WEB_SWITCH, .fallback = "on", .help = "Whether it takes new policies."},
                REASON_ROW(WEB_JSON)}},
    ADMIN(WEB_GET, "texts", give_text, ADMIN_ROLES, "AdminText"), .help = "The page on privacy or on terms, in Markdown.",
     .params = {{"text", WEB_QUERY, WEB_WORD, .fallback = "privacy", .words = KINDS, .help = "Which."}}},
    ADMIN(WEB_PUT, "texts", write_text, ADMIN_ROLES, "Done"), WRITES, .help = "Writes one of them.",
     .params = {{"text", WEB_JSON, WEB_WORD, .words = KINDS, .help = "Which."},
                {"words", WEB_JSON, WEB_TEXT, .least = 1, .most = 200000, .help = "Markdown."},
                {"revision", WEB_JSON, WEB_NUMBER, .fallback = "0", .most = TEXT_REVISIONS_MOST, .help = "The one that it replaces."},
                REASON_ROW(WEB_JSON)}},
    ADMIN(WEB_GET, "activity", list_activity, ADMIN_ROLES, "AdminActivity"), .help = "All acts, newest first: who, what, when, from where, why.",
     .params = {{"instance", WEB_QUERY, WEB_LINE, .fallback = "", .most = 200, .help = "Only of this instance, by its address."},
                {"who", WEB_QUERY, WEB_LINE, .fallback = "", .most = 300, .help = "Only by this person: name or e-mail address."},
                {"kind", WEB_QUERY, WEB_LINE, .fallback = "", .most = 60, .help = "Only of this kind, as in person-rights."},
                {"before", WEB_QUERY, WEB_OPAQUE, .fallback = "", .most = 64, .help = "Only older ones than this."}}},
    ADMIN(WEB_GET, "tasks", list_tasks, ADMIN_ROLES, "AdminTasks"), .help = "The work behind the site."},
    ADMIN(WEB_POST, "tasks/{task}", run_task, ADMIN_ROLES, "Done"), .whose = WEB_ANYBODYS, WRITES, .help = "Has a task begin now.",
     .params = {{"task", WEB_PATH, WEB_OPAQUE, .least = 1, .most = 40, .help = "Its name."}}},
    ADMIN(WEB_GET, "store", give_store, ADMIN_ROLES, "AdminStore"), .help = "The store's health, instances, backups, maintenance mode."},
    ADMIN(WEB_POST, "backups", make_backup, ADMIN_ROLES, "AdminBackup"), WRITES, .help = "Makes a backup now, on the server.",
     .params = {REASON_ROW(WEB_JSON)}},
    ADMIN(WEB_PUT, "maintenance", set_maintenance, ADMIN_ROLES, "Done"), WRITES, .help = "Closes the site for visitors with a message, or opens it.",
     .params = {{"on", WEB_JSON, WEB_SWITCH, .help = "Whether it is closed."},
                {"message", WEB_JSON, WEB_TEXT, .fallback = "", .most = 2000, .help = "What visitors read."},
                REASON_ROW(WEB_JSON)}},
};
/* clang-format on */
const Room ROOM_API_ADMIN = ROOM(ROUTES);
