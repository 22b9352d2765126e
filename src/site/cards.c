/* cards.c -- see cards.h. A table of fixed size by hash of the id: a policy that meets another one in its place takes it. That
 * needs no list of use, and costs a read now and then. */
#include "site/cards.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "site/markdown.h"
#include "site/yesterday.h"

enum { SUMMARY_BYTES = 200, SLOT_BITS = 18, SLOTS = 1 << SLOT_BITS, LOCKS = 64 };
_Static_assert((int)SLOTS >= (int)CARDS_MOST, "room for all");

/* What is kept of a policy's row; the texts stand behind it, in the same allocation. */
typedef struct Kept {
    uint64_t id;
    int64_t read_us; /* of the steady clock */
    PolicyState state;
    uint64_t owner, category, party;
    int64_t created_us;
    size_t name_size, address_size, summary_size;
    char texts[];
} Kept;

struct Cards {
    App *app;
    Yesterday *yesterday;
    pthread_mutex_t locks[LOCKS];
    Kept **slots;
};

Cards *cards_new(App *app)
{
    Cards *cards = calloc(1, sizeof *cards);
    CHECK(cards != NULL);
    cards->app = app;
    cards->yesterday = yesterday_new(app);
    cards->slots = calloc(SLOTS, sizeof *cards->slots);
    CHECK(cards->slots != NULL);
    for (size_t i = 0; i < LOCKS; i++)
        CHECK(pthread_mutex_init(&cards->locks[i], NULL) == 0);
    return cards;
}

void cards_free(Cards *cards)
{
    if (cards == NULL)
        return;
    for (size_t i = 0; i < SLOTS; i++)
        free(cards->slots[i]);
    for (size_t i = 0; i < LOCKS; i++)
        pthread_mutex_destroy(&cards->locks[i]);
    yesterday_free(cards->yesterday);
    free(cards->slots);
    free(cards);
}

/* The uppermost bits of the product: only they spread ids that follow each other evenly. */
static size_t slot_of(uint64_t id)
{
    return (size_t)(id * UINT64_C(0x9E3779B97F4A7C15) >> (64 - SLOT_BITS));
}

static void fill(const Kept *kept, Arena *arena, PolicyCard *card)
{
    Slice texts = arena_copy(
        arena, slice_of(kept->texts, kept->name_size + kept->address_size + kept->summary_size));
    *card = (PolicyCard){.id = kept->id,
                         .state = kept->state,
                         .owner = kept->owner,
                         .category = kept->category,
                         .party = kept->party,
                         .created_us = kept->created_us,
                         .name = slice_of(texts.data, kept->name_size),
                         .address = slice_of(texts.data + kept->name_size, kept->address_size)};
    card->summary = slice_after(texts, kept->name_size + kept->address_size);
}

static bool take_kept(Cards *cards, uint64_t id, int64_t oldest_us, Arena *arena, PolicyCard *card)
{
    size_t slot = slot_of(id);
    pthread_mutex_lock(&cards->locks[slot % LOCKS]);
    const Kept *kept = cards->slots[slot];
    bool found = kept != NULL && kept->id == id && kept->read_us >= oldest_us;
    if (found)
        fill(kept, arena, card);
    pthread_mutex_unlock(&cards->locks[slot % LOCKS]);
    return found;
}

static void put_kept(Cards *cards, uint64_t id, Kept *kept)
{
    size_t slot = slot_of(id);
    pthread_mutex_lock(&cards->locks[slot % LOCKS]);
    Kept *before = cards->slots[slot];
    bool replaces = kept != NULL || (before != NULL && before->id == id);
    if (replaces)
        cards->slots[slot] = kept;
    pthread_mutex_unlock(&cards->locks[slot % LOCKS]);
    if (replaces)
        free(before);
}

void cards_forget(Cards *cards, uint64_t policy)
{
    put_kept(cards, policy, NULL);
}

static Kept *kept_of(const Policy *policy, int64_t steady_us, Arena *arena)
{
    Slice texts[] = {policy->text.name, policy_address(policy->id, policy->text.name, arena),
                     markdown_words(policy->text.description, SUMMARY_BYTES, arena)};
    Kept *kept = malloc(sizeof *kept + texts[0].size + texts[1].size + texts[2].size);
    CHECK(kept != NULL);
    *kept = (Kept){.id = policy->id,
                   .read_us = steady_us,
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

Status cards_name(Cards *cards, uint64_t id, Arena *arena, PolicyCard *ret_card)
{
    Policy policy;
    int64_t steady_us = clock_steady_us(cards->app->world.clock);
    if (take_kept(cards, id, steady_us - CARDS_S * US_PER_S, arena, ret_card))
        return STATUS_OK;
    TRY(policies_read(cards->app->policies, id, arena, &policy));
    if (policy.revision == 0)
        return STATUS_NOT_FOUND;
    Kept *kept = kept_of(&policy, steady_us, arena);
    fill(kept, arena, ret_card);
    put_kept(cards, id, kept);
    return STATUS_OK;
}

static Status name_groups(Cards *cards, PolicyCard *card, Arena *arena)
{
    Policies *policies = cards->app->policies;
    TRY(policies_group_name(policies, GROUP_CATEGORY, card->category, arena, &card->category_name));
    return policies_group_name(policies, GROUP_PARTY, card->party, arena, &card->party_name);
}

Status cards_one(Cards *cards, uint64_t policy, Arena *arena, PolicyCard *ret_card)
{
    PolicyCard card;
    TRY(cards_name(cards, policy, arena, &card));
    TRY(name_groups(cards, &card, arena));
    (void)!ranking_days(cards->app->ranking, policy, card.days, CARD_DAYS); /* none: flat */
    *ret_card = card;
    return STATUS_OK;
}

Status cards_ranking(Cards *cards, const RankQuery *query, uint64_t offset, uint32_t limit,
                     Arena *arena, CardPage *ret_page)
{
    RankPage page;
    TRY(ranking_page(cards->app->ranking, query, offset, limit, arena, &page));
    CardPage result = {.cards = ARENA_ARRAY(arena, page.count, PolicyCard),
                       .policies = page.policies,
                       .as_of_us = page.as_of_us};
    for (size_t i = 0; i < page.count; i++) {
        PolicyCard *card = &result.cards[result.count];
        const RankRow *row = &page.rows[i];
        Status status = cards_name(cards, row->policy, arena, card);
        if (status == STATUS_NOT_FOUND)
            continue;
        TRY(status);
        TRY(name_groups(cards, card, arena));
        card->rank = row->rank;
        card->votes = row->votes;
        card->total = row->total;
        (void)!ranking_days(cards->app->ranking, row->policy, card->days, CARD_DAYS);
        yesterday_compare(cards->yesterday, query, card);
        result.count++;
    }
    *ret_page = result;
    return STATUS_OK;
}

void cards_mine(const SeenLine *lines, size_t line_count, PolicyCard *cards, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < line_count; k++)
            if (lines[k].policy == cards[i].id)
                cards[i].mine = lines[k].held;
}

Status cards_refresh_yesterday(Cards *cards)
{
    return yesterday_refresh(cards->yesterday);
}
