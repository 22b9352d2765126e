/* connections.c -- logging in by another site, joining by it, and which ones are connected.
 *
 * There and back: POST /login/with/PROVIDER keeps what is meant (accounts/journeys.h) and sends the browser away; it comes back to
 * GET /login/back/PROVIDER. Whoever is known there is logged in, through their second factor when they have one; whoever is not chooses a name, and
 * joins as everybody does, by a letter; an invitation travels with them. What the provider says of who they are is kept meanwhile in a sealed cookie, for half an hour.
 * The browser is not redirected by the answer to a form, which our own rules for forms would forbid (CSP form-action), but led on by a page. */
#include "site/connections.h"

#include <sodium.h>

#include "accounts/invitations.h"
#include "accounts/journeys.h"
#include "site/pages.h"
#include "site/people.h"

enum {
    NEXT_MOST = JOURNEY_NEXT_BYTES,
    FIELD_MOST = 1000,
    CODE_MOST = 2000,
    JOINING_S = 1800,
    JOINING_TEXT = 3000
};
static const char *const BROWSER = "journey", *const JOINING = "joining";

static Accounts *accounts_of(const WebRequest *request)
{
    return site_of(request)->app->accounts;
}

static Oidc *oidc_of(const WebRequest *request)
{
    return site_of(request)->app->oidc;
}

static const Account *me(const WebRequest *request)
{
    return &site_viewer(request)->account;
}

/* ---- There ------------------------------------------------------------------------------------------------------------- */

static Slice back_address(WebRequest *request, Slice provider)
{
    Slice home = web_public_url(request);
    return arena_print(web_arena(request), "%.*s/login/back/%.*s", SLICE_ARG(home),
                       SLICE_ARG(provider));
}

static Status answer_leave(WebRequest *request, const LeaveView *view)
{
    Arena *arena = web_arena(request);
    Slice title = arena_print(arena, "On to %.*s", SLICE_ARG(view->title)),
          refresh = arena_print(arena, "0;url=%.*s", SLICE_ARG(view->address));
    Frame frame = {.title = title, .is_narrow = true};
    web_private(request);
    web_header(request, "Refresh", arena_text(arena, refresh));
    Buffer *out = page_begin(request, &frame);
    leave_page(out, view);
    page_end(request, out);
    return STATUS_OK;
}

/* What is meant, but for what is made here. Each time with a new secret in the cookie, so that of several tabs the last one counts. */
static Status leave_for(WebRequest *request, Journey journey)
{
    Arena *arena = web_arena(request);
    Oidc *oidc = oidc_of(request);
    size_t provider;
    OidcLeave leave = {.back = back_address(request, journey.provider)};
    if (!oidc_find(oidc, journey.provider, &provider))
        return STATUS_NOT_FOUND;
    TRY(people_throttle(request, THROTTLE_LOGIN_ADDRESS));
    leave.secrets = oidc_secrets(oidc, arena);
    Slice browser = journeys_browser(accounts_of(request), arena);
    journey.nonce = leave.secrets.nonce;
    journey.verifier = leave.secrets.verifier;
    TRY(journeys_begin(accounts_of(request), &journey, browser, arena, &leave.state));
    LeaveView view = {.title = oidc_provider(oidc, provider).title};
    TRY(oidc_leave(oidc, provider, &leave, arena, &view.address, web_reason(request)));
    web_set_cookie(request, BROWSER, browser, JOURNEY_S);
    return answer_leave(request, &view);
}

static Status do_log_in(WebRequest *request)
{
    return leave_for(request, (Journey){.provider = web_text(request, 0),
                                        .next = people_next(web_text(request, 1)),
                                        .invitation = web_text(request, 2)});
}

static Status do_connect(WebRequest *request)
{
    return leave_for(request, (Journey){.provider = web_text(request, 0),
                                        .next = SLICE("/my/connections"),
                                        .account = me(request)->id,
                                        .invitation = SLICE_EMPTY});
}

/* ---- Who joins by another site --------------------------------------------------------------------------------------------- */

typedef struct Joining {
    ElsewhereJoiner joiner;
    Slice name; /* for the form */
} Joining;

static void put_text(Buffer *buffer, Slice text)
{
    buffer_u16(buffer, (uint16_t)text.size);
    buffer_bytes(buffer, text);
}

static void keep_joining(WebRequest *request, const Joining *joining)
{
    BUFFER_SCOPE Buffer plain = {0};
    Arena *arena = web_arena(request);
    buffer_i64(&plain, site_now_us(request));
    put_text(&plain, joining->joiner.who.provider);
    put_text(&plain, joining->joiner.who.subject);
    put_text(&plain, joining->joiner.who.label);
    put_text(&plain, joining->name);
    put_text(&plain, joining->joiner.verified);
    put_text(&plain, joining->joiner.invitation);
    Slice sealed = vault_seal(site_of(request)->app->vault, JOINING, buffer_slice(&plain), arena);
    web_set_cookie(request, JOINING, base64url_write(sealed, arena), JOINING_S);
}

static bool read_joining(WebRequest *request, Joining *ret_joining)
{
    Arena *arena = web_arena(request);
    Slice text = web_cookie(request, JOINING), sealed, plain;
    if (text.size == 0 || text.size > JOINING_TEXT || !base64url_read(text, arena, &sealed) ||
        vault_unseal(site_of(request)->app->vault, JOINING, sealed, arena, &plain) != STATUS_OK)
        return false;
    Reader reader = reader_of(plain);
    int64_t age_us = site_now_us(request) - reader_i64(&reader);
    ElsewhereJoiner *joiner = &ret_joining->joiner;
    Slice *const texts[] = {&joiner->who.provider, &joiner->who.subject, &joiner->who.label,
                            &ret_joining->name,    &joiner->verified,    &joiner->invitation};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        *texts[i] = reader_bytes(&reader, reader_u16(&reader));
    return reader_done(&reader) && age_us >= 0 && age_us <= JOINING_S * US_PER_S;
}

static Slice title_of(const Oidc *oidc, Slice key)
{
    size_t index;
    return oidc_find(oidc, key, &index) ? oidc_provider(oidc, index).title : key;
}

static Status answer_join(WebRequest *request, const Joining *joining, PersonForm *form)
{
    Frame frame = {.title = SLICE("Join"), .is_narrow = true};
    form->csrf = site_form_token(request);
    form->provider = title_of(oidc_of(request), joining->joiner.who.provider);
    form->invitation = joining->joiner.invitation;
    if (form->fault.is_set)
        web_code(request, 422);
    web_private(request);
    Buffer *out = page_begin(request, &frame);
    register_with_page(out, form);
    page_end(request, out);
    return STATUS_OK;
}

static Status show_join(WebRequest *request)
{
    Joining joining;
    if (!read_joining(request, &joining)) {
        web_redirect(request, 303, SLICE("/register"));
        return STATUS_OK;
    }
    PersonForm form = {.name = joining.name, .email = joining.joiner.who.label};
    if (joining.joiner.invitation.size > 0) {
        Invitation invitation;
        TRY(invitations_peek(accounts_of(request), joining.joiner.invitation, web_arena(request),
                             &invitation, web_reason(request)));
        form.email = invitation.email;
    }
    return answer_join(request, &joining, &form);
}

static Status do_join(WebRequest *request)
{
    Joining joining;
    if (!read_joining(request, &joining)) {
        web_redirect(request, 303, SLICE("/register"));
        return STATUS_OK;
    }
    Status status = people_register_with(request, &joining.joiner);
    if (form_can_be_corrected(status)) {
        PersonForm form = {.name = web_text(request, 0), .email = web_text(request, 1)};
        form.fault = people_faults(request, &form, NULL);
        return answer_join(request, &joining, &form);
    }
    TRY(status);
    web_set_cookie(request, JOINING, SLICE_EMPTY, WEB_COOKIE_GONE);
    web_redirect(request, 303, SLICE("/register/sent"));
    return STATUS_OK;
}

/* ---- And back ---------------------------------------------------------------------------------------------------------------- */

/* A name that could be one here, for the form. */
static Slice name_for_form(const OidcPerson *person, Arena *arena)
{
    Slice folded;
    return account_fold_name(person->name, arena, &folded, NULL) == STATUS_OK ? person->name
                                                                              : SLICE_EMPTY;
}

static Status come_in_or_join(WebRequest *request, const Journey *journey, const OidcPerson *person)
{
    Account account;
    SessionOrigin origin = people_origin(request);
    Arena *arena = web_arena(request);
    Status status =
        elsewhere_find(accounts_of(request), journey->provider, person->subject, arena, &account);
    if (status == STATUS_NOT_FOUND) {
        Joining joining = {{{journey->provider, person->subject, person->email},
                            person->verified,
                            journey->invitation},
                           name_for_form(person, arena)};
        keep_joining(request, &joining);
        web_redirect(request, 303, SLICE("/register/with"));
        return STATUS_OK;
    }
    TRY(status);
    if (!account_may(&account, RIGHT_LOG_IN))
        return STATUS_DENIED;
    return people_come_in(request, &account, &origin, people_next(journey->next));
}

/* Only for who began it: the session must still be of that account. */
static Status add_connection(WebRequest *request, const Journey *journey, const OidcPerson *person)
{
    NewConnection wanted = {journey->provider, person->subject,
                            person->email.size > 0 ? person->email : person->name};
    const Viewer *viewer = site_viewer(request);
    if (!viewer->known || viewer->account.id != journey->account)
        return reason_set(web_reason(request), STATUS_REFUSED, "",
                          "you are not logged in any more as who began this; log in and begin "
                          "again");
    TRY(elsewhere_add(accounts_of(request), journey->account, &wanted, web_reason(request)));
    site_done(request, SLICE("/my/connections"), "connected", 0);
    return STATUS_OK;
}

enum { BACK_PROVIDER, BACK_STATE, BACK_CODE, BACK_ERROR };

/* The state is used up first, whatever the provider says. */
static Status come_back(WebRequest *request)
{
    Journey journey;
    OidcPerson person;
    size_t provider;
    Reason *reason = web_reason(request);
    Slice key = web_text(request, BACK_PROVIDER), browser = web_cookie(request, BROWSER);
    if (!oidc_find(oidc_of(request), key, &provider))
        return STATUS_NOT_FOUND;
    TRY(journeys_end(accounts_of(request), web_text(request, BACK_STATE), browser,
                     web_arena(request), &journey, reason));
    web_set_cookie(request, BROWSER, SLICE_EMPTY, WEB_COOKIE_GONE);
    if (!slice_equal(journey.provider, key))
        return reason_set(reason, STATUS_REFUSED, "state", "this log-in was begun elsewhere");
    if (web_text(request, BACK_CODE).size == 0)
        return reason_set(reason, STATUS_REFUSED, "", "%.*s did not let you in; try again",
                          SLICE_ARG(oidc_provider(oidc_of(request), provider).title));
    OidcReturn back = {.code = web_text(request, BACK_CODE),
                       .secrets = {journey.nonce, journey.verifier},
                       .back = back_address(request, key)};
    TRY(oidc_return(oidc_of(request), provider, &back, web_arena(request), &person, reason));
    return journey.account != 0 ? add_connection(request, &journey, &person)
                                : come_in_or_join(request, &journey, &person);
}

/* ---- Mine ------------------------------------------------------------------------------------------------------------------------ */

Status connections_view(WebRequest *request, ConnectionsView *ret_view)
{
    Connection *connections;
    Arena *arena = web_arena(request);
    TRY(elsewhere_list(accounts_of(request), me(request)->id, arena, &connections,
                       &ret_view->count));
    ret_view->connections = ARENA_ARRAY(arena, ret_view->count, MyConnection);
    for (size_t i = 0; i < ret_view->count; i++)
        ret_view->connections[i] =
            (MyConnection){connections[i], title_of(oidc_of(request), connections[i].provider)};
    ret_view->has_password = me(request)->password_hash.size > 0;
    return STATUS_OK;
}

Status connections_disconnect(WebRequest *request)
{
    Id id;
    if (id_from_text(web_text(request, 0), &id) != STATUS_OK)
        return STATUS_NOT_FOUND;
    return elsewhere_end(accounts_of(request), me(request)->id, id, web_reason(request));
}

static Status answer_connections(WebRequest *request, ConnectionsView *view)
{
    Frame frame = {.title = SLICE("Log-ins at other sites")};
    TRY(connections_view(request, view));
    view->oidc = oidc_of(request);
    view->csrf = site_viewer(request)->csrf;
    view->now_us = site_now_us(request);
    view->arena = web_arena(request);
    if (view->fault.is_set)
        web_code(request, 422);
    Buffer *out = page_begin(request, &frame);
    connections_page(out, view);
    page_end(request, out);
    return STATUS_OK;
}

static Status show_connections(WebRequest *request)
{
    ConnectionsView view = {0};
    return answer_connections(request, &view);
}

static Status do_disconnect(WebRequest *request)
{
    Status status = connections_disconnect(request);
    if (form_can_be_corrected(status)) {
        ConnectionsView view = {.fault = form_fault(web_reason(request))};
        return answer_connections(request, &view);
    }
    TRY(status);
    site_done(request, SLICE("/my/connections"), "disconnected", 0);
    return STATUS_OK;
}

#define PROVIDER_ROW(from)                                                                      \
    {                                                                                           \
        "provider", from, WEB_OPAQUE, .least = 1, .most = OIDC_KEY_MOST,                        \
                                      .help = "The site to log in by, as the settings name it." \
    }

static const WebRoute ROUTES[] = {
    {WEB_POST, "/login/with/{provider}", do_log_in, .threads = WEB_OUTSIDE, .access = WEB_GUEST,
     .whose = WEB_ANYBODYS, .body_bytes = WEB_BODY_DEFAULT,
     .help = "Leads to another site to log in there.",
     .params = {PROVIDER_ROW(WEB_PATH),
                {"next", WEB_FORM, WEB_LINE, .optional = true, .most = NEXT_MOST,
                 .help = "Where to go afterwards."},
                {"invitation", WEB_FORM, WEB_OPAQUE, .optional = true,
                 .most = JOURNEY_INVITATION_BYTES,
                 .help = "Of the link of an invitation, for who joins."}}},
    {WEB_GET, "/login/back/{provider}", come_back, .threads = WEB_OUTSIDE, .access = WEB_GUEST,
     .whose = WEB_ANYBODYS, .help = "Where that site leads back to.",
     .params = {[BACK_PROVIDER] = PROVIDER_ROW(WEB_PATH),
                [BACK_STATE] = {"state", WEB_QUERY, WEB_LINE, .most = FIELD_MOST,
                                .help = "What we sent along."},
                [BACK_CODE] = {"code", WEB_QUERY, WEB_LINE, .optional = true, .most = CODE_MOST,
                               .help = "What it vouches by."},
                [BACK_ERROR] = {"error", WEB_QUERY, WEB_LINE, .optional = true, .most = CODE_MOST,
                                .help = "Why it does not."}}},
    {WEB_GET, "/register/with", show_join, .access = WEB_GUEST,
     .help = "The form to join for who logs in by another site."},
    {WEB_POST, "/register/with", do_join, .access = WEB_GUEST, .body_bytes = WEB_BODY_DEFAULT,
     .help = "Joins; a letter with a link follows.",
     .params = {{"name", WEB_FORM, WEB_LINE, .most = FIELD_MOST,
                 .help = "The name to be known by."},
                {"email", WEB_FORM, WEB_LINE, .most = FIELD_MOST, .help = "Where letters go."}}},
    {WEB_GET, "/my/connections", show_connections, .access = WEB_LOGIN,
     .help = "Which other sites I can log in by."},
    {WEB_POST, "/my/connections", do_connect, .threads = WEB_OUTSIDE, .access = WEB_LOGIN,
     .body_bytes = WEB_BODY_DEFAULT, .help = "Leads to another site to connect it.",
     .params = {PROVIDER_ROW(WEB_FORM)}},
    {WEB_POST, "/my/connections/{connection}", do_disconnect, .access = WEB_LOGIN, .whose = WEB_OWN,
     .body_bytes = WEB_BODY_DEFAULT, .help = "Ends a connection.",
     .params = {{"connection", WEB_PATH, WEB_OPAQUE, .least = 1, .most = 64,
                 .help = "Which one."}}},
};
const Room ROOM_CONNECTIONS = ROOM(ROUTES);
