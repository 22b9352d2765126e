/* api_rankings.c -- /api/v1/settings: the rules in force. */
#include "site/api/api.h"

static Status give_settings(WebRequest *request)
{
    VotingSettings settings;
    TRY(operations_settings(site_of(request)->ops, web_arena(request), &settings));
    return api_answer(request, &SCHEMA_SETTINGS, &settings);
}

static const WebRoute ROUTES[] = {
    {WEB_GET, API_PATH "settings", give_settings, .cache_ms = 10000, .tag = "rankings",
     .answers = "Settings", .help = "The rules of the vote that are in force now."},
};
ROUTE_TABLE(API_RANKINGS, ROUTES);
