/* browse.c -- all policies: by name, by date, by votes; of a category or party; those whose name begins with something.
 *
 * Lists by name and date come from the index, page by page, with a position that an address can carry. Where a filter is not
 * an index of its own (newest of a category), entries are read and left out, at most BROWSE_ROUNDS pages for one answer; "Next"
 * goes on from there. */
#include <sodium.h>

#include "site/pages.h"
#include "site/views.h"

enum { BROWSE_ROUNDS = 20 };

const char *const BROWSE_WORDS[] = WORDS(BROWSE_ORDER_LIST, WORD_2);

static const Slice TEXTS[] = {
#define X(name, word, text) {text, sizeof text - 1},
    BROWSE_ORDER_LIST(X)
#undef X
};

/* ---- Positions in addresses --------------------------------------------------------------------------------------------- */

static Slice position_letters(Slice position, Arena *arena)
{
    size_t room =
        sodium_base64_encoded_len(position.size, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    char *text = arena_bytes(arena, room);
    sodium_bin2base64(text, room, (const unsigned char *)position.data, position.size,
                      sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    return slice_from(text);
}

static Status position_bytes(Slice letters, Arena *arena, Slice *ret_position)
{
    char *bytes = arena_bytes(arena, letters.size);
    size_t size;
    if (sodium_base642bin((unsigned char *)bytes, letters.size, letters.data, letters.size, NULL,
                          &size, NULL, sodium_base64_VARIANT_URLSAFE_NO_PADDING) != 0)
        return STATUS_INVALID;
    *ret_position = slice_of(bytes, size);
    return STATUS_OK;
}

/* ---- Addresses ----------------------------------------------------------------------------------------------------------- */

static void add_id(Buffer *address, const char *name, uint64_t id)
{
    if (id != 0)
        buffer_print(address, "&%s=%llu", name, (unsigned long long)id);
}

/* The same list with another order, or further down. */
static Slice address_of(const BrowseQuery *want, BrowseOrder order, Slice position, uint64_t offset,
                        Arena *arena)
{
    BUFFER_SCOPE Buffer address = {0};
    buffer_print(&address, "/policies?order=%s", BROWSE_WORDS[order]);
    add_id(&address, "category", want->category);
    add_id(&address, "party", want->party);
    if (want->name.size > 0 && order == BROWSE_BY_NAME) {
        buffer_text(&address, "&name=");
        url_part_put(&address, want->name);
    }
    if (position.size > 0)
        buffer_print(&address, "&from=%.*s", SLICE_ARG(position));
    add_id(&address, "offset", offset);
    return arena_copy(arena, buffer_slice(&address));
}

static Chooser orders_of(const BrowseQuery *want, Arena *arena)
{
    Chooser chooser = {.label = "Order",
                       .choices = ARENA_ARRAY(arena, BROWSE_ORDERS, Choice),
                       .count = BROWSE_ORDERS};
    for (size_t i = 0; i < BROWSE_ORDERS; i++)
        chooser.choices[i] =
            (Choice){TEXTS[i], address_of(want, (BrowseOrder)i, SLICE_EMPTY, 0, arena),
                     (BrowseOrder)i == want->order};
    return chooser;
}

/* ---- Lists ------------------------------------------------------------------------------------------------------------------ */

static PolicyQuery query_of(const BrowseQuery *want)
{
    PolicyQuery query = {.order = POLICIES_BY_NAME, .prefix = want->name};
    if (want->order == BROWSE_BY_DATE) {
        query.order = POLICIES_BY_DATE;
    } else if (want->category != 0) {
        query.order = POLICIES_BY_CATEGORY;
        query.group = want->category;
    } else if (want->party != 0) {
        query.order = POLICIES_BY_PARTY;
        query.group = want->party;
    }
    return query;
}

static bool fits(const BrowseQuery *want, const PolicyText *text)
{
    return (want->category == 0 || want->category == text->category) &&
           (want->party == 0 || want->party == text->party);
}

static Status add_summary(Site *site, uint64_t id, Arena *arena, BrowseView *view)
{
    PolicySummary *summary = &view->summaries[view->count];
    RankPlace place;
    Status status = policy_summary_get(site->summaries, id, arena, summary);
    if (status == STATUS_NOT_FOUND) /* gone since it was listed */
        return STATUS_OK;
    TRY(status);
    if (ranking_place(site->app->ranking, &(RankQuery){0}, id, &place) == STATUS_OK) {
        summary->rank = place.self.rank;
        summary->votes = summary->total = place.self.total;
    }
    view->count++;
    return STATUS_OK;
}

/* Asks for as many as are missing, so that the position is always that of the last one shown. */
static Status from_index(Site *site, Arena *arena, BrowseView *view)
{
    const BrowseQuery *want = &view->want;
    PolicyQuery query = query_of(want);
    TRY(position_bytes(want->position, arena, &query.position));
    view->summaries = ARENA_ARRAY(arena, BROWSE_ROWS, PolicySummary);
    view->more = true;
    for (int round = 0; round < BROWSE_ROUNDS && view->more && view->count < BROWSE_ROWS; round++) {
        PolicyPage page;
        query.limit = (uint32_t)(BROWSE_ROWS - view->count);
        TRY(policies_browse(site->app->policies, &query, arena, &page));
        for (size_t i = 0; i < page.count; i++)
            if (fits(want, &page.policies[i].text))
                TRY(add_summary(site, page.policies[i].id, arena, view));
        query.position = page.position;
        view->more = page.more;
    }
    view->position = position_letters(query.position, arena);
    if (want->position.size > 0)
        view->pager.before = address_of(want, want->order, SLICE_EMPTY, 0, arena);
    if (view->more)
        view->pager.after = address_of(want, want->order, view->position, 0, arena);
    return STATUS_OK;
}

static Status from_ranking(Site *site, Arena *arena, BrowseView *view)
{
    const BrowseQuery *want = &view->want;
    RankQuery query = {.category = want->category, .party = want->category != 0 ? 0 : want->party};
    uint64_t before = want->offset > BROWSE_ROWS ? want->offset - BROWSE_ROWS : 0;
    PolicySummaryPage page;
    TRY(policy_summaries_ranking(site->summaries, &query, want->offset, BROWSE_ROWS, arena, &page));
    view->summaries = page.summaries;
    view->count = page.count;
    view->more = want->offset + BROWSE_ROWS < page.policies;
    if (want->category != 0 && want->party != 0)
        view->fault = (FormFault){true, SLICE("party"),
                                  SLICE("By votes, choose a category or a party, not both"), NULL};
    if (want->offset > 0)
        view->pager.before = address_of(want, BROWSE_BY_RANK, SLICE_EMPTY, before, arena);
    if (view->more)
        view->pager.after =
            address_of(want, BROWSE_BY_RANK, SLICE_EMPTY, want->offset + BROWSE_ROWS, arena);
    return STATUS_OK;
}

Status browse_view(Site *site, const BrowseQuery *want, Arena *arena, BrowseView *ret_view)
{
    Policies *policies = site->app->policies;
    BrowseView view = {.now_us = clock_now_us(site->app->world.clock),
                       .want = *want,
                       .position = SLICE_EMPTY,
                       .pager = {.before = SLICE_EMPTY, .after = SLICE_EMPTY}};
    if (want->name.size > 0)
        view.want.order = BROWSE_BY_NAME;
    view.orders = orders_of(&view.want, arena);
    TRY(policies_groups(policies, GROUP_CATEGORY, arena, &view.categories, &view.category_count));
    TRY(policies_groups(policies, GROUP_PARTY, arena, &view.parties, &view.party_count));
    TRY(view.want.order == BROWSE_BY_RANK ? from_ranking(site, arena, &view)
                                          : from_index(site, arena, &view));
    *ret_view = view;
    return STATUS_OK;
}

/* ---- The page ----------------------------------------------------------------------------------------------------------------- */

enum { ORDER, CATEGORY, PARTY, NAME, FROM, OFFSET };

static Status show_policies(WebRequest *request)
{
    Arena *arena = web_arena(request);
    BrowseQuery want = {.order = (BrowseOrder)web_word(request, ORDER),
                        .category = web_id(request, CATEGORY),
                        .party = web_id(request, PARTY),
                        .name = slice_trim(web_text(request, NAME)),
                        .position = web_text(request, FROM),
                        .offset = (uint64_t)web_number(request, OFFSET)};
    BrowseView view;
    Status status = browse_view(site_of(request), &want, arena, &view);
    if (status == STATUS_INVALID)
        return reason_set(web_reason(request), status, "from", "is not a place that a page gave");
    TRY(status);
    if (view.fault.is_set)
        web_code(request, status_http(STATUS_REFUSED));
    PolicySummaryPage page = {.summaries = view.summaries, .count = view.count};
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
    {WEB_GET, "/policies", show_policies, .cache_ms = 5000,
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
