/* operation.c -- who may, what is noted, who hears of it: the same for every operation. See operation.h. */
#include "operations/operation.h"

#include <stdlib.h>

#include "app/role_holders.h"
#include "operations/in_name.h"
#include "operations/schema_macros.h"

static const ApiMember DONE_MEMBERS[] = {FIELD("done", Done, done, .help = "True.")};
SCHEMA(DONE, "Done", Done, DONE_MEMBERS, .help = "It was done.");

/* ---- Who may ----------------------------------------------------------------------------------------------------------------- */

uint32_t actor_roles(const App *app, const Account *account, bool second_shown, bool *ret_missing)
{
    return app_roles(app, account, second_shown, ret_missing);
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

bool operation_is_own(const Operation *operation)
{
    return operation->access == WEB_LOGIN || operation->access == WEB_VOTER;
}

static Status check_access(const Operation *operation, const Actor *actor, Reason *reason)
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
        return STATUS_OK;
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

Status actor_check_rights(const Actor *actor, WebAccess access, uint32_t needs, Reason *reason)
{
    if (actor->account == NULL)
        return STATUS_OK;
    if (access == WEB_VOTER && actor->account->state != ACCOUNT_CONFIRMED)
        return reason_set(reason, STATUS_DENIED, "",
                          "confirm your e-mail address first; we sent you a link");
    return account_check_rights(actor->account,
                                needs | (access == WEB_VOTER ? 1u << RIGHT_VOTE : 0), reason);
}

Status operation_admit(const Operation *operation, const Actor *actor, Reason *reason)
{
    TRY(check_access(operation, actor, reason));
    return actor_check_rights(actor, operation->access, operation->needs, reason);
}

/* ---- The audit log ------------------------------------------------------------------------------------------------------------- */

Status operation_audit_in(Audit *audit, const Actor *actor, const AuditAct *act, Id *ret_id,
                          Reason *reason)
{
    AuditAct full = *act;
    if (audit == NULL)
        return reason_set(reason, STATUS_REFUSED, "",
                          "without the site's key it cannot be written to the audit log, so it was "
                          "not done");
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
    Status status = audit_begin(audit, &full, ret_id);
    if (status == STATUS_UNAVAILABLE ||
        status == STATUS_UNKNOWN) /* of the entry; nothing else was begun */
        return reason_set(reason, STATUS_UNAVAILABLE, "",
                          "it could not be written to the audit log, so it was not done");
    return status;
}

Status operation_audit(Operations *ops, const Actor *actor, const AuditAct *act, Id *ret_id,
                       Reason *reason)
{
    return operation_audit_in(ops->app->audit, actor, act, ret_id, reason);
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
static void settle(OperationCall *call)
{
    Status status = call->status;
    bool is_read_failure = status == STATUS_UNAVAILABLE || status == STATUS_UNKNOWN ||
                           status == STATUS_CORRUPT || status == STATUS_NOT_FOUND;
    if (call->is_done && is_read_failure) {
        call->is_unread = true;
        call->status = reason_set(call->reason, STATUS_OK, "", "%s", "");
    } else if (call->has_effects && (status == STATUS_UNAVAILABLE || status == STATUS_CORRUPT)) {
        call->status = reason_set(call->reason, STATUS_UNKNOWN, "",
                                  "It was begun, and perhaps not ended. Send it again: what was "
                                  "done already is not done twice.");
    }
}

static void run_one(Operations *ops, OperationCall *call)
{
    uint64_t before = store_effects();
    is_done = false;
    call->status = call->operation->run(ops, call->actor, call->request, call->arena, call->answer,
                                        call->reason);
    call->is_done = is_done;
    call->has_effects = !call->operation->asks && store_effects() != before;
}

/* How many of these, from the first on, are one call. */
static size_t shared(OperationCall *const *calls, size_t count)
{
    OperationRunMany *many = calls[0]->operation->run_many;
    size_t alike = 1;
    while (many != NULL && alike < count && calls[alike]->operation->run_many == many)
        alike++;
    return alike;
}

/* A command in somebody's name, which no other entry would tell, has one. What they hold is not in it. */
static Status begin(Operations *ops, OperationCall *call, Id *ret_id)
{
    const Operation *operation = call->operation;
    *ret_id = (Id){0};
    call->is_unread = call->is_done = call->has_effects = false;
    TRY(operation_admit(operation, call->actor, call->reason));
    return in_name_is(call) ? in_name_begin(ops, call, call->arena, ret_id, call->reason)
                            : STATUS_OK;
}

static void end(Operations *ops, OperationCall *call, Id id, int64_t begun_us)
{
    settle(call);
    call->outcome = call->status;
    if (call->status == STATUS_OK && !call->is_unread && call->operation->outcome != NULL)
        call->outcome = call->operation->outcome(call->answer);
    (void)!operation_audit_end(ops, id, call->outcome);
    if (call->operation->least_ms == 0 ||
        call->status == STATUS_THROTTLED) /* that looked at nothing */
        return;
    Clock clock = ops->app->world.clock;
    int64_t left_us = begun_us + call->operation->least_ms * US_PER_MS - clock_steady_us(clock);
    if (left_us > 0)
        clock_sleep_us(clock, left_us);
}

void operation_run_many(Operations *ops, OperationCall *const *calls, size_t count)
{
    OperationCall *begun[WEB_BATCH_MAX];
    Id ids[WEB_BATCH_MAX];
    size_t begun_count = 0;
    int64_t begun_us = clock_steady_us(ops->app->world.clock);
    CHECK(count <= WEB_BATCH_MAX);
    for (size_t i = 0; i < count; i++) {
        begun[begun_count] = calls[i];
        calls[i]->status = calls[i]->outcome = begin(ops, calls[i], &ids[begun_count]);
        begun_count += calls[i]->status == STATUS_OK;
    }
    for (size_t i = 0, alike; i < begun_count; i += alike) {
        alike = shared(begun + i, begun_count - i);
        if (begun[i]->operation->run_many != NULL)
            begun[i]->operation->run_many(ops, begun + i, alike);
        else
            run_one(ops, begun[i]);
    }
    for (size_t i = 0; i < begun_count; i++)
        end(ops, begun[i], ids[i], begun_us);
}

Status operation_run(Operations *ops, OperationCall *call)
{
    operation_run_many(ops, &call, 1);
    return call->status;
}
