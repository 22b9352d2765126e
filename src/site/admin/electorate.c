/* electorate.c -- /admin/electorate: who may join; the rule, invitations one by one or by a list, the roll. */
#include "site/admin/admin.h"
#include "site/pages.h"

/* The rule's form begins with what stands, also again when somebody else changed that. */
static void begin_rule(ElectoratePage *page, Arena *arena)
{
    BUFFER_SCOPE Buffer domains = {0};
    const ElectorateView *view = &page->electorate;
    for (size_t i = 0; i < view->domain_count; i++)
        buffer_print(&domains, "%s%.*s", i > 0 ? "\n" : "", SLICE_ARG(view->domains[i]));
    form_type(&page->rule, "mode", slice_from(electorate_mode_text(view->mode)));
    form_type(&page->rule, "domains", arena_copy(arena, buffer_slice(&domains)));
    form_type(&page->rule, "version",
              arena_print(arena, "%llu", (unsigned long long)view->version));
}

static Status fill_at(WebRequest *request, Slice position, ElectoratePage *page, Frame *frame)
{
    Operations *ops = site_of(request)->ops;
    Arena *arena = web_arena(request);
    InvitationsQuery want = {.position = position};
    *frame = (Frame){.title = SLICE("Who may join"), .here = "/admin"};
    page->now_us = site_now_us(request);
    page->can_mail = mail_can_send(ops->app->mail);
    TRY(electorate_view(ops, arena, &page->electorate));
    TRY(invitations_view(ops, &want, arena, &page->invitations));
    page->rule = form_beside(&page->form, &OPERATION_electorate_rule);
    page->invite = form_beside(&page->form, &OPERATION_invite);
    page->invites = form_beside(&page->form, &OPERATION_invite_import);
    page->roll = form_beside(&page->form, &OPERATION_roll_import);
    if (!page->rule.is_sent || page->rule.status == STATUS_CONFLICT)
        begin_rule(page, arena);
    return STATUS_OK;
}

static Status fill(WebRequest *request, void *view, Frame *frame)
{
    return fill_at(request, SLICE_EMPTY, view, frame);
}

static void draw(Buffer *out, const void *view)
{
    admin_electorate_page(out, view);
}

static Slice back(WebRequest *request, const void *sent, const void *answer)
{
    (void)request, (void)sent, (void)answer;
    return SLICE("/admin/electorate");
}

enum { P_POSITION };

static Status show(WebRequest *request)
{
    ElectoratePage *page = ARENA_NEW(web_arena(request), ElectoratePage);
    Frame frame;
    page->form = form_begin(request, &OPERATION_electorate_rule);
    TRY(fill_at(request, web_text(request, P_POSITION), page, &frame));
    Buffer *out = page_begin(request, &frame);
    admin_electorate_page(out, page);
    page_end(request, out);
    return STATUS_OK;
}

/* clang-format off */
static const WebRoute ROUTES[] = {
    {WEB_GET, "/admin/electorate", show, .shows = "invite_list", ADMIN_ROW(ADMIN_ROLES), .threads = WEB_SAVE,
     .help = "Who may join, invitations, the roll.",
     .params = {[P_POSITION] = {"position", WEB_QUERY, WEB_OPAQUE, .fallback = "", .most = 64, .help = "Where the list of invitations goes on."}}},
};
/* clang-format on */
ROUTE_TABLE(ADMIN_ELECTORATE, ROUTES);

FORM(electorate_rule, ElectoratePage, .fill = fill, .draw = draw, .leads = back);
FORM(invite, ElectoratePage, .fill = fill, .draw = draw, .shows_answer = true);
FORM(invite_import, ElectoratePage, .fill = fill, .draw = draw, .shows_answer = true);
FORM(invite_withdraw, ElectoratePage, .fill = fill, .draw = draw, .leads = back);
FORM(roll_import, ElectoratePage, .fill = fill, .draw = draw, .shows_answer = true);
