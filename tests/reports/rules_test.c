/* rules_test.c -- every state and every move: who may, and what stands already is fine. */
#include "base/world.h"
#include "reports/report_rules.h"
#include "test.h"

enum { ME = 5, OTHER = 6 };
#define NOW_US (INT64_C(1900000000) * US_PER_S)

static Report report_in(ReportState state, uint64_t moderator, int64_t held_s)
{
    return (Report){.id = 1,
                    .state = state,
                    .moderator = moderator,
                    .since_us = NOW_US - held_s * US_PER_S,
                    .reason = report_is_closed(state) ? SLICE("because") : SLICE_EMPTY};
}

static ReportMove move_to(ReportState state, uint64_t moderator)
{
    return (ReportMove){state, moderator, report_is_closed(state) ? SLICE("because") : SLICE_EMPTY};
}

typedef struct Case {
    ReportState from;
    uint64_t moderator; /* who has it */
    int64_t held_s;
    ReportState to;
    uint64_t by;
    Status expected;
    bool writes;
} Case;

TEST(who_may_move_a_report_where)
{
    static const Case CASES[] = {
        {REPORT_OPEN, 0, 0, REPORT_TAKEN, ME, STATUS_OK, true},
        {REPORT_OPEN, 0, 0, REPORT_OPEN, ME, STATUS_OK, false},
        {REPORT_OPEN, 0, 0, REPORT_DISMISSED, ME, STATUS_OK, true},
        {REPORT_OPEN, 0, 0, REPORT_ACTED, ME, STATUS_OK, true},
        {REPORT_TAKEN, ME, 0, REPORT_TAKEN, ME, STATUS_OK, false},
        {REPORT_TAKEN, ME, 0, REPORT_OPEN, ME, STATUS_OK, true},
        {REPORT_TAKEN, ME, 0, REPORT_ACTED, ME, STATUS_OK, true},
        {REPORT_TAKEN, ME, 0, REPORT_DISMISSED, ME, STATUS_OK, true},
        {REPORT_TAKEN, OTHER, 0, REPORT_TAKEN, ME, STATUS_CONFLICT, false},
        {REPORT_TAKEN, OTHER, REPORT_HELD_S - 1, REPORT_TAKEN, ME, STATUS_CONFLICT, false},
        {REPORT_TAKEN, OTHER, REPORT_HELD_S, REPORT_TAKEN, ME, STATUS_OK, true},
        {REPORT_TAKEN, OTHER, REPORT_HELD_S, REPORT_DISMISSED, ME, STATUS_CONFLICT, false},
        {REPORT_TAKEN, OTHER, REPORT_HELD_S, REPORT_OPEN, ME, STATUS_CONFLICT, false},
        {REPORT_TAKEN, OTHER, 0, REPORT_DISMISSED, ME, STATUS_CONFLICT, false},
        {REPORT_TAKEN, OTHER, 0, REPORT_OPEN, 0, STATUS_OK, true},
        {REPORT_TAKEN, OTHER, 0, REPORT_DISMISSED, 0, STATUS_OK, true},
        {REPORT_ACTED, ME, 0, REPORT_ACTED, ME, STATUS_OK, false},
        {REPORT_ACTED, OTHER, 0, REPORT_ACTED, ME, STATUS_CONFLICT, false},
        {REPORT_ACTED, ME, 0, REPORT_DISMISSED, ME, STATUS_CONFLICT, false},
        {REPORT_DISMISSED, ME, REPORT_HELD_S, REPORT_TAKEN, ME, STATUS_CONFLICT, false},
        {REPORT_DISMISSED, ME, 0, REPORT_OPEN, 0, STATUS_CONFLICT, false},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        const Case *one = &CASES[i];
        Report report = report_in(one->from, one->moderator, one->held_s);
        ReportMove move = move_to(one->to, one->by);
        Reason reason = {0};
        bool writes = false;
        Status status = report_judge(&report, &move, NOW_US, &writes, &reason);
        if (status != one->expected || writes != one->writes)
            test_fail(__FILE__, __LINE__, "case %zu: %s, writes %d", i, status_name(status),
                      writes);
        EXPECT((status == STATUS_OK) == (reason.rule[0] == '\0'));
    }
}

TEST(another_reason_is_not_the_same_closing)
{
    Report report = report_in(REPORT_DISMISSED, ME, 0);
    ReportMove move = {REPORT_DISMISSED, ME, SLICE("another")};
    bool writes;
    EXPECT_STATUS(report_judge(&report, &move, NOW_US, &writes, NULL), STATUS_CONFLICT);
}

TEST(words_lead_back_to_what_they_name)
{
    for (int i = 0; i < REPORT_STATE_COUNT; i++) {
        ReportState state;
        EXPECT_STATUS(word_find(REPORT_STATE_WORDS, slice_from(report_state_word((ReportState)i)),
                                "", &state, NULL),
                      STATUS_OK);
        EXPECT_I64(state, i);
    }
    ReportState state = REPORT_TAKEN;
    EXPECT_STATUS(word_find(REPORT_STATE_WORDS, SLICE("tea"), "", &state, NULL), STATUS_INVALID);
    EXPECT(state == REPORT_TAKEN);
}
