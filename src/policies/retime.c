/* retime.c -- moves that were dated too far ahead, by a clock that was wrong.
 *
 * No move lowers a balance at any time after it, so that it counts earlier than it said lowers none either: until then everybody was
 * judged by the state before it, which is the stricter one (policy_rules.h). Entries of the ledger are not touched: those up to now were
 * judged by that stricter state.
 *
 * One conditional update writes the moves anew. The conditions are the state and those moves as they were read, whose bytes never come
 * back, so that a repair that is carried out late finds nothing to do. A crash leaves all of it or nothing. */
#include "policies/policies_private.h"

/* The first move that is too far ahead; move_count when there is none. */
static size_t first_ahead(const PolicyFacts *facts, int64_t most_us)
{
    size_t first = 0;
    while (first < facts->move_count && facts->moves[first].time_us <= most_us)
        first++;
    return first;
}

/* A source came to its target not before the target was what it was then. */
static Status check_target(Policies *policies, const PolicyMove *move, int64_t most_us,
                           int64_t *time_us, Arena *arena, Reason *reason)
{
    PolicyRow target;
    if (move->state != POLICY_MERGED)
        return STATUS_OK;
    TRY(policy_row_read(policies, move->other, STORE_SERIAL, arena, &target));
    const PolicyFacts *facts = &target.known.facts;
    if (first_ahead(facts, most_us) < facts->move_count)
        return reason_set(reason, STATUS_REFUSED, "policy",
                          "it was merged into policy %llu, whose moves are ahead, too: begin there",
                          (unsigned long long)move->other);
    int64_t target_us = facts->moves[facts->move_count - 1].time_us;
    if (*time_us <= target_us)
        *time_us = target_us + 1;
    return STATUS_OK;
}

static Status write_moves(Policies *policies, const PolicyRow *row, const PolicyMove *moves,
                          size_t first, Arena *arena)
{
    const PolicyFacts *facts = &row->known.facts;
    size_t count = facts->move_count - first;
    Condition *conditions = ARENA_ARRAY(arena, count + 1, Condition);
    Change *changes = ARENA_ARRAY(arena, count + 1, Change);
    for (size_t i = 0; i < count; i++) {
        Slice column = policy_move_column((uint32_t)(first + i), arena);
        conditions[i] = (Condition){
            column, record_encode(&POLICY_MOVE_RECORD, &facts->moves[first + i], NULL, arena),
            false};
        changes[i] =
            (Change){.column = column,
                     .value = record_encode(&POLICY_MOVE_RECORD, &moves[first + i], NULL, arena)};
    }
    Id id = id_new(policies->world.clock, policies->world.random);
    conditions[count] = (Condition){SLICE("state"), row->state_value, false};
    changes[count] = (Change){.column = store_receipt(id_slice(&id), arena),
                              .value = id_slice(&id),
                              .ttl_s = STORE_RECEIPT_TTL_S};
    Update update = {.conditions = conditions,
                     .condition_count = count + 1,
                     .changes = changes,
                     .change_count = count + 1,
                     .proof = changes[count].column};
    return policy_update(policies, facts->id, &update, arena);
}

Status policies_retime(Policies *policies, uint64_t id, uint32_t *ret_moves, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    PolicyRow row;
    TRY(clock_guard_check(policies->clock_guard, reason));
    int64_t now_us = clock_now_us(policies->world.clock), time_us = now_us;
    int64_t most_us = now_us + CLOCK_GUARD_S * US_PER_S;
    TRY(policy_row_read(policies, id, STORE_SERIAL, arena, &row));
    const PolicyFacts *facts = &row.known.facts;
    size_t first = first_ahead(facts, most_us);
    if (first == facts->move_count)
        return reason_set(reason, STATUS_REFUSED, "policy", "none of its moves is ahead");
    PolicyMove *moves = ARENA_ARRAY(arena, facts->move_count, PolicyMove);
    memcpy(moves, facts->moves, facts->move_count * sizeof *moves);
    for (size_t i = first; i < facts->move_count; i++) {
        if (i > 0 && time_us <= moves[i - 1].time_us)
            time_us = moves[i - 1].time_us + 1;
        TRY(check_target(policies, &moves[i], most_us, &time_us, arena, reason));
        moves[i].time_us = time_us;
    }
    Status status = write_moves(policies, &row, moves, first, arena);
    policies_forget(policies, id);
    if (status == STATUS_CONFLICT)
        return reason_set(reason, status, "policy", "it was moved in the same moment; ask again");
    TRY(status);
    *ret_moves = (uint32_t)(facts->move_count - first);
    return STATUS_OK;
}
