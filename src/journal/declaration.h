/* declaration.h -- the operator's file of journals.
 *
 *     [journal recount]        a journal and its rules
 *     merge = yes
 *     field = policy u64 required
 *     [tubes]                  the rules of names that appear on use (beanstalkd's tubes)
 *     [group main]             journals of one group share files and syncs
 * Sections, then `name = value`; `#` begins a comment line. UTF-8, lines of at most 4 KiB. The names, their bounds and defaults are one
 * table (declaration.c), which docs/journal.md repeats.
 *   1. Anything unknown, repeated (but `field`), out of its bounds or contradictory is INVALID, with file, line and rule in the reason.
 *   2. Journals of one group share its files: what they say about files (shrink, shrink_above, wipe, period) must agree. */
#pragma once

#include "base/arena.h"
#include "journal/journal_rules.h"

enum {
    DECLARATION_LINE_MAX = 4096,
    DECLARATION_BYTES_MAX = 1024 * 1024,
    DECLARATION_JOURNALS_MAX = 1000,
    DECLARATION_GROUPS_MAX = 8,
    DECLARATION_FIELDS_MAX = 32,
    DECLARATION_ACCESS_MAX = 16,
    DECLARATION_KEY_VALUES_MAX =
        100000, /* of a body that a key is taken from; one with more has none */
};

typedef enum JournalShrink { JOURNAL_TRUNCATE, JOURNAL_DELETE, JOURNAL_RESET } JournalShrink;
typedef enum JournalPeriod {
    JOURNAL_PERIOD_NONE,
    JOURNAL_PERIOD_HOUR,
    JOURNAL_PERIOD_DAY,
    JOURNAL_PERIOD_MONTH,
} JournalPeriod;

/* How a group's files shrink (journal_files.c). */
typedef struct JournalFiles {
    JournalShrink shrink;
    JournalPeriod period;
    uint64_t shrink_above;
    bool wipe;
} JournalFiles;

typedef enum JournalFieldType {
    JOURNAL_FIELD_U64,
    JOURNAL_FIELD_I64,
    JOURNAL_FIELD_TEXT,
    JOURNAL_FIELD_BOOL,
    JOURNAL_FIELD_BYTES,
} JournalFieldType;

/* Data must be a JSON object with this member. */
typedef struct JournalField {
    const char *name;
    JournalFieldType type;
    bool required;
} JournalField;

typedef enum JournalKeyFrom {
    JOURNAL_KEY_NONE,
    JOURNAL_KEY_BODY,
    JOURNAL_KEY_LINE1,
    JOURNAL_KEY_JSON, /* key_pointer: RFC 6901 */
} JournalKeyFrom;

typedef enum JournalAccessKind {
    JOURNAL_ACCESS_ADMIN,
    JOURNAL_ACCESS_TASK,
    JOURNAL_ACCESS_LOCAL,
    JOURNAL_ACCESS_ANY,
    JOURNAL_ACCESS_ROLE,
    JOURNAL_ACCESS_TOKEN,
} JournalAccessKind;

typedef struct JournalAccess {
    JournalAccessKind kind;
    Slice name; /* of the role or token */
} JournalAccess;

typedef struct JournalAccessList {
    JournalAccess *items;
    size_t count;
} JournalAccessList;

typedef struct JournalDeclared {
    Slice name, group;
    JournalRules rules;
    JournalFiles files;
    JournalKeyFrom key_from;
    Slice key_pointer;
    JournalField *fields;
    size_t field_count;
    JournalAccessList put, claim; /* for the doors; empty: admins only */
    size_t line;                  /* of the section; 0: made without one */
} JournalDeclared;

typedef struct JournalGroupDeclared {
    Slice name;
    JournalFiles files;
    size_t line;
} JournalGroupDeclared;

typedef struct JournalDeclaration {
    JournalDeclared *journals; /* in byte order of their names */
    size_t count;
    bool has_tubes; /* the file has the section: without it no name appears on use */
    JournalDeclared tubes;
    JournalGroupDeclared groups[DECLARATION_GROUPS_MAX]; /* main is the first */
    size_t group_count;
} JournalDeclaration;

/* The declaration lives in `arena`, with views of `text`'s copy there. */
MUST_USE Status declaration_read(Slice text, const char *path, Arena *arena,
                                 const JournalDeclaration **ret_declaration, Reason *reason);
/* NULL when it is not declared. */
const JournalDeclared *declaration_find(const JournalDeclaration *declaration, Slice name);
/* INVALID, with the member, unless `data` is what the fields ask for. */
MUST_USE Status declaration_check_data(const JournalDeclared *declared, Slice data, Reason *reason);
/* The key of a put that names none, in the arena or in `data`; empty: it has none. */
Slice declaration_key(const JournalDeclared *declared, Slice data, Arena *arena);
/* NOW, IMPORTANT, NEW, RESET, UPDATES, SLOW, REVIEW, TIME_ALLOWS, or a number. */
MUST_USE Status journal_priority_from_text(Slice text, uint32_t *ret_priority);
