/* moderation.h -- what moderators work with, and what everybody may see of it: reports, featured policies, the public audit log.
 *
 * A view is filled by one function, and written by a template (moderation.html, pages/report.html). What is done goes
 * through operations. */
#pragma once

#include "operations/audit_list.h"
#include "operations/featured.h"
#include "operations/people_appeals.h"
#include "operations/report_list.h"
#include "operations/report_moves.h"
#include "site/forms.h"
#include "site/policies/policy_views.h"

/* Who has a desk, and who works off reports. */
enum {
    MODERATION_ROLES = 1 << ROLE_MODERATE_POLICIES | 1 << ROLE_FEATURE | 1 << ROLE_EDIT_POLICIES |
                       1 << ROLE_RESPOND | REPORT_ROLES,
    MODERATION_REPORTS = REPORT_ROLES,
    MODERATION_FEATURE = 1 << ROLE_FEATURE,
};

/* ---- Making a report (report.c) ------------------------------------------------------------------------------------------- */

/* The form of a visitor or of somebody who is logged in, about a policy or about trouble with logging in. */
typedef struct ReportPageView {
    Form form;
    Slice back; /* where one came from */
    Slice policy_name;
    bool is_trouble, is_known;
} ReportPageView;

/* ---- One's own rights (appeal.c) ------------------------------------------------------------------------------------- */

typedef struct AppealPageView {
    Form form;
    int64_t now_us;
    RightsView rights;
} AppealPageView;

/* ---- Reports (reports.c) ----------------------------------------------------------------------------------------------------- */

typedef struct ReportLine {
    ReportView view;
    size_t more; /* others about the same policy, in the same list */
} ReportLine;

typedef struct ReportsView {
    int64_t now_us;
    ReportState state;
    ReportLine *lines; /* one for all that are about one policy */
    size_t count;
    Chooser states;
    Pager pager;
} ReportsView;

/* One report with all that can be done about it. */
typedef struct ReportCase {
    Form form;
    int64_t now_us;
    ReportView report;
    ReportView *others;          /* about the same policy, whatever their state */
    size_t other_count, waiting; /* waiting: those of them that this viewer could close */
    bool may_delete, may_merge, may_retire, may_restore, may_people;
} ReportCase;

/* ---- The desk itself --------------------------------------------------------------------------------------------------------- */

typedef struct ModerationView {
    const Viewer *viewer;
    bool has_reports, has_feature, has_answers;
    size_t open, mine; /* reports that wait; that the viewer has taken */
    bool open_more;    /* there are more than that */
    size_t featured;   /* shown now */
    const struct AnswerDue
        *due; /* policies that wait for an official answer (operations/answers.h) */
    size_t due_count;
    int64_t oldest_us; /* since when the oldest waits; 0: none does */
    int64_t now_us;
} ModerationView;

/* ---- Featured policies (featured.c) ------------------------------------------------------------------------------------------ */

typedef struct FeaturedPage {
    Form form;
    FeaturedList list;
} FeaturedPage;

/* ---- The public log (audit_list.c) ------------------------------------------------------------------------------------------ */

typedef struct PublicActsView {
    int64_t now_us;
    uint64_t policy; /* only about this one; 0: all */
    Slice policy_name;
    PublicActList list;
} PublicActsView;
