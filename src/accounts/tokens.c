/* tokens.c -- see tokens.h. The cell `tokens` beside an account's head holds the sealed list: for each its id, the hash of its secret, when it
 * was made, when it ends, scope and name. When each was last used is in table `token_uses`, written lazily. */
#include "accounts/tokens.h"

#include "accounts/inside.h"

enum { USED_TTL_S = 400 * 86400, TAG_BITS = 12, SECOND = 0x80 /* with the scope */ };

const Slice TOKENS_COLUMN = {"tokens", 6};
static const Slice PREFIX = {"ost_", 4};
static const char *const SEALED = "tokens";

static const char *const SCOPES[] = {
#define X(name, word) word,
    TOKEN_SCOPE_LIST(X)
#undef X
};

const char *token_scope_text(TokenScope scope)
{
    CHECK(scope < TOKEN_SCOPE_COUNT);
    return SCOPES[scope];
}

Status token_scope_from(Slice text, TokenScope *ret_scope)
{
    for (int i = 0; i < TOKEN_SCOPE_COUNT; i++)
        if (slice_equal(text, slice_from(SCOPES[i]))) {
            *ret_scope = (TokenScope)i;
            return STATUS_OK;
        }
    return STATUS_INVALID;
}

/* ---- The list ----------------------------------------------------------------------------------------------- */

typedef struct KeptToken {
    Token token;
    Slice hash;
} KeptToken;

typedef struct TokenList {
    SideCell cell;
    KeptToken *kept; /* without those that have expired; room for one more */
    size_t count;
} TokenList;

static Slice encode(const Accounts *accounts, const TokenList *list, Arena *arena)
{
    BUFFER_SCOPE Buffer plain = {0};
    for (size_t i = 0; i < list->count; i++) {
        const Token *token = &list->kept[i].token;
        buffer_bytes(&plain, id_slice(&token->id));
        buffer_bytes(&plain, list->kept[i].hash);
        buffer_i64(&plain, token->made_us);
        buffer_i64(&plain, token->ends_us);
        buffer_u8(&plain, (uint8_t)((unsigned)token->scope | (token->second ? SECOND : 0U)));
        buffer_u16(&plain, (uint16_t)token->name.size);
        buffer_bytes(&plain, token->name);
    }
    return list->count == 0 ? SLICE_EMPTY
                            : vault_seal(accounts->vault, SEALED, buffer_slice(&plain), arena);
}

static KeptToken take_token(Reader *reader, uint64_t account)
{
    KeptToken kept = {.token = {.account = account, .secret = SLICE_EMPTY}};
    Slice id = reader_bytes(reader, ID_BYTES);
    kept.hash = reader_bytes(reader, VAULT_HASH_BYTES);
    kept.token.made_us = reader_i64(reader);
    kept.token.ends_us = reader_i64(reader);
    uint8_t scope = reader_u8(reader);
    kept.token.scope = (TokenScope)(scope & ~SECOND);
    kept.token.second = (scope & SECOND) != 0;
    kept.token.name = reader_bytes(reader, reader_u16(reader));
    reader->failed |=
        kept.token.scope >= TOKEN_SCOPE_COUNT || id_from_bytes(id, &kept.token.id) != STATUS_OK;
    return kept;
}

static Status read_list(Accounts *accounts, uint64_t account, Arena *arena, TokenList *ret_list)
{
    TokenList list = {.kept = ARENA_ARRAY(arena, TOKENS_MOST + 1, KeptToken)};
    Slice plain = SLICE_EMPTY;
    int64_t now_us = clock_now_us(accounts->world.clock);
    TRY(side_read(accounts, account, TOKENS_COLUMN, arena, &list.cell));
    if (list.cell.content.size > 0)
        TRY(vault_unseal(accounts->vault, SEALED, list.cell.content, arena, &plain));
    Reader reader = reader_of(plain);
    while (reader.rest.size > 0 && !reader.failed) {
        KeptToken kept = take_token(&reader, account);
        if (kept.token.ends_us != 0 && kept.token.ends_us <= now_us)
            continue;
        if (list.count >= TOKENS_MOST)
            return STATUS_CORRUPT;
        list.kept[list.count++] = kept;
    }
    if (reader.failed)
        return STATUS_CORRUPT;
    *ret_list = list;
    return STATUS_OK;
}

/* ---- Making and ending -------------------------------------------------------------------------------------- */

static Status check_new(const Accounts *accounts, const NewToken *token, Reason *reason)
{
    int64_t now_us = clock_now_us(accounts->world.clock);
    if (token->name.size == 0)
        return reason_set(reason, STATUS_INVALID, "name", "a token has a name");
    TRY(account_check_line("name", token->name, TOKEN_NAME_MOST, reason));
    if (token->scope >= TOKEN_SCOPE_COUNT)
        return reason_set(reason, STATUS_INVALID, "scope", "read or write");
    if (token->ends_us != 0 && (token->ends_us <= now_us ||
                                token->ends_us > now_us + TOKEN_DAYS_MOST * S_PER_DAY * US_PER_S))
        return reason_set(reason, STATUS_INVALID, "ends", "in the future, at most ten years");
    return STATUS_OK;
}

/* One attempt. */
static Status make_once(Accounts *accounts, const KeptToken *kept, Arena *arena, Reason *reason)
{
    AccountRow row;
    TokenList list;
    uint64_t account = kept->token.account;
    TRY(row_read(accounts, account, arena, &row));
    if (row.head.state != ACCOUNT_CONFIRMED)
        return reason_set(reason, STATUS_REFUSED, "", "this account is %s",
                          account_state_text(row.head.state));
    TRY(read_list(accounts, account, arena, &list));
    if (list.count >= TOKENS_MOST)
        return reason_set(reason, STATUS_REFUSED, "name", "at most %d tokens; end one first",
                          TOKENS_MOST);
    list.kept[list.count++] = *kept;
    return side_replace(accounts, account, &row, &list.cell, encode(accounts, &list, arena), arena);
}

static Slice hash_of(const Accounts *accounts, const char *secret, Arena *arena)
{
    return vault_hash(accounts->vault, "token", slice_of(secret, SECRET_BYTES), arena);
}

Status tokens_make(Accounts *accounts, uint64_t account, const NewToken *token, Arena *arena,
                   Token *ret_token, Reason *reason)
{
    ARENA_SCOPE Arena *own = arena_new();
    char secret[SECRET_BYTES];
    TRY(check_new(accounts, token, reason));
    secret_make(accounts, account, secret);
    KeptToken kept = {.token = {.id = fresh_id(accounts),
                                .account = account,
                                .name = arena_copy(arena, token->name),
                                .scope = token->scope,
                                .made_us = clock_now_us(accounts->world.clock),
                                .ends_us = token->ends_us,
                                .second = token->second},
                      .hash = hash_of(accounts, secret, arena)};
    Status status = STATUS_CONFLICT;
    for (int i = 0; i < RACE_TRIES && status == STATUS_CONFLICT; i++) {
        arena_reset(own);
        status = make_once(accounts, &kept, own, reason);
    }
    TRY(status);
    Slice text = secret_text(secret, arena);
    kept.token.secret = arena_print(arena, "%.*s%.*s", SLICE_ARG(PREFIX), SLICE_ARG(text));
    *ret_token = kept.token;
    return STATUS_OK;
}

/* One attempt. */
static Status end_once(Accounts *accounts, uint64_t account, Id id, Arena *arena)
{
    AccountRow row;
    TokenList list;
    size_t count = 0;
    TRY(row_read(accounts, account, arena, &row));
    TRY(read_list(accounts, account, arena, &list));
    for (size_t i = 0; i < list.count; i++)
        if (!id_equal(list.kept[i].token.id, id))
            list.kept[count++] = list.kept[i];
    if (count == list.count)
        return STATUS_OK;
    list.count = count;
    return side_replace(accounts, account, &row, &list.cell, encode(accounts, &list, arena), arena);
}

Status tokens_end(Accounts *accounts, uint64_t account, Id id)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Status status = STATUS_CONFLICT;
    for (int i = 0; i < RACE_TRIES && status == STATUS_CONFLICT; i++) {
        arena_reset(arena);
        status = end_once(accounts, account, id, arena);
    }
    return status;
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
