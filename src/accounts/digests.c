/* digests.c -- see digests.h. Row = share (1 byte), column = account (8 bytes), value = format | choice | since when | seen to. */
#include "accounts/digests.h"

#include "accounts/accounts_private.h"

enum { PAGE = 200 };
static const char *const PURPOSE = "unsubscribe";

const char *const DIGEST_WORDS[] = WORDS(DIGEST_LIST, WORD_2);

const char *digest_word(DigestChoice choice)
{
    return word_of(DIGEST_WORDS, choice);
}

/* 1970 began on a Thursday; four days later a week did. */
DigestPeriod digest_period(DigestChoice choice, int64_t now_us)
{
    static const int64_t DAYS[] = {
#define X(name, word, days) days,
        DIGEST_LIST(X)
#undef X
    };
    int64_t days = DAYS[choice], day = now_us / (S_PER_DAY * US_PER_S),
            shift = choice == DIGEST_WEEKLY ? 4 : 0;
    CHECK(days > 0);
    int64_t number = (day - shift) / days, end = number * days + shift;
    return (DigestPeriod){.number = number,
                          .from_us = (end - days) * S_PER_DAY * US_PER_S,
                          .to_us = end * S_PER_DAY * US_PER_S};
}

static Slice share_row(uint32_t share, Arena *arena)
{
    char *row = arena_bytes(arena, 1);
    row[0] = (char)share;
    return slice_of(row, 1);
}

static const RecordField WISH_FIELDS[] = {
    RECORD_ENUM(DigestRequest, choice, DIGEST_CHOICES),
    RECORD_I64(DigestRequest, since_us),
    RECORD_I64(DigestRequest, seen_to),
};
const Record DIGEST_RECORD = RECORD("digest", DigestRequest, 1, WISH_FIELDS);

static Status decode(const Cell *cell, DigestRequest *ret_wanted)
{
    if (cell->column.size != sizeof ret_wanted->account)
        return STATUS_CORRUPT;
    ret_wanted->account = bytes_get_u64(cell->column.data);
    return record_decode(&DIGEST_RECORD, cell->value, NULL, NULL, ret_wanted);
}

static Status write_wish(Accounts *accounts, const DigestRequest *want, bool lazy)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Change change = {.column = row_key(want->account, arena),
                     .value = record_encode(&DIGEST_RECORD, want, NULL, arena),
                     .timestamp = clock_now_us(accounts->world.clock),
                     .is_delete = want->choice == DIGEST_NEVER};
    RowChange one = {&TABLE_DIGESTS, share_row((uint32_t)(want->account % DIGEST_SHARES), arena),
                     change};
    if (change.is_delete)
        one.change.value = SLICE_EMPTY;
    return store_write(accounts->store, &(Batch){.changes = &one, .count = 1, .lazy = lazy});
}

Status digests_get(Accounts *accounts, uint64_t account, DigestRequest *ret_wanted)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Read read = {&TABLE_DIGESTS, share_row((uint32_t)(account % DIGEST_SHARES), arena),
                 row_key(account, arena), STORE_NORMAL};
    Cell cell;
    Status status = store_read(accounts->store, &read, arena, &cell);
    if (status == STATUS_NOT_FOUND) {
        *ret_wanted = (DigestRequest){.account = account, .choice = DIGEST_NEVER};
        return STATUS_OK;
    }
    TRY(status);
    cell.column = read.column;
    return decode(&cell, ret_wanted);
}

Status digests_set(Accounts *accounts, uint64_t account, DigestChoice choice)
{
    ARENA_SCOPE Arena *arena = arena_new();
    AccountRow row;
    DigestRequest want;
    TRY(row_read(accounts, account, arena, &row));
    TRY(refuse_dead(&row.head, NULL));
    TRY(digests_get(accounts, account, &want));
    if (want.choice == choice)
        return STATUS_OK;
    want = (DigestRequest){
        .account = account, .choice = choice, .since_us = clock_now_us(accounts->world.clock)};
    return write_wish(accounts, &want, false);
}

Status digests_mark(Accounts *accounts, const DigestRequest *want, int64_t period)
{
    DigestRequest now;
    TRY(digests_get(accounts, want->account, &now));
    if (now.choice != want->choice || now.since_us != want->since_us)
        return STATUS_OK; /* another wish came in between */
    now.seen_to = period;
    return write_wish(accounts, &now, true);
}

Status digests_page(Accounts *accounts, uint32_t share, Slice position, Arena *arena,
                    DigestRequest **ret_wishes, size_t *ret_count, Slice *ret_position,
                    bool *ret_more)
{
    Query query = {.table = &TABLE_DIGESTS,
                   .row = share_row(share, arena),
                   .from = SLICE_EMPTY,
                   .to = SLICE_EMPTY,
                   .after = position,
                   .limit = PAGE};
    Page page;
    TRY(store_slice(accounts->store, &query, arena, &page));
    DigestRequest *claim_requests = ARENA_ARRAY(arena, page.count, DigestRequest);
    for (size_t i = 0; i < page.count; i++)
        TRY(decode(&page.cells[i], &claim_requests[i]));
    *ret_wishes = claim_requests;
    *ret_count = page.count;
    *ret_position = page.count > 0 ? page.cells[page.count - 1].column : SLICE_EMPTY;
    *ret_more = page.more;
    return STATUS_OK;
}

/* ---- Tokens ------------------------------------------------------------------------------------------------------ */

Slice digests_token(const Accounts *accounts, uint64_t account, Arena *arena)
{
    return sealed_token(accounts, PURPOSE, row_key(account, arena), arena);
}

Status digests_from_token(const Accounts *accounts, Slice token, uint64_t *ret_account)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Slice plain;
    TRY(sealed_token_open(accounts, PURPOSE, token, sizeof *ret_account, arena, &plain));
    *ret_account = bytes_get_u64(plain.data);
    return STATUS_OK;
}
