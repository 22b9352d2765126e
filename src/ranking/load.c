/* load.c -- reading counts and policies from the store while saves go on.
 *
 * The store's counts lag behind the saves, and what this instance saved is in memory before it is projected. A count that is
 * read must therefore be brought together with the saves under way (pending.h): none lost, none counted twice.
 *
 * One policy (recount):
 *   1. The changes that are noted now are the first group. The count is read together with which of them it has: both of one
 *      moment, so for these there is no doubt.
 *   2. Changes that were noted while it was being read are the second group. The store is asked about them after the count was
 *      read: one that is not taken then was not taken before. If one is taken, nobody knows since when, and all begins again; that is
 *      rare, since a projection follows its save by more than one read takes.
 *   3. What is noted later was not even sent when the count was read.
 *   So the count in memory becomes the count that was read, and every change that was told as saved and is not in it. One that is in
 *   it and not told yet is marked, and is not added when it is told.
 *
 * All policies (load): a index is filled by scans, without any lock. A policy of which nothing was noted nor forgotten since before the
 * scan, and nothing is noted now, has had no change of ours under way while it was read: what was saved earlier was
 * projected earlier, and nothing was sent since. All others are unsure. In one moment, under the lock, the unsure ones are
 * collected, and from then on the new index gets all news. The unsure are recounted one by one; then it takes the old one's place.
 *
 * Facts of policies need none of that: they are numbered, and older ones never replace newer ones. */
#include <stdlib.h>

#include "base/bytes.h"
#include "base/mutant.h"
#include "ranking/ranking_private.h"

enum { RECOUNT_TRIES = 200, RECOUNT_PAUSE_US = 500 };
/* A mark bears the minute of its writer's clock, which may be ten minutes off ours; it lives for an hour by the clocks of machines
 * that may be off as well. */
enum { REFRESH_MINUTES = 11, MARKS_MINUTES = 40 };

/* ---- Policies that must be read again ------------------------------------------------------------------------------- */

/* Under the lock. */
static void push_again(Ranking *ranking, uint64_t policy)
{
    for (size_t i = 0; i < ranking->again_count; i++)
        if (ranking->again[i] == policy)
            return;
    if (ranking->again_count == ranking->again_room) {
        ranking->again_room = 2 * ranking->again_room + 16;
        ranking->again = realloc(ranking->again, ranking->again_room * sizeof *ranking->again);
        CHECK(ranking->again != NULL);
    }
    ranking->again[ranking->again_count++] = policy;
}

static void set_behind(Ranking *ranking, int64_t since_us)
{
    if (ranking->behind_us == 0)
        ranking->behind_us = since_us;
}

/* ---- One count -------------------------------------------------------------------------------------------------------- */

typedef struct Marks {
    CountMark *marks;
    size_t count;
    uint64_t now; /* of pending, when they were collected */
} Marks;

/* What was noted after `since`, the newest first. */
static Marks collect(Ranking *ranking, uint64_t policy, uint64_t since, Arena *arena)
{
    Marks marks = {0};
    pthread_rwlock_rdlock(&ranking->lock);
    const Pending *pending = &ranking->pending;
    const Noted *first = pending_first(pending, policy);
    for (const Noted *at = first; at != NULL && at->noted_at > since;
         at = pending_next(pending, at))
        marks.count++;
    marks.marks = ARENA_ARRAY(arena, marks.count, CountMark);
    for (size_t i = 0; i < marks.count; i++, first = pending_next(pending, first))
        marks.marks[i] = (CountMark){.voter = first->voter, .seq = first->seq};
    marks.now = pending->now;
    pthread_rwlock_unlock(&ranking->lock);
    return marks;
}

/* Adds what was told and is not in the count, and marks what is in it and not told. What was dropped is not told, and does no
 * harm. */
static void complete(Ranking *ranking, uint64_t policy, const Marks *first, Count *count)
{
    const CountMark *mark = first->marks;
    for (Noted *at = pending_first(&ranking->pending, policy); at != NULL;
         at = pending_next(&ranking->pending, at)) {
        bool in_count = at->noted_at <= first->now && (mark++)->taken;
        if (!at->told)
            at->counted = in_count;
        else if (!in_count)
            count_change(count, at->time_us, at->change);
    }
    CHECK(mark == first->marks + first->count);
}

static void set_count(Ranking *ranking, uint64_t policy, const Marks *first, Count *count)
{
    pthread_rwlock_wrlock(&ranking->lock);
    complete(ranking, policy, first, count);
    if (ranking->live != NULL)
        ranking_index_set_count(ranking->live, policy, count);
    if (ranking->next != NULL)
        ranking_index_set_count(ranking->next, policy, count);
    pthread_rwlock_unlock(&ranking->lock);
}

/* CONFLICT when it cannot be told what is in the count. */
static Status recount_once(Ranking *ranking, Votes *votes, uint64_t policy)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Count count, ignored;
    Marks first = collect(ranking, policy, 0, arena);
    TRY(votes_count_marked(votes, policy, first.marks, first.count, arena, &count));
    Marks meanwhile = collect(ranking, policy, first.now, arena);
    if (meanwhile.count > 0)
        TRY(votes_count_marked(votes, policy, meanwhile.marks, meanwhile.count, arena, &ignored));
    for (size_t i = 0; i < meanwhile.count; i++)
        if (meanwhile.marks[i].taken)
            return STATUS_CONFLICT;
    set_count(ranking, policy, &first, &count);
    return STATUS_OK;
}

static Status recount(Ranking *ranking, Votes *votes, uint64_t policy)
{
    Status status = STATUS_CONFLICT;
    for (int i = 0; i < RECOUNT_TRIES && status == STATUS_CONFLICT; i++) {
        if (i > 0)
            clock_sleep_us(ranking->world.clock, RECOUNT_PAUSE_US);
        pthread_rwlock_wrlock(&ranking->lock);
        pending_begin_read(&ranking->pending);
        pthread_rwlock_unlock(&ranking->lock);
        status = recount_once(ranking, votes, policy);
        pthread_rwlock_wrlock(&ranking->lock);
        pending_end_read(&ranking->pending);
        pthread_rwlock_unlock(&ranking->lock);
    }
    return status == STATUS_CONFLICT ? STATUS_UNAVAILABLE : status;
}

/* ---- One policy ------------------------------------------------------------------------------------------------------- */

static bool is_known(const RankingIndex *index, uint64_t policy)
{
    const Record *record = ranking_index_find(index, policy);
    return record != NULL && record->move_count > 0;
}

/* Takes the facts; says whether the count must be read, too, and which other policy is not known (or 0). */
static bool take_policy(Ranking *ranking, const Policy *policy, uint64_t *ret_unknown)
{
    const PolicyMove *last = &policy->facts.moves[policy->facts.move_count - 1];
    uint64_t target = last->state == POLICY_MERGED ? last->other : 0;
    bool uncounted = false;
    *ret_unknown = 0;
    pthread_rwlock_wrlock(&ranking->lock);
    if (ranking->live != NULL) {
        ranking_index_set_policy(ranking->live, policy);
        uncounted = !ranking_index_find(ranking->live, policy->id)->counted;
        if (target != 0 && !is_known(ranking->live, target))
            *ret_unknown = target;
    }
    if (ranking->next != NULL)
        ranking_index_set_policy(ranking->next, policy);
    else if (ranking->loading)
        push_again(ranking, policy->id); /* the scan may have passed it */
    pthread_rwlock_unlock(&ranking->lock);
    return uncounted;
}

static Status reread(Ranking *ranking, Votes *votes, uint64_t policy)
{
    for (int i = 0; policy != 0 && i < POLICY_MERGE_DEPTH; i++) {
        ARENA_SCOPE Arena *arena = arena_new();
        Policy facts;
        uint64_t unknown;
        Status status = policies_fresh(ranking->policies, policy, arena, &facts);
        TRY(status == STATUS_CORRUPT ? STATUS_NOT_FOUND : status); /* as in scan_policies */
        if (take_policy(ranking, &facts, &unknown))
            TRY(recount(ranking, votes, policy));
        policy = unknown;
    }
    return STATUS_OK;
}

Status ranking_policy_changed(Ranking *ranking, uint64_t policy)
{
    Votes *votes;
    int64_t began_us = clock_now_us(ranking->world.clock);
    pthread_rwlock_rdlock(&ranking->lock);
    votes = ranking->votes;
    pthread_rwlock_unlock(&ranking->lock);
    if (votes == NULL)
        return STATUS_UNAVAILABLE;
    Status status = reread(ranking, votes, policy);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
        pthread_rwlock_wrlock(&ranking->lock);
        push_again(ranking, policy);
        set_behind(ranking, began_us);
        pthread_rwlock_unlock(&ranking->lock);
    }
    return status;
}

static bool pop_again(Ranking *ranking, uint64_t *ret_policy)
{
    pthread_rwlock_wrlock(&ranking->lock);
    bool popped = ranking->again_count > 0;
    if (popped)
        *ret_policy = ranking->again[--ranking->again_count];
    pthread_rwlock_unlock(&ranking->lock);
    return popped;
}

static Status reread_again(Ranking *ranking, Votes *votes)
{
    uint64_t policy;
    while (pop_again(ranking, &policy)) {
        Status status = reread(ranking, votes, policy);
        if (status == STATUS_OK || status == STATUS_NOT_FOUND)
            continue;
        pthread_rwlock_wrlock(&ranking->lock);
        push_again(ranking, policy);
        pthread_rwlock_unlock(&ranking->lock);
        return status;
    }
    return STATUS_OK;
}

/* ---- All -------------------------------------------------------------------------------------------------------------- */

/* Where a scan is, across arenas. */
static Slice keep_position(Buffer *buffer, Slice position)
{
    buffer_clear(buffer);
    buffer_bytes(buffer, position);
    return buffer_slice(buffer);
}

static Status scan_policies(Ranking *ranking, RankingIndex *index)
{
    BUFFER_SCOPE Buffer buffer = {0};
    Slice position = SLICE_EMPTY;
    for (bool more = true; more;) {
        ARENA_SCOPE Arena *arena = arena_new();
        Policy *policies;
        size_t count;
        Status status =
            policies_list(ranking->policies, position, arena, &policies, &count, &position, &more);
        if (status != STATUS_CORRUPT) /* a policy that cannot be read is in no ranking */
            TRY(status);
        for (size_t i = 0; i < count; i++)
            ranking_index_set_policy(index, &policies[i]);
        position = keep_position(&buffer, position);
    }
    return STATUS_OK;
}

static Status scan_counts(Votes *votes, RankingIndex *index)
{
    BUFFER_SCOPE Buffer buffer = {0};
    Slice position = SLICE_EMPTY;
    for (bool more = true; more;) {
        ARENA_SCOPE Arena *arena = arena_new();
        PolicyCount *counts;
        size_t count;
        TRY(votes_scan_counts(votes, position, arena, &counts, &count, &position, &more));
        for (size_t i = 0; i < count; i++)
            ranking_index_add_count(index, counts[i].policy, &counts[i].count);
        position = keep_position(&buffer, position);
    }
    return STATUS_OK;
}

/* From here on the new index gets all news; `ret_unsure` are those whose counts must be read again. */
static size_t attach(Ranking *ranking, RankingIndex *index, uint64_t since, Arena *arena,
                     uint64_t **ret_unsure)
{
    size_t count = 0;
    pthread_rwlock_wrlock(&ranking->lock);
    const Pending *pending = &ranking->pending;
    uint64_t *unsure = ARENA_ARRAY(arena, pending->policy_count, uint64_t);
    for (size_t i = 0; i < pending->policy_count; i++) {
        const PendingPolicy *policy = &pending->policies[i];
        if (policy->first == 0 && policy->touched <= since)
            continue;
        unsure[count++] = policy->policy;
    }
    ranking->next = index;
    pthread_rwlock_unlock(&ranking->lock);
    *ret_unsure = unsure;
    return count;
}

static Status fill(Ranking *ranking, Votes *votes, RankingIndex *index, uint64_t since,
                   uint32_t generation)
{
    ARENA_SCOPE Arena *arena = arena_new();
    uint64_t *unsure;
    TRY(scan_policies(ranking, index));
    TRY(scan_counts(votes, index));
    if (votes_generation(votes) != generation)
        return STATUS_UNAVAILABLE; /* a repair has just moved on: the scan may have seen both */
    ranking_index_build(index);
    size_t count = attach(ranking, index, since, arena, &unsure);
    for (size_t i = 0; i < count; i++)
        TRY(recount(ranking, votes, unsure[i]));
    return reread_again(ranking, votes);
}

static Status begin_load(Ranking *ranking, Votes *votes, uint64_t *ret_since)
{
    pthread_rwlock_wrlock(&ranking->lock);
    bool busy = ranking->loading;
    if (!busy) {
        ranking->loading = true;
        ranking->votes = votes;
        *ret_since = ranking->pending.now;
    }
    pthread_rwlock_unlock(&ranking->lock);
    return busy ? STATUS_CONFLICT : STATUS_OK;
}

/* Under the lock: nothing that was saved before `began` is missing. */
static void caught_up(Ranking *ranking, ClockReading began)
{
    ranking->refreshed = began;
    if (ranking->again_count == 0)
        ranking->behind_us = 0;
}

Status ranking_load(Ranking *ranking, Votes *votes)
{
    uint64_t since = 0;
    ClockReading began = clock_reading(ranking->world.clock);
    TRY(begin_load(ranking, votes, &since));
    RankingIndex *index = ranking_index_new(ranking->window_days, ranking_today(ranking));
    uint32_t generation = votes_generation(votes);
    Status status = fill(ranking, votes, index, since, generation);
    pthread_rwlock_wrlock(&ranking->lock);
    RankingIndex *old = status == STATUS_OK ? ranking->live : index;
    if (status == STATUS_OK) {
        ranking->live = index;
        ranking->generation = generation;
        caught_up(ranking, began);
    } else {
        set_behind(ranking, began.now_us);
    }
    ranking->next = NULL;
    ranking->loading = false;
    pthread_rwlock_unlock(&ranking->lock);
    ranking_index_free(old);
    return status;
}

/* ---- What others changed ------------------------------------------------------------------------------------------------ */

/* Distinct policies, in the order in which they came. */
typedef struct Changed {
    Map known;
    uint64_t *policies;
    size_t count, room;
} Changed;

static void add_changed(Changed *changed, uint64_t policy)
{
    if (map_get(&changed->known, policy) != 0)
        return;
    map_put(&changed->known, policy, 1);
    if (changed->count == changed->room) {
        changed->room = 2 * changed->room + 64;
        changed->policies = realloc(changed->policies, changed->room * sizeof *changed->policies);
        CHECK(changed->policies != NULL);
    }
    changed->policies[changed->count++] = policy;
}

static void add_count(void *context, VotesMark mark)
{
    add_changed(context, mark.policy);
}

static void add_moved(void *context, const News *news)
{
    if (news->kind == NEWS_POLICY)
        add_changed(context, news->id);
}

/* Since the last load or refresh that went well. */
static uint32_t minutes_since(Ranking *ranking)
{
    pthread_rwlock_rdlock(&ranking->lock);
    int64_t us = clock_age_us(ranking->world.clock, ranking->refreshed);
    pthread_rwlock_unlock(&ranking->lock);
    return us / (60 * US_PER_S) < MARKS_MINUTES ? (uint32_t)(us / (60 * US_PER_S)) : MARKS_MINUTES;
}

/* UNAVAILABLE when some marks may have gone before they were read: at the beginning, or because it took so long. */
static Status read_marks(Ranking *ranking, Votes *votes, Changed *changed, Changed *moved)
{
    uint32_t minute = (uint32_t)(clock_now_us(ranking->world.clock) / (60 * US_PER_S));
    uint32_t since = MUTANT(refresh_ten_minutes) ? 0 : minutes_since(ranking);
    if (since >= MARKS_MINUTES)
        return STATUS_UNAVAILABLE;
    /* One minute ahead, for clocks that are. */
    for (uint32_t at = minute - since - REFRESH_MINUTES; at <= minute + 1; at++)
        TRY(votes_changed(votes, at, 0, add_count, changed));
    if (ranking->shared)
        TRY(news_read(ranking->store, (int64_t)(minute - since - REFRESH_MINUTES) * S_PER_MINUTE,
                      (int64_t)(minute + 2) * S_PER_MINUTE - 1, add_moved, moved));
    return minutes_since(ranking) >= MARKS_MINUTES && !MUTANT(refresh_ten_minutes)
               ? STATUS_UNAVAILABLE
               : STATUS_OK;
}

Status ranking_reread_changed(Ranking *ranking, Votes *votes, const RankingIndex *index,
                              const uint64_t *policies, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t policy = policies[i];
        TRY(recount(ranking, votes, policy));
        pthread_rwlock_rdlock(&ranking->lock);
        bool known = is_known(index, policy);
        pthread_rwlock_unlock(&ranking->lock);
        Status status = known ? STATUS_OK : reread(ranking, votes, policy);
        if (status != STATUS_NOT_FOUND)
            TRY(status);
    }
    return reread_again(ranking, votes);
}

/* What others moved or edited. */
static Status reread_moved(Ranking *ranking, Votes *votes, const Changed *moved)
{
    for (size_t i = 0; i < moved->count; i++) {
        Status status = reread(ranking, votes, moved->policies[i]);
        if (status != STATUS_NOT_FOUND)
            TRY(status);
    }
    return STATUS_OK;
}

static Status refresh(Ranking *ranking, Votes *votes, const RankingIndex *index)
{
    Changed changed = {0}, moved = {0};
    ClockReading began = clock_reading(ranking->world.clock);
    Status status = read_marks(ranking, votes, &changed, &moved);
    if (status == STATUS_OK)
        status = reread_moved(ranking, votes, &moved);
    if (status == STATUS_OK)
        status = ranking_reread_changed(ranking, votes, index, changed.policies, changed.count);
    pthread_rwlock_wrlock(&ranking->lock);
    if (status == STATUS_OK)
        caught_up(ranking, began);
    else
        set_behind(ranking, began.now_us);
    pthread_rwlock_unlock(&ranking->lock);
    map_free(&changed.known);
    map_free(&moved.known);
    free(changed.policies);
    free(moved.policies);
    return status;
}

uint32_t ranking_generation(Ranking *ranking)
{
    pthread_rwlock_rdlock(&ranking->lock);
    uint32_t generation = ranking->generation;
    pthread_rwlock_unlock(&ranking->lock);
    return generation;
}

/* Whoever slept for longer than marks live, or could not read them for so long, reads everything again; so do all when the counts come
 * from rows that were built anew, for no mark says where these differ from the old ones. */
Status ranking_refresh(Ranking *ranking)
{
    Votes *votes;
    RankingIndex *index = ranking_borrow(ranking, &votes);
    if (index == NULL)
        return STATUS_UNAVAILABLE;
    if (!MUTANT(generation_unnoticed) && votes_generation(votes) != ranking_generation(ranking)) {
        ranking_index_free(index);
        return ranking_load(ranking, votes);
    }
    Status status = refresh(ranking, votes, index);
    ranking_index_free(index);
    if (status != STATUS_OK && minutes_since(ranking) >= MARKS_MINUTES &&
        !MUTANT(refresh_ten_minutes))
        return ranking_load(ranking, votes);
    return status;
}
