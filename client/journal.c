/* journal.c -- the calls of ostraka-journal.h: one line is sent, one answer is read. */
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "journal_private.h"

enum {
    LINE_MAX_BYTES = 4096, /* of a command, with its end */
    TIMEOUT_MS = 10000,
    PAUSE_MS = 50, /* before a put is repeated; it doubles … */
    PAUSE_MAX_MS = 1000,
    STEPS_MAX = 100, /* of one command */
};

/* A command on its way to be written. */
typedef struct Line {
    char text[LINE_MAX_BYTES];
    size_t size;
    bool too_long;
} Line;

__attribute__((format(printf, 2, 3))) static void add(Line *line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int size =
        vsnprintf(line->text + line->size, sizeof line->text - line->size, format, arguments);
    va_end(arguments);
    if (size < 0 || (size_t)size >= sizeof line->text - line->size)
        line->too_long = true;
    else
        line->size += (size_t)size;
}

/* " name=value", unless the value is the default. */
static void add_option(Line *line, const char *name, int64_t value)
{
    if (value != 0)
        add(line, " %s=%lld", name, (long long)value);
}

static OstrakaJournalStatus invalid(OstrakaJournal *journal, const char *sentence)
{
    return oj_say(&journal->connection, OSTRAKA_JOURNAL_INVALID, "%s", sentence);
}

static int64_t deadline(const OstrakaJournal *journal, int64_t wait_ms)
{
    return oj_now_ms() + journal->timeout_ms + wait_ms;
}

/* ---- A command and its answer ---------------------------------------------------------------------------- */

static void remember_ready(OstrakaJournal *journal, const OjAnswer *answer)
{
    const OjField *fields = answer->fields;
    journal->has_ready = true;
    journal->ready = (OstrakaJournalReady){.count = fields[1].number,
                                           .priority = (uint32_t)fields[2].number,
                                           .next_ms = (int64_t)fields[3].number};
    memcpy(journal->ready.journal, fields[0].text, fields[0].size);
}

/* The next line that is no hint to a listener; hints are kept on the way. The answer's texts are valid until something is received. */
static OstrakaJournalStatus read_answer(OstrakaJournal *journal, int64_t until_ms,
                                        OjAnswer *ret_answer, size_t *ret_size)
{
    OjConnection *connection = &journal->connection;
    for (;;) {
        OstrakaJournalStatus status = oj_line(connection, 0, until_ms, NULL, ret_size);
        if (status != OSTRAKA_JOURNAL_OK)
            return status;
        if (oj_answer_parse(connection->in + connection->at, *ret_size, ret_answer) != OJ_READY)
            return OSTRAKA_JOURNAL_OK;
        remember_ready(journal, ret_answer);
        oj_take(connection, *ret_size + 2);
    }
}

/* What to say of an answer that is not the one wanted. What is no answer at all makes everything behind it doubtful. */
static OstrakaJournalStatus refused(OstrakaJournal *journal, const OjAnswer *answer, size_t size)
{
    OjConnection *connection = &journal->connection;
    const OjField *fields = answer->fields;
    OstrakaJournalStatus status = answer->status;
    if (answer->kind == OJ_ERROR)
        oj_say(connection, status, "%.*s: %.*s", (int)fields[1].size, fields[1].text,
               (int)fields[2].size, fields[2].text);
    else if (answer->kind == OJ_WORD)
        oj_say(connection, status, "the server says %.*s", (int)fields[0].size, fields[0].text);
    else
        return oj_lost(connection, "the server's answer is none of this protocol");
    if (status == OSTRAKA_JOURNAL_UNKNOWN)
        oj_hang_up(connection);
    else
        oj_take(connection, size + 2);
    return status;
}

/* Sends a command and reads the first line of its answer, which is of the kind wanted when this is OK, and is not taken yet. */
static OstrakaJournalStatus ask(OstrakaJournal *journal, const OjPart *parts, size_t count,
                                OjKind wanted, int64_t until_ms, OjAnswer *ret_answer,
                                size_t *ret_size)
{
    OstrakaJournalStatus status = oj_send(&journal->connection, parts, count, until_ms);
    if (status == OSTRAKA_JOURNAL_OK)
        status = read_answer(journal, until_ms, ret_answer, ret_size);
    if (status != OSTRAKA_JOURNAL_OK || ret_answer->kind == wanted)
        return status;
    return refused(journal, ret_answer, *ret_size);
}

static OstrakaJournalStatus greet(OstrakaJournal *journal, const char *line, OjKind wanted,
                                  int64_t until_ms)
{
    OjAnswer answer;
    size_t size;
    OjPart part = {line, line == NULL ? 0 : strlen(line)};
    if (line == NULL)
        return OSTRAKA_JOURNAL_OK;
    OstrakaJournalStatus status = ask(journal, &part, 1, wanted, until_ms, &answer, &size);
    if (status == OSTRAKA_JOURNAL_OK)
        oj_take(&journal->connection, size + 2);
    else
        oj_hang_up(&journal->connection);
    /* A greeting that was cut short has done nothing that anybody waits for. */
    return status == OSTRAKA_JOURNAL_UNKNOWN ? OSTRAKA_JOURNAL_UNAVAILABLE : status;
}

/* A command may be sent: there is a connection, which knows the token and what is listened to. */
static OstrakaJournalStatus connect_first(OstrakaJournal *journal, int64_t until_ms)
{
    OjConnection *connection = &journal->connection;
    OstrakaJournalStatus status = OSTRAKA_JOURNAL_OK;
    oj_begin(connection);
    if (oj_now_ms() >= until_ms)
        return oj_say(connection, OSTRAKA_JOURNAL_UNAVAILABLE, "the time is over");
    if (connection->fd < 0) {
        status = oj_dial(connection, journal->address, until_ms);
        if (status == OSTRAKA_JOURNAL_OK)
            status = greet(journal, journal->auth, OJ_OK, until_ms);
        if (status == OSTRAKA_JOURNAL_OK)
            status = greet(journal, journal->listen, OJ_LISTENING, until_ms);
        connection->sent = false;
    }
    return status;
}

static OstrakaJournalStatus command(OstrakaJournal *journal, const OjPart *parts, size_t count,
                                    OjKind wanted, int64_t until_ms, OjAnswer *ret_answer,
                                    size_t *ret_size)
{
    OstrakaJournalStatus status = connect_first(journal, until_ms);
    if (status == OSTRAKA_JOURNAL_OK)
        status = ask(journal, parts, count, wanted, until_ms, ret_answer, ret_size);
    return status;
}

/* ---- The handle ------------------------------------------------------------------------------------------ */

static bool token_is_valid(const char *token)
{
    size_t size = strlen(token);
    for (size_t i = 0; i < size; i++)
        if (token[i] <= ' ' || token[i] == 0x7f)
            return false;
    return size > 0 && size <= OSTRAKA_JOURNAL_TOKEN_MAX;
}

OstrakaJournalStatus ostraka_journal_open(const OstrakaJournalOptions *options,
                                          OstrakaJournal **ret_journal)
{
    if (options->address == NULL || !oj_address_is_valid(options->address) ||
        (options->token != NULL && !token_is_valid(options->token)) || options->timeout_ms < 0)
        return OSTRAKA_JOURNAL_INVALID;
    OstrakaJournal *journal = calloc(1, sizeof *journal);
    if (journal == NULL)
        return OSTRAKA_JOURNAL_UNAVAILABLE;
    journal->connection.fd = -1;
    journal->timeout_ms = options->timeout_ms == 0 ? TIMEOUT_MS : options->timeout_ms;
    memcpy(journal->address, options->address, strlen(options->address) + 1);
    if (options->token != NULL && asprintf(&journal->auth, "x-auth %s\r\n", options->token) < 0) {
        free(journal);
        return OSTRAKA_JOURNAL_UNAVAILABLE;
    }
    *ret_journal = journal;
    return OSTRAKA_JOURNAL_OK;
}

void ostraka_journal_close(OstrakaJournal *journal)
{
    if (journal == NULL)
        return;
    oj_hang_up(&journal->connection);
    free(journal->connection.in);
    free(journal->claimed);
    free(journal->entries);
    free(journal->auth);
    free(journal->listen);
    free(journal);
}

const char *ostraka_journal_error(const OstrakaJournal *journal)
{
    return journal->connection.error;
}

/* ---- Putting --------------------------------------------------------------------------------------------- */

static OstrakaJournalStatus put_line(OstrakaJournal *journal, const OstrakaJournalPut *put,
                                     Line *line)
{
    int64_t inserted_ms = put->inserted_ms;
    struct timespec now;
    if (put->journal == NULL || !oj_name_is_valid(put->journal, strlen(put->journal)))
        return invalid(journal, "journal: 1 to 200 of A-Z a-z 0-9 - + / ; . $ _ ( ), not - first");
    if (put->key_bytes > OSTRAKA_JOURNAL_KEY_MAX)
        return oj_say(&journal->connection, OSTRAKA_JOURNAL_TOO_LARGE, "key: at most 64 KiB");
    if (put->data_bytes > OSTRAKA_JOURNAL_DATA_MAX)
        return oj_say(&journal->connection, OSTRAKA_JOURNAL_TOO_LARGE, "data: at most 64 MiB");
    if (put->at_ms != 0 && put->delay_ms != 0)
        return invalid(journal, "at: not with a delay");
    if (put->at_ms < 0 || put->delay_ms < 0 || put->expire_ms < 0 || put->lease_ms < 0 ||
        put->inserted_ms < 0)
        return invalid(journal, "dates and durations: not negative");
    if (put->key_bytes > 0 && inserted_ms == 0) {
        clock_gettime(CLOCK_REALTIME, &now);
        inserted_ms = now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
    }
    add(line, "x-put %zu to=%s", put->key_bytes + put->data_bytes, put->journal);
    add_option(line, "keylen", (int64_t)put->key_bytes);
    if (put->has_priority)
        add(line, " pri=%u", (unsigned)put->priority);
    add_option(line, "at", put->at_ms);
    add_option(line, "delay", put->delay_ms);
    add_option(line, "expire", put->expire_ms);
    add_option(line, "lease", put->lease_ms);
    add_option(line, "inserted", inserted_ms);
    add(line, "\r\n");
    return OSTRAKA_JOURNAL_OK;
}

static OstrakaJournalStatus put_once(OstrakaJournal *journal, const OjPart *parts, size_t count,
                                     int64_t until_ms, OstrakaJournalAnswer *ret_answer)
{
    OjAnswer answer;
    size_t size;
    OstrakaJournalStatus status = command(journal, parts, count, OJ_PUT, until_ms, &answer, &size);
    if (status != OSTRAKA_JOURNAL_OK)
        return status;
    oj_take(&journal->connection, size + 2);
    if (ret_answer != NULL)
        *ret_answer =
            (OstrakaJournalAnswer){(OstrakaJournalOutcome)answer.fields[0].number,
                                   answer.fields[1].number, (int64_t)answer.fields[2].number};
    return OSTRAKA_JOURNAL_OK;
}

OstrakaJournalStatus ostraka_journal_put(OstrakaJournal *journal, const OstrakaJournalPut *put,
                                         OstrakaJournalAnswer *ret_answer)
{
    Line line = {.size = 0};
    int64_t until_ms = deadline(journal, 0);
    OstrakaJournalStatus status = put_line(journal, put, &line);
    const OjPart parts[] = {{line.text, line.size},
                            {put->key, put->key_bytes},
                            {put->data, put->data_bytes},
                            {"\r\n", 2}};
    if (status != OSTRAKA_JOURNAL_OK)
        return status;
    bool unknown = false;
    for (int pause_ms = PAUSE_MS;;
         pause_ms = 2 * pause_ms < PAUSE_MAX_MS ? 2 * pause_ms : PAUSE_MAX_MS) {
        status = put_once(journal, parts, 4, until_ms, ret_answer);
        unknown |= status == OSTRAKA_JOURNAL_UNKNOWN;
        if ((status != OSTRAKA_JOURNAL_UNKNOWN && status != OSTRAKA_JOURNAL_UNAVAILABLE) ||
            put->key_bytes == 0 || oj_now_ms() + pause_ms >= until_ms)
            break;
        poll(NULL, 0, pause_ms);
    }
    /* That the last attempt did nothing says nothing about the first one. */
    return status != OSTRAKA_JOURNAL_OK && unknown ? OSTRAKA_JOURNAL_UNKNOWN : status;
}

/* ---- Claiming -------------------------------------------------------------------------------------------- */

/* " NAME,…" behind what is there. */
static bool add_names(Line *line, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (names[i] == NULL || !oj_name_is_valid(names[i], strlen(names[i])))
            return false;
        add(line, "%s%s", i == 0 ? "" : ",", names[i]);
    }
    return !line->too_long;
}

/* One entry that begins `from` bytes behind what is taken; its key and data stay there, so `entry` gets their distance only. */
static OstrakaJournalStatus read_entry(OstrakaJournal *journal, size_t from, int64_t until_ms,
                                       OstrakaJournalEntry *entry, size_t *ret_payload,
                                       size_t *ret_end)
{
    OjConnection *connection = &journal->connection;
    OjAnswer answer;
    size_t size;
    OstrakaJournalStatus status = oj_line(connection, from, until_ms, NULL, &size);
    if (status != OSTRAKA_JOURNAL_OK)
        return status;
    if (oj_answer_parse(connection->in + connection->at + from, size, &answer) != OJ_ENTRY)
        return oj_lost(connection, "an entry is missing in the server's answer");
    const OjField *fields = answer.fields;
    *entry = (OstrakaJournalEntry){.id = fields[0].number,
                                   .priority = (uint32_t)fields[3].number,
                                   .timeouts = (uint32_t)fields[4].number,
                                   .inserted_ms = (int64_t)fields[5].number,
                                   .due_ms = (int64_t)fields[6].number,
                                   .lease_ms = (int64_t)fields[7].number,
                                   .key_bytes = fields[8].number,
                                   .data_bytes = fields[9].number};
    memcpy(entry->token.text, fields[1].text, fields[1].size);
    memcpy(entry->journal, fields[2].text, fields[2].size);
    *ret_payload = from + size + 2;
    *ret_end = *ret_payload + entry->key_bytes + entry->data_bytes + 2;
    status = oj_fill(connection, *ret_end, until_ms, NULL);
    if (status == OSTRAKA_JOURNAL_OK &&
        memcmp(connection->in + connection->at + *ret_end - 2, "\r\n", 2) != 0)
        status = oj_lost(connection, "an entry does not end in the server's answer");
    return status;
}

/* All entries of an answer are received; they become the handle's, with the memory that they are in. */
static OstrakaJournalStatus keep_claimed(OstrakaJournal *journal, const size_t *payloads,
                                         size_t count, size_t end)
{
    OjConnection *connection = &journal->connection;
    size_t rest = connection->size - end;
    char *in = malloc(rest > 0 ? rest : 1);
    if (in == NULL)
        return oj_lost(connection, "no memory for the answer");
    memcpy(in, connection->in + connection->at + end, rest);
    free(journal->claimed);
    journal->claimed = connection->in;
    for (size_t i = 0; i < count; i++) {
        OstrakaJournalEntry *entry = &journal->entries[i];
        entry->key = connection->in + connection->at + payloads[i];
        entry->data = connection->in + connection->at + payloads[i] + entry->key_bytes;
    }
    connection->in = in;
    connection->at = 0;
    connection->size = rest;
    connection->capacity = rest;
    return OSTRAKA_JOURNAL_OK;
}

static OstrakaJournalStatus read_entries(OstrakaJournal *journal, size_t count, size_t from,
                                         int64_t began_ms, int64_t until_ms)
{
    OstrakaJournalStatus status = OSTRAKA_JOURNAL_OK;
    size_t *payloads = calloc(count + 1, sizeof *payloads);
    free(journal->entries);
    journal->entries = calloc(count + 1, sizeof *journal->entries);
    if (payloads == NULL || journal->entries == NULL)
        status = oj_lost(&journal->connection, "no memory for the answer");
    for (size_t i = 0; i < count && status == OSTRAKA_JOURNAL_OK; i++) {
        status = read_entry(journal, from, until_ms, &journal->entries[i], &payloads[i], &from);
        journal->entries[i].lease_end_ms = began_ms + journal->entries[i].lease_ms;
    }
    if (status == OSTRAKA_JOURNAL_OK)
        status = keep_claimed(journal, payloads, count, from);
    free(payloads);
    return status;
}

static OstrakaJournalStatus claim_line(OstrakaJournal *journal, const OstrakaJournalClaim *claim,
                                       Line *line)
{
    if (claim->count > OSTRAKA_JOURNAL_CLAIM_MAX)
        return invalid(journal, "count: at most 1000");
    if (claim->wait_ms < 0 || claim->wait_ms > OSTRAKA_JOURNAL_WAIT_MAX_MS || claim->lease_ms < 0)
        return invalid(journal, "wait: at most 2147483647 ms; durations are not negative");
    add(line, "x-claim n=%u", claim->count == 0 ? 1U : (unsigned)claim->count);
    add_option(line, "wait", claim->wait_ms);
    add_option(line, "lease", claim->lease_ms);
    if (claim->has_priority)
        add(line, " max=%u", (unsigned)claim->priority);
    add(line, " from=");
    if (claim->journal_count == 0 || !add_names(line, claim->journals, claim->journal_count))
        return invalid(journal, "journals: valid names, at least one, in a line of 4096 bytes");
    add(line, "\r\n");
    return line->too_long ? invalid(journal, "journals: a line of 4096 bytes") : OSTRAKA_JOURNAL_OK;
}

OstrakaJournalStatus ostraka_journal_claim(OstrakaJournal *journal,
                                           const OstrakaJournalClaim *claim,
                                           OstrakaJournalClaims *ret_claims)
{
    Line line = {.size = 0};
    OjAnswer answer;
    size_t size;
    OstrakaJournalStatus status = claim_line(journal, claim, &line);
    if (status != OSTRAKA_JOURNAL_OK)
        return status;
    int64_t until_ms = deadline(journal, claim->wait_ms);
    status = connect_first(journal, until_ms);
    if (status != OSTRAKA_JOURNAL_OK)
        return status;
    int64_t began_ms = oj_now_ms();
    status = ask(journal, &(OjPart){line.text, line.size}, 1, OJ_CLAIMED, until_ms, &answer, &size);
    if (status != OSTRAKA_JOURNAL_OK)
        return status;
    uint64_t count = answer.fields[0].number;
    if (count > (claim->count == 0 ? 1 : claim->count))
        return oj_lost(&journal->connection, "the server gives more entries than were asked for");
    oj_take(&journal->connection, size + 2);
    status = read_entries(journal, count, 0, began_ms, until_ms);
    if (status == OSTRAKA_JOURNAL_OK)
        *ret_claims =
            (OstrakaJournalClaims){journal->entries, count, (int64_t)answer.fields[1].number};
    return status;
}

/* ---- Ending ---------------------------------------------------------------------------------------------- */

/* The answer of one command: a word for each of its tokens, in their order. */
static void read_steps(OstrakaJournal *journal, OjField words, OstrakaJournalStep *steps,
                       size_t count)
{
    OjConnection *connection = &journal->connection;
    OstrakaJournalStatus status;
    size_t at = 0;
    bool unknown = false;
    for (; oj_answer_next_step(&words, &status); at++) {
        if (at < count)
            steps[at].status = status;
        if (status != OSTRAKA_JOURNAL_OK)
            oj_say(connection, status, "token: %s", ostraka_journal_status_name(status));
        unknown |= status == OSTRAKA_JOURNAL_UNKNOWN;
    }
    if (at != count) {
        for (size_t i = 0; i < count; i++)
            steps[i].status = OSTRAKA_JOURNAL_UNKNOWN;
        oj_lost(connection, "the server answers other steps than were asked for");
    } else if (unknown) {
        oj_hang_up(connection); /* as the server does */
    }
}

/* Of one command: `options` with their leading spaces. */
static void some_steps(OstrakaJournal *journal, const char *word, const char *options,
                       OstrakaJournalStep *steps, size_t count, int64_t until_ms)
{
    Line line = {.size = 0};
    OjAnswer answer;
    size_t size;
    add(&line, "%s ", word);
    for (size_t i = 0; i < count; i++)
        add(&line, "%s%s", i == 0 ? "" : ",", steps[i].token.text);
    add(&line, "%s\r\n", options);
    OstrakaJournalStatus status =
        command(journal, &(OjPart){line.text, line.size}, 1, OJ_DID, until_ms, &answer, &size);
    if (status != OSTRAKA_JOURNAL_OK) {
        for (size_t i = 0; i < count; i++)
            steps[i].status = status;
        return;
    }
    read_steps(journal, answer.fields[0], steps, count);
    if (journal->connection.fd >= 0)
        oj_take(&journal->connection, size + 2);
}

static bool tokens_are_valid(const OstrakaJournalStep *steps, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *text = steps[i].token.text;
        if (memchr(text, 0, sizeof steps[i].token.text) != text + sizeof steps[i].token.text - 1 ||
            strspn(text, "0123456789abcdef") != sizeof steps[i].token.text - 1)
            return false;
    }
    return true;
}

/* As many commands as the tokens need. A failure of the connection in one of them does not stop the next: each step has a status of its own. */
static OstrakaJournalStatus all_steps(OstrakaJournal *journal, const char *word,
                                      const char *options, OstrakaJournalStep *steps, size_t count)
{
    size_t room = (LINE_MAX_BYTES - 64 - strlen(options)) / sizeof steps->token.text;
    size_t most = room < STEPS_MAX ? room : STEPS_MAX;
    int64_t until_ms = deadline(journal, 0);
    if (!tokens_are_valid(steps, count))
        return invalid(journal, "token: 32 hexadecimal digits, as a claim gave it");
    for (size_t at = 0; at < count; at += most)
        some_steps(journal, word, options, steps + at, count - at < most ? count - at : most,
                   until_ms);
    for (size_t i = 0; i < count; i++)
        if (steps[i].status != OSTRAKA_JOURNAL_OK)
            return steps[i].status;
    return OSTRAKA_JOURNAL_OK;
}

OstrakaJournalStatus ostraka_journal_extend(OstrakaJournal *journal, OstrakaJournalStep *steps,
                                            size_t count, int64_t lease_ms)
{
    Line options = {.size = 0};
    if (lease_ms < 0)
        return invalid(journal, "lease: not negative");
    add_option(&options, "lease", lease_ms);
    return all_steps(journal, "x-extend", options.text, steps, count);
}

OstrakaJournalStatus ostraka_journal_done(OstrakaJournal *journal, OstrakaJournalStep *steps,
                                          size_t count)
{
    return all_steps(journal, "x-done", "", steps, count);
}

OstrakaJournalStatus ostraka_journal_release(OstrakaJournal *journal, OstrakaJournalStep *steps,
                                             size_t count, const OstrakaJournalReturn *how)
{
    Line options = {.size = 0};
    if (how != NULL && (how->at_ms < 0 || how->delay_ms < 0))
        return invalid(journal, "dates and durations: not negative");
    if (how != NULL && how->at_ms != 0 && how->delay_ms != 0)
        return invalid(journal, "at: not with a delay");
    if (how != NULL) {
        add_option(&options, "at", how->at_ms);
        add_option(&options, "delay", how->delay_ms);
        if (how->has_priority)
            add(&options, " pri=%u", (unsigned)how->priority);
    }
    return all_steps(journal, "x-release", options.text, steps, count);
}

OstrakaJournalStatus ostraka_journal_fail(OstrakaJournal *journal, OstrakaJournalStep *steps,
                                          size_t count, const char *error)
{
    Line options = {.size = 0};
    if (error != NULL && error[0] != 0)
        add(&options, " error=");
    for (size_t i = 0; error != NULL && error[i] != 0 && i < OSTRAKA_JOURNAL_FAILURE_MAX; i++)
        add(&options, "%%%02X", (unsigned char)error[i]);
    return all_steps(journal, "x-fail", options.text, steps, count);
}

OstrakaJournalStatus ostraka_journal_bury(OstrakaJournal *journal, OstrakaJournalStep *steps,
                                          size_t count, const OstrakaJournalReturn *how)
{
    Line options = {.size = 0};
    if (how != NULL && how->has_priority)
        add(&options, " pri=%u", (unsigned)how->priority);
    return all_steps(journal, "x-bury", options.text, steps, count);
}

/* ---- Listening ------------------------------------------------------------------------------------------- */

OstrakaJournalStatus ostraka_journal_listen(OstrakaJournal *journal, const char *const *journals,
                                            size_t journal_count)
{
    Line line = {.size = 0};
    OjAnswer answer;
    size_t size;
    add(&line, journal_count == 0 ? "x-listen" : "x-listen ");
    if (!add_names(&line, journals, journal_count))
        return invalid(journal, "journals: valid names in a line of 4096 bytes");
    add(&line, "\r\n");
    if (line.too_long)
        return invalid(journal, "journals: a line of 4096 bytes");
    char *listen = journal_count == 0 ? NULL : strdup(line.text);
    if (listen == NULL && journal_count > 0)
        return oj_say(&journal->connection, OSTRAKA_JOURNAL_UNAVAILABLE, "no memory");
    free(journal->listen);
    journal->listen = NULL;
    journal->has_ready = false;
    OstrakaJournalStatus status = command(journal, &(OjPart){line.text, line.size}, 1, OJ_LISTENING,
                                          deadline(journal, 0), &answer, &size);
    if (status != OSTRAKA_JOURNAL_OK) {
        free(listen);
        return status;
    }
    oj_take(&journal->connection, size + 2);
    journal->listen = listen;
    return OSTRAKA_JOURNAL_OK;
}

OstrakaJournalStatus ostraka_journal_wait(OstrakaJournal *journal, int64_t wait_ms,
                                          OstrakaJournalReady *ret_ready)
{
    OjConnection *connection = &journal->connection;
    bool over = false;
    if (journal->listen == NULL)
        return invalid(journal, "journals: nothing is listened to");
    if (wait_ms < 0 || wait_ms > OSTRAKA_JOURNAL_WAIT_MAX_MS)
        return invalid(journal, "wait: 0 to 2147483647 ms");
    int64_t until_ms = oj_now_ms() + wait_ms;
    OstrakaJournalStatus status = connect_first(journal, deadline(journal, 0));
    while (status == OSTRAKA_JOURNAL_OK && !journal->has_ready && !over) {
        OjAnswer answer;
        size_t size = 0;
        status = oj_line(connection, 0, until_ms, &over, &size);
        if (status != OSTRAKA_JOURNAL_OK || over)
            break;
        if (oj_answer_parse(connection->in + connection->at, size, &answer) != OJ_READY)
            return oj_lost(connection, "the server's answer is none of this protocol");
        remember_ready(journal, &answer);
        oj_take(connection, size + 2);
    }
    if (status != OSTRAKA_JOURNAL_OK)
        return status;
    *ret_ready = journal->has_ready ? journal->ready
                                    : (OstrakaJournalReady){.next_ms = OSTRAKA_JOURNAL_NEVER};
    journal->has_ready = false;
    return OSTRAKA_JOURNAL_OK;
}
