/* api.h -- the JSON interface /api/v1: what its answers hold, and how they are written and documented.
 *
 * An answer is a view, the same that a page shows where there is one, written by a table: each schema lists its members with the
 * place that they have in the view. The OpenAPI document, docs/api.md and the page /api are printed from the same tables and from the
 * routes, so that what is written and what is promised cannot differ.
 *   1. Every member of a schema is in every answer; what is not there is null.
 *   2. Times are RFC 3339 in UTC, ids of policies and people are numbers, versions and tokens are 32 hexadecimal digits.
 *   3. Lists are bounded, and name by `next` the address that goes on, or null.
 *   4. Errors are {"error": {"status", "field", "rule", "request"}} (web/errors.h).
 *   5. An answer to a public GET may be read by scripts of other sites, without anybody's session; no other answer can. */
#pragma once

#include "operations/schema_list.h"
#include "site/site_private.h"

/* ---- Schemas ------------------------------------------------------------------------------------------------------------ */

/* All of them, also those of the operations, ended by NULL; made by the build. */
extern const ApiSchema *const API_SCHEMAS[];

/* The whole answer of a route whose `answers` is this schema's name. */
MUST_USE Status api_answer(WebRequest *request, const ApiSchema *schema, const void *view);
/* The same for routes that have nothing else to say ("Done"). */
MUST_USE Status api_answer_done(WebRequest *request);

enum { API_KEY_MAX = 255 };

/* ---- Requests ------------------------------------------------------------------------------------------------------------ */

/* The header Idempotency-Key, of this account, as a token: the same key is the same token. Zero without one; INVALID when it has more than
 * API_KEY_MAX characters or others than visible ASCII; REFUSED when it was used for another request. */
MUST_USE Status api_key(WebRequest *request, Id *ret_token);
/* Whether it was used, for this request. */
MUST_USE Status api_key_is_used(WebRequest *request, bool *ret_used);
/* What the key names is done, or perhaps done: from now on it is for this request alone. */
void api_key_used(WebRequest *request);

/* ---- Documents (api_docs.c, api_page.c) ------------------------------------------------------------------------------------ */

/* Headers that routes read beside their parameters. */
typedef struct ApiHeader {
    WebMethod method;
    const char *path, *name;
    bool required;
    const char *help;
} ApiHeader;
extern const ApiHeader API_HEADERS[]; /* ended by one without a name */
bool api_is_documented(const WebRoute *route);
/* Whether an answer of the interface has it; others are only of commands, and not documented with it. */
bool api_schema_is_used(const ApiSchema *schema);

/* The groups of routes, in the order of the page; ended by one without a tag. */
typedef struct ApiTag {
    const char *tag, *title;
} ApiTag;
extern const ApiTag API_TAGS[];

typedef struct ApiPage {
    const WebRoute *routes;
    size_t route_count;
} ApiPage;

/* Words for people: "query", "For voters.", "list of". */
const char *api_place(WebFrom from);
const char *api_who(const WebRoute *route);
const char *api_type(const ApiMember *member);
bool api_header_is_of(const ApiHeader *header, const WebRoute *route);
bool api_takes_something(const WebRoute *route);
