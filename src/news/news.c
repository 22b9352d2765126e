/* news.c -- see news.h. A row is an hour and a shard, so that a busy hour is spread over a cluster; a column is the second of the hour, the
 * kind and the id, so that the last seconds are one short slice of each row. */
#include "news/news.h"

#include "base/bytes.h"

enum { S_PER_HOUR = 3600, COLUMN_BYTES = 11, PAGE = 1000 };

static Slice row_of(int64_t hour, uint64_t shard, Arena *arena)
{
    BUFFER_SCOPE Buffer row = {0};
    buffer_u32(&row, (uint32_t)hour);
    buffer_u8(&row, (uint8_t)shard);
    return arena_copy(arena, buffer_slice(&row));
}

static Slice second_of(int64_t second, Arena *arena)
{
    char *column = arena_bytes(arena, sizeof(uint16_t));
    bytes_put_u16(column, (uint16_t)second);
    return slice_of(column, sizeof(uint16_t));
}

Batch news_mark(Clock clock, NewsKind kind, uint64_t id, Arena *arena)
{
    int64_t now_us = clock_now_us(clock), now_s = now_us / US_PER_S;
    RowChange *mark = ARENA_NEW(arena, RowChange);
    char *column = arena_bytes(arena, COLUMN_BYTES);
    bytes_put_u16(column, (uint16_t)(now_s % S_PER_HOUR));
    column[2] = (char)kind;
    bytes_put_u64(column + 3, id);
    *mark = (RowChange){&TABLE_NEWS, row_of(now_s / S_PER_HOUR, id % NEWS_SHARDS, arena),
                        (Change){.column = slice_of(column, COLUMN_BYTES),
                                 .value = SLICE_EMPTY,
                                 .timestamp = now_us,
                                 .ttl_s = NEWS_DAYS * S_PER_DAY}};
    return (Batch){.changes = mark, .count = 1};
}

static Status visit_page(int64_t hour, const Page *page, NewsVisit *visit, void *context)
{
    for (size_t i = 0; i < page->count; i++) {
        Reader column = reader_of(page->cells[i].column);
        News news = {.second = hour * S_PER_HOUR + reader_u16(&column)};
        news.kind = (NewsKind)reader_u8(&column);
        news.id = reader_u64(&column);
        if (!reader_done(&column))
            return STATUS_CORRUPT;
        visit(context, &news);
    }
    return STATUS_OK;
}

Status news_read(Store *store, int64_t first_s, int64_t last_s, NewsVisit *visit, void *context)
{
    for (int64_t hour = first_s / S_PER_HOUR; hour <= last_s / S_PER_HOUR; hour++) {
        ARENA_SCOPE Arena *arena = arena_new();
        Query queries[NEWS_SHARDS];
        PageAnswer answers[NEWS_SHARDS];
        size_t count = NEWS_SHARDS; /* of the shards that have more to read */
        int64_t from_s = first_s - hour * S_PER_HOUR, to_s = last_s + 1 - hour * S_PER_HOUR;
        for (size_t i = 0; i < count; i++)
            queries[i] = (Query){.table = &TABLE_NEWS,
                                 .row = row_of(hour, i, arena),
                                 .from = second_of(from_s > 0 ? from_s : 0, arena),
                                 .to = to_s < S_PER_HOUR ? second_of(to_s, arena) : SLICE_EMPTY,
                                 .limit = PAGE};
        while (count > 0) {
            size_t left = 0;
            TRY(store_slice_many(store, queries, count, arena, answers));
            for (size_t i = 0; i < count; i++) {
                const Page *page = &answers[i].page;
                TRY(answers[i].status);
                TRY(visit_page(hour, page, visit, context));
                if (!page->more)
                    continue;
                queries[i].after = page->cells[page->count - 1].column;
                queries[i].resume = true;
                queries[left++] = queries[i];
            }
            count = left;
        }
    }
    return STATUS_OK;
}
