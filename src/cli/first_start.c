/* first_start.c -- see demo.h. */
#include "cli/demo.h"
#include "cli/open.h"

enum { VOTERS = 2500, POLICIES = 320, DAYS = 60, SEED = 7 };
static const int64_t HOUR_US = INT64_C(3600) * US_PER_S;

static Status is_new(Context *context, bool *ret_new, Reason *reason)
{
    Slice *names;
    size_t count;
    Status status = disk_list(context->world.disk, context->config->data, context->arena, &names,
                              &count, reason);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND)
        return status;
    *ret_new = status == STATUS_NOT_FOUND;
    return STATUS_OK;
}

static const char *beside(Context *context)
{
    Slice data = slice_from(context->config->data);
    while (data.size > 1 && data.data[data.size - 1] == '/')
        data.size--;
    return arena_text(context->arena, arena_print(context->arena, "%.*s.filling", SLICE_ARG(data)));
}

Status demo_first_start(Context *context, Reason *reason)
{
    bool new;
    DemoSummary summary;
    Config config = *context->config;
    Context inner = *context;
    int64_t now_us = clock_now_us(context->world.clock);
    DemoPlan plan = {.voters = VOTERS,
                     .policies = POLICIES,
                     .days = DAYS,
                     .seed = SEED,
                     .until_us = now_us / HOUR_US * HOUR_US};
    if (config.empty || !open_is_embedded(&config) || !open_is_loopback(&config))
        return STATUS_OK;
    TRY(is_new(context, &new, reason));
    if (!new)
        return STATUS_OK;
    command_print(context, "A new site: filling it with a demo, which takes some seconds.\n");
    config.key_file = open_key_path(context->config, context->arena);
    config.data = beside(context);
    inner.config = &config;
    TRY(disk_remove_tree(context->world.disk, config.data,
                         reason)); /* of a start that was cut off */
    TRY(demo_fill(&inner, &plan, &summary, reason));
    return disk_rename(context->world.disk, config.data, context->config->data, reason);
}
