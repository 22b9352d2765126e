/* viewer_routes.h -- routes of the test server that look at who is asking: admission, cookies, lists, slugs, versions. */
#pragma once

#include "web/errors.h"
#include "web/server.h"

extern const WebRoute VIEWER_ROUTES[];
extern const size_t VIEWER_ROUTE_COUNT;

/* "Authorization: Bearer NAME", or the cookie "session", makes NAME the viewer. A page that needs one is redirected to
 * /login?next=…, for programs it is LOGIN. The name "nobody" is DENIED, and its cookie is taken away; "nonsense" is a
 * visitor; "once" may come in once. */
MUST_USE Status viewer_admit(WebRequest *request);
uint64_t viewer_variant(WebRequest *request);
/* An error page in a frame of its own. */
void viewer_error_page(WebRequest *request, const ErrorWords *words);
