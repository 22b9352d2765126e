/* policy_summary.h -- policies as lists show them: name, address, group, votes, a small curve, and the places won since yesterday.
 *
 * A list of fifty policies must not read fifty rows with their texts, so what a summary needs of a policy's row is kept in memory:
 * at most POLICY_SUMMARIES_MAX policies, each for POLICY_SUMMARIES_S seconds, dropped at once when this instance changes it (policy_summaries_forget).
 * Ranks and votes are not kept: they come from the ranking, exact. */
#pragma once

#include "app/app.h"
#include "draw/slug.h"
#include "operations/schema.h"

typedef struct PolicySummaries PolicySummaries;

enum { POLICY_SUMMARIES_MAX = 200000, POLICY_SUMMARIES_S = 10, POLICY_SUMMARY_DAYS = 14 };

typedef struct PolicySummary {
    uint64_t id;
    Slice name, address; /* /policies/123-clean-rivers */
    Slice summary;       /* the first words of the description, without markup */
    PolicyState state;
    uint64_t owner;
    uint64_t category, party; /* party 0: none */
    Slice category_name, party_name;
    int64_t created_us;
    int64_t days[POLICY_SUMMARY_DAYS]; /* votes by day, the oldest first, today last */

    /* In the ranking that was asked for; rank 0: in none. */
    uint64_t rank;
    int64_t votes, total;
    bool has_change; /* it was in that ranking a day ago */
    int64_t change;  /* places won since */
    bool is_new;     /* it was not there a day ago */

    int64_t mine; /* filled by policy_summaries_mine */
} PolicySummary;

/* The state in answers: `unsigned` is what schemas hand over. */

PolicySummaries *policy_summaries_new(App *app);
void policy_summaries_free(PolicySummaries *summaries);
/* After an edit or a move. */
void policy_summaries_forget(PolicySummaries *summaries, uint64_t policy);

/* NOT_FOUND: there is no such policy, or its text is gone. */
MUST_USE Status policy_summary_get(PolicySummaries *summaries, uint64_t policy, Arena *arena,
                                   PolicySummary *ret_summary);
/* The same without groups and days: for long lists of names. */
MUST_USE Status policy_summary_name(PolicySummaries *summaries, uint64_t policy, Arena *arena,
                                    PolicySummary *ret_summary);
/* What of a policy everybody may read: its name unless it is hidden or gone. */
void policy_summary_in_public(PolicySummaries *summaries, uint64_t policy, Arena *arena,
                              Slice *ret_name, Slice *ret_address);
/* A page of a ranking; policies that vanish meanwhile are left out. */
typedef struct PolicySummaryPage {
    PolicySummary *summaries;
    size_t count;
    uint64_t policies; /* in the whole ranking */
    int64_t as_of_us;
} PolicySummaryPage;
MUST_USE Status policy_summaries_ranking(PolicySummaries *summaries, const RankQuery *query,
                                         uint64_t offset, uint32_t limit, Arena *arena,
                                         PolicySummaryPage *ret_page);
/* Puts what the voter holds on each into `mine`. */
void policy_summaries_mine(const MergedLine *lines, size_t line_count, PolicySummary *summaries,
                           size_t count);

/* Reads the ranks of a day ago, for the default window and for all votes; once an hour, by the site's own thread. */
MUST_USE Status policy_summaries_refresh_yesterday(PolicySummaries *summaries);
