/* parties.c -- parties: adding, editing, disabling. A disabled one stays on its policies and takes no new ones. */
#include "site/admin/admin.h"
#include "site/pages.h"

static Status answer(WebRequest *request, PartiesView *view, int code)
{
    Frame frame = {.title = SLICE("Parties"), .here = "/admin"};
    TRY(policies_groups(site_of(request)->app->policies, GROUP_PARTY, web_arena(request),
                        &view->parties, &view->count));
    view->viewer = site_viewer(request);
    web_code(request, code);
    Buffer *out = page_begin(request, &frame);
    admin_parties_page(out, view);
    page_end(request, out);
    return STATUS_OK;
}

static Status show_parties(WebRequest *request)
{
    PartiesView view = {.typed = {.name = SLICE_EMPTY, .description = SLICE_EMPTY, .active = true},
                        .reason = SLICE_EMPTY};
    return answer(request, &view, 200);
}

/* Rows: 0 which (0: a new one), 1 name, 2 description, 3 active, 4 reason; for the page and for programs. */
static Status set_party(WebRequest *request, uint64_t *ret_id)
{
    Group group = {.id = (uint64_t)web_number(request, 0),
                   .name = slice_trim(web_text(request, 1)),
                   .description = slice_trim(web_text(request, 2)),
                   .active = web_switch(request, 3)};
    Slice details = arena_print(web_arena(request), "%.*s; %s",
                                (int)(group.name.size < 400 ? group.name.size : 400),
                                group.name.data, group.active ? "active" : "disabled");
    Id act;
    TRY(site_act(request,
                 &(Act){.kind = ACT_PARTY_SET,
                        .object = group.id,
                        .reason = slice_trim(web_text(request, 4)),
                        .details = details},
                 &act));
    Status status = policies_set_group(site_of(request)->app->policies, GROUP_PARTY, &group, ret_id,
                                       web_reason(request));
    site_act_end(request, act, status);
    return status;
}

static Status take_party(WebRequest *request)
{
    uint64_t id;
    Status status = set_party(request, &id);
    if (form_can_be_corrected(status)) {
        PartiesView view = {.typed = {.id = (uint64_t)web_number(request, 0),
                                      .name = web_text(request, 1),
                                      .description = web_text(request, 2),
                                      .active = web_switch(request, 3)},
                            .reason = web_text(request, 4),
                            .fault = form_fault(web_reason(request))};
        return answer(request, &view, 422);
    }
    TRY(status);
    site_done(request, SLICE("/admin/parties"), "party", 0);
    return STATUS_OK;
}

Status admin_set_party(WebRequest *request)
{
    uint64_t id;
    return set_party(request, &id);
}

static const WebRoute ROUTES[] = {
    {WEB_GET, "/admin/parties", show_parties, ADMIN_ROW(ADMIN_ROLES),
     .help = "All parties, with forms to change them and to add one."},
    {WEB_POST, "/admin/parties", take_party, ADMIN_ROW(ADMIN_ROLES), .body_bytes = WEB_BODY_DEFAULT,
     .help = "Adds, changes, disables or enables a party.",
     .params = {{"id", WEB_FORM, WEB_NUMBER, .fallback = "0", .most = INT64_MAX,
                 .help = "Which; 0: a new one."},
                {"name", WEB_FORM, WEB_LINE, .fallback = "", .most = 1000, .help = "Its name."},
                {"description", WEB_FORM, WEB_TEXT, .fallback = "", .most = 20000,
                 .help = "Who they are."},
                {"active", WEB_FORM, WEB_SWITCH, .fallback = "off",
                 .help = "Whether it takes new policies."},
                REASON_ROW(WEB_FORM)}},
};
const Room ROOM_ADMIN_PARTIES = ROOM(ROUTES);
