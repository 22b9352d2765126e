/* fuzz_journal_client.c -- any bytes as what a journal's server answers to the client library.
 *
 * The first bytes choose the calls, the rest is all that the server ever says. Every call ends. A line that is understood consists of the
 * fields that were read from it, entries are no more than were asked for and lie in memory, and a step has one of the statuses. */
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/slice.h"
#include "base/status.h"
#include "fuzz.h"
#include "journal_private.h"

enum { CALLS = 4, ANSWERS_MAX = 64 << 10, TIMEOUT_MS = 1000 };

static void feed_line(const char *line, size_t size)
{
    OjAnswer answer;
    OjKind kind = oj_answer_parse(line, size, &answer);
    if (kind == OJ_NONSENSE || kind == OJ_WORD)
        return;
    const char *at = line + (memchr(line, ' ', size) == NULL ? size : strcspn(line, " "));
    for (size_t i = 0; i < OJ_FIELDS && answer.fields[i].text != NULL; i++) {
        CHECK(answer.fields[i].text == at + 1);
        at += 1 + answer.fields[i].size;
    }
    CHECK(at == line + size);
}

static void feed_lines(const char *text, size_t size)
{
    char line[OJ_LINE_MAX + 1];
    while (size > 0) {
        const char *end = memmem(text, size, "\r\n", 2);
        size_t length = end == NULL ? size : (size_t)(end - text);
        if (length <= OJ_LINE_MAX) {
            memcpy(line, text, length);
            line[length] = 0;
            feed_line(line, length);
        }
        size_t taken = end == NULL ? length : length + 2;
        text += taken;
        size -= taken;
    }
}

static void check_claims(const OstrakaJournalClaims *claims, size_t asked)
{
    unsigned sum = 0;
    CHECK(claims->count <= asked);
    for (size_t i = 0; i < claims->count; i++) {
        const OstrakaJournalEntry *entry = &claims->entries[i];
        CHECK(strlen(entry->token.text) == sizeof entry->token.text - 1);
        CHECK(oj_name_is_valid(entry->journal, strlen(entry->journal)));
        for (size_t at = 0; at < entry->key_bytes; at++)
            sum += ((const unsigned char *)entry->key)[at];
        for (size_t at = 0; at < entry->data_bytes; at++)
            sum += ((const unsigned char *)entry->data)[at];
    }
    CHECK(claims->next_ms >= 0 && sum < UINT32_MAX);
}

static void call(OstrakaJournal *journal, uint8_t which)
{
    static const char *const NAME = "j";
    OstrakaJournalStatus status;
    OstrakaJournalStep steps[3] = {{.token = {"00000000000000000000000000000000"}},
                                   {.token = {"11111111111111111111111111111111"}},
                                   {.token = {"22222222222222222222222222222222"}}};
    if (which % 4 == 0) {
        OstrakaJournalAnswer answer;
        status = ostraka_journal_put(journal, &(OstrakaJournalPut){.journal = NAME}, &answer);
        if (status == OSTRAKA_JOURNAL_OK)
            CHECK(answer.outcome <= OSTRAKA_JOURNAL_IGNORED && answer.due_ms >= 0);
    } else if (which % 4 == 1) {
        OstrakaJournalClaims claims;
        uint32_t count = 1 + which / 4;
        OstrakaJournalClaim claim = {.journals = &NAME, .journal_count = 1, .count = count};
        status = ostraka_journal_claim(journal, &claim, &claims);
        if (status == OSTRAKA_JOURNAL_OK)
            check_claims(&claims, count);
    } else if (which % 4 == 2) {
        status = ostraka_journal_done(journal, steps, 3);
        for (size_t i = 0; i < 3; i++)
            CHECK(steps[i].status <= OSTRAKA_JOURNAL_UNSUPPORTED);
    } else {
        OstrakaJournalReady ready;
        status = ostraka_journal_listen(journal, &NAME, 1);
        if (status == OSTRAKA_JOURNAL_OK)
            status = ostraka_journal_wait(journal, 0, &ready);
        if (status == OSTRAKA_JOURNAL_OK)
            CHECK(memchr(ready.journal, 0, sizeof ready.journal) != NULL);
    }
    CHECK(status <= OSTRAKA_JOURNAL_UNSUPPORTED);
    CHECK(journal->connection.at + journal->connection.size <= journal->connection.capacity);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    OstrakaJournal *journal;
    OstrakaJournalOptions options = {.address = "unix:/nonexistent/socket",
                                     .timeout_ms = TIMEOUT_MS};
    int ends[2];
    if (size < CALLS || size > CALLS + ANSWERS_MAX)
        return 0;
    feed_lines((const char *)data + CALLS, size - CALLS);
    CHECK(ostraka_journal_open(&options, &journal) == OSTRAKA_JOURNAL_OK);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0);
    CHECK(write(ends[1], data + CALLS, size - CALLS) == (ssize_t)(size - CALLS));
    CHECK(shutdown(ends[1], SHUT_WR) == 0);
    journal->connection.fd = ends[0];
    for (size_t i = 0; i < CALLS; i++)
        call(journal, data[i]);
    ostraka_journal_close(journal);
    close(ends[1]);
    return 0;
}
