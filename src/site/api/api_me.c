/* api_me.c -- /api/v1/me: who is asking. */
#include "site/api/api.h"

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

/* A token acts for its owner, but makes and ends no ways in: a token that got lost must not outlive its end. */
Status api_refuse_token(WebRequest *request)
{
    if (!site_viewer(request)->by_token)
        return STATUS_OK;
    return reason_set(web_reason(request), STATUS_DENIED, "Authorization",
                      "a token cannot do this; log in");
}

/* clang-format off */
#define MINE(how, where, what, schema) {how, API_PATH where, what, .access = WEB_LOGIN, .tag = "me", .answers = schema

static const WebRoute ROUTES[] = {
    MINE(WEB_GET, "me", give_me, "Me"), .help = "Who is asking."},
};
/* clang-format on */
ROUTE_TABLE(API_ME, ROUTES);
