/* recorded_site.h -- a site in which every kind of stored cell is written once, at known times and with known luck.
 *
 * Luck depends on the clock alone, which moves only between two steps, so the bytes do not depend on how often a step asks for
 * either. */
#pragma once

#include "access/credentials.h"
#include "access/linked_login_journeys.h"
#include "access/linked_logins.h"
#include "access/second_factor.h"
#include "access/tokens.h"
#include "accounts/digests.h"
#include "audit/audit.h"
#include "electorate/electorate.h"
#include "mail/suppress.h"
#include "policies/answers.h"
#include "policies/featured.h"
#include "reports/reports.h"
#include "settings/retention.h"
#include "tasks/tasks_private.h"
#include "test.h"
#include "texts/texts.h"
#include "world.h"

typedef struct RecordedSite {
    TestWorld own;
    World world;
    Arena *arena;
    Store *store;
    Config config;
    Accounts *accounts;
    Policies *policies;
    Reports *reports;
    Audit *audit;
    Mail *mail;
    Votes *votes;
    Tasks *tasks;
    int mail_code; /* what the mail server answers */
} RecordedSite;

extern RecordedSite site;

/* An empty store and all handles. */
void recorded_begin(void);
void recorded_end(void);
/* Everything that is recorded, step by step. */
void recorded_run(void);
/* A second passes. */
void recorded_tick(void);
