/* app.c -- see app.h. */
#include "app/app.h"

#include <stdlib.h>

#include "app/digest_letters.h"
#include "app/instance_sync.h"
#include "app/journal_watch.h"
#include "app/obliterate.h"
#include "app/policy_letters.h"
#include "app/report_letters.h"
#include "base/read_cache.h"
#include "base/threads.h"
#include "electorate/electorate.h"

enum { ID_BLOCK = 64, REPORT_ID_BLOCK = 8, PAUSE_US = 2000 };
enum { CREATION_GRACE_S = 86400, S_PER_HOUR = 3600 };
enum { LAST_S = 5, LAST_VOTERS = 16 };
/* How long facts of policies may come from the cache, which the process's own changes correct, as do the marks of others (instance_sync.h); rules
 * are safe with older ones (policy_rules.h). A site with 200,000 policies would read them all anew each minute. */
enum { CACHE_S = 600, SHARED_CACHE_S = 60 };
/* How long pages are made from copies of accounts, sessions and voters' rows, where others write, too. The process's own writes drop
 * them. */
enum { READ_CACHE_SHARED_S = 1 };

static int64_t read_cache_us(const Store *store)
{
    return store_is_shared(store) ? READ_CACHE_SHARED_S * US_PER_S : READ_CACHE_EXACT;
}

static Accounts *open_accounts(const AppParts *parts)
{
    const Config *config = parts->config;
    AccountsOptions options = {
        .store = parts->store,
        .world = parts->world,
        .vault = parts->vault,
        .hasher = password_bcrypt(OSTRAKA_BCRYPT_COST),
        .id_block = ID_BLOCK,
        .sessions = {.idle_s = config->session_idle_days * S_PER_DAY,
                     .brief_idle_s = config->session_idle_hours * S_PER_HOUR,
                     .most_s = config->session_days * S_PER_DAY},
        .passwords = {(uint32_t)config->password_threads, (uint32_t)config->password_queue},
        .entry_rule = electorate_has_entries,
        .return_days = config->return_days,
        .read_cache_us = read_cache_us(parts->store),
    };
    return accounts_new(&options);
}

void app_set_home(App *app, const char *home)
{
    char **own = &app->homes[app->homes[0] != NULL]; /* somebody may be reading the first */
    CHECK(*own == NULL);
    *own = strdup(home);
    CHECK(*own != NULL);
    app->home = *own;
}

/* Until it is served: the setting, or the address to listen on. */
static void set_first_home(App *app)
{
    ARENA_SCOPE Arena *arena = arena_new();
    const Config *config = app->config;
    app_set_home(app, config->public_url[0] != '\0'
                          ? config->public_url
                          : arena_text(arena, arena_print(arena, "http://%s", config->listen)));
}

Status app_open(const AppParts *parts, App *ret_app, Reason *reason)
{
    Store *store = parts->store;
    World world = parts->world;
    bool shared = store_is_shared(store);
    App app = {.world = world, .config = parts->config, .store = store, .vault = parts->vault};
    app.audit = audit_new(&(AuditOptions){store, world, parts->vault});
    app.accounts = open_accounts(parts);
    app.clock_guard = clock_guard_new(world.clock);
    app.policies = policies_new(&(PoliciesOptions){.store = store,
                                                   .world = world,
                                                   .clock_guard = app.clock_guard,
                                                   .id_block = ID_BLOCK,
                                                   .cache_s = shared ? SHARED_CACHE_S : CACHE_S});
    app.reports = reports_new(&(ReportsOptions){.store = store,
                                                .world = world,
                                                .vault = parts->vault,
                                                .accounts = app.accounts,
                                                .policies = app.policies,
                                                .id_block = REPORT_ID_BLOCK});
    app.ranking =
        ranking_new(&(RankingOptions){.store = store,
                                      .world = world,
                                      .policies = app.policies,
                                      .window_days = (uint32_t)SETTINGS_AT_FIRST.window_days,
                                      .shared = shared});
    app.changes = changes_new(app.policies, app.ranking);
    app.votes = votes_new(&(VotesOptions){.store = store,
                                          .world = world,
                                          .accounts = app.accounts,
                                          .policies = app.policies,
                                          .audit = app.audit,
                                          .listener = changes_of_votes(app.changes),
                                          .shared = shared,
                                          .read_cache_us = read_cache_us(store)});
    app.sync =
        instance_sync_new(&(InstanceSyncOptions){store, app.ranking, app.changes, world.clock});
    *ret_app = app;
    set_first_home(ret_app);
    TRY(account_roles_from(slice_from(parts->config->second_factor_roles), "second_factor_roles",
                           &ret_app->second_roles, reason));
    TRY(oidc_open(world, parts->config->oidc_file, &ret_app->oidc, reason));
    MailOptions mail = {
        .store = store, .world = world, .vault = parts->vault, .config = parts->config};
    TRY(mail_open(&mail, &ret_app->mail, reason));
    return policies_ensure_categories(app.policies, POLICY_CATEGORIES, POLICY_CATEGORY_COUNT,
                                      reason);
}

static Status project_all(App *app)
{
    size_t taken = 1;
    while (taken > 0)
        TRY(votes_project_waiting(app->votes, SIZE_MAX, &taken));
    return STATUS_OK;
}

/* Before the end. Where others share the store they find by its marks what is left, and nobody has to wait for it here. */
static void project_last(App *app)
{
    int64_t until_us = clock_steady_us(app->world.clock) + LAST_S * US_PER_S;
    size_t taken = 1;
    if (!store_is_shared(app->store)) {
        (void)!project_all(app);
        return;
    }
    while (taken > 0 && clock_steady_us(app->world.clock) < until_us &&
           votes_project_waiting(app->votes, LAST_VOTERS, &taken) == STATUS_OK)
        continue;
}

/* Carries saves to the counts as they come; a short pause gathers several into one round. */
static void *project_saves(void *argument)
{
    App *app = argument;
    while (votes_projection_await(app->votes)) {
        size_t taken;
        clock_sleep_us(app->world.clock, PAUSE_US);
        (void)!votes_project_waiting(app->votes, SIZE_MAX,
                                     &taken); /* what fails is found again by its mark */
    }
    return NULL;
}

/* What was set for what is not the accounts' own. */
static void keep_for(void *self, const Retention *retention)
{
    App *app = self;
    audit_keep_days(app->audit, retention->acts);
    mail_keep_failed(app->mail, retention->letters);
}

static void hear_task(void *self, uint64_t policy, uint64_t account)
{
    App *app = self;
    changes_notify(app->changes, policy != 0 ? CHANGE_POLICY : CHANGE_ACCOUNT,
                   policy != 0 ? policy : account);
}

static void make_tasks(App *app, Log *log, const char *address)
{
    app->digests = digest_writer_new(app);
    app->tasks = tasks_new(&(TasksOptions){
        .store = app->store,
        .shared = store_is_shared(app->store),
        .world = app->world,
        .clock_guard = app->clock_guard,
        .journals = app->journals,
        .journal = APP_JOURNAL_TASKS,
        .accounts = app->accounts,
        .policies = app->policies,
        .votes = app->votes,
        .reports = app->reports,
        .ranking = app->ranking,
        .log = log,
        .keep = keep_for,
        .keep_self = app,
        .creation_grace_s = CREATION_GRACE_S,
        .address = address,
        .answer_teller = {app_tell_answer_due, app},
        .report_teller = {app_tell_reports, app},
        .journal_teller = {app->watch != NULL ? journal_watch_look : NULL, app->watch},
        .hidden_teller = {app_tell_hidden, app},
        .obliterator = {app_obliterate, app},
        .digest_teller = {app_send_digest, app->digests},
        .listener = {hear_task, app}});
}

Status app_start(App *app, Log *log, const char *address, Reason *reason)
{
    Ranking *ranking;
    Journals *journals;
    audit_name(app->audit, slice_from(address));
    app->watch = journal_watch_new(app, address);
    TRY(app_journals(app, &journals, reason));
    mail_use_journal(app->mail, journals, APP_JOURNAL_MAIL);
    make_tasks(app, log, address);
    Status status = tasks_catch_up(app->tasks, reason);
    if (status == STATUS_OK)
        status = app_ranking(app, &ranking);
    if (status != STATUS_OK)
        return reason_set(reason, status, "data", "the counts could not be read: %s",
                          status_text(status));
    app->projector = thread_start(THREAD_PROJECTOR, project_saves, app);
    app->projects = true;
    instance_sync_start(app->sync);
    tasks_start(app->tasks);
    mail_start(app->mail);
    return STATUS_OK;
}

void app_close(App *app)
{
    if (app->votes == NULL)
        return;
    if (app->mail != NULL)
        mail_stop(app->mail);
    if (app->tasks != NULL)
        tasks_stop(app->tasks);
    instance_sync_free(app->sync);
    if (app->projects) {
        votes_projection_end_await(app->votes);
        pthread_join(app->projector, NULL);
    }
    project_last(app);
    tasks_free(app->tasks);
    digest_writer_free(app->digests);
    votes_free(app->votes);
    changes_free(app->changes);
    ranking_free(app->ranking);
    reports_free(app->reports);
    policies_free(app->policies);
    clock_guard_free(app->clock_guard);
    accounts_free(app->accounts);
    mail_close(app->mail);
    if (app->journals != NULL)
        journals_close(app->journals);
    journal_watch_free(app->watch);
    oidc_close(app->oidc);
    audit_free(app->audit);
    vault_free(app->vault);
    free(app->homes[0]);
    free(app->homes[1]);
}

Status app_ranking(App *app, Ranking **ret_ranking)
{
    if (!app->ranking_loaded) {
        TRY(project_all(app));
        TRY(ranking_load(app->ranking, app->votes));
        app->ranking_loaded = true;
    }
    *ret_ranking = app->ranking;
    return STATUS_OK;
}

Tasks *app_tasks(App *app)
{
    if (app->tasks == NULL)
        make_tasks(app, NULL, "a command");
    return app->tasks;
}
