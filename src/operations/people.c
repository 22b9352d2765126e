/* people.c -- finding people, and looking at one. Nothing here changes anything. */
#include "operations/people.h"

#include "access/sessions.h"
#include "operations/positions.h"
#include "operations/schema_macros.h"
#include "web/put.h"

/* clang-format off */

static const ApiMember PERSON_LINE[] = {
    FIELD("id", PersonLine, account.id, .help = "The account."),
    FIELD("name", PersonLine, account.name, OR_NULL, .help = "Its name; null: it is gone."),
    WORD("state", PersonLine, account.state, ACCOUNT_STATE_WORDS, .help = "Only a confirmed account votes."),
    TIME("registered", PersonLine, account.registered_us, .help = "When they joined."),
    MANY("roles", API_LABELS, PersonLine, roles, role_count, NULL, .help = "Their roles."),
    MANY("denied", API_LABELS, PersonLine, denied, denied_count, NULL, .help = "Rights that were taken away."),
};
SCHEMA(ADMIN_PERSON_LINE, "AdminPersonLine", PersonLine, PERSON_LINE, .help = "A person in a list.");

static const ApiMember PEOPLE[] = {
    LIST("people", PeopleView, people, count, ADMIN_PERSON_LINE, .help = "In no order."),
    NEXT(PeopleView),
};
SCHEMA(ADMIN_PEOPLE, "AdminPeople", PeopleView, PEOPLE, .help = "People; there may be none on a page though more follow.");

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
    FIELD("id", PersonView, line.account.id, .help = "The account."),
    FIELD("name", PersonView, name, .help = "Its name, or its number when it is gone."),
    FIELD("email", PersonView, line.account.email, OR_NULL, .help = "Its e-mail address."),
    WORD("state", PersonView, line.account.state, ACCOUNT_STATE_WORDS, .help = "Only a confirmed account votes."),
    TIME("registered", PersonView, line.account.registered_us, .help = "When they joined."),
    FIELD("version", PersonView, line.account.version, .help = "Of the account, for a change of rights."),
    MANY("roles", API_LABELS, PersonView, line.roles, line.role_count, NULL, .help = "Their roles."),
    MANY("denied", API_LABELS, PersonView, line.denied, line.denied_count, NULL, .help = "Rights that were taken away."),
    FIELD("second_factor", PersonView, line.account.second, .help = "Whether they log in with a second factor."),
    FIELD("sessions", PersonView, sessions, .help = "At how many places they are logged in."),
    TIME("seen", PersonView, seen_us, OR_NULL, .help = "When they were last seen."),
    LIST("logins", PersonView, logins, login_count, ADMIN_LOGIN, .help = "The newest first."),
    LIST("signals", PersonView, signals, signal_count, ADMIN_SIGNAL, .help = "Accounts with something in common."),
};
SCHEMA(ADMIN_PERSON, "AdminPerson", PersonView, PERSON, .help = "A person, as those who run the site see them.");
/* clang-format on */

Slice account_label(Operations *ops, uint64_t account, Arena *arena)
{
    Account found;
    if (account == 0)
        return SLICE_EMPTY;
    if (accounts_recent(ops->app->accounts, account, arena, &found) == STATUS_OK &&
        found.name.size > 0)
        return found.name;
    return arena_print(arena, "number %llu", (unsigned long long)account);
}

static PersonLine line_of(const Account *account)
{
    PersonLine line = {.account = *account};
    for (int i = 0; i < ROLE_COUNT; i++)
        if (account->roles >> i & 1)
            line.roles[line.role_count++] = account_role_text((AccountRole)i);
    for (int i = 0; i < RIGHT_COUNT; i++)
        if (account->denied >> i & 1)
            line.denied[line.denied_count++] = account_right_text((AccountRight)i);
    return line;
}

/* ---- The list ----------------------------------------------------------------------------------------------------------------- */

static bool contains(Slice text, Slice part)
{
    for (size_t i = 0; i + part.size <= text.size; i++)
        if (slice_equal_ignoring_case(slice_of(text.data + i, part.size), part))
            return true;
    return false;
}

static bool fits(const PeopleQuery *want, const Account *account)
{
    bool alive = account->state == ACCOUNT_PENDING || account->state == ACCOUNT_CONFIRMED;
    if (want->has_state ? account->state != want->state : !alive)
        return false;
    if (want->has_role && (account->roles & 1u << want->role) == 0)
        return false;
    return want->q.size == 0 || contains(account->name, want->q);
}

static Slice next_query(const PeopleQuery *want, Slice position, Arena *arena)
{
    BUFFER_SCOPE Buffer out = {0};
    buffer_text(&out, "?q=");
    url_part_put(&out, want->q);
    if (want->has_role)
        buffer_print(&out, "&role=%s", account_role_text(want->role));
    if (want->has_state)
        buffer_print(&out, "&state=%s", account_state_text(want->state));
    Slice text = position_text(position, arena);
    buffer_print(&out, "&position=%.*s", SLICE_ARG(text));
    return arena_copy(arena, buffer_slice(&out));
}

/* An address is looked up; addresses are sealed, and nobody searches in them. */
static Status find_address(Operations *ops, Arena *arena, PeopleView *view)
{
    Account account;
    Status status = accounts_find(ops->app->accounts, view->want.q, arena, &account);
    if (status == STATUS_NOT_FOUND)
        return STATUS_OK;
    TRY(status);
    view->people = ARENA_NEW(arena, PersonLine);
    view->people[0] = line_of(&account);
    view->count = 1;
    return STATUS_OK;
}

/* Room for one more page of the table. */
static void grow(PeopleView *view, size_t *room, size_t more, Arena *arena)
{
    if (view->count + more <= *room)
        return;
    *room = 2 * *room + more;
    PersonLine *people = ARENA_ARRAY(arena, *room, PersonLine);
    for (size_t i = 0; i < view->count; i++)
        people[i] = view->people[i];
    view->people = people;
}

/* Pages of the table until enough fit, or enough were looked at; then a link goes on. */
static Status scan_people(Operations *ops, Slice position, Arena *arena, PeopleView *view)
{
    AccountPage page = {.position = position, .more = true};
    bool all = view->want.all;
    size_t room = 0;
    for (int i = 0; page.more && (all || (i < PEOPLE_PAGES_MAX && view->count < PEOPLE_ROWS));
         i++) {
        Status status =
            accounts_page(ops->app->accounts, page.position, PEOPLE_CELLS, arena, &page);
        if (status == STATUS_INVALID)
            return STATUS_NOT_FOUND; /* a position that is none */
        TRY(status);
        grow(view, &room, page.count, arena);
        for (size_t k = 0; k < page.count; k++)
            if (fits(&view->want, &page.accounts[k]))
                view->people[view->count++] = line_of(&page.accounts[k]);
    }
    if (page.more && 2 * page.position.size <= PEOPLE_POSITION_MAX) {
        Slice query = next_query(&view->want, page.position, arena);
        view->next = arena_print(arena, "/api/v1/admin/people%.*s", SLICE_ARG(query));
        view->next_page = arena_print(arena, "/admin/people%.*s", SLICE_ARG(query));
    }
    return STATUS_OK;
}

Status people_view(Operations *ops, const PeopleQuery *want, Arena *arena, PeopleView *ret_view)
{
    PeopleView view = {.want = *want,
                       .next = SLICE_EMPTY,
                       .next_page = SLICE_EMPTY,
                       .now_us = clock_now_us(ops->app->world.clock)};
    Slice position;
    TRY(position_from(want->position, arena, &position));
    if (slice_find(want->q, '@') < want->q.size)
        TRY(find_address(ops, arena, &view));
    else
        TRY(scan_people(ops, position, arena, &view));
    *ret_view = view;
    return STATUS_OK;
}

static Status people_list(Operations *ops, const Actor *actor, const PeopleQuery *request,
                          Arena *arena, PeopleView *ret_view, Reason *reason)
{
    (void)actor, (void)reason;
    return people_view(ops, request, arena, ret_view);
}

/* A line for each, which scripts may cut. */
static void print_people(const void *answer, Arena *arena, Buffer *out)
{
    const PeopleView *view = answer;
    (void)arena;
    for (size_t i = 0; i < view->count; i++) {
        const Account *account = &view->people[i].account;
        buffer_print(out, "%6llu  %-10s %.*s\n", (unsigned long long)account->id,
                     account_state_text(account->state), SLICE_ARG(account->name));
    }
}

/* clang-format off */
OPERATION(people_list, PeopleQuery, PeopleView, .help = "List people, by name, address, role or state.",
    FOR_PEOPLE, .asks = true, .answers = &SCHEMA_ADMIN_PEOPLE, .api = {WEB_GET, "admin/people", .tag = "admin"},
    .no_page = "/admin/people is a page without a form that changes anything", .command = {"user list", .print = print_people},
    .inputs = {
        INPUT("q", PeopleQuery, q, LINE, .fallback = "", .most = 300, .help = "A part of a name, or a whole e-mail address."),
        INPUT("role", PeopleQuery, role, WORD, .optional = true, .words = ACCOUNT_ROLE_WORDS, GIVEN(PeopleQuery, has_role), .help = "Only with this role."),
        INPUT("state", PeopleQuery, state, WORD, .optional = true, .words = ACCOUNT_STATE_WORDS, GIVEN(PeopleQuery, has_state), .help = "Only in this state; left out: pending and confirmed."),
        INPUT("position", PeopleQuery, position, OPAQUE, .fallback = "", .most = PEOPLE_POSITION_MAX, .no_command = true, .help = "Where to go on."),
        INPUT("all", PeopleQuery, all, SWITCH, .fallback = "on", .no_api = true, .help = "Everybody at once, not a page."),
    });
/* clang-format on */

/* ---- One of them -------------------------------------------------------------------------------------------------------------- */

static Status fill_ways(Accounts *accounts, Arena *arena, PersonView *view)
{
    Session *sessions;
    Login *logins;
    size_t count;
    TRY(sessions_list(accounts, &view->line.account, arena, &sessions, &count));
    view->sessions = count;
    for (size_t i = 0; i < count; i++)
        if (sessions[i].seen_us > view->seen_us)
            view->seen_us = sessions[i].seen_us;
    TRY(logins_list(accounts, view->line.account.id, arena, &logins, &view->login_count));
    view->logins = ARENA_ARRAY(arena, view->login_count, PersonLogin);
    for (size_t i = 0; i < view->login_count; i++) /* from where is the person's own */
        view->logins[i] = (PersonLogin){logins[i].time_us, logins[i].success};
    return STATUS_OK;
}

static Status fill_signals(Operations *ops, Arena *arena, PersonView *view)
{
    SharedSignal *shared;
    size_t count;
    TRY(accounts_signals(ops->app->accounts, view->line.account.id, arena, &shared, &count));
    view->signals = ARENA_ARRAY(arena, count, PersonSignal);
    view->signal_count = count;
    for (size_t i = 0; i < count; i++)
        view->signals[i] = (PersonSignal){.account = shared[i].account,
                                          .name = account_label(ops, shared[i].account, arena),
                                          .tag = shared[i].tag,
                                          .reason = account_signal_reason(shared[i].signal),
                                          .time_us = shared[i].time_us};
    return STATUS_OK;
}

Status person_view(Operations *ops, uint64_t id, const Actor *viewer, Arena *arena,
                   PersonView *ret_view)
{
    PersonView view = {.now_us = clock_now_us(ops->app->world.clock)};
    Account account;
    TRY(accounts_read(ops->app->accounts, id, arena, &account));
    bool alive = account.state == ACCOUNT_PENDING || account.state == ACCOUNT_CONFIRMED;
    view.line = line_of(&account);
    view.name = account_label(ops, id, arena);
    view.may_roles = alive && actor_has(viewer, ADMIN_ROLES);
    view.may_rights = alive && (view.may_roles || (account.roles & ADMIN_ROLES) == 0);
    if (alive)
        TRY(fill_ways(ops->app->accounts, arena, &view));
    TRY(fill_signals(ops, arena, &view));
    *ret_view = view;
    return STATUS_OK;
}

typedef struct PersonQuery {
    uint64_t id;
} PersonQuery;

static Status person_show(Operations *ops, const Actor *actor, const PersonQuery *request,
                          Arena *arena, PersonView *ret_view, Reason *reason)
{
    (void)reason;
    return person_view(ops, request->id, actor, arena, ret_view);
}

/* clang-format off */
OPERATION(person_show, PersonQuery, PersonView, .help = "Show a person: roles, rights, sessions, signals. Not what they vote for.",
    FOR_PEOPLE, .asks = true, .shows = SHOWS(EMAIL) | SHOWS(LOGIN_TIMES) | SHOWS(SIGNALS) | SHOWS(RIGHTS), .answers = &SCHEMA_ADMIN_PERSON, .api = {WEB_GET, "admin/people/{id}", .tag = "admin"},
    .no_page = "the page of the form for their rights shows it", .command = {.words = "user show"},
    .inputs = {INPUT("id", PersonQuery, id, ACCOUNT, .operand = true, .help = "The person.")});
/* clang-format on */
