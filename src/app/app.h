/* app.h -- the modules of the site, opened on one store: what commands and pages work with.
 *
 * `serve` has one for its whole life, with a thread that carries saves to the counts; a command that opens the store by itself has
 * one for a moment and carries its own saves before it ends. */
#pragma once

#include <pthread.h>

#include "accounts/accounts.h"
#include "app/changes.h"
#include "audit/audit.h"
#include "base/config.h"
#include "base/vault.h"
#include "journal/journal.h"
#include "mail/mail.h"
#include "oidc/oidc.h"
#include "policies/policies.h"
#include "ranking/ranking.h"
#include "reports/reports.h"
#include "tasks/tasks.h"
#include "votes/votes.h"

typedef struct App {
    World world;
    const Config *config;
    const char *_Atomic home; /* where the site is, for links: "https://vote.example.org" */
    char *homes[2];           /* as the settings say it, and as it is served */
    ClockGuard *clock_guard;
    Store *store;
    Vault *vault;
    Audit *audit;
    Mail *mail;
    Oidc *oidc; /* other sites that people log in by */
    Accounts *accounts;
    uint32_t second_roles; /* that need the second factor (setting second_factor_roles) */
    Policies *policies;
    Votes *votes;
    Reports *reports;
    Ranking *ranking;
    bool ranking_loaded;          /* app_ranking does it when it is first needed */
    Tasks *tasks;                 /* app_tasks makes it when it is first needed */
    struct DigestWriter *digests; /* made with the tasks */
    Journals *journals;           /* app_journals opens them when they are first needed */
    pthread_t projector; /* the thread that carries saves to the counts, if it `projects` */
    bool projects;
    struct InstanceSync *sync;
    Changes *changes; /* who in this process hears of them */
} App;

typedef struct AppParts {
    Store *store;
    World world;
    Vault *vault;         /* which app_close frees */
    const Config *config; /* must outlive the app */
} AppParts;

/* app_close is due whatever it returns. */
MUST_USE Status app_open(const AppParts *parts, App *ret_app, Reason *reason);
/* Projects what was saved before, loads the ranking, and starts the threads: one that projects, one for the tasks, one that
 * sends mail, and one that follows what others changed (instance_sync.h). `address` is what
 * this instance is called, for people; it and the log must outlive the app. */
MUST_USE Status app_start(App *app, Log *log, const char *address, Reason *reason);
/* Ends the threads when there are any, and projects what waits; on a shared store for some seconds, since others or the next start find the
 * rest. */
void app_close(App *app);
/* Where the site is served, once that is known; copied. Once. */
void app_set_home(App *app, const char *home);
/* The ranking, loaded. */
MUST_USE Status app_ranking(App *app, Ranking **ret_ranking);
/* Whose scheduler runs only after app_start. */
Tasks *app_tasks(App *app);

/* ---- Journals ------------------------------------------------------------------------------------------------------------- */

/* Those of the site itself; the operator's file cannot declare a name that begins like them. */
#define APP_JOURNAL_PREFIX  "site."
#define APP_JOURNAL_TASKS   APP_JOURNAL_PREFIX "tasks"
#define APP_JOURNAL_MAIL    APP_JOURNAL_PREFIX "mail"
#define APP_JOURNAL_DIGESTS APP_JOURNAL_PREFIX "digests"

/* This instance's journals, in `journal` below the data directory, also where the store is a cluster: the site's own, and those that the
 * setting journal_file declares. Opened by app_start, or by the first call; calls before app_start come from one thread. INVALID names
 * journal_file and the line. */
MUST_USE Status app_journals(App *app, Journals **ret_journals, Reason *reason);
/* Reads journal_file again. What is wrong with it leaves everything as it was. */
MUST_USE Status app_journals_reload(App *app, Reason *reason);
