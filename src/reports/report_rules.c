/* report_rules.c -- see report_rules.h. */
#include "reports/report_rules.h"

#include "base/world.h"

const char *const REPORT_STATE_WORDS[] = WORDS(REPORT_STATE_LIST, WORD_2);
const char *const REPORT_KIND_WORDS[] = WORDS(REPORT_KIND_LIST, WORD_2);
static const char *const STATE_TEXTS[] = WORDS(REPORT_STATE_LIST, WORD_3);
static const char *const KIND_TEXTS[] = WORDS(REPORT_KIND_LIST, WORD_3);

const char *report_state_word(ReportState state)
{
    return word_of(REPORT_STATE_WORDS, state);
}

const char *report_state_text(ReportState state)
{
    return word_of(STATE_TEXTS, state);
}

const char *report_kind_text(ReportKind kind)
{
    return word_of(KIND_TEXTS, kind);
}

bool report_is_closed(ReportState state)
{
    return state == REPORT_ACTED || state == REPORT_DISMISSED;
}

bool report_is_obliterated(const Report *report)
{
    return report->words.size == 0;
}

/* What stands is just what was asked for: the answer to the first time was lost. */
static bool stands(const Report *report, const ReportMove *move)
{
    if (report->state != move->state)
        return false;
    return move->state == REPORT_OPEN ||
           (report->moderator == move->moderator && slice_equal(report->reason, move->reason));
}

Status report_judge(const Report *report, const ReportMove *move, int64_t now_us, bool *ret_write,
                    Reason *reason)
{
    bool is_mine = move->moderator == 0 || report->moderator == move->moderator;
    bool is_forgotten = now_us - report->since_us >= REPORT_HELD_S * US_PER_S;
    CHECK(move->state < REPORT_STATE_COUNT);
    if (stands(report, move)) {
        *ret_write = false;
        return STATUS_OK;
    }
    if (report_is_closed(report->state))
        return reason_set(reason, STATUS_CONFLICT, "", "this report is closed already");
    if (report->state == REPORT_TAKEN && !is_mine && !(is_forgotten && move->state == REPORT_TAKEN))
        return reason_set(reason, STATUS_CONFLICT, "", "somebody else has taken this report");
    *ret_write = true;
    return STATUS_OK;
}
