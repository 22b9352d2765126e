/* accounts.c -- reading, finding, rights, the clean-up: what concerns one row. See accounts.h and accounts_private.h. */
#include <stdlib.h>

#include "accounts/accounts_private.h"
#include "base/mutant.h"

enum { ID_ROW_BYTES = 8, LIST_CELLS = 1000, IDLE_DAYS = 14, SESSION_DAYS = 60 };
/* A quarter of a million people who were here lately, at two copies of some 300 bytes each. */
enum { READ_CACHE_BITS = 19 };

static SessionLimits limits_of(SessionLimits given)
{
    return (SessionLimits){
        .idle_s = given.idle_s > 0 ? given.idle_s : IDLE_DAYS * S_PER_DAY,
        .brief_idle_s = given.brief_idle_s > 0 ? given.brief_idle_s : S_PER_DAY,
        .most_s = given.most_s > 0 ? given.most_s : SESSION_DAYS * S_PER_DAY,
    };
}

Accounts *accounts_new(const AccountsOptions *options)
{
    Accounts *accounts = calloc(1, sizeof *accounts);
    CHECK(accounts != NULL && options->vault != NULL);
    accounts->store = options->store;
    accounts->world = options->world;
    accounts->vault = options->vault;
    accounts->hasher = options->hasher;
    accounts->limits = limits_of(options->sessions);
    accounts->entry_rule = options->entry_rule;
    accounts->return_days = options->return_days;
    password_queue_init(&accounts->password_queue, options->passwords.at_once,
                        options->passwords.queue);
    accounts->read_cache =
        read_cache_new(options->world.clock, READ_CACHE_BITS, options->read_cache_us);
    accounts->ids = sequence_new(options->store, options->world, "accounts", options->id_block);
    accounts->settings = settings_new(options->store, options->world);
    accounts_keep(accounts, &RETENTION_AT_FIRST);
    return accounts;
}

void accounts_free(Accounts *accounts)
{
    if (accounts == NULL)
        return;
    settings_free(accounts->settings);
    read_cache_free(accounts->read_cache);
    sequence_free(accounts->ids);
    password_queue_destroy(&accounts->password_queue);
    free(accounts);
}

Settings *accounts_settings(const Accounts *accounts)
{
    return accounts->settings;
}

void accounts_keep(Accounts *accounts, const Retention *retention)
{
    atomic_store(&accounts->logins_days, retention->logins);
    atomic_store(&accounts->signals_days, retention->signals);
}

bool account_may(const Account *account, AccountRight right)
{
    return account->state == ACCOUNT_CONFIRMED && !account_lost(account, right);
}

bool account_lost(const Account *account, AccountRight right)
{
    return (account->denied & 1U << right) != 0;
}

Status account_check_rights(const Account *account, uint32_t rights, Reason *reason)
{
    for (AccountRight right = 0; right < RIGHT_COUNT; right++)
        if ((rights >> right & 1) != 0 && account_lost(account, right))
            return reason_set(reason, STATUS_DENIED, "",
                              "the right to %s was taken from this account",
                              account_right_words(right));
    return STATUS_OK;
}

bool account_has(const Account *account, AccountRole role)
{
    return account->state == ACCOUNT_CONFIRMED &&
           (account->roles & (1U << role | 1U << ROLE_ADMIN)) != 0;
}

/* ---- Reading ----------------------------------------------------------------------------------------------- */

/* Labels that a closed account still has to release are nobody's business. */
static Account account_of(uint64_t id, const AccountRecord *head)
{
    bool alive = account_record_is_alive(head);
    return (Account){.id = id,
                     .state = head->state,
                     .state_time_us = head->state_time_us,
                     .name = alive ? head->labels[CLAIM_NAME].text : SLICE_EMPTY,
                     .email = alive ? head->labels[CLAIM_EMAIL].text : SLICE_EMPTY,
                     .real_name = alive ? head->real_name : SLICE_EMPTY,
                     .real_name_shown = alive && head->real_name_shown,
                     .password_hash = head->password_hash,
                     .registered_us = head->registered_us,
                     .roles = head->roles,
                     .denied = head->denied,
                     .version = head->version,
                     .epoch = head->epoch,
                     .second = head->second,
                     .email_back_us = head->email_back_us};
}

Status accounts_read(Accounts *accounts, uint64_t id, Arena *arena, Account *ret_account)
{
    AccountRow row;
    TRY(row_read(accounts, id, arena, &row));
    *ret_account = account_of(id, &row.head);
    return STATUS_OK;
}

Status accounts_is_gone(Accounts *accounts, uint64_t id, bool *ret_gone)
{
    ARENA_SCOPE Arena *arena = arena_new();
    AccountRow row;
    TRY(row_read(accounts, id, arena, &row));
    *ret_gone = row.head.state == ACCOUNT_CLOSED && row.head.labels[CLAIM_NAME].folded.size == 0;
    return STATUS_OK;
}

/* The kind is told by the text: a name has no '@'. What cannot be a name or an e-mail is nobody's. */
static Status fold_either(Slice text, Arena *arena, ClaimKind *ret_kind, Slice *ret_folded)
{
    bool email = slice_find(text, '@') < text.size;
    Status status = email ? account_fold_email(text, arena, ret_folded, NULL)
                          : account_fold_name(text, arena, ret_folded, NULL);
    *ret_kind = email ? CLAIM_EMAIL : CLAIM_NAME;
    return status == STATUS_INVALID ? STATUS_NOT_FOUND : status;
}

Status accounts_find(Accounts *accounts, Slice name_or_email, Arena *arena, Account *ret_account)
{
    ClaimKind kind;
    Slice folded;
    uint64_t user;
    AccountRow row;
    TRY(fold_either(name_or_email, arena, &kind, &folded));
    TRY(claim_holder(accounts, kind, folded, arena, &user));
    Status status = row_read(accounts, user, arena, &row);
    if (status == STATUS_NOT_FOUND) /* a claim is made after its account's row */
        return STATUS_CORRUPT;
    TRY(status);
    /* A wish is not a name yet, and one that is only held is nobody's. */
    bool is_held = row.head.state == ACCOUNT_PENDING && row.head.labels[CLAIM_EMAIL].text.size == 0;
    if (!account_record_is_alive(&row.head) || is_held ||
        !slice_equal(row.head.labels[kind].folded, folded))
        return STATUS_NOT_FOUND;
    *ret_account = account_of(user, &row.head);
    return STATUS_OK;
}

Status accounts_page(Accounts *accounts, Slice position, uint32_t cells, Arena *arena,
                     AccountPage *ret_page)
{
    ScanPage page;
    size_t count = 0;
    TRY(store_scan(accounts->store, &TABLE_ACCOUNTS, position, cells, arena, &page));
    Account *list = ARENA_ARRAY(arena, page.count, Account);
    for (size_t i = 0; i < page.count; i++) {
        const ScanCell *cell = &page.cells[i];
        AccountRecord head;
        if (!slice_equal(cell->cell.column, SLICE("head")))
            continue;
        if (cell->row.size != ID_ROW_BYTES)
            return STATUS_CORRUPT;
        VaultCell at = record_cell(accounts->vault, &TABLE_ACCOUNTS, cell->row, cell->cell.column);
        TRY(record_decode(&ACCOUNT_RECORD, cell->cell.value, &at, arena, &head));
        list[count++] = account_of(bytes_get_u64(cell->row.data), &head);
    }
    *ret_page = (AccountPage){list, count, page.position, page.more};
    return STATUS_OK;
}

Status accounts_list(Accounts *accounts, Slice position, Arena *arena, Account **ret_accounts,
                     size_t *ret_count, Slice *ret_position, bool *ret_more)
{
    AccountPage page;
    TRY(accounts_page(accounts, position, LIST_CELLS, arena, &page));
    *ret_accounts = page.accounts;
    *ret_count = page.count;
    *ret_position = page.position;
    *ret_more = page.more;
    return STATUS_OK;
}

/* ---- Profile ----------------------------------------------------------------------------------------------- */

typedef struct Profile {
    Slice real_name;
    bool shown;
} Profile;

static Status apply_profile(AccountRecord *head, void *context, bool *ret_write, Reason *reason)
{
    const Profile *profile = context;
    TRY(refuse_dead(head, reason));
    *ret_write = !slice_equal(head->real_name, profile->real_name) ||
                 head->real_name_shown != profile->shown;
    head->real_name = profile->real_name;
    head->real_name_shown = profile->shown;
    return STATUS_OK;
}

Status accounts_set_profile(Accounts *accounts, uint64_t id, Slice real_name, bool shown,
                            Reason *reason)
{
    Profile profile = {slice_trim(real_name), shown};
    TRY(account_check_line("real_name", profile.real_name, ACCOUNT_REAL_NAME_MAX, reason));
    return row_edit(accounts, id, (RowEdit){.apply = apply_profile, .context = &profile}, reason);
}

/* ---- Rights ------------------------------------------------------------------------------------------------ */

static Status apply_rights(AccountRecord *head, void *context, bool *ret_write, Reason *reason)
{
    const AccountRights *rights = context;
    TRY(refuse_dead(head, reason));
    if (rights->seen_version != 0 && rights->seen_version != head->version)
        return reason_set(reason, STATUS_CONFLICT, "",
                          "somebody else changed this account in between");
    *ret_write = head->roles != rights->roles || head->denied != rights->denied;
    head->roles = rights->roles;
    head->denied = rights->denied;
    return STATUS_OK;
}

Status accounts_set_rights(Accounts *accounts, uint64_t id, const AccountRights *rights,
                           Reason *reason)
{
    return rights_set_by(accounts, id, rights, (RowEdit){0}, reason);
}

Status rights_set_by(Accounts *accounts, uint64_t id, const AccountRights *rights, RowEdit by,
                     Reason *reason)
{
    AccountRights copy = *rights;
    if ((copy.roles & ~(uint32_t)ACCOUNT_ROLES_ALL) != 0 ||
        (copy.denied & ~(uint32_t)ACCOUNT_RIGHTS_ALL) != 0)
        return reason_set(reason, STATUS_INVALID, "roles", "there is no such role or right");
    by.apply = apply_rights;
    by.context = &copy;
    return row_edit(accounts, id, by, reason);
}

/* ---- Clean-up ---------------------------------------------------------------------------------------------- */

static bool drop_old_wishes(AccountRecord *head, int64_t before_us)
{
    bool any = false;
    for (int kind = 0; kind < CLAIM_KINDS; kind++) {
        ClaimRequest *want = &head->claim_requests[kind];
        if (id_is_zero(want->id) || want->time_us >= before_us)
            continue;
        *want = (ClaimRequest){.label = {SLICE_EMPTY, SLICE_EMPTY}};
        if (kind == CLAIM_EMAIL)
            head->email_back_us = 0;
        any = true;
    }
    return any;
}

static Status apply_expiry(AccountRecord *head, void *context, bool *ret_write, Reason *reason)
{
    Accounts *accounts = context;
    int64_t before_us =
        clock_now_us(accounts->world.clock) - ACCOUNT_PENDING_DAYS * S_PER_DAY * US_PER_S;
    (void)reason;
    *ret_write = drop_old_wishes(head, before_us);
    if (head->state != ACCOUNT_PENDING || head->state_time_us >= before_us)
        return STATUS_OK;
    *ret_write = true;
    row_set_state(accounts, head, ACCOUNT_VOID);
    head->password_hash = SLICE_EMPTY;
    account_record_forget(head);
    return STATUS_OK;
}

/* The mistake of touching claims here: somebody may have taken them over in the meantime. */
static Status expire_with_claims(Accounts *accounts, uint64_t id)
{
    ARENA_SCOPE Arena *arena = arena_new();
    AccountRow row;
    TRY(row_read(accounts, id, arena, &row));
    TRY(row_edit(accounts, id, (RowEdit){.apply = apply_expiry, .context = accounts}, NULL));
    for (int kind = 0; kind < CLAIM_KINDS && row.head.state == ACCOUNT_PENDING; kind++)
        TRY(claim_release(accounts, (ClaimKind)kind, row.head.labels[kind].folded));
    return STATUS_OK;
}

Status accounts_expire(Accounts *accounts, uint64_t id)
{
    if (MUTANT(names_without_condition))
        return expire_with_claims(accounts, id);
    return row_edit(accounts, id, (RowEdit){.apply = apply_expiry, .context = accounts}, NULL);
}
