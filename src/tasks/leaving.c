/* leaving.c -- see leaving.h. */
#include "tasks/leaving.h"

#include "access/closing.h"
#include "base/bytes.h"

static void tell(const Leaving *leaving, uint64_t policy, uint64_t account)
{
    if (leaving->listener.changed != NULL)
        leaving->listener.changed(leaving->listener.self, policy, account);
}

static Status disown_all(const Leaving *leaving, uint64_t account)
{
    BUFFER_SCOPE Buffer position = {0};
    for (bool more = true; more;) {
        ARENA_SCOPE Arena *arena = arena_new();
        PolicyPage page;
        PolicyQuery query = {.order = POLICIES_BY_OWNER,
                             .group = account,
                             .prefix = SLICE_EMPTY,
                             .position = buffer_slice(&position),
                             .limit = POLICIES_BROWSE_MAX};
        TRY(policies_browse(leaving->policies, &query, arena, &page));
        for (size_t i = 0; i < page.count; i++) {
            TRY(policies_disown(leaving->policies, page.policies[i].id, account));
            tell(leaving, page.policies[i].id, account);
        }
        more = page.more;
        buffer_clear(&position);
        buffer_bytes(&position, page.position);
    }
    return STATUS_OK;
}

Status leaving_finish(const Leaving *leaving, uint64_t account, Reason *reason)
{
    TRY(disown_all(leaving, account));
    Status status = access_close_account(leaving->accounts, account, reason);
    tell(leaving, 0, account);
    return status;
}
