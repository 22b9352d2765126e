/* credentials.c -- see credentials.h. */
#include "access/credentials.h"

#include "access/access_private.h"

/* Two instances' clocks may say different times of what was done one after the other. */
enum { CLOCKS_APART_S = 60 };

/* ---- Confirming --------------------------------------------------------------------------------------------- */

static Status make_mail(Accounts *accounts, const Account *account, const NewLink *link,
                        Arena *arena, LinkMail *ret_mail)
{
    LinkMail mail = {.account = account->id, .name = account->name, .email = account->email};
    TRY(links_make(accounts, link, arena, &mail.secret));
    *ret_mail = mail;
    return STATUS_OK;
}

Status credentials_begin_confirm(Accounts *accounts, uint64_t id, Arena *arena, LinkMail *ret_mail)
{
    Account account;
    TRY(accounts_read(accounts, id, arena, &account));
    if (account.state != ACCOUNT_PENDING)
        return STATUS_REFUSED;
    return make_mail(accounts, &account, &(NewLink){LINK_CONFIRM, id, SLICE_EMPTY}, arena,
                     ret_mail);
}

Status credentials_finish_confirm(Accounts *accounts, Slice secret, uint64_t *ret_id,
                                  Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Link link;
    TRY(links_peek(accounts, LINK_CONFIRM, secret, arena, &link, reason));
    Condition unspent = link_unspent(&link);
    Change spent = link_spent(accounts, &link, arena);
    RowEdit by = {.when = &unspent, .when_count = 1, .also = &spent, .also_count = 1};
    TRY(registration_confirm_by(accounts, link.account, by, reason));
    *ret_id = link.account;
    return STATUS_OK;
}

/* ---- Passwords ---------------------------------------------------------------------------------------------- */

typedef struct NewPassword {
    Slice hash;
    const Slice *before; /* or NULL: the hash that the old password was checked by */
    uint64_t epoch;      /* out */
} NewPassword;

static Status apply_password(AccountRecord *head, void *context, bool *ret_write, Reason *reason)
{
    NewPassword *change = context;
    TRY(refuse_dead(head, reason));
    if (change->before != NULL && !slice_equal(*change->before, head->password_hash))
        return reason_set(reason, STATUS_CONFLICT, "password",
                          "the password has just been changed by somebody else");
    head->password_hash = change->hash;
    change->epoch = ++head->epoch;
    *ret_write = true;
    return STATUS_OK;
}

Status credentials_check_password(Accounts *accounts, Slice name_or_email, Slice password,
                                  Arena *arena, Account *ret_account)
{
    Account account = {.password_hash = SLICE_EMPTY};
    bool fits;
    Status status = accounts_find(accounts, name_or_email, arena, &account);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND)
        return status;
    TRY(password_check(accounts, password, account.password_hash, &fits));
    if (!fits || account.state == ACCOUNT_PENDING)
        return STATUS_LOGIN;
    if (!account_may(&account, RIGHT_LOG_IN))
        return STATUS_DENIED;
    *ret_account = account;
    return STATUS_OK;
}

Status credentials_set_password(Accounts *accounts, uint64_t id, Slice password, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    NewPassword change = {.before = NULL};
    TRY(account_check_password(password, reason));
    TRY(password_hash(accounts, password, arena, &change.hash));
    Change tokens = tokens_ended(accounts, arena);
    RowEdit edit = {.apply = apply_password, .context = &change, .also = &tokens, .also_count = 1};
    return row_edit(accounts, id, edit, reason);
}

Status credentials_change_password(Accounts *accounts, const PasswordChange *change, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Account account;
    bool fits;
    TRY(account_check_password(change->password, reason));
    TRY(accounts_read(accounts, change->account, arena, &account));
    TRY(password_check(accounts, change->old, account.password_hash, &fits));
    if (!fits)
        return reason_set(reason, STATUS_REFUSED, "old", "this is not your password");
    NewPassword next = {.before = &account.password_hash};
    TRY(password_hash(accounts, change->password, arena, &next.hash));
    RowEdit edit = {.apply = apply_password, .context = &next};
    TRY(row_edit(accounts, change->account, edit, reason));
    if (change->keep != NULL)
        session_keep(accounts, change->keep, next.epoch);
    return STATUS_OK;
}

Status credentials_begin_reset(Accounts *accounts, Slice name_or_email, Arena *arena,
                               LinkMail *ret_mail)
{
    Account account;
    TRY(accounts_find(accounts, name_or_email, arena, &account));
    if (!account_may(&account, RIGHT_LOG_IN))
        return STATUS_NOT_FOUND;
    return make_mail(accounts, &account, &(NewLink){LINK_RESET, account.id, SLICE_EMPTY}, arena,
                     ret_mail);
}

Status credentials_finish_reset(Accounts *accounts, Slice secret, Slice password, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    NewPassword change = {.before = NULL};
    Link link;
    TRY(account_check_password(password, reason));
    TRY(links_peek(accounts, LINK_RESET, secret, arena, &link, reason));
    TRY(password_hash(accounts, password, arena, &change.hash));
    Condition unspent = link_unspent(&link);
    Change also[] = {link_spent(accounts, &link, arena), tokens_ended(accounts, arena)};
    RowEdit edit = {.apply = apply_password,
                    .context = &change,
                    .when = &unspent,
                    .when_count = 1,
                    .also = also,
                    .also_count = 2};
    return row_edit(accounts, link.account, edit, reason);
}

/* ---- Another e-mail ----------------------------------------------------------------------------------------- */

/* It would push the way back of the first one out. */
static Status refuse_second_move(const Accounts *accounts, const Account *account, Reason *reason)
{
    if (account->email_back_us <= clock_now_us(accounts->world.clock))
        return STATUS_OK;
    return reason_set(reason, STATUS_REFUSED, "email",
                      "your e-mail was changed within the last %d days, and the one before is kept "
                      "for as long; change it again after that",
                      ACCOUNT_EMAIL_BACK_DAYS);
}

Status credentials_begin_email(Accounts *accounts, uint64_t id, Slice email, Arena *arena,
                               LinkMail *ret_mail, Reason *reason)
{
    Account account;
    Slice folded, now;
    email = slice_trim(email);
    TRY(account_fold_email(email, arena, &folded, reason));
    TRY(accounts_read(accounts, id, arena, &account));
    if (account.state != ACCOUNT_CONFIRMED)
        return reason_set(reason, STATUS_REFUSED, "", "this account is %s",
                          account_state_text(account.state));
    if (account_fold_email(account.email, arena, &now, NULL) == STATUS_OK &&
        slice_equal(folded, now))
        return reason_set(reason, STATUS_REFUSED, "email", "this is your e-mail already");
    TRY(refuse_second_move(accounts, &account, reason));
    account.email = email;
    return make_mail(accounts, &account, &(NewLink){LINK_EMAIL, id, email}, arena, ret_mail);
}

Status credentials_begin_back(Accounts *accounts, Slice secret, Arena *arena, LinkMail *ret_mail,
                              Reason *reason)
{
    char bytes[SECRET_BYTES];
    Link link;
    Account account, other;
    TRY(links_peek(accounts, LINK_EMAIL, secret, arena, &link, reason));
    TRY(accounts_read(accounts, link.account, arena, &account));
    TRY(refuse_second_move(accounts, &account, reason));
    Status status = accounts_find(accounts, link.payload, arena, &other);
    if (status == STATUS_OK && other.id != account.id)
        return reason_set(reason, STATUS_REFUSED, "email", "this e-mail is taken");
    if (status != STATUS_NOT_FOUND)
        TRY(status);
    TRY(registration_check_email(accounts, link.account, link.payload, reason));
    secret_make(accounts, link.account, bytes);
    *ret_mail = (LinkMail){.account = account.id,
                           .name = account.name,
                           .email = account.email,
                           .secret = secret_text(bytes, arena)};
    return STATUS_OK;
}

Status credentials_finish_email(Accounts *accounts, const EmailMove *move, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Link link;
    Change also[2];
    uint64_t epoch;
    TRY(links_peek(accounts, LINK_EMAIL, move->secret, arena, &link, reason));
    Condition unspent = link_unspent(&link);
    RowEdit by = {
        .when = &unspent, .when_count = 1, .also = also, .also_count = move->back.size > 0 ? 2 : 1};
    also[0] = link_spent(accounts, &link, arena);
    if (move->back.size > 0)
        also[1] = link_change(accounts, &(NewLink){LINK_BACK, link.account, SLICE_EMPTY},
                              move->back, arena);
    TRY(registration_change_email_by(accounts, link.account, link.payload, by, &epoch, reason));
    if (move->keep != NULL && move->keep->account == link.account)
        session_keep(accounts, move->keep, epoch);
    return STATUS_OK;
}

/* The link, the second factor and the linked log-ins are as they were read here, or nothing is done: CONFLICT, and it is done again. */
static Status finish_back(Accounts *accounts, Slice secret, Arena *arena, Reason *reason)
{
    Link link;
    SideUndo second, linked;
    UndoneLogins logins = {.count = 0};
    TRY(links_peek(accounts, LINK_BACK, secret, arena, &link, reason));
    int64_t since_us = link.made_us - CLOCKS_APART_S * US_PER_S;
    TRY(second_factor_undo(accounts, link.account, since_us, arena, &second));
    TRY(linked_logins_undo(accounts, link.account, since_us, arena, &linked, &logins));
    Condition when[] = {link_unspent(&link), second.when, linked.when};
    Change also[4] = {link_spent(accounts, &link, arena), tokens_ended(accounts, arena)};
    RowEdit by = {.when = when, .when_count = 3, .also = also, .also_count = 2};
    if (second.drops)
        also[by.also_count++] = second.change;
    if (linked.drops)
        also[by.also_count++] = linked.change;
    TRY(registration_restore_email_by(accounts, link.account, by, second.drops, reason));
    /* They count for nobody now and can be taken over, freed or not. */
    for (size_t i = 0; i < logins.count; i++)
        (void)!claim_release(accounts, CLAIM_EXTERNAL, logins.folded[i]);
    return STATUS_OK;
}

Status credentials_finish_back(Accounts *accounts, Slice secret, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Status status = STATUS_CONFLICT;
    for (int i = 0; record_again(&status, i, arena, reason); i++)
        status = finish_back(accounts, secret, arena, reason);
    return status;
}

/* ---- The first admin ---------------------------------------------------------------------------------------- */

/* Calls `is_one` for every account until it says true; OK when it never did. */
static Status refuse_any(Accounts *accounts, bool (*is_one)(const Account *account), Arena *arena)
{
    Slice position = SLICE_EMPTY;
    for (bool more = true; more;) {
        ARENA_SCOPE Arena *page = arena_new();
        Account *list;
        size_t count;
        Slice next;
        TRY(accounts_list(accounts, position, page, &list, &count, &next, &more));
        for (size_t i = 0; i < count; i++)
            if (is_one(&list[i]))
                return STATUS_REFUSED;
        position = arena_copy(arena, next);
    }
    return STATUS_OK;
}

static bool is_account(const Account *account)
{
    (void)account;
    return true;
}

static bool is_admin(const Account *account)
{
    return account_has(account, ROLE_ADMIN);
}

Status credentials_begin_first_admin(Accounts *accounts, Arena *arena, Slice *ret_secret)
{
    TRY(refuse_any(accounts, is_account, arena));
    return links_make(accounts, &(NewLink){LINK_ADMIN, 0, SLICE_EMPTY}, arena, ret_secret);
}

static Status make_admin(Accounts *accounts, uint64_t id)
{
    TRY(accounts_set_rights(accounts, id, &(AccountRights){.roles = 1U << ROLE_ADMIN}, NULL));
    return accounts_confirm(accounts, id, NULL);
}

Status credentials_finish_first_admin(Accounts *accounts, Slice secret,
                                      const Registration *registration, uint64_t *ret_id,
                                      Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Registration person = *registration;
    Link link;
    uint64_t id;
    person.roles = 0;
    person.confirmed = false;
    TRY(links_peek(accounts, LINK_ADMIN, secret, arena, &link, reason));
    if (refuse_any(accounts, is_admin, arena) == STATUS_REFUSED) /* made by a command meanwhile */
        return reason_set(reason, STATUS_REFUSED, "", "this site has an admin already");
    TRY(accounts_register(accounts, &person, &id, reason));
    Status status = links_use(accounts, &link, reason);
    if (status != STATUS_OK) {
        registration_undo(accounts, id);
        return status;
    }
    if (make_admin(accounts, id) != STATUS_OK)
        return reason_set(
            reason, STATUS_UNKNOWN, "",
            "the account is made; `ostraka user rights` and `user confirm` do the rest");
    *ret_id = id;
    return STATUS_OK;
}
