/* workload_writes.c -- one write after the other, each with its record (workload.h). */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "workload.h"

enum { TRIES = 3 };

void workload_broken(const char *format, ...)
{
    va_list arguments;
    printf("broken: ");
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
    fflush(stdout);
    _exit(3);
}

/* A call that began then has ended; it was at most `requests` to the engine, one after the other. */
static void ended(Writer *writer, int64_t begin_us, int64_t requests)
{
    int64_t each_us = (clock_steady_us(writer->clock) - begin_us) / requests;
    if (each_us > writer->slowest_us)
        writer->slowest_us = each_us;
}

/* ---- Plain rows ---- */

static uint64_t next_luck(Writer *writer)
{
    uint64_t number = writer->luck += UINT64_C(0x9e3779b97f4a7c15);
    number = (number ^ (number >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    number = (number ^ (number >> 27)) * UINT64_C(0x94d049bb133111eb);
    return number ^ (number >> 31);
}

static uint64_t next_version(Writer *writer)
{
    return writer->run << 40 | (uint64_t)writer->index << 32 | ++writer->versions;
}

Status workload_write_plain(Writer *writer, uint32_t rows)
{
    enum { CELLS = WORKLOAD_BODY + 1 };
    RowChange changes[WORKLOAD_ROWS * CELLS];
    Arena *arena = writer->arena;
    uint64_t version = next_version(writer);
    uint32_t first = (uint32_t)next_luck(writer);
    size_t count = 0;
    Slice body = workload_body(version, next_luck(writer) % (writer->payload + 1), arena);
    for (uint32_t i = 0; i < rows; i++) {
        uint32_t row = writer->index * WORKLOAD_ROWS + (first + i) % WORKLOAD_ROWS;
        for (uint32_t k = 0; k < CELLS; k++)
            changes[count++] = (RowChange){
                &WORKLOAD_PLAIN, workload_plain_row(row, arena),
                (Change){.column = k < WORKLOAD_BODY ? workload_body_column(k, arena)
                                                     : workload_log_column(version, arena),
                         .value = k < WORKLOAD_BODY ? body : workload_body(version, 8, arena),
                         .timestamp = (int64_t)version}};
    }
    int64_t begin_us = clock_steady_us(writer->clock);
    Status status = store_write(writer->store, &(Batch){.changes = changes, .count = count});
    ended(writer, begin_us, 1);
    for (uint32_t i = 0; i < rows; i++)
        workload_record(writer->acks,
                        &(Record){RECORD_PLAIN,
                                  writer->index * WORKLOAD_ROWS + (first + i) % WORKLOAD_ROWS, 0,
                                  version, status});
    return status;
}

/* ---- Chains ---- */

typedef struct Link {
    uint32_t chain;
    bool is_first;
    Slice head; /* as it stands */
    uint64_t seq, version;
} Link;

static bool read_head(Writer *writer, Link *link)
{
    Arena *arena = writer->arena;
    Read read = {&WORKLOAD_CHAIN, workload_chain_row(link->chain, arena), SLICE("head"),
                 STORE_SERIAL};
    Cell cell;
    int64_t begin_us = clock_steady_us(writer->clock);
    Status status = store_read(writer->store, &read, arena, &cell);
    ended(writer, begin_us, 1);
    link->is_first = status == STATUS_NOT_FOUND;
    if (link->is_first)
        return true;
    if (status == STATUS_UNAVAILABLE)
        return false;
    if (status != STATUS_OK || !workload_pair_parse(cell.value, &link->seq, &link->version))
        workload_broken("the head of chain %" PRIu32 " is answered %s", link->chain,
                        status_name(status));
    link->head = cell.value;
    if (next_luck(writer) % 8 == 0)
        workload_record(writer->acks,
                        &(Record){RECORD_SEEN, link->chain, link->seq, link->version, STATUS_OK});
    return true;
}

static Status attempt(Writer *writer, const Update *update, bool settled)
{
    int64_t begin_us = clock_steady_us(writer->clock);
    Status status = settled ? store_update(writer->store, update, TRIES, writer->arena, NULL)
                            : store_update_if(writer->store, update, writer->arena, NULL);
    /* The attempt with its marks, and two reads after it. */
    ended(writer, begin_us, settled ? 3 * TRIES : 1);
    return status;
}

static Status send_update(Writer *writer, const Link *link, uint64_t version, bool marked)
{
    Arena *arena = writer->arena;
    Slice log = workload_log_column(link->seq + 1, arena);
    Slice body = workload_body(version, next_luck(writer) % (writer->payload + 1), arena);
    Condition condition = {SLICE("head"), link->head, link->is_first};
    Change changes[WORKLOAD_BODY + 2] = {
        {.column = SLICE("head"), .value = workload_pair(link->seq + 1, version, arena)},
        {.column = log, .value = workload_pair(version, link->version, arena)},
    };
    for (uint32_t i = 0; i < WORKLOAD_BODY; i++)
        changes[i + 2] = (Change){.column = workload_body_column(i, arena), .value = body};
    RowChange mark = {
        &WORKLOAD_PLAIN, workload_mark_row(link->chain, arena),
        (Change){.column = workload_mark_column(version, arena), .timestamp = (int64_t)version}};
    Update update = {
        .table = &WORKLOAD_CHAIN,
        .row = workload_chain_row(link->chain, arena),
        .conditions = &condition,
        .condition_count = 1,
        .changes = changes,
        .change_count = WORKLOAD_BODY + 2,
        .proof = log,
        .marks = {.changes = &mark, .count = marked ? 1 : 0},
    };
    return attempt(writer, &update, next_luck(writer) % 4 == 0 || writer->settles);
}

/* `stale`: expects a head that was never there, and must not get through. */
static Written extend_chain(Writer *writer, bool stale)
{
    Link link = {.chain = (uint32_t)(next_luck(writer) % WORKLOAD_CHAINS)};
    if (!read_head(writer, &link))
        return (Written){WROTE_NOTHING, STATUS_UNAVAILABLE};
    uint64_t version = next_version(writer);
    bool marked = next_luck(writer) % 2 == 0;
    if (stale) {
        link.is_first = false;
        link.head = workload_pair(link.seq, version, writer->arena);
    }
    Status status = send_update(writer, &link, version, marked);
    workload_record(writer->acks, &(Record){marked ? RECORD_MARKED : RECORD_CHAIN, link.chain,
                                            link.seq + 1, version, status});
    if (stale && status == STATUS_OK)
        workload_broken("an update whose condition is false was answered OK");
    return (Written){WROTE_UPDATE, status};
}

/* ---- The mix ---- */

Written workload_write(Writer *writer)
{
    uint64_t choice = next_luck(writer) % 10;
    Written written;
    if (choice < 4)
        written = (Written){WROTE_PLAIN, workload_write_plain(writer, choice < 3 ? 1 : 3)};
    else
        written = extend_chain(writer, choice == 9);
    arena_reset(writer->arena);
    return written;
}
