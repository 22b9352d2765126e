/* journal_private.h -- the handle, for the calls and the fuzzer. */
#pragma once

#include "connection.h"

struct OstrakaJournal {
    OjConnection connection;
    char address[OJ_ADDRESS_MAX];
    int timeout_ms;
    char *auth, *listen; /* commands that a new connection begins with, or NULL */
    char *claimed;       /* what the entries' keys and data are in */
    OstrakaJournalEntry *entries;
    bool has_ready;
    OstrakaJournalReady ready;
};
