/* vote_history.h -- what somebody saved and earned, as every door shows it. */
#pragma once

#include "operations/my_policy.h"

typedef struct MyChange {
    MyPolicy policy;
    int64_t before, held;
} MyChange;

/* A save, or a salary. */
typedef struct MyEvent {
    int64_t time_us;
    bool is_salary;
    int64_t pollies; /* of the salary */
    uint64_t seq;    /* of the save, as the next */
    Id version;
    uint32_t setting_version;
    bool closing;
    uint64_t created; /* policy, or 0 */
    MyChange *changes;
    size_t change_count;
} MyEvent;

enum { MY_HISTORY_PAGE = 20, MY_HISTORY_MAX = 1000, MY_SALARIES_MAX = 400 };

typedef struct MyHistory {
    int64_t now_us;
    MyEvent *events; /* the newest first; a salary belongs to the page in whose time it falls */
    size_t count;
    uint64_t before; /* ask for the next page with this; 0: there is none */
    Slice next;      /* the address of the next page, for programs */
} MyHistory;

typedef struct VoteHistory {
    uint64_t before; /* saves with a smaller number; 0: from the newest */
    uint32_t limit;  /* saves */
} VoteHistory;
MUST_USE Status my_history(Operations *ops, const Account *account, const VoteHistory *request,
                           Arena *arena, MyHistory *ret_history);
