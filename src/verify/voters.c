/* voters.c -- a voter's chain, and what was projected from it.
 *
 * The head and the lines are one picture; the log, of which nothing ever changes, is read after them up to the head's seq, page by
 * page, and replayed. `projected` is read between the two: up to there everything must be in the counts. */
#include "verify/verify_private.h"

/* A line as the log says it. */
typedef struct Replayed {
    uint64_t seq;       /* of the last change */
    int64_t whole_held; /* as of `projected` */
    uint64_t whole_seq;
} Replayed;

typedef struct Replay {
    Audit *audit;
    uint64_t voter;
    Arena *arena;
    LedgerHead head;
    uint64_t projected;
    Account account;
    VoteGround ground;
    PoliciesReader reader;
    PolicyLookup lookup;
    VoteLine *lines; /* ascending by policy, beside them what else is known */
    Replayed *more;
    size_t count, room;
    Id version;
    int64_t time_us;
    bool closed;
    uint32_t day, saves;
    int64_t held;
} Replay;

/* Keys of differences: what, and about which entry or policy. */
enum { KEY_CHAIN = 1, KEY_BALANCE, KEY_CHANGE, KEY_HEAD, KEY_LINES, KEY_ACCOUNT, KEY_CREATED };

static uint64_t key_of(uint64_t what, uint64_t about)
{
    return what << 56 ^ about;
}

static void wrong(Replay *replay, uint64_t what, const Entry *entry, const char *words)
{
    audit_differs(replay->audit, WRONG(VERIFY_VOTERS, key_of(what, entry->seq)),
                  "voter %llu, entry %llu: %s", (unsigned long long)replay->voter,
                  (unsigned long long)entry->seq, words);
}

/* ---- Replaying the log ------------------------------------------------------------------------------------------- */

static size_t place_of(const Replay *replay, uint64_t policy)
{
    size_t low = 0, high = replay->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (replay->lines[middle].policy < policy)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The place of a policy's line, made if need be. */
static size_t line_at(Replay *replay, uint64_t policy)
{
    size_t at = place_of(replay, policy);
    if (at < replay->count && replay->lines[at].policy == policy)
        return at;
    if (replay->count == replay->room) {
        size_t room = 2 * replay->room + 16;
        VoteLine *lines = ARENA_ARRAY(replay->arena, room, VoteLine);
        Replayed *more = ARENA_ARRAY(replay->arena, room, Replayed);
        if (replay->count > 0) {
            memcpy(lines, replay->lines, replay->count * sizeof *lines);
            memcpy(more, replay->more, replay->count * sizeof *more);
        }
        replay->lines = lines;
        replay->more = more;
        replay->room = room;
    }
    memmove(replay->lines + at + 1, replay->lines + at,
            (replay->count - at) * sizeof *replay->lines);
    memmove(replay->more + at + 1, replay->more + at, (replay->count - at) * sizeof *replay->more);
    replay->lines[at] = (VoteLine){.policy = policy};
    replay->more[at] = (Replayed){0};
    replay->count++;
    return at;
}

static void check_chain(Replay *replay, const Entry *entry, uint64_t expected)
{
    if (entry->seq != expected)
        wrong(replay, KEY_CHAIN, entry, "the entry before it is missing");
    if (!id_equal(entry->prev, replay->version))
        wrong(replay, KEY_CHAIN, entry, "it does not follow the entry before it");
    if (entry->time_us <= replay->time_us && entry->seq > 1)
        wrong(replay, KEY_CHAIN, entry, "its time is not after the one before it");
    if (replay->closed)
        wrong(replay, KEY_CHAIN, entry, "it comes after the chain was closed");
    if (entry->fence && entry->change_count > 0)
        wrong(replay, KEY_CHAIN, entry, "a fence changes nothing");
    const VotingSettings *settings = settings_at(replay->ground.settings, entry->time_us);
    if (!entry->fence && entry->setting_version != settings->version)
        wrong(replay, KEY_CHAIN, entry, "it names another version of the settings than its time");
}

/* What leaving a line cost: the percent in force, or nothing on a line that a merge brought. */
static bool penalty_is_right(Replay *replay, const Entry *entry, const EntryChange *change,
                             int64_t centi)
{
    int64_t less = change->before - change->held;
    int64_t percent = settings_at(replay->ground.settings, entry->time_us)->withdrawal_percent;
    PolicyStanding standing;
    if (less <= 0)
        return centi == 0;
    if (centi == less * percent)
        return !entry->closing || centi == 0;
    bool merged = policy_standing(&replay->lookup, change->policy, entry->time_us, &standing) &&
                  standing.root != change->policy;
    return centi == 0 && (entry->closing || merged);
}

static void apply_change(Replay *replay, const Entry *entry, const EntryChange *change)
{
    size_t at = line_at(replay, change->policy);
    VoteLine *line = &replay->lines[at];
    if (change->before != line->held)
        wrong(replay, KEY_CHANGE, entry, "a change begins at another number than the line had");
    if (change->held < 0 || change->held > VOTE_HELD_MAX || (entry->closing && change->held != 0))
        wrong(replay, KEY_CHANGE, entry, "a line cannot hold that");
    if (!penalty_is_right(replay, entry, change, change->withdrawn_centi - line->withdrawn_centi))
        wrong(replay, KEY_CHANGE, entry, "the price of a withdrawal is not what it was");
    replay->held += change->held - line->held;
    line->held = change->held;
    line->withdrawn_centi = change->withdrawn_centi;
    replay->more[at].seq = entry->seq;
    if (entry->seq <= replay->projected) {
        replay->more[at].whole_held = change->held;
        replay->more[at].whole_seq = entry->seq;
    }
}

static Status check_created(Replay *replay, const Entry *entry)
{
    Policy policy;
    if (entry->created == 0)
        return STATUS_OK;
    Status status =
        policies_fresh(replay->audit->options->policies, entry->created, replay->arena, &policy);
    if (status != STATUS_NOT_FOUND && status != STATUS_CORRUPT)
        TRY(status);
    if (status != STATUS_OK || policy.creator != replay->voter ||
        policy.created_seq != entry->seq || !id_equal(policy.created_version, entry->version))
        wrong(replay, KEY_CREATED, entry, "the policy that it creates is not there");
    return STATUS_OK;
}

static Status replay_entry(Replay *replay, const Entry *entry, uint64_t expected)
{
    check_chain(replay, entry, expected);
    for (size_t i = 0; i < entry->change_count; i++) {
        if (i > 0 && entry->changes[i].policy <= entry->changes[i - 1].policy)
            wrong(replay, KEY_CHANGE, entry, "its changes are not in order");
        apply_change(replay, entry, &entry->changes[i]);
    }
    VoteLines lines = {replay->lines, replay->count};
    if (vote_balance(&replay->ground, lines, entry->time_us) < 0)
        wrong(replay, KEY_BALANCE, entry, "it spends more than the voter had");
    TRY(replay->reader.failed);
    TRY(check_created(replay, entry));
    uint32_t day = count_day(entry->time_us);
    replay->saves = day == replay->day ? replay->saves + 1 : 1;
    replay->day = day;
    replay->version = entry->version;
    replay->time_us = entry->time_us;
    replay->closed = entry->closing;
    replay->audit->report.entries++;
    return STATUS_OK;
}

/* ---- What was projected of it -------------------------------------------------------------------------------------- */

/* The history has a cell for each change of an entry that is projected. */
static Status check_histories(Replay *replay, const Entry *entries, size_t count, Arena *arena)
{
    Audit *audit = replay->audit;
    for (size_t i = 0; i < count && entries[i].seq <= replay->projected; i++) {
        const Entry *entry = &entries[i];
        Read *reads = ARENA_ARRAY(arena, entry->change_count, Read);
        ReadAnswer *answers = ARENA_ARRAY(arena, entry->change_count, ReadAnswer);
        for (size_t k = 0; k < entry->change_count; k++)
            reads[k] = (Read){&TABLE_POLICY_HISTORY,
                              ledger_history_row(arena, audit->generation, entry->changes[k].policy,
                                                 count_day(entry->time_us)),
                              id_slice(&entry->version), STORE_NORMAL};
        TRY(store_read_many(audit->options->store, reads, entry->change_count, arena, answers));
        for (size_t k = 0; k < entry->change_count; k++) {
            if (answers[k].status != STATUS_OK && answers[k].status != STATUS_NOT_FOUND)
                return answers[k].status;
            if (answers[k].status == STATUS_NOT_FOUND)
                audit_differs(audit, WRONG(VERIFY_POLICY_HISTORY, entry->seq),
                              "the history of policy %llu lacks entry %llu of voter %llu",
                              (unsigned long long)entry->changes[k].policy,
                              (unsigned long long)entry->seq, (unsigned long long)replay->voter);
        }
    }
    return STATUS_OK;
}

static void check_taken(Replay *replay, size_t at, const Taken *taken)
{
    const VoteLine *line = &replay->lines[at];
    const Replayed *more = &replay->more[at];
    bool differs = taken->seq < more->whole_seq ||
                   (taken->seq == more->whole_seq && taken->held != more->whole_held) ||
                   (taken->seq == more->seq && taken->held != line->held);
    if (differs)
        audit_differs(replay->audit, WRONG(VERIFY_POLICY_VOTERS, line->policy),
                      "policy %llu has voter %llu with %lld as of entry %llu; the log says %lld as "
                      "of entry %llu",
                      (unsigned long long)line->policy, (unsigned long long)replay->voter,
                      (long long)taken->held, (unsigned long long)taken->seq,
                      (long long)more->whole_held, (unsigned long long)more->whole_seq);
}

static Status check_cells(Replay *replay)
{
    Audit *audit = replay->audit;
    Read *reads = ARENA_ARRAY(replay->arena, replay->count, Read);
    ReadAnswer *answers = ARENA_ARRAY(replay->arena, replay->count, ReadAnswer);
    if (replay->count > STORE_MANY_MAX)
        return STATUS_CORRUPT;
    for (size_t i = 0; i < replay->count; i++)
        reads[i] = (Read){&TABLE_POLICY_VOTERS,
                          ledger_count_row(replay->arena, audit->generation,
                                           replay->lines[i].policy, ledger_shard(replay->voter)),
                          ledger_column(replay->arena, 'v', replay->voter), STORE_SERIAL};
    TRY(store_read_many(audit->options->store, reads, replay->count, replay->arena, answers));
    for (size_t i = 0; i < replay->count; i++) {
        Taken taken = {0};
        Status status = answers[i].status;
        if (status == STATUS_OK)
            status = ledger_get_taken(answers[i].cell.value, &taken);
        if (status == STATUS_CORRUPT)
            taken = (Taken){.held = -1};
        else if (status != STATUS_OK && status != STATUS_NOT_FOUND)
            return status;
        check_taken(replay, i, &taken);
    }
    return STATUS_OK;
}

/* ---- The row ------------------------------------------------------------------------------------------------------- */

static Status replay_log(Replay *replay)
{
    uint64_t seq = 0;
    while (seq < replay->head.seq) {
        ARENA_SCOPE Arena *arena = arena_new();
        Page page;
        Query query = {.table = &TABLE_VOTERS,
                       .row = ledger_u64(arena, replay->voter),
                       .from = ledger_column(arena, 'z', seq + 1),
                       .to = ledger_column(arena, 'z', replay->head.seq + 1),
                       .limit = PART_CELLS};
        TRY(store_slice(replay->audit->options->store, &query, arena, &page));
        Entry *entries = ARENA_ARRAY(arena, page.count, Entry);
        for (size_t i = 0; i < page.count; i++) {
            TRY(ledger_get_entry(page.cells[i].column, page.cells[i].value, arena, &entries[i]));
            TRY(replay_entry(replay, &entries[i], seq + 1));
            seq = entries[i].seq;
        }
        TRY(check_histories(replay, entries, page.count, arena));
        if (!page.more)
            break;
    }
    return STATUS_OK;
}

static void check_head(Replay *replay, uint64_t last)
{
    const LedgerHead *head = &replay->head;
    Entry at = {.seq = head->seq};
    if (last != head->seq || !id_equal(head->version, replay->version) ||
        head->time_us != replay->time_us || head->closed != replay->closed)
        wrong(replay, KEY_HEAD, &at, "the head is not the last entry of the log");
    if (head->held != replay->held)
        wrong(replay, KEY_HEAD, &at, "the head says that another number is held than the log");
    if (head->day != replay->day || head->saves != replay->saves)
        wrong(replay, KEY_HEAD, &at, "the head has another number of saves on its day");
}

static void check_lines(Replay *replay, const Voter *voter, const uint64_t *seqs)
{
    Entry at = {.seq = replay->head.seq};
    bool differs = voter->line_count != replay->count;
    for (size_t i = 0; i < replay->count && !differs; i++) {
        const VoteLine *stored = &voter->lines[i], *said = &replay->lines[i];
        differs = stored->policy != said->policy || stored->held != said->held ||
                  stored->withdrawn_centi != said->withdrawn_centi ||
                  seqs[i] != replay->more[i].seq;
    }
    if (differs)
        wrong(replay, KEY_LINES, &at, "the lines are not what the log says");
}

/* Head and lines, each line with the seq of its last change. NOT_FOUND: there is no head. */
static Status read_row(Audit *audit, uint64_t id, Arena *arena, Voter *voter, uint64_t **ret_seqs)
{
    Page page;
    Query query = {.table = &TABLE_VOTERS,
                   .row = ledger_u64(arena, id),
                   .to = SLICE("t"),
                   .limit = STORE_PAGE_MAX,
                   .mode = STORE_SERIAL};
    TRY(store_slice(audit->options->store, &query, arena, &page));
    *voter = (Voter){.id = id, .lines = ARENA_ARRAY(arena, page.count, VoteLine)};
    *ret_seqs = ARENA_ARRAY(arena, page.count, uint64_t);
    for (size_t i = 0; i < page.count; i++) {
        const Cell *cell = &page.cells[i];
        if (slice_equal(cell->column, SLICE("head"))) {
            TRY(ledger_get_head(cell->value, &voter->head));
            voter->has_head = true;
            continue;
        }
        TRY(ledger_get_line(cell->column, cell->value, &voter->lines[voter->line_count]));
        Reader seq = reader_of(slice_after(cell->value, cell->value.size - 8));
        (*ret_seqs)[voter->line_count++] = reader_u64(&seq);
    }
    return voter->has_head ? STATUS_OK : STATUS_NOT_FOUND;
}

static Status read_projected(Audit *audit, uint64_t voter, Arena *arena, uint64_t *ret_seq)
{
    Cell cell;
    Read read = {&TABLE_PROJECTED, ledger_projected_row(arena, audit->generation, voter),
                 SLICE("seq"), STORE_NORMAL};
    Status status = store_read(audit->options->store, &read, arena, &cell);
    *ret_seq = 0;
    if (status == STATUS_NOT_FOUND)
        return STATUS_OK;
    TRY(status);
    Reader reader = reader_of(cell.value);
    uint64_t seq = reader_u64(&reader);
    *ret_seq = reader_done(&reader) ? seq : UINT64_MAX; /* ahead of any head: said so there */
    return STATUS_OK;
}

static Status ground_of(Replay *replay)
{
    Audit *audit = replay->audit;
    Status status =
        accounts_read(audit->options->accounts, replay->voter, replay->arena, &replay->account);
    if (status == STATUS_NOT_FOUND)
        audit_differs(audit, WRONG(VERIFY_VOTERS, key_of(KEY_ACCOUNT, 0)),
                      "voter %llu has votes and no account", (unsigned long long)replay->voter);
    else if (status == STATUS_OK && replay->account.state == ACCOUNT_CLOSED && !replay->head.closed)
        audit_differs(audit, WRONG(VERIFY_VOTERS, key_of(KEY_ACCOUNT, 1)),
                      "the account of voter %llu is closed and their chain is not",
                      (unsigned long long)replay->voter);
    TRY(status);
    replay->reader = (PoliciesReader){.policies = audit->options->policies, .arena = replay->arena};
    replay->lookup = policies_lookup(&replay->reader);
    replay->ground = (VoteGround){replay->voter, replay->account.registered_us, &audit->settings,
                                  &replay->lookup};
    return STATUS_OK;
}

static Status check_chain_of(Replay *replay, const Voter *voter, const uint64_t *seqs)
{
    Audit *audit = replay->audit;
    TRY(ground_of(replay));
    TRY(replay_log(replay));
    uint64_t last = replay->head.seq;
    if (!id_equal(replay->version, replay->head.version))
        last = 0;
    check_head(replay, last);
    check_lines(replay, voter, seqs);
    TRY(check_cells(replay));
    if (replay->projected < replay->head.seq)
        audit_differs(
            audit,
            (Difference){
                .kind = VERIFY_PROJECTED, .have = replay->projected, .need = replay->head.seq},
            "voter %llu is projected up to entry %llu of %llu", (unsigned long long)replay->voter,
            (unsigned long long)replay->projected, (unsigned long long)replay->head.seq);
    return STATUS_OK;
}

Status check_voter(Audit *audit, const Unit *unit, Arena *arena)
{
    Voter voter = {0};
    uint64_t *seqs = NULL;
    Replay replay = {.audit = audit, .voter = unit->id, .arena = arena};
    Status status = read_row(audit, unit->id, arena, &voter, &seqs);
    if (status == STATUS_OK)
        status = read_projected(audit, unit->id, arena, &replay.projected);
    replay.head = voter.head;
    if (status == STATUS_OK)
        status = check_chain_of(&replay, &voter, seqs);
    if (status == STATUS_CORRUPT || status == STATUS_NOT_FOUND)
        audit_differs(audit,
                      WRONG(status == STATUS_CORRUPT ? VERIFY_VOTER_ROWS : VERIFY_VOTERS,
                            key_of(KEY_HEAD, 0)),
                      status == STATUS_CORRUPT ? "voter %llu: the row cannot be read"
                                               : "voter %llu: there is no head or no account",
                      (unsigned long long)unit->id);
    else
        TRY(status);
    return STATUS_OK;
}

Status check_projected(Audit *audit, const Unit *unit, Arena *arena)
{
    uint64_t projected;
    Cell cell;
    LedgerHead head = {0};
    TRY(read_projected(audit, unit->id, arena, &projected));
    Read read = {&TABLE_VOTERS, ledger_u64(arena, unit->id), SLICE("head"), STORE_SERIAL};
    Status status = store_read(audit->options->store, &read, arena, &cell);
    if (status == STATUS_OK && ledger_get_head(cell.value, &head) != STATUS_OK)
        return STATUS_OK; /* told with the voter */
    if (status != STATUS_NOT_FOUND)
        TRY(status);
    if (projected > head.seq)
        audit_differs(audit, WRONG(VERIFY_PROJECTED, 1),
                      "voter %llu is projected up to entry %llu, and has only %llu",
                      (unsigned long long)unit->id, (unsigned long long)projected,
                      (unsigned long long)head.seq);
    return STATUS_OK;
}
