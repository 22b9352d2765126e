/* news.c -- how instances hear of each other's changes: a mark before each change of a policy's row, by minute and second.
 *
 * It is written with the update that it announces, at the latest, so a crash leaves a mark without a change, never a change without a mark; who
 * follows reads the policy a few times. */
#include "base/bytes.h"
#include "policies/policies_private.h"

enum { NEWS_TTL_S = 3600, COLUMN = 9 };

static Slice minute_row(uint32_t minute, Arena *arena)
{
    BUFFER_SCOPE Buffer row = {0};
    buffer_u32(&row, minute);
    return arena_copy(arena, buffer_slice(&row));
}

Batch policy_mark(Policies *policies, uint64_t id, Arena *arena)
{
    int64_t now_us = clock_now_us(policies->world.clock);
    RowChange *mark = ARENA_NEW(arena, RowChange);
    char *column = arena_bytes(arena, COLUMN);
    if (!policies->shared)
        return (Batch){0};
    column[0] = (char)(now_us / US_PER_S % 60);
    bytes_put_u64(column + 1, id);
    *mark = (RowChange){&TABLE_POLICY_NEWS,
                        minute_row((uint32_t)(now_us / (60 * US_PER_S)), arena),
                        {.column = slice_of(column, COLUMN),
                         .value = SLICE_EMPTY,
                         .timestamp = now_us,
                         .ttl_s = NEWS_TTL_S}};
    return (Batch){.changes = mark, .count = 1};
}

Status policies_changed(Policies *policies, uint32_t minute, uint8_t from, PolicyMarkVisit *visit,
                        void *context)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Query query = {.table = &TABLE_POLICY_NEWS,
                   .row = minute_row(minute, arena),
                   .from = slice_of(&from, 1),
                   .limit = STORE_PAGE_MAX};
    for (bool more = true; more;) {
        Page page;
        TRY(store_slice(policies->store, &query, arena, &page));
        for (size_t i = 0; i < page.count; i++) {
            Reader reader = reader_of(page.cells[i].column);
            uint8_t second = reader_u8(&reader);
            uint64_t id = reader_u64(&reader);
            if (!reader_done(&reader))
                return STATUS_CORRUPT;
            visit(context, id, second);
        }
        more = page.more;
        query.resume = more;
        query.after = more ? page.cells[page.count - 1].column : SLICE_EMPTY;
    }
    return STATUS_OK;
}
