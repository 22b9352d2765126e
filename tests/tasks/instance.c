/* instance.c -- see instance.h. */
#include "instance.h"

#include "policies/policies_private.h"

Tasks *instance(void)
{
    return tasks_new(&(TasksOptions){.store = fixture.store,
                                     .shared = true,
                                     .world = fixture.world,
                                     .accounts = fixture.accounts,
                                     .policies = fixture.policies,
                                     .votes = fixture.votes,
                                     .creation_grace_s = S_PER_DAY,
                                     .address = "here"});
}

TaskInfo instance_info(Tasks *tasks, const char *name, uint32_t part)
{
    TaskInfo *infos;
    size_t count = 0;
    EXPECT_STATUS(tasks_list(tasks, fixture.arena, &infos, &count), STATUS_OK);
    for (size_t i = 0; i < count; i++)
        if (strcmp(infos[i].name, name) == 0 && infos[i].part == part)
            return infos[i];
    test_fail(__FILE__, __LINE__, "there is no task %s/%u", name, part);
}

uint64_t instance_half_merged(void)
{
    uint64_t ann = ledger_fixture_voter("ann");
    ledger_fixture_pass_days(21);
    uint64_t source = ledger_fixture_policy(ann, "Trams"),
             target = ledger_fixture_policy(ann, "Railways");
    PolicyRow row;
    PolicyMove move = {.state = POLICY_MERGING,
                       .other = target,
                       .id = id_new(fixture.world.clock, fixture.world.random),
                       .reason = SLICE("the same")};
    EXPECT_STATUS(policy_row_read(fixture.policies, source, STORE_SERIAL, fixture.arena, &row),
                  STATUS_OK);
    EXPECT_STATUS(policy_append(fixture.policies, &row, &move, 0), STATUS_OK);
    return source;
}

void instance_damage(const Table *table, Slice row, Slice column, Slice value)
{
    Cell cell;
    Read read = {table, row, column, STORE_SERIAL};
    EXPECT_STATUS(store_read(fixture.store, &read, fixture.arena, &cell), STATUS_OK);
    Condition condition = {.column = column, .value = cell.value};
    Change change = {.column = column, .value = value};
    Update update = {.table = table,
                     .row = row,
                     .conditions = &condition,
                     .condition_count = 1,
                     .changes = &change,
                     .change_count = 1};
    EXPECT_STATUS(store_update_if(fixture.store, &update, fixture.arena, NULL), STATUS_OK);
}
