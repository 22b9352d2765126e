/* instance.c -- see instance.h. */
#include "instance.h"

#include "policies/policies_internal.h"

Tasks *instance(void)
{
    return tasks_new(&(TasksOptions){.store = stage.store,
                                     .shared = true,
                                     .world = stage.world,
                                     .accounts = stage.accounts,
                                     .policies = stage.policies,
                                     .votes = stage.votes,
                                     .creation_grace_s = S_PER_DAY,
                                     .address = "here"});
}

TaskInfo instance_info(Tasks *tasks, const char *name, uint32_t part)
{
    TaskInfo *infos;
    size_t count = 0;
    EXPECT_STATUS(tasks_list(tasks, stage.arena, &infos, &count), STATUS_OK);
    for (size_t i = 0; i < count; i++)
        if (strcmp(infos[i].name, name) == 0 && infos[i].part == part)
            return infos[i];
    test_fail(__FILE__, __LINE__, "there is no task %s/%u", name, part);
}

uint64_t instance_half_merged(void)
{
    uint64_t ann = stage_voter("ann");
    stage_pass_days(21);
    uint64_t source = stage_policy(ann, "Trams"), target = stage_policy(ann, "Railways");
    PolicyRow row;
    PolicyMove move = {.state = POLICY_MERGING,
                       .other = target,
                       .id = id_new(stage.world.clock, stage.world.random),
                       .reason = SLICE("the same")};
    EXPECT_STATUS(policy_row_read(stage.policies, source, STORE_SERIAL, stage.arena, &row),
                  STATUS_OK);
    EXPECT_STATUS(policy_append(stage.policies, &row, &move, 0), STATUS_OK);
    return source;
}

void instance_damage(const Table *table, Slice row, Slice column, Slice value)
{
    Cell cell;
    Read read = {table, row, column, STORE_SERIAL};
    EXPECT_STATUS(store_read(stage.store, &read, stage.arena, &cell), STATUS_OK);
    Condition condition = {.column = column, .value = cell.value};
    Change change = {.column = column, .value = value};
    Update update = {.table = table,
                     .row = row,
                     .conditions = &condition,
                     .condition_count = 1,
                     .changes = &change,
                     .change_count = 1};
    EXPECT_STATUS(store_update_if(stage.store, &update, stage.arena, NULL), STATUS_OK);
}
