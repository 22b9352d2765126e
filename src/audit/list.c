/* list.c -- asking for entries: one row of the index is followed from the newest piece to the oldest, and what it names is read and
 * judged by all of the query. See audit.h. */
#include "audit/audit_private.h"

/* An asking under way. */
typedef struct Search {
    Audit *audit;
    const AuditQuery *query;
    IndexRow row;
    Arena *arena;
    AuditEntry *entries; /* room for query->limit */
    size_t count, looked;
} Search;

/* The row that leaves the least to look at. */
static IndexRow row_of(const AuditQuery *query)
{
    Slice none = SLICE_EMPTY;
    if (query->object_kind != NULL)
        return (IndexRow){INDEX_OBJECT, slice_from(query->object_kind), query->object};
    if (query->has_actor)
        return (IndexRow){INDEX_ACTOR, none, query->actor};
    if (query->has_kind)
        return (IndexRow){INDEX_KIND, slice_from(audit_kind_word(query->kind)), 0};
    if (query->instance.size > 0)
        return (IndexRow){INDEX_INSTANCE, query->instance, 0};
    return (IndexRow){query->public_only ? INDEX_PUBLIC : INDEX_ALL, none, 0};
}

static bool is_wanted(const AuditQuery *query, const AuditEntry *entry)
{
    const AuditAct *act = &entry->act;
    if (query->public_only &&
        (!audit_kind_is_public(act->kind) || entry->outcome == AUDIT_NOT_DONE))
        return false;
    if (query->has_actor && act->actor != query->actor)
        return false;
    if (query->has_kind && act->kind != query->kind)
        return false;
    return query->instance.size == 0 || slice_equal(entry->instance, query->instance);
}

/* What is nobody's business but the admins'. */
static void make_public(AuditEntry *entry)
{
    entry->act.actor = 0;
    entry->act.origin = entry->act.details = entry->instance = SLICE_EMPTY;
}

/* NOT_FOUND: it was never wholly written, or has expired a moment before what names it. */
static Status entry_of(Search *search, Slice column, const ReadAnswer answers[2],
                       AuditEntry *ret_entry)
{
    AuditEntry entry = {.outcome = AUDIT_OPEN, .status = SLICE_EMPTY};
    TRY(id_from_bytes(column, &entry.id) == STATUS_OK ? STATUS_OK : STATUS_CORRUPT);
    TRY(answers[0].status);
    TRY(entry_decode(search->audit, answers[0].cell.value, search->arena, &entry));
    if (answers[1].status != STATUS_NOT_FOUND) {
        TRY(answers[1].status);
        TRY(entry_end_decode(answers[1].cell.value, &entry));
    }
    *ret_entry = entry;
    return STATUS_OK;
}

static bool is_over(const Search *search)
{
    return search->count == search->query->limit || search->looked >= AUDIT_LOOKED_MAX;
}

static Status take_piece(Search *search, int64_t piece)
{
    const AuditQuery *asked = search->query;
    Query query = {.table = &TABLE_AUDIT_INDEX,
                   .row = index_row(&search->row, piece, search->arena),
                   .from = SLICE_EMPTY,
                   .to = id_is_zero(asked->before) ? SLICE_EMPTY : id_slice(&asked->before),
                   .after = SLICE_EMPTY,
                   .reverse = true,
                   .limit = asked->limit};
    for (Page page = {.more = true}; page.more && !is_over(search);) {
        TRY(store_slice(search->audit->options.store, &query, search->arena, &page));
        if (page.count == 0)
            break;
        Arena *arena = search->arena;
        Read *reads = ARENA_ARRAY(arena, 2 * page.count, Read);
        ReadAnswer *answers = ARENA_ARRAY(arena, 2 * page.count, ReadAnswer);
        for (size_t i = 0; i < page.count; i++) {
            Slice row = page.cells[i].column;
            reads[2 * i] = (Read){&TABLE_AUDIT, row, AUDIT_ACT_COLUMN, STORE_NORMAL};
            reads[2 * i + 1] = (Read){&TABLE_AUDIT, row, AUDIT_END_COLUMN, STORE_NORMAL};
        }
        TRY(store_read_many(search->audit->options.store, reads, 2 * page.count, arena, answers));
        for (size_t i = 0; i < page.count && search->count < search->query->limit; i++) {
            AuditEntry *entry = &search->entries[search->count];
            Status status = entry_of(search, page.cells[i].column, &answers[2 * i], entry);
            if (status == STATUS_NOT_FOUND)
                continue;
            TRY(status);
            if (!is_wanted(search->query, entry))
                continue;
            if (search->query->public_only)
                make_public(entry);
            search->count++;
        }
        search->looked += page.count;
        query.after = page.cells[page.count - 1].column;
        query.resume = true;
    }
    return STATUS_OK;
}

Status audit_list(Audit *audit, const AuditQuery *query, Arena *arena, AuditEntry **ret_entries,
                  size_t *ret_count)
{
    int64_t now_us = clock_now_us(audit->options.world.clock);
    int64_t from_us = id_is_zero(query->before) ? now_us + S_PER_DAY * US_PER_S /* clocks differ */
                                                : index_time_us(query->before);
    int64_t kept_us = now_us - AUDIT_DAYS_MAX * S_PER_DAY * US_PER_S;
    int64_t oldest = index_piece(query->since_us > kept_us ? query->since_us : kept_us);
    if (query->limit == 0 || query->limit > AUDIT_LIST_MAX)
        return STATUS_INVALID;
    if (from_us > now_us + S_PER_DAY * US_PER_S) /* an id that nobody was given */
        from_us = now_us + S_PER_DAY * US_PER_S;
    Search search = {.audit = audit,
                     .query = query,
                     .row = row_of(query),
                     .arena = arena,
                     .entries = ARENA_ARRAY(arena, query->limit, AuditEntry)};
    for (int64_t piece = index_piece(from_us); piece >= oldest && !is_over(&search); piece--)
        TRY(take_piece(&search, piece));
    *ret_entries = search.entries;
    *ret_count = search.count;
    return STATUS_OK;
}
