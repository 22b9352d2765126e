/* demo_texts.h -- the words of demo data: people, parties, policies. Pure; the same number gives the same words. */
#pragma once

#include "policies/policies.h"

/* A user name for the number of a voter; no two are the same. */
Slice demo_user_name(uint64_t number, Arena *arena);

extern const PolicyGroup DEMO_PARTIES[];
extern const size_t DEMO_PARTY_COUNT;

enum { DEMO_CATEGORIES = 10, DEMO_TITLES_EACH = 30 };
/* One of the titles of a category of POLICY_CATEGORIES (its index). */
const char *demo_title(size_t category, size_t number);

/* Which policy: its category, and how many of that category came before it. The first 300 of a category have different names. */
typedef struct DemoPolicy {
    size_t category;
    uint64_t number;
    uint64_t luck; /* decides all else */
} DemoPolicy;
/* Fills name, description and rationale. */
void demo_policy_text(const DemoPolicy *policy, Arena *arena, PolicyText *text);
/* What an editor adds to a description. */
Slice demo_addition(uint64_t luck);

/* Why moderators and owners do what they do. */
typedef enum DemoReason { DEMO_MERGE, DEMO_RETIRE, DEMO_DELETE, DEMO_REASON_COUNT } DemoReason;
Slice demo_reason(DemoReason reason, uint64_t luck);
