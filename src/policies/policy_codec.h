/* policy_codec.h -- the cells of a policy's row as bytes.
 *
 * They are records (store/record.h), so values can be compared as bytes.
 *
 * The row, in byte order of its columns, is laid out so that one slice [l, v) has all but old texts and receipts, and one
 * slice [l, n) has what rules need:
 *     f/<merge id>          the id of the new policy that this merge leads to; never overwritten
 *     gone                  the checklist of what is removed from an obliterated policy was gone through (obliterate.c)
 *     l/<source><merge id>  a source that merged into this one counts (when its own row agrees); never overwritten
 *     latest                which revision the text is, by whom and when; from the first edit on
 *     m/<number>            a move, from 0; never overwritten, but for a time that was too far ahead (retime.c) and a reason that goes
 *                           (obliterate.c)
 *     origin                who created it, by which entry; never overwritten
 *     owner                 who owns it; a fresh id in every value
 *     state                 how many moves, and the id of the last: the condition of moves and listings
 *     text                  the current text; a fresh version in every value
 *     v/<revision>          older texts
 *     ~/<id>                receipts */
#pragma once

#include "policies/policies.h"
#include "store/record.h"

/* The state cell. The count makes every value new, also when a merge's two moves share an id. */
typedef struct PolicyHead {
    uint32_t count;
    Id last;
} PolicyHead;

typedef struct PolicyOrigin {
    uint64_t creator, seq;
    Id version;
    int64_t created_us;
} PolicyOrigin;

typedef struct PolicyOwner {
    Id id;
    uint64_t owner;
} PolicyOwner;

/* Of a merge into a new policy: which it is. */
typedef struct PolicyTarget {
    uint64_t policy;
} PolicyTarget;

/* The texts are of struct PolicyRevision. */
extern const Record POLICY_HEAD_RECORD, POLICY_ORIGIN_RECORD, POLICY_OWNER_RECORD,
    POLICY_MOVE_RECORD, POLICY_EDIT_RECORD, POLICY_TARGET_RECORD, POLICY_REVISION_RECORD;

/* ---- Columns ----------------------------------------------------------------------------------------------- */

Slice policy_row_key(uint64_t id, Arena *arena);
MUST_USE Status policy_decode_row_key(Slice row, uint64_t *ret_id);
Slice policy_move_column(uint32_t number, Arena *arena);
MUST_USE Status policy_decode_move_column(Slice column, uint32_t *ret_number);
/* A listing stands in the column, the value only carries the format. */
Slice policy_source_column(const PolicySource *source, Arena *arena);
MUST_USE Status policy_decode_source_column(Slice column, PolicySource *ret_source);
Slice policy_revision_column(uint32_t revision, Arena *arena);
Slice policy_target_column(Id merge, Arena *arena);

#define POLICY_LISTED SLICE("\1") /* the value of a listing */
