/* api_me.c -- /api/v1/me: who is asking; /api/v1/session: the token that requests of this site's own scripts need, as forms do.
 *
 * They are about the request itself, so they are no operations. */
#include "operations/schema_macros.h"
#include "site/api/api.h"

typedef struct ApiMe {
    Account account;
    int64_t balance;
    bool by_token;
    Slice csrf; /* for scripts of this site's own pages; empty for tokens */
} ApiMe;

typedef struct ApiVisit {
    bool known;
    Slice name, csrf;
} ApiVisit;

/* clang-format off */
static const ApiMember ME[] = {
    FIELD("id", ApiMe, account.id, .help = "The account."),
    FIELD("name", ApiMe, account.name, .help = "Its name."),
    FIELD("email", ApiMe, account.email, .help = "Its e-mail address."),
    WORD("state", ApiMe, account.state, ACCOUNT_STATE_WORDS, .help = "Only a confirmed account votes."),
    TIME("registered", ApiMe, account.registered_us, .help = "Since when it earns pollies."),
    FIELD("balance", ApiMe, balance, .help = "Unspent pollies."),
    FIELD("by_token", ApiMe, by_token, .help = "Whether this request came with a personal token."),
    FIELD("csrf", ApiMe, csrf, OR_NULL, .help = "For the header X-CSRF-Token of requests that rely on the session's cookie."),
};
SCHEMA(ME, "Me", ApiMe, ME, .help = "Who is asking.");

static const ApiMember VISIT[] = {
    FIELD("known", ApiVisit, known, .help = "Whether somebody is logged in."),
    FIELD("name", ApiVisit, name, OR_NULL, .help = "The account's name."),
    FIELD("csrf", ApiVisit, csrf, OR_NULL, .help = "For the header X-CSRF-Token of requests that rely on cookies."),
};
SCHEMA(VISIT, "Visit", ApiVisit, VISIT, .help = "Who this browser is.");
/* clang-format on */

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

static Status give_session(WebRequest *request)
{
    const Viewer *viewer = site_viewer(request);
    ApiVisit view = {.known = viewer->known,
                     .name = viewer->known ? viewer->account.name : SLICE_EMPTY,
                     .csrf = viewer->by_token ? SLICE_EMPTY : site_form_token(request)};
    return api_answer(request, &SCHEMA_VISIT, &view);
}

static const WebRoute ROUTES[] = {
    {WEB_GET, API_PATH "me", give_me, .access = WEB_LOGIN, .tag = "me", .answers = "Me",
     .help = "Who is asking."},
    {WEB_GET, API_PATH "session", give_session, .access = WEB_GUEST, .tag = "accounts",
     .answers = "Visit",
     .help = "Whether somebody is logged in, and the token for requests that rely on cookies."},
};
ROUTE_TABLE(API_ME, ROUTES);
