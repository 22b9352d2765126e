/* damage.c -- voters whose row or log cannot be read: who they are, and mending a row from its log.
 *
 * One voter's damage is that voter's alone: sweeps and passes go on without what cannot be read, and say who it was. Counts come from
 * the log, so a damaged head or line hinders nobody but its voter, who can neither see nor save votes until it is mended. */
#include "votes/votes_private.h"

enum { LOG_PAGE = 1000 };

/* ---- Who it was ------------------------------------------------------------------------------------------------ */

/* Under the lock; DAMAGED_MAX when it is not there. */
static size_t find(const Votes *votes, uint64_t voter)
{
    for (size_t i = 0; i < votes->damaged_count; i++)
        if (votes->damaged[i] == voter)
            return i;
    return VOTES_DAMAGED_MAX;
}

void votes_note_damage(Votes *votes, uint64_t voter)
{
    pthread_mutex_lock(&votes->lock);
    if (find(votes, voter) == VOTES_DAMAGED_MAX && votes->damaged_count < VOTES_DAMAGED_MAX) {
        votes->damaged[votes->damaged_count] = voter;
        atomic_store(&votes->damaged_count, votes->damaged_count + 1);
    }
    pthread_mutex_unlock(&votes->lock);
}

void votes_note_whole(Votes *votes, uint64_t voter)
{
    if (atomic_load(&votes->damaged_count) == 0)
        return;
    pthread_mutex_lock(&votes->lock);
    size_t at = find(votes, voter);
    if (at != VOTES_DAMAGED_MAX) {
        votes->damaged[at] = votes->damaged[votes->damaged_count - 1];
        atomic_store(&votes->damaged_count, votes->damaged_count - 1);
    }
    pthread_mutex_unlock(&votes->lock);
}

size_t votes_damaged(Votes *votes, uint64_t ret_voters[VOTES_DAMAGED_MAX])
{
    pthread_mutex_lock(&votes->lock);
    size_t count = votes->damaged_count;
    memcpy(ret_voters, votes->damaged, count * sizeof *ret_voters);
    pthread_mutex_unlock(&votes->lock);
    return count;
}

size_t votes_damaged_count(const Votes *votes)
{
    return atomic_load(&votes->damaged_count);
}

/* ---- What the log says ----------------------------------------------------------------------------------------- */

typedef struct LoggedLine {
    VoteLine line;
    uint64_t seq; /* of its last change */
} LoggedLine;

typedef struct Replay {
    Votes *votes;
    uint64_t voter;
    Arena *arena;
    LedgerHead head;
    LoggedLine *lines; /* ascending by policy */
    size_t count, room;
} Replay;

static LoggedLine *line_of(Replay *replay, uint64_t policy)
{
    size_t at = 0;
    while (at < replay->count && replay->lines[at].line.policy < policy)
        at++;
    if (at < replay->count && replay->lines[at].line.policy == policy)
        return &replay->lines[at];
    if (replay->count == replay->room) {
        size_t room = 2 * replay->room + 64;
        LoggedLine *lines = ARENA_ARRAY(replay->arena, room, LoggedLine);
        for (size_t i = 0; i < replay->count; i++)
            lines[i] = replay->lines[i];
        replay->lines = lines;
        replay->room = room;
    }
    for (size_t i = replay->count++; i > at; i--)
        replay->lines[i] = replay->lines[i - 1];
    replay->lines[at] = (LoggedLine){.line = {.policy = policy}};
    return &replay->lines[at];
}

/* CORRUPT: it does not follow what came before. */
static Status replay_entry(Replay *replay, const Entry *entry)
{
    LedgerHead *head = &replay->head;
    uint32_t day = count_day(entry->time_us);
    if (entry->seq != head->seq + 1 || !id_equal(entry->prev, head->version) || head->closed ||
        entry->time_us <= head->time_us)
        return STATUS_CORRUPT;
    for (size_t i = 0; i < entry->change_count; i++) {
        const EntryChange *change = &entry->changes[i];
        LoggedLine *logged = line_of(replay, change->policy);
        if (logged->line.held != change->before || change->held < 0)
            return STATUS_CORRUPT;
        head->held += change->held - change->before;
        *logged = (LoggedLine){{change->policy, change->held, change->withdrawn_centi}, entry->seq};
    }
    head->saves = head->seq > 0 && day == head->day ? head->saves + 1 : 1;
    head->day = day;
    head->seq = entry->seq;
    head->version = entry->version;
    head->time_us = entry->time_us;
    head->closed = entry->closing;
    return STATUS_OK;
}

/* Page by page, each by a serial read: the log has no end but the entry that is not there. */
static Status replay_log(Replay *replay)
{
    for (uint64_t before = UINT64_MAX; before != replay->head.seq;) {
        ARENA_SCOPE Arena *arena = arena_new();
        Page page;
        before = replay->head.seq;
        Query query = {.table = &TABLE_VOTERS,
                       .row = ledger_u64(arena, replay->voter),
                       .from = ledger_column(arena, 'z', before + 1),
                       .to = ledger_column(arena, 'z', before + 1 + LOG_PAGE),
                       .limit = LOG_PAGE,
                       .mode = STORE_SERIAL};
        TRY(store_slice(replay->votes->store, &query, arena, &page));
        for (size_t i = 0; i < page.count; i++) {
            Entry entry;
            TRY(ledger_get_entry(page.cells[i].column, page.cells[i].value, arena, &entry));
            TRY(replay_entry(replay, &entry));
        }
    }
    return replay->head.seq > 0 ? STATUS_OK : STATUS_CORRUPT;
}

/* ---- Mending --------------------------------------------------------------------------------------------------- */

typedef struct Mending {
    Arena *arena;
    Condition *conditions;
    Change *changes;
    size_t count;
    bool has_head;
} Mending;

static void mend_cell(Mending *mending, const Cell *cell, const Buffer *whole)
{
    mending->conditions[mending->count] = (Condition){cell->column, cell->value, false};
    mending->changes[mending->count++] =
        (Change){.column = cell->column, .value = arena_copy(mending->arena, buffer_slice(whole))};
}

/* A line of which the log knows nothing cannot be mended. */
static Status mend_line(Mending *mending, Replay *replay, const Cell *cell)
{
    BUFFER_SCOPE Buffer whole = {0};
    Reader column = reader_of(slice_after(cell->column, 2));
    uint64_t policy = reader_u64(&column);
    VoteLine line;
    if (ledger_get_line(cell->column, cell->value, &line) == STATUS_OK)
        return STATUS_OK;
    if (!reader_done(&column))
        return STATUS_CORRUPT;
    const LoggedLine *logged = line_of(replay, policy);
    if (logged->seq == 0)
        return STATUS_CORRUPT;
    ledger_put_line(&whole, &logged->line, logged->seq);
    mend_cell(mending, cell, &whole);
    return STATUS_OK;
}

static Status mend_head(Mending *mending, const Replay *replay, const Cell *cell)
{
    BUFFER_SCOPE Buffer whole = {0};
    LedgerHead head;
    mending->has_head = true;
    if (ledger_get_head(cell->value, &head) == STATUS_OK)
        return id_equal(head.version, replay->head.version) ? STATUS_OK : STATUS_CORRUPT;
    ledger_put_head(&whole, &replay->head);
    mend_cell(mending, cell, &whole);
    return STATUS_OK;
}

/* What cannot be read, under the condition that it is still that; damaged bytes never come back once they are replaced. */
static Status write_mended(Votes *votes, uint64_t voter, Mending *mending)
{
    Id id = id_new(votes->world.clock, votes->world.random);
    Slice receipt = store_receipt(id_slice(&id), mending->arena);
    mending->changes[mending->count] =
        (Change){.column = receipt, .value = id_slice(&id), .ttl_s = STORE_RECEIPT_TTL_S};
    Update update = {.table = &TABLE_VOTERS,
                     .row = ledger_u64(mending->arena, voter),
                     .conditions = mending->conditions,
                     .condition_count = mending->count,
                     .changes = mending->changes,
                     .change_count = mending->count + 1,
                     .proof = receipt};
    Status status = store_update(votes->store, &update, SAVE_TRIES, mending->arena, NULL);
    votes_forget_copy(votes, voter);
    return status;
}

Status votes_mend(Votes *votes, uint64_t voter)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Replay replay = {.votes = votes, .voter = voter, .arena = arena};
    Page page;
    Query query = {.table = &TABLE_VOTERS,
                   .row = ledger_u64(arena, voter),
                   .to = SLICE("t"),
                   .limit = STORE_CHANGES_MAX - 1,
                   .mode = STORE_SERIAL};
    TRY(replay_log(&replay));
    TRY(store_slice(votes->store, &query, arena, &page));
    if (page.more)
        return STATUS_CORRUPT;
    Mending mending = {.arena = arena,
                       .conditions = ARENA_ARRAY(arena, page.count, Condition),
                       .changes = ARENA_ARRAY(arena, page.count + 1, Change)};
    for (size_t i = 0; i < page.count; i++) {
        bool is_head = slice_equal(page.cells[i].column, SLICE("head"));
        TRY(is_head ? mend_head(&mending, &replay, &page.cells[i])
                    : mend_line(&mending, &replay, &page.cells[i]));
    }
    if (!mending.has_head)
        return STATUS_CORRUPT;
    if (mending.count > 0)
        TRY(write_mended(votes, voter, &mending));
    votes_note_whole(votes, voter);
    return STATUS_OK;
}
