/* acts_choose.c -- another policy that somebody means, by its number or the beginning of its name. See acts.h. */
#include "site/acts.h"

/* By the beginning of its name: one that is meant without doubt, or up to ACT_CHOICES to choose from. */
static Status find_by_name(Site *site, PolicyChoice *choice, Arena *arena, uint64_t *ret_id,
                           Reason *reason)
{
    PolicyPage page;
    PolicyQuery query = {.order = POLICIES_BY_NAME,
                         .prefix = choice->typed,
                         .position = SLICE_EMPTY,
                         .limit = ACT_CHOICES};
    uint64_t exact = 0;
    TRY(policies_browse(site->app->policies, &query, arena, &page));
    for (size_t i = 0; i < page.count; i++) {
        const Policy *policy = &page.policies[i];
        if (policy->id == choice->except)
            continue;
        if (slice_equal_ignoring_case(policy->text.name, choice->typed))
            exact = policy->id;
        TRY(cards_one(site->cards, policy->id, arena, &choice->cards[choice->count++]));
    }
    if (choice->count == 0)
        return reason_set(reason, STATUS_INVALID, "other",
                          "no other policy has a name that begins so");
    if (exact == 0 && choice->count > 1)
        return reason_set(reason, STATUS_INVALID, "other",
                          "several have a name that begins so: choose one");
    *ret_id = exact != 0 ? exact : choice->cards[0].id;
    choice->count = 0;
    return STATUS_OK;
}

Status choose_policy(Site *site, PolicyChoice *choice, Arena *arena, uint64_t *ret_id,
                     Reason *reason)
{
    PolicyCard card;
    uint64_t id;
    choice->count = 0;
    if (slice_to_u64(choice->typed, &id) != STATUS_OK)
        TRY(find_by_name(site, choice, arena, &id, reason));
    if (id == choice->except)
        return reason_set(reason, STATUS_INVALID, "other", "must be another policy");
    Status status = cards_one(site->cards, id, arena, &card);
    if (status == STATUS_NOT_FOUND || (status == STATUS_OK && card.state != POLICY_ACTIVE))
        return reason_set(reason, STATUS_INVALID, "other", "must be an active policy");
    TRY(status);
    *ret_id = id;
    return STATUS_OK;
}
