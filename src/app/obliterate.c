/* obliterate.c -- see obliterate.h. */
#include "app/obliterate.h"

typedef Status Eraser(App *app, uint64_t policy);

static Status erase_policies_obliterate(App *app, uint64_t policy)
{
    return policies_obliterate(app->policies, policy);
}

static Status erase_reports_obliterate(App *app, uint64_t policy)
{
    return reports_obliterate(app->reports, policy);
}

static Status erase_mail_obliterate(App *app, uint64_t policy)
{
    return mail_obliterate(app->mail, policy);
}

/* Acts on reports from before acts named the policy are found by the reports that are still there. */
static Status erase_audit_obliterate(App *app, uint64_t policy)
{
    ARENA_SCOPE Arena *arena = arena_new();
    uint64_t ids[REPORTS_LIST_MAX], after = 0;
    size_t count = REPORTS_LIST_MAX;
    Policy made;
    TRY(policies_read(app->policies, policy, arena, &made));
    while (count == REPORTS_LIST_MAX) {
        TRY(reports_ids_of_policy(app->reports, policy, after, ids, &count));
        for (size_t i = 0; i < count; i++)
            TRY(audit_obliterate(app->audit, "report", ids[i], made.created_us));
        after = count > 0 ? ids[count - 1] : after;
    }
    return audit_obliterate(app->audit, "policy", policy, made.created_us);
}

#define erase_NONE NULL

/* A function that the table of tables names and that is not here does not compile. */
static Eraser *const ERASERS[TABLE_POLICY_COUNT] = {
#define X(name, eraser, words) [TABLE_POLICY_##name] = erase_##eraser,
    TABLE_POLICY_LIST(X)
#undef X
};

Status app_obliterate(void *self, uint64_t policy, Reason *reason)
{
    App *app = self;
    Status worst = STATUS_OK;
    Eraser *last = NULL;
    for (size_t i = 0; i < TABLE_POLICY_COUNT; i++) {
        if (ERASERS[i] == NULL || ERASERS[i] == last)
            continue;
        last = ERASERS[i];
        Status status = last(app, policy);
        if (status == STATUS_REFUSED || status == STATUS_NOT_FOUND)
            return status;
        if (status != STATUS_OK)
            worst = reason_set(
                reason, status, "policies", "policy %llu: %s of it could not be removed yet: %s",
                (unsigned long long)policy, TABLE_POLICY_ROWS[i].words, status_text(status));
    }
    changes_notify(app->changes, CHANGE_POLICY, policy);
    return worst;
}
