/* saves_check.c -- the records of answers, and what became of them (saves.h). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "saves.h"

/* ---- Records ---- */

void saves_record(int fd, const SavesRecord *record)
{
    char line[160];
    ARENA_SCOPE Arena *arena = arena_new();
    Slice version = id_text(record->version, arena), token = id_text(record->token, arena);
    int size =
        snprintf(line, sizeof line, "%c %" PRIu64 " %" PRIu64 " %.*s %.*s;\n", (char)record->told,
                 record->voter, record->seq, SLICE_ARG(version), SLICE_ARG(token));
    CHECK(size > 0 && write(fd, line, (size_t)size) == size);
}

static bool parse(const char *line, SavesRecord *ret_record)
{
    char told, version[ID_TEXT + 1], token[ID_TEXT + 1];
    int end = 0;
    if (sscanf(line, "%c %" SCNu64 " %" SCNu64 " %32[0-9a-f] %32[0-9a-f]%n", &told,
               &ret_record->voter, &ret_record->seq, version, token, &end) != 5)
        return false;
    ret_record->told = (SavesTold)told;
    return strchr("YNS", told) != NULL && strcmp(line + end, ";\n") == 0 &&
           id_from_text(slice_from(version), &ret_record->version) == STATUS_OK &&
           id_from_text(slice_from(token), &ret_record->token) == STATUS_OK;
}

static int by_voter(const void *a, const void *b)
{
    const SavesRecord *left = a, *right = b;
    return (left->voter > right->voter) - (left->voter < right->voter);
}

SavesRecord *saves_records(const char *path, size_t *ret_count)
{
    FILE *file = fopen(path, "r");
    size_t capacity = 1024, count = 0;
    SavesRecord *records = malloc(capacity * sizeof *records);
    CHECK(file != NULL && records != NULL);
    for (char line[256]; fgets(line, sizeof line, file) != NULL;) {
        if (count == capacity) {
            capacity *= 2;
            records = realloc(records, capacity * sizeof *records);
            CHECK(records != NULL);
        }
        count += parse(line, &records[count]);
    }
    fclose(file);
    qsort(records, count, sizeof *records, by_voter);
    *ret_count = count;
    return records;
}

/* ---- The check ---- */

/* A voter's whole chain; entry n has seq n + 1 when nothing is missing. */
typedef struct Chain {
    Entry *entries;
    size_t count;
} Chain;

static Chain read_chain(App *app, uint64_t voter, Arena *arena)
{
    enum { PAGE = 500, MOST = 1000000 };
    Chain chain = {ARENA_ARRAY(arena, 0, Entry), 0};
    uint64_t before = 0;
    do {
        Entry *page;
        size_t count;
        Status status = votes_history(app->votes, voter, before, PAGE, arena, &page, &count);
        CHECK(status == STATUS_OK && chain.count < MOST);
        if (count == 0)
            break;
        Entry *longer = ARENA_ARRAY(arena, chain.count + count, Entry);
        for (size_t i = 0; i < count; i++)
            longer[i] = page[count - 1 - i];
        if (chain.count > 0)
            memcpy(longer + count, chain.entries, chain.count * sizeof *longer);
        chain = (Chain){longer, chain.count + count};
        before = page[count - 1].seq;
    } while (before > 1);
    return chain;
}

static const Entry *entry_at(const Chain *chain, uint64_t seq)
{
    return seq >= 1 && seq <= chain->count ? &chain->entries[seq - 1] : NULL;
}

static bool finding(const SavesRecord *record, const char *words)
{
    ARENA_SCOPE Arena *arena = arena_new();
    printf("%s: voter %" PRIu64 ", entry %" PRIu64 ", version %.*s, token %.*s\n", words,
           record->voter, record->seq, SLICE_ARG(id_text(record->version, arena)),
           SLICE_ARG(id_text(record->token, arena)));
    return true;
}

static bool has_token(const Chain *chain, Id token)
{
    for (size_t i = 0; i < chain->count; i++)
        if (id_equal(chain->entries[i].token, token))
            return true;
    return false;
}

static bool check_record(const Chain *chain, const SavesRecord *record)
{
    const Entry *entry = entry_at(chain, record->seq);
    bool there = entry != NULL && id_equal(entry->version, record->version);
    switch (record->told) {
    case SAVES_YES:
        return (!there || !id_equal(entry->token, record->token)) &&
               finding(record, "lost: acknowledged and not there");
    case SAVES_SEEN:
        return record->seq > 0 && !there && finding(record, "lost: seen and not there");
    case SAVES_NO:
        return has_token(chain, record->token) && finding(record, "told \"not saved\" and there");
    }
    return finding(record, "not understood");
}

size_t saves_check(App *app, const SavesRecord *records, size_t count)
{
    size_t findings = 0;
    for (size_t at = 0; at < count;) {
        ARENA_SCOPE Arena *arena = arena_new();
        uint64_t voter = records[at].voter;
        Chain chain = read_chain(app, voter, arena);
        for (size_t i = 0; i < chain.count; i++)
            if (chain.entries[i].seq != i + 1)
                findings += finding(&(SavesRecord){.voter = voter, .seq = i + 1}, "a gap");
        for (; at < count && records[at].voter == voter; at++)
            findings += check_record(&chain, &records[at]);
    }
    return findings;
}
