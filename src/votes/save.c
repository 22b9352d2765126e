/* save.c -- a voter's row: reading it, judging wishes, appending entries.
 *
 * Crash between any two steps of a save: before the append nothing has happened but a mark that finds nothing, and perhaps a
 * pending policy, which the sweep makes void. The append is one conditional update: it is there or not. After it, the
 * counts lag until the mark is followed, and a new policy is pending until the sweep makes it active. */
#include <stdlib.h>

#include "base/mutant.h"
#include "votes/votes_private.h"

Votes *votes_new(const VotesOptions *options)
{
    Votes *votes = calloc(1, sizeof *votes);
    CHECK(votes != NULL);
    *votes = (Votes){.store = options->store,
                     .world = options->world,
                     .accounts = options->accounts,
                     .policies = options->policies,
                     .listener = options->listener,
                     .shared = options->shared,
                     .writer = id_new(options->world.clock, options->world.random)};
    votes->sums = sums_new();
    votes->read_cache =
        read_cache_new(options->world.clock, READ_CACHE_BITS, options->read_cache_us);
    votes->exact = options->read_cache_us == READ_CACHE_EXACT;
    votes->waiting = calloc(WAITING_MAX, sizeof *votes->waiting);
    CHECK(votes->waiting != NULL);
    pthread_mutex_init(&votes->lock, NULL);
    pthread_cond_init(&votes->somebody, NULL);
    return votes;
}

void votes_free(Votes *votes)
{
    if (votes == NULL)
        return;
    pthread_cond_destroy(&votes->somebody);
    pthread_mutex_destroy(&votes->lock);
    votes_forget_waiting(votes);
    sums_free(votes->sums);
    read_cache_free(votes->read_cache);
    free(votes);
}

const char *save_outcome_text(SaveOutcome outcome)
{
    static const char *const TEXTS[] = {"saved", "stale", "refused", "unknown"};
    return TEXTS[outcome];
}

/* ---- Reading a voter --------------------------------------------------------------------------------------- */

static Status take_token(Slice value, Voter *voter)
{
    Reader reader = reader_of(value);
    voter->token_seq = reader_u64(&reader);
    voter->has_token = true;
    return reader_done(&reader) ? STATUS_OK : STATUS_CORRUPT;
}

/* By itself, where the row came from a copy or was longer than a page. */
static Status read_token(Votes *votes, Arena *arena, Voter *voter)
{
    Cell cell;
    if (id_is_zero(voter->token))
        return STATUS_OK;
    Read read = {&TABLE_VOTERS, ledger_u64(arena, voter->id), ledger_token(arena, voter->token),
                 STORE_SERIAL};
    Status status = store_read(votes->store, &read, arena, &cell);
    if (status == STATUS_NOT_FOUND)
        return STATUS_OK;
    TRY(status);
    return take_token(cell.value, voter);
}

static Status take_cell(const Cell *cell, Slice token, Voter *voter)
{
    if (slice_starts_with(cell->column, SLICE("t/")))
        return slice_equal(cell->column, token) ? take_token(cell->value, voter) : STATUS_OK;
    if (!slice_equal(cell->column, SLICE("head")))
        return ledger_get_line(cell->column, cell->value, &voter->lines[voter->line_count++]);
    TRY(ledger_get_head(cell->value, &voter->head));
    voter->head_value = cell->value;
    voter->has_head = true;
    return STATUS_OK;
}

/* With the tokens up to the one that is asked for: they stand behind the lines, and are few. */
Status votes_read_row(Votes *votes, Arena *arena, Voter *voter)
{
    Page page;
    BUFFER_SCOPE Buffer end = {0};
    Slice token = id_is_zero(voter->token) ? SLICE("t") : ledger_token(arena, voter->token);
    buffer_bytes(&end, token);
    if (!id_is_zero(voter->token))
        buffer_u8(&end, 0); /* the next column behind it */
    Query query = {.table = &TABLE_VOTERS,
                   .row = ledger_u64(arena, voter->id),
                   .to = buffer_slice(&end),
                   .limit = STORE_PAGE_MAX,
                   .mode = STORE_SERIAL};
    TRY(store_slice(votes->store, &query, arena, &page));
    if (page.more && !slice_starts_with(page.cells[page.count - 1].column, SLICE("t/")))
        return STATUS_CORRUPT; /* more lines than a voter can have */
    voter->lines = ARENA_ARRAY(arena, page.count + 1, VoteLine);
    for (size_t i = 0; i < page.count; i++)
        TRY(take_cell(&page.cells[i], token, voter));
    return page.more ? read_token(votes, arena, voter) : STATUS_OK;
}

Status votes_read_voter(Votes *votes, uint64_t id, Id token, Arena *arena, Voter *ret_voter)
{
    Voter voter = {.id = id, .token = token};
    if (votes->exact) {
        TRY(accounts_recent(votes->accounts, id, arena, &voter.account));
        voter.token = (Id){{0}};
        TRY(votes_cached_row(votes, arena, &voter));
        voter.token = token;
        TRY(read_token(votes, arena, &voter));
    } else {
        TRY(accounts_read(votes->accounts, id, arena, &voter.account));
        TRY(votes_read_row(votes, arena, &voter));
    }
    *ret_voter = voter;
    return STATUS_OK;
}

/* What the rules need, for one voter and one call. */
typedef struct Judge {
    int64_t
        now_us; /* from before the settings were read: they are known for this time, however long the rest takes */
    VoteGround ground;
    SettingsHistory settings;
    PoliciesReader reader;
    PolicyLookup lookup;
} Judge;

static Status judge_for(Votes *votes, const Voter *voter, Arena *arena, Judge *judge)
{
    judge->now_us = clock_now_us(votes->world.clock);
    TRY(settings_read(accounts_settings(votes->accounts), arena, &judge->settings));
    judge->reader = (PoliciesReader){.policies = votes->policies, .arena = arena};
    judge->lookup = policies_lookup(&judge->reader);
    judge->ground =
        (VoteGround){voter->id, voter->account.registered_us, &judge->settings, &judge->lookup};
    return STATUS_OK;
}

static VoteLines lines_of(const Voter *voter)
{
    return (VoteLines){voter->lines, voter->line_count};
}

static Status state_of(Votes *votes, const Voter *voter, const Judge *judge, VoterState *ret_state)
{
    int64_t now_us = clock_now_us(votes->world.clock);
    if (voter->head.time_us > now_us)
        now_us = voter->head.time_us;
    int64_t balance = vote_balance(&judge->ground, lines_of(voter), now_us);
    TRY(judge->reader.failed);
    *ret_state = (VoterState){.seq = voter->head.seq,
                              .version = voter->head.version,
                              .time_us = voter->head.time_us,
                              .closed = voter->head.closed,
                              .lines = voter->lines,
                              .line_count = voter->line_count,
                              .balance = balance};
    return STATUS_OK;
}

Status votes_state_of(Votes *votes, const Voter *voter, Arena *arena, VoterState *ret_state)
{
    Judge *judge = ARENA_NEW(arena, Judge);
    TRY(judge_for(votes, voter, arena, judge));
    TRY(state_of(votes, voter, judge, ret_state));
    ret_state->reader = &judge->reader;
    return STATUS_OK;
}

Status votes_show(Votes *votes, uint64_t id, Arena *arena, VoterState *ret_state)
{
    Voter voter;
    TRY(votes_read_voter(votes, id, NO_TOKEN, arena, &voter));
    return votes_state_of(votes, &voter, arena, ret_state);
}

/* ---- Appending --------------------------------------------------------------------------------------------- */

static LedgerHead head_after(const Voter *voter, const Entry *entry)
{
    uint32_t day = count_day(entry->time_us);
    LedgerHead head = {.seq = entry->seq,
                       .version = entry->version,
                       .time_us = entry->time_us,
                       .held = voter->head.held,
                       .closed = entry->closing,
                       .day = day,
                       .saves = day == voter->head.day ? voter->head.saves + 1 : 1};
    for (size_t i = 0; i < entry->change_count; i++)
        head.held += entry->changes[i].held - entry->changes[i].before;
    return head;
}

/* A copy of what was just encoded; the buffer is empty again. */
static Slice encoded(Buffer *buffer, Arena *arena)
{
    Slice copy = arena_copy(arena, buffer_slice(buffer));
    buffer_clear(buffer);
    return copy;
}

/* What appends the entry on top of what `voter` says. */
static Update update_for(Votes *votes, const Voter *voter, const Entry *entry, const VotePlan *plan,
                         Arena *arena)
{
    BUFFER_SCOPE Buffer buffer = {0};
    size_t count = 0;
    Change *changes = ARENA_ARRAY(arena, plan->count + 3, Change);
    LedgerHead head = head_after(voter, entry);
    ledger_put_head(&buffer, &head);
    changes[count++] = (Change){.column = SLICE("head"), .value = encoded(&buffer, arena)};
    for (size_t i = 0; i < plan->count; i++) {
        ledger_put_line(&buffer, &plan->lines[i], entry->seq);
        changes[count++] = (Change){.column = ledger_column(arena, 's', plan->lines[i].policy),
                                    .value = encoded(&buffer, arena)};
    }
    if (!id_is_zero(entry->token))
        changes[count++] = (Change){.column = ledger_token(arena, entry->token),
                                    .value = ledger_u64(arena, entry->seq),
                                    .ttl_s = TOKEN_TTL_S};
    ledger_put_entry(&buffer, entry);
    Slice log = ledger_column(arena, 'z', entry->seq);
    changes[count++] = (Change){.column = log, .value = encoded(&buffer, arena)};

    int64_t now_us = clock_now_us(votes->world.clock);
    RowChange *mark = ARENA_ARRAY(arena, 1, RowChange);
    *mark = (RowChange){
        &TABLE_DIRTY,
        ledger_mark_row(arena, ledger_hour(now_us), ledger_shard(voter->id)),
        {.column = ledger_u64(arena, voter->id), .timestamp = now_us, .ttl_s = DIRTY_TTL_S}};
    Condition *condition = ARENA_ARRAY(arena, 1, Condition);
    *condition = (Condition){SLICE("head"), voter->head_value, !voter->has_head};
    if (MUTANT(last_save_wins))
        *condition = (Condition){SLICE("none"), SLICE_EMPTY, true};
    return (Update){.table = &TABLE_VOTERS,
                    .row = ledger_u64(arena, voter->id),
                    .conditions = condition,
                    .condition_count = 1,
                    .changes = changes,
                    .change_count = count,
                    .proof = log,
                    .lazy = MUTANT(ok_before_sync),
                    .marks = {mark, MUTANT(no_mark) ? 0 : 1, false}};
}

Status votes_append(Votes *votes, const Voter *voter, const Entry *entry, const VotePlan *plan,
                    Arena *arena)
{
    Update update = update_for(votes, voter, entry, plan, arena);
    Status status = store_update(votes->store, &update, SAVE_TRIES, arena, NULL);
    if (!MUTANT(fence_keeps_copy))
        votes_forget_copy(votes, voter->id);
    return status;
}

/* ---- A save ------------------------------------------------------------------------------------------------ */

struct Save {
    Votes *votes;
    const SaveRequest *request;
    Arena *arena;
    Voter voter;
    Judge judge;
    VotePlan plan;
    bool appends; /* there is an entry to append; else `result` is the answer already */
    Entry entry;
    Status appended; /* when it was sent; before that surely not */
    SaveResult result;
};

/* Room for a plan. Not cleared: few of the lines are used. */
static VoteLine *plan_lines(Arena *arena)
{
    return arena_alloc(arena, VOTE_PLAN_MAX * sizeof(VoteLine));
}

/* What a line holds before the plan; `at` walks along with lines that are asked for in ascending order. */
static int64_t held_before(const Save *save, uint64_t policy, size_t *at)
{
    const Voter *voter = &save->voter;
    while (*at < voter->line_count && voter->lines[*at].policy < policy)
        (*at)++;
    bool had = *at < voter->line_count && voter->lines[*at].policy == policy;
    return had ? voter->lines[*at].held : 0;
}

/* The entry that carries out the plan: the next in the chain, with a fresh version. */
static void begin_entry(Save *save)
{
    Entry *entry = &save->entry;
    *entry = (Entry){.seq = save->voter.head.seq + 1,
                     .version = id_new(save->votes->world.clock, save->votes->world.random),
                     .prev = save->voter.head.version,
                     .time_us = save->plan.time_us,
                     .setting_version = save->plan.setting_version,
                     .created = save->plan.creates,
                     .token = save->request->token};
    entry->changes = ARENA_ARRAY(save->arena, save->plan.count, EntryChange);
    entry->change_count = save->plan.count;
    for (size_t i = 0, at = 0; i < save->plan.count; i++) {
        const VoteLine *line = &save->plan.lines[i];
        entry->changes[i] = (EntryChange){line->policy, held_before(save, line->policy, &at),
                                          line->held, line->withdrawn_centi};
    }
}

static VoteRule judge_save(Save *save)
{
    const SaveRequest *request = save->request;
    int64_t clock_us = request->time_us != 0 ? request->time_us : save->judge.now_us;
    size_t count = request->vote_request_count;
    VoteRequest *vote_requests = ARENA_ARRAY(save->arena, count + 1, VoteRequest);
    if (count > 0)
        memcpy(vote_requests, request->vote_requests, count * sizeof *vote_requests);
    if (save->plan.creates != 0)
        vote_requests[count++] =
            (VoteRequest){.policy = save->plan.creates, .held = request->create_held};
    save->plan.time_us =
        vote_entry_time(&save->judge.ground, lines_of(&save->voter), request->vote_requests,
                        request->vote_request_count, save->voter.head.time_us, clock_us);
    if (save->voter.head.closed)
        return VOTE_RULE_CLOSED;
    if (save->plan.time_us > clock_us + VOTE_AHEAD_MOST_S * US_PER_S)
        return VOTE_RULE_AHEAD;
    if (save->voter.head.day == count_day(save->plan.time_us) &&
        save->voter.head.saves >= VOTE_SAVES_A_DAY)
        return VOTE_RULE_TOO_OFTEN;
    VoteRule rule =
        vote_judge(&save->judge.ground, lines_of(&save->voter), vote_requests, count, &save->plan);
    if (rule == VOTE_RULE_NONE && request->has_price && save->plan.penalty > request->price)
        return VOTE_RULE_PRICE;
    return rule;
}

/* What was seen is not what this handle knows. The policies that it knows by its cache may be behind on a merge that the voter saw by
 * another instance: then they are read anew, and the request is judged by that. Where nobody else writes the cache is right. */
static Status judge_seen(Save *save)
{
    save->result.rule = judge_save(save);
    if (save->result.rule == VOTE_RULE_SEEN && !save->votes->exact) {
        save->judge.reader = (PoliciesReader){
            .policies = save->votes->policies, .arena = save->arena, .fresh = true};
        save->result.rule = judge_save(save);
    }
    return save->judge.reader.failed;
}

/* Whether the judge came as far as to know the price. */
static bool is_weighed(VoteRule rule)
{
    return rule == VOTE_RULE_NONE || rule == VOTE_RULE_PRICE || rule == VOTE_RULE_BALANCE;
}

static VotePrice price_of(const Save *save)
{
    VotePrice price = {save->plan.penalty, -save->plan.penalty, save->plan.balance};
    for (size_t i = 0, at = 0; i < save->plan.count; i++) {
        const VoteLine *line = &save->plan.lines[i];
        int64_t before = held_before(save, line->policy, &at);
        if (line->held < before)
            price.given_back += before - line->held;
    }
    return price;
}

/* Reads the row again and tells what stands; used whenever this request did not get in. */
static Status tell(Save *save, SaveOutcome outcome, SaveResult *result)
{
    result->outcome = outcome;
    return votes_show(save->votes, save->request->voter, save->arena, &result->state);
}

/* This very form was saved before: the same answer again, whatever version it says was seen, and whatever became of the voter since. It is
 * saved, so what cannot be read now makes no other answer of it than UNKNOWN. */
static Status answer_known(Save *save, SaveResult *result)
{
    Entry entry;
    if (votes_read_entry(save->votes, save->voter.id, save->voter.token_seq, save->arena, &entry) !=
            STATUS_OK ||
        tell(save, SAVE_SAVED, result) != STATUS_OK)
        return STATUS_UNKNOWN;
    result->seq = entry.seq;
    result->version = entry.version;
    result->created = entry.created;
    return STATUS_OK;
}

/* The head became another between reading and appending: either this very form was saved, or somebody was first. */
static Status answer_conflict(Save *save, SaveResult *result)
{
    if (read_token(save->votes, save->arena, &save->voter) != STATUS_OK)
        return STATUS_UNKNOWN;
    return save->voter.has_token ? answer_known(save, result) : tell(save, SAVE_STALE, result);
}

/* The row of a new policy, as pending, surely written, before the entry that creates it. */
static Status write_pending(Save *save, Reason *reason)
{
    if (save->request->create == NULL)
        return STATUS_OK;
    NewPolicy policy = {.id = save->plan.creates,
                        .text = *save->request->create,
                        .creator = save->voter.id,
                        .seq = save->entry.seq,
                        .version = save->entry.version,
                        .time_us = save->plan.time_us};
    uint64_t before = store_effects();
    Status status = policies_create(save->votes->policies, &policy, reason);
    store_effects_forget(before); /* by itself it never comes to be */
    return status == STATUS_UNKNOWN ? STATUS_UNAVAILABLE
                                    : status; /* the vote itself was not sent */
}

static void tell_listener(const Save *save, VoteStep step)
{
    const VoteListener *listener = &save->votes->listener;
    const Entry *entry = &save->entry;
    if (listener->told == NULL)
        return;
    VoteDelta *deltas = ARENA_ARRAY(save->arena, entry->change_count, VoteDelta);
    for (size_t i = 0; i < entry->change_count; i++)
        deltas[i] = (VoteDelta){entry->changes[i].policy,
                                entry->changes[i].held - entry->changes[i].before};
    VoteNews news = {save->voter.id, entry->seq, entry->version,
                     entry->time_us, deltas,     entry->change_count};
    listener->told(listener->self, step, &news);
}

/* Appends the entries of all, by one call of the store, with the listener told before and after it. The store refuses the call as a whole
 * for an entry that is too large; the most changes of an entry are far from that. */
static void append_told(Save *const *saves, size_t count)
{
    Votes *votes = saves[0]->votes;
    Arena *arena = saves[0]->arena;
    Update *updates = ARENA_ARRAY(arena, count, Update);
    Status *statuses = ARENA_ARRAY(arena, count, Status);
    for (size_t i = 0; i < count; i++) {
        Save *save = saves[i];
        tell_listener(save, VOTE_SENT);
        updates[i] = update_for(votes, &save->voter, &save->entry, &save->plan, save->arena);
    }
    for (size_t i = 0; i < count && MUTANT(copy_forgotten_first); i++)
        votes_forget_copy(votes, saves[i]->voter.id);
    Status status = store_update_each(votes->store, updates, count, SAVE_TRIES, arena, statuses);
    for (size_t i = 0; i < count; i++) {
        saves[i]->appended = status == STATUS_OK ? statuses[i] : status;
        if (!MUTANT(copy_forgotten_first))
            votes_forget_copy(votes, saves[i]->voter.id);
        tell_listener(saves[i], saves[i]->appended == STATUS_OK ? VOTE_SAVED : VOTE_DROPPED);
    }
}

/* What the voter has after the entry, without reading it again. */
static void merge_plan(Save *save)
{
    BUFFER_SCOPE Buffer buffer = {0};
    Voter *voter = &save->voter;
    VoteLine *lines = ARENA_ARRAY(save->arena, voter->line_count + save->plan.count, VoteLine);
    size_t count = 0, old = 0;
    for (size_t i = 0; i < save->plan.count; i++) {
        while (old < voter->line_count && voter->lines[old].policy < save->plan.lines[i].policy)
            lines[count++] = voter->lines[old++];
        if (old < voter->line_count && voter->lines[old].policy == save->plan.lines[i].policy)
            old++;
        lines[count++] = save->plan.lines[i];
    }
    while (old < voter->line_count)
        lines[count++] = voter->lines[old++];
    voter->lines = lines;
    voter->line_count = count;
    voter->head = head_after(voter, &save->entry);
    voter->has_head = true;
    ledger_put_head(&buffer, &voter->head);
    voter->head_value = encoded(&buffer, save->arena);
}

static void finish(Save *save)
{
    votes_projection_enqueue(save->votes, save->voter.id, &save->entry);
    if (save->plan.creates != 0) {
        PolicyMove move = {.state = POLICY_ACTIVE, .actor = save->voter.id};
        Reason ignored;
        (void)!policies_move(save->votes->policies, save->plan.creates, POLICY_PENDING, &move,
                             &ignored); /* or the sweep */
    }
    SaveResult *result = &save->result;
    result->outcome = SAVE_SAVED;
    result->seq = save->entry.seq;
    result->version = save->entry.version;
    result->created = save->plan.creates;
    merge_plan(save);
    if (save->votes->exact)
        votes_keep_row(save->votes, &save->voter, save->arena);
    result->state = (VoterState){.seq = save->entry.seq,
                                 .version = save->entry.version,
                                 .time_us = save->entry.time_us,
                                 .closed = save->entry.closing,
                                 .lines = save->voter.lines,
                                 .line_count = save->voter.line_count,
                                 .balance = save->plan.balance};
}

static Status may_save(const Voter *voter, const SaveRequest *request, Reason *reason)
{
    if (voter->account.state != ACCOUNT_CONFIRMED && !voter->head.closed)
        return reason_set(reason, STATUS_DENIED, "voter", "confirm your account first");
    if (voter->account.denied & 1u << RIGHT_VOTE)
        return reason_set(reason, STATUS_DENIED, "voter", "you may not vote");
    if (request->create != NULL && voter->account.denied & 1u << RIGHT_CREATE)
        return reason_set(reason, STATUS_DENIED, "voter", "you may not create policies");
    return request->create != NULL ? policy_check_text(request->create, reason) : STATUS_OK;
}

/* Judges what is asked. With an entry to append, or with the result. */
static Status judge_request(Save *save, Reason *reason)
{
    Votes *votes = save->votes;
    SaveResult *result = &save->result;
    if (!id_equal(save->voter.head.version, save->request->seen))
        return tell(save, SAVE_STALE, result);
    save->plan.lines = plan_lines(save->arena);
    if (save->request->create != NULL)
        TRY(policies_next_id(votes->policies, &save->plan.creates));
    TRY(judge_seen(save));
    if (result->rule == VOTE_RULE_SEEN) {
        result->rule = VOTE_RULE_NONE;
        return tell(save, SAVE_STALE, result);
    }
    result->refused_policy = save->plan.refused_policy;
    if (is_weighed(result->rule))
        result->price = price_of(save);
    save->appends = result->rule == VOTE_RULE_NONE && save->plan.count > 0;
    if (save->appends) {
        begin_entry(save);
        return write_pending(save, reason);
    }
    if (result->rule != VOTE_RULE_NONE) {
        result->outcome = SAVE_REFUSED;
    } else {
        result->outcome = SAVE_SAVED; /* nothing was to change, and nothing did */
        result->seq = save->voter.head.seq;
        result->version = save->voter.head.version;
    }
    return state_of(votes, &save->voter, &save->judge, &result->state);
}

Status votes_save_begin(Votes *votes, const SaveRequest *request, Arena *arena, Save **ret_save,
                        Reason *reason)
{
    Save *save = ARENA_ARRAY(arena, 1, Save);
    *save =
        (Save){.votes = votes, .request = request, .arena = arena, .appended = STATUS_UNAVAILABLE};
    TRY(votes_read_voter(votes, request->voter, request->token, arena, &save->voter));
    *ret_save = save;
    if (save->voter.has_token)
        return answer_known(save, &save->result);
    TRY(may_save(&save->voter, request, reason));
    TRY(judge_for(votes, &save->voter, arena, &save->judge));
    TRY(judge_request(save, reason));
    return STATUS_OK;
}

void votes_save_send(Save *const *saves, size_t count)
{
    size_t with_count = 0;
    if (count == 0)
        return;
    Save **with_entry = ARENA_ARRAY(saves[0]->arena, count, Save *);
    for (size_t i = 0; i < count; i++)
        if (saves[i]->appends)
            with_entry[with_count++] = saves[i];
    if (with_count > 0)
        append_told(with_entry, with_count);
}

/* What became of the entry. A conflict is perhaps the same form, sent twice at the same moment. */
static Status answer_appended(Save *save)
{
    if (save->appended == STATUS_CONFLICT)
        return answer_conflict(save, &save->result);
    if (save->appended == STATUS_UNKNOWN) {
        save->result.outcome = SAVE_UNKNOWN;
        save->result.created = save->plan.creates;
        return state_of(save->votes, &save->voter, &save->judge, &save->result.state) == STATUS_OK
                   ? STATUS_OK
                   : STATUS_UNKNOWN;
    }
    TRY(save->appended);
    finish(save);
    return STATUS_OK;
}

Status votes_save_end(Save *save, SaveResult *ret_result)
{
    if (save->appends)
        TRY(answer_appended(save));
    *ret_result = save->result;
    return STATUS_OK;
}

Status votes_save(Votes *votes, const SaveRequest *request, Arena *arena, SaveResult *ret_result,
                  Reason *reason)
{
    Save *save;
    TRY(votes_save_begin(votes, request, arena, &save, reason));
    votes_save_send(&save, 1);
    return votes_save_end(save, ret_result);
}

Status votes_cost(Votes *votes, uint64_t id, const VoteRequest *vote_requests, size_t count,
                  Arena *arena, CostAnswer *ret_answer)
{
    SaveRequest request = {
        .voter = id, .vote_requests = vote_requests, .vote_request_count = count};
    Save save = {.votes = votes, .request = &request, .arena = arena};
    save.plan.lines = plan_lines(arena);
    TRY(votes_read_voter(votes, id, NO_TOKEN, arena, &save.voter));
    TRY(judge_for(votes, &save.voter, arena, &save.judge));
    CostAnswer answer = {.rule = judge_save(&save), .refused_policy = save.plan.refused_policy};
    int64_t before = vote_balance(&save.judge.ground, lines_of(&save.voter), save.plan.time_us);
    TRY(save.judge.reader.failed);
    answer.balance = answer.rule == VOTE_RULE_NONE || answer.rule == VOTE_RULE_BALANCE
                         ? save.plan.balance
                         : before;
    if (answer.rule == VOTE_RULE_NONE) {
        VotePrice price = price_of(&save);
        answer.penalty = price.penalty;
        answer.given_back = price.given_back;
    }
    *ret_answer = answer;
    return STATUS_OK;
}

/* ---- Leaving ---------------------------------------------------------------------------------------------- */

Status votes_leave(Votes *votes, uint64_t id, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    SaveRequest request = {.voter = id};
    Save save = {.votes = votes, .request = &request, .arena = arena};
    save.plan.lines = plan_lines(arena);
    TRY(votes_read_voter(votes, id, NO_TOKEN, arena, &save.voter));
    if (save.voter.head.closed)
        return STATUS_OK;
    if (save.voter.account.state != ACCOUNT_CONFIRMED)
        return reason_set(reason, STATUS_REFUSED, "voter", "this account is %s",
                          account_state_text(save.voter.account.state));
    TRY(judge_for(votes, &save.voter, arena, &save.judge));
    vote_plan_leave(lines_of(&save.voter), &save.plan);
    save.plan.time_us = vote_entry_time(&save.judge.ground, lines_of(&save.voter), NULL, 0,
                                        save.voter.head.time_us, save.judge.now_us);
    save.plan.setting_version = settings_at(&save.judge.settings, save.plan.time_us)->version;
    begin_entry(&save);
    save.entry.closing = true;
    append_told(&(Save *){&save}, 1);
    if (save.appended == STATUS_CONFLICT)
        return reason_set(reason, save.appended, "voter",
                          "a vote was saved in the same moment; ask again");
    TRY(save.appended);
    votes_projection_enqueue(votes, id, &save.entry);
    return STATUS_OK;
}
