/* policy_row.c -- reading a policy's row, and appending a move to it. */
#include "base/mutant.h"
#include "policies/policies_private.h"

static const Slice STATE = {"state", 5};

/* ---- Reading ------------------------------------------------------------------------------------------------- */

typedef struct RowBuilder {
    PolicyRow row;
    PolicyMove *moves;     /* room for as many as there are cells */
    PolicySource *sources; /* likewise */
} RowBuilder;

static Status take_source(RowBuilder *to, const Cell *cell)
{
    if (!slice_equal(cell->value, POLICY_LISTED))
        return STATUS_CORRUPT;
    TRY(policy_decode_source_column(cell->column, &to->sources[to->row.known.source_count]));
    to->row.known.source_count++;
    return STATUS_OK;
}

/* Moves are numbered through, and their times increase. */
static Status take_move(RowBuilder *to, const Cell *cell)
{
    size_t count = to->row.known.facts.move_count;
    uint32_t number = 0;
    TRY(policy_decode_move_column(cell->column, &number));
    TRY(record_decode(&POLICY_MOVE_RECORD, cell->value, NULL, NULL, &to->moves[count]));
    if (number != count || count >= POLICY_MOVES_MAX ||
        (count > 0 && to->moves[count].time_us <= to->moves[count - 1].time_us))
        return STATUS_CORRUPT;
    to->row.known.facts.move_count++;
    return STATUS_OK;
}

/* Cells that are one record: which, where it goes, and where its value goes (0: nowhere). */
static const struct {
    Slice column;
    const Record *record;
    size_t to, value;
} CELLS[] = {
    {{"latest", 6}, &POLICY_EDIT_RECORD, offsetof(PolicyRow, known.edit), 0},
    {{"origin", 6}, &POLICY_ORIGIN_RECORD, offsetof(PolicyRow, origin), 0},
    {{"owner", 5},
     &POLICY_OWNER_RECORD,
     offsetof(PolicyRow, owner),
     offsetof(PolicyRow, owner_value)},
    {{"state", 5},
     &POLICY_HEAD_RECORD,
     offsetof(PolicyRow, head),
     offsetof(PolicyRow, state_value)},
    {{"text", 4},
     &POLICY_REVISION_RECORD,
     offsetof(PolicyRow, text),
     offsetof(PolicyRow, text_value)},
};

static Status take_cell(RowBuilder *to, const Cell *cell)
{
    void *row = &to->row;
    if (slice_starts_with(cell->column, SLICE("m/")))
        return take_move(to, cell);
    if (slice_starts_with(cell->column, SLICE("l/")))
        return take_source(to, cell);
    for (size_t i = 0; i < sizeof CELLS / sizeof CELLS[0]; i++) {
        if (!slice_equal(cell->column, CELLS[i].column))
            continue;
        if (CELLS[i].value != 0)
            *(Slice *)(void *)((char *)row + CELLS[i].value) = cell->value;
        return record_decode(CELLS[i].record, cell->value, NULL, NULL, (char *)row + CELLS[i].to);
    }
    return STATUS_CORRUPT;
}

static Status read_part(Policies *policies, uint64_t id, Slice to, ReadMode mode, Arena *arena,
                        RowBuilder *builder)
{
    Query query = {.table = &TABLE_POLICIES,
                   .row = policy_row_key(id, arena),
                   .from = SLICE("l"),
                   .to = to,
                   .after = SLICE_EMPTY,
                   .limit = STORE_PAGE_MAX,
                   .mode = mode};
    Page page;
    TRY(store_slice(policies->store, &query, arena, &page));
    if (page.more) /* over every bound of a row */
        return STATUS_CORRUPT;
    *builder = (RowBuilder){.moves = ARENA_ARRAY(arena, page.count, PolicyMove),
                            .sources = ARENA_ARRAY(arena, page.count, PolicySource)};
    PolicyKnown *known = &builder->row.known;
    *known =
        (PolicyKnown){.facts = {.id = id, .moves = builder->moves}, .sources = builder->sources};
    for (size_t i = 0; i < page.count; i++)
        TRY(take_cell(builder, &page.cells[i]));
    if (known->facts.move_count == 0)
        return page.count == 0 ? STATUS_NOT_FOUND : STATUS_CORRUPT;
    return STATUS_OK;
}

static Status read_row(Policies *policies, uint64_t id, ReadMode mode, Arena *arena,
                       PolicyRow *ret_row)
{
    RowBuilder builder;
    TRY(read_part(policies, id, SLICE("v"), mode, arena, &builder));
    const PolicyRow *row = &builder.row;
    size_t count = row->known.facts.move_count;
    bool whole = row->state_value.data != NULL && row->owner_value.data != NULL &&
                 row->head.count == count && id_equal(row->head.last, policy_last(row)->id);
    if (!whole)
        return STATUS_CORRUPT;
    *ret_row = *row;
    ret_row->has_text = row->text_value.data != NULL;
    return STATUS_OK;
}

/* A normal read may have the later of two moves and lack the earlier, which is still on its way to the machines that were asked. Only
 * what does not fit together in a serial read is damage. */
Status policy_row_read(Policies *policies, uint64_t id, ReadMode mode, Arena *arena,
                       PolicyRow *ret_row)
{
    Status status = read_row(policies, id, mode, arena, ret_row);
    if (status == STATUS_CORRUPT && mode == STORE_NORMAL && !MUTANT(normal_read_believed))
        return read_row(policies, id, STORE_SERIAL, arena, ret_row);
    return status;
}

static Status read_known(Policies *policies, uint64_t id, ReadMode mode, Arena *arena,
                         PolicyKnown *ret_known)
{
    RowBuilder builder;
    PolicyAsked asked = policies_ask(policies);
    Status status = read_part(policies, id, SLICE("n"), mode, arena, &builder);
    if (status == STATUS_CORRUPT && mode == STORE_NORMAL &&
        !MUTANT(normal_read_believed)) /* as in policy_row_read */
        status = read_part(policies, id, SLICE("n"), STORE_SERIAL, arena, &builder);
    TRY(status);
    policy_cache_put(policies->cache, &builder.row.known, asked);
    *ret_known = builder.row.known;
    return STATUS_OK;
}

Status policy_known_fresh(Policies *policies, uint64_t id, Arena *arena, PolicyKnown *ret_known)
{
    return read_known(policies, id, STORE_SERIAL, arena, ret_known);
}

Status policy_known(Policies *policies, uint64_t id, Arena *arena, PolicyKnown *ret_known)
{
    if (policy_cache_get(policies->cache, store_generation(policies->store), id, arena, ret_known))
        return STATUS_OK;
    return read_known(policies, id, STORE_NORMAL, arena, ret_known);
}

const PolicyMove *policy_last(const PolicyRow *row)
{
    const PolicyFacts *facts = &row->known.facts;
    return &facts->moves[facts->move_count - 1];
}

const PolicyMove *policy_find_move(const PolicyFacts *facts, PolicyState state, Id id)
{
    for (size_t i = 0; i < facts->move_count; i++)
        if (facts->moves[i].state == state && id_equal(facts->moves[i].id, id))
            return &facts->moves[i];
    return NULL;
}

void policy_of_row(const PolicyRow *row, Policy *ret_policy)
{
    *ret_policy = (Policy){.id = row->known.facts.id,
                           .facts = row->known.facts,
                           .text = row->text.text,
                           .owner = row->owner.owner,
                           .created_us = row->origin.created_us,
                           .edited_us = row->text.time_us,
                           .revision = row->text.revision,
                           .version = row->text.version,
                           .created_seq = row->origin.seq,
                           .creator = row->origin.creator,
                           .created_version = row->origin.version};
}

/* ---- Appending ----------------------------------------------------------------------------------------------- */

Status policy_update(Policies *policies, uint64_t id, Update *update, Arena *arena)
{
    update->table = &TABLE_POLICIES;
    update->row = policy_row_key(id, arena);
    update->marks = news_mark(policies->world.clock, NEWS_POLICY, id, arena);
    return store_update(policies->store, update, POLICIES_TRIES, arena, NULL);
}

/* The row as it is after the move. */
static PolicyRow row_after(const PolicyRow *row, const PolicyMove *move, Arena *arena)
{
    PolicyRow after = *row;
    PolicyFacts *facts = &after.known.facts;
    PolicyMove *moves = ARENA_ARRAY(arena, facts->move_count + 1, PolicyMove);
    memcpy(moves, facts->moves, facts->move_count * sizeof *moves);
    moves[facts->move_count] = *move;
    facts->moves = moves;
    facts->move_count++;
    return after;
}

static void tell_of_move(Policies *policies, const PolicyRow *row, const PolicyMove *move,
                         PolicyAsked asked, Arena *arena)
{
    PolicyRow row_now = row_after(row, move, arena);
    Policy before, after;
    policy_cache_put(policies->cache, &row_now.known, asked);
    policy_of_row(row, &before);
    policy_of_row(&row_now, &after);
    policy_index_change(policies, &before, &after);
}

Status policy_check_clock(Policies *policies, const PolicyFacts *facts, Reason *reason)
{
    int64_t now_us = clock_now_us(policies->world.clock);
    TRY(clock_guard_check(policies->clock_guard, reason));
    if (policy_move_time(facts, now_us) > now_us + CLOCK_GUARD_S * US_PER_S)
        return reason_set(reason, STATUS_UNAVAILABLE, "policy",
                          "a clock that was wrong has dated this policy ahead: somebody who runs "
                          "the site corrects that by `ostraka policy repair-time`");
    return STATUS_OK;
}

Status policy_append(Policies *policies, const PolicyRow *row, PolicyMove *move,
                     int64_t not_before_us)
{
    ARENA_SCOPE Arena *arena = arena_new();
    const PolicyFacts *facts = &row->known.facts;
    PolicyAsked asked = policies_ask(policies);
    int64_t clock_us = clock_now_us(policies->world.clock);
    TRY(policy_check_clock(policies, facts, NULL)); /* who has words to say has said them */
    CHECK(facts->move_count < POLICY_MOVES_MAX && !id_is_zero(move->id));
    move->time_us = policy_move_time(facts, clock_us > not_before_us ? clock_us : not_before_us);
    if (move->time_us > clock_us + CLOCK_GUARD_S * US_PER_S)
        return STATUS_UNAVAILABLE; /* the target of a merge is dated ahead */
    PolicyHead head = {(uint32_t)facts->move_count + 1, move->id};
    Condition condition = {.column = STATE, .value = row->state_value};
    Slice proof = policy_move_column((uint32_t)facts->move_count, arena);
    Change changes[] = {
        {.column = STATE, .value = record_encode(&POLICY_HEAD_RECORD, &head, NULL, arena)},
        {.column = proof, .value = record_encode(&POLICY_MOVE_RECORD, move, NULL, arena)}};
    Update update = {.conditions = &condition,
                     .condition_count = 1,
                     .changes = changes,
                     .change_count = 2,
                     .proof = proof};
    TRY(policy_update(policies, facts->id, &update, arena));
    tell_of_move(policies, row, move, asked, arena);
    return STATUS_OK;
}
