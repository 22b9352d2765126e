/* admission.c -- who is asking, and whether they may.
 *
 * In this order, for every request of a route of the site:
 *   1. Under /api/, "Authorization: Bearer …" names a personal token; everywhere, the cookie `session` names a session. A token that
 *      does not work is 401; a session that is gone means logged out, and its cookie is taken back.
 *   2. The route's access: whoever is not logged in is led to the log-in page and back afterwards (pages), or gets 401 (programs);
 *      who is logged in and may not gets 403 with the rule; so does a role that needs the second factor and has not shown it, and somebody from
 *      whom an ordinary right was taken that it needs. No form is shown that will be refused.
 *   3. A GET may not ask for what another door of the same use case knows and this one does not take: 400, which names it.
 *   4. A request that changes something and relies on a cookie must carry the form's token (field `csrf`, or the header
 *      X-CSRF-Token for scripts and programs), a keyed hash of the session, or of the visitor's own cookie before logging in: another site can
 *      make a browser send the cookie, but cannot know the token. What browsers say of the origin (Sec-Fetch-Site, Origin) must
 *      not contradict it either.
 *   4. Where tries are counted by network address (a log-in, a report), whoever has none left is refused.
 * All of that is decided by the head of the request, before a byte of its body is waited for, but for the field `csrf`: a form whose head
 * says nothing against it is read, and refused then. Without any cookie that a token could belong to it is not even read. */
#include <sodium.h>

#include "operations/tries.h"
#include "site/site_private.h"
#include "web/http_rules.h"

enum {
    CSRF_BYTES = 16,
    VISITOR_BYTES = 16,
    NEXT_MAX = WEB_LOCATION_MAX / 3 - 10, /* each byte becomes up to three */
};

Viewer *site_viewer(const WebRequest *request)
{
    Viewer *viewer = web_viewer(request);
    CHECK(viewer != NULL);
    return viewer;
}

Status site_voter_state(WebRequest *request, const VoterState **ret_state)
{
    Viewer *viewer = site_viewer(request);
    if (!viewer->known)
        return STATUS_LOGIN;
    if (!viewer->has_state) {
        TRY(votes_cached(site_of(request)->app->votes, &viewer->account, web_arena(request),
                         &viewer->state));
        viewer->has_state = true;
    }
    *ret_state = &viewer->state;
    return STATUS_OK;
}

Status site_merged_lines(WebRequest *request, const MergedLine **ret_lines, size_t *ret_count)
{
    Viewer *viewer = site_viewer(request);
    const VoterState *state;
    TRY(site_voter_state(request, &state));
    if (!viewer->has_lines) {
        TRY(votes_merged_lines(site_of(request)->app->votes, state, web_arena(request),
                               &viewer->lines, &viewer->line_count));
        viewer->has_lines = true;
    }
    *ret_lines = viewer->lines;
    *ret_count = viewer->line_count;
    return STATUS_OK;
}

static Slice hex_of(Slice bytes, size_t count, Arena *arena)
{
    char *text = arena_bytes(arena, 2 * count);
    for (size_t i = 0; i < count; i++) {
        static const char DIGITS[] = "0123456789abcdef";
        text[2 * i] = DIGITS[(unsigned char)bytes.data[i] >> 4];
        text[2 * i + 1] = DIGITS[(unsigned char)bytes.data[i] & 15];
    }
    return slice_of(text, 2 * count);
}

/* ---- Who ------------------------------------------------------------------------------------------------------------ */

static bool is_for_programs(const WebRequest *request)
{
    return slice_starts_with(web_path(request), SLICE("/api/"));
}

static Status by_token(WebRequest *request, Slice secret, Viewer *viewer)
{
    Token token;
    Accounts *accounts = site_of(request)->app->accounts;
    Status status = tokens_find(accounts, secret, web_arena(request), &token, &viewer->account);
    if (status == STATUS_LOGIN)
        return reason_set(web_reason(request), status, "Authorization",
                          "this token does not work (any more)");
    TRY(status);
    const WebRoute *route = web_route(request);
    if (token.scope == TOKEN_JOURNALS && !route->by_program)
        return reason_set(web_reason(request), STATUS_DENIED, "Authorization",
                          "this token is for journals, and for nothing else");
    if (token.scope == TOKEN_READ && route->method != WEB_GET && !route->asks)
        return reason_set(web_reason(request), STATUS_DENIED, "Authorization",
                          "this token may only read");
    viewer->known = viewer->by_token = true;
    viewer->token_name = token.name;
    viewer->token_journals = token.journals;
    viewer->is_limited = token.scope == TOKEN_JOURNALS;
    viewer->second = token.second && viewer->account.second;
    return STATUS_OK;
}

static Status by_session(WebRequest *request, Viewer *viewer)
{
    Slice secret = web_cookie(request, COOKIE_ROWS[COOKIE_SESSION].name);
    Accounts *accounts = site_of(request)->app->accounts;
    if (secret.size == 0)
        return STATUS_OK;
    Status status =
        sessions_find(accounts, secret, web_arena(request), &viewer->session, &viewer->account);
    if (status == STATUS_LOGIN) {
        web_set_cookie(request, COOKIE_SESSION, SLICE_EMPTY, COOKIE_GONE);
        viewer->was_known = true;
        return STATUS_OK;
    }
    viewer->known = status == STATUS_OK;
    viewer->secret = secret;
    /* A note waits, which such a route must not; its redirect leads to a page, which notes it. */
    if (viewer->known && !web_route(request)->batch)
        sessions_note_seen(accounts, &viewer->session);
    viewer->second = viewer->known && viewer->session.origin.second && viewer->account.second;
    return status;
}

/* What a visitor's forms are tied to before there is a session: a random cookie of its own. Pages without forms do not set it, so
 * that they can be kept for everybody. */
static Slice visitor_of(WebRequest *request, bool make)
{
    Slice visitor = web_cookie(request, COOKIE_ROWS[COOKIE_VISITOR].name);
    char bytes[VISITOR_BYTES];
    if (visitor.size == 2 * VISITOR_BYTES || !make)
        return visitor;
    random_fill(site_of(request)->app->world.random, bytes, sizeof bytes);
    visitor = hex_of(slice_of(bytes, sizeof bytes), sizeof bytes, web_arena(request));
    web_set_cookie(request, COOKIE_VISITOR, visitor, COOKIE_KEPT);
    return visitor;
}

static Slice csrf_of(WebRequest *request, const Viewer *viewer, bool make)
{
    const Vault *vault = site_of(request)->app->vault;
    Arena *arena = web_arena(request);
    Slice of = viewer->known ? viewer->secret : visitor_of(request, make);
    if (of.size == 0)
        return SLICE_EMPTY;
    return hex_of(vault_hash(vault, "csrf", of, arena), CSRF_BYTES, arena);
}

Slice site_form_token(WebRequest *request)
{
    Viewer *viewer = site_viewer(request);
    if (viewer->csrf.size == 0)
        viewer->csrf = csrf_of(request, viewer, true);
    web_private(request);
    web_set_viewer(request, viewer); /* the page holds it, and is for this visitor alone */
    return viewer->csrf;
}

/* ---- Whether ---------------------------------------------------------------------------------------------------------- */

static Status check_origin(WebRequest *request)
{
    Slice fetch_site = web_head(request, HEAD_FETCH_SITE), origin = web_head(request, HEAD_ORIGIN);
    bool foreign = fetch_site.size > 0 && !slice_equal(fetch_site, SLICE("same-origin")) &&
                   !slice_equal(fetch_site, SLICE("none"));
    if (fetch_site.size == 0 && origin.size > 0)
        foreign = !slice_equal(origin, web_public_url(request));
    if (foreign)
        return reason_set(web_reason(request), STATUS_DENIED, "",
                          "this form was sent from another site");
    return STATUS_OK;
}

static Status check_form_token(WebRequest *request, const Viewer *viewer, Slice sent)
{
    if (sent.size == viewer->csrf.size && sent.size > 0 &&
        sodium_memcmp(sent.data, viewer->csrf.data, sent.size) == 0)
        return STATUS_OK;
    return reason_set(
        web_reason(request), STATUS_DENIED, "csrf",
        "this form is too old, or was not made here; go back, reload and send it again");
}

/* A request by token has no cookie that a browser would add by itself. */
static Status check_forgery(WebRequest *request, Viewer *viewer)
{
    const WebRoute *route = web_route(request);
    if (route->method == WEB_GET || route->by_link || viewer->by_token)
        return STATUS_OK;
    TRY(check_origin(request));
    if (route->by_program && !viewer->known) /* nor has this one */
        return STATUS_OK;
    Slice sent = web_head(request, HEAD_CSRF_TOKEN);
    viewer->csrf_in_body = sent.size == 0 && viewer->csrf.size > 0 && web_sends_form(request);
    return viewer->csrf_in_body ? STATUS_OK : check_form_token(request, viewer, sent);
}

Status site_admit_body(WebRequest *request)
{
    const Viewer *viewer = site_viewer(request);
    return viewer->csrf_in_body
               ? check_form_token(request, viewer, web_field(request, WEB_FORM, "csrf"))
               : STATUS_OK;
}

static Status lead_to_login(WebRequest *request, const Viewer *viewer)
{
    BUFFER_SCOPE Buffer to = {0};
    if (is_for_programs(request) || web_route(request)->method != WEB_GET)
        return reason_set(web_reason(request), STATUS_LOGIN, "", "%s",
                          viewer->was_known ? "your session has ended; log in again"
                                            : "log in first");
    buffer_text(&to, viewer->was_known ? "/login?gone=1" : "/login");
    if (web_target(request).size <= NEXT_MAX) {
        buffer_text(&to, viewer->was_known ? "&next=" : "?next=");
        url_part_put(&to, web_target(request));
    }
    web_redirect(request, 303, arena_copy(web_arena(request), buffer_slice(&to)));
    return STATUS_OK; /* the answer stands, and the handler does not run */
}

/* Roles that the setting second_factor_roles names count only where it was shown. */
static Status check_role(WebRequest *request, Viewer *viewer)
{
    Operation like = {.access = WEB_ROLE,
                      .roles = web_route(request)->roles,
                      .by_program = web_route(request)->by_program};
    Status status = operation_admit(&like, &viewer->actor, web_reason(request));
    viewer->needs_second = status != STATUS_OK && viewer->actor.second_missing;
    return status;
}

static Status check_access(WebRequest *request, Viewer *viewer)
{
    const WebRoute *route = web_route(request);
    if (route->access > WEB_GUEST && !viewer->known)
        return lead_to_login(request, viewer);
    if (route->access == WEB_ROLE)
        TRY(check_role(request, viewer));
    Status status =
        actor_check_rights(&viewer->actor, route->access, route->needs, web_reason(request));
    viewer->lost_right = status != STATUS_OK && viewer->account.state == ACCOUNT_CONFIRMED;
    return status;
}

static Slice read_cookie(const void *from, CookieKind kind)
{
    return web_cookie(from, COOKIE_ROWS[kind].name);
}

/* A program on this machine. A browser could be a page of another site that asks. */
static bool is_local(const WebRequest *request)
{
    return address_is_loopback(web_client(request)) && web_head(request, HEAD_ORIGIN).size == 0 &&
           web_head(request, HEAD_FETCH_SITE).size == 0;
}

static void fill_actor(WebRequest *request, Viewer *viewer)
{
    SessionOrigin origin = site_origin(request);
    viewer->actor = (Actor){.door = is_for_programs(request) ? DOOR_API : DOOR_PAGE,
                            .account = viewer->known ? &viewer->account : NULL,
                            .origin = origin.address,
                            .agent = origin.agent,
                            .session = viewer->known && !viewer->by_token ? &viewer->session : NULL,
                            .by_token = viewer->by_token,
                            .token_name = viewer->token_name,
                            .is_limited = viewer->is_limited,
                            .token_journals = viewer->token_journals,
                            .is_local = is_local(request),
                            .cookie = read_cookie,
                            .cookies_from = request};
    if (viewer->known)
        viewer->actor.roles = actor_roles(site_of(request)->app, &viewer->account, viewer->second,
                                          &viewer->actor.second_missing);
}

const Actor *site_actor(const WebRequest *request)
{
    return &site_viewer(request)->actor;
}

/* Whoever has no try left from their network takes no place of those who have. The operation counts them. */
static Status check_tries(WebRequest *request, const Viewer *viewer)
{
    ThrottleRule rule = (ThrottleRule)web_route(request)->origin_rule;
    return rule == 0 ? STATUS_OK
                     : throttle_origin_look(site_of(request)->ops, &viewer->actor, rule,
                                            web_reason(request));
}

static const Operation *operation_named(const char *name)
{
    size_t i = 0;
    while (OPERATIONS[i] != NULL && strcmp(OPERATIONS[i]->name, name) != 0)
        i++;
    CHECK(OPERATIONS[i] != NULL);
    return OPERATIONS[i];
}

/* A field that other doors of the same use case take, and this one does not: whoever asks for it must not get the answer to another question. What
 * nobody takes is no question of ours. */
static Status refuse_what_is_not_taken(WebRequest *request)
{
    const WebRoute *route = web_route(request);
    Slice rest = web_query(request), encoded, value, name;
    if (route->shows == NULL || route->method != WEB_GET || rest.size == 0)
        return STATUS_OK;
    const Operation *operation = operation_named(route->shows);
    while (http_next_pair(&rest, &encoded, &value)) {
        if (route_query_param(route, encoded, web_arena(request)) != NULL ||
            http_decode(encoded, HTTP_DECODE_FORM, web_arena(request), &name) != STATUS_OK)
            continue;
        for (size_t i = 0; i < operation_input_count(operation); i++)
            if (slice_equal(name, slice_from(operation->inputs[i].name)))
                return reason_set(web_reason(request), STATUS_INVALID, operation->inputs[i].name,
                                  "cannot be chosen here; leave it out");
    }
    return STATUS_OK;
}

Status site_admit(WebRequest *request)
{
    static const Slice BEARER = {"Bearer ", 7};
    Viewer *viewer = ARENA_NEW(web_arena(request), Viewer);
    Slice authorization = web_head(request, HEAD_AUTHORIZATION);
    web_set_visitor(request, viewer);
    if (is_for_programs(request) && slice_starts_with(authorization, BEARER))
        TRY(by_token(request, slice_after(authorization, BEARER.size), viewer));
    else
        TRY(by_session(request, viewer));
    fill_actor(request, viewer);
    if (viewer->known)
        web_set_viewer(request, viewer);
    if (viewer->known || web_route(request)->method != WEB_GET)
        viewer->csrf = csrf_of(request, viewer, false);
    TRY(check_access(request, viewer));
    if (viewer->known || web_route(request)->access <= WEB_GUEST) /* else led to the log-in page */
        TRY(refuse_what_is_not_taken(request));
    TRY(check_forgery(request, viewer));
    TRY(check_tries(request, viewer));
    return web_route(request)->admits != NULL ? web_route(request)->admits(request) : STATUS_OK;
}

SessionOrigin site_origin(WebRequest *request)
{
    char *text = arena_bytes(web_arena(request), ADDRESS_TEXT);
    address_format(web_client(request), text);
    return (SessionOrigin){.address = slice_from(text),
                           .agent = web_head(request, HEAD_USER_AGENT)};
}
