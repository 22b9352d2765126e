/* people_changes.c -- adding people, their roles and rights, ending their sessions, closing accounts.
 *
 * Each is in the audit log before it is done. A crash in between leaves an entry whose outcome is not known; the same request again is
 * safe. Deleting somebody is account_close, which is finished after a crash. */
#include "access/second_factor.h"
#include "access/sessions.h"
#include "accounts/rights_changes.h"
#include "app/rights_letters.h"
#include "operations/account_close.h"
#include "operations/people.h"
#include "operations/policy_moves.h"
#include "operations/report_moves.h"
#include "operations/schema_macros.h"

/* ---- Adding ------------------------------------------------------------------------------------------------------------------- */

typedef struct PersonAdd {
    Slice name, email, password;
    bool has_password, confirmed;
    InputTexts roles;
    int64_t registered_us;
} PersonAdd;

typedef struct PersonAdded {
    uint64_t id;
    Slice name;
    bool confirmed;
} PersonAdded;

/* Each text may be several words with commas between. */
static Status bits_from(const InputTexts *texts, const char *field,
                        Status (*from)(Slice, const char *, uint32_t *, Reason *),
                        uint32_t *ret_bits, Reason *reason)
{
    uint32_t bits = 0, more;
    for (size_t i = 0; i < texts->count; i++) {
        TRY(from(texts->texts[i], field, &more, reason));
        bits |= more;
    }
    *ret_bits = bits;
    return STATUS_OK;
}

static void put_bits(Buffer *out, const char *label, uint32_t bits, bool are_roles)
{
    buffer_print(out, "%s:", label);
    for (unsigned i = 0; bits >> i != 0; i++)
        if (bits >> i & 1)
            buffer_print(out, " %s",
                         are_roles ? account_role_text((AccountRole)i)
                                   : account_right_text((AccountRight)i));
    buffer_text(out, "; ");
}

/* Names of people are not in the log, which outlives accounts: what roles somebody came with is. */
static Status person_add(Operations *ops, const Actor *actor, const PersonAdd *request,
                         Arena *arena, PersonAdded *ret_added, Reason *reason)
{
    BUFFER_SCOPE Buffer details = {0};
    Registration registration = {.name = request->name,
                                 .email = request->email,
                                 .password = request->password,
                                 .without_password = !request->has_password,
                                 .confirmed = request->confirmed,
                                 .registered_us = request->registered_us};
    Id id;
    TRY(bits_from(&request->roles, "roles", account_roles_from, &registration.roles, reason));
    put_bits(&details, "roles", registration.roles, true);
    AuditAct act = {.kind = AUDIT_PERSON_ADD,
                    .reason = SLICE_EMPTY,
                    .details = arena_copy(arena, buffer_slice(&details))};
    *ret_added = (PersonAdded){.name = request->name, .confirmed = request->confirmed};
    TRY(operation_audit(ops, actor, &act, &id, reason));
    return operation_audit_end(
        ops, id, accounts_register(ops->app->accounts, &registration, &ret_added->id, reason));
}

static void print_added(const void *answer, Arena *arena, Buffer *out)
{
    const PersonAdded *added = answer;
    (void)arena;
    buffer_print(out, "added %.*s as %llu%s\n", SLICE_ARG(added->name),
                 (unsigned long long)added->id,
                 added->confirmed ? "" : "; `user confirm` lets them vote");
}

/* clang-format off */
static const ApiMember ADDED[] = {
    FIELD("id", PersonAdded, id, .help = "The new account."),
    FIELD("name", PersonAdded, name, .help = "Its name."),
    FIELD("confirmed", PersonAdded, confirmed, .help = "Whether it may vote at once."),
};
SCHEMA(ADMIN_PERSON_ADDED, "AdminPersonAdded", PersonAdded, ADDED, .help = "A new account.");

#define JOINING "people join by registering; who has the machine may add them"
OPERATION(person_add, PersonAdd, PersonAdded, .help = "Add an account.", FOR_ADMINS, .audits = AUDITS(PERSON_ADD),
    .answers = &SCHEMA_ADMIN_PERSON_ADDED, .no_api = JOINING, .no_page = JOINING, .command = {"user add", .print = print_added, .creates = true},
    .inputs = {
        INPUT("name", PersonAdd, name, LINE, .operand = true, .least = 1, .most = 1000, .value = "NAME", .help = "What it is called."),
        INPUT("email", PersonAdd, email, LINE, .fallback = "", .most = 1000, .value = "ADDRESS", .help = "its e-mail"),
        INPUT("roles", PersonAdd, roles, TEXTS, .optional = true, .most = 400, .most_count = 32, .flag = "role", .value = "ROLE", .help = "a role; may be given several times"),
        INPUT("password", PersonAdd, password, SECRET, .optional = true, .most = 10000, GIVEN(PersonAdd, has_password), .help = "read the password from stdin"),
        INPUT("confirmed", PersonAdd, confirmed, SWITCH, .fallback = "off", .help = "may vote at once"),
        INPUT("registered", PersonAdd, registered_us, TIME, .optional = true, .help = "salary counts from here; for imports"),
    });
/* clang-format on */

/* ---- Changing an account ---------------------------------------------------------------------------------------------------------- */

typedef struct PersonRequest {
    uint64_t id;
    Slice reason;
} PersonRequest;

typedef Status AccountChange(Operations *ops, const Account *account, Reason *reason);

/* Whoever may not set somebody's rights may not do anything else to their account. */
static Status change_account(Operations *ops, const Actor *actor, AuditKind kind,
                             const PersonRequest *request, AccountChange *change, Arena *arena,
                             Reason *reason)
{
    Account account;
    Id id;
    TRY(accounts_read(ops->app->accounts, request->id, arena, &account));
    AccountRights same = {.roles = account.roles, .denied = account.denied};
    TRY(person_rights_rule(actor, &account, &same, reason));
    AuditAct act = {
        .kind = kind, .object = account.id, .reason = request->reason, .details = SLICE_EMPTY};
    TRY(operation_audit(ops, actor, &act, &id, reason));
    TRY(operation_audit_end(ops, id, change(ops, &account, reason)));
    operations_notify(ops, CHANGE_ACCOUNT, account.id);
    return STATUS_OK;
}

static Status confirm(Operations *ops, const Account *account, Reason *reason)
{
    return accounts_confirm(ops->app->accounts, account->id, reason);
}

static Status end_second(Operations *ops, const Account *account, Reason *reason)
{
    return second_factor_remove(ops->app->accounts, account->id, reason);
}

static Status end_sessions(Operations *ops, const Account *account, Reason *reason)
{
    return sessions_end_all(ops->app->accounts, account->id, reason);
}

static Status leave(Operations *ops, const Account *account, Reason *reason)
{
    return account_close(ops, account->id, reason);
}

#define CHANGE(id, kind, change)                                                         \
    static Status id(Operations *ops, const Actor *actor, const PersonRequest *request,  \
                     Arena *arena, Done *ret_done, Reason *reason)                       \
    {                                                                                    \
        ret_done->done = true;                                                           \
        return change_account(ops, actor, AUDIT_##kind, request, change, arena, reason); \
    }
CHANGE(person_confirm, PERSON_CONFIRM, confirm)
CHANGE(person_second_off, PERSON_SECOND, end_second)
CHANGE(person_logout, PERSON_SESSIONS, end_sessions)
CHANGE(person_delete, PERSON_DELETE, leave)

/* clang-format off */
#define PERSON_INPUT(type) INPUT("id", type, id, ACCOUNT, .operand = true, .help = "The person.")
#define CONFIRMING "people confirm by the link in their e-mail; who has the machine may do it for them"
#define MACHINE "left to who has the machine: an account that was taken over must not do it to others"

OPERATION(person_confirm, PersonRequest, Done, .help = "Confirm a registration.", FOR_ADMINS, .whose = WEB_ANYBODYS,
    .audits = AUDITS(PERSON_CONFIRM), .no_api = CONFIRMING, .no_page = CONFIRMING, .command = {.words = "user confirm", .done = "confirmed"},
    .inputs = {PERSON_INPUT(PersonRequest), REASON_INPUT(PersonRequest)});

OPERATION(person_second_off, PersonRequest, Done, .help = "Turn off the second factor of who has lost it; ends all sessions.", FOR_ADMINS, .whose = WEB_ANYBODYS,
    .audits = AUDITS(PERSON_SECOND), .no_api = MACHINE, .no_page = MACHINE,
    .command = {.words = "user second-off", .done = "there is no second factor any more, and all sessions are ended"},
    .inputs = {PERSON_INPUT(PersonRequest), REASON_INPUT(PersonRequest)});

OPERATION(person_logout, PersonRequest, Done, .help = "Log somebody out everywhere, and end their tokens.", FOR_PEOPLE, .audits = AUDITS(PERSON_SESSIONS),
    .api = {WEB_POST, "admin/people/{id}/logout", .tag = "admin"}, .command = {.words = "user logout", .done = "logged out everywhere"},
    .page = {"/admin/people/{id}/sessions", "logged-out-all", "They are logged out everywhere, and their tokens are ended."},
    .inputs = {PERSON_INPUT(PersonRequest), REASON_INPUT(PersonRequest)});

OPERATION(person_delete, PersonRequest, Done, .help = "Withdraw all votes and close the account.", FOR_ADMINS, .whose = WEB_ANYBODYS,
    .audits = AUDITS(PERSON_DELETE), .no_api = MACHINE, .no_page = MACHINE,
    .command = {.words = "user delete", .done = "the votes are withdrawn and the account is closed"},
    .inputs = {PERSON_INPUT(PersonRequest), REASON_INPUT(PersonRequest)});
/* clang-format on */

/* ---- Roles and rights ------------------------------------------------------------------------------------------------------------- */

typedef struct PersonRights {
    uint64_t id;
    InputTexts roles, denied;
    bool has_roles, has_denied;
    int64_t version;
    Slice reason;
    uint64_t report;
} PersonRights;

Status person_rights_rule(const Actor *actor, const Account *of, const AccountRights *rights,
                          Reason *reason)
{
    bool is_admin = actor_has(actor, ADMIN_ROLES);
    bool is_self = actor_id(actor) == of->id;
    if (!is_admin && rights->roles != of->roles)
        return reason_set(reason, STATUS_DENIED, "roles", "only admins give and take roles");
    if (!is_admin && (of->roles & ADMIN_ROLES) != 0)
        return reason_set(reason, STATUS_DENIED, "", "only admins change the rights of admins");
    if (is_self && (rights->roles & ADMIN_ROLES) == 0 && is_admin)
        return reason_set(reason, STATUS_REFUSED, "roles",
                          "you cannot take the role admin from yourself; another admin can");
    if (is_self && (rights->denied & 1u << RIGHT_LOG_IN) != 0)
        return reason_set(reason, STATUS_REFUSED, "denied",
                          "you cannot take the right to log in from yourself");
    return STATUS_OK;
}

static Slice details_of(const Account *before, const AccountRights *after, Arena *arena)
{
    BUFFER_SCOPE Buffer out = {0};
    put_bits(&out, "roles", before->roles, true);
    put_bits(&out, "now", after->roles, true);
    put_bits(&out, "taken away", before->denied, false);
    put_bits(&out, "now", after->denied, false);
    return arena_copy(arena, buffer_slice(&out));
}

static Status tell_what_stands(Operations *ops, uint64_t id, Arena *arena, Reason *reason)
{
    BUFFER_SCOPE Buffer out = {0};
    Account now;
    TRY(accounts_read(ops->app->accounts, id, arena, &now));
    put_bits(&out, "roles", now.roles, true);
    put_bits(&out, "taken away", now.denied, false);
    return reason_set(reason, STATUS_CONFLICT, "",
                      "somebody else changed this account in between. Now it has %.*sversion: %llu",
                      SLICE_ARG(buffer_slice(&out)), (unsigned long long)now.version);
}

/* Whose right is taken is told why. */
static Status check_reason(const PersonRights *request, const Account *of,
                           const AccountRights *want, Reason *reason)
{
    bool takes = (want->denied & ~of->denied) != 0 || (of->roles & ~want->roles) != 0;
    return takes && request->reason.size == 0
               ? reason_set(reason, STATUS_INVALID, "reason", "say why: the person is told")
               : STATUS_OK;
}

/* What is left out stays as it was seen. */
static Status person_rights(Operations *ops, const Actor *actor, const PersonRights *request,
                            Arena *arena, Done *ret_done, Reason *reason)
{
    Account of;
    Id id;
    bool is_changed = false;
    TRY(accounts_read(ops->app->accounts, request->id, arena, &of));
    AccountRights want = {
        .roles = of.roles, .denied = of.denied, .seen_version = (uint64_t)request->version};
    if (request->has_roles)
        TRY(bits_from(&request->roles, "roles", account_roles_from, &want.roles, reason));
    if (request->has_denied)
        TRY(bits_from(&request->denied, "denied", account_rights_from, &want.denied, reason));
    TRY(person_rights_rule(actor, &of, &want, reason));
    if (want.seen_version != of.version)
        return tell_what_stands(ops, of.id, arena, reason);
    TRY(check_reason(request, &of, &want, reason));
    AuditAct act = {.kind = AUDIT_PERSON_RIGHTS,
                    .object = of.id,
                    .reason = request->reason,
                    .details = details_of(&of, &want, arena)};
    TRY(operation_audit(ops, actor, &act, &id, reason));
    RightsRequest change = {.rights = want, .actor = actor_id(actor), .reason = request->reason};
    Status status = operation_audit_end(
        ops, id, accounts_change_rights(ops->app->accounts, of.id, &change, &is_changed, reason));
    if (status == STATUS_CONFLICT)
        return tell_what_stands(ops, of.id, arena, reason);
    TRY(status);
    operations_notify(ops, CHANGE_ACCOUNT, of.id);
    operations_notify(ops, CHANGE_NOTICES, of.id);
    if (is_changed)
        (void)!app_tell_rights(ops->app, of.id, NULL); /* the notice says it in any case */
    report_acted(ops, actor, request->report, request->reason, arena);
    ret_done->done = true;
    return STATUS_OK;
}

/* clang-format off */
OPERATION(person_rights, PersonRights, Done, .help = "Set a person's roles, which only admins may, and the rights that are taken away.",
    FOR_PEOPLE, .audits = AUDITS(PERSON_RIGHTS) | AUDITS(REPORT_ACT), .api = {WEB_PUT, "admin/people/{id}/rights", .tag = "admin"},
    .page = {"/admin/people/{id}", "rights", "Their roles and rights are set."}, .command = {.words = "user rights", .done = "rights are set"},
    .inputs = {
        PERSON_INPUT(PersonRights),
        INPUT("roles", PersonRights, roles, TEXTS, .optional = true, .most = 400, .most_count = 32, GIVEN(PersonRights, has_roles), .flag = "role",
              .value = "ROLES", .help = "All roles that they have; left out: as they are. On a command line with commas, and empty for none."),
        INPUT("denied", PersonRights, denied, TEXTS, .optional = true, .most = 400, .most_count = 32, GIVEN(PersonRights, has_denied), .flag = "deny",
              .value = "RIGHTS", .help = "All rights that are taken away; left out: as they are. On a command line with commas, and empty for none."),
        INPUT("version", PersonRights, version, NUMBER, .least = 1, .most = INT64_MAX, .flag = "seen", .value = "VERSION",
              .missing = "is missing: it says which rights you saw, and stands with the person", .help = "Of the account, as it was seen; when it has another by now, nothing is done."),
        INPUT("reason", PersonRights, reason, TEXT, .least = 1, .most = AUDIT_REASON_MAX, .command_optional = true, .missing = "say why: the person is told",
              .help = "Why; the person is told, and it stands in the audit log. A command may leave it out where nothing is taken away."),
        REPORT_INPUT(PersonRights),
    });
/* clang-format on */
