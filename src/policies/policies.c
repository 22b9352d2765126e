/* policies.c -- the handle, creating, moving and reading of policies. */
#include "policies/policies_private.h"

#include <stdlib.h>

enum { CACHE_MAX = 250000, GROUP_NAME_BITS = 8, LIST_CELLS = 1000 };

Policies *policies_new(const PoliciesOptions *options)
{
    Policies *policies = calloc(1, sizeof *policies);
    CHECK(policies != NULL);
    policies->store = options->store;
    policies->world = options->world;
    policies->clock_guard = options->clock_guard;
    policies->ids = sequence_new(options->store, options->world, "policies", options->id_block);
    policies->cache = policy_cache_new(options->world.clock,
                                       options->cache_max > 0 ? options->cache_max : CACHE_MAX,
                                       options->cache_s * US_PER_S);
    policies->group_names = read_cache_new(options->world.clock, GROUP_NAME_BITS, US_PER_S);
    return policies;
}

void policies_free(Policies *policies)
{
    if (policies == NULL)
        return;
    policy_cache_free(policies->cache);
    read_cache_free(policies->group_names);
    sequence_free(policies->ids);
    free(policies);
}

Status policies_next_id(Policies *policies, uint64_t *ret_id)
{
    return sequence_next(policies->ids, ret_id);
}

/* ---- Creating ------------------------------------------------------------------------------------------------ */

/* Everything in the first row comes from the request, so that repeating it writes the same bytes. */
static PolicyRow first_row(const NewPolicy *policy, PolicyMove *move)
{
    PolicyState state = policy->creator == 0 ? POLICY_ACTIVE : POLICY_PENDING;
    *move = (PolicyMove){.state = state,
                         .time_us = policy->time_us,
                         .id = policy->version,
                         .actor = policy->creator,
                         .reason = SLICE_EMPTY};
    return (PolicyRow){.known = {.facts = {policy->id, move, 1}},
                       .origin = {policy->creator, policy->seq, policy->version, policy->time_us},
                       .owner = {policy->version, policy->creator},
                       .text = {policy->text, 1, policy->version, policy->creator, policy->time_us},
                       .has_text = true};
}

static Status write_first_row(Policies *policies, const PolicyRow *row, Arena *arena)
{
    const PolicyMove *move = policy_last(row);
    PolicyHead head = {1, move->id};
    Slice proof = policy_move_column(0, arena);
    Condition condition = {.column = SLICE("state"), .value = SLICE_EMPTY, .absent = true};
    Change changes[] = {
        {.column = proof, .value = record_encode(&POLICY_MOVE_RECORD, move, NULL, arena)},
        {.column = SLICE("state"), .value = record_encode(&POLICY_HEAD_RECORD, &head, NULL, arena)},
        {.column = SLICE("origin"),
         .value = record_encode(&POLICY_ORIGIN_RECORD, &row->origin, NULL, arena)},
        {.column = SLICE("owner"),
         .value = record_encode(&POLICY_OWNER_RECORD, &row->owner, NULL, arena)},
        {.column = SLICE("text"),
         .value = record_encode(&POLICY_REVISION_RECORD, &row->text, NULL, arena)}};
    Update update = {.conditions = &condition,
                     .condition_count = 1,
                     .changes = changes,
                     .change_count = sizeof changes / sizeof changes[0],
                     .proof = proof};
    return policy_update(policies, row->known.facts.id, &update, arena);
}

/* OK when the row was made by this very request. */
static Status is_created(Policies *policies, const NewPolicy *policy, Arena *arena)
{
    PolicyRow row;
    TRY(policy_row_read(policies, policy->id, STORE_SERIAL, arena, &row));
    return id_equal(row.origin.version, policy->version) ? STATUS_OK : STATUS_CONFLICT;
}

Status policies_create(Policies *policies, const NewPolicy *policy, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    PolicyMove move;
    CHECK(policy->id != 0 && !id_is_zero(policy->version));
    TRY(clock_guard_check(policies->clock_guard, reason));
    TRY(policy_check_text(&policy->text, reason));
    Status status = policy_check_groups(policies, &policy->text, NULL, reason);
    /* A category may have been disabled since the first time. */
    if (status == STATUS_REFUSED && is_created(policies, policy, arena) == STATUS_OK)
        return STATUS_OK;
    TRY(status);
    PolicyAsked asked = policies_ask(policies);
    PolicyRow row = first_row(policy, &move);
    status = write_first_row(policies, &row, arena);
    if (status == STATUS_CONFLICT)
        return is_created(policies, policy, arena);
    TRY(status);
    Policy shown;
    policy_of_row(&row, &shown);
    policy_cache_put(policies->cache, &row.known, asked);
    policy_index_change(policies, NULL, &shown);
    return STATUS_OK;
}

/* ---- Moving -------------------------------------------------------------------------------------------------- */

/* In favour of a policy that people can vote on; that may change later and then is only shown as it is. */
static Status check_other(Policies *policies, uint64_t id, const PolicyMove *move, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    PolicyRow other;
    if (move->other == 0)
        return STATUS_OK;
    if (move->state != POLICY_RETIRED || move->other == id)
        return reason_set(reason, STATUS_INVALID, "other", "only in favour of another policy");
    Status status = policy_row_read(policies, move->other, STORE_SERIAL, arena, &other);
    if (status == STATUS_NOT_FOUND)
        return reason_set(reason, STATUS_REFUSED, "other", "there is no such policy");
    TRY(status);
    if (policy_last(&other)->state != POLICY_ACTIVE)
        return reason_set(reason, STATUS_REFUSED, "other", "the other policy is %s",
                          policy_state_text(policy_last(&other)->state));
    return STATUS_OK;
}

static Status check_request(const PolicyMove *move, PolicyState from, Reason *reason)
{
    /* Those of a merge have an order of their own: policies_merge. */
    CHECK(from != POLICY_MERGING && move->state != POLICY_MERGING && move->state != POLICY_MERGED);
    CHECK(from < POLICY_STATE_COUNT && move->state < POLICY_STATE_COUNT);
    if (move->percent < 0 || move->percent > 100 ||
        (move->percent != 0 && move->state != POLICY_RETIRED))
        return reason_set(reason, STATUS_INVALID, "percent", "is from 0 to 100, for a retirement");
    return policy_check_reason(move->reason, reason);
}

static bool is_done(const PolicyRow *row, PolicyMove *move)
{
    const PolicyMove *done = policy_find_move(&row->known.facts, move->state, move->id);
    if (done == NULL)
        return false;
    move->time_us = done->time_us;
    move->payer = done->payer;
    return true;
}

static Status check_now(const PolicyRow *row, PolicyState from, PolicyState to, Reason *reason)
{
    PolicyState state = policy_last(row)->state;
    if (state != from)
        return reason_set(reason, STATUS_CONFLICT, "state", "the policy is %s, not %s any more",
                          policy_state_text(state), policy_state_text(from));
    return policy_check_move(&row->known.facts, to, reason);
}

Status policies_move(Policies *policies, uint64_t id, PolicyState from, PolicyMove *move,
                     Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    PolicyRow row;
    TRY(check_request(move, from, reason));
    if (id_is_zero(move->id))
        move->id = id_new(policies->world.clock, policies->world.random);
    TRY(policy_row_read(policies, id, STORE_SERIAL, arena, &row));
    if (is_done(&row, move))
        return STATUS_OK;
    TRY(check_now(&row, from, move->state, reason));
    TRY(policy_check_clock(policies, &row.known.facts, reason));
    TRY(check_other(policies, id, move, reason));
    move->payer = move->state == POLICY_RETIRED ? row.owner.owner : 0;
    Status status = policy_append(policies, &row, move, 0);
    if (status != STATUS_CONFLICT)
        return status;
    /* Perhaps an earlier request with this id arrived late, and it was ourselves who came first. */
    TRY(policy_row_read(policies, id, STORE_SERIAL, arena, &row));
    if (is_done(&row, move))
        return STATUS_OK;
    return reason_set(reason, STATUS_CONFLICT, "state", "the policy has just become %s",
                      policy_state_text(policy_last(&row)->state));
}

/* Whether this very move is there: a repeat does not know the state that it led to. */
static bool is_restored(const PolicyRow *row, PolicyMove *move)
{
    const PolicyFacts *facts = &row->known.facts;
    for (size_t i = 1; i < facts->move_count; i++) {
        if (!id_equal(facts->moves[i].id, move->id) ||
            facts->moves[i - 1].state != POLICY_PENDING_DELETION)
            continue;
        Slice words = move->reason;
        *move = facts->moves[i];
        move->reason = words; /* what was read does not outlive the call */
        return true;
    }
    return false;
}

static Status restore(Policies *policies, const PolicyRow *row, PolicyMove *move, Reason *reason)
{
    const PolicyFacts *facts = &row->known.facts;
    if (policy_last(row)->state != POLICY_PENDING_DELETION || facts->move_count < 2)
        return reason_set(reason, STATUS_REFUSED, "state", "a policy that is %s cannot be restored",
                          policy_state_text(policy_last(row)->state));
    const PolicyMove *before = &facts->moves[facts->move_count - 2];
    move->state = before->state;
    move->other = before->other;
    move->payer = before->payer;
    move->percent = before->percent;
    TRY(policy_check_move(facts, move->state, reason));
    TRY(policy_check_clock(policies, facts, reason));
    return policy_append(policies, row, move, 0);
}

Status policies_restore(Policies *policies, uint64_t id, PolicyMove *move, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    PolicyRow row;
    TRY(policy_check_reason(move->reason, reason));
    if (id_is_zero(move->id))
        move->id = id_new(policies->world.clock, policies->world.random);
    TRY(policy_row_read(policies, id, STORE_SERIAL, arena, &row));
    if (is_restored(&row, move))
        return STATUS_OK;
    Status status = restore(policies, &row, move, reason);
    if (status != STATUS_CONFLICT)
        return status;
    TRY(policy_row_read(policies, id, STORE_SERIAL, arena, &row));
    if (is_restored(&row, move))
        return STATUS_OK;
    return reason_set(reason, STATUS_CONFLICT, "state", "the policy has just become %s",
                      policy_state_text(policy_last(&row)->state));
}

/* ---- Reading ------------------------------------------------------------------------------------------------- */

static Status read_policy(Policies *policies, uint64_t id, ReadMode mode, Arena *arena,
                          Policy *ret_policy)
{
    PolicyRow row;
    TRY(policy_row_read(policies, id, mode, arena, &row));
    policy_of_row(&row, ret_policy);
    return STATUS_OK;
}

Status policies_read(Policies *policies, uint64_t id, Arena *arena, Policy *ret_policy)
{
    return read_policy(policies, id, STORE_NORMAL, arena, ret_policy);
}

Status policies_fresh(Policies *policies, uint64_t id, Arena *arena, Policy *ret_policy)
{
    return read_policy(policies, id, STORE_SERIAL, arena, ret_policy);
}

/* A row has one state cell, so its policy is listed once, wherever the pages of the scan end. One that is damaged must not keep all
 * that come after it from being found. */
Status policies_list(Policies *policies, Slice position, Arena *arena, Policy **ret_policies,
                     size_t *ret_count, Slice *ret_position, bool *ret_more)
{
    ScanPage page;
    TRY(store_scan(policies->store, &TABLE_POLICIES, position, LIST_CELLS, arena, &page));
    Policy *list = ARENA_ARRAY(arena, page.count, Policy);
    size_t count = 0;
    Status damage = STATUS_OK;
    for (size_t i = 0; i < page.count; i++) {
        uint64_t id = 0;
        if (!slice_equal(page.cells[i].cell.column, SLICE("state")))
            continue;
        Status status = policy_decode_row_key(page.cells[i].row, &id);
        if (status == STATUS_OK)
            status = policies_read(policies, id, arena, &list[count]);
        if (status == STATUS_CORRUPT) {
            damage = status;
            continue;
        }
        TRY(status);
        count++;
    }
    *ret_policies = list;
    *ret_count = count;
    *ret_position = page.position;
    *ret_more = page.more;
    return damage;
}
