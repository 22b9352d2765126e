/* verify_commands.c -- the auditor. */
#include "cli/ledger_commands.h"
#include "operations/store_state.h"

/* ---- Verify -------------------------------------------------------------------------------------------------- */

/* One process has the directory and one handle the votes, so nobody else's cache has to be waited for; a moment lets rounds end
 * that are under way. */
enum { SETTLE_S = 1, FAULTS_SHOWN = 1000, BAR_MS = 200, BAR_CELLS = 30 };

typedef struct Audience {
    Context *context;
    Buffer faults; /* a JSON array's elements */
    JsonWriter json;
    uint64_t shown;
    int64_t bar_us; /* steady clock: when the bar was last drawn */
} Audience;

static void show_bar(void *self, const VerifyProgress *progress)
{
    Audience *audience = self;
    Context *context = audience->context;
    int64_t now_us = clock_steady_us(context->world.clock);
    if (now_us - audience->bar_us < BAR_MS * US_PER_MS)
        return;
    audience->bar_us = now_us;
    uint64_t expected = progress->expected > progress->done ? progress->expected : progress->done;
    int filled = progress->expected == 0 ? 0 : (int)(progress->done * BAR_CELLS / expected);
    Slice line = arena_print(context->arena, "\r%-10s [%.*s%*s] %llu", progress->stage, filled,
                             "##############################", BAR_CELLS - filled, "",
                             (unsigned long long)progress->done);
    context->output.write(context->output.self, OUTPUT_PROGRESS, line);
}

static void end_bar(Audience *audience)
{
    Output *output = &audience->context->output;
    if (audience->bar_us > 0)
        output->write(output->self, OUTPUT_PROGRESS, SLICE("\r\x1b[K"));
    audience->bar_us = 0;
}

static void show_fault(void *self, const VerifyFault *fault)
{
    Audience *audience = self;
    if (audience->shown++ >= FAULTS_SHOWN)
        return;
    end_bar(audience);
    json_object_begin(&audience->json);
    json_member_text(&audience->json, "in", verify_kind_text(fault->kind));
    json_member_text(&audience->json, "what", fault->words);
    json_object_end(&audience->json);
    if (!audience->context->parsed.json)
        command_print(audience->context, "%s: %s\n", verify_kind_text(fault->kind), fault->words);
}

static Status look(const VerifyOptions *options, Audience *audience, VerifyReport *ret_report)
{
    buffer_clear(&audience->faults);
    audience->json = json_writer(&audience->faults);
    json_array_begin(&audience->json);
    audience->shown = 0;
    Status status = verify_run(options, ret_report);
    json_array_end(&audience->json);
    end_bar(audience);
    if (status == STATUS_OK && audience->shown > FAULTS_SHOWN && !audience->context->parsed.json)
        command_print(audience->context, "… and %llu more\n",
                      (unsigned long long)(audience->shown - FAULTS_SHOWN));
    return status;
}

static bool can_heal(const VerifyReport *report)
{
    for (int i = 0; i < VERIFY_KIND_COUNT; i++)
        if (report->faults[i] > 0 && verify_kind_heals((VerifyKind)i))
            return true;
    return false;
}

/* Looks; with --repair heals and looks again. `*ret_repaired` says whether anything was healed. */
static Status audit(Context *context, Audience *audience, VerifyReport *ret_report,
                    bool *ret_repaired, Reason *reason)
{
    App *app = context->app;
    VerifyOptions options = {.store = app->store,
                             .world = app->world,
                             .accounts = app->accounts,
                             .policies = app->policies,
                             .votes = app->votes,
                             .settle_s = SETTLE_S,
                             .progress = show_bar,
                             .fault = show_fault,
                             .self = audience};
    TRY(app_ranking(app, &options.ranking));
    TRY(look(&options, audience, ret_report));
    *ret_repaired = command_flag(context, "repair").data != NULL && can_heal(ret_report);
    if (!*ret_repaired)
        return STATUS_OK;
    Status healed = store_repair(context->ops, &COMMAND_OPERATOR, &options, ret_report, reason);
    if (healed != STATUS_CORRUPT) /* a voter's log cannot be read: the second look names them */
        TRY(healed);
    end_bar(audience);
    if (!context->parsed.json)
        command_print(context, "built anew; looking again\n");
    return look(&options, audience, ret_report);
}

static void print_json(Context *context, const VerifyReport *report, const Audience *audience,
                       bool repaired)
{
    BUFFER_SCOPE Buffer out = {0};
    JsonWriter json = json_writer(&out);
    json_object_begin(&json);
    json_member_i64(&json, "voters", (int64_t)report->voters);
    json_member_i64(&json, "entries", (int64_t)report->entries);
    json_member_i64(&json, "policies", (int64_t)report->policies);
    json_member_i64(&json, "cells", (int64_t)report->cells);
    json_member_i64(&json, "looked_again", (int64_t)report->again);
    json_member_i64(&json, "busy", (int64_t)report->busy);
    json_member_i64(&json, "old_sets", (int64_t)report->old);
    json_member_bool(&json, "repaired", repaired);
    json_member_i64(&json, "faults", (int64_t)verify_faults(report));
    json_key(&json, "by_table");
    json_object_begin(&json);
    for (int i = 0; i < VERIFY_KIND_COUNT; i++)
        if (report->faults[i] > 0)
            json_member_i64(&json, verify_kind_text((VerifyKind)i), (int64_t)report->faults[i]);
    json_object_end(&json);
    buffer_text(&out, ",\"differences\":"); /* written before, as they were found */
    buffer_bytes(&out, buffer_slice(&audience->faults));
    buffer_text(&out, "}\n");
    command_write(context, buffer_slice(&out));
}

static void print_words(Context *context, const VerifyReport *report)
{
    command_print(context, "%llu voters with %llu entries, %llu policies, %llu cells of counts",
                  (unsigned long long)report->voters, (unsigned long long)report->entries,
                  (unsigned long long)report->policies, (unsigned long long)report->cells);
    if (report->again > 0)
        command_print(context, "; %llu looked at again", (unsigned long long)report->again);
    if (report->busy > 0)
        command_print(context, "; %llu changed all the time and were not judged",
                      (unsigned long long)report->busy);
    if (report->old > 0)
        command_print(context, "; %llu older sets of counts, left by repairs, take space",
                      (unsigned long long)report->old);
    command_print(context, verify_faults(report) == 0 ? ": nothing differs\n" : "\n");
}

int run_verify(Context *context)
{
    Audience audience = {.context = context};
    VerifyReport report = {0};
    Reason reason = {0};
    bool repaired = false;
    Status status = audit(context, &audience, &report, &repaired, &reason);
    if (status == STATUS_CONFLICT)
        (void)reason_set(&reason, status, "", "somebody else repairs the counts; try again later");
    if (status == STATUS_OK && context->parsed.json)
        print_json(context, &report, &audience, repaired);
    else if (status == STATUS_OK)
        print_words(context, &report);
    buffer_free(&audience.faults);
    if (status == STATUS_OK && verify_faults(&report) > 0)
        status = reason_set(&reason, STATUS_CORRUPT, "", "%llu differences%s",
                            (unsigned long long)verify_faults(&report),
                            can_heal(&report) ? "; `ostraka verify --repair` heals derived rows"
                                              : " that no repair heals");
    return status == STATUS_OK ? EXIT_DONE : command_fail(context, status, &reason);
}
