/* audit_list.h -- the audit log as everybody sees it, and as admins do. The operations are in audit_list.c. */
#pragma once

#include "operations/operation.h"

/* ---- For everybody: what was done, to what, why; not who ----------------------------------------------------------------------- */

typedef struct PublicAct {
    AuditEntry entry; /* of a public list */
    const char *sentence, *object_kind;
    bool has_object, has_other;
    Slice object_name, object_address, other_name, other_address;
} PublicAct;

typedef struct PublicActList {
    PublicAct *acts;
    size_t count;
    Slice next; /* the query that goes on, "?before=…"; empty: this is the last page */
} PublicActList;

typedef struct PublicActQuery {
    uint64_t policy; /* only about this one; 0: all */
    Id before;
} PublicActQuery;
MUST_USE Status public_acts(Operations *ops, const PublicActQuery *query, Arena *arena,
                            PublicActList *ret_list);

/* ---- For admins --------------------------------------------------------------------------------------------------------------- */

/* An entry with the name of who did it. */
typedef struct AuditLine {
    AuditEntry entry;
    const char *text, *object_kind;
    Slice actor;         /* empty for the system or the command line */
    Slice object, about; /* its address and its name, or empty */
} AuditLine;

typedef struct AuditLineList {
    AuditLine *lines;
    size_t count;
    Slice next; /* as in PublicActList */
} AuditLineList;

typedef struct AuditListQuery {
    Slice instance, who, kind;
    uint64_t policy; /* 0: about anything */
    bool is_public;
    uint32_t limit; /* 0: the most that a page holds */
    Id before;
} AuditListQuery;
/* INVALID names `who` or `kind`: there is nobody, or nothing, of that name. */
MUST_USE Status audit_lines(Operations *ops, const AuditListQuery *query, Arena *arena,
                            AuditLineList *ret_list, Reason *reason);
