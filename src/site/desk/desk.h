/* desk.h -- what moderators work with, and what everybody may see of it: reports, featured policies, the public log of acts.
 *
 * A view is filled by one function, and written by a template (pages/desk.html, pages/report.html) or as JSON (api_desk.c). What is done
 * goes through desk_move, desk_feature and desk_unfeature, which note it in the log of acts before they do it. A crash between the two leaves
 * an entry whose outcome is not known; what was done is one conditional update (reports.h, featured.h). */
#pragma once

#include "policies/featured.h"
#include "site/policy_views.h"

/* Who has a desk, and who works off reports. */
enum {
    DESK_ROLES = 1 << ROLE_MODERATE_POLICIES | 1 << ROLE_FEATURE | 1 << ROLE_EDIT_POLICIES |
                 1 << ROLE_RESPOND,
    DESK_REPORTS = 1 << ROLE_MODERATE_POLICIES,
    DESK_FEATURE = 1 << ROLE_FEATURE,
};
enum { DESK_ROWS = 50, DESK_FIELD_MOST = 20000, DESK_LINE_MOST = 500 };

/* ---- Making a report (report.c) ------------------------------------------------------------------------------------------- */

/* The form of a visitor or of somebody who is logged in, about a policy or about trouble with logging in. */
typedef struct ReportForm {
    const Viewer *viewer;
    Slice action, back; /* where it is sent; where one came from */
    bool is_trouble;
    Slice policy_name;
    Slice words, email; /* as typed */
    FormFault fault;
} ReportForm;

/* Throttled, checked, made. For pages and programs; `report->account` is filled in. */
MUST_USE Status desk_report(WebRequest *request, NewReport *report, uint64_t *ret_id);

/* ---- Reports (reports.c, views.c) -------------------------------------------------------------------------------------------- */

typedef struct ReportView {
    Report report;
    bool has_policy;
    Slice policy_name, policy_address;
    PolicyState policy_state;
    Slice reporter, moderator; /* names; of nobody that we know: "a visitor" */
    bool has_moderator;
    bool is_mine; /* the viewer has taken it */
    size_t more;  /* others about the same policy, in the same list */
} ReportView;

MUST_USE Status report_view(Site *site, const Report *report, uint64_t viewer, Arena *arena,
                            ReportView *ret_view);

typedef struct ReportsView {
    int64_t now_us;
    ReportState state;
    ReportView *reports; /* those about one policy are one line, with how many more */
    size_t count;
    Chooser states;
    Slice position; /* of the next page; empty: this is the last */
    Pager pager;
} ReportsView;

typedef struct ReportsWish {
    ReportState state;
    Id after;
    uint64_t viewer;
    bool is_whole; /* a line for each report */
} ReportsWish;
MUST_USE Status reports_view(Site *site, const ReportsWish *wish, Arena *arena,
                             ReportsView *ret_view);

/* One report with all that can be done about it. */
typedef struct ReportCase {
    int64_t now_us;
    ReportView report;
    ReportView *others;          /* about the same policy, whatever their state */
    size_t other_count, waiting; /* waiting: those of them that this viewer could close */
    bool may_delete, may_merge, may_retire, may_restore;
    const Viewer *viewer;
    Slice reason; /* as typed */
    FormFault fault;
    const char *title; /* when it is not known what became of a move */
} ReportCase;

/* The same for programs. */
typedef struct ApiReports {
    ReportView *reports;
    size_t count;
    Slice next;
} ApiReports;

/* Moves a report, and with `all` those about the same policy that nobody else has. Statuses as of reports_move; the words of a CONFLICT name
 * who has it. *ret_report is set on OK and CONFLICT. */
typedef struct DeskMove {
    uint64_t report;
    ReportState state;
    Slice reason;
    bool all;
} DeskMove;
MUST_USE Status desk_move(WebRequest *request, const DeskMove *move, Report *ret_report);

/* ---- The desk itself --------------------------------------------------------------------------------------------------------- */

typedef struct DeskView {
    const Viewer *viewer;
    bool has_reports, has_feature, has_answers;
    size_t open, mine;           /* reports that wait; that the viewer has taken */
    bool open_more;              /* there are more than that */
    size_t featured;             /* shown now */
    const struct AnswerDue *due; /* policies that wait for an official answer (acts.h) */
    size_t due_count;
    int64_t oldest_us; /* since when the oldest waits; 0: none does */
    int64_t now_us;
} DeskView;

/* ---- Featured policies (featured.c) ------------------------------------------------------------------------------------------ */

typedef struct FeaturedView {
    Featured featured;
    uint32_t place; /* 1 for the first */
    Slice name, address;
    bool is_shown, is_over; /* now; and its policy can be seen */
    bool is_there;
} FeaturedView;

typedef struct FeaturedList {
    int64_t now_us;
    FeaturedView *entries;
    size_t count;
    Slice next; /* none; lists have it */
} FeaturedList;
MUST_USE Status featured_view(Site *site, Arena *arena, FeaturedList *ret_list);

typedef struct FeaturedPage {
    FeaturedList list;
    const Viewer *viewer;
    Slice policy, place, from, until, reason; /* as typed */
    FormFault fault;
} FeaturedPage;

/* Statuses as of policies_feature and policies_unfeature. */
MUST_USE Status desk_feature(WebRequest *request, const FeatureWish *wish, Slice reason);
MUST_USE Status desk_unfeature(WebRequest *request, uint64_t policy, Slice reason);

/* ---- The public log (moderation.c) ------------------------------------------------------------------------------------------ */

typedef struct ActView {
    AuditEntry entry; /* of a public list */
    const char *sentence, *object_kind;
    bool has_object, has_other;
    Slice object_name, object_address, other_name, other_address;
} ActView;

typedef struct ActsView {
    int64_t now_us;
    uint64_t policy; /* only about this one; 0: all */
    Slice policy_name;
    ActView *acts;
    size_t count;
    Slice next; /* the address of the next page; empty: none */
} ActsView;

typedef struct ActsWish {
    uint64_t policy; /* 0: all */
    Id before;
    const char *path; /* of this list, for `next` */
} ActsWish;
MUST_USE Status acts_view(Site *site, const ActsWish *wish, Arena *arena, ActsView *ret_view);

/* What of a policy everybody may read: its name unless it is hidden or gone. */
void policy_in_public(Site *site, uint64_t policy, Arena *arena, Slice *ret_name,
                      Slice *ret_address);
