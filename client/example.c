/* example.c -- a producer and a worker on one journal.
 *
 *     example ADDRESS put JOURNAL KEY DATA    puts one entry; an empty KEY is none
 *     example ADDRESS work JOURNAL            works until it is interrupted: claims, prints, ends
 * Built by: cc example.c $(pkg-config --cflags --libs ostraka-journal) */
#include <ostraka-journal.h>
#include <stdio.h>
#include <string.h>

static int failed(const OstrakaJournal *journal, const char *what, OstrakaJournalStatus status)
{
    fprintf(stderr, "%s: %s: %s\n", what, ostraka_journal_status_name(status),
            ostraka_journal_error(journal));
    return 1;
}

static int put(OstrakaJournal *journal, const char *name, const char *key, const char *data)
{
    OstrakaJournalPut request = {.journal = name,
                                 .key = key,
                                 .key_bytes = strlen(key),
                                 .data = data,
                                 .data_bytes = strlen(data)};
    OstrakaJournalAnswer answer;
    OstrakaJournalStatus status = ostraka_journal_put(journal, &request, &answer);
    if (status != OSTRAKA_JOURNAL_OK)
        return failed(journal, "put", status);
    printf("%llu\n", (unsigned long long)answer.id);
    return 0;
}

/* Real work that may take longer than a third of its lease calls ostraka_journal_extend meanwhile, and stops when that says LOST. */
static void work_on(const OstrakaJournalEntry *entry)
{
    printf("%llu %.*s\n", (unsigned long long)entry->id, (int)entry->data_bytes,
           (const char *)entry->data);
    fflush(stdout);
}

static int work(OstrakaJournal *journal, const char *name)
{
    OstrakaJournalClaim claim = {.journals = &name, .journal_count = 1, .wait_ms = 60000};
    for (;;) {
        OstrakaJournalClaims claims;
        OstrakaJournalStatus status = ostraka_journal_claim(journal, &claim, &claims);
        if (status != OSTRAKA_JOURNAL_OK)
            return failed(journal, "claim", status);
        for (size_t i = 0; i < claims.count; i++) {
            OstrakaJournalStep step = {.token = claims.entries[i].token};
            work_on(&claims.entries[i]);
            status = ostraka_journal_done(journal, &step, 1);
            /* LOST: it took too long, and another worker does it again. */
            if (status != OSTRAKA_JOURNAL_OK && status != OSTRAKA_JOURNAL_LOST)
                return failed(journal, "done", status);
        }
    }
}

int main(int count, char **words)
{
    OstrakaJournal *journal;
    int result = 2;
    OstrakaJournalOptions options = {.address = count > 1 ? words[1] : NULL};
    if (ostraka_journal_open(&options, &journal) != OSTRAKA_JOURNAL_OK) {
        fputs("example: the address is HOST:PORT or unix:PATH\n", stderr);
        return 2;
    }
    if (count == 6 && strcmp(words[2], "put") == 0)
        result = put(journal, words[3], words[4], words[5]);
    else if (count == 4 && strcmp(words[2], "work") == 0)
        result = work(journal, words[3]);
    else
        fputs("usage: example ADDRESS put JOURNAL KEY DATA | example ADDRESS work JOURNAL\n",
              stderr);
    ostraka_journal_close(journal);
    return result;
}
