/* notices.c -- see notices.h. Row = account of table `notices`: column `all` has the moment up to which all are dismissed (8 bytes), any other
 * column is the key of one that is. A key is policy, kind of thing (a: an answer, m: a move, n: it is new, r: a revision; k: account, and a change of its
 * rights) and its number, which never changes; or NOTICE_COMMAND_KEY and the id of an entry in the audit log. */
#include "votes/notices.h"

#include <stdlib.h>

#include "accounts/rights_changes.h"
#include "policies/answers.h"
#include "votes/votes_private.h"

enum {
    DISMISSED_TTL_S = (NOTICES_DAYS + 1) * 86400,
    DISMISSED_MAX = STORE_PAGE_MAX,
    OWNED_MAX = POLICIES_BROWSE_MAX,
    JOINED_MAX = 100,
};

static const Slice ALL = {"all", 3};

static const struct {
    const char *name, *text;
} KINDS[] = {
#define X(name, word, text) {word, text},
    NOTICE_KIND_LIST(X)
#undef X
};

const char *notice_kind_name(NoticeKind kind)
{
    CHECK(kind < NOTICE_KIND_COUNT);
    return KINDS[kind].name;
}

const char *notice_kind_text(NoticeKind kind)
{
    CHECK(kind < NOTICE_KIND_COUNT);
    return KINDS[kind].text;
}

bool notice_of_move(const PolicyFacts *facts, size_t number, NoticeKind *ret_kind)
{
    static const struct {
        bool told;
        NoticeKind kind;
    } OF_STATE[POLICY_STATE_COUNT] = {
        [POLICY_MERGING] = {true, NOTICE_MERGING},
        [POLICY_MERGED] = {true, NOTICE_MERGED},
        [POLICY_RETIRED] = {true, NOTICE_RETIRED},
        [POLICY_PENDING_DELETION] = {true, NOTICE_HIDDEN},
        [POLICY_DELETED] = {true, NOTICE_DELETED},
    };
    PolicyState state = facts->moves[number].state;
    bool appeal = number > 0 && facts->moves[number - 1].state == POLICY_PENDING_DELETION &&
                  state != POLICY_DELETED;
    bool over = state == POLICY_MERGING && number + 1 < facts->move_count;
    if (over || (!appeal && !OF_STATE[state].told))
        return false;
    *ret_kind = appeal ? NOTICE_RESTORED : OF_STATE[state].kind;
    return true;
}

/* ---- What was dismissed ----------------------------------------------------------------------------------- */

typedef struct Dismissed {
    int64_t until_us;
    const Cell *cells; /* in the reverse order of their columns */
    size_t count;
} Dismissed;

static Status read_dismissed(Votes *votes, uint64_t account, Arena *arena, Dismissed *ret_dismissed)
{
    Query query = {.table = &TABLE_NOTICES,
                   .row = ledger_u64(arena, account),
                   .from = SLICE_EMPTY,
                   .to = SLICE_EMPTY,
                   .after = SLICE_EMPTY,
                   .reverse = true, /* `all` comes first, however many follow */
                   .limit = DISMISSED_MAX};
    Page page;
    TRY(store_slice(votes->store, &query, arena, &page));
    Dismissed dismissed = {.cells = page.cells, .count = page.count};
    for (size_t i = 0; i < page.count; i++) {
        if (!slice_equal(page.cells[i].column, ALL))
            continue;
        if (page.cells[i].value.size != sizeof(int64_t))
            return STATUS_CORRUPT;
        dismissed.until_us = (int64_t)bytes_get_u64(page.cells[i].value.data);
    }
    *ret_dismissed = dismissed;
    return STATUS_OK;
}

static bool is_dismissed(const Dismissed *dismissed, Slice key)
{
    size_t low = 0, high = dismissed->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = slice_compare(dismissed->cells[middle].column, key);
        if (order == 0)
            return true;
        *(order > 0 ? &low : &high) = order > 0 ? middle + 1 : middle;
    }
    return false;
}

static Status write_dismissal(Votes *votes, uint64_t account, Slice column, int64_t time_us)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Change change = {.column = column,
                     .value = ledger_u64(arena, (uint64_t)time_us),
                     .timestamp = clock_now_us(votes->world.clock),
                     .ttl_s = DISMISSED_TTL_S};
    RowChange row = {&TABLE_NOTICES, ledger_u64(arena, account), change};
    return store_write(votes->store, &(Batch){.changes = &row, .count = 1});
}

/* "12-m3", "12-r5" or "12-a1", in just the way they are printed. */
static bool is_key(Slice key)
{
    Slice rest = key, policy;
    uint64_t number;
    Id entry;
    if (slice_starts_with(key, NOTICE_COMMAND_KEY))
        return id_from_text(slice_after(key, NOTICE_COMMAND_KEY.size), &entry) == STATUS_OK;
    return key.size <= NOTICE_KEY_BYTES && slice_split(&rest, '-', &policy) && rest.size > 1 &&
           policy.data[0] != '0' && strchr("akmnr", rest.data[0]) != NULL && rest.data[0] != '\0' &&
           (rest.size == 2 || rest.data[1] != '0') && slice_to_u64(policy, &number) == STATUS_OK &&
           slice_to_u64(slice_after(rest, 1), &number) == STATUS_OK;
}

Status notices_dismiss(Votes *votes, uint64_t account, Slice key)
{
    if (!is_key(key))
        return STATUS_INVALID;
    return write_dismissal(votes, account, key, 0);
}

Status notices_dismiss_all(Votes *votes, uint64_t account, int64_t until_us)
{
    return write_dismissal(votes, account, ALL, until_us);
}

/* ---- Which policies ------------------------------------------------------------------------------------------ */

typedef struct PolicySet {
    uint64_t *ids;
    size_t count;
} PolicySet;

static int by_id(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

static void sort_unique(PolicySet *set)
{
    size_t kept = 0;
    qsort(set->ids, set->count, sizeof *set->ids, by_id);
    for (size_t i = 0; i < set->count; i++)
        if (i == 0 || set->ids[i] != set->ids[i - 1])
            set->ids[kept++] = set->ids[i];
    set->count = kept;
}

/* Those with votes, and what they were merged into: that is where the votes are now. */
static void add_lines(Votes *votes, const Voter *voter, PolicySet *set, Arena *arena)
{
    PoliciesReader reader = {.policies = votes->policies, .arena = arena};
    PolicyLookup lookup = policies_lookup(&reader);
    for (size_t i = 0; i < voter->line_count; i++) {
        PolicyStanding standing;
        uint64_t policy = voter->lines[i].policy;
        if (voter->lines[i].held == 0)
            continue;
        set->ids[set->count++] = policy;
        if (policy_standing(&lookup, policy, INT64_MAX, &standing) && standing.root != policy)
            set->ids[set->count++] = standing.root;
    }
}

static Status add_owned(Votes *votes, uint64_t account, PolicySet *set, Arena *arena)
{
    PolicyQuery query = {.order = POLICIES_BY_OWNER,
                         .group = account,
                         .prefix = SLICE_EMPTY,
                         .position = SLICE_EMPTY,
                         .limit = OWNED_MAX};
    PolicyPage page;
    TRY(policies_browse(votes->policies, &query, arena, &page));
    for (size_t i = 0; i < page.count; i++)
        set->ids[set->count++] = page.policies[i].id;
    return STATUS_OK;
}

static Status collect_policies(Votes *votes, const Voter *voter, Arena *arena, PolicySet *ret_set)
{
    uint64_t *watched;
    size_t watched_count;
    TRY(accounts_watched(votes->accounts, voter->id, arena, &watched, &watched_count));
    size_t most = 2 * voter->line_count + watched_count + OWNED_MAX;
    PolicySet set = {ARENA_ARRAY(arena, most, uint64_t), 0};
    add_lines(votes, voter, &set, arena);
    for (size_t i = 0; i < watched_count; i++)
        set.ids[set.count++] = watched[i];
    TRY(add_owned(votes, voter->id, &set, arena));
    sort_unique(&set);
    *ret_set = set;
    return STATUS_OK;
}

/* ---- What happened to them ----------------------------------------------------------------------------------- */

typedef struct NoticeList {
    Votes *votes;
    uint64_t viewer;
    int64_t after_us;
    const Dismissed *dismissed;
    const PolicySet *set;
    Arena *arena;
    PolicyNotice notices[NOTICES_MAX]; /* the newest first */
    size_t count;
} NoticeList;

/* Equal times: by key, so that the order is the same each time. */
static bool is_newer(const PolicyNotice *a, const PolicyNotice *b)
{
    return a->time_us != b->time_us ? a->time_us > b->time_us : slice_compare(a->key, b->key) < 0;
}

static void keep_newest(NoticeList *list, const PolicyNotice *notice)
{
    size_t at = list->count;
    while (at > 0 && is_newer(notice, &list->notices[at - 1]))
        at--;
    if (at == NOTICES_MAX)
        return;
    if (list->count < NOTICES_MAX)
        list->count++;
    memmove(&list->notices[at + 1], &list->notices[at],
            (list->count - 1 - at) * sizeof list->notices[0]);
    list->notices[at] = *notice;
}

/* What a notice is known by: the row in which the thing is written down, what it is, and its number there. */
typedef struct NoticeKey {
    uint64_t policy;
    char kind;
    size_t number;
} NoticeKey;

/* Nobody is told of what they did themselves. */
static void consider_keyed(NoticeList *list, PolicyNotice notice, Slice key)
{
    notice.key = key;
    bool is_own = notice.actor != 0 && notice.actor == list->viewer;
    if (notice.time_us > list->after_us && !is_own && !is_dismissed(list->dismissed, key))
        keep_newest(list, &notice);
}

static void consider(NoticeList *list, PolicyNotice notice, NoticeKey key)
{
    consider_keyed(list, notice,
                   arena_print(list->arena, "%llu-%c%zu", (unsigned long long)key.policy, key.kind,
                               key.number));
}

static PolicyNotice notice_about(uint64_t policy, NoticeKind kind, uint64_t actor, int64_t time_us)
{
    return (PolicyNotice){.kind = kind,
                          .policy = policy,
                          .command = SLICE_EMPTY,
                          .name = SLICE_EMPTY,
                          .actor = actor,
                          .time_us = time_us,
                          .reason = SLICE_EMPTY};
}

static void consider_moves(NoticeList *list, const PolicyFacts *facts)
{
    for (size_t i = 0; i < facts->move_count; i++) {
        const PolicyMove *move = &facts->moves[i];
        NoticeKind kind;
        if (!notice_of_move(facts, i, &kind))
            continue;
        PolicyNotice notice = notice_about(facts->id, kind, move->actor, move->time_us);
        notice.other = move->other;
        consider(list, notice, (NoticeKey){facts->id, 'm', i});
    }
}

static bool has_to_do_with(const NoticeList *list, uint64_t policy)
{
    return list->set->count > 0 &&
           bsearch(&policy, list->set->ids, list->set->count, sizeof policy, by_id) != NULL;
}

/* A merge into the policy stands in the row of what came. Who has to do with that is told of it there. */
static Status consider_joined(NoticeList *list, uint64_t policy, const PolicySource *listed)
{
    PolicyNews source;
    if (has_to_do_with(list, listed->source))
        return STATUS_OK;
    Status status = policies_news(list->votes->policies, listed->source, list->arena, &source);
    if (status == STATUS_NOT_FOUND || status == STATUS_CORRUPT)
        return STATUS_OK;
    TRY(status);
    for (size_t i = 0; i < source.facts.move_count; i++) {
        const PolicyMove *move = &source.facts.moves[i];
        if (move->state != POLICY_MERGED || move->other != policy ||
            !id_equal(move->id, listed->merge))
            continue;
        PolicyNotice notice = notice_about(policy, NOTICE_JOINED, move->actor, move->time_us);
        notice.other = listed->source;
        consider(list, notice, (NoticeKey){listed->source, 'm', i});
    }
    return STATUS_OK;
}

static Status consider_policy(NoticeList *list, const PolicyNews *news)
{
    uint64_t policy = news->facts.id;
    consider_moves(list, &news->facts);
    for (size_t i = 0; i < news->listed && i < JOINED_MAX; i++)
        TRY(consider_joined(list, policy, &news->sources[i]));
    if (news->edit.revision > 0)
        consider(list, notice_about(policy, NOTICE_EDITED, news->edit.editor, news->edit.time_us),
                 (NoticeKey){policy, 'r', news->edit.revision});
    return STATUS_OK;
}

static Status consider_answers(NoticeList *list)
{
    const PolicySet *set = list->set;
    AnswerNews *news = ARENA_ARRAY(list->arena, set->count, AnswerNews);
    TRY(answers_news(list->votes->policies, set->ids, set->count, list->arena, news));
    for (size_t i = 0; i < set->count; i++)
        if (news[i].revision > 0)
            consider(list,
                     notice_about(set->ids[i], NOTICE_ANSWERED, news[i].author, news[i].time_us),
                     (NoticeKey){set->ids[i], 'a', news[i].revision});
    return STATUS_OK;
}

static bool is_followed(const Followed *list, size_t count, const Policy *policy)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t group =
            list[i].kind == GROUP_CATEGORY ? policy->text.category : policy->text.party;
        if (group == list[i].group && policy->created_us > list[i].since_us)
            return true;
    }
    return false;
}

static Status consider_followed(NoticeList *list)
{
    Followed *followed;
    size_t count;
    PolicyPage page;
    PolicyQuery query = {.order = POLICIES_BY_DATE,
                         .prefix = SLICE_EMPTY,
                         .position = SLICE_EMPTY,
                         .limit = POLICIES_BROWSE_MAX};
    TRY(accounts_followed(list->votes->accounts, list->viewer, list->arena, &followed, &count));
    if (count == 0)
        return STATUS_OK;
    TRY(policies_browse(list->votes->policies, &query, list->arena, &page));
    for (size_t i = 0; i < page.count; i++) {
        const Policy *policy = &page.policies[i];
        if (is_followed(followed, count, policy))
            consider(list, notice_about(policy->id, NOTICE_NEW, policy->owner, policy->created_us),
                     (NoticeKey){policy->id, 'n', 0});
    }
    return STATUS_OK;
}

static Status consider_rights(NoticeList *list)
{
    RightsChange change;
    TRY(accounts_rights_change(list->votes->accounts, list->viewer, list->arena, &change));
    if (change.number == 0)
        return STATUS_OK;
    PolicyNotice notice = notice_about(0, NOTICE_RIGHTS, change.actor, change.time_us);
    notice.name = rights_change_words(&change, list->arena);
    notice.reason = change.reason;
    consider(list, notice, (NoticeKey){list->viewer, 'k', change.number});
    return STATUS_OK;
}

/* What commands did in the person's name, and what they showed. */
static Status consider_commands(NoticeList *list)
{
    AuditQuery query = {.since_us = list->after_us,
                        .object_kind = "account",
                        .object = list->viewer,
                        .instance = SLICE_EMPTY,
                        .limit = AUDIT_LIST_MAX};
    AuditEntry *entries;
    size_t count;
    if (list->votes->audit == NULL)
        return STATUS_OK;
    TRY(audit_list(list->votes->audit, &query, list->arena, &entries, &count));
    for (size_t i = 0; i < count; i++) {
        const AuditAct *act = &entries[i].act;
        bool is_read = act->kind == AUDIT_PERSON_READ;
        Slice id = id_text(entries[i].id, list->arena);
        if (!is_read && act->kind != AUDIT_PERSON_AS)
            continue;
        PolicyNotice notice =
            notice_about(0, is_read ? NOTICE_LOOKED_AT : NOTICE_IN_NAME, 0, entries[i].time_us);
        notice.command = act->details;
        notice.reason = act->reason;
        consider_keyed(
            list, notice,
            arena_print(list->arena, "%.*s%.*s", SLICE_ARG(NOTICE_COMMAND_KEY), SLICE_ARG(id)));
    }
    return STATUS_OK;
}

static Status fill_name(Votes *votes, PolicyNotice *notice, Arena *arena)
{
    Policy policy;
    Status status = policies_read(votes->policies, notice->policy, arena, &policy);
    if (status == STATUS_NOT_FOUND || status == STATUS_CORRUPT)
        return STATUS_OK;
    TRY(status);
    notice->name = policy.text.name.data != NULL ? policy.text.name : SLICE_EMPTY;
    return STATUS_OK;
}

/* Of the move, which for a merge into the policy stands in the other's row. */
static Status fill_reason(Votes *votes, PolicyNotice *notice, Arena *arena)
{
    Policy policy;
    uint64_t id = notice->kind == NOTICE_JOINED ? notice->other : notice->policy;
    if (notice->kind == NOTICE_EDITED || notice->kind == NOTICE_ANSWERED ||
        notice->kind == NOTICE_NEW)
        return STATUS_OK;
    Status status = policies_read(votes->policies, id, arena, &policy);
    if (status == STATUS_NOT_FOUND || status == STATUS_CORRUPT)
        return STATUS_OK;
    TRY(status);
    for (size_t i = 0; i < policy.facts.move_count; i++)
        if (policy.facts.moves[i].time_us == notice->time_us)
            notice->reason = policy.facts.moves[i].reason;
    return STATUS_OK;
}

/* The cache has no names and no reasons; those that are shown are read. */
static Status fill_words(Votes *votes, PolicyNotice *notice, Arena *arena)
{
    if (notice->policy == 0)
        return STATUS_OK;
    TRY(fill_name(votes, notice, arena));
    return fill_reason(votes, notice, arena);
}

static int64_t begin_us(Votes *votes, const Voter *voter, const Dismissed *dismissed)
{
    int64_t from_us = clock_now_us(votes->world.clock) - NOTICES_DAYS * S_PER_DAY * US_PER_S;
    if (from_us < voter->account.registered_us)
        from_us = voter->account.registered_us;
    return from_us > dismissed->until_us ? from_us : dismissed->until_us;
}

Status notices_list(Votes *votes, uint64_t account, Arena *arena, PolicyNotice **ret_notices,
                    size_t *ret_count)
{
    Voter voter;
    PolicySet set;
    Dismissed dismissed;
    TRY(votes_read_voter(votes, account, NO_TOKEN, arena, &voter));
    TRY(read_dismissed(votes, account, arena, &dismissed));
    TRY(collect_policies(votes, &voter, arena, &set));
    NoticeList *list = ARENA_NEW(arena, NoticeList);
    list->votes = votes;
    list->set = &set;
    list->viewer = account;
    list->after_us = begin_us(votes, &voter, &dismissed);
    list->dismissed = &dismissed;
    list->arena = arena;
    for (size_t i = 0; i < set.count; i++) {
        PolicyNews news;
        Status status = policies_news(votes->policies, set.ids[i], arena, &news);
        if (status == STATUS_NOT_FOUND || status == STATUS_CORRUPT)
            continue;
        TRY(status);
        TRY(consider_policy(list, &news));
    }
    TRY(consider_answers(list));
    TRY(consider_followed(list));
    TRY(consider_rights(list));
    TRY(consider_commands(list));
    for (size_t i = 0; i < list->count; i++)
        TRY(fill_words(votes, &list->notices[i], arena));
    *ret_notices = list->notices;
    *ret_count = list->count;
    return STATUS_OK;
}
