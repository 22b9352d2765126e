/* policy_views.h -- what the pages of one policy show, and programs get as JSON: filled by one function each.
 *
 * All begin with a PolicyHead: the policy, what it is called and where, and what this viewer may do with it.
 *   1. A policy that is not there is NOT_FOUND; so is one that never came to be (void), and for others than its creator one that
 *      is not there yet (pending).
 *   2. Of a policy that waits for its deletion only its owner and moderators see name and texts (`is_hidden` for all others:
 *      policy.text is empty then, so that no page can show it by mistake); of a deleted one nobody does.
 *   3. What a voter holds is only ever in a view that was filled for that voter. */
#pragma once

#include "draw/charts.h"
#include "operations/answers.h"
#include "operations/policy_head.h"
#include "operations/policy_history.h"
#include "operations/rankings.h"
#include "operations/revisions.h"
#include "site/forms.h"
#include "site/views.h"

/* ---- The policy page (policy.c) ----------------------------------------------------------------------------------------- */

typedef struct PlaceView {
    bool is_there;
    uint32_t days; /* 0: all votes */
    RankPlace place;
    bool has_above, has_below; /* and they could be read */
    PolicySummary above, below;
} PlaceView;

enum { POLICY_DAYS = 31, POLICY_MEMBERS_SHOWN = 20 };

typedef struct PolicyView {
    PolicyHead head;
    Arena *arena;
    Markup description, rationale;
    PlaceView recent, ever;
    int64_t percent; /* lost when taking away */
    int64_t total;
    ChartPoint days[POLICY_DAYS]; /* votes by day */
    size_t day_count;
    ChartPoint ranks[POLICY_DAYS]; /* in the window, at the ends of days */
    size_t rank_count;             /* 0: not known now */
    Markup days_chart, ranks_chart;
    PolicySummary *members; /* what was merged into it */
    size_t member_count, member_more;
    AnswerView answer;
    PageSlots *slots; /* where the viewer's own goes */
} PolicyView;

/* What is known of the page when the viewer's own is written into it. */
enum { POLICY_PLACES = 2, POLICY_ADDRESS_MAX = 256, POLICY_SLUG_MAX = 64 };
/* How much has happened to a policy; all of them only grow. */
typedef struct PolicyMarks {
    size_t moves, listed;
    uint32_t revision;
} PolicyMarks;
typedef struct PolicySharedPage {
    uint64_t id, owner;
    PolicyState state;
    PolicyMarks marks; /* from before it was drawn */
    bool is_hidden;
    int64_t percent;
    int64_t to_beat[POLICY_PLACES]; /* in the window, ever; 0: there is nothing to beat */
    char address[POLICY_ADDRESS_MAX], slug[POLICY_SLUG_MAX]; /* ended by NUL */
} PolicySharedPage;

/* The viewer's own on the page of a policy. */
typedef struct PolicyMine {
    const PolicySharedPage *shared_page;
    const Viewer *viewer;
    PolicyRights rights;
    bool is_known; /* logged in */
    bool may_vote; /* and confirmed, and the policy takes votes */
    int64_t held, free;
    int64_t withdrawn_centi; /* of the policy's own line: prices are rounded once over all */
    int64_t balance;
    int64_t want; /* what the field shows */
    Slice seen, token;
    bool is_watching;
    bool may_appeal;   /* the owner of a policy that waits for its deletion, */
    bool has_appealed; /* and who has not done so yet */
    int64_t final_us, now_us;
} PolicyMine;

/* ---- Its official answer (answer.c) --------------------------------------------------------------------------------------- */

typedef struct AnswerPage {
    Form form;
    PolicyHead head;
    AnswerView now;
} AnswerPage;

/* ---- Its past (policy_history.c) ------------------------------------------------------------------------------------------ */

typedef struct HistoryView {
    PolicyPast past;
    Arena *arena;
    Markup votes_chart, ranks_chart;
    Chooser spans, windows;
    Slice csv, json; /* addresses of the same figures */
    Slice until;     /* what the field shows */
    FormFault fault;
} HistoryView;

/* ---- Its texts (revisions.c) ------------------------------------------------------------------------------------------------ */

typedef struct RevisionsPage {
    RevisionsView list;
    Pager pager;
} RevisionsPage;
