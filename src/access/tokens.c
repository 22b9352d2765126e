/* tokens.c -- see tokens.h. The cell `tokens` beside an account's head holds the sealed list: for each its id, the hash of its secret, when it
 * was made, when it ends, scope and name; behind the name, after a line end, what a token of the scope journals may. When each was last used is in table `token_uses`, written lazily. */
#include "access/tokens.h"

#include "access/access_private.h"
#include "access/journal_access.h"

enum { USED_TTL_S = 400 * 86400, TAG_BITS = 12, SECOND = 0x80 /* with the scope */ };

static const Slice PREFIX = {"ost_", 4};

const char *const TOKEN_SCOPE_WORDS[] = WORDS(TOKEN_SCOPE_LIST, WORD_2);

const char *token_scope_text(TokenScope scope)
{
    return word_of(TOKEN_SCOPE_WORDS, scope);
}

/* ---- The list ----------------------------------------------------------------------------------------------- */

typedef struct KeptToken {
    Token token;
    Slice hash;
    uint8_t bits; /* scope, and SECOND */
    Slice stored; /* name and journals */
} KeptToken;

typedef struct TokenList {
    Id write;
    KeptToken kept[TOKENS_MAX + 1]; /* without those that have expired */
    size_t count;
} TokenList;

static const RecordField TOKEN_FIELDS[] = {
    RECORD_ID(KeptToken, token.id),       RECORD_FIXED(KeptToken, hash, VAULT_HASH_BYTES),
    RECORD_I64(KeptToken, token.made_us), RECORD_I64(KeptToken, token.ends_us),
    RECORD_U8(KeptToken, bits),           RECORD_TEXT16(KeptToken, stored),
};
static const Record TOKEN = RECORD("token", KeptToken, 0, TOKEN_FIELDS);
static const RecordField PLAIN_FIELDS[] = {
    RECORD_LIST(TokenList, kept, count, 0, TOKENS_MAX, &TOKEN)};
const Record TOKENS_PLAIN = RECORD_PART("tokens, open", TokenList, 0, "tokens", PLAIN_FIELDS);
static const RecordField LIST_FIELDS[] = {RECORD_WRITE_ID(TokenList, write),
                                          RECORD_SEALED_IF_ANY(0, &TOKENS_PLAIN)};
const Record TOKENS_RECORD = RECORD("tokens", TokenList, 1, LIST_FIELDS);
const Side TOKENS_SIDE = {&TOKENS_RECORD, {"tokens", 6}};

/* What was read, without what has expired. */
static Status settle(const Accounts *accounts, uint64_t account, TokenList *list)
{
    int64_t now_us = clock_now_us(accounts->world.clock);
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++) {
        KeptToken kept = list->kept[i];
        kept.token.account = account;
        kept.token.secret = SLICE_EMPTY;
        kept.token.scope = (TokenScope)(kept.bits & ~SECOND);
        kept.token.second = (kept.bits & SECOND) != 0;
        if (kept.token.scope >= TOKEN_SCOPE_COUNT)
            return STATUS_CORRUPT;
        size_t name_end = slice_find(kept.stored, '\n');
        kept.token.name = slice_of(kept.stored.data, name_end);
        kept.token.journals = slice_after(kept.stored, name_end + 1);
        if (kept.token.ends_us == 0 || kept.token.ends_us > now_us)
            list->kept[count++] = kept;
    }
    list->count = count;
    return STATUS_OK;
}

static Status read_list(Accounts *accounts, uint64_t account, Arena *arena, TokenList *ret_list)
{
    TRY(side_read(accounts, account, TOKENS_SIDE, arena, ret_list, NULL));
    return settle(accounts, account, ret_list);
}

/* ---- Making and ending -------------------------------------------------------------------------------------- */

static Status check_new(const Accounts *accounts, const NewToken *token, Reason *reason)
{
    int64_t now_us = clock_now_us(accounts->world.clock);
    if (token->name.size == 0)
        return reason_set(reason, STATUS_INVALID, "name", "a token has a name");
    TRY(account_check_line("name", token->name, TOKEN_NAME_MAX, reason));
    if (token->scope >= TOKEN_SCOPE_COUNT)
        return reason_set(reason, STATUS_INVALID, "scope", "read, write or journals");
    if (token->scope != TOKEN_JOURNALS && token->journals.size > 0)
        return reason_set(reason, STATUS_INVALID, "journals",
                          "only a token whose scope is journals names them");
    if (token->ends_us != 0 && (token->ends_us <= now_us ||
                                token->ends_us > now_us + TOKEN_DAYS_MAX * S_PER_DAY * US_PER_S))
        return reason_set(reason, STATUS_INVALID, "ends", "in the future, at most ten years");
    return STATUS_OK;
}

typedef struct Making {
    Accounts *accounts;
    KeptToken kept;
} Making;

static Status apply_making(RecordEditing *editing, void *context, Reason *reason)
{
    const Making *making = context;
    const AccountRecord *head = editing->held;
    TokenList *list = editing->record;
    if (head->state != ACCOUNT_CONFIRMED)
        return reason_set(reason, STATUS_REFUSED, "", "this account is %s",
                          account_state_text(head->state));
    TRY(settle(making->accounts, making->kept.token.account, list));
    if (list->count >= TOKENS_MAX)
        return reason_set(reason, STATUS_REFUSED, "name", "at most %d tokens; end one first",
                          TOKENS_MAX);
    list->kept[list->count++] = making->kept;
    editing->write = true;
    return STATUS_OK;
}

static Slice hash_of(const Accounts *accounts, const char *secret, Arena *arena)
{
    return vault_hash(accounts->vault, "token", slice_of(secret, SECRET_BYTES), arena);
}

Status tokens_make(Accounts *accounts, uint64_t account, const NewToken *token, Arena *arena,
                   Token *ret_token, Reason *reason)
{
    char secret[SECRET_BYTES];
    Slice name = arena_copy(arena, token->name), journals = SLICE_EMPTY;
    TRY(check_new(accounts, token, reason));
    if (token->scope == TOKEN_JOURNALS)
        TRY(journal_scopes_read(token->journals, arena, &journals, reason));
    secret_make(accounts, account, secret);
    Making making = {
        .accounts = accounts,
        .kept = {.token = {.id = fresh_id(accounts),
                           .account = account,
                           .name = name,
                           .scope = token->scope,
                           .journals = journals,
                           .made_us = clock_now_us(accounts->world.clock),
                           .ends_us = token->ends_us,
                           .second = token->second},
                 .hash = hash_of(accounts, secret, arena),
                 .stored = journals.size > 0 ? arena_print(arena, "%.*s\n%.*s", SLICE_ARG(name),
                                                           SLICE_ARG(journals))
                                             : name,
                 .bits = (uint8_t)((unsigned)token->scope | (token->second ? SECOND : 0U))}};
    TRY(side_edit(accounts, account, TOKENS_SIDE, apply_making, &making, reason));
    Slice text = secret_text(secret, arena);
    making.kept.token.secret = arena_print(arena, "%.*s%.*s", SLICE_ARG(PREFIX), SLICE_ARG(text));
    *ret_token = making.kept.token;
    return STATUS_OK;
}

static Status apply_end(RecordEditing *editing, void *context, Reason *reason)
{
    const Making *ending = context;
    TokenList *list = editing->record;
    size_t count = 0;
    (void)reason;
    TRY(settle(ending->accounts, ending->kept.token.account, list));
    for (size_t i = 0; i < list->count; i++)
        if (!id_equal(list->kept[i].token.id, ending->kept.token.id))
            list->kept[count++] = list->kept[i];
    editing->write = count < list->count;
    list->count = count;
    return STATUS_OK;
}

Status tokens_end(Accounts *accounts, uint64_t account, Id id)
{
    Making ending = {accounts, {.token = {.id = id, .account = account}}};
    return side_edit(accounts, account, TOKENS_SIDE, apply_end, &ending, NULL);
}

Change tokens_ended(const Accounts *accounts, Arena *arena)
{
    return side_change(TOKENS_SIDE.column, fresh_id(accounts), SLICE_EMPTY, arena);
}

/* ---- Using -------------------------------------------------------------------------------------------------- */

/* Whether this instance has noted a use lately. A slot remembers one of the tokens that share it, by some bits in place of the last
 * milliseconds; who shares a slot is noted more often, never less. */
static bool is_noted(Accounts *accounts, Id id)
{
    uint64_t hash;
    memcpy(&hash, id.bytes + ID_BYTES - sizeof hash, sizeof hash);
    _Atomic int64_t *slot = &accounts->token_uses[hash % TOKEN_USES];
    int64_t mask = (INT64_C(1) << TAG_BITS) - 1, tag = (int64_t)(hash >> 40) & mask;
    int64_t now_us = clock_steady_us(accounts->world.clock), noted = atomic_load(slot);
    if ((noted & mask) == tag && noted != 0 && now_us - noted < TOKEN_USED_S * US_PER_S)
        return true;
    atomic_store(slot, (now_us & ~mask) | tag);
    return false;
}

/* A note that is lost makes a token seem unused for a while longer. */
static void note_use(Accounts *accounts, const Token *token, Arena *arena)
{
    int64_t now_us = clock_now_us(accounts->world.clock);
    if (is_noted(accounts, token->id))
        return;
    Change change = {.column = id_slice(&token->id),
                     .value = row_key((uint64_t)now_us, arena),
                     .timestamp = now_us,
                     .ttl_s = USED_TTL_S};
    RowChange note = {&TABLE_TOKEN_USES, row_key(token->account, arena), change};
    (void)!store_write(accounts->store, &(Batch){&note, 1, true});
}

Status tokens_find(Accounts *accounts, Slice secret, Arena *arena, Token *ret_token,
                   Account *ret_account)
{
    char bytes[SECRET_BYTES];
    TokenList list;
    Account account;
    if (!slice_starts_with(secret, PREFIX) ||
        !secret_bytes(slice_after(secret, PREFIX.size), bytes))
        return STATUS_LOGIN;
    Slice hash = hash_of(accounts, bytes, arena);
    uint64_t id = bytes_get_u64(bytes);
    TRY(read_list(accounts, id, arena, &list));
    size_t at = 0;
    while (at < list.count && !secret_equal(list.kept[at].hash, hash))
        at++;
    if (at == list.count)
        return STATUS_LOGIN;
    TRY(accounts_read(accounts, id, arena, &account));
    if (!account_may(&account, RIGHT_LOG_IN))
        return STATUS_LOGIN;
    note_use(accounts, &list.kept[at].token, arena);
    *ret_token = list.kept[at].token;
    *ret_account = account;
    return STATUS_OK;
}

/* ---- Listing ------------------------------------------------------------------------------------------------ */

static Status add_uses(Accounts *accounts, uint64_t account, TokenList *list, Arena *arena)
{
    Read *reads = ARENA_ARRAY(arena, list->count, Read);
    ReadAnswer *answers = ARENA_ARRAY(arena, list->count, ReadAnswer);
    for (size_t i = 0; i < list->count; i++)
        reads[i] = (Read){&TABLE_TOKEN_USES, row_key(account, arena),
                          id_slice(&list->kept[i].token.id), STORE_NORMAL};
    TRY(store_read_many(accounts->store, reads, list->count, arena, answers));
    for (size_t i = 0; i < list->count; i++) {
        if (answers[i].status == STATUS_NOT_FOUND)
            continue;
        TRY(answers[i].status);
        if (answers[i].cell.value.size != sizeof(int64_t))
            return STATUS_CORRUPT;
        list->kept[i].token.used_us = (int64_t)bytes_get_u64(answers[i].cell.value.data);
    }
    return STATUS_OK;
}

Status tokens_list(Accounts *accounts, uint64_t account, Arena *arena, Token **ret_tokens,
                   size_t *ret_count)
{
    TokenList list;
    TRY(read_list(accounts, account, arena, &list));
    TRY(add_uses(accounts, account, &list, arena));
    Token *tokens = ARENA_ARRAY(arena, list.count, Token);
    for (size_t i = 0; i < list.count; i++)
        tokens[i] = list.kept[i].token;
    *ret_tokens = tokens;
    *ret_count = list.count;
    return STATUS_OK;
}
