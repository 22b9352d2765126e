/* people.c -- people for those who run the site: who they are, what they may, what their accounts have in common. What they vote for is not here. */
#include "site/admin/admin.h"
#include "site/pages.h"

enum { REASON_MOST = 20000 };

const char *role_words(AccountRole role)
{
    static const char *const WORDS[ROLE_COUNT] = {
        [ROLE_ADMIN] = "admin",
        [ROLE_EDIT_POLICIES] = "edit all policies",
        [ROLE_EDIT_USERS] = "manage people",
        [ROLE_MODERATE_COMMENTS] = "moderate comments",
        [ROLE_MODERATE_TAGS] = "moderate tags",
        [ROLE_MODERATE_POLICIES] = "moderate policies",
        [ROLE_FEATURE] = "choose featured policies",
        [ROLE_RESPOND] = "answer officially",
    };
    CHECK(role < ROLE_COUNT);
    return WORDS[role];
}

const char *right_words(AccountRight right)
{
    static const char *const WORDS[RIGHT_COUNT] = {
        [RIGHT_LOG_IN] = "log in",   [RIGHT_VOTE] = "vote", [RIGHT_CREATE] = "propose policies",
        [RIGHT_COMMENT] = "comment", [RIGHT_TAG] = "tag",   [RIGHT_REPORT] = "report",
    };
    CHECK(right < RIGHT_COUNT);
    return WORDS[right];
}

/* ---- The list ----------------------------------------------------------------------------------------------------------- */

static bool contains(Slice text, Slice part)
{
    for (size_t i = 0; i + part.size <= text.size; i++)
        if (slice_equal_ignoring_case(slice_of(text.data + i, part.size), part))
            return true;
    return false;
}

static bool fits(const PeopleWish *wish, const Account *account)
{
    bool alive = account->state == ACCOUNT_PENDING || account->state == ACCOUNT_CONFIRMED;
    if (wish->state >= 0 ? (int)account->state != wish->state : !alive)
        return false;
    if (wish->role >= 0 && (account->roles & 1u << wish->role) == 0)
        return false;
    return wish->q.size == 0 || contains(account->name, wish->q);
}

static Slice hex_of(Slice bytes, Arena *arena)
{
    BUFFER_SCOPE Buffer text = {0};
    for (size_t i = 0; i < bytes.size; i++)
        buffer_print(&text, "%02x", (unsigned char)bytes.data[i]);
    return arena_copy(arena, buffer_slice(&text));
}

static int digit_of(char at)
{
    if (at >= '0' && at <= '9')
        return at - '0';
    return at >= 'a' && at <= 'f' ? at - 'a' + 10 : -1;
}

static Status bytes_of(Slice text, Arena *arena, Slice *ret_bytes)
{
    char *bytes = arena_bytes(arena, text.size / 2);
    if (text.size % 2 != 0)
        return STATUS_INVALID;
    for (size_t i = 0; i < text.size / 2; i++) {
        int high = digit_of(text.data[2 * i]), low = digit_of(text.data[2 * i + 1]);
        if (high < 0 || low < 0)
            return STATUS_INVALID;
        bytes[i] = (char)(high << 4 | low);
    }
    *ret_bytes = slice_of(bytes, text.size / 2);
    return STATUS_OK;
}

static Slice next_address(const PeopleView *view, Arena *arena)
{
    BUFFER_SCOPE Buffer out = {0};
    const PeopleWish *wish = &view->wish;
    buffer_text(&out, "/admin/people?q=");
    url_part_put_slice(&out, wish->q);
    if (wish->role >= 0)
        buffer_print(&out, "&role=%s", account_role_text((AccountRole)wish->role));
    if (wish->state >= 0)
        buffer_print(&out, "&state=%s", account_state_text((AccountState)wish->state));
    buffer_print(&out, "&position=%.*s", SLICE_ARG(view->next));
    return arena_copy(arena, buffer_slice(&out));
}

/* An address is looked up; addresses are sealed, and nobody searches in them. */
static Status find_address(Site *site, const PeopleWish *wish, Arena *arena, PeopleView *view)
{
    Account account;
    Status status = accounts_find(site->app->accounts, wish->q, arena, &account);
    if (status == STATUS_NOT_FOUND)
        return STATUS_OK;
    TRY(status);
    view->people = ARENA_NEW(arena, Account);
    view->people[0] = account;
    view->count = 1;
    return STATUS_OK;
}

/* Pages of the table until enough fit, or enough were looked at; then a link goes on. */
static Status scan_people(Site *site, Slice position, Arena *arena, PeopleView *view)
{
    AccountPage page = {.position = position, .more = true};
    view->people = ARENA_ARRAY(arena, PEOPLE_ROWS + PEOPLE_CELLS, Account);
    for (int i = 0; i < PEOPLE_PAGES_MOST && page.more && view->count < PEOPLE_ROWS; i++) {
        Status status =
            accounts_page(site->app->accounts, page.position, PEOPLE_CELLS, arena, &page);
        if (status == STATUS_INVALID)
            return STATUS_NOT_FOUND; /* a position that is none */
        TRY(status);
        for (size_t k = 0; k < page.count; k++)
            if (fits(&view->wish, &page.accounts[k]))
                view->people[view->count++] = page.accounts[k];
    }
    if (page.more && 2 * page.position.size <= PEOPLE_POSITION_MOST) {
        view->next = hex_of(page.position, arena);
        view->next_address = next_address(view, arena);
    }
    return STATUS_OK;
}

Status people_view(Site *site, const PeopleWish *wish, Arena *arena, PeopleView *ret_view)
{
    PeopleView view = {.wish = *wish,
                       .next = SLICE_EMPTY,
                       .next_address = SLICE_EMPTY,
                       .now_us = clock_now_us(site->app->world.clock)};
    Slice position;
    if (bytes_of(wish->position, arena, &position) != STATUS_OK)
        return STATUS_NOT_FOUND;
    if (slice_find(wish->q, '@') < wish->q.size)
        TRY(find_address(site, wish, arena, &view));
    else
        TRY(scan_people(site, position, arena, &view));
    *ret_view = view;
    return STATUS_OK;
}

static Status show_people(WebRequest *request)
{
    PeopleView view;
    PeopleWish wish = {.q = slice_trim(web_text(request, 0)),
                       .role = web_has(request, 1) ? (int)web_word(request, 1) : -1,
                       .state = web_has(request, 2) ? (int)web_word(request, 2) : -1,
                       .position = web_text(request, 3)};
    Frame frame = {.title = SLICE("People"), .here = "/admin"};
    TRY(people_view(site_of(request), &wish, web_arena(request), &view));
    Buffer *out = page_begin(request, &frame);
    admin_people_page(out, &view);
    page_end(request, out);
    return STATUS_OK;
}

/* ---- One of them ------------------------------------------------------------------------------------------------------- */

static Status fill_ways(Accounts *accounts, Arena *arena, PersonView *view)
{
    Session *sessions;
    Login *logins;
    size_t count;
    TRY(sessions_list(accounts, &view->account, arena, &sessions, &count));
    view->sessions = count;
    for (size_t i = 0; i < count; i++)
        if (sessions[i].seen_us > view->seen_us)
            view->seen_us = sessions[i].seen_us;
    TRY(logins_list(accounts, view->account.id, arena, &logins, &view->login_count));
    view->logins = ARENA_ARRAY(arena, view->login_count, PersonLogin);
    for (size_t i = 0; i < view->login_count; i++) /* from where is the person's own */
        view->logins[i] = (PersonLogin){logins[i].time_us, logins[i].success};
    return STATUS_OK;
}

static Status fill_signals(Site *site, Arena *arena, PersonView *view)
{
    SharedSignal *shared;
    size_t count;
    TRY(accounts_signals(site->app->accounts, view->account.id, arena, &shared, &count));
    view->signals = ARENA_ARRAY(arena, count, PersonSignal);
    view->signal_count = count;
    for (size_t i = 0; i < count; i++)
        view->signals[i] = (PersonSignal){.account = shared[i].account,
                                          .name = admin_name_of(site, shared[i].account, arena),
                                          .tag = shared[i].tag,
                                          .reason = account_signal_reason(shared[i].signal),
                                          .time_us = shared[i].time_us};
    return STATUS_OK;
}

static void fill_words(PersonView *view)
{
    for (int i = 0; i < ROLE_COUNT; i++)
        if (view->account.roles >> i & 1)
            view->role_words[view->role_count++] = account_role_text((AccountRole)i);
    for (int i = 0; i < RIGHT_COUNT; i++)
        if (view->account.denied >> i & 1)
            view->right_words[view->right_count++] = account_right_text((AccountRight)i);
}

Status person_view(Site *site, uint64_t id, const Account *viewer, Arena *arena,
                   PersonView *ret_view)
{
    PersonView view = {.now_us = clock_now_us(site->app->world.clock), .reason = SLICE_EMPTY};
    TRY(accounts_read(site->app->accounts, id, arena, &view.account));
    bool alive = view.account.state == ACCOUNT_PENDING || view.account.state == ACCOUNT_CONFIRMED;
    view.name = admin_name_of(site, id, arena);
    view.roles = view.account.roles;
    view.denied = view.account.denied;
    view.may_roles = alive && account_has(viewer, ROLE_ADMIN);
    view.may_rights = alive && (view.may_roles || (view.account.roles & ADMIN_ROLES) == 0);
    fill_words(&view);
    if (alive)
        TRY(fill_ways(site->app->accounts, arena, &view));
    TRY(fill_signals(site, arena, &view));
    *ret_view = view;
    return STATUS_OK;
}

static Status answer_person(WebRequest *request, PersonView *view, int code)
{
    Frame frame = {.title = view->name, .here = "/admin"};
    view->viewer = site_viewer(request);
    web_code(request, code);
    Buffer *out = page_begin(request, &frame);
    admin_person_page(out, view);
    page_end(request, out);
    return STATUS_OK;
}

static Status begin_person(WebRequest *request, PersonView *view)
{
    return person_view(site_of(request), web_id(request, 0), &site_viewer(request)->account,
                       web_arena(request), view);
}

static Status show_person(WebRequest *request)
{
    PersonView view;
    TRY(begin_person(request, &view));
    return answer_person(request, &view, 200);
}

/* ---- Changing ------------------------------------------------------------------------------------------------------------ */

Status person_rights_rule(const Account *who, const Account *of, const AccountRights *rights,
                          Reason *reason)
{
    bool is_admin = account_has(who, ROLE_ADMIN);
    if (!is_admin && rights->roles != of->roles)
        return reason_set(reason, STATUS_DENIED, "roles", "only admins give and take roles");
    if (!is_admin && (of->roles & ADMIN_ROLES) != 0)
        return reason_set(reason, STATUS_DENIED, "", "only admins change the rights of admins");
    if (who->id == of->id && (rights->roles & ADMIN_ROLES) == 0 && is_admin)
        return reason_set(reason, STATUS_REFUSED, "roles",
                          "you cannot take the role admin from yourself; another admin can");
    if (who->id == of->id && (rights->denied & 1u << RIGHT_LOG_IN) != 0)
        return reason_set(reason, STATUS_REFUSED, "denied",
                          "you cannot take the right to log in from yourself");
    return STATUS_OK;
}

/* Names of roles or rights as bits. */
static Status bits_of(const Slice *words, size_t count, bool are_roles, uint32_t *ret_bits,
                      Reason *reason)
{
    uint32_t bits = 0;
    for (size_t i = 0; i < count; i++) {
        AccountRole role = ROLE_ADMIN;
        AccountRight right = RIGHT_LOG_IN;
        Status status =
            are_roles ? account_role_from(words[i], &role) : account_right_from(words[i], &right);
        if (status != STATUS_OK)
            return reason_set(reason, STATUS_INVALID, are_roles ? "roles" : "denied",
                              "there is no such %s", are_roles ? "role" : "right");
        bits |= 1u << (are_roles ? (unsigned)role : (unsigned)right);
    }
    *ret_bits = bits;
    return STATUS_OK;
}

static void put_bits(Buffer *out, const char *label, uint32_t bits, bool are_roles)
{
    buffer_print(out, "%s:", label);
    for (unsigned i = 0; bits >> i != 0; i++)
        if (bits >> i & 1)
            buffer_print(out, " %s",
                         are_roles ? account_role_text((AccountRole)i)
                                   : account_right_text((AccountRight)i));
    buffer_text(out, "; ");
}

static Slice details_of(const Account *before, const AccountRights *after, Arena *arena)
{
    BUFFER_SCOPE Buffer out = {0};
    put_bits(&out, "roles", before->roles, true);
    put_bits(&out, "now", after->roles, true);
    put_bits(&out, "taken away", before->denied, false);
    put_bits(&out, "now", after->denied, false);
    return arena_copy(arena, buffer_slice(&out));
}

/* Rows of both routes: 0 the person, 1 roles, 2 rights taken away, 3 version, 4 reason. */
static Status set_rights(WebRequest *request, const Account *of, Reason *reason)
{
    size_t role_count, right_count;
    const Slice *roles = web_texts(request, 1, &role_count);
    const Slice *rights = web_texts(request, 2, &right_count);
    AccountRights wish = {.seen_version = (uint64_t)web_number(request, 3)};
    Id act;
    TRY(bits_of(roles, role_count, true, &wish.roles, reason));
    TRY(bits_of(rights, right_count, false, &wish.denied, reason));
    TRY(person_rights_rule(&site_viewer(request)->account, of, &wish, reason));
    TRY(site_act(request,
                 &(Act){.kind = ACT_PERSON_RIGHTS,
                        .object = of->id,
                        .reason = slice_trim(web_text(request, 4)),
                        .details = details_of(of, &wish, web_arena(request))},
                 &act));
    Status status = accounts_set_rights(site_of(request)->app->accounts, of->id, &wish, reason);
    site_act_end(request, act, status);
    return status;
}

static Slice person_address(uint64_t id, Arena *arena)
{
    return arena_print(arena, "/admin/people/%llu", (unsigned long long)id);
}

static Status take_rights(WebRequest *request)
{
    PersonView view;
    TRY(begin_person(request, &view));
    Status status = set_rights(request, &view.account, web_reason(request));
    if (form_can_be_corrected(status)) {
        view.fault = form_fault(web_reason(request));
        view.reason = web_text(request, 4);
        return answer_person(request, &view, 422);
    }
    TRY(status);
    site_done(request, person_address(view.account.id, web_arena(request)), "rights", 0);
    return STATUS_OK;
}

static Status end_sessions(WebRequest *request, const Account *of, Slice reason_given)
{
    Id act;
    AccountRights same = {.roles = of->roles, .denied = of->denied};
    TRY(person_rights_rule(&site_viewer(request)->account, of, &same, web_reason(request)));
    TRY(site_act(request,
                 &(Act){.kind = ACT_PERSON_SESSIONS, .object = of->id, .reason = reason_given},
                 &act));
    Status status = sessions_end_all(site_of(request)->app->accounts, of->id, web_reason(request));
    site_act_end(request, act, status);
    return status;
}

static Status take_sessions(WebRequest *request)
{
    PersonView view;
    TRY(begin_person(request, &view));
    Status status = end_sessions(request, &view.account, slice_trim(web_text(request, 1)));
    if (form_can_be_corrected(status)) {
        view.fault = form_fault(web_reason(request));
        return answer_person(request, &view, 422);
    }
    TRY(status);
    site_done(request, person_address(view.account.id, web_arena(request)), "logged-out-all", 0);
    return STATUS_OK;
}

/* ---- For programs --------------------------------------------------------------------------------------------------------- */

Status admin_person_rights(WebRequest *request)
{
    Account account;
    TRY(accounts_read(site_of(request)->app->accounts, web_id(request, 0), web_arena(request),
                      &account));
    return set_rights(request, &account, web_reason(request));
}

Status admin_person_sessions(WebRequest *request)
{
    Account account;
    TRY(accounts_read(site_of(request)->app->accounts, web_id(request, 0), web_arena(request),
                      &account));
    return end_sessions(request, &account, slice_trim(web_text(request, 1)));
}

/* clang-format off */
#define PERSON_ROW {"id", WEB_PATH, WEB_ID, .help = "The person."}

static const char *const ROLE_WORDS[] = {
#define X(name, text) text,
    ACCOUNT_ROLE_LIST(X)
#undef X
    NULL};
static const char *const STATE_WORDS[] = {
#define X(name, text) text,
    ACCOUNT_STATE_LIST(X)
#undef X
    NULL};

static const WebRoute ROUTES[] = {
    {WEB_GET, "/admin/people", show_people, ADMIN_ROW(PEOPLE_ROLES), .threads = WEB_SAVE,
     .help = "People, by name, address, role or state.",
     .params = {{"q", WEB_QUERY, WEB_LINE, .fallback = "", .most = 300, .help = "A part of a name, or a whole e-mail address."},
                {"role", WEB_QUERY, WEB_WORD, .optional = true, .words = ROLE_WORDS, .help = "Only with this role."},
                {"state", WEB_QUERY, WEB_WORD, .optional = true, .words = STATE_WORDS, .help = "Only in this state."},
                {"position", WEB_QUERY, WEB_OPAQUE, .fallback = "", .most = PEOPLE_POSITION_MOST, .help = "Where to go on."}}},
    {WEB_GET, "/admin/people/{id}", show_person, ADMIN_ROW(PEOPLE_ROLES), .whose = WEB_ANYBODYS, .threads = WEB_SAVE,
     .help = "A person: roles, rights, sessions, signals.", .params = {PERSON_ROW}},
    {WEB_POST, "/admin/people/{id}", take_rights, ADMIN_ROW(PEOPLE_ROLES), .whose = WEB_ANYBODYS, .body_bytes = WEB_BODY_DEFAULT,
     .help = "Sets a person's roles, and the rights that are taken away.",
     .params = {PERSON_ROW,
                {"role", WEB_FORM, WEB_TEXTS, .optional = true, .most = 40, .most_count = 32, .help = "Each role that they have."},
                {"denied", WEB_FORM, WEB_TEXTS, .optional = true, .most = 40, .most_count = 32, .help = "Each right that is taken away."},
                {"version", WEB_FORM, WEB_NUMBER, .fallback = "0", .most = INT64_MAX, .help = "Of the account, as the form saw it."},
                REASON_ROW(WEB_FORM)}},
    {WEB_POST, "/admin/people/{id}/sessions", take_sessions, ADMIN_ROW(PEOPLE_ROLES), .whose = WEB_ANYBODYS, .body_bytes = WEB_BODY_DEFAULT,
     .help = "Logs a person out everywhere.", .params = {PERSON_ROW, REASON_ROW(WEB_FORM)}},
};
/* clang-format on */
const Room ROOM_ADMIN_PEOPLE = ROOM(ROUTES);
