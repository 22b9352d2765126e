/* views.h -- what the public pages show, and programs get as JSON: filled by one function each, written by a template or by the
 * API. All that a view points to lives in the arena that it was filled with. */
#pragma once

#include "site/hot.h"
#include "site/inside.h"
#include "site/parts.h"

/* What a page that says rules in words needs: the settings in force now. */
MUST_USE Status site_settings(Site *site, Arena *arena, VotingSettings *ret_settings);
/* Puts what the viewer holds on each card; nothing for visitors, and nothing when it cannot be read. */
void site_mark_mine(WebRequest *request, CardPage *page);

/* ---- Front page (front.c) --------------------------------------------------------------------------------------------- */

enum { FRONT_ROWS = 10, FRONT_HOT = 6, FRONT_OWN = 5, FRONT_OWN_LOOKED = 15 };

/* What the front page shows to everybody. */
typedef struct FrontView {
    int64_t now_us;
    Arena *arena; /* for what templates draw */
    Slice site_name;
    VotingSettings settings;
    CardPage recent, ever, featured; /* featured: chosen by those with that role */
    HotGroup *hot;
    size_t hot_count;
    Gaps *gaps; /* where the viewer's own goes */
} FrontView;

/* What it shows to one viewer. */
typedef struct FrontOwn {
    int64_t now_us;
    Slice site_name;
    VotingSettings settings;
    bool is_known;
    int64_t balance, next_salary_us;
    PolicyCard cards[FRONT_OWN]; /* the policies that they hold most on */
    size_t count;
} FrontOwn;
MUST_USE Status front_view(Site *site, Arena *arena, FrontView *ret_view);

/* ---- Rankings (ranking.c) ----------------------------------------------------------------------------------------------- */

enum { RANKING_ROWS = 50 };
#define RANKING_OFFSET_MOST INT64_C(1000000000)

typedef struct RankingView {
    int64_t now_us;
    Arena *arena;
    RankQuery query;
    Slice group_name; /* of the category or party; empty: of all */
    CardPage page;
    Chooser windows;
    Group *categories, *parties;
    size_t category_count, party_count;
    Pager pager;
    FormFault fault;   /* both a category and a party were asked for; the category is shown */
    const char *topic; /* of its live events, or NULL for pages that have none */
} RankingView;

/* A filter by category or party. */
typedef struct GroupSelect {
    const char *name, *label;
    const Group *groups;
    size_t count;
    uint64_t chosen;        /* 0: all */
    const FormFault *fault; /* or NULL */
} GroupSelect;

typedef struct RankingWish {
    RankQuery query;
    uint64_t offset;
    Slice path; /* of the page: /ranking, or that of a category or party */
} RankingWish;
MUST_USE Status ranking_view(Site *site, const RankingWish *wish, Arena *arena,
                             RankingView *ret_view);
/* "in the last 3 days", "today", "ever": after "most votes". */
Slice window_words(uint32_t days, Arena *arena);

/* ---- Browsing (browse.c) ------------------------------------------------------------------------------------------------- */

enum { BROWSE_ROWS = 50, BROWSE_POSITION_MOST = 1024 };

/*    order, word in addresses, words for people */
#define BROWSE_ORDER_LIST(X)        \
    X(NAME, "name", "By name")      \
    X(DATE, "date", "Newest first") \
    X(RANK, "rank", "By votes")
typedef enum BrowseOrder {
#define X(name, word, text) BROWSE_BY_##name,
    BROWSE_ORDER_LIST(X)
#undef X
        BROWSE_ORDERS
} BrowseOrder;
extern const char *const BROWSE_WORDS[]; /* ended by NULL */

typedef struct BrowseWish {
    BrowseOrder order;
    uint64_t category, party; /* 0: all */
    Slice name;               /* the beginning of the name; then the order is by name */
    Slice position;           /* as a page gave it; empty: from the beginning */
    uint64_t offset;          /* by rank */
} BrowseWish;

typedef struct BrowseView {
    int64_t now_us;
    BrowseWish wish;
    PolicyCard *cards; /* rank and total are those of all votes */
    size_t count;
    bool more;
    Slice position; /* of the next page, in letters for addresses */
    Chooser orders;
    Group *categories, *parties;
    size_t category_count, party_count;
    Pager pager;
    FormFault fault;
} BrowseView;
/* INVALID for a position that was not given by a page. */
MUST_USE Status browse_view(Site *site, const BrowseWish *wish, Arena *arena, BrowseView *ret_view);

/* ---- Categories and parties (groups.c) ------------------------------------------------------------------------------------- */

typedef struct GroupEntry {
    Group group;
    Slice address;
    uint64_t policies;
    bool has_leader;
    PolicyCard leader; /* by all votes */
} GroupEntry;

typedef struct GroupsView {
    GroupKind kind;
    GroupEntry *entries;
    size_t count;
} GroupsView;
MUST_USE Status groups_view(Site *site, GroupKind kind, Arena *arena, GroupsView *ret_view);

typedef struct GroupView {
    GroupKind kind;
    Group group;
    Slice address;
    RankingView ranking;
} GroupView;
/* NOT_FOUND: no such group. */
MUST_USE Status group_view(Site *site, GroupKind kind, uint64_t id, const RankingWish *wish,
                           Arena *arena, GroupView *ret_view);
/* "/categories/3-environment", "/parties/2". */
Slice group_address(GroupKind kind, uint64_t id, Slice name, Arena *arena);

/* ---- Words about the site (about.c) --------------------------------------------------------------------------------------- */

typedef struct AboutView {
    Slice site_name;
    VotingSettings settings;
    uint64_t policies; /* in the ranking of all votes */
} AboutView;
MUST_USE Status about_view(Site *site, Arena *arena, AboutView *ret_view);

/* ---- Feeds and small pictures (feed.c, embed.c) ------------------------------------------------------------------------------ */

typedef struct FeedEntry {
    PolicyCard card;
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
    PolicyCard card;
    Slice site_name, url, name; /* the name cut for the picture */
    uint64_t rank;              /* 0: in no ranking */
    int64_t total;
} CountView;
