/* demo_texts.h -- the words of demo data: people, parties, policies. Pure; the same number gives the same words. */
#pragma once

#include "policies/policies.h"

/* A user name for the number of a voter; no two are the same. */
Slice demo_user_name(uint64_t number, Arena *arena);

extern const Group DEMO_PARTIES[];
extern const size_t DEMO_PARTY_COUNT;

/* Fills name, description and rationale for a category of POLICY_CATEGORIES (its index), chosen by `luck`. Names of two policies
 * may be the same when there are thousands. */
void demo_policy_text(size_t category, uint64_t luck, Arena *arena, PolicyText *text);
/* What an editor adds to a description. */
Slice demo_addition(uint64_t luck);

/* Why moderators and owners do what they do. */
typedef enum DemoReason { DEMO_MERGE, DEMO_RETIRE, DEMO_DELETE, DEMO_REASON_COUNT } DemoReason;
Slice demo_reason(DemoReason reason, uint64_t luck);
