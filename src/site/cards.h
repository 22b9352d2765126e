/* cards.h -- policies as lists show them: name, address, group, votes, a small curve, and the places won since yesterday.
 *
 * A list of fifty policies must not read fifty rows with their texts, so what a card needs of a policy's row is kept in memory:
 * at most CARDS_MOST policies, each for CARDS_S seconds, dropped at once when this instance changes it (cards_forget).
 * Ranks and votes are not kept: they come from the ranking, exact. */
#pragma once

#include "app/app.h"

typedef struct Cards Cards;

enum { CARDS_MOST = 200000, CARDS_S = 10, CARD_DAYS = 14 };

typedef struct PolicyCard {
    uint64_t id;
    Slice name, address; /* /policies/123-clean-rivers */
    Slice summary;       /* the first words of the description, without markup */
    PolicyState state;
    uint64_t owner;
    uint64_t category, party; /* party 0: none */
    Slice category_name, party_name;
    int64_t created_us;
    int64_t days[CARD_DAYS]; /* votes by day, the oldest first, today last */

    /* In the ranking that was asked for; rank 0: in none. */
    uint64_t rank;
    int64_t votes, total;
    bool has_change; /* it was in that ranking a day ago */
    int64_t change;  /* places won since */
    bool is_new;     /* it was not there a day ago */

    int64_t mine; /* filled by cards_mine */
} PolicyCard;

Cards *cards_new(App *app);
void cards_free(Cards *cards);
/* After an edit or a move. */
void cards_forget(Cards *cards, uint64_t policy);

/* NOT_FOUND: there is no such policy, or its text is gone. */
MUST_USE Status cards_one(Cards *cards, uint64_t policy, Arena *arena, PolicyCard *ret_card);
/* The same without groups and days: for long lists of names. */
MUST_USE Status cards_name(Cards *cards, uint64_t policy, Arena *arena, PolicyCard *ret_card);
/* A page of a ranking; policies that vanish meanwhile are left out. */
typedef struct CardPage {
    PolicyCard *cards;
    size_t count;
    uint64_t policies; /* in the whole ranking */
    int64_t as_of_us;
} CardPage;
MUST_USE Status cards_ranking(Cards *cards, const RankQuery *query, uint64_t offset, uint32_t limit,
                              Arena *arena, CardPage *ret_page);
/* Puts what the voter holds on each into `mine`. */
void cards_mine(const SeenLine *lines, size_t line_count, PolicyCard *cards, size_t count);

/* Reads the ranks of a day ago, for the default window and for all votes; once an hour, by the site's own thread. */
MUST_USE Status cards_refresh_yesterday(Cards *cards);

/* "/policies/123-clean-rivers": the id decides, the words are for people. */
Slice policy_address(uint64_t id, Slice name, Arena *arena);
/* The same under another path: "/categories/3-environment". */
Slice slug_address(const char *path, uint64_t id, Slice name, Arena *arena);
/* "clean-rivers": letters and digits of any script in lower case, without accents, joined by '-'; at most 60 bytes. */
Slice slug_of(Slice name, Arena *arena);
