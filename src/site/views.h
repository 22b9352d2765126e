/* views.h -- what the public pages show, and programs get as JSON: filled by one function each, written by a template or by the
 * API. All that a view points to lives in the arena that it was filled with. */
#pragma once

#include "operations/groups.h"
#include "operations/policy_browse.h"
#include "operations/policy_head.h"
#include "operations/privacy.h"
#include "operations/rankings.h"
#include "site/cached/trending.h"
#include "site/parts.h"
#include "site/site_private.h"

/* Puts what the viewer holds on each summary; nothing for visitors, and nothing when it cannot be read. */
void site_mark_mine(WebRequest *request, PolicySummaryPage *page);

/* ---- Front page (front.c) --------------------------------------------------------------------------------------------- */

enum { FRONT_ROWS = 10, FRONT_TRENDING = 6, FRONT_OWN = 5, FRONT_OWN_LOOKED = 15 };

/* What the front page shows to everybody. */
typedef struct FrontView {
    int64_t now_us;
    Arena *arena; /* for what templates draw */
    Slice site_name;
    VotingSettings settings;
    PolicySummaryPage recent, ever, featured; /* featured: chosen by those with that role */
    TrendingGroup *trending;
    size_t trending_count;
    PageSlots *slots; /* where the viewer's own goes */
} FrontView;

/* What it shows to one viewer. */
typedef struct FrontOwn {
    int64_t now_us;
    Slice site_name;
    VotingSettings settings;
    bool is_known, may_propose;
    AccountRight lost; /* where they may not propose: to vote, or to propose */
    int64_t balance, next_salary_us;
    PolicySummary summaries[FRONT_OWN]; /* the policies that they hold most on */
    size_t count;
} FrontOwn;

/* ---- Rankings (ranking.c) ----------------------------------------------------------------------------------------------- */

enum { RANKING_ROWS = 50 };

typedef struct RankingView {
    int64_t now_us;
    Arena *arena;
    RankQuery query;
    Slice at,
        now_address; /* the moment in the past that was asked for, as typed; empty: now. And the same ranking as it is now */
    Slice group_name; /* of the category or party; empty: of all */
    PolicySummaryPage page;
    Chooser windows;
    PolicyGroup *categories, *parties;
    size_t category_count, party_count;
    Pager pager;
    FormFault fault;   /* both a category and a party were asked for; the category is shown */
    const char *topic; /* of its live events, or NULL for pages that have none */
} RankingView;

/* A filter by category or party. */
typedef struct GroupSelect {
    const char *name, *label;
    const PolicyGroup *groups;
    size_t count;
    uint64_t chosen;        /* 0: all */
    const FormFault *fault; /* or NULL */
} GroupSelect;

typedef struct RankingPageQuery {
    RankQuery query;
    uint64_t offset;
    Slice path; /* of the page: /ranking, or that of a category or party */
    Slice at;   /* as in RankingView */
} RankingPageQuery;
MUST_USE Status ranking_view(Site *site, const RankingPageQuery *want, Arena *arena,
                             RankingView *ret_view, Reason *reason);
/* What such a page takes as RankingPageQuery.at. */
#define RANKING_AT_PARAM                                                                       \
    {                                                                                          \
        "at", WEB_QUERY, WEB_LINE,                                                             \
            .fallback = "", .least = 0, .most = HISTORY_UNTIL_MAX, .computes = true,           \
            .help = "As it was at a moment that is over (UTC), as in 2026-01-31 (its end) or " \
                    "2026-01-31T12:00."                                                        \
    }
/* "in the last 3 days", "in the 3 days before 31 January 2026, 12:00 UTC": after "most votes". */
Slice ranking_window_words(const RankingView *view);
/* "in the last 3 days", "today", "ever": after "most votes". */
Slice window_words(uint32_t days, Arena *arena);

/* ---- Browsing (browse.c) ------------------------------------------------------------------------------------------------- */

typedef struct BrowseView {
    BrowseList list;
    int64_t now_us;
    Chooser orders;
    PolicyGroup *categories, *parties;
    size_t category_count, party_count;
    Pager pager;
    FormFault fault;
} BrowseView;

/* ---- Categories and parties (groups.c) ------------------------------------------------------------------------------------- */

typedef struct GroupView {
    GroupKind kind;
    PolicyGroup group;
    Slice address;
    RankingView ranking;
} GroupView;

/* ---- Words about the site (about.c) --------------------------------------------------------------------------------------- */

typedef struct AboutView {
    Slice site_name;
    VotingSettings settings;
    uint64_t policies; /* in the ranking of all votes */
    PrivacyView privacy;
} AboutView;

/* ---- Feeds and small pictures (feed.c, embed.c) ------------------------------------------------------------------------------ */

typedef struct FeedEntry {
    PolicySummary summary;
    bool is_rising;      /* else it is new, or answered: */
    const char *outcome; /* of its official answer; NULL: it is not about that */
    Slice id, url;
    Slice updated; /* RFC 3339 */
    uint32_t days; /* rising: of the window */
} FeedEntry;

typedef struct FeedView {
    Slice site_name, public_url, updated;
    FeedEntry *entries;
    size_t count;
} FeedView;

typedef struct SitemapEntry {
    Slice url, changed;
} SitemapEntry;

typedef struct SitemapView {
    SitemapEntry *entries;
    size_t count;
} SitemapView;

typedef struct CountView {
    PolicySummary summary;
    Slice site_name, url, name; /* the name cut for the picture */
    uint64_t rank;              /* 0: in no ranking */
    int64_t total;
} CountView;
