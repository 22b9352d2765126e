/* sweep.c -- finding what was left behind: voters whose entries are not projected, and policies that never became active.
 *
 * Marks are not consumed: a conditional write can complete days after its client gave up, so a mark is looked at again as
 * long as it lives. Looking at a voter who is not behind costs two reads. */
#include "base/mutant.h"
#include "votes/votes_private.h"

/* Voters to look at, and what was found. */
typedef struct Looked {
    const uint64_t *voters;
    size_t count;
    uint64_t *late; /* room for all */
    size_t late_count;
    size_t behind; /* of them, by their heads */
    Status worst;  /* of those who could not be asked about */
} Looked;

static Status read_both(Votes *votes, uint32_t generation, const Looked *looked, Arena *arena,
                        ReadAnswer *ret_answers)
{
    Read *reads = ARENA_ARRAY(arena, 2 * looked->count, Read);
    for (size_t i = 0; i < looked->count; i++) {
        reads[2 * i] = (Read){&TABLE_VOTERS, ledger_u64(arena, looked->voters[i]), SLICE("head"),
                              STORE_SERIAL};
        reads[2 * i + 1] =
            (Read){&TABLE_PROJECTED, ledger_projected_row(arena, generation, looked->voters[i]),
                   SLICE("seq"), STORE_NORMAL};
    }
    return store_read_many(votes->store, reads, 2 * looked->count, arena, ret_answers);
}

/* Their account is somebody else's business (tasks/leaving.h), but it is here that they are met. Whoever finds no room, or whose account cannot
 * be read, is met again. */
static void note_left(Votes *votes, uint64_t voter)
{
    bool gone;
    if (accounts_is_gone(votes->accounts, voter, &gone) != STATUS_OK || gone ||
        MUTANT(left_unnoticed))
        return;
    pthread_mutex_lock(&votes->lock);
    bool is_there = votes->left_count == VOTES_LEFT_MAX;
    for (size_t i = 0; i < votes->left_count; i++)
        is_there |= votes->left[i] == voter;
    if (!is_there)
        votes->left[votes->left_count++] = voter;
    pthread_mutex_unlock(&votes->lock);
}

size_t votes_take_left(Votes *votes, uint64_t ret_voters[VOTES_LEFT_MAX])
{
    pthread_mutex_lock(&votes->lock);
    size_t count = votes->left_count;
    memcpy(ret_voters, votes->left, count * sizeof *ret_voters);
    votes->left_count = 0;
    pthread_mutex_unlock(&votes->lock);
    return count;
}

/* Adds those who are behind in a generation, and those of whom nobody knows, because the head cannot be read: their log perhaps can. */
static Status find_late(Votes *votes, uint32_t generation, Arena *arena, Looked *looked)
{
    ReadAnswer *answers = ARENA_ARRAY(arena, 2 * looked->count, ReadAnswer);
    TRY(read_both(votes, generation, looked, arena, answers));
    for (size_t i = 0; i < looked->count; i++) {
        const ReadAnswer *head = &answers[2 * i], *done = &answers[2 * i + 1];
        LedgerHead at = {0};
        Reader reader = reader_of(done->cell.value);
        Status status =
            head->status == STATUS_OK ? ledger_get_head(head->cell.value, &at) : head->status;
        if (status == STATUS_NOT_FOUND)
            continue; /* the mark came first and the save never */
        if (status == STATUS_OK && done->status != STATUS_OK && done->status != STATUS_NOT_FOUND)
            status = done->status;
        if (status == STATUS_OK && at.closed)
            note_left(votes, looked->voters[i]);
        if (status == STATUS_CORRUPT) {
            votes_note_damage(votes, looked->voters[i]);
            looked->late[looked->late_count++] = looked->voters[i];
        } else if (status != STATUS_OK) {
            looked->worst = status;
        } else if (at.seq > (done->status == STATUS_OK ? reader_u64(&reader) : 0)) {
            looked->late[looked->late_count++] = looked->voters[i];
            looked->behind++;
        } else {
            votes_note_whole(votes, looked->voters[i]);
        }
    }
    return STATUS_OK;
}

typedef struct VoterPage {
    const uint64_t *voters;
    size_t count;
} VoterPage;

/* Projects those of a page of voters who are behind, and says how many they were: in one generation, or, while two are written, in
 * either. What goes wrong with some of them is the worst of `*worst`, and does not keep the others waiting. */
static Status project_page(Votes *votes, const VoterPage *page, Arena *arena, size_t *behind,
                           Status *worst)
{
    Generations generations;
    Looked looked = {.voters = page->voters,
                     .count = page->count,
                     .late = ARENA_ARRAY(arena, 2 * page->count, uint64_t)};
    TRY(votes_generations(votes, &generations));
    TRY(find_late(votes, generations.current, arena, &looked));
    if (generations.has_also)
        TRY(find_late(votes, generations.also, arena, &looked));
    *behind += looked.behind;
    Status status = votes_project(votes, looked.late, looked.late_count);
    if (status == STATUS_OK)
        status = looked.worst;
    if (status != STATUS_OK)
        *worst = status;
    return STATUS_OK;
}

/* The mistake that the top of this file speaks of. */
static Status consume_marks(Votes *votes, Slice row, const Page *page, Arena *arena)
{
    RowChange *changes = ARENA_ARRAY(arena, page->count, RowChange);
    for (size_t i = 0; i < page->count; i++)
        changes[i] = (RowChange){&TABLE_DIRTY,
                                 row,
                                 {.column = page->cells[i].column,
                                  .timestamp = clock_now_us(votes->world.clock),
                                  .ttl_s = 1}};
    return store_write(votes->store, &(Batch){changes, page->count, true});
}

/* The arena is emptied before each page: a site has thousands of these rows, and most of them are empty. */
static Status sweep_row(Votes *votes, Slice row, Arena *arena, size_t *behind)
{
    enum { PAGE = SIMULATED(1000, 1) };
    char last[8];
    Status worst = STATUS_OK;
    Query query = {.table = &TABLE_DIRTY, .row = row, .limit = PAGE};
    for (bool more = true; more;) {
        Page page;
        arena_reset(arena);
        TRY(store_slice(votes->store, &query, arena, &page));
        uint64_t *voters = ARENA_ARRAY(arena, page.count, uint64_t);
        size_t count = 0;
        for (size_t i = 0; i < page.count; i++) {
            Reader reader = reader_of(page.cells[i].column);
            voters[count] = reader_u64(&reader);
            if (reader_done(&reader))
                count++;
            else
                worst = STATUS_CORRUPT; /* a mark that names nobody */
        }
        TRY(project_page(votes, &(VoterPage){voters, count}, arena, behind, &worst));
        if (MUTANT(marks_consumed))
            TRY(consume_marks(votes, row, &page, arena));
        more = page.more && !MUTANT(one_page_of_marks);
        if (more) {
            memcpy(last, page.cells[page.count - 1].column.data, sizeof last);
            query.after = slice_of(last, sizeof last);
            query.resume = true;
        }
    }
    return worst;
}

Status votes_sweep_hour(Votes *votes, uint32_t hour, size_t *ret_behind)
{
    ARENA_SCOPE Arena *arena = arena_new();
    ARENA_SCOPE Arena *pages = arena_new();
    Status worst = STATUS_OK;
    *ret_behind = 0;
    for (uint8_t shard = 0; shard < COUNT_BUCKETS; shard++) {
        Status status = sweep_row(votes, ledger_mark_row(arena, hour, shard), pages, ret_behind);
        if (status != STATUS_OK)
            worst = status;
    }
    return worst;
}

/* The ids of a page of accounts: whoever votes has one. */
static Status list_voters(Votes *votes, Slice position, Arena *arena, const VotesPage *page,
                          uint64_t **ret_voters)
{
    Account *accounts;
    TRY(accounts_list(votes->accounts, position, arena, &accounts, page->ret_count,
                      page->ret_position, page->ret_more));
    *ret_voters = ARENA_ARRAY(arena, *page->ret_count, uint64_t);
    for (size_t i = 0; i < *page->ret_count; i++)
        (*ret_voters)[i] = accounts[i].id;
    return STATUS_OK;
}

Status votes_sweep_page(Votes *votes, Slice position, Arena *arena, Slice *ret_position,
                        bool *ret_more, size_t *ret_behind)
{
    uint64_t *voters;
    size_t count;
    TRY(list_voters(votes, position, arena, &(VotesPage){ret_position, ret_more, &count}, &voters));
    *ret_behind = 0;
    Status worst = STATUS_OK;
    TRY(project_page(votes, &(VoterPage){voters, count}, arena, ret_behind, &worst));
    return worst;
}

Status votes_pass_page(Votes *votes, uint32_t generation, Slice position, Arena *arena,
                       const VotesPage *page)
{
    uint64_t *voters;
    TRY(list_voters(votes, position, arena, page, &voters));
    Looked looked = {.voters = voters,
                     .count = *page->ret_count,
                     .late = ARENA_ARRAY(arena, *page->ret_count, uint64_t)};
    TRY(find_late(votes, generation, arena, &looked));
    TRY(votes_project_into(votes, generation, looked.late, looked.late_count));
    return looked.worst;
}

/* ---- Policies that wait for their entry ---------------------------------------------------------------------- */

static Status move_to(Votes *votes, uint64_t policy, PolicyState state)
{
    PolicyMove move = {.state = state};
    Reason reason;
    Status status = policies_move(votes->policies, policy, POLICY_PENDING, &move, &reason);
    return status == STATUS_CONFLICT ? STATUS_OK : status; /* somebody else settled it */
}

/* An empty entry at the seq where the creating one would stand: from then on one of the two is in the chain, for ever. */
static Status append_fence(Votes *votes, const Voter *voter, Arena *arena)
{
    VotePlan plan = {0};
    Entry fence = {.seq = voter->head.seq + 1,
                   .version = id_new(votes->world.clock, votes->world.random),
                   .prev = voter->head.version,
                   .fence = true};
    int64_t now_us = clock_now_us(votes->world.clock);
    fence.time_us = now_us > voter->head.time_us ? now_us : voter->head.time_us + 1;
    Status status = votes_append(votes, voter, &fence, &plan, arena);
    return status == STATUS_CONFLICT ? STATUS_OK : status; /* some entry is there now */
}

Status votes_settle_creation(Votes *votes, uint64_t policy, int64_t creation_grace_s)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Policy row;
    TRY(policies_read(votes->policies, policy, arena, &row));
    const PolicyMove *last = &row.facts.moves[row.facts.move_count - 1];
    if (last->state != POLICY_PENDING)
        return STATUS_OK;
    for (int tries = 0; tries < 2; tries++) {
        Entry entry;
        Status status = votes_read_entry(votes, row.creator, row.created_seq, arena, &entry);
        if (status == STATUS_OK)
            return move_to(votes, policy,
                           id_equal(entry.version, row.created_version) ? POLICY_ACTIVE
                                                                        : POLICY_VOID);
        if (status != STATUS_NOT_FOUND)
            return status;
        int64_t age_us = clock_now_us(votes->world.clock) - last->time_us;
        if (age_us < creation_grace_s * US_PER_S)
            return STATUS_OK; /* it may still come */
        Voter voter;
        TRY(votes_read_voter(votes, row.creator, NO_TOKEN, arena, &voter));
        if (voter.head.seq + 1 == row.created_seq)
            TRY(append_fence(votes, &voter, arena));
    }
    return STATUS_UNKNOWN;
}
