/* report_list.h -- what people told the moderators, as every door shows it. The operations are in report_list.c: listing and showing
 * reports, taking, giving back and closing one. */
#pragma once

#include "operations/operation.h"

typedef struct ReportView {
    Report report;
    bool has_policy;
    Slice policy_name, policy_address;
    PolicyState policy_state;
    Slice reporter, moderator; /* names; of nobody that we know: "a visitor" */
    bool has_moderator;
    bool is_mine; /* the viewer has taken it */
} ReportView;
ReportView report_view(Operations *ops, const Report *report, const Actor *viewer, Arena *arena);

enum { REPORT_ROWS = 50 };

typedef struct ReportList {
    ReportView *reports;
    size_t count;
    Slice next; /* the query that goes on, "?state=open&after=…"; empty: this is the last page */
} ReportList;

typedef struct ReportListQuery {
    unsigned state; /* a ReportState */
    Id after;
} ReportListQuery;
MUST_USE Status report_lines(Operations *ops, const ReportListQuery *query, const Actor *viewer,
                             Arena *arena, ReportList *ret_list);
