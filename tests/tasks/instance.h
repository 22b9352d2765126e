/* instance.h -- an instance that has tasks, on the fixture of votes/ledger_fixture.h. */
#pragma once

#include "ledger_fixture.h"
#include "tasks/tasks_private.h"

/* To be freed by the test. */
Tasks *instance(void);
/* What is listed of a part of a task; fails the test when it is not there. */
TaskInfo instance_info(Tasks *tasks, const char *name, uint32_t part);
/* A policy as a process leaves it that is killed in the middle of merging it with another. */
uint64_t instance_half_merged(void);
/* Overwrites a cell of a conditional table behind everybody's back. */
void instance_damage(const Table *table, Slice row, Slice column, Slice value);
