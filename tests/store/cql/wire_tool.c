/* wire_tool.c -- the wire code at the disposal of a script: requests as hex, and answers from hex. For test_wire.py.
 *
 *     wire_tool requests        prints "name hex" for each of a list of requests, on stream 5
 *     wire_tool answers         reads lines "rows|error|event hex" and prints what was read, one line each */
#include "store/cql/wire.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- Requests ---------------------------------------------------------------------------------------------- */

static void print_hex(Slice bytes)
{
    for (size_t i = 0; i < bytes.size; i++)
        printf("%02x", (unsigned char)bytes.data[i]);
}

static CqlValue values[] = {
    {CQL_BYTES, {"value", 5}}, {CQL_NULL, {"", 0}}, {CQL_UNSET, {"", 0}}, {CQL_BYTES, {"", 0}}};
static const CqlPart FOUR = {NULL, values, 4}, ONE = {NULL, values, 1}, NONE = {NULL, NULL, 0};
static const WireQuery PLAIN = {.consistency = CQL_QUORUM};
static const WireQuery PAGED = {.consistency = CQL_SERIAL, .page_size = 500};
static const WireQuery CONDITIONAL = {.consistency = CQL_QUORUM, .conditional = true};

static void put_log_in(Buffer *out)
{
    wire_put_login(out, SLICE("ann"), SLICE("secret"));
}

static void put_prepare(Buffer *out)
{
    wire_put_prepare(out, SLICE("SELECT 'ä' FROM t"));
}

static void put_query(Buffer *out)
{
    wire_put_query(out, SLICE("SELECT * FROM t"), &PLAIN);
}

static void put_paged_query(Buffer *out)
{
    wire_put_query(out, SLICE("SELECT * FROM t"), &PAGED);
}

static void put_execute(Buffer *out)
{
    wire_put_execute(out, SLICE("0123456789abcdef"), &FOUR, &PLAIN);
}

static void put_paged_execute(Buffer *out)
{
    wire_put_execute(out, SLICE("0123456789abcdef"), &ONE, &PAGED);
}

static void put_conditional_execute(Buffer *out)
{
    wire_put_execute(out, SLICE("0123456789abcdef"), &ONE, &CONDITIONAL);
}

static void put_batch_with(Buffer *out, const WireQuery *ask)
{
    wire_put_batch(out, 3);
    wire_put_batch_part(out, SLICE("first"), &FOUR);
    wire_put_batch_part(out, SLICE("second"), &NONE);
    wire_put_batch_part(out, SLICE("third"), &ONE);
    wire_put_batch_end(out, ask);
}

static void put_batch(Buffer *out)
{
    put_batch_with(out, &PLAIN);
}

static void put_conditional_batch(Buffer *out)
{
    put_batch_with(out, &CONDITIONAL);
}

static void put_nothing(Buffer *out)
{
    (void)out;
}

static const struct {
    const char *name;
    WireOpcode opcode;
    void (*put)(Buffer *out);
} REQUESTS[] = {
    {"startup", WIRE_STARTUP, wire_put_startup},
    {"options", WIRE_OPTIONS, put_nothing},
    {"log_in", WIRE_AUTH_RESPONSE, put_log_in},
    {"register", WIRE_REGISTER, wire_put_register},
    {"prepare", WIRE_PREPARE, put_prepare},
    {"query", WIRE_QUERY, put_query},
    {"paged_query", WIRE_QUERY, put_paged_query},
    {"execute", WIRE_EXECUTE, put_execute},
    {"paged_execute", WIRE_EXECUTE, put_paged_execute},
    {"conditional_execute", WIRE_EXECUTE, put_conditional_execute},
    {"batch", WIRE_BATCH, put_batch},
    {"conditional_batch", WIRE_BATCH, put_conditional_batch},
};

static void print_requests(void)
{
    for (size_t i = 0; i < sizeof REQUESTS / sizeof REQUESTS[0]; i++) {
        BUFFER_SCOPE Buffer out = {0};
        size_t frame = wire_begin(&out, 5, REQUESTS[i].opcode);
        REQUESTS[i].put(&out);
        wire_end(&out, frame);
        printf("%s ", REQUESTS[i].name);
        print_hex(buffer_slice(&out));
        printf("\n");
    }
}

/* ---- Answers ----------------------------------------------------------------------------------------------- */

static void print_rows(Slice body, Arena *arena)
{
    CqlRows rows;
    if (wire_read_result(body, arena, &rows) != STATUS_OK) {
        printf("corrupt\n");
        return;
    }
    printf("%d", rows.more);
    for (size_t i = 0; i < rows.columns; i++)
        printf(" %s", rows.names[i]);
    for (size_t i = 0; i < rows.count * rows.columns; i++) {
        printf(i % rows.columns == 0 ? " | " : " ");
        if (rows.values[i].kind == CQL_NULL)
            printf("null");
        else
            printf("x"), print_hex(rows.values[i].bytes);
    }
    printf("\n");
}

static void print_error(Slice body, Arena *arena)
{
    WireError error;
    (void)arena;
    if (wire_read_error(body, &error) != STATUS_OK)
        printf("corrupt\n");
    else
        printf("%d %.*s\n", error.code, SLICE_ARG(error.words));
}

static void print_event(Slice body, Arena *arena)
{
    static const char *const KINDS[] = {"up", "down", "topology", "keyspace", "other"};
    WireEvent event;
    (void)arena;
    if (wire_read_event(body, &event) != STATUS_OK) {
        printf("corrupt\n");
        return;
    }
    printf("%s ", KINDS[event.kind]);
    print_hex(event.address);
    printf(" %u\n", event.port);
}

static const struct {
    const char *name;
    void (*print)(Slice body, Arena *arena);
} ANSWERS[] = {{"rows", print_rows}, {"error", print_error}, {"event", print_event}};

static Slice from_hex(Slice hex, Arena *arena)
{
    char *bytes = arena_bytes(arena, hex.size / 2 + 1);
    for (size_t i = 0; i < hex.size / 2; i++) {
        char pair[] = {hex.data[2 * i], hex.data[2 * i + 1], '\0'};
        bytes[i] = (char)strtoul(pair, NULL, 16);
    }
    return slice_of(bytes, hex.size / 2);
}

static void print_answers(void)
{
    char *line = NULL;
    size_t capacity = 0;
    ssize_t size;
    while ((size = getline(&line, &capacity, stdin)) > 0) {
        ARENA_SCOPE Arena *arena = arena_new();
        Slice rest = slice_trim(slice_of(line, (size_t)size)), kind;
        CHECK(slice_split(&rest, ' ', &kind));
        for (size_t i = 0; i < sizeof ANSWERS / sizeof ANSWERS[0]; i++)
            if (slice_equal(kind, slice_from(ANSWERS[i].name)))
                ANSWERS[i].print(from_hex(rest, arena), arena);
    }
    free(line);
}

int main(int count, char **words)
{
    if (count == 2 && strcmp(words[1], "requests") == 0)
        print_requests();
    else if (count == 2 && strcmp(words[1], "answers") == 0)
        print_answers();
    else
        return 2;
    return 0;
}
