/* login.c -- the pages to log in, with the second factor and with other sites, and for a forgotten password. */
#include "access/credentials.h"
#include "operations/linked_log_in.h"
#include "site/account/people.h"
#include "site/pages.h"

/* ---- Logging in ------------------------------------------------------------------------------------------------------------------ */

/* Whoever is logged in already is led on. */
static Status fill_login(WebRequest *request, void *view, Frame *frame)
{
    OwnForm *page = view;
    const Site *site = site_of(request);
    page->next = log_in_next(form_typed(&page->form, "next"));
    page->gone = web_field(request, WEB_QUERY, "gone").size > 0;
    page->oidc = site->app->oidc;
    page->is_demo = site->options.is_demo;
    if (site_viewer(request)->known) {
        web_redirect(request, 303, page->next);
        frame->title = SLICE_EMPTY;
        return STATUS_OK;
    }
    form_type(&page->form, "next", page->next);
    frame->address = SLICE("/login");
    return STATUS_OK;
}

static Slice to_next(WebRequest *request, const void *sent, const void *answer)
{
    (void)request, (void)sent;
    return ((const LoggedIn *)answer)->next;
}

FORM(log_in, OwnForm, .path = "/login", .title = "Log in", .fill = fill_login, .draw = login_page,
     .leads = to_next, .help = "The form to log in.");

FORM(log_out, BareForm, .to = "/");

/* ---- The second factor ------------------------------------------------------------------------------------------------------------ */

static Status fill_code(WebRequest *request, void *view, Frame *frame)
{
    OwnForm *page = view;
    Account account;
    bool remember;
    Reason reason;
    Status status = log_in_half(site_of(request)->ops, site_actor(request), web_arena(request),
                                &account, &remember, &reason);
    if (status == STATUS_REFUSED) {
        web_redirect(request, 303, SLICE("/login"));
        frame->title = SLICE_EMPTY;
        return STATUS_OK;
    }
    TRY(status);
    form_type(&page->form, "next", log_in_next(form_typed(&page->form, "next")));
    form_type(&page->form, "code", SLICE_EMPTY);
    web_private(request);
    return STATUS_OK;
}

FORM(log_in_code, OwnForm, .path = "/login/code", .title = "Your second factor", .fill = fill_code,
     .draw = login_code_page, .leads = to_next,
     .help = "The form that asks for the second factor, after the password.");

/* ---- By another site --------------------------------------------------------------------------------------------------------------- */

/* The browser is not redirected by the answer to a form, which our own rules for forms would forbid (CSP form-action), but led on by a
 * page. */
Status people_fill_leave(WebRequest *request, void *view, Frame *frame)
{
    const Form *form = view;
    const LinkedLeave *leave = form->answer;
    Arena *arena = web_arena(request);
    if (leave == NULL)
        return form->status;
    frame->title = arena_print(arena, "On to %.*s", SLICE_ARG(leave->title));
    Slice refresh = arena_print(arena, "0;url=%.*s", SLICE_ARG(leave->address));
    web_private(request);
    web_header(request, "Refresh", arena_text(arena, refresh));
    return STATUS_OK;
}

FORM(linked_log_in, BareForm, .fill = people_fill_leave, .draw = leave_page, .shows_answer = true);

enum { BACK_PROVIDER, BACK_STATE, BACK_CODE };

static Status come_back(WebRequest *request)
{
    LinkedReturn back = {.provider = web_text(request, BACK_PROVIDER),
                         .state = web_text(request, BACK_STATE),
                         .code = web_text(request, BACK_CODE)};
    LoggedIn in = {0};
    TRY(linked_return(site_of(request)->ops, site_actor(request), &back, web_arena(request), &in,
                      web_reason(request)));
    site_set_cookies(request, &in.cookies);
    web_redirect(request, 303, in.next);
    return STATUS_OK;
}

/* ---- A forgotten password -------------------------------------------------------------------------------------------------- */

FORM(password_forgotten, OwnForm, .path = "/forgotten", .title = "Forgotten your password?",
     .draw = forgotten_page, .to = "/forgotten/sent", .help = "The form for a forgotten password.");

static Status show_forgotten_sent(WebRequest *request)
{
    Frame frame = {.title = SLICE("Check your e-mail"), .is_narrow = true};
    Buffer *out = page_begin(request, &frame);
    forgotten_sent_page(out, site_of(request)->options.is_demo);
    page_end(request, out);
    return STATUS_OK;
}

static Status fill_reset(WebRequest *request, void *view, Frame *frame)
{
    (void)frame;
    Link link;
    Form *form = view;
    Status status =
        links_peek(site_of(request)->app->accounts, LINK_RESET, form_typed(form, "token"),
                   web_arena(request), &link, web_reason(request));
    if (status == STATUS_NOT_FOUND)
        return reason_set(web_reason(request), status, "",
                          "this link is not known, or a newer e-mail was sent");
    TRY(status);
    web_private(request);
    return STATUS_OK;
}

FORM(password_reset, OwnForm, .path = "/reset", .title = "Choose a new password",
     .fill = fill_reset, .draw = reset_page, .to = "/login", .help = "The form behind the link.");

enum { FIELD_MAX = 1000, CODE_MAX = 2000 };

static const WebRoute ROUTES[] = {
    {WEB_GET, "/forgotten/sent", show_forgotten_sent, .access = WEB_GUEST,
     .help = "Says that an e-mail is on its way."},
    {WEB_GET, "/login/back/{provider}", come_back, .threads = WEB_OUTSIDE, .access = WEB_GUEST,
     .whose = WEB_ANYBODYS, .help = "Where another site leads back to.",
     .params = {[BACK_PROVIDER] = {"provider", WEB_PATH, WEB_OPAQUE, .least = 1,
                                   .most = OIDC_KEY_MAX, .help = "That site."},
                [BACK_STATE] = {"state", WEB_QUERY, WEB_LINE, .most = FIELD_MAX,
                                .help = "What we sent along."},
                [BACK_CODE] = {"code", WEB_QUERY, WEB_LINE, .optional = true, .most = CODE_MAX,
                               .help = "What it vouches by; without it, it does not."}}},
};
ROUTE_TABLE(LOGIN, ROUTES);
