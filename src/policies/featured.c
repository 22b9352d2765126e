/* featured.c -- see featured.h. Table `featured`, row `front`: cell `list` is format | id of the write | for each: policy, from, until, actor, set. */
#include "policies/featured.h"

#include "accounts/settings_rules.h"
#include "policies/policies_internal.h"

enum { FORMAT = 1, RACE_TRIES = 20 };

static const Slice ROW = {"front", 5};
static const Slice LIST = {"list", 4};

typedef struct FeaturedList {
    Featured entries[FEATURED_MOST + 1]; /* with room for one that makes another go */
    size_t count;
    Slice value; /* as stored, to be a condition; empty: nothing is */
} FeaturedList;

/* ---- Rules ----------------------------------------------------------------------------------------------------- */

bool featured_is_over(const Featured *featured, int64_t now_us)
{
    return featured->until_us != 0 && featured->until_us <= now_us;
}

bool featured_is_shown(const Featured *featured, int64_t now_us)
{
    return featured->from_us <= now_us && !featured_is_over(featured, now_us);
}

static Status check_wish(const FeatureWish *wish, int64_t now_us, Reason *reason)
{
    if (wish->place > FEATURED_MOST)
        return reason_set(reason, STATUS_INVALID, "place", "must be from 1 to %d", FEATURED_MOST);
    if (wish->from_us < 0 || wish->from_us > SETTING_TIME_MOST)
        return reason_set(reason, STATUS_INVALID, "from", "must be a time from 1970 on");
    if (wish->until_us < 0 || wish->until_us > SETTING_TIME_MOST)
        return reason_set(reason, STATUS_INVALID, "until", "must be a time from 1970 on");
    if (wish->until_us != 0 && (wish->until_us <= wish->from_us || wish->until_us <= now_us))
        return reason_set(reason, STATUS_INVALID, "until",
                          "must be after the beginning, and ahead");
    return STATUS_OK;
}

/* Where the policy stands, or the count. */
static size_t find(const FeaturedList *list, uint64_t policy)
{
    size_t at = 0;
    while (at < list->count && list->entries[at].policy != policy)
        at++;
    return at;
}

static void take_out(FeaturedList *list, size_t at)
{
    list->count--;
    memmove(&list->entries[at], &list->entries[at + 1],
            (list->count - at) * sizeof list->entries[0]);
}

static void put_in(FeaturedList *list, size_t at, Featured entry)
{
    memmove(&list->entries[at + 1], &list->entries[at],
            (list->count - at) * sizeof list->entries[0]);
    list->entries[at] = entry;
    list->count++;
}

/* When the list is full, what has been over the longest goes. */
static Status make_room(FeaturedList *list, int64_t now_us, Reason *reason)
{
    size_t oldest = list->count;
    if (list->count < FEATURED_MOST)
        return STATUS_OK;
    for (size_t i = 0; i < list->count; i++)
        if (featured_is_over(&list->entries[i], now_us) &&
            (oldest == list->count || list->entries[i].until_us < list->entries[oldest].until_us))
            oldest = i;
    if (oldest == list->count)
        return reason_set(reason, STATUS_REFUSED, "policy",
                          "%d policies are featured already; remove one first", FEATURED_MOST);
    take_out(list, oldest);
    return STATUS_OK;
}

static Status apply(FeaturedList *list, const FeatureWish *wish, int64_t now_us, Reason *reason)
{
    Featured entry = {.policy = wish->policy,
                      .from_us = wish->from_us,
                      .until_us = wish->until_us,
                      .actor = wish->actor,
                      .set_us = now_us};
    size_t at = find(list, wish->policy), stood = at;
    if (at < list->count)
        take_out(list, at);
    else
        TRY(make_room(list, now_us, reason));
    size_t place = wish->place > 0 ? wish->place - 1 : stood;
    put_in(list, place < list->count ? place : list->count, entry);
    return STATUS_OK;
}

/* ---- Bytes ----------------------------------------------------------------------------------------------------- */

static Slice encode(const FeaturedList *list, Id write, Arena *arena)
{
    BUFFER_SCOPE Buffer out = {0};
    buffer_u8(&out, FORMAT);
    buffer_bytes(&out, id_slice(&write));
    for (size_t i = 0; i < list->count; i++) {
        const Featured *entry = &list->entries[i];
        buffer_u64(&out, entry->policy);
        buffer_i64(&out, entry->from_us);
        buffer_i64(&out, entry->until_us);
        buffer_u64(&out, entry->actor);
        buffer_i64(&out, entry->set_us);
    }
    return arena_copy(arena, buffer_slice(&out));
}

static Status decode(Slice value, FeaturedList *list)
{
    Reader reader = reader_of(value);
    bool known = reader_u8(&reader) == FORMAT;
    (void)reader_bytes(&reader, ID_BYTES);
    while (!reader.failed && reader.rest.size > 0) {
        if (list->count == FEATURED_MOST)
            return STATUS_CORRUPT;
        Featured *entry = &list->entries[list->count++];
        entry->policy = reader_u64(&reader);
        entry->from_us = reader_i64(&reader);
        entry->until_us = reader_i64(&reader);
        entry->actor = reader_u64(&reader);
        entry->set_us = reader_i64(&reader);
    }
    return known && reader_done(&reader) ? STATUS_OK : STATUS_CORRUPT;
}

/* ---- The store ------------------------------------------------------------------------------------------------- */

static Status read_list(Policies *policies, ReadMode mode, Arena *arena, FeaturedList *ret_list)
{
    Cell cell;
    Read read = {&TABLE_FEATURED, ROW, LIST, mode};
    Status status = store_read(policies->store, &read, arena, &cell);
    *ret_list = (FeaturedList){.value = SLICE_EMPTY};
    if (status == STATUS_NOT_FOUND)
        return STATUS_OK;
    TRY(status);
    ret_list->value = cell.value;
    return decode(cell.value, ret_list);
}

static Status write_list(Policies *policies, const FeaturedList *list, Arena *arena)
{
    Id write = id_new(policies->world.clock, policies->world.random);
    Replacement next = {.table = &TABLE_FEATURED,
                        .row = ROW,
                        .column = LIST,
                        .before = list->value,
                        .value = encode(list, write, arena),
                        .id = write};
    return store_replace(policies->store, &next, POLICIES_TRIES, arena);
}

Status policies_featured(Policies *policies, Arena *arena, Featured **ret_list, size_t *ret_count)
{
    FeaturedList list;
    TRY(read_list(policies, STORE_NORMAL, arena, &list));
    Featured *entries = ARENA_ARRAY(arena, FEATURED_MOST, Featured);
    memcpy(entries, list.entries, list.count * sizeof *entries);
    *ret_list = entries;
    *ret_count = list.count;
    return STATUS_OK;
}

static Status check_policy(Policies *policies, uint64_t id, Arena *arena, Reason *reason)
{
    Policy policy;
    Status status = policies_read(policies, id, arena, &policy);
    if (status == STATUS_NOT_FOUND)
        return reason_set(reason, status, "policy", "there is no such policy");
    TRY(status);
    if (policy.facts.moves[policy.facts.move_count - 1].state != POLICY_ACTIVE)
        return reason_set(reason, STATUS_REFUSED, "policy", "must be an active policy");
    return STATUS_OK;
}

Status policies_feature_check(Policies *policies, const FeatureWish *wish, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    TRY(check_wish(wish, clock_now_us(policies->world.clock), reason));
    return check_policy(policies, wish->policy, arena, reason);
}

Status policies_feature(Policies *policies, const FeatureWish *wish, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    int64_t now_us = clock_now_us(policies->world.clock);
    TRY(policies_feature_check(policies, wish, reason));
    Status status = STATUS_CONFLICT;
    for (int i = 0; i < RACE_TRIES && status == STATUS_CONFLICT; i++) {
        FeaturedList list;
        TRY(read_list(policies, STORE_SERIAL, arena, &list));
        TRY(apply(&list, wish, now_us, reason));
        status = write_list(policies, &list, arena);
    }
    if (status == STATUS_CONFLICT)
        return reason_set(reason, status, "", "others change the featured policies all the time");
    return status;
}

Status policies_unfeature(Policies *policies, uint64_t policy)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Status status = STATUS_CONFLICT;
    for (int i = 0; i < RACE_TRIES && status == STATUS_CONFLICT; i++) {
        FeaturedList list;
        TRY(read_list(policies, STORE_SERIAL, arena, &list));
        size_t at = find(&list, policy);
        if (at == list.count)
            return STATUS_OK;
        take_out(&list, at);
        status = write_list(policies, &list, arena);
    }
    return status;
}
