/* featured.c -- see featured.h. Table `featured`, row `front`: cell `list` is format | id of the write | for each: policy, from, until, actor, set. */
#include "policies/featured.h"

#include "policies/policies_private.h"
#include "settings/settings_rules.h"

typedef struct FeaturedList {
    Id write;
    Featured entries[FEATURED_MAX + 1]; /* with room for one that makes another go */
    size_t count;
} FeaturedList;

static const RecordField ENTRY_FIELDS[] = {
    RECORD_U64(Featured, policy), RECORD_I64(Featured, from_us), RECORD_I64(Featured, until_us),
    RECORD_U64(Featured, actor),  RECORD_I64(Featured, set_us),
};
static const Record ENTRY = RECORD_PART("featured policy", Featured, 0, NULL, ENTRY_FIELDS);
static const RecordField LIST_FIELDS[] = {
    RECORD_WRITE_ID(FeaturedList, write),
    RECORD_LIST(FeaturedList, entries, count, 0, FEATURED_MAX, &ENTRY),
};
const Record FEATURED_RECORD = RECORD("featured policies", FeaturedList, 1, LIST_FIELDS);

static const RecordPlace LIST = {&FEATURED_RECORD, &TABLE_FEATURED, {"front", 5}, {"list", 4}};

/* ---- Rules ----------------------------------------------------------------------------------------------------- */

bool featured_is_over(const Featured *featured, int64_t now_us)
{
    return featured->until_us != 0 && featured->until_us <= now_us;
}

bool featured_is_shown(const Featured *featured, int64_t now_us)
{
    return featured->from_us <= now_us && !featured_is_over(featured, now_us);
}

static Status check_wish(const FeatureRequest *want, int64_t now_us, Reason *reason)
{
    if (want->place > FEATURED_MAX)
        return reason_set(reason, STATUS_INVALID, "place", "must be from 1 to %d", FEATURED_MAX);
    if (want->from_us < 0 || want->from_us > SETTING_TIME_MAX)
        return reason_set(reason, STATUS_INVALID, "from", "must be a time from 1970 on");
    if (want->until_us < 0 || want->until_us > SETTING_TIME_MAX)
        return reason_set(reason, STATUS_INVALID, "until", "must be a time from 1970 on");
    if (want->until_us != 0 && (want->until_us <= want->from_us || want->until_us <= now_us))
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
    if (list->count < FEATURED_MAX)
        return STATUS_OK;
    for (size_t i = 0; i < list->count; i++)
        if (featured_is_over(&list->entries[i], now_us) &&
            (oldest == list->count || list->entries[i].until_us < list->entries[oldest].until_us))
            oldest = i;
    if (oldest == list->count)
        return reason_set(reason, STATUS_REFUSED, "policy",
                          "%d policies are featured already; remove one first", FEATURED_MAX);
    take_out(list, oldest);
    return STATUS_OK;
}

static Status put(FeaturedList *list, const FeatureRequest *want, int64_t now_us, Reason *reason)
{
    Featured entry = {.policy = want->policy,
                      .from_us = want->from_us,
                      .until_us = want->until_us,
                      .actor = want->actor,
                      .set_us = now_us};
    size_t at = find(list, want->policy), stood = at;
    if (at < list->count)
        take_out(list, at);
    else
        TRY(make_room(list, now_us, reason));
    size_t place = want->place > 0 ? want->place - 1 : stood;
    put_in(list, place < list->count ? place : list->count, entry);
    return STATUS_OK;
}

/* ---- The store ------------------------------------------------------------------------------------------------- */

Status policies_featured(Policies *policies, Arena *arena, Featured **ret_list, size_t *ret_count)
{
    FeaturedList list;
    Records records = policies_records(policies);
    TRY(record_find(&records, &LIST, STORE_NORMAL, arena, &list, NULL));
    Featured *entries = ARENA_ARRAY(arena, FEATURED_MAX, Featured);
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

Status policies_feature_check(Policies *policies, const FeatureRequest *want, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    TRY(check_wish(want, clock_now_us(policies->world.clock), reason));
    return check_policy(policies, want->policy, arena, reason);
}

static Batch mark_of(const Policies *policies, Arena *arena)
{
    return news_mark(policies->world.clock, NEWS_FRONT, 0, arena);
}

typedef struct Featuring {
    const Policies *policies;
    const FeatureRequest *want;
    int64_t now_us;
} Featuring;

static Status apply_request(RecordEditing *editing, void *context, Reason *reason)
{
    const Featuring *featuring = context;
    editing->write = true;
    editing->also.marks = mark_of(featuring->policies, editing->arena);
    return put(editing->record, featuring->want, featuring->now_us, reason);
}

Status policies_feature(Policies *policies, const FeatureRequest *want, Reason *reason)
{
    Records records = policies_records(policies);
    Featuring featuring = {policies, want, clock_now_us(policies->world.clock)};
    TRY(policies_feature_check(policies, want, reason));
    RecordEdit edit = {.place = LIST, .apply = apply_request, .context = &featuring};
    return record_edit(&records, &edit, reason);
}

typedef struct Unfeaturing {
    const Policies *policies;
    uint64_t policy;
} Unfeaturing;

static Status apply_removal(RecordEditing *editing, void *context, Reason *reason)
{
    const Unfeaturing *removal = context;
    FeaturedList *list = editing->record;
    size_t at = find(list, removal->policy);
    (void)reason;
    if (at == list->count)
        return STATUS_OK;
    editing->write = true;
    editing->also.marks = mark_of(removal->policies, editing->arena);
    take_out(list, at);
    return STATUS_OK;
}

Status policies_unfeature(Policies *policies, uint64_t policy)
{
    Records records = policies_records(policies);
    Unfeaturing removal = {policies, policy};
    RecordEdit edit = {.place = LIST, .apply = apply_removal, .context = &removal};
    return record_edit(&records, &edit, NULL);
}
