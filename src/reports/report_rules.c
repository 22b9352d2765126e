/* report_rules.c -- see report_rules.h. */
#include "reports/report_rules.h"

#include "base/world.h"

typedef struct Words {
    const char *word, *text;
} Words;

static const Words STATES[] = {
#define X(name, word, text) {word, text},
    REPORT_STATE_LIST(X)
#undef X
};

static const Words KINDS[] = {
#define X(name, word, text) {word, text},
    REPORT_KIND_LIST(X)
#undef X
};

const char *report_state_word(ReportState state)
{
    CHECK(state < REPORT_STATE_COUNT);
    return STATES[state].word;
}

const char *report_state_text(ReportState state)
{
    CHECK(state < REPORT_STATE_COUNT);
    return STATES[state].text;
}

const char *report_kind_word(ReportKind kind)
{
    CHECK(kind < REPORT_KIND_COUNT);
    return KINDS[kind].word;
}

const char *report_kind_text(ReportKind kind)
{
    CHECK(kind < REPORT_KIND_COUNT);
    return KINDS[kind].text;
}

static int find_word(const Words *words, int count, Slice word)
{
    int i = 0;
    while (i < count && !slice_equal(word, slice_from(words[i].word)))
        i++;
    return i;
}

Status report_state_from(Slice word, ReportState *ret_state)
{
    int found = find_word(STATES, REPORT_STATE_COUNT, word);
    if (found == REPORT_STATE_COUNT)
        return STATUS_NOT_FOUND;
    *ret_state = (ReportState)found;
    return STATUS_OK;
}

Status report_kind_from(Slice word, ReportKind *ret_kind)
{
    int found = find_word(KINDS, REPORT_KIND_COUNT, word);
    if (found == REPORT_KIND_COUNT)
        return STATUS_NOT_FOUND;
    *ret_kind = (ReportKind)found;
    return STATUS_OK;
}

bool report_is_closed(ReportState state)
{
    return state == REPORT_ACTED || state == REPORT_DISMISSED;
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
