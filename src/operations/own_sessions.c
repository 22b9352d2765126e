/* own_sessions.c -- where somebody is logged in, and ending it there; tokens for programs.
 *
 * Each change is one update; the same request again does no harm, but for a token, of which it makes a second one. */
#include "operations/own_access.h"
#include "operations/schema_macros.h"
#include "operations/tries.h"

/* clang-format off */
static const ApiMember SESSION[] = {
    FIELD("id", Session, id, .help = "Names it; no secret."),
    TIME("begun", Session, begun_us, .help = "When somebody logged in."),
    TIME("seen", Session, seen_us, .help = "When it was last used, to five minutes."),
    FIELD("address", Session, origin.address, .help = "From which network address."),
    FIELD("agent", Session, origin.agent, .help = "With which program."),
    FIELD("remember", Session, origin.remember, .help = "Whether to stay logged in was asked for."),
    FIELD("second_factor", Session, origin.second, .help = "Whether it was begun with the second factor."),
};
SCHEMA(SESSION, "Session", Session, SESSION, .help = "A place where somebody is logged in.");

static const ApiMember SESSIONS[] = {
    LIST("sessions", SessionList, sessions, count, SESSION, .help = "The newest first."),
};
SCHEMA(SESSIONS, "Sessions", SessionList, SESSIONS, .help = "Where somebody is logged in.");

static const ApiMember TOKEN[] = {
    FIELD("id", Token, id, .help = "Names it; no secret."),
    FIELD("name", Token, name, .help = "What its owner calls it."),
    WORD("scope", Token, scope, TOKEN_SCOPE_WORDS, .help = "What it may do."),
    FIELD("journals", Token, journals, OR_NULL, .help = "Of the scope journals: journal:NAME:put, journal:NAME:claim or journal:NAME:admin, with blanks between."),
    TIME("made", Token, made_us, .help = "When it was made."),
    TIME("ends", Token, ends_us, OR_NULL, .help = "When it ends; null: never, which only older ones have."),
    TIME("used", Token, used_us, OR_NULL, .help = "When it was last used, to five minutes."),
    FIELD("secret", Token, secret, OR_NULL, .help = "For the header Authorization; only in the answer that made it."),
};
SCHEMA(TOKEN, "Token", Token, TOKEN, .help = "A personal token.");

static const ApiMember TOKENS[] = {
    LIST("tokens", TokenList, tokens, count, TOKEN, .help = "In the order in which they were made."),
};
SCHEMA(TOKENS, "Tokens", TokenList, TOKENS, .help = "All personal tokens of an account.");
/* clang-format on */

/* ---- Sessions ---------------------------------------------------------------------------------------------------------------------- */

Status own_sessions(Operations *ops, const Account *account, Arena *arena, SessionList *ret_list)
{
    TRY(sessions_list(ops->app->accounts, account, arena, &ret_list->sessions, &ret_list->count));
    for (size_t i = 0; i < ret_list->count; i++)
        ret_list->sessions[i].secret = SLICE_EMPTY;
    return STATUS_OK;
}

static Status session_list(Operations *ops, const Actor *actor, const Nothing *request,
                           Arena *arena, SessionList *ret_list, Reason *reason)
{
    (void)request, (void)reason;
    return own_sessions(ops, actor->account, arena, ret_list);
}

typedef struct OneOfMine {
    Slice id;
} OneOfMine;

Status own_id(Slice text, Id *ret_id)
{
    return id_from_text(text, ret_id) == STATUS_OK ? STATUS_OK : STATUS_NOT_FOUND;
}

static Status session_end(Operations *ops, const Actor *actor, const OneOfMine *request,
                          Arena *arena, Done *ret_done, Reason *reason)
{
    Id id;
    (void)arena, (void)reason;
    TRY(own_id(request->id, &id));
    TRY(sessions_end_named(ops->app->accounts, actor->account->id, id));
    ret_done->done = true;
    return STATUS_OK;
}

static Status session_end_others(Operations *ops, const Actor *actor, const Nothing *request,
                                 Arena *arena, Done *ret_done, Reason *reason)
{
    (void)request, (void)arena, (void)reason;
    TRY(sessions_end_others(ops->app->accounts, actor->session));
    ret_done->done = true;
    return STATUS_OK;
}

/* clang-format off */
#define OWN .access = WEB_LOGIN, .no_audits = "it is one's own"
OPERATION(session_list, Nothing, SessionList, .help = "List where you are logged in.", OWN, .asks = true, .shows = SHOWS(ORIGINS) | SHOWS(LOGIN_TIMES), .answers = &SCHEMA_SESSIONS,
    .api = {WEB_GET, "me/sessions", .tag = "me"}, .no_page = "/my/sessions shows them", .command = {.words = "session list"});
OPERATION(session_end_others, Nothing, Done, .help = "End all your sessions but this one, and all your tokens. Not by a token.", OWN, .by_session = true,
    .api = {WEB_DELETE, "me/sessions", .tag = "me"}, .page = {"/my/sessions/others", "sessions-ended", "All your other sessions are ended, and all your tokens."},
    .no_command = "\"user logout\" ends all of them");
OPERATION(session_end, OneOfMine, Done, .help = "End a session. Not by a token.", OWN, .by_session = true, .whose = WEB_OWN,
    .api = {WEB_DELETE, "me/sessions/{session}", .tag = "me"}, .page = {"/my/sessions/{session}", "session-ended", "That session is ended."}, .command = {.words = "session end"},
    .inputs = {INPUT("session", OneOfMine, id, OPAQUE, .operand = true, .least = ID_TEXT, .most = ID_TEXT, .help = "Its id.")});
/* clang-format on */

/* ---- Tokens ------------------------------------------------------------------------------------------------------------------------ */

Status own_tokens(Operations *ops, const Account *account, Arena *arena, TokenList *ret_list)
{
    TRY(tokens_list(ops->app->accounts, account->id, arena, &ret_list->tokens, &ret_list->count));
    for (size_t i = 0; i < ret_list->count; i++)
        ret_list->tokens[i].secret = SLICE_EMPTY;
    return STATUS_OK;
}

static Status token_list(Operations *ops, const Actor *actor, const Nothing *request, Arena *arena,
                         TokenList *ret_list, Reason *reason)
{
    (void)request, (void)reason;
    return own_tokens(ops, actor->account, arena, ret_list);
}

typedef struct TokenMake {
    Slice name;
    TokenScope scope;
    Slice journals;
    int64_t days;
    OwnWays ways;
} TokenMake;

static Status token_make(Operations *ops, const Actor *actor, const TokenMake *request,
                         Arena *arena, Token *ret_token, Reason *reason)
{
    int64_t now_us = clock_now_us(ops->app->world.clock);
    TRY(check_own_ways(ops, actor, &request->ways, arena, reason));
    NewToken wanted = {.name = request->name,
                       .scope = request->scope,
                       .journals = request->journals,
                       .second = actor->session != NULL && actor->session->origin.second,
                       .ends_us = now_us + request->days * S_PER_DAY * US_PER_S};
    TRY(tokens_make(ops->app->accounts, actor->account->id, &wanted, arena, ret_token, reason));
    ret_token->used_us = 0;
    return STATUS_OK;
}

static Status token_end(Operations *ops, const Actor *actor, const OneOfMine *request, Arena *arena,
                        Done *ret_done, Reason *reason)
{
    Id id;
    (void)arena, (void)reason;
    TRY(own_id(request->id, &id));
    TRY(tokens_end(ops->app->accounts, actor->account->id, id));
    ret_done->done = true;
    return STATUS_OK;
}

/* clang-format off */
OPERATION(token_list, Nothing, TokenList, .help = "List your personal tokens, without their secrets.", OWN, .asks = true, .shows = SHOWS(ACCESS), .answers = &SCHEMA_TOKENS,
    .api = {WEB_GET, "me/tokens", .tag = "me"}, .no_page = "/my/tokens shows them", .command = {.words = "token list"});
OPERATION(token_make, TokenMake, Token, .help = "Make a personal token, whose secret only this answer tells. Not by a token.",
    .access = WEB_VOTER, .by_session = true, .threads = WEB_PASSWORD, .no_audits = "it is one's own", .no_command = "its secret is for the person alone", .answers = &SCHEMA_TOKEN,
    .api = {WEB_POST, "me/tokens", .tag = "me", .code = 201}, .page = {.path = "/my/tokens"},
    .inputs = {
        INPUT("name", TokenMake, name, LINE, .least = 1, .most = TOKEN_NAME_MAX, .help = "What you call it."),
        INPUT("scope", TokenMake, scope, WORD, .words = TOKEN_SCOPE_WORDS, .fallback = "read", .help = "What it may do."),
        INPUT("journals", TokenMake, journals, LINE, .fallback = "", .most = TOKEN_JOURNALS_MAX, .help = "With the scope journals: what it may, such as journal:NAME:put, journal:NAME:claim or journal:NAME:admin, with blanks or commas between. It can do nothing else."),
        INPUT("days", TokenMake, days, NUMBER, .least = 1, .most = TOKEN_DAYS_MAX, .fallback = "365", .help = "How long it works."),
        OWN_PASSWORD_INPUT(TokenMake), OWN_CODE_INPUT(TokenMake),
    });
OPERATION(token_end, OneOfMine, Done, .help = "End a token. Not by a token.", OWN, .by_session = true, .whose = WEB_OWN,
    .api = {WEB_DELETE, "me/tokens/{token}", .tag = "me"}, .page = {"/my/tokens/{token}", "token-ended", "That token no longer works."}, .command = {.words = "token end"},
    .inputs = {INPUT("token", OneOfMine, id, OPAQUE, .operand = true, .least = ID_TEXT, .most = ID_TEXT, .help = "Its id.")});
/* clang-format on */
