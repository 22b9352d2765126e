/* journal_load.c -- puts, claims and ends entries and records each answer, or prints what is left of them (test_journal.py).
 *
 *     journal_load run directory=D acks=FILE [threads=N] [ops=N] [payload=N] [run=N] [keys=N]
 *     journal_load check directory=D acks=FILE
 * Lines of the record, each written after the answer:
 *     put KEY NUMBER made|merged ID      claim KEY NUMBER ID TOKEN      ending TOKEN (before it is asked for)
 * Numbers grow for each key; an entry's data begins with the newest of its puts. What is left: left KEY NUMBER STATE, one a line.
 * Exit codes: 0 well, 1 it does not open or its indexes are wrong, 2 usage, 3 a call answered what it must not. */
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "arguments.h"
#include "journal/engine.h"

enum { THREADS_MAX = 64, KEYS_MAX = 64, DATA_MAX = 65536, NUMBER_DIGITS = 20, SHRINK_EVERY = 64 };

/* Claims are synced, too, so that no key has two leases, whatever happens; what is empty is deleted. */
#define DECLARED "[journal j]\nlease_s = 3600\nsync = all\nshrink = delete\ntimeouts = none\n"

static struct {
    const char *directory, *acks;
    uint64_t threads, ops, payload, run, keys;
} settings = {.threads = 1, .payload = 100, .run = 1, .keys = 8};

static Journals *journals;
static int acks;

static void record(const char *format, ...) PRINTF_LIKE(1, 2);
static void record(const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    CHECK(write(acks, line, (size_t)size) == size);
}

static void expect(Status status, const Reason *reason)
{
    if (status == STATUS_OK)
        return;
    printf("answered %s: %s\n", status_name(status), reason->rule);
    fflush(stdout);
    _exit(3);
}

static void put(uint64_t thread, uint64_t number, uint64_t key_number)
{
    static _Thread_local char data[DATA_MAX];
    char key[64];
    Reason reason = {0};
    JournalAnswer answer;
    snprintf(key, sizeof key, "k%" PRIu64 "-%" PRIu64, thread, key_number);
    snprintf(data, sizeof data, "%0*" PRIu64, NUMBER_DIGITS, number);
    for (size_t i = NUMBER_DIGITS; i < settings.payload; i++)
        data[i] = (char)(table_mix(number + i / 8) >> i % 8);
    size_t size = settings.payload > NUMBER_DIGITS ? settings.payload : NUMBER_DIGITS;
    JournalPut request = {
        .journal = SLICE("j"), .key = slice_from(key), .data = slice_of(data, size)};
    expect(journal_put(journals, &request, &answer, &reason), &reason);
    bool made = answer.outcome == JOURNAL_CREATED || answer.outcome == JOURNAL_MADE_HELD;
    record("put %s %" PRIu64 " %s %" PRIu64 "\n", key, number, made ? "made" : "merged", answer.id);
}

static void work(void)
{
    ARENA_SCOPE Arena *arena = arena_new();
    const Slice name = SLICE("j");
    JournalClaim claim = {
        .journals = &name, .journal_count = 1, .count = 2, .max_priority = UINT32_MAX};
    JournalClaims claims;
    Reason reason = {0};
    expect(journal_claim(journals, &claim, arena, &claims, &reason), &reason);
    for (size_t i = 0; i < claims.count; i++) {
        const JournalClaimed *entry = &claims.entries[i];
        char token[JOURNAL_TOKEN_TEXT + 1];
        journal_token_text(entry->token, token);
        record("claim %.*s %.*s %" PRIu64 " %s\n", SLICE_ARG(entry->key), NUMBER_DIGITS,
               entry->data.data, entry->id, token);
    }
    for (size_t i = 0; i < claims.count; i++) {
        JournalStep step = {.token = claims.entries[i].token};
        char token[JOURNAL_TOKEN_TEXT + 1];
        journal_token_text(step.token, token);
        record("ending %s\n", token);
        if (claims.entries[i].id % 5 == 0)
            expect(journal_release(journals, &step, 1, &reason), &reason);
        else
            expect(journal_done(journals, &step, 1, &reason), &reason);
    }
}

static void *run_thread(void *argument)
{
    uint64_t thread = (uint64_t)(uintptr_t)argument, luck = settings.run * 1000 + thread;
    for (uint64_t i = 1; settings.ops == 0 || i <= settings.ops; i++) {
        luck += UINT64_C(0x9E3779B97F4A7C15);
        uint64_t drawn = table_mix(luck);
        if (drawn % 2 == 0)
            put(thread, settings.run * 1000000 + i, drawn / 2 % settings.keys);
        else
            work();
        if (thread == 0 && i % SHRINK_EVERY == 0)
            journals_shrink(journals);
    }
    return NULL;
}

static bool open_journals(void)
{
    Reason reason = {0};
    JournalsOptions options = {.directory = settings.directory,
                               .declaration = SLICE(DECLARED),
                               .world = world_real(),
                               .cache_bytes = 64 << 10,
                               .reopen_s = 3600};
    Status status = journals_open(&options, &journals, &reason);
    if (status != STATUS_OK)
        printf("does not open: %s: %s\n", status_name(status), reason.rule);
    return status == STATUS_OK;
}

static int command_run(void)
{
    pthread_t threads[THREADS_MAX];
    acks = open(settings.acks, O_WRONLY | O_APPEND | O_CREAT, 0644);
    CHECK(acks >= 0);
    if (!open_journals())
        return 1;
    for (uint64_t i = 0; i < settings.threads; i++)
        CHECK(pthread_create(&threads[i], NULL, run_thread, (void *)(uintptr_t)i) == 0);
    for (uint64_t i = 0; i < settings.threads; i++)
        pthread_join(threads[i], NULL);
    journals_close(journals);
    return 0;
}

static int command_check(void)
{
    ARENA_SCOPE Arena *arena = arena_new();
    JournalList list = {.more = true};
    Reason reason = {0};
    if (!open_journals())
        return 1;
    const char *wrong = journals_check(journals);
    if (wrong != NULL)
        printf("%s\n", wrong);
    while (list.more) {
        expect(journal_list(journals, SLICE("j"), 0, list.next, JOURNAL_LIST_MAX, arena, &list,
                            &reason),
               &reason);
        for (size_t i = 0; i < list.count; i++) {
            JournalView view;
            expect(journal_get(journals, list.entries[i].id, arena, &view, &reason), &reason);
            printf("left %.*s %.*s %c\n", SLICE_ARG(view.key), NUMBER_DIGITS, view.data.data,
                   (char)view.state);
        }
    }
    journals_close(journals);
    return wrong != NULL;
}

static const Argument SETTINGS[] = {
    {"directory", &settings.directory, NULL, 0},       {"acks", &settings.acks, NULL, 0},
    {"threads", NULL, &settings.threads, THREADS_MAX}, {"ops", NULL, &settings.ops, 0},
    {"payload", NULL, &settings.payload, DATA_MAX},    {"run", NULL, &settings.run, 0},
    {"keys", NULL, &settings.keys, KEYS_MAX},
};

static const Verb VERBS[] = {
    {"run", command_run, {&settings.directory, &settings.acks}},
    {"check", command_check, {&settings.directory, &settings.acks}},
};

int main(int count, char **words)
{
    static const Program PROGRAM = {
        SETTINGS, sizeof SETTINGS / sizeof *SETTINGS, VERBS, sizeof VERBS / sizeof *VERBS,
        "journal_load run|check directory=D acks=FILE [name=value ...]"};
    return program_run(&PROGRAM, count, words);
}
