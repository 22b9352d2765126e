/* roll.c -- see roll.h. The row is a keyed hash of the folded address, its cell `on` a keyed hash of the name or nothing. */
#include "electorate/roll.h"

#include "accounts/accounts_private.h"

static const Slice ON = {"on", 2};

static Slice row_of(const Accounts *accounts, Slice folded, Arena *arena)
{
    return vault_hash(accounts->vault, "roll", folded, arena);
}

/* Compared without case: lists write names in all sorts of ways. ASCII only, as it is a hint and decides nothing. */
static Slice name_hash(const Accounts *accounts, Slice name, Arena *arena)
{
    Slice trimmed = slice_trim(name);
    char *folded = arena_bytes(arena, trimmed.size);
    for (size_t i = 0; i < trimmed.size; i++) {
        char at = trimmed.data[i];
        folded[i] = at >= 'A' && at <= 'Z' ? (char)(at + 'a' - 'A') : at;
    }
    if (trimmed.size == 0)
        return SLICE_EMPTY;
    return vault_hash(accounts->vault, "roll name", slice_of(folded, trimmed.size), arena);
}

/* ---- Importing ----------------------------------------------------------------------------------------------- */

typedef struct RollWork {
    Accounts *accounts;
    RollEdit act;
    RowChange *changes; /* ROLL_CHUNK */
    size_t count;
    Arena *arena; /* of this chunk */
} RollWork;

static void add_line(RollWork *work, const ListedPerson *person)
{
    Slice name =
        work->act == ROLL_ADD ? name_hash(work->accounts, person->name, work->arena) : SLICE_EMPTY;
    Change change = {.column = ON,
                     .value = name,
                     .timestamp = clock_now_us(work->accounts->world.clock),
                     .is_delete = work->act == ROLL_REMOVE};
    work->changes[work->count++] =
        (RowChange){&TABLE_ROLL, row_of(work->accounts, person->folded, work->arena), change};
}

/* All of the chunk, or the worst of what happened. */
static Status write_chunk(const RollWork *work)
{
    Batch batches[ROLL_BATCHES];
    Status statuses[ROLL_BATCHES], worst = STATUS_OK;
    size_t count = 0;
    for (size_t at = 0; at < work->count; at += ROLL_BATCH) {
        size_t left = work->count - at;
        batches[count++] =
            (Batch){work->changes + at, left < ROLL_BATCH ? left : ROLL_BATCH, false};
    }
    if (count == 0)
        return STATUS_OK;
    TRY(store_write_many(work->accounts->store, batches, count, statuses));
    for (size_t i = 0; i < count; i++)
        if (statuses[i] != STATUS_OK && worst != STATUS_UNKNOWN)
            worst = statuses[i];
    return worst;
}

/* Fills a chunk; NOT_FOUND when the list has ended, with what there was. */
static Status read_chunk(RollWork *work, PeopleList *list, Arena *words, ListReport *report,
                         Reason *reason)
{
    while (work->count < ROLL_CHUNK) {
        ListedPerson person;
        TRY(people_list_next(list, work->arena, &person, reason));
        report->lines++;
        if (person.fault != NULL)
            list_report_fault(report, person.line, person.fault, words);
        else
            add_line(work, &person);
    }
    return STATUS_OK;
}

Status roll_change(Accounts *accounts, RollEdit act, PeopleList *list, Arena *arena,
                   ListReport *report, Reason *reason)
{
    ARENA_SCOPE Arena *chunk = arena_new();
    RollWork work = {.accounts = accounts,
                     .act = act,
                     .changes = ARENA_ARRAY(arena, ROLL_CHUNK, RowChange),
                     .arena = chunk};
    Status read = STATUS_OK;
    while (read == STATUS_OK) {
        arena_reset(chunk);
        work.count = 0;
        read = read_chunk(&work, list, arena, report, reason);
        if (read != STATUS_OK && read != STATUS_NOT_FOUND)
            return read;
        Status written = write_chunk(&work);
        if (written != STATUS_OK)
            return reason_set(reason, written, "",
                              "it stopped after %llu lines: %s; the same again goes on",
                              (unsigned long long)report->good, status_text(written));
        report->good += work.count;
    }
    return STATUS_OK;
}

/* ---- All of it ----------------------------------------------------------------------------------------------- */

/* A walk over all rows, a page in memory at a time. */
typedef struct RollScan {
    Accounts *accounts;
    Arena *arena; /* of the page */
    Buffer position;
    ScanPage page;
} RollScan;

static Status next_page(RollScan *scan)
{
    arena_reset(scan->arena);
    TRY(store_scan(scan->accounts->store, &TABLE_ROLL, buffer_slice(&scan->position), ROLL_CHUNK,
                   scan->arena, &scan->page));
    buffer_clear(&scan->position);
    buffer_bytes(&scan->position, scan->page.position);
    return STATUS_OK;
}

static Status clear_page(RollScan *scan, RollWork *work)
{
    TRY(next_page(scan));
    work->count = scan->page.count;
    for (size_t i = 0; i < scan->page.count; i++)
        work->changes[i] =
            (RowChange){&TABLE_ROLL, scan->page.cells[i].row,
                        (Change){.column = ON,
                                 .timestamp = clock_now_us(scan->accounts->world.clock),
                                 .is_delete = true}};
    return write_chunk(work);
}

Status roll_clear(Accounts *accounts, uint64_t *ret_removed)
{
    ARENA_SCOPE Arena *arena = arena_new();
    ARENA_SCOPE Arena *pages = arena_new();
    RollWork work = {.accounts = accounts, .changes = ARENA_ARRAY(arena, ROLL_CHUNK, RowChange)};
    RollScan scan = {.accounts = accounts, .arena = pages};
    Status status;
    uint64_t removed = 0;
    do {
        status = clear_page(&scan, &work);
        removed += work.count;
    } while (status == STATUS_OK && scan.page.more);
    buffer_free(&scan.position);
    TRY(status);
    *ret_removed = removed;
    return STATUS_OK;
}

Status roll_count(Accounts *accounts, uint64_t most, uint64_t *ret_count)
{
    ARENA_SCOPE Arena *pages = arena_new();
    RollScan scan = {.accounts = accounts, .arena = pages};
    Status status;
    uint64_t count = 0;
    do {
        status = next_page(&scan);
        count += status == STATUS_OK ? scan.page.count : 0;
    } while (status == STATUS_OK && scan.page.more && count < most);
    buffer_free(&scan.position);
    TRY(status);
    *ret_count = count < most ? count : most;
    return STATUS_OK;
}

Status roll_find(Accounts *accounts, Slice email, Slice name, Arena *arena, RollEntry *ret_entry,
                 Reason *reason)
{
    Slice folded;
    Cell cell = {.value = SLICE_EMPTY};
    TRY(account_fold_email(email, arena, &folded, reason));
    Read read = {&TABLE_ROLL, row_of(accounts, folded, arena), ON, STORE_NORMAL};
    Status status = store_read(accounts->store, &read, arena, &cell);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND)
        return status;
    *ret_entry =
        (RollEntry){.listed = status == STATUS_OK,
                    .has_name = cell.value.size > 0,
                    .name_fits = cell.value.size > 0 &&
                                 slice_equal(cell.value, name_hash(accounts, name, arena))};
    return STATUS_OK;
}
