/* log_in.c -- logging in, with the second factor where there is one, and logging out.
 *
 * A wrong name and a wrong password get the same answer in the same time. Logging in begins a new session and ends the one that this
 * browser had, so that nobody can prepare one for somebody else. A crash in between leaves a session whose secret nobody has.
 *
 * A program sends password and code together. Whoever has shown the password of an account with a second factor on a page gets no session yet,
 * but a sealed cookie that says so for ten minutes: who, in which epoch, since when. It opens nothing but the page that asks for a code,
 * and a new password makes it worthless. */
#include "operations/log_in.h"
#include "operations/schema_list.h"

#include "oidc/oidc_rules.h"
#include "operations/tries.h"
#include "web/http_rules.h"
#include "web/put.h"
#include "web/request.h"

enum { FIELD_MAX = 1000, CODE_MAX = 100, NEXT_MAX = 2000, HALF_TEXT = 200 };
static const char *const HALF = "half"; /* what its seal is for */

Slice log_in_next(Slice next)
{
    return http_is_own_path(next) ? next : SLICE("/");
}

static Status begin_session(Operations *ops, const Actor *actor, const Account *account,
                            const SessionOrigin *origin, Arena *arena, LoggedIn *ret_in)
{
    Session session;
    Accounts *accounts = ops->app->accounts;
    TRY(sessions_begin(accounts, account, origin, arena, &session));
    if (actor->session != NULL)
        (void)!sessions_end(accounts, actor->session); /* it would end by itself, later */
    cookies_add(&ret_in->cookies, COOKIE_SESSION, session.secret,
                origin->remember ? COOKIE_KEPT : COOKIE_WHILE_OPEN);
    know_device(ops, actor, account, arena, &ret_in->cookies);
    ret_in->done = true;
    return STATUS_OK;
}

/* ---- Between password and session ------------------------------------------------------------------------------------- */

static Slice half_text(Operations *ops, const Account *account, bool remember, Arena *arena)
{
    BUFFER_SCOPE Buffer plain = {0};
    buffer_u64(&plain, account->id);
    buffer_u64(&plain, account->epoch);
    buffer_i64(&plain, clock_now_us(ops->app->world.clock));
    buffer_u8(&plain, remember);
    return base64url_write(vault_seal(ops->app->vault, HALF, buffer_slice(&plain), arena), arena);
}

Status log_in_half(Operations *ops, const Actor *actor, Arena *arena, Account *ret_account,
                   bool *ret_remember, Reason *reason)
{
    Account account;
    Slice text = actor_cookie(actor, COOKIE_HALF), sealed, plain;
    (void)reason_set(reason, STATUS_REFUSED, "", "log in with your password first");
    if (text.size == 0 || text.size > HALF_TEXT || !base64url_read(text, arena, &sealed) ||
        vault_unseal(ops->app->vault, HALF, sealed, arena, &plain) != STATUS_OK)
        return STATUS_REFUSED;
    Reader reader = reader_of(plain);
    uint64_t id = reader_u64(&reader), epoch = reader_u64(&reader);
    int64_t age_us = clock_now_us(ops->app->world.clock) - reader_i64(&reader);
    *ret_remember = reader_u8(&reader) != 0;
    if (!reader_done(&reader) || age_us < 0 || age_us > COOKIE_HALF_S * US_PER_S)
        return STATUS_REFUSED;
    Status status = accounts_read(ops->app->accounts, id, arena, &account);
    if (status == STATUS_NOT_FOUND)
        return STATUS_REFUSED;
    TRY(status);
    if (account.epoch != epoch || !account.second || !account_may(&account, RIGHT_LOG_IN))
        return STATUS_REFUSED;
    *ret_account = account;
    return STATUS_OK;
}

Status log_in_continue(Operations *ops, const Actor *actor, const Account *account, bool remember,
                       Slice next, Arena *arena, LoggedIn *ret_in)
{
    BUFFER_SCOPE Buffer to = {0};
    SessionOrigin origin = actor_session_origin(actor);
    origin.remember = remember;
    ret_in->next = log_in_next(next);
    if (!account->second)
        return begin_session(ops, actor, account, &origin, arena, ret_in);
    cookies_add(&ret_in->cookies, COOKIE_HALF, half_text(ops, account, remember, arena),
                COOKIE_KEPT);
    buffer_text(&to, "/login/code?next=");
    url_part_put(&to, ret_in->next);
    ret_in->next = arena_copy(arena, buffer_slice(&to));
    return STATUS_OK;
}

/* ---- Logging in --------------------------------------------------------------------------------------------------------------- */

typedef struct LogIn {
    Slice name, password, code, next;
    bool remember;
} LogIn;

static Status log_in(Operations *ops, const Actor *actor, const LogIn *request, Arena *arena,
                     LoggedIn *ret_in, Reason *reason)
{
    Account account;
    SessionOrigin origin = actor_session_origin(actor);
    TRY(check_password(ops, actor, request->name, request->password, arena, &account, reason));
    if (!account.second || actor->door == DOOR_PAGE)
        return log_in_continue(ops, actor, &account, request->remember, request->next, arena,
                               ret_in);
    if (request->code.size == 0)
        return reason_set(reason, STATUS_REFUSED, "code",
                          "this account has a second factor; send its code, too");
    TRY(check_code(ops, actor, &account, request->code, arena, reason));
    origin.remember = request->remember;
    origin.second = true;
    return begin_session(ops, actor, &account, &origin, arena, ret_in);
}

/* clang-format off */
#define NEXT_INPUT(type) INPUT("next", type, next, LINE, .fallback = "", .most = NEXT_MAX, .no_api = true, .help = "Where to go afterwards.")
OPERATION(log_in, LogIn, LoggedIn, .help = "Log in, for browsers: the answer sets a cookie.", .access = WEB_GUEST, .always = true, .threads = WEB_PASSWORD, .origin_rule = THROTTLE_LOGIN_ADDRESS,
    .no_audits = "it is one's own", .answers = &SCHEMA_DONE, .cookies = offsetof(LoggedIn, cookies),
    .api = {WEB_POST, "session", .tag = "accounts"}, .page = {.path = "/login"}, .no_command = "a command has no session",
    .inputs = {
        INPUT("name", LogIn, name, LINE, .least = 1, .most = FIELD_MAX, .help = "Name or e-mail address."),
        INPUT("password", LogIn, password, SECRET, .least = 1, .most = FIELD_MAX, .help = "The password."),
        INPUT("remember", LogIn, remember, SWITCH, .fallback = "off", .help = "Stay logged in on this device."),
        INPUT("code", LogIn, code, LINE, .optional = true, .least = 1, .most = CODE_MAX, .no_page = true,
              .help = "Of the second factor, where the account has one."),
        NEXT_INPUT(LogIn),
    });
/* clang-format on */

/* ---- The second factor ---------------------------------------------------------------------------------------------------------- */

typedef struct LogInCode {
    Slice code, next;
} LogInCode;

static Status log_in_code(Operations *ops, const Actor *actor, const LogInCode *request,
                          Arena *arena, LoggedIn *ret_in, Reason *reason)
{
    Account account;
    SessionOrigin origin = actor_session_origin(actor);
    TRY(log_in_half(ops, actor, arena, &account, &origin.remember, reason));
    TRY(check_code(ops, actor, &account, request->code, arena, reason));
    origin.second = true;
    TRY(begin_session(ops, actor, &account, &origin, arena, ret_in));
    cookies_end(&ret_in->cookies, COOKIE_HALF);
    ret_in->next = log_in_next(request->next);
    return STATUS_OK;
}

/* clang-format off */
OPERATION(log_in_code, LogInCode, LoggedIn, .help = "Log in by a code of the device or a recovery code, after the password.", .access = WEB_GUEST, .always = true,
    .no_audits = "it is one's own", .answers = &SCHEMA_DONE, .cookies = offsetof(LoggedIn, cookies),
    .no_api = "programs send password and code at once", .page = {.path = "/login/code"}, .no_command = "a command has no session",
    .inputs = {
        INPUT("code", LogInCode, code, LINE, .least = 1, .most = CODE_MAX, .help = "Of the device, or a recovery code."),
        NEXT_INPUT(LogInCode),
    });
/* clang-format on */

/* ---- Logging out ---------------------------------------------------------------------------------------------------------------- */

static Status log_out(Operations *ops, const Actor *actor, const Nothing *request, Arena *arena,
                      LoggedIn *ret_out, Reason *reason)
{
    (void)request, (void)arena, (void)reason;
    if (actor->session != NULL)
        TRY(sessions_end(ops->app->accounts, actor->session));
    cookies_end(&ret_out->cookies, COOKIE_SESSION);
    ret_out->done = true;
    return STATUS_OK;
}

/* clang-format off */
OPERATION(log_out, Nothing, LoggedIn, .help = "Log out.", .access = WEB_LOGIN,
    .no_audits = "it is one's own", .answers = &SCHEMA_DONE, .cookies = offsetof(LoggedIn, cookies),
    .api = {WEB_DELETE, "session", .tag = "accounts"}, .page = {"/logout", "logged-out", "You are logged out."}, .no_command = "a command has no session");
/* clang-format on */
