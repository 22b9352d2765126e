/* operation.c -- who may, what is noted, who hears of it: the same for every operation. See operation.h. */
#include "operations/operation.h"

#include <stdlib.h>

#include "operations/in_name.h"
#include "operations/schema_macros.h"

static const ApiMember DONE_MEMBERS[] = {FIELD("done", Done, done, .help = "True.")};
SCHEMA(DONE, "Done", Done, DONE_MEMBERS, .help = "It was done.");

/* ---- Who may ----------------------------------------------------------------------------------------------------------------- */

uint32_t actor_roles(const App *app, const Account *account, bool second_shown, bool *ret_missing)
{
    uint32_t roles = account->state == ACCOUNT_CONFIRMED ? account->roles : 0;
    *ret_missing = !second_shown && (roles & app->second_roles) != 0;
    return *ret_missing ? 0 : roles;
}

bool actor_has(const Actor *actor, uint32_t roles)
{
    if (actor == NULL)
        return false;
    if (actor->is_operator && actor->account == NULL)
        return true;
    return (actor->roles & (roles | 1u << ROLE_ADMIN)) != 0;
}

uint64_t actor_id(const Actor *actor)
{
    return actor != NULL && actor->account != NULL ? actor->account->id : 0;
}

Slice actor_cookie(const Actor *actor, CookieKind kind)
{
    return actor->cookie != NULL ? actor->cookie(actor->cookies_from, kind) : SLICE_EMPTY;
}

void cookies_add(Cookies *cookies, CookieKind kind, Slice value, CookieLife life)
{
    CHECK(cookies->count < COOKIE_KINDS);
    cookies->list[cookies->count++] = (struct Cookie){kind, life, value};
}

void cookies_end(Cookies *cookies, CookieKind kind)
{
    cookies_add(cookies, kind, SLICE_EMPTY, COOKIE_GONE);
}

static Status check_voter(const Account *account, Reason *reason)
{
    if (account->state != ACCOUNT_CONFIRMED)
        return reason_set(reason, STATUS_DENIED, "",
                          "confirm your e-mail address first; we sent you a link");
    if (!account_may(account, RIGHT_VOTE))
        return reason_set(reason, STATUS_DENIED, "",
                          "the right to vote was taken from this account");
    return STATUS_OK;
}

bool operation_is_own(const Operation *operation)
{
    return operation->access == WEB_LOGIN || operation->access == WEB_VOTER;
}

Status operation_admit(const Operation *operation, const Actor *actor, Reason *reason)
{
    if (operation->by_session && actor->by_token)
        return reason_set(reason, STATUS_DENIED, "Authorization", "a token cannot do this; log in");
    if (actor->is_limited && !operation->by_program)
        return reason_set(reason, STATUS_DENIED, "Authorization",
                          "this token is for journals, and for nothing else");
    switch (operation->access) {
    case WEB_PUBLIC:
    case WEB_GUEST:
        return STATUS_OK;
    case WEB_LOGIN:
    case WEB_VOTER:
        if (actor->is_operator && operation->whose == WEB_OWN_OR_ROLE)
            return STATUS_OK;
        if (actor->account == NULL && actor->is_operator)
            return reason_set(reason, STATUS_INVALID, "as", "say who: --as NAME");
        if (actor->account == NULL)
            return reason_set(reason, STATUS_LOGIN, "", "log in first");
        return operation->access == WEB_VOTER ? check_voter(actor->account, reason) : STATUS_OK;
    case WEB_ROLE:
        if (actor_has(actor, operation->roles))
            return STATUS_OK;
        if (actor->account == NULL)
            return reason_set(reason, STATUS_LOGIN, "", "log in first");
        if (actor->second_missing)
            return reason_set(reason, STATUS_DENIED, "",
                              actor->account->second
                                  ? "log in again, with your second factor"
                                  : "your role asks for a second factor; set it up first");
        return reason_set(reason, STATUS_DENIED, "",
                          "this needs a role that your account does not have");
    }
    return STATUS_DENIED;
}

/* ---- The audit log ------------------------------------------------------------------------------------------------------------- */

Status operation_audit(Operations *ops, const Actor *actor, const AuditAct *act, Id *ret_id,
                       Reason *reason)
{
    AuditAct full = *act;
    size_t characters = 0;
    full.actor = actor_id(actor);
    full.origin = actor->origin;
    for (Slice rest = full.reason; rest.size > 0; characters++)
        rest = slice_after(rest, slice_utf8_length(rest) > 0 ? slice_utf8_length(rest) : 1);
    if (characters > AUDIT_REASON_MAX)
        return reason_set(reason, STATUS_INVALID, "reason", "has at most %d characters",
                          AUDIT_REASON_MAX);
    if (full.details.size > AUDIT_DETAILS_BYTES) /* for admins; the rest is in the thing itself */
        full.details = slice_of(full.details.data, AUDIT_DETAILS_BYTES);
    Status status = audit_begin(ops->app->audit, &full, ret_id);
    if (status == STATUS_UNAVAILABLE ||
        status == STATUS_UNKNOWN) /* of the entry; nothing else was begun */
        return reason_set(reason, STATUS_UNAVAILABLE, "",
                          "it could not be written to the audit log, so it was not done");
    return status;
}

Status operation_audit_own(Operations *ops, const Actor *actor, const char *what, Id *ret_id,
                           Reason *reason)
{
    Actor clerk = {.door = DOOR_COMMAND, .is_operator = true, .origin = actor->origin};
    *ret_id = (Id){0};
    if (!actor->is_operator || actor->account == NULL)
        return STATUS_OK;
    AuditAct act = {.kind = AUDIT_PERSON_AS,
                    .object = actor->account->id,
                    .reason = SLICE_EMPTY,
                    .details = slice_from(what)};
    return operation_audit(ops, &clerk, &act, ret_id, reason);
}

Status operation_audit_end(Operations *ops, Id id, Status outcome)
{
    if (!id_is_zero(id))
        audit_end(ops->app->audit, id, outcome);
    return outcome;
}

/* ---- Running ------------------------------------------------------------------------------------------------------------------- */

static _Thread_local bool is_done; /* what this thread's operation was asked for */

void operation_done(void)
{
    is_done = true;
}

/* A failure says that nothing was done, but for UNKNOWN: what it says must hold. */
static Status end_of(OperationCall *call, Status status, uint64_t effects_before, Reason *reason)
{
    bool is_read_failure = status == STATUS_UNAVAILABLE || status == STATUS_UNKNOWN ||
                           status == STATUS_CORRUPT || status == STATUS_NOT_FOUND;
    if (is_done && is_read_failure) {
        call->is_unread = true;
        return reason_set(reason, STATUS_OK, "", "%s", "");
    }
    bool has_effects = !call->operation->asks && store_effects() != effects_before;
    if (has_effects && (status == STATUS_UNAVAILABLE || status == STATUS_CORRUPT))
        return reason_set(reason, STATUS_UNKNOWN, "",
                          "It was begun, and perhaps not ended. Send it again: what was done "
                          "already is not done twice.");
    return status;
}

static Status run(Operations *ops, OperationCall *call, Arena *arena, Reason *reason)
{
    uint64_t before = store_effects();
    is_done = false;
    Status status =
        call->operation->run(ops, call->actor, call->request, arena, call->answer, reason);
    return end_of(call, status, before, reason);
}

/* What is held is not in the entry. */
static Status run_in_name(Operations *ops, OperationCall *call, Arena *arena, Reason *reason)
{
    Id id;
    TRY(in_name_begin(ops, call, arena, &id, reason));
    Status status = run(ops, call, arena, reason);
    bool has_answer = status == STATUS_OK && !call->is_unread;
    audit_end(ops->app->audit, id,
              has_answer ? operation_outcome(call->operation, call->answer) : status);
    return status;
}

Status operation_outcome(const Operation *operation, const void *answer)
{
    return operation->outcome != NULL ? operation->outcome(answer) : STATUS_OK;
}

Status operation_run(Operations *ops, OperationCall *call, Arena *arena, Reason *reason)
{
    const Operation *operation = call->operation;
    const Actor *actor = call->actor;
    call->is_unread = false;
    TRY(operation_admit(operation, actor, reason));
    bool in_name = in_name_is(call);
    Clock clock = ops->app->world.clock;
    int64_t until_us = clock_steady_us(clock) + operation->least_ms * US_PER_MS;
    Status status = in_name ? run_in_name(ops, call, arena, reason) : run(ops, call, arena, reason);
    int64_t left_us = until_us - clock_steady_us(clock);
    if (operation->least_ms > 0 && left_us > 0 &&
        status != STATUS_THROTTLED) /* that looked at nothing */
        clock_sleep_us(clock, left_us);
    return status;
}
