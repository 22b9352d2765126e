/* background_tasks.h -- the work that the site does by itself, as every door shows it. The operations are in background_tasks.c. */
#pragma once

#include "operations/operation.h"

/* A task over all its parts. */
typedef struct TaskLine {
    const char *name, *help, *state;
    int64_t period_s, begun_us, whole_us, took_ms, error_us;
    uint64_t done, found, errors, parts, parts_under_way;
    Slice parts_here; /* those that this instance works on: "0, 3" */
    Slice error;
} TaskLine;

typedef struct TaskList {
    int64_t now_us;
    TaskLine *tasks;
    size_t count;
} TaskList;
MUST_USE Status task_lines(Operations *ops, Arena *arena, TaskList *ret_list);
