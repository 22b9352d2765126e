/* journal_rules_test.c -- the merge laws, the dates, the back-off, the order; and the indexes beside lists. */
#include "journal/heap.h"
#include "journal/ids.h"
#include "journal/journal_rules.h"
#include "journal/order.h"
#include "journal/table.h"
#include "test.h"

static uint64_t luck = 7;

static uint64_t draw(uint64_t below)
{
    luck += UINT64_C(0x9E3779B97F4A7C15);
    return table_mix(luck) % below;
}

static JournalFields random_fields(void)
{
    static const char *const DATA[] = {"", "a", "b", "ab", "abc"};
    return (JournalFields){.insertion_ms = 1000 + (int64_t)draw(4),
                           .expiration_ms = draw(3) == 0 ? 0 : 2000 + (int64_t)draw(3),
                           .wanted_ms = 1000 + (int64_t)draw(5),
                           .retry_ms = draw(2) == 0 ? 0 : 1500 + (int64_t)draw(3),
                           .update_ms = 1000 + (int64_t)draw(3),
                           .lease_ms = 1 + (int64_t)draw(3),
                           .priority = (uint32_t)draw(3),
                           .data = slice_from(DATA[draw(5)])};
}

static bool same(JournalFields a, JournalFields b)
{
    return a.insertion_ms == b.insertion_ms && a.expiration_ms == b.expiration_ms &&
           a.wanted_ms == b.wanted_ms && a.retry_ms == b.retry_ms && a.update_ms == b.update_ms &&
           a.lease_ms == b.lease_ms && a.priority == b.priority && slice_equal(a.data, b.data);
}

TEST(I12_merging_is_commutative_associative_and_idempotent)
{
    bool newer;
    for (size_t i = 0; i < 20000; i++) {
        JournalRules rules = {.process = draw(2) == 0 ? JOURNAL_LATEST : JOURNAL_EARLIEST};
        JournalFields a = random_fields(), b = random_fields(), c = random_fields();
        JournalFields ab = journal_merge(&rules, a, b, &newer);
        EXPECT(same(ab, journal_merge(&rules, b, a, &newer)));
        EXPECT(same(journal_merge(&rules, ab, c, &newer),
                    journal_merge(&rules, a, journal_merge(&rules, b, c, &newer), &newer)));
        EXPECT(same(ab, journal_merge(&rules, ab, b, &newer)) && !newer);
    }
}

TEST(keep_keeps_the_wanted_date_and_merges_the_rest)
{
    const JournalRules keep = {.process = JOURNAL_KEEP};
    bool newer;
    JournalFields have = {.wanted_ms = 500, .priority = 9, .update_ms = 5, .data = SLICE("old")};
    JournalFields put = {.wanted_ms = 900, .priority = 3, .update_ms = 6, .data = SLICE("new")};
    JournalFields both = journal_merge(&keep, have, put, &newer);
    EXPECT(newer && both.wanted_ms == 500 && both.priority == 3 &&
           slice_equal(both.data, put.data));
}

TEST(never_is_the_latest_expiration)
{
    const JournalRules rules = {.process = JOURNAL_LATEST};
    bool newer;
    EXPECT_I64(journal_merge(&rules, (JournalFields){.expiration_ms = 9},
                             (JournalFields){.expiration_ms = 0}, &newer)
                   .expiration_ms,
               0);
}

TEST(a_process_date_is_capped_and_never_before_the_insertion_or_the_retry)
{
    const JournalRules capped = {.max_defer_ms = 100}, free_ = {.max_defer_ms = 0};
    EXPECT_I64(journal_process_ms(&capped, 1000, 5000, 0), 1100);
    EXPECT_I64(journal_process_ms(&free_, 1000, 5000, 0), 5000);
    EXPECT_I64(journal_process_ms(&free_, 1000, 10, 0), 1000);
    EXPECT_I64(journal_process_ms(&capped, 1000, 5000, 7000), 7000);
}

TEST(an_insertion_date_is_believed_up_to_a_minute_ahead)
{
    const JournalRules rules = {.lease_ms = 1, .expire_ms = 500};
    bool ahead;
    JournalFields put = {.insertion_ms = 1000000 + JOURNAL_AHEAD_MS};
    EXPECT_I64(journal_fields(&rules, put, 1000000, &ahead).insertion_ms,
               1000000 + JOURNAL_AHEAD_MS);
    EXPECT(!ahead);
    put.insertion_ms++;
    JournalFields stored = journal_fields(&rules, put, 1000000, &ahead);
    EXPECT(ahead && stored.insertion_ms == 1000000 && stored.expiration_ms == 1000500);
}

TEST(the_backoff_doubles_up_to_its_bound)
{
    const JournalRules rules = {.backoff_ms = 1000, .backoff_max_ms = 3500};
    EXPECT_I64(journal_backoff_ms(&rules, 1), 1000);
    EXPECT_I64(journal_backoff_ms(&rules, 2), 2000);
    EXPECT_I64(journal_backoff_ms(&rules, 3), 3500);
    EXPECT_I64(journal_backoff_ms(&rules, 4000000000), 3500);
    EXPECT_I64(journal_backoff_ms(&(JournalRules){.backoff_max_ms = 5}, 9), 0);
}

TEST(the_counter_stops_at_its_limit_or_never)
{
    EXPECT(!journal_too_often(&(JournalRules){.timeouts = 3}, 3));
    EXPECT(journal_too_often(&(JournalRules){.timeouts = 3}, 4));
    EXPECT(!journal_too_often(&(JournalRules){.timeouts = JOURNAL_TIMEOUTS_NONE}, 4000000));
}

TEST(names_have_1_to_200_of_their_letters)
{
    char text[JOURNAL_NAME_MAX + 1];
    memset(text, 'a', sizeof text);
    EXPECT(journal_is_name(slice_of(text, JOURNAL_NAME_MAX)));
    EXPECT(!journal_is_name(slice_of(text, JOURNAL_NAME_MAX + 1)));
    EXPECT(!journal_is_name(SLICE_EMPTY) && !journal_is_name(SLICE("-a")) &&
           journal_is_name(SLICE("a-")));
    EXPECT(journal_is_name(SLICE("A9-+/;.$_()")) && !journal_is_name(SLICE("a b")) &&
           !journal_is_name(SLICE("a\0b")) && !journal_is_name(SLICE("\xC3\xA9")));
}

/* ---- Indexes ----------------------------------------------------------------------------------------------- */

typedef struct Item {
    uint64_t id;
    int64_t date;
    uint32_t priority, place;
    bool in;
} Item;

static bool item_before(const void *a, const void *b)
{
    const Item *left = a, *right = b;
    return left->date != right->date ? left->date < right->date : left->id < right->id;
}

static uint32_t item_priority(const void *item)
{
    return ((const Item *)item)->priority;
}

static int64_t item_date(const void *item)
{
    return ((const Item *)item)->date;
}

static const OrderKind KIND = {{item_before, offsetof(Item, place)}, item_priority, item_date};
enum { ITEMS = 300 };

static const Item *naive_due(const Item *items, int64_t now, uint32_t most)
{
    const Item *best = NULL;
    for (size_t i = 0; i < ITEMS; i++)
        if (items[i].in && items[i].date <= now && items[i].priority <= most &&
            (best == NULL || items[i].priority < best->priority ||
             (items[i].priority == best->priority && item_before(&items[i], best))))
            best = &items[i];
    return best;
}

static void compare_order(const Order *order, const Item *items, int64_t now, uint32_t most)
{
    int64_t next = INT64_MAX;
    size_t due = 0, below = 0;
    const Item *future = NULL;
    for (size_t i = 0; i < ITEMS; i++) {
        if (!items[i].in)
            continue;
        if (items[i].priority <= most && items[i].date < next)
            next = items[i].date;
        due += items[i].date <= now;
        below += items[i].date <= now && items[i].priority < most;
        if (items[i].date > now && (future == NULL || item_before(&items[i], future)))
            future = &items[i];
    }
    OrderSurvey survey = journal_order_survey(order, &KIND, now, most);
    EXPECT(journal_order_due(order, now, most) == naive_due(items, now, most));
    EXPECT_I64(journal_order_next(order, most), next);
    EXPECT(survey.due == due && survey.due_below == below && survey.first_future == future);
}

TEST(I2_the_order_finds_what_a_list_finds)
{
    static Item items[ITEMS];
    Order order = {.shape = 1};
    for (size_t i = 0; i < ITEMS; i++)
        items[i].id = i + 1;
    for (size_t i = 0; i < 20000; i++) {
        Item *item = &items[draw(ITEMS)];
        if (item->in) {
            journal_order_remove(&order, &KIND, item);
        } else {
            item->priority = (uint32_t)(draw(2) == 0 ? draw(4) : draw(1000) * 4000000);
            item->date = (int64_t)draw(50);
            journal_order_add(&order, &KIND, item);
        }
        item->in = !item->in;
        compare_order(&order, items, (int64_t)draw(60) - 5,
                      (uint32_t)(draw(2) == 0 ? draw(5) : UINT32_MAX));
    }
    journal_order_free(&order);
}

static uint64_t few_hashes(const void *item)
{
    return ((const Item *)item)->id % 7; /* long chains */
}

TEST(I2_the_table_finds_what_a_list_finds)
{
    static Item items[ITEMS];
    Table table = {.hash = few_hashes};
    for (size_t i = 0; i < ITEMS; i++)
        items[i] = (Item){.id = i};
    for (size_t i = 0; i < 5000; i++) {
        Item *item = &items[draw(ITEMS)];
        if (item->in)
            table_remove(&table, item);
        else
            table_add(&table, item);
        item->in = !item->in;
        uint64_t hash = draw(7);
        size_t found = 0, wanted = 0;
        const Item *each;
        for (size_t at = 0; (each = table_next(&table, hash, &at)) != NULL; found++)
            EXPECT(each->in && each->id % 7 == hash);
        for (size_t j = 0; j < ITEMS; j++)
            wanted += items[j].in && items[j].id % 7 == hash;
        EXPECT_I64(found, wanted);
    }
    table_free(&table);
}

TEST(I2_ids_are_found_and_walked_in_order)
{
    static Item items[4000];
    Ids ids = {0};
    uint64_t id = 0;
    size_t live = 0;
    for (size_t i = 0; i < 4000; i++) {
        id += 1 + (draw(10) == 0 ? draw(1000) : 0);
        items[i] = (Item){.id = id, .in = true};
        ids_add(&ids, id, &items[i]);
        for (Item *gone = &items[draw(i + 1)]; gone->in && draw(4) > 0;) {
            ids_remove(&ids, gone->id);
            gone->in = false;
        }
    }
    for (size_t i = 0; i < 4000; i++) {
        live += items[i].in;
        EXPECT(ids_find(&ids, items[i].id) == (items[i].in ? &items[i] : NULL));
        size_t place, next = i + 1;
        while (next < 4000 && !items[next].in)
            next++;
        EXPECT(ids_first(&ids, items[i].id, &place) == (next < 4000 ? &items[next] : NULL));
    }
    EXPECT_I64(ids.count, live);
    EXPECT(ids_find(&ids, 0) == NULL && ids_find(&ids, UINT64_MAX) == NULL);
    ids_free(&ids);
}
