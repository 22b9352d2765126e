/* kinds.c -- the kinds of acts and their outcomes, from the tables of audit.h. */
#include "audit/audit.h"

static const struct {
    const char *word;
    bool is_public;
    const char *object, *text;
} KINDS[] = {
#define X(name, word, is_public, object, text) {word, is_public, object, text},
    ACT_KIND_LIST(X)
#undef X
        {"", false, "", "Something was done that this version does not know"},
};

static const struct {
    const char *word, *text;
} OUTCOMES[] = {
#define X(name, word, text) {word, text},
    AUDIT_OUTCOME_LIST(X)
#undef X
};

const char *act_kind_word(ActKind kind)
{
    CHECK(kind <= ACT_KIND_COUNT);
    return KINDS[kind].word;
}

const char *act_kind_text(ActKind kind)
{
    CHECK(kind <= ACT_KIND_COUNT);
    return KINDS[kind].text;
}

bool act_kind_is_public(ActKind kind)
{
    CHECK(kind <= ACT_KIND_COUNT);
    return KINDS[kind].is_public;
}

const char *act_kind_object(ActKind kind)
{
    CHECK(kind <= ACT_KIND_COUNT);
    return KINDS[kind].object;
}

Status act_kind_from(Slice word, ActKind *ret_kind)
{
    for (int i = 0; i < ACT_KIND_COUNT; i++)
        if (slice_equal(word, slice_from(KINDS[i].word))) {
            *ret_kind = (ActKind)i;
            return STATUS_OK;
        }
    return STATUS_NOT_FOUND;
}

const char *audit_outcome_word(AuditOutcome outcome)
{
    CHECK(outcome < AUDIT_OUTCOME_COUNT);
    return OUTCOMES[outcome].word;
}

const char *audit_outcome_text(AuditOutcome outcome)
{
    CHECK(outcome < AUDIT_OUTCOME_COUNT);
    return OUTCOMES[outcome].text;
}

/* CORRUPT may have been met in the middle of several steps. */
AuditOutcome audit_outcome_of(Status status)
{
    if (status == STATUS_OK)
        return AUDIT_DONE;
    return status == STATUS_UNKNOWN || status == STATUS_CORRUPT ? AUDIT_OPEN : AUDIT_NOT_DONE;
}
