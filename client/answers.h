/* answers.h -- lines that the journal's server answers, read. Pure: no socket, no clock, no memory of its own.
 *
 * A line is a word and its fields, one space between two. ANSWERS in answers.c has the form of each; a line that has none of these forms is
 * NONSENSE. Texts of a parsed line are parts of it. */
#pragma once

#include "ostraka-journal.h"

enum { OJ_LINE_MAX = 4096, OJ_FIELDS = 10 };

typedef enum OjKind {
    OJ_NONSENSE,
    OJ_OK,      /* X-OK */
    OJ_PUT,     /* X-PUT outcome id due */
    OJ_CLAIMED, /* X-CLAIMED count next */
    OJ_ENTRY, /* X-ENTRY id token journal priority timeouts inserted due lease key-bytes data-bytes */
    OJ_DID,   /* X-DID word … */
    OJ_LISTENING, /* X-LISTENING count */
    OJ_READY,     /* X-READY journal count priority next */
    OJ_ERROR,     /* X-ERROR status field sentence */
    OJ_WORD,      /* an error of beanstalkd, alone on its line */
} OjKind;

typedef struct OjField {
    uint64_t number; /* INT64_MAX: a date that is not known */
    const char *text;
    size_t size;
} OjField;

typedef struct OjAnswer {
    OjKind kind;
    OstrakaJournalStatus status; /* of an ERROR and a WORD */
    OjField fields[OJ_FIELDS];
} OjAnswer;

/* `line` is without its CR LF. */
OjKind oj_answer_parse(const char *line, size_t size, OjAnswer *ret_answer);
/* The next word of a DID's only field: false at its end. A word that is none is UNKNOWN. */
bool oj_answer_next_step(OjField *rest, OstrakaJournalStatus *ret_status);
bool oj_name_is_valid(const char *name, size_t size);
