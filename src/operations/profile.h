/* profile.h -- what somebody has, created and voted for, their salary and their name, as every door shows it. */
#pragma once

#include "operations/my_policy.h"

enum { PROFILE_POLICIES = 20, PROFILE_POLICIES_MAX = 1000, PROFILE_SALARIES = 10 };

typedef struct MyProfile {
    int64_t now_us;
    Account account;
    int64_t balance;
    size_t voted_for;   /* lines as the voter sees them */
    size_t created;     /* at most PROFILE_POLICIES_MAX are counted */
    MyPolicy *policies; /* the newest of them */
    size_t policy_count;
    SalaryEntry salaries[PROFILE_SALARIES]; /* the newest first */
    size_t salary_count;
    int64_t next_salary_us, next_salary;
} MyProfile;

MUST_USE Status my_profile(Operations *ops, const Account *account, Arena *arena,
                           MyProfile *ret_profile);
