/* people_list.h -- people from a file that somebody exported: an e-mail address in each line, perhaps a name.
 *
 * Lines are as in base/csv.h. When the first one names its columns (email or e-mail, name), those count; otherwise the address is first and
 * the name second. A line that is broken or whose address is none comes with its fault; the others go on. */
#pragma once

#include "accounts/account_rules.h"
#include "base/csv.h"
#include "base/world.h"

/* Where the bytes come from: the next piece, empty at the end. It lives until the next call. */
typedef struct PeopleSource {
    Status (*piece)(void *self, Slice *ret_bytes, Reason *reason);
    void *self;
} PeopleSource;

/* From memory, all at once. */
typedef struct PeopleText {
    Slice text;
} PeopleText;
PeopleSource people_from_text(PeopleText *text);

/* From a file, PEOPLE_PIECE bytes at a time. Begin with {.disk = …, .path = …, .arena = …}; the arena is emptied for each piece. */
enum { PEOPLE_PIECE = 256 * 1024 };
typedef struct PeopleFile {
    Disk disk;
    const char *path;
    Arena *arena;
    uint64_t offset;
} PeopleFile;
PeopleSource people_from_file(PeopleFile *file);

typedef struct PeopleList {
    PeopleSource source;
    CsvReader csv;
    Slice bytes;
    bool is_last, has_begun;
    size_t email_column, name_column;
} PeopleList;

typedef struct ListedPerson {
    uint64_t line;
    Slice email;       /* as written; empty with a fault */
    Slice folded;      /* as it is compared */
    Slice name;        /* perhaps empty */
    const char *fault; /* in words, or NULL; all of it lives in the arena */
} ListedPerson;

/* NOT_FOUND after the last line. Other failures are the source's. */
MUST_USE Status people_list_next(PeopleList *list, Arena *arena, ListedPerson *ret_person,
                                 Reason *reason);
#define PEOPLE_LIST_SCOPE __attribute__((cleanup(people_list_end)))
void people_list_end(PeopleList *list);

/* ---- What came of it ---------------------------------------------------------------------------------------- */

enum { LIST_FAULTS_MAX = 100 };

typedef struct ListFault {
    uint64_t line;
    Slice rule;
} ListFault;

typedef struct ListReport {
    uint64_t lines; /* with a person, or with a fault */
    uint64_t good;
    uint64_t again;  /* of these, those that were there before, where that is known */
    uint64_t faults; /* of which the first LIST_FAULTS_MAX are told */
    ListFault told[LIST_FAULTS_MAX];
    size_t told_count;
} ListReport;

/* Notes a line that was left out; the words are copied. */
void list_report_fault(ListReport *report, uint64_t line, const char *rule, Arena *arena);
