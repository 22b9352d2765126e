/* api_connections.c -- /api/v1/me/connections: log-ins at other sites. Connecting one leads a person there and back, so it is for pages only. */
#include "site/api.h"

static Status give_connections(WebRequest *request)
{
    ConnectionsView view = {0};
    TRY(connections_view(request, &view));
    return api_answer(request, &SCHEMA_CONNECTIONS, &view);
}

static Status disconnect(WebRequest *request)
{
    TRY(api_refuse_token(request));
    TRY(connections_disconnect(request));
    return api_answer_done(request);
}

/* clang-format off */
#define MINE(how, where, what, schema) {how, API_PATH where, what, .access = WEB_LOGIN, .tag = "me", .answers = schema

static const WebRoute ROUTES[] = {
    MINE(WEB_GET, "me/connections", give_connections, "Connections"), .help = "The other sites that you can log in by."},
    MINE(WEB_DELETE, "me/connections/{connection}", disconnect, "Done"), .whose = WEB_OWN,
     .help = "Ends one; never your last way in. Not by a token.",
     .params = {{"connection", WEB_PATH, WEB_OPAQUE, .least = ID_TEXT, .most = ID_TEXT, .help = "Its id."}}},
};
/* clang-format on */
const Room ROOM_API_CONNECTIONS = ROOM(ROUTES);
