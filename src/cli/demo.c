/* demo.c -- `ostraka demo`: a data directory with a past, made by the site's own operations on a clock of their own.
 *
 * It opens the directory itself and without syncs (what is lost can be made again), so a server that owns it must be stopped first.
 * Only an empty ledger is filled: what a site has must never be mixed with inventions. */
#include <stdio.h>
#include <unistd.h>

#include "base/log.h"
#include "cli/arguments.h"
#include "cli/demo.h"
#include "cli/ledger_commands.h"
#include "cli/open.h"
#include "cli/site_facts.h"

enum { BAR_CELLS = 30, BAR_MS = 100, LINES = 10 };
#define HOUR_US (INT64_C(3600) * US_PER_S)

/* ---- What is asked for ----------------------------------------------------------------------------------------- */

static Status plan_of(Context *context, DemoPlan *ret_plan, Reason *reason)
{
    int64_t voters, policies, days, seed, until_us, now_us = clock_now_us(context->world.clock);
    TRY(argument_number(context, "voters", 1, DEMO_VOTERS_MAX, 1000, &voters, reason));
    TRY(argument_number(context, "policies", 0, DEMO_POLICIES_MAX, 100, &policies, reason));
    TRY(argument_number(context, "days", 1, DEMO_DAYS_MAX, 30, &days, reason));
    TRY(argument_number(context, "seed", 0, INT64_MAX, 1, &seed, reason));
    TRY(argument_time(context, "until", now_us, &until_us, reason));
    if (until_us > now_us)
        return reason_set(reason, STATUS_INVALID, "until", "that time is not over yet");
    if (until_us < (DEMO_DAYS_MAX + 1) * S_PER_DAY * US_PER_S)
        return reason_set(reason, STATUS_INVALID, "until", "that time is too long ago");
    if (policies > voters)
        return reason_set(reason, STATUS_INVALID, "policies", "at most one policy a voter");
    *ret_plan = (DemoPlan){.voters = (uint64_t)voters,
                           .policies = (uint64_t)policies,
                           .days = (uint32_t)days,
                           .seed = (uint64_t)seed,
                           .until_us = until_us / HOUR_US * HOUR_US};
    return STATUS_OK;
}

/* Whether anybody has used the directory as a site. Categories alone are no data: every site begins with them. */
static Status check_empty(Store *store, const char *directory, Reason *reason)
{
    const Table *const tables[] = {&TABLE_ACCOUNTS, &TABLE_POLICIES, &TABLE_VOTERS};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        ARENA_SCOPE Arena *arena = arena_new();
        ScanPage page;
        TRY(store_scan(store, tables[i], SLICE_EMPTY, 1, arena, &page));
        if (page.count > 0)
            return reason_set(reason, STATUS_REFUSED, "data",
                              "%s holds data already; demo data needs a directory of its own",
                              directory);
    }
    return STATUS_OK;
}

/* ---- Progress -------------------------------------------------------------------------------------------------- */

typedef struct Audience {
    Context *context;
    const DemoPlan *plan;
    bool terminal;
    int64_t bar_us;  /* steady clock: when the bar was last drawn */
    uint64_t tenths; /* for those who read a log: told so far */
} Audience;

static void tell(const Audience *audience, uint64_t hour, const DemoSummary *summary)
{
    Output output = audience->context->output;
    char text[200];
    int size =
        snprintf(text, sizeof text, "day %llu of %u: %llu voters, %llu policies, %llu saves\n",
                 (unsigned long long)((hour + 23) / 24), audience->plan->days,
                 (unsigned long long)summary->voters, (unsigned long long)summary->policies,
                 (unsigned long long)summary->saves);
    output.write(output.self, 2, slice_of(text, (size_t)size));
}

static void show(void *self, uint64_t hour, uint64_t hours, const DemoSummary *summary)
{
    Audience *audience = self;
    int64_t now_us = clock_steady_us(audience->context->world.clock);
    if (audience->terminal && (now_us - audience->bar_us >= BAR_MS * US_PER_MS || hour == hours)) {
        audience->bar_us = now_us;
        Output output = audience->context->output;
        char text[200];
        int filled = (int)(hour * BAR_CELLS / hours);
        int size = snprintf(text, sizeof text, "\r[%.*s%*s] day %llu of %u, %llu saves", filled,
                            "##############################", BAR_CELLS - filled, "",
                            (unsigned long long)((hour + 23) / 24), audience->plan->days,
                            (unsigned long long)summary->saves);
        output.write(output.self, OUTPUT_PROGRESS, slice_of(text, (size_t)size));
    }
    if (!audience->terminal && hour * LINES / hours > audience->tenths) {
        audience->tenths = hour * LINES / hours;
        tell(audience, hour, summary);
    }
}

/* ---- Doing it -------------------------------------------------------------------------------------------------- */

/* They came with the first of the crowd, so they have something to spend. */
static Status add_people(App *app, const DemoPlan *plan, Reason *reason)
{
    static const struct {
        const char *name;
        uint32_t roles;
    } PEOPLE[] = {{DEMO_VOTER, 0},
                  {"moderator", 1u << ROLE_MODERATE_POLICIES | 1u << ROLE_FEATURE},
                  {"admin", 1u << ROLE_ADMIN}};
    for (size_t i = 0; i < sizeof PEOPLE / sizeof PEOPLE[0]; i++) {
        char email[64];
        uint64_t id;
        snprintf(email, sizeof email, "%s@demo.example", PEOPLE[i].name);
        Registration person = {.name = slice_from(PEOPLE[i].name),
                               .email = slice_from(email),
                               .password = SLICE(DEMO_PASSWORD),
                               .confirmed = true,
                               .roles = PEOPLE[i].roles,
                               .registered_us =
                                   plan->until_us - (int64_t)plan->days * S_PER_DAY * US_PER_S};
        TRY(accounts_register(app->accounts, &person, &id, reason));
    }
    return STATUS_OK;
}

Status demo_fill(Context *context, const DemoPlan *plan, DemoSummary *ret_summary, Reason *reason)
{
    DemoWorld own;
    App app = {0};
    Store *store;
    World world = demo_world(&own, context->world, plan);
    Audience audience = {.context = context, .plan = plan, .terminal = isatty(STDERR_FILENO)};
    TRY(open_store(context->config, world, &(OpenHow){.bulk = true}, &store, reason));
    AppParts parts = {store, world, NULL, context->config};
    Status status = check_empty(store, context->config->data, reason);
    if (status == STATUS_OK) /* the key is real */
        status = open_vault(context->config, context->world, store, &parts.vault, reason);
    if (status == STATUS_OK)
        status = app_open(&parts, &app, reason);
    if (status == STATUS_OK)
        status = demo_run(&(DemoRun){&app, &own, plan, show, &audience}, ret_summary, reason);
    if (status == STATUS_OK)
        status = add_people(&app, plan, reason);
    if (status == STATUS_OK)
        status = site_set_demo(store, world);
    app_close(&app);
    store_close(store);
    if (audience.terminal)
        context->output.write(context->output.self, OUTPUT_PROGRESS, SLICE("\r\x1b[K"));
    return status;
}

static void print_summary(Context *context, const DemoPlan *plan, const DemoSummary *summary)
{
    const struct {
        const char *name;
        uint64_t count;
    } figures[] = {{"voters", summary->voters}, {"policies", summary->policies},
                   {"saves", summary->saves},   {"refused", summary->refused},
                   {"merged", summary->merged}, {"retired", summary->retired},
                   {"hidden", summary->hidden}, {"edited", summary->edited}};
    BUFFER_SCOPE Buffer out = {0};
    JsonWriter json = json_writer(&out);
    char until[LOG_TIME_TEXT];
    log_format_time(plan->until_us, until);
    json_object_begin(&json);
    json_member_text(&json, "until", until);
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
        json_member_i64(&json, figures[i].name, (int64_t)figures[i].count);
        if (!context->parsed.json)
            command_print(context, "%8llu %s\n", (unsigned long long)figures[i].count,
                          figures[i].name);
    }
    json_object_end(&json);
    if (context->parsed.json)
        command_json(context, &out);
    else
        command_print(context, "%u days of a site until %s, in %s\n", plan->days, until,
                      context->config->data);
}

int run_demo(Context *context)
{
    DemoPlan plan;
    DemoSummary summary;
    Reason reason = {0};
    Status status = plan_of(context, &plan, &reason);
    if (status == STATUS_OK)
        status = demo_fill(context, &plan, &summary, &reason);
    if (status != STATUS_OK)
        return command_fail(context, status, &reason);
    print_summary(context, &plan, &summary);
    return EXIT_DONE;
}
