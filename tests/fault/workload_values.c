/* workload_values.c -- names, values and records of the workload. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "workload.h"

const Table WORKLOAD_PLAIN = {.number = TABLE_FIRST_FOR_TESTS,
                              .name = "workload_plain",
                              .kind = TABLE_PLAIN,
                              .row = "row/number or mark/chain",
                              .columns = "b0 to b3, log/version; m/version",
                              .writer = "the workload"};
const Table WORKLOAD_CHAIN = {.number = TABLE_FIRST_FOR_TESTS + 1,
                              .name = "workload_chain",
                              .kind = TABLE_CONDITIONAL,
                              .row = "client/number",
                              .columns = "head, log/seq, b0 to b3",
                              .writer = "the workload"};

static const Table *const BOTH[] = {&WORKLOAD_PLAIN, &WORKLOAD_CHAIN};
const TableSet WORKLOAD_TABLES = {BOTH, sizeof BOTH / sizeof *BOTH};

Slice workload_plain_row(uint32_t row, Arena *arena)
{
    return arena_print(arena, "row/%" PRIu32, row);
}

Slice workload_chain_row(uint32_t chain, Arena *arena)
{
    return arena_print(arena, "client/%" PRIu32, chain);
}

Slice workload_mark_row(uint32_t chain, Arena *arena)
{
    return arena_print(arena, "mark/%" PRIu32, chain);
}

Slice workload_body_column(uint32_t index, Arena *arena)
{
    return arena_print(arena, "b%" PRIu32, index);
}

Slice workload_mark_column(uint64_t version, Arena *arena)
{
    return arena_print(arena, "m/%020" PRIu64, version);
}

Slice workload_log_column(uint64_t number, Arena *arena)
{
    return arena_print(arena, "log/%020" PRIu64, number);
}

static char filler(uint64_t version, size_t place)
{
    uint64_t number = (version + place / 8 + 1) * UINT64_C(0x9e3779b97f4a7c15);
    number = (number ^ (number >> 29)) * UINT64_C(0xbf58476d1ce4e5b9);
    return (char)((number ^ (number >> 32)) >> (place % 8 * 8));
}

Slice workload_body(uint64_t version, size_t size, Arena *arena)
{
    Slice head = arena_print(arena, "%020" PRIu64 " ", version);
    char *bytes = arena_bytes(arena, head.size + size);
    memcpy(bytes, head.data, head.size);
    for (size_t i = 0; i < size; i++)
        bytes[head.size + i] = filler(version, i);
    return slice_of(bytes, head.size + size);
}

bool workload_body_version(Slice value, uint64_t *ret_version)
{
    Slice rest = value, text;
    if (!slice_split(&rest, ' ', &text) || slice_to_u64(text, ret_version) != STATUS_OK)
        return false;
    for (size_t i = 0; i < rest.size; i++)
        if (rest.data[i] != filler(*ret_version, i))
            return false;
    return true;
}

Slice workload_pair(uint64_t first, uint64_t second, Arena *arena)
{
    return arena_print(arena, "%" PRIu64 " %" PRIu64, first, second);
}

bool workload_pair_parse(Slice value, uint64_t *ret_first, uint64_t *ret_second)
{
    Slice rest = value, first;
    return slice_split(&rest, ' ', &first) && slice_to_u64(first, ret_first) == STATUS_OK &&
           slice_to_u64(rest, ret_second) == STATUS_OK;
}

void workload_record(int fd, const Record *record)
{
    char line[128];
    int size =
        snprintf(line, sizeof line, "%c %" PRIu32 " %" PRIu64 " %" PRIu64 " %s;\n", record->kind,
                 record->row, record->seq, record->version, status_name(record->status));
    CHECK(size > 0 && write(fd, line, (size_t)size) == size);
}

static bool parse_status(const char *name, Status *ret_status)
{
    for (int status = 0; status < STATUS_COUNT; status++) {
        if (strcmp(name, status_name((Status)status)) != 0)
            continue;
        *ret_status = (Status)status;
        return true;
    }
    return false;
}

static bool parse_record(const char *line, Record *ret_record)
{
    char kind, name[32];
    int end = 0;
    if (sscanf(line, "%c %" SCNu32 " %" SCNu64 " %" SCNu64 " %31[a-z_]%n", &kind, &ret_record->row,
               &ret_record->seq, &ret_record->version, name, &end) != 5)
        return false;
    ret_record->kind = (RecordKind)kind;
    return strchr("PCMS", kind) != NULL && strcmp(line + end, ";\n") == 0 &&
           parse_status(name, &ret_record->status);
}

Record *workload_records(const char *path, size_t *ret_count)
{
    FILE *file = fopen(path, "r");
    size_t capacity = 1024, count = 0;
    Record *records = malloc(capacity * sizeof *records);
    CHECK(file != NULL && records != NULL);
    for (char line[256]; fgets(line, sizeof line, file) != NULL;) {
        if (count == capacity) {
            capacity *= 2;
            records = realloc(records, capacity * sizeof *records);
            CHECK(records != NULL);
        }
        if (parse_record(line, &records[count]))
            count++;
    }
    fclose(file);
    *ret_count = count;
    return records;
}
