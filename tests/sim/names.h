/* names.h -- the workload `names`: a few people want the same few names and e-mails, and change the settings of the vote.
 *
 * The production code of accounts runs in every client: registering, confirming, renaming, closing, the clean-up, settings. Each
 * registration has a number of its own (as its time of registration), by which it is found again at the end. */
#pragma once

#include "accounts/accounts.h"
#include "simulator.h"

/* One registration that a client tried, and what it was told. */
typedef struct NamesTry {
    int64_t number;
    bool answered; /* it lived to hear the answer */
    Status told;
    uint64_t id; /* when told OK */
    struct NamesTry *next;
} NamesTry;

/* What clients were told, or saw by serial reads, of an account. */
typedef struct NamesSeen {
    bool confirmed, closed, gone;
} NamesSeen;

enum { NAMES_ACCOUNTS_MAX = 4096 };

/* Which version of the settings somebody judged by at a time. */
typedef struct NamesJudged {
    int64_t time_us;
    uint32_t version;
    struct NamesJudged *next;
} NamesJudged;

typedef struct Names {
    NamesTry *tries;
    int64_t last_number;
    NamesSeen seen[NAMES_ACCOUNTS_MAX]; /* by id */
    uint64_t known[NAMES_ACCOUNTS_MAX]; /* ids of registrations that were told OK */
    size_t known_count;
    NamesJudged *judged;
} Names;

/* Accounts on a store, with a cheap hash; for clients and for checkers. */
Accounts *names_accounts(Run *run, Store *store, World world);

extern const Checker CHECK_NAMES_OWNER;
extern const Checker CHECK_NAMES_TOLD;
extern const Checker CHECK_NAMES_SETTINGS;
