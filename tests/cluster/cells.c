/* cells.c -- single cells by store.h on a cluster, for whoever looks at the same cells by other means.
 *
 *     cells init ADDRESS
 *     cells obey ADDRESS [MS]                MS: the time of a call
 * `obey` takes a command a line and answers with a line. Bytes are hexadecimal digits with an `x` before them, so that none at all is a word, too:
 *     put ROW COLUMN VALUE TIMESTAMP TTL     into the table interop_plain -> a status
 *     delete ROW COLUMN TIMESTAMP            -> a status
 *     update ROW COLUMN EXPECTED VALUE       into interop_conditional; EXPECTED - means absent -> a status
 *     read TABLE ROW COLUMN                  -> ok VALUE TIMESTAMP, or a status
 *     slice TABLE ROW                        -> ok COLUMN VALUE COLUMN VALUE …, or a status
 *     scan TABLE                             -> ok ROW COLUMN VALUE ROW COLUMN VALUE …, or a status */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/ids.h"
#include "store/cassandra/cassandra.h"

enum { WORDS_MAX = 6, INPUT_LINE_MAX = 1 << 16, COPIES = 3, DEADLINE_MS = 10000 };

static const Table PLAIN = {.number = TABLE_FIRST_FOR_TESTS + 10,
                            .name = "interop_plain",
                            .kind = TABLE_PLAIN,
                            .deletes = true,
                            .expires = true,
                            .row = "any",
                            .columns = "any",
                            .writer = "both sides"};
static const Table CONDITIONAL = {.number = TABLE_FIRST_FOR_TESTS + 11,
                                  .name = "interop_conditional",
                                  .kind = TABLE_CONDITIONAL,
                                  .expires = true,
                                  .row = "any",
                                  .columns = "any, ~/id: receipts",
                                  .writer = "both sides"};
static const Table *const BOTH[] = {&PLAIN, &CONDITIONAL};

static Store *store;
static Arena *arena; /* of one command */

_Noreturn static void fail(const char *what, const char *why)
{
    fprintf(stderr, "cells: %s: %s\n", what, why);
    exit(1);
}

/* ---- Words ---- */

static Slice bytes_of(Slice word)
{
    static const char DIGITS[] = "0123456789abcdef";
    char *bytes = arena_bytes(arena, word.size / 2 + 1);
    if (word.size % 2 != 1 || word.data[0] != 'x')
        fail("not bytes", arena_text(arena, word));
    for (size_t i = 1; i < word.size; i += 2) {
        const char *high = memchr(DIGITS, word.data[i], 16);
        const char *low = memchr(DIGITS, word.data[i + 1], 16);
        if (high == NULL || low == NULL)
            fail("not bytes", arena_text(arena, word));
        bytes[i / 2] = (char)((high - DIGITS) * 16 + (low - DIGITS));
    }
    return slice_of(bytes, word.size / 2);
}

static int64_t number_of(Slice word)
{
    int64_t number;
    if (slice_to_i64(word, &number) != STATUS_OK)
        fail("not a number", arena_text(arena, word));
    return number;
}

static const Table *table_of(Slice word)
{
    return slice_equal(word, slice_from(PLAIN.name)) ? &PLAIN : &CONDITIONAL;
}

static ReadMode mode_of(const Table *table)
{
    return table->kind == TABLE_PLAIN ? STORE_NORMAL : STORE_SERIAL;
}

static void print_bytes(Slice bytes)
{
    printf(" x");
    for (size_t i = 0; i < bytes.size; i++)
        printf("%02x", (unsigned char)bytes.data[i]);
}

/* ---- Commands ---- */

static Status write_one(Slice row, Change change)
{
    RowChange changes[] = {{&PLAIN, row, change}};
    return store_write(store, &(Batch){.changes = changes, .count = 1});
}

static Status put(const Slice *words)
{
    return write_one(bytes_of(words[1]), (Change){.column = bytes_of(words[2]),
                                                  .value = bytes_of(words[3]),
                                                  .timestamp = number_of(words[4]),
                                                  .ttl_s = number_of(words[5])});
}

static Status erase(const Slice *words)
{
    return write_one(bytes_of(words[1]), (Change){.column = bytes_of(words[2]),
                                                  .timestamp = number_of(words[3]),
                                                  .is_delete = true});
}

static Status update(const Slice *words)
{
    World world = world_real();
    Id id = id_new(world.clock, world.random);
    bool absent = slice_equal(words[3], SLICE("-"));
    Slice column = bytes_of(words[2]), receipt = store_receipt(id_slice(&id), arena);
    Condition condition = {column, absent ? SLICE_EMPTY : bytes_of(words[3]), absent};
    Change changes[] = {
        {.column = column, .value = bytes_of(words[4])},
        {.column = receipt, .value = SLICE_EMPTY, .ttl_s = STORE_RECEIPT_TTL_S},
    };
    return store_update(store,
                        &(Update){.table = &CONDITIONAL,
                                  .row = bytes_of(words[1]),
                                  .conditions = &condition,
                                  .condition_count = 1,
                                  .changes = changes,
                                  .change_count = 2,
                                  .proof = receipt},
                        3, arena, NULL);
}

static Status read_one(const Slice *words)
{
    Cell cell;
    const Table *table = table_of(words[1]);
    Read read = {table, bytes_of(words[2]), bytes_of(words[3]), mode_of(table)};
    TRY(store_read(store, &read, arena, &cell));
    printf("ok");
    print_bytes(cell.value);
    printf(" %" PRId64, cell.timestamp);
    return STATUS_OK;
}

static Status slice(const Slice *words)
{
    Page page;
    const Table *table = table_of(words[1]);
    Query query = {
        .table = table, .row = bytes_of(words[2]), .limit = STORE_PAGE_MAX, .mode = mode_of(table)};
    TRY(store_slice(store, &query, arena, &page));
    printf("ok");
    for (size_t i = 0; i < page.count; i++) {
        print_bytes(page.cells[i].column);
        print_bytes(page.cells[i].value);
    }
    return STATUS_OK;
}

static Status scan(const Slice *words)
{
    ScanPage page = {.position = SLICE_EMPTY, .more = true};
    BUFFER_SCOPE Buffer position = {0};
    printf("ok");
    while (page.more) {
        TRY(store_scan(store, table_of(words[1]), buffer_slice(&position), 100, arena, &page));
        for (size_t i = 0; i < page.count; i++) {
            print_bytes(page.cells[i].row);
            print_bytes(page.cells[i].cell.column);
            print_bytes(page.cells[i].cell.value);
        }
        buffer_clear(&position);
        buffer_bytes(&position, page.position);
    }
    return STATUS_OK;
}

static const struct {
    const char *name;
    size_t words;
    Status (*run)(const Slice *words);
    bool prints; /* its answer by itself when it is OK */
} COMMANDS[] = {
    {"put", 6, put, false},      {"delete", 4, erase, false}, {"update", 5, update, false},
    {"read", 4, read_one, true}, {"slice", 3, slice, true},   {"scan", 2, scan, true},
};

static void obey(Slice line)
{
    Slice words[WORDS_MAX + 1];
    size_t count = 0;
    for (Slice rest = line; count < WORDS_MAX && slice_split(&rest, ' ', &words[count]);)
        count++;
    for (size_t i = 0; i < sizeof COMMANDS / sizeof *COMMANDS; i++) {
        if (count != COMMANDS[i].words || !slice_equal(words[0], slice_from(COMMANDS[i].name)))
            continue;
        Status status = COMMANDS[i].run(words);
        printf("%s\n", status == STATUS_OK && COMMANDS[i].prints ? "" : status_name(status));
        fflush(stdout);
        return;
    }
    fail("not a command", arena_text(arena, line));
}

int main(int count, char **words)
{
    Reason reason = {.rule = ""};
    CassandraOptions options = {.request_ms = DEADLINE_MS,
                                .connections = 1,
                                .grace_s = 10 * S_PER_DAY,
                                .world = world_real(),
                                .tables = {BOTH, sizeof BOTH / sizeof *BOTH}};
    if (count != 3 && count != 4)
        fail("usage", "cells init|obey ADDRESS [MS]");
    if (count == 4 && slice_to_i64(slice_from(words[3]), &options.request_ms) != STATUS_OK)
        fail("not a number", words[3]);
    if (cassandra_address(slice_from(words[2]), &options.address, &reason) != STATUS_OK)
        fail("the address", reason.rule);
    bool makes = strcmp(words[1], "init") == 0;
    Status status = makes ? store_cassandra_init(&options, COPIES, &reason)
                          : store_cassandra_open(&options, &store, &reason);
    if (status != STATUS_OK)
        fail(status_name(status), reason.rule);
    static char line[INPUT_LINE_MAX];
    arena = arena_new();
    while (!makes && fgets(line, sizeof line, stdin) != NULL) {
        obey(slice_trim(slice_from(line)));
        arena_reset(arena);
    }
    arena_free(arena);
    if (!makes)
        store_close(store);
    return 0;
}
