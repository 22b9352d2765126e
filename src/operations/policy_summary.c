/* policy_summary.c -- see policy_summary.h. A table of fixed size by hash of the id: a policy that meets another one in its place takes it. That
 * needs no list of use, and costs a read now and then. */
#include "operations/policy_summary.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "draw/markdown.h"
#include "operations/yesterday.h"

enum { SUMMARY_BYTES = 200, SLOT_BITS = 18, SLOTS = 1 << SLOT_BITS, LOCKS = 64 };
_Static_assert((int)SLOTS >= (int)POLICY_SUMMARIES_MAX, "room for all");

/* What is kept of a policy's row; the texts stand behind it, in the same allocation. */
typedef struct Kept {
    uint64_t id;
    ClockReading read_at;
    PolicyState state;
    uint64_t owner, category, party;
    int64_t created_us;
    size_t name_size, address_size, summary_size;
    char texts[];
} Kept;

struct PolicySummaries {
    App *app;
    Yesterday *yesterday;
    pthread_mutex_t locks[LOCKS];
    Kept **slots;
};

PolicySummaries *policy_summaries_new(App *app)
{
    PolicySummaries *summaries = calloc(1, sizeof *summaries);
    CHECK(summaries != NULL);
    summaries->app = app;
    summaries->yesterday = yesterday_new(app);
    summaries->slots = calloc(SLOTS, sizeof *summaries->slots);
    CHECK(summaries->slots != NULL);
    for (size_t i = 0; i < LOCKS; i++)
        CHECK(pthread_mutex_init(&summaries->locks[i], NULL) == 0);
    return summaries;
}

void policy_summaries_free(PolicySummaries *summaries)
{
    if (summaries == NULL)
        return;
    for (size_t i = 0; i < SLOTS; i++)
        free(summaries->slots[i]);
    for (size_t i = 0; i < LOCKS; i++)
        pthread_mutex_destroy(&summaries->locks[i]);
    yesterday_free(summaries->yesterday);
    free(summaries->slots);
    free(summaries);
}

/* The uppermost bits of the product: only they spread ids that follow each other evenly. */
static size_t slot_of(uint64_t id)
{
    return (size_t)(id * UINT64_C(0x9E3779B97F4A7C15) >> (64 - SLOT_BITS));
}

static void fill(const Kept *kept, Arena *arena, PolicySummary *summary)
{
    Slice texts = arena_copy(
        arena, slice_of(kept->texts, kept->name_size + kept->address_size + kept->summary_size));
    *summary =
        (PolicySummary){.id = kept->id,
                        .state = kept->state,
                        .owner = kept->owner,
                        .category = kept->category,
                        .party = kept->party,
                        .created_us = kept->created_us,
                        .name = slice_of(texts.data, kept->name_size),
                        .address = slice_of(texts.data + kept->name_size, kept->address_size)};
    summary->summary = slice_after(texts, kept->name_size + kept->address_size);
}

static bool take_kept(PolicySummaries *summaries, uint64_t id, Arena *arena, PolicySummary *summary)
{
    size_t slot = slot_of(id);
    pthread_mutex_lock(&summaries->locks[slot % LOCKS]);
    const Kept *kept = summaries->slots[slot];
    bool found =
        kept != NULL && kept->id == id &&
        clock_age_us(summaries->app->world.clock, kept->read_at) < POLICY_SUMMARIES_S * US_PER_S;
    if (found)
        fill(kept, arena, summary);
    pthread_mutex_unlock(&summaries->locks[slot % LOCKS]);
    return found;
}

static void put_kept(PolicySummaries *summaries, uint64_t id, Kept *kept)
{
    size_t slot = slot_of(id);
    pthread_mutex_lock(&summaries->locks[slot % LOCKS]);
    Kept *before = summaries->slots[slot];
    bool replaces = kept != NULL || (before != NULL && before->id == id);
    if (replaces)
        summaries->slots[slot] = kept;
    pthread_mutex_unlock(&summaries->locks[slot % LOCKS]);
    if (replaces)
        free(before);
}

void policy_summaries_forget(PolicySummaries *summaries, uint64_t policy)
{
    put_kept(summaries, policy, NULL);
}

static Kept *kept_of(const Policy *policy, ClockReading read_at, Arena *arena)
{
    Slice texts[] = {policy->text.name, policy_address(policy->id, policy->text.name, arena),
                     markdown_words(policy->text.description, SUMMARY_BYTES, arena)};
    Kept *kept = malloc(sizeof *kept + texts[0].size + texts[1].size + texts[2].size);
    CHECK(kept != NULL);
    *kept = (Kept){.id = policy->id,
                   .read_at = read_at,
                   .state = policy->facts.moves[policy->facts.move_count - 1].state,
                   .owner = policy->owner,
                   .category = policy->text.category,
                   .party = policy->text.party,
                   .created_us = policy->created_us,
                   .name_size = texts[0].size,
                   .address_size = texts[1].size,
                   .summary_size = texts[2].size};
    char *at = kept->texts;
    for (size_t i = 0; i < 3; i++) {
        if (texts[i].size > 0)
            memcpy(at, texts[i].data, texts[i].size);
        at += texts[i].size;
    }
    return kept;
}

Status policy_summary_name(PolicySummaries *summaries, uint64_t id, Arena *arena,
                           PolicySummary *ret_summary)
{
    Policy policy;
    ClockReading read_at = clock_reading(summaries->app->world.clock);
    if (take_kept(summaries, id, arena, ret_summary))
        return STATUS_OK;
    TRY(policies_read(summaries->app->policies, id, arena, &policy));
    if (policy.revision == 0)
        return STATUS_NOT_FOUND;
    Kept *kept = kept_of(&policy, read_at, arena);
    fill(kept, arena, ret_summary);
    put_kept(summaries, id, kept);
    return STATUS_OK;
}

static Status name_groups(PolicySummaries *summaries, PolicySummary *summary, Arena *arena)
{
    Policies *policies = summaries->app->policies;
    TRY(policies_group_name(policies, GROUP_CATEGORY, summary->category, arena,
                            &summary->category_name));
    return policies_group_name(policies, GROUP_PARTY, summary->party, arena, &summary->party_name);
}

Status policy_summary_get(PolicySummaries *summaries, uint64_t policy, Arena *arena,
                          PolicySummary *ret_summary)
{
    PolicySummary summary;
    TRY(policy_summary_name(summaries, policy, arena, &summary));
    TRY(name_groups(summaries, &summary, arena));
    (void)!ranking_days(summaries->app->ranking, policy, summary.days,
                        POLICY_SUMMARY_DAYS); /* none: flat */
    *ret_summary = summary;
    return STATUS_OK;
}

Status policy_summaries_ranking(PolicySummaries *summaries, const RankQuery *query, uint64_t offset,
                                uint32_t limit, Arena *arena, PolicySummaryPage *ret_page)
{
    RankPage page;
    TRY(ranking_page(summaries->app->ranking, query, offset, limit, arena, &page));
    PolicySummaryPage result = {.summaries = ARENA_ARRAY(arena, page.count, PolicySummary),
                                .policies = page.policies,
                                .as_of_us = page.as_of_us};
    for (size_t i = 0; i < page.count; i++) {
        PolicySummary *summary = &result.summaries[result.count];
        const RankRow *row = &page.rows[i];
        Status status = policy_summary_name(summaries, row->policy, arena, summary);
        if (status == STATUS_NOT_FOUND)
            continue;
        TRY(status);
        TRY(name_groups(summaries, summary, arena));
        summary->rank = row->rank;
        summary->votes = row->votes;
        summary->total = row->total;
        (void)!ranking_days(summaries->app->ranking, row->policy, summary->days,
                            POLICY_SUMMARY_DAYS);
        yesterday_compare(summaries->yesterday, query, summary);
        result.count++;
    }
    *ret_page = result;
    return STATUS_OK;
}

void policy_summaries_mine(const MergedLine *lines, size_t line_count, PolicySummary *summaries,
                           size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < line_count; k++)
            if (lines[k].policy == summaries[i].id)
                summaries[i].mine = lines[k].held;
}

Status policy_summaries_refresh_yesterday(PolicySummaries *summaries)
{
    return yesterday_refresh(summaries->yesterday);
}

void policy_summary_in_public(PolicySummaries *summaries, uint64_t policy, Arena *arena,
                              Slice *ret_name, Slice *ret_address)
{
    PolicySummary summary;
    bool is_shown = policy_summary_name(summaries, policy, arena, &summary) == STATUS_OK &&
                    summary.state != POLICY_PENDING_DELETION && summary.state != POLICY_DELETED;
    *ret_name = is_shown ? summary.name
                         : arena_print(arena, "Policy %llu, which is not shown",
                                       (unsigned long long)policy);
    *ret_address = is_shown ? summary.address
                            : arena_print(arena, "/policies/%llu", (unsigned long long)policy);
}
