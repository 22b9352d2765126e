/* task_table.c -- what each task does, a piece at a time. */
#include <stdlib.h>

#include "access/sessions.h"
#include "base/mutant.h"
#include "news/news.h"
#include "policies/answers.h"
#include "tasks/tasks_private.h"

enum {
    S_PER_HOUR = 3600,
    RECENT_HOURS = 3, /* this hour and the two before it */
    SHARES = 16,
    CHECKPOINTS_A_PIECE = 4,
    MERGE_GRACE_S = 60, /* whoever began it is probably still at it */
    PROJECT_S = 10,
    MERGES_S = 10,
    LEAVING_S = 10,
    RECOUNT_TRIES = 5,
    ANSWERS_A_PIECE = 100,
    LETTERS_S = 300,
    LETTER_DAYS = 6, /* less than MAIL_REMEMBERED_S */
    HOURS_PER_DAY = 24,
};

static uint32_t hour_now(const TaskPiece *piece)
{
    return (uint32_t)(clock_now_us(piece->tasks->options.world.clock) / (S_PER_HOUR * US_PER_S));
}

/* The last of what is to be done in this pass. */
static Status last_piece(TaskPiece *piece, Status status)
{
    piece->next = SLICE_EMPTY;
    piece->more = false;
    return status;
}

/* ---- Votes ----------------------------------------------------------------------------------------------------- */

/* Saves of this process go to the counts at once, by a thread of their own; this one takes what that left. */
static Status project(TaskPiece *piece)
{
    size_t taken = 0;
    Status status = votes_project_waiting(piece->tasks->options.votes, SIZE_MAX, &taken);
    piece->done = piece->found = taken;
    piece->next = SLICE_EMPTY;
    piece->more = status == STATUS_OK && taken > 0;
    return status;
}

static Status sweep_hour(TaskPiece *piece, uint32_t hour)
{
    size_t behind = 0;
    Status status = votes_sweep_hour(piece->tasks->options.votes, hour, &behind);
    piece->done = 1;
    piece->found = behind;
    return status;
}

static Status sweep(TaskPiece *piece)
{
    return last_piece(piece, sweep_hour(piece, hour_now(piece) - piece->part));
}

/* From the oldest mark that lives to where the other sweep begins, every 16th hour; the position is the next hour. */
static Status sweep_older(TaskPiece *piece)
{
    uint32_t end = hour_now(piece) - RECENT_HOURS + 1;
    Reader reader = reader_of(piece->position);
    uint32_t hour = reader_u32(&reader), first = end - VOTES_MARK_LIFE_S / S_PER_HOUR;
    if (piece->position.size == 0 || hour < first)
        hour = first + (piece->part + SHARES - first % SHARES) % SHARES;
    else if (!reader_done(&reader))
        return STATUS_INVALID;
    if (hour >= end)
        return last_piece(piece, STATUS_OK);
    Status status = sweep_hour(piece, hour);
    BUFFER_SCOPE Buffer next = {0};
    hour += MUTANT(sweep_skips_hours) ? 4 * SHARES : SHARES;
    buffer_u32(&next, hour);
    piece->next = arena_copy(piece->arena, buffer_slice(&next));
    piece->more = hour < end;
    return status;
}

static Status pass(TaskPiece *piece)
{
    size_t behind = 0;
    Status status = votes_sweep_page(piece->tasks->options.votes, piece->position, piece->arena,
                                     &piece->next, &piece->more, &behind);
    piece->done = 1;
    piece->found = behind;
    return status;
}

/* The sum and the cells are read one after the other, while votes come in: a difference that stays is one. */
static Status recount_policy(TaskPiece *piece, uint64_t policy)
{
    Recount recount = {0};
    for (int i = 0; i < RECOUNT_TRIES; i++) {
        TRY(votes_recount(piece->tasks->options.votes, policy, &recount));
        if (recount.cells == recount.sums)
            return STATUS_OK;
    }
    piece->found++;
    return reason_set(piece->reason, STATUS_CORRUPT, "counts",
                      "policy %llu: its voters hold %lld, its sums say %lld; `verify` says more",
                      (unsigned long long)policy, (long long)recount.cells,
                      (long long)recount.sums);
}

static Status recount(TaskPiece *piece)
{
    PolicyCount *counts;
    size_t count;
    Status worst = STATUS_OK;
    TRY(votes_scan_counts(piece->tasks->options.votes, piece->position, piece->arena, &counts,
                          &count, &piece->next, &piece->more));
    for (size_t i = 0; i < count; i++) {
        Status status = recount_policy(piece, counts[i].policy);
        if (status != STATUS_OK)
            worst = status;
    }
    piece->done = count;
    return worst;
}

/* ---- Policies -------------------------------------------------------------------------------------------------- */

/* The page is done but for a policy that cannot be read: the pass goes on, and does not count as whole. */
static Status tell_damage(TaskPiece *piece, Status status)
{
    if (status != STATUS_CORRUPT)
        return status;
    return reason_set(piece->reason, status, "policies",
                      "a policy cannot be read and was left out; `verify` names it");
}

static Status lists(TaskPiece *piece)
{
    piece->done = 1;
    return tell_damage(piece, policies_reindex_page(piece->tasks->options.policies, piece->position,
                                                    piece->arena, &piece->next, &piece->more));
}

/* A policy that may wait for something, and the move that it waits in. */
typedef struct TaskWaiting {
    TaskPiece *piece;
    const Policy *policy;
    const PolicyMove *last;
    int64_t now_us;
} TaskWaiting;

static Status settle_creation(const TaskWaiting *waiting)
{
    const TasksOptions *options = &waiting->piece->tasks->options;
    return votes_settle_creation(options->votes, waiting->policy->id, options->creation_grace_s);
}

/* Not when it was begun before this process, and no other can have the store. */
static bool is_somebody_at_it(const TaskWaiting *waiting)
{
    const Tasks *tasks = waiting->piece->tasks;
    if (!tasks->options.shared && waiting->last->time_us < tasks->started_us)
        return false;
    return waiting->now_us - waiting->last->time_us < MERGE_GRACE_S * US_PER_S;
}

static Status settle_merge(const TaskWaiting *waiting)
{
    if (is_somebody_at_it(waiting)) {
        waiting->piece->again_s = MERGE_GRACE_S;
        return STATUS_OK;
    }
    return policies_finish_merge(waiting->piece->tasks->options.policies, waiting->policy->id);
}

static Status obliterate(const TaskWaiting *waiting)
{
    if (waiting->policy->revision == 0)
        return STATUS_OK;
    return policies_obliterate(waiting->piece->tasks->options.policies, waiting->policy->id);
}

/* By the setting that was in force when the deletion was asked for: a change of it does not change that promise. */
static Status delete_when_due(const TaskWaiting *waiting)
{
    const TasksOptions *options = &waiting->piece->tasks->options;
    SettingsHistory settings;
    TRY(settings_read(accounts_settings(options->accounts), waiting->piece->arena, &settings));
    int64_t days = settings_at(&settings, waiting->last->time_us)->appeal_days;
    if (waiting->now_us - waiting->last->time_us < days * S_PER_DAY * US_PER_S)
        return STATUS_OK;
    PolicyMove move = {.state = POLICY_DELETED};
    Status status = policies_move(options->policies, waiting->policy->id, POLICY_PENDING_DELETION,
                                  &move, waiting->piece->reason);
    if (status == STATUS_CONFLICT)
        return STATUS_OK; /* an appeal, or another instance */
    TRY(status);
    return obliterate(waiting);
}

static Status (*const ENDS[POLICY_STATE_COUNT])(const TaskWaiting *) = {
    [POLICY_PENDING] = settle_creation,
    [POLICY_MERGING] = settle_merge,
    [POLICY_PENDING_DELETION] = delete_when_due,
    [POLICY_DELETED] = obliterate, /* when the process died in between */
    [POLICY_VOID] = obliterate,
};

static Status end_waiting(TaskPiece *piece, const Policy *policy)
{
    const TasksOptions *options = &piece->tasks->options;
    const PolicyMove *last = &policy->facts.moves[policy->facts.move_count - 1];
    TaskWaiting waiting = {piece, policy, last, clock_now_us(options->world.clock)};
    Policy after;
    if (ENDS[last->state] == NULL || (policy->revision == 0 && ENDS[last->state] == obliterate))
        return STATUS_OK;
    TRY(ENDS[last->state](&waiting));
    TRY(policies_read(options->policies, policy->id, piece->arena, &after));
    if (after.facts.move_count == policy->facts.move_count && after.revision == policy->revision)
        return STATUS_OK;
    piece->found++;
    return options->ranking == NULL ? STATUS_OK
                                    : ranking_policy_changed(options->ranking, policy->id);
}

static Status moves(TaskPiece *piece)
{
    Policy *policies;
    size_t count;
    Status worst = policies_list(piece->tasks->options.policies, piece->position, piece->arena,
                                 &policies, &count, &piece->next, &piece->more);
    if (worst != STATUS_CORRUPT)
        TRY(worst);
    worst = tell_damage(piece, worst);
    for (size_t i = 0; i < count; i++) {
        Status status = end_waiting(piece, &policies[i]);
        if (status != STATUS_OK)
            worst = status;
    }
    piece->done = count;
    return worst;
}

/* Nobody is at them: this instance gave them up, because the store refused in the middle. */
static Status merges(TaskPiece *piece)
{
    const TasksOptions *options = &piece->tasks->options;
    uint64_t left[POLICIES_LEFT_MAX];
    size_t count = policies_left_merges(options->policies, left);
    Status worst = STATUS_OK;
    for (size_t i = 0; i < count; i++) {
        Status status = policies_finish_merge(options->policies, left[i]);
        if (status == STATUS_OK && options->ranking != NULL)
            status = ranking_policy_changed(options->ranking, left[i]);
        piece->found += status == STATUS_OK;
        if (status != STATUS_OK)
            worst = status;
    }
    piece->done = count;
    return last_piece(piece, worst);
}

/* ---- Answers --------------------------------------------------------------------------------------------------- */

/* Noted first, then told, then noted as told: a crash at any point is made up for by the next pass, and nobody is told twice. */
static Status note_answer_due(TaskPiece *piece, const RankRow *row)
{
    const TasksOptions *options = &piece->tasks->options;
    const PolicyTeller *teller = &options->answer_teller;
    AnswerState state;
    TRY(answers_read(options->policies, row->policy, piece->arena, &state));
    if (!state.is_due)
        TRY(answers_note_due(options->policies, row->policy, row->total));
    piece->found += !state.is_due;
    if (state.is_told || state.is_answered || teller->tell == NULL)
        return STATUS_OK;
    TRY(teller->tell(teller->self, row->policy, piece->reason));
    return answers_note_told(options->policies, row->policy);
}

/* The ranking is sorted by votes, so those over the threshold are its beginning; the position is how many were looked at. Who moves up
 * meanwhile is met in the next pass. */
static Status answers(TaskPiece *piece)
{
    const TasksOptions *options = &piece->tasks->options;
    SettingsHistory settings;
    RankPage page;
    Reader reader = reader_of(piece->position);
    uint64_t offset = reader_u64(&reader);
    Status worst = STATUS_OK;
    if (options->ranking == NULL)
        return last_piece(piece, STATUS_OK);
    if (piece->position.size > 0 && !reader_done(&reader))
        return STATUS_INVALID;
    TRY(settings_read(accounts_settings(options->accounts), piece->arena, &settings));
    int64_t threshold =
        settings_at(&settings, clock_now_us(options->world.clock))->answer_threshold;
    if (threshold == 0)
        return last_piece(piece, STATUS_OK);
    TRY(ranking_page(options->ranking, &(RankQuery){0}, offset, ANSWERS_A_PIECE, piece->arena,
                     &page));
    size_t count = 0;
    for (; count < page.count && page.rows[count].total >= threshold; count++) {
        Status status = note_answer_due(piece, &page.rows[count]);
        if (status != STATUS_OK)
            worst = status;
    }
    BUFFER_SCOPE Buffer next = {0};
    buffer_u64(&next, offset + count);
    piece->done = count;
    piece->next = arena_copy(piece->arena, buffer_slice(&next));
    piece->more = count == ANSWERS_A_PIECE;
    return worst;
}

/* ---- Accounts -------------------------------------------------------------------------------------------------- */

static Status names(TaskPiece *piece)
{
    Accounts *handle = piece->tasks->options.accounts;
    Account *accounts;
    size_t count;
    Status worst = STATUS_OK;
    TRY(accounts_list(handle, piece->position, piece->arena, &accounts, &count, &piece->next,
                      &piece->more));
    for (size_t i = 0; i < count; i++) {
        if (accounts[i].state != ACCOUNT_PENDING && accounts[i].state != ACCOUNT_CONFIRMED)
            continue;
        Status status = accounts_expire(handle, accounts[i].id);
        if (status != STATUS_OK)
            worst = status;
    }
    piece->done = count;
    return worst;
}

/* Nobody is at them any more, or somebody who does the same. What fails is found again by the next sweep. */
static Status leaving(TaskPiece *piece)
{
    const TasksOptions *options = &piece->tasks->options;
    const Leaving with = {options->accounts, options->policies, options->leaving_listener};
    uint64_t voters[VOTES_LEFT_MAX];
    size_t count = votes_take_left(options->votes, voters);
    Status worst = STATUS_OK;
    for (size_t i = 0; i < count; i++) {
        Status status = leaving_finish(&with, voters[i], piece->reason);
        piece->found += status == STATUS_OK;
        if (status != STATUS_OK)
            worst = status;
    }
    piece->done = count;
    return last_piece(piece, worst);
}

/* ---- Letters --------------------------------------------------------------------------------------------------- */

typedef struct MovedPolicies {
    uint64_t *ids;
    size_t count, room;
    Arena *arena;
} MovedPolicies;

static void add_moved(void *context, const News *news)
{
    MovedPolicies *moved = context;
    if (news->kind != NEWS_POLICY)
        return;
    if (moved->count == moved->room) {
        uint64_t *ids = ARENA_ARRAY(moved->arena, 2 * moved->room + 64, uint64_t);
        if (moved->count > 0)
            memcpy(ids, moved->ids, moved->count * sizeof *ids);
        moved->ids = ids;
        moved->room = 2 * moved->room + 64;
    }
    moved->ids[moved->count++] = news->id;
}

static int compare_ids(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

/* What a crash between a move and its e-mail left out: the policies that changed in an hour are asked whether they need one. */
static Status write_hour(TaskPiece *piece, int64_t hour)
{
    const TasksOptions *options = &piece->tasks->options;
    const PolicyTeller *teller = &options->hidden_teller;
    MovedPolicies moved = {.arena = piece->arena};
    Status worst = STATUS_OK;
    if (teller->tell == NULL)
        return STATUS_OK;
    TRY(news_read(options->store, hour * S_PER_HOUR, (hour + 1) * S_PER_HOUR - 1, add_moved,
                  &moved));
    if (moved.count > 0)
        qsort(moved.ids, moved.count, sizeof *moved.ids, compare_ids);
    for (size_t i = 0; i < moved.count; i++) {
        if (i > 0 && moved.ids[i] == moved.ids[i - 1])
            continue;
        Status status = teller->tell(teller->self, moved.ids[i], piece->reason);
        piece->done++;
        if (status != STATUS_OK &&
            status != STATUS_NOT_FOUND) /* the mark of one that never came to be */
            worst = status;
    }
    return worst;
}

static Status letters(TaskPiece *piece)
{
    return last_piece(piece, write_hour(piece, (int64_t)hour_now(piece) - piece->part));
}

/* Hour by hour, as far back as a queued e-mail is remembered, so that none is written twice; the position is the next hour. */
static Status letters_older(TaskPiece *piece)
{
    uint32_t now = hour_now(piece), first = now - LETTER_DAYS * HOURS_PER_DAY;
    Reader reader = reader_of(piece->position);
    uint32_t hour = reader_u32(&reader);
    if (piece->position.size == 0 || hour < first)
        hour = first;
    else if (!reader_done(&reader))
        return STATUS_INVALID;
    Status status = write_hour(piece, hour);
    BUFFER_SCOPE Buffer next = {0};
    buffer_u32(&next, hour + 1);
    piece->next = arena_copy(piece->arena, buffer_slice(&next));
    piece->more = hour < now;
    return status;
}

/* The letter first, then the note: cut off in between, the same letter is asked for again, which the mail knows. */
static Status send_digest(TaskPiece *piece, const DigestRequest *want)
{
    const TasksOptions *options = &piece->tasks->options;
    if (want->choice == DIGEST_NEVER)
        return STATUS_OK;
    DigestPeriod period = digest_period(want->choice, clock_now_us(options->world.clock));
    if (want->seen_to >= period.number || want->since_us >= period.to_us)
        return STATUS_OK;
    TRY(options->digest_teller.tell(options->digest_teller.self, want, &period, piece->reason));
    piece->found++;
    return digests_mark(options->accounts, want, period.number);
}

static Status digests(TaskPiece *piece)
{
    const TasksOptions *options = &piece->tasks->options;
    DigestRequest *vote_requests;
    size_t count;
    Status worst = STATUS_OK;
    if (options->digest_teller.tell == NULL)
        return last_piece(piece, STATUS_OK);
    TRY(digests_page(options->accounts, piece->part, piece->position, piece->arena, &vote_requests,
                     &count, &piece->next, &piece->more));
    for (size_t i = 0; i < count; i++) {
        Status status = send_digest(piece, &vote_requests[i]);
        if (status != STATUS_OK)
            worst = status;
    }
    piece->done = count;
    return worst;
}

/* ---- Reports --------------------------------------------------------------------------------------------------- */

static Status reports(TaskPiece *piece)
{
    size_t added = 0;
    if (piece->tasks->options.reports == NULL)
        return last_piece(piece, STATUS_OK);
    Status status = reports_reindex_page(piece->tasks->options.reports, piece->position,
                                         piece->arena, &piece->next, &piece->more, &added);
    piece->done = 1;
    piece->found = added;
    return status;
}

static Status tell_waiting(TaskPiece *piece, const WaitingTeller *teller)
{
    return last_piece(piece,
                      teller->tell != NULL ? teller->tell(teller->self, piece->reason) : STATUS_OK);
}

static Status report_letters(TaskPiece *piece)
{
    return tell_waiting(piece, &piece->tasks->options.report_teller);
}

static Status journals(TaskPiece *piece)
{
    return tell_waiting(piece, &piece->tasks->options.journal_teller);
}

/* ---- How long things are kept ---------------------------------------------------------------------------------- */

/* What was set may have been set elsewhere. */
static Status keep(TaskPiece *piece)
{
    const TasksOptions *options = &piece->tasks->options;
    Retention retention;
    TRY(retention_read(accounts_settings(options->accounts), piece->arena, &retention));
    accounts_keep(options->accounts, &retention);
    if (options->keep != NULL)
        options->keep(options->keep_self, &retention);
    piece->done = RETENTION_ROW_COUNT;
    return last_piece(piece, STATUS_OK);
}

static Status retention(TaskPiece *piece)
{
    Accounts *accounts = piece->tasks->options.accounts;
    Retention periods;
    LoginsPage page;
    TRY(retention_read(accounts_settings(accounts), piece->arena, &periods));
    TRY(logins_delete_old(accounts, periods.logins, piece->position, piece->arena, &page));
    piece->done = page.looked;
    piece->found = page.deleted;
    piece->next = page.more ? page.position : SLICE_EMPTY;
    piece->more = page.more;
    return STATUS_OK;
}

/* ---- Rankings -------------------------------------------------------------------------------------------------- */

static Status checkpoint(TaskPiece *piece)
{
    uint32_t written = 0;
    if (piece->tasks->options.ranking == NULL)
        return last_piece(piece, STATUS_OK);
    TRY(ranking_checkpoint_due(piece->tasks->options.ranking, CHECKPOINTS_A_PIECE, &written));
    piece->done = piece->found = written;
    piece->next = SLICE_EMPTY;
    piece->more = written == CHECKPOINTS_A_PIECE;
    return STATUS_OK;
}

/* What this instance holds in memory: all of it again when the counts come from other rows than before, else what changed. */
static Status rankings(TaskPiece *piece)
{
    Ranking *ranking = piece->tasks->options.ranking;
    if (ranking == NULL)
        return last_piece(piece, STATUS_OK);
    uint32_t before = ranking_generation(ranking);
    Status status = ranking_refresh(ranking);
    piece->found = ranking_generation(ranking) != before;
    return last_piece(piece, status);
}

/* ---- The table ------------------------------------------------------------------------------------------------- */

enum { ROW_PROJECT, ROW_SWEEP, ROW_SWEEP_OLDER, ROW_PASS };

const Task TASKS[] = {
    [ROW_PROJECT] = {"project", PROJECT_S, 1, true, false, PRIORITY_NEW,
                     "Carries what was saved here to the counts.", project},
    [ROW_SWEEP] = {"sweep", 60, RECENT_HOURS, false, false, PRIORITY_NEW,
                   "Follows the marks of the last two hours to voters that were left behind.",
                   sweep},
    [ROW_SWEEP_OLDER] = {"sweep-older", S_PER_DAY, SHARES, false, false, PRIORITY_SLOW,
                         "The same for older marks: a save may be found days late.", sweep_older},
    [ROW_PASS] = {"pass", 7 * S_PER_DAY, 1, false, false, PRIORITY_SLOW,
                  "The same for all voters, without marks.", pass},
    {"recount", S_PER_DAY, 1, false, false, PRIORITY_REVIEW,
     "Adds up who holds what on each policy, against its sums.", recount},
    {"lists", S_PER_HOUR, 1, false, true, PRIORITY_UPDATES,
     "Corrects the lists of active policies by name and date.", lists},
    {"moves", S_PER_HOUR, 1, false, true, PRIORITY_RESET,
     "Ends what waits: new policies, merges, deletions after their appeal.", moves},
    {"merges", MERGES_S, 1, true, false, PRIORITY_NEW,
     "Ends merges that were begun here and could not be ended.", merges},
    {"names", S_PER_DAY, 1, false, false, PRIORITY_TIME_ALLOWS,
     "Frees the names of registrations that were never confirmed.", names},
    {"leaving", LEAVING_S, 1, true, false, PRIORITY_NEW,
     "Ends accounts whose votes were withdrawn for good and that could not be closed then.",
     leaving},
    {"digests", S_PER_HOUR, DIGEST_SHARES, false, false, PRIORITY_UPDATES,
     "Writes letters about what happened, to those who want them.", digests},
    {"letters", LETTERS_S, RECENT_HOURS, false, false, PRIORITY_RESET,
     "Queues e-mails about changes of the last two hours that a crash left out.", letters},
    {"letters-older", S_PER_DAY, 1, false, true, PRIORITY_SLOW, "The same for the last six days.",
     letters_older},
    {"reports", S_PER_HOUR, 1, false, true, PRIORITY_UPDATES,
     "Corrects the lists of reports by state and policy.", reports},
    {TASK_REPORT_LETTERS, 60, 1, false, true, PRIORITY_NEW,
     "Queues e-mails about reports and what came of them.", report_letters},
    {TASK_JOURNALS, 60, 1, true, false, PRIORITY_NEW,
     "Looks at the journals of this instance, and writes to admins when one needs a look.",
     journals},
    {"keep", 60, 1, true, false, PRIORITY_NEW,
     "Learns how long things are kept, where that was changed.", keep},
    {"retention", S_PER_DAY, 1, false, false, PRIORITY_TIME_ALLOWS,
     "Deletes log-ins that are older than they are kept.", retention},
    {"checkpoint", S_PER_HOUR, 1, false, false, PRIORITY_UPDATES,
     "Keeps each day's ranking, and corrects kept ones.", checkpoint},
    {"answers", 60, 1, false, false, PRIORITY_RESET,
     "Finds policies whose votes make an official answer due, and tells those who answer.",
     answers},
    {"rankings", 60, 1, true, false, PRIORITY_NEW, "Reads again what other instances changed.",
     rankings},
};
const size_t TASK_COUNT = sizeof TASKS / sizeof TASKS[0];
const Task *const TASK_SWEEP = &TASKS[ROW_SWEEP];
const Task *const TASK_PASS = &TASKS[ROW_PASS];
