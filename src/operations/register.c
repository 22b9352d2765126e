/* register.c -- joining: registering, another e-mail, confirming the address; and the first admin of a new site.
 *
 * Names are public, so a taken one is said at its field. E-mail addresses are not: whoever registers with one that is taken gets the
 * same answer as everybody, in the same time, and its owner gets an e-mail that says so. So it is with an address that is not on the roll, or that
 * stands for an account that has left it (electorate.h): nobody learns by trying who is here, or on the roll. The name is held for seven days
 * whatever came of it, and nobody logs in before the address is confirmed, so neither the name nor the password tells afterwards.
 * Nothing is held where no e-mail can be sent. A crash after the registration and before its e-mail leaves an account that waits to be confirmed;
 * "send it again" sends another. One between an address that was refused and the name that is held for it leaves that name free. */
#include "operations/register.h"

#include "access/credentials.h"
#include "electorate/electorate.h"
#include "mail/mail.h"
#include "operations/account_mail.h"
#include "operations/tries.h"

enum { FIELD_MAX = 1000, TOKEN_MAX = 100, FLOOR_MS = 150 };

static Status send_confirmation(Operations *ops, uint64_t account, Arena *arena, Reason *reason)
{
    LinkMail mail;
    TRY(credentials_begin_confirm(ops->app->accounts, account, arena, &mail));
    return account_mail(ops, LETTER_CONFIRM, &mail, "/confirm", arena, reason);
}

static bool is_about(const Reason *reason, const char *field)
{
    return strcmp(reason->field, field) == 0;
}

size_t join_faults(Operations *ops, const Joiner *joiner, Arena *arena, Reason *ret_reasons)
{
    Slice folded;
    size_t count = 0;
    count +=
        accounts_check_name(ops->app->accounts, joiner->name, &ret_reasons[count]) != STATUS_OK;
    count += account_fold_email(joiner->email, arena, &folded, &ret_reasons[count]) != STATUS_OK;
    count += joiner->linked == NULL &&
             account_check_password(joiner->password, &ret_reasons[count]) != STATUS_OK;
    return count;
}

static Status make_account(Operations *ops, const Joiner *joiner, const Registration *registration,
                           uint64_t *ret_id, Reason *reason)
{
    Accounts *accounts = ops->app->accounts;
    return joiner->linked == NULL
               ? accounts_register(accounts, registration, ret_id, reason)
               : linked_login_register(accounts, registration, joiner->linked, ret_id, reason);
}

/* An address that may not join, or has. An e-mail says so, the answer does not. */
static Status answer_by_mail(Operations *ops, const Joiner *joiner, LetterKind letter, Arena *arena,
                             Reason *reason)
{
    Account owner;
    Status status = accounts_find(ops->app->accounts, joiner->email, arena, &owner);
    bool is_known = status == STATUS_OK;
    if (!is_known && status != STATUS_NOT_FOUND)
        return status;
    status = throttle_mailbox(ops, joiner->email, arena, reason);
    if (status == STATUS_THROTTLED) /* told often enough: not the visitor's business */
        return STATUS_OK;
    TRY(status);
    if (is_known && owner.state == ACCOUNT_PENDING)
        return send_confirmation(ops, owner.id, arena, reason);
    LinkMail mail = {.name = SLICE_EMPTY, .email = joiner->email};
    if (is_known)
        mail = (LinkMail){.account = owner.id, .name = owner.name, .email = owner.email};
    return account_mail(ops, is_known ? LETTER_ALREADY_REGISTERED : letter, &mail,
                        is_known ? "/forgotten" : "/", arena, reason);
}

/* Somebody who may join. */
static Status register_admitted(Operations *ops, const Joiner *joiner, Registration *registration,
                                const Admission *admission, Arena *arena, Reason *reason)
{
    uint64_t id;
    Status status = make_account(ops, joiner, registration, &id, reason);
    if (status == STATUS_REFUSED && (is_about(reason, "email") || is_about(reason, "entry"))) {
        registration->only_name = registration->without_password = true; /* it was computed */
        status = make_account(ops, joiner, registration, &id, reason);
        if (status == STATUS_REFUSED && is_about(reason, "name"))
            status = STATUS_OK; /* somebody else has it since: as good */
        TRY(status);
        return answer_by_mail(ops, joiner, LETTER_ADDRESS_USED, arena, reason);
    }
    TRY(status);
    (void)!electorate_admitted(ops->app->accounts, admission,
                               id); /* one that stays open admits no other */
    (void)!throttle_mailbox(ops, joiner->email, arena,
                            &(Reason){0}); /* counts; the first goes out */
    return send_confirmation(ops, id, arena, reason);
}

/* Where the rule goes by addresses, the one that the other site has verified counts. */
static Status check_verified(Operations *ops, const Joiner *joiner, Arena *arena, Reason *reason)
{
    Electorate electorate;
    Slice own, typed;
    if (joiner->verified.size == 0 || joiner->invitation.size > 0 ||
        account_fold_email(joiner->verified, arena, &own, NULL) != STATUS_OK)
        return STATUS_OK;
    TRY(electorate_read(ops->app->accounts, arena, &electorate));
    if (!electorate_goes_by_address(electorate.mode))
        return STATUS_OK;
    TRY(account_fold_email(joiner->email, arena, &typed, reason));
    if (slice_equal(own, typed))
        return STATUS_OK;
    return reason_set(reason, STATUS_REFUSED, "email",
                      "who may join goes by the address that you have there: %.*s",
                      SLICE_ARG(joiner->verified));
}

Status join(Operations *ops, const Actor *actor, const Joiner *joiner, Arena *arena, Reason *reason)
{
    Admission admission;
    uint64_t id;
    Registration registration = {.name = joiner->name,
                                 .email = joiner->email,
                                 .password = joiner->password,
                                 .address = actor->origin,
                                 .cookie = actor_cookie(actor, COOKIE_VISITOR)};
    if (!mail_can_send(ops->app->mail))
        return reason_set(reason, STATUS_UNAVAILABLE, "",
                          "this site cannot send e-mails at present, so nobody can join; please "
                          "come back later");
    TRY(throttle_origin(ops, actor, THROTTLE_REGISTER, reason));
    TRY(check_verified(ops, joiner, arena, reason));
    Status status = electorate_admit(ops->app->accounts, joiner->email, joiner->invitation, arena,
                                     &admission, reason);
    if (status != STATUS_REFUSED || !is_about(reason, "roll")) {
        TRY(status);
        return register_admitted(ops, joiner, &registration, &admission, arena, reason);
    }
    registration.only_name = true;
    TRY(make_account(ops, joiner, &registration, &id, reason));
    return answer_by_mail(ops, joiner, LETTER_NOT_ON_ROLL, arena, reason);
}

/* ---- Registering ---------------------------------------------------------------------------------------------------------------- */

typedef struct AccountRegister {
    Slice name, email, password, invitation;
} AccountRegister;

static Joiner joiner_of(const AccountRegister *request)
{
    return (Joiner){.name = request->name,
                    .email = request->email,
                    .password = request->password,
                    .verified = SLICE_EMPTY,
                    .invitation = request->invitation};
}

static Status account_register(Operations *ops, const Actor *actor, const AccountRegister *request,
                               Arena *arena, Done *ret_done, Reason *reason)
{
    Joiner joiner = joiner_of(request);
    TRY(join(ops, actor, &joiner, arena, reason));
    ret_done->done = true;
    return STATUS_OK;
}

static size_t register_faults(Operations *ops, const Actor *actor, const void *request,
                              Arena *arena, Reason *ret_reasons)
{
    Joiner joiner = joiner_of(request);
    (void)actor;
    return join_faults(ops, &joiner, arena, ret_reasons);
}

/* clang-format off */
#define PERSON_INPUTS(type)                                                                                                       \
    INPUT("name", type, name, LINE, .least = 1, .most = FIELD_MAX, .help = "3 to 30 letters and digits; public."),                \
    INPUT("email", type, email, LINE, .least = 1, .most = FIELD_MAX, .help = EMAIL_SEEN_BY),                                 \
    INPUT("password", type, password, SECRET, .least = 1, .most = FIELD_MAX, .help = "At least 10 characters.")
#define TOKEN_INPUT(type) INPUT("token", type, token, OPAQUE, .least = 1, .most = TOKEN_MAX, .help = "Of the link in the e-mail.")

OPERATION(account_register, AccountRegister, Done,
    .help = "Register. An e-mail with a link goes to the address; the answer is the same when it is taken.",
    .access = WEB_GUEST, .threads = WEB_PASSWORD, .origin_rule = THROTTLE_REGISTER, .least_ms = JOIN_FLOOR_MS, .no_audits = "it is one's own", .faults = register_faults,
    .api = {WEB_POST, "accounts", .tag = "accounts", .code = 201}, .page = {.path = "/register"}, .no_command = "\"user add\" does it",
    .inputs = {
        PERSON_INPUTS(AccountRegister),
        INPUT("invitation", AccountRegister, invitation, OPAQUE, .optional = true, .most = TOKEN_MAX,
              .help = "Of the link of an invitation, where only invited people can join."),
    });
/* clang-format on */

/* ---- Another e-mail -------------------------------------------------------------------------------------------------------------- */

typedef struct RegisterAgain {
    Slice email;
} RegisterAgain;

/* The answer is the same when nobody waits by that address. */
static Status register_again(Operations *ops, const Actor *actor, const RegisterAgain *request,
                             Arena *arena, Done *ret_done, Reason *reason)
{
    Account account;
    TRY(throttle_origin(ops, actor, THROTTLE_MAIL, reason));
    Status status = accounts_find(ops->app->accounts, request->email, arena, &account);
    if (status == STATUS_OK && account.state == ACCOUNT_PENDING)
        status = throttle_mailbox(ops, account.email, arena, reason);
    if (status == STATUS_OK && account.state == ACCOUNT_PENDING)
        status = send_confirmation(ops, account.id, arena, reason);
    if (status != STATUS_NOT_FOUND && status != STATUS_INVALID && status != STATUS_THROTTLED)
        TRY(status);
    ret_done->done = true;
    return STATUS_OK;
}

/* clang-format off */
OPERATION(register_again, RegisterAgain, Done, .help = "Send the e-mail that confirms a registration again.",
    .access = WEB_GUEST, .threads = WEB_PASSWORD, .origin_rule = THROTTLE_MAIL, .least_ms = FLOOR_MS, .no_audits = "it is one's own",
    .no_api = "only the page after registering offers it", .page = {.path = "/register/again"}, .no_command = "\"user confirm\" does it without the e-mail",
    .inputs = {INPUT("email", RegisterAgain, email, LINE, .least = 1, .most = FIELD_MAX, .help = "Where it goes.")});
/* clang-format on */

/* ---- Confirming ------------------------------------------------------------------------------------------------------------------ */

typedef struct AccountConfirm {
    Slice token;
} AccountConfirm;

static Status account_confirm(Operations *ops, const Actor *actor, const AccountConfirm *request,
                              Arena *arena, Done *ret_done, Reason *reason)
{
    uint64_t id;
    (void)actor, (void)arena;
    TRY(credentials_finish_confirm(ops->app->accounts, request->token, &id, reason));
    ret_done->done = true;
    return STATUS_OK;
}

/* clang-format off */
OPERATION(account_confirm, AccountConfirm, Done, .help = "Confirm a registration.", .access = WEB_GUEST, .no_audits = "it is one's own",
    .api = {WEB_POST, "accounts/confirm", .tag = "accounts"}, .no_command = "\"user confirm\" does it without the e-mail",
    .page = {"/confirm", "welcome", "Welcome. Your address is confirmed, and your first pollies have arrived."},
    .inputs = {TOKEN_INPUT(AccountConfirm)});
/* clang-format on */

/* ---- The first admin -------------------------------------------------------------------------------------------------------------- */

typedef struct FirstAdmin {
    Slice token, name, email, password;
} FirstAdmin;

static Status first_admin(Operations *ops, const Actor *actor, const FirstAdmin *request,
                          Arena *arena, Done *ret_done, Reason *reason)
{
    uint64_t id;
    Registration registration = {
        .name = request->name, .email = request->email, .password = request->password};
    (void)actor, (void)arena;
    TRY(credentials_finish_first_admin(ops->app->accounts, request->token, &registration, &id,
                                       reason));
    ret_done->done = true;
    return STATUS_OK;
}

static size_t first_admin_faults(Operations *ops, const Actor *actor, const void *request,
                                 Arena *arena, Reason *ret_reasons)
{
    const FirstAdmin *sent = request;
    Joiner joiner = {.name = sent->name, .email = sent->email, .password = sent->password};
    (void)actor;
    return join_faults(ops, &joiner, arena, ret_reasons);
}

/* clang-format off */
OPERATION(first_admin, FirstAdmin, Done, .help = "Make the first admin of a new site.", .access = WEB_GUEST, .threads = WEB_PASSWORD,
    .no_audits = "it is one's own", .faults = first_admin_faults,
    .no_api = "done once, by the link that a new site prints", .no_command = "\"user add\" does it without the link",
    .page = {"/first-admin", "admin", "You are now the admin of this site. Log in."},
    .inputs = {TOKEN_INPUT(FirstAdmin), PERSON_INPUTS(FirstAdmin)});
/* clang-format on */
