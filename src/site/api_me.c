/* api_me.c -- /api/v1/me: what somebody has of their own, but for votes: history, profile, watch list, notices, sessions, tokens. */
#include "site/api.h"
#include "site/notice_counts.h"

static Accounts *accounts_of(const WebRequest *request)
{
    return site_of(request)->app->accounts;
}

static const Account *me(const WebRequest *request)
{
    return &site_viewer(request)->account;
}

static Status give_me(WebRequest *request)
{
    const Viewer *viewer = site_viewer(request);
    const VoterState *state;
    TRY(site_voter_state(request, &state));
    ApiMe view = {.account = viewer->account,
                  .balance = state->balance,
                  .by_token = viewer->by_token,
                  .csrf = viewer->by_token ? SLICE_EMPTY : viewer->csrf};
    return api_answer(request, &SCHEMA_ME, &view);
}

static Status give_history(WebRequest *request)
{
    ApiHistory view = {.next = SLICE_EMPTY};
    Arena *arena = web_arena(request);
    TRY(my_history(site_of(request), me(request), web_id(request, 0), arena, &view.history));
    if (view.history.before > 0)
        view.next = arena_print(arena, API_PATH "me/history?before=%llu",
                                (unsigned long long)view.history.before);
    return api_answer(request, &SCHEMA_MY_HISTORY, &view);
}

/* ---- Profile -------------------------------------------------------------------------------------------------------------- */

static Status answer_profile(WebRequest *request, const Account *account)
{
    ApiProfile view = {.account = *account};
    const VoterState *state;
    TRY(site_voter_state(request, &state));
    TRY(my_profile(site_of(request), account, state, web_arena(request), &view.profile));
    return api_answer(request, &SCHEMA_PROFILE, &view);
}

static Status give_profile(WebRequest *request)
{
    return answer_profile(request, me(request));
}

static Status change_profile(WebRequest *request)
{
    Account account = *me(request);
    if (web_has(request, 0))
        account.real_name = slice_trim(web_text(request, 0));
    if (web_has(request, 1))
        account.real_name_shown = web_switch(request, 1);
    TRY(accounts_set_profile(accounts_of(request), account.id, account.real_name,
                             account.real_name_shown, web_reason(request)));
    return answer_profile(request, &account);
}

/* ---- Watch list ------------------------------------------------------------------------------------------------------------ */

static Status give_watching(WebRequest *request)
{
    MyWatching view;
    TRY(my_watching(site_of(request), me(request)->id, web_arena(request), &view));
    return api_answer(request, &SCHEMA_WATCHING, &view);
}

static Status watch(WebRequest *request)
{
    PolicyHead head;
    TRY(policy_head(site_of(request), web_id(request, 0), me(request), web_arena(request), &head));
    if (head.is_hidden)
        return STATUS_NOT_FOUND;
    Status status = accounts_watch(accounts_of(request), me(request)->id, head.policy.id, true);
    if (status == STATUS_REFUSED)
        return reason_set(web_reason(request), status, "",
                          "you watch %d policies already; stop watching one first", WATCH_MOST);
    TRY(status);
    return api_answer_done(request);
}

static Status unwatch(WebRequest *request)
{
    TRY(accounts_watch(accounts_of(request), me(request)->id, web_id(request, 0), false));
    return api_answer_done(request);
}

/* ---- Notices ---------------------------------------------------------------------------------------------------------------- */

static Status give_notices(WebRequest *request)
{
    MyNotices view;
    TRY(my_notices(site_of(request), me(request)->id, web_arena(request), &view));
    return api_answer(request, &SCHEMA_NOTICES, &view);
}

static Status dismiss(WebRequest *request)
{
    Site *site = site_of(request);
    Status status = notices_dismiss(site->app->votes, me(request)->id, web_text(request, 0));
    notice_counts_forget(site->notice_counts, me(request)->id);
    if (status == STATUS_INVALID)
        return STATUS_NOT_FOUND;
    TRY(status);
    return api_answer_done(request);
}

/* Those that come after the list was read stay, and with `through` all that the program has not seen. */
static Status dismiss_all(WebRequest *request)
{
    MyNotices view;
    Site *site = site_of(request);
    size_t newest = 0;
    TRY(my_notices(site, me(request)->id, web_arena(request), &view));
    while (web_has(request, 0) && newest < view.count &&
           !slice_equal(view.notices[newest].key, web_text(request, 0)))
        newest++;
    if (newest == view.count)
        return web_has(request, 0) ? STATUS_NOT_FOUND : api_answer_done(request);
    TRY(notices_dismiss_all(site->app->votes, me(request)->id, view.notices[newest].time_us));
    notice_counts_forget(site->notice_counts, me(request)->id);
    return api_answer_done(request);
}

/* ---- Sessions and tokens ---------------------------------------------------------------------------------------------------- */

/* A token acts for its owner, but makes and ends no ways in: a token that got lost must not outlive its end. */
Status api_refuse_token(WebRequest *request)
{
    if (!site_viewer(request)->by_token)
        return STATUS_OK;
    return reason_set(web_reason(request), STATUS_DENIED, "Authorization",
                      "a token cannot do this; log in");
}

static Status named(WebRequest *request, Id *ret_id)
{
    TRY(api_refuse_token(request));
    return id_from_text(web_text(request, 0), ret_id) == STATUS_OK ? STATUS_OK : STATUS_NOT_FOUND;
}

static Status give_sessions(WebRequest *request)
{
    ApiSessions view = {0};
    TRY(sessions_list(accounts_of(request), me(request), web_arena(request), &view.sessions,
                      &view.count));
    for (size_t i = 0; i < view.count; i++)
        view.sessions[i].secret = SLICE_EMPTY;
    return api_answer(request, &SCHEMA_SESSIONS, &view);
}

static Status end_session(WebRequest *request)
{
    Id id;
    TRY(named(request, &id));
    TRY(sessions_end_named(accounts_of(request), me(request)->id, id));
    return api_answer_done(request);
}

static Status end_others(WebRequest *request)
{
    TRY(api_refuse_token(request));
    TRY(sessions_end_others(accounts_of(request), &site_viewer(request)->session));
    return api_answer_done(request);
}

static Status give_tokens(WebRequest *request)
{
    ApiTokens view = {0};
    TRY(tokens_list(accounts_of(request), me(request)->id, web_arena(request), &view.tokens,
                    &view.count));
    return api_answer(request, &SCHEMA_TOKENS, &view);
}

enum { K_NAME, K_SCOPE, K_DAYS };

static Status make_token(WebRequest *request)
{
    Token token;
    int64_t life_us = web_number(request, K_DAYS) * S_PER_DAY * US_PER_S;
    NewToken wish = {.name = web_text(request, K_NAME),
                     .scope = (TokenScope)web_word(request, K_SCOPE),
                     .second = site_viewer(request)->session.origin.second,
                     .ends_us = site_now_us(request) + life_us};
    TRY(api_refuse_token(request));
    TRY(tokens_make(accounts_of(request), me(request)->id, &wish, web_arena(request), &token,
                    web_reason(request)));
    token.used_us = 0;
    web_code(request, 201);
    return api_answer(request, &SCHEMA_TOKEN, &token);
}

static Status end_token(WebRequest *request)
{
    Id id;
    TRY(named(request, &id));
    TRY(tokens_end(accounts_of(request), me(request)->id, id));
    return api_answer_done(request);
}

static const char *const SCOPES[] = {
#define X(name, word) word,
    TOKEN_SCOPE_LIST(X)
#undef X
        NULL};

/* clang-format off */
#define MINE(how, where, what, schema) {how, API_PATH where, what, .access = WEB_LOGIN, .tag = "me", .answers = schema
#define POLICY_ROW {"policy", WEB_PATH, WEB_ID, .help = "The policy."}
#define NAME_ROW(what) {what, WEB_PATH, WEB_OPAQUE, .least = ID_TEXT, .most = ID_TEXT, .help = "Its id."}

static const WebRoute ROUTES[] = {
    MINE(WEB_GET, "me", give_me, "Me"), .help = "Who is asking."},
    MINE(WEB_GET, "me/history", give_history, "MyHistory"), .help = "All your saves and salaries, the newest first.",
     .params = {{"before", WEB_QUERY, WEB_ID, .optional = true, .help = "Saves before this number."}}},
    MINE(WEB_GET, "me/profile", give_profile, "Profile"), .help = "What you have, created and voted for."},
    MINE(WEB_PATCH, "me/profile", change_profile, "Profile"), .body_bytes = WEB_BODY_DEFAULT,
     .help = "Changes your real name, and whether it is shown.",
     .params = {{"real_name", WEB_JSON, WEB_LINE, .optional = true, .least = 0, .most = 1000, .help = "Your real name; empty: none."},
                {"real_name_shown", WEB_JSON, WEB_SWITCH, .optional = true, .help = "Whether everybody may see it."}}},
    MINE(WEB_GET, "me/watching", give_watching, "Watching"), .help = "The policies that you watch."},
    MINE(WEB_PUT, "me/watching/{policy}", watch, "Done"), .whose = WEB_ANYBODYS, .help = "Watches a policy.", .params = {POLICY_ROW}},
    MINE(WEB_DELETE, "me/watching/{policy}", unwatch, "Done"), .whose = WEB_ANYBODYS, .help = "Takes a policy off the watch list.", .params = {POLICY_ROW}},
    MINE(WEB_GET, "me/notices", give_notices, "Notices"), .help = "What happened to the policies that you voted for, watch or own."},
    MINE(WEB_DELETE, "me/notices", dismiss_all, "Done"), .help = "Dismisses all notices.",
     .params = {{"through", WEB_QUERY, WEB_OPAQUE, .optional = true, .least = 1, .most = NOTICE_KEY_BYTES,
                 .help = "The id of the newest that is dismissed; without it, all that there are."}}},
    MINE(WEB_DELETE, "me/notices/{notice}", dismiss, "Done"), .whose = WEB_ANYBODYS, .help = "Dismisses a notice.",
     .params = {{"notice", WEB_PATH, WEB_OPAQUE, .least = 1, .most = NOTICE_KEY_BYTES, .help = "Its id."}}},
    MINE(WEB_GET, "me/sessions", give_sessions, "Sessions"), .help = "Where you are logged in."},
    MINE(WEB_DELETE, "me/sessions", end_others, "Done"), .help = "Ends all your sessions but this one. Not by a token."},
    MINE(WEB_DELETE, "me/sessions/{session}", end_session, "Done"), .whose = WEB_OWN, .help = "Ends a session. Not by a token.",
     .params = {NAME_ROW("session")}},
    MINE(WEB_GET, "me/tokens", give_tokens, "Tokens"), .help = "Your personal tokens, without their secrets."},
    MINE(WEB_POST, "me/tokens", make_token, "Token"), .body_bytes = WEB_BODY_DEFAULT,
     .help = "Makes a personal token, whose secret only this answer tells. Not by a token.",
     .params = {[K_NAME] = {"name", WEB_JSON, WEB_LINE, .least = 1, .most = TOKEN_NAME_MOST, .help = "What you call it."},
                [K_SCOPE] = {"scope", WEB_JSON, WEB_WORD, .words = SCOPES, .fallback = "read", .help = "What it may do."},
                [K_DAYS] = {"days", WEB_JSON, WEB_NUMBER, .least = 1, .most = TOKEN_DAYS_MOST, .fallback = "365",
                            .help = "How long it works."}}},
    MINE(WEB_DELETE, "me/tokens/{token}", end_token, "Done"), .whose = WEB_OWN, .help = "Ends a token. Not by a token.",
     .params = {NAME_ROW("token")}},
};
/* clang-format on */
const Room ROOM_API_ME = ROOM(ROUTES);
