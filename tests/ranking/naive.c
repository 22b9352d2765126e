/* naive.c -- the ranking that is added up from nothing, and comparing with it: see site.h. */
#include "site.h"

/* Everything that any log and any policy says. */
typedef struct Truth {
    Policy policies[SITE_POLICIES_MAX];
    VoteDelta changes[100000];
    int64_t times[100000];
    size_t count;
} Truth;

static Truth truth;

static const PolicyFacts *find_facts(void *self, uint64_t id)
{
    (void)self;
    for (size_t i = 0; i < site.count; i++)
        if (site.ids[i] == id)
            return &truth.policies[i].facts;
    return NULL;
}

static const PolicyLookup TRUTH = {find_facts, NULL};

static void read_log(uint64_t voter)
{
    Entry *entries;
    size_t count;
    uint64_t before = 0;
    do {
        EXPECT_STATUS(votes_history(site.votes, voter, before, 100, site.arena, &entries, &count),
                      STATUS_OK);
        for (size_t i = 0; i < count; i++) {
            before = entries[i].seq;
            for (size_t k = 0; k < entries[i].change_count; k++) {
                const EntryChange *change = &entries[i].changes[k];
                CHECK(truth.count < sizeof truth.times / sizeof truth.times[0]);
                truth.times[truth.count] = entries[i].time_us;
                truth.changes[truth.count++] =
                    (VoteDelta){change->policy, change->held - change->before};
            }
        }
    } while (count > 0 && before > 1);
}

static void read_truth(void)
{
    truth.count = 0;
    for (size_t i = 0; i < site.count; i++)
        EXPECT_STATUS(policies_fresh(site.policies, site.ids[i], site.arena, &truth.policies[i]),
                      STATUS_OK);
    for (size_t i = 0; i < SITE_VOTERS; i++)
        read_log(site.voters[i]);
}

static int by_rank(const void *a, const void *b)
{
    const RankRow *left = a, *right = b;
    if (left->votes != right->votes)
        return left->votes > right->votes ? -1 : 1;
    return left->policy < right->policy ? -1 : left->policy > right->policy;
}

static void add_changes(RankRow *row, uint32_t days, uint32_t today, int64_t time_us)
{
    for (size_t i = 0; i < truth.count; i++) {
        PolicyStanding standing;
        if (truth.times[i] > time_us ||
            !policy_standing(&TRUTH, truth.changes[i].policy, time_us, &standing) ||
            standing.root != row->policy)
            continue;
        uint32_t day = count_day(truth.times[i]);
        row->total += truth.changes[i].change;
        if (days == 0 || (day <= today && day + days > today))
            row->votes += truth.changes[i].change;
    }
}

static Naive naive_of(const RankQuery *query, int64_t time_us)
{
    static Naive naive;
    uint32_t today = count_day(time_us == INT64_MAX ? clock_now_us(site.world.clock) : time_us);
    naive.count = 0;
    for (size_t i = 0; i < site.count; i++) {
        const Policy *policy = &truth.policies[i];
        const PolicyMove *move = policy_move_at(&policy->facts, time_us);
        if (move == NULL || !policy_state_listed(move->state) ||
            (query->category != 0 && policy->text.category != query->category) ||
            (query->party != 0 && policy->text.party != query->party))
            continue;
        RankRow *row = &naive.rows[naive.count++];
        *row = (RankRow){.policy = policy->id};
        add_changes(row, query->days, today, time_us);
    }
    qsort(naive.rows, naive.count, sizeof naive.rows[0], by_rank);
    for (size_t i = 0; i < naive.count; i++)
        naive.rows[i].rank = i + 1;
    return naive;
}

Naive site_naive(const RankQuery *query, int64_t time_us)
{
    read_truth();
    return naive_of(query, time_us);
}

/* ---- Comparing -------------------------------------------------------------------------------------------------------- */

static bool is_same(const RankRow *a, const RankRow *b)
{
    return a->rank == b->rank && a->policy == b->policy && a->votes == b->votes &&
           a->total == b->total;
}

static void check_pages(Ranking *ranking, const RankQuery *query, const Naive *naive)
{
    for (uint64_t offset = 0; offset <= naive->count;) {
        RankPage page;
        uint32_t limit = 1 + (uint32_t)site_below(20);
        EXPECT_STATUS(ranking_page(ranking, query, offset, limit, site.arena, &page), STATUS_OK);
        size_t expected = naive->count - offset < limit ? naive->count - offset : limit;
        EXPECT_I64(page.policies, naive->count);
        EXPECT_I64(page.count, expected);
        EXPECT_I64(page.as_of_us, clock_now_us(site.world.clock));
        for (size_t i = 0; i < page.count; i++)
            EXPECT(is_same(&page.rows[i], &naive->rows[offset + i]));
        offset += limit;
    }
}

static void check_places(Ranking *ranking, const RankQuery *query, const Naive *naive)
{
    for (size_t i = 0; i < site.count; i++) {
        RankPlace place;
        size_t at = 0;
        while (at < naive->count && naive->rows[at].policy != site.ids[i])
            at++;
        Status status = ranking_place(ranking, query, site.ids[i], &place);
        EXPECT_STATUS(status, at < naive->count ? STATUS_OK : STATUS_NOT_FOUND);
        if (status != STATUS_OK)
            continue;
        const RankRow *self = &naive->rows[at];
        EXPECT(is_same(&place.self, self));
        EXPECT_I64(place.policies, naive->count);
        EXPECT_I64(place.has_above, at > 0);
        EXPECT_I64(place.has_below, at + 1 < naive->count);
        EXPECT(at == 0 || is_same(&place.above, self - 1));
        EXPECT(at + 1 == naive->count || is_same(&place.below, self + 1));
        /* With so many more it stands before the one above, and with one less it does not. */
        if (at > 0) {
            RankRow more = *self, less = *self;
            more.votes += place.to_beat;
            less.votes += place.to_beat - 1;
            EXPECT(by_rank(&more, self - 1) < 0 && by_rank(&less, self - 1) > 0);
        } else {
            EXPECT_I64(place.to_beat, 0);
        }
    }
}

static void check_ranks(Ranking *ranking, const RankQuery *query, const Naive *naive)
{
    uint64_t *ranks = ARENA_ARRAY(site.arena, site.count, uint64_t);
    EXPECT_STATUS(ranking_ranks(ranking, query, site.ids, site.count, ranks), STATUS_OK);
    for (size_t i = 0; i < site.count; i++) {
        size_t at = 0;
        while (at < naive->count && naive->rows[at].policy != site.ids[i])
            at++;
        EXPECT_I64(ranks[i], at < naive->count ? at + 1 : 0);
    }
}

static const RankQuery QUERIES[] = {{.days = 0},
                                    {.days = SITE_WINDOW},
                                    {.days = 1},
                                    {.days = 7},
                                    {.days = 31},
                                    {.days = 0, .category = 1},
                                    {.days = SITE_WINDOW, .category = 2},
                                    {.days = 2, .category = 3},
                                    {.days = 0, .party = 1},
                                    {.days = SITE_WINDOW, .party = 2},
                                    {.days = 5, .party = 1},
                                    {.days = 0, .category = 77},
                                    {.days = 4, .party = 77}};

void site_check_pages(Ranking *ranking, const RankQuery *query)
{
    Naive naive = site_naive(query, INT64_MAX);
    check_pages(ranking, query, &naive);
}

void site_check(Ranking *ranking)
{
    read_truth();
    for (size_t i = 0; i < sizeof QUERIES / sizeof QUERIES[0]; i++) {
        Naive naive = naive_of(&QUERIES[i], INT64_MAX);
        check_pages(ranking, &QUERIES[i], &naive);
        check_places(ranking, &QUERIES[i], &naive);
        check_ranks(ranking, &QUERIES[i], &naive);
    }
}

static void check_page_at(Ranking *ranking, const RankQuery *query, uint32_t hour)
{
    Naive naive = naive_of(query, ((int64_t)hour + 1) * HOUR_US - 1);
    uint64_t offset = site_below(naive.count + 1);
    RankPage page;
    EXPECT_STATUS(ranking_page_at(ranking, query, hour, offset, RANK_PAGE_MAX, site.arena, &page),
                  STATUS_OK);
    EXPECT_I64(page.policies, naive.count);
    EXPECT_I64(page.count, naive.count - offset);
    for (size_t i = 0; i < page.count; i++)
        EXPECT(is_same(&page.rows[i], &naive.rows[offset + i]));
}

static void check_history(Ranking *ranking, const RankQuery *query, uint64_t policy, uint32_t first,
                          uint32_t last)
{
    uint32_t hours[12];
    RankMoment moments[12];
    size_t count = 0;
    for (uint32_t hour = first; hour <= last && count < 12; hour += 1 + (uint32_t)site_below(40))
        hours[count++] = hour;
    EXPECT_STATUS(ranking_history(ranking, query, policy, hours, count, moments), STATUS_OK);
    for (size_t i = 0; i < count; i++) {
        Naive naive = naive_of(query, ((int64_t)hours[i] + 1) * HOUR_US - 1);
        RankRow row = {0};
        for (size_t k = 0; k < naive.count; k++)
            if (naive.rows[k].policy == policy)
                row = naive.rows[k];
        EXPECT_I64(moments[i].hour, hours[i]);
        EXPECT_I64(moments[i].rank, row.rank);
        EXPECT_I64(moments[i].votes, row.votes);
        EXPECT_I64(moments[i].total, row.total);
    }
}

void site_check_past(Ranking *ranking, uint32_t first)
{
    uint32_t now = (uint32_t)(clock_now_us(site.world.clock) / HOUR_US);
    CHECK(first < now);
    read_truth();
    for (size_t i = 0; i < sizeof QUERIES / sizeof QUERIES[0]; i++) {
        for (int k = 0; k < 3; k++)
            check_page_at(ranking, &QUERIES[i], first + (uint32_t)site_below(now - first));
        check_history(ranking, &QUERIES[i], site.ids[site_below(site.count)], first, now - 1);
    }
    check_page_at(ranking, &QUERIES[0], now - 1);
    check_page_at(ranking, &QUERIES[0], first);
}
