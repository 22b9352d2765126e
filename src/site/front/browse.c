/* browse.c -- the page of all policies: by name, by date, by votes; of a category or party; those whose name begins with something. */
#include "site/pages.h"
#include "site/views.h"

static const Slice TEXTS[] = {
#define X(name, word, text) {text, sizeof text - 1},
    BROWSE_ORDER_LIST(X)
#undef X
};

static Slice page_address(const BrowseQuery *want, BrowseOrder order, int64_t offset, Arena *arena)
{
    Slice query = browse_address(want, order, SLICE_EMPTY, offset, arena);
    return arena_print(arena, "/policies%.*s", SLICE_ARG(query));
}

static Chooser orders_of(const BrowseQuery *want, Arena *arena)
{
    Chooser chooser = {.label = "Order",
                       .choices = ARENA_ARRAY(arena, BROWSE_ORDERS, Choice),
                       .count = BROWSE_ORDERS};
    for (size_t i = 0; i < BROWSE_ORDERS; i++)
        chooser.choices[i] = (Choice){TEXTS[i], page_address(want, (BrowseOrder)i, 0, arena),
                                      (BrowseOrder)i == want->order};
    return chooser;
}

/* ---- The page ----------------------------------------------------------------------------------------------------------------- */

enum { ORDER, CATEGORY, PARTY, NAME, FROM, OFFSET };

static Status show_policies(WebRequest *request)
{
    Arena *arena = web_arena(request);
    BrowseQuery want = {.order = (unsigned)web_word(request, ORDER),
                        .category = web_id(request, CATEGORY),
                        .party = web_id(request, PARTY),
                        .name = slice_trim(web_text(request, NAME)),
                        .position = web_text(request, FROM),
                        .offset = web_number(request, OFFSET)};
    Site *site = site_of(request);
    Policies *policies = site->app->policies;
    BrowseView view = {.now_us = site_now_us(request),
                       .pager = {.before = SLICE_EMPTY, .after = SLICE_EMPTY}};
    Status status = browse_list(site->ops, &want, arena, &view.list, web_reason(request));
    if (status == STATUS_INVALID && strcmp(web_reason(request)->field, "party") == 0) {
        view.fault = form_fault(web_reason(request));
        want.party = 0;
        status = browse_list(site->ops, &want, arena, &view.list, web_reason(request));
        view.list.want.party = web_id(request, PARTY);
        web_code(request, status_http(STATUS_REFUSED));
    }
    TRY(status);
    const BrowseList *list = &view.list;
    view.orders = orders_of(&list->want, arena);
    TRY(policies_groups(policies, GROUP_CATEGORY, arena, &view.categories, &view.category_count));
    TRY(policies_groups(policies, GROUP_PARTY, arena, &view.parties, &view.party_count));
    if (list->want.position.size > 0 || list->want.offset > 0)
        view.pager.before = page_address(
            &list->want, list->want.order,
            list->want.offset > BROWSE_ROWS ? list->want.offset - BROWSE_ROWS : 0, arena);
    if (list->next.size > 0)
        view.pager.after = arena_print(arena, "/policies%.*s", SLICE_ARG(list->next));
    PolicySummaryPage page = {.summaries = list->summaries, .count = list->count};
    site_mark_mine(request, &page);
    Frame frame = {.title = SLICE("All policies"),
                   .description = SLICE("Browse all policies by name, by date and by votes."),
                   .address =
                       view.fault.is_set || want.name.size > 0 ? SLICE_EMPTY : SLICE("/policies"),
                   .here = "/policies"};
    Buffer *out = page_begin(request, &frame);
    browse_page(out, &view);
    page_end(request, out);
    return STATUS_OK;
}

static const WebRoute ROUTES[] = {
    {WEB_GET, "/policies", show_policies, .shows = "policy_browse", .cache_ms = 5000,
     .help = "All policies: by name, newest first, or by votes.",
     .params = {[ORDER] = {"order", WEB_QUERY, WEB_WORD, .words = BROWSE_WORDS, .fallback = "date",
                           .help = "The order; with `name` always by name."},
                [CATEGORY] = {"category", WEB_QUERY, WEB_ID, .optional = true,
                              .help = "Only this category."},
                [PARTY] = {"party", WEB_QUERY, WEB_ID, .optional = true,
                           .help = "Only this party."},
                [NAME] = {"name", WEB_QUERY, WEB_LINE, .optional = true, .least = 0,
                          .most = POLICY_NAME_MAX, .help = "How the name begins."},
                [FROM] = {"from", WEB_QUERY, WEB_OPAQUE, .optional = true, .least = 1,
                          .most = BROWSE_POSITION_MAX, .help = "Where the last page ended."},
                [OFFSET] = {"offset", WEB_QUERY, WEB_NUMBER, .least = 0, .most = RANKING_OFFSET_MAX,
                            .fallback = "0", .help = "By votes: how many places to skip."}}},
};
ROUTE_TABLE(BROWSE, ROUTES);
