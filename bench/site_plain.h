/* site_plain.h -- a vote in PostgreSQL as applications mostly send it: one transaction, statement by statement, each of them prepared. */
#pragma once

#include <libpq-fe.h>

#include "base/slice.h"

enum { PEER_VERSION = 16 };

/* What vote() of site.sql gets and does. */
typedef struct PeerVote {
    Slice session; /* its key */
    const char *seen;
    uint64_t policy;
    int64_t held;
    const char *version;
    int64_t now_us;
    Slice changes;
} PeerVote;

void plain_prepare(PGconn *connection);
/* 1: saved, 0: not, 2: nobody is logged in. */
int plain_vote(PGconn *connection, const PeerVote *vote);
