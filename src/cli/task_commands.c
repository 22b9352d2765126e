/* task_commands.c -- the work behind the site, and the auditor. */
#include <stdio.h>

#include "base/log.h"
#include "cli/ledger_commands.h"
#include "verify/verify.h"

/* ---- Tasks ------------------------------------------------------------------------------------------------- */

/* A moment for people and scripts; "never" and null for none. */
static const char *time_text(int64_t us, Arena *arena)
{
    char *text = arena_bytes(arena, LOG_TIME_TEXT);
    if (us == 0)
        return "never";
    log_format_time(us, text);
    return text;
}

static void put_time(JsonWriter *json, const char *key, int64_t us, Arena *arena)
{
    json_key(json, key);
    if (us == 0)
        json_put_null(json);
    else
        json_put_string(json, slice_from(time_text(us, arena)));
}

static void put_task(JsonWriter *json, const TaskInfo *info, Arena *arena)
{
    json_object_begin(json);
    json_member_text(json, "name", info->name);
    json_member_i64(json, "part", info->part);
    json_member_i64(json, "parts", info->parts);
    json_member_i64(json, "period_s", info->period_s);
    json_member_text(json, "help", info->help);
    json_member_bool(json, "here", info->here);
    json_member_bool(json, "under_way", info->under_way);
    put_time(json, "begun", info->begun_us, arena);
    put_time(json, "ended", info->ended_us, arena);
    put_time(json, "whole", info->whole_us, arena);
    json_member_i64(json, "took_us", info->took_us);
    json_member_i64(json, "done", (int64_t)info->done);
    json_member_i64(json, "found", (int64_t)info->found);
    json_member_i64(json, "errors", (int64_t)info->errors);
    put_time(json, "error_time", info->error_us, arena);
    json_member_string(json, "error", info->error);
    json_object_end(json);
}

static void print_task(Context *context, const TaskInfo *info)
{
    Slice name = info->parts == 1 ? arena_print(context->arena, "%s", info->name)
                                  : arena_print(context->arena, "%s/%u", info->name, info->part);
    command_print(context, "%-15.*s %-9s %-24s %9.3f s %9llu %7llu  %llu%s%.*s\n", SLICE_ARG(name),
                  info->under_way ? "under way" : (info->here ? "waits" : "elsewhere"),
                  time_text(info->begun_us, context->arena),
                  (double)info->took_us / (double)US_PER_S, (unsigned long long)info->done,
                  (unsigned long long)info->found, (unsigned long long)info->errors,
                  info->error.size > 0 ? ": " : "", SLICE_ARG(info->error));
}

int run_task_list(Context *context)
{
    TaskInfo *infos;
    size_t count;
    Status status = tasks_list(app_tasks(context->app), context->arena, &infos, &count);
    if (status != STATUS_OK)
        return command_fail(context, status, NULL);
    BUFFER_SCOPE Buffer out = {0};
    JsonWriter json = json_writer(&out);
    json_array_begin(&json);
    if (!context->parsed.json)
        command_print(context, "%-15s %-9s %-24s %11s %9s %7s  %s\n", "task", "state", "last began",
                      "took", "done", "found", "errors");
    for (size_t i = 0; i < count; i++) {
        put_task(&json, &infos[i], context->arena);
        if (!context->parsed.json)
            print_task(context, &infos[i]);
    }
    json_array_end(&json);
    if (context->parsed.json)
        command_json(context, &out);
    return EXIT_DONE;
}

/* What the task did, over all its parts. */
static int tell_run(Context *context, Tasks *tasks, Slice name)
{
    TaskInfo *infos;
    size_t count;
    uint64_t done = 0, found = 0;
    Status status = tasks_list(tasks, context->arena, &infos, &count);
    if (status != STATUS_OK)
        return command_fail(context, status, NULL);
    for (size_t i = 0; i < count; i++)
        if (slice_equal(name, slice_from(infos[i].name))) {
            done += infos[i].done;
            found += infos[i].found;
        }
    if (context->parsed.json)
        command_print(context, "{\"done\":%llu,\"found\":%llu}\n", (unsigned long long)done,
                      (unsigned long long)found);
    else
        command_print(context, "%.*s: %llu done, %llu found\n", SLICE_ARG(name),
                      (unsigned long long)done, (unsigned long long)found);
    return EXIT_DONE;
}

static Status run_noted(Context *context, Tasks *tasks, Slice name, Reason *reason)
{
    Ranking *ranking;
    Id note;
    TRY(app_ranking(context->app, &ranking)); /* some tasks work on it */
    TRY(command_act(context, &(Act){.kind = ACT_TASK_RUN, .details = name}, &note, reason));
    return command_act_end(context, note, tasks_run(tasks, name, reason));
}

int run_task_run(Context *context)
{
    Tasks *tasks = app_tasks(context->app);
    Reason reason = {0};
    Slice name = context->parsed.operands[0];
    Status status = run_noted(context, tasks, name, &reason);
    if (status != STATUS_OK)
        return command_fail(context, status, &reason);
    return tell_run(context, tasks, name);
}

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
    Id note;
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
    TRY(command_act(context, &(Act){.kind = ACT_REPAIR}, &note, reason));
    TRY(command_act_end(context, note, verify_repair(&options, ret_report)));
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
