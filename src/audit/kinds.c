/* kinds.c -- the kinds of acts and their outcomes, from the tables of audit.h. */
#include "audit/audit.h"

static const struct {
    const char *word;
    bool is_public;
    const char *object, *text;
} KINDS[] = {
#define X(name, word, is_public, object, text) {word, is_public, object, text},
    AUDIT_KIND_LIST(X)
#undef X
        {"", false, "", "Something was done that this version does not know"},
};

const char *const AUDIT_KIND_WORDS[] = WORDS(AUDIT_KIND_LIST, WORD_2);
const char *const AUDIT_OUTCOME_WORDS[] = WORDS(AUDIT_OUTCOME_LIST, WORD_2);
static const char *const OUTCOME_TEXTS[] = WORDS(AUDIT_OUTCOME_LIST, WORD_3);

const char *audit_kind_word(AuditKind kind)
{
    CHECK(kind <= AUDIT_KIND_COUNT);
    return KINDS[kind].word;
}

const char *audit_kind_text(AuditKind kind)
{
    CHECK(kind <= AUDIT_KIND_COUNT);
    return KINDS[kind].text;
}

bool audit_kind_is_public(AuditKind kind)
{
    CHECK(kind <= AUDIT_KIND_COUNT);
    return KINDS[kind].is_public;
}

const char *audit_kind_object(AuditKind kind)
{
    CHECK(kind <= AUDIT_KIND_COUNT);
    return KINDS[kind].object;
}

const char *audit_outcome_word(AuditOutcome outcome)
{
    return word_of(AUDIT_OUTCOME_WORDS, outcome);
}

const char *audit_outcome_text(AuditOutcome outcome)
{
    return word_of(OUTCOME_TEXTS, outcome);
}

/* CORRUPT may have been met in the middle of several steps. */
AuditOutcome audit_outcome_of(Status status)
{
    if (status == STATUS_OK)
        return AUDIT_DONE;
    return status == STATUS_UNKNOWN || status == STATUS_CORRUPT ? AUDIT_OPEN : AUDIT_NOT_DONE;
}
