/* api_people.c -- GET /api/v1/session: the token that requests of this site's own scripts need, as forms do.
 *
 * Logging in, joining and the like rely on cookies. Programs use a personal token instead, and none of this. */
#include "site/api/api.h"

static Status give_session(WebRequest *request)
{
    const Viewer *viewer = site_viewer(request);
    ApiVisit view = {.known = viewer->known,
                     .name = viewer->known ? viewer->account.name : SLICE_EMPTY,
                     .csrf = viewer->by_token ? SLICE_EMPTY : site_form_token(request)};
    return api_answer(request, &SCHEMA_VISIT, &view);
}

static const WebRoute ROUTES[] = {
    {WEB_GET, API_PATH "session", give_session, .access = WEB_GUEST, .tag = "accounts",
     .answers = "Visit",
     .help = "Whether somebody is logged in, and the token for requests that rely on cookies."},
};
ROUTE_TABLE(API_PEOPLE, ROUTES);
