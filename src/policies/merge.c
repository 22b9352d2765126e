/* merge.c -- merging a policy into another, and finding all that lead to one.
 *
 * The two policies are two rows, and no update spans rows. So the source first says `merging`, which keeps it from taking
 * sources itself; then the target, while it is active, lists it; then the source says `merged`. The source's row decides
 * alone, in one place, whatever happened in between. No cycle can close: each policy on it would have begun its merge after
 * it took its source, and that after the source began its own. */
#include "base/mutant.h"
#include "policies/policies_private.h"

/* ---- All that lead to a policy --------------------------------------------------------------------------------- */

typedef struct Walk {
    Policies *policies;
    Arena *arena;
    bool
        serial; /* the truth of now, and with sources that may yet become members; else by the cache */
    uint64_t *ids;
    size_t count, capacity;
    int height; /* policies on the longest way to the root, both ends included */
} Walk;

static void walk_push(Walk *walk, uint64_t id)
{
    if (walk->count == walk->capacity) {
        size_t capacity = walk->capacity == 0 ? 16 : 2 * walk->capacity;
        uint64_t *ids = ARENA_ARRAY(walk->arena, capacity, uint64_t);
        if (walk->count > 0)
            memcpy(ids, walk->ids, walk->count * sizeof *ids);
        walk->ids = ids;
        walk->capacity = capacity;
    }
    walk->ids[walk->count++] = id;
}

static Status walk_read(Walk *walk, uint64_t id, PolicyKnown *ret_known)
{
    PolicyRow row;
    if (!walk->serial)
        return policy_known(walk->policies, id, walk->arena, ret_known);
    TRY(policy_row_read(walk->policies, id, STORE_SERIAL, walk->arena, &row));
    *ret_known = row.known;
    return STATUS_OK;
}

/* Promise 3: by the source's own row. */
static bool counts_for(const Walk *walk, const PolicyFacts *source, uint64_t target, Id merge)
{
    const PolicyMove *last = &source->moves[source->move_count - 1];
    bool state = last->state == POLICY_MERGED || (walk->serial && last->state == POLICY_MERGING);
    return state && last->other == target && id_equal(last->id, merge);
}

static Status walk_sources(Walk *walk, uint64_t id)
{
    PolicyKnown known;
    TRY(walk_read(walk, id, &known));
    for (size_t i = 0; i < known.source_count; i++) {
        const PolicySource *listed = &known.sources[i];
        PolicyKnown source;
        Status status = walk_read(walk, listed->source, &source);
        if (status ==
            STATUS_NOT_FOUND) /* a normal read that is behind: the row was there before the listing */
            continue;
        TRY(status);
        if (counts_for(walk, &source.facts, id, listed->merge))
            walk_push(walk, listed->source);
    }
    return STATUS_OK;
}

/* Level by level. More than twice the bound was never allowed to come about. */
static Status walk_from(Walk *walk, uint64_t root)
{
    walk_push(walk, root);
    for (size_t level = 0; level < walk->count; walk->height++) {
        size_t end = walk->count;
        if (walk->height >= 2 * POLICY_MERGE_DEPTH)
            return STATUS_CORRUPT;
        for (; level < end; level++) {
            TRY(walk_sources(walk, walk->ids[level]));
            if (walk->count > 2 * POLICY_MEMBERS_MAX)
                return STATUS_CORRUPT;
        }
    }
    return STATUS_OK;
}

Status policies_members(Policies *policies, uint64_t root, Arena *arena, uint64_t **ret_members,
                        size_t *ret_count)
{
    Walk walk = {.policies = policies, .arena = arena};
    TRY(walk_from(&walk, root));
    *ret_members = walk.ids;
    *ret_count = walk.count;
    return STATUS_OK;
}

/* ---- The target's step --------------------------------------------------------------------------------------- */

static bool is_listed(const PolicyRow *target, const PolicySource *listing)
{
    for (size_t i = 0; i < target->known.source_count; i++)
        if (target->known.sources[i].source == listing->source &&
            id_equal(target->known.sources[i].merge, listing->merge))
            return true;
    return false;
}

/* The source is merging already, so nothing can be listed there any more and its side is counted exactly. On the
 * target's side merges of the same moment may add a few. */
static Status check_room(Policies *policies, const PolicyRow *target, uint64_t source, Arena *arena,
                         Reason *reason)
{
    Walk below = {.policies = policies, .arena = arena, .serial = true};
    Walk beside = {.policies = policies, .arena = arena, .serial = true};
    TRY(walk_from(&below, source));
    TRY(walk_from(&beside, target->known.facts.id));
    if (below.height + 1 > POLICY_MERGE_DEPTH)
        return reason_set(reason, STATUS_REFUSED, "target", "at most %d policies in a row",
                          POLICY_MERGE_DEPTH);
    if (below.count + beside.count > POLICY_MEMBERS_MAX ||
        target->known.source_count >= POLICY_LISTED_MAX)
        return reason_set(reason, STATUS_REFUSED, "target", "at most %d policies become one",
                          POLICY_MEMBERS_MAX);
    return STATUS_OK;
}

static Status check_target(const PolicyRow *target, Reason *reason)
{
    PolicyState state = policy_last(target)->state;
    if (state != POLICY_ACTIVE)
        return reason_set(reason, STATUS_REFUSED, "target", "the target is %s",
                          policy_state_text(state));
    return STATUS_OK;
}

static Status write_listing(Policies *policies, const PolicyRow *target,
                            const PolicySource *listing, Arena *arena)
{
    Slice column = policy_source_column(listing, arena);
    Condition condition = {.column = SLICE("state"), .value = target->state_value};
    if (MUTANT(merge_without_condition))
        condition = (Condition){SLICE("none"), SLICE_EMPTY, true};
    Change change = {.column = column, .value = POLICY_LISTED};
    Update update = {.conditions = &condition,
                     .condition_count = 1,
                     .changes = &change,
                     .change_count = 1,
                     .proof = column};
    PolicyAsked asked = policies_ask(policies);
    TRY(policy_update(policies, target->known.facts.id, &update, arena));
    PolicyKnown known = target->known;
    PolicySource *sources = ARENA_ARRAY(arena, known.source_count + 1, PolicySource);
    for (size_t i = 0; i < known.source_count; i++)
        sources[i] = known.sources[i];
    sources[known.source_count++] = *listing;
    known.sources = sources;
    policy_cache_put(policies->cache, &known, asked);
    return STATUS_OK;
}

/* OK: the target lists the source. REFUSED: it does not, for a reason that stands. Anything else: not known. A listing that is
 * missing is sent (again): an earlier one that is still on its way says the same. */
static Status list_on_target(Policies *policies, const PolicyRow *source, int64_t *ret_target_us,
                             Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    const PolicyMove *merging = policy_last(source);
    PolicySource listing = {source->known.facts.id, merging->id};
    Status status = STATUS_CONFLICT;
    for (int i = 0; record_again(&status, i, arena, NULL); i++) {
        PolicyRow target;
        status = policy_row_read(policies, merging->other, STORE_SERIAL, arena, &target);
        if (status == STATUS_NOT_FOUND)
            return reason_set(reason, STATUS_REFUSED, "target", "there is no such policy");
        TRY(status);
        *ret_target_us = policy_last(&target)->time_us;
        if (is_listed(&target, &listing))
            return STATUS_OK;
        if (!MUTANT(merge_without_condition))
            TRY(check_target(&target, reason));
        TRY(check_room(policies, &target, listing.source, arena, reason));
        status = write_listing(policies, &target, &listing, arena);
    }
    return status;
}

/* ---- The source's steps --------------------------------------------------------------------------------------- */

/* merging -> merged, or back. The time is not before the target's, which so was there when the source came to it. */
static Status conclude(Policies *policies, const PolicyRow *source, Reason *reason)
{
    const PolicyMove *merging = policy_last(source);
    PolicyMove move = *merging;
    int64_t target_us = 0;
    Status listed = list_on_target(policies, source, &target_us, reason);
    if (listed != STATUS_OK && listed != STATUS_REFUSED)
        return listed;
    move.state = POLICY_MERGED;
    if (listed == STATUS_REFUSED)
        move = (PolicyMove){.state = POLICY_ACTIVE,
                            .id = id_new(policies->world.clock, policies->world.random),
                            .reason = SLICE("the target could not take it")};
    CHECK(policy_check_move(&source->known.facts, move.state, NULL) == STATUS_OK);
    return policy_append(policies, source, &move, target_us);
}

/* Until the source is not merging any more; OK then, and *ret_source is how it stands. */
static Status settle(Policies *policies, uint64_t id, Arena *arena, PolicyRow *ret_source,
                     Reason *reason)
{
    Status status = STATUS_CONFLICT;
    for (int i = 0; record_again(&status, i, NULL, reason); i++) {
        TRY(policy_row_read(policies, id, STORE_SERIAL, arena, ret_source));
        if (policy_last(ret_source)->state != POLICY_MERGING)
            return STATUS_OK;
        status = conclude(policies, ret_source, reason);
        if (status == STATUS_OK)
            status = STATUS_CONFLICT; /* to be read as it is now */
    }
    return status;
}

/* ---- Merges that wait to be ended ------------------------------------------------------------------------------ */

/* Exchanges one of these for another; false when none was there. */
static bool exchange_left(Policies *policies, uint64_t before, uint64_t after)
{
    for (size_t i = 0; i < POLICIES_LEFT_MAX; i++) {
        uint64_t found = before;
        if (atomic_compare_exchange_strong(&policies->left[i], &found, after))
            return true;
    }
    return false;
}

/* Where there is no room, the pass over all policies ends it. */
static void remember_left(Policies *policies, uint64_t source)
{
    if (!exchange_left(policies, source, source))
        (void)exchange_left(policies, 0, source);
}

size_t policies_left_merges(Policies *policies, uint64_t ret_sources[POLICIES_LEFT_MAX])
{
    size_t count = 0;
    for (size_t i = 0; i < POLICIES_LEFT_MAX; i++) {
        uint64_t source = atomic_load(&policies->left[i]);
        if (source != 0)
            ret_sources[count++] = source;
    }
    return count;
}

Status policies_finish_merge(Policies *policies, uint64_t source)
{
    ARENA_SCOPE Arena *arena = arena_new();
    PolicyRow row;
    TRY(settle(policies, source, arena, &row, NULL));
    while (exchange_left(policies, source, 0))
        continue;
    return STATUS_OK;
}

/* ---- A merge --------------------------------------------------------------------------------------------------- */

/* Whether this merge stands in the source's row, under way or over. CONFLICT: it does, and leads elsewhere. */
static Status find_begun(const PolicyRow *source, const PolicyMove *move, bool *ret_begun,
                         Reason *reason)
{
    const PolicyMove *begun = policy_find_move(&source->known.facts, POLICY_MERGING, move->id);
    if (begun != NULL && begun->other != move->other)
        return reason_set(reason, STATUS_CONFLICT, "target",
                          "this merge was begun into policy %llu",
                          (unsigned long long)begun->other);
    *ret_begun = begun != NULL;
    return STATUS_OK;
}

static Status begin(Policies *policies, uint64_t source, PolicyMove *move, Arena *arena,
                    Reason *reason)
{
    PolicyRow row, target;
    bool begun;
    Status status = policy_row_read(policies, move->other, STORE_SERIAL, arena, &target);
    if (status == STATUS_NOT_FOUND)
        return reason_set(reason, STATUS_REFUSED, "target", "there is no such policy");
    TRY(status);
    TRY(policy_row_read(policies, source, STORE_SERIAL, arena, &row));
    TRY(find_begun(&row, move, &begun, reason));
    if (begun)
        return STATUS_OK;
    TRY(check_target(&target, reason));
    TRY(policy_check_move(&row.known.facts, POLICY_MERGING, reason));
    TRY(policy_check_clock(policies, &row.known.facts, reason));
    TRY(policy_check_clock(policies, &target.known.facts, reason)); /* it comes not before that */
    status = policy_append(policies, &row, move, 0);
    if (status != STATUS_CONFLICT)
        return status;
    /* Perhaps it was this very merge that came first, sent twice. */
    TRY(policy_row_read(policies, source, STORE_SERIAL, arena, &row));
    TRY(find_begun(&row, move, &begun, reason));
    return begun ? STATUS_OK
                 : reason_set(reason, STATUS_CONFLICT, "source", "somebody else has just moved it");
}

Status policies_merge_named(Policies *policies, const PolicyMerge *merge, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    PolicyRow row;
    CHECK(!id_is_zero(merge->id));
    if (merge->source == merge->target)
        return reason_set(reason, STATUS_INVALID, "target", "a policy cannot become itself");
    TRY(policy_check_reason(merge->reason, reason));
    PolicyMove move = {.state = POLICY_MERGING,
                       .id = merge->id,
                       .actor = merge->actor,
                       .other = merge->target,
                       .reason = merge->reason};
    Status begun = begin(policies, merge->source, &move, arena, reason);
    if (begun == STATUS_UNKNOWN)
        remember_left(policies, merge->source);
    TRY(begun);
    Reason why = {.rule = "the target could not take it"};
    if (settle(policies, merge->source, arena, &row, &why) != STATUS_OK) {
        remember_left(policies, merge->source);
        return reason_set(reason, STATUS_UNKNOWN, "target",
                          "the merge has begun and is finished in the background");
    }
    if (policy_find_move(&row.known.facts, POLICY_MERGED, move.id) != NULL)
        return STATUS_OK;
    return reason_set(reason, STATUS_REFUSED, "target", "%s", why.rule);
}

Status policies_merge(Policies *policies, uint64_t source, uint64_t target, uint64_t actor,
                      Slice reason_text, Reason *reason)
{
    PolicyMerge merge = {.id = id_new(policies->world.clock, policies->world.random),
                         .source = source,
                         .target = target,
                         .actor = actor,
                         .reason = reason_text};
    return policies_merge_named(policies, &merge, reason);
}

/* ---- A new policy to merge into -------------------------------------------------------------------------------- */

static Status read_target(Policies *policies, const PolicyMerge *merge, Arena *arena,
                          uint64_t *ret_target)
{
    PolicyTarget target;
    Records records = policies_records(policies);
    RecordPlace place = {&POLICY_TARGET_RECORD, &TABLE_POLICIES,
                         policy_row_key(merge->source, arena),
                         policy_target_column(merge->id, arena)};
    TRY(record_read(&records, &place, STORE_SERIAL, arena, &target, NULL));
    *ret_target = target.policy;
    return STATUS_OK;
}

static Status take_target(Policies *policies, const PolicyMerge *merge, Arena *arena,
                          uint64_t *ret_target)
{
    PolicyTarget target;
    TRY(policies_next_id(policies, &target.policy));
    Slice column = policy_target_column(merge->id, arena);
    Condition condition = {.column = column, .value = SLICE_EMPTY, .absent = true};
    Change change = {.column = column,
                     .value = record_encode(&POLICY_TARGET_RECORD, &target, NULL, arena)};
    Update update = {.conditions = &condition,
                     .condition_count = 1,
                     .changes = &change,
                     .change_count = 1,
                     .proof = column};
    Status status = policy_update(policies, merge->source, &update, arena);
    if (status == STATUS_CONFLICT) /* the same merge, sent twice: the other id is the one */
        return read_target(policies, merge, arena, ret_target);
    TRY(status);
    *ret_target = target.policy;
    return STATUS_OK;
}

Status policies_merge_target(Policies *policies, const PolicyMerge *merge, const PolicyText *text,
                             uint64_t *ret_target, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    PolicyRow row;
    NewPolicy target = {
        .text = *text, .version = merge->id, .time_us = clock_now_us(policies->world.clock)};
    TRY(policy_check_text(text, reason));
    TRY(policy_row_read(policies, merge->source, STORE_SERIAL, arena, &row));
    Status status = read_target(policies, merge, arena, &target.id);
    if (status == STATUS_NOT_FOUND)
        status = take_target(policies, merge, arena, &target.id);
    TRY(status);
    TRY(policies_create(policies, &target, reason));
    *ret_target = target.id;
    return STATUS_OK;
}
