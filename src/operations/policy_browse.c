/* policy_browse.c -- see policy_browse.h.
 *
 * Lists by name and date come from the index, page by page, with a position that an address can carry. Where a filter is not
 * an index of its own (newest of a category), entries are read and left out, at most BROWSE_ROUNDS pages for one answer; "Next"
 * goes on from there. */
#include "operations/policy_browse.h"

#include <sodium.h>

#include "operations/rankings.h"
#include "operations/schema_macros.h"
#include "web/put.h"

enum { BROWSE_ROUNDS = 20 };

const char *const BROWSE_WORDS[] = WORDS(BROWSE_ORDER_LIST, WORD_2);

/* clang-format off */
static const ApiMember POLICIES[] = {
    LIST("policies", BrowseList, summaries, count, CARD, .help = "In the order asked for."),
    NEXT(BrowseList),
};
SCHEMA(POLICIES, "Policies", BrowseList, POLICIES, .help = "A page of all policies.");
/* clang-format on */

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
Slice browse_address(const BrowseQuery *want, BrowseOrder order, Slice position, int64_t offset,
                     Arena *arena)
{
    BUFFER_SCOPE Buffer address = {0};
    buffer_print(&address, "?order=%s", BROWSE_WORDS[order]);
    add_id(&address, "category", want->category);
    add_id(&address, "party", want->party);
    if (want->name.size > 0 && order == BROWSE_BY_NAME) {
        buffer_text(&address, "&name=");
        url_part_put(&address, want->name);
    }
    if (position.size > 0)
        buffer_print(&address, "&from=%.*s", SLICE_ARG(position));
    add_id(&address, "offset", (uint64_t)offset);
    return arena_copy(arena, buffer_slice(&address));
}

/* ---- Lists ------------------------------------------------------------------------------------------------------------------ */

static bool fits(const BrowseQuery *want, const PolicyText *text)
{
    return (want->category == 0 || want->category == text->category) &&
           (want->party == 0 || want->party == text->party);
}

static Status add_summary(Operations *ops, uint64_t id, Arena *arena, BrowseList *list)
{
    PolicySummary *summary = &list->summaries[list->count];
    RankPlace place;
    Status status = policy_summary_get(ops->summaries, id, arena, summary);
    if (status == STATUS_NOT_FOUND) /* gone since it was listed */
        return STATUS_OK;
    TRY(status);
    if (ranking_place(ops->app->ranking, &(RankQuery){0}, id, &place) == STATUS_OK) {
        summary->rank = place.self.rank;
        summary->votes = summary->total = place.self.total;
    }
    list->count++;
    return STATUS_OK;
}

/* Asks for as many as are missing, so that the position is always that of the last one shown. */
static Status from_index(Operations *ops, Arena *arena, BrowseList *list)
{
    const BrowseQuery *want = &list->want;
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
    TRY(position_bytes(want->position, arena, &query.position));
    list->summaries = ARENA_ARRAY(arena, BROWSE_ROWS, PolicySummary);
    bool more = true;
    for (int round = 0; round < BROWSE_ROUNDS && more && list->count < BROWSE_ROWS; round++) {
        PolicyPage page;
        query.limit = (uint32_t)(BROWSE_ROWS - list->count);
        TRY(policies_browse(ops->app->policies, &query, arena, &page));
        for (size_t i = 0; i < page.count; i++)
            if (fits(want, &page.policies[i].text))
                TRY(add_summary(ops, page.policies[i].id, arena, list));
        query.position = page.position;
        more = page.more;
    }
    if (more)
        list->next =
            browse_address(want, want->order, position_letters(query.position, arena), 0, arena);
    return STATUS_OK;
}

static Status from_ranking(Operations *ops, Arena *arena, BrowseList *list, Reason *reason)
{
    const BrowseQuery *want = &list->want;
    RankQuery query = {.category = want->category, .party = want->party};
    PolicySummaryPage page;
    if (want->category != 0 && want->party != 0)
        return reason_set(reason, STATUS_INVALID, "party",
                          "By votes, choose a category or a party, not both");
    TRY(policy_summaries_ranking(ops->summaries, &query, (uint64_t)want->offset, BROWSE_ROWS, arena,
                                 &page));
    list->summaries = page.summaries;
    list->count = page.count;
    if ((uint64_t)want->offset + BROWSE_ROWS < page.policies)
        list->next =
            browse_address(want, BROWSE_BY_RANK, SLICE_EMPTY, want->offset + BROWSE_ROWS, arena);
    return STATUS_OK;
}

Status browse_list(Operations *ops, const BrowseQuery *want, Arena *arena, BrowseList *ret_list,
                   Reason *reason)
{
    BrowseList list = {.want = *want, .next = SLICE_EMPTY};
    Ranking *ranking;
    TRY(app_ranking(ops->app, &ranking));
    if (want->name.size > 0)
        list.want.order = BROWSE_BY_NAME;
    Status status = list.want.order == BROWSE_BY_RANK ? from_ranking(ops, arena, &list, reason)
                                                      : from_index(ops, arena, &list);
    if (status == STATUS_INVALID && list.want.order != BROWSE_BY_RANK)
        return reason_set(reason, status, "from", "is not a place that `next` named");
    TRY(status);
    *ret_list = list;
    return STATUS_OK;
}

static Status policy_browse(Operations *ops, const Actor *actor, const BrowseQuery *request,
                            Arena *arena, BrowseList *ret_list, Reason *reason)
{
    (void)actor;
    TRY(browse_list(ops, request, arena, ret_list, reason));
    if (ret_list->next.size > 0)
        ret_list->next = arena_print(arena, API_PATH "policies%.*s", SLICE_ARG(ret_list->next));
    return STATUS_OK;
}

/* clang-format off */
OPERATION(policy_browse, BrowseQuery, BrowseList, .help = "List policies page by page: by name, newest first, or by votes.",
    .asks = true, .answers = &SCHEMA_POLICIES, .api = {WEB_GET, "policies", .tag = "policies", .cache_ms = 5000},
    .no_page = "/policies lists them", .command = {.words = "policy browse"},
    .inputs = {
        INPUT("order", BrowseQuery, order, WORD, .words = BROWSE_WORDS, .fallback = "date", .help = "The order; with `name` always by name."),
        INPUT("category", BrowseQuery, category, CATEGORY, .optional = true, .help = "Only this category."),
        INPUT("party", BrowseQuery, party, PARTY, .optional = true, .help = "Only this party."),
        INPUT("name", BrowseQuery, name, LINE, .optional = true, .most = POLICY_NAME_MAX, .help = "How the name begins."),
        INPUT("from", BrowseQuery, position, OPAQUE, .optional = true, .least = 1, .most = BROWSE_POSITION_MAX, .help = "Where the last page ended, as `next` names it."),
        INPUT("offset", BrowseQuery, offset, NUMBER, .fallback = "0", .most = RANKING_OFFSET_MAX, .help = "By votes: how many places to skip."),
    });
/* clang-format on */
