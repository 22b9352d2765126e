/* audit_private.h -- what the files of audit share:
 *   kinds.c    the tables of kinds and outcomes; pure
 *   entries.c  an entry's bytes, and the rows that name it; pure but for the seal
 *   audit.c    opening, noting, ending
 *   list.c     asking
 *   obliterate.c  reasons that go */
#pragma once

#include <stdatomic.h>

#include "audit/audit.h"
#include "store/record.h"

struct Audit {
    AuditOptions options;
    char instance[AUDIT_INSTANCE_BYTES];
    size_t instance_size;
    _Atomic int64_t days;
};

/* A cell that is written now, and is kept as long as what is written now is. */
Change audit_cell(const Audit *audit, Slice column, Slice value);

/* ---- entries.c --------------------------------------------------------------------------------------------- */

/* The cells of an entry's row. */
extern const Slice AUDIT_ACT_COLUMN, AUDIT_END_COLUMN;

extern const Record AUDIT_ENTRY_RECORD, AUDIT_END_RECORD;
Slice entry_encode(const Audit *audit, const AuditAct *act, const Id *id, Arena *arena);
/* Fills all but outcome and id, which is given. CORRUPT unless it is what entry_encode writes; an origin that this key does not open is left empty. */
MUST_USE Status entry_decode(const Audit *audit, Slice value, Arena *arena, AuditEntry *entry);
/* The same entry without its reason; *ret_has says whether it had one. */
MUST_USE Status entry_without_reason(Slice value, Arena *arena, Slice *ret_value, bool *ret_has);
Slice entry_end_encode(Status outcome, int64_t time_us, Arena *arena);
/* Fills the outcome. */
MUST_USE Status entry_end_decode(Slice value, AuditEntry *entry);

/* The rows of the index, each in pieces of so many days. A row's columns are ids, its values are empty. */
enum { INDEX_PIECE_DAYS = 100, INDEX_ROWS_MAX = 8 };
int64_t index_piece(int64_t time_us);
/* The time in an id. */
int64_t index_time_us(Id id);

typedef enum IndexKind {
    INDEX_ALL,
    INDEX_PUBLIC,
    INDEX_OBJECT,
    INDEX_ACTOR,
    INDEX_KIND,
    INDEX_INSTANCE,
} IndexKind;
typedef struct IndexRow {
    IndexKind kind;
    Slice word;      /* of the sort of object, the kind, or the instance */
    uint64_t number; /* object or actor */
} IndexRow;
Slice index_row(const IndexRow *row, int64_t piece, Arena *arena);
/* The row of acts on reports about a policy: an object of no kind's sort. */
#define AUDIT_ABOUT_POLICY "about-policy"
/* The rows that name an act. */
size_t index_rows(const Audit *audit, const AuditAct *act, IndexRow ret_rows[INDEX_ROWS_MAX]);
